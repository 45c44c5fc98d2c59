"""Bodies: a reference frame with mass properties and decorations, what a mobilizer makes a mobilized body of."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from .contact.surface import Surface
from .decoration.geometry import own_copy
from .errors import ModelError
from .value import Inertia, MassProperties, Transform
from .value.attributes import Sealed
from .value.checks import instance, one_of
from .value.frames import frame_or_none

ROUNDING = 1e-9
"""Part of the larger numbers that rounding explains, in what should be zero."""


class Body(Sealed):
    """A body's frame, with its mass properties and its decorations; the base of ``mb.body.Rigid`` and its kin.

    Not created by itself. A body is a pattern: each mobilized body takes a copy of it, so one may be used for many.
    A new kind of body provides:

    1. ``__init__``, which passes its mass properties on to this class's;
    2. ``_check(mass_properties)``, if not every body's mass properties will do: it raises ``ModelError``.

    Examples
    --------
    >>> import mobod as mb
    >>> body = mb.body.Rigid(mb.MassProperties(2.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> isinstance(body, mb.Body)
    True
    """

    def __init__(self, mass_properties: MassProperties) -> None:
        if type(self) is Body:
            raise TypeError("Body is the base of all kinds of bodies; create a body.Rigid, Massless, Particle or Linear")
        self._mass_properties = self.checked(mass_properties)
        self._decorations: list[tuple[Any, Transform]] = []
        self._surfaces: list[tuple[Surface, Transform]] = []

    def checked(self, mass_properties: MassProperties) -> MassProperties:
        """Check what is given, for a body of this kind."""
        instance("mass_properties", mass_properties, MassProperties, "MassProperties(mass, com, inertia)")
        self._check(mass_properties)
        return mass_properties

    def _check(self, mass_properties: MassProperties) -> None:
        """Raise ModelError unless a body of this kind can have these."""

    def get_default_rigid_body_mass_properties(self) -> MassProperties:
        """Get the mass properties that mobilized bodies made of this body start with.

        Returns
        -------
        MassProperties
            About the body's origin, in the body's frame.
        """
        return self._mass_properties

    def set_default_rigid_body_mass_properties(self, mass_properties: MassProperties) -> Self:
        """Set the mass properties that mobilized bodies made of this body start with.

        Parameters
        ----------
        mass_properties : MassProperties
            About the body's origin, in the body's frame. Mobilized bodies that have been made keep theirs.

        Returns
        -------
        Body
            This body.

        Raises
        ------
        ModelError
            If a body of this kind cannot have them.
        """
        self._mass_properties = self.checked(mass_properties)
        return self

    def add_decoration(self, geometry: Any, X_BD: Transform | None = None) -> int:
        """Attach a piece of geometry to this body, for pictures.

        Parameters
        ----------
        geometry : decoration
            What to draw, such as ``mb.decoration.Sphere``; copied.
        X_BD : Transform, optional
            Pose in the body's frame of the geometry's frame D; the identity, if left out.

        Returns
        -------
        int
            Ordinal of the decoration on this body and its copies.

        Raises
        ------
        TypeError
            If *geometry* is not one of the kinds in ``mb.decoration``.
        """
        self._decorations.append((own_copy(geometry), frame_or_none("X_BD", X_BD)))
        return len(self._decorations) - 1

    def get_num_decorations(self) -> int:
        """Get the number of decorations attached to this body."""
        return len(self._decorations)

    def get_decoration(self, i: int) -> tuple[Any, Transform]:
        """Get a decoration by its ordinal.

        Parameters
        ----------
        i : int
            Ordinal, as ``add_decoration`` returned it.

        Returns
        -------
        geometry : decoration
            What is drawn.
        X_BD : Transform
            Where it is drawn, in the body's frame.

        Raises
        ------
        IndexError
            If there is no such decoration.
        """
        return one_of(self._decorations, i, self, "decorations")

    @property
    def decorations(self) -> tuple[tuple[Any, Transform], ...]:
        """The decorations, each with its pose X_BD in the body's frame, in the order of their ordinals."""
        return tuple(self._decorations)

    def add_contact_surface(self, surface: Surface, X_BS: Transform | None = None) -> int:
        """Attach a surface that can touch those of other bodies; it decorates the body too, unless it was told not to.

        Parameters
        ----------
        surface : contact.Surface
            Shape and material.
        X_BS : Transform, optional
            Pose in the body's frame of the surface's frame S; the identity, if left out.

        Returns
        -------
        int
            Ordinal of the surface on this body and its copies.

        Raises
        ------
        TypeError
            If *surface* is no ``mb.contact.Surface``.
        """
        instance("surface", surface, Surface, "contact.Surface(geometry, material)")
        X = frame_or_none("X_BS", X_BS)
        if surface.draws:
            for geometry, X_SD in surface.geometry.decorations():
                self.add_decoration(geometry, X @ X_SD)
        self._surfaces.append((surface, X))
        return len(self._surfaces) - 1

    def get_num_contact_surfaces(self) -> int:
        """Get the number of contact surfaces attached to this body."""
        return len(self._surfaces)

    def get_contact_surface(self, i: int) -> tuple[Surface, Transform]:
        """Get a contact surface, and its pose X_BS, by its ordinal; `IndexError` where there is none."""
        return one_of(self._surfaces, i, self, "contact surfaces")

    @property
    def contact_surfaces(self) -> tuple[tuple[Surface, Transform], ...]:
        """The contact surfaces, each with its pose X_BS in the body's frame, in the order of their ordinals."""
        return tuple(self._surfaces)

    def copy(self) -> Self:
        """Make a body of the same kind, with the same mass properties, and decorations and surfaces of its own lists."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._decorations = [(own_copy(geometry), X_BD) for geometry, X_BD in self._decorations]
        other._surfaces = list(self._surfaces)
        return other

    __copy__ = copy  # decorations are not shared

    def __repr__(self) -> str:
        m = self._mass_properties
        n = len(self._decorations)
        decorated = f", {n} decoration{'s' if n > 1 else ''}" if n else ""
        return f"{type(self).__name__}({m!r}{decorated})"


class Rigid(Body):
    """A rigid body with any mass properties.

    Parameters
    ----------
    mass_properties : MassProperties, optional
        About the body's origin, in its frame. If left out: mass 1 at the origin, moments of inertia 1.

    Examples
    --------
    >>> from mobod.value import MassProperties, UnitInertia
    >>> link = Rigid(MassProperties(2.0, (0, 0, 0), UnitInertia.sphere(0.5)))
    >>> link.get_default_rigid_body_mass_properties().inertia.moments
    array([0.2, 0.2, 0.2])
    """

    def __init__(self, mass_properties: MassProperties | None = None) -> None:
        super().__init__(MassProperties(1.0, (0, 0, 0), Inertia(1, 1, 1)) if mass_properties is None else mass_properties)


class Massless(Body):
    """A frame without mass; another body with mass has to hang on it, or dynamics has nothing to push.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> first = mb.mobilizer.Pin(matter.ground, mb.body.Massless())  # between two pins about different axes
    >>> link = mb.body.Rigid(mb.MassProperties(1.0, (0, -1, 0), mb.UnitInertia.sphere(0.1).shift_from_centroid((0, -1, 0))))
    >>> second = mb.mobilizer.Pin(first, link, X_PF=mb.Transform(mb.Rotation.about_axis(1.570796, "y")))
    >>> state = system.realize_topology()
    >>> matter.get_num_mobilities()
    2
    """

    def __init__(self) -> None:
        super().__init__(MassProperties.trusted(0.0, np.zeros(3), np.zeros((3, 3))))

    def _check(self, mass_properties: MassProperties) -> None:
        if mass_properties.mass != 0.0:
            raise ModelError(f"a Massless body has no mass; {mass_properties.mass!r} was given; use body.Rigid")

    def __repr__(self) -> str:
        return "Massless()"


class Particle(Body):
    """A point mass at the body's origin, without inertia.

    Parameters
    ----------
    mass : float, optional
        Mass; 1 if left out.

    Examples
    --------
    >>> Particle(2.5)
    Particle(2.5)
    """

    def __init__(self, mass: float = 1.0) -> None:
        super().__init__(MassProperties(mass, (0, 0, 0), Inertia.point_mass_at_origin()))

    def _check(self, mass_properties: MassProperties) -> None:
        if not mass_properties.is_exactly_central() or np.asarray(mass_properties.inertia).any():
            raise ModelError(
                f"a Particle is a point mass at its origin, without inertia, not {mass_properties!r}; use body.Rigid"
            )

    def __repr__(self) -> str:
        return f"Particle({self._mass_properties.mass!r})"


class Linear(Body):
    """Mass along the body's z axis, without inertia about it: a thin rod, a diatomic molecule.

    Suited to mobilizers that do not turn it about z: ``LineOrientation``, ``FreeLine``, ``Universal``.

    Parameters
    ----------
    mass_properties : MassProperties, optional
        The mass center lies on z, the moment about z is zero, and so are the products of inertia. If left out: mass 1
        at the origin, moments of inertia 1, 1 and 0.

    Raises
    ------
    ModelError
        If the mass is not along z.

    Examples
    --------
    >>> import mobod as mb
    >>> body = mb.body.Linear(mb.MassProperties(1.0, (0, 0, 0), mb.Inertia(0.1, 0.1, 0)))  # a rod along z, as thin as a line
    >>> isinstance(body, mb.Body)
    True
    """

    def __init__(self, mass_properties: MassProperties | None = None) -> None:
        super().__init__(MassProperties(1.0, (0, 0, 0), Inertia(1, 1, 0)) if mass_properties is None else mass_properties)

    def _check(self, mass_properties: MassProperties) -> None:
        # A mass center beside z needs no check: MassProperties refuses it where zz is zero.
        inertia = np.asarray(mass_properties.inertia)
        about_z = float(np.abs(inertia[2]).max())  # zz, and the products with z
        if about_z > ROUNDING * float(np.abs(inertia).max()):
            raise ModelError(
                f"a Linear body has no inertia about its z axis; the inertia's row of z is {inertia[2].tolist()}; turn "
                "the body's frame so that its z axis lies along the line, or use body.Rigid"
            )


class Ground(Body):
    """The body that everything else is measured from: its mass is infinite. The matter subsystem makes the only one.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> isinstance(system.matter.ground.get_body(), mb.body.Ground)
    True
    """

    def __init__(self) -> None:
        super().__init__(MassProperties.trusted(math.inf, np.zeros(3), np.diag(np.full(3, math.inf))))

    def _check(self, mass_properties: MassProperties) -> None:
        if not math.isinf(mass_properties.mass):
            raise ModelError("the mass properties of Ground cannot be set: its mass is infinite")

    def __repr__(self) -> str:
        return "Ground()"
