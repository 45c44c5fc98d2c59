"""Settings: numbers of a model that a state can have of its own, by name, and how the record's parameters change with them.

Those of a frame are displacements, three turns about its own axes and a translation in the body that it is fixed to; those of a
rotation are the turns alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..errors import ModelError
from ..force.base import Force
from ..mobilizer.base import MobilizedBody
from ..motion.base import Motion
from ..state import of_each as _each
from ..state.parameters import Parameter, Parametrized
from ..value import Rotation, Transform, checks
from ..value.checks import suggest
from . import differences
from .jvp import Seed

if TYPE_CHECKING:
    from ..state.state import State

#: Of a body: its inertial parameters, and its mobilizer's frames as displacements, (rotation about its axes; translation).
_OF_MASS = {"mass": 1, "com": 3, "inertia": 6}
_UNITS = {"mass": "mass", "com": "length", "inertia": "mass*length^2"}
_FRAMES = {"inboard_frame": ("R_PF", "p_PF"), "outboard_frame": ("R_BM", "p_BM")}


def _rows_of_each(setting: Setting, template: State, values: Any, present: Any) -> _each.Rows | None:
    """The numbers of a setting that has a place of its own, a row a state."""
    if setting.place is None:
        return None
    field, rows = setting.place(template)
    numbers = np.array(values, np.float64).reshape(len(values), rows.stop - rows.start, -1)
    return _each.Rows([(field, rows, numbers)], typical=values[0])


@dataclasses.dataclass(eq=False)
class Setting:
    """One number, or several, of a model.

    Attributes
    ----------
    name : str
        ``element.parameter``.
    read, move : callable
        ``read(state)``: its numbers in a state; ``move(state, i, h)`` makes number i larger.
    size : int
    of_seeds : callable, or None
        ``of_seeds(state)``: how fields of the record change with each number. Unless given, those of *place*.
    inertial : tuple of int and str, or None
        The body's number, and which of its inertial parameters it is, or ``"rotor_inertia"``.
    place : callable, or None
        ``place(state)``: the field and its rows that have these numbers and nothing else.
    is_of_motion : bool
        Whether it is a prescribed motion's, with which q and u change.
    adds : bool
        Whether its numbers are what they were plus all changes. Displacements of frames turn by one after the other, and
        directions are made of length 1 after each: derivatives by changes are those by *seeds* where there are none yet.
    is_plain : bool
        Whether its seeds are the same in all states.
    setter : callable, or None
        The setter, where it takes one number.
    given_names : tuple of str
        Names of its numbers behind the element's, where users gave some.
    unit : str
        Its unit in words, as declared parameters have it.
    element : object
        What it is of, if that has declared parameters.
    """

    name: str
    read: Callable[[State], Any]
    move: Callable[[State, int, float], None]
    size: int
    of_seeds: Callable[[State], list[list[Seed]]] | None = None
    inertial: tuple[int, str] | None = None
    place: Callable[[State], tuple[str, slice]] | None = None
    is_of_motion: bool = False
    adds: bool = True
    is_plain: bool = True
    setter: Callable[..., object] | None = None
    given_names: tuple[str, ...] = ()
    unit: str = ""
    element: Any = None

    @property
    def names(self) -> list[str]:
        """One a number."""
        if self.given_names:
            element = self.name.rpartition(".")[0]
            return [f"{element}.{name}" for name in self.given_names]
        return [self.name] if self.size == 1 else [f"{self.name}[{i}]" for i in range(self.size)]

    def values(self, state: State) -> Array:
        """Its numbers ``(size,)`` in a state; those of frames are displacements from where they are, zeros."""
        return np.array(self.read(state), np.float64).reshape(-1)

    def step(self, state: State, i: int) -> float:
        """A step for differences of number i."""
        return 1e-3 * max(1e-3, abs(float(np.ravel(self.read(state))[i])) or 1.0)

    def moved(self, state: State, i: int, h: float) -> State:
        """A copy of the state with number i larger by h; it falls as its setter says."""
        other = state.copy()
        self.move(other, i, h)
        return other

    def of_each(self, values: Array) -> tuple[Callable[..., object], Array]:
        """A setter, and what it takes of each state, for numbers ``(n, size)``."""
        return (self.put, values) if self.setter is None else (self.setter, values[:, 0])

    def seeds(self, state: State) -> list[list[Seed]]:
        """Changes of fields of the record with each number."""
        if self.of_seeds is not None:
            return self.of_seeds(state)
        assert self.place is not None
        field, rows = self.place(state)
        at, n = np.arange(self.size), self.size // (rows.stop - rows.start)
        return [[Seed(field, rows.start + at[[i]] // n, at[[i]] % n, np.ones(1))] for i in at]

    @_each.of_each(_rows_of_each)
    def put(self, state: State, values: Any) -> None:
        """Give all its numbers ``(size,)`` to a state; not displacements, which have no place of their own."""
        for i, change in enumerate(np.asarray(values, np.float64) - self.values(state)):
            self.move(state, i, float(change))


def find(system: Any, what: Any, elements: Mapping[str, Any] | None = None) -> Setting:
    """A setting by ``"element.parameter"``, or by a setter such as ``spring.set_stiffness``, of *elements* by name.

    Raises
    ------
    ValueError
        If there is no such element or parameter.
    TypeError
        If *what* is neither a name nor a setter of a declared parameter.
    """
    if isinstance(what, Setting):
        return what
    if isinstance(what, str):
        element_name, _, parameter = what.rpartition(".")
        elements = _elements(system) if elements is None else elements
        if not element_name:
            raise ValueError(f"a setting is 'element.parameter', such as 'spring.stiffness', not {what!r}")
        if element_name not in elements:
            raise ValueError(f"no element {element_name!r} for {what!r}; {suggest(element_name, list(elements))}")
        return _of(elements[element_name], parameter)
    element, name = getattr(what, "__self__", None), getattr(what, "__name__", "")
    if element is None or not name.startswith("set_"):
        raise TypeError(f"a setting is 'element.parameter', or a setter such as spring.set_stiffness, not {what!r}")
    return _of(element, {"body_mass_properties": "mass"}.get(name[4:], name[4:]))


def find_each(system: Any, parameters: Any) -> list[Setting]:
    """Those of a list."""
    if isinstance(parameters, str) or not isinstance(parameters, Iterable):
        such_as = parameters if isinstance(parameters, str) else "spring.stiffness"
        raise TypeError(f"parameters has to be a list, such as [{such_as!r}], not {parameters!r}")
    elements = _elements(system)
    return [find(system, what, elements) for what in parameters]


def _elements(system: Any) -> dict[str, Any]:
    matter = system.get_matter_subsystem()
    constraints = {one.name: one for one in matter.constraints}
    bodies = {body.name: body for body in matter.body_list[1:]}
    motions = {f"{name}.motion": body.driver for name, body in bodies.items() if body.driver is not None}
    return constraints | bodies | motions | {force.name: force for force in system.all_forces()}


def _of(element: Any, name: str) -> Setting:
    if isinstance(element, Motion):
        return _of_motion(element, name)
    title = f"{element.name}.{name}"
    declared = element.PARAMETERS if isinstance(element, Parametrized) else {}
    if name in declared:
        return _of_parameter(element, declared[name], title)
    is_body = isinstance(element, MobilizedBody)
    if is_body and name in _OF_MASS:
        b = element.index
        return _of_field(element, name, title, lambda state: slice(b, b + 1), _OF_MASS[name])
    if is_body and name in _FRAMES:
        return _of_frame(element, *_FRAMES[name], title)
    if is_body and name == "rotor_inertia":
        return _of_field(element, name, title, element.u_slice, element.facts.num_u)
    runs = _runs(element)
    given = getattr(element, "parameter_names", ())
    if name in given:
        return _of_run(element, "parameters", runs["parameters"][0] + given.index(name), 1, title)
    if runs.get(name, (0, 0))[1]:
        found = _of_run(element, name, *runs[name], title)
        found.given_names = given if name == "parameters" and len(given) == found.size else ()
        return found
    known = [*given, *declared, *runs, *((*_OF_MASS, *_FRAMES, "rotor_inertia") if is_body else ())]
    raise ValueError(f"{element.name!r} has no parameter {name!r}; it has {', '.join(known) or 'none'}")


def _of_parameter(element: Any, parameter: Any, title: str) -> Setting:
    get, set_ = getattr(element, f"get_{parameter.name}"), getattr(element, f"set_{parameter.name}")
    displaced = _DISPLACED.get(parameter.shape)
    size = int(np.prod(parameter.shape, dtype=int)) if displaced is None else displaced

    def values(state: State) -> Any:
        return get(state) if displaced is None else np.zeros(size)

    def move(state: State, i: int, h: float) -> None:
        if displaced is not None:
            set_(state, _displaced(get(state), i, h))
            return
        moved = np.array(get(state), np.float64)
        moved.reshape(-1)[i] += h
        set_(state, float(moved) if not parameter.shape else moved)

    def seeds(state: State) -> list[list[Seed]]:
        field, first, n = element.number_place(state, f"set_{parameter.name}")
        numbers = np.array(element.number_run(state, f"get_{parameter.name}"))
        rates = _of_displacements(parameter, numbers) if displaced is not None else _of_values(element, parameter, numbers)
        rows, columns = np.arange(first, first + n), np.zeros(n, np.int64)
        return [[Seed(field, rows[has], columns[has], rate[has])] for rate in rates for has in [np.flatnonzero(rate)]]

    return Setting(
        *(title, values, move, size, seeds),
        adds=displaced is None and not _is_direction(parameter),
        is_plain=displaced is None and _is_plain(element, parameter),
        setter=None if parameter.shape or displaced is not None else set_,
        unit=parameter.unit,
        element=element,
    )


def _runs(element: Any) -> Mapping[str, tuple[int, int]]:
    """Numbers of an element that are no declared parameters, by name: the first, and how many."""
    if isinstance(element, Force):
        return element.number_runs()
    if hasattr(element, "get_default_parameters"):  # a constraint or a mobilizer made of a user's functions
        return {"parameters": (0, int(np.size(element.get_default_parameters())))}
    return {}


def _of_numbers(
    title: str, run: Callable[[State, bool], Any], place_of: Callable[[State], tuple[str, int, int]], first: int, size: int
) -> Setting:
    """Of numbers that follow each other, such as a user's functions' parameters, or the efforts of motors.

    ``run(state, own)`` has them and their neighbours, to be read or as the state's own, *place_of* the field and their first.
    """

    def move(state: State, i: int, h: float) -> None:
        run(state, True)[first + i] += h

    def place(state: State) -> tuple[str, slice]:
        field, start, _ = place_of(state)
        return field, slice(start + first, start + first + size)

    return Setting(title, lambda state: run(state, False)[first : first + size], move, size, place=place)


def _of_run(element: Any, name: str, first: int, size: int, title: str) -> Setting:
    """Of an element."""

    def run(state: State, own: bool) -> Any:
        return element.number_run(state, f"{'set' if own else 'get'}_{name}", own)

    return _of_numbers(title, run, lambda state: element.number_place(state, f"set_{name}"), first, size)


def _of_motion(motion: Any, name: str) -> Setting:
    """Of a prescribed motion, such as its amplitude."""
    of_body, names, n = f"{motion.mobod.name}.motion", motion.names_of_numbers, len(motion.pack_numbers())
    name = {"rate": "rates", "one_rate": "rates"}.get(name, name) if names == ("rates",) else name
    given: tuple[str, ...] = getattr(motion, "parameter_names", ())
    if (name not in names and name not in given) or not n:
        raise ValueError(f"{of_body!r} has no parameter {name!r}; it has {', '.join((*given, *names)) or 'none'}")
    first, size = (given.index(name), 1) if name in given else (0, n) if len(names) == 1 else (names.index(name), 1)
    title, setter = f"{of_body}.{name}", f"set_{name}"

    def run(state: State, own: bool) -> Any:
        return motion.number_run(state, setter, own)

    found = _of_numbers(title, run, lambda state: motion.number_place(state, setter), first, size)
    found.is_of_motion, found.given_names = True, given if name == "parameters" else ()
    return found


#: Numbers of a frame, and of a rotation, by the shape of the parameter.
_DISPLACED: dict[tuple[int, ...], int] = {(4, 4): 6, (3, 3): 3}


def _displaced(value: Any, i: int, h: float) -> Any:
    """A frame or a rotation, displaced by number i."""
    if i >= 3:
        return Transform(value.R, np.asarray(value.p) + h * np.eye(3)[i - 3])
    turn = Rotation.about_axis(h, np.eye(3)[i])
    return Transform(value.R @ turn, value.p) if isinstance(value, Transform) else value @ turn


def _turned(R: Array, i: int) -> Array:
    """The rate of a rotation ``(3, 3)`` that turns about its own axis i."""
    j, k = (i + 1) % 3, (i + 2) % 3
    rate = np.zeros((3, 3))
    rate[:, j], rate[:, k] = R[:, k], -R[:, j]
    return rate


def _of_displacements(parameter: Parameter[Any, Any], numbers: Array) -> Array:
    """Derivatives of an element's numbers by displacements of a frame, or a rotation, a row a displacement."""
    places = np.array(parameter.places or range(parameter.first, parameter.end))
    R = numbers[places[:9]].reshape(3, 3)
    rates = np.zeros((_DISPLACED[parameter.shape], len(numbers)))
    for i in range(3):
        rates[i, places[:9]] = _turned(R, i).ravel()
    if len(rates) == 6:
        rates[[3, 4, 5], places[9:]] = 1.0
    return rates


