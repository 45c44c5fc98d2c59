"""Ensemble.simulate: many motions, each as `mobod.simulate` makes it of the state alone."""

import pickle
import tracemalloc

import numpy as np
import pytest

import mobod as mb
from mobod.algebra import log, sin


def spread(example, n, seed, size=0.3, threads=1):
    """An example's system and an ensemble around its state."""
    print("seed", seed)
    rng = np.random.default_rng(seed)
    system, state = getattr(mb.examples, example).build()
    ensemble = mb.Ensemble(system, n, state=state, threads=threads)
    ensemble.q = state.q + rng.uniform(-size, size, (n, len(state.q)))
    ensemble.u = state.u + rng.uniform(-1, 1, (n, len(state.u)))
    return ensemble, system, state, rng


def alone(ensemble, i, time, **settings):
    """The motion of one of its states."""
    state = ensemble.get_state(i)
    return mb.simulate(state.system, state, time, **settings)


@pytest.mark.filterwarnings("ignore:.*constraints ask for accelerations")
@pytest.mark.parametrize(
    ("example", "settings"),
    [
        ("double_pendulum", {"accuracy": 1e-5}),
        ("double_pendulum", {"fixed_step_size": 0.01}),
        ("tumbling_handle", {"accuracy": 1e-3}),
        ("four_bar", {"accuracy": 1e-4}),
        ("four_bar", {"fixed_step_size": 0.01}),
        ("double_pendulum", {"integrator": "Verlet", "accuracy": 1e-4}),
        ("bricard", {"accuracy": 1e-4}),
    ],
    ids=lambda value: value if isinstance(value, str) else "".join(value),
)
def test_each_motion_is_that_of_the_state_alone(example, settings, close):
    """Steps and all: where constraints are redundant, where quaternions are normalized, where steps are fixed."""
    ensemble, system, _, _ = spread(example, 11, 3, 0.1)
    begun = ensemble.copy()
    motions = ensemble.simulate(0.6, report_interval=0.07, **settings)
    assert len(motions) == 11
    for i in np.flatnonzero(~motions.failed)[:4]:
        fixed = settings.get("fixed_step_size")
        kept = settings if fixed is None else {"integrator": mb.integrator.RungeKuttaMerson(system, fixed_step_size=fixed)}
        one, motion = alone(begun, int(i), 0.6, report_interval=0.07, **kept), motions[i]
        assert np.array_equal(one.time, motion.time)
        assert one.steps_taken == motion.steps_taken
        assert one.evaluations == motion.evaluations
        close(motion.q, one.q, 1e-9)
        close(motion.u, one.u, 1e-8)
        close(motion.energy, one.energy, 1e-8)
    ended = ~motions.failed
    assert np.array_equal(ensemble.q[ended], motions.q[ended, -1])
    assert np.array_equal(ensemble.time[ended], np.full(ended.sum(), 0.6))


@pytest.mark.parametrize(("example", "method"), [("double_pendulum", "Verlet"), ("bricard", "RungeKuttaMerson")])
def test_bits_depend_on_nothing_but_the_state(example, method):
    """In Bricard's linkage some lanes drop redundant equations where others do not; Verlet iterates in some lanes longer."""
    ensemble, system, state, rng = spread(example, 30, 5, 0.1)
    q, u = ensemble.q.copy(), ensemble.u.copy()
    settings = {"report_interval": 0.1, "accuracy": 1e-4, "integrator": method}
    whole = ensemble.simulate(0.5, **settings)
    order = rng.permutation(30)[:21]
    some = mb.Ensemble(system, 21, state=state, threads=2)
    some.q, some.u = q[order], u[order]
    part = some.simulate(0.5, **settings)
    assert np.array_equal(part.q, whole.q[order], equal_nan=True)
    assert np.array_equal(part.failed, whole.failed[order])


def test_states_begin_at_times_of_their_own_and_have_parameters_of_their_own(close):
    ensemble, system, _, _ = spread("double_pendulum", 10, 7)
    body = system.matter.bodies[1]
    ensemble.time = np.linspace(0.0, 2.0, 10)
    ensemble.set_each(body.set_inboard_frame, [mb.Transform((0.0, y, 0.0)) for y in np.linspace(0, 1, 10)])
    ensemble.set_each(system.all_forces()[0].set_magnitude, np.linspace(5.0, 15.0, 10))
    begun = ensemble.copy()
    motions = ensemble.simulate(0.5, report_interval=0.25)
    assert motions.time.shape == (10, 3)
    for i in (0, 4, 9):
        one = alone(begun, i, 0.5, report_interval=0.25, accuracy=1e-3)
        assert np.array_equal(motions.time[i], one.time)
        close(motions[i].u, one.u, 1e-9)
        close(motions[i].energy, one.energy, 1e-9)


