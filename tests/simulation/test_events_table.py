"""`trajectory.events`: what happened in a run, when, and what it did to the energy; in files, resumed runs, ensembles."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod.simulation.event_log import MOST_KEPT
from mobod.value.stage import Stage

G, HEIGHT, E = 9.81, 1.3, 0.7


def bouncing(**settings):
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -G, 0))
    ball = mb.mobilizer.Translation(matter.ground, mb.body.Particle(2.0), name="ball")
    system.add_event_handler(mb.event.ImpactWhen(mb.event.Coordinate(ball, 1), E, name="floor", **settings))
    state = system.realize_topology()
    state.q, state.u = (0, HEIGHT, 0), (1, 0, 0)
    return system, state


def test_impacts_of_a_ball_have_the_times_impulses_and_energies_of_the_closed_form():
    system, state = bouncing()
    events = mb.simulate(system, state, 2.5, accuracy=1e-9).events
    hits, struck = events[events["kind"] == "triggered"], events[events["kind"] == "struck"]
    v, times = np.sqrt(2.0 * G * HEIGHT), [np.sqrt(2.0 * HEIGHT / G)]
    while times[-1] + 2.0 * E ** len(times) * v / G < 2.5:
        times.append(times[-1] + 2.0 * E ** len(times) * v / G)
    speeds = v * E ** np.arange(len(times))
    assert_allclose(hits["time"], times, atol=1e-8)
    assert set(hits["name"]) == {"floor"} and set(hits["direction"]) == {"falling"}
    assert hits[0].witness == "<Coordinate 1 of 'ball' at 0>" and not hits["energy"].any()
    assert_allclose([one.impulse.item() for one in struck], 2.0 * (1.0 + E) * speeds, atol=1e-7)
    assert_allclose(struck["energy"], -(1.0 - E**2) * speeds**2, atol=1e-6)


class Setting(mb.event.ScheduledHandler):
    """Does one thing after the other, at the times given."""

    def __init__(self, times, acts, name="setting"):
        super().__init__(name=name)
        self.times, self.acts = times, acts

    def get_next_event_time(self, state, include_current_time):
        later = [t for t in self.times if t > state.time or (include_current_time and t == state.time)]
        return min(later, default=np.inf)

    def handle_event(self, state, accuracy):
        self.acts[self.times.index(state.time)](state)


@pytest.mark.filterwarnings("ignore:.*position error")
@pytest.mark.filterwarnings("ignore:.*singular")
@pytest.mark.parametrize("bare", [False, True], ids=["impulses", "bare"])
def test_what_random_handlers_do_to_the_energy_is_in_the_table_and_in_the_audit(make, bare):
    """A conservative tree: from the first row to the last its energy changes by what events say, and by nothing else."""
    model = make.tree(gravity=True)
    system, rng, bodies = model.system, model.rng, [body for body in model.bodies[1:] if body.facts.num_u]
    chosen = [bodies[i] for i in rng.permutation(len(bodies))[:3]]
    single = chosen[0]
    hold = mb.constraint.ConstantSpeed(single, 0, 0.3, disabled_by_default=True)
    model.made()
    model.randomize()

    def kick(state):
        state.u = state.u + 0.3 * rng.standard_normal(len(state.u))

    def lift(state):
        body = next(body for body in bodies if body.facts.num_u == 1)
        q = state.q.copy()
        q[body.q_slice(state)] += 0.1
        state.q = q

    settings = {"impulse": False} if bare else {}
    acts = [
        lambda state: hold.enable(state, **settings),
        kick,
        lambda state: chosen[1].lock(state, mb.Motion.Level.VELOCITY, **settings),
        hold.disable,
        lift,
        lambda state: chosen[1].unlock(state),
    ]
    times = [0.02 * (k + 1) for k in range(len(acts))]
    system.add_event_handler(Setting(times, acts))
    start = model.state.copy()
    motion = mb.simulate(system, start, 0.15, accuracy=1e-9, report_interval=0.05, audit="steps")
    scale = max(abs(motion.energy).max(), 1.0)
    by_motions = motion.audit.work.get("motions", 0.0) + motion.audit.work.get("constraints", 0.0)
    change = motion.energy[-1] - motion.energy[0]
    assert abs(change - motion.events["energy"].sum() - by_motions) < 1e-6 * scale
    assert motion.audit.energy_error < 1e-6 * scale
    assert motion.audit.unaccounted == []
    assert [one.name for one in motion.events if one.kind == "scheduled"] == ["setting"] * len(acts)
    assert motion.events["time"].tolist() == sorted(motion.events["time"])
    kinds = [one.kind for one in motion.events if one.kind != "scheduled"]
    assert kinds == ["enabled", "locked", "disabled", "unlocked"]
    locked = motion.events[motion.events["kind"] == "locked"][0]
    assert locked.name == chosen[1].name and len(locked.impulse) == (0 if bare else chosen[1].facts.num_u)


def test_each_handler_of_an_instant_has_the_energy_that_it_brings():
    """The first and the third set speeds, the second does nothing."""
    system, state = bouncing()

    def speed(v):
        def act(state):
            state.u = (v, *state.u[1:])

        return act

    for name, act in (("first", speed(3.0)), ("second", lambda state: None), ("third", speed(2.0))):
        system.add_event_handler(Setting([0.1], [act], name))
    state = system.realize_topology()
    state.q, state.u = (0, HEIGHT, 0), (1, 0, 0)
    events = mb.simulate(system, state, 0.2, accuracy=1e-9).events
    found = {one.name: one.energy for one in events if one.kind == "scheduled"}
    assert found == {"first": pytest.approx(8.0), "second": 0.0, "third": pytest.approx(-5.0)}


def damped_satellite(**settings):
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    bus = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(10.0, (0, 0, 0), mb.Inertia(5, 6, 7))), name="bus")
    wing = mb.body.Rigid(mb.MassProperties(2.0, (0, 1, 0), mb.Inertia(3, 0.5, 3)))
    panel = mb.mobilizer.Pin(bus, wing, X_PF=mb.Transform((0.2, 1, 0)), name="panel")
    forces = mb.GeneralForceSubsystem(system)
    mb.force.MobilityLinearSpring(forces, panel, 0, 2.0, 2.0)
    mb.force.MobilityLinearDamper(forces, panel, 0, 0.2)
    catch = mb.event.LockWhen(panel, mb.event.Coordinate(panel, 0, np.pi / 2), name="catch", **settings)
    system.add_event_handler(catch)
    return system, system.realize_topology()


@pytest.mark.parametrize("audit", ["reports", "steps"])
def test_the_audit_of_a_latch_books_what_it_took_and_has_no_warnings(audit):
    """The same whether the run kept account of each step, or is repeated for that."""
    system, state = damped_satellite()
    motion = mb.simulate(system, state, 5.0, accuracy=1e-7, report_interval=0.5, audit=audit)
    found = motion.audit
    lost = motion.events[motion.events["kind"] == "locked"]["energy"].item()
    assert found.work["panel (locked)"] == lost < -3.0
    assert found.energy_error < 1e-6 and not found.work_is_sampled
    assert found.warnings == [] and found.unaccounted == []
    assert abs(found.energy_change - sum(found.work.values())) < 1e-6
    assert found.angular_momentum_change < 1e-6


def test_the_audit_says_which_event_has_made_momentum_and_not_that_the_accuracy_is_too_loose():
    system, state = damped_satellite(impulse=False)
    found = mb.simulate(system, state, 5.0, accuracy=1e-7).audit
    assert found.angular_momentum_change > 0.1 and len(found.warnings) == 2
    for text in found.warnings:
        assert "'panel' was locked at time 1.25" in text and "impulse=False" in text and "smaller accuracy" not in text


def test_work_is_followed_through_the_steps_of_a_run_with_users_handlers():
    """A handler that moves a body with a damper and a spring of the user's own: what it stores is the event's, not work."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    cart = mb.mobilizer.Slider(
        matter.ground, mb.body.Rigid(mb.MassProperties(2.0, (0, 0, 0), mb.Inertia(1, 1, 1))), name="cart"
    )
    mb.force.MobilityLinearDamper(forces, cart, 0, 0.5)
    mb.force.MobilityPolynomialSpring(forces, cart, 0, 3.0, 0.0, 1.0, 0.0)

    def act(state):
        cart.set_q(state, cart.get_q(state) + 0.4)

    system.add_event_handler(Setting([0.5, 1.0], [act, act]))
    state = system.realize_topology()
    cart.set_u(state, 1.0)
    motion = mb.simulate(system, state, 2.0, accuracy=1e-9, audit="steps")
    found = motion.audit
    assert abs(found.energy_change - sum(found.work.values())) < 1e-7
    assert found.energy_error < 1e-7 and found.work["setting"] != 0.0
    sampled = mb.simulate(system, state, 2.0, accuracy=1e-9, report_interval=1e-3).audit
    assert sampled.work_is_sampled and sampled.energy_error < 1e-3
    assert_allclose(sampled.work["setting"], found.work["setting"], rtol=1e-9)


