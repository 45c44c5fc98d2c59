"""Motions that are users' compiled functions: against the same in Python, and against what they are the derivatives of."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod import Stage
from mobod.algebra import exp, rotation, sin
from mobod.motion import CompiledFunctions

Level = mb.Motion.Level


def position(t, parameters):
    a, w = parameters
    return (a * sin(w * t) * exp(-0.1 * t),)


def velocity(t, q, parameters):
    return (parameters[0] * sin(t) - q[0] * q[0],)


def acceleration(t, q, u, parameters):
    return (-parameters[0] * q[0] - 0.3 * u[0] + t,)


class InPython(mb.motion.CustomImplementation):
    """The same motions, with their derivatives by hand."""

    def __init__(self, level):
        self.level = level

    def get_level(self, state):
        return self.level

    def calc_prescribed_position(self, state, nq):
        return 0.7 * np.sin(2.0 * state.time) * np.exp(-0.1 * state.time)

    def calc_prescribed_position_dot(self, state, nq):
        t = state.time
        return 0.7 * np.exp(-0.1 * t) * (2.0 * np.cos(2.0 * t) - 0.1 * np.sin(2.0 * t))

    def calc_prescribed_position_dot_dot(self, state, nq):
        t = state.time
        return 0.7 * np.exp(-0.1 * t) * ((0.01 - 4.0) * np.sin(2.0 * t) - 0.4 * np.cos(2.0 * t))

    def calc_prescribed_velocity(self, state, nu):
        return 2.0 * np.sin(state.time) - state.q[0] ** 2

    def calc_prescribed_velocity_dot(self, state, nu):
        return 2.0 * np.cos(state.time) - 2.0 * state.q[0] * state.u[0]

    def calc_prescribed_acceleration(self, state, nu):
        return -2.0 * state.q[0] - 0.3 * state.u[0] + state.time


COMPILED = {
    Level.POSITION: CompiledFunctions(position=position, parameters=[0.7, 2.0]),
    Level.VELOCITY: CompiledFunctions(velocity=velocity, parameters=[2.0]),
    Level.ACCELERATION: CompiledFunctions(acceleration=acceleration, parameters=[2.0]),
}


def driven(level, compiled):
    system, _ = mb.examples.double_pendulum.build()
    upper = system.matter.bodies[1]
    if compiled:
        motion = mb.motion.Custom(upper, compiled=COMPILED[level])
    else:
        motion = mb.motion.Custom(upper, InPython(level))
    state = system.realize_topology()
    state.q, state.u = [0.2, 0.4], [0.1, -0.3]
    return system, motion, state


@pytest.mark.parametrize("level", list(COMPILED))
def test_as_in_python(level):
    ends = []
    for compiled in (True, False):
        system, motion, state = driven(level, compiled)
        assert system.is_interpreted != compiled
        stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, fixed_step_size=0.01))
        stepper.initialize(state)
        stepper.step_to(1.0)
        now = stepper.state
        assert motion.get_level(now) is level
        ends.append(np.concatenate([now.q, now.u, now.u_dot, system.matter.find_motion_forces(now)]))
    assert_allclose(ends[0], ends[1], rtol=1e-12, atol=1e-12)


def test_a_motion_of_several_coordinates_with_an_n_of_their_own():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    body = mb.body.Rigid(mb.MassProperties(1.0, (0.1, 0.2, 0), mb.UnitInertia(1, 1, 1)))
    gimbal = mb.mobilizer.Gimbal(matter.ground, body)

    def angles(t, parameters):
        return 0.3 * t, 0.2 * t * t, 0.5

    mb.motion.Custom(gimbal, compiled=CompiledFunctions(position=angles))
    state = system.realize_topology()
    state.time = 0.8
    system.prescribe(state)
    system.realize(state)
    assert_allclose(state.q, [0.24, 0.128, 0.5], rtol=1e-14)
    assert_allclose(state.q_dot, [0.3, 0.32, 0.0], atol=1e-13)
    assert_allclose(state.q_dot_dot, [0.0, 0.4, 0.0], atol=1e-13)


def test_speeds_that_follow_from_an_n_of_ones_own_have_that_of_the_same_instant():
    """A joint that turns by q + q^3 / 3, at that rate, moves what hangs on it as a pin does that turns as far."""

    def turned(t, parameters):
        (x,) = position(t, parameters)
        return (x + x * x * x / 3.0,)

    def inverse(q, parameters):
        return ((1.0 / (1.0 + q[0] * q[0]),),)

    ends = []
    for is_custom in (True, False):
        system = mb.MultibodySystem()
        matter = mb.SimbodyMatterSubsystem(system)
        body = mb.body.Rigid(mb.MassProperties(1.0, (0.1, 0.2, 0), mb.UnitInertia(1, 1, 1)))
        if is_custom:
            functions = mb.mobilizer.CompiledFunctions(
                num_q=1, num_u=1, n=inverse, n_inv=lambda q, p: ((1.0 + q[0] * q[0],),),
                transform=lambda q, p: (rotation.about_z(q[0] + q[0] * q[0] * q[0] / 3.0), (0.0, 0.0, 0.0)),
            )  # fmt: skip
            joint = mb.mobilizer.Custom(matter.ground, body, compiled=functions)
        else:
            joint = mb.mobilizer.Pin(matter.ground, body)
        pendulum = mb.mobilizer.Pin(joint, body, X_PF=mb.Transform((0.5, 0, 0)))
        mb.motion.Custom(joint, compiled=CompiledFunctions(position=position if is_custom else turned, parameters=[0.7, 2.0]))
        stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, fixed_step_size=0.1))
        stepper.initialize(system.realize_topology())
        stepper.step_to(1.0)
        ends.append((pendulum.get_q(stepper.state), pendulum.get_u(stepper.state)))
    assert_allclose(ends[0], ends[1], rtol=0.0, atol=1e-12)


def test_a_quaternion_is_turned_by_its_velocity():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
    ball = mb.mobilizer.Ball(matter.ground, body)
    mb.motion.Custom(ball, compiled=CompiledFunctions(velocity=lambda t, q, p: (t, 2.0 * t * t, p[0]), parameters=[3.0]))
    state = system.realize_topology()
    state.time = 0.5
    system.prescribe(state)
    system.realize(state)
    assert_allclose(state.u, [0.5, 0.5, 3.0])
    assert_allclose(state.u_dot, [1.0, 2.0, 0.0], atol=1e-14)
    with pytest.raises(mb.ModelError, match="prescribe its velocity"):
        mb.motion.Custom(ball, compiled=CompiledFunctions(position=lambda t, p: (1.0, 0.0, 0.0, 0.0)))


def test_parameters_of_the_default_and_of_a_state():
    system, motion, state = driven(Level.POSITION, True)
    other = state.copy()
    motion.set_parameters(other, [1.4, 2.0])
    for one, factor in ((state, 1.0), (other, 2.0)):
        one.time = 0.3
        system.prescribe(one)
        system.realize(one, Stage.POSITION)
        assert_allclose(one.q[0], factor * position(0.3, (0.7, 2.0))[0], rtol=1e-14)
    assert motion.get_parameters(other).tolist() == [1.4, 2.0] and motion.get_default_parameters().tolist() == [0.7, 2.0]
    with pytest.raises(ValueError, match="are 2 numbers, got 1"):
        motion.set_parameters(other, [1.0])
    motion.set_default_parameters([0.1, 2.0])
    assert motion.get_parameters(system.realize_topology()).tolist() == [0.1, 2.0]
    again = pickle.loads(pickle.dumps(system))
    assert again.matter.bodies[1].get_motion().get_parameters(again.realize_topology()).tolist() == [0.1, 2.0]


@pytest.mark.parametrize(
    ("functions", "error", "text"),
    [
        (CompiledFunctions(), mb.ModelError, "one of position, velocity and acceleration"),
        (CompiledFunctions(position=position, velocity=velocity), mb.ModelError, "got \\['position', 'velocity'\\]"),
        (CompiledFunctions(position=lambda t: (t,)), mb.ModelError, r"has to take \(t, parameters\)"),
        (CompiledFunctions(position=lambda t, p: t), mb.ModelError, "has to return a tuple of 1 number"),
        (CompiledFunctions(position=lambda t, p: (abs(t) if t > 1 else t,)), mb.ModelError, "where"),
        (CompiledFunctions(position=lambda t, p: (t * p[0],), parameters=[np.nan]), ValueError, "a parameter has to be finite"),
        (lambda t, p: (t,), TypeError, r"compiled has to be a mobod.motion.CompiledFunctions"),
    ],
)
def test_bad_functions(functions, error, text):
    system, _ = mb.examples.double_pendulum.build()
    body = system.matter.bodies[1]
    with pytest.raises(error, match=text):
        mb.motion.Custom(body, compiled=functions)
    assert not body.has_motion()
    with pytest.raises(TypeError, match="not both"):
        mb.motion.Custom(body, InPython(Level.POSITION), compiled=COMPILED[Level.POSITION])


def test_each_form_tells_of_the_other():
    _, motion, _ = driven(Level.POSITION, True)
    assert motion.get_compiled_functions() is COMPILED[Level.POSITION]
    with pytest.raises(mb.ModelError, match="get_compiled_functions"):
        motion.get_implementation()
    _, motion, state = driven(Level.POSITION, False)
    with pytest.raises(mb.ModelError, match="get_implementation"):
        motion.get_compiled_functions()
    with pytest.raises(mb.ModelError, match="get_implementation"):
        motion.set_parameters(state, (1.0,))


@pytest.mark.filterwarnings("ignore:.*written in Python:UserWarning")
@pytest.mark.parametrize(
    ("level", "compiled"), [(Level.VELOCITY, False), *(pytest.param(one, True, marks=pytest.mark.long) for one in COMPILED)]
)
def test_sensitivities_by_parameters_and_by_what_motions_follow(level, compiled):
    system, motion, state = driven(level, compiled)
    own = np.array(COMPILED[level].parameters if compiled else [])
    duration, wanted = (0.5, ["upper.q", "lower.u", "upper.motion.parameters"]) if compiled else (0.1, ["upper.q"])
    run = mb.simulate(system, state, duration, report_interval=duration, accuracy=1e-9, sensitivities=wanted)
    found = np.vstack([run.sensitivities.q[-1], run.sensitivities.u[-1]])

    def end(column, h):
        other = state.copy()
        other.q = state.q + h * np.eye(2)[0] * (column == 0)
        other.u = state.u + h * np.eye(2)[1] * (column == 1)
        if column > 1:
            motion.set_parameters(other, own + h * np.eye(len(own))[column - 2])
        last = mb.simulate(system, other, duration, report_interval=duration, accuracy=1e-11)
        return np.concatenate([last.q[-1], last.u[-1]])

    for k in range(found.shape[1]):
        h = 1e-3
        expected = (8.0 * (end(k, h) - end(k, -h)) - (end(k, 2.0 * h) - end(k, -2.0 * h))) / (12.0 * h)
        assert_allclose(found[:, k], expected, atol=1e-7, err_msg=f"column {k}")
    gradient = mb.calc_gradient(system, state, duration, lambda end: float(end.q[1] + end.u[0]), wanted, accuracy=1e-9)
    assert_allclose(gradient.gradient, found[1] + found[2], atol=1e-7)


def test_a_linear_model_reduced_has_the_speeds_that_follow_from_q():
    system, _, state = driven(Level.VELOCITY, True)
    system.prescribe(state)
    system.realize(state)
    model = mb.linearize(system, state, [], independent=True)
    assert model.state_names == ["upper.v", "lower.v", "lower.u"]
    assert_allclose(model.A[0], [-2.0 * state.q[0], 0.0, 0.0], atol=1e-9)  # q' = p sin t - q^2
