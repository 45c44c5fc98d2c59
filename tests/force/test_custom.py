"""force.Custom: a user's Python force takes part in realizing, and its failures leave the state as it was."""

import numpy as np
import pytest

import mobod as mb
from mobod import Stage

HOOKS = "instance time position velocity dynamics acceleration report".split()


class Recorder(mb.force.CustomImplementation):
    """Notes what it is called with, and when."""

    def __init__(self):
        self.calls = []

    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        self.calls.append("force")
        assert particle_forces.shape == (0, 3)


for _hook in ["topology", "model", *HOOKS]:

    def _note(self, state, hook=_hook):
        self.calls.append(hook)

    setattr(Recorder, f"realize_{_hook}", _note)


class Spring(mb.force.CustomImplementation):
    """Pulls a point of a body to a point of Ground, with a damper on every mobility."""

    def __init__(self, body, stiffness=3.0, damping=0.5):
        self.body, self.stiffness, self.damping = body, stiffness, damping

    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        p = self.body.find_station_location_in_ground(state, (0.1, 0.2, 0.3))
        self.body.apply_force_to_body_point(state, (0.1, 0.2, 0.3), -self.stiffness * p, body_forces)
        mobility_forces -= self.damping * state.u
        body_forces[0] += 100.0  # on Ground, which it does not move

    def calc_potential_energy(self, state):
        p = self.body.find_station_location_in_ground(state, (0.1, 0.2, 0.3))
        return 0.5 * self.stiffness * float(p @ p)


@pytest.fixture
def model(make):
    model = make.tree(6)
    model.spring = mb.force.Custom(model.forces, Spring(model.bodies[6]), name="spring")
    model.made().randomize()
    return model


def test_hooks_are_called_in_the_order_of_the_stages(make):
    model = make.tree(3)
    recorder = Recorder()
    mb.force.Custom(model.forces, recorder)
    state = model.system.realize_topology()
    assert recorder.calls == ["topology", "model"]
    recorder.calls.clear()
    model.system.realize(state, Stage.REPORT)
    assert recorder.calls == ["instance", "time", "position", "velocity", "force", "dynamics", "acceleration", "report"]
    recorder.calls.clear()
    model.system.realize(state, Stage.REPORT)
    assert recorder.calls == []
    state.u = state.u
    model.system.realize(state)
    assert recorder.calls == ["velocity", "force", "dynamics", "acceleration"]


def test_hooks_find_the_state_at_their_stage(make):
    model = make.tree(3)

    class Watcher(Recorder):
        pass

    for hook in HOOKS:

        def check(self, state, hook=hook):
            assert state.stage == Stage[hook.upper()]
            self.calls.append(hook)
            if hook == "position":
                model.matter.calc_m(state)
            if hook == "acceleration":
                assert np.all(np.isfinite(state.u_dot))

        setattr(Watcher, f"realize_{hook}", check)
    watcher = Watcher()
    mb.force.Custom(model.forces, watcher)
    model.system.realize(model.system.realize_topology(), Stage.REPORT)
    assert watcher.calls[-1] == "report"


def test_its_force_moves_the_system(model, close):
    """M udot + bias = J^T F + f, with F and f as the user's function gives them."""
    system, matter, state = model.system, model.matter, model.state
    F, _, f = model.spring.calc_force_contribution(state)
    assert (F[0] == 100.0).all() and np.array_equal(f, -0.5 * state.u)
    total = F + model.gravity.get_body_forces(state)
    close(system.get_rigid_body_forces(state), total, 1e-14)
    close(system.get_mobility_forces(state), f, 1e-15)
    u_dot, A_GB = matter.calc_acceleration(state, f, total)
    close(state.u_dot, u_dot, 1e-12)
    close([b.get_body_acceleration(state) for b in model.bodies], A_GB, 1e-12)


def test_its_power_is_what_energy_gains(model, derivative, close):
    state, system = model.state, model.system
    rate = derivative(lambda h: system.calc_energy(model.moved(h)))
    close(rate, -0.5 * state.u @ state.u, 1e-7, 300.0)  # only the damper is not in the energy
    assert model.spring.calc_potential_energy_contribution(state) > 0.0


def test_switched_off_it_is_not_called(model):
    model.spring.disable(model.state)
    model.spring.implementation.body = None  # a call would fail
    model.system.realize(model.state)
    assert model.spring.calc_potential_energy_contribution(model.state) == 0.0
    assert not model.spring.calc_force_contribution(model.state)[0].any()


@pytest.mark.parametrize("where", ["calc_force", *(f"realize_{hook}" for hook in HOOKS)])
def test_an_exception_in_it_leaves_the_state_as_it_was(where, make):
    class Broken(RuntimeError):
        pass

    class Breaking(Spring):
        broken = False

    def fail_when_broken(self, *args):
        if self.broken:
            raise Broken(where)
        getattr(super(Breaking, self), where)(*args)

    setattr(Breaking, where, fail_when_broken)
    model = make.tree(6)
    model.spring = mb.force.Custom(model.forces, Breaking(model.bodies[6]), name="spring")
    model.made().randomize()
    state, implementation = model.state, model.spring.implementation
    expected = state.u_dot.copy()
    state.time = 0.0
    model.system.realize(state, Stage.INSTANCE)
    if where == "realize_instance":
        model.spring.disable(state)
        model.spring.enable(state)
    before = state.stage, state.valid, state.y.copy()
    implementation.broken = True
    with pytest.raises(Broken, match=where):
        model.system.realize(state, Stage.REPORT)
    assert (state.stage, state.valid) == before[:2] and np.array_equal(state.y, before[2])
    implementation.broken = False
    model.system.realize(state, Stage.REPORT)
    assert np.array_equal(state.u_dot, expected)


