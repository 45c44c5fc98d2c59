"""Reactions: the forces that mobilizers exert on their bodies, in three ways."""

from __future__ import annotations

import numpy as np

from ..algebra.arrays import Array
from ..state import validity
from ..state.state import State
from ..tree import reaction
from .matter_motion import Prescribed

#: Where a reaction is asked for.
_REACTION_PLACES = {
    "on body at its origin": reaction.AT_BODY_ORIGIN,
    "on body at M": reaction.AT_M,
    "on parent at F": reaction.ON_PARENT_AT_F,
    "on parent at its origin": reaction.ON_PARENT_AT_ORIGIN,
}


class Reactions(Prescribed):
    """The part of `SimbodyMatterSubsystem` that has the reactions."""

    def calc_mobilizer_reaction_forces(self, state: State) -> Array:
        """The force of each mobilizer on its body ``(nb, 2, 3)``: torque and force at M, in Ground. Needs ACCELERATION.

        It is all that the parent exerts through the mobilizer: the forces of constraint, the applied mobility forces, and
        those that prescribe its motion, less what of these turns a rotor (rotor inertia times udot). Ground's row is the force
        that holds Ground, at its origin: the sum of the reactions on the bodies next to it, less the forces of force elements
        and constraints on Ground.

        Returns
        -------
        (nb, 2, 3) array
            One a body, Ground first; mass*length^2/time^2 and mass*length/time^2.

        See Also
        --------
        MobilizedBody.find_mobilizer_reaction_on_body_at_m_in_ground : the same of one mobilizer, and taken elsewhere.
        calc_mobilizer_reaction_forces_using_freebody_method : the same by another way.

        Notes
        -----
        F = P A' + Z, with the articulated inertia of the body and the force left to be balanced there when accelerations
        were computed: about a hundred operations a body. Source: Jain 2011, section 7.3.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.calc_mobilizer_reaction_forces(state).shape
        (3, 2, 3)
        """
        block = self.accelerations(state, "calc_mobilizer_reaction_forces")
        out = np.empty((len(self.body_list), 2, 3))
        with self._constraints_as_applied(state):
            reaction.calc_reactions(block, state.valid & validity.STORED_INERTIAS != 0, out.reshape(-1, 6))
        return out

    def calc_mobilizer_reaction_forces_using_freebody_method(self, state: State) -> Array:
        """The same as `calc_mobilizer_reaction_forces` ``(nb, 2, 3)``, by another way: for checking. Needs ACCELERATION.

        Newton's and Euler's equations of each body about its mass center, from the tips to Ground, with its velocity, its
        acceleration, the forces applied to it and the reactions of its children. Both agree to rounding.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.calc_mobilizer_reaction_forces_using_freebody_method(state).shape
        (3, 2, 3)
        """
        block = self.accelerations(state, "calc_mobilizer_reaction_forces_using_freebody_method")
        out = np.empty((len(self.body_list), 2, 3))
        with self._constraints_as_applied(state):
            reaction.calc_reactions_by_free_bodies(block, out.reshape(-1, 6))
        return out

    def find_reaction(self, state: State, asked: str, b: int, place: str) -> Array:
        """The reaction in the mobilizer of body *b*, at *place*, as a spatial force in Ground."""
        block = self.accelerations(state, asked)
        out = np.empty((2, 3))
        with self._constraints_as_applied(state):
            reaction.find_reaction(
                block, b, _REACTION_PLACES[place], state.valid & validity.STORED_INERTIAS != 0, out.reshape(1, 6)
            )
        return out
