"""CompiledFunctions: a motion that its user writes as a function of numbers, and its routine: see `protocol`.

position    q = f(t)         q_dot, q_dot_dot by Duals of t, and u = N^-1 q_dot, udot = N^-1 (q_dot_dot - NDot u)
velocity    u = f(t, q)      udot by Duals of t and q along 1 and q_dot
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.dual import Dual
from ..algebra.scalar import load, one, zero
from ..compiling import Routine
from ..errors import ModelError
from ..function import users
from ..function.users.unrolled import keep, moving, numbers
from ..mobilizer import q_rates
from ..value.level import Level
from .protocol import SET_Q, SET_U

Function = Callable[..., Any]
#: The level that each of the functions says, and what it takes.
FUNCTIONS = {
    "position": (Level.POSITION, ("t", "parameters")),
    "velocity": (Level.VELOCITY, ("t", "q", "parameters")),
    "acceleration": (Level.ACCELERATION, ("t", "q", "u", "parameters")),
}


@dataclasses.dataclass(frozen=True, eq=False)
class CompiledFunctions:
    """A motion as a function of numbers and tuples, for ``Custom(mobod, compiled=CompiledFunctions(...))``.

    One of the three functions is given, and says the level. What else is needed, rates and accelerations, is differentiated
    from it, exactly, by dual numbers.

    The function is written as those of `mobod.mobilizer.CompiledFunctions`: with ``+ - * / **``, comparisons and what is in
    `mobod.algebra`, ``where(condition, a, b)`` in place of ``if`` on a number. It is called with numbers, with eight states at
    a time and with dual numbers, may call other functions that are written so, and is frozen when the motion is made, with the
    values of outer variables that it uses.

    Parameters
    ----------
    position : callable
        ``position(t, parameters)``: a tuple of the mobilizer's coordinates. Level POSITION.
    velocity : callable
        ``velocity(t, q, parameters)``: a tuple of its speeds; *q* are its coordinates. Level VELOCITY.
    acceleration : callable
        ``acceleration(t, q, u, parameters)``: a tuple of its accelerations udot. Level ACCELERATION.
    parameters : sequence of float, or mapping of str to float
        In a default state, 32 at most; a state can have its own, see `Custom.set_parameters`. A mapping gives them names.

    Notes
    -----
    A mobilizer whose orientation is a quaternion, or three angles where a state chooses so, has coordinates of no fixed number:
    its position cannot be prescribed so, and *q* is an empty tuple.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> arm = system.matter.bodies["lower"]
    >>> def angle(t, parameters):
    ...     return (parameters[0] * t**2,)
    >>> drive = mb.motion.Custom(arm, compiled=mb.motion.CompiledFunctions(angle, parameters=[3.0]))
    >>> state = system.realize_topology()
    >>> state.time = 2.0
    >>> system.prescribe(state)
    True
    >>> arm.get_q(state), arm.get_u(state)
    (12.0, 12.0)
    """

    position: Callable[..., Any] | None = None
    velocity: Callable[..., Any] | None = None
    acceleration: Callable[..., Any] | None = None
    parameters: npt.ArrayLike | Mapping[str, float] = ()


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
    f, wanted = users.freeze(getattr(functions, name), name, arguments), nq if level is Level.POSITION else nu

    def check(value: Any, _: Any) -> None:
        users.check_tuples(f"{f.what} has to return a tuple of {wanted} number{'s' if wanted > 1 else ''}", value, (wanted,))

    counts = f"It gets {nq} q, {nu} u, {len(parameters)} parameters"
    users.try_out(f, _places(arguments, nq, nu, parameters), counts, check)
    make = {"position": _of_time, "velocity": _of_time_and_q, "acceleration": _of_all}[name]
    shape = nq, nu, len(parameters)
    return level, users.routine_of("motion", {name: f}, shape, lambda: make(f, *shape))


def _places(names: tuple[str, ...], nq: int, nu: int, parameters: list[float]) -> list[dict[str, Any]]:
    rng, places = np.random.default_rng(0), []
    for size in (0.1, 0.5, 1.0, 2.0):
        q, u = (tuple((size * rng.uniform(-1.0, 1.0, n)).tolist()) for n in (nq, nu))
        found = {"t": size, "q": q, "u": u, "parameters": tuple(parameters)}
        places.append({name: found[name] for name in names})
    return places


def _of_time(f: users.Frozen, nq: int, nu: int, n: int) -> Function:
    function, parameters = f.function, numbers(n)
    put, put_rate = keep(nq), keep(nq, "{y}.tangents[0]")
    put_second = keep(nq, "{y}.tangents[0].tangents[0] - load(field, at + {k}, 0)")

    def position(model: Any, b: int, what: int) -> int:
        i, k = model.first_q[b], model.first_u[b]
        p, t = parameters(model.motion_numbers, model.first_motion_number[b]), load(model.time, 0, 0)
        t1 = Dual(t, (one(t),))
        if what == SET_Q:
            put(model.q, i, function(t, p), zero(t))
        elif what == SET_U:
            put_rate(model.q_dot, i, function(t1, p), zero(t1))
            q_rates.n_inv_times(model, b, model.q_dot, i, model.u, k)
        else:
            t2 = Dual(t1, (one(t1),))
            q_rates.n_times(model, b, model.u, k, model.q_dot, i)
            q_rates.n_dot_times(model, b, model.u, k, model.work_q, i)
            put_second(model.work_q, i, function(t2, p), zero(t2))
            q_rates.n_inv_times(model, b, model.work_q, i, model.known_u_dot, k)
        return 0

    return position


def _of_time_and_q(f: users.Frozen, nq: int, nu: int, n: int) -> Function:
    function, parameters, coordinates, move = f.function, numbers(n), numbers(nq), moving(nq)
    put, put_rate = keep(nu), keep(nu, "{y}.tangents[0]")

    def velocity(model: Any, b: int, what: int) -> int:
        i, k = model.first_q[b], model.first_u[b]
        p, t = parameters(model.motion_numbers, model.first_motion_number[b]), load(model.time, 0, 0)
        q = coordinates(model.q, i)
        if what == SET_U:
            put(model.u, k, function(t, q, p), zero(t))
        else:
            q_rates.n_times(model, b, model.u, k, model.q_dot, i)
            t1 = Dual(t, (one(t),))
            put_rate(model.known_u_dot, k, function(t1, move(q, coordinates(model.q_dot, i)), p), zero(t1))
        return 0

    return velocity


def _of_all(f: users.Frozen, nq: int, nu: int, n: int) -> Function:
    function, parameters, coordinates, speeds, put = f.function, numbers(n), numbers(nq), numbers(nu), keep(nu)

    def acceleration(model: Any, b: int, what: int) -> int:
        i, k = model.first_q[b], model.first_u[b]
        p, t = parameters(model.motion_numbers, model.first_motion_number[b]), load(model.time, 0, 0)
        put(model.known_u_dot, k, function(t, coordinates(model.q, i), speeds(model.u, k), p), zero(t))
        return 0

    return acceleration
