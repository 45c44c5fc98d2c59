"""Files whose frames are all in the world's: ``compiler coordinate="global"``, which MuJoCo has read until version 2.3.3.

X_PB = ~X_GP X_GB for bodies and inertias; whatever else is on a body stays as it is, in a frame ~X_GB on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...value import Rotation, Transform
from ..report import Report
from ..xml_element import Element
from .document import Document
from .source import rotation_of

_ORIENTATIONS = ("quat", "axisangle", "xyaxes", "zaxis", "euler")
#: What stays directly in a body.
_OWN = ("body", "inertial", "freejoint", "plugin")


def to_local(mujoco: Any, document: Document, report: Report) -> None:
    """Bring all frames of a document to their bodies."""
    placed: list[tuple[Element, Element]] = []  # bodies and inertias, each with its parent, those above first
    for element, parent, above in document.elements():
        if above[:1] == ("worldbody",) and element.tag in ("body", "inertial"):
            placed.append((element, parent))
    poses = {
        id(element): _pose(element, R) for (element, _), R in zip(placed, _rotations(mujoco, document, placed), strict=True)
    }
    adrift = 0
    for element, parent in placed:
        X_GP = poses.get(id(parent), Transform())
        if element.tag == "body" and "pos" not in element.attributes:
            inertial = next(element.find_all("inertial"), None)
            known = inertial is not None and "pos" in inertial.attributes
            poses[id(element)] = poses[id(inertial)] if known else X_GP
            adrift += not known
        _place(element, ~X_GP @ poses[id(element)])
    for element, _ in placed:
        if element.tag == "body":
            _put_in_frame(element, ~poses[id(element)])
    report.append("coordinate 'global', which MuJoCo no longer knows: frames are brought to their bodies")
    if adrift:
        report.depart(
            f"bodies without a place: {adrift}, whose frames are their parents', where MuJoCo had those of their inertia"
        )


def _rotations(mujoco: Any, document: Document, placed: list[tuple[Element, Element]]) -> list[Any]:
    """The rotations that the orientations of elements mean, by MuJoCo itself."""
    said = [{key: one.attributes[key] for key in _ORIENTATIONS if key in one.attributes} for one, _ in placed]
    if not any(said):
        return [np.eye(3)] * len(placed)
    spec = Document.__new__(Document)
    compilers = [one for one in document.root.children if one.tag == "compiler"]
    words = ("angle", "eulerseq")
    kept = [{key: value for key, value in one.attributes.items() if key in words} for one in compilers]
    settings = [Element("compiler", attributes, 0) for attributes in kept]
    bodies = [Element("body", attributes, 0) for attributes in said]
    spec.root = Element("mujoco", {}, 0, [*settings, Element("worldbody", {}, 0, bodies)])
    m = mujoco.MjSpec.from_string(spec.write()).compile()
    return [rotation_of(quaternion) for quaternion in m.body_quat[1:]]


def _pose(element: Element, R: Any) -> Transform:
    place = np.array([float(word) for word in element.attributes.get("pos", "0 0 0").split()])
    return Transform.trusted(np.asarray(R), place)


def _place(element: Element, X: Transform) -> None:
    for key in _ORIENTATIONS:
        element.attributes.pop(key, None)
    R = np.asarray(X.R)
    full = element.attributes.get("fullinertia")
    if full is not None:  # which has no orientation of its own beside it
        xx, yy, zz, xy, xz, yz = (float(word) for word in full.split())
        I = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
        element.attributes["fullinertia"] = _words(I[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])
    element.attributes |= _as_attributes(X, turned=full is None)


def _put_in_frame(body: Element, X: Transform) -> None:
    """Put all that is on a body in a frame on it."""
    own: list[Element] = []
    others: list[Element] = []
    for child in body.children:
        free = child.tag == "joint" and child.attributes.get("type") == "free"
        (own if child.tag in _OWN or free else others).append(child)
    if others:
        body.children = [*own, Element("frame", _as_attributes(X), body.line, others, "", body.file)]


def _as_attributes(X: Transform, turned: bool = True) -> dict[str, str]:
    found = {"pos": _words(X.p)}
    if turned and not np.array_equal(X.R, np.eye(3)):
        found["quat"] = _words(Rotation.trusted(np.asarray(X.R)).to_quaternion())
    return found


def _words(numbers: Any) -> str:
    return " ".join(repr(float(x)) for x in np.ravel(numbers))
