"""Points that move on bodies: velocities, accelerations and distances are derivatives along the motion."""

import numpy as np
import pytest

import mobod as mb


@pytest.fixture
def moving(make):
    """A realized model, two of its bodies, and a point that moves on each: location, velocity, acceleration."""
    model = make.tree()
    model.randomize()
    indices = make.rng.choice(np.arange(1, len(model.bodies)), 2, replace=False)
    model.B, model.A = (model.bodies[int(i)] for i in indices)
    model.on_B, model.on_A = make.rng.normal(size=(2, 3, 3))
    return model


def at(point, t):
    """Location and velocity of a point at time t."""
    p, v, a = point
    return p + t * v + 0.5 * t * t * a, v + t * a


def test_velocity_is_the_rate_of_the_location_in_the_other_body(moving, derivative, close):
    B, A, state = moving.B, moving.A, moving.state

    def location(h):
        return B.find_station_location_in_another_body(moving.moved(h), at(moving.on_B, h)[0], A)

    expected = derivative(location)
    close(B.calc_body_moving_point_velocity_in_body(state, *moving.on_B[:2], A), expected, 1e-8, 1.0 + np.abs(expected).max())


def test_acceleration_is_the_rate_of_the_velocity(moving, derivative, close):
    B, A, state = moving.B, moving.A, moving.state

    def velocity(h):
        return B.calc_body_moving_point_velocity_in_body(moving.moved(h), *at(moving.on_B, h), A)

    expected = derivative(velocity)
    found = B.calc_body_moving_point_acceleration_in_body(state, *moving.on_B, A)
    close(found, expected, 1e-7, 1.0 + np.abs(expected).max())  # a large udot makes large higher derivatives


def test_rates_of_the_distance_are_its_derivatives(moving, derivative, close):
    B, A, state = moving.B, moving.A, moving.state

    def distance(h):
        return B.calc_station_to_station_distance(moving.moved(h), at(moving.on_B, h)[0], A, at(moving.on_A, h)[0])

    def rate(h):
        on_B, on_A = at(moving.on_B, h), at(moving.on_A, h)
        return B.calc_moving_point_to_point_distance_time_derivative(moving.moved(h), *on_B, A, *on_A)

    first = B.calc_moving_point_to_point_distance_time_derivative(state, *moving.on_B[:2], A, *moving.on_A[:2])
    second = B.calc_moving_point_to_point_distance_2nd_time_derivative(state, *moving.on_B, A, *moving.on_A)
    assert isinstance(first, float) and isinstance(second, float)
    close(first, derivative(distance), 1e-8, 1.0 + abs(first))
    close(second, derivative(rate), 1e-7, 1.0 + abs(second))


def test_points_that_do_not_move_are_stations(moving, close):
    B, A, state, o = moving.B, moving.A, moving.state, np.zeros(3)
    p, r = moving.on_B[0], moving.on_A[0]
    velocity = B.find_station_velocity_in_another_body(state, p, A)
    close(B.calc_body_moving_point_velocity_in_body(state, p, o, A), velocity, 1e-14)
    acceleration = B.find_station_acceleration_in_another_body(state, p, A)
    close(B.calc_body_moving_point_acceleration_in_body(state, p, o, o, A), acceleration, 1e-14)
    rate = B.calc_station_to_station_distance_time_derivative(state, p, A, r)
    close(B.calc_moving_point_to_point_distance_time_derivative(state, p, o, A, r, o), rate, 1e-12)
    second = B.calc_station_to_station_distance_2nd_time_derivative(state, p, A, r)
    close(B.calc_moving_point_to_point_distance_2nd_time_derivative(state, p, o, o, A, r, o, o), second, 1e-12)


def test_many_points_are_each_point(moving, close):
    B, A, state = moving.B, moving.A, moving.state
    on_B, on_A = moving.rng.normal(size=(2, 3, 5, 3))
    asked = {
        "calc_body_moving_point_velocity_in_body": lambda b, a: (*b[:2], A),
        "calc_body_moving_point_acceleration_in_body": lambda b, a: (*b, A),
        "calc_station_to_station_distance": lambda b, a: (b[0], A, a[0]),
        "calc_station_to_station_distance_time_derivative": lambda b, a: (b[0], A, a[0]),
        "calc_station_to_station_distance_2nd_time_derivative": lambda b, a: (b[0], A, a[0]),
        "calc_moving_point_to_point_distance_time_derivative": lambda b, a: (*b[:2], A, *a[:2]),
        "calc_moving_point_to_point_distance_2nd_time_derivative": lambda b, a: (*b, A, *a),
    }
    for name, arguments in asked.items():
        method = getattr(B, name)
        together = method(state, *arguments(on_B, on_A))
        apart = [method(state, *arguments(on_B[:, i], on_A[:, i])) for i in range(5)]
        close(together, apart, 1e-13)
    one_to_many = B.calc_station_to_station_distance(state, on_B[0], A, on_A[0, 0])
    assert one_to_many.shape == (5,)


def test_where_the_points_meet_the_distance_grows_at_the_relative_speed(moving, close):
    B, state, o = moving.B, moving.state, np.zeros(3)
    p, v, a = moving.on_B
    close(B.calc_moving_point_to_point_distance_time_derivative(state, p, v, B, p, o), np.linalg.norm(v), 1e-12)
    rate = B.calc_moving_point_to_point_distance_2nd_time_derivative(state, p, o, a, B, p, o, o)
    close(rate, np.linalg.norm(a), 1e-10, 1.0 + np.abs(B.get_body_acceleration(state)).max())
    assert B.calc_station_to_station_distance(state, p, B, p) == 0.0


def test_shapes_that_do_not_fit_are_refused(moving):
    B, A, state = moving.B, moving.A, moving.state
    before = state.u_dot.copy()
    with pytest.raises(ValueError, match=r"velocity_on_body_b \(2, 3\)"):
        B.calc_body_moving_point_velocity_in_body(state, np.zeros(3), np.zeros((2, 3)), A)
    with pytest.raises(ValueError, match="shape"):
        B.calc_body_moving_point_acceleration_in_body(state, np.zeros(2), np.zeros(2), np.zeros(2), A)
    with pytest.raises(ValueError, match="shape"):
        B.calc_moving_point_to_point_distance_time_derivative(state, np.zeros(3), np.zeros(3), A, np.zeros(3), np.zeros(4))
    with pytest.raises(IndexError):
        B.calc_body_moving_point_velocity_in_body(state, np.zeros(3), np.zeros(3), 1000)
    assert np.array_equal(state.u_dot, before) and state.stage == mb.Stage.ACCELERATION
