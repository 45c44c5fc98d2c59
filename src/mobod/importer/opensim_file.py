"""Files of OpenSim's tools as trees of elements, with what their defaults say."""

from __future__ import annotations

import copy
from pathlib import Path

from ..errors import ModelError
from .xml_element import Element, read_xml

#: What may stand around and between numbers.
BRACKETS = str.maketrans("()[]{},~", "        ")
#: Names of objects of tools that have others now.
RENAMED = {
    "IKTool": "InverseKinematicsTool",
    "rdCMC_TaskSet": "CMC_TaskSet",
    "rdCMC_Joint": "CMC_Joint",
    "rdCMC_Point": "CMC_Point",
}


def read_opensim_file(path: Path) -> Element:
    """The root of a setup file, or of one of tasks, loads, controls or markers; its defaults are applied, and gone.

    Old names of its objects are those of today.

    Raises
    ------
    ModelError
        If it is no XML; with file and line.
    FileNotFoundError
        If it is not there.
    """
    root = read_xml(path, with_text=True, any_bytes=True, faults=[])
    waiting = [root]
    while waiting:  # before defaults are applied, which are found by names
        element = waiting.pop()
        element.tag = RENAMED.get(element.tag, element.tag)
        waiting += element.children
    waiting = [root]
    while waiting:
        element = waiting.pop()
        apply_defaults(element)
        element.children = [child for child in element.children if child.tag != "defaults"]
        waiting += element.children
    return root


def apply_defaults(owner: Element) -> None:
    """Give objects in an element what its defaults say of their kind, where they say nothing themselves.

    Of two defaults of a kind the first counts, whatever its name, and defaults of parts within are none, as in OpenSim.
    """
    defaults: dict[str, Element] = {}
    for group in owner.find_all("defaults"):
        for one in group.children:
            defaults.setdefault(one.tag, one)
    if not defaults:
        return
    waiting = [child for child in owner.children if child.tag != "defaults"]
    while waiting:
        element = waiting.pop()
        waiting.extend(element.children)
        default = defaults.get(element.tag)
        if default is not None:
            present = {child.tag for child in element.children}
            element.children += [copy.deepcopy(child) for child in default.children if child.tag not in present]


def all_named(element: Element, tag: str) -> list[Element]:
    """All elements below one, or this one, that have a tag, in the order of the file."""
    return [one for one in element.below() if one.tag == tag]


def first_named(element: Element, tag: str) -> Element | None:
    """The first of these."""
    return next(iter(all_named(element, tag)), None)


def flag_of(element: Element, tag: str, usual: bool = False) -> bool:
    """True if a child says so; *usual* where it says nothing."""
    text = element.text_of(tag).lower()
    return usual if not text else text in ("true", "1")


def number_of(path: Path, element: Element, tag: str, usual: float) -> float:
    """The number of a child; *usual* where it says none."""
    text = element.text_of(tag)
    try:
        return usual if text.lower() in ("", "unassigned") else float(text)
    except ValueError:
        raise ModelError(f"{path}:{element.line}: the <{tag}> is a number, not {text!r}") from None


def numbers_of(path: Path, element: Element, tag: str, usual: list[float], count: int | None = None) -> list[float]:
    """The numbers of a child, as many as *count* says; *usual* where it says none."""
    words = element.text_of(tag).translate(BRACKETS).split()
    try:
        found = [float(word) for word in words] or usual
    except ValueError:
        raise ModelError(f"{path}:{element.line}: the <{tag}> is of numbers, not {' '.join(words)!r}") from None
    if count not in (None, len(found)):
        raise ModelError(f"{path}:{element.line}: the <{tag}> has {count} numbers, not {len(found)}")
    return found
