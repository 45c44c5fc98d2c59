"""Balance: forces that muscles and actuators have to give together over a motion, however activations are then found.

    N^T (sum of r_i f_i + reserves) = N^T tau

tau is what inverse dynamics finds, r the moment arms, f the forces, N the speeds that constraints and locks leave.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..errors import ConvergenceError, ModelError
from ..importer.model import Model
from ..motion_data import Table
from ..muscle import Muscle
from ..simulation.trajectory import Trajectory
from ..state.state import State
from ..value import checks
from ..value.stage import Stage
from ._path_sweep import paths_over
from .dynamics import InverseDynamics, Loads, dynamics_of
from .states import acting_muscles, held_speeds, own_state

#: What of a coordinate's force may be missing, by the largest that it takes.
_MISSING = 1e-7
#: Singular values of the constraints' rows that count as zero, by the largest.
_RANK = 1e-9


@dataclasses.dataclass(eq=False)
class Balance:
    """Muscles, actuators and reserves of a model over a motion, and the generalized forces that they have to give.

    Controls are those of the muscles, of the actuators and of the reserves, in this order.
    """

    model: Model
    muscles: dict[str, Muscle]
    taken: InverseDynamics
    tau: Array  # (nt, nu)
    lengths: Array  # (nt, n) of paths, and their rates
    speeds: Array
    arms: Array  # (nt, n, nu)
    free: Array  # (nt, nu, k) columns N
    names: list[str]  # of muscles and actuators
    optimal: Array  # forces of actuators
    pushes: Array  # (nt, m, nu) of actuators and reserves at a control of 1
    held: dict[str, tuple[int, float]]  # reserves: by the coordinate's name, the place of the speed and the optimal force
    weights: Array  # of all controls, and their bounds
    low: Array
    high: Array

    @classmethod
    def of(
        cls,
        model: Model,
        motion: Trajectory | Table | str | os.PathLike[str],
        external_loads: Loads,
        reserve: float | Mapping[str, float] | None,
        weights: Mapping[str, float] | None,
        bounds: Mapping[str, tuple[float, float]] | None,
        state: State | None,
        **dynamics: Any,
    ) -> Balance:
        """Of a motion that `dynamics_of` takes with these arguments."""
        begin, known = own_state(model, state), acting_muscles(model, None)
        muscles = {name: one for name, one in known.items() if not one.is_disabled(begin)}
        if not muscles:
            raise ModelError(f"{model.name!r} has no muscle that acts: all of them are switched off")
        taken = dynamics_of(model, motion, external_loads, state=state, **dynamics)
        tau = np.stack([taken.forces[label] for label in taken.forces.labels], axis=1)
        for one in muscles.values():
            one.disable(begin)
        model.system.realize(begin, Stage.INSTANCE)
        lengths, speeds, arms = paths_over(model.system, begin, list(muscles.values()), taken.time, taken.q, taken.u)
        free = _free_speeds(model, begin, taken.time, taken.q)
        others, held = _actuators(model, begin), _reserves(model, reserve)
        names, low, high = [*muscles, *others], *_bounds(model, muscles)
        for name in others:
            bound = model.data.get("control ranges", {}).get(name, (-np.inf, np.inf))
            low, high = [*low, bound[0]], [*high, bound[1]]
        own = _settings(names, [*known, *others], weights, bounds, low, high)
        optimal = np.array([float(getattr(one, "optimal_force", 1.0)) for one in others.values()])
        pushes = [_columns_of(model, begin, others, taken) * optimal[:, None]]
        pushes += [_column(len(tau), tau.shape[1], *one) for one in held.values()]
        all_of = (np.append(one, np.full(len(held), more)) for one, more in zip(own, (1.0, -np.inf, np.inf), strict=True))
        return cls(
            model, muscles, taken, tau, lengths, speeds, arms, free, names, optimal, np.concatenate(pushes, axis=1), held,
            *all_of,
        )  # fmt: skip

    def columns(self, strengths: Array) -> Array:
        """Generalized forces (nt, m, nu) of all controls at 1, of muscles with these forces (nt, n)."""
        return np.concatenate([self.arms * strengths[:, :, None], self.pushes], axis=1)

    def along(self, rows: Array) -> Array:
        """Generalized forces (nt, m, nu) along the speeds that are free (nt, m, k)."""
        return np.matmul(rows, self.free)

    def table(self, names: Iterable[str], columns: Array, name: str) -> Table:
        """Columns (nt, n) over the motion's times."""
        return Table(self.taken.time, dict(zip(names, columns.T, strict=True)), name=name)

    def check(self, what: str, wanted: Array, missing: Array) -> None:
        """Refuse times at which of the *wanted* forces (nt, nu) some along free speeds are *missing* (nt, k)."""
        scale = 1.0 + np.abs(wanted).max()
        bad = np.flatnonzero(np.abs(missing).max(axis=1, initial=0.0) > _MISSING * scale)
        if not len(bad):
            return
        i = int(bad[0])
        rest = self.free[i] @ missing[i]
        place = int(np.abs(rest).argmax())
        name = next((name for name, k in self.model.speeds.items() if k == place), str(place))
        raise ConvergenceError(
            f"{what}: at time {self.taken.time[i]:g} nothing within the bounds makes the motion: of coordinate {name!r} "
            f"{rest[place]:.6g} of {wanted[i, place]:.6g} is missing ({len(bad)} of {len(wanted)} times are so). Give "
            "reserve=..., as for the coordinates that hold the model to Ground, or wider bounds"
        )


