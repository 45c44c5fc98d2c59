"""Checkpoints: a run that was killed goes on to the very bits that it would have come to."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import mobod as mb

#: A model with everything that a state can hold, built alike in every process: bodies, particles, and where it says so a force
#: and a subsystem in Python, with an auxiliary variable, a discrete one and one that updates itself.
MODEL = """
import numpy as np
import mobod as mb

class Wind(mb.force.CustomImplementation):
    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        mobility_forces -= 0.1 * np.sin(3.0 * state.time) + 0.05 * state.u

class Controller(mb.Subsystem):
    def realize_topology(self, state):
        self.gain = self.allocate_discrete_variable(state, mb.Stage.DYNAMICS, {"gain": 2.0})
        self.last = self.allocate_auto_update_discrete_variable(state, mb.Stage.REPORT, 0.0, mb.Stage.VELOCITY)

    def realize_model(self, state):
        self.z = self.allocate_z(state, [0.5])

    def realize_velocity(self, state):
        self.upd_discrete_var_update_value(state, self.last, float(state.u[0]))
        self.mark_discrete_var_update_value_realized(state, self.last)

    def realize_dynamics(self, state):
        gain = self.get_discrete_variable(state, self.gain)["gain"]
        self.upd_z_dot(state)[:] = -gain * self.get_z(state) + state.u[0]

def build(python):
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0))
    rod = mb.body.Rigid(mb.MassProperties(1.0, (0, -0.5, 0), mb.UnitInertia(1.0, 0.1, 1.0)))
    upper = mb.mobilizer.Pin(matter.ground, rod, name="upper")
    mb.mobilizer.Ball(upper, rod, X_PF=mb.Transform((0, -1, 0)), name="lower")
    matter.add_particles([1.0], [[0.0, 1.0, 0.0]])
    if python:
        mb.force.Custom(forces, Wind())
        Controller(system, "controller")
    state = system.realize_topology()
    system.realize_model(state)
    state.upd_q()[0] = 1.0
    state.upd_u()[:] = [0.3, 1.0, -2.0, 0.5]
    return system, state
"""

RUN = (
    MODEL
    + """
import sys
python, checkpoint, to = sys.argv[1] == "python", sys.argv[2], sys.argv[3] or None
from mobod import _run
system, state = build(python)
import os
def show(time, end):
    print(time, os.path.exists(checkpoint), flush=True)
run = mb.simulate(system, state, {time}, accuracy=1e-7, report_interval=0.01, record=["momentum"], record_to=to, progress=show,
                  checkpoint=checkpoint, checkpoint_interval=0.0)
