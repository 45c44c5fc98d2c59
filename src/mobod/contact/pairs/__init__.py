"""Where two surfaces overlap: a routine for each pair of kinds of shape, see `contact.access`."""

from ...compiling import Routine
from ..shape import BRICK, CAPSULE, CONVEX_HULL, CYLINDER, ELLIPSOID, HALF_SPACE, SPHERE
from .general_convex import general_convex
from .half_space_sphere import half_space_sphere
from .sphere_sphere import sphere_sphere

#: Of these kinds any two can touch by `general_convex`.
_CONVEX = (SPHERE, CAPSULE, CYLINDER, BRICK, ELLIPSOID, CONVEX_HULL)

#: The routine of each pair of kinds, the lower first. A pair that is not here cannot touch: an error at the topology.
PAIRS: dict[tuple[int, int], Routine] = {
    **{(a, b): general_convex for a in _CONVEX for b in _CONVEX if a <= b},
    (HALF_SPACE, SPHERE): half_space_sphere,
    (SPHERE, SPHERE): sphere_sphere,
}
