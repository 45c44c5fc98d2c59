"""Ensemble.step: many states, each as though it were stepped alone."""

import numpy as np
import pytest

import mobod as mb

KINDS = (mb.mobilizer.Pin, mb.mobilizer.Universal, mb.mobilizer.Ball, mb.mobilizer.Free, mb.mobilizer.Cylinder)
#: Method, its settings, and those of one state.
METHODS = {
    "fixed": ("RungeKuttaMerson", {"fixed_step_size": 0.008}),
    "chosen by errors": ("RungeKuttaMerson", {"accuracy": 1e-5}),
    "of third order": ("RungeKutta3", {"accuracy": 1e-3}),
    "semi-explicit": ("SemiExplicitEuler", {"fixed_step_size": 0.005}),
    "two half steps": ("SemiExplicitEuler2", {"accuracy": 1e-3}),
}
DURATION = 0.05


def many(model, n, rng):
    states = [model.randomize(mb.Stage.MODEL, state=model.state.copy()) for _ in range(n)]
    ensemble = mb.Ensemble(model.system, n, state=model.state)
    ensemble.q, ensemble.u, ensemble.time = [s.q for s in states], [s.u for s in states], rng.uniform(0.0, 1.0, n)
    return ensemble


@pytest.mark.parametrize("method", METHODS)
def test_each_state_is_as_stepped_alone(method, make, close):
    model = make.tree(6, KINDS, rotors=True)
    kind, settings = METHODS[method]
    ensemble = many(model, 11, model.rng)
    alone = []
    for i in range(11):
        integrator = getattr(mb.integrator, kind)(model.system, final_time=ensemble.time[i] + DURATION, **settings)
        stepper = mb.TimeStepper(model.system, integrator)
        stepper.initialize(ensemble.get_state(i))
        stepper.step_to(ensemble.time[i] + DURATION)
        alone.append((stepper.time, stepper.state.q.copy(), stepper.state.u.copy()))
    ensemble.step(DURATION, integrator=kind, **settings)
    assert not ensemble.failed.any()
    times, q, u = zip(*alone, strict=True)
    assert np.array_equal(ensemble.time, times)
    close(ensemble.q, q, 1e-10)
    close(ensemble.u, u, 1e-10)


def test_forces_are_held_beside_those_of_elements(make, close):
    """As forces that are set in each state, which all else in the system has beside it."""
    model = make.tree(4, KINDS)
    alone = mb.force.DiscreteForces(model.forces, model.matter)
    mb.force.MobilityLinearDamper(model.forces, model.bodies[1], 0, 0.3)
    model.made()
    ensemble = many(model, 9, model.rng)
    f = model.rng.normal(size=ensemble.u.shape)
    q, u = [], []
    for i in range(9):
        state = ensemble.get_state(i)
        alone.set_all_mobility_forces(state, f[i])
        stepper = mb.TimeStepper(model.system, mb.integrator.RungeKuttaMerson(model.system, fixed_step_size=0.01))
        stepper.initialize(state)
        stepper.step_to(state.time + 0.02)
        q.append(stepper.state.q.copy())
        u.append(stepper.state.u.copy())
    ensemble.step(0.02, fixed_step_size=0.01, mobility_forces=f)
    close(ensemble.q, q, 1e-10)
    close(ensemble.u, u, 1e-10)
    again = ensemble.copy()
    ensemble.step(0.01, fixed_step_size=0.01, mobility_forces=f[0])  # a row for all
    again.step(0.01, fixed_step_size=0.01, mobility_forces=np.tile(f[0], (9, 1)).astype(np.float32))
    close(ensemble.q, again.q, 1e-6)
    again.step(0.01, fixed_step_size=0.01)  # nothing of them is left
    free = ensemble.copy()
    free.step(0.01, fixed_step_size=0.01, mobility_forces=np.zeros_like(f))
    ensemble.step(0.01, fixed_step_size=0.01)
    assert np.array_equal(free.u, ensemble.u)


@pytest.mark.parametrize("settings", [{"fixed_step_size": 0.004}, {"accuracy": 1e-6}], ids=["fixed", "chosen by errors"])
def test_bits_depend_on_nothing_but_the_state(settings, make):
    model = make.tree(6, KINDS, rotors=True)
    whole = many(model, 37, model.rng)
    order = model.rng.permutation(37)[:20]
    some = mb.Ensemble(model.system, 20, state=model.state, threads=2)
    some.q, some.u, some.time = whole.q[order], whole.u[order], whole.time[order]
    whole.step(0.03, **settings)
    some.step(0.03, **settings)
    assert np.array_equal(some.q, whole.q[order])
    assert np.array_equal(some.u, whole.u[order])


