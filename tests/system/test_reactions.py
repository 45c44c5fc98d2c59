"""Reactions of mobilizers: balances, the two methods against each other, the four places, closed forms."""

import numpy as np
import pytest

import mobod as mb
from mobod import Stage


class Push(mb.force.CustomImplementation):
    """Forces of all sorts, on Ground too."""

    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        body_forces += np.sin(np.arange(body_forces.size)).reshape(body_forces.shape)
        mobility_forces += np.cos(np.arange(mobility_forces.size))


class OnGround(mb.force.CustomImplementation):
    """A force on Ground alone."""

    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        body_forces[0] += np.arange(1.0, 7.0).reshape(2, 3)


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


def test_grounds_row_is_what_a_force_plate_would_measure():
    """Every kind of element and constraint between a body and Ground, with numbers that Simbody 3.7 gives for this model."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    ground = matter.ground
    link = mb.body.Rigid(mb.MassProperties(2.0, (0.1, 0.2, 0.3), mb.Inertia(1, 1, 1)))
    pin = mb.mobilizer.Pin(ground, link, X_PF=mb.Transform((0.5, 0, 0)), X_BM=mb.Transform((0, 1, 0)))
    free = mb.mobilizer.Free(ground, link, X_PF=mb.Transform((0, 0.3, 0)), X_BM=mb.Transform((0, 0, 0.2)))
    discrete = mb.force.DiscreteForces(forces, matter)
    elements = {  # what each does to Ground: torque at its origin, force
        mb.force.Gravity(forces, matter, (0, -9.8, 0)): (0, 0, 0, 0, 0, 0),
        mb.force.TwoPointLinearSpring(forces, ground, (1, 2, 3), free, (0.1, 0, 0), 10.0, 0.5): (
            (-13.9706, 8.98971, -1.33625, -4.17357, -9.68339, -21.5104)
        ),
        mb.force.ConstantForce(forces, ground, (1, 0, 0), (0, 7, 0)): (0, 0, 7, 0, 7, 0),
        mb.force.ConstantTorque(forces, ground, (0, 0, 11)): (0, 0, 11, 0, 0, 0),
        mb.force.TwoPointLinearDamper(forces, free, (1, 0, 0), ground, (0, 1, 0), 3.0): (
            (0.429489, 0, -1.45525, 1.45525, 0.102562, 0.429489)
        ),
        mb.force.TwoPointConstantForce(forces, free, (1, 0, 0), ground, (0, 1, 0), 3.0): (
            (-0.847245, 0, 2.87076, -2.87076, -0.202323, -0.847245)
        ),
        mb.force.LinearBushing(
            *(forces, ground, mb.Transform((1, 1, 1)), free, mb.Transform((0.3, 0.2, 0.1))),
            *((1, 2, 3, 4, 5, 6), (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)),
        ): (-3.12362, 1.08701, 3.07296, -1.31633, 0.863241, -2.55806),
        discrete: (1, 0, 0, 0, 0, 13),
        mb.force.Custom(forces, OnGround()): (1, 2, 3, 4, 5, 6),
        mb.force.MobilityLinearSpring(forces, pin, 0, 3.0, 0.2): (0, 0, 0, 0, 0, 0),
    }
    mb.constraint.Rod(ground, (0, -1, 0), free, (0.1, 0.1, 0.1), 1.5)
    state = system.realize_topology()
    pin.set_angle(state, 0.3)
    free.set_q_to_fit_transform(state, mb.Transform(mb.Rotation.about_axis(0.3, "z"), (0.4, 0.5, 0.6)))
    state.u = np.full(len(state.u), 0.7)
    discrete.set_one_body_force(state, ground, ((1, 0, 0), (0, 0, 13)))
    system.realize(state)
    for element, expected in elements.items():
        found = element.calc_force_contribution(state)[0]
        np.testing.assert_allclose(found[0].ravel(), expected, atol=1e-4, rtol=1e-5, err_msg=element.name)
    applied = system.get_rigid_body_forces(state)
    np.testing.assert_allclose(applied, sum(element.calc_force_contribution(state)[0] for element in elements), atol=1e-12)
    np.testing.assert_array_equal(forces.get_rigid_body_forces(state), applied)
    of_constraints = matter.find_constraint_forces(state)[0]
    np.testing.assert_allclose(
        of_constraints[0], [[-0.466804, 0, 0.435044], [0.435044, 1.79727, 0.466804]], rtol=1e-5, atol=1e-12
    )
    held = [[9.43291, -13.9369, -14.8841], [-1.5309, 16.9833, 5.95304]]
    for method in ("calc_mobilizer_reaction_forces", "calc_mobilizer_reaction_forces_using_freebody_method"):
        np.testing.assert_allclose(getattr(matter, method)(state)[0], held, rtol=1e-5, err_msg=method)
    found = ground.find_mobilizer_reaction_on_body_at_origin_in_ground(state)
    np.testing.assert_allclose(found, held, rtol=1e-5)
    # the system as a whole: what holds it and what is applied from outside makes its momentum change
    rates = np.zeros((2, 3))
    for body in (pin, free):
        M = body.calc_body_spatial_inertia_matrix_in_ground(state)
        F = (M @ body.get_body_acceleration(state).ravel()).reshape(2, 3) + matter.get_gyroscopic_force(state, body)
        rates += moved(F, body.get_body_origin_location(state))
    outside = found + applied[0] + sum(moved(applied[b], b.get_body_origin_location(state)) for b in (pin, free))
    np.testing.assert_allclose(outside, rates, atol=1e-10)


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


@pytest.mark.parametrize("name", ["slider_crank", "four_bar", "stewart", "double_pendulum"])
def test_forces_of_one_call_act_on_reactions_too(name, close, rng):
    """By free bodies reactions follow from accelerations alone, which `realize(state, mobility_forces=)` has found."""
    system, state = getattr(mb.examples, name).build()
    matter, nu = system.matter, len(state.u)
    state.u = rng.normal(size=nu)
    system.project(state)
    for torques in (rng.normal(size=nu), np.zeros(nu)):
        system.realize(state, mobility_forces=torques)
        fast = matter.calc_mobilizer_reaction_forces(state)
        free = matter.calc_mobilizer_reaction_forces_using_freebody_method(state)
        close(fast, free, 1e-9)
        for body in matter.body_list[1:]:
            close(body.find_mobilizer_reaction_on_body_at_m_in_ground(state), free[body.index], 1e-9, np.abs(free).max())
