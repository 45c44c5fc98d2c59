"""Closed mechanisms as a whole: against Lagrange and explicit matrices, driven and locked, interpreted, by every integrator."""

import closed_loops
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import mobod as mb
from mobod.examples import bricard, four_bar, slider_crank, stewart

INTEGRATORS = [getattr(mb.integrator, name) for name in mb.integrator.__all__ if name != "Integrator"]
COMPILED_ALREADY = ("RungeKuttaMerson", "RungeKutta3", "ExplicitEuler")  # of one loop; the others take long to compile


def errors_of(system, state):
    """The largest errors of positions and of velocities."""
    system.realize(state, mb.Stage.VELOCITY)
    return max(np.abs(state.q_err).max(initial=0.0), np.abs(state.u_err).max(initial=0.0))


def pinned_chain(links=10, span=0.7):
    """Links of length 1 on pins about z and y in turn, from Ground to a point that the last is pinned to."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.8, 0))
    middle = (0.5, 0, 0)
    link = mb.body.Rigid(mb.MassProperties(1.0, middle, mb.UnitInertia.cylinder_along_x(0.1, 0.5).shift_from_centroid(middle)))
    parent = matter.ground
    for number in range(links):
        turned = mb.Rotation.about_axis(np.pi / 2 * (-1) ** number, "x")
        parent = mb.mobilizer.Pin(parent, link, X_PF=mb.Transform(turned, (1.0 if number else 0.0, 0, 0)))
    mb.constraint.Ball(parent, (1, 0, 0), matter.ground, (span * links, 0, 0))
    return system, system.realize_topology()


def test_the_four_bar_moves_as_lagrange_says():
    system, state = four_bar.build()
    motion = mb.simulate(system, state, 1.0, accuracy=1e-11)
    start = [state.q[0], state.u[0]]
    expected = solve_ivp(closed_loops.four_bar_rates, (0, 1), start, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    # accuracy is per step, and these are some hundreds to a unit of time
    assert_allclose([motion.q[-1, 0], motion.u[-1, 0]], expected, atol=1e-8)
    coupler, rocker = four_bar.close(expected[0])
    turned = np.array([motion.q[-1, :2].sum(), motion.q[-1, 2]]) - [coupler, rocker]
    assert_allclose(np.exp(1j * turned), 1.0, atol=1e-8)


def test_a_chain_pinned_at_both_ends_accelerates_as_explicit_matrices_say(rng):
    system, state = pinned_chain()
    state.q = 0.6 * np.tile([1, 1, -1, -1], 3)[:10] + rng.uniform(-0.1, 0.1, 10)
    state.u = rng.uniform(-1, 1, 10)
    system.project(state, 1e-12)
    udot, multipliers = closed_loops.kkt(system, state)
    # M's condition number is a few thousand
    assert_allclose(state.u_dot, udot, atol=1e-10 * np.abs(udot).max())
    assert_allclose(state.multipliers, multipliers, atol=1e-10 * np.abs(multipliers).max())


@pytest.mark.parametrize("example", [four_bar, slider_crank, stewart, bricard], ids=lambda e: e.__name__.rpartition(".")[2])
def test_examples_accelerate_as_explicit_matrices_say(example, rng):
    """Redundant equations among them: the multipliers are those of the smallest norm."""
    system, state = example.build()
    state.u = state.u + rng.uniform(-1, 1, len(state.u))
    system.project(state, 1e-12)
    udot, multipliers = closed_loops.kkt(system, state)
    assert_allclose(state.u_dot, udot, atol=1e-9 * np.abs(udot).max())
    smallest = np.linalg.pinv(system.get_matter_subsystem().calc_g(state).T, rcond=1e-9)
    assert_allclose(
        smallest @ (system.get_matter_subsystem().calc_g(state).T @ state.multipliers),
        state.multipliers,
        atol=1e-8 * np.abs(multipliers).max(),
    )


def driven_four_bar(rate=5.0):
    """The example's, its crank driven at a constant rate."""
    system, state = four_bar.build()
    mb.motion.Steady(system.get_matter_subsystem().bodies["crank"], rate)
    driven = system.realize_topology()
    driven.q = state.q
    system.prescribe(driven)
    system.project(driven, 1e-12)
    return system, driven


def test_what_drives_the_crank_is_what_the_energy_changes_by():
    """The integral of the motion's power, by Simpson's rule, against the energies at both ends."""
    system, state = driven_four_bar()
    matter = system.get_matter_subsystem()
    motion = mb.simulate(system, state, 0.5, accuracy=1e-10, report_interval=0.5 / 200)
    powers, energies = [], []
    for moved in motion.states:
        system.realize(moved)
        powers.append(matter.calc_motion_power(moved))
        energies.append(system.calc_energy(moved))
        assert_allclose(moved.u[0], 5.0, atol=1e-12)
        assert abs(matter.calc_constraint_power(moved)) < 1e-9 * max(1.0, abs(powers[-1]))
    work = 0.5 / 600 * (powers[0] + powers[-1] + 4 * sum(powers[1:-1:2]) + 2 * sum(powers[2:-1:2]))
    assert max(powers) - min(powers) > 5.0  # it takes and gives
    # Simpson's error at 200 pieces of a power whose fourth derivative is about 10^4 times its size
    assert_allclose(work, energies[-1] - energies[0], atol=1e-5)


