"""Bodies and masses that are attached and detached in the middle of a run: momentum, energy, the run's events."""

import numpy as np
import pytest

import mobod as mb

SEED = 5


def arm(seed=SEED):
    """A free base with two pins, moving, and a free stone."""
    rng = np.random.default_rng(seed)
    print("seed", seed)
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    part = mb.body.Rigid(mb.MassProperties(2.0, (0.1, 0.3, 0), mb.Inertia(1.0, 0.7, 0.9)))
    base = mb.mobilizer.Free(matter.ground, part, name="base")
    upper = mb.mobilizer.Pin(base, part, X_PF=mb.Transform((0.2, 0.5, 0)), name="upper")
    hand = mb.mobilizer.Pin(upper, part, X_PF=mb.Transform(mb.Rotation.about_axis(0.7, "x"), (0, 0.6, 0)), name="hand")
    small = mb.body.Rigid(mb.MassProperties(0.7, (0.02, 0, 0), mb.Inertia(0.02, 0.03, 0.04)))
    stone = mb.mobilizer.Free(matter.ground, small, name="stone")
    grip = mb.constraint.Weld(hand, mb.Transform((0.1, 0.2, 0)), stone, mb.Transform(), disabled_by_default=True, name="grip")
    state = system.realize_topology()
    state.u = rng.normal(size=len(state.u))
    stone.set_q_to_fit_translation(state, rng.normal(size=3))
    return system, state, hand, stone, grip


def stepper_of(system, state):
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-8))
    stepper.initialize(state)
    return stepper


def momentum(system, state):
    system.realize(state, mb.Stage.VELOCITY)
    return system.get_matter_subsystem().calc_system_momentum_about_ground_origin(state)


def test_a_body_that_is_attached_stays_where_it_was_held_and_momentum_is_kept():
    system, state, hand, stone, grip = arm()
    stepper = stepper_of(system, state)
    stepper.step_to(0.1)
    start, before = momentum(system, stepper.state), system.calc_kinetic_energy(stepper.state)
    X = stone.find_body_transform_in_another_body(stepper.state, hand)
    grip.attach(stepper.state)
    assert np.abs(momentum(system, stepper.state) - start).max() < 1e-12
    lost = system.calc_kinetic_energy(stepper.state) - before
    stepper.step_to(0.4)
    assert np.abs(np.asarray(stone.find_body_transform_in_another_body(stepper.state, hand)) - np.asarray(X)).max() < 1e-6
    assert np.abs(momentum(system, stepper.state) - start).max() < 1e-6
    grip.detach(stepper.state)
    stepper.step_to(0.6)
    assert np.abs(momentum(system, stepper.state) - start).max() < 1e-6
    kinds = list(stepper.events["kind"])
    assert kinds == ["enabled", "disabled"] and abs(stepper.events["energy"][0] - lost) < 1e-12 and lost < -0.1


@pytest.mark.parametrize("seed", [5, 6])
def test_a_mass_that_sticks_is_the_body_that_is_welded_on(seed):
    """The truth is the constraint: a load on the hand, and a free body of its mass that the constraint attaches."""
    system, state, hand, stone, grip = arm(seed)
    system.realize(state, mb.Stage.VELOCITY)
    mass = stone.get_body_mass_properties(state)
    X = hand.find_body_transform_in_another_body(state, stone)
    load = mass.calc_transformed_mass_props(X)
    V, w = stone.find_station_velocity_in_ground(state, mass.com), stone.get_body_angular_velocity(state)
    welded = stepper_of(system, state)
    grip.attach(welded.state)

    other, start, own_hand, *_ = arm(seed)
    alone = start.copy()
    stepper = stepper_of(other, start)
    own_hand.attach_mass(stepper.state, load, V, w)
    other.realize(alone, mb.Stage.POSITION)
    own_hand.attach_mass(alone, load, V, w)
    assert np.abs(alone.u - stepper.state.u).max() < 1e-12
    assert np.abs(stepper.state.u[:8] - welded.state.u[:8]).max() < 1e-11
    (event,) = stepper.state.impulses.found
    assert event.kind == "attached" and event.name == "hand"
    system.realize(welded.state, mb.Stage.VELOCITY)
    # on the hand acts what the stone has lost
    M = stone.calc_body_spatial_inertia_matrix_in_ground(state)
    dV = np.concatenate(stone.get_body_velocity(state)) - np.concatenate(stone.get_body_velocity(welded.state))
    arm_of_stone = stone.get_body_origin_location(state) - hand.get_body_origin_location(state)
    torque, force = (M @ dV).reshape(2, 3)
    assert np.abs(event.impulse - np.concatenate([torque + np.cross(arm_of_stone, force), force])).max() < 1e-11
    stepper.step_to(0.2)
    welded.step_to(0.2)
    assert np.abs(stepper.state.u[:8] - welded.state.u[:8]).max() < 1e-5
    own_hand.detach_mass(stepper.state, load)
    other.realize(stepper.state, mb.Stage.VELOCITY)
    assert abs(own_hand.get_body_mass(stepper.state) - 2.0) < 1e-12
    assert np.abs(own_hand.get_body_mass_center_station(stepper.state) - [0.1, 0.3, 0.0]).max() < 1e-12


