"""Articulated body inertias, tip to base: what a body weighs with all that hangs on it free to move. Needs positions.

    P_B = M_B + sum over children of phi P+ phi^T        P+ = P less its part along the free directions

Source: Featherstone 2008, section 7; Jain 2011, section 6. The free directions are eliminated one by one
(`algebra.articulated.eliminate`); gain and d_inverse keep what each elimination found, for the passes of `acceleration`.
A mobilizer of six mobilities hands nothing to its parent: P+ is zero.

Where hinge columns are nearly dependent, 1 / d would lose twice the digits that their independence has lost. But once a
direction h is free, P h is zero, so that any of it can be taken off a later column: what is left of that is small and exact.
"""

from typing import Any

from .._jit import compiled, generic
from ..algebra import articulated, spatial, vec3
from ..algebra.memory import load3, load6, load_spatial, store3, store_spatial
from ..algebra.record import attach
from ..algebra.scalar import load, one, store, where, zero
from . import blocks

#: Squared, the least part of a column that its mobilizer's earlier ones must leave: some tens of roundings.
DEPENDENT = 1e-28


@generic
def freed_of_earlier(model: Any, first: int, i: int, row: int) -> Any:
    """Column i less what P finds of the earlier columns, from *first* on, in it: gain . h of each. Kept, first in *row*."""
    hw, hv = load_spatial(model.H, i)
    for _ in range(2):  # once leaves the rounding of the whole column, of which the second time takes all but its own
        for j in range(first, i):
            gw, gv = load_spatial(model.gain, j)
            s = -(vec3.dot(gw, hw) + vec3.dot(gv, hv))
            fw, fv = load_spatial(model.freed, row + j - first)
            hw, hv = vec3.add_scaled(hw, s, fw), vec3.add_scaled(hv, s, fv)
    store_spatial(model.freed, row + i - first, hw, hv)
    return hw, hv


@generic
def unless_dependent(model: Any, i: int, d_inverse: Any, hw: Any, hv: Any) -> Any:
    """1 / d of mobility i; infinite where what is left of its column, (hw; hv), is but the rounding of the whole."""
    w, v = load_spatial(model.H, i)
    left, whole = vec3.dot(hw, hw) + vec3.dot(hv, hv), vec3.dot(w, w) + vec3.dot(v, v)
    return d_inverse / where(left > DEPENDENT * whole, one(left), zero(left))


def is_dependent(left: Any, whole: Any) -> bool:
    """The same question afterwards, of rows of `freed` and `H`; not where something else has left no number."""
    return bool(left @ left <= DEPENDENT * (whole @ whole))


@generic
def free_one(model: Any, first: int, i: int, row: int, J: Any, F: Any, M: Any) -> Any:
    """Eliminate mobility i, of those from *first* on, and keep what the passes of `acceleration` need of it.

    A *row* that is not negative says that the columns can be dependent, and where they are kept without what they share.
    """
    hw, hv = load_spatial(model.H, i)
    if row >= 0:
        hw, hv = freed_of_earlier(model, first, i, row)
    J, F, M, gw, gv, d_inverse = articulated.eliminate(J, F, M, hw, hv)
    if row >= 0:
        d_inverse = unless_dependent(model, i, d_inverse, hw, hv)
    store3(model.gain, i, 0, gw)
    store3(model.gain, i, 3, gv)
    store(model.d_inverse, i, 0, d_inverse)
    return J, F, M


@generic
def of_body(model: Any, b: int) -> Any:
    """Rigid body inertia of body b alone, as J, F, M."""
    m = load(model.mass, b, 0)
    mc = vec3.scale(m, load3(model.com_G, b, 0))
    return articulated.of_rigid_body(m, mc, load6(model.inertia_G, b, 0))


@generic
def of_shifted_body(model: Any, b: int) -> Any:
    """Rigid body inertia of body b alone about its parent's origin: half the work of shifting an articulated one."""
    m = load(model.mass, b, 0)
    mc = vec3.scale(m, load3(model.com_G, b, 0))
    mc, inertia = spatial.shift_inertia(m, mc, load6(model.inertia_G, b, 0), load3(model.p_PB_G, b, 0))
    return articulated.of_rigid_body(m, mc, inertia)


@generic
def step(model: Any, b: int) -> None:
    """Add the body to what its children handed in, eliminate its mobilities and hand the rest to the parent."""
    n, p, first = model.num_u[b], model.parent[b], model.first_u[b]
    J, F, M = of_body(model, b)
    if model.has_children[b] == 1:
        J2, F2, M2 = articulated.load_articulated(model.articulated, b)
        J, F, M = articulated.add(J, F, M, J2, F2, M2)
    if model.together[b] > 0:
        _block_step(model, b, J, F, M)
        return
    if n == 1:  # apart from the loop, whose 21 numbers go through memory
        J, F, M = free_one(model, first, first, -1, J, F, M)
    else:
        for i in range(first, first + n):
            J, F, M = free_one(model, first, i, model.first_freed[b], J, F, M)
    if p > 0:
        if n < 6:
            if n == 0 and model.has_children[b] == 0:
                J, F, M = of_shifted_body(model, b)
            else:
                J, F, M = articulated.shift(J, F, M, load3(model.p_PB_G, b, 0))
            if model.is_last_child[b] == 0:
                J2, F2, M2 = articulated.load_articulated(model.articulated, p)
                J, F, M = articulated.add(J, F, M, J2, F2, M2)
            articulated.store_articulated(model.articulated, p, J, F, M)
        elif model.is_last_child[b] == 1:
            for column in range(21):
                store(model.articulated, p, column, 0.0)


@generic
def _block_step(model: Any, b: int, J: Any, F: Any, M: Any) -> None:
    """The rest of `step` for a body whose mobilities are met together."""
    p = model.parent[b]
    M = blocks.eliminate(model, b, J, F, M)
    if p > 0:
        if model.together[b] == blocks.FREE:
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
def _to_outboard_frame(model: Any, b: int) -> Any:
    """From the parent's origin to M's."""
    return vec3.add(load3(model.p_PB_G, b, 0), load3(model.p_BM_G, b, 0))


@generic
def nothing(x: Any) -> Any:
    """No inertia, of the scalar type of x."""
    o = zero(x)
    return (o, o, o, o, o, o), (o, o, o, o, o, o, o, o, o), (o, o, o, o, o, o)


@compiled
def store_inertias(block: Any) -> None:
    """P of every body into its row, for those who ask for it: `step` itself stores only what it has to."""
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
        if n == 6:
            J, F, M = nothing(J[0])
        elif model.together[b] > 0:
            J, F, M = articulated.shift_linear(blocks.eliminate(model, b, J, F, M), _to_outboard_frame(model, b))
        else:
            for i in range(first, first + n):
                J, F, M = free_one(model, first, i, model.first_freed[b], J, F, M)
            J, F, M = articulated.shift(J, F, M, load3(model.p_PB_G, b, 0))
        if model.is_last_child[b] == 0:
            J2, F2, M2 = articulated.load_articulated(model.articulated, p)
            J, F, M = articulated.add(J, F, M, J2, F2, M2)
        articulated.store_articulated(model.articulated, p, J, F, M)
