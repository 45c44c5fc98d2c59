"""Transmissions: what an actuator, a spring or a damper of one length acts through.

A transmission has a length l, a function of q, and a speed that is linear in u; a force f along it is the generalized force
f d(speed)/du. One kind a file: `Coordinates`, `StraightPath`, `Path`, `CableSpan`, `FunctionBasedPath`, `WrappedPath`,
`BodyWrench`, `RelativePose`, `SliderCrank`; `base` says what a new kind provides. `force.Actuator` and
`force.TransmissionSpring` act through any of them.
"""

from ...value.attributes import explain_names
from .base import Transmission
from .body_wrench import BodyWrench
from .cable_span import CableSpan
from .coordinates import Coordinates
from .function_based_path import FunctionBasedPath
from .path import Path
from .relative_pose import RelativePose
from .slider_crank import SliderCrank
from .straight_path import StraightPath
from .surfaces import ConditionalPoint, MovingPoint, PathWrap, WrapCylinder, WrapEllipsoid, WrapSphere, WrapTorus
from .wrapped_path import Wrap, WrappedPath

#: Every kind.
KINDS: tuple[type[Transmission], ...] = (
    Coordinates,
    StraightPath,
    Path,
    CableSpan,
    FunctionBasedPath,
    WrappedPath,
    BodyWrench,
    RelativePose,
    SliderCrank,
)

__all__ = [
    "KINDS",
    "BodyWrench",
    "CableSpan",
    "ConditionalPoint",
    "Coordinates",
    "FunctionBasedPath",
    "MovingPoint",
    "Path",
    "PathWrap",
    "RelativePose",
    "SliderCrank",
    "StraightPath",
    "Transmission",
    "Wrap",
    "WrapCylinder",
    "WrapEllipsoid",
    "WrapSphere",
    "WrapTorus",
    "WrappedPath",
]

explain_names(__name__)
