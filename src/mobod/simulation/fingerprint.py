"""Fingerprints: whether two systems, two starts of a run or two parts in Python are the same; equal in every process.

A part in Python is compared by the code of its class and of what it calls, as Python has compiled it, and by the values of its
attributes, as far as these are numbers, texts, arrays, functions and containers of these. Others cannot be compared.
"""

from __future__ import annotations

import contextlib
import enum
import hashlib
import pickle
from collections.abc import Callable, Mapping
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ..compiling import Routine
from ..compiling.fingerprint import NotHashable, fingerprint
from ..state.fields import PARAMETERS
from ..state.parameters import Numbered
from ..state.state import State
from ..system.system import MultibodySystem


def system_fingerprint(system: MultibodySystem) -> dict[str, str]:
    """A fingerprint of each aspect of *system*: its bodies, their numbers, its forces, and what else is part of it.

    Parts in Python are compared by name only; `part_fingerprint` compares their code.
    """
    matter = system.get_matter_subsystem()
    tree = system.tree_for(bool(matter.default_use_euler_angles))
    forces = system.all_forces()
    return {
        "bodies": _hash(
            [(type(body).__name__, body.name, body.parent.name if body.parent is not None else "") for body in matter.bodies]
        ),
        "numbers": _hash(sorted((name, *_array(values)) for name, values in tree.fields.items())),
        "forces": _hash([(type(force).__name__, force.name, _kind(force.implementation)) for force in forces]),
        "functions": _hash([_kind(f) for one in (*forces, *matter.bodies, *matter.constraints) for f, _ in one.used_functions]),
        "motions": _hash([(_kind(body.driver), _kind(getattr(body.driver, "implementation", None))) for body in matter.bodies]),
        "events": _hash([_kind(one) for one in (*system.event_handlers, *system.event_reporters)]),
        "subsystems": _hash([(_kind(one), one.get_name()) for one in system.subsystems]),
    }


def start_fingerprint(state: State) -> str:
    """A fingerprint of where a run starts: time, y, and what was set in the state."""
    own = sorted((name, *_array(values)) for name, values in state.own_fields.items())
    return _hash([state.time, *_array(state.y_values), state.pending_euler_angles, own])


def choices_fingerprint(state: State) -> str:
    """A fingerprint of a state that stays the same when it is realized: time, y, parameters, locks, what is enabled."""
    names = sorted({*PARAMETERS, *_CHOICES})
    return _hash([state.time, *_array(state.y_values), state.pending_euler_angles, [_array(state.field(one)) for one in names]])


def users_fingerprint(system: MultibodySystem) -> list[tuple[str, dict[str, str]]]:
    """Fingerprints of event handlers and reporters, and of functions and classes of users' own in the system's parts."""
    bodies = system.get_matter_subsystem().bodies
    owners: list[Any] = [*system.all_forces(), *bodies, *system.get_matter_subsystem().constraints, *system.subsystems]
    owners += [body.driver for body in bodies if body.driver is not None]
    owners += [measure for subsystem in system.subsystems for measure in subsystem.own_measures]
    parts: list[Any] = [*system.event_handlers, *system.event_reporters]
    parts += [one for one in owners if not _is_packages(type(one))]
    parts += [value for one in owners for _, value in sorted(vars(one).items()) if _is_users(value)]
    found = [(getattr(one, "__qualname__", type(one).__qualname__), part_fingerprint(one)) for one in parts]
    return [(name, {what: text for what, text in of.items() if text != UNKNOWN}) for name, of in found]


def _is_users(value: Any) -> bool:
    """True if a part's attribute is a user's function, some that were given to be compiled, or of a user's class."""
    if isinstance(value, FunctionType) or type(value).__name__ == "CompiledFunctions":
        return True
    return hasattr(value, "__dict__") and not isinstance(value, type | ModuleType) and not _is_packages(type(value))


#: Choices of a state, beside its parameters, that it does not change itself.
_CHOICES = "force_enabled", "constraint_enabled", "lock_level", "motion_enabled"


#: Objects compared by name, as they are compared elsewhere or belong to the run.
_BY_NAME = ("MobilizedBody", "Subsystem", "MultibodySystem", "State", "Integrator", "TimeStepper", "Constraint", "Force")
#: Values compared by their text; a union would be made anew at each call.
_PLAIN = (bool, int, float, complex, str, bytes, np.generic)
#: Stands for a value that cannot be compared.
UNKNOWN = "?"


def part_fingerprint(part: Any, place_of: Callable[[Any], str | None] = lambda part: None) -> dict[str, str]:
    """Fingerprints of the code of *part* and of each of its attributes; `UNKNOWN` where one cannot be told.

    Parameters
    ----------
    part : object
        A function, or an object of a user's own class.
    place_of : callable
        Where in the system another part is, which then is known by that; None for what is no part.
    """
    look = _Look(place_of)
    if isinstance(part, FunctionType | MethodType) or not hasattr(part, "__dict__"):
        return {"code": look.at(part)}
    # where its numbers are in a process's states is nothing of its own
    left_out = "placed" if isinstance(part, Numbered) else None
    attributes = {name: _Look(place_of).at(value) for name, value in sorted(vars(part).items()) if name != left_out}
    return {"code": look.at(type(part)), **attributes}


