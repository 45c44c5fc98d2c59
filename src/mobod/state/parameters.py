"""Parameters: numbers of an element that users can change, each declared once.

A kind declares them in its class body, in the order in which its kernels read its numbers,

    get_default_stiffness, set_default_stiffness, get_stiffness, set_stiffness = scalar(
        "stiffness", "force/length", not_negative, "the stiffness"
    ).accessors()

and gets the four methods, with types and docstrings; its constructor passes its arguments to `Parametrized.declared`, which
checks them as the setters do. ``PARAMETERS`` of a class lists the declared and inherited ones, for `Ensemble.set_each` and
for tables of parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import unwrap
from types import FunctionType, MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..algebra.object_access import put as _put
from ..value import Rotation, Transform, checks, frames, rows
from ..value.attributes import Sealed
from ..value.stage import MODEL, Stage
from .state import State

V = TypeVar("V")
G = TypeVar("G")
E = TypeVar("E")


#: What a made method's qualified name begins with until its class is there.
_NO_CLASS = "<declared>."


class Numbered(Sealed):
    """A part with a run of numbers in one of the tree's fields, of which a state can have its own."""

    INNER = frozenset("number_place number_run placed put_in".split())

    #: Where they are in states of this token: the tree's field and the first row.
    placed: tuple[object, str, int] = (object(), "", 0)

    if TYPE_CHECKING:

        def number_place(self, state: State, asked: str) -> tuple[str, int, int]:
            """The tree's field that has its numbers, the first row and their count; refuses a state of another system."""

    def number_run(self, state: State, asked: str, change: bool = False) -> Array:
        """Its numbers as they are in the state, a view; to *change* them takes the state to MODEL at most."""
        field, first, n = self.number_place(state, asked)
        self.placed = state.token, field, first
        whole = state.own_field(field) if change else state.field(field)
        return whole[first : first + n, 0]

    def put_in(self, state: State, values: Any, at: int, shape: Any) -> bool:
        """Set its numbers from number *at* on, as `State.put_own` does; the state falls to MODEL."""
        token, field, first = self.placed
        if not state.put_own(token, field, values, first + at, shape):
            return False
        state.invalidate_instance()
        return True


class Parametrized(Numbered):
    """An element with numbers that users can change, in its default and in each state.

    A kind sets `default_numbers` in its constructor. Its family provides `number_place`, `defaults_changed` and a name.
    """

    INNER = frozenset("declared default_numbers defaults_changed settle".split())

    #: What it declares, by name.
    PARAMETERS: ClassVar[Mapping[str, Parameter[Any, Any]]] = MappingProxyType({})
    #: Computes dependent numbers, or refuses a combination: called with a name for messages and all numbers of the element.
    #: Each number may be an array, of one a state: then any error says that the states have to be looked at one by one.
    settle: ClassVar[Any] = None
    #: The numbers that kernels read in a default state.
    default_numbers: list[float]

    if TYPE_CHECKING:

        @property
        def name(self) -> str:
            """Its name."""

        def defaults_changed(self) -> None:
            """Change the topology."""

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        found = dict(cls.PARAMETERS)
        for method in vars(cls).values():
            if not isinstance(method, FunctionType) or not method.__qualname__.startswith(_NO_CLASS):
                continue
            method.__module__, method.__qualname__ = cls.__module__, f"{cls.__qualname__}.{method.__name__}"
            parameter = vars(method).get("parameter")
            if parameter is not None and found.get(parameter.name) is not parameter:
                if parameter.first < 0 and not parameter.places:
                    parameter.first = max((one.end for one in found.values()), default=0)
                found[parameter.name] = parameter
        cls.PARAMETERS = MappingProxyType(found)

    @classmethod
    def declared(cls, name: str | None, /, **given: Any) -> list[float]:
        """The numbers of a constructor's arguments, checked; zero for parameters that were not given."""
        whose = f"{'an' if cls.__name__[0] in 'AEIO' else 'a'} {cls.__name__}" if name is None else repr(name)
        by_argument = {parameter.given_as: parameter for parameter in cls.PARAMETERS.values()}
        numbers = [0.0] * max(parameter.end for parameter in by_argument.values())
        for argument, value in given.items():
            parameter = by_argument[argument]
            parameter.put(numbers, parameter.check(f"{argument} of {whose}", value))
        if cls.settle is not None:
            cls.settle(whose, numbers)
        return numbers


