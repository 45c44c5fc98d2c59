"""Rigid contact: what touches and lets go, bounces, sticks and slides; one kind a file.

Users find the kinds in `mobod.contact`.
"""

from .base import UnilateralContact as UnilateralContact
from .cam_follower import CamFollower as CamFollower
from .edge_edge import EdgeEdge as EdgeEdge
from .hard_stop_lower import HardStopLower as HardStopLower
from .hard_stop_upper import HardStopUpper as HardStopUpper
from .joint_friction import JointFriction as JointFriction
from .point_plane import PointPlane as PointPlane
from .rope import Rope as Rope
from .sphere_plane import SpherePlane as SpherePlane
from .sphere_sphere import SphereSphere as SphereSphere
from .state_limited_friction import StateLimitedFriction as StateLimitedFriction
from .surfaces import rigid as rigid
