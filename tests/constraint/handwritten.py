"""Constraints written by hand that copy built-in kinds."""

import numpy as np

import mobod as mb


class Rod(mb.constraint.CustomImplementation):
    """A distance between two points."""

    def __init__(self, matter, body1, station1, body2, station2, length):
        super().__init__(matter, 1, 0, 0)
        self.one, self.two = self.add_constrained_body(body1), self.add_constrained_body(body2)
        self.station1, self.station2, self.length = station1, station2, length

    def direction(self, state):
        p1 = self.find_station_location_from_state(state, self.one, self.station1)
        p2 = self.find_station_location_from_state(state, self.two, self.station2)
        distance = np.linalg.norm(p2 - p1)
        return (p2 - p1) / distance, distance

    def apart(self, state, V_AB):
        v1 = self.find_station_velocity(state, V_AB, self.one, self.station1)
        return self.find_station_velocity(state, V_AB, self.two, self.station2) - v1

    def calc_position_errors(self, state, X_AB, constrained_q):
        p1 = self.find_station_location(X_AB, self.one, self.station1)
        p2 = self.find_station_location(X_AB, self.two, self.station2)
        return [np.linalg.norm(p2 - p1) - self.length]

    def calc_position_dot_errors(self, state, V_AB, constrained_q_dot):
        return [self.direction(state)[0] @ self.apart(state, V_AB)]

    def calc_position_dot_dot_errors(self, state, A_AB, constrained_q_dot_dot):
        u, distance = self.direction(state)
        v1 = self.find_station_velocity_from_state(state, self.one, self.station1)
        v = self.find_station_velocity_from_state(state, self.two, self.station2) - v1
        a1 = self.find_station_acceleration(state, A_AB, self.one, self.station1)
        a = self.find_station_acceleration(state, A_AB, self.two, self.station2) - a1
        return [u @ a + (v @ v - (u @ v) ** 2) / distance]

    def add_in_position_constraint_forces(self, state, multipliers, body_forces_in_A, q_forces):
        force = multipliers[0] * self.direction(state)[0]
        self.add_in_station_force(state, self.two, self.station2, force, body_forces_in_A)
        self.add_in_station_force(state, self.one, self.station1, -force, body_forces_in_A)


class Ball(mb.constraint.CustomImplementation):
    """Two points that coincide, with the built-in kind's conventions."""

    def __init__(self, matter, body1, station1, body2, station2):
        super().__init__(matter, 3, 0, 0)
        self.one, self.two = self.add_constrained_body(body1), self.add_constrained_body(body2)
        self.station1, self.station2 = station1, station2

    def station_of_one(self, state):
        """The point of body 1 that is where point 2 is."""
        p = self.find_station_location_from_state(state, self.two, self.station2)
        return ~self.get_body_transform_from_state(state, self.one) @ p

    def calc_position_errors(self, state, X_AB, constrained_q):
        p1 = self.find_station_location(X_AB, self.one, self.station1)
        return self.find_station_location(X_AB, self.two, self.station2) - p1

    def calc_position_dot_errors(self, state, V_AB, constrained_q_dot):
        v1 = self.find_station_velocity(state, V_AB, self.one, self.station_of_one(state))
        return self.find_station_velocity(state, V_AB, self.two, self.station2) - v1

    def calc_position_dot_dot_errors(self, state, A_AB, constrained_q_dot_dot):
        a1 = self.find_station_acceleration(state, A_AB, self.one, self.station_of_one(state))
        return self.find_station_acceleration(state, A_AB, self.two, self.station2) - a1

    def add_in_position_constraint_forces(self, state, multipliers, body_forces_in_A, q_forces):
        self.add_in_station_force(state, self.two, self.station2, multipliers, body_forces_in_A)
        self.add_in_station_force(state, self.one, self.station_of_one(state), -multipliers, body_forces_in_A)


class ConstantCoordinate(mb.constraint.CustomImplementation):
    """A coordinate at a value."""

    def __init__(self, matter, mobod, which_q, value):
        super().__init__(matter, 1, 0, 0)
        self.mobod, self.which, self.value = self.add_constrained_mobilizer(mobod), which_q, value

    def calc_position_errors(self, state, X_AB, constrained_q):
        return [self.get_one_q(state, constrained_q, self.mobod, self.which) - self.value]

    def calc_position_dot_errors(self, state, V_AB, constrained_q_dot):
        return [self.get_one_q_dot(state, constrained_q_dot, self.mobod, self.which)]

    def calc_position_dot_dot_errors(self, state, A_AB, constrained_q_dot_dot):
        return [self.get_one_q_dot_dot(state, constrained_q_dot_dot, self.mobod, self.which)]

    def add_in_position_constraint_forces(self, state, multipliers, body_forces_in_A, q_forces):
        self.add_in_one_q_force(state, self.mobod, self.which, multipliers[0], q_forces)


class SpeedCoupler(mb.constraint.CustomImplementation):
    """A weighted sum of two speeds and a coordinate is zero, and of accelerations alone another."""

    def __init__(self, matter, first, which_1, second, which_2, weights):
        super().__init__(matter, 0, 1, 0)
        self.places = (self.add_constrained_mobilizer(first), which_1), (self.add_constrained_mobilizer(second), which_2)
        self.weights = weights

    def calc_velocity_errors(self, state, V_AB, constrained_u):
        a, b, c, constant = self.weights
        one, two = (self.get_one_u(state, constrained_u, *place) for place in self.places)
        return [a * one + b * two + c * self.get_one_q_from_state(state, self.places[1][0], 0) + constant]

    def calc_velocity_dot_errors(self, state, A_AB, constrained_u_dot):
        a, b, c, _ = self.weights
        one, two = (self.get_one_u_dot(state, constrained_u_dot, *place) for place in self.places)
        return [a * one + b * two + c * self.get_one_q_dot_from_state(state, self.places[1][0], 0)]

    def add_in_velocity_constraint_forces(self, state, multipliers, body_forces_in_A, mobility_forces):
        for weight, place in zip(self.weights, self.places, strict=False):
            self.add_in_one_mobility_force(state, *place, weight * multipliers[0], mobility_forces)
