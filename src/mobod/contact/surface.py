"""Surface: a shape and what it is made of, to be fixed on a body."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy.typing as npt

from ..value import checks
from .material import Material
from .shape import Shape


@dataclass(frozen=True, eq=False, slots=True)
class Surface:
    """A surface that can touch others: a shape, and the material that gives way.

    ``body.add_contact_surface(surface, X_BS)`` fixes it on a body; it may be on many.

    Parameters
    ----------
    geometry : shape
        A kind of `mobod.contact`, such as ``Sphere(0.1)``.
    material : Material
        Stiffness, dissipation and friction.
    thickness : float, optional
        Of the elastic layer of meshes, above zero; length. Where one of two surfaces has none, the other's holds.
    cliques : str or iterable of str
        Names of groups: surfaces that have one in common do not touch each other.
    name : str, optional
        For messages and tables; by default its body's, and its number there.
    velocity : array_like (3,), optional
        Of the material of the surface from its body, in the surface's frame; length/time: a conveyor's belt, which runs while
        the body stands. Of it counts what lies in the plane of a contact. A state can have another one, by
        ``contacts.set_surface_velocity``, of a surface that was given one, which may be zero.
    draws : bool
        Whether the body gets a decoration of the same shape.

    Raises
    ------
    TypeError
        If the geometry is no shape, the material no Material, the thickness no number, or a clique no string.
    ModelError
        If the thickness is not above zero, or the velocity is not three finite numbers.

    Examples
    --------
    >>> import mobod as mb
    >>> rubber = mb.contact.Material(stiffness=1e6, dissipation=0.5, static_friction=0.9)
    >>> surface = mb.contact.Surface(mb.contact.Sphere(0.1), rubber, name="tyre")
    >>> ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> ball.add_contact_surface(surface)
    0
    """

    geometry: Shape
    material: Material
    thickness: float | None
    cliques: frozenset[str]
    name: str | None
    velocity: tuple[float, float, float] | None
    draws: bool

    def __init__(
        self,
        geometry: Shape,
        material: Material,
        *,
        thickness: float | None = None,
        cliques: str | Iterable[str] = (),
        name: str | None = None,
        velocity: npt.ArrayLike | None = None,
        draws: bool = True,
    ) -> None:
        checks.instance("geometry", geometry, Shape, "contact.Sphere(0.1)")
        checks.instance("material", material, Material, "contact.Material(stiffness, ...)")
        if not isinstance(cliques, Iterable):
            raise TypeError(f"cliques are names, strings, not {cliques!r}")
        groups = [cliques] if isinstance(cliques, str) else list(cliques)
        for group in groups:
            if not isinstance(group, str):
                raise TypeError(f"cliques are names, strings, not {group!r}")
        values = {
            "geometry": geometry,
            "material": material,
            "thickness": None if thickness is None else checks.positive("thickness", thickness),
            "cliques": frozenset(groups),
            "name": None if name is None else checks.name("surface", name),
            "velocity": None if velocity is None else surface_velocity(velocity),
            "draws": checks.flag("draws", draws),
        }
        for field, value in values.items():
            object.__setattr__(self, field, value)


def surface_velocity(velocity: npt.ArrayLike) -> tuple[float, float, float]:
    """Three finite numbers, checked."""
    x, y, z = (float(x) for x in checks.vector("velocity of a Surface", velocity))
    return x, y, z
