"""SpatialInertia and ArticulatedInertia: symmetric 6x6 matrices, from spatial accelerations to spatial forces.

    [torque]   [    I      m com~ ] [angular acceleration]
    [force ] = [ -m com~   m 1    ] [linear acceleration ]     about the body's origin, angular rows first

An articulated inertia, P = [[J, F], [F^T, M]], is that of a body with others hinged to it: how much mass it shows
depends on the direction. Source: Featherstone 1987; the block names are Simbody's.
"""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..algebra.arrays import Array
from ..errors import ModelError
from . import checks
from ._immutable import Immutable, MatrixValue, show
from .inertia import Inertia, UnitInertia, as_rotation, point_inertia, reexpress
from .mass_properties import MassProperties, check_mass_properties, cross_matrix, spatial_matrix, unit_of
from .rotation import Rotation
from .transform import Transform

ROUNDING = 1e-9
"""Part of a matrix's largest entry that rounding explains, in what should be symmetric or not negative."""


class SpatialInertia(Immutable):
    """Mass, mass center and unit inertia of a rigid body as an operator on spatial vectors; immutable.

    ``M @ A`` is the spatial force that gives a body at rest the spatial acceleration ``A``: for ``A`` a spatial vector
    (2, 3) or (6,), an array of them (n, 2, 3), or a matrix of columns (6, n); the result has the same shape.
    ``M + N`` is that of two bodies tied together; ``np.asarray(M)`` is the matrix (6, 6), angular rows first.

    Parameters
    ----------
    mass : float
        Mass.
    com : array_like (3,)
        Mass center, measured from the body's origin; length.
    unit_inertia : UnitInertia or array_like (3, 3)
        Unit inertia about the body's origin; length^2.

    Raises
    ------
    ModelError
        If no body has them, as for ``MassProperties``.

    Examples
    --------
    >>> M = SpatialInertia(2, (0, 0, 0), UnitInertia(1, 1, 1))
    >>> M @ [(0, 0, 1), (1, 0, 0)]
    array([[0., 0., 2.],
           [2., 0., 0.]])
    """

    __slots__ = ("_com", "_mass", "_unit_inertia")
    _mass: float
    _com: Array
    _unit_inertia: Array

    def __init__(self, mass: float, com: ArrayLike, unit_inertia: UnitInertia | ArrayLike) -> None:
        if isinstance(unit_inertia, Immutable) and not isinstance(unit_inertia, UnitInertia):
            raise TypeError(f"unit_inertia must be a UnitInertia or a (3, 3) matrix, not {unit_inertia!r}")
        unit = unit_inertia if isinstance(unit_inertia, UnitInertia) else UnitInertia(unit_inertia)
        self._mass, self._com, _ = check_mass_properties(mass, com, unit)
        self._com.setflags(write=False)
        self._unit_inertia = unit.matrix if self._mass else unit_of(0.0, unit.matrix)
        self._unit_inertia.setflags(write=False)

    @classmethod
    def trusted(cls, mass: float, com: Array, unit_inertia: Array) -> Self:
        """Make one of numbers known to be right: unit inertia (3, 3); arrays are kept, and made read-only.

        Ground's mass is infinite, and its unit inertia the identity.
        """
        self = object.__new__(cls)
        com.setflags(write=False)
        unit_inertia.setflags(write=False)
        self._mass = mass
        self._com = com
        self._unit_inertia = unit_inertia
        return self

    @classmethod
    def from_mass_properties(cls, mass_properties: MassProperties) -> Self:
        """Make the spatial inertia of a body's mass properties, about the same origin.

        Parameters
        ----------
        mass_properties : MassProperties
            Of one body.
        """
        m = mass_properties
        return cls.trusted(m._mass, m._com, unit_of(m._mass, m._inertia))

    @property
    def mass(self) -> float:
        """Mass; infinite for Ground."""
        return self._mass

    @property
    def com(self) -> Array:
        """Mass center, measured from the body's origin: (3,), read-only; length."""
        return self._com

    @property
    def unit_inertia(self) -> UnitInertia:
        """Inertia about the body's origin of each unit of mass; length^2."""
        return UnitInertia.trusted(self._unit_inertia)

    @property
    def inertia(self) -> Inertia:
        """Inertia about the body's origin; mass*length^2."""
        return Inertia.trusted(self._inertia())

    @property
    def mass_moment(self) -> Array:
        """Mass times mass center: (3,); mass*length."""
        return np.zeros(3) if math.isinf(self._mass) else np.asarray(self._mass * self._com)

    def _inertia(self) -> Array:
        if math.isinf(self._mass):
            return np.diag(np.full(3, math.inf))
        return np.asarray(self._mass * self._unit_inertia)

    def reexpress(self, R_FB: Rotation) -> SpatialInertia:
        """Re-express in the axes of a frame B what is given in F; it stays about the same origin.

        Parameters
        ----------
        R_FB : Rotation
            Orientation of B in F.
        """
        R_FB = as_rotation(R_FB)
        unit = self._unit_inertia if math.isinf(self._mass) else reexpress(self._unit_inertia, R_FB)
        return SpatialInertia.trusted(self._mass, R_FB.matrix.T @ self._com, unit)

    def shift(self, p: ArrayLike) -> SpatialInertia:
        """Shift to another origin; the axes stay.

        Parameters
        ----------
        p : array_like (3,)
            The new origin, measured from the present one; length.
        """
        com = self._com - checks.vector("p", p)
        if self._mass == 0.0 or math.isinf(self._mass):
            return SpatialInertia.trusted(self._mass, com, self._unit_inertia)
        central = self._unit_inertia - point_inertia(self._com, 1.0)
        return SpatialInertia.trusted(self._mass, com, central + point_inertia(com, 1.0))

    def transform(self, X_FB: Transform) -> SpatialInertia:
        """Shift to the origin of a frame B, and re-express in its axes, what is given in F.

        Parameters
        ----------
        X_FB : Transform
            Pose of B in F.
        """
        X_FB = Transform(X_FB)
        return self.shift(X_FB.p).reexpress(X_FB.R)

    def __add__(self, other: SpatialInertia) -> SpatialInertia:
        if not isinstance(other, SpatialInertia):
            return NotImplemented
        mass = self._mass + other._mass
        if mass == 0.0 or math.isinf(self._mass):
            return self
        if math.isinf(other._mass):
            return other
        a, b = self._mass / mass, other._mass / mass
        return SpatialInertia.trusted(mass, a * self._com + b * other._com, a * self._unit_inertia + b * other._unit_inertia)

    def __matmul__(self, other: ArrayLike) -> Array:
        if isinstance(other, Immutable):
            return NotImplemented
        return _apply(spatial_matrix(self._mass, self._com, self._inertia()), other, "SpatialInertia")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("the (6, 6) matrix of a SpatialInertia is made when asked for, so it is always a copy")
        matrix = spatial_matrix(self._mass, self._com, self._inertia())
        return matrix if dtype is None else matrix.astype(dtype, copy=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SpatialInertia):
            return NotImplemented
        return (
            self._mass == other._mass
            and np.array_equal(self._com, other._com)
            and np.array_equal(self._unit_inertia, other._unit_inertia)
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).trusted, (self._mass, self._com, self._unit_inertia)

    def __repr__(self) -> str:
        return f"SpatialInertia(mass={self._mass:g}, com={show(self._com)}, unit_inertia={show(self._unit_inertia)})"


