"""Trying users' functions out in plain Python: what is wrong with them is said of the function, before Numba sees it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._frozen import Frozen
from ..algebra.dual import Dual
from ..algebra.record import LANES
from ..errors import ModelError
from .compiled_functions import CompiledFunctions

Numbers = tuple[float, ...]

#: Names of the functions, and whether they take u.
NAMES = {"transform": False, "hinge": False, "hinge_dot": True, "n": False, "n_inv": False, "n_dot": True}
#: How far R may be from a rotation: roundings of a user's own arithmetic, or of its constants.
ORTHONORMAL = 1e-9


class Trial:
    """Calls the functions in plain Python, and says what is wrong with what comes back."""

    def __init__(self, functions: CompiledFunctions, frozen: dict[str, Frozen], parameters: Numbers) -> None:
        self._functions, self._frozen, self._parameters = functions, frozen, parameters

    def run(self) -> bool:
        """Check all; whether the transform gives R as three rows."""
        places = self._places()
        for q, u in places:
            try:
                R, _ = self._transform(self._frozen["transform"], q, u)
                for name, f in self._frozen.items():
                    if name != "transform":
                        self._check_shape(name, f, q, u)
                    self._try_other_numbers(name, f, q, u)
                return np.shape(R) == (3, 3)
            except OutOfReach as out:  # such as a root of a negative number, or of zero: there may be none elsewhere
                reason = out
        raise ModelError(f"{reason}; and so it is at {len(places)} places that were tried, of which this is the last")

    def _places(self) -> list[tuple[Numbers, Numbers]]:
        """Where to call them: at the default q, and at others in case that is singular."""
        rng, functions = np.random.default_rng(0), self._functions
        places: list[tuple[Numbers, Numbers]] = []
        for size in (0.0, 0.1, 0.3, 1.0, 1.0, 3.0):
            q = size * rng.uniform(0.2, 1.0, functions.num_q) * (1.0 if len(places) % 2 else -1.0)
            if functions.num_angles == 4:
                q[:4] = (1.0, 0.0, 0.0, 0.0) if size == 0.0 else rng.normal(size=4)
                q[:4] /= np.linalg.norm(q[:4])
            places.append((tuple(q.tolist()), tuple(rng.uniform(-1.0, 1.0, functions.num_u).tolist())))
        return places

    def _call(self, f: Frozen, name: str, q: Any, u: Any, p: Any = None) -> Any:
        p = self._parameters if p is None else p
        arguments = (q, u, p) if NAMES[name] else (q, p)
        with np.errstate(all="ignore"):
            try:
                return f.function(*arguments)
            except (ArithmeticError, ValueError) as error:
                if "truth value" not in str(error):  # of an array of eight
                    raise OutOfReach(f"{f.what} fails at q = {_plain(q)}, u = {_plain(u)}: {_said_by(error)}") from error
                raise _Ambiguous(str(error)) from error
            except Exception as error:
                counts = f"q has {len(q)} numbers, u {len(u)}, parameters {len(self._parameters)}"
                raise ModelError(f"{f.what} fails: {_said_by(error)}. ({counts})") from error

    def _transform(self, f: Frozen, q: Any, u: Any) -> tuple[Any, Any]:
        X = self._call(f, "transform", q, u)
        if not (isinstance(X, tuple) and len(X) == 2):
            raise ModelError(f"{f.what} has to return a pair (R, p), R nine numbers or three rows of three; it returned {X!r}")
        R, p = X
        _check_tuples(f"R of {f.what}", R, ((9,), (3, 3)), "nine numbers by rows, or three rows of three")
        _check_tuples(f"p of {f.what}", p, ((3,),), "three numbers")
        matrix = np.array(R, dtype=np.float64).reshape(3, 3)
        if not (np.isfinite(matrix).all() and np.isfinite(p).all()):
            raise OutOfReach(f"{f.what} is not finite at q = {q}: it returned {X!r}")
        error = float(np.abs(matrix.T @ matrix - np.eye(3)).max())
        if error > ORTHONORMAL or np.linalg.det(matrix) < 0.0:
            wrong = f"is no rotation: R^T R is off by {error:.2g}" if error > ORTHONORMAL else "is left-handed"
            raise ModelError(f"R of {f.what} {wrong} at q = {q}; its columns are the axes of M, in F: {matrix.tolist()}")
        return R, p

    def _check_shape(self, name: str, f: Frozen, q: Any, u: Any) -> None:
        value, nq, nu = self._call(f, name, q, u), self._functions.num_q, self._functions.num_u
        if name in ("hinge", "hinge_dot"):
            text = f"{nu} column{'s' if nu > 1 else ''}, a tuple of {nu}, each a pair (w, v) of three numbers and three"
            _check_tuples(f"what {f.what} returns", value, ((nu, 2, 3),), text)
        else:
            rows, columns = (nu, nq) if name == "n_inv" else (nq, nu)
            text = (
                f"{rows} row{'s' if rows > 1 else ''}, a tuple of {rows}, each of {columns} number{'s' if columns > 1 else ''}"
            )
            _check_tuples(f"what {f.what} returns", value, ((rows, columns),), text)
        if not np.isfinite(np.array(value, dtype=np.float64)).all():
            raise OutOfReach(f"{f.what} is not finite at q = {q}, u = {u}: it returned {value!r}")

    def _try_other_numbers(self, name: str, f: Frozen, q: Numbers, u: Numbers) -> None:
        """The function with eight states at a time, and with dual numbers: the values have to be the same as of one."""
        expected = self._call(f, name, q, u)
        eight = [tuple(np.full(LANES, x) for x in run) for run in (q, u, self._parameters)]
        duals = [tuple(Dual(x, (slope,)) for x in run) for run, slope in ((q, 1.0), (u, 0.0))]
        for arguments, what in ((eight, "eight states at a time"), (duals, "dual numbers")):
            try:
                found = self._call(f, name, *arguments)
            except (_Ambiguous, ModelError) as error:
                said = str(error) if isinstance(error, _Ambiguous) else _said_by(error.__cause__ or error)
                hint = ""
                if isinstance(error, _Ambiguous) or "neither true nor false" in said:
                    hint = "; for a choice by a number use mobod.algebra.where(condition, a, b), not if, and, or, min, max"
                raise ModelError(f"{f.what} fails with {what}, in which it is called too: {said}{hint}") from error
            if not _same(expected, found):
                raise ModelError(
                    f"{f.what} gives other values with {what}, in which it is called too, than with floats: {found!r} "
                    f"and {expected!r}"
                )


class OutOfReach(Exception):
    """A function fails at a place, as it may where a joint cannot be."""


class _Ambiguous(Exception):
    """A function takes eight numbers for one that is true or false."""


def _said_by(error: BaseException) -> str:
    return str(error) if isinstance(error, ModelError) else f"{type(error).__name__}: {error}"


def _plain(numbers: Any) -> Any:
    """Of eight states, or of dual numbers, the values."""
    return tuple(x.value if isinstance(x, Dual) else float(np.ravel(x)[0]) for x in numbers)


def _check_tuples(what: str, value: Any, shapes: tuple[tuple[int, ...], ...], text: str) -> None:
    """Refuse what is not made of tuples and numbers, or has another shape."""
    shape = _shape(value)
    if shape not in shapes:
        listed = "; lists and arrays are not taken, write tuples" if _has_others(value) else ""
        raise ModelError(f"{what} has to be {text}, all of them tuples{listed}; it is {value!r}")


def _shape(value: Any) -> tuple[int, ...] | None:
    """Shape of nested tuples of numbers; None where they are ragged, or something else."""
    if isinstance(value, tuple):
        shapes = {_shape(part) for part in value}
        inner = shapes.pop() if len(shapes) == 1 else None
        return None if inner is None else (len(value), *inner)
    return () if isinstance(value, (int, float, np.floating, np.integer)) and not isinstance(value, bool) else None


def _has_others(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(_has_others(part) for part in value)
    return isinstance(value, (list, np.ndarray))


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, tuple):
        return isinstance(other, tuple) and len(one) == len(other) and all(map(_same, one, other))
    while isinstance(other, Dual):
        other = other.value
    return bool(np.allclose(other, one, rtol=1e-9, atol=1e-12, equal_nan=True))
