"""The command `mobod`: simulates a model from the command line, and shows or saves its motion."""

from __future__ import annotations

import argparse
import ast
import difflib
import importlib.util
import json
import math
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from .errors import MobodError

if TYPE_CHECKING:
    from .integrator import Integrator
    from .state import State
    from .system import MultibodySystem
    from .trajectory import Trajectory

Gravity: TypeAlias = tuple[float, float, float]

EXAMPLES = Path(__file__).parent / "examples"
FIGURES = (".png", ".pdf", ".svg")
URDF = (".urdf", ".xml")
TIME = 10.0
"""How long is simulated if neither the user nor the example says."""


class CommandError(Exception):
    """What the user asked for cannot be done; the message says why, in one line."""


@dataclass
class Loaded:
    """A model, ready to be simulated.

    Attributes
    ----------
    name : str
    system : MultibodySystem
    state : State
        Where to start from.
    coordinates, speeds : list of str
        Names, in the order of q and of u.
    time : float
        How long it is worth watching.
    notes : list of str
        What was dropped or approximated when it was read.
    """

    name: str
    system: MultibodySystem
    state: State
    coordinates: list[str]
    speeds: list[str]
    time: float = TIME
    notes: list[str] = field(default_factory=list)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : sequence of str, optional
        Its arguments; those of the process by default.

    Returns
    -------
    int
        Exit status: 0, or 2 if what was asked for cannot be done, or 130 if it was interrupted.
    """
    try:
        options = _make_parser().parse_args(_join_gravity(sys.argv[1:] if argv is None else list(argv)))
        options.run(options)
    except (CommandError, MobodError, OSError, ValueError, ImportError) as error:
        print(f"mobod: error: {_one_line(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("mobod: interrupted", file=sys.stderr)
        return 130
    return 0


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join(str(error).split()) or type(error).__name__


# ---------------------------------------------------------------------------------------------- arguments


class _Parser(argparse.ArgumentParser):
    """One whose errors are one line like all others."""

    def error(self, message: str) -> NoReturn:
        raise CommandError(f"{message}; see {self.prog} --help")


def _make_parser() -> argparse.ArgumentParser:
    from . import __version__

    parser = _Parser(prog="mobod", description="Multibody dynamics: simulates mechanisms and shows their motion.")
    parser.add_argument("--version", action="version", version=f"mobod {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    simulate = commands.add_parser(
        "simulate",
        help="simulate a model",
        description="Simulate a model and show its motion. Without a MODEL: list the bundled examples.",
        epilog="Example: mobod simulate panda --q panda_joint1=30deg --plot panda.png --animate panda.gif",
    )
    simulate.set_defaults(run=_simulate)
    add = simulate.add_argument
    add("model", nargs="?", metavar="MODEL", help="URDF file, Python file with build() -> (system, state), or example")
    add("--time", type=_positive, metavar="T", help=f"how long to simulate (default {TIME:g}; examples know better)")
    add("--accuracy", type=_accuracy, default=1e-4, metavar="A", help="largest error of a step (default %(default)g)")
    add("--integrator", metavar="NAME", help="method of integration (default runge-kutta-merson)")
    add("--gravity", type=_gravity, metavar="X,Y,Z", help="acceleration of free fall, in place of the model's own")
    add("--q", action="append", default=[], type=_assignment, metavar="NAME=VALUE", help=_assigned("coordinate"))
    add("--u", action="append", default=[], type=_assignment, metavar="NAME=VALUE", help=_assigned("speed"))
    add("--report-interval", type=_positive, metavar="DT", help="time between two rows of the results")
    add("--floating-base", action=argparse.BooleanOptionalAction, help="whether a URDF robot's base is free to move")
    add("--output", type=Path, metavar="FILE", help="save the motion: .npz, .csv or .parquet")
    add("--plot", type=Path, metavar="FILE", help="draw snapshots, coordinates and energy: .png, .pdf or .svg")
    add("--animate", type=Path, metavar="FILE", help="draw it moving: .gif or .mp4")
    add("--quiet", action="store_true", help="print nothing but errors")
    return parser


def _assigned(what: str) -> str:
    return f"initial value of a {what}; 30deg is understood; may be given again"


def _join_gravity(arguments: list[str]) -> list[str]:
    """Make one argument of `--gravity X Y Z`, which argparse cannot tell from a MODEL, or from options if negative."""
    joined: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument == "--gravity":
            values = next(rest, "")
            if _is_number(values):
                values = ",".join([values, next(rest, ""), next(rest, "")])
            argument = f"--gravity={values}"
        joined.append(argument)
    return joined


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _positive(text: str) -> float:
    if not _is_number(text) or not 0.0 < float(text) < math.inf:
        raise argparse.ArgumentTypeError(f"must be a positive number, not {text!r}")
    return float(text)


def _accuracy(text: str) -> float:
    if not _is_number(text) or not 1e-14 <= float(text) < 1.0:  # below, rounding is larger, and steps never small enough
        raise argparse.ArgumentTypeError(f"must be a number from 1e-14 up to 1, not {text!r}")
    return float(text)


def _gravity(text: str) -> Gravity:
    parts = text.replace(",", " ").split()
    if len(parts) != 3 or not all(_is_number(part) and math.isfinite(float(part)) for part in parts):
        raise argparse.ArgumentTypeError(f"must be three numbers such as 0,0,-9.81, not {text!r}")
    x, y, z = (float(part) for part in parts)
    return x, y, z


def _assignment(text: str) -> tuple[str, float]:
    name, equals, value = text.partition("=")
    value = value.strip().lower()
    unit = math.radians(1.0) if value.endswith("deg") else 1.0
    number = value.removesuffix("deg").removesuffix("rad").strip()
    if not name.strip() or not equals or not _is_number(number) or not math.isfinite(float(number)):
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE, with a number or 30deg as the value, not {text!r}")
    return name.strip(), float(number) * unit


# ---------------------------------------------------------------------------------------------- the command


def _simulate(options: argparse.Namespace) -> None:
    if options.model is None:
        _list_examples()
        return
    _check_files(options)
    integrator = _find_integrator(options.integrator)
    say: Callable[[str], None] = (lambda text: None) if options.quiet else print
    with _warnings_as_lines(options.quiet):
        loaded = _load(options.model, options.floating_base, options.gravity)
    _assign(loaded.state, "q", loaded.coordinates, options.q)
    _assign(loaded.state, "u", loaded.speeds, options.u)
    say(f"{loaded.name}: {len(loaded.coordinates)} coordinates, {len(loaded.speeds)} speeds")
    for note in loaded.notes:
        say(f"note: {note}")
    trajectory = _run(loaded, options, integrator)
    say(_summarize(trajectory))
    for path, what in _write_results(trajectory, options):
        say(f"{what:<17}{path}")
    if not (options.output or options.plot or options.animate):
        say("nothing is saved; ask for it with --output, --plot or --animate")


def _run(loaded: Loaded, options: argparse.Namespace, integrator: type[Integrator] | None) -> Trajectory:
    from .simulation import simulate

    time = options.time or loaded.time
    interval = options.report_interval
    if interval is None and options.animate is not None:
        interval = min(time / 200.0, 0.02)  # two rows a picture
    return simulate(
        loaded.system,
        loaded.state,
        time,
        integrator=integrator,
        accuracy=options.accuracy,
        report_interval=interval,
        progress=not options.quiet and _is_installed("tqdm"),
    )


def _summarize(trajectory: Trajectory) -> str:
    span = float(trajectory.time[-1] - trajectory.time[0])
    wall = max(trajectory.wall_time, 1e-9)
    some = range(0, len(trajectory), max(1, len(trajectory) // 200))
    kinetic = float(trajectory.calc_kinetic_energy(some).max())
    relative = f" ({trajectory.energy_drift / kinetic:.1e} of the greatest kinetic energy)" if kinetic > 0.0 else ""
    return "\n".join(
        [
            f"time simulated   {span:g} in {wall:.3g} s: {span / wall:,.3g} a second",
            f"steps taken      {trajectory.steps_taken:,}",
            f"evaluations      {trajectory.evaluations:,}",
            f"energy drift     {trajectory.energy_drift:.3g}{relative}",
        ]
    )


def _write_results(trajectory: Trajectory, options: argparse.Namespace) -> Iterator[tuple[Path, str]]:
    if options.output is not None:
        trajectory.save(options.output)
        yield options.output, "motion"
    if options.plot is not None:
        trajectory.plot(options.plot)
        yield options.plot, "plot"
    if options.animate is not None:
        with _film_progress(options.quiet) as progress:
            trajectory.animate(options.animate, progress=progress)
        yield options.animate, "animation"


@contextmanager
def _film_progress(quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Show a bar for what takes longer than a second, if tqdm is there."""
    if quiet or not _is_installed("tqdm"):
        yield None
        return
    from tqdm import tqdm

    with tqdm(desc="animation", unit=" pictures", delay=1.0) as bar:

        def show(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield show


def _check_files(options: argparse.Namespace) -> None:
    """Find out before simulating whether the results can be written."""
    from .trajectory import FORMATS, check_extension

    for path, known in ((options.output, FORMATS), (options.plot, FIGURES), (options.animate, (".gif", ".mp4"))):
        if path is None:
            continue
        check_extension(path, known)
        if path.is_dir():
            raise CommandError(f"{path} is a folder")
        if not path.parent.is_dir():
            raise CommandError(f"{path}: there is no folder {path.parent}")
    if options.output is not None and options.output.suffix.lower() == ".parquet" and not _is_installed("pyarrow"):
        raise CommandError("a .parquet file needs pyarrow: pip install 'mobod[table]'")
    if (options.plot or options.animate) and not _is_installed("matplotlib"):
        raise CommandError("a picture needs Matplotlib: pip install 'mobod[plot]'")
    if options.animate is not None:
        from .visual.animate import check_writer

        check_writer(options.animate)


def _is_installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


@contextmanager
def _warnings_as_lines(quiet: bool) -> Iterator[None]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        if not quiet and issubclass(warning.category, UserWarning):
            print(f"mobod: warning: {' '.join(str(warning.message).split())}", file=sys.stderr)


def _find_integrator(name: str | None) -> type[Integrator] | None:
    """Look up an integrator by the name of its class, in any writing: RungeKuttaMerson, runge-kutta-merson."""
    if name is None:
        return None
    from . import integrator

    kinds = {
        _key(word): kind
        for word, kind in vars(integrator).items()
        if isinstance(kind, type) and issubclass(kind, integrator.Integrator) and kind is not integrator.Integrator
    }
    if _key(name) not in kinds:
        names = ", ".join(sorted(kind.__name__ for kind in kinds.values()))
        raise CommandError(f"there is no integrator {name!r}; there are {names}")
    return kinds[_key(name)]


def _key(name: str) -> str:
    return name.replace("-", "").replace("_", "").lower()


def _assign(state: State, what: str, names: Sequence[str], assignments: Iterable[tuple[str, float]]) -> None:
    """Set some of q or of u by name."""
    values = getattr(state, what).copy()
    for name, value in assignments:
        if name not in names:
            kind = "coordinate" if what == "q" else "speed"
            raise CommandError(f"there is no {kind} {name!r}; {_suggest(name, names)}")
        values[names.index(name)] = value
    setattr(state, what, values)


def _suggest(name: str, names: Sequence[str]) -> str:
    """Say what else there is: names near to the wrong one, or all of them if they are few."""
    if not names:
        return "there are none"
    near = difflib.get_close_matches(name, names, n=5, cutoff=0.5) or [other for other in names if name in other][:5]
    if near:
        return f"did you mean {' or '.join(near)}?"
    shown = ", ".join(names[:12])
    return f"there are {shown}" + (f" and {len(names) - 12} more" if len(names) > 12 else "")


# ---------------------------------------------------------------------------------------------- models


def _list_examples() -> None:
    print("Bundled examples; simulate one with: mobod simulate NAME")
    examples = find_examples()
    width = max(len(name) for name in examples)
    for name, path in sorted(examples.items()):
        print(f"  {name:<{width}}  {_describe(path)}")


def find_examples() -> dict[str, Path]:
    """Find the bundled examples: the file of each, by name."""
    files = [path for path in EXAMPLES.iterdir() if path.suffix in (".py", ".urdf") and path.stem[0] != "_"]
    return {path.stem: path for path in files}


def _describe(path: Path) -> str:
    """Read one line on what an example is."""
    if path.suffix == ".py":
        return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]
    return str(_read_settings(path).get("title", f"A robot: {path.name}"))


