"""Springs, dampers and stops of joints in `TimeStepping`: as stiff as they like, and of first order."""

from pathlib import Path

import numpy as np
import pytest
from touching_models import G, empty, solid

import mobod as mb
from mobod.examples import g1_falls
from mobod.importer.floor import add_floor

F = mb.force


def arm(add):
    """Two links on pins, and what *add* puts there; no surfaces, so that Python drives the steps."""
    system, matter = empty((0, -G, 0))
    forces = system.force_subsystems[0]
    link = solid(1.0, (0.1, 0.1, 0.1))
    one = mb.mobilizer.Pin(matter.ground, link, X_BM=mb.Transform((0, 0.5, 0)))
    two = mb.mobilizer.Pin(one, link, X_BM=mb.Transform((0, 0.5, 0)))
    add(forces, one, two)
    state = system.realize_topology()
    state.q, state.u = [1.0, 0.5], [0.5, -1.0]
    return system, state


def every_kind(forces, one, two):
    F.MobilityLinearDamper(forces, one, 0, 0.5)
    F.MobilityLinearSpring(forces, one, 0, 3.0, 0.2)
    F.MobilityLinearStop(forces, one, 0, 100.0, 0.1, -0.3, 0.8)
    F.MobilityPolynomialSpring(forces, two, 0, 4.0, -1.0, 2.0, 0.1)
    F.MobilityPolynomialDamper(forces, two, 0, 0.1, 0.2, 0.3)
    F.GlobalDamper(forces, one.get_matter_subsystem(), 0.1)
    servo = F.Actuator(
        forces,
        F.transmission.Coordinates(forces, [(two, 0, 0.5)], ratio=2.0),
        gain=(20, 0, 0),
        bias=(0, -20, -1),
        force_range=(-5, 5),
    )
    servo.set_default_control(0.3)
    F.MobilityLinearDamper(forces, two, 0, 1e9, disabled_by_default=True)


def end_of(system, state, time, h=None, integrator=mb.integrator.TimeStepping):
    settings = {"accuracy": 1e-8} if h is None else {"fixed_step_size": h}
    stepper = mb.TimeStepper(system, integrator(system, **settings))
    stepper.initialize(state.copy())
    stepper.step_to(time)
    return stepper.state.y.copy()


def test_every_kind_at_once_is_of_first_order():
    system, state = arm(every_kind)
    exact = end_of(system, state, 1.0, integrator=mb.integrator.RungeKuttaMerson)
    errors = [np.abs(end_of(system, state, 1.0, h) - exact).max() for h in (0.004, 0.002, 0.001)]
    print(errors)
    assert errors[2] < 0.02
    assert 1.6 < errors[0] / errors[1] < 2.5 and 1.6 < errors[1] / errors[2] < 2.5


def test_a_damped_pendulum():
    """I q'' = -c q' - m g l sin q: over-damped by c h / I = 40 it creeps at -m g l sin q / c, and hardly at all."""
    system, matter = empty((0, -G, 0))
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, -0.5, 0), mb.Inertia(0.26, 0.01, 0.26)))
    pin = mb.mobilizer.Pin(matter.ground, body)
    damping = 0.26 * 40.0 / 0.002
    F.MobilityLinearDamper(system.force_subsystems[0], pin, 0, damping)
    state = system.realize_topology()
    state.q = [1.0]
    q, u = end_of(system, state, 0.5, 0.002)
    speed = 0.5 * G * np.sin(1.0) / damping
    assert q == pytest.approx(1.0 - 0.5 * speed, abs=1e-5)
    assert u == pytest.approx(-speed, rel=2e-3)


def test_a_linear_oscillator_has_the_steps_of_the_implicit_method():
    """(m + h c + h^2 k) (u_1 - u_0) = -h (c u_0 + k q_0) - h^2 k u_0, and q_1 = q_0 + h u_1."""
    system, matter = empty((0, 0, 0))
    slider = mb.mobilizer.Slider(matter.ground, solid(2.0))
    forces = system.force_subsystems[0]
    k, c, m, h = 1e7, 30.0, 2.0, 0.01
    F.MobilityLinearSpring(forces, slider, 0, k, 0.0)
    F.MobilityLinearDamper(forces, slider, 0, c)
    state = system.realize_topology()
    state.q, state.u = [0.1], [3.0]
    q, u = 0.1, 3.0
    for _ in range(5):
        u += (-h * (c * u + k * q) - h * h * k * u) / (m + h * c + h * h * k)
        q += h * u
    assert end_of(system, state, 5 * h, h) == pytest.approx([q, u], rel=1e-9, abs=1e-12)


