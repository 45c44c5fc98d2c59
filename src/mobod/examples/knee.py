"""Knee: a lower leg swings on a knee whose axis moves: the tibia rolls and slides on the femur.

As in the pendulum test of neurologists: someone sits on the edge of a table, the lower leg is lifted and let go. (Theirs
is damped; this one is not.) The coordinate is the flexion, zero for a straight leg; where the tibia goes as the knee bends
is given by two splines, as anatomists tabulate it. No point of the tibia stays in place, so that no pin could be this joint.
"""

import mobod as mb

# Made by letting an ellipse of half axes 32 and 24 mm, the femur's condyle, roll and slide on the plateau of the tibia, as
# its contact goes back by 14 mm. Where the middle of the plateau is, from the middle of the condyle:
FLEXION = (0, 15, 30, 45, 60, 75, 90, 105, 120, 135, 150)  # degrees
FORWARD = (-4.00, -11.02, -17.32, -22.33, -26.27, -29.47, -32.00, -33.67, -34.05, -32.49, -28.19)  # mm, along x of the thigh
UPWARD = (-24.00, -22.53, -20.29, -17.67, -14.90, -11.84, -8.24, -3.86, 1.41, 7.51, 14.01)  # mm, along y of the thigh

DEGREE = 0.0174532925
MILLIMETER = 0.001
CONDYLE = (0.032, 0.024, 0.032)
THIGH = 0.42  # from the hip to the condyle
SHANK = 0.40  # from the plateau to the ankle
SHANK_MASS, FOOT_MASS = 3.2, 1.0
SEAT = 0.6  # height of the table
START = 45.0  # degrees of flexion
TIME = 6.0  # that `mobod simulate knee` simulates


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it, at rest with the lower leg lifted."""
    system = mb.MultibodySystem("knee")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0), zero_height=SEAT)
    table = mb.decoration.Brick((0.24, 0.04, 0.2), color="#998877")
    matter.ground.add_body_decoration(table, mb.Transform((0.08, SEAT - 0.1, 0)))

    # of an upright thigh, x is forward, y upward and z to the right; this one lies: forward is up, and the knee in front
    lying = mb.Transform(mb.Rotation.about_axis(90 * DEGREE, "z"), (THIGH, SEAT, 0))
    thigh = mb.mobilizer.Weld(matter.ground, make_thigh(), X_PF=lying, name="thigh")

    none = mb.function.Constant(0.0, 0)
    knee = mb.mobilizer.FunctionBased(
        thigh,
        make_shank(),
        num_mobilities=1,
        functions=[none, none, mb.function.Linear([-1, 0]), make_spline(FORWARD), make_spline(UPWARD), none],
        coordinate_indices=[[], [], [0], [0], [0], []],
        name="knee",
    )

    state = system.realize_topology()
    knee.set_q(state, START * DEGREE)
    return system, state


def make_spline(table: tuple[float, ...]) -> mb.function.Spline:
    """Make a displacement, in meters, that depends on the flexion in radians."""
    return mb.function.Spline(3, [DEGREE * angle for angle in FLEXION], [MILLIMETER * y for y in table])


def make_thigh() -> mb.body.Rigid:
    """Make the thigh, its origin in the middle of the condyle."""
    middle = (0, THIGH / 2, 0)
    inertia = mb.UnitInertia.cylinder_along_y(0.06, THIGH / 2).shift_from_centroid(middle)
    thigh = mb.body.Rigid(mb.MassProperties(8.0, middle, inertia))
    thigh.add_decoration(
        mb.decoration.Cylinder(0.02, THIGH / 2 - 0.01, color="#eeddbb"), mb.Transform((0, THIGH / 2 + 0.01, 0))
    )
    thigh.add_decoration(mb.decoration.Ellipsoid(CONDYLE, color="#eeddbb"))
    return thigh


def make_shank() -> mb.body.Rigid:
    """Make the lower leg and the foot as one body, its origin in the middle of the tibia's plateau."""
    middle, foot_middle, foot_size = (0, -SHANK / 2, 0), (0.05, -SHANK - 0.03, 0), (0.12, 0.03, 0.045)
    mass = SHANK_MASS + FOOT_MASS
    com = [(SHANK_MASS * a + FOOT_MASS * b) / mass for a, b in zip(middle, foot_middle, strict=True)]
    rod = SHANK_MASS * mb.UnitInertia.cylinder_along_y(0.045, SHANK / 2).shift_from_centroid(middle)
    foot = FOOT_MASS * mb.UnitInertia.brick(foot_size).shift_from_centroid(foot_middle)

    shank = mb.body.Rigid(mb.MassProperties(mass, com, rod + foot))
    tibia = mb.decoration.Cylinder(0.016, SHANK / 2, color="#4477aa")
    shank.add_decoration(tibia, mb.Transform(middle))
    shank.add_decoration(mb.decoration.Brick((0.03, 0.006, 0.035), color="#4477aa"), mb.Transform((-0.003, -0.006, 0)))
    shank.add_decoration(mb.decoration.Brick(foot_size, color="#ee7733"), mb.Transform(foot_middle))
    return shank
