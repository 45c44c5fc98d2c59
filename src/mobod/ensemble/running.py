"""Realizing many states: in lanes on several threads, or one by one where Python takes part."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..algebra.record import LANES, in_each_lane
from ..errors import ConvergenceError, ModelError, StageError
from ..state import validity
from ..state.fields import PARAMETERS, Record
from ..state.state import State
from ..tree import realize as _realize
from ..value.checks import numbers, shaped
from ..value.stage import INSTANCE, Stage
from . import batch
from .failures import Failure
from .own_values import OwnValues
from .states import count_of
from .work_sharing import Task


class _Realizing(Task):
    """Realizing through a stage: again and again with the same arrays.

    Parameters
    ----------
    made_of : array
        The table of the states' own parameters; with another one it is of no use.
    records, new_record
        One a thread, and what makes one.
    sweeps : tuple
        The address of the sweeps, and what they are asked for.
    accelerations : bool
        Whether these are kept.
    data : tuple of arrays
        The variables, then the results.
    """

    def __init__(
        self,
        made_of: npt.NDArray[np.int64],
        records: list[Record],
        new_record: Callable[[], Record],
        sweeps: tuple[int, int],
        accelerations: bool,
        data: tuple[Any, ...],
    ) -> None:
        self.made_of, self.records, self.new_record = made_of, records, new_record
        given = *sweeps, accelerations, made_of, *data
        #: Of each thread: the kernel with all its arguments but the counters.
        kernels: dict[int, Callable[..., Any]] = {}

        def work(worker: int, chunks: Any, calls: Any) -> None:
            kernel = kernels.get(worker)
            if kernel is None:
                first = records[worker].block, *given
                code = batch.realize_groups.code_for(*first, worker, chunks, calls)
                kernel = kernels[worker] = functools.partial(code, *first)
            kernel(worker, chunks, calls)

        super().__init__(work, len(data[0]) // LANES)


#: So many failures are explained by realizing the state once more alone, which finds what was at fault; what others say.
_EXPLAINED, _NOT_FINITE = 8, "its accelerations are not finite"


class Running(OwnValues):
    """The part of `Ensemble` that realizes."""

    __slots__ = ()

    def realize(
        self,
        stage: Stage = Stage.ACCELERATION,
        *,
        q: npt.ArrayLike | None = None,
        u: npt.ArrayLike | None = None,
        mobility_forces: npt.ArrayLike | None = None,
        threads: int | None = None,
    ) -> None:
        """Realize all states through *stage*, ACCELERATION unless given.

        Parameters
        ----------
        stage : Stage
        q : (n, nq) array_like, optional
            Assigned first.
        u : (n, nu) array_like, optional
        mobility_forces : (n, nu) array_like, optional
            Generalized forces of this call alone, beside those of the elements, or ``(nu,)`` for all states: accelerations and
            what follows from them are those with them until something changes, or the next such call. A state with one that is
            not finite fails.
        threads : int, optional
            In place of the ensemble's own number.

        Raises
        ------
        TopologyError
            If the system was changed after the ensemble was made.
        ValueError, TypeError
            If *q*, *u* or *mobility_forces* has another shape, or holds no numbers, or the stage is one below ACCELERATION,
            which these forces do not change; nothing is then assigned.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.stage.name, ensemble.u_dot.shape
        ('ACCELERATION', (10, 2))
        """
        self._template.check_owner(self._system, "Ensemble.realize")
        if type(stage) is not Stage:
            if not isinstance(stage, int):
                raise TypeError(f"realize takes a Stage such as mobod.Stage.POSITION, not {stage!r}")
            stage = Stage(stage)
        wanted = stage.value  # stages themselves take three times as long to compare and to look up
        if q is not None or u is not None or mobility_forces is not None:
            if mobility_forces is not None and wanted < Stage.ACCELERATION:
                raise ValueError(f"mobility_forces change accelerations alone; realize to ACCELERATION, not {stage.name}")
            self._take(q, u, mobility_forces)
        if self._stage >= wanted:
            return
        number = self._threads if threads is None or self._system.calls_back else count_of(threads)
        in_lanes = not self._system.calls_with_states
        if wanted > INSTANCE or not in_lanes:
            self._reasons = None
        if in_lanes and wanted > INSTANCE:
            task = self._tasks_of_realizing.get(-wanted if len(self._forces) else wanted)
            if task is None or task.made_of is not self._own_places:
                task = self._task_of_realizing(stage)
            if len(task.records) < number:
                self._records(number, task.records, task.new_record)
            self._helpers.share(task, number)
        if self._overrides or not in_lanes:
            self._realize_one_by_one(stage)
        self._stage = wanted

    def _take(
        self, q: npt.ArrayLike | None = None, u: npt.ArrayLike | None = None, mobility_forces: npt.ArrayLike | None = None
    ) -> None:
        """Assign what a call has been given, after all of it has been looked at."""
        forces = None if mobility_forces is None else self._forces_of_each(mobility_forces)
        if u is not None:
            u = shaped("u", u, (self._n, self._u.shape[1]))
        if q is not None:
            self.q = q
        if u is not None:
            self.u = u
        if forces is not None:
            self._changed(Stage.DYNAMICS)
            if not len(self._forces_kept):
                self._forces_kept = np.zeros(self._u_dot.shape)
            self._forces_kept[: self._n] = forces
            self._forces = self._forces_kept

    def _forces_of_each(self, forces: npt.ArrayLike) -> Array:
        """Mobility forces ``(n, nu)``, checked."""
        shape = self._n, self._u.shape[1]
        if type(forces) is not np.ndarray or forces.dtype != np.float64:
            forces = numbers("mobility_forces", forces)
        if forces.shape == shape[1:]:
            forces = np.broadcast_to(forces, shape)
        if forces.shape != shape:
            raise ValueError(f"mobility_forces has shape {shape}, a row a state, got {forces.shape}")
        return forces if forces.flags.c_contiguous and forces.flags.writeable else np.array(forces, order="C")

    def _realize_alone(self, state: State, i: int, stage: Stage) -> None:
        """Realize state number *i* for itself, with the forces beside the elements'."""
        with_forces = len(self._forces) and stage >= Stage.ACCELERATION
        self._system.realize(state, stage, mobility_forces=self._forces[i] if with_forces else None)

    def _alone(self) -> Collection[int]:
        """States that are computed for themselves: all of a system with parts in Python, else those with overrides."""
        return range(self._n) if self._system.calls_with_states else sorted(self._overrides)

    def _sound_alone(self) -> list[int]:
        """Those of them that have not failed."""
        failed = self.failed
        return [i for i in self._alone() if not failed[i]]

    def _task_of_realizing(self, stage: Stage) -> _Realizing:
        """The task of realizing, shared among threads; it is kept until states get parameters of their own."""
        address = _realize.advance.address(in_lanes=True, own_parameters=bool(self._own))
        wanted, new_record = self._wanted(stage), self._new_record()
        data = *self._variables, self._forces, self._u_dot, self._particle_accelerations, self._failed
        task = _Realizing(self._own_places, self._workers, new_record, (address, wanted), stage >= Stage.ACCELERATION, data)
        self._tasks_of_realizing[-stage.value if len(self._forces) else stage.value] = task
        return task

    def _wanted(self, stage: int) -> int:
        """The results wanted for a stage, of the reduced tree: no forces where gravity alone is Ground's acceleration."""
        wanted = validity.NEEDED[stage]
        if self._reduced.ground_acceleration is not None and not self._own:
            wanted &= ~validity.FORCES
        return wanted

    def _new_record(self) -> Callable[[], Record]:
        """The maker of a record of the reduced tree, or of the whole one where states have parameters of their own."""
        return self._whole_record if self._own else self._reduced.new_record

    def _share_out(self, kind: Hashable, work: Callable[[Record, tuple[Any, ...]], None], reduced: bool = False) -> None:
        """Divide all groups among threads: ``work(record, share)``, each with its record, of the whole or *reduced* tree."""
        if reduced:
            records = self._records(self._threads, self._workers, self._new_record())
        else:
            records = self._records(self._threads, self._whole_workers, self._whole_record)

        def with_record(worker: int, *counters: Any) -> None:
            work(records[worker], (worker, *counters))

        self._helpers.share(Task(with_record, self._groups, paces=self._helpers.paces_of(kind)), self._threads)

    def _records(self, threads: int, records: list[Record], new_record: Callable[[], Record]) -> list[Record]:
        """These records, one a thread: new ones are added as needed."""
        while len(records) < min(threads, self._groups):
            records.append(new_record())
        return records

    def _whole_record(self, like: State | None = None) -> Record:
        """A record of the tree without lumped welds, for results of single bodies: *like* the template unless given."""
        own = bool(self._own)
        state = self._template if like is None else like
        more_z = len(state.z_values) - state.tree.nz  # of measures that integrate
        record = state.tree.new_record(in_lanes=True, own_parameters=own, more=(0, 0, more_z))
        for name, array in state.own_fields.items():
            record.share(name, in_each_lane(array) if own and name in PARAMETERS else array)
        return record

    def _each_alone(self, which: Iterable[int], stage: Stage) -> Iterator[tuple[int, State | None]]:
        """Yield states realized each for itself, until the next one, and None for those that cannot be."""
        for i in which:
            state = self._lend(i)
            try:
                self._realize_alone(state, i, stage)
            except (ModelError, ConvergenceError):
                yield i, None
            else:
                yield i, state

    def _collect(
        self, kind: Hashable, stage: Stage, columns: int, kernel: Any, asked: tuple[Any, ...], alone: Callable[[State], Any]
    ) -> Array:
        """A result of all states that `realize` does not keep, a flat row each and up to a multiple of eight of them.

        It is recomputed by a kernel of `batch` or its like, which is told what is *asked*, and by ``alone(state)`` of states
        that are computed for themselves; NaN where a system with parts in Python has failed.
        """
        in_lanes = not self._system.calls_with_states
        found = np.full((self._groups * LANES, columns), 0.0 if in_lanes else np.nan)
        if in_lanes:
            address = _realize.advance.address(in_lanes=True, own_parameters=bool(self._own))
            wanted, data = validity.NEEDED[stage], self._given_states

            def work(record: Record, share: tuple[Any, ...]) -> None:
                kernel(record, address, wanted, share, *asked, data, found)

            self._share_out(kind, work)
        for i in self._sound_alone():
            state = self._state(i)
            self._realize_alone(state, i, stage)
            found[i] = np.ravel(alone(state))
        return found

    def _realize_one_by_one(self, stage: Stage) -> None:
        """Realize each state for itself where lanes cannot."""
        for i, state in self._each_alone(self._alone(), stage):
            self._failed[i] = state is None
            if state is None:
                self._u_dot[i] = self._particle_accelerations[i] = np.nan
            elif stage >= Stage.ACCELERATION:
                self._u_dot[i] = state.u_dot
                self._particle_accelerations[i] = state.record.particle_acceleration[:, 0]

    @property
    def failed(self) -> npt.NDArray[np.bool_]:
        """A mask of the states that are not finite ``(n,)``, as of the last `realize`."""
        return self._failed[: self._n, 0] != 0.0

    @property
    def failures(self) -> dict[int, Failure]:
        """Of each state that has `failed`, when and why, in words.

        Examples
        --------
        >>> import mobod as mb, numpy as np
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 4, state=state)
        >>> torques = np.zeros((4, 2))
        >>> torques[2, 1] = np.nan
        >>> ensemble.step(0.01, fixed_step_size=0.005, mobility_forces=torques)
        >>> for i, failure in ensemble.failures.items():
        ...     print(i, failure)
        2 at time 0: the force on mobility 1, of mobility_forces, is not finite
        """
        found: dict[int, Failure] = {}
        for i in np.flatnonzero(self.failed).tolist():
            variables = zip(("time", "q", "u", "z", "particles"), self._variables, strict=False)
            unsound = [name for name, values in variables if not np.isfinite(values[i]).all()]
            if unsound:
                reason = f"not every number of its {' and '.join(unsound)} is finite"
            elif self._reasons is None:
                reason = self._why_not_realized(i) if len(found) < _EXPLAINED else _NOT_FINITE
            else:
                reason = self._reasons[i]
            found[i] = Failure(float(self._time[i, 0]), reason)
        return found

    def _why_not_realized(self, i: int) -> str:
        """The part at fault, as realizing the state alone tells: a cable without a solution over an obstacle, say."""
        try:
            self._realize_alone(self._state(i), i, Stage.ACCELERATION)
        except (ModelError, ConvergenceError) as error:
            return str(error)
        return _NOT_FINITE

    def _need(self, asked: str, stage: Stage) -> None:
        if self._stage < stage:
            raise StageError(
                f"{asked} needs Stage.{stage.name}; this ensemble is at {self.stage.name}; "
                f"call ensemble.realize(Stage.{stage.name})"
            )
