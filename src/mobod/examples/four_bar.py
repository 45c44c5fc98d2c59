"""Four-bar: a crank turns round and round, and a point of the coupler draws a curve like a drop.

The oldest closed loop in the textbooks. Three bodies on pins make a tree; a ball constraint puts the end of the coupler on the
end of the rocker and closes the loop. All of it moves in a plane, so that the constraint's equation across the plane says
nothing new, which is no trouble. Gravity is along -y, and a flywheel on the crank carries it over the top.
"""

import math
from itertools import pairwise

import mobod as mb

CRANK, COUPLER, ROCKER, FRAME = 0.3, 1.0, 0.8, 0.9  # lengths; the crank goes round: Grashof, 0.3 + 1.0 < 0.8 + 0.9
PEN = (0.55, 0.45)  # the point of the coupler that draws
DENSITY = 2.0  # mass over length
WIDTH = 0.03
FLYWHEEL, WHEEL_RADIUS = 4.0, 0.18
SPIN = 4.0  # of the crank at the start
START = 1.0  # its angle
TIME = 5.0  # that `mobod simulate four_bar` simulates


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it, assembled, the crank turning."""
    system = mb.MultibodySystem("four-bar")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0))
    matter.set_show_default_geometry(False)  # its sticks would lie in the bars
    draw_curve(matter.ground)

    crank = mb.mobilizer.Pin(matter.ground, make_bar(CRANK, "#4477aa", -1, FLYWHEEL), name="crank")
    coupler = mb.mobilizer.Pin(crank, make_coupler(), X_PF=mb.Transform((CRANK, 0, 0)), name="coupler")
    rocker = mb.mobilizer.Pin(matter.ground, make_bar(ROCKER, "#228833", -1), X_PF=mb.Transform((FRAME, 0, 0)), name="rocker")
    mb.constraint.Ball(coupler, (COUPLER, 0, 0), rocker, (ROCKER, 0, 0), name="loop")

    state = system.realize_topology()
    coupler_angle, rocker_angle = close(START)
    state.q = START, coupler_angle - START, rocker_angle
    crank.set_rate(state, SPIN)
    system.project_q(state, 1e-12)
    # the crank's rate is what the others' follow
    crank.lock(state, "velocity")
    system.project_u(state, 1e-12)
    crank.unlock(state)
    return system, state


def close(angle: float) -> tuple[float, float]:
    """Angles of coupler and rocker from x at a crank's *angle*, with the loop closed and the coupler above."""
    x, y = FRAME - CRANK * math.cos(angle), -CRANK * math.sin(angle)  # from the crank's end to the rocker's pin
    distance = math.hypot(x, y)
    at_crank = math.acos((COUPLER**2 + distance**2 - ROCKER**2) / (2.0 * COUPLER * distance))
    coupler = math.atan2(y, x) + at_crank
    end = CRANK * math.cos(angle) + COUPLER * math.cos(coupler), CRANK * math.sin(angle) + COUPLER * math.sin(coupler)
    return coupler, math.atan2(end[1], end[0] - FRAME)


def draw_curve(ground: mb.MobilizedBody) -> None:
    """Draw where the pen goes in a turn of the crank, and the pin of the rocker."""
    points = []
    for k in range(91):
        angle = 2.0 * math.pi * k / 90
        coupler, _ = close(angle)
        cosine, sine = math.cos(coupler), math.sin(coupler)
        x = CRANK * math.cos(angle) + PEN[0] * cosine - PEN[1] * sine
        y = CRANK * math.sin(angle) + PEN[0] * sine + PEN[1] * cosine
        points.append((x, y, 0))
    for start, end in pairwise(points):
        ground.add_body_decoration(mb.decoration.Line(start, end, color="#cc3333", line_width=2.0))
    for x in (0.0, FRAME):
        foot = mb.decoration.Brick((0.07, 0.02, 0.1), color="gray")
        ground.add_body_decoration(foot, mb.Transform((x, -0.05, 0)))


def make_bar(length: float, color: str, layer: int, wheel: float = 0.0) -> mb.body.Rigid:
    """Make a bar along x from its pin, about which it may have a *wheel* of so much mass; drawn in a *layer* along z."""
    middle, mass = (length / 2, 0, 0), DENSITY * length + wheel
    inertia = DENSITY * length * mb.UnitInertia.brick((length / 2, WIDTH, WIDTH)).shift_from_centroid(middle)
    inertia += wheel * mb.UnitInertia.cylinder_along_z(WHEEL_RADIUS, WIDTH)
    bar = mb.body.Rigid(mb.MassProperties(mass, (DENSITY * length**2 / 2 / mass, 0, 0), inertia))
    shape = mb.decoration.Brick((length / 2 + WIDTH, WIDTH, 0.4 * WIDTH), color=color)
    bar.add_decoration(shape, mb.Transform((length / 2, 0, WIDTH * layer)))
    across = mb.Rotation.about_axis(0.5 * math.pi, "x")  # cylinders are along y
    for x in (0.0, length):
        bar.add_decoration(mb.decoration.Cylinder(0.6 * WIDTH, 1.5 * WIDTH, color="#444444"), mb.Transform(across, (x, 0, 0)))
    if wheel > 0.0:
        bar.add_decoration(mb.decoration.Torus(WHEEL_RADIUS, 0.025, color=color), mb.Transform((0, 0, 2 * WIDTH * layer)))
    return bar


def make_coupler() -> mb.body.Rigid:
    """Make a bar with an arm, that weighs nothing, to the pen."""
    coupler = make_bar(COUPLER, "#ee7733", 0)
    arm, angle = math.hypot(*PEN), math.atan2(PEN[1], PEN[0])
    turned = mb.Rotation.about_axis(angle, "z")
    shape = mb.decoration.Brick((arm / 2, 0.5 * WIDTH, 0.3 * WIDTH), color="#ee7733")
    coupler.add_decoration(shape, mb.Transform(turned, (PEN[0] / 2, PEN[1] / 2, 0)))
    coupler.add_decoration(mb.decoration.Sphere(WIDTH, color="#cc3333"), mb.Transform((*PEN, 0)))
    return coupler
