"""Files as older versions of MuJoCo read them: what today's has dropped from the format is brought to it, or reported.

| dropped | what is done |
| --- | --- |
| ``compiler coordinate="global"`` | all frames are brought to their bodies: see `global_frames` |
| ``option collision`` | geoms or pairs that may not touch are told so |
| ``flag passive`` | ``spring`` and ``damper`` |
| ``compiler exactmeshinertia`` | ``inertia="exact"`` of meshes |
| commas between numbers, which read on | blanks |
| a name of the uppermost ``default`` | it is main, and so are the classes that refer to it |
| ``composite``, ``equality/distance``, plugins that are not there | left out |
| attributes of the solver, of hulls and of flexes: `_IDLE` | left out |

What no version has known stays an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ...errors import ModelError
from ..report import Report
from ..xml_element import Element
from .document import Document, refused
from .global_frames import to_local

#: Attributes that are left out, by element: of the solver, of meshes' hulls, and of flexes, which are reported as a whole.
_IDLE = {
    "option": {"apirate", "mpr_iterations", "mpr_tolerance"},
    "flag": {"sensornoise", "solverstat"},
    "compiler": {"convexhull"},
    "mesh": {"convexhull"},
    "contact": {"internal", "vertcollide"},
}
_ATTRIBUTE = re.compile(r"unrecognized attribute: '([^']*)'")
_COMMAS = re.compile(r"\s*[-+.\deE]+(\s*,?\s*[-+.\deE]+)*\s*,[-+.\deE,\s]*")
_PLUGIN = re.compile(r"plugin (\S+) not found")


def parse(mujoco: Any, name: str, error: Exception, report: Report) -> Any:
    """MuJoCo's spec of a file that its parser has refused.

    Parameters
    ----------
    mujoco : module
    name : str
        The file.
    error : Exception
        What the parser has raised.
    report : Report
        Gets a sentence on each change.

    Raises
    ------
    ModelError
        With file and line, if the file is wrong by older rules, too.
    """
    try:
        older = _Older(mujoco, Document(name), report)
    except (ModelError, OSError):  # no XML, or not to be read: MuJoCo's own words are about that
        raise refused(name, error) from None
    while True:
        try:
            return mujoco.MjSpec.from_string(older.document.write())
        except Exception as again:
            if "already included" in str(error):  # which stays where it is in the text
                raise refused(name, error) from None
            if not older.mend(str(again)):
                raise refused(name, again, older.document) from None


class _Older:
    def __init__(self, mujoco: Any, document: Document, report: Report) -> None:
        self.mujoco, self.document, self.report = mujoco, document, report

    def mend(self, text: str) -> bool:
        """True if what the parser stumbled over could be replaced: each time there is less of it."""
        element = self.document.named(text)
        if element is None:
            return False
        if "global coordinates" in text:
            del element.attributes["coordinate"]
            to_local(self.mujoco, self.document, self.report)
            return True
        if "cannot be renamed" in text and "class" in element.attributes:
            self._rename(element.attributes.pop("class"))
            return True
        plugin = _PLUGIN.search(text)
        if plugin:
            return self._leave_out(
                lambda one, _: one.tag == "plugin" and one.attributes.get("plugin") == plugin[1], f"plugins {plugin[1]!r}"
            )
        if "unrecognized element" in text:
            if element.tag == "composite":
                return self._leave_out(lambda one, _: one.tag == "composite", "composites, with all their bodies")
            if element.tag == "distance":
                return self._leave_out(lambda one, above: one.tag == "distance" and above[-1:] == ("equality",), "distances")
        format_of = re.search("bad format in attribute '([^']*)'", text)
        if format_of and "," in element.attributes.get(format_of[1], ""):
            return self._without_commas()
        found = _ATTRIBUTE.search(text)
        return found is not None and self._attribute(element, found[1])

    def _attribute(self, element: Element, key: str) -> bool:
        tag = element.tag
        value = element.attributes.get(key, "")
        if (tag, key) == ("option", "collision"):
            self._collide(value)
        elif (tag, key) == ("flag", "passive"):
            element.attributes |= {"spring": value, "damper": value}
        elif (tag, key) == ("compiler", "exactmeshinertia"):
            if value == "true":
                for one, _, above in self.document.elements():
                    if one.tag == "mesh" and above[:1] == ("asset",):
                        one.attributes.setdefault("inertia", "exact")
        elif key not in _IDLE.get(tag, ()):
            return False
        count = 0
        for one, _, _ in self.document.elements():
            if one.tag == tag and one.attributes.pop(key, None) is not None:
                count += 1
        where = f"{self.document.place(element)}: " if element.file else f"line {element.line}: "
        times = f", {count} times" if count > 1 else ""
        idle = key in _IDLE.get(tag, ())
        what = "left out" if idle else "brought to today's format"
        self.report.append(f"{where}attribute {key!r} of <{tag}>{times}, which MuJoCo no longer knows: {what}")
        return count > 0

    def _collide(self, value: str) -> None:
        """Bring a choice among the ways to collide to the geoms and pairs."""
        for one, _, above in list(self.document.elements()):
            if value == "predefined" and one.tag == "geom" and above[:1] == ("worldbody",):
                one.attributes |= {"contype": "0", "conaffinity": "0"}
            elif value == "dynamic" and one.tag == "contact" and not above:
                one.children = [child for child in one.children if child.tag != "pair"]

    def _without_commas(self) -> bool:
        """Put blanks for commas between numbers."""
        places = []
        for one, _, _ in self.document.elements():
            for key, value in one.attributes.items():
                if _COMMAS.fullmatch(value):
                    one.attributes[key] = value.replace(",", " ")
                    places.append(f"{self.document.place(one)}: <{one.tag}> {key}={value!r}")
        if places:
            self.report.depart(f"{places[0]}: commas between numbers are read as blanks ({len(places)} times)")
        return bool(places)

    def _rename(self, old: str) -> None:
        for one, _, _ in self.document.elements():
            for key in ("class", "childclass"):
                if one.attributes.get(key) == old:
                    one.attributes[key] = "main"

    def _leave_out(self, chosen: Callable[[Element, tuple[str, ...]], bool], what: str) -> bool:
        gone = []
        for element, parent, above in list(self.document.elements()):
            if chosen(element, above):
                parent.children = [child for child in parent.children if child is not element]
                gone.append(self.document.place(element))
        if gone:
            self.report.lose(f"{gone[0]}: {what}, which MuJoCo no longer knows: {len(gone)} left out", what, len(gone))
        return bool(gone)
