"""Two to four processes at once: each gets what it would have got alone, or an error that says who has the file."""

import os
import sys

import pytest
from processes import run

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

TOGETHER = """
system, state = mb.examples.double_pendulum.build()
whole = mb.simulate(system, state, 20.0, report_interval=0.002)
children = []
for number in range(4):
    child = os.fork()
    if child == 0:
        code = 9
        try:
            name = sys.argv[1].replace("N", str(number))
            files = {"record_to": name + ".h5", "checkpoint": name + ".ckpt", "checkpoint_interval": 0.0}
            again = mb.simulate(system, state, 20.0, report_interval=0.002, **files)
            again.save("common.npz")
            code = 0 if np.array_equal(again.q, whole.q) else 8
        except BlockingIOError as error:
            code = 1 if "another run is recording to this file" in str(error) else 7
        finally:
            os._exit(code)
    children.append(child)
codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
assert np.array_equal(mb.Trajectory.load("common.npz").q, whole.q)
for name in sorted(os.listdir(".")):
    if name.endswith(".h5"):
        assert np.array_equal(mb.Trajectory.load(name).q, whole.q)
assert not [name for name in os.listdir(".") if "part" in name or "journal" in name], os.listdir(".")
print(*codes)
"""


def test_four_processes_with_files_of_their_own(tmp_path):
    assert run(TOGETHER, tmp_path, "runN").split() == ["0"] * 4


def test_four_processes_with_one_file(tmp_path):
    codes = run(TOGETHER, tmp_path, "run").split()
    assert "0" in codes and set(codes) <= {"0", "1"}


READ_BY_CHILDREN = """
system, state = mb.examples.double_pendulum.build()
whole = mb.simulate(system, state, 20.0, report_interval=0.001, record_to="run.h5")
q = np.array(whole.q)
children = []
for number in range(3):
    child = os.fork()
    if child == 0:
        good = all(np.array_equal(whole.q[k : k + 500], q[k : k + 500]) for k in range(0, 20000, 500))
        os._exit(0 if good else 1)
    children.append(child)
assert all(np.array_equal(whole.q[k : k + 500], q[k : k + 500]) for k in range(0, 20000, 500))
print(*[os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_recording_that_is_read_after_a_fork(tmp_path):
    """Parent and children share an open file, and its position: nobody reads by that."""
    assert run(READ_BY_CHILDREN, tmp_path).split() == ["0"] * 3
