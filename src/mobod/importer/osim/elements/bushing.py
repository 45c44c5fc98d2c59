"""Bushings whose six forces are functions of six deflections: OpenSim's ExpressionBased- and FunctionBasedBushingForce.

q, q_dot, and how forces on them act: `force.linear_bushing`.     f_i = -(f_i(q) + c_i q_dot_i)     or of q_i alone
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....algebra.arrays import ArrayLike
from ....algebra.scalar import store
from ....compiling import Routine, generic
from ....force.base import Force, body_index
from ....force.linear_bushing import dissipation, motion, push
from ....force.pools import number
from ....force.routines import by_address
from ....force.subsystem import GeneralForceSubsystem
from ....function import Function, routines
from ....mobilizer.base import MobilizedBody
from ....value import Transform

#: The variables of the formulas.
VARIABLES = ("theta_x", "theta_y", "theta_z", "delta_x", "delta_y", "delta_z")
#: Where dampings begin, after the two frames.
DAMPING = 24


@generic
def _of_all(model: Any, f: int, c: int, k: int, q_dot: Any) -> Any:
    return -routines.value(model, f + k, model.arguments, 0) - number(model, c + k) * q_dot


@generic
def add(model: Any, integers: int, numbers: int) -> None:
    """Integers: the bodies, then the first of six functions. Numbers: the two frames, then dampings."""
    q, d, between = motion(model, integers, numbers)
    f, c = model.force_integers[integers + 2], numbers + DAMPING
    store(model.arguments, 0, 0, q[0])
    store(model.arguments, 1, 0, q[1])
    store(model.arguments, 2, 0, q[2])
    store(model.arguments, 3, 0, q[3])
    store(model.arguments, 4, 0, q[4])
    store(model.arguments, 5, 0, q[5])
    turning = _of_all(model, f, c, 0, d[0]), _of_all(model, f, c, 1, d[1]), _of_all(model, f, c, 2, d[2])
    moving = _of_all(model, f, c, 3, d[3]), _of_all(model, f, c, 4, d[4]), _of_all(model, f, c, 5, d[5])
    push(model, between, turning, moving)


@generic
def _of_own(model: Any, f: int, c: int, q: Any, q_dot: Any) -> Any:
    return -routines.jet(model, f, q)[0] - number(model, c) * q_dot


@generic
def add_own(model: Any, integers: int, numbers: int) -> None:
    """As `add`, each function being one of its own deflection."""
    q, d, between = motion(model, integers, numbers)
    f, c = model.force_integers[integers + 2], numbers + DAMPING
    first, second = _of_own(model, f, c, q[0], d[0]), _of_own(model, f + 1, c + 1, q[1], d[1])
    turning = first, second, _of_own(model, f + 2, c + 2, q[2], d[2])
    first, second = _of_own(model, f + 3, c + 3, q[3], d[3]), _of_own(model, f + 4, c + 4, q[4], d[4])
    push(model, between, turning, (first, second, _of_own(model, f + 5, c + 5, q[5], d[5])))


@generic
def power(model: Any, integers: int, numbers: int) -> Any:
    """The sum of c q_dot^2."""
    return dissipation(model, numbers + DAMPING, motion(model, integers, numbers)[1])


class FormulaBushing(Force):
    """A compliant connection of two frames, with a function of all six deflections for each of its six forces.

    Parameters
    ----------
    forces, body1, X_B1F, body2, X_B2M
        What it joins, and the frames.
    functions : six Function
        Of theta_x, theta_y, theta_z, delta_x, delta_y, delta_z: three moments and three forces, against the deflections.
    damping : (6,) array_like
        Of the deflections' rates.
    """

    routine: Routine | None = by_address(add, None, power)
    _arguments: Sequence[int] = range(6)

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        body1: MobilizedBody,
        X_B1F: Transform,
        body2: MobilizedBody,
        X_B2M: Transform,
        functions: Sequence[Function],
        damping: ArrayLike,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self.default_integers = [body_index(forces, "body1", body1), body_index(forces, "body2", body2)]
        numbers: list[float] = []
        for X in (np.asarray(X_B1F), np.asarray(X_B2M)):
            numbers += [*X[:3, :3].ravel().tolist(), *X[:3, 3].tolist()]
        self.default_numbers = [*numbers, *np.asarray(damping, dtype=float).tolist()]
        self.used_functions = [(one, self._arguments) for one in functions]


class FunctionBushing(FormulaBushing):
    """The same with a function of one deflection for each of its forces: OpenSim's FunctionBasedBushingForce."""

    routine: Routine | None = by_address(add_own, None, power)
    _arguments = (0,)
