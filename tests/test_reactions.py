"""Reactions of mobilizers: balances, the two methods against each other, the four places, closed forms."""

import numpy as np
import pytest

import mobod as mb
from mobod import Stage


class Push(mb.force.CustomImplementation):
    """Forces of all sorts, on Ground too, which ignores them."""

    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        body_forces += np.sin(np.arange(body_forces.size)).reshape(body_forces.shape)
        mobility_forces += np.cos(np.arange(mobility_forces.size))


@pytest.fixture(params=["tree", "chain", "euler", "known"])
def model(request, make):
    model = make.tree(chain=request.param == "chain")
    mb.force.Custom(model.forces, Push())
    model.made()
    if request.param == "euler":
        model.matter.set_use_euler_angles(model.state, True)
        model.system.realize_model(model.state)
    model.randomize()
    if request.param == "known":
        lock_some(model)
    return model


def lock_some(model):
    """Every third body that can move held still, or given accelerations."""
    state, Level = model.state, mb.Motion.Level
    for k, body in enumerate(b for b in model.bodies[1:] if b.facts.num_u > 0):
        if k % 6 == 0:
            body.lock(state)
        elif k % 6 == 3:
            body.lock_at(state, model.rng.normal(size=body.facts.num_u), Level.ACCELERATION)
    model.system.realize(state)


def moved(F, r):
    """A spatial force taken about a point from which its own lies at r."""
    return np.array([F[0] + np.cross(r, F[1]), F[1]])


def test_both_methods_agree(model, close):
    matter, state = model.matter, model.state
    fast = matter.calc_mobilizer_reaction_forces(state)
    free = matter.calc_mobilizer_reaction_forces_using_freebody_method(state)
    assert fast.shape == (matter.get_num_bodies(), 2, 3)
    close(fast, free, 1e-10)
    matter.get_articulated_body_inertia(state, 1)  # which stores them where the sums of the children were
    assert model.system.realize(state) is None
    close(matter.calc_mobilizer_reaction_forces(state), free, 1e-10)
    close(model.bodies[1].find_mobilizer_reaction_on_body_at_m_in_ground(state), free[1], 1e-10, np.abs(free).max())


def test_along_its_mobilities_a_reaction_is_the_mobility_force_that_is_applied_or_prescribes(model, close):
    state = model.state
    f = model.system.get_mobility_forces(state) - model.matter.find_motion_forces(state)  # as multipliers
    found = np.zeros_like(f)
    for body in model.bodies[1:]:
        F = body.find_mobilizer_reaction_on_body_at_origin_in_ground(state)
        first = body.get_first_u_index(state)
        for i in range(body.get_num_u(state)):
            found[first + i] = np.sum(body.get_h_col(state, i) * F)
    close(found, f, 1e-8)  # the roundings of forces that are larger than these


def test_each_body_is_in_balance(model, close):
    """Its reaction, less what its children take from it, and what is applied make its momentum change."""
    state, applied = model.state, model.system.get_rigid_body_forces(model.state)
    total = applied.copy()
    for body in model.bodies[1:]:
        total[body] += body.find_mobilizer_reaction_on_body_at_origin_in_ground(state)
        total[body.get_parent_mobilized_body()] += body.find_mobilizer_reaction_on_parent_at_origin_in_ground(state)
    for body in model.bodies[1:]:
        M = body.calc_body_spatial_inertia_matrix_in_ground(state)
        F = (M @ body.get_body_acceleration(state).ravel()).reshape(2, 3) + model.matter.get_gyroscopic_force(state, body)
        close(total[body], F, 1e-9, np.abs(total).max())
    held = model.matter.ground.find_mobilizer_reaction_on_body_at_origin_in_ground(state)
    close(held, -total[0], 1e-10, np.abs(total).max())


def test_the_four_places_are_one_reaction(model, close):
    state, at_m = model.state, model.matter.calc_mobilizer_reaction_forces(model.state)
    for body in model.bodies[1:]:
        parent, F = body.get_parent_mobilized_body(), at_m[body]
        scale = np.abs(at_m).max()
        p_M = body.find_station_location_in_ground(state, body.get_outboard_frame(state).p)
        p_F = parent.find_station_location_in_ground(state, body.get_inboard_frame(state).p)
        p_B, p_P = body.get_body_origin_location(state), parent.get_body_origin_location(state)
        close(body.find_mobilizer_reaction_on_body_at_m_in_ground(state), F, 1e-12, scale)
        close(body.find_mobilizer_reaction_on_body_at_origin_in_ground(state), moved(F, p_M - p_B), 1e-12, scale)
        close(body.find_mobilizer_reaction_on_parent_at_f_in_ground(state), -moved(F, p_M - p_F), 1e-11, scale)
        close(body.find_mobilizer_reaction_on_parent_at_origin_in_ground(state), -moved(F, p_M - p_P), 1e-11, scale)


def test_a_hanging_weight_and_a_free_body():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -10, 0))
    weight = mb.body.Rigid(mb.MassProperties(2.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
    weld = mb.mobilizer.Weld(matter.ground, weight, X_PF=mb.Transform((3, 0, 0)))
    free = mb.mobilizer.Free(matter.ground, weight)
    state = system.realize_topology()
    system.realize(state)
    np.testing.assert_allclose(weld.find_mobilizer_reaction_on_body_at_m_in_ground(state), [[0, 0, 0], [0, 20, 0]], atol=1e-13)
    np.testing.assert_allclose(free.find_mobilizer_reaction_on_body_at_m_in_ground(state), np.zeros((2, 3)), atol=1e-13)
    on_ground = weld.find_mobilizer_reaction_on_parent_at_origin_in_ground(state)
    np.testing.assert_allclose(on_ground, [[0, 0, -60], [0, -20, 0]], atol=1e-13)
    held = matter.calc_mobilizer_reaction_forces(state)[0]
    np.testing.assert_allclose(held, [[0, 0, 60], [0, 20, 0]], atol=1e-13)


def test_ground_has_no_parent_to_react_on(model):
    with pytest.raises(mb.TopologyError, match="no parent"):
        model.matter.ground.find_mobilizer_reaction_on_parent_at_f_in_ground(model.state)
    with pytest.raises(mb.TopologyError, match="no parent"):
        model.matter.ground.find_mobilizer_reaction_on_parent_at_origin_in_ground(model.state)


def test_a_system_without_bodies_has_nothing_to_hold():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    state = system.realize_topology()
    system.realize(state, Stage.ACCELERATION)
    assert not matter.calc_mobilizer_reaction_forces(state).any()
    assert not matter.calc_mobilizer_reaction_forces_using_freebody_method(state).any()
    assert matter.calc_m(state).shape == matter.calc_m_inv(state).shape == (0, 0)
