"""Swing-up: a cart throws a hanging pole up and catches it, by direct collocation and a regulator that follows the plan.

The plan of least effort, the integral of the force squared, is found by direct collocation (Hermite and Simpson) of the
system's own dynamics: forces constant in each of 20 intervals, states at their ends, exact Jacobians of many states at a time
from an `Ensemble`. SciPy's SLSQP solves it in some seconds, or IPOPT through `mobod.casadi` (`plan_with_casadi`). While the
plan is followed, a regulator of the linear models along it corrects the force; then it balances. Source: Kelly 2017; Tedrake
2023.
"""

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import expm, solve_discrete_are
from scipy.optimize import minimize

import mobod as mb

Array = NDArray[np.float64]

LENGTH, DURATION, INTERVALS = 0.8, 1.6, 20
STEP = DURATION / INTERVALS
TIME = 3.0
START, END = np.array([0.0, np.pi, 0.0, 0.0]), np.zeros(4)


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Plan it, and build it with its regulator, the pole hanging."""
    system, motor = build_cart_and_pole()
    x, forces = plan()
    system.add_event_handler(Follower(motor, x, np.append(forces, 0.0), find_gains(x, forces)))
    state = system.realize_topology()
    state.q = START[:2]
    return system, state


class Follower(mb.event.PeriodicHandler):
    """Sets the force at the beginning of each interval: the plan's, less what a regulator says of being off it."""

    def __init__(self, motor: mb.force.MobilityDiscreteForce, x: Array, forces: Array, gains: Array) -> None:
        super().__init__(STEP)
        self._motor, self._x, self._forces, self._gains = motor, x, forces, gains

    def handle_event(self, state: mb.State, accuracy: float) -> None:
        """Set the force until the next call."""
        k = min(round(state.time / STEP), INTERVALS)
        off = np.concatenate([state.q, state.u]) - self._x[k]
        self._motor.set_mobility_force(state, float(self._forces[k] - self._gains[k] @ off))


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


class Dynamics:
    """x' of many x = (q, u) and forces on the cart, with the derivatives by both."""

    def __init__(self) -> None:
        self._system, _ = build_cart_and_pole()
        self._system.realize_topology()
        self._ensembles: dict[int, mb.Ensemble] = {}

    def __call__(self, x: Array, force: Array) -> tuple[Array, Array, Array]:
        """``(n, 4)``, ``(n, 4, 4)`` and ``(n, 4)``."""
        n = len(x)
        states = self._ensembles.setdefault(n, mb.Ensemble(self._system, n))
        states.q, states.u = x[:, :2], x[:, 2:]
        states.realize(mb.Stage.VELOCITY)
        tau = np.stack([force, np.zeros(n)], axis=1)
        u_dot = states.multiply_by_m_inv(tau - states.calc_inverse_dynamics(np.zeros(2)))
        missing, M_inv = states.calc_inverse_dynamics_derivatives(u_dot), states.calc_m_inv()
        by_x = np.zeros((n, 4, 4))
        by_x[:, :2, 2:] = np.eye(2)
        by_x[:, 2:, :2], by_x[:, 2:, 2:] = -M_inv @ missing.q, -M_inv @ missing.u
        by_force = np.concatenate([np.zeros((n, 2)), M_inv[:, :, 0]], axis=1)
        return np.concatenate([x[:, 2:], u_dot], axis=1), by_x, by_force


