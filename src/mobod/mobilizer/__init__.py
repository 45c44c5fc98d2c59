"""The kinds of mobilizer, one a file: what connects a body to its parent, and lets it move.

`mobod.MobilizedBody` is their base class. CONTRIBUTING.md says how to add one.
"""

from ..value.attributes import explain_names
from ._custom_compiled import CompiledFunctions
from .ball import Ball
from .base import Direction
from .bend_stretch import BendStretch
from .bushing import Bushing
from .cantilever_free_beam import CantileverFreeBeam
from .custom import Custom
from .custom_check import CustomReport, check_custom
from .custom_implementation import CustomImplementation
from .cylinder import Cylinder
from .ellipsoid import Ellipsoid
from .free import Free
from .free_line import FreeLine
from .function_based import FunctionBased
from .gimbal import Gimbal
from .ground import Ground
from .line_orientation import LineOrientation
from .pin import Pin
from .planar import Planar
from .screw import Screw
from .slider import Slider
from .spherical_coords import SphericalCoords
from .translation import Translation
from .universal import Universal
from .weld import Weld

Torsion = Revolute = Pin
Prismatic = Slider
PolarCoords = BendStretch
Cartesian = CartesianCoords = Translation
Orientation = Spherical = Ball

#: Every kind that can be made, for tests that hold for all of them: the usual ones first, of which they make small trees.
KINDS = (
    Pin,
    Slider,
    Cylinder,
    Universal,
    Planar,
    Gimbal,
    Bushing,
    Translation,
    Ball,
    Ellipsoid,
    Free,
    LineOrientation,
    FreeLine,
    Weld,
    Screw,
    BendStretch,
    SphericalCoords,
    CantileverFreeBeam,
)

__all__ = [
    "KINDS",
    "Ball",
    "BendStretch",
    "Bushing",
    "CantileverFreeBeam",
    "Cartesian",
    "CartesianCoords",
    "CompiledFunctions",
    "Custom",
    "CustomImplementation",
    "CustomReport",
    "Cylinder",
    "Direction",
    "Ellipsoid",
    "Free",
    "FreeLine",
    "FunctionBased",
    "Gimbal",
    "Ground",
    "LineOrientation",
    "Orientation",
    "Pin",
    "Planar",
    "PolarCoords",
    "Prismatic",
    "Revolute",
    "Screw",
    "Slider",
    "Spherical",
    "SphericalCoords",
    "Torsion",
    "Translation",
    "Universal",
    "Weld",
    "check_custom",
]

explain_names(__name__)
