"""Witnesses in loops over steps: the loop finds the events that Python asks for."""

import pytest

import mobod as mb
from mobod.compiling import Routine


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
        run()  # by now there is a search
        found, events, searches = run()
        with monkeypatch.context() as without:
            without.setattr(Routine, "known_address", lambda self: 0)
            assert run() == (found, events, pytest.approx(2 * events, abs=events))
        assert events > 5 and searches <= 7  # where a report lies between
