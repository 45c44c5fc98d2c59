"""Operational space: a Panda's hand goes round a circle, controlled in its own space at 1 kHz.

The hand is to follow a circle of 0.1 m in the plane x = 0.45 m, twice in 6 s, without being turned. The acceleration that this
takes, with feedback of the errors, becomes a force by the inertia that the hand has in operational space, the inverse of
J M^-1 J^T (Khatib 1987); what that leaves free, the elbow, is slowed down. The law is compiled, and called inside the loop over
steps.
"""

from pathlib import Path

import numpy as np

import mobod as mb

TIME = 6.0
CENTER, RADIUS, RATE = (0.45, 0.0, 0.45), 0.1, 2.0 * np.pi / 3.0
START = (0.0, -0.3, 0.0, -2.2, 0.0, 2.0, 0.785)


def law(X, V, J, bias_of_J, r, M, bias, gravity, u, parameters):  # type: ignore[no-untyped-def]
    """Torques of the joints."""
    kp, kd, damping, target = parameters[0], parameters[1], parameters[2], parameters[3:12].copy().reshape((3, 3))
    wanted = np.zeros(6)
    for k in range(3):  # the sine of the angle between the frames, about its axis
        wanted[:3] += 0.5 * kp * np.cross(X[:3, k], target[:, k])
    wanted[:3] -= kd * V[:3]
    wanted[3:] = r[2] + kd * (r[1] - V[3:]) + kp * (parameters[12:15] + r[0] - X[:3, 3])
    J_M_inv = mb.control.solve(M, J.T).T
    slowed = -damping * u
    force = mb.control.solve(J_M_inv @ J.T, wanted - bias_of_J - J_M_inv @ slowed)  # Lambda (...)
    return J.T @ force + slowed + bias - gravity


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it, with its controller, the hand near the circle."""
    model = mb.load_urdf(Path(__file__).with_name("panda.urdf"), joint_damping=False, joint_limits=False)
    hand = model.bodies["panda_hand_tcp"]
    circle = [mb.function.Constant(0.0), mb.function.Sinusoid(RADIUS, RATE), mb.function.Sinusoid(RADIUS, RATE, 0.5 * np.pi)]
    state = model.system.realize_topology()
    state.q = START
    model.system.realize(state, mb.Stage.POSITION)
    turned = np.asarray(hand.get_body_rotation(state)).ravel().tolist()
    mb.control.Custom(
        model.forces,
        law,
        sample_time=1e-3,
        inputs={
            "X": mb.control.Pose(hand),
            "V": mb.control.Velocity(hand),
            "J": mb.control.Jacobian(hand),
            "bias_of_J": mb.control.JacobianBias(hand),
            "r": mb.control.Reference(circle),
        },
        parameters=[100.0, 20.0, 2.0, *turned, *CENTER],
        limits=(-87.0, 87.0),
        name="operational space",
    )
    state = model.system.realize_topology()
    state.q = START
    return model.system, state
