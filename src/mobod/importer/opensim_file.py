"""Files of OpenSim's tools as trees of elements, with what their defaults say."""

from __future__ import annotations

import copy
import os
from pathlib import Path

from ..errors import ModelError
from .xml_element import Element, read_xml

#: The element around all others, and how deep files may name files.
ROOT, _MOST_FILES_DEEP = "OpenSimDocument", 10
#: What may stand around and between numbers.
BRACKETS = str.maketrans("()[]{},~", "        ")
#: Names of objects of tools that have others now.
RENAMED = {
    "IKTool": "InverseKinematicsTool",
    "rdCMC_TaskSet": "CMC_TaskSet",
    "rdCMC_Joint": "CMC_Joint",
    "rdCMC_Point": "CMC_Point",
}


def beside(path: Path, name: str) -> Path:
    """A file that another one names: from its folder, else from the present one, else of that name in its folder."""
    asked = Path(name.replace("\\", "/"))
    for candidate in (path.parent / asked, asked, path.parent / asked.name):
        if candidate.is_file():
            return candidate
    raise FileNotFoundError(2, f"the file that {path} names is not there", os.fspath(path.parent / asked))


def read_with_parts(path: str, faults: list[str] | None = None, above: tuple[str, ...] = ()) -> Element:
    """The root of a file, with what other files hold in the place of elements that name them by their attribute ``file``.

    Files *above* name this one; for *faults* see `read_xml`.
    """
    if len(above) == _MOST_FILES_DEEP:
        raise ModelError(f"{path}: files that include files, more than {_MOST_FILES_DEEP} deep: {' -> '.join(above)}")
    root = read_xml(path, with_text=True, any_bytes=True, faults=faults)
    waiting = [root]
    while waiting:
        item = waiting.pop()
        for k, child in enumerate(item.children):
            name = child.attributes.get("file", "").strip()
            if not name or not child.tag[:1].isupper():
                waiting.append(child)
                continue
            try:
                file = os.fspath(beside(Path(path), name))
            except FileNotFoundError:
                raise ModelError(f"{path}:{child.line}: <{child.tag}> is in the file {name!r}, which is not there") from None
            part = read_with_parts(file, faults, (*above, path))
            if part.tag == ROOT:
                if not part.children:
                    raise ModelError(f"{file}:{part.line}: <{ROOT}> is empty")
                part = next((one for one in part.children if one.tag == child.tag), part.children[0])
            for one in part.below():
                one.file = one.file or file
            if "name" in child.attributes:
                part.attributes.setdefault("name", child.attributes["name"])
            item.children[k] = part
    return root


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
    root = read_with_parts(os.fspath(path), [])
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
