"""An OpenSim document as a tree of items, which know their place, read their properties, and remember what was read.

An item is an object (``<PinJoint name="hip">``) or a property (``<mass>``). A property is asked for by its name and comes back
as a number, a vector, a flag or words; what is never asked for is what the reader has not taken up, and `unread` lists it.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from typing import NoReturn

import numpy as np

from ...algebra.arrays import Array
from ...errors import ModelError
from ..opensim_file import BRACKETS, ROOT, read_with_parts
from ..xml_element import Element

#: Files may name others by their attribute ``file``; so deep and no deeper. All have this element at their root.
_TRUE, _FALSE = ("true", "t", "yes", "1"), ("false", "f", "no", "0")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?|nan", re.IGNORECASE)
#: What says nothing about the mechanism.
_ASIDE = frozenset(
    {"groups", "defaults", "VisibleObject", "Appearance", "FrameGeometry", "ModelVisualPreferences", "ModelDisplayHints"}
)


class Item:
    """One element of the document: an object, or a property of one."""

    __slots__ = ("children", "element", "is_read", "parent", "path")

    def __init__(self, path: str, element: Element, parent: Item | None = None) -> None:
        self.path = path = element.file or path
        self.element = element
        self.parent = parent
        self.is_read = False
        self.children = [Item(path, child, self) for child in element.children]

    # ------------------------------------------------------------------------------------------ what it is

    @property
    def tag(self) -> str:
        """The kind of an object, or the name of a property."""
        return self.element.tag

    @property
    def name(self) -> str:
        """The object's own name; empty where it has none."""
        return self.element.attributes.get("name", "").strip()

    @property
    def where(self) -> str:
        """File and line."""
        return f"{self.path}:{self.element.line}"

    @property
    def words(self) -> list[str]:
        """The text of a property, split at blanks."""
        return self.element.text.split()

    def __repr__(self) -> str:
        """Kind, name and line."""
        return f"<{self.tag} {self.name!r} at {self.where}>"

    def refuse(self, problem: str) -> NoReturn:
        """Raise an error that begins with file and line."""
        raise ModelError(f"{self.where}: {problem}")

    def refuse_for(self, error: Exception) -> NoReturn:
        """Raise what making the element has raised, with file and line before it unless these are there."""
        message = str(error)
        told = message.startswith(self.path)
        raise ModelError(message if told else f"{self.where}: {self.tag} {self.name!r}: {message}") from None

    def note(self, sentence: str) -> str:
        """A line for the report, with file and line."""
        return f"{self.where}: {sentence}"

    # ------------------------------------------------------------------------------------------ what it has

    def find(self, tag: str) -> Item | None:
        """The first child with this tag, which counts as read; None where there is none."""
        for child in self.children:
            if child.tag == tag:
                child.is_read = True
                return child
        return None

    def objects(self, tag: str) -> list[Item]:
        """The objects of a set or of a list property; its own bookkeeping counts as read."""
        found: list[Item] = []
        for child in self.children:
            if child.tag == tag:
                child.is_read = True
                inner = child.find("objects")
                found += child.children if inner is None else inner.children
        return [item for item in found if item.tag not in ("objects", "groups")]

    def one_object(self, tag: str) -> Item | None:
        """The one object that a property holds; it may stand in the property, or have its name."""
        held = self.objects(tag) or [child for child in self.children if child.name == tag and child.tag[:1].isupper()]
        return held[0] if held else None

    def has(self, tag: str) -> bool:
        """True if there is a child with this tag."""
        return any(child.tag == tag for child in self.children)

    def text(self, tag: str, default: str = "") -> str:
        """A property that is one word or sentence."""
        child = self.find(tag)
        return default if child is None else " ".join(child.words)

    def word_list(self, tag: str) -> list[str]:
        """A property that is a list of words."""
        child = self.find(tag)
        return [] if child is None else child.words

    def flag(self, tag: str, default: bool) -> bool:
        """A property that is true or false."""
        child = self.find(tag)
        if child is None or not child.words:
            return default
        word = child.words[0].lower()
        if word not in _TRUE + _FALSE:
            child.refuse(f"<{tag}> of {self.tag} {self.name!r} is true or false, not {word!r}")
        return word in _TRUE

    def number(self, tag: str, default: float) -> float:
        """A property that is one number."""
        child = self.find(tag)
        return default if child is None or not child.words else float(child.numbers(1)[0])

    def vector(self, tag: str, default: tuple[float, ...]) -> Array:
        """A property of as many numbers as the default has."""
        child = self.find(tag)
        return np.array(default) if child is None or not child.words else child.numbers(len(default))

    def many(self, tag: str) -> Array:
        """A property of any number of numbers."""
        child = self.find(tag)
        return np.zeros(0) if child is None else child.numbers(None)

    def numbers(self, count: int | None) -> Array:
        """The numbers of a property, as many as wanted."""
        words = self.element.text.translate(BRACKETS).split()
        for word in words:
            if _NUMBER.fullmatch(word) is None:
                self.refuse(f"<{self.tag}> has {word!r}, which is no number")
        if count is not None and len(words) != count:
            self.refuse(
                f"<{self.tag}> takes {count} number{'s' * (count != 1)}; it has {len(words)}: {self.element.text.strip()!r}"
            )
        return np.array([float(word) for word in words])

    def finite(self, tag: str, default: tuple[float, ...]) -> Array:
        """As `vector`, where infinity and NaN have no place."""
        values = self.vector(tag, default)
        if not all(map(math.isfinite, values.tolist())):
            child = self.find(tag)
            (child or self).refuse(f"<{tag}> of {self.tag} {self.name!r} takes finite numbers, not {values.tolist()}")
        return values

    # ------------------------------------------------------------------------------------------ what was read

    def find_loose(self) -> list[Item]:
        """The objects among the components that nobody has asked for."""
        return [item for item in self.objects("components") if not item.is_read]

    def read_all(self) -> None:
        """Count it and all below as read."""
        self.is_read = True
        for child in self.children:
            child.read_all()

    def unread(self) -> Iterator[Item]:
        """Yield the outermost items that say something, and that nobody has asked for."""
        for child in self.children:
            if child.tag in _ASIDE:
                continue
            if child.is_read:
                yield from child.unread()
            elif child.says_something():
                yield child

    def says_something(self) -> bool:
        """True if there is any text in it."""
        if self.element.text.strip():
            return True
        return bool(self.element.attributes) if not self.children else any(c.says_something() for c in self.children)

    def as_data(self) -> dict[str, object]:
        """All that is in it, as plain data: numbers, words, and dicts of objects; counts as read."""
        self.is_read = True
        data: dict[str, object] = {"type": self.tag, "name": self.name, "where": self.where}
        for child in self.children:
            if child.tag not in _ASIDE:
                data[child.tag] = child.value()
        return data

    def value(self) -> object:
        """A property as plain data."""
        self.is_read = True
        if self.children:
            inner = self.find("objects") if self.tag[0].isupper() else None
            if self.tag[0].isupper() and inner is None:
                return self.as_data()
            return [child.as_data() for child in (inner or self).children if child.tag not in _ASIDE]
        words = self.element.text.translate(BRACKETS).split()
        if not words:
            return ""
        if all(_NUMBER.fullmatch(word) for word in words):
            return float(words[0]) if len(words) == 1 else np.array([float(word) for word in words])
        return self.element.text.strip()


def read_document(path: str | os.PathLike[str]) -> tuple[Element, int]:
    """Read a file, and what it includes; the element of its object and the version of its format."""
    path = os.fspath(path)
    document = read_with_parts(path)
    version = 10500  # of files from before versions were written
    element = document
    if document.tag == ROOT:
        text = document.attributes.get("Version", "")
        if not text.strip().isdigit():
            raise ModelError(f"{path}:{document.line}: <{ROOT}> needs a Version, a whole number such as 40000, not {text!r}")
        version = int(text)
        if not document.children:
            raise ModelError(f"{path}:{document.line}: <{ROOT}> is empty")
        element = document.children[0]
    return element, version
