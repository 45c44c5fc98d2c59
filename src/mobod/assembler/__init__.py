"""Assembling: coordinates that fulfil constraints and come close to goals or observations; one condition a file."""

from ..value.attributes import explain_names
from .base import Assembler
from .condition import Condition
from .inverse_kinematics import InverseKinematics, Reached
from .local_energy_minimizer import LocalEnergyMinimizer
from .markers import Markers
from .observed_point_fitter import ObservedPointFitter
from .orientation_sensors import OrientationSensors
from .q_value import QValue
from .system_constraints import SystemConstraints

__all__ = [
    "Assembler",
    "Condition",
    "InverseKinematics",
    "LocalEnergyMinimizer",
    "Markers",
    "ObservedPointFitter",
    "OrientationSensors",
    "QValue",
    "Reached",
    "SystemConstraints",
]

explain_names(__name__)
