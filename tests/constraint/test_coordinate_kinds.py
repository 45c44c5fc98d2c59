"""Constraints of coordinates and speeds: against finite differences, textbook mechanics, and the same written otherwise."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from kinds.constraints import Tree, link
from mobod import Stage, constraint as con, function as fn

CONSTANTS = (con.ConstantCoordinate, con.ConstantSpeed, con.ConstantAcceleration)


@pytest.fixture(params=["quaternions", "angles"])
def euler(request):
    return request.param == "angles"


def test_errors_are_rates_of_each_other_and_solutions_leave_none(euler, rng, derivative):
    model = Tree()
    system, matter = model.system, model.matter
    state = model.state(euler, rng.uniform(-1.0, 1.0, 14), rng.uniform(-1.0, 1.0, 12))
    assert_allclose(state.u_dot_err, 0.0, atol=1e-12)  # sums of a few numbers of ten
    assert_allclose(matter.calc_g(state).T, matter.calc_g_transpose(state), atol=1e-13)
    n = model.num_p

    def later(h):
        other = state.copy()
        other.time = state.time + h
        other.q = state.q + h * state.q_dot + 0.5 * h * h * state.q_dot_dot
        other.u = state.u + h * state.u_dot
        system.realize(other, Stage.VELOCITY)
        return other

    assert_allclose(derivative(lambda h: later(h).q_err[:n]), state.u_err[:n], atol=1e-9)
    assert_allclose(derivative(lambda h: later(h).u_err), 0.0, atol=1e-8)  # what the accelerations found bring about
    udot = rng.uniform(-1.0, 1.0, matter.get_num_mobilities())
    assert_allclose(
        matter.calc_constraint_acceleration_errors(state, udot),
        matter.calc_g(state) @ udot + matter.calc_bias_for_acceleration_constraints(state),
        atol=1e-12,
    )
    residual = matter.calc_residual_force(
        state, system.get_mobility_forces(state), system.get_rigid_body_forces(state), state.u_dot, state.multipliers
    )
    assert_allclose(residual, 0.0, atol=1e-11)


def test_users_functions_give_the_same(euler, rng):
    q, u = rng.uniform(-1.0, 1.0, 14), rng.uniform(-1.0, 1.0, 12)
    built_in, users = (Tree(kind).state(euler, q, u) for kind in (False, True))
    assert users.system.calls_python and not users.system.is_interpreted and not built_in.system.calls_python
    for name in ("q_err", "u_err", "u_dot", "multipliers"):
        assert_allclose(getattr(users, name), getattr(built_in, name), atol=1e-11, rtol=1e-11)
    for state in (built_in, users):
        assert state.system.project(state, 1e-10)
    assert_allclose(users.q, built_in.q, atol=1e-9)
    assert_allclose(users.u, built_in.u, atol=1e-9)
    assert_allclose(users.q_err, 0.0, atol=1e-10)


def test_what_depends_on_time_follows_time():
    model = Tree()
    state = model.state(False, np.full(14, 0.4), np.zeros(12))
    (motion,) = (one for one in model.matter.constraints if isinstance(one, con.PrescribedMotion))
    before = motion.get_position_errors_as_vector(state)[0]
    state.time = 1.1
    model.system.realize(state, Stage.POSITION)
    change = motion.get_position_errors_as_vector(state)[0] - before
    assert_allclose(change, 0.4 * (np.sin(1.3 * 0.3 + 0.2) - np.sin(1.3 * 1.1 + 0.2)), atol=1e-14)


def gears(coupler, ratio=2.0, inertias=(0.3, 1.7)):
    """Two wheels on fixed axes, the first turning -ratio times as fast as the second."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    properties = [mb.MassProperties(1.0, (0, 0, 0), mb.Inertia(I, I, I)) for I in inertias]
    wheels = [mb.mobilizer.Pin(matter.ground, mb.body.Rigid(one)) for one in properties]
    function = fn.Linear([1.0, ratio, 0.0])
    gear = coupler(matter, function, wheels, [0, 0])
    return system, matter, wheels, gear


