"""Conditions that users write, with and without derivatives; fits of points; minima of energy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from models import chain

PIN, BALL = mb.mobilizer.Pin, mb.mobilizer.Ball


class Height(mb.assembler.Condition):
    """The tip of the last pin is to be at a height."""

    def __init__(self, body, height, how):
        super().__init__("height")
        self.body, self.height, self.how, self.seen = body, height, how, []

    def initialize_condition(self):
        self.seen.append(self.get_num_free_qs())

    def calc_errors(self, state):
        return [self.body.find_station_location_in_ground(state, (0, -1, 0))[1] - self.height]

    def calc_error_jacobian(self, state):
        if self.how == "none":
            return None
        J = self.get_matter_subsystem().calc_station_jacobian(state, self.body, (0, -1, 0))[1:2]
        by_q = self.get_matter_subsystem().multiply_by_n_inv(state, True, J[0])[None]
        if self.how == "all":
            return by_q
        return by_q[:, [self.get_q_index_of_free_q(i) for i in range(self.get_num_free_qs())]]


@pytest.mark.parametrize("kind", [PIN, BALL])
@pytest.mark.parametrize("how", ["none", "all", "free"])
def test_a_condition_of_ones_own(kind, how):
    found = []
    for as_goal in (False, True):
        system, bodies = chain([kind, PIN])
        state = system.realize_topology()
        state.q = [0.5, *state.q[1:-1], 0.6] if kind is PIN else state.q
        assembler = mb.Assembler(system)
        assembler.lock_mobilizer(bodies[2])
        condition = Height(bodies[2], -2.5, how)
        assert not condition.is_in_assembler()
        if as_goal:
            index = assembler.adopt_assembly_goal(condition, 3.0)
        else:
            index = assembler.adopt_assembly_error(condition)
        assert condition.get_assembly_condition_index() == index and condition.get_assembler() is assembler
        if kind is BALL:
            bodies[1].set_q_to_fit_rotation(state, mb.Rotation.about_axis(0.5, "z"))
        goal = assembler.assemble(state)
        assert goal < 1e-12
        system.realize(state, mb.Stage.POSITION)
        assert abs(condition.calc_errors(state)[0]) < 1e-5
        assert condition.seen == [1 if kind is PIN else 4]
        assert condition.get_free_q_index_of_q(len(state.q) - 1) is None
        found.append(state.q.copy())
    assert_allclose(*found, atol=1e-5)


def test_derivatives_can_be_checked_by_differences(rng):
    """What is found without a condition's own derivatives is the same."""
    system, bodies = chain([BALL, PIN])
    state = system.realize_topology()
    bodies[1].set_q_to_fit_rotation(state, mb.Rotation.about_axis(0.7, "x"))
    bodies[2].set_q(state, 0.8)
    markers = mb.assembler.Markers()
    for _ in range(4):
        markers.add_marker(None, bodies[2], rng.uniform(-1, 1, 3))
    assembler = mb.Assembler(system)
    assembler.adopt_assembly_goal(markers)
    system.realize(state, mb.Stage.POSITION)
    there = np.array([bodies[2].find_station_location_in_ground(state, markers.get_marker_station(i)) for i in range(4)])
    markers.move_all_observations(there + rng.uniform(-0.05, 0.05, (4, 3)))
    tip = bodies[2].find_station_location_in_ground(state, (0, -1, 0))
    assembler.adopt_assembly_error(Height(bodies[2], tip[1] + 0.03, "all"))
    one = assembler.assemble(state.copy())
    assembler.set_force_numerical_gradient(True)
    assembler.set_force_numerical_jacobian(True)
    assert_allclose(assembler.assemble(state.copy()), one, rtol=1e-4)  # the accuracy, 1e-3, twice over, and then some


class Spread(mb.assembler.Condition):
    """A goal that is no sum of squares: it has its least where all pins are at 0.4."""

    def __init__(self, with_gradient):
        super().__init__()
        self.with_gradient = with_gradient

    def calc_goal(self, state):
        return float(np.sum(np.cosh(2 * (state.q - 0.4)) - 1.0))

    def calc_goal_gradient(self, state):
        return 2 * np.sinh(2 * (state.q - 0.4)) if self.with_gradient else None


@pytest.mark.parametrize("with_gradient", [False, True])
def test_a_goal_that_is_no_sum_of_squares(with_gradient):
    system, bodies = chain([PIN] * 4)
    state = system.realize_topology()
    state.q = [2.0, -1.0, 0.0, 0.5]
    assembler = mb.Assembler(system)
    goal = Spread(with_gradient)
    assembler.adopt_assembly_goal(goal)
    assert assembler.assemble(state) < 1e-8
    assert_allclose(state.q, 0.4, atol=1e-4)
    # and with a requirement and a range: least over q1 = 0 and q3 >= 0.9
    assembler.adopt_assembly_error(mb.assembler.QValue(bodies[1], 0, 0.0))
    assembler.restrict_q(bodies[3], 0, 0.9, 2.0)
    assembler.assemble(state)
    assert_allclose(state.q, [0.0, 0.4, 0.9, 0.4], atol=1e-4)
    assert state.q[2] == 0.9
    with pytest.raises(NotImplementedError, match="cannot be a requirement"):
        assembler.set_assembly_condition_weight(goal, np.inf)
        assembler.assemble(state)


