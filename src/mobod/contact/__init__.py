"""Contact surfaces: shapes, what they are made of, and where two of them overlap. `mb.contact.Sphere` and others.

Plain data, which a body carries: ``body.add_contact_surface(Surface(Sphere(0.1), material))``; and `pairs`, the kernels that
find contacts, `access` what these read and write. Forces are elsewhere: `force.contact`. The kinds of rigid contact,
which users find here too, are in the room `unilateral`.
"""

import importlib
import sys
from typing import Any

from ..value.attributes import explain_names, missing_name
from .brick import Brick
from .capsule import Capsule
from .convex_hull import ConvexHull
from .cylinder import Cylinder
from .ellipsoid import Ellipsoid
from .half_space import HalfSpace
from .height_field import HeightField
from .material import Material
from .separation import separate
from .shape import Shape
from .sphere import Sphere
from .surface import Surface
from .torus import Torus
from .triangle_mesh import TriangleMesh

#: Kinds of the room `unilateral`, above this one: imported when they are first asked for.
_RIGID = "CamFollower EdgeEdge HardStopLower HardStopUpper JointFriction PointPlane Rope SpherePlane SphereSphere rigid".split()

__all__ = [
    "Brick",
    "Capsule",
    "ConvexHull",
    "Cylinder",
    "Ellipsoid",
    "HalfSpace",
    "HeightField",
    "Material",
    "Shape",
    "Sphere",
    "Surface",
    "Torus",
    "TriangleMesh",
    "separate",
    *_RIGID,
]


def __getattr__(name: str) -> Any:
    if name in _RIGID:
        value = globals()[name] = getattr(importlib.import_module("mobod.unilateral"), name)
        return value
    raise missing_name(sys.modules[__name__], name)


def __dir__() -> list[str]:
    return __all__


explain_names(__name__)
