"""Energies, momentum, reactions and forces of many states of one tree, eight at a time in lanes."""

from typing import Any

from ..algebra.record import attach, call_routine
from ..algebra.scalar import load, scatter, store, zero
from ..compiling import compiled, generic, routine
from ..force import dispatch as forces
from ..force.routines import FORCES
from ..state.fields import Record
from ..tree import constraint_operators, jacobian_sweeps, momentum, reaction
from .batch_operators import realize
from .chunks import shared

#: One number each;
KINETIC_ENERGY, POTENTIAL_ENERGY, POWER_DISSIPATION = range(3)
#: six, six of which three count, and ten of the system;
MOMENTUM, RATE_OF_MOMENTUM, MASS_PROPERTIES = range(3, 6)
#: six a body, and one a mobility.
REACTIONS, BODY_FORCES, CONSTRAINT_BODY_FORCES, MOBILITY_FORCES, CONSTRAINT_MOBILITY_FORCES = range(6, 11)


@routine
def find(model: Record, what: int, _: int) -> int:
    """Compute the sum numbered *what*: its first row is written to `work_A`, further ones to `work_F` or `work_u`.

    A routine, since what calls it keeps the addresses of parameters that each lane has its own of.
    """
    if what == KINETIC_ENERGY:
        store(model.work_A, 0, 0, momentum.kinetic_energy(model))
    elif what == POTENTIAL_ENERGY:
        store(model.work_A, 0, 0, forces.total_potential_energy(model))
    elif what == POWER_DISSIPATION:
        forces.find_scalars(model, forces.POWER, model.nr)
        power = zero(load(model.time, 0, 0))
        for e in range(model.nf):
            power = power + load(model.work_e, e, 0)
        store(model.work_A, 0, 0, power)
    elif what == MOMENTUM:
        angular, linear = momentum.momentum_about_origin(model)
        for k in range(3):
            store(model.work_A, 0, k, angular[k])
            store(model.work_A, 0, 3 + k, linear[k])
    elif what == RATE_OF_MOMENTUM:
        rate = momentum.rate_of_linear_momentum(model)
        for k in range(3):
            store(model.work_A, 0, k, rate[k])
    elif what == MASS_PROPERTIES:
        m, mc, inertia = momentum.mass_properties(model)
        store(model.work_A, 0, 0, m)
        for k in range(3):
            store(model.work_A, 0, 1 + k, mc[k])
        for k in range(6):
            store(model.work_F, 0, k, inertia[k])
    elif what == REACTIONS:
        constraint_operators.add_forces(model, model.multiplier, model.body_forces, model.mobility_forces, -1.0)
        reaction.calc_reactions_by_free_bodies(model, model.work_A)
    else:
        jacobian_sweeps.clear(model.work_A, model.nb)
        for i in range(model.nu):
            store(model.work_u, i, 0, zero(load(model.time, 0, 0)))
        constraint_operators.add_forces(model, model.multiplier, model.work_A, model.work_u, 1.0)
    return 0


@generic
def _put(rows: Any, count: int, columns: int, first: int, at: int, out: Any) -> None:
    """Scatter rows of the record into eight rows of a result, from column *at* on."""
    for i in range(count):
        for k in range(columns):
            scatter(out, first, at + columns * i + k, load(rows, i, k))


@compiled
def collect_contributions(
    block: Any, address: int, wanted: int, share: Any, elements: Any, runs: Any, states: Any, out: Any
) -> None:
    """Forces of listed elements, of those runs, on bodies together, at their origins and in Ground; one row a state."""
    model = attach(block)
    for g in shared(share):
        first = 8 * g
        realize(model, address, wanted, first, states)
        forces.clear(model)
        for k in range(len(elements)):
            if model.force_enabled[elements[k]] == 1:
                e = elements[k]
                call_routine(model.run_routine[runs[k]], model, e, e + 1, FORCES)
        _put(model.body_forces, model.nb, 6, first, 0, out)


@compiled
def collect(block: Any, address: int, wanted: int, share: Any, finder: int, what: int, states: Any, out: Any) -> None:
    """Realize groups and compute one of these, flat, one row a state; *finder* is the address of `find`."""
    model = attach(block)
    for g in shared(share):
        first = 8 * g
        realize(model, address, wanted, first, states)
        if what != BODY_FORCES and what != MOBILITY_FORCES:
            call_routine(finder, model, what, 0)
        if what < MOMENTUM:
            _put(model.work_A, 1, 1, first, 0, out)
        elif what == MOMENTUM or what == RATE_OF_MOMENTUM:
            _put(model.work_A, 1, 6, first, 0, out)
        elif what == MASS_PROPERTIES:
            _put(model.work_A, 1, 4, first, 0, out)
            _put(model.work_F, 1, 6, first, 4, out)
        elif what == BODY_FORCES:
            _put(model.body_forces, model.nb, 6, first, 0, out)
        elif what == MOBILITY_FORCES:
            _put(model.mobility_forces, model.nu, 1, first, 0, out)
        elif what == CONSTRAINT_MOBILITY_FORCES:
            _put(model.work_u, model.nu, 1, first, 0, out)
        else:
            _put(model.work_A, model.nb, 6, first, 0, out)
