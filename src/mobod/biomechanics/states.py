"""States of a model over time: from a trajectory, or from tables and files of coordinates, speeds and variables of muscles."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..errors import ModelError
from ..importer.model import Model
from ..importer.osim.coupler import DependentCoordinate
from ..motion_data import Table, read_sto
from ..motion_data.labels import coordinate_of
from ..muscle import Muscle
from ..simulation.trajectory import Trajectory
from ..state.state import State
from ..value.checks import all_known, among, suggest
from ..value.stage import Stage
from ..value.transform import Transform
from .motion import Motion, rows_apart, rows_between, rows_of

Given = Trajectory | Table | str | os.PathLike[str]
#: Whether fibers balance their tendons, and whether as in OpenSim.
Equilibrate = bool | Literal["opensim"]
#: What constraints may be missed by: length or angle.
_MISSED = 1e-3


def states_table(model: Model, time: Array, q: Array, u: Array, z: Array) -> Table:
    """Coordinates, speeds and variables of muscles and actuators over time, by OpenSim's names of state variables."""
    columns, data = {}, model.data.get("coordinates", {})
    for name, place in model.coordinates.items():
        joint = getattr(data.get(name), "joint", "").rpartition("/")[2]
        path = f"/jointset/{joint}/{name.rpartition('/')[2]}" if joint else name
        columns[f"{path}/value"] = q[:, place]
        columns[f"{path}/speed"] = u[:, model.speeds[name]]
    for name, one in {**model.muscles, **model.actuators}.items():
        for k, variable in enumerate(getattr(one, "state_variables", ())):
            columns[f"/forceset/{name}/{variable}"] = z[:, one.first_z + k]
    return Table(time, columns, name="states")


class MotionRows:
    """Time, coordinates, speeds and z of a model, a row each; *notes* say what was not in the source."""

    def __init__(self, model: Model, given: Given, state: State, *, equilibrate: Equilibrate = False) -> None:
        self.model, self.state, self.notes = model, state, list[str]()
        among("equilibrate", equilibrate, (False, True, "opensim"))
        self.equilibrate = equilibrate
        if isinstance(given, Trajectory):
            self.time, self.q, self.u, self.z = (np.array(x) for x in (given.time, given.q, given.u, given.z))
            return
        table = read_sto(given, model=model) if isinstance(given, (str, os.PathLike)) else given
        if not isinstance(table, Table):
            raise TypeError(
                f"the motion is a Trajectory, a Table, or the path of a file of states or coordinates, not {given!r}"
            )
        table = rows_apart(table)
        self.time, self.q, self.notes = rows_of(model, state.copy(), table)
        self.u = self._speeds(table)
        self.z = np.tile(state.z, (len(self.time), 1))
        self._variables(table)
        couple(model, state, self.q, self.u)

    def _speeds(self, table: Table) -> Array:
        """Those of the table, or, where it has none, of splines through the coordinates."""
        found = {}
        for label in table.labels:
            name, quantity = coordinate_of(label, self.model.coordinates)
            if quantity == "speed" and name in self.model.speeds:
                found[name] = table[label]
        if not found:
            return Motion.of_rows(self.model, self.state.copy(), self.time, self.q).u
        u = np.tile(self.state.u, (len(self.time), 1))
        for name, column in found.items():
            u[:, self.model.speeds[name]] = column
        return u

    def _variables(self, table: Table) -> None:
        missing = set()
        columns = {label.replace("/", ".").rpartition("forceset.")[2].lstrip("."): label for label in table.labels}
        for name, one in {**self.model.muscles, **self.model.actuators}.items():
            for k, variable in enumerate(getattr(one, "state_variables", ())):
                label = columns.get(f"{name}.{variable}")
                if label is None:
                    missing.add(variable)
                else:
                    self.z[:, one.first_z + k] = table[label]
        for variable in sorted(missing):
            if variable == "activation" or not self.equilibrate:
                self.notes.append(f"{variable} of some muscles is not in the table, and is that of the default state")

    def within(self, start: float, end: float) -> MotionRows:
        """Only the rows between two times."""
        there = rows_between(self.time, start, end)
        self.time, self.q, self.u, self.z = self.time[there], self.q[there], self.u[there], self.z[there]
        return self

    @classmethod
    def between(
        cls, model: Model, given: Given, equilibrate: Equilibrate, start: float, end: float, state: State | None
    ) -> MotionRows:
        """The rows between two times; else the model's state is *state*, or its default."""
        return cls(model, given, own_state(model, state), equilibrate=equilibrate).within(start, end)

    def of(self, stage: Stage, what: Callable[[State], Any]) -> Array:
        """The results of a function of the states at a stage, a row each."""
        found = []
        for now in self:
            self.model.system.realize(now, stage)
            found.append(what(now))
        return np.array(found)

    def missed(self) -> list[str]:
        """A sentence about constraints that the motion does not fulfil, which are left as they are."""
        if not self.model.matter.constraints:
            return []
        errors = self.of(Stage.POSITION, lambda now: np.abs(now.q_err).max(initial=0.0))
        worst = int(errors.argmax())
        if not errors[worst] > _MISSED:
            return []
        return [
            f"the motion misses the model's constraints by up to {errors[worst]:.3g} (time {self.time[worst]:g}), and is taken "
            "as it is; OpenSim's tool assembles each row first, as mobod.Assembler does"
        ]

    def table(self, labels: Iterable[str], columns: Array, name: str) -> Table:
        """A table over their times of columns, one a label."""
        return Table(self.time, dict(zip(labels, columns.T, strict=True)), name=name)

    def tables(self, labels: Iterable[str], columns: Array, **titles: str) -> dict[str, Table]:
        """Tables of several results of each label, ``(nt, n, labels)``, by their keys and titles."""
        return {key: self.table(labels, columns[:, k], title) for k, (key, title) in enumerate(titles.items())}

    def __iter__(self) -> Iterator[State]:
        """Each state at VELOCITY; one object, which is changed."""
        system, state = self.model.system, self.state
        muscles = [one for one in self.model.muscles.values() if isinstance(one, Muscle)]
        as_opensim = self.equilibrate == "opensim"
        for i, time in enumerate(self.time.tolist()):
            state.time, state.q, state.u, state.z = time, self.q[i], self.u[i], self.z[i]
            if self.equilibrate:
                system.realize(state, Stage.VELOCITY)
                for one in muscles:
                    if not one.is_disabled(state):
                        one.equilibrate(state, as_opensim=as_opensim)
            system.realize(state, Stage.VELOCITY)
            yield state


