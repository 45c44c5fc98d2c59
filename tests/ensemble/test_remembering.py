"""Runs of many states that remember, and whose surfaces touch: each state is as though it were alone."""

import pickle
import tracemalloc

import numpy as np
import pytest

import mobod as mb

SEED = 41


def scene(friction):
    """A ball, and a box or a capsule, and what measures remember of the ball's height and way.

    Rounding that impacts magnify lets adaptive steps differ: a box's corners are summed in another order in lanes where
    nothing sticks.
    """
    edged = mb.contact.Brick((0.1, 0.1, 0.1)) if friction == "bristle" else mb.contact.Capsule(0.1, 0.05)
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (1.5, 0, -9.81))
    mb.CompliantContactSubsystem(system, friction=friction)
    rubber = mb.contact.Material(stiffness=1e6, dissipation=0.5, static_friction=0.9, dynamic_friction=0.8)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), rubber))
    bodies = []
    for shape, inertia in (
        (mb.contact.Sphere(0.1), mb.UnitInertia.sphere(0.1)),
        (edged, mb.UnitInertia.brick(0.1, 0.1, 0.1)),
    ):
        body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), inertia))
        body.add_contact_surface(mb.contact.Surface(shape, rubber))
        bodies.append(mb.mobilizer.Free(matter.ground, body))
    height, way = (mb.measure.Coordinate(matter, bodies[0], i) for i in (6, 4))
    slope = mb.measure.Differentiate(matter, way)
    slope.set_force_use_approximation(True)
    held = mb.measure.SampleAndHold(matter, height, 0.02)
    measures = [mb.measure.Maximum(matter, height), held, mb.measure.Minimum(matter, held), slope]
    measures.append(mb.measure.Integrate(matter, mb.measure.Minus(matter, height, measures[0])))
    return system, system.realize_topology(), bodies, measures


def starts(state, bodies, n):
    """States in which both fall, some of them sooner."""
    print("seed", SEED)
    rng, made = np.random.default_rng(SEED), []
    for _ in range(n):
        one = state.copy()
        bodies[0].set_q_to_fit_translation(one, (0, 0, rng.uniform(0.11, 0.2)))
        bodies[1].set_q_to_fit_translation(one, (-0.3, 0, rng.uniform(0.18, 0.25)))
        one.u = rng.uniform(-0.5, 0.5, 12)
        made.append(one)
    return made


def ensemble_of(system, states, **settings):
    ensemble = mb.Ensemble(system, len(states), state=states[0], **settings)
    ensemble.q, ensemble.u = [one.q for one in states], [one.u for one in states]
    return ensemble


