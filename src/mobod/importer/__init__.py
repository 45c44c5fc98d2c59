"""Models from files: a mechanism's description goes in, a system with its names comes out.

`formats` says which reader a file is for; each format has a folder, and all make a `Model`. XML is read safely by
`xml_element`. A URDF file passes through steps that can each be used by themselves: `urdf.reader` checks every number
(`urdf.document` is what it makes), `urdf.describe` makes links and joints of it, and `mechanism.build` a system of these. SDF
files likewise: `sdf.reader`, `sdf.document`, `sdf.frames`, `sdf.describe`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .formats import FORMATS, load
from .model import Model

if TYPE_CHECKING:
    from .mjcf import load_mjcf
    from .osim import load_osim, write_osim
    from .sdf import load_sdf
    from .urdf import load_urdf

__all__ = ["Model", "load", "load_mjcf", "load_osim", "load_sdf", "load_urdf", "write_osim"]

#: A format's reader is imported when it is first asked for: the four take a tenth of a second together.
_WHERE = {"write_osim": "mobod.importer.osim", **{format.reader: format.module for format in FORMATS}}


def __getattr__(name: str) -> Any:
    """Import the function of a format."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)