def _is_direction(parameter: Parameter[Any, Any]) -> bool:
    return getattr(parameter.check, "__wrapped__", None) is checks.unit


def _is_plain(element: Any, parameter: Parameter[Any, Any]) -> bool:
    """True if a parameter is written as it is, and no other number follows from it."""
    is_stored = parameter.size == int(np.prod(parameter.shape, dtype=int))
    return is_stored and parameter.is_alone_in(element) and not _is_direction(parameter) and "put" not in vars(parameter)


def _of_values(element: Any, parameter: Parameter[Any, Any], numbers: Array) -> Array:
    """Derivatives of an element's numbers by each of a parameter's, a row each.

    Where setters normalize, or compute others from them, differences of that little function do, at about 1e-13.
    """
    places = np.array(parameter.places or range(parameter.first, parameter.end))
    value = np.array(parameter.take(numbers), np.float64)
    rates = np.zeros((value.size, len(numbers)))
    is_stored = parameter.size == value.size
    if is_stored:
        rates[np.arange(value.size), places] = 1.0
    if _is_plain(element, parameter):
        return rates
    step = 1e-3 * max(1e-3, float(np.linalg.norm(value)))

    def at(i: int, h: float) -> Array:
        changed, moved = numbers.tolist(), value.copy()
        moved.reshape(-1)[i] += h
        parameter.put(changed, parameter.check(parameter.name, float(moved) if not parameter.shape else moved))
        if element.settle is not None:
            element.settle(element.name, changed)
        return np.array(changed)

    for i in range(value.size):
        try:
            with np.errstate(invalid="ignore"):  # bounds may be infinite
                found = differences.along(lambda h, i=i: at(i, h), step)  # type: ignore[misc]
        except (ModelError, ValueError):  # at the end of what is allowed, where nothing is computed from it
            continue
        rates[i] = np.where(np.isfinite(found), found, rates[i])
    return rates


