"""MultibodySystem: topology and its versions, realization, subsystems; stages of a whole system."""

import copy
import pickle
import threading

import numpy as np
import pytest

import mobod as mb
from mobod import Stage


@pytest.fixture
def model(make):
    model = make.tree(6)
    model.randomize()
    return model


def test_stages_are_ordered_as_they_are_realized():
    names = "EMPTY TOPOLOGY MODEL INSTANCE TIME POSITION VELOCITY DYNAMICS ACCELERATION REPORT"
    assert [stage.name for stage in sorted(Stage)] == names.split()


def test_topology_gives_a_state_at_model_with_defaults(make):
    model = make.tree()
    state = model.system.realize_topology()
    assert state.stage == Stage.MODEL and state.time == 0.0 and not state.u.any()
    assert np.array_equal(state.q, np.concatenate([np.atleast_1d(b.get_default_q()) for b in model.bodies[1:]]))
    assert np.array_equal(model.system.get_default_state().q, state.q)
    state.q = np.full(len(state.q), 0.3)
    assert not np.array_equal(model.system.get_default_state().q, state.q), "the default state is not the one given away"


def test_asking_for_less_than_is_there_changes_nothing(model):
    u_dot = model.state.u_dot.copy()
    for stage in Stage:
        if stage <= Stage.ACCELERATION:
            model.system.realize(model.state, stage)
    assert model.state.stage == Stage.ACCELERATION and np.array_equal(model.state.u_dot, u_dot)


CHANGES = {
    "a new body": lambda model, make: mb.mobilizer.Pin(model.matter.ground, make.body()),
    "a new force": lambda model, make: mb.force.Gravity(model.forces, model.matter, (0, -1, 0)),
    "default q": lambda model, make: next(b for b in model.bodies if b.facts.num_q == 1).set_default_q(0.5),
    "mass properties": lambda model, make: model.bodies[1].set_default_mass_properties(make.mass_properties()),
    "inboard frame": lambda model, make: model.bodies[1].set_default_inboard_frame(make.frame()),
    "outboard frame": lambda model, make: model.bodies[1].set_default_outboard_frame(make.frame()),
    "the body": lambda model, make: model.bodies[1].set_body(make.body()),
    "gravity": lambda model, make: model.gravity.set_default_gravity_vector((1, 0, 0)),
    "a force off": lambda model, make: model.gravity.set_disabled_by_default(True),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_topology_makes_old_states_stale(change, model, make):
    system, state = model.system, model.state
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system))
    ensemble = mb.Ensemble(system, 3)
    u_dot = state.u_dot.copy()
    CHANGES[change](model, make)
    assert not system.system_topology_has_been_realized()
    for ask in (
        lambda: system.realize(state, Stage.REPORT),
        lambda: system.realize(state, Stage.TIME),
        lambda: model.matter.calc_m(state),
        lambda: model.bodies[1].get_body_transform(state),
        lambda: model.bodies[1].set_u(state, np.zeros(6)),
        lambda: model.gravity.get_gravity_vector(state),
        lambda: model.gravity.disable(state),
        lambda: system.calc_energy(state),
        lambda: system.get_rigid_body_forces(state),
        lambda: stepper.initialize(state),
        lambda: ensemble.realize(),
        lambda: model.matter.set_use_euler_angles(state, True),
    ):
        with pytest.raises(mb.TopologyError, match="realize_topology"):
            ask()
    assert np.array_equal(state.u_dot, u_dot), "what the state holds is still there to read"
    fresh = system.realize_topology()
    system.realize(fresh)
    with pytest.raises(mb.TopologyError):
        system.realize(state)  # a new topology does not make old states good


def test_a_state_of_another_system_is_refused(model, make):
    other = make.tree(6)
    other.randomize()
    for ask in (
        lambda: model.system.realize(other.state),
        lambda: model.system.calc_energy(other.state),
        lambda: model.gravity.is_disabled(other.state),
        lambda: mb.Ensemble(model.system, 2, state=other.state),
        lambda: mb.simulate(model.system, other.state, 1.0),
    ):
        with pytest.raises(mb.TopologyError, match="another system"):
            ask()


def test_an_unrealized_system_says_what_to_call():
    system = mb.MultibodySystem("empty")
    with pytest.raises(mb.TopologyError, match="SimbodyMatterSubsystem"):
        system.realize_topology()
    matter = mb.SimbodyMatterSubsystem(system)
    with pytest.raises(mb.TopologyError, match="realize_topology"):
        system.get_default_state()
    with pytest.raises(mb.TopologyError, match="realize_topology"):
        matter.get_num_mobilities()


def test_a_system_with_nothing_but_ground_is_realized():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    state = system.realize_topology()
    system.realize(state)
    assert state.q.shape == state.u_dot.shape == (0,)
    assert matter.calc_m(state).shape == (0, 0) and matter.calc_system_mass(state) == 0.0
    assert matter.calc_system_jacobian(state).shape == (6, 0)
    assert matter.calc_kinetic_energy(state) == 0.0
    assert matter.multiply_by_m_inv(state, []).shape == (0,)


