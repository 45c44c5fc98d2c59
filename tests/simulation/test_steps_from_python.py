"""Loops in Python that set something, step, and look: what is set holds from the very next evaluation on."""

import numpy as np
import pytest

import mobod as mb

H = 0.01
METHODS = ("ExplicitEuler", "SemiExplicitEuler", "RungeKutta2", "RungeKuttaMerson", "Verlet", "BDF")
BODY = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(1.0)))


class Nothing(mb.force.CustomImplementation):
    """A force in Python that does nothing: runs are interpreted."""

    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        """No force."""


def slider(interpreted=False):
    """A unit mass on a line, pushed by a motor and held by a spring that is off."""
    system = mb.MultibodySystem("slider")
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    body = mb.mobilizer.Slider(matter.ground, BODY)
    motor = mb.force.Actuators(forces, [(body, 0)])
    spring = mb.force.MobilityLinearSpring(forces, body, 0, 0.0, 0.0)
    if interpreted:
        mb.force.Custom(forces, Nothing())
    return system, motor, spring


def stepper_of(system, method, state=None, **settings):
    settings = settings or {"fixed_step_size": H}
    stepper = mb.TimeStepper(system, getattr(mb.integrator, method)(system, **settings))
    stepper.initialize(system.realize_topology() if state is None else state)
    return stepper


def advance(stepper, duration, how):
    return stepper.step(duration) if how == "step" else stepper.step_to(stepper.time + duration)


def one_step(method, x, v, f, h):
    """The step that a method makes of a unit mass under a constant force in a step: from its definition."""
    if method == "ExplicitEuler":
        return x + h * v, v + h * f
    if method == "SemiExplicitEuler":
        return x + h * (v + h * f), v + h * f
    return x + h * v + 0.5 * h * h * f, v + h * f


@pytest.mark.parametrize("how", ["step", "step_to"])
@pytest.mark.parametrize("interpreted", [False, True], ids=["compiled", "interpreted"])
@pytest.mark.parametrize("method", METHODS)
def test_a_force_holds_from_the_next_evaluation_on(method, interpreted, how):
    system, motor, _ = slider(interpreted)
    settings = {"accuracy": 1e-9} if method == "BDF" else {"fixed_step_size": H}
    stepper = stepper_of(system, method, **settings)
    x = v = 0.0
    for f in (3.0, -2.0, 5.0, 0.0, 1.0):
        motor.set_efforts(stepper.state, [f])
        assert advance(stepper, H, how) == mb.StepStatus.REACHED_REPORT_TIME
        x, v = one_step(method, x, v, f, H)
        tolerance = 1e-7 if method == "BDF" else 1e-14
        np.testing.assert_allclose([*stepper.state.q, *stepper.state.u], [x, v], atol=tolerance)
        assert stepper.state.stage == mb.Stage.ACCELERATION
        np.testing.assert_allclose(stepper.state.u_dot, [f], atol=1e-14)


@pytest.mark.parametrize("how", ["step", "step_to"])
@pytest.mark.parametrize("method", METHODS[:4])
def test_coordinates_speeds_and_parameters_hold_too(method, how):
    system, _, spring = slider()
    stepper = stepper_of(system, method)
    advance(stepper, H, how)
    stepper.state.q = [1.0]
    advance(stepper, H, how)
    np.testing.assert_allclose(stepper.state.q, [1.0])
    stepper.state.u = [2.0]
    advance(stepper, H, how)
    np.testing.assert_allclose(stepper.state.q, [1.0 + 2.0 * H], rtol=1e-14)
    spring.set_stiffness(stepper.state, 7.0)
    x = float(stepper.state.q[0])
    system.realize(stepper.state)
    np.testing.assert_allclose(stepper.state.u_dot, [-7.0 * x])
    advance(stepper, H, how)
    assert stepper.state.u[0] < 2.0 - 0.9 * 7.0 * x * H * (method != "Verlet")


@pytest.mark.parametrize("settings", [{"fixed_step_size": 1e-3}, {"accuracy": 1e-8}], ids=["fixed", "controlled"])
def test_it_is_what_starting_anew_each_period_gives(make, settings):
    """On a random tree with quaternions and a loop, with torques, speeds and coordinates set in between."""
    model = make.tree(5)
    system, state = model.system, model.state
    assert system.forces is model.forces
    motors = mb.force.Actuators(system.forces, [(model.matter.bodies[1], 0), (model.matter.bodies[-1], 0)])
    rng = model.rng
    start = system.realize_topology()
    start.q, start.u = state.q, state.u
    going, anew = (
        stepper_of(system, "RungeKuttaMerson", start, **settings),
        stepper_of(system, "RungeKuttaMerson", start, **settings),
    )
    for k in range(6):
        efforts, push = rng.normal(size=2), 0.1 * rng.normal(size=len(start.u))
        for stepper in (going, anew):
            motors.set_efforts(stepper.state, efforts)
            if k == 2:
                stepper.state.u = stepper.state.u + push
            if k == 4:
                stepper.state.q = 1.01 * stepper.state.q
        anew.initialize(anew.state)
        going.step(0.004)
        anew.step_to(anew.time + 0.004)
        size = max(1.0, float(np.abs(anew.state.u).max()))
        tolerance = 1e-12 if "fixed_step_size" in settings else 1e-5
        np.testing.assert_allclose(going.state.q, anew.state.q, atol=tolerance)
        np.testing.assert_allclose(going.state.u, anew.state.u, atol=tolerance * size)


