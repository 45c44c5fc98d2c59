"""Narrow phase: how two surfaces overlap, a routine for each pair of kinds of shape, see `contact.access`."""

from ...compiling import Routine
from ..shape import BRICK, CAPSULE, CONVEX_HULL, CYLINDER, ELLIPSOID, HALF_SPACE, SPHERE, TORUS, TRIANGLE_MESH
from . import convex_triangle_mesh as mesh
from .capsule_capsule import capsule_capsule
from .general_convex import general_convex
from .half_space import OF_HALF_SPACES
from .height_field import OF_HEIGHT_FIELDS
from .spheres_and_tori import OF_SPHERES_AND_TORI
from .triangle_mesh_triangle_mesh import triangle_mesh_triangle_mesh

#: Of these kinds any two can touch by `general_convex`.
_CONVEX = (SPHERE, CAPSULE, CYLINDER, BRICK, ELLIPSOID, CONVEX_HULL)

#: The routine of each pair of kinds, the lower first. A pair that is not here cannot touch: an error at the topology.
PAIRS: dict[tuple[int, int], Routine] = {
    **{(a, b): general_convex for a in _CONVEX for b in _CONVEX if a <= b},
    **OF_HALF_SPACES,
    **OF_SPHERES_AND_TORI,
    (CAPSULE, CAPSULE): capsule_capsule,
    (HALF_SPACE, TRIANGLE_MESH): mesh.half_space_triangle_mesh,
    (SPHERE, TRIANGLE_MESH): mesh.sphere_triangle_mesh,
    (CAPSULE, TRIANGLE_MESH): mesh.capsule_triangle_mesh,
    (CYLINDER, TRIANGLE_MESH): mesh.cylinder_triangle_mesh,
    (BRICK, TRIANGLE_MESH): mesh.brick_triangle_mesh,
    (ELLIPSOID, TRIANGLE_MESH): mesh.ellipsoid_triangle_mesh,
    (TORUS, TRIANGLE_MESH): mesh.torus_triangle_mesh,
    (CONVEX_HULL, TRIANGLE_MESH): mesh.convex_hull_triangle_mesh,
    (TRIANGLE_MESH, TRIANGLE_MESH): triangle_mesh_triangle_mesh,
    **OF_HEIGHT_FIELDS,
}
