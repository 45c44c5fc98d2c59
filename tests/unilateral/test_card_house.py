"""A house of cards stands where friction is more than the tangent of the cards' lean; less, and a tent falls.

The two cards of a tent meet with their upper inner edges, and press on each other along the normal of one's face. By symmetry
their force is level, so that it leans from this normal as much as the cards from the vertical: friction bears it, or does not.
What they stand on asks for half of that, less the thickness by the length.
"""

import numpy as np
from touching_models import G, empty

import mobod as mb

LENGTH, WIDTH, THICKNESS, MASS = 0.1, 0.06, 0.003, 0.002
LEAN = np.radians(20.0)


def house(storeys):
    """Of each card the length, x and z of its middle, and its turn from the vertical; a row of tents under a row of roofs."""
    cosine, sine = np.cos(LEAN), np.sin(LEAN)
    outward = LENGTH / 2 * sine + THICKNESS / 2 * cosine
    middle = LENGTH / 2 * cosine + THICKNESS / 2 * sine
    pitch = 2 * LENGTH * sine + 2 * THICKNESS * cosine + 0.004
    cards, z = [], 0.0
    for level in range(storeys):
        tents = storeys - level
        for k in range(tents):
            x = pitch * (k - (tents - 1) / 2)
            cards += [(LENGTH, x - outward, z + middle, LEAN), (LENGTH, x + outward, z + middle, -LEAN)]
        z += LENGTH * cosine + THICKNESS * sine
        for k in range(tents - 1):
            cards.append((pitch - 0.001, pitch * (k - (tents - 2) / 2), z + THICKNESS / 2, np.pi / 2))
        z += THICKNESS
    return cards


def moves(cards, friction):
    """Distances of a middle in a fifth of a second, in which what is let go falls by 0.2, and the speeds at its end."""
    system, matter = empty((0, 0, -G))
    paper = mb.contact.Material(1e7, 1.0, friction)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), paper))
    bodies = []
    for length, *_ in cards:
        half = (THICKNESS / 2, WIDTH / 2, length / 2)
        card = mb.body.Rigid(mb.MassProperties(MASS, (0, 0, 0), mb.UnitInertia.brick(half)))
        body = mb.mobilizer.Free(matter.ground, card)
        body.add_contact_surface(mb.contact.Surface(mb.contact.Brick(half), paper))
        bodies.append(body)
    mb.contact.rigid(system, stepped=True)
    state = system.realize_topology()
    for body, (_, x, z, turn) in zip(bodies, cards, strict=True):
        body.set_q_to_fit_transform(state, mb.Transform(mb.Rotation.about_axis(turn, "y"), (x, 0, z)))
    stepper = mb.TimeStepper(system, mb.integrator.TimeStepping(system, fixed_step_size=0.001))
    stepper.initialize(state)
    stepper.step_to(0.2)
    moved = (stepper.state.q - state.q).reshape(len(cards), 7)[:, 4:]
    return np.abs(moved).max(), np.abs(stepper.state.u).max()


def test_a_tent_stands_if_and_only_if_friction_is_enough():
    assert moves(house(1), 1.05 * np.tan(LEAN))[1] < 1e-4
    assert moves(house(1), 0.95 * np.tan(LEAN))[1] > 0.05


def test_a_house_of_three_storeys_stands():
    distance, speed = moves(house(3), 1.05 * np.tan(LEAN))
    assert distance < 2e-3 * LENGTH
    assert speed < 1e-3
