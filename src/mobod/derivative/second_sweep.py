"""Second derivatives of weights times inverse dynamics, by q, u and udot: one more sweep after `sweep`, in O(n times depth).

With weights l, and L = sum over k of l_k S_k on the way to a body, its motion by them, what is differentiated is the sum of
L . F over all bodies. Its first derivatives are, with sums over the subtree of k of M L = P, and of B^T L = Q,

    by q_k   m_k . F + c_k . P + a_k . Q        by u_k   c_k . P + S_k . Q        by udot_k   S_k . P

with m_k = L x S_k + sigma l, which is to L what a_k is to V. A displacement along S_i, with i on the way to k, carries all of
k's numbers along, and adds to

    V  a_i     A  c_i - V x a_i     L  m_i     F  M c_i + B a_i     P  M m_i     Q  B^T m_i + N a_i     a_k  a_i x S_k

and so on, where N, linear in M and L, is by how much B^T L changes with V. So all second derivatives are products of m_i, a_i,
c_i, S_i with columns of k, which are made once. Between mobilities of one body, the displacement along S_i carries k's column,
and what the mobilizer's own motion adds, in part only: S_k changes by s = sigma_ik - S_i x S_k, and what is constant in F by
its product with -S_i.

Columns have to be constant in F, and q_dot to be u. Conventions as in `sweep`. Without weights, in O(n depth^2): Singh, Russell
and Wensing 2023.
"""

from typing import Any

from ..algebra import mat33, spatial, sym33, vec3
from ..algebra.memory import load3, load6, load9, load_spatial, store3, store9, store_spatial
from ..algebra.scalar import load, store, zero
from ..compiling import generic
from ..force.slopes import subtract_bends
from ..state.fields import Record
from .stiffness import plus
from .sweep import (
    BY_Q,
    BY_U,
    COLUMN_M,
    COLUMN_Q,
    COLUMN_U,
    FORCE,
    MASS,
    MOMENTUM,
    SPEED,
    TURNING,
    cross_force,
    cross_motion,
    load_spatial_at,
    motion_of,
    own_motion,
    times_columns,
)

#: Numbers a body: L; P; the angular part of Q, the linear being zero; N, angular by angular.
PUSHED, TURNED, NEXT, NUMBERS_A_BODY = 6, 12, 15, 24
#: Numbers a mobility: l; what c, a and S on the way to it are multiplied with, by q; what a and S are, by u.
TIMES_C, TIMES_A, TIMES_A_BY_U, NUMBERS_A_MOBILITY = 6, 12, 18, 24


@generic
def _by_motion(bodies: Any, b: int, x: Any) -> Any:
    """P, Q and N of body b's subtree at one motion x of all of it."""
    (w, v), m, h = x, load(bodies, b, MASS), load3(bodies, b, MASS + 1)
    xx, yy, zz, xy, xz, yz = load6(bodies, b, MASS + 4)
    n, f = spatial.mul_inertia(m, h, (xx, yy, zz, xy, xz, yz), w, v)
    half = 0.5 * (xx + yy + zz)
    spread = half - xx, half - yy, half - zz, -xy, -xz, -yz  # second moments of mass
    hv = vec3.dot(h, v)
    X = sym33.mul_vec(spread, (zero(m), w[2], -w[1]))  # columns of -spread w~
    Y = sym33.mul_vec(spread, (-w[2], zero(m), w[0]))
    Z = sym33.mul_vec(spread, (w[1], -w[0], zero(m)))
    N = (
        2.0 * (h[0] * v[0] - hv - X[0]),
        2.0 * (h[0] * v[1] - Y[0]),
        2.0 * (h[0] * v[2] - Z[0]),
        2.0 * (h[1] * v[0] - X[1]),
        2.0 * (h[1] * v[1] - hv - Y[1]),
        2.0 * (h[1] * v[2] - Z[1]),
        2.0 * (h[2] * v[0] - X[2]),
        2.0 * (h[2] * v[1] - Y[2]),
        2.0 * (h[2] * v[2] - hv - Z[2]),
    )
    return (n, f), _transposed(bodies, b, x), N


@generic
def _transposed(bodies: Any, b: int, x: Any) -> Any:
    """The angular part of B^T x, B that of body b's subtree."""
    w, v = x
    (L, P), T = load_spatial_at(bodies, b, MOMENTUM), load6(bodies, b, TURNING)
    return vec3.add(vec3.add(sym33.mul_vec(T, w), vec3.cross(L, w)), vec3.cross(vec3.add(P, P), v))


@generic
def _add(rows: Any, b: int, sums: Any) -> None:
    """P, Q and N added to a body's."""
    (n, f), q, N = sums
    store3(rows, b, PUSHED, vec3.add(load3(rows, b, PUSHED), n))
    store3(rows, b, PUSHED + 3, vec3.add(load3(rows, b, PUSHED + 3), f))
    store3(rows, b, TURNED, vec3.add(load3(rows, b, TURNED), q))
    store9(rows, b, NEXT, mat33.add(load9(rows, b, NEXT), N))


