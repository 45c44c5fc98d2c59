"""Subsystems that users write: what they allocate in a state, when they are called, and what integrators make of it."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mobod as mb
from mobod import Stage
from mobod.integrator.weights import error_weights

STAGES = list(Stage)


class Oscillator(mb.Subsystem):
    """q'' = -w^2 q, with w a discrete variable; everything else that can be allocated too."""

    def realize_topology(self, state):
        self.q = self.allocate_q(state, [1.0])
        self.u = self.allocate_u(state, [0.0])
        self.rate = self.allocate_discrete_variable(state, Stage.ACCELERATION, 2.0)
        self.steps = self.allocate_auto_update_discrete_variable(state, Stage.DYNAMICS, 0, Stage.TIME)
        self.square = self.allocate_cache_entry(state, Stage.POSITION, v=0.0)
        self.lazy = self.allocate_lazy_cache_entry(state, Stage.VELOCITY, [0.0])
        self.err = self.allocate_q_err(state, 1)
        self.speed_err = self.allocate_u_err(state, 2)
        self.acceleration_err = self.allocate_u_dot_err(state, 3)
        self.trigger = self.allocate_event_triggers_by_stage(state, Stage.POSITION, 2)

    def realize_position(self, state):
        q = self.get_q(state)[self.q]
        self.upd_cache_entry(state, self.square, q * q)
        self.upd_q_err(state)[self.err] = q - 1.0
        self.upd_event_triggers_by_stage(state, Stage.POSITION)[:] = q, -q

    def realize_velocity(self, state):
        self.upd_q_dot(state)[self.q] = self.get_u(state)[self.u]
        self.upd_u_err(state)[:] = 3.0, 4.0

    def realize_dynamics(self, state):
        self.upd_discrete_var_update_value(state, self.steps, self.get_discrete_variable(state, self.steps) + 1)
        self.mark_discrete_var_update_value_realized(state, self.steps)

    def realize_acceleration(self, state):
        a = -(self.get_discrete_variable(state, self.rate) ** 2) * self.get_q(state)[self.q]
        self.upd_u_dot(state)[self.u] = self.upd_q_dot_dot(state)[self.q] = a
        self.upd_u_dot_err(state)[:] = 5.0, 6.0, 7.0
        self.upd_multipliers(state)[:] = 8.0, 9.0, 10.0


class Decay(mb.Subsystem):
    """z' = -k z for two z; as many more z as a modelling choice says, which stay; and two q that stay."""

    def realize_topology(self, state):
        self.more = self.allocate_discrete_variable(state, Stage.MODEL, 0)
        self.z = self.allocate_z(state, [2.0])
        self.other = self.allocate_z(state, [3.0])
        self.at_rest = self.allocate_q(state, [7.0, 8.0])
        self.err = self.allocate_q_err(state, 2)

    def realize_model(self, state):
        count = self.get_discrete_variable(state, self.more)
        self.extra = self.allocate_z(state, np.full(count, 5.0))

    def realize_dynamics(self, state):
        self.upd_z_dot(state)[: self.extra] = -np.array([1.0, 0.5]) * self.get_z(state)[: self.extra]


class Plant:
    """A pendulum on a ball joint, gravity, and two subsystems beside them."""

    def __init__(self, *, first=False):
        self.system = mb.MultibodySystem("plant")
        self.oscillator = Oscillator(self.system, "oscillator") if first else None
        self.matter = mb.SimbodyMatterSubsystem(self.system)
        self.forces = mb.GeneralForceSubsystem(self.system)
        mb.force.Gravity(self.forces, self.matter, (0, -9.81, 0))
        rod = mb.body.Rigid(mb.MassProperties(1.0, (0.1, -1, 0), mb.Inertia(2, 1.5, 2)))
        self.ball = mb.mobilizer.Ball(self.matter.ground, rod, name="ball")
        if self.oscillator is None:
            self.oscillator = Oscillator(self.system, "oscillator")
        self.decay = Decay(self.system, "decay")
        self.state = self.system.realize_topology()
        self.ball.set_u(self.state, [0.3, 0.2, -0.4])

    def realized(self, stage=Stage.ACCELERATION):
        self.system.realize(self.state, stage)
        return self.state


@pytest.fixture
def plant():
    return Plant()


def snapshot(state):
    return state.stage, state.time, state.y.copy(), state.resources.snapshot()


def same(a, b):
    parts = all(p[0].keys() == q[0].keys() and p[2:] == q[2:] for p, q in zip(a[3].values(), b[3].values(), strict=True))
    return a[:2] == b[:2] and np.array_equal(a[2], b[2], equal_nan=True) and parts


# ---------------------------------------------------------------------------------------------- q, u, z


@pytest.mark.parametrize("first", [False, True], ids=["matter first", "matter second"])
def test_runs_are_contiguous_and_the_matters_come_first(first):
    plant = Plant(first=first)
    state, matter, oscillator, decay = plant.state, plant.matter, plant.oscillator, plant.decay
    assert_array_equal(state.q, [1, 0, 0, 0, 1, 7, 8])
    assert_array_equal(state.u, [0.3, 0.2, -0.4, 0])
    assert_array_equal(state.z, [2, 3])
    assert [(s.get_q_start(state), s.get_n_q(state)) for s in (matter, oscillator, decay)] == [(0, 4), (4, 1), (5, 2)]
    assert [(s.get_u_start(state), s.get_n_u(state)) for s in (matter, oscillator, decay)] == [(0, 3), (3, 1), (4, 0)]
    assert [(s.get_z_start(state), s.get_n_z(state)) for s in (matter, oscillator, decay)] == [(0, 0), (0, 0), (0, 2)]
    assert_array_equal(state.y, np.concatenate([state.q, state.u, state.z]))
    assert (oscillator.q, decay.at_rest, decay.z, decay.other) == (0, 0, 0, 1)
    assert_array_equal(decay.get_q(state), [7, 8])
    assert_array_equal(matter.get_u(state), [0.3, 0.2, -0.4])
    assert plant.forces.get_n_q(state) == plant.forces.get_n_z(state) == 0
    assert "7 q, 4 u, 2 z" in repr(state)


def test_a_system_without_resources_answers_too(make):
    model = make.tree(4)
    state = model.state
    forces = model.forces
    assert (model.matter.get_n_q(state), model.matter.get_n_u(state)) == (len(state.q), len(state.u))
    assert forces.get_q_start(state) == len(state.q)
    assert forces.get_n_z(state) == 0
    model.system.realize(state)
    assert_array_equal(model.matter.get_q_err(state), state.q_err)
    assert_array_equal(model.matter.get_u_dot(state), state.u_dot)
    assert forces.get_multipliers(state).shape == forces.get_event_triggers_by_stage(state, Stage.TIME).shape == (0,)
    assert_array_equal(model.matter.get_u_weights(state), np.ones(len(state.u)))
    assert not model.system.is_interpreted  # asking changes nothing of how the system is realized


