"""Actuators and what they act through: the law, dynamics, ranges, bad input."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

import mobod as mb

T = mb.force.transmission


class Arm:
    """Two links and a free body."""

    def __init__(self):
        self.system = mb.MultibodySystem()
        self.matter = mb.SimbodyMatterSubsystem(self.system)
        self.forces = mb.GeneralForceSubsystem(self.system)
        link = mb.body.Rigid(mb.MassProperties(1.0, (0.3, 0, 0), mb.Inertia(0.1, 0.2, 0.2)))
        self.upper = mb.mobilizer.Pin(self.matter.ground, link)
        self.lower = mb.mobilizer.Pin(self.upper, link, X_PF=mb.Transform((0.6, 0, 0)))
        self.free = mb.mobilizer.Free(self.matter.ground, link)

    def state(self, rng=None):
        state = self.system.realize_topology()
        if rng is not None:
            state.q = state.q + 0.3 * rng.normal(size=len(state.q))
            state.u = rng.normal(size=len(state.u))
        self.system.realize(state, mb.Stage.VELOCITY)
        return state


def transmissions(arm):
    """One of each kind."""
    X = mb.Transform(mb.Rotation.about_axis(0.4, (1, 2, 3)), (0.1, 0.2, 0.3))
    points = [(arm.matter.ground, (0, 1, 0)), (arm.lower, (0.2, 0.1, 0)), (arm.free, (0, 0.3, 0.1))]
    return [
        T.Coordinates(arm.forces, [(arm.upper, 0, 2.0), (arm.lower, 0, -1.0)], ratio=1.5),
        T.StraightPath(arm.forces, [(points, 1.0), (points[1:], 2.0)], ratio=0.7),
        T.BodyWrench(arm.forces, arm.lower, X, force=(1, 2, 3), torque=(3, 1, 2), torque_in_ground=True),
        T.RelativePose(arm.forces, arm.lower, arm.free, X, X, translation=(1, 2, 3), rotation=(1, 0, 2)),
        T.SliderCrank(arm.forces, arm.lower, arm.upper, X, mb.Transform(), rod_length=3.0, ratio=2.0),
    ]


@pytest.mark.parametrize("which", range(5))
def test_power_of_a_force_is_the_force_times_the_speed(which):
    arm, rng = Arm(), np.random.default_rng(which)
    through = transmissions(arm)[which]
    motor = mb.force.Actuator(arm.forces, through, control=2.5)
    state = arm.state(rng)
    body_forces, _, mobility_forces = motor.calc_force_contribution(state)
    f = mobility_forces + arm.matter.multiply_by_system_jacobian_transpose(state, body_forces)
    assert_allclose(f @ state.u, 2.5 * through.calc_speed(state), rtol=1e-12, atol=1e-12)
    assert motor.calc_speed(state) == pytest.approx(through.calc_speed(state), rel=1e-14)
    assert motor.calc_length(state) == pytest.approx(through.calc_length(state), rel=1e-14)


@pytest.mark.parametrize("which", [0, 1, 4])
def test_speed_is_the_rate_of_the_length(which):
    arm, rng = Arm(), np.random.default_rng(which)
    through = transmissions(arm)[which]
    state = arm.state(rng)
    q, q_dot, h = state.q.copy(), np.array(state.q_dot), 1e-6
    lengths = []
    for sign in (1.0, -1.0):
        state.q = q + sign * h * q_dot
        arm.system.realize(state, mb.Stage.VELOCITY)
        lengths.append(through.calc_length(state))
    state.q = q
    arm.system.realize(state, mb.Stage.VELOCITY)
    assert_allclose((lengths[0] - lengths[1]) / (2.0 * h), through.calc_speed(state), rtol=1e-7, atol=1e-8)  # differences


def test_a_servo_and_its_ranges():
    arm = Arm()
    joint = T.Coordinates(arm.forces, [(arm.upper, 0, 1.0)])
    servo = mb.force.Actuator(
        arm.forces,
        joint,
        gain=(50, 0, 0),
        bias=(0, -50, -5),
        control_range=(-1, 1),
        force_range=(-30, 30),
        applied_range=(-20, 9),
    )
    state = arm.state()
    arm.upper.set_rate(state, 0.5)
    servo.set_control(state, 0.2)
    arm.system.realize(state)
    assert servo.calc_force(state) == pytest.approx(50 * 0.2 - 5 * 0.5)
    assert servo.calc_force_contribution(state)[2][0] == pytest.approx(7.5)
    servo.set_effort(state, 0.4)
    assert state.stage == mb.Stage.VELOCITY
    assert servo.get_control(state) == 0.4
    assert servo.calc_force(state) == pytest.approx(17.5)
    assert servo.calc_force_contribution(state)[2][0] == 9.0
    servo.set_control(state, 5.0)
    assert servo.calc_force(state) == 30.0
    servo.disable(state)
    arm.system.realize(state, mb.Stage.VELOCITY)
    assert servo.calc_force(state) == 0.0


def test_dynamics_of_a_filter_and_an_integrator():
    arm = Arm()
    joint = T.Coordinates(arm.forces, [(arm.upper, 0, 1.0)])
    slow = mb.force.Actuator(arm.forces, joint, dynamics="filter", time_constant=0.2, control=1.0)
    sum_of = mb.force.Actuator(arm.forces, joint, dynamics="integrator", activation_range=(-1.0, 0.3), control=0.5)
    state = arm.state()
    end = mb.simulate(arm.system, state, 1.0, accuracy=1e-8).states[-1]
    assert slow.get_activation(end) == pytest.approx(1.0 - np.exp(-5.0), rel=1e-6)
    assert sum_of.get_activation(end) == pytest.approx(0.3, abs=1e-3)  # the end of its range, met within a step
    slow.set_activation(state, 0.7)
    assert slow.get_activation(state) == 0.7
    plain = mb.force.Actuator(arm.forces, joint)
    state = arm.state()
    assert plain.get_activation(state) is None
    with pytest.raises(mb.ModelError, match="no dynamics"):
        plain.set_activation(state, 1.0)


def test_the_control_of_an_angle_is_the_nearest_of_a_period():
    arm = Arm()
    joint = T.Coordinates(arm.forces, [(arm.upper, 0, 1.0)])
    servo = mb.force.Actuator(arm.forces, joint, gain=(1, 0, 0), bias=(0, -1, 0), period=2 * np.pi, control=3.0)
    state = arm.state()
    arm.upper.set_angle(state, -3.0)
    arm.system.realize(state)
    assert servo.calc_force(state) == pytest.approx(6.0 - 2 * np.pi)


def test_a_spring_along_a_path_is_slack_within_its_range():
    arm = Arm()
    path = T.StraightPath(arm.forces, [([(arm.matter.ground, (0, 0, 0)), (arm.free, (0, 0, 0))], 1.0)])
    rope = mb.force.TransmissionSpring(arm.forces, path, stiffness=10.0, damping=1.0, rest_range=(0.0, 1.0))
    state = arm.state()
    arm.free.set_q(state, [1, 0, 0, 0, 0.5, 0, 0])
    arm.system.realize(state)
    assert rope.calc_force(state) == 0.0
    arm.free.set_q(state, [1, 0, 0, 0, 1.5, 0, 0])
    arm.free.set_u(state, [0, 0, 0, 2.0, 0, 0])
    arm.system.realize(state)
    assert rope.calc_force(state) == pytest.approx(-5.0 - 2.0)
    assert rope.calc_potential_energy_contribution(state) == pytest.approx(0.5 * 10 * 0.25)
    assert rope.calc_power_dissipation(state) == pytest.approx(4.0)
    disabled = rope.calc_length(state), rope.calc_speed(state)
    assert disabled == (pytest.approx(1.5), pytest.approx(2.0))


def test_a_system_with_actuators_is_pickled():
    import pickle

    arm = Arm()
    motors = [mb.force.Actuator(arm.forces, through, control=1.0) for through in transmissions(arm)[:2]]
    mb.force.TransmissionSpring(arm.forces, motors[1].get_transmission(), stiffness=2.0)
    state = arm.state()
    arm.system.realize(state)
    copy = pickle.loads(pickle.dumps(arm.system))
    again = copy.realize_topology()
    copy.realize(again)
    assert_allclose(again.u_dot, state.u_dot)


def test_a_path_through_the_inside_bends_where_it_is_shortest():
    # ends near the circle, whose line just misses it: found by golden section, without the law of reflection
    arm, radius = Arm(), 0.06
    ends = np.array([[-0.1, 0.0601], [0.3, 0.0604]])
    points = [(arm.matter.ground, (*end, 0.0)) for end in ends]
    ring = T.Wrap(arm.matter.ground, radius, is_cylinder=True, side=(arm.matter.ground, (0.01, 0, 0)))
    path = T.WrappedPath(arm.forces, [([points[0], ring, points[1]], 1.0)])

    def bent(angle):
        return np.linalg.norm(ends - radius * np.array([np.cos(angle), np.sin(angle)]), axis=1).sum()

    least = minimize_scalar(bent, bounds=(1.4, 1.7), method="bounded", options={"xatol": 1e-9}).fun
    assert path.calc_length(arm.state()) == pytest.approx(least, rel=1e-13)


BAD = {
    "no transmission": (lambda a, t: mb.force.Actuator(a.forces, 3), TypeError, "transmission has to be a Transmission"),
    "gain": (lambda a, t: mb.force.Actuator(a.forces, t, gain=(1, 2)), ValueError, "gain of an Actuator"),
    "range": (lambda a, t: mb.force.Actuator(a.forces, t, force_range=(1, -1)), mb.ModelError, "force_range.*in order"),
    "dynamics": (lambda a, t: mb.force.Actuator(a.forces, t, dynamics="muscle"), mb.ModelError, "dynamics.*'muscle'"),
    "tau": (lambda a, t: mb.force.Actuator(a.forces, t, time_constant=0.0), mb.ModelError, "time_constant"),
    "period": (lambda a, t: mb.force.Actuator(a.forces, t, period=-1.0), mb.ModelError, "period"),
    "spring": (lambda a, t: mb.force.TransmissionSpring(a.forces, t, rest_range=(2, 1)), mb.ModelError, "rest_range"),
    "higher": (lambda a, t: mb.force.TransmissionSpring(a.forces, t, higher_damping=(2,)), ValueError, "higher_damping"),
    "coordinate": (lambda a, t: T.Coordinates(a.forces, [(a.upper, 1, 1.0)]), IndexError, "which_q is 1"),
    "coefficient": (lambda a, t: T.Coordinates(a.forces, [(a.upper, 0, np.nan)]), mb.ModelError, "a coefficient"),
    "points": (lambda a, t: T.StraightPath(a.forces, [([(a.upper, (0, 0, 0))], 1.0)]), mb.ModelError, "two points or more"),
    "divisor": (
        lambda a, t: T.StraightPath(a.forces, [([(a.upper, (0, 0, 0)), (a.free, (0, 0, 0))], 0.0)]),
        mb.ModelError,
        "divisor of a branch",
    ),
    "wrap first": (
        lambda a, t: T.WrappedPath(a.forces, [([T.Wrap(a.upper, 1.0), (a.upper, (0, 0, 0)), (a.free, (0, 0, 0))], 1.0)]),
        mb.ModelError,
        "stands between two points",
    ),
    "wrap last": (
        lambda a, t: T.WrappedPath(a.forces, [([(a.upper, (0, 0, 0)), (a.free, (0, 0, 0)), T.Wrap(a.upper, 1.0)], 1.0)]),
        mb.ModelError,
        "begins and ends with a point",
    ),
    "radius": (
        lambda a, t: T.WrappedPath(a.forces, [([(a.upper, (0, 0, 0)), T.Wrap(a.upper, -1.0), (a.free, (0, 0, 0))], 1.0)]),
        mb.ModelError,
        "radius of a Wrap",
    ),
    "body": (lambda a, t: T.BodyWrench(a.forces, 3.5), TypeError, "body has to be a mobilized body"),
    "vector": (lambda a, t: T.BodyWrench(a.forces, a.free, force=(1, 2)), ValueError, "force of a BodyWrench"),
    "ratio": (
        lambda a, t: T.RelativePose(a.forces, a.free, a.upper, mb.Transform(), rotation=(1, np.nan, 0)),
        mb.ModelError,
        "rotation",
    ),
    "rod": (lambda a, t: T.SliderCrank(a.forces, a.free, a.upper, rod_length=0.0), mb.ModelError, "rod_length"),
    "other system": (lambda a, t: mb.force.Actuator(Arm().forces, t), mb.TopologyError, "another system"),
    "fractions": (lambda a, t: mb.force.GravityCompensation(a.forces, [a.free], (0, 0, 1)), TypeError, "Mapping"),
    "sides": (lambda a, t: mb.force.BoxDrag(a.forces, a.free, (1, -1, 1)), mb.ModelError, "sides"),
    "density": (lambda a, t: mb.force.EllipsoidDrag(a.forces, a.free, (1, 1, 1), density=-1), mb.ModelError, "density"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_is_refused(name):
    make, error, match = BAD[name]
    arm = Arm()
    joint = T.Coordinates(arm.forces, [(arm.upper, 0, 1.0)])
    with pytest.raises(error, match=match):
        make(arm, joint)
    assert arm.forces.get_num_forces() == 0


def test_efforts_of_many_mobilities_in_one_call():
    arm = Arm()
    motors = mb.force.Actuators(arm.forces, [(arm.lower, 0), (arm.free, 4), (arm.upper, 0)])
    state = arm.state()
    arm.system.realize(state)
    motors.set_efforts(state, [1.0, 2.0, 3.0])
    assert state.stage == mb.Stage.VELOCITY and motors.get_num_actuators() == 3
    assert_allclose(motors.get_efforts(state), [1, 2, 3])
    assert_allclose(motors.calc_force_contribution(state)[2], [3, 1, 0, 0, 0, 0, 2, 0])
    with pytest.raises(ValueError, match="efforts of"):
        motors.set_efforts(state, [1.0])
    arm.system.realize(state)
    for refused in (np.zeros(2), np.array([1.0, np.nan, 2.0]), np.array([np.inf, 1.0, 2.0]), np.zeros((3, 1)), [1.0, 2.0]):
        with pytest.raises(ValueError, match="efforts of"):
            motors.set_efforts(state, refused)
        assert state.stage == mb.Stage.ACCELERATION and np.array_equal(motors.get_efforts(state), [1, 2, 3])
    others = np.array(state.field("force_numbers")).ravel()[motors.span[3] :]
    for given in (np.array([4.0, 5.0, 6.0]), np.array([4, 5, 6]), np.array([[4.0, 0], [5.0, 0], [6.0, 0]])[:, 0]):
        motors.set_efforts(state, [1.0, 2.0, 3.0])
        arm.system.realize(state)
        motors.set_efforts(state, given)
        assert state.stage == mb.Stage.VELOCITY and np.array_equal(motors.get_efforts(state), [4, 5, 6])
    assert np.array_equal(state.field("force_numbers").ravel()[motors.span[3] :], others)
    with pytest.raises(TypeError, match="a pair of a mobilized body and a number, or a body with one mobility, not 3"):
        mb.force.Actuators(arm.forces, [3])
    with pytest.raises(IndexError, match="which_u is 1"):
        mb.force.Actuators(arm.forces, [(arm.lower, 1)])


def test_lengths_need_positions():
    arm = Arm()
    through = transmissions(arm)[1]
    motor = mb.force.Actuator(arm.forces, through)
    state = arm.system.realize_topology()
    for asked in (through.calc_length, motor.calc_length, motor.calc_speed):
        with pytest.raises(mb.StageError):
            asked(state)


@pytest.mark.parametrize("slide", [1.0, -1.0])
def test_a_spring_with_dissipation_is_a_stop_beyond_its_range(slide):
    """As `MobilityLinearStop` of the same coordinate: in force, energy and power, on the way out and back."""
    forces, energies, powers = [], [], []
    for tendon in (True, False):
        system = mb.MultibodySystem()
        matter = mb.SimbodyMatterSubsystem(system)
        own = mb.GeneralForceSubsystem(system)
        pin = mb.mobilizer.Pin(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1))))
        if tendon:
            along = T.Coordinates(own, [(pin, 0, 1.0)])
            stop = mb.force.TransmissionSpring(own, along, stiffness=50.0, rest_range=(-0.2, 0.3), dissipation=0.7)
        else:
            stop = mb.force.MobilityLinearStop(own, pin, 0, 50.0, 0.7, -0.2, 0.3)
        state = system.realize_topology()
        for q in (0.1, 0.5, -0.6):
            for u in (0.0, slide, -2.0 * slide):  # at the last it would pull
                state.q, state.u = [q], [u]
                system.realize(state, mb.Stage.DYNAMICS)
                forces.append(stop.calc_force_contribution(state)[2][0])
                energies.append(stop.calc_potential_energy_contribution(state))
                powers.append(stop.calc_power_dissipation(state))
    half = len(forces) // 2
    assert_allclose(forces[:half], forces[half:])
    assert_allclose(energies[:half], energies[half:])
    assert_allclose(powers[:half], powers[half:])
    assert max(powers) > 1.0 and min(powers) >= 0.0 and 0.0 in forces[3:6] + forces[6:9]


@pytest.mark.parametrize("force_in_ground", [False, True])
@pytest.mark.parametrize("torque_in_ground", [False, True])
def test_a_wrench_is_fixed_in_its_frame_or_in_ground(force_in_ground, torque_in_ground):
    """F = f R g at the frame's origin: about the body's the torque is f R' g' + s x F, with R that of the frame, or none."""
    arm, rng = Arm(), np.random.default_rng(8)
    R_BS, p_BS, force, torque = mb.Rotation.about_axis(0.4, (1, 2, 3)), np.array([0.1, 0.2, 0.3]), (1.0, 2, 3), (3.0, 1, 2)
    where = {"force_in_ground": force_in_ground, "torque_in_ground": torque_in_ground}
    wrench = T.BodyWrench(arm.forces, arm.free, mb.Transform(R_BS, p_BS), force=force, torque=torque, **where)
    motor = mb.force.Actuator(arm.forces, wrench, control=2.5)
    state = arm.state(rng)
    R_GB = np.asarray(arm.free.get_body_transform(state).R)
    R_GS = R_GB @ np.asarray(R_BS)
    F = 2.5 * np.array(force) if force_in_ground else 2.5 * R_GS @ force
    M = 2.5 * np.array(torque) if torque_in_ground else 2.5 * R_GS @ torque
    body_forces, _, _ = motor.calc_force_contribution(state)
    assert_allclose(body_forces[arm.free.index], [M + np.cross(R_GB @ p_BS, F), F], rtol=1e-13, atol=1e-13)
