"""Actuators: generalized forces on many mobilities, which a program sets in one call, as often as it likes.

f of each listed mobility   no potential energy
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..algebra.arrays import Array, ArrayLike
from ..compiling import generic
from ..state.of_each import Present, Rows, numbers_at, of_each
from ..state.state import State
from ..value.checks import array
from ..value.stage import Stage
from ._mobility import push
from .base import Force, check_forces, mobilities as listed
from .pools import number
from .routines import by_address
from .subsystem import GeneralForceSubsystem


@generic
def add(model: Any, i: int, x: int) -> None:
    """Integers: how many, then body and number among the body's of each mobility. Numbers: the efforts."""
    for k in range(model.force_integers[i]):
        at = i + 1 + 2 * k
        push(model, model.first_u[model.force_integers[at]] + model.force_integers[at + 1], number(model, x + k))


def _efforts_of_each(element: Any, template: State, values: Any, present: Present) -> Rows | None:
    field, first, count = element.number_place(template, "set_efforts")
    return numbers_at(field, first, values, count, Stage.DYNAMICS)


class Actuators(Force):
    """The motors of a mechanism: generalized forces on listed mobilities, to be set in the state all at once.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        What they join.
    mobilities : iterable of (MobilizedBody, int), MobilizedBody or str
        The mobilizer of each, and the number of the mobility among its own; or bodies that have one alone, or their names.
    disabled_by_default : bool
        Whether states start with them switched off.
    name : str, optional
        Unique among the forces; one is made where none is given.

    Raises
    ------
    TypeError, IndexError
        If one is no pair of a body and a number of one of its mobilities.
    TopologyError
        If a body belongs to another system.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> motors = mb.force.Actuators(system.get_subsystem(1), [(body, 0) for body in system.matter.bodies[1:]])
    >>> state = system.realize_topology()
    >>> system.realize(state)
    >>> motors.set_efforts(state, [2.0, -1.0])
    >>> state.stage.name
    'VELOCITY'
    """

    routine = by_address(add)
    holds_mobility_forces = True

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        mobilities: Iterable[Any],
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        check_forces(forces)
        integers = listed(forces, mobilities)
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self.default_integers = [len(integers) // 2, *integers]
        self.default_numbers = [0.0] * (len(integers) // 2)
        self._shape = (len(self.default_numbers),)

    def number_runs(self) -> Mapping[str, tuple[int, int]]:
        return {"efforts": (0, len(self.default_numbers))}

    def get_num_actuators(self) -> int:
        """Number of mobilities that are listed."""
        return len(self.default_numbers)

    def get_efforts(self, state: State) -> Array:
        """The generalized forces in this state, in the order of the list. Needs MODEL."""
        return self.number_run(state, "get_efforts").copy()

    @of_each(_efforts_of_each)
    def set_efforts(self, state: State, efforts: ArrayLike) -> None:
        """Change them in this state, which falls to VELOCITY at most; all are zero in a default state. Needs MODEL."""
        # a program that controls a mechanism calls this every millisecond: what needs no look is not looked at
        token, _, first = self.placed
        if not (state.token is token and state.put_numbers(efforts, first, self._shape)):
            self._check(state, "set_efforts")
            values = array(f"efforts of {self._name!r}", efforts, self._shape)
            self.discrete_run(state, "set_efforts")[:] = values
