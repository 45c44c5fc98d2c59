"""The models that the command `mobod` can simulate: files and bundled examples."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import json
import math
import re
import sys
import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeAlias

from ..errors import CommandError
from ..state.state import State
from ..system.system import MultibodySystem
from ..value.checks import suggest
from .model import Model
from .start_again import start_again

Gravity: TypeAlias = tuple[float, float, float]
#: How long is simulated if neither the user nor the example says.
TIME = 10.0
#: Of bundled examples.
_ENDINGS = (".py", ".urdf", ".osim", ".sdf", ".mjcf")
EXAMPLES = Path(__file__).parent.parent / "examples"


#: Of mass, length and time, in URDF, SDF and OpenSim's files, and as a rule in MJCF.
UNITS_OF_FILES = "kg", "m", "s"


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
    quantities : dict
        What a Python file has to record, by name: its QUANTITIES.
    ranges : dict
        Of coordinates, by name, where the file says them.
    model : Model or None
        What a file of a model became; None of Python files.
    """

    name: str
    system: MultibodySystem
    state: State
    coordinates: list[str]
    speeds: list[str]
    time: float = TIME
    notes: list[str] = field(default_factory=list)
    quantities: dict[str, Any] = field(default_factory=dict)
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)
    model: Model | None = None


def assign(state: State, what: str, names: Sequence[str], assignments: Iterable[tuple[str, float]]) -> None:
    """Set some of q or of u by name."""
    values = getattr(state, what).copy()
    for name, value in assignments:
        if name not in names:
            kind = "coordinate" if what == "q" else "speed"
            raise CommandError(f"there is no {kind} {name!r}; {suggest(name, names)}")
        values[names.index(name)] = value
    setattr(state, what, values)


def list_examples() -> None:
    """Print the bundled examples, a line each."""
    print("Bundled examples; simulate one with: mobod simulate NAME; copy one with: mobod examples copy NAME")
    examples = find_examples()
    width = max(len(name) for name in examples)
    for name, path in sorted(examples.items()):
        print(f"  {name:<{width}}  {describe_example(path)}")


#: What options of Python that notes name are called by the command.
_BY_COMMAND = {
    "collision=True makes surfaces of them": "--floor makes surfaces of them",
    'load_osim(path, external_loads="loads.xml") takes the file that does': "--loads takes the file that does",
}
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


def summarize(notes: Sequence[str], model: str) -> list[str]:
    """The notes on a model's file: of those that differ in names and numbers alone the first, and how many there are more."""
    alike: dict[str, list[str]] = {}
    for note in notes:
        if note.startswith(f"{model}:"):
            note = "line " + note[len(model) + 1 :]
        for in_python, by_command in _BY_COMMAND.items():
            note = note.replace(in_python, by_command)
        shape = re.sub(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?", "#", _QUOTED.sub("''", note))
        alike.setdefault(shape, []).append(note)
    return [one[0] if len(one) == 1 else f"{one[0]}; and {len(one) - 1} more like it" for one in alike.values()]


def find_examples() -> dict[str, Path]:
    """Find the bundled examples: the file of each, by name."""
    files = [path for path in EXAMPLES.iterdir() if path.suffix in _ENDINGS and path.stem[0] != "_"]
    return {path.stem: path for path in files}


def describe_example(path: Path) -> str:
    """Read one line on what an example is."""
    if path.suffix == ".py":
        return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]
    return str(read_settings(path).get("title", f"A robot: {path.name}"))


def read_settings(path: Path) -> dict[str, Any]:
    """Read how a bundled robot starts: a JSON file beside it."""
    beside = path.with_suffix(".json")
    return json.loads(beside.read_text(encoding="utf-8")) if beside.is_file() else {}


@dataclass(frozen=True)
class Choices:
    """Choices of how a model is read; None where nothing was said."""

    gravity: Gravity | None = None
    actuators: list[Path] | None = None
    loads: Path | None = None
    controls: Path | None = None
    as_opensim: bool | None = None
    floating_base: bool | None = None
    joint_damping: bool | None = None
    joint_limits: bool | None = None
    stop_stiffness: float | None = None
    stop_dissipation: float | None = None
    floor: bool | None = None
    floor_height: float | None = None
    floor_stiffness: float | None = None
    floor_friction: float | None = None


