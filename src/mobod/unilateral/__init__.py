"""Rigid contact: what touches and lets go, bounces, sticks and slides; one kind a file.

Users find the kinds in `mobod.contact`.
"""

from .base import UnilateralContact
from .cam_follower import CamFollower
from .edge_edge import EdgeEdge
from .hard_stop_lower import HardStopLower
from .hard_stop_upper import HardStopUpper
from .joint_friction import JointFriction
from .point_plane import PointPlane
from .rope import Rope
from .sphere_plane import SpherePlane
from .sphere_sphere import SphereSphere
from .state_limited_friction import StateLimitedFriction
from .surfaces import rigid

__all__ = [
    "CamFollower",
    "EdgeEdge",
    "HardStopLower",
    "HardStopUpper",
    "JointFriction",
    "PointPlane",
    "Rope",
    "SpherePlane",
    "SphereSphere",
    "StateLimitedFriction",
    "UnilateralContact",
    "rigid",
]
