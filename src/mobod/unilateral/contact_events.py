"""ContactEvents: what closes and opens contacts, and lets them stick and slip, where an integrator runs them by events.

Each contact has one witness, according to what it does:

    open     its gap                               sticks   mu_s N - |f|, at zero of which it slips
    closed   N, at zero of which it lets go        slips    N, and the slip along the direction in which it began

Of redundant rows multipliers are the least, which may pull, or be out of a cone, where others are not. From there on one
witness is watched in place of N and mu_s N - |f|: by how much the best of all forces that do the same are within the law, see
`indeterminate`.

Slip that comes to zero turns, the faster the less it is, and errors of steps, which its direction follows, leave it some: its
event is where it falls to some times what the accuracy allows for such errors, and then it sticks unless friction cannot hold
it. What never was more ends at zero.

At an event all that touches is struck (`Problem.strike`), and then what each contact does follows from the velocities a short
time later, of which the impulses are found at once: v + dt a + W gamma, Coulomb's law between gamma and these.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..errors import ConvergenceError, ModelError
from ..event import EventHandler
from ..event.watched import CLOSED, GAP, SLIPS, Found, Watched
from ..state.impulses import Impulse
from ..state.trigger_info import TriggerInfo
from ..tree.sliding import LEAST_SLIP
from ..value.stage import Stage
from . import _rows
from .base import UnilateralContact
from .closed_contact import FrictionLeft, NormalForce, SlipLeft
from .indeterminate import REDUNDANT, find_islands, find_margin
from .open_gap import OpenGapOfTable, open_gap
from .problem import (
    ContactRows,
    ContactTable,
    Gathered,
    Problem,
    constraints_of,
    contact_table,
    select,
    space_for,
    touching,
)
from .sliding import paradox, sliding_contacts
from .stepped.space import Space

if TYPE_CHECKING:
    from ..state.state import State
    from ..value.annotations import MultibodySystem

#: Of positions of size 1: gaps that are no wider are closed.
_WIDTH = 4e-11
#: Slip below that part of the capture speed is none: several contacts that come to rest turn round each other's slip. So is
#: what slip that comes to zero may have overrun that by where its event is found.
_CREEP = 1e-4
#: So is slip that comes down to so many times what errors of speeds leave unknown. Errors across it, as large as that, turn
#: friction to and fro, which then slows it less: where friction can all but hold, less slip would hover, in ever shorter steps.
_LEAST_SLIP = 4.0
#: What begins to slip by no more than so many residuals, or that part of the largest acceleration, sticks: its friction may be
#: at the limit all the same, and the direction of so little slip is rounding.
_UNSURE, _NO_SLIP = 1000.0, 1e-9
#: How far ahead, in parts of coordinates' weights, it is seen whether what is redundant stays so.
_AHEAD = 1e-4
#: So many times it is found out what contacts do next where little speeds are taken away after that.
_MOST_ASKED = 5
#: For each contact, and two more, it is found out so many times in that part of the time scale what they do: without end.
_MOST_EVENTS, _SHORT = 500, 0.1
#: So many sets of what contacts do are remembered, with their witnesses.
_MOST_SETS = 1000


#: Of all constraints, which are enabled, and along which rows contacts slide.
Switched = tuple[Any, Any]


class ContactEvents(EventHandler):
    """Handles the events of all unilateral contacts of a system.

    Parameters
    ----------
    system : MultibodySystem
    accuracy : float
        The integrator's, which says how closely events are found.
    """

    #: Bounces that accumulate come to rest by the capture speed.
    settles_accumulation = True
    #: Contacts close where their gaps fall to zero, and open where they are pressed no more.
    info = TriggerInfo(rising=False)

    def __init__(self, system: MultibodySystem, accuracy: float) -> None:
        super().__init__(name="unilateral contacts")
        self._system, self._accuracy = system, accuracy
        #: Arrays of problems, for one thread each: not part of what is pickled, as they have addresses.
        self._spaces: list[Space] = []
        #: The witnesses of contacts by what each does, and that of all that are closed.
        self._witnesses: dict[tuple[int, int, bool], list[Watched]] = {}
        self._watched: dict[tuple[bytes, bool], list[Watched]] = {}
        stage, seen = Stage.ACCELERATION, (None, self.info, None)
        self._of_all = Watched(self, 0, stage, find_margin, *seen, label="forces of redundant rows", near=CLOSED)
        scale = system.get_default_time_scale()
        #: What it was made by.
        self.settings = accuracy, scale
        self._short, self._window = _SHORT * scale, self.info.calc_window(accuracy, scale)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_spaces": [], "_witnesses": {}, "_watched": {}}

    # ------------------------------------------------------------------------------------------ witnesses

    def watched(self, state: State, in_lanes: bool = False) -> list[Watched]:
        """The witnesses of an interval that begins at *state*, at ACCELERATION; or of states that go on *in lanes* like it.

        Kernels look at them, but at forces of redundant rows that are out of the law where an interval begins.
        """
        table = contact_table(state)
        closed, asks = table.closed(state), False
        modes = closed.astype(np.int8)
        if np.count_nonzero(closed):
            modes += closed & (state.field("friction_rows")[table.normal] >= 0)
            if not in_lanes:
                self.keep_least_slips(state)
                asks = _is_redundant(state) and not self.can_be_in_lanes(state)
        found = self._watched.get(key := (modes.tobytes(), asks))
        if found is None:
            if len(self._watched) == _MOST_SETS:
                self._watched.clear()
            found = [self._of_all] if asks else []
            for k, mode in enumerate(modes.tolist()):
                own = k, mode, asks and mode > 0
                if own not in self._witnesses:
                    self._witnesses[own] = self._make_witnesses(table.contacts[k], *own[1:])
                found += self._witnesses[own]
            self._watched[key] = found
        return found

    def _make_witnesses(self, one: UnilateralContact, mode: int, for_all: bool) -> list[Watched]:
        """The witnesses of a contact that is open (0), closed (1) or slides (2); where one is *for all* its slip alone."""
        if mode == 0:
            return [self.watch_gap(one)]
        left: list[Any] = [] if for_all else [(NormalForce(one), "normal force", CLOSED)]
        if mode == 2:
            left += (SlipLeft(one, False), "slip", SLIPS), (SlipLeft(one, True), "slip", 0)
        elif one.has_friction() and not for_all:
            left.append((FrictionLeft(one), "friction left", CLOSED))
        found = []
        for witness, what, near in left:
            own = witness.required_stage, witness.calc_value, None, self.info, witness
            found.append(Watched(self, 0, *own, one.name, what, near=near))
        return found

    def can_be_in_lanes(self, state: State) -> bool:
        """True if what keeps contacts that are closed is within the law: of redundant rows it may not be.

        Needs ACCELERATION.
        """
        closed = [one for one in self._system.get_matter_subsystem().unilateral_contacts if one.is_enabled(state)]
        stick = (one for one in closed if one.has_friction() and not one.is_sliding(state))
        return all(one.calc_normal_force(state) >= 0.0 for one in closed) and all(
            FrictionLeft(one).calc_value(state) > 0.0 for one in stick
        )

    def keep_least_slips(self, state: State) -> None:
        """Keep at how little slip that of contacts that slide has ended, in an interval that begins at *state*.

        What begins with less, as its friction does not hold it, ends there where it comes back from more, else at zero.
        """
        table = contact_table(state)
        if not (which := table.sliding(state)):
            return
        J = table.gather(state, which)[0]
        unknown = self._unknown_slips(state, J)
        for at, k in enumerate(which):
            least = _LEAST_SLIP * max(unknown[3 * at + 1 : 3 * at + 3])
            state.record.slip_memory[table.contacts[k].normal.index, LEAST_SLIP] = least

    def still_hold(self, state: State, found: Found) -> bool:
        """True if all that was *found* is multipliers that have left the law where forces within it would hold the same."""
        for one in found.which:
            if one.owner is not self or not isinstance(one.witness, NormalForce) or isinstance(one.witness, SlipLeft):
                return False
        return _is_redundant(state) and find_margin(state) > 0.0

    def _unknown_slips(self, state: State, J: Array) -> list[float]:
        """The velocities that errors of speeds, which the accuracy allows, leave unknown, of each row."""
        found: list[float] = (self._accuracy * (np.abs(J) / state.u_weights[: state.tree.nu]).max(axis=1, initial=0.0)).tolist()
        return found

    def _take_space(self, state: State) -> Space:
        """Arrays of a problem, which who takes them puts back."""
        try:
            return self._spaces.pop()
        except IndexError:
            return space_for(state)

    def _second_rates(self, state: State, contacts: list[UnilateralContact], problem: Problem) -> Array:
        """The accelerations of a problem's rows, of which those of bilateral constraints are kept."""
        a = np.zeros(len(problem.J))
        which = np.array([one.rows_of().index for one in contacts], np.int64)
        _rows.find_second_rates(state.block, which, problem.rows.starts[:-1], a)
        a[problem.normals] *= [one.get_sign_convention() for one in contacts]
        return a

    def watch_gap(self, one: UnilateralContact) -> Watched:
        """The witness of a contact that is open."""
        gap = open_gap(one)
        bound = gap.calc_bound if isinstance(gap, OpenGapOfTable) else None
        seen = self.info, gap, one.name, "gap", one.find_knot, bound
        return Watched(self, 0, gap.required_stage, gap.calc_value, gap.calc_rate, *seen, near=GAP)

    # ------------------------------------------------------------------------------------------ events

    def handle_event(self, state: State, accuracy: float) -> None:
        """Strike what touches, and find out what each contact does next.

        Little speeds that are taken away may change much, where rows are nearly one: what is held may be so no more, what
        slides may have stopped, and what touches, and left, may come back.
        """
        table, matter, overrun = contact_table(state), self._system.get_matter_subsystem(), self._overrun(state)
        u, told = state.u_values.copy(), 0 if state.impulses is None else len(state.impulses.found)
        before = state.field("constraint_enabled").copy(), state.field("friction_rows").copy()
        memory = state.record.slip_memory.copy()
        sticks = goes_on = np.zeros(len(table.contacts), bool)
        asked = 0
        while asked < _MOST_ASKED:
            more = self._switch(state, overrun, goes_on)
            slides = state.field("friction_rows")[table.normal] >= 0
            hovers = sticks & slides & ~goes_on
            if hovers.any():
                state.u_values[:] = u
                state.invalidate_u()
                matter.switch_contacts(state, *before)
                state.record.slip_memory[:] = memory
                if state.impulses is not None:
                    del state.impulses.found[told:]
                sticks, goes_on, asked = np.zeros_like(sticks), goes_on | hovers, 0
            elif more:
                sticks, asked = table.closed(state) & ~slides, asked + 1
            else:
                break

    def _switch(self, state: State, overrun: Array, goes_on: Any) -> bool:
        """Strike, find out, and switch; True if little speeds were taken away after that, which contacts may depend on.

        *goes_on* says of which contacts little slip goes on.
        """
        table, matter = contact_table(state), self._system.get_matter_subsystem()
        closed, token, owned = table.closed(state), state.instance_token, len(state.own_fields)
        before = bare = state.field("constraint_enabled"), state.field("friction_rows")
        if np.count_nonzero(closed):
            before, bare = (before[0].copy(), before[1].copy()), (before[0].copy(), before[1].copy())
            bare[0][table.normal] = bare[0][table.other] = 0
            bare[1][table.normal] = -1
            matter.switch_contacts(state, *bare)
        self._system.realize(state, Stage.VELOCITY)
        rows, which = touching(state, table, closed, 2.0 * self._window, _WIDTH)
        new, crept = bare, False
        if which:
            try:
                new, crept = self._settle(
                    state, [table.contacts[k] for k in which], rows, (overrun[which], goes_on[which]), bare
                )
            except ConvergenceError as error:
                raise ConvergenceError(f"at time {state.time:.9g}: {error}") from error
        if new is before:  # none was closed, and none stays
            return False
        if state.impulses is not None:
            for one, mode, now in zip(table.contacts, _modes(table, *before), _modes(table, *new), strict=True):
                if now != mode:
                    state.impulses.found.append(Impulse(state.time, one.name, now))
        as_before = all(map(np.array_equal, new, before))
        matter.switch_contacts(state, *new)
        if as_before and len(state.own_fields) == owned:
            state.instance_token = token
        return crept and self._hold(state, rows, ~table.closed(state)[which])

    def _overrun(self, state: State) -> Array:
        """By how much slip of each contact may have overrun zero where its event is found; 0 of what does not slide."""
        table = contact_table(state)
        found = np.zeros(len(table.contacts))
        sliding = table.sliding(state)
        if sliding and state.stage >= Stage.ACCELERATION:
            rates = np.zeros(3 * len(sliding))
            rows = table.other[sliding]
            _rows.find_second_rates(state.block, rows, np.arange(0, len(rates), 3, dtype=np.int64), rates)
            found[sliding] = 2.0 * self._window * np.hypot(rates[1::3], rates[2::3])
        return found

    def has_work(self, state: State, gathered: Gathered, closed_are_handled: bool = False) -> bool:
        """True if anything touches in a state of which all has been *gathered*, so that it is to be found out what it does.

        Of contacts that are closed that may be known.
        """
        closed = contact_table(state).closed(state).tolist()
        width, (_, gaps, laws) = _WIDTH * max(1.0, *map(abs, state.q_values.tolist())), gathered
        for is_closed, gap, (*_, rate) in zip(closed, gaps.tolist(), laws.tolist(), strict=True):
            if not closed_are_handled if is_closed else gap <= 2.0 * self._window * abs(rate) + width:
                return True
        return False

    def _settle(
        self, state: State, contacts: list[UnilateralContact], rows: ContactRows, known: tuple[Array, Any], bare: Switched
    ) -> tuple[Switched, bool]:
        """Strike the contacts, and find what those that stay do; what is switched then, and whether speeds are left in it.

        *bare* is what is switched where all are open.
        """
        nu = state.tree.nu
        problem = Problem(state, rows, space=self._take_space(state))
        u = state.u_values[:nu]
        before = problem.J @ u + problem.offsets()
        v, total = problem.strike(before, True, _rows.NO_RATE)
        resting = problem.resting
        if not problem.bounced and state.impulses is not None:
            self._refuse_chattering(state.time, state.impulses.contact_times, rows.names)
        if np.count_nonzero(total):  # which takes a fifth of the time of `any`
            self._tell_impulses(state, contacts, rows.starts, total, before + v)
            u += problem.MinvJT @ total
            state.invalidate_u()
            self._system.realize(state, Stage.VELOCITY)
        if not (count := np.count_nonzero(resting)):
            self._spaces.append(problem.space)
            return bare, False
        switched, crept = bare, bool((v[problem.normals][resting] > problem.no_rate).any())
        islands = np.zeros(len(contacts), np.int64)
        if count > 1:  # what is known of one does not depend on how fast others slide
            islands = find_islands(problem.W, problem.starts)[: len(contacts)]
        for island in np.unique(islands[resting]):
            which = resting & (islands == island)
            kept, of_these = [contacts[k] for k in np.flatnonzero(which)], (problem.no_rate, *(one[which] for one in known))
            switched, more = self._find_modes(state, kept, select(rows, which), problem, of_these, switched)
            crept |= more
        self._spaces.append(problem.space)
        return switched, crept

    def _tell_impulses(self, state: State, contacts: list[UnilateralContact], starts: Any, total: Array, both: Array) -> None:
        """Tell the run's events who was struck; *both* is the sum of the velocities before and after."""
        if state.impulses is None:
            return
        firsts, time = starts.tolist(), state.time
        for one, first, end in zip(contacts, firsts, firsts[1:], strict=False):
            own = total[first:end]
            if np.count_nonzero(own):
                energy = float(0.5 * own @ both[first:end])
                state.impulses.found.append(Impulse(time, one.name, "struck", own.copy(), energy))

    def _hold(self, state: State, rows: ContactRows, leaves: Any) -> bool:
        """Take away the small velocities of what stays, by impulses of constraints: kinetic energy becomes less by that.

        It may drive together what touches but *leaves*, which is stopped: without friction, which would take far larger speeds
        of slip. False if nothing was taken away, or only the slip of one contact alone, which comes to rest.
        """
        self._system.realize(state, Stage.VELOCITY)
        u, J = state.u_values[: state.tree.nu], rows.J if len(leaves) > 1 else rows.J[:1]
        rates = J @ u
        self._system.get_matter_subsystem().fulfil_by_impulses(state)
        rows = select(rows, leaves)
        if (rows.J[rows.starts[:-1]] @ u < -_CREEP * rows.capture_speed).any():
            self._system.realize(state, Stage.VELOCITY)
            o = np.zeros(len(rows.gaps))
            problem = Problem(state, rows._replace(restitution=o, friction=o), space=self._take_space(state))
            _, total = problem.strike(problem.J @ u + problem.offsets(), True, _rows.NO_RATE)
            u += problem.MinvJT @ total
            state.invalidate_u()
            self._spaces.append(problem.space)
        return bool(np.abs(J @ u - rates).max() > _rows.NO_RATE)

    def _refuse_chattering(self, time: float, times: list[float], names: list[str]) -> None:
        """Raise `ConvergenceError` where contacts close and open without end, at *times*, and now without restitution."""
        while times and times[-1] > time:
            times.pop()
        most = _MOST_EVENTS * (2 + len(self._system.get_matter_subsystem().unilateral_contacts))
        times[:] = [*times[1 - most :], time]
        if len(times) == most and time - times[0] < self._short:
            raise ConvergenceError(
                f"contacts close, open, stick and slip {most} times from {times[0]:.9g} on, the last of them "
                f"{', '.join(repr(name) for name in names)}; set_capture_speed lets what is slower stay closed, and "
                "mobod.integrator.TimeStepping takes any number of them within a step"
            )

    def _find_modes(
        self,
        state: State,
        contacts: list[UnilateralContact],
        rows: ContactRows,
        problem: Problem,
        known: tuple[float, Array, Any],
        bare: Switched,
    ) -> tuple[Switched, bool]:
        """Close what presses, and let it stick or slip; whether any that sticks had a little slip left.

        *problem* is of these and others, where the state is; *known*: a rate that is none, by how much slip may have overrun,
        and whether little slip goes on. The other contacts have no part in it.
        """
        self._system.realize(state)
        (no_rate, overrun, goes_on), nu = known, state.tree.nu
        starts, rates, sizes = rows.starts.tolist(), rows.J @ state.u_values[:nu], self._unknown_slips(state, rows.J)
        slips = [rates[first + 1 : end] for first, end in pairwise(starts)]
        speeds = np.array([float(np.hypot(*slip)) if len(slip) else 0.0 for slip in slips])
        unknown = np.array([max(sizes[first + 1 : end], default=0.0) for first, end in pairwise(starts)])
        slips_little = speeds > np.maximum(np.maximum(no_rate, overrun), _CREEP * rows.capture_speed)
        slipping, begins = slips_little & (speeds > _LEAST_SLIP * unknown), np.zeros(len(contacts), bool)
        slipping |= goes_on & (speeds > np.maximum(no_rate, overrun))
        eases = np.array([one.get_dynamic_friction() < one.get_static_friction() for one in contacts])
        while True:
            moving = slips, slipping, begins
            problem, coefficients, gamma, after, unsure = self._solve(state, contacts, rows, moving, no_rate, problem)
            pressed = gamma[problem.normals]
            least = 1e-9 * max(float(pressed.max()), 1e-300)
            sizes = np.abs(after).tolist()
            slides = np.array([sum(sizes[first + 1 : end]) for first, end in pairwise(starts)])
            more = ~slipping & ~begins & (slips_little | eases) & (pressed > least) & (slides > unsure)
            if not more.any():
                break
            # what is so slow that it may stick, but does not, slips as it does; what begins to slip has dynamic friction
            slipping, begins = slipping | (more & slips_little), begins | (more & ~slips_little)
        holds = np.ones(len(problem.J), bool)
        for (first, end), press, held in zip(pairwise(starts), pressed > least, slides <= unsure, strict=True):
            holds[first], holds[first + 1 : end] = press, press and held
        ahead = self._leave_singular(state, contacts, problem, gamma, holds)
        if ahead is not None:
            there = constraints_of(ahead, contacts)
            problem, coefficients, gamma, after, unsure = self._solve(ahead, contacts, there, moving, no_rate, problem)
            pressed = gamma[problem.normals]
            least = 1e-9 * max(float(pressed.max()), 1e-300)
        enabled, along = bare[0].copy(), bare[1].copy()
        for k, (one, (first, end)) in enumerate(zip(contacts, pairwise(starts), strict=True)):
            if not pressed[k] > least:
                continue
            slip = after[first + 1 : end]
            if end - first == 1:  # `_hold` takes away at once what speed is left in all that stays
                enabled[one.normal.index] = 1
                continue
            speed = float(np.hypot(*slip))
            if slipping[k] and speed < 0.5:
                raise ModelError(paradox([one], coefficients[k : k + 1], state))
            if not slipping[k] and speed <= unsure[k]:
                enabled[one.rows_of().index] = 1
            else:
                enabled[one.normal.index], along[one.normal.index] = 1, one.rows_of().index
                least_known = 0.0 if slipping[k] else max(float(unknown[k]), 2.0 * float(speeds[k]))
                state.record.slip_memory[one.normal.index] = one.memory_of_slip(slip / speed, least_known)
        return (enabled, along), bool((~slipping & (speeds > no_rate)).any())

    def _leave_singular(
        self, state: State, contacts: list[UnilateralContact], problem: Problem, gamma: Array, holds: Any
    ) -> State | None:
        """A state a little further on, where more of the rows that hold are independent; None if no more are.

        Of a box in a corner that tips about its upper edge, say, friction there and the lower edge's normal force can share the
        weight in any way, until it has turned: then the lower edge is lifted, or the upper one slides. *holds* says of rows
        which hold.
        """
        count, nu = int(holds.sum()), state.tree.nu
        rank = count if count < 2 else _rank(problem.W[np.ix_(holds, holds)])
        if rank == count:
            return None
        u = state.u_values[:nu] + state.u_dot[:nu] + problem.MinvJT @ gamma
        size = float(np.abs(u * state.u_weights[:nu]).max(initial=0.0))
        if not size > 0.0:
            return None
        ahead, q = state.copy(), state.q.copy()
        q[: state.tree.nq] += self._system.get_matter_subsystem().multiply_by_n(state, False, _AHEAD / size * u)
        ahead.q = q
        self._system.realize(ahead)
        W = Problem(ahead, constraints_of(ahead, contacts), like=problem).W
        return ahead if len(W) == len(holds) and _rank(W[np.ix_(holds, holds)]) > rank else None

    def _solve(
        self,
        state: State,
        contacts: list[UnilateralContact],
        rows: ContactRows,
        moving: tuple[Any, Any, Any],
        no_rate: float,
        before: Problem,
    ) -> tuple[Problem, list[float], Array, Array, Array]:
        """The problem of a short time; coefficients, impulses, and velocities after it, where slips that go on have length 1.

        *moving*: slips, of which contacts they go on, and which begin to slip. The last array says of each up to which
        velocities are no slip; what has some yet, which is taken away if it sticks, may turn, as other points that stick do
        not. It takes the arrays of the one *before*, and if that was where the state is its rows of bilateral constraints.
        """
        slips, slipping, begins = moving
        nu, speeds = state.tree.nu, np.array([float(np.hypot(*slip)) if len(slip) else 0.0 for slip in slips])
        slows = np.where(slipping, speeds, np.where(begins, 1e-300, 0.0)).tolist()
        coefficients = [one.calc_effective_cof(state, 0.0, slow) for one, slow in zip(contacts, slows, strict=True)]
        problem = Problem(state, rows._replace(friction=np.array(coefficients)), like=before)
        v, a = np.zeros(len(problem.J)), self._second_rates(state, contacts, problem)
        turning = a - problem.J @ state.u_dot[:nu]
        for k in np.flatnonzero(slipping):  # of one length: rounding of fast slip hid how far what sticks is out of the law
            v[rows.starts[k] + 1 : rows.starts[k + 1]] = slips[k] / speeds[k]
        self._refuse_paradox(state, contacts, problem, moving, coefficients)
        # so short a time that slip does not end in it
        largest = float(np.abs(a).max())
        if largest <= no_rate * no_rate:  # of velocities that are none, without forces: rounding, which may jam
            a[:], largest = 0.0, 0.0
        dt = 1.0 if not slipping.any() else 1e-4 / max(largest, 1e-300)
        gamma = np.zeros(len(v))
        try:
            after = problem.solve(v + dt * a, gamma)
        except ConvergenceError:
            self._refuse_paradox(state, contacts, problem, moving, coefficients, together=True)
            raise
        unsure = np.full(len(contacts), max(_UNSURE * problem.residual, _NO_SLIP * dt * largest))
        for at in np.flatnonzero(~slipping & (speeds > no_rate)):
            unsure[at] += dt * float(np.abs(turning[rows.starts[at] + 1 : rows.starts[at + 1]]).sum())
        return problem, coefficients, gamma, after, unsure

    def _refuse_paradox(
        self,
        state: State,
        contacts: list[UnilateralContact],
        problem: Problem,
        moving: tuple[Any, Any, Any],
        coefficients: list[float],
        together: bool = False,
    ) -> None:
        """Raise `ModelError` for a contact that friction presses together by more than it takes to hold it: see `sliding`.

        Several may do that *together*: normal forces N change the rates of gaps by A N, and where all such have one answer no
        real eigenvalue of A is below zero.
        """
        W, first, normals = problem.W, problem.contact_rows, problem.normals
        if first < len(W):  # as bilateral constraints leave it
            W = W - W[:, first:] @ np.linalg.pinv(W[first:, first:], rcond=1e-12, hermitian=True) @ W[first:]
        A, slide = W[np.ix_(normals, normals)], np.flatnonzero(moving[1])
        for k in slide:
            n, slip = int(normals[k]), moving[0][k]
            A[:, k] -= coefficients[k] * (W[normals, n + 1 : n + 3] @ slip) / np.hypot(*slip)
            if A[k, k] <= 1e-9 * W[n, n]:
                raise ModelError(paradox([contacts[k]], coefficients[k : k + 1], state))
        if together and len(slide):
            values = np.linalg.eigvals(A)
            if (values[values.imag == 0.0].real < -1e-9 * W.diagonal().max()).any():
                raise ModelError(paradox([contacts[k] for k in slide], [coefficients[k] for k in slide], state))


