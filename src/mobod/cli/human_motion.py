"""The work of the commands for human motion: what is asked for is read, found, said and saved."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .. import biomechanics
from ..biomechanics.figure import plot_table
from ..biomechanics.followed import control_set
from ..biomechanics.motion import rows_of
from ..biomechanics.motion_tables import beside_others
from ..biomechanics.states import MotionRows, filtered, own_state, states_table
from ..errors import CommandError
from ..importer import write_osim
from ..importer.formats import find_format, load_quietly
from ..importer.model import Model
from ..importer.osim.model_operators import names_of_forces
from ..importer.osim.write import scale_set, write_document
from ..importer.tool_setup import TOOLS, Analysis, ToolSetup, read_scale_setup, read_tool_setup
from ..importer.tracking_setup import read_tracking_setup
from ..importer.xml_element import read_xml
from ..motion_data import Table, read_c3d, read_sto, read_trc, write_sto
from ..value import checks
from ..value.checks import check_extension
from .analyses import find_and_save, one_of, rows_of_tool
from .results import FIGURES, check_pictures, check_result, is_installed, speaker

MOTIONS = (".mot", ".sto")
#: What is found, by name: the option that says where it is saved, and what makes its table.
Results = dict[str, tuple[str, Callable[[], Any]]]
#: Options of `mobod analyze` that ask for an analysis, and OpenSim's name of it.
_ANALYSES = {
    "muscles": "MuscleAnalysis",
    "reactions": "JointReaction",
    "accelerations": "InducedAccelerations",
    "kinematics": "Kinematics",
    "bodies": "BodyKinematics",
    "actuation": "Actuation",
    "applied": "ForceReporter",
}


def run_ik(options: argparse.Namespace) -> None:
    """Inverse kinematics."""
    setup, path, model, say = _begin(options, "ik", options.markers, "MARKERS")
    if path.suffix.lower() == ".c3d":
        markers = read_c3d(path).markers
    else:
        markers = read_trc(path)
    weights = setup.weights | dict(options.weight)
    if setup.weights:  # a setup's markers are those that it lists
        weights = {name: weight for name, weight in weights.items() if name in markers}
        markers = markers.only([label for label in markers.labels if label in weights])
    wanted: dict[str, Any] = {}
    from_file = None if setup.motion is None else read_sto(setup.motion, model=model)
    for name, value in setup.coordinates.items():
        if name in model.coordinates:
            table = from_file if name in setup.from_file else None
            wanted[name] = _wanted(model, name, value, table, markers.time)
    for note in markers.report:
        say(f"note: {note}")
    found = biomechanics.inverse_kinematics(
        model,
        markers,
        weights=weights,
        coordinates=_within(wanted, markers.time, options, setup) or None,
        coordinate_weights=setup.coordinate_weights or 1.0,
        **_span(options, setup),
        accuracy=options.accuracy or setup.accuracy,
        constraint_weight=setup.constraint_weight,
        cutoff=options.cutoff,
        progress=_progress(options),
    )
    say(found.summarize())
    if options.output is None and setup.output is not None:
        _save_reports(setup, found)
    _save_as_named(options, setup.output)
    results: Results = {"motion": ("output", found.to_table), "residuals": ("report", lambda: found.residuals)}
    drawn = {"degrees": model.angles, "residuals": found.residuals, "unit": "m"}
    _save(options, say, f"{model.name}: {path.name}", results, drawn, degrees=True, model=model)


def _save_reports(setup: ToolSetup, found: Any) -> None:
    """The markers' errors and places, as OpenSim's tool writes them beside its motion."""
    assert setup.results is not None
    setup.results.mkdir(parents=True, exist_ok=True)
    begin = f"{setup.results / setup.prefix}_ik"
    if setup.report_errors:
        total = np.nansum([found.residuals[name] ** 2 for name in found.residuals.labels], axis=0)
        columns = {"total_squared_error": total, "marker_error_RMS": found.rms, "marker_error_max": found.maximum}
        write_sto(f"{begin}_marker_errors.sto", Table(found.time, columns, name="Model Marker Errors from IK"))
    if setup.report_locations:
        places = {
            f"{name}_t{axis}": found.errors[name][:, k] + found.seen[name][:, k]
            for name in found.errors.labels
            for k, axis in enumerate("xyz")
        }
        write_sto(f"{begin}_model_marker_locations.sto", Table(found.time, places, name="Model Marker Locations from IK"))


def run_id(options: argparse.Namespace) -> None:
    """Inverse dynamics."""
    setup, path, model, say = _begin(options, "id", options.motion, "a MOTION")
    found = biomechanics.inverse_dynamics(
        model,
        path,
        options.loads or setup.loads,
        cutoff=options.cutoff or setup.cutoff,
        filter="opensim" if setup.cutoff is not None and options.cutoff is None else "butterworth",
        **_span(options, setup),
        state=_without(model, setup.exclude, say),
        progress=_progress(options),
    )
    for note in found.notes:
        say(f"note: {note}")
    say(_ranges(found.forces))
    _save_as_named(options, setup.output)
    results: Results = {"forces": ("output", lambda: found.forces), "reactions": ("reactions", found.reactions)}
    _save(options, say, f"{model.name}: {path.name}", results, {"unit": "N, N m"})


def _without(model: Model, excluded: list[str], say: Callable[[str], None]) -> Any:
    """A state in which forces that a setup file excludes are off: by name, or all, actuators."""
    known = {**model.actuators, **model.data.get("forces", {})}
    groups = {"ALL": known, "ACTUATORS": model.actuators, "MUSCLES": {}}  # inverse dynamics has no muscles
    state = model.default_state()
    for name in excluded:
        if name.upper() not in groups and name not in known and name not in model.muscles:
            names = [*known, *model.muscles]
            say(f"note: forces_to_exclude has {name!r}, and the model has no such force; {checks.suggest(name, names)}")
        for one in groups.get(name.upper(), {name: known[name]} if name in known else {}).values():
            one.disable(state)
    return state


def run_so(options: argparse.Namespace) -> None:
    """Static optimization."""
    setup, path, model, say = _begin(options, "so", options.motion, "a MOTION")
    model = _with_forces(model, setup)
    loads, cutoff = options.loads or setup.loads, options.cutoff or setup.cutoff
    filter: Any = "opensim" if setup.cutoff is not None and options.cutoff is None else "butterworth"
    found = biomechanics.static_optimization(
        model,
        path,
        loads,
        exponent=_first(options.exponent, setup.exponent),
        muscle_physiology=setup.muscle_physiology and not options.isometric,
        passive_force=options.passive,
        tendon_compliance=options.elastic,
        reserve=options.reserve,
        as_opensim=options.as_opensim,
        cutoff=cutoff,
        filter=filter,
        **_span(options, setup),
        progress=_progress(options),
    )
    rows = rows_of_tool(rows_of(model, model.default_state(), path)[0], padded=setup.cutoff is not None)
    activations = one_of(found.activations, setup.every, rows)
    say(_ranges(activations))
    if setup.results is not None and options.output is None and options.forces is None:
        setup.results.mkdir(parents=True, exist_ok=True)
        begin = setup.results / f"{setup.prefix}_StaticOptimization"
        options.output, options.forces = Path(f"{begin}_activation.sto"), Path(f"{begin}_force.sto")
        Path(f"{begin}_controls.xml").write_text(control_set(activations), encoding="utf-8")
    _tell_of_others(setup, [one.name for one in setup.analyses], say)

    def applied() -> Any:
        return one_of(beside_others(found.forces, model, loads, path, cutoff, filter), setup.every, rows)

    results: Results = {"activations": ("output", lambda: activations), "forces": ("forces", applied)}
    _save(options, say, f"{model.name}: {path.name}", results, {"unit": "activation"})


def run_redundancy(options: argparse.Namespace) -> None:
    """Muscle redundancy."""
    setup, path, model, say = _begin(options, "redundancy", options.motion, "a MOTION")
    loads = options.loads or setup.loads
    found = biomechanics.muscle_redundancy(
        biomechanics.ignore_tendon_compliance(biomechanics.replace_muscles(model, "DeGrooteFregly2016"))
        if options.rigid
        else model,
        path,
        loads,
        exponent=_first(options.exponent, setup.exponent),
        reserve=options.reserve,
        intervals=options.intervals,
        cutoff=options.cutoff,
        **_span(options, setup),
        solver=options.solver,
        progress=not options.quiet,
    )
    facts = found.statistics
    say(f"cost {found.cost:.6g}, {facts['iterations']} iterations of {facts['solver']} in {facts['wall_time']:.2g} s")
    say(_ranges(found.activations))
    results: Results = {
        "activations": ("output", lambda: found.activations),
        "excitations": ("excitations", lambda: found.excitations),
        "forces": ("forces", lambda: beside_others(found.forces, model, loads, path, options.cutoff)),
        "fibers": ("fibers", lambda: found.fiber_lengths),
    }
    _save(options, say, f"{model.name}: {path.name}", results, {"unit": "activation"})


def run_analyze(options: argparse.Namespace) -> None:
    """Muscle analysis, joint reactions, induced accelerations, kinematics, actuators, forces."""
    setup = _setup_of(options, "analyze")
    motion = options.motion or setup.states or setup.motion
    if motion is None:
        raise CommandError("mobod analyze takes a MODEL and a MOTION; see mobod analyze --help")
    asked = [*setup.analyses]
    for flag, kind in _ANALYSES.items():
        if getattr(options, flag) and not any(one.kind == kind for one in asked):
            asked.append(Analysis(kind=kind, name=kind))
    folder = options.results or setup.results
    if not asked or folder is None:
        flags = ", ".join(f"--{flag}" for flag in _ANALYSES)
        raise CommandError(f"mobod analyze wants one or several of {flags}, and a folder: --results FOLDER")
    say = speaker(options.quiet)
    options.loads = options.loads or setup.loads
    path = options.model or setup.model or options.setup
    loads = {} if options.loads is None else {"external_loads": options.loads}
    model = load_quietly(path, **_as_opensim(options, path), **loads)
    model = _with_forces(model, setup)
    if options.controls or setup.controls:
        model.set_controls(options.controls or setup.controls)
    say(f"{model.name}: {len(model.coordinates)} coordinates, {len(model.muscles)} muscles")
    _tell_of_others(setup, ["StaticOptimization"] * (setup.kind == "so"), say)
    own = options.motion is None and setup.states is None  # a setup's coordinates; of states nothing is filtered
    cutoff, speeds = options.cutoff or (setup.cutoff if own else None), setup.speeds if own else None
    if cutoff is not None or speeds is not None:
        motion = filtered(model, motion, cutoff, "butterworth" if options.cutoff else "opensim", speeds)
    Path(folder).mkdir(parents=True, exist_ok=True)
    prefix = Path(folder) / (options.prefix or setup.prefix)
    common: dict[str, Any] = {
        "equilibrate": "opensim" if setup.equilibrate else options.equilibrate,
        **_span(options, setup),
    }
    read = MotionRows(model, motion, own_state(model, None))
    for note in [*read.notes, *read.missed()]:
        say(f"note: {note}")
    rows = rows_of_tool(read.time, padded=own and setup.cutoff is not None)
    for one in asked:
        saved = find_and_save(one, model, motion, options, str(prefix), common, say, rows)
        say(f"{one.name:<21}{len(saved)} file{'s' * (len(saved) > 1)}: {saved[0]}{', ...' * (len(saved) > 1)}")


def run_cmc(options: argparse.Namespace) -> None:
    """Computed muscle control."""
    setup, model, given = _begin_tracking(options, "cmc")
    if setup.forces:
        model = biomechanics.add_forces(model, *setup.forces, replace=setup.replace)
    found = biomechanics.computed_muscle_control(model, setup.motion, setup.loads, as_opensim=options.as_opensim, **given)
    _save_tracking(options, setup, found)


def run_rra(options: argparse.Namespace) -> None:
    """Residual reduction."""
    if options.output is not None:
        check_extension(options.output, (".osim",))
    setup, model, given = _begin_tracking(options, "rra")
    found = biomechanics.reduce_residuals(
        model, setup.motion, setup.loads, actuators=setup.forces or None, replace=setup.replace, body=setup.body,
        adjust_start=setup.adjust_start, adjust_end=setup.adjust_end, **given,
    )  # fmt: skip
    speaker(options.quiet)(found.summarize())
    _save_tracking(options, setup, found)
    named = options.setup.parent / (setup.output_model or "adjusted_model.osim")  # as OpenSim calls it unless told
    output = options.output or (named if setup.body else None)
    if output is not None:
        write_osim(output, found.adjusted)
        speaker(options.quiet)(f"{'model':<22}{output}")


def _begin_tracking(options: argparse.Namespace, kind: str) -> tuple[Any, Model, dict[str, Any]]:
    """The setup, the model, and what both tools take; the folder of results is there."""
    setup = read_tracking_setup(options.setup, _given(options))
    if setup.kind != kind:
        raise CommandError(f"{options.setup} is the setup of another tool: use mobod {setup.kind}")
    path = options.model or setup.model
    if path is None or setup.motion is None:
        what = "model_file; give one with --model" if path is None else "desired_kinematics_file"
        raise CommandError(f"{options.setup} names no {what}")
    folder = options.results or options.setup.parent / setup.results
    folder.mkdir(parents=True, exist_ok=True)
    setup.results, setup.name = folder, options.prefix or setup.name
    model = load_quietly(path, **_as_opensim(options, path))
    speaker(options.quiet)(f"{model.name}: {len(model.coordinates)} coordinates, {len(model.muscles)} muscles")
    for text in setup.left_out:
        speaker(options.quiet)(f"note: {text}")
    known = {name for file in setup.forces for name in names_of_forces(file)}
    known |= set() if setup.replace else {*model.muscles, *model.actuators}
    for name in [name for name, values in setup.tasks.items() if "body" not in values and name not in model.speeds]:
        speaker(options.quiet)(f"note: the task of {name!r} is left out, the model has no such coordinate")
        del setup.tasks[name]
    given = {
        "tasks": _tasks(options, setup),
        "window": setup.window, "exact": setup.exact,
        "bounds": {name: pair for name, pair in setup.bounds.items() if name in known},
        "exclude": setup.exclude, "cutoff": setup.cutoff, "filter": "opensim",
        "accuracy": setup.accuracy, "progress": _progress(options), **_span(options, setup),
    }  # fmt: skip
    return setup, model, given


def _tasks(options: argparse.Namespace, setup: Any) -> dict[str, Any]:
    """The tasks; those of bodies have their paths from the file of points, where this has their columns."""
    table = None if setup.points is None else read_sto(setup.points)
    found: dict[str, Any] = {}
    for name, values in setup.tasks.items():
        if "body" not in values:
            found[name] = biomechanics.Task(**values)
            continue
        labels = [] if table is None else [
            one for one in table.labels if one == name or re.fullmatch(re.escape(name) + r"_([1-3]|[xyz])", one)
        ]  # fmt: skip
        if not labels:
            speaker(options.quiet)(f"note: no column is of the task {name!r}; it follows the body as the coordinates move it")
        path = table.only(labels) if table is not None and labels else None
        found[name] = (biomechanics.PointTask if "point" in values else biomechanics.OrientationTask)(path=path, **values)
    return found


def _save_tracking(options: argparse.Namespace, setup: Any, found: Any) -> None:
    say = speaker(options.quiet)
    for note in found.notes:
        say(f"note: {note}")
    width = max(len(label) for label in found.errors.labels)
    for label in found.errors.labels:
        say(f"{label:<{width}}  largest error {abs(found.errors[label]).max():.3g}")
    paths = found.save(setup.results, setup.name)
    say(f"{len(paths)} files: {paths[0]}, ...")


def _begin(
    options: argparse.Namespace, kind: str, given: Path | None, what: str
) -> tuple[ToolSetup, Path, Model, Callable[[str], None]]:
    """The setup, the recording that is given or that the setup names, the model, and how to speak."""
    setup = _setup_of(options, kind)
    path = given or (setup.markers if kind == "ik" else setup.motion or setup.states)
    if path is None:
        raise CommandError(f"mobod {kind} takes a MODEL and {what}; see mobod {kind} --help")
    _check_results(options)
    say = speaker(options.quiet)
    return setup, path, _model(options, setup, say), say


def _with_forces(model: Model, setup: ToolSetup) -> Model:
    """The model with the forces of the files that a setup names."""
    return biomechanics.add_forces(model, *setup.forces, replace=setup.replace) if setup.forces else model


def _tell_of_others(setup: ToolSetup, others: list[str], say: Callable[[str], None]) -> None:
    """Say which analyses of a setup file are not made."""
    for name in others:
        say(f"note: {name} is left out here; mobod {'so' if name == 'StaticOptimization' else 'analyze'} makes it")
    for name in setup.left_out:
        say(f"note: {name} is left out, it is of a kind that is not known")


def _save_as_named(options: argparse.Namespace, named: Path | None) -> None:
    """Without --output, what was found goes into the file that the setup file names, as OpenSim's tools do it."""
    if options.output is None and named is not None:
        named.parent.mkdir(parents=True, exist_ok=True)
        options.output = named


