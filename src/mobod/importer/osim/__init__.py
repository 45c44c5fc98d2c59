"""OpenSim files: read (`document`), made new (`upgrade`), put in order (`graph`), built (`build`), by tables of kinds.

A kind of joint, constraint, force, function or geometry is one entry of the table in the file of its name.
"""

from .load import load_osim
from .write import write_osim

__all__ = ["load_osim", "write_osim"]
