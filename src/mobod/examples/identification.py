"""Identification: what a Panda's links weigh, from torques measured with noise while it moves, and how sure that is.

Each joint swings by a sinusoid of its own. Torques are linear in the base parameters, those combinations of masses, first
moments and inertias that have an effect, 43 of this robot; least squares gives them with their covariance, sigma^2 (Y^T
Y)^-1. Source: Atkeson, An and Hollerbach 1986; Gautier 1991.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import mobod as mb

Array = NDArray[np.float64]

TIME = 10.0
#: Of the measured torques; N m.
NOISE = 0.05
AMPLITUDES = np.array([1.0, 0.7, 0.9, 0.8, 1.2, 1.0, 1.3])
RATES = np.array([1.1, 1.7, 2.3, 2.9, 3.1, 3.7, 4.1])


class Identified(NamedTuple):
    """Base parameters as found, their covariance ``(n, n)``, as they are in the model, and their names."""

    values: Array
    covariance: Array
    true: Array
    names: list[str]


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build the robot, its joints driven."""
    model = mb.load_urdf(Path(__file__).with_name("panda.urdf"), joint_limits=False, joint_damping=False)
    moving = [body for body in model.matter.bodies[1:] if isinstance(body, mb.mobilizer.Pin)]
    for body, amplitude, rate in zip(moving, AMPLITUDES, RATES, strict=False):
        mb.motion.Sinusoid(body, "position", amplitude, rate, 0.0)
    return model.system, model.system.realize_topology()


def measure(seed: int = 1) -> tuple[Array, Array]:
    """Regressors ``(n, nu, 10 bodies)`` at 200 times of the motion, and torques ``(n, nu)`` with noise."""
    system, state = build()
    matter, rng = system.matter, np.random.default_rng(seed)
    regressors, torques = [], []
    for time in np.linspace(0.0, TIME, 200):
        state.time = time
        system.prescribe(state)
        system.realize(state)
        regressors.append(matter.calc_inertial_parameter_regressor(state, state.u_dot))
        torques.append(matter.find_motion_forces(state) * -1.0 + NOISE * rng.normal(size=len(state.u)))
    return np.array(regressors), np.array(torques)


def identify(seed: int = 1) -> Identified:
    """The base parameters by least squares."""
    regressors, torques = measure(seed)
    system, _ = build()
    base = mb.find_base_parameters(system)
    Y = regressors[:, :, base.independent].reshape(-1, len(base))
    values: Array = np.asarray(np.linalg.lstsq(Y, torques.ravel())[0], np.float64)
    spread = np.sum((torques.ravel() - Y @ values) ** 2) / (len(Y) - len(base))
    return Identified(values, spread * np.linalg.inv(Y.T @ Y), base.calc_values(true_parameters(system)), base.names)


def true_parameters(system: mb.MultibodySystem) -> Array:
    """(m, m c, I) of all bodies, as they are in the model."""
    found = []
    for body in system.matter.bodies[1:]:
        of = body.get_default_mass_properties()
        I = np.asarray(of.inertia)
        found += [of.mass, *(of.mass * np.asarray(of.com)), I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
    return np.array(found)
