"""Records of the kinds of forces, by which tests go."""

import dataclasses
from collections.abc import Callable

import numpy as np

import mobod as mb
from kinds import Records
from mobod import Stage

F, C = mb.force, mb.contact
#: For `Force.reference`.
SIMBODY = "cases of Simbody's"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Force:
    """The record of a kind of force.

    Parameters
    ----------
    kind : type
        The class.
    elements : list of callables
        ``element(model, v)`` makes one in a tree of a Pin, a Free and other bodies, `v()` drawing vectors; two or more where
        elements of one kind are computed differently.
    parameters : dict
        Other values for what it has a ``set_default_<name>(value)`` and a ``set_<name>(state, value)`` of.
    apart : dict
        Parameters that are no single number or vector, or depend on each other, and the test that has them.
    falls_to : Stage
        Where a state falls that has been realized, and in which a parameter is set.
    conservative : bool
        Whether its power is that of its energy and what it dissipates; False for what does work without energy of its own.
    feeds : bool
        Whether it may give energy, so that what it dissipates is below zero.
    begin : callable or None
        ``begin(force, state, rng)`` gives a state's own numbers of it random values, where it has such that are no parameters.
    reference : str
        `SIMBODY`, or where the truth of its tests comes from instead.
    """

    kind: type
    elements: list
    parameters: dict
    apart: dict
    falls_to: Stage
    conservative: bool
    feeds: bool
    begin: Callable | None
    reference: str


def at_random(force, state, rng):
    force.set_all_mobility_forces(state, rng.uniform(-1, 1, len(state.u)))
    force.set_all_body_forces(state, rng.uniform(-1, 1, (len(force.get_force_subsystem().get_system().matter.bodies), 2, 3)))


def frame(v):
    return mb.Transform(mb.Rotation.about_axis(0.3, (1, 2, 3)), v())


def nonbonded(model, v, cutoff):
    """Six atoms on three bodies, too far apart for repulsion to matter."""
    bodies = [model.pin, model.free, model.pin, model.free, 0, 0]
    places = [3.0 * v() for _ in bodies]
    settings = {"excluded": [(0, 1)], "scaled": [(2, 3), (5, 0)]}
    numbers = {"sigma": [0.1] * 6, "epsilon": [0.5, 1.0] * 3, "charges": [1.0, -0.5, 0.3] * 2}
    return F.Nonbonded(model.forces, bodies, places, **numbers, coulomb=1.0, cutoff=cutoff, **settings)


def octahedron():
    """A mesh of eight faces, outward."""
    if not hasattr(C, "TriangleMesh"):
        return C.Sphere(1.0)
    vertices = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
    upper = [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4)]
    return C.TriangleMesh(2.0 * np.array(vertices, float), [*upper, *((b, a, 5) for a, b, _ in upper)])


def straight_path(model, v):
    """Two branches, the second behind a pulley."""
    first = [(model.bodies[0], v()), (model.bodies[1], v()), (model.free, v())]
    return F.transmission.StraightPath(model.forces, [(first, 1.0), ([(model.free, v()), (model.pin, v())], 2.0)])


def wrapped_path(model, v):
    """Over a sphere between two points, and a cylinder with a side."""
    first, ball, bar, last = model.bodies[0], model.bodies[1], model.bodies[2], model.free
    middle, far = v(), 3.0 * v()
    sphere = F.transmission.Wrap(ball, 0.4, mb.Transform(middle))
    cylinder = F.transmission.Wrap(bar, 0.3, frame(v), is_cylinder=True, side=(bar, v()))
    parts = [(first, far), sphere, (ball, middle - far), cylinder, (last, v())]
    return F.transmission.WrappedPath(model.forces, [(parts, 1.0)])


def mesh(model, v):
    """Of the Pin with its parent, anywhere."""
    case, frame = model.pin.get_parent_mobilized_body(), model.pin.get_default_inboard_frame()
    radial = frame @ mb.Transform(mb.Rotation.about_axis(3.0 * v()[0], "z")) @ mb.Transform((0.7, 0.0, v()[0]))
    return F.transmission.LineOfAction(
        model.forces, case, radial, model.pin, case, pressure_angle=0.35, helix_angle=0.2, ratio=1.5
    )


