"""Runs of single states, for what lanes cannot do: parts in Python, events, contact that limits steps, implicit methods.

Each is a run as `mobod.simulate` makes it, so that its bits depend on nothing but its own state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..errors import MobodError
from ..simulation.quantities import Recording
from ..simulation.run import IntegratorSettings, Run
from ..simulation.table import Rows
from ..simulation.time_stepper import TimeStepper

if TYPE_CHECKING:
    from ..integrator import Integrator
    from ..state.state import State
    from ..system.system import MultibodySystem


@dataclass
class OneRun:
    """How the run of a state went.

    Attributes
    ----------
    time : (k,) array
        Of its rows: the reports, and where an event has ended it, the end.
    y : (k, ny) array
    state : State
        At the end.
    failure : str or None
        Why it could not go on.
    termination : str or None
        Why it ended before its last report.
    integrator : Integrator
        With its counts.
    """

    time: Array
    y: Array
    state: State
    integrator: Integrator
    failure: str | None = None
    termination: str | None = None


def run_one(
    system: MultibodySystem,
    state: State,
    times: Array,
    settings: IntegratorSettings,
    held: Array | Callable[[State], Array] | None = None,
) -> OneRun:
    """Take *state* through reports at *times*, with mobility forces, held or computed, beside those of the elements.

    What stops it, errors of users' own parts included, is told in the result.
    """
    integrator = settings.kind(system, **settings.keywords)
    for name, value in settings.choices.items():
        setattr(integrator, name, value)
    integrator.held = held
    stepper, rows, failure = TimeStepper(system, integrator), Rows(len(times)), None
    try:
        stepper.initialize(state)
        stepper.set_report_all_significant_states(False)
        Run(stepper, times, Recording(system, state), rows).go()
    except MobodError as error:
        failure = str(error)
    except Exception as error:  # of a user's own part
        failure = f"{type(error).__name__}: {error}"
    columns: dict[str, Any] = rows.columns() if len(rows) else {}
    end = stepper.state if stepper.initialized else state
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
    return OneRun(time, y, end, integrator, failure, why)
