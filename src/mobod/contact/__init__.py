"""Contact surfaces: shapes, what they are made of, and where two of them overlap. `mb.contact.Sphere` and others.

Plain data, which a body carries: ``body.add_contact_surface(Surface(Sphere(0.1), material))``; and `pairs`, the kernels that
find contacts, `access` what these read and write. Forces are elsewhere: `force.contact`.
"""

from ..value.attributes import explain_names
from .brick import Brick
from .capsule import Capsule
from .convex_hull import ConvexHull
from .cylinder import Cylinder
from .ellipsoid import Ellipsoid
from .half_space import HalfSpace
from .height_field import HeightField
from .material import Material
from .shape import Shape
from .sphere import Sphere
from .surface import Surface
from .torus import Torus
from .triangle_mesh import TriangleMesh

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
]

explain_names(__name__)
