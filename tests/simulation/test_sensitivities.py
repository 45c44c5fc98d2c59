"""Derivatives of whole runs: forward and by the adjoint, against differences of runs, and closed forms."""

import numpy as np
import pytest

import mobod as mb
from mobod.algebra import where
from mobod.algebra.scalar import load, one
from mobod.constraint import access
from mobod.system.forward_sensitivities import Directions

#: Of runs whose differences are taken.
FINE = 1e-12


def swinging():
    """A pin, a ball on it, and a sliding end that a spring pulls: quaternions, inertial terms and forces."""
    system = mb.MultibodySystem("swinging")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.8, 0), name="gravity")
    link = mb.body.Rigid(mb.MassProperties(1.3, (0, 0.1, 0.2), mb.Inertia(0.5, 0.6, 0.7, 0.01, 0.02, 0.03)))
    pin = mb.mobilizer.Pin(matter.ground, link, X_BM=mb.Transform((0, 1, 0)), name="pin")
    ball = mb.mobilizer.Ball(pin, link, X_PF=mb.Transform((0, -0.3, 0)), X_BM=mb.Transform((0, 0.5, 0)), name="ball")
    mb.force.TwoPointLinearSpring(forces, matter.ground, (1, 0, 0), ball, (0, 0, 0.1), 3.0, 1.0, name="spring")
    return system, forces, matter, pin, ball


def started(system, matter, pin, ball):
    state = system.realize_topology()
    pin.set_angle(state, 0.3)
    ball.set_u(state, (1.0, 0.5, -2.0))
    return state


def differences(system, state, wanted, duration, value):
    """Differences of fourth order, of what a run ends in, by each direction."""
    directions = Directions(system, state, wanted)
    nu = state.tree.nu
    position = state.copy()
    system.realize(position, mb.Stage.POSITION)

    def end(k, h):
        weights = np.zeros(len(directions))
        weights[k] = directions.of_settings[k]
        other = directions.moved(state, weights, h)
        change = h * directions.of_start[:, k]
        other.q = state.q + system.matter.multiply_by_n(position, False, change[:nu])
        other.u = state.u + change[nu : 2 * nu]
        system.normalize_quaternions(other)
        return value(mb.simulate(system, other, duration, accuracy=FINE, report_interval=duration))

    found = []
    for k in range(len(directions)):
        h = 1e-3 * directions.scales[k]
        found.append((8 * (end(k, h) - end(k, -h)) - (end(k, 2 * h) - end(k, -2 * h))) / (12 * h))
    return directions.names, np.array(found).T


def y_of(trajectory):
    return np.concatenate([trajectory.q[-1], trajectory.u[-1]])


def loss(end):
    return float(end.q @ end.q + end.u[0])


def assert_sensitivities(system, state, wanted, duration, accuracy, tolerance):
    """Forward against differences, and the adjoint against both."""
    names, expected = differences(system, state, wanted, duration, y_of)
    run = mb.simulate(system, state, duration, accuracy=accuracy, report_interval=duration, sensitivities=wanted)
    found = run.sensitivities
    assert found.names == names and found.q.shape == (2, state.tree.nu, len(names))
    last = np.vstack([found.of_q[-1], found.u[-1]])
    np.testing.assert_allclose(last, expected, atol=tolerance * np.abs(expected).max())
    gradient = mb.calc_gradient(system, state, duration, loss, wanted, accuracy=accuracy)
    q = run.q[-1]
    by_loss = 2.0 * q @ found.of_q[-1] + found.u[-1, 0]
    np.testing.assert_allclose(gradient.gradient, by_loss, atol=2.0 * tolerance * np.abs(expected).max())
    assert np.isclose(gradient.value, q @ q + run.u[-1, 0], atol=1e-5) and gradient.names == names


def test_a_swinging_chain_by_initial_values_and_parameters():
    system, _, matter, pin, ball = swinging()
    state = started(system, matter, pin, ball)
    wanted = ["q", "ball.u", "spring.stiffness", "gravity.magnitude", pin.set_body_mass_properties, "ball.outboard_frame"]
    assert_sensitivities(system, state, wanted, 0.6, 1e-8, 1e-7)


