"""Commands for human motion: ``mobod ik``, ``id``, ``so``, ``redundancy``, ``analyze``, ``cmc``, ``rra`` and ``scale``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np


def _run(options: argparse.Namespace) -> None:
    """Do the work, whose modules are loaded for it alone."""
    from . import human_motion

    getattr(human_motion, f"run_{options.tool}")(options)


def add_commands(commands: Any) -> None:
    """Add the commands for human motion to the others."""
    ik = commands.add_parser(
        "ik",
        help="inverse kinematics: coordinates from markers",
        description="Find the coordinates with which a model's markers come closest to recorded ones.",
        epilog="Example: mobod ik subject.osim walk.trc --output walk.mot --plot walk.png",
    )
    ik.set_defaults(run=_run, tool="ik")
    _add_files(ik, "markers", "recorded markers: .trc or .c3d")
    _add_common(ik, "filter the coordinates found below this frequency", "motion: .mot or .sto, angles in degrees")
    ik.add_argument("--weight", action="append", default=[], type=_weight, metavar="MARKER=W", help="of a marker (default 1)")
    ik.add_argument("--accuracy", type=float, metavar="A", help="of a frame's search (default 1e-5)")
    ik.add_argument("--report", type=Path, metavar="FILE", help="save the distance of each marker at each time: .sto")
    inverse = commands.add_parser(
        "id",
        help="inverse dynamics: forces from motion",
        description="Find the generalized forces that a motion takes under measured loads.",
        epilog="Example: mobod id subject.osim walk.mot --loads walk_grf.xml --filter 6 --output forces.sto",
    )
    inverse.set_defaults(run=_run, tool="id")
    _add_files(inverse, "motion", "coordinates over time: .mot or .sto")
    _add_common(inverse, "filter the coordinates below this frequency, before they are differentiated", "forces: .sto or .mot")
    inverse.add_argument("--reactions", type=Path, metavar="FILE", help="save the joints' reactions, in Ground: .sto")

    optimized = _add_activations(
        commands, "so", "static optimization: muscles from motion",
        "Find the activations that make a motion with the least sum of powers, frame by frame.",
    )  # fmt: skip
    optimized.add_argument("--isometric", action="store_true", help="strengths whatever lengths and velocities of fibers are")
    optimized.add_argument("--elastic", action="store_true", help="let tendons stretch")
    optimized.add_argument("--passive", action="store_true", help="let passive forces of muscles act")
    _add_as_opensim(optimized)
    shared = _add_activations(
        commands, "redundancy", "muscle redundancy: excitations, activations and fibers from motion",
        "Find the excitations that make a motion at least cost, over all times together, with activations that follow them and "
        "tendons that stretch.",
    )  # fmt: skip
    shared.add_argument("--excitations", type=Path, metavar="FILE", help="save the excitations: .sto")
    shared.add_argument("--fibers", type=Path, metavar="FILE", help="save the fibers' lengths: .sto")
    shared.add_argument("--intervals", type=int, default=50, metavar="N", help="of the mesh (default 50)")
    shared.add_argument("--rigid", action="store_true", help="let no tendon stretch")
    shared.add_argument("--solver", choices=("ipopt", "scipy"), help="ipopt, of mobod[casadi], if it is there")

    _add_analyze(commands)
    _add_tracking(
        commands, "cmc", "computed muscle control: excitations that follow a motion",
        "Find excitations under which a model moves as recorded, by a setup file of OpenSim's CMCTool.",
    )  # fmt: skip
    reduced = _add_tracking(
        commands, "rra", "residual reduction: a motion that forces can make, and a mass center that suits it",
        "Let actuators follow a motion with small residuals, and move a mass center, by a setup file of OpenSim's RRATool.",
    )  # fmt: skip
    reduced.add_argument("--output", type=Path, metavar="FILE", help="save the adjusted model, in place of the setup's: .osim")

    scaled = commands.add_parser(
        "scale",
        help="scale an OpenSim model to a subject",
        description="Scale a model to a subject who stood still, by a setup file of OpenSim's tool, and place its markers.",
        epilog="Example: mobod scale setup_scale.xml --output subject.osim",
    )
    scaled.set_defaults(run=_run, tool="scale")
    scaled.add_argument("setup", type=Path, metavar="SETUP", help="setup file of OpenSim's scale tool (.xml)")
    _add_model(scaled)
    scaled.add_argument("--markers", type=Path, metavar="MARKERS", help="in place of those that the setup names (.trc)")
    scaled.add_argument("--mass", type=float, metavar="M", help="of the subject, in place of the setup's")
    scaled.add_argument("--output", type=Path, metavar="FILE", help="save the scaled model: .osim")
    scaled.add_argument("--quiet", action="store_true", help="print nothing but errors")


def _add_activations(commands: Any, kind: str, text: str, description: str) -> argparse.ArgumentParser:
    """A command that finds activations: its files, and what all of these take."""
    example = f"mobod {kind} subject.osim walk.mot --loads walk_grf.xml --filter 6 --reserve 10 --output activations.sto"
    parser: argparse.ArgumentParser = commands.add_parser(
        kind, help=text, description=description, epilog=f"Example: {example}"
    )
    parser.set_defaults(run=_run, tool=kind)
    _add_files(parser, "motion", "coordinates over time: .mot or .sto")
    _add_common(parser, "filter the coordinates below this frequency, before they are differentiated", "activations: .sto")
    parser.add_argument("--forces", type=Path, metavar="FILE", help="save the forces along the tendons: .sto")
    parser.add_argument("--exponent", type=float, metavar="P", help="of what costs, in the sum (default 2)")
    parser.add_argument("--reserve", type=float, metavar="F", help="optimal force of an actuator on each coordinate")
    return parser


def _add_analyze(commands: Any) -> None:
    analyzed = commands.add_parser(
        "analyze",
        help="muscles, joint reactions and induced accelerations over a motion",
        description="Find lengths, forces, powers and moment arms of muscles, what joints transmit, and what each muscle "
        "accelerates, over a motion. Files of results are named and labelled as OpenSim's tool has them.",
        epilog="Example: mobod analyze subject.osim walk.sto --muscles --reactions --forces forces.sto --results out",
    )
    analyzed.set_defaults(run=_run, tool="analyze")
    _add_files(analyzed, "motion", "states or coordinates over time: .sto or .mot")
    analyzed.add_argument("--muscles", action="store_true", help="lengths, velocities, forces, powers, moment arms of muscles")
    analyzed.add_argument("--reactions", action="store_true", help="forces and moments that joints transmit")
    analyzed.add_argument("--accelerations", action="store_true", help="what each muscle and gravity accelerate")
    analyzed.add_argument("--kinematics", action="store_true", help="coordinates, speeds and accelerations")
    analyzed.add_argument("--bodies", action="store_true", help="places, velocities and accelerations of bodies")
    analyzed.add_argument("--actuation", action="store_true", help="forces, speeds and powers of muscles and actuators")
    analyzed.add_argument("--applied", action="store_true", help="what each force applies")
    analyzed.add_argument("--coordinate", action="append", default=[], metavar="NAME", help="of moment arms and accelerations")
    analyzed.add_argument(
        "--body", action="append", default=[], metavar="NAME", help="of accelerations; center_of_mass for that of all bodies"
    )
    analyzed.add_argument(
        "--contact", choices=("rolling", "point", "weld"), help="constraints in place of the loads, of accelerations"
    )
    analyzed.add_argument("--joint", action="append", default=[], metavar="NAME", help="of reactions; all unless given")
    analyzed.add_argument("--on", choices=("child", "parent"), default="child", help="on which body reactions are")
    analyzed.add_argument("--frame", default="ground", help="in whose axes: ground, child, parent, a body or frame")
    analyzed.add_argument("--forces", type=Path, metavar="FILE", help="of muscles, in place of those of states: .sto, as of so")
    analyzed.add_argument("--controls", type=Path, metavar="FILE", help="excitations: .sto, or ControlSet, .xml")
    _add_as_opensim(analyzed)
    analyzed.add_argument("--equilibrate", action="store_true", help="let fibers balance their tendons at zero velocity")
    _add_window(analyzed)
    analyzed.add_argument(
        "--filter", type=float, dest="cutoff", metavar="F", help="filter the coordinates below this frequency"
    )
    analyzed.add_argument("--results", type=Path, metavar="FOLDER", help="where the files go; made if it is not there")
    analyzed.add_argument("--prefix", metavar="NAME", help="what their names begin with")


def _add_tracking(commands: Any, kind: str, text: str, description: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        kind, help=text, description=description, epilog=f"Example: mobod {kind} setup_{kind}.xml --results out"
    )
    parser.set_defaults(run=_run, tool=kind)
    parser.add_argument("setup", type=Path, metavar="SETUP", help="setup file of OpenSim's tool (.xml)")
    _add_model(parser)
    parser.add_argument("--results", type=Path, metavar="FOLDER", help="in place of the setup's; made if it is not there")
    parser.add_argument("--prefix", metavar="NAME", help="what names of files begin with, in place of the tool's name")
    _add_window(parser)
    _add_as_opensim(parser)
    return parser


def _add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", type=Path, metavar="FILE", help="in place of the one that the setup names (.osim)")


def _add_files(parser: argparse.ArgumentParser, data: str, text: str) -> None:
    """The model or setup, what was recorded, and the loads that were measured with motions."""
    parser.add_argument("setup", metavar="MODEL", help="model file, or a setup file of OpenSim's tool (.xml)")
    _add_model(parser)
    parser.add_argument(data, nargs="?", type=Path, metavar=data.upper(), help=text)
    if data == "motion":
        parser.add_argument("--loads", type=Path, metavar="FILE", help="external loads: OpenSim's .xml, which names its data")


def _add_window(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--start", type=float, metavar="T", help="from this time on")
    parser.add_argument("--end", type=float, metavar="T", help="up to this time")
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")


def _add_as_opensim(parser: argparse.ArgumentParser) -> None:
    said = "repeat OpenSim's time constants of muscles, moving points, and its accelerations and strengths in so"
    parser.add_argument("--as-opensim", action="store_true", help=said)


def _add_common(parser: argparse.ArgumentParser, filtered: str, saved: str) -> None:
    parser.add_argument("--output", type=Path, metavar="FILE", help=f"save the {saved}")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw it over time: .png, .pdf or .svg")
    _add_window(parser)
    parser.add_argument("--filter", type=float, dest="cutoff", metavar="F", help=filtered)


def _weight(text: str) -> tuple[str, float]:
    name, equals, value = text.rpartition("=")
    try:
        number = float(value)
    except ValueError:
        number = np.nan
    if not equals or not name or not number >= 0.0:
        raise argparse.ArgumentTypeError(f"must be MARKER=WEIGHT, with a number that is zero or more, not {text!r}")
    return name, number
