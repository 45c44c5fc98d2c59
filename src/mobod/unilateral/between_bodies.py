"""Contacts of bodies with friction: how these make their constraints, and where they touch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..constraint.base import AnyBody, Constraint, bodies_named
from ..mobilizer.base import MobilizedBody
from ..state.state import State
from ..value import Rotation, Transform, checks
from .base import UnilateralContact, friction_coefficients

C = TypeVar("C", bound=Constraint)


def bodies_and_name(kind: str, bodies: Sequence[AnyBody], name: str | None) -> tuple[list[MobilizedBody], str]:
    """The bodies, and the contact's name."""
    found = bodies_named(kind, list(bodies), None)
    return found, found[0].get_matter_subsystem().name_of_contact(kind, name)


class BetweenBodies(UnilateralContact):
    """A contact of two bodies at a point, with friction where a coefficient is above zero.

    *make* makes a constraint on the two bodies: it is called with whether slip is forbidden, and a name.
    *friction* is that at rest, in motion, and by the slip. Kinds that are no plane's have the frame of their constraint.
    """

    def __init__(
        self,
        bodies: Sequence[AnyBody],
        make: Callable[[list[MobilizedBody], bool, str], Constraint],
        restitution: float,
        friction: tuple[float, float | None, float],
        name: str | None,
    ) -> None:
        kind = type(self).__name__
        checks.between("restitution", restitution, 0.0, 1.0)
        coefficients = friction_coefficients(name or kind, *friction)
        both, own = bodies_and_name(kind, bodies, name)
        normal = make(both, False, f"{own}: normal")
        rolling = make(both, True, f"{own}: rolling") if any(coefficients) else None
        static, dynamic, viscous = friction
        super().__init__(
            normal,
            rolling,
            restitution=restitution,
            static_friction=static,
            dynamic_friction=dynamic,
            viscous_friction=viscous,
            name=own,
        )

    def get_first_body(self) -> MobilizedBody:
        """The first body: of a plane, that which has the plane."""
        return self.normal.constrained_bodies[0]

    def get_second_body(self) -> MobilizedBody:
        """The second body."""
        return self.normal.constrained_bodies[1]

    def find_contact_frame_in_g(self, state: State) -> Transform:
        """The contact point in Ground: z is the normal, towards the second body, x and y the directions of friction.

        Needs POSITION.
        """
        found: Transform = self.normal.find_contact_frame_in_g(state)  # type: ignore[attr-defined]
        return found

    def find_force_on_second_body_in_g(self, state: State) -> Array:
        """Normal force and friction on the second body, at the contact point, in Ground ``(3,)``. Needs ACCELERATION."""
        frame = np.asarray(self.find_contact_frame_in_g(state).R)
        return frame @ np.append(self.calc_friction_force(state), self.calc_normal_force(state))

    def where_to_display(self, state: State) -> Array:
        return np.array(self.find_contact_frame_in_g(state).p)


def plane_frame(normal: npt.ArrayLike, height: Any) -> Transform:
    """A frame in the plane normal . x = height, its z axis along the normal."""
    z = checks.unit("normal", normal)
    h = checks.finite("height", height)
    x = np.zeros(3)
    x[int(np.abs(z).argmin())] = 1.0
    x = np.cross(x, z)
    x /= np.linalg.norm(x)
    return Transform(Rotation(np.column_stack([x, np.cross(z, x), z])), h * z)


def frame_of_plane(body: MobilizedBody, frame: Transform, state: State) -> Array:
    """The axes of a plane's frame in Ground, as columns."""
    return np.asarray(body.get_body_transform(state).R) @ np.asarray(frame.R)