_OF_FLOORS = ("floor", "floor_height", "floor_stiffness", "floor_friction")
#: Those of OpenSim's files, and why a Python file and a URDF robot have none.
_OF_OPENSIM = {
    "actuators": ("a Python file builds the actuators it wants", "a URDF robot has no sets of forces"),
    "loads": ("a Python file builds the forces it wants", "a URDF robot has no measured loads"),
    "controls": ("a Python file drives what it builds", "a URDF robot has no actuators that they name"),
    "as_opensim": ("a Python file builds the muscles it wants", "a URDF robot has no muscles"),
}
#: Those that any model can have.
_OF_ALL = ("gravity", *_OF_OPENSIM, *_OF_FLOORS)


def path_of_model(model: str) -> Path:
    """The file that MODEL means: one of that name, or else that of an example."""
    path, examples = Path(model), find_examples()
    name = path.stem if path.suffix in _ENDINGS else path.name
    return examples[name] if not path.is_file() and path.parent == Path() and name in examples else path


def load_model(model: str, choices: Choices) -> Loaded:
    """Read a model: a URDF file, a Python file, or an example."""
    for name in _OF_FLOORS:
        if getattr(choices, name) is not None and not choices.floor:
            raise CommandError(f"--{name.replace('_', '-')} is of a floor, and there is none; ask for it by --floor")
    path = path_of_model(model)
    if path.is_dir():
        raise CommandError(
            f"{model} is a folder; MODEL is a model file (.urdf, .osim, ...), a .py file or an example, or a run file, .toml"
        )
    if not path.exists():
        name = path.stem if path.suffix in _ENDINGS else path.name
        raise CommandError(f"there is no file {model}, and no such example; {suggest(name, sorted(find_examples()))}")
    extension = path.suffix.lower()
    if extension == ".py":
        for what in fields(choices):
            if what.name not in _OF_ALL and getattr(choices, what.name) is not None:
                flag = what.name.replace("_", "-")
                raise CommandError(
                    f"--{flag} is for URDF files; a Python file builds the {_BUILDS.get(what.name, flag)} it wants"
                )
        _refuse_opensims(choices, 0)
        return _load_python(path, choices.gravity)
    if extension == ".xacro":
        raise CommandError(f"{model} is a template; make a URDF file of it: xacro {model} > {path.stem}.urdf")
    from .formats import FORMATS, find_format, format_of

    if format_of(path) is None and extension != ".xml":
        known = [suffix for format in FORMATS for suffix in format.suffixes]
        raise CommandError(f"{model}: MODEL must end in {', '.join(known)}, .xml or .py, or be a run file, .toml")
    settings = read_settings(path) if path.parent == EXAMPLES else {}
    if find_format(path).name == "URDF":
        return _load_robot(path, choices, settings)
    return _load_any(path, choices, settings)


def _refuse_opensims(choices: Choices, kind: int) -> None:
    for name, why in _OF_OPENSIM.items():
        if getattr(choices, name):
            raise CommandError(f"--{name.replace('_', '-')} is for OpenSim files; {why[kind]}")


_BUILDS = {"floating_base": "base that", "joint_damping": "dampers that", "joint_limits": "stops that"}
_BUILDS |= {"stop_stiffness": "stops that", "stop_dissipation": "stops that"}


def _load_robot(path: Path, choices: Choices, settings: dict[str, Any]) -> Loaded:
    from .formats import load_quietly

    _refuse_opensims(choices, 1)
    others = (*_OF_OPENSIM, *_OF_FLOORS)
    chosen = {name: value for name, value in asdict(choices).items() if value is not None and name not in others}
    if choices.floor:
        chosen["collision"] = True
    model = load_quietly(path, **{"floating_base": bool(settings.get("floating_base", False)), **chosen})
    loaded = _loaded(model, model.default_state(), settings)
    placed = tuple(f"joint {name!r} starts at its limit" for name in settings.get("q", {}))
    loaded.notes = [note for note in loaded.notes if not note.startswith(placed)]
    _put_inside(model, loaded)
    return loaded


def _loaded(model: Model, state: State, settings: dict[str, Any]) -> Loaded:
    """A model of a file, which starts where the settings of an example say."""
    names, time = (list(model.coordinates), list(model.speeds)), float(settings.get("time", TIME))
    for what, of in zip("qu", names, strict=True):
        # with another base than the example is meant for, there is nothing to put the base's own values in
        assign(state, what, of, [(name, value) for name, value in settings.get(what, {}).items() if name in of])
    notes = list(model.report)
    return Loaded(model.name, model.system, state, *names, time, notes=notes, ranges=model.ranges, model=model)


