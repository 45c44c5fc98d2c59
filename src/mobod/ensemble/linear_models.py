"""Linear models of many states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from ..errors import ConvergenceError, ModelError
from ..linear.linear_system import LinearSystem
from ..state.state import State
from ..value.stage import Stage
from .derivatives import Derivatives


class LinearModels(Derivatives):
    """The part of `Ensemble` that linearizes."""

    __slots__ = ()

    def linearize(
        self,
        inputs: Sequence[Any] | None = None,
        outputs: Sequence[Any] | None = None,
        *,
        independent: bool = False,
        closed_loop: bool | Literal["sampled"] = False,
    ) -> LinearSystem:
        """Every state's linear model, as one whose A, B, C and D have a leading axis n. Needs ACCELERATION.

        State by state. A state that has failed has no numbers.

        Parameters
        ----------
        inputs, outputs, independent, closed_loop :
            As `mobod.linearize` takes them; independent states are those of the first one.

        Returns
        -------
        LinearSystem
            ``model[i]`` is that of state i.

        Raises
        ------
        StageError
            If the ensemble is below ACCELERATION.
        ModelError
            If *independent* and the states have no independent coordinates in common.
        ValueError, TypeError, IndexError
            If an input or an output is none.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> model = ensemble.linearize()
        >>> model.A.shape, model[3].B.shape
        ((10, 4, 4), (4, 2))
        """
        from ..linear.of_ensemble import linearize_each

        self._need("linearize", Stage.ACCELERATION)
        self._template.check_owner(self._system, "linearize")
        return linearize_each(self._system, self._n, self._each_realized(), inputs, outputs, independent, closed_loop)

    def _each_realized(self) -> Iterator[tuple[int, State]]:
        """The states that can be realized, with their numbers."""
        for i in range(self._n):
            state = self._state(i)
            try:
                self._system.realize(state)
            except (ModelError, ConvergenceError):
                continue
            yield i, state
