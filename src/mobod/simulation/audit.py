"""Audit: the quality of a run, from its recorded rows.

Energy.  E(t) - E(0) is the work done by what has no potential energy: forces that dissipate or drive, prescribed motions,
constraints that move; and what latches, impacts and handlers change at once, which the run's events tell. `energy_accounts`
integrates the work; the difference at the ends of steps is the integration's error.

Momentum is conserved where nothing outside acts. That is decided from the model (mobilizers on Ground are free in the
directions in question) and from the applied forces (their resultant is zero).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..control.custom import Custom
from ..force import MobilityLinearStop, TransmissionSpring
from ..force.contact.subsystem import CompliantContactSubsystem
from ..system.diagnosis import ROUNDED
from ..tree.prescribed_mobilities import SOLVED
from ..value.stage import Stage
from .energy_accounts import IMPULSES, MAY_MOVE, MOST_ACCOUNTS, SLIP, Ledger, acts_by_impulses, find_accounts, integrate_between

if TYPE_CHECKING:
    from ..constraint.base import Constraint
    from ..state.state import State
    from ..system.system import MultibodySystem
    from .error_estimate import ErrorEstimate
    from .events import Event
    from .trajectory import Trajectory

#: Kinds of events that set speeds, by an impulse unless they are told not to.
BARE = ("locked", "enabled", "driven")
#: Rows that are looked at, evenly spread over the run.
MOST_ROWS = 1000
MOST_ROWS_OF_POWER = 20_000
#: Runs of more steps are not repeated to follow the work in each: that may take a minute.
MOST_STEPS = 20_000
#: An energy balance off by more than this many times the accuracy is a warning. Measured: pendulums, robots and chains at 1e-3
#: to 1e-8 are off by 0.01 to 20 times the accuracy after tens of seconds.
EXPLAINED = 100.0
#: So is one off by more than this part of the energy's scale, whatever the accuracy.
WORTH = 0.02
#: Steps this much shorter than their mean have collapsed.
COLLAPSED = 1e-4


@dataclass
class Audit:
    """The quality of a run; ``print(audit)`` is a short table.

    Attributes
    ----------
    energy_change : float
        From the first row to the last, kinetic and potential; mass*length^2/time^2.
    work : dict of str to float
        Work done on the system by forces without potential energy, prescribed motions and constraints; and what events have
        added at once, by handler, and by what was latched or struck: below zero what these have lost.
    energy_error : float
        Largest difference, at the end of any step, between the change of energy and the work: the integration's error. If the
        steps could not be followed, at any report, which includes the error of interpolation. With `TimeStepping`, where
        something may touch, the most by which the work of impulses rises, which can only fall.
    energy_scale : float
        The scale of `energy_error`: the largest kinetic energy or work.
    energy_uncertainty : float
        How much of `energy_error` may be due to integrating work from the reports; zero where it was integrated in every step.
    work_is_sampled : bool
        Whether work was integrated from the power at reports, and not in every step: of runs with users' event handlers
        that were not asked for ``audit="steps"``, of very long ones, and of those that were read from a file.
    position_residual, velocity_residual : float
        Largest of `State.q_err` and `State.u_err`.
    residual_time : float
        The time of the largest position residual.
    linear_momentum_change, angular_momentum_change : float or None
        Largest departure from the first value, relative to the largest possible sum of the parts' momenta (sqrt(2 m KE), or
        sqrt(2 I KE) with the inertia about Ground's origin); None where it is not conserved.
    error_estimate : ErrorEstimate or None
        Where it was asked for: ``simulate(..., estimate_error=True)``.
    statistics : dict
        Of the integrator.
    unaccounted : list of str
        What the energy balance leaves out.
    warnings : list of str
        Possible problems, each with its remedy.
    """

    energy_change: float = 0.0
    work: dict[str, float] = field(default_factory=dict)
    energy_error: float = 0.0
    energy_scale: float = 0.0
    energy_uncertainty: float = 0.0
    work_is_sampled: bool = False
    position_residual: float = 0.0
    velocity_residual: float = 0.0
    residual_time: float = 0.0
    linear_momentum_change: float | None = None
    angular_momentum_change: float | None = None
    error_estimate: ErrorEstimate | None = None
    statistics: dict[str, Any] = field(default_factory=dict)
    unaccounted: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        rows = [("energy change", f"{self.energy_change:.6g}")]
        rows += [(f"  by {name}", f"{work:.6g}") for name, work in self.work.items()]
        relative = (
            f", {self.energy_error / self.energy_scale:.1e} of {self.energy_scale:.4g}" if self.energy_scale > 0.0 else ""
        )
        uncertain = f" (known to {self.energy_uncertainty:.1g} only)" if self.energy_uncertainty > self.energy_error else ""
        error = f"{self.energy_error:.3g}{relative}"
        if self.work_is_sampled:
            rows.append(("energy balance", f"open by {error} as far as reports show{uncertain}"))
        else:
            rows.append(("energy error", error))
        rows += [("  left out", text) for text in self.unaccounted]
        rows.append(("constraint error", f"{self.position_residual:.2g} of positions, {self.velocity_residual:.2g} of speeds"))
        for name, change in (("linear", self.linear_momentum_change), ("angular", self.angular_momentum_change)):
            rows.append(
                (f"{name} momentum", "not conserved" if change is None else f"changed by {change:.1e} of what its parts are")
            )
        if self.error_estimate is not None:
            rows.append(("global error", str(self.error_estimate)))
        s = self.statistics
        if s.get("steps_taken"):
            failed = s.get("error_test_failures", 0)
            rows.append(
                ("steps", f"{s['steps_taken']:,} taken, {failed:,} tried in vain, {s.get('evaluations', 0):,} evaluations")
            )
        rows += [("warning", text) for text in self.warnings] or [("warnings", "none")]
        return "\n".join(f"{name:<17} {text}" for name, text in rows)


def make_audit(trajectory: Trajectory) -> Audit:
    """Audit a trajectory, from its rows; without a system only its energy is looked at."""
    audit = Audit(statistics=dict(trajectory.statistics), error_estimate=trajectory.error_estimate)
    culprits: dict[str, Event] = {}
    energy = np.asarray(trajectory.energy)
    if not len(energy):
        return audit
    audit.energy_change = float(energy[-1] - energy[0])
    if trajectory.system is None:
        audit.energy_error = float(np.abs(energy - energy[0]).max())
        audit.unaccounted.append("all work: the trajectory has no system; load it with system=...")
    else:
        culprits = _look_at_states(audit, trajectory)
        _balance(audit, trajectory, energy)
        if trajectory.system.event_handlers and not trajectory.knows_events:
            audit.unaccounted.append("what event handlers change at once, which this file does not tell")
    _warn(audit, trajectory, culprits)
    return audit


def _chosen(n: int, most: int) -> Any:
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.int64))


def _look_at_states(audit: Audit, trajectory: Trajectory) -> dict[str, Event]:
    """Residuals, momentum and the largest kinetic energy, at rows spread over the run; events that have made momentum."""
    system, states = trajectory.system, trajectory.states
    assert system is not None
    matter = system.get_matter_subsystem()
    chosen = _chosen(len(trajectory), MOST_ROWS)
    momenta, resultants = np.empty((len(chosen), 2, 3)), np.empty((len(chosen), 2, 3))
    sizes, scales = np.zeros((len(chosen), 2)), np.zeros(2)
    for row, state in enumerate(states.walk(chosen)):
        system.realize(state, Stage.DYNAMICS)
        kinetic = matter.calc_kinetic_energy(state)
        audit.energy_scale = max(audit.energy_scale, kinetic)
        # parts may cancel: compare with the largest possible sums, sqrt(2 I KE) and sqrt(2 m KE)
        whole = matter.calc_system_mass_properties_in_ground(state)
        scales = np.maximum(scales, np.sqrt(2.0 * kinetic * np.array([np.trace(np.asarray(whole.inertia)), whole.mass])))
        q_err, u_err = (np.abs(errors).max() if len(errors) else 0.0 for errors in (state.q_err, state.u_err))
        if q_err > audit.position_residual:
            audit.position_residual, audit.residual_time = float(q_err), state.time
        audit.velocity_residual = max(audit.velocity_residual, float(u_err))
        momenta[row] = matter.calc_system_momentum_about_ground_origin(state)
        resultants[row], sizes[row] = _resultant(system, state)
    free, culprits = _is_free(system, states[0]), {}
    for k, name in enumerate(("angular_momentum_change", "linear_momentum_change")):
        # rounding of forces that cancel is no force
        if free[k] and (np.abs(resultants[:, k]).max(axis=1) <= 1e-9 * np.maximum(sizes[:, k], 1e-300)).all():
            change = np.linalg.norm(momenta[:, k] - momenta[0, k], axis=1).max()
            setattr(audit, name, float(change / scales[k]) if scales[k] > 0.0 else 0.0)
            culprit = _culprit(trajectory, momenta[:, k], chosen)
            if culprit is not None:
                culprits[name.partition("_")[0]] = culprit
    return culprits


def _culprit(trajectory: Trajectory, momenta: Array, chosen: Any) -> Event | None:
    """The event between the rows, of those *chosen*, where most momentum came from, if it has done anything."""
    jumps = np.linalg.norm(np.diff(momenta, axis=0), axis=1)
    if len(jumps):
        first, last = chosen[int(np.argmax(jumps))], chosen[int(np.argmax(jumps)) + 1]
        events = trajectory.events[(trajectory.event_rows > first) & (trajectory.event_rows <= last)]
        bare = [one for one in events if one.kind in BARE and not len(one.impulse)]
        changing = [one for one in events if one.energy and one.kind in ("triggered", "scheduled", "changed")]
        return (bare or changing or [None])[0]
    return None


def _resultant(system: MultibodySystem, state: State) -> tuple[Array, Array]:
    """Resultant torque about Ground's origin and force on bodies and particles; and the sums of their magnitudes."""
    bodies = system.get_rigid_body_forces(state)[1:]
    p = state.record.p_GB.reshape(-1, 3)[1:]
    torques, forces = bodies[:, 0] + np.cross(p, bodies[:, 1]), bodies[:, 1]
    of_particles = system.get_particle_forces(state)
    if len(of_particles):
        at = state.record.particle_location.reshape(-1, 3)
        torques, forces = np.vstack([torques, np.cross(at, of_particles)]), np.vstack([forces, of_particles])
    sizes = np.array([np.abs(torques).sum(), np.abs(forces).sum()])
    return np.stack([torques.sum(axis=0), forces.sum(axis=0)]), sizes