@pytest.mark.parametrize(("name", "stage"), [("q", Stage.TIME), ("u", Stage.POSITION), ("z", Stage.VELOCITY)])
def test_setting_a_part_sets_no_other_and_lowers_the_stage(name, stage, plant):
    subsystem = plant.decay if name == "z" else plant.oscillator
    state = plant.realized(Stage.REPORT)
    before = state.y.copy()
    values = np.full(getattr(subsystem, f"get_n_{name}")(state), 0.25)
    getattr(subsystem, f"set_{name}")(state, values)
    assert state.stage == stage
    assert_array_equal(getattr(subsystem, f"get_{name}")(state), values)
    start = getattr(subsystem, f"get_{name}_start")(state)
    offset = {"q": 0, "u": len(state.q), "z": len(state.q) + len(state.u)}[name] + start
    changed = np.flatnonzero(state.y != before)
    assert_array_equal(changed, np.arange(offset, offset + len(values)))

    plant.realized()
    view = getattr(subsystem, f"upd_{name}")(state)
    assert state.stage == stage
    view[:] = 0.5
    assert np.all(getattr(subsystem, f"get_{name}")(state) == 0.5)
    assert not getattr(subsystem, f"get_{name}")(state).flags.writeable

    plant.realized()
    kept = snapshot(state)
    with pytest.raises(ValueError, match="shape"):
        getattr(subsystem, f"set_{name}")(state, np.zeros(len(values) + 1))
    assert same(snapshot(state), kept)


@pytest.mark.parametrize(
    ("name", "stage"),
    [("q_dot", Stage.VELOCITY), ("z_dot", Stage.DYNAMICS), ("u_dot", Stage.ACCELERATION), ("q_dot_dot", Stage.ACCELERATION)],
)
def test_rates_need_their_stage(name, stage, plant):
    state = plant.realized(Stage(stage - 1))
    with pytest.raises(mb.StageError, match=f"get_{name} needs Stage.{stage.name}"):
        getattr(plant.decay, f"get_{name}")(state)
    plant.realized(stage)
    assert not getattr(plant.oscillator, f"get_{name}")(state).flags.writeable
    getattr(plant.oscillator, f"upd_{name}")(state)
    assert state.stage == stage


def test_subsystems_leave_the_mechanics_alone(plant):
    """udot, M, N, energy and reports of the bodies are to the bit those of the same pendulum without subsystems."""
    alone = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(alone)
    mb.force.Gravity(mb.GeneralForceSubsystem(alone), matter, (0, -9.81, 0))
    ball = mb.mobilizer.Ball(matter.ground, plant.ball.get_body(), name="ball")
    state = alone.realize_topology()
    ball.set_u(state, [0.3, 0.2, -0.4])
    alone.realize(state)
    with_more = plant.realized()
    assert_array_equal(plant.matter.get_u_dot(with_more), state.u_dot)
    assert_array_equal(plant.matter.get_q_dot_dot(with_more), state.q_dot_dot)
    assert_array_equal(plant.matter.calc_m(with_more), matter.calc_m(state))
    assert_array_equal(plant.matter.multiply_by_m(with_more, [1, 2, 3]), matter.multiply_by_m(state, [1, 2, 3]))
    assert_array_equal(plant.matter.calc_q_dot(with_more, plant.matter.get_u(with_more)), matter.calc_q_dot(state, state.u))
    assert_array_equal(plant.matter.calc_q_dot_dot(with_more, [1, 2, 3]), matter.calc_q_dot_dot(state, [1, 2, 3]))
    assert plant.system.calc_energy(with_more) == alone.calc_energy(state)
    for whole in (with_more.q, plant.matter.get_q(with_more)):
        assert_array_equal(plant.ball.get_my_part_q(with_more, whole), plant.ball.get_q(with_more))
    with pytest.raises(ValueError, match="shape"):
        plant.ball.get_my_part_q(with_more, np.zeros(5))


def test_motions_and_particles_stand_beside_subsystems():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -9.81, 0))
    rod = mb.body.Rigid(mb.MassProperties(1.0, (0.1, -1, 0), mb.Inertia(2, 1.5, 2)))
    driven = mb.mobilizer.Pin(matter.ground, rod, name="driven")
    mb.mobilizer.Pin(driven, rod, name="free")
    mb.motion.Sinusoid(driven, mb.Motion.Level.POSITION, 0.5, 2.0, 0.0)
    matter.add_particles([1.0], [[1.0, 2.0, 3.0]])
    oscillator, decay = Oscillator(system, "oscillator"), Decay(system, "decay")
    state = system.realize_topology()
    motion = mb.simulate(system, state, 1.0, accuracy=1e-8)
    assert_allclose(motion.q[-1, [0, 2]], [0.5 * np.sin(2), np.cos(2)], atol=1e-7)
    assert_allclose(motion.z[-1], [2 * np.exp(-1), 3 * np.exp(-0.5)], atol=1e-7)
    end = motion.states[-1]
    system.realize(end)
    assert_allclose(matter.calc_motion_errors(end, Stage.ACCELERATION), [0.0], atol=1e-12)
    assert_allclose(matter.calc_motion_power(end), -(matter.find_motion_forces(end) @ matter.get_u(end)), rtol=1e-12)
    assert_allclose(oscillator.get_u_dot(end), -4 * oscillator.get_q(end), rtol=1e-15)
    moved = [[2.0, 2.0, 3.0]]
    matter.set_all_particle_locations(end, moved)
    decay.upd_discrete_variable(end, decay.more, 2)
    system.realize_model(end)
    system.realize(end)
    assert_array_equal(matter.get_all_particle_locations(end), moved)


# ---------------------------------------------------------------------------------------------- integration


def test_z_and_q_of_subsystems_move_as_they_should(plant):
    accuracy = 1e-9
    motion = mb.simulate(plant.system, plant.state, 3.0, accuracy=accuracy)
    t = motion.time
    # errors of some hundred steps of 1e-9; between steps q is a cubic of its ends, whose error is that of the method
    assert_allclose(motion.q[:, 4], np.cos(2 * t), atol=1e-6)
    assert_allclose(motion.u[:, 3], -2 * np.sin(2 * t), atol=2e-6)
    assert_allclose(motion.z, np.column_stack([2 * np.exp(-t), 3 * np.exp(-0.5 * t)]), atol=1e-6)
    assert_allclose(motion.q[:, 5:], np.tile([7.0, 8.0], (len(t), 1)), rtol=1e-14)  # interpolated
    assert motion.energy_drift < 1e-6


def test_what_subsystems_add_has_names_in_tables_and_files(plant, tmp_path):
    twin = Decay(plant.system, "decay")
    plant.state = plant.system.realize_topology()
    motion = mb.simulate(plant.system, plant.state, 0.5)
    assert motion.coordinate_names[4:] == ("oscillator", "decay[0]", "decay[1]", "decay_[0]", "decay_[1]")
    assert motion.speed_names[3:] == ("oscillator",)
    assert motion.auxiliary_names == ("decay[0]", "decay[1]", "decay_[0]", "decay_[1]")
    for extension in (".npz", ".csv"):
        motion.save(tmp_path / f"motion{extension}")
        again = mb.Trajectory.load(tmp_path / f"motion{extension}", system=plant.system)
        assert again.auxiliary_names == motion.auxiliary_names
        assert_array_equal(again.z, motion.z)
        assert_array_equal(twin.get_z(again.states[-1]), motion.z[-1, 2:])
    motion.plot(tmp_path / "motion.png")
    with pytest.raises(ValueError, match="auxiliary_names"):
        mb.Trajectory(time=[0], q=[[0]], u=[[0]], energy=[0], coordinate_names="q", speed_names="u", auxiliary_names="z")


