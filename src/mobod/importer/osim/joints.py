"""Joints: what each kind becomes, and which of its coordinates turns or moves what.

The pose of OpenSim's ConstantCurvatureJoint: a flexible rod that bends in an arc.

    R_FM = Rx(a) Rz(b) Ry(c)    p_FM = L (e_x (1 - cos t) / (t sin t), sin t / t, e_z (1 - cos t) / (t sin t))

with (a, b, c) = q + neutral angles, e = R_FM y and t the angle between e and y, where cos t = e_y. Near t = 0 the two
quotients are their series. (OpenSim puts the tip at L e for sin t < 0.001, where it jumps by 0.0005 L.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import body, function, mobilizer
from ...algebra import mat33, rotation
from ...algebra.scalar import atan2, sincos, sqrt, where
from ...compiling import generic
from ...errors import ModelError
from ...function import Function
from ...mobilizer.base import Direction, MobilizedBody
from ...value import Rotation, Transform
from .coordinates import COUPLED, ROTATIONAL, TRANSLATIONAL, Coordinate, read_coordinate
from .document import Item
from .functions import make_function

#: sin^2 t below which series take the place of quotients: their sixth power is below rounding.
_SMALL = 2e-3


@generic
def transform(q: Any, parameters: Any) -> Any:
    """X_FM; parameters: the neutral angles about x, z, y, and the length."""
    length = parameters[3]
    sa, ca = sincos(q[0] + parameters[0])
    sb, cb = sincos(q[1] + parameters[1])
    R = mat33.mul(
        rotation.about_x(q[0] + parameters[0]),
        mat33.mul(rotation.about_z(q[1] + parameters[1]), rotation.about_y(q[2] + parameters[2])),
    )
    x, y, z = -1.0 * sb, ca * cb, sa * cb
    s2 = x * x + z * z
    bent = s2 > _SMALL
    safe = where(bent, s2, s2 * 0.0 + 0.5)
    s = sqrt(safe)
    t = atan2(s, where(bent, y, y * 0.0 + s))
    t2 = s2 * (1.0 + s2 * (1.0 / 3.0 + s2 * (8.0 / 45.0 + s2 * (4.0 / 35.0 + s2 * 128.0 / 1575.0))))
    across = where(
        bent,
        (1.0 - where(bent, y, s)) / (t * s),
        0.5 + t2 * (1.0 / 24.0 + t2 * (1.0 / 240.0 + t2 * (17.0 / 40320.0 + t2 * 31.0 / 725760.0))),
    )
    along = where(bent, s / t, 1.0 - t2 / 6.0 * (1.0 - t2 / 20.0 * (1.0 - t2 / 42.0 * (1.0 - t2 / 72.0))))
    return R, (length * x * across, length * along, length * z * across)


#: The joint's mobilizers, and for each of its coordinates which of them has it, at which place.
Made = tuple["MobilizedBody", list[tuple["MobilizedBody", int]]]


@dataclass(eq=False)
class Site:
    """The bodies and frames that a joint is made between, and its direction."""

    parent: MobilizedBody
    body: body.Body
    X_PF: Transform
    X_BM: Transform
    is_reversed: bool
    name: str

    def arguments(self) -> dict[str, Any]:
        """Arguments of every mobilizer."""
        direction = Direction.REVERSE if self.is_reversed else Direction.FORWARD
        return {"X_PF": self.X_PF, "X_BM": self.X_BM, "direction": direction, "name": self.name}


@dataclass(frozen=True)
class Kind:
    """A kind of joint: what its coordinates are, and how it is made."""

    motions: tuple[str, ...]
    make: Callable[[Item, Site], Made]


def coordinates_of(joint: Item) -> list[Coordinate]:
    """Read the coordinates of a joint, in the order of its mobilities."""
    kind = kind_of(joint)
    if joint.tag == "CustomJoint":
        return _custom_coordinates(joint)
    items = joint.objects("coordinates")
    if len(items) > len(kind.motions):
        items[len(kind.motions)].refuse(
            f"{joint.tag} {joint.name!r} has {len(kind.motions)} coordinate(s); it lists {len(items)}"
        )
    found = []
    for k, motion in enumerate(kind.motions):
        item = items[k] if k < len(items) else None
        name = item.name if item is not None and item.name else f"{joint.name}_coord_{k}"
        found.append(read_coordinate(item, name, joint.name, motion))
    return found


def kind_of(joint: Item) -> Kind:
    """The entry of the table."""
    kind = JOINTS.get(joint.tag)
    if kind is None:
        joint.refuse(f"a joint of a kind that is not known, {joint.tag}; known are {', '.join(JOINTS)}")
    return kind


def _plain(make: type[MobilizedBody], *motions: str) -> Kind:
    def made(joint: Item, site: Site) -> Made:
        mobod = make(site.parent, site.body, **site.arguments())
        return mobod, [(mobod, k) for k in range(len(motions))]

    return Kind(motions, made)


def _ellipsoid(joint: Item, site: Site) -> Made:
    radii = joint.finite("radii_x_y_z", (0.0, 0.0, 0.0))
    mobod = mobilizer.Ellipsoid(site.parent, site.body, radii=radii, **site.arguments())
    return mobod, [(mobod, k) for k in range(3)]


def _cantilever(joint: Item, site: Site) -> Made:
    length = joint.number("beam_length", joint.number("length", 1.0))
    mobod = mobilizer.CantileverFreeBeam(site.parent, site.body, length=length, **site.arguments())
    return mobod, [(mobod, k) for k in range(3)]


def _constant_curvature(joint: Item, site: Site) -> Made:
    parameters = [*joint.finite("neutral_angle_x_z_y", (0.0, 0.0, 0.0)), float(joint.finite("length", (1.0,))[0])]
    mobod = mobilizer.Custom(site.parent, site.body, transform=transform, num_q=3, parameters=parameters, **site.arguments())
    return mobod, [(mobod, k) for k in range(3)]


def _scapulothoracic(joint: Item, site: Site) -> Made:
    """An ellipsoid, a hinge about an axis tangent to it, and a weld to the scapula: two bodies without mass between."""
    if site.is_reversed:
        joint.refuse(
            f"ScapulothoracicJoint {joint.name!r} hangs by its child, the scapula; it is known from the thorax on only"
        )
    radii = joint.finite("thoracic_ellipsoid_radii_x_y_z", (math.nan,) * 3)[[1, 0, 2]]
    origin = joint.finite("scapula_winging_axis_origin", (0.0, 0.0))
    winging = float(joint.finite("scapula_winging_axis_direction", (0.0,))[0])
    quarter = Transform(Rotation.about_axis(math.pi / 2.0, (0.0, 0.0, 1.0)))
    slide = mobilizer.Ellipsoid(
        site.parent, body.Massless(), radii=radii, X_PF=site.X_PF @ quarter, X_BM=quarter, name=f"{site.name}_ellipsoid"
    )
    axis = np.array([-math.sin(winging), math.cos(winging), 0.0])
    hinge = Transform(Rotation(np.column_stack([np.cross((0.0, 0.0, 1.0), axis), (0.0, 0.0, 1.0), axis])), (*origin, 0.0))
    wing = mobilizer.Pin(slide, body.Massless(), X_PF=hinge, X_BM=hinge, name=f"{site.name}_winging")
    mobod = mobilizer.Weld(wing, site.body, X_BM=site.X_BM, name=site.name)
    return mobod, [(slide, 0), (slide, 1), (slide, 2), (wing, 0)]


# ---------------------------------------------------------------------------------------------- CustomJoint

_AXES = ("rotation1", "rotation2", "rotation3", "translation1", "translation2", "translation3")


@dataclass(eq=False)
class Axis:
    """One axis of a spatial transform: its direction, its coordinates, and the function of these."""

    item: Item | None
    direction: tuple[float, ...]
    coordinates: list[str]
    function: Item | None
    #: Whether the file has a place for the function that is left empty: then it is the coordinate itself, else zero.
    is_open: bool = True


def _axes_of(joint: Item) -> list[Axis]:
    transform = joint.find("SpatialTransform")
    held = {} if transform is None else {item.name: item for item in transform.children if item.tag == "TransformAxis"}
    axes = []
    for k, name in enumerate(_AXES):
        item = held.get(name)
        usual = tuple(1.0 if i == k % 3 else 0.0 for i in range(3))
        if item is None:
            axes.append(Axis(None, usual, [], None))
            continue
        item.is_read = True
        direction = tuple(item.finite("axis", usual).tolist())
        axes.append(Axis(item, direction, item.word_list("coordinates"), item.one_object("function"), item.has("function")))
    return axes


def _names_of(axes: Sequence[Axis]) -> list[str]:
    """The joint's coordinates, in the order in which axes first name them."""
    return list(dict.fromkeys(name for axis in axes for name in axis.coordinates))


