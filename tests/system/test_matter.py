"""The matter subsystem: the stage that every operator needs, its errors, and the tree as an object."""

import numpy as np
import pytest

import mobod as mb
from mobod import Stage

MODEL, INSTANCE, POSITION, VELOCITY = Stage.MODEL, Stage.INSTANCE, Stage.POSITION, Stage.VELOCITY
DYNAMICS, ACCELERATION = Stage.DYNAMICS, Stage.ACCELERATION

#: Every method that asks a state: the stage it needs, which is the least that is enough, and what it takes.
MATTER = {
    "get_num_quaternions_in_use": (MODEL,),
    "is_using_quaternion": (MODEL, "body"),
    "normalize_quaternions": (MODEL,),
    "convert_to_euler_angles": (MODEL,),
    "convert_to_quaternions": (MODEL,),
    "realize_position_kinematics": (INSTANCE,),
    "calc_system_mass": (INSTANCE,),
    "realize_velocity_kinematics": (POSITION,),
    "realize_composite_body_inertias": (POSITION,),
    "realize_articulated_body_inertias": (POSITION,),
    "calc_system_mass_center_location_in_ground": (POSITION,),
    "calc_system_mass_properties_in_ground": (POSITION,),
    "calc_system_central_inertia_in_ground": (POSITION,),
    "multiply_by_system_jacobian": (POSITION, "u"),
    "multiply_by_system_jacobian_transpose": (POSITION, "F"),
    "calc_system_jacobian": (POSITION,),
    "multiply_by_station_jacobian": (POSITION, "body", "v", "u"),
    "multiply_by_station_jacobian_transpose": (POSITION, "body", "v", "v"),
    "calc_station_jacobian": (POSITION, "body", "v"),
    "multiply_by_frame_jacobian": (POSITION, "body", "v", "u"),
    "multiply_by_frame_jacobian_transpose": (POSITION, "body", "v", "V"),
    "calc_frame_jacobian": (POSITION, "body", "v"),
    "multiply_by_m": (POSITION, "u"),
    "multiply_by_m_inv": (POSITION, "u"),
    "calc_m": (POSITION,),
    "calc_m_inv": (POSITION,),
    "multiply_by_n": (POSITION, False, "u"),
    "multiply_by_n_inv": (POSITION, False, "q"),
    "calc_q_dot": (POSITION, "u"),
    "calc_composite_body_inertias": (POSITION,),
    "get_composite_body_inertia": (POSITION, "body"),
    "get_articulated_body_inertia": (POSITION, "body"),
    "add_in_station_force": (POSITION, "body", "v", "v", "F"),
    "calc_system_momentum_about_ground_origin": (VELOCITY,),
    "calc_system_central_momentum": (VELOCITY,),
    "calc_system_mass_center_velocity_in_ground": (VELOCITY,),
    "calc_kinetic_energy": (VELOCITY,),
    "calc_bias_for_system_jacobian": (VELOCITY,),
    "calc_bias_for_station_jacobian": (VELOCITY, "body", "v"),
    "calc_bias_for_frame_jacobian": (VELOCITY, "body", "v"),
    "multiply_by_n_dot": (VELOCITY, False, "u"),
    "calc_q_dot_dot": (VELOCITY, "u"),
    "calc_residual_force_ignoring_constraints": (VELOCITY, "u", "F", "u"),
    "calc_body_acceleration_from_u_dot": (VELOCITY, "u"),
    "calc_tree_equivalent_mobility_forces": (VELOCITY, "F"),
    "get_total_coriolis_acceleration": (VELOCITY, "body"),
    "get_mobilizer_coriolis_acceleration": (VELOCITY, "body"),
    "get_gyroscopic_force": (VELOCITY, "body"),
    "get_total_centrifugal_forces": (VELOCITY, "body"),
    "calc_acceleration_ignoring_constraints": (DYNAMICS, "u", "F"),
    "calc_acceleration": (DYNAMICS, "u", "F"),
    "calc_system_mass_center_acceleration_in_ground": (ACCELERATION,),
    "calc_mobilizer_reaction_forces": (ACCELERATION,),
    "calc_mobilizer_reaction_forces_using_freebody_method": (ACCELERATION,),
}
BODY = {
    "get_num_q": (MODEL,),
    "get_num_u": (MODEL,),
    "get_first_q_index": (MODEL,),
    "get_q": (MODEL,),
    "get_u_as_vector": (MODEL,),
    "get_body_mass_properties": (INSTANCE,),
    "get_body_mass": (INSTANCE,),
    "get_body_mass_center_station": (INSTANCE,),
    "get_inboard_frame": (INSTANCE,),
    "get_outboard_frame": (INSTANCE,),
    "calc_body_central_inertia": (INSTANCE,),
    "get_body_transform": (POSITION,),
    "get_body_rotation": (POSITION,),
    "get_body_origin_location": (POSITION,),
    "get_mobilizer_transform": (POSITION,),
    "get_h_col": (POSITION, 0),
    "get_h_fm_col": (POSITION, 0),
    "get_body_spatial_inertia_in_ground": (POSITION,),
    "calc_body_spatial_inertia_matrix_in_ground": (POSITION,),
    "express_mass_properties_in_ground_frame": (POSITION,),
    "find_body_transform_in_another_body": (POSITION, "body"),
    "find_station_location_in_ground": (POSITION, "v"),
    "find_station_at_ground_point": (POSITION, "v"),
    "find_mass_center_location_in_ground": (POSITION,),
    "express_vector_in_ground_frame": (POSITION, "v"),
    "calc_station_to_station_distance": (POSITION, "v", "body", "v"),
    "convert_q_force_to_u_force": (POSITION, "my q"),
    "get_body_velocity": (VELOCITY,),
    "get_mobilizer_velocity": (VELOCITY,),
    "get_q_dot": (VELOCITY,),
    "find_body_velocity_in_another_body": (VELOCITY, "body"),
    "find_station_velocity_in_ground": (VELOCITY, "v"),
    "calc_body_momentum_about_body_origin_in_ground": (VELOCITY,),
    "calc_station_to_station_distance_time_derivative": (VELOCITY, "v", "body", "v"),
    "get_u_dot": (ACCELERATION,),
    "get_q_dot_dot": (ACCELERATION,),
    "get_body_acceleration": (ACCELERATION,),
    "get_mobilizer_acceleration": (ACCELERATION,),
    "find_body_acceleration_in_another_body": (ACCELERATION, "body"),
    "find_station_acceleration_in_ground": (ACCELERATION, "v"),
    "calc_station_to_station_distance_2nd_time_derivative": (ACCELERATION, "v", "body", "v"),
    "calc_body_moving_point_velocity_in_body": (VELOCITY, "v", "v", "body"),
    "calc_body_moving_point_acceleration_in_body": (ACCELERATION, "v", "v", "v", "body"),
    "calc_moving_point_to_point_distance_time_derivative": (VELOCITY, "v", "v", "body", "v", "v"),
    "calc_moving_point_to_point_distance_2nd_time_derivative": (ACCELERATION, "v", "v", "v", "body", "v", "v", "v"),
    "find_mobilizer_reaction_on_body_at_m_in_ground": (ACCELERATION,),
    "find_mobilizer_reaction_on_body_at_origin_in_ground": (ACCELERATION,),
    "find_mobilizer_reaction_on_parent_at_f_in_ground": (ACCELERATION,),
    "find_mobilizer_reaction_on_parent_at_origin_in_ground": (ACCELERATION,),
}


