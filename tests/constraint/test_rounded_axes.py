"""Axes that are given in few digits: what their rounding leaves of an equation holds nothing; small parts that mean much."""

import closed_loops
import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb


def tilted(angle):
    """A four-bar in a plane, one pin's axis turned out of it by *angle*, closed by a ball with an equation out of the plane."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -9.81, 0))

    def link(length):
        middle = (length / 2, 0, 0)
        inertia = mb.UnitInertia.cylinder_along_x(0.05, length / 2).shift_from_centroid(middle)
        return mb.body.Rigid(mb.MassProperties(1.0, middle, inertia))

    crank = mb.mobilizer.Pin(matter.ground, link(1.0))
    coupler = mb.mobilizer.Pin(crank, link(2.0), X_PF=mb.Transform(mb.Rotation.about_axis(angle, "x"), (1, 0, 0)))
    rocker = mb.mobilizer.Pin(matter.ground, link(1.5), X_PF=mb.Transform((2, 0, 0)))
    mb.constraint.Ball(coupler, (2, 0, 0), rocker, (1.5, 0, 0), name="loop")
    state = system.realize_topology()
    state.q = (1.2, -0.6, 1.0)
    system.project(state, 1e-5)
    crank.set_rate(state, 1.0)
    system.project(state, 1e-5)
    return system, state


@pytest.mark.parametrize("angle", [3e-10, 1e-8, 3.1415927 - np.pi, 3.14159 - np.pi])
def test_a_loop_whose_axes_are_parallel_but_for_rounding_moves(angle):
    """As Simbody 3.7 has it up to 1e-8; beyond, it has the loop stuck, as exact arithmetic would."""
    exact_system, exact = tilted(0.0)
    system, state = tilted(angle)
    for one, at in ((exact_system, exact), (system, state)):
        one.realize(at)
    assert_allclose(state.u_dot, exact.u_dot, atol=1e-4)
    assert_allclose(state.u_dot, [-6.76793, 8.10982, -3.17534], rtol=1e-4)  # Simbody's
    assert np.abs(state.multipliers).max() < 4.0
    motion, other = mb.simulate(system, state, 1.0), mb.simulate(exact_system, exact, 1.0)
    assert_allclose(motion.q[-1], other.q[-1], atol=1e-3)
    (one,) = system.diagnose_constraints(state).redundant
    assert str(one.equation) == "loop[2]" and abs(angle) / 3 < one.angle < 3 * abs(angle)
    assert "moves nothing, but for an angle of" in str(system.diagnose_constraints(state))


def test_what_is_tilted_on_purpose_is_held():
    system, state = tilted(1e-5)
    assert system.diagnose_constraints(state).rank == 3
    assert np.abs(state.u).max() < 1e-9


def test_errors_that_rounding_of_axes_explains_stop_no_run_and_are_told_by_the_audit():
    system, state = tilted(3.14159 - np.pi)
    motion = mb.simulate(system, state, 1.0, accuracy=1e-6)
    assert 1e-6 < motion.audit.position_residual < 1e-4
    (warning,) = motion.audit.warnings
    assert "loop[2] is parallel to what does not move but for" in warning and "more digits" in warning


def test_errors_that_are_larger_than_rounding_of_axes_are_refused():
    system, state = tilted(3.14159 - np.pi)
    loop = system.get_matter_subsystem().constraints[0]
    loop.set_station2(state, (1.5, 0.0, 1e-3))
    with pytest.raises(mb.ConvergenceError, match=r"In conflict: loop\[2\] with nothing that moves"):
        system.project(state, 1e-5)


@pytest.mark.parametrize("ratio", [1e-12, 1e-6, 1e6])
@pytest.mark.parametrize("far", [0.0, 1e3, 1e6])
def test_light_and_heavy_bodies_and_distant_origins_keep_all_equations(ratio, far, make):
    """A body of little mass, or a far origin, makes an equation's scale large, and its angle to what moves stays."""
    rng = make.rng
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -9.81, 1))
    kinds = [mb.mobilizer.Pin, mb.mobilizer.Universal, mb.mobilizer.Slider, mb.mobilizer.Ball, mb.mobilizer.Pin]
    body, before = matter.ground, np.zeros(3)
    for number, kind in enumerate(kinds):
        origin = rng.normal(size=3) * far
        center = origin + make.vector(size=0.3)
        inertia = mb.UnitInertia.sphere(0.4).shift_from_centroid(center)
        link = mb.body.Rigid(mb.MassProperties(ratio if number % 2 else 1.0, center, inertia))
        at = mb.Transform(make.rotation(), before + make.vector(size=0.8))
        body, before = kind(body, link, X_PF=at, X_BM=mb.Transform(make.rotation(), origin)), origin
    mb.constraint.Ball(body, before + np.array([0.3, 0.1, 0.0]), matter.ground, (0.5, 0.2, 0.1))
    state = system.realize_topology()
    state.q, state.u = rng.normal(size=len(state.q)), rng.normal(size=len(state.u))
    system.realize(state)
    assert system.diagnose_constraints(state).rank == 3
    # accelerations fulfil the equations, which they could not if one had been dropped; levers of *far* are rounded
    scale = np.abs(state.u_dot).max() + np.abs(state.u).max() ** 2
    assert np.abs(state.u_dot_err).max() < 1e-9 * scale * (1.0 + far) * max(1.0, ratio) ** 0.5


