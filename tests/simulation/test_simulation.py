"""`simulate`: rows at the times asked for, progress, and what is refused."""

import numpy as np
import pytest

import mobod as mb


@pytest.fixture
def model(make):
    model = make.tree(4)
    model.randomize()
    return model


def test_rows_are_at_even_times_from_the_start_to_the_end(model):
    model.state.time = 2.0
    run = mb.simulate(model.system, model.state, 1.0, report_interval=0.25)
    assert np.array_equal(run.time, [2.0, 2.25, 2.5, 2.75, 3.0])
    assert run.q.shape == (5, len(model.state.q)) and run.u.shape == (5, len(model.state.u)) and run.energy.shape == (5,)
    assert np.allclose(run.q[0], model.state.q, rtol=0, atol=1e-15) and np.array_equal(run.u[0], model.state.u)
    assert len(mb.simulate(model.system, model.state, 0.5)) == 201


@pytest.mark.parametrize(
    ("time", "interval", "expected"),
    [
        (1.0, 0.3, [0.0, 0.3, 0.6, 0.9, 1.0]),
        (1.0, 0.1, np.arange(11) / 10),
        (0.3, 0.1, [0.0, 0.1, 0.2, 0.3]),
        (0.5, 2.0, [0.0, 0.5]),
        (0.7, 0.7, [0.0, 0.7]),
    ],
)
def test_uneven_intervals_end_at_the_end(time, interval, expected, model):
    run = mb.simulate(model.system, model.state, time, report_interval=interval)
    assert np.allclose(run.time, expected, rtol=0, atol=1e-12) and run.time[-1] == time


def test_rows_are_what_a_stepper_finds_at_their_times(model):
    run = mb.simulate(model.system, model.state, 0.4, accuracy=1e-5, report_interval=0.1)
    stepper = mb.TimeStepper(model.system, mb.integrator.RungeKuttaMerson(model.system, accuracy=1e-5))
    stepper.initialize(model.state)
    for i, time in enumerate(run.time):
        stepper.step_to(time)
        assert np.array_equal(run.q[i], stepper.state.q) and np.array_equal(run.u[i], stepper.state.u)
        assert run.energy[i] == pytest.approx(model.system.calc_energy(stepper.state), rel=1e-12, abs=1e-12)


def test_the_state_given_is_left_as_it_is(model):
    y, stage = model.state.y.copy(), model.state.stage
    mb.simulate(model.system, model.state, 0.1)
    assert np.array_equal(model.state.y, y) and model.state.stage == stage and model.state.time == 0.0


def test_an_integrator_brings_its_own_accuracy_and_a_class_takes_the_one_given(model):
    loose = mb.simulate(model.system, model.state, 0.5, accuracy=1e-3)
    kind = mb.integrator.RungeKuttaMerson
    assert np.array_equal(mb.simulate(model.system, model.state, 0.5, accuracy=1e-3, integrator=kind).q, loose.q)
    own = mb.simulate(model.system, model.state, 0.5, integrator=kind(model.system, accuracy=1e-8))
    assert own.steps_taken > loose.steps_taken and own.statistics["accuracy"] == 1e-8
    assert mb.simulate(model.system, model.state, 0.1).statistics["accuracy"] == 1e-4


def test_an_accuracy_beside_an_integrator_that_has_its_own_is_refused(model):
    integrator = mb.integrator.RungeKuttaMerson(model.system, accuracy=1e-8)
    with pytest.raises(ValueError, match=r"accuracy=0\.001 beside .* own, 1e-08: .*Merson\(system, accuracy=0\.001\)"):
        mb.simulate(model.system, model.state, 0.5, accuracy=1e-3, integrator=integrator)


@pytest.mark.parametrize(
    ("name", "wrong", "error"),
    [
        ("time", np.nan, ValueError),
        ("time", [1.0, 2.0], ValueError),
        ("accuracy", "fine", TypeError),
        ("accuracy", np.nan, ValueError),
        ("report_interval", np.nan, ValueError),
        ("report_interval", np.inf, ValueError),
        ("report_interval", "0.1", TypeError),
        ("checkpoint_interval", np.nan, ValueError),
        ("checkpoint_interval", "often", TypeError),
        ("estimate_error", np.nan, ValueError),
        ("estimate_error", "yes", TypeError),
        ("audit", None, ValueError),
        ("resume", "run.check", TypeError),
        ("progress", 3, TypeError),
        ("record_to", 3, TypeError),
        ("checkpoint", 3, TypeError),
        ("record", 3, TypeError),
        ("record_bodies", 3.5, TypeError),
    ],
)
def test_arguments_that_make_no_sense_are_named(model, name, wrong, error):
    given = {"time": 0.1, name: wrong}
    with pytest.raises(error, match=name):
        mb.simulate(model.system, model.state, **given)


