"""Setup files of OpenSim's CMCTool and RRATool: which model, motion, loads, actuators, tasks and bounds."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ModelError
from ..function import Function
from ..value.files import as_path
from .controls import read_controls
from .opensim_file import all_named, beside, first_named, flag_of, number_of, numbers_of, read_opensim_file
from .tool_setup import _file, _name, tool_of
from .xml_element import Element

#: The element of each tool, and the window of its controls.
TRACKING_TOOLS = {"CMCTool": ("cmc", 0.01), "RRATool": ("rra", 0.001)}


@dataclass(kw_only=True)
class TrackingSetup:
    """The content of a setup file.

    Attributes
    ----------
    kind : {"cmc", "rra"}
    name : str
        Of the tool, with which files of results begin.
    model, motion, points, loads, output_model : Path or None
        *points* has the paths of tasks of bodies, three columns each, named or labelled by them.
    results : Path
        The folder, from that of the setup file.
    forces : list of Path
        Sets of forces; *replace* says whether they take the place of the model's.
    tasks : dict of str to dict
        What `biomechanics.Task`, `PointTask` or `OrientationTask` takes, by coordinate or name.
    bounds : dict of str to (float, float) or (Function, Function)
        Of controls, from the file of constraints; functions are of time.
    exclude : list of str
    window, start, end, cutoff, accuracy : float
        *cutoff* is None for no filter.
    exact : bool
        Whether the wanted accelerations have to be met.
    body : str or None
        Whose mass center moves.
    adjust_start, adjust_end : float or None
        Between which residuals are averaged for that; None for the times of the run.
    left_out : list of str
        Sentences about what the setup asks for and does not come about.
    """

    kind: str
    name: str = "mobod"
    model: Path | None = None
    motion: Path | None = None
    points: Path | None = None
    loads: Path | None = None
    results: Path = Path()
    output_model: Path | None = None
    forces: list[Path] = field(default_factory=list)
    replace: bool = False
    tasks: dict[str, dict[str, Any]] = field(default_factory=dict)
    bounds: dict[str, tuple[float | Function, float | Function]] = field(default_factory=dict)
    exclude: list[str] = field(default_factory=list)
    window: float = 0.01
    start: float = -np.inf
    end: float = np.inf
    cutoff: float | None = None
    accuracy: float = 1e-5
    exact: bool = True
    body: str | None = None
    adjust_start: float | None = None
    adjust_end: float | None = None
    left_out: list[str] = field(default_factory=list)


def read_tracking_setup(path: str | os.PathLike[str], given: Iterable[str] = ()) -> TrackingSetup:
    """Read a setup file of OpenSim's CMCTool or RRATool; files named by elements whose tags are *given* are not looked for.

    Raises
    ------
    ModelError
        If it holds no such tool, a number is none, or no task is on; with file and line.
    FileNotFoundError
        If a file that it names is not there.
    """
    path = as_path("path", path)
    tool = tool_of(path, TRACKING_TOOLS, given)
    kind, window = TRACKING_TOOLS[tool.tag]
    setup = TrackingSetup(kind=kind, name=tool.attributes.get("name", "").strip() or "mobod")
    setup.model, setup.motion = _file(path, tool, "model_file"), _file(path, tool, "desired_kinematics_file")
    setup.loads, setup.results = _file(path, tool, "external_loads_file"), _name(tool, "results_directory") or Path()
    words = tool.text_of("force_set_files").split()
    setup.forces = [beside(path, name) for name in words if name.lower() != "unassigned"]
    setup.replace = flag_of(tool, "replace_force_set", False)
    setup.window = number_of(path, tool, "cmc_time_window", window) if kind == "cmc" else window  # RRATool reads none
    setup.start, setup.end = number_of(path, tool, "initial_time", -np.inf), number_of(path, tool, "final_time", np.inf)
    cutoff = number_of(path, tool, "lowpass_cutoff_frequency", -1.0)
    setup.cutoff = cutoff if cutoff >= 0.0 else None
    setup.accuracy = number_of(path, tool, "integrator_error_tolerance", 1e-5)
    setup.exact = kind == "cmc" and flag_of(tool, "use_fast_optimization_target", True)
    setup.exclude = tool.text_of("actuators_to_exclude").split()
    setup.points = _file(path, tool, "desired_points_file")
    constraints = _file(path, tool, "constraints_file")
    if constraints is not None:
        found = read_controls(constraints)
        setup.bounds = {**found.ranges, **found.limits}
    tasks = _file(path, tool, "task_set_file")
    if tasks is None:
        raise ModelError(f"{path}:{tool.line}: this {tool.tag} names no <task_set_file>")
    setup.tasks = read_tasks(tasks)
    if kind == "rra":
        _read_adjustment(path, tool, setup)
    setup.left_out = _left_out(tool)
    return setup


def _left_out(tool: Element) -> list[str]:
    """Sentences about what a setup asks for and does not come about."""
    found = []
    if _name(tool, "rra_controls_file") is not None:
        found.append("<rra_controls_file> is left out: OpenSim's tool stops at it; the <constraints_file> bounds controls")
    made = ("Kinematics", "Actuation")  # whose tables are among the results of each run
    for name, advice in (
        ("AnalysisSet", "mobod analyze makes it of the states found"), ("ControllerSet", "the tracking alone sets controls"),
    ):  # fmt: skip
        held = first_named(tool, name)
        listed = None if held is None else first_named(held, "objects")
        for one in [] if listed is None else listed.children:
            on = flag_of(one, "on", True) and flag_of(one, "enabled", True)
            if on and one.tag not in made:
                found.append(f"{one.tag} {one.attributes.get('name', '')!r} is left out: {advice}")
    return found


def _read_adjustment(path: Path, tool: Element, setup: TrackingSetup) -> None:
    setup.output_model = _name(tool, "output_model_file")
    if not flag_of(tool, "adjust_com_to_reduce_residuals", True):
        return
    setup.body = tool.text_of("adjusted_com_body")
    if not setup.body:
        raise ModelError(f"{path}:{tool.line}: adjust_com_to_reduce_residuals needs an <adjusted_com_body>")
    between = [number_of(path, tool, f"{which}_time_for_com_adjustment", -1.0) for which in ("initial", "final")]
    if between != [-1.0, -1.0]:
        setup.adjust_start, setup.adjust_end = between


def read_tasks(path: str | os.PathLike[str]) -> dict[str, dict[str, Any]]:
    """Read OpenSim's file of tasks, a ``CMC_TaskSet``: what tasks take, by coordinate or name, of those that are on.

    Directions of zeros, OpenSim's default, are the axes. OpenSim 4.6 has ``CMC_Orientation`` in its sources alone.
    """
    path = as_path("path", path)
    root = read_opensim_file(path)
    for one in all_named(root, "StateTrackingTask"):
        if flag_of(one, "on", True):
            raise ModelError(
                f"{path}:{one.line}: StateTrackingTask {one.attributes.get('name', '')!r} follows a variable of a muscle; "
                "tasks are of coordinates, points and orientations: switch it off"
            )
    found: dict[str, dict[str, Any]] = {}
    for tag in ("CMC_Joint", "CMC_Point", "CMC_Orientation"):
        for one in all_named(root, tag):
            active = [word.lower() == "true" for word in one.text_of("active").split()]
            if not flag_of(one, "on", True) or not any(active if tag != "CMC_Joint" else active[:1]):
                continue
            name = one.attributes.get("name", "").strip()
            values = {"kp": 1.0, "kv": 0.5, "ka": 1.0, "weight": 1.0, "limit": 0.0}
            task: dict[str, Any] = {key: numbers_of(path, one, key, [usual])[0] for key, usual in values.items()}
            if tag == "CMC_Joint":
                found[one.text_of("coordinate").rpartition("/")[2] or name] = task
            else:
                found[name] = {**task, **_of_body(path, one, active)}
    if not found:
        raise ModelError(f"{path}:{root.line}: no task in this file is on and <active>")
    return found


def _of_body(path: Path, one: Element, active: list[bool]) -> dict[str, Any]:
    """The settings of a point or an orientation besides gains."""
    body = one.text_of("wrt_body")
    if not body:
        raise ModelError(f"{path}:{one.line}: the {one.tag} {one.attributes.get('name', '')!r} names no <wrt_body>")
    rows = [k for k, on in enumerate(active[:3]) if on]
    axes = [numbers_of(path, one, f"r{k}", [0.0] * 3, 3) for k in range(3)]
    axes = [axis if any(axis) else [float(i == k) for i in range(3)] for k, axis in enumerate(axes)]
    weights = numbers_of(path, one, "weight", [1.0] * 3)
    found: dict[str, Any] = {
        "body": body, "relative_to": one.text_of("express_body") or "ground", "directions": [axes[k] for k in rows],
        "weight": [(weights + [1.0] * 3)[k] for k in rows],
    }  # fmt: skip
    return found | ({"point": numbers_of(path, one, "point", [0.0] * 3, 3)} if one.tag == "CMC_Point" else {})
