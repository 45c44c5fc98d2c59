"""Tautochrone: five beads slide down a wire from different heights and reach the bottom at once.

The wire is a cycloid hung between its cusps, on which the time of an oscillation does not depend on its size: Huygens found
that in 1659. The joint is made of nothing but the curve: where the bead is at a coordinate, and how it is turned; mobod
differentiates that. Gravity is along -y. Beads pass through each other.
"""

import math
from itertools import pairwise
from typing import Any

import mobod as mb
from mobod.algebra import cos, rotation, sin

RADIUS = 1.0  # of the wheel that draws the cycloid
STARTS = (0.5, -1.0, 1.5, -2.0, 2.5)
COLORS = ("#4477aa", "#66ccee", "#228833", "#ccbb44", "#ee6677")
TIME = 10.0  # that `mobod simulate tautochrone` simulates


def cycloid(q: Any, parameters: Any) -> Any:
    """X_FM of a bead whose wheel has turned by the angle a: on the curve, and along it; its slope is half that angle."""
    (a,), (radius,) = q, parameters
    return rotation.about_z(0.5 * a), (radius * (a + sin(a)), radius * (1.0 - cos(a)), 0.0)


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it, the beads at rest at different heights."""
    system = mb.MultibodySystem("tautochrone")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0))
    matter.set_show_default_geometry(False)  # no sticks from Ground to the beads: there is a wire
    draw_wire(matter.ground)

    for number, color in enumerate(COLORS):
        mb.mobilizer.Custom(
            matter.ground, make_bead(color), transform=cycloid, num_q=1, parameters=(RADIUS,), name=f"bead{number + 1}"
        )
    state = system.realize_topology()
    state.q = STARTS
    return system, state


def make_bead(color: str) -> mb.body.Body:
    """Make a bead: all of its mass in its middle, so that turning costs nothing."""
    bead = mb.body.Particle(1.0)
    bead.add_decoration(mb.decoration.Brick((0.18, 0.11, 0.11), color=color))
    return bead


def draw_wire(ground: mb.MobilizedBody) -> None:
    """Draw the curve from cusp to cusp, as short lines."""
    angles = [math.pi * k / 40 for k in range(-40, 41)]
    points = [cycloid((a,), (RADIUS,))[1] for a in angles]
    for start, end in pairwise(points):
        ground.add_body_decoration(mb.decoration.Line(start, end, color="#444444", line_width=2.5))
