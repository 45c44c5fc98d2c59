"""Audit: what a run says about its own quality, from what it has recorded.

Energy.  E(t) - E(0) is the work done by what has no potential energy: forces that dissipate or drive, prescribed motions,
constraints that move. Their powers are integrated along the reports by a cubic spline, of which the same with every second
report says how much it can be trusted; or, with ``audit="steps"``, inside every step by Gauss's rule of three points. A force
with both a potential energy V and a power P has done int P dt + V(t) - V(0) that is not stored, whatever its kind.

Momentum is conserved where nothing outside acts: that is decided from the model (everything that moves against Ground does so
freely, in the directions in question) and from the forces as they are (their resultant is zero).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .rows import Array
from .stage import Stage

if TYPE_CHECKING:
    from .force.base import Force
    from .state import State
    from .system import MultibodySystem
    from .trajectory import Trajectory

#: Kinds whose power is exactly what their potential energy loses: there is nothing to integrate.
CONSERVATIVE = ("Gravity", "UniformGravity", "TwoPointLinearSpring", "MobilityLinearSpring")
#: Kinds of which whatever is not stored is turned into heat: `Force.calc_power_dissipation` says how fast.
DISSIPATIVE = ("TwoPointLinearDamper", "GlobalDamper", "MobilityLinearDamper", "LinearBushing", "MobilityLinearStop")
#: Beyond so many forces that are not, they are one account.
MOST_ACCOUNTS = 24
#: Rows that are looked at, evenly spread over the run.
MOST_ROWS = 1000
MOST_ROWS_OF_POWER = 20_000
#: A balance that is off by more than this many times the accuracy is worth a warning. Measured: pendulums, robots and chains at
#: 1e-3 to 1e-8 are off by 0.01 to 20 times the accuracy after tens of seconds.
EXPLAINED = 100.0

_GAUSS = (0.5 - 0.15**0.5, 0.5, 0.5 + 0.15**0.5), (5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0)


# ---------------------------------------------------------------------------------------------- accounts of work


@dataclass
class Account:
    """One source or sink of energy: its power, and the potential energy that this goes into, where it has one."""

    name: str
    power: Callable[[State], float]
    stored: Callable[[State], float] | None = None


def find_accounts(system: MultibodySystem, state: State) -> tuple[list[Account], list[str]]:
    """What does work that no potential energy accounts for, and what cannot be accounted for.

    Parameters
    ----------
    system : MultibodySystem
    state : State
        At MODEL or above; forces that are disabled in it do no work.
    """
    enabled = [f for f in system._forces() if type(f).__name__ not in CONSERVATIVE and not f.is_disabled(state)]
    others = [f for f in enabled if type(f).__name__ not in DISSIPATIVE]
    matter = system.get_matter_subsystem()
    accounts: list[Any] = []
    if len(others) > MOST_ACCOUNTS:
        accounts.append(
            Account(
                f"{len(enabled)} forces", lambda s: _applied_power(system, s), lambda s: float(system.calc_potential_energy(s))
            )
        )
    else:
        accounts = [_account_of_kind(kind, [f for f in enabled if type(f).__name__ == kind]) for kind in DISSIPATIVE]
        accounts = [one for one in accounts if one is not None]
        accounts += [_account_of(force) for force in others]
    motions = any(body._driver is not None for body in matter.bodies)
    if motions or state._has_locks:
        accounts.append(Account("motions", matter.calc_motion_power))
    constraint_power = getattr(matter, "calc_constraint_power", None)
    if constraint_power is not None and getattr(matter, "_constraints", None):
        accounts.append(Account("constraints", constraint_power))
    missing = []
    ours = ("mobod.matter", "mobod.forces")
    for subsystem in system._subsystems:
        places = state._places()
        index = subsystem.get_my_subsystem_index()
        has = sum(places[name].get(index, (0, 0))[1] for name in ("q", "u", "z"))
        if type(subsystem).__module__ not in ours and has:
            missing.append(f"what the subsystem {subsystem.get_name()!r} keeps in its own variables")
    return accounts, missing


def _account_of_kind(kind: str, forces: list[Force]) -> Account | None:
    """What all forces of a kind dissipate, in one call however many there are."""
    from .force import _switch

    if not forces:
        return None
    elements = [force._element for force in forces]
    name = f"{len(forces)} {kind}s" if len(forces) > 1 else forces[0]._name
    return Account(name, lambda state: -float(_switch.of_all(state, _switch.POWER)[elements].sum()))


def _account_of(force: Force) -> Account:
    return Account(
        force._name,
        lambda state: _power(state, *force.calc_force_contribution(state)),
        lambda state: float(force.calc_potential_energy_contribution(state)),
    )


def _power(state: State, body_forces: Array, particle_forces: Array, mobility_forces: Array) -> float:
    """F.V over bodies, f.u over mobilities, f.v over particles."""
    u = state._u[: len(mobility_forces)]
    power = np.vdot(body_forces, state._V_GB) + mobility_forces @ u
    if len(particle_forces):
        power += np.vdot(particle_forces, state._record.particle_velocity[:, 0])
    return float(power)


def _applied_power(system: MultibodySystem, state: State) -> float:
    forces = system.get_rigid_body_forces(state), system.get_particle_forces(state), system.get_mobility_forces(state)
    return _power(state, *forces)


class Ledger:
    """Work as it is done, step by step, with the energy at the steps' ends.

    Parameters
    ----------
    system : MultibodySystem
    state : State
        Where the run starts, realized to ACCELERATION.
    """

    def __init__(self, system: MultibodySystem, state: State) -> None:
        self._system = system
        self._accounts, self.missing = find_accounts(system, state)
        self._stored = [0.0 if one.stored is None else one.stored(state) for one in self._accounts]
        self.energy = system.calc_energy(state)
        #: What has been integrated of each account's power.
        self.integrals = np.zeros(len(self._accounts))
        self.work: dict[str, float] = {one.name: 0.0 for one in self._accounts}
        self.imbalance, self.largest_kinetic, self.largest_work = 0.0, 0.0, 0.0

    def add_step(self, begin: float, end: float, state_at: Callable[[float], State]) -> None:
        """Account for a step: *state_at* gives the state at a time in it, realized to ACCELERATION."""
        if self._accounts:
            for place, weight in zip(*_GAUSS, strict=True):
                state = state_at(begin + place * (end - begin))
                for a, account in enumerate(self._accounts):
                    self.integrals[a] += (end - begin) * weight * account.power(state)
        state = state_at(end)
        for a, account in enumerate(self._accounts):
            stored = 0.0 if account.stored is None else account.stored(state) - self._stored[a]
            self.work[account.name] = float(self.integrals[a]) + stored
        total = sum(self.work.values())
        self.imbalance = max(self.imbalance, abs(self._system.calc_energy(state) - self.energy - total))
        self.largest_kinetic = max(self.largest_kinetic, self._system.calc_kinetic_energy(state))
        self.largest_work = max(self.largest_work, *(abs(work) for work in self.work.values()), 0.0)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_accounts", "_system")}

    def attach(self, system: MultibodySystem, state: State) -> None:
        """Go on with a ledger that came from a checkpoint."""
        self._system = system
        self._accounts, _ = find_accounts(system, state)


# ---------------------------------------------------------------------------------------------- the error of a run


@dataclass
class ErrorEstimate:
    """How far a run is from one of a tenth of its accuracy, or of half its step.

    Attributes
    ----------
    reference : str
        What it was compared with.
    coordinate_names : tuple of str
    largest : (nq,) array
        Largest difference of each coordinate at any report.
    tolerance : float
        Beyond which a difference says that the two runs have parted.
    horizon : float
        When that was first the case of any coordinate; infinite where it never was.
    horizon_of : str
        Of which coordinate.
    """

    reference: str
    coordinate_names: tuple[str, ...]
    largest: Array
    tolerance: float
    horizon: float = np.inf
    horizon_of: str = ""

    def __str__(self) -> str:
        if not len(self.largest):
            return "no coordinates"
        worst = int(np.argmax(self.largest))
        text = f"{self.largest[worst]:.2g} in {self.coordinate_names[worst]} (against {self.reference})"
        if np.isfinite(self.horizon):
            text += f"; beyond {self.tolerance:g} from time {self.horizon:.6g} on, in {self.horizon_of}"
        return text


class ErrorRows:
    """Takes the rows of the second run, and compares them with the first's as they come.

    Parameters
    ----------
    trajectory : Trajectory
        The first.
    reference : str
        What the second is.
    tolerance : float
    """

    def __init__(self, trajectory: Trajectory, reference: str, tolerance: float) -> None:
        self._q = trajectory.q
        self._used = 0
        self.estimate = ErrorEstimate(reference, trajectory.coordinate_names, np.zeros(trajectory.q.shape[1]), tolerance)

    def __len__(self) -> int:
        return self._used

    def append(self, block: Any) -> None:
        """Compare some more rows."""
        q, estimate = block["q"], self.estimate
        first = self._q[self._used : self._used + len(q)]
        differences = np.abs(q[: len(first)] - first)
        self._used += len(q)
        if not differences.size:
            return
        estimate.largest = np.maximum(estimate.largest, differences.max(axis=0))
        beyond = np.argwhere(~(differences <= estimate.tolerance))
        if len(beyond) and not np.isfinite(estimate.horizon):
            estimate.horizon = float(block["time"][beyond[0, 0]])
            estimate.horizon_of = estimate.coordinate_names[beyond[0, 1]]

    def flush(self) -> None:
        """Nothing is kept."""


# ---------------------------------------------------------------------------------------------- the audit


@dataclass
class Audit:
    """What is known of the quality of a run; ``print(audit)`` is a short table.

    Attributes
    ----------
    energy_change : float
        From the first row to the last, kinetic and potential; mass*length^2/time^2.
    work : dict of str to float
        What forces without potential energy, prescribed motions and constraints have put in (or taken out, where negative).
    energy_error : float
        Largest difference, at any report, between the change of energy and the work: what the integration has made.
    energy_scale : float
        What it compares with: the largest kinetic energy or work.
    energy_uncertainty : float
        How much of `energy_error` may be due to integrating work from the reports; zero where there is none, or where it was
        integrated in every step.
    position_residual, velocity_residual : float
        Largest of `State.q_err` and `State.u_err`.
    residual_time : float
        When the former was found.
    linear_momentum_change, angular_momentum_change : float or None
        Largest departure from the first value, as part of the largest momentum; None where it is not conserved.
    error_estimate : ErrorEstimate or None
        Where it was asked for: ``simulate(..., estimate_error=True)``.
    statistics : dict
        Of the integrator.
    unaccounted : list of str
        What the energy balance leaves out.
    warnings : list of str
        What deserves a look, each with what to do about it.
    """

    energy_change: float = 0.0
    work: dict[str, float] = field(default_factory=dict)
    energy_error: float = 0.0
    energy_scale: float = 0.0
    energy_uncertainty: float = 0.0
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
        rows.append(("energy error", f"{self.energy_error:.3g}{relative}{uncertain}"))
        rows += [("  left out", text) for text in self.unaccounted]
        rows.append(("constraint error", f"{self.position_residual:.2g} of positions, {self.velocity_residual:.2g} of speeds"))
        for name, change in (("linear", self.linear_momentum_change), ("angular", self.angular_momentum_change)):
            rows.append((f"{name} momentum", "not conserved" if change is None else f"changed by {change:.1e} of itself"))
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
    audit = Audit(statistics=dict(trajectory.statistics), error_estimate=trajectory._error_estimate)
    energy = np.asarray(trajectory.energy)
    if not len(energy):
        return audit
    audit.energy_change = float(energy[-1] - energy[0])
    if trajectory.system is None:
        audit.energy_error = float(np.abs(energy - energy[0]).max())
        audit.unaccounted.append("all work: the trajectory has no system; load it with system=...")
    else:
        _look_at_states(audit, trajectory)
        _balance(audit, trajectory, energy)
    _warn(audit, trajectory)
    return audit


def _chosen(n: int, most: int) -> Any:
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.int64))


def _look_at_states(audit: Audit, trajectory: Trajectory) -> None:
    """Residuals, momentum and the largest kinetic energy, at rows spread over the run."""
    system, states = trajectory.system, trajectory.states
    assert system is not None
    matter = system.get_matter_subsystem()
    chosen = _chosen(len(trajectory), MOST_ROWS)
    momenta, resultants = np.empty((len(chosen), 2, 3)), np.empty((len(chosen), 2, 3))
    sizes = np.zeros((len(chosen), 2))
    for row, i in enumerate(chosen.tolist()):
        state = states[i]
        system.realize(state, Stage.DYNAMICS)
        audit.energy_scale = max(audit.energy_scale, matter.calc_kinetic_energy(state))
        q_err, u_err = (np.abs(errors).max() if len(errors) else 0.0 for errors in (state.q_err, state.u_err))
        if q_err > audit.position_residual:
            audit.position_residual, audit.residual_time = float(q_err), state.time
        audit.velocity_residual = max(audit.velocity_residual, float(u_err))
        momenta[row] = matter.calc_system_momentum_about_ground_origin(state)
        resultants[row], sizes[row] = _resultant(system, state)
    free = _is_free(system, states[0])
    for k, name in enumerate(("angular_momentum_change", "linear_momentum_change")):
        # rounding of forces that cancel is no force
        if free[k] and (np.abs(resultants[:, k]).max(axis=1) <= 1e-9 * np.maximum(sizes[:, k], 1e-300)).all():
            scale = np.linalg.norm(momenta[:, k], axis=1).max()
            change = np.linalg.norm(momenta[:, k] - momenta[0, k], axis=1).max()
            setattr(audit, name, float(change / scale) if scale > 0.0 else 0.0)


def _resultant(system: MultibodySystem, state: State) -> tuple[Array, Array]:
    """Torque about Ground's origin and force of all that is applied to bodies and particles; and what they would add up to."""
    bodies = system.get_rigid_body_forces(state)[1:]
    p = state._record.p_GB.reshape(-1, 3)[1:]
    torques, forces = bodies[:, 0] + np.cross(p, bodies[:, 1]), bodies[:, 1]
    of_particles = system.get_particle_forces(state)
    if len(of_particles):
        at = state._record.particle_location.reshape(-1, 3)
        torques, forces = np.vstack([torques, np.cross(at, of_particles)]), np.vstack([forces, of_particles])
    sizes = np.array([np.abs(torques).sum(), np.abs(forces).sum()])
    return np.stack([torques.sum(axis=0), forces.sum(axis=0)]), sizes