def test_prescribed_motions_and_locks_are_followed(make, close):
    model = make.tree(5, (mb.mobilizer.Pin, mb.mobilizer.Ball, mb.mobilizer.Slider, mb.mobilizer.Weld, mb.mobilizer.Universal))
    pin = next(body for body in model.bodies[1:] if isinstance(body, mb.mobilizer.Pin))
    mb.motion.Sinusoid(pin, mb.Motion.Level.POSITION, 0.5, 2.0, 0.1)
    state = model.made().state
    q = [model.randomize(mb.Stage.MODEL, state=state.copy()).q for _ in range(9)]
    next(body for body in model.bodies[1:] if isinstance(body, mb.mobilizer.Universal)).lock(state)
    ensemble = mb.Ensemble(model.system, 9, state=state)
    ensemble.q = q
    begun = ensemble.copy()
    motions = ensemble.simulate(0.3, report_interval=0.07, accuracy=1e-5)
    for i in (0, 4, 8):
        one = alone(begun, i, 0.3, report_interval=0.07, accuracy=1e-5)
        assert one.steps_taken == motions[i].steps_taken
        close(motions[i].q, one.q, 1e-10)
        close(motions[i].u, one.u, 1e-10)


def test_quantities_are_those_of_simulate(close):
    ensemble, system, _, _ = spread("double_pendulum", 3, 41)
    begun = ensemble.copy()
    record = {"tip": lambda state: system.matter.bodies[-1].find_station_location_in_ground(state, (0, 0, 0))}
    motions = ensemble.simulate(0.2, report_interval=0.1, record=record, accuracy=1e-4)
    assert motions.quantities["tip"].shape == (3, 3, 3)
    one = alone(begun, 2, 0.2, report_interval=0.1, record=record, accuracy=1e-4)
    close(motions[2].quantities["tip"], one.quantities["tip"], 1e-12)
    close(motions[1:].quantities["tip"][1], one.quantities["tip"], 1e-12)


def test_what_depends_on_efforts_of_controllers_is_not_recorded():
    """Rows have no efforts: what they act on is refused, and the rest is as without them."""
    system, _ = mb.examples.double_pendulum.build()
    law = mb.control.PD(system.forces, [(system.matter.bodies[-1], 0)], kp=50.0, kd=1.0, sample_time=0.05, target=0.4)
    ensemble = mb.Ensemble(system, 2, state=system.realize_topology())
    driven = spread("double_pendulum", 2, 5)[0]
    laws = (ensemble, {}), (driven, {"controller": lambda t, q, u: (-q[0], -u[1])})
    for one, more in laws:
        for record in (["u_dot"], ["kinetic_energy", "reactions"]):
            with pytest.raises(ValueError, match=f"cannot have '{record[-1]}' where controllers act"):
                one.simulate(0.02, record=record, **more)
        assert np.isfinite(one.simulate(0.02, record=["kinetic_energy"], **more).quantities["kinetic_energy"]).all()
    with pytest.raises(ValueError, match="cannot have 'effort'"):
        ensemble.simulate(0.02, record={"effort": law.get_efforts})


def test_what_one_state_does_harms_no_other():
    ensemble, _, _, _ = spread("double_pendulum", 9, 11)
    other = ensemble.copy()
    ensemble.upd_u()[5, 0] = np.inf
    motions, sound = ensemble.simulate(0.3, report_interval=0.1), other.simulate(0.3, report_interval=0.1)
    assert motions.failed.tolist() == ensemble.failed.tolist() == [i == 5 for i in range(9)]
    assert motions.failures[5].time == 0.0
    assert "speed" in motions.failures[5].reason or "u" in motions.failures[5].reason
    rest = np.arange(9) != 5
    assert np.array_equal(motions.q[rest], sound.q[rest])
    assert np.isnan(motions.q[5]).all()
    assert len(motions[5]) == 0


