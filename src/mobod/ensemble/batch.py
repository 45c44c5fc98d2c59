"""Many states of one tree, eight at a time in lanes: from rows of q and u to rows of results."""

from typing import Any

from ..algebra.record import attach, call_routine, point_field
from ..algebra.scalar import gather, load, one, scatter, store, where, zero
from ..compiling import compiled, generic
from ..state.fields import Record
from ..state.validity import ACCELERATIONS, FORCES, KINEMATICS, NO_MOBILIZERS, NO_RATES, UNCHECKED
from ..tree.realize import before_accelerations, give_back, hold_back, nothing_of
from .batch_memory import fill_memory
from .chunks import shared

#: Results that `collect` can copy.
Q_DOT, Q_DOT_DOT, BODY_TRANSFORMS, BODY_VELOCITIES, BODY_ACCELERATIONS, Z_DOT = range(6)


@generic
def fill(model: Record, first: int, states: Any) -> None:
    """Load states *first* to *first* + 7 into the record.

    *states*, an argument of all kernels of a batch, is a tuple: the states' own parameters, then time, q, u, z, the
    particles' locations and velocities, what they remember, see `batch_memory`, and forces on the mobilities beside the
    elements', or no rows of these: one row a state. A row of the parameters is
    a field's place in the block, its address for the first eight states, and the bytes to the address for the next eight.
    """
    own, time, q, u, z, particles, memory, _ = states
    for j in range(own.shape[0]):
        point_field(model, own[j, 0], own[j, 1] + first // 8 * own[j, 2])
    store(model.time, 0, 0, gather(time, first, 0))
    for i in range(model.nq):
        store(model.q, i, 0, gather(q, first, i))
    for i in range(model.nu):
        store(model.u, i, 0, gather(u, first, i))
    for i in range(model.nz):
        store(model.z, i, 0, gather(z, first, i))
    for i in range(model.particle_size):
        store(model.particle_location, i, 0, gather(particles, first, i))
        store(model.particle_velocity, i, 0, gather(particles, first, model.particle_size + i))
    fill_memory(model, first, memory)


@generic
def realize_eight(model: Record, address: int, wanted: int, first: int, states: Any) -> None:
    """Load states *first* to *first* + 7, and realize them by `realize.advance`, which is at *address*."""
    fill(model, first, states)
    wanted, forces = wanted | UNCHECKED, states[7]
    if forces.shape[0] > 0 and wanted & ACCELERATIONS != 0:
        call_routine(address, model, 0, before_accelerations(wanted))
        for i in range(model.nu):
            hold_back(model, i, gather(forces, first, i))
        call_routine(address, model, wanted & (KINEMATICS | FORCES), wanted)
        give_back(model)
    else:
        call_routine(address, model, 0, wanted)


# fmt: off
@compiled
def realize_groups(
    block: Any, address: int, wanted: int, accelerations: bool,
    own: Any, time: Any, q: Any, u: Any, z: Any, particles: Any, memory: Any, forces: Any, u_dot: Any,
    particle_acceleration: Any, failed: Any, worker: int, chunks: Any, calls: Any,
) -> None:
    # fmt: on
    """Realize groups of eight, as `shared` among threads; states that are not finite are marked as failed."""
    model = attach(block)
    for g in shared((worker, chunks, calls)):
        first = 8 * g
        # separate arguments: a tuple costs small ensembles 4 % a call
        states = own, time, q, u, z, particles, memory, forces
        realize_eight(model, address, wanted | NO_RATES | NO_MOBILIZERS, first, states)
        sound = nothing_of(model.u, model.nu, nothing_of(model.q, model.nq, 0.0 * load(model.time, 0, 0)))
        sound = nothing_of(model.particle_location, model.particle_size, sound)
        sound = nothing_of(model.particle_velocity, model.particle_size, sound)
        if accelerations:
            for i in range(model.nu):
                a = load(model.u_dot, i, 0)
                scatter(u_dot, first, i, a)
                sound = sound + 0.0 * a
            for i in range(model.particle_size):
                a = load(model.particle_acceleration, i, 0)
                scatter(particle_acceleration, first, i, a)
                sound = sound + 0.0 * a
        scatter(failed, first, 0, where(sound == 0.0, zero(sound), one(sound)))


@compiled
def collect(block: Any, address: int, wanted: int, share: Any, what: int, states: Any, out: Any) -> None:
    """Realize groups and copy one kind of result, flat, one row a state."""
    model = attach(block)
    for g in shared(share):
        first = 8 * g
        realize_eight(model, address, wanted, first, states)
        if what == Q_DOT:
            for i in range(model.nq):
                scatter(out, first, i, load(model.q_dot, i, 0))
        elif what == Q_DOT_DOT:
            for i in range(model.nq):
                scatter(out, first, i, load(model.q_dot_dot, i, 0))
        elif what == Z_DOT:
            for i in range(model.nz):
                scatter(out, first, i, load(model.z_dot, i, 0))
        elif what == BODY_TRANSFORMS:  # the upper three rows of 4 x 4 matrices
            for b in range(model.nb):
                for i in range(3):
                    for k in range(3):
                        scatter(out, first, 16 * b + 4 * i + k, load(model.R_GB, b, 3 * i + k))
                    scatter(out, first, 16 * b + 4 * i + 3, load(model.p_GB, b, i))
        elif what == BODY_VELOCITIES:
            for b in range(model.nb):
                for k in range(6):
                    scatter(out, first, 6 * b + k, load(model.V_GB, b, k))
        else:
            for b in range(model.nb):
                for k in range(6):
                    scatter(out, first, 6 * b + k, load(model.A_GB, b, k))
