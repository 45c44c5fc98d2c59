"""q and u of all bodies: quaternions or angles, N and its like, rates of q."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..state.state import State
from ..tree import rates
from ..tree.tree import Tree
from ..value import Rotation
from ..value.checks import behaved, flag, instance
from .matter_realized import Realized
from .particles import shaped


class Coordinates(Realized):
    """The part of `SimbodyMatterSubsystem` that deals with coordinates and their rates."""

    def set_use_euler_angles(self, state: State, use_euler_angles: bool) -> None:
        """Choose body-fixed x-y-z angles or quaternions; call `MultibodySystem.realize_model` afterwards.

        The state falls to TOPOLOGY where the choice changes. q is then at its defaults; `convert_to_euler_angles` keeps
        the configuration.
        """
        state.check_owner(self.system, "set_use_euler_angles")
        wanted = flag("use_euler_angles", use_euler_angles)
        if wanted != state.pending_euler_angles:
            state.pending_euler_angles = wanted
            state.invalidate_model()

    def get_use_euler_angles(self, state: State) -> bool:
        """True if orientations are angles in this state."""
        state.check_owner(self.system, "get_use_euler_angles")
        return state.pending_euler_angles

    def get_num_quaternions_in_use(self, state: State) -> int:
        """The number of quaternions that are part of q. Needs MODEL."""
        return len(state.tree_of(self._ground, "get_num_quaternions_in_use").quaternions)

    def is_using_quaternion(self, state: State, mobod: Any) -> bool:
        """True if the body's mobilizer has a quaternion among its q. Needs MODEL."""
        return self.find_body(mobod).index in state.tree_of(self._ground, "is_using_quaternion").quaternions

    def get_quaternion_pool_index(self, state: State, mobod: Any) -> int:
        """The index of the body's quaternion among those in use; `ValueError` where it has none. Needs MODEL."""
        body = self.find_body(mobod)
        pool = state.tree_of(self._ground, "get_quaternion_pool_index").quaternions
        if body.index not in pool:
            raise ValueError(f"{body!r} uses no quaternion in this state; ask is_using_quaternion first")
        return pool.index(body.index)

    def convert_to_euler_angles(self, input_state: State) -> State:
        """A new state in the same configuration with angles in place of quaternions; a plain copy where there are none.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.convert_to_euler_angles(state).q
        array([0.3, 0.4])
        """
        return self._convert(input_state, True)

    def convert_to_quaternions(self, input_state: State) -> State:
        """A new state in the same configuration with quaternions in place of angles; a plain copy where there are none.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.convert_to_quaternions(state).q
        array([0.3, 0.4])
        """
        return self._convert(input_state, False)

    def _convert(self, state: State, euler: bool) -> State:
        asked = "convert_to_euler_angles" if euler else "convert_to_quaternions"
        instance(f"input_state of {asked}", state, State, "system.realize_topology() gives")
        old = state.tree_of(self._ground, asked)
        other = state.copy()
        if state.use_euler_angles == euler:
            return other
        self.set_use_euler_angles(other, euler)
        self.get_system().realize_model(other)
        other.upd_q()[: other.tree.nq] = self.converted(state.q_values, old, other.tree)
        other.upd_u()[: other.tree.nu] = state.u_values[: old.nu]
        other.time = state.time
        return other

    def converted(self, q: Array, old: Tree, new: Tree) -> Array:
        """q of one tree in the representation of the other; a body whose quaternion is zero has no q to convert."""
        converted = np.zeros(new.nq)
        for b, body in enumerate(self.body_list):
            part = q[old.first_q[b] : old.first_q[b] + old.num_q[b]]
            if body.facts.has_quaternion and old.use_euler_angles != new.use_euler_angles:
                if old.use_euler_angles:
                    part = np.concatenate([Rotation.from_body_fixed_xyz(part[:3]).to_quaternion(), part[3:]])
                elif np.any(part[:4]):
                    part = np.concatenate([Rotation.from_quaternion(part[:4]).to_body_fixed_xyz(), part[4:]])
                else:
                    part = part[1:]
            converted[new.first_q[b] : new.first_q[b] + new.num_q[b]] = part
        return converted

    def normalize_quaternions(self, state: State) -> None:
        """Scale every quaternion of q to length 1; integrators do this by themselves. Needs MODEL."""
        state.tree_of(self._ground, "normalize_quaternions")
        self.get_system().normalize_quaternions(state)

    def multiply_by_n(self, state: State, transpose: bool, v: ArrayLike) -> Array:
        """N v ``(nq,)`` of v ``(nu,)``, or N^T v ``(nu,)`` of v ``(nq,)``: q_dot = N u. Needs POSITION.

        N is a block a body: one, but for quaternions and for angles whose rates are not the speeds. The q and u of other
        subsystems are not among these.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.multiply_by_n(state, False, [1.0, 2.0])
        array([1., 2.])
        """
        return self._rate_product(state, "multiply_by_n", rates.multiply_by_n, transpose, True, v)

    def multiply_by_n_inv(self, state: State, transpose: bool, v: ArrayLike) -> Array:
        """N^-1 v ``(nu,)`` of v ``(nq,)``, or its transpose times v ``(nu,)``: u = N^-1 q_dot. Needs POSITION.

        Of a quaternion it is a left inverse, N^-1 N = 1; what changes its norm gives no speed.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.multiply_by_n_inv(state, False, [1.0, 2.0])
        array([1., 2.])
        """
        return self._rate_product(state, "multiply_by_n_inv", rates.multiply_by_n_inv, transpose, False, v)

    def multiply_by_n_dot(self, state: State, transpose: bool, v: ArrayLike) -> Array:
        """NDot v ``(nq,)`` of v ``(nu,)``, or NDot^T v ``(nu,)`` of v ``(nq,)``. Needs VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.multiply_by_n_dot(state, False, [1.0, 2.0])
        array([0., 0.])
        """
        self.velocities(state, "multiply_by_n_dot")
        return self._rate_product(state, "multiply_by_n_dot", rates.multiply_by_n_dot, transpose, True, v)

    def _rate_product(
        self, state: State, asked: str, kernel: Any, transpose: bool, transposed_of_q: bool, v: ArrayLike, what: str = "v"
    ) -> Array:
        block = self.positions(state, asked)
        takes_q = flag("transpose", transpose) == transposed_of_q
        nq, nu = state.tree.nq, state.tree.nu
        vector = behaved(shaped(what, v, (nq if takes_q else nu,)))
        out = np.zeros(nu if takes_q else nq)
        kernel(block, bool(transpose), vector, out)
        return out

    def calc_q_dot(self, state: State, u: ArrayLike) -> Array:
        """Rates of q ``(nq,)`` that speeds *u* ``(nu,)`` would give: N u. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.calc_q_dot(state, [1.0, 2.0])
        array([1., 2.])
        """
        return self._rate_product(state, "calc_q_dot", rates.multiply_by_n, False, True, u, "u")

    def calc_q_dot_dot(self, state: State, udot: ArrayLike) -> Array:
        """Second rates of q ``(nq,)`` that accelerations *udot* ``(nu,)`` would give: N udot + NDot u. Needs VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.calc_q_dot_dot(state, [1.0, 2.0])
        array([1., 2.])
        """
        self.velocities(state, "calc_q_dot_dot")
        first = self._rate_product(state, "calc_q_dot_dot", rates.multiply_by_n, False, True, udot, "udot")
        return first + self.multiply_by_n_dot(state, False, state.u_values[: state.tree.nu])