def test_states_that_cannot_begin_are_left_as_they_were():
    """Whether the reason was looked for, as it is of some, or not."""
    system, state = mb.examples.four_bar.build()
    ensemble = mb.Ensemble(system, 12, state=state)
    q = np.tile([-2.5, 2.0, 1.72], (12, 1))  # the rod is out of reach
    q[3] = state.q
    ensemble.q = q
    motions = ensemble.simulate(0.1, accuracy=1e-4)
    assert motions.failed.tolist() == [i != 3 for i in range(12)] and set(motions.failures) == set(range(12)) - {3}
    assert np.array_equal(ensemble.q[motions.failed], q[motions.failed]) and not motions.end_time[motions.failed].any()


def test_some_of_the_motions():
    ensemble, _, _, _ = spread("double_pendulum", 6, 13)
    motions = ensemble.simulate(0.2, report_interval=0.1)
    assert len(motions[2:5]) == 3
    assert np.array_equal(motions[2:5][1].q, motions[3].q)
    assert np.array_equal(motions[np.array([5, 0])].q[0], motions.q[5])
    assert np.array_equal(motions[-1].q, motions.q[5])
    assert [len(one) for one in motions] == [3] * 6
    assert motions[motions.q[:, -1, 0] > 1e9].q.shape == (0, 3, 2)
    with pytest.raises(IndexError, match="no number 6"):
        motions[6]
    shipped = pickle.loads(pickle.dumps(motions[1:4]))
    assert np.array_equal(shipped[0].energy, motions[1].energy)


def test_a_recording_on_disk_has_the_same_motions(tmp_path):
    pytest.importorskip("h5py")
    ensemble, _, _, _ = spread("double_pendulum", 20, 17)
    other, seen = ensemble.copy(), []
    inside = ensemble.simulate(0.2, report_interval=0.1, progress=lambda done, n: seen.append((done, n)))
    outside = other.simulate(0.2, report_interval=0.1, record_to=tmp_path / "motions.h5")
    assert np.array_equal(np.asarray(outside.q[3:7]), inside.q[3:7])
    assert np.array_equal(outside[4].u, inside[4].u)
    assert seen[-1] == (20, 20)
    again = mb.EnsembleTrajectory.load(tmp_path / "motions.h5", ensemble.get_state(0))
    assert np.array_equal(again.q[:], inside.q)
    assert np.array_equal(again.time, inside.time)
    assert np.array_equal(again[4].energy, inside[4].energy)
    assert np.array_equal(again.statistics["steps_taken"], inside.statistics["steps_taken"])
    inside[0].save(tmp_path / "one.h5")
    with pytest.raises(mb.ModelError, match="not a recording of an ensemble"):
        mb.EnsembleTrajectory.load(tmp_path / "one.h5")


def test_an_interrupted_run_hands_on_what_there_is():
    ensemble, _, _, _ = spread("double_pendulum", 400, 19, threads=2)
    begun = ensemble.copy()

    def stop(done, n):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        ensemble.simulate(200.0, report_interval=100.0, progress=stop)
    motions = caught.value.trajectory
    assert motions.failed.any()
    assert "interrupted" in motions.failures[int(np.argmax(motions.failed))].reason
    assert np.array_equal(ensemble.q[motions.failed], begun.q[motions.failed])
    assert np.isnan(motions.q[motions.failed]).all()


@pytest.mark.parametrize("refuses", [False, True])
def test_where_runs_have_ended_or_wait_to_go_on_alone_when_one_is_interrupted(refuses):
    """What a function has ended is as it is without; where a part in Python has raised an error nothing is known yet."""

    class Refuses(mb.force.CustomImplementation):
        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            if state.q[0] > 0.2:
                raise ValueError("too far")

    system, _ = mb.examples.double_pendulum.build()
    if refuses:
        mb.force.Custom(system.forces, Refuses())
    ensemble = mb.Ensemble(system, 5, state=system.realize_topology(), threads=1)
    ensemble.q = np.stack([np.linspace(0.1, -0.5, 5), np.zeros(5)], axis=1)
    ensemble.u = [[2.0, 0.0]] * 5
    begun = ensemble.q.copy()

    def stop(done, n):
        raise KeyboardInterrupt

    settings = {"report_interval": 0.5, "accuracy": 1e-4, "terminate": None if refuses else lambda q, u: q[0] - 0.2}
    expected = ensemble.copy().simulate(1.0, **settings)
    with pytest.raises(KeyboardInterrupt) as caught:
        ensemble.simulate(1.0, progress=stop, **settings)
    motions = caught.value.trajectory
    if refuses:
        assert "too far" in expected.failures[0].reason and "interrupted" in motions.failures[0].reason
        assert np.array_equal(ensemble.q, begun)
    else:
        ended = [i for i in range(5) if i not in motions.failures]
        assert ended and all(motions.terminations[i].time == expected.terminations[i].time for i in ended)
        assert all(len(motions[i].events) == len(expected[i].events) == 1 for i in ended)


