"""XML read safely: a light tree of elements that know their line.

The parser is Python's own (expat). Three things make it safe on a hostile file: a document type
declaration is refused where it starts, before any entity can be declared (so there is nothing to
expand, include or fetch); size, depth and number of elements are limited; and nothing here
recurses.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from ..errors import ModelError

MAX_BYTES = 64 * 2**20
MAX_DEPTH = 200
MAX_ELEMENTS = 1_000_000


@dataclass(slots=True, eq=False)
class Element:
    """One element of an XML file: its name, attributes, children, and the line it starts on."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    #: The characters directly in it, apart from its children's; empty unless `read_xml` was asked for them.
    text: str = ""
    #: The file that it is from, where another one includes that.
    file: str = ""

    def find_all(self, tag: str) -> Iterator[Element]:
        """Yield the children of this name, in the order of the file."""
        return (child for child in self.children if child.tag == tag)

    def child(self, tag: str) -> Element | None:
        """The first child with this tag; None where there is none."""
        return next(self.find_all(tag), None)

    def text_of(self, tag: str) -> str:
        """The text of the first child with this tag; empty where there is none."""
        child = self.child(tag)
        return "" if child is None else child.text.strip()

    def below(self) -> Iterator[Element]:
        """It, and everything in it, in the order of the file."""
        waiting = [self]
        while waiting:
            one = waiting.pop()
            yield one
            waiting.extend(reversed(one.children))

    def child_made(self, tag: str, name: str = "") -> Element:
        """The first child with this tag, made where there is none, with a name where that is given."""
        found = self.child(tag)
        if found is None:
            found = Element(tag, {"name": name} if name else {}, self.line)
            self.children.append(found)
        return found


def read_xml(
    path: str | os.PathLike[str], *, with_text: bool = False, any_bytes: bool = False, faults: list[str] | None = None
) -> Element:
    """Read an XML file and return its root element.

    Parameters
    ----------
    path : str or path-like
        The file.
    with_text : bool, default: False
        Whether the text between tags is kept.
    any_bytes : bool, default: False
        Whether a file that claims to be UTF-8 may hold other bytes, which are then read as Windows' Western characters; an
        ampersand for itself; hyphens or a comment in a comment; and zeros behind its end: other programs read all these.
    faults : list of str, optional
        Gets a sentence where something stands before the XML declaration, blank lines or a second byte order mark, which XML
        does not allow. Without it such a file is refused.

    Returns
    -------
    Element
        The root, with the whole tree below it. Comments are not kept.

    Raises
    ------
    OSError
        The file cannot be opened or read.
    ModelError
        The file is not well-formed XML, has a document type declaration, or is larger or deeper
        than any description of a mechanism has reason to be. The message starts with the path and
        the line.
    """
    name = os.fspath(path)
    with open(path, "rb") as file:
        data = file.read(MAX_BYTES + 1)  # limited: the path may name a device without an end
    if len(data) > MAX_BYTES:
        raise ModelError(f"{name}: the file is larger than {MAX_BYTES >> 20} MiB")
    if not data.strip():
        raise ModelError(f"{name}: the file is empty")
    if faults is not None:
        data = _with_declaration_first(data, faults)
    encoding = None
    if any_bytes:
        data, encoding = _in_utf8(data)
    try:
        try:
            builder = _parsed(name, with_text, encoding, data)
        except expat.ExpatError:
            again = _mended(data) if any_bytes else data
            if again == data:
                raise
            builder = _parsed(name, with_text, encoding, again)
    except expat.ExpatError as error:
        problem = expat.errors.messages.get(error.code, str(error))
        raise ModelError(f"{name}:{error.lineno}: not well-formed XML: {problem}") from None
    except ModelError:
        raise
    except (LookupError, ValueError) as error:
        # an encoding that is unknown, or of several bytes a character, fails in Python's codecs
        raise ModelError(f"{name}:1: the file's encoding cannot be read: {error}") from None
    assert builder.root is not None  # expat has found a root element, or has raised
    return builder.root


#: A UTF-8 byte order mark, and what may be skipped before the XML declaration.
_MARK = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n" + _MARK


def _with_declaration_first(data: bytes, faults: list[str]) -> bytes:
    """The same, without what must not stand before the XML declaration; lines keep their numbers."""
    start = data.lstrip(_BLANK)
    while start.startswith(b"<!--") and b"-->" in start:  # a licence, as a rule
        start = start[start.index(b"-->") + 3 :].lstrip(_BLANK)
    if not start.startswith(b"<?xml") or start == data.removeprefix(_MARK):
        return data
    lines = data[: len(data) - len(start)].count(b"\n")
    faults.append(f"line {lines + 1}: something stands before the XML declaration; it is skipped")
    declaration, end, rest = start.partition(b"?>")
    return declaration + end + b"\n" * lines + rest


def _parsed(name: str, with_text: bool, encoding: str | None, data: bytes) -> _TreeBuilder:
    builder = _TreeBuilder(name, with_text, encoding)
    builder.parser.Parse(data, True)
    return builder


_COMMENT = re.compile(rb"<!--(.*?)-->", re.DOTALL)
_AMPERSAND = re.compile(rb"&(?!(?:[A-Za-z][A-Za-z0-9]*|#[0-9]+|#x[0-9A-Fa-f]+);)")


def _mended(data: bytes) -> bytes:
    """The same with ampersands that begin no entity escaped, and hyphens in comments apart; lines keep their numbers."""
    apart = _COMMENT.sub(lambda found: b"<!--" + found[1].replace(b"-", b" ") + b"-->", data)
    return _AMPERSAND.sub(b"&amp;", apart)


def _in_utf8(data: bytes) -> tuple[bytes, str | None]:
    """Bytes that are UTF-8, and the encoding to be taken for granted, if any."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data, None  # UTF-16, which its first bytes say
    ended = data.rstrip(b"\0")  # as programs in C write them
    if b"\0" not in ended:
        data = ended
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        if b"utf-8" not in data[:200].lower() and b"encoding" in data[:200]:
            return data, None  # another encoding, which the declaration names
        return data.decode("cp1252", errors="replace").encode("utf-8"), "utf-8"
    return data, None


class _TreeBuilder:
    """Expat's handlers, and the tree that they build."""

    def __init__(self, name: str, with_text: bool, encoding: str | None) -> None:
        self.name = name
        self.root: Element | None = None
        self.open: list[Element] = []
        self.count = 0
        self.parser = expat.ParserCreate(encoding)
        if with_text:
            self.parser.buffer_text = True
            self.parser.CharacterDataHandler = self.character_data
        self.parser.StartElementHandler = self.start_element
        self.parser.EndElementHandler = self.end_element
        self.parser.StartDoctypeDeclHandler = self.start_doctype

    def start_element(self, tag: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        self.count += 1
        if self.count > MAX_ELEMENTS:
            raise ModelError(f"{self.name}:{line}: more than {MAX_ELEMENTS} elements")
        if len(self.open) == MAX_DEPTH:
            raise ModelError(f"{self.name}:{line}: elements are nested more than {MAX_DEPTH} deep")
        element = Element(tag, attributes, line)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def end_element(self, tag: str) -> None:
        self.open.pop()

    def character_data(self, text: str) -> None:
        self.open[-1].text += text

    def start_doctype(self, name: str, system_id: str | None, public_id: str | None, subset: bool) -> None:
        raise ModelError(
            f"{self.name}:{self.parser.CurrentLineNumber}: a document type declaration "
            f"(<!DOCTYPE {name}>) is not allowed: it can define entities that grow without bound "
            "or read other files; remove it"
        )
