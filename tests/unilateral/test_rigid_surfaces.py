"""Rigid contacts made for the surfaces that bodies carry."""

import numpy as np
import pytest
from touching_models import empty, run, solid, stepped

import mobod as mb
from mobod import ModelError

ROUGH, SMOOTH = mb.contact.Material(1e6, static_friction=0.6), mb.contact.Material(1e6, static_friction=0.3)


def on_floor(shape, X_BS=None, **surface):
    system, matter = empty()
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), ROUGH, name="floor"))
    body = mb.mobilizer.Free(matter.ground, solid(), name="body")
    body.add_contact_surface(mb.contact.Surface(shape, SMOOTH, name="thing", **surface), X_BS)
    return system, matter, body


@pytest.mark.parametrize(
    ("shape", "lowest", "count"),
    [
        (mb.contact.Sphere(0.3), 0.3, 1),
        (mb.contact.Capsule(0.2, 0.5), 0.7, 2),
        (mb.contact.Brick((0.1, 0.2, 0.4)), 0.4, 8),
        (mb.contact.ConvexHull([(1, 0, 0), (0, 1, 0), (-1, -1, 0), (0, 0, -0.25)]), 0.25, 4),
    ],
    ids=["sphere", "capsule", "brick", "hull"],
)
def test_gaps_of_shapes_over_the_floor(shape, lowest, count):
    system, _, _ = on_floor(shape, mb.Transform((0, 0, 0.1)))
    made = mb.contact.rigid(system, 0.25, 0.5)
    assert len(made) == count and len({one.name for one in made}) == count
    state = system.realize_topology()
    state.q = [1, 0, 0, 0, 0, 0, 2.0]
    system.realize(state)
    assert min(one.calc_gap(state) for one in made) == pytest.approx(2.1 - lowest, abs=1e-12)
    for one in made:
        assert one.get_static_friction() == pytest.approx(2 * 0.6 * 0.3 / 0.9)
        assert (one.get_restitution(), one.get_capture_speed()) == (0.25, 0.5)


@pytest.mark.parametrize("go", [run, stepped], ids=["events", "time stepping"])
def test_two_balls_rest_on_each_other(go):
    system, matter = empty()
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), ROUGH))
    for k in range(2):
        upright = mb.Transform(mb.Rotation.about_axis(-np.pi / 2, "y"))
        ball = mb.mobilizer.Slider(matter.ground, solid(), X_PF=upright, name=f"b{k}")
        ball.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.5), ROUGH))
    assert len(mb.contact.rigid(system)) == 3
    state = system.realize_topology()
    state.q = [0.6, 1.8]
    end, _ = go(system, state, 1.0)
    assert end.q == pytest.approx([0.5, 1.5], abs=1e-5)


def brick_on_floor():
    system, matter = empty()
    floor, h = mb.contact.Material(1e6, static_friction=0.5), (0.1, 0.15, 0.2)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), floor))
    brick = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.brick(*h))))
    brick.add_contact_surface(mb.contact.Surface(mb.contact.Brick(h), floor))
    mb.contact.rigid(system)
    return system


def test_a_brick_that_slides_and_turns_gains_nothing_as_it_comes_to_rest():
    """At coarse accuracies a corner may be slow enough to stick where the others go on."""
    system = brick_on_floor()
    state = system.realize_topology()
    state.q = [1, 0, 0, 0, 0, 0, 0.2]
    for turning, slip in ((1.0367, (0.4108, 0.1652)), (0.5672, (-0.2614, -0.2065)), (-0.0047, (-0.2731, -0.4459))):
        state.u = [0, 0, turning, *slip, 0]
        stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-2, internal_step_limit=200))
        stepper.initialize(state)
        energies = []
        for k in range(25):
            stepper.step_to(0.04 * k)
            energies.append(system.calc_energy(stepper.state))
        assert np.diff(energies).max() < 1e-9 and np.abs(stepper.state.u).max() < 1e-9


@pytest.mark.parametrize(("seed", "end"), [(5, 0.38), (11, 0.32)])
def test_slip_that_turns_as_it_comes_to_nothing_sticks(seed, end):
    """A brick falls on a corner, whose slip turns the faster the less it is: an integrator's errors leave it some for ever.

    That of seed 11 then stands until friction no longer holds it, which at the event itself one cannot tell.
    """
    rng, system = np.random.default_rng(seed), brick_on_floor()
    state, q = system.realize_topology(), rng.normal(size=4)
    state.q = [*(q / np.linalg.norm(q)), 0, 0, 0.3]
    state.u = [*(3 * rng.normal(size=3)), *(0.7 * rng.normal(size=3))]
    ends = []
    for integrator in (
        mb.integrator.RungeKuttaMerson(system, accuracy=1e-6, internal_step_limit=500),
        mb.integrator.TimeStepping(system, fixed_step_size=1e-4),
    ):
        stepper = mb.TimeStepper(system, integrator)
        stepper.initialize(state)
        stepper.step_to(end)
        ends.append(stepper.state)
    assert ends[0].time == end
    assert np.allclose(ends[0].u, ends[1].u, rtol=0.0, atol=5e-3) and np.allclose(ends[0].q, ends[1].q, rtol=0.0, atol=3e-4)


def test_shapes_that_nothing_finds_are_named():
    system, _, _ = on_floor(mb.contact.HalfSpace())
    with pytest.raises(ModelError, match=r"(?s)'floor' and 'thing' may touch.*HalfSpace and HalfSpace"):
        mb.contact.rigid(system)


def test_shapes_without_a_rigid_kind_are_left_to_time_stepping():
    system, _, _ = on_floor(mb.contact.Torus(1.0, 0.2))
    assert mb.contact.rigid(system) == []
    state = system.realize_topology()
    with pytest.raises(ModelError, match=r"(?s)HalfSpace, Torus.*TimeStepping"):
        mb.simulate(system, state, 0.1)


def test_who_may_touch_is_as_in_compliant_contact():
    system, matter, body = on_floor(mb.contact.Sphere(0.3))
    child = mb.mobilizer.Pin(body, solid(), name="child")
    child.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.3), SMOOTH, name="ball"))
    contacts = mb.CompliantContactSubsystem(system)
    contacts.exclude(matter.ground, child)
    assert [one.name for one in mb.contact.rigid(system)] == ["floor - thing"]


def test_what_is_rigid_has_no_compliant_force_and_is_not_excluded_afterwards():
    system, matter, body = on_floor(mb.contact.Sphere(0.3))
    contacts = mb.CompliantContactSubsystem(system)
    mb.contact.rigid(system)
    with pytest.warns(UserWarning, match=r"'floor' and 'thing' rigid.*no forces between them"):
        state = system.realize_topology()
    body.set_q_to_fit_translation(state, (0, 0, 0.29))
    system.realize(state)
    assert contacts.get_num_contacts(state) == 0
    assert state.u_dot[5] == pytest.approx(-9.81)
    with pytest.raises(ModelError, match=r"exclude: contact.rigid has made.*before it"):
        contacts.exclude(matter.ground, body)
    with pytest.raises(ModelError, match=r"set_adjacent_bodies_touch: contact.rigid"):
        contacts.set_adjacent_bodies_touch(True)
