"""Subsystems' own events: triggers, schedules, reports, and what they are told at the ends and after steps."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod import Stage
from mobod.event import Cause


class Tank(mb.Subsystem):
    """It drains at rate 1, is filled up again where it falls to the low mark, and looks in at given times."""

    def __init__(self, system, low=0.5, filled_at=(), seen_at=()):
        super().__init__(system, "tank")
        self.low, self.filled_at, self.seen_at, self.log = low, filled_at, seen_at, []

    def realize_topology(self, state):
        self.level = self.allocate_z(state, [1.0])
        self.ticks = self.allocate_event_triggers_by_stage(state, Stage.TIME, 1)
        self.marks = self.allocate_event_triggers_by_stage(state, Stage.DYNAMICS, 2)

    def realize_time(self, state):
        self.upd_event_triggers_by_stage(state, Stage.TIME)[self.ticks] = state.time - 0.25

    def realize_dynamics(self, state):
        level = self.get_z(state)[self.level]
        self.upd_z_dot(state)[self.level] = -1.0
        self.upd_event_triggers_by_stage(state, Stage.DYNAMICS)[:] = level - self.low, 0.9 - level

    def calc_event_trigger_info(self, state):
        return [
            mb.event.TriggerInfo(7),
            mb.event.TriggerInfo(8, rising=False, window=1e-3),
            mb.event.TriggerInfo(9, falling=False, window=1e-3),
        ]

    def calc_time_of_next_scheduled_event(self, state, include_current_time):
        return self._next(self.filled_at, state, include_current_time), [1]

    def calc_time_of_next_scheduled_report(self, state, include_current_time):
        return self._next(self.seen_at, state, include_current_time), [2, 3]

    @staticmethod
    def _next(times, state, include):
        return min((t for t in times if t > state.time or (t == state.time and include)), default=math.inf)

    def handle_events(self, state, cause, event_ids, accuracy):
        self.log.append((cause, event_ids, state.time))
        if 8 in event_ids or (cause is Cause.SCHEDULED and event_ids == [1]):
            self.upd_z(state)[self.level] = 1.0
        return False

    def report_events(self, state, cause, event_ids):
        self.log.append(("report", cause, event_ids, state.time))


def run(time, **settings):
    system = mb.MultibodySystem()
    mb.SimbodyMatterSubsystem(system)
    tank = Tank(system, **settings)
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-6, final_time=time))
    stepper.initialize(system.realize_topology())
    stepper.step_to(time)
    return tank, stepper


def test_triggers_of_a_subsystem_are_watched_and_handled_by_it():
    tank, stepper = run(0.8)
    expected = [
        (Cause.INITIALIZATION, [], 0.0),
        (Cause.TRIGGERED, [9], 0.1),
        (Cause.TRIGGERED, [7], 0.25),
        (Cause.TRIGGERED, [8], 0.5),
        (Cause.TRIGGERED, [9], 0.6),
        (Cause.TERMINATION, [], 0.8),
    ]
    assert [entry[:2] for entry in tank.log if entry[0] != "report"] == [entry[:2] for entry in expected]
    assert_allclose([entry[2] for entry in tank.log if entry[0] != "report"], [e[2] for e in expected], atol=1e-7)
    assert [e[2:] for e in tank.log if e[0] == "report"] == [e[1:] for e in tank.log if e[0] is Cause.TRIGGERED]
    assert_allclose(stepper.state.z, 0.7, atol=1e-7)


def test_schedules_of_a_subsystem_are_kept():
    tank, stepper = run(0.8, low=-1.0, filled_at=(0.4, 0.7), seen_at=(0.0, 0.4))
    scheduled = [entry for entry in tank.log if Cause.SCHEDULED in entry]
    assert scheduled == [
        ("report", Cause.SCHEDULED, [2, 3], 0.0),
        ("report", Cause.SCHEDULED, [2, 3], 0.4),
        (Cause.SCHEDULED, [1], 0.4),
        (Cause.SCHEDULED, [1], 0.7),
    ]
    assert_allclose(stepper.state.z, 0.9, atol=1e-12)


def test_a_subsystem_is_told_of_every_step_where_the_system_says_so():
    class Counter(mb.Subsystem):
        times = ()

        def handle_events(self, state, cause, event_ids, accuracy):
            if cause is Cause.TIME_ADVANCED:
                self.times = (*self.times, state.time)

    system, state = mb.examples.double_pendulum.build()
    counter = Counter(system, "counter")
    state = system.realize_topology()
    assert not system.has_time_advanced_events()
    system.set_has_time_advanced_events(True)
    assert system.has_time_advanced_events()
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, fixed_step_size=0.125))
    stepper.initialize(state)
    stepper.step_to(0.5)
    assert list(counter.times) == [0.125, 0.25, 0.375]  # the event at the time asked for is still to come
    stepper.step_to(0.55)
    assert list(counter.times) == [0.125, 0.25, 0.375, 0.5]
    stepper.set_report_all_significant_states(True)
    statuses = [stepper.step_to(0.8) for _ in range(5)]
    assert [status.name for status in statuses[:3]] == [
        "START_OF_CONTINUOUS_INTERVAL",
        "TIME_HAS_ADVANCED",
        "TIME_HAS_ADVANCED",
    ]


def test_a_subsystem_may_end_the_simulation():
    class End(mb.Subsystem):
        def calc_time_of_next_scheduled_event(self, state, include_current_time):
            return (0.3 if state.time < 0.3 else math.inf), [0]

        def handle_events(self, state, cause, event_ids, accuracy):
            return cause is Cause.SCHEDULED

    system, _ = mb.examples.double_pendulum.build()
    end = End(system, "the end")
    state = system.realize_topology()
    trajectory = mb.simulate(system, state, 1.0)
    assert trajectory.time[-1] == 0.3 and trajectory.statistics["termination"] == "the end ended the simulation"
    assert end.calc_event_trigger_info(state) == []


def test_what_a_subsystem_gets_wrong_is_named():
    class Wrong(Tank):
        def calc_event_trigger_info(self, state):
            return [mb.event.TriggerInfo(1)]

    system = mb.MultibodySystem()
    mb.SimbodyMatterSubsystem(system)
    Wrong(system)
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system))
    with pytest.raises(ValueError, match=r"calc_event_trigger_info of <Wrong 'tank'> gave 1 entries for 3 event triggers"):
        stepper.initialize(system.realize_topology())


def test_triggers_without_infos_of_their_own_are_numbered_in_order():
    system = mb.MultibodySystem()
    mb.SimbodyMatterSubsystem(system)
    tank = Tank(system)
    state = system.realize_topology()
    system.realize(state)
    infos = mb.Subsystem.calc_event_trigger_info(tank, state)
    assert [info.get_event_id() for info in infos] == [0, 1, 2]
    assert np.all([info.should_trigger_on_rising_sign_transition() for info in infos])
