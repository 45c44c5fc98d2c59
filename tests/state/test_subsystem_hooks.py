"""What hooks of users' subsystems may not do to the state they are given, and what values in a state may refer to."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mobod as mb
from mobod import Stage

HOOKS = [stage for stage in Stage if stage >= Stage.POSITION]


class Plant:
    """A slider, and a subsystem of a class that a test writes."""

    def __init__(self, kind=None, mass=2.0):
        self.system = mb.MultibodySystem("plant")
        self.matter = mb.SimbodyMatterSubsystem(self.system)
        self.forces = mb.GeneralForceSubsystem(self.system)
        body = mb.body.Rigid(mb.MassProperties(mass, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
        self.slider = mb.mobilizer.Slider(self.matter.ground, body, name="slider")
        self.spring = mb.force.MobilityLinearSpring(self.forces, self.slider, 0, 10.0, 0.0)
        self.part = None if kind is None else kind(self.system, "part")
        if self.part is not None:
            self.part.plant = self


class Meddler(mb.Subsystem):
    """Its hook of one stage does something to the state."""

    at, does = None, None

    def realize_topology(self, state):
        self.z = self.allocate_z(state, [1.0])
        self.variables = {stage: self.allocate_discrete_variable(state, stage, 0.0) for stage in list(Stage)[3:]}

    def meddle(self, state, stage):
        if self.at == stage:
            self.does(state)

    def realize_position(self, state):
        self.meddle(state, Stage.POSITION)

    def realize_velocity(self, state):
        self.meddle(state, Stage.VELOCITY)

    def realize_dynamics(self, state):
        self.meddle(state, Stage.DYNAMICS)

    def realize_acceleration(self, state):
        self.meddle(state, Stage.ACCELERATION)

    def realize_report(self, state):
        self.meddle(state, Stage.REPORT)


@pytest.mark.parametrize("stage", HOOKS)
def test_a_hook_that_changes_what_its_stage_depends_on_is_refused(stage):
    plant = Plant(Meddler)
    part, system = plant.part, plant.system
    state = system.realize_topology()
    other = mb.MassProperties(3.0, (0, 0, 0), mb.UnitInertia(1, 1, 1))
    changes = [
        lambda state: setattr(state, "q", state.q + 1.0),
        lambda state: setattr(state, "time", state.time + 1.0),
        lambda state: part.upd_discrete_variable(state, part.variables[stage], 7.0),
        lambda state: plant.slider.set_body_mass_properties(state, other),
    ]
    for part.does in changes:
        part.at = None
        state.time = state.time
        system.realize(state, Stage(stage - 1))
        part.at = stage
        with pytest.raises(mb.StageError, match=rf"<Meddler 'part'> has changed the state while .*Stage\.{stage.name}"):
            system.realize(state, Stage.REPORT)
        assert state.stage < stage
        part.at = None
        system.realize(state)
        twin = system.realize_topology()
        twin.y, twin.time = state.y, state.time
        if part.does is changes[-1]:
            plant.slider.set_body_mass_properties(twin, other)
        system.realize(twin)
        assert_array_equal(state.u_dot, twin.u_dot)
        assert_array_equal(plant.slider.get_body_transform(state).p, plant.slider.get_body_transform(twin).p)


def test_a_hook_that_changes_q_and_raises_leaves_no_results_of_the_old_q():
    plant = Plant(Meddler)
    part, state = plant.part, plant.system.realize_topology()

    def change_and_raise(state):
        state.q = [5.0]
        raise RuntimeError

    plant.system.realize(state, Stage.POSITION)
    part.at, part.does = Stage.VELOCITY, change_and_raise
    with pytest.raises(RuntimeError):
        plant.system.realize(state)
    assert state.stage == Stage.TIME
    part.at = None
    plant.system.realize(state, Stage.POSITION)
    assert plant.slider.get_body_transform(state).p[0] == 5.0


def test_a_custom_force_that_changes_the_state_is_refused():
    class Push(mb.force.CustomImplementation):
        change = False

        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            if self.change:
                state.u = [1.0]

    plant, push = Plant(), Push()
    mb.force.Custom(plant.forces, push, name="push")
    state = plant.system.realize_topology()
    push.change = True
    with pytest.raises(mb.StageError, match=r"push.*has changed the state"):
        plant.system.realize(state)
    push.change = False
    plant.system.realize(state)
    assert state.u[0] == 1.0 and state.stage == Stage.ACCELERATION


@pytest.mark.parametrize("what", ["z", "another force"])
def test_a_custom_force_that_changes_what_forces_read_is_refused(what):
    plant = Plant()
    others = mb.force.DiscreteForces(plant.forces, plant.system.matter)
    if what == "z":
        mb.force.Thermostat(plant.forces, plant.system.matter, 1.0, 1.0, 1.0, 0)

    class Push(mb.force.CustomImplementation):
        change = True

        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            if self.change and what == "z":
                state.z = np.full(len(state.z), 0.5)
            elif self.change:
                others.set_one_mobility_force(state, plant.slider, 0, 5.0)

    push = Push()
    mb.force.Custom(plant.forces, push, name="push")
    state = plant.system.realize_topology()
    with pytest.raises(mb.StageError, match=r"push.*has changed the state"):
        plant.system.realize(state)
    push.change = False
    plant.system.realize(state)
    assert state.stage == Stage.ACCELERATION and (what == "z" or state.u_dot[0] != 0.0)


def test_a_part_that_realizes_the_state_it_is_given_is_refused():
    class Push(mb.force.CustomImplementation):
        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            plant.system.realize(state, asked)

    plant = Plant(Meddler)
    part, state = plant.part, plant.system.realize_topology()
    part.at = Stage.POSITION
    part.does = lambda state: plant.system.realize(state, Stage.POSITION)
    plant.system.realize(state)  # what is there already may be asked for
    state.q = state.q
    part.does = plant.system.realize
    with pytest.raises(mb.StageError, match=r"being realized, through POSITION so far.*state\.copy"):
        plant.system.realize(state)
    assert state.stage == Stage.TIME
    part.at = None
    plant.system.realize(state)
    asked = Stage.VELOCITY
    mb.force.Custom(plant.forces, Push())
    state = plant.system.realize_topology()
    plant.system.realize(state)
    state.u = state.u
    asked = Stage.DYNAMICS
    with pytest.raises(mb.StageError, match="being realized, through VELOCITY so far"):
        plant.system.realize(state)


@pytest.mark.parametrize("how", [lambda state: state.copy(), copy.copy, lambda state: pickle.loads(pickle.dumps(state))])
def test_a_copy_made_by_a_hook_is_at_the_stage_before(how):
    plant = Plant(Oscillating)
    part, state = plant.part, plant.system.realize_topology()
    part.how = how
    plant.system.realize(state)
    kept, part.kept = part.kept, None
    assert kept.stage == Stage.POSITION
    system, twin = kept.system, kept.system.get_subsystem(2)
    system.realize(kept)
    assert twin.get_stage(kept) == Stage.ACCELERATION
    assert_array_equal(twin.get_q_dot(kept), [2.0])
    assert_array_equal(twin.get_u_dot(kept), [-1.0])
    kept.q = kept.q + 1.0
    assert twin.get_stage(kept) == Stage.TIME


class Oscillating(mb.Subsystem):
    """A second-order system; its hook of VELOCITY makes one copy of the state."""

    how = kept = None

    def realize_topology(self, state):
        self.allocate_q(state, [1.0])
        self.allocate_u(state, [2.0])

    def realize_velocity(self, state):
        if self.how is not None:
            how, self.how = self.how, None
            self.kept = how(state)
        self.upd_q_dot(state)[:] = self.get_u(state)

    def realize_acceleration(self, state):
        self.upd_u_dot(state)[:] = self.upd_q_dot_dot(state)[:] = -self.get_q(state)


class Holder(mb.Subsystem):
    """Its values are parts of the system."""

    def realize_topology(self, state):
        self.one = self.allocate_discrete_variable(state, Stage.POSITION, self.parts)
        self.next = self.allocate_auto_update_discrete_variable(state, Stage.POSITION, self.parts, Stage.TIME)

    def realize_time(self, state):
        self.upd_discrete_var_update_value(state, self.next, list(self.parts))
        self.mark_discrete_var_update_value_realized(state, self.next)

    @property
    def parts(self):
        plant = self.plant
        return [plant.slider, plant.rod, plant.spring, plant.steady, plant.custom.get_implementation(), plant.measure, self]


def test_values_that_are_parts_of_the_system_stay_these():
    class Push(mb.force.CustomImplementation):
        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            pass

    plant = Plant(Holder)
    holder = plant.part
    plant.rod = mb.constraint.Rod(plant.matter.ground, (0, 0, 0), plant.slider, (0, 1, 0), 1.0)
    plant.steady = mb.motion.Steady(plant.slider, 0.0)
    plant.custom = mb.force.Custom(plant.forces, Push())
    plant.measure = mb.measure.Time(plant.forces)
    state = plant.system.realize_topology()

    def check(state, *variables):
        for variable in variables:
            found = holder.get_discrete_variable(state, variable)
            assert all(a is b for a, b in zip(found, holder.parts, strict=True))

    check(state, holder.one, holder.next)
    check(state.copy(), holder.one, holder.next)
    holder.upd_discrete_variable(state, holder.one, holder.parts)
    plant.system.realize(state, Stage.TIME)
    state.auto_update_discrete_variables()
    check(state, holder.one, holder.next)
    value = [np.zeros(2)]
    holder.upd_discrete_variable(state, holder.one, value)
    value[0][:] = 1.0
    assert_array_equal(holder.get_discrete_variable(state, holder.one)[0], [0.0, 0.0])


def test_a_variable_that_invalidates_model_is_allocated_with_the_topology():
    class Late(mb.Subsystem):
        def realize_model(self, state):
            self.allocate_discrete_variable(state, stage, 1)

    plant, stage = Plant(Late), Stage.MODEL
    with pytest.raises(mb.StageError, match=r"invalidates MODEL.*call it in realize_topology"):
        plant.system.realize_topology()
    stage = Stage.INSTANCE
    plant.system.realize_topology()


def test_slots_are_those_allocated_last_after_a_hook_that_failed():
    class Growing(mb.Subsystem):
        count, fails = 1, True

        def realize_instance(self, state):
            self.allocate_q_err(state, self.count)

        def realize_time(self, state):
            self.upd_q_err(state)[:] = 0.0
            if self.fails:
                raise RuntimeError

    plant = Plant(Growing)
    state = plant.system.realize_topology()
    with pytest.raises(RuntimeError):
        plant.system.realize(state)
    plant.part.count, plant.part.fails = 3, False
    plant.system.realize(state)
    assert plant.part.get_n_q_err(state) == len(state.q_err) == 3


def test_what_is_no_subsystem_is_not_adopted():
    class Forgetful(mb.Subsystem):
        def __init__(self, system):
            system.adopt_subsystem(self)

    system = mb.MultibodySystem()
    with pytest.raises(TypeError, match=r"Forgetful\.__init__ has to call super\(\)\.__init__"):
        Forgetful(system)
    with pytest.raises(TypeError, match=r"has to be a Subsystem, .*, not 'tank'"):
        system.adopt_subsystem("tank")
    assert system.get_num_subsystems() == 0


@pytest.mark.parametrize(("value", "error"), [(None, TypeError), ("noon", TypeError), ([1.0, 2.0], ValueError)])
def test_a_time_that_is_no_number_is_refused_at_once(value, error):
    state = Plant().system.realize_topology()
    with pytest.raises(error, match=r"state\.time has to be (a|one) number"):
        state.time = value
    assert state.time == 0.0 and state.stage == Stage.MODEL


# ---------------------------------------------------------------------------------------------- many states, and what moved


class Cylinder(mb.Subsystem):
    """Oil behind the slider: its pressure is a z, whose rate depends on q and u, and pushes it by a force."""

    area, leak, event = 0.01, False, False

    def realize_topology(self, state):
        self.pressure = self.allocate_z(state, [100.0])
        self.bulk = self.allocate_discrete_variable(state, Stage.INSTANCE, 1000.0)
        self.valve = self.allocate_discrete_variable(state, Stage.DYNAMICS, 1.0)
        self.choice = self.allocate_discrete_variable(state, Stage.MODEL, 0)
        self.volume = self.allocate_cache_entry(state, Stage.POSITION, v=0.0)
        self.trigger = self.allocate_event_triggers_by_stage(state, Stage.DYNAMICS, 1)

    def realize_position(self, state):
        self.upd_cache_entry(state, self.volume, 0.1 + self.area * state.q[0])

    def realize_dynamics(self, state):
        pressure = self.get_z(state)[self.pressure]
        self.upd_event_triggers_by_stage(state, Stage.DYNAMICS)[self.trigger] = pressure - 90.0
        gain = self.get_discrete_variable(state, self.bulk) * self.get_discrete_variable(state, self.valve)
        self.upd_z_dot(state)[self.pressure] = -gain / self.get_cache_entry(state, self.volume) * self.area * state.u[0]

    def handle_events(self, state, cause, event_ids, accuracy):
        if cause == mb.event.Cause.TRIGGERED:
            self.upd_discrete_variable(state, self.valve, 0.0)


def hydraulics(kind=Cylinder):
    class Push(mb.force.CustomImplementation):
        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            mobility_forces[0] += plant.part.get_z(state)[0] * plant.part.area

    plant = Plant(kind)
    mb.force.Custom(plant.forces, Push())
    return plant


def test_a_cylinder_pushes_its_rod_as_its_equations_say():
    from scipy.integrate import solve_ivp

    plant = hydraulics()
    state = plant.system.realize_topology()
    plant.part.upd_discrete_variable(state, plant.part.bulk, 300.0)  # the pressure stays above the mark
    found = mb.simulate(plant.system, state, 1.0, accuracy=1e-9)

    def rates(t, y):
        return [y[1], (0.01 * y[2] - 10.0 * y[0]) / 2.0, -300.0 / (0.1 + 0.01 * y[0]) * 0.01 * y[1]]

    expected = solve_ivp(rates, (0, 1), [0, 0, 100.0], rtol=1e-11, atol=1e-11).y[:, -1]
    assert_allclose([found.q[-1, 0], found.u[-1, 0], found.z[-1, 0]], expected, rtol=1e-6)


@pytest.mark.parametrize("n", [1, 7, 20])
def test_states_of_an_ensemble_have_discrete_variables_of_their_own(n, rng):
    plant = hydraulics()
    part, state = plant.part, plant.system.realize_topology()
    ensemble = mb.Ensemble(plant.system, n, state=state)
    stiffness, mass, bulk, valve = rng.uniform(1, 5, (4, n))

    def set_both(state, values):
        plant.spring.set_stiffness(state, values[0])
        part.upd_discrete_variable(state, part.bulk, values[1])

    ensemble.set_each(set_both, zip(stiffness, bulk, strict=True))
    ensemble.set_each(lambda state, x: part.upd_discrete_variable(state, part.valve, x), valve)
    masses = [mb.MassProperties(m, (0, 0, 0), mb.UnitInertia(1, 1, 1)) for m in mass]
    ensemble.set_body_mass_properties(plant.slider, masses)
    ensemble.q, ensemble.u, ensemble.z = rng.uniform(0, 1, (3, n, 1))
    ensemble.realize()
    q, u, z = ensemble.q[:, 0], ensemble.u[:, 0], ensemble.z[:, 0]
    assert_allclose(ensemble.u_dot[:, 0], (0.01 * z - stiffness * q) / mass, rtol=1e-12, atol=1e-12)
    assert_allclose(ensemble.z_dot[:, 0], -bulk * valve / (0.1 + 0.01 * q) * 0.01 * u, rtol=1e-12)
    assert part.get_discrete_variable(ensemble.get_state(n - 1), part.bulk) == bulk[-1]
    before = ensemble.u_dot.copy()
    for setter, message in (
        (lambda state, x: setattr(state, "z_weights", [x]), "share weights"),
        (lambda state, x: part.upd_discrete_variable(state, part.choice, x), "share variables that invalidate MODEL"),
        (lambda state, x: part.set_z(state, [x]), r"assign ensemble\.time, q, u, z"),
    ):
        with pytest.raises(ValueError, match=message):
            ensemble.set_each(setter, stiffness + 1.0)
    assert_array_equal(ensemble.u_dot, before)


def test_errors_of_subsystems_are_in_those_of_an_ensemble():
    class Constrained(mb.Subsystem):
        def realize_topology(self, state):
            self.allocate_q_err(state, 2)
            self.allocate_u_err(state, 1)
            self.allocate_u_dot_err(state, 3)

        def realize_position(self, state):
            self.upd_q_err(state)[:] = state.q[0], 2.0

        def realize_velocity(self, state):
            self.upd_u_err(state)[:] = state.u

        def realize_acceleration(self, state):
            self.upd_multipliers(state)[:] = 1.0, 2.0, state.q[0]

    plant = Plant(Constrained)
    rod = mb.constraint.ConstantSpeed(plant.slider, 0, 1.0)
    ensemble = mb.Ensemble(plant.system, 3, state=plant.system.realize_topology())
    ensemble.q, ensemble.u = [[0.0], [np.nan], [2.0]], [[1.0], [1.0], [3.0]]
    ensemble.realize()
    for i in (0, 2):
        state = ensemble.get_state(i)
        plant.system.realize(state)
        assert rod.get_num_constraint_equations_in_use(state) == (0, 1, 0) and len(state.multipliers) == 4
        for name in ("q_err", "u_err", "multipliers"):
            assert_array_equal(getattr(ensemble, name)[i], getattr(state, name))
    assert np.isnan(ensemble.q_err[1]).all()


def test_y_dot_is_the_rates_end_to_end():
    plant = hydraulics()
    plant.matter.add_particles([1.0, 2.0], [(0, 0, 0), (1, 1, 1)])
    state = plant.system.realize_topology()
    state.u = [0.5]
    plant.matter.set_all_particle_velocities(state, [(1, 2, 3), (4, 5, 6)])
    with pytest.raises(mb.StageError, match=r"y_dot needs Stage\.ACCELERATION"):
        state.y_dot  # noqa: B018
    plant.system.realize(state)
    expected = [*state.q_dot, *state.u_dot, *state.z_dot, 1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0]
    assert_array_equal(state.y_dot, expected)
    assert len(state.y_dot) == len(state.y) and not state.y_dot.flags.writeable


def test_an_ensemble_does_not_take_a_fault_of_a_hook_for_a_bad_state():
    plant = Plant(Meddler)
    part, state = plant.part, plant.system.realize_topology()
    part.at, part.does = Stage.POSITION, lambda state: part.get_u_dot(state)
    with pytest.raises(mb.StageError, match="get_u_dot needs"):
        mb.Ensemble(plant.system, 3, state=state).realize()


def test_states_of_a_trajectory_have_the_discrete_variables_that_events_left():
    plant = hydraulics()
    part, state = plant.part, plant.system.realize_topology()
    found = mb.simulate(plant.system, state, 2.0, report_interval=0.25, accuracy=1e-6)
    valves = [part.get_discrete_variable(one, part.valve) for one in found.states]
    closed = np.flatnonzero(found.z[:, 0] <= 90.0 + 1e-3)
    assert 0 < len(closed) < len(valves)
    assert valves == [0.0 if i in closed else 1.0 for i in range(len(valves))]
    chosen = [len(valves) - 1, 0, len(valves) - 2]
    assert [part.get_discrete_variable(one, part.valve) for one in found.states.walk(chosen)] == [0.0, 1.0, 0.0]
    last = found.states[-1]
    plant.system.realize(last)
    assert last.z_dot[0] == 0.0 and part.get_discrete_variable(state, part.valve) == 1.0


class Clocked(Cylinder):
    """It closes its valve by a trigger, and opens it a little at given times; what it reports is kept in the state."""

    def realize_topology(self, state):
        super().realize_topology(state)
        self.body = self.allocate_discrete_variable(state, Stage.REPORT, self.plant.slider)

    def next(self, state, include):
        times = [0.3 * k for k in range(8)]
        return next((t for t in times if t > state.time or (include and t == state.time)), np.inf), [1]

    calc_time_of_next_scheduled_event = calc_time_of_next_scheduled_report = next

    def handle_events(self, state, cause, event_ids, accuracy):
        super().handle_events(state, cause, event_ids, accuracy)
        if cause == mb.event.Cause.SCHEDULED:
            self.upd_discrete_variable(state, self.valve, 0.1 + self.get_discrete_variable(state, self.valve))

    def report_events(self, state, cause, event_ids):
        assert self.get_discrete_variable(state, self.body) is self.plant.slider


@pytest.mark.parametrize("stop", [0.26, 0.9, 1.21])
def test_a_run_with_events_of_a_subsystem_goes_on_from_a_checkpoint(tmp_path, stop):
    def interrupt(time, end):
        if time >= stop:
            raise KeyboardInterrupt

    def run(**keywords):
        plant = hydraulics(Clocked)
        state = plant.system.realize_topology()
        found = mb.simulate(plant.system, state, 2.0, report_interval=0.125, accuracy=1e-6, **keywords)
        return found, [plant.part.get_discrete_variable(one, plant.part.valve) for one in found.states]

    checkpoint = tmp_path / "run.ckpt"
    with pytest.raises(KeyboardInterrupt):
        run(checkpoint=checkpoint, progress=interrupt)
    (resumed, valves), (whole, expected) = run(checkpoint=checkpoint, resume=True), run()
    assert_array_equal(resumed.z, whole.z)
    assert_array_equal(resumed.q, whole.q)
    assert valves == expected and len(set(valves)) > 2
