"""mobod: multibody dynamics in Python, compiled.

Bodies connected by mobilizers in a tree, minimal coordinates, O(n) recursive dynamics, forces, and a `State` realized stage by
stage: the concepts of Simbody, written in Python and compiled by Numba. ``import mobod as mb``; the README has a first example.
"""

from . import (
    assembler,
    body,
    constraint,
    decoration,
    event,
    examples,
    force,
    function,
    integrator,
    measure,
    mobilizer,
    motion,
)
from ._version import __version__
from .assembler import Assembler, LocalEnergyMinimizer, ObservedPointFitter
from .body import Body
from .checkpoint import CheckpointError
from .constraint.base import Constraint
from .ensemble import Ensemble
from .errors import ConvergenceError, MobodError, ModelError, StageError, TopologyError
from .event import EventHandler, EventReporter
from .force.base import Force
from .forces import GeneralForceSubsystem
from .function import Function
from .importer import Model, load_urdf
from .integrator import Integrator
from .matter import SimbodyMatterSubsystem
from .measure.base import Measure
from .mobilizer.base import Direction, MobilizedBody
from .motion.base import Motion
from .simulation import simulate
from .stage import Stage
from .state import State
from .step_status import StepStatus
from .subsystem import Subsystem
from .system import MultibodySystem
from .time_stepper import TimeStepper
from .trajectory import Trajectory
from .value import (
    ArticulatedInertia,
    Inertia,
    MassProperties,
    Rotation,
    SpatialInertia,
    Transform,
    UnitInertia,
)

#: The short name of `MobilizedBody`.
Mobod = MobilizedBody

__all__ = [
    "ArticulatedInertia",
    "Assembler",
    "Body",
    "CheckpointError",
    "Constraint",
    "ConvergenceError",
    "Direction",
    "Ensemble",
    "EventHandler",
    "EventReporter",
    "Force",
    "Function",
    "GeneralForceSubsystem",
    "Inertia",
    "Integrator",
    "LocalEnergyMinimizer",
    "MassProperties",
    "Measure",
    "MobilizedBody",
    "Mobod",
    "MobodError",
    "Model",
    "ModelError",
    "Motion",
    "MultibodySystem",
    "ObservedPointFitter",
    "Rotation",
    "SimbodyMatterSubsystem",
    "SpatialInertia",
    "Stage",
    "StageError",
    "State",
    "StepStatus",
    "Subsystem",
    "TimeStepper",
    "TopologyError",
    "Trajectory",
    "Transform",
    "UnitInertia",
    "__version__",
    "assembler",
    "body",
    "constraint",
    "decoration",
    "event",
    "examples",
    "force",
    "function",
    "integrator",
    "load_urdf",
    "measure",
    "mobilizer",
    "motion",
    "simulate",
]
