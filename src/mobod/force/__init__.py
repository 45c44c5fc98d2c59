"""The kinds of force, one a file. `mobod.Force` is their base class."""

from ..value.attributes import explain_names
from . import transmission
from ._custom_compiled import CompiledFunctions
from .actuator import Actuator
from .actuators import Actuators
from .base import Force
from .belt import Belt
from .box_drag import BoxDrag
from .brush_tyre import BrushTyre
from .cable_spring import CableSpring
from .constant_force import ConstantForce
from .constant_torque import ConstantTorque
from .custom import Custom, CustomImplementation
from .discrete_forces import DiscreteForces
from .elastic_foundation import ElasticFoundation
from .ellipsoid_drag import EllipsoidDrag
from .exponential_spring import ExponentialSpring
from .for_each import ForEach
from .global_damper import GlobalDamper
from .gravity import Gravity
from .gravity_compensation import GravityCompensation
from .hunt_crossley import HuntCrossley
from .linear_bushing import LinearBushing
from .magic_formula_tyre import MagicFormulaTyre
from .mobility_constant_force import MobilityConstantForce
from .mobility_discrete_force import MobilityDiscreteForce
from .mobility_dry_friction import MobilityDryFriction
from .mobility_linear_damper import MobilityLinearDamper
from .mobility_linear_spring import MobilityLinearSpring
from .mobility_linear_stop import MobilityLinearStop
from .mobility_orientation_spring import MobilityOrientationSpring
from .mobility_polynomial_damper import MobilityPolynomialDamper
from .mobility_polynomial_spring import MobilityPolynomialSpring
from .mobility_torsion import MobilityTorsion
from .motor import Motor
from .nonbonded import Nonbonded
from .particle_field import ParticleField
from .particle_pairs import ParticlePairs
from .smooth_sphere_half_space import SmoothSphereHalfSpace
from .thermostat import Thermostat
from .transmission.cable_span import CableSpan
from .transmission_spring import TransmissionSpring
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
    MobilityTorsion,
    Nonbonded,
    MobilityLinearDamper,
    MobilityConstantForce,
    MobilityLinearStop,
    MobilityPolynomialSpring,
    MobilityPolynomialDamper,
    MobilityOrientationSpring,
    MobilityDiscreteForce,
    MobilityDryFriction,
    DiscreteForces,
    LinearBushing,
    Thermostat,
    SmoothSphereHalfSpace,
    ExponentialSpring,
    HuntCrossley,
    ElasticFoundation,
    Actuator,
    Actuators,
    TransmissionSpring,
    CableSpring,
    GravityCompensation,
    Belt,
    BoxDrag,
    BrushTyre,
    MagicFormulaTyre,
    Motor,
    EllipsoidDrag,
)

__all__ = [
    "KINDS",
    "Actuator",
    "Actuators",
    "Belt",
    "BoxDrag",
    "BrushTyre",
    "CableSpan",
    "CableSpring",
    "CompiledFunctions",
    "ConstantForce",
    "ConstantTorque",
    "Custom",
    "CustomImplementation",
    "DiscreteForces",
    "ElasticFoundation",
    "EllipsoidDrag",
    "ExponentialSpring",
    "ForEach",
    "GlobalDamper",
    "Gravity",
    "GravityCompensation",
    "HuntCrossley",
    "LinearBushing",
    "MagicFormulaTyre",
    "MobilityConstantForce",
    "MobilityDiscreteForce",
    "MobilityDryFriction",
    "MobilityLinearDamper",
    "MobilityLinearSpring",
    "MobilityLinearStop",
    "MobilityOrientationSpring",
    "MobilityPolynomialDamper",
    "MobilityPolynomialSpring",
    "MobilityTorsion",
    "Motor",
    "Nonbonded",
    "ParticleField",
    "ParticlePairs",
    "SmoothSphereHalfSpace",
    "Thermostat",
    "TransmissionSpring",
    "TwoPointConstantForce",
    "TwoPointLinearDamper",
    "TwoPointLinearSpring",
    "UniformGravity",
    "transmission",
]

explain_names(__name__)
