"""Forces on one mobility u of a mobilizer; and what these share with those on one coordinate."""

from __future__ import annotations

from typing import Any, ClassVar

from ..algebra.scalar import load, store
from ..compiling import generic
from ..mobilizer.base import MobilizedBody
from .base import Force, mobility
from .subsystem import GeneralForceSubsystem


@generic
def place(model: Any, integers: int) -> int:
    """The number of the mobility. Integers: the body, and the number among the body's."""
    return model.first_u[model.force_integers[integers]] + model.force_integers[integers + 1]


@generic
def push(model: Any, i: int, f: Any) -> None:
    """A force on mobility i."""
    store(model.mobility_forces, i, 0, load(model.mobility_forces, i, 0) + f)


class OnMobilizer(Force):
    """A force on one mobility or coordinate of a mobilizer, which its first integers are."""

    #: The argument that says which.
    _WHICH: ClassVar[str]

    def _connect(
        self,
        forces: GeneralForceSubsystem,
        mobod: MobilizedBody,
        which: int,
        disabled_by_default: bool,
        name: str | None,
        **own: float,
    ) -> None:
        place, numbers = mobility(forces, mobod, which, self._WHICH), self.declared(name, **own)
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self.default_integers, self.default_numbers = list(place), numbers

    def reach(self) -> tuple[list[int], list[int]]:
        return [], self.default_integers[:1]

    def get_mobilized_body(self) -> MobilizedBody:
        """The body whose mobilizer it acts on."""
        return self._body(0)


class OnMobility(OnMobilizer):
    """A force on one mobility of a mobilizer; the base of its kinds."""

    _WHICH = "which_u"

    def get_which_u(self) -> int:
        """The number of the mobility among the mobilizer's."""
        return self.default_integers[1]
