"""Every constraint's own accessors, against the matter's of all of them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mobod as mb
from mobod import Stage, constraint as con, function as fn


def build(make):
    """A chain with constraints of several kinds and levels between its bodies, which are named in all ways there are."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    first = make.mobilized_body(mb.mobilizer.Universal, matter.ground)
    second = make.mobilized_body(mb.mobilizer.Free, first)
    third = mb.mobilizer.Bushing(second, make.body(), name="third")
    con.Rod(first, make.vector(), 3, make.vector(), 1.1)
    con.Ball(1, make.vector(), second, make.vector())
    con.NoSlip1D(0, make.vector(), make.unit_vector(), second, "third")
    con.ConstantCoordinate(third, 2, 0.3)
    con.CoordinateCoupler(matter, fn.Linear([1.0, -2.0, 0.5, 0.1]), [third, "third", 1], [1, 4, 0])
    con.SpeedCoupler(matter, fn.Linear([1.0, 3.0, 0.0]), [first, second], [1, 2])
    con.ConstantAcceleration(third, 0, 0.4)
    state = system.realize_topology()
    state.q, state.u = make.rng.uniform(-0.8, 0.8, len(state.q)), make.rng.uniform(-1.0, 1.0, len(state.u))
    system.normalize_quaternions(state)
    system.realize(state, Stage.ACCELERATION)
    return system, matter, state


def test_each_against_the_matter(make):
    system, matter, state = build(make)
    G, multipliers = matter.calc_g(state), matter.get_constraint_multipliers(state)
    before = state.q.copy(), state.u.copy(), state.stage
    q, u, udot = (make.rng.uniform(-0.5, 0.5, n) for n in (len(state.q), len(state.u), len(state.u)))
    other = state.copy()
    other.q, other.u = q, u
    system.realize(other, Stage.VELOCITY)
    faster = state.copy()
    faster.u = u
    system.realize(faster, Stage.VELOCITY)
    errors = matter.calc_constraint_acceleration_errors(state, udot)
    gathered = np.zeros(0)
    for constraint in matter.constraints:
        mp, mv, ma = constraint.get_num_constraint_equations_in_use(state)
        rows = [range(x, x + n) for x, n in zip(constraint.get_index_of_multipliers_in_use(state), (mp, mv, ma), strict=True)]
        assert_allclose(constraint.calc_position_constraint_matrix_pt(state), G[rows[0]].T, atol=1e-12)
        assert_allclose(constraint.calc_velocity_constraint_matrix_vt(state), G[rows[1]].T, atol=1e-12)
        assert_allclose(constraint.calc_acceleration_constraint_matrix_at(state), G[rows[2]].T, atol=1e-12)
        assert_array_equal(constraint.calc_position_error_from_q(state, q), constraint.get_position_errors_as_vector(other))
        assert_allclose(constraint.calc_velocity_error_from_u(state, u), constraint.get_velocity_errors_as_vector(faster))
        own = [i for run in rows for i in run]
        assert_array_equal(constraint.calc_acceleration_error_from_u_dot(state, udot), errors[own])
        part = constraint.get_my_part_from_constraint_space_vector(state, multipliers)
        assert_array_equal(part, constraint.get_multipliers_as_vector(state))
        gathered = constraint.set_my_part_in_constraint_space_vector(state, part, gathered)
        F, f = constraint.get_constraint_forces_as_vectors(state)
        assert_array_equal(constraint.get_constrained_body_forces_as_vector(state), F)
        assert_array_equal(constraint.get_constrained_mobility_forces_as_vector(state), f)
        assert constraint.get_num_constrained_u(state) == len(f)
        check_numbering(constraint, state)
        assert constraint.is_in_subsystem() and constraint.upd_matter_subsystem() is matter
        assert constraint.is_in_same_subsystem(matter.ground) and not constraint.is_conditional()
    assert_array_equal(gathered, multipliers)
    assert_array_equal(before[0], state.q)
    assert_array_equal(before[1], state.u)
    assert state.stage == before[2]


