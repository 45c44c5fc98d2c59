"""Analyses of human motion: coordinates from markers, forces from motion, models scaled to subjects.

`inverse_kinematics`, `inverse_dynamics`, `scale`, `static_optimization`, `analyze_muscles`, `joint_reactions`,
`induced_accelerations`, `computed_muscle_control` and `reduce_residuals`, one a file. Functions such as `replace_muscles` give
new models.
"""

from ..importer.controls import Controls as Controls, read_controls as read_controls
from ..importer.external_loads import (
    Applied as Applied,
    ExternalForce as ExternalForce,
    read_external_loads as read_external_loads,
)
from ..importer.osim.model_operators import (
    add_forces as add_forces,
    add_reserves as add_reserves,
    ignore_activation_dynamics as ignore_activation_dynamics,
    ignore_passive_fiber_forces as ignore_passive_fiber_forces,
    ignore_tendon_compliance as ignore_tendon_compliance,
    move_mass_center as move_mass_center,
    remove_muscles as remove_muscles,
    replace_muscles as replace_muscles,
    replace_muscles_with_path_actuators as replace_muscles_with_path_actuators,
    scale_active_force_length as scale_active_force_length,
    scale_max_isometric_force as scale_max_isometric_force,
)
from ..value.attributes import explain_names
from .activations import StaticOptimization, static_optimization
from .dynamics import InverseDynamics, inverse_dynamics
from .figure import plot_table
from .followed import Followed
from .induced import induced_accelerations
from .kinematics import Kinematics, inverse_kinematics
from .metabolics import metabolic_power
from .muscle_analysis import MuscleAnalysis, analyze_muscles
from .muscle_control import computed_muscle_control
from .path_polynomials import PathFit, PathPolynomial, fit_path_polynomials
from .reactions import joint_reactions
from .residuals import ResidualReduction, reduce_residuals
from .scaling import Measurement, scale
from .tasks import OrientationTask, PointTask, Task

__all__ = [
    "Applied",
    "Controls",
    "ExternalForce",
    "Followed",
    "InverseDynamics",
    "Kinematics",
    "Measurement",
    "MuscleAnalysis",
    "OrientationTask",
    "PathFit",
    "PathPolynomial",
    "PointTask",
    "ResidualReduction",
    "StaticOptimization",
    "Task",
    "add_forces",
    "add_reserves",
    "analyze_muscles",
    "computed_muscle_control",
    "fit_path_polynomials",
    "ignore_activation_dynamics",
    "ignore_passive_fiber_forces",
    "ignore_tendon_compliance",
    "induced_accelerations",
    "inverse_dynamics",
    "inverse_kinematics",
    "joint_reactions",
    "metabolic_power",
    "move_mass_center",
    "plot_table",
    "read_controls",
    "read_external_loads",
    "reduce_residuals",
    "remove_muscles",
    "replace_muscles",
    "replace_muscles_with_path_actuators",
    "scale",
    "scale_active_force_length",
    "scale_max_isometric_force",
    "static_optimization",
]

explain_names(__name__)