def _save(
    options: argparse.Namespace, say: Callable[[str], None], title: str, results: Results, drawn: dict[str, Any], **written: Any
) -> None:
    """Save the results that options ask for, and draw the first, which is *written* so; say which are where."""
    saved: dict[str, Path] = {}
    for what, (option, find) in results.items():
        if (path := getattr(options, option)) is not None:
            write_sto(path, find(), **(written if option == "output" else {}))
            saved[what] = path
    if options.plot is not None:
        saved["plot"] = options.plot
        plot_table(options.plot, next(iter(results.values()))[1](), title=title, **drawn)
    for what, path in saved.items():
        say(f"{what:<17}{path}")
    if not saved:
        names = ", ".join(f"--{option}" for option, _ in results.values())
        say(f"nothing is saved; ask for it with {names} or --plot")


def run_scale(options: argparse.Namespace) -> None:
    """Scaling."""
    setup = read_scale_setup(options.setup, _given(options))
    path = options.model or setup.model
    if path is None:
        raise CommandError(f"{options.setup} names no model_file; give one with --model")
    if options.output is not None:
        check_extension(options.output, (".osim",))
    say = speaker(options.quiet)
    model = load_quietly(path)
    for name, (body, place) in setup.added.items():
        if body not in model.bodies:
            raise CommandError(f"the marker {name!r} is on the body {body!r}, which {model.name!r} does not have")
        model.markers[name] = model.bodies[body], place
    default = model.default_state().q
    wanted = {
        name: float(default[model.coordinates[name]]) if value is None else value
        for name, value in setup.coordinates.items()
        if name in model.coordinates
    }
    weights = dict.fromkeys(model.markers, 0.0 if setup.weights else 1.0)  # a setup's markers are those that it lists
    weights |= {name: weight for name, weight in setup.weights.items() if name in model.markers}
    strangers = {body for _, _, bodies in setup.measurements for body in bodies} | setup.factors.keys()
    for body in sorted(strangers - model.bodies.keys()):
        say(f"note: the setup scales the body {body!r}, which the model does not have")
    twice = setup.factors.keys() & {body for _, _, bodies in setup.measurements for body in bodies}
    for body in sorted(twice) if setup.measured_last else ():
        say(f"note: {body!r} has its factors by hand, not those of measurements, though <scaling_order> has these last")
    known = [
        biomechanics.Measurement(
            name=name, pairs=pairs, bodies={body: axes for body, axes in bodies.items() if body in model.bodies}
        )
        for name, pairs, bodies in setup.measurements
    ]
    posed = options.markers or setup.pose_markers
    if posed is not None and setup.place_markers:
        posed = read_trc(posed).between(setup.pose_start, setup.pose_end)
    found = biomechanics.scale(
        model,
        options.markers or setup.markers,
        measurements=known,
        factors={body: given for body, given in setup.factors.items() if body in model.bodies},
        mass=options.mass or setup.mass,
        keep_masses=setup.keep_masses,
        start=setup.start,
        end=setup.end,
        place_markers=setup.place_markers,
        pose_markers=posed,
        fixed=setup.fixed or None,
        weights=weights,
        coordinates=wanted,
        coordinate_weights=setup.coordinate_weights or 1.0,
    )
    for name, factor in found.data["measurements"].items():
        say(f"{name:<20}{factor:8.4f}")
    for name, factors in found.data["scale_factors"].items():
        say(f"{name:<20}" + "".join(f"{factor:8.4f}" for factor in factors))
    for note in found.report:
        if note not in model.report:  # what scaling leaves as it was
            say(f"note: {note}")
    pose = found.data.get("static_pose")
    if pose is not None:
        say(pose.summarize())
    if options.output is None and setup.output is not None:
        _save_of_scaling(setup, found)
    _save_as_named(options, setup.output)
    if options.output is None:
        say("nothing is saved; ask for it with --output")
    else:
        write_osim(options.output, found)
        say(f"{'model':<17}{options.output}")


