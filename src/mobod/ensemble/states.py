"""The variables of many states: time, q, u, z, and the particles'."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..algebra.record import LANES, aligned_zeros
from ..errors import StageError
from ..state.fields import Record
from ..state.resources import DiscreteVariable
from ..state.state import State
from ..state.storage import read_only
from ..system.system import MultibodySystem
from ..tree.lumped_welds import ReducedTree
from ..tree.sampling import member_places
from ..value.attributes import Sealed
from ..value.checks import instance, numbers
from ..value.stage import Stage
from .batch_memory import IN_ROWS
from .failures import Reasons
from .one_thread import Users
from .overrides import Overrides
from .work_sharing import Helpers


class States(Sealed):
    """The part of `Ensemble` that has the states' variables."""

    # slots refuse unknown attributes at no cost: realizing assigns a few of them each time
    __slots__ = (
        "__weakref__",
        "_begun",
        "_failed",
        "_forces",
        "_forces_kept",
        "_groups",
        "_helpers",
        "_lent",
        "_memory",
        "_n",
        "_of_subsystems",
        "_overrides",
        "_own",
        "_own_changes",
        "_own_places",
        "_particle_accelerations",
        "_q",
        "_reasons",
        "_reduced",
        "_results",
        "_schedule",
        "_scratch",
        "_shared",
        "_stage",
        "_system",
        "_tasks_of_realizing",
        "_template",
        "_threads",
        "_time",
        "_u",
        "_u_dot",
        "_version",
        "_whole_workers",
        "_workers",
        "_z",
        "particles",
        "threads_at_work",
    )
    __setattr__ = object.__setattr__

    def __init__(self, system: MultibodySystem, n: int, *, state: State | None = None, threads: int = 1) -> None:
        instance("system of an ensemble", system, MultibodySystem, "mobod.MultibodySystem()")
        if not _is_whole(n) or n < 1:
            raise ValueError(f"an ensemble has 1 state or more, got n = {n!r}")
        if state is not None and not isinstance(state, State):
            raise TypeError(f"the states of an ensemble start as a State, not as {state!r}")
        state = first_state(system, state, "Ensemble")
        self._system, self._n = system, int(n)
        system.get_matter_subsystem().check_particle_masses(state)
        self._template = state.copy()
        self._version = system.topology_version
        # Python runs one thread at a time, and users' parts may not be made for several
        self._threads, self._helpers = 1 if system.calls_back else count_of(threads), Helpers()
        tree = self._template.tree
        self._groups = -(-self._n // LANES)
        padded = self._groups * LANES
        self._time = np.full((padded, 1), state.time)
        self._q, self._u, self._z = (aligned_zeros(padded, len(y)) for y in (state.q_values, state.u_values, state.z_values))
        self._q[...], self._u[...], self._z[...] = state.q_values, state.u_values, state.z_values
        particles = np.concatenate([state.record.particle_location, state.record.particle_velocity])[:, 0]
        self.particles = np.repeat(particles[None], padded, axis=0)
        self._particle_accelerations = np.zeros((padded, 3 * tree.num_particles))
        #: Forces on the mobilities beside the elements', with which accelerations have been asked for; no rows of these.
        self._forces = self._forces_kept = np.zeros((0, len(state.u)))
        self._u_dot, self._failed = np.zeros((padded, len(state.u))), np.zeros((padded, 1))
        #: Why states have failed, if the last call went through time.
        self._reasons: Reasons | None = None
        #: What controllers, measures and friction that sticks remember, a row a state: see `batch_memory`.
        self._memory = np.repeat(memory_of(state.record)[None], padded, axis=0)
        for place in member_places(tree):
            self._memory[:, place] = np.arange(padded)
        #: The states' own parameter fields, ``(groups, rows, columns, 8)``, and the table with which kernels find them.
        self._own: dict[str, Array] = {}
        self._own_places = np.zeros((0, 3), np.int64)
        #: How often numbers of these have been changed in place.
        self._own_changes = 0
        #: Values of subsystems' discrete variables, one a state, by subsystem and index.
        self._of_subsystems: dict[tuple[int, int], list[Any]] = {}
        #: What handlers have changed beside the variables, by number of the state.
        self._overrides: dict[int, Overrides] = {}
        #: How often each was begun anew.
        self._begun = np.zeros(self._n, np.int64)
        #: The template at INSTANCE, with which states are compared that may have overrides.
        self._shared: State | None = None
        #: The state in which handlers and reporters see one after the other, and when they are due.
        self._lent: State | None = None
        self._schedule: Any = None
        self._reduced = reduced_tree_of(self._template)
        #: One record a thread: of the reduced tree, and of the whole one.
        self._workers: list[Record] = []
        self._whole_workers: list[Record] = []
        #: Of each thread the fields of lanes of its last operator, and their shapes.
        self._scratch: dict[int, tuple[Any, Any, list[Array]]] = {}
        #: What threads share to realize through a stage.
        self._tasks_of_realizing: dict[int, Any] = {}
        self._stage: int = Stage.MODEL
        self._results: dict[int, Array] = {}
        self.threads_at_work = Users()

    def __len__(self) -> int:
        return self._n

    @property
    def system(self) -> MultibodySystem:
        """The system that all are states of."""
        return self._system

    @property
    def stage(self) -> Stage:
        """Stage to which the states have been realized."""
        return Stage(self._stage)

    def _assign(self, name: str, target: Array, value: npt.ArrayLike, stage: Stage) -> None:
        array = numbers(f"ensemble.{name}", value)
        shape = (self._n,) if name == "time" else (self._n, target.shape[1])
        if array.shape != shape:
            raise ValueError(f"ensemble.{name} has shape {shape}, got {array.shape}")
        target[: self._n] = array.reshape(self._n, target.shape[1])
        if name == "time" and self._schedule is not None:
            self._schedule.set_stale()
        self._changed(stage)

    def _changed(self, stage: int) -> None:
        """Variables have changed: the ensemble is at *stage* at most."""
        if stage < self._stage:
            self._stage = stage
        if self._results:
            self._results = {}
        if len(self._forces):
            self._forces = self._forces[:0]

    @property
    def time(self) -> Array:
        """Times ``(n,)``."""
        return read_only(self._time[: self._n, 0])

    @time.setter
    def time(self, value: npt.ArrayLike) -> None:
        self._assign("time", self._time, value, Stage.INSTANCE)

    @property
    def q(self) -> Array:
        """Coordinates ``(n, nq)``."""
        return read_only(self._q[: self._n])

    @q.setter
    def q(self, value: npt.ArrayLike) -> None:
        self._assign("q", self._q, value, Stage.TIME)

    @property
    def u(self) -> Array:
        """Speeds ``(n, nu)``."""
        return read_only(self._u[: self._n])

    @u.setter
    def u(self, value: npt.ArrayLike) -> None:
        self._assign("u", self._u, value, Stage.POSITION)

    @property
    def z(self) -> Array:
        """Auxiliary variables ``(n, nz)``."""
        return read_only(self._z[: self._n])

    @z.setter
    def z(self, value: npt.ArrayLike) -> None:
        self._assign("z", self._z, value, Stage.VELOCITY)

    @property
    def particle_locations(self) -> Array:
        """Locations of the particles ``(n, np, 3)``, in Ground."""
        return self._particle_part(0)

    @particle_locations.setter
    def particle_locations(self, value: npt.ArrayLike) -> None:
        self._assign_particles("particle_locations", 0, value, Stage.TIME)

    @property
    def particle_velocities(self) -> Array:
        """Velocities of the particles ``(n, np, 3)``, in Ground."""
        return self._particle_part(1)

    @particle_velocities.setter
    def particle_velocities(self, value: npt.ArrayLike) -> None:
        self._assign_particles("particle_velocities", 1, value, Stage.POSITION)

    def _particle_part(self, which: int) -> Array:
        return read_only(self.particles[: self._n].reshape(self._n, 2, -1, 3)[:, which])

    def _assign_particles(self, name: str, which: int, value: npt.ArrayLike, stage: Stage) -> None:
        array = numbers(f"ensemble.{name}", value)
        target = self.particles[: self._n].reshape(self._n, 2, -1, 3)[:, which]
        if array.shape != target.shape:
            raise ValueError(f"ensemble.{name} has shape {target.shape}, got {array.shape}")
        target[...] = array
        self._changed(stage)

    @property
    def _given_states(self) -> tuple[Any, ...]:
        """Arrays of all states for kernels, see `batch.fill`."""
        return self._own_places, *self._variables, self._forces

    @property
    def _variables(self) -> tuple[Array, ...]:
        return self._time, self._q, self._u, self._z, self.particles, self._memory


def first_state(system: MultibodySystem, state: State | None, asked: str) -> State:
    """The state that all of an ensemble begin as: the one given, or the system's."""
    if state is None:
        state = system.get_default_state() if system.system_topology_has_been_realized() else system.realize_topology()
    state.check_owner(system, asked)
    if state.stage < Stage.MODEL:
        raise StageError("an ensemble needs a state at Stage.MODEL; call system.realize_model(state)")
    return state


def reduced_tree_of(state: State) -> ReducedTree:
    """The tree of a state, reduced, with room for the z of all its subsystems."""
    return ReducedTree(state.tree, state.field, len(state.z_values) - state.tree.nz)


def _remembered(record: Record) -> list[Array]:
    """The arrays that a row of `batch_memory` has, one after the other, those without numbers aside."""
    return [part for name in IN_ROWS if (part := getattr(record, name)).size]


def memory_of(record: Record) -> Array:
    """Memory of the state of a record, as a row of `batch_memory`."""
    return np.concatenate([np.zeros(0), *(part.ravel() for part in _remembered(record))])


def keep_memory_of(record: Record, row: Array) -> None:
    """Copy it into a row."""
    at = 0
    for part in _remembered(record):
        row[at : at + part.size] = part.reshape(-1)
        at += part.size


def has_memory_of(record: Record, row: Array) -> bool:
    """True if a row has just that, to the bit."""
    at = 0
    for part in _remembered(record):
        if part.tobytes() != row[at : at + part.size].tobytes():
            return False
        at += part.size
    return True


def remember(record: Record, row: Array) -> None:
    """Load a row of memory into the state of a record."""
    at = 0
    for name in IN_ROWS:
        part = getattr(record, name)
        part[...] = row[at : at + part.size].reshape(part.shape)
        at += part.size
    record.bristle_next[...] = record.bristle_memory


def self_updating(state: State) -> dict[tuple[int, int], DiscreteVariable]:
    """The discrete variables that update themselves, by subsystem and index: what measures in Python remember."""
    parts = () if state.resources is None else state.resources.parts.items()
    return {(i, k): variable for i, part in parts for k, variable in enumerate(part.variables) if variable.update >= 0}


def count_of(threads: int) -> int:
    """A number of threads, checked."""
    if not _is_whole(threads) or threads < 1:
        raise ValueError(f"threads has to be 1 or more, got {threads!r}")
    return int(threads)


def _is_whole(number: Any) -> bool:
    return isinstance(number, (int, float, np.integer, np.floating)) and type(number) is not bool and number == number // 1
