"""The arguments of the command `mobod`."""

from __future__ import annotations

import argparse
import inspect
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from ..errors import CommandError
from ..importer.formats import FILES
from ..importer.named_models import TIME, Gravity
from ..integrator import Integrator
from ..value.checks import reads_as_number
from .biomechanics import add_commands
from .doctor import add_doctor
from .examples import add_examples
from .export import add_export
from .view import add_view

ACCURACY = 1e-4


class _Parser(argparse.ArgumentParser):
    """One whose errors are one line like all others."""

    def error(self, message: str) -> NoReturn:
        raise CommandError(f"{message}; see {self.prog} --help")


def make_parser(run: Any, warm_up: Any) -> argparse.ArgumentParser:
    """The parser of the command's arguments; *run* is what `simulate` calls, *warm_up* what `warmup` does."""
    from .. import __version__

    parser = _Parser(prog="mobod", description="Multibody dynamics: simulates mechanisms and shows their motion.")
    parser.add_argument("--version", action="version", version=f"mobod {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    simulate = commands.add_parser(
        "simulate",
        help="simulate a model",
        description="Simulate a model and show its motion. Without a MODEL: list the bundled examples.",
        epilog="Example: mobod simulate panda --q panda_joint1=30deg --plot panda.png --animate panda.gif",
    )
    simulate.set_defaults(run=run)
    what = f"{FILES}, Python file with build() -> (system, state), run file (.toml), or example"
    simulate.add_argument("model", nargs="?", metavar="MODEL", help=what)
    _add_options(simulate)
    add_examples(commands, _add_options, run)
    warmup = commands.add_parser(
        "warmup",
        help="compile ahead",
        description="Compile what simulating each MODEL needs, on all processors, so that its first run starts at once: "
        "for images of containers and classrooms. Without a MODEL: what every model needs.",
        epilog="Example: MOBOD_CACHE_DIR=/opt/mobod mobod warmup robot.urdf",
    )
    warmup.set_defaults(run=warm_up)
    warmup.add_argument("models", nargs="*", metavar="MODEL", help="file of a model, Python file or example")
    warmup.add_argument(
        "--all", action="store_true", help="everything of the package that single states need, and all examples"
    )
    add_commands(commands)
    add_export(commands, _add_model)
    add_view(commands, _add_model, _add_start)
    add_doctor(commands)
    return parser


def _add_options(parser: argparse.ArgumentParser) -> None:
    """Add all that simulating takes beside its model."""
    for add_some in (_add_model, _add_start, _add_integration, _add_recording, _add_results):
        add_some(parser)


def _add_model(parser: argparse.ArgumentParser) -> None:
    add, switch = parser.add_argument_group("the model").add_argument, argparse.BooleanOptionalAction
    add("--actuators", action="append", type=Path, metavar="FILE", help="further forces: a ForceSet, .xml; may be given again")
    add("--loads", type=Path, metavar="FILE", help="measured loads that act: OpenSim's ExternalLoads, .xml")
    add("--controls", type=Path, metavar="FILE", help="what drives muscles and actuators over time: .sto, or ControlSet, .xml")
    add("--as-opensim", action="store_true", default=None, help="repeat OpenSim's time constants of muscles and moving points")
    add("--gravity", type=_gravity, metavar="X,Y,Z", help="acceleration of free fall, in place of the model's own")
    add("--floating-base", action=switch, help="whether a URDF robot's base is free to move")
    add("--joint-damping", action=switch, help="whether a URDF robot's joints are damped as it says (yes unless told)")
    add("--joint-limits", action=switch, help="whether they stop at their limits (yes unless told)")
    add("--stop-stiffness", type=_positive, metavar="K", help="of all limits; from the joints' efforts unless given")
    add("--stop-dissipation", type=_not_negative, metavar="D", help="of all limits (default 1)")
    add("--floor", action=switch, help="whether there is a floor that its collision shapes, or else its looks, touch")
    add("--floor-height", type=_number, metavar="H", help="0 unless given, or lower where the model starts lower")
    add("--floor-stiffness", type=_positive, metavar="E", help="of its material (default 1e7)")
    add("--floor-friction", type=_not_negative, metavar="MU", help="of its material (default 0.8, and 0.6 while sliding)")