@pytest.mark.parametrize("angles", [False, True])
def test_a_line_that_turns_about_itself_while_it_swings(angles):
    """Its q can turn in a way that no speed makes, on which forces depend: a spring beside the line, and a rod."""
    system = mb.MultibodySystem("line")
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.8, 0))
    line = mb.body.Rigid(mb.MassProperties(1.3, (0, 0, 0.5), mb.Inertia(0.5, 0.5, 0, 0, 0, 0)))
    pole = mb.mobilizer.LineOrientation(matter.ground, line, name="pole")
    mb.force.TwoPointLinearSpring(forces, matter.ground, (1, 0, 0), pole, (0.3, 0.2, 1.0), 30.0, 1.0, name="spring")
    link = mb.body.Rigid(mb.MassProperties(1.0, (0, -0.5, 0), mb.Inertia(0.4, 0.1, 0.4, 0, 0, 0)))
    end = mb.mobilizer.Ball(pole, link, X_PF=mb.Transform((0, 0.1, 1)), name="end")
    mb.constraint.Rod(matter.ground, (0, 0, 2), end, (0, -1, 0), 1.2, name="rod")
    state = system.realize_topology()
    if angles:
        matter.set_use_euler_angles(state, True)
        system.realize_model(state)
    pole.set_q_to_fit_rotation(state, mb.Rotation.about_axis(0.4, (1, 0.5, 0)))
    pole.set_u(state, (1.0, -2.0))
    end.set_u(state, (0.5, 0.2, -0.4))
    system.realize(state, mb.Stage.TIME)
    system.project(state, 1e-12)
    assert_sensitivities(system, state, ["pole.q"], 0.1, 1e-7, 2e-6)


class Push(mb.event.PeriodicHandler):
    """Leaves speeds that miss the constraints: projecting them bends with q."""

    def handle_event(self, state, accuracy):
        state.u = 0.8 * state.u + 0.05


@pytest.mark.parametrize("pushed", [False, True])
def test_a_constrained_system_by_the_length_of_its_rod(pushed):
    """Changes stay on the manifold, which moves with the length; what a handler leaves beside it is projected, too."""
    system, _, matter, pin, ball = swinging()
    if pushed:
        system.add_event_handler(Push(0.13))
    mb.constraint.Rod(matter.ground, (0.5, -1, 0), ball, (0, -0.5, 0), 1.0, name="rod")
    state = started(system, matter, pin, ball)
    system.realize(state, mb.Stage.TIME)
    system.project(state, 1e-13)
    wanted = ["ball.q", "pin.u", "rod.length", "ball.com"]
    assert_sensitivities(system, state, wanted, 0.3, 1e-6, 2e-5)


def rows_by_angle(model, c):
    q, v = access.coordinate(model, c, 0, 0), access.number(model, c, 0)
    access.put_speed_coefficient(model, c, 0, 0, 0, one(q) + v * q)


def demanded(model, c):
    access.put_acceleration_offset(model, c, 0, -access.number(model, c, 0) * one(load(model.time, 0, 0)))


class Demand(mb.Constraint):
    """(1 + v q) udot = v."""

    routine = access.by_address(rows_by_angle, demanded)

    def __init__(self, body, v):
        self.default_numbers = [v]
        super().__init__([], [body], equations=(0, 0, 1))


@pytest.mark.filterwarnings("ignore:at time 0 constraints ask for accelerations that cannot all be")
@pytest.mark.parametrize("compiled", [True, False])
def test_equations_that_contradict_each_other(compiled, monkeypatch):
    """Three accelerations are asked of one pin, which fulfils them by least squares: how these change is part of the motion."""
    system, state = mb.examples.double_pendulum.build()
    values = np.array([1.0, -0.7, 2.2])
    for v in values:
        Demand(system.matter.bodies["lower"], v)
    state = system.realize_topology()
    state.q, state.u = (0.3, 0.4), (0.2, -0.1)
    system.realize(state)
    rows = 1.0 + 0.4 * values
    assert state.u_dot[1] == pytest.approx(rows @ values / (rows @ rows), abs=1e-12)
    if not compiled:
        monkeypatch.setattr("mobod.simulation.variational.are_compiled", lambda *_: False)
    assert_sensitivities(system, state, ["q", "u"], 1.0, 1e-8, 1e-6)


