"""MassProperties: mass, mass center and inertia of a rigid body, about the origin and in the axes of its frame."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..algebra.arrays import Array
from ..errors import ModelError
from . import checks
from ._immutable import Immutable, show
from .inertia import Inertia, InertiaMatrix, UnitInertia, as_rotation, is_physical, non_physical, point_inertia, reexpress
from .rotation import Rotation
from .transform import Transform


class MassProperties(Immutable):
    """Mass, mass center and inertia of a body B; immutable.

    Parameters
    ----------
    mass : float
        Mass; zero for a body without.
    com : array_like (3,)
        Location of the mass center, measured from B's origin and expressed in B; length.
    inertia : Inertia or UnitInertia or array_like (3, 3)
        About B's origin (not about the mass center), expressed in B. A ``UnitInertia`` is multiplied by the mass;
        an array is an ``Inertia``, mass*length^2.

    Raises
    ------
    ModelError
        If no body has them: the mass is negative, a number is not finite, a body without mass has inertia, or the
        inertia about the mass center, which follows from the three, has a negative principal moment or one that
        is larger than the sum of the others.

    Examples
    --------
    A rod of mass 2 and length 1 that hangs from its origin along -y:

    >>> G = UnitInertia.cylinder_along_y(0, 0.5).shift_from_centroid((0, -0.5, 0))
    >>> rod = MassProperties(2, (0, -0.5, 0), G)
    >>> rod.central_inertia.moments * 6
    array([1., 0., 1.])
    """

    __slots__ = ("_com", "_inertia", "_mass", "_unit")
    _mass: float
    _com: Array
    _inertia: Array
    _unit: UnitInertia | None

    def __init__(self, mass: float, com: ArrayLike, inertia: Inertia | UnitInertia | ArrayLike) -> None:
        self._mass, self._com, self._inertia = check_mass_properties(mass, com, inertia)
        self._com.setflags(write=False)
        self._inertia.setflags(write=False)
        self._unit = None

    @classmethod
    def trusted(cls, mass: float, com: Array, inertia: Array) -> Self:
        """Make one of numbers known to be right: inertia (3, 3) about the origin; arrays are kept, and made read-only.

        Ground's mass is infinite, and its inertia infinite times the identity.
        """
        self = object.__new__(cls)
        com.setflags(write=False)
        inertia.setflags(write=False)
        self._mass = mass
        self._com = com
        self._inertia = inertia
        self._unit = None
        return self

    @property
    def mass(self) -> float:
        """Mass of the body; infinite for Ground."""
        return self._mass

    @property
    def com(self) -> Array:
        """Mass center, measured from B's origin, expressed in B: (3,), read-only; length."""
        return self._com

    @property
    def inertia(self) -> Inertia:
        """Inertia about B's origin, expressed in B; mass*length^2."""
        return Inertia.trusted(self._inertia)

    @property
    def unit_inertia(self) -> UnitInertia:
        """Inertia about B's origin of each unit of mass, expressed in B; length^2. Zero if there is no mass."""
        if self._unit is None:
            self._unit = UnitInertia.trusted(unit_of(self._mass, self._inertia))
        return self._unit

    @property
    def central_inertia(self) -> Inertia:
        """Inertia about the mass center, expressed in B; mass*length^2."""
        return Inertia.trusted(self._central())

    def _central(self) -> Array:
        if math.isinf(self._mass):
            return self._inertia
        return np.asarray(self._inertia - point_inertia(self._com, self._mass))

    def is_exactly_massless(self) -> bool:
        """Tell whether the mass is zero."""
        return self._mass == 0.0

    def is_exactly_central(self) -> bool:
        """Tell whether the mass center is at B's origin."""
        return not self._com.any()

    def reexpress(self, R_BC: Rotation) -> MassProperties:
        """Re-express in the axes of another frame C; everything stays about B's origin.

        Parameters
        ----------
        R_BC : Rotation
            Orientation of C in B.

        Returns
        -------
        MassProperties
            The same body's, expressed in C.
        """
        R_BC = as_rotation(R_BC)
        inertia = self._inertia if math.isinf(self._mass) else reexpress(self._inertia, R_BC)
        return MassProperties.trusted(self._mass, R_BC.matrix.T @ self._com, inertia)

    def calc_shifted_mass_props(self, new_origin_b: ArrayLike) -> MassProperties:
        """Shift to another origin; the axes stay those of B.

        Parameters
        ----------
        new_origin_b : array_like (3,)
            The new origin, measured from B's origin and expressed in B; length.

        Returns
        -------
        MassProperties
            The same body's, measured from and about the new origin.
        """
        com = self._com - checks.vector("new_origin_b", new_origin_b)
        if math.isinf(self._mass):
            return MassProperties.trusted(self._mass, com, self._inertia)
        return MassProperties.trusted(self._mass, com, self._central() + point_inertia(com, self._mass))

    def calc_transformed_mass_props(self, X_BC: Transform) -> MassProperties:
        """Shift to the origin of a frame C and re-express in its axes.

        Parameters
        ----------
        X_BC : Transform
            Pose of C in B.

        Returns
        -------
        MassProperties
            The same body's, in C.
        """
        X_BC = Transform(X_BC)
        return self.calc_shifted_mass_props(X_BC.p).reexpress(X_BC.R)

    def __add__(self, other: MassProperties) -> MassProperties:
        """Of two bodies that are fastened to each other, both measured from one origin and expressed in one frame.

        One that is given in a frame of its own, C, comes into the common one B by ``calc_transformed_mass_props(X_CB)``, with
        X_CB the pose of B in C: ``robot + payload.calc_transformed_mass_props(~X_BC)``.
        """
        if not isinstance(other, MassProperties):
            return NotImplemented
        mass = self._mass + other._mass
        if math.isinf(mass):
            return self if math.isinf(self._mass) else other
        com = self._com if mass == 0.0 else (self._mass * self._com + other._mass * other._com) / mass
        return MassProperties.trusted(mass, com.copy(), np.asarray(self._inertia + other._inertia))

    def __radd__(self, other: object) -> MassProperties:
        # for sum(), which begins with 0
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def to_spatial_matrix(self) -> Array:
        """Make the spatial inertia (6, 6), angular rows first: [[I, m com~], [-m com~, m 1]].

        Returns
        -------
        ndarray (6, 6)
            Of an infinite mass, infinity times the identity.
        """
        return spatial_matrix(self._mass, self._com, self._inertia)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MassProperties):
            return NotImplemented
        return (
            self._mass == other._mass
            and np.array_equal(self._com, other._com)
            and np.array_equal(self._inertia, other._inertia)
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).trusted, (self._mass, self._com, self._inertia)

    def __repr__(self) -> str:
        return f"MassProperties(mass={self._mass:g}, com={show(self._com)}, inertia={show(self._inertia)})"


