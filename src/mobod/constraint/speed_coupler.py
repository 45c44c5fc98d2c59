"""SpeedCoupler: a function of speeds, and of coordinates, is zero.

    verr = f(u_1, u_2, ..., q_1, q_2, ...)     aerr = sum_i f_ui udot_i + sum_j f_qj q_dot_j

with f_ui and f_qj its first derivatives. A row of G is f_u at the present u, so that verr is G u and an offset for a function
that is not linear in the speeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..algebra.scalar import load, store, zero
from ..compiling import routine
from ..errors import TopologyError
from ..function import Function, routines
from ..mobilizer import q_rates
from . import access
from .floats import OneVelocity
from .of_function import arguments_of, check_function
from .one_coordinate import check_coordinate
from .protocol import POSITIONS

if TYPE_CHECKING:
    from ..value.annotations import SimbodyMatterSubsystem
    from .base import AnyBody


@routine
def equations(model: Any, c: int, what: int) -> int:
    """Reads, in turn: how many speeds, how many coordinates, place and number of each, and the function's number."""
    # a speed's place is its mobilizer among the constrained ones, a coordinate's is its body
    if what == POSITIONS:
        return 0
    speeds, coordinates = access.integer(model, c, 0), access.integer(model, c, 1)
    for a in range(speeds):
        i, j = access.integer(model, c, 2 + 2 * a), access.integer(model, c, 3 + 2 * a)
        store(model.arguments, a, 0, access.speed(model, c, i, j))
    for a in range(speeds, speeds + coordinates):
        b, j = access.integer(model, c, 2 + 2 * a), access.integer(model, c, 3 + 2 * a)
        store(model.arguments, a, 0, load(model.q, model.first_q[b] + j, 0))
    f = access.integer(model, c, 2 + 2 * (speeds + coordinates))
    value = routines.value(model, f, model.arguments, 0)
    rest, offset = value, zero(value)
    access.clear_speed_coefficients(model, c)
    for a in range(speeds + coordinates):
        j = access.integer(model, c, 3 + 2 * a)
        partial = routines.gradient(model, f, a)
        if a < speeds:
            access.add_speed_coefficient(model, c, 0, access.integer(model, c, 2 + 2 * a), j, partial)
            rest = rest - partial * load(model.arguments, a, 0)
        else:  # its rate may have been left out, as those of all but constrained mobilizers can be
            b = access.integer(model, c, 2 + 2 * a)
            q_rates.n_times(model, b, model.u, model.first_u[b], model.q_dot, model.first_q[b])
            offset = offset + partial * load(model.q_dot, model.first_q[b] + j, 0)
    access.put_velocity_offset(model, c, 0, rest)
    access.put_acceleration_offset(model, c, 0, offset)
    return 0


class SpeedCoupler(OneVelocity):
    """Keeps a function of some speeds, and of coordinates if so wished, at zero: one equation of velocities.

    Parameters
    ----------
    matter : SimbodyMatterSubsystem
        What it joins.
    function : Function
        Its arguments are the speeds that are listed, and then the coordinates.
    speed_mobods : sequence of MobilizedBody
        For each of the speeds the body whose mobilizer has it.
    speed_indices : sequence of int
        For each of them which of that mobilizer's speeds it is, from 0.
    coordinate_mobods, coordinate_indices : sequences, optional
        The same of coordinates, of those that a state's modelling choice gives a mobilizer. The constraint puts no force on
        mobilizers that are listed here alone.

    Raises
    ------
    TypeError, ValueError, IndexError
        If the function or the lists do not fit, or there is no such coordinate or speed.
    ModelError
        If the function cannot be differentiated.

    Notes
    -----
    The function need not be linear in the speeds. One that only Python can evaluate costs its own calls; the rest of the model
    runs compiled.

    Examples
    --------
    >>> import mobod as mb
    >>> matter = mb.SimbodyMatterSubsystem(mb.MultibodySystem())
    >>> body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(1.0)))
    >>> small, large = mb.mobilizer.Pin(matter.ground, body), mb.mobilizer.Pin(matter.ground, body)
    >>> belt = mb.constraint.SpeedCoupler(matter, mb.function.Linear([1, -2, 0]), [small, large], [0, 0])
    """

    routine = equations

    def __init__(
        self,
        matter: SimbodyMatterSubsystem,
        function: Function,
        speed_mobods: Sequence[AnyBody],
        speed_indices: Sequence[int],
        coordinate_mobods: Sequence[AnyBody] = (),
        coordinate_indices: Sequence[int] = (),
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        who = f"a {type(self).__name__}"
        self.speeds = arguments_of(who, matter, "speed", speed_mobods, speed_indices)
        self.coordinates = arguments_of(who, matter, "coordinate", coordinate_mobods, coordinate_indices)
        if not self.speeds:
            raise ValueError(f"{who} couples one speed or more; speed_mobods is empty")
        n = len(self.speeds) + len(self.coordinates)
        self.function = check_function(who, function, n, 1, "speeds and then coordinates")
        for body, _ in self.coordinates:
            if body.get_matter_subsystem() is not matter:
                raise TopologyError(f"coordinate_mobods of {who} has {body!r}, a body of another system")
        bodies = [body for body, _ in self.speeds]
        super().__init__([], bodies, equations=(0, 1, 0), matter=matter, disabled_by_default=disabled_by_default, name=name)

    def get_function(self) -> Function:
        """The function that is kept at zero."""
        return self.function

    # ------------------------------------------------------------------------------------------ for the tree

    def check_coordinates(self, num_q: Sequence[int]) -> None:
        for body, j in self.coordinates:
            check_coordinate(self, body, j, num_q)

    @property
    def used_functions(self) -> Sequence[routines.Use]:  # type: ignore[override]
        """Functions kept in the record: its own."""
        return [(self.function, range(len(self.speeds) + len(self.coordinates)))]

    def reach(self) -> tuple[list[int], list[int]]:
        bodies, mobilizers = super().reach()
        return bodies, [*mobilizers, *(body.get_mobilized_body_index() for body, _ in self.coordinates)]

    def pack_integers(self) -> list[int]:
        places = [x for body, j in self.speeds for x in (self.constrained_mobilizers.index(body), j)]
        places += [x for body, j in self.coordinates for x in (body.get_mobilized_body_index(), j)]
        return [len(self.speeds), len(self.coordinates), *places, self.first_function]
