"""Thermostat: keeps the temperature of a system about that of a bath, by a chain of Nose and Hoover.

T = 2 KE / (N kB), N the thermal degrees of freedom: free mobilities, and three a particle, less equations of constraints less
excluded ones; z = c of the m chain variables, then s of each

f = -c_0 M u, and -c_0 m v on each particle      s_i' = c_i
c_0' = (T/Tb - 1)/t^2 - c_0 c_1                  c_1' = N c_0^2 - 1/t^2 - c_1 c_2
c_i' = c_(i-1)^2 - 1/t^2 - c_i c_(i+1)           the last without its last term; a chain of one is c_0' = (T/Tb - 1)/t^2

bath energy = 1/2 kB Tb t^2 (N c_0^2 + c_1^2 + ...) + kB Tb (N s_0 + s_1 + ...)

Its rate is 2 KE c_0, the power that the force takes from the system: bath energy and that of a conservative system are constant
together, and the work done by the bath is the loss of its energy. Sources: Martyna, Klein and Tuckerman 1992, J. Chem. Phys.
97, 2635; Vaidehi, Jain and Goddard 1996, J. Phys. Chem. 100, 10508 (relaxation time for masses, M u of generalized speeds).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from ..algebra import spatial, vec3
from ..algebra.arrays import Array
from ..algebra.memory import add_spatial, load3, load6, load_spatial, store_spatial
from ..algebra.scalar import load, store, zero
from ..compiling import generic
from ..errors import ModelError
from ..state import parameters
from ..value import checks
from ..value.stage import Stage
from .base import Force, same_system
from .pools import number
from .routines import by_address

if TYPE_CHECKING:
    from ..state.state import State
    from ..value.annotations import SimbodyMatterSubsystem
    from .subsystem import GeneralForceSubsystem


#: Places among its integers: chains in use, chains that have z, excluded degrees of freedom, 1 where particles take part.
IN_USE, ALLOCATED, EXCLUDED, PARTICLES = 0, 1, 2, 3
#: Places among its numbers: kB, Tb, t, and the work that the bath has done when its energy is zero.
BOLTZMANN, BATH, RELAXATION, WORK = 0, 1, 2, 3


@generic
def momentum(model: Any, b: int) -> Any:
    """M_B V_GB."""
    w, v = load_spatial(model.V_GB, b)
    m = load(model.mass, b, 0)
    return spatial.mul_inertia(m, vec3.scale(m, load3(model.com_G, b, 0)), load6(model.inertia_G, b, 0), w, v)


@generic
def particle_size(model: Any, integers: int) -> int:
    """Number of values that the velocities have of the particles that take part."""
    return model.force_integers[integers + PARTICLES] * model.particle_size


@generic
def of_particles(model: Any, integers: int) -> Any:
    """2 KE of the particles."""
    total = zero(load(model.time, 0, 0))
    for i in range(particle_size(model, integers)):
        v = load(model.particle_velocity, i, 0)
        total = total + load(model.particle_mass, i // 3, 0) * v * v
    return total


@generic
def twice_kinetic_energy(model: Any, integers: int) -> Any:
    """2 KE, of the bodies, the rotors and the particles."""
    total = zero(load(model.time, 0, 0))
    for b in range(1, model.nb):
        w, v = load_spatial(model.V_GB, b)
        h, p = momentum(model, b)
        total = total + vec3.dot(w, h) + vec3.dot(v, p)
    for i in range(model.nu):
        u = load(model.u, i, 0)
        total = total + load(model.rotor_inertia, i, 0) * u * u
    return total + of_particles(model, integers)


@generic
def thermal_dofs(model: Any, integers: int) -> Any:
    """N: what constraints and prescribed motion leave of mobilities and particles, less the excluded ones; one at least."""
    n = particle_size(model, integers) - model.force_integers[integers + EXCLUDED]
    for b in range(1, model.nb):
        if model.prescribed[b] == 0:
            n = n + model.num_u[b]
    for c in range(model.nc):
        if model.constraint_enabled[c] == 1:
            n = n - model.num_p[c] - model.num_v[c] - model.num_a[c]
    return 1.0 * max(1, n)


@generic
def add(model: Any, integers: int, numbers: int, z: int) -> None:
    """-c_0 M u, -c_0 m v, and the rates of the chain."""
    o, c0 = zero(load(model.time, 0, 0)), load(model.z, z, 0)
    energy = of_particles(model, integers)
    for i in range(particle_size(model, integers)):
        drag = c0 * load(model.particle_mass, i // 3, 0) * load(model.particle_velocity, i, 0)
        store(model.particle_forces, i, 0, load(model.particle_forces, i, 0) - drag)
    for b in range(model.nb):
        store_spatial(model.work_F, b, (o, o, o), (o, o, o))
    for b in range(model.nb - 1, 0, -1):  # M u = J^T of the bodies' momenta, and the rotors'
        h, p = momentum(model, b)
        w, v = load_spatial(model.V_GB, b)
        energy = energy + vec3.dot(w, h) + vec3.dot(v, p)
        ht, pt = load_spatial(model.work_F, b)
        h, p = vec3.add(h, ht), vec3.add(p, pt)
        for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
            hw, hv = load_spatial(model.H, i)
            u = load(model.u, i, 0)
            spin = load(model.rotor_inertia, i, 0) * u
            along = vec3.dot(hw, h) + vec3.dot(hv, p) + spin
            energy = energy + spin * u
            store(model.mobility_forces, i, 0, load(model.mobility_forces, i, 0) - c0 * along)
        h, p = spatial.shift_force(h, p, load3(model.p_PB_G, b, 0))
        add_spatial(model.work_F, model.parent[b], h, p)
    n, m, allocated = thermal_dofs(model, integers), model.force_integers[integers], model.force_integers[integers + ALLOCATED]
    rate = 1.0 / (number(model, numbers + RELAXATION) * number(model, numbers + RELAXATION))
    ratio = energy / (n * number(model, numbers + BOLTZMANN) * number(model, numbers + BATH))
    for i in range(m):
        c = load(model.z, z + i, 0)
        drive = (ratio - 1.0) * rate
        if i == 1:
            drive = n * c0 * c0 - rate
        elif i > 1:
            before = load(model.z, z + i - 1, 0)
            drive = before * before - rate
        if i + 1 < m:
            drive = drive - c * load(model.z, z + i + 1, 0)
        store(model.z_dot, z + i, 0, drive)
        store(model.z_dot, z + allocated + i, 0, c)


@generic
def power(model: Any, integers: int, numbers: int, z: int) -> Any:
    """Power that goes to the bath: 2 KE c_0."""
    return load(model.z, z, 0) * twice_kinetic_energy(model, integers)


class Thermostat(Force):
    """Keeps the temperature of mobilities and particles about that of a heat bath: a chain of Nose-Hoover thermostats.

    Parameters
    ----------
    matter : SimbodyMatterSubsystem
        Whose mobilities are coupled to the bath.
    boltzmanns_constant : float
        kB, energy/temperature; it sets the unit of temperature.
    bath_temperature : float
        Tb.
    relaxation_time : float
        How fast the system follows, time; the shorter, the stiffer.
    num_excluded_dofs : int
        How many degrees of freedom do not count for the temperature, 0 to 6: the six of a system that floats as a whole, three
        of a gas in a box without walls. Locked and prescribed mobilities do not count anyway, nor does one mobility for each
        constraint equation.
    num_chains : int
        How many thermostats each govern the one before; each has two z.
    particles : bool
        Whether the matter's particles are coupled to the bath too, as they are unless it is False.

    Raises
    ------
    TypeError, ValueError
        If *matter* is none, a number not finite and above zero, or an integer out of its range.
    TopologyError
        If the matter is part of another system.
    ModelError
        When topology is realized, if no thermal degree of freedom is left.

    Notes
    -----
    It has no potential energy; the sum of `calc_bath_energy` and a conservative system's energy is constant. A
    system at rest stays so: begin at a temperature, with `set_system_to_temperature` say.

    Its z are named after it: the chain variables c, one/time, then their integrals s; all begin at zero.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.force.Thermostat(system.forces, system.matter, 1.0, 300.0, 0.5, 0)
    >>> state = system.realize_topology()
    >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    >>> system.realize(state)
    >>> round(part.get_current_temperature(state), 3)
    8.283
    """

    routine = by_address(add, power=power, with_z=True)
    reads_mobilizers = True
    reads_z = True

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        matter: SimbodyMatterSubsystem,
        boltzmanns_constant: float,
        bath_temperature: float,
        relaxation_time: float,
        num_excluded_dofs: int = 6,
        *,
        num_chains: int = 3,
        particles: bool = True,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self._matter = same_system(forces, matter, "Thermostat")
        numbers = [*self.declared(name, bath_temperature=bath_temperature, relaxation_time=relaxation_time), 0.0]
        numbers[BOLTZMANN] = checks.positive("boltzmanns_constant of a Thermostat", boltzmanns_constant)
        chains = checks.integer("num_chains of a Thermostat", num_chains, 1, MOST)
        excluded = checks.integer("num_excluded_dofs of a Thermostat", num_excluded_dofs, 0, 6)
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self.default_integers, self.default_numbers = [chains, chains, excluded, int(bool(particles))], numbers

    @property
    def num_z(self) -> int:  # type: ignore[override]
        return 2 * self.default_integers[ALLOCATED] if self.default_integers else 0

    def check_tree(self, tree: Any) -> None:
        self._check_dofs(tree, self.default_integers[EXCLUDED])

    def _check_dofs(self, tree: Any, excluded: int) -> None:
        of_particles = 3 * tree.num_particles * self.default_integers[PARTICLES]
        if tree.nu + of_particles - excluded < 1:
            also = f" and {of_particles} degrees of freedom of particles" if of_particles else ""
            raise ModelError(
                f"{self!r} leaves no thermal degree of freedom: the system has {tree.nu} mobilities{also}, of which "
                f"num_excluded_dofs = {excluded} do not count; exclude fewer"
            )

    # ------------------------------------------------------------------------------------------ parameters

    def get_boltzmanns_constant(self) -> float:
        """Boltzmann's constant, energy/temperature."""
        return self.default_numbers[BOLTZMANN]

    get_default_bath_temperature, set_default_bath_temperature, get_bath_temperature, set_bath_temperature = parameters.scalar(
        "bath_temperature", "temperature", checks.positive, "the temperature of the bath", first=BATH
    ).accessors()
    get_default_relaxation_time, set_default_relaxation_time, get_relaxation_time, set_relaxation_time = parameters.scalar(
        "relaxation_time", "time", checks.positive, "the relaxation time", first=RELAXATION
    ).accessors()

    def get_default_num_chains(self) -> int:
        """Number of thermostats that the chain has in a default state."""
        return self.default_integers[IN_USE]

    def set_default_num_chains(self, num_chains: int) -> Self:
        """Change it, and the number of its z with it. A topological change. Returns the force."""
        chains = checks.integer(f"num_chains of {self._name!r}", num_chains, 1, MOST)
        self.default_integers[IN_USE] = self.default_integers[ALLOCATED] = chains
        self._forces.invalidate_topology()
        return self

    def get_num_chains(self, state: State) -> int:
        """Number of thermostats that the chain has in this state. Needs MODEL."""
        self._check(state, "get_num_chains")
        return int(self.pool_run(state, "force_integers", False)[IN_USE])

    def set_num_chains(self, state: State, num_chains: int) -> None:
        """Use the first *num_chains* thermostats only in this state, which falls to MODEL at most.

        As many as `get_default_num_chains` at most: a longer chain needs more z, which is a topological change.
        """
        self._check(state, "set_num_chains")
        chains = checks.integer(f"num_chains of {self._name!r}", num_chains, 1, self.default_integers[ALLOCATED])
        self.pool_run(state, "force_integers", True)[IN_USE] = chains

    def get_default_num_excluded_dofs(self) -> int:
        """Number of mobilities that do not count for the temperature in a default state."""
        return self.default_integers[EXCLUDED]

    def set_default_num_excluded_dofs(self, num_excluded_dofs: int) -> Self:
        """Change it, from 0 to 6. A topological change. Returns the force."""
        self.default_integers[EXCLUDED] = checks.integer(f"num_excluded_dofs of {self._name!r}", num_excluded_dofs, 0, 6)
        self._forces.invalidate_topology()
        return self

    def get_num_excluded_dofs(self, state: State) -> int:
        """Number of mobilities that do not count for the temperature in this state. Needs MODEL."""
        self._check(state, "get_num_excluded_dofs")
        return int(self.pool_run(state, "force_integers", False)[EXCLUDED])

    def set_num_excluded_dofs(self, state: State, num_excluded_dofs: int) -> None:
        """Change it, from 0 to 6, in this state, which falls to MODEL at most."""
        self._check(state, "set_num_excluded_dofs")
        excluded = checks.integer(f"num_excluded_dofs of {self._name!r}", num_excluded_dofs, 0, 6)
        self._check_dofs(state.tree, excluded)
        self.pool_run(state, "force_integers", True)[EXCLUDED] = excluded

    def get_num_thermal_dofs(self, state: State) -> int:
        """Number of degrees of freedom that the temperature is of, one at least. Needs MODEL.

        The mobilities that neither a lock nor a motion prescribes, and three a particle, less the equations of enabled
        constraints, less the excluded ones. Redundant equations count as the others do: disable those that repeat others.
        """
        self._check(state, "get_num_thermal_dofs")
        return int(thermal_dofs(state.record, self.span[0]))

    # ------------------------------------------------------------------------------------------ temperature and energy

    def get_current_temperature(self, state: State) -> float:
        """The temperature of the system, 2 KE / (N kB). Needs VELOCITY."""
        self._check(state, "get_current_temperature")
        state.need_velocities(self._matter.ground, "get_current_temperature")
        energy = twice_kinetic_energy(state.record, self.span[0])
        return float(energy / (self.get_num_thermal_dofs(state) * self.get_boltzmanns_constant()))

    def calc_bath_energy(self, state: State) -> float:
        """The energy of the bath, which with that of a conservative system is constant. Needs MODEL."""
        self._check(state, "calc_bath_energy")
        k, T, t, _ = self.pool_run(state, "force_numbers", False)
        c, s = self._chain(state)
        weights = np.ones(len(c))
        weights[0] = self.get_num_thermal_dofs(state)
        m = self.get_num_chains(state)
        return float(k * T * (0.5 * t * t * (weights * c * c)[:m].sum() + (weights * s)[:m].sum()))

    def get_external_power(self, state: State) -> float:
        """The power that the bath gives to the system, zero where it is disabled. Needs VELOCITY."""
        return -self.calc_power_dissipation(state)

    def get_external_work(self, state: State) -> float:
        """The work of the bath on the system, which is the loss of its energy, since the start or since it was set."""
        return float(self.number_run(state, "get_external_work")[WORK]) - self.calc_bath_energy(state)

    def set_external_work(self, state: State, work: float) -> None:
        """Begin to count from *work*; no stage is lowered below VELOCITY."""
        value = checks.finite("work", work) + self.calc_bath_energy(state)
        state.own_numbers()[self.span[2] + WORK] = value

    # ------------------------------------------------------------------------------------------ the chain

    def _chain(self, state: State) -> tuple[Array, Array]:
        n = self.default_integers[ALLOCATED]
        z = state.z_values[self.first_z : self.first_z + 2 * n]
        return z[:n], z[n:]

    def get_chain_state(self, state: State) -> Array:
        """Its z: the chain variables in use, then their integrals, twice `get_num_chains` numbers. Needs MODEL."""
        m = self.get_num_chains(state)
        return np.concatenate([part[:m] for part in self._chain(state)])

    def set_chain_state(self, state: State, chain_state: npt.ArrayLike) -> None:
        """Change what `get_chain_state` gives; the state falls to VELOCITY at most, and the work so far stays what it is."""
        m = self.get_num_chains(state)
        values, work = checks.array("chain_state", chain_state, (2 * m,)), self.get_external_work(state)
        state.upd_z()
        c, s = self._chain(state)
        c[:m], s[:m] = values[:m], values[m:]
        self.set_external_work(state, work)

    def initialize_chain_state(self, state: State) -> None:
        """Set all its z to zero; the state falls to VELOCITY at most, and the work so far stays what it is."""
        work = self.get_external_work(state)
        state.upd_z()[self.first_z : self.first_z + self.num_z] = 0.0
        self.set_external_work(state, work)

    def set_system_to_temperature(self, state: State, temperature: float, rng: np.random.Generator | None = None) -> None:
        """Draw speeds, and particles' velocities, at random, of Boltzmann's distribution, and scale them to a temperature.

        Parameters
        ----------
        state : State
            At POSITION or above, to which it falls.
        temperature : float
            Zero or more.
        rng : numpy.random.Generator, optional
            Where the random numbers come from; a new one unless given.

        Notes
        -----
        u = L^-T x, x normal and M = L L^T, has the covariance M^-1 of a system in equilibrium; particles likewise. Locked and
        prescribed mobilities keep their speed, and the others are projected onto the constraints: the state is realized to
        VELOCITY first.
        """
        self._check(state, "set_system_to_temperature")
        wanted = checks.not_negative("temperature", temperature)
        state.need_positions(self._matter.ground, "set_system_to_temperature")
        matter, M = self._matter, self._matter.calc_m(state)
        free = matter.get_free_u_index(state) if state.has_known else np.arange(len(M))
        L = np.linalg.cholesky(M[np.ix_(free, free)])
        if rng is None:
            rng = np.random.default_rng()
        checks.instance("rng", rng, np.random.Generator, "numpy.random.default_rng(1)")
        x = rng.normal(size=len(L))
        v = np.zeros(len(M))
        v[free] = np.linalg.solve(L.T, x)
        if state.is_constrained:
            matter.get_system().realize(state, Stage.VELOCITY)
            r = matter.solve_for_constraint_impulses(state, matter.multiply_by_g(state, v))
            v -= matter.multiply_by_m_inv(state, matter.multiply_by_g_transpose(state, r))
        twice, drawn = v @ M @ v, np.zeros((0, 3))
        if self.default_integers[PARTICLES] and matter.get_num_particles():
            masses = matter.get_all_particle_masses(state)[:, None]
            drawn = rng.normal(size=(len(masses), 3)) / np.sqrt(masses)
            twice = twice + (masses * drawn * drawn).sum()
        size = np.sqrt(wanted * self.get_num_thermal_dofs(state) * self.get_boltzmanns_constant() / twice)
        if len(drawn):
            matter.set_all_particle_velocities(state, size * drawn)
        state.upd_u()[free] = size * v[free]

    def initialize_system_to_bath_temperature(self, state: State, rng: np.random.Generator | None = None) -> None:
        """`set_system_to_temperature`, to that of the bath."""
        self.set_system_to_temperature(state, self.get_bath_temperature(state), rng)


#: The longest chain.
MOST = 100