@pytest.mark.parametrize("coupler", [con.CoordinateCoupler, con.SpeedCoupler])
def test_a_pair_of_gears_has_the_inertia_of_both(coupler):
    """With q1 = -r q2 the energy is (r^2 I1 + I2) q2'^2 / 2: a torque T on wheel 1 gives q2'' = -r T / (r^2 I1 + I2)."""
    system, matter, _, gear = gears(coupler)
    state = system.realize_topology()
    system.realize(state)
    torque, ratio, (I1, I2) = 5.0, 2.0, (0.3, 1.7)
    udot, _ = matter.calc_acceleration(state, [torque, 0.0])
    expected = -ratio * torque / (ratio**2 * I1 + I2)
    assert_allclose(udot, [-ratio * expected, expected], rtol=1e-13)
    # the inertia that the constraint itself feels: 1 / (G M^-1 G^T)
    assert_allclose(matter.calc_projected_m_inv(state), [[1.0 / I1 + ratio**2 / I2]], rtol=1e-13)
    state.u = 1.0, 1.0
    assert system.project(state)
    # the least change of (1, 1) that meets u1 + 2 u2 = 0
    assert_allclose(state.u, np.array([1.0, 1.0]) - 0.6 * np.array([1.0, 2.0]), atol=1e-12)
    gear.disable(state)
    system.realize(state)
    assert len(state.multipliers) == 0
    udot, _ = matter.calc_acceleration(state, [torque, 0.0])
    assert_allclose(udot, [torque / I1, 0.0], rtol=1e-13)
    gear.enable(state)
    system.realize(state)
    assert len(state.multipliers) == 1


def test_steps_of_coupled_coordinates_begin_where_bodies_are_projected():
    """Of such couplers no pose is read until they hold: what is realized there afterwards is the energy's witness."""
    system, state = mb.examples.double_pendulum.build()
    con.CoordinateCoupler(system.matter, fn.Linear([1.0, 0.5, -0.1]), system.matter.bodies[1:], [0, 0])
    state = system.realize_topology()
    state.q, state.u = [0.9, 0.3], [1.0, -2.0]
    method = mb.integrator.RungeKutta3(system, fixed_step_size=2e-3)
    motion = mb.simulate(system, state, 0.5, integrator=method, report_interval=0.5)
    assert method.get_num_q_projections() >= 250
    assert abs(motion.energy[-1] - motion.energy[0]) < 3e-7  # of the method; 1.1e-6 where poses are those of the last stage


def test_prescribed_motion_is_a_motion_by_other_means():
    """The same udot as `motion.Sinusoid`, and its tau for a multiplier: the sign of both is that of M udot + tau = f."""

    def build(as_constraint):
        system, state = mb.examples.double_pendulum.build()
        upper = system.matter.bodies[1]
        if as_constraint:
            con.PrescribedMotion(system.matter, fn.Sinusoid(0.5, 2.0, 0.3), upper, 0)
        else:
            mb.motion.Sinusoid(upper, mb.Motion.Level.POSITION, 0.5, 2.0, 0.3)
        state = system.realize_topology()
        state.time, state.q, state.u = 0.7, [0.1, 0.4], [0.3, -0.2]
        system.project(state, 1e-13)
        system.realize(state)
        return system, state

    (_, constrained), (system, driven) = build(True), build(False)
    assert_allclose(constrained.q, driven.q, atol=1e-12)
    assert_allclose(constrained.u, driven.u, atol=1e-12)
    assert_allclose(constrained.u_dot, driven.u_dot, atol=1e-10)
    tau = system.matter.find_motion_forces(driven)
    assert_allclose(constrained.multipliers, tau[:1], atol=1e-9)


def test_a_function_of_speeds_need_not_be_linear():
    system, state = mb.examples.double_pendulum.build()
    upper = system.matter.bodies[1]
    coupler = con.SpeedCoupler(system.matter, fn.Polynomial([1.0, 0.0, -4.0]), [upper], [0])  # u^2 = 4
    state = system.realize_topology()
    state.u = 3.0, 0.0
    system.realize(state)
    assert_allclose(coupler.get_velocity_errors_as_vector(state), [5.0])
    assert_allclose(system.matter.calc_g(state), [[6.0, 0.0]])
    assert system.project(state)
    assert_allclose(state.u, [2.0, 0.0], atol=1e-8)
    state.u = -3.0, 0.0
    system.project(state)
    assert_allclose(state.u, [-2.0, 0.0], atol=1e-8)


