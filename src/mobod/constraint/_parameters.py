"""Bases of constraints between bodies: the forces that they apply, and how they are drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ..algebra.arrays import Array
from ..decoration.geometry import Brick, Sphere
from ..mobilizer.base import MobilizedBody
from ..state.parameters import named
from ..state.state import State
from ..value import Transform, checks
from .base import Constraint, Line, Mark
from .floats import OnePosition

E = TypeVar("E")

#: The colours that Simbody has for what is on the first body, on the second, and between them.
FIRST, SECOND, BETWEEN = "green", "orange", "gray"


class BetweenBodies(Constraint):
    """A kind that puts forces on bodies."""

    def _applied(self, state: State, i: int) -> Array:
        """The wrench applied to constrained body *i* ``(2, 3)``: at its origin, in Ground; zero where disabled."""
        F, _ = self.get_constraint_forces_as_vectors(state)
        return 0.0 - F[i]

    def _applied_in_body(self, state: State, i: int) -> Array:
        """The same in the body's own frame."""
        return self._applied(state, i) @ np.asarray(self.constrained_bodies[i].get_body_transform(state).R)


class OneEquation(BetweenBodies, OnePosition):
    """A kind with one equation of positions."""


class Equations(BetweenBodies):
    """A kind with several equations of positions."""

    def get_position_errors(self, state: State) -> Array:
        """The errors of its equations. Needs POSITION."""
        return self.get_position_errors_as_vector(state)

    def get_velocity_errors(self, state: State) -> Array:
        """Their errors at the level of velocities. Needs VELOCITY."""
        return self.get_velocity_errors_as_vector(state)

    def get_acceleration_errors(self, state: State) -> Array:
        """Their errors at the level of accelerations. Needs ACCELERATION."""
        return self.get_acceleration_errors_as_vector(state)

    def get_multipliers(self, state: State) -> Array:
        """Their multipliers, of the sign opposite to forces. Needs ACCELERATION."""
        return self.get_multipliers_as_vector(state)


def body_of(name: str, i: int, which: str) -> Callable[[Any], MobilizedBody]:
    """``get_name()`` of constrained body *i*."""

    def get(self: Any) -> Any:
        return self.constrained_bodies[i]

    return named(get, f"get_{name}", "", {"return": "MobilizedBody"}, f"The mobilized body that is {which}.")


def index_of(name: str, i: int, which: str) -> Callable[[Any], int]:
    """``get_name_mobilized_body_index()`` of constrained body *i*."""

    def get(self: Any) -> Any:
        return self.constrained_bodies[i].get_mobilized_body_index()

    said = f"Index of the mobilized body that is {which}."
    return named(get, f"get_{name}_mobilized_body_index", "", {"return": "int"}, said)


def displayed(name: str, argument: str, doc: str) -> tuple[Callable[[Any], float], Callable[[E, float], E]]:
    """``get_name()`` and ``set_name(size)`` of a size in pictures, which is the attribute ``_name``."""
    attribute = f"_{name}"

    def get(self: Any) -> Any:
        return getattr(self, attribute)

    def set_(self: Any, value: Any) -> Any:
        setattr(self, attribute, checks.not_negative(f"{argument} of {self.name!r}", value))
        return self

    getter = named(get, f"get_{name}", "", {"return": "float"}, f"{doc[:1].upper()}{doc[1:]}. For drawing only.")
    said = f"Change {doc}; zero shows nothing. No change of the topology, as nothing moves differently."
    return getter, named(set_, f"set_{name}", argument, {argument: "float", "return": "Self"}, said)


class WithFollowerPoint(Constraint):
    """One whose second body, the follower, has a point in it, which pictures show as a ball."""

    _point_display_radius = 0.05
    get_follower_station: Callable[[State], Array]

    get_follower_mobilized_body_index = index_of("follower", 1, "the follower")
    get_point_display_radius, set_point_display_radius = displayed(
        "point_display_radius", "radius", "the radius of the point that pictures show; length"
    )

    def mark_of_follower(self, state: State) -> list[Mark]:
        """The ball, unless it has no size."""
        r, X = self._point_display_radius, Transform(self.get_follower_station(state))
        return [(self.constrained_bodies[1], Sphere(r, X=X, color=SECOND))] if r > 0.0 else []


class WithPlane(Constraint):
    """One whose first body has a plane in it, of which pictures show a part."""

    _plane_display_half_width = 1.0

    get_plane_display_half_width, set_plane_display_half_width = displayed(
        "plane_display_half_width", "half_width", "half the width of the plane that pictures show; length"
    )

    def mark_of_plane(self, X: Transform) -> list[Mark]:
        """The part, transparent, of the x-y plane of a frame of the first body; unless it has no size."""
        h = self._plane_display_half_width
        shape = Brick((h, h, 0.002 * h), X=X, color=BETWEEN, opacity=0.3) if h > 0.0 else None
        return [] if shape is None else [(self.constrained_bodies[0], shape)]


def across(z: Array) -> Array:
    """A unit vector normal to a unit vector: z times the axis along which its component is smallest."""
    x = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
    return x / np.linalg.norm(x)


__all__ = ["Line", "Mark"]
