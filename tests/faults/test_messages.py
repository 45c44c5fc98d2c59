"""Bad numbers and texts are errors that name the thing, the value and what to do, before anything runs where that can be."""

import os
import subprocess
import sys

import numpy as np
import pytest

import mobod as mb


@pytest.fixture
def model():
    return mb.examples.double_pendulum.build()


@pytest.mark.parametrize(
    ("interval", "message"),
    [
        (np.inf, "has to be positive and finite, got inf, which is 1 row; 1 gives the two ends"),
        (1e-12, r"1e-12 would give 1e\+12 rows, which take .* GB of memory.*or record_to a file"),
        (1e-300, "reports are 1e-300 apart, and numbers near time 1 2.2e-16"),
        (np.nan, "has to be positive, got nan"),
        (-1.0, "has to be positive, got -1"),
    ],
)
def test_reports_that_cannot_be(model, interval, message):
    with pytest.raises(ValueError, match=message):
        mb.simulate(*model, 1.0, report_interval=interval)


def test_a_start_too_late_for_numbers(model):
    system, state = model
    state.time = 1e15
    with pytest.raises(
        ValueError, match=r"reports are 0\.005 apart, and numbers near time 1e\+15 0\.12: start at a smaller time"
    ):
        mb.simulate(system, state, 1.0)


def test_steps_have_a_floor_at_time_zero_and_what_made_them_small_is_named():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1.0, 1.0, 1.0)))
    slider = mb.mobilizer.Slider(matter.ground, body, name="cart")
    mb.force.MobilityLinearStop(forces, slider, 0, 1e300, 0.0, -1.0, 1.0, name="wall")
    state = system.realize_topology()
    state.q = [2.0]
    for simulate in (
        lambda: mb.simulate(system, state, 1.0),
        lambda: mb.simulate(system, state, 1.0, integrator="Verlet"),
        lambda: mb.simulate(system, state, 1.0, integrator="BDF"),
    ):
        with pytest.raises(mb.ConvergenceError, match=r"time 0[ ,].*'wall'"):
            simulate()


class Odd(mb.assembler.Condition):
    def __init__(self, which, value):
        super().__init__("odd")
        self.which, self.value = which, value

    def calc_errors(self, state):
        return self.value if self.which == "errors" else [0.1]

    def calc_goal(self, state):
        return self.value if self.which == "goal" else 0.1


@pytest.mark.parametrize("which", ["errors", "goal"])
@pytest.mark.parametrize("value", [np.nan, None, np.zeros((2, 2)), "x", [1.0, [2.0]]])
def test_an_assemblers_condition_that_gives_no_number(model, which, value):
    system, state = model
    assembler = mb.Assembler(system)
    condition = Odd(which, value)
    if which == "goal":
        assembler.adopt_assembly_goal(condition)
    else:
        assembler.adopt_assembly_error(condition)
    with pytest.raises((ValueError, TypeError), match=rf"calc_{which} of <Odd 'odd'>"):
        assembler.assemble(state)


@pytest.mark.parametrize("value", [np.nan, None, np.zeros(2), "x"])
@pytest.mark.parametrize("late", [0.0, 0.05])
def test_a_witness_that_gives_no_number(model, value, late):
    system, _ = model

    def height(state):
        return value if state.time >= late else 1.0

    system.add_event_handler(mb.event.StopWhen(mb.event.FunctionWitness(height)))
    with pytest.raises((ValueError, TypeError), match=r"height|StopWhen"):
        mb.simulate(system, system.realize_topology(), 0.2)


@pytest.mark.parametrize("value", [None, np.zeros(2), "x"])
def test_a_users_own_witness_that_gives_no_number(model, value):
    class Own(mb.event.TriggeredHandler):
        def get_value(self, state):
            return value

        def handle_event(self, state, accuracy):
            return False

    system, _ = model
    system.add_event_handler(Own())
    with pytest.raises((ValueError, TypeError), match="Own"):
        mb.simulate(system, system.realize_topology(), 0.2)


