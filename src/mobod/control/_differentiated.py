"""Laws with tangents: a law as a plain function of NumPy, called by Python with `DualArray` in place of arrays.

A copy of the law finds stand-ins where it looks for NumPy, `math` and Python's own functions: arrays that it makes take
tangents, and `math.sin` is NumPy's. All else, and all functions that it calls, are as they are.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from types import CellType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ..algebra import scalar
from ..algebra.arrays import Array
from ..algebra.dual_array import DualArray, NotDifferentiable, constant, made
from ..compiling.fingerprint import names
from .solve import solve


class Differentiated:
    """A law that takes and returns tangents.

    Parameters
    ----------
    law : function
    """

    def __init__(self, law: Callable[..., Any]) -> None:
        self._of, self._n = law, 1
        self._copies: dict[int, Any] = {}
        self._kept_alive: list[Any] = []
        self._stand_ins = {id(of): (of, one) for of, one in self._make_stand_ins()}
        self._builtins = {**vars(builtins), "float": self._as_float}
        self._law = self._lifted(law)

    def __call__(self, arguments: Sequence[Any], n: int) -> tuple[Array, Array]:
        """Value ``(k,)`` and tangents ``(n, k)`` of what the law returns; *arguments* are written to as it does.

        Raises
        ------
        NotDifferentiable
            If it does something that has no rule, or raises an exception, or the tangents are not finite.
        """
        self._n = n
        try:
            found = made(self._law(*arguments))
        except Exception as error:
            raise NotDifferentiable(str(error) or type(error).__name__) from error
        if not isinstance(found, DualArray):
            found = constant(found, n)
        if not np.isfinite(found.tangents).all():
            raise NotDifferentiable("a slope is infinite")
        return found.value, found.tangents

    def __reduce__(self) -> tuple[Any, ...]:
        return Differentiated, (self._of,)

    def _lifted(self, value: Any) -> Any:
        """The value that a law finds under a name, as it can take tangents."""
        value = getattr(value, "py_func", value)
        stand_in = self._stand_ins.get(id(value))
        if stand_in is not None:
            return stand_in[1]
        if isinstance(value, ModuleType):
            return _Module(value, self._lifted)
        if isinstance(value, FunctionType) and not (value.__module__ or "").startswith("numpy"):
            return self._copy(value)
        return value

    def _copy(self, function: FunctionType) -> Any:
        if id(function) in self._copies:
            return self._copies[id(function)]
        code = function.__code__
        cells = tuple(CellType() for _ in function.__closure__ or ())
        namespace: dict[str, Any] = {"__builtins__": self._builtins, "__name__": __name__}
        copy = FunctionType(code, namespace, function.__name__, function.__defaults__, cells)
        copy.__kwdefaults__ = function.__kwdefaults__
        self._copies[id(function)] = copy
        self._kept_alive.append(function)
        for new, old in zip(cells, function.__closure__ or (), strict=True):
            try:
                new.cell_contents = self._lifted(old.cell_contents)
            except ValueError:  # not filled yet
                continue
        for name in names(code):
            if name in function.__globals__:
                namespace[name] = self._lifted(function.__globals__[name])
        return copy

    # ------------------------------------------------------------------------------------------ stand-ins

    def _make_stand_ins(self) -> list[tuple[Any, Any]]:
        def filled(function: Any) -> Any:
            """Arrays of floats that tangents can be written to; others as they are."""

            def stand_in(*args: Any, **kwargs: Any) -> Any:
                found = function(*args, **kwargs)
                return constant(found, self._n) if found.dtype == np.float64 else found

            return function, stand_in

        def array(parts: Any, dtype: Any = None) -> Any:
            found = made(parts, dtype)
            if isinstance(found, DualArray):
                return found if dtype is None else found.astype(dtype)
            return constant(found, self._n) if found.dtype == np.float64 else found

        def as_array(parts: Any, dtype: Any = None) -> Any:
            return parts if isinstance(parts, DualArray) and dtype is None else array(parts, dtype)

        def whole(function: Any) -> Any:
            return lambda x: int(function(x.value if isinstance(x, DualArray) else x))

        makers: tuple[Any, ...] = np.zeros, np.ones, np.empty, np.full, np.eye, np.identity, np.arange, np.linspace
        return [
            *map(filled, makers),
            (np.array, array),
            (np.asarray, as_array),
            (np.float64, self._as_float),
            (solve, _solve),
            *((getattr(math, name), getattr(np, of)) for name, of in _OF_MATH.items()),
            *((function, whole(function)) for function in (math.floor, math.ceil, math.trunc)),
            *((getattr(scalar, name), of) for name, of in _OF_SCALARS.items()),
        ]

    @staticmethod
    def _as_float(x: Any = 0.0) -> Any:
        return x.reshape(()) if isinstance(x, DualArray) else float(x)


class _Module:
    """A module whose functions are stood in for."""

    def __init__(self, module: ModuleType, lifted: Callable[[Any], Any]) -> None:
        self._module, self._lifted = module, lifted

    def __getattr__(self, name: str) -> Any:
        return self._lifted(getattr(self._module, name))


def _solve(A: Any, B: Any) -> Any:
    """`solve`, which reads the lower half of A."""
    return np.linalg.solve(np.tril(A) + np.tril(A, -1).T, B)


#: Functions of `math`, and NumPy's in their place.
_OF_MATH = {
    **{name: name for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "expm1", "exp2", "log10", "log2", "log1p")},
    **{name: name for name in ("sqrt", "cbrt", "hypot", "fabs", "copysign", "fmod", "degrees", "radians")},
    **{name: name for name in ("isfinite", "isnan", "isinf")},
    **{"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "log": "log", "pow": "power"},
    **{"asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"},
}
#: Those of `mobod.algebra`.
_OF_SCALARS: dict[str, Callable[..., Any]] = {
    **{"sqrt": np.sqrt, "exp": np.exp, "log": np.log, "atan2": np.arctan2, "power": np.power, "where": np.where},
    "sincos": lambda x: (np.sin(x), np.cos(x)),
    "zero": lambda x: 0.0 * x,
    "one": lambda x: 0.0 * x + 1.0,
    "constant": lambda x: x.value if isinstance(x, DualArray) else x,
}