@pytest.mark.parametrize("kind", CONSTANTS)
def test_values_belong_to_the_state(kind):
    system, state = mb.examples.double_pendulum.build()
    hold = kind(system.matter.bodies[2], 0, 0.5, name="hold")
    what = {"ConstantCoordinate": "position", "ConstantSpeed": "speed", "ConstantAcceleration": "acceleration"}[kind.__name__]
    state = system.realize_topology()
    system.realize(state)
    assert getattr(hold, f"get_default_{what}")() == hold.get_value(state) == getattr(hold, f"get_{what}")(state) == 0.5
    getattr(hold, f"set_{what}")(state, 0.7)
    assert state.stage <= Stage.INSTANCE and hold.get_value(state) == 0.7 and hold.get_default_value() == 0.5
    system.realize(state)
    if what == "position":
        assert_allclose(hold.get_position_error(state), state.q[1] - 0.7)
        assert hold.get_velocity_error(state) == state.u[1]
    elif what == "speed":
        assert_allclose(hold.get_velocity_error(state), state.u[1] - 0.7)
    else:
        assert_allclose(state.u_dot[1], 0.7)
    assert abs(hold.get_acceleration_error(state)) < 1e-12
    assert_allclose(hold.get_multiplier(state), state.multipliers[0])
    with pytest.raises(ValueError, match=f"{what} of 'hold' has to be finite"):
        hold.set_value(state, np.nan)
    assert hold.get_value(state) == 0.7
    assert getattr(hold, f"set_default_{what}")(0.9) is hold
    with pytest.raises(mb.TopologyError):
        system.realize(state, Stage.REPORT)
    assert hold.get_value(system.realize_topology()) == 0.9
    hold.disable(state := system.realize_topology())
    system.realize(state)
    with pytest.raises(mb.ModelError, match=r"get_multiplier.*disabled.*enable"):
        hold.get_multiplier(state)


@pytest.mark.parametrize("known", ["locked", "driven"])
def test_known_motion_beside_a_constraint(known):
    """A constraint on what is known already has a multiplier of zero; project leaves what is prescribed."""
    system, _ = mb.examples.double_pendulum.build()
    upper, lower = system.matter.bodies[1:3]
    con.ConstantCoordinate(upper, 0, 0.2)
    con.CoordinateCoupler(system.matter, fn.Linear([1.0, -1.0, 0.0]), [upper, lower], [0, 0])
    if known == "driven":
        mb.motion.Sinusoid(upper, mb.Motion.Level.POSITION, 0.2, 0.0, 0.5 * np.pi)
    state = system.realize_topology()
    state.q = 0.2, 0.7
    if known == "locked":
        upper.lock(state)
    assert system.project(state)
    assert_allclose(state.q, [0.2, 0.2], atol=1e-8)
    state.u = 0.0, 0.0
    system.realize(state)
    assert np.isfinite(state.multipliers).all() and state.multipliers[0] == 0.0
    assert_allclose(state.u_dot, 0.0, atol=1e-10)
    # one that what is known contradicts, and that nothing else can meet
    if known == "locked":
        upper.lock_at(state, 0.5)
        before = state.q.copy()
        with pytest.raises(mb.ConvergenceError, match="constantcoordinate_0"):
            system.project(state)
        assert_allclose(state.q, before)


def test_copies_of_a_system_with_constraints(rng):
    model = Tree()
    state = model.state(False, rng.uniform(-1.0, 1.0, 14), rng.uniform(-1.0, 1.0, 12))
    for other in (pickle.loads(pickle.dumps(model.system)), copy.deepcopy(model.system)):
        twin = other.realize_topology()
        twin.time, twin.q, twin.u = state.time, state.q, state.u
        other.realize(twin)
        assert_allclose(twin.u_dot, state.u_dot, atol=1e-13)
        assert_allclose(twin.multipliers, state.multipliers, atol=1e-12)
    twin = pickle.loads(pickle.dumps(state))
    assert_allclose(twin.multipliers, state.multipliers)


