"""q and u of one mobilizer: where they are in the state, reading and setting them, and its part of arrays like them."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._numbers import number, numbers
from ..stage import Stage
from ._checked import like, writable
from .locking import Locking

if TYPE_CHECKING:
    from ..state import State

Array = npt.NDArray[np.float64]
ArrayLike = npt.ArrayLike

_MODEL, _VELOCITY, _ACCELERATION = int(Stage.MODEL), int(Stage.VELOCITY), int(Stage.ACCELERATION)


class Coordinates(Locking):
    """The part of `MobilizedBody` that reads and sets its q and u."""

    #: Whether one coordinate is handed out as an array too, and never as a float: of kinds whose number of coordinates varies.
    _always_arrays: bool = False

    def get_num_q(self, state: State) -> int:
        """How many coordinates it has in this state; angles in place of a quaternion make one less. Needs MODEL."""
        return state._tree_of(self, "get_num_q").num_q[self._index]

    def get_num_u(self, state: State) -> int:
        """How many speeds it has: its mobilities. Needs MODEL."""
        return state._tree_of(self, "get_num_u").num_u[self._index]

    def get_first_q_index(self, state: State) -> int:
        """Place of its first coordinate in the state's q. Needs MODEL."""
        return state._tree_of(self, "get_first_q_index").first_q[self._index]

    def get_first_u_index(self, state: State) -> int:
        """Place of its first speed in the state's u. Needs MODEL."""
        return state._tree_of(self, "get_first_u_index").first_u[self._index]

    def _q_slice(self, state: State, asked: str = "q") -> slice:
        return state._tree_of(self, asked).q_slices[self._index]

    def _u_slice(self, state: State, asked: str = "u") -> slice:
        return state._tree_of(self, asked).u_slices[self._index]

    def _one_or_all(self, values: Array) -> Any:
        one = self.facts.num_u == 1 and len(values) == 1 and not self._always_arrays
        return float(values[0]) if one else values.copy()

    def get_q(self, state: State) -> Any:
        """Its coordinates: a float for kinds with one, else an ``(nq,)`` array. Needs MODEL."""
        return self._one_or_all(state._q[self._q_slice(state, "get_q")])

    def set_q(self, state: State, q: ArrayLike) -> None:
        """Set its coordinates; the state falls to TIME at most.

        Raises
        ------
        ValueError
            If there are not `nq` numbers. NaN is found when the state is realized.
        TypeError
            If they are not real numbers.
        ModelError
            If q is locked.
        """
        self._set(state, "set_q", "q", q)

    def get_u(self, state: State) -> Any:
        """Its speeds: a float for kinds with one, else an ``(nu,)`` array. Needs MODEL."""
        return self._one_or_all(state._u[self._u_slice(state, "get_u")])

    def set_u(self, state: State, u: ArrayLike) -> None:
        """Set its speeds; the state falls to POSITION at most.

        Raises
        ------
        ValueError
            If there are not `nu` numbers. NaN is found when the state is realized.
        TypeError
            If they are not real numbers.
        ModelError
            If u is locked.
        """
        self._set(state, "set_u", "u", u)

    def _set(self, state: State, asked: str, what: str, value: ArrayLike) -> None:
        of_q = what == "q"
        part = self._q_slice(state, asked) if of_q else self._u_slice(state, asked)
        if state._has_locks:
            self._refuse_locked(state, what)
        self._put(state._q if of_q else state._u, part, value, what)
        if of_q:
            state._invalidate_q()
        else:
            state._invalidate_u()

    def _put(self, target: Array, part: slice, value: ArrayLike, what: str) -> None:
        n = part.stop - part.start
        array = numbers(f"{what} of {self._name!r}", value)
        if array.shape != (n,) and not (n == 1 and array.shape == ()):
            raise ValueError(f"{self._name!r} has {n} {what}, got shape {array.shape}")
        target[part] = array

    def _rates_of_q(self, state: State, asked: str) -> Array:
        part = self._q_slice(state, asked)
        if state._stage < _VELOCITY:
            state._refuse(asked, Stage.VELOCITY)
        return state._q_dot_view[part]

    def _rates_of_u(self, state: State, asked: str) -> Array:
        part = self._u_slice(state, asked)
        if state._stage < _ACCELERATION:
            state._refuse(asked, Stage.ACCELERATION)
        return state._u_dot_view[part]

    def _second_rates_of_q(self, state: State, asked: str) -> Array:
        part = self._q_slice(state, asked)
        if state._stage < _ACCELERATION:
            state._refuse(asked, Stage.ACCELERATION)
        return state._q_dot_dot_view[part]

    def get_q_dot(self, state: State) -> Any:
        """Rates of its coordinates: a float for kinds with one, else an ``(nq,)`` array. Needs VELOCITY."""
        return self._one_or_all(self._rates_of_q(state, "get_q_dot"))

    def get_u_dot(self, state: State) -> Any:
        """Rates of its speeds, a float for kinds with one, else an ``(nu,)`` array: its accelerations. Needs ACCELERATION."""
        part = state._tree_of(self, "get_u_dot").u_slices[self._index]
        if state._stage < _ACCELERATION:
            state._refuse("get_u_dot", Stage.ACCELERATION)
        return self._one_or_all(state._u_dot_view[part])

    def get_q_dot_dot(self, state: State) -> Any:
        """Second rates of its coordinates: a float for kinds with one, else an ``(nq,)`` array. Needs ACCELERATION."""
        return self._one_or_all(self._second_rates_of_q(state, "get_q_dot_dot"))

    def get_q_as_vector(self, state: State) -> Array:
        """Its coordinates, ``(nq,)``. Needs MODEL."""
        return state._q[self._q_slice(state, "get_q_as_vector")].copy()

    def get_u_as_vector(self, state: State) -> Array:
        """Its speeds as an array, ``(nu,)``. Needs MODEL."""
        return state._u[self._u_slice(state, "get_u_as_vector")].copy()

    def get_q_dot_as_vector(self, state: State) -> Array:
        """Rates of its coordinates, ``(nq,)``. Needs VELOCITY."""
        return self._rates_of_q(state, "get_q_dot_as_vector").copy()

    def get_u_dot_as_vector(self, state: State) -> Array:
        """Its accelerations, ``(nu,)``. Needs ACCELERATION."""
        return self._rates_of_u(state, "get_u_dot_as_vector").copy()

    def get_q_dot_dot_as_vector(self, state: State) -> Array:
        """Second rates of its coordinates, ``(nq,)``. Needs ACCELERATION."""
        return self._second_rates_of_q(state, "get_q_dot_dot_as_vector").copy()

    def set_q_from_vector(self, state: State, v: ArrayLike) -> None:
        """Set its coordinates from an ``(nq,)`` array; the state falls to TIME at most. Errors as those of `set_q`."""
        self._set(state, "set_q_from_vector", "q", v)

    def set_u_from_vector(self, state: State, v: ArrayLike) -> None:
        """Set its speeds from an ``(nu,)`` array; the state falls to POSITION at most. Errors as those of `set_u`."""
        self._set(state, "set_u_from_vector", "u", v)

    def _which(self, part: slice, which: int, what: str) -> int:
        n = part.stop - part.start
        if type(which) is int and 0 <= which < n:
            return which + part.start
        try:
            i = index(which)
        except TypeError:
            raise TypeError(f"which of the {n} {what} of {self._name!r} is an integer, not {which!r}") from None
        if not 0 <= i < n:
            raise IndexError(f"{self._name!r} has {n} {what}; there is no number {which}")
        return int(part.start) + i

    def get_one_q(self, state: State, which: int) -> float:
        """One of its coordinates, by its place among them. Needs MODEL. `IndexError` if there is none of that number."""
        return float(state._q[self._which(self._q_slice(state, "get_one_q"), which, "q")])

    def get_one_u(self, state: State, which: int) -> float:
        """One of its speeds, by its place among them. Needs MODEL. `IndexError` if there is none of that number."""
        return float(state._u[self._which(self._u_slice(state, "get_one_u"), which, "u")])

    def set_one_q(self, state: State, which: int, v: float) -> None:
        """Set one coordinate; the state falls to TIME at most.

        Raises
        ------
        IndexError
            If there is none of that number.
        TypeError
            If *v* is not a number. NaN is found when the state is realized.
        ModelError
            If q is locked.
        """
        at = self._which(self._q_slice(state, "set_one_q"), which, "q")
        if state._has_locks:
            self._refuse_locked(state, "q")
        state._q[at] = number("q", v)
        state._invalidate_q()

    def set_one_u(self, state: State, which: int, v: float) -> None:
        """Set one speed; the state falls to POSITION at most.

        Raises
        ------
        IndexError
            If there is none of that number.
        TypeError
            If *v* is not a number. NaN is found when the state is realized.
        ModelError
            If u is locked.
        """
        at = self._which(self._u_slice(state, "set_one_u"), which, "u")
        if state._has_locks:
            self._refuse_locked(state, "u")
        state._u[at] = number("u", v)
        state._invalidate_u()

    def get_one_q_dot(self, state: State, which: int) -> float:
        """Rate of one of its coordinates, by its place. Needs VELOCITY. `IndexError` if there is none of that number."""
        at = self._which(self._q_slice(state, "get_one_q_dot"), which, "q")
        if state._stage < _VELOCITY:
            state._refuse("get_one_q_dot", Stage.VELOCITY)
        return float(state._q_dot_view[at])

    def get_one_u_dot(self, state: State, which: int) -> float:
        """One of its accelerations, by its place. Needs ACCELERATION. `IndexError` if there is none of that number."""
        at = self._which(self._u_slice(state, "get_one_u_dot"), which, "u")
        if state._stage < _ACCELERATION:
            state._refuse("get_one_u_dot", Stage.ACCELERATION)
        return float(state._u_dot_view[at])

    def get_one_q_dot_dot(self, state: State, which: int) -> float:
        """Second rate of one coordinate, by its place. Needs ACCELERATION. `IndexError` if there is none of that number."""
        at = self._which(self._q_slice(state, "get_one_q_dot_dot"), which, "q")
        if state._stage < _ACCELERATION:
            state._refuse("get_one_q_dot_dot", Stage.ACCELERATION)
        return float(state._q_dot_dot_view[at])

    # Arrays like all q, or all u, are the whole system's, or the matter's alone: others than bodies may have some.

    def _part_of_q(self, state: State, asked: str, qlike: ArrayLike) -> tuple[slice, Array]:
        """Where its part of an array like q is, and the array."""
        if state._token is not self._matter._token or state._stage < _MODEL:
            state._tree_of(self, asked)
        tree, array = state._tree, numbers("qlike", qlike)
        if array.shape != (tree.nq,):
            like(array, state._q.shape if array.shape == state._q.shape else (tree.nq,), "qlike")
        return tree.q_slices[self._index], array

    def _part_of_u(self, state: State, asked: str, ulike: ArrayLike) -> tuple[slice, Array]:
        """Where its part of an array like u is, and the array."""
        if state._token is not self._matter._token or state._stage < _MODEL:
            state._tree_of(self, asked)
        tree, array = state._tree, numbers("ulike", ulike)
        if array.shape != (tree.nu,):
            like(array, state._u.shape if array.shape == state._u.shape else (tree.nu,), "ulike")
        return tree.u_slices[self._index], array

    def _like_q(self, state: State, asked: str, array: Any) -> tuple[slice, tuple[int, ...]]:
        """Its part of an array like q, and the shape that this has to have."""
        tree, whole = state._tree_of(self, asked), state._q.shape
        return tree.q_slices[self._index], whole if np.shape(array) == whole else (tree.nq,)

    def _like_u(self, state: State, asked: str, array: Any) -> tuple[slice, tuple[int, ...]]:
        """Its part of an array like u, and the shape that this has to have."""
        tree, whole = state._tree_of(self, asked), state._u.shape
        return tree.u_slices[self._index], whole if np.shape(array) == whole else (tree.nu,)

    def get_my_part_q(self, state: State, qlike: ArrayLike) -> Any:
        """Its part of an ``(nq,)`` array of the whole system: a float for kinds with one coordinate. Needs MODEL."""
        part, array = self._part_of_q(state, "get_my_part_q", qlike)
        return self._one_or_all(array[part])

    def get_my_part_u(self, state: State, ulike: ArrayLike) -> Any:
        """Its part of an ``(nu,)`` array of the whole system: a float for kinds with one speed. Needs MODEL."""
        part, array = self._part_of_u(state, "get_my_part_u", ulike)
        return self._one_or_all(array[part])

    def upd_my_part_q(self, state: State, qlike: Array) -> Array:
        """Its part of an ``(nq,)`` float64 array of the whole system, as a writable view ``(n,)``. Needs MODEL.

        `TypeError` if it is no float64 array, `ValueError` if it has another shape or is read-only, as ``state.q`` is.
        """
        part, shape = self._like_q(state, "upd_my_part_q", qlike)
        return writable(qlike, shape, "qlike")[part]

    def upd_my_part_u(self, state: State, ulike: Array) -> Array:
        """Its part of an ``(nu,)`` float64 array of the whole system, as a writable view ``(n,)``. Needs MODEL.

        Errors as those of `upd_my_part_q`.
        """
        part, shape = self._like_u(state, "upd_my_part_u", ulike)
        return writable(ulike, shape, "ulike")[part]

    def get_one_from_q_partition(self, state: State, which: int, qlike: ArrayLike) -> float:
        """One entry of its part of an ``(nq,)`` array. Needs MODEL. `IndexError` if there is none of that number."""
        part, array = self._part_of_q(state, "get_one_from_q_partition", qlike)
        return float(array[self._which(part, which, "q")])

    def get_one_from_u_partition(self, state: State, which: int, ulike: ArrayLike) -> float:
        """One entry of its part of an ``(nu,)`` array. Needs MODEL. `IndexError` if there is none of that number."""
        part, array = self._part_of_u(state, "get_one_from_u_partition", ulike)
        return float(array[self._which(part, which, "u")])

    def upd_one_from_q_partition(self, state: State, which: int, qlike: Array) -> Array:
        """One entry of its part of an ``(nq,)`` float64 array, as a 0-d view: assign with ``view[...] = x``. Needs MODEL.

        `IndexError` if there is none of that number; otherwise errors as those of `upd_my_part_q`.
        """
        part, shape = self._like_q(state, "upd_one_from_q_partition", qlike)
        at = self._which(part, which, "q")
        return writable(qlike, shape, "qlike")[at : at + 1].reshape(())

    def upd_one_from_u_partition(self, state: State, which: int, ulike: Array) -> Array:
        """One entry of its part of an ``(nu,)`` float64 array, as a 0-d view: assign with ``view[...] = x``. Needs MODEL.

        `IndexError` if there is none of that number; otherwise errors as those of `upd_my_part_q`.
        """
        part, shape = self._like_u(state, "upd_one_from_u_partition", ulike)
        at = self._which(part, which, "u")
        return writable(ulike, shape, "ulike")[at : at + 1].reshape(())