def _is_free(system: MultibodySystem, state: State) -> tuple[bool, bool]:
    """True if Ground passes on neither torque, nor force, through the mobilizers on it, constraints and motions."""
    matter = system.get_matter_subsystem()
    base = [body for body in matter.bodies[1:] if body.parent is matter.ground]
    system.realize(state, Stage.DYNAMICS)
    f = system.get_mobility_forces(state)
    prescribed = state.field("prescribed")
    angular = linear = not any(_touches_ground(one) for one in matter.constraints if not one.is_disabled(state))
    for body in base:
        slots = state.tree.u_slices[body.index]
        untouched = not f[slots].any() and prescribed[body.index] == SOLVED
        kind = type(body).__name__
        angular = angular and untouched and kind == "Free"
        linear = linear and untouched and kind in ("Free", "Translation")
    return angular, linear


def _touches_ground(constraint: Constraint) -> bool:
    """True if a constraint may exert a force on Ground; forces between other bodies have no resultant.

    True for users' own constraints, which may act in Ground without naming it.
    """
    from ..constraint import Custom

    bodies = (constraint.get_mobilized_body_from_constrained_body(i) for i in range(constraint.get_num_constrained_bodies()))
    mobilizers = (
        constraint.get_mobilized_body_from_constrained_mobilizer(i) for i in range(constraint.get_num_constrained_mobilizers())
    )
    return (
        isinstance(constraint, Custom)
        or any(body.is_ground() for body in bodies)
        or any(body.is_ground() or body.get_parent_mobilized_body().is_ground() for body in mobilizers)
    )


