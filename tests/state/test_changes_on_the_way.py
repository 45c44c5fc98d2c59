"""States of a trajectory have the locks and switched-off forces that event handlers have left."""

import numpy as np
import pytest

import mobod as mb


class Change(mb.event.ScheduledHandler):
    """Does something at some times."""

    def __init__(self, *acts):
        super().__init__()
        self.acts = acts

    def get_next_event_time(self, state, include_current_time):
        times = [time for time, _ in self.acts if time > state.time or (include_current_time and time == state.time)]
        return min(times, default=np.inf)

    def handle_event(self, state, accuracy):
        for time, act in self.acts:
            if time == state.time:
                act(state)
        return False


@pytest.fixture
def model():
    system, _ = mb.examples.double_pendulum.build()
    upper = system.matter.bodies[1]
    gravity = system.get_subsystem(1).get_force(0)
    system.add_event_handler(Change((0.25, upper.lock), (0.55, upper.unlock), (0.75, gravity.disable)))
    state = system.realize_topology()
    state.q = [0.5, 0.2]
    return system, upper, gravity, state


def test_locks_and_switched_off_forces(model):
    system, upper, gravity, state = model
    trajectory = mb.simulate(system, state, 1.0, report_interval=0.1, accuracy=1e-6)
    locked = [upper.is_locked(one) for one in trajectory.states]
    assert locked == [0.25 < time < 0.55 for time in trajectory.time]
    assert [gravity.is_disabled(one) for one in trajectory.states] == [time > 0.75 for time in trajectory.time]
    backward = [upper.is_locked(one) for one in trajectory.states.walk(range(10, -1, -1))]
    assert backward == locked[::-1]
    one = trajectory.states[4]
    system.realize(one)
    assert one.u_dot[0] == 0.0
    assert not upper.is_locked(state) and len(trajectory.states[3:5]) == 2 and upper.is_locked(trajectory.states[3:5][0])


def test_a_resumed_run_knows_them_too(model, tmp_path):
    system, upper, _, state = model
    settings = {"report_interval": 0.1, "accuracy": 1e-6, "checkpoint": tmp_path / "run", "checkpoint_interval": 1e9}
    mb.simulate(system, state, 0.4, **settings)
    trajectory = mb.simulate(system, state, 1.0, resume=True, **settings)
    assert [upper.is_locked(one) for one in trajectory.states] == [0.25 < time < 0.55 for time in trajectory.time]
