"""CompiledFunctions: a mobilizer that its user writes as functions of numbers; checked, then made into one routine.

Errors that show in a call with numbers, with arrays of eight or with dual numbers are raised when the mobilizer is made, and
name the user's function; those that only Numba finds, when its topology is realized.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ModelError
from ..function import users
from . import _differentiated as of, _unrolled as w
from .base import Facts
from .custom_implementation import check_counts
from .routines import BY_ADDRESS

#: Names of the functions, and whether they take u.
NAMES = {"transform": False, "hinge": False, "hinge_dot": True, "n": False, "n_inv": False, "n_dot": True}
#: How far R may be from a rotation: roundings of a user's own arithmetic, or of its constants.
ORTHONORMAL = 1e-9


@dataclasses.dataclass(frozen=True, eq=False)
class CompiledFunctions:
    """A mobilizer as functions of numbers and tuples, for ``Custom(parent, body, compiled=CompiledFunctions(...))``.

    q, u and *parameters* come as tuples of `num_q`, of `num_u` and of as many numbers as `Custom` was given parameters, and
    tuples go back. Functions left out are derived from the others by exact differentiation: *transform* alone is enough.

    The functions are written with ``+ - * / **``, comparisons and what is in `mobod.algebra`: `mobod.algebra.sin` and its like,
    ``where(condition, a, b)`` in place of ``if`` on a number, `mobod.algebra.rotation` and `mobod.algebra.mat33` for matrices
    of nine. They are called with numbers, with eight states at a time and with dual numbers; they may call other functions
    that are written so. Each is frozen when the mobilizer is made, with the values of outer variables that it uses.

    Parameters
    ----------
    num_q : int
        Number of coordinates, 1 to 7.
    num_u : int
        Number of speeds, 1 to 6 and not above `num_q`.
    transform : callable
        ``transform(q, parameters) -> (R, p)``: R_FM as nine numbers by rows, or as three rows of three, and p_FM.
    hinge : callable, optional
        ``hinge(q, parameters) -> columns``: for each speed the pair (w, v) of angular and linear velocity of M in F, in F, at
        unit speed. The derivative of the transform along q_dot unless given.
    hinge_dot : callable, optional
        ``hinge_dot(q, u, parameters) -> columns``: the rates of the hinge columns, taken and expressed in F. The derivative of
        the hinge columns unless given.
    n : callable, optional
        ``n(q, parameters) -> rows``: N in q_dot = N u, `num_q` rows of `num_u` numbers. Unless given q_dot is u; with a
        quaternion its rate is that for an angular velocity in F of the first three speeds, as of a `Ball`.
    n_inv : callable, optional
        ``n_inv(q, parameters) -> rows``: u = N^-1 q_dot, `num_u` rows of `num_q`. Needed with *n*.
    n_dot : callable, optional
        ``n_dot(q, u, parameters) -> rows``: the rate of N. Its derivative unless given.
    num_angles : int
        4 says that the first four coordinates are a quaternion, which is kept at length 1. The functions get a quaternion
        also where a state has three body-fixed x-y-z angles in its place. 0 to 3 have no effect.

    Examples
    --------
    A bead on a parabola z = x^2 / 2 l, one coordinate and one parameter:

    >>> import mobod as mb
    >>> from mobod.algebra import rotation
    >>> def transform(q, parameters):
    ...     (x,), (length,) = q, parameters
    ...     return rotation.identity(x), (x, 0.0, x * x / (2.0 * length))
    >>> bead = mb.mobilizer.CompiledFunctions(num_q=1, num_u=1, transform=transform)
    """

    num_q: int
    num_u: int
    transform: Callable[..., Any]
    hinge: Callable[..., Any] | None = None
    hinge_dot: Callable[..., Any] | None = None
    n: Callable[..., Any] | None = None
    n_inv: Callable[..., Any] | None = None
    n_dot: Callable[..., Any] | None = None
    num_angles: int = 0


def facts_of(functions: CompiledFunctions, parameters: tuple[float, ...]) -> Facts:
    """The `Facts` of a mobilizer made of a user's functions, which are checked and frozen."""
    check_counts("CompiledFunctions", functions.num_u, functions.num_q, functions.num_angles, ("num_u", "num_q", "num_angles"))
    users.check_number_of_parameters(len(parameters))
    frozen = {name: users.freeze(f, name, _arguments(name)) for name in NAMES if (f := getattr(functions, name)) is not None}
    _check_what_is_there(functions, frozen)
    three_rows = _try_out(functions, frozen, parameters)
    return _made(functions, frozen, three_rows, len(parameters))