SIX = np.arange(1.0, 7.0)
RUBBER = mb.contact.Material(20.0, 0.4, static_friction=0.9, dynamic_friction=0.6, viscous_friction=0.1)
SMOOTH = {"constant_contact_force": 0.01, "hertz_smoothing": 2.0, "hunt_crossley_smoothing": 3.0}
SOFT = {"shape_parameters": (0.0, 3.0, 1.5), "max_normal_force": 20.0, "friction_elasticity": 3.0, "friction_viscosity": 0.8}
SOFT |= {"normal_viscosity": 0.1, "settle_velocity": 2.0, "relaxation_time": 0.4}

ROLLS = {"center": (0.1, 0.2, 0.3), "axis": (0.6, 0.8, 0), "road_frame": mb.Transform((0.1, 0.2, -0.3)), "grip": 0.8}
ROLLS |= {"radius": 2.5, "stiffness": 30.0, "damping": 0.2}
BRISTLES = {"longitudinal_stiffness": 20.0, "cornering_stiffness": 30.0, "friction": 0.9, "half_length": 0.3}
TYRE = mb.examples.car.TYRE | {"UNLOADED_RADIUS": 3.0, "FNOMIN": 20.0, "VERTICAL_STIFFNESS": 20.0, "VERTICAL_DAMPING": 0.3}
TYRE |= {"LONGITUDINAL_STIFFNESS": 300.0, "LATERAL_STIFFNESS": 200.0}

