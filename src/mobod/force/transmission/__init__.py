"""Transmissions: what an actuator, a spring or a damper of one length acts through.

A transmission has a length l, a function of q, and a speed that is linear in u; a force f along it is the generalized force
f d(speed)/du. One kind a file: `Coordinates`, `StraightPath`, `Path`, `CableSpan`, `FunctionBasedPath`, `WrappedPath`,
`BodyWrench`, `RelativePose`, `SliderCrank`, `LineOfAction`; `base` says what a new kind provides. `force.Actuator` and
`force.TransmissionSpring` act through any of them.
"""

from ...value.attributes import explain_names
from .base import Transmission as Transmission
from .body_wrench import BodyWrench as BodyWrench
from .cable_span import CableSpan as CableSpan
from .coordinates import Coordinates as Coordinates
from .function_based_path import FunctionBasedPath as FunctionBasedPath
from .line_of_action import LineOfAction as LineOfAction
from .path import Path as Path
from .relative_pose import RelativePose as RelativePose
from .slider_crank import SliderCrank as SliderCrank
from .straight_path import StraightPath as StraightPath
from .surfaces import (
    ConditionalPoint as ConditionalPoint,
    MovingPoint as MovingPoint,
    PathWrap as PathWrap,
    WrapCylinder as WrapCylinder,
    WrapEllipsoid as WrapEllipsoid,
    WrapSphere as WrapSphere,
    WrapTorus as WrapTorus,
)
from .wrapped_path import Wrap as Wrap, WrappedPath as WrappedPath

explain_names(__name__)
