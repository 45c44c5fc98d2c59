"""Run files: all that `mobod simulate` can be told, in a small TOML file. `docs/reference/run_files.md` has every key.

What is given on the command line as well goes before what the file says. Paths in a file are relative to its folder.
"""

from __future__ import annotations

import argparse
import math
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from ..errors import CommandError
from ..importer.formats import format_of
from ..value.checks import suggest
from ..value.files import written
from .arguments import integrators, keywords_of, plain_name, quantity
from .toml import toml

Read: TypeAlias = Callable[[Any, Path], Any]
"""Makes of a file's value what the command wants; ValueError says what it should be."""


def _number(low: float, what: str, *, open_end: bool = True) -> Read:
    def read(value: Any, folder: Path) -> float:
        number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not number or value < low or (open_end and value == low):
            raise ValueError(what)
        return float(value)

    return read


def _truth(value: Any, folder: Path) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def _text(value: Any, folder: Path) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("a text in quotes")
    return value


def _path(value: Any, folder: Path) -> Path:
    return folder / _text(value, folder)


def _three(value: Any, folder: Path) -> tuple[float, ...]:
    if not isinstance(value, list) or len(value) != 3 or not all(_is_number(entry) for entry in value):
        raise ValueError("three numbers such as [0, 0, -9.81]")
    return tuple(float(entry) for entry in value)


def _names(value: Any, folder: Path) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise ValueError('a list of names such as ["a", "b"]')
    return value


def _paths(value: Any, folder: Path) -> list[Path]:
    return [_path(name, folder) for name in _names(value, folder)]


def _bodies(value: Any, folder: Path) -> Any:
    return value if isinstance(value, bool) else _names(value, folder)


def _work(value: Any, folder: Path) -> str:
    if value not in ("reports", "steps"):
        raise ValueError('"reports" or "steps"')
    return str(value)


def _tolerance(value: Any, folder: Path) -> bool | float:
    return value if isinstance(value, bool) else _positive(value, folder)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


_any_number = _number(-math.inf, "a number")
_positive, _not_negative = _number(0.0, "a positive number"), _number(0.0, "a number, zero or more", open_end=False)

#: By section and key: the option of the command that it is, and how it is read. Sections q and u have names as keys.
KEYS: dict[str, dict[str, tuple[str, Read]]] = {
    "": {"model": ("model", _text), "time": ("time", _positive), "report_interval": ("report_interval", _positive)},
    "options": {
        "gravity": ("gravity", _three),
        "actuators": ("actuators", _paths),
        "loads": ("loads", _path),
        "controls": ("controls", _path),
        "states": ("states", _path),
        "as_opensim": ("as_opensim", _truth),
        "equilibrate": ("equilibrate", _truth),
        "floating_base": ("floating_base", _truth),
        "joint_damping": ("joint_damping", _truth),
        "joint_limits": ("joint_limits", _truth),
        "stop_stiffness": ("stop_stiffness", _positive),
        "stop_dissipation": ("stop_dissipation", _not_negative),
        "floor": ("floor", _truth),
        "floor_height": ("floor_height", _any_number),
        "floor_stiffness": ("floor_stiffness", _positive),
        "floor_friction": ("floor_friction", _not_negative),
    },
    "record": {"file": ("record", _path), "quantities": ("quantities", _names), "bodies": ("bodies", _bodies)},
    "checkpoint": {"file": ("checkpoint", _path), "interval": ("checkpoint_interval", _positive), "resume": ("resume", _truth)},
    "output": {
        "motion": ("output", _path),
        "plot": ("plot", _path),
        "animation": ("animate", _path),
        "replay": ("replay", _path),
    },
    "audit": {"print": ("audit", _truth), "work": ("work", _work), "estimate_error": ("estimate_error", _tolerance)},
}
#: Options that can only be switched on: False is what they are where nothing was said.
SWITCHES = ("equilibrate", "resume", "audit", "estimate_error")
SECTIONS = (*[name for name in KEYS if name], "q", "u", "integrator")
#: What an integrator's keywords are, where they are no positive numbers.
_OF_INTEGRATORS: dict[str, Read] = {"final_time": _number(-math.inf, "a number"), "name": _text}


