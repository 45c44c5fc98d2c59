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
from ..errors import ConvergenceError
from ..importer.external_loads import Applied
from ..importer.formats import as_model
from ..importer.model import Model
from ..motion_data import Table
from ..muscle import Millard2012Equilibrium, Muscle
from ..simulation.trajectory import Trajectory
from ..state.state import State
from ..value import checks
from ._balance import Balance, MusclesOverMotion
from ._dual_newton import solve
from .dynamics import Loads
from .motion import DEGREE

#: Rounds until tendons are as long as their forces make them, and which change of activations ends them.
_ROUNDS, _SETTLED = 100, 1e-6


class StaticOptimization(MusclesOverMotion):
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

    def __init__(self, own: Balance, a: Array, strengths: Array, cost: Array) -> None:
        n, what = len(own.names), "Static Optimization"
        activations = own.table(own.names, a[:, :n], f"{what} Activations")
        forces = np.hstack([strengths, np.broadcast_to(own.optimal, (len(cost), len(own.optimal)))])
        super().__init__(own, what, activations, a[:, :n] * forces, a[:, n:], cost)

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
    model, p = as_model(model), checks.finite("exponent", exponent)
    if not p > 1.0:
        raise ValueError(f"exponent has to be above 1, got {p:g}")
    own = Balance.of(
        model, motion, external_loads, reserve, weights, bounds, state, applied=applied, cutoff=cutoff, load_cutoff=load_cutoff,
        filter=filter, degree=degree, start=start, end=end, progress=progress, by_speeds=as_opensim,
    )  # fmt: skip
    time, muscles = own.taken.time, own.muscles

    def found_with(given: Array | None) -> tuple[Array, Array, Array]:
        """Activations, forces of each at 1, and passive forces, with tendons that are so much longer than slack ones."""
        stretch = np.zeros_like(own.lengths) if given is None else given
        rate = np.gradient(stretch, time, axis=0) if len(time) > 1 else np.zeros_like(stretch)
        strengths, passive = strengths_of(muscles, own.lengths - stretch, own.speeds - rate, muscle_physiology, as_opensim)
        wanted = own.tau - np.einsum("tj,tju->tu", passive, own.arms) if passive_force else own.tau
        rows = own.along(own.columns(strengths)).transpose(0, 2, 1)
        a, missing = solve(rows, own.along(wanted[:, None])[:, 0], own.low, own.high, own.weights, p)
        own.check("static optimization", wanted, missing)
        return a, strengths, passive * passive_force

    a, strengths = _settled(muscles, found_with) if tendon_compliance else found_with(None)[:2]
    return StaticOptimization(own, a, strengths, (own.weights * np.abs(a) ** p).sum(axis=1))


def strengths_of(
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
