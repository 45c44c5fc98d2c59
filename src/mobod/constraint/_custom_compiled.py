"""CompiledFunctions: a constraint that its user writes as a function of numbers; tried out, frozen, and unrolled."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..compiling import Routine
from ..errors import ModelError
from ..function import users
from ..function.users.surroundings import rotation
from ..value.checks import integer
from ._differentiated import rows_of
from .access import kernel

#: How many coordinates the function can take: tangents of a Dual.
MOST_COORDINATES = 8
#: How many places are tried to find one at which it has values.
PLACES = 6


@dataclasses.dataclass(frozen=True, eq=False)
class CompiledFunctions:
    """Equations of positions as a function, for ``Custom(compiled=CompiledFunctions(...))``.

    The rows of G and the acceleration offsets follow from the errors by exact differentiation with dual numbers.

    Parameters
    ----------
    position_error : callable
        ``position_error(X, q, parameters) -> errors``, or ``position_error(t, X, q, parameters)``, as of a force's potential
        energy, where they depend on the time. *X* has for each of *bodies* the pair (R, p): R_GB, nine numbers by rows, and
        p_GB, both in Ground; *q* has for each of *mobilizers* a tuple of its coordinates. Returns a tuple of *num_equations*
        numbers.
    num_equations : int
        How many, 1 or more.
    bodies : sequence of MobilizedBody
        Those whose poses the function gets, in this order.
    mobilizers : sequence of MobilizedBody
        Those whose coordinates it gets, in this order.
    parameters : sequence of float, or mapping of str to float
        Numbers that every state has a copy of, which it can change: lengths, heights; a mapping gives them names, see
        `Custom.set_parameter`.

    Notes
    -----
    The function is written as those of `mobod.force.CompiledFunctions`: with ``+ - * / **``, comparisons and what is in
    `mobod.algebra`: `mobod.algebra.sin` and its like, ``where(condition, a, b)`` in place of ``if`` on a number,
    `mobod.algebra.mat33` and `mobod.algebra.vec3` for matrices of nine and vectors of three. It is called with numbers, with
    eight states at a time and with dual numbers; it may call other functions that are written so. It is frozen when the
    constraint is made, with the values of outer variables that it uses.

    Examples
    --------
    Two points at a distance that is a parameter:

    >>> import mobod as mb
    >>> def error(X, q, parameters):
    ...     (R1, p1), (R2, p2) = X
    ...     dx, dy, dz = p2[0] - p1[0], p2[1] - p1[1], p2[2] - p1[2]
    ...     return (dx * dx + dy * dy + dz * dz - parameters[0] ** 2,)
    >>> system, state = mb.examples.double_pendulum.build()
    >>> bodies = [system.matter.ground, system.matter.bodies["lower"]]
    >>> functions = mb.constraint.CompiledFunctions(error, bodies=bodies, parameters=[1.5])
    """

    position_error: Callable[..., Any]
    num_equations: int = 1
    bodies: Sequence[Any] = ()
    mobilizers: Sequence[Any] = ()
    parameters: npt.ArrayLike | Mapping[str, float] = ()


def freeze(functions: Any, num_bodies: int, num_coordinates: int, num_parameters: int) -> users.Frozen:
    """The function frozen; refuses one that does not take these bodies, coordinates and parameters."""
    m = functions.num_equations
    integer("num_equations of CompiledFunctions", m)
    if m < 1:
        raise ModelError(f"num_equations of CompiledFunctions is {m}; it has to be 1 or more")
    if num_bodies + num_coordinates == 0:
        raise ModelError(
            "compiled equations are of the poses of some bodies, or of the coordinates of some mobilizers: name them"
        )
    if num_coordinates > MOST_COORDINATES:
        raise ModelError(f"compiled equations are of {MOST_COORDINATES} coordinates at most, got {num_coordinates}")
    users.check_number_of_parameters(num_parameters)
    time = ("t",) if takes_time(functions.position_error) else ()
    return users.freeze(functions.position_error, "position_error", (*time, "X", "q", "parameters"))


def takes_time(function: Any) -> bool:
    """True if the first argument of the function is called t."""
    code = getattr(getattr(function, "py_func", function), "__code__", None)
    return code is not None and code.co_varnames[: code.co_argcount][:1] == ("t",)


def try_out(
    f: users.Frozen, m: int, num_bodies: int, num_q: Sequence[int], parameters: tuple[float, ...], of_time: bool
) -> None:
    """Call the function, which is to give m errors, at random places; *num_q* of each mobilizer."""
    rng = np.random.default_rng(0)

    def draw(n: int) -> tuple[float, ...]:
        return tuple(rng.uniform(-1.0, 1.0, n).tolist())

    places: list[dict[str, Any]] = [
        {
            "X": tuple((rotation(rng), draw(3)) for _ in range(num_bodies)),
            "q": tuple(draw(n) for n in num_q),
            "parameters": parameters,
        }
        for _ in range(PLACES)
    ]
    if of_time:
        places = [{"t": draw(1)[0], **place} for place in places]

    def check(errors: Any, arguments: Any) -> None:
        users.check_tuples(f"{f.what} has to return a tuple of {m} number{'s' * (m > 1)}", errors, (m,))
        if not np.isfinite(errors).all():
            raise users.OutOfReach(f"{f.what} is not finite at {users.tell(arguments)}: it returned {errors!r}")

    counts = f"X has {num_bodies} pairs, q {len(num_q)} tuples, parameters {len(parameters)} numbers"
    users.try_out(f, places, counts, check)


def routine_of(
    f: users.Frozen, m: int, num_bodies: int, coordinates: list[tuple[int, int]], num_parameters: int, of_time: bool
) -> Routine:
    """The routine of a constraint of this kind; equal functions share one."""
    shape = m, num_bodies, coordinates, num_parameters, of_time
    return users.routine_of("constraint", {"position_error": f}, shape, lambda: kernel(*rows_of(f.function, *shape)))
