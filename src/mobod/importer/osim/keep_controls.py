"""Controls that a model has been given, written into its document."""

from __future__ import annotations

from collections.abc import Mapping

from ...errors import ModelError
from ...function import Function
from ..xml_element import Element
from .functions import element_of

#: Controllers that are read.
DRIVING = ("PrescribedController", "ControlSetController")


def keep_in_document(document: Element, functions: Mapping[str, Function]) -> list[str]:
    """Write functions of controls into a document, as its one PrescribedController; what cannot be, a sentence each."""
    held = document.child_made("ControllerSet", "controllerset")
    objects = held.child_made("objects")
    objects.children = [one for one in objects.children if one.tag not in DRIVING]
    made, names, left = [], [], []
    for name, one in functions.items():
        try:
            made.append(element_of(one, name))
            names.append(name)
        except ModelError as error:
            left.append(str(error))
    if made:
        controller = Element("PrescribedController", {"name": "controls"}, 0)
        controller.children = [
            Element("enabled", {}, 0, [], "true"),
            Element("socket_actuators", {}, 0, [], " ".join(f"/forceset/{name}" for name in names)),
            Element("FunctionSet", {"name": "ControlFunctions"}, 0, [Element("objects", {}, 0, made)]),
        ]
        objects.children.append(controller)
    return left
