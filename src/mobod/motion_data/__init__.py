"""Recorded motion as tables: files of markers, coordinates, forces and sensors, read, filtered and written.

`Table` is what all of them become; one format a file: `trc` (markers), `sto` (OpenSim's storage, ``.mot`` too), `c3d`.
"""

from ..value.attributes import explain_names
from .c3d import Recorded, read_c3d
from .sto import read_sto, write_sto
from .table import Table
from .trc import read_trc, write_trc

__all__ = ["Recorded", "Table", "read_c3d", "read_sto", "read_trc", "write_sto", "write_trc"]

explain_names(__name__)