def test_what_is_no_system_is_refused(model):
    with pytest.raises(TypeError, match="first argument of simulate has to be a MultibodySystem"):
        mb.simulate(model.state, model.system, 1.0)


def test_progress_is_told_the_time_reached_and_the_end(model):
    calls = []
    mb.simulate(model.system, model.state, 1.0, accuracy=1e-8, progress=lambda t, end: calls.append((t, end)))
    times = [t for t, _ in calls]
    assert times == sorted(times) and times[-1] == 1.0 and {end for _, end in calls} == {1.0} and len(calls) > 1
    without = mb.simulate(model.system, model.state, 1.0, accuracy=1e-8)
    withit = mb.simulate(model.system, model.state, 1.0, accuracy=1e-8, progress=lambda t, end: None)
    assert np.array_equal(without.q, withit.q), "progress changes no bit"


def test_an_error_in_progress_stops_the_run(model):
    def stop(time, end):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mb.simulate(model.system, model.state, 1.0, progress=stop)


@pytest.mark.parametrize("time", [0.0, -1.0, np.nan, np.inf])
def test_times_that_cannot_be_are_refused(time, model):
    with pytest.raises(ValueError, match="time"):
        mb.simulate(model.system, model.state, time)


@pytest.mark.parametrize("interval", [0.0, -0.1, np.nan])
def test_intervals_that_cannot_be_are_refused(interval, model):
    with pytest.raises(ValueError, match="report_interval"):
        mb.simulate(model.system, model.state, 1.0, report_interval=interval)


def test_columns_are_named_after_their_bodies(make):
    model = make.tree(0)
    ground = model.matter.ground
    mb.mobilizer.Pin(ground, make.body(), name="elbow")
    mb.mobilizer.Ball(ground, make.body(), name="hip")
    mb.mobilizer.Weld(ground, make.body(), name="plate")
    state = model.made().state
    run = mb.simulate(model.system, state, 0.01)
    assert run.coordinate_names == ("elbow", "hip[0]", "hip[1]", "hip[2]", "hip[3]")
    assert run.speed_names == ("elbow", "hip[0]", "hip[1]", "hip[2]")


def test_a_failure_is_the_integrators_error(make):
    class Wall(mb.force.CustomImplementation):
        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            mobility_forces += np.inf if state.time > 0.1 else 0.0

    model = make.tree(3)
    mb.force.Custom(model.forces, Wall())
    state = model.made().randomize(mb.Stage.MODEL)
    with pytest.raises(mb.ConvergenceError, match="not finite"):
        mb.simulate(model.system, state, 1.0)


def test_simulate_starts_from_a_state():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.mobilizer.Pin(matter.ground, mb.body.Rigid())
    state = system.realize_topology()
    for wrong in (mb.Ensemble(system, 2, state=state), None, state.q):
        with pytest.raises(TypeError, match="simulate starts from a State, such as"):
            mb.simulate(system, wrong, 1.0)
    with pytest.raises(TypeError, match=r"of an Ensemble call ensemble\.simulate\(time\)"):
        mb.simulate(system, mb.Ensemble(system, 2, state=state), 1.0)


def test_an_integrator_goes_by_its_name(model):
    named = mb.simulate(model.system, model.state, 0.1, integrator="Verlet", accuracy=1e-3)
    given = mb.simulate(model.system, model.state, 0.1, integrator=mb.integrator.Verlet, accuracy=1e-3)
    assert np.array_equal(named.q, given.q)
    with pytest.raises(ValueError, match=r"no integrator .Euler.; did you mean .*ExplicitEuler"):
        mb.simulate(model.system, model.state, 0.1, integrator="Euler")
    with pytest.raises(TypeError, match="integrator has to be an Integrator, such as"):
        mb.simulate(model.system, model.state, 0.1, integrator=3)


def test_arguments_in_the_wrong_order_are_named(model):
    with pytest.raises(TypeError, match="time has to be a number, got '1'"):
        mb.simulate(model.system, model.state, "1")
    with pytest.raises(TypeError, match="realize takes a State, then a Stage"):
        model.system.realize(mb.Stage.POSITION, model.state)
    with pytest.raises(TypeError, match=r"realize takes a Stage such as mobod.Stage.POSITION, not 'POSITION'"):
        model.system.realize(model.state, "POSITION")
