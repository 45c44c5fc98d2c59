"""Realizing a system's topology and a state's model: trees, default states, and the hooks that allocate."""

from __future__ import annotations

import contextlib
import functools
import weakref
from typing import Any

from ..constraint.base import Constraint
from ..derivative.parts_in_python import Parts
from ..errors import ModelError, StageError, TopologyError
from ..force.custom import overrides_hooks
from ..force.layout import entries
from ..force.transmission.base import Transmission
from ..measure.base import NotCompiled
from ..measure.program import Program
from ..mobilizer.base import MobilizedBody
from ..motion import Custom
from ..state.fields import OUTSIDE_MATTER, REMEMBERED
from ..state.resources import Resources, subsystem_order
from ..state.stage_hooks import refuse_change
from ..state.state import State
from ..state.subsystem import HOOKS, Subsystem, warn_of_misspelt_hooks
from ..tree.tree import Tree
from ..value.stage import Stage
from . import prescription
from .events import HasEvents

#: Users' classes whose hooks' names have been looked at.
_SPELT: weakref.WeakSet[type] = weakref.WeakSet()


def _has_hook(subsystem: Subsystem, hook: str) -> bool:
    """True if a subsystem's class has a hook of its own."""
    return getattr(type(subsystem), hook) is not getattr(Subsystem, hook)


