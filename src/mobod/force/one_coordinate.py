"""Forces on one coordinate q of a mobilizer, as forces on its mobilities.

Power is f_q q_dot = f_q N u: a force f_q on coordinate i is the generalized force N^T e_i f_q, where q_dot = u f_q itself.
(Simbody applies f_q to the mobility of the same number, whatever N.)
"""

from __future__ import annotations

from typing import Any

from ..algebra.scalar import load, store, zero
from ..compiling import apart, generic
from ..errors import ModelError
from ..mobilizer import q_rates
from ._mobility import OnMobilizer


@generic
def coordinate(model: Any, integers: int) -> Any:
    """The coordinate. Integers: the body, and the number of the coordinate among the body's."""
    return value_of(model, model.force_integers[integers], model.force_integers[integers + 1])


@generic
def value_of(model: Any, b: int, which: int) -> Any:
    """Coordinate number *which* of body b."""
    return load(model.q, model.first_q[b] + which, 0)


@generic
def push(model: Any, integers: int, f: Any) -> None:
    """A force on the coordinate."""
    push_on(model, model.force_integers[integers], model.force_integers[integers + 1], f)


@generic
def push_on(model: Any, b: int, which: int, f: Any) -> None:
    """A force on coordinate number *which* of body b."""
    if model.rates[b] == q_rates.SAME:
        k = model.first_u[b] + which
        store(model.mobility_forces, k, 0, load(model.mobility_forces, k, 0) + f)
    else:
        _push_on_all(model, b, which, f)


@apart
def _push_on_all(model: Any, b: int, which: int, f: Any) -> None:
    """A force on a coordinate whose rate is no speed, as forces on all mobilities of body b."""
    i, k = model.first_q[b], model.first_u[b]
    for j in range(model.num_q[b]):
        store(model.work_q, i + j, 0, zero(f))
    store(model.work_q, i + which, 0, f)
    q_rates.n_transpose_times(model, b, model.work_q, i, model.work_u, k)
    for j in range(k, k + model.num_u[b]):
        store(model.mobility_forces, j, 0, load(model.mobility_forces, j, 0) + load(model.work_u, j, 0))


@generic
def coordinate_rate(model: Any, integers: int) -> Any:
    """The rate of the coordinate."""
    return rate_of(model, model.force_integers[integers], model.force_integers[integers + 1])


@generic
def rate_of(model: Any, b: int, which: int) -> Any:
    """The rate of coordinate number *which* of body b, from u: in lanes q_dot may have been left out."""
    return load(model.u, model.first_u[b] + which, 0) if model.rates[b] == q_rates.SAME else _rate_of_all(model, b, which)


@apart
def _rate_of_all(model: Any, b: int, which: int) -> Any:
    """The rate of a coordinate that is no speed, by all speeds of body b."""
    q_rates.n_times(model, b, model.u, model.first_u[b], model.work_q, model.first_q[b])
    return load(model.work_q, model.first_q[b] + which, 0)


class OnCoordinate(OnMobilizer):
    """A force on one coordinate of a mobilizer; the base of its kinds."""

    _WHICH = "which_q"

    def get_which_q(self) -> int:
        """The number of the coordinate among the mobilizer's."""
        return self.default_integers[1]

    def check_tree(self, tree: Any) -> None:
        b, which = self.default_integers
        if which >= tree.num_q[b]:
            raise ModelError(
                f"{self!r} acts on q number {which} of {self.get_mobilized_body()!r}, which with Euler angles has "
                f"{tree.num_q[b]}: choose another coordinate, or keep quaternions"
            )