class ArticulatedInertia(MatrixValue):
    """The inertia that a body shows when others are hinged to it, a symmetric matrix (6, 6); immutable.

    ``P @ A`` works as for ``SpatialInertia``, ``P + Q`` and ``P - Q`` too; ``np.asarray(P)`` is the matrix
    [[inertia, mass_moment], [mass_moment^T, mass]].

    Parameters
    ----------
    matrix : SpatialInertia or array_like (6, 6)
        Symmetric, angular rows first.

    Raises
    ------
    ModelError
        If the matrix is not symmetric, has a negative eigenvalue, or is not finite.

    Examples
    --------
    >>> P = ArticulatedInertia(SpatialInertia(2, (0, 0, 0), UnitInertia(1, 1, 1)))
    >>> P.shift((0, 0, 1)).inertia.diagonal()
    array([4., 4., 2.])
    """

    __slots__ = ()

    def __init__(self, matrix: SpatialInertia | ArrayLike) -> None:
        if isinstance(matrix, SpatialInertia):
            symmetric = np.asarray(matrix)
        else:
            m = checks.array("the matrix of ArticulatedInertia", matrix, (6, 6))
            scale = np.abs(m).max()
            if np.abs(m - m.T).max() > ROUNDING * scale:
                raise ModelError(f"the matrix of ArticulatedInertia must be symmetric; it is {show(m)}")
            symmetric = np.asarray(0.5 * (m + m.T))
            lowest = float(np.linalg.eigvalsh(symmetric)[0])
            if lowest < -ROUNDING * scale:
                raise ModelError(
                    f"the matrix of ArticulatedInertia must have no negative eigenvalue; one is {lowest:.6g}; "
                    "angular rows come first, [[J, F], [F^T, M]]"
                )
        symmetric.setflags(write=False)
        self.matrix = symmetric

    @property
    def inertia(self) -> Array:
        """Angular block J, moment of angular acceleration: (3, 3), read-only; mass*length^2."""
        return self.matrix[:3, :3]

    @property
    def mass_moment(self) -> Array:
        """Coupling block F, moment of linear acceleration: (3, 3), read-only; mass*length."""
        return self.matrix[:3, 3:]

    @property
    def mass(self) -> Array:
        """Linear block M, force of linear acceleration: (3, 3), read-only; mass, other in each direction."""
        return self.matrix[3:, 3:]

    def shift(self, p: ArrayLike) -> ArticulatedInertia:
        """Shift to another origin; the axes stay.

        Parameters
        ----------
        p : array_like (3,)
            The new origin, measured from the present one, as for ``SpatialInertia.shift`` (Simbody's
            ``ArticulatedInertia::shift`` goes the other way); length.
        """
        A = np.eye(6)
        A[3:, :3] = cross_matrix(checks.vector("p", p))  # velocity of the old origin: v_new - w x p
        shifted = A.T @ self.matrix @ A
        return ArticulatedInertia.trusted(0.5 * (shifted + shifted.T))

    def __add__(self, other: ArticulatedInertia | SpatialInertia) -> ArticulatedInertia:
        if not isinstance(other, (ArticulatedInertia, SpatialInertia)):
            return NotImplemented
        return ArticulatedInertia.trusted(self.matrix + np.asarray(other))

    __radd__ = __add__

    def __sub__(self, other: ArticulatedInertia | SpatialInertia) -> ArticulatedInertia:
        if not isinstance(other, (ArticulatedInertia, SpatialInertia)):
            return NotImplemented
        return ArticulatedInertia(self.matrix - np.asarray(other))

    def __matmul__(self, other: ArrayLike) -> Array:
        if isinstance(other, Immutable):
            return NotImplemented
        return _apply(self.matrix, other, "ArticulatedInertia")


def _apply(matrix: Array, value: ArrayLike, name: str) -> Array:
    """Multiply spatial vectors (2, 3), (6,), (..., 2, 3), or columns (6, n); what comes back has the same shape."""
    a = checks.numbers(f"what a {name} is applied to", value)
    if a.shape[-2:] == (2, 3):
        return np.asarray((a.reshape(-1, 6) @ matrix).reshape(a.shape))  # the matrix is symmetric
    if a.ndim in (1, 2) and a.shape[0] == 6:
        return np.asarray(matrix @ a)
    raise ValueError(
        f"a {name} is applied to a spatial vector (2, 3) or (6,), to (n, 2, 3), or to columns (6, n), "
        f"not to an array of shape {a.shape}"
    )