@pytest.mark.parametrize("friction", ["stribeck", "bristle"])
@pytest.mark.parametrize("steps", [{"accuracy": 1e-4}, {"fixed_step_size": 1e-3}], ids=["adaptive", "fixed"])
def test_contacts_and_measures_are_those_of_each_alone(friction, steps):
    system, state, bodies, measures = scene(friction)
    states = starts(state, bodies, 11)
    for one in states[::2]:  # the ball is above what it may or may not meet within a step
        bodies[0].set_q_to_fit_translation(one, (-0.3, 0, 0.35 + one.q[6]))
    ensemble = ensemble_of(system, states)
    motions = ensemble.simulate(0.25, report_interval=0.05, **steps)
    ensemble.realize()
    found = [ensemble.get_measures(measure) for measure in measures]
    assert motions.statistics["in_lanes"].all()
    assert np.ptp(motions.statistics["steps_taken"]) > 5 or "accuracy" not in steps
    for i in range(11):
        method = mb.integrator.RungeKuttaMerson(system, **steps)
        one = mb.simulate(system, states[i], 0.25, integrator=method, report_interval=0.05)
        np.testing.assert_allclose(motions[i].q, one.q, rtol=0, atol=1e-9)  # impacts magnify rounding
        assert motions.statistics["steps_taken"][i] == one.statistics["steps_taken"]
        stepper = mb.TimeStepper(system, method)
        stepper.initialize(states[i])
        stepper.step_to(0.25)
        for values, measure in zip(found, measures, strict=True):
            np.testing.assert_allclose(values[i], measure.get_value(stepper.state), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(ensemble.u_dot[i], stepper.state.u_dot, rtol=1e-6, atol=1e-6)
    order = [7, 10, 0, 4, 3]
    others = ensemble_of(system, [states[i] for i in order], threads=2)
    assert np.array_equal(others.simulate(0.25, report_interval=0.05, **steps).q, motions.q[order])
    others.realize()
    assert np.array_equal(others.u_dot, ensemble.u_dot[order])
    for values, measure in zip(found, measures, strict=True):
        assert np.array_equal(others.get_measures(measure), values[order])


def test_states_that_cannot_go_on_leave_others_as_they_are():
    """One is not finite, and one turns so fast that its accelerations are not."""
    system, state, bodies, measures = scene("bristle")
    states = starts(state, bodies, 8)
    ensemble = ensemble_of(system, states)
    alone = ensemble.copy()
    motions = alone.simulate(0.1, report_interval=0.05)
    u = ensemble.upd_u()
    u[2, 7], u[5, 0] = np.nan, 1e200
    broken = ensemble.simulate(0.1, report_interval=0.05)
    assert broken.failed.tolist() == [i in (2, 5) for i in range(8)]
    sound = [i for i in range(8) if i not in (2, 5)]
    assert np.array_equal(broken.q[sound], motions.q[sound])
    ensemble.realize()
    alone.realize()
    assert np.array_equal(ensemble.get_measures(measures[0])[sound], alone.get_measures(measures[0])[sound])
    ensemble.reset(broken.failed, q=np.array(motions.q[[2, 5], 0]), u=np.array(motions.u[[2, 5], 0]))
    ensemble.reset(~broken.failed, q=np.array(motions.q[sound, 0]), u=np.array(motions.u[sound, 0]))
    assert np.array_equal(ensemble.simulate(0.1, report_interval=0.05).q, motions.q)  # nothing is left of what was


def test_memory_of_a_state_that_sticks_is_that_of_the_documents():
    system, state, _, _ = scene("bristle")
    mb.Ensemble(system, 8, state=state)  # what is loaded and kept with the first one is not the states'
    tracemalloc.start()
    ensemble = mb.Ensemble(system, 512, state=state)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    numbers = len(state.y_values) + len(state.u)
    assert len(ensemble) == 512 and size / 512 < 8.2e3 + 8 * numbers + 1e3  # the last of 512 states' part of what they share


def test_a_box_stays_where_it_sticks_from_call_to_call():
    """On a slope; without its anchors it would creep by a part of the bristles' deflection in each call."""
    system, state, bodies, _ = scene("bristle")
    states = starts(state, bodies, 3)[::2]
    for one in states:
        bodies[1].set_q_to_fit_translation(one, (-0.3, 0, 0.1))  # one that falls may hop for long
        one.u = np.zeros(12)
    ensemble = ensemble_of(system, states)
    ensemble.step(1.0, integrator=mb.integrator.RungeKuttaMerson(system, accuracy=1e-3, initial_step_size=1.0))
    place, calls = ensemble.q[:, 11].copy(), 30
    copies = ensemble.copy(), pickle.loads(pickle.dumps(ensemble)), ensemble.copy()
    copies[2].reset([False, True], q=ensemble.q[1], u=ensemble.u[1], time=1.0)
    for one in copies:
        one.realize()
    assert max(np.abs(one.u_dot[0, 9]) for one in copies) < 0.3 < 1.2 < copies[2].u_dot[1, 9]  # the slope's is 1.5
    for one in (ensemble, *copies):
        for _ in range(calls):
            one.step(0.002)
    assert np.abs(ensemble.q[:, 11] - place).max() < 1e-7
    for one in copies[:2]:
        assert np.array_equal(one.q, ensemble.q)


def test_a_state_has_the_memory_of_the_ensemble():
    system, state, bodies, measures = scene("stribeck")
    ensemble = ensemble_of(system, starts(state, bodies, 3))
    ensemble.step(0.05)
    ensemble.realize()
    for i in range(3):
        one = ensemble.get_state(i)
        system.realize(one)
        assert measures[0].get_value(one) == ensemble.get_measures(measures[0])[i] > ensemble.q[i, 6]
        goes_on = mb.simulate(system, one, 0.05, accuracy=1e-3, record={"height": measures[0]})
        assert goes_on.quantities["height"][0] == measures[0].get_value(one)


def test_implicit_methods_remember_as_each_state_alone():
    """One after the other in compiled code, from call to call."""
    system, state, bodies, measures = scene("bristle")
    states = starts(state, bodies, 3)
    ensemble = ensemble_of(system, states, threads=2)
    method = mb.integrator.BDF(system, accuracy=1e-3)
    motions = ensemble.simulate(0.15, integrator=method, report_interval=0.05)
    ensemble.realize()
    for i in (0, 2):
        one = mb.simulate(system, states[i], 0.15, integrator=method, report_interval=0.05)
        assert np.array_equal(motions[i].q, one.q) and np.array_equal(motions[i].u, one.u)
        stepper = mb.TimeStepper(system, method)
        stepper.initialize(states[i])
        stepper.step_to(0.15)
        for measure in measures:
            np.testing.assert_allclose(
                ensemble.get_measures(measure)[i], measure.get_value(stepper.state), rtol=1e-6, atol=1e-6
            )
    highest = ensemble.get_measures(measures[0])
    ensemble.simulate(0.02, integrator=method, report_interval=0.02)
    ensemble.realize()
    assert np.array_equal(ensemble.get_measures(measures[0]), highest) and (highest > ensemble.q[:, 6]).all()


@pytest.mark.filterwarnings("ignore:.* late, but steps have been:RuntimeWarning")
def test_what_python_remembers_goes_on_from_call_to_call():
    """A measure of Python's makes Python find all of them."""
    system, _ = mb.examples.double_pendulum.build()
    matter = system.matter
    angle = mb.measure.Function(matter, lambda state: matter.bodies[1].get_one_q(state, 0), mb.Stage.MODEL)
    late, most = mb.measure.Delay(matter, angle, 0.03), mb.measure.Maximum(matter, angle)
    mb.measure.Maximum(matter, mb.measure.Constant(None, 0.0))
    ensemble = mb.Ensemble(system, 2, state=system.realize_topology())
    ensemble.q = [[0.5, 0.0], [1.0, 0.0]]
    one = mb.simulate(system, ensemble.get_state(1), 0.1, accuracy=1e-4, record={"late": late})
    with pytest.warns(RuntimeWarning, match="in Python"):
        ensemble.simulate(0.1, accuracy=1e-4)
    ensemble.realize()
    assert ensemble.get_measures(late)[1] == one.quantities["late"][-1] > ensemble.q[1, 0]
    ensemble = ensemble.copy()
    ensemble.simulate(0.1, accuracy=1e-4)
    ensemble.step(0.01)
    ensemble.realize()
    assert ensemble.get_measures(most).tolist() == [0.5, 1.0]
    ensemble.reset([True, False], q=[0.2, 0.0])
    ensemble.realize()
    assert ensemble.get_measures(most).tolist() == [0.2, 1.0]


def test_samples_that_go_round_go_on_from_call_to_call(rng):
    """Rings of 16 samples, of which a delay of 12 steps needs most: after 50 steps each has gone round three times.

    There are more states than lanes, whose rings are filled anew in each call.
    """
    system, _ = mb.examples.double_pendulum.build()
    matter = system.matter
    angle = mb.measure.Coordinate(matter, matter.bodies["lower"])
    late = [mb.measure.Delay(matter, angle, delay, max_samples=16) for delay in (0.012, 0.01)]
    ensemble = mb.Ensemble(system, 20, state=system.realize_topology())
    ensemble.q, before = rng.normal(size=(20, 2)), []
    for _ in range(50):
        before.append(ensemble.q[:, 1].copy())
        ensemble.step(1e-3, fixed_step_size=1e-3)
    ensemble.realize()
    for one, steps in zip(late, (12, 10), strict=True):
        np.testing.assert_allclose(ensemble.get_measures(one), before[50 - steps], rtol=0.0, atol=1e-9)
