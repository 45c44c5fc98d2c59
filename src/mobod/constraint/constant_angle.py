"""ConstantAngle: an axis of one body and an axis of another keep an angle: one equation of positions.

    perr = b.f - cos(angle)     verr = w.(f x b)     aerr = w'.(f x b) + w.((w x f) x b)

with b the base's axis and f the follower's, w the angular velocity of the follower in the base and w' its rate seen from there.
A positive multiplier is a torque -f x b on the follower. Source: the conventions of Simbody 3.7.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import decoration
from .._jit import generic
from ..algebra import mat33, vec3
from ..algebra.memory import load9
from ..algebra.scalar import zero
from . import _access, _relative
from ._parameters import FIRST, SECOND, Mark, OneEquation, display_size
from .base import direction, finite

if TYPE_CHECKING:
    from ..state import State
    from .base import AnyBody

Array = npt.NDArray[np.float64]


@generic
def _axes(model: Any, c: int) -> Any:
    b = mat33.mul_vec(load9(model.R_GB, _access.body(model, c, 0), 0), _access.vector(model, c, 0))
    return b, mat33.mul_vec(load9(model.R_GB, _access.body(model, c, 1), 0), _access.vector(model, c, 3))


@generic
def positions(model: Any, c: int) -> None:
    """perr, and torques about f x b. Parameters: both axes, the cosine, the angle."""
    b, f = _axes(model, c)
    n, o = vec3.cross(f, b), zero(b[0])
    _access.put_position_error(model, c, 0, vec3.dot(b, f) - _access.number(model, c, 6))
    _access.put_wrench(model, c, 0, 0, vec3.neg(n), (o, o, o))
    _access.put_wrench(model, c, 0, 1, n, (o, o, o))


@generic
def velocities(model: Any, c: int) -> None:
    """What aerr has beside G udot."""
    b, f = _axes(model, c)
    base = _access.body(model, c, 0)
    w = _relative.angular_velocity(model, base, _access.body(model, c, 1))
    turning = vec3.dot(_relative.angular_offset(model, base, w), vec3.cross(f, b))
    _access.put_acceleration_offset(model, c, 0, turning + vec3.dot(w, vec3.cross(vec3.cross(w, f), b)))


class ConstantAngle(OneEquation):
    """Keeps the angle between an axis of one body and an axis of another: one equation of positions.

    Parameters
    ----------
    base_body, follower_body : MobilizedBody, int or str
        Two bodies of one system, one of which may be Ground; one of them may be given by its index or name.
    base_axis, follower_axis : (3,) array_like
        The axes, each in its body's frame, of any length but zero.
    angle : float
        The angle between them, from 0 to pi. At both ends the equation's derivative vanishes, and no torque can keep it: that
        two axes stay parallel takes two equations.
    disabled_by_default : bool
        Whether states start with it switched off.
    name : str, optional
        Unique among the constraints; one is made where none is given.

    Notes
    -----
    The error is the difference of cosines; the multiplier is a torque about f x b, of follower and base axis.
    """

    routine = _access.by_address(positions, velocities)
    _axis_display_length = 1.0
    _axis_display_width = 3.0

    def __init__(
        self,
        base_body: AnyBody,
        base_axis: npt.ArrayLike,
        follower_body: AnyBody,
        follower_axis: npt.ArrayLike,
        angle: float = math.pi / 2,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self._values = [*direction("base_axis", base_axis), *direction("follower_axis", follower_axis), *_angle(angle)]
        super().__init__([base_body, follower_body], equations=(1, 0, 0), disabled_by_default=disabled_by_default, name=name)

    def get_base_mobilized_body_index(self) -> int:
        """Index of the base."""
        return self._bodies[0].get_mobilized_body_index()

    def get_follower_mobilized_body_index(self) -> int:
        """Index of the follower."""
        return self._bodies[1].get_mobilized_body_index()

    def get_default_base_axis(self) -> Array:
        """The axis on the base, of length 1, that states start with ``(3,)``."""
        return self._default(0, 3)

    def set_default_base_axis(self, base_axis: npt.ArrayLike) -> ConstantAngle:
        """Change it; a topological change, after which `MultibodySystem.realize_topology` makes new states."""
        self._set_default(0, direction("base_axis", base_axis))
        return self

    def get_base_axis(self, state: State) -> Array:
        """The axis on the base, of length 1, in this state ``(3,)``. Needs MODEL."""
        return self._own(state, "get_base_axis", 0, 3)

    def get_default_follower_axis(self) -> Array:
        """The axis on the follower, of length 1, that states start with ``(3,)``."""
        return self._default(3, 3)

    def set_default_follower_axis(self, follower_axis: npt.ArrayLike) -> ConstantAngle:
        """Change it; a topological change, after which `MultibodySystem.realize_topology` makes new states."""
        self._set_default(3, direction("follower_axis", follower_axis))
        return self

    def get_follower_axis(self, state: State) -> Array:
        """The axis on the follower, of length 1, in this state ``(3,)``. Needs MODEL."""
        return self._own(state, "get_follower_axis", 3, 3)

    def get_default_angle(self) -> float:
        """The angle that states start with."""
        return float(self._default(7, 1)[0])

    def set_default_angle(self, angle: float) -> ConstantAngle:
        """Change it; a topological change, after which `MultibodySystem.realize_topology` makes new states."""
        self._set_default(6, _angle(angle))
        return self

    def get_angle(self, state: State) -> float:
        """The angle in this state. Needs MODEL."""
        return float(self._own(state, "get_angle", 7, 1)[0])

    def get_torque_on_follower_body(self, state: State) -> float:
        """The torque on the follower divided by f x b, whose length is the sine of the angle. Needs ACCELERATION."""
        return -self.get_multiplier(state)

    def get_axis_display_length(self) -> float:
        """The length of the axes that pictures show; length. For drawing only."""
        return self._axis_display_length

    def set_axis_display_length(self, length: float) -> ConstantAngle:
        """Change it; zero shows nothing. No change of the topology, as nothing moves differently."""
        self._axis_display_length = display_size("length", length)
        return self

    def get_axis_display_width(self) -> float:
        """The width of their lines, in points. For drawing only."""
        return self._axis_display_width

    def set_axis_display_width(self, width: float) -> ConstantAngle:
        """Change it; zero shows nothing. No change of the topology, as nothing moves differently."""
        self._axis_display_width = display_size("width", width)
        return self

    def _marks(self, state: State) -> list[Mark]:
        length, width = self._axis_display_length, self._axis_display_width
        if length == 0.0 or width == 0.0:
            return []
        axes = self.get_base_axis(state), self.get_follower_axis(state)
        return [
            (body, decoration.Line((0, 0, 0), length * axis, color=color, line_width=width))
            for body, axis, color in zip(self._bodies, axes, (FIRST, SECOND), strict=True)
        ]


def _angle(value: float) -> list[float]:
    """Its cosine and itself."""
    number = finite("angle", value)
    if not 0.0 <= number <= math.pi:
        raise ValueError(f"angle has to be from 0 to pi, got {value}")
    return [math.cos(number), number]
