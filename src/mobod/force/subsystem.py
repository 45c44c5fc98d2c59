"""GeneralForceSubsystem: the force elements of a system."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..algebra.arrays import Array
from ..state.subsystem import Subsystem
from ..value import checks
from ..value.stage import Stage

if TYPE_CHECKING:
    from ..state.state import State
    from ..value.annotations import MultibodySystem
    from .base import Force


class GeneralForceSubsystem(Subsystem):
    """Holds the force elements (`mobod.force`), which join it as they are made.

    Parameters
    ----------
    system : MultibodySystem, optional
        The system to join.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> spring = mb.force.MobilityLinearSpring(system.forces, system.matter.bodies["lower"], 0, 10.0, 0.0, name="spring")
    >>> system.forces is system.get_subsystem(1)
    True
    """

    def __init__(self, system: MultibodySystem | None = None) -> None:
        self.elements: list[Force] = []
        self._taken: set[str] = set()
        super().__init__(system, "forces")

    def get_multibody_system(self) -> MultibodySystem:
        """The system that it is part of; `TopologyError` where there is none."""
        return self.get_system()

    def get_num_forces(self) -> int:
        """Number of force elements."""
        return len(self.elements)

    def get_force(self, index: int | str) -> Force:
        """One of them, by its index or its name; `IndexError`, or `KeyError`, where there is none."""
        if isinstance(index, str):
            return checks.by_name("force", self.elements, index)
        return checks.one_of(self.elements, index, self, "forces")

    def is_force_disabled(self, state: State, index: int | str) -> bool:
        """True if a force, by its index or name, is switched off in this state. Needs MODEL."""
        return self.get_force(index).is_disabled(state)

    def set_force_is_disabled(self, state: State, index: int | str, should_be_disabled: bool) -> None:
        """Switch a force, by its index or name, off, or on, in this state, which falls to MODEL at most."""
        force = self.get_force(index)
        (force.disable if should_be_disabled else force.enable)(state)

    # ------------------------------------------------------------------------------------------ totals

    def get_rigid_body_forces(self, state: State) -> Array:
        """Sum of its forces on the bodies ``(nb, 2, 3)``, in Ground, at the bodies' origins. Needs DYNAMICS.

        All of them, discrete ones and actuators as they were set last too; `calc_force_contribution` of an element gives its
        alone.
        """
        return self._total(state, "get_rigid_body_forces", 0)

    def get_particle_forces(self, state: State) -> Array:
        """Sum of its forces on the particles ``(np, 3)``, in Ground. Needs DYNAMICS."""
        return self._total(state, "get_particle_forces", 1)

    def get_mobility_forces(self, state: State) -> Array:
        """The generalized forces ``(nu,)`` of its forces. Needs DYNAMICS."""
        return self._total(state, "get_mobility_forces", 2)

    def _total(self, state: State, asked: str, which: int) -> Array:
        system = self.get_system()
        whole: Array = getattr(system, asked)(state)
        if len(system.force_subsystems) == 1:
            return whole
        total = np.zeros_like(whole)
        for force in self.elements:
            total += force.calc_force_contribution(state)[which]
        return total

    def calc_potential_energy(self, state: State) -> float:
        """Potential energy of its enabled forces, mass*length^2/time^2. Needs POSITION (custom forces may need more)."""
        return sum(self._of_each(state, "potential_energy", Stage.POSITION))

    def calc_power_dissipation(self, state: State) -> float:
        """The power that its enabled forces turn into heat, mass*length^2/time^3. Needs VELOCITY."""
        return sum(self._of_each(state, "power_dissipation", Stage.VELOCITY))

    def _of_each(self, state: State, what: str, stage: Stage) -> list[float]:
        """A number of each force: those of the package in one call, those in Python one by one."""
        from . import dispatch

        state.check_owner(self.get_system(), f"calc_{what}")
        if state.stage_number < stage:
            state.refuse(f"calc_{what}", stage)
        compiled = dispatch.of_all(state, dispatch.ENERGY if what == "potential_energy" else dispatch.POWER)
        found: list[float] = compiled[[force.element for force in self.elements]].tolist()
        for i, force in enumerate(self.elements):
            if force.implementation is not None and not force.is_disabled(state):
                found[i] = getattr(force, f"_{what}")(state)
        return found

    def adopt(self, force: Force, name: str | None) -> tuple[int, str]:
        """Take a new element; its index and its name."""
        index = len(self.elements)
        own = checks.name_among(self._taken, "force", name, type(force).__name__, index)
        self.elements.append(force)
        self._taken.add(own)
        self.invalidate_topology()
        return index, own
