"""Arm lifts: two muscles bend an elbow and lift a weight, a third one holds against them.

The upper arm hangs, the hand holds 5 kg. Biceps and brachialis are excited; the forearm swings up and comes to rest where the
moments of all muscles balance those of the weights. Strengths, and lengths of fibers and tendons, are of the order of those
that Holzbaur, Murray and Delp 2005 give (Ann. Biomed. Eng. 33, 829); paths are straight.
"""

import mobod as mb

UPPER_ARM, FOREARM = 0.29, 0.26
FOREARM_MASS, WEIGHT = 1.5, 5.0
CENTER, HAND = 0.12, 0.30  # from the elbow to the forearm's mass center, and to the weight
#: Strength (N), optimal fiber length, slack length of the tendon (m), points on the upper arm's side and on the forearm.
MUSCLES = {
    "biceps": (1060.0, 0.116, 0.20, (0.03, 0.0, 0.0), (0.015, -0.045, 0.0)),
    "brachialis": (987.0, 0.086, 0.0535, (0.01, -0.16, 0.0), (0.012, -0.03, 0.0)),
    "triceps": (2047.0, 0.114, 0.09, (-0.02, -0.10, 0.0), (-0.02, 0.015, 0.0)),
}
#: From this time to that the excitations rise, each to its own.
RISE = 0.1, 0.4
EXCITATIONS = {"biceps": 0.5, "brachialis": 0.4, "triceps": 0.05}
DEGREE = 0.0174532925
TIME = 3.0


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it, at rest with the arm hanging and all fibers in equilibrium."""
    system = mb.MultibodySystem("arm that lifts")
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0))
    bone = mb.decoration.Cylinder(0.014, UPPER_ARM / 2, color="#eeddbb")
    matter.ground.add_body_decoration(bone, mb.Transform((0, -UPPER_ARM / 2, 0)))
    elbow = mb.mobilizer.Pin(matter.ground, make_forearm(), X_PF=mb.Transform((0, -UPPER_ARM, 0)), name="elbow")
    mb.force.MobilityLinearStop(forces, elbow, 0, 200.0, 1.0, 0.0, 140 * DEGREE)
    mb.force.MobilityLinearDamper(forces, elbow, 0, 0.3)
    for name, (strength, fiber, slack, above, below) in MUSCLES.items():
        path = mb.force.transmission.StraightPath(forces, [([(matter.ground, above), (elbow, below)], 1.0)])
        muscle = mb.muscle.Millard2012Equilibrium(forces, path, strength, fiber, slack, name=name)
        muscle.set_excitation_function(mb.function.Step(0.02, EXCITATIONS[name], *RISE))
    state = system.realize_topology()
    elbow.set_angle(state, 5 * DEGREE)
    system.realize(state, mb.Stage.POSITION)
    mb.muscle.equilibrate(state, [one for one in forces.elements if isinstance(one, mb.muscle.Muscle)])
    return system, state


def make_forearm() -> mb.body.Rigid:
    """Make forearm, hand and weight as one body, its origin in the elbow."""
    mass = FOREARM_MASS + WEIGHT
    com = (0, -(FOREARM_MASS * CENTER + WEIGHT * HAND) / mass, 0)
    rod = FOREARM_MASS * mb.UnitInertia.cylinder_along_y(0.04, FOREARM / 2).shift_from_centroid((0, -CENTER, 0))
    ball = WEIGHT * mb.UnitInertia.sphere(0.06).shift_from_centroid((0, -HAND, 0))
    forearm = mb.body.Rigid(mb.MassProperties(mass, com, rod + ball))
    forearm.add_decoration(mb.decoration.Cylinder(0.012, FOREARM / 2, color="#4477aa"), mb.Transform((0, -FOREARM / 2, 0)))
    forearm.add_decoration(mb.decoration.Sphere(0.06, color="#ee7733"), mb.Transform((0, -HAND, 0)))
    return forearm
