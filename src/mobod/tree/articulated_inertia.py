"""Articulated-body inertias of bodies and their outboard subtrees, tip to base. Needs positions.

    P = M_B + sum over children of phi P+ phi^T        P+ = P - P H D^-1 H^T P,  D = H^T P H + rotor inertias

Source: Featherstone 2008, section 7; Jain 2011, section 6. Mobilities are eliminated one by one
(`algebra.articulated.eliminate`) or as a block (`block_elimination`); the fields `gain` and `d_inverse` keep what the passes of
`acceleration` need. Six mobilities without rotor inertia leave nothing: P+ is zero. With rotor inertia P+ has no such form, and
mobilities are eliminated one by one. What is stored of a body is the sum over its children; see `store_inertias` for P itself.
"""

from typing import Any

from ..algebra import articulated, spatial, sym33, vec3
from ..algebra.memory import load3, load6, load_spatial, store3, store6
from ..algebra.record import attach
from ..algebra.scalar import load, store, zero
from ..compiling import compiled, generic
from ..state.fields import Record
from . import block_elimination, prescribed_mobilities
from .block_elimination import BALL, NONE, ONE_BY_ONE


@generic
def _keep(model: Record, i: int, gw: Any, gv: Any, d_inverse: Any) -> None:
    """P h / d and 1 / d of mobility i."""
    store3(model.gain, i, 0, gw)
    store3(model.gain, i, 3, gv)
    store(model.d_inverse, i, 0, d_inverse)


@generic
def _free_one(model: Record, i: int, J: Any, F: Any, M: Any) -> Any:
    """Eliminate mobility i."""
    J, F, M, gw, gv, d_inverse = articulated.eliminate(
        J, F, M, load3(model.H, i, 0), load3(model.H, i, 3), load(model.rotor_inertia, i, 0)
    )
    _keep(model, i, gw, gv, d_inverse)
    return J, F, M


@generic
def _free_two(model: Record, i: int, J: Any, F: Any, M: Any) -> Any:
    """Eliminate mobilities i and i + 1."""
    hw, hv = load_spatial(model.H, i)
    kw, kv = load_spatial(model.H, i + 1)
    J, F, M, (gw, gv, d_inverse), (lw, lv, e_inverse) = articulated.eliminate_two(
        J, F, M, hw, hv, kw, kv, load(model.rotor_inertia, i, 0), load(model.rotor_inertia, i + 1, 0)
    )
    _keep(model, i, gw, gv, d_inverse)
    _keep(model, i + 1, lw, lv, e_inverse)
    return J, F, M


@generic
def of_body(model: Record, b: int) -> Any:
    """Spatial inertia of body b alone, as J, F, M."""
    m = load(model.mass, b, 0)
    mc = vec3.scale(m, load3(model.com_G, b, 0))
    return articulated.of_rigid_body(m, mc, load6(model.inertia_G, b, 0))


@generic
def of_shifted_body(model: Record, b: int) -> Any:
    """Spatial inertia of body b alone about its parent's origin: half the work of shifting an articulated-body inertia."""
    m = load(model.mass, b, 0)
    mc = vec3.scale(m, load3(model.com_G, b, 0))
    mc, inertia = spatial.shift_inertia(m, mc, load6(model.inertia_G, b, 0), load3(model.p_PB_G, b, 0))
    return articulated.of_rigid_body(m, mc, inertia)


@generic
def step(model: Record, b: int) -> None:
    """P from the body and the sum over its children; P+ into the sum of its parent."""
    n, p, first = model.num_u[b], model.parent[b], model.first_u[b]
    if n == 0 and model.elimination[b] == ONE_BY_ONE:
        _step_of_weld(model, b)
        return
    J, F, M = of_body(model, b)
    if model.has_children[b] == 1:
        J2, F2, M2 = articulated.load_articulated(model.articulated, b)
        J, F, M = articulated.add(J, F, M, J2, F2, M2)
    if model.elimination[b] != ONE_BY_ONE:
        if model.elimination[b] == NONE:
            prescribed_mobilities.step(model, b, J, F, M)
        else:
            _block_step(model, b, J, F, M)
        return
    if n == 1:  # the loop below passes its 21 numbers through memory
        J, F, M = _free_one(model, first, J, F, M)
    else:
        slides = model.slides[b] * model.rotorless[b]
        i, end = first, first + n - 3 * slides
        while i + 1 < end:
            J, F, M = _free_two(model, i, J, F, M)
            i += 2
        if i < end:
            J, F, M = _free_one(model, i, J, F, M)
        if slides == 1:
            _step_of_slides(model, b, i, J, F, M)
            return
    if p > 0:
        if n < 6 or model.rotorless[b] == 0:
            J, F, M = articulated.shift(J, F, M, load3(model.p_PB_G, b, 0))
            if model.is_last_child[b] == 0:
                J2, F2, M2 = articulated.load_articulated(model.articulated, p)
                J, F, M = articulated.add(J, F, M, J2, F2, M2)
            articulated.store_articulated(model.articulated, p, J, F, M)
        elif model.is_last_child[b] == 1:
            for column in range(21):
                store(model.articulated, p, column, 0.0)


