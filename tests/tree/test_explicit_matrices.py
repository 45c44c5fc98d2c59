"""M and M^-1, explicit: the products with unit vectors, whatever the shape of the tree and wherever eight columns end."""

import numpy as np
import pytest

import mobod as mb

m = mb.mobilizer
SHAPES = {
    "chain": lambda rng, b: b,
    "star": lambda rng, b: 0,
    "brush": lambda rng, b: b // 2 * 2,
    "binary": lambda rng, b: (b + 1) // 2,
    "random": lambda rng, b: int(rng.integers(0, b + 1)),
}
KINDS = {
    "pins": [m.Pin],
    "balls": [m.Ball],
    "free": [m.Free],
    "mixed": [m.Pin, m.Free, m.Weld, m.Ball, m.Planar, m.Universal, m.Bushing, m.Ellipsoid, m.FreeLine],
}


@pytest.fixture(params=[(shape, kinds) for shape in SHAPES for kinds in KINDS], ids="-".join)
def model(request, make):
    shape, kinds = SHAPES[request.param[0]], KINDS[request.param[1]]
    model = make.tree(0)
    for b in range(int(make.rng.integers(15, 20))):
        make.mobilized_body(kinds[b % len(kinds)], model.bodies[shape(make.rng, b)])
    if len(kinds) > 1:
        make.rotors(model.bodies[1::2])
    model.made()
    model.randomize(mb.Stage.POSITION)
    return model


def columns(product, nu):
    return np.array([product(e) for e in np.eye(nu)]).T


def test_explicit_matrices_are_their_products_with_unit_vectors(model, close):
    matter, state = model.matter, model.state
    nu = len(state.u)
    for _ in range(2):  # the second time with what the first has left in the scratch
        model.randomize(mb.Stage.POSITION)
        M, M_inv = matter.calc_m(state), matter.calc_m_inv(state)
        close(M, columns(lambda e: matter.multiply_by_m(state, e), nu), 1e-13)
        close(M_inv, columns(lambda e: matter.multiply_by_m_inv(state, e), nu), 1e-9)  # rounding times the condition of M
        assert np.array_equal(M, M.T) and np.array_equal(M_inv, M_inv.T), "both halves are the same numbers"
        close(M @ M_inv, np.eye(nu), 1e-7)


def test_known_mobilities_have_rows_and_columns_of_zeros_in_the_inverse(model, close):
    matter, state = model.matter, model.state
    bodies = [b for b in model.bodies[1:] if b.facts.num_u > 0]
    for body in bodies[::3]:
        body.lock(state)
    for body in bodies[1::6]:
        body.lock_at(state, np.ones(body.facts.num_u), mb.Motion.Level.ACCELERATION)
    model.system.realize(state, mb.Stage.POSITION)
    nu = len(state.u)
    M, M_inv = matter.calc_m(state), matter.calc_m_inv(state)
    free = np.array(matter.get_free_u_dot_index(state), dtype=int)
    expected = np.zeros((nu, nu))
    expected[np.ix_(free, free)] = np.linalg.inv(M[np.ix_(free, free)])
    close(M_inv, expected, 1e-8)  # rounding times the condition of M
    close(M_inv, columns(lambda e: matter.multiply_by_m_inv(state, e), nu), 1e-9)
    assert np.array_equal(M_inv, M_inv.T)


def test_explicit_matrices_realize_what_they_need_and_leave_it(model):
    matter, state = model.matter, model.state
    assert not matter.is_articulated_body_inertias_realized(state)
    assert not matter.is_composite_body_inertias_realized(state)
    M, M_inv = matter.calc_m(state), matter.calc_m_inv(state)
    assert matter.is_articulated_body_inertias_realized(state) and matter.is_composite_body_inertias_realized(state)
    assert np.array_equal(matter.calc_m(state), M) and np.array_equal(matter.calc_m_inv(state), M_inv)
    assert state.stage == mb.Stage.POSITION


def test_a_copy_of_a_state_has_a_scratch_of_its_own(make, close):
    model = make.tree(9)
    model.randomize()
    M_inv = model.matter.calc_m_inv(model.state)
    other = model.randomize(state=model.state.copy())
    model.matter.calc_m_inv(other)
    assert other.scratch is not model.state.scratch
    assert np.array_equal(model.matter.calc_m_inv(model.state), M_inv)


def test_large_models_too(make, close):
    model = make.tree(0)
    for b in range(300):
        make.mobilized_body(m.Pin, model.bodies[(b + 1) // 2])
    model.made()
    model.randomize(mb.Stage.POSITION)
    matter, state, v = model.matter, model.state, model.rng.normal(size=300)
    close(matter.calc_m(state) @ v, matter.multiply_by_m(state, v), 1e-12)
    close(matter.calc_m_inv(state) @ v, matter.multiply_by_m_inv(state, v), 1e-10)