"""
)


def names():
    found = {}
    exec(compile(MODEL, "model", "exec"), found)
    return found


@pytest.fixture
def build():
    return names()["build"]


def start(code, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.PIPE, text=True, env=os.environ
    )


@pytest.mark.parametrize("to_disk", [False, True])
@pytest.mark.parametrize("python", [False, True])
def test_a_killed_run_goes_on_bit_for_bit(tmp_path, build, python, to_disk):
    time = 4.0 if python else 60.0
    code = RUN.replace("{time}", str(time))
    checkpoint, to = tmp_path / "run.ckpt", str(tmp_path / "run.h5") if to_disk else ""
    with start(code, "python" if python else "", checkpoint, to) as process:
        seen = 0
        for line in process.stdout:
            seen += line.endswith("True\n")
            if seen > 4:
                break
        process.send_signal(signal.SIGKILL)
    system, state = build(python)
    keywords = {"accuracy": 1e-7, "report_interval": 0.01, "record": ["momentum"]}
    whole = mb.simulate(system, state, time, **keywords)
    resumed = mb.simulate(system, state, time, **keywords, record_to=to or None, checkpoint=checkpoint, resume=True)
    assert len(resumed) == len(whole)
    for name in ("time", "q", "u", "z", "energy", "particle_locations", "particle_velocities"):
        assert np.array_equal(getattr(resumed, name), getattr(whole, name)), name
    assert np.array_equal(resumed.quantities["momentum"], whole.quantities["momentum"])
    for name in ("steps_taken", "steps_attempted", "evaluations"):
        assert resumed.statistics[name] == whole.statistics[name]


def test_a_finished_run_can_be_made_longer(tmp_path, build):
    system, state = build(False)
    checkpoint = tmp_path / "run.ckpt"
    mb.simulate(system, state, 1.0, report_interval=0.1, checkpoint=checkpoint)
    at_once = mb.simulate(system, state, 1.0, report_interval=0.1, checkpoint=checkpoint, resume=True)
    longer = mb.simulate(system, state, 2.0, report_interval=0.1, checkpoint=checkpoint, resume=True)
    whole = mb.simulate(system, state, 2.0, report_interval=0.1)
    assert np.array_equal(at_once.q, whole.q[:11]) and np.array_equal(longer.q, whole.q)
    assert [path.name for path in tmp_path.iterdir()] == ["run.ckpt"], "nothing is left beside it"


def test_without_a_file_a_run_starts(tmp_path, build):
    system, state = build(False)
    run = mb.simulate(system, state, 0.5, checkpoint=tmp_path / "run.ckpt", resume=True)
    assert len(run) == 201 and (tmp_path / "run.ckpt").exists()


@pytest.mark.parametrize("python", [False, True])
def test_an_interrupted_run_goes_on(tmp_path, build, python):
    system, state = build(python)

    def stop(time, end):
        if time > 0.3:
            raise KeyboardInterrupt

    keywords = {"accuracy": 1e-8, "report_interval": 0.05, "audit": "steps"}
    checkpoint = tmp_path / "run.ckpt"
    with pytest.raises(KeyboardInterrupt) as caught:
        mb.simulate(system, state, 0.6, **keywords, checkpoint=checkpoint, checkpoint_interval=1e9, progress=stop)
    resumed = mb.simulate(system, state, 0.6, **keywords, checkpoint=checkpoint, resume=True)
    whole = mb.simulate(system, state, 0.6, **keywords)
    assert 1 <= len(caught.value.trajectory) < len(whole)
    assert np.array_equal(resumed.q, whole.q) and np.array_equal(resumed.z, whole.z)
    assert resumed.audit.work == whole.audit.work and resumed.audit.energy_error == whole.audit.energy_error


@pytest.mark.parametrize("python", [False, True])
def test_a_time_stepper_goes_on_in_another_process(tmp_path, build, python):
    system, state = build(python)
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-6))
    stepper.initialize(state)
    stepper.step_to(0.3)
    stepper.save_checkpoint(tmp_path / "run.ckpt")
    stepper.step_to(0.8)
    again, _ = build(python)
    other = mb.TimeStepper(again, mb.integrator.RungeKuttaMerson(again, accuracy=1e-6))
    other.load_checkpoint(tmp_path / "run.ckpt")
    assert other.time == 0.3 and other.integrator.get_num_steps_taken() > 0
    other.step_to(0.8)
    assert np.array_equal(other.state.y, stepper.state.y)
    assert other.integrator.get_num_steps_taken() == stepper.integrator.get_num_steps_taken()


def test_what_a_state_alone_has_is_kept(tmp_path, build):
    system, state = build(False)
    matter = system.get_matter_subsystem()
    matter.set_use_euler_angles(state, True)
    system.realize_model(state)
    state.u = [0.3, 1.0, -2.0, 0.5]
    matter.bodies["upper"].lock(state, mb.Motion.Level.VELOCITY)
    checkpoint = tmp_path / "run.ckpt"
    mb.simulate(system, state, 0.5, report_interval=0.1, checkpoint=checkpoint)
    longer = mb.simulate(system, state, 1.0, report_interval=0.1, checkpoint=checkpoint, resume=True)
    assert np.array_equal(longer.q, mb.simulate(system, state, 1.0, report_interval=0.1).q) and longer.q.shape[1] == 4


# ---------------------------------------------------------------------------------------------- what is refused


@pytest.fixture
def checkpoint(tmp_path, build):
    system, state = build(False)
    mb.simulate(system, state, 0.2, report_interval=0.1, checkpoint=tmp_path / "run.ckpt")
    return tmp_path / "run.ckpt"


def changed(system, state):
    state.upd_q()[0] = 0.7


@pytest.mark.parametrize(
    ("keywords", "change", "message"),
    [
        ({"report_interval": 0.05}, None, "reports at other times"),
        ({"accuracy": 1e-6}, None, "run with accuracy=0.0001, and the integrator has accuracy=1e-06"),
        ({"record": ["momentum"]}, None, "a run that records nothing besides q and u"),
        ({"record_bodies": True}, None, "a run that records nothing besides q and u"),
        ({"record_to": "run.h5"}, None, "records in memory"),
        ({"audit": "steps"}, None, "without audit='steps'"),
        ({}, changed, "starts from another state"),
    ],
)
def test_another_run_is_refused(checkpoint, build, keywords, change, message, monkeypatch):
    monkeypatch.chdir(checkpoint.parent)
    system, state = build(False)
    if change is not None:
        change(system, state)
    before = checkpoint.read_bytes()
    with pytest.raises(mb.CheckpointError, match=message):
        mb.simulate(system, state, 0.2, **{"report_interval": 0.1, **keywords}, checkpoint=checkpoint, resume=True)
    assert checkpoint.read_bytes() == before and not (checkpoint.parent / "run.h5").exists()


def test_another_model_is_refused_and_what_differs_is_named(checkpoint, build):
    system, state = build(True)
    with pytest.raises(mb.CheckpointError, match=r"another model: its .*forces, subsystems differ"):
        mb.simulate(system, state, 0.2, report_interval=0.1, checkpoint=checkpoint, resume=True)
    system, state = build(False)
    system.get_matter_subsystem().bodies[1].set_default_q(0.1)
    with pytest.raises(mb.CheckpointError, match="starts from another state"):
        mb.simulate(system, system.realize_topology(), 0.2, report_interval=0.1, checkpoint=checkpoint, resume=True)


def test_another_integrator_or_version_is_refused(checkpoint, build, monkeypatch):
    system, _ = build(False)

    class Other(mb.integrator.RungeKuttaMerson):
        pass

    stepper = mb.TimeStepper(system, Other(system, accuracy=1e-4))
    with pytest.raises(mb.CheckpointError, match="a run with RungeKuttaMerson, not Other"):
        stepper.load_checkpoint(checkpoint)
    with pytest.raises(mb.TopologyError, match="no state yet"):
        _ = stepper.state
    monkeypatch.setattr(mb.simulation.checkpoint, "__version__", "0.0.1")
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-4))
    with pytest.raises(mb.CheckpointError, match=r"this is 0\.0\.1"):
        stepper.load_checkpoint(checkpoint)


@pytest.mark.parametrize("content", [b"", b"something else", b"mobod checkpoint 1\nnot JSON\n", None])
def test_a_broken_file_is_refused(checkpoint, build, content):
    checkpoint.write_bytes(checkpoint.read_bytes()[:-100] if content is None else content)
    system, _ = build(False)
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-4))
    with pytest.raises(
        mb.CheckpointError, match=r"run\.ckpt (is not a checkpoint|is broken|cannot be read|was written by another version)"
    ):
        stepper.load_checkpoint(checkpoint)


def test_what_cannot_be_kept_is_named_and_the_old_file_stays(tmp_path, checkpoint):
    class Holder(mb.Subsystem):
        def realize_topology(self, state):
            self.allocate_discrete_variable(state, mb.Stage.REPORT, lambda: None)

    system, _ = names()["build"](False)
    Holder(system, "holder")
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system))
    before = checkpoint.read_bytes()
    try:
        stepper.initialize(system.realize_topology())
    except Exception:
        pytest.skip("a state cannot hold such a value at all")
    with pytest.raises(mb.CheckpointError, match="cannot hold 'resources' of the state"):
        stepper.save_checkpoint(checkpoint)
    assert checkpoint.read_bytes() == before and len(list(tmp_path.iterdir())) == 1


# ---------------------------------------------------------------------------------------------- events


class Kick(mb.event.PeriodicHandler):
    """Remembers in itself how often it was called."""

    count = 0

    def handle_event(self, state, accuracy):
        self.count += 1
        state.u = state.u + 0.01 * self.count
        return False


def ball():
    """A ball that bounces and is kicked, up to its 30th kick."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (-9.81, 0, 0))
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1.0, 1.0, 1.0)))
    slider = mb.mobilizer.Slider(matter.ground, body, name="ball")
    system.add_event_handler(mb.event.ImpactWhen(mb.event.Coordinate(slider), 0.9))
    system.add_event_handler(Kick(0.13))
    system.add_event_reporter(mb.event.RecordEvery(0.2, lambda state: state.q[0]))
    system.add_event_handler(mb.event.StopWhen(mb.event.FunctionWitness(lambda state: 4.0 - state.time)))
    state = system.realize_topology()
    state.q = [2.0]
    return system, state


