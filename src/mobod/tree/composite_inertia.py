"""Composite body inertias, tip to base: what a body weighs with all that hangs on it held rigid. Needs positions.

    M_C = M_B + sum over children of phi M_C phi^T, as mass, first moment and inertia about the body's origin, in Ground

Source: Featherstone 2008, section 6.2; Jain 2011, section 4.1.2.
"""

from typing import Any

from .._jit import compiled, generic
from ..algebra import spatial, sym33, vec3
from ..algebra.memory import load3, load6, store3, store6
from ..algebra.record import attach
from ..algebra.scalar import load, store


@generic
def step(model: Any, b: int) -> None:
    """The composite inertia of body b, to which all its children have handed theirs; handed to its parent."""
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
def _with(model: Any, b: int, m: Any, mc: Any, inertia: Any) -> Any:
    """An inertia and what is in row b."""
    return (
        m + load(model.composite, b, 0),
        vec3.add(mc, load3(model.composite, b, 1)),
        sym33.add(inertia, load6(model.composite, b, 4)),
    )


@generic
def _keep(model: Any, b: int, m: Any, mc: Any, inertia: Any) -> None:
    store(model.composite, b, 0, m)
    store3(model.composite, b, 1, mc)
    store6(model.composite, b, 4, inertia)


@generic
def sweep(model: Any) -> None:
    """All bodies, tips first; Ground's row is left at the sum of all, about the Ground origin."""
    for b in range(model.nb - 1, 0, -1):
        step(model, b)


@compiled
def realize_composite(block: Any) -> None:
    """The sweep for a state's record; called from Python."""
    sweep(attach(block))
