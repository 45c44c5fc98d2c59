"""Ensemble: one model, many states, realized eight at a time on each thread."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .algebra.record import LANES
from .errors import MobodError, StageError
from .stage import Stage
from .system import _WANTED
from .tree import batch
from .tree import realize as _realize
from .tree.reduced import ReducedTree

if TYPE_CHECKING:
    from .algebra.record import Record
    from .state import State
    from .system import MultibodySystem

Array = npt.NDArray[np.float64]


class Ensemble:
    """Many states of one system, all with the same modelling choices, parameters and size.

    Parameters
    ----------
    system : MultibodySystem
        Its topology is realized if it is not yet.
    n : int
        How many states; any number, though a multiple of eight wastes nothing.
    state : State, optional
        Where the states start, and whose modelling and Instance choices (angles, locks, parameters, disabled forces) all share;
        the system's default state unless given.
    threads : int
        On how many threads `realize` works.

    Attributes
    ----------
    failed : (n,) bool array
        Which states have values that are not finite, after `realize`. They do not stop the others.

    Examples
    --------
    >>> import mobod as mb, numpy as np
    >>> system, state = mb.examples.double_pendulum.build()
    >>> ensemble = mb.Ensemble(system, 100, state=state)
    >>> ensemble.q = np.linspace(0, 1, 200).reshape(100, 2)
    >>> ensemble.realize(mb.Stage.ACCELERATION)
    >>> ensemble.u_dot.shape
    (100, 2)
    """

    def __init__(self, system: MultibodySystem, n: int, *, state: State | None = None, threads: int = 1) -> None:
        if int(n) != n or n < 1:
            raise ValueError(f"an ensemble has 1 state or more, got n = {n}")
        if state is None:
            state = system.get_default_state() if system.system_topology_has_been_realized() else system.realize_topology()
        state._check_owner(system, "Ensemble")
        if state.stage < Stage.MODEL:
            raise StageError("an ensemble needs a state at Stage.MODEL; call system.realize_model(state)")
        self._system, self._n = system, int(n)
        self._template = state.copy()
        self._version = system._topology_version
        self._threads = _count(threads)
        tree = self._template._tree
        self._groups = -(-self._n // LANES)
        padded = self._groups * LANES
        self._time = np.full((padded, 1), state.time)
        self._q, self._u, self._z = (np.repeat(part[None], padded, axis=0) for part in (state.q, state.u, state.z))
        self._u_dot, self._failed = np.zeros((padded, tree.nu)), np.zeros((padded, 1))
        self._reduced = ReducedTree(tree, self._template._field)
        #: One record a thread: of the reduced tree, and of the whole one.
        self._workers: list[Record] = []
        self._whole_workers: list[Record] = []
        self._stage = Stage.MODEL
        self._results: dict[int, Array] = {}

    def __repr__(self) -> str:
        return f"<Ensemble of {self._n} states of {self._system.name!r} at {self._stage.name}>"

    def __len__(self) -> int:
        return self._n

    # ------------------------------------------------------------------------------------------ variables

    @property
    def stage(self) -> Stage:
        """How far the states have been realized."""
        return self._stage

    def _assign(self, name: str, target: Array, value: npt.ArrayLike, stage: Stage) -> None:
        array = np.asarray(value, dtype=np.float64)
        shape = (self._n,) if name == "time" else (self._n, target.shape[1])
        if array.shape != shape:
            raise ValueError(f"ensemble.{name} has shape {shape}, got {array.shape}")
        target[: self._n] = array.reshape(self._n, target.shape[1])
        self._stage = min(self._stage, stage)
        self._results = {}

    @property
    def time(self) -> Array:
        """Times ``(n,)``."""
        return _read_only(self._time[: self._n, 0])

    @time.setter
    def time(self, value: npt.ArrayLike) -> None:
        self._assign("time", self._time, value, Stage.INSTANCE)

    @property
    def q(self) -> Array:
        """Coordinates ``(n, nq)``."""
        return _read_only(self._q[: self._n])

    @q.setter
    def q(self, value: npt.ArrayLike) -> None:
        self._assign("q", self._q, value, Stage.TIME)

    @property
    def u(self) -> Array:
        """Speeds ``(n, nu)``."""
        return _read_only(self._u[: self._n])

    @u.setter
    def u(self, value: npt.ArrayLike) -> None:
        self._assign("u", self._u, value, Stage.POSITION)

    @property
    def z(self) -> Array:
        """Auxiliary variables ``(n, nz)``."""
        return _read_only(self._z[: self._n])

    @z.setter
    def z(self, value: npt.ArrayLike) -> None:
        self._assign("z", self._z, value, Stage.VELOCITY)

    # ------------------------------------------------------------------------------------------ realization

    def realize(self, stage: Stage = Stage.ACCELERATION, *, threads: int | None = None) -> None:
        """Realize all states through *stage*, ACCELERATION unless given.

        Parameters
        ----------
        stage : Stage
        threads : int, optional
            In place of the ensemble's own number.

        Raises
        ------
        TopologyError
            If the system was changed after the ensemble was made.
        """
        self._template._check_owner(self._system, "Ensemble.realize")
        if self._stage >= stage:
            return
        wanted = _WANTED.get(Stage(stage), 0)
        accelerations = stage >= Stage.ACCELERATION
        if self._system._is_interpreted:
            self._realize_one_by_one(Stage(stage))
        elif wanted:
            address = _realize.advance.address(in_lanes=True)
            data = self._time, self._q, self._u, self._z, self._u_dot, self._failed
            if self._reduced.ground_acceleration is not None:
                wanted &= ~_realize.FORCES

            def work(record: Record, begin: int, end: int) -> None:
                batch.realize_groups(record, address, wanted, begin, end, accelerations, *data)

            self._share_out(
                work, self._threads if threads is None else _count(threads), self._workers, self._reduced.new_record
            )
        self._stage = Stage(stage)

    def _share_out(
        self, work: Callable[[Record, int, int], None], threads: int, records: list[Record], new_record: Callable[[], Record]
    ) -> None:
        """Give each thread a run of groups, and one of *records*, to which new ones are added as needed."""
        threads = min(threads, self._groups)
        while len(records) < threads:
            records.append(new_record())
        if threads == 1:
            work(records[0], 0, self._groups)
            return
        bounds = [self._groups * k // threads for k in range(threads + 1)]
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, records[:threads], bounds[:-1], bounds[1:]))

    def _whole_record(self) -> Record:
        """A record of the whole tree, for results that tell bodies apart."""
        record = self._template._tree.new_record(in_lanes=True)
        for name, array in self._template._own.items():
            record.share(name, array)
        return record

    def _realize_one_by_one(self, stage: Stage) -> None:
        """A system with Python's own parts: each state for itself."""
        self._failed[:] = 0.0
        for i in range(self._n):
            state = self._state(i)
            try:
                self._system.realize(state, stage)
            except MobodError:
                self._failed[i] = 1.0
                self._u_dot[i] = np.nan
                continue
            if stage >= Stage.ACCELERATION:
                self._u_dot[i] = state.u_dot

    def _state(self, i: int) -> State:
        state = self._template.copy()
        state.time, state.q, state.u, state.z = self._time[i, 0], self._q[i], self._u[i], self._z[i]
        return state

    def get_state(self, i: int) -> State:
        """State number *i* as a `State` of its own, not realized."""
        if not -self._n <= i < self._n:
            raise IndexError(f"the ensemble has {self._n} states; there is no number {i}")
        return self._state(i % self._n)

    # ------------------------------------------------------------------------------------------ results

    @property
    def failed(self) -> npt.NDArray[np.bool_]:
        """Which states are not finite ``(n,)``, as of the last `realize`."""
        return self._failed[: self._n, 0] != 0.0

    def _need(self, asked: str, stage: Stage) -> None:
        if self._stage < stage:
            raise StageError(
                f"{asked} needs Stage.{stage.name}; this ensemble is at {self._stage.name}; "
                f"call ensemble.realize(Stage.{stage.name})"
            )

    def _collected(self, asked: str, stage: Stage, what: int, columns: int) -> Array:
        """A result that `realize` does not keep for every state: computed once more when it is first asked for."""
        self._need(asked, stage)
        found = self._results.get(what)
        if found is None:
            found = np.zeros((self._groups * LANES, columns))
            if self._system._is_interpreted:
                self._collect_one_by_one(what, stage, found)
            else:
                address, wanted = _realize.advance.address(in_lanes=True), _WANTED[stage]
                data = self._time, self._q, self._u, self._z

                def work(record: Record, begin: int, end: int) -> None:
                    batch.collect(record, address, wanted, begin, end, what, *data, found)

                self._share_out(work, self._threads, self._whole_workers, self._whole_record)
            self._results[what] = found
        return _read_only(found[: self._n])

    def _collect_one_by_one(self, what: int, stage: Stage, out: Array) -> None:
        for i in np.flatnonzero(~self.failed):
            state = self._state(int(i))
            self._system.realize(state, stage)
            record = state._record
            if what == batch.BODY_TRANSFORMS:
                X = out[i].reshape(-1, 4, 4)
                X[:, :3, :3], X[:, :3, 3] = record.R_GB.reshape(-1, 3, 3), record.p_GB
            else:
                fields = {
                    batch.Q_DOT: record.q_dot,
                    batch.Q_DOT_DOT: record.q_dot_dot,
                    batch.BODY_VELOCITIES: record.V_GB,
                    batch.BODY_ACCELERATIONS: record.A_GB,
                }
                out[i] = fields[what].ravel()

    @property
    def u_dot(self) -> Array:
        """Accelerations ``(n, nu)``; NaN or infinite where `failed`. Needs ACCELERATION."""
        self._need("u_dot", Stage.ACCELERATION)
        return _read_only(self._u_dot[: self._n])

    @property
    def q_dot(self) -> Array:
        """Rates of q ``(n, nq)``. Needs VELOCITY."""
        return self._collected("q_dot", Stage.VELOCITY, batch.Q_DOT, self._q.shape[1])

    @property
    def q_dot_dot(self) -> Array:
        """Second rates of q ``(n, nq)``. Needs ACCELERATION."""
        return self._collected("q_dot_dot", Stage.ACCELERATION, batch.Q_DOT_DOT, self._q.shape[1])

    @property
    def z_dot(self) -> Array:
        """Rates of z ``(n, nz)``. Needs DYNAMICS."""
        self._need("z_dot", Stage.DYNAMICS)
        return np.zeros((self._n, self._z.shape[1]))

    @property
    def body_transforms(self) -> Array:
        """X_GB of every body ``(n, nb, 4, 4)``. Needs POSITION."""
        nb = self._template._tree.nb
        flat = self._collected("body_transforms", Stage.POSITION, batch.BODY_TRANSFORMS, 16 * nb)
        X = flat.reshape(self._n, nb, 4, 4).copy()
        X[:, :, 3, 3] = 1.0
        return X

    @property
    def body_velocities(self) -> Array:
        """V_GB of every body ``(n, nb, 2, 3)``. Needs VELOCITY."""
        nb = self._template._tree.nb
        flat = self._collected("body_velocities", Stage.VELOCITY, batch.BODY_VELOCITIES, 6 * nb)
        return flat.reshape(self._n, nb, 2, 3)

    @property
    def body_accelerations(self) -> Array:
        """A_GB of every body ``(n, nb, 2, 3)``. Needs ACCELERATION."""
        nb = self._template._tree.nb
        flat = self._collected("body_accelerations", Stage.ACCELERATION, batch.BODY_ACCELERATIONS, 6 * nb)
        return flat.reshape(self._n, nb, 2, 3)


def _count(threads: int) -> int:
    if int(threads) != threads or threads < 1:
        raise ValueError(f"threads has to be 1 or more, got {threads}")
    return int(threads)


def _read_only(array: Array) -> Array:
    view = array.view()
    view.flags.writeable = False
    return view
