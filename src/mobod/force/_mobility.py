"""Forces on one mobility u of a mobilizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._jit import generic
from ..algebra.scalar import load, store
from .base import Force, mobility

if TYPE_CHECKING:
    from ..forces import GeneralForceSubsystem
    from ..mobilizer.base import MobilizedBody


@generic
def place(model: Any, integers: int) -> int:
    """The number of the mobility. Integers: the body, and the number among the body's."""
    return model.first_u[model.force_integers[integers]] + model.force_integers[integers + 1]


@generic
def push(model: Any, i: int, f: Any) -> None:
    """A force on mobility i."""
    store(model.mobility_forces, i, 0, load(model.mobility_forces, i, 0) + f)


class OnMobility(Force):
    """A force on one mobility of a mobilizer; the base of its kinds."""

    def _connect(
        self,
        forces: GeneralForceSubsystem,
        mobod: MobilizedBody,
        which_u: int,
        own: list[float],
        disabled_by_default: bool,
        name: str | None,
    ) -> None:
        where = mobility(forces, mobod, which_u, "which_u")
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self._keep(list(where), own)

    def get_mobilized_body(self) -> MobilizedBody:
        """The body whose mobilizer it acts on."""
        return self._forces.get_system().get_matter_subsystem().get_mobilized_body(self._of_bodies[0])

    def get_which_u(self) -> int:
        """The number of the mobility among the mobilizer's."""
        return self._of_bodies[1]
