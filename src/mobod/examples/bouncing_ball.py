"""Bouncing ball: three that start a millimetre apart bounce in a valley, and soon go their own ways.

The valley is two slopes, and no bounce loses energy. That is the wedge billiard of Lehtihet and Miller 1986: regular where the
slopes meet at a right angle, and chaotic from there on up, as here. Gravity is along -y. The balls pass through each other.
"""

import math

import mobod as mb

SLOPE = math.radians(35.0)  # of each side
RADIUS = 0.12
APART = 0.001
START = (0.9, 2.2)  # x and y of the first ball
COLORS = ("#cc3311", "#ee7733", "#0077bb")
WIDTH = 3.0  # of each side, as drawn
TIME = 10.0  # that `mobod simulate bouncing_ball` simulates


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it, the balls at rest above one side."""
    system = mb.MultibodySystem("bouncing_ball")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0))
    matter.set_show_default_geometry(False)
    for side in (-1.0, 1.0):
        end = (side * WIDTH * math.cos(SLOPE), WIDTH * math.sin(SLOPE), 0)
        matter.ground.add_body_decoration(mb.decoration.Line((0, 0, 0), end, color="#444444", line_width=3.0))

    for number, color in enumerate(COLORS):
        ball = mb.mobilizer.Translation(matter.ground, make_ball(color), name=f"ball{number + 1}")
        ball.set_default_q((START[0] + number * APART, START[1], 0.0))
        for side in (-1.0, 1.0):
            gap = mb.event.PlaneDistance(ball, normal=(-side * math.sin(SLOPE), math.cos(SLOPE), 0), radius=RADIUS)
            system.add_event_handler(mb.event.ImpactWhen(gap, 1.0))
    return system, system.realize_topology()


def make_ball(color: str) -> mb.body.Body:
    """Make a ball; without friction it does not turn, so that its mass may be all in the middle."""
    ball = mb.body.Particle(1.0)
    ball.add_decoration(mb.decoration.Sphere(RADIUS, color=color))
    return ball