def test_conditions_that_give_nonsense():
    system, _ = chain([PIN] * 2)
    state = system.realize_topology()

    class Wrong(mb.assembler.Condition):
        def __init__(self, errors, jacobian=None):
            super().__init__("wrong")
            self.errors, self.jacobian = errors, jacobian

        def calc_errors(self, state):
            return self.errors

        def calc_error_jacobian(self, state):
            return self.jacobian

    for condition, match in [
        (Wrong(np.ones((2, 2))), "has to give .m,. numbers"),
        (Wrong([1.0], np.ones((1, 5))), r"\(m, 2\) by the free q, or \(m, 2\) by all; it gave \(1, 5\)"),
        (Wrong([1.0], np.ones((3, 2))), "1 errors, but Jacobians of 3 rows"),
    ]:
        assembler = mb.Assembler(system)
        assembler.adopt_assembly_error(condition)
        with pytest.raises(ValueError, match=match):
            assembler.assemble(state)
    assert state.q.tolist() == [0.0, 0.0]
    assembler = mb.Assembler(system)
    assembler.adopt_assembly_error(Wrong([np.nan], np.ones((1, 2))))
    with pytest.raises(mb.ModelError, match=r"calc_errors of .*'wrong'> gives \[nan\]; it has to be finite"):
        assembler.assemble(state)


def test_fit_of_observed_points(rng):
    system, bodies = chain([mb.mobilizer.Free, BALL, PIN])
    state = system.realize_topology()
    truth = state.copy()
    truth.u = rng.uniform(-1, 1, 10)
    system.realize(truth, mb.Stage.VELOCITY)
    truth.q = truth.q + 0.4 * truth.q_dot
    system.matter.normalize_quaternions(truth)
    system.realize(truth, mb.Stage.POSITION)
    stations = [rng.uniform(-1, 1, (n, 3)) for n in (3, 2, 4)]
    targets = [[b.find_station_location_in_ground(truth, p) for p in ps] for b, ps in zip(bodies[1:], stations, strict=True)]
    assert mb.ObservedPointFitter.find_best_fit(system, state, bodies[1:], stations, targets) < 1e-6
    assert_allclose(np.abs(state.q), np.abs(truth.q), atol=1e-6)  # quaternions of either sign
    # two targets for one point: it goes to their weighted mean, which leaves sqrt(w1 w2) / (w1 + w2) of their distance
    state = system.realize_topology()
    rms = mb.ObservedPointFitter.find_best_fit(
        system, state, [bodies[1]], [[(0, 0, 0), (0, 0, 0)]], [[(0, 0, 0), (3, 0, 0)]], [[1.0, 2.0]]
    )
    assert_allclose(rms, 3 * np.sqrt(2) / 3, rtol=1e-6)
    system.realize(state, mb.Stage.POSITION)
    assert_allclose(bodies[1].get_body_origin_location(state), (2, 0, 0), atol=1e-5)
    with pytest.raises(ValueError, match="one of each a body"):
        mb.ObservedPointFitter.find_best_fit(system, state, [1, 2], stations, targets)
    with pytest.raises(ValueError, match="one of each a station"):
        mb.ObservedPointFitter.find_best_fit(system, state, [1], [np.zeros((2, 3))], [np.zeros((1, 3))])
    with pytest.raises(ValueError, match="no station with a weight"):
        mb.ObservedPointFitter.find_best_fit(system, state, [], [], [])


def test_least_energy():
    """A chain of pins hangs down; one with a spring where spring and weight balance: k q = m g sin q."""
    system, bodies = chain([PIN] * 3)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, system.matter, (0, -9.81, 0))
    state = system.realize_topology()
    state.q = [1.0, -2.0, 0.7]
    state.u = [1.0, 2.0, 3.0]
    energy = mb.LocalEnergyMinimizer.minimize_energy(system, state, 1e-7)
    assert_allclose(state.q, 0.0, atol=1e-7)
    assert_allclose(energy, -9.81 * (1 + 2 + 3), rtol=1e-12)
    assert state.u.tolist() == [1.0, 2.0, 3.0]

    system, bodies = chain([PIN])
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, system.matter, (0, 9.81, 0))  # upside down: unstable without the spring
    mb.force.MobilityLinearSpring(forces, bodies[1], 0, 4.0, 0.0)
    state = system.realize_topology()
    state.q = [0.5]
    mb.LocalEnergyMinimizer.minimize_energy(system, state, 1e-8)
    assert_allclose(4.0 * state.q[0], 9.81 * np.sin(state.q[0]), atol=1e-7)


def test_least_energy_with_a_constraint():
    """Two links whose end is tied to (1, 0, 0) hang as a catenary of two does: symmetric."""
    system, bodies = chain([PIN, PIN])
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, system.matter, (0, -9.81, 0))
    mb.constraint.Rod(bodies[0], (1.0, 0.0, 0.0), bodies[2], (0.0, 0.0, 0.0), 0.4)
    state = system.realize_topology()
    state.q = [0.9, 0.8]
    mb.LocalEnergyMinimizer.minimize_energy(system, state, 1e-6)
    system.realize(state, mb.Stage.DYNAMICS)
    assert abs(state.q_err[0]) < 1e-7
    # the gradient is along the constraint's own
    f = system.matter.multiply_by_system_jacobian_transpose(state, system.get_rigid_body_forces(state))
    P = system.matter.calc_p(state)[0]
    assert abs(f[0] * P[1] - f[1] * P[0]) < 1e-5 * np.abs(P).max()


def test_energy_without_a_minimum():
    system, _ = chain([mb.mobilizer.Free])
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, system.matter, (0, -9.81, 0))
    state = system.realize_topology()
    before = state.q.copy()
    with pytest.raises(mb.ConvergenceError, match="no minimum"):
        mb.LocalEnergyMinimizer.minimize_energy(system, state, 1e-6)
    assert np.array_equal(state.q, before)
    with pytest.raises(ValueError, match="positive"):
        mb.LocalEnergyMinimizer.minimize_energy(system, state, 0.0)
