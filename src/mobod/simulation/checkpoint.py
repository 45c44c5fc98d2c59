"""Checkpoints: everything that a run needs to go on, bit for bit, in a file that is complete or absent.

A file is a line with its format, a line with the length and the checksum of the rest, a line of JSON that is checked first
(version, fingerprints of the system and of its parts in Python, integrator), and a pickle: the state with all resources, and
the data of the integrator and the time stepper between steps. The system is not in the file; references to its parts are kept
as their places. Data that users' objects keep outside the state is not in the file, except that of event handlers and
reporters.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import io
import json
import os
import pickle
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from .._version import __version__
from ..compiling import Routine
from ..errors import ModelError
from ..state.impulses import Impulses
from ..state.state import restore
from ..value.files import written
from .fingerprint import UNKNOWN, part_fingerprint, system_fingerprint

if TYPE_CHECKING:
    from ..integrator import Integrator
    from ..system.system import MultibodySystem
    from .time_stepper import TimeStepper

_MAGIC = b"mobod checkpoint 2\n"
#: Attributes of an integrator and a time stepper that are not saved.
_REFERENCES = ("system", "_state", "_model", "_integrator", "parts_at_start")
#: Settings that may differ when a run goes on.
_FREE = ("internal_step_limit",)
_LOST = "Nothing of it can be used; rows that were recorded to a file are in that. Start the run anew, or from an older copy"
#: Attributes of a system that are made anew when needed, and how deep parts are searched for in parts.
_NO_PARTS, _DEPTH = ("Tree", "Record", "State"), 4


class CheckpointError(ModelError):
    """A checkpoint that is damaged, or of another model or run.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.checkpoint"
    >>> number = path.write_text("something else")
    >>> stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system))
    >>> try:
    ...     stepper.load_checkpoint(path)
    ... except mb.CheckpointError as error:
    ...     print(str(error).partition(path.name)[2])
     is not a checkpoint of a run
    """


def save_checkpoint(path: str | os.PathLike[str], stepper: TimeStepper, more: Any = None) -> None:
    """Write what *stepper* needs to go on, and whatever else can be pickled.

    The file is written beside its place and moved there when it is complete: if killed meanwhile, the last one remains.

    Raises
    ------
    CheckpointError
        If a part of the run cannot be written, which it names.
    OSError
        If the file cannot be written.
    """
    integrator, system = stepper.integrator, stepper.system
    if stepper.parts_at_start is None:
        stepper.parts_at_start = parts_fingerprint(stepper)
    about = {
        "version": __version__,
        "system": system_fingerprint(system),
        "parts": stepper.parts_at_start,
        "parts_now": parts_fingerprint(stepper),
        "integrator": integrator.get_method_name(),
        "settings": _settings(integrator),
        "time": integrator.get_state().time,
    }
    content = {
        "state": integrator.get_state().__getstate__(),
        "contact_times": getattr(integrator.get_state().impulses, "contact_times", None),
        "integrator": _kept(integrator),
        "stepper": _kept(stepper),
        "handlers": [vars(one) for one in (*system.event_handlers, *system.event_reporters)],
        "more": more,
    }
    data = json.dumps(about).encode() + b"\n" + _dump(stepper, content)
    with written(path) as beside, open(beside, "wb") as file:
        file.write(_MAGIC + f"{len(data)} {hashlib.sha256(data).hexdigest()}\n".encode())
        file.write(data)


def _read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], bytes]:
    """The file's description and pickle, after verifying the checksum."""
    name = os.fspath(path)
    with open(path, "rb") as file:
        magic = file.read(len(_MAGIC))
        if magic != _MAGIC:
            if magic[:17] == _MAGIC[:17]:
                raise CheckpointError(f"{name} was written by another version of mobod; use that, or start the run anew")
            raise CheckpointError(f"{name} is not a checkpoint of a run")
        line, data = file.readline(200), file.read()
    length, _, digest = line.decode("ascii", "replace").strip().partition(" ")
    if not length.isdigit() or len(digest) != 64:
        raise CheckpointError(f"{name} is broken: its second line is no length and checksum. {_LOST}")
    if len(data) != int(length):
        raise CheckpointError(f"{name} is broken: it has {len(data)} bytes of {length}. {_LOST}")
    if hashlib.sha256(data).hexdigest() != digest:
        raise CheckpointError(f"{name} is broken: it does not fit its checksum. {_LOST}")
    first, _, pickled = data.partition(b"\n")
    return json.loads(first), pickled