def test_reporters_subsystems_and_directions_are_told():
    system, state = mb.examples.double_pendulum.build()
    arm = system.matter.bodies["lower"]

    class Look(mb.event.TriggeredReporter):
        def get_value(self, state):
            return arm.get_angle(state)

        def handle_event(self, state):
            pass

    class Watching(mb.Subsystem):
        def realize_topology(self, state):
            self.allocate_event_triggers_by_stage(state, Stage.POSITION, 1)

        def realize_position(self, state):
            self.upd_event_triggers_by_stage(state, Stage.POSITION)[0] = arm.get_angle(state)

        def calc_event_trigger_info(self, state):
            return [mb.event.TriggerInfo(7)]

        def handle_events(self, state, cause, ids, accuracy):
            return None

    system.add_event_reporter(Look(Stage.POSITION, name="look"))
    Watching(system, "watching")
    state = system.realize_topology()
    state.q = 1.0, 0.5
    motion = mb.simulate(system, state, 3.0, accuracy=1e-6)
    looks, others = (motion.events[motion.events["name"] == name] for name in ("look", "watching"))
    assert len(looks) >= 2 and len(looks) == len(others) == len(motion.events) / 2
    assert_allclose(looks["time"], others["time"], atol=1e-7)
    slopes = np.interp(looks["time"], motion.time, motion.u[:, 1])
    assert looks["direction"].tolist() == ["rising" if slope > 0.0 else "falling" for slope in slopes]
    assert set(others["witness"]) == {"event 7"}


