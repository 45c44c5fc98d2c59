"""The array types of annotations in all rooms: arrays of float64, and of indices."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
Indices: TypeAlias = npt.NDArray[np.int64]
ArrayLike: TypeAlias = npt.ArrayLike