def test_the_torque_that_drives_the_crank_is_what_would_hold_it_at_its_rate():
    """With it on the free crank a'' is zero, as in J a'' + J' a'^2 / 2 + V' = torque."""
    system, state = driven_four_bar()
    system.realize(state)
    torque = -system.get_matter_subsystem().find_motion_forces(state)[0]
    free, _ = four_bar.build()
    crank = free.get_matter_subsystem().bodies["crank"]
    mb.force.MobilityConstantForce(mb.GeneralForceSubsystem(free), crank, 0, torque)
    pushed = free.realize_topology()
    pushed.q, pushed.u = state.q, state.u
    free.realize(pushed)
    alone = closed_loops.four_bar_rates(0.0, [state.q[0], state.u[0]])[1]
    assert abs(alone) > 1.0
    assert_allclose(pushed.u_dot[0], 0.0, atol=1e-10 * abs(alone))


@pytest.mark.parametrize("level", [mb.Motion.Level.ACCELERATION, mb.Motion.Level.VELOCITY, mb.Motion.Level.POSITION])
@pytest.mark.parametrize("body", [2, 5])
def test_loops_with_known_accelerations_accelerate_as_explicit_matrices_say(body, level, rng):
    """A mobilizer inside a chain that is pinned at both ends follows a sinusoid, and another is locked."""
    plain, _ = pinned_chain()
    matter = plain.get_matter_subsystem()
    mb.motion.Sinusoid(matter.bodies[body], level, 0.7, 2.0, 0.3)
    state = plain.realize_topology()
    state.q = 0.6 * np.tile([1, 1, -1, -1], 3)[:10] + rng.uniform(-0.1, 0.1, 10)
    state.u = rng.uniform(-1, 1, 10)
    matter.bodies[8].lock_at(state, 1.25, mb.Motion.Level.ACCELERATION)
    plain.prescribe(state)
    plain.project(state, 1e-12)
    plain.realize(state)
    prescribed = {body - 1: state.u_dot[body - 1], 7: 1.25}
    rate, phase = 2.0, 0.3
    order = int(level)  # derivatives of the sinusoid of which udot is the second, the first, itself
    assert_allclose(state.u_dot[body - 1], 0.7 * rate**order * np.sin(phase + order * np.pi / 2), atol=1e-12)
    udot, multipliers = closed_loops.kkt(plain, state, prescribed)
    assert_allclose(state.u_dot, udot, atol=1e-10 * np.abs(udot).max())
    assert_allclose(state.multipliers, multipliers, atol=1e-10 * np.abs(multipliers).max())
    errors = matter.calc_constraint_acceleration_errors(state, state.u_dot)
    assert_allclose(errors, 0.0, atol=1e-10 * np.abs(udot).max())


def test_a_loop_with_a_locked_mobilizer_keeps_still():
    system, state = four_bar.build()
    rocker = system.get_matter_subsystem().bodies["rocker"]
    state.u = np.zeros(3)
    rocker.lock(state)
    system.realize(state)
    assert_allclose(state.u_dot, 0.0, atol=1e-9)
    motion = mb.simulate(system, state, 1.0, accuracy=1e-6)
    assert_allclose(motion.q, np.broadcast_to(state.q, motion.q.shape), atol=1e-9)


class Nothing(mb.force.CustomImplementation):
    """A force of Python's that is zero."""

    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        """Add nothing."""


@pytest.mark.parametrize("example", [four_bar, bricard], ids=lambda e: e.__name__.rpartition(".")[2])
def test_interpreted_and_compiled_runs_agree(example):
    system, state = example.build()
    compiled = mb.simulate(system, state, 0.5, accuracy=1e-6)
    other, start = example.build()
    mb.force.Custom(mb.GeneralForceSubsystem(other), Nothing())
    again = other.realize_topology()
    again.q, again.u = start.q, start.u
    interpreted = mb.simulate(other, again, 0.5, accuracy=1e-6)
    # the same operations; compiled code may fuse multiplications and additions
    assert_allclose(interpreted.q[-1], compiled.q[-1], atol=1e-10)
    assert_allclose(interpreted.u[-1], compiled.u[-1], atol=1e-9)


@pytest.mark.parametrize(
    "kind",
    [kind if kind.__name__ in COMPILED_ALREADY else pytest.param(kind, marks=pytest.mark.long) for kind in INTEGRATORS],
    ids=lambda kind: kind.__name__,
)
def test_integrators_keep_the_constraints(kind):
    system, state = four_bar.build()
    settings = {"accuracy": 1e-3} if kind.has_error_control else {"fixed_step_size": 1e-3}
    stepper = mb.TimeStepper(system, kind(system, constraint_tolerance=1e-7, **settings))
    stepper.initialize(state)
    for time in np.linspace(0.1, 1.0, 10):
        stepper.step_to(time)
        # 1e-15 of rounding beside
        assert errors_of(system, stepper.state.copy()) <= 1.001e-7


def test_loops_do_not_drift_apart_in_time():
    """RigidBodyDynamics.jl#480: without projection a closed loop is apart after some seconds, at any accuracy."""
    system, state = four_bar.build()
    motion = mb.simulate(system, state, 20.0, accuracy=1e-3, report_interval=1.0)
    assert max(errors_of(system, moved) for moved in motion.states) <= 1e-4