@pytest.fixture
def model(make):
    model = make.tree()
    model.randomize(MODEL)
    return model


def arguments(model, body, names):
    nb, nu, nq = model.matter.get_num_bodies(), len(model.state.u), len(model.state.q)
    random = {"u": (nu,), "q": (nq,), "F": (nb, 2, 3), "v": (3,), "V": (2, 3), "my q": (body.facts.num_q,)}
    others = {"body": model.bodies[1]}
    return [model.rng.normal(size=random[n]) if n in random else others.get(n, n) for n in names]


def check_stage(model, receiver, method, needs, args):
    call = getattr(receiver, method)
    enough = model.state.copy()
    model.system.realize(enough, needs)
    call(enough, *args)  # enough is enough
    if needs <= INSTANCE:
        return
    for reached in {INSTANCE, Stage(needs - 1)}:
        short = model.system.realize_topology()
        model.system.realize(short, reached)
        with pytest.raises(mb.StageError) as caught:
            call(short, *args)
        # what was asked may be an inner step of it, but stages and the remedy are there
        assert f"needs Stage.{needs.name}" in str(caught.value)
        assert f"at {reached.name}" in str(caught.value)
        assert f"system.realize(state, Stage.{needs.name})" in str(caught.value)
        assert short.stage == reached


@pytest.mark.parametrize("method", MATTER)
def test_operator_of_matter_needs_its_stage_and_no_more(method, model):
    needs, *names = MATTER[method]
    check_stage(model, model.matter, method, needs, arguments(model, model.bodies[1], names))


