"""Laws as straight lines of arithmetic, of numbers of any scalar: what compiled steps with variations differentiate.

A law is called with arrays of symbols, which write down what is done with them. Where it asks how two numbers compare, it is
called once more for the other answer, and the text has both branches. What cannot be written so, or has too many lines or
branches, Python differentiates by `_differentiated`.
"""

from __future__ import annotations

import hashlib
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..algebra import scalar
from ..compiling import UsersRoutine
from ..tree.sampling import WORK_EFFORTS
from ._differentiated import Differentiated

#: So many lines, of one course through the law and of all, and so many ends of branches are compiled at most.
_LINES, _ALL_LINES, _ENDS = 500, 2000, 64
#: Names of NumPy's functions of a number, and ours.
_FUNCTIONS = {
    **{name: name for name in ("sin", "cos", "tan", "exp", "log", "sqrt", "sinh", "cosh", "tanh")},
    **{"arcsin": "asin", "arccos": "acos", "arctan": "atan"},
}
#: The routines made so far, by fingerprint.
_made: dict[str, UsersRoutine] = {}


class NotTraceable(TypeError):
    """A law does what cannot be written down."""


class _Record:
    """The lines written down in one call of a law, whose first comparisons are answered as *given*."""

    def __init__(self, given: Sequence[bool]) -> None:
        self.lines: list[str] = []
        self.answers: list[bool] = list(given)
        #: Each comparison, and how many lines came before it.
        self.asked: list[tuple[str, int]] = []

    def note(self, text: str) -> Symbol:
        if len(self.lines) >= _LINES:
            raise NotTraceable("it is too long")
        self.lines.append(f"x{len(self.lines)} = {text}")
        return Symbol(self, f"x{len(self.lines) - 1}")

    def answer(self, text: str) -> bool:
        self.asked.append((text, len(self.lines)))
        if len(self.asked) > _ENDS:
            raise NotTraceable("it has too many branches")
        if len(self.asked) > len(self.answers):
            self.answers.append(True)
        return self.answers[len(self.asked) - 1]


class Symbol:
    """A number that has a name in a record; or a constant, its own name."""

    def __init__(self, record: _Record | None, name: str) -> None:
        self.record, self.name = record, name

    @property
    def as_number(self) -> str:
        """Of the scalar type of variables, which branches of an expression share."""
        return self.name if self.record is not None else f"(nothing + {self.name})"

    def _with(self, other: Any, text: str, turned: bool = False) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        first, second = (_symbol(other), self) if turned else (self, _symbol(other))
        record = first.record or second.record
        if record is None:
            return Symbol(None, repr(_BINARY[text](float(first.name), float(second.name))))
        return record.note(f"{first.name} {text} {second.name}")

    def _compare(self, other: Any, text: str) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        other = _symbol(other)
        record = self.record or other.record
        if record is None:
            return _COMPARING[text](float(self.name), float(other.name))
        return record.answer(f"bare({self.as_number}) {text} bare({other.as_number})")

    def __pow__(self, n: Any) -> Any:
        n = _symbol(n)
        if n.record is not None:
            raise NotTraceable("an exponent varies")
        exponent = float(n.name)
        return self._of(f"power({{}}, {int(exponent) if exponent == int(exponent) else exponent!r})")

    def __neg__(self) -> Any:
        return self._of("-{}")

    def __pos__(self) -> Symbol:
        return self

    def __abs__(self) -> Any:
        return self._of("where(bare({0}) < 0.0, -{0}, where(bare({0}) > 0.0, {0}, 0.0 * {0}))")

    fabs = absolute = __abs__

    def __bool__(self) -> bool:
        return bool(self._compare(0.0, "!="))

    def __float__(self) -> float:
        raise NotTraceable("a float is wanted")

    __int__ = __index__ = __hash__ = None  # type: ignore[assignment]

    def arctan2(self, x: Any) -> Any:
        x = _symbol(x)
        record = self.record or x.record
        if record is None:
            return Symbol(None, repr(math.atan2(float(self.name), float(x.name))))
        return record.note(f"atan2({self.as_number}, {x.as_number})")

    def _of(self, text: str) -> Any:
        if self.record is None:
            return Symbol(None, repr(float(eval(text.format(f"({self.name})"), dict(_NAMESPACE)))))
        return self.record.note(text.format(self.name))


_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
}  # fmt: skip
_COMPARING: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
for _text, _name in (("+", "add"), ("-", "sub"), ("*", "mul"), ("/", "truediv")):
    setattr(Symbol, f"__{_name}__", lambda self, other, text=_text: self._with(other, text))
    setattr(Symbol, f"__r{_name}__", lambda self, other, text=_text: self._with(other, text, True))
for _text, _one in _COMPARING.items():
    setattr(Symbol, f"__{_one.__name__}__", lambda self, other, text=_text: self._compare(other, text))
for _name, _ours in _FUNCTIONS.items():
    setattr(Symbol, _name, lambda self, ours=_ours: self._of(f"{ours}({{}})"))

_NAMESPACE: dict[str, Any] = {
    **{
        name: getattr(scalar, name)
        for name in (*_FUNCTIONS.values(), "load", "store", "bare", "zero", "where", "power", "atan2")
    },
    **{"inf": math.inf, "nan": math.nan},
}


def _symbol(x: Any) -> Symbol:
    if isinstance(x, Symbol):
        return x
    if isinstance(x, np.ndarray) and x.shape == ():
        return _symbol(x.item())
    return Symbol(None, repr(float(x)))


