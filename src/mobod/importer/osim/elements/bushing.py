"""Bushings whose six forces are functions of six deflections: OpenSim's ExpressionBased- and FunctionBasedBushingForce.

q, q_dot, and how forces on them act: `force.linear_bushing`.     f_i = -(f_i(q) + c_i q_dot_i)     or of q_i alone
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....algebra import mat33, vec3
from ....algebra.arrays import ArrayLike
from ....algebra.memory import add_spatial
from ....algebra.scalar import store
from ....compiling import Routine, generic
from ....force.base import Force, body_index
from ....force.linear_bushing import coordinates, frames, moment, motion, rates, velocity
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
def add(model: Any, integers: int, numbers: int) -> None:
    """Integers: the bodies, then the first of six functions. Numbers: the two frames, then dampings."""
    (b1, R_GF, s1), (b2, R_GM, s2), r = frames(model, integers, numbers)
    q, angles = coordinates(R_GF, R_GM, r)
    w, v = velocity(model, b1, b2, R_GF, s1, s2, r)
    q_dot = rates(angles, w, v)
    f, c = model.force_integers[integers + 2], numbers + DAMPING
    for k in range(6):
        store(model.arguments, k, 0, q[0])
    store(model.arguments, 1, 0, q[1])
    store(model.arguments, 2, 0, q[2])
    store(model.arguments, 3, 0, q[3])
    store(model.arguments, 4, 0, q[4])
    store(model.arguments, 5, 0, q[5])
    turning = (
        -routines.value(model, f, model.arguments, 0) - number(model, c) * q_dot[0],
        -routines.value(model, f + 1, model.arguments, 0) - number(model, c + 1) * q_dot[1],
        -routines.value(model, f + 2, model.arguments, 0) - number(model, c + 2) * q_dot[2],
    )
    moving = (
        -routines.value(model, f + 3, model.arguments, 0) - number(model, c + 3) * q_dot[3],
        -routines.value(model, f + 4, model.arguments, 0) - number(model, c + 4) * q_dot[4],
        -routines.value(model, f + 5, model.arguments, 0) - number(model, c + 5) * q_dot[5],
    )
    _apply(model, b1, b2, s1, s2, r, mat33.mul_vec(R_GF, moment(angles, turning)), mat33.mul_vec(R_GF, moving))


@generic
def add_own(model: Any, integers: int, numbers: int) -> None:
    """As `add`, each function being one of its own deflection."""
    (b1, R_GF, s1), (b2, R_GM, s2), r = frames(model, integers, numbers)
    q, angles = coordinates(R_GF, R_GM, r)
    w, v = velocity(model, b1, b2, R_GF, s1, s2, r)
    q_dot = rates(angles, w, v)
    f, c = model.force_integers[integers + 2], numbers + DAMPING
    turning = (
        -routines.jet(model, f, q[0])[0] - number(model, c) * q_dot[0],
        -routines.jet(model, f + 1, q[1])[0] - number(model, c + 1) * q_dot[1],
        -routines.jet(model, f + 2, q[2])[0] - number(model, c + 2) * q_dot[2],
    )
    moving = (
        -routines.jet(model, f + 3, q[3])[0] - number(model, c + 3) * q_dot[3],
        -routines.jet(model, f + 4, q[4])[0] - number(model, c + 4) * q_dot[4],
        -routines.jet(model, f + 5, q[5])[0] - number(model, c + 5) * q_dot[5],
    )
    _apply(model, b1, b2, s1, s2, r, mat33.mul_vec(R_GF, moment(angles, turning)), mat33.mul_vec(R_GF, moving))


@generic
def _apply(model: Any, b1: int, b2: int, s1: Any, s2: Any, r: Any, torque: Any, force: Any) -> None:
    """Force and torque in Ground, at the second frame's origin, on its body; the opposite on the first."""
    add_spatial(model.body_forces, b2, vec3.add(torque, vec3.cross(s2, force)), force)
    opposite = vec3.add(torque, vec3.cross(vec3.add(s1, r), force))
    add_spatial(model.body_forces, b1, vec3.neg(opposite), vec3.neg(force))


@generic
def power(model: Any, integers: int, numbers: int) -> Any:
    """The sum of c q_dot^2."""
    _, q_dot = motion(model, integers, numbers)
    c = numbers + DAMPING
    turning = number(model, c) * q_dot[0] * q_dot[0] + number(model, c + 1) * q_dot[1] * q_dot[1]
    turning = turning + number(model, c + 2) * q_dot[2] * q_dot[2]
    moving = number(model, c + 3) * q_dot[3] * q_dot[3] + number(model, c + 4) * q_dot[4] * q_dot[4]
    return turning + moving + number(model, c + 5) * q_dot[5] * q_dot[5]


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
