"""Muscles: one kind a file, each a force along a path; curves.py has what their fibers and tendons are made of."""

from .base import Muscle, equilibrate
from .curves import ActiveForceLengthCurve, FiberForceLengthCurve, ForceVelocityCurve, TendonForceLengthCurve
from .degroote_fregly2016 import DeGrooteFregly2016
from .millard2012 import Millard2012Equilibrium
from .rigid_tendon import RigidTendon
from .schutte1993 import Schutte1993
from .thelen2003 import Thelen2003

KINDS = [DeGrooteFregly2016, Millard2012Equilibrium, RigidTendon, Schutte1993, Thelen2003]

__all__ = [
    "ActiveForceLengthCurve",
    "DeGrooteFregly2016",
    "FiberForceLengthCurve",
    "ForceVelocityCurve",
    "Millard2012Equilibrium",
    "Muscle",
    "RigidTendon",
    "Schutte1993",
    "TendonForceLengthCurve",
    "Thelen2003",
    "equilibrate",
]