def test_a_variable_that_updates_itself_changes_once_a_step(plant):
    integrator = mb.integrator.RungeKuttaMerson(plant.system, accuracy=1e-6)
    stepper = mb.TimeStepper(plant.system, integrator)
    stepper.initialize(plant.state)
    oscillator = plant.oscillator
    assert oscillator.get_discrete_variable(stepper.state, oscillator.steps) == 0
    assert oscillator.get_discrete_var_update_value(stepper.state, oscillator.steps) == 1
    for end in (0.01, 0.5, 0.5, 1.0):
        stepper.step_to(end)
        # at the beginning of the first step it becomes 1, and at that of the last one the number of steps
        assert oscillator.get_discrete_variable(stepper.state, oscillator.steps) == integrator.get_num_steps_taken()
        last = oscillator.get_discrete_var_last_update_time(stepper.state, oscillator.steps)
        assert_allclose(last, integrator.get_advanced_time() - integrator.get_previous_step_size_taken(), atol=1e-14)
    assert oscillator.get_discrete_variable(plant.state, oscillator.steps) == 0  # a copy was integrated
    assert np.isnan(oscillator.get_discrete_var_last_update_time(plant.state, oscillator.steps))


class Memory(mb.Subsystem):
    """Remembers the z of the last step's end, and the largest so far; z = sin t."""

    def realize_topology(self, state):
        self.allocate_z(state, [0.0])
        self.last = self.allocate_auto_update_discrete_variable(state, Stage.REPORT, np.zeros(2), Stage.TIME)

    def realize_dynamics(self, state):
        self.upd_z_dot(state)[0] = np.cos(state.time)
        z, largest = self.get_z(state)[0], self.get_discrete_variable(state, self.last)[1]
        self.upd_discrete_var_update_value(state, self.last)[:] = z, max(z, largest)
        self.mark_discrete_var_update_value_realized(state, self.last)


def test_reports_do_not_disturb_what_a_variable_remembers():
    """Reports between steps are interpolated, at earlier times than the step that has been taken."""
    ends = []
    for times in ([4.0], np.linspace(0.001, 4.0, 173)):
        system = mb.MultibodySystem()
        matter = mb.SimbodyMatterSubsystem(system)
        body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.Inertia(1, 1, 1)))
        mb.mobilizer.Slider(matter.ground, body)
        memory = Memory(system)
        stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-6))
        stepper.initialize(system.realize_topology())
        seen = []
        for time in times:
            stepper.step_to(time)
            seen.append(memory.get_discrete_variable(stepper.state, memory.last).copy())
        ends.append(seen[-1])
        began = stepper.integrator.get_advanced_time() - stepper.integrator.get_previous_step_size_taken()
        assert_allclose(seen[-1], [np.sin(began), 1.0], atol=1e-2)  # the largest at some step's end, near a half pi
        assert_allclose(seen[-1][0], np.sin(began), atol=1e-4)
        assert np.all(np.diff([one[1] for one in seen]) >= 0)
    assert_array_equal(ends[0], ends[1])


def test_a_change_by_hand_counts_more_than_an_update(plant):
    oscillator, state = plant.oscillator, plant.realized()
    assert oscillator.is_discrete_var_update_value_realized(state, oscillator.steps)
    oscillator.upd_discrete_variable(state, oscillator.steps, 10)
    assert not oscillator.is_discrete_var_update_value_realized(state, oscillator.steps)
    assert state.stage == Stage.VELOCITY
    state.auto_update_discrete_variables()  # nothing is realized, nothing happens
    assert oscillator.get_discrete_variable(state, oscillator.steps) == 10
    state.time = 2.5
    plant.realized()
    state.auto_update_discrete_variables()
    assert state.stage == Stage.ACCELERATION
    assert oscillator.get_discrete_variable(state, oscillator.steps) == 11
    assert oscillator.get_discrete_var_last_update_time(state, oscillator.steps) == 2.5
    with pytest.raises(mb.StageError, match="out of date"):
        oscillator.get_discrete_var_update_value(state, oscillator.steps)

    stepper = mb.TimeStepper(plant.system, mb.integrator.RungeKuttaMerson(plant.system))
    stepper.initialize(plant.state)
    stepper.step_to(2.6)
    oscillator.upd_discrete_variable(stepper.state, oscillator.steps, -100)
    steps = stepper.integrator.get_num_steps_taken()
    stepper.step_to(5.0)
    # the change undid the update that was due; the state is realized anew, and every step from there has one
    taken = stepper.integrator.get_num_steps_taken() - steps
    assert oscillator.get_discrete_variable(stepper.state, oscillator.steps) == -100 + taken


# ---------------------------------------------------------------------------------------------- hooks


class Listener(mb.Subsystem):
    """Writes down when it is called, and what the state and its own stage are then."""

    def __init__(self, system, name):
        super().__init__(system, name)
        self.calls = []

    def _hear(self, hook, state):
        self.calls.append((hook, state.stage, self.get_stage(state)))


for _stage in STAGES[1:]:
    _hook = f"realize_{_stage.name.lower()}"
    setattr(Listener, _hook, lambda self, state, hook=_stage: self._hear(hook, state))


def test_hooks_are_called_stage_by_stage_in_the_order_of_the_subsystems():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.Inertia(1, 1, 1)))
    mb.mobilizer.Slider(matter.ground, body)
    one, two = Listener(system, "one"), Listener(system, "two")
    two.calls = one.calls
    state = system.realize_topology()
    assert state.stage == one.get_stage(state) == Stage.MODEL
    # the state is below TOPOLOGY and MODEL while these are realized, and at any other stage when its hooks are called;
    # a subsystem itself is there only afterwards
    early = [(Stage.TOPOLOGY, Stage.EMPTY, Stage.EMPTY), (Stage.MODEL, Stage.TOPOLOGY, Stage.TOPOLOGY)]
    late = [(stage, stage, Stage(stage - 1)) for stage in STAGES[Stage.INSTANCE :]]
    assert one.calls == [call for call in early for _ in (one, two)]
    one.calls.clear()
    system.realize(state, Stage.REPORT)
    assert one.calls == [call for call in late for _ in (one, two)]
    assert one.get_stage(state) == Stage.REPORT
    one.calls.clear()
    system.realize(state, Stage.REPORT)
    system.realize_model(state)
    assert one.calls == []
    state.u = state.u
    system.realize(state, Stage.DYNAMICS)
    assert [call[0] for call in one.calls] == [Stage.VELOCITY] * 2 + [Stage.DYNAMICS] * 2


