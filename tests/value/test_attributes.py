"""Names that are not there are refused, with the one that was probably meant."""

import abc
import copy
import inspect
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest

import mobod as mb


@pytest.fixture(scope="module")
def parts():
    """One of each class that users hold."""
    system, _ = mb.examples.double_pendulum.build()
    matter, forces = system.matter, system.get_subsystem(1)
    pin = matter.bodies[1]
    integrator = mb.integrator.RungeKuttaMerson(system)
    one = {
        "system": system,
        "matter": matter,
        "forces": forces,
        "pin": pin,
        "body": pin.get_body(),
        "gravity": forces.get_force(0),
        "rod": mb.constraint.Rod(matter.ground, (0, 1, 0), matter.bodies[2], (0, 0, 0), 1.0, disabled_by_default=True),
        "motion": mb.motion.Steady(pin, 1.0),
        "measure": mb.measure.Time(forces),
        "integrator": integrator,
        "bdf": mb.integrator.BDF(system),
        "stepper": mb.TimeStepper(system, integrator),
        "markers": mb.assembler.Markers(),
        "trajectory": mb.Trajectory(time=[0.0], q=[[1.0]], u=[[0.0]], energy=[0.0], coordinate_names="a", speed_names="a"),
        "sphere": mb.decoration.Sphere(1.0),
        "rotation": mb.Rotation(),
        "transform": mb.Transform(),
        "inertia": mb.UnitInertia(1, 1, 1),
        "mass_properties": mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)),
        "polynomial": mb.function.Polynomial([1.0, 2.0]),
        "handler": mb.event.StopWhen(lambda state: state.time - 1.0),
        "witness": mb.event.Coordinate(pin, 0),
    }
    pin.clear_motion()
    one["state"] = system.realize_topology()
    one["ensemble"], one["assembler"] = mb.Ensemble(system, 2), mb.Assembler(system)
    return one


KINDS = ["system", "matter", "forces", "state", "pin", "body", "gravity", "rod", "motion", "measure", "integrator", "bdf"]
KINDS += ["stepper", "assembler", "markers", "trajectory", "sphere", "rotation", "transform", "inertia", "mass_properties"]
KINDS += ["polynomial", "handler", "witness", "ensemble"]


@pytest.mark.parametrize("kind", KINDS)
def test_no_class_takes_an_attribute_that_it_does_not_have(parts, kind):
    with pytest.raises(AttributeError):
        parts[kind].nothing_of_the_sort = 1.0
    assert not hasattr(parts[kind], "nothing_of_the_sort")


@pytest.mark.parametrize(
    ("kind", "name", "remedy"),
    [
        ("pin", "angle", "call set_angle(state, angle) or set_default_angle(angle)"),
        ("gravity", "magnitude", "call set_magnitude(state, magnitude) or"),
        ("gravity", "magnitud", "did you mean set_magnitude?"),
        ("system", "gravity", "make a mobod.force.Gravity(...)"),
        ("system", "defualt_time_scale", "did you mean set_default_time_scale?"),
        ("matter", "use_euler_angles", "call set_use_euler_angles(state, use_euler_angles)"),
        ("assembler", "tau", "help(Assembler)"),
        ("trajectory", "Q", "did you mean q?"),
        ("integrator", "acuracy", "did you mean accuracy?"),
        ("sphere", "colour", "did you mean color?"),
    ],
)
def test_the_message_says_what_to_do(parts, kind, name, remedy):
    with pytest.raises(AttributeError, match=re.escape(f"has no attribute {name!r} that could be assigned; {remedy}")):
        setattr(parts[kind], name, 1.0)