@pytest.mark.parametrize(("constrained", "sampled"), [(False, False), (True, False), (True, True)])
def test_compiled_steps_are_those_that_python_takes(constrained, sampled, monkeypatch):
    """The same steps, by the errors of both motion and derivatives, and the same derivatives: without J and B, and by them."""
    system, forces, matter, pin, ball = swinging()
    if sampled:
        mb.control.Custom(forces, lambda t, q, u: 3.0 * (t - q[: len(u)]) - u, sample_time=0.05)
    if constrained:
        mb.constraint.Rod(matter.ground, (0.5, -1, 0), ball, (0, -0.5, 0), 1.0, name="rod")
    state = started(system, matter, pin, ball)
    system.project(state, 1e-12)
    wanted = ["ball.q", "ball.u", "ball.com", "ball.outboard_frame"] + ["rod.length"] * constrained

    def run():
        return mb.simulate(system, state, 0.2, accuracy=1e-6, report_interval=0.1, sensitivities=wanted)

    with monkeypatch.context() as patched:
        for name in ("rates", "through_sample"):  # for which Python would be called
            patched.setattr(f"mobod.system.forward_sensitivities.Variations.{name}", None)
        compiled = run()
    monkeypatch.setattr("mobod.simulation.variational.are_compiled", lambda *_: False)
    expected = run()
    for name in ("steps_taken", "evaluations", "error_test_failures"):
        assert compiled.statistics[name] == expected.statistics[name]
    for name, array in compiled.sensitivities.arrays().items():
        np.testing.assert_allclose(array, expected.sensitivities.arrays()[name], rtol=1e-9, atol=1e-10)


def test_surfaces_that_touch_leave_steps_compiled(monkeypatch):
    """A ball that is pressed into a floor on which it slips: alone, and in an ensemble."""
    monkeypatch.setattr("mobod.system.forward_sensitivities.Variations.rates", None)  # for which Python would be called
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, 0, -9.8), name="gravity")
    mb.CompliantContactSubsystem(system, transition_velocity=0.1)
    rubber = mb.contact.Material(2e3, 0.3, static_friction=0.5, dynamic_friction=0.4)
    rigid = mb.body.Rigid(mb.MassProperties(1.0, (0.01, 0, 0), mb.UnitInertia.sphere(0.1)))
    for body, shape in ((matter.ground, mb.contact.HalfSpace()), (rigid, mb.contact.Sphere(0.1))):
        body.add_contact_surface(mb.contact.Surface(shape, rubber))
    ball = mb.mobilizer.Free(matter.ground, rigid, name="ball")
    state = system.realize_topology()
    ball.set_q(state, (1, 0, 0, 0, 0, 0, 0.095))
    state.u = np.linspace(0.4, -0.3, 6)
    wanted = ["ball.q", "ball.u", "gravity.magnitude", "ball.com"]
    names, expected = differences(system, state, wanted, 0.1, y_of)
    run = mb.simulate(system, state, 0.1, accuracy=1e-8, report_interval=0.1, sensitivities=wanted)
    found = run.sensitivities
    assert found.names == names
    np.testing.assert_allclose(np.vstack([found.of_q[-1], found.u[-1]]), expected, atol=1e-6 * np.abs(expected).max())
    ensemble = mb.Ensemble(system, 3, state=state)
    motions = ensemble.simulate(0.1, accuracy=1e-8, report_interval=0.1, sensitivities=wanted)
    np.testing.assert_allclose(motions.sensitivities.u[1], found.u, rtol=1e-9, atol=1e-9)


