"""The command ``mobod export-c``: a model's dynamics as a file of C."""

from __future__ import annotations

import argparse
from dataclasses import fields
from pathlib import Path
from typing import Any

from ..compiling import get_ready
from ..errors import CommandError
from ..importer.named_models import Choices, load_model


def add_export(commands: Any, add_model: Any) -> None:
    """Add `mobod export-c` to the commands."""
    export = commands.add_parser(
        "export-c",
        help="write a model's dynamics as C",
        description="Write the dynamics of a model as one file of C99 and its header: no allocation, nothing to link but -lm.",
        epilog="Example: mobod export-c panda panda.c --function forward_dynamics --parameter panda_hand.mass --real float",
    )
    export.set_defaults(run=run_export)
    export.add_argument("model", metavar="MODEL", help="file of a model, Python file or example")
    export.add_argument("output", type=Path, metavar="FILE", help="the .c file; the header is written beside it")
    add = export.add_argument_group("what is written").add_argument
    add(
        "--function",
        action="append",
        default=[],
        dest="functions",
        choices=("forward_dynamics", "inverse_dynamics", "mass_matrix", "bias"),
        metavar="NAME",
        help="forward_dynamics, inverse_dynamics, mass_matrix or bias; may be given again (default the first two)",
    )
    add(
        "--parameter",
        action="append",
        default=[],
        dest="parameters",
        metavar="NAME",
        help="a number that the functions take, such as link.mass; may be given again",
    )
    add(
        "--station",
        action="append",
        default=[],
        dest="stations",
        type=_station,
        metavar="BODY=X,Y,Z",
        help="a point of a body, for its position, velocity and Jacobian; may be given again",
    )
    add("--real", choices=("double", "float"), default="double", help="the type of numbers (default double)")
    add("--prefix", metavar="NAME", help="what names in C begin with (default the file's name)")
    add_model(export)


def _station(text: str) -> tuple[str, list[float]]:
    body, _, point = text.partition("=")
    try:
        numbers = [float(x) for x in point.split(",")]
    except ValueError:
        numbers = []
    if not body or len(numbers) != 3:
        raise argparse.ArgumentTypeError(f"{text!r} is no BODY=X,Y,Z")
    return body, numbers


def run_export(options: argparse.Namespace) -> None:
    """Run it."""
    from ..symbolic.export_c import export_c

    get_ready()
    known = {each.name for each in fields(Choices)}
    loaded = load_model(options.model, Choices(**{name: value for name, value in vars(options).items() if name in known}))
    named: dict[str, Any] = {}
    for body, point in options.stations:
        if body not in loaded.system.matter.bodies:
            raise CommandError(f"the model has no body {body!r} for --station")
        named[body if body not in named else f"{body}_{len(named)}"] = body, point
    written = export_c(
        loaded.system,
        options.output,
        state=loaded.state,
        functions=options.functions or ("forward_dynamics", "inverse_dynamics"),
        parameters=options.parameters,
        stations=named,
        real=options.real,
        prefix=options.prefix,
    )
    print(f"{'C':<17}{written.source}\n{'header':<17}{written.header}\n{'functions':<17}{', '.join(written.functions)}")
