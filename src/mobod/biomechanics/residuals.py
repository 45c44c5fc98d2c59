"""Residual reduction: a motion that a model's forces can make, a mass center that suits it, and which masses would.

Measured motion and ground forces do not obey Newton's equations together; residual forces on the body that hangs on Ground make
up for it. The mass center of one body moves by

    dx = M_z / (m g)    dz = -M_x / (m g)        c' = c - (dx, 0, dz), each at most 0.1

for the mean residual moments M about the axes of Ground, y up; m is the body's mass. The mean F_y asks for masses that sum to
F_y / g_y more. Then actuators alone let the model follow the motion, residuals of small optimal force among them, so
that coordinates give way where these would be large. Source: Delp et al. 2007, IEEE Trans. Biomed. Eng. 54, 1940.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from .. import integrator as integrators
from ..algebra.arrays import Array
from ..errors import ModelError
from ..function import Function
from ..importer.formats import as_model
from ..importer.model import Model
from ..importer.osim.model_operators import add_forces, move_mass_center, with_loads
from ..motion_data import Table
from ..simulation.trajectory import Trajectory
from ..value import checks
from ._tracking import Tracker, Wanted, excluded
from .followed import Followed, follow
from .muscle_control import times
from .states import own_state
from .tasks import Task

#: The actuators whose means are residuals, and how far a mass center moves at most.
RESIDUALS = ("FX", "FY", "FZ", "MX", "MY", "MZ")
_FARTHEST = 0.1
#: The window of the controls at the start, where there is no muscle; time.
_AT_ONCE = 1e-8


class ResidualReduction(Followed):
    """The result of a reduction of residuals.

    Attributes
    ----------
    adjusted : Model
        The model that was given, its muscles too, with the moved mass center; the same object where none moved.
    shift : (3,) array
        By which the mass center moved, in its body's frame.
    mass_change : float
        By which the masses' sum should change; nothing is changed.
    masses : dict of str to float
        Of each body, with its share of that.
    before, after, average : dict of str to float
        Means over time of the residuals that the model has: of the motion as it was given, with the moved mass center, and
        of what was found.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb, numpy as np
    >>> leg = mb.load_osim(files("mobod") / "examples" / "leg6dof9musc.osim")
    >>> motors = mb.biomechanics.add_reserves(mb.biomechanics.remove_muscles(leg), 100.0)
    >>> still = mb.Table(np.linspace(0, 0.02, 11), {"knee_angle_r": np.full(11, -0.3)})
    >>> found = mb.reduce_residuals(motors, still, window=0.01, exact=True)
    >>> isinstance(found, mb.biomechanics.ResidualReduction), found.shift.tolist()
    (True, [0.0, 0.0, 0.0])
    """

    adjusted: Model
    shift: Array
    mass_change: float
    masses: dict[str, float]
    before: dict[str, float]
    after: dict[str, float]
    average: dict[str, float]

    def summarize(self) -> str:
        """The means, the shift and the masses as text."""
        lines = [
            f"{title:<22}" + "".join(f"{name}={value:10.4g} " for name, value in means.items()).rstrip()
            for title, means in (("residuals, given", self.before), ("mass center moved", self.after), ("found", self.average))
            if means
        ]
        x, y, z = self.shift.tolist()
        lines.append(f"{'mass center moves by':<22}{x:.6g} {y:.6g} {z:.6g}")
        lines.append(f"{'masses should change':<22}{self.mass_change:.6g}, to")
        return "\n".join([*lines, *(f"  {name:<20}{mass:.6g}" for name, mass in self.masses.items())])

    def save(self, folder: str | os.PathLike[str], prefix: str = "mobod") -> list[Path]:
        """As of `Followed`, and the means of the residuals found as text."""
        paths = [*super().save(folder, prefix), Path(folder) / f"{prefix}_avgResiduals.txt"]
        text = "".join(f"{name} average = {value!r}\n" for name, value in self.average.items())
        paths[-1].write_text(f"Average Residuals:\n\n{text}", encoding="utf-8")
        return paths


def reduce_residuals(
    model: Model | str | os.PathLike[str],
    motion: Trajectory | Table | str | os.PathLike[str],
    external_loads: str | os.PathLike[str] | None = None,
    *,
    actuators: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    replace: bool = True,
    body: str | None = None,
    tasks: Mapping[str, Task] | None = None,
    window: float = 0.001,
    exact: bool = False,
    bounds: Mapping[str, tuple[float | Function, float | Function]] | None = None,
    exclude: Iterable[str] = (),
    cutoff: float | None = None,
    filter: Literal["butterworth", "opensim"] = "butterworth",
    start: float = -np.inf,
    end: float = np.inf,
    adjust_start: float | None = None,
    adjust_end: float | None = None,
    accuracy: float = 1e-5,
    progress: bool | Callable[[int, int], Any] | None = None,
) -> ResidualReduction:
    """Follow a motion by actuators with small residuals, and move a mass center so that they become small (OpenSim's RRA).

    Parameters
    ----------
    model : Model or path
        With coordinate, point and torque actuators, unless *actuators* gives them. Those called ``FX``, ``FY``, ``FZ``, ``MX``,
        ``MY`` and ``MZ`` are the residuals.
    motion : Trajectory, Table or path
        Coordinates over time.
    external_loads : path, optional
        Of OpenSim's file of external loads.
    actuators : path or sequence of paths, optional
        Of sets of forces that take the place of the model's.
    replace : bool
        Whether they do; else they are added.
    body : str, optional
        Whose mass center moves, the torso above all; none unless given. The model has residuals MX, MZ or both then.
    tasks, bounds, exclude, cutoff, filter, accuracy, progress
        As for `computed_muscle_control`.
    window : float
        Between nodes of the controls, which go along straight lines; time.
    exact : bool
        As for `computed_muscle_control`.
    start, end : float
        Times of the motion.
    adjust_start, adjust_end : float, optional
        Between which residuals are averaged before; *start* and *end* unless given.

    Returns
    -------
    ResidualReduction

    Raises
    ------
    ModelError
        If the model has no actuator, no such body, or no residual that moves it, or it is not from an OpenSim file where it
        has to change.
    ValueError, ConvergenceError
        As of `computed_muscle_control`.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb, numpy as np
    >>> leg = mb.load_osim(files("mobod") / "examples" / "leg6dof9musc.osim")
    >>> motors = mb.biomechanics.add_reserves(mb.biomechanics.remove_muscles(leg), 100.0)
    >>> still = mb.Table(np.linspace(0, 0.02, 11), {"knee_angle_r": np.full(11, -0.3)})
    >>> found = mb.reduce_residuals(motors, still, window=0.01, exact=True)
    >>> float(abs(found.errors["knee_angle_r"]).max()) < 1e-6
    True
    """
    original = as_model(model)
    window, accuracy = checks.positive("window", window), checks.positive("accuracy", accuracy)
    left_out = excluded(exclude)
    paths = [actuators] if isinstance(actuators, (str, os.PathLike)) else list(actuators or [])

    def prepared(one: Model) -> Model:
        made = add_forces(one, *paths, replace=replace) if paths else one
        return made if external_loads is None else with_loads(made, external_loads)

    def tracker_of(one: Model) -> Tracker:
        state = own_state(one, None)
        wanted = Wanted(one, state, motion, cutoff, filter)
        return Tracker(one, state, wanted, tasks, exact=exact, as_opensim=False, bounds=bounds, exclude=left_out)

    adjusted, shift, after = original, np.zeros(3), {}
    if body is not None and body not in original.bodies:
        raise ModelError(f"the model {original.name!r} has no body {body!r}; {checks.suggest(body, [*original.bodies])}")
    acting = prepared(original)
    tracker = tracker_of(acting)
    if body is not None and not {"MX", "MZ"}.intersection(tracker.names):
        raise ModelError(
            f"neither 'MX' nor 'MZ' is an actuator of {original.name!r}: the mass center of {body!r} moves by these residuals; "
            "give actuators=..., or no body"
        )
    begin, stop = times(tracker, start, end)
    span = begin if adjust_start is None else adjust_start, stop if adjust_end is None else adjust_end
    span = checks.number("adjust_start", span[0]), checks.number("adjust_end", span[1])
    before = _means(tracker, *span)
    g_y = float(acting.gravity.get_gravity_vector(tracker.state)[1])
    masses = {name: float(one.get_body_mass_properties(tracker.state).mass) for name, one in acting.bodies.items() if one.index}
    if body is not None:
        weight = abs(g_y) * masses[body]
        if not weight > 0.0:
            raise ModelError(f"the body {body!r} has no weight, and its mass center changes no residual")
        dx, dz = (float(np.clip(x / weight, -_FARTHEST, _FARTHEST)) for x in (before.get("MZ", 0.0), -before.get("MX", 0.0)))
        shift = np.array([-dx, 0.0, -dz])
        adjusted = move_mass_center(original, body, shift.tolist())
        acting = prepared(adjusted)
        tracker = tracker_of(acting)
        after = _means(tracker, *span)
    state = tracker.state
    state.time = begin
    state.q, state.u = tracker.wanted(begin)
    if tracker.muscles:
        tracker.begin(state)
    stepping = integrators.RungeKuttaMerson(acting.system, accuracy=accuracy)
    controls = tracker.controls(state, window if tracker.n else _AT_ONCE)
    rows = follow(tracker, state, controls, stepping, window, stop, progress)
    found = ResidualReduction(acting, tracker, rows, tracker.wanted.notes)
    found.adjusted, found.shift, found.before, found.after = adjusted, shift, before, after
    found.average = {name: float(_mean(found.time, found.forces[name])) for name in RESIDUALS if name in found.forces}
    found.mass_change = before.get("FY", 0.0) / g_y if g_y else 0.0
    total = sum(masses.values())
    found.masses = {name: mass * (1.0 + found.mass_change / total) for name, mass in masses.items()}
    return found


def _means(tracker: Tracker, start: float, end: float) -> dict[str, float]:
    """Means of the residuals that make the motion as it is, over its times."""
    motion, at, names = tracker.wanted.rows, tracker.moved, tracker.names
    first, last = (int(np.searchsorted(motion.time, t + 1e-9)) - 1 for t in (start, end))  # as OpenSim: the rows before
    rows = np.arange(max(first, 0), last + 1)
    found = np.zeros((len(rows), len(names)))
    for k, i in enumerate(rows.tolist()):
        at.time, at.q, at.u = float(motion.time[i]), motion.q[i], motion.u[i]
        A, b, optimal = tracker.linear(at)
        aims = tracker.rows.accelerations(float(motion.time[i]))
        found[k] = optimal * np.linalg.lstsq(A * optimal, aims - b, rcond=1e-12)[0]
    if not len(rows):
        raise ValueError(f"the motion has no time between {start:g} and {end:g}, over which residuals could be averaged")
    means = _mean(motion.time[rows], found)
    return {name: float(means[names.index(name)]) for name in RESIDUALS if name in names}


def _mean(time: Array, rows: Array) -> Array:
    """Over time, with straight lines between the rows."""
    return np.asarray(np.trapezoid(rows, time, axis=0) / (time[-1] - time[0]) if len(time) > 1 else rows[0])
