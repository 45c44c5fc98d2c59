"""The kinds of mobilizer, one a file: what connects a body to its parent, and lets it move.

`mobod.MobilizedBody` is their base class. CONTRIBUTING.md says how to add one.
"""

from .ball import Ball
from .base import Direction
from .cylinder import Cylinder
from .free import Free
from .freeline import FreeLine
from .ground import Ground
from .lineorientation import LineOrientation
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
KINDS = (Pin, Slider, Cylinder, Universal, Planar, Translation, Ball, Free, LineOrientation, FreeLine, Weld)

__all__ = [
    "KINDS",
    "Ball",
    "Cartesian",
    "CartesianCoords",
    "Cylinder",
    "Direction",
    "Free",
    "FreeLine",
    "Ground",
    "LineOrientation",
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
