"""Checkpoints: everything that a run needs to go on, bit for bit, in a file that is whole or not there at all.

A file is a line that says what it is, a line of JSON that is looked at before anything else (version, fingerprint of the
system, integrator), and a pickle: the state with all resources, and what the integrator and the time stepper keep between
steps. References to parts of the system, which are not in the file, are kept as the parts' places. What objects of a user's own
remember outside the state is not in the file, except that of event handlers and reporters.
"""

from __future__ import annotations

import inspect
import io
import json
import os
import pickle
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from ._version import __version__
from .errors import ModelError
from .fingerprint import system_fingerprint
from .state import _restore

if TYPE_CHECKING:
    from .integrator import Integrator
    from .system import MultibodySystem
    from .time_stepper import TimeStepper

_MAGIC = b"mobod checkpoint 1\n"
#: What an integrator and a time stepper hold that is not theirs to keep.
_REFERENCES = ("_system", "_state", "_model", "_integrator")
#: Settings with which a run may go on though they differ.
_FREE = ("internal_step_limit",)
#: What a system holds that is made anew when it is needed, and how deep parts are looked for in parts.
_NO_PARTS, _DEPTH = ("Tree", "Record", "State"), 4


class CheckpointError(ModelError):
    """A checkpoint that is broken, or of another model or run than it is to be used for."""


def save_checkpoint(path: str | os.PathLike[str], stepper: TimeStepper, more: Any = None) -> None:
    """Write what *stepper* needs to go on, and whatever else can be pickled.

    The file is written beside its place and moved there when it is complete: killed in the middle, the last one is still there.

    Raises
    ------
    CheckpointError
        If a part of the run cannot be written, which it names.
    OSError
        If the file cannot be written.
    """
    integrator, system = stepper._integrator, stepper._system
    about = {
        "version": __version__,
        "system": system_fingerprint(system),
        "integrator": integrator.get_method_name(),
        "settings": _settings(integrator),
        "time": integrator.get_state().time,
    }
    content = {
        "state": integrator.get_state().__getstate__(),
        "integrator": _kept(integrator),
        "stepper": _kept(stepper),
        "handlers": [vars(one) for one in (*system._event_handlers, *system._event_reporters)],
        "more": more,
    }
    data = _dump(stepper, content)
    path = Path(path)
    handle, beside = tempfile.mkstemp(prefix=path.name, suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_MAGIC + json.dumps(about).encode() + b"\n" + data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def load_checkpoint(path: str | os.PathLike[str], stepper: TimeStepper, check: Callable[[Any], None] | None = None) -> Any:
    """Put *stepper* where it was when the checkpoint was written; what was saved with it comes back.

    *check* gets this before anything changes, and may raise.

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
    system, integrator = stepper._system, stepper._integrator
    with open(path, "rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise CheckpointError(f"{os.fspath(path)} is not a checkpoint of a run")
        try:
            about = json.loads(file.readline())
        except ValueError:
            raise CheckpointError(f"{os.fspath(path)} is broken: its second line is not JSON") from None
        _check(os.fspath(path), about, system, integrator)
        try:
            content = _Unpickler(file, stepper).load()
        except (pickle.UnpicklingError, EOFError, AttributeError, ImportError, IndexError) as error:
            raise CheckpointError(f"{os.fspath(path)} cannot be read: {error}") from error
    if check is not None:
        check(content["more"])
    if not system.system_topology_has_been_realized():
        system.realize_topology()
    content["state"]["version"] = system._topology_version
    state = _restore(system, content["state"])
    integrator._state, integrator._model = state, None
    _give_back(integrator, content["integrator"])
    _give_back(stepper, content["stepper"])
    for one, kept in zip((*system._event_handlers, *system._event_reporters), content["handlers"], strict=True):
        vars(one).update(kept)
    stepper._initialized = True
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


def integrator_keywords(integrator: Integrator) -> dict[str, Any]:
    """The keywords of an integrator's class, and those of its bases, with the values that it was made with."""
    names: list[str] = []
    for kind in type(integrator).__mro__:
        if "__init__" in vars(kind) and kind is not object:
            parameters = inspect.signature(vars(kind)["__init__"]).parameters.values()
            names += [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name not in names]
    return {name: getattr(integrator, name) for name in names if hasattr(integrator, name)}


def _settings(integrator: Integrator) -> dict[str, Any]:
    plain = {name: value for name, value in integrator_keywords(integrator).items()}
    return {name: v if isinstance(v, str | int | float | bool | None) else repr(v) for name, v in plain.items()}


def _kept(one: Any) -> dict[str, Any]:
    """What *one* keeps between steps."""
    kept = {name: value for name, value in one.__getstate__().items() if name not in (*_REFERENCES, *_FREE)}
    # what cannot be kept, such as a solver of another package, is made anew by the run that goes on as well as by this one, of
    # what is kept in its place
    vars(one).update(kept)
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
    system = stepper._system
    parts: dict[str, Any] = {"stepper": stepper, "integrator": stepper._integrator, "system": system}
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
                if depth < _DEPTH and not is_function:
                    waiting.append((f"{place}.{name}.{i}", part, depth + 1))
    return parts
