"""Marble run: a marble rolls down a winding channel of a height field into a bowl, and out of it again.

The run is a grid of heights that the surface joins smoothly (bicubic), so that the marble feels no edges.
"""

import numpy as np
from numpy.typing import NDArray

import mobod as mb

RADIUS = 0.03
MASS = 0.28
LENGTH, WIDTH = 1.6, 0.7  # of the field along x and y
SLOPE = 0.08
SWING, WAVES = 0.1, 1.5  # of the channel's middle to both sides, and how often
BANK, ACROSS = 0.12, 0.12  # height of the channel's banks, and how far from its middle they are
BOWL, RIM = 0.35, 0.2  # where x is below it the channel ends in a bowl; the height of its rim
SPACING = 0.02
TIME = 6.0  # that `mobod simulate marble_run` simulates


def calc_heights(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the heights at a grid ``(len(x), len(y))``: a parabolic channel on a slope, and a bowl at its foot."""
    along = x[:, None]
    aside = y[None, :] - calc_middle(along)
    channel = SLOPE * along + BANK * (1.0 - np.exp(-((aside / ACROSS) ** 2)))
    distance = np.hypot(along - 0.5 * BOWL, y[None, :] - calc_middle(np.array(0.5 * BOWL)))
    bowl = RIM * (1.0 - np.exp(-((distance / (0.5 * BOWL)) ** 2))) - 0.03
    part = np.clip(along / BOWL - 0.5, 0.0, 1.0)
    part = part * part * (3.0 - 2.0 * part)
    return part * channel + (1.0 - part) * bowl


def calc_middle(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return where the middle of the channel is, at each x."""
    return SWING * np.sin(2.0 * np.pi * WAVES * x / LENGTH)


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it, the marble at the upper end."""
    system = mb.MultibodySystem("marble_run")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -9.81))
    mb.CompliantContactSubsystem(system, transition_velocity=1e-3)
    x = np.arange(-SPACING, LENGTH + SPACING, SPACING)
    y = np.arange(-0.5 * WIDTH, 0.5 * WIDTH + SPACING, SPACING)
    glass = mb.contact.Material(stiffness=1e7, dissipation=0.1, static_friction=0.4, viscous_friction=0.05)
    field = mb.contact.HeightField(x, y, calc_heights(x, y))
    matter.ground.add_contact_surface(mb.contact.Surface(field, glass, draws=False, name="run"))
    ((drawn, _),) = field.decorations()
    see_through = mb.decoration.Mesh(drawn.vertices, drawn.faces, color="#ddaa33", opacity=0.35)
    matter.ground.add_body_decoration(see_through)
    marble = mb.body.Rigid(mb.MassProperties(MASS, (0, 0, 0), mb.UnitInertia.sphere(RADIUS)))
    marble.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(RADIUS), glass, draws=False))
    marble.add_decoration(mb.decoration.Sphere(RADIUS, color="#cc3311"))
    ball = mb.mobilizer.Free(matter.ground, marble, name="marble")
    start = LENGTH - 0.1
    middle = float(calc_middle(np.array(start)))
    ball.set_default_q((1, 0, 0, 0, start, middle, SLOPE * start + RADIUS + 0.005))
    return system, system.realize_topology()
