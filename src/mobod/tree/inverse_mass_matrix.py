"""The inverse of the mass matrix, explicit, in O(n^2). Needs positions and articulated inertias.

    inward    e_ij = -h_i.Z_j for j outboard of mobility i, e_ii = 1;   Z_j += (P h_i / d_i) e_ij
    outward   M^-1[i, j] = e_ij / d_i - (P h_i / d_i).A_j,   A_j += h_i M^-1[i, j]

are the passes of `acceleration` at rest for unit forces, one column each. Inward, a column is zero before its own mobility;
outward, only mobilities after i by place are taken, so that the matrix is symmetric to the last bit. Rows and columns of
prescribed mobilities are zero. All columns are swept at once, see `matrix_sweep`. Source: Carpentier 2018; Jain 2011, section
7.3.
"""

from typing import Any

from ..algebra import spatial, vec3
from ..algebra.memory import load3, load_spatial
from ..algebra.record import attach, call_routine
from ..algebra.scalar import any_not_finite, load, store, zero
from ..compiling import compiled, generic
from ..state.fields import Record
from ..state.validity import ARTICULATED
from . import block_elimination, matrix_sweep
from .block_elimination import BALL, NONE, ONE_BY_ONE
from .matrix_sweep import RESULTS
from .realize import BAD_U_DOT, DONE


@generic
def inward_step(model: Record, b: int, shift: int, flat: Any, wide: Any) -> None:
    """e / d of body b's mobilities; then all columns outboard are shifted to the parent's origin."""
    count, end = model.num_u[b], model.end_place[b]
    top = model.first_place[b] + count
    r = load3(model.p_PB_G, b, 0)
    done = top >> shift
    if end > top:
        done = matrix_sweep.numbers_until(end, shift)
    for jb in range(top >> shift, done):
        zw, zv = matrix_sweep.load_column(wide, 0, jb)
        zw, zv = _absorb(model, b, wide, top, jb, zw, zv)
        zw, zv = spatial.shift_force(zw, zv, r)
        if (jb + 1) << shift > end and end < model.end_of_base[b]:
            keep = matrix_sweep.inside(wide, jb, end)
            for row in range(RESULTS + top - count, RESULTS + top):
                store(wide, row, jb, matrix_sweep.only(keep, load(wide, row, jb)))
        matrix_sweep.store_before(wide, shift, jb, end, model.end_of_base[b], zw, zv)
    for row in range(RESULTS + top - count, RESULTS + top):
        for jb in range(done, matrix_sweep.numbers_until(model.end_of_base[b], shift)):
            store(wide, row, jb, 0.0)
    if model.elimination[b] == NONE:
        _own_columns_of_prescribed(model, b, shift, flat, wide, top)
    elif model.elimination[b] >= BALL:
        _own_columns_of_block(model, b, shift, flat, wide, top, r)
    else:
        _own_columns(model, b, shift, flat, wide, top, r)


@generic
def inward_step_of_one(model: Record, b: int, shift: int, wide: Any) -> None:
    """`inward_step` for one mobility, which most bodies have, all in registers."""
    i, place, end, end_of_base = model.first_u[b], model.first_place[b], model.end_place[b], model.end_of_base[b]
    hw, hv = load_spatial(model.H, i)
    gw, gv = load_spatial(model.gain, i)
    d_inverse, r = load(model.d_inverse, i, 0), load3(model.p_PB_G, b, 0)
    t, f = spatial.shift_force(gw, gv, r)
    begin, done = place >> shift, matrix_sweep.numbers_until(end, shift)
    for jb in range(begin, done):
        zw, zv = matrix_sweep.load_column(wide, 0, jb)
        e = -(vec3.dot(hw, zw) + vec3.dot(hv, zv))
        zw, zv = vec3.add_scaled(zw, e, gw), vec3.add_scaled(zv, e, gv)
        zw, zv = spatial.shift_force(zw, zv, r)
        x = e * d_inverse
        if jb == begin:
            x = matrix_sweep.with_column(wide, shift, jb, place, d_inverse, x)
            zw = (
                matrix_sweep.with_column(wide, shift, jb, place, t[0], zw[0]),
                matrix_sweep.with_column(wide, shift, jb, place, t[1], zw[1]),
                matrix_sweep.with_column(wide, shift, jb, place, t[2], zw[2]),
            )
            zv = (
                matrix_sweep.with_column(wide, shift, jb, place, f[0], zv[0]),
                matrix_sweep.with_column(wide, shift, jb, place, f[1], zv[1]),
                matrix_sweep.with_column(wide, shift, jb, place, f[2], zv[2]),
            )
        if (jb + 1) << shift > end and end < end_of_base:
            x = matrix_sweep.only(matrix_sweep.inside(wide, jb, end), x)
        store(wide, RESULTS + place, jb, x)
        matrix_sweep.store_before(wide, shift, jb, end, end_of_base, zw, zv)
    for jb in range(done, matrix_sweep.numbers_until(end_of_base, shift)):
        store(wide, RESULTS + place, jb, 0.0)


