"""ElasticFoundation: contact of meshes, a spring at the middle of each face, with the friction of Hollars.

s the middle of a face of area A, p the point of the other surface nearest to it, where s is inside that
x = |s - p|   n = (s - p) / x

f = k A x (1 + c x') along n, zero where it would pull, at p   PE = 1/2 k A x^2
friction f (min(v, 1) (mu_d + 2 (mu_s - mu_d) / (1 + v^2)) + mu_v v_t v), v the slip speed by the transition velocity v_t

k, c and mu are those of the face's own mesh; of two meshes the faces of both act, with half their areas. What is dissipated is
as in `contact.law`. Source: Simbody's ElasticFoundationForce.
"""

from __future__ import annotations

from typing import ClassVar

from ..compiling import Routine
from ..contact import shape
from ._listed_surfaces import ListedSurfaces
from .contact.fields import Placed
from .contact.law import elastic_foundation


class ElasticFoundation(ListedSurfaces):
    """Contact of meshes with each other and with other surfaces, by the law of the reference's older subsystem of contact.

    `CompliantContactSubsystem` is the newer one: its faces count by their angle to the other surface, it combines both
    materials and the thickness of their layers, and its friction is smooth.

    Parameters
    ----------
    surfaces : iterable of (MobilizedBody, Surface, Transform)
        Each a body, a surface, and the surface's frame in its body, which may be left out; any two on different bodies, that
        have no clique in common and of which one is a mesh, touch. The stiffness of a mesh's material is pressure by depth
        here; materials of others, and thicknesses, do not count.
    transition_velocity : float
        The slip speed from which on friction is that of sliding, above zero; length/time.

    Raises
    ------
    TypeError, ModelError
        If a surface is none, or the transition velocity not above zero; at the topology, if there is no law for two shapes.
    TopologyError
        If a body belongs to another system.

    Notes
    -----
    A face counts whole or not at all, by its middle, whatever its angle to the other surface (those turned away from it do not
    count, and in the reference do), so that a sphere of faces gets
    some percent too much force. Friction rises from zero as of a damper, up to the transition velocity: what should stick
    creeps.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    >>> corners = [(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)]
    >>> mesh = mb.contact.TriangleMesh(corners, [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
    >>> mass = mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1))
    >>> piece = mb.mobilizer.Translation(matter.ground, mb.body.Rigid(mass))
    >>> rubber = mb.contact.Material(1e6, 0.5)
    >>> floor = mb.contact.Surface(mb.contact.HalfSpace(), rubber)
    >>> skin = mb.contact.Surface(mesh, rubber, thickness=0.01)
    >>> contact = mb.force.ElasticFoundation(forces, [(matter.ground, floor), (piece, skin)])
    >>> state = system.realize_topology()
    >>> piece.set_translation(state, (0, 0, -0.01))
    >>> system.realize(state, mb.Stage.VELOCITY)
    >>> body_forces, _, _ = contact.calc_force_contribution(state)
    >>> bool(body_forces[1, 1, 2] > 10.0)
    True
    """

    law: ClassVar[Routine] = elastic_foundation
    shapes = frozenset({shape.HALF_SPACE, shape.SPHERE, shape.ELLIPSOID, shape.BRICK, shape.TRIANGLE_MESH})
    remedy = "CompliantContactSubsystem has"

    def _touch(self, a: Placed, b: Placed) -> bool:
        return super()._touch(a, b) and shape.TRIANGLE_MESH in (a.surface.geometry.KIND, b.surface.geometry.KIND)
