"""Computed muscle control: excitations under which a model moves by its own strength as it was recorded.

The controller of `_tracking`, with windows in which muscles can build up force. Before the first of them variables of muscles
settle: twice 0.2 s at the least excitation with the coordinates held, 0.2 s at that of a window of 30 ms, and this window along
the motion; so the run begins 30 ms after the motion does. Source: Thelen and Anderson 2006, J. Biomech. 39, 1107.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

import numpy as np

from .. import integrator as integrators
from ..algebra.arrays import Array
from ..errors import ModelError
from ..function import Function
from ..importer.formats import as_model
from ..importer.model import Model
from ..importer.osim.model_operators import add_reserves, with_loads
from ..motion_data import Table
from ..muscle import Muscle
from ..simulation.trajectory import Trajectory
from ..state.state import State
from ..value import checks
from ._tracking import Tracker, Wanted, excluded
from .followed import Followed, follow
from .states import own_state
from .tasks import Task

#: How long variables of muscles settle at held coordinates, and the first window.
_SETTLING, _FIRST, _LEAST = 0.2, 0.03, 0.01


def computed_muscle_control(
    model: Model | str | os.PathLike[str],
    motion: Trajectory | Table | str | os.PathLike[str],
    external_loads: str | os.PathLike[str] | None = None,
    *,
    tasks: Mapping[str, Task] | None = None,
    window: float = 0.01,
    exact: bool = True,
    bounds: Mapping[str, tuple[float | Function, float | Function]] | None = None,
    reserve: float | None = None,
    exclude: Iterable[str] = (),
    as_opensim: bool = False,
    cutoff: float | None = None,
    filter: Literal["butterworth", "opensim"] = "butterworth",
    start: float = -np.inf,
    end: float = np.inf,
    accuracy: float = 1e-5,
    progress: bool | Callable[[int, int], Any] | None = None,
) -> Followed:
    """Find excitations of muscles, and controls of actuators, under which a model follows a motion.

    Parameters
    ----------
    model : Model or path
        With muscles that act; its coordinate, point and torque actuators take part. `add_forces` adds those of a file.
    motion : Trajectory, Table or path
        Coordinates over time.
    external_loads : path, optional
        Of OpenSim's file of external loads; they are added to those that the model was read with.
    tasks : mapping of str to Task, optional
        Gains by coordinate; those of a `Task` for all that can move unless given. Coordinates that are not listed go where the
        others' forces take them. A `PointTask` or `OrientationTask`, by any name, is of a body.
    window : float
        How long excitations stay, in which muscles reach their forces; controls of actuators go along straight lines; time.
    exact : bool
        Whether the wanted accelerations have to be met; else squares of their errors, with the tasks' weights, and of forces by
        the largest isometric and optimal ones are least together.
    bounds : mapping of str to (float or Function, float or Function), optional
        Of excitations and controls, by name; those of the file unless given. They may name what is excluded or disabled. A
        `Function` is of time: its value where a window begins holds over that.
    reserve : float, optional
        Optimal force of an actuator for each coordinate that can move and has none.
    exclude : iterable of str
        Muscles and actuators that stay at the controls that they have.
    as_opensim : bool
        Whether the force at full activation that divides a force of `Millard2012Equilibrium` in the sum has the pennation angle
        that OpenSim takes (#4390 there).
    cutoff, filter : float, str
        As for `inverse_dynamics`; "opensim" filters as its CMC and RRA do, by a window of 101 rows.
    start, end : float
        Times of the motion; the run begins 0.03 later where there are muscles.
    accuracy : float
        Of the integration.
    progress : bool or callable, optional
        As in `simulate`.

    Returns
    -------
    Followed

    Raises
    ------
    ModelError
        If the model has no muscle that acts, an optimal force is zero, or no coordinate with a task can move.
    TypeError
        If a bound or time is no number, *tasks* or *bounds* no mapping, or *exclude* text alone.
    ValueError
        If a name is none, a bound or time is wrong, or the motion has fewer than six times.
    ConvergenceError
        If nothing within the bounds gives the wanted accelerations; with time and coordinate.

    Notes
    -----
    Excitations are found to 1e-6 of each muscle's range of forces, where OpenSim's are to 4e-3, and quadratic problems to
    rounding, where OpenSim's are to 1e-4: results differ by that.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb, numpy as np
    >>> leg = mb.load_osim(files("mobod") / "examples" / "leg6dof9musc.osim")
    >>> still = mb.Table(np.linspace(0, 0.06, 13), {name: np.full(13, leg.default_state().q[k])
    ...                                             for name, k in leg.coordinates.items()})
    >>> found = mb.computed_muscle_control(leg, still, reserve=100.0)
    >>> float(abs(found.errors["knee_angle_r"]).max()) < 1e-3
    True
    """
    model = as_model(model)
    if not any(isinstance(one, Muscle) for one in model.muscles.values()):
        raise ModelError(f"{model.name!r} has no muscle that acts; reduce_residuals is about actuators alone")
    if reserve is not None:
        model = add_reserves(model, reserve)
    if external_loads is not None:
        model = with_loads(model, external_loads)
    window, accuracy = checks.positive("window", window), checks.positive("accuracy", accuracy)
    state = own_state(model, None)
    wanted = Wanted(model, state, motion, cutoff, filter)
    tracker = Tracker(model, state, wanted, tasks, exact=exact, as_opensim=as_opensim, bounds=bounds, exclude=excluded(exclude))
    begin, stop = times(tracker, start, end)
    state, controls = _settled(tracker, begin)
    stepping = integrators.RungeKuttaMerson(model.system, accuracy=accuracy)
    rows = follow(tracker, state, controls, stepping, window, stop, progress)
    return Followed(model, tracker, rows, wanted.notes)


def times(tracker: Tracker, start: float, end: float) -> tuple[float, float]:
    """Start and end within the motion and the tasks' paths."""
    start, end = checks.number("start", start), checks.number("end", end)
    first, last = tracker.rows.span
    begin, stop = max(start, first), min(end, last)
    if not begin < stop:
        raise ValueError(
            f"the motion has no time between {start:g} and {end:g}; what is wanted goes from {first:g} to {last:g}"
        )
    return begin, stop


def _settled(tracker: Tracker, begin: float) -> tuple[State, Array]:
    """The state from which windows go on, and the controls there."""
    state = tracker.state
    state.time = begin
    state.q, state.u = tracker.wanted(begin)
    nothing = np.zeros(len(state.q)), np.zeros(len(state.u))
    tracker.begin(state)
    tracker.set_bounds(begin)
    z = np.array(state.z)
    excitations = np.clip(_LEAST, tracker.low, tracker.high)[: tracker.n]
    for _ in range(2):
        z = tracker.reach(begin, _SETTLING, z, excitations, nothing, hold=True)
    state.z = z
    excitations = tracker.controls(state, _FIRST)[: tracker.n]
    state.z = tracker.reach(begin, _SETTLING, z, excitations, nothing, hold=True)
    controls = tracker.controls(state, _FIRST)
    state.z = tracker.reach(begin, _FIRST, np.array(state.z), controls[: tracker.n], nothing)
    state.time = begin + _FIRST
    state.q, state.u = tracker.wanted(begin + _FIRST)
    return state, controls
