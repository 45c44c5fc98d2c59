"""Measure: what every measure shares.

A new kind is a file beside this one. It provides

1. a class derived from `Measure`, whose constructor gives the shape of the value;
2. `_operands`, the measures that its value is computed from at the same state;
3. `_calc(state, deriv_order)` with `_count_derivatives` and `_depends_on`;
4. where it keeps something in states, `_allocate`; where it computes something at a stage or remembers something of each step,
   `_takes_part`, `_has_begun`, `_begin`, and `_update` or `_remember` too;
5. the export in ``__init__.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import ModelError, StageError, TopologyError
from ..function.base import UNLIMITED
from ..stage import Stage

if TYPE_CHECKING:
    from ..state import State
    from ..subsystem import Subsystem

Array = npt.NDArray[np.float64]
#: A number, or a vector ``(n,)``.
Value = float | Array
Shape = tuple[int, ...]


class Measure:
    """A quantity of a system, with its time derivatives where it has any. Base class of every kind in `mobod.measure`.

    A measure is part of a subsystem, and its value, a number or a vector ``(n,)``, is found by asking it about a state. Sums,
    differences and multiples of measures are measures: ``a + b``, ``a - 1.0``, ``2.0 * a``, ``-a``.

    Parameters
    ----------
    subsystem : Subsystem, optional
        What it joins; without one, `Subsystem.adopt_measure` may take it later. Adding a measure changes the topology.
    name : str, optional
        For messages and for columns of a table; one is made where none is given.

    Notes
    -----
    Most measures are functions of the state and cost nothing until they are asked. Those that remember (`Integrate`,
    `Differentiate` where it estimates, `Extreme`, `Delay`, `SampleAndHold`) keep what they remember in the state, and take part
    in each step of a run: compiled, where all that they look at is built in or compiled, and otherwise by Python, as a
    subsystem of a user's own does; see ``docs/measures.md``.
    """

    # so that NumPy leaves arithmetic of arrays and measures to the methods below
    __array_ufunc__ = None

    def __init__(
        self, subsystem: Subsystem | None, shape: Shape = (), *, default: npt.ArrayLike = 0.0, name: str | None = None
    ) -> None:
        if type(self) is Measure:
            raise TypeError("Measure is the base class; make one of the kinds in mobod.measure")
        self._shape = shape
        self._default = self._valued(
            np.broadcast_to(np.asarray(default), shape) if np.ndim(default) == 0 else default, "the value"
        )
        self._subsystem: Subsystem | None = None
        self._index = -1
        self._name = name
        if subsystem is not None:
            if not hasattr(subsystem, "adopt_measure"):
                raise TypeError(f"the first argument of a measure has to be a Subsystem, or None; not {subsystem!r}")
            subsystem.adopt_measure(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    @property
    def name(self) -> str:
        """Its name: the one it was given, or its kind and its index."""
        return self._name or f"{type(self).__name__.lower()}_{max(self._index, 0)}"

    def get_name(self) -> str:
        """Its name; the same as `name`."""
        return self.name

    @property
    def shape(self) -> Shape:
        """The shape of its value: ``()`` for a number, ``(n,)`` for a vector."""
        return self._shape

    # ------------------------------------------------------------------------------------------ its value

    def get_value(self, state: State, deriv_order: int = 0) -> Any:
        """The value, or one of its time derivatives.

        Parameters
        ----------
        state : State
            Realized to `get_depends_on_stage` of this order.
        deriv_order : int
            0 for the value, 1 for its first derivative with respect to time, ...

        Returns
        -------
        float or (n,) array
            The caller's own.

        Raises
        ------
        StageError
            If the state is below that stage.
        ValueError
            If there is no derivative of this order.
        TopologyError
            If the state is of another system, or older than its last change.
        """
        if deriv_order:
            self._check_order("get_value", deriv_order)
        subsystem = self._subsystem
        if subsystem is not None:
            system = subsystem._system
            if system is None or state._token is not system._topology_token:
                self._check_owner(state, "get_value")
        needed = self._depends_on(deriv_order)
        if state._stage < needed:
            self._refuse(state, "get_value" if not deriv_order else f"get_value of derivative {deriv_order}", needed)
        return self._calc(state, deriv_order)

    def get_num_time_derivatives(self) -> int:
        """How many time derivatives it has; 2147483647 stands for all."""
        return self._count_derivatives(frozenset())

    def get_depends_on_stage(self, deriv_order: int = 0) -> Stage:
        """The stage at which the value, or a derivative, can be had; `ValueError` where there is no such derivative."""
        self._check_order("get_depends_on_stage", deriv_order)
        return self._depends_on(deriv_order)

    def get_value_dependence(self) -> tuple[Measure, ...]:
        """The measures from whose values, at the same state, this one's is computed."""
        return tuple(self._operands())

    def set_default_value(self, default_value: npt.ArrayLike) -> None:
        """Change the value that it has in new states, before anything is computed; a topological change.

        Raises
        ------
        ValueError
            If it has not the measure's shape.
        """
        self._default = self._valued(default_value, "default_value")
        self._invalidate_topology()

    def get_default_value(self) -> Any:
        """The value that it has in new states, before anything is computed."""
        return self._given(self._default)

    # ------------------------------------------------------------------------------------------ where it belongs

    def is_same_measure(self, other: Measure) -> bool:
        """Whether *other* is this very measure."""
        return other is self

    def is_in_subsystem(self) -> bool:
        """Whether it is part of a subsystem."""
        return self._subsystem is not None

    def get_subsystem(self) -> Subsystem:
        """The subsystem that it is part of; `TopologyError` where there is none."""
        if self._subsystem is None:
            raise TopologyError(f"{self!r} is in no subsystem; call subsystem.adopt_measure(it), or name one when making it")
        return self._subsystem

    def is_same_subsystem(self, other: Subsystem) -> bool:
        """Whether it is part of *other*; `TopologyError` where it is part of none."""
        return self.get_subsystem() is other

    def get_subsystem_measure_index(self) -> int:
        """Its place among the measures of its subsystem; `TopologyError` where there is none."""
        self.get_subsystem()
        return self._index

    # ------------------------------------------------------------------------------------------ arithmetic

    def __add__(self, other: Any) -> Any:
        return self._combined("Plus", self, other)

    def __radd__(self, other: Any) -> Any:
        return self._combined("Plus", other, self)

    def __sub__(self, other: Any) -> Any:
        return self._combined("Minus", self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._combined("Minus", other, self)

    def __mul__(self, factor: Any) -> Any:
        return self._scaled(factor)

    def __rmul__(self, factor: Any) -> Any:
        return self._scaled(factor)

    def __truediv__(self, divisor: Any) -> Any:
        if _is_number(divisor) and divisor == 0.0:
            raise ZeroDivisionError(f"{self!r} cannot be divided by zero")
        return self._scaled(1.0 / divisor) if _is_number(divisor) else NotImplemented

    def __neg__(self) -> Any:
        return self._scaled(-1.0)

    def __pos__(self) -> Measure:
        return self

    def _combined(self, kind: str, left: Any, right: Any) -> Any:
        """A `Plus` or `Minus` in this measure's subsystem; a number or a vector becomes a `Constant` there."""
        from . import constant, minus, plus

        pair = []
        for one in (left, right):
            if not isinstance(one, Measure):
                try:
                    one = constant.Constant(self._subsystem, np.broadcast_to(np.asarray(one, np.float64), self._shape).copy())
                except (TypeError, ValueError):
                    return NotImplemented
            pair.append(one)
        return (plus.Plus if kind == "Plus" else minus.Minus)(self._subsystem, *pair)

    def _scaled(self, factor: Any) -> Any:
        from . import scale

        return scale.Scale(self._subsystem, factor, self) if _is_number(factor) else NotImplemented

    # ------------------------------------------------------------------------------------------ what a kind provides

    def _operands(self) -> tuple[Measure, ...]:
        """The measures whose values at the same state its own is computed from."""
        return ()

    def _sources(self) -> tuple[Measure, ...]:
        """The measures whose values it looks at to remember or to integrate them."""
        return ()

    def _calc(self, state: State, deriv_order: int) -> Any:
        """The value or a derivative, the caller's own; order and stage have been checked."""
        raise NotImplementedError

    def _count_derivatives(self, seen: frozenset[int]) -> int:
        """How many derivatives there are; *seen* are the measures that ask, where they depend on each other in a circle."""
        return 0

    def _depends_on(self, deriv_order: int) -> Stage:
        """The stage that a derivative needs."""
        return Stage.MODEL

    def _takes_part(self) -> bool:
        """Whether it computes or remembers something as a run goes on, so that `_update` and `_remember` have to be called."""
        return False

    def _allocates_by_hook(self) -> bool:
        """Whether a user's hook may allocate something when topology is realized: the system is Python's then."""
        return False

    def _allocate(self, state: State) -> None:
        """Allocate what it keeps in *state*, which is at EMPTY."""

    def _has_begun(self, state: State) -> bool:
        """Whether the state remembers something of a run, or there is nothing to remember."""
        return True

    def _begin(self, state: State) -> None:
        """Begin to remember, at the start of a run, where `_has_begun` says that the state does not yet."""

    def _update(self, state: State, stage: Stage) -> None:
        """Compute what has to be there at *stage*, which is from MODEL on."""

    def _remember(self, state: State) -> None:
        """A step ends at *state*: make the next values of its variables that update themselves."""

    # ------------------------------------------------------------------------------------------ for kinds

    def _check_sources(self, subsystem: Subsystem) -> None:
        """Refuse to join a subsystem where a measure that this one uses is of another system."""
        for source in (*self._operands(), *self._sources()):
            _check_operand(type(self).__name__, source, subsystem)

    def _need_subsystem(self) -> Subsystem:
        return self.get_subsystem()

    def _invalidate_topology(self) -> None:
        if self._subsystem is not None:
            self._subsystem.invalidate_subsystem_topology_cache()

    def _given(self, value: Any) -> Any:
        """A value as it is handed out."""
        return float(value) if self._shape == () else np.array(value, dtype=np.float64)

    def _valued(self, value: npt.ArrayLike, what: str) -> Array:
        """A copy of a value that somebody gives, of the right shape and finite."""
        try:
            array = np.array(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise TypeError(f"{what} of {self._title()} has to be {_words(self._shape)}, not {value!r}") from None
        if array.shape != self._shape:
            raise ValueError(f"{what} of {self._title()} has to be {_words(self._shape)}; got shape {array.shape}")
        if not np.isfinite(array).all():
            raise ModelError(f"{what} of {self._title()} has to be finite; got {value!r}")
        return array

    def _computed(self, value: Any, what: str) -> Array:
        """What a user's function returned, which has to have the right shape."""
        array = np.asarray(value, dtype=np.float64)
        if array.shape != self._shape:
            raise ModelError(f"{what} of {self._title()} has to return {_words(self._shape)}; got shape {array.shape}")
        return array

    def _title(self) -> str:
        """For messages, also while it is being made."""
        return repr(self) if hasattr(self, "_index") else f"a {type(self).__name__}"

    def _replaced(self, what: str, new: Measure) -> Measure:
        """Check an operand that replaces one."""
        _check_operand(type(self).__name__, new, self._subsystem)
        if new._shape != self._shape:
            raise ValueError(f"{what} of {self!r} has to be {_words(self._shape)}; {new!r} is {_words(new._shape)}")
        return new

    def _check_no_circle(self) -> None:
        """Refuse a measure whose value is computed from itself at the same state."""
        for found in _walk(self):
            if found is self:
                raise ValueError(
                    f"the value of {self!r} would be computed from itself; put a Delay or an Integrate between, which give "
                    "what they remember"
                )

    def _check_order(self, asked: str, deriv_order: int) -> None:
        count = self.get_num_time_derivatives()
        if not isinstance(deriv_order, (int, np.integer)) or isinstance(deriv_order, bool):
            raise TypeError(f"{asked}: deriv_order has to be an integer, not {deriv_order!r}")
        if not 0 <= deriv_order <= count:
            there = "no derivative" if count == 0 else f"derivatives up to order {count}"
            raise ValueError(f"{asked}: {self!r} has {there}; got deriv_order {deriv_order}")

    def _check_owner(self, state: State, asked: str) -> None:
        """`TopologyError` for a state of another system."""
        system = self.get_subsystem()._system
        if system is None:
            raise TopologyError(f"{asked}: {self!r} is in {self._subsystem!r}, which is in no system")
        state._check_owner(system, f"{asked} of {self.name!r}")

    def _refuse(self, state: State, asked: str, needed: Stage) -> None:
        raise StageError(
            f"{asked} of {self.name!r} needs Stage.{needed.name}; this state is at {Stage(state._stage).name}; "
            f"call system.realize(state, Stage.{needed.name})"
        )

    def _need_model(self, state: State, asked: str) -> None:
        """For what is set: a state of the system, at MODEL."""
        self._check_owner(state, asked)
        if state._stage < Stage.MODEL:
            state._refuse_model(f"{asked} of {self.name!r}")


def fewest(measures: tuple[Measure, ...], seen: frozenset[int]) -> int:
    """The smallest number of derivatives of any; one that is asking already, in a circle, has as many as the others allow."""
    return min((UNLIMITED if id(one) in seen else one._count_derivatives(seen | {id(one)}) for one in measures), default=0)


def same_shape(kind: str, left: Any, right: Any) -> Shape:
    """The shape that two operands share."""
    for one in (left, right):
        check_measure(kind, one)
    if left._shape != right._shape:
        raise ValueError(
            f"the operands of a {kind} have to be of one size; {left!r} is {_words(left._shape)}, {right!r} is "
            f"{_words(right._shape)}"
        )
    shape: Shape = left._shape
    return shape


def check_measure(kind: str, operand: Any) -> Any:
    """Refuse what is no measure."""
    if not isinstance(operand, Measure):
        raise TypeError(
            f"an operand of a {kind} has to be a Measure, not {operand!r}; mobod.measure.Constant makes one of a value"
        )
    return operand


def check_shape(shape: Any, what: str) -> Shape:
    """() or (n,)."""
    found = tuple(shape) if isinstance(shape, (tuple, list)) else shape
    if not isinstance(found, tuple) or len(found) > 1 or not all(isinstance(n, (int, np.integer)) and n > 0 for n in found):
        raise ValueError(f"shape of {what} has to be () for a number or (n,) for a vector, got {shape!r}")
    return tuple(int(n) for n in found)


def _walk(measure: Measure) -> Iterator[Measure]:
    """The measures that a value is computed from, at any depth; each once."""
    seen: set[int] = set()
    waiting = list(measure._operands())
    while waiting:
        one = waiting.pop()
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            waiting += one._operands()


def _check_operand(kind: str, operand: Measure, subsystem: Subsystem | None) -> None:
    """An operand has to be a measure of the same system, or of none."""
    check_measure(kind, operand)
    theirs = operand._subsystem
    if theirs is None or subsystem is None or theirs is subsystem:
        return
    if theirs._system is None or theirs._system is not subsystem._system:
        raise TopologyError(
            f"{operand!r} is part of {theirs!r}, which is not in the same system as {subsystem!r}; a {kind} takes operands of "
            "its own system only"
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _words(shape: Shape) -> str:
    return "a number" if shape == () else f"a vector of {shape[0]}"
