"""The classes that any room may name in its annotations, whichever room they are from; nothing is imported at run time.

Rooms import one way, each only those before it. That a mobilizer's method takes a State is known to readers and type checkers
through this file alone: ``if TYPE_CHECKING: from ..value.annotations import State``. Only classes that users know are here,
and the Tree that a State holds.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..importer.model import Model
    from ..measure.base import Measure
    from ..mobilizer.base import MobilizedBody
    from ..motion.base import Motion
    from ..simulation.trajectory import Trajectory
    from ..state.state import State
    from ..system.matter import SimbodyMatterSubsystem
    from ..system.system import MultibodySystem
    from ..tree.tree import Tree

    __all__ = [
        "Measure",
        "MobilizedBody",
        "Model",
        "Motion",
        "MultibodySystem",
        "SimbodyMatterSubsystem",
        "State",
        "Trajectory",
        "Tree",
    ]
