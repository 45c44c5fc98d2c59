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
from ..algebra.record import attach
from ..algebra.scalar import load, store, zero
from ..compiling import compiled, generic
from ..force._pools import numbers3
from ..force._slopes import subtract_slopes
from ..state.fields import Record
from . import inverse_mass_matrix, matrix_sweep

#: Numbers a body: p from the base's origin; mass, first moment, inertia; T, L, P; F. From MASS on they are sums over subtrees.
MASS, TURNING, MOMENTUM, FORCE, NUMBERS_A_BODY = 3, 13, 19, 25, 31
#: Numbers a mobility: S, a, c by q, c by u.
SPEED, BY_Q, BY_U, NUMBERS_A_MOBILITY = 6, 12, 18, 24
#: Rows of the columns by place: M c + B a + S x* F; the same by u; M S; the angular part of B^T S; four rows of results.
ROW_Q, ROW_U, ROW_M, ROW_B, ROW_RESULT, NUM_ROWS = 0, 6, 12, 18, 21, 25
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
def begin(model: Record, b: int, A: Any, g: Any, bodies: Any) -> None:
    """Where body b is from its base's origin, and its own M, T, L, P, F. Its parent comes first."""
    o = zero(load(model.time, 0, 0))
    p, r = model.parent[b], (o, o, o)
    if p > 0:
        r = vec3.add(load3(bodies, p, 0), load3(model.p_PB_G, b, 0))
    w, v, aw, av = motion_of(model, b, A, r, g)
    m = load(model.mass, b, 0)
    h, inertia = spatial.shift_inertia(m, vec3.scale(m, load3(model.com_G, b, 0)), load6(model.inertia_G, b, 0), r)
    L, P = spatial.mul_inertia(m, h, inertia, w, v)
    n, f = spatial.mul_inertia(m, h, inertia, aw, av)
    n0, f0 = cross_force(w, v, L, P)
    store3(bodies, b, 0, r)
    store(bodies, b, MASS, o + m)
    store3(bodies, b, MASS + 1, h)
    store6(bodies, b, MASS + 4, inertia)
    store6(bodies, b, TURNING, _turning(w, v, h, inertia))
    store3(bodies, b, MOMENTUM, L)
    store3(bodies, b, MOMENTUM + 3, P)
    store3(bodies, b, FORCE, vec3.add(n, n0))
    store3(bodies, b, FORCE + 3, vec3.add(f, f0))


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
def columns_of(
    model: Record, b: int, A: Any, udot: Any, g: Any, bends: Any, bent: Any, bodies: Any, speeds: Any, flat: Any
) -> None:
    """S, a, c of body b's mobilities, and their columns by place. The sums over its subtree are complete."""
    first, n = model.first_u[b], model.num_u[b]
    r, m, h, inertia = load3(bodies, b, 0), load(bodies, b, MASS), load3(bodies, b, MASS + 1), load6(bodies, b, MASS + 4)
    T, L, P = load6(bodies, b, TURNING), load3(bodies, b, MOMENTUM), load3(bodies, b, MOMENTUM + 3)
    Fn, Ff = load3(bodies, b, FORCE), load3(bodies, b, FORCE + 3)
    w, v, aw, av = motion_of(model, b, A, r, g)
    to_M = load3(model.p_BM_G, b, 0)
    p_M = vec3.add(r, to_M)
    o = zero(m)
    own_w, own_v, turn = (o, o, o), (o, o, o), (o, o, o)  # of the mobilizer: (w; v at M) u, and w udot
    for i in range(first, first + n):
        hw, hv = load_spatial(model.H, i)
        u = load(model.u, i, 0)
        own_w, own_v = vec3.add_scaled(own_w, u, hw), vec3.add_scaled(own_v, u, vec3.add(hv, vec3.cross(hw, to_M)))
        turn = vec3.add_scaled(turn, load(udot, i, 0), hw)
    wP, vP = vec3.sub(w, own_w), vec3.sub(v, vec3.add(own_v, vec3.cross(p_M, own_w)))
    for i in range(first, first + n):
        hw, hv = load_spatial(model.H, i)
        at_M = vec3.add(hv, vec3.cross(hw, to_M))
        sv = vec3.add(hv, vec3.cross(r, hw))
        # sigma u, sigma udot, gamma, beta, of columns constant in F
        xw, xv, yw, yv = (o, o, o), vec3.cross(at_M, own_w), (o, o, o), vec3.cross(at_M, turn)
        cw, cv = (o, o, o), (o, o, o)
        dw, dv = (o, o, o), vec3.add(xv, vec3.cross(own_v, hw))
        if bent[b] == 1:
            R_GF = mat33.mul(load9(model.R_GB, model.parent[b], 0), load9(model.R_PF, b, 0))
            bw, bv = _bend(model, b, i, first, bends, R_GF, model.u)
            xw, xv = bw, vec3.add(vec3.add(xv, bv), vec3.cross(p_M, bw))
            ew, ev = _bend(model, b, i, first, bends, R_GF, udot)
            yw, yv = ew, vec3.add(vec3.add(yv, ev), vec3.cross(p_M, ew))
            rate_w = mat33.mul_vec(R_GF, load3(model.bias_FM, b, 0))
            cw, cv = mat33.mul_vec(R_GF, load3(bends, i, BEND)), mat33.mul_vec(R_GF, load3(bends, i, BEND + 3))
            cv = vec3.add(cv, vec3.add(vec3.cross(bv, own_w), vec3.cross(own_v, bw)))
            cv = vec3.add(cv, vec3.add(vec3.cross(at_M, rate_w), vec3.cross(p_M, cw)))
            ew, ev = mat33.mul_vec(R_GF, load3(bends, i, BEND_BY_U)), mat33.mul_vec(R_GF, load3(bends, i, BEND_BY_U + 3))
            dw, dv = ew, vec3.add(dv, vec3.add(ev, vec3.cross(p_M, ew)))
        pw, pv = cross_motion(w, v, hw, sv)  # V x S
        pw, pv = vec3.add(pw, xw), vec3.add(pv, xv)
        qw, qv = cross_motion(aw, av, hw, sv)
        tw, tv = cross_motion(w, v, pw, pv)
        zw, zv = cross_motion(wP, vP, xw, xv)
        qw = vec3.add(vec3.add(qw, tw), vec3.add(vec3.add(zw, yw), cw))
        qv = vec3.add(vec3.add(qv, tv), vec3.add(vec3.add(zv, yv), cv))
        uw, uv = cross_motion(vec3.add(w, wP), vec3.add(v, vP), hw, sv)
        uw, uv = vec3.add(uw, dw), vec3.add(uv, dv)
        store_spatial(speeds, i, hw, sv)
        store3(speeds, i, SPEED, pw)
        store3(speeds, i, SPEED + 3, pv)
        store3(speeds, i, BY_Q, qw)
        store3(speeds, i, BY_Q + 3, qv)
        store3(speeds, i, BY_U, uw)
        store3(speeds, i, BY_U + 3, uv)

        place = model.first_place[b] + n - 1 - (i - first)
        nw, nv = spatial.mul_inertia(m, h, inertia, qw, qv)
        kw, kv = _times_b(T, L, P, pw)
        fw, fv = cross_force(hw, sv, Fn, Ff)
        matrix_sweep.store_column(flat, ROW_Q, place, vec3.add(vec3.add(nw, kw), fw), vec3.add(vec3.add(nv, kv), fv))
        nw, nv = spatial.mul_inertia(m, h, inertia, uw, uv)
        kw, kv = _times_b(T, L, P, hw)
        matrix_sweep.store_column(flat, ROW_U, place, vec3.add(nw, kw), vec3.add(nv, kv))
        nw, nv = spatial.mul_inertia(m, h, inertia, hw, sv)
        matrix_sweep.store_column(flat, ROW_M, place, nw, nv)
        kw = vec3.add(vec3.add(sym33.mul_vec(T, hw), vec3.cross(L, hw)), vec3.cross(vec3.add(P, P), sv))
        for c in range(3):
            store(flat, ROW_B + c, place, kw[c])


