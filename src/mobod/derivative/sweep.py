"""Derivatives of inverse dynamics by q, in its tangent, and u: one sweep inward, in O(n times depth). Needs velocities.

Spatial vectors are about one point, the origin of the branch's base body: nothing is shifted. S_k is a hinge column there. A
displacement along S_k carries the subtree outboard of k as one rigid body; what changes beyond that, in each of its bodies, is

    by q   V' = a,  A' = c - V x a     a_k = V x S + sigma u     c_k = A x S + V x a + V_P x (sigma u) + sigma udot + gamma
    by u   V' = S,  A' = c - V x S     c_k = (V_P + V) x S + beta

with V and A of k's body, V_P of its parent's. sigma is the derivative of the body's own columns by its own coordinates, at F
held; gamma and beta that of HDot u by q and by u. Where columns are constant in F these are (0; v_k x w) and the like, as M
moves. Then

    F' = M c + B a      B a = V x* M a - M (V x a) + a x* (M V) = (T a_w + a_w x L; 2 a_w x P)

where T = w~ I - I w~ + 2 (v.h) 1 - h v^T - v h^T is symmetric, and (L; P) = M V. M, T, L, P, F add up over subtrees. For i on
the way from Ground to k's body, and j outboard of that

    d tau_i / d q_k = S_i . (M c_k + B a_k + S_k x* F) + sigma_ik . F        d tau_j / d q_k = (M S_j) . c_k + (B^T S_j) . a_k

with the sums M, B, F of k's subtree, then of j's. B a and B^T S need a_w alone. All columns outboard of a mobility are taken at
once, see `matrix_sweep`. Gravity is the acceleration of Ground. Source: Carpentier and Mansard 2018; Singh, Russell and Wensing
2022, whose B has 36 numbers where 12 are enough; here for columns that depend on q, too.
"""

from typing import Any

from ..algebra import mat33, spatial, sym33, vec3
from ..algebra.memory import load3, load6, load9, load_spatial, store3, store6, store_spatial
from ..algebra.object_access import integers, item, matrix, table
from ..algebra.record import LANES, aligned_zeros
from ..algebra.scalar import load, store, zero
from ..compiling import generic
from ..force.pools import numbers3
from ..force.slopes import subtract_slopes
from ..state.fields import Record
from ..state.validity import EVERYTHING
from ..tree import inverse_mass_matrix, matrix_sweep
from .entry import both_in, kernel_of, put_accelerations
from .solve import put_both_products

#: Numbers a body: p from the base's origin; mass, first moment, inertia; T, L, P; F. From MASS on they are sums over subtrees.
MASS, TURNING, MOMENTUM, FORCE, NUMBERS_A_BODY = 3, 13, 19, 25, 31
#: Numbers a mobility: S, a, c by q, c by u.
SPEED, BY_Q, BY_U, NUMBERS_A_MOBILITY = 6, 12, 18, 24
#: Numbers of a mobility's columns: M c + B a + S x* F; the same by u; M S; the angular part of B^T S.
COLUMN_Q, COLUMN_U, COLUMN_M, COLUMN_B, NUMBERS_OF_COLUMNS = 0, 6, 12, 18, 21
#: Numbers that a mobility's columns are made of beside its body's sums: the body's motion; the column, and the mobilizer's own
#: motion; what columns that depend on q add.
MOTION, OWN, OWN_BENDS, INGREDIENTS = 31, 43, 61, 79
#: Numbers a mobility of one state's scratch: the ingredients, its own numbers, its columns, and four results.
FIRST_NUMBER, FIRST_COLUMN, RESULT, NUMBERS_OF_STATE = INGREDIENTS, INGREDIENTS + 24, INGREDIENTS + 45, INGREDIENTS + 49
#: Of a mobility k: derivatives by its coordinate of six columns and of HDot u, then that of HDot u by its speed, in F.
BEND, BEND_BY_U, NUMBERS_OF_BENDS = 36, 42, 48


@generic
def gravity(model: Record) -> Any:
    """The sum of the fields that are switched on."""
    o = zero(load(model.time, 0, 0))
    g = o, o, o
    for e in range(model.ng):
        if model.force_enabled[e] == 1:
            g = vec3.add(g, numbers3(model, model.force_first_number[e]))
    return g


@generic
def gravity_on(model: Record, b: int) -> Any:
    """The sum of the fields that are switched on and pull on body b."""
    o = zero(load(model.time, 0, 0))
    g = o, o, o
    for e in range(model.ng):
        if model.force_enabled[e] == 1 and model.force_integers[model.force_first_integer[e] + b] == 1:
            g = vec3.add(g, numbers3(model, model.force_first_number[e]))
    return g


