"""Where two surfaces overlap: a routine for each pair of kinds of shape, see `contact.access`."""

from ...compiling import Routine
from ..shape import (
    BRICK,
    CAPSULE,
    CONVEX_HULL,
    CYLINDER,
    ELLIPSOID,
    HALF_SPACE,
    SPHERE,
    TORUS,
    TRIANGLE_MESH,
)
from .convex_triangle_mesh import (
    brick_triangle_mesh,
    capsule_triangle_mesh,
    convex_hull_triangle_mesh,
    cylinder_triangle_mesh,
    ellipsoid_triangle_mesh,
    half_space_triangle_mesh,
    sphere_triangle_mesh,
    torus_triangle_mesh,
)
from .half_space_sphere import half_space_sphere
from .sphere_sphere import sphere_sphere
from .triangle_mesh_triangle_mesh import triangle_mesh_triangle_mesh

#: The routine of each pair of kinds, the lower first. A pair that is not here cannot touch: an error at the topology.
PAIRS: dict[tuple[int, int], Routine] = {
    (HALF_SPACE, SPHERE): half_space_sphere,
    (SPHERE, SPHERE): sphere_sphere,
    (HALF_SPACE, TRIANGLE_MESH): half_space_triangle_mesh,
    (SPHERE, TRIANGLE_MESH): sphere_triangle_mesh,
    (CAPSULE, TRIANGLE_MESH): capsule_triangle_mesh,
    (CYLINDER, TRIANGLE_MESH): cylinder_triangle_mesh,
    (BRICK, TRIANGLE_MESH): brick_triangle_mesh,
    (ELLIPSOID, TRIANGLE_MESH): ellipsoid_triangle_mesh,
    (TORUS, TRIANGLE_MESH): torus_triangle_mesh,
    (CONVEX_HULL, TRIANGLE_MESH): convex_hull_triangle_mesh,
    (TRIANGLE_MESH, TRIANGLE_MESH): triangle_mesh_triangle_mesh,
}
