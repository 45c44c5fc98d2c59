"""A coordinate that is a function of others: OpenSim's CoordinateCouplerConstraint.

perr = f(q_1, ..., q_n) - q     verr = sum_i f_i q_dot_i - q_dot     aerr = the same of q_dot_dot, + sum_ij f_ij q_dot_i q_dot_j
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...algebra.arrays import Array
from ...algebra.scalar import load, one, store, zero
from ...compiling import routine
from ...constraint import access
from ...constraint.floats import OnePosition
from ...constraint.of_function import arguments_of, check_function
from ...constraint.one_coordinate import check_coordinate
from ...constraint.protocol import POSITIONS
from ...function import Function, routines
from ...mobilizer.base import MobilizedBody
from ...system.matter import SimbodyMatterSubsystem


@routine
def equations(model: Any, c: int, what: int) -> int:
    """Integers: the function's number, how many arguments, then mobilizer and coordinate of each, and of the dependent one."""
    f, n = access.integer(model, c, 0), access.integer(model, c, 1)
    i0, j0 = access.integer(model, c, 2 + 2 * n), access.integer(model, c, 3 + 2 * n)
    for a in range(n):
        i, j = access.integer(model, c, 2 + 2 * a), access.integer(model, c, 3 + 2 * a)
        store(model.arguments, a, 0, access.coordinate(model, c, i, j))
        if what != POSITIONS:
            store(model.argument_rates, a, 0, access.coordinate_rate(model, c, i, j))
    if what == POSITIONS:
        value = routines.value(model, f, model.arguments, 0)
        access.put_position_error(model, c, 0, value - access.coordinate(model, c, i0, j0))
        access.clear_coordinate_coefficients(model, c)
        for a in range(n):
            i, j = access.integer(model, c, 2 + 2 * a), access.integer(model, c, 3 + 2 * a)
            access.add_coordinate_coefficient(model, c, 0, i, j, routines.gradient(model, f, a))
        access.add_coordinate_coefficient(model, c, 0, i0, j0, -1.0 * one(value))
    else:
        routines.value_with_rates(model, f, model.arguments, 0, model.argument_rates, 0)
        offset = zero(load(model.time, 0, 0))
        for a in range(n):
            offset = offset + routines.gradient_rate(model, f, a) * load(model.argument_rates, a, 0)
        access.put_acceleration_offset(model, c, 0, offset)
    return 0


class DependentCoordinate(OnePosition):
    """Keeps a coordinate at a function of others: one equation of positions.

    Parameters
    ----------
    matter, disabled_by_default, name
        See `Constraint`.
    function : Function
        Of as many arguments as coordinates it is of, with second derivatives.
    independent : sequence of (MobilizedBody, int)
        For each argument the body whose mobilizer has the coordinate, and which one it is.
    dependent : (MobilizedBody, int)
        The coordinate that follows.
    """

    routine = equations

    def __init__(
        self,
        matter: SimbodyMatterSubsystem,
        function: Function,
        independent: Sequence[tuple[MobilizedBody, int]],
        dependent: tuple[MobilizedBody, int],
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        who, places = f"a {type(self).__name__}", [*independent, dependent]
        self.arguments = arguments_of(who, matter, "coordinate", [b for b, _ in places], [j for _, j in places])
        self.function = check_function(who, function, len(independent), 2, "coordinates")
        bodies = [body for body, _ in self.arguments]
        super().__init__([], bodies, equations=(1, 0, 0), matter=matter, disabled_by_default=disabled_by_default, name=name)

    def get_function(self) -> Function:
        """The function of the others."""
        return self.function

    def dependent_place(self, starts: Sequence[int]) -> int:
        """Where the dependent coordinate is, in q or in u; *starts* as of `put`."""
        body, j = self.arguments[-1]
        return starts[body.get_mobilized_body_index()] + j

    def put(self, q: Array, u: Array, starts: Sequence[int]) -> None:
        """Put the dependent coordinate and its speed, in the q and u of a state, where the others' are that are there.

        *starts* says where each body's coordinates begin, in q and in u: with angles for quaternions, the same places.
        """
        *others, own = [starts[body.get_mobilized_body_index()] + j for body, j in self.arguments]
        x = q[others]
        q[own] = self.function.calc_value(x)
        u[own] = sum(self.function.calc_derivative([k], x) * u[place] for k, place in enumerate(others))

    # ------------------------------------------------------------------------------------------ for the tree

    def check_coordinates(self, num_q: Sequence[int]) -> None:
        """Refuse coordinates that are not there where quaternions have angles in their place."""
        for body, j in self.arguments:
            check_coordinate(self, body, j, num_q)

    @property
    def used_functions(self) -> Sequence[routines.Use]:  # type: ignore[override]
        """Functions kept in the record: its own."""
        return [(self.function, range(len(self.arguments) - 1))]

    def pack_integers(self) -> list[int]:
        """The integers that `equations` reads."""
        places = [x for body, j in self.arguments for x in (self.constrained_mobilizers.index(body), j)]
        return [self.first_function, len(self.arguments) - 1, *places]
