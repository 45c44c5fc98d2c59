"""Derivatives of what Python computes: of constraints, motions and mobilizers alone, and not of the whole dynamics.

Against the compiled kinds that they copy, and against differences of fourth order of the whole dynamics: 1e-6 of the largest
entry, of trees whose mass matrices have conditions of 1e3.
"""

import warnings

import handwritten as by_hand
import numpy as np
import pytest

import mobod as mb
from mobod import Stage
from mobod.derivative import differences
from mobod.derivative.analytic import whole_for
from mobod.derivative.equations import contradiction

DIFFERENCE = 1e-6


@pytest.fixture(autouse=True)
def without_notes():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def assert_as_differences(state, close, u_dot):
    system = state.system
    assert system.parts_apart(state) is not None and not whole_for(system, state).is_too_wide
    found = system.calc_forward_dynamics_derivatives(state)
    for one, other in zip(found, differences.of_forward_dynamics(system, state), strict=True):
        close(one, other, DIFFERENCE)
    by_q, by_u, _ = system.calc_inverse_dynamics_derivatives(state, u_dot)
    for one, other in zip((by_q, by_u), differences.of_inverse_dynamics(system, state, u_dot), strict=True):
        close(one, other, DIFFERENCE)
    return found


def test_constraints_in_python_are_as_those_that_they_copy(make, close):
    """Between bodies, one of which is the Ancestor, of coordinates and of speeds; beside a spring."""
    model = make.tree(6, [mb.mobilizer.Free, mb.mobilizer.Ball, mb.mobilizer.Universal, mb.mobilizer.Pin])
    matter, (a, b, c, d) = model.matter, [model.bodies[i] for i in (1, 3, 5, 6)]
    mb.force.TwoPointLinearSpring(model.forces, a, (0.1, 0, 0), d, (0, 0.2, 0), 20.0, 0.3)
    mobilizer = next(one for one in model.bodies if type(one).__name__ == "Universal")
    rod = b, (0.1, 0.0, 0.2), c, (0.0, 0.3, 0.0)
    ball = matter.ground, (0.3, 0.0, 0.0), d, (0.1, 0.2, 0.0)
    compiled = [
        mb.constraint.Rod(*rod, 0.7),
        mb.constraint.Ball(*ball),
        mb.constraint.ConstantCoordinate(mobilizer, 1, 0.3),
    ]
    calls = []

    class Rod(by_hand.Rod):
        def calc_position_dot_dot_errors(self, *given):
            calls.append(1)
            return super().calc_position_dot_dot_errors(*given)

    in_python = [
        mb.constraint.Custom(Rod(matter, *rod, 0.7)),
        mb.constraint.Custom(by_hand.Ball(matter, *ball)),
        mb.constraint.Custom(by_hand.ConstantCoordinate(matter, mobilizer, 1, 0.3)),
    ]
    model.made()
    state, system = model.randomize(Stage.MODEL), model.system
    for one in in_python:
        one.disable(state)
    system.realize(state)
    expected = system.calc_forward_dynamics_derivatives(state)
    for one, other in zip(compiled, in_python, strict=True):
        one.disable(state)
        other.enable(state)
    system.realize(state)
    calls.clear()
    for one, other in zip(system.calc_forward_dynamics_derivatives(state), expected, strict=True):
        close(one, other, 1e-8)
    assert len(calls) < 2 * 36 or contradiction(state) is not None  # as where a body is pinned to Ground by both
    assert_as_differences(state, close, make.rng.normal(size=len(state.u)))


