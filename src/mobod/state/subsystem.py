"""Subsystem: a part of a system that takes part in realizing its states."""

from __future__ import annotations

import difflib
import math
import warnings
from typing import TYPE_CHECKING, Any

from .._version import __version__
from ..errors import ModelError, TopologyError
from ..value import checks
from ..value.stage import Stage
from .access import StateAccess
from .trigger_info import TriggerInfo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..value.annotations import Measure, MultibodySystem
    from .cause import Cause
    from .state import State

#: The hooks' names by the stage they belong to.
HOOKS = {stage: f"realize_{stage.name.lower()}" for stage in Stage if stage > Stage.EMPTY}


def warn_of_misspelt_hooks(kind: type, what: str, stacklevel: int) -> None:
    """Warn of methods of the class *kind* that look like misspelt hooks and would never be called; *what* describes it."""
    above = kind.__mro__[1:]
    for name, value in vars(kind).items():
        if name.startswith(("realise_", "realize_")) and callable(value) and not any(name in vars(one) for one in above):
            near = difflib.get_close_matches(name.replace("realise_", "realize_"), HOOKS.values(), 1, 0.0)[0]
            warnings.warn(
                f"{kind.__qualname__}.{name} is no hook of a {what}, and nothing calls it; did you mean {near}? "
                "If it is a method of your own, give it a name that does not begin with realize_",
                UserWarning,
                stacklevel=stacklevel + 1,
            )