FORCES = Records(
    "force",
    Force(
        kind=F.Gravity,
        elements=[lambda model, v: F.Gravity(model.forces, model.matter, v(), zero_height=0.3)],
        parameters={"gravity_vector": (1, 2, 3), "zero_height": 2.0},
        apart={"down_direction": "test_gravity", "magnitude": "test_gravity", "body_is_excluded": "test_gravity"},
        falls_to=Stage.MODEL,
        conservative=True,
        feeds=False,
        begin=None,
        reference="test_reference.py, where every case has gravity",
    ),
    Force(
        kind=F.UniformGravity,
        elements=[lambda model, v: F.UniformGravity(model.forces, model.matter, (1, 2, 3), 0.5)],
        parameters={"gravity_vector": (3, 2, 1), "gravity": (1, 2, 4), "zero_height": 2.0},
        apart={},
        falls_to=Stage.MODEL,
        conservative=True,
        feeds=False,
        begin=None,
        reference=SIMBODY,
    ),
    Force(
        kind=F.TwoPointLinearSpring,
        elements=[
            lambda model, v: F.TwoPointLinearSpring(model.forces, model.bodies[0], v(), model.bodies[3], v(), 20.0, 0.4),
            lambda model, v: F.TwoPointLinearSpring(model.forces, model.bodies[2], v(), model.bodies[3], v(), 10.0, 0.4),
        ],
        parameters={"station1": (1, 2, 3), "station2": (3, 2, 1), "stiffness": 5.0, "rest_length": 0.0},
        apart={},
        falls_to=Stage.MODEL,
        conservative=True,
        feeds=False,
        begin=None,
        reference=SIMBODY,
    ),
    Force(
        kind=F.TwoPointLinearDamper,
        elements=[lambda model, v: F.TwoPointLinearDamper(model.forces, model.bodies[1], v(), model.bodies[2], v(), 3.0)],
        parameters={"station1": (1, 2, 3), "station2": (3, 2, 1), "damping": 4.0},
        apart={},
        falls_to=Stage.MODEL,
        conservative=True,
        feeds=False,
        begin=None,
        reference=SIMBODY,
    ),
    Force(
        kind=F.TwoPointConstantForce,
        elements=[lambda model, v: F.TwoPointConstantForce(model.forces, 2, v(), 1, v(), 5.0)],
        parameters={"station1": (3, 2, 1), "station2": (1, 2, 3), "force": -4.0},
        apart={},
        falls_to=Stage.MODEL,
        conservative=False,
        feeds=False,
        begin=None,
        reference=SIMBODY,
    ),
    Force(
        kind=F.ConstantForce,
        elements=[lambda model, v: F.ConstantForce(model.forces, model.bodies[3], v(), v())],
        parameters={"station": (1, 2, 3), "force": (3, 2, 1)},
        apart={},
        falls_to=Stage.MODEL,
        conservative=False,
        feeds=False,
        begin=None,
        reference=SIMBODY,
    ),
    Force(
        kind=F.ConstantTorque,
        elements=[lambda model, v: F.ConstantTorque(model.forces, model.bodies[1], v())],
        parameters={"torque": (1, 2, 3)},
        apart={},
        falls_to=Stage.MODEL,
        conservative=False,
        feeds=False,
        begin=None,
        reference=SIMBODY,
    ),
    Force(
        kind=F.GlobalDamper,
        elements=[lambda model, v: F.GlobalDamper(model.forces, model.matter, 0.2)],
        parameters={"damping": 0.7},
        apart={},
        falls_to=Stage.MODEL,
        conservative=True,
        feeds=False,
        begin=None,
        reference=SIMBODY,
    ),
    Force(
        kind=F.MobilityTorsion,
        elements=[
            lambda model, v: F.MobilityTorsion(model.forces, model.pin, 0, 1.3, 3.0, 0.4),
            lambda model, v: F.MobilityTorsion(model.forces, model.free, 2, 1.3, 2.0, 0.1, name="torsion of a quaternion"),
        ],
        parameters={"amplitude": 0.7, "periodicity": 2.0, "phase": -0.4},
        apart={},
        falls_to=Stage.MODEL,
        conservative=True,
        feeds=False,
        begin=None,
        reference="the energy that its docstring gives, of which the force is the slope",
    ),
    Force(
        kind=F.Nonbonded,
        elements=[
            lambda model, v: nonbonded(model, v, None),
            lambda model, v: nonbonded(model, v, 9.0),
        ],
        parameters={},
        apart={},
        falls_to=Stage.MODEL,
        conservative=True,
        feeds=False,
        begin=None,
        reference="tests/molecule/test_molecules.py: OpenMM, and the law in NumPy",
    ),
    Force(
        kind=F.MobilityLinearSpring,
        elements=[
            lambda model, v: F.MobilityLinearSpring(model.forces, model.pin, 0, 3.0, 0.1),
            # a component of a quaternion: forces all three of its speeds
            lambda model, v: F.MobilityLinearSpring(model.forces, model.free, 2, 3.0, 0.1, name="of a quaternion"),
        ],
        parameters={"stiffness": 3.5, "rest_value": -0.4},
        apart={},
        falls_to=Stage.MODEL,
        conservative=True,
        feeds=False,
        begin=None,
        reference=SIMBODY,
    ),
    Force(
        kind=F.MobilityLinearDamper,
        elements=[lambda model, v: F.MobilityLinearDamper(model.forces, model.free, 3, 0.3)],
        parameters={"damping": 3.0},
        apart={},
        falls_to=Stage.MODEL,
        conservative=True,
        feeds=False,
        begin=None,
        reference=SIMBODY,
    ),
    Force(
        kind=F.MobilityConstantForce,
        elements=[lambda model, v: F.MobilityConstantForce(model.forces, model.free, 1, 2.0)],
        parameters={"force": 3.0},
        apart={},
        falls_to=Stage.MODEL,
        conservative=False,
        feeds=False,
        begin=None,
        reference=SIMBODY,
    ),
    Force(
        kind=F.MobilityLinearStop,
        elements=[
            lambda model, v: F.MobilityLinearStop(model.forces, model.pin, 0, 10.0, 0.3, -0.1, 0.1),
            lambda model, v: F.MobilityLinearStop(model.forces, model.free, 5, 10.0, 0.3, -0.1, name="of a translation"),
        ],
        parameters={"stiffness": 12.0, "dissipation": 0.5, "lower_bound": -0.2, "upper_bound": 0.3},
        apart={"bounds": "test_parameters", "material_properties": "test_parameters"},
        falls_to=Stage.MODEL,
        conservative=True,
        feeds=False,
        begin=None,
        reference=SIMBODY,
    ),
    Force(
        kind=F.MobilityDiscreteForce,
        elements=[lambda model, v: F.MobilityDiscreteForce(model.forces, model.pin, 0, 1.5)],
        parameters={"mobility_force": 3.0},
        apart={},
        falls_to=Stage.VELOCITY,
        conservative=False,
        feeds=False,
        begin=None,
        reference=SIMBODY,
    ),
    Force(
        kind=F.MobilityPolynomialSpring,
        elements=[lambda model, v: F.MobilityPolynomialSpring(model.forces, model.pin, 0, 3.0, 1.0, 2.0, 0.1)],
        parameters={"stiffness": 3.5, "quadratic_stiffness": -0.4, "cubic_stiffness": 0.3, "rest_value": 0.2},
        apart={},
        falls_to=Stage.MODEL,
        conservative=True,
        feeds=False,
        begin=None,
        reference="MuJoCo, in test_joint_springs.py",
    ),
    Force(
        kind=F.MobilityPolynomialDamper,
        elements=[lambda model, v: F.MobilityPolynomialDamper(model.forces, model.free, 2, 0.3, 0.2, 0.1)],
        parameters={"damping": 3.0, "quadratic_damping": 0.4, "cubic_damping": 0.3},
        apart={},
        falls_to=Stage.MODEL,
        conservative=True,
        feeds=False,
        begin=None,
        reference="MuJoCo, in test_joint_springs.py",
    ),
    Force(
        kind=F.MobilityOrientationSpring,
        elements=[
            lambda model, v: F.MobilityOrientationSpring(
                model.forces,
                model.free,
                3.0,
                mb.Rotation.about_axis(0.4, (1, 2, 3)),
                quadratic_stiffness=0.5,
                cubic_stiffness=0.2,
            )
        ],
        parameters={
            "stiffness": 3.5,
            "quadratic_stiffness": 0.4,
            "cubic_stiffness": 0.3,
            "rest_rotation": mb.Rotation.about_axis(0.3, "x"),
        },
        apart={},
        falls_to=Stage.MODEL,
        conservative=True,
        feeds=False,
        begin=None,
        reference="MuJoCo, in test_joint_springs.py",
    ),
    Force(
        kind=F.MobilityDryFriction,
        elements=[
            lambda model, v: F.MobilityDryFriction(
                model.forces,
                model.free,
                1,
                2.0,
                static_friction_ratio=1.5,
                viscous_friction=0.3,
                deflection=0.4,
                transition_velocity=0.4,
            ),
            lambda model, v: F.MobilityDryFriction(
                model.forces, model.pin, 0, 2.0, static_friction_ratio=1.5, friction="stribeck", transition_velocity=0.4
            ),
        ],
        parameters={
            "friction_force": 3.0,
            "static_friction_ratio": 1.2,
            "viscous_friction": 0.5,
            "deflection": 0.1,
            "transition_velocity": 0.7,
        },
        apart={},
        falls_to=Stage.MODEL,
        conservative=True,
        feeds=False,
        begin=None,
        reference="closed forms and balances, in test_dry_friction.py",
    ),
    Force(
        kind=F.Belt,
        elements=[
            lambda model, v: F.Belt(
                model.forces,
                model.pin,
                model.slider,
                (1.2, 0.4),
                pretension=3.0,
                friction=0.5,
                wrap_angle=2.0,
                stiffness=4.0,
                crossed=True,
                transition_velocity=0.4,
            ),
        ],
        parameters={},
        apart={},
        falls_to=Stage.MODEL,
        conservative=True,
        feeds=False,
        begin=None,
        reference="closed forms, in test_machines.py",
    ),
    Force(
        kind=F.DiscreteForces,
        elements=[lambda model, v: F.DiscreteForces(model.forces, model.matter)],
        parameters={},
        apart={},
        falls_to=Stage.VELOCITY,
        conservative=False,
        feeds=False,
        begin=at_random,
        reference=SIMBODY,
    ),
    Force(
        kind=F.LinearBushing,
        elements=[
            lambda model, v: F.LinearBushing(
                model.forces, model.bodies[1], mb.Transform(v()), model.bodies[2], frame(v), SIX, 0.1 * SIX
            )
        ],
        parameters={
            "stiffness": SIX + 1.0,
            "damping": SIX + 2.0,
            "frame1": mb.Transform((3, 2, 1)),
            "frame2": mb.Transform(),
        },
        apart={},
        falls_to=Stage.MODEL,
        conservative=True,
        feeds=False,
        begin=None,
        reference=SIMBODY,
    ),
    Force(
        kind=F.Actuator,
        elements=[
            lambda model, v: F.Actuator(
                model.forces,
                F.transmission.Coordinates(model.forces, [(model.pin, 0, 1.2), (model.pin, 0, 0.4)], ratio=0.8),
                gain=(3.0, 0.4, -0.2),
                bias=v(),
                control=0.7,
                force_range=(-30.0, 30.0),
            ),
            lambda model, v: F.Actuator(
                model.forces, straight_path(model, v), gain=(3.0, 0.0, 0.0), dynamics="filter", time_constant=0.3, control=0.5
            ),
            lambda model, v: F.Actuator(
                model.forces,
                F.transmission.BodyWrench(model.forces, model.free, frame(v), force=v(), torque=v(), torque_in_ground=True),
                control=0.6,
            ),
            lambda model, v: F.Actuator(
                model.forces,
                F.transmission.RelativePose(
                    model.forces, model.free, model.bodies[2], frame(v), frame(v), translation=v(), rotation=v()
                ),
                bias=v(),
            ),
            lambda model, v: F.Actuator(
                model.forces,
                F.transmission.SliderCrank(model.forces, model.pin, model.bodies[3], frame(v), frame(v), rod_length=9.0),
                bias=v(),
            ),
        ],
        parameters={"gain": (1, 2, 3), "bias": (3, 2, 1)},
        apart={"control": "test_actuator"},
        falls_to=Stage.MODEL,
        conservative=False,
        feeds=False,
        begin=None,
        reference="MuJoCo, in tests/importer/mjcf",
    ),
    Force(
        kind=F.Actuators,
        elements=[lambda model, v: F.Actuators(model.forces, [(model.pin, 0), (model.free, 3), (model.free, 1)])],
        parameters={},
        apart={},
        falls_to=Stage.VELOCITY,
        conservative=False,
        feeds=False,
        begin=lambda force, state, rng: force.set_efforts(state, rng.uniform(-1, 1, 3)),
        reference="test_actuator.py",
    ),
    Force(
        kind=F.TransmissionSpring,
        elements=[
            lambda model, v: F.TransmissionSpring(
                model.forces,
                F.transmission.Coordinates(model.forces, [(model.pin, 0, 1.2), (model.pin, 0, 0.4)]),
                stiffness=3.0,
                damping=0.4,
                higher_stiffness=(0.3, 0.2),
                higher_damping=(0.1, 0.3),
            ),
            lambda model, v: F.TransmissionSpring(
                model.forces, straight_path(model, v), stiffness=4.0, damping=0.3, rest_range=(1.0, 2.0), dissipation=0.2
            ),
            lambda model, v: F.TransmissionSpring(model.forces, wrapped_path(model, v), stiffness=4.0, damping=0.3),
            lambda model, v: F.TransmissionSpring(model.forces, mesh(model, v), stiffness=4.0, damping=0.3),
        ],
        parameters={"stiffness": 3.5, "damping": 0.6, "dissipation": 0.4},
        apart={},
        falls_to=Stage.MODEL,
        conservative=True,
        feeds=False,
        begin=None,
        reference="MuJoCo, in tests/importer/mjcf",
    ),
    Force(
        kind=F.CableSpring,
        elements=[
            lambda model, v: F.CableSpring(model.forces, straight_path(model, v), 4.0, 0.5, 0.2),
        ],
        parameters={"stiffness": 3.5, "damping": 0.6, "dissipation": 0.4},
        apart={},
        falls_to=Stage.MODEL,
        conservative=True,
        feeds=False,
        begin=None,
        reference="Simbody 3.7, in tests/force/test_cables.py",
    ),
    Force(
        kind=F.GravityCompensation,
        elements=[lambda model, v: F.GravityCompensation(model.forces, {model.pin: 1.0, model.free: 0.4}, v())],
        parameters={"gravity_vector": (1, 2, 3)},
        apart={},
        falls_to=Stage.MODEL,
        conservative=True,
        feeds=False,
        begin=None,
        reference="MuJoCo, in tests/importer/mjcf",
    ),
    Force(
        kind=F.BoxDrag,
        elements=[
            lambda model, v: F.BoxDrag(
                model.forces, model.free, (0.3, 0.5, 0.7), frame(v), viscosity=0.3, density=0.8, wind=v()
            )
        ],
        parameters={"viscosity": 0.5, "density": 1.5, "wind": (1, 2, 3)},
        apart={},
        falls_to=Stage.MODEL,
        conservative=True,
        feeds=True,
        begin=None,
        reference="MuJoCo, in tests/importer/mjcf",
    ),
    Force(
        kind=F.BrushTyre,
        elements=[lambda model, v: F.BrushTyre(model.forces, model.free, 3.0, 20.0, 0.3, **BRISTLES, center=0.1 * v())],
        parameters=ROLLS
        | {"friction": 0.7, "longitudinal_stiffness": 30.0, "cornering_stiffness": 20.0}
        | {"half_length": 0.2, "rolling_resistance": 0.03},
        apart={},
        falls_to=Stage.MODEL,
        conservative=False,
        feeds=True,
        begin=None,
        reference="closed forms in test_tyres.py",
    ),
    Force(
        kind=F.Motor,
        elements=[
            lambda model, v: F.Motor(model.forces, model.pin, 0, mb.function.Sinusoid(2.0, 1.0, 0.3), ratio=1.5),
            lambda model, v: F.Motor(
                model.forces,
                model.free,
                4,
                mb.function.Polynomial([-0.5, 2.0]),
                throttle=-0.7,
                duty_cycle=mb.function.Sinusoid(1.0, 2.0, 1.0),
            ),
        ],
        parameters={"throttle": 0.6, "ratio": 2.0},
        apart={},
        falls_to=Stage.MODEL,
        conservative=False,
        feeds=True,
        begin=None,
        reference="closed forms in test_machines.py",
    ),
    Force(
        kind=F.MagicFormulaTyre,
        elements=[lambda model, v: F.MagicFormulaTyre(model.forces, model.free, TYRE, center=0.1 * v())],
        parameters=ROLLS,
        apart={},
        falls_to=Stage.MODEL,
        conservative=False,
        feeds=True,
        begin=None,
        reference="the formula written out again in test_tyres.py",
    ),
    Force(
        kind=F.EllipsoidDrag,
        elements=[
            lambda model, v: F.EllipsoidDrag(
                model.forces,
                model.free,
                (0.3, 0.5, 0.7),
                frame(v),
                virtual_masses=(0.1, 0.2, 0.3),
                virtual_inertias=(0.3, 0.2, 0.1),
                viscosity=0.3,
                density=0.8,
                wind=v(),
            )
        ],
        parameters={"viscosity": 0.5, "density": 1.5, "wind": (1, 2, 3)},
        apart={},
        falls_to=Stage.MODEL,
        conservative=True,
        feeds=True,
        begin=None,
        reference="MuJoCo, in tests/importer/mjcf",
    ),
    Force(
        kind=F.Thermostat,
        elements=[lambda model, v: F.Thermostat(model.forces, model.matter, 0.7, 3.0, 0.4, 2)],
        parameters={"bath_temperature": 200.0, "relaxation_time": 0.1, "num_excluded_dofs": 3},
        apart={"num_chains": "test_parameters"},
        falls_to=Stage.MODEL,
        conservative=True,
        feeds=True,
        begin=None,
        reference=SIMBODY,
    ),
    Force(
        kind=F.SmoothSphereHalfSpace,
        elements=[
            lambda model, v: F.SmoothSphereHalfSpace(
                model.forces, model.free, v(), 1.5, model.bodies[0], frame(v), RUBBER, transition_velocity=0.7, **SMOOTH
            ),
            # one that dissipates nothing
            lambda model, v: F.SmoothSphereHalfSpace(
                model.forces, model.bodies[2], v(), 1.0, model.pin, frame(v), mb.contact.Material(20.0), **SMOOTH
            ),
        ],
        parameters={
            "center": (1, 2, 3),
            "radius": 0.7,
            "contact_half_space_frame": mb.Transform((3, 2, 1)),
            "stiffness": 12.0,
            "dissipation": 0.7,
            "static_friction": 1.3,
            "dynamic_friction": 0.3,
            "viscous_friction": 0.2,
            "transition_velocity": 0.5,
            "constant_contact_force": 0.02,
            "hertz_smoothing": 3.0,
            "hunt_crossley_smoothing": 4.0,
        },
        apart={"material": "test_contact_elements"},
        falls_to=Stage.MODEL,
        conservative=True,
        feeds=True,
        begin=None,
        reference="cases of Simbody's, in tests/reference/test_contact.py",
    ),
    Force(
        kind=F.ExponentialSpring,
        elements=[
            lambda model, v: F.ExponentialSpring(model.forces, frame(v), model.free, v(), **SOFT),
            lambda model, v: F.ExponentialSpring(
                model.forces, frame(v), model.pin, v(), **{**SOFT, "friction_elasticity": 0.1}
            ),
        ],
        parameters={
            "contact_plane_transform": mb.Transform((3, 2, 1)),
            "station": (1, 2, 3),
            "shape_parameters": (0.1, 2.0, 3.0),
            "normal_viscosity": 0.2,
            "max_normal_force": 30.0,
            "friction_elasticity": 4.0,
            "friction_viscosity": 0.3,
            "settle_velocity": 0.6,
            "relaxation_time": 0.3,
            "static_friction": 0.9,
            "kinetic_friction": 0.4,
        },
        apart={},
        falls_to=Stage.MODEL,
        conservative=True,
        feeds=False,
        begin=None,
        reference="closed forms and balances, in test_contact_elements.py",
    ),
    Force(
        kind=F.HuntCrossley,
        elements=[
            lambda model, v: F.HuntCrossley(
                model.forces,
                [
                    (model.bodies[0], C.Surface(C.HalfSpace(), RUBBER), frame(v)),
                    (model.free, C.Surface(C.Sphere(1.5), C.Material(10.0)), mb.Transform(v())),
                    (model.pin, C.Surface(C.Sphere(1.0), RUBBER)),
                    (model.bodies[2], C.Surface(C.Sphere(0.8), RUBBER), mb.Transform(v())),
                ],
                0.7,
            )
        ],
        parameters={"transition_velocity": 0.3},
        apart={},
        falls_to=Stage.MODEL,
        conservative=True,
        feeds=False,
        begin=None,
        reference="cases of Simbody's, in tests/reference/test_contact.py",
    ),
    Force(
        kind=F.ElasticFoundation,
        elements=[
            lambda model, v: F.ElasticFoundation(
                model.forces,
                [
                    (model.bodies[0], C.Surface(C.HalfSpace(), RUBBER), frame(v)),
                    (model.free, C.Surface(octahedron(), RUBBER), mb.Transform(v())),
                ],
                0.7,
            )
        ],
        parameters={"transition_velocity": 0.3},
        apart={},
        falls_to=Stage.MODEL,
        conservative=True,
        feeds=False,
        begin=None,
        reference="cases of Simbody's, in tests/reference/test_contact.py",
    ),
)