def test_measures_leave_steps_compiled(monkeypatch):
    """Integrals, of speeds and of a loop over themselves, and what is remembered: alone, and in an ensemble."""
    monkeypatch.setattr("mobod.system.forward_sensitivities.Variations.rates", None)  # for which Python would be called
    system, _ = mb.examples.double_pendulum.build()
    matter = system.matter
    angle = mb.measure.Coordinate(matter, matter.bodies["lower"])
    mb.measure.Maximum(matter, angle)
    speed = mb.measure.Differentiate(matter, mb.measure.StationLocation(matter, matter.bodies["lower"], (0, 1, 0)))
    mb.measure.Integrate(matter, speed, mb.measure.Constant(matter, (1.0, 2.0, 3.0)))
    lag = mb.measure.Integrate(matter)
    lag.set_derivative_measure(mb.measure.Variable(matter, mb.Stage.DYNAMICS, 2.0) - lag + 3.0 * angle)
    state = system.realize_topology()
    state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    wanted = ["q", "u", "gravity_0.magnitude"]
    names, expected = differences(system, state, wanted, 0.3, lambda run: run.z[-1])
    run = mb.simulate(system, state, 0.3, accuracy=1e-8, report_interval=0.3, sensitivities=wanted)
    assert run.sensitivities.names == names
    np.testing.assert_allclose(run.sensitivities.z[-1], expected, atol=1e-6)
    motions = mb.Ensemble(system, 2, state=state).simulate(0.3, accuracy=1e-8, report_interval=0.3, sensitivities=wanted)
    np.testing.assert_allclose(motions.sensitivities.z[1], run.sensitivities.z, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(motions.z[1], run.z, rtol=1e-12)


def test_an_integral_that_begins_with_a_measure():
    """Of an angle, from the other angle and energy on: what it begins with has derivatives, and z that is given has none."""
    system, _ = mb.examples.double_pendulum.build()
    matter = system.matter
    upper, lower = (mb.measure.Coordinate(matter, matter.bodies[name]) for name in ("upper", "lower"))
    mb.measure.Integrate(matter, lower, mb.measure.Energy(matter) * 0.1 + upper)
    state = system.realize_topology()
    state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    wanted = ["q", "u", "gravity_0.magnitude"]
    _, expected = differences(system, state, wanted, 0.3, lambda run: run.z[-1])
    run = mb.simulate(system, state, 0.3, accuracy=1e-8, report_interval=0.3, sensitivities=[*wanted, "z"])
    np.testing.assert_allclose(run.sensitivities.z[-1], np.append(expected, [[0.0]], axis=1), atol=1e-6)
    value, gradient, _ = mb.calc_gradient(system, state, 0.3, lambda end: float(end.z[0]), wanted, accuracy=1e-8)
    assert np.isclose(value, run.z[-1, 0])
    np.testing.assert_allclose(gradient, expected[0], atol=1e-6)


def bouncing(drag=0.0):
    system = mb.MultibodySystem("bouncing")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -9.8), name="gravity")
    stone = mb.body.Rigid(mb.MassProperties(1.3, (0, 0, 0), mb.UnitInertia(0.1, 0.1, 0.1)))
    up = mb.Transform(mb.Rotation.about_axis(-np.pi / 2, (0, 1, 0)))
    ball = mb.mobilizer.Slider(matter.ground, stone, X_PF=up, X_BM=up, name="ball")
    mb.force.MobilityLinearDamper(forces, ball, 0, drag, name="drag")
    system.add_event_handler(mb.event.ImpactWhen(mb.event.Coordinate(ball, 0), 0.8))
    state = system.realize_topology()
    ball.set_length(state, 1.0)
    return system, state


def test_a_bouncing_ball_is_the_closed_form():
    """Height after one impact: e v s - g s^2 / 2, v = sqrt(2 g h), s = t - v / g."""
    system, state = bouncing()
    h, g, e, t = 1.0, 9.8, 0.8, 0.9
    run = mb.simulate(system, state, t, accuracy=1e-8, report_interval=t, sensitivities=["ball.q", "gravity.magnitude"])
    v = np.sqrt(2.0 * g * h)
    s = t - v / g
    assert np.isclose(run.q[-1, 0], e * v * s - 0.5 * g * s**2, atol=1e-8)
    for k, (v_by, s_by, more) in enumerate(
        [(g / v, -1.0 / v, 0.0), (h / v, v / g**2 - h / (v * g), -0.5 * s**2)]  # by h, by g
    ):
        by = e * v_by * s + (e * v - g * s) * s_by + more
        assert np.isclose(run.sensitivities.q[-1, 0, k], by, rtol=1e-6)
    with pytest.raises(ValueError, match="'q', 'u' nor 'z'"):
        mb.simulate(system, state, t, sensitivities=["bal"])


def test_two_impacts_with_drag_forward_and_adjoint():
    system, state = bouncing(0.2)
    assert_sensitivities(system, state, ["q", "u", "drag.damping", "ball.mass"], 1.4, 1e-9, 1e-6)