def _read_settings(path: Path) -> dict[str, Any]:
    """Read how a bundled robot starts: a JSON file beside it."""
    beside = path.with_suffix(".json")
    settings: dict[str, Any] = json.loads(beside.read_text(encoding="utf-8")) if beside.is_file() else {}
    return settings


def _load(model: str, floating_base: bool | None, gravity: Gravity | None) -> Loaded:
    path = Path(model)
    examples = find_examples()
    name = path.name.removesuffix(".urdf").removesuffix(".py")
    if not path.is_file() and path.parent == Path() and name in examples:
        path = examples[name]
    if path.is_dir():
        raise CommandError(f"{model} is a folder; MODEL is a .urdf file, a .py file or an example")
    if not path.exists():
        raise CommandError(f"there is no file {model}, and no such example; {_suggest(name, sorted(examples))}")
    extension = path.suffix.lower()
    if extension == ".py":
        if floating_base is not None:
            raise CommandError("--floating-base is for URDF files; a Python file builds the base that it wants")
        return _load_python(path, gravity)
    if extension in URDF:
        return _load_robot(path, floating_base, gravity, _read_settings(path) if path.parent == EXAMPLES else {})
    if extension == ".xacro":
        raise CommandError(f"{model} is a template; make a URDF file of it: xacro {model} > {path.stem}.urdf")
    raise CommandError(f"{model}: MODEL must end in .urdf or .py")


