"""Muscles: one kind a file, each a force along a path; curves.py has what their fibers and tendons are made of."""

from ..value.attributes import explain_names
from .base import Muscle as Muscle, equilibrate as equilibrate
from .curves import (
    ActiveForceLengthCurve as ActiveForceLengthCurve,
    FiberForceLengthCurve as FiberForceLengthCurve,
    ForceVelocityCurve as ForceVelocityCurve,
    TendonForceLengthCurve as TendonForceLengthCurve,
)
from .degroote_fregly2016 import DeGrooteFregly2016 as DeGrooteFregly2016
from .millard2012 import Millard2012Equilibrium as Millard2012Equilibrium
from .rigid_tendon import RigidTendon as RigidTendon
from .schutte1993 import Schutte1993 as Schutte1993
from .thelen2003 import Thelen2003 as Thelen2003

explain_names(__name__)
