"""The kinds of mobilizer, one a file: what connects a body to its parent, and lets it move.

`mobod.MobilizedBody` is their base class. CONTRIBUTING.md says how to add one.
"""

from ..value.attributes import explain_names
from ._custom_compiled import CompiledFunctions as CompiledFunctions
from .ball import Ball as Ball
from .base import Direction as Direction
from .bend_stretch import BendStretch as BendStretch
from .bushing import Bushing as Bushing
from .cantilever_free_beam import CantileverFreeBeam as CantileverFreeBeam
from .custom import Custom as Custom
from .custom_check import CustomReport as CustomReport, check_custom as check_custom
from .custom_implementation import CustomImplementation as CustomImplementation
from .cylinder import Cylinder as Cylinder
from .ellipsoid import Ellipsoid as Ellipsoid
from .free import Free as Free
from .free_line import FreeLine as FreeLine
from .function_based import FunctionBased as FunctionBased
from .gimbal import Gimbal as Gimbal
from .ground import Ground as Ground
from .line_orientation import LineOrientation as LineOrientation
from .pin import Pin as Pin
from .planar import Planar as Planar
from .screw import Screw as Screw
from .slider import Slider as Slider
from .spherical_coords import SphericalCoords as SphericalCoords
from .translation import Translation as Translation
from .universal import Universal as Universal
from .weld import Weld as Weld

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


explain_names(__name__)
