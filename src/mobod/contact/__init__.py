"""Contact surfaces: shapes, what they are made of, and where two of them overlap. `mb.contact.Sphere` and others.

Plain data, which a body carries: ``body.add_contact_surface(Surface(Sphere(0.1), material))``; and `pairs`, the kernels that
find contacts, `access` what these read and write. Forces are elsewhere: `force.contact`.
"""

from ..value.attributes import explain_names
from .half_space import HalfSpace
from .material import Material
from .shape import Shape
from .sphere import Sphere
from .surface import Surface
from .triangle_mesh import TriangleMesh

__all__ = ["HalfSpace", "Material", "Shape", "Sphere", "Surface", "TriangleMesh"]

explain_names(__name__)
