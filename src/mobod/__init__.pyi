"""What `mobod` exports, each name once: type checkers read it here, and ``__init__.py`` at run time."""

from . import (
    assembler as assembler,
    biomechanics as biomechanics,
    body as body,
    constraint as constraint,
    contact as contact,
    control as control,
    decoration as decoration,
    event as event,
    examples as examples,
    force as force,
    function as function,
    integrator as integrator,
    measure as measure,
    mobilizer as mobilizer,
    molecule as molecule,
    motion as motion,
    muscle as muscle,
    optimal as optimal,
)
from .assembler import (
    Assembler as Assembler,
    InverseKinematics as InverseKinematics,
    LocalEnergyMinimizer as LocalEnergyMinimizer,
    ObservedPointFitter as ObservedPointFitter,
)
from .biomechanics import (
    analyze_muscles as analyze_muscles,
    computed_muscle_control as computed_muscle_control,
    induced_accelerations as induced_accelerations,
    inverse_dynamics as inverse_dynamics,
    inverse_kinematics as inverse_kinematics,
    joint_reactions as joint_reactions,
    muscle_redundancy as muscle_redundancy,
    reduce_residuals as reduce_residuals,
    scale as scale,
    static_optimization as static_optimization,
)
from .body import Body as Body
from .constraint.base import Constraint as Constraint
from .ensemble.ensemble import Ensemble as Ensemble
from .ensemble.ensemble_trajectory import EnsembleTrajectory as EnsembleTrajectory
from .errors import (
    ConvergenceError as ConvergenceError,
    FormulaError as FormulaError,
    MobodError as MobodError,
    ModelError as ModelError,
    ModelWarning as ModelWarning,
    StageError as StageError,
    TopologyError as TopologyError,
)
from .event import EventHandler as EventHandler, EventReporter as EventReporter
from .force.base import Force as Force
from .force.contact.subsystem import CompliantContactSubsystem as CompliantContactSubsystem
from .force.subsystem import GeneralForceSubsystem as GeneralForceSubsystem
from .function import Function as Function
from .importer import (
    Model as Model,
    load as load,
    load_mjcf as load_mjcf,
    load_osim as load_osim,
    load_sdf as load_sdf,
    load_urdf as load_urdf,
    write_osim as write_osim,
)
from .integrator import Integrator as Integrator
from .linear.base_parameters import BaseParameters as BaseParameters, find_base_parameters as find_base_parameters
from .linear.energy_minimum import minimize_energy as minimize_energy
from .linear.equilibrium import find_equilibrium as find_equilibrium
from .linear.linear_system import LinearSystem as LinearSystem
from .linear.linearize import linearize as linearize
from .linear.loop_gain import loop_gain as loop_gain
from .linear.lqr import lqr as lqr
from .linear.periodic_orbit import PeriodicOrbit as PeriodicOrbit, find_periodic_orbit as find_periodic_orbit
from .linear.regulator import Regulator as Regulator
from .measure.base import Measure as Measure
from .mobilizer.base import Direction as Direction, MobilizedBody as MobilizedBody
from .motion.base import Motion as Motion
from .motion_data import (
    Table as Table,
    read_c3d as read_c3d,
    read_sto as read_sto,
    read_trc as read_trc,
    write_sto as write_sto,
    write_trc as write_trc,
)
from .optimal.collocate import collocate as collocate
from .optimal.region_of_attraction import (
    RegionOfAttraction as RegionOfAttraction,
    find_region_of_attraction as find_region_of_attraction,
)
from .optimal.way_points import trajectory_through as trajectory_through
from .simulation.checkpoint import CheckpointError as CheckpointError
from .simulation.drive import drive as drive
from .simulation.gradient import Gradient as Gradient, calc_gradient as calc_gradient
from .simulation.sensitivities import Sensitivities as Sensitivities
from .simulation.simulate import simulate as simulate
from .simulation.step_status import StepStatus as StepStatus
from .simulation.time_stepper import TimeStepper as TimeStepper
from .simulation.trajectory import Trajectory as Trajectory
from .simulation.view import view as view
from .state.state import State as State
from .state.subsystem import Subsystem as Subsystem
from .study.run_many import run_many as run_many
from .study.sampling import sample_parameters as sample_parameters
from .symbolic.equations import Equations as Equations, equations as equations
from .symbolic.export_c import CSource as CSource, export_c as export_c
from .system.matter import SimbodyMatterSubsystem as SimbodyMatterSubsystem
from .system.system import MultibodySystem as MultibodySystem
from .unilateral.base import UnilateralContact as UnilateralContact
from .unilateral.state_limited_friction import StateLimitedFriction as StateLimitedFriction
from .value import (
    ArticulatedInertia as ArticulatedInertia,
    Inertia as Inertia,
    MassProperties as MassProperties,
    Rotation as Rotation,
    SpatialInertia as SpatialInertia,
    Transform as Transform,
    UnitInertia as UnitInertia,
)
from .value.stage import Stage as Stage

__version__: str
Mobod = MobilizedBody
