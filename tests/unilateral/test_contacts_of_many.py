"""Contacts run by events: gaps in the loops over steps, of one state and of many, give the motions that Python finds."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import mobod as mb
from mobod.ensemble.lane_runs import LaneRuns
from mobod.unilateral import contact_events
from mobod.unilateral.contact_events import ContactEvents
from mobod.unilateral.problem import ContactTable

#: At which the double pendulum of `build` is stopped, struck, or held by a rope now and then.
KINDS = (
    "upper stop, bouncing",
    "lower stop, resting",
    "rope",
    "point over a plane",
    "point over a rough plane",
    "two spheres",
    "edges",
)


def build(kind):
    """A double pendulum with a contact, and a state."""
    system, _ = mb.examples.double_pendulum.build()
    ground, lower, upper = system.matter.ground, system.matter.bodies["lower"], system.matter.bodies["upper"]
    if kind == "upper stop, bouncing":
        mb.contact.HardStopUpper(lower, 0, 0.3, 0.6)
        mb.contact.HardStopUpper(upper, 0, 1e3)
    elif kind == "lower stop, resting":
        mb.contact.HardStopLower(lower, 0, -0.2)
    elif kind == "rope":
        mb.contact.Rope(ground, (1.0, 0, 0), lower, (0, 0, 0), 2.65, 0.5)
    elif kind == "point over a plane":
        mb.contact.PointPlane(ground, (-1, 0, 0), -0.9, lower, (0, 0, 0), 0.4)
    elif kind == "point over a rough plane":
        mb.contact.PointPlane(ground, (-1, 0, 0), -0.9, lower, (0, 0, 0), 0.0, 0.1)
    elif kind == "edges":  # which are passed above, too
        wall = mb.Transform(mb.Rotation(np.array([[0.0, 0, -1], [1, 0, 0], [0, -1, 0]])), (0.9, -1.9, 0))
        bar = mb.Transform(mb.Rotation(np.array([[0.0, 0, 1], [0, -1, 0], [1, 0, 0]])))
        mb.contact.EdgeEdge(ground, wall, 0.3, lower, bar, 0.1, 0.4)
    else:
        mb.contact.SphereSphere(ground, (1.0, -1.7, 0), 0.1, lower, (0, 0, 0), 0.1, 0.8)
    return system, system.realize_topology()


def starts(system, state, n, rng):
    """q and u of n states in which nothing touches."""
    contacts, q, u = system.matter.unilateral_contacts, [], []
    while len(q) < n:
        one = state.copy()
        one.q, one.u = rng.normal(0, 0.15, 2), rng.normal(0, 1.5, 2)
        system.realize(one, mb.Stage.POSITION)
        if all(contact.calc_gap(one) > 1e-3 or not contact.is_within(one) for contact in contacts):
            q.append(one.q)
            u.append(one.u)
    return np.array(q), np.array(u)


def test_a_run_that_is_interrupted_as_states_in_touch_get_lanes_can_be_repeated(monkeypatch):
    system, _ = build("lower stop, resting")
    one, other = mb.Ensemble(system, 8), mb.Ensemble(system, 8)
    q, u = one.q, one.u = other.q, other.u = np.zeros((8, 2)), np.tile(-np.linspace(0.5, 2.0, 8)[:, None], (1, 2))
    make = LaneRuns.make_workers

    def interrupted(lanes, *given):
        if lanes.sets is None:  # of a set of constraints that not all states begin with
            raise KeyboardInterrupt
        make(lanes, *given)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(LaneRuns, "make_workers", interrupted)
        one.simulate(1.0)
    one.reset(q=q, u=u)  # those that had not come to their ends are there
    one.simulate(1.0)
    other.simulate(1.0)
    assert np.array_equal(one.q, other.q) and np.array_equal(one.u, other.u)


@pytest.mark.parametrize("kind", KINDS)
def test_gaps_in_the_loop_give_the_bits_of_gaps_in_python(kind, monkeypatch, rng):
    system, state = build(kind)
    (state.q,), (state.u,) = starts(system, state, 1, rng)
    settings = {"report_interval": 0.01, "accuracy": 1e-6}
    fast = mb.simulate(system, state, 3.0, **settings)
    monkeypatch.setattr(mb.integrator.RungeKuttaMerson, "can_watch", False)
    slow = mb.simulate(system, state, 3.0, **settings)
    assert np.array_equal(fast.q, slow.q) and np.array_equal(fast.u, slow.u)
    assert fast.statistics["steps_taken"] == slow.statistics["steps_taken"]


def test_few_of_the_sets_of_closed_contacts_are_remembered(monkeypatch):
    """A heap of many would have others all the time, without end."""
    monkeypatch.setattr(contact_events, "_MOST_SETS", 2)
    system, state = build("upper stop, bouncing")
    events, contacts, known = ContactEvents(system, 1e-3), system.matter.unilateral_contacts, []
    for which in ((), (0,), (1,), (), (1,)):
        one = state.copy()
        for k in which:
            contacts[k].enable(one, impulse=False)
        system.realize(one)
        known.append([(watched.name, watched.what) for watched in events.watched(one)])
        assert len(events._watched) <= 2
    assert known[3:] == [known[0], known[2]] and known[1] != known[0] != known[2]


def test_runs_share_what_handles_contacts_and_have_the_bits_of_one_alone(monkeypatch):
    """The table of contacts is made once, whatever the accuracy, and again for another contact; copies have their own."""
    init, tables = ContactTable.__init__, []
    monkeypatch.setattr(ContactTable, "__init__", lambda table, *given: tables.append(table) or init(table, *given))

    def motion(model, accuracy):
        system, state = model
        state.u = (0.3, -2.0)
        return mb.simulate(system, state, 3.0, accuracy=accuracy, report_interval=0.1).q

    accuracies, kind = [1e-4, 1e-6] * 4, "upper stop, bouncing"
    alone = {accuracy: motion(build(kind), accuracy) for accuracy in accuracies}
    tables.clear()
    system, state = shared = build(kind)
    one_after_the_other = [motion(shared, accuracy) for accuracy in accuracies]
    assert len(tables) == 1
    copied = pickle.loads(pickle.dumps(system))
    also = motion((copied, copied.get_default_state()), 1e-4)
    assert len(tables) == 2 and np.array_equal(also, alone[1e-4])
    with ThreadPoolExecutor(4) as threads:
        in_threads = list(threads.map(lambda accuracy: motion((system, state.copy()), accuracy), accuracies))
    assert len(tables) == 2
    for found in (one_after_the_other, in_threads):
        assert all(np.array_equal(q, alone[accuracy]) for q, accuracy in zip(found, accuracies, strict=True))
    mb.contact.HardStopUpper(system.matter.bodies["upper"], 0, 0.01)
    motion((system, system.realize_topology()), 1e-4)
    assert [len(table.contacts) for table in tables[:3]] == [2, 2, 3]


def test_a_checkpoint_has_when_contacts_closed(tmp_path):
    """Those that close and open without end are refused as though the run had not been interrupted."""
    system, state = build("point over a rough plane")
    state.u = (0.3, 2.0)
    steppers = [mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system)) for _ in range(2)]
    steppers[0].initialize(state)
    steppers[0].step_to(2.0)
    steppers[0].save_checkpoint(tmp_path / "run")
    steppers[1].load_checkpoint(tmp_path / "run")
    first, second = (one.state.impulses.contact_times for one in steppers)
    assert first and first == second


def _noting(realize, states):
    def noting(system, state, *args, **settings):
        states.append(state)
        return realize(system, state, *args, **settings)

    return noting


def test_friction_of_what_slides_takes_no_python_into_steps(monkeypatch):
    """A mass lands on a floor, slides and sticks; its steps are compiled, and are those of a run by Python.

    It lands at v = sqrt(2 g h) and loses mu v of its speed u at once, and the rest of it in (u - mu v)^2 / (2 mu g).
    """
    system = mb.MultibodySystem("thrown")
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -10.0, 0))
    body = mb.mobilizer.Translation(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1))))
    mb.contact.PointPlane(matter.ground, (0, 1, 0), 0.0, body, (0, 0, 0), 0.0, 0.5)
    state = system.realize_topology()
    state.q, state.u = (0, 0.2, 0), (2.0, 0, 0)
    realized, realize = [], type(system).realize
    monkeypatch.setattr(type(system), "realize", _noting(realize, realized))
    compiled = mb.simulate(system, state, 1.5, report_interval=0.05)
    assert len(realized) < 40  # at events, and not in the 150 evaluations
    monkeypatch.setattr(type(system), "realize", realize)
    assert [event.kind for event in compiled.events] == ["triggered", "struck", "slid", "triggered", "stuck"]
    landed = 0.2
    assert compiled.q[-1, 0] == pytest.approx(2.0 * landed + (2.0 - 0.5 * 2.0) ** 2 / (2 * 0.5 * 10.0), abs=1e-6)
    # where an event's window is so wide that slip overruns zero by more than what counts as none, it does not turn to and fro
    for accuracy in (1e-2, 1e-3):
        coarse = mb.simulate(system, state, 1.5, report_interval=0.5, accuracy=accuracy)
        assert [event.kind for event in coarse.events] == ["triggered", "struck", "slid", "triggered", "stuck"]
        assert coarse.q[-1, 0] == pytest.approx(compiled.q[-1, 0], abs=0.1 * accuracy)
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system))
    stepper.initialize(state)
    stepper.step_to(0.3)
    contact = system.matter.unilateral_contacts[0]
    sliding = stepper.state.copy()  # a copy is realized as it is, whatever the run comes to
    stepper.step_to(1.0)
    assert contact.is_sliding(sliding) and not contact.is_sliding(stepper.state)
    for forces in (None, np.zeros(3), np.zeros(3)):
        if forces is None:
            sliding.u = sliding.u  # else with forces of elements that are there, to which friction has been added
        system.realize(sliding, mobility_forces=forces)
        assert sliding.u_dot[0] == pytest.approx(-5.0, abs=1e-9)
        # friction, which follows what presses, is none of the applied forces
        assert system.get_rigid_body_forces(sliding)[1, 1] == pytest.approx([0.0, -10.0, 0.0], abs=1e-12)
        assert system.calc_inverse_dynamics(sliding, np.zeros(3)) == pytest.approx([0.0, 10.0, 0.0], abs=1e-12)
    of_each = mb.Ensemble(system, 2, state=sliding)
    of_each.realize()
    with monkeypatch.context() as before_any_run:
        before_any_run.setattr(system, "may_slide", False)
        by_forces = of_each.calc_forward_dynamics_derivatives().mobility_forces
    assert np.allclose(by_forces, [[1.0, 0.5, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]], rtol=0.0, atol=1e-13)
    assert np.allclose(of_each.calc_inverse_dynamics(np.zeros(3)), [0.0, 10.0, 0.0], rtol=0.0, atol=1e-12)
    # what is set between steps counts from there on: that it slides, and that it is open
    for go in (lambda duration: stepper.step_to(stepper.time + duration), stepper.step):
        stepper.initialize(state)
        stepper.step_to(0.9)
        go(0.05), go(0.05)
        contact.enable_sliding(stepper.state, (0.0, 1.0), impulse=False)
        stepper.state.u = (1.0, 0, 0)
        system.realize(stepper.state)
        go(0.1), go(0.05)
        assert stepper.state.u[0] == pytest.approx(0.25, abs=1e-6)
        go(0.1)
        contact.disable(stepper.state)
        stepper.state.u = (0, 0.5, 0)
        system.realize(stepper.state)
        go(0.05), go(0.2)
        assert stepper.state.q[1] == pytest.approx(0.0, abs=1e-6) and contact.is_enabled(stepper.state)
    # of many, the one that slides has departed; the others stay in lanes
    many, realized = mb.Ensemble(system, 9, state=state), []
    many.q = [(0, 0.2 if i == 4 else 5.0, 0) for i in range(9)]
    many.step(0.3)
    monkeypatch.setattr(type(system), "realize", _noting(type(system).realize, realized))
    many.realize()
    assert np.allclose(many.u_dot, [(-5.0, 0, 0) if i == 4 else (0, -10.0, 0) for i in range(9)], rtol=0.0, atol=1e-9)
    assert len(realized) <= 1
    monkeypatch.setattr(system, "is_interpreted", True)
    by_python = mb.simulate(system, state, 1.5, report_interval=0.05)
    assert np.allclose(compiled.q, by_python.q, rtol=0.0, atol=1e-12)
    assert compiled.statistics["steps_taken"] == by_python.statistics["steps_taken"]


@pytest.mark.parametrize("kind", KINDS)
def test_many_states_pass_impacts_and_have_the_bits_of_each_alone(kind, rng, monkeypatch):
    """Contacts are handled once at each event."""
    system, state = build(kind)
    handle, handled = ContactEvents.handle_event, []
    monkeypatch.setattr(ContactEvents, "handle_event", lambda *given: handled.append(1) or handle(*given))
    n = 19
    q, u = starts(system, state, n, rng)
    q[-1] = u[-1] = 0.0  # which hangs at rest, away from all
    runs = {}
    for name, order in (
        ("as they are", np.arange(n)),
        ("shuffled", rng.permutation(n)),
        ("one", np.array([5])),
        ("few", np.arange(4)),
    ):
        handled.clear()
        ensemble = mb.Ensemble(system, len(order), state=state)
        ensemble.q, ensemble.u = q[order], u[order]
        motions = ensemble.simulate(2.0, report_interval=0.25, accuracy=1e-5)
        assert not motions.failures
        runs[name] = {int(i): motions.q[k] for k, i in enumerate(order)}
        if name == "as they are":
            steps_taken = motions.statistics["steps_taken"]
            struck = np.array([bool(motions[i].events) for i in range(n)])
            assert struck.any() and not struck.all()
            kinds_of_events = [[(one.kind, one.name) for one in motions[i].events] for i in range(n)]
            # what is closed stays in lanes, each set of closed contacts in its own
            assert motions.statistics["in_lanes"].all()
    for i in range(n):
        assert np.array_equal(runs["as they are"][i], runs["shuffled"][i])
    assert np.array_equal(runs["as they are"][5], runs["one"][5])
    of_few = len(handled)
    handled.clear()
    for i in range(4):
        alone = state.copy()
        alone.q, alone.u = q[i], u[i]
        found = mb.simulate(system, alone, 2.0, report_interval=0.25, accuracy=1e-5)
        assert np.allclose(found.q, runs["as they are"][i], rtol=0, atol=1e-9)
        assert [(one.kind, one.name) for one in found.events] == kinds_of_events[i]
        assert found.statistics["steps_taken"] == steps_taken[i]
        assert struck[i] == bool(found.events)  # not by edges that pass beside each other, say
    assert of_few == len(handled)


def test_friction_that_changes_between_steps_or_in_a_run_is_that_of_states_in_lanes_from_there_on():
    """A pendulum pushes the block on which it swings by up to 0.31 of its weight."""
    system = mb.MultibodySystem()
    matter, sphere = mb.SimbodyMatterSubsystem(system), mb.UnitInertia.sphere(0.1)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -10.0, 0))
    block = mb.mobilizer.Translation(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), sphere)))
    bob = mb.body.Rigid(mb.MassProperties(0.3, (0, 0, 0), sphere))
    mb.mobilizer.Pin(block, bob, X_BM=mb.Transform((0, 0.5, 0)))
    contact = mb.contact.PointPlane(matter.ground, (0, 1, 0), 0.0, block, (0, 0, 0), static_friction=0.6)
    ensemble = mb.Ensemble(system, 3, state=system.realize_topology())
    q = ensemble.q.copy()
    q[:, 3] = 1.5, 1.45, 1.4
    ensemble.q = q
    start, alone = ensemble.copy(), [ensemble.get_state(i) for i in range(3)]
    for friction in (0.6, 0.2):
        contact.set_friction(friction)
        alone = [mb.simulate(system, one, 0.3, accuracy=1e-6).states[-1] for one in alone]
        for _ in range(3):
            ensemble.step(0.1, accuracy=1e-6)
        assert (ensemble.u[:, 0] != 0.0).all() == (friction == 0.2)
    assert np.allclose(ensemble.u, [one.u for one in alone], rtol=0.0, atol=1e-5)

    class Wears(mb.event.PeriodicHandler):
        def handle_event(self, state, *_):
            contact.set_friction(0.6 if state.time < 0.1 else 0.2)

    system.add_event_handler(Wears(0.1))
    runs = [mb.simulate(system, start.get_state(i), 0.5, accuracy=1e-6) for i in range(3)]
    motions = start.simulate(0.5, accuracy=1e-6)
    assert all(one.u[-1, 0] != 0.0 for one in runs)
    assert np.allclose(motions.u[:, -1], [one.u[-1] for one in runs], rtol=0.0, atol=1e-9)


def plate_on_redundant_points():
    """A plate on four points in a line, with a mass between springs on it."""
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -10.0, 0))
    sphere, brick = mb.UnitInertia.sphere(0.1), mb.UnitInertia.brick((1.0, 0.1, 1.0))
    plate = mb.mobilizer.Planar(matter.ground, mb.body.Rigid(mb.MassProperties(0.5, (0, 0, 0), brick)))
    slide = mb.mobilizer.Slider(plate, mb.body.Rigid(mb.MassProperties(5.0, (0, 0, 0), sphere)))
    mb.force.MobilityLinearSpring(forces, slide, 0, 50.0, 0.0)
    for x in (-1.0, -0.9, 0.9, 1.0):
        mb.contact.PointPlane(matter.ground, (0, 1, 0), 0.0, plate, (x, 0, 0))
    state = system.realize_topology()
    state.q = (0.0, 0.0, 1e-3, 0.0)
    return system, state


def test_what_only_seems_to_let_go_of_a_plate_on_redundant_points_does_not():
    """Of more points than it takes the least multipliers pull at the far end where the load is beyond 0.905, and it tips at 1.

    The mass goes to and fro, up to 10 / 11 of amplitudes of 0.9 to 1.15.
    """
    system, state = plate_on_redundant_points()
    speeds = np.sqrt(50.0 * 5.5 / 2.5) * np.linspace(0.9, 1.15, 6)
    ensemble = mb.Ensemble(system, 6, state=state)
    ensemble.u = np.column_stack([np.zeros((6, 3)), speeds])
    motions = ensemble.simulate(0.5, report_interval=0.1, accuracy=1e-5)
    assert not motions.failures
    opened = []
    for i, speed in enumerate(speeds):
        alone = state.copy()
        alone.u = (0, 0, 0, speed)
        found = mb.simulate(system, alone, 0.5, report_interval=0.1, accuracy=1e-5)
        assert np.allclose(found.q, motions.q[i], rtol=0, atol=1e-4)
        assert [(one.kind, one.name) for one in found.events] == [(one.kind, one.name) for one in motions[i].events]
        opened.append(any(one.kind == "opened" for one in found.events))
    assert opened == [False] * 5 + [True]
    assert motions.statistics["in_lanes"].tolist() == [True, True, False, False, False, False]


def test_arrays_in_which_it_is_found_whether_forces_hold_are_lent_to_no_other_run_meanwhile(monkeypatch):
    """Runs in other threads share what handles contacts, and so these."""
    find, lent = ContactEvents._second_rates, []

    def find_meanwhile(events, state, contacts, problem):
        lent.append(any(one is problem.space for one in events._spaces))
        return find(events, state, contacts, problem)

    monkeypatch.setattr(ContactEvents, "_second_rates", find_meanwhile)
    system, state = plate_on_redundant_points()
    state.u = (0.0, 0.0, 0.0, 11.0)
    mb.simulate(system, state, 0.5, accuracy=1e-5)
    assert lent and not any(lent)


@pytest.mark.filterwarnings("ignore:contacts are violated")
def test_bricks_that_land_slide_and_rest_on_redundant_corners_do_what_each_does_alone():
    """Up to four corners slide at once, of which it takes three; what each does is what it does alone."""
    system = mb.MultibodySystem()
    matter, size = mb.SimbodyMatterSubsystem(system), (0.2, 0.15, 0.1)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, 0, -9.81))
    brick = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.brick(size))))
    stone = mb.contact.Material(1e9, static_friction=0.4)
    for body, shape in ((matter.ground, mb.contact.HalfSpace()), (brick, mb.contact.Brick(size))):
        body.add_contact_surface(mb.contact.Surface(shape, stone))
    mb.contact.rigid(system)
    state = system.realize_topology()
    q, u, rng = np.tile((1.0, 0, 0, 0, 0, 0, 0.12), (6, 1)), np.zeros((6, 6)), np.random.default_rng(3)
    q[:, 1:4], u[:, 3:5] = rng.normal(0, 0.02, (6, 3)), rng.normal(0, 1.0, (6, 2))
    q[:, :4] /= np.linalg.norm(q[:, :4], axis=1, keepdims=True)
    found = []
    for order in (np.arange(6), np.arange(6)[::-1]):
        ensemble = mb.Ensemble(system, 6, state=state)
        ensemble.q, ensemble.u = q[order], u[order]
        found.append(ensemble.simulate(0.5, report_interval=0.1, accuracy=1e-5))
    motions = found[0]
    assert not motions.failures and motions.statistics["in_lanes"].any()
    assert np.array_equal(motions.q, found[1].q[::-1])
    for i in range(2):
        alone = state.copy()
        alone.q, alone.u = q[i], u[i]
        one = mb.simulate(system, alone, 0.5, report_interval=0.1, accuracy=1e-5)
        assert np.allclose(one.q, motions.q[i], rtol=0, atol=1e-6)
        assert [(event.kind, event.name) for event in one.events] == [(event.kind, event.name) for event in motions[i].events]
        assert {"slid", "stuck"} <= {event.kind for event in one.events}


def test_states_that_begin_in_touch_or_within_rounding_of_it_begin_alone():
    system, state = build("upper stop, bouncing")
    q, u = np.zeros((4, 2)), np.zeros((4, 2))
    q[:, 1] = 0.3, 0.3 - 1e-13, 0.3 + 1e-13, 0.1
    u[:, 1] = 1.0, 1.0, 1.0, 0.0
    ensemble = mb.Ensemble(system, 4, state=state)
    ensemble.q, ensemble.u = q, u
    motions = ensemble.simulate(0.05, fixed_step_size=0.01, report_interval=0.05)
    assert motions.statistics["in_lanes"].tolist() == [False, False, False, True]
    assert (motions.q[:3, -1, 1] < 0.3).all()  # struck, and thrown back
    assert not motions.failures


@pytest.mark.parametrize("kind", KINDS)
def test_steps_of_many_pass_impacts_whatever_the_order(kind, rng):
    system, state = build(kind)
    n = 11
    q, u = starts(system, state, n, rng)
    order = rng.permutation(n)
    ensembles = []
    for which in (np.arange(n), order):
        ensemble = mb.Ensemble(system, n, state=state)
        ensemble.q, ensemble.u = q[which], u[which]
        for _ in range(20):
            ensemble.step(0.05, fixed_step_size=0.01, accuracy=1e-4)
        assert not ensemble.failures
        ensembles.append(ensemble)
    assert np.array_equal(ensembles[0].q[order], ensembles[1].q)
    contact = system.matter.unilateral_contacts[0]
    for i in range(n):
        one = ensembles[0].get_state(i)
        system.realize(one, mb.Stage.POSITION)
        assert contact.calc_gap(one) > -1e-4  # a wall that nothing has passed
        if i < 3:
            alone = state.copy()
            alone.q, alone.u = q[i], u[i]
            stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-4, fixed_step_size=0.01))
            stepper.initialize(alone)
            for _ in range(20):
                stepper.step(0.05)
            assert np.allclose(stepper.state.q, ensembles[0].q[i], rtol=0, atol=1e-3)
