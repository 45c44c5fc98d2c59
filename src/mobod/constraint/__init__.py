"""The kinds of constraints: equations between bodies, or between coordinates, that the motion keeps."""

from ._check_custom import check_custom
from .ball import Ball
from .compiled_functions import CompiledFunctions
from .constant_acceleration import ConstantAcceleration
from .constant_coordinate import ConstantCoordinate
from .constant_speed import ConstantSpeed
from .coordinate_coupler import CoordinateCoupler
from .custom import Custom
from .custom_implementation import CustomImplementation
from .prescribed_motion import PrescribedMotion
from .prescribed_velocity import PrescribedVelocity
from .rod import Rod
from .speed_coupler import SpeedCoupler

__all__ = [
    "Ball",
    "CompiledFunctions",
    "ConstantAcceleration",
    "ConstantCoordinate",
    "ConstantSpeed",
    "CoordinateCoupler",
    "Custom",
    "CustomImplementation",
    "PrescribedMotion",
    "PrescribedVelocity",
    "Rod",
    "SpeedCoupler",
    "check_custom",
]