def _of_field(body: Any, field: str, title: str, rows: Callable[[State], slice], size: int) -> Setting:
    def values(state: State) -> Any:
        return state.field(field)[rows(state)]

    def move(state: State, i: int, h: float) -> None:
        state.own_field(field)[rows(state)].reshape(-1)[i] += h
        if field == "rotor_inertia":
            state.leave_out("rotorless", body.index, False)
            state.settle_motion(body)
        else:  # rows of massless bodies are passed over, whatever their inertia
            state.leave_out("massless", body.index, False)

    place, unit = lambda state: (field, rows(state)), _UNITS.get(field, "")
    return Setting(title, values, move, size, inertial=(body.index, field), place=place, unit=unit)


def _of_frame(body: Any, rotation: str, translation: str, title: str) -> Setting:
    b = body.index

    def values(state: State) -> Any:
        return np.zeros(6)

    def move(state: State, i: int, h: float) -> None:
        if i < 3:
            R = state.own_field(rotation)[b].reshape(3, 3)
            c, s, (j, k) = np.cos(h), np.sin(h), ((i + 1) % 3, (i + 2) % 3)
            x, y = R[:, j].copy(), R[:, k].copy()
            R[:, j], R[:, k] = c * x + s * y, c * y - s * x
        else:
            state.own_field(translation)[b, i - 3] += h
        if rotation == "R_BM":
            state.leave_out("plain_outboard", b, False)

    def seeds(state: State) -> list[list[Seed]]:
        R, nine, here = state.field(rotation)[b].reshape(3, 3), np.arange(9), np.full(9, b)
        turns = [[Seed(rotation, here, nine, _turned(R, i).ravel())] for i in range(3)]
        return turns + [[Seed(translation, np.array([b]), np.array([i]), np.ones(1))] for i in range(3)]

    return Setting(title, values, move, 6, seeds, adds=False, is_plain=False)


def names_of(settings: Sequence[Setting]) -> list[str]:
    """All their names."""
    return [name for setting in settings for name in setting.names]


def seeds_of(settings: Sequence[Setting], state: State) -> list[list[Seed]]:
    """Changes of fields of the record with each of their numbers, for `jvp.jvp`."""
    return [seeds for setting in settings for seeds in setting.seeds(state)]
