"""From a constraint's `CompiledFunctions` to a routine: tried out in plain Python, frozen, then written out."""

from __future__ import annotations

import hashlib
import inspect
from typing import Any

import numpy as np

from .._frozen import Frozen
from .._jit import UsersRoutine
from ..algebra.dual import Dual
from ..algebra.record import LANES
from ..errors import ModelError
from ..mobilizer._users_functions import MOST_PARAMETERS, _in_plain_words
from ..mobilizer._users_trial import _has_others, _same, _shape
from ._of_poses import rows_of
from ._what import POSITIONS
from .compiled_functions import CompiledFunctions

#: How many coordinates the function can take: tangents of a Dual.
MOST_COORDINATES = 8
#: How many places are tried for one at which it has values.
PLACES = 6

_routines: dict[str, UsersRoutine] = {}


def check_functions(functions: Any, num_bodies: int, num_coordinates: int, num_parameters: int) -> Frozen:
    """The function frozen; refuses what cannot be one of so many bodies, coordinates and parameters."""
    if not isinstance(functions, CompiledFunctions):
        raise TypeError(f"compiled has to be a mobod.constraint.CompiledFunctions(...), not {functions!r}")
    m = functions.num_equations
    if isinstance(m, bool) or not hasattr(m, "__index__"):
        raise TypeError(f"num_equations of CompiledFunctions has to be an integer, not {m!r}")
    if m < 1:
        raise ModelError(f"num_equations of CompiledFunctions is {m}; it has to be 1 or more")
    if num_bodies + num_coordinates == 0:
        raise ModelError(
            "compiled equations are of the poses of some bodies, or of the coordinates of some mobilizers: name them"
        )
    if num_coordinates > MOST_COORDINATES:
        raise ModelError(f"compiled equations are of {MOST_COORDINATES} coordinates at most, got {num_coordinates}")
    if num_parameters > MOST_PARAMETERS:
        raise ModelError(f"compiled functions take {MOST_PARAMETERS} parameters at most, got {num_parameters}")
    frozen = Frozen(functions.position_error, "position_error")
    try:
        inspect.signature(frozen.function).bind("poses", "q", "parameters")
    except TypeError as error:
        raise ModelError(f"{frozen.what} has to take (poses, q, parameters): {error}") from None
    return frozen


def try_out(frozen: Frozen, m: int, num_bodies: int, num_coordinates: int, parameters: tuple[float, ...]) -> None:
    """Call the function with numbers, with eight states at a time and with dual numbers, at random places."""
    rng, said = np.random.default_rng(0), ""
    for _ in range(PLACES):
        poses = tuple(_pose(rng) for _ in range(num_bodies))
        q = tuple(rng.uniform(-1.0, 1.0, num_coordinates).tolist())
        try:
            with np.errstate(all="ignore"):
                errors = frozen.function(poses, q, parameters)
        except (ArithmeticError, ValueError) as error:  # such as a root of a negative number: there may be none elsewhere
            said = f"{frozen.what} fails: {type(error).__name__}: {error}"
            continue
        except Exception as error:
            counts = f"poses has {num_bodies} pairs, q {num_coordinates} numbers, parameters {len(parameters)}"
            raise ModelError(f"{frozen.what} fails: {type(error).__name__}: {error}. ({counts})") from error
        if _shape(errors) != (m,):
            listed = "; lists and arrays are not taken, write tuples" if _has_others(errors) else ""
            raise ModelError(
                f"{frozen.what} has to return a tuple of {m} number{'s' * (m > 1)}{listed}; it returned {errors!r}"
            )
        if not np.isfinite(errors).all():
            said = f"{frozen.what} is not finite at poses = {poses}, q = {q}: it returned {errors!r}"
            continue
        _try_other_numbers(frozen, errors, poses, q, parameters)
        return
    raise ModelError(f"{said}; and so it is at {PLACES} places that were tried, of which this is the last")


def _pose(rng: np.random.Generator) -> tuple[Any, Any]:
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    R = Q * np.sign(np.linalg.det(Q))
    return tuple(R.ravel().tolist()), tuple(rng.uniform(-1.0, 1.0, 3).tolist())


def _with(numbers: Any, make: Any) -> Any:
    return tuple(_with(part, make) for part in numbers) if isinstance(numbers, tuple) else make(numbers)


def _try_other_numbers(frozen: Frozen, expected: Any, poses: Any, q: Any, parameters: Any) -> None:
    def eight(x: float) -> Any:
        return np.full(LANES, x)

    def dual(x: float) -> Any:
        return Dual(x, (1.0,))

    for make, own, what in ((eight, eight, "eight states at a time"), (dual, float, "dual numbers")):
        try:
            with np.errstate(all="ignore"):
                found = frozen.function(_with(poses, make), _with(q, make), _with(parameters, own))
        except Exception as error:
            hint = ""
            if "truth value" in str(error) or "neither true nor false" in str(error):
                hint = "; for a choice by a number use mobod.algebra.where(condition, a, b), not if, and, or, min, max"
            raise ModelError(
                f"{frozen.what} fails with {what}, in which it is called too: {type(error).__name__}: {error}{hint}"
            ) from error
        if not _same(expected, found):
            raise ModelError(
                f"{frozen.what} gives other values with {what}, in which it is called too, than with floats: {found!r} "
                f"and {expected!r}"
            )


def routine_of(
    frozen: Frozen, m: int, num_bodies: int, coordinates: list[tuple[int, int]], num_parameters: int
) -> UsersRoutine:
    """The routine of a constraint of this kind; equal functions share one."""
    fingerprint = None
    if frozen.fingerprint is not None:
        shape = "constraint", m, num_bodies, coordinates, num_parameters, frozen.fingerprint
        fingerprint = hashlib.blake2b(repr(shape).encode(), digest_size=16).hexdigest()
        if fingerprint in _routines:
            return _routines[fingerprint]
    positions, velocities = rows_of(frozen.function, m, num_bodies, coordinates, num_parameters)

    def equations(model: Any, c: int, what: int) -> int:
        if what == POSITIONS:
            positions(model, c)
        else:
            velocities(model, c)
        return 0

    def explain(scalar: str, error: Exception) -> Exception:
        of_what = {"state": "numbers", "lanes": "eight states at a time", "duals": "dual numbers"}[scalar]
        return ModelError(f"{frozen.what} cannot be compiled for {of_what}: {_in_plain_words(str(error), frozen)}")

    equations.__module__ = __name__
    made = UsersRoutine(equations, list(frozen.parts), fingerprint, explain)
    if fingerprint is not None:
        _routines[fingerprint] = made
    return made
