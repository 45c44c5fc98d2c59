"""Assembling: coordinates that fulfil constraints and come close to goals or observations; one condition a file."""

from ..value.attributes import explain_names
from .base import Assembler
from .condition import Condition
from .local_energy_minimizer import LocalEnergyMinimizer
from .markers import Markers
from .observed_point_fitter import ObservedPointFitter
from .orientation_sensors import OrientationSensors
from .q_value import QValue
from .system_constraints import SystemConstraints

__all__ = [
    "Assembler",
    "Condition",
    "LocalEnergyMinimizer",
    "Markers",
    "ObservedPointFitter",
    "OrientationSensors",
    "QValue",
    "SystemConstraints",
]

explain_names(__name__)
