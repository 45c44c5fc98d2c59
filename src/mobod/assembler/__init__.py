"""Assembling: coordinates that fulfil constraints and come close to goals or observations; one condition a file."""

from ..value.attributes import explain_names
from .base import Assembler as Assembler
from .condition import Condition as Condition
from .inverse_kinematics import InverseKinematics as InverseKinematics, Reached as Reached
from .local_energy_minimizer import LocalEnergyMinimizer as LocalEnergyMinimizer
from .markers import Markers as Markers
from .observed_point_fitter import ObservedPointFitter as ObservedPointFitter
from .orientation_sensors import OrientationSensors as OrientationSensors
from .q_value import QValue as QValue
from .system_constraints import SystemConstraints as SystemConstraints

explain_names(__name__)