def test_welds_alone_have_poses_and_no_coordinates(make, close):
    model = make.tree(0)
    body = make.mobilized_body(mb.mobilizer.Weld, model.matter.ground)
    state = model.made().state
    model.system.realize(state)
    expected = body.get_inboard_frame(state) @ ~body.get_outboard_frame(state)
    close(np.asarray(body.get_body_transform(state)), np.asarray(expected), 1e-15)


def test_a_system_has_one_matter_subsystem_and_a_subsystem_one_system(make):
    model = make.tree(1)
    with pytest.raises(mb.TopologyError, match="matter"):
        mb.SimbodyMatterSubsystem(model.system)
    with pytest.raises(mb.TopologyError, match="already"):
        mb.MultibodySystem().adopt_subsystem(model.matter)
    orphan = mb.GeneralForceSubsystem()
    assert not orphan.is_in_system()
    with pytest.raises(mb.TopologyError, match="no system"):
        orphan.get_system()
    assert model.system.adopt_subsystem(orphan) == orphan.get_my_subsystem_index() == 2
    assert model.system.get_subsystem(2) is orphan and orphan.is_in_same_system(model.matter)
    assert model.forces.get_num_forces() == 1 and model.forces.get_force(0) is model.gravity
    with pytest.raises(IndexError):
        model.forces.get_force(1)


def test_forces_and_constraints_are_found_by_their_names():
    system, _ = mb.examples.four_bar.build()
    loop, gravity = system.matter.constraints[0], system.forces.get_force(0)
    assert system.matter.get_constraint("loop") is loop and system.forces.get_force(gravity.name) is gravity
    with pytest.raises(KeyError, match="no force 'spring'; there are"):
        system.forces.get_force("spring")
    with pytest.raises(KeyError, match=r"no constraint 'lop'; did you mean loop\?"):
        system.matter.get_constraint("lop")


def test_realization_is_the_same_from_any_thread(model):
    """Kernels release the GIL, and nothing of a realization is in the system."""
    states = [model.randomize(Stage.MODEL, state=model.state.copy()) for _ in range(16)]
    expected = []
    for state in states:
        alone = state.copy()
        model.system.realize(alone)
        expected.append(alone.u_dot.copy())
    threads = [threading.Thread(target=model.system.realize, args=(state,)) for state in states]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(s.u_dot, e) for s, e in zip(states, expected, strict=True))


@pytest.mark.parametrize("again", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))], ids=["deepcopy", "pickle"])
def test_a_copied_system_makes_states_that_move_alike(again, model, make):
    system = again(model.system)
    state = system.realize_topology()
    state.q, state.u = model.state.q, model.state.u
    system.realize(state)
    assert np.array_equal(state.u_dot, model.state.u_dot)
    mb.mobilizer.Pin(system.matter.ground, make.body())
    assert model.system.system_topology_has_been_realized(), "a change of the copy is none of the original"
    model.system.realize(model.state, Stage.REPORT)


def test_energy_is_kinetic_and_potential(model, close):
    system, state = model.system, model.state
    kinetic, potential = system.calc_kinetic_energy(state), system.calc_potential_energy(state)
    close(system.calc_energy(state), kinetic + potential, 1e-14, abs(kinetic) + abs(potential))
    assert potential == model.gravity.get_potential_energy(state)


def test_projection_normalizes_quaternions_and_says_whether_it_did(make):
    model = make.tree()
    assert model.system.project_q(model.state) is False
    ball = next(b for b in model.bodies if isinstance(b, mb.mobilizer.Ball))
    ball.set_q(model.state, (0, 0, 3, 4))
    assert model.system.project(model.state) is True
    assert np.allclose(ball.get_q(model.state), (0, 0, 0.6, 0.8), rtol=0, atol=1e-15)
    with pytest.raises(ValueError, match="accuracy"):
        model.system.project(model.state, accuracy=0.0)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))], ids=["deepcopy", "pickle"])
def test_a_copied_system_still_has_its_default_state(again, model):
    system = again(model.system)
    assert system.system_topology_has_been_realized()
    assert np.array_equal(system.get_default_state().q, model.system.get_default_state().q)
    assert len(mb.Ensemble(system, 3)) == 3


def test_a_custom_force_that_is_no_number_is_named_from_the_start(make):
    class Bad(mb.force.CustomImplementation):
        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            mobility_forces[0] += np.nan

    model = make.tree()
    mb.force.Custom(mb.GeneralForceSubsystem(model.system), Bad(), name="bad")
    state = model.system.realize_topology()
    with pytest.raises(mb.ModelError, match=r"'bad'> gives a force that is infinite or not a number"):
        model.system.realize(state)
