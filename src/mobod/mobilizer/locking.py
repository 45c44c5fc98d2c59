"""Locks: what holds a mobilizer's q, u or udot at a value. Every `MobilizedBody` has these methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import ModelError
from ..level import Level, Method
from ..stage import Stage

if TYPE_CHECKING:
    from ..matter import SimbodyMatterSubsystem
    from ..motion.base import Motion
    from ..state import State
    from .facts import Facts

Array = npt.NDArray[np.float64]
#: How far from 1 the length of a quaternion that was normalized may be; such a one is kept to the bit.
_ROUNDING = 8e-16

_INSTANCE, _ACCELERATION = int(Stage.INSTANCE), int(Stage.ACCELERATION)


class Locking:
    """The part of `MobilizedBody` that locks it, and tells how its motion comes about."""

    facts: Facts
    _matter: SimbodyMatterSubsystem
    _name: str
    _index: int
    _default_lock_level: Level = Level.NO_LEVEL
    _driver: Motion | None = None

    if TYPE_CHECKING:

        def _changed(self) -> None: ...
        def _vector(self, what: str, value: npt.ArrayLike, n: int) -> Array: ...
        def _q_slice(self, state: State, asked: str = "q") -> slice: ...
        def _u_slice(self, state: State, asked: str = "u") -> slice: ...
        def _which(self, part: slice, which: int, what: str) -> int: ...

    # ------------------------------------------------------------------------------------------ locks

    def lock(self, state: State, level: Level = Level.POSITION) -> None:
        """Hold q, or u, at its present value, or udot at zero; the state falls to MODEL at most.

        It acts at once: at ``Level.POSITION`` u becomes zero, and a quaternion is scaled to length 1. While the mobilizer is
        locked, setting through it what the lock holds raises; values assigned to ``state.q`` or ``state.u`` stay until
        `MultibodySystem.prescribe` brings those of the lock back, as integrators do at every step. A lock overrides the
        mobilizer's motion, and a lock before it.

        Parameters
        ----------
        state : State
            At MODEL or above.
        level : Motion.Level
            ``POSITION`` (q is held, u and udot are zero), ``VELOCITY`` (u is held, udot is zero, q is integrated) or
            ``ACCELERATION`` (udot is zero, u and q are integrated).

        Raises
        ------
        TypeError, ValueError
            If *level* is none of the three.
        ValueError
            If the value to be held is not finite, or has a quaternion of zeros.
        """
        level = _checked_level(level, f"lock of {self._name!r}")
        q, u = state._q[self._q_slice(state, "lock")], state._u[self._u_slice(state, "lock")]
        value = {Level.POSITION: q, Level.VELOCITY: u}.get(level, np.zeros(len(u)))
        self._lock(state, self._value_to_lock(state, value, len(value), level), level)

    def lock_at(self, state: State, value: npt.ArrayLike, level: Level = Level.POSITION) -> None:
        """Hold q, u or udot at *value*; the state falls to MODEL at most.

        It acts at once: at ``Level.POSITION`` q becomes *value* and u zero, at ``VELOCITY`` u becomes *value*. See `lock`.

        Parameters
        ----------
        state : State
            At MODEL or above.
        value : float or array
            As many numbers as there are q at ``POSITION``, or u at the other levels; a quaternion is scaled to length 1.
        level : Motion.Level

        Raises
        ------
        TypeError, ValueError
            If *level* is none of the three.
        ValueError
            If *value* has another length, is not finite, or has a quaternion of zeros.
        """
        level = _checked_level(level, f"lock_at of {self._name!r}")
        part = self._q_slice(state, "lock_at") if level is Level.POSITION else self._u_slice(state, "lock_at")
        self._lock(state, self._value_to_lock(state, value, part.stop - part.start, level), level)

    def _value_to_lock(self, state: State, value: npt.ArrayLike, n: int, level: Level) -> Array:
        """*n* finite numbers, with a quaternion of length 1: projection would change any other, and so fight the lock."""
        vector = self._vector("the value to lock", value, n)
        if level is Level.POSITION and self._index in state._tree.quaternions:
            norm = np.linalg.norm(vector[:4])
            if norm == 0.0:
                raise ValueError(f"the quaternion to lock {self._name!r} at is zero; the identity is (1, 0, 0, 0)")
            if abs(norm - 1.0) > _ROUNDING:
                vector[:4] /= norm
        return vector

    def _lock(self, state: State, value: Array, level: Level) -> None:
        q, u, b = self._q_slice(state), self._u_slice(state), self._index
        if level is Level.POSITION:
            state._own_field("lock_q")[q, 0] = value
            state._q[q] = value
            state._u[u] = 0.0
        else:
            state._own_field("lock_u")[u, 0] = value
            if level is Level.VELOCITY:
                state._u[u] = value
        state._own_field("lock_level")[b] = level + 1
        state._settle_motion(self)  # type: ignore[arg-type]

    def unlock(self, state: State) -> None:
        """Take the lock off: the mobilizer is free again, or follows its motion. The state falls to MODEL at most.

        Nothing happens where it is not locked. q and u stay as they are.
        """
        if self._lock_level(state, "unlock") is not Level.NO_LEVEL:
            state._own_field("lock_level")[self._index] = 0
            state._settle_motion(self)  # type: ignore[arg-type]

    def is_locked(self, state: State) -> bool:
        """Whether it is locked in this state. Needs MODEL."""
        return self._lock_level(state, "is_locked") is not Level.NO_LEVEL

    def get_lock_level(self, state: State) -> Level:
        """The level at which it is locked in this state, ``NO_LEVEL`` where it is not. Needs MODEL."""
        return self._lock_level(state, "get_lock_level")

    def _lock_level(self, state: State, asked: str) -> Level:
        state._tree_of(self, asked)  # type: ignore[arg-type]
        return Level(int(state._field("lock_level")[self._index]) - 1) if state._has_locks else Level.NO_LEVEL

    def get_lock_value_as_vector(self, state: State) -> Array:
        """The q, u or udot that the lock holds, ``(nq,)`` or ``(nu,)`` by its level; empty where there is none. Needs MODEL."""
        level = self._lock_level(state, "get_lock_value_as_vector")
        if level is Level.NO_LEVEL:
            return np.zeros(0)
        if level is Level.POSITION:
            return state._field("lock_q")[self._q_slice(state), 0].copy()
        return state._field("lock_u")[self._u_slice(state), 0].copy()

    def lock_by_default(self, level: Level = Level.POSITION) -> Any:
        """Lock it in every new state, at the default q, or at u or udot zero; a topological change. Returns the body.

        Parameters
        ----------
        level : Motion.Level
            As `lock` takes it; ``NO_LEVEL`` takes the default lock off.

        Raises
        ------
        TypeError
            If *level* is no level.
        """
        if not isinstance(level, Level):
            raise TypeError(f"lock_by_default takes a level such as mobod.Motion.Level.POSITION, not {level!r}")
        self._default_lock_level = level
        self._changed()
        return self

    def is_locked_by_default(self) -> bool:
        """Whether new states start with it locked."""
        return self._default_lock_level is not Level.NO_LEVEL

    def get_lock_by_default_level(self) -> Level:
        """The level at which new states have it locked; ``NO_LEVEL`` where they do not."""
        return self._default_lock_level

    def _refuse_locked(self, state: State, what: str) -> None:
        """Raise where a lock holds its q, or its u."""
        level = self.get_lock_level(state)
        if level is Level.POSITION or (level is Level.VELOCITY and what == "u"):
            raise ModelError(
                f"{what} of {self._name!r} is locked at level {level.name}; call unlock(state) first, or lock_at(state, value, "
                "level) to lock it at another value"
            )

    # ------------------------------------------------------------------------------------------ motions

    def has_motion(self) -> bool:
        """Whether a `Motion` was made for it, enabled or not."""
        return self._driver is not None

    def get_motion(self) -> Motion:
        """Its motion.

        Raises
        ------
        ModelError
            If it has none.
        """
        if self._driver is None:
            raise ModelError(f"{self._name!r} has no motion; ask has_motion() first, or make one: mobod.motion")
        return self._driver

    def clear_motion(self) -> None:
        """Take its motion off, for good; a topological change where there is one."""
        if self._driver is not None:
            self._driver._in_use = False
            self._driver = None
            self._changed()

    def _methods(self, state: State, asked: str) -> tuple[Method, Method, Method]:
        """The methods of q, u and udot."""
        if state._stage < _INSTANCE or state._token is not self._matter._token:
            state._need_instance(self, asked)  # type: ignore[arg-type]
        if self.facts.num_u == 0:
            return Method.ZERO, Method.ZERO, Method.ZERO
        locks = "lock_level" in state._own or state._tree.has_default_locks
        level = self._lock_level(state, asked) if locks else Level.NO_LEVEL
        if level is not Level.NO_LEVEL:
            free, zero = Method.FREE, Method.ZERO  # above the level that is held nothing moves
            if level is Level.POSITION:
                return Method.PRESCRIBED, zero, zero
            held = Method.PRESCRIBED if np.any(self.get_lock_value_as_vector(state)) else zero
            return (free, held, zero) if level is Level.VELOCITY else (free, free, held)
        if self._driver is None:
            return Method.FREE, Method.FREE, Method.FREE
        return self._driver.calc_all_methods(state)

    def get_q_motion_method(self, state: State) -> Method:
        """How its q come about: FREE where they are integrated, ZERO of a weld. Needs INSTANCE."""
        return self._methods(state, "get_q_motion_method")[0]

    def get_u_motion_method(self, state: State) -> Method:
        """How its u come about: FREE where they are integrated, ZERO of a position lock, or one at speed 0. Needs INSTANCE."""
        return self._methods(state, "get_u_motion_method")[1]

    def get_u_dot_motion_method(self, state: State) -> Method:
        """How its udot come about: FREE where they come from forces, ZERO of a lock that holds no other. Needs INSTANCE."""
        return self._methods(state, "get_u_dot_motion_method")[2]

    def get_tau_as_vector(self, state: State) -> Array:
        """The multipliers ``(nu,)`` of its lock or motion: the forces these exert, with the sign turned. Needs ACCELERATION.

        All zero where its motion is free. See `SimbodyMatterSubsystem.find_motion_forces`, which this takes its part of.
        """
        part = self._u_slice(state, "get_tau_as_vector")
        if self._is_free(state, "get_tau_as_vector"):
            return np.zeros(part.stop - part.start)
        return self._matter.find_motion_forces(state)[part].copy()

    def _is_free(self, state: State, asked: str) -> bool:
        """Whether its motion is free: its multipliers are zero then, and the sweep that finds all is left out."""
        if state._stage < _ACCELERATION:
            state._refuse(asked, Stage.ACCELERATION)
        return bool(state._record.together[self._index] >= 0)

    def get_one_tau(self, state: State, which: int) -> float:
        """One of the numbers of `get_tau_as_vector`, by its place. Needs ACCELERATION."""
        at = self._which(self._u_slice(state, "get_one_tau"), which, "u")
        return 0.0 if self._is_free(state, "get_one_tau") else float(self._matter.find_motion_forces(state)[at])


def _checked_level(level: Any, what: str) -> Level:
    if not isinstance(level, Level):
        raise TypeError(f"{what} takes a level such as mobod.Motion.Level.POSITION, not {level!r}")
    if level is Level.NO_LEVEL:
        raise ValueError(f"{what} takes Level.POSITION, VELOCITY or ACCELERATION, not NO_LEVEL; unlock(state) takes a lock off")
    return level