def test_a_state_that_cannot_go_on_stops_alone(make):
    model = make.tree(4, KINDS)
    ensemble, other = many(model, 9, model.rng), None
    ensemble.time = np.zeros(9)
    other = ensemble.copy()
    q = ensemble.upd_q()
    q[3] = np.nan
    ensemble.step(0.02, fixed_step_size=0.01)
    other.step(0.02, fixed_step_size=0.01)
    assert ensemble.failed.tolist() == [i == 3 for i in range(9)]
    sound = ~ensemble.failed
    assert np.array_equal(ensemble.q[sound], other.q[sound])
    assert ensemble.time[3] == 0.0
    ensemble.reset(~sound)
    ensemble.step(0.02, fixed_step_size=0.01)
    assert not ensemble.failed.any()


@pytest.mark.parametrize("settings", [{"fixed_step_size": 0.01}, {}, {"integrator": "Verlet"}])
def test_failures_say_when_and_why(settings):
    system, state = mb.examples.double_pendulum.build()
    ensemble, forces = mb.Ensemble(system, 9, state=state), np.zeros((9, 2))
    forces[3, 1], forces[5] = np.nan, np.inf
    ensemble.step(0.05, mobility_forces=forces, **settings)
    assert ensemble.failed.nonzero()[0].tolist() == [3, 5] == list(ensemble.failures)
    assert str(ensemble.failures[3]) == "at time 0: the force on mobility 1, of mobility_forces, is not finite"
    assert ensemble.time[3] == 0.0 and ensemble.time[4] == 0.05
    ensemble.reset(ensemble.failed)
    assert not ensemble.failures
    ensemble.upd_u()[2] = np.nan
    ensemble.step(0.05, **settings)
    assert list(ensemble.failures) == [2] and "of its u is finite" in ensemble.failures[2].reason
    ensemble.reset()
    ensemble.upd_q()[7] = np.inf
    ensemble.realize()
    assert list(ensemble.failures) == [7] and "of its q is finite" in ensemble.failures[7].reason


@pytest.mark.parametrize("name", ["step", "simulate", "realize", "reset", "set_each"])
def test_keywords_that_are_not_known_are_explained(name):
    system, state = mb.examples.double_pendulum.build()
    ensemble = mb.Ensemble(system, 2, state=state)
    known = {"step": "accuracy", "simulate": "accuracy", "realize": "threads", "reset": "time", "set_each": "setter"}[name]
    with pytest.raises(TypeError, match=rf"Ensemble.{name}\(\) .*'{known}_'; did you mean '{known}'"):
        getattr(ensemble, name)(**{f"{known}_": 1})


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"duration": -1.0}, ValueError, "duration"),
        ({"duration": np.inf}, ValueError, "duration"),
        ({"duration": "long"}, TypeError, "duration"),
        ({"accuracy": 2.0}, ValueError, "accuracy"),
        ({"fixed_step_size": 0.0}, ValueError, "fixed_step_size"),
        ({"integrator": "Rungekutta"}, ValueError, "Rungekutta"),
        ({"integrator": 3}, TypeError, "integrator"),
        ({"mobility_forces": np.zeros(7)}, ValueError, r"mobility_forces has shape \(4, 2\)"),
        ({"mobility_forces": "much"}, TypeError, "mobility_forces"),
    ],
)
def test_bad_input_leaves_the_states(arguments, error, says):
    system, state = mb.examples.double_pendulum.build()
    ensemble = mb.Ensemble(system, 4, state=state)
    with pytest.raises(error, match=says):
        ensemble.step(**{"duration": 0.1, **arguments})
    assert not ensemble.time.any()


def test_an_integrator_brings_its_settings():
    system, state = mb.examples.double_pendulum.build()
    ensemble = mb.Ensemble(system, 4, state=state)
    made = mb.integrator.RungeKuttaMerson(system, fixed_step_size=0.01)
    with pytest.raises(ValueError, match="beside an integrator"):
        ensemble.step(0.1, integrator=made, fixed_step_size=0.02)
    ensemble.step(0.02, integrator=made)
    made.set_fixed_step_size(0.02)
    one = ensemble.copy()
    ensemble.step(0.02, integrator=made)
    one.step(0.02, fixed_step_size=0.02)
    assert np.array_equal(one.q, ensemble.q)


