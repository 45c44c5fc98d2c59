"""MobilityLinearStop: pushes one coordinate of a mobilizer back between bounds.

q > q_high   x = q - q_high > 0   f_q = min(0, -k x (1 + d q_dot))
q < q_low    x = q - q_low < 0    f_q = max(0, -k x (1 - d q_dot))       PE = 1/2 k x^2

The force of Hunt and Crossley 1975 with a linear spring: it grows from zero at the bound, and never pulls. What it dissipates
is the power that it takes, less that of the spring alone: -(f_q + k x) q_dot.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from ..algebra.scalar import where, zero
from ..compiling import generic
from ..errors import ModelError
from ..mobilizer.base import MobilizedBody
from ..state import parameters
from ..state.of_each import Present, Rows, of_each
from ..state.state import State
from ..value import checks, rows
from .one_coordinate import OnCoordinate, coordinate, coordinate_rate, push
from .pools import number
from .routines import by_address
from .subsystem import GeneralForceSubsystem


@generic
def beyond(model: Any, integers: int, numbers: int) -> Any:
    """x, zero between the bounds. Numbers: k, d, q_low, q_high."""
    q, low, high = coordinate(model, integers), number(model, numbers + 2), number(model, numbers + 3)
    o = zero(q)
    return where(q > high, q - high, where(q < low, q - low, o))


@generic
def force(model: Any, integers: int, numbers: int, x: Any, rate: Any) -> Any:
    """f_q."""
    k, d = number(model, numbers), number(model, numbers + 1)
    out = where(x < 0.0, -rate, rate)  # the rate at which x grows in size
    give = 1.0 + d * out
    f = -k * x * give
    return where(give > 0.0, f, zero(f))


@generic
def add(model: Any, integers: int, numbers: int) -> None:
    """f_q on the coordinate."""
    x = beyond(model, integers, numbers)
    push(model, integers, force(model, integers, numbers, x, coordinate_rate(model, integers)))


@generic
def energy(model: Any, integers: int, numbers: int) -> Any:
    """1/2 k x^2."""
    x = beyond(model, integers, numbers)
    return 0.5 * number(model, numbers) * x * x


@generic
def power(model: Any, integers: int, numbers: int) -> Any:
    """-(f_q + k x) q_dot."""
    x, rate = beyond(model, integers, numbers), coordinate_rate(model, integers)
    return -(force(model, integers, numbers, x, rate) + number(model, numbers) * x) * rate


def _pair_of_each(*names: str) -> Callable[[Any, State, Any, Present], Rows | None]:
    """Two parameters that follow each other, ``(n, 2)``."""

    def of(stop: Any, template: State, values: Any, present: Present) -> Rows | None:
        field, first, count = stop.number_place(template, f"set_{names[0]}")
        array = rows.as_array(values)
        if array is None or array.shape[1:] != (2,):
            return None
        numbers = present(field, slice(first, first + count)).copy()
        for parameter, column in zip((stop.PARAMETERS[name] for name in names), array.T, strict=True):
            if rows.IN_ROWS[parameter.check](column) is None:
                return None
            parameter.put(numbers, column)
        try:
            stop.settle(repr(stop.name), numbers)
        except ModelError:
            return None
        return Rows([(field, slice(first, first + count), numbers.T[:, :, None])])

    return of


def _by_pair(setter: Any, state: State, pair: Any) -> None:
    setter(state, *pair)


class MobilityLinearStop(OnCoordinate):
    """A compliant stop that keeps one coordinate of a mobilizer between bounds.

    Parameters
    ----------
    mobod : MobilizedBody
        Whose mobilizer it acts on.
    which_q : int
        The number of the coordinate among the mobilizer's, from 0.
    stiffness : float
        Of both stops; generalized force by coordinate, zero or more.
    dissipation : float
        Of both stops; one over a coordinate's rate, zero or more.
    q_low, q_high : float
        The bounds; infinite where there is none.

    Raises
    ------
    TypeError, ValueError
        If the body is none, the number of the coordinate no integer, stiffness or dissipation not finite or negative, or the
        bounds not in order.
    IndexError
        If the mobilizer has no such coordinate.
    TopologyError
        If the body belongs to another system.

    Notes
    -----
    Energy is dissipated on the way in and on the way out, and the stop never pulls. The force is zero at the bound; its rate is
    not continuous there, which can shorten an integrator's steps. Coordinates with rates that are not speeds are treated as by
    `MobilityLinearSpring`.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.force.MobilityLinearStop(system.forces, system.matter.bodies["lower"], 0, 100.0, 0.0, -0.2, 0.2)
    >>> state = system.realize_topology()
    >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    >>> system.realize(state)
    >>> part.calc_force_contribution(state)[2].round(3)
    array([  0., -20.])
    """

    routine = by_address(add, energy, power)

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        mobod: MobilizedBody,
        which_q: int,
        stiffness: float,
        dissipation: float,
        q_low: float = -np.inf,
        q_high: float = np.inf,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        own = {"stiffness": stiffness, "dissipation": dissipation, "q_low": q_low, "q_high": q_high}
        self._connect(forces, mobod, which_q, disabled_by_default, name, **own)

    get_default_stiffness, set_default_stiffness, get_stiffness, set_stiffness = parameters.scalar(
        "stiffness", "generalized force by coordinate", checks.not_negative, "the stiffness"
    ).accessors()
    get_default_dissipation, set_default_dissipation, get_dissipation, set_dissipation = parameters.scalar(
        "dissipation", "one over a coordinate's rate", checks.not_negative, "the dissipation"
    ).accessors()
    get_default_lower_bound, set_default_lower_bound, get_lower_bound, set_lower_bound = parameters.scalar(
        "lower_bound", "angle or length", checks.number, "the lower bound, infinite where there is none", argument="q_low"
    ).accessors()
    get_default_upper_bound, set_default_upper_bound, get_upper_bound, set_upper_bound = parameters.scalar(
        "upper_bound", "angle or length", checks.number, "the upper bound, infinite where there is none", argument="q_high"
    ).accessors()

    @staticmethod
    def settle(whose: str, numbers: list[float]) -> None:
        low, high = numbers[2], numbers[3]
        if not checks.hold((low <= high) & (low != np.inf) & (high != -np.inf)):  # NaN too
            raise ModelError(
                f"q_low of {whose} has to be a number up to q_high, and infinite where there is no bound; got {low} and {high}"
            )

    def set_default_material_properties(self, stiffness: float, dissipation: float) -> Self:
        """Change stiffness and dissipation. A topological change. Returns the force."""
        return self._set_default_pair(("stiffness", "dissipation"), (stiffness, dissipation))

    def set_default_bounds(self, q_low: float, q_high: float) -> Self:
        """Change both bounds. A topological change. Returns the force."""
        return self._set_default_pair(("lower_bound", "upper_bound"), (q_low, q_high))

    @of_each(_pair_of_each("stiffness", "dissipation"), alone=_by_pair)
    def set_material_properties(self, state: State, stiffness: float, dissipation: float) -> None:
        """Change stiffness and dissipation in this state, which falls to MODEL at most."""
        self._set_pair(state, "set_material_properties", ("stiffness", "dissipation"), (stiffness, dissipation))

    @of_each(_pair_of_each("lower_bound", "upper_bound"), alone=_by_pair)
    def set_bounds(self, state: State, q_low: float, q_high: float) -> None:
        """Change both bounds in this state, which falls to MODEL at most."""
        ordered = isinstance(q_low, (float, int)) and isinstance(q_high, (float, int)) and q_low <= q_high
        if not (ordered and self.put_in(state, (q_low, q_high), 2, (2,))):
            self._set_pair(state, "set_bounds", ("lower_bound", "upper_bound"), (q_low, q_high))

    def _set_pair(self, state: State, asked: str, names: tuple[str, str], values: tuple[float, float]) -> None:
        numbers = self.number_run(state, asked).tolist()
        self._put_pair(numbers, names, values)
        self.number_run(state, asked, True)[:] = numbers

    def _set_default_pair(self, names: tuple[str, str], values: tuple[float, float]) -> Self:
        numbers = list(self.default_numbers)
        self._put_pair(numbers, names, values)
        self.default_numbers[:] = numbers
        self.defaults_changed()
        return self

    def _put_pair(self, numbers: list[float], names: tuple[str, str], values: tuple[float, float]) -> None:
        for name, value in zip(names, values, strict=True):
            parameter = self.PARAMETERS[name]
            parameter.put(numbers, parameter.check(f"{parameter.argument} of {self._name!r}", value))
        self.settle(repr(self._name), numbers)
