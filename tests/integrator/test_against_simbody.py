"""Motions that Simbody's RungeKuttaMerson and CPodes find at tight accuracy; `generate_simulations.cpp` has the same models."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import mobod as mb
from mobod import force as F, integrator as kinds

FILE = Path(__file__).parent.parent / "reference" / "simulations.json.gz"
CASES = {case["name"]: case for case in json.loads(gzip.decompress(FILE.read_bytes()))["cases"]}
X = mb.Transform
GRAVITY = (0, -9.81, 0)


def rod():
    return mb.body.Rigid(mb.MassProperties(1.5, (0, -0.4, 0), mb.Inertia(0.35, 0.05, 0.4)))


def block():
    return mb.body.Rigid(mb.MassProperties(2.0, (0.1, 0.05, -0.1), mb.Inertia(0.5, 0.6, 0.7)))


def driven(matter, forces):
    """A cart that follows a sinusoid carries a pendulum with a stop, a ball joint, and by springs a body that is free."""
    ground = matter.ground
    F.Gravity(forces, matter, GRAVITY)
    cart = mb.mobilizer.Slider(ground, block())
    mb.motion.Sinusoid(cart, mb.Motion.Level.POSITION, 0.2, 3.0, 0.1)
    pendulum = mb.mobilizer.Pin(cart, rod())
    swing = mb.mobilizer.Ball(pendulum, rod(), X_PF=X((0, -0.8, 0)), X_BM=X((0, 0.1, 0)))
    loose = mb.mobilizer.Free(ground, block(), X_PF=X((1, 0, 0)))
    F.TwoPointLinearSpring(forces, ground, (1, 1, 0), loose, (0, 0.2, 0), 60, 0.5)
    F.TwoPointLinearSpring(forces, swing, (0, -0.8, 0), loose, (-0.2, 0, 0), 25, 0.7)
    F.TwoPointLinearDamper(forces, ground, (0, 0, 1), loose, (0, 0, 0.3), 1.5)
    F.TwoPointConstantForce(forces, cart, (0, 0, 0), loose, (0.1, 0, 0), 0.8)
    stiffness, damping = (8, 9, 10, 40, 50, 60), (0.3, 0.2, 0.1, 1, 2, 1.5)
    F.LinearBushing(forces, ground, X((1, 0, 0)), loose, X((0.05, 0, 0)), stiffness, damping, name="bushing")
    F.MobilityLinearSpring(forces, pendulum, 0, 5, 0.2)
    F.MobilityLinearDamper(forces, pendulum, 0, 0.3)
    F.MobilityLinearStop(forces, pendulum, 0, 300, 0.4, -0.3, 0.5)
    F.MobilityConstantForce(forces, swing, 1, 0.5)
    F.ConstantForce(forces, loose, (0, 0.1, 0), (0.5, 3, -1))
    F.ConstantTorque(forces, swing, (0.1, -0.2, 0.3))
    F.GlobalDamper(forces, matter, 0.05)


def four_bar(matter, forces):
    """A crank that a torque turns against friction, and a rocker: a massless rod between their tips."""
    ground = matter.ground
    F.Gravity(forces, matter, GRAVITY)
    crank = mb.mobilizer.Pin(ground, rod())
    rocker = mb.mobilizer.Pin(ground, rod(), X_PF=X((2, 0, 0)), X_BM=X((0, 0.5, 0)))
    mb.constraint.Rod(crank, (0, -0.5, 0), rocker, (0, -0.8, 0), 1.9)
    F.MobilityConstantForce(forces, crank, 0, 25)
    F.MobilityLinearDamper(forces, crank, 0, 4)
    F.TwoPointLinearSpring(forces, ground, (3, -1, 0), rocker, (0, -0.8, 0), 20, 0.6)


def spatial_four_bar(matter, forces):
    """A crank that turns steadily, a coupler on a ball joint, and a rocker across: a second ball joint closes the loop."""
    ground = matter.ground
    F.Gravity(forces, matter, GRAVITY)
    crank = mb.mobilizer.Pin(ground, rod())
    mb.motion.Steady(crank, 2.5)
    coupler = mb.mobilizer.Ball(crank, rod(), X_PF=X((0, -0.3, 0)), X_BM=X((0, 0.6, 0)))
    across = X(mb.Rotation.about_axis(np.pi / 2, "y"), (1, 0, 0.5))
    rocker = mb.mobilizer.Pin(ground, rod(), X_PF=across, X_BM=X((0, 0.7, 0)))
    mb.constraint.Ball(coupler, (0, -1.1, 0), rocker, (0, -0.5, 0))
    F.GlobalDamper(forces, matter, 0.2)
    F.MobilityLinearDamper(forces, rocker, 0, 0.1)


def bath(matter, forces):
    """Blocks on springs in a bath."""
    ground = matter.ground
    one = mb.mobilizer.Free(ground, block())
    two = mb.mobilizer.Free(ground, block(), X_PF=X((1, 0.5, 0)))
    three = mb.mobilizer.Pin(two, rod(), X_PF=X((0, 0, 0.3)))
    F.TwoPointLinearSpring(forces, one, (0.2, 0, 0), two, (0, 0.1, 0.2), 40, 0.5)
    F.TwoPointLinearSpring(forces, ground, (0, -1, 0), one, (0, 0, 0), 30, 0.4)
    F.TwoPointLinearSpring(forces, ground, (1, 1, 1), three, (0, -0.8, 0), 20, 0.3)
    F.Thermostat(forces, matter, 0.5, 4.0, 0.3, 0, name="thermostat")


MECHANISMS = {build.__name__: build for build in (driven, four_bar, spatial_four_bar, bath)}


def make_mechanism(name):
    """The system, and the state that Simbody began from."""
    system = mb.MultibodySystem(name)
    matter = mb.SimbodyMatterSubsystem(system)
    MECHANISMS[name](matter, mb.GeneralForceSubsystem(system))
    state = system.realize_topology()
    state.q, state.u = CASES[name]["q"], CASES[name]["u"]
    return system, state


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("kind", [kinds.RungeKuttaMerson, kinds.RungeKuttaFeldberg, kinds.BDF], ids=lambda kind: kind.__name__)
def test_motions_are_those_of_simbody(kind, name, close):
    case = CASES[name]
    system, state = make_mechanism(name)
    method = kind(system, accuracy=1e-9, constraint_tolerance=1e-10)
    method.set_allow_interpolation(False)
    stepper = mb.TimeStepper(system, method)
    stepper.initialize(state)
    rows = {"q": [], "u": [], "energy": []}
    for k in range(11):
        stepper.step_to(case["time"] * k / 10)
        rows["q"].append(stepper.state.q.copy())
        rows["u"].append(stepper.state.u.copy())
        rows["energy"].append(system.calc_energy(stepper.state))
    for theirs in ("RungeKuttaMerson", "CPodes"):
        for what, values in rows.items():
            # what the two of Simbody are apart is up to 3e-7 of the largest, where there are constraints
            close(np.array(values), case[theirs][what], 1e-6)


@pytest.mark.parametrize("name", MECHANISMS)
def test_simbodys_two_integrators_agree(name, close):
    """So that what is compared with is the motion, not an integrator's."""
    case = CASES[name]
    for what in ("q", "u", "energy"):
        close(case["CPodes"][what], case["RungeKuttaMerson"][what], 3e-7)
