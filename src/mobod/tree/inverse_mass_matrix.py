"""The inverse of the mass matrix, explicit, in O(n^2). Needs positions and articulated inertias.

    inward    e_ij = -h_i.Z_j for j outboard of mobility i, e_ii = 1;   epsilon_ij = e_ij / d_i,   Z_j += (P h_i / d_i) e_ij
    outward   M^-1[i, j] = epsilon_ij - (P h_i / d_i).A_j,   A_j += h_i M^-1[i, j]

are the passes of `acceleration` at rest for unit forces, one column each. A column has no force inward before its own
mobility, and outward only those that come after mobility i by place are taken: the matrix is symmetric, and is so to the
last bit. Known mobilities are left out, see `known`: their rows and columns are zero. All columns go side by side, see
`columns`. Source: Carpentier and Mansard, Analytical inverse of the joint space inertia matrix, 2018; Jain 2011, section 7.3.
"""

from typing import Any

from .._jit import compiled, generic
from ..algebra import spatial, vec3
from ..algebra.memory import load3, load_spatial
from ..algebra.record import attach, call_routine
from ..algebra.scalar import any_not_finite, load, one, store, zero
from . import blocks, columns
from .columns import RESULTS
from .realize import ARTICULATED, BAD_U_DOT, DONE


@generic
def inward_step(model: Any, b: int, shift: int, flat: Any, wide: Any) -> None:
    """The epsilon of body b's mobilities, of which it is the turn, and all columns outboard moved to the parent's origin."""
    count, end = model.num_u[b], model.end_place[b]
    top = model.first_place[b] + count
    r = load3(model.p_PB_G, b, 0)
    done = top >> shift
    if end > top:
        done = columns.numbers_until(end, shift)
    for jb in range(top >> shift, done):
        zw, zv = columns.load_column(wide, 0, jb)
        zw, zv = _absorb(model, b, wide, top, jb, zw, zv)
        zw, zv = spatial.shift_force(zw, zv, r)
        if (jb + 1) << shift > end and end < model.end_of_base[b]:
            keep = columns.inside(wide, jb, end)
            for row in range(RESULTS + top - count, RESULTS + top):
                store(wide, row, jb, columns.only(keep, load(wide, row, jb)))
        columns.store_before(wide, shift, jb, end, model.end_of_base[b], zw, zv)
    for row in range(RESULTS + top - count, RESULTS + top):
        for jb in range(done, columns.numbers_until(model.end_of_base[b], shift)):
            store(wide, row, jb, 0.0)
    if model.together[b] < 0:
        _own_columns_of_known(model, b, shift, flat, wide, top)
    elif model.together[b] > 0:
        _own_columns_of_block(model, b, shift, flat, wide, top, r)
    else:
        _own_columns(model, b, shift, flat, wide, top, r)


@generic
def inward_step_of_one(model: Any, b: int, shift: int, wide: Any) -> None:
    """`inward_step` of a body with one mobility, all in registers: most bodies of most models."""
    i, place, end, end_of_base = model.first_u[b], model.first_place[b], model.end_place[b], model.end_of_base[b]
    hw, hv = load_spatial(model.H, i)
    gw, gv = load_spatial(model.gain, i)
    d_inverse, r = load(model.d_inverse, i, 0), load3(model.p_PB_G, b, 0)
    t, f = spatial.shift_force(gw, gv, r)
    begin, done = place >> shift, columns.numbers_until(end, shift)
    for jb in range(begin, done):
        zw, zv = columns.load_column(wide, 0, jb)
        e = -(vec3.dot(hw, zw) + vec3.dot(hv, zv))
        zw, zv = vec3.add_scaled(zw, e, gw), vec3.add_scaled(zv, e, gv)
        zw, zv = spatial.shift_force(zw, zv, r)
        x = e * d_inverse
        if jb == begin:
            x = columns.with_column(wide, shift, jb, place, d_inverse, x)
            zw = (
                columns.with_column(wide, shift, jb, place, t[0], zw[0]),
                columns.with_column(wide, shift, jb, place, t[1], zw[1]),
                columns.with_column(wide, shift, jb, place, t[2], zw[2]),
            )
            zv = (
                columns.with_column(wide, shift, jb, place, f[0], zv[0]),
                columns.with_column(wide, shift, jb, place, f[1], zv[1]),
                columns.with_column(wide, shift, jb, place, f[2], zv[2]),
            )
        if (jb + 1) << shift > end and end < end_of_base:
            x = columns.only(columns.inside(wide, jb, end), x)
        store(wide, RESULTS + place, jb, x)
        columns.store_before(wide, shift, jb, end, end_of_base, zw, zv)
    for jb in range(done, columns.numbers_until(end_of_base, shift)):
        store(wide, RESULTS + place, jb, 0.0)