class Wind(mb.force.CustomImplementation):
    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        mobility_forces[0] += 0.3 * np.sin(state.time)


def test_parts_in_python_are_lent_one_state_after_the_other():
    system, _ = mb.examples.double_pendulum.build()
    mb.force.Custom(system.force_subsystems[0], Wind())
    ensemble = mb.Ensemble(system, 3, state=system.realize_topology())
    ensemble.q = [[0.1, 0.2], [0.5, 0.1], [1.0, -1.0]]
    begun = ensemble.copy()
    motions = ensemble.simulate(0.2, report_interval=0.1)
    assert motions.statistics["in_lanes"].all()
    one = alone(begun, 1, 0.2, report_interval=0.1, accuracy=1e-3)
    assert np.allclose(motions[1].q, one.q, rtol=0.0, atol=1e-14)
    assert motions.statistics["steps_taken"][1] == one.steps_taken
    ensemble.step(0.1, mobility_forces=[[0.1, 0.0]] * 3)
    assert np.allclose(ensemble.time, 0.3)


def test_implicit_methods_take_one_state_at_a_time():
    """To the bit the motions of each state alone, whatever their order, parameters, and neighbours that fail."""
    ensemble, system, state, rng = spread("double_pendulum", 9, 23, threads=2)
    gravity = np.linspace(5.0, 15.0, 9)
    ensemble.set_each(system.all_forces()[0].set_magnitude, gravity)
    ensemble.upd_u()[4, 0] = np.inf
    begun, order = ensemble.copy(), rng.permutation(9)
    other = mb.Ensemble(system, 9, state=state)
    other.set_each(system.all_forces()[0].set_magnitude, gravity[order])
    other.q, other.u = ensemble.q[order], ensemble.u[order]
    settings = {"integrator": "BDF", "accuracy": 1e-4, "report_interval": 0.1}
    motions, others = ensemble.simulate(0.2, **settings), other.simulate(0.2, **settings)
    assert motions.failed.tolist() == [i == 4 for i in range(9)] and motions.failures[4].time == 0.0
    assert np.array_equal(others.q, motions.q[order], equal_nan=True)
    for i in (2, 8):
        one = alone(begun, i, 0.2, **settings)
        assert np.array_equal(motions[i].q, one.q) and np.array_equal(motions[i].u, one.u)
        assert motions[i].steps_taken == one.steps_taken and motions[i].evaluations == one.evaluations
        assert np.array_equal(ensemble.q[i], one.q[-1]) and ensemble.time[i] == 0.2


def test_implicit_methods_of_fixed_steps_are_those_of_each_state_alone():
    """And states that cannot begin, of which only the first eight are run once more to say why, stay where they are."""
    ensemble, system, _, _ = spread("double_pendulum", 12, 29, threads=1)
    ensemble.upd_u()[1:11, 0] = np.inf
    begun = ensemble.copy()

    def settings():
        method = mb.integrator.BDF(system, accuracy=1e-4, fixed_step_size=0.01)
        return {"integrator": method, "report_interval": 0.1}

    motions = ensemble.simulate(0.2, **settings())
    one = alone(begun, 11, 0.2, **settings())
    assert np.array_equal(motions[11].q, one.q) and motions[11].steps_taken == one.steps_taken
    assert motions.failed.tolist() == [0 < i < 11 for i in range(12)]
    assert np.array_equal(ensemble.q[1:11], begun.q[1:11]) and np.array_equal(ensemble.u[1:11], begun.u[1:11])


@pytest.mark.parametrize("example", ["four_bar", "tumbling_handle"])
def test_implicit_methods_project_as_of_each_state_alone(example):
    """Constraints and quaternions; each state begins at a time of its own."""
    ensemble, _, _, _ = spread(example, 3, 31, 0.05)
    ensemble.time = [0.0, 1.0, 2.0]
    begun = ensemble.copy()
    settings = {"integrator": "BDF", "accuracy": 1e-4, "report_interval": 0.1}
    motions = ensemble.simulate(0.2, **settings)
    for i in range(3):
        one = alone(begun, i, 0.2, **settings)
        assert np.array_equal(motions[i].q, one.q) and np.array_equal(motions[i].u, one.u)
        assert np.array_equal(motions[i].time, one.time)