def _is_free(system: MultibodySystem, state: State) -> tuple[bool, bool]:
    """Whether Ground passes on neither torque, nor force, through the mobilizers on it, constraints and motions."""
    matter = system.get_matter_subsystem()
    base = [body for body in matter.bodies[1:] if body._parent is matter.ground]
    system.realize(state, Stage.DYNAMICS)
    f = system.get_mobility_forces(state)
    known = state._field("together")
    constrained = bool(getattr(matter, "_constraints", None))
    angular = linear = not constrained
    for body in base:
        slots = state._tree.u_slices[body._index]
        untouched = not f[slots].any() and known[body._index] >= 0
        kind = type(body).__name__
        angular = angular and untouched and kind == "Free"
        linear = linear and untouched and kind in ("Free", "Translation")
    return angular, linear


def _balance(audit: Audit, trajectory: Trajectory, energy: Array) -> None:
    """The change of energy against the work."""
    ledger = trajectory._ledger
    if ledger is not None:
        audit.work, audit.unaccounted = dict(ledger.work), list(ledger.missing)
        audit.energy_error = ledger.imbalance
        audit.energy_scale = max(audit.energy_scale, ledger.largest_kinetic, ledger.largest_work)
        return
    system, states = trajectory.system, trajectory.states
    assert system is not None
    state = states[0]
    accounts, audit.unaccounted = find_accounts(system, state)
    change = energy - energy[0]
    if not accounts:
        audit.energy_error = float(np.abs(change).max())
        return
    chosen = _chosen(len(trajectory), MOST_ROWS_OF_POWER)
    times = trajectory.time[chosen]
    powers, stored = np.empty((len(chosen), len(accounts))), np.zeros((len(chosen), len(accounts)))
    for row, i in enumerate(chosen.tolist()):
        state = states[i]
        system.realize(state, Stage.ACCELERATION)
        for a, account in enumerate(accounts):
            powers[row, a] = account.power(state)
            stored[row, a] = 0.0 if account.stored is None else account.stored(state)
    integrals, uncertainty = integrate(times, powers)
    work = integrals + stored - stored[0]
    for account, amount in zip(accounts, work[-1], strict=True):
        audit.work[account.name] = audit.work.get(account.name, 0.0) + float(amount)
    audit.energy_uncertainty = float(uncertainty)
    audit.energy_error = float(np.abs(change[chosen] - work.sum(axis=1)).max())
    audit.energy_scale = max(audit.energy_scale, float(np.abs(work).max()))


