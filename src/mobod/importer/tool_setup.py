"""Setup files of OpenSim's tools, for inverse kinematics and inverse dynamics: which model, which data, which weights."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..algebra.arrays import Array
from ..errors import ModelError
from ..value.files import as_path
from .external_loads import Contact
from .opensim_file import all_named, beside, first_named, flag_of, number_of, numbers_of, read_opensim_file
from .xml_element import Element

#: The element of each tool.
TOOLS = {"InverseKinematicsTool": "ik", "InverseDynamicsTool": "id", "AnalyzeTool": "so"}


@dataclass(kw_only=True)
class Analysis:
    """One analysis of an AnalyzeTool.

    Attributes
    ----------
    kind, name : str
        OpenSim's name of the analysis, and its own, which files of results have.
    lists : dict of str to list of str
        Its properties, as words.
    every : int
        Of how many rows one is kept, besides the first and the last.
    contacts, threshold : list of Contact, float
        Constraints that take the place of external forces, and the least of these for which they do.
    """

    kind: str
    name: str
    lists: dict[str, list[str]] = field(default_factory=dict)
    every: int = 1
    contacts: list[Contact] = field(default_factory=list)
    threshold: float = 6.0


@dataclass(kw_only=True)
class ToolSetup:
    """The content of a setup file.

    Attributes
    ----------
    kind : {"ik", "id", "so", "analyze"}
    model, markers, motion, loads, output : Path or None
        Files: of the model, the markers, the coordinates, the external loads; and what the result goes to.
    states, speeds, controls, results, prefix : Path or None, str
        Of analyses: states over time, speeds beside *motion*, controls, the folder of results, and how their files begin.
    equilibrate : bool
        Whether fibers are to be in equilibrium.
    analyses : list of Analysis
        What is to be found, but for a static optimization.
    left_out : list of str
        Analyses of kinds that are not known.
    exponent, muscle_physiology, every : float, bool, int
        Of a static optimization; of how many rows one is kept, besides the first and the last.
    forces, replace : list of Path, bool
        Of analyses: files of further forces, and whether the model's own are left out.
    exclude : list of str
        Of inverse dynamics: forces that are left out, by name, or ``all``, ``actuators``, ``muscles``.
    weights : dict of str to float
        Of markers; those that the file does not list are left out, if it lists any.
    coordinates : dict of str to float or None
        Values that coordinates are drawn to; None is the default.
    from_file : set of str
        Those that are drawn to what *motion* has, where it has them.
    coordinate_weights : dict of str to float
    start, end : float
    report_errors, report_locations : bool
        Whether the markers' errors, and the places of the model's markers, are written into the folder of results.
    accuracy, constraint_weight : float
    cutoff : float or None
        Of the filter of coordinates.
    """

    kind: str
    model: Path | None = None
    markers: Path | None = None
    motion: Path | None = None
    loads: Path | None = None
    output: Path | None = None
    exclude: list[str] = field(default_factory=list)
    weights: dict[str, float] = field(default_factory=dict)
    coordinates: dict[str, float | None] = field(default_factory=dict)
    from_file: set[str] = field(default_factory=set)
    coordinate_weights: dict[str, float] = field(default_factory=dict)
    report_errors: bool = False
    report_locations: bool = False
    start: float = -np.inf
    end: float = np.inf
    accuracy: float = 1e-5
    constraint_weight: float = np.inf
    cutoff: float | None = None
    exponent: float = 2.0
    muscle_physiology: bool = True
    every: int = 1
    forces: list[Path] = field(default_factory=list)
    replace: bool = False
    states: Path | None = None
    speeds: Path | None = None
    controls: Path | None = None
    results: Path | None = None
    prefix: str = "mobod"
    equilibrate: bool = False
    analyses: list[Analysis] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def tool_of(path: Path, known: Iterable[str], given: Iterable[str] = ()) -> Element:
    """The first of the *known* tools in a setup file; `ModelError` where there is none.

    It is without the elements that are *given* by tag: a file of the user's takes the place of what they name.
    """
    root = read_opensim_file(path)
    tool = next((found for name in known if (found := first_named(root, name)) is not None), None)
    if tool is None:
        raise ModelError(f"{path}:{root.line}: this file holds none of {', '.join(known)}")
    for element in tool.below():
        element.children = [child for child in element.children if child.tag not in given]
    return tool


def read_tool_setup(path: str | os.PathLike[str], given: Iterable[str] = ()) -> ToolSetup:
    """Read a setup file of OpenSim's InverseKinematicsTool, InverseDynamicsTool or AnalyzeTool.

    Files named by elements whose tags are *given* are not looked for.

    Raises
    ------
    ModelError
        If it holds no such tool, or a number is none; with file and line.
    FileNotFoundError
        If a file that it names is not there.
    """
    path = as_path("path", path)
    tool = tool_of(path, TOOLS, given)
    setup = ToolSetup(kind=TOOLS[tool.tag])
    setup.model = _file(path, tool, "model_file")
    setup.start, setup.end = _range(path, tool)
    if setup.kind == "ik":
        setup.markers = _file(path, tool, "marker_file")
        setup.motion = _file(path, tool, "coordinate_file")
        setup.output = _output(path.parent, tool, "output_motion_file")
        setup.accuracy = number_of(path, tool, "accuracy", 1e-5)
        setup.constraint_weight = number_of(path, tool, "constraint_weight", np.inf)
        setup.results, setup.prefix = _folder(path, tool), tool.attributes.get("name", "") or setup.prefix
        setup.report_errors = flag_of(tool, "report_errors", True)
        setup.report_locations = flag_of(tool, "report_marker_locations")
        _read_tasks(path, tool, setup)
    else:
        setup.motion = _file(path, tool, "coordinates_file")
        setup.loads = _file(path, tool, "external_loads_file")
        setup.output = _output(_folder(path, tool), tool, "output_gen_force_file")
        if setup.output is not None and not setup.output.suffix:
            setup.output = setup.output.with_suffix(".sto")
        setup.exclude = tool.text_of("forces_to_exclude").split()
        if setup.kind == "so":
            _read_analyses(path, tool, setup)
        cutoff = number_of(path, tool, "lowpass_cutoff_frequency_for_coordinates", -1.0)
        setup.cutoff = cutoff if cutoff >= 0.0 else None
    return setup


#: Analyses that `mobod analyze` makes, and the properties that each has.
ANALYSES = {
    "Kinematics": ("coordinates", "in_degrees"),
    "BodyKinematics": ("bodies", "in_degrees", "express_results_in_body_local_frame"),
    "PointKinematics": ("body_name", "relative_to_body_name", "point_name", "point"),
    "Actuation": (),
    "ForceReporter": ("include_constraint_forces",),
    "StatesReporter": (),
    "MuscleAnalysis": ("muscle_list", "moment_arm_coordinate_list", "compute_moments"),
    "JointReaction": ("joint_names", "apply_on_bodies", "express_in_frame", "forces_file"),
    "InducedAccelerations": (
        "coordinate_names", "body_names", "in_degrees", "compute_potentials_only", "report_constraint_reactions",
    ),
}  # fmt: skip


def _read_analyses(path: Path, tool: Element, setup: ToolSetup) -> None:
    """Files and times of an AnalyzeTool, and the analyses that are on."""
    setup.start, setup.end = number_of(path, tool, "initial_time", -np.inf), number_of(path, tool, "final_time", np.inf)
    setup.states, setup.results = _file(path, tool, "states_file"), _folder(path, tool)
    setup.speeds = _file(path, tool, "speeds_file")
    setup.prefix = tool.attributes.get("name", "") or setup.prefix
    setup.equilibrate = flag_of(tool, "solve_for_equilibrium_for_auxiliary_states")
    controller = first_named(tool, "ControlSetController")
    if controller is not None and flag_of(controller, "enabled", True):
        setup.controls = _file(path, controller, "controls_file")
    names = tool.text_of("force_set_files").split()
    setup.forces = [beside(path, name) for name in names if name.lower() != "unassigned"]
    setup.replace = flag_of(tool, "replace_force_set")
    listed = first_named(first_named(tool, "AnalysisSet") or tool, "objects")
    setup.kind = "analyze"
    for one in [] if listed is None else listed.children:
        if not flag_of(one, "on", True):
            continue
        if one.tag == "StaticOptimization":
            setup.kind = "so"
            if not flag_of(one, "use_model_force_set", True):
                raise ModelError(
                    f"{path}:{one.line}: without <use_model_force_set> moments of coordinates take the place of muscles: "
                    "that is inverse dynamics, use mobod id"
                )
            setup.exponent = number_of(path, one, "activation_exponent", 2.0)
            setup.every = max(1, round(number_of(path, one, "step_interval", 1.0)))
            setup.muscle_physiology = flag_of(one, "use_muscle_physiology", True)
        elif one.tag in ANALYSES:
            lists = {name: one.text_of(name).split() for name in ANALYSES[one.tag]}
            if lists.get("forces_file"):
                lists["forces_file"] = [str(beside(path, lists["forces_file"][0]))]
            setup.analyses.append(
                Analysis(
                    kind=one.tag,
                    name=one.attributes.get("name", "") or one.tag,
                    lists=lists,
                    every=max(1, round(number_of(path, one, "step_interval", 1.0))),
                    contacts=_contacts(path, one),
                    threshold=number_of(path, one, "force_threshold", 6.0),
                )
            )
        else:
            setup.left_out.append(one.tag)
    if not setup.analyses and setup.kind == "analyze":
        rest = f"; it has {', '.join(setup.left_out)}" if setup.left_out else ""
        raise ModelError(f"{path}:{tool.line}: of an AnalyzeTool, StaticOptimization and {', '.join(ANALYSES)} are known{rest}")


#: Kinds of contact, and on what bodies they are, by today's names of sockets and those of old files.
_CONTACTS = {
    "RollingOnSurfaceConstraint": ("rolling", ("surface_body", "rolling_body")),
    "PointConstraint": ("point", ("body_1", "body_2")),
    "WeldConstraint": ("weld", ("frame1", "frame2", "body_1", "body_2")),
}


def _contacts(path: Path, one: Element) -> list[Contact]:
    """Constraints that an analysis of induced accelerations puts in the place of external forces."""
    held = first_named(one, "ConstraintSet") if one.tag == "InducedAccelerations" else None
    listed = None if held is None else first_named(held, "objects")
    found = []
    for element in [] if listed is None else listed.children:
        if element.tag not in _CONTACTS:
            raise ModelError(
                f"{path}:{element.line}: a {element.tag} takes no external force's place; {', '.join(_CONTACTS)} do"
            )
        kind, sockets = _CONTACTS[element.tag]
        named = [element.text_of(prefix + socket) for socket in sockets for prefix in ("socket_", "")]
        bodies = [name.rpartition("/")[2] for name in named if name]
        moving = [name for name in bodies if name.lower() != "ground"]
        if len(bodies) != 2 or len(moving) != 1:
            raise ModelError(f"{path}:{element.line}: this {element.tag} is to be between a body and ground, not {bodies}")
        usual = Contact()
        try:
            found.append(
                Contact(
                    kind=kind,
                    surface_normal=numbers_of(path, element, "surface_normal", [*usual.surface_normal], 3),
                    friction_coefficient=number_of(path, element, "friction_coefficient", usual.friction_coefficient),
                    contact_radius=number_of(path, element, "contact_radius", usual.contact_radius),
                    name=element.attributes.get("name", ""),
                    body=moving[0],
                )
            )
        except ValueError as error:
            raise ModelError(f"{path}:{element.line}: {error}") from None
    return found


def _read_tasks(path: Path, tool: Element, setup: ToolSetup) -> None:
    for task in [*all_named(tool, "IKMarkerTask"), *all_named(tool, "IKCoordinateTask")]:
        name = task.attributes.get("name", "")
        if not flag_of(task, "apply", True):
            continue
        weight = number_of(path, task, "weight", 1.0)
        if task.tag == "IKMarkerTask":
            setup.weights[name] = weight
        else:
            how = task.text_of("value_type") or "from_file"
            setup.coordinates[name] = number_of(path, task, "value", 0.0) if how == "manual_value" else None
            setup.coordinate_weights[name] = weight
            if how == "from_file":
                setup.from_file.add(name)


def _range(path: Path, tool: Element) -> tuple[float, float]:
    found = numbers_of(path, tool, "time_range", [-1.0, -1.0])
    low, high = found if len(found) == 2 else (-1.0, -1.0)
    return (-np.inf, np.inf) if low == high == -1.0 else (low, high)  # as OpenSim writes a range that nobody has set


def _name(element: Element, tag: str) -> Path | None:
    text = element.text_of(tag).replace("\\", "/")  # files of Windows are read elsewhere, too
    return None if not text or text.lower() == "unassigned" else Path(text)


def _folder(path: Path, tool: Element) -> Path:
    """The folder of results, from that of the setup file; this, as in OpenSim, where none is named."""
    return path.parent / (_name(tool, "results_directory") or "")


def _output(folder: Path, element: Element, tag: str) -> Path | None:
    name = _name(element, tag)
    return None if name is None else folder / name


def _file(path: Path, element: Element, tag: str) -> Path | None:
    name = _name(element, tag)
    try:
        return None if name is None else beside(path, str(name))
    except FileNotFoundError as error:
        if tag == "model_file":  # as a rule a path of another machine
            error.strerror = f"{error.strerror}; give one in its place with --model"
        raise


# ---------------------------------------------------------------------------------------------- scaling


@dataclass(kw_only=True)
class ScaleSetup:
    """The content of a setup file of OpenSim's scale tool.

    Attributes
    ----------
    model, markers, output : Path or None
    pose_markers, pose_start, pose_end : Path or None, float, float
        Of the static pose in which markers are placed.
    output_pose, output_factors, output_markers : Path or None
        Where this pose, the factors of bodies, and the markers go.
    added : dict of str to (str, (3,) array)
        Markers of a file of its own: the body, and where on it.
    fixed : list of str
        Of these, those that stay on their bodies.
    measurements : list of (str, list of pairs, dict of str to str)
        Name, pairs of markers, and bodies with their axes.
    factors : dict of str to (3,) array
        Of bodies, by hand.
    measured_last : bool
        Whether measurements take the place of these, not the other way round.
    mass : float or None
    keep_masses, place_markers : bool
    start, end : float
    weights, coordinates, coordinate_weights : dict
        As in `ToolSetup`.
    """

    model: Path | None = None
    markers: Path | None = None
    output: Path | None = None
    pose_markers: Path | None = None
    pose_start: float = -np.inf
    pose_end: float = np.inf
    output_pose: Path | None = None
    output_factors: Path | None = None
    output_markers: Path | None = None
    added: dict[str, tuple[str, Array]] = field(default_factory=dict)
    fixed: list[str] = field(default_factory=list)
    measurements: list[tuple[str, list[tuple[str, str]], dict[str, str]]] = field(default_factory=list)
    factors: dict[str, Array] = field(default_factory=dict)
    measured_last: bool = False
    mass: float | None = None
    keep_masses: bool = False
    place_markers: bool = False
    start: float = -np.inf
    end: float = np.inf
    weights: dict[str, float] = field(default_factory=dict)
    coordinates: dict[str, float | None] = field(default_factory=dict)
    coordinate_weights: dict[str, float] = field(default_factory=dict)


def read_scale_setup(path: str | os.PathLike[str], given: Iterable[str] = ()) -> ScaleSetup:
    """Read a setup file of OpenSim's ScaleTool; files named by elements whose tags are *given* are not looked for.

    Raises
    ------
    ModelError
        If it holds no such tool, or a number is none; with file and line.
    FileNotFoundError
        If a file that it names is not there.
    """
    path = as_path("path", path)
    tool = tool_of(path, ["ScaleTool"], given)
    setup, empty = ScaleSetup(), Element("none", {}, tool.line)
    mass = number_of(path, tool, "mass", -1.0)
    setup.mass = mass if mass > 0.0 else None
    maker = first_named(tool, "GenericModelMaker") or empty
    scaler = first_named(tool, "ModelScaler") or empty
    placer = first_named(tool, "MarkerPlacer") or empty
    setup.model = _file(path, maker, "model_file")
    more = _file(path, maker, "marker_set_file")
    if more is not None:
        setup.added, setup.fixed = read_marker_set(more)
    setup.place_markers = placer is not empty and flag_of(placer, "apply", True)
    scales = scaler is not empty and flag_of(scaler, "apply", True)
    if not scales:
        scaler, setup.mass = empty, None
    setup.pose_markers = _file(path, placer, "marker_file")
    setup.markers = _file(path, scaler, "marker_file") or setup.pose_markers
    setup.start, setup.end = _range(path, scaler)
    setup.pose_start, setup.pose_end = _range(path, placer)
    setup.output_pose = _output(path.parent, placer, "output_motion_file")
    setup.output_factors = _output(path.parent, scaler, "output_scale_file")
    setup.output_markers = _output(path.parent, placer, "output_marker_file")
    setup.keep_masses = flag_of(scaler, "preserve_mass_distribution")
    setup.output = _output(path.parent, placer, "output_model_file") or _output(path.parent, scaler, "output_model_file")
    order = scaler.text_of("scaling_order").split() or ["measurements", "manualScale"]
    setup.measured_last = order[-1] == "measurements"
    for one in all_named(scaler, "Measurement") if "measurements" in order else []:
        if not flag_of(one, "apply", True):
            continue
        pairs = [tuple(pair.text_of("markers").split()) for pair in all_named(one, "MarkerPair")]
        bodies = {
            body.attributes.get("name", ""): "".join(body.text_of("axes").split()) for body in all_named(one, "BodyScale")
        }
        if any(len(pair) != 2 for pair in pairs):
            raise ModelError(f"{path}:{one.line}: a MarkerPair has two markers")
        setup.measurements.append((one.attributes.get("name", ""), [(pair[0], pair[1]) for pair in pairs], bodies))
    for one in all_named(scaler, "Scale") if "manualScale" in order else []:
        if flag_of(one, "apply", True):
            setup.factors[one.text_of("segment")] = np.array(numbers_of(path, one, "scales", [], 3))
    tasks = ToolSetup(kind="ik")
    _read_tasks(path, placer, tasks)
    setup.weights, setup.coordinates = tasks.weights, tasks.coordinates
    setup.coordinate_weights = tasks.coordinate_weights
    return setup


def read_marker_set(path: str | os.PathLike[str]) -> tuple[dict[str, tuple[str, Array]], list[str]]:
    """Markers of a file of OpenSim's, old or new: of each the body and the place on it; and which are fixed."""
    path = as_path("path", path)
    root = read_opensim_file(path)
    found, fixed = {}, []
    for one in all_named(root, "Marker"):
        body = one.text_of("socket_parent_frame") or one.text_of("body") or one.text_of("parent_frame")
        name = one.attributes.get("name", "")
        found[name] = body.rsplit("/", 1)[-1], np.array(numbers_of(path, one, "location", [], 3))
        if flag_of(one, "fixed"):
            fixed.append(name)
    return found, fixed
