"""The kinds of force, one a file. `mobod.Force` is their base class."""

from ..value.attributes import explain_names
from . import transmission as transmission
from ._custom_compiled import CompiledFunctions as CompiledFunctions
from .actuator import Actuator as Actuator
from .actuators import Actuators as Actuators
from .belt import Belt as Belt
from .box_drag import BoxDrag as BoxDrag
from .brush_tyre import BrushTyre as BrushTyre
from .cable_spring import CableSpring as CableSpring
from .constant_force import ConstantForce as ConstantForce
from .constant_torque import ConstantTorque as ConstantTorque
from .custom import Custom as Custom, CustomImplementation as CustomImplementation
from .discrete_forces import DiscreteForces as DiscreteForces
from .elastic_foundation import ElasticFoundation as ElasticFoundation
from .ellipsoid_drag import EllipsoidDrag as EllipsoidDrag
from .exponential_spring import ExponentialSpring as ExponentialSpring
from .for_each import ForEach as ForEach
from .global_damper import GlobalDamper as GlobalDamper
from .gravity import Gravity as Gravity
from .gravity_compensation import GravityCompensation as GravityCompensation
from .hunt_crossley import HuntCrossley as HuntCrossley
from .linear_bushing import LinearBushing as LinearBushing
from .magic_formula_tyre import MagicFormulaTyre as MagicFormulaTyre
from .mobility_constant_force import MobilityConstantForce as MobilityConstantForce
from .mobility_discrete_force import MobilityDiscreteForce as MobilityDiscreteForce
from .mobility_dry_friction import MobilityDryFriction as MobilityDryFriction
from .mobility_linear_damper import MobilityLinearDamper as MobilityLinearDamper
from .mobility_linear_spring import MobilityLinearSpring as MobilityLinearSpring
from .mobility_linear_stop import MobilityLinearStop as MobilityLinearStop
from .mobility_orientation_spring import MobilityOrientationSpring as MobilityOrientationSpring
from .mobility_polynomial_damper import MobilityPolynomialDamper as MobilityPolynomialDamper
from .mobility_polynomial_spring import MobilityPolynomialSpring as MobilityPolynomialSpring
from .mobility_torsion import MobilityTorsion as MobilityTorsion
from .motor import Motor as Motor
from .nonbonded import Nonbonded as Nonbonded
from .particle_field import ParticleField as ParticleField
from .particle_pairs import ParticlePairs as ParticlePairs
from .smooth_sphere_half_space import SmoothSphereHalfSpace as SmoothSphereHalfSpace
from .thermostat import Thermostat as Thermostat
from .transmission.cable_span import CableSpan as CableSpan
from .transmission_spring import TransmissionSpring as TransmissionSpring
from .two_point_constant_force import TwoPointConstantForce as TwoPointConstantForce
from .two_point_linear_damper import TwoPointLinearDamper as TwoPointLinearDamper
from .two_point_linear_spring import TwoPointLinearSpring as TwoPointLinearSpring
from .uniform_gravity import UniformGravity as UniformGravity

explain_names(__name__, "transmission")
