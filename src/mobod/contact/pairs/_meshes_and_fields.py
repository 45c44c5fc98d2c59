"""The pairs in which there is a TriangleMesh or a HeightField: part of `PAIRS`."""

from ...compiling import Routine
from ..shape import (
    BRICK,
    CAPSULE,
    CONVEX_HULL,
    CYLINDER,
    ELLIPSOID,
    HALF_SPACE,
    HEIGHT_FIELD,
    SPHERE,
    TORUS,
    TRIANGLE_MESH,
)  # fmt: skip
from . import convex_triangle_mesh as mesh
from .capsule_height_field import capsule_height_field
from .corners_height_field import brick_height_field, convex_hull_height_field
from .cylinder_height_field import cylinder_height_field
from .ellipsoid_height_field import ellipsoid_height_field
from .sphere_height_field import sphere_height_field
from .torus_height_field import torus_height_field
from .triangle_mesh_height_field import triangle_mesh_height_field
from .triangle_mesh_triangle_mesh import triangle_mesh_triangle_mesh

OF_MESHES_AND_FIELDS: dict[tuple[int, int], Routine] = {
    (HALF_SPACE, TRIANGLE_MESH): mesh.half_space_triangle_mesh,
    (SPHERE, TRIANGLE_MESH): mesh.sphere_triangle_mesh,
    (CAPSULE, TRIANGLE_MESH): mesh.capsule_triangle_mesh,
    (CYLINDER, TRIANGLE_MESH): mesh.cylinder_triangle_mesh,
    (BRICK, TRIANGLE_MESH): mesh.brick_triangle_mesh,
    (ELLIPSOID, TRIANGLE_MESH): mesh.ellipsoid_triangle_mesh,
    (TORUS, TRIANGLE_MESH): mesh.torus_triangle_mesh,
    (CONVEX_HULL, TRIANGLE_MESH): mesh.convex_hull_triangle_mesh,
    (TRIANGLE_MESH, TRIANGLE_MESH): triangle_mesh_triangle_mesh,
    (SPHERE, HEIGHT_FIELD): sphere_height_field,
    (CAPSULE, HEIGHT_FIELD): capsule_height_field,
    (CYLINDER, HEIGHT_FIELD): cylinder_height_field,
    (BRICK, HEIGHT_FIELD): brick_height_field,
    (ELLIPSOID, HEIGHT_FIELD): ellipsoid_height_field,
    (TORUS, HEIGHT_FIELD): torus_height_field,
    (CONVEX_HULL, HEIGHT_FIELD): convex_hull_height_field,
    (TRIANGLE_MESH, HEIGHT_FIELD): triangle_mesh_height_field,
}
