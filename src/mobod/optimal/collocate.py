"""Collocate: plan a motion by direct collocation."""

from __future__ import annotations

import time as _clock
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

import numpy as np

from ..algebra.arrays import Array
from ..errors import ConvergenceError
from ..simulation.simulate import describe
from ..simulation.trajectory import Trajectory
from ..state.state import State
from ..system.system import MultibodySystem
from ..value import checks
from ..value.callers import callers_level
from .functions import NodeFunction
from .hermite_simpson import HERMITE_SIMPSON
from .kept import is_singular_beside
from .mesh import Mesh
from .part import Part
from .phase import Phase
from .radau import RADAU
from .refinement import errors, refined
from .solution import Solution
from .solving import chosen_solver, shown, solve
from .straight import balance_fibers, straight
from .transcription import Transcription
from .trapezoidal import TRAPEZOIDAL

SCHEMES = {one.name: one for one in (TRAPEZOIDAL, HERMITE_SIMPSON, RADAU)}
#: How many unmet equations a message names.
_NAMED = 3
#: From this relative error of an interval on a plan is called no motion of its system.
_NO_MOTION = 0.5
Guess = Trajectory | Callable[[Array], tuple[Any, ...]] | None


@overload
def collocate(system: MultibodySystem, state: State, duration: Any, controls: Any = (), **settings: Any) -> Trajectory: ...
@overload
def collocate(system: Sequence[Phase], **settings: Any) -> list[Trajectory]: ...