def filtered(
    model: Model, given: Given, cutoff: float | None, filter: str, speeds: str | os.PathLike[str] | None = None
) -> Table:
    """A motion whose coordinates are filtered, with their speeds, or those of a file; other columns are between their rows."""
    table = read_sto(given, model=model) if isinstance(given, (str, os.PathLike)) else given
    state = own_state(model, None)
    time, q, _ = rows_of(model, state.copy(), table)
    motion = Motion.of_rows(model, state.copy(), time, q, cutoff, 5, filter)
    found = {f"{name}/value": motion.q[:, place] for name, place in model.coordinates.items()}
    found |= {f"{name}/speed": motion.u[:, place] for name, place in model.speeds.items()}
    if speeds is not None:
        own = read_sto(speeds, model=model)
        for label in own.labels:
            name, _ = coordinate_of(label, model.coordinates)
            if name in model.speeds:
                found[f"{name}/speed"] = np.interp(motion.time, own.time, own[label])
    if isinstance(table, Table):
        for label in table.labels:
            if coordinate_of(label, model.coordinates)[0] not in model.coordinates and table[label].ndim == 1:
                found[label] = np.interp(motion.time, table.time, table[label])
    return Table(motion.time, found, name="motion")


def acting_couplers(model: Model, state: State) -> list[DependentCoordinate]:
    """Those that determine a coordinate in a state."""
    return [one for one in model.matter.constraints if isinstance(one, DependentCoordinate) and not one.is_disabled(state)]


def couple(model: Model, state: State, q: Array, u: Array) -> None:
    """Put coupled coordinates and speeds of rows where the others' values have them, as OpenSim does, whatever is there."""
    couplers, starts = acting_couplers(model, state), [int(first) for first in state.tree.first_q]
    for _ in couplers:  # one may depend on what another gives
        for one in couplers:
            for row, speeds in zip(q, u, strict=True):
                one.put(row, speeds, starts)


def frame_of(model: Model, name: str, *others: str) -> tuple[Any, Transform]:
    """The body that a body's or frame's name or path means, and where the frame is on it; *others* are suggested too."""
    plain = name.rpartition("/")[2]
    for one in (name, plain):
        if one in model.bodies:
            return model.bodies[one], Transform()
        if one in model.frames:
            return model.frames[one]
    known = ["ground", *others, *model.bodies, *model.frames]
    raise ModelError(f"{model.name!r} has no frame {name!r}; {suggest(plain, known)}")


def held_speeds(state: State) -> npt.NDArray[np.bool_]:
    """Mask of speeds that locks and motions determine."""
    tree = state.tree
    held: npt.NDArray[np.bool_] = np.zeros(len(state.u), bool)
    for b in range(1, tree.nb):
        held[tree.first_u[b] : tree.first_u[b] + tree.num_u[b]] = state.field("prescribed")[b] != 0
    return held


def own_state(model: Model, state: Any) -> State:
    """A state that may be changed."""
    begin: State = model.default_state() if state is None else state.copy()
    model.system.realize(begin, Stage.INSTANCE)
    return begin


def acting_muscles(model: Model, names: Any) -> dict[str, Muscle]:
    """The muscles of some names, or all."""
    known = {name: one for name, one in model.muscles.items() if isinstance(one, Muscle)}
    if names is None:
        if not known:
            raise ModelError(f"{model.name!r} has no muscle that acts")
        return known
    all_known("there is no muscle", names, known)
    return {name: known[name] for name in names}
