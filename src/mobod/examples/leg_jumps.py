"""Leg jumps: muscles of hip and knee push half a body off the floor, and it lands again.

A trunk that a slider keeps upright, thigh and shank, and a ball for a foot, which sticks to the floor or slips. Gluteus and
vastus are excited at once; the vastus bends over the knee as if over a kneecap. What the body does in the air is a throw.
"""

import mobod as mb

THIGH, SHANK, FOOT = 0.42, 0.42, 0.04
TRUNK_MASS, THIGH_MASS, SHANK_MASS = 28.0, 5.5, 3.0
HIP, KNEE = 55.0, -110.0  # degrees, in the crouch
#: Strength (N), optimal fiber length, slack length of the tendon (m).
GLUTEUS, VASTUS = (900.0, 0.15, 0.08), (2300.0, 0.10, 0.16)
#: Both excitations over time: they rise, and fall again in the air.
EXCITATION = (0.0, 0.05, 0.10, 0.30, 0.40), (0.3, 0.3, 1.0, 1.0, 0.1)
DEGREE = 0.0174532925
TIME = 0.9


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it, in a crouch with the foot on the floor and all fibers in equilibrium."""
    system = mb.MultibodySystem("leg that jumps")
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0))
    upward = mb.Transform(mb.Rotation.about_axis(90 * DEGREE, "z"))  # a slider goes along x
    trunk = mb.mobilizer.Slider(matter.ground, make_bone(TRUNK_MASS, -0.5, "#998877"), X_PF=upward, X_BM=upward, name="trunk")
    thigh = mb.mobilizer.Pin(trunk, make_bone(THIGH_MASS, THIGH, "#eeddbb"), name="thigh")
    shank = mb.mobilizer.Pin(thigh, make_bone(SHANK_MASS, SHANK, "#4477aa"), X_PF=mb.Transform((0, -THIGH, 0)), name="shank")
    mb.force.MobilityLinearStop(forces, shank, 0, 3000.0, 0.5, -2.4, -0.1)
    mb.force.MobilityLinearStop(forces, thigh, 0, 3000.0, 0.5, -0.1, 1.6)
    floor = mb.Transform(mb.Rotation.about_axis(-90 * DEGREE, "x"))
    rubber = mb.contact.Material(2e6, 0.8, static_friction=0.9, dynamic_friction=0.8)
    mb.force.SmoothSphereHalfSpace(forces, shank, (0, -SHANK, 0), FOOT, matter.ground, floor, rubber, name="foot")
    along = mb.force.transmission
    kneecap = along.WrapCylinder(body=thigh, frame=mb.Transform((0, -THIGH, 0)), radius=0.045, length=0.2, quadrant="+x")
    front = along.Path(forces, [(thigh, (0.05, -0.14, 0)), (shank, (0.045, -0.07, 0))], [along.PathWrap(kneecap)])
    behind = along.Path(forces, [(trunk, (-0.10, 0.06, 0)), (thigh, (-0.04, -0.16, 0))])
    muscles = []
    for name, path, (strength, fiber, slack) in (("vastus", front, VASTUS), ("gluteus", behind, GLUTEUS)):
        muscle = mb.muscle.Millard2012Equilibrium(forces, path, strength, fiber, slack, name=name)
        muscle.set_excitation_function(mb.function.GCVSpline(1, *EXCITATION))
        muscles.append(muscle)
    state = system.realize_topology()
    state.q = 0.0, HIP * DEGREE, KNEE * DEGREE
    system.realize(state, mb.Stage.POSITION)
    height = FOOT - 0.003 - float(shank.find_station_location_in_ground(state, (0, -SHANK, 0))[1])
    state.q = height, HIP * DEGREE, KNEE * DEGREE
    for muscle in muscles:
        muscle.set_state_variable(state, "activation", 0.3)
    system.realize(state, mb.Stage.POSITION)
    mb.muscle.equilibrate(state, muscles)
    return system, state


def make_bone(mass: float, length: float, color: str) -> mb.body.Rigid:
    """Make a rod that hangs from its origin, or stands on it where the length is below zero."""
    middle, half = (0, -0.5 * length, 0), 0.5 * abs(length)
    inertia = mb.UnitInertia.cylinder_along_y(0.05, half).shift_from_centroid(middle)
    bone = mb.body.Rigid(mb.MassProperties(mass, middle, inertia))
    bone.add_decoration(mb.decoration.Cylinder(0.025, half, color=color), mb.Transform(middle))
    bone.add_decoration(mb.decoration.Sphere(0.04, color="#ee7733"), mb.Transform((0, -max(length, 0.0), 0)))
    return bone