@generic
def cross_motion(w: Any, v: Any, a: Any, b: Any) -> Any:
    """(w; v) x (a; b)."""
    return vec3.cross(w, a), vec3.add(vec3.cross(w, b), vec3.cross(v, a))


@generic
def cross_force(w: Any, v: Any, n: Any, f: Any) -> Any:
    """(w; v) x* (n; f)."""
    return vec3.add(vec3.cross(w, n), vec3.cross(v, f)), vec3.cross(w, f)


@generic
def _turning(w: Any, v: Any, h: Any, inertia: Any) -> Any:
    """T, xx yy zz xy xz yz."""
    x = vec3.cross(w, (inertia[0], inertia[3], inertia[4]))
    y = vec3.cross(w, (inertia[3], inertia[1], inertia[5]))
    z = vec3.cross(w, (inertia[4], inertia[5], inertia[2]))
    twice = 2.0 * vec3.dot(v, h)
    return (
        2.0 * x[0] + twice - 2.0 * h[0] * v[0],
        2.0 * y[1] + twice - 2.0 * h[1] * v[1],
        2.0 * z[2] + twice - 2.0 * h[2] * v[2],
        x[1] + y[0] - h[0] * v[1] - h[1] * v[0],
        x[2] + z[0] - h[0] * v[2] - h[2] * v[0],
        y[2] + z[1] - h[1] * v[2] - h[2] * v[1],
    )


@generic
def motion_of(model: Record, b: int, A: Any, r: Any, g: Any) -> Any:
    """Velocity, and acceleration less gravity, of body b about the point from which its origin lies at r."""
    w, v = load_spatial(model.V_GB, b)
    aw, av = load_spatial(A, b)
    av = vec3.sub(vec3.sub(av, vec3.cross(w, v)), g)
    return w, vec3.add(v, vec3.cross(r, w)), aw, vec3.add(av, vec3.cross(r, aw))


@generic
def _place(model: Record, b: int, bodies: Any) -> None:
    """Position of body b from its base's origin, and its own M. Its parent comes first."""
    o = zero(load(model.time, 0, 0))
    p, r = model.parent[b], (o, o, o)
    if p > 0:
        r = vec3.add(load3(bodies, p, 0), load3(model.p_PB_G, b, 0))
    m = load(model.mass, b, 0)
    h, inertia = spatial.shift_inertia(m, vec3.scale(m, load3(model.com_G, b, 0)), load6(model.inertia_G, b, 0), r)
    store3(bodies, b, 0, r)
    store(bodies, b, MASS, o + m)
    store3(bodies, b, MASS + 1, h)
    store6(bodies, b, MASS + 4, inertia)


@generic
def _lump(model: Record, b: int, bodies: Any) -> None:
    """M of a body that is welded to its parent becomes part of the parent's."""
    p = model.parent[b]
    for k in range(MASS, TURNING):
        store(bodies, p, k, load(bodies, p, k) + load(bodies, b, k))
    for k in range(MASS, NUMBERS_A_BODY):
        store(bodies, b, k, 0.0)


@generic
def _forces_of(model: Record, b: int, A: Any, g: Any, bodies: Any) -> None:
    """T, L, P, F of body b's own M."""
    m, h, inertia = load(bodies, b, MASS), load3(bodies, b, MASS + 1), load6(bodies, b, MASS + 4)
    w, v, aw, av = motion_of(model, b, A, load3(bodies, b, 0), g)
    L, P = spatial.mul_inertia(m, h, inertia, w, v)
    n, f = spatial.mul_inertia(m, h, inertia, aw, av)
    n0, f0 = cross_force(w, v, L, P)
    store6(bodies, b, TURNING, _turning(w, v, h, inertia))
    store3(bodies, b, MOMENTUM, L)
    store3(bodies, b, MOMENTUM + 3, P)
    store3(bodies, b, FORCE, vec3.add(n, n0))
    store3(bodies, b, FORCE + 3, vec3.add(f, f0))


@generic
def begin(model: Record, A: Any, g: Any, bodies: Any) -> None:
    """The poses of all bodies, and their own M, T, L, P, F; those of welded bodies with the body's that carries them."""
    for b in range(1, model.nb):
        _place(model, b, bodies)
    for b in range(model.nb - 1, 0, -1):
        if model.num_u[b] == 0 and model.parent[b] > 0:
            _lump(model, b, bodies)
    for b in range(1, model.nb):
        if model.num_u[b] > 0:
            _forces_of(model, b, A, g, bodies)


