"""Measures, contacts and diagnoses of many states are those of each alone."""

import numpy as np
import pytest

import mobod as mb


@pytest.fixture(scope="module")
def balls():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    contacts = mb.CompliantContactSubsystem(system)
    rubber = mb.contact.Material(stiffness=1e6, dissipation=0.5, static_friction=0.9, dynamic_friction=0.8)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), rubber))
    for _ in range(2):
        body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.Inertia(1.0, 1.0, 1.0)))
        body.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.1), rubber))
        ball = mb.mobilizer.Translation(matter.ground, body)
    height = mb.measure.Coordinate(matter, ball, 2)
    both = mb.measure.Constant(matter, (1.0, 2.0))
    ensemble = mb.Ensemble(system, 12, state=system.realize_topology())
    rng = np.random.default_rng(17)
    ensemble.q = rng.uniform((0, 0, 0.08, 0.1, 0, 0.08), (0.1, 0.1, 0.12, 0.3, 0.1, 0.12), (12, 6))
    ensemble.u = rng.uniform(-1.0, 1.0, (12, 6))
    return system, contacts, (height, both), ensemble


def test_contacts_are_joined_with_the_number_of_their_state(balls):
    system, contacts, _, ensemble = balls
    ensemble.realize()
    for name in ("get_contacts", "get_contact_points"):
        joined = getattr(ensemble, name)(contacts)
        assert 12 < len(joined) < 36 and (np.diff(joined["state"]) >= 0).all()
        for i in range(12):
            state = ensemble.get_state(i)
            system.realize(state)
            alone, mine = getattr(contacts, name)(state), joined[joined["state"] == i]
            assert all(np.array_equal(mine[field], alone[field]) for field in alone.dtype.names)


def test_measures_are_those_of_each_state(balls):
    _, _, (height, both), ensemble = balls
    ensemble.realize()
    assert np.array_equal(ensemble.get_measures(height), ensemble.q[:, 5])
    assert np.array_equal(ensemble.get_measures(height, 1), ensemble.u[:, 5])
    assert np.array_equal(ensemble.get_measures(both), np.tile((1.0, 2.0), (12, 1)))


def test_a_state_that_has_failed_has_no_rows(balls):
    _, contacts, (height, _), ensemble = balls
    broken = ensemble.copy()
    broken.upd_q()[4] = np.nan
    broken.realize()
    assert 4 not in broken.get_contacts(contacts)["state"]
    assert np.isnan(broken.get_measures(height)).nonzero()[0].tolist() == [4]


def test_diagnoses_are_those_of_each_state():
    system, state = mb.examples.four_bar.build()
    ensemble = mb.Ensemble(system, 3, state=state)
    found = ensemble.diagnose_constraints()
    assert [str(one) for one in found] == [str(system.diagnose_constraints(state))] * 3


def test_bad_input_is_named(balls):
    _, contacts, _, ensemble = balls
    for call in (ensemble.get_contacts, ensemble.get_contact_points, ensemble.get_measures):
        with pytest.raises(TypeError, match=r"is a part of its system that has .*, not 3"):
            call(3)
    with pytest.raises(TypeError, match=r"getter is a function of a State, .*, not called; got 3"):
        ensemble.get_each(3)
    low = ensemble.copy()
    low.q = low.q
    with pytest.raises(mb.StageError, match=r"get_contacts needs Stage.VELOCITY.*ensemble.realize"):
        low.get_contacts(contacts)
