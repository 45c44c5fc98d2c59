"""The motion that six functions describe, in Python: for fits, and where one of the functions is a user's.

The equations are those of `function_based`, for functions of any kind: here those of several arguments can be curved.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import product

import numpy as np
import numpy.typing as npt

from ..function import Function
from ..value import Rotation

Array = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, eq=False)
class FunctionMotion:
    """Six functions, which coordinates they take, and the axes ``(6, 3)`` of unit length."""

    functions: tuple[Function, ...]
    indices: tuple[tuple[int, ...], ...]
    axes: Array

    def arguments(self, q: Array) -> Iterator[tuple[int, Function, tuple[int, ...], Array]]:
        """Each function: its number, itself, the coordinates that it takes, and these."""
        for f, (function, places) in enumerate(zip(self.functions, self.indices, strict=True)):
            yield f, function, places, q[list(places)]

    def transform(self, q: Array) -> tuple[Array, Array]:
        """R_FM ``(3, 3)`` and p_FM ``(3,)``."""
        R, p = np.eye(3), np.zeros(3)
        for f, function, _, x in self.arguments(q):
            value = function.calc_value(x)
            if f < 3:
                R = R @ np.asarray(Rotation.about_axis(value, self.axes[f]))
            else:
                p += value * self.axes[f]
        return R, p

    def hinge(self, q: Array) -> Array:
        """Columns of H_FM as rows ``(n, 6)``."""
        R, H = np.eye(3), np.zeros((len(q), 2, 3))
        for f, function, places, x in self.arguments(q):
            e = R @ self.axes[f] if f < 3 else self.axes[f]
            for k, j in enumerate(places):
                H[j, f // 3] += function.calc_derivative([k], x) * e
            if f < 2:
                R = R @ np.asarray(Rotation.about_axis(function.calc_value(x), self.axes[f]))
        return H.reshape(-1, 6)

    def hinge_dot(self, q: Array, u: Array) -> Array:
        """Their rates, taken and expressed in F, ``(n, 6)``."""
        R, w, H_dot = np.eye(3), np.zeros(3), np.zeros((len(q), 2, 3))
        for f, function, places, x in self.arguments(q):
            e = R @ self.axes[f] if f < 3 else self.axes[f]
            e_dot = np.cross(w, e) if f < 3 else np.zeros(3)
            slopes = [function.calc_derivative([k], x) for k in range(len(places))]
            for (k, j), (l, i) in product(enumerate(places), repeat=2):
                H_dot[j, f // 3] += function.calc_derivative([k, l], x) * u[i] * e
            for slope, j in zip(slopes, places, strict=True):
                H_dot[j, f // 3] += slope * e_dot
            if f < 2:
                w += sum(slope * u[j] for slope, j in zip(slopes, places, strict=True)) * e
                R = R @ np.asarray(Rotation.about_axis(function.calc_value(x), self.axes[f]))
        return H_dot.reshape(-1, 6)


def transform(q: Array, motion: FunctionMotion) -> tuple[Array, Array]:
    """X_FM as `Facts` has it, with the motion in place of parameters."""
    return motion.transform(np.asarray(q))


def hinge(q: Array, motion: FunctionMotion) -> Array:
    """H_FM as `Facts` has it."""
    return motion.hinge(np.asarray(q))