def test_sampled_controllers_are_in_lanes(close):
    """Feedback with memory, noise and delay: the steps of each state alone; a number of the state gives its noise."""
    system, _ = mb.examples.double_pendulum.build()
    joints = [(body, 0) for body in system.matter.bodies[1:]]
    settings = {"kp": 20.0, "kd": 2.0, "ki": 5.0, "noise": 1e-3, "delay": 0.02, "seed": 5}
    mb.control.PID(system.forces, joints, sample_time=0.013, **settings)
    ensemble = mb.Ensemble(system, 21, state=system.realize_topology(), threads=2)
    ensemble.q = np.linspace(-1.0, 1.0, 42).reshape(21, 2)
    begun, parts = ensemble.copy(), ensemble.copy()
    run = {"report_interval": 0.05, "accuracy": 1e-4}
    masses = np.linspace(0.5, 2.0, 21)[:, None] * [1.0, 0.0, 0.0, 0.0, 0.01, 0.01, 0.01, 0.0, 0.0, 0.0]
    heavier = ensemble.copy()
    heavier.set_each(system.matter.bodies["lower"].set_body_mass_properties, masses)
    for many, before in ((ensemble, begun), (heavier, heavier.copy())):
        motions = many.simulate(0.3, **run)
        assert motions.statistics["in_lanes"].all()
        for i in (0, 7, 20):
            one = alone(before, i, 0.3, **run)
            close(motions[i].q, one.q, 1e-12)
            assert motions.statistics["steps_taken"][i] == one.statistics["steps_taken"]
            # where a sample is to change the rates at a step's end, and no report needs those before, they are left out
            saved = one.statistics["evaluations"] - motions.statistics["evaluations"][i]
            assert saved >= 0.3 / 0.013 - 0.3 / 0.05 - 2
    begun = parts.copy()
    for k in range(3):  # what is remembered goes on from run to run
        parts.simulate(0.1, fixed_step_size=0.005) if k else parts.step(0.1, fixed_step_size=0.005)
    close(parts.q, begun.simulate(0.3, fixed_step_size=0.005, report_interval=0.3).q[:, -1], 1e-7)


def test_a_law_that_raises_ends_the_run_of_its_state():
    system, _ = mb.examples.double_pendulum.build()

    def law(t, q, u):
        if q[0] > 1.0 and t > 0.055:
            raise ValueError("too far")
        return -0.1 * u

    mb.control.Custom(system.forces, law, sample_time=0.01)
    ensemble = mb.Ensemble(system, 3, state=system.realize_topology())
    ensemble.q = [[0.1, 0.2], [1.5, 0.1], [0.3, -1.0]]
    motions = ensemble.simulate(0.1, report_interval=0.05)
    assert motions.failed.tolist() == [False, True, False]
    assert abs(motions.failures[1].time - 0.06) < 1e-9 and "law" in motions.failures[1].reason
    assert np.isfinite(motions[0].q).all()


def test_an_event_ends_some_of_the_runs(close):
    """A stop where the first pin passes zero, which some of the states do earlier than others."""
    system, state = mb.examples.double_pendulum.build()
    system.add_event_handler(mb.event.StopWhen(mb.event.Coordinate(system.matter.bodies[1], value=0.0)))
    state = system.realize_topology()
    ensemble = mb.Ensemble(system, 9, state=state)
    ensemble.q = np.stack([np.linspace(0.05, 3.0, 9), np.zeros(9)], axis=1)
    begun = ensemble.copy()
    motions = ensemble.simulate(0.7, report_interval=0.1, accuracy=1e-5)
    assert 0 < len(motions.terminations) < 9
    for i in range(9):
        one = alone(begun, i, 0.7, report_interval=0.1, accuracy=1e-5)
        assert np.array_equal(motions[i].time, one.time)
        close(motions[i].q, one.q, 1e-10)
        assert motions.end_time[i] == ensemble.time[i] == one.time[-1]
        assert (i in motions.terminations) == ("termination" in one.statistics)
        for name in ("steps_taken", "steps_attempted"):  # the step in which it happens is taken alone
            assert motions.statistics[name][i] == one.statistics[name]


