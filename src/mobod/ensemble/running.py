"""Realizing many states: in lanes on several threads, or one by one where Python takes part."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import ConvergenceError, ModelError, StageError
from ..state import validity
from ..state.fields import PARAMETERS
from ..tree import realize as _realize
from ..tree.tree import in_each_lane
from ..value.stage import Stage
from . import batch
from .own_values import OwnValues
from .states import count_of
from .work_sharing import by_chunks

if TYPE_CHECKING:
    from ..state.fields import Record


class Running(OwnValues):
    """The part of `Ensemble` that realizes."""

    __slots__ = ()

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

        Examples
        --------
        >>> import numpy as np
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.q = np.linspace(0.0, 1.0, 20).reshape(10, 2)
        >>> ensemble.realize()
        >>> ensemble.stage.name, ensemble.u_dot.shape
        ('ACCELERATION', (10, 2))
        """
        self._template.check_owner(self._system, "Ensemble.realize")
        if self._stage >= stage:
            return
        wanted = validity.NEEDED[Stage(stage)]
        accelerations = stage >= Stage.ACCELERATION
        if self._system.is_interpreted:
            self._realize_one_by_one(Stage(stage))
        elif wanted:
            address = _realize.advance.address(in_lanes=True, own_parameters=bool(self._own))
            results = self._u_dot, self._particle_accelerations, self._failed
            data = self._own_places, *self._variables, *results
            if self._reduced.ground_acceleration is not None and not self._own:
                wanted &= ~validity.FORCES

            number = self._threads if threads is None else count_of(threads)
            records = self._records(number, self._workers, self._whole_record if self._own else self._reduced.new_record)

            def work(worker: int, chunks: Any, calls: Any) -> None:
                batch.realize_groups(records[worker], address, wanted, worker, chunks, calls, accelerations, *data)

            self._helpers.share(("realize", wanted), work, self._groups, number)
        self._stage = Stage(stage)

    def _share_out(
        self,
        kind: Hashable,
        work: Callable[[Record, int, int], None],
        threads: int,
        records: list[Record],
        new_record: Callable[[], Record],
    ) -> None:
        """Give each thread groups to work on, and one of *records*."""
        self._records(threads, records, new_record)
        self._helpers.share(
            kind, by_chunks(lambda worker, begin, end: work(records[worker], begin, end)), self._groups, threads
        )

    def _records(self, threads: int, records: list[Record], new_record: Callable[[], Record]) -> list[Record]:
        """These records, one a thread: new ones are added as needed."""
        while len(records) < min(threads, self._groups):
            records.append(new_record())
        return records

    def _whole_record(self) -> Record:
        """A record of the tree without lumped welds, for results of single bodies."""
        own = bool(self._own)
        state = self._template
        more_z = len(state.z_values) - state.tree.nz  # of measures that integrate
        record = state.tree.new_record(in_lanes=True, own_parameters=own, more=(0, 0, more_z))
        for name, array in state.own_fields.items():
            record.share(name, in_each_lane(array) if own and name in PARAMETERS else array)
        return record

    def _realize_one_by_one(self, stage: Stage) -> None:
        """A system with Python's own parts: each state for itself."""
        self._failed[:] = 0.0
        for i in range(self._n):
            state = self._state(i)
            try:
                self._system.realize(state, stage)
            except (ModelError, ConvergenceError):
                self._failed[i] = 1.0
                self._u_dot[i] = self._particle_accelerations[i] = np.nan
                continue
            if stage >= Stage.ACCELERATION:
                self._u_dot[i] = state.u_dot
                self._particle_accelerations[i] = state.record.particle_acceleration[:, 0]

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