@pytest.mark.parametrize("restitution, duration", [(0.5, 0.6), (0.0, 0.5)])
def test_a_stone_that_bounces_or_slides_on_a_rough_plane(restitution, duration):
    """Unilateral contact with friction, by events: an impact, then flight, or sliding until it sticks."""
    system = mb.MultibodySystem("stone")
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, 0, -9.8), name="gravity")
    ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.Inertia(0.1, 0.1, 0.1)))
    stone = mb.mobilizer.Translation(matter.ground, ball, name="stone")
    mb.contact.PointPlane(matter.ground, (0, 0, 1), 0.0, stone, (0, 0, 0), restitution=restitution, static_friction=0.3)
    state = system.realize_topology()
    stone.set_translation(state, (0, 0, 0.5))
    stone.set_velocity(state, (1.0, 0, 0))
    wanted = ["stone.q", "stone.u"]
    _, expected = differences(system, state, wanted, duration, y_of)
    run = mb.simulate(system, state, duration, accuracy=1e-6, report_interval=duration, sensitivities=wanted)
    found = np.vstack([run.sensitivities.q[-1], run.sensitivities.u[-1]])
    forward = [0, 2, 3, 5]  # across the motion friction is not smooth where it ends
    np.testing.assert_allclose(found[:, forward], expected[:, forward], atol=2e-6)


def test_an_integral_and_losses_at_several_times():
    """A measure's integral as a loss; and a sum over times is the sum of single ones."""
    system, forces, matter, pin, ball = swinging()
    work = mb.measure.Integrate(forces, mb.measure.Coordinate(forces, pin), default_value=0.0)
    state = started(system, matter, pin, ball)

    def integral(end):
        return float(work.get_value(end))

    found = mb.calc_gradient(system, state, 0.2, integral, ["pin.q", "gravity.magnitude"])
    run = mb.simulate(system, state, 0.2, report_interval=0.01, accuracy=1e-6, sensitivities=["pin.q", "gravity.magnitude"])
    by = np.trapezoid(run.sensitivities.q[:, 0], run.time, axis=0)
    np.testing.assert_allclose(run.sensitivities.z[-1, 0], by, atol=2e-5)  # the trapezoidal rule
    np.testing.assert_allclose(found.gradient, by, atol=2e-5)

    def angle(at):
        return float(at.q[0])

    several = mb.calc_gradient(system, state, 0.2, angle, ["pin.q"], times=[0.1, 0.2])
    single = [mb.calc_gradient(system, state, t, angle, ["pin.q"]) for t in (0.1, 0.2)]
    assert np.isclose(several.value, sum(one.value for one in single), atol=1e-6)
    np.testing.assert_allclose(several.gradient, sum(one.gradient for one in single), atol=1e-5)


@pytest.mark.parametrize("method", ["BDF", "Verlet"])
def test_other_methods_follow_the_motion(method):
    """As exact as the motion that they follow; through an impact, too."""
    system, state = bouncing(0.2)
    kind = getattr(mb.integrator, method)
    wanted = ["q", "drag.damping"]
    _, expected = differences(system, state, wanted, 0.6, y_of)
    integrator = kind(system, accuracy=1e-5)
    run = mb.simulate(system, state, 0.6, integrator=integrator, report_interval=0.6, sensitivities=wanted)
    found = np.vstack([run.sensitivities.of_q[-1], run.sensitivities.u[-1]])
    np.testing.assert_allclose(found, expected, atol=2e-4 * np.abs(expected).max())
    gradient = mb.calc_gradient(system, state, 0.6, loss, wanted, integrator=kind(system, accuracy=1e-5))
    np.testing.assert_allclose(gradient.gradient, 2.0 * run.q[-1] @ found[:1] + found[1], rtol=1e-5)


class Kick(mb.event.PeriodicHandler):
    """Pushes by what depends on the state."""

    def handle_event(self, state, accuracy):
        state.u = state.u + 0.3 * np.sin(3.0 * state.q)


@pytest.mark.parametrize("method", ["RungeKuttaMerson", "BDF"])
def test_periodic_handlers_are_part_of_the_motion(method):
    """By each method, which may have ways of its own from one event to the next."""
    system, state = bouncing(0.2)
    system.add_event_handler(Kick(0.03))
    state = system.realize_topology()
    system.matter.bodies["ball"].set_length(state, 1.0)
    wanted = ["q", "drag.damping"]
    _, expected = differences(system, state, wanted, 0.1, y_of)
    integrator = getattr(mb.integrator, method)(system, accuracy=1e-7)
    run = mb.simulate(system, state, 0.1, integrator=integrator, report_interval=0.05, sensitivities=wanted)
    found = np.vstack([run.sensitivities.of_q[-1], run.sensitivities.u[-1]])
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


def law(q, u, memory):
    efforts = np.zeros(2)
    for i in range(2):
        memory[i] += 0.3 * (0.4 - q[i])
        efforts[i] = 10.0 * (0.4 - q[i]) * q[i] - u[i] + memory[i]
    return efforts


