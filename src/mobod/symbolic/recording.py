"""Recording: a scalar that writes down what kernels compute with it, as nodes of a directed graph.

The kernels' source runs in plain Python on these numbers in place of floats. Equal operations on equal operands are one node,
and what is known is computed at once, so that a record of a sweep is straight-line code with common subexpressions found.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

from ..errors import FormulaError

_FOLDED: dict[str, Any] = {
    "sqrt": math.sqrt,
    "sin": math.sin,
    "cos": math.cos,
    "exp": math.exp,
    "log": math.log,
    "floor": lambda x: float(math.floor(x)),
    "atan2": math.atan2,
    "power": math.pow,
}
COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}


class Tape:
    """The nodes that have been recorded, each after its operands."""

    def __init__(self) -> None:
        self.nodes: list[Recorded] = []
        self._known: dict[Any, Recorded] = {}
        #: Arrays in which numbers are looked up at places that are recorded, by the number that nodes have for them.
        self.tables: list[Any] = []

    def node(self, operation: str, *operands: Any) -> Recorded:
        """The node of an operation; *operands* are nodes, and what an input, a number or a table is known by."""
        key = operation, *(x.place if isinstance(x, Recorded) else x for x in operands)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Recorded(self, len(self.nodes), operation, operands)
            self.nodes.append(found)
        return found

    def number(self, x: Any) -> Recorded:
        """A constant; what is recorded already stays as it is."""
        return x if isinstance(x, Recorded) else self.node("number", float(x) + 0.0)  # -0.0 is 0.0

    def input(self, name: str, index: int = 0) -> Recorded:
        """A number that is given: *index* of the array *name*."""
        return self.node("input", name, index)

    def apply(self, operation: str, *operands: Any) -> Recorded:
        """A function of numbers, computed where these are known."""
        recorded = [self.number(x) for x in operands]
        if all(x.is_number for x in recorded):
            try:
                return self.number(_FOLDED[operation](*(x.value for x in recorded)))
            except (ValueError, OverflowError):
                return self.number(math.nan)
        return self.node(operation, *recorded)

    def table(self, rows: Any) -> int:
        """The number in `tables` of a row of numbers, none of which may be recorded."""
        for k, known in enumerate(self.tables):
            if known is rows:
                return k
        if any(isinstance(x, Recorded) and not x.is_number for x in rows.flat):
            raise FormulaError("it looks up one of several numbers, of which some are parameters")
        self.tables.append(rows)
        return len(self.tables) - 1

    def reached(self, outputs: Iterable[Recorded]) -> list[Recorded]:
        """The nodes that outputs depend on, in order, each after its operands."""
        wanted = {x.place for x in outputs}
        for place in range(max(wanted, default=-1), -1, -1):
            if place in wanted:
                wanted.update(x.place for x in self.nodes[place].nodes)
        return [self.nodes[place] for place in sorted(wanted)]


def _beside_duals(method: Callable[[Recorded, Any], Recorded]) -> Callable[[Recorded, Any], Any]:
    """Leave arithmetic with a `Dual` to that, which may be made of recorded numbers."""

    @functools.wraps(method)
    def of_both(self: Recorded, other: Any) -> Any:
        return NotImplemented if hasattr(other, "tangents") else method(self, other)

    return of_both


class Recorded:
    """A number that is to be computed: one node of a `Tape`, with the arithmetic and functions of every scalar."""

    __array_ufunc__ = None  # NumPy's numbers leave arithmetic to this class
    __hash__ = None  # type: ignore[assignment]
    __slots__ = ("operands", "operation", "place", "tape")

    def __init__(self, tape: Tape, place: int, operation: str, operands: tuple[Any, ...]) -> None:
        self.tape, self.place, self.operation, self.operands = tape, place, operation, operands

    def __repr__(self) -> str:
        said = ", ".join(f"#{x.place}" if isinstance(x, Recorded) else repr(x) for x in self.operands)
        return f"<#{self.place} {self.operation}({said})>"

    @property
    def nodes(self) -> Iterator[Recorded]:
        """Those of its operands that are nodes."""
        return (x for x in self.operands if isinstance(x, Recorded))

    @property
    def is_number(self) -> bool:
        """True if its value is known."""
        return self.operation == "number"

    @property
    def value(self) -> float:
        """The value of a constant."""
        return float(self.operands[0])

    @property
    def is_zero(self) -> bool:
        """True if its value is known to be 0."""
        return self._is(0.0)

    def _is(self, x: float) -> bool:
        return self.operation == "number" and self.operands[0] == x

    # ------------------------------------------------------------------------------------------ arithmetic

    @_beside_duals
    def __add__(self, other: Any) -> Recorded:
        a, b = self, self.tape.number(other)
        if a.is_number and b.is_number:
            return self.tape.number(a.value + b.value)
        if a._is(0.0):
            return b
        if b._is(0.0):
            return a
        if b.operation == "neg":
            return a - b.operands[0]
        if a.operation == "neg":
            return b - a.operands[0]
        return self.tape.node("add", *_in_order(a, b))

    @_beside_duals
    def __radd__(self, other: Any) -> Recorded:
        return self.tape.number(other) + self

    @_beside_duals
    def __sub__(self, other: Any) -> Recorded:
        a, b = self, self.tape.number(other)
        if a.is_number and b.is_number:
            return self.tape.number(a.value - b.value)
        if b._is(0.0):
            return a
        if a._is(0.0):
            return -b
        if a is b:
            return self.tape.number(0.0)
        if b.operation == "neg":
            return a + b.operands[0]
        return self.tape.node("sub", a, b)

    @_beside_duals
    def __rsub__(self, other: Any) -> Recorded:
        return self.tape.number(other) - self

    @_beside_duals
    def __mul__(self, other: Any) -> Recorded:
        a, b = self, self.tape.number(other)
        if a.is_number and b.is_number:
            return self.tape.number(a.value * b.value)
        if a._is(0.0) or b._is(0.0):
            return self.tape.number(0.0)
        for x, y in ((a, b), (b, a)):
            if x._is(1.0):
                return y
            if x._is(-1.0):
                return -y
            if x.operation == "neg":
                return -(x.operands[0] * y)
        return self.tape.node("mul", *_in_order(a, b))

    @_beside_duals
    def __rmul__(self, other: Any) -> Recorded:
        return self.tape.number(other) * self

    @_beside_duals
    def __truediv__(self, other: Any) -> Recorded:
        a, b = self, self.tape.number(other)
        if a.is_number and b.is_number:
            return self.tape.number(a.value / b.value if b.value else math.copysign(math.inf, a.value) if a.value else math.nan)
        if a._is(0.0) or b._is(1.0):
            return a
        if b._is(-1.0):
            return -a
        if a.operation == "neg":
            return -(a.operands[0] / b)
        return self.tape.node("div", a, b)

    @_beside_duals
    def __rtruediv__(self, other: Any) -> Recorded:
        return self.tape.number(other) / self

    def __neg__(self) -> Recorded:
        if self.is_number:
            return self.tape.number(-self.value)
        if self.operation == "neg":
            return self.operands[0]
        if self.operation == "sub":
            return self.operands[1] - self.operands[0]
        return self.tape.node("neg", self)

    def __pos__(self) -> Recorded:
        return self

    def __abs__(self) -> Recorded:
        return (self < 0.0).select(self < 0.0, -self, self)

    def __pow__(self, n: Any) -> Any:
        from ..algebra.scalar import power

        return power(self, n)

    # ------------------------------------------------------------------------------------------ comparisons

    def _compare(self, operation: str, other: Any) -> Any:
        if hasattr(other, "tangents"):
            return NotImplemented
        other = self.tape.number(other)
        a, b = (x.value if x.is_number else None for x in (self, other))
        if None not in (a, b) or any(x is not None and math.isinf(x) for x in (a, b)):
            a, b = a or 0.0, b or 0.0  # what is not known is finite
            return {"lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b, "eq": a == b, "ne": a != b}[operation]
        return self.tape.node(operation, self, other)

    def __lt__(self, other: Any) -> Any:
        return self._compare("lt", other)

    def __le__(self, other: Any) -> Any:
        return self._compare("le", other)

    def __gt__(self, other: Any) -> Any:
        return self._compare("gt", other)

    def __ge__(self, other: Any) -> Any:
        return self._compare("ge", other)

    def __eq__(self, other: Any) -> Any:
        return self._compare("eq", other)

    def __ne__(self, other: Any) -> Any:
        return self._compare("ne", other)

    def __and__(self, other: Any) -> Any:
        return self.tape.node("and", self, other) if isinstance(other, Recorded) else self if other else False

    __rand__ = __and__

    def __or__(self, other: Any) -> Any:
        return self.tape.node("or", self, other) if isinstance(other, Recorded) else True if other else self

    __ror__ = __or__

    def __invert__(self) -> Recorded:
        return self.tape.node("not", self)

    def __bool__(self) -> bool:
        if self.is_number:
            return bool(self.value)
        return self._refuse("takes a branch on a computed number")

    def __float__(self) -> float:
        if self.is_number:
            return self.value
        return self._refuse("needs the value of a computed number")

    def __int__(self) -> int:
        if self.is_number:
            return int(self.value)
        return int(self._refuse("needs the value of a computed number"))

    def _refuse(self, why: str) -> NoReturn:
        raise FormulaError(f"it {why}, which no formula says")

    # ------------------------------------------------------------------------------------------ what `algebra.scalar` calls

    def select(self, mask: Any, a: Any, b: Any) -> Recorded:
        """*a* where *mask* holds, else *b*."""
        a, b = self.tape.number(a), self.tape.number(b)
        if not isinstance(mask, Recorded):
            return a if mask else b
        return a if a is b else self.tape.node("select", mask, a, b)

    def sqrt(self) -> Recorded:
        """As `scalar.sqrt`."""
        return self.tape.apply("sqrt", self)

    def sincos(self) -> tuple[Recorded, Recorded]:
        """As `scalar.sincos`."""
        if self.operation == "neg":
            s, c = self.operands[0].sincos()
            return -s, c
        return self.tape.apply("sin", self), self.tape.apply("cos", self)

    def exp(self) -> Recorded:
        """As `scalar.exp`."""
        return self.tape.apply("exp", self)

    def log(self) -> Recorded:
        """As `scalar.log`."""
        return self.tape.apply("log", self)

    def floor(self) -> Recorded:
        """As `scalar.floor`."""
        return self.tape.apply("floor", self)

    def atan2(self, y: Any, x: Any) -> Recorded:
        """As `scalar.atan2`."""
        return self.tape.apply("atan2", y, x)

    def power(self, n: float) -> Recorded:
        """As `scalar.power` of a float."""
        return self.tape.apply("power", self, n)

    def lookup(self, rows: Any, first: int) -> Any:
        """As `scalar.lookup`, this being the place."""
        if self.is_number:
            return rows[first + int(self)] if rows.ndim == 1 else rows[first + int(self), 0]
        return self.tape.node("lookup", self, self.tape.table(rows), first)

    def any_not_finite(self) -> bool:
        """Never: values that are to be computed are taken for finite."""
        return False


def _in_order(a: Recorded, b: Recorded) -> tuple[Recorded, Recorded]:
    return (a, b) if a.place <= b.place else (b, a)