class Subsystem(StateAccess):
    """A part of a system with resources of its own in each state. Base class of the matter, the forces, and of yours.

    A subsystem of your own overrides those of the hooks ``realize_topology`` to ``realize_report`` that it needs:

    1. `realize_topology` allocates what the subsystem has in every state, `realize_model` what depends on choices made in
       the state, and both keep the indices that come back;
    2. the hook of a stage computes the subsystem's results of that stage. It can read, at VELOCITY, bodies' velocities and
       other subsystems' q, u and z, at DYNAMICS applied forces, at ACCELERATION udot;
    3. rates of its own variables are written by `upd_q_dot` at VELOCITY, `upd_z_dot` at DYNAMICS, `upd_u_dot` and
       `upd_q_dot_dot` at ACCELERATION; rates that are never written are zero. A hook writes all of them at each call: a rate,
       an error or a trigger that it leaves out keeps the value of the last realization;
    4. no hook changes what its stage depends on (time, q, u, discrete variables, ...), or realizes the state it is given:
       both are a `StageError`. Values change in `handle_events`, and between steps by variables that update themselves;
    5. a method of another name that begins with ``realize_`` or ``realise_`` is taken for a hook misspelt: a `UserWarning`.

    Events of its own: triggers that `allocate_event_triggers_by_stage` allocates and a hook writes are watched by a
    `TimeStepper`, and times that `calc_time_of_next_scheduled_event` and `calc_time_of_next_scheduled_report` tell are stopped
    at; `handle_events` and `report_events` are called for them.

    What differs from state to state belongs in the state, not in the object: any number of states may be realized.

    Parameters
    ----------
    system : MultibodySystem, optional
        The system to join; without one it is an orphan until adopted.
    name : str
        For messages, and for what it adds to a `Trajectory`.

    Examples
    --------
    A tank that runs empty through a hole, half of what is left every ln 2 units of time:

    >>> import mobod as mb
    >>> class Tank(mb.Subsystem):
    ...     def realize_topology(self, state):
    ...         self.level = self.allocate_z(state, [2.0])
    ...
    ...     def realize_dynamics(self, state):
    ...         self.upd_z_dot(state)[self.level] = -self.get_z(state)[self.level]
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> tank = Tank(system, "tank")
    >>> state = system.realize_topology()
    >>> trajectory = mb.simulate(system, state, 1.0, accuracy=1e-8)
    >>> round(float(trajectory.z[-1, 0]), 6)
    0.735759
    """

    INNER = frozenset(
        {"acting_measures", "find_acting_measures", "invalidate_topology", "own_measures", "subsystem_index", "tell"}
    )

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if not cls.__module__.startswith("mobod."):  # the package's own have more to realize, by these names
            warn_of_misspelt_hooks(cls, "Subsystem", stacklevel=2)

    def __init__(self, system: MultibodySystem | None = None, name: str = "subsystem") -> None:
        self._name = checks.name("subsystem", name)
        self.system: MultibodySystem | None = None
        self.subsystem_index = -1
        self.own_measures: list[Measure] = []
        self.acting_measures: list[Measure] = []  # those that compute or remember something as a run goes on
        if system is not None:
            if not hasattr(system, "adopt_subsystem"):
                raise TypeError(f"{type(self).__name__} is made for a MultibodySystem, not for {system!r}")
            system.adopt_subsystem(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._name!r}>"

    def get_name(self) -> str:
        """Its name, as given when it was made: for messages, and for its columns in a `Trajectory`."""
        return self._name

    def get_version(self) -> str:
        """The version of the package that defines it."""
        return __version__

    def is_in_system(self) -> bool:
        """True if it is part of a system, by its constructor or by `MultibodySystem.adopt_subsystem`."""
        return self.system is not None

    def is_in_same_system(self, other_subsystem: Subsystem) -> bool:
        """True if both are part of one system; False where one is in none."""
        other = checks.instance("other_subsystem of is_in_same_system", other_subsystem, Subsystem, "system.matter")
        return self.system is not None and other.system is self.system

    def get_system(self) -> MultibodySystem:
        """The system it is part of; `TopologyError` where there is none."""
        if self.system is None:
            raise TopologyError(f"{self!r} is in no system; call system.adopt_subsystem(it), or name one when making it")
        return self.system

    def upd_system(self) -> MultibodySystem:
        """The system it is part of; the same object as `get_system` gives."""
        return self.get_system()

    def get_my_subsystem_index(self) -> int:
        """Its place among the system's subsystems; `TopologyError` outside a system."""
        self.get_system()
        return self.subsystem_index

    def is_same_subsystem(self, other_subsystem: Subsystem) -> bool:
        """True if *other_subsystem* is this very one."""
        return checks.instance("other_subsystem of is_same_subsystem", other_subsystem, Subsystem, "system.matter") is self

    def subsystem_topology_has_been_realized(self) -> bool:
        """True if the system's topology is realized and nothing has changed since."""
        return self.system is not None and self.system.system_topology_has_been_realized()

    def invalidate_subsystem_topology_cache(self) -> None:
        """Say that something topological changed; the whole system's topology goes with it."""
        self.invalidate_topology()

    def invalidate_topology(self) -> None:
        """The system needs `realize_topology` again."""
        if self.system is not None:
            self.system.invalidate_topology()

    # ------------------------------------------------------------------------------------------ measures

    def adopt_measure(self, measure: Measure) -> int:
        """Make *measure* part of the subsystem; returns its index. Naming the subsystem when it is made does so.

        Raises
        ------
        TypeError
            If it is no measure.
        TopologyError
            If it is part of a subsystem already, or one of its operands is of another system.
        ModelError
            If a measure of this name is here already.
        """
        if not hasattr(measure, "get_subsystem_measure_index"):
            raise TypeError(f"adopt_measure takes a Measure, not {measure!r}")
        if measure.subsystem is not None:
            raise TopologyError(f"{measure!r} is part of {measure.subsystem!r} already")
        if measure.given_name is not None and measure.given_name in {other.name for other in self.own_measures}:
            raise ModelError(f"there is a measure {measure.name!r} in {self!r} already; names are unique")
        measure.check_sources(self)
        measure.subsystem, measure.index = self, len(self.own_measures)
        self.own_measures.append(measure)
        self.invalidate_topology()
        return measure.index

    def get_num_measures(self) -> int:
        """Number of measures that it has."""
        return len(self.own_measures)

    def get_measure(self, index: int) -> Measure:
        """One of its measures, by index; `IndexError` where there is none."""
        return checks.one_of(self.own_measures, index, self, "measures")

    def find_acting_measures(self) -> bool:
        """Find out which measures take part in realizing states; whether any does."""
        for measure in self.own_measures:
            measure.check_sources(self)  # once more, now that every subsystem is in its system
        self.acting_measures = [measure for measure in self.own_measures if measure.takes_part()]
        return bool(self.acting_measures)

    def tell(self, state: State, stage: Stage) -> None:
        """Call the hook of a stage, and then the measures, which may need what it has computed."""
        getattr(self, HOOKS[stage])(state)
        if stage == Stage.TOPOLOGY:
            for measure in self.own_measures:
                measure.allocate(state)
        else:
            for measure in self.acting_measures:
                measure.update(state, stage)

    # ------------------------------------------------------------------------------------------ hooks

    def realize_topology(self, state: State) -> None:
        """Allocate what the subsystem has in every state. Called for each state that the system makes; *state* is at EMPTY."""

    def realize_model(self, state: State) -> None:
        """Allocate what depends on modelling choices; called anew after each. *state* is at TOPOLOGY."""

    def realize_instance(self, state: State) -> None:
        """Allocate errors, event triggers and cache entries that depend on parameters. Called at INSTANCE."""

    def realize_time(self, state: State) -> None:
        """Compute what depends on time alone. Called at TIME."""

    def realize_position(self, state: State) -> None:
        """Compute what depends on q; write q errors. Called at POSITION: bodies have poses."""

    def realize_velocity(self, state: State) -> None:
        """Compute what depends on u; write rates of q and u errors. Called at VELOCITY: bodies have velocities."""

    def realize_dynamics(self, state: State) -> None:
        """Compute what depends on z; write rates of z. Called at DYNAMICS: forces have been applied."""

    def realize_acceleration(self, state: State) -> None:
        """Write rates of u, second rates of q, udot errors and multipliers. Called at ACCELERATION: bodies have udot."""

    def realize_report(self, state: State) -> None:
        """Compute what nothing else needs. Called at REPORT."""

    # ------------------------------------------------------------------------------------------ events

    def calc_event_trigger_info(self, state: State) -> Sequence[TriggerInfo]:
        """The changes of sign of its event triggers that are events, one entry a trigger: by stages, and within each in order.

        Unless overridden all are, with the trigger's number in that order for the event's. *state* is at INSTANCE or above.
        """
        resources = state.resources
        if resources is None:
            return []
        here = self.get_my_subsystem_index()
        count = sum(n for name, places in resources.slot_places.items() if not isinstance(name, str)
                    for subsystem, (_, n) in places.items() if subsystem == here)  # fmt: skip
        return [TriggerInfo(i) for i in range(count)]

    def calc_time_of_next_scheduled_event(self, state: State, include_current_time: bool) -> tuple[float, list[int]]:
        """Tell the time of its next scheduled events, and their numbers; infinity and none unless overridden.

        Parameters
        ----------
        state : State
            At ACCELERATION; not to be changed.
        include_current_time : bool
            Whether the state's own time is an answer: False once that time's events have been handled.
        """
        return math.inf, []

    def calc_time_of_next_scheduled_report(self, state: State, include_current_time: bool) -> tuple[float, list[int]]:
        """Tell the time of its next scheduled reports, and their numbers; as `calc_time_of_next_scheduled_event`."""
        return math.inf, []

    def handle_events(self, state: State, cause: Cause, event_ids: list[int], accuracy: float) -> bool | None:
        """Change *state*, realized to ACCELERATION, as events do; True ends the simulation.

        It is called for its triggers and scheduled times, at the beginning and the end of a simulation, and after each step
        where `MultibodySystem.set_has_time_advanced_events` says so. What holds for `EventHandler.handle_event` holds here.
        """
        return False

    def report_events(self, state: State, cause: Cause, event_ids: list[int]) -> None:
        """Look at the state when its events happen, before they are handled, or when it has asked for a report."""