def collocate(
    system: MultibodySystem | Sequence[Phase],
    state: State | None = None,
    duration: float | tuple[float, float] | None = None,
    controls: Sequence[Any] = (),
    *,
    links: Sequence[tuple[Callable[..., Any], Any, Any] | None] | None = None,
    scheme: str = "hermite-simpson",
    intervals: int | Sequence[int] = 20,
    guess: Guess | Sequence[Guess] = None,
    accuracy: float | None = None,
    refinements: int = 5,
    tolerance: float = 1e-6,
    max_iterations: int = 1000,
    solver: str | None = None,
    second_derivatives: bool = True,
    progress: bool | Callable[[int, float, float], Any] | None = None,
    options: Mapping[str, Any] | None = None,
    **phase: Any,
) -> Trajectory | list[Trajectory]:
    """Plan a motion: the states, forces, duration and parameters of least cost that obey a system's dynamics and all bounds.

    Parameters
    ----------
    system : MultibodySystem, or sequence of Phase
        Of a plan of one phase the system, and what it takes: *state*, *duration*, *controls* and all other arguments of
        `optimal.Phase`, such as ``cost``, ``start``, ``end``, ``bounds``, ``path``, ``boundary``, ``parameters`` and
        ``stations``, by name. Or phases that follow each other.
    state, duration, controls
        As `optimal.Phase` takes them.
    links : sequence, optional
        Between phases, None, where the state goes on as it is, or (function, low, high) of ``q_before``, ``u_before``,
        ``q_after``, ``u_after`` and so on: an impact, or another set of coordinates.
    scheme : {"hermite-simpson", "trapezoidal", "radau"}
        States are of order 4, 2 and 5.
    intervals : int, or sequence of int
        How many to begin with, of each phase.
    guess : Trajectory or callable, or sequence of these, optional
        Where to begin: a trajectory, of an earlier plan with its controls, or of `simulate`; or a function of times
        ``(n,)`` since the start of the phase that returns q ``(n, nq)``, and u, z, controls, as far as it likes. A straight
        line from start to end unless given, at rest, with loops closed; fibers of muscles balance their tendons. IPOPT
        begins with the multipliers, too, of an earlier plan that has the same nodes and as many equations, and so changes
        little by little in a few iterations.
    accuracy : float, optional
        Largest relative error of a state over an interval, found by running it. Where it is larger, intervals are divided, and
        the plan is made again from the last one. Not looked at unless given.
    refinements : int
        How often at most.
    tolerance : float
        Of the solver: of optimality, and of what is left of equations.
    max_iterations : int
        Of the solver, each time.
    solver : {"ipopt", "scipy"}, optional
        IPOPT needs ``pip install 'mobod[casadi]'``, and is taken where that is there.
    second_derivatives : bool
        Whether IPOPT gets second derivatives; otherwise it makes them up from gradients, which takes more, but cheaper
        iterations.
    progress : bool or callable, optional
        True prints a line now and then; a callable gets the iteration, the cost, and how far equations are missed.
    options : mapping, optional
        Further settings of the solver, such as ``{"mu_strategy": "adaptive"}``.
    **phase
        What else `optimal.Phase` takes.

    Returns
    -------
    Trajectory, or list of Trajectory
        One a phase. Its rows are the nodes; ``quantities["controls"]`` ``(nt, m)`` are the forces, and its ``statistics`` have
        ``"cost"``, ``"duration"``, ``"parameters"``, ``"iterations"``, ``"status"``, ``"intervals"`` (where they end),
        ``"errors"`` (one an interval), ``"scheme"``, ``"refinements"``, ``"multipliers"`` and ``"wall_time"``.

    Raises
    ------
    ConvergenceError
        If no plan is found: the message names what is not met. Its attribute ``trajectory`` has how far it came.
    ValueError, TypeError, ModelError
        If an argument makes no sense, which it names.
    ImportError
        If IPOPT is asked for, and CasADi is not there.

    Warns
    -----
    RuntimeWarning
        If equations hold at the nodes, but runs from these end far elsewhere: intervals are too long. And if *accuracy* is not
        reached after so many *refinements*.

    See Also
    --------
    optimal.Phase : all that a plan can be told.
    lqr : a regulator about one state.

    Notes
    -----
    All nodes are states of one `Ensemble`: a Jacobian is one call of its `calc_forward_dynamics_derivatives`. Hessians are
    exact where gravity and forces on single mobilities act on pins, sliders, balls and the like, elsewhere central differences
    of Jacobians: one call, too. Constraints of positions and velocities hold at the start and where
    intervals end, to which defects have a correction straight across the constraints, as small as the error of the scheme;
    what says the same twice is left out. Motions are kept to the error of the scheme. Contacts have to be compliant, and should
    be smooth. Events, and what handlers do, are not part of a plan. Source: Betts 2010; Kelly 2017; Posa, Kuindersma,
    Tedrake 2016.

    Examples
    --------
    A mass goes one meter in one second, from rest to rest, with the least integral of the force squared, which is 12.

    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> mass = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.Inertia(1, 1, 1)))
    >>> slider = mb.mobilizer.Slider(matter.ground, mass, name="mass")
    >>> state = system.realize_topology()
    >>> plan = mb.collocate(
    ...     system, state, 1.0, [(slider, 0)], cost=lambda controls: controls[0] ** 2, end={"mass.q": 1.0, "mass.u": 0.0}
    ... )
    >>> round(plan.statistics["cost"], 6)
    12.0
    """
    began = _clock.perf_counter()
    phases, single = _phases(system, state, duration, controls, phase)
    checks.all_known("there is no scheme", [scheme], SCHEMES)
    table = SCHEMES[scheme]
    counts = _per_phase("intervals", intervals, len(phases), int)
    meshes = [Mesh(table, np.linspace(0.0, 1.0, checks.integer("intervals", count, 1) + 1)) for count in counts]
    guesses = [guess] if single else _per_phase("guess", guess, len(phases), object)
    links_of = _links(links, phases)
    settings = checks.positive("tolerance", tolerance, ValueError), checks.integer("max_iterations", max_iterations, 1)
    if accuracy is not None:
        accuracy = checks.positive("accuracy", accuracy, ValueError)
    chosen = chosen_solver(solver)
    program = Transcription(phases, meshes, links_of)
    _check_ends(program)
    v, multipliers = _first(program, guesses), _multipliers(program, guesses)
    done, iterations, found = 0, 0, None
    show = shown(progress)
    while True:
        found = solve(chosen, program, v, *settings, options or {}, show, second_derivatives, multipliers)
        iterations += found.iterations
        program.cost(found.v)
        if not found.success:
            raise _failed(program, found, phases, single)
        off = [errors(part) for part in program.parts]
        if accuracy is None or done == refinements or max(one.max() for one in off) <= accuracy:
            break
        meshes = [refined(mesh, one, accuracy) for mesh, one in zip(meshes, off, strict=True)]
        before, program = program, Transcription(phases, meshes, links_of)
        v, multipliers = _moved(before, program, found.v), None
        done += 1
    _warn_of_errors(program, off, accuracy, done)
    facts = {
        "status": found.status,
        "iterations": iterations,
        "refinements": done,
        "scheme": table.name,
        "solver": chosen,
        "multipliers": found.multipliers,
        "wall_time": _clock.perf_counter() - began,
    }
    plans = [_trajectory(part, program, found.v, facts, one) for part, one in zip(program.parts, off, strict=True)]
    return plans[0] if single else plans