class Parameter(Generic[V, G]):
    """One number, or several, of an element that can be changed; V is what getters return, G what setters take.

    Attributes
    ----------
    name : str
        As in ``get_name``.
    unit : str
        Of length, mass, time, angle, force and so on; empty where it has none.
    shape : tuple of int
        Of what setters take: ``()``, ``(3,)``, ``(4, 4)`` of a frame.
    invalidates : Stage
        The first stage that a change in a state invalidates.
    first, size : int
        Its place among the element's numbers.
    """

    def __init__(
        self,
        name: str,
        unit: str,
        check: Callable[[str, Any], Any],
        doc: str,
        shape: tuple[int, ...],
        size: int,
        read: Callable[[Any], V],
        types: tuple[str, str],
        *,
        argument: str | None = None,
        given_as: str | None = None,
        accepts: str | None = None,
        invalidates: Stage = Stage.INSTANCE,
        first: int = -1,
        places: Sequence[int] = (),
        put: Callable[[Any, Any], None] | None = None,
        put_plain: Any = None,
    ) -> None:
        self.name, self.unit, self.doc, self.shape, self.size = name, unit, doc, shape, size
        self.check, self.read, self.invalidates = check, read, invalidates
        #: What setters call it, and constructors.
        self.argument = name if argument is None else argument
        self.given_as = self.argument if given_as is None else given_as
        self.first, self.places = first, places
        #: Of such a vector, a kernel like `object_access.put` that does what *put* does, and the element's `settle`, which it
        #: does, too.
        self.put_plain = put_plain
        if put is not None:
            self.__dict__["put"] = put
        said = (accepts or check.__doc__ or "").partition("\n")[0].rstrip(".")
        self.accepts, self._types = said[:1].lower() + said[1:], types

    def __repr__(self) -> str:
        return f"<Parameter {self.name!r}, {self.unit or 'no unit'}, shape {self.shape}>"

    @property
    def end(self) -> int:
        """The place after its last number."""
        return self.first + self.size if not self.places else max(self.places) + 1

    @property
    def in_a_run(self) -> bool:
        """True if its numbers are written as they are checked, one after the other."""
        return not self.places and "put" not in self.__dict__

    def is_alone_in(self, element: Any) -> bool:
        """True if no other number of the element follows from it: nothing does, or it is one that forces alone depend on."""
        return element.settle is None or self.invalidates != Stage.INSTANCE

    def put(self, numbers: Any, checked: Any) -> None:
        """Write what its check has returned among an element's numbers."""
        first = self.first
        if self.size == 1:
            numbers[first] = checked
        elif not self.places:
            numbers[first : first + self.size] = checked
        else:
            for place, x in zip(self.places, checked, strict=True):
                numbers[place] = x

    def take(self, numbers: Any) -> V:
        """Its value among an element's numbers."""
        first = self.first
        if self.size == 1:
            return self.read(numbers[first])
        return self.read([numbers[i] for i in self.places] if self.places else numbers[first : first + self.size])

    def refuse(self, element: Any, value: Any) -> Any:
        """Repeat a failed check with a message that names the element, whose text is made only then."""
        try:
            return self.check(f"{self.argument} of {element.name!r}", value)
        except (TypeError, ValueError) as error:
            raise error from None

    def accessors(
        self,
    ) -> tuple[Callable[[Any], V], Callable[[E, G], E], Callable[[Any, State], V], Callable[[Any, State, G], None]]:
        """``get_default_x(), set_default_x(value), get_x(state), set_x(state, value)`` for the body of a class."""
        name, argument, asked_get, asked_set = self.name, self.argument, f"get_{self.name}", f"set_{self.name}"
        check, refuse, take, put = self.check, self.refuse, self.take, self.put

        def get_default(self: Any) -> Any:
            return take(self.default_numbers)

        def set_default(self: Any, value: Any) -> Any:
            try:
                found = check(argument, value)
            except (TypeError, ValueError):
                found = refuse(self, value)
            numbers = list(self.default_numbers)
            put(numbers, found)
            if self.settle is not None:
                self.settle(repr(self.name), numbers)
            self.default_numbers[:] = numbers
            self.defaults_changed()
            return self

        def get(self: Any, state: State) -> Any:
            return take(self.number_run(state, asked_get))

        what, unit = f"{self.doc[:1].upper()}{self.doc[1:]}", f"; {self.unit}" if self.unit else ""
        returned, taken = self._types
        says = taken.replace("npt.ArrayLike", f"{self.shape} array_like").replace(" | ", " or ")
        takes = f"{argument} : {says}\n    {self.accepts[:1].upper()}{self.accepts[1:]}{unit}.\n"
        made: Any = (
            named(get_default, f"get_default_{name}", "", {"return": returned}, f"{what}{unit}. In a default state."),
            named(
                set_default,
                f"set_default_{name}",
                argument,
                {argument: taken, "return": "Self"},
                f"Change {self.doc}, in a default state: a topological change, after which "
                f"`MultibodySystem.realize_topology` makes new states.\n\nParameters\n----------\n{takes}\n"
                f"Returns\n-------\nSelf\n    The element, to go on with.\n\n{self._raises()}",
            ),
            named(get, asked_get, "", {"state": "State", "return": returned}, f"{what}{unit}. In this state; needs MODEL."),
            named(
                self._setter_in_states(asked_set),
                asked_set,
                argument,
                {"state": "State", argument: taken, "return": "None"},
                f"Change {self.doc}, in this state alone, which falls to {Stage(self.invalidates - 1).name} at most.\n\n"
                f"Parameters\n----------\nstate : State\n{takes}\n{self._raises()}{_OF_STATES}",
            ),
        )
        for method in made:
            method.__dict__["parameter"] = self
        return made

    def _setter_in_states(self, asked: str) -> Any:
        """``set_x(state, value)``, which messages call *asked*."""
        argument, check, refuse, put, shape = self.argument, self.check, self.refuse, self.put, self.shape
        parameter, (kernel, settled) = self, self.put_plain or (_put, None)
        of_instance = self.invalidates == Stage.INSTANCE
        # what needs no look is not looked at
        by_rows = rows.IN_ROWS.get(unwrap(check)) if self.in_a_run or self.put_plain else None
        least = rows.LEAST.get(by_rows, np.nan)

        def set_instance(self: Any, state: State, value: Any) -> None:
            token, field, at = self.placed  # what `put_in` does, whose call would take a sixth of the time
            if token is state.token is state.system.topology_token and state.stage_number >= MODEL and self.settle is settled:
                own = state.own_fields.get(field)
                if own is not None and (kernel.code or kernel.load())(value, own, at + parameter.first, shape, least):
                    if state.force_cache or state.resources is not None:
                        state.invalidate_instance()
                    else:
                        state.valid, state.instance_token, state.stage_number = 0, object(), MODEL
                    return
            set_(self, state, value)

        def set_discrete(self: Any, state: State, value: Any) -> None:
            token, _, at = self.placed
            if not (state.token is token and state.put_numbers(value, at + parameter.first, shape, least)):
                set_(self, state, value)

        def set_(self: Any, state: State, value: Any) -> None:
            try:
                found: Any = check(argument, value)
            except (TypeError, ValueError):
                found = refuse(self, value)
            if not of_instance:
                put(self.discrete_run(state, asked), found)
            elif self.settle is None:
                put(self.number_run(state, asked, True), found)
            else:
                numbers = self.number_run(state, asked).tolist()
                put(numbers, found)
                self.settle(repr(self.name), numbers)
                _, field, at = self.placed
                state.own_field(field)[at : at + len(numbers), 0] = numbers

        return set_instance if of_instance else set_discrete

    def _raises(self) -> str:
        shape = "" if self.shape == () else "ValueError\n    If it has another shape.\n"
        return (
            f"Raises\n------\nTypeError\n    If it is not made of real numbers.\n{shape}"
            f"ModelError\n    If it is not {self.accepts}.\n"
        )


