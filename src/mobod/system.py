"""MultibodySystem: the subsystems that make a mechanism, and the realization of its states."""

from __future__ import annotations

import contextlib
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import prescribing, projecting
from .constraint import _what as constraint_what
from .diagnosis import Diagnosis, diagnose
from .errors import ModelError, StageError, TopologyError
from .event import EventHandler, EventReporter, Scheduled, Triggered
from .force import _switch as forces_switch
from .force._entry import entries
from .measure._program import NotCompiled, Program
from .measure.integrate import Integrate
from .measure.memory import Memory
from .mobilizer._interpreted import write_position, write_velocity
from .motion import Custom
from .resources import subsystem_order, unchanged
from .stage import Stage
from .state import State
from .subsystem import HOOKS, Subsystem, warn_of_misspelt_hooks
from .tree import blocks, constraints, momentum, rates
from .tree import realize as _realize
from .tree.known import DRIVEN
from .tree.tree import OUTSIDE_MATTER, REMEMBERED, Tree

if TYPE_CHECKING:
    from .constraint.base import Constraint
    from .forces import GeneralForceSubsystem
    from .matter import SimbodyMatterSubsystem
    from .mobilizer.base import MobilizedBody

Array = npt.NDArray[np.float64]

#: Users' classes whose hooks' names have been looked at.
_SPELT: weakref.WeakSet[type] = weakref.WeakSet()
#: What each stage wants of the kernels.
_WANTED = {
    Stage.POSITION: _realize.POSITIONS,
    Stage.VELOCITY: _realize.POSITIONS | _realize.VELOCITIES,
    Stage.DYNAMICS: _realize.POSITIONS | _realize.VELOCITIES | _realize.FORCES,
    Stage.ACCELERATION: 63 & ~_realize.COMPOSITE,
    Stage.REPORT: 63 & ~_realize.COMPOSITE,
}
_ACCELERATION, _EVERYTHING = Stage.ACCELERATION, _WANTED[Stage.ACCELERATION] | _realize.KEPT_FORCES
_VELOCITY, _MOTION = Stage.VELOCITY, _WANTED[Stage.VELOCITY]
_POSITION, _PLACES = Stage.POSITION, _WANTED[Stage.POSITION]
#: What `realize` wants of them beside: that the forces of positions are at hand when u changes alone.
_WANTED_OF = [0] * 5 + [_WANTED[Stage(s)] | (_realize.KEPT_FORCES if s >= Stage.DYNAMICS else 0) for s in range(5, 10)]


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
        self._interpreted_bodies: list[MobilizedBody] = []
        self._interpreted_constraints: list[Constraint] = []
        self._hooked: dict[int, list[int]] = {}  # for each stage: which subsystems have a hook of their own
        self._custom_motions: list[Custom] = []
        #: Whether parts of users' own Python take part in realizing states.
        self._is_interpreted = False
        #: Whether measures integrate or remember, and compiled steps do it for them.
        self._compiles_measures = False
        self._kernel: Any = None
        self._address = 0
        self._default_state: State | None = None
        self._event_handlers: list[EventHandler] = []
        self._event_reporters: list[EventReporter] = []
        self._time_scale = 0.1
        self._has_time_advanced_events = False

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
        TypeError
            If it is no subsystem, or its class does not call ``super().__init__``.
        """
        from .forces import GeneralForceSubsystem
        from .matter import SimbodyMatterSubsystem

        if not isinstance(subsystem, Subsystem):
            raise TypeError(f"adopt_subsystem takes a Subsystem, not {subsystem!r}")
        if not hasattr(subsystem, "_measures"):
            raise TypeError(f"{type(subsystem).__name__}.__init__ has to call super().__init__(system, name)")
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

    # ------------------------------------------------------------------------------------------ events

    def add_event_handler(self, handler: EventHandler) -> None:
        """Let *handler* change states while a `TimeStepper` goes on, from its next `initialize` on. States stay as they are.

        Handlers of the same time are called in the order in which they were added, triggered ones before scheduled ones.

        Raises
        ------
        TypeError
            If it is of none of the forms in `mobod.event`.
        ValueError
            If it has been added before.
        """
        self._check_event("handler", handler, EventHandler, self._event_handlers)
        self._event_handlers.append(handler)

    def add_event_reporter(self, reporter: EventReporter) -> None:
        """Let *reporter* look at states while a `TimeStepper` goes on; as `add_event_handler`."""
        self._check_event("reporter", reporter, EventReporter, self._event_reporters)
        self._event_reporters.append(reporter)

    @staticmethod
    def _check_event(what: str, one: Any, kind: type, present: list[Any]) -> None:
        if not isinstance(one, kind) or not isinstance(one, (Scheduled, Triggered)):
            raise TypeError(
                f"an event {what} has to be of a class derived from mobod.event.Scheduled{what.capitalize()}, "
                f"Periodic{what.capitalize()} or Triggered{what.capitalize()}, not {one!r}"
            )
        needed = "_info" if isinstance(one, Triggered) else "_event_interval" if hasattr(one, "set_event_interval") else ""
        if needed and not hasattr(one, needed):
            raise TypeError(f"{type(one).__name__}.__init__ has to call super().__init__(...) of its form in mobod.event")
        if any(other is one for other in present):
            raise ValueError(f"{one!r} is one of the system's already")

    def get_event_handlers(self) -> list[EventHandler]:
        """The handlers that were added, in order."""
        return list(self._event_handlers)

    def get_event_reporters(self) -> list[EventReporter]:
        """The reporters that were added, in order."""
        return list(self._event_reporters)

    def remove_event_handler(self, handler: EventHandler) -> None:
        """Take a handler off again; `ValueError` where it was not added."""
        self._remove_event("handler", handler, self._event_handlers)

    def remove_event_reporter(self, reporter: EventReporter) -> None:
        """Take a reporter off again; `ValueError` where it was not added."""
        self._remove_event("reporter", reporter, self._event_reporters)

    @staticmethod
    def _remove_event(what: str, one: Any, present: list[Any]) -> None:
        if not any(other is one for other in present):
            raise ValueError(f"{one!r} is no event {what} of the system")
        present[:] = [other for other in present if other is not one]

    def set_default_time_scale(self, time_scale: float) -> None:
        """Say what time matters, 0.1 unless set: events are localized to a tenth of accuracy times that, or what they ask.

        Raises
        ------
        ValueError
            If it is not positive and finite.
        """
        if not 0.0 < time_scale < np.inf:
            raise ValueError(f"the time scale has to be positive and finite, got {time_scale}")
        self._time_scale = float(time_scale)

    def get_default_time_scale(self) -> float:
        """The time that matters, for how closely events are localized; time."""
        return self._time_scale

    def set_has_time_advanced_events(self, has_time_advanced_events: bool) -> None:
        """Say whether subsystems' `handle_events` are to be called after each step, with `event.Cause.TIME_ADVANCED`."""
        self._has_time_advanced_events = bool(has_time_advanced_events)

    def has_time_advanced_events(self) -> bool:
        """Whether subsystems' `handle_events` are called after each step."""
        return self._has_time_advanced_events

    # ------------------------------------------------------------------------------------------ topology and model

    def _invalidate_topology(self) -> None:
        self._topology_version += 1
        self._topology_token = object()
        if self._matter is not None:
            self._matter._token = self._topology_token
        self._topology_realized = False
        self._trees = {}
        self._kernel = None
        self._default_state = None
        self._compiles_measures = False

    def system_topology_has_been_realized(self) -> bool:
        """Whether `realize_topology` was called and nothing topological has changed since."""
        return self._topology_realized

    def _tree(self, use_euler_angles: bool) -> Tree:
        """The tree for a modelling choice, made when first needed."""
        tree = self._trees.get(use_euler_angles)
        if tree is None:
            matter = self.get_matter_subsystem()
            entered = entries(self._forces())
            tree = Tree(matter._bodies, entered, use_euler_angles, matter._particles, matter._constraints)
            for force in self._forces():
                force._check_tree(tree)
            m, f = matter._subsystem_index, [one._subsystem_index for one in self._force_subsystems[:1]]
            tree.owners = {"q": {m: tree.nq}, "u": {m: tree.nu}, "z": dict.fromkeys(f, tree.nz)}
            if self._compiles_measures:
                try:
                    self._program(tree).give_to(tree)
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
        Users' own parts (subsystems, forces, mobilizers) are told of TOPOLOGY and then of MODEL, which is when they allocate
        what they keep in the state: it is at EMPTY, and then at TOPOLOGY.
        """
        matter = self.get_matter_subsystem()
        tree = self._tree(matter._default_use_euler_angles)
        self._compiles_measures = False
        self._custom_forces = [force for force in self._forces() if force._implementation is not None]
        self._interpreted_bodies = [body for body in matter._bodies if body._interpreter is not None]
        self._hooked = {
            int(stage): [
                i for i, one in enumerate(self._subsystems) if getattr(type(one), hook) is not getattr(Subsystem, hook)
            ]
            for stage, hook in HOOKS.items()
        }
        self._interpreted_constraints = [one for one in matter._constraints if one._interpreter is not None]
        hooks = any(self._hooked.values())
        motions = [body._driver for body in matter._bodies]
        self._custom_motions = [motion for motion in motions if isinstance(motion, Custom) and motion.routine is None]
        interpreted = self._interpreted_bodies or self._interpreted_constraints
        self._warn_of_misspelt_hooks()
        self._is_interpreted = bool(self._custom_forces or interpreted or self._custom_motions or hooks)
        acting = [subsystem._find_acting_measures() for subsystem in self._subsystems]
        if any(acting) and not self._compile_measures(tree):
            self._is_interpreted = True
        for i, subsystem in enumerate(self._subsystems):
            # a measure that only keeps something in states has to be told of TOPOLOGY, and leaves the system compiled
            in_python = acting[i] and not self._compiles_measures
            for stage in HOOKS if in_python else [Stage.TOPOLOGY] if subsystem._measures else []:
                if i not in self._hooked[stage]:
                    self._hooked[stage].append(i)
        realized_before, self._topology_realized = self._topology_realized, True
        state = State(self, tree)
        if self._is_interpreted or self._hooked[Stage.TOPOLOGY]:
            state._stage = int(Stage.EMPTY)
            state._upd_resources()
            try:
                self._settle(state, Stage.TOPOLOGY)
                self._settle(state, Stage.MODEL)
            except BaseException:
                self._topology_realized = realized_before
                raise
            state._make_room(tree, state._record)
        self._default_state = state.copy()
        return state

    def _compile_measures(self, tree: Tree) -> bool:
        """Let compiled steps integrate and remember for the measures, where all parts of the system allow that."""
        acting = [one for subsystem in self._subsystems for one in subsystem._acting_measures]
        program = None
        allocating = any(one._allocates_by_hook() for subsystem in self._subsystems for one in subsystem._measures)
        if not self._is_interpreted and not allocating:
            with contextlib.suppress(NotCompiled):
                program = self._program(tree)
        for one in acting:
            if isinstance(one, Memory):
                place = None if program is None else program.places[id(one)]
                one._run = None if place is None else slice(place, place + one._memory_size())
        if program is None:
            return False
        program.give_to(tree)
        self._compiles_measures = True
        return True

    def _program(self, tree: Tree) -> Program:
        """The measures that take part in steps, as kernels take them."""
        known, at, places, acting = tree.owners["z"], 0, {}, []
        # as `Resources.lay_out` lays out z
        for i in sorted(subsystem_order(self), key=lambda one: one not in known):
            places[i] = at = at + known.get(i, 0)
            for measure in self._subsystems[i]._acting_measures:
                acting.append(measure)
                at += measure._default.size if isinstance(measure, Integrate) else 0
        return Program(acting, tree, places)

    def _warn_of_misspelt_hooks(self) -> None:
        """Warn of methods of users' implementations that look like hooks and are none, once a class."""
        parts = [*self._custom_forces, *self._custom_motions, *self._interpreted_bodies]
        parts += [one._interpreter for one in self._interpreted_constraints]
        found = [getattr(part, "_implementation", None) for part in parts]
        kinds = {kind for one in found if one is not None for kind in type(one).__mro__}
        for kind in kinds.difference(_SPELT):
            if not kind.__module__.startswith(("mobod.", "builtins")):
                _SPELT.add(kind)
                warn_of_misspelt_hooks(kind, "custom implementation", stacklevel=3)

    def _settle(self, state: State, stage: Stage) -> None:
        """Realize TOPOLOGY or MODEL by telling users' own parts, which see the state one stage below."""
        resources = state._resources
        if resources is not None:
            resources.step, resources.turn = int(stage), 0
        try:
            for body in self._interpreted_bodies:
                assert body._interpreter is not None
                body._interpreter.realize(stage.name.lower(), state)
            for constraint in self._interpreted_constraints:
                assert constraint._interpreter is not None
                constraint._interpreter.realize(stage.name.lower(), state)
            for force in self._custom_forces:
                getattr(force._implementation, HOOKS[stage])(state)
            for motion in self._custom_motions:
                getattr(motion._implementation, HOOKS[stage])(state)
            self._tell_subsystems(state, stage)
        finally:
            if resources is not None:
                resources.step = 0
        state._stage = int(stage)

    def _tell_subsystems(self, state: State, stage: int) -> None:
        """Call the subsystems' hooks of a stage; what each computes by that stage is there when its own returns."""
        resources, hooked = state._resources, self._hooked[stage]
        if resources is None or not (hooked or stage in resources.computing):
            return
        for i, subsystem in enumerate(self._subsystems):
            resources.turn = i
            if (i in hooked or i in resources.parts) and resources.stage_of(state, i) < stage:
                if i in hooked:
                    subsystem._tell(state, Stage(stage))
                    if state._stage < stage and stage > Stage.MODEL:
                        _refuse_change(state, stage, subsystem)
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
        """Settle the modelling choices: q gets its size, and its default values where that changed. Needs TOPOLOGY.

        Users' own parts are told of it, and subsystems allocate anew what depends on such choices: of q, u and z those keep
        their values of which there are as many as before. A state at MODEL or above is left as it is.
        """
        state._check_owner(self, "realize_model")
        if state._stage < Stage.TOPOLOGY:
            raise StageError("realize_model needs Stage.TOPOLOGY; call state = system.realize_topology()")
        if state._stage >= Stage.MODEL:
            return
        tree, record, resources = state._tree, state._record, state._resources
        kept = {} if resources is None else resources.snapshot()
        own = dict(state._own)
        try:
            if state._pending_euler_angles != state._use_euler_angles:
                new_tree = self._tree(state._pending_euler_angles)
                new_record = new_tree.new_record()
                for name in OUTSIDE_MATTER + REMEMBERED:
                    getattr(new_record, name)[:] = getattr(record, name)
                new_record.z[: new_tree.nz] = record.z[: tree.nz]  # those of forces: no choice touches them
                if "lock_q" in state._own:
                    q = self.get_matter_subsystem()._converted(state._own["lock_q"][:, 0], tree, new_tree)
                    state._own["lock_q"] = q[:, None]
                state._use_euler_angles, state._valid = new_tree.use_euler_angles, 0
                state._attach_own(new_tree, new_record)
            self._settle(state, Stage.MODEL)
        except BaseException:
            state._use_euler_angles, state._own = tree.use_euler_angles, own
            state._attach_own(tree, record)
            if resources is not None:
                resources.restore(kept)
            raise
        state._make_room(tree, record)

    def _begin_measures(self, state: State) -> None:
        """A run begins: measures that remember begin to, unless *state* remembers something of an earlier one."""
        acting = [measure for subsystem in self._subsystems for measure in subsystem._acting_measures]
        waiting = [measure for measure in acting if not measure._has_begun(state)]
        if waiting:
            self.project(state)
            for measure in waiting:
                measure._begin(state)

    def _remember(self, state: State) -> None:
        """A step ends at *state*: measures that remember make what they keep of it."""
        if self._compiles_measures:  # it is Python that ends it
            record = state._record
            acting = [one for subsystem in self._subsystems for one in subsystem._acting_measures if isinstance(one, Memory)]
            ready = [one for one in acting if one._memory(state) is not None and state._stage >= one._needs()]
            following = [one._next(state) for one in ready]
            record.measure_next[:] = record.measure_memory
            for one, kept in zip(ready, following, strict=True):
                one._write(record.measure_next, kept)
            return
        for subsystem in self._subsystems:
            for measure in subsystem._acting_measures:
                measure._remember(state)

    @property
    def _needs_states(self) -> bool:
        """Whether each state of many has to be realized by itself: Python takes part, or measures remember something of it."""
        return self._is_interpreted or self._compiles_measures

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
            If q, u or time is not finite, a mobility has nothing to move, or a particle's mass is not positive. The state is
            then as it was.
        """
        # kept short: with the setters of q and u, this is all that Python adds to the kernel's time
        try:
            token = state._token
        except AttributeError:
            raise TypeError(f"realize takes a State, then a Stage; the first is {state!r}") from None
        if token is not self._topology_token:
            state._check_owner(self, "realize")
        if stage is _ACCELERATION:
            level, wanted = 8, _EVERYTHING
        elif stage is _VELOCITY:
            level, wanted = 6, _MOTION
        elif stage is _POSITION:
            level, wanted = 5, _PLACES
        else:
            level = int(_stage_of(stage))
            wanted = _WANTED_OF[level]
        reached = state._stage
        if reached >= level:
            return
        if self._is_interpreted or reached < 3:
            if reached == 2:
                self.get_matter_subsystem()._check_particle_masses(state)
            if self._is_interpreted or reached < 2:
                self._realize_interpreted(state, Stage(stage))
                return
        valid = state._valid
        if wanted & ~valid:
            kernel = self._kernel
            if kernel is None:
                kernel = self._choose_kernel()
            status = kernel(state._block, self._address, valid, wanted)
            if status:
                self._explain(state, status)
            state._valid = valid | wanted
        state._stage = level

    def _realize_interpreted(self, state: State, stage: Stage) -> None:
        """The same stage by stage, with Python's parts called where their turn comes."""
        if state._stage < Stage.MODEL:
            raise StageError("realize needs Stage.MODEL; call system.realize_model(state)")
        before, resources = (state._stage, state._valid), state._resources
        if resources is not None:
            if resources.realizing:
                raise StageError(
                    f"realize to Stage.{stage.name}: this state is being realized, through {state.stage.name} so far, and a "
                    "hook or a calc_ method of a part of yours asks for more; use what is there, do it at a later stage's "
                    "hook, or realize state.copy()"
                )
        # what INSTANCE's hooks allocate goes again if they fail
        allocated = resources.snapshot() if resources is not None and before[0] < Stage.INSTANCE else {}
        try:
            if resources is not None:
                resources.realizing = True
            for step in range(max(state._stage, Stage.MODEL) + 1, stage + 1):
                wanted, name = _WANTED_OF[step] & ~state._valid, Stage(step).name.lower()
                told = False
                if resources is not None:
                    self._check_subsystems(state, step)
                if step == Stage.INSTANCE:
                    for motion in self._custom_motions:
                        state._settle_motion(motion._mobod, asked=True)
                if wanted & _realize.ACCELERATIONS:
                    prescribing.set_known_u_dot(self, state)
                if wanted:
                    told = self._compute(state, wanted) == step
                if step == Stage.DYNAMICS and wanted & _realize.FORCES:
                    state._valid &= ~_realize.FORCES
                    self._add_custom_forces(state)
                    state._valid |= _realize.FORCES
                if not told:  # a mobilizer hears of positions and velocities before its columns are asked for
                    for body in self._interpreted_bodies:
                        assert body._interpreter is not None
                        body._interpreter.realize(name, state)
                if state._stage < step - 1:  # mobilizers, constraints and motions are part of the matter
                    _refuse_change(state, step, self._matter)
                state._stage = step
                if resources is not None:
                    resources.step, resources.turn = step, 0
                for constraint in self._interpreted_constraints:
                    if step <= Stage.INSTANCE or not constraint.is_disabled(state):
                        assert constraint._interpreter is not None
                        constraint._interpreter.realize(name, state)
                        if state._stage < step:
                            _refuse_change(state, step, constraint)
                for part in (*self._custom_forces, *self._custom_motions):
                    getattr(part._implementation, f"realize_{name}")(state)
                    if state._stage < step:
                        _refuse_change(state, step, part)
                self._tell_subsystems(state, step)
                if resources is not None:
                    resources.step = 0
                    if step == Stage.ACCELERATION:
                        self._check_rates(state)
        except BaseException:
            # as it was, unless a part has changed it, which leaves less
            state._stage, state._valid = min(before[0], state._stage), before[1] & state._valid
            if resources is not None:
                resources.step = 0
                if before[0] < Stage.INSTANCE:
                    resources.restore(allocated)
            raise
        finally:
            if resources is not None:
                resources.realizing = False

    def _compute(self, state: State, wanted: int) -> int:
        """Compute what is wanted and not valid.

        Mobilizers that Python computes write their rows before the sweeps, and constraints theirs after them.

        Returns
        -------
        int
            The last stage of which these mobilizers heard by that; 0 where they did not.
        """
        missing, told = wanted & ~state._valid, 0
        if self._interpreted_bodies or self._interpreted_constraints:
            for entry, write, stage in (
                (_realize.POSITIONS, write_position, Stage.POSITION),
                (_realize.VELOCITIES, write_velocity, Stage.VELOCITY),
            ):
                if missing & entry:
                    if self._interpreted_bodies:
                        self._check_input(state, entry)
                        for body in self._interpreted_bodies:
                            write(body, state)
                        told = int(stage)
                    self._kernel_call(state, entry)
                    self._write_constraints(state, entry)
        self._kernel_call(state, wanted)
        return told

    def _write_constraints(self, state: State, entry: int) -> None:
        """Let Python write its rows of enabled constraints, and compute what follows from them."""
        what = constraint_what.POSITIONS if entry == _realize.POSITIONS else constraint_what.VELOCITIES
        try:
            for constraint in self._interpreted_constraints:
                interpreter = constraint._interpreter
                if interpreter is None or constraint.is_disabled(state):
                    continue
                if entry == _realize.POSITIONS:
                    interpreter.write_positions(state)
                else:
                    interpreter.write_velocities(state)
                constraints.complete(state._record, constraint._index, what)
        except BaseException:
            state._valid &= 0 if entry == _realize.POSITIONS else ~_realize.DEPENDS_ON_U
            raise

    def _check_input(self, state: State, entry: int) -> None:
        """Refuse values that are not finite, as the kernels do, before a user's function sees them."""
        tree = state._tree
        values = state._q[: tree.nq] if entry == _realize.POSITIONS else state._u[: tree.nu]
        if not (np.isfinite(values).all() and np.isfinite(state._record.time[0, 0])):
            self._explain(state, _realize.BAD_INPUT)

    def _check_subsystems(self, state: State, step: int) -> None:
        """Refuse values of subsystems' q, u and z that are not finite, before anything is computed from them."""
        tree = state._tree
        if step == Stage.POSITION:
            name, first, values = "q", tree.nq, state._q
        elif step == Stage.VELOCITY:
            name, first, values = "u", tree.nu, state._u
        elif step == Stage.DYNAMICS:
            name, first, values = "z", 0, state._z
        else:
            return
        if len(values) > first and not np.isfinite(values[first:]).all():
            i = first + int(np.flatnonzero(~np.isfinite(values[first:]))[0])
            raise ModelError(f"{self._owner(state, name, i)}, is {values[i]}; every {name} has to be finite")

    def _check_rates(self, state: State) -> None:
        """Refuse rates that a subsystem has written and that are not finite."""
        record, tree = state._record, state._tree
        if len(record.y_dot) == tree.nq + tree.nu or np.isfinite(record.y_dot).all():
            return
        for name, column in (("q", record.q_dot), ("u", record.u_dot), ("z", record.z_dot)):
            wrong = np.flatnonzero(~np.isfinite(column[:, 0]))
            if len(wrong):
                i = int(wrong[0])
                raise ModelError(f"the rate of {self._owner(state, name, i)}, is {column[i, 0]}; it has to be finite")

    def _owner(self, state: State, name: str, i: int) -> str:
        """Number *i* of the system's q, u or z, and which subsystem's it is."""
        for subsystem, (start, n) in state._places()[name].items():
            if start <= i < start + n:
                return f"{name}[{i}], number {i - start} of {self._subsystems[subsystem]!r}"
        return f"{name}[{i}]"

    def _kernel_call(self, state: State, wanted: int) -> None:
        if wanted & ~state._valid:
            kernel = self._kernel or self._choose_kernel()
            status = kernel(state._block, self._address, state._valid, wanted)
            if status:
                self._explain(state, status)
            state._valid |= wanted

    def _choose_kernel(self) -> Any:
        """What realizes states: with users' compiled functions it looks at what these give, too."""
        checked = any(body._is_of_users_functions for body in self.get_matter_subsystem()._bodies)
        self._address = _realize.advance.address()
        kernel = _realize.realize_checked if checked else _realize.realize
        self._kernel = kernel.code or kernel.code_for(np.zeros(1, np.int64), 0, 0, 0)
        return self._kernel

    def _add_custom_forces(self, state: State) -> None:
        """Let every enabled custom force add its part to the applied forces; it sees the state at VELOCITY."""
        record = state._record
        body_forces, particle_forces = record.body_forces.reshape(-1, 2, 3), record.particle_forces.reshape(-1, 3)
        mobility_forces = record.mobility_forces[:, 0]
        state._stage = int(Stage.VELOCITY)
        # which z, or another force's parameters, take away without lowering the stage
        untouched = unchanged(Stage.DYNAMICS) & ~unchanged(Stage.ACCELERATION)
        before = state._valid & untouched
        state._valid |= untouched
        for force in self._custom_forces:
            if not force.is_disabled(state):
                force._add_force(state, body_forces, particle_forces, mobility_forces)
                if state._stage < Stage.VELOCITY or not state._valid & untouched:
                    _refuse_change(state, Stage.DYNAMICS, force)
        state._valid &= ~untouched | before
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
            tree = state._tree
            name, values, first = "q", state._q[: tree.nq], tree.first_q
            if np.all(np.isfinite(values)):
                name, values, first = "u", state._u[: tree.nu], tree.first_u
            i = int(np.flatnonzero(~np.isfinite(values))[0])
            b = int(np.searchsorted(first, i, side="right")) - 1
            raise ModelError(
                f"{name}[{i}], number {i - first[b]} of {matter._bodies[b]._name!r}, is {values[i]}; "
                f"every {name} has to be finite"
            )
        for body in matter._bodies:
            said = body._not_finite(state)
            if said:
                raise ModelError(said)
        for constraint in matter._constraints:
            said = constraint._not_finite(state)
            if said:
                raise ModelError(said)
        of_mobility = np.repeat(state._field("together"), state._tree.num_u)
        driven = np.flatnonzero((of_mobility == DRIVEN) & ~np.isfinite(record.known_u_dot[:, 0]))
        if len(driven):
            prescribing.check(self, state)
            b = int(np.searchsorted(state._tree.first_u, driven[0], side="right")) - 1
            raise ModelError(f"{matter._bodies[b]._driver!r} prescribes no finite accelerations at time {record.time[0, 0]}")
        for b in state._tree.quaternions:
            at = state._tree.first_q[b]
            if not state._q[at : at + 4].any():
                raise ModelError(
                    f"the quaternion of {matter._bodies[b]._name!r}, q[{at}] to q[{at + 3}], is zero and stands for no "
                    "orientation; (1, 0, 0, 0) is the identity's"
                )
        loose = np.flatnonzero(~np.isfinite(record.d_inverse[:, 0]) & (of_mobility >= 0))
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
        for force in self._forces():
            applied = (np.zeros((state._tree.nb, 2, 3)), np.zeros((len(matter._particles[0]), 3)), np.zeros(state._tree.nu))
            if not force.is_disabled(state) and (force._implementation is None or state._stage >= Stage.VELOCITY):
                force._add_force(state, *applied)
            if not all(np.isfinite(part).all() for part in applied):
                raise ModelError(f"accelerations are not finite: {force!r} gives a force that is infinite or not a number")
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
        total = forces_switch.of_all(state, forces_switch.ENERGY).sum()
        return float(total + sum(force.calc_potential_energy_contribution(state) for force in self._custom_forces))

    def calc_energy(self, state: State) -> float:
        """Kinetic and potential energy. Needs VELOCITY."""
        if not self._custom_forces and state._valid & _realize.VELOCITIES:
            state._check_owner(self, "calc_energy")
            out = np.empty((2, 1))
            momentum.calc_energy(state._block, out)
            return float(out[0, 0] + out[1, 0])
        return self.calc_kinetic_energy(state) + self.calc_potential_energy(state)

    def calc_power_dissipation(self, state: State) -> float:
        """The power that all enabled forces turn into heat, mass*length^2/time^3. Needs VELOCITY."""
        state._check_owner(self, "calc_power_dissipation")
        return float(sum(forces.calc_power_dissipation(state) for forces in self._force_subsystems))

    # ------------------------------------------------------------------------------------------ prescribed motion

    def prescribe(self, state: State, stage: Stage | None = None) -> bool:
        """Give q and u the values that locks and prescribed motions say, at the state's time. Needs MODEL.

        Realizing a state never does that; integrators do it at every evaluation. What it needs is realized: TIME for q,
        POSITION for u.

        Parameters
        ----------
        state : State
        stage : Stage, optional
            ``POSITION`` sets q, ``VELOCITY`` sets u; both unless given.

        Returns
        -------
        bool
            Whether anything changed. The state then falls to TIME, or to POSITION.

        Raises
        ------
        ValueError
            If *stage* is another.
        StageError
            If the state is below MODEL.
        ModelError
            If a motion cannot be followed, or is not finite. The state's variables are then as they were.
        """
        if stage is not None and stage not in (Stage.POSITION, Stage.VELOCITY):
            raise ValueError(f"prescribe takes Stage.POSITION, which sets q, or Stage.VELOCITY, which sets u, not {stage!r}")
        self.realize(state, Stage.TIME)  # custom motions are asked for their level by that
        if not state._has_known:
            return False
        q, u = state._q.copy(), state._u.copy()
        try:
            changed = False
            if stage is not Stage.VELOCITY:
                prescribing.set_q(self, state)
                if not np.array_equal(q, state._q, equal_nan=True):
                    changed = True
                    state._invalidate_q()
            if stage is not Stage.POSITION:
                self.realize(state, Stage.POSITION)
                prescribing.set_u(self, state)
                if not np.array_equal(u, state._u, equal_nan=True):
                    changed = True
                    state._invalidate_u()
        except BaseException:
            if not (np.array_equal(q, state._q, equal_nan=True) and np.array_equal(u, state._u, equal_nan=True)):
                state._q[:], state._u[:] = q, u
                state._invalidate_q()
            raise
        return changed

    # ------------------------------------------------------------------------------------------ projection

    def project_q(self, state: State, accuracy: float = 1e-8) -> bool:
        """Bring q to its manifold: quaternions to length 1, and position errors within *accuracy*. Needs MODEL.

        The least change of q does it, a change counted as the speeds that bring it about, each times its weight
        (`State.u_weights`). What locks and motions prescribe stays as it is. The state is realized to POSITION where there are
        constraints.

        Parameters
        ----------
        state : State
        accuracy : float
            The largest position error left, times its weight (`State.q_err_weights`). Quaternions are normalized to rounding.

        Returns
        -------
        bool
            Whether q changed.

        Raises
        ------
        ConvergenceError
            If that cannot be reached; q is then as it was.
        """
        state._check_owner(self, "project_q")
        _check_accuracy(accuracy)
        before = state._q.copy()
        changed = self._normalize_quaternions(state)
        if state._num_matter_errors("u_err") and state._tree.counts["nc"]:
            try:
                self.realize(state, Stage.POSITION)
                changed = projecting.project(self, state, projecting.PROJECT_Q, accuracy) or changed
            except BaseException:
                state._q[:] = before
                state._invalidate_q()
                raise
            self.realize(state, Stage.POSITION)
        return changed

    @staticmethod
    def _normalize_quaternions(state: State) -> bool:
        before = state._q.copy()
        rates.normalize_quaternions(state._block)
        changed = not np.array_equal(before, state._q)
        if changed:
            state._invalidate_q()
        return changed

    def project_u(self, state: State, accuracy: float = 1e-8) -> bool:
        """Bring u to its manifold: velocity errors within *accuracy*, by the least change. Needs MODEL.

        Arguments and results are as those of `project_q`. The state is realized to VELOCITY where there are constraints.
        """
        state._check_owner(self, "project_u")
        _check_accuracy(accuracy)
        if not state._num_matter_errors("u_err"):
            return False
        self.realize(state, Stage.POSITION)
        self.realize(state, Stage.VELOCITY)
        changed = projecting.project(self, state, projecting.PROJECT_U, accuracy)
        self.realize(state, Stage.VELOCITY)
        return changed

    def project(self, state: State, accuracy: float = 1e-8) -> bool:
        """Bring q and u to what is prescribed and to their manifolds: constraints and quaternions. Needs MODEL.

        Parameters
        ----------
        state : State
        accuracy : float
            The largest error of positions and of velocities left; quaternions are normalized to rounding.

        Returns
        -------
        bool
            Whether anything changed.

        Raises
        ------
        ConvergenceError
            If that cannot be reached. The state's variables are then as they were.
        """
        _check_accuracy(accuracy)
        q, u = state._q.copy(), state._u.copy()
        known = state._has_known or bool(self._custom_motions)
        changed = False
        try:
            if known:
                changed = self.prescribe(state, Stage.POSITION)
            changed = self.project_q(state, accuracy) or changed
            if known:
                changed = self.prescribe(state, Stage.VELOCITY) or changed
            changed = self.project_u(state, accuracy) or changed
        except BaseException:
            state._q[:], state._u[:] = q, u
            state._invalidate_q()
            raise
        return changed

    def diagnose_constraints(self, state: State, tolerance: float = 1e-6) -> Diagnosis:
        """Look into the constraints at a state: what is redundant, contradictory, nearly singular, and what is left free.

        Parameters
        ----------
        state : State
            At MODEL or above, its positions finite; it is left as it is. What is found holds at its q and u.
        tolerance : float
            How far errors of dependent equations may be apart before they count as a contradiction.

        Returns
        -------
        Diagnosis
            Printing it gives a table.

        Notes
        -----
        It costs a mass matrix and a few decompositions, some milliseconds for a hundred mobilities.

        Examples
        --------
        >>> import mobod as mb
        >>> system = mb.MultibodySystem()
        >>> matter = mb.SimbodyMatterSubsystem(system)
        >>> body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
        >>> pin = mb.mobilizer.Pin(matter.ground, body, name="arm")
        >>> rod = mb.constraint.Rod(matter.ground, (2, 0, 0), pin, (0, 1, 0), 2.0)
        >>> print(system.diagnose_constraints(system.realize_topology()))
        1 constraint equations, 1 of them independent; 0 free motions remain
          constraint  ties          error  remarks
          rod_0       ground - arm  0.24   -
        """
        return diagnose(self, state, tolerance)

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


def _stage_of(stage: Any) -> Stage:
    try:
        return Stage(stage)
    except ValueError:
        raise TypeError(f"realize takes a Stage such as mobod.Stage.POSITION, not {stage!r}") from None


def _refuse_change(state: State, stage: int, part: Any) -> None:
    """A hook has changed what the stages before its own depend on."""
    raise StageError(
        f"{part!r} has changed the state while it was being realized to Stage.{Stage(stage).name}, so that only "
        f"{state.stage.name} is left of it; a hook computes from the state and changes none of its variables. Change it "
        "between realizations, or in an event handler, or have a variable that updates itself "
        "(allocate_auto_update_discrete_variable)"
    )


def _check_accuracy(accuracy: float) -> None:
    if not accuracy > 0.0:
        raise ValueError(f"accuracy has to be positive, got {accuracy}")
