"""Analyses of human motion: coordinates from markers, forces from motion, models scaled to subjects.

`inverse_kinematics`, `inverse_dynamics`, `scale`, `static_optimization`, `muscle_redundancy`, `analyze_muscles`,
`joint_reactions`, `induced_accelerations`, `computed_muscle_control` and `reduce_residuals`, one a file; tables of a motion in
`motion_tables`.
Functions such as `replace_muscles` give new models.
"""

from ..importer.controls import Controls as Controls, read_controls as read_controls
from ..importer.external_loads import (
    Applied as Applied,
    Contact as Contact,
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
from .activations import StaticOptimization as StaticOptimization, static_optimization as static_optimization
from .dynamics import InverseDynamics as InverseDynamics, inverse_dynamics as inverse_dynamics
from .figure import plot_table as plot_table
from .followed import Followed as Followed
from .induced import induced_accelerations as induced_accelerations
from .kinematics import Kinematics as Kinematics, inverse_kinematics as inverse_kinematics
from .metabolics import metabolic_power as metabolic_power
from .motion_tables import (
    actuation as actuation,
    body_kinematics as body_kinematics,
    coordinate_kinematics as coordinate_kinematics,
    forces_over as forces_over,
    point_kinematics as point_kinematics,
    states_over as states_over,
)
from .muscle_analysis import MuscleAnalysis as MuscleAnalysis, analyze_muscles as analyze_muscles
from .muscle_control import computed_muscle_control as computed_muscle_control
from .path_polynomials import PathFit as PathFit, PathPolynomial as PathPolynomial, fit_path_polynomials as fit_path_polynomials
from .reactions import joint_reactions as joint_reactions
from .redundancy import MuscleRedundancy as MuscleRedundancy, muscle_redundancy as muscle_redundancy
from .residuals import ResidualReduction as ResidualReduction, reduce_residuals as reduce_residuals
from .scaling import Measurement as Measurement, scale as scale
from .tasks import OrientationTask as OrientationTask, PointTask as PointTask, Task as Task

explain_names(__name__)
