"""q_dot from u: the matrix N of a mobilizer, its inverse, its rate, and their transposes.

For most kinds q_dot = u, or the first coordinates are an orientation with an angular velocity as its speeds and q_dot = u for
the others. The rest keep their matrices in the record. The field `rates` says which; a mobilizer's direction does not matter.
The angular velocity has three components in F or, where the field `turning` is 2, two along the kind's own first hinge columns:
see `_line`.
"""

from typing import Any

from ..algebra import euler_xyz, quaternion, vec3
from ..algebra.memory import load3
from ..algebra.record import call_routine
from ..algebra.scalar import constant, load, store, where, zero
from ..compiling import generic, routine
from .access import copy, put3, put4, vector3, vector4
from .routines import own_columns

#: q_dot = u.
SAME = 0
#: Four coordinates are a quaternion.
QUATERNION = 1
#: Three coordinates are body-fixed x-y-z angles.
EULER = 2
#: The kind has an N of its own, and its routine keeps that, its inverse and its rate in the record.
MATRIX = 3
#: (|q|^2 - 1)^2 of a quaternion of length 1: four numbers and their norm, each rounded. `locking` has it as a length.
_ROUNDING = 4e-30


@generic
def is_kept(model: Any, b: int) -> bool:
    """True if N is more than a function of q: the kind's own, or made of hinge columns, which are in the record."""
    found: bool = model.rates[b] == MATRIX or model.turning[b] == 2
    return found


@generic
def _axes(model: Any, b: int) -> Any:
    """Of a line, M's x and y axes."""
    columns, first = own_columns(model, b), model.first_u[b]
    return load3(columns, first, 0), load3(columns, first + 1, 0)


@generic
def _angular(model: Any, b: int, u: Any, k: int) -> Any:
    """The angular velocity of the first speeds."""
    if model.turning[b] == 2:
        x, y = _axes(model, b)
        w = vec3.add_scaled(vec3.scale(load(u, k, 0), x), load(u, k + 1, 0), y)
    else:
        w = vector3(u, k)
    return w


@generic
def _put_speeds(model: Any, b: int, out: Any, k: int, w: Any) -> None:
    """The first speeds of an angular velocity: the inverse of `_angular`, and its transpose."""
    if model.turning[b] == 2:
        x, y = _axes(model, b)
        store(out, k, 0, vec3.dot(x, w))
        store(out, k + 1, 0, vec3.dot(y, w))
    else:
        put3(out, k, w)


@generic
def _turned_axes(model: Any, b: int) -> Any:
    """HDot of a line: [-u1 z, u0 z]; zero for a mobilizer whose columns are the axes of F."""
    o = zero(load(model.V_GB, 0, 0))
    x_dot, y_dot = (o, o, o), (o, o, o)
    if model.turning[b] == 2:
        x, y = _axes(model, b)
        z, k = vec3.cross(x, y), model.first_u[b]
        x_dot, y_dot = vec3.scale(-load(model.u, k + 1, 0), z), vec3.scale(load(model.u, k, 0), z)
    return x_dot, y_dot


@generic
def n_times(model: Any, b: int, u: Any, k: int, out: Any, i: int) -> None:
    """out[i:] = N u[k:] for body b: q_dot of u."""
    rates, q, turning = model.rates[b], model.first_q[b], model.turning[b]
    if rates == QUATERNION:
        put4(out, i, quaternion.multiply_by_n(vector4(model.q, q), _angular(model, b, u, k)))
        copy(u, k + turning, out, i + 4, model.num_u[b] - turning)
    elif rates == EULER:
        put3(out, i, euler_xyz.multiply_by_n(vector3(model.q, q), _angular(model, b, u, k)))
        copy(u, k + turning, out, i + 3, model.num_u[b] - turning)
    elif rates == MATRIX:
        _rows_times(model.N, model.first_n[b], model.num_q[b], model.num_u[b], u, k, out, i)
    else:
        copy(u, k, out, i, model.num_u[b])


@generic
def n_transpose_times(model: Any, b: int, p: Any, i: int, out: Any, k: int) -> None:
    """out[k:] = N^T p[i:] for body b."""
    rates, q, turning = model.rates[b], model.first_q[b], model.turning[b]
    if rates == QUATERNION:
        _put_speeds(model, b, out, k, quaternion.multiply_by_n_transpose(vector4(model.q, q), vector4(p, i)))
        copy(p, i + 4, out, k + turning, model.num_u[b] - turning)
    elif rates == EULER:
        _put_speeds(model, b, out, k, euler_xyz.multiply_by_n_transpose(vector3(model.q, q), vector3(p, i)))
        copy(p, i + 3, out, k + turning, model.num_u[b] - turning)
    elif rates == MATRIX:
        _columns_times(model.N, model.first_n[b], model.num_q[b], model.num_u[b], p, i, out, k)
    else:
        copy(p, i, out, k, model.num_u[b])