def sampled_pendulum(controller):
    system, _ = mb.examples.double_pendulum.build()
    if controller == "memory":
        mb.control.Custom(system.forces, law, sample_time=0.04, memory=[0.1, 0.0], limits=(-9, 9), name="motor")
    elif controller == "PID":  # late, and at a limit where the run begins
        mb.control.PID(system.forces, kp=20, ki=50, kd=2, sample_time=0.02, delay=0.02, limits=(-4, 6), name="motor")
        mb.control.GravityCompensation(system.forces, sample_time=0.03)
    else:
        mb.control.Custom(system.forces, lambda q, u: -np.sqrt(np.maximum(q - 0.3, 0.0)) - u, sample_time=0.04)
    state = system.realize_topology()
    state.q, state.u = (0.3, 0.4), (0.2, -0.1)
    return system, state


def test_controllers_are_part_of_the_motion():
    """Their samples, and what they remember: against differences of runs."""
    system, state = sampled_pendulum("memory")
    assert_sensitivities(system, state, ["lower.q", "upper.u", "upper.mass"], 0.15, 1e-7, 1e-6)


@pytest.mark.filterwarnings("ignore:.*has parts written in Python:UserWarning")
@pytest.mark.parametrize("in_python", [False, True], ids=["compiled", "in Python"])
def test_events_between_samples(in_python):
    """A handler that turns an arm back and halves what a controller remembers, and one that ends the run."""
    system, _ = mb.examples.double_pendulum.build()
    upper = system.matter.bodies["upper"]
    compiled = False if in_python else None
    motor = mb.control.Custom(
        system.forces, law, sample_time=0.04, memory=[0.1, 0.0], limits=(-9, 9), compiled=compiled, name="motor"
    )

    class Struck(mb.event.When):
        def handle_event(self, state, accuracy):
            state.u = -0.8 * state.u[0], state.u[1] + 0.3 * state.q[1]

    class Forgets(mb.event.When):
        def handle_event(self, state, accuracy):
            motor.set_memory(state, 0.5 * motor.get_memory(state))

    for kind, angle in ((Forgets, 0.3375), (Struck, 0.345)):
        system.add_event_handler(kind(mb.event.Coordinate(upper, 0, angle), falling=False))
    state = system.realize_topology()
    state.q, state.u = (0.3, 0.4), (0.8, -0.1)
    wanted, settings = ["upper.q", "lower.u", "upper.mass"], {"accuracy": 1e-8, "report_interval": 0.15}
    assert_sensitivities(system, state, wanted, 0.15, 1e-8, 1e-6)
    found = mb.simulate(system, state, 0.15, sensitivities=wanted, **settings)
    assert [one.name for one in found.events] == ["Forgets", "Struck"]
    many = mb.Ensemble(system, 2, state=state).simulate(0.15, sensitivities=wanted, **settings)
    assert np.array_equal(many.sensitivities.u[1], found.sensitivities.u)
    system.add_event_handler(mb.event.StopWhen(mb.event.Coordinate(upper, 0, 0.33), rising=False))
    ended = mb.simulate(system, state, 0.15, sensitivities=wanted, **settings)
    assert 0.06 < ended.time[-1] < 0.15
    there = mb.simulate(system, state, ended.time[-1], sensitivities=wanted, accuracy=1e-8)
    np.testing.assert_allclose(ended.sensitivities.u[-1], there.sensitivities.u[-1], rtol=1e-6)


@pytest.mark.filterwarnings("ignore:.*has parts written in Python:UserWarning")
def test_a_law_that_keeps_something_by_itself_is_refused():
    system, _ = mb.examples.double_pendulum.build()
    past = []

    def law(q, u):
        past.append(q)
        return -5.0 * past[max(0, len(past) - 3)] - u

    mb.control.Custom(system.forces, law, sample_time=0.04, compiled=False, name="motor")
    with pytest.raises(mb.ModelError, match=r"'motor'.*keeps something by itself.*in its memory"):
        mb.simulate(system, system.realize_topology(), 0.15, sensitivities=["q"])


