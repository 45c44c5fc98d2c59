"""URDF files: read (`reader` makes a `document`), put in order (`tree`), weighed (`mass`, `massless`), built (`load`)."""

from .load import load_urdf

__all__ = ["load_urdf"]
