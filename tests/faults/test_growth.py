"""Long runs take no more memory than short ones; where there is none left, that is an error and the process goes on."""

import os
import resource
import sys

import numpy as np
import pytest
from processes import run

import mobod as mb

NO_MEMORY = """
import resource
system, state = mb.examples.double_pendulum.build()
whole = mb.simulate(system, state, 1.0, record=["momentum"])
whole.save("run.npz")
before = open("run.npz", "rb").read()
soft, hard = resource.getrlimit(resource.RLIMIT_AS)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 30_000_000, hard))
failed = 0
for what in (lambda: mb.simulate(system, state, 1.0, report_interval=1e-7),
             lambda: mb.Ensemble(system, 3_000_000, state=state),
             lambda: mb.simulate(system, state, 1.0, report_interval=1e-7, record_to="run.h5")):
    try:
        what()
    except MemoryError:
        failed += 1
resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
assert open("run.npz", "rb").read() == before and sorted(os.listdir(".")) == ["run.npz"], os.listdir(".")
assert np.array_equal(mb.simulate(system, state, 1.0).q, whole.q)
print(failed)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of Linux")
def test_memory_that_is_not_there_is_an_error(tmp_path):
    assert int(run(NO_MEMORY, tmp_path)) == 3


@pytest.mark.long
def test_memory_does_not_grow_with_files(tmp_path):
    """Nor do open files: recordings that are written, read and dropped leave nothing behind."""
    system, state = mb.examples.double_pendulum.build()
    grown, files = [], []
    for _ in range(60):
        recorded = mb.simulate(system, state, 0.1, record_to=tmp_path / "run.h5", checkpoint=tmp_path / "run.ckpt")
        assert np.isfinite(recorded.q).all() and len(mb.Trajectory.load(tmp_path / "run.h5").q) == 201
        grown.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        files.append(len(os.listdir("/dev/fd")))
    assert files[-1] <= files[10] + 1
    assert grown[-1] - grown[10] < 6000
