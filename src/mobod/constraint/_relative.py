"""Relative velocity and acceleration of two bodies."""

from __future__ import annotations

from typing import Any

from ..algebra import vec3
from ..algebra.memory import load3
from ..algebra.scalar import zero
from ..compiling import generic
from . import access


@generic
def angular_velocity(model: Any, base: int, body: int) -> Any:
    """Of *body* in *base*, as all vectors here in Ground's axes."""
    return vec3.sub(load3(model.V_GB, body, 0), load3(model.V_GB, base, 0))


@generic
def angular_offset(model: Any, base: int, w: Any) -> Any:
    """The velocity-dependent part of the angular acceleration in the base: -w_base x w."""
    return vec3.cross(w, load3(model.V_GB, base, 0))


@generic
def velocity(model: Any, base: int, body: int, arm_base: Any, arm_body: Any) -> Any:
    """Velocity in *base* of the material point of *body* at a place given by the arms from both origins."""
    return vec3.sub(access.velocity_at(model, body, arm_body), access.velocity_at(model, base, arm_base))


@generic
def offset(model: Any, base: int, body: int, arm_base: Any, arm_body: Any, v: Any) -> Any:
    """The velocity-dependent part of that point's acceleration in *base*; *v* is its velocity."""
    apart = vec3.sub(access.centripetal(model, body, arm_body), access.centripetal(model, base, arm_base))
    return vec3.add_scaled(apart, zero(v[0]) - 2.0, vec3.cross(load3(model.V_GB, base, 0), v))


@generic
def place(model: Any, base: int, body: int, arm_body: Any) -> Any:
    """The arm from the base's origin to the end of *arm_body*."""
    return vec3.add(vec3.sub(load3(model.p_GB, body, 0), load3(model.p_GB, base, 0)), arm_body)
