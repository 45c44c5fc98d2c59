"""Newton's cradle: of five balls in a row, as many fly off on one side as come in on the other.

Each ball hangs on a rod of its own. Neighbours are a hair's breadth apart, so that an impact runs through the row one gap after
the other; equal balls exchange their speeds at each. Gravity is along -y.
"""

from itertools import pairwise

import mobod as mb

BALLS = 5
LIFTED = 2  # of them
RADIUS, LENGTH, GAP = 0.1, 1.0, 1e-5
ANGLE = -0.6  # by which they are lifted
TIME = 8.0  # that `mobod simulate newtons_cradle` simulates


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it, the first balls lifted and at rest."""
    system = mb.MultibodySystem("newtons_cradle")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0))
    matter.set_show_default_geometry(False)

    pitch = 2 * RADIUS + GAP
    middle = 0.5 * (BALLS - 1)
    beam = mb.decoration.Brick((middle * pitch + 2 * RADIUS, 0.02, 0.05), color="#775533")
    matter.ground.add_body_decoration(beam)
    balls = [
        mb.mobilizer.Pin(matter.ground, make_ball(), X_PF=mb.Transform(((k - middle) * pitch, 0, 0)), name=f"ball{k + 1}")
        for k in range(BALLS)
    ]
    at = (0, -LENGTH, 0)
    for one, two in pairwise(balls):
        system.add_event_handler(mb.event.ImpactWhen(mb.event.Gap(one, two, 2 * RADIUS, at, at), 1.0))

    state = system.realize_topology()
    for ball in balls[:LIFTED]:
        ball.set_q(state, ANGLE)
    return system, state


def make_ball() -> mb.body.Rigid:
    """Make a ball on its massless rod; the pin is at the body's origin."""
    mass = 1.0
    inertia = mb.UnitInertia.sphere(RADIUS).shift_from_centroid((0, -LENGTH, 0))
    ball = mb.body.Rigid(mb.MassProperties(mass, (0, -LENGTH, 0), inertia))
    ball.add_decoration(mb.decoration.Line((0, 0, 0), (0, -LENGTH, 0), color="#555555", line_width=1.5))
    ball.add_decoration(mb.decoration.Sphere(RADIUS, color="#aabbcc"), mb.Transform((0, -LENGTH, 0)))
    return ball