def _load_any(path: Path, choices: Choices, settings: dict[str, Any]) -> Loaded:
    """A model of a format whose files say all that there is to choose, but for gravity and a floor."""
    from .formats import find_format, load_quietly

    for name in (what.name for what in fields(choices)):
        if name not in _OF_ALL and getattr(choices, name) is not None:
            flag = name.replace("_", "-")
            raise CommandError(f"--{flag} is for URDF files; {find_format(path).name} files say it themselves")
    format = find_format(path)
    # a floor is to be touched by the shapes that the file says, where its reader makes surfaces of them
    touches = choices.floor and "collision" in inspect.signature(format.find_reader()).parameters
    for name in ("actuators", "loads", "as_opensim"):
        if getattr(choices, name) and format.name != "OpenSim":
            raise CommandError(f"--{name.replace('_', '-')} is for OpenSim files; this is one of {format.name}")
    chosen = {"collision": True if touches else None, "as_opensim": choices.as_opensim, "external_loads": choices.loads}
    model = load_quietly(path, **{name: value for name, value in chosen.items() if value})
    if choices.actuators:
        from .osim.model_operators import add_forces

        model = add_forces(model, *choices.actuators)
    if choices.controls is not None:
        model.set_controls(choices.controls)
    state = model.default_state()
    if choices.gravity is not None:
        state = _set_gravity(model.system, state, choices.gravity)
    return _loaded(model, state, settings)


def _put_inside(model: Model, loaded: Loaded) -> None:
    """Start joints that would be outside their limits at these: a stop would throw them out with a bang."""
    from ..force import MobilityLinearStop

    q = loaded.state.q.copy()
    for name, stop in model.stops.items():
        if not isinstance(stop, MobilityLinearStop):  # of a tendon
            continue
        i = model.coordinates[name]
        inside = min(max(q[i], stop.get_default_lower_bound()), stop.get_default_upper_bound())
        if inside != q[i]:
            loaded.notes.append(f"joint {name!r} starts at its limit, {inside:g}: {q[i]:g} is outside")
            q[i] = inside
    loaded.state.q = q


def _load_python(path: Path, gravity: Gravity | None) -> Loaded:
    from ..simulation.names import coordinate_names, speed_names
    from ..state.state import State
    from ..system.system import MultibodySystem

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
    quantities = getattr(module, "QUANTITIES", {})
    if callable(quantities):
        quantities = quantities(system)
    if not isinstance(quantities, Mapping):
        raise CommandError(f"{path}: QUANTITIES must be a dict of callables of a state by name, not {quantities!r}")
    return Loaded(path.stem, system, state, *names, float(time), quantities=dict(quantities))


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


def put_floor(loaded: Loaded, choices: Choices) -> None:
    """Put a floor under a model, where it is to have one, once it is where it starts."""
    if not choices.floor:
        return
    from .floor import add_floor
    from .mechanism.surfaces import MATERIAL

    changes = {"stiffness": choices.floor_stiffness, "static_friction": choices.floor_friction}
    changes["dynamic_friction"] = choices.floor_friction
    material = replace(MATERIAL, **{name: value for name, value in changes.items() if value is not None})
    loaded.state, notes = add_floor(loaded.system, loaded.state, material, choices.floor_height)
    loaded.notes += notes


def _set_gravity(system: MultibodySystem, state: State, gravity: Gravity) -> State:
    """Give a system another gravity, or one if it has none; the state to go on with."""
    from ..force import Gravity as GravityForce, UniformGravity
    from ..force.subsystem import GeneralForceSubsystem

    pulls = [force for force in system.all_forces() if isinstance(force, GravityForce | UniformGravity)]
    for number, force in enumerate(pulls):  # several add up: the first is all, the others nothing
        force.enable(state)
        force.set_gravity_vector(state, gravity if number == 0 else (0.0, 0.0, 0.0))
    if pulls:
        return state
    matter = system.get_matter_subsystem()
    euler = matter.get_use_euler_angles(state)
    GravityForce(GeneralForceSubsystem(system), matter, gravity)
    return start_again(system, state, euler)