def is_run_file(model: str) -> bool:
    """True if a MODEL is a run file: its name ends in .toml, and is not that of a format of models."""
    return Path(model).suffix.lower() == ".toml" and format_of(model) is None


def with_run_file(options: argparse.Namespace) -> argparse.Namespace:
    """The options with what the run file that is their model says, where the command line says nothing.

    Raises
    ------
    CommandError
        If the file is broken, has a key that is none, or a value that makes no sense; with the line.
    """
    path = Path(options.model)
    found = read_run_file(path)
    merged = argparse.Namespace(**vars(options))
    for name in ("q", "u"):  # the later one of the same name holds
        setattr(merged, name, [*found.pop(name, []), *getattr(options, name)])
    merged.model = found.pop("model")
    for name, value in found.items():
        if not _is_said(name, getattr(options, name, None)):
            setattr(merged, name, value)
    return merged


def _is_said(option: str, value: Any) -> bool:
    """True if the command line has said something: ``--no-joint-limits`` has, a switch that was left alone has not."""
    return not (value is None or value == [] or (value is False and option in SWITCHES))


def read_run_file(path: Path) -> dict[str, Any]:
    """Read a run file: the options of the command by name, ``integrator_keywords``, and ``work``."""
    if not path.is_file():
        raise CommandError(f"there is no file {path}")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise CommandError(f"{path} is not UTF-8, which TOML has to be: byte {error.start}; save it anew as such") from None
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}") from None
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CommandError(f"{path} is not TOML: {error}") from None
    file = _File(path, text)
    if "model" not in content:
        raise CommandError(f'{path} has no model; begin with model = "robot.urdf", a .py file or an example')
    found: dict[str, Any] = {}
    for key, value in content.items():
        if not isinstance(value, Mapping):
            found |= file.read("", key, value)
        elif key in ("q", "u"):
            found[key] = [(name, file.angle(key, name, entry)) for name, entry in value.items()]
        elif key == "integrator":
            found |= file.integrator(value)
        elif key in KEYS:
            for name, entry in value.items():
                found |= file.read(key, name, entry)
        else:
            known = [*KEYS[""], *SECTIONS]
            raise CommandError(f"{file.where('', key)}: there is no section [{key}]; {suggest(key, known)}")
    model = path.parent / found["model"]
    found["model"] = str(model) if model.exists() or model.suffix else found["model"]
    return found


class _File:
    """A run file being read."""

    def __init__(self, path: Path, text: str) -> None:
        self.path, self.lines = path, text.splitlines()

    def read(self, section: str, key: str, value: Any) -> dict[str, Any]:
        """One key of a section of `KEYS`, as the option that it is."""
        if key not in KEYS[section]:
            known = [*KEYS[section], *(SECTIONS if not section else ())]
            raise CommandError(f"{self.where(section, key)}: there is no key {key!r}{_inside(section)}; {suggest(key, known)}")
        option, read = KEYS[section][key]
        return {option: self.value(section, key, value, read)}

    def value(self, section: str, key: str, value: Any, read: Read) -> Any:
        """A value, or an error that says what it should be."""
        try:
            return read(value, self.path.parent)
        except ValueError as error:
            raise CommandError(f"{self.where(section, key)}: {key} must be {error}, not {value!r}") from None

    def angle(self, section: str, name: str, value: Any) -> float:
        """A coordinate or a speed: a number, or a text such as 30deg."""
        number = float(value) if _is_number(value) else quantity(value) if isinstance(value, str) else None
        if number is None:
            raise CommandError(f'{self.where(section, name)}: {name} must be a number or a text such as "30deg", not {value!r}')
        return number

    def integrator(self, section: Mapping[str, Any]) -> dict[str, Any]:
        """The section of the integrator: its name, and whatever keywords its class has."""
        kinds = integrators()
        name = self.value("integrator", "name", section.get("name", "RungeKuttaMerson"), _text)
        if plain_name(name) not in kinds:
            names = [kind.__name__ for kind in kinds.values()]
            raise CommandError(f"{self.where('integrator', 'name')}: there is no integrator {name!r}; {suggest(name, names)}")
        parameters = keywords_of(kinds[plain_name(name)])
        known = list(parameters)
        keywords: dict[str, Any] = {}
        for key, value in section.items():
            if key == "name":
                continue
            if key not in known:
                where = self.where("integrator", key)
                raise CommandError(f"{where}: there is no key {key!r} in [integrator]; {suggest(key, ['name', *known])}")
            takes = str(parameters[key].annotation)  # the class says itself what it thinks of a text, where it takes one
            if (isinstance(value, str) and "str" in takes) or (isinstance(value, bool) and "bool" in takes):
                keywords[key] = value
            else:
                number = self.value("integrator", key, value, _OF_INTEGRATORS.get(key, _positive))
                keywords[key] = int(number) if isinstance(value, int) and key.endswith(("limit", "order")) else number
        return {"integrator": name, "integrator_keywords": keywords}

    def where(self, section: str, key: str) -> str:
        """The file, with the line of a key, or of a section's heading, where it can be found."""
        inside, quoted = "", rf"(?:{re.escape(key)}|\"{re.escape(key)}\"|'{re.escape(key)}')"
        for number, line in enumerate(self.lines, 1):
            heading = re.match(r"\s*\[+\s*([^\]]+?)\s*\]+", line)
            if heading:
                inside = heading.group(1).strip("\"'")
                if not section and inside.partition(".")[0] == key:
                    return f"{self.path}, line {number}"
            dotted = rf"{re.escape(section)}\s*\.\s*" if section else ""
            if (inside == section and re.match(rf"\s*{quoted}\s*[=.]", line)) or (
                not inside and section and re.match(rf"\s*{dotted}{quoted}\s*=", line)
            ):
                return f"{self.path}, line {number}"
        return str(self.path)


