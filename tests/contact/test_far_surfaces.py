"""Lanes in which surfaces are far apart are not searched: what says so is never wrong."""

import pytest

import mobod as mb
from mobod.force.contact import broad_phase

WOOD = mb.contact.Material(stiffness=1e6, dissipation=1.0, static_friction=0.5)


def scene(rng, law):
    """A plane on a moving body, and bodies with surfaces of several kinds."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.GeneralForceSubsystem(system)
    contacts = mb.CompliantContactSubsystem(system, friction=law)
    shapes = [
        mb.contact.HalfSpace((0.0, 0.6, 0.8)),
        mb.contact.Sphere(0.1),
        mb.contact.Cylinder(0.1, 0.2),
        mb.contact.Brick((0.1, 0.2, 0.3)),
        mb.contact.Sphere(0.2),
    ]
    chosen = [shapes[0]] * int(rng.integers(0, 2)) + [shapes[k] for k in rng.integers(1, 5, int(rng.integers(1, 4)))]
    for shape in chosen:
        body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.3)))
        body.add_contact_surface(mb.contact.Surface(shape, WOOD), mb.Transform(tuple(rng.uniform(-0.3, 0.3, 3))))
        mb.mobilizer.Free(matter.ground, body)
    return system, system.realize_topology(), contacts


def visited_and_near(model, i):
    """The pairs that may touch, of those that a search of element integers from *i* on visits; and what lanes are told."""
    fixed = model.force_integers
    first, n = int(fixed[i + broad_phase.FIRST_SURFACE]), int(fixed[i + broad_phase.NUM_SURFACES])
    table, visited = int(fixed[i + broad_phase.MAY_TOUCH]), []

    def visit(model, integers, a, b, lane, k):
        if model.contact_integers[table + (a - first) * n + b - first] >= 0:
            visited.append((a, b))

    broad_phase.place_surfaces(model, first, first + n)
    broad_phase.searching(visit, leaves_simple=True)(model, i, 0, None)
    return visited, broad_phase.may_meet(model, i)


@pytest.mark.parametrize("law", ["stribeck", "bristle"])
def test_what_is_found_to_be_far_is_not_visited(rng, law):
    far = near = 0
    for _ in range(60):
        system, state, contacts = scene(rng, law)
        i = int(state.record.force_first_integer[contacts.element.index])
        for size in (0.2, 0.5, 1.0, 3.0):
            q = rng.normal(size=state.q.shape)
            q.reshape(-1, 7)[:, 4:] *= size
            state.q = q
            system.realize(state, mb.Stage.POSITION)
            visited, found = visited_and_near(state.record, i)
            assert found in (0.0, 1.0) and (found == 1.0 or not visited)
            far, near = far + (found == 0.0), near + bool(visited)
    assert far > 30 and near > 30
