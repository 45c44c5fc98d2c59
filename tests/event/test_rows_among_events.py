"""Rows that the loop over steps makes between and after events are those of a stepper that goes from row to row."""

import numpy as np
import pytest

import mobod as mb
from mobod.event import Coordinate, When

METHODS = {
    "RungeKuttaMerson": mb.integrator.RungeKuttaMerson,
    "RungeKuttaFeldberg": mb.integrator.RungeKuttaFeldberg,
    "BDF": mb.integrator.BDF,
    "Verlet": mb.integrator.Verlet,
}


class Slow(When):
    """Takes a tenth of the speeds away."""

    def handle_event(self, state, accuracy):
        state.u = 0.9 * state.u


class Count(mb.event.PeriodicReporter):
    """Counts."""

    calls = 0

    def handle_event(self, state):
        self.calls += 1


class Push(mb.event.PeriodicHandler):
    """Pushes now and then."""

    def handle_event(self, state, accuracy):
        state.u = state.u + 0.01


def pendulum():
    system, state = mb.examples.double_pendulum.build()
    return system, state, system.matter.bodies["lower"]


def crank():
    system, state = mb.examples.slider_crank.build()
    return system, state, system.matter.bodies["crank"]


def add(system, body, what):
    if "witness" in what:
        system.add_event_handler(Slow(Coordinate(body, 0, 1.0)))
    if "python" in what:
        system.add_event_handler(Slow(mb.event.FunctionWitness(lambda s: body.get_one_q(s, 0) - 1.1, mb.Stage.POSITION)))
    if "reporter" in what:
        system.add_event_reporter(Count(0.07))
    if "periodic" in what:
        system.add_event_handler(Push(0.05))
    if "stop" in what:
        system.add_event_handler(mb.event.StopWhen(Coordinate(body, 0, 1.3)))


def row_by_row(system, state, method, times):
    stepper = mb.TimeStepper(system, method(system, accuracy=1e-5))
    stepper.initialize(state)
    rows = []
    for time in times:
        status = stepper.step_to(time)
        rows.append([stepper.time, *stepper.state.q, *stepper.state.u, system.calc_energy(stepper.state)])
        if status is not mb.StepStatus.REACHED_REPORT_TIME:
            break
    return np.array(rows), stepper.integrator.get_num_steps_taken()


@pytest.mark.parametrize("what", ["witness", "python", "witness reporter", "periodic", "periodic reporter", "witness stop"])
@pytest.mark.parametrize("build", [pendulum, crank])
@pytest.mark.parametrize("method", METHODS)
def test_rows_are_those_of_a_stepper(method, build, what):
    times = 0.02 * np.arange(51)
    system, state, body = build()
    add(system, body, what)
    motion = mb.simulate(system, state, 1.0, integrator=METHODS[method](system, accuracy=1e-5), report_interval=0.02)
    other, start, body = build()
    add(other, body, what)
    rows, steps = row_by_row(other, start, METHODS[method], motion.time if "stop" not in what else times)
    found = np.column_stack([motion.time, motion.q, motion.u, motion.energy])
    assert motion.statistics["steps_taken"] == steps
    assert found.shape == rows.shape
    # where a periodic handler leaves the manifold, either way comes back to it within the tolerance
    loose = "periodic" in what and build is crank
    assert np.allclose(found[:, :-1], rows[:, :-1], rtol=0.0, atol=1e-6 if loose else 0.0)
    assert np.allclose(found[:, -1], rows[:, -1], rtol=1e-13, atol=1e-4 if loose else 1e-12)


