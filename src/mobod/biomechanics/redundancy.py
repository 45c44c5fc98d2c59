"""Muscle redundancy: excitations that make a motion, with activations that follow them and tendons that stretch.

    minimize    integral of (sum of w |control|^p + rate_weight sum of f'^2)
    subject to  activation and tendon dynamics of each muscle,  N^T (sum of r_i F_i + reserves) = N^T tau,  bounds

tau is what inverse dynamics finds, r the moment arms, F tendon forces, f these by the largest isometric one, N the speeds that
constraints and locks leave. As the motion is known, no body is looked at while it is solved: `_redundancy_program` has the
equations. Source: De Groote, Kinney, Rao and Fregly 2016, Ann. Biomed. Eng. 44, 2922; MocoInverse of OpenSim is of this kind.
"""

from __future__ import annotations

import os
import time as _clock
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ..algebra.arrays import Array
from ..errors import ConvergenceError
from ..importer.external_loads import Applied
from ..importer.formats import as_model
from ..importer.model import Model
from ..importer.osim.model_operators import replace_muscles
from ..motion_data import Table
from ..muscle import DeGrooteFregly2016
from ..optimal.collocate import SCHEMES
from ..optimal.mesh import Mesh
from ..optimal.solution import Solution
from ..optimal.solving import chosen_solver, shown, solve
from ..simulation.trajectory import Trajectory
from ..state.state import State
from ..value import checks
from . import _dual_newton
from ._balance import Balance, MusclesOverMotion
from ._redundancy_program import LEAST, MOST, Program
from .dynamics import Loads
from .motion import DEGREE

#: Schemes that have controls at the first node.
_KNOWN = {name: one for name, one in SCHEMES.items() if one.has_first}
#: Activations from which the solver begins, away from its bounds.
_FIRST = 0.02
#: Of equilibria and the rest: what is no longer met.
_UNMET = 1e-5


class MuscleRedundancy(MusclesOverMotion):
    """The excitations, activations and fibers of muscles over a motion.

    Attributes
    ----------
    time : (nt,) array
        Of the nodes.
    model : Model
        Whose muscles these are: of `DeGrooteFregly2016`.
    excitations : Table
        Of each muscle; and the control of each of the model's actuators.
    activations : Table
        Of each muscle.
    forces : Table
        Along the tendons, and of the actuators.
    fiber_lengths : Table
        Length.
    normalized_tendon_forces : Table
        By the largest isometric force, of muscles whose tendon stretches: their variable.
    reserves : Table
        What each reserve gives, by the coordinate's name; empty without reserves.
    cost : float
        The integral that is least.
    moment_arms : dict of str to (nt, nu) array
        Of each muscle.
    statistics : dict
        ``"status"``, ``"iterations"``, ``"solver"``, ``"wall_time"``; ``"missed"``, the largest residual of equations, of
        forces by the largest one; ``"unknowns"`` and ``"multipliers"``, for the next solution to begin with.

    Examples
    --------
    Another cost begins from what the first one found.

    >>> from importlib.resources import files
    >>> import mobod as mb, numpy as np
    >>> arm = files("mobod") / "examples" / "arm26.osim"
    >>> pose = {"r_shoulder_elev": 0.3, "r_elbow_flex": 1.0}
    >>> still = mb.Table(np.linspace(0, 0.1, 11), {name: np.full(11, q) for name, q in pose.items()})
    >>> squares = mb.muscle_redundancy(arm, still, reserve=1.0, intervals=2)
    >>> cubes = mb.muscle_redundancy(arm, still, reserve=1.0, intervals=2, exponent=3.0, guess=squares)
    >>> cubes, cubes.cost < squares.cost
    (<MuscleRedundancy: 6 muscles at 5 times>, True)
    """

    def __init__(self, program: Program, found: Solution, statistics: dict[str, Any]) -> None:
        own, v, what = program.own, found.v, "Muscle Redundancy"
        muscles, others = list(own.muscles), own.names[len(own.muscles) :]
        a, c = v[program.at["a"]], v[program.at["c"]]
        e = a.copy()
        e[:, program.active] = v[program.at["e"]]
        given, held = c[:, : len(others)], c[:, len(others) :]
        activations = own.table(muscles, a, f"{what} Activations")
        super().__init__(
            own, what, activations, np.hstack([program.tendon_forces(v), given * own.optimal]), held, program.cost(v)
        )
        self.model, self.statistics = own.model, statistics
        self.excitations = own.table(own.names, np.hstack([e, given]), f"{what} Excitations")
        self.fiber_lengths = own.table(muscles, program.fiber_lengths(v), f"{what} Fiber Lengths")
        elastic = [muscles[j] for j in program.elastic]
        self.normalized_tendon_forces = own.table(elastic, v[program.at["f"]], f"{what} Normalized Tendon Forces")

    def __repr__(self) -> str:
        return f"<MuscleRedundancy: {len(self.activations.labels)} muscles at {len(self.time)} times>"


