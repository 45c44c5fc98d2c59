"""Particles: points with mass that no mobilizer moves, only forces: r_dot = v, v_dot = f / m, of each in Ground.

Fields have three numbers a particle in one column, so that locations and velocities are part of y.
"""

from typing import Any

from ..algebra import sym33, vec3
from ..algebra.scalar import load, one, store
from ..compiling import generic
from ..mobilizer.access import vector3
from ..state.fields import Record


@generic
def rates(model: Record) -> None:
    """Rates of locations and velocities. Needs the forces on the particles."""
    for p in range(model.num_particles):
        m = load(model.particle_mass, p, 0)
        per_mass = one(m) / m
        for i in range(3 * p, 3 * p + 3):
            store(model.particle_location_dot, i, 0, load(model.particle_velocity, i, 0))
            store(model.particle_acceleration, i, 0, per_mass * load(model.particle_forces, i, 0))


@generic
def add_kinetic_energy(model: Record, energy: Any) -> Any:
    """The sum of m v.v / 2 over the particles, added to *energy*."""
    for p in range(model.num_particles):
        v = vector3(model.particle_velocity, 3 * p)
        energy = energy + 0.5 * load(model.particle_mass, p, 0) * vec3.dot(v, v)
    return energy


@generic
def add_mass_properties(model: Record, m: Any, mc: Any, inertia: Any) -> Any:
    """Mass, first moment and inertia of the particles about the Ground origin, added to those of the bodies."""
    for p in range(model.num_particles):
        m_p = load(model.particle_mass, p, 0)
        x, y, z = vector3(model.particle_location, 3 * p)
        mx, my, mz = m_p * x, m_p * y, m_p * z
        of_point = my * y + mz * z, mx * x + mz * z, mx * x + my * y, -(mx * y), -(mx * z), -(my * z)
        m, mc, inertia = m + m_p, vec3.add(mc, (mx, my, mz)), sym33.add(inertia, of_point)
    return m, mc, inertia


@generic
def add_momentum(model: Record, angular: Any, linear: Any) -> Any:
    """Angular momentum about the Ground origin and linear momentum of the particles, added to those of the bodies."""
    for p in range(model.num_particles):
        mv = vec3.scale(load(model.particle_mass, p, 0), vector3(model.particle_velocity, 3 * p))
        angular = vec3.add(angular, vec3.cross(vector3(model.particle_location, 3 * p), mv))
        linear = vec3.add(linear, mv)
    return angular, linear
