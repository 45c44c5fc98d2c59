"""Stack: five boxes are let go one above the other, each a little aside of the one below, and stand."""

import mobod as mb

BOXES = 5
HALF_LENGTHS = (0.15, 0.15, 0.1)
MASS = 1.0
ASIDE = 0.02  # of each box from the one below it
GAP = 0.01  # below each box at first
COLORS = ("#cc3311", "#ee7733", "#ddaa33", "#009988", "#0077bb")
TIME = 2.0  # that `mobod simulate stack` simulates


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it, all boxes in the air."""
    system = mb.MultibodySystem("stack")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -9.81))
    mb.CompliantContactSubsystem(system)
    wood = mb.contact.Material(stiffness=1e6, dissipation=1.0, static_friction=0.5)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), wood, name="floor"))
    for number in range(BOXES):
        box = mb.mobilizer.Free(matter.ground, make_box(COLORS[number % len(COLORS)], wood), name=f"box{number + 1}")
        side = ASIDE * (-1) ** number
        box.set_default_q((1, 0, 0, 0, side, 0, (2 * number + 1) * HALF_LENGTHS[2] + (number + 1) * GAP))
    return system, system.realize_topology()


def make_box(color: str, wood: mb.contact.Material) -> mb.body.Body:
    """Make a box."""
    box = mb.body.Rigid(mb.MassProperties(MASS, (0, 0, 0), mb.UnitInertia.brick(*HALF_LENGTHS)))
    box.add_decoration(mb.decoration.Brick(HALF_LENGTHS, color=color))
    box.add_contact_surface(mb.contact.Surface(mb.contact.Brick(HALF_LENGTHS), wood, draws=False))
    return box