def _save_of_scaling(setup: Any, found: Any) -> None:
    """The static pose, the factors of bodies, and the markers, where the setup file names files for them."""
    for path in (setup.output_pose, setup.output_factors, setup.output_markers):
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
    pose = found.data.get("static_pose")
    if setup.output_pose is not None and pose is not None:
        z = np.tile(found.default_state().z, (len(pose.time), 1))
        table = states_table(found, pose.time, pose.q, pose.u, z)
        write_sto(setup.output_pose, Table(table.time, {one: table[one] for one in table.labels}, name="static pose"))
    if setup.output_factors is not None:
        write_document(setup.output_factors, scale_set(found))
    markers = next(found.data["document"].find_all("MarkerSet"), None)
    if setup.output_markers is not None and markers is not None:
        write_document(setup.output_markers, markers)


def _ranges(table: Any) -> str:
    """A line a column: least, mean and greatest value."""
    width = max(len(label) for label in table.labels)
    lines = [f"{'force':<{width}}  {'least':>10}  {'mean':>10}  {'greatest':>10}"]
    for label in table.labels:
        column = table[label]
        lines.append(f"{label:<{width}}  {column.min():10.4g}  {column.mean():10.4g}  {column.max():10.4g}")
    return "\n".join(lines)


def _setup_of(options: argparse.Namespace, kind: str) -> ToolSetup:
    path = Path(options.setup)
    if path.suffix.lower() != ".xml" or not path.is_file() or read_xml(path, any_bytes=True).tag != "OpenSimDocument":
        if options.model is not None:
            raise CommandError(f"--model is in place of the one that a setup file names, and {path} is none")
        return ToolSetup(kind=kind)
    setup = read_tool_setup(path, _given(options))
    if setup.kind != kind and not (kind == "analyze" and setup.analyses):
        tool = next((name for name, one in TOOLS.items() if one == setup.kind), "AnalyzeTool")
        raise CommandError(f"{path} is a setup of {tool}: use mobod {setup.kind}")
    if options.model is None and setup.model is None:
        raise CommandError(f"{path} names no model_file; give one with --model")
    return setup


