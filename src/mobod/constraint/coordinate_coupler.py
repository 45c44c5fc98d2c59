"""CoordinateCoupler: a function of coordinates is zero.

    perr = f(q_1, q_2, ...)     verr = sum_i f_i q_dot_i     aerr = sum_i f_i q_dot_dot_i + sum_ij f_ij q_dot_i q_dot_j

with f_i and f_ij its first and second derivatives, and each q_i any coordinate of any mobilizer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..algebra.scalar import load, one, store, zero
from ..compiling import generic, routine
from ..function import Function, routines
from . import access
from .floats import OnePosition
from .of_function import arguments_of, check_function
from .one_coordinate import check_coordinate
from .protocol import POSITIONS

if TYPE_CHECKING:
    from ..value.annotations import SimbodyMatterSubsystem
    from .base import AnyBody


@generic
def couple(model: Any, c: int, what: int, follows: bool) -> None:
    """Integers: the function's number, how many arguments, then the mobilizer's place and the coordinate of each.

    A coordinate that *follows* comes after them: the error is then the function less that one.
    """
    f, n = access.integer(model, c, 0), access.integer(model, c, 1)
    for a in range(n):
        i, j = access.integer(model, c, 2 + 2 * a), access.integer(model, c, 3 + 2 * a)
        store(model.arguments, a, 0, access.coordinate(model, c, i, j))
        if what != POSITIONS:
            store(model.argument_rates, a, 0, access.coordinate_rate(model, c, i, j))
    if what == POSITIONS:
        error = routines.value(model, f, model.arguments, 0)
        access.clear_coordinate_coefficients(model, c)
        for a in range(n):
            i, j = access.integer(model, c, 2 + 2 * a), access.integer(model, c, 3 + 2 * a)
            access.add_coordinate_coefficient(model, c, 0, i, j, routines.gradient(model, f, a))
        if follows:
            i, j = access.integer(model, c, 2 + 2 * n), access.integer(model, c, 3 + 2 * n)
            error = error - access.coordinate(model, c, i, j)
            access.add_coordinate_coefficient(model, c, 0, i, j, -one(error))
        access.put_position_error(model, c, 0, error)
    else:
        routines.value_with_rates(model, f, model.arguments, 0, model.argument_rates, 0)
        offset = zero(load(model.time, 0, 0))
        for a in range(n):
            offset = offset + routines.gradient_rate(model, f, a) * load(model.argument_rates, a, 0)
        access.put_acceleration_offset(model, c, 0, offset)


@routine
def equations(model: Any, c: int, what: int) -> int:
    """As `couple`, of all coordinates alike."""
    couple(model, c, what, False)
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

    Raises
    ------
    TypeError, ValueError, IndexError
        If the function or the lists do not fit, or there is no such coordinate.
    ModelError
        If the function has no second derivatives.

    Notes
    -----
    A function that only Python can evaluate costs its own calls; the rest of the model runs compiled.

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
    #: How many of the coordinates are no arguments of the function.
    _NUM_FOLLOWERS = 0

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
        self.arguments = arguments_of(who, matter, "coordinate", coordinate_mobods, coordinate_indices)
        if not self.arguments:
            raise ValueError(f"{who} couples one coordinate or more; coordinate_mobods is empty")
        self.function = check_function(who, function, len(self.arguments) - self._NUM_FOLLOWERS, 2, "coordinates")
        bodies = [body for body, _ in self.arguments]
        super().__init__([], bodies, equations=(1, 0, 0), matter=matter, disabled_by_default=disabled_by_default, name=name)

    def get_function(self) -> Function:
        """The function of the coordinates."""
        return self.function

    # ------------------------------------------------------------------------------------------ for the tree

    def check_coordinates(self, num_q: Sequence[int]) -> None:
        for body, j in self.arguments:
            check_coordinate(self, body, j, num_q)

    @property
    def used_functions(self) -> Sequence[routines.Use]:  # type: ignore[override]
        """Functions kept in the record: its own."""
        return [(self.function, range(len(self.arguments) - self._NUM_FOLLOWERS))]

    def pack_integers(self) -> list[int]:
        places = [x for body, j in self.arguments for x in (self.constrained_mobilizers.index(body), j)]
        return [self.first_function, len(self.arguments) - self._NUM_FOLLOWERS, *places]
