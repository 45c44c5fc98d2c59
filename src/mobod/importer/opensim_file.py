"""Files of OpenSim's tools as trees of elements, with what their defaults say."""

from __future__ import annotations

import copy
from pathlib import Path

from .xml_element import Element, read_xml


def read_opensim_file(path: Path) -> Element:
    """The root of a setup file, or of one of tasks, loads, controls or markers; its defaults are applied, and gone.

    Raises
    ------
    ModelError
        If it is no XML; with file and line.
    FileNotFoundError
        If it is not there.
    """
    root = read_xml(path, with_text=True, any_bytes=True, faults=[])
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