@pytest.mark.parametrize(
    "sets, method, interval",
    [("nothing", "Verlet", 0.037), ("speeds", "RungeKuttaMerson", 0.01), ("a force", "RungeKuttaMerson", 0.01)],
)
def test_handlers_at_a_fixed_rate_are_called_in_one_go_beside_witnesses(sets, method, interval, monkeypatch):
    """With the bits, events and energies of the way from event to event."""

    class Rate(mb.event.PeriodicHandler):
        def handle_event(self, state, accuracy):
            if sets == "speeds":
                state.u = 0.999 * state.u
            if sets == "a force":
                push.set_one_mobility_force(state, body, 0, 0.3 * np.sin(3.0 * state.time))

    system, state, body = pendulum()
    push = mb.force.DiscreteForces(system.forces, system.matter)
    add(system, body, "witness python")
    system.add_event_handler(Rate(interval))
    state = system.realize_topology()
    state.q = 2.0, 0.5
    ways, one_way = [], mb.TimeStepper._go
    monkeypatch.setattr(mb.TimeStepper, "_go", lambda *args: ways.append(0) or one_way(*args))
    settings = {"integrator": method, "accuracy": 1e-4, "report_interval": 0.3}
    found = mb.simulate(system, state, 2.0, **settings)
    assert (found.events["name"] == "Slow").any() and 2 * len(ways) < len(found.events)
    monkeypatch.setattr("mobod.event.agenda.Agenda.periodic", lambda self: [])
    expected = mb.simulate(system, state, 2.0, **settings)
    for name in ("time", "q", "u", "energy"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    assert list(found.events["name"]) == list(expected.events["name"])
    for name in ("time", "energy"):
        assert np.allclose(found.events[name], expected.events[name], rtol=0.0, atol=1e-12)


def test_what_is_recorded_sees_the_state_as_events_have_left_it():
    """Parameters that a handler changes hold for rows after it, and what counts calls has counted those before."""
    system, state, lower = pendulum()
    spring = mb.force.MobilityLinearSpring(system.forces, lower, 0, 1.0, 0.0)
    seen = []

    class Stiffen(When):
        def handle_event(self, state, accuracy):
            seen.append(state.time)
            spring.set_stiffness(state, 5.0 + len(seen))

    system.add_event_handler(Stiffen(Coordinate(lower, 0, 0.2)))
    start = system.realize_topology()
    start.q = state.q
    record = {"stiffness": spring.get_stiffness, "calls": lambda state: float(len(seen))}
    motion = mb.simulate(system, start, 2.0, report_interval=0.01, record=record)
    assert len(seen) > 1
    count = np.searchsorted(np.array(seen), motion.time, side="left")
    assert np.array_equal(motion.quantities["calls"], count.astype(float))
    assert np.array_equal(motion.quantities["stiffness"], np.where(count > 0, 5.0 + count, 1.0))
    again = [spring.get_stiffness(motion.states[k]) for k in (0, 100, 200)]
    assert again == [motion.quantities["stiffness"][k] for k in (0, 100, 200)]


NOTHING = mb.MassProperties(0.0, (0, 0, 0), mb.Inertia(0.0, 0.0, 0.0))


class Exchange(mb.event.ScheduledHandler):
    """Lets a rod go at 0.1, holds a speed from there on, and takes a link's mass away."""

    def __init__(self, rod, hold, link):
        self.rod, self.hold, self.link = rod, hold, link

    def get_next_event_time(self, state, include_current_time):
        return 0.1 if state.time < 0.1 or (include_current_time and state.time == 0.1) else np.inf

    def handle_event(self, state, accuracy):
        self.rod.disable(state)
        self.hold.enable(state)
        self.link.set_body_mass_properties(state, NOTHING)


def test_rows_in_which_other_constraints_hold_have_their_accelerations():
    """Constraints of one group that other mobilities have to do with: what the matrix of those before held is gone.

    A rod to the tip of a chain moves four joints, what takes its place one. Nor has a link without mass what it had before.
    """
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0))
    link, joints = mb.body.Rigid(mb.MassProperties(1.0, (0, -0.2, 0), mb.Inertia(0.1, 0.1, 0.1))), [matter.ground]
    for i in range(4):
        joints.append(mb.mobilizer.Pin(joints[-1], link, X_PF=mb.Transform((0.1 * i, -0.5, 0))))
    mb.constraint.Rod(matter.ground, (0.3, 0.3, 0), joints[-1], (0, -0.5, 0), 2.0)
    rod = mb.constraint.Rod(matter.ground, (0.9, 0.3, 0), joints[-1], (0, -0.4, 0), 2.0)
    hold = mb.constraint.ConstantSpeed(joints[2], 0, 0.0, disabled_by_default=True)
    system.add_event_handler(Exchange(rod, hold, joints[3]))
    state, fresh = system.realize_topology(), system.realize_topology()
    rod.disable(fresh)
    hold.enable(fresh)
    joints[3].set_body_mass_properties(fresh, NOTHING)
    state.q = (0.3, -0.2, 0.1, 0.2)
    system.realize(state, mb.Stage.POSITION)
    system.project(state)
    system.realize(state)
    many = mb.Ensemble(system, 2, state=state)
    last = mb.simulate(system, state, 0.2).states[-1]
    many.step(0.2)
    many.realize()
    system.realize(last)
    for q, u, found in ((last.q, last.u, last.u_dot), (many.q[1], many.u[1], many.u_dot[1])):
        fresh.q, fresh.u = q, u
        system.realize(fresh)
        assert np.allclose(found, fresh.u_dot, rtol=0.0, atol=1e-9)
