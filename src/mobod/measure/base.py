"""Measure: what every measure shares.

A new kind is a file beside this one. It provides

1. a class derived from `Measure`, whose constructor gives the shape of the value;
2. `operands`, the measures that its value is computed from at the same state;
3. `_calc(state, deriv_order)` with `count_derivatives` and `depends_on`;
4. for compiled steps `write_value`, which lists operations that find the value, see `program`, each a routine made by
   `routines.by_address`; where it integrates `write_step`, where it remembers `write_memory` and `memory_size` too;
5. where it keeps something in states, `allocate`; where it computes something at a stage or remembers something of each step,
   `takes_part`, `has_begun`, `begin`, and `update` or `remember` too;
6. the export in ``__init__.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..errors import ModelError, StageError, TopologyError
from ..function.base import UNLIMITED
from ..state.subsystem import Subsystem
from ..value import checks
from ..value.attributes import Sealed
from ..value.checks import numbers
from ..value.stage import Stage

if TYPE_CHECKING:
    from ..state.state import State
    from ..value.annotations import MultibodySystem
    from .program import Program

#: A number, or a vector ``(n,)``.
Shape = tuple[int, ...]
#: What a measure may be told to join.
Joined: TypeAlias = "Subsystem | MultibodySystem | None"


class NotCompiled(Exception):
    """A measure, the first argument where it is known, is of a kind, or asks for something, that only Python computes."""


class Measure(Sealed):
    """A quantity of a system, with its time derivatives where it has any. Base class of every kind in `mobod.measure`.

    A measure is part of a subsystem, and its value, a number or a vector ``(n,)``, is computed from a state. Sums,
    differences and multiples of measures are measures: ``a + b``, ``a - 1.0``, ``2.0 * a``, ``-a``.

    Parameters
    ----------
    subsystem : Subsystem or MultibodySystem, optional
        What it joins, of a system its matter; without one, `Subsystem.adopt_measure` may take it later. Adding a measure
        changes the topology.
    shape : () or (n,)
        Of its value: a number, or a vector.
    default : array_like
        Its value where nothing else says it: of a variable, or before the start of what remembers.
    name : str, optional
        For messages and for columns of a table; one is made where none is given.

    Notes
    -----
    Most measures are functions of the state and cost nothing until they are evaluated. Those that remember (`Integrate`,
    `Differentiate` where it estimates, `Extreme`, `Delay`, `SampleAndHold`) keep what they remember in the state, and take part
    in each step of a run: compiled, where all their operands are built in or compiled, and otherwise by Python, as a user's own
    subsystem does; see ``docs/how-to/measures.md``.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.measure.Coordinate(system.matter, system.matter.bodies["lower"])
    >>> state = system.realize_topology()
    >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    >>> system.realize(state)
    >>> float(part.get_value(state))
    0.4
    """

    INNER = frozenset(
        """
        allocate allocates_by_hook begin check_owner check_sources count_derivatives depends_on given_name has_begun index
        invalidate_topology memory_run memory_size num_z numbers_run operands refuse remember ring_shape subsystem takes_part
        title update write_memory write_step write_value
        """.split()
    )

    #: Where the record keeps what is remembered, in a system that is compiled; `MultibodySystem.realize_topology` says it.
    memory_run: slice | None = None
    #: Where it keeps, in `measure_numbers`, those of its numbers that a state may change.
    numbers_run: slice | None = None
    # so that NumPy leaves arithmetic of arrays and measures to the methods below
    __array_ufunc__ = None

    def __init__(self, subsystem: Joined, shape: Shape = (), *, default: npt.ArrayLike = 0.0, name: str | None = None) -> None:
        if type(self) is Measure:
            raise TypeError("Measure is the base class; make one of the kinds in mobod.measure")
        self._shape = shape
        self.default = self._valued(
            np.broadcast_to(np.asarray(default), shape) if np.ndim(default) == 0 else default, "the value"
        )
        self.subsystem: Subsystem | None = None
        self.index = -1
        self.given_name = None if name is None else checks.name("measure", name)
        if subsystem is not None:
            owner: Any = subsystem
            if not hasattr(owner, "adopt_measure") and hasattr(owner, "get_matter_subsystem"):
                owner = owner.get_matter_subsystem()
            if not hasattr(owner, "adopt_measure"):
                raise TypeError(f"the first argument of a measure has to be a Subsystem, a system, or None; not {subsystem!r}")
            owner.adopt_measure(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    @property
    def name(self) -> str:
        """Its name: the one it was given, or its kind and its index."""
        return self.given_name or f"{type(self).__name__.lower()}_{max(self.index, 0)}"

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
        subsystem = self.subsystem
        if subsystem is not None:
            system = subsystem.system
            if system is None or state.token is not system.topology_token:
                self.check_owner(state, "get_value")
        needed = self.depends_on(deriv_order)
        if state.stage_number < needed:
            self.refuse(state, "get_value" if not deriv_order else f"get_value of derivative {deriv_order}", needed)
        return self._calc(state, deriv_order)

    def get_num_time_derivatives(self) -> int:
        """Number of time derivatives that it has; 2147483647 stands for all."""
        return self.count_derivatives(frozenset())

    def get_depends_on_stage(self, deriv_order: int = 0) -> Stage:
        """The stage at which the value, or a derivative, can be had; `ValueError` where there is no such derivative."""
        self._check_order("get_depends_on_stage", deriv_order)
        return self.depends_on(deriv_order)

    def get_value_dependence(self) -> tuple[Measure, ...]:
        """The measures from whose values, at the same state, this one's is computed."""
        return tuple(self.operands())

    def set_default_value(self, default_value: npt.ArrayLike) -> None:
        """Change the value that it has in new states, before anything is computed; a topological change.

        Raises
        ------
        ValueError
            If it has not the measure's shape.
        """
        self.default = self._valued(default_value, "default_value")
        self.invalidate_topology()

    def get_default_value(self) -> Any:
        """The value that it has in new states, before anything is computed."""
        return self._given(self.default)

    # ------------------------------------------------------------------------------------------ where it belongs

    def is_same_measure(self, other: Measure) -> bool:
        """True if *other* is this very measure."""
        return checks.instance("other of is_same_measure", other, Measure, "mobod.measure.Time(...)") is self

    def is_in_subsystem(self) -> bool:
        """True if it is part of a subsystem."""
        return self.subsystem is not None

    def get_subsystem(self) -> Subsystem:
        """The subsystem that it is part of; `TopologyError` where there is none."""
        if self.subsystem is None:
            raise TopologyError(f"{self!r} is in no subsystem; call subsystem.adopt_measure(it), or name one when making it")
        return self.subsystem

    def is_same_subsystem(self, other: Subsystem) -> bool:
        """True if it is part of *other*; `TopologyError` where it is part of none."""
        return self.get_subsystem() is checks.instance("other of is_same_subsystem", other, Subsystem, "system.matter")

    def get_subsystem_measure_index(self) -> int:
        """Its place among the measures of its subsystem; `TopologyError` where there is none."""
        self.get_subsystem()
        return self.index

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
                    one = constant.Constant(self.subsystem, np.broadcast_to(np.asarray(one, np.float64), self._shape).copy())
                except (TypeError, ValueError):
                    return NotImplemented
            pair.append(one)
        return (plus.Plus if kind == "Plus" else minus.Minus)(self.subsystem, *pair)

    def _scaled(self, factor: Any) -> Any:
        from . import scale

        return scale.Scale(self.subsystem, factor, self) if _is_number(factor) else NotImplemented

    # ------------------------------------------------------------------------------------------ what a kind provides

    def operands(self) -> tuple[Measure, ...]:
        """The measures whose values at the same state its own is computed from."""
        return ()

    def _sources(self) -> tuple[Measure, ...]:
        """The measures whose values it remembers or integrates."""
        return ()

    def _calc(self, state: State, deriv_order: int) -> Any:
        """The value or a derivative, the caller's own; order and stage have been checked."""
        raise NotImplementedError

    def count_derivatives(self, seen: frozenset[int]) -> int:
        """Number of derivatives; *seen* are the measures that ask, where they depend on each other in a circle."""
        return 0

    def depends_on(self, deriv_order: int) -> Stage:
        """The stage that a derivative needs."""
        return Stage.MODEL

    def write_value(self, program: Program, order: int) -> int:
        """Write operations that find the value, or a derivative, in compiled steps; the place of the result.

        Raises
        ------
        NotCompiled
            If there are none.
        """
        raise NotCompiled(self)

    def write_step(self, program: Program) -> None:
        """Write operations that find the rates of its z."""
        raise NotCompiled(self)

    def write_memory(self, program: Program) -> None:
        """Write operations that find, at the end of a step and where a run begins, what is remembered."""
        raise NotCompiled(self)

    def num_z(self) -> int:
        """Number of z that it has, whose rates `write_step` finds."""
        return 0

    def memory_size(self) -> int:
        """Number of values that compiled steps keep of it, the first of which says whether there is anything; zero for none."""
        return 0

    def ring_shape(self) -> tuple[int, int]:
        """Number of samples that compiled steps keep of it in a ring, and of values in each."""
        return 0, 0

    def takes_part(self) -> bool:
        """True if it computes or remembers something as a run goes on, so that `update` and `remember` have to be called."""
        return False

    def allocates_by_hook(self) -> bool:
        """True if a user's hook may allocate something when topology is realized: Python then realizes the system."""
        return False

    def allocate(self, state: State) -> None:
        """Allocate what it keeps in *state*, which is at EMPTY."""

    def has_begun(self, state: State) -> bool:
        """True if the state remembers something of a run, or there is nothing to remember."""
        return True

    def begin(self, state: State) -> None:
        """Begin to remember, at the start of a run, where `has_begun` says that the state does not yet."""

    def update(self, state: State, stage: Stage) -> None:
        """Compute what is due at *stage*, which is MODEL or above."""

    def remember(self, state: State) -> None:
        """A step ends at *state*: compute the next values of its self-updating variables."""

    # ------------------------------------------------------------------------------------------ for kinds

    def check_sources(self, subsystem: Subsystem) -> None:
        """Refuse to join a subsystem where a measure that this one uses is of another system."""
        for source in (*self.operands(), *self._sources()):
            _check_operand(type(self).__name__, source, subsystem)

    def _need_subsystem(self) -> Subsystem:
        return self.get_subsystem()

    def invalidate_topology(self) -> None:
        if self.subsystem is not None:
            self.subsystem.invalidate_subsystem_topology_cache()

    def _given(self, value: Any) -> Any:
        """A value as it is returned to users."""
        return float(value) if self._shape == () else np.array(value, dtype=np.float64)

    def _valued(self, value: npt.ArrayLike, what: str) -> Array:
        """A copy of a given value, which has to be finite and of the right shape."""
        plain = type(value) is float or (type(value) is np.ndarray and value.dtype == np.float64)  # as nearly all come
        array = np.array(value if plain else numbers(f"{what} of {self.title()}", value, _words(self._shape)))
        if array.shape != self._shape:
            raise ValueError(f"{what} of {self.title()} has to be {_words(self._shape)}; got shape {array.shape}")
        if not np.isfinite(array).all():
            raise ModelError(f"{what} of {self.title()} has to be finite; got {value!r}")
        return array

    def _computed(self, value: Any, what: str) -> Array:
        """The result of a user's function, which has to have the right shape."""
        array = np.asarray(value, dtype=np.float64)
        if array.shape != self._shape:
            raise ModelError(f"{what} of {self.title()} has to return {_words(self._shape)}; got shape {array.shape}")
        return array

    def title(self) -> str:
        """Its name in messages, also during construction."""
        return repr(self) if hasattr(self, "index") else f"a {type(self).__name__}"

    def _replaced(self, what: str, new: Measure) -> Measure:
        """Check an operand that replaces one."""
        _check_operand(type(self).__name__, new, self.subsystem)
        if new.shape != self._shape:
            raise ValueError(f"{what} of {self!r} has to be {_words(self._shape)}; {new!r} is {_words(new.shape)}")
        return new

    def _check_no_circle(self) -> None:
        """Refuse a measure whose value is computed from itself at the same state."""
        for found in walk(self):
            if found is self:
                raise ValueError(
                    f"the value of {self!r} would be computed from itself; put a Delay or an Integrate between, which give "
                    "what they remember"
                )

    def _check_order(self, asked: str, deriv_order: int) -> None:
        count = self.get_num_time_derivatives()
        checks.integer(f"{asked}: deriv_order", deriv_order)
        if not 0 <= deriv_order <= count:
            there = "no derivative" if count == 0 else f"derivatives up to order {count}"
            raise ValueError(f"{asked}: {self!r} has {there}; got deriv_order {deriv_order}")

    def check_owner(self, state: State, asked: str) -> None:
        """`TopologyError` for a state of another system."""
        system = self.get_subsystem().system
        if system is None:
            raise TopologyError(f"{asked}: {self!r} is in {self.subsystem!r}, which is in no system")
        if state.token is not system.topology_token:
            state.check_owner(system, f"{asked} of {self.name!r}")

    def refuse(self, state: State, asked: str, needed: Stage) -> None:
        raise StageError(
            f"{asked} of {self.name!r} needs Stage.{needed.name}; this state is at {Stage(state.stage_number).name}; "
            f"call system.realize(state, Stage.{needed.name})"
        )

    def _need_model(self, state: State, asked: str) -> None:
        """Setters need a state of the system, at MODEL."""
        self.check_owner(state, asked)
        if state.stage_number < Stage.MODEL:
            state.refuse_model(f"{asked} of {self.name!r}")


