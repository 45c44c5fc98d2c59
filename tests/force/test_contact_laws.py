"""Laws of compliant contact: what they promise beyond Simbody's numbers, which tests/reference/test_contact.py compares."""

import numpy as np
import pytest

import mobod as mb
from mobod import Stage

C = mb.contact


@pytest.fixture
def pile(make):
    """Three balls on a half-space of Ground and on each other, of random materials, all touching; one parts fast."""

    def material(dissipation):
        static = make.rng.uniform(0.2, 0.9)
        viscous = make.rng.uniform(0.0, 0.2)
        return C.Material(make.rng.uniform(1e3, 1e5), dissipation, static, 0.7 * static, viscous)

    model = make.tree(0)
    contacts = mb.CompliantContactSubsystem(model.system, transition_velocity=0.4)
    floor = C.Surface(C.HalfSpace(), material(0.4))
    model.matter.ground.add_contact_surface(floor)
    for _ in range(3):
        body = mb.mobilizer.Free(model.matter.ground, make.body())
        body.add_contact_surface(C.Surface(C.Sphere(0.3), material(make.rng.uniform(0.1, 0.5))))
    model.contacts = contacts
    model.made()
    return model


def placed(model):
    """A state in which all touch, with random velocities."""
    rng, state = model.rng, model.state
    for i, body in enumerate(model.bodies[1:]):
        body.set_q_to_fit_translation(state, (0.55 * np.cos(1.2 * i), 0.55 * np.sin(1.2 * i), rng.uniform(0.25, 0.29)))
    state.u = rng.uniform(-1.0, 1.0, len(state.u))
    u = state.u.copy()
    u[-1] = 30.0  # of the last body, along z
    state.u = u
    model.system.realize(state)
    return state


def test_power_is_that_of_the_energy_and_of_what_is_dissipated(pile, derivative):
    """P = -dPE/dt - dissipation, where a ball that parts at 30 m/s is no longer pushed, too."""
    state = placed(pile)
    contacts = pile.contacts
    rows = contacts.get_contacts(state)
    assert len(rows) >= 3 and (rows["force"] == 0.0).all(axis=1).any() and (rows["potential_energy"] > 0.0).all()
    V = np.array([body.get_body_velocity(state) for body in pile.bodies])
    power = (contacts.get_rigid_body_forces(state) * V).sum()
    slope = derivative(lambda h: contacts.calc_potential_energy(pile.moved(h, stage=Stage.POSITION)), h=1e-6)
    lost = contacts.calc_power_dissipation(state)
    assert lost == pytest.approx(rows["power_dissipation"].sum(), rel=1e-12) and (rows["power_dissipation"] >= 0.0).all()
    assert power == pytest.approx(-slope - lost, rel=1e-6, abs=1e-6 * abs(slope))


def test_forces_on_all_bodies_balance(pile, close):
    state = placed(pile)
    forces = pile.contacts.get_rigid_body_forces(state)
    p = np.array([np.asarray(body.get_body_transform(state))[:3, 3] for body in pile.bodies])
    close(forces[:, 1].sum(axis=0), np.zeros(3), 1e-12, np.abs(forces).max())
    close((forces[:, 0] + np.cross(p, forces[:, 1])).sum(axis=0), np.zeros(3), 1e-12, np.abs(forces).max())


def test_a_contact_at_rest_has_the_tangent_of_its_viscosity():
    """Of a ball at rest on a plane, d(friction)/d(slip) is -N mu_v; Stribeck's part has no slope at rest."""
    from mobod.state import validity
    from mobod.tree import realize

    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    contacts = mb.CompliantContactSubsystem(system, transition_velocity=0.01)
    wet = C.Material(1e5, 0.0, 0.8, 0.7, 0.25)
    matter.ground.add_contact_surface(C.Surface(C.HalfSpace(), wet))
    ball = mb.mobilizer.Translation(matter.ground, mb.body.Rigid(mb.MassProperties(1, (0, 0, 0), mb.UnitInertia.sphere(0.1))))
    ball.add_contact_surface(C.Surface(C.Sphere(0.1), wet))
    state = system.realize_topology()
    ball.set_translation(state, (0, 0, 0.099))
    system.realize(state)
    (row,) = contacts.get_contacts(state)
    record = state.tree.new_record(with_tangents=True)
    record.q[:, 0] = state.q
    record.u.tangents[0, 0, 0] = 1.0
    wanted = validity.POSITIONS | validity.VELOCITIES | validity.FORCES
    assert realize.realize(record, realize.advance.address(with_tangents=True), 0, wanted) == realize.DONE
    tangents = record.body_forces.tangents[1, :, 0]
    assert tangents[3] == pytest.approx(-0.25 * row["force"][2], rel=1e-12)
    assert np.isfinite(record.body_forces.tangents).all()


def test_restitution_is_that_of_hunt_and_crossley():
    """a v - ln(1 + a v) is the same before and after, a = 1.5 c (v away from the plane below zero)."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.CompliantContactSubsystem(system)
    c, v = 0.3, 1.2
    rubber = C.Material(1e6, c)
    matter.ground.add_contact_surface(C.Surface(C.HalfSpace(), rubber))
    ball = mb.mobilizer.Slider(
        matter.ground,
        mb.body.Rigid(mb.MassProperties(1, (0, 0, 0), mb.UnitInertia.sphere(0.1))),
        X_PF=mb.Transform(mb.Rotation.about_axis(-np.pi / 2, "y")),
        X_BM=mb.Transform(mb.Rotation.about_axis(-np.pi / 2, "y")),
    )
    ball.add_contact_surface(C.Surface(C.Sphere(0.1), rubber))
    state = system.realize_topology()
    ball.set_length(state, 0.1)
    ball.set_rate(state, -v)
    end = mb.simulate(system, state, 0.05, accuracy=1e-9).states[-1]
    a, w = 1.5 * c, float(end.u[0])
    assert 0.0 < w < v
    assert a * v - np.log(1.0 + a * v) == pytest.approx(-a * w - np.log(1.0 - a * w), rel=1e-6)


def test_a_mesh_without_a_layer_is_refused():
    from kinds.forces import octahedron

    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.CompliantContactSubsystem(system)
    matter.ground.add_contact_surface(C.Surface(C.HalfSpace(), C.Material(1e5), name="floor"))
    body = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(1, (0, 0, 0), mb.UnitInertia.sphere(0.1))))
    body.add_contact_surface(C.Surface(octahedron(), C.Material(1e5), name="stone"))
    with pytest.raises(mb.ModelError, match=r"'floor' and 'stone' may touch, and neither says how thick"):
        system.realize_topology()