def test_parameters_may_change_between_steps():
    """Efforts that are set for each state are those of the very next step."""
    system, _ = mb.examples.double_pendulum.build()
    bodies = system.matter.bodies[1:]
    motors = mb.force.Actuators(system.forces, [(body, 0) for body in bodies])
    state = system.realize_topology()
    driven, held = (mb.Ensemble(system, 10, state=state) for _ in range(2))
    rng = np.random.default_rng(29)
    for _ in range(3):
        efforts = rng.normal(size=(10, 2))
        driven.set_each(motors.set_efforts, efforts)
        driven.step(0.02, fixed_step_size=0.01)
        held.step(0.02, fixed_step_size=0.01, mobility_forces=efforts)
    assert np.abs(driven.u - held.u).max() < 1e-12


@pytest.mark.filterwarnings("ignore:.*simulated one by one")
def test_states_that_are_stepped_one_by_one_go_on_with_the_next_call():
    """Bit by bit as a `TimeStepper` that is kept does, whatever is assigned between; a time that is assigned begins anew."""
    system, state = mb.examples.double_pendulum.build()
    ensemble = mb.Ensemble(system, 5, state=state, threads=2)
    ensemble.q = np.linspace(0.1, 1.0, 10).reshape(5, 2)

    def begun():
        stepper = mb.TimeStepper(system, mb.integrator.BDF(system, accuracy=1e-4))
        stepper.initialize(ensemble.get_state(3))
        return stepper

    stepper = begun()
    for k in range(6):
        if k == 2:
            ensemble.u = 0.5 * ensemble.u
            stepper.state.u = 0.5 * stepper.state.u
        if k == 4:
            ensemble.time = np.full(5, 7.0)
            stepper = begun()
        ensemble.step(0.02, integrator="BDF", accuracy=1e-4)
        stepper.step(0.02)
        assert np.array_equal(ensemble.q[3], stepper.state.q) and ensemble.time[3] == stepper.time


def test_accuracy_beside_fixed_steps_is_what_methods_iterate_to():
    """Against two decimals more: speeds are found to a tenth of the accuracy, relative, in each of five steps."""
    system, state = mb.examples.double_pendulum.build()
    ends = []
    for accuracy in (1e-3, 1e-8, 1e-10):
        ensemble = mb.Ensemble(system, 3, state=state)
        ensemble.u = [[2.0, -1.0], [5.0, 3.0], [0.0, 8.0]]
        ensemble.step(0.05, integrator="Verlet", fixed_step_size=0.01, accuracy=accuracy)
        ends.append(ensemble.u)
    coarse, fine = (np.abs(end - ends[2]).max() for end in ends[:2])
    assert 1e-7 < coarse < 5 * 1e-4 * 10.0 and fine < 5 * 1e-9 * 10.0


def test_a_note_says_why_an_implicit_method_is_not_compiled():
    system, _ = mb.examples.double_pendulum.build()
    ensemble = mb.Ensemble(system, 2)
    with pytest.warns(RuntimeWarning, match="BDF is stepped by a TimeStepper for each state.*with simulate it runs compiled"):
        ensemble.step(0.01, integrator="BDF")
    system.add_event_handler(mb.event.StopWhen(mb.event.FunctionWitness(lambda state: 1.0)))
    ensemble = mb.Ensemble(system, 2, state=system.realize_topology())
    with pytest.warns(RuntimeWarning, match=r"BDF finds events \(.*\) by Python.*Coordinate, Speed"):
        ensemble.simulate(0.01, integrator="BDF")


@pytest.mark.filterwarnings("ignore:.*simulated one by one")
def test_forces_held_and_parameters_reach_states_that_are_stepped_one_by_one(close):
    """Against steps in lanes of the same accuracy."""
    system, state = mb.examples.double_pendulum.build()
    body = system.matter.bodies[1]
    one, lanes = (mb.Ensemble(system, 2, state=state) for _ in range(2))
    for k in range(3):
        for ensemble, method in ((one, "BDF"), (lanes, "RungeKuttaMerson")):
            if k == 2:
                ensemble.set_each(body.set_rotor_inertia, np.array([0.5, 5.0]))
            ensemble.step(0.05, integrator=method, accuracy=1e-8, mobility_forces=np.full((2, 2), 3.0 - 4.0 * k))
    close(one.q, lanes.q, 1e-6)
    assert abs(one.q[0, 0] - one.q[1, 0]) > 1e-3


