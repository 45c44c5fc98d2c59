"""The joint that moves each body: a tree of bodies from Ground on, the joints that close loops cut open.

The choices are those of the reference, so that coordinates, massless bodies and cut joints are the same ones: bodies level by
level, joints in the order of the file; a joint whose child is nearer to Ground is reversed; a body without a joint floats; a
joint that closes a loop moves a copy of its child, which is welded to it and takes an equal share of its mass.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .document import Item

#: Joints that need not be free: OpenSim lets a body without mass end a branch there, where functions or constraints move it.
NOT_FREE = ("WeldJoint", "CustomJoint")


@dataclass(eq=False)
class Node:
    """A body as the tree sees it."""

    item: Item
    mass: float
    level: int = -1
    as_parent: list[Link] = field(default_factory=list)
    as_child: list[Link] = field(default_factory=list)


@dataclass(eq=False)
class Link:
    """A joint as the tree sees it; item is None for one that is added to a body that floats."""

    item: Item | None
    parent: Node
    child: Node
    is_used: bool = False


@dataclass(eq=False)
class Mobilizer:
    """A joint's place in the tree: from a body nearer to Ground to another, or to a copy of it."""

    joint: Link
    is_reversed: bool
    #: 0 for the body itself, 1, 2, ... for its copies.
    copy: int = 0

    @property
    def outboard(self) -> Node:
        """The body that is moved."""
        return self.joint.parent if self.is_reversed else self.joint.child


class Tree:
    """Mobilizers, parents first, and the joints that close loops without a copy: those that hold everything or nothing."""

    def __init__(self, ground: Item, bodies: list[tuple[Item, float]], joints: list[tuple[Item, Item, Item]]) -> None:
        self.mobilizers: list[Mobilizer] = []
        self.loops: list[Link] = []
        self.nodes = {id(ground): Node(ground, 0.0, 0)}
        for item, mass in bodies:
            self.nodes[id(item)] = Node(item, mass)
        self.links = []
        for joint, parent, child in joints:
            link = Link(joint, self.nodes[id(parent)], self.nodes[id(child)])
            link.parent.as_parent.append(link)
            link.child.as_child.append(link)
            self.links.append(link)
        self._check_massless(bodies)
        self._grow()
        while (base := self._next_base()) is not None:
            link = Link(None, self.nodes[id(ground)], base)
            self.links.append(link)
            self._add(link)
            self._grow()
        self.copies = self._break_loops()

    def _check_massless(self, bodies: list[tuple[Item, float]]) -> None:
        for item, mass in bodies:
            node = self.nodes[id(item)]
            joints = node.as_parent + node.as_child
            if mass == 0.0 and not joints:
                item.refuse(
                    f"body {item.name!r} has no mass and no joint, so nothing says how it moves; give it one of the two"
                )
            if mass == 0.0 and len(joints) == 1 and joints[0].item is not None and joints[0].item.tag not in NOT_FREE:
                item.refuse(
                    f"body {item.name!r} has no mass and ends a branch, where joint {joints[0].item.name!r} is free to move "
                    "it: its acceleration is not determined; give it a mass, or weld it"
                )

    def _add(self, link: Link) -> None:
        link.is_used = True
        is_reversed = link.parent.level < 0
        mobilizer = Mobilizer(link, is_reversed)
        mobilizer.outboard.level = (link.child if is_reversed else link.parent).level + 1
        self.mobilizers.append(mobilizer)

    def _grow(self) -> None:
        """Add the joints between a body of the tree and one outside, level by level."""
        added: set[int] = set()
        level = 0
        while True:
            level += 1
            any_at_level = False
            for link in self.links:
                if link.is_used:
                    any_at_level |= id(link) in added and max(link.parent.level, link.child.level) == level
                    continue
                inside = [node for node in (link.parent, link.child) if node.level >= 0]
                if len(inside) != 1 or inside[0].level != level - 1:
                    continue
                self._add(link)
                added.add(id(link))
                any_at_level = True
                if link.item is None or link.item.tag not in NOT_FREE:
                    self._past_massless(added)
            if not any_at_level:
                return

    def _past_massless(self, added: set[int]) -> None:
        """A body without mass must not end a branch: go on from it at once, to a body with mass if there is one."""
        while (node := self.mobilizers[-1].outboard).mass == 0.0:
            ways = [
                max(
                    (link for link in links if not link.is_used and other(link).level < 0),
                    key=lambda a: other(a).mass,
                    default=None,
                )
                for links, other in ((node.as_parent, _child), (node.as_child, _parent))
            ]
            choice = None
            for way, other in zip(ways, (_child, _parent), strict=True):
                if choice is None and way is not None and other(way).mass > 0.0:
                    choice = way
            choice = choice or ways[0] or ways[1]
            if choice is None:
                node.item.refuse(
                    f"body {node.item.name!r} has no mass and ends a branch of the tree, where its joint is free to move it; "
                    "give it a mass, or weld it"
                )
            self._add(choice)
            added.add(id(choice))

    def _next_base(self) -> Node | None:
        """A body that is not in the tree: one that is no joint's child if there is any, with most children of its own."""
        outside = [node for node in self.nodes.values() if node.level < 0]
        if not outside:
            return None
        return min(outside, key=lambda node: (bool(node.as_child), -len(node.as_parent)))

    def _break_loops(self) -> dict[int, int]:
        """Cut the joints that are left; returns how many copies each body has."""
        copies: dict[int, int] = {}
        for link in self.links:
            if link.is_used or link.item is None:
                continue
            if link.item.tag in ("WeldJoint", "FreeJoint"):
                self.loops.append(link)
                continue
            is_reversed = link.child.level == 0  # of Ground there is no copy
            body = id((link.parent if is_reversed else link.child).item)
            copies[body] = copies.get(body, 0) + 1
            self.mobilizers.append(Mobilizer(link, is_reversed, copies[body]))
            link.is_used = True
        return copies


def _child(link: Link) -> Node:
    return link.child


def _parent(link: Link) -> Node:
    return link.parent
