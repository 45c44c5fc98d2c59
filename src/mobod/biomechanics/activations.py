"""Static optimization: which muscles make a motion, frame by frame, with the least sum of powers of their activations.

    minimize sum of w |a|^p      subject to N^T (sum of r_i F_i a_i + reserves) = N^T tau,  low <= a <= high

tau is what inverse dynamics finds, r the moment arms, F the active force along a rigid tendon at full activation, N the speeds
that constraints and locks leave. Source: Crowninshield and Brand 1981, J. Biomech. 14, 793; F as in OpenSim's tool, but for the
pennation angle, which is the fiber's (#4390 there).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ..algebra.arrays import Array
from ..errors import ConvergenceError, ModelError
from ..importer.external_loads import Applied
from ..importer.formats import as_model
from ..importer.model import Model
from ..motion_data import Table
from ..muscle import Millard2012Equilibrium, Muscle
from ..simulation.trajectory import Trajectory
from ..state.state import State
from ..value import checks
from ..value.stage import Stage
from ._dual_newton import solve
from ._path_sweep import paths_over
from .dynamics import Loads, dynamics_of
from .motion import DEGREE
from .states import acting_muscles, held_speeds, own_state

#: What of a coordinate's force may be missing, by the largest that it takes.
_MISSING = 1e-7
#: Singular values of the constraints' rows that count as zero, by the largest.
_RANK = 1e-9
#: Rounds until tendons are as long as their forces make them, and which change of activations ends them.
_ROUNDS, _SETTLED = 100, 1e-6


class StaticOptimization:
    """The activations and forces of muscles over a motion.

    Attributes
    ----------
    time : (nt,) array
    activations : Table
        Of each muscle; and the control of each of the model's actuators.
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
    tendon_compliance: bool = False,
    as_opensim: bool = False,
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
        With muscles; its other force elements act, and its actuators take part with their optimal forces. What *state* has
        switched off, or the file, takes no part.
    motion : Trajectory, Table or path
        As for `inverse_dynamics`, which takes this, *external_loads*, *applied*, the cutoffs, *filter*, *degree*, *start* and
        *end*.
    external_loads : path, Table or list of ExternalForce, optional
        Measured forces.
    applied : sequence of Applied
        Which columns of a table of loads act on which body.
    exponent : float
        Of the activations in the sum; above 1. Up to 2 activations are found to rounding; above, those that are so small that
        they hardly count in the sum are less exact.
    muscle_physiology : bool
        Whether the force at full activation depends on the fiber's length and velocity; else it is the largest isometric one.
    passive_force : bool
        Whether the muscles' passive forces act, too; OpenSim leaves them out.
    tendon_compliance : bool
        Whether tendons stretch: each fiber is shorter by what its tendon's force at the found activation stretches that, and
        its velocity is less by the rate of it. Frames are then found together, again and again until no activation changes by
        more than 1e-6; OpenSim's tendons are rigid here.
    as_opensim : bool
        Whether to repeat old results of OpenSim's: accelerations are then the slopes of splines through speeds, which noise
        changes, and the pennation angle of `Millard2012Equilibrium` is that of the normalized fiber length (#4390 there).
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
        If the model has no muscle that acts, or an actuator's optimal force is 0.
    ValueError
        If a name is none, the exponent is not above 1, or a bound or weight is wrong.
    ConvergenceError
        If nothing within the bounds makes a frame's motion: it names the time, the coordinate and what is missing. Or if
        activations do not settle with *tendon_compliance*: it names the muscle.

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
    begin, known = own_state(model, state), acting_muscles(model, None)
    muscles = {name: one for name, one in known.items() if not one.is_disabled(begin)}
    if not muscles:
        raise ModelError(f"{model.name!r} has no muscle that acts: all of them are switched off")
    p = checks.finite("exponent", exponent)
    if not p > 1.0:
        raise ValueError(f"exponent has to be above 1, got {p:g}")
    taken = dynamics_of(
        model, motion, external_loads, applied=applied, cutoff=cutoff, load_cutoff=load_cutoff, filter=filter, degree=degree,
        start=start, end=end, state=state, progress=progress, by_speeds=as_opensim,
    )  # fmt: skip
    tau = np.stack([taken.forces[label] for label in taken.forces.labels], axis=1)
    for one in muscles.values():
        one.disable(begin)
    model.system.realize(begin, Stage.INSTANCE)
    lengths, speeds, arms = paths_over(model.system, begin, list(muscles.values()), taken.time, taken.q, taken.u)
    free = _free_speeds(model, begin, taken.time, taken.q)
    others = _actuators(model, begin)
    held = _reserves(model, reserve)
    names, low, high = [*muscles, *others], *_bounds(model, muscles)
    for name in others:
        bound = model.data.get("control ranges", {}).get(name, (-np.inf, np.inf))
        low, high = [*low, bound[0]], [*high, bound[1]]
    w, bound_low, bound_high = _settings(names, [*known, *others], weights, bounds, low, high)
    n = len(names)
    optimal = np.array([float(getattr(one, "optimal_force", 1.0)) for one in others.values()])
    pushes = [_columns_of(model, begin, others, taken) * optimal[:, None]]
    pushes += [_column(len(tau), tau.shape[1], *one) for one in held.values()]
    w, lows, highs = (
        np.concatenate([own, np.full(len(held), value)])
        for own, value in ((w, 1.0), (bound_low, -np.inf), (bound_high, np.inf))
    )

    def found_with(given: Array | None) -> tuple[Array, Array, Array]:
        """Activations, forces of each at 1, and passive forces, with tendons that are so much longer than slack ones."""
        stretch = np.zeros_like(lengths) if given is None else given
        rate = np.gradient(stretch, taken.time, axis=0) if len(taken.time) > 1 else np.zeros_like(stretch)
        strengths, passive = _strengths(muscles, lengths - stretch, speeds - rate, muscle_physiology, as_opensim)
        wanted = tau - np.einsum("tj,tju->tu", passive, arms) if passive_force else tau
        R = np.concatenate([arms * strengths[:, :, None], *pushes], axis=1)
        rows = np.matmul(R, free).transpose(0, 2, 1)
        a, missing = solve(rows, np.matmul(wanted[:, None], free)[:, 0], lows, highs, w, p)
        _check(model, taken.time, wanted, R, a, free, missing)
        return a, strengths, passive * passive_force

    a, strengths = _settled(muscles, found_with) if tendon_compliance else found_with(None)[:2]
    reserves = a[:, n:] * np.array([strength for _, strength in held.values()])
    cost = (w * np.abs(a) ** p).sum(axis=1)
    each = {name: arms[:, j] for j, name in enumerate(muscles)}
    forces = np.hstack([strengths, np.broadcast_to(optimal, (len(tau), len(optimal)))])
    return StaticOptimization(taken.time, names, a[:, :n], a[:, :n] * forces, [*held], reserves, cost, each)


def _column(nt: int, nu: int, place: int, optimal: float) -> Array:
    """The mobility forces of an actuator of a coordinate at a control of 1: (nt, 1, nu)."""
    column = np.zeros((nt, 1, nu))
    column[:, 0, place] = optimal
    return column


def _strengths(
    muscles: Mapping[str, Muscle], lengths: Array, speeds: Array, muscle_physiology: bool, as_opensim: bool
) -> tuple[Array, Array]:
    """Active forces at full activation, and passive ones, (nt, n)."""
    strengths, passive = np.empty_like(lengths), np.empty_like(lengths)
    kinds = [type(one) for one in muscles.values()]
    for kind in dict.fromkeys(kinds):
        places = [j for j, own in enumerate(kinds) if own is kind]
        group = [one for one in muscles.values() if type(one) is kind]
        active, held = kind.rigid_tendon_forces_of(group, lengths[:, places].T, speeds[:, places].T)
        strengths[:, places], passive[:, places] = active.T, held.T
    for j, one in enumerate(muscles.values()):
        if not muscle_physiology:
            strengths[:, j] = one.get_default_max_isometric_force()
        elif as_opensim and isinstance(one, Millard2012Equilibrium):
            strengths[:, j] *= _wrong_cosines(one, lengths[:, j])
    return strengths, passive


def _wrong_cosines(one: Muscle, lengths: Array) -> Array:
    """OpenSim's cosine, of the pennation angle that a fiber of the normalized length would have, by the right one."""
    optimal, slack = one.get_default_optimal_fiber_length(), one.get_default_tendon_slack_length()
    height = optimal * np.sin(one.get_default_pennation_angle_at_optimal())
    fiber = np.hypot(np.maximum(lengths - slack, 0.0), height)
    fiber = np.maximum(fiber, max(height / np.sqrt(0.99), 0.01 * optimal))
    wrong, right = (
        np.maximum(np.sqrt(np.maximum(1.0 - (height / length) ** 2, 0.0)), 0.1) for length in (fiber / optimal, fiber)
    )
    return np.asarray(wrong / right)


def _settled(
    muscles: Mapping[str, Muscle], found_with: Callable[[Array | None], tuple[Array, Array, Array]]
) -> tuple[Array, Array]:
    """Activations, and forces at 1, where each tendon is as long as its force makes it."""
    curves = [_stretches(one) for one in muscles.values()]
    n, before, part, change = len(curves), np.inf, 1.0, np.zeros(1)
    a, strengths, passive = found_with(None)
    stretch = np.zeros_like(strengths)
    for _ in range(_ROUNDS):
        force = a[:, :n] * strengths + passive
        wanted = np.stack([np.interp(force[:, j], *curves[j]) for j in range(n)], axis=1)
        stretch = stretch + part * (wanted - stretch)
        then, strengths, passive = found_with(stretch)
        change = np.abs(then - a)[:, :n].max(axis=0)
        a = then
        if change.max() < _SETTLED:
            return a, strengths
        if change.max() > 0.7 * before:
            part = max(0.5 * part, 0.1)
        before = float(change.max())
    worst = [*muscles][int(change.argmax())]
    raise ConvergenceError(
        f"static optimization: with tendons that stretch the activation of {worst!r} does not settle, it still changes by "
        f"{change.max():.2g}; filter the motion (cutoff=...), or leave tendon_compliance out"
    )


def _stretches(one: Muscle) -> tuple[Array, Array]:
    """Forces along a tendon, and how much longer than slack it is at each; nothing of a rigid one."""
    strength, slack = one.get_default_max_isometric_force(), one.get_default_tendon_slack_length()
    if "fiber_length" not in one.state_variables and "normalized_tendon_force" not in one.state_variables:
        return np.array([0.0, strength]), np.zeros(2)
    strain = np.concatenate([np.linspace(0.0, 0.1, 401), [0.2]])
    force = strength * one.tendon_force_length(1.0 + strain)
    return force, slack * strain


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