@pytest.mark.parametrize("to_disk", [False, True])
def test_a_run_with_events_goes_on(tmp_path, to_disk):
    def stop(time, end):
        if time > 2.005:
            raise KeyboardInterrupt

    keywords = {"report_interval": 0.01, "record": ["momentum"]}
    files = {"record_to": tmp_path / "run.h5"} if to_disk else {}
    checkpoint = tmp_path / "run.ckpt"
    system, state = ball()
    with pytest.raises(KeyboardInterrupt):
        mb.simulate(system, state, 10.0, **keywords, **files, checkpoint=checkpoint, progress=stop)
    again, start = ball()
    resumed = mb.simulate(again, start, 10.0, **keywords, **files, checkpoint=checkpoint, resume=True)
    other, start = ball()
    whole = mb.simulate(other, start, 10.0, **keywords)
    assert np.array_equal(resumed.time, whole.time) and whole.time[-1] == pytest.approx(4.0)
    assert np.array_equal(resumed.q, whole.q) and np.array_equal(resumed.u, whole.u)
    assert np.array_equal(resumed.quantities["momentum"], whole.quantities["momentum"])
    assert resumed.statistics["termination"] == whole.statistics["termination"]
    assert resumed.audit.unaccounted == [] and resumed.audit.work == whole.audit.work