def test_a_subsystem_advanced_by_hand_is_not_asked_again(plant):
    state = plant.system.realize_topology()
    listener = plant.decay
    assert listener.get_stage(state) == Stage.MODEL
    for stage in (Stage.TIME, Stage.MODEL, Stage.TOPOLOGY):
        with pytest.raises(mb.StageError, match="one step at a time"):
            listener.advance_to_stage(state, stage)
    for stage in STAGES[Stage.INSTANCE : Stage.DYNAMICS + 1]:
        listener.advance_to_stage(state, stage)
    assert listener.get_stage(state) == Stage.DYNAMICS
    assert state.stage == plant.oscillator.get_stage(state) == Stage.MODEL
    plant.system.realize(state, Stage.DYNAMICS)
    assert_array_equal(listener.get_z_dot(state), [0, 0])  # its hook was not called
    state.z = state.z
    assert listener.get_stage(state) == Stage.VELOCITY
    plant.system.realize(state, Stage.DYNAMICS)
    assert_array_equal(listener.get_z_dot(state), [-2, -1.5])


# ---------------------------------------------------------------------------------------------- discrete variables


@pytest.mark.parametrize("stage", STAGES[Stage.MODEL :], ids=lambda s: s.name)
def test_a_discrete_variable_invalidates_the_stage_it_says(stage):
    class One(mb.Subsystem):
        def realize_topology(self, state):
            self.index = self.allocate_discrete_variable(state, stage, {"a": [1]})

    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.Inertia(1, 1, 1)))
    mb.mobilizer.Ball(matter.ground, body)
    one = One(system)
    state = system.realize_topology()
    state.q = [0, 1, 0, 0]
    system.realize(state, Stage.REPORT)
    other = state.copy()
    one.upd_discrete_variable(state, one.index)["a"].append(2)
    assert state.stage == stage - 1
    assert one.get_discrete_variable(state, one.index) == {"a": [1, 2]}
    assert one.get_discrete_variable(other, one.index) == {"a": [1]}
    assert other.stage == Stage.REPORT
    assert one.get_discrete_variable(system.realize_topology(), 0) == {"a": [1]}
    if stage == Stage.MODEL:
        system.realize_model(state)
    system.realize(state, Stage.REPORT)
    assert one.get_discrete_variable(state, one.index) == {"a": [1, 2]}
    assert_array_equal(state.q, [0, 1, 0, 0])
    new = {"b": 1}
    assert one.upd_discrete_variable(state, one.index, new) == new
    new["b"] = 2
    assert one.get_discrete_variable(state, one.index) == {"b": 1}


def test_a_parameter_of_one_state_is_not_anothers(plant):
    oscillator = plant.oscillator
    fast = plant.realized().copy()
    oscillator.upd_discrete_variable(fast, oscillator.rate, 3.0)
    assert fast.stage == Stage.DYNAMICS
    plant.system.realize(fast)
    assert oscillator.get_u_dot(fast)[0] == -9.0
    assert oscillator.get_u_dot(plant.state)[0] == -4.0


def test_a_modelling_choice_changes_how_much_there_is(plant):
    state, decay, oscillator = plant.realized(), plant.decay, plant.oscillator
    state.z, state.time = [0.2, 0.3], 1.5
    oscillator.set_q(state, [0.75])
    decay.upd_discrete_variable(state, decay.more, 3)
    assert state.stage == Stage.TOPOLOGY
    with pytest.raises(mb.StageError, match="realize_model"):
        decay.get_z(state)
    plant.system.realize_model(state)
    assert (decay.get_n_z(state), decay.extra, state.time) == (5, 2, 1.5)
    assert_array_equal(decay.get_z(state), [2, 3, 5, 5, 5])  # as many as before keep their values, other numbers start anew
    assert_array_equal(oscillator.get_q(state), [0.75])
    assert_array_equal(plant.matter.get_u(state), [0.3, 0.2, -0.4])
    plant.realized()
    assert_array_equal(decay.get_z_dot(state), [-2, -1.5, 0, 0, 0])
    assert decay.get_n_z(plant.system.get_default_state()) == 2
    state.z = [1, 2, 3, 4, 5]
    plant.matter.set_use_euler_angles(state, True)
    plant.system.realize_model(state)
    assert_array_equal(state.q, [0, 0, 0, 0.75, 7, 8])
    assert_array_equal(state.z, [1, 2, 3, 4, 5])
    back = plant.matter.convert_to_quaternions(plant.realized())
    assert_array_equal(back.q, [1, 0, 0, 0, 0.75, 7, 8])
    assert_array_equal(back.z, [1, 2, 3, 4, 5])


# ---------------------------------------------------------------------------------------------- cache entries

CHANGES = {
    Stage.INSTANCE: lambda plant, state: plant.forces.get_force(0).disable(state),
    Stage.TIME: lambda plant, state: setattr(state, "time", 1.0),
    Stage.POSITION: lambda plant, state: setattr(state, "q", state.q),
    Stage.VELOCITY: lambda plant, state: setattr(state, "u", state.u),
    Stage.DYNAMICS: lambda plant, state: setattr(state, "z", state.z),
    Stage.ACCELERATION: lambda plant, state: plant.oscillator.upd_discrete_variable(state, plant.oscillator.rate),
}


@pytest.mark.parametrize("again", [False, True], ids=["below", "realized again"])
@pytest.mark.parametrize("changed", CHANGES, ids=lambda s: s.name)
@pytest.mark.parametrize("depends_on", STAGES[Stage.TOPOLOGY :], ids=lambda s: s.name)
def test_a_lazy_entry_is_valid_until_its_stage_is_invalidated(depends_on, changed, again, plant):
    class Holder(mb.Subsystem):
        def realize_topology(self, state):
            self.index = self.allocate_lazy_cache_entry(state, depends_on, 0)

    holder = Holder(plant.system)
    plant.state = plant.system.realize_topology()
    state = plant.realized(Stage.REPORT)
    assert not holder.is_cache_value_realized(state, holder.index)
    holder.upd_cache_entry(state, holder.index, 1)
    assert not holder.is_cache_value_realized(state, holder.index)
    holder.mark_cache_value_realized(state, holder.index)
    assert holder.get_cache_entry(state, holder.index) == 1
    assert state.stage == Stage.REPORT
    CHANGES[changed](plant, state)
    assert state.stage == changed - 1
    if again:
        plant.realized(Stage.REPORT)
    assert holder.is_cache_value_realized(state, holder.index) == (depends_on < changed)
    if depends_on >= changed:
        with pytest.raises(mb.StageError, match="out of date"):
            holder.get_cache_entry(state, holder.index)


