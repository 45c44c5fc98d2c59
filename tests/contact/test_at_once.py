"""What is found in all states at once is what tables of contacts say state by state; and derivatives of it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod.derivative.coordinates import displacements
from mobod.force.contact.broad_phase import OF_ALL

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


@pytest.mark.parametrize(
    "shapes",
    [
        pytest.param(SHAPES[:1] + SHAPES[3:], id="in closed form"),
        pytest.param(SHAPES, id="with a search", marks=pytest.mark.exhaustive),  # of one state: its code in lanes takes 13 s
    ],
)
def test_eight_states_at_once_are_each_as_alone(shapes, rng):
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


def points_in_closed_form(rng, law):
    """Bodies of one base and of others, planes of which one moves, and what touches at points of spheres, or at corners."""
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)

    def surface(shape, cliques=()):
        static = rng.uniform(0.5, 1.0)
        material = mb.contact.Material(10 ** rng.uniform(4, 5), rng.uniform(0, 0.5), static, 0.6 * static, rng.uniform(0, 0.3))
        return mb.contact.Surface(shape, material, cliques=cliques)

    def body(kind, parent):
        places = [mb.Transform(0.2 * rng.normal(size=3)) for _ in range(2)]
        mass = mb.MassProperties(1.0, 0.05 * rng.normal(size=3), mb.UnitInertia.sphere(0.5))
        return kind(parent, mb.body.Rigid(mass), X_PF=places[0], X_BM=places[1])

    free = [body(mb.mobilizer.Free, matter.ground) for _ in range(3)]
    arm = body(mb.mobilizer.Pin, free[0])
    shapes = [mb.contact.Sphere(0.3), mb.contact.Sphere(0.2), mb.contact.Sphere(0.25), mb.contact.Capsule(0.2, 0.3)]
    shapes.append(mb.contact.Brick((0.1, 0.2, 0.3)) if law == "compliant" else shapes[3])
    bodies = [arm, free[1], body(mb.mobilizer.Ball, arm), free[2], body(mb.mobilizer.Slider, free[0])]
    planes = [surface(mb.contact.HalfSpace(), "a"), surface(mb.contact.HalfSpace((0, 0.6, 0.8)), ("a", "b"))]
    things = [surface(shape, "b" if k > 2 else ()) for k, shape in enumerate(shapes)]
    placed = [(one, skin, mb.Transform(0.1 * rng.normal(size=3))) for one, skin in zip(bodies, things, strict=True)]
    placed += [(matter.ground, planes[0], mb.Transform()), (free[0], planes[1], mb.Transform())]
    if law == "hunt_crossley":  # capsules apart: of two of them no formula is there
        mb.force.HuntCrossley(forces, [*placed[:3], *placed[5:]], transition_velocity=0.5)
        mb.force.HuntCrossley(forces, [placed[3], placed[5]], transition_velocity=0.5)
        mb.force.HuntCrossley(forces, [placed[4], placed[5]], transition_velocity=0.5)
    else:
        contacts = mb.CompliantContactSubsystem(system, transition_velocity=0.5)
        for one, skin, place in placed:
            one.add_contact_surface(skin, place)
        for one, other in ((0, 3), (0, 4), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)):
            contacts.exclude(bodies[one], bodies[other])
    return system, free, system.realize_topology()


@pytest.mark.parametrize("law", ["compliant", "hunt_crossley"])
def test_derivatives_in_closed_form_are_those_of_accelerations(law, rng, derivative):
    system, free, state = points_in_closed_form(rng, law)
    forces = system.all_forces()
    assert all(force.formulas == OF_ALL for force in forces if hasattr(force, "formulas"))
    states, touching = [state.copy() for _ in range(4)], 0
    for one in states:
        move(rng, free, one)
        system.realize(one)
        touching += np.count_nonzero(one.record.body_forces[0])
    assert touching > 3
    found = system.calc_forward_dynamics_derivatives(states[0])
    of_many = mb.Ensemble(system, 4, state=state).calc_forward_dynamics_derivatives(
        q=[one.q for one in states], u=[one.u for one in states]
    )
    for k, one in enumerate(states):
        alone = system.calc_forward_dynamics_derivatives(one)
        assert_allclose(of_many.q[k], alone.q, rtol=0, atol=1e-12 * np.abs(alone.q).max())
        assert_allclose(of_many.u[k], alone.u, rtol=0, atol=1e-12 * np.abs(alone.u).max())
    N = displacements(states[0])

    def accelerations(dq, du):
        other = states[0].copy()
        other.q, other.u = other.q + dq, other.u + du
        system.realize(other)
        return np.array(other.u_dot)

    for k, unit in enumerate(np.eye(len(state.u))):
        by_q = derivative(lambda h, k=k: accelerations(h * N[:, k], 0.0))
        assert_allclose(found.q[:, k], by_q, rtol=0, atol=1e-7 * np.abs(found.q).max())
        by_u = derivative(lambda h, unit=unit: accelerations(0.0, h * unit))
        assert_allclose(found.u[:, k], by_u, rtol=0, atol=1e-7 * np.abs(found.u).max())
