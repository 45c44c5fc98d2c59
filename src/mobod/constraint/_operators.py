"""What every constraint has beside its equations: the numbering of what it acts on, and its errors at other numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..stage import Stage

if TYPE_CHECKING:
    from ..matter import SimbodyMatterSubsystem
    from ..mobilizer.base import MobilizedBody
    from ..state import State

Array = npt.NDArray[np.float64]


class Operators:
    """The part of `Constraint` that counts, and that computes with numbers other than the state's."""

    _index: int
    _name: str
    _matter: SimbodyMatterSubsystem
    _mobilizers: list[MobilizedBody]

    if TYPE_CHECKING:

        def _model(self, state: State, asked: str) -> None: ...
        def _own_rows(self, state: State, which: int | None = None) -> npt.NDArray[np.int64]: ...
        def get_position_errors_as_vector(self, state: State) -> Array:
            """Of the constraint."""

        def get_velocity_errors_as_vector(self, state: State) -> Array:
            """Of the constraint."""

        def get_mobilized_body_from_constrained_mobilizer(self, constrained_mobilizer: int) -> MobilizedBody:
            """Of the constraint."""

    # ------------------------------------------------------------------------------------------ what it is part of

    def upd_matter_subsystem(self) -> SimbodyMatterSubsystem:
        """The subsystem it is part of; the same object as `get_matter_subsystem` gives."""
        return self._matter

    def is_in_subsystem(self) -> bool:
        """Whether it is part of a matter subsystem; every constraint is, from its making on."""
        return True

    def is_in_same_subsystem(self, mobod: MobilizedBody) -> bool:
        """Whether *mobod* is a body of the matter subsystem that it is part of."""
        if not hasattr(mobod, "get_matter_subsystem"):
            raise TypeError(f"is_in_same_subsystem of {self!r} takes a mobilized body, not {mobod!r}")
        return mobod.get_matter_subsystem() is self._matter

    # ------------------------------------------------------------------------------------------ coordinates and speeds

    def get_num_constrained_q(self, state: State, constrained_mobilizer: int | None = None) -> int:
        """How many q the constrained mobilizers have, or one of them has. Needs MODEL.

        All q of a constrained mobilizer are counted, whether an equation has them or not, and those of a disabled constraint
        too.
        """
        self._model(state, "get_num_constrained_q")
        return self._count(state._tree.num_q, constrained_mobilizer)

    def get_num_constrained_u(self, state: State, constrained_mobilizer: int | None = None) -> int:
        """How many u the constrained mobilizers have, or one of them has; counted like the q. Needs MODEL."""
        self._model(state, "get_num_constrained_u")
        return self._count(state._tree.num_u, constrained_mobilizer)

    def get_constrained_q_index(self, state: State, constrained_mobilizer: int, which: int) -> int:
        """The place among the constrained q of coordinate *which* of a constrained mobilizer. Needs MODEL."""
        self._model(state, "get_constrained_q_index")
        return self._place("q", state._tree.num_q, constrained_mobilizer, which)

    def get_constrained_u_index(self, state: State, constrained_mobilizer: int, which: int) -> int:
        """The place among the constrained u of speed *which* of a constrained mobilizer. Needs MODEL."""
        self._model(state, "get_constrained_u_index")
        return self._place("u", state._tree.num_u, constrained_mobilizer, which)

    def get_q_index_of_constrained_q(self, state: State, constrained_q: int) -> int:
        """The place among all q of the system of one of the constrained q. Needs MODEL."""
        self._model(state, "get_q_index_of_constrained_q")
        return self._whole("q", state._tree.num_q, state._tree.first_q, constrained_q)

    def get_u_index_of_constrained_u(self, state: State, constrained_u: int) -> int:
        """The place among all u of the system of one of the constrained u. Needs MODEL."""
        self._model(state, "get_u_index_of_constrained_u")
        return self._whole("u", state._tree.num_u, state._tree.first_u, constrained_u)

    def _count(self, numbers: Any, constrained_mobilizer: int | None) -> int:
        bodies = self._mobilizers
        if constrained_mobilizer is not None:
            bodies = [self.get_mobilized_body_from_constrained_mobilizer(constrained_mobilizer)]
        return sum(int(numbers[body.get_mobilized_body_index()]) for body in bodies)

    def _place(self, letter: str, numbers: Any, constrained_mobilizer: int, which: int) -> int:
        n = self._count(numbers, constrained_mobilizer)
        if not 0 <= which < n:
            raise IndexError(f"constrained mobilizer {constrained_mobilizer} of {self!r} has {n} {letter}; no number {which}")
        before = self._mobilizers[:constrained_mobilizer]
        return sum(int(numbers[body.get_mobilized_body_index()]) for body in before) + int(which)

    def _whole(self, letter: str, numbers: Any, first: Any, index: int) -> int:
        rest = int(index)
        for body in self._mobilizers if rest >= 0 else ():
            b = body.get_mobilized_body_index()
            if rest < numbers[b]:
                return int(first[b]) + rest
            rest -= int(numbers[b])
        raise IndexError(f"{self!r} has {self._count(numbers, None)} constrained {letter}; no number {index}")

    # ------------------------------------------------------------------------------------------ parts of vectors

    def get_my_part_from_constraint_space_vector(self, state: State, constraint_space: npt.ArrayLike) -> Array:
        """Those of numbers ``(m,)``, one an equation of the system, that belong to it ``(mp + mv + ma,)``. Needs MODEL."""
        places = self._my_places(state)
        vector = self._constraint_space(state, constraint_space)
        return vector[places]

    def set_my_part_in_constraint_space_vector(
        self, state: State, my_part: npt.ArrayLike, constraint_space: npt.ArrayLike | None = None
    ) -> Array:
        """Numbers of all equations of the system in which its own are replaced. Needs MODEL.

        Parameters
        ----------
        state : State
        my_part : (mp + mv + ma,) array_like
            Its own: of its equations of positions, of velocities, then of accelerations alone.
        constraint_space : (m,) array_like, optional
            Those of all equations, in the order of the state's multipliers; None or empty stands for zeros.

        Returns
        -------
        (m,) array
            A new one; *constraint_space* is not changed.
        """
        places, part = self._my_places(state), np.asarray(my_part, dtype=np.float64)
        if part.shape != places.shape:
            raise ValueError(f"my_part of {self!r} has shape {places.shape} in this state, got {part.shape}")
        m = sum(self._matter._num_equations(state))
        empty = constraint_space is None or np.size(constraint_space) == 0
        vector = np.zeros(m) if empty or constraint_space is None else self._constraint_space(state, constraint_space).copy()
        vector[places] = part
        return vector

    def _my_places(self, state: State) -> npt.NDArray[np.int64]:
        rows = self._own_rows(state)
        return self._matter._places_of_rows(state)[rows]

    def _constraint_space(self, state: State, given: npt.ArrayLike) -> Array:
        m, vector = sum(self._matter._num_equations(state)), np.asarray(given, dtype=np.float64)
        if vector.shape != (m,):
            raise ValueError(f"constraint_space has shape ({m},), one an equation in use, got {vector.shape}")
        return vector

    # ------------------------------------------------------------------------------------------ errors at other numbers

    def calc_position_error_from_q(self, state: State, q: npt.ArrayLike) -> Array:
        """Errors of its position equations if the coordinates were *q* ``(nq,)``, at the state's time: ``(mp,)``. Needs MODEL.

        The state is left as it is. Coordinates of all bodies are given, in the state's order.
        """
        self._model(state, "calc_position_error_from_q")
        vector, n = np.asarray(q, dtype=np.float64), state._tree.nq
        if vector.shape != (n,):
            raise ValueError(f"q has shape ({n},), got {vector.shape}")
        other = state.copy()
        other.upd_q()[:n] = vector
        other._system.realize(other, Stage.POSITION)
        return self.get_position_errors_as_vector(other).copy()

    def calc_velocity_error_from_u(self, state: State, u: npt.ArrayLike) -> Array:
        """Errors of its position and velocity equations if the speeds were *u* ``(nu,)``: ``(mp + mv,)``. Needs POSITION.

        The state is left as it is. Speeds of all bodies are given, in the state's order; empty stands for zeros.
        """
        self._matter._positions(state, f"calc_velocity_error_from_u of {self._name!r}")
        vector = self._matter._mobility_vector(state, "u", u)
        other = state.copy()
        other.upd_u()[: state._tree.nu] = vector
        other._system.realize(other, Stage.VELOCITY)
        return self.get_velocity_errors_as_vector(other)

    def calc_acceleration_error_from_u_dot(self, state: State, udot: npt.ArrayLike) -> Array:
        """Errors of all its equations if the accelerations were *udot* ``(nu,)``: ``(mp + mv + ma,)``. Needs VELOCITY.

        The state is left as it is. Those of all bodies are given, in the state's order; empty stands for zeros.
        """
        self._matter._velocities(state, f"calc_acceleration_error_from_u_dot of {self._name!r}")
        errors = self._matter.calc_constraint_acceleration_errors(state, udot)
        return errors[self._my_places(state)]
