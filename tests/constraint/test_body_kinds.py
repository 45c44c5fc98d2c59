"""Constraints between bodies: laws that every kind obeys. Its record is in ``tests/kinds/constraints.py``."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from kinds.constraints import OF_BODIES, Pair
from mobod.state import validity
from mobod.tree import realize as _realize

each_kind = pytest.mark.parametrize("kind", OF_BODIES)


@each_kind
def test_g_and_offsets_are_derivatives_of_the_errors(kind, make, close, derivative):
    """Where the constraint holds: perr' = P u, and aerr at any udot is verr'."""
    pair = Pair(make, kind)
    state, matter, constraint = pair.assemble(), pair.matter, pair.constraint
    udot = make.vector(len(state.u), 2.0)

    def errors(h, level):
        other = state.copy()
        other.q, other.u = state.q + h * state.q_dot, state.u + h * udot
        pair.system.realize(other, mb.Stage.VELOCITY)
        name = f"get_{level}_errors_as_vector"
        return getattr(constraint, name)(other)

    rate = derivative(lambda h: errors(h, "position"))
    close(constraint.calc_position_constraint_matrix_p(state) @ state.u, rate, 1e-9, 1.0)  # truncation, rounding over h
    if pair.record.acceleration_is_of_errors:
        rate = derivative(lambda h: errors(h, "velocity"))
        close(matter.calc_constraint_acceleration_errors(state, udot), rate, 1e-8, 1.0)


@each_kind
def test_products_with_g_are_those_of_the_matrix(kind, make, close):
    pair = Pair(make, kind)
    state, matter = pair.randomize(), pair.matter
    G, v = matter.calc_g(state), make.vector(len(state.u))
    assert np.linalg.matrix_rank(G) == len(G), "as many equations as there are"
    lam = make.vector(len(G))
    for actual, expected in (
        (matter.calc_g_transpose(state), G.T),
        (matter.multiply_by_g(state, v), G @ v),
        (matter.multiply_by_g_transpose(state, lam), G.T @ lam),
        (matter.calc_projected_m_inv(state), G @ matter.calc_m_inv(state) @ G.T),
        (matter.calc_pt(state), matter.calc_p(state).T),
    ):
        close(actual, expected, 1e-11)  # sums of some tens of products


@each_kind
def test_dynamics_and_forces_fit_together(kind, make, close):
    """The equations of motion with multipliers, errors of accelerations, forces by constraint, reactions in two ways."""
    pair = Pair(make, kind)
    state, matter, constraint = pair.randomize(), pair.matter, pair.constraint
    f, F = np.zeros(len(state.u)), pair.gravity.get_body_forces(state)
    lam = matter.get_constraint_multipliers(state)
    assert_allclose(matter.calc_residual_force(state, f, F, state.u_dot, lam), 0.0, atol=1e-9)
    assert_allclose(constraint.get_acceleration_errors_as_vector(state), 0.0, atol=1e-9)
    udot, _ = matter.calc_acceleration(state, f, F)
    close(udot, state.u_dot, 1e-10)
    all_F, all_f = matter.find_constraint_forces(state)
    own_F, _ = constraint.get_constraint_forces_as_vectors(state)
    summed = np.zeros_like(all_F)
    for i, one in enumerate(own_F):
        summed[constraint.get_mobilized_body_from_constrained_body(i).get_mobilized_body_index()] += one
    close(all_F, summed, 1e-12)
    assert not all_f.any()
    close(
        matter.calc_mobilizer_reaction_forces(state), matter.calc_mobilizer_reaction_forces_using_freebody_method(state), 1e-9
    )
    # action is reaction: together the forces on the bodies have no moment and no resultant
    locations = [body.get_body_transform(state).p for body in matter.bodies]
    total = all_F.sum(axis=0)
    total[0] += sum(np.cross(p, force) for p, (_, force) in zip(locations, all_F, strict=True))
    said = f"{kind} pushes its bodies from outside: what its equations are beside, such as Ground, is a body of it too"
    assert_allclose(total, 0.0, atol=1e-9 * max(np.abs(all_F).max(), 1.0), err_msg=said)


@each_kind
def test_a_constraint_that_holds_does_no_work(kind, make):
    pair = Pair(make, kind)
    state = pair.assemble()
    assert abs(pair.constraint.calc_power(state)) < 1e-8
    assert pair.matter.calc_constraint_power(state) == pair.constraint.calc_power(state)


@each_kind
def test_an_ensemble_is_its_states(kind, make, close):
    pair, n = Pair(make, kind), 9
    states = [pair.randomize(pair.state.copy()) for _ in range(n)]
    ensemble = mb.Ensemble(pair.system, n, state=pair.state)
    ensemble.q, ensemble.u = [one.q for one in states], [one.u for one in states]
    ensemble.realize()
    for name in ("q_err", "u_err", "multipliers", "u_dot"):
        close(getattr(ensemble, name), [getattr(one, name) for one in states], 1e-9)


@each_kind
def test_duals_differentiate_the_accelerations(kind, make, close, derivative):
    """udot's derivative along a direction of q and u, multipliers and all, is the difference of udot."""
    pair = Pair(make, kind)
    state = pair.randomize()
    dq, du = make.vector(len(state.q)), make.vector(len(state.u))
    record = state.tree.new_record(with_tangents=True)
    for name in ("time", "q", "u"):
        getattr(record, name)[:] = getattr(state.record, name)
    record.q.tangents[:, 0, 0], record.u.tangents[:, 0, 0] = dq, du
    everything = validity.EVERYTHING
    address = _realize.advance.address(with_tangents=True)
    assert _realize.realize(record, address, 0, everything) == _realize.DONE

    def u_dot(h):
        other = state.record.copy()
        other.q[:, 0] += h * dq
        other.u[:, 0] += h * du
        assert _realize.realize(other, _realize.advance.address(with_tangents=False), 0, everything) == _realize.DONE
        return other.u_dot[:, 0].copy()

    expected = derivative(u_dot, 3e-5)  # short: near a singular pose of the constraint udot varies quickly
    close(record.u_dot.tangents[:, 0, 0], expected, 1e-6)  # multipliers amplify what differences leave


