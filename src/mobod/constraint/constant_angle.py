"""ConstantAngle: an axis of one body and an axis of another keep an angle: one equation of positions.

    perr = b.f - cos(angle)     verr = w.(f x b)     aerr = w'.(f x b) + w.((w x f) x b)

with b the base's axis and f the follower's, w the angular velocity of the follower in the base and w' its rate seen from there.
A positive multiplier is a torque -f x b on the follower. Source: the conventions of Simbody 3.7.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import decoration
from ..algebra import mat33, vec3
from ..algebra.arrays import Array
from ..algebra.memory import load9
from ..algebra.scalar import zero
from ..compiling import generic
from ..errors import ModelError
from ..state import parameters
from ..state.state import State
from ..value.checks import finite
from ..value.rows import in_rows
from . import _relative, access
from ._parameters import FIRST, SECOND, Mark, OneEquation, displayed, index_of
from .base import AnyBody


@generic
def _axes(model: Any, c: int) -> Any:
    b = mat33.mul_vec(load9(model.R_GB, access.body(model, c, 0), 0), access.vector(model, c, 0))
    return b, mat33.mul_vec(load9(model.R_GB, access.body(model, c, 1), 0), access.vector(model, c, 3))


@generic
def positions(model: Any, c: int) -> None:
    """perr, and torques about f x b. Parameters: both axes, the cosine, the angle."""
    b, f = _axes(model, c)
    n, o = vec3.cross(f, b), zero(b[0])
    access.put_position_error(model, c, 0, vec3.dot(b, f) - access.number(model, c, 6))
    access.put_wrench(model, c, 0, 0, vec3.neg(n), (o, o, o))
    access.put_wrench(model, c, 0, 1, n, (o, o, o))


@generic
def velocities(model: Any, c: int) -> None:
    """The bias of aerr: its part that does not depend on udot."""
    b, f = _axes(model, c)
    base = access.body(model, c, 0)
    w = _relative.angular_velocity(model, base, access.body(model, c, 1))
    turning = vec3.dot(_relative.angular_offset(model, base, w), vec3.cross(f, b))
    access.put_acceleration_offset(model, c, 0, turning + vec3.dot(w, vec3.cross(vec3.cross(w, f), b)))


def _angle(what: str, value: Any) -> list[float]:
    """A number from 0 to pi."""
    angle = finite(what, value)
    if not 0.0 <= angle <= math.pi:
        raise ModelError(f"{what} has to be from 0 to pi, got {value!r}")
    return [math.cos(angle), angle]


@in_rows(_angle)
def _angles(values: Array) -> Array | None:
    return np.stack([np.cos(values), values], axis=1) if ((values >= 0.0) & (values <= math.pi)).all() else None


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

    Notes
    -----
    The error is the difference of cosines; the multiplier is a torque about f x b, of follower and base axis.

    Examples
    --------
    >>> import numpy as np
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> one = mb.mobilizer.Free(matter.ground, ball)
    >>> part = mb.constraint.ConstantAngle(matter.ground, (1, 0, 0), one, (0, 1, 0), 1.5)
    >>> state = system.realize_topology()
    >>> one.set_q_to_fit_rotation(state, mb.Rotation.about_axis(0.1, 'z'))
    >>> system.project(state)
    True
    >>> system.realize(state, mb.Stage.POSITION)
    >>> float(np.arccos(one.get_body_rotation(state).matrix[0, 1]).round(3))
    1.5
    """

    routine = access.by_address(positions, velocities)
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
        self.default_numbers = self.declared(name, base_axis=base_axis, follower_axis=follower_axis, angle=angle)
        super().__init__([base_body, follower_body], equations=(1, 0, 0), disabled_by_default=disabled_by_default, name=name)

    get_base_mobilized_body_index = index_of("base", 0, "the base")
    get_follower_mobilized_body_index = index_of("follower", 1, "the follower")
    get_default_base_axis, set_default_base_axis, get_base_axis, set_base_axis = parameters.direction(
        "base_axis", "the axis on the base"
    ).accessors()
    get_default_follower_axis, set_default_follower_axis, get_follower_axis, set_follower_axis = parameters.direction(
        "follower_axis", "the axis on the follower"
    ).accessors()
    get_default_angle, set_default_angle, get_angle, set_angle = parameters.Parameter[float, float](
        "angle", "angle", _angle, "the angle between the axes", (), 2, lambda pair: float(pair[1]), ("float", "float")
    ).accessors()

    def get_torque_on_follower_body(self, state: State) -> float:
        """The torque on the follower divided by f x b, whose length is the sine of the angle. Needs ACCELERATION."""
        return -self.get_multiplier(state)

    get_axis_display_length, set_axis_display_length = displayed(
        "axis_display_length", "length", "the length of the axes that pictures show; length"
    )
    get_axis_display_width, set_axis_display_width = displayed(
        "axis_display_width", "width", "the width of their lines, in points"
    )

    def marks(self, state: State) -> list[Mark]:
        length, width = self._axis_display_length, self._axis_display_width
        if length == 0.0 or width == 0.0:
            return []
        axes = self.get_base_axis(state), self.get_follower_axis(state)
        return [
            (body, decoration.Line((0, 0, 0), length * axis, color=color, line_width=width))
            for body, axis, color in zip(self.constrained_bodies, axes, (FIRST, SECOND), strict=True)
        ]
