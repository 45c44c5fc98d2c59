"""Locks: what holds a mobilizer's q, u or udot at a value. Every `MobilizedBody` has these methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..errors import ModelError
from ..state.parameters import Parametrized
from ..value.checks import flag
from ..value.level import Level, Method, level_of
from ..value.stage import ACCELERATION, INSTANCE, Stage

if TYPE_CHECKING:
    from ..state.state import State
    from ..value.annotations import Motion, SimbodyMatterSubsystem
    from .facts import Facts

#: How far from 1 the length of a quaternion that was normalized may be; such a quaternion keeps its bits.
_ROUNDING = 8e-16
#: How a message goes on where a lock is asked to lock nothing.
_UNLOCK = "; unlock(state) takes a lock off"


class Locking(Parametrized):
    """The part of `MobilizedBody` that locks it, and gives its motion and methods."""

    facts: Facts
    matter: SimbodyMatterSubsystem
    _name: str
    index: int
    default_lock_level: Level = Level.NO_LEVEL
    driver: Motion | None = None

    if TYPE_CHECKING:

        def instance_changed(self) -> None: ...
        def _vector(self, what: str, value: npt.ArrayLike, n: int) -> Array: ...
        def q_slice(self, state: State, asked: str = "q") -> slice: ...
        def u_slice(self, state: State, asked: str = "u") -> slice: ...
        def which_coordinate(self, part: slice, which: int, what: str) -> int: ...

    @property
    def name(self) -> str:
        """Its name, unique in the matter subsystem."""
        return self._name

    # ------------------------------------------------------------------------------------------ locks

    def lock(self, state: State, level: Level | str = Level.POSITION, *, impulse: bool = True) -> None:
        """Hold q, or u, at its present value, or udot at zero; the state falls to MODEL at most.

        It acts at once: at ``Level.POSITION`` u becomes zero, and a quaternion is scaled to length 1. In a run, which means by
        an event handler or on `TimeStepper.state` between two steps, that is an impulse on the whole mechanism, which changes
        the speeds of others, too: momentum is conserved in what is free, and what kinetic energy is lost is told in the run's
        events. In any other state the other speeds stay. While the mobilizer is
        locked, setting through it what the lock holds raises; values assigned to ``state.q`` or ``state.u`` stay until
        `MultibodySystem.prescribe` brings those of the lock back, as integrators do at every step. A lock overrides the
        mobilizer's motion, and a lock before it.

        Parameters
        ----------
        state : State
            At MODEL or above.
        level : Motion.Level or str
            ``POSITION`` (q is held, u and udot are zero), ``VELOCITY`` (u is held, udot is zero, q is integrated) or
            ``ACCELERATION`` (udot is zero, u and q are integrated).
        impulse : bool
            False leaves the other speeds alone in a run, too: momentum then comes from nowhere.

        Raises
        ------
        TypeError, ValueError
            If *level* is none of the three.
        ValueError
            If the value to be held is not finite, or has a quaternion of zeros.
        """
        level = level_of(f"lock of {self._name!r}", level, hint=_UNLOCK)
        q, u = state.q_values[self.q_slice(state, "lock")], state.u_values[self.u_slice(state, "lock")]
        value = {Level.POSITION: q, Level.VELOCITY: u}.get(level, np.zeros(len(u)))
        self._latch(state, self._value_to_lock(state, value, len(value), level), level, impulse)

    def lock_at(self, state: State, value: npt.ArrayLike, level: Level | str = Level.POSITION, *, impulse: bool = True) -> None:
        """Hold q, u or udot at *value*; the state falls to MODEL at most.

        It acts at once: at ``Level.POSITION`` q becomes *value* and u zero, at ``VELOCITY`` u becomes *value*; in a run by an
        impulse, at the q that is held. See `lock`.

        Parameters
        ----------
        state : State
            At MODEL or above.
        value : float or array
            As many numbers as there are q at ``POSITION``, or u at the other levels; a quaternion is scaled to length 1.
        level : Motion.Level or str
        impulse : bool
            False leaves the other speeds alone in a run, too.

        Raises
        ------
        TypeError, ValueError
            If *level* is none of the three.
        ValueError
            If *value* has another length, is not finite, or has a quaternion of zeros.
        """
        level = level_of(f"lock_at of {self._name!r}", level, hint=_UNLOCK)
        part = self.q_slice(state, "lock_at") if level is Level.POSITION else self.u_slice(state, "lock_at")
        self._latch(state, self._value_to_lock(state, value, part.stop - part.start, level), level, impulse)

    def _value_to_lock(self, state: State, value: npt.ArrayLike, n: int, level: Level) -> Array:
        """*n* finite numbers, with a quaternion of length 1: projection would change any other, and so fight the lock."""
        vector = self._vector("the value to lock", value, n)
        if level is Level.POSITION and self.index in state.tree.quaternions:
            norm = np.linalg.norm(vector[:4])
            if norm == 0.0:
                raise ValueError(f"the quaternion to lock {self._name!r} at is zero; the identity is (1, 0, 0, 0)")
            if abs(norm - 1.0) > _ROUNDING:
                vector[:4] /= norm
        return vector

    def _latch(self, state: State, value: Array, level: Level, impulse: bool) -> None:
        if flag("impulse", impulse):
            self.matter.latch(state, self, lambda to: self._lock(to, value, level), "locked")
        else:
            self._lock(state, value, level)
            self.matter.note(state, self, "locked")

    def _lock(self, state: State, value: Array, level: Level) -> None:
        q, u, b = self.q_slice(state), self.u_slice(state), self.index
        if level is Level.POSITION:
            state.own_field("lock_q")[q, 0] = value
            state.q_values[q] = value
            state.u_values[u] = 0.0
        else:
            state.own_field("lock_u")[u, 0] = value
            if level is Level.VELOCITY:
                state.u_values[u] = value
        state.own_field("lock_level")[b] = level + 1
        state.settle_motion(self)

    def unlock(self, state: State, *, impulse: bool = True) -> None:
        """Take the lock off: the mobilizer is free again, or follows its motion. The state falls to MODEL at most.

        Nothing happens where it is not locked. q and u stay as they are, unless it follows its motion again in a run: then
        its speeds become those of the motion by an impulse, see `lock`, if *impulse* is not False.
        """
        if self._lock_level(state, "unlock") is Level.NO_LEVEL:
            return
        if flag("impulse", impulse) and self.driver is not None and not self.driver.is_disabled(state):
            self.matter.latch(state, self, self._unlock, "unlocked")
        else:
            self._unlock(state)
            self.matter.note(state, self, "unlocked")

    def _unlock(self, state: State) -> None:
        state.own_field("lock_level")[self.index] = 0
        state.settle_motion(self)

    def is_locked(self, state: State) -> bool:
        """True if it is locked in this state. Needs MODEL."""
        return self._lock_level(state, "is_locked") is not Level.NO_LEVEL

    def get_lock_level(self, state: State) -> Level:
        """The level at which it is locked in this state, ``NO_LEVEL`` where it is not. Needs MODEL."""
        return self._lock_level(state, "get_lock_level")

    def _lock_level(self, state: State, asked: str) -> Level:
        state.tree_of(self, asked)
        return Level(int(state.field("lock_level")[self.index]) - 1) if state.has_locks else Level.NO_LEVEL

    def get_lock_value_as_vector(self, state: State) -> Array:
        """The q, u or udot that the lock holds, ``(nq,)`` or ``(nu,)`` by its level; empty where there is none. Needs MODEL."""
        level = self._lock_level(state, "get_lock_value_as_vector")
        if level is Level.NO_LEVEL:
            return np.zeros(0)
        if level is Level.POSITION:
            return state.field("lock_q")[self.q_slice(state), 0].copy()
        return state.field("lock_u")[self.u_slice(state), 0].copy()

    def lock_by_default(self, level: Level | str = Level.POSITION) -> Any:
        """Lock it in every new state, at the default q, or at u or udot zero; a topological change. Returns the body.

        Parameters
        ----------
        level : Motion.Level or str
            As `lock` takes it; ``NO_LEVEL`` takes the default lock off.

        Raises
        ------
        TypeError
            If *level* is no level.
        """
        self.default_lock_level = level_of("lock_by_default", level, none=True)
        self.instance_changed()
        return self

    def is_locked_by_default(self) -> bool:
        """True if new states start with it locked."""
        return self.default_lock_level is not Level.NO_LEVEL

    def get_lock_by_default_level(self) -> Level:
        """The level at which new states have it locked; ``NO_LEVEL`` where they do not."""
        return self.default_lock_level

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
        """True if a `Motion` was made for it, enabled or not."""
        return self.driver is not None

    def get_motion(self) -> Motion:
        """Its motion.

        Raises
        ------
        ModelError
            If it has none.
        """
        if self.driver is None:
            raise ModelError(f"{self._name!r} has no motion; ask has_motion() first, or make one: mobod.motion")
        return self.driver

    def clear_motion(self) -> None:
        """Take its motion off, for good; a topological change where there is one."""
        if self.driver is not None:
            self.driver.in_use = False
            self.driver = None
            self.instance_changed()

    def motion_methods(self, state: State, asked: str) -> tuple[Method, Method, Method]:
        """The methods of q, u and udot."""
        if state.stage_number < INSTANCE or state.token is not self.matter.token:
            state.need_instance(self, asked)
        if self.facts.num_u == 0:
            return Method.ZERO, Method.ZERO, Method.ZERO
        locks = "lock_level" in state.own_fields or state.tree.has_default_locks
        level = self._lock_level(state, asked) if locks else Level.NO_LEVEL
        if level is not Level.NO_LEVEL:
            free, zero = Method.FREE, Method.ZERO  # above the level that is held nothing moves
            if level is Level.POSITION:
                return Method.PRESCRIBED, zero, zero
            held = Method.PRESCRIBED if np.any(self.get_lock_value_as_vector(state)) else zero
            return (free, held, zero) if level is Level.VELOCITY else (free, free, held)
        if self.driver is None:
            return Method.FREE, Method.FREE, Method.FREE
        return self.driver.calc_all_methods(state)

    def get_q_motion_method(self, state: State) -> Method:
        """The method of its q: FREE where they are integrated, ZERO of a weld. Needs INSTANCE."""
        return self.motion_methods(state, "get_q_motion_method")[0]

    def get_u_motion_method(self, state: State) -> Method:
        """The method of its u: FREE where they are integrated, ZERO of a position lock, or one at speed 0. Needs INSTANCE."""
        return self.motion_methods(state, "get_u_motion_method")[1]

    def get_u_dot_motion_method(self, state: State) -> Method:
        """The method of its udot: FREE where they come from forces, ZERO of a lock that holds no other. Needs INSTANCE."""
        return self.motion_methods(state, "get_u_dot_motion_method")[2]

    def get_tau_as_vector(self, state: State) -> Array:
        """The multipliers ``(nu,)`` of its lock or motion: the forces these exert, with the opposite sign. Needs ACCELERATION.

        All zero where its motion is free. See `SimbodyMatterSubsystem.find_motion_forces`, which this takes its part of.
        """
        part = self.u_slice(state, "get_tau_as_vector")
        if self._is_free(state, "get_tau_as_vector"):
            return np.zeros(part.stop - part.start)
        return self.matter.find_motion_forces(state)[part].copy()

    def _is_free(self, state: State, asked: str) -> bool:
        """True if its motion is free: its multipliers are zero then, and the sweep that finds all is skipped."""
        if state.stage_number < ACCELERATION:
            state.refuse(asked, Stage.ACCELERATION)
        return bool(state.record.prescribed[self.index] == 0)

    def get_one_tau(self, state: State, which: int) -> float:
        """One of the numbers of `get_tau_as_vector`, by its place. Needs ACCELERATION."""
        at = self.which_coordinate(self.u_slice(state, "get_one_tau"), which, "u")
        return 0.0 if self._is_free(state, "get_one_tau") else float(self.matter.find_motion_forces(state)[at])