def test_an_entry_computed_by_a_stage_is_there_at_that_stage(plant):
    oscillator, state = plant.oscillator, plant.realized(Stage.TIME)
    with pytest.raises(mb.StageError, match=r"realize\(state, Stage.POSITION\)"):
        oscillator.get_cache_entry(state, oscillator.square)
    plant.realized(Stage.POSITION)
    assert oscillator.get_cache_entry(state, oscillator.square) == 1.0
    oscillator.set_q(state, [3.0])
    assert not oscillator.is_cache_value_realized(state, oscillator.square)
    plant.realized(Stage.POSITION)
    assert oscillator.get_cache_entry(state, oscillator.square) == 9.0
    oscillator.mark_cache_value_not_realized(state, oscillator.square)
    plant.realized(Stage.REPORT)
    assert not oscillator.is_cache_value_realized(state, oscillator.square)
    oscillator.mark_cache_value_realized(state, oscillator.square)
    assert oscillator.is_cache_value_realized(state, oscillator.square)


def test_an_entry_may_be_computed_one_stage_early(plant):
    oscillator, state = plant.oscillator, plant.realized(Stage.TIME)
    with pytest.raises(mb.StageError, match="mark_cache_value_realized"):
        oscillator.mark_cache_value_realized(state, oscillator.lazy)
    plant.realized(Stage.POSITION)
    oscillator.upd_cache_entry(state, oscillator.lazy)[0] = 4.0
    oscillator.mark_cache_value_realized(state, oscillator.lazy)
    assert not oscillator.is_cache_value_realized(state, oscillator.lazy)  # not before its stage
    plant.realized(Stage.VELOCITY)
    assert oscillator.get_cache_entry(state, oscillator.lazy) == [4.0]


def test_entries_depend_on_variables_and_on_other_entries(plant):
    oscillator = plant.oscillator

    class Chain(mb.Subsystem):
        def realize_topology(self, state):
            self.gain = self.allocate_discrete_variable(state, Stage.REPORT, 1.0)
            self.of_gain = self.allocate_lazy_cache_entry(state, Stage.INSTANCE, 0.0, discrete_variables=[self.gain])
            self.of_q = self.allocate_lazy_cache_entry(state, Stage.INSTANCE, 0.0, variables=["q"])
            self.of_both = self.allocate_cache_entry(
                state,
                Stage.VELOCITY,
                Stage.REPORT,
                0.0,
                discrete_variables=[(oscillator, oscillator.rate)],
                cache_entries=[self.of_gain, (oscillator, oscillator.square), (self, self.of_q)],
            )

        def all(self, state):
            for entry in (self.of_gain, self.of_q):
                self.mark_cache_value_realized(state, entry)
            self.mark_cache_value_realized(state, self.of_both)

        def valid(self, state):
            return [self.is_cache_value_realized(state, entry) for entry in (self.of_gain, self.of_q, self.of_both)]

    chain = Chain(plant.system)
    state = plant.state = plant.system.realize_topology()
    plant.realized()
    with pytest.raises(mb.StageError, match="realize that one first"):
        chain.mark_cache_value_realized(state, chain.of_both)
    chain.all(state)
    assert chain.valid(state) == [True, True, True]
    chain.upd_discrete_variable(state, chain.gain, 2.0)
    assert chain.valid(state) == [False, True, False]
    chain.mark_cache_value_realized(state, chain.of_gain)
    assert chain.valid(state) == [True, True, False]  # computed from the old one
    chain.all(state)
    oscillator.upd_discrete_variable(state, oscillator.rate, 2.5)
    assert chain.valid(state) == [True, True, False]
    plant.realized()
    chain.all(state)
    state.time, state.u = 1.0, state.u + 1.0
    plant.realized()
    assert chain.valid(state) == [True, True, False]
    chain.all(state)
    state.q = state.q + 0.5
    plant.realized()
    assert chain.valid(state) == [True, False, False]
    state.q = state.q - 0.5
    assert chain.valid(state)[:2] == [True, True]  # it belongs to these very q
    chain.mark_cache_value_not_realized(state, chain.of_q)
    assert chain.valid(state)[:2] == [True, False]


# ---------------------------------------------------------------------------------------------- slots, weights


def test_each_subsystem_has_its_slots(plant):
    state, matter, oscillator, decay = plant.state, plant.matter, plant.oscillator, plant.decay
    with pytest.raises(mb.StageError, match="INSTANCE"):
        oscillator.get_n_q_err(state)
    plant.realized(Stage.INSTANCE)
    assert [(s.get_q_err_start(state), s.get_n_q_err(state)) for s in (matter, oscillator, decay)] == [(0, 1), (1, 1), (2, 2)]
    assert (oscillator.get_u_err_start(state), oscillator.get_n_u_err(state)) == (0, 2)
    assert (decay.get_u_dot_err_start(state), decay.get_n_u_dot_err(state)) == (3, 0)
    assert (oscillator.get_multipliers_start(state), oscillator.get_n_multipliers(state)) == (0, 3)
    assert oscillator.get_event_trigger_start_by_stage(state, Stage.POSITION) == 0
    assert decay.get_event_trigger_start_by_stage(state, Stage.POSITION) == 2
    assert oscillator.get_n_event_triggers_by_stage(state, Stage.POSITION) == 2
    assert oscillator.get_n_event_triggers_by_stage(state, Stage.TIME) == 0
    state.q = [2, 0, 0, 0, 3, 7, 8]
    for name, stage in (
        ("q_err", "POSITION"),
        ("u_err", "VELOCITY"),
        ("u_dot_err", "ACCELERATION"),
        ("multipliers", "ACCELERATION"),
    ):
        with pytest.raises(mb.StageError, match=f"get_{name} needs Stage.{stage}"):
            getattr(oscillator, f"get_{name}")(state)
    with pytest.raises(mb.StageError, match=r"get_event_triggers_by_stage needs Stage.POSITION"):
        oscillator.get_event_triggers_by_stage(state, Stage.POSITION)
    plant.realized()
    assert_array_equal(state.q_err, [1, 2, 0, 0])
    assert_array_equal(matter.get_q_err(state), [1])
    assert_array_equal(oscillator.get_q_err(state), [2])
    assert_array_equal(oscillator.get_u_err(state), [3, 4])
    assert_array_equal(state.u_err, [3, 4])
    assert_array_equal(state.u_dot_err, [5, 6, 7])
    assert_array_equal(oscillator.get_u_dot_err(state), [5, 6, 7])
    assert_array_equal(state.multipliers, [8, 9, 10])
    assert_array_equal(oscillator.get_multipliers(state), [8, 9, 10])
    assert_array_equal(oscillator.get_event_triggers_by_stage(state, Stage.POSITION), [3, -3])
    assert not oscillator.get_q_err(state).flags.writeable
    matter.set_use_euler_angles(state, True)
    plant.system.realize_model(state)
    plant.realized()
    assert_array_equal(state.q_err, [2, 0, 0])


def test_slots_may_be_allocated_at_instance_and_are_made_anew_with_it(plant):
    class Contact(mb.Subsystem):
        count = 2

        def realize_instance(self, state):
            self.first = self.allocate_q_err(state, self.count)
            self.entry = self.allocate_lazy_cache_entry(state, Stage.POSITION, None)
            with pytest.raises(mb.StageError, match=r"below Stage.MODEL"):
                self.allocate_z(state, [1.0])
            with pytest.raises(mb.StageError, match="INSTANCE"):
                self.get_n_q_err(state)

    contact = Contact(plant.system)
    state = plant.state = plant.system.realize_topology()
    plant.realized()
    for _ in range(3):
        assert (contact.get_n_q_err(state), contact.first, contact.entry) == (2, 0, 0)
        assert len(state.q_err) == 6
        plant.forces.get_force(0).disable(state)
        plant.forces.get_force(0).enable(state)
        assert state.stage == Stage.MODEL
        with pytest.raises(IndexError, match="it has none"):
            contact.upd_cache_entry(state, contact.entry)
        plant.realized()


