"""What is found in all states at once is what tables of contacts say state by state."""

import numpy as np
from numpy.testing import assert_allclose

import mobod as mb

SHAPES = (
    mb.contact.Sphere(0.3),
    mb.contact.Capsule(0.1, 0.3),
    mb.contact.Brick((0.1, 0.2, 0.3)),
    mb.contact.Sphere(0.2),
    mb.contact.Sphere(0.25),
)


def scene(rng, shapes=SHAPES):
    """Things that overlap with two planes, one of which moves, and with each other."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.GeneralForceSubsystem(system)
    contacts = mb.CompliantContactSubsystem(system, transition_velocity=0.5)
    contacts.set_track_dissipated_energy(True)

    def body(parent, shape):
        static = rng.uniform(0.5, 1.0)
        material = mb.contact.Material(10 ** rng.uniform(4, 6), rng.uniform(0, 0.5), static, 0.6 * static, rng.uniform(0, 0.3))
        one = mb.mobilizer.Free(parent, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1))))
        one.add_contact_surface(mb.contact.Surface(shape, material), mb.Transform(0.05 * rng.normal(size=3)))
        return one

    bodies = [body(matter.ground, mb.contact.HalfSpace((0, 0.6, 0.8))), *(body(matter.ground, one) for one in shapes)]
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), mb.contact.Material(1e5, 0.3, 0.8)))
    contacts.exclude(matter.ground, bodies[0])
    return system, contacts, bodies, system.realize_topology()


def move(rng, bodies, state):
    for body in bodies:
        q = rng.normal(size=4)
        body.set_q(state, (*(q / np.linalg.norm(q)), *(0.3 * rng.normal(size=3))))
    state.u = rng.normal(size=len(state.u))


def test_forces_energy_and_heat_are_those_of_the_table(rng):
    system, contacts, bodies, state = scene(rng)
    matter, touching = system.get_matter_subsystem(), 0
    for _ in range(50):
        move(rng, bodies, state)
        system.realize(state)
        rows = contacts.get_contacts(state)
        touching += len(rows)
        wanted = np.zeros((matter.get_num_bodies(), 6))
        origins = np.array([body.get_body_origin_location(state) for body in matter.bodies])
        for row in rows:
            for body, sign in ((row["body1"], -1.0), (row["body2"], 1.0)):
                moment = row["moment"] + np.cross(row["point"] - origins[body], row["force"])
                wanted[body] += sign * np.r_[moment, row["force"]]
        largest = np.abs(wanted).max(initial=1.0)
        assert_allclose(state.record.body_forces, wanted, rtol=0, atol=1e-13 * largest)
        assert_allclose(system.calc_potential_energy(state), rows["potential_energy"].sum(), rtol=1e-13)
        powers = rows["power_dissipation"]
        assert_allclose(state.z_dot[0], powers.sum(), rtol=0, atol=1e-13 * np.abs(powers).sum())
    assert touching > 200


def test_eight_states_at_once_are_each_as_alone(rng):
    for shapes in (SHAPES[0:1] + SHAPES[3:], SHAPES):  # with and without a search
        system, _, bodies, state = scene(rng, shapes)
        states = [state.copy() for _ in range(11)]
        for one in states:
            move(rng, bodies, one)
            system.realize(one)
        ensemble = mb.Ensemble(system, len(states))
        ensemble.q, ensemble.u = np.array([one.q for one in states]), np.array([one.u for one in states])
        ensemble.realize(mb.Stage.ACCELERATION)
        for k, one in enumerate(states):
            assert_allclose(ensemble.u_dot[k], one.u_dot, rtol=1e-9, atol=1e-9 * np.abs(one.u_dot).max())
