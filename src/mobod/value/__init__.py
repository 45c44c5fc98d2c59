"""The value types of the public interface: immutable, light, plain NumPy inside."""

from .attributes import explain_names
from .inertia import Inertia, UnitInertia
from .mass_properties import MassProperties
from .rotation import Rotation
from .spatial_inertia import ArticulatedInertia, SpatialInertia
from .transform import Transform

__all__ = ["ArticulatedInertia", "Inertia", "MassProperties", "Rotation", "SpatialInertia", "Transform", "UnitInertia"]

explain_names(__name__)
