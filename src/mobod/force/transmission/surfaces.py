"""Obstacles of a `Path`, and points of it that come and go, or move in their body: data, as OpenSim's files have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...algebra.arrays import ArrayLike
from ...errors import ModelError
from ...value import Transform, checks
from ._over_ellipsoid import AXIAL, HYBRID, MIDPOINT
from ._segments import CAPSULE, CYLINDER, ELLIPSOID, SPHERE, TORUS

#: How an ellipsoid's plane is found.
METHODS = {"hybrid": HYBRID, "midpoint": MIDPOINT, "axial": AXIAL}
SIDES = ("x", "+x", "-x", "y", "+y", "-y", "z", "+z", "-z")


def side_of(quadrant: str) -> tuple[int, int]:
    """The axis of a quadrant and its sign; sign 0 for all."""
    word = str(quadrant).strip().lower()
    if word in ("", "all", "unassigned"):
        return 0, 0
    if word not in SIDES:
        raise ModelError(f"the quadrant of a surface is all, or one of {', '.join(SIDES)}; not {quadrant!r}")
    return "xyz".index(word[-1]), -1 if word[0] == "-" else 1


@dataclass(frozen=True, kw_only=True)
class _Surface:
    #: What it is fixed to, and its frame there.
    body: Any
    frame: Transform | None = None
    #: The part that counts.
    quadrant: str = "all"
    #: Whether paths bend over it at all.
    active: bool = True

    KIND: ClassVar[int]

    def sizes(self) -> list[float]:
        """Its sizes, up to three."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class WrapSphere(_Surface):
    """A sphere that a `Path` bends over.

    Parameters
    ----------
    body : MobilizedBody
        What it is fixed to.
    frame : Transform, optional
        Its frame in the body.
    quadrant : str
        The part that counts: "all", or a side such as "+x" or "-y".
    active : bool
        Whether paths bend over it at all.
    radius : float
        Above zero; length.
    """

    radius: float
    KIND: ClassVar[int] = SPHERE

    def sizes(self) -> list[float]:
        """Its radius."""
        return [checks.positive("radius of a WrapSphere", self.radius)]


@dataclass(frozen=True, kw_only=True)
class WrapCylinder(_Surface):
    """A cylinder about the z axis of its frame that a `Path` bends over.

    Parameters
    ----------
    body : MobilizedBody
        What it is fixed to.
    frame : Transform, optional
        Its frame in the body.
    quadrant : str
        The part that counts: "all", or a side such as "+x" or "-y".
    active : bool
        Whether paths bend over it at all.
    radius, length : float
        Above zero; length. A path that would touch it beyond both ends does not bend.
    """

    radius: float
    length: float
    KIND: ClassVar[int] = CYLINDER

    def sizes(self) -> list[float]:
        """Radius and length."""
        return [checks.positive(f"{what} of a WrapCylinder", getattr(self, what)) for what in ("radius", "length")]


@dataclass(frozen=True, kw_only=True)
class WrapEllipsoid(_Surface):
    """An ellipsoid that a `Path` bends over, along the section of a plane.

    Parameters
    ----------
    body : MobilizedBody
        What it is fixed to.
    frame : Transform, optional
        Its frame in the body.
    quadrant : str
        The part that counts: "all", or a side such as "+x" or "-y".
    active : bool
        Whether paths bend over it at all.
    dimensions : (3,) array_like
        Radii along its axes, above zero; length.
    """

    dimensions: ArrayLike
    KIND: ClassVar[int] = ELLIPSOID

    def sizes(self) -> list[float]:
        """The radii."""
        radii = checks.vector("dimensions of a WrapEllipsoid", self.dimensions)
        return [checks.positive("a radius of a WrapEllipsoid", float(radius)) for radius in radii]


@dataclass(frozen=True, kw_only=True)
class WrapTorus(_Surface):
    """A torus about the z axis of its frame, through whose hole a `Path` goes.

    Parameters
    ----------
    body : MobilizedBody
        What it is fixed to.
    frame : Transform, optional
        Its frame in the body.
    quadrant : str
        The part that counts: "all", or a side such as "+x" or "-y".
    active : bool
        Whether paths bend over it at all.
    inner_radius, outer_radius : float
        Of the ring's cross-section, and of the circle in its middle; length.
    """

    inner_radius: float
    outer_radius: float
    KIND: ClassVar[int] = TORUS

    def sizes(self) -> list[float]:
        """Both radii."""
        inner = checks.positive("inner_radius of a WrapTorus", self.inner_radius)
        outer = checks.positive("outer_radius of a WrapTorus", self.outer_radius)
        if not outer > inner:
            raise ModelError(f"outer_radius of a WrapTorus has to be above its inner_radius, {inner:g}; got {outer:g}")
        return [inner, outer]


