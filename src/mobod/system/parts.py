"""The subsystems that a system is made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import TopologyError
from ..force.subsystem import GeneralForceSubsystem
from ..state.state import State
from ..state.subsystem import Subsystem
from ..tree.tree import Tree
from ..value.attributes import Sealed
from ..value.checks import instance
from .matter import SimbodyMatterSubsystem


class HasParts(Sealed):
    """The part of `MultibodySystem` that has its subsystems."""

    subsystems: list[Subsystem]
    force_subsystems: list[GeneralForceSubsystem]
    topology_version: int
    topology_token: object
    compiles_measures: bool
    lines_of_functions: list[str] | None
    _matter: SimbodyMatterSubsystem | None
    _topology_realized: bool
    _trees: dict[bool, Tree]
    _kernel: Any
    plain_routine: npt.NDArray[np.int64] | None
    _default_state: State | None

    def adopt_subsystem(self, subsystem: Subsystem) -> int:
        """Make *subsystem* part of the system; returns its index.

        Raises
        ------
        TopologyError
            If it is part of a system already, or a second matter subsystem.
        TypeError
            If it is no subsystem, or its class does not call ``super().__init__``.
        """
        from ..force.subsystem import GeneralForceSubsystem
        from .matter import SimbodyMatterSubsystem

        instance("what a system adopts", subsystem, Subsystem, "mobod.GeneralForceSubsystem(system)")
        if not hasattr(subsystem, "own_measures"):
            raise TypeError(f"{type(subsystem).__name__}.__init__ has to call super().__init__(system, name)")
        if subsystem.system is not None:
            raise TopologyError(f"{subsystem!r} is part of a system already")
        if isinstance(subsystem, SimbodyMatterSubsystem):
            if self._matter is not None:
                raise TopologyError(f"{self!r} has a matter subsystem already; a system has one")
            self._matter = subsystem
        if isinstance(subsystem, GeneralForceSubsystem):
            self.force_subsystems.append(subsystem)
        subsystem.system, subsystem.subsystem_index = self, len(self.subsystems)  # type: ignore[assignment]
        self.subsystems.append(subsystem)
        self.invalidate_topology()
        return subsystem.subsystem_index

    @property
    def matter(self) -> SimbodyMatterSubsystem:
        """The matter subsystem; `TopologyError` where there is none yet."""
        return self.get_matter_subsystem()

    def get_matter_subsystem(self) -> SimbodyMatterSubsystem:
        """The matter subsystem; `TopologyError` where there is none yet."""
        if self._matter is None:
            raise TopologyError(f"{self!r} has no matter; make one with mobod.SimbodyMatterSubsystem(system)")
        return self._matter

    @property
    def forces(self) -> GeneralForceSubsystem:
        """The first `GeneralForceSubsystem`, for systems with one; `TopologyError` where there is none yet."""
        if not self.force_subsystems:
            raise TopologyError(f"{self!r} has no forces; make them with mobod.GeneralForceSubsystem(system)")
        return self.force_subsystems[0]

    def get_num_subsystems(self) -> int:
        """Number of subsystems."""
        return len(self.subsystems)

    def get_subsystem(self, index: int) -> Subsystem:
        """One of them."""
        return self.subsystems[index]

    def all_forces(self) -> list[Any]:
        """The elements of all force subsystems, in order."""
        return [force for subsystem in self.force_subsystems for force in subsystem.elements]

    def invalidate_topology(self) -> None:
        """Invalidate all states made so far: the topology has changed."""
        self.topology_version += 1
        self.topology_token = object()
        if self._matter is not None:
            self._matter.token = self.topology_token
        self._topology_realized = False
        self._trees = {}
        self._kernel = self.plain_routine = None
        self._default_state = self.lines_of_functions = None
        self.compiles_measures = False

    def system_topology_has_been_realized(self) -> bool:
        """True if `realize_topology` was called and nothing topological has changed since."""
        return self._topology_realized
