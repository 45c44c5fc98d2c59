"""What event handlers change beside variables is each state's own, and stays; the oracle is a TimeStepper of each alone."""

import copy
import pickle

import numpy as np
import pytest

import mobod as mb
from mobod import Stage

pytestmark = pytest.mark.filterwarnings("ignore:.*one by one:RuntimeWarning")


class Mechanism:
    """A double pendulum with a slider, and things that can be switched."""

    def __init__(self):
        self.system = system = mb.MultibodySystem()
        self.matter = matter = mb.SimbodyMatterSubsystem(system)
        forces = mb.GeneralForceSubsystem(system)
        self.gravity = mb.force.Gravity(forces, matter, (0, -1, 0), 9.8)
        body = mb.body.Rigid(mb.MassProperties(1.0, (0.1, -0.5, 0), mb.Inertia(0.9, 0.6, 0.9)))
        self.upper = mb.mobilizer.Pin(matter.ground, body, name="upper")
        self.lower = mb.mobilizer.Pin(self.upper, body, X_PF=mb.Transform((0, -1, 0)), name="lower")
        self.slide = mb.mobilizer.Slider(self.lower, body, X_PF=mb.Transform((0, -1, 0)), name="slide")
        self.spring = mb.force.MobilityLinearSpring(forces, self.slide, 0, 20.0, 0.0)
        self.damper = mb.force.MobilityLinearDamper(forces, self.upper, 0, 0.1)
        self.effort = mb.force.MobilityDiscreteForce(forces, self.lower, 0)
        self.turning = mb.constraint.ConstantSpeed(self.upper, 0, 0.5)
        self.turning.set_disabled_by_default(True)
        self.wave = mb.motion.Sinusoid(self.slide, mb.Motion.Level.POSITION, 0.1, 2.0, 0.0)
        self.wave.set_disabled_by_default(True)

    def lock(self, state):
        self.slide.unlock(state) if self.slide.is_locked(state) else self.slide.lock(state)

    def parameters(self, state):
        self.spring.set_stiffness(state, 1.3 * self.spring.get_stiffness(state))
        self.lower.set_body_mass_properties(state, mb.MassProperties(2.0, (0, -0.5, 0), mb.Inertia(0.9, 0.6, 0.9)))
        self.effort.set_mobility_force(state, -3.0 * state.u[1])
        state.u_weights = 2.0, 1.0, 0.5

    def switch(self, state):
        for one in (self.gravity, self.damper, self.wave):
            one.enable(state) if one.is_disabled(state) else one.disable(state)

    def constrain(self, state):
        self.turning.enable(state)

    def there_and_back(self, state):
        self.slide.lock(state)
        self.slide.unlock(state)
        self.turning.enable(state)
        self.turning.disable(state)

    def kick(self, state):
        state.u = state.u + 0.1


class Kick(mb.event.PeriodicHandler):
    def __init__(self, act):
        super().__init__(0.13)
        self.act = act

    def handle_event(self, state, accuracy):
        self.act(state)


class Once(mb.event.ScheduledHandler):
    def __init__(self, act):
        super().__init__()
        self.act = act

    def get_next_event_time(self, state, include_current_time):
        return 0.21 if state.time < 0.21 or (include_current_time and state.time == 0.21) else np.inf

    def handle_event(self, state, accuracy):
        self.act(state)


class Crossing(mb.event.TriggeredHandler):
    def __init__(self, act):
        super().__init__(Stage.POSITION)
        self.act = act

    def get_value(self, state):
        return state.q[1] - 0.1

    def handle_event(self, state, accuracy):
        self.act(state)


class Witnessed(mb.event.When):
    """Python, with a trigger that is compiled."""

    def __init__(self, act, mechanism):
        super().__init__(mb.event.Coordinate(mechanism.lower, 0, 0.1))
        self.act = act

    def handle_event(self, state, accuracy):
        self.act(state)


def handler(kind, act, mechanism):
    return kind(act, mechanism) if kind is Witnessed else kind(act)


def make(kind, act, n=5, seed=3, method="RungeKuttaMerson", threads=1):
    mechanism = Mechanism()
    system = mechanism.system
    system.add_event_handler(handler(kind, getattr(mechanism, act), mechanism))
    state = system.realize_topology()
    system.realize_model(state)
    rng = np.random.default_rng(seed)
    ensemble = mb.Ensemble(system, n, state=state, threads=threads)
    ensemble.q, ensemble.u = rng.uniform(-0.5, 0.5, (n, 3)), rng.uniform(-2.0, 2.0, (n, 3))
    return mechanism, state, ensemble, lambda: getattr(mb.integrator, method)(system, accuracy=1e-3)


