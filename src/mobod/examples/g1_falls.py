"""G1 falls: the motors of a standing humanoid go out; it falls on the floor and comes to lie still.

The Unitree G1 of the example `g1` on a floor: spheres at the corners of what is drawn of it touch the floor, by friction that
sticks. Its gears resist by dampers, its joints' limits are compliant stops.
"""

from pathlib import Path

import mobod as mb
from mobod.importer.floor import add_floor

DAMPING = 0.1  # of every joint; more would be the stiffest thing of the light ones, feet and hands
PUSH = 0.3  # speed forward at the start
#: A pose with bent knees, soles on the floor.
POSE = {"hip_pitch": -0.3, "knee": 0.6, "ankle_pitch": -0.3}
RUBBER = mb.contact.Material(stiffness=1e6, dissipation=1.0, static_friction=0.8)
TIME = 3.0  # that `mobod simulate g1_falls` simulates


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it, standing."""
    model = mb.load_urdf(Path(__file__).parent / "g1.urdf", floating_base=True, joint_limits=True)
    for name, joint in model.joints.items():
        if name in model.speeds:
            mb.force.MobilityLinearDamper(model.forces, model.bodies[joint.child], 0, DAMPING)
    mb.CompliantContactSubsystem(model.system, friction="bristle")
    state = model.default_state()
    for part, angle in POSE.items():
        for side in ("left", "right"):
            state.upd_q()[model.coordinates[f"{side}_{part}_joint"]] = angle
    state.upd_u()[model.speeds["pelvis[3]"]] = PUSH
    state, _ = add_floor(model.system, state, RUBBER)  # under its soles
    return model.system, state