def _given(options: argparse.Namespace) -> list[str]:
    """The elements of a setup file in whose place files of the user's stand."""
    tags = {
        "model": ["model_file"], "markers": ["marker_file"], "motion": ["states_file", "coordinates_file"],
        "loads": ["external_loads_file"], "controls": ["controls_file"],
    }  # fmt: skip
    return [tag for name, named in tags.items() if getattr(options, name, None) is not None for tag in named]


def _model(options: argparse.Namespace, setup: ToolSetup, say: Callable[[str], None]) -> Model:
    path = options.model or setup.model or options.setup
    model = load_quietly(path, **_as_opensim(options, path))
    say(f"{model.name}: {len(model.coordinates)} coordinates, {len(model.markers)} markers")
    return model


def _as_opensim(options: argparse.Namespace, path: Any) -> dict[str, bool]:
    """The reader's option for --as-opensim, of commands that have it."""
    if not getattr(options, "as_opensim", False):
        return {}
    if (name := find_format(path).name) != "OpenSim":
        raise CommandError(f"--as-opensim is for OpenSim files; {path} is one of {name}")
    return {"as_opensim": True}


def _wanted(model: Model, name: str, value: float | None, table: Any, time: Any) -> Any:
    if value is not None:
        return value
    if table is not None and name in table:
        return np.interp(time, table.time, table[name])
    return float(model.default_state().q[model.coordinates[name]])


def _within(wanted: dict[str, Any], time: Any, options: argparse.Namespace, setup: ToolSetup) -> dict[str, Any]:
    """Columns over all times, cut to those that are asked for."""
    start, end = _span(options, setup).values()
    slack = 1e-9 * (time[-1] - time[0]) / max(1, len(time) - 1)
    there = (time >= start - slack) & (time <= end + slack)
    return {name: value[there] if np.ndim(value) else value for name, value in wanted.items()}


def _span(options: argparse.Namespace, setup: Any) -> dict[str, Any]:
    """Times from and up to which rows count: those asked for, or the setup's."""
    return {"start": _first(options.start, setup.start), "end": _first(options.end, setup.end)}


def _first(asked: float | None, otherwise: float) -> float:
    return otherwise if asked is None else asked


def _progress(options: argparse.Namespace) -> bool:
    return not options.quiet and is_installed("tqdm")


def _check_results(options: argparse.Namespace) -> None:
    """Find out before working whether the results can be written."""
    for option in ("output", "report", "reactions", "forces", "excitations", "fibers"):
        check_result(getattr(options, option, None), MOTIONS)
    check_result(options.plot, FIGURES)
    check_pictures(options.plot)