def integrate(times: Array, powers: Array) -> tuple[Array, float]:
    """Integrate columns of powers from the first time to each, and say how far the sum may be off.

    Parameters
    ----------
    times : (n,) array
        Ascending.
    powers : (n, m) array

    Returns
    -------
    integrals : (n, m) array
    uncertainty : float
        Largest difference of the columns' sum from what every second row gives.
    """
    from scipy.interpolate import CubicSpline

    distinct = np.concatenate([[True], np.diff(times) > 0.0])
    t, p = times[distinct], powers[distinct]
    if len(t) < 2:
        return np.zeros_like(powers), 0.0
    whole = CubicSpline(t, p).antiderivative()
    integrals = whole(times) - whole(t[0])
    half = np.unique([*range(0, len(t), 2), len(t) - 1])
    if len(half) == len(t):
        return integrals, float(np.abs(p).max() * (t[-1] - t[0]))
    coarse = CubicSpline(t[half], p[half]).antiderivative()
    difference = (coarse(t[half]) - coarse(t[0])) - (whole(t[half]) - whole(t[0]))
    return integrals, float(np.abs(difference.sum(axis=1)).max())


def _warn(audit: Audit, trajectory: Trajectory) -> None:
    """Say what a person should know, and what helps."""
    say, s = audit.warnings.append, trajectory.statistics
    accuracy, scale = float(s.get("accuracy", np.nan)), audit.energy_scale
    error = audit.energy_error - audit.energy_uncertainty
    fixed = s.get("fixed_step_size")
    if not np.isfinite(np.asarray(trajectory.energy)).all():
        say("the energy is not finite from some report on: a force has an infinite or undefined potential energy")
    if scale > 0.0 and error > EXPLAINED * (accuracy if np.isfinite(accuracy) and not fixed else 1e-3) * scale:
        what = f"energy is off by {audit.energy_error / scale:.1e} of its scale"
        if audit.unaccounted:
            say(f"{what}, which may be what is left out above")
        elif fixed:
            say(f"{what}: steps of {fixed:g} are too long; try {fixed / 4.0:.2g}, or error control without fixed_step_size")
        else:
            say(
                f"{what}, more than an accuracy of {accuracy:g} explains: a force may be discontinuous, or its potential energy "
                f"not that of the force; try accuracy={_round_down(accuracy / 100.0):g}"
            )
    if audit.energy_uncertainty > 0.01 * scale > 0.0:
        say(
            f"work is known to {audit.energy_uncertainty / scale:.1e} of the energy's scale only: the reports are too far apart "
            "for it; simulate with audit='steps', or a smaller report_interval"
        )
    attempted, failed = int(s.get("steps_attempted", 0)), int(s.get("error_test_failures", 0))
    if attempted > 50 and failed > 0.3 * attempted:
        say(
            f"{failed} of {attempted} steps were tried in vain: a force is discontinuous or very stiff; smooth it, or try "
            "integrator.BDF"
        )
    span = float(trajectory.time[-1] - trajectory.time[0])
    smallest = float(s.get("smallest_step_seen", np.inf))
    if s.get("steps_taken") and span > 0.0 and smallest < 1e-4 * span / int(s["steps_taken"]):
        say(
            f"steps came down to {smallest:.2g} near time {float(s.get('smallest_step_time', np.nan)):.6g}, ten thousand times "
            "below their mean: look for a collision, a stop or a singular configuration there"
        )
    for text in s.get("singular", ()):
        say(f"a mobilizer came near a singular configuration: {text}")
    tolerance = 10.0 * float(s.get("constraint_tolerance", 1e-6))
    if audit.position_residual > max(tolerance, 1e-12) or audit.velocity_residual > max(tolerance, 1e-12):
        quaternions = trajectory.system is not None and trajectory.system.get_matter_subsystem().get_num_quaternions_in_use(
            trajectory.states[0]
        )
        what = "constraints or quaternions" if quaternions else "constraints"
        say(
            f"{what} are off by up to {max(audit.position_residual, audit.velocity_residual):.1e}, at time "
            f"{audit.residual_time:.6g}; set a smaller constraint_tolerance, or call system.project on states you made"
        )
    for name, change in (("linear", audit.linear_momentum_change), ("angular", audit.angular_momentum_change)):
        if change is not None and np.isfinite(accuracy) and change > EXPLAINED * accuracy:
            say(f"{name} momentum should be conserved and changed by {change:.1e} of itself; try a smaller accuracy")
    if audit.error_estimate is not None and np.isfinite(audit.error_estimate.horizon):
        say(
            f"from time {audit.error_estimate.horizon:.6g} on coordinates are off by more than {audit.error_estimate.tolerance:g}: "
            "the motion is chaotic, or the accuracy too loose; trust it before that, and statistics after"
        )


def _round_down(value: float) -> float:
    return float(max(1e-14, 10.0 ** np.floor(np.log10(value) + 1e-9))) if value > 0.0 else 1e-8