def stepper_of(ensemble, i, integrator, state=None):
    stepper = mb.TimeStepper(ensemble.system, integrator())
    stepper.initialize(ensemble.get_state(i) if state is None else state)
    return stepper


def through(stepper, times):
    """What a TimeStepper sees at reports."""
    rows = []
    for t in times.tolist():
        stepper.step_to(t)
        rows.append([*stepper.state.y, stepper.system.calc_energy(stepper.state)])
    return np.array(rows)


def assert_same(state, other):
    """Both have the same locks, parameters, things that are enabled, and weights."""
    for name in state.own_fields.keys() | other.own_fields.keys():
        # work that may be left out does not matter, nor where mobilizers were locked that no longer are
        apart = name in ("massless", "plain_outboard", "rotorless", "elimination")
        if not apart and not (name in ("lock_q", "lock_u") and not state.field("lock_level").any()):
            np.testing.assert_array_equal(state.field(name), other.field(name), err_msg=name)


CASES = [
    *[(Kick, "lock"), (Once, "parameters"), (Crossing, "switch"), (Witnessed, "lock"), (Witnessed, "parameters")],
    *[(Once, "constrain"), (Kick, "switch")],
]


@pytest.mark.parametrize(("kind", "act"), CASES, ids=lambda one: getattr(one, "__name__", one))
def test_what_handlers_change_stays_with_each_state(kind, act):
    _, _, ensemble, integrator = make(kind, act)
    begin = [ensemble.get_state(i) for i in range(5)]
    first = ensemble.simulate(0.35, report_interval=0.1)
    second = ensemble.simulate(0.35, report_interval=0.1)
    for i in range(5):
        alone = stepper_of(ensemble, i, integrator, begin[i])
        rows = through(alone, first.time)
        np.testing.assert_array_equal(np.c_[first.q[i], first.u[i], first[i].energy], rows)
        assert_same(first[i].states[-1], alone.state)
        alone = stepper_of(ensemble, i, integrator, alone.state)
        rows = through(alone, second.time)
        np.testing.assert_array_equal(np.c_[second.q[i], second.u[i], second[i].energy], rows)
        assert_same(second[i].states[-1], alone.state)
        assert_same(ensemble.get_state(i), alone.state)
        np.testing.assert_array_equal(ensemble.get_state(i).u_weights, alone.state.u_weights)