def test_contacts_tell_when_they_are_struck_slide_and_stick():
    """A ball of radius 1 and inertia 0.4 m r^2 that falls while it moves along: slip falls by 3.5 mu (v + g t)."""
    height, speed, mu = 0.05, 5.0, 0.1
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.UniformGravity(mb.GeneralForceSubsystem(system), matter, (0, 0, -G))
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(0.4, 0.4, 0.4)))
    ball = mb.mobilizer.Free(matter.ground, body, name="ball")
    mb.contact.SpherePlane(matter.ground, (0, 0, 1), 0.0, ball, (0, 0, 0), 1.0, 0.0, static_friction=mu, name="floor")
    state = system.realize_topology()
    ball.set_q_to_fit_translation(state, (0, 0, 1.0 + height))
    ball.set_u_to_fit_linear_velocity(state, (speed, 0, 0))
    motion = mb.simulate(system, state, 2.0, accuracy=1e-7)
    events = motion.events
    words = [(one.name, one.kind, one.direction, one.witness) for one in events]
    assert words == [
        ("floor", "triggered", "falling", "gap"),
        ("floor", "struck", "", ""),
        ("floor", "slid", "", ""),
        ("floor", "triggered", "falling", "slip"),
        ("floor", "stuck", "", ""),
    ]
    fall = np.sqrt(2.0 * G * height)
    begins = fall / G
    ends = begins + (speed / 3.5 / mu - fall) / G
    assert_allclose(events["time"], [begins] * 3 + [ends] * 2, atol=1e-5)
    normal, *friction = events[1].impulse
    assert_allclose([normal, np.hypot(*friction)], [fall, mu * fall], atol=1e-5)
    after = speed - mu * fall, 2.5 * mu * fall
    lost = 0.5 * (speed**2 + fall**2 - after[0] ** 2 - 0.4 * after[1] ** 2)
    assert_allclose(events["energy"].sum(), -lost, atol=1e-5)