def contact_events(state: State, accuracy: float) -> ContactEvents | None:
    """The handler of contacts' events that runs of an accuracy share, in threads too; None where there are no contacts."""
    table, settings = contact_table(state), (accuracy, state.system.get_default_time_scale())
    known: ContactEvents | None = table.events
    if table.contacts and (known is None or known.settings != settings):
        known = table.events = ContactEvents(state.system, accuracy)
    return known


def _rank(W: Array) -> int:
    least = REDUNDANT * float(W.diagonal().max(initial=0.0))
    return int(np.count_nonzero(np.abs(np.linalg.eigvalsh(W)) > least))


def _is_redundant(state: State) -> bool:
    """True if rows of enabled constraints have been dropped, as others say the same. Needs ACCELERATION."""
    m = int(state.field("group_num_rows").sum())
    return not (state.record.gram_inverse[:m] > 0.0).all()


def _modes(table: ContactTable, enabled: Any, along: Any) -> list[str]:
    """The states of contacts, as the run's events call them, where so much is switched."""
    found = []
    for normal, other in zip(table.normal.tolist(), table.other.tolist(), strict=True):
        mode = "opened"
        if enabled[normal] or enabled[other]:
            mode = "closed" if normal == other else "slid" if along[normal] >= 0 else "stuck"
        found.append(mode)
    return found


__all__ = ["ContactEvents", "contact_events", "sliding_contacts"]
