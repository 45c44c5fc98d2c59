"""A mobilizer's kinematics from a user's functions: those left out follow from the transform by differentiation.

With N and its columns, and a dot for the derivative along q_dot = N u, from a function X(q) = (R, p):

    column k of H_FM:  S(w) = dR/dq N_k R^T,  v = dp/dq N_k     S the skew matrix of a vector
    HDot = d/dt of the columns,  NDot = d/dt of N

H is called with `Dual` numbers of num_u tangents, the columns of N, and HDot with those of one tangent, q_dot, over which
the columns then are Duals of Duals. Where angles stand in a quaternion's place, everything is a function of the quaternion
of the angles, and N_E = E(angles) W(q) N(q): W from the quaternion's rate to the angular velocity, E from this to the angles'.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..algebra import euler_xyz, quaternion
from ..algebra.scalar import one, zero
from ..compiling import generic
from ..function.users.unrolled import each, moving, numbers, store_rows, times, transposed, unrolled
from . import _unrolled as w
from .access import STORE_COLUMNS, asks_positions, row_of, store_transform
from .routine import keep_bias, own_columns, own_columns_dot

Function = Callable[..., Any]


class Given(NamedTuple):
    """Users' functions in one form: R as nine numbers, every number of q's own type; None for what follows from the others."""

    transform: Function
    hinge: Function | None
    hinge_dot: Function | None
    n: Function | None
    n_inv: Function | None
    n_dot: Function | None


class Complete(NamedTuple):
    """All the functions, of q and the parameters, or of q, u and the parameters; N and its kin None where q_dot = u."""

    transform: Function
    hinge: Function
    hinge_dot: Function
    n: Function | None
    n_inv: Function | None
    n_dot: Function | None


# ---------------------------------------------------------------------------------------------- one form


def as_nine(function: Function, three_rows: bool) -> Function:
    """*function* with R as nine numbers, and all numbers of the type of q[0]: subtracting a zero converts them."""

    @generic
    def of_nine(q: Any, p: Any) -> Any:
        R, t = function(q, p)
        o = zero(q[0])
        numbers = R[0] - o, R[1] - o, R[2] - o, R[3] - o, R[4] - o, R[5] - o, R[6] - o, R[7] - o, R[8] - o
        return numbers, (t[0] - o, t[1] - o, t[2] - o)

    @generic
    def of_rows(q: Any, p: Any) -> Any:
        (x, y, z), t = function(q, p)
        o = zero(q[0])
        numbers = x[0] - o, x[1] - o, x[2] - o, y[0] - o, y[1] - o, y[2] - o, z[0] - o, z[1] - o, z[2] - o
        return numbers, (t[0] - o, t[1] - o, t[2] - o)

    return of_rows if three_rows else of_nine


def with_scalars_of_q(function: Function, converted: Function, takes_u: bool) -> Function:
    """*function* with all numbers of what it returns of the type of q[0]; *converted* knows their shape."""

    @generic
    def of_q(q: Any, p: Any) -> Any:
        return converted(function(q, p), zero(q[0]))

    @generic
    def of_q_and_u(q: Any, u: Any, p: Any) -> Any:
        return converted(function(q, u, p), zero(q[0]))

    return of_q_and_u if takes_u else of_q


# ---------------------------------------------------------------------------------------------- what follows


def quaternion_n(num_u: int) -> Function:
    """N of a quaternion and q_dot = u for the rest, by rows: ``n(q, p)``."""
    rows, whole = transposed(3, 4), w.beside_identity(4, 3, num_u - 3)

    @generic
    def n(q: Any, p: Any) -> Any:
        i, o = one(q[0]), zero(q[0])
        x, y, z = (i, o, o), (o, i, o), (o, o, i)
        return whole(rows((quaternion.multiply_by_n(q, x), quaternion.multiply_by_n(q, y), quaternion.multiply_by_n(q, z))))

    return n


def completed(given: Given, num_q: int, num_u: int, has_quaternion: bool) -> Complete:
    """The functions of q, with what was not given derived from the others."""
    n = given.n
    rows_of_n = quaternion_n(num_u) if n is None and has_quaternion else n
    moved = _moved(rows_of_n, num_q, num_u)
    hinge = given.hinge or _hinge_of_transform(given.transform, rows_of_n, num_q, num_u)
    hinge_dot = given.hinge_dot or _rate(hinge, w.rate_of_columns(num_u), moved)
    n_dot = given.n_dot or (None if n is None else _rate(n, w.rate_of_rows(num_q, num_u), moved))
    return Complete(given.transform, hinge, hinge_dot, n, given.n_inv, n_dot)


def _moved(rows_of_n: Function | None, num_q: int, num_u: int) -> Function:
    """``f(q, u, p)``: q as Duals of one tangent, q_dot."""
    move = moving(num_q)
    if rows_of_n is None:

        @generic
        def along_u(q: Any, u: Any, p: Any) -> Any:
            return move(q, u)

        return along_u
    n, product = rows_of_n, times(num_q, num_u)

    @generic
    def along_q_dot(q: Any, u: Any, p: Any) -> Any:
        return move(q, product(n(q, p), u))

    return along_q_dot


def _hinge_of_transform(transform: Function, rows_of_n: Function | None, num_q: int, num_u: int) -> Function:
    columns = w.columns_of_transform(num_u)
    if rows_of_n is None:
        along_axes = w.along_axes(num_q)

        @generic
        def hinge(q: Any, p: Any) -> Any:
            R, t = transform(along_axes(q), p)
            return columns(R, t)

        return hinge
    n, along_columns = rows_of_n, w.along_columns(num_q)

    @generic
    def hinge_along_n(q: Any, p: Any) -> Any:
        R, t = transform(along_columns(q, n(q, p)), p)
        return columns(R, t)

    return hinge_along_n


def _rate(function: Function, tangents: Function, moved: Function) -> Function:
    """The derivative of ``function(q, p)`` along q_dot, as a function of q, u and p."""

    @generic
    def rate(q: Any, u: Any, p: Any) -> Any:
        return tangents(function(moved(q, u, p), p))

    return rate


def of_angles(of_q: Complete, num_q: int, num_u: int) -> Complete:
    """The same functions with three angles in place of the quaternion in the first coordinates; num_q counts four."""
    rest = unrolled("a", f"return {each(num_q - 1, 'a[{i}]', first=3)}")

    @generic
    def as_quaternion(a: Any) -> Any:
        return *quaternion.from_body_fixed_xyz(a[0], a[1], a[2]), *rest(a)

    if num_q == 4:

        @generic
        def as_quaternion_alone(a: Any) -> Any:
            return quaternion.from_body_fixed_xyz(a[0], a[1], a[2])

        as_quaternion = as_quaternion_alone

    def of_quaternion(function: Function, takes_u: bool) -> Function:
        @generic
        def of_a(a: Any, p: Any) -> Any:
            return function(as_quaternion(a), p)

        @generic
        def of_a_and_u(a: Any, u: Any, p: Any) -> Any:
            return function(as_quaternion(a), u, p)

        return of_a_and_u if takes_u else of_a

    kinematics = of_quaternion(of_q.transform, False), of_quaternion(of_q.hinge, False), of_quaternion(of_q.hinge_dot, True)
    if of_q.n is None or of_q.n_inv is None:
        return Complete(*kinematics, None, None, None)
    own_n, own_n_inv = of_q.n, of_q.n_inv
    columns, rows = transposed(num_q, num_u), transposed(num_u, num_q - 1)
    tail = "".join(f", column[{i}]" for i in range(4, num_q))
    column_for_angles = unrolled(
        "a, q, column",
        f"x, y, z = to_angles(a, to_w(q, column))\n    return x, y, z{tail}",
        to_angles=euler_xyz.multiply_by_n,
        to_w=quaternion.multiply_by_n_inv,
    )
    row_for_angles = unrolled(
        "a, q, column",
        f"x, y, z = from_angles(a, from_w(q, column))\n    return x, y, z{tail}",
        from_angles=euler_xyz.multiply_by_n_inv_transpose,
        from_w=quaternion.multiply_by_n_transpose,
    )
    all_columns = unrolled("a, q, m", f"return {each(num_u, 'f(a, q, m[{i}])')}", f=column_for_angles)
    all_rows = unrolled("a, q, m", f"return {each(num_u, 'f(a, q, m[{i}])')}", f=row_for_angles)

    @generic
    def n_euler(a: Any, p: Any) -> Any:
        q = as_quaternion(a)
        return rows(all_columns(a, q, columns(own_n(q, p))))

    @generic
    def n_inv_euler(a: Any, p: Any) -> Any:
        q = as_quaternion(a)
        return all_rows(a, q, own_n_inv(q, p))

    n_dot_euler = _rate(n_euler, w.rate_of_rows(num_q - 1, num_u), _moved(n_euler, num_q - 1, num_u))
    return Complete(*kinematics, n_euler, n_inv_euler, n_dot_euler)


# ---------------------------------------------------------------------------------------------- the routine


def keeping(functions: Complete, num_q: int, num_u: int, num_parameters: int) -> tuple[Function, Function]:
    """``at_position(model, b, row)`` and ``at_velocity(model, b)``, which store the functions' results in the record."""
    transform, hinge, hinge_dot, n, n_inv, n_dot = functions
    load_q, load_u, load_p = numbers(num_q), numbers(num_u), numbers(num_parameters)
    store_columns = STORE_COLUMNS[num_u]
    keep_n, keep_n_dot = _keep_nothing, _keep_no_rate
    if n is not None and n_inv is not None and n_dot is not None:
        keep_n, keep_n_dot = _keeping_n(n, n_inv, n_dot, num_q, num_u)

    @generic
    def at_position(model: Any, b: int, row: int) -> None:
        q, p = load_q(model.q, model.first_q[b]), load_p(model.parameters, model.first_parameter[b])
        store_transform(model, row, transform(q, p))
        store_columns(own_columns(model, b), model.first_u[b], hinge(q, p))
        keep_n(model, b, q, p)

    @generic
    def at_velocity(model: Any, b: int) -> None:
        q, p = load_q(model.q, model.first_q[b]), load_p(model.parameters, model.first_parameter[b])
        u = load_u(model.u, model.first_u[b])
        store_columns(own_columns_dot(model, b), model.first_u[b], hinge_dot(q, u, p))
        keep_bias(model, b)
        keep_n_dot(model, b, q, u, p)

    return at_position, at_velocity


