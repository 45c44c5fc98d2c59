"""The kinds of constraints: equations between bodies, or between coordinates, that the motion keeps."""

from ..value.attributes import explain_names
from ._check_custom import check_custom
from ._custom_compiled import CompiledFunctions
from .ball import Ball
from .constant_acceleration import ConstantAcceleration
from .constant_angle import ConstantAngle
from .constant_coordinate import ConstantCoordinate
from .constant_orientation import ConstantOrientation
from .constant_speed import ConstantSpeed
from .coordinate_coupler import CoordinateCoupler
from .custom import Custom
from .custom_implementation import CustomImplementation
from .line_on_line_contact import LineOnLineContact
from .no_slip_1d import NoSlip1D
from .point_in_plane import PointInPlane
from .point_on_line import PointOnLine
from .point_on_plane_contact import PointOnPlaneContact
from .prescribed_motion import PrescribedMotion
from .prescribed_velocity import PrescribedVelocity
from .rod import Rod
from .speed_coupler import SpeedCoupler
from .sphere_on_plane_contact import SphereOnPlaneContact
from .sphere_on_sphere_contact import SphereOnSphereContact
from .weld import Weld

__all__ = [
    "Ball",
    "CompiledFunctions",
    "ConstantAcceleration",
    "ConstantAngle",
    "ConstantCoordinate",
    "ConstantOrientation",
    "ConstantSpeed",
    "CoordinateCoupler",
    "Custom",
    "CustomImplementation",
    "LineOnLineContact",
    "NoSlip1D",
    "PointInPlane",
    "PointOnLine",
    "PointOnPlaneContact",
    "PrescribedMotion",
    "PrescribedVelocity",
    "Rod",
    "SpeedCoupler",
    "SphereOnPlaneContact",
    "SphereOnSphereContact",
    "Weld",
    "check_custom",
]

explain_names(__name__)