@generic
def _absorb(model: Any, b: int, wide: Any, top: int, jb: int, zw: Any, zv: Any) -> Any:
    """`acceleration.absorb` without forces on the mobilities, whose epsilon is kept at their places."""
    first = model.first_u[b]
    if model.together[b] != 0:
        if model.together[b] < 0:  # known: a weld, and a row of zeros
            for row in range(RESULTS + top - model.num_u[b], RESULTS + top):
                store(wide, row, jb, 0.0)
            return zw, zv
        return _absorb_by_block(model, b, wide, top, jb, zw, zv)
    for i in range(first, first + model.num_u[b]):
        hw, hv = load_spatial(model.H, i)
        gw, gv = load_spatial(model.gain, i)
        e = -(vec3.dot(hw, zw) + vec3.dot(hv, zv))
        zw, zv = vec3.add_scaled(zw, e, gw), vec3.add_scaled(zv, e, gv)
        store(wide, RESULTS + top - 1 - (i - first), jb, e * load(model.d_inverse, i, 0))
    return zw, zv


@generic
def _own_columns(model: Any, b: int, shift: int, flat: Any, wide: Any, top: int, r: Any) -> None:
    """The columns that begin at body b."""
    first = model.first_u[b]
    end = first + model.num_u[b]
    for i in range(first, end):
        place = top - 1 - (i - first)
        zw, zv = load_spatial(model.gain, i)
        store(flat, RESULTS + place, place, load(model.d_inverse, i, 0))
        for k in range(i + 1, end):
            hw, hv = load_spatial(model.H, k)
            gw, gv = load_spatial(model.gain, k)
            e = -(vec3.dot(hw, zw) + vec3.dot(hv, zv))
            zw, zv = vec3.add_scaled(zw, e, gw), vec3.add_scaled(zv, e, gv)
            store(flat, RESULTS + top - 1 - (k - first), place, e * load(model.d_inverse, k, 0))
        zw, zv = spatial.shift_force(zw, zv, r)
        columns.begin_column(flat, wide, shift, place, zw, zv)


@generic
def _own_columns_of_known(model: Any, b: int, shift: int, flat: Any, wide: Any, top: int) -> None:
    """The columns of known mobilities: zeros."""
    o = zero(load(model.p_GB, b, 0))
    for place in range(top - model.num_u[b], top):
        for row in range(RESULTS + top - model.num_u[b], RESULTS + top):
            store(flat, row, place, o)
        columns.begin_column(flat, wide, shift, place, (o, o, o), (o, o, o))


@generic
def _absorb_by_block(model: Any, b: int, wide: Any, top: int, jb: int, zw: Any, zv: Any) -> Any:
    """The same where the mobilities are met together; what is kept at their places is the epsilon of `blocks`."""
    o = zero(zw[0])
    nothing = o, o, o
    own_w, own_v, zw, zv = blocks.absorb_torque(model, b, nothing, nothing, zw, zv)
    _store_three(wide, RESULTS + top, jb, own_w)
    if model.num_u[b] == 6:
        _store_three(wide, RESULTS + top - 3, jb, own_v)
    return zw, zv


@generic
def _own_columns_of_block(model: Any, b: int, shift: int, flat: Any, wide: Any, top: int, r: Any) -> None:
    """The columns that begin at body b, where the mobilities are met together."""
    x = load(model.p_GB, b, 0)
    o, i = zero(x), one(x)
    nothing = o, o, o
    _own_column_of_block(model, b, shift, flat, wide, top, top - 1, r, (i, o, o), nothing)
    _own_column_of_block(model, b, shift, flat, wide, top, top - 2, r, (o, i, o), nothing)
    _own_column_of_block(model, b, shift, flat, wide, top, top - 3, r, (o, o, i), nothing)
    if model.num_u[b] == 6:
        _own_column_of_block(model, b, shift, flat, wide, top, top - 4, r, nothing, (i, o, o))
        _own_column_of_block(model, b, shift, flat, wide, top, top - 5, r, nothing, (o, i, o))
        _own_column_of_block(model, b, shift, flat, wide, top, top - 6, r, nothing, (o, o, i))


@generic
def _own_column_of_block(
    model: Any, b: int, shift: int, flat: Any, wide: Any, top: int, place: int, r: Any, f_w: Any, f_v: Any
) -> None:
    """One of them: of unit force (f_w; f_v) on the mobilities."""
    o = zero(r[0])
    tau, force = blocks.torque_and_force(model, b, f_w, f_v)
    own_w, own_v, zw, zv = blocks.absorb_torque(model, b, tau, force, (o, o, o), (o, o, o))
    _store_three(flat, RESULTS + top, place, own_w)
    if model.num_u[b] == 6:
        _store_three(flat, RESULTS + top - 3, place, own_v)
    zw, zv = spatial.shift_force(zw, zv, r)
    columns.begin_column(flat, wide, shift, place, zw, zv)


@generic
def _store_three(rows: Any, end: int, j: int, v: Any) -> None:
    """Of three mobilities, the first at the row before *end*: places fall where mobilities rise."""
    store(rows, end - 1, j, v[0])
    store(rows, end - 2, j, v[1])
    store(rows, end - 3, j, v[2])


