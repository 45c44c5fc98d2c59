"""The links of a `UrdfDocument` as a tree: one root, every other link with one parent, no loops."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import ModelError
from .document import Joint, UrdfDocument


@dataclass(frozen=True, slots=True)
class UrdfTree:
    """The links' order, parents first, and the joint that each hangs on (None for the root)."""

    root: str
    inboard_joint: dict[str, Joint | None]
    """By link name; iterates depth first, branches in the order of their joints in the file."""

    @property
    def moving_order(self) -> list[tuple[str, Joint]]:
        """Every link but the root with its joint, parents first."""
        return [(link, joint) for link, joint in self.inboard_joint.items() if joint is not None]


def build_tree(document: UrdfDocument) -> UrdfTree:
    """Order the links of a document from the root outward.

    Parameters
    ----------
    document : UrdfDocument
        A document whose joints name existing links.

    Returns
    -------
    UrdfTree
        The links, parents first.

    Raises
    ------
    ModelError
        A link has two parents, there are two roots, or joints form a loop. The message names them,
        with lines.
    """
    inboard: dict[str, Joint] = {}
    outboard: dict[str, list[Joint]] = {link: [] for link in document.links}
    for joint in document.joints.values():
        other = inboard.setdefault(joint.child, joint)
        if other is not joint:
            raise ModelError(
                f"{document.path}:{joint.line}: link {joint.child!r} has two parents: "
                f"{other.parent!r} by joint {other.name!r} (line {other.line}) and "
                f"{joint.parent!r} by joint {joint.name!r}"
            )
        outboard[joint.parent].append(joint)

    roots = [link for link in document.links if link not in inboard]
    if not roots:
        _raise_loop(document, inboard, next(iter(document.links)))
    if len(roots) > 1:
        second = document.links[roots[1]]
        others = f" (and {len(roots) - 2} more)" if len(roots) > 2 else ""
        raise ModelError(
            f"{document.path}:{second.line}: the links form {len(roots)} separate trees: "
            f"{roots[0]!r} and {roots[1]!r}{others} have no parent; connect them by a joint"
        )

    order: dict[str, Joint | None] = {}
    pending: list[tuple[str, Joint | None]] = [(roots[0], None)]
    while pending:
        link, inboard_joint = pending.pop()
        order[link] = inboard_joint
        pending.extend((joint.child, joint) for joint in reversed(outboard[link]))
    for link in document.links:
        if link not in order:
            _raise_loop(document, inboard, link)
    return UrdfTree(roots[0], order)


def _raise_loop(document: UrdfDocument, inboard: dict[str, Joint], link: str) -> None:
    """Raise the error for a link that no root leads to: walking inward from it ends in a loop."""
    path: list[str] = []
    place: dict[str, int] = {}
    while link not in place:
        place[link] = len(path)
        path.append(link)
        link = inboard[link].parent
    loop = path[place[link] :][::-1]
    shown = loop if len(loop) <= 8 else [*loop[:4], "...", *loop[-3:]]
    joint = inboard[loop[0]]
    raise ModelError(
        f"{document.path}:{joint.line}: the joints form a loop: {' -> '.join([*shown, loop[0]])}; a URDF file describes a tree"
    )