@pytest.mark.parametrize("method", BODY)
def test_method_of_a_body_needs_its_stage_and_no_more(method, model):
    needs, *names = BODY[method]
    body = next(b for b in model.bodies[1:] if b.facts.num_u > 0)
    check_stage(model, body, method, needs, arguments(model, body, names))


@pytest.mark.parametrize("method", [*MATTER, *BODY])
def test_a_state_of_another_system_is_refused(method, model, make):
    receiver = model.matter if method in MATTER else next(b for b in model.bodies[1:] if b.facts.num_u > 0)
    _, *names = MATTER[method] if method in MATTER else BODY[method]
    other = make.tree()
    state = other.randomize()
    with pytest.raises(mb.TopologyError, match="another system"):
        getattr(receiver, method)(state, *arguments(model, model.bodies[1], names))


def test_kinematics_can_be_realized_by_themselves_and_are_then_found(model):
    """Lazy entries: positions at INSTANCE serve the operators that need them, whatever the stage."""
    matter, system, state = model.matter, model.system, model.state
    system.realize(state, INSTANCE)
    with pytest.raises(mb.StageError):
        matter.calc_m(state)
    matter.realize_position_kinematics(state)
    assert matter.is_position_kinematics_realized(state) and state.stage == INSTANCE
    assert not matter.is_velocity_kinematics_realized(state)
    M = matter.calc_m(state)
    matter.realize_velocity_kinematics(state)
    energy = matter.calc_kinetic_energy(state)
    system.realize(state, VELOCITY)
    assert np.array_equal(matter.calc_m(state), M) and matter.calc_kinetic_energy(state) == energy


def test_lazy_entries_are_computed_once_and_made_invalid_by_what_they_depend_on(model):
    matter, system, state = model.matter, model.system, model.state
    names = [
        "position_kinematics",
        "velocity_kinematics",
        "composite_body_inertias",
        "articulated_body_inertias",
        "articulated_body_velocity",
    ]

    def realized():
        return [getattr(matter, f"is_{name}_realized")(state) for name in names]

    system.realize(state)
    assert realized() == [True, True, False, True, True], "composite inertias only when asked for"
    matter.realize_composite_body_inertias(state)
    state.u = state.u
    assert realized() == [True, False, True, True, False]
    system.realize(state)
    state.time = 1.0
    assert realized() == [True] * 5, "nothing of the kinds there are depends on time"
    state.q = state.q
    assert realized() == [False] * 5
    for name, left in (
        ("articulated_body_inertias", DYNAMICS),
        ("velocity_kinematics", POSITION),
        ("position_kinematics", Stage.TIME),
    ):
        system.realize(state)
        getattr(matter, f"invalidate_{name}")(state)
        assert not getattr(matter, f"is_{name}_realized")(state) and state.stage == left
        u_dot = model.system.realize(state) or state.u_dot.copy()
        assert np.all(np.isfinite(u_dot))


