"""Witnesses in loops over steps: what is asked of all states at once leaves out no state that is asked by itself."""

from types import SimpleNamespace

import numpy as np
import pytest

import mobod as mb
from mobod.event.watched import GAP
from mobod.integrator import watch
from mobod.stepping import witnesses
from mobod.stepping.witnesses import BEFORE, NOW, RATE_BEFORE, RATE_NOW, SEEN, WIDTH, WINDOW

NUMBERS = np.array([0.0, 1e-12, 0.3, 1.0, 2.0, 1e200, 1e301, np.inf])
NUMBERS = np.concatenate([NUMBERS, -NUMBERS, [np.nan]])


def test_no_event_in_a_step_is_left_out_where_all_states_are_looked_at_at_once():
    rng, left_out = np.random.default_rng(5), 0
    for h in (0.1, 5.0):
        for before in NUMBERS:
            for end in NUMBERS:
                for rates in rng.choice(NUMBERS, (20, 2)):
                    seen = np.full((SEEN, 1), np.nan)
                    seen[[BEFORE, NOW, RATE_BEFORE, RATE_NOW], 0] = before, end, *rates
                    with np.errstate(all="ignore"):
                        found = witnesses.may_cross((before, rates[0]), (end, rates[1]), h, 1, 1)
                        asked = witnesses.any_may_cross(1, seen, 1.0)
                    assert asked or not found, (before, end, rates, h)
                    left_out += not asked
    assert left_out > 100


def test_nor_is_a_state_near_an_event():
    watched, left_out = np.zeros(WIDTH, np.int64), 0
    watched[[witnesses.NEAR, witnesses.FALLING]] = GAP, 1
    model, work = SimpleNamespace(nq=1), np.full((4, 1), 3.0)
    for value in NUMBERS:
        for rate in NUMBERS:
            seen = np.full((SEEN, 1), np.nan)
            seen[[NOW, RATE_NOW, WINDOW], 0] = value, rate, 0.1
            with np.errstate(all="ignore"):
                near = witnesses.is_near_event(model, watched, 1, seen, work, 0)
                asked = witnesses.any_is_near(model, watched, 1, seen, work, 1.0)
            assert asked or not near, (value, rate)
            left_out += not asked
    assert left_out > 10


def test_the_loop_over_steps_finds_the_events_that_python_asks_for(monkeypatch):
    system, state = mb.examples.double_pendulum.build()

    class Pass(mb.event.When):
        sets = False

        def handle_event(self, state, accuracy):
            if self.sets:
                state.u = 0.9 * state.u

    handlers = [Pass(mb.event.Coordinate(system.matter.bodies["upper"], 0, 0.3 * k)) for k in range(-3, 4)]
    for handler in handlers:
        system.add_event_handler(handler)
    asked, search = [], mb.integrator.Integrator.search_events
    monkeypatch.setattr(mb.integrator.Integrator, "search_events", lambda self, end: asked.append(end) or search(self, end))

    def run():
        asked.clear()
        motion = mb.simulate(system, state, 3.0, report_interval=0.5)
        return motion.events["time"].tobytes() + motion.q.tobytes(), len(motion.events), len(asked)

    for handlers[3].sets in (False, True):
        found, events, searches = run()
        with monkeypatch.context() as without:
            without.setattr(watch.Watch, "_choose_searcher", lambda self: None)
            assert run() == (found, events, pytest.approx(2 * events, abs=events))
        assert events > 5 and searches <= 7  # where a report lies between


def test_a_step_in_which_no_event_is_found_leaves_results_of_its_end():
    """A witness that is all but touched where a coordinate turns back is searched for, in the last step of a call too."""

    class Pass(mb.event.When):
        def handle_event(self, state, accuracy):
            pass

    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    body = mb.mobilizer.Pin(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.Inertia(1, 1, 1))))
    mb.force.MobilityLinearSpring(mb.GeneralForceSubsystem(system), body, 0, 1.0, 0.0)
    for value in (0.0, 1.1181):  # it swings to 1.118
        system.add_event_handler(Pass(mb.event.Coordinate(body, 0, value)))
    state = system.realize_topology()
    state.q, state.u = [0.5], [1.0]
    integrator = mb.integrator.RungeKuttaMerson(system)
    integrator.set_accuracy(1e-2)
    stepper = mb.TimeStepper(system, integrator)
    stepper.initialize(state)
    for _ in range(18):
        stepper.step(1.1)
        assert stepper.state.u_dot[0] == pytest.approx(-stepper.state.q[0], abs=1e-12), stepper.state.time