@generic
def _keep_nothing(model: Any, b: int, q: Any, p: Any) -> None:
    """Of a mobilizer without an N of its own."""


@generic
def _keep_no_rate(model: Any, b: int, q: Any, u: Any, p: Any) -> None:
    """Of a mobilizer without an N of its own."""


def _keeping_n(n: Function, n_inv: Function, n_dot: Function, num_q: int, num_u: int) -> tuple[Function, Function]:
    store_n, store_n_inv = store_rows(num_q, num_u), store_rows(num_u, num_q)

    @generic
    def keep_n(model: Any, b: int, q: Any, p: Any) -> None:
        store_n(model.N, model.first_n[b], n(q, p))
        store_n_inv(model.N_inv, model.first_n[b], n_inv(q, p))

    @generic
    def keep_n_dot(model: Any, b: int, q: Any, u: Any, p: Any) -> None:
        store_n(model.N_dot, model.first_n[b], n_dot(q, u, p))

    return keep_n, keep_n_dot


def kinematics_of(of_q: Complete, of_a: Complete | None, num_q: int, num_u: int, num_parameters: int) -> Function:
    """The routine: by the quaternion, or by the angles where the model uses these."""
    position, velocity = keeping(of_q, num_q, num_u, num_parameters)
    if of_a is None:

        def kinematics(model: Any, b: int, what: int) -> int:
            if asks_positions(what):
                position(model, b, row_of(what))
            else:
                velocity(model, b)
            return 0

        return kinematics
    position_euler, velocity_euler = keeping(of_a, num_q - 1, num_u, num_parameters)

    def kinematics_of_orientation(model: Any, b: int, what: int) -> int:
        if model.has_quaternion[b] == 1:
            if asks_positions(what):
                position(model, b, row_of(what))
            else:
                velocity(model, b)
        elif asks_positions(what):
            position_euler(model, b, row_of(what))
        else:
            velocity_euler(model, b)
        return 0

    return kinematics_of_orientation
