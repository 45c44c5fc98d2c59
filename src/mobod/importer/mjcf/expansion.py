"""The number of elements that MuJoCo would make of a file: counted before it does, as too many take all memory."""

from __future__ import annotations

import math
import re
from pathlib import Path

from ...errors import ModelError
from ..xml_element import MAX_ELEMENTS, Element, read_xml

#: What stands for many elements.
_MANY = ("replicate", "composite", "flexcomp")
_COUNTED = re.compile(rf"<({'|'.join(_MANY)}|include)\b([^>]*)")
_ATTRIBUTE = re.compile(r"""(\w+)\s*=\s*(["'])(.*?)\2""", re.DOTALL)
#: Files that include each other, at most.
_MOST_FILES = 1000


def check_expansion(name: str) -> None:
    """Refuse a file whose replicates, composites and flexible bodies stand for more elements than any file may have.

    Parameters
    ----------
    name : str
        Of the MJCF file; those that it includes count.

    Raises
    ------
    ModelError
        With the line of the element that stands for too many.
    """
    waiting, files, total = [(Path(name), 1.0)], 0, 0.0
    while waiting and files < _MOST_FILES:
        path, times = waiting.pop()
        files += 1
        if not path.is_file():
            continue  # MuJoCo says so
        data = path.read_bytes()
        if not any(f"<{tag}".encode() in data for tag in (*_MANY, "include")):
            continue
        elements: list[tuple[Element, float]] = [(_read(path, data), times)]
        while elements:
            element, times = elements.pop()
            if element.tag in _MANY:
                times *= _count(element)
            total += times
            if total > MAX_ELEMENTS:
                raise ModelError(
                    f"{path}:{element.line}: with <{element.tag}> the file stands for more than {MAX_ELEMENTS} elements; "
                    "give it a smaller count"
                )
            if element.tag == "include" and "file" in element.attributes:
                waiting.append((path.parent / element.attributes["file"], times))
            elements += [(child, times) for child in element.children]


def _read(path: Path, data: bytes) -> Element:
    """The file's elements; of what MuJoCo takes and XML does not allow, all that count, each in the one before it."""
    try:
        return read_xml(path, any_bytes=True)
    except ModelError:
        root = last = Element("mujoco", {}, 1)
        for found in _COUNTED.finditer(data.decode("utf-8", "replace")):
            line = data.count(b"\n", 0, found.start()) + 1
            one = Element(found[1], {key: value for key, _, value in _ATTRIBUTE.findall(found[2])}, line)
            (root if one.tag == "include" else last).children.append(one)
            last = last if one.tag == "include" else one
        return root


def _count(element: Element) -> float:
    """The product of an element's counts; 1 of those that are none, of which MuJoCo says that they are wrong."""
    try:
        return math.prod(max(1.0, float(one)) for one in element.attributes.get("count", "").split())
    except ValueError:
        return 1.0
