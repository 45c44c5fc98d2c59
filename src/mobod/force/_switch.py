"""From a force's kind to its code: the only place that knows all compiled kinds of force."""

from typing import Any

from .._jit import compiled, generic
from ..algebra.memory import store_spatial
from ..algebra.record import attach
from ..algebra.scalar import load, store, zero
from . import gravity


@generic
def clear(model: Any) -> None:
    """No force on any body, mobility or particle."""
    o = zero(load(model.time, 0, 0))
    for b in range(model.nb):
        store_spatial(model.body_forces, b, (o, o, o), (o, o, o))
    for i in range(model.nu):
        store(model.mobility_forces, i, 0, o)
    for i in range(model.particle_size):
        store(model.particle_forces, i, 0, o)


@generic
def add_force(model: Any, e: int) -> None:
    """Add force element e to body_forces, mobility_forces and particle_forces."""
    if model.force_kind[e] == gravity.KIND:
        gravity.add_force(model, model.force_first_integer[e], model.force_first_number[e])


@generic
def potential_energy(model: Any, e: int) -> Any:
    """Potential energy of force element e."""
    energy = zero(load(model.time, 0, 0))
    if model.force_kind[e] == gravity.KIND:
        energy = gravity.potential_energy(model, model.force_first_integer[e], model.force_first_number[e])
    return energy


@generic
def sweep(model: Any) -> None:
    """The forces of all enabled elements, from none. Gravity at the head of them writes instead of adding."""
    begin = 0
    if model.nf > 0 and model.force_enabled[0] == 1 and model.force_kind[0] == gravity.KIND:
        gravity.set_force(model, model.force_first_integer[0], model.force_first_number[0])
        begin = 1
    else:
        clear(model)
    for e in range(begin, model.nf):
        if model.force_enabled[e] == 1:
            add_force(model, e)


@generic
def total_potential_energy(model: Any) -> Any:
    """Of all enabled elements."""
    energy = zero(load(model.time, 0, 0))
    for e in range(model.nf):
        if model.force_enabled[e] == 1:
            energy = energy + potential_energy(model, e)
    return energy


@compiled
def one_force(block: Any, e: int) -> None:
    """body_forces, mobility_forces and particle_forces of element *e* alone."""
    model = attach(block)
    clear(model)
    add_force(model, e)


@compiled
def one_potential_energy(block: Any, e: int, out: Any) -> None:
    """Potential energy of element *e*, into one row."""
    store(out, 0, 0, potential_energy(attach(block), e))