def muscle_redundancy(
    model: Model | str | os.PathLike[str],
    motion: Trajectory | Table | str | os.PathLike[str],
    external_loads: Loads = None,
    *,
    applied: Sequence[Applied] = (),
    exponent: float = 2.0,
    rate_weight: float = 1e-4,
    reserve: float | Mapping[str, float] | None = None,
    weights: Mapping[str, float] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    scheme: Literal["hermite-simpson", "trapezoidal"] = "hermite-simpson",
    intervals: int = 50,
    guess: MuscleRedundancy | None = None,
    cutoff: float | None = None,
    load_cutoff: float | None = None,
    filter: Literal["butterworth", "opensim"] = "butterworth",
    degree: int = DEGREE,
    start: float = -np.inf,
    end: float = np.inf,
    state: State | None = None,
    tolerance: float = 1e-6,
    max_iterations: int = 1000,
    solver: str | None = None,
    progress: bool | Callable[[int, float, float], Any] | None = None,
    options: Mapping[str, Any] | None = None,
) -> MuscleRedundancy:
    """Find the excitations that make a motion at least cost, over all times together, by direct collocation.

    Parameters
    ----------
    model : Model or path
        With muscles. Those of other kinds than `DeGrooteFregly2016` become ones, as `biomechanics.replace_muscles` makes them.
        Tendons stretch and activations follow excitations unless the muscles ignore that:
        `biomechanics.ignore_tendon_compliance`, `biomechanics.ignore_activation_dynamics`. Other force elements act, and
        actuators take part with their optimal forces. What *state* has switched off, or the file, takes no part.
    motion : Trajectory, Table or path
        As for `inverse_dynamics`, which takes this, *external_loads*, *applied*, the cutoffs, *filter*, *degree*, *start* and
        *end*; its splines give the motion at the nodes.
    external_loads : path, Table or list of ExternalForce, optional
        Measured forces.
    applied : sequence of Applied
        Which columns of a table of loads act on which body.
    exponent : float
        Of the controls in the cost; 2 or more. Controls are excitations, and those of actuators and reserves.
    rate_weight : float
        Of the squared rates of normalized tendon forces in the cost; time^2.
    reserve : float or mapping of str to float, optional
        Actuators on all coordinates that can move, or on some by name, of that optimal force: force, or force*length. Their
        controls have no bounds, and cost as excitations do.
    weights : mapping of str to float, optional
        Of controls in the cost, by name; 1 unless given.
    bounds : mapping of str to (float, float), optional
        Of excitations and activations, and of actuators' controls; those of the file's controls unless given.
    scheme : {"hermite-simpson", "trapezoidal"}
        States are of order 4 and 2.
    intervals : int
        Of the mesh, alike in length.
    guess : MuscleRedundancy, optional
        Of the same muscles and intervals, from which to begin; static optimization with rigid tendons unless given.
    cutoff, load_cutoff : float, optional
        Of the filters; 1/time.
    filter : {"butterworth", "opensim"}
        How coordinates are filtered.
    degree : {3, 5, 7}
        Of the splines that are differentiated.
    start, end : float
        Of the mesh: from and to the rows between these times.
    state : State, optional
        What else the model's state is; only of a model whose muscles all are `DeGrooteFregly2016`.
    tolerance : float
        Of the solver: of optimality, and of what is left of equations.
    max_iterations : int
        Of the solver.
    solver : {"ipopt", "scipy"}, optional
        IPOPT needs ``pip install 'mobod[casadi]'``, and is taken where that is there; SciPy's is some five times slower.
    progress : bool or callable, optional
        True prints a line now and then; a callable gets the iteration, the cost, and how far equations are missed.
    options : mapping, optional
        Further settings of the solver.

    Returns
    -------
    MuscleRedundancy

    Raises
    ------
    ModelError
        If the model has no muscle that acts, its muscles cannot be replaced, or an actuator's optimal force is 0.
    ValueError
        If a name is none, the exponent is below 2, a bound or weight is wrong, or the motion has too few rows.
    ConvergenceError
        If nothing within the bounds makes the motion: it names the time, the coordinate and what is missing. Or if the solver
        finds no solution: it names what is not met.

    See Also
    --------
    static_optimization : frame by frame, without dynamics of muscles; much faster.

    Notes
    -----
    Activation and excitation are equal at the first node, as in MocoInverse. Tendon forces there are free, and so change fast
    for some hundredths of a second: begin that much before what counts. Normalized ones are from 0 to 5. Passive forces act,
    and damping where tendons are rigid: as in simulations of such muscles. First and second derivatives are exact.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb, numpy as np
    >>> leg = mb.biomechanics.replace_muscles(files("mobod") / "examples" / "leg6dof9musc.osim", "DeGrooteFregly2016")
    >>> leg = mb.biomechanics.ignore_tendon_compliance(leg)
    >>> still = mb.Table(np.linspace(0, 0.1, 11), {name: np.zeros(11) for name in leg.coordinates})
    >>> found = mb.muscle_redundancy(leg, still, reserve=100.0, intervals=2, scheme="trapezoidal")
    >>> found.activations.labels[0], bool(found.forces["soleus_r"].min() > 0.0)
    ('bifemlh_r', True)
    """
    began = _clock.perf_counter()
    p, rate_weight = checks.finite("exponent", exponent), checks.not_negative("rate_weight", rate_weight)
    if not p >= 2.0:
        raise ValueError(f"exponent has to be 2 or more, got {p:g}")
    checks.among("scheme", scheme, tuple(_KNOWN))
    mesh = Mesh(_KNOWN[scheme], np.linspace(0.0, 1.0, checks.integer("intervals", intervals, 1) + 1))
    settings = checks.positive("tolerance", tolerance, ValueError), checks.integer("max_iterations", max_iterations, 1)
    chosen, show = chosen_solver(solver), shown(progress)
    own = Balance.of(
        _of_one_kind(as_model(model), state), motion, external_loads, reserve, weights, bounds, state, applied=applied,
        cutoff=cutoff, load_cutoff=load_cutoff, filter=filter, degree=degree, start=start, end=end, progress=None,
        times_of=lambda time: _nodes(mesh, time),
    )  # fmt: skip
    program = Program(own, mesh, p, rate_weight)
    v, multipliers = (_first(program), None) if guess is None else _start(program, guess)
    found = solve(chosen, program, v, *settings, options or {}, show, multipliers=multipliers)
    if not found.success:
        raise _failed(program, found)
    facts = {
        "status": found.status,
        "iterations": found.iterations,
        "solver": chosen,
        "missed": float(np.abs(program.constraints(found.v)).max()),
        "unknowns": found.v,
        "multipliers": found.multipliers,
        "wall_time": _clock.perf_counter() - began,
    }
    return MuscleRedundancy(program, found, facts)