@generic
def subtract_wrenches(acted: Any, carrier: Any, F: Any, bodies: Any) -> None:
    """Applied wrenches on the bodies *acted* on, a row a body, from F of the bodies that carry them."""
    for at in range(acted.shape[0]):
        b = acted[at]
        c = carrier[b]
        if c > 0:
            torque, force = load_spatial(F, b)
            torque = vec3.add(torque, vec3.cross(load3(bodies, b, 0), force))
            store3(bodies, c, FORCE, vec3.sub(load3(bodies, c, FORCE), torque))
            store3(bodies, c, FORCE + 3, vec3.sub(load3(bodies, c, FORCE + 3), force))


@generic
def _times_b(T: Any, L: Any, P: Any, a: Any) -> Any:
    """B (a; anything)."""
    turned = vec3.add(sym33.mul_vec(T, a), vec3.cross(a, L))
    return turned, vec3.cross(vec3.add(a, a), P)


@generic
def _bend(model: Record, b: int, k: int, first: int, bends: Any, R_GF: Any, x: Any) -> Any:
    """The derivative in F, by coordinate k, of the body's columns times x, angular and linear at M's origin."""
    o = zero(load(model.time, 0, 0))
    w, v = (o, o, o), (o, o, o)
    for j in range(model.num_u[b]):
        s = load(x, first + j, 0)
        w = vec3.add_scaled(w, s, load3(bends, k, 6 * j))
        v = vec3.add_scaled(v, s, load3(bends, k, 6 * j + 3))
    return mat33.mul_vec(R_GF, w), mat33.mul_vec(R_GF, v)


@generic
def own_motion(model: Record, b: int, udot: Any) -> Any:
    """Of the mobilizer: from B's origin to M's, (w; v at M) u, and w udot."""
    first, to_M = model.first_u[b], load3(model.p_BM_G, b, 0)
    o = zero(load(model.time, 0, 0))
    own_w, own_v, turn = (o, o, o), (o, o, o), (o, o, o)
    for i in range(first, first + model.num_u[b]):
        hw, hv = load_spatial(model.H, i)
        u = load(model.u, i, 0)
        own_w, own_v = vec3.add_scaled(own_w, u, hw), vec3.add_scaled(own_v, u, vec3.add(hv, vec3.cross(hw, to_M)))
        turn = vec3.add_scaled(turn, load(udot, i, 0), hw)
    return to_M, own_w, own_v, turn


@generic
def _bends_of(model: Record, b: int, i: int, r: Any, own: Any, udot: Any, bends: Any) -> Any:
    """The contribution of a column that depends on q: to sigma u, to sigma udot + gamma, and to beta."""
    to_M, own_w, own_v, _ = own
    p_M, first = vec3.add(r, to_M), model.first_u[b]
    hw, hv = load_spatial(model.H, i)
    at_M = vec3.add(hv, vec3.cross(hw, to_M))
    R_GF = mat33.mul(load9(model.R_GB, model.parent[b], 0), load9(model.R_PF, b, 0))
    bw, bv = _bend(model, b, i, first, bends, R_GF, model.u)
    ew, ev = _bend(model, b, i, first, bends, R_GF, udot)
    rate_w = mat33.mul_vec(R_GF, load3(model.bias_FM, b, 0))
    cw, cv = mat33.mul_vec(R_GF, load3(bends, i, BEND)), mat33.mul_vec(R_GF, load3(bends, i, BEND + 3))
    cv = vec3.add(cv, vec3.add(vec3.cross(bv, own_w), vec3.cross(own_v, bw)))
    cv = vec3.add(cv, vec3.add(vec3.cross(at_M, rate_w), vec3.cross(p_M, cw)))
    dw, dv = mat33.mul_vec(R_GF, load3(bends, i, BEND_BY_U)), mat33.mul_vec(R_GF, load3(bends, i, BEND_BY_U + 3))
    return (
        (bw, vec3.add(bv, vec3.cross(p_M, bw))),
        (vec3.add(ew, cw), vec3.add(vec3.add(ev, vec3.cross(p_M, ew)), cv)),
        (dw, vec3.add(dv, vec3.cross(p_M, dw))),
    )