@generic
def n_inv_times(model: Any, b: int, q_dot: Any, i: int, out: Any, k: int) -> None:
    """out[k:] = N^-1 q_dot[i:] for body b: u of q_dot."""
    rates, q, turning = model.rates[b], model.first_q[b], model.turning[b]
    if rates == QUATERNION:
        _put_speeds(model, b, out, k, quaternion.multiply_by_n_inv(vector4(model.q, q), vector4(q_dot, i)))
        copy(q_dot, i + 4, out, k + turning, model.num_u[b] - turning)
    elif rates == EULER:
        _put_speeds(model, b, out, k, euler_xyz.multiply_by_n_inv(vector3(model.q, q), vector3(q_dot, i)))
        copy(q_dot, i + 3, out, k + turning, model.num_u[b] - turning)
    elif rates == MATRIX:
        _rows_times(model.N_inv, model.first_n[b], model.num_u[b], model.num_q[b], q_dot, i, out, k)
    else:
        copy(q_dot, i, out, k, model.num_u[b])


@generic
def n_inv_transpose_times(model: Any, b: int, v: Any, k: int, out: Any, i: int) -> None:
    """out[i:] = (N^-1)^T v[k:] for body b."""
    rates, q, turning = model.rates[b], model.first_q[b], model.turning[b]
    if rates == QUATERNION:
        put4(out, i, quaternion.multiply_by_n_inv_transpose(vector4(model.q, q), _angular(model, b, v, k)))
        copy(v, k + turning, out, i + 4, model.num_u[b] - turning)
    elif rates == EULER:
        put3(out, i, euler_xyz.multiply_by_n_inv_transpose(vector3(model.q, q), _angular(model, b, v, k)))
        copy(v, k + turning, out, i + 3, model.num_u[b] - turning)
    elif rates == MATRIX:
        _columns_times(model.N_inv, model.first_n[b], model.num_u[b], model.num_q[b], v, k, out, i)
    else:
        copy(v, k, out, i, model.num_u[b])


@generic
def n_dot_times(model: Any, b: int, v: Any, k: int, out: Any, i: int) -> None:
    """out[i:] = NDot v[k:] for body b, whose q_dot is known."""
    rates, q = model.rates[b], model.first_q[b]
    _clear(out, i, model.num_q[b])
    if rates == QUATERNION or rates == EULER:
        x_dot, y_dot = _turned_axes(model, b)
        w = _angular(model, b, v, k)
        w_dot = vec3.add_scaled(vec3.scale(load(v, k, 0), x_dot), load(v, k + 1, 0), y_dot)
        if rates == QUATERNION:
            wxyz, turned = vector4(model.q, q), quaternion.multiply_by_n(vector4(model.q_dot, q), w)
            a0, a1, a2, a3 = quaternion.multiply_by_n(wxyz, w_dot)
            put4(out, i, (turned[0] + a0, turned[1] + a1, turned[2] + a2, turned[3] + a3))
        else:
            angles = vector3(model.q, q)
            bent = euler_xyz.multiply_by_n_dot(angles, vector3(model.q_dot, q), w)
            put3(out, i, vec3.add(bent, euler_xyz.multiply_by_n(angles, w_dot)))
    elif rates == MATRIX:
        _rows_times(model.N_dot, model.first_n[b], model.num_q[b], model.num_u[b], v, k, out, i)


@generic
def n_dot_transpose_times(model: Any, b: int, p: Any, i: int, out: Any, k: int) -> None:
    """out[k:] = NDot^T p[i:] for body b, whose q_dot is known."""
    rates, q = model.rates[b], model.first_q[b]
    _clear(out, k, model.num_u[b])
    if rates == QUATERNION or rates == EULER:
        x_dot, y_dot = _turned_axes(model, b)
        if rates == QUATERNION:
            w = quaternion.multiply_by_n_transpose(vector4(model.q_dot, q), vector4(p, i))
            s = quaternion.multiply_by_n_transpose(vector4(model.q, q), vector4(p, i))
        else:
            angles = vector3(model.q, q)
            w = euler_xyz.multiply_by_n_dot_transpose(angles, vector3(model.q_dot, q), vector3(p, i))
            s = euler_xyz.multiply_by_n_transpose(angles, vector3(p, i))
        _put_speeds(model, b, out, k, w)
        store(out, k, 0, load(out, k, 0) + vec3.dot(x_dot, s))
        store(out, k + 1, 0, load(out, k + 1, 0) + vec3.dot(y_dot, s))
    elif rates == MATRIX:
        _columns_times(model.N_dot, model.first_n[b], model.num_q[b], model.num_u[b], p, i, out, k)


