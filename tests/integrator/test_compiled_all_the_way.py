"""Forces of every kind, compiled and interpreted: the same motion, the same bits each time; long runs are one call."""

import sys
import tracemalloc
from types import SimpleNamespace

import integrated_models as models
import numpy as np
import pytest
from integrated_models import EXPLICIT, end, pendulum, stepper_of

import mobod as mb
from kinds.forces import FORCES
from mobod import force as F, integrator as kinds

each = pytest.mark.parametrize("kind", EXPLICIT, ids=lambda kind: kind.__name__)
X = mb.Transform
#: These have tests of their own with a car and a peptide.
OF_WHEELS_AND_ATOMS = {F.MagicFormulaTyre, F.BrushTyre, F.Nonbonded}


def every_force(interpreted=False):
    """Two pendulums and a body on a ball joint, with a force of each kind."""
    system = mb.MultibodySystem("every force")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    body = mb.body.Rigid(mb.MassProperties(1.5, (0.1, -0.3, 0), mb.Inertia(0.5, 0.4, 0.6)))
    ground = matter.ground
    one = mb.mobilizer.Pin(ground, body)
    two = mb.mobilizer.Pin(one, body, X_PF=X((0, -0.7, 0)))
    ball = mb.mobilizer.Ball(two, body, X_PF=X((0, -0.7, 0)))
    F.Gravity(forces, matter, (0, -9.8, 0))
    F.UniformGravity(forces, matter, (0.3, 0, 0.2))
    F.TwoPointLinearSpring(forces, ground, (1, 0, 0), two, (0, 0, 0.1), 10, 0.5)
    F.TwoPointLinearDamper(forces, ground, (1, 0, 0), ball, (0, 0, 0.1), 0.5)
    F.TwoPointConstantForce(forces, ground, (0, 1, 0), ball, (0, 0, 0), 0.5)
    F.ConstantForce(forces, ball, (0, 0.2, 0), (1, 0, 0.5))
    F.ConstantTorque(forces, two, (0, 0.2, 1))
    F.GlobalDamper(forces, matter, 0.1)
    F.MobilityLinearSpring(forces, one, 0, 3.0, 0.2)
    F.MobilityLinearDamper(forces, two, 0, 0.2)
    F.MobilityConstantForce(forces, ball, 1, 0.3)
    F.MobilityLinearStop(forces, one, 0, 50.0, 0.5, -0.1, 0.1)
    F.MobilityDiscreteForce(forces, two, 0, 0.4)
    discrete = F.DiscreteForces(forces, matter)
    F.LinearBushing(forces, ground, X(), ball, X((0, 1, 0)), np.full(6, 3.0), np.full(6, 0.3))
    F.Thermostat(forces, matter, 0.5, 2.0, 0.4, 0)
    F.MobilityPolynomialSpring(forces, one, 0, 2.0, 0.3, 0.1, 0.1)
    F.MobilityPolynomialDamper(forces, one, 0, 0.1, 0.02, 0.01)
    F.MobilityOrientationSpring(forces, ball, 0.7)
    F.MobilityDryFriction(forces, two, 0, 0.1)
    along = F.transmission.Coordinates(forces, [(one, 0, 0.7), (two, 0, -0.4)])
    F.Actuator(forces, along, gain=(2.0, 0, 0), bias=(0.1, -0.2, -0.1), control=0.2, dynamics="filter", time_constant=0.1)
    F.Actuators(forces, [(one, 0), (ball, 2)])
    F.TransmissionSpring(forces, along, stiffness=2.0, damping=0.1)
    F.GravityCompensation(forces, {two: 0.2}, (0, -9.8, 0))
    F.BoxDrag(forces, ball, (0.2, 0.3, 0.4), viscosity=0.1, density=0.5)
    F.EllipsoidDrag(forces, ball, (0.2, 0.3, 0.4), viscosity=0.1, density=0.5)
    soft, floor = mb.contact.Material(5.0, 0.2, 0.3), X(mb.Rotation.from_one_axis((0, 1, 0), "z"), (0, -1.6, 0))
    F.SmoothSphereHalfSpace(forces, ball, (0, 0, 0), 0.3, ground, floor, soft)
    F.ExponentialSpring(forces, X(floor.R, (0, -1.5, 0)), ball, (0, 0, 0), max_normal_force=5.0)
    plane = (ground, mb.contact.Surface(mb.contact.HalfSpace(), soft), floor)
    F.HuntCrossley(forces, [plane, (ball, mb.contact.Surface(mb.contact.Sphere(0.3), soft))])
    vertices, faces = mb.decoration.Brick((0.3, 0.3, 0.3)).calc_mesh()
    F.ElasticFoundation(forces, [plane, (ball, mb.contact.Surface(mb.contact.TriangleMesh(vertices, faces), soft))])
    F.MobilityTorsion(forces, one, 0, 0.4, 3.0, 0.2)
    F.Motor(forces, one, 0, mb.function.Polynomial([-0.5, 0.3]), ratio=1.5)
    F.CableSpring(
        forces, F.transmission.StraightPath(forces, [([(ground, (1, 0, 0)), (two, (0, 0, 0.1))], 1.0)]), 2.0, 0.9, 0.1
    )
    F.Belt(forces, one, two, (0.3, 0.1), pretension=2.0, friction=0.4, wrap_angle=2.5, stiffness=5.0, crossed=True)
    there = {type(forces.get_force(i)) for i in range(forces.get_num_forces())} | OF_WHEELS_AND_ATOMS
    new = [FORCES[kind] for kind in FORCES if kind not in there]  # of which this has no line: as their records make them
    if new:
        free, bodies = mb.mobilizer.Free(ground, body), list(matter.bodies)
        model = SimpleNamespace(matter=matter, forces=forces, bodies=bodies, pin=one, slider=two, free=free)
        for record in new:
            record.elements[0](model, lambda: np.array([0.1, -0.2, 0.3]))
    if interpreted:
        F.Custom(forces, models.Nothing())
    state = system.realize_topology()
    discrete.set_one_body_force(state, ball, [(0.1, 0, 0.2), (0, 0.3, 0)])
    state.u = np.linspace(-1.0, 1.0, len(state.u))
    return system, state


