"""Speed bump: the family car of the example `car` goes over a bump of 10 cm at 30 km/h, on a height field.

The road is smooth ground of varying height, a `contact.HeightField`; tyres touch it where they stand on it, with its slope.
"""

import numpy as np

import mobod as mb
from mobod.examples.car import build as build_car

SPEED = 30.0 / 3.6
PLACE, LENGTH, RISE = 12.0, 3.0, 0.1  # of the bump: a wave, 1 - cos
TIME = 3.0  # that `mobod simulate speed_bump` simulates


def height(x: np.ndarray) -> np.ndarray:
    """The road's height ahead."""
    inside = np.abs(x - PLACE) < 0.5 * LENGTH
    return np.where(inside, 0.5 * RISE * (1.0 + np.cos(2.0 * np.pi * (x - PLACE) / LENGTH)), 0.0)


def road() -> mb.contact.HeightField:
    """The road, 60 m long and 8 m wide."""
    x, y = np.linspace(-10.0, 50.0, 601), np.linspace(-4.0, 4.0, 5)
    return mb.contact.HeightField(x, y, np.outer(height(x), np.ones(5)))


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it, rolling towards the bump."""
    field = road()
    straight = np.column_stack([np.linspace(0.0, 60.0, 61), np.zeros(61)])
    system, state = build_car(straight, SPEED, field)
    x, y = np.linspace(PLACE - LENGTH, PLACE + LENGTH, 61), np.linspace(-2.0, 2.0, 5)
    shown = mb.contact.HeightField(x, y, np.outer(height(x), np.ones(5)))
    for shape, where in shown.decorations():
        system.matter.ground.add_body_decoration(shape, where)
    new = system.realize_topology()
    new.q, new.u = state.q, state.u
    return system, new
