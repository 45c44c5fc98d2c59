"""Subsystem: a part of a system that takes part in realizing its states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._version import __version__
from .errors import TopologyError

if TYPE_CHECKING:
    from .system import MultibodySystem


class Subsystem:
    """Base class of the subsystems.

    Parameters
    ----------
    system : MultibodySystem, optional
        The system to join; without one it is an orphan until adopted.
    name : str
        For messages.
    """

    def __init__(self, system: MultibodySystem | None = None, name: str = "subsystem") -> None:
        self._name = name
        self._system: MultibodySystem | None = None
        self._subsystem_index = -1
        if system is not None:
            system.adopt_subsystem(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._name!r}>"

    def get_name(self) -> str:
        """Its name."""
        return self._name

    def get_version(self) -> str:
        """The version of the package that defines it."""
        return __version__

    def is_in_system(self) -> bool:
        """Whether it is part of a system."""
        return self._system is not None

    def is_in_same_system(self, other_subsystem: Subsystem) -> bool:
        """Whether both are part of one system."""
        return self._system is not None and other_subsystem._system is self._system

    def get_system(self) -> MultibodySystem:
        """The system it is part of; `TopologyError` where there is none."""
        if self._system is None:
            raise TopologyError(f"{self!r} is in no system; call system.adopt_subsystem(it), or name one when making it")
        return self._system

    def upd_system(self) -> MultibodySystem:
        """The system it is part of; the same object as `get_system` gives."""
        return self.get_system()

    def get_my_subsystem_index(self) -> int:
        """Its place among the system's subsystems; `TopologyError` outside a system."""
        self.get_system()
        return self._subsystem_index

    def is_same_subsystem(self, other_subsystem: Subsystem) -> bool:
        """Whether *other_subsystem* is this very one."""
        return other_subsystem is self

    def subsystem_topology_has_been_realized(self) -> bool:
        """Whether the system's topology is realized and nothing has changed since."""
        return self._system is not None and self._system.system_topology_has_been_realized()

    def invalidate_subsystem_topology_cache(self) -> None:
        """Say that something topological changed; the whole system's topology goes with it."""
        self._invalidate_topology()

    def _invalidate_topology(self) -> None:
        if self._system is not None:
            self._system._invalidate_topology()