@each
def test_compiled_and_interpreted_runs_agree_with_forces_of_every_kind(kind, close):
    ends = []
    for interpreted in (False, True):
        for _ in range(2):
            final = end(kind, *every_force(interpreted), 0.2, fixed_step_size=0.002, accuracy=1e-6)
            assert final.integrator.get_num_steps_taken() in (100, 101)
            ends.append(final.state.y.copy())
        assert np.array_equal(ends[-1], ends[-2]), "repeats its own bits"
    close(ends[2], ends[0], 1e-12, 1.0)


def calls_of(function):
    """The number of functions, of Python's and of C, that are called on the way."""
    calls = [0]

    def count(frame, event, argument):
        calls[0] += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(None)
    return calls[0]


@each
def test_python_does_nothing_between_steps(kind):
    """But look for Ctrl-C now and then, after a while that many steps take."""
    system, state = every_force()
    step = 1e-6
    stepper = stepper_of(kind, system, state, fixed_step_size=step, accuracy=1e-6)
    for _ in range(3):  # loads all code
        stepper.step_to(stepper.time + 30 * step)
    before = stepper.integrator.get_num_steps_taken()
    calls = calls_of(lambda: stepper.step_to(stepper.time + 20_000 * step))
    steps = stepper.integrator.get_num_steps_taken() - before
    assert steps > 19_000 and calls < steps / 10


@pytest.mark.parametrize("kind", [kinds.SemiExplicitEuler, kinds.RungeKutta2], ids=lambda kind: kind.__name__)
def test_a_million_steps_allocate_nothing(kind):
    stepper = stepper_of(kind, *pendulum(), fixed_step_size=1e-6, accuracy=1e-6)
    stepper.step_to(1e-4)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        stepper.step_to(1.0)
        now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert stepper.integrator.get_num_steps_taken() == pytest.approx(1e6, abs=10)
    assert now - before < 20_000 and peak - before < 100_000
    assert abs(stepper.state.q[0] - models.swing(1.0)) < 1e-5
