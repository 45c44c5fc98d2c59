"""The base of the value types: they are immutable, so a copy is the object itself, and their arrays are read-only."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..algebra.arrays import Array
from .attributes import HidesInner


class Immutable(HidesInner):
    """A value that cannot change."""

    __slots__ = ()
    INNER = frozenset({"trusted"})

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


class MatrixValue(Immutable):
    """A value that is one matrix."""

    __slots__ = ("matrix",)
    matrix: Array

    @classmethod
    def trusted(cls, matrix: Array) -> Self:
        """Make one of a float64 array that is known to be right; the array is kept, and made read-only."""
        self = object.__new__(cls)
        matrix.setflags(write=False)  # flags.writeable takes 1.5 times as long
        self.matrix = matrix
        return self

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.matrix, dtype=dtype, copy=copy)

    def __getitem__(self, key: Any) -> Any:
        return self.matrix[key]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return np.array_equal(self.matrix, other.matrix)

    __hash__ = None  # type: ignore[assignment]

    # A pickled array comes back writable: `trusted` makes it read-only again.
    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).trusted, (self.matrix,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({show(self.matrix)})"


def show(array: Array) -> str:
    """Write an array on one line, short enough to read."""
    return np.array2string(array, separator=", ", max_line_width=1_000_000).replace("\n", "")