def _nodes(mesh: Mesh, time: Array) -> Array:
    """Times of the nodes, from the first row to the last."""
    if not time[-1] > time[0]:
        raise ValueError(f"there is one time of the motion from start to end, {time[0]:g}; a mesh takes two")
    return np.asarray(time[0] + (time[-1] - time[0]) * mesh.times)


def _of_one_kind(model: Model, state: State | None) -> Model:
    """The model, or one with muscles of the kind whose equations are solved."""
    if all(isinstance(one, DeGrooteFregly2016) for one in model.muscles.values()):
        return model
    if state is not None:
        raise ValueError(
            "state is of a model with muscles of another kind: replace them first, by mb.biomechanics.replace_muscles(model, "
            "mb.muscle.DeGrooteFregly2016), and give a state of that model"
        )
    return replace_muscles(model, DeGrooteFregly2016)


def _rigid(program: Program, strengths: Array, passive: Array, low: Array, high: Array) -> Array:
    """Controls (n, m) of least squares with forces that do not depend on the past; refused where none makes the motion."""
    own = program.own
    wanted = own.tau - np.einsum("tj,tju->tu", passive, own.arms)
    rows = own.along(own.columns(strengths)).transpose(0, 2, 1)
    controls, missing = _dual_newton.solve(rows, own.along(wanted[:, None])[:, 0], low, high, own.weights, 2.0)
    own.check("muscle redundancy", wanted, missing)
    return controls