@dataclass(frozen=True, kw_only=True)
class WrapCapsule(_Surface):
    """A capsule about the z axis of its frame, of taut paths alone: what `CableSpan` makes of one of `mobod.contact`."""

    radius: float
    half_length: float
    KIND: ClassVar[int] = CAPSULE

    def sizes(self) -> list[float]:
        """Radius, and half the length of the side."""
        return [checks.positive(f"{what} of a WrapCapsule", getattr(self, what)) for what in ("radius", "half_length")]


@dataclass(frozen=True)
class PathWrap:
    """A surface on a `Path`, and the way past it.

    Parameters
    ----------
    surface : WrapSphere, WrapCylinder, WrapEllipsoid or WrapTorus
        What it bends over.
    method : {"hybrid", "midpoint", "axial"}
        How the plane in which it bends over an ellipsoid is found.
    first, last : int, optional
        Between which of the path's points, from 0; all of them unless given. A taut path goes over it behind the first.
    hint : (3,) array_like, optional
        Past which point, in the surface's frame, a taut path goes over it. Unless given it is on the side of the quadrant; if
        that is all, the path goes the short way.
    """

    surface: _Surface
    method: str = "hybrid"
    first: int | None = None
    last: int | None = None
    hint: ArrayLike | None = None


def hint_of(wrap: PathWrap, side: tuple[int, int]) -> tuple[int, list[float]]:
    """True if there is a hint for a taut path, and the hint."""
    if wrap.hint is not None:
        hint = checks.vector("hint of a PathWrap", wrap.hint).tolist()
        if not any(hint):
            raise ModelError("the hint of a PathWrap has to be away from the middle of the surface; got zero")
        return 1, hint
    axis, sign = side
    sizes = wrap.surface.sizes()
    far = sizes[axis] if wrap.surface.KIND == ELLIPSOID else max(sizes) if wrap.surface.KIND == TORUS else sizes[0]
    return abs(sign), [sign * far if k == axis else 0.0 for k in range(3)]


@dataclass(frozen=True)
class ConditionalPoint:
    """A point that is part of a `Path` only while a coordinate is in a range.

    Parameters
    ----------
    body : MobilizedBody
        What it is fixed to.
    station : (3,) array_like
        Where, in the body.
    mobod, which_q : MobilizedBody, int
        The coordinate.
    low, high : float
        The range, which counts as wider by 1e-5 on both sides, as in OpenSim.
    """

    body: Any
    station: ArrayLike
    mobod: Any
    which_q: int
    low: float
    high: float


@dataclass(frozen=True)
class MovingPoint:
    """A point of a `Path` that moves in its body with coordinates.

    Parameters
    ----------
    body : MobilizedBody
        What it moves in.
    functions : sequence of three Function
        Its x, y and z in *frame*, each of one coordinate.
    coordinates : sequence of three (MobilizedBody, int)
        These coordinates.
    frame : Transform, optional
        In the body.
    ranges : (3, 2) array_like, optional
        Between which values the coordinates count: beyond, the point stands still, as OpenSim's do.
    as_opensim : bool
        Whether rates and forces are OpenSim's, which do not fit the lengths: the slopes of the functions go on beyond the
        ranges, all three forces act on the first coordinate, and pieces to points of the same body have no share in them.
    """

    body: Any
    functions: Sequence[Any]
    coordinates: Sequence[tuple[Any, int]]
    frame: Transform | None = None
    ranges: ArrayLike | None = None
    as_opensim: bool = False


#: Numbers of a frame.
OF_FRAME = 12


def numbers_of_frame(what: str, frame: Transform | None) -> list[float]:
    """Nine numbers of the rotation, three of the place."""
    X = Transform() if frame is None else checks.instance(what, frame, Transform, "a Transform")
    return [*np.asarray(X.R).ravel().tolist(), *np.asarray(X.p).tolist()]