def test_contacts_that_only_open_at_a_handlers_event_have_one_row():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -G, 0))
    ball = mb.mobilizer.Translation(matter.ground, mb.body.Particle(2.0), name="ball")
    mb.contact.PointPlane(matter.ground, (0, 1, 0), 0.0, ball, (0, 0, 0), name="floor")

    class Throw(mb.event.PeriodicHandler):
        def handle_event(self, state, accuracy):
            if state.time > 0.0:
                state.u = 0.0, 1.0, 0.0

    system.add_event_handler(Throw(1.0, name="throw"))
    events = mb.simulate(system, system.realize_topology(), 1.1).events
    thrown = events[events["time"] == 1.0]
    assert [(one.name, one.kind) for one in thrown] == [("throw", "scheduled"), ("floor", "opened")]
    assert_allclose(thrown["energy"], [1.0, 0.0], atol=1e-9)


def test_between_steps_of_a_stepper_too_and_only_so_many_are_kept():
    system, state = mb.examples.double_pendulum.build()
    arm = system.matter.bodies["lower"]
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system))
    with pytest.raises(mb.TopologyError, match="initialize"):
        _ = stepper.events
    stepper.initialize(state)
    stepper.step_to(0.3)
    arm.lock(stepper.state)
    assert [(one.time, one.name, one.kind) for one in stepper.events] == [(0.3, "lower", "locked")]
    stepper.step_to(0.6)
    arm.unlock(stepper.state)
    assert stepper.events["kind"].tolist() == ["locked", "unlocked"] and len(stepper.events[0].impulse) == 1
    log = stepper.log
    for k in range(2 * MOST_KEPT):
        log.add(float(k), ("a", "b", "", ""))
    assert len(stepper.events) <= 2 * MOST_KEPT and stepper.events["time"][-1] == 2 * MOST_KEPT - 1
    stepper.initialize(state)
    assert len(stepper.events) == 0


def test_a_handler_that_raises_leaves_no_event_and_an_event_that_changes_nothing_is_there():
    system, state = mb.examples.double_pendulum.build()

    class Raise(mb.event.ScheduledHandler):
        def get_next_event_time(self, state, include_current_time):
            return 0.5 if state.time < 0.5 or include_current_time else np.inf

        def handle_event(self, state, accuracy):
            system.matter.bodies["lower"].lock(state)
            raise ArithmeticError("no")

    class Nothing(mb.event.PeriodicHandler):
        def handle_event(self, state, accuracy):
            pass

    system.add_event_handler(Nothing(0.2))
    system.add_event_handler(Raise())
    with pytest.raises(ArithmeticError) as caught:
        mb.simulate(system, state, 1.0)
    assert caught.value.trajectory.events["time"].round(9).tolist() == [0.0, 0.2, 0.4]
    assert not caught.value.trajectory.events["energy"].any()


# ---------------------------------------------------------------------------------------------- files and resumed runs


class Kick(mb.event.PeriodicHandler):
    def handle_event(self, state, accuracy):
        state.u = 1.05 * state.u


def kicked():
    system, state = bouncing(at_rest="lock")
    system.add_event_handler(Kick(0.21))
    return system, state


def same(one, other):
    return np.array_equal(one.rows, other.rows, equal_nan=True) and one.labels == other.labels


@pytest.mark.parametrize("extension", [".npz", ".h5", ".parquet"])
def test_files_keep_them(tmp_path, extension):
    pytest.importorskip({".h5": "h5py", ".parquet": "pyarrow"}.get(extension, "numpy"))
    system, state = kicked()
    motion = mb.simulate(system, state, 1.5)
    motion.save(tmp_path / f"motion{extension}")
    read = mb.Trajectory.load(tmp_path / f"motion{extension}", system=system)
    assert len(read.events) > 8 and same(read.events, motion.events)
    assert read.audit.work["floor (struck)"] == motion.audit.work["floor (struck)"]


def test_a_recording_and_a_resumed_run_have_the_same_table(tmp_path):
    pytest.importorskip("h5py")
    # so long that progress is told on the way, of a run in one call
    whole = mb.simulate(*kicked(), 300.0, report_interval=1e-2)
    files = {"record_to": tmp_path / "run.h5", "checkpoint": tmp_path / "run.checkpoint"}

    def stop(time, end):
        if time > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mb.simulate(*kicked(), 300.0, report_interval=1e-2, progress=stop, **files)
    part = mb.Trajectory.load(files["record_to"]).events
    assert 2 < len(part) < len(whole.events) and part.labels == whole.events.labels[: len(part.labels)]
    assert np.array_equal(part.rows, whole.events.rows[: len(part)], equal_nan=True)
    rest = mb.simulate(*kicked(), 300.0, report_interval=1e-2, resume=True, **files)
    assert same(rest.events, whole.events)
    assert same(mb.Trajectory.load(files["record_to"]).events, whole.events)