def test_what_moves_with_the_body_takes_no_impulse_and_the_audit_has_it():
    system, state, hand, _, _ = arm()
    load = mb.MassProperties(0.5, (0, 0.4, 0), mb.UnitInertia.point_mass_at((0, 0.4, 0)))

    class Load(mb.event.ScheduledHandler):
        def get_next_event_time(self, state, include_current_time):
            return 0.1 if state.time < 0.1 else np.inf

        def handle_event(self, state, accuracy):
            hand.attach_mass(state, load, (0, 0, 0))

    system.add_event_handler(Load())
    motion = mb.simulate(system, state, 0.3, accuracy=1e-9)
    assert list(motion.events["kind"]) == ["scheduled", "attached"]
    books = mb.simulate(system, state, 0.3, accuracy=1e-9, audit="steps").audit
    assert books.energy_error < 1e-6 and not books.warnings

    stepper = stepper_of(*arm()[:2])
    body, u = stepper.system.get_matter_subsystem().bodies["hand"], stepper.state.u.copy()
    stepper.system.realize(stepper.state, mb.Stage.VELOCITY)
    body.attach_mass(stepper.state, load)
    assert np.array_equal(stepper.state.u, u)


def test_a_frame_without_mass_carries_a_load_as_the_body_that_it_is_welded_to():
    """A robot's tool frame: the same speeds by the impulse and the same accelerations; set down, all is as before."""
    load = mb.MassProperties(1.5, (0, 0.2, 0.1), mb.UnitInertia(0.1, 0.1, 0.1).shift_from_centroid((0, 0.2, 0.1)))
    X = mb.Transform(mb.Rotation.about_axis(0.5, "y"), (0.1, 0.4, 0))  # of the tool in the hand
    found = []
    for on_tool in (True, False):
        system, _, hand, _, _ = arm()
        tool = mb.mobilizer.Weld(hand, mb.body.Massless(), X_PF=X, name="tool")
        state = system.realize_topology()
        state.u = np.linspace(-1.0, 1.0, len(state.u))
        system.realize(state)
        before = state.u_dot.copy()
        body, own = (tool, load) if on_tool else (hand, load.calc_transformed_mass_props(~X))
        body.attach_mass(state, own, (0, 0, 0))
        system.realize(state)
        assert body.get_body_mass(state) == (1.5 if on_tool else 3.5)
        found.append((state.u.copy(), state.u_dot.copy()))
        body.detach_mass(state, own)
        state.u = np.linspace(-1.0, 1.0, len(state.u))
        system.realize(state)
        assert np.abs(state.u_dot - before).max() < 1e-12 * np.abs(before).max()
    np.testing.assert_allclose(*found, atol=1e-12)


def test_loads_that_cannot_be_are_refused_and_change_nothing():
    system, state, hand, _, _ = arm()
    system.realize(state, mb.Stage.VELOCITY)
    heavy = mb.MassProperties(5.0, (0, 0, 0), mb.Inertia(1, 1, 1))
    with pytest.raises(TypeError, match="has to be MassProperties"):
        hand.attach_mass(state, 2.0)
    with pytest.raises(mb.ModelError, match="cannot come off"):
        hand.detach_mass(state, heavy)
    with pytest.raises(mb.MobodError):
        hand.detach_mass(state, mb.MassProperties(1.0, (0, 0, 0), mb.Inertia(0.9, 0.9, 0.9)))
    with pytest.raises((mb.ModelError, ValueError)):
        hand.attach_mass(state, heavy, (np.nan, 0, 0))
    with pytest.raises(mb.StageError):
        hand.attach_mass(system.realize_topology(), heavy)
    assert hand.get_body_mass(state) == 2.0