def _custom_coordinates(joint: Item) -> list[Coordinate]:
    axes = _axes_of(joint)
    names = _names_of(axes)
    items = {item.name: item for item in joint.objects("coordinates")}
    for item in idle_coordinates(joint):
        if not set(names) <= set(items):  # one is misspelled
            item.refuse(f"coordinate {item.name!r} of joint {joint.name!r} is on none of its axes; {_listing(names)}")
    return [read_coordinate(items.get(name), name, joint.name, _motion(axes, name)) for name in names]


def idle_coordinates(joint: Item) -> list[Item]:
    """Coordinates of a CustomJoint that are on none of its axes."""
    if joint.tag != "CustomJoint":
        return []
    names = _names_of(_axes_of(joint))
    return [item for item in joint.objects("coordinates") if item.name not in names]


def _listing(names: Sequence[str]) -> str:
    return f"these name {', '.join(map(repr, names))}" if names else "these name none"


def _motion(axes: Sequence[Axis], name: str) -> str:
    """The kind of a coordinate, angle or length: by axes along which it moves as it is, the last one counts."""
    motion = ""
    for k, axis in enumerate(axes):
        if name in axis.coordinates:
            one = axis.function
            is_line = (one is None and axis.is_open) or (
                one is not None and one.tag == "LinearFunction" and abs([*one.many("coefficients").tolist(), 1.0][0]) == 1.0
            )
            motion = (ROTATIONAL if k < 3 else TRANSLATIONAL) if is_line else motion or COUPLED
    return motion or COUPLED