def test_events_after_the_last_row_of_a_run_that_failed_are_there(tmp_path):
    pytest.importorskip("h5py")
    system, state = kicked()

    class Fail(mb.event.ScheduledHandler):
        def get_next_event_time(self, state, include_current_time):
            return 0.9 if state.time < 0.9 or include_current_time else np.inf

        def handle_event(self, state, accuracy):
            raise ArithmeticError("no")

    system.add_event_handler(Fail())
    with pytest.raises(ArithmeticError) as caught:
        mb.simulate(system, state, 1.5, report_interval=0.5, record_to=tmp_path / "run.h5")
    events = caught.value.trajectory.events
    assert events["time"][-1] > 0.8 and caught.value.trajectory.time[-1] == 0.5
    assert same(mb.Trajectory.load(tmp_path / "run.h5").events, events)


# ---------------------------------------------------------------------------------------------- ensembles, pages, tables


def test_each_state_of_an_ensemble_has_those_of_its_own_run(tmp_path, rng):
    pytest.importorskip("h5py")
    system, state = bouncing(at_rest="lock")
    ensemble = mb.Ensemble(system, 9, state=state)
    ensemble.q = state.q + rng.uniform(0.0, 1.0, (9, 3)) * (0, 1, 0)
    singles = [ensemble.get_state(i) for i in range(9)]
    motions = ensemble.simulate(1.5, accuracy=1e-8, record_to=tmp_path / "many.h5")
    read = mb.EnsembleTrajectory.load(tmp_path / "many.h5")
    assert same(read.events, motions.events) and set(motions.events["state"]) == set(range(9))
    for i, single in enumerate(singles):
        alone = mb.simulate(system, single, 1.5, accuracy=1e-8)
        own = motions.events[motions.events["state"] == i]
        assert own["name"].tolist() == alone.events["name"].tolist()
        assert_allclose(own["time"], alone.events["time"], atol=1e-9)
        assert_allclose(own["energy"], alone.events["energy"], atol=1e-7)
        assert same(motions[i].events, read[i].events) and len(motions[i].events) == len(own)
    assert motions[4].audit.work["floor (struck)"] < 0.0 and motions[4].audit.unaccounted == []
    assert motions[[4, 2]].events["state"].tolist() == [0] * len(motions[4].events) + [1] * len(motions[2].events)


def test_a_run_that_a_function_ends_says_so_in_lanes_as_alone():
    system, state = mb.examples.double_pendulum.build()
    ensemble = mb.Ensemble(system, 4, state=state)
    ensemble.q = state.q + np.arange(4)[:, None] * 0.1
    events = ensemble.simulate(2.0, accuracy=1e-7, terminate=lambda t, q, u: t - 0.5).events
    assert events["state"].tolist() == [0, 1, 2, 3] and set(events["name"]) == {"terminate"}
    assert_allclose(events["time"], 0.5, atol=1e-6)


def test_tables_columns_and_texts():
    pandas = pytest.importorskip("pandas")
    system, state = kicked()
    motion = mb.simulate(system, state, 1.0)
    frame = motion.events.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == len(motion.events)
    assert frame["name"].tolist() == motion.events["name"].tolist()
    assert list(frame.columns) == ["time", "name", "kind", "direction", "witness", "energy", "impulse"]
    text = str(motion.events)
    assert text.count("\n") == len(motion.events) and "<Coordinate 1 of 'ball' at 0>" in text
    assert "&lt;Coordinate" in motion.events._repr_html_()
    assert motion.events[-1].time == motion.events["time"][-1] > motion.events[0].time
    assert len(motion.events[:2]) == 2 and str(motion.events[:0]) == "no events"
    with pytest.raises(KeyError, match="no column 'when'"):
        motion.events["when"]
    with pytest.raises(IndexError, match="no number 99"):
        motion.events[99]
    with pytest.raises(ValueError, match="labels"):
        mb.Trajectory(time=[0.0], q=[[0]], u=[[0]], energy=[0], coordinate_names="q", speed_names="u", events=[[0, 1, 0, 0]])
    assert len(mb.Trajectory(time=[0.0], q=[[0]], u=[[0]], energy=[0], coordinate_names="q", speed_names="u").events) == 0
