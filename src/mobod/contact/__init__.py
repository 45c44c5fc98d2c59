"""What touches, as plain data: materials, shapes, surfaces. `mb.contact.Material` and others."""

from ..value.attributes import explain_names
from .material import Material

__all__ = ["Material"]

explain_names(__name__)