@generic
def _absorb(model: Record, b: int, wide: Any, top: int, jb: int, zw: Any, zv: Any) -> Any:
    """`acceleration.absorb` without forces on the mobilities; e / d into the rows of their places."""
    first = model.first_u[b]
    if model.elimination[b] != ONE_BY_ONE:
        if model.elimination[b] == NONE:  # prescribed: udot is zero
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
def _own_columns(model: Record, b: int, shift: int, flat: Any, wide: Any, top: int, r: Any) -> None:
    """The columns of body b's own mobilities, at the parent's origin."""
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
        matrix_sweep.begin_column(flat, wide, shift, place, zw, zv)


@generic
def _own_columns_of_prescribed(model: Record, b: int, shift: int, flat: Any, wide: Any, top: int) -> None:
    """The columns of prescribed mobilities: zeros."""
    o = zero(load(model.p_GB, b, 0))
    for place in range(top - model.num_u[b], top):
        for row in range(RESULTS + top - model.num_u[b], RESULTS + top):
            store(flat, row, place, o)
        matrix_sweep.begin_column(flat, wide, shift, place, (o, o, o), (o, o, o))


@generic
def _absorb_by_block(model: Record, b: int, wide: Any, top: int, jb: int, zw: Any, zv: Any) -> Any:
    """`_absorb` of a block, whose e / d are as in `block_elimination`."""
    o = zero(zw[0])
    nothing = o, o, o
    own_w, own_v, zw, zv = block_elimination.absorb_torque(model, b, nothing, nothing, zw, zv)
    _store_three(wide, RESULTS + top, jb, own_w)
    if model.num_u[b] == 6:
        _store_three(wide, RESULTS + top - 3, jb, own_v)
    return zw, zv


@generic
def _own_columns_of_block(model: Record, b: int, shift: int, flat: Any, wide: Any, top: int, r: Any) -> None:
    """`_own_columns` of a block."""
    x = load(model.p_GB, b, 0)
    for k in range(model.num_u[b]):  # one call: kernels would have all of it six times
        _own_column_of_block(model, b, shift, flat, wide, top, top - 1 - k, r, vec3.unit(x, k), vec3.unit(x, k - 3))


@generic
def _own_column_of_block(
    model: Record, b: int, shift: int, flat: Any, wide: Any, top: int, place: int, r: Any, f_w: Any, f_v: Any
) -> None:
    """One of them, of the unit force (f_w; f_v) on the mobilities."""
    o = zero(r[0])
    tau, force = block_elimination.torque_and_force(model, b, f_w, f_v)
    own_w, own_v, zw, zv = block_elimination.absorb_torque(model, b, tau, force, (o, o, o), (o, o, o))
    _store_three(flat, RESULTS + top, place, own_w)
    if model.num_u[b] == 6:
        _store_three(flat, RESULTS + top - 3, place, own_v)
    zw, zv = spatial.shift_force(zw, zv, r)
    matrix_sweep.begin_column(flat, wide, shift, place, zw, zv)


@generic
def _store_three(rows: Any, end: int, j: int, v: Any) -> None:
    """A number for each of three mobilities into the rows before *end*, the first mobility's last."""
    store(rows, end - 1, j, v[0])
    store(rows, end - 2, j, v[1])
    store(rows, end - 3, j, v[2])


@generic
def _load_three(rows: Any, end: int, j: int) -> Any:
    return load(rows, end - 1, j), load(rows, end - 2, j), load(rows, end - 3, j)