def test_weights_are_ones_until_they_are_set(plant):
    state, oscillator, decay = plant.realized(Stage.REPORT), plant.oscillator, plant.decay
    for name, stage in (("u", Stage.ACCELERATION), ("z", Stage.ACCELERATION), ("q_err", Stage.TIME), ("u_err", Stage.POSITION)):
        plant.realized(Stage.REPORT)
        whole = getattr(state, f"{name}_weights")
        assert_array_equal(whole, np.ones(len(whole)))
        assert not whole.flags.writeable
        for wrong in (np.ones(len(whole) + 1), np.zeros(len(whole)), np.full(len(whole), np.nan)):
            with pytest.raises(ValueError, match=f"{name}_weights"):
                setattr(state, f"{name}_weights", wrong)
        assert state.stage == Stage.REPORT
        setattr(state, f"{name}_weights", np.arange(1.0, len(whole) + 1))
        assert state.stage == stage
        getattr(state, f"upd_{name}_weights")()[-1] = 9.0
        owner = {"u": oscillator, "z": decay, "q_err": decay, "u_err": oscillator}[name]
        assert getattr(owner, f"get_{name}_weights")(state)[-1] == 9.0
        assert getattr(state.copy(), f"{name}_weights")[-1] == 9.0
        assert plant.system.realize_topology().copy().u_weights[-1] == 1.0


def test_integrators_measure_errors_by_the_weights(plant):
    """In units a power of two smaller, with weights so much larger, every step is the same to the bit."""

    def steps(scale, weight):
        state = plant.system.realize_topology()
        state.u = [0.3, 0.2, -0.4, 0]
        plant.oscillator.set_q(state, [scale])
        plant.decay.set_z(state, [2 * scale, 3 * scale])
        if weight != 1.0:
            state.u_weights, state.z_weights = [1, 1, 1, weight], [weight, weight]
        motion = mb.simulate(plant.system, state, 2.0, accuracy=1e-7)
        return motion.evaluations, motion.z / scale, plant.ball, motion.q[:, 4] / scale

    one, small, unweighted = steps(1.0, 1.0), steps(2.0**-20, 2.0**20), steps(2.0**-20, 1.0)
    assert one[0] == small[0]
    assert_array_equal(one[1], small[1])
    assert_array_equal(one[3], small[3])
    assert unweighted[0] < one[0]  # by the pendulum alone


def test_weights_of_u_are_weights_of_q(make):
    kinds = [mb.mobilizer.Free, mb.mobilizer.Pin, mb.mobilizer.FreeLine, mb.mobilizer.Ball]
    for euler in (False, True):
        model = make.tree(4, kinds)
        matter, state = model.matter, model.state
        matter.set_use_euler_angles(state, euler)
        model.system.realize_model(state)
        state.u_weights = weights = np.arange(1.0, len(state.u) + 1)
        given = error_weights(state)
        assert_array_equal(given[len(state.q) :], weights)
        for body in matter.bodies[1:]:
            own, of_q = body.get_my_part_u(state, weights), body.get_my_part_q(state, given[: len(state.q)])
            if isinstance(body, mb.mobilizer.Pin):
                assert own == of_q
                continue
            n = 3 if euler else 4
            angular = 2 if isinstance(body, mb.mobilizer.FreeLine) else 3
            assert_array_equal(of_q, [own[angular - 1]] * n + list(own[angular:]))


# ---------------------------------------------------------------------------------------------- copies


def everything(plant, state):
    oscillator, decay = plant.oscillator, plant.decay
    return [
        *(getattr(state, name).tolist() for name in ("q", "u", "z", "q_dot", "u_dot", "z_dot", "q_dot_dot")),
        *(getattr(state, name).tolist() for name in ("q_err", "u_err", "u_dot_err", "multipliers", "u_weights", "z_weights")),
        oscillator.get_discrete_variable(state, 0),
        oscillator.get_discrete_variable(state, 1),
        oscillator.get_cache_entry(state, oscillator.square),
        oscillator.is_cache_value_realized(state, oscillator.lazy),
        oscillator.get_discrete_var_update_value(state, oscillator.steps),
        oscillator.get_event_triggers_by_stage(state, Stage.POSITION).tolist(),
        decay.get_discrete_variable(state, decay.more),
        state.stage,
    ]


@pytest.mark.parametrize("how", ["copy", "deepcopy", "pickle", "both pickled", "both deep copied"])
def test_copies_have_everything_and_share_nothing(how, plant):
    state, oscillator, decay = plant.state, plant.oscillator, plant.decay
    decay.upd_discrete_variable(state, decay.more, 1)
    plant.system.realize_model(state)
    oscillator.upd_discrete_variable(state, oscillator.rate, 3.0)
    state.u_weights = [1, 2, 3, 4]
    plant.realized()
    oscillator.mark_cache_value_realized(state, oscillator.lazy)
    expected = everything(plant, state)
    other, other_plant = None, plant
    if how == "copy":
        other = state.copy()
    elif how == "deepcopy":
        other = copy.copy(state)
    elif how == "pickle":
        other_plant, other = pickle.loads(pickle.dumps((plant, state)))
    elif how == "both pickled":
        other_plant = pickle.loads(pickle.dumps(plant))
        other = other_plant.state
    else:
        other_plant = copy.deepcopy(plant)
        other = other_plant.state
        assert other_plant.system is not plant.system
    assert everything(other_plant, other) == expected
    other_plant.oscillator.upd_discrete_variable(other, 0, 5.0)
    other.y = np.eye(len(other.y))[0]
    other.upd_z_weights()[:] = 7.0
    other_plant.system.realize(other)
    assert everything(other_plant, other) != expected
    assert everything(plant, state) == expected
    mb.simulate(other_plant.system, other, 0.1)


def test_values_may_refer_to_the_system(plant):
    """Copies of a state are of the same system: what refers to its bodies goes on to refer to these."""
    ball = plant.ball

    class Holder(mb.Subsystem):
        def realize_topology(self, state):
            self.index = self.allocate_lazy_cache_entry(state, Stage.TOPOLOGY, None)

    holder = Holder(plant.system)
    state = plant.system.realize_topology()
    holder.upd_cache_entry(state, holder.index, [ball, plant.system, holder, plant.forces.get_force(0)])
    found = holder.upd_cache_entry(state.copy(), holder.index)
    assert found[0] is ball
    assert found[1] is plant.system
    assert found[2] is holder
    assert found[3] is plant.forces.get_force(0)


