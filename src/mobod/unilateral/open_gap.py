"""OpenGap: the gap of an open contact as a witness, which kernels look at by what the kind of its constraint writes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..algebra.order import size_of
from ..algebra.scalar import load, where, zero
from ..compiling import generic
from ..constraint import access
from ..constraint.line_on_line_contact import overhang
from ..event.routines import by_address, number
from ..event.witness import Witness
from ..state.state import State
from ..tree.constraints import row_times
from ..value.stage import Stage
from . import _rows
from .base import UnilateralContact
from .hard_stop import HardStop


@generic
def look(model: Any, i: int, n: int) -> Any:
    """Integer: the constraint that closes the gap. Number: the sign of its error."""
    c, sign = model.witness_integers[i], number(model, n)
    _rows.write_positions(model, c)
    gap = sign * load(model.position_error, model.first_row[c], 0)
    return gap, sign * row_times(model, c, 0, model.V_GB, model.u)


@generic
def look_at_coordinate(model: Any, i: int, n: int) -> Any:
    """The same of a bound of a coordinate, of which its constraint knows the value. Integer, too: the place in q."""
    place, sign = model.witness_integers[i + 1], number(model, n)
    gap = sign * (load(model.q, place, 0) - access.number(model, model.witness_integers[i], 0))
    return gap, sign * load(model.q_dot, place, 0)


@generic
def look_at_edges(model: Any, i: int, n: int) -> Any:
    """The same of edges, which may pass beside each other."""
    gap, rate = look(model, i, n)
    return where(overhang(model, model.witness_integers[i]) > 0.0, size_of(gap) + 1.0, gap), rate


@generic
def look_from_above(model: Any, i: int, n: int) -> Any:
    """A lower bound of a gap by a table: the height above its highest point; no number where that is not above zero.

    Integer: the place in q of what is above the table. Number: its highest value.
    """
    place = model.witness_integers[i]
    above = load(model.q, place, 0) - number(model, n)
    return where(above > 0.0, above, zero(above) + math.nan), load(model.q_dot, place, 0)


class OpenGap(Witness):
    """The gap of a contact that is open.

    Parameters
    ----------
    contact : UnilateralContact
    """

    required_stage = Stage.POSITION
    is_fixed = True
    has_rate = True
    rate_stage = Stage.VELOCITY
    routine = by_address(look)

    def __init__(self, contact: UnilateralContact) -> None:
        self._contact = contact

    def __repr__(self) -> str:
        return f"<OpenGap of {self._contact.name!r}>"

    def pack(self, state: State) -> tuple[list[int], list[float]]:
        return [self._contact.normal.index], [float(self._contact.get_sign_convention())]

    def calc_value(self, state: State) -> float:
        """The gap, positive where what touches is beside the extent of the bodies. Needs POSITION."""
        gap = self._contact.calc_gap(state)
        return gap if self._contact.is_within(state) else abs(gap) + 1.0

    def calc_rate(self, state: State) -> float:
        """Its rate. Needs VELOCITY."""
        rates = np.zeros(3)
        _rows.find_rates(state.block, self._contact.normal.index, rates)
        return self._contact.get_sign_convention() * float(rates[0])


class OpenGapOfCoordinate(OpenGap):
    """The gap of a bound of a coordinate."""

    required_stage = Stage.TIME
    routine = by_address(look_at_coordinate)
    _contact: HardStop

    def _place(self, state: State) -> int:
        stop = self._contact
        return int(stop.get_mobilized_body().q_slice(state).start) + stop.get_which_q()

    def pack(self, state: State) -> tuple[list[int], list[float]]:
        (constraint,), numbers = super().pack(state)
        return [constraint, self._place(state)], numbers

    def calc_value(self, state: State) -> float:
        """The gap."""
        off = state.q_values.item(self._place(state)) - self._contact.get_value(state)
        return float(self._contact.get_sign_convention() * off)

    def calc_rate(self, state: State) -> float:
        """Its rate. Needs VELOCITY."""
        return float(self._contact.get_sign_convention() * state.q_dot_view.item(self._place(state)))


class OpenGapOfEdges(OpenGap):
    """The gap of a contact of edges."""

    routine = by_address(look_at_edges)


class OpenGapOfTable(OpenGap):
    """The gap of a contact by a table, of which kernels look at a lower bound: see `integrator.watch`."""

    routine = by_address(look_from_above)

    def pack(self, state: State) -> tuple[list[int], list[float]]:
        return self._contact.find_bound(state)

    def calc_bound(self, state: State) -> tuple[float, float]:
        """The bound, and its rate. Needs VELOCITY."""
        (place,), (highest,) = self.pack(state)
        above = state.q_values.item(place) - highest
        return above if above > 0.0 else math.nan, state.q_dot_view.item(place)


def open_gap(contact: UnilateralContact) -> OpenGap:
    """The gap of a contact of any kind."""
    if contact.find_knot is not None:
        return OpenGapOfTable(contact)
    if isinstance(contact, HardStop):
        return OpenGapOfCoordinate(contact)
    return (OpenGapOfEdges if contact.may_be_beside else OpenGap)(contact)
