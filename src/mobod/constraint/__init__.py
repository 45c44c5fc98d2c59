"""The kinds of constraints: equations between bodies, or between coordinates, that the motion keeps."""

from ..value.attributes import explain_names
from ._check_custom import check_custom as check_custom
from ._custom_compiled import CompiledFunctions as CompiledFunctions
from .ball import Ball as Ball
from .constant_acceleration import ConstantAcceleration as ConstantAcceleration
from .constant_angle import ConstantAngle as ConstantAngle
from .constant_coordinate import ConstantCoordinate as ConstantCoordinate
from .constant_orientation import ConstantOrientation as ConstantOrientation
from .constant_speed import ConstantSpeed as ConstantSpeed
from .coordinate_coupler import CoordinateCoupler as CoordinateCoupler
from .custom import Custom as Custom
from .custom_implementation import CustomImplementation as CustomImplementation
from .line_on_line_contact import LineOnLineContact as LineOnLineContact
from .no_slip_1d import NoSlip1D as NoSlip1D
from .point_in_plane import PointInPlane as PointInPlane
from .point_on_line import PointOnLine as PointOnLine
from .point_on_plane_contact import PointOnPlaneContact as PointOnPlaneContact
from .prescribed_motion import PrescribedMotion as PrescribedMotion
from .prescribed_velocity import PrescribedVelocity as PrescribedVelocity
from .rod import Rod as Rod
from .speed_coupler import SpeedCoupler as SpeedCoupler
from .sphere_on_plane_contact import SphereOnPlaneContact as SphereOnPlaneContact
from .sphere_on_sphere_contact import SphereOnSphereContact as SphereOnSphereContact
from .weld import Weld as Weld

explain_names(__name__)
