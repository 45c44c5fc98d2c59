"""From where controllers bring systems to rest: against a region that is known in closed form."""

import numpy as np
import pytest

import mobod as mb

POINT = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.Inertia(1, 1, 1)))


def pushed_away():
    """x'' = x + w: a mass that a spring of negative stiffness pushes away, and its regulator."""
    system = mb.MultibodySystem("unstable")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    slider = mb.mobilizer.Slider(matter.ground, POINT, name="mass")
    repel = mb.force.CompiledFunctions(lambda t, X, V, q, u, p: ((), ((q[0][0],),)), mobilizers=[slider])
    mb.force.Custom(forces, compiled=repel)
    state = system.realize_topology()
    return system, state, mb.lqr(system, state, [(slider, 0)], [1.0, 1.0], 1.0)


def test_with_a_limited_force_it_is_a_strip():
    """With |w| <= 1 no control returns from |x + x'| > 1, the direction that grows; the level set cannot reach beyond it."""
    system, _, regulator = pushed_away()
    regulator.add_to(system.forces, sample_time=0.01, limits=(-1, 1))
    state = system.realize_topology()
    region = mb.find_region_of_attraction(
        system, state, regulator, {"mass.v": 1.5, "mass.u": 1.5}, n=200, time=15.0, accuracy=1e-5
    )
    outside = np.abs(region.starts.sum(axis=1)) > 1.0
    assert outside.any() and not region.converged[outside].any()
    highest = 1.0 / (np.ones(2) @ np.linalg.solve(regulator.P, np.ones(2)))  # where the ellipsoid touches the strip
    assert 0.7 * highest < region.level <= 1.06 * highest  # of samples, not of all points
    assert region.num_confirmed >= 150
    np.testing.assert_allclose(region.costs, np.einsum("ni,ij,nj->n", region.starts, regulator.P, region.starts), atol=1e-9)
    inside, far = state.copy(), state.copy()
    inside.q, far.q = [0.1], [3.0]
    assert region.contains(inside) and not region.contains(far)
    again = mb.find_region_of_attraction(
        system, state, regulator, {"mass.v": 1.5, "mass.u": 1.5}, n=200, time=15.0, accuracy=1e-5
    )
    assert again.level == region.level and np.array_equal(again.starts, region.starts)


def test_without_limits_all_starts_come_to_rest_and_figures_show_them():
    pytest.importorskip("matplotlib").use("Agg")
    system, state, regulator = pushed_away()
    region = mb.find_region_of_attraction(
        system, state, regulator, {"mass.v": 2.0, "mass.u": 2.0}, n=50, time=20.0, controller=regulator.controller
    )
    assert region.converged.all() and region.num_confirmed == 50
    figure = region.plot()
    assert figure.axes[0].get_xlabel() == "mass.v" and len(figure.axes[0].lines) == 3
    with pytest.raises(ValueError, match=r"do not differ in 'mass.w'"):
        region.plot("mass.w")


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"extent": {"mas.v": 1.0}}, ValueError, "extent names 'mas.v'"),
        ({"extent": {}}, TypeError, "extent has to be a mapping"),
        ({"extent": {"mass.v": -1.0}}, ValueError, r"extent\['mass.v'\]"),
        ({"n": 1}, ValueError, "n"),
        ({"regulator": 3}, TypeError, "regulator"),
        ({"tolerance": 0.0}, ValueError, "tolerance"),
        ({}, mb.ModelError, r"none of 4 starts came to rest .* the regulator has to act, by regulator\.add_to"),
    ],
)
def test_bad_arguments_are_named(change, error, text):
    system, state, regulator = pushed_away()
    given = {"regulator": regulator, "extent": {"mass.v": 1.0}, "n": 4, "time": 1.0, **change}
    with pytest.raises(error, match=text):
        mb.find_region_of_attraction(system, state, **given)
