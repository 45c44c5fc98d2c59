"""Models to files: what URDF and MJCF can say of a system, and sentences on what they cannot.

`mechanism` is a system as joints of one axis, which all formats have; `urdf` and `mjcf` write it.
"""

from .mjcf import save_mjcf
from .urdf import save_urdf

__all__ = ["save_mjcf", "save_urdf"]