def _function_of(joint: Item, axis: Axis, place: dict[str, int]) -> tuple[Function, list[int]]:
    """The function of an axis, and the joint's coordinates that it takes."""
    places = [place[name] for name in axis.coordinates]
    if axis.function is None:
        if not axis.is_open:
            return (function.Linear([0.0] * (len(places) + 1)), places) if places else (function.Constant(0.0, 0), [])
        if len(places) > 1:
            (axis.item or joint).refuse(
                f"an axis of joint {joint.name!r} has {len(places)} coordinates and no function; say how it moves with them"
            )
        return (function.Linear([1.0, 0.0]), places) if places else (function.Constant(0.0, 0), [])
    made = make_function(axis.function)
    if isinstance(made, function.Constant):
        value = float(made.calc_value(np.zeros(made.get_argument_size())))
        # a weight of zero keeps the coordinate, which another axis may not have
        return (function.Linear([*[0.0] * len(places), value]), places) if places else (function.Constant(value, 0), [])
    size = made.get_argument_size()
    if not places:
        return function.Constant(float(made.calc_value(np.zeros(size))), 0), []
    if size > len(places):
        axis.function.refuse(
            f"{axis.function.tag} takes {size} coordinates; its axis of joint {joint.name!r} has {len(places)}: "
            f"{', '.join(axis.coordinates)}"
        )
    return made, places[:size]


def _custom(joint: Item, site: Site) -> Made:
    axes = _axes_of(joint)
    names = _names_of(axes)
    place = {name: k for k, name in enumerate(names)}
    pairs = [_function_of(joint, axis, place) for axis in axes]
    X_PF, X_BM = site.X_PF, site.X_BM
    if not names:
        X_FM = _fixed_pose(axes, [float(one.calc_value(np.zeros(one.get_argument_size()))) for one, _ in pairs])
        mobod: MobilizedBody
        if site.is_reversed:
            X_FM = ~X_FM
        mobod = mobilizer.Weld(site.parent, site.body, X_PF=X_PF @ X_FM, X_BM=X_BM, name=site.name)
        return mobod, []
    if len(names) > 6:
        joint.refuse(f"CustomJoint {joint.name!r} has {len(names)} coordinates; a joint has six at most")
    try:
        mobod = mobilizer.FunctionBased(
            site.parent,
            site.body,
            num_mobilities=len(names),
            functions=[one for one, _ in pairs],
            coordinate_indices=[places for _, places in pairs],
            axes=[axis.direction for axis in axes],
            **site.arguments(),
        )
    except (ModelError, ValueError) as error:
        joint.refuse(f"CustomJoint {joint.name!r}: {error}")
    return mobod, [(mobod, k) for k in range(len(names))]


def _fixed_pose(axes: Sequence[Axis], values: Sequence[float]) -> Transform:
    """The pose of a joint without coordinates."""
    R = Rotation()
    for axis, value in zip(axes[:3], values[:3], strict=True):
        R = R @ Rotation.about_axis(value, axis.direction)
    p = np.zeros(3)
    for axis, value in zip(axes[3:], values[3:], strict=True):
        p = p + value * np.array(axis.direction) / np.linalg.norm(axis.direction)
    return Transform(R, p)


#: What each kind of joint becomes.
JOINTS: dict[str, Kind] = {
    "PinJoint": _plain(mobilizer.Pin, ROTATIONAL),
    "SliderJoint": _plain(mobilizer.Slider, TRANSLATIONAL),
    "WeldJoint": _plain(mobilizer.Weld),
    "UniversalJoint": _plain(mobilizer.Universal, ROTATIONAL, ROTATIONAL),
    "BallJoint": _plain(mobilizer.Ball, *[ROTATIONAL] * 3),
    "GimbalJoint": _plain(mobilizer.Gimbal, *[ROTATIONAL] * 3),
    "FreeJoint": _plain(mobilizer.Free, *[ROTATIONAL] * 3, *[TRANSLATIONAL] * 3),
    "PlanarJoint": _plain(mobilizer.Planar, ROTATIONAL, TRANSLATIONAL, TRANSLATIONAL),
    "EllipsoidJoint": Kind((ROTATIONAL,) * 3, _ellipsoid),
    "CantileverFreeBeamJoint": Kind((ROTATIONAL,) * 3, _cantilever),
    "ConstantCurvatureJoint": Kind((ROTATIONAL,) * 3, _constant_curvature),
    "ScapulothoracicJoint": Kind((ROTATIONAL,) * 4, _scapulothoracic),
    "CustomJoint": Kind((), _custom),
}
