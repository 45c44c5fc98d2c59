"""The mass matrix, explicit, in O(n times depth). Needs positions.

    M[i, j] = H_i^T phi M_C H_j        for j on the body of i or outboard of it; and the rotor inertia of i, where j = i

Column j begins as the force for a unit acceleration of mobility j, M_C H_j, and is shifted inward from body to body, where
H_i^T of it is M[i, j]. All columns are swept at once, see `matrix_sweep`. Source: the composite rigid body algorithm,
Featherstone 2008, section 6.2.
"""

from typing import Any

from ..algebra import mat33, spatial, vec3
from ..algebra.memory import load3, load6, load_spatial
from ..algebra.record import attach
from ..algebra.scalar import load, store
from ..compiling import compiled, generic
from ..state.fields import Record
from . import block_elimination, composite_inertia, matrix_sweep
from .block_elimination import BALL, FREE, GENERAL_FREE
from .matrix_sweep import RESULTS


@generic
def step(model: Record, b: int, shift: int, flat: Any, wide: Any) -> None:
    """The rows of body b's mobilities; then all columns outboard are shifted to the parent's origin."""
    first = model.first_u[b]
    end_u, end = first + model.num_u[b], model.end_place[b]
    top = model.first_place[b] + model.num_u[b]  # mobility i has place top - 1 - (i - first)
    r, on_ground = load3(model.p_PB_G, b, 0), model.parent[b] == 0
    for jb in range(top >> shift, matrix_sweep.numbers_until(end, shift)):
        torque, force = matrix_sweep.load_column(wide, 0, jb)
        if model.elimination[b] >= BALL and model.elimination[b] < GENERAL_FREE:
            _along_axes(model, b, wide, RESULTS + top - 1, jb, torque, force)
        else:
            for i in range(first, end_u):
                store(wide, RESULTS + top - 1 - (i - first), jb, _along(model, i, torque, force))
        if not on_ground:  # where nothing is left to do
            torque, force = spatial.shift_force(torque, force, r)
            matrix_sweep.store_before(wide, shift, jb, end, model.end_of_base[b], torque, force)
    m, mc, inertia = load(model.composite, b, 0), load3(model.composite, b, 1), load6(model.composite, b, 4)
    for i in range(first, end_u):
        w, v = load_spatial(model.H, i)
        torque, force = spatial.mul_inertia(m, mc, inertia, w, v)
        place = top - 1 - (i - first)
        for k in range(i, end_u):
            store(flat, RESULTS + top - 1 - (k - first), place, _along(model, k, torque, force))
        diagonal = load(flat, RESULTS + place, place) + load(model.rotor_inertia, i, 0)
        store(flat, RESULTS + place, place, diagonal)
        if not on_ground:
            torque, force = spatial.shift_force(torque, force, r)
            matrix_sweep.begin_column(flat, wide, shift, place, torque, force)


@generic
def step_of_one(model: Record, b: int, shift: int, wide: Any) -> None:
    """`step` for one mobility, which most bodies have, all in registers."""
    i, place, end = model.first_u[b], model.first_place[b], model.end_place[b]
    m, mc, inertia = load(model.composite, b, 0), load3(model.composite, b, 1), load6(model.composite, b, 4)
    w, v = load_spatial(model.H, i)
    r = load3(model.p_PB_G, b, 0)
    t, f = spatial.mul_inertia(m, mc, inertia, w, v)
    diagonal = vec3.dot(w, t) + vec3.dot(v, f) + load(model.rotor_inertia, i, 0)
    t, f = spatial.shift_force(t, f, r)
    begin = place >> shift
    for jb in range(begin, matrix_sweep.numbers_until(end, shift)):
        torque, force = matrix_sweep.load_column(wide, 0, jb)
        x = vec3.dot(w, torque) + vec3.dot(v, force)
        torque, force = spatial.shift_force(torque, force, r)
        if jb == begin:
            x = matrix_sweep.with_column(wide, shift, jb, place, diagonal, x)
            torque = (
                matrix_sweep.with_column(wide, shift, jb, place, t[0], torque[0]),
                matrix_sweep.with_column(wide, shift, jb, place, t[1], torque[1]),
                matrix_sweep.with_column(wide, shift, jb, place, t[2], torque[2]),
            )
            force = (
                matrix_sweep.with_column(wide, shift, jb, place, f[0], force[0]),
                matrix_sweep.with_column(wide, shift, jb, place, f[1], force[1]),
                matrix_sweep.with_column(wide, shift, jb, place, f[2], force[2]),
            )
        store(wide, RESULTS + place, jb, x)
        matrix_sweep.store_before(wide, shift, jb, end, model.end_of_base[b], torque, force)


@generic
def _along_axes(model: Record, b: int, wide: Any, row: int, jb: int, torque: Any, force: Any) -> None:
    """`_along` of all mobilities of a block, for which W alone is loaded. Rows run against the mobilities."""
    W_transposed = block_elimination.axes(model, model.first_u[b])
    about_M = vec3.sub(torque, vec3.cross(load3(model.p_BM_G, b, 0), force))
    x, y, z = mat33.mul_vec(W_transposed, about_M)
    store(wide, row, jb, x)
    store(wide, row - 1, jb, y)
    store(wide, row - 2, jb, z)
    if model.elimination[b] == FREE:
        x, y, z = mat33.mul_vec(W_transposed, force)
        store(wide, row - 3, jb, x)
        store(wide, row - 4, jb, y)
        store(wide, row - 5, jb, z)


@generic
def _along(model: Record, i: int, torque: Any, force: Any) -> Any:
    w, v = load_spatial(model.H, i)
    return vec3.dot(w, torque) + vec3.dot(v, force)


@compiled
def calc_m(block: Any, realized: bool, flat: Any, wide: Any, M: Any) -> None:
    """M, after the composite inertias unless these are *realized*."""
    model = attach(block)
    if not realized:
        composite_inertia.sweep(model)
    matrix_sweep.clear(M)
    shift = matrix_sweep.bits(flat, wide)
    for at in range(model.nb - 1, 0, -1):
        b = model.depth_first[at]
        if model.num_u[b] == 1:
            step_of_one(model, b, shift, wide)
        else:
            step(model, b, shift, flat, wide)
        matrix_sweep.spread(model, flat, b, model.end_place[b], M)
