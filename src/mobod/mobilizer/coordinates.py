"""q and u of one mobilizer: where they are in the state, reading and setting them, and its part of arrays like them."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..state.state import State
from ..value.checks import integer, number, numbers, shaped, writable
from ..value.stage import ACCELERATION, MODEL, VELOCITY, Stage
from .locking import Locking


def check_which(name: str, which: Any, body: Any) -> int:
    """The number of one of a body's q or u, as *name*, ``which_q`` or ``which_u``, says; an IndexError if it has fewer."""
    i = integer(name, which)
    n, letter = (body.facts.num_q, "q") if name.startswith("which_q") else (body.facts.num_u, "u")
    if not 0 <= i < n:
        there = f"0 to {n - 1}" if n > 1 else "0" if n else "none"
        raise IndexError(f"{name} is {which}, but {body!r} has {n} {letter}: {there}")
    return i


class Coordinates(Locking):
    """The part of `MobilizedBody` that reads and sets its q and u."""

    #: Whether a single coordinate is returned as an array, never as a float: for kinds whose number of coordinates varies.
    _always_arrays: bool = False

    def get_num_q(self, state: State) -> int:
        """Number of coordinates that it has in this state; angles in place of a quaternion make one less. Needs MODEL."""
        return state.tree_of(self, "get_num_q").num_q[self.index]

    def get_num_u(self, state: State) -> int:
        """Number of speeds that it has: its mobilities. Needs MODEL."""
        return state.tree_of(self, "get_num_u").num_u[self.index]

    def get_first_q_index(self, state: State) -> int:
        """Place of its first coordinate in the state's q. Needs MODEL."""
        return state.tree_of(self, "get_first_q_index").first_q[self.index]

    def get_first_u_index(self, state: State) -> int:
        """Place of its first speed in the state's u. Needs MODEL."""
        return state.tree_of(self, "get_first_u_index").first_u[self.index]

    def q_slice(self, state: State, asked: str = "q") -> slice:
        """The slice of the state's q that is its own."""
        return state.tree_of(self, asked).q_slices[self.index]

    def u_slice(self, state: State, asked: str = "u") -> slice:
        """The slice of the state's u that is its own."""
        return state.tree_of(self, asked).u_slices[self.index]

    def _one_or_all(self, values: Array) -> Any:
        one = self.facts.num_u == 1 and len(values) == 1 and not self._always_arrays
        return float(values[0]) if one else values.copy()

    def get_q(self, state: State) -> Any:
        """Its coordinates: a float for kinds with one, else an ``(nq,)`` array. Needs MODEL."""
        return self._one_or_all(state.q_values[self.q_slice(state, "get_q")])

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
        n = self.facts.num_q
        if not state.put_q(self, q, 0, () if n == 1 and isinstance(q, (float, int)) else (n,), n):
            self._set(state, "set_q", "q", q)

    def get_u(self, state: State) -> Any:
        """Its speeds: a float for kinds with one, else an ``(nu,)`` array. Needs MODEL."""
        return self._one_or_all(state.u_values[self.u_slice(state, "get_u")])

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
        n = self.facts.num_u
        if not state.put_u(self, u, 0, () if n == 1 and isinstance(u, (float, int)) else (n,), n):
            self._set(state, "set_u", "u", u)

    def _set(self, state: State, asked: str, what: str, value: ArrayLike) -> None:
        of_q = what == "q"
        part = self.q_slice(state, asked) if of_q else self.u_slice(state, asked)
        if state.has_locks:
            self._refuse_locked(state, what)
        self._put(state.q_values if of_q else state.u_values, part, value, what)
        if of_q:
            state.invalidate_q()
        else:
            state.invalidate_u()

    def _put(self, target: Array, part: slice, value: ArrayLike, what: str) -> None:
        n = part.stop - part.start
        array = numbers(f"{what} of {self._name!r}", value)
        if array.shape != (n,) and not (n == 1 and array.shape == ()):
            raise ValueError(f"{self._name!r} has {n} {what}, got shape {array.shape}")
        target[part] = array

    def _rates_of_q(self, state: State, asked: str) -> Array:
        part = self.q_slice(state, asked)
        if state.stage_number < VELOCITY:
            state.refuse(asked, Stage.VELOCITY)
        return state.q_dot_view[part]

    def _rates_of_u(self, state: State, asked: str) -> Array:
        part = self.u_slice(state, asked)
        if state.stage_number < ACCELERATION:
            state.refuse(asked, Stage.ACCELERATION)
        return state.u_dot_view[part]

    def _second_rates_of_q(self, state: State, asked: str) -> Array:
        part = self.q_slice(state, asked)
        if state.stage_number < ACCELERATION:
            state.refuse(asked, Stage.ACCELERATION)
        return state.q_dot_dot_view[part]

    def get_q_dot(self, state: State) -> Any:
        """Rates of its coordinates: a float for kinds with one, else an ``(nq,)`` array. Needs VELOCITY."""
        return self._one_or_all(self._rates_of_q(state, "get_q_dot"))

    def get_u_dot(self, state: State) -> Any:
        """Rates of its speeds, a float for kinds with one, else an ``(nu,)`` array: its accelerations. Needs ACCELERATION."""
        part = state.tree_of(self, "get_u_dot").u_slices[self.index]
        if state.stage_number < ACCELERATION:
            state.refuse("get_u_dot", Stage.ACCELERATION)
        return self._one_or_all(state.u_dot_view[part])

    def get_q_dot_dot(self, state: State) -> Any:
        """Second rates of its coordinates: a float for kinds with one, else an ``(nq,)`` array. Needs ACCELERATION."""
        return self._one_or_all(self._second_rates_of_q(state, "get_q_dot_dot"))

    def get_q_as_vector(self, state: State) -> Array:
        """Its coordinates, ``(nq,)``. Needs MODEL."""
        return state.q_values[self.q_slice(state, "get_q_as_vector")].copy()

    def get_u_as_vector(self, state: State) -> Array:
        """Its speeds as an array, ``(nu,)``. Needs MODEL."""
        return state.u_values[self.u_slice(state, "get_u_as_vector")].copy()

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

    def which_coordinate(self, part: slice, which: int, what: str) -> int:
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
        return float(state.q_values[self.which_coordinate(self.q_slice(state, "get_one_q"), which, "q")])

    def get_one_u(self, state: State, which: int) -> float:
        """One of its speeds, by its place among them. Needs MODEL. `IndexError` if there is none of that number."""
        return float(state.u_values[self.which_coordinate(self.u_slice(state, "get_one_u"), which, "u")])

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
        if type(which) is int and which >= 0 and state.put_q(self, v, which):
            return
        at = self.which_coordinate(state.tree_of(self, "set_one_q").q_slices[self.index], which, "q")
        if state.has_locks:
            self._refuse_locked(state, "q")
        state.q_values[at] = number("q", v)
        state.invalidate_q()

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
        if type(which) is int and which >= 0 and state.put_u(self, v, which):
            return
        at = self.which_coordinate(state.tree_of(self, "set_one_u").u_slices[self.index], which, "u")
        if state.has_locks:
            self._refuse_locked(state, "u")
        state.u_values[at] = number("u", v)
        state.invalidate_u()

    def get_one_q_dot(self, state: State, which: int) -> float:
        """Rate of one of its coordinates, by its place. Needs VELOCITY. `IndexError` if there is none of that number."""
        at = self.which_coordinate(self.q_slice(state, "get_one_q_dot"), which, "q")
        if state.stage_number < VELOCITY:
            state.refuse("get_one_q_dot", Stage.VELOCITY)
        return float(state.q_dot_view[at])

    def get_one_u_dot(self, state: State, which: int) -> float:
        """One of its accelerations, by its place. Needs ACCELERATION. `IndexError` if there is none of that number."""
        at = self.which_coordinate(self.u_slice(state, "get_one_u_dot"), which, "u")
        if state.stage_number < ACCELERATION:
            state.refuse("get_one_u_dot", Stage.ACCELERATION)
        return float(state.u_dot_view[at])

    def get_one_q_dot_dot(self, state: State, which: int) -> float:
        """Second rate of one coordinate, by its place. Needs ACCELERATION. `IndexError` if there is none of that number."""
        at = self.which_coordinate(self.q_slice(state, "get_one_q_dot_dot"), which, "q")
        if state.stage_number < ACCELERATION:
            state.refuse("get_one_q_dot_dot", Stage.ACCELERATION)
        return float(state.q_dot_dot_view[at])

    # Arrays like all q, or all u, are the whole system's, or the matter's alone: not only bodies have coordinates.

    def _like(self, state: State, asked: str, what: str, array: Any) -> tuple[slice, tuple[int, ...]]:
        """Its part of an array like q or u, as *what* says, and the shape that this has to have."""
        tree = state.tree_of(self, asked)
        if what == "qlike":
            part, n, whole = tree.q_slices[self.index], tree.nq, state.q_values.shape
        else:
            part, n, whole = tree.u_slices[self.index], tree.nu, state.u_values.shape
        return part, whole if np.shape(array) == whole else (n,)

    def _part(self, state: State, asked: str, what: str, value: ArrayLike) -> tuple[slice, Array]:
        """The run of its part of an array like q or u, and the array."""
        if state.token is not self.matter.token or state.stage_number < MODEL:
            state.tree_of(self, asked)
        tree, array = state.tree, numbers(what, value)
        n, parts = (tree.nq, tree.q_slices) if what == "qlike" else (tree.nu, tree.u_slices)
        if array.shape != (n,):
            shaped(what, array, self._like(state, asked, what, array)[1])
        return parts[self.index], array

    def get_my_part_q(self, state: State, qlike: ArrayLike) -> Any:
        """Its part of an ``(nq,)`` array of the whole system: a float for kinds with one coordinate. Needs MODEL."""
        part, array = self._part(state, "get_my_part_q", "qlike", qlike)
        return self._one_or_all(array[part])

    def get_my_part_u(self, state: State, ulike: ArrayLike) -> Any:
        """Its part of an ``(nu,)`` array of the whole system: a float for kinds with one speed. Needs MODEL."""
        part, array = self._part(state, "get_my_part_u", "ulike", ulike)
        return self._one_or_all(array[part])

    def upd_my_part_q(self, state: State, qlike: Array) -> Array:
        """Its part of an ``(nq,)`` float64 array of the whole system, as a writable view ``(n,)``. Needs MODEL.

        `TypeError` if it is no float64 array, `ValueError` if it has another shape or is read-only, as ``state.q`` is.
        """
        part, shape = self._like(state, "upd_my_part_q", "qlike", qlike)
        return writable("qlike", qlike, shape)[part]

    def upd_my_part_u(self, state: State, ulike: Array) -> Array:
        """Its part of an ``(nu,)`` float64 array of the whole system, as a writable view ``(n,)``. Needs MODEL.

        Errors as those of `upd_my_part_q`.
        """
        part, shape = self._like(state, "upd_my_part_u", "ulike", ulike)
        return writable("ulike", ulike, shape)[part]

    def get_one_from_q_partition(self, state: State, which: int, qlike: ArrayLike) -> float:
        """One entry of its part of an ``(nq,)`` array. Needs MODEL. `IndexError` if there is none of that number."""
        part, array = self._part(state, "get_one_from_q_partition", "qlike", qlike)
        return float(array[self.which_coordinate(part, which, "q")])

    def get_one_from_u_partition(self, state: State, which: int, ulike: ArrayLike) -> float:
        """One entry of its part of an ``(nu,)`` array. Needs MODEL. `IndexError` if there is none of that number."""
        part, array = self._part(state, "get_one_from_u_partition", "ulike", ulike)
        return float(array[self.which_coordinate(part, which, "u")])

    def upd_one_from_q_partition(self, state: State, which: int, qlike: Array) -> Array:
        """One entry of its part of an ``(nq,)`` float64 array, as a 0-d view: assign with ``view[...] = x``. Needs MODEL.

        `IndexError` if there is none of that number; otherwise errors as those of `upd_my_part_q`.
        """
        part, shape = self._like(state, "upd_one_from_q_partition", "qlike", qlike)
        at = self.which_coordinate(part, which, "q")
        return writable("qlike", qlike, shape)[at : at + 1].reshape(())

    def upd_one_from_u_partition(self, state: State, which: int, ulike: Array) -> Array:
        """One entry of its part of an ``(nu,)`` float64 array, as a 0-d view: assign with ``view[...] = x``. Needs MODEL.

        `IndexError` if there is none of that number; otherwise errors as those of `upd_my_part_q`.
        """
        part, shape = self._like(state, "upd_one_from_u_partition", "ulike", ulike)
        at = self.which_coordinate(part, which, "u")
        return writable("ulike", ulike, shape)[at : at + 1].reshape(())
