"""Quantities of many states: energies, mass center, momentum, reactions, forces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..force.base import Force
from ..state.state import State
from ..value.stage import Stage
from . import batch_sums as sums
from .stations import Stations


class Sums(Stations):
    """The part of `Ensemble` that sums up bodies and finds forces."""

    __slots__ = ()

    def _sums(self, asked: str, stage: Stage, what: int, shape: tuple[int, ...], alone: Callable[[State], Any]) -> Array:
        """One of the results of `batch_sums` ``(n, *shape)``; ``alone(state)`` finds it for a state where Python takes part."""
        self._need(asked, stage)
        self._template.check_owner(self._system, asked)
        in_lanes = not self._system.calls_with_states
        finder = sums.find.address(in_lanes=True, own_parameters=bool(self._own)) if in_lanes else 0
        found = self._collect(asked, stage, int(np.prod(shape)), sums.collect, (finder, what), alone)
        return found[: self._n].reshape(self._n, *shape)

    def _realized(self, i: int, stage: Stage) -> State:
        state = self._state(i)
        self._realize_alone(state, i, stage)
        return state

    # ------------------------------------------------------------------------------------------ energies

    def calc_kinetic_energy(self) -> Array:
        """Kinetic energy of every state ``(n,)``, mass*length^2/time^2. Needs VELOCITY.

        This and all that follows is what the system's, or the matter's, method of the same name gives for one state, eight
        states at a time, with NaN, or what follows from it, for states that are not finite.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.calc_kinetic_energy().shape
        (10,)
        """
        return self._sums("calc_kinetic_energy", Stage.VELOCITY, sums.KINETIC_ENERGY, (), self._system.calc_kinetic_energy)

    def calc_potential_energy(self) -> Array:
        """Potential energy of all enabled forces ``(n,)``. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.calc_potential_energy().shape
        (10,)
        """
        return self._sums(
            "calc_potential_energy", Stage.POSITION, sums.POTENTIAL_ENERGY, (), self._system.calc_potential_energy
        )

    def calc_energy(self) -> Array:
        """Kinetic and potential energy ``(n,)``. Needs VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.calc_energy().shape
        (10,)
        """
        self._need("calc_energy", Stage.VELOCITY)
        return self.calc_kinetic_energy() + self.calc_potential_energy()

    def calc_power_dissipation(self) -> Array:
        """The power that all enabled forces turn into heat ``(n,)``, mass*length^2/time^3. Needs VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.calc_power_dissipation().shape
        (10,)
        """
        alone = self._system.calc_power_dissipation
        return self._sums("calc_power_dissipation", Stage.VELOCITY, sums.POWER_DISSIPATION, (), alone)

    # ------------------------------------------------------------------------------------------ mass and momentum

    def _mass_properties(self, asked: str) -> tuple[Array, Array, Array]:
        """Masses ``(n, 1)``, mass centers, and inertias about the Ground origin as six numbers."""

        def alone(state: State) -> list[float]:
            m = self._system.get_matter_subsystem().calc_system_mass_properties_in_ground(state)
            I = np.asarray(m.inertia)
            return [m.mass, *(m.mass * m.com), *I[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]]

        ten = self._sums(asked, Stage.POSITION, sums.MASS_PROPERTIES, (10,), alone)
        return ten[:, :1], _over(ten[:, 1:4], ten[:, :1]), ten[:, 4:]

    def calc_system_mass(self) -> Array:
        """Mass of all bodies but Ground, and of all particles ``(n,)``. Needs POSITION.

        Examples
        --------
        >>> import numpy as np
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.q = np.linspace(0.0, 1.0, 20).reshape(10, 2)
        >>> ensemble.realize()
        >>> ensemble.calc_system_mass()[:3]
        array([2., 2., 2.])
        """
        return self._mass_properties("calc_system_mass")[0][:, 0]

    def calc_system_mass_center_location_in_ground(self) -> Array:
        """Mass center of the system ``(n, 3)``, in Ground; NaN for a massless one. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.calc_system_mass_center_location_in_ground().shape
        (10, 3)
        """
        return self._mass_properties("calc_system_mass_center_location_in_ground")[1]

    def calc_system_central_inertia_in_ground(self) -> Array:
        """Inertia of the system about its mass center ``(n, 3, 3)``, in Ground. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.calc_system_central_inertia_in_ground().shape
        (10, 3, 3)
        """
        m, c, six = self._mass_properties("calc_system_central_inertia_in_ground")
        about_origin = six[:, [0, 3, 4, 3, 1, 5, 4, 5, 2]].reshape(-1, 3, 3)
        square = (c * c).sum(axis=1)[:, None, None] * np.eye(3) - c[:, :, None] * c[:, None, :]
        return about_origin - m[:, :, None] * square

    def calc_system_momentum_about_ground_origin(self) -> Array:
        """Angular momentum about the Ground origin, and linear momentum ``(n, 2, 3)``. Needs VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.calc_system_momentum_about_ground_origin().shape
        (10, 2, 3)
        """
        matter = self._system.get_matter_subsystem()
        asked = "calc_system_momentum_about_ground_origin"
        return self._sums(asked, Stage.VELOCITY, sums.MOMENTUM, (2, 3), matter.calc_system_momentum_about_ground_origin)

    def calc_system_central_momentum(self) -> Array:
        """Angular momentum about the system's mass center, and linear momentum ``(n, 2, 3)``. Needs VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.calc_system_central_momentum().shape
        (10, 2, 3)
        """
        self._need("calc_system_central_momentum", Stage.VELOCITY)
        momentum = self.calc_system_momentum_about_ground_origin()
        momentum[:, 0] -= np.cross(self._mass_properties("calc_system_central_momentum")[1], momentum[:, 1])
        return momentum

    def calc_system_mass_center_velocity_in_ground(self) -> Array:
        """Velocity of the system's mass center ``(n, 3)``, in Ground; NaN for a massless one. Needs VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.calc_system_mass_center_velocity_in_ground().shape
        (10, 3)
        """
        self._need("calc_system_mass_center_velocity_in_ground", Stage.VELOCITY)
        return _over(self.calc_system_momentum_about_ground_origin()[:, 1], self.calc_system_mass()[:, None])

    def calc_system_mass_center_acceleration_in_ground(self) -> Array:
        """Acceleration of the system's mass center ``(n, 3)``, in Ground; NaN for a massless one. Needs ACCELERATION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.calc_system_mass_center_acceleration_in_ground().shape
        (10, 3)
        """
        asked, matter = "calc_system_mass_center_acceleration_in_ground", self._system.get_matter_subsystem()

        def alone(state: State) -> list[float]:
            a = matter.calc_system_mass_center_acceleration_in_ground(state)
            return [*(matter.calc_system_mass(state) * a), 0.0, 0.0, 0.0]

        rate = self._sums(asked, Stage.ACCELERATION, sums.RATE_OF_MOMENTUM, (6,), alone)
        return _over(rate[:, :3], self.calc_system_mass()[:, None])

    # ------------------------------------------------------------------------------------------ forces

    def calc_mobilizer_reaction_forces(self) -> Array:
        """The force of each mobilizer on its body ``(n, nb, 2, 3)``: torque and force at M, in Ground. Needs ACCELERATION.

        By free bodies, from the tips to Ground; see `SimbodyMatterSubsystem.calc_mobilizer_reaction_forces`.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.calc_mobilizer_reaction_forces().shape
        (10, 3, 2, 3)
        """
        shape, matter = (self._template.tree.nb, 2, 3), self._system.get_matter_subsystem()
        asked = "calc_mobilizer_reaction_forces"
        return self._sums(asked, Stage.ACCELERATION, sums.REACTIONS, shape, matter.calc_mobilizer_reaction_forces)

    def find_constraint_forces(self) -> tuple[Array, Array]:
        """The forces of all constraints: on bodies ``(n, nb, 2, 3)``, and on mobilities ``(n, nu)``. Needs ACCELERATION.

        At the bodies' origins, in Ground. The sign is that of multipliers: what constraints exert is minus them.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> body_forces, mobility_forces = ensemble.find_constraint_forces()
        >>> body_forces.shape, mobility_forces.shape
        ((10, 4, 2, 3), (10, 3))
        """
        asked, matter, tree = "find_constraint_forces", self._system.get_matter_subsystem(), self._template.tree
        F = self._sums(
            *(asked, Stage.ACCELERATION, sums.CONSTRAINT_BODY_FORCES, (tree.nb, 2, 3)),
            lambda state: matter.find_constraint_forces(state)[0],
        )
        f = self._sums(
            *(asked, Stage.ACCELERATION, sums.CONSTRAINT_MOBILITY_FORCES, (tree.nu,)),
            lambda state: matter.find_constraint_forces(state)[1],
        )
        return F, f

    def calc_force_contribution(self, *elements: Force) -> Array:
        """Forces of one element, or of several together, on all bodies ``(n, nb, 2, 3)``. Needs VELOCITY.

        Torque and force at each body's origin, in Ground: of contact elements, what the ground pushes feet with.

        Raises
        ------
        TypeError
            If one is no force element of the system's, or a gravity, whose forces are `get_rigid_body_forces`.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> bodies = system.matter.bodies
        >>> cord = mb.force.TwoPointLinearSpring(system.forces, bodies[1], (0, 0, 0), bodies[2], (0, 0, 0), 5.0, 0.5)
        >>> ensemble = mb.Ensemble(system, 3)
        >>> ensemble.realize(mb.Stage.VELOCITY)
        >>> ensemble.calc_force_contribution(cord)[0, 1, 1].round(3)
        array([ 0. , -2.5,  0. ])
        """
        asked = "calc_force_contribution"
        known = self._system.all_forces()
        for one in elements:
            if not any(one is force for force in known) or one.routine is None:
                raise TypeError(f"{asked} takes force elements of {self._system.name!r}, other than gravities; got {one!r}")
        self._need(asked, Stage.VELOCITY)
        self._template.check_owner(self._system, asked)
        tree = self._template.tree
        which = np.array([one.element for one in elements], np.int64)
        runs = np.searchsorted(tree.fields["run_first"], which, side="right") - 1

        def alone(state: State) -> Any:
            return sum((one.calc_force_contribution(state)[0] for one in elements), np.zeros((tree.nb, 2, 3)))

        found = self._collect(asked, Stage.VELOCITY, 6 * tree.nb, sums.collect_contributions, (which, runs), alone)
        return found[: self._n].reshape(self._n, tree.nb, 2, 3)

    def get_rigid_body_forces(self) -> Array:
        """Forces applied to the bodies ``(n, nb, 2, 3)``, in Ground, at the bodies' origins. Needs DYNAMICS."""
        shape, alone = (self._template.tree.nb, 2, 3), self._system.get_rigid_body_forces
        return self._sums("get_rigid_body_forces", Stage.DYNAMICS, sums.BODY_FORCES, shape, alone)

    def get_mobility_forces(self) -> Array:
        """Generalized forces applied ``(n, nu)``. Needs DYNAMICS."""
        alone = self._system.get_mobility_forces
        return self._sums("get_mobility_forces", Stage.DYNAMICS, sums.MOBILITY_FORCES, (self._template.tree.nu,), alone)

    # ------------------------------------------------------------------------------------------ anything


def _over(total: Array, mass: Array) -> Array:
    """Divided by the mass, with NaN where there is none."""
    return np.divide(total, mass, out=np.full_like(total, np.nan), where=mass > 0.0)