def test_what_is_there_can_be_assigned_and_so_can_private_names(parts):
    system = copy.deepcopy(parts["system"])
    ensemble, sphere = mb.Ensemble(system, 2), mb.decoration.Sphere(1.0)
    ensemble.q = np.ones_like(ensemble.q)
    sphere.color = "red"
    system._mine = 3
    assert ensemble.q.all() and sphere.color == (1.0, 0.0, 0.0)
    assert pickle.loads(pickle.dumps(system))._mine == 3
    assert mb.integrator.BDF(system).accuracy == copy.deepcopy(mb.integrator.BDF(system)).accuracy


def test_users_own_classes_keep_what_they_like():
    class Named(abc.ABC):  # noqa: B024
        def __init__(self, *, label):
            self.label = label

    class Tank(mb.Subsystem, Named):
        def __init__(self, system, *, label, **more):
            mb.Subsystem.__init__(self, system)
            Named.__init__(self, label=label)
            self.more = more

    class Strict(mb.Subsystem):
        def __setattr__(self, name, value):
            raise AttributeError("mine")

    class Stricter(Strict):
        pass

    tank = Tank(mb.MultibodySystem(), label="a", anything=1)
    tank.level = 2.0
    assert (tank.label, tank.more, tank.level) == ("a", {"anything": 1}, 2.0)
    with pytest.raises(AttributeError, match="mine"):
        Stricter()


# ---------------------------------------------------------------------------------------------- keywords


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda s, g, b: mb.mobilizer.Pin(g, b, X_MB=0),
            "Pin() got an unexpected keyword argument 'X_MB'; did you",
        ),
        (lambda s, g, b: mb.mobilizer.Screw(g, b, pich=1.0), "'pich'; did you mean 'pitch'?"),
        (lambda s, g, b: mb.integrator.RungeKutta2(s, acuracy=1e-3), "'acuracy'; did you mean 'accuracy'?"),
        (
            lambda s, g, b: mb.integrator.RungeKutta2(s, step_size=1e-3),
            "did you mean 'fixed_step_size' or 'initial_step_size' or",
        ),
        (lambda s, g, b: mb.simulate(s, s.get_default_state(), 1.0, report=0.1), "'report'; did you mean 'report_interval'?"),
        (lambda s, g, b: mb.integrator.BDF(s, acuracy=1e-3), "'acuracy'; did you mean 'accuracy'?"),
        (lambda s, g, b: mb.simulate(s, s.get_default_state(), 1.0, acuracy=1e-3), "simulate() got an unexpected keyword"),
        (lambda s, g, b: mb.load_urdf("robot.urdf", floating_bsae=True), "'floating_bsae'; did you mean 'floating_base'?"),
        (lambda s, g, b: mb.Ensemble(s, 2, thread=2), "'thread'; did you mean 'threads'?"),
        (lambda s, g, b: mb.MultibodySystem(label="a"), "'label'; there are name"),
        (lambda s, g, b: mb.decoration.Sphere(1.0, colour="red"), "'colour'; did you mean 'color'?"),
        (lambda s, g, b: mb.function.Sinusoid(1.0, frequncy=2.0, phase=0.0), "'frequncy'; did you mean 'frequency'?"),
    ],
)
def test_keywords_that_are_not_taken_are_refused_with_the_one_that_was_meant(parts, call, message):
    system = parts["system"]
    bodies = system.matter.get_num_bodies()
    with pytest.raises(TypeError, match=re.escape(message)):
        call(system, system.matter.ground, parts["body"])
    assert system.matter.get_num_bodies() == bodies


def test_signatures_are_those_of_the_constructors():
    assert list(inspect.signature(mb.mobilizer.Pin).parameters)[:3] == ["parent", "body", "X_PF"]
    assert list(mb.mobilizer.Pin.__signature__.parameters)[:1] == ["parent"]  # which inspect of Python 3.11.2 needs
    assert "accuracy" in inspect.signature(mb.simulate).parameters


