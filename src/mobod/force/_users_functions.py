"""From `CompiledFunctions` of a force to its routine: checked by calling them in plain Python, then compiled when needed.

Integers: the bodies, then the mobilizers. Numbers: the parameters. A function's arguments are tuples of tuples, as many as it
asks for: each is made by a function that calls the one for one less.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._frozen import Frozen
from .._jit import UsersRoutine, generic
from ..algebra.dual import Dual
from ..algebra.memory import add_spatial, load3, load9, load_spatial
from ..algebra.record import LANES
from ..algebra.scalar import load, store
from ..errors import ModelError
from ..mobilizer._access import VECTORS
from ..mobilizer._users_functions import _in_plain_words as in_plain_words
from ..mobilizer._users_trial import _Ambiguous as Ambiguous
from ..mobilizer._users_trial import _has_others as has_others
from ..mobilizer._users_trial import _said_by as said_by
from ..mobilizer._users_trial import _same as same
from ..mobilizer._users_trial import _shape as shape_of
from ._by_address import by_address
from .compiled_functions import CompiledFunctions

Function = Callable[..., Any]

#: The arguments of each function.
ARGUMENTS = {
    "force": ("t", "X", "V", "q", "u", "parameters"),
    "potential_energy": ("t", "X", "q", "parameters"),
    "power_dissipation": ("t", "X", "V", "q", "u", "parameters"),
}
#: How many parameters there can be: each is an argument that Numba has to type.
MOST_PARAMETERS = 32


class Shape(NamedTuple):
    """How many bodies, and q and u of each mobilizer."""

    num_bodies: int
    num_q: tuple[int, ...]
    num_u: tuple[int, ...]
    num_parameters: int


def routine_of(functions: CompiledFunctions, shape: Shape, parameters: tuple[float, ...]) -> UsersRoutine:
    """The routine of users' functions, which are checked and frozen."""
    if shape.num_parameters > MOST_PARAMETERS:
        raise ModelError(f"compiled functions take {MOST_PARAMETERS} parameters at most, got {shape.num_parameters}")
    frozen = {name: Frozen(f, name) for name in ARGUMENTS if (f := getattr(functions, name)) is not None}
    if "force" not in frozen:
        raise ModelError("CompiledFunctions needs a force; the other functions are optional")
    for name, f in frozen.items():
        try:
            inspect.signature(f.function).bind(*ARGUMENTS[name])
        except TypeError as error:
            raise ModelError(f"{f.what} has to take ({', '.join(ARGUMENTS[name])}): {error}") from None
    _try_out(frozen, shape, parameters)
    kernel = _kernel(frozen, shape)
    prints = {name: f.fingerprint for name, f in frozen.items()}
    fingerprint = None
    if None not in prints.values():
        fingerprint = hashlib.blake2b(repr(("force", shape, prints)).encode(), digest_size=16).hexdigest()

    def explain(scalar: str, error: Exception) -> Exception:
        of_what = {"state": "numbers", "lanes": "eight states at a time", "duals": "dual numbers"}[scalar]
        f = _meant(frozen, str(error))
        return ModelError(f"{f.what} cannot be compiled for {of_what}: {in_plain_words(str(error), f)}")

    parts = [part for f in frozen.values() for part in f.parts]
    if fingerprint is None:
        return UsersRoutine(kernel, parts, None, explain)
    if fingerprint not in _routines:
        _routines[fingerprint] = UsersRoutine(kernel, parts, fingerprint, explain)
    return _routines[fingerprint]


#: The routines made so far: forces made of equal functions share them, and make one run.
_routines: dict[str, UsersRoutine] = {}


def _meant(frozen: dict[str, Frozen], message: str) -> Frozen:
    """The function that a message of Numba's is about, as far as it says so."""
    return next((f for f in frozen.values() if f"{f.function.__name__}" in message), frozen["force"])


# ---------------------------------------------------------------------------------------------- tuples of tuples


def _collected(ones: Sequence[Function]) -> Function:
    """``(ones[0](model, i), ones[1](model, i + 1), ...)``."""
    if not ones:

        @generic
        def nothing(model: Any, i: int) -> Any:
            return ()

        return nothing
    before, last, at = _collected(ones[:-1]), ones[-1], len(ones) - 1

    @generic
    def collect(model: Any, i: int) -> Any:
        return (*before(model, i), last(model, i + at))

    return collect


