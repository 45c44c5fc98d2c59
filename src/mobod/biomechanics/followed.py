"""The motion of a model that followed another, and its files, named and labelled as OpenSim's tools have them."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from ..algebra.arrays import Array
from ..importer.model import Model
from ..integrator.base import Integrator
from ..motion_data import Table, write_sto
from ..simulation.time_stepper import TimeStepper
from ..state.state import State
from ..value.progress import shown
from ..value.stage import Stage
from ._tracking import Tracker
from .states import states_table


class Followed:
    """The motion of a model that followed another.

    Attributes
    ----------
    model : Model
        What moved.
    time : (nt,) array
        The start, and ends of windows, up to that of the last whole one before the end that was asked for.
    q, u, u_dot, z : (nt, n) arrays
        Coordinates (length or angle, in radians), their rates and accelerations (per time), and variables of muscles.
    controls : Table
        Excitations of muscles (0 to 1), each over the window that ends at its time, the first that of the first window again;
        and controls of actuators (force by optimal force), with straight lines between the rows.
    forces : Table
        Along the tendons (force), and of actuators (force, or torque at a rotation).
    speeds : Table
        Lengthening speeds of muscles, and speeds at which the forces of actuators do work (length/time or 1/time).
    powers : Table
        What each gives to the model (force length/time).
    errors : Table
        Of the coordinates, places and orientations with tasks: the wanted one less the one that is there (length or angle, in
        radians).
    notes : list of str

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb, numpy as np
    >>> leg = mb.load_osim(files("mobod") / "examples" / "leg6dof9musc.osim")
    >>> motors = mb.biomechanics.add_reserves(mb.biomechanics.remove_muscles(leg), 100.0)
    >>> still = mb.Table(np.linspace(0, 0.02, 11), {"knee_angle_r": np.full(11, -0.3)})
    >>> found = mb.reduce_residuals(motors, still, window=0.005)
    >>> isinstance(found, mb.biomechanics.Followed), found.q.shape
    (True, (5, 7))
    """

    def __init__(self, model: Model, tracker: Tracker, rows: dict[str, Array], notes: list[str]) -> None:
        self.model, self.time, self.notes, self._steps = model, rows["time"], notes, [*tracker.muscles]
        self.q, self.u, self.u_dot, self.z = (rows[name] for name in ("q", "u", "u_dot", "z"))

        def table(name: str, labels: Any, title: str) -> Table:
            return Table(self.time, dict(zip(labels, rows[name].T, strict=True)), name=title)

        self.controls = table("controls", tracker.names, "controls")
        self.forces = table("forces", tracker.names, "ActuatorForces")
        self.speeds = table("speeds", tracker.names, "ActuatorSpeeds")
        self.powers = table("powers", tracker.names, "ActuatorPowers")
        self.errors = table("errors", tracker.rows.labels, "PositionErrors")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self.controls.labels)} actuators at {len(self.time)} times>"

    def states(self) -> Table:
        """Coordinates, speeds and variables of muscles, by OpenSim's names of state variables."""
        return states_table(self.model, self.time, self.q, self.u, self.z)

    def motion(self) -> Table:
        """The coordinates."""
        return self._of_coordinates(self.q, self.model.coordinates, "Coordinates")

    def _of_coordinates(self, rows: Array, places: dict[str, int], title: str) -> Table:
        return Table(self.time, {name: rows[:, place] for name, place in places.items()}, name=title)

    def save(self, folder: str | os.PathLike[str], prefix: str = "mobod") -> list[Path]:
        """Write controls, states, kinematics, forces, speeds, powers and errors; their paths.

        The folder is made where there is none. Angles of kinematics are in degrees, those of states in radians, as OpenSim's
        tools have them.

        Examples
        --------
        >>> import pathlib, tempfile, mobod as mb, numpy as np
        >>> leg = pathlib.Path(mb.examples.__path__[0]) / "leg6dof9musc.osim"
        >>> motors = mb.biomechanics.add_reserves(mb.biomechanics.remove_muscles(leg), 100.0)
        >>> still = mb.Table(np.linspace(0, 0.02, 11), {"knee_angle_r": np.full(11, -0.3)})
        >>> found = mb.reduce_residuals(motors, still, window=0.01)
        >>> found.save(tempfile.mkdtemp(), "still")[0].name
        'still_controls.xml'
        """
        Path(folder).mkdir(parents=True, exist_ok=True)
        begin = Path(folder) / prefix
        paths = [Path(f"{begin}_controls.xml")]
        paths[0].write_text(control_set(self.controls, self._steps), encoding="utf-8")
        kinematics = ("q", self.motion()), ("u", self._of_coordinates(self.u, self.model.speeds, "Speeds")), (
            "dudt", self._of_coordinates(self.u_dot, self.model.speeds, "Accelerations"),
        )  # fmt: skip
        for end, table in kinematics:
            paths.append(Path(f"{begin}_Kinematics_{end}.sto"))
            write_sto(paths[-1], table, degrees=True, model=self.model)
        for end, table in (
            ("controls", self.controls),
            ("states", self.states()),
            ("Actuation_force", self.forces),
            ("Actuation_speed", self.speeds),
            ("Actuation_power", self.powers),
            ("pErr", self.errors),
        ):
            paths.append(Path(f"{begin}_{end}.sto"))
            write_sto(paths[-1], table)
        return paths


