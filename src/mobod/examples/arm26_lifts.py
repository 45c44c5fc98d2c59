"""Arm26 lifts: the six muscles of OpenSim's arm bend its elbow with a weight in the hand.

Static optimization finds the activations that bend the elbow as wanted, of elastic tendons and with the upper arm held. As
excitations of a forward run, with nothing that corrects it, they lift the weight most of the way; it creeps on to where it was
to come to rest.
"""

from pathlib import Path

import numpy as np

import mobod as mb

WEIGHT = 3.0  # kg
HAND = 0.0, -0.32, 0.08  # in the frame of the forearm
FIRST, LAST = 20.0, 100.0  # degrees of the elbow
#: The elbow bends from this time to that.
BEGIN, END = 0.2, 1.2
TIME = 4.0


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it with the elbow at rest, the muscles active and all fibers in equilibrium."""
    arm = load()
    times, angles = find_motion()
    wanted = mb.Table(times, {"r_shoulder_elev": 0.0 * times, "r_elbow_flex": angles})
    found = mb.static_optimization(arm, wanted, tendon_compliance=True, passive_force=True, state=make_state(arm))
    arm.set_controls({name: mb.function.GCVSpline(3, times, found.activations[name]) for name in arm.muscles})
    state = make_state(arm)
    for name, muscle in arm.muscles.items():
        muscle.set_state_variable(state, "activation", float(found.activations[name][0]))
    arm.system.realize(state, mb.Stage.POSITION)
    arm.equilibrate_muscles(state)
    return arm.system, state


def load() -> mb.Model:
    """Read the file, and put a ball into the hand."""
    arm = mb.load_osim(Path(__file__).parent / "arm26.osim")
    ball = mb.body.Rigid(mb.MassProperties(WEIGHT, (0, 0, 0), WEIGHT * mb.UnitInertia.sphere(0.045)))
    ball.add_decoration(mb.decoration.Sphere(0.045, color="#ee7733"))
    mb.mobilizer.Weld(arm.bodies["r_ulna_radius_hand"], ball, X_PF=mb.Transform(HAND), name="weight")
    return arm


def find_motion() -> tuple[np.ndarray, np.ndarray]:
    """Find the times and angles of an elbow that starts and ends without acceleration."""
    times = np.linspace(0.0, TIME, 201)
    part = np.clip((times - BEGIN) / (END - BEGIN), 0.0, 1.0)
    return times, np.radians(FIRST + (LAST - FIRST) * part**3 * (10.0 - 15.0 * part + 6.0 * part**2))


def make_state(arm: mb.Model) -> mb.State:
    """Make a state with the upper arm held, hanging."""
    state = arm.default_state()
    arm.bodies["r_humerus"].lock(state)
    state.upd_q()[arm.coordinates["r_elbow_flex"]] = np.radians(FIRST)
    return state
