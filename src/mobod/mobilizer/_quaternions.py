"""Kinds whose first coordinates are the orientation of M in F: a quaternion, or three angles by modelling choice."""

from __future__ import annotations

from typing import Any, Self

import numpy.typing as npt

from ..algebra.arrays import Array
from ..state.state import State
from ..value import Rotation, Transform, frames
from .base import MobilizedBody


class Turning(MobilizedBody):
    """A kind whose coordinates are an orientation."""

    def get_default_rotation(self) -> Rotation:
        """R_FM of a default state."""
        return Rotation.from_quaternion(self.default_q)

    def set_default_rotation(self, R_FM: Rotation) -> Self:
        """Change q of a default state to that of R_FM; a topological change. Returns the mobilized body."""
        self.set_default_q(self._turned(frames.rotation(f"R_FM of {self._name!r}", R_FM)))
        return self

    def get_rotation(self, state: State) -> Rotation:
        """The rotation that q stands for: R_FM, or R_MF of a reversed mobilizer. Needs MODEL."""
        return self._own_transform(state).R

    def set_rotation(self, state: State, R_FM: Rotation) -> None:
        """Set q to a rotation: R_FM, or R_MF of a reversed mobilizer; the state falls to TIME at most."""
        self._fit(state, self._fit_rotation, frames.rotation(f"R_FM of {self._name!r}", R_FM))

    def _turned(self, R: Rotation) -> Array:
        return R.to_quaternion()

    def _fit_rotation(self, R: Rotation, q: Array, *parameters: Any) -> None:
        q[:4] = self._turned(R)


class Moving(MobilizedBody):
    """A kind whose coordinates are an orientation, and then p_FM."""

    def get_default_transform(self) -> Transform:
        """X_FM of a default state."""
        return Transform(Rotation.from_quaternion(self.default_q[:4]), self.default_q[4:])

    def set_default_transform(self, X_FM: Transform) -> Self:
        """Change q of a default state to that of X_FM; a topological change. Returns the mobilized body."""
        X = frames.frame(f"X_FM of {self._name!r}", X_FM)
        self.set_default_q([*self._turned(X.R), *X.p])
        return self

    def get_transform(self, state: State) -> Transform:
        """The pose that q stands for: X_FM, or X_MF of a reversed mobilizer. Needs MODEL."""
        return self._own_transform(state)

    def set_transform(self, state: State, X_FM: Transform) -> None:
        """Set q to a pose: X_FM, or X_MF of a reversed mobilizer; the state falls to TIME at most."""
        self._fit(state, self._fit_transform, frames.frame(f"X_FM of {self._name!r}", X_FM))

    def _turned(self, R: Rotation) -> Array:
        return R.to_quaternion()


class MovingByQuaternion(Moving):
    """A `Moving` kind whose orientation and translation are set one by one."""

    def set_rotation(self, state: State, R_FM: Rotation) -> None:
        """Set the orientation and leave the translation; the state falls to TIME at most."""
        self._fit(state, self._fit_rotation, frames.rotation(f"R_FM of {self._name!r}", R_FM))

    def get_translation(self, state: State) -> Array:
        """The translation ``(3,)`` that q stands for. Needs MODEL."""
        return self.get_q_as_vector(state)[-3:]

    def set_translation(self, state: State, p_FM: npt.ArrayLike) -> None:
        """Set the translation and leave the orientation; the state falls to TIME at most."""
        self._fit(state, self._fit_translation, self._vector("translation", p_FM, 3))

    def _fit_rotation(self, R: Rotation, q: Array) -> None:
        q[:4] = self._turned(R)

    def _fit_translation(self, p: Array, q: Array) -> None:
        q[4:] = p
