"""MultibodySystem: the subsystems that make a mechanism, and the realization of its states.

It is made of parts: `events`, `topology`, `explanation`, `realization`, `manifold`, `derivatives`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..constraint.base import Constraint
from ..event import EventHandler, EventReporter
from ..force import dispatch as forces_switch
from ..force.subsystem import GeneralForceSubsystem
from ..measure.memory import Memory
from ..mobilizer.base import MobilizedBody
from ..motion import Custom
from ..state import validity
from ..state.state import State
from ..state.subsystem import Subsystem
from ..tree import momentum, sliding
from ..tree.tree import Tree
from ..value import checks
from ..value.html_table import html_table
from ..value.stage import Stage
from .derivatives import Differentiable
from .matter import SimbodyMatterSubsystem


class MultibodySystem(Differentiable):
    """Matter, forces and other subsystems of a mechanism. They join the system when they are made; then it makes states.

    Parameters
    ----------
    name : str, optional
        For messages and pictures.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
    >>> pin = mb.mobilizer.Pin(matter.ground, body, name="pin")
    >>> state = system.realize_topology()
    >>> system.realize(state, mb.Stage.VELOCITY)
    >>> pin.get_body_velocity(state).shape
    (2, 3)
    """

    INNER = frozenset(
        """
        all_forces begin_measures calls_back calls_python calls_with_states compiles_measures compute
        custom_motions event_handlers
        event_reporters explain forces_in_python measures_in_python
        force_subsystems
        invalidate_topology is_interpreted lines_of_functions
        may_slide needs_states owner_of parts_apart parts_in_python paths_that_may_jump plain_routine
        program_of
        remember subsystems topology_token
        topology_version tree_for
        """.split()
    )

    def __init__(self, name: str = "system") -> None:
        self._name = checks.name("system", name)
        self.subsystems: list[Subsystem] = []
        self._matter: SimbodyMatterSubsystem | None = None
        self.force_subsystems: list[GeneralForceSubsystem] = []
        self.topology_version = 0
        self.topology_token = object()  # a new one with each version
        self._topology_realized = False
        self._trees: dict[bool, Tree] = {}
        self.forces_in_python: list[Any] = []
        self.paths_that_may_jump: list[tuple[Any, Any]] = []
        self.measures_in_python: list[Any] = []
        self._interpreted_bodies: list[MobilizedBody] = []
        self._interpreted_constraints: list[Constraint] = []
        self._interpreted_subsystems: list[Subsystem] = []
        self._hooked: dict[int, list[int]] = {}  # for each stage: which subsystems have a hook of their own
        self.custom_motions: list[Custom] = []
        #: Whether parts of users' own Python take part in realizing states.
        self.is_interpreted = False
        #: Whether Python computes the friction of contacts that slide.
        self.may_slide = False
        #: Whether kernels call back parts of users' own Python.
        self._has_callbacks = False
        #: Whether measures integrate or remember, and compiled steps do it for them.
        self.compiles_measures = False
        #: Lines about functions in Python, once somebody has asked; see `interpreted`.
        self.lines_of_functions: list[str] | None = None
        self._kernel: Any = None
        self._address, self.plain_routine = 0, None
        self._default_state: State | None = None
        self.event_handlers: list[EventHandler] = []
        self.event_reporters: list[EventReporter] = []
        self._time_scale = 0.1
        self._has_time_advanced_events = False

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    def __repr__(self) -> str:
        bodies = 0 if self._matter is None else self._matter.get_num_bodies() - 1
        forces = sum(subsystem.get_num_forces() for subsystem in self.force_subsystems)
        realized = "" if self._topology_realized else ", topology not realized"
        return f"<MultibodySystem {self._name!r}: {bodies} bodies, {forces} forces{realized}>"

    def _repr_html_(self) -> str:
        """The table in notebooks: bodies, forces and constraints."""
        if self._matter is None:
            return html_table(repr(self), (), ())
        rows = []
        for body in list(self._matter.bodies)[1:]:
            parent = body.get_parent_mobilized_body().name
            mass = body.get_default_mass_properties().mass
            rows.append((body.index, body.name, parent, type(body).__name__, mass))
        shown = html_table(repr(self), ("", "body", "on", "mobilizer", "mass"), rows)
        forces = [(type(force).__name__, force.name) for force in self.all_forces()]
        number = self._matter.get_num_constraints()
        constraints = [(type(one).__name__, one.name) for one in map(self._matter.get_constraint, range(number))]
        shown += html_table("forces", ("kind", "name"), forces) if forces else ""
        return shown + (html_table("constraints", ("kind", "name"), constraints) if constraints else "")

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kernel": None, "_address": 0, "plain_routine": None, "_trees": {}, "_default_state": None}

    # ------------------------------------------------------------------------------------------ measures

    def begin_measures(self, state: State) -> None:
        """Initialize measures that remember, at the start of a run, unless *state* has a memory of an earlier one."""
        acting = [measure for subsystem in self.subsystems for measure in subsystem.acting_measures]
        waiting = [measure for measure in acting if not measure.has_begun(state)]
        if waiting:
            self.project(state)
            for measure in waiting:
                measure.begin(state)

    def remember(self, state: State) -> None:
        """Update measures that remember, at the end of a step."""
        if self.compiles_measures:  # it is Python that ends it
            record = state.record
            acting = [one for subsystem in self.subsystems for one in subsystem.acting_measures if isinstance(one, Memory)]
            ready = [one for one in acting if one.memory(state) is not None and state.stage_number >= one.needs()]
            following = [one.next_memory(state) for one in ready]
            record.measure_next[:] = record.measure_memory
            for one, kept in zip(ready, following, strict=True):
                one.write(record, "measure_next", kept)
            return
        for subsystem in self.subsystems:
            for measure in subsystem.acting_measures:
                measure.remember(state)

    # ------------------------------------------------------------------------------------------ energy

    def calc_kinetic_energy(self, state: State) -> float:
        """Kinetic energy, mass*length^2/time^2. Needs VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> round(system.calc_kinetic_energy(state), 3)
        8.283
        """
        return self.get_matter_subsystem().calc_kinetic_energy(state)

    def calc_potential_energy(self, state: State) -> float:
        """Potential energy of all enabled forces, mass*length^2/time^2. Needs POSITION (custom forces may need more).

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> round(system.calc_potential_energy(state), 3)
        -26.247
        """
        state.check_owner(self, "calc_potential_energy")
        if not state.valid & validity.POSITIONS:
            state.refuse("calc_potential_energy", Stage.POSITION)
        total = forces_switch.of_all(state, forces_switch.ENERGY).sum()
        return float(total + sum(force.calc_potential_energy_contribution(state) for force in self.forces_in_python))

    def calc_energy(self, state: State) -> float:
        """Kinetic and potential energy. Needs VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> round(system.calc_energy(state), 3)
        -17.964
        """
        if not self.forces_in_python and state.valid & validity.VELOCITIES:
            if state.token is not self.topology_token:
                state.check_owner(self, "calc_energy")
            out, kernel = np.empty((2, 1)), momentum.calc_energy
            (kernel.code or kernel.code_for(state.block, out))(state.block, out)
            return out.item(0) + out.item(1)
        return self.calc_kinetic_energy(state) + self.calc_potential_energy(state)

    def calc_power_dissipation(self, state: State) -> float:
        """The power that all enabled forces turn into heat, mass*length^2/time^3. Needs VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.calc_power_dissipation(state)
        0.0
        """
        state.check_owner(self, "calc_power_dissipation")
        return float(sum(forces.calc_power_dissipation(state) for forces in self.force_subsystems))

    # ------------------------------------------------------------------------------------------ applied forces

    def get_rigid_body_forces(self, state: State) -> Array:
        """Applied forces on the bodies ``(nb, 2, 3)``, in Ground, at the bodies' origins. Needs DYNAMICS.

        Those of all elements, `DiscreteForces` that a program has set last among them: for inverse dynamics that is to find
        these, give `calc_force_contribution` of the elements that act instead, or `calc_inverse_dynamics` the whole. See
        `force.Force.calc_force_contribution` for single elements. Friction of rigid contacts that slide is none of these:
        `UnilateralContact.calc_friction_force` has it.
        """
        self._need_dynamics(state, "get_rigid_body_forces")
        F = state.record.body_forces.copy()
        if state.slides:
            sliding.leave_out_friction(state.block, F)
        return F.reshape(-1, 2, 3)

    def get_mobility_forces(self, state: State) -> Array:
        """Applied generalized forces ``(nu,)``. Needs DYNAMICS."""
        self._need_dynamics(state, "get_mobility_forces")
        return state.record.mobility_forces[:, 0].copy()

    def get_particle_forces(self, state: State) -> Array:
        """Applied forces on the particles ``(np, 3)``, in Ground. Needs DYNAMICS."""
        self._need_dynamics(state, "get_particle_forces")
        return state.record.particle_forces.reshape(-1, 3).copy()

    def _need_dynamics(self, state: State, asked: str) -> None:
        state.check_owner(self, asked)
        if not state.valid & validity.FORCES:
            state.refuse(asked, Stage.DYNAMICS)
