"""Prescribed q, u and udot into a state: by the compiled routines for what is built in, by Python for custom motions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .errors import ModelError
from .level import Level, Method
from .motion._what import SET_Q, SET_U
from .tree import known, prescribe, rates
from .tree import realize as _realize

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .motion import Custom
    from .state import State
    from .system import MultibodySystem

Array = npt.NDArray[np.float64]
#: How far from 1 the length of a quaternion that a user's motion prescribes may be; its rates belong to one of length 1.
_LENGTH = 1e-6


def set_q(system: MultibodySystem, state: State) -> None:
    """Give q the values that locks and motions prescribe; what depends on them is left as it is. The state is at TIME."""
    check(system, state)
    found = [(motion._mobod._q_slice(state), _q(motion, state)) for motion in _active(system, state)]
    prescribe.call(state._block, prescribe.prescribe.address(), SET_Q)
    _write(state._q, found)


def set_u(system: MultibodySystem, state: State) -> None:
    """The same of u. Positions are valid."""
    found = [(motion._mobod._u_slice(state), _u(motion, state)) for motion in _active(system, state)]
    prescribe.call(state._block, prescribe.prescribe.address(), SET_U)
    _write(state._u, found)


def set_known_u_dot(system: MultibodySystem, state: State) -> None:
    """Write the udot of custom motions where the sweeps look them up; the kernels do that for the others. Needs DYNAMICS."""
    for motion in _active(system, state):
        if state._field("together")[motion._mobod._index] == known.DRIVEN:
            state._record.known_u_dot[motion._mobod._u_slice(state), 0] = _u_dot(motion, state)


def check(system: MultibodySystem, state: State) -> None:
    """Raise `ModelError` where a motion cannot be followed in this state."""
    for body in system.get_matter_subsystem()._bodies:
        motion = body._driver
        if motion is not None and state._field("together")[body._index] == known.DRIVEN:
            objection = None if body.is_locked(state) else motion._objection(state)
            if objection:
                raise ModelError(objection)


def _active(system: MultibodySystem, state: State) -> Iterator[Custom]:
    for motion in system._custom_motions:
        if not motion.is_disabled(state) and not motion._mobod.is_locked(state):
            yield motion


def _write(target: Array, found: Sequence[tuple[slice, Array | None]]) -> None:
    for part, value in found:
        if value is not None:
            target[part] = value


def _q(motion: Custom, state: State) -> Array | None:
    """The q that a custom motion prescribes; None where it leaves q alone."""
    level, method = motion._rule(state)
    nq = motion._mobod.get_num_q(state)
    if level is not Level.POSITION or method is Method.DISCRETE:
        return None
    has_quaternion = motion._mobod._index in state._tree.quaternions
    if method is Method.PRESCRIBED:
        q = motion._ask("position", state, nq)
        if has_quaternion:
            length = float(np.linalg.norm(q[:4]))
            if abs(length - 1.0) > _LENGTH:
                raise ModelError(
                    f"calc_prescribed_position of {type(motion._implementation).__name__} has to give {motion._mobod._name!r} "
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
    level, method = motion._rule(state)
    body = motion._mobod
    nu = body.get_num_u(state)
    if level is Level.ACCELERATION or (level is Level.VELOCITY and method is Method.DISCRETE):
        return None
    if method is not Method.PRESCRIBED:
        return np.zeros(nu)
    if level is Level.VELOCITY:
        return motion._ask("velocity", state, nu)
    return _n_inv_times(motion, state, motion._ask("position_dot", state, body.get_num_q(state)))


def _u_dot(motion: Custom, state: State) -> Array:
    """The udot that it prescribes. At level POSITION udot = N^-1 (q_dot_dot - NDot u)."""
    level = motion._rule(state)[0]
    body = motion._mobod
    nu = body.get_num_u(state)
    if level is Level.ACCELERATION:
        return motion._ask("acceleration", state, nu)
    if level is Level.VELOCITY:
        return motion._ask("velocity_dot", state, nu)
    q_dot_dot = motion._ask("position_dot_dot", state, body.get_num_q(state))
    n_dot_u: Any = np.empty(state._tree.nq)
    rates.multiply_by_n_dot(state._block, False, state._u.copy(), n_dot_u)
    return _n_inv_times(motion, state, q_dot_dot - n_dot_u[body._q_slice(state)])


def _n_inv_times(motion: Custom, state: State, part: Array) -> Array:
    v, u = np.zeros(state._tree.nq), np.empty(state._tree.nu)
    v[motion._mobod._q_slice(state)] = part
    rates.multiply_by_n_inv(state._block, False, v, u)
    return u[motion._mobod._u_slice(state)]


def prescribe_state(system: MultibodySystem, state: State) -> None:
    """q, then u, of a state at TIME of which q, u or time have changed; nothing is valid afterwards but positions."""
    set_q(system, state)
    state._invalidate_q()
    system._compute(state, _realize.POSITIONS)
    set_u(system, state)
    state._invalidate_u()
