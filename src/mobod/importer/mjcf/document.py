"""An MJCF file with all that it includes as one text, of which every line knows its file: for what MuJoCo's parser refuses.

MuJoCo knows no lines of a file that includes others. Written as one text without includes, an element a line, each error is
found again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import quoteattr

from ...errors import ModelError
from ..xml_element import MAX_ELEMENTS, Element, read_xml

#: Where MuJoCo's messages have a line.
LINE = re.compile(r"(?:, line |Line number=|line )(-?\d+)")


class Document:
    """A file as a tree of elements, with those of included files in their places.

    Attributes
    ----------
    root : Element
        Each element below it knows its line, and its file where another one includes it.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.root = read_xml(name, any_bytes=True)
        self._lines: list[Element] = []
        self._include()
        self._make_absolute()

    def _include(self) -> None:
        folder, seen, count = Path(self.name).parent, {Path(self.name).resolve()}, 0
        waiting = [self.root]
        while waiting:
            parent = waiting.pop()
            children: list[Element] = []
            for child in parent.children:
                found = self._content(child, parent, folder, seen)
                children += [child] if found is None else found
            parent.children = children
            waiting += children
            count += len(children)
            if count > MAX_ELEMENTS:
                raise ModelError(f"{self.name}: with what it includes the file has more than {MAX_ELEMENTS} elements")

    def _content(self, child: Element, parent: Element, folder: Path, seen: set[Path]) -> list[Element] | None:
        """The elements of an included file; None of another element, and of a file that MuJoCo does not open either."""
        child.file = child.file or parent.file
        if child.tag != "include" or "file" not in child.attributes:
            return None
        path = folder / child.attributes["file"]
        if not path.is_file() or path.resolve() in seen:
            return None
        seen.add(path.resolve())
        found: list[Element] = []
        for one in read_xml(path, any_bytes=True).children:
            one.file = os.fspath(path)
            more = self._content(one, child, folder, seen)  # an include at the top of an included file
            found += [one] if more is None else more
        return found

    def _make_absolute(self) -> None:
        """Say the whole path of files that MuJoCo opens while it parses: a text has no folder then."""
        folder = Path(self.name).resolve().parent
        compilers = [one.attributes for one in self.root.children if one.tag == "compiler"]
        meshes = next((own[key] for own in reversed(compilers) for key in ("meshdir", "assetdir") if key in own), "")
        for element, _, above in self.elements():
            if "file" in element.attributes and (
                element.tag == "flexcomp" or (element.tag, above[-1:]) == ("model", ("asset",))
            ):
                file = element.attributes["file"]
                found = [path for path in (folder / meshes / file, folder / file) if path.is_file()]
                element.attributes["file"] = os.fspath(found[0]) if found else file

    def elements(self) -> Iterator[tuple[Element, Element, tuple[str, ...]]]:
        """Each element with its parent and the tags above it, from the root on."""
        waiting: list[tuple[Element, Element, tuple[str, ...]]] = [(one, self.root, ()) for one in reversed(self.root.children)]
        while waiting:
            element, parent, above = waiting.pop()
            yield element, parent, above
            inside = (*above, element.tag)
            waiting += [(child, element, inside) for child in reversed(element.children)]

    def write(self) -> str:
        """The text, an element a line."""
        lines: list[str] = []
        self._lines = []
        waiting: list[tuple[Element, bool]] = [(self.root, False)]
        while waiting:
            element, is_end = waiting.pop()
            self._lines.append(element)
            if is_end:
                lines.append(f"</{element.tag}>")
                continue
            inside = "".join(f" {key}={quoteattr(value)}" for key, value in element.attributes.items())
            lines.append(f"<{element.tag}{inside}{'' if element.children else '/'}>")
            if element.children:
                waiting.append((element, True))
                waiting += [(child, False) for child in reversed(element.children)]
        return "\n".join(lines)

    def named(self, text: str) -> Element | None:
        """The element that a message of MuJoCo's on the text is about."""
        found = LINE.search(text)
        line = int(found[1]) if found else 0
        return self._lines[line - 1] if 0 < line <= len(self._lines) else None

    def place(self, element: Element) -> str:
        """File and line of an element."""
        return f"{element.file or self.name}:{element.line}"


def sentence(text: str) -> str:
    """A message of MuJoCo's in one line."""
    words = [line.strip() for line in text.splitlines() if line.strip()]
    return "; ".join(words).removeprefix("XML Error: ").removeprefix("Error: ")


def refused(name: str, error: Exception, document: Document | None = None) -> ModelError:
    """MuJoCo's message, in a sentence with file and line.

    Parameters
    ----------
    name : str
        The file.
    error : Exception
        What MuJoCo has raised.
    document : Document, optional
        If that was of its text.
    """
    text = sentence(str(error))
    element = None if document is None else document.named(text)
    if document is not None and element is not None:
        return ModelError(f"{document.place(element)}: {LINE.sub(f', line {element.line}', text)}")
    line = LINE.search(text)
    return ModelError(f"{name}:{line[1]}: {text}" if line and int(line[1]) > 0 else f"{name}: {text}")