def plan() -> tuple[Array, Array]:
    """The states at the ends of intervals ``(n + 1, 4)`` and the forces ``(n,)`` of least effort, by SciPy."""
    dynamics, n = Dynamics(), INTERVALS
    size = 4 * (n + 1)
    fixed = np.r_[0:4, 4 * n : size]  # the states at both ends are known

    def defects(w: Array) -> tuple[Array, Array]:
        """The defects of Simpson's rule in each interval, and their Jacobian."""
        x, force = w[:size].reshape(n + 1, 4), w[size:]
        f0, A0, b0 = dynamics(x[:-1], force)
        f1, A1, b1 = dynamics(x[1:], force)
        middle = 0.5 * (x[:-1] + x[1:]) + STEP / 8.0 * (f0 - f1)
        fm, Am, bm = dynamics(middle, force)
        value = x[1:] - x[:-1] - STEP / 6.0 * (f0 + 4.0 * fm + f1)
        J, I = np.zeros((n, 4, len(w))), np.eye(4)
        by_0 = -I - STEP / 6.0 * (A0 + 4.0 * Am @ (0.5 * I + STEP / 8.0 * A0))
        by_1 = I - STEP / 6.0 * (A1 + 4.0 * Am @ (0.5 * I - STEP / 8.0 * A1))
        by_force = -STEP / 6.0 * (b0 + 4.0 * (bm + STEP / 8.0 * np.einsum("nij,nj->ni", Am, b0 - b1)) + b1)
        for k in range(n):
            J[k, :, 4 * k : 4 * k + 4], J[k, :, 4 * k + 4 : 4 * k + 8], J[k, :, size + k] = by_0[k], by_1[k], by_force[k]
        return value.ravel(), J.reshape(-1, len(w))

    guess = np.concatenate([np.linspace(START, END, n + 1).ravel(), np.zeros(n)])
    free = np.setdiff1d(np.arange(len(guess)), fixed)

    def whole(v: Array) -> Array:
        w = guess.copy()
        w[free] = v
        return w

    @functools.lru_cache(maxsize=1)
    def at(v: bytes) -> tuple[Array, Array]:
        return defects(whole(np.frombuffer(v)))

    found = minimize(
        lambda v: (STEP * float(v[-n:] @ v[-n:]), np.concatenate([np.zeros(len(v) - n), 2.0 * STEP * v[-n:]])),
        guess[free],
        jac=True,
        method="SLSQP",
        constraints={"type": "eq", "fun": lambda v: at(v.tobytes())[0], "jac": lambda v: at(v.tobytes())[1][:, free]},
        options={"maxiter": 300, "ftol": 1e-6},
    )
    if not found.success:
        raise mb.ConvergenceError(f"no plan was found: {found.message}")
    w = whole(found.x)
    return w[:size].reshape(n + 1, 4), w[size:]


def plan_with_casadi() -> tuple[Array, Array]:
    """The same plan by CasADi and IPOPT: the dynamics are a callback in its expressions."""
    import casadi

    import mobod.casadi

    system, _ = build_cart_and_pole()
    u_dot = mobod.casadi.forward_dynamics(system)
    problem = casadi.Opti()
    x, force = problem.variable(4, INTERVALS + 1), problem.variable(1, INTERVALS)

    def rate(state: Any, push: Any) -> Any:
        return casadi.vertcat(state[2:], u_dot(state[:2], state[2:], casadi.vertcat(push, 0)))

    for k in range(INTERVALS):
        f0, f1 = rate(x[:, k], force[k]), rate(x[:, k + 1], force[k])
        middle = (x[:, k] + x[:, k + 1]) / 2 + STEP / 8 * (f0 - f1)
        problem.subject_to(x[:, k + 1] - x[:, k] == STEP / 6 * (f0 + 4 * rate(middle, force[k]) + f1))
    problem.subject_to(x[:, 0] == START)
    problem.subject_to(x[:, INTERVALS] == END)
    problem.minimize(STEP * casadi.sumsqr(force))
    problem.set_initial(x, np.linspace(START, END, INTERVALS + 1).T)
    quiet: dict[str, Any] = {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"}
    problem.solver("ipopt", {**quiet, "ipopt.hessian_approximation": "limited-memory", "ipopt.tol": 1e-7})
    found = problem.solve()
    return np.array(found.value(x)).T, np.array(found.value(force)).ravel()


def find_gains(x: Array, forces: Array) -> Array:
    """Gains ``(n + 1, 4)`` of a regulator along the plan, which ends as that of the upright pose."""
    _, A, b = Dynamics()(x, np.append(forces, 0.0))
    models = []
    for one, push in zip(A, b, strict=True):  # of an interval, the force being held
        flow = expm(STEP * np.vstack([np.column_stack([one, push]), np.zeros((1, 5))]))
        models.append((flow[:4, :4], flow[:4, 4:]))
    Q, R = np.diag([10.0, 10.0, 1.0, 1.0]), np.array([[0.1]])
    P = solve_discrete_are(*models[-1], Q, R)
    gains = []
    for F, G in reversed(models):
        K = np.linalg.solve(R + G.T @ P @ G, G.T @ P @ F)
        P = Q + F.T @ P @ (F - G @ K)
        gains.append(K[0])
    return np.array(gains[::-1])
