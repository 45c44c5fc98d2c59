"""Parts that Python computes in an ensemble: kernels call them back, and each state moves as it does alone."""

import numpy as np
import pytest

import mobod as mb


def coupled(function):
    system, _ = mb.examples.double_pendulum.build()
    upper, lower = system.matter.bodies[1:3]
    mb.constraint.CoordinateCoupler(system.matter, function, [upper, lower], [0, 0])
    state = system.realize_topology()
    state.q = 0.3, -0.1
    system.project(state)
    return system, state


def of_angles(x):
    return x[0] + 2.0 * x[1] - 0.1 * x[0] * x[0]


def slopes(components, x):
    if len(components) == 1:
        return (1.0 - 0.2 * x[0], 2.0)[components[0]]
    return -0.2 if list(components) == [0, 0] else 0.0


def test_a_function_in_python_moves_states_in_lanes_as_one_alone(close):
    system, state = coupled(mb.function.Custom(of_angles, 2, slopes))
    assert system.calls_python and not system.is_interpreted
    motions = mb.Ensemble(system, 9, state=state).simulate(0.2, accuracy=1e-6)
    alone = mb.simulate(system, state, 0.2, accuracy=1e-6)
    for i in range(9):
        close(motions.q[i, -1], alone.q[-1], 1e-9)


def test_a_law_in_python_is_sampled_in_each_state_and_is_given_copies(close):
    kept = []

    def law(q, u, memory):
        memory[0] += 1.0
        kept.append(q)
        return -5.0 * q - 0.5 * u

    ends = []
    for compiled in (True, False):
        system, _ = mb.examples.double_pendulum.build()
        one = law if not compiled else lambda q, u, memory: -5.0 * q - 0.5 * u
        mb.control.Custom(system.forces, one, sample_time=0.01, memory=[0.0], compiled=compiled)
        state = system.realize_topology()
        ends.append(mb.simulate(system, state, 0.1, accuracy=1e-6).q[-1])
        ensemble = mb.Ensemble(system, 3, state=state)
        close(ensemble.simulate(0.1, accuracy=1e-6).q[2, -1], ends[-1], 1e-9)
    close(ends[0], ends[1], 1e-12)
    assert len({one.ctypes.data for one in kept}) == len(kept), "each sample is an array of its own"


def test_what_python_raises_ends_a_run_at_the_last_good_state_and_one_state_of_many():
    def fails_late(x):
        if x[0] < -0.1:
            raise KeyError("beyond the table")
        return of_angles(x)

    system, state = coupled(mb.function.Custom(fails_late, 2, slopes))
    with pytest.raises(KeyError, match="beyond the table"):
        mb.simulate(system, state, 5.0)
    ensemble = mb.Ensemble(system, 2, state=state)
    motions = ensemble.simulate(5.0)
    assert set(motions.failures) == {0, 1} and all("beyond the table" in str(one) for one in motions.failures.values())
    system.realize(state)
    assert np.isfinite(state.u_dot).all(), "nothing is left of the error"


def pulled(fails_beyond=np.inf):
    """A double pendulum with a force in Python that depends on time, pose and speed, and a witness in Python at x = 0.2."""
    system, _ = mb.examples.double_pendulum.build()
    lower = system.matter.bodies["lower"]
    seen = []

    class Pull(mb.force.CustomImplementation):
        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            if lower.get_one_q(state, 0) > fails_beyond:
                raise KeyError("beyond the table")
            mobility_forces[1] -= 3.0 * lower.get_one_q(state, 0) ** 3 + 0.1 * lower.get_one_u(state, 0)
            body_forces[2, 1, 0] += 0.3 * state.time * lower.get_body_mass(state)

    class Passes(mb.event.TriggeredHandler):
        def get_value(self, state):
            return lower.get_body_origin_location(state)[0] - 0.2

        def handle_event(self, state, accuracy):
            seen.append(state.time)

    mb.force.Custom(system.forces, Pull())
    system.add_event_handler(Passes(mb.Stage.POSITION))
    state = system.realize_topology()
    state.q = 1.0, 0.5
    return system, state, seen


def test_forces_and_witnesses_in_python_act_on_states_in_lanes_as_on_one_alone(close):
    system, state, seen = pulled()
    ensemble = mb.Ensemble(system, 9, state=state)
    ensemble.q = ensemble.q + np.linspace(0.0, 0.2, 9)[:, None]
    starts = ensemble.q.copy()
    motions = ensemble.copy().simulate(0.5, accuracy=1e-6)
    assert motions.statistics["in_lanes"].all() and not seen
    for _ in range(80):
        ensemble.step(0.01, accuracy=1e-6)
    in_lanes = sorted(seen)
    assert len(in_lanes) == 9, "each state passes once within 0.8 s"
    seen.clear()
    for i in (0, 4, 8):
        one = state.copy()
        one.q = starts[i]
        close(motions.q[i, -1], mb.simulate(system, one, 0.5, accuracy=1e-6).q[-1], 1e-12)
        alone = mb.simulate(system, one, 0.8, accuracy=1e-8)
        close(ensemble.q[i], alone.q[-1], 1e-5)
    for time in seen:
        assert min(abs(time - other) for other in in_lanes) < 1e-5