@generic
def rows_of(model: Record, b: int, i: int, shift: int, speeds: Any, flat: Any, wide: Any, Dq: Any, Du: Any) -> None:
    """Row and column of mobility i of body b in both matrices, at the mobilities outboard of it and the body's own."""
    sw, sv = load_spatial(speeds, i)
    aw = load3(speeds, i, SPEED)
    cw, cv = load3(speeds, i, BY_Q), load3(speeds, i, BY_Q + 3)
    ew, ev = load3(speeds, i, BY_U), load3(speeds, i, BY_U + 3)
    start, end = model.first_place[b], model.end_place[b]
    for j in range(start >> shift, matrix_sweep.numbers_until(end, shift)):
        tw, tv = matrix_sweep.load_column(wide, ROW_Q, j)
        store(wide, ROW_RESULT, j, vec3.dot(sw, tw) + vec3.dot(sv, tv))
        tw, tv = matrix_sweep.load_column(wide, ROW_U, j)
        store(wide, ROW_RESULT + 1, j, vec3.dot(sw, tw) + vec3.dot(sv, tv))
        tw, tv = matrix_sweep.load_column(wide, ROW_M, j)
        kw = load(wide, ROW_B, j), load(wide, ROW_B + 1, j), load(wide, ROW_B + 2, j)
        store(wide, ROW_RESULT + 2, j, vec3.dot(cw, tw) + vec3.dot(cv, tv) + vec3.dot(aw, kw))
        store(wide, ROW_RESULT + 3, j, vec3.dot(ew, tw) + vec3.dot(ev, tv) + vec3.dot(sw, kw))
    for place in range(start, start + model.num_u[b]):
        k = model.mobility_at[place]
        store(Dq, i, k, load(flat, ROW_RESULT, place))
        store(Du, i, k, load(flat, ROW_RESULT + 1, place))
    for place in range(start + model.num_u[b], end):
        k = model.mobility_at[place]
        store(Dq, i, k, load(flat, ROW_RESULT, place))
        store(Du, i, k, load(flat, ROW_RESULT + 1, place))
        store(Dq, k, i, load(flat, ROW_RESULT + 2, place))
        store(Du, k, i, load(flat, ROW_RESULT + 3, place))


