"""SimbodyMatterSubsystem: the bodies and mobilizers of a system, and the operators on them.

It is made of parts: `particles`, `matter_bodies`, `matter_realized`, `matter_coordinates`, `matter_jacobians`,
`matter_mass_matrix`, `matter_momentum`, `matter_inertias`, `matter_dynamics`, `matter_constraints`, `matter_motion`,
`matter_reactions`, `matter_contacts`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..decoration.rubber_band_line import RubberBandLine
from ..mobilizer.base import MobilizedBody
from ..mobilizer.ground import Ground
from .matter_contacts import HasContacts

if TYPE_CHECKING:
    from .system import MultibodySystem


class SimbodyMatterSubsystem(HasContacts):
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