def _inside(section: str) -> str:
    return f" in [{section}]" if section else ""


# ---------------------------------------------------------------------------------------------- writing


def write_run_file(options: argparse.Namespace) -> None:
    """Write the options as a run file; what was not said is there as a comment, ready to be filled in."""
    path = options.write_run_file
    if path.suffix.lower() != ".toml":
        raise CommandError(f"{path.name!r} must end in .toml")
    if path.exists():
        raise CommandError(f"{path} is there already; it is not written over")
    lines = [f"# mobod simulate {path.name}", f"model = {toml(_from(options.model, path.parent))}"]
    lines += [_line(options, key, KEYS[""][key][0], path.parent) for key in ("time", "report_interval")]
    lines += ["", "[options]", *(_line(options, key, option, path.parent) for key, (option, _) in KEYS["options"].items())]
    for section in ("q", "u"):
        lines += ["", f"[{section}]", *(f"{toml(name)} = {value!r}" for name, value in getattr(options, section))]
    keywords = dict(getattr(options, "integrator_keywords", {}))
    kind = integrators().get(plain_name(options.integrator or "RungeKuttaMerson"))
    if kind is not None:  # another one than that of the run file that was read may take less
        keywords = {name: value for name, value in keywords.items() if name in keywords_of(kind)}
    for name in ("accuracy", "fixed_step_size"):
        if getattr(options, name) is not None:
            keywords[name] = getattr(options, name)
    lines += ["", "[integrator]", f"name = {toml(options.integrator or 'RungeKuttaMerson')}"]
    lines += [f"{name} = {toml(value)}" for name, value in keywords.items()]
    lines += [f"# {name} =" for name in ("accuracy", "fixed_step_size") if name not in keywords]
    for section in ("record", "checkpoint", "output", "audit"):
        lines += ["", f"[{section}]", *(_line(options, key, option, path.parent) for key, (option, _) in KEYS[section].items())]
    with written(path) as beside:
        beside.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if not options.quiet:
        print(f"{'run file':<17}{path}")


def _line(options: argparse.Namespace, key: str, option: str, folder: Path) -> str:
    value = getattr(options, option, None)
    if not _is_said(option, value):
        return f"# {key} ="
    return f"{key} = {toml(_from(value, folder) if isinstance(value, Path) else value)}"


def _from(path: Any, folder: Path) -> str:
    """A path as it is seen from the run file's folder; names of examples stay as they are."""
    if isinstance(path, str) and not Path(path).exists():
        return path
    try:
        return Path(path).resolve().relative_to(folder.resolve()).as_posix()
    except ValueError:
        return Path(path).resolve().as_posix()