def tree(make):
    """A random tree of a Pin, a Free, a Slider and other bodies, for `element` to act in."""
    model = make.tree(5, [mb.mobilizer.Pin, mb.mobilizer.Free, mb.mobilizer.Gimbal, mb.mobilizer.Ball, mb.mobilizer.Slider])
    names = "Pin", "Free", "Slider"
    model.pin, model.free, model.slider = (next(b for b in model.bodies if type(b).__name__ == name) for name in names)
    return model


def elements(model, kinds=FORCES):
    """The elements of all records but Gravity, which a tree has: first one of each kind, then the others, so that kinds mix."""
    records = [FORCES[kind] for kind in kinds if kind is not F.Gravity]
    depth = max(len(record.elements) for record in records)
    return [
        record.elements[i](model, lambda: model.rng.uniform(-1, 1, 3))
        for i in range(depth)
        for record in records
        if i < len(record.elements)
    ]


def one_in(share, rng):
    """One in so many of all kinds, others in each run, and the spring between two points: for what each kind compiles anew."""
    kinds = [kind for kind in FORCES if kind is not F.TwoPointLinearSpring]
    return [F.TwoPointLinearSpring, *rng.permutation(kinds)[::share]]


def realized_with_all(make, kinds=FORCES):
    """A random tree with every element, each begun as its record says: the tree, its elements, and a realized state."""
    model = tree(make)
    made = elements(model, kinds)
    model.made()
    state = model.randomize(Stage.MODEL)
    for force in made:
        if FORCES[type(force)].begin:
            FORCES[type(force)].begin(force, state, make.rng)
    state.z = make.rng.normal(size=len(state.z))
    model.system.realize(state)
    return model, made, state
