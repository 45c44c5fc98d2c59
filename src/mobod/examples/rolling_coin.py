"""Rolling coin: a coin rolls on a table without slipping, wobbles, and goes round in loops.

The classic of nonholonomic mechanics: five coordinates, two equations between speeds that no equation between coordinates
stands for, and a motion of three degrees of freedom. A massless carrier goes along with the point of contact: it is on the
table, turned to where the coin is heading. On it, in turn, the coin leans and spins. What rolls unrolls: with a heading p and a
rate of spinning s, the contact moves at -RADIUS s along, and not at all across,

    x' cos p + y' sin p + RADIUS s = 0        y' cos p - x' sin p = 0

which are two `constraint.SpeedCoupler`. Gravity is along -z.
"""

import math
from collections.abc import Sequence
from typing import Any

import mobod as mb
from mobod.algebra import cos, sin

RADIUS = 0.1
THICKNESS = 0.006
MASS = 0.2
HEADING, LEAN, SPIN = 0.9, 1.2, -9.0  # at the start: rate of turning, angle from the table, rate of spinning
TIME = 6.0  # that `mobod simulate rolling_coin` simulates


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it, rolling and leaning."""
    system = mb.MultibodySystem("rolling coin")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -9.81))
    matter.set_show_default_geometry(False)
    draw_table(matter.ground)

    massless = mb.body.Massless()
    contact = mb.mobilizer.Planar(matter.ground, massless, name="contact")  # heading, then place
    # the lean is about the heading, x; at an angle of zero the coin lies to the left, along y
    heading = mb.Transform(mb.Rotation([[0, 0, 1], [1, 0, 0], [0, 1, 0]]))
    lean = mb.mobilizer.Pin(contact, massless, X_PF=heading, name="lean")
    # the coin's middle is a radius along x of that, its axis y
    axis = mb.Transform(mb.Rotation.about_axis(-math.pi / 2, "x"), (RADIUS, 0, 0))
    coin = mb.mobilizer.Pin(lean, make_coin(), X_PF=axis, name="spin")
    # arguments: the contact's two velocities, the rate of spinning, and the heading
    speeds, indices = [contact, contact, coin], [1, 2, 0]
    for name, slip in (("along", along), ("across", across)):
        mb.constraint.SpeedCoupler(matter, mb.function.Custom(slip, 4), speeds, indices, [contact], [0], name=name)

    state = system.realize_topology()
    set_motion(system, state, HEADING, LEAN, SPIN)
    return system, state


def along(x: Sequence[Any]) -> Any:
    """The coin's speed of slip along its heading."""
    return x[0] * cos(x[3]) + x[1] * sin(x[3]) + RADIUS * x[2]


def across(x: Sequence[Any]) -> Any:
    """Its speed of slip to the left."""
    return x[1] * cos(x[3]) - x[0] * sin(x[3])


def set_motion(system: mb.MultibodySystem, state: mb.State, heading: float, lean: float, spin: float) -> None:
    """Set a motion along x: rates of turning and of spinning, and how far it leans, which it does not change at first."""
    state.q = 0, 0, 0, lean, 0
    state.u = heading, -RADIUS * spin, 0, 0, spin
    system.project(state, 1e-12)


def make_coin() -> mb.body.Rigid:
    """Make a coin about z, thin, with a bar across to see it turn by."""
    coin = mb.body.Rigid(mb.MassProperties(MASS, (0, 0, 0), mb.UnitInertia(RADIUS**2 / 4, RADIUS**2 / 4, RADIUS**2 / 2)))
    across = mb.Transform(mb.Rotation.about_axis(math.pi / 2, "x"))  # cylinders are along y
    coin.add_decoration(mb.decoration.Cylinder(RADIUS, THICKNESS / 2, color="#ccaa33"), across)
    bar = mb.decoration.Brick((0.8 * RADIUS, 0.12 * RADIUS, THICKNESS), color="#aa3377")
    coin.add_decoration(bar)
    return coin


def draw_table(ground: mb.MobilizedBody) -> None:
    """Draw a table as lines, a radius apart and twelve across."""
    half = 6 * RADIUS
    for k in range(13):
        at = (k - 6) * RADIUS
        for start, end in (((at, -half, 0), (at, half, 0)), ((-half, at, 0), (half, at, 0))):
            ground.add_body_decoration(mb.decoration.Line(start, end, color="#88aa88", line_width=1.0))