@generic
def find_q_dot(model: Any, b: int) -> None:
    """q_dot of body b: `n_times` of u. Rare kinds of rates are in a routine, so that other models need not compile them."""
    if model.rare_rates[b] != 0:
        call_routine(model.rare_rates[b], model, b, 1)
    else:
        _common(model, b, model.u, model.q_dot)


@generic
def find_q_dot_dot(model: Any, b: int) -> None:
    """q_dot_dot = N udot + NDot u of body b, whose q_dot is known."""
    if model.rare_rates[b] != 0:
        call_routine(model.rare_rates[b], model, b, 2)
    else:
        _common(model, b, model.u_dot, model.q_dot_dot)
        if model.rates[b] == QUATERNION:
            q = model.first_q[b]
            a = quaternion.multiply_by_n(vector4(model.q_dot, q), _angular(model, b, model.u, model.first_u[b]))
            b0, b1, b2, b3 = vector4(model.q_dot_dot, q)
            put4(model.q_dot_dot, q, (b0 + a[0], b1 + a[1], b2 + a[2], b3 + a[3]))


@generic
def _common(model: Any, b: int, u: Any, out: Any) -> None:
    """`n_times`, from all speeds to all coordinates, of a quaternion and where q_dot = u."""
    k, i = model.first_u[b], model.first_q[b]
    if model.rates[b] == QUATERNION:
        turning = model.turning[b]
        put4(out, i, quaternion.multiply_by_n(vector4(model.q, i), _angular(model, b, u, k)))
        copy(u, k + turning, out, i + 4, model.num_u[b] - turning)
    else:
        copy(u, k, out, i, model.num_u[b])


@routine
def rare(model: Any, b: int, derivative: int) -> int:
    """q_dot (1) or q_dot_dot (2) of a body whose rates are EULER or MATRIX."""
    k, q = model.first_u[b], model.first_q[b]
    if derivative == 1:
        n_times(model, b, model.u, k, model.q_dot, q)
    else:
        n_times(model, b, model.u_dot, k, model.q_dot_dot, q)
        if model.rates[b] == EULER:
            angles, w = vector3(model.q, q), _angular(model, b, model.u, k)
            c = euler_xyz.multiply_by_n_dot(angles, vector3(model.q_dot, q), w)
            put3(model.q_dot_dot, q, vec3.add(vector3(model.q_dot_dot, q), c))
        else:
            num_u, first = model.num_u[b], model.first_n[b]
            for i in range(model.num_q[b]):
                total = load(model.q_dot_dot, q + i, 0)
                for j in range(num_u):
                    total = total + load(model.N_dot, first + i * num_u + j, 0) * load(model.u, k + j, 0)
                store(model.q_dot_dot, q + i, 0, total)
    return 0


@generic
def normalize(model: Any, b: int) -> None:
    """Scale the quaternion of body b, where it has one, to length 1.

    One of length 1 already keeps its bits, so that q stays equal to what a lock or a motion holds; its tangents are scaled all
    the same.
    """
    if model.has_quaternion[b] == 1:
        first = model.first_q[b]
        q = vector4(model.q, first)
        off, unit = quaternion.norm_squared(q) - 1.0, quaternion.normalize(q)
        keep = off * off <= _ROUNDING
        w, x = _kept(keep, q[0], unit[0]), _kept(keep, q[1], unit[1])
        y, z = _kept(keep, q[2], unit[2]), _kept(keep, q[3], unit[3])
        put4(model.q, first, (w, x, y, z))


@generic
def _kept(keep: Any, old: Any, new: Any) -> Any:
    """*new*; where *keep* holds, with the value of *old*, which differs by rounding only."""
    return where(keep, constant(old) + (new - constant(new)), new)


@generic
def _rows_times(matrix: Any, first: int, rows: int, columns: int, x: Any, i: int, out: Any, k: int) -> None:
    """out[k:] = matrix x[i:], the matrix row by row from *first* on."""
    for r in range(rows):
        total = 0.0 * load(x, i, 0)
        for c in range(columns):
            total = total + load(matrix, first + r * columns + c, 0) * load(x, i + c, 0)
        store(out, k + r, 0, total)


@generic
def _columns_times(matrix: Any, first: int, rows: int, columns: int, x: Any, i: int, out: Any, k: int) -> None:
    """out[k:] = matrix^T x[i:]."""
    for c in range(columns):
        total = 0.0 * load(x, i, 0)
        for r in range(rows):
            total = total + load(matrix, first + r * columns + c, 0) * load(x, i + r, 0)
        store(out, k + c, 0, total)


@generic
def _clear(out: Any, i: int, n: int) -> None:
    for j in range(n):
        store(out, i + j, 0, 0.0)
