"""Files whose frames are all in the world's: ``compiler coordinate="global"``, which MuJoCo has read until version 2.3.3.

X_PB = ~X_GP X_GB for bodies and inertias; whatever else is on a body stays as it is, in a frame ~X_GB on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import ModelError
from ...value import Rotation, Transform
from ..report import Report
from ..xml_element import Element
from .document import Document, sentence
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
    rotations = _rotations(mujoco, document, placed)
    poses = {
        id(element): Transform.trusted(np.asarray(R), _numbers(document, element, "pos", "0 0 0"))
        for (element, _), R in zip(placed, rotations, strict=True)
    }
    adrift = 0
    for element, parent in placed:
        X_GP = poses.get(id(parent), Transform())
        if element.tag == "body" and "pos" not in element.attributes:
            inertial = element.child("inertial")
            known = inertial is not None and "pos" in inertial.attributes
            poses[id(element)] = poses[id(inertial)] if known else X_GP
            adrift += not known
        _place(document, element, ~X_GP @ poses[id(element)])
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
    spec = Document.__new__(Document)  # of bodies with nothing but these, a line each
    compilers = [one for one in document.root.children if one.tag == "compiler"]
    words = ("angle", "eulerseq")
    kept = [{key: value for key, value in one.attributes.items() if key in words} for one in compilers]
    settings = [Element("compiler", attributes, 0) for attributes in kept]
    bodies = [Element("body", attributes, 0) for attributes in said]
    spec.root = Element("mujoco", {}, 0, [*settings, Element("worldbody", {}, 0, bodies)])
    try:
        m = mujoco.MjSpec.from_string(spec.write()).compile()
    except Exception as error:
        wrong = spec.named(str(error))
        one = next((one for (one, _), body in zip(placed, bodies, strict=True) if body is wrong), placed[0][0])
        raise ModelError(f"{document.place(one)}: {sentence(str(error))}") from None
    return [rotation_of(quaternion) for quaternion in m.body_quat[1:]]


def _numbers(document: Document, element: Element, key: str, default: str, count: int = 3) -> Any:
    """The numbers of an attribute."""
    text = element.attributes.get(key, default)
    try:
        numbers = [float(word) for word in text.split()]
    except ValueError:
        numbers = []
    if len(numbers) != count or not np.isfinite(numbers).all():
        raise ModelError(f"{document.place(element)}: <{element.tag}>: {key}={text!r} has to be {count} numbers")
    return np.array(numbers)


def _place(document: Document, element: Element, X: Transform) -> None:
    for key in _ORIENTATIONS:
        element.attributes.pop(key, None)
    R = np.asarray(X.R)
    full = "fullinertia" in element.attributes
    if full:  # which has no orientation of its own beside it
        xx, yy, zz, xy, xz, yz = _numbers(document, element, "fullinertia", "", 6)
        I = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
        element.attributes["fullinertia"] = _words(I[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])
    element.attributes |= _as_attributes(X, turned=not full)


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