def load_checkpoint(
    path: str | os.PathLike[str], stepper: TimeStepper, check: Callable[[Any], None] | None = None, anyway: bool = False
) -> Any:
    """Restore *stepper* from a checkpoint; returns what was saved with it.

    *check* is called with that before anything changes, and may raise. With *anyway*, parts in Python may have changed.

    Raises
    ------
    CheckpointError
        If the file is no checkpoint, or of another system, integrator or version; nothing has changed then.
    FileNotFoundError
        If there is none.

    Notes
    -----
    The file holds pickled Python objects: use only files that you have written yourself.
    """
    system, integrator = stepper.system, stepper.integrator
    about, pickled = _read(path)
    _check(os.fspath(path), about, system, integrator)
    if not system.system_topology_has_been_realized():
        system.realize_topology()
    if not anyway:
        _check_parts(os.fspath(path), about, parts_fingerprint(stepper))
    try:
        content = _Unpickler(io.BytesIO(pickled), stepper).load()
    except Exception as error:  # classes that are gone or have changed
        raise CheckpointError(f"{os.fspath(path)} cannot be read: {type(error).__name__}: {error}") from error
    if check is not None:
        check(content["more"])
    content["state"]["version"] = system.topology_version
    state = restore(system, content["state"])
    stepper.contact_events(state)  # which may need Python
    integrator.attach(state)
    _give_back(integrator, content["integrator"])
    state.impulses = Impulses(integrator.constraint_tolerance, content["contact_times"])
    _give_back(stepper, content["stepper"])
    for one, kept in zip((*system.event_handlers, *system.event_reporters), content["handlers"], strict=True):
        vars(one).update(kept)
    stepper.initialized = True
    stepper.parts_at_start = about["parts"]
    return content["more"]


def _check(path: str, about: Mapping[str, Any], system: MultibodySystem, integrator: Integrator) -> None:
    """Refuse what cannot go on bit for bit."""
    now = system_fingerprint(system)
    if about["system"] != now:
        differ = ", ".join(name for name in now if about["system"].get(name) != now[name])
        raise CheckpointError(
            f"{path} is a checkpoint of another model: its {differ} differ from those of {system!r}; "
            "build the model as it was, or start the run anew"
        )
    if about["version"] != __version__:
        raise CheckpointError(
            f"{path} was written by mobod {about['version']}, and this is {__version__}: it would not go on bit for bit; "
            f"use that version, or start the run anew"
        )
    kind, settings = integrator.get_method_name(), _settings(integrator)
    if about["integrator"] != kind:
        raise CheckpointError(f"{path} is of a run with {about['integrator']}, not {kind}; go on with that, or start anew")
    for name, value in settings.items():
        then = about["settings"].get(name)
        if name not in _FREE and then != value:
            raise CheckpointError(
                f"{path} is of a run with {name}={then}, and the integrator has {name}={value}; "
                "go on with the same, or start the run anew"
            )


def parts_fingerprint(stepper: TimeStepper) -> dict[str, dict[str, str]]:
    """Fingerprints of all parts in Python and of all event handlers and reporters, by what to call them."""
    system, parts = stepper.system, _parts(stepper)
    places = {id(part): place for place, part in parts.items()}
    of_events = [*system.event_handlers, *system.event_reporters]
    found: dict[str, dict[str, str]] = {}
    for part in {id(one): one for one in (*parts.values(), *of_events)}.values():
        module = str(getattr(part if isinstance(part, FunctionType) else type(part), "__module__", ""))
        if module.partition(".")[0] == "mobod" and not any(part is one for one in of_events):
            continue
        name = str(getattr(part, "__qualname__", type(part).__qualname__))
        while name in found:
            name += "'"

        def place_of(other: Any, part: Any = part) -> str | None:
            return None if other is part else places.get(id(other))

        found[name] = part_fingerprint(part, place_of)
    return found


def differing(
    then: Mapping[str, Mapping[str, str]], saved: Mapping[str, Any], now: Mapping[str, Any]
) -> tuple[list[str], list[str]]:
    """Names of the parts that are neither as they were *then*, at the start, nor as *saved*; and of those not comparable."""
    others, unknown = [], []
    for name in {**then, **now}:
        start, end, here = then.get(name), saved.get(name, {}), now.get(name)
        if start is None or here is None:
            others.append(f"{name}, which is {'new' if start is None else 'gone'}")
            continue
        for what in {**start, **here}:
            which = f"the code of {name}" if what == "code" else f"{name}.{what}"
            if UNKNOWN in (start.get(what), here.get(what)):
                unknown.append(which)
            elif here.get(what) not in (start.get(what), end.get(what)):
                others.append(which)
    return others, unknown


