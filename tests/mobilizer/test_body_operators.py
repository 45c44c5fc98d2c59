"""Operators of `MobilizedBody` at the edges: names in errors, numbers that are none, Ground, points that meet."""

import inspect

import numpy as np
import pytest

import mobod as mb
from mobod import Stage

KINDS = [mb.mobilizer.Pin, mb.mobilizer.Ball, mb.mobilizer.Free, mb.mobilizer.Universal]
#: By the stage it needs, each method that takes a state.
NEEDS = {
    Stage.MODEL: """get_num_q get_num_u get_first_q_index get_first_u_index get_q get_u get_one_q get_one_u get_q_as_vector
        get_u_as_vector set_one_q set_one_u set_q_from_vector set_u_from_vector set_inboard_frame
        set_outboard_frame get_my_part_q get_my_part_u upd_my_part_q upd_my_part_u get_one_from_q_partition
        upd_one_from_q_partition get_one_from_u_partition upd_one_from_u_partition apply_one_mobility_force
        apply_body_force apply_body_torque lock lock_at unlock is_locked get_lock_level
        get_lock_value_as_vector""",
    Stage.INSTANCE: """get_body_mass_properties get_body_mass get_body_mass_center_station get_inboard_frame get_outboard_frame
        get_body_unit_inertia_about_body_origin get_q_motion_method get_u_motion_method
        get_u_dot_motion_method calc_body_central_inertia""",
    Stage.POSITION: """get_body_transform get_body_rotation get_body_origin_location get_mobilizer_transform get_h_col
        get_h_fm_col get_body_spatial_inertia_in_ground find_body_transform_in_another_body
        find_body_rotation_in_another_body find_body_origin_location_in_another_body
        find_station_location_in_ground find_station_location_in_another_body
        find_mass_center_location_in_ground find_mass_center_location_in_another_body
        find_station_at_ground_point find_station_at_another_body_station find_station_at_another_body_origin
        find_station_at_another_body_mass_center find_frame_transform_in_ground express_vector_in_ground_frame
        express_ground_vector_in_body_frame express_vector_in_another_body_frame
        express_mass_properties_in_ground_frame express_mass_properties_in_another_body_frame
        calc_body_spatial_inertia_matrix_in_ground calc_body_inertia_about_another_body_station
        calc_station_to_station_distance convert_q_force_to_u_force apply_force_to_body_point""",
    Stage.VELOCITY: """get_body_velocity get_body_angular_velocity get_body_origin_velocity get_mobilizer_velocity get_q_dot
        get_one_q_dot get_q_dot_as_vector find_body_velocity_in_another_body
        find_body_angular_velocity_in_another_body find_body_origin_velocity_in_another_body
        find_station_velocity_in_ground find_station_velocity_in_another_body
        find_station_location_and_velocity_in_ground find_frame_velocity_in_ground
        calc_body_momentum_about_body_origin_in_ground calc_body_momentum_about_body_mass_center_in_ground
        calc_station_to_station_distance_time_derivative calc_body_moving_point_velocity_in_body
        calc_moving_point_to_point_distance_time_derivative""",
    Stage.ACCELERATION: """get_body_acceleration get_body_angular_acceleration get_body_origin_acceleration
        get_mobilizer_acceleration get_u_dot get_one_u_dot get_u_dot_as_vector get_q_dot_dot get_one_q_dot_dot
        get_q_dot_dot_as_vector get_tau_as_vector get_one_tau find_body_acceleration_in_another_body
        find_body_angular_acceleration_in_another_body find_body_origin_acceleration_in_another_body
        find_station_acceleration_in_ground find_station_acceleration_in_another_body
        find_frame_acceleration_in_ground find_station_location_velocity_and_acceleration_in_ground
        calc_station_to_station_distance_2nd_time_derivative calc_body_moving_point_acceleration_in_body
        calc_moving_point_to_point_distance_2nd_time_derivative find_mobilizer_reaction_on_body_at_m_in_ground
        find_mobilizer_reaction_on_body_at_origin_in_ground find_mobilizer_reaction_on_parent_at_f_in_ground
        find_mobilizer_reaction_on_parent_at_origin_in_ground""",
}
METHODS = [(name, stage) for stage, names in NEEDS.items() for name in names.split()]


