"""The kinds of mobilizer, one a file: what connects a body to its parent, and lets it move.

`mobod.MobilizedBody` is their base class. CONTRIBUTING.md says how to add one.
"""

from .ball import Ball
from .base import Direction
from .custom import Custom
from .custom_implementation import CustomImplementation
from .cylinder import Cylinder
from .free import Free
from .function_based import FunctionBased
from .ground import Ground
from .pin import Pin
from .planar import Planar
from .slider import Slider
from .translation import Translation
from .universal import Universal
from .weld import Weld

Torsion = Revolute = Pin
Prismatic = Slider
Cartesian = CartesianCoords = Translation
Orientation = Spherical = Ball

#: Every kind that can be made, for tests that hold for all of them.
KINDS = (Pin, Slider, Cylinder, Universal, Planar, Translation, Ball, Free, Weld)

__all__ = [
    "KINDS",
    "Ball",
    "Cartesian",
    "CartesianCoords",
    "Custom",
    "CustomImplementation",
    "Cylinder",
    "Direction",
    "Free",
    "FunctionBased",
    "Ground",
    "Orientation",
    "Pin",
    "Planar",
    "Prismatic",
    "Revolute",
    "Slider",
    "Spherical",
    "Torsion",
    "Translation",
    "Universal",
    "Weld",
]
