"""Expression: a function written as text, such as ``2 * sin(x)^2 + y``.

The text is parsed, never evaluated as Python; the tree of its operations becomes one function of any scalar, compiled as users'
functions are. Of numbers with tangents over numbers with one more, seeded with the arguments' rates v, its result holds the
value, the gradient g and the gradient's rate H v.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra.dual import Dual, seed
from ..value.checks import instance
from ._expression_parser import FUNCTIONS, Parser
from ._expression_terms import written
from .base import FunctionKind
from .routines import of_arguments
from .users.unrolled import each, unrolled

#: Tangents that compiled numbers can have.
MOST_VARIABLES = 8


class Expression(FunctionKind):
    """A function written as text.

    Parameters
    ----------
    text : str
        Made of numbers, variables, ``+ - * / ^``, parentheses, and the functions sqrt, exp, log, sin, cos, tan, sec, csc, cot,
        asin, acos, atan, atan2, sinh, cosh, tanh, erf, erfc, step (1 from zero on), delta (1 at zero), min, max, abs, square,
        cube, recip (1 / x) and select(c, a, b): a where c is not zero, else b. After a semicolon come definitions,
        ``"a * x^2 + b; a = 2; b = sin(a)"``: each can be used in all that stands before it. ``pi`` is known.
    variables : sequence of str, optional
        The arguments, in their order: one to eight. Unless given, the names in the text, in the order in which they come.

    Raises
    ------
    ValueError
        If the text cannot be read: the message says where, and what was expected.

    Notes
    -----
    The syntax is that of Lepton, in which OpenSim's expressions are written. It runs compiled; derivatives of any order are
    exact, by dual numbers. Where an operation has no derivative (abs at zero), that of the right side is taken. Powers bind
    before signs and from the right: ``-x^2^3`` is ``-(x^(2^3))``. A power that varies needs a base above zero.

    Examples
    --------
    >>> f = Expression("a * sin(x) + y^2; a = 3", variables=["x", "y"])
    >>> f.calc_value([0.0, 2.0]), f.calc_derivative([0], [0.0, 2.0])
    (4.0, 3.0)
    """

    _names = ("text", "variables")
    _text: str
    _variables: tuple[str, ...]
    _function: Any

    def __init__(self, text: str, variables: Sequence[str] | None = None) -> None:
        instance("text of an Expression", text, str, "'2 * x'")
        names = None if variables is None else _names_of(variables)
        function, taken = _parsed(text, names)
        if len(taken) > MOST_VARIABLES:
            raise ValueError(f"an Expression has {MOST_VARIABLES} variables at most; {text!r} has {', '.join(taken)}")
        self._keep(text=text, variables=taken, function=function)

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the arguments, in their order."""
        return self._variables

    @property
    def text(self) -> str:
        """As it was given."""
        return self._text

    @property
    def routine(self) -> Any:  # type: ignore[override]
        """Compiled when a model first has the expression."""
        return _routine_of(self._text, self._variables)

    @property
    def of_scalars(self) -> Any:
        """The function of a tuple of numbers of any scalar, for kernels."""
        return self._function

    def get_argument_size(self) -> int:
        """One a variable."""
        return len(self._variables)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._text, self._variables)

    def _derivative(self, components: tuple[int, ...], x: tuple[Any, ...]) -> Any:
        at: tuple[Any, ...] = tuple(np.atleast_1d(np.asarray(one, dtype=np.float64)) for one in x)
        for k in components:
            at = seed(at, [float(k == i) for i in range(len(at))])
        with np.errstate(all="ignore"):
            y = self._function(at)
        for _ in components:
            y = y.tangents[0] if isinstance(y, Dual) else 0.0
        result = np.broadcast_to(np.asarray(y, dtype=np.float64), np.shape(np.atleast_1d(x[0])))
        return result if isinstance(x[0], np.ndarray) else result[0]

    def pack(self) -> tuple[Sequence[int], Sequence[float]]:
        return [], []


def _names_of(variables: Any) -> tuple[str, ...]:
    """The names of variables, checked."""
    if isinstance(variables, str) or not all(isinstance(name, str) for name in variables):
        raise TypeError(f"the variables of an Expression are a list of names such as ['x', 'y'], not {variables!r}")
    names = tuple(variables)
    for name in names:
        if not name.isidentifier() or name in FUNCTIONS or names.count(name) > 1:
            why = "comes twice" if names.count(name) > 1 else "is a function" if name in FUNCTIONS else "is no name"
            raise ValueError(f"{name!r} cannot be a variable of an Expression: it {why}")
    if not names:
        raise ValueError("an Expression has one variable or more")
    return names


@functools.lru_cache(maxsize=256)
def _parsed(text: str, names: tuple[str, ...] | None) -> tuple[Any, tuple[str, ...]]:
    """The function of a tuple, and the names of what is in it."""
    parser = Parser(text, names)
    try:
        tree = parser.parse()
        function = written(tree, "expression")
    except RecursionError:
        raise ValueError(
            f"the expression {text[:60]!r}... is nested too deeply, or has too many terms: split it into several"
        ) from None
    return function, names or tuple(parser.variables) or ("x",)


# ---------------------------------------------------------------------------------------------- compiled


@functools.lru_cache(maxsize=256)
def _routine_of(text: str, names: tuple[str, ...]) -> Any:
    count = len(names)
    moving = [f"Dual(Dual(x[{k}], (v[{k}],)), {each(count, '1.0 if {i} == ' + str(k) + ' else 0.0')})" for k in range(count)]
    seeded = unrolled("x, v", f"return ({', '.join(moving)}, )")
    parts = ("y.value.value", each(count, "y.tangents[{i}].value"), each(count, "y.tangents[{i}].tangents[0]"))
    taken_apart = unrolled("y", f"return {', '.join(parts)}")
    function, _ = _parsed(text, names)

    def jet(integers: Any, i: int, numbers: Any, n: int, x: Any, rates: Any) -> Any:
        return taken_apart(function(seeded(x, rates)))

    return of_arguments(count, jet)