@generic
def _sums_of(rows: Any, b: int) -> Any:
    return load_spatial_at(rows, b, PUSHED), load3(rows, b, TURNED), load9(rows, b, NEXT)


@generic
def _push(model: Record, weights: Any, k: int, bodies: Any, speeds: Any, rows: Any) -> None:
    """L of all bodies, and P, Q and N over their subtrees, for one of the *weights*.

    What is outboard of a body moves as the body does, and as it does relative to it.
    """
    o = zero(load(model.time, 0, 0))
    for i in range(NUMBERS_A_BODY):
        store(rows, 0, i, o)
    for b in range(1, model.nb):
        w, v = load_spatial(rows, model.parent[b])
        for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
            (sw, sv), x = load_spatial(speeds, i), load(weights, k, i)
            w, v = vec3.add_scaled(w, x, sw), vec3.add_scaled(v, x, sv)
        store_spatial(rows, b, w, v)
        for i in range(PUSHED, NUMBERS_A_BODY):
            store(rows, b, i, o)
    for b in range(model.nb - 1, 0, -1):
        p = model.parent[b]
        (w, v), (pw, pv) = load_spatial(rows, b), load_spatial(rows, p)
        if p > 0:
            _add(rows, p, _sums_of(rows, b))
        if model.num_u[b] > 0:
            if p > 0:
                _add(rows, p, _by_motion(bodies, b, (vec3.sub(w, pw), vec3.sub(v, pv))))
            _add(rows, b, _by_motion(bodies, b, (w, v)))


@generic
def _own(model: Record, b: int, i: int) -> Any:
    """The column of mobility i of body b at M's origin."""
    w, v = load_spatial(model.H, i)
    return w, vec3.add(v, vec3.cross(w, load3(model.p_BM_G, b, 0)))


@generic
def _turn_by(model: Record, b: int, weights: Any, k: int) -> Any:
    """The mobilizer's own angular motion by one of the *weights*."""
    first, o = model.first_u[b], zero(load(model.time, 0, 0))
    w = o, o, o
    for i in range(first, first + model.num_u[b]):
        w = vec3.add_scaled(w, load(weights, k, i), load3(model.H, i, 0))
    return w


@generic
def _find_columns(model: Record, b: int, turn: Any, bodies: Any, speeds: Any, rows: Any, columns: Any) -> None:
    """The numbers of body b's mobilities."""
    w, v = load_spatial(rows, b)
    (n, f), q, N = _sums_of(rows, b)
    m, h, inertia = load(bodies, b, MASS), load3(bodies, b, MASS + 1), load6(bodies, b, MASS + 4)
    for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
        (sw, sv), (aw, av) = load_spatial(speeds, i), load_spatial_at(speeds, i, SPEED)
        lw, lv = cross_motion(w, v, sw, sv)
        lv = vec3.add(lv, vec3.cross(_own(model, b, i)[1], turn))
        xw, xv = cross_force(sw, sv, n, f)
        yw, yv = spatial.mul_inertia(m, h, inertia, lw, lv)
        store_spatial(columns, i, lw, lv)
        store3(columns, i, TIMES_C, vec3.add(yw, xw))
        store3(columns, i, TIMES_C + 3, vec3.add(yv, xv))
        zw, zv = cross_force(vec3.add(aw, aw), vec3.add(av, av), n, f)
        zw = vec3.add(zw, vec3.add(_transposed(bodies, b, (lw, lv)), vec3.cross(sw, q)))
        twice = vec3.add(f, f)
        store3(columns, i, TIMES_A, vec3.add(zw, mat33.transpose_mul_vec(N, aw)))
        store3(columns, i, TIMES_A + 3, vec3.add(zv, vec3.cross(twice, aw)))
        store3(columns, i, TIMES_A_BY_U, vec3.add(vec3.add(xw, xw), mat33.transpose_mul_vec(N, sw)))
        store3(columns, i, TIMES_A_BY_U + 3, vec3.add(vec3.add(xv, xv), vec3.cross(twice, sw)))


@generic
def _dot(a: Any, b: Any) -> Any:
    return vec3.dot(a[0], b[0]) + vec3.dot(a[1], b[1])


@generic
def _put(n: int, first: int, i: int, k: int, place: int, speeds: Any, of_sweep: Any, columns: Any, S: Any) -> None:
    """Those by i and then k, at a *place* outboard of i or of the same body; rows of *S* from *first* on."""
    s, a, l = load_spatial(speeds, i), load_spatial_at(speeds, i, SPEED), load_spatial(columns, i)
    x = times_columns(of_sweep, place, COLUMN_Q, l) + times_columns(columns, k, TIMES_A, a)
    store(S, first + i, k, x + _dot(load_spatial_at(speeds, i, BY_Q), load_spatial_at(columns, k, TIMES_C)))
    by_u = load_spatial_at(columns, k, TIMES_A_BY_U)
    store(S, first + i, n + k, times_columns(of_sweep, place, COLUMN_U, l) + _dot(a, by_u))
    store(S, first + n + i, n + k, _dot(s, by_u))
    store(S, first + i, 2 * n + k, times_columns(of_sweep, place, COLUMN_M, l))


