"""Parameters that a state has of its own, in place of the system's."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.object_access import put as _put
from ..value.checks import MOST
from ..value.stage import MODEL, VELOCITY
from .fields import GROUPED, INSTANCE_FIELDS, LEFT_AT_ZERO, LEFT_BY_GROUPS
from .invalidation import KEPT_BY_Z
from .requirements import PartOfMatter
from .weights import Weights

_OWNED = frozenset(INSTANCE_FIELDS)
#: The field that says how contacts slide, see `tree.sliding`.
_SLIPS = "slip_memory"


class OwnParameters(Weights):
    """The part of `State` that changes parameters."""

    __slots__ = ()

    def own_field(self, name: str) -> npt.NDArray[Any]:
        """The state's own copy of an Instance field of the tree, made at its first change; lowers the stage to MODEL."""
        if name not in _OWNED:
            raise AssertionError(f"{name} is not an instance field")
        own = self.own_copy(name)
        self.invalidate_instance()
        return own

    def own_copy(self, name: str) -> npt.NDArray[Any]:
        """The same without a change of the stage, which is the caller's to make."""
        own = self.own_fields.get(name)
        if own is None:
            own = self.own_fields[name] = self.tree.fields[name].copy()
            self.record.share(name, own)
        return own

    def own_numbers(self) -> npt.NDArray[np.float64]:
        """The state's own flat copy of all forces' numbers, to change discrete ones; the state falls to VELOCITY at most."""
        numbers = self.own_copy("force_numbers")
        self.valid &= KEPT_BY_Z
        if self.stage_number > VELOCITY:
            self.stage_number = VELOCITY
        return numbers.ravel()

    def put_own(
        self, token: object, name: str, values: Any, first: int, shape: tuple[int, ...] = (), least: float = -MOST
    ) -> bool:
        """Set those numbers of its own copy of a field, from place *first* on, that a part of this *token*'s system has.

        *values* are a number, or a plain array, a list or a tuple, of this *shape*, finite and *least* or more. False, with
        nothing changed, where anything needs a look: the state has no copy yet, say, or the system was changed. The stage is
        the caller's to lower.
        """
        if self.token is not token or token is not self.system.topology_token or self.stage_number < MODEL:
            return False
        own = self.own_fields.get(name)
        return own is not None and bool((_put.code or _put.load())(values, own, first, shape, least))

    def put_numbers(self, values: Any, first: int, shape: tuple[int, ...] = (), least: float = -MOST) -> bool:
        """The same with *values* put in from place *first* on, as `put_own` does."""
        try:
            own = self.own_fields["force_numbers"]
        except KeyError:
            return False
        if self.token is not self.system.topology_token or not (_put.code or _put.load())(values, own, first, shape, least):
            return False
        self.valid &= KEPT_BY_Z
        if self.stage_number > VELOCITY:
            self.stage_number = VELOCITY
        return True

    @property
    def kept_fields(self) -> dict[str, npt.NDArray[Any]]:
        """Own Instance fields, and how contacts slide: what states of a motion have beside y and settings. No copies."""
        return {**self.own_fields, _SLIPS: self.record.slip_memory} if self.slides else self.own_fields

    def take_own(self, own: dict[str, npt.NDArray[Any]]) -> None:
        """Replace the state's own Instance fields by these, which may be `kept_fields`; the stage falls to MODEL."""
        own = dict(own)
        if (slips := own.pop(_SLIPS, None)) is not None:
            self.record.slip_memory[:] = slips
        for name in self.own_fields.keys() - own.keys():
            self.record.share(name, self.tree.fields[name])
        for flag, left in LEFT_AT_ZERO.items():
            if flag in self.own_fields or flag in own:  # rows may hold numbers that kernels leave as they are from now on
                for name in left:
                    getattr(self.record, name)[:] = 0.0
        if not (self.own_fields.keys() | own.keys()).isdisjoint(GROUPED):
            self.clear_groups()
        self.own_fields = {name: array.copy() for name, array in own.items()}
        self.attach_own(self.tree, self.record)
        self.invalidate_instance()

    def clear_groups(self) -> None:
        """Set to zero what kernels leave as it is from now on, where constraints are grouped anew."""
        for name in LEFT_BY_GROUPS:
            getattr(self.record, name)[:] = 0.0

    def leave_out(self, flag: str, b: int, holds: bool) -> None:
        """Set a flag that lets kernels skip work for body b; entries that they then do not write have to be zero already."""
        self.own_field(flag)[b] = holds
        if holds and flag == "massless":
            for name in LEFT_AT_ZERO[flag]:
                getattr(self.record, name)[b] = 0.0

    def settle_motion(self, mobod: PartOfMatter, asked: bool = False) -> None:
        """Write into the record how a body's present lock and motion prescribe its mobilizer.

        *asked*: the level of a custom motion is evaluated, when the state reaches INSTANCE; the stage stays.
        """
        b, tree = mobod.index, self.tree
        lock, on, rotorless = (int(self.field(name)[b]) for name in ("lock_level", "motion_enabled", "rotorless"))
        state: Any = self if asked else None  # which it is a part of
        found = tree.how_prescribed(mobod, lock, bool(on), bool(rotorless), state)
        for name, value in found.items():
            if self.field(name)[b] != value:
                stage = self.stage_number
                self.own_field(name)[b] = value
                self.stage_number = stage