def test_empty_and_none_stand_for_zero(model):
    matter, state = model.matter, model.state
    model.system.realize(state)
    zero_u, zero_F = np.zeros(len(state.u)), np.zeros((matter.get_num_bodies(), 2, 3))
    expected = matter.calc_acceleration(state, zero_u, zero_F)[0]
    for f, F in ((None, None), ([], []), (None, zero_F), (np.zeros(0), np.zeros((0, 2, 3)))):
        assert np.array_equal(matter.calc_acceleration(state, f, F)[0], expected)
    expected = matter.calc_residual_force_ignoring_constraints(state, zero_u, zero_F, zero_u)
    assert np.array_equal(matter.calc_residual_force_ignoring_constraints(state), expected)


def test_grounds_row_of_body_forces_is_ignored_and_of_results_zero(model):
    matter, state = model.matter, model.state
    model.system.realize(state)
    F = model.rng.normal(size=(matter.get_num_bodies(), 2, 3))
    other = F.copy()
    other[0] = np.nan
    for ask in (
        lambda x: matter.calc_acceleration(state, None, x)[0],
        lambda x: matter.multiply_by_system_jacobian_transpose(state, x),
        lambda x: matter.calc_residual_force_ignoring_constraints(state, None, x),
        lambda x: matter.calc_tree_equivalent_mobility_forces(state, x),
    ):
        assert np.array_equal(ask(F), ask(other))
    assert not matter.calc_acceleration(state, None, F)[1][0].any()
    assert not matter.calc_body_acceleration_from_u_dot(state)[0].any()
    assert not matter.multiply_by_system_jacobian(state, state.u)[0].any()


@pytest.mark.parametrize(
    "call",
    [
        lambda matter, state: matter.multiply_by_m(state, [1.0]),
        lambda matter, state: matter.multiply_by_m_inv(state, np.zeros((len(state.u), 1))),
        lambda matter, state: matter.multiply_by_system_jacobian_transpose(state, np.zeros((3, 6))),
        lambda matter, state: matter.calc_acceleration(state, None, np.zeros((1, 2, 3))),
        lambda matter, state: matter.calc_residual_force_ignoring_constraints(state, np.zeros(1)),
        lambda matter, state: matter.multiply_by_n(state, True, np.zeros(1)),
        lambda matter, state: matter.calc_station_jacobian(state, [1, 2], np.zeros((3, 3))),
        lambda matter, state: matter.calc_station_jacobian(state, 1, (1, 2)),
        lambda matter, state: matter.add_in_body_torque(state, 1, (1, 2), np.zeros((9, 2, 3))),
    ],
)
def test_wrong_shapes_are_refused(call, model):
    model.system.realize(model.state)
    with pytest.raises(ValueError, match="shape"):
        call(model.matter, model.state)


def test_tasks_name_bodies_in_any_way(model):
    matter, state = model.matter, model.state
    model.system.realize(state, POSITION)
    stations = model.rng.normal(size=(3, 3))
    bodies = [model.bodies[2], model.bodies[5], model.bodies[2]]
    expected = matter.calc_station_jacobian(state, bodies, stations)
    for named in ([2, 5, 2], (2, 5, 2), np.array([2, 5, 2]), np.array([2, 5, 2], np.uint8), [b.name for b in bodies]):
        assert np.array_equal(matter.calc_station_jacobian(state, named, stations), expected)
    for wrong in (np.array([2, 500, 2]), np.array([-1, 0, 0]), [2, 500, 2]):
        with pytest.raises(IndexError, match="bodies"):
            matter.calc_station_jacobian(state, wrong, stations)


