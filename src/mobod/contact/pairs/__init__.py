"""Where two surfaces overlap: a routine for each pair of kinds of shape, see `contact.access`."""

from ...compiling import Routine
from ..shape import BRICK, CAPSULE, CONVEX_HULL, CYLINDER, ELLIPSOID, HALF_SPACE, SPHERE, TORUS
from ._meshes_and_fields import OF_MESHES_AND_FIELDS
from .capsule_capsule import capsule_capsule
from .general_convex import general_convex
from .half_space_brick import half_space_brick
from .half_space_capsule import half_space_capsule
from .half_space_convex_hull import half_space_convex_hull
from .half_space_cylinder import half_space_cylinder
from .half_space_ellipsoid import half_space_ellipsoid
from .half_space_sphere import half_space_sphere
from .half_space_torus import half_space_torus
from .sphere_sphere import sphere_sphere
from .spheres_and_tori import OF_SPHERES_AND_TORI

#: Of these kinds any two can touch by `general_convex`.
_CONVEX = (SPHERE, CAPSULE, CYLINDER, BRICK, ELLIPSOID, CONVEX_HULL)

#: The routine of each pair of kinds, the lower first. A pair that is not here cannot touch: an error at the topology.
PAIRS: dict[tuple[int, int], Routine] = {
    **{(a, b): general_convex for a in _CONVEX for b in _CONVEX if a <= b},
    (HALF_SPACE, SPHERE): half_space_sphere,
    (HALF_SPACE, CAPSULE): half_space_capsule,
    (HALF_SPACE, CYLINDER): half_space_cylinder,
    (HALF_SPACE, BRICK): half_space_brick,
    (HALF_SPACE, ELLIPSOID): half_space_ellipsoid,
    (HALF_SPACE, TORUS): half_space_torus,
    (HALF_SPACE, CONVEX_HULL): half_space_convex_hull,
    (SPHERE, SPHERE): sphere_sphere,
    (CAPSULE, CAPSULE): capsule_capsule,
    **OF_SPHERES_AND_TORI,
    **OF_MESHES_AND_FIELDS,
}
