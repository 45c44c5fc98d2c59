"""Scaling a document to a subject, body by body, as OpenSim does: places, shapes, masses, functions of translations.

With the factors s = (x, y, z) of a body: what lies in its frame is multiplied by s, axis by axis. Its mass by x y z unless
masses are kept, and all masses then by one factor, so that they add up to the subject's. An inertia with equal factors by mass
and s^2, else that of the solid cylinder along the axis of its least moment, which is scaled; products of inertia by mass and
two factors. Sizes of surfaces that paths wrap over by the factors along their axes. A translation of a joint that is a
function is multiplied by the parent's factor along its axis.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...algebra.arrays import Array
from ...errors import ModelError
from ...value import Rotation
from ...value.checks import all_known
from ..xml_element import Element

STATIONS = ("Marker", "PathPoint", "ConditionalPathPoint", "Station")
ONE = np.ones(3)


def body_names(root: Element) -> list[str]:
    """The bodies of a document, in their order."""
    return [one.attributes.get("name", "") for one in root.below() if one.tag == "Body"]


def scale_document(root: Element, factors: Mapping[str, Array], *, mass: float | None, keep_masses: bool) -> list[str]:
    """Scale a document of the newest version, in place.

    Parameters
    ----------
    root : Element
        The model.
    factors : mapping of str to (3,) array
        Of bodies, by name; others stay as they are.
    mass : float or None
        Of the whole subject; None leaves what the factors make of it.
    keep_masses : bool
        Whether bodies keep their parts of the mass, whatever their factors.

    Returns
    -------
    list of str
        What was not scaled, a sentence each.
    """
    all_known("there is no body", factors, body_names(root), ModelError)
    for name, given in factors.items():
        if not (np.isfinite(given) & (given > 0.0)).all():
            raise ModelError(f"the factors of the body {name!r} have to be above zero; they are {given.tolist()}")
    scaler = _Scaler(root, factors)
    scaler.run(keep_masses)
    if mass is not None:
        _set_total_mass(root, mass)
    return scaler.notes


class _Scaler:
    """One pass over a document."""

    def __init__(self, root: Element, factors: Mapping[str, Array]) -> None:
        self.root, self.factors = root, factors
        self.bases = _bases(root)
        self.notes: list[str] = []

    def of(self, frame: str, local: Mapping[str, str] | None = None) -> Array:
        """The factors of the body that a frame, by its path, is fixed to."""
        name = frame.rstrip("/").rsplit("/", 1)[-1]
        seen: set[str] = set()
        while name not in seen:
            seen.add(name)
            parent = (local or {}).get(name) or self.bases.get(name)
            if parent is None:
                break
            name = parent.rstrip("/").rsplit("/", 1)[-1]
        return self.factors.get(name, ONE)

    def run(self, keep_masses: bool) -> None:
        """Scale everything."""
        for one in self.root.below():
            if one.tag == "Body":
                self._body(one, keep_masses)
            elif one.tag == "PhysicalOffsetFrame":
                factors = self.of(one.text_of("socket_parent"))
                _multiply(one, "translation", factors)
                _geometry(one, factors)
            elif one.tag.endswith("Joint"):
                self._joint(one)
            elif one.tag in STATIONS:
                _multiply(one, "location", self.of(one.text_of("socket_parent_frame")))
            elif one.tag == "MovingPathPoint":
                for axis, factor in zip("xyz", self.of(one.text_of("socket_parent_frame")), strict=True):
                    _multiply_function(child_of(one, f"{axis}_location"), float(factor))

    def _body(self, body: Element, keep_masses: bool) -> None:
        factors = self.factors.get(body.attributes.get("name", ""))
        if factors is None or (factors == 1.0).all():
            return
        _multiply(body, "mass_center", factors)
        _geometry(body, factors)
        for one in body.below():
            if one.tag.startswith("Wrap"):
                _multiply(one, "translation", factors)
                _wrap_sizes(one, factors)
        mass, inertia = float(body.text_of("mass") or 0.0), _numbers(body, "inertia", 6)
        new = mass if keep_masses else mass * float(np.prod(factors))
        _put_numbers(body, "mass", [new])
        _put_numbers(body, "inertia", scaled_inertia(mass, new, inertia, factors).tolist())

    def _joint(self, joint: Element) -> None:
        frames = {
            one.attributes.get("name", ""): one.text_of("socket_parent")
            for one in joint.below()
            if one.tag == "PhysicalOffsetFrame"
        }
        factors = self.of(joint.text_of("socket_parent_frame"), frames)
        if (factors == 1.0).all():
            return
        for tag in ("radii_x_y_z", "thoracic_ellipsoid_radii_x_y_z"):
            _multiply(joint, tag, factors)
        if joint.tag == "ConstantCurvatureJoint":
            self.notes.append(f"the length of the ConstantCurvatureJoint {joint.attributes.get('name', '')!r} is not scaled.")
        for axis in (one for one in joint.below() if one.tag == "TransformAxis"):
            if axis.attributes.get("name", "").startswith("translation"):
                direction = np.abs(_numbers(axis, "axis", 3))
                _multiply_function(axis, float(direction @ factors))


def scaled_inertia(mass: float, new: float, inertia: Array, s: Array) -> Array:
    """The moments and products (xx, yy, zz, xy, xz, yz) about the mass center of a scaled body."""
    if new <= np.finfo(float).eps:
        return np.zeros(6)
    ratio = new / mass
    if np.ptp(s) <= 1e-14 * float(np.abs(s).max()):
        return inertia * ratio * s[0] ** 2
    along = int(np.argmin(inertia[:3]))
    across = [k for k in range(3) if k != along]
    radius = np.sqrt(max(0.0, 2.0 * inertia[along] / mass))
    length = np.sqrt(max(0.0, 12.0 * (inertia[across[0]] - 0.25 * mass * radius**2) / mass)) * s[along]
    square = radius**2 * s[across[0]] * s[across[1]]
    result = inertia.copy()
    result[along] = 0.5 * new * square
    result[across] = new * (length**2 / 12.0 + 0.25 * square)
    result[3:] *= ratio * np.array([s[0] * s[1], s[0] * s[2], s[1] * s[2]])
    return result


def _set_total_mass(root: Element, mass: float) -> None:
    bodies = [one for one in root.below() if one.tag == "Body"]
    total = sum(float(body.text_of("mass") or 0.0) for body in bodies)
    if not total > 0.0:
        raise ModelError("the bodies have no mass to be scaled to the subject's")
    for body in bodies:
        for tag in ("mass", "inertia"):
            _multiply(body, tag, np.array(mass / total))


# ---------------------------------------------------------------------------------------------- elements


def child_of(element: Element, tag: str) -> Element | None:
    """The first child with this tag, or with this name."""
    return next((one for one in element.children if tag in (one.tag, one.attributes.get("name"))), None)


def _bases(root: Element) -> dict[str, str]:
    """Of each offset frame the frame that it is fixed to; where a name comes twice, the first."""
    found: dict[str, str] = {}
    for one in root.below():
        if one.tag == "PhysicalOffsetFrame":
            found.setdefault(one.attributes.get("name", ""), one.text_of("socket_parent"))
    return found


def _numbers(element: Element, tag: str, n: int) -> Array:
    words = element.text_of(tag).replace(",", " ").split()
    try:
        found = np.array([float(word) for word in words])
    except ValueError:
        found = np.zeros(0)
    if len(found) != n:
        raise ModelError(f"line {element.line}: the <{tag}> has {n} numbers, not {' '.join(words)!r}")
    return found


def _put_numbers(element: Element, tag: str, numbers: list[float]) -> None:
    element.child_made(tag).text = " ".join(map(repr, numbers))


def _multiply(element: Element, tag: str, factors: Array) -> None:
    words = element.text_of(tag).split()
    if words:
        numbers = np.array([float(word) for word in words])
        _put_numbers(element, tag, (numbers * factors).tolist())


def _geometry(frame: Element, factors: Array) -> None:
    """Meshes and shapes that are fixed to a frame."""
    for held in frame.children:
        if held.tag == "attached_geometry":
            for shape in held.children:
                if not shape.text_of("scale_factors"):
                    _put_numbers(shape, "scale_factors", [1.0, 1.0, 1.0])
                _multiply(shape, "scale_factors", factors)


def _wrap_sizes(surface: Element, factors: Array) -> None:
    """A sphere's radius by the mean of the factors; other sizes by those along the surface's axes, x and y by their mean."""
    words = surface.text_of("xyz_body_rotation").split()
    R = np.asarray(Rotation.from_body_fixed_xyz([float(word) for word in words] if words else (0.0, 0.0, 0.0)))
    along = np.linalg.norm(factors[:, None] * R, axis=0)
    _multiply(surface, "dimensions", along)
    across = factors.mean() if surface.tag == "WrapSphere" else along[:2].mean()
    for tag in ("radius", "inner_radius", "outer_radius"):
        _multiply(surface, tag, across)
    _multiply(surface, "length", along[2])


def _multiply_function(holder: Element | None, factor: float) -> None:
    """Multiply the function that an element holds, or that stands in a property of it."""
    if holder is None or factor == 1.0:
        return
    inner = next((one for one in holder.children if one.tag == "function" and one.children), None)
    place = holder if inner is None else inner
    for k, one in enumerate(place.children):
        if "Function" not in one.tag and "Spline" not in one.tag and one.tag != "Constant":
            continue
        if one.tag == "LinearFunction" and [float(word) for word in one.text_of("coefficients").split()] == [1.0, 0.0]:
            return  # the coordinate itself
        if one.tag == "MultiplierFunction":
            _put_numbers(one, "scale", [factor * float(one.text_of("scale") or 1.0)])
            return
        name = one.attributes.pop("name", None)
        wrapped = Element("MultiplierFunction", {} if name is None else {"name": name}, one.line)
        wrapped.children = [Element("function", {}, one.line, [one]), Element("scale", {}, one.line, [], repr(factor))]
        place.children[k] = wrapped
        return
