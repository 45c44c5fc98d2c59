"""Slider-crank: a piston engine that coasts: its flywheel turns, and the piston goes up and down.

Crank and connecting rod are pins in a row, the piston slides in its cylinder, and a ball constraint at the wrist pin closes the
loop. The piston's stroke is not quite a sine: it is slower below than above. Gravity is along -y, and no force drives it.
"""

import math

import mobod as mb

CRANK, ROD = 0.25, 0.7  # lengths
PISTON, PISTON_RADIUS, PISTON_HEIGHT = 1.5, 0.16, 0.2  # mass, and its size
FLYWHEEL, WHEEL_RADIUS = 6.0, 0.3
ROD_MASS = 0.8
SPIN = 8.0  # of the crank at the start
START = 0.6  # its angle from x
UP = math.pi / 2
TIME = 3.0  # that `mobod simulate slider_crank` simulates


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it, assembled, the crank turning."""
    system = mb.MultibodySystem("slider-crank")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0))
    matter.set_show_default_geometry(False)
    draw_cylinder(matter.ground)

    crank = mb.mobilizer.Pin(matter.ground, make_crank(), name="crank")
    rod = mb.mobilizer.Pin(crank, make_rod(), X_PF=mb.Transform((CRANK, 0, 0)), name="rod")
    upward = mb.Transform(mb.Rotation.about_axis(UP, "z"))  # a slider slides along x
    piston = mb.mobilizer.Slider(matter.ground, make_piston(), X_PF=upward, name="piston")
    mb.constraint.Ball(rod, (ROD, 0, 0), piston, (0, 0, 0), name="wrist pin")

    state = system.realize_topology()
    height, rod_angle = close(START)
    state.q = START, rod_angle - START, height
    crank.set_rate(state, SPIN)
    crank.lock(state, "velocity")  # the others' speeds follow from it
    system.project(state, 1e-12)
    crank.unlock(state)
    return system, state


def close(angle: float) -> tuple[float, float]:
    """The piston's height, and the angle of the rod from x, at a crank's *angle*."""
    sine = CRANK * math.cos(angle) / ROD  # of the rod's lean
    return CRANK * math.sin(angle) + ROD * math.sqrt(1.0 - sine**2), UP + math.asin(sine)


def make_crank() -> mb.body.Rigid:
    """Make a crank that is balanced, with a flywheel behind it."""
    crank = mb.body.Rigid(mb.MassProperties(FLYWHEEL, (0, 0, 0), mb.UnitInertia.cylinder_along_z(WHEEL_RADIUS, 0.03)))
    crank.add_decoration(mb.decoration.Torus(WHEEL_RADIUS, 0.035, color="#4477aa"), mb.Transform((0, 0, -0.1)))
    for spoke in range(3):
        turned = mb.Rotation.about_axis(spoke * math.pi / 3, "z")
        bar = mb.decoration.Brick((WHEEL_RADIUS, 0.015, 0.01), color="#4477aa")
        crank.add_decoration(bar, mb.Transform(turned, (0, 0, -0.1)))
    web = mb.decoration.Brick((CRANK / 2 + 0.05, 0.045, 0.02), color="#66aadd")
    crank.add_decoration(web, mb.Transform((CRANK / 2, 0, -0.05)))
    across = mb.Rotation.about_axis(UP, "x")  # cylinders are along y
    crank.add_decoration(mb.decoration.Cylinder(0.035, 0.07, color="#444444"), mb.Transform(across, (CRANK, 0, 0)))
    return crank


def make_rod() -> mb.body.Rigid:
    """Make the connecting rod, along x from the crank's pin."""
    middle = (0.4 * ROD, 0, 0)  # its big end is heavier
    inertia = mb.UnitInertia.brick((ROD / 2, 0.03, 0.02)).shift_from_centroid(middle)
    rod = mb.body.Rigid(mb.MassProperties(ROD_MASS, middle, inertia))
    rod.add_decoration(mb.decoration.Brick((ROD / 2, 0.03, 0.015), color="#ee7733"), mb.Transform((ROD / 2, 0, 0)))
    for x, radius in ((0.0, 0.055), (ROD, 0.04)):
        rod.add_decoration(mb.decoration.Torus(radius, 0.018, color="#ee7733"), mb.Transform((x, 0, 0)))
    return rod


def make_piston() -> mb.body.Rigid:
    """Make the piston, along x from the wrist pin."""
    middle = (0.3 * PISTON_HEIGHT, 0, 0)
    inertia = mb.UnitInertia.cylinder_along_x(PISTON_RADIUS, PISTON_HEIGHT / 2).shift_from_centroid(middle)
    piston = mb.body.Rigid(mb.MassProperties(PISTON, middle, inertia))
    along = mb.Transform(mb.Rotation.about_axis(UP, "z"), middle)
    piston.add_decoration(mb.decoration.Cylinder(PISTON_RADIUS, PISTON_HEIGHT / 2, color="#999999"), along)
    return piston


def draw_cylinder(ground: mb.MobilizedBody) -> None:
    """Draw the walls that the piston slides between, and the block below the crank."""
    low, high = ROD - CRANK - 0.1, ROD + CRANK + 0.3
    for side in (-1, 1):
        wall = mb.decoration.Brick((0.02, (high - low) / 2, 0.16), color="#cccccc", opacity=0.6)
        ground.add_body_decoration(wall, mb.Transform((side * (PISTON_RADIUS + 0.03), (high + low) / 2, 0)))
    head = mb.decoration.Brick((PISTON_RADIUS + 0.05, 0.03, 0.16), color="#cccccc")
    ground.add_body_decoration(head, mb.Transform((0, high + 0.03, 0)))
