"""Custom: a function that its user writes, in Python.

Derivatives that are not given are found from the function itself: exactly, by calling it with dual numbers
(`mobod.algebra.dual`, one level for each order), or where it does not take these, by finite differences of eighth order with
shrinking steps (`scipy.differentiate.derivative`), once for each order.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from types import FunctionType, ModuleType
from typing import Any, TypeAlias

import numpy as np

from ..algebra.arrays import Array
from ..algebra.dual import Dual, seed
from ..algebra.scalar import zero
from ..compiling.fingerprint import names
from ..errors import ModelError
from .base import UNLIMITED, FunctionKind, count
from .routines import of_arguments
from .users.frozen import is_ours
from .users.unasked import STAND_INS, compilable
from .users.unrolled import each, listed


def _stand_in(module: ModuleType) -> ModuleType:
    made = ModuleType(module.__name__)
    vars(made).update({name: STAND_INS.get(id(value), value) for name, value in vars(module).items()})
    return made


_MODULES = {id(module): _stand_in(module) for module in (math, np)}


class Lifted:
    """A plain function that is called with numbers of any scalar.

    Parameters
    ----------
    function : function
    """

    def __init__(self, function: FunctionType) -> None:
        #: Of each copy: its globals, those of the original, and the names in them that may mean something else later.
        self._outside: list[tuple[dict[str, Any], dict[str, Any], list[str]]] = []
        self._copies: dict[int, FunctionType] = {}
        self._function = self._copy(function)

    def __call__(self, *arguments: Any) -> Any:
        for own, original, changing in self._outside:
            for name in changing:
                if name in original:
                    own[name] = original[name]
        return self._function(*arguments)

    def _copy(self, function: FunctionType) -> Callable[..., Any]:
        if id(function) in self._copies:
            return self._copies[id(function)]
        own: dict[str, Any] = {"__builtins__": builtins, "__name__": function.__module__}
        copy = FunctionType(function.__code__, own, function.__name__, function.__defaults__, function.__closure__)
        copy.__kwdefaults__ = function.__kwdefaults__
        self._copies[id(function)] = copy
        changing = []
        for name in names(function.__code__):
            if name not in function.__globals__:
                continue
            value = own[name] = function.__globals__[name]
            if id(value) in _MODULES or id(value) in STAND_INS:
                own[name] = _MODULES.get(id(value)) or STAND_INS[id(value)]
            elif isinstance(value, FunctionType) and not is_ours(value):
                own[name] = self._copy(value)
            else:
                changing.append(name)
        self._outside.append((own, function.__globals__, changing))
        return copy


def lifted(function: Any) -> Any:
    """A function of floats as one of any scalar; what is no plain function as it is.

    Those of `math` and NumPy that know floats only are replaced. The copy sees what the function sees outside itself at the
    moment, as Python does.
    """
    return Lifted(function) if isinstance(function, FunctionType) and not is_ours(function) else function


Given = Callable[..., Any]


def jet_of_callables(count: int, function: Given, first: Sequence[Given] = (), second: Given | None = None) -> Given:
    """``jet(integers, i, numbers, n, x, v) -> (value, g, H v)`` of callables, x and the rates v being tuples.

    With x moving at the rates v, f at Duals of Duals, with tangents v inside and unit vectors outside, has f, g and H v. Where
    first derivatives are given, Duals of one tangent v of these give H v; where a second one is, it does.

    Parameters
    ----------
    count : int
        How many arguments there are. Callables take a number where it is one, else a tuple, of any scalar.
    function : callable
    first : sequence of callable
        Its first derivatives, one an argument; none where they are not given.
    second : callable, optional
        Its second derivative, of one argument.
    """
    names: dict[str, Any] = {"Dual": Dual, "zero": zero, "function": function, "second": second}
    names |= {f"first{k}": one for k, one in enumerate(first)}
    only = "[0]" if count == 1 else ""  # what a callable is given of a tuple
    moving, alone = each(count, "Dual(x[{i}], (v[{i}],))"), "o = zero(x[0])"
    if second is not None:
        lines = [alone, f"return function(x{only}) + o, (first0(x[0]) + o, ), ((second(x[0]) + o) * v[0], )"]
    elif first:
        lines = [alone, f"m = {moving}", "still = zero(m[0])"]
        lines += [f"g{k} = first{k}(m{only}) + still" for k in range(count)]
        slopes, bends = ([f"g{k}.{part}" for k in range(count)] for part in ("value", "tangents[0]"))
        lines.append(f"return function(x{only}) + o, {listed(slopes)}, {listed(bends)}")
    else:
        units = [each(count, f"1.0 if {{i}} == {k} else 0.0") for k in range(count)]
        lines = [f"w = {moving}", f"m = {listed([f'Dual(w[{k}], {unit})' for k, unit in enumerate(units)])}"]
        lines.append(f"y = function(m{only}) + zero(m[0])")  # a constant is a Dual then
        parts = each(count, "y.tangents[{i}].value"), each(count, "y.tangents[{i}].tangents[0]")
        lines.append(f"return y.value.value, {parts[0]}, {parts[1]}")
    body = "".join(f"    {line}\n" for line in lines)
    exec(compile(f"def jet(integers, i, numbers, n, x, v):\n{body}", "<callables>", "exec"), names)
    jet: Given = names["jet"]  # a plain function, of which all that it calls is fingerprinted
    jet.__module__ = __name__
    return jet


Derivatives: TypeAlias = "Sequence[Callable[..., Any]] | Callable[..., Any] | None"

#: Orders of derivative that are found by differentiating what is given.
FOUND = 2
#: First steps of the finite differences; a smaller one is tried where a point would be outside the function's domain.
STEPS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
#: At which estimated error the differences stop, relative and beside the function's own size; rounding is some times 1e-14.
RELATIVE, ABSOLUTE = 1e-11, 1e-12
#: By how much that is coarser for differences of what is found by differences: beyond, they would follow its noise.
COARSER = 100.0


class Custom(FunctionKind):
    """A function that its user writes, as a callable.

    Parameters
    ----------
    function : callable
        ``function(x)``, with x a number for a function of one argument, and a tuple of numbers for one of several. Returns a
        number.
    argument_size : int
        Of how many arguments it is; 1 or more.
    derivatives : list of callable, or callable, optional
        What is known of its derivatives:

        - for one argument a list ``[f', f'', ...]``, each called as *function* is;
        - for several arguments the list of the first derivatives, one an argument;
        - or ``derivatives(deriv_components, x)``, which gives them all; see `calc_derivative`.

    Raises
    ------
    TypeError
        If what should be callable is not; later, if the function returns what is not a number.

    Notes
    -----
    Up to two orders beyond what is given are found by differentiation. This is exact where the function takes `Dual` numbers:
    where it is made of arithmetic, comparisons, and the functions of `mobod.algebra.scalar` (``sin``, ``exp``, ``sqrt``, ...)
    rather than those of `math` or NumPy. Otherwise it is numerical: on smooth functions that vary over lengths of about 1 the
    first derivative is good to about 1e-12 of the function's size, the second to 1e-9, at a cost of tens and hundreds of calls;
    near a kink, or where the function varies much faster, it is worse. Give derivatives there.

    A mechanism with such a function is integrated compiled, in lanes too. The function is compiled with it where it takes
    `Dual` numbers and what it refers to cannot change: other functions, modules, and numbers in its closure or its defaults.
    `math.sin` and the like, and NumPy's, are those of `mobod.algebra` then. Otherwise Python is called for its values and its
    derivatives, and `Trajectory.statistics` says why, under ``"interpreted"``.

    Examples
    --------
    >>> from mobod.algebra.scalar import sin
    >>> f = Custom(lambda x: x[0] * sin(x[1]), 2)
    >>> f.calc_value([3, 0]), f.calc_derivative([1], [3, 0]), f.calc_derivative([0, 1], [3, 0])
    (0.0, 3.0, 1.0)
    """

    _names = ("function", "argument_size", "derivatives")
    _function: Callable[..., Any]
    _argument_size: int
    _derivatives: tuple[Callable[..., Any], ...] | Callable[..., Any] | None

    def __init__(self, function: Callable[..., Any], argument_size: int = 1, derivatives: Derivatives = None) -> None:
        if not callable(function):
            raise TypeError(f"the function of a Custom must be callable, such as lambda x: x * x; it is {function!r}")
        size = count(argument_size, "the argument_size of a Custom", 1)
        given: Any = derivatives
        if derivatives is not None and not callable(derivatives):
            if isinstance(derivatives, (str, bytes)) or not hasattr(derivatives, "__iter__"):
                raise TypeError(
                    "the derivatives of a Custom are a list of callables, or one callable (deriv_components, x), not "
                    f"{derivatives!r}"
                )
            given = tuple(derivatives)
            for k, derivative in enumerate(given):
                if not callable(derivative):
                    raise TypeError(f"derivatives[{k}] of a Custom must be callable; it is {derivative!r}")
            if size > 1 and len(given) != size:
                raise ValueError(
                    f"the derivatives of a Custom of {size} arguments are a list of the first derivatives, one an argument, or "
                    f"a callable (deriv_components, x); {len(given)} were given"
                )
        self._keep(function=function, argument_size=size, derivatives=given)

    @property
    def routine(self) -> Any:  # type: ignore[override]
        """Its routine, where the function can be compiled; compiled when a model first has it."""
        return self._compiled()[0]

    @property
    def why_interpreted(self) -> str:
        """The line and the reason why kernels call Python for it; empty where they do not: ``line 12 of cam.py: a dict``."""
        return self._compiled()[1]

    def pack(self) -> tuple[Sequence[int], Sequence[float]]:
        return [], []

    @property
    def frozen(self) -> Any:
        """The function as it is compiled, for others that are; None where it is left to Python."""
        return self._compiled()[2]

    def _compiled(self) -> tuple[Any, str, Any]:
        """The routine, or None and why not, and the frozen function: found out once."""
        found = self.__dict__.get("_found")
        if found is None:
            found = _routine_of(self)
            object.__setattr__(self, "_found", found)
        return found

    def can_be_compiled(self) -> bool:
        """True if the compiler takes what `routine` is made of; it is left to Python if not."""
        routine = self.routine
        try:
            if routine is not None:
                routine.address()
        except ModelError as error:
            object.__setattr__(self, "_found", (None, str(error), None))
            return False
        return routine is not None

    @property
    def callables(self) -> tuple[Any, Any, int]:
        """The function, its derivatives as given, and of how many arguments it is."""
        return self._function, self._derivatives, self._argument_size

    def get_argument_size(self) -> int:
        """Of how many arguments it is a function."""
        return self._argument_size

    def get_max_derivative_order(self) -> int:
        """Two orders above those given as a list; no limit of its own where *derivatives* is one callable."""
        if callable(self._derivatives):
            return UNLIMITED
        given = 0 if self._derivatives is None else len(self._derivatives) if self._argument_size == 1 else 1
        return given + FOUND

    def _derivative(self, components: tuple[int, ...], x: tuple[Any, ...]) -> Any:
        if isinstance(x[0], np.ndarray):  # many points, one after the other
            return [self._derivative(components, point) for point in zip(*(column.tolist() for column in x), strict=True)]
        known, rest = self._known(components)
        return _number(_differentiated(known, self._lifted(known), rest, x), known) if rest else _number(known(x), known)

    def _jet(self) -> Callable[..., Any] | None:
        given = self._derivatives
        if callable(given):
            return None
        n, function, first = self._argument_size, lifted(self._function), [lifted(one) for one in given or ()]
        moving = jet_of_callables(n, function, first[:n], first[1] if n == 1 and len(first) > 1 else None)
        units = [tuple(row) for row in np.eye(n).tolist()]

        def jet(x: tuple[float, ...], v: tuple[float, ...] | None) -> Any:
            if v is not None:
                return moving(None, 0, None, n, x, v)
            at = x[0] if n == 1 else x
            if first:
                return function(at), [one(at) for one in first[:n]], ()
            m = tuple(map(Dual, x, units))
            y = function(m[0] if n == 1 else m) + zero(m[0])  # a constant is a Dual then
            return y.value, y.tangents, ()

        return jet

    def _lifted(self, known: _Called) -> _Called:
        """A callable for dual numbers, made once."""
        made = self.__dict__.get("_of_duals")
        if made is None:
            made = {}
            object.__setattr__(self, "_of_duals", made)
        key = id(known.function)
        if key not in made:
            made[key] = lifted(known.function)
        return _Called(made[key], known.size)

    def _known(self, components: tuple[int, ...]) -> tuple[_Called, tuple[int, ...]]:
        """The highest derivative on the way to *components* that is given, of a tuple, and what is left to differentiate by."""
        given = self._derivatives
        if callable(given) and components:
            return _Called(given, self._argument_size, list(components)), ()
        if isinstance(given, tuple) and components and given:
            if self._argument_size == 1:
                order = min(len(components), len(given))
                return _Called(given[order - 1], 1), components[order:]
            return _Called(given[components[0]], self._argument_size), components[1:]
        return _Called(self._function, self._argument_size), components


#: Points at which functions are tried out before they are compiled.
_POINTS = (0.3, 0.7, 1.3, -0.4, 2.6, 0.05, 11.0, 130.0)


def _routine_of(function: Custom) -> tuple[Any, str, Any]:
    """The routine of a function, or None and why it is left to Python."""
    given, derivatives, size = function.callables
    if callable(derivatives):
        return None, "its derivatives are one callable", None
    places = [{"x": x if size == 1 else tuple(x + 0.1 * k for k in range(size))} for x in _POINTS]
    first = list(derivatives or ())[: 1 if size == 1 else size]
    second = derivatives[1] if size == 1 and derivatives and len(derivatives) > 1 else None
    frozen = []
    for one in (given, *first, *([] if second is None else [second])):
        made, why = compilable(one, "function" if one is given else "derivative", places, f"It has {size} arguments")
        if made is None:
            return None, why, None
        frozen.append(made.function)
    jet = jet_of_callables(size, frozen[0], frozen[1 : 1 + len(first)], frozen[-1] if second is not None else None)
    return of_arguments(size, jet), "", frozen[0]


class _Called:
    """A user's callable as a function of a tuple."""

    def __init__(self, function: Callable[..., Any], size: int, components: list[int] | None = None) -> None:
        self.function, self.size, self.components = function, size, components

    def __call__(self, x: tuple[Any, ...]) -> Any:
        given = x[0] if self.size == 1 else x
        return self.function(given) if self.components is None else self.function(self.components, given)


def _differentiated(
    function: Callable[[Any], Any], of_duals: Callable[[Any], Any], components: tuple[int, ...], x: tuple[float, ...]
) -> Any:
    try:
        y = of_duals(_seeded(x, components))
    except Exception:  # if the error is the function's own, a call with numbers raises it again
        y = None
    if isinstance(y, Dual) and y.depth == len(components):
        for _ in components:
            y = y.tangents[0]
        return y
    _number(function(x), function)  # an error at x itself is the user's to see
    return _by_differences(_of_points(function), components, np.array([x]))[0]


def _seeded(x: tuple[Any, ...], components: tuple[int, ...]) -> tuple[Any, ...]:
    """Duals, one level a component, that move along its axis."""
    for k in components:
        x = seed(x, [float(k == i) for i in range(len(x))])
    return x


def _of_points(function: Callable[[Any], Any]) -> Callable[[Array], Array]:
    """A function of points (n, arguments): NaN where a point is outside the domain."""

    def at(point: list[float]) -> float:
        try:
            return _number(function(tuple(point)), function)
        except (ValueError, ArithmeticError):
            return np.nan

    return lambda points: np.array([at(point) for point in points.tolist()])


def _by_differences(function: Callable[[Array], Array], components: tuple[int, ...], x: Array) -> Array:
    """Derivatives at the points x (n, arguments) by finite differences, all points at once."""
    from scipy.differentiate import derivative

    *others, k = components
    inner, relative, absolute = function, RELATIVE, ABSOLUTE
    if others:
        relative, absolute = COARSER * RELATIVE, COARSER * ABSOLUTE
        inner = lambda points: _by_differences(function, tuple(others), points)  # noqa: E731

    def along(t: Array, *fixed: Array) -> Array:
        columns = np.broadcast_arrays(*fixed[:k], t, *fixed[k:])
        return inner(np.stack([column.ravel() for column in columns], axis=1)).reshape(columns[0].shape)

    size = np.nanmax(np.abs(inner(x)), initial=1.0)
    result = np.full(len(x), np.nan)
    for step in STEPS:
        bad = ~np.isfinite(result)
        if bad.any():
            fixed = tuple(np.delete(x[bad], k, axis=1).T)
            with np.errstate(all="ignore"):
                found = derivative(
                    along, x[bad, k], args=fixed, initial_step=step, tolerances={"rtol": relative, "atol": absolute * size}
                )
            result[bad] = found.df
    return result


def _number(y: Any, function: Any) -> float:
    try:
        return float(y)
    except (TypeError, ValueError):
        name = getattr(function, "function", function)
        raise TypeError(f"a Custom's {name!r} must return a number; it returned {y!r}") from None