def test_steps_after_an_event_are_those_of_each_state_alone(close):
    """They are no longer than what has gone before it, part of which was in a lane."""
    system, state = mb.examples.double_pendulum.build()
    body = system.matter.bodies[1]
    system.add_event_handler(mb.event.LockWhen(body, mb.event.Coordinate(body, value=0.0)))
    state = system.realize_topology()
    ensemble = mb.Ensemble(system, 5, state=state)
    ensemble.q = np.stack([np.linspace(0.05, 1.5, 5), np.zeros(5)], axis=1)
    begun, settings = ensemble.copy(), {"report_interval": 0.1, "accuracy": 1e-5}
    motions = ensemble.simulate(0.7, **settings)
    assert 2 < np.count_nonzero(~motions.statistics["in_lanes"]) and not motions.terminations
    for i in range(5):
        one = alone(begun, i, 0.7, **settings)
        close(motions[i].q, one.q, 1e-11)
        assert motions.statistics["steps_taken"][i] == one.statistics["steps_taken"]


def test_an_event_of_a_linkage_is_found_in_its_lane(close):
    system, state = mb.examples.four_bar.build()
    q, u = state.q, state.u
    system.add_event_handler(mb.event.StopWhen(mb.event.Coordinate(system.matter.bodies["rocker"], value=1.9)))
    state = system.realize_topology()
    state.q = q
    ensemble = mb.Ensemble(system, 5, state=state)
    ensemble.u = np.linspace(0.2, 1.2, 5)[:, None] * u
    begun, settings = ensemble.copy(), {"report_interval": 0.1, "accuracy": 1e-4}
    motions = ensemble.simulate(0.6, **settings)
    assert 0 < len(motions.terminations) < 5 and motions.statistics["in_lanes"].all()
    for i in range(5):
        one = alone(begun, i, 0.6, **settings)
        assert np.array_equal(motions[i].time, one.time)
        close(motions[i].q, one.q, 1e-11)
        assert motions.statistics["steps_taken"][i] == one.statistics["steps_taken"]


def steered(t, q, u):
    return -3.0 * q[0] - 0.5 * u[0], 0.1 * sin(q[1] + t)


def steering(t, X, V, q, u, parameters):
    f = steered(t, (q[0][0], q[1][0]), (u[0][0], u[1][0]))
    return (), ((f[0],), (f[1],))


def far(t, q, u):
    return q[0] - 2.2


def test_functions_control_end_and_observe_runs(close):
    """Compiled, in lanes, and by Python, state by state: the forces are those of a compiled force among the elements."""
    ensemble, system, _, _ = spread("double_pendulum", 20, 31, 0.5)
    begun, pythons = ensemble.copy(), ensemble.copy()
    arguments = {"report_interval": 0.1, "accuracy": 1e-6, "observe": lambda t, q, u: (q[0] + t, sin(q[1]))}
    motions = ensemble.simulate(1.5, controller=steered, terminate=far, **arguments)
    assert 2 < len(motions.terminations) < 18
    close(np.nan_to_num(motions.observations[..., 0]), np.nan_to_num(motions.q[..., 0] + motions.time), 1e-15)
    close(np.nan_to_num(motions.observations[..., 1]), np.nan_to_num(np.sin(motions.q[..., 1])), 1e-15)
    for i, end in motions.terminations.items():
        assert ensemble.time[i] == end.time == motions[i].time[-1]
        assert end.time == 0.0 or abs(ensemble.q[i, 0] - 2.2) < 1e-10
        assert np.isnan(motions.q[i, motions.num_rows[i] :]).all()
    with pytest.warns(RuntimeWarning, match="called by Python"):
        alike = pythons.simulate(
            1.5,
            controller=lambda t, q, u: [*map(float, steered(t, q, u))],
            terminate=lambda t, q, u: float(far(t, q, u)),
            **arguments,
        )
    assert alike.terminations.keys() == motions.terminations.keys()
    close(alike.end_time, motions.end_time, 1e-9)
    close(np.nan_to_num(alike.q), np.nan_to_num(motions.q), 1e-9)
    # the same controller as an element of the system
    forces = mb.force.CompiledFunctions(steering, mobilizers=system.matter.bodies[1:])
    mb.force.Custom(system.forces, compiled=forces)
    element = mb.Ensemble(system, 20, state=system.realize_topology())
    element.q, element.u = begun.q, begun.u
    among = element.simulate(1.5, report_interval=0.1, accuracy=1e-6)
    on = np.setdiff1d(np.arange(20), list(motions.terminations))
    close(among.q[on], motions.q[on], 1e-9)