@pytest.mark.filterwarnings("ignore:.*simulated one by one")
@pytest.mark.parametrize("dry", [False, True], ids=["surfaces", "a friction that Python solves for"])
def test_forces_are_held_while_contacts_are_stepped(dry, close):
    """As forces that are set in each state; on any number of threads, to the bit."""

    def built(discrete):
        system = mb.MultibodySystem()
        matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
        mb.force.Gravity(forces, matter, (0, 0, -9.81))
        mb.CompliantContactSubsystem(system)
        stone = mb.contact.Material(1e6, 1.0, 0.5)
        matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), stone))
        ball = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1))))
        ball.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.1), stone))
        if dry:
            hinge = mb.mobilizer.Pin(
                matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0.5, 0, 0), mb.Inertia(0.3, 0.5, 0.5)))
            )
            mb.contact.JointFriction(hinge, 0, 2.0, 0.2)
        own = mb.force.DiscreteForces(forces, matter) if discrete else None
        state = system.realize_topology()
        ball.set_q_to_fit_translation(state, (0, 0, 0.1))
        return system, state, own

    n, h = 5, 0.004
    system, state, _ = built(False)
    efforts = np.random.default_rng(5).normal(scale=3.0, size=(n, len(state.u)))
    method = mb.integrator.TimeStepping(system, fixed_step_size=h)
    one, other = (mb.Ensemble(system, n, state=state, threads=k) for k in (1, 2))
    for k in range(3):
        for ensemble in (one, other):
            ensemble.step(2 * h, integrator=method, mobility_forces=(1.0 + k) * efforts)
    assert not one.failed.any(), one.failures
    assert np.array_equal(one.q, other.q)
    assert np.array_equal(one.u, other.u)
    system, state, own = built(True)
    for i in range(n):
        stepper = mb.TimeStepper(system, mb.integrator.TimeStepping(system, fixed_step_size=h))
        stepper.initialize(state)
        for k in range(3):
            own.set_all_mobility_forces(stepper.state, (1.0 + k) * efforts[i])
            stepper.step(2 * h)
        close(one.q[i], stepper.state.q, 1e-9)
        close(one.u[i], stepper.state.u, 1e-9)
    assert abs(one.q[:, 5] - one.q[0, 5]).max() > 1e-3


@pytest.mark.filterwarnings("ignore:.*simulated one by one")
def test_a_stop_ends_a_step_of_its_state_alone_and_the_next_goes_on():
    system, _ = mb.examples.double_pendulum.build()
    system.add_event_handler(mb.event.StopWhen(mb.event.Coordinate(system.matter.bodies[1], value=0.2)))
    ensemble = mb.Ensemble(system, 2, state=system.realize_topology())
    ensemble.q, ensemble.u = [[0.19, 0.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 0.0]]
    ensemble.step(0.1)
    assert ensemble.time[0] < 0.05 and ensemble.time[1] == 0.1 and not ensemble.failed.any()
    before = ensemble.time[0]
    ensemble.step(0.1)
    assert ensemble.time[0] == before + 0.1


def test_accelerations_have_the_efforts_that_controllers_hold(close):
    system, _ = mb.examples.double_pendulum.build()
    joints = [(body, 0) for body in system.matter.bodies[1:]]
    mb.control.PD(system.forces, joints, kp=20.0, kd=2.0, sample_time=0.01)
    state = system.realize_topology()
    state.q = [np.nan, 0.0]  # which none of the states has
    ensemble = mb.Ensemble(system, 3, state=state)
    ensemble.q = [[0.1, 0.2], [0.5, 0.1], [1.0, -1.0]]
    ensemble.step(0.025)
    ensemble.realize()
    for i in range(3):
        state = ensemble.get_state(i)
        system.realize(state)
        close(ensemble.u_dot[i], state.u_dot, 1e-12)
        close(ensemble.get_mobility_forces()[i], ensemble.get_each(lambda one: one.record.mobility_forces[:, 0])[i], 1e-12)


@pytest.mark.parametrize("watched", [False, True])
def test_steps_go_on_from_call_to_call_and_past_events_as_a_time_stepper_takes_them(watched):
    system, _ = mb.examples.double_pendulum.build()
    events = []

    class Brakes(mb.event.When):
        def handle_event(self, state, accuracy):
            state.u = 0.5 * state.u
            events.append(state.time)

    if watched:
        system.add_event_handler(Brakes(mb.event.Coordinate(system.matter.bodies["lower"], 0, 0.2)))
    state = system.realize_topology()
    state.q = 1.0, 0.5
    ensemble = mb.Ensemble(system, 2, state=state)
    durations = np.random.default_rng(3).uniform(0.002, 0.2, 15)
    for again in range(2):  # after a reset they are those of a new run
        for duration in durations:
            ensemble.step(duration, accuracy=1e-4)
        stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-4))
        stepper.initialize(state)
        for duration in durations:
            stepper.step_exactly_to(stepper.state.time + duration)
        assert np.abs(ensemble.q - stepper.state.q).max() < 1e-13, again
        ensemble.reset()
    assert bool(events) == watched
