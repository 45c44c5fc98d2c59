"""SimbodyMatterSubsystem: the bodies and mobilizers of a system, and the operators on them.

It is made of parts: `particles`, `matter_bodies`, `matter_realized`, `matter_coordinates`, `matter_jacobians`,
`matter_inertias`, `matter_dynamics`, `matter_constraints`, `matter_motion`. Here are reactions, unilateral contacts and
friction of known normal force.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..decoration.rubber_band_line import RubberBandLine
from ..mobilizer.base import MobilizedBody
from ..mobilizer.ground import Ground
from ..state import validity
from ..state.state import State
from ..tree import reaction
from ..unilateral.base import UnilateralContact
from ..unilateral.state_limited_friction import StateLimitedFriction
from ..value import checks
from .matter_motion import Prescribed

if TYPE_CHECKING:
    from .system import MultibodySystem

#: Where a reaction is asked for.
_REACTION_PLACES = {
    "on body at its origin": reaction.AT_BODY_ORIGIN,
    "on body at M": reaction.AT_M,
    "on parent at F": reaction.ON_PARENT_AT_F,
    "on parent at its origin": reaction.ON_PARENT_AT_ORIGIN,
}


class SimbodyMatterSubsystem(Prescribed):
    """The bodies, mobilizers and particles of a system, and the operators on them.

    Parameters
    ----------
    system : MultibodySystem, optional
        The system to join; without one it is an orphan until adopted.

    Notes
    -----
    The operators work on a realized state and leave what it holds alone. Vectors are ``(nu,)`` or ``(nq,)``, spatial vectors
    one a body ``(nb, 2, 3)``, Ground first, angular before linear, all expressed in Ground.

    Each raises `StageError` for a state that has not got the stage it needs, `TopologyError` for a state or a body of another
    system and for a state older than the last change of the topology, `ValueError` for an argument of another shape, and
    `TypeError` or `ValueError` for what is no number. Nothing has changed then. NaN among arguments comes out again where
    it matters. A product with M, M^-1, J or N takes O(n), an explicit matrix as long as its entries that may not be zero.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> matter = system.matter
    >>> matter.get_num_bodies(), [body.name for body in matter.bodies]
    (3, ['ground', 'upper', 'lower'])
    >>> system.realize(state, mb.Stage.VELOCITY)
    >>> matter.calc_m(state).shape
    (2, 2)
    """

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

    unilateral_contacts: list[UnilateralContact]
    #: Which surfaces `contact.rigid` has made rigid, each two by their bodies' indices and places on these.
    rigid_pairs: set[frozenset[tuple[int, int]]]
    state_limited_frictions: list[StateLimitedFriction]

    def name_of_contact(self, kind: str, name: Any) -> str:
        """The name of a new contact of a *kind*: *name*, or one that is free."""
        taken = {one.name for one in self.unilateral_contacts} | {one.name for one in self.state_limited_frictions}
        return checks.name_among(taken, "contact", name, kind, len(taken))

    def adopt_unilateral_contact(self, contact: UnilateralContact, name: str | None) -> tuple[int, str]:
        """Take a new contact; its index and its name."""
        own = self.name_of_contact(type(contact).__name__, name)
        self.unilateral_contacts.append(contact)
        self.invalidate_topology()
        return len(self.unilateral_contacts) - 1, own

    def adopt_state_limited_friction(self, friction: StateLimitedFriction, name: str | None) -> tuple[int, str]:
        """Take a new one; its index and its name."""
        own = self.name_of_contact(type(friction).__name__, name)
        self.state_limited_frictions.append(friction)
        self.invalidate_topology()
        return len(self.state_limited_frictions) - 1, own

    def get_num_unilateral_contacts(self) -> int:
        """Number of unilateral contacts, open ones included."""
        return len(self.unilateral_contacts)

    def get_unilateral_contact(self, index: int) -> UnilateralContact:
        """A unilateral contact by its index; `IndexError` out of range."""
        return checks.one_of(self.unilateral_contacts, index, self, "unilateral contacts")

    def upd_unilateral_contact(self, index: int) -> UnilateralContact:
        """A unilateral contact by its index; the same object as `get_unilateral_contact` gives."""
        return self.get_unilateral_contact(index)

    def get_num_state_limited_frictions(self) -> int:
        """Number of elements of friction with a known normal force."""
        return len(self.state_limited_frictions)

    def get_state_limited_friction(self, index: int) -> StateLimitedFriction:
        """One of these by its index; `IndexError` out of range."""
        return checks.one_of(self.state_limited_frictions, index, self, "state-limited frictions")

    def upd_state_limited_friction(self, index: int) -> StateLimitedFriction:
        """One of these by its index; the same object as `get_state_limited_friction` gives."""
        return self.get_state_limited_friction(index)

    INNER = frozenset(
        """
        acceleration_errors accelerations adopt adopt_constraint adopt_state_limited_friction adopt_unilateral_contact
        angles_of_rows
        body_list check_particle_masses constraint_of converted
        default_use_euler_angles enable_constraint explicit_g find_body find_mobility find_reaction frame_jacobian
        fulfil_by_impulses latch let_slide mobilities_by_name take_up mobility_vector
        mobilizer_acceleration mobilizer_velocity name_of_contact note num_equations particle
        particles places_of_rows position_errors positions
        rigid_pairs rows_in_use rubber_band_lines singularities
        state_limited_frictions tasks token unilateral_contacts switch_contacts velocities velocity_errors
        """.split()
    )

    def __init__(self, system: MultibodySystem | None = None) -> None:
        self.body_list: list[MobilizedBody] = []
        self._names: dict[str, MobilizedBody] = {}
        self.constraints = []
        self.unilateral_contacts, self.state_limited_frictions, self.rigid_pairs = [], [], set()
        self.system = None
        self.token = object()  # what a state of its system, as this is now, has too; of an orphan none has it
        self.default_use_euler_angles = False
        self._show_default_geometry = True
        self.rubber_band_lines: list[RubberBandLine] = []
        self._ground = Ground(self)
        super().__init__(system, "matter")

    def __str__(self) -> str:
        """A summary for reading: a line for each body, with its mobilizer, parent and mass."""
        lines = [f"SimbodyMatterSubsystem: {len(self.body_list)} bodies, Ground included"]
        for body in self.body_list[1:]:
            parent = body.get_parent_mobilized_body()
            kind, facts = type(body).__name__, body.facts
            lines.append(
                f"  {body.index:4d} {body.name}: {kind} on {parent.name}, {facts.num_q} q, {facts.num_u} u, "
                f"mass {body.get_default_mass_properties().mass:.6g}"
            )
        if self.get_num_particles():
            lines.append(f"  {self.get_num_particles()} particles, mass {self.particles[0].sum():.6g}")
        return "\n".join(lines)