def test_a_lock_and_a_constraint_are_kept_beside_stiff_joints():
    def add(forces, one, two):
        F.MobilityLinearDamper(forces, one, 0, 300.0)
        F.MobilityLinearDamper(forces, two, 0, 300.0)
        mb.constraint.ConstantSpeed(two, 0, 0.7)

    system, state = arm(add)
    state.u = [0.0, 0.7]
    y = end_of(system, state, 0.2, 0.002)
    assert y[3] == pytest.approx(0.7, abs=1e-9)
    assert abs(y[2]) < 1.0

    system, state = arm(every_kind)
    one = system.get_matter_subsystem().bodies[1]
    one.lock(state)
    assert end_of(system, state, 0.1, 0.002)[0] == 1.0


def falling_g1(damping=0.0, stiffness=0.0):
    """The humanoid of the example on its floor, with dampers and stops of all joints."""
    model = mb.load_urdf(Path(g1_falls.__file__).parent / "g1.urdf", floating_base=True, joint_limits=not stiffness)
    for name, joint in model.joints.items():
        if name in model.speeds:
            body = model.bodies[joint.child]
            if damping:
                F.MobilityLinearDamper(model.forces, body, 0, damping)
            if stiffness:
                F.MobilityLinearStop(model.forces, body, 0, stiffness, 0.1, -0.5, 0.7)
    mb.CompliantContactSubsystem(model.system)
    state = model.default_state()
    state.upd_q()[model.coordinates["pelvis[6]"]] = 1.0
    state.upd_u()[model.speeds["pelvis[3]"]] = 0.3
    return model.system, add_floor(model.system, state, g1_falls.RUBBER, 0.0)[0]


@pytest.mark.parametrize(("damping", "stiffness"), [(0.5, 0.0), (5.0, 0.0), (0.1, 1e4), (0.5, 1e4)])
@pytest.mark.filterwarnings("ignore:by time")
def test_a_humanoid_with_stiff_joints_comes_to_rest(damping, stiffness):
    system, state = falling_g1(damping, stiffness)
    integrator = mb.integrator.TimeStepping(system, fixed_step_size=0.002)
    stepper = mb.TimeStepper(system, integrator)
    stepper.initialize(state)
    fastest = 0.0
    for time in np.arange(0.25, 10.1 if damping < 5.0 else 45.1, 0.25):
        stepper.step_to(time)
        fastest = max(fastest, np.abs(stepper.state.u).max())
    print(fastest, np.abs(stepper.state.u).max())
    assert fastest < 40.0
    assert np.abs(stepper.state.u).max() < 0.02
    assert integrator.get_num_unconverged() == 0
    if stiffness:
        assert -0.53 < stepper.state.q[7:].min() and stepper.state.q[7:].max() < 0.73


@pytest.mark.filterwarnings("ignore:by time")
def test_kernels_and_python_step_alike():
    """The same robot with surfaces in kernels, and, beside a source of nothing, densely, while nothing touches and after."""
    from mobod.unilateral.problem import ContactRows

    o = np.zeros(0)
    ends = []
    for dense in (False, True):
        system, state = falling_g1(5.0, 1e4)
        integrator = mb.integrator.TimeStepping(system, fixed_step_size=0.002)
        if dense:
            integrator.sources.append(lambda s: ContactRows(o, np.zeros((0, len(s.u))), np.zeros(1, np.int64), o, o, o, []))
        stepper = mb.TimeStepper(system, integrator)
        stepper.initialize(state)
        ends.append([])
        for time in (0.05, 0.3):
            stepper.step_to(time)
            ends[-1].append(stepper.state.y.copy())
        assert len(integrator.get_contact_points())
    assert ends[0][0] == pytest.approx(ends[1][0], abs=1e-10)
    assert ends[0][1] == pytest.approx(ends[1][1], abs=1e-3)