@pytest.mark.parametrize(
    ("controller", "says"),
    [
        (lambda t, q, u: [-0.5 * x for x in u], "lists and arrays are not taken, write tuples"),
        (lambda t, q, u: tuple(-0.5 * x for x in u), "it has a generator expression.*one after the other"),
    ],
)
def test_controllers_that_are_not_compiled_say_why(controller, says, close):
    ensemble, _, _, _ = spread("double_pendulum", 2, 13)
    begun = ensemble.copy()
    with pytest.warns(RuntimeWarning, match=says):
        motions = ensemble.simulate(0.1, controller=controller, report_interval=0.1)
    close(motions.q, begun.simulate(0.1, controller=lambda t, q, u: (-0.5 * u[0], -0.5 * u[1]), report_interval=0.1).q, 1e-12)


@pytest.mark.parametrize(
    ("terminate", "says"),
    [
        (lambda t, q, u: t > 0.05, r"has to return a number, as q\[0\] - 1.0 is, not whether"),
        (lambda t, q, u: max(0.0, t - 0.05), "use mobod.algebra.where"),
        (lambda t: t > 0.05, r"has to return a number, as q\[0\] - 1.0 is, not whether"),
    ],
)
def test_an_end_in_python_that_is_zero_before_is_found(terminate, says):
    ensemble, _, _, _ = spread("double_pendulum", 2, 13)
    with pytest.warns(RuntimeWarning, match=says):
        motions = ensemble.simulate(0.2, terminate=terminate, report_interval=0.1)
    assert [round(end.time, 9) for end in motions.terminations.values()] == [0.05, 0.05]


def test_an_end_that_is_no_number_fails_as_that_of_one_state():
    ensemble, _, _, _ = spread("double_pendulum", 3, 13)
    motions = ensemble.simulate(0.2, terminate=lambda t, q, u: log(0.1 - t), report_interval=0.05)
    assert motions.failures.keys() == {0, 1, 2} and not motions.terminations
    assert motions.end_time.max() < 0.1


def test_memory_of_a_state_is_what_the_documentation_says():
    """Variables, accelerations, three numbers; 120 bytes with steps; with runs the reports, twice the variables, 150 bytes."""
    ensemble, _, state, _ = spread("double_pendulum", 20_000, 37)
    ensemble.step(0.01, fixed_step_size=0.01)
    ensemble.simulate(0.01, report_interval=0.01, fixed_step_size=0.01)
    ensemble.realize()  # what is loaded for it once is not a state's
    numbers = len(state.y_values)
    tracemalloc.start()
    motions = ensemble.simulate(0.02, report_interval=0.01, fixed_step_size=0.01)
    _, peak = tracemalloc.get_traced_memory()
    assert peak / 20_000 < 8 * numbers * motions.time.size + 16 * numbers + 150
    before, _ = tracemalloc.get_traced_memory()
    other = mb.Ensemble(ensemble.system, 20_000, state=state)
    other.realize()
    made, _ = tracemalloc.get_traced_memory()
    other.step(0.01, fixed_step_size=0.01)
    stepped, _ = tracemalloc.get_traced_memory()
    other.step(0.01, fixed_step_size=0.01, mobility_forces=np.zeros(len(state.u)))
    pushed, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    shared = 12  # a state's part of what all share, records among them
    assert (made - before) / 20_000 < 8 * (numbers + len(state.u) + 3) + shared
    assert (stepped - made) / 20_000 < 120
    assert (pushed - stepped) / 20_000 < 8 * len(state.u) + shared


@pytest.mark.filterwarnings("ignore:.*simulated one by one")
def test_memory_of_states_that_are_stepped_one_by_one_is_that_of_the_documents():
    system, state = mb.examples.double_pendulum.build()
    for traced in (False, True):
        ensemble = mb.Ensemble(system, 20, state=state)
        if traced:
            tracemalloc.start()
        ensemble.step(0.01, integrator="BDF")
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size / 20 < 32e3


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"time": 0.0}, ValueError, "time"),
        ({"report_interval": -1.0}, ValueError, "report_interval"),
        ({"report_interval": 1e-12}, ValueError, "report_interval"),
        ({"progress": 3}, TypeError, "progress"),
        ({"record_to": "motions.txt"}, ValueError, "motions.txt"),
        ({"accuracy": 0.0}, ValueError, "accuracy"),
        ({"controller": lambda t, q, u: 1.0}, mb.ModelError, "2 numbers"),
        ({"controller": 3}, TypeError, "controller"),
        ({"terminate": lambda t, q, u: (1.0, 2.0)}, mb.ModelError, "a number"),
        ({"observe": 3}, TypeError, "observe"),
        ({"controller": lambda q, u, M: (-0.1 * u[0], 0.0)}, mb.ModelError, r"takes \(q, u, M\).*for mobod.control.Custom"),
        ({"controller": lambda q, v: -q}, mb.ModelError, r"controller is a function of \(t, q, u\).*takes \(q, v\)"),
        ({"observe": lambda t, q, u: "high"}, mb.ModelError, "observe has to return a number.*'high'"),
        ({"record": ["kinetic"]}, ValueError, "kinetic"),
    ],
)
def test_bad_input_leaves_the_states(arguments, error, says):
    system, state = mb.examples.double_pendulum.build()
    ensemble = mb.Ensemble(system, 4, state=state)
    with pytest.raises(error, match=says):
        ensemble.simulate(**{"time": 1.0, **arguments})
    assert not ensemble.time.any()


