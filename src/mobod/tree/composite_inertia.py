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
    """Hand the composite inertia of body b, to which all its children have added, to its parent."""
    p = model.parent[b]
    m, mc, inertia = load(model.composite, b, 0), load3(model.composite, b, 1), load6(model.composite, b, 4)
    mc, inertia = spatial.shift_inertia(m, mc, inertia, load3(model.p_PB_G, b, 0))
    store(model.composite, p, 0, load(model.composite, p, 0) + m)
    store3(model.composite, p, 1, vec3.add(load3(model.composite, p, 1), mc))
    store6(model.composite, p, 4, sym33.add(load6(model.composite, p, 4), inertia))


@generic
def sweep(model: Any) -> None:
    """All bodies, tips first; Ground's row is left at the sum of all, about the Ground origin."""
    for column in range(10):
        store(model.composite, 0, column, 0.0)
    for b in range(1, model.nb):
        m = load(model.mass, b, 0)
        store(model.composite, b, 0, m)
        store3(model.composite, b, 1, vec3.scale(m, load3(model.com_G, b, 0)))
        store6(model.composite, b, 4, load6(model.inertia_G, b, 0))
    for b in range(model.nb - 1, 0, -1):
        step(model, b)


@compiled
def realize_composite(block: Any) -> None:
    """The sweep for a state's record; called from Python."""
    sweep(attach(block))
