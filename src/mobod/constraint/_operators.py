"""Operators: places of constrained coordinates and speeds, and errors at coordinates and speeds other than the state's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..value.attributes import Sealed
from ..value.checks import integer, shaped
from ..value.stage import Stage

if TYPE_CHECKING:
    from ..mobilizer.base import MobilizedBody
    from ..state.state import State
    from ..value.annotations import SimbodyMatterSubsystem


class Operators(Sealed):
    """The part of `Constraint` with places of coordinates and speeds, and with errors at numbers other than the state's."""

    index: int
    _name: str
    matter: SimbodyMatterSubsystem
    constrained_mobilizers: list[MobilizedBody]

    if TYPE_CHECKING:

        def model(self, state: State, asked: str) -> None: ...
        def own_rows(self, state: State, which: int | None = None) -> npt.NDArray[np.int64]: ...
        def get_position_errors_as_vector(self, state: State) -> Array:
            """Of the constraint."""

        def get_velocity_errors_as_vector(self, state: State) -> Array:
            """Of the constraint."""

        def get_mobilized_body_from_constrained_mobilizer(self, constrained_mobilizer: int) -> MobilizedBody:
            """Of the constraint."""

    # ------------------------------------------------------------------------------------------ what it is part of

    def upd_matter_subsystem(self) -> SimbodyMatterSubsystem:
        """The subsystem it is part of; the same object as `get_matter_subsystem` gives."""
        return self.matter

    def is_in_subsystem(self) -> bool:
        """True if it is part of a matter subsystem; every constraint is, from its making on."""
        return True

    def is_in_same_subsystem(self, mobod: MobilizedBody) -> bool:
        """True if *mobod* is a body of the matter subsystem that it is part of."""
        if not hasattr(mobod, "get_matter_subsystem"):
            raise TypeError(f"is_in_same_subsystem of {self!r} takes a mobilized body, not {mobod!r}")
        return mobod.get_matter_subsystem() is self.matter

    # ------------------------------------------------------------------------------------------ coordinates and speeds

    def get_num_constrained_q(self, state: State, constrained_mobilizer: int | None = None) -> int:
        """Number of q that the constrained mobilizers have, or one of them has. Needs MODEL.

        All q of a constrained mobilizer are counted, whether an equation has them or not, and those of a disabled constraint
        too.
        """
        self.model(state, "get_num_constrained_q")
        return self._count(state.tree.num_q, constrained_mobilizer)

    def get_num_constrained_u(self, state: State, constrained_mobilizer: int | None = None) -> int:
        """Number of u that the constrained mobilizers have, or one of them has; counted like the q. Needs MODEL."""
        self.model(state, "get_num_constrained_u")
        return self._count(state.tree.num_u, constrained_mobilizer)

    def get_constrained_q_index(self, state: State, constrained_mobilizer: int, which: int) -> int:
        """The place among the constrained q of coordinate *which* of a constrained mobilizer. Needs MODEL."""
        self.model(state, "get_constrained_q_index")
        return self._place("q", state.tree.num_q, constrained_mobilizer, which)

    def get_constrained_u_index(self, state: State, constrained_mobilizer: int, which: int) -> int:
        """The place among the constrained u of speed *which* of a constrained mobilizer. Needs MODEL."""
        self.model(state, "get_constrained_u_index")
        return self._place("u", state.tree.num_u, constrained_mobilizer, which)

    def get_q_index_of_constrained_q(self, state: State, constrained_q: int) -> int:
        """The place among all q of the system of one of the constrained q. Needs MODEL."""
        self.model(state, "get_q_index_of_constrained_q")
        return self._whole("q", state.tree.num_q, state.tree.first_q, constrained_q)

    def get_u_index_of_constrained_u(self, state: State, constrained_u: int) -> int:
        """The place among all u of the system of one of the constrained u. Needs MODEL."""
        self.model(state, "get_u_index_of_constrained_u")
        return self._whole("u", state.tree.num_u, state.tree.first_u, constrained_u)

    def _count(self, numbers: Any, constrained_mobilizer: int | None) -> int:
        bodies = self.constrained_mobilizers
        if constrained_mobilizer is not None:
            bodies = [self.get_mobilized_body_from_constrained_mobilizer(constrained_mobilizer)]
        return sum(int(numbers[body.get_mobilized_body_index()]) for body in bodies)

    def _place(self, letter: str, numbers: Any, constrained_mobilizer: int, which: int) -> int:
        mobilizer = integer(f"the number of a constrained mobilizer of {self!r}", constrained_mobilizer)
        n, i = self._count(numbers, mobilizer), integer(f"the number of a {letter} of a constrained mobilizer", which)
        if not 0 <= i < n:
            raise IndexError(f"constrained mobilizer {mobilizer} of {self!r} has {n} {letter}; no number {i}")
        before = self.constrained_mobilizers[:mobilizer]
        return sum(int(numbers[body.get_mobilized_body_index()]) for body in before) + i

    def _whole(self, letter: str, numbers: Any, first: Any, index: int) -> int:
        rest = integer(f"the number of a constrained {letter} of {self!r}", index)
        for body in self.constrained_mobilizers if rest >= 0 else ():
            b = body.get_mobilized_body_index()
            if rest < numbers[b]:
                return int(first[b]) + rest
            rest -= int(numbers[b])
        raise IndexError(f"{self!r} has {self._count(numbers, None)} constrained {letter}; no number {index}")

    # ------------------------------------------------------------------------------------------ parts of vectors

    def get_my_part_from_constraint_space_vector(self, state: State, constraint_space: npt.ArrayLike) -> Array:
        """Its part ``(mp + mv + ma,)`` of an array ``(m,)`` of one number an equation of the system. Needs MODEL."""
        places = self._my_places(state)
        return self._constraint_space(state, constraint_space)[places]

    def set_my_part_in_constraint_space_vector(
        self, state: State, my_part: npt.ArrayLike, constraint_space: npt.ArrayLike | None = None
    ) -> Array:
        """An array of one number an equation of the system, with this constraint's replaced. Needs MODEL.

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
        places = self._my_places(state)
        part = shaped(f"my_part of {self!r}", my_part, places.shape)
        m = sum(self.matter.num_equations(state))
        empty = constraint_space is None or np.size(constraint_space) == 0
        vector = np.zeros(m) if empty or constraint_space is None else self._constraint_space(state, constraint_space).copy()
        vector[places] = part
        return vector

    def _my_places(self, state: State) -> npt.NDArray[np.int64]:
        rows = self.own_rows(state)
        return self.matter.places_of_rows(state)[rows]

    def _constraint_space(self, state: State, given: npt.ArrayLike) -> Array:
        return shaped("constraint_space, one an equation in use,", given, (sum(self.matter.num_equations(state)),))

    # ------------------------------------------------------------------------------------------ errors at other numbers

    def calc_position_error_from_q(self, state: State, q: npt.ArrayLike) -> Array:
        """Errors of its position equations if the coordinates were *q* ``(nq,)``, at the state's time: ``(mp,)``. Needs MODEL.

        The state is left as it is. Coordinates of all bodies are given, in the state's order.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> loop = system.matter.constraints[0]
        >>> system.realize(state)
        >>> bool(abs(loop.calc_position_error_from_q(state, state.q)).max() < 1e-8)
        True
        """
        self.model(state, "calc_position_error_from_q")
        n = state.tree.nq
        vector = shaped("q", q, (n,))
        other = state.copy()
        other.upd_q()[:n] = vector
        other.system.realize(other, Stage.POSITION)
        return self.get_position_errors_as_vector(other).copy()

    def calc_velocity_error_from_u(self, state: State, u: npt.ArrayLike) -> Array:
        """Errors of its position and velocity equations if the speeds were *u* ``(nu,)``: ``(mp + mv,)``. Needs POSITION.

        The state is left as it is. Speeds of all bodies are given, in the state's order; empty stands for zeros.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> loop = system.matter.constraints[0]
        >>> system.realize(state)
        >>> bool(abs(loop.calc_velocity_error_from_u(state, state.u)).max() < 1e-8)
        True
        """
        self.matter.positions(state, f"calc_velocity_error_from_u of {self._name!r}")
        vector = self.matter.mobility_vector(state, "u", u)
        other = state.copy()
        other.upd_u()[: state.tree.nu] = vector
        other.system.realize(other, Stage.VELOCITY)
        return self.get_velocity_errors_as_vector(other)

    def calc_acceleration_error_from_u_dot(self, state: State, udot: npt.ArrayLike) -> Array:
        """Errors of all its equations if the accelerations were *udot* ``(nu,)``: ``(mp + mv + ma,)``. Needs VELOCITY.

        The state is left as it is. Those of all bodies are given, in the state's order; empty stands for zeros.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> loop = system.matter.constraints[0]
        >>> system.realize(state)
        >>> bool(abs(loop.calc_acceleration_error_from_u_dot(state, state.u_dot)).max() < 1e-6)
        True
        """
        self.matter.velocities(state, f"calc_acceleration_error_from_u_dot of {self._name!r}")
        errors = self.matter.calc_constraint_acceleration_errors(state, udot)
        return errors[self._my_places(state)]