# ---------------------------------------------------------------------------------------------- arguments


def _phases(system: Any, state: Any, duration: Any, controls: Any, settings: dict[str, Any]) -> tuple[list[Phase], bool]:
    if isinstance(system, (list, tuple)):
        if state is not None or duration is not None or len(controls) or settings:
            raise TypeError("of phases, each has its own state, duration, controls and so on; give them to optimal.Phase")
        for one in system:
            checks.instance("a phase", one, Phase, "mobod.optimal.Phase() makes")
        if not system:
            raise ValueError("there is no phase to plan")
        return list(system), False
    if duration is None:
        raise TypeError("collocate takes (system, state, duration, controls), or a list of phases; the duration is missing")
    return [Phase(system, state, duration, controls, **settings)], True


def _per_phase(what: str, given: Any, count: int, kind: Any) -> list[Any]:
    if isinstance(given, (list, tuple)):
        if len(given) != count:
            raise ValueError(f"{what} has {len(given)} entries, and there are {count} phases")
        return list(given)
    return [given] * count


def _links(links: Any, phases: Sequence[Phase]) -> list[NodeFunction | None]:
    given = [None] * (len(phases) - 1) if links is None else list(links)
    if len(given) != len(phases) - 1:
        raise ValueError(f"links has {len(given)} entries; there are {len(phases) - 1} places between {len(phases)} phases")
    found: list[NodeFunction | None] = []
    for link, before, after in zip(given, phases[:-1], phases[1:], strict=True):
        if link is None:
            found.append(None)
            continue
        if not isinstance(link, (tuple, list)) or len(link) != 3:
            raise ValueError(f"a link is None, or (function, low, high), not {link!r}")
        names = [f"{one}_before" for one in ("q", "u", "z", *before.stations)]
        names += [f"{one}_after" for one in ("q", "u", "z", *after.stations)]
        found.append(NodeFunction(link[0], "a link", names, *link[1:]))
    return found


def _check_ends(program: Transcription) -> None:
    """Refuse ends outside of bounds, which no solver takes."""
    for part in program.parts:
        phase, size = part.phase, len(part.mesh) * part.phase.ny
        low, high = (one[:size].reshape(-1, phase.ny) for one in part.bounds)
        for node, k in np.argwhere(low > high):
            at, least, most = ("start", phase.start_low, phase.start_high)
            if node:
                at, least, most = ("end", phase.end_low, phase.end_high)
            wanted = f"{least[k]:.6g}" if least[k] == most[k] else f"between {least[k]:.6g} and {most[k]:.6g}"
            raise ValueError(
                f"{phase.names[k]!r} has to be {wanted} at the {at}, but bounds keep it between {phase.low[k]:.6g} and "
                f"{phase.high[k]:.6g}"
            )


# ---------------------------------------------------------------------------------------------- where to begin


def _first(program: Transcription, guesses: Sequence[Any]) -> Array:
    """The unknowns to begin with, within their bounds."""
    v = np.zeros(program.n)
    for part, guess in zip(program.parts, guesses, strict=True):
        phase, duration = part.phase, 0.5 * (part.phase.shortest + part.phase.longest)
        if guess is None:
            y = straight(part)
            balance_fibers(part, y)
        elif isinstance(guess, Trajectory):
            duration = float(guess.time[-1] - guess.time[0]) if phase.is_free else phase.longest
            y = _from_trajectory(part, guess)
        elif callable(guess):
            y = _from_function(part, guess(part.mesh.times * duration))
        else:
            raise TypeError(f"guess is a Trajectory or a function of times, not {guess!r}")
        v[part.columns] = y
        if phase.is_free:
            v[part.column_of_duration] = duration
        if isinstance(guess, Trajectory):
            known = guess.statistics.get("parameters", {})
            for name, column, origin in zip(phase.parameter_names, part.parameters, phase.parameter_origin, strict=True):
                v[column] = known.get(name, origin) - origin
    return np.clip(v, program.low, program.high)


