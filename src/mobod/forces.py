"""GeneralForceSubsystem: the force elements of a system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import ModelError
from .subsystem import Subsystem

if TYPE_CHECKING:
    from .force.base import Force
    from .system import MultibodySystem


class GeneralForceSubsystem(Subsystem):
    """Holds the force elements (`mobod.force`), which join it as they are made.

    Parameters
    ----------
    system : MultibodySystem, optional
        The system to join.
    """

    def __init__(self, system: MultibodySystem | None = None) -> None:
        self._forces: list[Force] = []
        super().__init__(system, "forces")

    def get_num_forces(self) -> int:
        """How many force elements there are."""
        return len(self._forces)

    def get_force(self, index: int) -> Force:
        """One of them, by its index."""
        if not 0 <= index < len(self._forces):
            raise IndexError(f"there are {len(self._forces)} forces; no number {index}")
        return self._forces[index]

    def _adopt(self, force: Force, name: str | None) -> tuple[int, str]:
        """Take a new element; its index and its name."""
        index = len(self._forces)
        taken = {other._name for other in self._forces}
        if name is None:
            name = f"{type(force).__name__.lower()}_{index}"
            while name in taken:
                name += "_"
        elif name in taken:
            raise ModelError(f"there is a force {name!r} already; names are unique")
        self._forces.append(force)
        self._invalidate_topology()
        return index, name
