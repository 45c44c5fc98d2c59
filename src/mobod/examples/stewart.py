"""Stewart platform: a plate on six springy legs, lifted, turned and let go; it bounces and sways.

Six closed loops. Each leg hangs on a universal joint at its foot, slides in itself, and a ball constraint holds its head to the
plate; the plate is free but for these. In each leg is a spring, whose rest length carries the plate's weight in the middle. Of
24 speeds 18 equations leave six: the plate can move in every way. Gravity is along -z.
"""

import math

import mobod as mb

HEIGHT = 1.0  # of the plate at rest
BASE, TOP = 1.0, 0.6  # radii of the circles that feet and heads are on
PLATE_MASS, LOWER_MASS, UPPER_MASS = 20.0, 1.5, 1.0
PLATE_THICKNESS = 0.05
LOWER, UPPER = 0.7, 0.7  # lengths of a leg's parts
STIFFNESS = 1500.0
COLORS = ("#4477aa", "#66ccee", "#228833", "#ccbb44", "#ee6677", "#aa3377")
TIME = 5.0  # that `mobod simulate stewart` simulates

Vector = tuple[float, float, float]


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it, assembled, the plate displaced and at rest."""
    system = mb.MultibodySystem("Stewart platform")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -9.81))
    matter.set_show_default_geometry(False)
    floor = mb.decoration.Cylinder(BASE + 0.12, 0.02, color="#dddddd")
    upright = mb.Rotation.about_axis(math.pi / 2, "x")  # cylinders are along y
    matter.ground.add_body_decoration(floor, mb.Transform(upright, (0, 0, -0.05)))

    plate = mb.mobilizer.Free(matter.ground, make_plate(), name="plate")
    total = PLATE_MASS + 6 * UPPER_MASS  # about what the springs carry
    legs = []
    for number, (foot, head) in enumerate(zip(feet(), heads(), strict=True)):
        color = COLORS[number]
        lower = mb.mobilizer.Universal(matter.ground, make_lower(color), X_PF=mb.Transform(foot), name=f"lower{number + 1}")
        along = mb.Transform(mb.Rotation.about_axis(-math.pi / 2, "y"))  # a slider's x to the leg's z
        upper = mb.mobilizer.Slider(lower, make_upper(color), X_PF=along, X_BM=along, name=f"upper{number + 1}")
        mb.constraint.Ball(upper, (0, 0, UPPER), plate, head, name=f"head{number + 1}")
        length = math.dist(foot, (head[0], head[1], HEIGHT + head[2]))
        share = total * 9.81 / 6 * length / (HEIGHT + head[2])  # of the weight, along the leg
        mb.force.MobilityLinearSpring(forces, upper, 0, STIFFNESS, length - UPPER + share / STIFFNESS)
        legs.append((lower, upper, foot, head))

    state = system.realize_topology()
    pose = mb.Transform(mb.Rotation.about_axis(0.25, "z") @ mb.Rotation.about_axis(0.12, "x"), (0.1, 0.05, HEIGHT + 0.12))
    plate.set_q_to_fit_transform(state, pose)
    for lower, upper, foot, head in legs:
        angles, length = reach(foot, tuple(pose @ head))
        lower.set_angles(state, angles)
        upper.set_length(state, length - UPPER)
    system.project(state, 1e-12)
    return system, state


def feet() -> list[Vector]:
    """The feet of the legs, in pairs."""
    angles = [math.radians(120 * (k // 2) + (10 if k % 2 else -10)) for k in range(6)]
    return [(BASE * math.cos(a), BASE * math.sin(a), 0.0) for a in angles]


def heads() -> list[Vector]:
    """The legs' ends on the plate, in its frame: each foot's neighbors go apart."""
    angles = [math.radians(120 * (k // 2) + (50 if k % 2 else -50)) for k in range(6)]
    return [(TOP * math.cos(a), TOP * math.sin(a), 0.0) for a in angles]


def reach(foot: Vector, head: tuple[float, ...]) -> tuple[tuple[float, float], float]:
    """Angles of a leg's universal joint, and the length, from a foot to a head.

    Angles a about x and b about the new y take z to (sin b, -sin a cos b, cos a cos b).
    """
    x, y, z = (b - a for a, b in zip(foot, head, strict=True))
    length = math.sqrt(x * x + y * y + z * z)
    return (math.atan2(-y, z), math.asin(x / length)), length


def make_plate() -> mb.body.Rigid:
    """Make the plate, its origin in the plane of the heads."""
    plate = mb.body.Rigid(mb.MassProperties(PLATE_MASS, (0, 0, 0), mb.UnitInertia.cylinder_along_z(TOP, PLATE_THICKNESS / 2)))
    upright = mb.Rotation.about_axis(math.pi / 2, "x")
    plate.add_decoration(mb.decoration.Cylinder(TOP + 0.06, PLATE_THICKNESS / 2, color="#777777"), mb.Transform(upright))
    mark = mb.decoration.Brick((0.2, 0.03, 0.05), color="#cc3333")
    plate.add_decoration(mark, mb.Transform((0.3, 0, PLATE_THICKNESS)))
    return plate


def make_lower(color: str) -> mb.body.Rigid:
    """Make the part of a leg that stands, along z from its foot."""
    middle = (0, 0, LOWER / 2)
    inertia = mb.UnitInertia.cylinder_along_z(0.04, LOWER / 2).shift_from_centroid(middle)
    lower = mb.body.Rigid(mb.MassProperties(LOWER_MASS, middle, inertia))
    upright = mb.Rotation.about_axis(math.pi / 2, "x")
    lower.add_decoration(mb.decoration.Cylinder(0.045, LOWER / 2, color=color), mb.Transform(upright, middle))
    lower.add_decoration(mb.decoration.Sphere(0.06, color="#444444"))
    return lower


def make_upper(color: str) -> mb.body.Rigid:
    """Make the part that slides, along z up to the head."""
    middle = (0, 0, UPPER / 2)
    inertia = mb.UnitInertia.cylinder_along_z(0.025, UPPER / 2).shift_from_centroid(middle)
    upper = mb.body.Rigid(mb.MassProperties(UPPER_MASS, middle, inertia))
    upright = mb.Rotation.about_axis(math.pi / 2, "x")
    upper.add_decoration(mb.decoration.Cylinder(0.025, UPPER / 2, color="#bbbbbb"), mb.Transform(upright, middle))
    upper.add_decoration(mb.decoration.Sphere(0.05, color=color), mb.Transform((0, 0, UPPER)))
    return upper
