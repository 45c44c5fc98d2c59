"""Inertia and UnitInertia: how mass, or a unit of mass, is spread about a point.

    I = integral of (r.r 1 - r r^T) dm     I_P = I_C + m (p.p 1 - p p^T), p from C, the mass center, to P

Products of inertia are the entries of that matrix: xy is I[0, 1], minus the integral of x y dm.
Simbody checks the triangle inequality of the diagonal; here it is that of the principal moments, which implies it.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..algebra.arrays import Array
from ..errors import ModelError
from . import checks
from ._immutable import Immutable, MatrixValue, show
from .rotation import Rotation

ROUNDING = 1e-9
"""Part of an inertia's largest entry that rounding explains, in what should be symmetric or not negative."""

SMALLEST = 1e-300
"""Below this, numbers lose their digits (they are subnormal), and sums of them prove nothing."""

_CHECK = "check the units, the point that it is about, and the signs of the products of inertia (xy is the entry I[0, 1])"


def point_inertia(p: Array, mass: float) -> Array:
    """Inertia (3, 3) of a point mass at p, about the origin."""
    x, y, z = p.tolist()
    mx, my, mz = mass * x, mass * y, mass * z
    xy, xz, yz = -mx * y, -mx * z, -my * z
    return np.array([[my * y + mz * z, xy, xz], [xy, mx * x + mz * z, yz], [xz, yz, mx * x + my * y]])


def reexpress(matrix: Array, R_FB: Rotation) -> Array:
    """Re-express a symmetric matrix (3, 3) of frame F in frame B, and keep it symmetric to the bit."""
    R = R_FB.matrix
    product = R.T @ matrix @ R
    return np.asarray(0.5 * (product + product.T))


def is_physical(matrix: Array, scale: float) -> bool:
    """Tell whether a symmetric matrix is the inertia of some body, to rounding of numbers like scale."""
    return _has_second_moments(matrix, 0.5 * ROUNDING * scale + SMALLEST)


def non_physical(matrix: Array, name: str, hint: str = _CHECK) -> ModelError:
    """Make the error that says why a matrix is the inertia of no body."""
    if not np.isfinite(matrix).all():
        return ModelError(f"{name} is too large for a float64; choose other units")
    low, middle, high = np.linalg.eigvalsh(matrix).tolist()
    moments = f"{low:.6g}, {middle:.6g}, {high:.6g}"
    if low < -ROUNDING * high:
        return ModelError(f"{name} must not have a negative moment; its principal moments are {moments}; {hint}")
    rule = "a principal moment is at most the sum of the other two"
    return ModelError(f"{name} is that of no body: {rule}, these are {moments}; {hint}")


def _has_second_moments(matrix: Array, slack: float) -> bool:
    """Tell whether trace(I)/2 1 - I, the integral of r r^T, is positive definite when slack is added to its diagonal.

    Its eigenvalues are halves of what the sum of two principal moments exceeds the third by. By LDL: LAPACK's
    eigenvalues cost 20 to 200 us, more than all else that making a body costs.
    """
    xx, xy, xz, _, yy, yz, _, _, zz = map(float, matrix.flat)
    half = 0.5 * (xx + yy + zz) + slack
    a, b, c = half - xx, half - yy, half - zz
    if not a > 0.0:  # NaN too
        return False
    b -= xy / a * xy
    yz += xy / a * xz  # of minus the products: the sign of the product of two stays
    if not b > 0.0:
        return False
    return c - xz / a * xz - yz / b * yz > 0.0


