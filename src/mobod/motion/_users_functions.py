"""The routine of a motion that is a user's function: see `_what` for what it is asked.

position    q = f(t)         q_dot, q_dot_dot by Duals of t, and u = N^-1 q_dot, udot = N^-1 (q_dot_dot - NDot u)
velocity    u = f(t, q)      udot by Duals of t and q along 1 and q_dot
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._frozen import Frozen
from .._jit import Routine
from ..algebra.dual import Dual
from ..algebra.scalar import load, one, zero
from ..errors import ModelError
from ..level import Level
from ..mobilizer import _rates
from ..mobilizer import _written as w
from ..mobilizer._access import VECTORS
from ..mobilizer._users_tuples import frozen, routine_of, try_out
from ._what import SET_Q, SET_U
from .compiled_functions import CompiledFunctions

Function = Callable[..., Any]
#: The level that each of the functions says, and what it takes.
FUNCTIONS = {
    "position": (Level.POSITION, ("t", "parameters")),
    "velocity": (Level.VELOCITY, ("t", "q", "parameters")),
    "acceleration": (Level.ACCELERATION, ("t", "q", "u", "parameters")),
}


def motion_of(functions: Any, nq: int, nu: int, has_quaternion: bool, parameters: list[float]) -> tuple[Level, Routine]:
    """The level and the routine of a user's function, which is checked and frozen, for a mobilizer of *nq* q and *nu* u."""
    given = [name for name in FUNCTIONS if getattr(functions, name) is not None]
    if len(given) != 1:
        raise ModelError(
            f"CompiledFunctions of a motion takes one of position, velocity and acceleration, got {given or 'none'}"
        )
    name = given[0]
    level, arguments = FUNCTIONS[name]
    if has_quaternion:
        if level is Level.POSITION:
            raise ModelError(
                "a mobilizer with a quaternion, or three angles as a state chooses, has coordinates of no fixed number: "
                "prescribe its velocity"
            )
        nq = 0
    f = frozen(getattr(functions, name), name, arguments)
    try_out(f, _places(arguments, nq, nu, parameters), (nq if level is Level.POSITION else nu,))
    make = {"position": _of_time, "velocity": _of_time_and_q, "acceleration": _of_all}[name]
    return level, routine_of(make(f, nq, nu, len(parameters)), [f], (name, nq, nu, len(parameters)))


def _places(names: tuple[str, ...], nq: int, nu: int, parameters: list[float]) -> Iterator[dict[str, Any]]:
    rng = np.random.default_rng(0)
    for size in (0.1, 0.5, 1.0, 2.0):
        q, u = (tuple((size * rng.uniform(-1.0, 1.0, n)).tolist()) for n in (nq, nu))
        found = {"t": size, "q": q, "u": u, "parameters": tuple(parameters)}
        yield {name: found[name] for name in names}


def _numbers_of(n: int) -> Function:
    return w.written("rows, i", f"return {w.each(n, 'load(rows, i + {i}, 0)')}")


def _put(n: int, entry: str) -> Function:
    """``f(rows, i, y, o)``: store what *entry* makes of each of n numbers, less o, a zero of the type that it then has."""
    return w.written("rows, i, y, o", "; ".join(f"store(rows, i + {k}, 0, (y[{k}] - o){entry.format(k=k)})" for k in range(n)))


def _of_time(f: Frozen, nq: int, nu: int, n: int) -> Function:
    function, numbers = f.function, _numbers_of(n)
    put, put_rate = _put(nq, ""), _put(nq, ".tangents[0]")
    put_second = _put(nq, ".tangents[0].tangents[0] - load(rows, i + {k}, 0)")

    def position(model: Any, b: int, what: int) -> int:
        i, k = model.first_q[b], model.first_u[b]
        p, t = numbers(model.motion_numbers, model.first_motion_number[b]), load(model.time, 0, 0)
        t1 = Dual(t, (one(t),))
        if what == SET_Q:
            put(model.q, i, function(t, p), zero(t))
        elif what == SET_U:
            put_rate(model.q_dot, i, function(t1, p), zero(t1))
            _rates.n_inv_times(model, b, model.q_dot, i, model.u, k)
        else:
            t2 = Dual(t1, (one(t1),))
            _rates.n_times(model, b, model.u, k, model.q_dot, i)
            _rates.n_dot_times(model, b, model.u, k, model.work_q, i)
            put_second(model.work_q, i, function(t2, p), zero(t2))
            _rates.n_inv_times(model, b, model.work_q, i, model.known_u_dot, k)
        return 0

    return position


def _of_time_and_q(f: Frozen, nq: int, nu: int, n: int) -> Function:
    function, numbers, coordinates, move = f.function, _numbers_of(n), VECTORS[nq], w.moving(nq)
    put, put_rate = _put(nu, ""), _put(nu, ".tangents[0]")

    def velocity(model: Any, b: int, what: int) -> int:
        i, k = model.first_q[b], model.first_u[b]
        p, t = numbers(model.motion_numbers, model.first_motion_number[b]), load(model.time, 0, 0)
        q = coordinates(model.q, i)
        if what == SET_U:
            put(model.u, k, function(t, q, p), zero(t))
        else:
            _rates.n_times(model, b, model.u, k, model.q_dot, i)
            t1 = Dual(t, (one(t),))
            put_rate(model.known_u_dot, k, function(t1, move(q, coordinates(model.q_dot, i)), p), zero(t1))
        return 0

    return velocity


def _of_all(f: Frozen, nq: int, nu: int, n: int) -> Function:
    function, numbers, coordinates, speeds, put = f.function, _numbers_of(n), VECTORS[nq], VECTORS[nu], _put(nu, "")

    def acceleration(model: Any, b: int, what: int) -> int:
        i, k = model.first_q[b], model.first_u[b]
        p, t = numbers(model.motion_numbers, model.first_motion_number[b]), load(model.time, 0, 0)
        put(model.known_u_dot, k, function(t, coordinates(model.q, i), speeds(model.u, k), p), zero(t))
        return 0

    return acceleration


__all__ = ["CompiledFunctions", "motion_of"]