@generic
def _load_three(rows: Any, end: int, j: int) -> Any:
    return load(rows, end - 1, j), load(rows, end - 2, j), load(rows, end - 3, j)


@generic
def outward_step(model: Any, b: int, shift: int, wide: Any) -> None:
    """From epsilon to the matrix, for body b's rows from their diagonal on; the parent's motions are there."""
    p = model.parent[b]
    slots = RESULTS + model.nu
    source, target = slots + 6 * model.slot[p], slots + 6 * model.slot[b]
    top = model.first_place[b] + model.num_u[b]
    r = load3(model.p_PB_G, b, 0)
    for jb in range(model.first_place[b] >> shift, columns.numbers_until(model.end_of_base[b], shift)):
        w, v = columns.load_column(wide, source, jb)
        if p == 0:
            o = zero(w[0])
            w, v = (o, o, o), (o, o, o)
        w, v = spatial.shift_motion(w, v, r)
        if model.together[b] > 0:
            w, v = _release_by_block(model, b, wide, top, jb, w, v)
        elif model.together[b] == 0:
            w, v = _release(model, b, wide, top, jb, w, v)
        if model.has_children[b] == 1:
            columns.store_column(wide, target, jb, w, v)


@generic
def outward_step_of_one(model: Any, b: int, shift: int, wide: Any) -> None:
    """`outward_step` of a body with one mobility."""
    p, i, place = model.parent[b], model.first_u[b], model.first_place[b]
    slots = RESULTS + model.nu
    source, target = slots + 6 * model.slot[p], slots + 6 * model.slot[b]
    hw, hv = load_spatial(model.H, i)
    gw, gv = load_spatial(model.gain, i)
    r, kept = load3(model.p_PB_G, b, 0), model.has_children[b] == 1
    for jb in range(place >> shift, columns.numbers_until(model.end_of_base[b], shift)):
        a = load(wide, RESULTS + place, jb)
        w, v = columns.load_column(wide, source, jb)
        if p == 0:  # nothing moves it: the matrix is epsilon already
            w, v = vec3.scale(a, hw), vec3.scale(a, hv)
        else:
            w, v = spatial.shift_motion(w, v, r)
            a = a - (vec3.dot(gw, w) + vec3.dot(gv, v))
            store(wide, RESULTS + place, jb, a)
            w, v = vec3.add_scaled(w, a, hw), vec3.add_scaled(v, a, hv)
        if kept:
            columns.store_column(wide, target, jb, w, v)


@generic
def _release(model: Any, b: int, wide: Any, top: int, jb: int, w: Any, v: Any) -> Any:
    """`acceleration.release` with epsilon and udot at the mobilities' places."""
    first = model.first_u[b]
    for i in range(first + model.num_u[b] - 1, first - 1, -1):
        row = RESULTS + top - 1 - (i - first)
        gw, gv = load_spatial(model.gain, i)
        hw, hv = load_spatial(model.H, i)
        a = load(wide, row, jb) - (vec3.dot(gw, w) + vec3.dot(gv, v))
        store(wide, row, jb, a)
        w, v = vec3.add_scaled(w, a, hw), vec3.add_scaled(v, a, hv)
    return w, v


@generic
def _release_by_block(model: Any, b: int, wide: Any, top: int, jb: int, w: Any, v: Any) -> Any:
    """The same where the mobilities are met together."""
    own_v = v
    if model.num_u[b] == 6:
        own_v = _load_three(wide, RESULTS + top - 3, jb)
    udot_w, udot_v, w, v = blocks.release_own(model, b, _load_three(wide, RESULTS + top, jb), own_v, w, v)
    _store_three(wide, RESULTS + top, jb, udot_w)
    if model.num_u[b] == 6:
        _store_three(wide, RESULTS + top - 3, jb, udot_v)
    return w, v


@compiled
def calc_m_inv(block: Any, address: int, valid: int, flat: Any, wide: Any, M_inv: Any) -> int:
    """M^-1; the articulated inertias too, by `realize.advance` at *address*, unless they are *valid*. Returns its status."""
    model = attach(block)
    if valid & ARTICULATED == 0:
        status = call_routine(address, model, valid, ARTICULATED)
        if status != DONE:
            return status
    columns.clear(M_inv)
    shift = columns.bits(flat, wide)
    for at in range(model.nb - 1, 0, -1):
        b = model.depth_first[at]
        if model.num_u[b] == 1 and model.together[b] == 0:
            inward_step_of_one(model, b, shift, wide)
        else:
            inward_step(model, b, shift, flat, wide)
    for at in range(1, model.nb):
        b = model.depth_first[at]
        if model.num_u[b] == 1 and model.together[b] == 0:
            outward_step_of_one(model, b, shift, wide)
        else:
            outward_step(model, b, shift, wide)
        columns.spread(model, flat, b, model.end_of_base[b], M_inv)
    total = 0.0 * load(model.p_GB, 0, 0)
    for i in range(model.nu):
        total = total + 0.0 * load(M_inv, i, i)
    status = DONE
    if any_not_finite(total):
        status = BAD_U_DOT
    return status