@generic
def _column(r: Any, motion: Any, h: Any, own: Any, bends: Any) -> Any:
    """S, a, c by q and c by u of a mobility whose hinge column is *h*."""
    (w, v, aw, av), (hw, hv), (to_M, own_w, own_v, turn) = motion, h, own
    (x_w, x_v), (y_w, y_v), (d_w, d_v) = bends
    p_M = vec3.add(r, to_M)
    wP, vP = vec3.sub(w, own_w), vec3.sub(v, vec3.add(own_v, vec3.cross(p_M, own_w)))
    at_M = vec3.add(hv, vec3.cross(hw, to_M))
    sv = vec3.add(hv, vec3.cross(r, hw))
    # sigma u, sigma udot + gamma, beta: first of columns constant in F
    xw, xv, yw, yv = x_w, vec3.cross(at_M, own_w), y_w, vec3.cross(at_M, turn)
    dw, dv = d_w, vec3.add(vec3.add(xv, vec3.cross(own_v, hw)), d_v)
    xv, yv = vec3.add(xv, x_v), vec3.add(yv, y_v)
    pw, pv = cross_motion(w, v, hw, sv)  # V x S
    pw, pv = vec3.add(pw, xw), vec3.add(pv, xv)
    qw, qv = cross_motion(aw, av, hw, sv)
    tw, tv = cross_motion(w, v, pw, pv)
    zw, zv = cross_motion(wP, vP, xw, xv)
    qw = vec3.add(vec3.add(qw, tw), vec3.add(zw, yw))
    qv = vec3.add(vec3.add(qv, tv), vec3.add(zv, yv))
    uw, uv = cross_motion(vec3.add(w, wP), vec3.add(v, vP), hw, sv)
    return (hw, sv), (pw, pv), (qw, qv), (vec3.add(uw, dw), vec3.add(uv, dv))


@generic
def columns_by(sums: Any, S: Any, a: Any, c: Any, e: Any) -> Any:
    """M c + B a + S x* F, the same by u, M S, and the angular part of B^T S, by the *sums* over a mobility's subtree."""
    (m, h, inertia), T, (L, P), (Fn, Ff) = sums
    (hw, sv), (pw, _), (qw, qv), (uw, uv) = S, a, c, e
    nw, nv = spatial.mul_inertia(m, h, inertia, qw, qv)
    kw, kv = _times_b(T, L, P, pw)
    fw, fv = cross_force(hw, sv, Fn, Ff)
    by_q = vec3.add(vec3.add(nw, kw), fw), vec3.add(vec3.add(nv, kv), fv)
    nw, nv = spatial.mul_inertia(m, h, inertia, uw, uv)
    kw, kv = _times_b(T, L, P, hw)
    by_u = vec3.add(nw, kw), vec3.add(nv, kv)
    turned = vec3.add(vec3.add(sym33.mul_vec(T, hw), vec3.cross(L, hw)), vec3.cross(vec3.add(P, P), sv))
    return by_q, by_u, spatial.mul_inertia(m, h, inertia, hw, sv), turned


@generic
def _store_columns(rows: Any, j: int, first: int, sums: Any, S: Any, a: Any, c: Any, e: Any) -> None:
    """The columns of a mobility, number *j*, behind its first numbers, by the *sums* over its subtree."""
    by_q, by_u, of_mass, turned = columns_by(sums, S, a, c, e)
    for k in range(2):
        store3(rows, j, first + COLUMN_Q + 3 * k, by_q[k])
        store3(rows, j, first + COLUMN_U + 3 * k, by_u[k])
        store3(rows, j, first + COLUMN_M + 3 * k, of_mass[k])
    store3(rows, j, first + COLUMN_B, turned)


@generic
def sums_of(bodies: Any, b: int) -> Any:
    """M, T, (L; P), F over body b's subtree."""
    return (
        (load(bodies, b, MASS), load3(bodies, b, MASS + 1), load6(bodies, b, MASS + 4)),
        load6(bodies, b, TURNING),
        load_spatial_at(bodies, b, MOMENTUM),
        load_spatial_at(bodies, b, FORCE),
    )


@generic
def load_spatial_at(rows: Any, row: int, column: int) -> Any:
    """A spatial vector, angular and linear, from six columns."""
    return load3(rows, row, column), load3(rows, row, column + 3)


@generic
def times_columns(rows: Any, row: int, column: int, v: Any) -> Any:
    """Six columns times a spatial vector, angular and linear."""
    return vec3.dot(load3(rows, row, column), v[0]) + vec3.dot(load3(rows, row, column + 3), v[1])


