"""A coordinate that is a function of others: OpenSim's CoordinateCouplerConstraint.

perr = f(q_1, ..., q_n) - q     verr = sum_i f_i q_dot_i - q_dot     aerr = the same of q_dot_dot, + sum_ij f_ij q_dot_i q_dot_j
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...algebra.arrays import Array
from ...compiling import routine
from ...constraint.coordinate_coupler import CoordinateCoupler, couple
from ...function import Function
from ...mobilizer.base import MobilizedBody
from ...system.matter import SimbodyMatterSubsystem


@routine
def equations(model: Any, c: int, what: int) -> int:
    """As `couple`, the dependent coordinate after the others."""
    couple(model, c, what, True)
    return 0


class DependentCoordinate(CoordinateCoupler):
    """Keeps a coordinate at a function of others: one equation of positions.

    Parameters
    ----------
    function : Function
        Of as many arguments as coordinates it is of, with second derivatives.
    independent : sequence of (MobilizedBody, int)
        For each argument the body whose mobilizer has the coordinate, and which one it is.
    dependent : (MobilizedBody, int)
        The coordinate that follows.
    """

    routine = equations
    _NUM_FOLLOWERS = 1

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
        bodies, which = zip(*independent, dependent, strict=True)
        super().__init__(matter, function, bodies, which, disabled_by_default=disabled_by_default, name=name)

    def dependent_place(self, starts: Sequence[int]) -> int:
        """The place of the dependent coordinate, in q or in u; *starts* as of `put`."""
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