def check_numbering(constraint, state):
    """Constrained q and u run through the constrained mobilizers in turn."""
    q, u = [], []
    for i in range(constraint.get_num_constrained_mobilizers()):
        body = constraint.get_mobilized_body_from_constrained_mobilizer(i)
        nq, nu = constraint.get_num_constrained_q(state, i), constraint.get_num_constrained_u(state, i)
        assert (nq, nu) == (body.get_num_q(state), body.get_num_u(state))
        for j in range(nq):
            assert constraint.get_constrained_q_index(state, i, j) == len(q)
            q.append(body.get_first_q_index(state) + j)
        for j in range(nu):
            assert constraint.get_constrained_u_index(state, i, j) == len(u)
            u.append(body.get_first_u_index(state) + j)
    assert [constraint.get_q_index_of_constrained_q(state, k) for k in range(len(q))] == q
    assert [constraint.get_u_index_of_constrained_u(state, k) for k in range(len(u))] == u
    assert (constraint.get_num_constrained_q(state), constraint.get_num_constrained_u(state)) == (len(q), len(u))
    with pytest.raises(IndexError, match="no number"):
        constraint.get_q_index_of_constrained_q(state, len(q))
    with pytest.raises(IndexError, match="no number -1"):
        constraint.get_u_index_of_constrained_u(state, -1)


def test_floats_of_one_equation_refusals_and_zeros(make):
    system, matter, state = build(make)
    rod, _, slip, hold, coupler, belt, push = matter.constraints
    levels = {rod: "pva", hold: "pva", coupler: "pva", slip: "va", belt: "va", push: "a"}
    for constraint, letters in levels.items():
        asked = {"p": "position_error", "v": "velocity_error", "a": "acceleration_error"}
        for what in [asked[letter] for letter in letters]:
            value = getattr(constraint, f"get_{what}")(state)
            assert isinstance(value, float)
            assert value == getattr(constraint, f"get_{what}s_as_vector")(state)[0]
        assert constraint.get_multiplier(state) == constraint.get_multipliers_as_vector(state)[0]
    nq, nu, m = len(state.q), len(state.u), len(state.multipliers)
    for zeros in (None, []):
        assert_array_equal(matter.multiply_by_pq(state, zeros), np.zeros(6))
        assert_array_equal(matter.multiply_by_pq_transpose(state, zeros), np.zeros(nq))
    for match, attempt in (
        (rf"q has to have shape \({nq},\)", lambda: rod.calc_position_error_from_q(state, np.zeros(nq + 1))),
        (rf"\({nu},\)", lambda: rod.calc_velocity_error_from_u(state, np.zeros(nu + 1))),
        (rf"\({nu},\)", lambda: rod.calc_acceleration_error_from_u_dot(state, np.zeros(nu + 1))),
        (rf"\({m},\)", lambda: rod.get_my_part_from_constraint_space_vector(state, np.zeros(m + 1))),
        (r"my_part.*\(1,\)", lambda: rod.set_my_part_in_constraint_space_vector(state, [1.0, 2.0])),
    ):
        with pytest.raises(ValueError, match=match):
            attempt()
    with pytest.raises(TypeError, match="takes a mobilized body"):
        rod.is_in_same_subsystem(1)
    with pytest.raises(IndexError, match="has 6 q; no number 6"):
        hold.get_constrained_q_index(state, 0, 6)
    for constraint in levels:
        constraint.disable(state)
    system.realize(state, Stage.ACCELERATION)
    for constraint in levels:
        for what in ("get_acceleration_error", "get_multiplier"):
            with pytest.raises(mb.ModelError, match=f"{what}.*disabled.*enable"):
                getattr(constraint, what)(state)
    assert rod.calc_position_error_from_q(state, state.q).shape == (0,)
    assert hold.get_num_constrained_q(state) == 6
    hold.set_is_conditional(True)
    assert hold.is_conditional()
    with pytest.raises(mb.TopologyError):
        system.realize(state, Stage.REPORT)