@generic
def subtract(way: Any, first: int, end: int, columns: Any, v: Any, D: Any, at: int, c: int) -> None:
    """Column c of rows from *at* on, of mobilities on a way from *first* to before *end*, less what a wrench is along them."""
    for place in range(first, end):
        i = way[place]
        store(D, at + i, c, load(D, at + i, c) - times_columns(columns, i, 0, v))


@generic
def numbers_of(model: Record, b: int, i: int, motion: Any, own: Any, bodies: Any, more: Any) -> Any:
    """S, a, c by q and c by u of mobility i of body b, of its own and the body's motion; *more* if columns depend on q."""
    return _column(load3(bodies, b, 0), motion, load_spatial(model.H, i), own, more)


@generic
def no_bends(model: Record) -> Any:
    """Terms of columns that are constant in F."""
    o = zero(load(model.time, 0, 0))
    nothing = (o, o, o), (o, o, o)
    return nothing, nothing, nothing


# fmt: off
@generic
def _columns_of(
    model: Record, b: int, A: Any, udot: Any, g: Any, bends: Any, bent: Any, bodies: Any, speeds: Any, columns: Any
) -> None:
    # fmt: on
    """S, a, c of body b's mobilities, and their columns by place. The sums over its subtree are complete."""
    first, n = model.first_u[b], model.num_u[b]
    motion, sums, own = motion_of(model, b, A, load3(bodies, b, 0), g), sums_of(bodies, b), own_motion(model, b, udot)
    for i in range(first, first + n):
        more = no_bends(model)
        if bent[b] > 0:
            more = _bends_of(model, b, i, load3(bodies, b, 0), own, udot, bends)
        S, a, c, e = numbers_of(model, b, i, motion, own, bodies, more)
        store_spatial(speeds, i, S[0], S[1])
        for k in range(2):
            store3(speeds, i, SPEED + 3 * k, a[k])
            store3(speeds, i, BY_Q + 3 * k, c[k])
            store3(speeds, i, BY_U + 3 * k, e[k])
        _store_columns(columns, model.first_place[b] + n - 1 - (i - first), 0, sums, S, a, c, e)


@generic
def _store_three(flat: Any, place: int, first: int, v: Any) -> None:
    """Three numbers of a mobility by its place, one of eight side by side."""
    for k in range(3):
        store(flat, place >> 3, 8 * (first + k) + (place & 7), v[k])


@generic
def _load_three(flat: Any, place: int, first: int) -> Any:
    row, column = place >> 3, 8 * first + (place & 7)
    return load(flat, row, column), load(flat, row, column + 8), load(flat, row, column + 16)


@generic
def ingredients_of(model: Record, b: int, A: Any, udot: Any, g: Any, bends: Any, bent: Any, bodies: Any, flat: Any) -> None:
    """The ingredients of the columns of body b's mobilities, by place. The sums over its subtree are complete."""
    r, first, n = load3(bodies, b, 0), model.first_u[b], model.num_u[b]
    motion, own = motion_of(model, b, A, r, g), own_motion(model, b, udot)
    for i in range(first, first + n):
        place = model.first_place[b] + n - 1 - (i - first)
        for k in range(NUMBERS_A_BODY):
            store(flat, place >> 3, 8 * k + (place & 7), load(bodies, b, k))
        hw, hv = load_spatial(model.H, i)
        for k in range(4):
            _store_three(flat, place, MOTION + 3 * k, motion[k])
            _store_three(flat, place, OWN + 6 + 3 * k, own[k])
        _store_three(flat, place, OWN, hw)
        _store_three(flat, place, OWN + 3, hv)
        if bent[b] > 0:
            x, y, d = _bends_of(model, b, i, r, own, udot, bends)
            for k in range(2):
                _store_three(flat, place, OWN_BENDS + 3 * k, x[k])
                _store_three(flat, place, OWN_BENDS + 6 + 3 * k, y[k])
                _store_three(flat, place, OWN_BENDS + 12 + 3 * k, d[k])


@generic
def eight_columns(wide: Any, j: int) -> None:
    """`_columns_of` eight mobilities by place, from their ingredients."""
    r = load3(wide, j, 0)
    motion = load3(wide, j, MOTION), load3(wide, j, MOTION + 3), load3(wide, j, MOTION + 6), load3(wide, j, MOTION + 9)
    own = load3(wide, j, OWN + 6), load3(wide, j, OWN + 9), load3(wide, j, OWN + 12), load3(wide, j, OWN + 15)
    bends = (
        load_spatial_at(wide, j, OWN_BENDS),
        load_spatial_at(wide, j, OWN_BENDS + 6),
        load_spatial_at(wide, j, OWN_BENDS + 12),
    )
    S, a, c, e = _column(r, motion, load_spatial_at(wide, j, OWN), own, bends)
    for k in range(2):
        store3(wide, j, FIRST_NUMBER + 3 * k, S[k])
        store3(wide, j, FIRST_NUMBER + SPEED + 3 * k, a[k])
        store3(wide, j, FIRST_NUMBER + BY_Q + 3 * k, c[k])
        store3(wide, j, FIRST_NUMBER + BY_U + 3 * k, e[k])
    _store_columns(wide, j, FIRST_COLUMN, sums_of(wide, j), S, a, c, e)


