"""Function: a user's function of the state as a measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from ..value.stage import Stage
from .base import Joined
from .custom import Custom, CustomImplementation

if TYPE_CHECKING:
    from ..state.state import State

    #: A function of the state.
    OfState = Callable[[State], npt.ArrayLike]


class Function(Custom):
    """A function of the state: any quantity that can be asked of bodies, forces, the system.

    Parameters
    ----------
    function : callable
        ``function(state)`` returns a number, or a vector of the shape given. It depends on the state alone, and leaves it as
        it is.
    stage : Stage
        What *function* needs.
    derivatives : sequence of (callable, Stage)
        Its first, second, ... time derivative, where these are known.
    shape : () or (n,)
        Of what is returned: a number unless given.

    Raises
    ------
    TypeError
        If what is given is not callable, or no Stage.

    Notes
    -----
    *function* is called each time the value is asked for. A `Custom` keeps what it computes.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> energy = mb.measure.Function(system.matter, system.calc_kinetic_energy, mb.Stage.VELOCITY)
    >>> state = system.realize_topology()
    >>> system.realize(state, mb.Stage.VELOCITY)
    >>> energy.get_value(state)
    0.0
    """

    def __init__(
        self,
        subsystem: Joined,
        function: OfState,
        stage: Stage,
        derivatives: Sequence[tuple[OfState, Stage]] = (),
        *,
        shape: tuple[int, ...] = (),
        name: str | None = None,
    ) -> None:
        parts = [(function, stage), *derivatives]
        for part in parts:
            if not (isinstance(part, tuple) and len(part) == 2 and callable(part[0]) and isinstance(part[1], Stage)):
                raise TypeError(
                    f"a Function measure takes a callable and a Stage, and such pairs for its derivatives; got {part!r}"
                )
        super().__init__(subsystem, OfFunctions(parts), shape=shape, name=name)


class OfFunctions(CustomImplementation):
    """Functions of the state, the value's and its derivatives'."""

    def __init__(self, parts: list[tuple[Any, Stage]]) -> None:
        self._parts = parts

    def get_depends_on_stage(self, deriv_order: int) -> Stage:
        """As the user says."""
        return self._parts[deriv_order][1]

    def get_num_cache_entries(self) -> int:
        """None: the function may look at variables that invalidate a higher stage only, or none."""
        return 0

    def calc_cached_value(self, state: State, deriv_order: int) -> npt.ArrayLike:
        """The user's function's result."""
        return self.get_uncached_value(state, deriv_order)

    def get_uncached_value(self, state: State, deriv_order: int) -> npt.ArrayLike:
        """The user's function's result."""
        return self._parts[deriv_order][0](state)

    def get_num_time_derivatives(self) -> int:
        """As many as the user gives."""
        return len(self._parts) - 1