@generic
def _put_outboard(n: int, first: int, i: int, k: int, speeds: Any, columns: Any, S: Any) -> None:
    """Those by q of k, which is outboard of i, and u and udot of i; and what is symmetric."""
    s, at_c = load_spatial(speeds, i), load_spatial_at(columns, k, TIMES_C)
    x = _dot(load_spatial_at(speeds, i, BY_U), at_c) + times_columns(columns, k, TIMES_A, s)
    store(S, first + k, n + i, x)
    store(S, first + k, 2 * n + i, _dot(s, at_c))
    store(S, first + k, i, load(S, first + i, k))
    store(S, first + n + k, n + i, load(S, first + n + i, n + k))


@generic
def _minus(a: Any, b: Any) -> Any:
    return vec3.sub(a[0], b[0]), vec3.sub(a[1], b[1])


@generic
def _crossed(a: Any, b: Any) -> Any:
    return cross_motion(a[0], a[1], b[0], b[1])


# fmt: off
@generic
def _put_own(
    model: Record, b: int, first: int, A: Any, udot: Any, g: Any, turn: Any, bodies: Any, speeds: Any, rows: Any, S: Any
) -> None:
    # fmt: on
    """Add what the mobilities of one body have beyond those of others on its way."""
    n, o = model.nu, zero(load(model.time, 0, 0))
    w, v, aw, av = motion_of(model, b, A, load3(bodies, b, 0), g)
    to_M, own_w, own_v, faster = own_motion(model, b, udot)
    V, none, L, F = (w, v), (o, o, o), load_spatial(rows, b), load_spatial_at(bodies, b, FORCE)
    P, Q, _ = _sums_of(rows, b)
    V_P = _minus(V, (own_w, vec3.add(own_v, vec3.cross(vec3.add(load3(bodies, b, 0), to_M), own_w))))
    for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
        s_i, a_i, (w_i, v_i) = load_spatial(speeds, i), load_spatial_at(speeds, i, SPEED), _own(model, b, i)
        for k in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
            s_k, (w_k, v_k) = load_spatial(speeds, k), _own(model, b, k)
            s = _minus((none, vec3.cross(v_i, w_k)), _crossed(s_i, s_k))
            by_l, by_u, by_udot = (none, vec3.cross(v_k, turn)), (none, vec3.cross(v_k, own_w)), (none, vec3.cross(v_k, faster))
            x = _dot(_minus(_crossed(L, s), _crossed(s_i, by_l)), F)
            a = _minus(_crossed(V, s), _crossed(s_i, by_u))
            c = plus(_crossed((aw, av), s), _minus(_crossed(V, a), _crossed(a_i, by_u)))
            c = _minus(c, _crossed(s_i, plus(_crossed(V_P, by_u), by_udot)))
            x = x + _dot(c, P) + vec3.dot(a[0], Q)
            store(S, first + i, k, load(S, first + i, k) + x)
            bias = none, vec3.add(by_u[1], vec3.cross(own_v, w_k))
            e = _minus(_crossed(plus(V_P, V), s), _crossed(plus(a_i, _crossed(s_i, V_P)), s_k))
            e = _minus(e, _crossed(s_i, bias))
            x = _dot(e, P) + vec3.dot(s[0], Q)
            store(S, first + i, n + k, load(S, first + i, n + k) + x)
            e = _minus((none, vec3.add(vec3.cross(v_k, w_i), vec3.cross(v_i, w_k))), _crossed(s_i, s_k))
            store(S, first + n + i, n + k, load(S, first + n + i, n + k) + _dot(e, P))
            store(S, first + i, 2 * n + k, load(S, first + i, 2 * n + k) + _dot(s, P))


# fmt: off
@generic
def sweep(
    model: Record, A: Any, udot: Any, g: Any, slopes: Any, weights: Any, k: int, bodies: Any, speeds: Any, of_sweep: Any,
    rows: Any, columns: Any, first: int, S: Any,
) -> None:
    # fmt: on
    """Second derivatives for one of the *weights*: rows by q, then u, from *first* on in *S*, columns by q, u and udot.

    *bodies*, *speeds* and *of_sweep* are as `sweep.sweep` leaves them; *rows* and *columns* are scratch. What is zero, of
    mobilities that are not on one path from Ground, is not written.
    """
    n = model.nu
    _push(model, weights, k, bodies, speeds, rows)
    for b in range(1, model.nb):
        if model.num_u[b] > 0:
            _find_columns(model, b, _turn_by(model, b, weights, k), bodies, speeds, rows, columns)
    for b in range(1, model.nb):
        own = model.first_place[b] + model.num_u[b]
        for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
            for place in range(model.first_place[b], model.end_place[b]):
                other = model.mobility_at[place]
                _put(n, first, i, other, place, speeds, of_sweep, columns, S)
                if place >= own:
                    _put_outboard(n, first, i, other, speeds, columns, S)
        if model.num_u[b] > 1:
            turn = _turn_by(model, b, weights, k)
            _put_own(model, b, first, A, udot, g, turn, bodies, speeds, rows, S)
    subtract_bends(model, slopes, weights, k, first, S)
