"""Prescribed q, u and udot into a state: by the compiled routines for what is built in, by Python for custom motions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..errors import ModelError
from ..motion.protocol import SET_Q, SET_U
from ..tree import prescribe, prescribed_mobilities, rates
from ..value.level import Level, Method

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..motion import Custom
    from ..state.state import State
    from .topology import HasTopology

#: How far from 1 the length of a quaternion that a user's motion prescribes may be; its rates belong to one of length 1.
_LENGTH = 1e-6


def set_q(system: HasTopology, state: State) -> None:
    """Set prescribed q, without invalidating what depends on them. The state is at TIME."""
    check(system, state)
    found = [(motion.mobod.q_slice(state), _q(motion, state)) for motion in _active(system, state)]
    prescribe.call(state.block, prescribe.prescribe.address(), SET_Q)
    _write(state.q_values, found)


def set_u(system: HasTopology, state: State) -> None:
    """Set prescribed u, likewise. Positions are valid."""
    found = [(motion.mobod.u_slice(state), _u(motion, state)) for motion in _active(system, state)]
    prescribe.call(state.block, prescribe.prescribe.address(), SET_U)
    _write(state.u_values, found)


def set_known_u_dot(system: HasTopology, state: State) -> None:
    """Write the udot of custom motions into the record; kernels write those of the others. Needs DYNAMICS."""
    for motion in _active(system, state):
        if state.field("prescribed")[motion.mobod.index] == prescribed_mobilities.FROM_MOTION:
            state.record.known_u_dot[motion.mobod.u_slice(state), 0] = _u_dot(motion, state)


def check(system: HasTopology, state: State) -> None:
    """Raise `ModelError` where a motion cannot be followed in this state."""
    for body in system.get_matter_subsystem().body_list:
        motion = body.driver
        if motion is not None and state.field("prescribed")[body.index] == prescribed_mobilities.FROM_MOTION:
            objection = None if body.is_locked(state) else motion.objection(state)
            if objection:
                raise ModelError(objection)


def _active(system: HasTopology, state: State) -> Iterator[Custom]:
    for motion in system.custom_motions:
        if not motion.is_disabled(state) and not motion.mobod.is_locked(state):
            yield motion


def _write(target: Array, found: Sequence[tuple[slice, Array | None]]) -> None:
    for part, value in found:
        if value is not None:
            target[part] = value


def _q(motion: Custom, state: State) -> Array | None:
    """The q that a custom motion prescribes; None where it leaves q alone."""
    level, method = motion.rule(state)
    nq = motion.mobod.get_num_q(state)
    if level is not Level.POSITION or method is Method.DISCRETE:
        return None
    has_quaternion = motion.mobod.index in state.tree.quaternions
    if method is Method.PRESCRIBED:
        q = motion.ask_implementation("position", state, nq)
        if has_quaternion:
            length = float(np.linalg.norm(q[:4]))
            if abs(length - 1.0) > _LENGTH:
                raise ModelError(
                    f"calc_prescribed_position of {type(motion.implementation).__name__} has to give {motion.mobod.name!r} "
                    f"a quaternion of length 1, got {q[:4]}, of length {length}; divide by that, and differentiate the quotient"
                )
            q = np.concatenate([q[:4] / length, q[4:]])
        return q
    q = np.zeros(nq)
    if has_quaternion:
        q[0] = 1.0
    return q


def _u(motion: Custom, state: State) -> Array | None:
    """The u that it prescribes; None where it leaves u alone. At level POSITION u = N^-1 q_dot."""
    level, method = motion.rule(state)
    body = motion.mobod
    nu = body.get_num_u(state)
    if level is Level.ACCELERATION or (level is Level.VELOCITY and method is Method.DISCRETE):
        return None
    if method is not Method.PRESCRIBED:
        return np.zeros(nu)
    if level is Level.VELOCITY:
        return motion.ask_implementation("velocity", state, nu)
    return _n_inv_times(motion, state, motion.ask_implementation("position_dot", state, body.get_num_q(state)))


def _u_dot(motion: Custom, state: State) -> Array:
    """The udot that it prescribes. At level POSITION udot = N^-1 (q_dot_dot - NDot u)."""
    level = motion.rule(state)[0]
    body = motion.mobod
    nu = body.get_num_u(state)
    if level is Level.ACCELERATION:
        return motion.ask_implementation("acceleration", state, nu)
    if level is Level.VELOCITY:
        return motion.ask_implementation("velocity_dot", state, nu)
    q_dot_dot = motion.ask_implementation("position_dot_dot", state, body.get_num_q(state))
    n_dot_u: Any = np.empty(state.tree.nq)
    rates.multiply_by_n_dot(state.block, False, state.u_values.copy(), n_dot_u)
    return _n_inv_times(motion, state, q_dot_dot - n_dot_u[body.q_slice(state)])


def _n_inv_times(motion: Custom, state: State, part: Array) -> Array:
    v, u = np.zeros(state.tree.nq), np.empty(state.tree.nu)
    v[motion.mobod.q_slice(state)] = part
    rates.multiply_by_n_inv(state.block, False, v, u)
    return u[motion.mobod.u_slice(state)]