@generic
def _step_of_weld(model: Record, b: int) -> None:
    """`step` of a body without mobilities, of which robots have as many as others: P+ = P, of which little is there."""
    p = model.parent[b]
    if p == 0:
        return
    if model.has_children[b] == 0:
        if model.massless[b] == 1 and model.is_last_child[b] == 0:
            return
        J, F, M = of_shifted_body(model, b)
    else:
        J, F, M = articulated.load_articulated(model.articulated, b)
        if model.massless[b] == 0:
            J2, F2, M2 = of_body(model, b)
            J, F, M = articulated.add(J, F, M, J2, F2, M2)
        J, F, M = articulated.shift(J, F, M, load3(model.p_PB_G, b, 0))
    if model.is_last_child[b] == 0:
        J2, F2, M2 = articulated.load_articulated(model.articulated, p)
        J, F, M = articulated.add(J, F, M, J2, F2, M2)
    articulated.store_articulated(model.articulated, p, J, F, M)


@generic
def _step_of_slides(model: Record, b: int, i: int, J: Any, F: Any, M: Any) -> None:
    """The rest of `step` where i to i + 2 translate M in every direction: P+ = [J 0; 0 0], about any point."""
    p = model.parent[b]
    x, y, z = load3(model.H, i, 3), load3(model.H, i + 1, 3), load3(model.H, i + 2, 3)
    J, (gw, gv, d_inverse), (kw, kv, e_inverse), (lw, lv, f_inverse) = articulated.eliminate_slides(J, F, M, x, y, z)
    _keep(model, i, gw, gv, d_inverse)
    _keep(model, i + 1, kw, kv, e_inverse)
    _keep(model, i + 2, lw, lv, f_inverse)
    if p > 0:
        if model.is_last_child[b] == 0:
            J = sym33.add(J, load6(model.articulated, p, 0))
        else:
            for column in range(6, 21):
                store(model.articulated, p, column, 0.0)
        store6(model.articulated, p, 0, J)


@generic
def _block_step(model: Record, b: int, J: Any, F: Any, M: Any) -> None:
    """The rest of `step` where the mobilities are eliminated as a block."""
    p = model.parent[b]
    M = block_elimination.eliminate(model, b, J, F, M)
    if p > 0:
        if model.num_u[b] == 6:
            if model.is_last_child[b] == 1:
                for column in range(21):
                    store(model.articulated, p, column, 0.0)
        else:
            J, F, M = articulated.shift_linear(M, _to_outboard_frame(model, b))
            if model.is_last_child[b] == 0:
                J2, F2, M2 = articulated.load_articulated(model.articulated, p)
                J, F, M = articulated.add(J, F, M, J2, F2, M2)
            articulated.store_articulated(model.articulated, p, J, F, M)


@generic
def _to_outboard_frame(model: Record, b: int) -> Any:
    """p_PM: from the parent's origin to M's."""
    return vec3.add(load3(model.p_PB_G, b, 0), load3(model.p_BM_G, b, 0))


@generic
def nothing(x: Any) -> Any:
    """Zero inertia, of the scalar type of x."""
    o = zero(x)
    return (o, o, o, o, o, o), (o, o, o, o, o, o, o, o, o), (o, o, o, o, o, o)


@compiled
def store_inertias(block: Any) -> None:
    """P of every body into its row of `articulated`, where `step` leaves the sum over its children."""
    model = attach(block)
    for b in range(model.nb - 1, 0, -1):
        J, F, M = of_body(model, b)
        if model.has_children[b] == 1:
            J2, F2, M2 = articulated.load_articulated(model.articulated, b)
            J, F, M = articulated.add(J, F, M, J2, F2, M2)
        articulated.store_articulated(model.articulated, b, J, F, M)
        p = model.parent[b]
        if p == 0:
            continue
        first, n = model.first_u[b], model.num_u[b]
        if model.elimination[b] == NONE:
            J, F, M = articulated.shift(J, F, M, load3(model.p_PB_G, b, 0))
        elif n == 6 and model.rotorless[b] == 1:
            J, F, M = nothing(J[0])
        elif model.elimination[b] >= BALL:
            J, F, M = articulated.shift_linear(block_elimination.eliminate(model, b, J, F, M), _to_outboard_frame(model, b))
        else:
            for i in range(first, first + n):
                rotor = load(model.rotor_inertia, i, 0)
                J, F, M, _, _, _ = articulated.eliminate(J, F, M, load3(model.H, i, 0), load3(model.H, i, 3), rotor)
            J, F, M = articulated.shift(J, F, M, load3(model.p_PB_G, b, 0))
        if model.is_last_child[b] == 0:
            J2, F2, M2 = articulated.load_articulated(model.articulated, p)
            J, F, M = articulated.add(J, F, M, J2, F2, M2)
        articulated.store_articulated(model.articulated, p, J, F, M)