@pytest.mark.parametrize("act", ["lock", "parameters", "switch"])
def test_results_are_those_of_states_that_have_overrides(act):
    mechanism, state, ensemble, _ = make(Witnessed, act, n=9)
    ensemble.simulate(0.3, report_interval=0.3)
    apart = [ensemble.get_state(i).own_fields.keys() != state.own_fields.keys() for i in range(9)]
    assert 0 < sum(apart) < 9  # or nothing is shown
    ensemble.realize()
    torques = np.array([0.1, 0.2, 0.3])
    found = ensemble.calc_m(), ensemble.calc_energy(), ensemble.calc_mobilizer_reaction_forces(), ensemble.q_dot_dot
    derivatives = ensemble.calc_forward_dynamics_derivatives()
    for i in range(9):
        one = ensemble.get_state(i)
        mechanism.system.realize(one, Stage.ACCELERATION)
        np.testing.assert_allclose(ensemble.u_dot[i], one.u_dot, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(found[0][i], mechanism.matter.calc_m(one), rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(found[1][i], mechanism.system.calc_energy(one), rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(found[2][i], mechanism.matter.calc_mobilizer_reaction_forces(one), rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(found[3][i], one.q_dot_dot, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(
            derivatives.q[i], mechanism.system.calc_forward_dynamics_derivatives(one).q, rtol=1e-10, atol=1e-10
        )
        np.testing.assert_allclose(
            ensemble.multiply_by_m_inv(torques)[i], mechanism.matter.multiply_by_m_inv(one, torques), rtol=1e-10, atol=1e-10
        )


def test_a_state_that_is_as_the_others_again_is_in_lanes():
    _, _, ensemble, _ = make(Witnessed, "there_and_back", n=9)
    assert ensemble.simulate(0.3, report_interval=0.3).statistics["in_lanes"].all()
    ensemble.system.remove_event_handler(ensemble.system.event_handlers[0])
    assert ensemble.simulate(0.1, report_interval=0.1).statistics["in_lanes"].all()


def test_copies_and_pickles_have_what_handlers_have_changed():
    _, _, ensemble, _ = make(Once, "lock", n=3)
    ensemble.simulate(0.3, report_interval=0.3)
    for other in (copy.copy(ensemble), pickle.loads(pickle.dumps(ensemble))):
        other.step(0.1)
        assert all(other.system.matter.bodies["slide"].is_locked(other.get_state(i)) for i in range(3))
    assert ensemble.time[0] == 0.3


def test_reset_brings_everything_back():
    mechanism, _, ensemble, _ = make(Witnessed, "parameters", n=9)
    q, u = ensemble.q.copy(), ensemble.u.copy()
    first = ensemble.simulate(0.3, report_interval=0.1)
    mask = np.arange(9) % 2 == 0
    changed = [mechanism.spring.get_stiffness(ensemble.get_state(i)) for i in range(9)]
    ensemble.reset(mask, q=q[mask], u=u[mask])
    stiffness = [mechanism.spring.get_stiffness(ensemble.get_state(i)) for i in range(9)]
    assert stiffness == [20.0 if mask[i] else changed[i] for i in range(9)]
    assert 20.0 in changed[1::2] and 26.0 in changed[1::2]
    ensemble.reset(q=q, u=u)
    np.testing.assert_array_equal(ensemble.simulate(0.3, report_interval=0.1).q, first.q)


@pytest.mark.parametrize("kind", [Kick, Witnessed])
def test_steps_keep_what_handlers_change(kind):
    mechanism, _, ensemble, integrator = make(kind, "lock", n=6, seed=5)
    steppers = [stepper_of(ensemble, i, integrator) for i in range(6)]
    q, u = ensemble.q.copy(), ensemble.u.copy()
    for k in range(3):
        ensemble.step(0.1)
        for i, stepper in enumerate(steppers):
            stepper.step(0.1)
            np.testing.assert_allclose(ensemble.q[i], stepper.state.q, atol=5e-4)  # steps begin anew with each call
            assert mechanism.slide.is_locked(ensemble.get_state(i)) == mechanism.slide.is_locked(stepper.state), (k, i)
    assert any(mechanism.slide.is_locked(ensemble.get_state(i)) for i in range(6))
    ensemble.reset(q=q, u=u, time=ensemble.time)  # at the same time: a stepper that went on would still be locked
    ensemble.step(0.01)
    assert not any(mechanism.slide.is_locked(ensemble.get_state(i)) for i in range(6))


def test_what_is_recorded_after_a_change_has_the_changed_values():
    mechanism, _, ensemble, integrator = make(Once, "parameters", n=3)
    begin = [ensemble.get_state(i) for i in range(3)]
    record = {"stiffness": mechanism.spring.get_stiffness, "accelerations": lambda state: state.u_dot}
    found = ensemble.simulate(0.4, report_interval=0.1, record=record)
    for i in range(3):
        alone = mb.simulate(*(mechanism.system, begin[i], 0.4), integrator=integrator(), report_interval=0.1, record=record)
        np.testing.assert_array_equal(found.quantities["stiffness"][i], [20.0, 20.0, 20.0, 26.0, 26.0])
        np.testing.assert_array_equal(found.quantities["accelerations"][i], alone.quantities["accelerations"])
        np.testing.assert_array_equal(found[1:][i - 1].energy if i else found[0].energy, alone.energy)


def test_parameters_may_be_set_of_states_that_have_overrides():
    mechanism, _, ensemble, _ = make(Witnessed, "lock", n=9)
    ensemble.simulate(0.3, report_interval=0.3)
    locked = [mechanism.slide.is_locked(ensemble.get_state(i)) for i in range(9)]
    assert 0 < sum(locked) < 9
    ensemble.set_each(mechanism.spring.set_stiffness, np.arange(1.0, 10.0))
    masses = [mb.MassProperties(1.0 + i, (0, 0, 0), mb.Inertia(1.0, 1.0, 1.0)) for i in range(9)]
    ensemble.set_each(mechanism.slide.set_body_mass_properties, masses)
    ensemble.set_each(lambda state, value: mechanism.effort.set_mobility_force(state, value), np.arange(9.0))
    ensemble.realize()
    for i in range(9):
        one = ensemble.get_state(i)
        assert mechanism.slide.is_locked(one) == locked[i]
        assert mechanism.spring.get_stiffness(one) == i + 1.0
        assert mechanism.effort.get_mobility_force(one) == i
        mechanism.system.realize(one, Stage.ACCELERATION)
        np.testing.assert_allclose(ensemble.u_dot[i], one.u_dot, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(ensemble.calc_system_mass(), 3.0 + np.arange(9))


def test_errors_of_constraints_that_differ_have_no_common_shape():
    _, _, ensemble, _ = make(Witnessed, "constrain", n=9)
    ensemble.simulate(0.3, report_interval=0.3)
    ensemble.realize()
    with pytest.raises(
        mb.ModelError, match=r"no array: an event handler has changed which constraints of state \d are enabled"
    ):
        _ = ensemble.multipliers
    lengths = {len(one) for one in ensemble.get_each(lambda state: state.multipliers)}
    assert lengths == {0, 1}


def test_modelling_choices_cannot_be_changed_by_handlers():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.Inertia(1.0, 1.0, 1.0))))
    system.add_event_handler(Once(lambda state: matter.set_use_euler_angles(state, True)))
    ensemble = mb.Ensemble(system, 2, state=system.realize_topology())
    start = ensemble.q.copy()
    failures = ensemble.simulate(0.5, report_interval=0.1).failures
    assert "Euler angles" in failures[0].reason
    np.testing.assert_array_equal(ensemble.q, start)
    ensemble.step(0.5)
    assert ensemble.failed.all() and "Euler angles" in ensemble.failures[1].reason


@pytest.mark.parametrize("method", ["Verlet", "SemiExplicitEuler2"])
def test_steps_after_a_handler_in_python_are_those_of_each_alone(method):
    """Also Verlet's, whose errors depend on the step before: events are found in lanes."""
    _, _, ensemble, integrator = make(Witnessed, "kick", n=9, seed=1, method=method, threads=2)
    begin = [ensemble.get_state(i) for i in range(9)]
    motions = ensemble.simulate(0.35, integrator=integrator(), report_interval=0.05)
    assert motions.statistics["in_lanes"].all()
    for i in range(9):
        rows = through(stepper_of(ensemble, i, integrator, begin[i]), motions.time)
        np.testing.assert_array_equal(motions.q[i], rows[:, :3])


def test_a_gap_is_watched_in_lanes():
    system, state = mb.examples.newtons_cradle.build()
    ensemble = mb.Ensemble(system, 3, state=state)
    ensemble.u = state.u + np.linspace(0.0, 0.2, 3)[:, None]
    begin = [ensemble.get_state(i) for i in range(3)]
    motions = ensemble.simulate(0.4, report_interval=0.1)
    for i in range(3):
        alone = mb.simulate(system, begin[i], 0.4, accuracy=1e-3, report_interval=0.1)
        np.testing.assert_array_equal(motions.q[i], alone.q)


def test_a_box_that_slides_goes_on_sliding():
    """How a rigid contact slides is found by events: it stays, and is in the accelerations."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.UniformGravity(mb.GeneralForceSubsystem(system), matter, (3.0, 0, -9.81))
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
    box = mb.mobilizer.Translation(matter.ground, body)
    mb.contact.PointPlane(matter.ground, (0, 0, 1), 0.0, box, (0, 0, 0), restitution=0.3, static_friction=0.2)
    state = system.realize_topology()
    state.q = 0, 0, 0.001
    ensemble = mb.Ensemble(system, 2, state=state)
    ensemble.u = [[0.1, 0.0, 0.0], [0.5, 0.0, 0.0]]
    ensemble.simulate(0.2, report_interval=0.2)
    ensemble.realize()
    np.testing.assert_allclose(ensemble.u_dot, [[3.0 - 0.2 * 9.81, 0.0, 0.0]] * 2, atol=1e-9)
    ensemble.reset()
    ensemble.realize()
    np.testing.assert_allclose(ensemble.u_dot, [[3.0, 0.0, -9.81]] * 2)


def test_discrete_variables_stay_with_each_state():
    system, _ = mb.examples.double_pendulum.build()
    known = mb.measure.Variable(system.matter, mb.Stage.POSITION, 1.0)
    system.add_event_handler(Crossing(lambda state: known.set_value(state, 1.0 + state.time)))
    ensemble = mb.Ensemble(system, 3, state=system.realize_topology())
    ensemble.q = [[0.0, -0.5], [0.5, 0.3], [0.5, 0.5]]
    for run in (lambda: ensemble.simulate(0.5, report_interval=0.5), lambda: ensemble.step(0.5)):
        ensemble.reset(q=[[0.0, -0.5], [0.5, 0.3], [0.5, 0.5]])
        ensemble.realize()
        assert ensemble.get_measures(known).tolist() == [1.0, 1.0, 1.0]
        run()
        ensemble.realize()
        values = ensemble.get_measures(known)
        other = ensemble.copy()
        other.realize()
        assert (values[1:] > 1.05).all() and (other.get_measures(known) == values).all()
