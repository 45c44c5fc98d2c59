"""Surfaces on bodies: which pairs are looked at, what is refused, and what tables of contacts say."""

import pickle

import numpy as np
import pytest

import mobod as mb
from mobod.contact.pairs import PAIRS

MATERIAL = mb.contact.Material(1e5, 0.2, 0.6, 0.4, 0.1)


def balls(n, radius=0.1, floor=True, cliques=lambda i: (), **options):
    """Free balls in a system of their own, which may have a floor."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    contacts = mb.CompliantContactSubsystem(system, **options)
    if floor:
        matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), MATERIAL, name="floor"))
    solid = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(radius)))
    for i in range(n):
        body = mb.mobilizer.Free(matter.ground, solid)
        body.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(radius), MATERIAL, cliques=cliques(i)))
    return system, contacts


def placed(system, places, u=None):
    state = system.realize_topology()
    for body, place in zip(system.matter.bodies[1:], places, strict=True):
        body.set_q_to_fit_translation(state, place)
    if u is not None:
        state.u = u
    system.realize(state, mb.Stage.VELOCITY)
    return state


def pairs_by_distance(places, radius):
    """Pairs of surfaces, the floor being number 0, by looking at all of them."""
    touching = {(0, i + 1) for i, p in enumerate(places) if p[2] < radius}
    n = len(places)
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    return touching | {(i + 1, j + 1) for i in range(n) for j in range(i + 1, n) if apart[i, j] < 2 * radius}


@pytest.mark.parametrize("n", [1, 2, 9, 60])
def test_all_pairs_that_touch_are_found(n, rng):
    """Whatever was looked at before: the order that is kept does not decide."""
    system, contacts = balls(n)
    state = None
    for _ in range(6):
        places = rng.uniform((-0.5, -0.5, 0.05), (0.5, 0.5, 0.6), (n, 3)) * rng.choice([1.0, 0.4])
        if state is None:
            state = placed(system, places)
        for body, place in zip(system.matter.bodies[1:], places, strict=True):
            body.set_q_to_fit_translation(state, place)
        system.realize(state, mb.Stage.VELOCITY)
        rows = contacts.get_contacts(state)
        found = set(zip(rows["surface1"].tolist(), rows["surface2"].tolist(), strict=True))
        assert found == pairs_by_distance(places, 0.1) and len(rows) == len(found) == contacts.get_num_contacts(state)
        assert len(set(rows["id"].tolist())) == len(rows)


def test_forces_depend_on_the_state_alone(rng):
    """The same state reached from others has the same bits."""
    system, _ = balls(20)
    places = [rng.uniform((-0.3, -0.3, 0.05), (0.3, 0.3, 0.5), (20, 3)) for _ in range(3)]
    fresh = placed(system, places[2])
    system.realize(fresh, mb.Stage.ACCELERATION)
    used = placed(system, places[0])
    for some in places:
        for body, place in zip(system.matter.bodies[1:], some, strict=True):
            body.set_q_to_fit_translation(used, place)
        system.realize(used, mb.Stage.ACCELERATION)
    assert np.array_equal(fresh.u_dot, used.u_dot)


def test_an_ensemble_agrees_with_single_states(rng):
    system, _ = balls(6)
    ensemble = mb.Ensemble(system, 11)
    states = []
    for _ in range(11):
        places = rng.uniform((-0.15, -0.15, 0.05), (0.15, 0.15, 0.4), (6, 3))
        states.append(placed(system, places, rng.normal(size=36)))
    ensemble.q, ensemble.u = np.array([s.q for s in states]), np.array([s.u for s in states])
    ensemble.realize(mb.Stage.ACCELERATION)
    for i, state in enumerate(states):
        system.realize(state, mb.Stage.ACCELERATION)
        np.testing.assert_allclose(ensemble.u_dot[i], state.u_dot, rtol=1e-10, atol=1e-9)


def test_rows_add_up_to_the_forces_on_bodies(rng):
    """Forces and moments of the table, taken to the bodies' origins, are what the subsystem applies; and on Ground."""
    system, contacts = balls(12)
    places = rng.uniform((-0.2, -0.2, 0.05), (0.2, 0.2, 0.4), (12, 3))
    state = placed(system, places, rng.normal(size=72))
    system.realize(state, mb.Stage.DYNAMICS)
    expected = np.zeros((13, 2, 3))
    rows = contacts.get_contacts(state)
    assert len(rows) > 3
    for row in rows:
        for body, sign in ((row["body1"], -1.0), (row["body2"], 1.0)):
            arm = row["point"] - system.matter.bodies[body].get_body_origin_location(state)
            expected[body, 0] += sign * (row["moment"] + np.cross(arm, row["force"]))
            expected[body, 1] += sign * row["force"]
    np.testing.assert_allclose(contacts.get_rigid_body_forces(state), expected, atol=1e-9)
    assert rows["potential_energy"].sum() == pytest.approx(contacts.calc_potential_energy(state))
    assert rows["power_dissipation"].sum() == pytest.approx(contacts.calc_power_dissipation(state))
    points = contacts.get_contact_points(state)
    np.testing.assert_allclose(points["force"].sum(axis=0), rows["force"].sum(axis=0), atol=1e-9)


