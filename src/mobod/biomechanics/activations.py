"""Static optimization: which muscles make a motion, frame by frame, with the least sum of powers of their activations.

    minimize sum of w |a|^p      subject to N^T (sum of r_i F_i a_i + reserves) = N^T tau,  low <= a <= high

tau is what inverse dynamics finds, r the moment arms, F the active force along a rigid tendon at full activation, N the speeds
that constraints and locks leave. Source: Crowninshield and Brand 1981, J. Biomech. 14, 793; F as in OpenSim's tool, but for the
pennation angle, which is the fiber's (#4390 there).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..algebra.arrays import Array
from ..errors import ConvergenceError, ModelError
from ..importer.external_loads import Applied
from ..importer.formats import as_model
from ..motion_data import Table
from ..muscle import Muscle
from ..simulation.trajectory import Trajectory
from ..value import checks
from ..value.stage import Stage
from ._dual_newton import solve
from ._path_sweep import paths_over
from .dynamics import Loads, inverse_dynamics
from .motion import DEGREE

if TYPE_CHECKING:
    from ..importer.model import Model
    from ..state.state import State

#: What of a coordinate's force may be missing, by the largest that it takes.
_MISSING = 1e-7
#: Singular values of the constraints' rows that count as zero, by the largest.
_RANK = 1e-9


class StaticOptimization:
    """Which muscles make a motion.

    Attributes
    ----------
    time : (nt,) array
    activations : Table
        Of each muscle; and the control of each of the model's coordinate actuators.
    forces : Table
        Along the tendons, and of the actuators.
    reserves : Table
        What each reserve gives, by the coordinate's name; empty without reserves.
    cost : (nt,) array
        The sum that is least.
    moment_arms : dict of str to (nt, nu) array
        Of each muscle.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb, numpy as np
    >>> leg = mb.load_osim(files("mobod") / "examples" / "leg6dof9musc.osim")
    >>> still = mb.Table(np.linspace(0, 0.1, 11), {name: np.zeros(11) for name in leg.coordinates})
    >>> found = mb.static_optimization(leg, still, reserve=100.0)
    >>> isinstance(found, mb.biomechanics.StaticOptimization), found.cost.shape
    (True, (11,))
    """

    def __init__(
        self, time: Array, names: Sequence[str], a: Array, forces: Array, held: Sequence[str], reserves: Array, cost: Array,
        arms: dict[str, Array],
    ) -> None:  # fmt: skip
        self.time, self.cost, self.moment_arms = time, cost, arms
        self.activations = Table(time, dict(zip(names, a.T, strict=True)), name="Static Optimization Activations")
        self.forces = Table(time, dict(zip(names, forces.T, strict=True)), name="Static Optimization Forces")
        self.reserves = Table(time, dict(zip(held, reserves.T, strict=True)), name="Static Optimization Reserves")

    def __repr__(self) -> str:
        return f"<StaticOptimization: {len(self.activations.labels)} actuators at {len(self.time)} times>"


def static_optimization(
    model: Model | str | os.PathLike[str],
    motion: Trajectory | Table | str | os.PathLike[str],
    external_loads: Loads = None,
    *,
    applied: Sequence[Applied] = (),
    exponent: float = 2.0,
    muscle_physiology: bool = True,
    passive_force: bool = False,
    reserve: float | Mapping[str, float] | None = None,
    weights: Mapping[str, float] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    cutoff: float | None = None,
    load_cutoff: float | None = None,
    filter: Literal["butterworth", "opensim"] = "butterworth",
    degree: int = DEGREE,
    start: float = -np.inf,
    end: float = np.inf,
    state: State | None = None,
    progress: bool | Callable[[int, int], Any] | None = None,
) -> StaticOptimization:
    """Find the activations that make a motion with the least sum of powers, frame by frame.

    Parameters
    ----------
    model : Model or path
        With muscles; its other force elements act, and its coordinate actuators take part with their optimal forces.
    motion : Trajectory, Table or path
        As for `inverse_dynamics`, which takes this, *external_loads*, *applied*, the cutoffs, *filter*, *degree*, *start* and
        *end*.
    external_loads : path, Table or list of ExternalForce, optional
        Measured forces.
    applied : sequence of Applied
        Which columns of a table of loads act on which body.
    exponent : float
        Of the activations in the sum; above 1. From 1.5 to 6 the least sum is found to 1e-6; far beyond, rounding ends the
        search earlier.
    muscle_physiology : bool
        Whether the force at full activation depends on the fiber's length and velocity; else it is the largest isometric one.
    passive_force : bool
        Whether the muscles' passive forces act, too; OpenSim leaves them out.
    reserve : float or mapping of str to float, optional
        Actuators on all coordinates that can move, or on some by name, of that optimal force: force, or force*length. Their
        controls have no bounds, and cost as activations do.
    weights : mapping of str to float, optional
        Of activations in the sum, by name; 1 unless given.
    bounds : mapping of str to (float, float), optional
        Of activations; those of the file's controls unless given.
    cutoff, load_cutoff : float, optional
        Of the filters; 1/time.
    filter : {"butterworth", "opensim"}
        How coordinates are filtered.
    degree : {3, 5, 7}
        Of the splines that are differentiated.
    start, end : float
        Rows of the motion from and to these times.
    state : State, optional
        What else the model's state is.
    progress : bool or callable, optional
        Of the inverse dynamics.

    Returns
    -------
    StaticOptimization

    Raises
    ------
    ModelError
        If the model has no muscle that acts.
    ValueError
        If a name is none, the exponent is not above 1, or a bound or weight is wrong.
    ConvergenceError
        If nothing within the bounds makes a frame's motion: it names the time, the coordinate and what is missing.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb, numpy as np
    >>> leg = mb.load_osim(files("mobod") / "examples" / "leg6dof9musc.osim")
    >>> still = mb.Table(np.linspace(0, 0.1, 11), {name: np.zeros(11) for name in leg.coordinates})
    >>> found = mb.static_optimization(leg, still, reserve=100.0)
    >>> found.activations.labels[0], bool((found.activations["soleus_r"] <= 1.0).all())
    ('bifemlh_r', True)
    """
    model = as_model(model)
    muscles = {name: one for name, one in model.muscles.items() if isinstance(one, Muscle)}
    if not muscles:
        raise ModelError(f"{model.name!r} has no muscle that acts; static_optimization is about them")
    p = checks.finite("exponent", exponent)
    if not p > 1.0:
        raise ValueError(f"exponent has to be above 1, got {p:g}")
    taken = inverse_dynamics(
        model, motion, external_loads, applied=applied, cutoff=cutoff, load_cutoff=load_cutoff, filter=filter, degree=degree,
        start=start, end=end, state=state, progress=progress,
    )  # fmt: skip
    tau = np.stack([taken.forces[label] for label in taken.forces.labels], axis=1)
    begin = model.default_state() if state is None else state.copy()
    for one in muscles.values():
        one.disable(begin)
    model.system.realize(begin, Stage.INSTANCE)
    lengths, speeds, arms = paths_over(model.system, begin, list(muscles.values()), taken.time, taken.q, taken.u)
    strengths = np.empty_like(lengths)
    for j, one in enumerate(muscles.values()):
        active, passive = one.calc_rigid_tendon_forces(lengths[:, j], speeds[:, j])
        strengths[:, j] = active if muscle_physiology else one.get_default_max_isometric_force()
        if passive_force:
            tau = tau - passive[:, None] * arms[:, j]
    names, gains, low, high = [*muscles], [arms * strengths[:, :, None]], *_bounds(model, muscles)
    forces = [strengths]
    for name, place, optimal in _actuators(model, begin):
        column = np.zeros((len(tau), 1, tau.shape[1]))
        column[:, 0, place] = optimal
        names, gains, forces = [*names, name], [*gains, column], [*forces, np.full((len(tau), 1), optimal)]
        bound = model.data.get("control ranges", {}).get(name, (-np.inf, np.inf))
        low, high = [*low, bound[0]], [*high, bound[1]]
    held = _reserves(model, reserve)
    for place, optimal in held.values():
        column = np.zeros((len(tau), 1, tau.shape[1]))
        column[:, 0, place] = optimal
        gains = [*gains, column]
    w, bound_low, bound_high = _settings(names, weights, bounds, low, high)
    n = len(names)
    w, lows, highs = (
        np.concatenate([own, np.full(len(held), value)])
        for own, value in ((w, 1.0), (bound_low, -np.inf), (bound_high, np.inf))
    )
    free = _free_speeds(model, begin, taken.time, taken.q)
    R = np.concatenate(gains, axis=1)
    a, missing = solve(np.einsum("tuk,tju->tkj", free, R), np.einsum("tuk,tu->tk", free, tau), lows, highs, w, p)
    _check(model, taken.time, tau, R, a, free, missing)
    reserves = a[:, n:] * np.array([optimal for _, optimal in held.values()])
    cost = (w * np.abs(a) ** p).sum(axis=1)
    each = {name: arms[:, j] for j, name in enumerate(muscles)}
    return StaticOptimization(taken.time, names, a[:, :n], a[:, :n] * np.hstack(forces), [*held], reserves, cost, each)


def _bounds(model: Model, muscles: Mapping[str, Muscle]) -> tuple[list[float], list[float]]:
    ranges = model.data.get("control ranges", {})
    found = [ranges.get(name, (one.get_default_minimum_activation(), 1.0)) for name, one in muscles.items()]
    return [low for low, _ in found], [high for _, high in found]


def _actuators(model: Model, state: State) -> list[tuple[str, int, float]]:
    """The model's coordinate actuators: name, place of the speed, optimal force."""
    found = []
    for name, one in model.actuators.items():
        if type(one).__name__ == "CoordinateActuator" and not one.is_disabled(state):
            b, which = one.default_integers[:2]
            found.append((name, int(state.tree.first_u[b]) + which, float(one.optimal_force)))
    return found