def _takes_impulses(statistics: dict[str, Any]) -> bool:
    return statistics.get("integrator") == "TimeStepping"


def _balance(audit: Audit, trajectory: Trajectory, energy: Array) -> None:
    """The change of energy against the work."""
    ledger = trajectory.ledger or _followed(trajectory)
    by_events, at_events = _of_events(trajectory)
    if ledger is not None:
        done = {name: amount for name, amount in ledger.work.items() if amount or name != MAY_MOVE}
        audit.work, audit.unaccounted = {**done, **by_events}, list(ledger.missing)
        audit.energy_error = ledger.imbalance
        audit.energy_scale = max(audit.energy_scale, ledger.largest_kinetic, ledger.largest_work)
        return
    system, states = trajectory.system, trajectory.states
    assert system is not None
    state = states[0]
    impulses = acts_by_impulses(system, _takes_impulses(trajectory.statistics))
    accounts, audit.unaccounted = find_accounts(system, state, impulses)
    sampled = {force.name for force in system.all_forces() if isinstance(force, Custom)}  # whose efforts no row has
    held = [one.name for one in accounts if one.name in sampled]
    audit.unaccounted += [f"the work of {name}, whose efforts reports do not have: audit='steps' counts it" for name in held]
    if any(one.name == SLIP for one in accounts) and "slid" in trajectory.events["kind"]:
        audit.unaccounted.append(f"{SLIP}, which reports do not tell: audit='steps' counts it")
    accounts = [one for one in accounts if one.name not in (*held, SLIP)]
    change = energy - energy[0] - at_events
    if not accounts and not impulses:
        audit.work, audit.energy_error = by_events, float(np.abs(change).max())
        return
    chosen = _chosen(len(trajectory), MOST_ROWS_OF_POWER)
    times = trajectory.time[chosen]
    powers, stored = np.empty((len(chosen), len(accounts))), np.zeros((len(chosen), len(accounts)))
    for row, state in enumerate(states.walk(chosen)):
        system.realize(state, Stage.ACCELERATION)
        for a, account in enumerate(accounts):
            powers[row, a] = account.power(state)
            stored[row, a] = 0.0 if account.stored is None else account.stored(state)
    energetic = trajectory.event_rows[trajectory.events["energy"] != 0.0]
    jumps = np.unique(np.searchsorted(chosen, energetic[energetic > 0]))
    work, uncertainty = powers, 0.0
    if accounts:
        work, uncertainty = integrate_between(times, powers, stored, jumps[jumps < len(chosen)])
    audit.work = by_events
    for account, amount in zip(accounts, work[-1], strict=True):
        if account.name == MAY_MOVE and not amount:
            continue
        audit.work[account.name] = audit.work.get(account.name, 0.0) + float(amount)
    audit.energy_uncertainty, audit.work_is_sampled = float(uncertainty), True
    rest = change[chosen] - work.sum(axis=1)
    if impulses:
        audit.work[IMPULSES] = float(rest[-1])
        audit.energy_error = float((rest - np.minimum.accumulate(rest)).max())
    else:
        audit.energy_error = float(np.abs(rest).max())
    audit.energy_scale = max(audit.energy_scale, float(np.abs(work).max()))


