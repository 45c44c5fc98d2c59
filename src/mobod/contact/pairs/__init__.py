"""Where two surfaces overlap: a routine for each pair of kinds of shape, see `contact.access`."""

from ...compiling import Routine
from ..shape import HALF_SPACE, SPHERE
from ._meshes_and_fields import OF_MESHES_AND_FIELDS
from .half_space_sphere import half_space_sphere
from .sphere_sphere import sphere_sphere

#: The routine of each pair of kinds, the lower first. A pair that is not here cannot touch: an error at the topology.
PAIRS: dict[tuple[int, int], Routine] = {
    (HALF_SPACE, SPHERE): half_space_sphere,
    (SPHERE, SPHERE): sphere_sphere,
    **OF_MESHES_AND_FIELDS,
}
