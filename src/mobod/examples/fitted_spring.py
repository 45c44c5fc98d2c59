"""Fitted spring: the stiffness and damping of a spring from a film of what it carries, with noise, by sensitivities.

A pendulum is held by a spring of unknown stiffness and a damper. Its angle was measured fifty times within 3 s. Gauss and
Newton's method compares the simulated motion with that; the derivatives of the motion come with it, from the variational
equations, and give the variances of what is found. Source: Bock 1983.
"""

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

import mobod as mb

Array = NDArray[np.float64]

TIME = 3.0
#: What is looked for, N/m and N m s, and the noise of the angles, rad.
STIFFNESS, DAMPING, NOISE = 35.0, 0.12, 0.01
UNKNOWN = ["spring.stiffness", "damper.damping"]


class Fit(NamedTuple):
    """Stiffness and damping, and their standard deviations."""

    values: Array
    deviations: Array


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it as it is found to be."""
    system, state = build_with(*fit().values)
    return system, state


def build_with(stiffness: float, damping: float) -> tuple[mb.MultibodySystem, mb.State]:
    """Build the pendulum with a spring and a damper, pulled aside."""
    system = mb.MultibodySystem("fitted spring")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0))
    rod = mb.body.Rigid(mb.MassProperties(0.6, (0, 0, 0), mb.UnitInertia.cylinder_along_y(0.02, 0.25)))
    rod.add_decoration(mb.decoration.Cylinder(0.02, 0.25, color="#4477aa"))
    arm = mb.mobilizer.Pin(matter.ground, rod, X_BM=mb.Transform((0, 0.25, 0)), name="arm")
    mb.force.TwoPointLinearSpring(
        forces, matter.ground, (0.6, -0.3, 0), arm, (0, -0.1, 0), float(stiffness), 0.4, name="spring"
    )
    mb.force.MobilityLinearDamper(forces, arm, 0, float(damping), name="damper")
    state = system.realize_topology()
    arm.set_angle(state, -0.9)
    return system, state


def film(seed: int = 1) -> Array:
    """Angles as measured."""
    motion = mb.simulate(*build_with(STIFFNESS, DAMPING), TIME, accuracy=1e-8, report_interval=TIME / 50)
    return motion.q[1:, 0] + NOISE * np.random.default_rng(seed).normal(size=50)


def fit(seed: int = 1) -> Fit:
    """Find stiffness and damping from a film, beginning at half and at twice of what they are."""
    measured = film(seed)

    @functools.lru_cache(maxsize=1)
    def compare(values: bytes) -> tuple[Array, Array]:
        system, state = build_with(*np.frombuffer(values))
        run = mb.simulate(system, state, TIME, accuracy=1e-5, report_interval=TIME / 50, sensitivities=UNKNOWN)
        assert run.sensitivities is not None
        return run.q[1:, 0] - measured, run.sensitivities.q[1:, 0]

    start = np.array([0.5 * STIFFNESS, 2.0 * DAMPING])
    found = least_squares(
        lambda x: compare(x.tobytes())[0], start, lambda x: compare(x.tobytes())[1], bounds=(0.0, np.inf), x_scale=start
    )
    spread = 2.0 * found.cost / (len(measured) - len(UNKNOWN))
    return Fit(found.x, np.sqrt(spread * np.diag(np.linalg.inv(found.jac.T @ found.jac))))