def check_mass_properties(
    mass: float, com: ArrayLike, inertia: Inertia | UnitInertia | ArrayLike
) -> tuple[float, Array, Array]:
    """Check what a user gives as mass, mass center, and inertia about the origin; the last comes back (3, 3)."""
    mass = checks.finite("mass", mass)
    if mass < 0.0:
        raise ModelError(f"mass must not be negative; it is {mass!r}; a body without mass is body.Massless()")
    com = checks.vector("the mass center com", com)
    if isinstance(inertia, UnitInertia):
        matrix = inertia.matrix * mass
    elif isinstance(inertia, InertiaMatrix):
        matrix = inertia.matrix
    elif isinstance(inertia, Immutable):
        raise TypeError(f"inertia must be an Inertia, a UnitInertia or a (3, 3) matrix, not {inertia!r}")
    else:
        matrix = Inertia(inertia).matrix
    if mass == 0.0:
        if matrix.any():
            raise ModelError(f"a body without mass has no inertia; mass is 0 and inertia is {show(matrix)}")
        return mass, com, matrix
    point = point_inertia(com, mass)
    central = matrix - point
    if not is_physical(central, max(float(np.abs(matrix).max()), float(np.abs(point).max()))):
        raise non_physical(
            central,
            f"the inertia about the mass center {show(com)}, which follows from {show(matrix)} about the origin,",
            "give the inertia about the body's origin: one about the mass center is shifted there by "
            "inertia.shift_from_centroid(com, mass)",
        )
    return mass, com, matrix


def unit_of(mass: float, inertia: Array) -> Array:
    """Inertia (3, 3) of each unit of mass: zero without mass, the identity if that is infinite (Simbody's Ground)."""
    if mass == 0.0:
        return np.zeros((3, 3))
    if math.isinf(mass):
        return np.eye(3)
    return np.asarray(inertia / mass)


def cross_matrix(p: Array) -> Array:
    """Matrix p~ with p~ v = p x v."""
    x, y, z = p.tolist()
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def spatial_matrix(mass: float, com: Array, inertia: Array) -> Array:
    """Spatial inertia (6, 6), of an infinite mass infinity times the identity."""
    if math.isinf(mass):
        return np.diag(np.full(6, math.inf))  # infinity times the zeros of com~ would be NaN
    matrix = np.empty((6, 6))
    moment = mass * cross_matrix(com)
    matrix[:3, :3] = inertia
    matrix[:3, 3:] = moment
    matrix[3:, :3] = -moment
    matrix[3:, 3:] = mass * np.eye(3)
    return matrix
