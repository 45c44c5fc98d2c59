"""mobod: multibody dynamics in Python, compiled.

Bodies connected by mobilizers in a tree, minimal coordinates, O(n) recursive dynamics, forces, and a `State` realized stage by
stage: the concepts of Simbody, written in Python and compiled by Numba. ``import mobod as mb``; the README has a first example.
"""

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
    raise ImportError("mobod is compiled by Numba, and NUMBA_DISABLE_JIT is set in the environment; unset it")

from ._version import __version__

if TYPE_CHECKING:  # what checkers and editors see; at run time a name is imported when it is first used
    from . import (
        assembler,
        biomechanics,
        body,
        constraint,
        contact,
        control,
        decoration,
        event,
        examples,
        force,
        function,
        integrator,
        measure,
        mobilizer,
        molecule,
        motion,
        muscle,
        optimal,
    )
    from .assembler import Assembler, InverseKinematics, LocalEnergyMinimizer, ObservedPointFitter
    from .biomechanics import (
        analyze_muscles,
        computed_muscle_control,
        induced_accelerations,
        inverse_dynamics,
        inverse_kinematics,
        joint_reactions,
        reduce_residuals,
        scale,
        static_optimization,
    )
    from .body import Body
    from .constraint.base import Constraint
    from .ensemble.ensemble import Ensemble
    from .ensemble.ensemble_trajectory import EnsembleTrajectory
    from .errors import ConvergenceError, FormulaError, MobodError, ModelError, ModelWarning, StageError, TopologyError
    from .event import EventHandler, EventReporter
    from .force.base import Force
    from .force.contact.subsystem import CompliantContactSubsystem
    from .force.subsystem import GeneralForceSubsystem
    from .function import Function
    from .importer import Model, load, load_mjcf, load_osim, load_sdf, load_urdf, write_osim
    from .integrator import Integrator
    from .linear.base_parameters import BaseParameters, find_base_parameters
    from .linear.equilibrium import find_equilibrium
    from .linear.linear_system import LinearSystem
    from .linear.linearize import linearize
    from .linear.lqr import lqr
    from .linear.periodic_orbit import PeriodicOrbit, find_periodic_orbit
    from .linear.regulator import Regulator
    from .measure.base import Measure
    from .mobilizer.base import Direction, MobilizedBody
    from .mobilizer.base import MobilizedBody as Mobod
    from .motion.base import Motion
    from .motion_data import Table, read_c3d, read_sto, read_trc, write_sto, write_trc
    from .optimal.collocate import collocate
    from .optimal.region_of_attraction import RegionOfAttraction, find_region_of_attraction
    from .optimal.way_points import trajectory_through
    from .simulation.checkpoint import CheckpointError
    from .simulation.drive import drive
    from .simulation.gradient import Gradient, calc_gradient
    from .simulation.sensitivities import Sensitivities
    from .simulation.simulate import simulate
    from .simulation.step_status import StepStatus
    from .simulation.time_stepper import TimeStepper
    from .simulation.trajectory import Trajectory
    from .simulation.view import view
    from .state.state import State
    from .state.subsystem import Subsystem
    from .study.run_many import run_many
    from .study.sampling import sample_parameters
    from .symbolic.equations import Equations, equations
    from .symbolic.export_c import CSource, export_c
    from .system.matter import SimbodyMatterSubsystem
    from .system.system import MultibodySystem
    from .unilateral.base import UnilateralContact
    from .unilateral.state_limited_friction import StateLimitedFriction
    from .value import ArticulatedInertia, Inertia, MassProperties, Rotation, SpatialInertia, Transform, UnitInertia
    from .value.stage import Stage

__all__ = [
    "ArticulatedInertia",
    "Assembler",
    "BaseParameters",
    "Body",
    "CSource",
    "CheckpointError",
    "CompliantContactSubsystem",
    "Constraint",
    "ConvergenceError",
    "Direction",
    "Ensemble",
    "EnsembleTrajectory",
    "Equations",
    "EventHandler",
    "EventReporter",
    "Force",
    "FormulaError",
    "Function",
    "GeneralForceSubsystem",
    "Gradient",
    "Inertia",
    "Integrator",
    "InverseKinematics",
    "LinearSystem",
    "LocalEnergyMinimizer",
    "MassProperties",
    "Measure",
    "MobilizedBody",
    "Mobod",
    "MobodError",
    "Model",
    "ModelError",
    "ModelWarning",
    "Motion",
    "MultibodySystem",
    "ObservedPointFitter",
    "PeriodicOrbit",
    "RegionOfAttraction",
    "Regulator",
    "Rotation",
    "Sensitivities",
    "SimbodyMatterSubsystem",
    "SpatialInertia",
    "Stage",
    "StageError",
    "State",
    "StateLimitedFriction",
    "StepStatus",
    "Subsystem",
    "Table",
    "TimeStepper",
    "TopologyError",
    "Trajectory",
    "Transform",
    "UnilateralContact",
    "UnitInertia",
    "__version__",
    "analyze_muscles",
    "assembler",
    "biomechanics",
    "body",
    "calc_gradient",
    "collocate",
    "computed_muscle_control",
    "constraint",
    "contact",
    "control",
    "decoration",
    "drive",
    "equations",
    "event",
    "examples",
    "export_c",
    "find_base_parameters",
    "find_equilibrium",
    "find_periodic_orbit",
    "find_region_of_attraction",
    "force",
    "function",
    "induced_accelerations",
    "integrator",
    "inverse_dynamics",
    "inverse_kinematics",
    "joint_reactions",
    "linearize",
    "load",
    "load_mjcf",
    "load_osim",
    "load_sdf",
    "load_urdf",
    "lqr",
    "measure",
    "mobilizer",
    "molecule",
    "motion",
    "muscle",
    "optimal",
    "read_c3d",
    "read_sto",
    "read_trc",
    "reduce_residuals",
    "run_many",
    "sample_parameters",
    "scale",
    "simulate",
    "static_optimization",
    "trajectory_through",
    "view",
    "write_osim",
    "write_sto",
    "write_trc",
]

