"""The analyses of `mobod analyze`: tables by OpenSim's names of files."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .. import biomechanics
from ..algebra.arrays import Array
from ..errors import CommandError
from ..importer.model import Model
from ..importer.tool_setup import Analysis
from ..motion_data import write_sto

#: What an analysis finds: tables by the ends of their files' names, and the labels of columns in degrees, or these by table.
Found = tuple[dict[str, Any], frozenset[str] | dict[str, frozenset[str]]]


def find_and_save(
    one: Analysis, model: Model, motion: Any, options: argparse.Namespace, begin: str, common: dict[str, Any],
    say: Callable[[str], None], rows: Array,
) -> list[Path]:  # fmt: skip
    """The files of one analysis; names of these begin with *begin*. The motion's times are *rows*."""
    tables, in_degrees = _FINDERS[one.kind](one, model, motion, options, common, say)
    paths = []
    for end, table in tables.items():
        paths.append(Path(f"{begin}_{one.name}_{end}.sto"))
        labels = in_degrees.get(end, frozenset()) if isinstance(in_degrees, dict) else in_degrees
        write_sto(paths[-1], one_of(table, one.every, rows), degrees=labels)
    return paths


def rows_of_tool(time: Array, padded: bool) -> Array:
    """The times of a motion's rows; OpenSim's filter puts half as many before them, which its tool counts."""
    return np.concatenate([np.full(len(time) // 2 if padded else 0, -np.inf), time])


def one_of(table: Any, every: int, rows: Array) -> Any:
    """The first and the last row, and one of so many between, counted from the first of all *rows* on, as in OpenSim."""
    n = len(table)
    if every == 1 or n < 2:
        return table
    before = int(np.searchsorted(rows, table.time[0] - 1e-9))
    kept = np.unique([0, *range(-before % every, n, every), n - 1])
    return type(table)(table.time[kept], {label: table[label][kept] for label in table.labels}, name=table.name)


def _muscles(one: Analysis, model: Model, motion: Any, options: Any, common: Any, say: Callable[[str], None]) -> Found:
    names = options.coordinate or listed(one.lists.get("moment_arm_coordinate_list"))
    if not options.coordinate and not _flag(one, "compute_moments", True):
        names = []
    found = biomechanics.analyze_muscles(
        model, motion, muscles=listed(one.lists.get("muscle_list")), coordinates=names, **common
    )
    return found.tables, frozenset()


def _reactions(one: Analysis, model: Model, motion: Any, options: Any, common: Any, say: Callable[[str], None]) -> Found:
    forces = options.forces or next(iter(one.lists.get("forces_file", [])), None)
    return {
        "ReactionLoads": biomechanics.joint_reactions(model, motion, forces=forces, **_joints(options, one.lists), **common)
    }, frozenset()


def _accelerations(one: Analysis, model: Model, motion: Any, options: Any, common: Any, say: Callable[[str], None]) -> Found:
    names: list[str] | None = options.coordinate or one.lists.get("coordinate_names")  # a setup file's list may be empty
    names = names if names is None or names == [] else listed(names)
    bodies = options.body or _bodies(model, one.lists.get("body_names", []))
    if "body_names" in one.lists and "center_of_mass" not in bodies:
        bodies = [*bodies, "center_of_mass"]  # OpenSim's tool has it whatever its setup says
    contact: Any = one.contacts or options.contact
    if contact and options.loads is None:
        raise CommandError("contact takes the place of external loads, and there are none; give them with --loads FILE")
    found = biomechanics.induced_accelerations(
        model,
        motion,
        options.loads if contact else None,
        contact=contact or "rolling",
        force_threshold=one.threshold,
        reactions=bool(contact) and (options.contact is not None or _flag(one, "report_constraint_reactions", False)),
        potentials=_flag(one, "compute_potentials_only", False),
        coordinates=names,
        bodies=bodies,
        as_opensim=options.as_opensim,
        **common,
    )
    turns = {end: [label for label in table.labels if _turns(model, end, label)] for end, table in found.items()}
    wanted = "in_degrees" in one.lists and _flag(one, "in_degrees", True)  # an option's table has what the function gives
    return found, {end: frozenset(labels) for end, labels in turns.items()} if wanted else frozenset()


def _turns(model: Model, of: str, label: str) -> bool:
    """True if a column of accelerations of a coordinate or body is of an angle."""
    return of in model.angles if of in model.speeds else label.endswith(("_Ox", "_Oy", "_Oz"))


def _coordinates(one: Analysis, model: Model, motion: Any, options: Any, common: Any, say: Callable[[str], None]) -> Found:
    found = biomechanics.coordinate_kinematics(model, motion, coordinates=listed(one.lists.get("coordinates")), **common)
    return found, frozenset(model.angles if _flag(one, "in_degrees", True) else ())


def _of_bodies(one: Analysis, model: Model, motion: Any, options: Any, common: Any, say: Callable[[str], None]) -> Found:
    names = listed(one.lists.get("bodies"))
    local = _flag(one, "express_results_in_body_local_frame", False)
    found = biomechanics.body_kinematics(
        model, motion, bodies=None if names is None else _bodies(model, names), local=local, **common
    )
    turning = [label for label in found["pos_global"].labels if label.endswith(("_Ox", "_Oy", "_Oz"))]
    return found, frozenset(turning if _flag(one, "in_degrees", True) else ())


def _of_point(one: Analysis, model: Model, motion: Any, options: Any, common: Any, say: Callable[[str], None]) -> Found:
    body, base, name = (
        " ".join(one.lists.get(tag, [])) or usual
        for tag, usual in (("body_name", "ground"), ("relative_to_body_name", "ground"), ("point_name", "NONAME"))
    )
    point = [float(word) for word in one.lists.get("point", [])] or (0.0, 0.0, 0.0)
    base = "ground" if base.lower() == "none" else base
    found = biomechanics.point_kinematics(model, motion, body, point, relative_to=base, **common)
    return {f"{name}_{end}": table for end, table in found.items()}, frozenset()


def _actuators(one: Analysis, model: Model, motion: Any, options: Any, common: Any, say: Callable[[str], None]) -> Found:
    return biomechanics.actuation(model, motion, **common), frozenset()


def _forces(one: Analysis, model: Model, motion: Any, options: Any, common: Any, say: Callable[[str], None]) -> Found:
    if _flag(one, "include_constraint_forces", False):
        say("note: forces of constraints are left out of the ForceReporter's table")
    return {"forces": biomechanics.forces_over(model, motion, **common)}, frozenset()


def _states(one: Analysis, model: Model, motion: Any, options: Any, common: Any, say: Callable[[str], None]) -> Found:
    return {"states": biomechanics.states_over(model, motion, **common)}, frozenset()


_FINDERS: dict[str, Callable[..., Found]] = {
    "MuscleAnalysis": _muscles,
    "JointReaction": _reactions,
    "InducedAccelerations": _accelerations,
    "Kinematics": _coordinates,
    "BodyKinematics": _of_bodies,
    "PointKinematics": _of_point,
    "Actuation": _actuators,
    "ForceReporter": _forces,
    "StatesReporter": _states,
}


# ---------------------------------------------------------------------------------------------- words of setup files


def _flag(one: Analysis, tag: str, usual: bool) -> bool:
    words = one.lists.get(tag, [])
    return words[0].lower() == "true" if words else usual


def listed(names: list[str] | None) -> list[str] | None:
    """The names of a list; None where it says all."""
    return None if not names or any(name.lower() == "all" for name in names) else names


def _bodies(model: Model, names: list[str]) -> list[str]:
    """Those of a list, or all; the mass center has its name in small letters."""
    if names and names[0].lower() == "all":
        return [name for name in model.bodies if name != "ground"]
    return [name.lower() if name.lower() == "center_of_mass" else name for name in names]


def _joints(options: argparse.Namespace, lists: dict[str, list[str]]) -> dict[str, Any]:
    """The joints, the bodies loads are on, and the frames: lists of one entry are of all joints."""
    found: dict[str, Any] = {"joints": listed(lists.get("joint_names")), "on": options.on, "frame": options.frame}
    for key, tag in (("on", "apply_on_bodies"), ("frame", "express_in_frame")):
        words = [word.lower() if word.lower() in ("child", "parent", "ground") else word for word in lists.get(tag, [])]
        if words:
            found[key] = words[0] if len(words) == 1 else words
    return found | ({"joints": options.joint, "on": options.on, "frame": options.frame} if options.joint else {})
