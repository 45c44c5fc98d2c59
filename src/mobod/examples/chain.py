"""Chain: thirty links, held out level and let go; it falls and cracks like a whip.

Each link is a slender rod on a ball joint at the end of the one before, drawn as a ring that is turned by 90 degrees
from one to the next. Links pass through each other. Gravity is along -y.
"""

import mobod as mb

LINKS = 30
LENGTH = 0.1
MASS = 0.05
RADIUS = 0.015
QUARTER = 1.57079633
TIME = 4.0  # that `mobod simulate chain` simulates


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it, straight, level and at rest."""
    system = mb.MultibodySystem("chain")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0))
    post = mb.decoration.Brick((0.04, 0.04, 0.04), color="gray")
    matter.ground.add_body_decoration(post)

    parent: mb.MobilizedBody = matter.ground
    for number in range(LINKS):
        end = mb.Transform() if number == 0 else mb.Transform((LENGTH, 0, 0))  # of the link before
        parent = mb.mobilizer.Ball(parent, make_link(number), X_PF=end, name=f"link{number + 1}")

    return system, system.realize_topology()


def make_link(number: int) -> mb.body.Rigid:
    """Make a link: its joint at the origin, the next one's at LENGTH along x."""
    middle = (LENGTH / 2, 0, 0)
    inertia = mb.UnitInertia.cylinder_along_x(RADIUS, LENGTH / 2).shift_from_centroid(middle)
    link = mb.body.Rigid(mb.MassProperties(MASS, middle, inertia))
    ring = mb.decoration.Torus(0.5, 0.11, scale=(1.3 * LENGTH, LENGTH, 1.4 * LENGTH))
    ring.color = "#667788" if number % 2 else "#cc8844"
    link.add_decoration(ring, mb.Transform(mb.Rotation.about_axis(QUARTER * (number % 2), "x"), middle))
    return link
