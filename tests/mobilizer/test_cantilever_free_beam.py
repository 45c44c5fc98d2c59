"""CantileverFreeBeam against the theory of bending, and its fits against a search.

Euler and Bernoulli: a beam of length L with a force F across its end has the slope w'(s) = F/EI (L s - s^2/2).
"""

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq, minimize

import mobod as mb

L, EI, FORCE = 1.7, 230.0, 0.31


def beam(length=L, body=None, direction=mb.Direction.FORWARD):
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    part = mb.body.Rigid(mb.MassProperties(2.0, (0, 0, 0), mb.UnitInertia(1e-6, 1e-6, 1e-6))) if body is None else body
    tip = mb.mobilizer.CantileverFreeBeam(matter.ground, part, length=length, direction=direction, name="tip")
    return system, matter, tip, system.realize_topology()


def pose(system, tip, state, q):
    tip.set_angles(state, q)
    system.realize(state, mb.Stage.POSITION)
    return tip.get_mobilizer_transform(state)


@pytest.mark.parametrize("direction", [0.0, 0.5, 2.0, 4.0])
def test_the_tip_is_where_the_theory_of_bending_has_it(direction, close):
    """Slope F L^2 / 2 EI goes with deflection F L^3 / 3 EI, and the axis keeps its length: each to the order of the theory."""
    slope = FORCE * L**2 / (2 * EI)
    shortening = quad(lambda s: 0.5 * (FORCE / EI * (L * s - s**2 / 2)) ** 2, 0, L)[0]
    deflection = quad(lambda s: FORCE / EI * (L * s - s**2 / 2), 0, L)[0]
    assert deflection == pytest.approx(FORCE * L**3 / (3 * EI), rel=1e-12)
    system, _, tip, state = beam()
    towards = np.array([np.cos(direction), np.sin(direction), 0.0])
    X = pose(system, tip, state, slope * np.cross((0, 0, 1), towards))  # turned about the axis across: z leans that way
    close(np.asarray(X.p), deflection * towards + (0, 0, L - shortening), 1e-14)
    z = np.asarray(X.R)[:, 2]
    close(z @ towards, np.sin(slope), slope**2)  # the two angles are about x and the new y: a turn, to second order


def elastica(slope):
    """Tip (across, along) of a beam of length 1 that a force across its end has bent to *slope*: theta'' = -F/EI cos(theta)."""

    def shape(k):  # from the tip, where there is no moment, back to the root
        solution = solve_ivp(
            lambda s, y: (y[1], -k * np.cos(y[0]), np.sin(y[0]), np.cos(y[0])),
            (0, -1),
            (slope, 0.0, 0.0, 0.0),
            rtol=1e-12,
            atol=1e-14,
        )
        return solution.y[:, -1]

    k = brentq(lambda k: shape(k)[0], slope, 4 * slope, xtol=1e-14)
    return -shape(k)[2:]


def test_large_deflections_are_off_by_the_next_order_only():
    """The elastica, integrated: errors of third order across and of fourth along, some percent at a slope of half a radian."""
    system, _, tip, state = beam(1.0)
    errors = []
    for slope in (0.4, 0.2, 0.1):
        p = np.asarray(pose(system, tip, state, (0, slope, 0)).p)
        errors.append(np.abs(p[[0, 2]] - elastica(slope)))
    assert errors[0][0] < 0.02 and errors[0][1] < 0.02
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(orders[:, 0] > 2.9) and np.all(orders[:, 1] > 3.8), orders


def test_a_spring_of_4_ei_over_3_l_is_the_beam(close):
    """Under a force across its end it comes to rest at the slope of theory."""
    _, matter, tip, state = beam()
    tip.set_angles(state, (0, 0, 0))
    tip.get_matter_subsystem().system.realize(state, mb.Stage.POSITION)
    f = matter.multiply_by_station_jacobian_transpose(state, tip, (0, 0, 0), (FORCE, 0.5 * FORCE, 0))
    slopes = f / (4 * EI / (3 * L))
    theory = FORCE * L**2 / (2 * EI)
    close(slopes, (-0.5 * theory, theory, 0.0), 1e-14)


