"""MultibodySystem: the subsystems that make a mechanism, and the realization of its states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .errors import ModelError, StageError, TopologyError
from .stage import Stage
from .state import State
from .subsystem import Subsystem
from .tree import blocks, momentum, rates
from .tree import realize as _realize
from .tree.tree import Tree

if TYPE_CHECKING:
    from .forces import GeneralForceSubsystem
    from .matter import SimbodyMatterSubsystem

Array = npt.NDArray[np.float64]

#: What each stage wants of the kernels.
_WANTED = {
    Stage.POSITION: _realize.POSITIONS,
    Stage.VELOCITY: _realize.POSITIONS | _realize.VELOCITIES,
    Stage.DYNAMICS: _realize.POSITIONS | _realize.VELOCITIES | _realize.FORCES,
    Stage.ACCELERATION: 63 & ~_realize.COMPOSITE,
    Stage.REPORT: 63 & ~_realize.COMPOSITE,
}
_ACCELERATION, _EVERYTHING = Stage.ACCELERATION, _WANTED[Stage.ACCELERATION]
_WANTED_OF = [0] * 5 + [_WANTED[Stage(stage)] for stage in range(5, 10)]


class MultibodySystem:
    """Matter, forces and what else makes a mechanism. The parts join it as they are made; then it makes states.

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

    def __init__(self, name: str = "system") -> None:
        self._name = name
        self._subsystems: list[Subsystem] = []
        self._matter: SimbodyMatterSubsystem | None = None
        self._force_subsystems: list[GeneralForceSubsystem] = []
        self._topology_version = 0
        self._topology_token = object()  # a new one with each version
        self._topology_realized = False
        self._trees: dict[bool, Tree] = {}
        self._custom_forces: list[Any] = []
        self._kernel: Any = None
        self._address = 0
        self._default_state: State | None = None

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    def __repr__(self) -> str:
        bodies = 0 if self._matter is None else self._matter.get_num_bodies() - 1
        forces = sum(subsystem.get_num_forces() for subsystem in self._force_subsystems)
        realized = "" if self._topology_realized else ", topology not realized"
        return f"<MultibodySystem {self._name!r}: {bodies} bodies, {forces} forces{realized}>"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kernel": None, "_trees": {}, "_default_state": None}

    # ------------------------------------------------------------------------------------------ parts

    def adopt_subsystem(self, subsystem: Subsystem) -> int:
        """Make *subsystem* part of the system; returns its index.

        Raises
        ------
        TopologyError
            If it is part of a system already, or a second matter subsystem.
        """
        from .forces import GeneralForceSubsystem
        from .matter import SimbodyMatterSubsystem

        if subsystem._system is not None:
            raise TopologyError(f"{subsystem!r} is part of a system already")
        if isinstance(subsystem, SimbodyMatterSubsystem):
            if self._matter is not None:
                raise TopologyError(f"{self!r} has a matter subsystem already; a system has one")
            self._matter = subsystem
        if isinstance(subsystem, GeneralForceSubsystem):
            self._force_subsystems.append(subsystem)
        subsystem._system, subsystem._subsystem_index = self, len(self._subsystems)
        self._subsystems.append(subsystem)
        self._invalidate_topology()
        return subsystem._subsystem_index

    @property
    def matter(self) -> SimbodyMatterSubsystem:
        """The matter subsystem; `TopologyError` where there is none yet."""
        return self.get_matter_subsystem()

    def get_matter_subsystem(self) -> SimbodyMatterSubsystem:
        """The matter subsystem; `TopologyError` where there is none yet."""
        if self._matter is None:
            raise TopologyError(f"{self!r} has no matter; make one with mobod.SimbodyMatterSubsystem(system)")
        return self._matter

    def get_num_subsystems(self) -> int:
        """How many subsystems there are."""
        return len(self._subsystems)

    def get_subsystem(self, index: int) -> Subsystem:
        """One of them."""
        return self._subsystems[index]

    def _forces(self) -> list[Any]:
        return [force for subsystem in self._force_subsystems for force in subsystem._forces]

    # ------------------------------------------------------------------------------------------ topology and model

    def _invalidate_topology(self) -> None:
        self._topology_version += 1
        self._topology_token = object()
        self._topology_realized = False
        self._trees = {}
        self._default_state = None

    def system_topology_has_been_realized(self) -> bool:
        """Whether `realize_topology` was called and nothing topological has changed since."""
        return self._topology_realized

    def _tree(self, use_euler_angles: bool) -> Tree:
        """The tree for a modelling choice, made when first needed."""
        tree = self._trees.get(use_euler_angles)
        if tree is None:
            forces = self._forces()
            for e, force in enumerate(forces):
                force._element = e
            entries = [force._entry() for force in forces]
            matter = self.get_matter_subsystem()
            tree = Tree(matter._bodies, entries, use_euler_angles, particles=matter._particles)
            self._trees[use_euler_angles] = tree
        return tree

    def realize_topology(self) -> State:
        """Fix the parts, and make a state with the default values, realized through MODEL.

        Returns
        -------
        State
            A state of the caller's own. States made before a topological change are of no use after it.

        Raises
        ------
        TopologyError
            If there is no matter subsystem.
        """
        tree = self._tree(self.get_matter_subsystem()._default_use_euler_angles)
        self._custom_forces = [force for force in self._forces() if force._implementation is not None]
        self._topology_realized = True
        state = State(self, tree)
        for force in self._custom_forces:
            force._implementation.realize_topology(state)
            force._implementation.realize_model(state)
        self._default_state = state.copy()
        return state

    def get_default_state(self) -> State:
        """A copy of the state that `realize_topology` gave; `TopologyError` where it has not been called."""
        if not self._topology_realized:
            raise TopologyError(f"{self!r} has no default state; call system.realize_topology()")
        if self._default_state is None:  # a copied or unpickled system makes it anew
            self.realize_topology()
        assert self._default_state is not None
        return self._default_state.copy()

    def realize_model(self, state: State) -> None:
        """Settle the modelling choices: q gets its size, and its default values where that changed. Needs TOPOLOGY."""
        state._check_owner(self, "realize_model")
        if state._stage < Stage.TOPOLOGY:
            raise StageError("realize_model needs Stage.TOPOLOGY; call state = system.realize_topology()")
        if state._pending_euler_angles != state._use_euler_angles:
            tree = self._tree(state._pending_euler_angles)
            record = tree.new_record()
            for name in ("time", "particle_location", "particle_velocity"):
                getattr(record, name)[:] = getattr(state._record, name)
            for name, array in state._own.items():
                record.share(name, array)
            state._use_euler_angles, state._valid = tree.use_euler_angles, 0
            state._attach(tree, record)
        for force in self._custom_forces:
            force._implementation.realize_model(state)
        if state._stage < Stage.MODEL:
            state._stage = int(Stage.MODEL)

    # ------------------------------------------------------------------------------------------ realization

    def realize(self, state: State, stage: Stage = Stage.ACCELERATION) -> None:
        """Realize *state* through *stage*: compute what that stage promises, as far as it is not there yet.

        Parameters
        ----------
        state : State
            Made by this system, at MODEL or above; its results are found in it afterwards.
        stage : Stage
            ACCELERATION unless given.

        Raises
        ------
        StageError
            If the state is below MODEL.
        TopologyError
            If the state is another system's, or older than a change of this one.
        ModelError
            If q, u or time is not finite, or a mobility has nothing to move. The state is then as it was.
        """
        # kept short: with the setters of q and u, this is all that Python adds to the kernel's time
        if state._token is not self._topology_token:
            state._check_owner(self, "realize")
        if stage is _ACCELERATION:
            level, wanted = 8, _EVERYTHING
        else:
            level = int(Stage(stage))
            wanted = _WANTED_OF[level]
        reached = state._stage
        if reached >= level:
            return
        if self._custom_forces or reached < 2:
            self._realize_interpreted(state, Stage(stage))
            return
        valid = state._valid
        if wanted & ~valid:
            kernel = self._kernel
            if kernel is None:
                self._address = _realize.advance.address()
                kernel = self._kernel = _realize.realize.dispatcher
            status = kernel(state._block, self._address, valid, wanted)
            if status:
                self._explain(state, status)
            state._valid = valid | wanted
        state._stage = level

    def _realize_interpreted(self, state: State, stage: Stage) -> None:
        """The same stage by stage, with Python's parts called where their turn comes."""
        if state._stage < Stage.MODEL:
            raise StageError("realize needs Stage.MODEL; call system.realize_model(state)")
        before = state._stage, state._valid
        try:
            for step in range(max(state._stage, Stage.MODEL) + 1, stage + 1):
                wanted = _WANTED_OF[step] & ~state._valid
                if step == Stage.DYNAMICS and wanted & _realize.FORCES:
                    self._kernel_call(state, wanted)
                    state._valid |= wanted & ~_realize.FORCES
                    self._add_custom_forces(state)
                    state._valid |= _realize.FORCES
                elif wanted:
                    self._kernel_call(state, wanted)
                    state._valid |= wanted
                state._stage = step
                hook = f"realize_{Stage(step).name.lower()}"
                for force in self._custom_forces:
                    getattr(force._implementation, hook)(state)
        except BaseException:
            state._stage, state._valid = before
            raise

    def _kernel_call(self, state: State, wanted: int) -> None:
        status = _realize.realize(state._block, _realize.advance.address(), state._valid, wanted)
        if status:
            self._explain(state, status)

    def _add_custom_forces(self, state: State) -> None:
        """Let every enabled custom force add its part to the applied forces; it sees the state at VELOCITY."""
        record = state._record
        body_forces, particle_forces = record.body_forces.reshape(-1, 2, 3), record.particle_forces.reshape(-1, 3)
        mobility_forces = record.mobility_forces[:, 0]
        state._stage = int(Stage.VELOCITY)
        for force in self._custom_forces:
            if not force.is_disabled(state):
                force._add_force(state, body_forces, particle_forces, mobility_forces)
        body_forces[0] = 0.0

    def _explain(self, state: State, status: int) -> None:
        """Turn a kernel's status into the exception that names the cause."""
        matter = self.get_matter_subsystem()
        record = state._record
        if status == _realize.BAD_INPUT:
            if not np.isfinite(record.time[0, 0]):
                raise ModelError(f"time is {record.time[0, 0]}; it has to be finite")
            for name in ("location", "velocity"):
                bad = np.flatnonzero(~np.isfinite(getattr(record, f"particle_{name}")[:, 0]))
                if len(bad):
                    row = getattr(record, f"particle_{name}").reshape(-1, 3)[bad[0] // 3]
                    raise ModelError(f"the {name} of particle {bad[0] // 3} is {row}; it has to be finite")
            name, values, first = "q", state._q, state._tree.first_q
            if np.all(np.isfinite(values)):
                name, values, first = "u", state._u, state._tree.first_u
            i = int(np.flatnonzero(~np.isfinite(values))[0])
            b = int(np.searchsorted(first, i, side="right")) - 1
            raise ModelError(
                f"{name}[{i}], number {i - first[b]} of {matter._bodies[b]._name!r}, is {values[i]}; "
                f"every {name} has to be finite"
            )
        loose = np.flatnonzero(~np.isfinite(record.d_inverse[:, 0]))
        if len(loose):
            i = int(loose[-1])
            b = int(np.searchsorted(state._tree.first_u, i, side="right")) - 1
            raise ModelError(
                f"mobility {i - state._tree.first_u[b]} of {matter._bodies[b]._name!r} has no inertia to move: the body "
                "and all that hangs on it is massless, or turns about a line without inertia. Give it mass, or weld it"
            )
        for body in matter._bodies:
            k = state._tree.first_u[body._index]
            if body.facts.turns_in_every_way and (which := blocks.first_dependent(record.H[k : k + 3, :3])) >= 0:
                why = body._singularity(state) or "that is so at its present q; start elsewhere"
                raise ModelError(
                    f"mobility {which} of {body._name!r} moves nothing that its others do not, so that the mass matrix is "
                    f"singular: {why}"
                )
        raise ModelError(
            "accelerations are not finite: a force is infinite or not a number, or the mass properties differ by more "
            f"than double precision holds{''.join(f'. {text}' for text in matter._singularities(state).values())}"
        )

    # ------------------------------------------------------------------------------------------ energy

    def calc_kinetic_energy(self, state: State) -> float:
        """Kinetic energy, mass*length^2/time^2. Needs VELOCITY."""
        return self.get_matter_subsystem().calc_kinetic_energy(state)

    def calc_potential_energy(self, state: State) -> float:
        """Potential energy of all enabled forces, mass*length^2/time^2. Needs POSITION (custom forces may need more)."""
        state._check_owner(self, "calc_potential_energy")
        if not state._valid & _realize.POSITIONS:
            state._refuse("calc_potential_energy", Stage.POSITION)
        return float(sum(force.calc_potential_energy_contribution(state) for force in self._forces()))

    def calc_energy(self, state: State) -> float:
        """Kinetic and potential energy. Needs VELOCITY."""
        if not self._custom_forces and state._valid & _realize.VELOCITIES:
            state._check_owner(self, "calc_energy")
            out = np.empty((2, 1))
            momentum.calc_energy(state._block, out)
            return float(out[0, 0] + out[1, 0])
        return self.calc_kinetic_energy(state) + self.calc_potential_energy(state)

    # ------------------------------------------------------------------------------------------ projection

    def project_q(self, state: State) -> bool:
        """Bring q to its manifold: normalize the quaternions. Returns whether anything changed. Needs MODEL."""
        state._check_owner(self, "project_q")
        before = state._q.copy()
        rates.normalize_quaternions(state._block)
        changed = not np.array_equal(before, state._q)
        if changed:
            state._invalidate_q()
        return changed

    def project(self, state: State, accuracy: float = 1e-8) -> bool:
        """Bring q and u to their manifolds: quaternions are normalized to rounding, whatever *accuracy* asks.

        Returns whether anything changed.
        """
        if not accuracy > 0.0:
            raise ValueError(f"accuracy has to be positive, got {accuracy}")
        return self.project_q(state)

    # ------------------------------------------------------------------------------------------ applied forces

    def get_rigid_body_forces(self, state: State) -> Array:
        """Applied forces on the bodies ``(nb, 2, 3)``, in Ground, at the bodies' origins. Needs DYNAMICS."""
        self._need_dynamics(state, "get_rigid_body_forces")
        F: Array = state._record.body_forces.reshape(-1, 2, 3).copy()
        return F

    def get_mobility_forces(self, state: State) -> Array:
        """Applied generalized forces ``(nu,)``. Needs DYNAMICS."""
        self._need_dynamics(state, "get_mobility_forces")
        f: Array = state._record.mobility_forces[:, 0].copy()
        return f

    def get_particle_forces(self, state: State) -> Array:
        """Applied forces on the particles ``(np, 3)``, in Ground. Needs DYNAMICS."""
        self._need_dynamics(state, "get_particle_forces")
        f: Array = state._record.particle_forces.reshape(-1, 3).copy()
        return f

    def _need_dynamics(self, state: State, asked: str) -> None:
        state._check_owner(self, asked)
        if not state._valid & _realize.FORCES:
            state._refuse(asked, Stage.DYNAMICS)