class InertiaMatrix(MatrixValue):
    """A symmetric matrix that some body has: `Inertia` and `UnitInertia` share this. Not created by itself.

    Parameters
    ----------
    xx : float or array_like (3, 3)
        Moment of inertia about x; or the whole symmetric matrix, alone.
    yy, zz : float
        Moments of inertia about y and z.
    xy, xz, yz : float, optional
        Products of inertia, as entries of the matrix.
    """

    __slots__ = ()

    def __init__(
        self,
        xx: float | ArrayLike,
        yy: float | None = None,
        zz: float | None = None,
        xy: float = 0.0,
        xz: float = 0.0,
        yz: float = 0.0,
    ) -> None:
        name = type(self).__name__
        if isinstance(xx, InertiaMatrix) and type(xx) is not type(self):
            raise TypeError(f"{xx!r} cannot be made a {name}; multiply or divide it by the mass")
        if yy is None and zz is None:
            matrix = _symmetric(xx, name)
        elif yy is None or zz is None:
            raise TypeError(f"{name} takes three moments, or one (3, 3) matrix; one moment is missing")
        else:
            entries = zip(("xx", "yy", "zz", "xy", "xz", "yz"), (xx, yy, zz, xy, xz, yz), strict=True)
            a, b, c, d, e, f = (checks.finite(f"{label} of the {name}", value) for label, value in entries)
            matrix = np.array([[a, d, e], [d, b, f], [e, f, c]])
        if not is_physical(matrix, float(np.abs(matrix).max())):
            raise non_physical(matrix, f"the {name} {show(matrix)}")
        matrix.setflags(write=False)
        self.matrix = matrix

    def _six(self) -> Array:
        """Give xx, yy, zz, xy, xz, yz in an array of their own."""
        return self.matrix.ravel()[[0, 4, 8, 1, 2, 5]]

    @property
    def moments(self) -> Array:
        """Moments of inertia xx, yy, zz: (3,)."""
        return self.matrix.diagonal().copy()

    @property
    def products(self) -> Array:
        """Products of inertia xy, xz, yz, as entries of the matrix: (3,)."""
        return self.matrix.ravel()[[1, 2, 5]]

    def reexpress(self, R_FB: Rotation) -> Self:
        """Re-express this inertia, given in F, in another frame B; it stays about the same point.

        Parameters
        ----------
        R_FB : Rotation
            Orientation of the new frame B in the present one F.

        Returns
        -------
        Inertia or UnitInertia
            ``~R_FB`` I ``R_FB``, of this kind.
        """
        return self.trusted(reexpress(self.matrix, as_rotation(R_FB)))

    def __matmul__(self, other: ArrayLike) -> Array:
        """``I @ w`` for a vector (3,), or each row of an array (n, 3)."""
        if isinstance(other, Immutable):
            return NotImplemented
        return np.asarray(checks.vectors(f"what {type(self).__name__} is applied to", other) @ self.matrix)

    def __mul__(self, scale: float) -> Inertia:
        if isinstance(scale, Immutable) or np.ndim(scale) != 0:
            return NotImplemented
        return Inertia.trusted(self.matrix * checks.not_negative("what an inertia is multiplied by", scale))

    __rmul__ = __mul__

    # NumPy's numbers would otherwise multiply as if this were an array: np.float64(2) * I has to stay an Inertia.
    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if ufunc is np.multiply and method == "__call__" and np.ndim(inputs[0]) == 0 and not kwargs:
            return self.__mul__(inputs[0])
        return getattr(ufunc, method)(*(x.matrix if isinstance(x, InertiaMatrix) else x for x in inputs), **kwargs)


class Inertia(InertiaMatrix):
    """The inertia of a body about some point, expressed in some frame; immutable. mass*length^2.

    The point and the frame are those of the context: for ``MassProperties`` the body's origin and the body's axes.
    ``I + J``, ``I - J``, ``I * scale``, ``I / scale`` and ``I @ w`` work; ``np.asarray(I)`` is the matrix.

    Parameters
    ----------
    xx : float or array_like (3, 3)
        Moment of inertia about x; or the whole symmetric matrix, alone.
    yy, zz : float
        Moments of inertia about y and z.
    xy, xz, yz : float, optional
        Products of inertia, as entries of the matrix: xy is I[0, 1], minus the integral of x y over the mass.

    Raises
    ------
    ModelError
        If no body has that inertia: a principal moment is negative or larger than the sum of the other two, the
        matrix is not symmetric, or a number is not finite.

    Notes
    -----
    The inertia of a shape is its ``UnitInertia`` times the mass: ``UnitInertia.sphere(radius) * mass``.

    Examples
    --------
    >>> rod = Inertia(1, 1, 0)
    >>> rod.shift_from_centroid((0, 0, 2), mass=3).moments
    array([13., 13.,  0.])
    """

    __slots__ = ()

    @classmethod
    def point_mass_at(cls, p: ArrayLike, mass: float) -> Self:
        """Make the inertia about the origin of a point mass.

        Parameters
        ----------
        p : array_like (3,)
            Location of the point mass; length.
        mass : float
            Its mass.
        """
        return cls.trusted(point_inertia(checks.vector("p", p), checks.not_negative("mass", mass)))

    @classmethod
    def point_mass_at_origin(cls) -> Self:
        """Make the inertia about the origin of a point mass that is there: zero."""
        return cls.trusted(np.zeros((3, 3)))

    def shift_from_centroid(self, p: ArrayLike, mass: float) -> Inertia:
        """Shift this inertia, which is about the mass center, to another point.

        Parameters
        ----------
        p : array_like (3,)
            From the mass center to the other point (or the other way); length.
        mass : float
            Mass of the body.

        Returns
        -------
        Inertia
            Inertia about the other point, same axes.
        """
        return Inertia.trusted(self.matrix + point_inertia(checks.vector("p", p), checks.not_negative("mass", mass)))

    def shift_to_centroid(self, p: ArrayLike, mass: float) -> Inertia:
        """Shift this inertia, which is about some point, to the mass center.

        Parameters
        ----------
        p : array_like (3,)
            From that point to the mass center (or the other way); length.
        mass : float
            Mass of the body.

        Returns
        -------
        Inertia
            Inertia about the mass center, same axes.

        Raises
        ------
        ModelError
            If no body has the inertia that is left.
        """
        return Inertia.trusted(_to_centroid(self.matrix, checks.vector("p", p), checks.not_negative("mass", mass), "Inertia"))

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia.trusted(self.matrix + other.matrix) if isinstance(other, Inertia) else NotImplemented

    def __sub__(self, other: Inertia) -> Inertia:
        if not isinstance(other, Inertia):
            return NotImplemented
        difference = self.matrix - other.matrix
        if not is_physical(difference, float(np.abs(self.matrix).max())):
            raise non_physical(difference, f"the difference {show(difference)} of inertias")
        return Inertia.trusted(difference)

    def __truediv__(self, scale: float) -> Inertia:
        scale = checks.not_negative("what an inertia is divided by", scale)
        if scale == 0.0:
            raise ZeroDivisionError("an inertia cannot be divided by zero")
        return Inertia.trusted(self.matrix / scale)


