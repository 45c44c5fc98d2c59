"""The forces of all elements: gravity here, and every other kind by the routine of its run, see `routines`."""

from __future__ import annotations

from typing import Any

from ..algebra.arrays import Array
from ..algebra.memory import load6, store6, store_spatial
from ..algebra.record import attach, call_routine
from ..algebra.scalar import load, store, zero
from ..compiling import compiled, generic, routine
from ..state.state import State
from . import gravity
from .routines import ENERGY, FORCES, POWER


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
def copy_forces(model: Any, source: Any, target: Any) -> None:
    """Three fields of forces into three others: of bodies, mobilities, particles."""
    for b in range(model.nb):
        store6(target[0], b, 0, load6(source[0], b, 0))
    for i in range(model.nu):
        store(target[1], i, 0, load(source[1], i, 0))
    for i in range(model.particle_size):
        store(target[2], i, 0, load(source[2], i, 0))


@generic
def add_gravities(model: Any) -> None:
    """The forces of the gravities alone: the first writes instead of adding."""
    begin = 0
    if model.ng > 0 and model.force_enabled[0] == 1:
        gravity.set_force(model, model.force_first_integer[0], model.force_first_number[0])
        begin = 1
    else:
        clear(model)
    for e in range(begin, model.ng):
        if model.force_enabled[e] == 1:
            gravity.add_force(model, model.force_first_integer[e], model.force_first_number[e])


@routine
def all_runs(model: Any, what: int, flags: int) -> int:
    """The forces of all elements, or ENERGY or POWER of each: what only models with more than gravity have to compile.

    With FORCES, *flags* are KEPT where forces of positions are stored already, and KEEP where they are to be stored.
    """
    if what == FORCES:
        _add_all(model, flags & KEPT != 0, flags & KEEP != 0)
    else:
        find_scalars(model, what, model.nr)
    return 0


#: Forces of positions: stored already, to be stored.
KEPT, KEEP = 1, 2


@generic
def _add_all(model: Any, kept: bool, keep: bool) -> None:
    added_up = model.body_forces, model.mobility_forces, model.particle_forces
    of_positions = model.kept_body_forces, model.kept_mobility_forces, model.kept_particle_forces
    begin, stop = 0, model.kept_runs
    if kept and stop > 0:
        copy_forces(model, of_positions, added_up)
        begin = stop
    else:
        add_gravities(model)
    for i in range(model.forces_nz):  # a force that is switched off writes none
        store(model.z_dot, i, 0, 0.0)
    for r in range(begin, model.nr):
        if r == stop and keep and begin == 0 and stop > 0:
            copy_forces(model, added_up, of_positions)
        call_routine(model.run_routine[r], model, model.run_first[r], model.run_end[r], FORCES)
    if stop == model.nr and keep and begin == 0:
        copy_forces(model, added_up, of_positions)


@generic
def find_scalars(model: Any, what: int, runs: int) -> None:
    """The potential energy, or the power dissipated, of each element of the first so many runs, into `work_e`."""
    o = zero(load(model.time, 0, 0))
    for e in range(model.nf):
        store(model.work_e, e, 0, o)
    if what == ENERGY:
        for e in range(model.ng):
            store(model.work_e, e, 0, _energy_of_gravity(model, e))
    for r in range(runs):
        call_routine(model.run_routine[r], model, model.run_first[r], model.run_end[r], what)


@generic
def _energy_of_gravity(model: Any, e: int) -> Any:
    energy = zero(load(model.time, 0, 0))
    if model.force_enabled[e] == 1:
        energy = gravity.potential_energy(model, model.force_first_integer[e], model.force_first_number[e])
    return energy


@generic
def sweep(model: Any, flags: int) -> None:
    """The forces of all enabled elements; *flags* as of `all_runs`."""
    if model.nr == 0:
        add_gravities(model)
    else:
        call_routine(model.all_runs[0], model, FORCES, flags)


@generic
def total_potential_energy(model: Any) -> Any:
    """Of all enabled elements."""
    energy = zero(load(model.time, 0, 0))
    if model.nr == 0:
        for e in range(model.ng):
            energy = energy + _energy_of_gravity(model, e)
    else:
        call_routine(model.all_runs[0], model, ENERGY, 0)
        for e in range(model.nf):
            energy = energy + load(model.work_e, e, 0)
    return energy


@compiled
def one_force(block: Any, e: int, r: int) -> None:
    """body_forces, mobility_forces and particle_forces of element *e* alone, of run *r*; and its z_dot."""
    model = attach(block)
    clear(model)
    if e < model.ng:
        gravity.add_force(model, model.force_first_integer[e], model.force_first_number[e])
    else:
        call_routine(model.run_routine[r], model, e, e + 1, FORCES)


@compiled
def scalars(block: Any, what: int, runs: int) -> None:
    """`find_scalars`, called from Python."""
    find_scalars(attach(block), what, runs)


def of_all(state: State, what: int) -> Array:
    """ENERGY or POWER of each element of the record, zero for those in Python; a view."""
    scalars(state.block, what, state.tree.compiled_runs)
    return state.record.work_e[:, 0]


__all__ = [
    "ENERGY",
    "KEEP",
    "KEPT",
    "POWER",
    "all_runs",
    "find_scalars",
    "of_all",
    "one_force",
    "scalars",
    "sweep",
    "total_potential_energy",
]
