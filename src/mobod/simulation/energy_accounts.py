"""Energy accounts: the work that is done on a system and not stored as potential energy, source by source.

A force with a potential energy V and a power P has done int P dt + V(t) - V(0) that is not stored, whatever its kind.

`TimeStepping` finds impulses for each step in place of the forces of what touches, so that these have no power. Their work is
what is left of the balance. All that touches can only take energy; so the most by which that work rises is the error: of
surfaces that a step takes into each other unseen, the energy of the overlap.

Powers are integrated in every step by Gauss's rule of three points; if the steps cannot be followed, along the reports by a
cubic spline, whose uncertainty is its difference from the spline through every second report.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..force.base import Force
from ..state.state import State
from ..system.system import MultibodySystem
from ..unilateral.sliding import sliding_contacts
from ..unilateral.stepped import Stepped

#: Kinds whose power is minus the rate of their potential energy: nothing to integrate.
CONSERVATIVE = ("Gravity", "UniformGravity", "TwoPointLinearSpring", "MobilityLinearSpring")
#: Kinds that dissipate all work that they do not store, at the rate `Force.calc_power_dissipation`.
DISSIPATIVE = ("TwoPointLinearDamper", "GlobalDamper", "MobilityLinearDamper", "LinearBushing", "MobilityLinearStop")
#: More forces of other kinds than this share one account.
MOST_ACCOUNTS = 24
#: The account of motions and locks, which event handlers may set later.
MAY_MOVE = "motions"
#: ... and of what touches where steps have impulses.
IMPULSES = "contacts, stops and ropes"
#: ... and of rigid contacts that slip between events.
SLIP = "friction of contacts that slip"

_GAUSS = (0.5 - 0.15**0.5, 0.5, 0.5 + 0.15**0.5), (5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0)


@dataclass
class Account:
    """One source or sink of energy: its power, and the potential energy that this goes into, where it has one."""

    name: str
    power: Callable[[State], float]
    stored: Callable[[State], float] | None = None


def acts_by_impulses(system: MultibodySystem, steps_contacts: bool) -> bool:
    """True if an integrator steps contacts, and something may touch."""
    matter = system.get_matter_subsystem()
    return steps_contacts and bool(matter.unilateral_contacts or matter.state_limited_frictions or Stepped(system))


def find_accounts(system: MultibodySystem, state: State, impulses: bool) -> tuple[list[Account], list[str]]:
    """The sources of work that is not in the potential energy, and what the accounts leave out.

    Parameters
    ----------
    system : MultibodySystem
    state : State
        At MODEL or above; forces that are disabled in it do no work, unless event handlers may enable them.
    impulses : bool
        Whether surfaces act by the impulses of steps, and their forces do no work.
    """
    may_change = bool(system.event_handlers)
    enabled = [
        f for f in system.all_forces() if type(f).__name__ not in CONSERVATIVE and (may_change or not f.is_disabled(state))
    ]
    stepped: list[Any] = list(Stepped(system).elements) if impulses else []
    idle = [_account_of(f) for f in stepped]
    enabled = [f for f in enabled if f not in stepped]
    others = [f for f in enabled if type(f).__name__ not in DISSIPATIVE]
    matter = system.get_matter_subsystem()
    accounts: list[Any] = []
    if len(others) > MOST_ACCOUNTS:
        accounts.append(
            Account(
                f"{len(enabled)} forces",
                lambda s: _applied_power(system, s) - sum(one.power(s) for one in idle),
                lambda s: float(system.calc_potential_energy(s)) - sum(one.stored(s) for one in idle if one.stored),
            )
        )
    else:
        accounts = [_account_of_kind(kind, [f for f in enabled if type(f).__name__ == kind]) for kind in DISSIPATIVE]
        accounts = [one for one in accounts if one is not None]
        accounts += [_account_of(force) for force in others]
    motions = any(body.driver is not None for body in matter.bodies)
    if motions or state.has_locks or may_change:
        accounts.append(Account(MAY_MOVE, matter.calc_motion_power))
    constraint_power = getattr(matter, "calc_constraint_power", None)
    if constraint_power is not None and getattr(matter, "constraints", None):
        accounts.append(Account("constraints", constraint_power))
    if not impulses and any(one.has_friction() for one in matter.unilateral_contacts):
        accounts.append(Account(SLIP, _power_of_slip))
    missing = []
    ours = ("mobod.system.matter", "mobod.force.subsystem")
    for subsystem in system.subsystems:
        places = state.variable_places()
        index = subsystem.get_my_subsystem_index()
        has = sum(places[name].get(index, (0, 0))[1] for name in ("q", "u", "z"))
        if type(subsystem).__module__ not in ours and has:
            missing.append(f"what the subsystem {subsystem.get_name()!r} keeps in its own variables")
    return accounts, missing


def _account_of_kind(kind: str, forces: list[Force]) -> Account | None:
    """The power that all forces of a kind dissipate, in one call however many there are."""
    from ..force import dispatch

    if not forces:
        return None
    elements = [force.element for force in forces]
    name = f"{len(forces)} {kind}s" if len(forces) > 1 else forces[0].name
    switch: Any = dispatch
    return Account(name, lambda state: -float(switch.of_all(state, switch.POWER)[elements].sum()))


def _account_of(force: Force) -> Account:
    return Account(
        force.name,
        lambda state: 0.0 if force.is_disabled(state) else _power(state, *force.calc_force_contribution(state)),
        lambda state: 0.0 if force.is_disabled(state) else float(force.calc_potential_energy_contribution(state)),
    )


def _power_of_slip(state: State) -> float:
    """Of the friction of contacts that slide, which `unilateral.sliding` adds to the forces."""
    return float(sum(one.calc_friction_force(state) @ one.get_slip_velocity(state) for one in sliding_contacts(state)))


def _power(state: State, body_forces: Array, particle_forces: Array, mobility_forces: Array) -> float:
    """F.V over bodies, f.u over mobilities, f.v over particles."""
    u = state.u_values[: len(mobility_forces)]
    power = np.vdot(body_forces, state.V_GB) + mobility_forces @ u
    if len(particle_forces):
        power += np.vdot(particle_forces, state.record.particle_velocity[:, 0])
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
    impulses : bool
        Whether what touches acts by the impulses of steps.
    by_events : float
        What events have added to the energy where the run starts: impacts of what touches there.
    """

    def __init__(self, system: MultibodySystem, state: State, impulses: bool, by_events: float) -> None:
        self._system, self._impulses, self._least = system, impulses, 0.0
        self._accounts, self.missing = find_accounts(system, state, impulses)
        self._stored = self._stored_at(state)
        self.energy = system.calc_energy(state) - by_events
        #: The time up to which all work is accounted for.
        self.time = state.time
        #: What has been integrated of each account's power.
        self.integrals = np.zeros(len(self._accounts))
        self.work: dict[str, float] = {one.name: 0.0 for one in self._accounts}
        self.imbalance, self.largest_kinetic, self.largest_work = 0.0, 0.0, 0.0
        self._before_event: list[float] = []

    def _stored_at(self, state: State) -> list[float]:
        return [0.0 if one.stored is None else one.stored(state) for one in self._accounts]

    def event_begins(self, state: State) -> None:
        """Event handlers are about to change the state."""
        self._before_event = self._stored_at(state)

    def event_ends(self, state: State) -> None:
        """They have: what energy is stored otherwise now is what the event did, and no work."""
        for a, (before, after) in enumerate(zip(self._before_event, self._stored_at(state), strict=True)):
            self._stored[a] += after - before

    def advance(self, end: float, state_at: Callable[[float], State], is_step_end: bool = True, by_events: float = 0.0) -> None:
        """Account for the rest of a step, to *end*: *state_at* gives a state in it, realized to ACCELERATION.

        *by_events* is what events have added to the energy so far.

        The balance is taken at the ends of steps, since interpolation in between has an error of its own.
        """
        begin, self.time = self.time, end
        if self._accounts:
            for place, weight in zip(*_GAUSS, strict=True):
                state = state_at(begin + place * (end - begin))
                for a, account in enumerate(self._accounts):
                    self.integrals[a] += (end - begin) * weight * account.power(state)
        state = state_at(end)
        for a, account in enumerate(self._accounts):
            stored = 0.0 if account.stored is None else account.stored(state) - self._stored[a]
            self.work[account.name] = float(self.integrals[a]) + stored
        known = sum(self.work[account.name] for account in self._accounts) + by_events
        rest = self._system.calc_energy(state) - self.energy - known
        if self._impulses:
            self.work[IMPULSES] = rest
        if is_step_end:
            self._least = min(self._least, rest)
            self.imbalance = max(self.imbalance, rest - self._least if self._impulses else abs(rest))
        self.largest_kinetic = max(self.largest_kinetic, self._system.calc_kinetic_energy(state))
        self.largest_work = max(self.largest_work, *(abs(work) for work in self.work.values()), 0.0)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_accounts", "_system")}

    def attach(self, system: MultibodySystem, state: State) -> None:
        """Go on with a ledger that came from a checkpoint."""
        self._system = system
        self._accounts, _ = find_accounts(system, state, self._impulses)


def integrate_between(times: Array, powers: Array, stored: Array, jumps: Any) -> tuple[Array, float]:
    """The work until each time, and how far the sum may be off, where events change the motion at once.

    Parameters
    ----------
    times : (n,) array
    powers, stored : (n, m) array
        Of each account.
    jumps : (k,) array of int
        Rows before which there was an event. In the interval before, what is stored may have jumped with it, which is the
        event's; so what an account with a store does there is not known.
    """
    work, uncertainty, begin = np.zeros_like(powers), 0.0, 0
    keeps = (stored != 0.0).any(axis=0)
    for end in [*jumps.tolist(), len(times)]:
        part = slice(begin, end)
        integrals, uncertain = integrate(times[part], powers[part])
        work[part] += integrals + stored[part] - stored[begin]
        uncertainty += uncertain
        if end < len(times):
            dt = times[end] - times[end - 1]
            mean = 0.5 * dt * (powers[end - 1] + powers[end])
            work[end:] = work[end - 1] + np.where(keeps, 0.0, mean)
            uncertainty += float(np.where(keeps, np.abs(mean), 0.5 * dt * np.abs(powers[end] - powers[end - 1])).sum())
        begin = end
    return work, uncertainty


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
