"""URDF files: read (`reader` makes a `document`), described as a mechanism (`describe`), built (`load`)."""

from .load import load_urdf

__all__ = ["load_urdf"]
