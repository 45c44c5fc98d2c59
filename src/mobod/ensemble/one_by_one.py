"""Runs of single states, for what lanes cannot do: parts in Python, events, contact that limits steps, implicit methods.

Each is a run as `mobod.simulate` makes it, or goes on as `TimeStepper.step` does, so that its bits depend on nothing but its
own state and what that has done.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..errors import MobodError
from ..integrator import Integrator
from ..simulation.event_log import EventLog
from ..simulation.events import Events
from ..simulation.quantities import Recording
from ..simulation.run import IntegratorSettings, Run, integrator_settings, make_integrator
from ..simulation.sensitivities import Sensitivities
from ..simulation.table import MemoryRows
from ..simulation.time_stepper import TimeStepper
from ..simulation.variational import variational
from ..state.resources import Settings
from ..state.state import State
from ..stepping import record as rk
from ..system.forward_sensitivities import Directions
from ..system.system import MultibodySystem
from ..value.callers import callers_level
from .overrides import same
from .states import has_memory_of

#: A state's time, q, u, z, particles, what it remembers, as a row of `batch_memory`, and how often it was begun anew.
Row = tuple[float, Array, Array, Array, Array, Array, int]


@dataclass
class OneRun:
    """The outcome of the run of a state.

    Attributes
    ----------
    time : (k,) array
        Of its rows: the reports, and where an event has ended it, the end, unless a report is of that.
    y : (k, ny) array
    state : State
        At the end.
    failure : str or None
        Why it could not go on.
    termination : str or None
        Why it ended before its last report.
    integrator : Integrator
        With its counts.
    sensitivities : Sensitivities or None
        At the rows, where they were asked for.
    changes : list
        Rows from which on Instance variables are others, and these: see `Trajectory`.
    events : Events or None
        What happened; None where nothing could.
    event_rows : (m,) array of int or None
        The first row after each.
    """

    time: Array
    y: Array
    state: State
    integrator: Integrator
    failure: str | None = None
    termination: str | None = None
    sensitivities: Sensitivities | None = None
    changes: list[tuple[int, dict[str, Any], Settings]] = field(default_factory=list)
    events: Events | None = None
    event_rows: npt.NDArray[np.int64] | None = None
    #: Where it goes on in a lane: its next step, what that depends on, when its present interval began, and its reach.
    following: tuple[float, ...] | None = None
    #: And whether what is due there has been handled, and reported.
    dealt_with: tuple[bool, bool] = (False, False)


class Onward(NamedTuple):
    """Data that a run takes along that has begun in a lane.

    Attributes
    ----------
    began, reach : float
        When its present interval without events began, and how far a step may go after the next, as a time stepper keeps it.
    last_error : float
    strain : int
        What the next step depends on.
    done : tuple of bool
        Whether the handlers, and the reporters, that are due where it goes on have been called.
    changed : bool
        Whether they have changed the state, which is then brought to its constraints.
    contacts : bool
        Whether it is known already what contacts do that are closed.
    """

    began: float
    reach: float
    last_error: float
    strain: int
    done: tuple[bool, bool] = (False, False)
    changed: bool = False
    contacts: bool = False


def run_one(
    system: MultibodySystem,
    state: State,
    times: Array,
    settings: IntegratorSettings,
    held: Array | Callable[[State], Array] | None = None,
    onward: Onward | None = None,
    sensitivities: Sequence[Any] | None = None,
    is_free: Callable[[State], bool] | None = None,
) -> OneRun:
    """Take *state* through reports at *times*, with mobility forces, held or computed, beside those of the elements.

    *sensitivities* are what the motion is differentiated by, without such forces.

    With *onward* it is where a step in a lane has ended, and is not brought to its constraints once more unless it has changed.
    With *is_free* it ends after a step without an event, if that is true of the state there.
    What stops it, errors of users' own parts included, is told in the result.
    """
    integrator, carried = make_integrator(system, settings), None
    if sensitivities is not None:
        integrator = carried = variational(integrator, state, Directions(system, state, sensitivities))
    integrator.held, integrator.goes_on = held, onward is not None and not onward.changed
    stepper, rows, failure = TimeStepper(system, integrator), MemoryRows(len(times)), None
    stepper.may_be_saved, stepper.warns_of_overlap = False, onward is None
    if onward is not None:
        stepper.contacts_are_handled, stepper.closed_are_handled = onward.changed, onward.contacts
    changes: list[tuple[int, dict[str, Any], Settings]] = []
    try:
        stepper.initialize(state)
        if onward is not None:
            stepper.begun_before(onward.began, onward.reach, *onward.done)
            integrator.control[rk.LAST_ERROR], integrator.control[rk.STRAIN] = onward.last_error, onward.strain
        stepper.set_report_all_significant_states(False)
        if is_free is not None:
            stepper.return_at_rest(is_free)
        run = Run(stepper, times, Recording(system, state), rows)
        changes = run.changes
        run.go()
    except MobodError as error:
        failure = str(error)
    except Exception as error:  # of a user's own part
        failure = f"{type(error).__name__}: {error}"
    columns: dict[str, Any] = rows.columns() if len(rows) else {}
    end = stepper.state if stepper.initialized else state
    if not has_choices_of(state, end):
        end, failure = state, OTHER_CHOICES
    whole = len(rows) == len(times) and columns["time"][-1] == times[-1]  # an event's row may be the last of as many
    if whole:
        integrator.leave_at(float(times[-1]))
    if columns:
        parts = [columns[name].reshape(len(rows), -1) for name in ("q", "u", "z", "particle_locations", "particle_velocities")]
        time, y = np.array(columns["time"]), np.concatenate(parts, axis=1)
    else:
        time, y = np.empty(0), np.empty((0, len(state.y_values)))
    ended = stepper.termination if stepper.initialized else None
    why = None if ended is None or whole else ended.message
    found = None if carried is None else carried.at(time)
    rests = failure is None and ended is None and not whole
    following = following_of(stepper) if rests else None
    events, event_rows = _events_of(stepper, columns) if stepper.initialized and stepper.has_events else (None, None)
    dealt_with = stepper.is_dealt_with if rests else (False, False)
    return OneRun(time, y, end, integrator, failure, why, found, changes, events, event_rows, following, dealt_with)


def following_of(stepper: TimeStepper) -> tuple[float, ...]:
    """With what the run of a stepper goes on in a lane: see `lanes.layout`, from NEXT_SIZE to REACH."""
    step, *depends_on = stepper.integrator.control[[rk.STEP, rk.LAST_ERROR, rk.STRAIN]].tolist()
    return step, *depends_on, stepper.began, stepper.reach


def _events_of(stepper: TimeStepper, columns: dict[str, Any]) -> tuple[Events, npt.NDArray[np.int64]]:
    """The events of a run, and the first row after each."""
    late, log = stepper.log.take()[0], stepper.log
    counts = np.asarray(columns.get("event_counts", ())).astype(np.int64)
    rows = np.concatenate([columns["events"], late]) if len(counts) else late
    first_rows = np.concatenate([np.repeat(np.arange(len(counts)), counts), np.full(len(late), len(counts))])
    return Events(rows, list(log.labels)), first_rows.astype(np.int64)


def has_choices_of(shared: State, state: State) -> bool:
    """True if a state still has the modelling choices, and as many variables, as those of an ensemble share."""
    sizes = [(len(one.q_values), len(one.u_values), len(one.z_values)) for one in (shared, state)]
    return shared.use_euler_angles == state.use_euler_angles and sizes[0] == sizes[1]


OTHER_CHOICES = (
    "an event handler has changed what states of an ensemble share: Euler angles, or the number of variables; make the "
    "ensemble from a state that has them, or use a TimeStepper"
)


class KeptSteppers:
    """Time steppers that are kept for the next call, one a state: to make one takes half a millisecond, a step some 10 us.

    Parameters
    ----------
    system : MultibodySystem
    integrator : Integrator
        Whose settings each has.
    shared : State
        With the choices that all share.
    """

    def __init__(self, system: MultibodySystem, integrator: Integrator, shared: State) -> None:
        self._system, self._settings, self._shared = system, integrator_settings(integrator), shared
        self._kept: dict[int, tuple[TimeStepper, int, bytes]] = {}

    def step(
        self,
        i: int,
        row: Row,
        make: Callable[[int], State],
        end: float,
        held: Array | None,
        done: tuple[bool, bool],
        own: bytes,
        following: tuple[float, ...] | None = None,
        contacts: bool = False,
    ) -> tuple[State, str | None, EventLog | None]:
        """Step state *i* to *end* from the variables of *row*; the state there, why it could not go on, if so, and its log.

        The stepper of the last call goes on, with q, u and z that have been assigned since; one whose time, what is
        remembered, or the state's *own* parameters are others begins anew with the state that *make* makes, as does one whose
        run has ended or failed. *done*
        says of one that begins whether the handlers, and the reporters, that are due there have been called, and *following*
        of one that has begun in a lane the next step, what that depends on, when its present interval began and how far a step
        may go after an event; *contacts* that it is known what those do that are closed.
        """
        stepper, begun, had = self._kept.pop(i, (None, 0, b""))
        try:
            if stepper is None or begun != row[6] or had != own or not _takes_up(stepper, row, held):
                stepper = self._new(held)
                stepper.closed_are_handled = contacts
                if following is not None:
                    stepper.integrator.initial_step_size = following[0] or None
                stepper.initialize(make(i))
                if following is not None:
                    _, *depends_on, began, reach = following
                    stepper.integrator.control[[rk.LAST_ERROR, rk.STRAIN]] = depends_on
                    stepper.begun_before(began, reach, *done)
                else:
                    stepper.pass_over(*done)
            stepper.step_exactly_to(end)
        except MobodError as error:
            return _state_of(stepper) or make(i), str(error), _log_of(stepper)
        except Exception as error:  # of a user's own part
            warnings.warn(
                f"state {i} of the ensemble: {type(error).__name__}: {error}", RuntimeWarning, stacklevel=callers_level()
            )
            return _state_of(stepper) or make(i), f"{type(error).__name__}: {error}", _log_of(stepper)
        if not has_choices_of(self._shared, stepper.state):
            return make(i), OTHER_CHOICES, None
        if stepper.termination is None:
            self._kept[i] = stepper, row[6], own
        return stepper.state, None, stepper.log

    def counts_from_violated(self, i: int) -> bool:
        """True of a state whose present interval has begun with violated contacts."""
        return i in self._kept and self._kept[i][0].counts_from_violated

    def pop(self, i: int) -> TimeStepper | None:
        """The stepper of state *i*, which is kept no longer."""
        return self._kept.pop(i, (None,))[0]

    def _new(self, held: Array | None) -> TimeStepper:
        integrator = make_integrator(self._system, self._settings)
        integrator.held = None if held is None else held.copy()
        stepper = TimeStepper(self._system, integrator)
        stepper.may_be_saved = stepper.warns_of_overlap = False
        stepper.set_report_all_significant_states(False)
        return stepper


def _state_of(stepper: TimeStepper | None) -> State | None:
    return stepper.state if stepper is not None and stepper.initialized else None


def _log_of(stepper: TimeStepper | None) -> EventLog | None:
    return stepper.log if stepper is not None and stepper.initialized else None


def _takes_up(stepper: TimeStepper, row: Row, held: Array | None) -> bool:
    """True if a stepper can go on from these variables, and with these forces, which it then does."""
    state, time, particles, memory = stepper.state, row[0], row[4], row[5]
    record = state.record
    if state.time != time or not has_memory_of(record, memory):
        return False
    if particles.size and not same(np.concatenate([record.particle_location, record.particle_velocity])[:, 0], particles):
        return False
    for name, there, value in zip(("q", "u", "z"), (state.q_values, state.u_values, state.z_values), row[1:4], strict=True):
        if not same(there, value):
            setattr(state, name, value)
    before = stepper.integrator.held
    if isinstance(before, np.ndarray) and held is not None and not np.array_equal(before, held):
        before[:] = held
        state.u = row[2]  # accelerations are others
    return True
