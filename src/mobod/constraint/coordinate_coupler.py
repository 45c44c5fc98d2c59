"""CoordinateCoupler: a function of coordinates is zero.

    perr = f(q_1, q_2, ...)     verr = sum_i f_i q_dot_i     aerr = sum_i f_i q_dot_dot_i + sum_ij f_ij q_dot_i q_dot_j

with f_i and f_ij its first and second derivatives, and each q_i any coordinate of any mobilizer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._jit import routine
from ..algebra.scalar import load, store, zero
from ..function import Function, _switch
from . import _access
from ._floats import OnePosition
from ._interpreted import Interpreter, taken
from ._of_function import arguments_of, check_function
from ._one_coordinate import check_coordinate
from ._what import POSITIONS
from .base import Array

if TYPE_CHECKING:
    from ..matter import SimbodyMatterSubsystem
    from ..state import State
    from .base import AnyBody


@routine
def equations(model: Any, c: int, what: int) -> int:
    """Integers: how many arguments, then the mobilizer's place and the coordinate of each, then the function's bundle."""
    n = _access.integer(model, c, 0)
    for a in range(n):
        i, j = _access.integer(model, c, 1 + 2 * a), _access.integer(model, c, 2 + 2 * a)
        store(model.arguments, a, 0, _access.coordinate(model, c, i, j))
    integers, first = model.constraint_integers, model.constraint_first_integer[c] + 1 + 2 * n
    numbers, at = model.constraint_numbers, model.constraint_first_number[c]
    value, slope, bend = _switch.jet(integers, first, numbers, at, 0, model.arguments, 0)
    if what == POSITIONS:
        _access.put_position_error(model, c, 0, value)
        _access.clear_coordinate_coefficients(model, c)
    offset = zero(load(model.time, 0, 0))
    for a in range(n):
        i, j = _access.integer(model, c, 1 + 2 * a), _access.integer(model, c, 2 + 2 * a)
        if what == POSITIONS:
            partial = _switch.partial(integers, first, numbers, at, 0, a, slope)
            _access.add_coordinate_coefficient(model, c, 0, i, j, partial)
        else:  # bend is zero unless this is the only argument: there is no sum over pairs of them
            rate = _access.coordinate_rate(model, c, i, j)
            offset = offset + bend * (rate * rate)
    if what != POSITIONS:
        _access.put_acceleration_offset(model, c, 0, offset)
    return 0


class CoordinateCoupler(OnePosition):
    """Keeps a function of some coordinates at zero: one equation of positions.

    Parameters
    ----------
    matter : SimbodyMatterSubsystem
        What it joins.
    function : Function
        Of as many arguments as coordinates are listed, with second derivatives.
    coordinate_mobods : sequence of MobilizedBody
        For each argument the body whose mobilizer has the coordinate.
    coordinate_indices : sequence of int
        For each argument which of that mobilizer's coordinates it is, from 0, of those that a state's modelling choice
        gives it.
    disabled_by_default : bool
        Whether states start with it switched off.
    name : str, optional
        Unique among the constraints; one is made where none is given.

    Raises
    ------
    TypeError, ValueError, IndexError
        If the function or the lists do not fit, or there is no such coordinate.
    ModelError
        If the function has no second derivatives.

    Notes
    -----
    The model runs compiled with the package's own functions, and interpreted with a user's.

    Examples
    --------
    Two gears, of 20 and 40 teeth, on fixed axes: q_0 + 2 q_1 = 0.

    >>> import mobod as mb
    >>> matter = mb.SimbodyMatterSubsystem(mb.MultibodySystem())
    >>> body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(1.0)))
    >>> small, large = mb.mobilizer.Pin(matter.ground, body), mb.mobilizer.Pin(matter.ground, body)
    >>> gears = mb.constraint.CoordinateCoupler(matter, mb.function.Linear([1, 2, 0]), [small, large], [0, 0])
    """

    routine = equations

    def __init__(
        self,
        matter: SimbodyMatterSubsystem,
        function: Function,
        coordinate_mobods: Sequence[AnyBody],
        coordinate_indices: Sequence[int],
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        who = f"a {type(self).__name__}"
        self._arguments = arguments_of(who, matter, "coordinate", coordinate_mobods, coordinate_indices)
        if not self._arguments:
            raise ValueError(f"{who} couples one coordinate or more; coordinate_mobods is empty")
        self._function = check_function(who, function, len(self._arguments), 2, "coordinates")
        if not _switch.is_compiled(function):
            self._interpreter = _OfCoordinates(self)
        bodies = [body for body, _ in self._arguments]
        super().__init__([], bodies, equations=(1, 0, 0), matter=matter, disabled_by_default=disabled_by_default, name=name)

    def get_function(self) -> Function:
        """The function that is kept at zero."""
        return self._function

    # ------------------------------------------------------------------------------------------ for the tree

    def _check_coordinates(self, num_q: Sequence[int]) -> None:
        for body, j in self._arguments:
            check_coordinate(self, body, j, num_q)

    def _num_arguments(self) -> int:
        return len(self._arguments)

    def _integers(self) -> list[int]:
        if self._interpreter is not None:
            return []
        n = len(self._arguments)
        places = [x for body, j in self._arguments for x in (self._mobilizers.index(body), j)]
        return [n, *places, *_switch.bundle([self._function], [range(n)])[0]]

    def _numbers(self) -> list[float]:
        if self._interpreter is not None:
            return []
        return list(_switch.bundle([self._function], [range(len(self._arguments))])[1])


class _OfCoordinates(Interpreter):
    """The same equations with a user's function."""

    def __init__(self, coupler: CoordinateCoupler) -> None:
        self._coupler = coupler

    def _of(self, state: State, values: Array) -> Array:
        first = state._tree.first_q
        return np.array([values[first[body.get_mobilized_body_index()] + j] for body, j in self._coupler._arguments])

    def write_positions(self, state: State) -> None:
        coupler, record, c = self._coupler, state._record, self._coupler._index
        q = self._of(state, state._q)
        partials = [taken(coupler._function, q, a) for a in range(len(q))]
        _access.put_position_error(record, c, 0, taken(coupler._function, q))
        _access.clear_coordinate_coefficients(record, c)
        for (body, j), x in zip(coupler._arguments, partials, strict=True):
            _access.add_coordinate_coefficient(record, c, 0, coupler._mobilizers.index(body), j, x)

    def write_velocities(self, state: State) -> None:
        coupler = self._coupler
        q, rates = self._of(state, state._q), self._of(state, state._record.q_dot[:, 0])
        offset = sum(taken(coupler._function, q, a, b) * rates[a] * rates[b] for a in range(len(q)) for b in range(len(q)))
        _access.put_acceleration_offset(state._record, coupler._index, 0, offset)