def _first(program: Program) -> Array:
    """Where the solver begins: static optimization with rigid tendons and passive forces, away from bounds.

    Where that cannot make the motion, tendons that stretch might; where those could not with any force, it is refused.
    """
    own, nm, v, elastic = program.own, program.nm, np.zeros(program.n), program.elastic
    strengths, passive = program.rigid_active, program.rigid_passive
    try:
        controls = _rigid(program, strengths, passive, own.low, own.high)
    except ConvergenceError as error:
        any_force, none, low, high = strengths.copy(), passive.copy(), own.low.copy(), own.high.copy()
        any_force[:, elastic], none[:, elastic] = program.strength[elastic], 0.0
        low[elastic], high[elastic] = LEAST, MOST
        try:
            controls = _rigid(program, any_force, none, low, high)
        except ConvergenceError:
            raise error from None
    a = np.clip(controls[:, :nm], np.minimum(_FIRST, own.high[:nm]), own.high[:nm])
    force = np.clip((a * strengths + passive) / program.strength, LEAST + _FIRST, MOST)[:, elastic]
    v[program.at["a"]], v[program.at["e"]], v[program.at["f"]] = a, a[:, program.active], force
    v[program.at["d"]], v[program.at["c"]] = np.gradient(force, own.taken.time, axis=0), controls[:, nm:]
    return np.clip(v, program.low, program.high)


def _start(program: Program, guess: MuscleRedundancy) -> tuple[Array, tuple[Array, Array] | None]:
    """Unknowns and multipliers of an earlier solution."""
    facts = checks.instance("guess", guess, MuscleRedundancy, "muscle_redundancy() makes").statistics
    if len(facts["unknowns"]) != program.n:
        raise ValueError("guess is of other muscles, reserves, intervals or another scheme: it has to have the same unknowns")
    return facts["unknowns"], facts["multipliers"]


def _failed(program: Program, found: Solution) -> ConvergenceError:
    """Says what is not met: of the balance, of an equilibrium, or nothing but the cost."""
    own, g = program.own, np.nan_to_num(np.abs(program.constraints(found.v)), nan=np.inf)
    said = f"muscle redundancy: the solver says {found.status!r} after {found.iterations} iterations"
    names = list(own.muscles)
    balance, lack = (g[program.rows[what]].reshape(len(own.tau), -1) for what in ("balance", "equilibrium"))
    if balance.max(initial=0.0) > max(_UNMET, lack.max(initial=0.0)):
        try:
            own.check(said, own.tau, program.missing(found.v))
        except ConvergenceError as error:
            return error
    if lack.max(initial=0.0) > _UNMET:
        i, j = np.unravel_index(int(lack.argmax()), lack.shape)
        return ConvergenceError(
            f"{said}, where fiber and tendon of {names[program.elastic[j]]!r} do not balance at time {own.taken.time[i]:g}: "
            f"{lack[i, j]:.3g} of its largest isometric force is missing. Take more intervals, larger reserves or wider bounds"
        )
    what = f"equations are missed by {g.max():.2g}" if g.max(initial=0.0) > _UNMET else "all equations are met"
    return ConvergenceError(f"{said}, where {what}. Allow more iterations, a larger tolerance, or larger reserves")