def _add_start(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("where it starts").add_argument
    add("--q", action="append", default=[], type=_assignment, metavar="NAME=VALUE", help=_assigned("coordinate"))
    add("--u", action="append", default=[], type=_assignment, metavar="NAME=VALUE", help=_assigned("speed"))
    add("--states", type=Path, metavar="FILE", help="begin with the first row of this file, of an .osim model: .sto or .mot")
    add("--equilibrate", action="store_true", help="give fibers of muscles the lengths at which they balance their tendons")


def _add_integration(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("how it is simulated").add_argument
    add("--time", type=_positive, metavar="T", help=f"how long (default {TIME:g}; examples know better)")
    add("--accuracy", type=_accuracy, metavar="A", help=f"largest error of a step (default {ACCURACY:g})")
    names = ", ".join(kind.__name__ for kind in integrators().values())
    add("--integrator", metavar="NAME", help=f"method of integration: {names} (default RungeKuttaMerson)")
    add("--step", type=_positive, metavar="H", dest="fixed_step_size", help="take steps of this size, and control no error")
    add("--report-interval", type=_positive, metavar="DT", help="time between two rows of the results")


def _add_recording(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("long runs").add_argument
    add("--record", type=Path, metavar="FILE", help="write the motion as it comes: .h5; memory holds little of it")
    add(
        "--quantity",
        action="append",
        default=[],
        metavar="NAME",
        dest="quantities",
        help="record this, too, such as reactions, or a number of it, reactions.crank.fx; plots draw it; may be given again",
    )
    add("--body", action="append", default=[], metavar="NAME", dest="bodies", help="record its pose, too; may be given again")
    add("--checkpoint", type=Path, metavar="FILE", help="keep in this file what is needed to go on")
    add("--checkpoint-interval", type=_positive, metavar="S", help="seconds between two checkpoints (default 30)")
    add("--resume", action="store_true", help="go on from the checkpoint, if it is there")


def _add_results(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("results").add_argument
    add("--output", type=Path, metavar="FILE", help="save the motion: .npz, .csv, .parquet or .h5; of an .osim model .sto, too")
    add("--plot", type=Path, metavar="FILE", help="draw snapshots, coordinates and energy: .png, .pdf or .svg")
    add("--animate", type=Path, metavar="FILE", help="draw it moving: .gif or .mp4")
    add("--replay", type=Path, metavar="FILE", help="write what plays it: a page that needs no network, .html, or .glb")
    add("--audit", action="store_true", help="say how good the run is: energy balance, residuals, momentum, warnings")
    add("--estimate-error", action="store_true", help="simulate again with a tenth of the accuracy, for the audit")
    add("--write-run-file", type=Path, metavar="FILE", help="write what was asked for as a run file (.toml), and stop")
    add("--quiet", action="store_true", help="print nothing but errors")


def integrators() -> dict[str, type[Integrator]]:
    """The methods of integration, by `plain_name` of their names."""
    from .. import integrator

    return {
        plain_name(word): kind
        for word, kind in sorted(vars(integrator).items())
        if isinstance(kind, type) and issubclass(kind, integrator.Integrator) and kind is not integrator.Integrator
    }


def keywords_of(kind: type[Integrator]) -> dict[str, inspect.Parameter]:
    """The keywords that an integrator's class takes, those of its base classes included."""
    found: dict[str, inspect.Parameter] = {}
    for each in reversed(kind.__mro__):
        if "__init__" in vars(each) and each is not object:
            parameters = inspect.signature(vars(each)["__init__"]).parameters
            found |= {name: one for name, one in parameters.items() if one.kind is one.KEYWORD_ONLY}
    return found


def plain_name(name: str) -> str:
    """A name without what spellings differ in: RungeKuttaMerson is runge-kutta-merson."""
    return name.replace("-", "").replace("_", "").lower()


def _assigned(what: str) -> str:
    return f"initial value of a {what}; 30deg is understood; may be given again"


def join_gravity(arguments: list[str]) -> list[str]:
    """Make one argument of `--gravity X Y Z`, which argparse cannot tell from a MODEL, or from options if negative."""
    joined: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument == "--gravity":
            values = next(rest, "")
            if reads_as_number(values):
                values = ",".join(filter(None, (values, next(rest, ""), next(rest, ""))))
            argument = f"--gravity={values}"
        joined.append(argument)
    return joined


def _number_that(fits: Callable[[float], bool], what: str) -> Callable[[str], float]:
    """The reader of a number that *fits*; *what* it has to be, for the error."""

    def read(text: str) -> float:
        if not reads_as_number(text) or not fits(float(text)):
            raise argparse.ArgumentTypeError(f"must be {what}, not {text!r}")
        return float(text)

    return read


_number = _number_that(math.isfinite, "a number")
_positive = _number_that(lambda x: 0.0 < x < math.inf, "a positive number")
_not_negative = _number_that(lambda x: 0.0 <= x < math.inf, "a number, zero or more")
# below, rounding is larger, and steps never small enough
_accuracy = _number_that(lambda x: 1e-14 <= x < 1.0, "a number from 1e-14 up to 1")


def _gravity(text: str) -> Gravity:
    parts = text.replace(",", " ").split()
    if len(parts) != 3 or not all(reads_as_number(part) and math.isfinite(float(part)) for part in parts):
        raise argparse.ArgumentTypeError(f"must be three numbers such as 0,0,-9.81, not {text!r}")
    x, y, z = (float(part) for part in parts)
    return x, y, z


def _assignment(text: str) -> tuple[str, float]:
    name, equals, value = text.partition("=")
    number = quantity(value)
    if not name.strip() or not equals or number is None:
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE, with a number or 30deg as the value, not {text!r}")
    return name.strip(), number


def quantity(text: str) -> float | None:
    """A number with or without a unit of angle; None where it is none, or not finite."""
    value = text.strip().lower()
    unit = math.radians(1.0) if value.endswith("deg") else 1.0
    number = value.removesuffix("deg").removesuffix("rad").strip()
    return float(number) * unit if reads_as_number(number) and math.isfinite(float(number)) else None
