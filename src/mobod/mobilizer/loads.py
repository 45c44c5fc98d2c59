"""Forces on one body: reactions of its mobilizer, and forces to be applied, added to arrays of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..value.checks import number, shaped, writable
from .distances import Distances
from .matrices import cross_by

if TYPE_CHECKING:
    from ..state.state import State
    from .base import MobilizedBody


class Loads(Distances):
    """The part of `MobilizedBody` that gives its reactions and applies forces."""

    if TYPE_CHECKING:

        def get_parent_mobilized_body(self) -> MobilizedBody: ...

    # ------------------------------------------------------------------------------------------ reactions

    def find_mobilizer_reaction_on_body_at_m_in_ground(self, state: State) -> Array:
        """The mobilizer's wrench on this body ``(2, 3)``: torque and force at M, in Ground. Needs ACCELERATION.

        All that the parent exerts on the body through the mobilizer: the forces of constraint, the applied mobility forces, and
        those that prescribe its motion. The cost is that of one body, however many there are. For Ground it is what
        holds Ground, at its origin.

        See Also
        --------
        SimbodyMatterSubsystem.calc_mobilizer_reaction_forces : the same for all bodies.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> torque, force = system.matter.bodies["lower"].find_mobilizer_reaction_on_body_at_m_in_ground(state)
        >>> force[:2].round(3)
        array([-10.359,  12.359])
        """
        asked = "find_mobilizer_reaction_on_body_at_m_in_ground"
        return self.matter.find_reaction(state, asked, self.index, "on body at M")

    def find_mobilizer_reaction_on_body_at_origin_in_ground(self, state: State) -> Array:
        """The mobilizer's wrench on this body ``(2, 3)``, taken at the body's origin, in Ground. Needs ACCELERATION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> torque, force = system.matter.bodies["lower"].find_mobilizer_reaction_on_body_at_origin_in_ground(state)
        >>> force[:2].round(3)
        array([-10.359,  12.359])
        """
        asked = "find_mobilizer_reaction_on_body_at_origin_in_ground"
        return self.matter.find_reaction(state, asked, self.index, "on body at its origin")

    def find_mobilizer_reaction_on_parent_at_f_in_ground(self, state: State) -> Array:
        """The mobilizer's wrench on the parent ``(2, 3)``: torque and force at F, in Ground. Needs ACCELERATION.

        Equal and opposite to what it does to the body, taken at F. `TopologyError` for Ground, which has no parent.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> torque, force = system.matter.bodies["lower"].find_mobilizer_reaction_on_parent_at_f_in_ground(state)
        >>> force[:2].round(3)
        array([ 10.359, -12.359])
        """
        return self._reaction_on_parent(state, "find_mobilizer_reaction_on_parent_at_f_in_ground", "on parent at F")

    def find_mobilizer_reaction_on_parent_at_origin_in_ground(self, state: State) -> Array:
        """The mobilizer's wrench on the parent ``(2, 3)``, taken at the parent's origin, in Ground. Needs ACCELERATION.

        `TopologyError` for Ground, which has no parent.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> torque, force = system.matter.bodies["lower"].find_mobilizer_reaction_on_parent_at_origin_in_ground(state)
        >>> force[:2].round(3)
        array([ 10.359, -12.359])
        """
        asked = "find_mobilizer_reaction_on_parent_at_origin_in_ground"
        return self._reaction_on_parent(state, asked, "on parent at its origin")

    def _reaction_on_parent(self, state: State, asked: str, place: str) -> Array:
        self.get_parent_mobilized_body()  # or say that Ground has none
        return self.matter.find_reaction(state, asked, self.index, place)

    # ------------------------------------------------------------------------------------------ applying forces

    def apply_one_mobility_force(self, state: State, which: int, f: float, mobility_forces: Array) -> Array:
        """Add *f* to one mobility's entry of *mobility_forces*, in place; returns the array.

        Parameters
        ----------
        state : State
            At MODEL or above.
        which : int
            Which of this mobilizer's speeds.
        f : float
            Generalized force: its power is f times that speed.
        mobility_forces : (nu,) float64 array

        Raises
        ------
        IndexError
            If there is no such speed.
        TypeError, ValueError
            If *f* is not a number, or *mobility_forces* is not such an array, or is read-only.

        Examples
        --------
        >>> import numpy as np
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.bodies["lower"].apply_one_mobility_force(state, 0, 2.0, np.zeros(2))
        array([0., 2.])
        """
        at = self.which_coordinate(self.u_slice(state, "apply_one_mobility_force"), which, "u")
        writable("mobility_forces", mobility_forces, (state.tree.nu,))
        mobility_forces[at] += number("f", f)
        return mobility_forces

    def apply_body_force(self, state: State, spatial_force_in_g: ArrayLike, body_forces_in_g: Array) -> Array:
        """Add a torque, and a force at the body's origin, to the body's row of *body_forces_in_g*; returns the array.

        Parameters
        ----------
        state : State
            At MODEL or above.
        spatial_force_in_g : (2, 3) array_like
            Torque, then force, in Ground.
        body_forces_in_g : (nb, 2, 3) float64 array
            Changed in place.

        Raises
        ------
        TypeError, ValueError
            If the shapes are not those, or *body_forces_in_g* is not a float64 array, or is read-only.

        Examples
        --------
        >>> import numpy as np
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.bodies["lower"].apply_body_force(state, [[0, 0, 1], [2, 0, 0]], np.zeros((3, 2, 3)))[2]
        array([[0., 0., 1.],
               [2., 0., 0.]])
        """
        row = self._row(state, "apply_body_force", body_forces_in_g)
        row += shaped("spatial_force_in_g", spatial_force_in_g, (2, 3))
        return body_forces_in_g

    def apply_body_torque(self, state: State, torque_in_g: ArrayLike, body_forces_in_g: Array) -> Array:
        """Add a torque ``(3,)``, in Ground, to the body's row of *body_forces_in_g*; returns the array.

        As `apply_body_force`, with the same errors. Needs MODEL.

        Examples
        --------
        >>> import numpy as np
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.bodies["lower"].apply_body_torque(state, (0, 0, 1), np.zeros((3, 2, 3)))[2]
        array([[0., 0., 1.],
               [0., 0., 0.]])
        """
        self._row(state, "apply_body_torque", body_forces_in_g)[0] += shaped("torque_in_g", torque_in_g, (3,))
        return body_forces_in_g

    def apply_force_to_body_point(
        self, state: State, point_in_b: ArrayLike, force_in_g: ArrayLike, body_forces_in_g: Array
    ) -> Array:
        """Add a force at a station of the body to its row of *body_forces_in_g*; returns the array. Needs POSITION.

        Parameters
        ----------
        state : State
            At POSITION or above.
        point_in_b : (3,) array_like
            Where the force acts, in the body's frame.
        force_in_g : (3,) array_like
            The force, in Ground.
        body_forces_in_g : (nb, 2, 3) float64 array
            Changed in place.

        Raises
        ------
        StageError
            If the state is below POSITION.
        TypeError, ValueError
            If the shapes are not those, or *body_forces_in_g* is not a float64 array, or is read-only.

        Examples
        --------
        >>> import numpy as np
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.bodies["lower"].apply_force_to_body_point(state, (0, 0, 0), (1, 0, 0), np.zeros((3, 2, 3)))[2]
        array([[0., 0., 0.],
               [1., 0., 0.]])
        """
        asked = "apply_force_to_body_point"
        row = self._row(state, asked, body_forces_in_g)
        p, f = shaped("point_in_b", point_in_b, (3,)), shaped("force_in_g", force_in_g, (3,))
        r = self.rotation_in_ground(state, asked) @ p
        row[0] += f @ cross_by(r)
        row[1] += f
        return body_forces_in_g

    def _row(self, state: State, asked: str, body_forces: Array) -> Array:
        nb = state.tree_of(self, asked).nb
        return writable("body_forces_in_g", body_forces, (nb, 2, 3))[self.index]

    def convert_q_force_to_u_force(self, state: State, fq: ArrayLike) -> Array:
        """Generalized forces on this mobilizer's coordinates ``(nq,)`` as forces on its speeds ``(nu,)``: N^T fq.

        Both have the same power: fq . qdot = fu . u. Needs POSITION. `ValueError` if there are not as many as coordinates.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.bodies["lower"].convert_q_force_to_u_force(state, [2.0])
        array([2.])
        """
        state.need_positions(self, "convert_q_force_to_u_force")
        part = state.tree.q_slices[self.index]
        whole = np.zeros(state.tree.nq)
        self._put(whole, part, fq, "q")
        return self.matter.multiply_by_n(state, True, whole)[state.tree.u_slices[self.index]]
