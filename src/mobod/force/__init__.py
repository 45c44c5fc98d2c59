"""The kinds of force, one a file. `mobod.Force` is their base class."""

from ..value.attributes import explain_names
from ._custom_compiled import CompiledFunctions
from .base import Force
from .constant_force import ConstantForce
from .constant_torque import ConstantTorque
from .custom import Custom, CustomImplementation
from .discrete_forces import DiscreteForces
from .elastic_foundation import ElasticFoundation
from .exponential_spring import ExponentialSpring
from .global_damper import GlobalDamper
from .gravity import Gravity
from .hunt_crossley import HuntCrossley
from .linear_bushing import LinearBushing
from .mobility_constant_force import MobilityConstantForce
from .mobility_discrete_force import MobilityDiscreteForce
from .mobility_dry_friction import MobilityDryFriction
from .mobility_linear_damper import MobilityLinearDamper
from .mobility_linear_spring import MobilityLinearSpring
from .mobility_linear_stop import MobilityLinearStop
from .smooth_sphere_half_space import SmoothSphereHalfSpace
from .thermostat import Thermostat
from .two_point_constant_force import TwoPointConstantForce
from .two_point_linear_damper import TwoPointLinearDamper
from .two_point_linear_spring import TwoPointLinearSpring
from .uniform_gravity import UniformGravity

#: Every kind that is compiled, without users' own.
KINDS: tuple[type[Force], ...] = (
    Gravity,
    UniformGravity,
    TwoPointLinearSpring,
    TwoPointLinearDamper,
    TwoPointConstantForce,
    ConstantForce,
    ConstantTorque,
    GlobalDamper,
    MobilityLinearSpring,
    MobilityLinearDamper,
    MobilityConstantForce,
    MobilityLinearStop,
    MobilityDiscreteForce,
    MobilityDryFriction,
    DiscreteForces,
    LinearBushing,
    Thermostat,
    SmoothSphereHalfSpace,
    ExponentialSpring,
    HuntCrossley,
    ElasticFoundation,
)

__all__ = [
    "KINDS",
    "CompiledFunctions",
    "ConstantForce",
    "ConstantTorque",
    "Custom",
    "CustomImplementation",
    "DiscreteForces",
    "ElasticFoundation",
    "ExponentialSpring",
    "GlobalDamper",
    "Gravity",
    "HuntCrossley",
    "LinearBushing",
    "MobilityConstantForce",
    "MobilityDiscreteForce",
    "MobilityDryFriction",
    "MobilityLinearDamper",
    "MobilityLinearSpring",
    "MobilityLinearStop",
    "SmoothSphereHalfSpace",
    "Thermostat",
    "TwoPointConstantForce",
    "TwoPointLinearDamper",
    "TwoPointLinearSpring",
    "UniformGravity",
]

explain_names(__name__)