@generic
def bend_rows(model: Record, b: int, bends: Any, bent: Any, bodies: Any, Dq: Any) -> None:
    """sigma_ik . F of the body's own mobilities, added."""
    first, n = model.first_u[b], model.num_u[b]
    Fn, Ff = load3(bodies, b, FORCE), load3(bodies, b, FORCE + 3)
    to_M = load3(model.p_BM_G, b, 0)
    about_M = vec3.sub(Fn, vec3.cross(vec3.add(load3(bodies, b, 0), to_M), Ff))
    for k in range(first, first + n):
        kw, kv = load_spatial(model.H, k)
        kv = vec3.add(kv, vec3.cross(kw, to_M))
        for i in range(first, first + n):
            x = vec3.dot(vec3.cross(kv, load3(model.H, i, 0)), Ff)
            if bent[b] == 1:
                R_GF = mat33.mul(load9(model.R_GB, model.parent[b], 0), load9(model.R_PF, b, 0))
                w, v = load3(bends, k, 6 * (i - first)), load3(bends, k, 6 * (i - first) + 3)
                x = x + vec3.dot(mat33.mul_vec(R_GF, w), about_M) + vec3.dot(mat33.mul_vec(R_GF, v), Ff)
            store(Dq, i, k, load(Dq, i, k) + x)


