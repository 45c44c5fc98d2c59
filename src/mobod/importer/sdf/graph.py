"""Which joint carries which link: a spanning tree of an SDF document's links, and the joints that close loops.

SDF describes a graph. Links are reached from the world, first along joints from parent to child, then, where nothing else is
left, from child to parent, by joints that are built the other way round; what no joint connects to the world is free. A joint
whose links have both been reached already closes a loop.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from ...errors import ModelError
from .document import Joint, Link, Scope
from .frames import Body, Frames


class Edge(NamedTuple):
    """A joint of a scope, and the links that it connects; none is the world."""

    scope: Scope
    joint: Joint
    parent: Body | None
    child: Body | None


class Branch(NamedTuple):
    """How a link is reached: by a joint, from its parent unless reversed; without one it is free, or a part of the world."""

    body: Body
    inboard: Body | None
    edge: Edge | None
    reversed: bool = False


class Graph(NamedTuple):
    """The links in order, inboard ones first; and joints that close loops, of which an end can move."""

    branches: list[Branch]
    loops: list[Edge]
    notes: list[str]


def link_of(body: Body) -> Link:
    """The link itself."""
    return body.scope.links[body.link]


def is_static(body: Body | None) -> bool:
    """Whether a link is a part of the world: it is in a static model, at whatever depth."""
    scope = None if body is None else body.scope
    while scope is not None:
        if scope.static:
            return True
        scope = scope.parent
    return body is None


def all_scopes(top: Scope) -> Iterator[Scope]:
    """A scope and those nested in it, outer ones first."""
    pending = [top]
    while pending:
        scope = pending.pop()
        yield scope
        pending.extend(reversed(scope.models.values()))


def build_graph(top: Scope, frames: Frames) -> Graph:
    """Order the links of a scope and of those nested in it.

    Raises
    ------
    ModelError
        A joint connects a link with itself, or names what is not there.
    """
    bodies = [Body(scope, name) for scope in all_scopes(top) for name in scope.links]
    edges, notes = [], []
    for scope in all_scopes(top):
        for joint in scope.joints.values():
            parent = frames.body_of(scope, joint.parent, joint.place)
            child = frames.body_of(scope, joint.child, joint.place)
            if parent == child:
                raise ModelError(f"{joint.place}: joint {joint.name!r} connects {joint.parent!r} with itself")
            if is_static(parent) and is_static(child):
                notes.append(f"{joint.place}: joint {joint.name!r} connects parts of the world, and is left out")
            else:
                edges.append(Edge(scope, joint, parent, child))
    return Graph(*_span(bodies, edges), notes)


def _span(bodies: list[Body], edges: list[Edge]) -> tuple[list[Branch], list[Edge]]:
    branches = [Branch(body, None, None) for body in bodies if is_static(body)]
    reached: set[Body | None] = {None, *(branch.body for branch in branches)}
    used: set[int] = set()
    outward: dict[Body | None, list[int]] = {}
    inward: dict[Body | None, list[int]] = {}
    for number, edge in enumerate(edges):
        outward.setdefault(edge.parent, []).append(number)
        inward.setdefault(edge.child, []).append(number)
    # in the order in which they were reached; those from whose children nothing has been looked for yet
    forward: deque[Body | None] = deque(reached)
    backward: deque[Body | None] = deque(reached)
    is_child = {edge.child for edge in edges}
    bases = deque([b for b in bodies if b not in is_child] + [b for b in bodies if b in is_child])

    def reach(body: Body, inboard: Body | None, number: int | None, reverse: bool) -> None:
        edge = None if number is None else edges[number]
        branches.append(Branch(body, inboard, edge, reverse))
        reached.add(body)
        forward.append(body)
        backward.append(body)
        if number is not None:
            used.add(number)

    while True:
        if forward:
            inboard = forward.popleft()
            for number in outward.get(inboard, ()):
                child = edges[number].child
                if child is not None and child not in reached:
                    reach(child, inboard, number, False)
        elif backward:
            inboard = backward.popleft()
            for number in inward.get(inboard, ()):
                parent = edges[number].parent
                if parent is not None and parent not in reached:
                    reach(parent, inboard, number, True)
        elif bases:
            base = bases.popleft()
            if base not in reached:
                reach(base, None, None, False)
        else:
            return branches, [edge for number, edge in enumerate(edges) if number not in used]