def test_an_ensemble_realizes_subsystems_too(plant, rng):
    ensemble = mb.Ensemble(plant.system, 5, state=plant.state)
    ensemble.q = np.column_stack([np.tile([1, 0, 0, 0], (5, 1)), rng.uniform(-1, 1, (5, 3))])
    ensemble.z = z = rng.uniform(-1, 1, (5, 2))
    ensemble.realize()
    assert_allclose(ensemble.u_dot[:, 3], -4 * ensemble.q[:, 4], rtol=1e-15)
    assert_allclose(ensemble.z_dot, -z * [1, 0.5], rtol=1e-15)
    assert_array_equal(ensemble.q_dot[:, 4], ensemble.u[:, 3])


# ---------------------------------------------------------------------------------------------- allocating


def test_built_in_subsystems_allocate_for_users_parts():
    """A custom force may keep z and variables in the state, by the subsystem of the forces; and even q, by the matter."""

    class Leak(mb.force.CustomImplementation):
        def realize_topology(self, state):
            self.z = forces.allocate_z(state, [1.0, 2.0])
            self.q = matter.allocate_q(state, [5.0])
            self.err = matter.allocate_q_err(state, 1)
            self.gain = forces.allocate_discrete_variable(state, Stage.DYNAMICS, 3.0)

        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            mobility_forces[0] += forces.get_discrete_variable(state, self.gain) * forces.get_z(state)[0]

        def realize_dynamics(self, state):
            forces.upd_z_dot(state)[:] = -1.0

    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    body = mb.body.Rigid(mb.MassProperties(2.0, (0, 0, 0), mb.Inertia(1, 1, 1)))
    mb.mobilizer.Slider(matter.ground, body, name="slider")
    ball = mb.mobilizer.Ball(matter.ground, body, name="ball")
    leak = Leak()
    mb.force.Custom(forces, leak)
    state = system.realize_topology()
    assert (leak.q, leak.err) == (5, 0)
    assert_array_equal(state.q, [0, 1, 0, 0, 0, 5])
    assert (matter.get_n_q(state), forces.get_q_start(state)) == (6, 6)
    motion = mb.simulate(system, state, 1.0, accuracy=1e-8)
    assert_allclose(motion.z[-1], [0, 1], atol=1e-9)
    # x'' = 3/2 (1 - t): x = 3/4 - 1/4 at t = 1
    assert_allclose(motion.q[-1, 0], 0.5, atol=1e-7)
    assert motion.coordinate_names[-1] == "matter"
    assert motion.auxiliary_names == ("forces[0]", "forces[1]")
    system.realize(state)
    matter.upd_q_err(state)[0] = 0.125
    assert_array_equal(matter.get_q_err(state), [0.125, 0])
    matter.set_use_euler_angles(state, True)
    system.realize_model(state)
    assert_array_equal(state.q, [0, 0, 0, 0, 5])
    assert_array_equal(ball.get_q(state), [0, 0, 0])


def test_allocating_from_outside_needs_a_state_below_its_stage(make):
    """Nothing here has hooks: a user takes a state below MODEL and allocates in it."""
    model = make.tree(3, [mb.mobilizer.Ball])
    state, forces, system = model.state, model.forces, model.system
    for call in (
        lambda: forces.allocate_q(state, [1.0]),
        lambda: forces.allocate_discrete_variable(state, Stage.TIME, 1),
        lambda: forces.allocate_auto_update_discrete_variable(state, Stage.DYNAMICS, 1, Stage.TIME),
    ):
        with pytest.raises(mb.StageError, match=r"below Stage.MODEL; this one is at MODEL; call it in realize_topology"):
            call()
    entry = forces.allocate_lazy_cache_entry(state, Stage.TIME, 4)
    model.matter.set_use_euler_angles(state, True)
    with pytest.raises(IndexError):
        forces.upd_cache_entry(state, entry)  # allocated at MODEL, and gone with it
    assert forces.allocate_z(state, [1.0, 2.0]) == 0
    assert forces.allocate_z(state, 3.0) == 2
    system.realize_model(state)
    assert_array_equal(state.z, [1, 2, 3])
    system.realize(state, Stage.INSTANCE)
    for call in (
        lambda: forces.allocate_cache_entry(state, Stage.TIME),
        lambda: forces.allocate_lazy_cache_entry(state, Stage.TIME, 1),
        lambda: forces.allocate_q_err(state, 1),
        lambda: forces.allocate_u_err(state, 1),
        lambda: forces.allocate_u_dot_err(state, 1),
        lambda: forces.allocate_event_triggers_by_stage(state, Stage.TIME, 1),
    ):
        with pytest.raises(mb.StageError, match=r"below Stage.INSTANCE; this one is at INSTANCE"):
            call()
    state.z = [1, np.nan, 3]
    with pytest.raises(mb.ModelError, match=r"z\[1\], number 1 of .*forces"):
        system.realize(state)


def test_what_cannot_be_allocated_is_refused_and_leaves_nothing(plant):
    class Wrong(mb.Subsystem):
        def realize_topology(self, state):
            for error, match, call in (
                (ValueError, "q_init", lambda: self.allocate_q(state, [[1.0]])),
                (ValueError, "finite", lambda: self.allocate_u(state, [np.nan])),
                (TypeError, "z_init", lambda: self.allocate_z(state, ["north"])),
                (TypeError, "has to be a Stage", lambda: self.allocate_discrete_variable(state, 7, 1.0)),
                (ValueError, "MODEL or one above", lambda: self.allocate_discrete_variable(state, Stage.TOPOLOGY, 1.0)),
                (
                    ValueError,
                    "above TIME",
                    lambda: self.allocate_auto_update_discrete_variable(state, Stage.TIME, 1, Stage.TIME),
                ),
                (TypeError, "v=", lambda: self.allocate_cache_entry(state, Stage.TIME, 3.0)),
                (ValueError, "below", lambda: self.allocate_cache_entry(state, Stage.POSITION, Stage.TIME, 3.0)),
                (ValueError, "TOPOLOGY", lambda: self.allocate_lazy_cache_entry(state, Stage.EMPTY, 3.0)),
                (ValueError, "'x'", lambda: self.allocate_lazy_cache_entry(state, Stage.TIME, 0, variables="x")),
                (IndexError, "none", lambda: self.allocate_lazy_cache_entry(state, Stage.TIME, 0, discrete_variables=[0])),
                (TypeError, "subsystem", lambda: self.allocate_lazy_cache_entry(state, Stage.TIME, 0, cache_entries=[(1, 2)])),
                (
                    ValueError,
                    "cannot be computed from it",
                    lambda: self.allocate_lazy_cache_entry(state, Stage.TIME, 0, cache_entries=[(plant.oscillator, 2)]),
                ),
                (ValueError, "negative", lambda: self.allocate_q_err(state, -1)),
                (TypeError, "integer", lambda: self.allocate_u_err(state, 1.5)),
                (ValueError, "EMPTY", lambda: self.allocate_event_triggers_by_stage(state, Stage.EMPTY, 1)),
                (TypeError, "Stage", lambda: self.allocate_event_triggers_by_stage(state, "TIME", 1)),
            ):
                with pytest.raises(error, match=match):
                    call()

    wrong = Wrong(plant.system)
    state = plant.system.realize_topology()
    plant.system.realize(state)
    assert (wrong.get_n_q(state), wrong.get_n_u(state), wrong.get_n_z(state), wrong.get_n_q_err(state)) == (0, 0, 0, 0)
    for index in (0, -1, 99):
        with pytest.raises(IndexError, match="no discrete variable"):
            wrong.get_discrete_variable(state, index)
        with pytest.raises(IndexError, match="no cache entry"):
            wrong.is_cache_value_realized(state, index)
    with pytest.raises(TypeError, match="integer"):
        plant.oscillator.get_discrete_variable(state, "rate")
    with pytest.raises(IndexError, match="there are 2, from 0 on"):
        plant.oscillator.upd_discrete_variable(state, 2, 1.0)
    with pytest.raises(ValueError, match="does not update itself"):
        plant.oscillator.get_discrete_var_update_index(state, plant.oscillator.rate)
    assert state.stage == Stage.ACCELERATION


