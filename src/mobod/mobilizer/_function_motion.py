"""The motion that six functions describe, in Python: for fits. The equations are those of `function_based`."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..errors import ModelError
from ..function import Function


@dataclasses.dataclass(frozen=True, eq=False)
class FunctionMotion:
    """Six functions, which coordinates they take, and the axes ``(6, 3)`` of unit length."""

    functions: tuple[Function, ...]
    indices: tuple[tuple[int, ...], ...]
    axes: Array

    @functools.cached_property
    def _crosses(self) -> list[tuple[Array, Array]]:
        """Of each axis the matrix K of the cross product with it, and K K."""
        matrices = [np.cross(axis, -np.eye(3)) for axis in self.axes]
        return [(K, K @ K) for K in matrices]

    def _turn(self, term: _Term) -> Array:
        """The rotation about the term's axis by its value: 1 + sin K + (1 - cos) K K (Rodrigues)."""
        angle = term.value()
        K, KK = self._crosses[term.f]
        return np.eye(3) + math.sin(angle) * K + (1.0 - math.cos(angle)) * KK

    def transform(self, q: Array) -> tuple[Array, Array]:
        """R_FM ``(3, 3)`` and p_FM ``(3,)``."""
        R, p = np.eye(3), np.zeros(3)
        for term in self._terms(q):
            if term.f < 3:
                R = R @ self._turn(term)
            else:
                p += term.value() * term.axis
        return R, p

    def hinge(self, q: Array) -> Array:
        """Columns of H_FM as rows ``(n, 6)``."""
        R, H = np.eye(3), np.zeros((len(q), 2, 3))
        for term in self._terms(q):
            e = R @ term.axis if term.f < 3 else term.axis
            for k, j in enumerate(term.places):
                H[j, term.f // 3] += term.derivative(k) * e
            if term.f < 2:
                R = R @ self._turn(term)
        return H.reshape(-1, 6)

    @staticmethod
    def transform_at(q: Array, motion: FunctionMotion) -> tuple[Array, Array]:
        """X_FM as `Facts` has it, with the motion in place of parameters."""
        return motion.transform(q)

    @staticmethod
    def hinge_at(q: Array, motion: FunctionMotion) -> Array:
        """H_FM as `Facts` has it."""
        return motion.hinge(q)

    def _terms(self, q: Array) -> Iterator[_Term]:
        for f, (function, places) in enumerate(zip(self.functions, self.indices, strict=True)):
            yield _Term(f, function, places, q[list(places)], self.axes[f])


@dataclasses.dataclass
class _Term:
    """One of the functions at the present q: its number, the coordinates that it takes, their values, its axis."""

    f: int
    function: Function
    places: tuple[int, ...]
    x: Array
    axis: Array

    def value(self) -> float:
        return self._checked(self.function.calc_value(self.x), "value")

    def derivative(self, *components: int) -> float:
        return self._checked(self.function.calc_derivative(components, self.x), f"derivative {list(components)}")

    def _checked(self, y: Any, what: str) -> float:
        """A user's function may give anything."""
        try:
            number = float(y)
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            raise ModelError(
                f"the {what} of functions[{self.f}], {self.function!r}, has to be a finite number; at {self.x.tolist()} it is "
                f"{y!r}"
            )
        return number