def test_a_crank_passes_its_dead_points_as_explicit_matrices_say():
    """Where crank and rod are in line a torque moves nothing: an equation's angle gets small, and is none of axes."""
    from mobod.examples import slider_crank

    system, state = slider_crank.build()
    crank = system.get_matter_subsystem().bodies["crank"]
    for offset in (1e-3, 1e-5, 1e-7, 0.0):
        other = state.copy()
        crank.unlock(other)
        crank.set_angle(other, offset)
        system.project(other, 1e-10)
        udot, _ = closed_loops.kkt(system, other)
        assert_allclose(other.u_dot, udot, atol=1e-7 * max(1.0, np.abs(udot).max()))


@pytest.mark.parametrize("angle", [0.03, 0.01, 0.003])
def test_what_nearly_dependent_rows_leave_of_a_redundant_one_is_rounding(angle):
    """Rows after each other that leave little are rounding many times that of W: a redundant one is to be dropped all the same.

    Planes on a turning disk hold stations of a body that does not turn, so that what they want of accelerations contradicts.
    """
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    body = mb.body.Rigid(mb.MassProperties(1.3, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
    disk = mb.mobilizer.Pin(matter.ground, body)
    mb.motion.Steady(disk, 2.0)
    mass = mb.mobilizer.Translation(matter.ground, body, X_PF=mb.Transform(mb.Rotation.about_axis(0.7, (1, 2, 3))))
    c, s = np.cos(angle), np.sin(angle)
    normals = [(1.0, 0.0, 0.0), (c, s, 0.0), (0.9 * c, np.sqrt(0.19) * c, s), (0.6, 0.0, 0.8)]
    stations = [(0.3, 0.1, 0.2), (-0.2, 0.4, 0.1), (0.5, -0.3, 0.0), (0.1, 0.2, -0.6)]
    for normal, station in zip(normals, stations, strict=True):
        mb.constraint.PointInPlane(disk, normal, 0.1, mass, station)
    state = system.realize_topology()
    state.q, state.u = (0.4, 0.3, -0.2, 0.5), (2.0, 0.0, 0.0, 0.0)
    system.realize(state)
    free = state.copy()
    for one in matter.constraints:
        one.disable(free)
    system.realize(free)
    rows, errors = matter.calc_g(state)[:, 1:], matter.calc_constraint_acceleration_errors(state, free.u_dot)
    expected = 1.3 * np.linalg.pinv(rows @ rows.T, rcond=1e-12, hermitian=True) @ errors
    np.testing.assert_allclose(state.multipliers, expected, rtol=0.0, atol=1e-4 * np.abs(expected).max())


def welded_universals():
    """Two Universals on one body, welded to each other beside other constraints: numbers at which W was taken for regular."""
    rng = np.random.default_rng(106)
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -9.8, 0))
    body = mb.body.Rigid(mb.MassProperties(1.3, (0.1, -0.2, 0.05), mb.Inertia(0.4, 0.5, 0.6, 0.01, 0.02, -0.03)))

    def frame():
        return mb.Transform(mb.Rotation.about_axis(rng.normal(), rng.normal(size=3)), rng.normal(size=3) * 0.4)

    def pair():
        one, other = rng.choice(9, 2, replace=False)
        rng.integers(5)
        return bodies[one], bodies[other]

    rng.random()
    bodies, kinds = [mb.mobilizer.Ball(matter.ground, body)], [mb.mobilizer.Pin, mb.mobilizer.Universal]
    kinds += [mb.mobilizer.Ball, mb.mobilizer.Slider]
    for _ in range(8):
        kind, parent = kinds[rng.integers(4)], bodies[rng.integers(len(bodies))]
        bodies.append(kind(parent, body, X_PF=frame(), X_BM=frame()))
    one, other = pair()
    mb.constraint.Ball(one, rng.normal(size=3) * 0.3, other, rng.normal(size=3) * 0.3)
    one, other = pair()
    mb.constraint.Weld(one, frame(), other, frame())
    one, other = pair()
    mb.constraint.SphereOnPlaneContact(one, frame(), other, rng.normal(size=3) * 0.3, 0.2, bool(rng.random() < 0.5))
    state = system.realize_topology()
    state.u = rng.normal(size=len(state.u))
    state.q = state.q + 0.3 * rng.normal(size=len(state.q))
    system.realize(state)
    return system, state, rng.normal(size=len(state.u))


def test_derivatives_beside_equations_that_are_rounding_are_as_differences():
    """Where rounding was taken for equations, multipliers were 7e13, and derivatives like that, though udot was right.

    Differences are good to a hundredth there: W is nearly singular, and its rounding is divided by the step, which is long.
    """
    system, state, direction = welded_universals()
    assert np.abs(state.multipliers).max() < 1e3
    found = system.calc_forward_dynamics_derivatives(state).q
    q_dot = system.matter.multiply_by_n(state, False, direction)

    def slope(h):
        ends = []
        for q in (state.q + h * q_dot, state.q - h * q_dot):
            other = state.copy()
            other.q = q
            system.realize(other)
            ends.append(np.array(other.u_dot))
        return (ends[0] - ends[1]) / (2.0 * h)

    expected = (4.0 * slope(5e-3) - slope(1e-2)) / 3.0
    assert_allclose(found @ direction, expected, rtol=0.0, atol=0.02 * np.abs(found).max())


def test_rounding_beside_two_nearly_dependent_rows_is_no_equation():
    """Its part of a row was up to 1e-3 where such rows are one after the other: one in thirty had multipliers of 1e13."""
    system, state, _ = welded_universals()
    rng = np.random.default_rng(5)
    for _ in range(300):
        other = state.copy()
        other.q = state.q + system.matter.multiply_by_n(state, False, 0.02 * rng.normal(size=len(state.u)))
        system.realize(other)
        assert np.abs(other.multipliers).max() < 1e4