_OF_STATES = """StageError
    If the state is below MODEL.
TopologyError
    If the state is of another system, or older than its last change.
"""


def named(function: Any, name: str, argument: str, annotations: dict[str, str], doc: str) -> FunctionType:
    """*function* by a method's own name, with its argument's own name in place of ``value``."""
    method: FunctionType = function
    names = tuple(argument if one == "value" else one for one in method.__code__.co_varnames)
    method.__code__ = method.__code__.replace(co_name=name, co_qualname=name, co_varnames=names)
    method.__name__, method.__qualname__ = name, f"{_NO_CLASS}{name}"
    method.__annotations__, method.__doc__ = annotations, doc
    return method


def declared_by(method: Any) -> tuple[Any, Parameter[Any, Any]] | None:
    """The element and the parameter of which a bound method is the setter; None where it is none that was declared.

    Raises
    ------
    TypeError
        If it is another accessor of the parameter.
    """
    parameter = getattr(method, "parameter", None)
    if not isinstance(parameter, Parameter) or not hasattr(method, "__self__"):
        return None
    if method.__name__ != f"set_{parameter.name}":
        raise TypeError(f"{method.__name__} changes no state; give set_{parameter.name} of {method.__self__!r}")
    return method.__self__, parameter


# ---------------------------------------------------------------------------------------------- what kinds declare


