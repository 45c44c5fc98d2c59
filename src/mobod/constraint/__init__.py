"""The kinds of constraints: equations between bodies, or between coordinates, that the motion keeps."""

from .ball import Ball
from .constant_angle import ConstantAngle
from .constant_orientation import ConstantOrientation
from .line_on_line_contact import LineOnLineContact
from .no_slip_1d import NoSlip1D
from .point_in_plane import PointInPlane
from .point_on_line import PointOnLine
from .point_on_plane_contact import PointOnPlaneContact
from .rod import Rod
from .sphere_on_plane_contact import SphereOnPlaneContact
from .sphere_on_sphere_contact import SphereOnSphereContact
from .weld import Weld

__all__ = [
    "Ball",
    "ConstantAngle",
    "ConstantOrientation",
    "LineOnLineContact",
    "NoSlip1D",
    "PointInPlane",
    "PointOnLine",
    "PointOnPlaneContact",
    "Rod",
    "SphereOnPlaneContact",
    "SphereOnSphereContact",
    "Weld",
]
