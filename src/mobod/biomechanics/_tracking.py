"""A controller that lets a model follow a motion: what computed muscle control and residual reduction share.

At the start t of each window of length h the accelerations that are wanted at its end are

    a = ka x_dot_dot_d(t + h) + kv (x_dot_d(t) - x_dot(t)) + kp (x_d(t) - x(t))

for x the coordinates, places and orientations of `tasks`. Accelerations at the end of the window are linear in the forces F
of all actuators, A F + b, at coordinates that go on beside the wanted ones, q_d + (q(t) - q_d(t)). Of the forces that give a,
or come near to it (not `exact`), within what actuators can reach by then, the ones with the least sum of (F / F_opt)^2 are
taken. Controls are those under which actuators reach them: those of muscles stay over the window, others go there along a
straight line from where they were. Source: Thelen and Anderson 2006, J. Biomech. 39, 1107.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..errors import ConvergenceError, ModelError
from ..function import Function
from ..importer.model import Model
from ..muscle import Muscle
from ..muscle.base import tendon_forces
from ..state import validity
from ..state.state import State
from ..tree import realize
from ..value import checks
from ..value.stage import Stage
from ._dual_newton import solve
from ._path_sweep import paths_over
from ._reaching import ROWS, reach
from .activations import strengths_of
from .induced import responses
from .motion import Motion, natural_spline, rows_of, smoothed
from .states import couple
from .tasks import Rows, Task, mapping, usable

#: The least excitation of muscles unless bounds say otherwise, OpenSim's too: below it force does not follow any more.
_LEAST = 0.02
#: What of an acceleration may be missing, by the largest that is wanted.
_MISSING = 1e-6
#: What of it rounding leaves, by the largest that an optimal force gives.
_ROUNDING = 1e-9
#: Error of muscles' variables over a step, and rounds of the search for excitations and when it ends, by the range of forces.
_TOLERANCE, _ROUNDS, _REACHED = 1e-6, 40, 1e-6


class Wanted:
    """A motion as functions of time."""

    def __init__(self, model: Model, state: State, given: Any, cutoff: float | None, filter: str) -> None:
        checks.among("filter", filter, ("butterworth", "opensim"))
        filter = "windowed" if filter == "opensim" else filter  # its CMC and RRA filter otherwise than its inverse dynamics
        time, q, self.notes = rows_of(model, state.copy(), given)
        if len(time) < 6:
            raise ValueError(f"a motion that is followed has at least 6 times, this one {len(time)}")
        couple(model, state, q, np.zeros((len(q), state.tree.nu)))
        # at the times of the filter, which may be others: splines through its values at these would have other slopes
        motion = Motion.of_rows(model, state.copy(), *smoothed(time, q, cutoff, filter), degree=5)
        if motion.q.shape[1] != motion.u.shape[1]:
            raise ModelError(f"{model.name!r} has coordinates whose rates are not speeds; only such follow a motion")
        self.rows, self.time, self.cutoff, self.filter = motion, time, cutoff, filter
        self._q, self._u = natural_spline(motion.time, motion.q, 5), natural_spline(motion.time, motion.u, 5)
        # smoother between the motion's times than the derivative of the speeds' spline, as OpenSim has it
        self._u_dot = natural_spline(motion.time, self._u(motion.time, 1), 5)
        #: Where polynomials begin, and their coefficients, the highest power first: of coordinates and of speeds.
        self.pieces = pieces_of(self._q, self._u)

    def __call__(self, t: float) -> tuple[Array, Array]:
        """Coordinates and speeds."""
        return np.asarray(self._q(t)), np.asarray(self._u(t))

    def u_dot(self, t: float) -> Array:
        """The accelerations."""
        return np.asarray(self._u_dot(t))


def pieces_of(*splines: Any) -> tuple[Array, ...]:
    """Splines of the same knots as polynomials: where these begin and end, then the coefficients (degree + 1, pieces, n)."""
    k = splines[0].k
    breaks = np.unique(splines[0].t[k : len(splines[0].t) - k])
    return breaks, *(
        np.stack([one(breaks[:-1], power) / math.factorial(power) for power in range(k, -1, -1)]) for one in splines
    )


def excluded(names: Iterable[str]) -> list[str]:
    """The names of *exclude*; text alone is refused, which would be taken letter by letter."""
    if isinstance(names, str):
        raise TypeError(f"exclude is a sequence of names, such as [{names!r}], not {names!r}")
    return [*names]


class Tracker:
    """Muscles and actuators of a model, which make it follow a motion."""

    def __init__(
        self, model: Model, state: State, wanted: Wanted, tasks: Mapping[str, Task] | None, *, exact: bool, as_opensim: bool,
        bounds: Mapping[str, tuple[float | Function, float | Function]] | None, exclude: Any = (),
    ) -> None:  # fmt: skip
        self.model, self.state, self.wanted, self.exact, self.as_opensim = model, state, wanted, exact, as_opensim
        model.system.realize(state, Stage.INSTANCE)
        known: dict[str, Any] = {**model.muscles, **model.actuators}
        checks.all_known("exclude has", exclude, known)
        acting = {name: one for name, one in known.items() if name not in exclude and not one.is_disabled(state)}
        self.muscles = {name: one for name, one in acting.items() if isinstance(one, Muscle)}
        self.motors = {name: one for name, one in acting.items() if hasattr(one, "set_effort_rate")}
        self.names = [*self.muscles, *self.motors]
        if not self.names:
            raise ModelError(f"{model.name!r} has neither muscles nor actuators, which could follow a motion")
        self.n = len(self.muscles)
        self.optimal = np.array([float(getattr(one, "optimal_force", 1.0)) for one in self.motors.values()])
        for name, optimal in zip(self.motors, self.optimal.tolist(), strict=True):
            if checks.finite(f"the optimal force of {name!r}", optimal) == 0.0:
                raise ModelError(f"the optimal force of {name!r} is 0: no control makes it act; give another, or exclude it")
        self._bounds({} if bounds is None else bounds, [*known])
        #: Generalized forces of coordinates' actuators at a force of 1, and the actuators whose forces depend on the pose.
        self._columns, self._others = np.zeros((len(state.u), len(self.motors))), dict[int, Any]()
        for j, motor in enumerate(self.motors.values()):
            if type(motor).__name__ == "CoordinateActuator":
                b, which = motor.default_integers[:2]
                self._columns[state.tree.first_u[b] + which, j] = 1.0
            else:
                self._others[j] = motor
        self.bare = state.copy()
        for one in (*self.muscles.values(), *self.motors.values()):
            one.disable(self.bare)
        model.system.realize(self.bare, Stage.INSTANCE)
        self.moved = state.copy()
        self.rows = Rows(model, self.bare.copy(), usable(model, state, tasks), wanted)

    def _bounds(self, given: Mapping[str, tuple[float | Function, float | Function]], known: list[str]) -> None:
        """Least and largest controls; bounds of what is known and does not act count for nothing."""
        mapping("bounds", given, "{'soleus_r': (0.02, 1.0)}")
        checks.all_known("bounds has", given, known)
        for name, pair in given.items():
            if isinstance(pair, tuple) and any(isinstance(one, Function) for one in pair):
                continue
            check = checks.array if name in self.muscles else checks.shaped  # those of actuators may be infinite
            check(f"bounds of {name!r}", pair, (2,))
        usual = {**dict.fromkeys(self.names, (-np.inf, np.inf)), **dict.fromkeys(self.muscles, (0.0, 1.0))}
        ranges: dict[str, Any] = usual | self.model.data.get("control ranges", {})
        ranges |= {name: (max(ranges[name][0], _LEAST), min(ranges[name][1], 1.0)) for name in self.muscles}
        ranges |= given
        ends = [list(one) for one in zip(*(ranges[name] for name in self.names), strict=True)]
        #: Bounds that are functions of time: 0 for the least or 1 for the largest, of which control, the function.
        self._of_time = [(k, i, one) for k in (0, 1) for i, one in enumerate(ends[k]) if isinstance(one, Function)]
        for k, i, _ in self._of_time:
            ends[k][i] = 0.0
        self.low, self.high = (np.array(one, float) for one in ends)
        self.set_bounds(float(self.wanted.time[0]))

    def set_bounds(self, t: float) -> None:
        """Set the least and largest controls of a time."""
        for k, i, one in self._of_time:
            (self.low, self.high)[k][i] = one.calc_value([t])
        wrong = ~(self.low <= self.high)
        if wrong.any():
            i = int(wrong.argmax())
            when = f" at time {t:g}" if self._of_time else ""
            found = float(self.low[i]), float(self.high[i])
            raise ValueError(f"bounds of {self.names[i]!r} are two numbers in order, got {found}{when}")

    # ------------------------------------------------------------------------------------------ controls and forces

    def set_controls(self, state: State, before: Array, after: Array, h: float) -> None:
        """Excitations of muscles, and lines along which efforts of actuators go over a time from a state's on."""
        for one, value in zip(self.muscles.values(), after[: self.n].tolist(), strict=True):
            one.set_excitation(state, value)
        efforts, ends = before[self.n :] * self.optimal, after[self.n :] * self.optimal
        rates = (ends - efforts) / h
        efforts = efforts - rates * float(state.time)
        for motor, effort, rate in zip(self.motors.values(), efforts.tolist(), rates.tolist(), strict=True):
            motor.set_effort(state, effort)
            motor.set_effort_rate(state, rate)

    def forces(self, state: State, controls: Array) -> tuple[Array, Array]:
        """Along the tendons, and of the actuators; and lengthening speeds of the muscles."""
        tendons, speeds = self.tendons(state)
        return np.concatenate([tendons, controls[self.n :] * self.optimal]), speeds

    def tendons(self, state: State) -> tuple[Array, Array]:
        """Forces of the muscles in a state, and lengthening speeds: paths are found by compiled code, all at once."""
        if not self.n:
            return np.zeros(0), np.zeros(0)
        row = np.array([state.time], float), np.array(state.q)[None], np.array(state.u)[None]
        lengths, speeds, _ = paths_over(self.model.system, self.bare, list(self.muscles.values()), *row)
        found = tendon_forces(state, list(self.muscles.values()), lengths[0], speeds[0])
        return found, speeds[0]

    def reach(self, t: float, h: float, z: Array, excitations: Array, offset: tuple[Array, Array], hold: bool = False) -> Array:
        """The muscles' variables after a time under excitations, with coordinates beside the wanted ones; or held there."""
        now, system, z = self.moved, self.model.system, np.array(z)
        for one, value in zip(self.muscles.values(), excitations.tolist(), strict=True):
            one.set_excitation(now, value)
        if len(z):
            now.time, (now.q, now.u), now.z = t, self.wanted(t), z
            system.realize(now, Stage.ACCELERATION)
            address, wanted = realize.advance.address(), validity.WANTED[Stage.DYNAMICS]
            times = np.array([t, t + h, min(h, 0.002)])
            motion = (*self.wanted.pieces, *offset, times, hold)
            if not reach(now, address, wanted, *motion, _TOLERANCE, z, np.empty((ROWS, len(z)))):
                raise ConvergenceError(f"muscles cannot be followed from time {t:g} on: steps become too short")
        end = t if hold else t + h
        q, u = self.wanted(end)
        now.time, now.q, now.u, now.z = end, q + offset[0], (0.0 if hold else 1.0) * (u + offset[1]), z
        system.realize(now, Stage.ACCELERATION)
        return z

    def begin(self, state: State) -> None:
        """Fibers in balance; those too slack for it at their shortest, as in OpenSim, from where the controller takes them."""
        self.model.system.realize(state, Stage.VELOCITY)
        for one in self.muscles.values():
            try:
                one.equilibrate(state)
            except ConvergenceError:
                self.model.system.realize(state, Stage.VELOCITY)
                one.equilibrate(state, as_opensim=True)

    # ------------------------------------------------------------------------------------------ a window

    def controls(self, state: State, h: float) -> Array:
        """The controls of the window that begins with a state."""
        t = float(state.time)
        self.set_bounds(t)
        q, u = self.wanted(t)
        offset = np.array(state.q) - q, np.array(state.u) - u
        z, n = np.array(state.z), self.n
        low, high = self.low.copy(), self.high.copy()
        low[n:], high[n:] = low[n:] * self.optimal, high[n:] * self.optimal
        for bound, excitation in ((low, self.low[:n]), (high, self.high[:n])):
            self.reach(t, h, z, excitation, offset)
            bound[:n] = self.tendons(self.moved)[0]
        if not n:
            self.reach(t, h, z, np.zeros(0), offset)
        errors, rates = self.rows.errors(state)
        kp, kv, ka = self.rows.gains.T
        aims = kp * errors + kv * rates + ka * self.rows.accelerations(t + h)
        forces = self.least(t, aims, np.minimum(low, high), np.maximum(low, high), errors)
        found = np.empty(len(forces))
        found[n:] = forces[n:] / self.optimal
        found[:n] = self._excitations(t, h, z, offset, forces[:n], low[:n], high[:n])
        return found

    def least(self, t: float, aims: Array, low: Array, high: Array, errors: Array) -> Array:
        """The forces with the least sum of squares, where `reach` has left the model."""
        A, b, optimal = self.linear(self.moved)
        B = (A * optimal)[None]
        scale = np.ones(len(optimal))
        if not self.exact:
            weight = np.sqrt(self.rows.weights)
            B = np.concatenate([B * weight[:, None], -np.eye(len(aims))[None]], axis=2)
            aims, b = aims * weight, b * weight
            share = [
                1.0 / (1.0 + np.exp((abs(error) - limit) / (0.1 * limit)))
                for limit, error in zip(self.rows.limits.tolist(), errors.tolist(), strict=True)
                if limit > 0.0
            ]
            scale = np.concatenate([scale * max(min(share, default=1.0), 1e-9), np.ones(len(aims))])
        slack = np.full(len(scale) - len(low), np.inf)
        ends = low / optimal, high / optimal  # the other way round where an optimal force is negative
        lows, highs = np.concatenate([np.minimum(*ends), -slack]), np.concatenate([np.maximum(*ends), slack])
        found, missing = solve(B, (aims - b)[None], lows, highs, scale, 2.0)
        bound = _MISSING * (1.0 + np.abs(aims).max(initial=0.0)) + _ROUNDING * np.abs(B[0]).max(axis=1, initial=0.0)
        if (np.abs(missing[0]) > bound).any():
            worst = int((np.abs(missing[0]) / bound).argmax())
            raise ConvergenceError(
                f"at time {t:g} nothing within the bounds gives the wanted accelerations: of "
                f"{self.rows.labels[worst]!r} {missing[0, worst]:.6g} of {aims[worst]:.6g} is missing. Give reserve=..., wider "
                "bounds, or exact=False"
            )
        return np.asarray(found[0, : len(low)] * optimal)

    def linear(self, at: State) -> tuple[Array, Array, Array]:
        """Accelerations that tasks are of, by unit forces and without any, and optimal forces."""
        bare, system = self.bare, self.model.system
        bare.time, bare.q, bare.u, bare.z = float(at.time), at.q, at.u, at.z
        system.realize(bare, Stage.ACCELERATION)
        b = np.array(bare.u_dot)
        given = np.array([at.time], float), np.array(at.q)[None], np.array(at.u)[None]
        lengths, speeds, arms = paths_over(system, bare, list(self.muscles.values()), *given)
        columns = np.concatenate([arms[0].T, self.unit_forces(at)], axis=1)
        system.realize(bare, Stage.VELOCITY)
        A = responses(self.model, bare, columns).T
        J, bias = self.rows.linear(bare)
        if self.exact:
            strengths = strengths_of(self.muscles, lengths, speeds, True, self.as_opensim)[0][0] if self.n else np.zeros(0)
        else:
            strengths = np.array([one.get_default_max_isometric_force() for one in self.muscles.values()])
        return J @ A, J @ b + bias, np.concatenate([np.maximum(strengths, 1e-6), self.optimal])

    def unit_forces(self, at: State) -> Array:
        """Generalized forces (nu, n) of the actuators at a force of 1; efforts of those that depend on the pose become 0."""
        matter, columns = self.model.matter, self._columns.copy()
        if not self._others:
            return columns
        for one in self._others.values():
            one.set_effort(at, 1.0)
        self.model.system.realize(at, Stage.DYNAMICS)
        for j, one in self._others.items():
            bodies, _, mobilities = one.calc_force_contribution(at)
            columns[:, j] = mobilities + matter.multiply_by_system_jacobian_transpose(at, bodies)
        for one in self._others.values():
            one.set_effort(at, 0.0)
        return columns

    def _excitations(
        self, t: float, h: float, z: Array, offset: tuple[Array, Array], forces: Array, low: Array, high: Array
    ) -> Array:
        """Those under which muscles reach the forces; all at once, each by the Illinois method."""
        left, right = self.low[: self.n].copy(), self.high[: self.n].copy()
        f_left, f_right = low - forces, high - forces
        range_ = high - low
        found, side = left.copy(), np.zeros(self.n)
        open_ = range_ > 1e-9 * (1.0 + np.abs(high))
        done = _REACHED * np.abs(range_)
        for end, f in ((left, f_left), (right, f_right)):
            there = open_ & (np.abs(f) <= done)
            found[there] = end[there]
            open_ &= ~there
        for _ in range(_ROUNDS):
            if not open_.any():
                break
            width = np.where(open_, f_right - f_left, 1.0)
            found[open_] = (left - f_left * (right - left) / width)[open_]
            self.reach(t, h, z, found, offset)
            f = self.tendons(self.moved)[0] - forces
            below = f < 0.0
            for which, end, own, other, sign in ((below, left, f_left, f_right, -1.0), (~below, right, f_right, f_left, 1.0)):
                now = open_ & which
                end[now], own[now] = found[now], f[now]
                other[now & (side == sign)] *= 0.5
                side[now] = sign
            open_ &= (np.abs(f) > done) & (right - left > 1e-12)
        return found