@pytest.fixture
def model(make):
    return make.tree(6, KINDS)


def call(method, model, state, body, other):
    """Call a method with something right for each of its parameters."""
    nq, nu, nb = len(model.state.q), len(model.state.u), len(model.bodies)
    given = {"which": 0, "ux": 0, "f": 1.0, "level": mb.Motion.Level.POSITION, "fq": np.zeros(body.facts.num_q)}
    given |= {"qlike": np.zeros(nq), "ulike": np.zeros(nu), "mobility_forces": np.zeros(nu), "state": state}
    given |= {"body_forces_in_g": np.zeros((nb, 2, 3)), "spatial_force_in_g": np.zeros((2, 3))}
    given |= dict.fromkeys(("X_PF", "X_BM", "frame_on_b"), mb.Transform())
    given |= dict.fromkeys(("in_body_a", "to_body_a", "from_body_a", "body_a"), other)
    given["value"] = np.ones(body.facts.num_q)
    given["v"] = 0.5 if "one" in method else np.ones(body.facts.num_u if "_u_" in method else body.facts.num_q)
    parameters = inspect.signature(getattr(body, method)).parameters.values()
    needed = [one.name for one in parameters if one.kind is not inspect.Parameter.KEYWORD_ONLY]
    return getattr(body, method)(*[given.get(name, np.ones(3)) for name in needed])


@pytest.mark.parametrize(("method", "needs"), METHODS, ids=[name for name, _ in METHODS])
def test_errors_name_the_method_and_the_stage_that_gets_there(method, needs, model, make):
    body, other, system = model.bodies[4], model.bodies[2], model.system
    system.realize(model.state, needs)
    call(method, model, model.state.copy(), body, other)
    if needs > Stage.INSTANCE:
        for reached in (Stage.INSTANCE, Stage(needs - 1)):
            state = system.realize_topology()
            system.realize(state, reached)
            with pytest.raises(mb.StageError, match=rf"^{method} needs Stage\.{needs.name}; .* Stage\.{needs.name}\)$"):
                call(method, model, state, body, other)
    for n in (2, 9):  # a state with fewer bodies than ours, and one with more
        stranger = make.tree(n, KINDS)
        stranger.randomize()
        with pytest.raises(mb.TopologyError, match=rf"^{method}\b.*: this state is of another system"):
            call(method, model, stranger.state, body, other)
    model.randomize()
    mb.mobilizer.Pin(model.bodies[1], make.body())
    with pytest.raises(mb.TopologyError, match=rf"^{method}\b.*: the system was changed after"):
        call(method, model, model.state, body, other)


@pytest.mark.parametrize("bad", [0.5, 1.0, "0", None, np.nan])
def test_a_place_that_is_no_integer_is_refused(bad, model):
    body, state = model.bodies[1], model.state
    model.randomize()
    q, u = state.q.copy(), state.u.copy()
    f = np.zeros(len(u))
    for ask in (
        lambda: body.get_one_q(state, bad),
        lambda: body.get_one_u_dot(state, bad),
        lambda: body.set_one_q(state, bad, 1.0),
        lambda: body.get_h_col(state, bad),
        lambda: body.get_one_tau(state, bad),
        lambda: body.get_one_from_q_partition(state, bad, q),
        lambda: body.upd_one_from_u_partition(state, bad, u.copy()),
        lambda: body.apply_one_mobility_force(state, bad, 1.0, f),
    ):
        with pytest.raises(TypeError, match="integer"):
            ask()
    assert np.array_equal(q, state.q) and not f.any() and state.stage == Stage.ACCELERATION