def _load_robot(path: Path, floating_base: bool | None, gravity: Gravity | None, settings: dict[str, Any]) -> Loaded:
    from .importer.urdf import load_urdf

    floating = bool(settings.get("floating_base", False)) if floating_base is None else floating_base
    given: dict[str, Any] = {} if gravity is None else {"gravity": gravity}
    model = load_urdf(path, floating_base=floating, **given)
    loaded = Loaded(
        name=model.name,
        system=model.system,
        state=model.default_state(),
        coordinates=list(model.coordinates),
        speeds=list(model.speeds),
        time=float(settings.get("time", TIME)),
        notes=model.report,
    )
    for what, names in (("q", loaded.coordinates), ("u", loaded.speeds)):
        # with another base than the example is meant for, there is nothing to put the base's own values in
        values = {name: value for name, value in settings.get(what, {}).items() if name in names}
        _assign(loaded.state, what, names, values.items())
    return loaded


def _load_python(path: Path, gravity: Gravity | None) -> Loaded:
    from .simulation import coordinate_names, speed_names
    from .state import State
    from .system import MultibodySystem

    module, built = _build(path)
    if not isinstance(built, tuple) or len(built) != 2:
        raise CommandError(f"{path}: build() must return (system, state); it returned {type(built).__name__}")
    system, state = built
    if not isinstance(system, MultibodySystem) or not isinstance(state, State):
        kinds = f"({type(system).__name__}, {type(state).__name__})"
        raise CommandError(f"{path}: build() must return (system, state); it returned {kinds}")
    if gravity is not None:
        state = _set_gravity(system, state, gravity)
    names = coordinate_names(system, state), speed_names(system, state)
    time = getattr(module, "TIME", TIME)
    if not isinstance(time, int | float) or not 0.0 < time < math.inf:
        raise CommandError(f"{path}: TIME, how long to simulate, must be a positive number, not {time!r}")
    return Loaded(path.stem, system, state, *names, float(time))