@pytest.mark.parametrize("controller", ["memory", "PID"])
def test_samples_are_differentiated_in_compiled_steps_as_by_python(controller, monkeypatch):
    """With memory, delay and limits; in ensembles to the bit as alone."""
    system, state = sampled_pendulum(controller)
    wanted = ["q", "u", "motor.parameters"] if controller == "PID" else ["q", "u", "upper.mass"]
    ensemble = mb.Ensemble(system, 3, state=state)
    ensemble.q = np.array([[0.1, 0.2], [0.3, 0.4], [0.2, -0.3]])
    settings = {"accuracy": 1e-6, "report_interval": 0.05, "sensitivities": wanted}
    with monkeypatch.context() as patched:
        patched.setattr(
            "mobod.system.forward_sensitivities.Variations.through_sample", None
        )  # for which Python would be called
        compiled = mb.simulate(system, state, 0.15, **settings)
        many = ensemble.simulate(0.15, **settings)
    monkeypatch.setattr("mobod.control.Custom.routine_with_tangents", lambda *_: None)
    expected = mb.simulate(system, state, 0.15, **settings)
    assert compiled.statistics["evaluations"] == expected.statistics["evaluations"]
    assert np.array_equal(many.q[1], compiled.q)
    for name, array in compiled.sensitivities.arrays().items():
        np.testing.assert_allclose(array, expected.sensitivities.arrays()[name], rtol=1e-12, atol=1e-12)
        assert np.array_equal(many.sensitivities.arrays()[name][1], array)


def test_a_law_whose_slope_is_infinite_takes_differences():
    """It is Python's from there on, in an ensemble too."""
    system, state = sampled_pendulum("root")
    state.q = (0.3, 0.4)
    settings = {"report_interval": 0.02, "sensitivities": ["upper.q"]}
    with pytest.warns(UserWarning, match="differences.*infinite"):
        expected = mb.simulate(system, state, 0.02, **settings)
    with pytest.warns(UserWarning, match="differences.*infinite"):
        found = mb.Ensemble(system, 1, state=state).simulate(0.02, **settings)
    assert np.array_equal(found.sensitivities.q[0], expected.sensitivities.q)


def test_particles_and_what_they_share_with_bodies():
    """A thermostat of a body and two particles, under gravity."""
    system = mb.MultibodySystem("particles")
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    matter.add_particles([1.0, 2.0], [[0, 0, 0], [1, 0, 0]], [[1.0, 0.2, 0], [0, 0.5, -0.3]])
    mb.force.Gravity(forces, matter, (0, -9.8, 0), name="gravity")
    mb.force.Thermostat(forces, matter, 0.7, 3.0, 0.4, 0, name="bath")
    arm = mb.body.Rigid(mb.MassProperties(1.3, (0, 0.1, 0.2), mb.Inertia(0.5, 0.6, 0.7)))
    mb.mobilizer.Pin(matter.ground, arm, X_BM=mb.Transform((0, 1, 0)), name="arm")
    state = system.realize_topology()
    state.u = [1.0]
    wanted = ["q", "particle_velocities", "gravity.magnitude", "bath.bath_temperature"]
    run = mb.simulate(system, state, 0.3, accuracy=1e-8, report_interval=0.3, sensitivities=wanted)
    found = run.sensitivities
    assert found.names[1] == "particle_velocities[0].x" and found.particle_locations.shape == (2, 2, 3, 9)

    def end(k, h):
        other = state.copy()
        y = np.array(state.y)
        if k == 0:
            y[0] += h
        elif k < 7:
            y[len(y) - 6 + k - 1] += h
        other.y = y
        if k == 7:
            forces.get_force(0).set_magnitude(other, 9.8 + h)
        if k == 8:
            forces.get_force(1).set_bath_temperature(other, 3.0 + h)
        return np.array(mb.simulate(system, other, 0.3, accuracy=FINE, report_interval=0.3).particle_locations[-1])

    for k in (0, 1, 5, 7, 8):
        expected = (end(k, 1e-3) - end(k, -1e-3)) / 2e-3
        np.testing.assert_allclose(found.particle_locations[-1, :, :, k], expected, atol=1e-7)
    gradient = mb.calc_gradient(system, state, 0.3, lambda s: float(matter.get_particle_location(s, 1)[1]), wanted)
    np.testing.assert_allclose(gradient.gradient, found.particle_locations[-1, 1, 1], atol=1e-6)


def test_friction_that_remembers_is_refused():
    system, state = bouncing()
    mb.CompliantContactSubsystem(system, friction="bristle")
    for body, shape in ((system.matter.ground, mb.contact.HalfSpace()), (system.matter.bodies["ball"], mb.contact.Sphere(0.1))):
        body.add_contact_surface(mb.contact.Surface(shape, mb.contact.Material(1e4, static_friction=0.5)))
    state = system.realize_topology()
    with pytest.raises(mb.ModelError, match="bristles of friction"):
        mb.simulate(system, state, 0.1, sensitivities=["q"])


