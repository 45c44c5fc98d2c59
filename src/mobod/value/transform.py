"""Transform: the pose of one frame in another, an orientation and a location.

X_AB = (R_AB, p_AB):   p_A = R_AB p_B + p_AB,   X_AB X_BC = (R_AB R_BC, p_AB + R_AB p_BC)
"""

from __future__ import annotations

from typing import Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..algebra.arrays import Array
from ..errors import ModelError
from . import checks
from ._immutable import Immutable, show
from .rotation import Rotation

LAST_ROW = 1e-9
"""Largest difference of a homogeneous matrix's last row from (0, 0, 0, 1): rounding of its makers."""


class Transform(Immutable):
    """The pose X_AB of a frame B in a frame A; immutable.

    ``X_AB @ X_BC`` is X_AC; ``X_AB @ p_B`` is the point with the coordinates ``p_B`` in B, measured in A; ``~X_AB`` is
    X_BA; ``np.asarray(X_AB)`` is the homogeneous matrix (4, 4). To re-express a vector rather than a point, write
    ``X_AB.R @ v_B``.

    Parameters
    ----------
    R : Rotation or array_like (3, 3), optional
        Orientation of B in A. The only argument may also be ``p``, or a ``Transform``.
    p : array_like (3,), optional
        Location of B's origin, measured from A's origin and expressed in A; length.

    Raises
    ------
    ModelError
        If R is not a right-handed orthonormal matrix, or a number is not finite.

    Examples
    --------
    >>> X_AB = Transform(Rotation.about_axis(0.5, "z"), (1, 2, 3))
    >>> X_AB @ (0, 0, 1)
    array([1., 2., 4.])
    >>> (Transform((0, 1, 0)) @ Transform((0, 0, 5))).p
    array([0., 1., 5.])
    """

    __slots__ = ("_R", "_p", "_rotation")
    _R: Array
    _p: Array
    _rotation: Rotation | None  # made when first asked for: most transforms inside the package are never asked

    @overload
    def __init__(self) -> None: ...
    @overload
    def __init__(self, R: Rotation | Transform | ArrayLike, /) -> None: ...
    @overload
    def __init__(self, R: Rotation | ArrayLike | None = None, p: ArrayLike | None = None) -> None: ...
    def __init__(self, R: Rotation | Transform | ArrayLike | None = None, p: ArrayLike | None = None) -> None:
        if isinstance(R, Transform):
            if p is not None:
                raise TypeError("Transform(X, p) is ambiguous; write Transform(X.R, p), or X @ Transform(p)")
            self._R, self._p, self._rotation = R._R, R._p, R._rotation
            return
        if p is None and R is not None and not isinstance(R, Rotation) and not hasattr(R, "as_matrix"):
            match checks.numbers("the argument of a Transform", R).shape:
                case (3,):
                    R, p = None, R
                case (3, 3):
                    pass
                case (4, 4):
                    raise ValueError("a (4, 4) matrix is made a Transform by Transform.from_matrix(matrix)")
                case shape:
                    raise ValueError(
                        "the argument of a Transform must be a Rotation, a (3, 3) matrix or a location (3,); "
                        f"{R!r} has the shape {shape}"
                    )
        self._rotation = R if isinstance(R, Rotation) else Rotation(R)
        self._R = self._rotation.matrix
        self._p = np.zeros(3) if p is None else checks.vector("the location p of a Transform", p)
        self._p.setflags(write=False)

    @classmethod
    def trusted(cls, R: Array, p: Array) -> Self:
        """Make one of arrays (3, 3) and (3,) that are known to be right; they are kept, and read-only where handed out."""
        self = object.__new__(cls)
        self._R = R
        self._p = p
        self._rotation = None
        return self

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Self:
        """Make the transform of a homogeneous matrix.

        Parameters
        ----------
        matrix : array_like (4, 4)
            ``[[R, p], [0, 1]]``.

        Raises
        ------
        ModelError
            If the last row is not (0, 0, 0, 1), or R is not a rotation.
        """
        m = checks.array("the matrix of a Transform", matrix, (4, 4))
        if np.abs(m[3] - (0.0, 0.0, 0.0, 1.0)).max() > LAST_ROW:
            transposed = "; is the matrix transposed?" if np.abs(m[:, 3] - (0, 0, 0, 1)).max() <= LAST_ROW else ""
            raise ModelError(f"the last row of a Transform's matrix must be (0, 0, 0, 1); it is {show(m[3])}{transposed}")
        return cls(Rotation(m[:3, :3]), m[:3, 3])

    @property
    def R(self) -> Rotation:
        """Orientation R_AB of B in A."""
        if self._rotation is None:
            self._rotation = Rotation.trusted(self._R)
        return self._rotation

    @property
    def p(self) -> Array:
        """Location p_AB of B's origin from A's, expressed in A: (3,), read-only; length."""
        self._p.setflags(write=False)  # not before it is seen: that takes a fifth of the time of making a Transform
        return self._p

    def __invert__(self) -> Self:
        inverse = self._R.T.copy()
        return self.trusted(inverse, -(inverse @ self._p))

    @overload
    def __matmul__(self, other: Transform | Rotation) -> Transform: ...
    @overload
    def __matmul__(self, other: ArrayLike) -> Array: ...
    def __matmul__(self, other: Transform | Rotation | ArrayLike) -> Transform | Array:
        """``X_AB @ X_BC`` is X_AC; ``X_AB @ p`` measures in A a point (3,), or each row of an array (n, 3)."""
        if isinstance(other, Transform):
            return Transform.trusted(self._R @ other._R, self._p + self._R @ other._p)
        if isinstance(other, Rotation):
            return Transform.trusted(self._R @ other.matrix, self._p)
        if isinstance(other, Immutable):
            return NotImplemented
        return np.asarray(checks.vectors("what a Transform is applied to", other) @ self._R.T + self._p)

    def __rmatmul__(self, other: Rotation) -> Transform:
        if isinstance(other, Rotation):
            return Transform.trusted(other.matrix @ self._R, other.matrix @ self._p)
        return NotImplemented

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("the (4, 4) matrix of a Transform is made when it is asked for, so it is always a copy")
        matrix = np.zeros((4, 4), dtype=np.float64)
        matrix[:3, :3] = self._R
        matrix[:3, 3] = self._p
        matrix[3, 3] = 1.0
        return matrix if dtype is None else matrix.astype(dtype, copy=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Transform):
            return NotImplemented
        return np.array_equal(self._R, other._R) and np.array_equal(self._p, other._p)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).trusted, (self._R, self._p)

    def __repr__(self) -> str:
        R = "" if np.array_equal(self._R, np.eye(3)) else f"R={show(self._R)}"
        p = f"p={show(self._p)}" if self._p.any() else ""
        return f"Transform({', '.join(filter(None, (R, p)))})"