def test_what_cannot_be():
    system, _ = mb.examples.double_pendulum.build()
    matter, pin = system.matter, system.matter.bodies[1]
    other = mb.examples.double_pendulum.build()[0]
    line = fn.Linear([1.0, 0.0])
    for call, error, said in (
        (lambda: con.ConstantCoordinate(pin, 1, 0.0), IndexError, "which_q of a ConstantCoordinate is 1; .* has 1 q"),
        (lambda: con.ConstantSpeed(matter.ground, 0, 0.0), IndexError, "which_u of a ConstantSpeed is 0; .* has 0 u"),
        (lambda: con.ConstantSpeed(pin, 0.5, 0.0), TypeError, "has to be an integer, not 0.5"),
        (lambda: con.ConstantSpeed("pin", 0, 0.0), TypeError, "takes mobilized bodies, not 'pin'"),
        (lambda: con.ConstantAcceleration(pin, 0, np.inf), ValueError, "has to be finite, got inf"),
        (lambda: con.CoordinateCoupler(matter, line, [pin, pin], [0, 0]), ValueError, r"2 argument\(s\); .* takes 1"),
        (lambda: con.CoordinateCoupler(matter, line, [pin], [0, 1]), ValueError, "1 coordinate_mobods and 2"),
        (lambda: con.CoordinateCoupler(matter, line, [], []), ValueError, "coordinate_mobods is empty"),
        (lambda: con.CoordinateCoupler(matter, abs, [pin], [0]), TypeError, "has to be a Function"),
        (lambda: con.CoordinateCoupler(pin, line, [pin], [0]), TypeError, "matter of a CoordinateCoupler has to be"),
        (lambda: con.CoordinateCoupler(matter, line, pin, [0]), TypeError, "coordinate_mobods of .* has to be a list"),
        (lambda: con.CoordinateCoupler(matter, line, [other.matter.bodies[1]], [0]), mb.TopologyError, "another system"),
        (lambda: con.SpeedCoupler(matter, line, [pin], [2]), IndexError, r"speed_indices\[0\] of a SpeedCoupler is 2"),
        (lambda: con.SpeedCoupler(matter, line, [], [], [pin], [0]), ValueError, "speed_mobods is empty"),
        (lambda: con.PrescribedMotion(matter, fn.Linear([1.0, 1.0, 0.0]), pin, 0), ValueError, r"of time, 1 argument\(s\)"),
        (lambda: con.PrescribedVelocity(matter, line, pin, 3), IndexError, "which_u of a PrescribedVelocity is 3"),
        (lambda: con.PrescribedMotion(matter, line, 99, 0), IndexError, "99"),
        (lambda: con.PrescribedMotion(matter, line, other.matter.bodies[1], 0), mb.TopologyError, "another system"),
    ):
        with pytest.raises(error, match=said):
            call()
    assert matter.get_num_constraints() == 0


def test_a_number_of_a_quaternion_is_not_there_in_angles():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    ball = mb.mobilizer.Ball(matter.ground, link(), name="ball")
    con.ConstantCoordinate(ball, 3, 0.1, name="fourth")
    state = system.realize_topology()
    with pytest.raises(mb.ModelError, match=r"'fourth'.* is of coordinate 3 of 'ball', which has 3 with angles"):
        matter.convert_to_euler_angles(state)
    system.project(state)
    assert abs(state.q[3] - 0.1) < 1e-8 and abs(np.linalg.norm(state.q) - 1.0) < 1e-12


def test_users_functions_that_fail_are_named():
    system, _ = mb.examples.double_pendulum.build()
    con.CoordinateCoupler(system.matter, fn.Custom(lambda x: x / 0.0 if x > 1 else x), [system.matter.bodies[1]], [0])
    state = system.realize_topology()
    system.realize(state, Stage.POSITION)
    q = np.array([2.0, 0.0])
    state.q = q
    with pytest.raises((mb.ModelError, ZeroDivisionError)):
        system.realize(state, Stage.POSITION)
    assert state.stage <= Stage.TIME
    assert_allclose(state.q, q)
    state.q = 0.5, 0.0
    system.realize(state)
    assert_allclose(state.u_dot_err, 0.0, atol=1e-12)