def test_a_quantity_with_a_slash_in_its_name(model, tmp_path):
    run = mb.simulate(
        *model, 0.1, record={"a/b": lambda state: state.time, "50%": lambda state: 1.0}, record_to=tmp_path / "run.h5"
    )
    assert np.array_equal(run.quantities["a/b"], run.time)
    for extension in (".npz", ".csv", ".parquet", ".h5"):
        run.save(tmp_path / f"copy{extension}")
        copy = mb.Trajectory.load(tmp_path / f"copy{extension}")
        assert np.array_equal(copy.quantities["a/b"], run.time) and (copy.quantities["50%"] == 1.0).all()


@pytest.mark.parametrize("q", [0.0, 1e-200, 1e-160])
def test_a_quaternion_of_no_length(q):
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1.0, 1.0, 1.0)))
    mb.mobilizer.Ball(matter.ground, body, name="top")
    state = system.realize_topology()
    state.q = [q, 0, 0, 0]
    for use in (system.realize, system.project, lambda state: mb.simulate(system, state, 0.1)):
        with pytest.raises(mb.ModelError, match=r"the quaternion of 'top', q\[0\] to q\[3\].*stands for no orientation"):
            use(state)


def test_gravity_of_nothing():
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    with pytest.raises(TypeError, match="has to be a GeneralForceSubsystem, not None"):
        mb.force.Gravity(None, matter, (0, 0, 0))
    with pytest.raises(TypeError, match="has to be a SimbodyMatterSubsystem, not None"):
        mb.force.Gravity(forces, None, (0, 0, 0))


@pytest.mark.parametrize("name", ["", " "])
def test_a_body_with_an_empty_name(name):
    matter = mb.SimbodyMatterSubsystem(mb.MultibodySystem())
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1.0, 1.0, 1.0)))
    with pytest.raises(mb.ModelError, match="name of a body is empty"):
        mb.mobilizer.Pin(matter.ground, body, name=name)


def test_fifteen_hundred_joints_that_mimic_each_other(tmp_path):
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    parts = [f'<robot name="row"><link name="l0">{inertial}</link>']
    for i in range(1, 1501):
        mimic = f'<mimic joint="j{i + 1}" multiplier="1" offset="0.001"/>' if i < 1500 else ""
        parts.append(
            f'<link name="l{i}">{inertial}</link><joint name="j{i}" type="continuous"><parent link="l0"/><child link="l{i}"/>'
            f'<axis xyz="0 0 1"/>{mimic}</joint>'
        )
    path = tmp_path / "row.urdf"
    path.write_text("\n".join([*parts, "</robot>"]))
    model = mb.load_urdf(path)
    assert model.system.get_matter_subsystem().bodies["l1"].get_default_q() == pytest.approx(1.499)


def test_a_run_file_that_is_not_utf8(tmp_path, capsys):
    from mobod.cli.main import main

    (tmp_path / "run.toml").write_bytes(b'model = "\xe9"\n')
    assert main(["simulate", str(tmp_path / "run.toml")]) != 0
    assert "run.toml is not UTF-8" in capsys.readouterr().err


def test_numba_switched_off_is_said_at_once():
    done = subprocess.run(
        [sys.executable, "-c", "import mobod"], env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True
    )
    assert done.returncode and "NUMBA_DISABLE_JIT is set in the environment; unset it" in done.stderr


def test_cvode_says_nothing_of_its_own(capfd):
    """What failed is in the error; scikit-sundae would print it, too."""
    pytest.importorskip("sksundae")
    from mobod.integrator._solvers import Cvode, Problem

    def rates(time, y, out):
        out[:] = 1e3 * y if time < 1e-3 else np.nan
        return bool(np.isfinite(out).all())

    def jacobian(time, y, out):
        out[:] = 1e3
        return True

    solver = Cvode(Problem(rates, jacobian, 1e-6, np.full(1, 1e-9), 1e-3, 1e-3, 1.0), 0.0, np.ones(1), 1.0)
    print("mine")
    while solver.step(1.0):
        pass
    print("mine too")
    out, err = capfd.readouterr()
    assert (out, err) == ("mine\nmine too\n", "")