@pytest.mark.parametrize("to_disk", [False, True])
def test_a_run_that_a_handler_ended_is_found_again(tmp_path, to_disk):
    files = {"checkpoint": tmp_path / "run.ckpt"} | ({"record_to": tmp_path / "run.h5"} if to_disk else {})
    runs = []
    for _ in range(2):
        system, state = ball()
        runs.append(mb.simulate(system, state, 10.0, report_interval=0.3, **files, resume=True))
    one, other = runs
    assert one.time[-1] == pytest.approx(4.0) and len(one) == 15  # 13 reports, the start, and the end between two
    assert np.array_equal(other.time, one.time) and np.array_equal(other.q, one.q)
    assert other.statistics["termination"] == one.statistics["termination"] and len(other.events) == len(one.events)


class Interrupts(mb.event.PeriodicReporter):
    def handle_event(self, state):
        if state.time > float(os.environ.get("INTERRUPTED_AT", "inf")):
            raise KeyboardInterrupt


def test_what_a_handler_locked_is_locked_in_what_is_recorded_after_a_checkpoint(tmp_path, monkeypatch):
    def latched(**files):
        system, state = ball()
        slider = system.matter.bodies["ball"]
        level = mb.Motion.Level.POSITION
        system.add_event_handler(mb.event.LockWhen(slider, mb.event.Coordinate(slider, 0, 1.0), level))
        system.add_event_reporter(Interrupts(0.25))
        return mb.simulate(system, state, 2.0, report_interval=0.1, record=["reactions"], **files)

    checkpoint = tmp_path / "run.ckpt"
    monkeypatch.setenv("INTERRUPTED_AT", "1.2")
    with pytest.raises(KeyboardInterrupt) as stopped:
        latched(checkpoint=checkpoint)
    monkeypatch.delenv("INTERRUPTED_AT")
    assert 0 < len(stopped.value.trajectory) < 20
    resumed, whole = latched(checkpoint=checkpoint, resume=True), latched()
    assert np.array_equal(resumed.q, whole.q) and whole.q[-1] == whole.q[-2]
    assert np.array_equal(resumed.quantities["reactions"], whole.quantities["reactions"])


@pytest.mark.parametrize("solver", ["compiled", "scipy", "cvode"])
def test_implicit_runs_go_on_to_the_same_bits(solver, tmp_path):
    """What the others know of the past is kept, so that checkpoints change nothing; CVODE begins anew at each, in both runs."""
    if solver == "cvode" and not mb.integrator.bdf._has_cvode():
        pytest.skip("needs scikit-sundae")
    system, state = mb.examples.double_pendulum.build()
    state.q = [0.5, 0.3]

    def start():
        stepper = mb.TimeStepper(system, mb.integrator.BDF(system, solver=solver, accuracy=1e-5))
        stepper.initialize(state)
        return stepper

    def rest(stepper):
        found = []
        for time in (1.0, 1.01, 1.3, 2.0):
            stepper.step_to(time)
            found += [*stepper.state.q, *stepper.state.u, stepper.integrator.get_num_steps_taken()]
        return found

    path = tmp_path / "checkpoint"
    uninterrupted, saving, resumed = start(), start(), start()
    for stepper in (uninterrupted, saving):
        stepper.step_to(0.7)
    saving.save_checkpoint(path)
    resumed.load_checkpoint(path)
    expected = rest(saving)
    assert rest(resumed) == expected
    if solver != "cvode":
        assert rest(uninterrupted) == expected
    again = start()
    again.load_checkpoint(path)
    again.save_checkpoint(path)  # before any step
    resumed.load_checkpoint(path)
    assert rest(again) == expected and rest(resumed) == expected