def test_accumulators_add_into_the_array_they_are_given(model, close):
    matter, state = model.matter, model.state
    model.system.realize(state, POSITION)
    body = next(b for b in model.bodies[1:] if b.facts.num_u > 0)
    b = body.get_mobilized_body_index()
    F, f = np.ones((matter.get_num_bodies(), 2, 3)), np.ones(len(state.u))
    station, force, torque = model.rng.normal(size=(3, 3))
    assert matter.add_in_station_force(state, body, station, force, F) is F
    assert matter.add_in_body_torque(state, b, torque, F) is F
    assert matter.add_in_mobility_force(state, body, 0, 3.0, f) is f
    r = body.express_vector_in_ground_frame(state, station)
    close(F[b], 1.0 + np.array([np.cross(r, force) + torque, force]), 1e-14)
    assert np.all(np.delete(F, b, axis=0) == 1.0)
    assert f[body.get_first_u_index(state)] == 4.0 and f.sum() == len(f) + 3.0
    with pytest.raises(TypeError, match="in place"):
        matter.add_in_body_torque(state, b, torque, F.tolist())
    with pytest.raises(TypeError, match="in place"):
        matter.add_in_body_torque(state, b, torque, F.astype(np.float32))


def test_results_are_the_callers_own(model):
    matter, state = model.matter, model.state
    model.system.realize(state)
    body = model.bodies[1]
    for ask in (
        body.get_body_velocity,
        body.get_body_acceleration,
        body.get_body_origin_location,
        lambda s: body.get_q_as_vector(s),
        lambda s: matter.calc_m(s),
        lambda s: matter.calc_bias_for_system_jacobian(s),
        lambda s: matter.calc_m_inv(s),
        lambda s: matter.calc_mobilizer_reaction_forces(s),
        body.get_mobilizer_velocity,
        lambda s: matter.get_total_coriolis_acceleration(s, body),
        lambda s: matter.get_total_centrifugal_forces(s, body),
        model.system.get_rigid_body_forces,
    ):
        first = ask(state)
        kept = first.copy()
        first[...] = 77.0
        assert np.array_equal(ask(state), kept)


# ---------------------------------------------------------------------------------------------- the bodies


def test_bodies_are_found_by_index_and_by_name(make):
    model = make.tree(0)
    ground = model.matter.ground
    upper = mb.mobilizer.Pin(ground, make.body(), name="upper")
    lower = mb.mobilizer.Pin(upper, make.body())
    bodies = model.matter.bodies
    assert list(bodies) == [ground, upper, lower] and len(bodies) == 3
    assert bodies["upper"] is bodies[1] is upper and bodies[-1] is lower and bodies[1:] == [upper, lower]
    assert "upper" in bodies and lower in bodies and "middle" not in bodies and 1 not in bodies
    assert bodies[lower.name] is lower, "a missing name is made"
    with pytest.raises(KeyError, match="upper"):
        bodies["uper"]
    with pytest.raises(KeyError, match="no body 'xyzzy'; there are ground, upper"):
        bodies["xyzzy"]
    for wrong in (9, 3, -4):
        with pytest.raises(IndexError, match=f"there are 3 bodies, Ground included, numbers 0 to 2; no number {wrong}"):
            bodies[wrong]
    with pytest.raises(TypeError, match=r"index, its name or a slice, not by 1\.5"):
        bodies[1.5]
    with pytest.raises(IndexError):
        model.matter.get_mobilized_body(3)
    with pytest.raises(IndexError):
        model.matter.get_mobilized_body(-1)
    with pytest.raises(TypeError):
        model.matter.get_mobilized_body(1.5)
    assert np.arange(3)[lower] == 2, "a body can index an array of one row a body"
    assert (upper.get_level_in_multibody_tree(), lower.get_level_in_multibody_tree()) == (1, 2)
    assert lower.get_base_mobilized_body() is upper and lower.get_parent_mobilized_body() is upper
    with pytest.raises(mb.TopologyError, match="no parent"):
        ground.get_parent_mobilized_body()