def test_what_does_not_touch():
    """Cliques, excluded bodies, one body, parent and child unless told; the same geometry touches otherwise."""
    places = np.array([[0.0, 0.0, 1.0], [0.1, 0.0, 1.0], [0.0, 0.1, 1.0]])
    system, contacts = balls(3, cliques=lambda i: ("a",) if i < 2 else "b")
    state = placed(system, places)
    assert contacts.get_num_contacts(state) == 2
    contacts.exclude(system.matter.bodies[1], system.matter.bodies[3])
    assert contacts.get_num_contacts(placed(system, places)) == 1

    system = mb.MultibodySystem()
    matter, contacts = mb.SimbodyMatterSubsystem(system), None
    contacts = mb.CompliantContactSubsystem(system)
    solid = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    surface = mb.contact.Surface(mb.contact.Sphere(0.1), MATERIAL)
    first = mb.mobilizer.Pin(matter.ground, solid)
    second = mb.mobilizer.Pin(first, solid)
    for body in (first, second):
        body.add_contact_surface(surface)
        body.add_contact_surface(surface, (0.05, 0.0, 0.0))
    state = system.realize_topology()
    system.realize(state, mb.Stage.VELOCITY)
    assert contacts.get_num_contacts(state) == 0
    contacts.set_adjacent_bodies_touch(True)
    state = system.realize_topology()
    system.realize(state, mb.Stage.VELOCITY)
    assert contacts.get_num_contacts(state) == 4


def test_surfaces_draw_themselves_unless_told_not_to():
    body = mb.body.Rigid()
    assert body.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.1), MATERIAL)) == 0
    assert body.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.1), MATERIAL, draws=False), (1, 0, 0)) == 1
    assert body.get_num_contact_surfaces() == 2 and body.get_num_decorations() == 1
    surface, X_BS = body.get_contact_surface(1)
    assert isinstance(surface.geometry, mb.contact.Sphere) and np.array_equal(X_BS.p, (1, 0, 0))
    assert len(body.copy().contact_surfaces) == 2
    with pytest.raises(IndexError, match="has 2 contact surfaces; no number 2"):
        body.get_contact_surface(2)


def test_a_disabled_element_touches_nothing():
    system, contacts = balls(1)
    state = placed(system, [(0, 0, 0.05)])
    contacts.get_force(0).disable(state)
    system.realize(state, mb.Stage.ACCELERATION)
    assert not contacts.get_num_contacts(state) and not state.u_dot.any()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: mb.contact.Sphere(0.0), mb.ModelError, "radius has to be"),
        (lambda: mb.contact.Sphere("1"), TypeError, "radius"),
        (lambda: mb.contact.Sphere(np.nan), mb.ModelError, "radius has to be"),
        (lambda: mb.contact.HalfSpace((0, 0, 0)), ValueError, "normal"),
        (lambda: mb.contact.Surface(1.0, MATERIAL), TypeError, "geometry has to be a Shape"),
        (lambda: mb.contact.Surface(mb.contact.Sphere(1), 1e6), TypeError, r"such as contact\.Material"),
        (lambda: mb.contact.Surface(mb.contact.Sphere(1), MATERIAL, thickness=0.0), mb.ModelError, "thickness"),
        (lambda: mb.contact.Surface(mb.contact.Sphere(1), MATERIAL, cliques=[1]), TypeError, "cliques are names"),
        (lambda: mb.body.Rigid().add_contact_surface(mb.contact.Sphere(1)), TypeError, r"such as contact\.Surface"),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_a_second_subsystem_would_press_twice():
    system = mb.MultibodySystem()
    mb.SimbodyMatterSubsystem(system)
    mb.CompliantContactSubsystem(system)
    with pytest.raises(mb.ModelError, match="each would press on all surfaces"):
        mb.CompliantContactSubsystem(system)
    assert len(system.force_subsystems) == 1


def test_stages_and_owners():
    system, contacts = balls(1)
    state = system.realize_topology()
    with pytest.raises(mb.StageError, match=r"get_contacts needs Stage\.VELOCITY"):
        contacts.get_contacts(state)
    other, _ = balls(1)
    with pytest.raises(mb.TopologyError):
        contacts.get_num_contacts(other.realize_topology())
    with pytest.raises(mb.ModelError, match="set_track_dissipated_energy"):
        contacts.get_dissipated_energy(state)
    system.realize(state)
    with pytest.raises(mb.ModelError, match="set_track_dissipated_energy"):
        contacts.set_dissipated_energy(state, 1.0)
    assert state.stage == mb.Stage.ACCELERATION, "a refused call leaves the state as it was"


def test_surfaces_move_with_the_state():
    """Also without any contact: the empty table has its fields."""
    system, contacts = balls(2, floor=False)
    state = placed(system, [(0, 0, 0), (1, 0, 0)])
    rows = contacts.get_contacts(state)
    assert len(rows) == 0 and {"point", "force", "id"} <= set(rows.dtype.names)
    assert [one.name for one in contacts.surfaces] and len(contacts.surfaces) == 2


def test_each_pair_of_shapes_has_a_routine_that_can_be_pickled():
    for routine in PAIRS.values():
        assert pickle.loads(pickle.dumps(routine)) is routine
