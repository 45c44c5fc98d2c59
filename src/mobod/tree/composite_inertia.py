"""Composite-rigid-body inertias of bodies and their outboard subtrees, tip to base. Needs positions.

    M_C = M_B + sum over children of phi M_C phi^T, as mass, first moment and inertia about the body's origin, in Ground

Source: Featherstone 2008, section 6.2; Jain 2011, section 4.1.2.
"""

from typing import Any

from ..algebra import spatial, sym33, vec3
from ..algebra.memory import load3, load6, store3, store6
from ..algebra.record import attach
from ..algebra.scalar import load, store
from ..compiling import compiled, generic
from ..state.fields import Record


@generic
def step(model: Record, b: int) -> None:
    """M_C of body b, added to its parent's. Its children come first."""
    p = model.parent[b]
    m, mc, inertia = load(model.mass, b, 0), load3(model.com_G, b, 0), load6(model.inertia_G, b, 0)
    mc = vec3.scale(m, mc)
    if model.has_children[b] == 1:
        m, mc, inertia = _with(model, b, m, mc, inertia)
    _keep(model, b, m, mc, inertia)
    mc, inertia = spatial.shift_inertia(m, mc, inertia, load3(model.p_PB_G, b, 0))
    if model.is_last_child[b] == 0:
        m, mc, inertia = _with(model, p, m, mc, inertia)
    _keep(model, p, m, mc, inertia)


@generic
def _with(model: Record, b: int, m: Any, mc: Any, inertia: Any) -> Any:
    """The sum of an inertia and that of row b."""
    return (
        m + load(model.composite, b, 0),
        vec3.add(mc, load3(model.composite, b, 1)),
        sym33.add(inertia, load6(model.composite, b, 4)),
    )


@generic
def _keep(model: Record, b: int, m: Any, mc: Any, inertia: Any) -> None:
    store(model.composite, b, 0, m)
    store3(model.composite, b, 1, mc)
    store6(model.composite, b, 4, inertia)


@generic
def sweep(model: Record) -> None:
    """All bodies; Ground's row becomes the inertia of the whole tree about Ground's origin."""
    for b in range(model.nb - 1, 0, -1):
        step(model, b)


@compiled
def realize_composite(block: Any) -> None:
    """The sweep for a state's record; called from Python."""
    sweep(attach(block))