def _lesser(text: str) -> Callable[[Any, Any], Any]:
    """The lesser, or the greater, of two numbers, without a branch; where they are equal, the first."""

    def of_two(a: Any, b: Any) -> Any:
        a, b = _symbol(a), _symbol(b)
        record = a.record or b.record
        if record is None:
            return a if _COMPARING[text](float(a.name), float(b.name)) else b
        return record.note(f"where(bare({a.as_number}) {text} bare({b.as_number}), {a.as_number}, {b.as_number})")

    of_arrays = np.frompyfunc(of_two, 2, 1)
    return lambda a, b: of_arrays(a, b)


_minimum, _maximum = _lesser("<="), _lesser(">=")


def _of_symbols(found: Any) -> Any:
    """An array of floats as one of symbols, which other symbols can be written to."""
    if found.dtype != np.float64:
        return found
    symbols = np.empty(found.shape, object)
    symbols.reshape(-1)[:] = [_symbol(x) for x in found.ravel().tolist()]
    return symbols


class Traced(Differentiated):
    """A law that takes arrays of symbols."""

    def __call__(self, arguments: Sequence[Any], n: int = 1) -> Any:
        """The efforts that the law returns, an array of symbols; *arguments* are written to as it does."""
        try:
            return np.asarray(self._law(*arguments), object)
        except NotTraceable:
            raise
        except Exception as error:
            raise NotTraceable(str(error)) from error

    def _make_stand_ins(self) -> list[tuple[Any, Any]]:
        def filled(function: Any) -> Any:
            return function, lambda *args, **kwargs: _of_symbols(function(*args, **kwargs))

        def clip(x: Any, low: Any, high: Any) -> Any:
            return _minimum(_maximum(x, low), high)

        makers: tuple[Any, ...] = np.zeros, np.ones, np.empty, np.full, np.eye, np.identity, np.arange, np.linspace
        inherited = super()._make_stand_ins()
        kept = [
            (of, one) for of, one in inherited if isinstance(one, np.ufunc) and one.__name__ in (*_FUNCTIONS, "fabs", "arctan2")
        ]
        return [
            *kept,
            *map(filled, (*makers, np.array, np.asarray)),
            *((math.pow, operator.pow), (np.power, operator.pow), (np.float64, self._as_float)),
            *((np.minimum, _minimum), (np.maximum, _maximum), (np.clip, clip)),
        ]

    @staticmethod
    def _as_float(x: Any = 0.0) -> Any:
        return x if isinstance(x, Symbol) else float(x)


def routine_with_tangents(
    law: Callable[..., Any], names: Sequence[str], places: Mapping[str, Any], which: Any, num_efforts: int
) -> UsersRoutine | None:
    """The routine of a law that takes numbers of any scalar from `control_work`, and leaves efforts and memory there.

    None where the law cannot be written down.

    Parameters
    ----------
    law : function
    names : sequence of str
        Of its arguments.
    places : mapping of str to (int, shape)
        Where they are.
    which : (num_efforts,) array of int
        The argument of this name, which does not vary.
    num_efforts : int
    """
    traced, ends = Traced(law), 0

    def lines_from(given: list[bool]) -> list[str]:
        """The lines behind the last of the comparisons that are answered as *given*."""
        nonlocal ends
        ends += 1
        if ends > _ENDS:
            raise NotTraceable("it has too many branches")
        record = _Record(given)
        arguments = {}
        for name in names:
            first, shape = places[name]
            count = math.prod(shape)
            symbols = np.empty(count, object)
            symbols[:] = [Symbol(record, f"w{first + i}") for i in range(count)]
            arguments[name] = which if name == "which" else symbols.reshape(shape) if shape else symbols[0]
        efforts = np.broadcast_to(traced(list(arguments.values())), num_efforts)
        stored = [(WORK_EFFORTS + k, x) for k, x in enumerate(efforts.tolist())]
        if "memory" in names:
            stored += [(places["memory"][0] + m, x) for m, x in enumerate(arguments["memory"].tolist())]
        record.lines += [f"store(model.control_work, {at}, 0, {_symbol(x).as_number})" for at, x in stored]
        starts = [0, *(line for _, line in record.asked)]
        found = record.lines[starts[-1] :]
        for k in reversed(range(len(given), len(record.asked))):
            other = lines_from([*record.answers[:k], False])
            found = [
                *record.lines[starts[k] : starts[k + 1]],
                *(f"if {record.asked[k][0]}:", *_indented(found), "else:", *_indented(other)),
            ]
        return found

    try:
        body = lines_from([])
    except NotTraceable:
        return None
    reads = []
    for name in names:
        first, shape = places[name]
        if name != "which":
            reads += [f"w{i} = load(model.control_work, {i}, 0)" for i in range(first, first + math.prod(shape))]
    if len(reads) + len(body) > _ALL_LINES:
        return None
    text = "\n    ".join(("def sample(model, e, what):", "nothing = zero(load(model.time, 0, 0))", *reads, *body, "return 0\n"))
    return _made_of(text)


def _indented(lines: Sequence[str]) -> list[str]:
    return ["    " + line for line in lines]


def _made_of(text: str) -> UsersRoutine:
    fingerprint = hashlib.blake2b(f"traced law {text}".encode(), digest_size=16).hexdigest()
    if fingerprint not in _made:
        namespace = dict(_NAMESPACE)
        exec(compile(text, __file__, "exec"), namespace)
        function: Any = namespace["sample"]
        function.__module__, function.__qualname__ = __name__, f"sample_{fingerprint}"
        _made[fingerprint] = UsersRoutine(function, (), fingerprint, lambda scalar, error: error)
    return _made[fingerprint]