def _arguments(name: str) -> tuple[str, ...]:
    return ("q", "u", "parameters") if NAMES[name] else ("q", "parameters")


def _check_what_is_there(functions: CompiledFunctions, frozen: dict[str, users.Frozen]) -> None:
    if "transform" not in frozen:
        raise ModelError("CompiledFunctions needs a transform; the other functions can follow from it")
    if "n" in frozen and "n_inv" not in frozen:
        raise ModelError(f"{frozen['n'].what} needs n_inv beside it: the inverse of N, for u of q_dot")
    if "n" not in frozen and ("n_inv" in frozen or "n_dot" in frozen):
        raise ModelError("n_inv and n_dot belong to n, which is not there: give it too, or leave them out")
    expected = functions.num_u + (functions.num_angles == 4)
    if "n" not in frozen and functions.num_q != expected:
        raise ModelError(
            f"with {functions.num_q} coordinates and {functions.num_u} speeds q_dot cannot be u: give n and n_inv, q_dot = N u"
        )


def _made(functions: CompiledFunctions, frozen: dict[str, users.Frozen], three_rows: bool, num_parameters: int) -> Facts:
    num_q, num_u, has_quaternion = functions.num_q, functions.num_u, functions.num_angles == 4

    def columns(name: str) -> of.Function | None:
        if name not in frozen:
            return None
        return of.with_scalars_of_q(frozen[name].function, w.as_columns(num_u), NAMES[name])

    def rows(name: str, rows: int, columns: int) -> of.Function | None:
        if name not in frozen:
            return None
        return of.with_scalars_of_q(frozen[name].function, w.as_rows(rows, columns), NAMES[name])

    given = of.Given(
        of.as_nine(frozen["transform"].function, three_rows),
        columns("hinge"),
        columns("hinge_dot"),
        rows("n", num_q, num_u),
        rows("n_inv", num_u, num_q),
        rows("n_dot", num_q, num_u),
    )
    of_q = of.completed(given, num_q, num_u, has_quaternion)
    of_a = of.of_angles(of_q, num_q, num_u) if has_quaternion else None
    return Facts(
        BY_ADDRESS,
        num_q=num_q,
        num_u=num_u,
        transform=_for_python(of_q.transform),
        hinge=_for_python(of_q.hinge),
        transform_euler=_for_python(of_a.transform) if of_a else None,
        hinge_euler=_for_python(of_a.hinge) if of_a else None,
        constant_hinge=False,
        num_parameters=num_parameters,
        has_matrix_n=of_q.n is not None,
        kinematics=users.routine_of(
            "mobilizer",
            frozen,
            (num_q, num_u, has_quaternion, three_rows, num_parameters),
            lambda: of.kinematics_of(of_q, of_a, num_q, num_u, num_parameters),
            {name: [num_q, num_u, num_parameters] if NAMES[name] else [num_q, num_parameters] for name in frozen},
        ),
    )


def _for_python(function: of.Function) -> of.Function:
    """A function of q and the parameters, for `Facts`, which gives the latter only where there are some."""

    @functools.wraps(function)
    def of_q(q: Any, p: Any = ()) -> Any:
        return function(q, p)

    return of_q


