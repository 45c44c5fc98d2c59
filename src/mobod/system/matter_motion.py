"""Locks and prescribed motions of the matter subsystem: free and known variables, errors, and the forces required."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array, Indices
from ..state.state import State
from ..tree import inverse_dynamics
from ..tree.prescribed_mobilities import FROM_LOCK, FROM_MOTION, SOLVED
from ..value.checks import numbers
from ..value.level import Method
from ..value.stage import Stage
from . import latching, prescription
from .matter_constraints import Constrained


class Prescribed(Constrained):
    """The part of `SimbodyMatterSubsystem` that deals with known motion."""

    latch, fulfil_by_impulses = staticmethod(latching.latch), staticmethod(latching.fulfil_by_impulses)
    note, take_up = staticmethod(latching.note), staticmethod(latching.take_up)

    def _selected(self, state: State, asked: str, which: int, methods: tuple[Method, ...]) -> npt.NDArray[np.bool_]:
        """A mask of the q (*which* 0), u (1) or udot (2) that have one of *methods*."""
        state.need_instance(self._ground, asked)
        tree = state.tree
        by_body = np.full(tree.nb, Method.FREE in methods)
        for b in np.flatnonzero(state.field("prescribed") != SOLVED):
            by_body[b] = self.body_list[b].motion_methods(state, asked)[which] in methods
        return np.repeat(by_body, tree.num_u if which else tree.num_q)

    def _free(self, state: State, asked: str, which: int) -> Indices:
        return np.flatnonzero(self._selected(state, asked, which, (Method.FREE,)))

    def get_free_q_index(self, state: State) -> Indices:
        """Indices of the free q: integrated, rather than locked or prescribed, in ascending order. Needs INSTANCE."""
        return self._free(state, "get_free_q_index", 0)

    def get_free_u_index(self, state: State) -> Indices:
        """Indices of the free u: integrated, rather than locked or prescribed, in ascending order. Needs INSTANCE."""
        return self._free(state, "get_free_u_index", 1)

    def get_free_u_dot_index(self, state: State) -> Indices:
        """Indices of the free udot: found from forces, in ascending order. Needs INSTANCE."""
        return np.flatnonzero(~self._known(state, "get_free_u_dot_index"))

    def get_known_u_dot_index(self, state: State) -> Indices:
        """Indices of the known udot, by a lock or a motion: those that are not in `get_free_u_dot_index`. Needs INSTANCE."""
        return np.flatnonzero(self._known(state, "get_known_u_dot_index"))

    def _known(self, state: State, asked: str) -> npt.NDArray[np.bool_]:
        state.need_instance(self._ground, asked)
        return np.repeat(state.field("prescribed") != SOLVED, state.tree.num_u)

    def pack_free_q(self, state: State, all_q: npt.ArrayLike) -> Array:
        """The free ones of ``(nq,)`` numbers, in order, ``(nfq,)``. Needs INSTANCE.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.pack_free_q(state, [1.0, 2.0])
        array([1., 2.])
        """
        free = self._free(state, "pack_free_q", 0)
        return _vector("all_q", all_q, state.tree.nq)[free]

    def unpack_free_q(self, state: State, packed_free_q: npt.ArrayLike, unpacked_free_q: npt.ArrayLike | None = None) -> Array:
        """A new array ``(nq,)``: free ones of *packed_free_q*, others of *unpacked_free_q*, or zero. Needs INSTANCE.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.unpack_free_q(state, [1.0, 2.0])
        array([1., 2.])
        """
        return _unpacked("free_q", self._free(state, "unpack_free_q", 0), packed_free_q, unpacked_free_q, state.tree.nq)

    def pack_free_u(self, state: State, all_u: npt.ArrayLike) -> Array:
        """The free ones of ``(nu,)`` numbers, in order, ``(nfu,)``. Needs INSTANCE.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.pack_free_u(state, [1.0, 2.0])
        array([1., 2.])
        """
        free = self._free(state, "pack_free_u", 1)
        return _vector("all_u", all_u, state.tree.nu)[free]

    def unpack_free_u(self, state: State, packed_free_u: npt.ArrayLike, unpacked_free_u: npt.ArrayLike | None = None) -> Array:
        """A new array ``(nu,)``: free ones of *packed_free_u*, others of *unpacked_free_u*, or zero. Needs INSTANCE.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.unpack_free_u(state, [1.0, 2.0])
        array([1., 2.])
        """
        return _unpacked("free_u", self._free(state, "unpack_free_u", 1), packed_free_u, unpacked_free_u, state.tree.nu)

    # ------------------------------------------------------------------------------------------ errors

    def calc_motion_errors(self, state: State, stage: Stage) -> Array:
        """Errors of the state in prescribed variables: present value less prescribed value.

        Parameters
        ----------
        state : State
        stage : Stage
            ``POSITION`` for q, which needs TIME; ``VELOCITY`` for u, which needs POSITION; ``ACCELERATION`` for udot, which
            needs ACCELERATION: these errors are always zero.

        Returns
        -------
        array
            One number a prescribed q, u or udot, in ascending order; `MultibodySystem.prescribe` makes those of q and u zero.

        Raises
        ------
        ValueError
            If *stage* is another.
        StageError
            If the state is not realized so far.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.calc_motion_errors(state, mb.Stage.POSITION)  # nothing is prescribed
        array([], dtype=float64)
        """
        asked, system = "calc_motion_errors", self.get_system()
        held = Method.PRESCRIBED, Method.ZERO
        stage = stage if np.ndim(stage) == 0 else Stage.EMPTY  # which is none of these
        if stage == Stage.POSITION:
            state.tree_of(self._ground, asked)
            if state.stage_number < Stage.TIME:
                state.refuse(asked, Stage.TIME)
            other = state.copy()
            prescription.set_q(system, other)
            errors: Array = (state.q_values - other.q_values)[: state.tree.nq][self._selected(state, asked, 0, held)]
        elif stage == Stage.VELOCITY:
            state.need_positions(self._ground, asked)
            other = state.copy()
            prescription.set_u(system, other)
            errors = (state.u_values - other.u_values)[: state.tree.nu][self._selected(state, asked, 1, held)]
        elif stage == Stage.ACCELERATION:
            state.tree_of(self._ground, asked)
            if state.stage_number < Stage.ACCELERATION:
                state.refuse(asked, Stage.ACCELERATION)
            record = state.record
            source = np.repeat(state.field("prescribed"), state.tree.num_u)
            should = np.select([source == FROM_LOCK, source == FROM_MOTION], [record.lock_u[:, 0], record.known_u_dot[:, 0]])
            errors = (record.u_dot[: len(should), 0] - should)[source != SOLVED]
        else:
            raise ValueError(f"calc_motion_errors takes Stage.POSITION, VELOCITY or ACCELERATION, not {stage!r}")
        return errors

    # ------------------------------------------------------------------------------------------ forces

    def find_motion_forces(self, state: State) -> Array:
        """The multipliers tau of locks and motions ``(nu,)``, zero at free mobilities. Needs ACCELERATION.

        They have the sign of Simbody's multipliers, M udot + tau = f - (forces of the velocities): the generalized forces that
        locks and motions exert are -tau. Found by inverse dynamics with the accelerations that there are, in O(n).

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> matter, arm = system.matter, system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> arm.lock(state)
        >>> system.realize(state)
        >>> matter.find_motion_forces(state).shape
        (2,)
        """
        return self._motion_forces(state, "find_motion_forces")

    def _motion_forces(self, state: State, asked: str) -> Array:
        state.tree_of(self._ground, asked)
        if state.stage_number < Stage.ACCELERATION:
            state.refuse(asked, Stage.ACCELERATION)
        mask, record = self._known(state, asked), state.record
        residual = np.zeros(state.tree.nu)
        if mask.any():
            f, F, udot = record.mobility_forces[:, 0].copy(), record.body_forces, record.u_dot[:, 0].copy()
            if state.tree.counts["nc"]:
                of_bodies, of_mobilities = self.find_constraint_forces(state)
                f, F = f - of_mobilities, F - of_bodies.reshape(-1, 6)
            inverse_dynamics.calc_residual_force(state.block, f, F, udot, residual)
        return np.where(mask, -residual, 0.0)

    def get_motion_multipliers(self, state: State) -> Array:
        """The multipliers of the known mobilities alone, one a `get_known_u_dot_index`. Needs ACCELERATION.

        `find_motion_forces` has them at their places.
        """
        tau = self._motion_forces(state, "get_motion_multipliers")
        return tau[self._known(state, "get_motion_multipliers")]

    def calc_motion_power(self, state: State) -> float:
        """The power of all locks and motions, positive where they add energy: -tau . u. Needs ACCELERATION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> abs(system.matter.calc_motion_power(state))  # nothing is prescribed
        0.0
        """
        return float(-(self._motion_forces(state, "calc_motion_power") @ state.u_values[: state.tree.nu]))


def _vector(what: str, value: npt.ArrayLike, n: int) -> Array:
    array = numbers(what, value)
    if array.shape != (n,):
        raise ValueError(f"{what} has shape ({n},), got {array.shape}")
    return array


def _unpacked(what: str, places: Indices, packed: npt.ArrayLike, rest: Any, n: int) -> Array:
    values = _vector(f"packed_{what}", packed, len(places))
    out = np.zeros(n) if rest is None else _vector(f"unpacked_{what}", rest, n).copy()
    out[places] = values
    return out
