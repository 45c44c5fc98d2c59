"""A run that hardly gets on says so, once, with what limits its steps; one that does is quiet."""

import re
import warnings

import numpy as np
import pytest

import mobod as mb
from mobod.integrator import slow_runs
from mobod.integrator.slow_runs import Progress, find_fastest


def beside(stiffness, damping=0.0, mass=1e-3):
    """A slow slider, and a light one on it, on a stiff spring or a strong damper."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    heavy = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.Inertia(1, 1, 1)))
    light = mb.body.Rigid(mb.MassProperties(mass, (0, 0, 0), mb.Inertia(1, 1, 1)))
    slow = mb.mobilizer.Slider(matter.ground, heavy, name="slow")
    fast = mb.mobilizer.Slider(slow, light, name="fast")
    mb.force.MobilityLinearSpring(forces, slow, 0, 10.0, 0.0, name="soft")
    mb.force.MobilityLinearSpring(forces, fast, 0, stiffness, 0.0, name="stiff")
    if damping:
        mb.force.MobilityLinearDamper(forces, fast, 0, damping, name="damper")
    state = system.realize_topology()
    state.q = 1.0, 0.001
    return system, state


class CutError(Exception):
    pass


def run_a_little(system, state, time, calls=3, **settings):
    """The warnings of a run that is cut after some pauses from the first warning on, or from 150,000 steps on."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        integrator = mb.integrator.RungeKuttaMerson(system, **settings)
        left = [calls]

        def cut(now, end):
            left[0] -= integrator.get_num_steps_taken() > 150_000
            if not left[0]:
                raise CutError

        with pytest.raises(CutError):
            mb.simulate(system, state, time, integrator=integrator, progress=cut)
    return [str(one.message) for one in said if "more of them; " in str(one.message)]


@pytest.mark.parametrize(
    "settings, rate, by",
    [((1e11,), np.sqrt(1e11 / 1e-3 * 1.001), "stiff"), ((1e6, 3e6), 3e6 / 1e-3 * 1.001, "damper")],
    ids=["spring", "damper"],
)
def test_the_force_that_limits_the_steps_is_named_with_the_rate_of_the_closed_form(settings, rate, by):
    """Reduced mass m M / (m + M): the rate is sqrt(k / m_red), or c / m_red."""
    (text,) = run_a_little(*beside(*settings), 20.0)
    assert f"by '{by}', and the steps are as long as its stability allows" in text and "number 0 of 'fast'" in text
    found = float(re.search(r"a rate of (\S+) per", text).group(1))
    assert abs(found - rate) < 0.02 * rate
    more = int(re.search(r"about ([\d,]+) more", text).group(1).replace(",", ""))
    mean = float(re.search(r"steps are (\S+) long", text).group(1))
    assert abs(more * mean - 20.0) < 0.2


def test_a_largest_step_that_is_set_is_what_limits():
    system, state = mb.examples.double_pendulum.build()
    (text,) = run_a_little(system, state, 1000.0, max_step_size=1e-6)
    assert "max_step_size=1e-06 limits them: give a larger one" in text


def test_runs_that_get_on_and_fixed_steps_are_quiet():
    system, state = mb.examples.double_pendulum.build()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mb.simulate(system, state, 20.0, accuracy=1e-8)
    assert run_a_little(system, state, 10.0, fixed_step_size=1e-7) == []


@pytest.mark.filterwarnings("ignore:events of this system")
@pytest.mark.parametrize("in_lanes", [True, False], ids=["lanes", "alone"])
def test_states_of_an_ensemble_say_so_too(monkeypatch, in_lanes):
    """In lanes, which look after each call of a twentieth of a second; alone, where other warnings are not shown."""
    monkeypatch.setattr(slow_runs, "LOOK", 500)
    monkeypatch.setattr(slow_runs, "MOST", 2000)
    system, state = beside(1e8)

    class Look(mb.event.TriggeredReporter):
        def get_value(self, state):
            return 1.0

        def handle_event(self, state):
            pass

    if not in_lanes:
        system.add_event_reporter(Look(mb.Stage.TIME))
    ensemble = mb.Ensemble(system, 2, state=state)
    with pytest.warns(
        RuntimeWarning,
        match=f"{'state [01] of the ensemble: ' * in_lanes}at time .* more of them; the fastest motion .* by 'stiff'",
    ):
        ensemble.simulate(0.01)


def test_the_rest_is_counted_from_the_last_look(monkeypatch):
    progress = Progress()
    progress.goal = 1.0
    progress.begin(0, 0.0)
    assert progress.find_rest(10, 1e-12) is None
    rest, mean = progress.find_rest(slow_runs.LOOK, 1e-6)
    assert abs(mean - 1e-6 / slow_runs.LOOK) < 1e-15 and abs(rest * mean - (1.0 - 1e-6)) < 1e-9
    assert progress.find_rest(2 * slow_runs.LOOK, 0.5) is None
    rest, _ = progress.find_rest(3 * slow_runs.LOOK, 0.5)
    assert rest == np.inf  # no progress at all


def test_the_fastest_rate_of_a_random_mechanism_is_that_of_its_jacobian(make):
    """By differences of all variables: the largest eigenvalue of d(y_dot)/dy, to the first digit."""
    model = make.tree(gravity=True)
    system, forces = model.system, mb.GeneralForceSubsystem(model.system)
    body = next(body for body in model.bodies[1:] if body.facts.num_u == 1)
    mb.force.MobilityLinearSpring(forces, body, 0, 1e9, 0.0, name="by far")
    model.made()
    model.randomize()
    state = model.state.copy()
    system.realize(state)
    y = state.y_values.copy()

    def rates(at):
        state.y_values[:] = at
        state.invalidate_q()
        system.realize(state)
        return state.record.y_dot[:, 0].copy()

    J = np.array([(rates(y + h) - rates(y - h)) / 2e-6 for h in 1e-6 * np.eye(len(y))]).T
    largest = np.abs(np.linalg.eigvals(J)).max()
    rate, _, by = find_fastest(system, model.state.copy())
    assert 0.5 * largest < rate < 2.0 * largest and by == ", by 'by far'"  # J is far from normal: powers come there slowly


@pytest.mark.parametrize("compiled", [0.0, 7.0])
def test_the_time_of_compiling_is_not_the_runs(monkeypatch, compiled):
    from mobod.integrator import slow_runs

    clock, spent = [100.0], [0.0]
    monkeypatch.setattr(slow_runs._clock, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(slow_runs, "seconds_spent", lambda: spent[0])
    progress = slow_runs.Progress()
    progress.goal = 1000.0
    progress.begin(0, 0.0)
    clock[0], spent[0] = 108.0, compiled
    found = progress.find_rest(150, 0.15)
    assert found is None if compiled else found == (pytest.approx(999.85 / 1e-3), 1e-3)
