"""Swing-up: a cart throws a hanging pole up and catches it, by direct collocation and a regulator that follows the plan.

The plan of least effort, the integral of the force squared, is found by `mb.collocate`, by IPOPT where CasADi is there, else by
SciPy. While it is followed, a regulator of the linear models along it corrects the force; then it balances, by `mb.lqr`.
Source: Kelly 2017; Tedrake 2023.
"""

from itertools import starmap

import numpy as np
from numpy.typing import NDArray

import mobod as mb

LENGTH, DURATION, STEP = 0.8, 1.6, 0.02
TIME = 3.0
Q, R = np.array([10.0, 10.0, 1.0, 1.0]), np.array([0.1])


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Plan it, and build it with its regulator, the pole hanging."""
    system, motor = build_cart_and_pole()
    system.add_event_handler(Follower(motor, plan()))
    state = system.realize_topology()
    state.q = (0.0, np.pi)
    return system, state


def build_cart_and_pole() -> tuple[mb.MultibodySystem, mb.force.MobilityDiscreteForce]:
    """A cart that a motor pushes, and the pole on it, upright at angle zero."""
    system = mb.MultibodySystem("swing-up")
    matter = mb.SimbodyMatterSubsystem(system)
    elements = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(elements, matter, (0, -9.81, 0))
    box = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.brick((0.2, 0.1, 0.1))))
    box.add_decoration(mb.decoration.Brick((0.2, 0.1, 0.1), color="#4477aa"))
    rod = mb.body.Rigid(mb.MassProperties(0.3, (0, 0, 0), mb.UnitInertia.cylinder_along_y(0.02, LENGTH / 2)))
    rod.add_decoration(mb.decoration.Cylinder(0.02, LENGTH / 2, color="#ee7733"))
    cart = mb.mobilizer.Slider(matter.ground, box, name="cart")
    mb.mobilizer.Pin(cart, rod, X_BM=mb.Transform((0, -LENGTH / 2, 0)), name="pole")
    return system, mb.force.MobilityDiscreteForce(elements, cart, 0, name="motor")


def plan(solver: str | None = None) -> mb.Trajectory:
    """The motion of least effort, from hanging to upright, with the force on the cart among its quantities."""
    system, _ = build_cart_and_pole()
    state = system.realize_topology()
    state.q = (0.0, np.pi)
    return mb.collocate(
        system,
        state,
        DURATION,
        [(system.matter.bodies["cart"], 0)],
        cost=lambda controls: controls[0] ** 2,
        end={"cart.q": 0.0, "pole.q": 0.0, "cart.u": 0.0, "pole.u": 0.0},
        scheme="trapezoidal",
        solver=solver,
    )


class Follower(mb.event.PeriodicHandler):
    """Sets the force again and again: the plan's, less what a regulator says of being off it."""

    def __init__(self, motor: mb.force.MobilityDiscreteForce, planned: mb.Trajectory) -> None:
        super().__init__(STEP)
        times = np.arange(0.0, DURATION + 0.5 * STEP, STEP)
        columns = np.hstack([planned.q, planned.u, planned.quantities["controls"]]).T
        found = np.array([np.interp(times, planned.time, column) for column in columns]).T
        self._motor, self._x, self._forces = motor, found[:, :4], found[:, 4]
        self._forces[-1] = 0.0
        self._gains = find_gains(self._x, self._forces)

    def handle_event(self, state: mb.State, accuracy: float) -> None:
        """Set the force until the next call."""
        k = min(round(state.time / STEP), len(self._x) - 1)
        off = np.concatenate([state.q, state.u]) - self._x[k]
        self._motor.set_mobility_force(state, float(self._forces[k] - self._gains[k] @ off))


def find_gains(x: NDArray[np.float64], forces: NDArray[np.float64]) -> NDArray[np.float64]:
    """Gains ``(n, 4)`` of a regulator along the plan, which ends as that of the upright pose."""
    system, motor = build_cart_and_pole()
    state, cart = system.realize_topology(), [(system.matter.bodies["cart"], 0)]
    upright = mb.lqr(system, state, cart, Q, R, sample_time=STEP)

    def model(at: NDArray[np.float64], force: float) -> mb.LinearSystem:
        """From sample to sample, the force being held."""
        state.q, state.u = at[:2], at[2:]
        motor.set_mobility_force(state, float(force))
        system.realize(state)
        return mb.linearize(system, state, cart).sampled(STEP)

    gains, P = [upright.K[0]], upright.P
    for one in reversed([*starmap(model, zip(x[:-1], forces[:-1], strict=True))]):
        F, G = one.A, one.B
        K = np.linalg.solve(np.diag(R) * STEP + G.T @ P @ G, G.T @ P @ F)
        P = np.diag(Q) * STEP + F.T @ P @ (F - G @ K)
        gains.append(K[0])
    return np.array(gains[::-1])