@generic
def _results(rows: Any, j: int, first: int, S: Any, a: Any, c: Any, e: Any) -> Any:
    """Of a mobility i and one outboard, whose columns are row *j*: d tau_i by q and u of that, and of that by i's."""
    x, y = times_columns(rows, j, first + COLUMN_Q, S), times_columns(rows, j, first + COLUMN_U, S)
    by_q, by_u = times_columns(rows, j, first + COLUMN_M, c), times_columns(rows, j, first + COLUMN_M, e)
    kw = load3(rows, j, first + COLUMN_B)
    return x, y, by_q + vec3.dot(a, kw), by_u + vec3.dot(S[0], kw)


@generic
def _put_results(Dq: Any, Du: Any, i: int, k: int, is_outboard: bool, x: Any) -> None:
    """Results of mobilities i and k in rows and columns of both matrices; one row where k is the body's own."""
    store(Dq, i, k, x[0])
    store(Du, i, k, x[1])
    if is_outboard:
        store(Dq, k, i, x[2])
        store(Du, k, i, x[3])


@generic
def _put_row(model: Record, b: int, i: int, columns: Any, speeds: Any, Dq: Any, Du: Any) -> None:
    """Results of mobility i of body b with the body's own and those outboard, of lanes."""
    own, aw = model.first_place[b] + model.num_u[b], load3(speeds, i, SPEED)
    S, c, e = load_spatial(speeds, i), load_spatial_at(speeds, i, BY_Q), load_spatial_at(speeds, i, BY_U)
    for place in range(model.first_place[b], model.end_place[b]):
        _put_results(Dq, Du, i, model.mobility_at[place], place >= own, _results(columns, place, 0, S, aw, c, e))


@generic
def _put_eights(model: Record, b: int, i: int, flat: Any, wide: Any, S: Any, a: Any, c: Any, e: Any, Dq: Any, Du: Any) -> None:
    """The same of one state, eight mobilities by place at once."""
    start, end = model.first_place[b], model.end_place[b]
    for j in range(start >> 3, matrix_sweep.numbers_until(end, 3)):
        for k, x in enumerate(_results(wide, j, FIRST_COLUMN, S, a, c, e)):
            store(wide, j, RESULT + k, x)
    for place in range(start, end):
        row, at = place >> 3, 8 * RESULT + (place & 7)
        x = load(flat, row, at), load(flat, row, at + 8), load(flat, row, at + 16), load(flat, row, at + 24)
        _put_results(Dq, Du, i, model.mobility_at[place], place >= start + model.num_u[b], x)


@generic
def own_rows(model: Record, b: int, bodies: Any, Dq: Any) -> None:
    """sigma_ik . F of the body's own mobilities, of columns constant in F, added."""
    first, n = model.first_u[b], model.num_u[b]
    Ff, to_M = load3(bodies, b, FORCE + 3), load3(model.p_BM_G, b, 0)
    for k in range(first, first + n):
        kw, kv = load_spatial(model.H, k)
        kv = vec3.add(kv, vec3.cross(kw, to_M))
        for i in range(first, first + n):
            store(Dq, i, k, load(Dq, i, k) + vec3.dot(vec3.cross(kv, load3(model.H, i, 0)), Ff))


@generic
def bend_rows(model: Record, b: int, bends: Any, bodies: Any, Dq: Any) -> None:
    """Terms of columns that depend on q, in `own_rows`."""
    first, n = model.first_u[b], model.num_u[b]
    Fn, Ff = load_spatial_at(bodies, b, FORCE)
    about_M = vec3.sub(Fn, vec3.cross(vec3.add(load3(bodies, b, 0), load3(model.p_BM_G, b, 0)), Ff))
    R_GF = mat33.mul(load9(model.R_GB, model.parent[b], 0), load9(model.R_PF, b, 0))
    for k in range(first, first + n):
        for i in range(first, first + n):
            w, v = load_spatial_at(bends, k, 6 * (i - first))
            x = vec3.dot(mat33.mul_vec(R_GF, w), about_M) + vec3.dot(mat33.mul_vec(R_GF, v), Ff)
            store(Dq, i, k, load(Dq, i, k) + x)


