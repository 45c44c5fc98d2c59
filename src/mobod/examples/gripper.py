"""Gripper: two padded fingers close on a box, lift it, and hold it in the air by friction that sticks.

The fingers are pressed together by a force each, the hand is lifted by a prescribed motion. Friction of bristles holds the box
where it is: with smooth friction, a function of speed alone, it would creep down.
"""

import mobod as mb

BOX = (0.03, 0.03, 0.04)  # half lengths
PAD = (0.008, 0.02, 0.02)
MASS, FINGER = 0.5, 0.2
GRIP = 20.0  # force of each finger; friction of 0.8 could carry 32, the box weighs 4.9
OPEN = 0.03  # distance of each pad from the box at first
LIFT = 0.25
START, END = 0.5, 1.5  # of the lift
TIME = 3.0  # that `mobod simulate gripper` simulates


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it, the fingers open, the box on the floor."""
    system = mb.MultibodySystem("gripper")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -9.81))
    mb.CompliantContactSubsystem(system, friction="bristle")
    wood = mb.contact.Material(stiffness=1e6, dissipation=1.0, static_friction=0.5)
    rubber = mb.contact.Material(stiffness=3e5, dissipation=1.0, static_friction=0.8)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), wood, name="floor"))

    part = mb.body.Rigid(mb.MassProperties(MASS, (0, 0, 0), mb.UnitInertia.brick(*BOX)))
    part.add_contact_surface(mb.contact.Surface(mb.contact.Brick(BOX), rubber, draws=False, name="box"))
    part.add_decoration(mb.decoration.Brick(BOX, color="#ee7733"))
    box = mb.mobilizer.Free(matter.ground, part, name="box")
    box.set_default_q((1, 0, 0, 0, 0, 0, BOX[2]))

    palm = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.brick(0.06, 0.03, 0.01)))
    palm.add_decoration(mb.decoration.Brick((0.1, 0.03, 0.01), color="#444444"), mb.Transform((0, 0, 0.09)))
    up = mb.Transform(mb.Rotation.about_axis(-1.5707963267948966, "y"))  # x of the slider is up
    hand = mb.mobilizer.Slider(matter.ground, palm, X_PF=up, X_BM=up, name="hand")
    hand.set_default_q([BOX[2]])
    mb.constraint.PrescribedMotion(matter, mb.function.Step(BOX[2], BOX[2] + LIFT, START, END), hand, 0)
    for side, name in ((-1.0, "left"), (1.0, "right")):
        pad = mb.body.Rigid(mb.MassProperties(FINGER, (0, 0, 0), mb.UnitInertia.brick(*PAD)))
        pad.add_contact_surface(mb.contact.Surface(mb.contact.Brick(PAD), rubber, draws=False, name=name))
        pad.add_decoration(mb.decoration.Brick(PAD, color="#222222"))
        pad.add_decoration(mb.decoration.Brick((0.004, 0.012, 0.035), color="#888888"), mb.Transform((0, 0, 0.05)))
        finger = mb.mobilizer.Slider(hand, pad, name=name)
        finger.set_default_q([side * (BOX[0] + PAD[0] + OPEN)])
        mb.force.MobilityConstantForce(forces, finger, 0, -side * GRIP)
        mb.force.MobilityLinearDamper(forces, finger, 0, 20.0)
    return system, system.realize_topology()
