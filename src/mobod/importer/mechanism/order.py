"""A spanning tree of a mechanism's links: the joint that carries each, and the joints that close loops.

Files describe a graph. Links are reached from Ground, first along joints from parent to child, then, where nothing else is
left, from child to parent, by joints that are built the other way round; what no joint connects to Ground is free. A joint
whose links have both been reached already closes a loop.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from .description import Joint, Mechanism


class Branch(NamedTuple):
    """The way to a link: by a joint, from its parent unless reversed; without one it is free, or a part of Ground."""

    link: str
    inboard: str | None
    joint: Joint | None
    reversed: bool = False


class Order(NamedTuple):
    """The links depth first, in the order of the joints, and the joints that close loops."""

    branches: list[Branch]
    loops: list[Joint]


def find_order(mechanism: Mechanism) -> Order:
    """Order the links of a mechanism.

    Raises
    ------
    ModelError
        A joint connects a link with itself.
    """
    links = mechanism.links
    ground: set[str | None] = {None, *(name for name, link in links.items() if link.static)}
    joints = []
    for joint in mechanism.joints.values():
        if joint.parent == joint.child:
            raise mechanism.fail(joint.place, f"joint {joint.name!r} connects {joint.parent!r} with itself")
        if joint.parent in ground and joint.child in ground:
            mechanism.report.depart(f"{joint.place}: joint {joint.name!r} connects parts of the world, and is left out")
        else:
            joints.append(joint)
    reached, loops = _reach(list(links), joints, ground)
    loops = _without_rigid(mechanism, reached, loops, ground)
    outboard: dict[str | None, list[Branch]] = {}
    place = {id(joint): number for number, joint in enumerate(joints)}
    for branch in reached:
        outboard.setdefault(branch.inboard, []).append(branch)
    for branches in outboard.values():  # in the file's order; a sort keeps those that no joint carries in front
        branches.sort(key=lambda branch: -1 if branch.joint is None else place[id(branch.joint)])
    order: list[Branch] = []
    pending = list(reversed(outboard.get(None, [])))
    while pending:
        branch = pending.pop()
        order.append(branch)
        pending.extend(reversed(outboard.get(branch.link, [])))
    return Order(order, loops)


def _without_rigid(mechanism: Mechanism, branches: list[Branch], loops: list[Joint], ground: set[str | None]) -> list[Joint]:
    """Loops without fixed joints between links that are fixed to each other anyway: these hold nothing."""
    whole: dict[str | None, str | None] = {}  # the innermost link that a link is fixed to
    for branch in branches:
        fixed = branch.joint is not None and branch.joint.kind == "fixed"
        whole[branch.link] = whole.get(branch.inboard) if fixed else None if branch.link in ground else branch.link
    kept = []
    for joint in loops:
        if joint.kind == "fixed" and whole.get(joint.parent) == whole.get(joint.child):
            mechanism.report.append(
                f"{joint.place}: joint {joint.name!r} is between links that are fixed to each other already"
            )
        else:
            kept.append(joint)
    return kept


def _reach(links: list[str], joints: list[Joint], ground: set[str | None]) -> tuple[list[Branch], list[Joint]]:
    """The branches, inboard ones first, and the joints that are left."""
    branches = [Branch(link, None, None) for link in links if link in ground]
    reached = set(ground)
    used: set[int] = set()
    outward: dict[str | None, list[Joint]] = {}
    inward: dict[str | None, list[Joint]] = {}
    for joint in joints:
        outward.setdefault(joint.parent, []).append(joint)
        inward.setdefault(joint.child, []).append(joint)
    # in the order in which they were reached; those from whose children nothing has been looked for yet
    first = [None, *(branch.link for branch in branches)]
    forward: deque[str | None] = deque(first)
    backward: deque[str | None] = deque(first)
    bases = deque([link for link in links if link not in inward] + [link for link in links if link in inward])

    def reach(branch: Branch) -> None:
        branches.append(branch)
        reached.add(branch.link)
        forward.append(branch.link)
        backward.append(branch.link)
        if branch.joint is not None:
            used.add(id(branch.joint))

    while True:
        if forward:
            inboard = forward.popleft()
            for joint in outward.get(inboard, ()):
                if joint.child is not None and joint.child not in reached:
                    reach(Branch(joint.child, inboard, joint))
        elif backward:
            inboard = backward.popleft()
            for joint in inward.get(inboard, ()):
                if joint.parent is not None and joint.parent not in reached:
                    reach(Branch(joint.parent, inboard, joint, True))
        elif bases:
            base = bases.popleft()
            if base not in reached:
                reach(Branch(base, None, None))
        else:
            return branches, [joint for joint in joints if id(joint) not in used]