def test_a_step_ends_where_it_is_told_to():
    system, state = mb.examples.double_pendulum.build()
    stepper = stepper_of(system, "RungeKuttaMerson", state, accuracy=1e-4)
    stepper.step_to(0.3)
    assert stepper.integrator.get_advanced_time() > 0.3
    for _ in range(3):
        before = stepper.time
        stepper.step(0.0171)
        assert stepper.time == before + 0.0171 == stepper.integrator.get_advanced_time()
    stepper.step_to(1.0)
    assert stepper.integrator.get_advanced_time() > 1.0  # reports are between steps still
    other = mb.simulate(system, state, 1.0, accuracy=1e-9)
    np.testing.assert_allclose(stepper.state.q, other.q[-1], atol=2e-3)


def test_many_steps_make_one_period():
    system, motor, _ = slider()
    stepper = stepper_of(system, "SemiExplicitEuler", fixed_step_size=1e-4)
    for _ in range(3):
        motor.set_efforts(stepper.state, [1.0])
        stepper.step(0.1)
    assert stepper.integrator.get_num_steps_taken() == 3000
    np.testing.assert_allclose(stepper.state.u, [0.3], rtol=1e-12)


@pytest.mark.parametrize("duration", [0.0, -1.0, np.nan, np.inf, "long", None])
def test_a_duration_that_is_none_is_an_error(duration):
    system, _, _ = slider()
    stepper = stepper_of(system, "ExplicitEuler")
    stepper.step(H)
    for _ in range(2):
        with pytest.raises((ValueError, TypeError), match="duration"):
            stepper.step(duration)
        assert stepper.time == H
    stepper.step(H)


@pytest.mark.parametrize("how", ["step", "step_to"])
def test_values_that_are_not_finite_are_errors_that_name_them(how):
    system, motor, _ = slider()
    stepper = stepper_of(system, "ExplicitEuler")
    advance(stepper, H, how)
    with pytest.raises(mb.ModelError, match=r"efforts of .* finite"):
        motor.set_efforts(stepper.state, np.array([np.nan]))
    stepper.state.u = [np.nan]
    with pytest.raises(mb.ModelError, match="u"):
        advance(stepper, H, how)
    assert stepper.time == H
    stepper.state.u = [1.0]
    advance(stepper, H, how)
    np.testing.assert_allclose(stepper.state.q, [H])
    stepper.state.time = 5.0
    with pytest.raises(mb.ModelError, match="moved from time"):
        advance(stepper, H, how)


def test_the_end_and_events_are_as_with_step_to():
    system, _, _ = slider()
    stepper = stepper_of(system, "ExplicitEuler", fixed_step_size=H, final_time=2.5 * H)
    assert [stepper.step(H).name for _ in range(4)] == ["REACHED_REPORT_TIME"] * 2 + ["END_OF_SIMULATION"] * 2
    assert stepper.time == 2.5 * H


class Motor(mb.event.PeriodicHandler):
    """Sets the effort that is a function of the state."""

    def __init__(self, interval, law):
        super().__init__(interval)
        self.law, self.times = law, []

    def handle_event(self, state, accuracy):
        self.times.append(state.time)
        return self.law(state)


@pytest.mark.parametrize("interpreted", [False, True], ids=["compiled", "interpreted"])
def test_periodic_handlers_hold_what_they_set(interpreted):
    """The same as the loop in Python, whatever is reported in between."""
    system, motor, _ = slider(interpreted)
    law = lambda state: motor.set_efforts(state, [1.0 - 40.0 * state.q[0] - 3.0 * state.u[0]])  # noqa: E731
    handler = Motor(4 * H, law)
    alone = stepper_of(system, "RungeKutta2")
    for _ in range(20):
        law(alone.state)
        alone.step(4 * H)
    system.add_event_handler(handler)
    stepper = stepper_of(system, "RungeKutta2")
    for time in (0.0, 0.13, 0.16, 0.41, 0.8):
        stepper.step_to(time)
    np.testing.assert_allclose([*stepper.state.q, *stepper.state.u], [*alone.state.q, *alone.state.u], atol=1e-12)
    np.testing.assert_allclose(handler.times, 4 * H * np.arange(20), atol=1e-12)
    stepper.step(H)
    assert len(handler.times) == 21


def test_a_periodic_handler_that_fails_leaves_the_state_before_it():
    system, motor, _ = slider()

    def law(state):
        motor.set_efforts(state, [2.0])
        if state.time > 0.35:
            state.u = [9.0] if handler.bad is None else [np.nan]
            if handler.bad is None:
                raise RuntimeError("stuck")

    handler = Motor(0.1, law)
    handler.bad = None
    system.add_event_handler(handler)
    stepper = stepper_of(system, "RungeKutta2")
    with pytest.raises(RuntimeError, match="stuck"):
        stepper.step_to(1.0)
    np.testing.assert_allclose([stepper.time, *stepper.state.u], [0.4, 0.8], rtol=1e-12)
    handler.bad = 1
    with pytest.raises(mb.ModelError, match="u"):
        stepper.step_to(1.0)
    np.testing.assert_allclose([stepper.time, *stepper.state.u], [0.4, 0.8], rtol=1e-12)


def test_a_periodic_handler_can_end_the_run_and_lock():
    system, motor, _ = slider()

    def law(state):
        motor.set_efforts(state, [1.0])
        if state.time > 0.25:
            system.matter.bodies[1].lock(state, mb.Motion.Level.VELOCITY)
        return state.time > 0.55

    system.add_event_handler(Motor(0.1, law))
    stepper = stepper_of(system, "RungeKutta2")
    assert stepper.step_to(1.0) == mb.StepStatus.END_OF_SIMULATION
    np.testing.assert_allclose([stepper.time, *stepper.state.u], [0.6, 0.3], rtol=1e-12)