@generic
def outward_step(model: Record, b: int, shift: int, wide: Any) -> None:
    """From e / d to M^-1: the rows of body b from their diagonal on. Its parent comes first."""
    p = model.parent[b]
    slots = RESULTS + model.nu
    source, target = slots + 6 * model.slot[p], slots + 6 * model.slot[b]
    top = model.first_place[b] + model.num_u[b]
    r = load3(model.p_PB_G, b, 0)
    for jb in range(model.first_place[b] >> shift, matrix_sweep.numbers_until(model.end_of_base[b], shift)):
        w, v = matrix_sweep.load_column(wide, source, jb)
        if p == 0:
            o = zero(w[0])
            w, v = (o, o, o), (o, o, o)
        w, v = spatial.shift_motion(w, v, r)
        if model.elimination[b] >= BALL:
            w, v = _release_by_block(model, b, wide, top, jb, w, v)
        elif model.elimination[b] == ONE_BY_ONE:
            w, v = _release(model, b, wide, top, jb, w, v)
        if model.has_children[b] == 1:
            matrix_sweep.store_column(wide, target, jb, w, v)


@generic
def outward_step_of_one(model: Record, b: int, shift: int, wide: Any) -> None:
    """`outward_step` for one mobility."""
    p, i, place = model.parent[b], model.first_u[b], model.first_place[b]
    slots = RESULTS + model.nu
    source, target = slots + 6 * model.slot[p], slots + 6 * model.slot[b]
    hw, hv = load_spatial(model.H, i)
    gw, gv = load_spatial(model.gain, i)
    r, kept = load3(model.p_PB_G, b, 0), model.has_children[b] == 1
    for jb in range(place >> shift, matrix_sweep.numbers_until(model.end_of_base[b], shift)):
        a = load(wide, RESULTS + place, jb)
        w, v = matrix_sweep.load_column(wide, source, jb)
        if p == 0:  # on Ground A is zero: M^-1 is e / d already
            w, v = vec3.scale(a, hw), vec3.scale(a, hv)
        else:
            w, v = spatial.shift_motion(w, v, r)
            a = a - (vec3.dot(gw, w) + vec3.dot(gv, v))
            store(wide, RESULTS + place, jb, a)
            w, v = vec3.add_scaled(w, a, hw), vec3.add_scaled(v, a, hv)
        if kept:
            matrix_sweep.store_column(wide, target, jb, w, v)


@generic
def _release(model: Record, b: int, wide: Any, top: int, jb: int, w: Any, v: Any) -> Any:
    """`acceleration.release`, with e / d and udot in the rows of the mobilities' places."""
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
def _release_by_block(model: Record, b: int, wide: Any, top: int, jb: int, w: Any, v: Any) -> Any:
    """`_release` of a block."""
    own_v = v
    if model.num_u[b] == 6:
        own_v = _load_three(wide, RESULTS + top - 3, jb)
    udot_w, udot_v, w, v = block_elimination.release_own(model, b, _load_three(wide, RESULTS + top, jb), own_v, w, v)
    _store_three(wide, RESULTS + top, jb, udot_w)
    if model.num_u[b] == 6:
        _store_three(wide, RESULTS + top - 3, jb, udot_v)
    return w, v


@compiled
def calc_m_inv(block: Any, address: int, valid: int, flat: Any, wide: Any, M_inv: Any) -> int:
    """M^-1, after the articulated inertias, by `realize.advance` at *address*, unless these are *valid*; the status."""
    model = attach(block)
    if valid & ARTICULATED == 0:
        status = call_routine(address, model, valid, ARTICULATED)
        if status != DONE:
            return status
    matrix_sweep.clear(M_inv)
    shift = matrix_sweep.bits(flat, wide)
    for at in range(model.nb - 1, 0, -1):
        b = model.depth_first[at]
        if model.num_u[b] == 1 and model.elimination[b] == ONE_BY_ONE:
            inward_step_of_one(model, b, shift, wide)
        else:
            inward_step(model, b, shift, flat, wide)
    for at in range(1, model.nb):
        b = model.depth_first[at]
        if model.num_u[b] == 1 and model.elimination[b] == ONE_BY_ONE:
            outward_step_of_one(model, b, shift, wide)
        else:
            outward_step(model, b, shift, wide)
        matrix_sweep.spread(model, flat, b, model.end_of_base[b], M_inv)
    total = 0.0 * load(model.p_GB, 0, 0)
    for i in range(model.nu):
        total = total + 0.0 * load(M_inv, i, i)
    status = DONE
    if any_not_finite(total):
        status = BAD_U_DOT
    return status
