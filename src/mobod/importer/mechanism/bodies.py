"""Bodies, mobilizers and loops of a mechanism.

With X_PJ and X_CJ the joint's frame in parent and child, and A a rotation that takes the mobilizer's own axis (z, of sliders x)
to the joint's, the mobilizer's frames are

    X_PF = X_PJ A    X_BM = X_CJ A    hence    X_PB = X_PJ A X_FM(q) ~A ~X_CJ

which is X_PJ ~X_CJ at q = 0, as files want it. A joint that is reached from its child is built reversed, with the same
frames, so that its coordinates keep their meaning. A joint that closes a loop keeps its coordinates too: the link that it would
carry is split in as many equal parts as joints carry it, and the parts are welded together by constraints.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ... import body, constraint, mobilizer
from ...algebra.arrays import Array
from ...constraint.base import Constraint
from ...force.subsystem import GeneralForceSubsystem
from ...mobilizer import Direction
from ...mobilizer.base import MobilizedBody
from ...system.matter import SimbodyMatterSubsystem
from ...system.system import MultibodySystem
from ...value import Transform
from ..parts import LinkMass, make_body, rotation_taking
from .description import NUM_Q, NUM_U, Axis, Joint, Mechanism
from .looks import Looks
from .order import Branch, Order


class Coordinate(NamedTuple):
    """One axis of a joint: the body whose coordinate it is, which of its coordinates, and what the file says of it."""

    name: str
    mobod: MobilizedBody
    which: int
    axis: Axis
    joint: Joint
    angular: bool

    def get_default(self) -> float:
        """The coordinate in new states."""
        return float(np.atleast_1d(self.mobod.get_default_q())[self.which])

    def set_default(self, value: float) -> None:
        """Set the coordinate in new states."""
        q = np.atleast_1d(self.mobod.get_default_q()).copy()
        q[self.which] = value
        self.mobod.set_default_q(q)


class Bodies:
    """Makes the bodies of one mechanism, inboard ones first.

    Attributes
    ----------
    of_link, shadows : dict, list
        The bodies of links, and further parts of those that loops split, with the link.
    coordinates, speeds : dict of str to int
        As `Model` has them.
    axes : dict of (str, int) to Coordinate
        By joint and number of the axis: those that can move.
    constraints : dict of str to Constraint
        What closes loops.
    """

    def __init__(self, mechanism: Mechanism, order: Order, masses: dict[str, LinkMass], welded: set[str], looks: Looks) -> None:
        self.mechanism, self.masses, self.welded, self.looks = mechanism, masses, welded, looks
        self.system = MultibodySystem()
        self.matter = SimbodyMatterSubsystem(self.system)
        self.forces = GeneralForceSubsystem(self.system)
        self.of_link: dict[str, MobilizedBody] = {}
        self.shadows: list[tuple[str, MobilizedBody]] = []
        self.coordinates: dict[str, int] = {}
        self.speeds: dict[str, int] = {}
        self.axes: dict[tuple[str, int], Coordinate] = {}
        self.constraints: dict[str, Constraint] = {}
        self._taken = {self.matter.ground.name}
        self._links = set(mechanism.links)
        self.parts = dict.fromkeys(mechanism.links, 1)  # how many bodies each link is split in
        for joint in order.loops:
            if joint.kind != "fixed":
                self.parts[self._split_end(joint)] += 1
        for branch in order.branches:
            self.of_link[branch.link] = self._attach(branch)
        for joint in order.loops:
            self._close(joint)

    def _free_name(self, name: str) -> str:
        """The name, or one near it if Ground or another body has that already."""
        own = name
        while own in self._taken or (own != name and own in self._links):
            own += "_link"
        self._taken.add(own)
        return own

    def _body_of(self, link: str, with_looks: bool) -> body.Body:
        mass, count = self.masses[link], self.parts[link]
        part = make_body(LinkMass(mass.mass / count, mass.com, mass.central_inertia / count) if count > 1 else mass)
        for visual in self.mechanism.links[link].visuals if with_looks else ():
            self.looks.decorate(part, visual)
        return part

    def _attach(self, branch: Branch) -> MobilizedBody:
        link = self.mechanism.links[branch.link]
        part, name = self._body_of(link.name, True), self._free_name(link.name)
        if branch.joint is not None:
            return self._join(branch.joint, branch.inboard, part, name, branch.reversed, link.name in self.welded)
        ground = self.matter.ground
        mobod: MobilizedBody
        if link.static or link.name in self.welded:
            mobod = mobilizer.Weld(ground, part, X_PF=link.X_WL, name=name)
        else:
            mobod = mobilizer.Free(ground, part, name=name)
            mobod.set_default_q([*link.X_WL.R.to_quaternion(), *link.X_WL.p])
            self._name_coordinates(link.name, "free", link.place)
        mobod.joint_name = link.name
        return mobod

    def _join(
        self, joint: Joint, inboard: str | None, part: body.Body, name: str, is_reversed: bool, weld: bool
    ) -> MobilizedBody:
        """Make the mobilizer of a joint."""
        carrier = self.matter.ground if inboard is None else self.of_link[inboard]
        X_IJ, X_BJ = (joint.X_CJ, joint.X_PJ) if is_reversed else (joint.X_PJ, joint.X_CJ)
        kind = "fixed" if weld else joint.kind
        given: dict[str, Any] = {"name": name, "direction": Direction.REVERSE if is_reversed else Direction.FORWARD}
        mobod: MobilizedBody
        if kind == "universal":
            return self._join_by_two(joint, carrier, part, X_IJ, X_BJ, given)
        if kind == "fixed":
            mobod = mobilizer.Weld(carrier, part, X_PF=X_IJ, X_BM=X_BJ, name=name)
        elif kind in ("ball", "free"):
            of_kind = mobilizer.Ball if kind == "ball" else mobilizer.Free
            mobod = of_kind(carrier, part, X_PF=X_IJ, X_BM=X_BJ, **given)
        else:
            A = _along(0 if kind == "prismatic" else 2, joint.axes[0])
            given |= {"X_PF": X_IJ @ A, "X_BM": X_BJ @ A}
            if kind == "prismatic":
                mobod = mobilizer.Slider(carrier, part, **given)
            elif kind == "screw":
                mobod = mobilizer.Screw(carrier, part, pitch=joint.advance, **given)
            else:
                mobod = (mobilizer.Planar if kind == "planar" else mobilizer.Pin)(carrier, part, **given)
        mobod.joint_name = joint.name
        if kind in NUM_Q:
            self._name_coordinates(joint.name, kind, joint.place)
        else:
            if joint.rotor_inertia:
                mobod.set_default_rotor_inertia(joint.rotor_inertia)
            self._add_axis(joint, 0, joint.name, mobod, 0, kind != "prismatic")
        return mobod

    def _join_by_two(
        self, joint: Joint, carrier: MobilizedBody, part: body.Body, X_IJ: Transform, X_BJ: Transform, given: dict[str, Any]
    ) -> MobilizedBody:
        """A joint of two axes: a universal one where these are at right angles, else two pins with nothing between them."""
        first, second = (np.array(axis.direction) for axis in joint.axes)
        across = np.cross(first, second)
        if np.linalg.norm(across) < 1e-6:
            why = "has two axes in one direction, and so one coordinate too many"
            raise self.mechanism.fail(joint.place, f"joint {joint.name!r} {why}")
        if abs(float(first @ second)) < 1e-12:
            A = Transform.trusted(np.column_stack([first, second, across]), np.zeros(3))
            mobod: MobilizedBody = mobilizer.Universal(carrier, part, X_PF=X_IJ @ A, X_BM=X_BJ @ A, **given)
            mobod.joint_name = joint.name
            for number in (0, 1):
                self._add_axis(joint, number, f"{joint.name}[{number}]", mobod, number, True)
            return mobod
        here, there = (0, 1) if given["direction"] is Direction.FORWARD else (1, 0)
        A, B = _along(2, joint.axes[here]), _along(2, joint.axes[there])
        between = self._free_name(f"{given['name']} (between the axes of {joint.name})")
        middle = mobilizer.Pin(carrier, body.Massless(), X_PF=X_IJ @ A, X_BM=A, **{**given, "name": between})
        mobod = mobilizer.Pin(middle, part, X_PF=B, X_BM=X_BJ @ B, **given)
        for number, one in ((here, middle), (there, mobod)):
            one.joint_name = f"{joint.name}[{number}]"
            self._add_axis(joint, number, one.joint_name, one, 0, True)
        return mobod

    # Names of coordinates

    def _add_axis(self, joint: Joint, number: int, name: str, mobod: MobilizedBody, which: int, angular: bool) -> None:
        self._add_name(self.coordinates, name, joint.place)
        self._add_name(self.speeds, name, joint.place)
        one = Coordinate(name, mobod, which, joint.axes[number], joint, angular)
        self.axes[joint.name, number] = one
        if one.axis.start:
            one.set_default(one.axis.start)

    def _name_coordinates(self, name: str, kind: str, place: str) -> None:
        for names, count in ((self.coordinates, NUM_Q[kind]), (self.speeds, NUM_U[kind])):
            for number in range(count):
                self._add_name(names, f"{name}[{number}]", place)

    def _add_name(self, names: dict[str, int], name: str, place: str) -> None:
        if name in names:
            raise self.mechanism.fail(place, f"two coordinates would be called {name!r}; rename a joint")
        names[name] = len(names)

    # Loops

    def _split_end(self, joint: Joint) -> str:
        """The link that a joint which closes a loop splits: the child, unless it is a part of Ground."""
        child, parent = joint.child, joint.parent
        end = parent if child is None or self.mechanism.links[child].static else child
        assert end is not None
        return end

    def _close(self, joint: Joint) -> None:
        report = self.mechanism.report
        if joint.kind == "fixed":
            one, other = (self.matter.ground if end is None else self.of_link[end] for end in (joint.parent, joint.child))
            self.constraints[joint.name] = constraint.Weld(one, joint.X_PJ, other, joint.X_CJ, name=joint.name)
            report.append(f"{joint.place}: joint {joint.name!r} closes a loop: a weld, by a constraint")
            return
        link = self._split_end(joint)
        is_reversed = link != joint.child
        name = self._free_name(f"{link} ({joint.name})")
        inboard = joint.child if is_reversed else joint.parent
        shadow = self._join(joint, inboard, self._body_of(link, False), name, is_reversed, link in self.welded)
        self.shadows.append((link, shadow))
        whole = self.of_link[link]
        self.constraints[joint.name] = constraint.Weld(whole, Transform(), shadow, Transform(), name=joint.name)
        report.append(
            f"{joint.place}: joint {joint.name!r} closes a loop: {link!r} is in {self.parts[link]} parts, welded by constraints"
        )


def _along(which: int, axis: Axis) -> Transform:
    """The rotation A that takes a coordinate axis to a joint's."""
    A: Array = rotation_taking(which, np.array(axis.direction))
    return Transform.trusted(A, np.zeros(3))