def _of_events(trajectory: Trajectory) -> tuple[dict[str, float], Array]:
    """The energy that events have added, by cause, and until each row, from the first row on."""
    later = trajectory.event_rows > 0
    events, groups = trajectory.events[later], dict[str, float]()
    until = np.zeros(len(trajectory) + 1)
    np.add.at(until, trajectory.event_rows[later], events["energy"])
    names = zip(events["name"], events["kind"], events["energy"], strict=True)
    for name, kind, energy in names:
        by = name if kind in ("triggered", "scheduled", "changed") else f"{name} ({kind})"
        groups[by] = groups.get(by, 0.0) + float(energy)
    groups = {name: energy for name, energy in groups.items() if energy}
    if len(groups) > MOST_ACCOUNTS:
        groups = {f"{len(groups)} handlers, latches and impacts": sum(groups.values())}
    return groups, np.cumsum(until)[:-1]


def _followed(trajectory: Trajectory) -> Ledger | None:
    """The energy accounts of the run, repeated step by step; None if it cannot be repeated or would take too long."""
    settings, system, state = trajectory.run_settings, trajectory.system, trajectory.template
    if settings is None or system is None or state is None or trajectory.steps_taken > MOST_STEPS:
        return None
    from .run import run_again

    times = np.asarray(trajectory.time)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the first run has warned already
            return run_again(system, state, times, settings, _SameRows(trajectory), keeps_account=True)
    except _OtherMotionError:
        return None