def test_states_of_other_systems_are_refused(plant):
    other = Plant()
    with pytest.raises(mb.TopologyError, match="another system"):
        plant.decay.get_z(other.state)
    with pytest.raises(mb.TopologyError, match="in no system"):
        Decay(name="orphan").get_z(plant.state)
    Decay(plant.system)
    with pytest.raises(mb.TopologyError, match="changed after"):
        plant.decay.get_z(plant.state)


class Failing(mb.Subsystem):
    """Fails at the stage it is told to, after allocating something; or writes a rate that is not finite."""

    fails_at = None
    rate = 0.0

    def _realize(self, stage):
        if self.fails_at == stage:
            raise RuntimeError(f"told to at {stage.name}")

    def realize_topology(self, state):
        self.allocate_z(state, [1.0])
        self._realize(Stage.TOPOLOGY)

    def realize_model(self, state):
        self.index = self.allocate_z(state, [1.0])
        self._realize(Stage.MODEL)

    def realize_instance(self, state):
        self.slot = self.allocate_q_err(state, 1)
        self._realize(Stage.INSTANCE)

    def realize_velocity(self, state):
        self._realize(Stage.VELOCITY)

    def realize_dynamics(self, state):
        self.upd_z_dot(state)[:] = self.rate


def test_a_hook_that_fails_leaves_the_state_as_it_was(plant):
    failing = Failing(plant.system, "failing")
    for stage in (Stage.TOPOLOGY, Stage.MODEL):
        failing.fails_at = stage
        with pytest.raises(RuntimeError, match=stage.name):
            plant.system.realize_topology()
        assert not plant.system.system_topology_has_been_realized()
    failing.fails_at = None
    state = plant.state = plant.system.realize_topology()
    for stage in (Stage.INSTANCE, Stage.VELOCITY):
        failing.fails_at = stage
        before = snapshot(state)
        for _ in range(2):
            with pytest.raises(RuntimeError, match=stage.name):
                plant.system.realize(state)
            assert same(snapshot(state), before)
    failing.fails_at = None
    plant.realized()
    assert failing.get_n_q_err(state) == 1
    plant.matter.set_use_euler_angles(state, True)
    failing.fails_at = Stage.MODEL
    before = snapshot(state)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="MODEL"):
            plant.system.realize_model(state)
        assert same(snapshot(state), before)
        assert len(state.q) == 7
    failing.fails_at = None
    plant.system.realize_model(state)
    plant.realized()
    assert (failing.get_n_z(state), len(state.q)) == (2, 6)


def test_what_is_not_finite_is_named(plant):
    failing = Failing(plant.system, "failing")
    state = plant.state = plant.system.realize_topology()
    for name, i, match in (("q", 4, "q.4., number 0 of .*oscillator"), ("u", 3, "u.3.*oscillator"), ("z", 1, "z.1.*decay")):
        before = getattr(state, name).copy()
        values = before.copy()
        values[i] = np.inf
        setattr(state, name, values)
        with pytest.raises(mb.ModelError, match=match):
            plant.system.realize(state)
        setattr(state, name, before)
    with pytest.raises(mb.ModelError, match="number 1 of 'ball'"):
        state.q = [1, np.nan, 0, 0, 1, 7, 8]
        plant.system.realize(state)
    state.q = [1, 0, 0, 0, 1, 7, 8]
    failing.rate = np.nan
    with pytest.raises(mb.ModelError, match=r"rate of z.2., number 0 of .*failing"):
        plant.system.realize(state)
    assert state.stage <= Stage.INSTANCE

    class Wall(Failing):
        def realize_dynamics(self, state):
            self.upd_z_dot(state)[:] = np.inf if state.time > 0.5 else 1.0

    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.mobilizer.Slider(matter.ground, mb.body.Rigid(mb.MassProperties(2.0, (0, 0, 0), mb.Inertia(1, 1, 1))))
    Wall(system, "wall")
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system))
    stepper.initialize(system.realize_topology())
    with pytest.raises(mb.ConvergenceError, match="wall"):
        stepper.step_to(1.0)
    assert_allclose(stepper.time, 0.5, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("realise_dynamics", "realize_dynamics"),
        ("realize_dynamic", "realize_dynamics"),
        ("realize_postion", "realize_position"),
    ],
)
def test_a_hook_misspelt_is_a_warning(name, near):
    with pytest.warns(UserWarning, match=rf"Typist\.{name} is no hook of a Subsystem.*did you mean {near}\?") as found:
        type(mb.Subsystem)("Typist", (mb.Subsystem,), {name: lambda self, state: None, "__module__": __name__})
    assert len(found) == 1 and found[0].filename == __file__


def test_a_system_goes_with_a_class_of_its_own_whose_hook_knows_it():
    """What is found of classes is kept by systems: classes live as long as what keeps it."""

    def use():
        system = mb.examples.double_pendulum.build()[0]

        class Own(mb.Subsystem):
            def realize_position(self, state):
                system.get_subsystem(0)

        own = Own(system)
        mb.simulate(system, system.realize_topology(), 0.01)
        assert system.parts_in_python == [own]
        return weakref.ref(system)

    known = use()
    gc.collect()
    assert known() is None


def test_hooks_and_methods_of_ones_own_are_no_warning(recwarn):
    class Right(mb.Subsystem):
        realise_count = 3  # no method

        def realize_dynamics(self, state):
            """A hook."""

        def _realize_more(self, state):
            """Its own."""

    class Further(Right):
        def realize_dynamics(self, state):
            """The hook once more."""

    assert not recwarn.list


def test_a_hook_misspelt_in_an_implementation_is_a_warning_once(make):
    class Push(mb.force.CustomImplementation):
        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            mobility_forces += 1.0

        def realise_velocity(self, state):
            """Never called."""

    model = make.tree(1)
    mb.force.Custom(model.forces, Push())
    with pytest.warns(
        UserWarning, match=r"Push\.realise_velocity is no hook of a custom impl.*mean realize_velocity\?"
    ) as found:
        for _ in range(2):
            model.system.realize_topology()
    assert len(found) == 1 and found[0].filename == __file__
