"""Setup files of OpenSim's CMCTool and RRATool: which model, motion, loads, actuators, tasks and bounds."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..errors import ModelError
from ..value.files import as_path
from .controls import read_controls
from .external_loads import all_named, beside, first_named, text_of
from .tool_setup import _file, _name, _number
from .xml_element import Element, read_xml

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
    model, motion, loads, results, output_model : Path or None
    forces : list of Path
        Sets of forces; *replace* says whether they take the place of the model's.
    tasks : dict of str to dict of str to float
        Gains, weight and limit by coordinate, as of `biomechanics.Task`.
    bounds : dict of str to (float, float)
        Of controls, from the file of constraints.
    exclude : list of str
    window, start, end, cutoff, accuracy : float
        *cutoff* is None for no filter.
    exact : bool
        Whether the wanted accelerations have to be met.
    body : str or None
        Whose mass center moves.
    adjust_start, adjust_end : float or None
        Between which residuals are averaged for that; None for the times of the run.
    """

    kind: str
    name: str = "mobod"
    model: Path | None = None
    motion: Path | None = None
    loads: Path | None = None
    results: Path | None = None
    output_model: Path | None = None
    forces: list[Path] = field(default_factory=list)
    replace: bool = False
    tasks: dict[str, dict[str, float]] = field(default_factory=dict)
    bounds: dict[str, tuple[float, float]] = field(default_factory=dict)
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


def read_tracking_setup(path: str | os.PathLike[str]) -> TrackingSetup:
    """Read a setup file of OpenSim's CMCTool or RRATool.

    Raises
    ------
    ModelError
        If it holds no such tool, a number is none, or a task is not of a coordinate; with file and line.
    FileNotFoundError
        If a file that it names is not there.
    """
    path = as_path("path", path)
    root = read_xml(path, with_text=True, any_bytes=True, faults=[])
    tool = next((found for name in TRACKING_TOOLS if (found := first_named(root, name)) is not None), None)
    if tool is None:
        raise ModelError(f"{path}:{root.line}: this file holds none of {', '.join(TRACKING_TOOLS)}")
    kind, window = TRACKING_TOOLS[tool.tag]
    setup = TrackingSetup(kind=kind, name=tool.attributes.get("name", "").strip() or "mobod")
    setup.model, setup.motion = _file(path, tool, "model_file"), _file(path, tool, "desired_kinematics_file")
    setup.loads, setup.results = _file(path, tool, "external_loads_file"), _name(tool, "results_directory")
    words = text_of(tool, "force_set_files").split()
    setup.forces = [beside(path, name) for name in words if name.lower() != "unassigned"]
    setup.replace = _flag(tool, "replace_force_set", False)
    setup.window = _number(path, tool, "cmc_time_window", window)
    setup.start, setup.end = _number(path, tool, "initial_time", -np.inf), _number(path, tool, "final_time", np.inf)
    cutoff = _number(path, tool, "lowpass_cutoff_frequency", -1.0)
    setup.cutoff = cutoff if cutoff >= 0.0 else None
    setup.accuracy = _number(path, tool, "integrator_error_tolerance", 1e-5)
    setup.exact = kind == "cmc" and _flag(tool, "use_fast_optimization_target", True)
    setup.exclude = text_of(tool, "actuators_to_exclude").split()
    if _name(tool, "desired_points_file") is not None:
        raise ModelError(f"{path}:{tool.line}: a <desired_points_file> is not followed; give coordinates, which mobod ik finds")
    constraints = _file(path, tool, "constraints_file")
    if constraints is not None:
        setup.bounds = read_controls(constraints).ranges
    tasks = _file(path, tool, "task_set_file")
    if tasks is None:
        raise ModelError(f"{path}:{tool.line}: this {tool.tag} names no <task_set_file>")
    setup.tasks = read_tasks(tasks)
    if kind == "rra":
        _read_adjustment(path, tool, setup)
    return setup


def _read_adjustment(path: Path, tool: Element, setup: TrackingSetup) -> None:
    setup.output_model = _name(tool, "output_model_file")
    if not _flag(tool, "adjust_com_to_reduce_residuals", True):
        return
    setup.body = text_of(tool, "adjusted_com_body")
    if not setup.body:
        raise ModelError(f"{path}:{tool.line}: adjust_com_to_reduce_residuals needs an <adjusted_com_body>")
    between = [_number(path, tool, f"{which}_time_for_com_adjustment", -1.0) for which in ("initial", "final")]
    if between != [-1.0, -1.0]:
        setup.adjust_start, setup.adjust_end = between


def read_tasks(path: str | os.PathLike[str]) -> dict[str, dict[str, float]]:
    """Read OpenSim's file of tasks, a ``CMC_TaskSet``: gains, weight and limit by coordinate, of those that are on."""
    path = as_path("path", path)
    root = read_xml(path, with_text=True, any_bytes=True, faults=[])
    for tag in ("CMC_Point", "CMC_Orientation", "StateTrackingTask"):
        for one in all_named(root, tag):
            if _flag(one, "on", True):
                raise ModelError(
                    f"{path}:{one.line}: {tag} {one.attributes.get('name', '')!r} is not of a coordinate; a CMC_Joint is"
                )
    found = {}
    for one in all_named(root, "CMC_Joint"):
        if not _flag(one, "on", True) or (text_of(one, "active").split() or ["true"])[0].lower() == "false":
            continue
        coordinate = text_of(one, "coordinate").rpartition("/")[2] or one.attributes.get("name", "").strip()
        found[coordinate] = {
            name: _first(path, one, name, usual)
            for name, usual in (("kp", 1.0), ("kv", 1.0), ("ka", 1.0), ("weight", 1.0), ("limit", 0.0))
        }
    if not found:
        raise ModelError(f"{path}:{root.line}: there is no CMC_Joint that is on in this file")
    return found


def _first(path: Path, element: Element, tag: str, usual: float) -> float:
    words = text_of(element, tag).split()
    if not words:
        return usual
    try:
        return float(words[0])
    except ValueError:
        raise ModelError(f"{path}:{element.line}: the <{tag}> is of numbers, not {words[0]!r}") from None


def _flag(element: Element, tag: str, usual: bool) -> bool:
    text = text_of(element, tag).lower()
    return usual if not text else text == "true"