class UnitInertia(InertiaMatrix):
    """The inertia of a body of unit mass about some point; immutable. length^2.

    ``G * mass`` is an ``Inertia``; ``np.asarray(G)`` is the matrix. Shapes are uniform solids about their centers.

    Parameters
    ----------
    xx : float or array_like (3, 3)
        Moment of inertia about x; or the whole symmetric matrix, alone.
    yy, zz : float
        Moments of inertia about y and z.
    xy, xz, yz : float, optional
        Products of inertia, as entries of the matrix: xy is G[0, 1].

    Raises
    ------
    ModelError
        If no body has that inertia: a principal moment is negative or larger than the sum of the other two, the
        matrix is not symmetric, or a number is not finite.

    Examples
    --------
    >>> (UnitInertia.sphere(0.5) * 10).moments
    array([1., 1., 1.])
    >>> UnitInertia.brick((0, 0, 3)).shift_from_centroid((0, 0, 3)).moments
    array([12., 12.,  0.])
    """

    __slots__ = ()

    @classmethod
    def sphere(cls, radius: float) -> Self:
        """Make the unit inertia of a solid sphere.

        Parameters
        ----------
        radius : float
            Radius; length.
        """
        r = checks.not_negative("radius", radius)
        return cls.trusted(np.diag(np.full(3, 0.4 * r * r)))

    @classmethod
    def cylinder_along_x(cls, radius: float, half_length: float) -> Self:
        """Make the unit inertia of a solid cylinder along x; a rod if the radius is zero, a disk if half_length is.

        Parameters
        ----------
        radius, half_length : float
            Radius, and half the length along x; length.
        """
        return cls._cylinder(radius, half_length, 0)

    @classmethod
    def cylinder_along_y(cls, radius: float, half_length: float) -> Self:
        """Make the unit inertia of a solid cylinder along y; a rod if the radius is zero, a disk if half_length is.

        Parameters
        ----------
        radius, half_length : float
            Radius, and half the length along y; length.
        """
        return cls._cylinder(radius, half_length, 1)

    @classmethod
    def cylinder_along_z(cls, radius: float, half_length: float) -> Self:
        """Make the unit inertia of a solid cylinder along z; a rod if the radius is zero, a disk if half_length is.

        Parameters
        ----------
        radius, half_length : float
            Radius, and half the length along z; length.
        """
        return cls._cylinder(radius, half_length, 2)

    @classmethod
    def _cylinder(cls, radius: float, half_length: float, axis: int) -> Self:
        r, h = checks.not_negative("radius", radius), checks.not_negative("half_length", half_length)
        moments = np.full(3, r * r / 4.0 + h * h / 3.0)
        moments[axis] = r * r / 2.0
        return cls.trusted(np.diag(moments))

    @classmethod
    def brick(cls, half_lengths: float | ArrayLike, y: float | None = None, z: float | None = None) -> Self:
        """Make the unit inertia of a solid brick; a sheet if one half length is zero, a rod if two are.

        Parameters
        ----------
        half_lengths : array_like (3,) or float
            Half the lengths along x, y and z; length. Or the first of three numbers.
        y, z : float, optional
            The second and the third of three numbers.
        """
        return cls.trusted(_of_squares(half_lengths, y, z, "half_lengths") / 3.0)

    @classmethod
    def ellipsoid(cls, radii: float | ArrayLike, y: float | None = None, z: float | None = None) -> Self:
        """Make the unit inertia of a solid ellipsoid.

        Parameters
        ----------
        radii : array_like (3,) or float
            Half axes along x, y and z; length. Or the first of three numbers.
        y, z : float, optional
            The second and the third of three numbers.
        """
        return cls.trusted(_of_squares(radii, y, z, "radii") / 5.0)

    @classmethod
    def point_mass_at(cls, p: ArrayLike) -> Self:
        """Make the unit inertia about the origin of a point mass.

        Parameters
        ----------
        p : array_like (3,)
            Location of the point mass; length.
        """
        return cls.trusted(point_inertia(checks.vector("p", p), 1.0))

    @classmethod
    def point_mass_at_origin(cls) -> Self:
        """Make the unit inertia about the origin of a point mass that is there: zero."""
        return cls.trusted(np.zeros((3, 3)))

    def shift_from_centroid(self, p: ArrayLike, mass: float = 1.0) -> UnitInertia:
        """Shift this unit inertia, which is about the mass center, to another point.

        Parameters
        ----------
        p : array_like (3,)
            From the mass center to the other point (or the other way); length.
        mass : float, optional
            1: a unit inertia is that of unit mass.

        Returns
        -------
        UnitInertia
            Unit inertia about the other point, same axes.
        """
        _check_unit_mass(mass)
        return UnitInertia.trusted(self.matrix + point_inertia(checks.vector("p", p), 1.0))

    def shift_to_centroid(self, p: ArrayLike, mass: float = 1.0) -> UnitInertia:
        """Shift this unit inertia, which is about some point, to the mass center.

        Parameters
        ----------
        p : array_like (3,)
            From that point to the mass center (or the other way); length.
        mass : float, optional
            1: a unit inertia is that of unit mass.

        Returns
        -------
        UnitInertia
            Unit inertia about the mass center, same axes.

        Raises
        ------
        ModelError
            If no body has the unit inertia that is left.
        """
        _check_unit_mass(mass)
        return UnitInertia.trusted(_to_centroid(self.matrix, checks.vector("p", p), 1.0, "UnitInertia"))


