"""The kinds of constraints: equations between bodies, or between coordinates, that the motion keeps."""

from .ball import Ball
from .constant_acceleration import ConstantAcceleration
from .constant_coordinate import ConstantCoordinate
from .constant_speed import ConstantSpeed
from .coordinate_coupler import CoordinateCoupler
from .prescribed_motion import PrescribedMotion
from .prescribed_velocity import PrescribedVelocity
from .rod import Rod
from .speed_coupler import SpeedCoupler

__all__ = [
    "Ball",
    "ConstantAcceleration",
    "ConstantCoordinate",
    "ConstantSpeed",
    "CoordinateCoupler",
    "PrescribedMotion",
    "PrescribedVelocity",
    "Rod",
    "SpeedCoupler",
]
