"""From an `SdfDocument` to the mechanism that it describes: names of nested models' parts are ``model::part``.

A joint's frame J is fixed to its parent and to its child: with the poses of all as the file gives them, X_PJ = ~X_WP X_WJ and
X_CJ = ~X_WC X_WJ.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ...mobilizer.base import MobilizedBody
from ...system.matter import SimbodyMatterSubsystem
from ...value import Transform
from .. import mechanism as described
from ..mechanism.description import Kind
from ..mechanism.reading import Place
from ..parts import LinkMass
from .document import Axis, Joint, Link, Pose, Scope, SdfDocument, ShapeElement
from .frames import Body, Frames

_KINDS: dict[str, Kind] = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "screw": "screw",
    "universal": "universal",
    "revolute2": "universal",
    "ball": "ball",
    "fixed": "fixed",
}


class Description:
    """Finds the mechanism of one document, and where its frames are."""

    def __init__(self, document: SdfDocument) -> None:
        self.document, self.top, self.frames = document, document.top, Frames()
        bodies = [Body(scope, name) for scope in all_scopes(self.top) for name in scope.links]
        self.names = {b: self.scoped(b.scope, b.link) for b in bodies}
        self.X_W = {b: self.frames.X_W(b.scope, b.link, link_of(b).place) for b in bodies}
        self.mechanism = described.Mechanism(
            path=document.path,
            name=self.top.name,
            links={self.names[b]: self._describe_link(b) for b in bodies},
            joints={},
            report=document.report,
            faults=document.faults,
        )
        for scope in all_scopes(self.top):
            for name, joint in scope.joints.items():
                self.mechanism.joints[self.scoped(scope, name)] = self._describe_joint(scope, joint)

    def scoped(self, scope: Scope, name: str) -> str:
        """The name of a part of a scope as models have it."""
        above = scope
        while above is not self.top:
            name = f"{above.name}::{name}"
            assert above.parent is not None
            above = above.parent
        return name

    def _place(self, place: object) -> str:
        """The place of an element: the line alone where it is of the file itself."""
        text = str(place)
        return text.replace(f"{self.document.path}:", "line ", 1) if text.startswith(f"{self.document.path}:") else text

    # Links

    def _describe_link(self, b: Body) -> described.Link:
        link, name = link_of(b), self.names[b]
        for line, whose in () if is_static(b) else link.losses:
            self.document.report.lose(line, whose)
        inertial = link.inertial
        X_BC = self._in_body(b, inertial.pose, inertial.place)
        R = X_BC.R.matrix
        tensor = inertial.tensor if np.array_equal(R, np.eye(3)) else R @ inertial.tensor @ R.T
        collisions = [
            described.Collision(one.geometry, X, f"{name}::{one.name or number}", self._place(one.place))
            for number, one in enumerate(link.collisions)
            for X in [self._in_body(b, one.pose, one.place)]
        ]
        return described.Link(
            name,
            mass=LinkMass(inertial.mass, np.array(X_BC.p), 0.5 * (tensor + tensor.T)),
            mass_place="" if is_static(b) else self._place(inertial.place),
            visuals=[self._describe_visual(b, one) for one in link.visuals],
            collisions=collisions,
            X_WL=self.X_W[b],
            static=is_static(b),
            gravity=link.gravity,
            group="" if b.scope.self_collide else f"{id(b.scope)}",
            place=self._place(link.place),
        )

    def _describe_visual(self, b: Body, one: ShapeElement) -> described.Visual:
        return described.Visual(one.geometry, self._in_body(b, one.pose, one.place), one.rgba, self._place(one.place))

    def _in_body(self, b: Body, pose: Pose, place: Place) -> Transform:
        if not pose.relative_to or pose.relative_to == b.link:
            return pose.X
        return ~self.X_W[b] @ self.frames.X_W(b.scope, pose.relative_to, place) @ pose.X

    # Joints

    def _describe_joint(self, scope: Scope, joint: Joint) -> described.Joint:
        ends = [self.frames.body_of(scope, name, joint.place) for name in (joint.parent, joint.child)]
        X_WJ = self.frames.X_W(scope, joint.name, joint.place)
        X_PJ, X_CJ = (X_WJ if end is None else ~self.X_W[end] @ X_WJ for end in ends)
        parent, child = (None if end is None else self.names[end] for end in ends)
        return described.Joint(
            self.scoped(scope, joint.name),
            _KINDS[joint.type],
            parent,
            child,
            X_PJ=X_PJ,
            X_CJ=X_CJ,
            axes=[self._describe_axis(scope, joint, axis, X_WJ) for axis in joint.axes],
            advance=joint.screw_pitch / (2.0 * np.pi),
            rotor_inertia=joint.rotor_inertia,
            place=self._place(joint.place),
        )

    def _describe_axis(self, scope: Scope, joint: Joint, axis: Axis, X_WJ: Transform) -> described.Axis:
        direction = np.array(axis.xyz)
        if axis.expressed_in:
            R_WE = self.frames.X_W(scope, axis.expressed_in, joint.place).R.matrix
            direction = X_WJ.R.matrix.T @ (R_WE @ direction)
        mimic = None
        if axis.mimic is not None:
            of = axis.mimic
            mimic = described.Mimic(
                self._find_joint(scope, of.joint), of.axis, of.multiplier, of.offset - of.multiplier * of.reference
            )
        return described.Axis(
            direction.tolist(),
            lower=axis.lower,
            upper=axis.upper,
            effort=axis.effort if math.isfinite(axis.effort) else 0.0,
            stop_stiffness=axis.stiffness,
            stop_dissipation=axis.dissipation,
            damping=axis.damping,
            friction=axis.friction,
            spring_stiffness=axis.spring_stiffness,
            spring_rest=axis.spring_reference,
            start=axis.initial_position,
            mimic=mimic,
        )

    def _find_joint(self, scope: Scope, name: str) -> str:
        """The full name of a joint that a scope calls so; names in nested models are ``nested::name``."""
        words = name.split("::")
        for word in words[:-1]:
            scope = scope.models.get(word, scope)
        return self.scoped(scope, words[-1])

    # What models have besides

    def find_frames(
        self, matter: SimbodyMatterSubsystem, bodies: dict[str, MobilizedBody]
    ) -> dict[str, tuple[MobilizedBody, Transform]]:
        """The frames that the file names: what each is fixed to, and where on it."""
        found = {}
        for scope in all_scopes(self.top):
            for frame in scope.frames.values():
                X_W = self.frames.X_W(scope, frame.name, frame.place)
                b = self.frames.body_of(scope, frame.name, frame.place)
                on = (matter.ground, X_W) if b is None else (bodies[self.names[b]], ~self.X_W[b] @ X_W)
                found[self.scoped(scope, frame.name)] = on
        return found

    def find_data(self) -> dict[str, dict[str, object]]:
        """Joints and collision shapes as the file has them."""
        scopes = list(all_scopes(self.top))
        return {
            "joints": {self.scoped(scope, name): joint for scope in scopes for name, joint in scope.joints.items()},
            "collisions": {name: tuple(link_of(b).collisions) for b, name in self.names.items() if link_of(b).collisions},
        }


def link_of(body: Body) -> Link:
    """The link itself."""
    return body.scope.links[body.link]


def is_static(body: Body) -> bool:
    """True if a link is a part of the world: it is in a static model, at whatever depth."""
    scope: Scope | None = body.scope
    while scope is not None:
        if scope.static:
            return True
        scope = scope.parent
    return False


def all_scopes(top: Scope) -> Iterator[Scope]:
    """A scope and those nested in it, outer ones first."""
    pending = [top]
    while pending:
        scope = pending.pop()
        yield scope
        pending.extend(reversed(scope.models.values()))
