"""Joint reactions: the forces and moments that joints transmit while muscles pull, over the rows of a motion.

Unlike those of `InverseDynamics`, which are resultants, muscles press the joints together here. Labels are those of OpenSim's
JointReaction: ``knee_r_on_tibia_r_in_ground_fx``, ``_mx``, and ``_px`` for the point at which they act.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np

from ..algebra.arrays import Array
from ..errors import ModelError
from ..importer.formats import as_model
from ..importer.model import Model
from ..mobilizer import Direction
from ..motion_data import Table, read_sto
from ..state.state import State
from ..value import Transform
from ..value.checks import all_known, among
from ..value.stage import Stage
from .states import Equilibrate, Given, MotionRows, frame_of


def joint_reactions(
    model: Model | str | os.PathLike[str],
    motion: Given,
    *,
    forces: Table | str | os.PathLike[str] | None = None,
    joints: Iterable[str] | None = None,
    on: Literal["child", "parent"] | dict[str, str] | Sequence[str] = "child",
    frame: str | dict[str, str] | Sequence[str] = "ground",
    equilibrate: Equilibrate = False,
    start: float = -np.inf,
    end: float = np.inf,
    state: State | None = None,
) -> Table:
    """Find what joints transmit, with muscles.

    Parameters
    ----------
    model : Model or path
        From an OpenSim file. Measured loads have to be part of it: ``load_osim(path, external_loads=...)``.
    motion : Trajectory, Table or path
        As for `analyze_muscles`.
    forces : Table or path, optional
        Of muscles and actuators, by name, over time, such as `StaticOptimization.forces`: these act in place of what muscles'
        states give. Those that are not in it are as the states say.
    joints : iterable of str, optional
        Names of joints; all unless given. One may be named again, for another body or frame.
    on : {"child", "parent"}, or dict of str to these, or a sequence of one a joint
        On which body of each joint they act.
    frame : str, or dict of str to str, or a sequence of one a joint
        In whose axes, and the point in whose frame: "ground", "child", "parent", a body or a frame of the model's.
    equilibrate : bool or "opensim"
        See `analyze_muscles`.
    start, end : float
        Rows from and to these times.
    state : State, optional
        What else the model's state is.

    Returns
    -------
    Table
        Nine columns a joint: force, moment and point.

    Raises
    ------
    ModelError
        If a joint or frame is not there, a sequence is not as long as that of joints, two reactions are the same, or *forces*
        has none of the model's actuators.
    ValueError
        If the motion has no coordinate of the model.

    Notes
    -----
    Accelerations are those of the forces, not those of the motion: as in OpenSim's tool, a motion that the forces do not make
    has its reactions for the forces.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb, numpy as np
    >>> leg = mb.load_osim(files("mobod") / "examples" / "leg6dof9musc.osim")
    >>> still = mb.Table(np.linspace(0, 0.1, 3), {"knee_angle_r": np.full(3, -0.3)})
    >>> found = mb.joint_reactions(leg, still, joints=["knee_r"], equilibrate=True)
    >>> found.labels[0]
    'knee_r_on_tibia_r_in_ground_fx'
    """
    model = as_model(model)
    given = None if forces is None else forces if isinstance(forces, Table) else read_sto(forces)
    if given is not None:
        model, state = _with_given_forces(model, given, state)
    known = {one.joint_name: one for one in model.matter.body_list if one.joint_name}
    names = [*known] if joints is None else list(joints)
    all_known(f"{model.name!r} has no moving joint", names, known, ModelError)
    sides, frames = _each("on", on, names, "child"), _each("frame", frame, names, "ground")
    places = [_Place(model, known[name], *where) for name, *where in zip(names, sides, frames, strict=True)]
    for k, place in enumerate(places):
        if place.label in [one.label for one in places[:k]]:
            raise ModelError(f"joints has {names[k]!r} twice on the same body in the same frame; give it once")
    rows = MotionRows.between(model, motion, equilibrate, start, end, state)
    found = np.empty((len(rows.time), 9 * len(places)))
    efforts = {} if given is None else _efforts(model, given, rows.time)
    for i, now in enumerate(rows):
        for name, column in efforts.items():
            model.actuators[name].set_effort(now, column[i])
        model.system.realize(now, Stage.ACCELERATION)
        for k, place in enumerate(places):
            found[i, 9 * k : 9 * k + 9] = place.reaction(now)
    ends = [f"_{what}{axis}" for what in "fmp" for axis in "xyz"]
    labels = [place.label + end for place in places for end in ends]
    return rows.table(labels, found, "Joint Reaction Loads")


def _each(what: str, given: Any, names: list[str], otherwise: str) -> list[str]:
    """One of each joint."""
    if isinstance(given, str | dict):
        return [str(given.get(name, otherwise)) if isinstance(given, dict) else given for name in names]
    found = [str(one) for one in given]
    if len(found) != len(names):
        raise ModelError(f"{what} has {len(found)} entries for {len(names)} joints, {', '.join(names)}; give one a joint")
    return found


class _Place:
    """A joint, the body on which its reaction is, and the frame in which it is said."""

    def __init__(self, model: Model, mobod: Any, on: str, frame: str) -> None:
        among("on", on, ("child", "parent"), ModelError)
        names = {one.index: name for name, one in model.bodies.items()}
        first = mobod  # of a joint of several mobilizers, with bodies of no name between
        while first.get_parent_mobilized_body().index not in names:
            first = first.get_parent_mobilized_body()
        bodies = {"child": mobod, "parent": first.get_parent_mobilized_body()}
        if mobod.direction is Direction.REVERSE:
            bodies = {"child": bodies["parent"], "parent": mobod}
        self.mobod, self.first, self.is_outboard = mobod, first, bodies[on] is mobod
        self.frame, self.X = (bodies[frame], Transform()) if frame in bodies else frame_of(model, frame, *bodies)
        shown = names[self.frame.index] if frame in bodies else frame.rpartition("/")[2]
        self.label = f"{mobod.joint_name}_on_{names[bodies[on].index]}_in_{shown}"

    def reaction(self, state: State) -> Array:
        """Force, moment and point, in the frame."""
        mobod = self.mobod if self.is_outboard else self.first
        if self.is_outboard:
            load, body = mobod.find_mobilizer_reaction_on_body_at_m_in_ground(state), mobod
            station = mobod.get_outboard_frame(state).p
        else:
            load, body = mobod.find_mobilizer_reaction_on_parent_at_f_in_ground(state), mobod.get_parent_mobilized_body()
            station = mobod.get_inboard_frame(state).p
        point = body.find_station_location_in_ground(state, station)
        X = self.frame.get_body_transform(state) @ self.X
        R = np.asarray(X.R)
        return np.concatenate([R.T @ np.asarray(load[1]), R.T @ np.asarray(load[0]), R.T @ (point - np.asarray(X.p))])


def _with_given_forces(model: Model, given: Table, state: State | None) -> tuple[Model, Any]:
    """The model with actuators along their paths in place of the muscles whose forces are given, and the state's settings."""
    from ..importer.osim.model_operators import replace_muscles_with_path_actuators

    named = [name for name in model.muscles if name in given.labels]
    if not named and not any(name in given.labels for name in model.actuators):
        raise ModelError(
            f"forces has no column of a muscle or actuator of {model.name!r}; it has {', '.join(given.labels[:5])}"
        )
    return (replace_muscles_with_path_actuators(model, named), None) if named else (model, state)


def _efforts(model: Model, given: Table, time: Array) -> dict[str, Array]:
    return {
        name: np.interp(time, given.time, given[name])
        for name in given.labels
        if hasattr(model.actuators.get(name), "set_effort")
    }
