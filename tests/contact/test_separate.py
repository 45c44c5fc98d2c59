"""Surfaces that start deep in each other: a warning that names them, and a start at which they only touch."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb

RUBBER = mb.contact.Material(stiffness=1e5, dissipation=0.5, static_friction=0.5)


def balls(places, masses=None, floor=True):
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, 0, -9.81))
    contacts = mb.CompliantContactSubsystem(system)
    if floor:
        matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), RUBBER, name="floor"))
    for i, place in enumerate(places):
        part = mb.body.Rigid(mb.MassProperties((masses or [1.0] * 99)[i], (0, 0, 0), mb.UnitInertia.sphere(0.1)))
        ball = mb.mobilizer.Free(matter.ground, part, name=f"ball{i}")
        ball.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.1), RUBBER))
        ball.set_default_q((1, 0, 0, 0, *place))
    return system, contacts, system.realize_topology()


def deepest(contacts, state):
    state.system.realize(state, mb.Stage.VELOCITY)
    return max(contacts.get_contacts(state)["depth"], default=0.0)


def test_light_ones_are_moved_more_than_heavy_ones():
    _, contacts, state = balls([(0, 0, 0), (0.15, 0, 0)], [1.0, 4.0], floor=False)
    found = mb.contact.separate(state)
    assert 0.0 <= deepest(contacts, found) < 1e-7
    assert_allclose(found.q[[4, 11]], [-0.04, 0.16], atol=1e-7)
    assert state.q[4] == 0.0, "the state that was given is as it was"


def test_a_heap_is_taken_apart(rng):
    places = rng.uniform((-0.2, -0.2, 0.0), (0.2, 0.2, 0.3), (12, 3))
    _, contacts, state = balls(places)
    assert deepest(contacts, state) > 0.02
    found = mb.contact.separate(state)
    assert deepest(contacts, found) < 1e-7
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mb.simulate(found.system, found, 0.01)


def test_constraints_hold_and_locks_stay():
    system, contacts, state = balls([(0, 0, 0.1), (0.15, 0, 0.1), (0.3, 0, 0.1)])
    bodies = system.matter.bodies
    mb.constraint.Rod(bodies["ball1"], (0, 0, 0), bodies["ball2"], (0, 0, 0), 0.3)
    bodies["ball0"].lock_by_default()
    state = system.realize_topology()
    found = mb.contact.separate(state)
    assert deepest(contacts, found) < 1e-7
    places = found.q.reshape(3, 7)[:, 4:]
    assert_allclose(places[0], (0, 0, 0.1))
    assert_allclose(np.linalg.norm(places[2] - places[1]), 0.3, atol=1e-6)


def test_a_brick_in_the_floor_is_lifted_level():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    contacts = mb.CompliantContactSubsystem(system)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), RUBBER, name="floor"))
    part = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.brick(0.3, 0.2, 0.1)))
    brick = mb.mobilizer.Free(matter.ground, part)
    brick.add_contact_surface(mb.contact.Surface(mb.contact.Brick((0.3, 0.2, 0.1)), RUBBER))
    brick.set_default_q((1, 0, 0, 0, 0, 0, 0.06))
    found = mb.contact.separate(system.realize_topology())
    assert deepest(contacts, found) < 1e-6
    assert_allclose(found.q, (1, 0, 0, 0, 0, 0, 0.1), atol=1e-5)


def test_what_cannot_be_taken_apart_is_named():
    system, _, state = balls([(0, 0, 0.1), (0.15, 0, 0.1)])
    for body in list(system.matter.bodies)[1:]:
        body.lock_by_default()
    state = system.realize_topology()
    with pytest.raises(mb.ModelError, match=r"ball0.*ball1.*0\.05"):
        mb.contact.separate(state)
    with pytest.raises(mb.ModelError, match="max_depth"):
        mb.contact.separate(state, max_depth=0.0)
    with pytest.raises(TypeError, match="State"):
        mb.contact.separate(system)
    other, bare = mb.examples.double_pendulum.build()
    with pytest.raises(mb.ModelError, match="CompliantContactSubsystem"):
        mb.contact.separate(bare)
    assert other


def test_a_run_that_starts_deep_warns_with_names_and_depth():
    system, _, state = balls([(0, 0, 0.05), (1, 0, 0.099)])
    with pytest.warns(UserWarning, match=r"'floor' and 'surface 0 of ball0' by 0.05"):
        mb.simulate(system, state, 0.001)
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system))
    with pytest.warns(UserWarning, match=r"mb.contact.separate"):
        stepper.initialize(state)