class _OtherMotionError(Exception):
    """A repeated run differs from the first."""


class _SameRows:
    """Takes the rows of a repeated run and checks that they equal the first run's."""

    def __init__(self, trajectory: Trajectory) -> None:
        self._q, self.used = trajectory.q, 0

    def __len__(self) -> int:
        return self.used

    def append(self, block: Any) -> None:
        """Compare some more rows."""
        first = self._q[self.used : self.used + len(block["q"])]
        if not np.array_equal(first, block["q"], equal_nan=True):  # a user's part may look at more than the state
            raise _OtherMotionError
        self.used += len(first)

    def describe(self, **more: Any) -> None:
        """Nothing is kept."""

    def flush(self) -> None:
        """Nothing is kept."""


def _warn(audit: Audit, trajectory: Trajectory, culprits: dict[str, Event]) -> None:
    """Add the warnings, with remedies."""
    statistics = trajectory.statistics
    if not np.isfinite(np.asarray(trajectory.energy)).all():
        audit.warnings.append("the energy is not finite from some report on: a force has no finite potential energy there")
    audit.warnings += _on_energy(audit, statistics)
    audit.warnings += _on_steps(trajectory, float(trajectory.time[-1] - trajectory.time[0]))
    audit.warnings += _on_residuals(audit, trajectory)
    accuracy = float(statistics.get("accuracy", np.nan))
    for name, change in (("linear", audit.linear_momentum_change), ("angular", audit.angular_momentum_change)):
        if change is not None and np.isfinite(accuracy) and change > EXPLAINED * accuracy:
            remedy = "try a smaller accuracy"
            if name in culprits:
                one = culprits[name]
                remedy = (
                    f"most of it where {one.name!r} was {one.kind} at time {one.time:.6g}, whose handler sets speeds without "
                    "an impulse: leave impulse=False out, or give the rest of the mechanism what it gives one part"
                )
            audit.warnings.append(
                f"{name} momentum should be conserved and changed by {change:.1e} of what its parts are; {remedy}"
            )
    estimate = audit.error_estimate
    if estimate is not None and np.isfinite(estimate.horizon):
        audit.warnings.append(
            f"from time {estimate.horizon:.6g} on coordinates are off by more than {estimate.tolerance:g}: the motion is "
            "chaotic, or the accuracy too loose; trust it before that, and statistics after"
        )


def _on_energy(audit: Audit, statistics: dict[str, Any]) -> list[str]:
    accuracy, fixed, scale = float(statistics.get("accuracy", np.nan)), statistics.get("fixed_step_size"), audit.energy_scale
    explained = (min(EXPLAINED * accuracy, WORTH) if np.isfinite(accuracy) and not fixed else 1e-3) * scale
    found = []
    if audit.energy_uncertainty > 0.01 * scale > 0.0:
        found.append(
            f"work is known to {audit.energy_uncertainty / scale:.1e} of the energy's scale only: reports are too far apart "
            "for it; simulate with audit='steps', or a smaller report_interval"
        )
    elif not _takes_impulses(statistics) and scale > 0.0 and audit.energy_error - audit.energy_uncertainty > explained:
        what = f"energy is off by {audit.energy_error / scale:.1e} of its scale"
        if audit.unaccounted:
            found.append(f"{what}, which may be {', '.join(audit.unaccounted)}: this is not counted")
        elif audit.work_is_sampled:
            found.append(f"{what}: work may have been done between reports, and missed; audit='steps' tells")
        elif fixed:
            found.append(f"{what}: steps of {fixed:g} are too long; try {fixed / 4.0:.2g}, or no fixed_step_size")
        else:
            found.append(
                f"{what}, more than an accuracy of {accuracy:g} explains: a force may be discontinuous, or its potential "
                f"energy not that of the force; try accuracy={_finer(statistics):g}"
            )
    return found


