"""Models from files: a mechanism's description goes in, a system with its names comes out.

A URDF file passes through four steps, each of which can be used by itself: `xml_element` reads
XML safely; `urdf_reader` checks every number (`urdf_document` is what it makes); `urdf_tree`,
`urdf_mass` and `urdf_massless` check what the parts make together; `urdf` builds the system.
"""

from .formats import load
from .mjcf import load_mjcf
from .model import Model
from .urdf import load_urdf

__all__ = ["Model", "load", "load_mjcf", "load_urdf"]