def _multipliers(program: Transcription, guesses: Sequence[Any]) -> tuple[Array, Array] | None:
    """Those of the plan that is the guess, if it has the same nodes and as many unknowns and equations."""
    known = [one.statistics.get("multipliers") if isinstance(one, Trajectory) else None for one in guesses]
    if known[0] is None or any(one is not known[0] for one in known):
        return None
    for part, guess in zip(program.parts, guesses, strict=True):
        ends, facts = part.mesh.ends, guess.statistics
        before = np.asarray(facts["intervals"]) - guess.time[0]
        if facts["scheme"] != part.mesh.scheme.name or len(before) != len(ends):
            return None
        if not np.allclose(before, ends * before[-1], rtol=0.0, atol=1e-9 * before[-1]):
            return None
    of_g, of_v = known[0]
    return known[0] if len(of_g) == program.m and len(of_v) == program.n else None


def _from_trajectory(part: Part, guess: Trajectory) -> Array:
    d = part.phase.dynamics
    rows = [np.asarray(guess.q), np.asarray(guess.u), np.asarray(guess.z)]
    sizes = [d.nq, d.nu, d.nz]
    if [one.shape[1] for one in rows] != sizes:
        raise ValueError(f"the guess has {[one.shape[1] for one in rows]} q, u and z; the phase has {sizes}")
    controls = np.asarray(guess.quantities.get("controls", np.tile(part.phase.control_origin, (len(guess.time), 1))))
    if controls.shape != (len(guess.time), d.m):
        raise ValueError(f"the guess has controls of shape {controls.shape}; there are {d.m}")
    whole = np.hstack([*rows, controls])
    span = float(guess.time[-1] - guess.time[0]) or 1.0
    at = (np.asarray(guess.time) - guess.time[0]) / span
    return np.stack([np.interp(part.mesh.times, at, column) for column in whole.T], axis=1)


def _from_function(part: Part, given: Any) -> Array:
    d, n = part.phase.dynamics, len(part.mesh)
    given = given if isinstance(given, tuple) else (given,)
    y = straight(part)
    at = 0
    for value, size, what in zip(given, (d.nq, d.nu, d.nz, d.m), ("q", "u", "z", "controls"), strict=False):
        rows = np.asarray(value, float)
        if rows.shape != (n, size):
            raise ValueError(f"guess gave {what} of shape {rows.shape}; ({n}, {size}) is wanted")
        y[:, at : at + size] = rows
        at += size
    if at <= d.nq + d.nu:
        balance_fibers(part, y)
    return y


def _moved(before: Transcription, after: Transcription, v: Array) -> Array:
    """The unknowns of another mesh that are on the same motion."""
    w = np.zeros(after.n)
    for old, new in zip(before.parts, after.parts, strict=True):
        nx, y = old.phase.nx, v[old.columns]
        x = old.mesh.interpolate(y[:, :nx], new.mesh.times, states=True)
        w[new.columns] = np.hstack([x, old.mesh.interpolate(y[:, nx:], new.mesh.times)])
        if new.column_of_duration >= 0:
            w[new.column_of_duration] = v[old.column_of_duration]
        w[new.parameters] = v[old.parameters]
    return np.clip(w, after.low, after.high)


# ---------------------------------------------------------------------------------------------- what comes out


