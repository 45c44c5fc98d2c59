"""A state's variables: time, q, u, z, and all of them as y."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from ..algebra.arrays import Array
from ..algebra.object_access import assign as _assign, put as _put
from ..value.checks import MOST, number, numbers
from ..value.stage import ACCELERATION, DYNAMICS, INSTANCE, MODEL, POSITION, TIME, VELOCITY, Stage
from . import validity
from .invalidation import KEPT_BY_TIME, KEPT_BY_U, Invalidation
from .requirements import PartOfMatter

_LEAST = -MOST


class Variables(Invalidation):
    """The part of `State` that has time, q, u, z and y."""

    __slots__ = ()

    @property
    def stage(self) -> Stage:
        """The stage to which the state has been realized."""
        return Stage(self.stage_number)

    @property
    def time(self) -> float:
        """Time. Assigning leaves the state at INSTANCE at most."""
        return self.record.time.item()

    @time.setter
    def time(self, value: float) -> None:
        self.record.time[0, 0] = number("state.time", value)
        if self.stage_number > INSTANCE:
            self.stage_number = INSTANCE
        self.valid &= 0 if self.tree.depends_on_time else KEPT_BY_TIME
        if self.resources is not None:
            self.resources.invalidate(TIME)

    def move_to(self, time: float) -> None:
        """Time and all that is integrated are others, of which *time* is not written yet, and nothing is valid."""
        self.record.time[0, 0] = time
        self.valid = 0
        if self.stage_number > INSTANCE:
            self.stage_number = INSTANCE
        if self.resources is not None:
            self.resources.invalidate(TIME)

    @property
    def q(self) -> Array:
        """Coordinates ``(nq,)``, body by body, then other subsystems'. Assigning leaves the state at TIME at most."""
        return self.q_view

    @q.setter
    def q(self, value: npt.ArrayLike) -> None:
        # This setter and `realize` take most of the time of a small model; to check an array's shape and copy it in Python
        # would take four times as long.
        if not (_assign.code or _assign.load())(self.q_values, value):
            self.q_values[:] = self._checked("q", value, self.q_values.shape)
        self.valid = 0
        if self.stage_number > TIME:
            self.stage_number = TIME

    @property
    def u(self) -> Array:
        """Speeds ``(nu,)``, body by body, then other subsystems'. Assigning leaves the state at POSITION at most."""
        return self.u_view

    @u.setter
    def u(self, value: npt.ArrayLike) -> None:
        if not (_assign.code or _assign.load())(self.u_values, value):
            self.u_values[:] = self._checked("u", value, self.u_values.shape)
        self.valid &= KEPT_BY_U
        if self.stage_number > POSITION:
            self.stage_number = POSITION

    def put_q(self, mobod: PartOfMatter, values: Any, first: int, shape: tuple[int, ...] = (), size: int = 1) -> bool:
        """Set so many of a body's q, from its *first* on, to a number, or to a plain array, a list or a tuple of this *shape*.

        False, with nothing changed, where anything needs a look: locks, numbers that are not finite, a place that is not there.
        """
        tree = self.tree
        if self.token is not mobod.matter.token or self.stage_number < MODEL or tree.has_default_locks:
            return False
        b = mobod.index
        if first + size > tree.num_q[b] or "lock_level" in self.own_fields:
            return False
        if not (_put.code or _put.load())(values, self.q_values, tree.first_q[b] + first, shape, _LEAST):
            return False
        self.valid = 0
        if self.stage_number > TIME:
            self.stage_number = TIME
        return True

    def put_u(self, mobod: PartOfMatter, values: Any, first: int, shape: tuple[int, ...] = (), size: int = 1) -> bool:
        """The same of its u."""
        tree = self.tree
        if self.token is not mobod.matter.token or self.stage_number < MODEL or tree.has_default_locks:
            return False
        b = mobod.index
        if first + size > tree.num_u[b] or "lock_level" in self.own_fields:
            return False
        if not (_put.code or _put.load())(values, self.u_values, tree.first_u[b] + first, shape, _LEAST):
            return False
        self.valid &= KEPT_BY_U
        if self.stage_number > POSITION:
            self.stage_number = POSITION
        return True

    def assign(self, q: npt.ArrayLike | None, u: npt.ArrayLike | None) -> None:
        """Assign q and u, those that are not None; neither if one of them is refused."""
        if u is not None:
            u = u if q is None else self._checked("u", u, self.u_values.shape).copy()  # which may be a view of q
        if q is not None:
            self.q = q
        if u is not None:
            self.u = u

    @property
    def z(self) -> Array:
        """Auxiliary variables ``(nz,)``. Assigning leaves the state at VELOCITY at most."""
        return self.z_view

    @z.setter
    def z(self, value: npt.ArrayLike) -> None:
        if not (_assign.code or _assign.load())(self.z_values, value):
            self.z_values[:] = self._checked("z", value, self.z_values.shape)
        self.invalidate_z()

    @property
    def y(self) -> Array:
        """q, u, z and the particles' locations and velocities, end to end. Assigning leaves the state at TIME at most."""
        return self._y_view

    @y.setter
    def y(self, value: npt.ArrayLike) -> None:
        if not (_assign.code or _assign.load())(self.y_values, value):
            self.y_values[:] = self._checked("y", value, self.y_values.shape)
        self.invalidate_q()

    @staticmethod
    def _checked(name: str, value: npt.ArrayLike, shape: tuple[int, ...]) -> Array:
        array = numbers(f"state.{name}", value)
        if array.shape != shape:
            raise ValueError(f"state.{name} has shape {shape}, got {array.shape}")
        return array

    def upd_q(self) -> Array:
        """A writable view of q; the state falls to TIME at most, now: fetch it again for each change."""
        self.invalidate_q()
        return self.q_values

    def upd_u(self) -> Array:
        """A writable view of u; the state falls to POSITION at most, now: fetch it again for each change."""
        self.invalidate_u()
        return self.u_values

    def upd_z(self) -> Array:
        """A writable view of z; the state falls to VELOCITY at most, now: fetch it again for each change."""
        self.invalidate_z()
        return self.z_values

    def invalidate_from(self, stage: int) -> None:
        """Invalidate *stage* and all above it: a subsystem's discrete variable changed."""
        if stage <= MODEL:
            self.invalidate_model()
        elif stage == INSTANCE:
            self.invalidate_instance()
        elif stage == TIME:
            self.force_cache = {}
            self.time = self.time
        elif stage == POSITION:
            self.force_cache = {}
            self.invalidate_q()
        elif stage == VELOCITY:
            self.invalidate_u()
        elif stage == DYNAMICS:
            self.invalidate_z()
        else:
            self.valid &= ~validity.unchanged(stage)
            if stage == ACCELERATION:
                self.valid &= ~validity.ACCELERATIONS
            self.lower_to(stage - 1)