@generic
def add_to_parent(model: Record, b: int, bodies: Any) -> None:
    """The sums of body b's subtree become part of its parent's; its own have been used."""
    p = model.parent[b]
    if p > 0 and (model.num_u[b] > 0 or model.has_children[b] == 1):
        for k in range(MASS, NUMBERS_A_BODY):
            store(bodies, p, k, load(bodies, p, k) + load(bodies, b, k))


# fmt: off
@generic
def sweep(
    model: Record, A: Any, udot: Any, g: Any, bends: Any, bent: Any, slopes: Any, acted: Any, carrier: Any, F: Any,
    bodies: Any, speeds: Any, columns: Any, Dq: Any, Du: Any,
) -> None:
    # fmt: on
    """Derivatives of M udot + inertial forces - gravity g - forces on single mobilities, of lanes, into *Dq* and *Du*.

    Other applied wrenches F, on the bodies *acted* on, are carried along; *carrier* says which bodies' they are. Numbers of
    mobilities that are not on one path from Ground are left as they are.
    """
    begin(model, A, g, bodies)
    subtract_wrenches(acted, carrier, F, bodies)
    for b in range(model.nb - 1, 0, -1):
        if model.num_u[b] > 0:
            _columns_of(model, b, A, udot, g, bends, bent, bodies, speeds, columns)
        add_to_parent(model, b, bodies)
    for b in range(model.nb - 1, 0, -1):
        if model.num_u[b] > 0:
            for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
                _put_row(model, b, i, columns, speeds, Dq, Du)
            if model.num_u[b] > 1 or bent[b] > 0:
                own_rows(model, b, bodies, Dq)
            if bent[b] > 0:
                bend_rows(model, b, bends, bodies, Dq)
    subtract_slopes(model, slopes, Dq, Du)


# fmt: off
@generic
def sweep_state(
    model: Record, A: Any, udot: Any, g: Any, bends: Any, bent: Any, slopes: Any, acted: Any, carrier: Any, F: Any,
    bodies: Any, flat: Any, wide: Any, Dq: Any, Du: Any,
) -> None:
    # fmt: on
    """`sweep` of one state: columns are made of eight mobilities at once, in a vector register.

    Columns wait for the sums over their subtrees only: made body by body, they are long chains of operations that wait for
    each other. Numbers of mobilities that are not on one path from Ground are left as they are.
    """
    begin(model, A, g, bodies)
    subtract_wrenches(acted, carrier, F, bodies)
    for b in range(model.nb - 1, 0, -1):
        if model.num_u[b] > 0:
            ingredients_of(model, b, A, udot, g, bends, bent, bodies, flat)
        add_to_parent(model, b, bodies)
    for j in range(wide.shape[0]):
        eight_columns(wide, j)
    for b in range(model.nb - 1, 0, -1):
        n, start = model.num_u[b], model.first_place[b]
        for place in range(start, start + n):
            S = _load_three(flat, place, FIRST_NUMBER), _load_three(flat, place, FIRST_NUMBER + 3)
            aw = _load_three(flat, place, FIRST_NUMBER + SPEED)
            c = _load_three(flat, place, FIRST_NUMBER + BY_Q), _load_three(flat, place, FIRST_NUMBER + BY_Q + 3)
            e = _load_three(flat, place, FIRST_NUMBER + BY_U), _load_three(flat, place, FIRST_NUMBER + BY_U + 3)
            _put_eights(model, b, model.mobility_at[place], flat, wide, S, aw, c, e, Dq, Du)
        if n > 1 or bent[b] > 0:  # a single column constant in F is a pin's, a slider's or a screw's: v and w are parallel
            own_rows(model, b, bodies, Dq)
        if bent[b] > 0:
            bend_rows(model, b, bends, bodies, Dq)
    subtract_slopes(model, slopes, Dq, Du)


@generic
def _put_product(model: Record, S: Any, i: int, place: int, columns: Any, first: int, shift: int, M: Any) -> None:
    """S of mobility i times M S of the one at a *place* outboard, or its own body's: M, on both sides of the diagonal."""
    width = 1 << shift
    row, at, k = place >> shift, (first << shift) + (place & (width - 1)), model.mobility_at[place]
    w = load(columns, row, at), load(columns, row, at + width), load(columns, row, at + 2 * width)
    v = load(columns, row, at + 3 * width), load(columns, row, at + 4 * width), load(columns, row, at + 5 * width)
    x = vec3.dot(S[0], w) + vec3.dot(S[1], v)
    if i == k:
        x = x + load(model.rotor_inertia, i, 0)
    store(M, i, k, x)
    store(M, k, i, x)