def _build(path: Path) -> tuple[Any, Any]:
    """Run a Python file as a module, with its own folder importable, and call its build()."""
    spec = importlib.util.spec_from_file_location(f"mobod_model_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.resolve().parent))
    sys.modules[spec.name] = module  # dataclasses and pickle look there
    try:
        spec.loader.exec_module(module)
        if not callable(getattr(module, "build", None)):
            raise CommandError(f"{path} defines no function build() that returns (system, state)")
        return module, module.build()
    except CommandError:
        raise
    except (Exception, SystemExit) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        if isinstance(error, SyntaxError) and error.filename == str(path):
            lines = [error.lineno]
        where = f"{path}, line {lines[-1]}" if lines else str(path)
        raise CommandError(f"{where}: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(path.resolve().parent))


def _set_gravity(system: MultibodySystem, state: State, gravity: Gravity) -> State:
    """Give a system another gravity, or one if it has none; the state to go on with."""
    from .force import Gravity as GravityForce
    from .forces import GeneralForceSubsystem
    from .visual.mechanism import find_gravities

    pulls = find_gravities(system)
    for number, force in enumerate(pulls):  # several add up: the first is all, the others nothing
        force.enable(state)
        force.set_gravity_vector(state, gravity if number == 0 else (0.0, 0.0, 0.0))
    if pulls:
        return state
    matter = system.get_matter_subsystem()
    euler = matter.get_use_euler_angles(state)
    GravityForce(GeneralForceSubsystem(system), matter, gravity)
    new = system.realize_topology()
    if euler != matter.get_use_euler_angles(new):
        matter.set_use_euler_angles(new, euler)
        system.realize_model(new)
    new.time = state.time
    new.q, new.u, new.z = state.q, state.u, state.z
    return new
