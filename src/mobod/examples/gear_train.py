"""Gear train: a falling weight turns a planetary gear; its carrier is seven times slower.

Wheels are pins, and where two of them mesh they do not slip: `constraint.NoSlip1D`, a point and a direction that the carrier
takes along. The ring is Ground. Three planets share the load though one would do: two of the seven equations say what the
others say already. Gravity is along -y; the weight hangs on a drum on the sun's axle.
"""

import math

import mobod as mb

SUN, PLANET = 0.2, 0.5  # radii where they mesh
RING = SUN + 2 * PLANET
HANGING = 1.5 * RING  # how low the weight is at the start
DRUM = 0.15  # radius of the drum on the sun's axle
PLANETS = 3
THICKNESS = 0.12
SUN_MASS, PLANET_MASS, CARRIER_MASS, WEIGHT = 2.0, 6.0, 4.0, 1.0
TEETH = 0.0785  # from one to the next: 16 of the sun's, 40 of a planet's, 96 of the ring's
DEPTH = 0.02
TIME = 2.2  # that `mobod simulate gear_train` simulates


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it, at rest."""
    system = mb.MultibodySystem("gear train")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0))
    matter.set_show_default_geometry(False)
    draw_ring(matter.ground)

    sun = mb.mobilizer.Pin(matter.ground, make_wheel(SUN, SUN_MASS, "#ccbb44"), name="sun")
    carrier = mb.mobilizer.Pin(matter.ground, make_carrier(), name="carrier")
    for number in range(PLANETS):
        angle = 2.0 * math.pi * number / PLANETS
        cosine, sine = math.cos(angle), math.sin(angle)
        axle = mb.Transform(((SUN + PLANET) * cosine, (SUN + PLANET) * sine, 0))
        planet = mb.mobilizer.Pin(carrier, make_wheel(PLANET, PLANET_MASS, "#4477aa"), X_PF=axle, name=f"planet{number + 1}")
        tangent = (-sine, cosine, 0)
        name = f"{number + 1}"
        mb.constraint.NoSlip1D(carrier, (SUN * cosine, SUN * sine, 0), tangent, sun, planet, name="sun-planet" + name)
        mb.constraint.NoSlip1D(
            carrier, (RING * cosine, RING * sine, 0), tangent, matter.ground, planet, name="planet-ring" + name
        )
    downward = mb.Transform(mb.Rotation.about_axis(-math.pi / 2, "z"), (DRUM, 0, 0))  # a slider slides along x
    weight = mb.mobilizer.Slider(matter.ground, make_weight(), X_PF=downward, name="weight")
    mb.constraint.NoSlip1D(matter.ground, (DRUM, 0, 0), (0, 1, 0), sun, weight, name="rope")

    state = system.realize_topology()
    weight.set_length(state, HANGING)
    return system, state


def make_wheel(radius: float, mass: float, color: str) -> mb.body.Rigid:
    """Make a wheel with teeth about z, and a spot to see it turn by."""
    wheel = mb.body.Rigid(mb.MassProperties(mass, (0, 0, 0), mb.UnitInertia.cylinder_along_z(radius, THICKNESS / 2)))
    across = mb.Transform(mb.Rotation.about_axis(math.pi / 2, "x"))  # cylinders are along y
    wheel.add_decoration(mb.decoration.Cylinder(radius - DEPTH, THICKNESS / 2, color=color), across)
    for place in teeth(radius):
        wheel.add_decoration(mb.decoration.Brick((DEPTH, TEETH / 4, THICKNESS / 2), color=color), place)
    spot = mb.decoration.Sphere(0.3 * THICKNESS, color="#cc3333")
    wheel.add_decoration(spot, mb.Transform((0.7 * radius, 0, THICKNESS / 2)))
    return wheel


def teeth(radius: float) -> list[mb.Transform]:
    """Outline of a wheel with teeth."""
    number = round(2.0 * math.pi * radius / TEETH)
    angles = [2.0 * math.pi * k / number for k in range(number)]
    return [mb.Transform(mb.Rotation.about_axis(a, "z"), (radius * math.cos(a), radius * math.sin(a), 0)) for a in angles]


def make_carrier() -> mb.body.Rigid:
    """Make the star that the planets' axles are on, in front of the wheels."""
    arm = SUN + PLANET
    carrier = mb.body.Rigid(mb.MassProperties(CARRIER_MASS, (0, 0, 0), mb.UnitInertia.cylinder_along_z(arm, 0.02)))
    for number in range(PLANETS):
        angle = 2.0 * math.pi * number / PLANETS
        turned = mb.Rotation.about_axis(angle, "z")
        middle = (0.5 * arm * math.cos(angle), 0.5 * arm * math.sin(angle), THICKNESS)
        carrier.add_decoration(mb.decoration.Brick((arm / 2, 0.05, 0.02), color="#ee7733"), mb.Transform(turned, middle))
        end = mb.Transform(mb.Rotation.about_axis(math.pi / 2, "x"), (2 * middle[0], 2 * middle[1], THICKNESS / 2))
        carrier.add_decoration(mb.decoration.Cylinder(0.06, THICKNESS, color="#ee7733"), end)
    return carrier


def make_weight() -> mb.body.Rigid:
    """Make the weight, its rope upward: that is -x of the slider."""
    weight = mb.body.Rigid(mb.MassProperties(WEIGHT, (0, 0, 0), mb.UnitInertia.brick((0.15, 0.1, 0.1))))
    weight.add_decoration(mb.decoration.Brick((0.15, 0.1, 0.1), color="#777777"))
    weight.add_decoration(mb.decoration.Line((0, 0, 0), (-HANGING, 0, 0), color="#555555", line_width=2.0))
    return weight


def draw_ring(ground: mb.MobilizedBody) -> None:
    """Draw the ring's teeth, and the rim that they are on."""
    for place in teeth(RING):
        tooth = mb.decoration.Brick((DEPTH, TEETH / 4, THICKNESS / 2), color="#888888")
        ground.add_body_decoration(tooth, place)
    for radius in (RING + DEPTH, RING + 4 * DEPTH):
        ground.add_body_decoration(mb.decoration.Circle(radius, color="#666666", line_width=2.0))
    # the rope as far as the weight hangs at the start; the weight takes the rest along
    ground.add_body_decoration(mb.decoration.Line((DRUM, 0, 0), (DRUM, -HANGING, 0), color="#555555", line_width=2.0))
