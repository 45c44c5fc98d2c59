"""Rolling balls: one skids until it rolls, and hits two that wait; one is dropped beside them with backspin.

A ball that skids with speed v and does not spin rolls after 2 v / (7 mu g), with 5/7 of its speed, whatever the friction.
"""

import mobod as mb

RADIUS = 0.1
MASS = 1.0
SPEED = 3.0  # of the ball that skids
BACKSPIN = 40.0  # of the ball that is dropped, forward as it flies
FRICTION = 0.3
STIFFNESS = 1e7
TIME = 3.0  # that `mobod simulate rolling_balls` simulates
COLORS = ("#cc3311", "#ee7733", "#0077bb", "#009988")
STARTS = ((-2.0, 0.0, RADIUS), (0.3, 0.02, RADIUS), (0.6, 0.12, RADIUS), (-1.0, -0.6, 0.6))


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it, the first ball on its way, the last in the air."""
    system = mb.MultibodySystem("rolling_balls")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -9.81))
    # a transition speed far below those of the balls
    mb.CompliantContactSubsystem(system, transition_velocity=1e-3)
    stuff = mb.contact.Material(STIFFNESS, dissipation=0.2, static_friction=FRICTION)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), stuff, name="floor"))
    balls = []
    for number, (place, color) in enumerate(zip(STARTS, COLORS, strict=True)):
        ball = mb.mobilizer.Free(matter.ground, make_ball(color, stuff), name=f"ball{number + 1}")
        ball.set_default_q((1, 0, 0, 0, *place))
        balls.append(ball)
    state = system.realize_topology()
    balls[0].set_u(state, (0, 0, 0, SPEED, 0, 0))
    balls[3].set_u(state, (0, -BACKSPIN, 0, 1.5, 0, 0))
    return system, state


def make_ball(color: str, stuff: mb.contact.Material) -> mb.body.Body:
    """Make a ball, two of its meridians drawn so that one sees it roll."""
    ball = mb.body.Rigid(mb.MassProperties(MASS, (0, 0, 0), mb.UnitInertia.sphere(RADIUS)))
    ball.add_decoration(mb.decoration.Sphere(RADIUS, color=color))
    for axis in "xy":
        turned = mb.Transform(mb.Rotation.about_axis(1.5707963267948966, axis))
        ball.add_decoration(mb.decoration.Circle(1.01 * RADIUS, color="#222222", line_width=0.8), turned)
    ball.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(RADIUS), stuff, draws=False))
    return ball