class MusclesOverMotion:
    """Results of a method that shares forces out among muscles; each method has more of its own.

    Parameters
    ----------
    own : Balance
    what : str
        The method's name, with which those of tables begin.
    activations : Table
    forces : (nt, m) array
        Of muscles and actuators.
    held : (nt, k) array
        Controls of the reserves.
    cost : array or float
    """

    def __init__(self, own: Balance, what: str, activations: Table, forces: Array, held: Array, cost: Any) -> None:
        strengths = np.array([strength for _, strength in own.held.values()])
        self.time, self.cost, self.activations = own.taken.time, cost, activations
        self.forces = own.table(own.names, forces, f"{what} Forces")
        self.reserves = own.table(own.held, held * strengths, f"{what} Reserves")
        self.moment_arms = {name: own.arms[:, j] for j, name in enumerate(own.muscles)}


def _column(nt: int, nu: int, place: int, optimal: float) -> Array:
    """The mobility forces of an actuator of a coordinate at a control of 1: (nt, 1, nu)."""
    column = np.zeros((nt, 1, nu))
    column[:, 0, place] = optimal
    return column


def _bounds(model: Model, muscles: Mapping[str, Muscle]) -> tuple[list[float], list[float]]:
    ranges = model.data.get("control ranges", {})
    found = [ranges.get(name, (one.get_default_minimum_activation(), 1.0)) for name, one in muscles.items()]
    return [low for low, _ in found], [high for _, high in found]


def _actuators(model: Model, state: State) -> dict[str, Any]:
    """The model's actuators that are driven by a control: of coordinates, points, torques, paths."""
    found = {name: one for name, one in model.actuators.items() if hasattr(one, "set_effort") and not one.is_disabled(state)}
    for name, one in found.items():
        if checks.finite(f"the optimal force of {name!r}", float(getattr(one, "optimal_force", 1.0))) == 0.0:
            raise ModelError(f"the optimal force of {name!r} is 0: no control makes it act; give another, or disable it")
    return found


def _columns_of(model: Model, begin: State, others: Mapping[str, Any], taken: Any) -> Array:
    """Mobility forces of actuators at a force of 1: (nt, n, nu)."""
    state, found = begin.copy(), np.zeros((len(taken.time), len(others), len(begin.u)))
    posed = {}
    for j, one in enumerate(others.values()):
        if type(one).__name__ == "CoordinateActuator":
            b, which = one.default_integers[:2]
            found[:, j, state.tree.first_u[b] + which] = 1.0
        else:
            posed[j] = one
            one.set_effort(state, 1.0)
    for i, t in enumerate(taken.time.tolist() if posed else ()):
        state.time, state.q, state.u = t, taken.q[i], taken.u[i]
        model.system.realize(state, Stage.DYNAMICS)
        for j, one in posed.items():
            bodies, _, mobilities = one.calc_force_contribution(state)
            found[i, j] = mobilities + model.matter.multiply_by_system_jacobian_transpose(state, bodies)
    return found


def _reserves(model: Model, given: float | Mapping[str, float] | None) -> dict[str, tuple[int, float]]:
    """By the coordinate's name, the place of the speed and the optimal force."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        given = dict.fromkeys(model.speeds, checks.positive("reserve", given))
    checks.all_known("reserve has the coordinate", given, model.speeds)
    return {name: (model.speeds[name], checks.positive(f"reserve of {name!r}", value)) for name, value in given.items()}


def _settings(
    names: list[str],
    known: list[str],
    weights: Mapping[str, float] | None,
    bounds: Mapping[str, tuple[float, float]] | None,
    low: list[float],
    high: list[float],
) -> tuple[Array, Array, Array]:
    """Weights and bounds of each, with those that were given; of what is known and does not act they count for nothing."""
    w, lows, highs = np.ones(len(names)), np.array(low, float), np.array(high, float)
    for what, given in (("weights", weights or {}), ("bounds", bounds or {})):
        checks.all_known(f"{what} has", given, known)
    at = {name: place for place, name in enumerate(names)}
    for name, value in (weights or {}).items():
        weight = checks.positive(f"weight of {name!r}", value)
        if name in at:
            w[at[name]] = weight
    for name, (least, most) in (bounds or {}).items():
        if not least <= most:
            raise ValueError(f"bounds of {name!r} are two numbers in order, got {least} and {most}")
        if name in at:
            lows[at[name]], highs[at[name]] = least, most
    return w, lows, highs


def _free_speeds(model: Model, state: State, time: Array, q: Array) -> Array:
    """Columns (nt, nu, k) of the speeds that locks, motions and constraints leave."""
    kept = np.eye(len(state.u))[:, ~held_speeds(state)]
    if not model.matter.constraints:
        return np.broadcast_to(kept, (len(time), *kept.shape))
    rows = []
    for i, t in enumerate(time.tolist()):
        state.time, state.q = t, q[i]
        model.system.realize(state, Stage.VELOCITY)
        rows.append(model.matter.calc_g(state) @ kept)
    alike = len({one.shape for one in rows}) == 1  # then all at once
    split = [np.linalg.svd(np.stack(rows))[1:]] if alike else [np.linalg.svd(one[None])[1:] for one in rows]
    sizes, V = ([one for found in split for one in found[k]] for k in (0, 1))
    ranks = [int((one > _RANK * one.max(initial=1e-300)).sum()) for one in sizes]
    least = kept.shape[1] - max(ranks, default=0)
    return np.stack([kept @ one[rank : rank + least].T for rank, one in zip(ranks, V, strict=True)])