def _check_parts(path: str, about: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Refuse parts in Python that have changed."""
    refuse_others(path, *differing(about["parts"], about["parts_now"], now))


def refuse_others(path: str, others: list[str], unknown: list[str]) -> None:
    """Raise an error where parts in Python differ, or may do so."""
    if others:
        raise CheckpointError(
            f"{path} is of a run with other parts in Python; these differ: {', '.join(others)}. Build them as they were, "
            "start the run anew, or go on with resume='anyway'"
        )
    if unknown:
        raise CheckpointError(
            f"whether these are as they were when {path} was written cannot be told: {', '.join(unknown)}. If you know that "
            "they are, go on with resume='anyway'"
        )


def integrator_keywords(integrator: Integrator) -> dict[str, Any]:
    """The keywords of an integrator's class, and those of its bases, with the values that it was made with."""
    kind: Any = type(integrator)
    return {name: getattr(integrator, name) for name in _keyword_names(kind) if hasattr(integrator, name)}


@functools.lru_cache(64)  # looking takes a tenth of a short run
def _keyword_names(kind: Any) -> tuple[str, ...]:
    names: list[str] = []
    for one in kind.__mro__:
        if "__init__" in vars(one) and one is not object:
            parameters = inspect.signature(vars(one)["__init__"]).parameters.values()
            names += [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name not in names]
    return tuple(names)


def _settings(integrator: Integrator) -> dict[str, Any]:
    plain = {name: value for name, value in integrator_keywords(integrator).items()}
    return {name: v if isinstance(v, str | int | float | bool | None) else repr(v) for name, v in plain.items()}


def _kept(one: Any) -> dict[str, Any]:
    """The data that *one* keeps between steps."""
    kept = {name: value for name, value in one.__getstate__().items() if name not in (*_REFERENCES, *_FREE)}
    # what cannot be saved, such as a solver of another package, is made anew from other saved data: by the run that goes on
    # and by this one, so that both stay equal
    _give_back(one, kept)
    return kept


def _give_back(one: Any, kept: Mapping[str, Any]) -> None:
    for name, value in kept.items():
        setattr(one, name, value)


# ---------------------------------------------------------------------------------------------- pickling beside the system


def _dump(stepper: TimeStepper, content: Mapping[str, Any]) -> bytes:
    buffer = io.BytesIO()
    try:
        _Pickler(buffer, _parts(stepper)).dump(content)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        for what, part in content.items():
            several = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
            for name, value in several:
                try:
                    _Pickler(io.BytesIO(), _parts(stepper)).dump(value)
                except (pickle.PicklingError, TypeError, AttributeError):
                    raise CheckpointError(
                        f"a checkpoint cannot hold {name!r} of the {what}, {type(value).__name__}: {error}; "
                        "keep such things in the system, not in its state"
                    ) from error
        raise CheckpointError(f"a checkpoint cannot be written: {error}") from error
    return buffer.getvalue()


class _Pickler(pickle.Pickler):
    def __init__(self, file: Any, parts: Mapping[str, Any]) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self._parts = {id(part): place for place, part in parts.items()}

    def persistent_id(self, obj: Any) -> str | None:
        return self._parts.get(id(obj))


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: Any, stepper: TimeStepper) -> None:
        super().__init__(file)
        self._parts = _parts(stepper)

    def persistent_load(self, pid: str) -> Any:
        if pid not in self._parts:
            raise pickle.UnpicklingError(f"the system has no {pid}")
        return self._parts[pid]


def _parts(stepper: TimeStepper) -> dict[str, Any]:
    """The parts of a system by their places, and what steps it: what a state may refer to, and a file does not hold."""
    system = stepper.system
    parts: dict[str, Any] = {"stepper": stepper, "integrator": stepper.integrator, "system": system}
    known = {id(part) for part in parts.values()}
    waiting = [("system", system, 0)]
    while waiting:
        place, owner, depth = waiting.pop(0)
        for name, value in vars(owner).items():
            several = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else [value]
            for i, part in enumerate(several):
                if id(part) in known or not hasattr(part, "__dict__") or type(part).__name__ in _NO_PARTS:
                    continue
                is_function = isinstance(part, FunctionType)
                if isinstance(part, type | np.ndarray) or (type(part).__module__ == "builtins" and not is_function):
                    continue
                known.add(id(part))
                parts[f"{place}.{name}.{i}"] = part
                if depth < _DEPTH and not (is_function or isinstance(part, Routine)):  # with what Numba has made
                    waiting.append((f"{place}.{name}.{i}", part, depth + 1))
    return parts