def _trajectory(part: Part, program: Transcription, v: Array, facts: Mapping[str, Any], off: Array) -> Trajectory:
    phase, d = part.phase, part.phase.dynamics
    y = part.y.copy()
    if not part.mesh.scheme.has_first and d.m:  # no equation has the forces there: those of the polynomial
        first = part.mesh.interpolate(y[:, phase.nx :], np.zeros(1))[0]
        y[0, phase.nx :] = np.clip(first, phase.low[phase.nx :], phase.high[phase.nx :])
    q, u, z = y[:, : d.nq], y[:, d.nq : d.nq + d.nu], y[:, d.nq + d.nu : phase.nx]
    ends = part.t[0] + part.duration * part.mesh.ends
    values = {
        name: float(origin + change)
        for name, origin, change in zip(phase.parameter_names, phase.parameter_origin, part.p, strict=True)
    }
    state = d.moved(part.p).copy()
    return Trajectory(
        system=phase.system,
        time=part.t,
        q=q,
        u=u,
        z=z,
        energy=_energies(part, state, y),
        quantities={"controls": y[:, phase.nx :]},
        state=state,
        statistics={
            **facts,
            "cost": program.cost(v),
            "duration": part.duration,
            "parameters": values,
            "intervals": ends,
            "errors": off,
            "control_names": phase.names[phase.nx :],
        },
        **describe(phase.system, phase.state),
    )


def _warn_of_errors(program: Transcription, off: Sequence[Array], accuracy: float | None, done: int) -> None:
    """Say so where equations hold at the nodes, and yet the system does not move from one to the next, as far as is known.

    Or not as accurately as was asked for.
    """
    known = [np.where(np.isfinite(one), one, 0.0) for one in off]
    part, one = max(zip(program.parts, known, strict=True), key=lambda pair: float(pair[1].max(initial=0.0)))
    i, worst = int(one.argmax()), float(one.max())
    first, last = part.t[0] + part.duration * part.mesh.ends[i : i + 2]
    if accuracy is not None and accuracy < worst <= _NO_MOTION:
        warnings.warn(
            f"accuracy={accuracy:.2g} is not reached after {done} refinements: from t = {first:.4g} to {last:.4g} the plan of "
            f"{part.phase.system.name!r} is off by {worst:.2g} of its size (statistics['errors']). Allow more refinements, or "
            "begin with more intervals",
            RuntimeWarning,
            stacklevel=callers_level(),
        )
    if worst <= _NO_MOTION:
        return
    warnings.warn(
        f"the plan of {part.phase.system.name!r} fulfils its equations at the nodes, but is no motion of the system: run from "
        f"its state at t = {first:.4g}, that ends at {last:.4g} elsewhere, by {worst:.2g} of its size (statistics['errors']). "
        "Take more intervals, accuracy=, or a scheme of higher order",
        RuntimeWarning,
        stacklevel=callers_level(),
    )


def _energies(part: Part, state: State, y: Array) -> Array:
    system, dynamics, found = part.phase.system, part.phase.dynamics, []
    for time, row in zip(part.t, y, strict=True):
        dynamics.put(state, float(time), row)
        system.realize(state)
        found.append(system.calc_energy(state))
    return np.array(found)


def _failed(program: Transcription, found: Solution, phases: Sequence[Phase], single: bool) -> ConvergenceError:
    """Says what is not met, worst first."""
    g = program.constraints(found.v)
    missed = np.nan_to_num(np.maximum(program.g_low - g, g - program.g_high), nan=np.inf)
    worst = [int(i) for i in np.argsort(-missed)[:_NAMED] if missed[i] > 1e-6]
    what = "; ".join(f"{program.name_of(i)} is missed by {missed[i]:.3g}" for i in worst)
    name = phases[0].system.name
    if not what:
        what = "all equations are met, but the cost could still be less"
    remedy = "Begin with a better guess, with looser bounds, or allow another duration"
    for phase in phases:
        if is_singular_beside(phase.state):
            remedy = (
                f"Some equations of the loops of {phase.system.name!r} follow from the others, but only while these hold: "
                "beside that its dynamics is singular. Close such a loop with fewer equations: a CoordinateCoupler in place of "
                "a Ball, say"
            )
    error = ConvergenceError(
        f"no plan of {name!r} was found: the solver says {found.status!r} after {found.iterations} iterations, where {what}. "
        f"{remedy}"
    )
    plans = [_trajectory(part, program, found.v, {"status": found.status}, errors(part)) for part in program.parts]
    error.trajectory = plans[0] if single else plans  # type: ignore[attr-defined]
    return error