def test_a_force_in_python_sees_the_parameters_of_each_state(close):
    system, state, _ = pulled()
    lower = system.matter.bodies["lower"]
    masses = [mb.MassProperties(m, (0.1, -0.2, 0), mb.UnitInertia(0.3, 0.3, 0.3)) for m in (0.5, 1.0, 2.0)]
    ensemble = mb.Ensemble(system, 3, state=state)
    ensemble.set_body_mass_properties(lower, masses)
    motions = ensemble.simulate(0.3, accuracy=1e-6)
    assert motions.statistics["in_lanes"].all()
    for i in range(3):
        one = state.copy()
        lower.set_body_mass_properties(one, masses[i])
        close(motions.q[i, -1], mb.simulate(system, one, 0.3, accuracy=1e-6).q[-1], 1e-12)


def test_what_a_force_in_python_raises_ends_one_state_and_the_others_go_on(close):
    system, state, _ = pulled(fails_beyond=0.52)
    ensemble = mb.Ensemble(system, 2, state=state)
    ensemble.q = [[0.1, 0.1], [0.1, 0.5]]
    ensemble.u = [[0.0, 0.0], [0.0, 2.0]]
    motions = ensemble.copy().simulate(0.2, accuracy=1e-6)
    assert set(motions.failures) == {1} and "beyond the table" in str(motions.failures[1])
    with pytest.warns(RuntimeWarning, match="beyond the table") as said:
        for _ in range(10):
            ensemble.step(0.02, accuracy=1e-6)
    assert {one.filename for one in said} == {__file__}
    assert ensemble.failed.tolist() == [False, True] and np.isfinite(ensemble.q).all()
    close(ensemble.q[0], motions.q[0, -1], 1e-5)


def test_what_a_force_raises_where_a_state_stands_for_the_sake_of_others_does_not_count():
    """All lanes are evaluated at ends of steps that one of them has taken, also those whose attempts were in vain."""
    system, _ = mb.examples.double_pendulum.build()
    lower = system.matter.bodies["lower"]
    seen, refused = set(), set()

    class Refuses(mb.force.CustomImplementation):
        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            seen.add((state.time, *state.q, *state.u))
            if (state.time, *state.q, *state.u) in refused:
                raise ValueError("not there")

    mb.force.Custom(system.forces, Refuses())
    mb.force.MobilityLinearStop(system.forces, lower, 0, 5e3, 0.1, -0.5, 0.5)
    state = system.realize_topology()

    def run(n):
        seen.clear()
        ensemble = mb.Ensemble(system, n, state=state)
        ensemble.time = 10.0 * np.arange(n)
        ensemble.q, ensemble.u = 0.3 - 0.02 * np.arange(2 * n).reshape(n, 2), np.array([[0.5, 2.0]] * n)
        motions = ensemble.simulate(0.5, integrator="RungeKutta3", report_interval=0.1, accuracy=1e-3)
        return motions.q[0], motions.statistics["in_lanes"][0], {place for place in seen if place[0] < 5.0}

    alone, _, own = run(1)
    refused.update(run(4)[2] - own)
    assert refused
    beside, in_lanes, _ = run(4)
    assert in_lanes and np.array_equal(beside, alone)


def test_a_plane_that_is_passed_in_the_one_step_of_a_call_is_noticed():
    system, _ = mb.examples.double_pendulum.build()
    passed = []

    class Passes(mb.event.When):
        def handle_event(self, state, accuracy):
            passed.append(state.time)

    lower = system.matter.bodies["lower"]
    system.add_event_handler(Passes(mb.event.PlaneDistance(lower, (0, 0, 0), normal=(1, 0, 0), height=0.2)))
    state = system.realize_topology()
    state.q = 1.0, 0.5
    ensemble = mb.Ensemble(system, 1, state=state)
    for _ in range(700):
        ensemble.step(1e-3, integrator="SemiExplicitEuler", fixed_step_size=1e-3)
    assert len(passed) == 1 and 0.674 < passed[0] < 0.677


@pytest.mark.parametrize("kind", ["Maximum", "Delay", "Integrate", "SampleAndHold"])
def test_a_witness_in_python_that_reads_what_a_measure_remembers_stops_each_state_as_it_does_alone(kind, rng):
    """Lanes lend it their memory; of samples that are held, which jump between steps, as of the last step's end."""
    system, _ = mb.examples.double_pendulum.build()
    matter = system.matter
    angle = mb.measure.Coordinate(matter, matter.bodies["lower"])
    more = {"Maximum": (), "Delay": (0.05,), "Integrate": (mb.measure.Constant(matter, 0.9),), "SampleAndHold": (0.05,)}
    measure = getattr(mb.measure, kind)(matter, angle, *more[kind])
    witness = mb.event.FunctionWitness(lambda state: 1.0 - measure.get_value(state), mb.Stage.VELOCITY)
    system.add_event_handler(mb.event.StopWhen(witness))
    state = system.realize_topology()
    q, u = rng.normal(size=(2, 9, 2))
    q[0], u[0], q[1], u[1] = (0.0, 0.2), (0.0, 0.0), (0.0, 0.5), (0.0, 9.0)  # that stays below, and one that does not
    ensemble = mb.Ensemble(system, 9, state=state)
    ensemble.q, ensemble.u = q, u
    motions = ensemble.simulate(0.5, accuracy=1e-6, report_interval=0.1)
    assert motions.statistics["in_lanes"][0]
    for i in range(9):
        state.q, state.u = q[i], u[i]
        alone = mb.simulate(system, state, 0.5, accuracy=1e-6, report_interval=0.1)
        assert np.array_equal(motions[i].time, alone.time) and np.array_equal(motions[i].q, alone.q)
        assert len(motions[i].events) == len(alone.events)
        assert i > 1 or len(alone.events) == i