class HasTopology(HasEvents):
    """The part of `MultibodySystem` that makes states."""

    custom_motions: list[Custom]
    is_interpreted: bool
    may_slide: bool
    _has_callbacks: bool
    forces_in_python: list[Any]
    paths_that_may_jump: list[tuple[Any, Transmission]]
    measures_in_python: list[Any]
    _interpreted_bodies: list[MobilizedBody]
    _interpreted_constraints: list[Constraint]
    _interpreted_subsystems: list[Subsystem]
    _hooked: dict[int, list[int]]

    def tree_for(self, use_euler_angles: bool) -> Tree:
        """The tree for a modelling choice, made when first needed."""
        tree = self._trees.get(use_euler_angles)
        if tree is None:
            matter = self.get_matter_subsystem()
            entered = entries(self.all_forces())
            tree = Tree(matter.body_list, entered, use_euler_angles, matter.particles, matter.constraints)
            for force in self.all_forces():
                force.check_tree(tree)
            m, f = matter.subsystem_index, [one.subsystem_index for one in self.force_subsystems[:1]]
            tree.owners = {"q": {m: tree.nq}, "u": {m: tree.nu}, "z": dict.fromkeys(f, tree.nz)}
            tree.variable_places = Resources(0).lay_out(subsystem_order(self), tree.owners)  # type: ignore[arg-type]
            if self.compiles_measures:
                try:
                    self.program_of(tree).give_to(tree)
                except NotCompiled as error:
                    raise ModelError(
                        f"{error} with orientations as {'angles' if use_euler_angles else 'quaternions'}"
                    ) from None
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

        Notes
        -----
        Hooks of users' parts (subsystems, forces, mobilizers) are called for TOPOLOGY and then MODEL, with the state at EMPTY
        and then at TOPOLOGY, to allocate what they keep in the state.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> spring = mb.force.MobilityLinearSpring(system.forces, system.matter.bodies["lower"], 0, 10.0, 0.0)
        >>> state = system.realize_topology()
        >>> state.stage.name
        'MODEL'
        """
        matter = self.get_matter_subsystem()
        tree = self.tree_for(matter.default_use_euler_angles)
        self.compiles_measures, self.measures_in_python, self._has_callbacks = False, [], tree.calls_python
        self.forces_in_python = [force for force in self.all_forces() if force.implementation is not None]
        along = [(force, force.acts_along()) for force in self.all_forces()]
        self.paths_that_may_jump = [one for one in along if isinstance(one[1], Transmission) and one[1].may_jump]
        self._interpreted_bodies = [body for body in matter.body_list if body.interpreter is not None]
        self._hooked = {
            int(stage): [i for i, one in enumerate(self.subsystems) if _has_hook(one, hook)] for stage, hook in HOOKS.items()
        }
        # not those that are hooked for their measures, further down
        self._interpreted_subsystems = [self.subsystems[i] for i in sorted({i for own in self._hooked.values() for i in own})]
        self._interpreted_constraints = [one for one in matter.constraints if one.interpreter is not None]
        hooks = any(self._hooked.values())
        motions = [body.driver for body in matter.body_list]
        self.custom_motions = [motion for motion in motions if isinstance(motion, Custom) and motion.routine is None]
        interpreted = self._interpreted_bodies or self._interpreted_constraints
        self._warn_of_misspelt_hooks()
        hooked = any(overrides_hooks(force.implementation) for force in self.forces_in_python)
        self.is_interpreted = bool(hooked or interpreted or self.custom_motions or hooks)
        acting = [subsystem.find_acting_measures() for subsystem in self.subsystems]
        if any(acting) and not self._compile_measures(tree):
            self.is_interpreted = True
        self.may_slide = False
        for i, subsystem in enumerate(self.subsystems):
            # a measure that only keeps something in states needs the hook of TOPOLOGY, and leaves the system compiled
            in_python = acting[i] and not self.compiles_measures
            for stage in HOOKS if in_python else [Stage.TOPOLOGY] if subsystem.own_measures else []:
                if i not in self._hooked[stage]:
                    self._hooked[stage].append(i)
        realized_before, self._topology_realized = self._topology_realized, True
        state = State(self, tree)  # type: ignore[arg-type]  # which it is a part of
        told = any(overrides_hooks(force.implementation, Stage.TOPOLOGY) for force in self.forces_in_python)
        if self.is_interpreted or told or self._hooked[Stage.TOPOLOGY]:
            state.stage_number = int(Stage.EMPTY)
            state.upd_resources()
            try:
                self._settle(state, Stage.TOPOLOGY)
                self._settle(state, Stage.MODEL)
            except BaseException:
                self._topology_realized = realized_before
                raise
            state.make_room(tree, state.record)
        self._default_state = state.copy()
        return state

    def _compile_measures(self, tree: Tree) -> bool:
        """Compile the measures' integration and memory into the steps, where all parts of the system allow that."""
        acting = [one for subsystem in self.subsystems for one in subsystem.acting_measures]
        program = None
        allocating = any(one.allocates_by_hook() for subsystem in self.subsystems for one in subsystem.own_measures)
        if not self.is_interpreted and not allocating:
            with contextlib.suppress(NotCompiled):
                program = self.program_of(tree)
        for one in acting:
            place = None if program is None else program.memory.get(id(one))
            one.memory_run = None if place is None else slice(place, place + one.memory_size())
        for one in (one for subsystem in self.subsystems for one in subsystem.own_measures):
            place = None if program is None else program.parameters.get(id(one))
            one.numbers_run = None if place is None else slice(place, place + one.default.size)
        if program is None:
            return False
        program.give_to(tree)
        self.compiles_measures, self.measures_in_python = True, program.in_python
        return True

    def program_of(self, tree: Tree) -> Program:
        """The measures that take part in steps, as kernels take them.

        Raises
        ------
        NotCompiled
            If Python has to take part.
        """
        known, at, places, acting = tree.owners["z"], 0, {}, []
        # as `Resources.lay_out` lays out z
        for i in sorted(subsystem_order(self), key=lambda one: one not in known):  # type: ignore[arg-type]
            places[i] = at = at + known.get(i, 0)
            for measure in self.subsystems[i].acting_measures:
                acting.append(measure)
                at += measure.num_z()
        return Program(acting, tree, places)

    def _warn_of_misspelt_hooks(self) -> None:
        """Warn of methods of users' implementations that look like hooks and are none, once a class."""
        parts = [*self.forces_in_python, *self.custom_motions, *self._interpreted_bodies]
        parts += [one.interpreter for one in self._interpreted_constraints]
        found = [getattr(part, "implementation", None) for part in parts]
        kinds = {kind for one in found if one is not None for kind in type(one).__mro__}
        for kind in kinds.difference(_SPELT):
            if not kind.__module__.startswith(("mobod.", "builtins")):
                _SPELT.add(kind)
                warn_of_misspelt_hooks(kind, "custom implementation", stacklevel=3)

    def _settle(self, state: State, stage: Stage) -> None:
        """Realize TOPOLOGY or MODEL by calling the hooks of users' parts, which see the state one stage below."""
        resources = state.resources
        if resources is not None:
            resources.step, resources.turn = int(stage), 0
        try:
            for body in self._interpreted_bodies:
                assert body.interpreter is not None
                body.interpreter.realize(stage.name.lower(), state)
            for constraint in self._interpreted_constraints:
                assert constraint.interpreter is not None
                constraint.interpreter.realize(stage.name.lower(), state)
            for force in self.forces_in_python:
                getattr(force.implementation, HOOKS[stage])(state)
            for motion in self.custom_motions:
                getattr(motion.implementation, HOOKS[stage])(state)
            self._tell_subsystems(state, stage)
        finally:
            if resources is not None:
                resources.step = 0
        state.stage_number = int(stage)

    def _tell_subsystems(self, state: State, stage: int) -> None:
        """Call the subsystems' hooks of a stage; entries computed by that stage are valid when the hook returns."""
        resources, hooked = state.resources, self._hooked[stage]
        if resources is None or not (hooked or stage in resources.computing):
            return
        for i, subsystem in enumerate(self.subsystems):
            resources.turn = i
            if (i in hooked or i in resources.parts) and resources.stage_of(state, i) < stage:
                if i in hooked:
                    subsystem.tell(state, Stage(stage))
                    if state.stage_number < stage and stage > Stage.MODEL:
                        refuse_change(state, stage, subsystem)
                resources.finish(state, i, stage)

    def get_default_state(self) -> State:
        """A copy of the state that `realize_topology` gave; `TopologyError` where it has not been called."""
        if not self._topology_realized:
            raise TopologyError(f"{self!r} has no default state; call system.realize_topology()")
        if self._default_state is None:  # a copied or unpickled system makes it anew
            self.realize_topology()
        assert self._default_state is not None
        return self._default_state.copy()

    def realize_model(self, state: State) -> None:
        """Apply the modelling choices: q gets its size, and default values if that changed. Needs TOPOLOGY.

        Hooks of users' parts are called, and subsystems allocate anew what depends on the choices: their q, u or z keep their
        values if the number is unchanged. A state at MODEL or above is left as it is.

        Examples
        --------
        >>> import mobod as mb
        >>> system = mb.MultibodySystem()
        >>> matter = mb.SimbodyMatterSubsystem(system)
        >>> body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
        >>> ball = mb.mobilizer.Ball(matter.ground, body)
        >>> state = system.realize_topology()
        >>> matter.set_use_euler_angles(state, True)
        >>> system.realize_model(state)
        >>> len(state.q)
        3
        """
        state.check_owner(self, "realize_model")
        if state.stage_number < Stage.TOPOLOGY:
            raise StageError("realize_model needs Stage.TOPOLOGY; call state = system.realize_topology()")
        if state.stage_number >= Stage.MODEL:
            return
        tree, record, resources = state.tree, state.record, state.resources
        kept = {} if resources is None else resources.snapshot()
        own = dict(state.own_fields)
        try:
            if state.pending_euler_angles != state.use_euler_angles:
                new_tree = self.tree_for(state.pending_euler_angles)
                new_record = new_tree.new_record()
                for name in OUTSIDE_MATTER + REMEMBERED:
                    getattr(new_record, name)[:] = getattr(record, name)
                new_record.z[: new_tree.nz] = record.z[: tree.nz]  # those of forces: no choice touches them
                if "lock_q" in state.own_fields:
                    q = self.get_matter_subsystem().converted(state.own_fields["lock_q"][:, 0], tree, new_tree)
                    state.own_fields["lock_q"] = q[:, None]
                state.use_euler_angles, state.valid = new_tree.use_euler_angles, 0
                state.attach_own(new_tree, new_record)
            self._settle(state, Stage.MODEL)
        except BaseException:
            state.use_euler_angles, state.own_fields = tree.use_euler_angles, own
            state.attach_own(tree, record)
            if resources is not None:
                resources.restore(kept)
            raise
        state.make_room(tree, record)

    @property
    def parts_in_python(self) -> list[Any]:
        """The parts whose Python takes part in realizing states."""
        found: list[Any] = [
            *self.forces_in_python,
            *self.measures_in_python,
            *self._interpreted_bodies,
            *self._interpreted_constraints,
            *self.custom_motions,
        ]
        found += [force for force in self.all_forces() if not getattr(force, "is_compiled", True)]
        return [*found, *self._interpreted_subsystems]

    def parts_apart(self, state: State) -> Parts | None:
        """The parts in Python, where derivatives take differences of these alone; None of all, or where there are none.

        So it is unless a subsystem has hooks, functions or measures are in Python, or contacts slide in the state.
        """
        hooked = any(self._hooked[stage] for stage in HOOKS if stage > Stage.MODEL)
        if hooked or self._has_callbacks or self.compiles_measures or state.slides or not self.calls_back:
            return None
        return Parts(
            self.forces_in_python,
            self._interpreted_constraints,
            self.custom_motions,
            functools.partial(prescription.set_known_u_dot, self),
        )

    @property
    def needs_states(self) -> bool:
        """True if parts are in Python, or measures take part in steps: what some users of states by the thousand do without."""
        return self.calls_python or self.compiles_measures

    @property
    def calls_with_states(self) -> bool:
        """True if Python is given states while they are realized: ensembles then take them one by one."""
        return self.is_interpreted or bool(self.forces_in_python or self.measures_in_python)

    @property
    def calls_python(self) -> bool:
        """True if Python takes part in realizing states, or contacts may slide in a run: tangents of kernels do not do then."""
        return self.calls_back or self.may_slide

    @property
    def calls_back(self) -> bool:
        """True if Python takes part in realizing states, if only as a callback of kernels."""
        return self.is_interpreted or self._has_callbacks or bool(self.forces_in_python or self.measures_in_python)