@generic
def _pose(model: Any, i: int) -> Any:
    b = model.force_integers[i]
    return load9(model.R_GB, b, 0), load3(model.p_GB, b, 0)


@generic
def _velocity(model: Any, i: int) -> Any:
    return load_spatial(model.V_GB, model.force_integers[i])


def _coordinates(n: int) -> Function:
    vector = VECTORS[n]

    @generic
    def coordinates(model: Any, i: int) -> Any:
        return vector(model.q, model.first_q[model.force_integers[i]])

    return coordinates


def _speeds(n: int) -> Function:
    vector = VECTORS[n]

    @generic
    def speeds(model: Any, i: int) -> Any:
        return vector(model.u, model.first_u[model.force_integers[i]])

    return speeds


def _add_to_bodies(n: int) -> Function:
    """Add the first n of F to the bodies' forces."""
    if n == 0:
        return _nothing_to_add
    before, last = _add_to_bodies(n - 1), n - 1

    @generic
    def add(model: Any, i: int, F: Any) -> None:
        before(model, i, F)
        add_spatial(model.body_forces, model.force_integers[i + last], F[last][0], F[last][1])

    return add


def _add_to_mobilities(num_u: tuple[int, ...]) -> Function:
    """Add f to the mobilities' forces."""
    if not num_u:
        return _nothing_to_add
    before, last, of_last = _add_to_mobilities(num_u[:-1]), len(num_u) - 1, _add_numbers(num_u[-1])

    @generic
    def add(model: Any, i: int, f: Any) -> None:
        before(model, i, f)
        of_last(model, model.first_u[model.force_integers[i + last]], f[last])

    return add


def _add_numbers(n: int) -> Function:
    if n == 0:
        return _nothing_to_add
    before, last = _add_numbers(n - 1), n - 1

    @generic
    def add(model: Any, k: int, f: Any) -> None:
        before(model, k, f)
        store(model.mobility_forces, k + last, 0, load(model.mobility_forces, k + last, 0) + f[last])

    return add


@generic
def _nothing_to_add(model: Any, i: int, f: Any) -> None:
    """There is none."""


def _kernel(frozen: dict[str, Frozen], shape: Shape) -> Function:
    nb, parameters_of = shape.num_bodies, _collected([_parameter] * shape.num_parameters)
    poses, velocities = _collected([_pose] * nb), _collected([_velocity] * nb)
    q_of, u_of = _collected([_coordinates(n) for n in shape.num_q]), _collected([_speeds(n) for n in shape.num_u])
    add_F, add_f, force = _add_to_bodies(nb), _add_to_mobilities(shape.num_u), frozen["force"].function

    @generic
    def add(model: Any, i: int, x: int) -> None:
        t, X, V = load(model.time, 0, 0), poses(model, i), velocities(model, i)
        F, f = force(t, X, V, q_of(model, i + nb), u_of(model, i + nb), parameters_of(model, x))
        add_F(model, i, F)
        add_f(model, i + nb, f)

    energy = power = None
    if "potential_energy" in frozen:
        energy_of = frozen["potential_energy"].function

        @generic
        def energy(model: Any, i: int, x: int) -> Any:
            return energy_of(load(model.time, 0, 0), poses(model, i), q_of(model, i + nb), parameters_of(model, x))

    if "power_dissipation" in frozen:
        power_of = frozen["power_dissipation"].function

        @generic
        def power(model: Any, i: int, x: int) -> Any:
            t, X, V = load(model.time, 0, 0), poses(model, i), velocities(model, i)
            return power_of(t, X, V, q_of(model, i + nb), u_of(model, i + nb), parameters_of(model, x))

    return by_address(add, energy, power).python


@generic
def _parameter(model: Any, i: int) -> Any:
    return load(model.force_numbers, i, 0)


# ---------------------------------------------------------------------------------------------- trial