def _reserves(model: Model, given: float | Mapping[str, float] | None) -> dict[str, tuple[int, float]]:
    """By the coordinate's name, the place of the speed and the optimal force."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        given = dict.fromkeys(model.speeds, checks.positive("reserve", given))
    for name in given:
        if name not in model.speeds:
            raise ValueError(f"reserve has the coordinate {name!r}; {checks.suggest(name, [*model.speeds])}")
    return {name: (model.speeds[name], checks.positive(f"reserve of {name!r}", value)) for name, value in given.items()}


def _settings(
    names: list[str],
    weights: Mapping[str, float] | None,
    bounds: Mapping[str, tuple[float, float]] | None,
    low: list[float],
    high: list[float],
) -> tuple[Array, Array, Array]:
    """Weights and bounds of each, with those that were given."""
    w, lows, highs = np.ones(len(names)), np.array(low, float), np.array(high, float)
    for what, given in (("weights", weights or {}), ("bounds", bounds or {})):
        for name in given:
            if name not in names:
                raise ValueError(f"{what} has {name!r}; {checks.suggest(name, names)}")
    for name, value in (weights or {}).items():
        w[names.index(name)] = checks.positive(f"weight of {name!r}", value)
    for name, (least, most) in (bounds or {}).items():
        if not least <= most:
            raise ValueError(f"bounds of {name!r} are two numbers in order, got {least} and {most}")
        lows[names.index(name)], highs[names.index(name)] = least, most
    return w, lows, highs


def _free_speeds(model: Model, state: State, time: Array, q: Array) -> Array:
    """Columns (nt, nu, k) of the speeds that locks, motions and constraints leave."""
    tree, nu = state.tree, len(state.u)
    held = np.zeros(nu, bool)
    for b in range(1, tree.nb):
        if state.field("prescribed")[b] != 0:
            held[tree.first_u[b] : tree.first_u[b] + tree.num_u[b]] = True
    kept = np.eye(nu)[:, ~held]
    if not model.matter.constraints:
        return np.broadcast_to(kept, (len(time), *kept.shape))
    found, least = [], nu
    for i, t in enumerate(time.tolist()):
        state.time, state.q = t, q[i]
        model.system.realize(state, Stage.VELOCITY)
        _, sizes, V = np.linalg.svd(model.matter.calc_g(state) @ kept)
        rank = int((sizes > _RANK * sizes.max(initial=1e-300)).sum())
        found.append(kept @ V[rank:].T)
        least = min(least, found[-1].shape[1])
    return np.stack([one[:, :least] for one in found])


def _check(model: Model, time: Array, tau: Array, R: Array, a: Array, free: Array, missing: Array) -> None:
    """Refuse frames that nothing within the bounds makes."""
    scale = 1.0 + np.abs(tau).max()
    bad = np.flatnonzero(np.abs(missing).max(axis=1, initial=0.0) > _MISSING * scale)
    if not len(bad):
        return
    i = int(bad[0])
    rest = free[i] @ missing[i]
    place = int(np.abs(rest).argmax())
    name = next((name for name, k in model.speeds.items() if k == place), str(place))
    raise ConvergenceError(
        f"static optimization: at time {time[i]:g} nothing within the bounds makes the motion: of coordinate {name!r} "
        f"{rest[place]:.6g} of {tau[i, place]:.6g} is missing ({len(bad)} of {len(time)} times are so). Give reserve=..., "
        "as for the coordinates that hold the model to Ground, or wider bounds"
    )


__all__ = ["StaticOptimization", "static_optimization"]