def control_set(table: Table, steps: Collection[str] = ()) -> str:
    """A ControlSet of OpenSim's: straight lines between the rows of a table, or steps, each from the row before on, of some."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<OpenSimDocument Version="40000">', '<ControlSet name="controls">']
    lines.append("<objects>")
    for label in table.labels:
        lines += [
            f"<ControlLinear name={quoteattr(label)}>",
            f"<use_steps>{str(label in steps).lower()}</use_steps>",
            "<x_nodes>",
        ]
        lines += [
            f"<ControlLinearNode><t>{t!r}</t><value>{x!r}</value></ControlLinearNode>"
            for t, x in zip(table.time.tolist(), table[label].tolist(), strict=True)
        ]
        lines += ["</x_nodes>", "</ControlLinear>"]
    return "\n".join([*lines, "</objects>", "</ControlSet>", "</OpenSimDocument>", ""])


def follow(
    tracker: Tracker, state: State, before: Array, integrator: Integrator, window: float, end: float, progress: Any
) -> dict[str, Array]:
    """Run the controller from a state and the controls there on, window by window, and record the motion."""
    system = tracker.model.system
    stepper = TimeStepper(system, integrator)
    start, rows = float(state.time), []
    count = int(np.floor((end - start) / window + 1e-6))
    if count < 1:
        raise ValueError(f"from {start:g}, where windows begin, to {end:g} there is no window of {window:g}")
    with shown(progress, count, "windows") as show:
        for i in range(count):
            controls = tracker.controls(state, window)
            before[: tracker.n] = controls[: tracker.n]
            tracker.set_controls(state, before, controls, window)
            if i == 0:
                rows.append(_row(tracker, state, before))
            stepper.initialize(state)
            stepper.step_to(start + (i + 1) * window)
            state = stepper.state.copy()
            rows.append(_row(tracker, state, controls))
            before = controls.copy()
            show(i + 1, count)
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def _row(tracker: Tracker, state: State, controls: Array) -> dict[str, Any]:
    tracker.model.system.realize(state, Stage.ACCELERATION)
    forces, speeds = tracker.forces(state, controls)
    powers = -forces[: tracker.n] * speeds
    at = tracker.moved
    at.time, at.q, at.u = float(state.time), state.q, state.u
    rates = tracker.unit_forces(at).T @ np.asarray(state.u)  # the power of a force of 1
    return {
        "time": float(state.time), "q": np.array(state.q), "u": np.array(state.u), "u_dot": np.array(state.u_dot),
        "z": np.array(state.z), "controls": controls, "forces": forces, "speeds": np.concatenate([speeds, rates]),
        "powers": np.concatenate([powers, forces[tracker.n :] * rates]),
        "errors": tracker.rows.errors(state)[0],
    }  # fmt: skip
