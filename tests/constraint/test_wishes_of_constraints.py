"""What users of other engines ran into with constraints, so that it does not come back here: issues of theirs, by number."""

import numpy as np
import pytest
from closed_loops import kkt
from numpy.testing import assert_allclose

import mobod as mb
from mobod.examples import four_bar

BODY = mb.body.Rigid(mb.MassProperties(1.5, (0.1, -0.2, 0.05), 1.5 * mb.UnitInertia(1.0, 1.2, 0.9)))


def free_bodies(*constraints):
    """Two free bodies under gravity, tied by constraints, which are called with both; the system and a state that moves."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -9.8, 0))
    one, two = (mb.mobilizer.Free(matter.ground, BODY) for _ in range(2))
    for constraint in constraints:
        constraint(one, two)
    state = system.realize_topology()
    two.set_q_to_fit_translation(state, (3.0, 0.5, 0))
    state.u = np.linspace(-1, 1, 12)
    return system, state


@pytest.mark.parametrize("length", [1e-3, 1.0, 1e3])
def test_the_error_of_a_rod_is_a_length(length):
    """simbody#3: a distance constraint in squared lengths is scaled badly; here a millimeter too long is a millimeter."""
    system, state = free_bodies(lambda one, two: mb.constraint.Rod(one, (0, 0, 0), two, (0, 0, 0), length))
    two = system.get_matter_subsystem().bodies[2]
    for excess in (1e-3, -2e-4):
        two.set_q_to_fit_translation(state, ((length + excess) * 0.6, 0, (length + excess) * 0.8))
        system.realize(state, mb.Stage.POSITION)
        assert_allclose(state.q_err[0], excess, atol=1e-15 * max(length, 1.0) * 10)
    # and its rate is how fast the points go apart
    state.u = np.zeros(12)
    two.set_u_to_fit_linear_velocity(state, (0.6, 0, 0.8))
    system.realize(state, mb.Stage.VELOCITY)
    assert_allclose(state.u_err[0], 1.0, atol=1e-13)


def test_acceleration_errors_at_the_solved_accelerations_are_zero():
    """simbody#670: they were not."""
    for build in (four_bar.build, lambda: free_bodies(lambda a, b: mb.constraint.Ball(a, (1, 0, 0), b, (-1, 0.2, 0)))):
        system, state = build()
        system.project(state, 1e-12)
        system.realize(state)
        matter = system.get_matter_subsystem()
        errors = matter.calc_constraint_acceleration_errors(state, state.u_dot)
        assert len(errors) == 3
        scale = np.abs(matter.calc_bias_for_acceleration_constraints(state)).max()
        assert scale > 0.1
        assert_allclose(errors, 0.0, atol=1e-12 * scale)
        assert_allclose(state.u_dot_err, 0.0, atol=1e-12 * scale)


def test_no_operator_takes_a_constraint_for_absent():
    """drake#24957: a distance constraint was accepted, and dynamics answered as though there were none."""
    system, state = free_bodies(lambda one, two: mb.constraint.Rod(one, (0, 0, 0), two, (0, 0, 0), np.hypot(3.0, 0.5)))
    matter = system.get_matter_subsystem()
    system.project(state, 1e-12)
    udot, multipliers = kkt(system, state)
    assert abs(multipliers[0]) > 0.1
    assert_allclose(state.u_dot, udot, atol=1e-11)
    f, F = system.get_mobility_forces(state), system.get_rigid_body_forces(state)
    assert_allclose(matter.calc_acceleration(state, f, F)[0], udot, atol=1e-11)
    # the one that ignores it has that in its name, and gives something else
    ignoring = matter.calc_acceleration_ignoring_constraints(state, f, F)[0]
    assert np.abs(ignoring - udot).max() > 0.1
    # inverse dynamics: nothing is missing once the multipliers are given
    assert_allclose(matter.calc_residual_force(state, f, F, udot, multipliers), 0.0, atol=1e-10)
    residual = matter.calc_residual_force_ignoring_constraints(state, f, F, udot)
    assert_allclose(residual, -matter.multiply_by_g_transpose(state, multipliers), atol=1e-10)
    # reactions balance the rod's forces too: of a free mobilizer there is none
    reactions = matter.calc_mobilizer_reaction_forces(state)
    assert_allclose(reactions[1:], 0.0, atol=1e-10)


def test_a_weld_holds():
    """drake#20527: a weld that was a no-op."""
    system, state = free_bodies(
        lambda one, two: mb.constraint.Weld(one, mb.Transform((1.5, 0.25, 0)), two, mb.Transform((-1.5, -0.25, 0)))
    )
    system.project(state, 1e-10)
    matter = system.get_matter_subsystem()
    one, two = matter.bodies[1:]
    motion = mb.simulate(system, state, 2.0, accuracy=1e-6)
    for moved in motion.states:
        system.realize(moved)
        relative = ~one.get_body_transform(moved) @ two.get_body_transform(moved)
        assert_allclose(relative.p, (3.0, 0.5, 0), atol=1e-6)
        assert_allclose(np.asarray(relative.R), np.eye(3), atol=1e-6)
        # and both fall as one body does
        assert_allclose(matter.calc_system_mass_center_acceleration_in_ground(moved), (0, -9.8, 0), atol=1e-9)
