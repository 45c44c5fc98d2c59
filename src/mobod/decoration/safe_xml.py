"""XML of surfaces, which other programs have written, and somebody may have meant to do harm with."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path


def parse_safely(path: Path, what: str) -> ET.Element:
    """The root of a mesh's XML, without a document type, which could define entities without bound.

    Raises
    ------
    ValueError
        If it is no XML, or declares a document type.
    """

    class Builder(ET.TreeBuilder):
        def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
            raise ValueError(f"{path}: a document type declaration (<!DOCTYPE {name}>) is not allowed; remove it")

    try:
        return ET.fromstring(path.read_bytes(), ET.XMLParser(target=Builder()))
    except (ET.ParseError, LookupError) as error:
        raise ValueError(f"{path} is not a {what} file: {error}") from None