@each_kind
def test_a_copy_beside_it_changes_no_bit(kind, make):
    """Constraints that share no mobility are solved apart: two alike give what one does, bit for bit."""
    drawn = make.rng.bit_generator.state
    one = Pair(make, kind)
    make.rng.bit_generator.state = drawn
    two = Pair(make, kind, copies=2)
    one.randomize()
    two.state.q, two.state.u = np.tile(one.state.q, 2), np.tile(one.state.u, 2)
    two.system.realize(two.state)
    assert np.array_equal(two.state.u_dot, np.tile(one.state.u_dot, 2))
    n = sum(one.constraint.get_num_constraint_equations_in_use(one.state))
    for constraint in two.constraints:
        assert np.array_equal(constraint.get_multipliers_as_vector(two.state), one.state.multipliers)
        assert len(one.state.multipliers) == n


@each_kind
def test_projection_leaves_locked_coordinates_alone(kind, make):
    pair = Pair(make, kind)
    state = pair.assemble()
    state.q = state.q + make.vector(len(state.q), 0.01)
    pair.system.normalize_quaternions(state)
    pair.system.realize(state, mb.Stage.POSITION)
    base = pair.matter.bodies[1]
    base.lock(state)
    held, before = base.get_q_as_vector(state).copy(), np.array(state.q)
    pair.system.project(state, 1e-10)
    assert np.array_equal(base.get_q_as_vector(state), held)
    assert np.abs(pair.constraint.get_position_errors_as_vector(state)).max(initial=0.0) < 1e-10
    moved = not np.array_equal(before, state.q)
    assert moved or not len(pair.constraint.get_position_errors_as_vector(state))


@each_kind
def test_the_same_twice_shares_the_load(kind, make, close):
    """Redundant equations: the motion is as with one, each multiplier half."""
    drawn = make.rng.bit_generator.state
    alone = Pair(make, kind)
    make.rng.bit_generator.state = drawn
    twice = Pair(make, kind)
    again = _again(make, twice, kind)
    twice.state = twice.system.realize_topology()
    alone.randomize()
    twice.state.q, twice.state.u = alone.state.q, alone.state.u
    twice.system.realize(twice.state)
    close(twice.state.u_dot, alone.state.u_dot, 1e-7)
    for constraint in (twice.constraint, again):
        close(2.0 * constraint.get_multipliers_as_vector(twice.state), alone.state.multipliers, 1e-7)


def _again(make, pair, kind):
    """The pair's constraint once more: the same numbers between the same bodies."""
    _, base, left, right, _ = pair.matter.bodies
    again = pair.build(make, left, right, base)
    again.default_numbers[:] = pair.constraint.default_numbers
    return again


@each_kind
def test_switching_off_by_default_is_a_change_of_the_structure(kind, make):
    pair = Pair(make, kind)
    state = pair.system.realize_topology()
    pair.constraint.set_disabled_by_default(True)
    with pytest.raises(mb.TopologyError):
        pair.system.realize(state, mb.Stage.POSITION)
    state = pair.system.realize_topology()
    assert pair.constraint.is_disabled(state)


def test_projected_inverse_of_several_groups_is_that_of_the_matrix(make, close):
    """Constraints that share no body are groups of their own, whose rows need not follow each other."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    body = mb.body.Rigid(mb.MassProperties(1.0, (0.1, 0.2, 0.0), mb.UnitInertia(0.4, 0.5, 0.6)))
    a, b, c, d = (mb.mobilizer.Free(matter.ground, body) for _ in range(4))
    mb.constraint.Rod(a, (0.0, 0.0, 0.0), b, (0.0, 0.0, 0.0), 1.0)
    mb.constraint.Ball(c, (0.1, 0.0, 0.0), d, (0.0, 0.2, 0.0))
    mb.constraint.Rod(a, (0.3, 0.0, 0.1), b, (0.0, 0.0, 0.0), 2.0)
    state = system.realize_topology()
    state.q = make.vector(len(state.q), 2.0)
    system.realize(state, mb.Stage.VELOCITY)
    G = matter.calc_g(state)
    W = matter.calc_projected_m_inv(state)
    assert not W[0, 1:4].any() and W[0, 4] != 0.0
    close(W, G @ matter.calc_m_inv(state) @ G.T, 1e-11)