#: Where the names are that are no module.
_WHERE = {
    "assembler": "Assembler InverseKinematics LocalEnergyMinimizer ObservedPointFitter",
    "biomechanics": "analyze_muscles computed_muscle_control induced_accelerations inverse_dynamics inverse_kinematics "
    "joint_reactions reduce_residuals scale static_optimization",
    "body": "Body",
    "constraint.base": "Constraint",
    "ensemble.ensemble": "Ensemble",
    "ensemble.ensemble_trajectory": "EnsembleTrajectory",
    "errors": "ConvergenceError FormulaError MobodError ModelError ModelWarning StageError TopologyError",
    "event": "EventHandler EventReporter",
    "force.base": "Force",
    "force.contact.subsystem": "CompliantContactSubsystem",
    "force.subsystem": "GeneralForceSubsystem",
    "function": "Function",
    "importer": "Model load load_mjcf load_osim load_sdf load_urdf write_osim",
    "integrator": "Integrator",
    "linear.base_parameters": "BaseParameters find_base_parameters",
    "linear.equilibrium": "find_equilibrium",
    "linear.linear_system": "LinearSystem",
    "linear.linearize": "linearize",
    "linear.lqr": "lqr",
    "linear.periodic_orbit": "PeriodicOrbit find_periodic_orbit",
    "linear.regulator": "Regulator",
    "measure.base": "Measure",
    "mobilizer.base": "Direction MobilizedBody",
    "motion.base": "Motion",
    "optimal.collocate": "collocate",
    "optimal.region_of_attraction": "RegionOfAttraction find_region_of_attraction",
    "optimal.way_points": "trajectory_through",
    "motion_data": "Table read_c3d read_sto read_trc write_sto write_trc",
    "simulation.checkpoint": "CheckpointError",
    "simulation.gradient": "Gradient calc_gradient",
    "simulation.sensitivities": "Sensitivities",
    "simulation.drive": "drive",
    "simulation.simulate": "simulate",
    "simulation.view": "view",
    "simulation.step_status": "StepStatus",
    "simulation.time_stepper": "TimeStepper",
    "simulation.trajectory": "Trajectory",
    "state.state": "State",
    "state.subsystem": "Subsystem",
    "study.run_many": "run_many",
    "study.sampling": "sample_parameters",
    "symbolic.equations": "Equations equations",
    "symbolic.export_c": "CSource export_c",
    "system.matter": "SimbodyMatterSubsystem",
    "system.system": "MultibodySystem",
    "unilateral.base": "UnilateralContact",
    "unilateral.state_limited_friction": "StateLimitedFriction",
    "value": "ArticulatedInertia Inertia MassProperties Rotation SpatialInertia Transform UnitInertia",
    "value.stage": "Stage",
}


def __getattr__(name: str) -> Any:
    if name == "Mobod":  # the short name of `MobilizedBody`
        return __getattr__("MobilizedBody")
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    where = _MODULE_OF.get(name)
    if name in _IMPORTED_BY_NAME:
        raise AttributeError(f"module 'mobod' has {name!r} as a module that it does not import by itself: import mobod.{name}")
    if where is None:
        from .value.attributes import missing_name

        raise AttributeError(missing_name(sys.modules[__name__], name))
    value = globals()[name] = getattr(importlib.import_module(f".{where}", __name__), name)
    return value


def __dir__() -> list[str]:
    return __all__


_MODULE_OF = {name: module for module, names in _WHERE.items() for name in names.split()}
_MODULES = frozenset(__all__) - frozenset(_MODULE_OF) - {"Mobod", "__version__"}
#: Modules that need other packages, or a device.
_IMPORTED_BY_NAME = frozenset(("casadi", "gpu", "gym", "jax", "torch"))