def as_rotation(value: Rotation | ArrayLike) -> Rotation:
    """Read an orientation: a Rotation, or a matrix that is one."""
    return value if isinstance(value, Rotation) else Rotation(value)


def _symmetric(value: ArrayLike, name: str) -> Array:
    """Read a matrix (3, 3) that is symmetric to rounding, and make it so to the bit."""
    if np.shape(value) in ((), (3,)):
        meant = f"; did you mean {name}({', '.join(map(str, value))})?" if isinstance(value, (tuple, list)) else ""
        raise TypeError(f"{name} takes three moments, or one (3, 3) matrix, not {value!r}{meant}")
    matrix = checks.array(f"the matrix of {name}", value, (3, 3))
    if np.abs(matrix - matrix.T).max() > ROUNDING * np.abs(matrix).max():
        raise ModelError(f"the matrix of {name} must be symmetric; it is {show(matrix)}")
    return np.asarray(0.5 * (matrix + matrix.T))


def _to_centroid(matrix: Array, p: Array, mass: float, name: str) -> Array:
    """Shift an inertia to the mass center, and see that some body has it."""
    point = point_inertia(p, mass)
    central = matrix - point
    scale = max(float(np.abs(matrix).max()), float(np.abs(point).max()))
    if not is_physical(central, scale):
        hint = f"what was shifted from {show(p)} is {show(matrix)}; is it about the mass center already?"
        raise non_physical(central, f"the {name} about the mass center", hint)
    return central


def _of_squares(first: float | ArrayLike, y: float | None, z: float | None, name: str) -> Array:
    """Diagonal matrix of b^2 + c^2, a^2 + c^2, a^2 + b^2, of an array of three or of three numbers."""
    if (y is None) != (z is None):
        raise TypeError(f"{name} are three numbers, or one array (3,); one number is missing")
    lengths = checks.vector(name, first if y is None else (first, y, z))
    if (lengths < 0.0).any():
        raise ModelError(f"{name} must not be negative; they are {show(lengths)}")
    a, b, c = np.square(lengths).tolist()
    return np.diag([b + c, a + c, a + b])


def _check_unit_mass(mass: float) -> None:
    if mass != 1.0:
        raise ValueError(f"a UnitInertia is that of mass 1, not {mass!r}; multiply it by the mass first: G * mass")
