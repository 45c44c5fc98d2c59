"""HuntCrossley: contact of smooth shapes by Hertz's force, with the friction of Hollars.

f = 4/3 E sqrt(R) x^(3/2) (1 + 3/2 c x'), zero where it would pull   PE = 8/15 E sqrt(R) x^(5/2)
friction f (min(v, 1) (mu_d + 2 (mu_s - mu_d) / (1 + v^2)) + mu_v v_t v), v the slip speed by the transition velocity v_t

E, c and mu of both materials, and what is dissipated, as in `contact.law`; R = 1 / sqrt(k_max k_min) of the relative
curvatures. Source: Simbody's HuntCrossleyForce, but for its radii of ellipsoids, and that it drops contacts after one that
pulls.
"""

from __future__ import annotations

from typing import ClassVar

from ..compiling import Routine
from ..contact import shape
from ._listed_surfaces import ListedSurfaces
from .contact.law import hunt_crossley


class HuntCrossley(ListedSurfaces):
    """Contact among smooth surfaces of a list, by the law of the reference's older subsystem of contact.

    `CompliantContactSubsystem` is the newer one: it knows more shapes, and Hertz's ellipse; its friction is smooth.

    Parameters
    ----------
    surfaces : iterable of (MobilizedBody, Surface, Transform)
        Each a body, a surface, and the surface's frame in its body, which may be left out; any two on different bodies, that
        have no clique in common, touch.
    transition_velocity : float
        The slip speed from which on friction is that of sliding, above zero; length/time.

    Raises
    ------
    TypeError, ModelError
        If a surface is none, or of a shape with corners, or the transition velocity not above zero; at the topology, if there
        is no law for two shapes.
    TopologyError
        If a body belongs to another system.

    Notes
    -----
    Friction rises from zero as of a damper, up to the transition velocity: what should stick creeps.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    >>> mass = mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1))
    >>> ball = mb.mobilizer.Translation(matter.ground, mb.body.Rigid(mass))
    >>> rubber = mb.contact.Material(1e6, 0.5, static_friction=0.9)
    >>> floor, skin = mb.contact.Surface(mb.contact.HalfSpace(), rubber), mb.contact.Surface(mb.contact.Sphere(0.1), rubber)
    >>> contact = mb.force.HuntCrossley(forces, [(matter.ground, floor), (ball, skin)])
    >>> state = system.realize_topology()
    >>> ball.set_translation(state, (0, 0, 0.09))
    >>> system.realize(state, mb.Stage.VELOCITY)
    >>> body_forces, _, _ = contact.calc_force_contribution(state)
    >>> bool(body_forces[1, 1, 2] > 100.0)
    True
    """

    law: ClassVar[Routine] = hunt_crossley
    shapes = frozenset({shape.HALF_SPACE, shape.SPHERE, shape.CAPSULE, shape.ELLIPSOID, shape.TORUS})
    remedy = "CompliantContactSubsystem has"