# fmt: off
@generic
def put_mass(
    model: Record, every: bool, which: Any, body_of: Any, speeds: Any, columns: Any, first: int, shift: int, M: Any
) -> None:
    # fmt: on
    """Rows and columns of M, *every* one or *which*, of what a sweep has left.

    S are among *speeds*, M S from number *first* of *columns* on, ``1 << shift`` places a row.
    """
    matrix_sweep.clear(M)
    width, of_mass = 1 << shift, first + COLUMN_M
    for i in range(model.nu):
        b, mine = body_of[i], every
        for d in range(which.shape[0]):
            mine = mine or which[d] == i
        start, end = model.first_place[b], model.end_place[b]
        place = start + model.num_u[b] - 1 - (i - model.first_u[b])
        row, j = (i, 0) if shift == 0 else (place >> shift, (FIRST_NUMBER << shift) + (place & (width - 1)))
        w = load(speeds, row, j), load(speeds, row, j + width), load(speeds, row, j + 2 * width)
        v = load(speeds, row, j + 3 * width), load(speeds, row, j + 4 * width), load(speeds, row, j + 5 * width)
        if mine:
            for other in range(start, end):
                _put_product(model, (w, v), i, other, columns, of_mass, shift, M)
        else:
            for d in range(which.shape[0]):
                c = body_of[which[d]]
                other = model.first_place[c] + model.num_u[c] - 1 - (which[d] - model.first_u[c])
                if start <= other < end:
                    _put_product(model, (w, v), i, other, columns, of_mass, shift, M)


def make_work(nb: int, nu: int) -> tuple[Any, ...]:
    """Scratch of kernels of one state: sums a body; what mobilities have, and two matrices, each by one column and by eight."""
    blocks = -(-nu // LANES)
    rows, matrices = aligned_zeros(blocks, LANES * NUMBERS_OF_STATE), aligned_zeros(2 * nu, LANES * blocks)
    eights = rows.reshape(blocks, NUMBERS_OF_STATE, LANES), matrices.reshape(2 * nu, blocks, LANES)
    return aligned_zeros(nb, NUMBERS_A_BODY), rows, eights[0], matrices, eights[1]


# fmt: off
@generic
def _find(
    model: Record, fresh: bool, inverse: bool, u_dot: Any, whole: Any, by_q: Any, by_u: Any, by_z: Any, by_forces: Any,
    by_time: Any,
) -> None:
    # fmt: on
    """Derivatives where gravity and forces on single mobilities are all that acts: `sweep_state`'s, or -M^-1 times these.

    *whole* has scratch, of `make_work` and `matrix_sweep.make_scratch`, udot and A; bends, what is bent, and slopes; and what
    `solve.put_both_products` takes, with results.
    """
    # names for all, not tuples: a function that takes these reads the arrays' addresses anew each time
    bodies, (flat, wide), (D, wide_D) = matrix(item(whole, 0)), both_in(whole, 1), both_in(whole, 3)
    (flat_inv, wide_inv), udot, A = both_in(whole, 5), matrix(item(whole, 7)), matrix(item(whole, 8))
    bends, bent, slopes = matrix(item(whole, 9)), integers(item(whole, 10)), table(item(whole, 11))
    nu, g = model.nu, gravity(model)
    put_accelerations(model, inverse, u_dot, udot, A)
    sweep_state(model, A, udot, g, bends, bent, slopes, bent[:0], bent, flat[:0], bodies, flat, wide, D[:nu], D[nu:])
    if not inverse:
        inverse_mass_matrix.calc_m_inv(model, 0, EVERYTHING, flat_inv, wide_inv, by_forces)
        groups, rows, picked = table(item(whole, 12)), integers(item(whole, 13)), integers(item(whole, 14))
        D, results = both_in(whole, 15)
        put_both_products(by_forces, nu, by_forces, 0, wide_D, wide_D, groups, rows, picked, False, results)
    for i in range(nu):
        store(by_time, i, 0, 0.0)
        for j in range(nu):
            by_q[i, j], by_u[i, j] = D[i, j], D[nu + i, j]


calc_derivatives = kernel_of(_find)
