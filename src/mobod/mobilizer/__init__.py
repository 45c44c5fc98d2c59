"""The kinds of mobilizer, one a file: what connects a body to its parent, and lets it move.

`mobod.MobilizedBody` is their base class. CONTRIBUTING.md says how to add one.
"""

from .ball import Ball
from .base import Direction
from .bushing import Bushing
from .cylinder import Cylinder
from .ellipsoid import Ellipsoid
from .free import Free
from .gimbal import Gimbal
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
KINDS = (Pin, Slider, Cylinder, Universal, Planar, Gimbal, Bushing, Translation, Ball, Ellipsoid, Free, Weld)

__all__ = [
    "KINDS",
    "Ball",
    "Bushing",
    "Cartesian",
    "CartesianCoords",
    "Cylinder",
    "Direction",
    "Ellipsoid",
    "Free",
    "Gimbal",
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