def test_a_law_in_numpys_manner_is_compiled_for_ensembles_as_for_controllers(recwarn):
    system, state = mb.examples.double_pendulum.build()
    gains = np.array([[30.0, 2.0], [1.0, 20.0]])

    def law(q, u):
        return -gains @ q - 3.0 * u

    def of_tuples(t, q, u):
        return -30.0 * q[0] - 2.0 * q[1] - 3.0 * u[0], -q[0] - 20.0 * q[1] - 3.0 * u[1]

    ensemble = mb.Ensemble(system, 9, state=state)
    ensemble.q = ensemble.q + np.linspace(0.0, 1.0, 9)[:, None]
    ends = {"terminate": lambda q: 0.3 - q[0]}
    motions = ensemble.copy().simulate(1.0, controller=law, accuracy=1e-6, **ends)
    others = ensemble.copy().simulate(1.0, controller=of_tuples, accuracy=1e-6, terminate=lambda t, q, u: 0.3 - q[0])
    assert np.abs(motions.end_time - others.end_time).max() < 1e-12 and 0 < len(motions.terminations)
    assert np.allclose(motions.q, others.q, rtol=0.0, atol=1e-12, equal_nan=True)
    assert motions.statistics["in_lanes"].all() and not recwarn.list
    mb.control.Custom(system.forces, law, sample_time=0.01)  # the same function
    assert np.isfinite(mb.simulate(system, system.realize_topology(), 0.05).q).all()
    with pytest.raises(mb.ModelError, match="return 2 numbers"):
        ensemble = mb.Ensemble(system, 2, state=system.realize_topology())
        ensemble.simulate(0.1, controller=lambda q: q[:1])


@pytest.mark.parametrize(
    ("by_steps", "asked"), [(True, "contact_wrenches"), (False, "contacts.floor.ball.friction"), (False, "u_dot")]
)
def test_what_friction_is_part_of_that_rows_do_not_tell_is_refused(by_steps, asked):
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.CompliantContactSubsystem(system, friction="stribeck" if by_steps else "bristle")
    rubber = mb.contact.Material(1e5, dissipation=0.5)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), rubber, name="floor"))
    ball = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1))))
    ball.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.1), rubber, name="ball"))
    ensemble = mb.Ensemble(system, 2)
    integrator = mb.integrator.TimeStepping(system, fixed_step_size=0.002) if by_steps else None
    with pytest.raises(ValueError, match="are not in its rows; record it of one state"):
        ensemble.simulate(0.01, integrator=integrator, record=[asked])


def test_which_of_many_failures_are_explained_does_not_depend_on_the_order(rng):
    system, _ = mb.examples.double_pendulum.build()
    lower = system.matter.bodies["lower"]
    mb.force.MobilityPolynomialSpring(system.forces, lower, 0, -30.0, 0.0, -20.0, 0.0)
    state, u, order = system.realize_topology(), rng.normal(0.0, 1.0, (16, 2)), rng.permutation(16)

    def run(which):
        ensemble = mb.Ensemble(system, 16, state=state, threads=1)
        ensemble.u = u[which]
        motions = ensemble.simulate(20.0, report_interval=20.0, fixed_step_size=0.01)
        return motions, {int(which[i]): one for i, one in motions.failures.items()}

    (motions, failures), (others, in_order) = run(np.arange(16)), run(order)
    assert len(failures) > 8
    assert in_order == failures
    np.testing.assert_array_equal(others.statistics["in_lanes"], motions.statistics["in_lanes"][order])
