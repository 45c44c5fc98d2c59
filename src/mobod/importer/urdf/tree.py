"""The links of a `UrdfDocument` have to be a tree: one root, every other link with one parent, no loops."""

from __future__ import annotations

from ...errors import ModelError
from .document import Joint, UrdfDocument


def find_root(document: UrdfDocument) -> str:
    """The link that has no parent.

    Parameters
    ----------
    document : UrdfDocument
        A document whose joints name existing links.

    Raises
    ------
    ModelError
        A link has two parents, there are two roots, or joints form a loop. The message names them,
        with lines.
    """
    inboard: dict[str, Joint] = {}
    outboard: dict[str, list[str]] = {link: [] for link in document.links}
    for joint in document.joints.values():
        other = inboard.setdefault(joint.child, joint)
        if other is not joint:
            raise ModelError(
                f"{document.path}:{joint.line}: link {joint.child!r} has two parents: "
                f"{other.parent!r} by joint {other.name!r} (line {other.line}) and "
                f"{joint.parent!r} by joint {joint.name!r}"
            )
        outboard[joint.parent].append(joint.child)

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

    reached: set[str] = set()
    pending = [roots[0]]
    while pending:
        link = pending.pop()
        reached.add(link)
        pending.extend(outboard[link])
    for link in document.links:
        if link not in reached:
            _raise_loop(document, inboard, link)
    return roots[0]


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