@pytest.mark.parametrize("stage", [mb.Stage.POSITION, mb.Stage.DYNAMICS, mb.Stage.ACCELERATION])
def test_measures_of_functions_of_states_are_remembered_in_lanes_as_of_one_alone(stage, close):
    system, _ = mb.examples.double_pendulum.build()
    matter, gravity = system.matter, system.all_forces()[0]

    def function(state):
        pushed = gravity.get_magnitude(state) if stage > mb.Stage.POSITION else 1.0
        return pushed * state.q[1] + (state.u_dot[0] if stage is mb.Stage.ACCELERATION else 0.0)

    one = mb.measure.Function(matter, function, stage)
    measures = [mb.measure.Integrate(matter, one), mb.measure.Delay(matter, one, 0.05), mb.measure.Maximum(matter, one)]
    ensemble = mb.Ensemble(system, 9, state=system.realize_topology(), threads=1)
    ensemble.set_each(gravity.set_magnitude, np.linspace(8.0, 11.0, 9))
    ensemble.q, ensemble.u = np.linspace(-0.5, 0.5, 18).reshape(9, 2), np.linspace(1.0, -1.0, 18).reshape(9, 2)
    starts = [ensemble.get_state(i) for i in range(9)]
    motions = ensemble.simulate(0.3, accuracy=1e-5)
    assert motions.statistics["in_lanes"].all()
    for _ in range(3):
        ensemble.step(0.01, accuracy=1e-5)
    ensemble.realize()
    values = [ensemble.get_measures(one) for one in measures]
    for i, start in enumerate(starts):
        method = mb.integrator.RungeKuttaMerson(system, accuracy=1e-5)
        stepper = mb.TimeStepper(system, method)
        stepper.initialize(start)
        stepper.step_to(0.3)
        for _ in range(3):
            stepper.step(0.01)
        for one, found in zip(measures, values, strict=True):
            close(found[i], one.get_value(stepper.state), 1e-7)


def test_an_error_of_a_function_of_states_ends_one_state():
    system, _ = mb.examples.double_pendulum.build()

    def fails(state):
        if state.q[0] > 1.0:
            raise ZeroDivisionError("too far")
        return 1.0

    mb.measure.Integrate(system.matter, mb.measure.Function(system.matter, fails, mb.Stage.TIME))
    ensemble = mb.Ensemble(system, 3, state=system.realize_topology(), threads=1)
    ensemble.q, ensemble.u = [(0.1, 0.0), (0.9, 0.0), (0.2, 0.0)], [(0.0, 0.0), (9.0, 0.0), (0.0, 0.0)]
    motions = ensemble.simulate(0.1, report_interval=0.1, accuracy=1e-5)
    assert motions.failed.tolist() == [False, True, False]
    assert "too far" in motions.failures[1].reason


def test_parts_in_python_read_the_parameters_of_the_state_that_they_are_lent():
    system, _ = mb.examples.double_pendulum.build()
    gravity = system.all_forces()[0]

    class Lift(mb.force.CustomImplementation):
        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            mobility_forces[1] += 0.1 * gravity.get_magnitude(state)

    class Note(mb.event.When):
        seen = []

        def handle_event(self, state, accuracy):
            self.seen.append(gravity.get_magnitude(state))

    mb.force.Custom(system.forces, Lift())
    system.add_event_handler(Note(lambda state: state.time - 0.01 * gravity.get_magnitude(state)))
    ensemble = mb.Ensemble(system, 3, state=system.realize_topology(), threads=1)
    ensemble.set_each(gravity.set_magnitude, [8.0, 9.0, 10.0])
    starts = [ensemble.get_state(i) for i in range(3)]
    motions = ensemble.simulate(0.2, accuracy=1e-6)
    assert motions.statistics["in_lanes"].all() and sorted(Note.seen) == [8.0, 9.0, 10.0]
    for i, start in enumerate(starts):
        alone = mb.simulate(system, start, 0.2, accuracy=1e-6)
        np.testing.assert_allclose(motions[i].q[-1], alone.q[-1], atol=1e-9)
        np.testing.assert_allclose(motions[i].events["time"], alone.events["time"], atol=1e-8)