# ---------------------------------------------------------------------------------------------- modules, enums, reading


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("mb.Stage.Position", "did you mean Stage.POSITION?"),
        ("mb.Motion.Level.velocity", "did you mean Level.VELOCITY?"),
        ("mb.Direction.Reversed", "did you mean Direction.REVERSE?"),
        ("mb.Simulate", "did you mean mobod.simulate?"),
        ("mb.mobilizer.PIN", "did you mean mobod.mobilizer.Pin?"),
        (
            "mb.force.Spring",
            "did you mean mobod.force.CableSpring or mobod.force.ExponentialSpring or mobod.force.MobilityLinearSpring or "
            "mobod.force.MobilityOrientationSpring or mobod.force.MobilityPolynomialSpring or "
            "mobod.force.TransmissionSpring or mobod.force.TwoPointLinearSpring?",
        ),
        ("mb.integrator.RungeKuttaMersen", "did you mean mobod.integrator.RungeKuttaMerson?"),
        ("mb.decoration.Spere", "did you mean mobod.decoration.Sphere?"),
    ],
)
def test_a_name_that_is_not_there_brings_the_one_that_was_meant(name, meant):
    with pytest.raises(AttributeError, match=re.escape(meant)):
        eval(name, {"mb": mb})


def test_a_module_that_is_called_says_which_kind_was_meant():
    for module, kind in ((mb.mobilizer.pin, "mobilizer.Pin"), (mb.force.mobility_linear_spring, "force.MobilityLinearSpring")):
        with pytest.raises(TypeError, match=rf"is a module; did you mean mobod\.{kind}\(\.\.\.\)\?"):
            module()


def test_members_of_stages_are_found_as_ever():
    assert mb.Stage.POSITION is mb.Stage(5) is mb.Stage["POSITION"] and mb.Stage.POSITION < mb.Stage.VELOCITY
    assert pickle.loads(pickle.dumps(mb.Stage.TIME)) is mb.Stage.TIME
    assert not hasattr(mb.Stage, "__wrapped__")


def test_python_says_which_method_was_meant():
    """By itself, since reading is left to it: once, and of names that only the class has; nothing beside what mobod says."""
    code = "import sys, mobod as mb; s, state = mb.examples.double_pendulum.build()"
    for wrong in ("s.matter.bodies[1].get_angel(state)", "mb.integrator.RungeKutta4", "mb.Stage.POSITIO", "mb.examples.pand"):
        code += f"\ntry: {wrong}\nexcept AttributeError: sys.__excepthook__(*sys.exc_info())"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stderr.count("Did you mean: 'get_angle'?") == 1 == found.stderr.count("Did you mean")
    assert found.stderr.count("; did you mean") == 3


# ---------------------------------------------------------------------------------------------- arrays of states


@pytest.mark.parametrize("name", ["q", "u"])
def test_writing_to_what_a_state_hands_out_says_how_to(parts, name):
    state = parts["state"].copy()
    before = getattr(state, name).copy()
    for write in (
        lambda x: x.__setitem__(0, 1.0),
        lambda x: x[0:1].__setitem__(0, 1.0),
        lambda x: x.__iadd__(1.0),
        lambda x: x.__itruediv__(2.0),
    ):
        with pytest.raises(ValueError, match=rf"read-only; change state\.upd_{name}\(\) in place, or assign state\.{name}"):
            write(getattr(state, name))
    assert np.array_equal(getattr(state, name), before)
    with pytest.raises(ValueError, match=r"upd_q\(\), upd_u\(\) or upd_z\(\)"):
        state.y[0] = 1.0


def test_what_is_computed_from_a_states_arrays_is_plain_and_writable(parts):
    q = parts["state"].q
    for found in (2.0 * q, q + q, np.sin(q), q.copy(), np.concatenate([q, q]), q == q, np.array(q), np.outer(q, q)):
        assert type(found) is np.ndarray and found.flags.writeable
    like = np.zeros_like(q)
    like[0] = 2.0
    like += 1.0
    assert like[0] == 3.0
    assert repr(q) == repr(np.array(q)) and type(pickle.loads(pickle.dumps(q))) is np.ndarray
