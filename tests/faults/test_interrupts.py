"""What raises late, or Ctrl-C, costs at most a row: what was simulated is in memory and in the file, and goes on."""

import subprocess
import sys
import time

import numpy as np
import pytest
from processes import HEAD

import mobod as mb


@pytest.fixture
def model():
    return mb.examples.double_pendulum.build()


@pytest.mark.parametrize("to_disk", [False, True])
@pytest.mark.parametrize("error", [ValueError, ZeroDivisionError, KeyboardInterrupt, SystemExit])
def test_a_quantity_that_raises_late(model, tmp_path, to_disk, error):
    system, state = model

    def late(state):
        if state.time > 8.9995:
            raise error("late")
        return state.time

    keywords = {"report_interval": 0.001, "record": {"late": late}}
    files = {"record_to": tmp_path / "run.h5"} if to_disk else {}
    with pytest.raises(error, match="late") as caught:
        mb.simulate(system, state, 10.0, **keywords, **files)
    run = caught.value.trajectory
    assert len(run) == 9000 and run.quantities["late"][-1] == run.time[-1] == pytest.approx(8.999)
    if to_disk:
        assert np.array_equal(mb.Trajectory.load(tmp_path / "run.h5").q, run.q)


@pytest.mark.parametrize("to_disk", [False, True])
@pytest.mark.parametrize("form", [mb.event.PeriodicHandler, mb.event.PeriodicReporter])
def test_a_handler_or_a_report_that_raises_late(model, tmp_path, to_disk, form):
    system, state = model

    class Late(form):
        def handle_event(self, state, *accuracy):
            if state.time > 0.895:
                raise ZeroDivisionError("late")
            return False

    (system.add_event_handler if form is mb.event.PeriodicHandler else system.add_event_reporter)(Late(0.1))
    state = system.realize_topology()
    files = {"record_to": tmp_path / "run.h5"} if to_disk else {}
    with pytest.raises(ZeroDivisionError, match="late") as caught:
        mb.simulate(system, state, 1.0, report_interval=0.01, **files)
    assert len(caught.value.trajectory) >= 89
    if to_disk:
        assert len(mb.Trajectory.load(tmp_path / "run.h5")) == len(caught.value.trajectory)


SLOW = (
    HEAD
    + """
import time
signal.signal(signal.SIGINT, signal.default_int_handler)
system, state = mb.examples.double_pendulum.build()
mb.simulate(system, state, 0.01, report_interval=0.001, record=["momentum"])
def slow(state):
    time.sleep(0.0025)
    return state.time
print("go", flush=True)
files = {"record_to": "run.h5", "checkpoint": "run.ckpt"}
try:
    mb.simulate(system, state, 1000.0, report_interval=0.001, record={"slow": slow}, **files)
except KeyboardInterrupt as error:
    run = error.trajectory
    assert len(run) > 10 and np.array_equal(run.quantities["slow"], run.time), len(run)
    loaded = mb.Trajectory.load("run.h5")
    assert np.array_equal(loaded.q, run.q)
    more = mb.simulate(system, state, run.time[-1] + 0.05, report_interval=0.001, record={"slow": slow}, **files, resume=True)
    whole = mb.simulate(system, state, more.time[-1], report_interval=0.001)
    assert np.array_equal(more.q, whole.q)
    print("stopped", len(run), flush=True)
"""
)


@pytest.mark.seconds
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_is_heard_within_a_second_though_quantities_are_slow(tmp_path):
    import signal

    with subprocess.Popen([sys.executable, "-c", SLOW], stdout=subprocess.PIPE, cwd=tmp_path, text=True) as process:
        assert process.stdout.readline() == "go\n"
        wait_for(tmp_path / "run.h5", "slow quantities keep rows out of the file")
        assert len(mb.Trajectory.load(tmp_path / "run.h5")) > 10
        process.send_signal(signal.SIGINT)
        took = wait_for(tmp_path / "run.ckpt", "nothing is heard")  # it is written when all else is
        out, _ = process.communicate(timeout=100)
    assert process.returncode == 0 and out.startswith("stopped")
    assert took < 3.0  # a second, and what a busy machine takes besides


def wait_for(path, otherwise):
    begin = time.perf_counter()
    while not path.exists():
        assert time.perf_counter() < begin + 30.0, otherwise
        time.sleep(0.01)
    return time.perf_counter() - begin


@pytest.mark.parametrize("error", [KeyboardInterrupt, mb.ConvergenceError])
def test_an_estimate_of_the_error_that_fails_leaves_the_run(model, monkeypatch, error):
    system, state = model

    def fail(*arguments):
        raise error("in the second run")

    monkeypatch.setattr("mobod.simulation.simulate.run_again", fail)
    with pytest.raises(error) as caught:
        mb.simulate(system, state, 1.0, estimate_error=True)
    assert np.array_equal(caught.value.trajectory.q, mb.simulate(system, state, 1.0).q)


def test_progress_that_raises_keeps_the_rows(model):
    def show(time, end):
        if time > 0.7:
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no") as caught:
        mb.simulate(*model, 1e4, report_interval=0.01, progress=show)
    assert len(caught.value.trajectory) > 70