@generic
def sweep(
    model: Record,
    A: Any,
    udot: Any,
    bends: Any,
    bent: Any,
    slopes: Any,
    bodies: Any,
    speeds: Any,
    flat: Any,
    wide: Any,
    Dq: Any,
    Du: Any,
) -> None:
    """Derivatives of M udot + inertial forces - gravity - forces on single mobilities into *Dq* and *Du*."""
    matrix_sweep.clear(Dq)
    matrix_sweep.clear(Du)
    g = gravity(model)
    for b in range(1, model.nb):
        begin(model, b, A, g, bodies)
    shift = matrix_sweep.bits(flat, wide)
    for b in range(model.nb - 1, 0, -1):
        if model.num_u[b] > 0:
            columns_of(model, b, A, udot, g, bends, bent, bodies, speeds, flat)
            for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
                rows_of(model, b, i, shift, speeds, flat, wide, Dq, Du)
            if model.num_u[b] > 1 or bent[b] == 1:
                bend_rows(model, b, bends, bent, bodies, Dq)
        p = model.parent[b]
        if p > 0:
            for k in range(MASS, NUMBERS_A_BODY):
                store(bodies, p, k, load(bodies, p, k) + load(bodies, b, k))
    subtract_slopes(model, slopes, Dq, Du)


@generic
def negative_product(M_inv: Any, wide: Any, out: Any) -> None:
    """out = -M^-1 D, four rows of a register's columns at once."""
    n, blocks = M_inv.shape[0], wide.shape[1]
    whole = n - n % 4
    for i in range(0, whole, 4):
        for j in range(blocks):
            o = zero(load(wide, 0, j))
            a, b, c, d = o, o, o, o
            for k in range(n):
                x = load(wide, k, j)
                a = a - load(M_inv, i, k) * x
                b = b - load(M_inv, i + 1, k) * x
                c = c - load(M_inv, i + 2, k) * x
                d = d - load(M_inv, i + 3, k) * x
            store(out, i, j, a)
            store(out, i + 1, j, b)
            store(out, i + 2, j, c)
            store(out, i + 3, j, d)
    for i in range(whole, n):
        for j in range(blocks):
            a = zero(load(wide, 0, j))
            for k in range(n):
                a = a - load(M_inv, i, k) * load(wide, k, j)
            store(out, i, j, a)


@compiled
def calc_derivatives(
    block: Any, A: Any, udot: Any, bends: Any, bent: Any, slopes: Any, bodies: Any, speeds: Any, flat: Any, D: Any, found: Any
) -> None:
    """`sweep` of a state's record, into both halves of *D*, whose columns are padded as *flat*'s are."""
    wide = flat.reshape((flat.shape[0], flat.shape[1] // 8, 8))
    sweep(attach(block), A, udot, bends, bent, slopes, bodies, speeds, flat, wide, D[0], D[1])


@compiled
def calc_accelerations_derivatives(
    block: Any, address: int, valid: int, bends: Any, bent: Any, slopes: Any, bodies: Any, speeds: Any, flat: Any, D: Any,
    found: Any, flat_inv: Any, out: Any,
) -> int:  # fmt: skip
    """-M^-1 times the derivatives at a state's udot, by q and by u, and M^-1, into the three parts of *out*; the last's status.

    Few arguments: each takes as long to pass as three bodies to sweep.
    """
    model = attach(block)
    rows, n, blocks = flat.shape[0], D.shape[1], D.shape[2] // 8
    wide_inv = flat_inv.reshape((flat_inv.shape[0], flat_inv.shape[1] // 8, 8))
    M_inv = out[2]
    status = inverse_mass_matrix.calc_m_inv(model, address, valid, flat_inv, wide_inv, M_inv)
    wide = flat.reshape((rows, blocks, 8))
    sweep(model, model.A_GB, model.u_dot, bends, bent, slopes, bodies, speeds, flat, wide, D[0], D[1])
    by_columns, results = D.reshape((2, n, blocks, 8)), found.reshape((2, n, blocks, 8))
    negative_product(M_inv, by_columns[0], results[0])
    negative_product(M_inv, by_columns[1], results[1])
    for i in range(n):
        for j in range(n):
            out[0, i, j] = found[0, i, j]
            out[1, i, j] = found[1, i, j]
    return status