def test_what_depends_only_on_positions_is_computed_once_for_each_q(make):
    model = make.tree(4)

    class Still(Recorder):
        def depends_only_on_positions(self):
            return True

        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            self.calls.append("force")
            mobility_forces += np.sin(state.q[0])

    still = Still()
    mb.force.Custom(model.forces, still)
    state = model.made().randomize()
    u_dot = state.u_dot.copy()
    for _ in range(3):
        state.u = state.u + 1.0
        model.system.realize(state)
    assert still.calls.count("force") == 1
    state.u = state.u - 3.0
    model.system.realize(state)
    assert still.calls.count("force") == 1 and np.allclose(state.u_dot, u_dot, rtol=1e-9, atol=1e-9)
    q = state.q.copy()
    q[0] += 0.5
    state.q = q
    model.system.realize(state)
    assert still.calls.count("force") == 2 and not np.array_equal(state.u_dot, u_dot)
    other = state.copy()
    other.q = q - 0.5
    model.system.realize(other)
    state.u = state.u
    model.system.realize(state)
    assert np.array_equal(model.system.get_mobility_forces(state), np.full(len(state.u), np.sin(q[0])))


@pytest.mark.parametrize(
    ("stage", "again"), [(Stage.INSTANCE, True), (Stage.TIME, True), (Stage.POSITION, True), (Stage.VELOCITY, False)]
)
def test_what_depends_only_on_positions_is_kept_as_long_as_the_position_stage(make, stage, again):
    model = make.tree(2)

    class Push(mb.force.CustomImplementation):
        calls = 0

        def depends_only_on_positions(self):
            return True

        def realize_topology(self, state):
            self.gain = model.forces.allocate_discrete_variable(state, stage, 1.0)

        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            self.calls += 1
            mobility_forces += model.forces.get_discrete_variable(state, self.gain) * (1.0 + state.time)

    push = Push()
    mb.force.Custom(model.forces, push)
    state = model.system.realize_topology()
    model.system.realize(state)
    n = len(state.u)
    assert np.array_equal(model.system.get_mobility_forces(state), np.ones(n)) and push.calls == 1
    state.time = 2.0
    model.system.realize(state)
    assert np.array_equal(model.system.get_mobility_forces(state), np.full(n, 3.0)), "time moves positions"
    calls = push.calls
    model.forces.upd_discrete_variable(state, push.gain, 5.0)
    model.system.realize(state)
    assert push.calls == calls + again
    if again:
        assert np.array_equal(model.system.get_mobility_forces(state), np.full(n, 15.0))


def test_a_force_that_is_not_finite_is_found(model):
    class Infinite(mb.force.CustomImplementation):
        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            mobility_forces[0] = np.inf

    mb.force.Custom(model.forces, Infinite())
    state = model.system.realize_topology()
    model.system.realize(state, Stage.DYNAMICS)
    with pytest.raises(mb.ModelError, match="force that is infinite"):
        model.system.realize(state)
    assert state.stage == Stage.DYNAMICS


def test_an_exception_during_stepping_is_the_users_own_and_leaves_the_last_good_state(make):
    class Broken(RuntimeError):
        pass

    class Fragile(mb.force.CustomImplementation):
        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            if state.time > 0.05:
                raise Broken

    model = make.tree(3)
    mb.force.Custom(model.forces, Fragile())
    state = model.made().randomize(Stage.MODEL)
    stepper = mb.TimeStepper(model.system, mb.integrator.RungeKuttaMerson(model.system, accuracy=1e-6))
    stepper.initialize(state)
    with pytest.raises(Broken):
        stepper.step_to(1.0)
    assert stepper.time == stepper.integrator.get_advanced_time() <= 0.05
    good = mb.TimeStepper(model.system, mb.integrator.RungeKuttaMerson(model.system, accuracy=1e-6))
    good.initialize(state)
    good.step_to(stepper.time)
    assert np.allclose(good.state.y, stepper.state.y, rtol=0, atol=1e-12)


def test_only_implementations_are_taken(make):
    model = make.tree(1)
    with pytest.raises(TypeError, match="CustomImplementation"):
        mb.force.Custom(model.forces, lambda state: None)
    with pytest.raises(TypeError, match="abstract"):
        mb.force.CustomImplementation()
    spring = Spring(None)
    assert mb.force.Custom(model.forces, spring).get_implementation() is spring


def test_without_hooks_stage_by_stage(make):
    """The way of most forces: one that reads a velocity, beside a compiled element that does the same."""
    model = make.tree(4)
    seen = []

    class Damper(mb.force.CustomImplementation):
        broken = False

        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            if self.broken:
                raise RuntimeError("broken")
            seen.append(state.stage)
            mobility_forces -= 0.7 * state.u

    damper = Damper()
    mb.force.Custom(model.forces, damper)
    system = model.system
    state = system.realize_topology()
    system.realize_model(state)
    state.u = make.rng.normal(size=len(state.u))
    system.realize(state, Stage.VELOCITY)
    assert not seen
    for stage in (Stage.DYNAMICS, Stage.ACCELERATION, Stage.REPORT):
        system.realize(state, stage)
        assert state.stage == stage and seen == [Stage.VELOCITY]
    forces = system.get_rigid_body_forces(state)
    expected = model.matter.calc_acceleration(state, -0.7 * state.u, forces)[0]
    np.testing.assert_allclose(state.u_dot, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    state.u = 2.0 * state.u
    before = state.stage, state.valid
    damper.broken = True
    with pytest.raises(RuntimeError, match="broken"):
        system.realize(state)
    assert (state.stage, state.valid) == before
    damper.broken = False
    state.u = np.nan * state.u
    with pytest.raises(mb.ModelError, match="finite"):
        system.realize(state)
    assert len(seen) == 1
