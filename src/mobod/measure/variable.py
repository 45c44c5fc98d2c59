"""Variable: a value that is kept in the state and changes only when it is set.

m = the discrete variable   m' = 0
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..function.base import UNLIMITED
from ..state.of_each import Present, Rows, of_each
from ..state.state import State
from ..value import rows
from ..value.checks import instance
from ..value.stage import Stage
from . import _store
from .base import Joined, Measure, NotCompiled, check_shape
from .program import Program


def _values_of_each(variable: Variable, template: State, values: Any, present: Present) -> Rows | None:
    array = rows.as_array(values)
    if array is None or array.shape[1:] != variable.default.shape or not np.isfinite(array).all():
        return None
    if variable.numbers_run is not None:
        numbers = array.reshape(len(array), -1, 1)
        return Rows([("measure_numbers", variable.numbers_run, numbers)], variable.get_invalidated_stage())
    return Rows([], variables={variable.place_in(template): list(array.copy())})


class Variable(Measure):
    """A parameter of each state: a set point, a gain. Needs MODEL.

    Parameters
    ----------
    invalidates : Stage
        The first stage whose results depend on it: a change invalidates that stage and those above.
    default_value : float or (n,) array_like
        What new states have.

    Raises
    ------
    ValueError
        If *invalidates* is below MODEL.
    ModelError
        If the value is not finite.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> target = mb.measure.Variable(system.matter, mb.Stage.DYNAMICS, 0.5)
    >>> state = system.realize_topology()
    >>> target.set_value(state, 0.75)
    >>> target.get_value(state)
    0.75
    """

    def __init__(self, subsystem: Joined, invalidates: Stage, default_value: npt.ArrayLike, *, name: str | None = None) -> None:
        self._invalidates = _variable_stage(invalidates)
        self._place = -1
        super().__init__(subsystem, check_shape(np.shape(default_value), "a Variable"), default=default_value, name=name)

    @of_each(_values_of_each)
    def set_value(self, state: State, value: npt.ArrayLike) -> None:
        """Change it in this state, which falls below the stage that it invalidates.

        Parameters
        ----------
        state : State
            At MODEL or above.
        value : float or (n,) array_like

        Raises
        ------
        StageError
            If the state is below MODEL.
        ValueError
            If the value has not the measure's size.
        ModelError
            If it is not finite.
        """
        run, system = self.numbers_run, self.get_subsystem().system
        if not (run and system and state.put_own(system.topology_token, "measure_numbers", value, run.start, self._shape)):
            self._need_model(state, "set_value")
            array = self._valued(value, "the value")
            if run is None:
                self._need_subsystem().upd_discrete_variable(state, self._place, array)
                return
            state.own_copy("measure_numbers")[run, 0] = array.ravel()
        state.invalidate_from(self._invalidates)

    def place_in(self, state: State) -> tuple[int, int]:
        """The subsystem's index and its own among that one's discrete variables, for a state of the system."""
        self._need_model(state, "set_value")
        return self._need_subsystem().subsystem_index, self._place

    def get_invalidated_stage(self) -> Stage:
        """The stage that a change invalidates."""
        return self._invalidates

    def set_invalidated_stage(self, invalidates: Stage) -> None:
        """Say what a change invalidates: a topological change; `ValueError` below MODEL."""
        self._invalidates = _variable_stage(invalidates)
        self.invalidate_topology()

    def allocate(self, state: State) -> None:
        if self.numbers_run is None:  # else it is a parameter of the record
            self._place = _store.allocate_variable(self._need_subsystem(), state, self._invalidates, self.default)

    def _calc(self, state: State, deriv_order: int) -> Any:
        if deriv_order:
            return self._given(np.zeros(self._shape))
        if self.numbers_run is not None:
            return self._given(state.field("measure_numbers")[self.numbers_run, 0].reshape(self._shape))
        return self._given(_store.part(self._need_subsystem(), state).variables[self._place].value)

    def count_derivatives(self, seen: frozenset[int]) -> int:
        return UNLIMITED

    def depends_on(self, deriv_order: int) -> Stage:
        return Stage.EMPTY if deriv_order else Stage.MODEL

    def write_value(self, program: Program, order: int) -> int:
        if self._invalidates <= Stage.MODEL:  # no parameter may
            raise NotCompiled(self)
        n = self.default.size
        return program.constant(0.0, n) if order else program.kept(program.parameters_of(self), n)


def _variable_stage(stage: Any) -> Stage:
    instance("what a Variable invalidates", stage, Stage, "Stage.DYNAMICS")
    if stage < Stage.MODEL:
        raise ValueError(f"a Variable can invalidate Stage.MODEL or one above, not {stage.name}")
    return stage
