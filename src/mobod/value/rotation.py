"""Rotation: the orientation of one frame in another, as an orthonormal 3x3 matrix.

    v_A = R_AB v_B: the columns of R_AB are the axes of B, expressed in A

Conventions: quaternions are (w, x, y, z); body-fixed xyz angles give R = Rx(q0) Ry(q1) Rz(q2).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike

from ..algebra.arrays import Array
from ..errors import ModelError
from . import checks
from ._immutable import Immutable, MatrixValue

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation as ScipyRotation  # type: ignore[import-untyped, unused-ignore]

NOT_A_ROTATION = 1e-6
"""Largest error of R^T R that is taken for rounding, of single precision say, and repaired."""

ROUNDING = 1e-14
"""Error of R^T R below which a matrix is kept to the bit: tens of roundings of numbers of order 1."""

GIMBAL_LOCK = 16 * np.finfo(np.float64).eps
"""Cosine of the middle angle below which the other two are not told apart: what roundings of R leave of a zero."""

PARALLEL = 1e-10
"""Sine of the angle between two directions below which their plane is all rounding."""


def matrix_of_quaternion(w: Any, x: Any, y: Any, z: Any) -> Array:
    """The matrix ``(3, 3)`` of a unit quaternion; of arrays of numbers, ``(3, 3, ...)``."""
    # fmt: off
    return np.array([
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z),       2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z),       1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y),       2.0 * (y * z + w * x),       1.0 - 2.0 * (x * x + y * y)],
    ])
    # fmt: on


class Rotation(MatrixValue):
    """The orientation R_AB of a frame B in a frame A; immutable.

    ``R_AB @ v_B`` is the vector ``v_B``, given by its components along B's axes, expressed in A; ``R_AB @ R_BC`` is
    R_AC; ``~R_AB`` is R_BA; ``np.asarray(R_AB)`` is the matrix.

    Parameters
    ----------
    matrix : array_like (3, 3), optional
        Its columns are the axes of B expressed in A. Errors of orthonormality up to 1e-6 are taken for rounding: the
        nearest rotation is used. The identity, if left out.

    Raises
    ------
    ModelError
        If the matrix is not orthonormal, is left-handed, or is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> R_AB = Rotation.about_axis(np.pi / 2, "z")
    >>> np.round(R_AB @ (1, 0, 0), 12)
    array([0., 1., 0.])
    >>> np.round(np.rad2deg((R_AB @ R_AB).to_body_fixed_xyz()), 6)
    array([  0.,   0., 180.])
    """

    __slots__ = ()

    def __init__(self, matrix: ArrayLike | None = None) -> None:
        self.matrix = _IDENTITY if matrix is None else _orthonormal(matrix)
        self.matrix.setflags(write=False)

    @classmethod
    def about_axis(cls, angle: float, axis: str | int | ArrayLike) -> Self:
        """Make the rotation by an angle about an axis.

        Parameters
        ----------
        angle : float
            Angle, right-handed.
        axis : array_like (3,) or str or int
            A vector of any length but zero, or one of ``"x"``, ``"y"``, ``"z"``, 0, 1, 2.

        Examples
        --------
        >>> Rotation.about_axis(0.5, (0, 0, 2)) == Rotation.about_axis(0.5, "z")
        True
        """
        angle = checks.finite("angle", angle)
        s, c = math.sin(angle), math.cos(angle)
        if isinstance(axis, (str, int, np.integer)):
            i = checks.axis_index("axis", axis)
            j, k = (i + 1) % 3, (i + 2) % 3
            matrix = np.zeros((3, 3))
            matrix[i, i] = 1.0
            matrix[j, j] = matrix[k, k] = c
            matrix[k, j] = s
            matrix[j, k] = -s
            return cls.trusted(matrix)
        x, y, z = checks.unit("axis", axis).tolist()
        t = 2.0 * math.sin(0.5 * angle) ** 2  # 1 - cos(angle), without its cancellation
        # fmt: off
        return cls.trusted(np.array([
            [c + t * x * x,     t * x * y - s * z, t * x * z + s * y],
            [t * y * x + s * z, c + t * y * y,     t * y * z - s * x],
            [t * z * x - s * y, t * z * y + s * x, c + t * z * z],
        ]))
        # fmt: on

    @classmethod
    def from_quaternion(cls, wxyz: ArrayLike) -> Self:
        """Make the rotation of a quaternion (w, x, y, z); SciPy's order is another, (x, y, z, w).

        Parameters
        ----------
        wxyz : array_like (4,)
            Quaternion of any length but zero; it is normalized. q and -q are the same rotation.

        Raises
        ------
        ModelError
            If its length is zero, or it is not finite.
        """
        q = checks.array("the quaternion (w, x, y, z)", wxyz, (4,))
        largest = float(np.abs(q).max())
        if largest == 0.0:
            raise ModelError("the quaternion (w, x, y, z) has length zero; that of no rotation is (1, 0, 0, 0)")
        q /= largest
        w, x, y, z = (q / math.sqrt(q @ q)).tolist()
        return cls.trusted(matrix_of_quaternion(w, x, y, z))

    @classmethod
    def from_body_fixed_xyz(cls, angles: ArrayLike) -> Self:
        """Make the rotation by angles about x, then the new y, then the newest z: Rx(q0) Ry(q1) Rz(q2).

        Parameters
        ----------
        angles : array_like (3,)
            The three angles.
        """
        q0, q1, q2 = checks.vector("the body-fixed xyz angles", angles).tolist()
        s0, s1, s2 = math.sin(q0), math.sin(q1), math.sin(q2)
        c0, c1, c2 = math.cos(q0), math.cos(q1), math.cos(q2)
        # fmt: off
        return cls.trusted(np.array([
            [c1 * c2,                -c1 * s2,                s1],
            [c0 * s2 + s0 * s1 * c2, c0 * c2 - s0 * s1 * s2, -s0 * c1],
            [s0 * s2 - c0 * s1 * c2, s0 * c2 + c0 * s1 * s2, c0 * c1],
        ]))
        # fmt: on

    @classmethod
    def from_one_axis(cls, u: ArrayLike, axis: str | int) -> Self:
        """Make a rotation whose given axis points along u; how it is turned about u is arbitrary.

        Parameters
        ----------
        u : array_like (3,)
            Direction in A, of any length but zero.
        axis : str or int
            The axis of B that points along u: ``"x"``, ``"y"``, ``"z"``, or 0, 1, 2.
        """
        i = checks.axis_index("axis", axis)
        direction = checks.unit("u", u)
        helper = np.zeros(3)
        helper[np.abs(direction).argmin()] = 1.0  # the coordinate axis that is farthest from u
        return cls.trusted(_two_axes(direction, i, helper, (i + 1) % 3))

    @classmethod
    def from_two_axes(cls, u_first: ArrayLike, first_axis: str | int, v_second: ArrayLike, second_axis: str | int) -> Self:
        """Make a rotation with one axis exactly along a direction, a second as near as can be to another.

        Parameters
        ----------
        u_first : array_like (3,)
            Direction in A, of any length but zero.
        first_axis : str or int
            The axis of B that points along it: ``"x"``, ``"y"``, ``"z"``, or 0, 1, 2.
        v_second : array_like (3,)
            Direction in A, not parallel to the first. It need not be perpendicular either: what it has along the
            first is taken off.
        second_axis : str or int
            The axis of B that points along the rest of it.

        Raises
        ------
        ModelError
            If one of the directions is zero, or they are parallel.

        Examples
        --------
        >>> Rotation.from_two_axes((0, 0, 1), "x", (0, 1, 1), "y").y_axis
        array([0., 1., 0.])
        """
        i = checks.axis_index("first_axis", first_axis)
        j = checks.axis_index("second_axis", second_axis)
        if i == j:
            raise ValueError(f"first_axis and second_axis must differ; both are {first_axis!r}")
        u, v = checks.unit("u_first", u_first), checks.unit("v_second", v_second)
        if np.linalg.norm(np.cross(u, v)) < PARALLEL:
            raise ModelError(
                f"u_first and v_second must not be parallel; they are {u_first!r} and {v_second!r}; if any second axis "
                "will do, call Rotation.from_one_axis(u_first, first_axis)"
            )
        return cls.trusted(_two_axes(u, i, v, j))

    @classmethod
    def from_scipy(cls, r: ScipyRotation) -> Self:
        """Make the rotation of a ``scipy.spatial.transform.Rotation`` that holds one rotation.

        Parameters
        ----------
        r : scipy.spatial.transform.Rotation
            One rotation, not a stack of them.
        """
        if not hasattr(r, "as_matrix"):
            raise TypeError(f"r must be a scipy.spatial.transform.Rotation, not {r!r}")
        matrix = r.as_matrix()
        if matrix.shape != (3, 3):
            raise ValueError(f"r must hold one rotation, it holds {len(matrix)}; take them one by one")
        return cls(matrix)

    @property
    def x_axis(self) -> Array:
        """The x axis of B, expressed in A: (3,), read-only."""
        return self.matrix[:, 0]

    @property
    def y_axis(self) -> Array:
        """The y axis of B, expressed in A: (3,), read-only."""
        return self.matrix[:, 1]

    @property
    def z_axis(self) -> Array:
        """The z axis of B, expressed in A: (3,), read-only."""
        return self.matrix[:, 2]

    @property
    def T(self) -> Self:
        """The inverse, which is the transpose; the same as ``~R``."""
        return ~self

    def __invert__(self) -> Self:
        return self.trusted(self.matrix.T.copy())  # a copy, so that every matrix lies row by row

    @overload
    def __matmul__(self, other: Rotation) -> Rotation: ...
    @overload
    def __matmul__(self, other: ArrayLike) -> Array: ...
    def __matmul__(self, other: Rotation | ArrayLike) -> Rotation | Array:
        """``R_AB @ R_BC`` is R_AC; ``R_AB @ v`` re-expresses in A a vector (3,), or each row of an array (n, 3)."""
        if isinstance(other, Rotation):
            return Rotation.trusted(self.matrix @ other.matrix)
        if isinstance(other, Immutable):
            return NotImplemented
        return np.asarray(checks.vectors("what a Rotation is applied to", other) @ self.matrix.T)

    def to_quaternion(self) -> Array:
        """Find the unit quaternion (w, x, y, z) with w >= 0.

        Returns
        -------
        ndarray (4,)
            w, x, y, z. If w is zero, the first of x, y, z that is not zero is positive.

        Notes
        -----
        The largest of the four is computed first, so that nothing small is divided by: Spurrier 1978, "Comment on
        singularity-free extraction of a quaternion from a direction-cosine matrix".
        """
        (m00, m01, m02), (m10, m11, m12), (m20, m21, m22) = self.matrix.tolist()
        trace = m00 + m11 + m22
        # each line is 4 times the largest component, times the quaternion
        if trace >= m00 and trace >= m11 and trace >= m22:
            q = (1.0 + trace, m21 - m12, m02 - m20, m10 - m01)
        elif m00 >= m11 and m00 >= m22:
            q = (m21 - m12, 1.0 + 2.0 * m00 - trace, m01 + m10, m02 + m20)
        elif m11 >= m22:
            q = (m02 - m20, m01 + m10, 1.0 + 2.0 * m11 - trace, m12 + m21)
        else:
            q = (m10 - m01, m02 + m20, m12 + m21, 1.0 + 2.0 * m22 - trace)
        first = next(component for component in q if component != 0.0)
        scale = math.copysign(1.0 / math.hypot(*q), first)
        return np.array([component * scale + 0.0 for component in q])  # + 0.0 makes -0.0 a plain zero

    def to_body_fixed_xyz(self) -> Array:
        """Find angles with R = Rx(q0) Ry(q1) Rz(q2).

        Returns
        -------
        ndarray (3,)
            The angles q0, q1, q2: q0 and q2 in [-pi, pi], q1 in [-pi/2, pi/2]. Where q1 is pi/2 or -pi/2 only the sum or the
            difference of q0 and q2 matters; q2 is then zero.

        Notes
        -----
        q0 is found with q2 known, from R Rz(-q2): the three then give back R to rounding wherever q1 is.
        """
        (m00, m01, m02), (m10, m11, _), (m20, m21, _) = self.matrix.tolist()
        c1 = math.hypot(m00, m01)
        q2 = math.atan2(-m01, m00) if c1 > GIMBAL_LOCK else 0.0
        s2, c2 = math.sin(q2), math.cos(q2)
        q0 = math.atan2(s2 * m20 + c2 * m21, s2 * m10 + c2 * m11)
        return np.array([q0 + 0.0, math.atan2(m02, c1) + 0.0, q2 + 0.0])

    def to_angle_axis(self) -> tuple[float, Array]:
        """Find the angle and the axis of this rotation.

        Returns
        -------
        angle : float
            In [0, pi].
        axis : ndarray (3,)
            Unit vector; (1, 0, 0) where the angle is zero.
        """
        w, *xyz = self.to_quaternion().tolist()
        sine = math.hypot(*xyz)
        if sine == 0.0:
            return 0.0, np.array([1.0, 0.0, 0.0])
        axis = np.array(xyz) / max(map(abs, xyz))  # of numbers near the smallest that there are, few digits are left
        return 2.0 * math.atan2(sine, w), axis / math.sqrt(axis @ axis)

    def to_scipy(self) -> ScipyRotation:
        """Make a ``scipy.spatial.transform.Rotation`` of this rotation."""
        from scipy.spatial.transform import Rotation as ScipyRotation  # not needed by `import mobod`, and slow

        return ScipyRotation.from_matrix(self.matrix)


_IDENTITY = np.eye(3)


def _two_axes(u: Array, i: int, v: Array, j: int) -> Array:
    """Columns with the i-th along the unit vector u, and the j-th in the plane of u and v."""
    k = 3 - i - j
    sign = 1.0 if (i + 1) % 3 == j else -1.0  # e_i x e_j is e_k, or -e_k
    normal = np.cross(u, v)
    normal /= math.sqrt(normal @ normal)
    normal -= (normal @ u) * u  # what rounding has left along u, where u and v are nearly parallel
    normal *= sign / math.sqrt(normal @ normal)
    matrix = np.empty((3, 3))
    matrix[:, i] = u
    matrix[:, j] = sign * np.cross(normal, u)
    matrix[:, k] = normal
    return matrix + 0.0  # no -0.0


def _orthonormal(value: ArrayLike) -> Array:
    """Check a matrix that a user gives as a rotation, and repair its rounding."""
    if isinstance(value, Rotation):
        return value.matrix
    if hasattr(value, "as_matrix"):
        raise TypeError("the matrix of a Rotation must be an array (3, 3); for SciPy's use Rotation.from_scipy(r)")
    matrix = checks.array("the matrix of a Rotation", value, (3, 3))
    with np.errstate(over="ignore", invalid="ignore"):
        error = float(np.abs(matrix.T @ matrix - _IDENTITY).max())
    if not error <= NOT_A_ROTATION:  # NaN too
        raise ModelError(
            f"the matrix of a Rotation must be orthonormal; the products of the columns of {matrix.tolist()} differ "
            f"from 0 and 1 by up to {error:.3g}; Rotation.from_two_axes makes a frame of directions that are not exact"
        )
    if np.linalg.det(matrix) < 0.0:
        raise ModelError(
            f"the axes of a Rotation must be right-handed; those of {matrix.tolist()} are left-handed (a reflection, "
            "determinant -1); change the sign of one column, or of all"
        )
    if error <= ROUNDING:
        return matrix
    u, _, vt = np.linalg.svd(matrix)
    return np.asarray(u @ vt)