@pytest.mark.parametrize("bad", [None, "x", 1j, np.complex128(1j), np.array([1j])])
def test_what_is_no_number_is_refused_and_not_taken_for_nan(bad, model):
    pin = next(body for body in model.bodies if isinstance(body, mb.mobilizer.Pin))
    state = model.randomize()
    q, f, F = state.q.copy(), np.zeros(len(state.u)), np.zeros((len(model.bodies), 2, 3))
    for ask in (
        lambda: pin.set_one_q(state, 0, bad),
        lambda: pin.set_one_u(state, 0, bad),
        lambda: pin.set_q(state, bad),
        lambda: pin.set_u_from_vector(state, bad),
        lambda: pin.convert_q_force_to_u_force(state, bad),
        lambda: pin.apply_one_mobility_force(state, 0, bad, f),
        lambda: pin.apply_body_torque(state, bad, F),
        lambda: pin.find_station_location_in_ground(state, bad),
        lambda: pin.calc_station_to_station_distance(state, bad, 0, np.zeros(3)),
    ):
        with pytest.raises(TypeError, match="number"):
            ask()
    assert np.array_equal(q, state.q) and not f.any() and not F.any() and state.stage == Stage.ACCELERATION


def test_arrays_that_are_changed_have_to_be_writable(model):
    body, state = model.bodies[2], model.randomize()
    F = np.zeros((len(model.bodies), 2, 3))
    F.flags.writeable = False
    for ask in (
        lambda: body.upd_my_part_q(state, state.q),
        lambda: body.upd_one_from_u_partition(state, 0, state.u),
        lambda: body.apply_one_mobility_force(state, 0, 1.0, state.u),
        lambda: body.apply_body_force(state, np.ones((2, 3)), F),
        lambda: body.apply_force_to_body_point(state, np.ones(3), np.ones(3), F),
    ):
        with pytest.raises(ValueError, match="read-only"):
            ask()
    with pytest.raises(TypeError, match="array of float32"):
        body.apply_body_torque(state, np.ones(3), F.astype(np.float32))


def test_a_frame_that_is_none_is_refused(model):
    body, state = model.bodies[2], model.randomize()
    X = body.get_inboard_frame(state)
    for ask in (body.set_inboard_frame, body.set_outboard_frame, body.find_frame_transform_in_ground):
        with pytest.raises(TypeError, match=r"has to be a Transform, .* got None"):
            ask(state, None)
    assert state.stage == Stage.ACCELERATION and np.array_equal(body.get_inboard_frame(state), X)


def test_ground_has_no_momentum_no_frames_and_one_body(model, make, close):
    ground, state = model.matter.ground, model.randomize()
    for method in ("calc_body_momentum_about_body_origin_in_ground", "calc_body_momentum_about_body_mass_center_in_ground"):
        assert not getattr(ground, method)(state).any()
    linear = sum(body.calc_body_momentum_about_body_origin_in_ground(state)[1] for body in model.bodies)
    close(linear, model.matter.calc_system_momentum_about_ground_origin(state)[1], 1e-13)
    about = ground.calc_body_inertia_about_another_body_station(state, 2, (1, 2, 3))
    assert np.array_equal(about, np.diag([np.inf] * 3))
    for ask in (
        lambda: ground.set_inboard_frame(state, make.frame()),
        lambda: ground.set_outboard_frame(state, make.frame()),
        lambda: ground.set_default_inboard_frame(make.frame()),
        lambda: ground.set_default_outboard_frame(make.frame()),
        lambda: ground.set_body(mb.body.Rigid()),
    ):
        with pytest.raises(mb.ModelError, match="Ground"):
            ask()
    with pytest.raises(mb.TopologyError, match="cannot be cloned"):
        ground.clone_for_new_parent(model.bodies[1])
    assert state.stage == Stage.ACCELERATION
    assert ground.get_body_velocity(state).shape == (2, 3)  # the topology is as it was


