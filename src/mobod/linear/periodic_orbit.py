"""Periodic orbits: motions that repeat themselves, by shooting with exact sensitivities."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..control.custom import controllers_of
from ..derivative import coordinates
from ..errors import ConvergenceError, ModelError
from ..integrator import RungeKuttaMerson
from ..simulation.names import auxiliary_names, speed_names
from ..simulation.step_status import StepStatus
from ..simulation.time_stepper import TimeStepper
from ..simulation.variational import kept_attributes, put_back, variational
from ..state.state import State
from ..system.arguments import check_state
from ..system.forward_sensitivities import Directions
from ..system.system import MultibodySystem
from ..tree import sampling
from ..value import checks
from ..value.stage import Stage
from . import manifold
from .inputs import listed, mobility_of
from .linearize import linearize

#: The part of the given period that a free one may shrink to; toward zero any state returns.
_COLLAPSE = 1e-3
#: How often to begin again.
_BEGINNINGS = 5
#: How many tolerances a motion has to go in a period, if it is no equilibrium.
_STILL = 100.0


@dataclasses.dataclass(frozen=True, eq=False)
class PeriodicOrbit:
    """A motion that repeats itself.

    Attributes
    ----------
    state : State
        On the orbit, at ACCELERATION.
    period : float
    monodromy : (n, n) array
        How a small change of the state (displacements, u, z, then turns of lines as `linearize` has them, but for motions
        with events) has changed after a period.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> forces = mb.GeneralForceSubsystem(system)
    >>> slider = mb.mobilizer.Slider(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1))))
    >>> spring = mb.force.MobilityLinearSpring(forces, slider, 0, 4.0, 0.0)
    >>> state = system.realize_topology()
    >>> state.q = [0.5]
    >>> orbit = mb.find_periodic_orbit(system, state, 3.0)
    >>> orbit.monodromy.shape
    (2, 2)
    """

    state: State
    period: float
    monodromy: Array

    def __repr__(self) -> str:
        return f"<PeriodicOrbit of period {self.period:.6g}, {len(self.monodromy)} states>"

    def calc_multipliers(self) -> Array:
        """Its Floquet multipliers ``(n,)``, complex, the largest first. All below 1 but that along the orbit: stable."""
        values: Any = np.linalg.eigvals(self.monodromy)
        return values[np.argsort(-np.abs(values), kind="stable")]


def find_periodic_orbit(
    system: MultibodySystem,
    state: State,
    period: float,
    *,
    free_period: bool = True,
    tolerance: float = 1e-8,
    accuracy: float = 1e-10,
    max_iterations: int = 30,
    cyclic: Sequence[tuple[Any, int]] = (),
) -> PeriodicOrbit:
    """Find a motion near *state* that repeats itself after about *period*, stable or not.

    Parameters
    ----------
    system : MultibodySystem
    state : State
        Where to begin, at MODEL or above, and not at an event; it is left as it is.
    period : float
        Where to begin; time.
    free_period : bool
        Whether the period may change. Where forces or motions depend on time it is theirs: False.
    tolerance : float
        The largest entry left of the difference, in displacements, u, z and turns, between end and beginning.
    accuracy : float
        Of the integration, relative and absolute.
    max_iterations : int
    cyclic : sequence of (mobod, which_u)
        Coordinates on which nothing depends, and which need not return: how far a walker has come.

    Returns
    -------
    PeriodicOrbit

    Raises
    ------
    ConvergenceError
        If none is found, or an equilibrium with a free period.
    ModelError
        If motion cannot be followed that far, it ends before, an event only grazes, or the system has particles.
    ValueError, IndexError
        If a number is not positive, *cyclic* holds no pairs, or there is no such mobility.

    Notes
    -----
    Newton's method on the difference after a period. The derivative of the end by the beginning comes from the variational
    equations, the linear model along the motion, integrated with it under the same error control; where orbits are a family,
    the step of least norm is taken. Where a free period shrinks to nothing, the search begins again where the motion has come.
    Smooth motions are followed by an explicit method of order 8 (SciPy's DOP853), motions with
    events as `simulate` follows them, with the jumps of their sensitivities; what handlers keep as attributes is put back after
    each period. Sources: Seydel 2010, section 7; Hiskens and Pai 2000.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
    >>> slider = mb.mobilizer.Slider(matter.ground, ball)
    >>> spring = mb.force.MobilityLinearSpring(mb.GeneralForceSubsystem(system), slider, 0, 4.0, 0.0)
    >>> state = system.realize_topology()
    >>> state.q = [0.5]
    >>> round(mb.find_periodic_orbit(system, state, 3.0).period, 6)
    3.141593
    """
    check_state("find_periodic_orbit", system, state)
    for name, value in (("period", period), ("tolerance", tolerance), ("accuracy", accuracy)):
        checks.positive(name, value, ValueError)
    checks.integer("max_iterations", max_iterations, 1)
    if state.tree.num_particles:
        raise ModelError(
            f"find_periodic_orbit does not follow particles, of which {system.name!r} has {state.tree.num_particles}; "
            "make them bodies on Translation mobilizers"
        )
    checks.flag("free_period", free_period)
    nu = state.tree.nu
    returning = np.ones(2 * nu + len(state.z_view), bool)
    returning[
        [mobility_of(system, state, pair, "an entry of cyclic is (mobod, which_u)") for pair in listed("cyclic", cyclic)]
    ] = False
    here = state.copy()
    system.realize(here, Stage.TIME)
    system.project(here, 1e-12)
    flow = _flow_through_events if _has_events(system, here) else _flow
    lines = [] if flow is _flow_through_events else coordinates.lines(here)
    returning = np.append(returning, np.ones(len(lines), bool))
    off, previous, given, ahead, begun = np.zeros(0), np.inf, period, here, 0
    for _ in range(max_iterations):
        system.realize(here)
        end, monodromy = flow(system, here, period, accuracy)
        ahead = end if ahead is here else ahead
        off = np.where(returning, _difference(here, end)[: len(returning)], 0.0)
        largest = float(np.abs(off).max(initial=0.0))
        rates = np.concatenate([end.u_view[:nu], end.u_dot_view[:nu], end.z_dot_view, np.zeros(len(lines))])
        if largest <= tolerance:
            if free_period and period * np.abs(rates).max(initial=0.0) <= _STILL * tolerance:
                raise ConvergenceError(
                    f"what was found near this state of {system.name!r} is an equilibrium, which repeats itself after any "
                    "time; begin farther from it, or give the period with free_period=False"
                )
            return PeriodicOrbit(here, float(period), monodromy)
        if not np.isfinite(largest) or largest > 1e3 * max(previous, 1.0):
            break
        previous = min(previous, largest)
        J = (monodromy - np.eye(len(off))) * returning[:, None]
        if free_period:
            J = np.hstack([J, (returning * rates)[:, None]])
        # off the manifold a step would be projected away, and what it was to do with it
        Z = _free_directions(here, len(off) + free_period)
        step: Any = Z @ np.linalg.lstsq(J @ Z, -off, rcond=1e-7)[0]
        step = step * min(1.0, 0.5 / max(np.abs(step).max(), 1e-300))
        if free_period:
            period = max(period + step[-1], 0.5 * period)
            if period < _COLLAPSE * given:  # where any state returns: begin again where the motion has come in a period
                if begun == _BEGINNINGS:
                    break
                begun, period, previous = begun + 1, given, np.inf
                ahead.time = state.time
                here = ahead
                continue
        here = _moved(system, here, step[: len(off)])
    worst = int(np.argmax(np.abs(off)))
    names, bodies = speed_names(system, here)[:nu], system.get_matter_subsystem().body_list
    of_state = [*(f"{name}.q" for name in names), *(f"{name}.u" for name in names), *auxiliary_names(system, here)]
    of_state += [f"{bodies[b].name}.turn" for b in lines]
    hint = ", or give the period of what drives it with free_period=False" if free_period else ""
    raise ConvergenceError(
        f"no periodic orbit of {system.name!r} was found near this state, which is still off by {abs(off[worst]):.3g} in "
        f"{of_state[worst]} after {period:.6g}; begin closer to one, name coordinates that need not return as cyclic{hint}"
    )


def _flow(system: Any, state: State, period: float, accuracy: float) -> tuple[State, Array]:
    """The state after a period, at ACCELERATION, and its derivative by the state now."""
    from scipy.integrate import solve_ivp

    nq, nu, nz = state.tree.nq, state.tree.nu, len(state.z_view)
    num_turns = len(coordinates.lines(state))
    n, other, start = 2 * nu + nz + num_turns, state.copy(), state.time

    def put(time: float, y: Array) -> None:
        other.time, other.q, other.u = time, y[:nq], y[nq : nq + nu]
        if nz:
            other.z = y[nq + nu : nq + nu + nz]
        system.normalize_quaternions(other)
        system.realize(other)

    def rates(time: float, y: Array) -> Array:
        put(time, y)
        A = linearize(system, other, []).A if nz or num_turns else _flow_of_motion(system, other)
        whole = A @ y[-n * n :].reshape(n, n)
        return np.concatenate([other.q_dot_view[:nq], other.u_dot_view[:nu], other.z_dot_view, whole.ravel()])

    y0 = np.concatenate([state.q_view[:nq], state.u_view[:nu], state.z_view, np.eye(n).ravel()])
    found = solve_ivp(rates, (start, start + period), y0, method="DOP853", rtol=max(accuracy, 1e-13), atol=accuracy)
    if not found.success:
        raise ModelError(f"the motion of {system.name!r} could not be followed over {period:.6g}: {found.message}")
    put(start + period, found.y[:, -1])
    return other, found.y[-n * n :, -1].reshape(n, n)


def _has_events(system: Any, state: State) -> bool:
    """True if anything may happen on the way; samples of controllers count."""
    stepper = TimeStepper(system, RungeKuttaMerson(system))
    stepper.initialize(state)
    controllers = controllers_of(system)
    for one in controllers:
        if len(one.entry().memory) > sampling.EFFORTS + one.get_num_efforts():
            raise ModelError(
                f"{one.name!r} remembers from sample to sample, which is no part of a periodic orbit's state; take a law "
                "without memory, or a measure.Integrate in its place"
            )
    return stepper.has_events or bool(controllers)


def _flow_through_events(system: Any, state: State, period: float, accuracy: float) -> tuple[State, Array]:
    """The same, with what events change; handlers are as before afterwards."""
    directions = Directions(system, state, ["q", "u", "z"][: 3 if len(state.z_view) else 2])
    run = variational(RungeKuttaMerson(system, accuracy=accuracy), state, directions)
    kept = [(handler, kept_attributes(handler)) for handler in system.event_handlers]
    try:
        stepper = TimeStepper(system, run)
        stepper.initialize(state)
        if stepper.step_to(state.time + period) is StepStatus.END_OF_SIMULATION:
            raise ModelError(
                f"the motion of {system.name!r} ends at time {stepper.state.time:.9g}, before its period {period:.6g}"
            )
        end = stepper.state.copy()
        found = run.at(np.array([end.time]))
    finally:
        for handler, values in kept:
            put_back(handler, values)
    return end, np.vstack([found.q[0], found.u[0], found.z[0]])


def _flow_of_motion(system: Any, state: State) -> Array:
    """A of the linear model, of a system without z."""
    found, nu = system.calc_forward_dynamics_derivatives(state), state.tree.nu
    return np.block([[coordinates.turning(state), np.eye(nu)], [found.q, found.u]])


def _difference(state: State, end: State) -> Array:
    """The difference of end and beginning, in displacements, u, z and turns of lines."""
    system, nq, nu = state.system, state.tree.nq, state.tree.nu
    turned = np.array(end.q_view[:nq])
    for first in manifold.quaternions(state):  # of both quaternions that are one orientation, the one that is near
        at = slice(first, first + 4)
        if turned[at] @ state.q_view[at] < 0.0:
            turned[at] *= -1.0
    change = turned - state.q_view[:nq]
    apart = system.get_matter_subsystem().multiply_by_n_inv(state, False, change)
    turns: Any = np.zeros(0)
    if coordinates.lines(state):
        turns = np.linalg.lstsq(manifold.displacements_and_turns(state), change)[0][nu:]
    return np.concatenate([apart, end.u_view[:nu] - state.u_view[:nu], end.z_view - state.z_view, turns])


def _free_directions(state: State, size: int) -> Array:
    """An orthonormal basis of changes that constraints, locks and motions allow, as columns; of z and the period all."""
    nu, nz, free = state.tree.nu, len(state.z_view), np.eye(size)
    of_q = manifold.of_positions(state)
    of_u, rows = manifold.of_speeds(state)
    if not len(of_q) + len(of_u):
        return free
    all_rows = np.zeros((len(of_q) + len(of_u), size))
    turns = slice(2 * nu + nz, nu + nz + of_q.shape[1])
    all_rows[:, :nu] = np.vstack([of_q, of_u])[:, :nu]
    all_rows[:, turns] = np.vstack([of_q, of_u])[:, nu:]
    all_rows[len(of_q) :, nu : 2 * nu] = rows
    _, values, V = np.linalg.svd(all_rows)
    return np.asarray(V[int(np.sum(values > 1e-9 * values[0])) :].T)


def _moved(system: Any, state: State, step: Array) -> State:
    """The state after a step, on the manifold."""
    nu, nz = state.tree.nu, len(state.z_view)
    other = manifold.moved(state, np.append(step[:nu], step[2 * nu + nz :]))
    other.u = np.array(state.u_view) + np.pad(step[nu : 2 * nu], (0, len(state.u_view) - nu))
    if nz:
        other.z = np.array(state.z_view) + step[2 * nu : 2 * nu + nz]
    system.realize(other, Stage.TIME)
    system.project(other, 1e-12)
    return other
