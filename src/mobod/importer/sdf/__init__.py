"""SDF files: read (`reader` makes a `document`), located (`frames`), described as a mechanism (`describe`), built (`load`)."""

from .load import load_sdf

__all__ = ["load_sdf"]
