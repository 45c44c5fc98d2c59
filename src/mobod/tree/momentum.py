"""Mass properties, momentum and energy of all bodies and particles, Ground left out."""

from typing import Any

from ..algebra import spatial, sym33, vec3
from ..algebra.memory import load3, load6, load_spatial
from ..algebra.record import attach
from ..algebra.scalar import load, store, zero
from ..compiling import compiled, generic
from ..force import _dispatch as forces
from ..mobilizer.access import vector3
from ..state.fields import Record
from . import jacobian_sweeps, particles


@generic
def mass_properties(model: Record) -> Any:
    """Mass, first moment and inertia about the Ground origin, in Ground. Needs positions."""
    m = zero(load(model.p_GB, 0, 0))
    mc, inertia = (m, m, m), (m, m, m, m, m, m)
    for b in range(1, model.nb):
        m_B = load(model.mass, b, 0)
        mc_B = vec3.scale(m_B, load3(model.com_G, b, 0))
        mc_B, inertia_B = spatial.shift_inertia(m_B, mc_B, load6(model.inertia_G, b, 0), load3(model.p_GB, b, 0))
        m, mc, inertia = m + m_B, vec3.add(mc, mc_B), sym33.add(inertia, inertia_B)
    return particles.add_mass_properties(model, m, mc, inertia)


@compiled
def calc_mass_properties(block: Any, out: Any) -> None:
    """`mass_properties` into ten rows."""
    m, mc, inertia = mass_properties(attach(block))
    store(out, 0, 0, m)
    for k in range(3):
        store(out, 1 + k, 0, mc[k])
    for k in range(6):
        store(out, 4 + k, 0, inertia[k])


@generic
def momentum_about_origin(model: Record) -> Any:
    """Angular momentum about the Ground origin, and linear momentum. Needs velocities."""
    o = zero(load(model.p_GB, 0, 0))
    angular, linear = (o, o, o), (o, o, o)
    for b in range(1, model.nb):
        w, v = load_spatial(model.V_GB, b)
        h, p = jacobian_sweeps.inertia_times(model, b, w, v)
        h, p = spatial.shift_force(h, p, load3(model.p_GB, b, 0))
        angular, linear = vec3.add(angular, h), vec3.add(linear, p)
    return particles.add_momentum(model, angular, linear)


@generic
def rate_of_linear_momentum(model: Record) -> Any:
    """Mass times acceleration of all mass centers and particles, in Ground. Needs accelerations."""
    o = zero(load(model.p_GB, 0, 0))
    total = (o, o, o)
    for b in range(1, model.nb):
        c, w = load3(model.com_G, b, 0), load3(model.V_GB, b, 0)
        alpha, a = load_spatial(model.A_GB, b)
        a = vec3.add(a, vec3.add(vec3.cross(alpha, c), vec3.cross(w, vec3.cross(w, c))))
        total = vec3.add_scaled(total, load(model.mass, b, 0), a)
    for p in range(model.num_particles):
        total = vec3.add_scaled(total, load(model.particle_mass, p, 0), vector3(model.particle_acceleration, 3 * p))
    return total


@compiled
def calc_momentum(block: Any, out: Any) -> None:
    """`momentum_about_origin` into six rows."""
    angular, linear = momentum_about_origin(attach(block))
    for k in range(3):
        store(out, k, 0, angular[k])
        store(out, 3 + k, 0, linear[k])


@generic
def kinetic_energy(model: Record) -> Any:
    """Half the sum of V_GB^T M_B V_GB, of rotor inertia u^2 over the mobilities, and of m v.v over the particles."""
    energy = zero(load(model.p_GB, 0, 0))
    for b in range(1, model.nb):
        w, v = load_spatial(model.V_GB, b)
        h, p = jacobian_sweeps.inertia_times(model, b, w, v)
        energy = energy + 0.5 * (vec3.dot(w, h) + vec3.dot(v, p))
        if model.rotorless[b] == 0:
            for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
                u = load(model.u, i, 0)
                energy = energy + 0.5 * (load(model.rotor_inertia, i, 0) * u * u)
    return particles.add_kinetic_energy(model, energy)


@compiled
def calc_energy(block: Any, out: Any) -> None:
    """Kinetic energy, then potential energy of the compiled forces, into two rows. Needs velocities."""
    model = attach(block)
    store(out, 0, 0, kinetic_energy(model))
    store(out, 1, 0, forces.total_potential_energy(model))


@compiled
def calc_kinetic_energy(block: Any, out: Any) -> None:
    """Kinetic energy into one row. Needs velocities."""
    store(out, 0, 0, kinetic_energy(attach(block)))