def fewest(measures: tuple[Measure, ...], seen: frozenset[int]) -> int:
    """The smallest number of derivatives of any; one visited already, in a circle, does not limit the others."""
    return min((UNLIMITED if id(one) in seen else one.count_derivatives(seen | {id(one)}) for one in measures), default=0)


def same_shape(kind: str, left: Any, right: Any) -> Shape:
    """The shape that two operands share."""
    for one in (left, right):
        check_measure(kind, one)
    if left.shape != right.shape:
        raise ValueError(
            f"the operands of a {kind} have to be of one size; {left!r} is {_words(left.shape)}, {right!r} is "
            f"{_words(right.shape)}"
        )
    return left.shape


def check_measure(kind: str, operand: Any) -> Any:
    """Refuse what is no measure."""
    checks.instance(f"an operand of a {kind}", operand, Measure, "mobod.measure.Constant makes of a value")
    return operand


def check_shape(shape: Any, what: str) -> Shape:
    """() or (n,)."""
    found = tuple(shape) if isinstance(shape, (tuple, list)) else shape
    if not isinstance(found, tuple) or len(found) > 1 or not all(isinstance(n, (int, np.integer)) and n > 0 for n in found):
        raise ValueError(f"shape of {what} has to be () for a number or (n,) for a vector, got {shape!r}")
    return tuple(int(n) for n in found)


def walk(measure: Measure) -> Iterator[Measure]:
    """The measures that a value is computed from, at any depth; each once."""
    seen: set[int] = set()
    waiting = list(measure.operands())
    while waiting:
        one = waiting.pop()
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            waiting += one.operands()


def _check_operand(kind: str, operand: Measure, subsystem: Subsystem | None) -> None:
    """An operand has to be a measure of the same system, or of none."""
    check_measure(kind, operand)
    theirs = operand.subsystem
    if theirs is None or subsystem is None or theirs is subsystem:
        return
    if theirs.system is None or theirs.system is not subsystem.system:
        raise TopologyError(
            f"{operand!r} is part of {theirs!r}, which is not in the same system as {subsystem!r}; a {kind} takes operands of "
            "its own system only"
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _words(shape: Shape) -> str:
    return "a number" if shape == () else f"a vector of {shape[0]}"
