"""A document of OpenSim's written to a file."""

from __future__ import annotations

import os
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from ...errors import ModelError
from ...value.files import as_path, written
from ..formats import as_model
from ..model import Model
from ..xml_element import Element

VERSION = "40600"


def write_osim(path: str | os.PathLike[str], model: Model | str | os.PathLike[str]) -> None:
    """Write the document that a model was built from, upgraded and scaled, with its markers where they are now.

    Parameters
    ----------
    path : path
        Of the file, ``.osim``; it takes the place of an old one when it is complete.
    model : Model or path
        From `load_osim`, or scaled.

    Raises
    ------
    ModelError
        If the model is not from an OpenSim file.
    TypeError
        If the path is none, such as a model.

    Examples
    --------
    >>> import mobod as mb
    >>> import pathlib, tempfile
    >>> model = mb.load_osim(pathlib.Path(mb.examples.__path__[0]) / "leg6dof9musc.osim")
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "leg.osim"
    >>> said = mb.write_osim(path, model)
    >>> len(mb.load_osim(path).bodies) == len(model.bodies)
    True
    """
    to = as_path("path", path)  # before what is read, lest a model and a path the wrong way round are a file that is not there
    model = as_model(model)
    root = model.data.get("document")
    if not isinstance(root, Element):
        raise ModelError(f"the model {model.name!r} is not from an OpenSim file, and cannot be written as one")
    write_document(to, root)


def write_document(path: Path, root: Element) -> None:
    """Write one object, such as a Model, a ScaleSet or a MarkerSet."""
    lines = ['<?xml version="1.0" encoding="UTF-8" ?>', f'<OpenSimDocument Version="{VERSION}">']
    _write(root, 1, lines)
    lines.append("</OpenSimDocument>")
    with written(path) as beside:
        beside.write_text("\n".join(lines) + "\n", encoding="utf-8")


def scale_set(model: Model) -> Element:
    """The factors of a scaled model's bodies, as OpenSim's ScaleTool writes them."""
    factors = model.data["scale_factors"]
    objects = []
    for name in model.bodies:
        numbers = [1.0, 1.0, 1.0] if name not in factors else factors[name].tolist()
        texts = {"scales": " ".join(map(repr, numbers)), "segment": name, "apply": "true"}
        objects.append(Element("Scale", {}, 0, [Element(tag, {}, 0, [], text) for tag, text in texts.items()]))
    return Element("ScaleSet", {"name": "ScaleSet"}, 0, [Element("objects", {}, 0, objects)])


def _write(element: Element, depth: int, lines: list[str]) -> None:
    indent = "\t" * depth
    attributes = "".join(f" {key}={quoteattr(value)}" for key, value in element.attributes.items())
    text = escape(element.text.strip())
    if not element.children:
        lines.append(f"{indent}<{element.tag}{attributes}>{text}</{element.tag}>")
        return
    lines.append(f"{indent}<{element.tag}{attributes}>{text}")
    for child in element.children:
        _write(child, depth + 1, lines)
    lines.append(f"{indent}</{element.tag}>")
