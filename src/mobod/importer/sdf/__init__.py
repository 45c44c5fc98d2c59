"""SDF files: read (`reader` makes a `document`), located (`frames`), put in order (`graph`), built (`load`)."""

from .load import load_sdf

__all__ = ["load_sdf"]