class _Look:
    """Looks through values, each object once."""

    def __init__(self, place_of: Callable[[Any], str | None]) -> None:
        self._place_of = place_of
        self._seen: dict[int, int] = {}
        self._kept: list[Any] = []  # so that no two have one address
        self._unknown = False

    def at(self, value: Any) -> str:
        """The fingerprint of a value."""
        text = _hash(self._tell(value))
        return UNKNOWN if self._unknown else text

    def _tell(self, value: Any) -> Any:
        if value is None or isinstance(value, _PLAIN):
            return type(value).__name__, repr(value)
        if isinstance(value, enum.Enum | ModuleType | BuiltinFunctionType | np.ufunc | np.dtype):
            return "named", str(getattr(value, "__name__", value))
        if id(value) in self._seen:
            return "again", self._seen[id(value)]
        self._seen[id(value)] = len(self._seen)
        self._kept.append(value)
        place = self._place_of(value)
        if place is not None:
            return "part", place
        if isinstance(value, np.ndarray) and value.dtype != object:
            return value.dtype.str, *_array(value)
        if isinstance(value, list | tuple | np.ndarray):
            return type(value).__name__, [self._tell(one) for one in value]
        if isinstance(value, Mapping):
            return "mapping", [(self._tell(key), self._tell(one)) for key, one in value.items()]
        if isinstance(value, set | frozenset):
            return "set", sorted(_hash(self._tell(one)) for one in value)
        if isinstance(value, CodeType):
            constants = [self._tell(one) for one in value.co_consts]
            return "code", value.co_code.hex(), constants, value.co_names, value.co_varnames
        if isinstance(value, FunctionType):
            return self._of_function(value)
        if isinstance(value, MethodType):
            return "method", self._tell(value.__self__), self._tell(value.__func__)
        if isinstance(value, type):
            return self._of_class(value)
        if isinstance(value, property | staticmethod | classmethod):
            return type(value).__name__, [self._tell(getattr(value, name, None)) for name in ("fget", "fset", "__func__")]
        return self._of_object(value)

    def _of_function(self, function: FunctionType) -> Any:
        if _is_packages(function):
            return "named", function.__module__, function.__qualname__
        cells = []
        for cell in function.__closure__ or ():
            try:
                cells.append(self._tell(cell.cell_contents))
            except ValueError:  # not filled yet
                cells.append(None)
        known = function.__globals__
        called = [(name, self._tell(known[name])) for name in _names_in(function.__code__) if name in known]
        given = self._tell(function.__defaults__), self._tell(function.__kwdefaults__)
        return "function", self._tell(function.__code__), given, cells, called

    def _of_class(self, kind: type) -> Any:
        if _is_packages(kind):
            return "named", kind.__qualname__
        members = [(name, self._tell(one)) for name, one in sorted(vars(kind).items()) if _says_something(name, one)]
        return "class", kind.__qualname__, members, [self._tell(base) for base in kind.__bases__]

    def _of_object(self, value: Any) -> Any:
        kinds = {kind.__name__ for kind in type(value).__mro__}
        if not kinds.isdisjoint(_BY_NAME):
            name = getattr(value, "name", "")
            return "named", type(value).__name__, name if isinstance(name, str) else ""
        if isinstance(value, Routine):
            with contextlib.suppress(NotHashable):
                return "routine", fingerprint(value.python)
            return self._tell(value.python)
        inner = getattr(value, "py_func", None)  # what Numba has compiled
        if isinstance(inner, FunctionType):
            return "compiled", self._tell(inner)
        slots = [name for kind in type(value).__mro__ for name in _slots(kind) if hasattr(value, name)]
        if hasattr(value, "__dict__") or slots:
            more = {**{name: getattr(value, name) for name in slots}, **getattr(value, "__dict__", {})}
            return "object", self._tell(type(value)), [(name, self._tell(one)) for name, one in sorted(more.items())]
        try:
            return "pickled", pickle.dumps(value, protocol=4).hex()
        except Exception:  # objects that cannot be pickled, such as a lock or an open file
            self._unknown = True
            return UNKNOWN


def _is_packages(value: Any) -> bool:
    """True if a function or class is of an installed package, and so known by its name."""
    module = str(getattr(value, "__module__", "") or "").partition(".")[0]
    return module in ("builtins", "mobod", "numpy", "scipy", "numba", "abc", "functools", "math", "typing", "dataclasses")


def _says_something(name: str, member: Any) -> bool:
    """True if a class's member is of its author's making."""
    return name not in ("__dict__", "__weakref__", "__doc__", "__module__", "__firstlineno__", "__static_attributes__") and (
        not name.startswith("_abc_") and name not in ("__abstractmethods__", "__annotations__", "__slots__", "__parameters__")
    )


def _names_in(code: CodeType) -> list[str]:
    """Names of globals that a function's code, and that of functions in it, may use."""
    inner = [name for one in code.co_consts if isinstance(one, CodeType) for name in _names_in(one)]
    return sorted({*code.co_names, *inner})


def _slots(kind: type) -> tuple[str, ...]:
    slots = vars(kind).get("__slots__", ())
    slots = (slots,) if isinstance(slots, str) else tuple(slots)
    return tuple(name for name in slots if name not in ("__dict__", "__weakref__"))


def _kind(part: Any) -> str:
    # not its module: the same file may be run as a script, and imported
    return "" if part is None else type(part).__qualname__


def _array(values: Any) -> tuple[str, str]:
    array = np.ascontiguousarray(values)
    return str(array.shape), hashlib.sha256(array.tobytes()).hexdigest()


def _hash(values: Any) -> str:
    return hashlib.sha256(repr(values).encode()).hexdigest()[:16]