def test_a_constraint_that_reads_more_than_it_ties_is_found(make, close):
    """Places in Ground, through the state, between bodies that another one carries."""

    class Level(by_hand.Rod):
        def calc_position_dot_dot_errors(self, state, A_AB, constrained_q_dot_dot):
            (rate,) = super().calc_position_dot_dot_errors(state, A_AB, constrained_q_dot_dot)
            return [rate + 0.3 * last.get_body_origin_location(state)[2]]

    model = make.tree(2, [mb.mobilizer.Free, mb.mobilizer.Ball], chain=True)
    mb.mobilizer.Pin(model.bodies[2], make.body(), X_PF=make.frame())
    last = mb.mobilizer.Universal(model.bodies[1], make.body(), X_PF=make.frame())
    mb.constraint.Custom(Level(model.matter, model.bodies[3], (0.1, 0.0, 0.2), last, (0.0, 0.3, 0.0), 0.7))
    state = model.made().randomize()
    assert_as_differences(state, close, make.rng.normal(size=len(state.u)))


class Winch(mb.mobilizer.CustomImplementation):
    """Slides along a parabola, and turns: the columns depend on q, and their rates on u."""

    def __init__(self, matter):
        super().__init__(matter, nu=2, nq=2)

    def calc_mobilizer_transform_from_q(self, state, q):
        return mb.Transform(mb.Rotation.about_axis(q[1], "z"), (q[0], 0, 0.5 * q[0] ** 2 + 0.3 * np.sin(q[1])))

    def multiply_by_h_matrix(self, state, u):
        x, angle = self.get_q(state)
        return [(0, 0, u[1]), (u[0], 0, x * u[0] + 0.3 * np.cos(angle) * u[1])]

    def multiply_by_h_dot_matrix(self, state, u):
        angle, (v, w) = self.get_q(state)[1], self.get_u(state)
        return [(0, 0, 0), (0, 0, v * u[0] - 0.3 * np.sin(angle) * w * u[1])]


class Driven(mb.motion.CustomImplementation):
    """Of time alone at level POSITION, of another body's height too at the others."""

    def __init__(self, level, body):
        self.level, self.body = level, body

    def get_level(self, state):
        return self.level

    def calc_prescribed_position(self, state, nq):
        return 0.7 * np.sin(2.0 * state.time)

    def calc_prescribed_position_dot(self, state, nq):
        return 1.4 * np.cos(2.0 * state.time)

    def calc_prescribed_position_dot_dot(self, state, nq):
        return -2.8 * np.sin(2.0 * state.time)

    def calc_prescribed_acceleration(self, state, nu):
        x, v = self.body.get_body_transform(state).p, self.body.get_body_velocity(state)
        return np.full(nu, x[2] ** 2 - 0.3 * v[1, 0] * v[0, 2] + state.time)


@pytest.mark.parametrize("level", [mb.Motion.Level.POSITION, mb.Motion.Level.ACCELERATION])
def test_mobilizers_and_motions_in_python(make, close, level):
    """A mobilizer forward and reversed, beside a rod, a force in Python that hears of stages, and one that is driven."""

    class Spring(mb.force.CustomImplementation):
        def realize_position(self, state):
            self.place = np.array(tip.get_body_transform(state).p)

        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            body_forces[tip.index, 1] -= (5.0 + state.time) * self.place

    model = make.tree(3, [mb.mobilizer.Free, mb.mobilizer.Pin, mb.mobilizer.Universal])
    matter, body = model.matter, mb.body.Rigid(mb.MassProperties(1.0, (0.1, 0, 0), mb.UnitInertia(0.2, 0.3, 0.4)))
    first = mb.mobilizer.Custom(model.bodies[2], body, Winch(matter))
    tip = mb.mobilizer.Custom(first, body, Winch(matter), direction=mb.Direction.REVERSE)
    last = mb.mobilizer.Pin(tip, body)
    mb.constraint.Rod(model.bodies[1], (0, 0, 0.2), last, (0.1, 0, 0), 0.7)
    mb.force.Custom(model.forces, Spring())
    moved = next(one for one in model.bodies if type(one).__name__ == "Pin")
    mb.motion.Custom(moved, Driven(level, last))
    model.made()
    state = model.randomize(Stage.MODEL)
    state.time = 0.3
    model.system.realize(state)
    assert_as_differences(state, close, make.rng.normal(size=len(state.u)))