def scalar(name: str, unit: str, check: Callable[[str, Any], float], doc: str, **settings: Any) -> Parameter[float, float]:
    """One number."""
    return Parameter(name, unit, check, doc, (), 1, float, ("float", "float"), **settings)


def vector(
    name: str, unit: str, doc: str, check: Callable[[str, Any], Any] = checks.vector, size: int = 3, **settings: Any
) -> Parameter[Array, npt.ArrayLike]:
    """A vector."""
    if check is checks.vector and size != 3:
        check = _of_size(size)
    return Parameter(name, unit, _listed(check), f"{doc} ``({size},)``", (size,), size, np.array, ARRAYS, **settings)


def _of_size(size: int) -> Callable[[str, Any], Array]:
    def check(what: str, value: Any) -> Array:
        return checks.array(what, value, (size,))

    check.__doc__, vars(check)["__wrapped__"] = f"Finite numbers, {size} of them.", checks.vector
    return check


def direction(name: str, doc: str, **settings: Any) -> Parameter[Array, npt.ArrayLike]:
    """A unit vector; what is given may be of any length but zero."""
    return vector(name, "", f"{doc}, of length 1", checks.unit, **settings)


def frame(name: str, doc: str, **settings: Any) -> Parameter[Transform, Transform | npt.ArrayLike]:
    """A frame: twelve numbers, its rotation row by row and its origin."""
    types = "Transform", "Transform | npt.ArrayLike"
    return Parameter(name, "length", _twelve, doc, (4, 4), 12, frames.from_twelve, types, **settings)


def rotation(name: str, doc: str, **settings: Any) -> Parameter[Rotation, Rotation | npt.ArrayLike]:
    """A rotation: nine numbers, row by row."""
    return Parameter(name, "", _nine, doc, (3, 3), 9, _of_nine, ("Rotation", "Rotation | npt.ArrayLike"), **settings)


#: How signatures write the types of an array's getter and setter.
ARRAYS = "npt.NDArray[np.float64]", "npt.ArrayLike"


def _listed(check: Callable[[str, Any], Any]) -> Callable[[str, Any], list[float]]:
    def listed(what: str, value: Any) -> list[float]:
        numbers: list[float] = check(what, value).tolist()
        return numbers

    listed.__doc__, vars(listed)["__wrapped__"] = check.__doc__, check
    return listed


def _twelve(what: str, value: Any) -> list[float]:
    return frames.twelve(frames.frame(what, value))


def _nine(what: str, value: Any) -> list[float]:
    return np.asarray(frames.rotation(what, value)).ravel().tolist()


_twelve.__doc__, _nine.__doc__ = frames.frame.__doc__, frames.rotation.__doc__
# `value.rows` has the array forms of these
vars(_twelve)["__wrapped__"], vars(_nine)["__wrapped__"] = frames.frame, frames.rotation


def _of_nine(numbers: Any) -> Rotation:
    return Rotation(np.reshape(numbers, (3, 3)))