def _on_steps(trajectory: Trajectory, span: float) -> list[str]:
    statistics = trajectory.statistics
    taken, attempted = int(statistics.get("steps_taken", 0)), int(statistics.get("steps_attempted", 0))
    failed, smallest = int(statistics.get("error_test_failures", 0)), float(statistics.get("smallest_step_seen", np.inf))
    found = [f"the integrator had trouble with {name!r}; its warning said where" for name in statistics.get("warned_of", ())]
    if attempted > 100 and failed > 0.3 * attempted:
        found.append(f"{failed} of {attempted} steps were tried in vain: {_why_in_vain(trajectory)}")
    if taken and span > 0.0 and smallest < COLLAPSED * span / taken:
        found.append(
            f"steps came down to {smallest:.2g} near time {float(statistics.get('smallest_step_time', np.nan)):.6g}, far below "
            f"their mean of {span / taken:.2g}: look for a collision, a stop or a singular configuration there"
        )
    return found


def _why_in_vain(trajectory: Trajectory) -> str:
    """Why steps fail in this model, and the remedy; failed steps cost time and not accuracy."""
    system, state = trajectory.system, trajectory.template
    if system is not None and state is not None:
        system.realize(start := state.copy(), Stage.VELOCITY)
        redundant = _contradicting(system, start) if start.is_constrained else []
        if redundant:
            return (
                f"an equation of {redundant[0].equation.constraint.name!r} is redundant, and contradicts the others where a "
                f"step has left their manifold; with a smaller accuracy steps keep to it: try {_finer(trajectory.statistics):g}"
            )
        stops = [f for f in system.all_forces() if _hits(f) and not f.is_disabled(state)]
        if stops:
            are = f"the {len(stops)} stops are" if len(stops) > 1 else f"{stops[0].name!r} is"
            return f"{are} hit within a step, or stiff; softer ones take fewer steps, and {_TIME_STEPPING}"
        if any(isinstance(f, CompliantContactSubsystem) and f.surfaces for f in system.force_subsystems):
            return f"surfaces that bounce take short steps; softer materials take longer ones, and {_TIME_STEPPING}"
    return (
        "a force is discontinuous or very stiff; make it smooth; where it is stiff and does not jump, an implicit method may "
        "take fewer steps, mobod.integrator.BDF"
    )


def _contradicting(system: Any, state: State) -> list[Any]:
    """Redundant equations that say something of their own at configurations nearby, as those of a plane loop do not."""
    there = system.diagnose_constraints(state).redundant
    if not there:
        return []
    nearby = state.copy()
    nearby.q = state.q + 1e-4 * np.random.default_rng(0).standard_normal(len(state.q))
    system.realize(nearby, Stage.VELOCITY)
    return there if len(system.diagnose_constraints(nearby).redundant) < len(there) else []


def _hits(force: Any) -> bool:
    """True of a stop, and of a spring with a play, such as teeth."""
    if isinstance(force, TransmissionSpring):
        low, high = force.get_default_rest_range()
        return low < high
    return isinstance(force, MobilityLinearStop)


#: Not BDF: what hits and lets go makes a method that builds on its last steps begin anew each time.
_TIME_STEPPING = "mobod.integrator.TimeStepping, of first order, steps over what hits and lets go"


def _finer(statistics: dict[str, Any]) -> float:
    accuracy = float(statistics.get("accuracy", np.nan))
    return _power_of_ten(accuracy / 100.0) if np.isfinite(accuracy) else 1e-6


def _on_residuals(audit: Audit, trajectory: Trajectory) -> list[str]:
    tolerance = max(1e-12, 10.0 * float(trajectory.statistics.get("constraint_tolerance", 1e-6)))
    residual = max(audit.position_residual, audit.velocity_residual)
    if not residual > tolerance:
        return []
    off = f"constraints or quaternions are off by up to {residual:.1e}, at time {audit.residual_time:.6g}"
    system, state = trajectory.system, trajectory.template
    if system is not None and state is not None:
        rounded = [one for one in system.diagnose_constraints(state).redundant if one.angle > ROUNDED]
        if rounded:
            return [f"{off}: {rounded[0].equation} is parallel to what does not move but for {rounded[0].angle:.1g} rad; give "
                    "axes and frames in more digits"]  # fmt: skip
    return [f"{off}; set a smaller constraint_tolerance, or call system.project on states that you made"]


def _power_of_ten(value: float) -> float:
    return float(max(1e-14, 10.0 ** np.floor(np.log10(value) + 1e-9))) if value > 0.0 else 1e-8
