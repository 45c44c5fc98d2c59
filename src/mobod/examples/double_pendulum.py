"""Double pendulum: two arms with bobs, let go from above; it swings chaotically.

The textbook's: each bob of 1 kg at the end of a massless arm of 1 m, hinges about z, gravity along -y. With zero angles
both arms hang straight down.
"""

import mobod as mb

LENGTH = 1.0
RADIUS = 0.1


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it, at rest with both arms raised."""
    system = mb.MultibodySystem("double pendulum")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0))

    hinge = mb.Transform((0, LENGTH, 0))  # above the bob, whose middle is the body's origin
    upper = mb.mobilizer.Pin(matter.ground, make_arm("#4477aa"), X_BM=hinge, name="upper")
    lower = mb.mobilizer.Pin(upper, make_arm("#ee7733"), X_BM=hinge, name="lower")
    stand = mb.decoration.Brick((0.25, 0.03, 0.15), color="gray")
    matter.ground.add_body_decoration(stand, mb.Transform((0, 0.08, 0)))

    state = system.realize_topology()
    upper.set_angle(state, 2.0)
    lower.set_angle(state, 0.5)
    return system, state


def make_arm(color: str) -> mb.body.Rigid:
    """Make an arm: a ball, and the rod that it hangs on."""
    arm = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(RADIUS)))
    arm.add_decoration(mb.decoration.Sphere(RADIUS, color=color))
    arm.add_decoration(mb.decoration.Cylinder(0.03, LENGTH / 2, color=color), mb.Transform((0, LENGTH / 2, 0)))
    axle = mb.decoration.Cylinder(0.05, 0.06, color="#444444")
    arm.add_decoration(axle, mb.Transform(mb.Rotation.about_axis(1.5707963, "x"), (0, LENGTH, 0)))
    return arm