def test_what_cannot_be_is_refused():
    system, state = bouncing()
    mb.constraint.ConstantSpeed(system.matter.bodies["ball"], 0, 0.0, name="held")
    state = system.realize_topology()
    for arguments, error, text in (
        ({"sensitivities": "q"}, TypeError, "give a list"),
        ({"sensitivities": ["ball.speed"]}, ValueError, "has no parameter 'speed'"),
        ({"sensitivities": ["held.mass"]}, ValueError, "has no parameter 'mass'; it has speed$"),
        ({"sensitivities": ["q"], "integrator": "TimeStepping"}, ValueError, "TimeStepping solves for impulses"),
        ({"sensitivities": ["particle_locations"]}, ValueError, "where there are particles"),
        ({"sensitivities": ["q"], "estimate_error": True}, ValueError, "leave out estimate_error"),
    ):
        with pytest.raises(error, match=text):
            mb.simulate(system, state, 0.1, **arguments)
    with pytest.raises(TypeError, match="loss is a callable"):
        mb.calc_gradient(system, state, 0.1, 3.0, ["q"])
    with pytest.raises(ValueError, match="times have to be"):
        mb.calc_gradient(system, state, 0.1, lambda end: 1.0, ["q"], times=[0.5])
    with pytest.raises(ValueError, match="the loss"):
        mb.calc_gradient(system, state, 0.1, lambda end: np.nan, ["q"])
    assert mb.simulate(system, state, 0.1).sensitivities is None


@pytest.mark.parametrize("announced", [True, False], ids=["by an event", "in silence"])
def test_a_force_that_jumps(announced):
    """A car is pushed by 1 up to x = 1, by -3 beyond, which it reaches at t = 1 with the speed 1.5.

    dx/du0 = t up to there; then 1.5 - 4 (1 / 1.5) 0.5 = 1/6 at t = 1.5, since the brake comes 1 / 1.5 earlier a unit of speed.
    """
    system = mb.MultibodySystem("car")
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    car = mb.mobilizer.Slider(matter.ground, mb.body.Particle(1.0), name="car")
    if announced:
        push = mb.force.MobilityConstantForce(forces, car, 0, 1.0)

        class Brake(mb.event.TriggeredHandler):
            def get_value(self, state):
                return state.q[0] - 1.0

            def handle_event(self, state, accuracy):
                push.set_force(state, -3.0)

        system.add_event_handler(Brake(mb.Stage.POSITION, falling=False))
    else:

        def force(t, X, V, q, u, parameters):
            return (), ((where(q[0][0] < 1.0, 1.0, -3.0),),)

        mb.force.Custom(forces, compiled=mb.force.CompiledFunctions(force, mobilizers=[car]))
    state = system.realize_topology()
    state.u = [0.5]

    def run():
        return mb.simulate(system, state, 1.5, accuracy=1e-6, report_interval=1.5, sensitivities=["u"]).sensitivities.q[-1]

    if announced:
        np.testing.assert_allclose(run(), 1.0 / 6.0, atol=1e-6)
        return
    with pytest.warns(UserWarning, match=r"the rate of car.u jumps from 1 to -3 without an event"):
        np.testing.assert_allclose(run(), 1.5, atol=1e-6)


def test_slip_that_turns_by_more_than_a_right_angle():
    """A stone thrown up a slope and aside slides round: where its contact turns with it, friction has no jump."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (5.0, -10.0, 0.0))
    stone = mb.mobilizer.Translation(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1))))
    mb.contact.PointPlane(matter.ground, (0, 1, 0), 0.0, stone, (0, 0, 0), 0.0, 0.3)
    state = system.realize_topology()

    def ends(aside, **settings):
        state.u = (-0.5, 0.0, aside)
        return mb.simulate(system, state, 0.4, accuracy=1e-9, **settings)

    h = 1e-4
    expected = (ends(0.5 + h).q[-1] - ends(0.5 - h).q[-1]) / (2.0 * h)
    run = ends(0.5, sensitivities=["u"])
    assert "triggered" in run.events["kind"].tolist()
    assert np.allclose(run.sensitivities.q[-1][:, 2], expected, rtol=0.0, atol=1e-5)