def _try_out(frozen: dict[str, Frozen], shape: Shape, parameters: tuple[float, ...]) -> None:
    """Call the functions in plain Python, at a few random motions, with floats, eight states at a time and dual numbers."""
    rng = np.random.default_rng(0)
    for name, f in frozen.items():
        found = None
        for size in (0.1, 0.5, 1.0, 2.0):
            arguments = _arguments(rng, size, shape, parameters)
            try:
                value = f.function(*(arguments[key] for key in ARGUMENTS[name]))
            except (ArithmeticError, ValueError) as error:  # such as a root of a negative number: elsewhere there may be none
                found = f"{f.what} fails at {arguments}: {said_by(error)}"
                continue
            except Exception as error:
                counts = f"{shape.num_bodies} bodies, {len(shape.num_q)} mobilizers, {len(parameters)} parameters"
                raise ModelError(f"{f.what} fails: {said_by(error)}. (There are {counts})") from error
            _check_value(name, f, value, shape)
            _try_other_numbers(name, f, arguments, value)
            found = None
            break
        if found is not None:
            raise ModelError(f"{found}; and so it is at other places that were tried")


def _arguments(rng: np.random.Generator, size: float, shape: Shape, parameters: tuple[float, ...]) -> dict[str, Any]:
    def numbers(n: int) -> tuple[float, ...]:
        return tuple((size * rng.uniform(-1.0, 1.0, n)).tolist())

    def rotation() -> tuple[float, ...]:
        from ..value import Rotation

        q = rng.normal(size=4)
        return tuple(np.asarray(Rotation.from_quaternion(q / np.linalg.norm(q))).ravel().tolist())

    return {
        "t": size,
        "X": tuple((rotation(), numbers(3)) for _ in range(shape.num_bodies)),
        "V": tuple((numbers(3), numbers(3)) for _ in range(shape.num_bodies)),
        "q": tuple(numbers(n) for n in shape.num_q),
        "u": tuple(numbers(n) for n in shape.num_u),
        "parameters": parameters,
    }


def _check_value(name: str, f: Frozen, value: Any, shape: Shape) -> None:
    if name != "force":
        if shape_of(value) != ():
            raise ModelError(f"{f.what} has to return a number; it returned {value!r}")
        return
    listed = "; lists and arrays are not taken, write tuples" if has_others(value) else ""
    if not (isinstance(value, tuple) and len(value) == 2):
        raise ModelError(
            f"{f.what} has to return a pair (F, f), of forces on bodies and of generalized forces; it returned {value!r}"
        )
    F, g = value
    if shape_of(F) != (shape.num_bodies, 2, 3) and not (F == () and shape.num_bodies == 0):
        raise ModelError(
            f"F of {f.what} has to be a tuple of {shape.num_bodies} pairs (torque, force), each of three numbers{listed}; "
            f"it is {F!r}"
        )
    fits = isinstance(g, tuple) and len(g) == len(shape.num_u)
    if not fits or any(shape_of(one) != (n,) and not (one == () and n == 0) for one, n in zip(g, shape.num_u, strict=True)):
        raise ModelError(
            f"f of {f.what} has to be a tuple of {len(shape.num_u)} tuples, of {list(shape.num_u)} numbers{listed}; it is {g!r}"
        )


def _try_other_numbers(name: str, f: Frozen, arguments: dict[str, Any], expected: Any) -> None:
    """The function with eight states at a time, and with dual numbers: the values have to be the same as of one."""
    for make, what in (
        (lambda x: np.full(LANES, x), "eight states at a time"),
        (lambda x: Dual(x, (1.0,)), "dual numbers"),
    ):
        other = [_each(make, arguments[key]) for key in ARGUMENTS[name]]
        try:
            with np.errstate(all="ignore"):
                found = f.function(*other)
        except Exception as error:
            said, hint = said_by(error), ""
            if isinstance(error, Ambiguous) or "truth value" in said or "neither true nor false" in said:
                hint = "; for a choice by a number use mobod.algebra.where(condition, a, b), not if, and, or, min, max"
            raise ModelError(f"{f.what} fails with {what}, in which it is called too: {said}{hint}") from error
        if not same(expected, found):
            raise ModelError(
                f"{f.what} gives other values with {what}, in which it is called too, than with floats: {found!r} "
                f"and {expected!r}"
            )


def _each(make: Callable[[float], Any], value: Any) -> Any:
    return tuple(_each(make, part) for part in value) if isinstance(value, tuple) else make(value)