def test_second_rate_of_a_distance_does_not_drown_where_points_fly_apart():
    """Two points on one line: |r|'' is the difference of their accelerations along it, however close they are."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.GeneralForceSubsystem(system)
    slanted = mb.Transform(mb.Rotation.from_body_fixed_xyz((0.3, 0.5, 0.7)))
    a, b = (mb.mobilizer.Slider(matter.ground, mb.body.Rigid(), X_PF=slanted) for _ in range(2))
    state = system.realize_topology()
    b.set_length(state, 1e-7)
    b.set_rate(state, 1e3)
    system.realize(state)
    args = state, (0, 0, 0), a, (0, 0, 0)
    assert b.calc_station_to_station_distance_time_derivative(*args) == pytest.approx(1e3)
    # rounding leaves 1e-13 of the velocity across, squared over the distance: 1e-19. |v|^2 - rate^2 would leave 1e-10 / 1e-7
    assert abs(b.calc_station_to_station_distance_2nd_time_derivative(*args)) < 1e-12
    still = np.zeros(3)
    moving = state, still, still, still, a, still, still, still
    assert abs(b.calc_moving_point_to_point_distance_2nd_time_derivative(*moving)) < 1e-12


def test_points_that_are_not_as_many_are_refused_and_none_are_none(model):
    body, state = model.bodies[3], model.randomize()
    two, three = np.ones((2, 3)), np.ones((3, 3))
    for ask in (
        lambda: body.calc_station_to_station_distance(state, two, 1, three),
        lambda: body.calc_station_to_station_distance_time_derivative(state, two, 1, three),
        lambda: body.calc_moving_point_to_point_distance_time_derivative(state, two, two, 1, three, three),
    ):
        with pytest.raises(ValueError, match=r"location_on_body_b \(2, 3\) and location_on_body_a \(3, 3\)"):
            ask()
    assert body.find_station_location_in_ground(state, []).shape == (0, 3)
    assert body.find_station_acceleration_in_another_body(state, [], 1).shape == (0, 3)
    assert body.calc_station_to_station_distance_2nd_time_derivative(state, [], 1, (1, 2, 3)).shape == (0,)


def test_a_body_may_be_named_in_any_way_where_it_is_compared(model, make):
    body = model.bodies[3]
    assert body.is_same_mobilized_body(3) and body.is_same_mobilized_body(body.name) and not body.is_same_mobilized_body(2)
    assert body.is_in_same_subsystem(2) and body.is_in_same_subsystem(model.bodies[2].name)
    assert not body.is_in_same_subsystem(make.tree(1).bodies[1])
    for bad, error in ((None, TypeError), (99, IndexError), ("nobody", KeyError)):
        with pytest.raises(error):
            body.is_same_mobilized_body(bad)
        with pytest.raises(error):
            body.is_in_same_subsystem(bad)


def test_tau_of_each_body_is_its_part_of_all(model, close):
    model.randomize(Stage.TIME)
    model.bodies[2].lock(model.state)
    model.system.realize(model.state)
    tau = model.matter.find_motion_forces(model.state)
    for body in model.bodies:
        first, n = body.get_first_u_index(model.state), body.get_num_u(model.state)
        part = body.get_tau_as_vector(model.state)
        assert np.array_equal(part, tau[first : first + n]) and part.base is None
        assert [body.get_one_tau(model.state, i) for i in range(n)] == part.tolist()


def test_bodies_that_are_in_no_system_yet_refuse_every_state(model):
    matter = mb.SimbodyMatterSubsystem()
    body = mb.mobilizer.Pin(matter.ground, mb.body.Rigid())
    model.randomize()
    for ask in (
        body.get_body_transform,
        body.get_body_acceleration,
        body.get_body_mass,
        body.get_q,
        body.find_mass_center_location_in_ground,
        body.calc_body_momentum_about_body_origin_in_ground,
        matter.calc_m,
        matter.calc_kinetic_energy,
        matter.calc_mobilizer_reaction_forces,
    ):
        with pytest.raises(mb.TopologyError, match="another system"):
            ask(model.state)