def test_a_mass_at_the_end_of_the_beam_swings_as_it_should():
    """With that spring: omega^2 = 3 EI / m L^3."""
    m = 2.0
    system, matter, _, state = beam(body=mb.body.Rigid(mb.MassProperties(m, (0, 0, 0), mb.UnitInertia(1e-12, 1e-12, 1e-12))))
    system.realize(state, mb.Stage.POSITION)
    M = matter.calc_m(state)
    assert (4 * EI / (3 * L)) / M[:2, :2].diagonal() == pytest.approx(3 * EI / (m * L**3), rel=1e-11)
    assert abs(M[0, 1]) < 1e-12


# ---------------------------------------------------------------------------------------------- fits


def around(q, rng):
    """Coordinates near q, and anywhere."""
    for size in (1e-3, 1e-2, 0.1, 1.0, 3.0):
        yield from q + size * rng.uniform(-1.0, 1.0, (60, 3))


@pytest.mark.parametrize("direction", mb.Direction, ids=lambda d: d.name.lower())
def test_no_other_place_of_the_tip_is_nearer(direction, rng):
    """Wherever the request: on the axis, near the root, far away."""
    system, _, tip, state = beam(direction=direction)
    for p in (*rng.uniform(-3.0, 3.0, (8, 3)), (0, 0, 0), (0, 0, -5), (0, 0, L), (0, 0, 9), (1e-9, 0, L), (40, 30, 20)):
        tip.set_angles(state, rng.uniform(-1.0, 1.0, 3))
        before = tip.get_angles(state)
        tip.set_q_to_fit_translation(state, p)
        q = tip.get_angles(state)
        best = np.linalg.norm(np.asarray(pose(system, tip, state, q).p) - p)
        if direction is mb.Direction.FORWARD:
            assert q[2] == before[2], "twist takes the tip nowhere"
        for other in around(q, rng):
            assert np.linalg.norm(np.asarray(pose(system, tip, state, other).p) - p) >= best - 1e-9


def test_the_place_of_the_tip_is_the_best_a_minimizer_finds(rng):
    _, _, tip, state = beam(1.0)

    def misfit(q, p):
        return np.linalg.norm((2 / 3 * q[1] - p[0], -2 / 3 * q[0] - p[1], 1 - 4 / 15 * (q @ q) - p[2]))

    for p in rng.uniform(-2.0, 2.0, (10, 3)):
        tip.set_q_to_fit_translation(state, p)
        ours = misfit(tip.get_angles(state)[:2], p)
        found = [minimize(misfit, start, (p,)).fun for start in rng.uniform(-3.0, 3.0, (5, 2))]
        assert ours <= min(found) + 1e-7


@pytest.mark.parametrize("direction", mb.Direction, ids=lambda d: d.name.lower())
def test_of_all_coordinates_with_one_orientation_those_nearest_to_the_place(direction, rng, close):
    """Past a right angle, and turns away."""
    system, _, tip, state = beam(direction=direction)
    for q in (*rng.uniform(-1.5, 1.5, (5, 3)), (2.0, 0.3, 0.1), (0.2, 2.5, -0.3), (3.0, -4.0, 9.0), (7.0, 8.0, 1.0)):
        X = pose(system, tip, state, q)
        tip.set_angles(state, rng.uniform(-1.0, 1.0, 3))
        tip.set_q_to_fit_transform(state, X)
        close(tip.get_angles(state)[:2], q[:2], 1e-9, 1.0)
        close(np.asarray(pose(system, tip, state, tip.get_angles(state))), np.asarray(X), 1e-10)


def test_absurd_requests_give_finite_coordinates(rng):
    for direction in mb.Direction:
        for length in (1e-300, 1.0, 1e200):
            _, _, tip, state = beam(length, direction=direction)
            for p in ((1e300, 0, 0), (0, -1e150, 1e3), (0, 0, 0), (1e-320, 0, 0)):
                tip.set_q_to_fit_translation(state, p)
                assert np.all(np.isfinite(state.q))
                tip.set_q_to_fit_transform(state, mb.Transform(mb.Rotation.from_body_fixed_xyz((1, np.pi / 2, 3)), p))
                assert np.all(np.isfinite(state.q))