def test_names_that_are_made_avoid_names_that_are_taken(make):
    model = make.tree(0)
    mb.mobilizer.Pin(model.matter.ground, make.body(), name="pin_2")
    assert mb.mobilizer.Pin(model.matter.ground, make.body()).name not in ("pin_2", "ground")


def test_a_body_of_another_system_is_refused(model, make):
    model.system.realize(model.state)
    stranger = make.tree().bodies[1]
    with pytest.raises(mb.TopologyError, match="another system"):
        model.matter.calc_station_jacobian(model.state, stranger, (0, 0, 0))
    with pytest.raises(mb.TopologyError, match="another system"):
        model.bodies[1].find_body_transform_in_another_body(model.state, stranger)


def test_descriptions_say_something_a_person_can_use(model):
    assert all(body.name in str(model.matter) for body in model.bodies[1:])
    assert repr(model.bodies[1].name) in repr(model.bodies[1])
    assert f"{len(model.bodies) - 1} bodies" in repr(model.system) and "MODEL" in repr(model.state)


# ---------------------------------------------------------------------------------------------- orientations


def test_converting_to_angles_and_back_keeps_the_motion(model, close):
    matter, system, state = model.matter, model.system, model.state
    state.time = 2.0
    system.realize(state)
    angles = matter.convert_to_euler_angles(state)
    assert matter.get_use_euler_angles(angles) and matter.get_num_quaternions_in_use(angles) == 0
    assert len(angles.q) == len(state.q) - matter.get_num_quaternions_in_use(state) and angles.time == 2.0
    back = matter.convert_to_quaternions(angles)
    for other in (angles, back):
        system.realize(other)
        assert np.array_equal(other.u, state.u)
        close(other.u_dot, state.u_dot, 1e-9)  # rounding times the condition of the mass matrix
        for body in model.bodies[1:]:
            close(np.asarray(body.get_body_transform(other)), np.asarray(body.get_body_transform(state)), 1e-12, 10.0)
            close(body.get_body_acceleration(other), body.get_body_acceleration(state), 1e-9, 100.0)
    close(np.abs(back.q), np.abs(state.q), 1e-12)  # a quaternion and its negative are one rotation
    assert matter.get_use_euler_angles(state) is False, "the state that went in is as it was"


def test_choosing_angles_needs_the_model_realized_again(model):
    matter, system, state = model.matter, model.system, model.state
    matter.set_use_euler_angles(state, False)
    assert state.stage == MODEL, "no change, no effect"
    matter.set_use_euler_angles(state, True)
    assert state.stage == Stage.TOPOLOGY
    with pytest.raises(mb.StageError, match="realize_model"):
        system.realize(state)
    with pytest.raises(mb.StageError, match="realize_model"):
        model.bodies[1].get_q(state)
    system.realize_model(state)
    assert matter.get_num_quaternions_in_use(state) == 0
    system.realize(state)


def test_quaternions_have_a_pool_and_norm_errors(model, close):
    matter, state = model.matter, model.state
    users = [b for b in model.bodies[1:] if matter.is_using_quaternion(state, b)]
    assert [matter.get_quaternion_pool_index(state, b) for b in users] == list(range(len(users)))
    other = next(b for b in model.bodies[1:] if b not in users)
    with pytest.raises(ValueError, match="quaternion"):
        matter.get_quaternion_pool_index(state, other)
    first = users[0].get_first_q_index(state)
    state.upd_q()[first : first + 4] *= 1.5
    model.system.realize(state, POSITION)
    close(state.q_err, [0.5] + [0.0] * (len(users) - 1), 1e-14)
    R = np.asarray(users[0].get_mobilizer_transform(state).R)
    matter.normalize_quaternions(state)
    assert state.stage == Stage.TIME
    model.system.realize(state, POSITION)
    close(state.q_err, np.zeros(len(users)), 1e-14, 1.0)
    close(np.asarray(users[0].get_mobilizer_transform(state).R), R, 1e-14)
    matter.normalize_quaternions(state)