# ---------------------------------------------------------------------------------------------- trial


def _try_out(functions: CompiledFunctions, frozen: dict[str, users.Frozen], parameters: tuple[float, ...]) -> bool:
    """Try all of them; returns whether the transform gives R as three rows."""
    nq, nu = functions.num_q, functions.num_u
    counts, three_rows, places = f"q has {nq} numbers, u {nu}, parameters {len(parameters)}", False, _places(functions)
    shapes = {"hinge": (nu, 2, 3), "hinge_dot": (nu, 2, 3), "n": (nq, nu), "n_inv": (nu, nq), "n_dot": (nq, nu)}
    for name, f in frozen.items():
        arguments = [{key: {"q": q, "u": u, "parameters": parameters}[key] for key in _arguments(name)} for q, u in places]
        if name == "transform":
            R, _ = users.try_out(f, arguments, counts, functools.partial(_check_transform, f))
            three_rows = np.shape(R) == (3, 3)
        else:
            users.try_out(f, arguments, counts, functools.partial(_check_matrix, f, name, shapes[name]))
    return three_rows


def _places(functions: CompiledFunctions) -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
    """Pairs q, u to call them at: the default q, and others in case that is singular."""
    rng = np.random.default_rng(0)
    places: list[tuple[tuple[float, ...], tuple[float, ...]]] = []
    for size in (0.0, 0.1, 0.3, 1.0, 1.0, 3.0):
        q = size * rng.uniform(0.2, 1.0, functions.num_q) * (1.0 if len(places) % 2 else -1.0)
        if functions.num_angles == 4:
            q[:4] = (1.0, 0.0, 0.0, 0.0) if size == 0.0 else rng.normal(size=4)
            q[:4] /= np.linalg.norm(q[:4])
        places.append((tuple(q.tolist()), tuple(rng.uniform(-1.0, 1.0, functions.num_u).tolist())))
    return places


def _check_transform(f: users.Frozen, X: Any, arguments: Any) -> None:
    if not (isinstance(X, tuple) and len(X) == 2):
        raise ModelError(f"{f.what} has to return a pair (R, p), R nine numbers or three rows of three; it returned {X!r}")
    R, p = X
    nine = "nine numbers by rows, or three rows of three"
    users.check_tuples(f"R of {f.what} has to be {nine}, all of them tuples", R, (9,), (3, 3))
    users.check_tuples(f"p of {f.what} has to be three numbers, all of them tuples", p, (3,))
    matrix = np.array(R, dtype=np.float64).reshape(3, 3)
    if not (np.isfinite(matrix).all() and np.isfinite(p).all()):
        raise users.OutOfReach(f"{f.what} is not finite at {users.tell(arguments)}: it returned {X!r}")
    error = float(np.abs(matrix.T @ matrix - np.eye(3)).max())
    if error > ORTHONORMAL or np.linalg.det(matrix) < 0.0:
        wrong = f"is no rotation: R^T R is off by {error:.2g}" if error > ORTHONORMAL else "is left-handed"
        raise ModelError(
            f"R of {f.what} {wrong} at q = {arguments['q']}; its columns are the axes of M, in F: {matrix.tolist()}"
        )


def _check_matrix(f: users.Frozen, name: str, shape: tuple[int, ...], value: Any, arguments: Any) -> None:
    if name in ("hinge", "hinge_dot"):
        text = f"{_count(shape[0], 'column')}, each a pair (w, v) of three numbers and three"
    else:
        text = f"{_count(shape[0], 'row')}, each of {shape[1]} number{'s' if shape[1] > 1 else ''}"
    users.check_tuples(f"what {f.what} returns has to be {text}, all of them tuples", value, shape)
    if not np.isfinite(np.array(value, dtype=np.float64)).all():
        raise users.OutOfReach(f"{f.what} is not finite at {users.tell(arguments)}: it returned {value!r}")


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'s' if n > 1 else ''}, a tuple of {n}"
