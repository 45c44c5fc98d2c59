"""Laws of mechanics that hold on any tree: random ones of mixed kinds, forward and reversed, in Ground-fixed gravity.

Tolerances: 1e-10 of the largest entry where both sides are exact (tens of bodies' roundings, times the condition of the
mass matrix, of order 1e3); 1e-7 against differences of fourth order.
"""

import numpy as np
import pytest

import mobod as mb
from mobod.algebra.record import layout

EXACT, DIFFERENCE = 1e-10, 1e-7
SHAPES = ["mixed", "euler", "chain", "massless"]


@pytest.fixture(params=SHAPES)
def model(request, make):
    """A random tree of every kind, realized to ACCELERATION."""
    chain = request.param == "chain"
    tree = make.tree(chain=chain, massless=request.param == "massless", rotors=chain)
    if request.param == "euler":
        tree.matter.set_use_euler_angles(tree.state, True)
        tree.system.realize_model(tree.state)
    tree.randomize()
    return tree


def random_tasks(model, make, n=5):
    nb = model.matter.get_num_bodies()
    return model.rng.integers(0, nb, n).tolist(), np.array([make.vector() for _ in range(n)])


def explicit(multiply, n):
    return np.array([multiply(column) for column in np.eye(n)]).reshape(n, -1).T


def test_mass_matrix_is_symmetric_positive_definite_and_what_its_product_says(model, close):
    matter, state = model.matter, model.state
    M = matter.calc_m(state)
    assert np.array_equal(M, M.T)
    assert np.linalg.eigvalsh(M).min() > 0.0
    close(explicit(lambda a: matter.multiply_by_m(state, a), len(M)), M, EXACT)


def test_mass_matrix_times_its_inverse_is_one(model, close):
    matter, state = model.matter, model.state
    M, M_inv = matter.calc_m(state), matter.calc_m_inv(state)
    n = len(M)
    condition = np.linalg.cond(M)
    close(M @ M_inv, np.eye(n), 1e-15 * n * condition)  # what a backward stable inverse gives
    close(M_inv, M_inv.T, EXACT)
    close(explicit(lambda f: matter.multiply_by_m_inv(state, f), n), M_inv, EXACT)


def test_system_jacobian_is_its_product_and_its_transpose_its_transpose(model, close):
    matter, state = model.matter, model.state
    J = matter.calc_system_jacobian(state)
    nb, nu = matter.get_num_bodies(), len(state.u)
    close(explicit(lambda u: matter.multiply_by_system_jacobian(state, u), nu), J, EXACT)
    F = model.rng.normal(size=(nb, 2, 3))
    close(matter.multiply_by_system_jacobian_transpose(state, F), J.T @ F.ravel(), EXACT)
    V = np.array([body.get_body_velocity(state) for body in model.bodies])
    close(matter.multiply_by_system_jacobian(state, state.u), V, EXACT)
    assert not J[:6].any(), "Ground does not move"


def test_station_jacobian_is_its_product_and_its_transpose_its_transpose(model, make, close):
    matter, state = model.matter, model.state
    bodies, stations = random_tasks(model, make)
    J = matter.calc_station_jacobian(state, bodies, stations)
    assert J.shape == (15, len(state.u))
    close(explicit(lambda u: matter.multiply_by_station_jacobian(state, bodies, stations, u), len(state.u)), J, EXACT)
    f = model.rng.normal(size=(5, 3))
    close(matter.multiply_by_station_jacobian_transpose(state, bodies, stations, f), J.T @ f.ravel(), EXACT)
    v = [model.bodies[b].find_station_velocity_in_ground(state, s) for b, s in zip(bodies, stations, strict=True)]
    close(matter.multiply_by_station_jacobian(state, bodies, stations, state.u), v, EXACT)


def test_frame_jacobian_is_its_product_and_its_transpose_its_transpose(model, make, close):
    matter, state = model.matter, model.state
    bodies, stations = random_tasks(model, make)
    J = matter.calc_frame_jacobian(state, bodies, stations)
    assert J.shape == (30, len(state.u))
    close(explicit(lambda u: matter.multiply_by_frame_jacobian(state, bodies, stations, u), len(state.u)), J, EXACT)
    F = model.rng.normal(size=(5, 2, 3))
    close(matter.multiply_by_frame_jacobian_transpose(state, bodies, stations, F), J.T @ F.ravel(), EXACT)


def test_one_bare_task_is_one_of_a_list(model, make):
    matter, state = model.matter, model.state
    bodies, stations = random_tasks(model, make, 1)
    b, s = model.bodies[bodies[0]], stations[0]
    u, F = state.u, model.rng.normal(size=(2, 3))
    for listed, bare in (
        (
            matter.multiply_by_station_jacobian(state, bodies, stations, u)[0],
            matter.multiply_by_station_jacobian(state, b, s, u),
        ),
        (matter.multiply_by_frame_jacobian(state, bodies, stations, u)[0], matter.multiply_by_frame_jacobian(state, b, s, u)),
        (matter.calc_bias_for_station_jacobian(state, bodies, stations)[0], matter.calc_bias_for_station_jacobian(state, b, s)),
        (matter.calc_bias_for_frame_jacobian(state, bodies, stations)[0], matter.calc_bias_for_frame_jacobian(state, b, s)),
        (matter.calc_station_jacobian(state, bodies, stations), matter.calc_station_jacobian(state, b, s)),
        (matter.calc_frame_jacobian(state, bodies, stations), matter.calc_frame_jacobian(state, b, s)),
        (
            matter.multiply_by_frame_jacobian_transpose(state, bodies, stations, F[None]),
            matter.multiply_by_frame_jacobian_transpose(state, b, s, F),
        ),
        (
            matter.multiply_by_station_jacobian_transpose(state, bodies, stations, F[1:]),
            matter.multiply_by_station_jacobian_transpose(state, b, s, F[1]),
        ),
    ):
        assert np.array_equal(listed, bare)


def test_biases_are_the_rates_of_the_jacobians_products(model, make, derivative, close):
    matter, state = model.matter, model.state
    bodies, stations = random_tasks(model, make)
    still = np.zeros(len(state.u))

    def along(product):
        return derivative(lambda h: product(model.moved(h, u_dot=still)))

    close(
        matter.calc_bias_for_system_jacobian(state),
        along(lambda s: matter.multiply_by_system_jacobian(s, s.u)),
        DIFFERENCE,
    )
    close(
        matter.calc_bias_for_station_jacobian(state, bodies, stations),
        along(lambda s: matter.multiply_by_station_jacobian(s, bodies, stations, s.u)),
        DIFFERENCE,
    )
    close(
        matter.calc_bias_for_frame_jacobian(state, bodies, stations),
        along(lambda s: matter.multiply_by_frame_jacobian(s, bodies, stations, s.u)),
        DIFFERENCE,
    )


def test_accelerations_are_the_rates_of_velocities(model, derivative, close):
    state = model.state
    for body in model.bodies:
        rate = derivative(lambda h, body=body: body.get_body_velocity(model.moved(h)))
        close(body.get_body_acceleration(state), rate, DIFFERENCE, 100.0)
    close(state.q_dot_dot, derivative(lambda h: model.moved(h).q_dot), DIFFERENCE)
    close(model.matter.calc_q_dot_dot(state, state.u_dot), state.q_dot_dot, EXACT)


def test_velocities_are_the_rates_of_poses(model, derivative, close):
    state = model.state
    for body in model.bodies:
        X_dot = derivative(lambda h, body=body: np.asarray(body.get_body_transform(model.moved(h))))
        w, v = body.get_body_velocity(state)
        spin = X_dot[:3, :3] @ np.asarray(body.get_body_rotation(state)).T
        close([spin[2, 1], spin[0, 2], spin[1, 0]], w, DIFFERENCE, 10.0)
        close(spin, -spin.T, DIFFERENCE, 10.0)
        close(X_dot[:3, 3], v, DIFFERENCE, 10.0)


def test_n_inverse_and_the_transposes_belong_together(model, close):
    matter, state = model.matter, model.state
    nq, nu = len(state.q), len(state.u)
    N = explicit(lambda v: matter.multiply_by_n(state, False, v), nu)
    N_inv = explicit(lambda v: matter.multiply_by_n_inv(state, False, v), nq)
    N_dot = explicit(lambda v: matter.multiply_by_n_dot(state, False, v), nu)
    close(N_inv @ N, np.eye(nu), EXACT)
    close(explicit(lambda v: matter.multiply_by_n(state, True, v), nq), N.T, EXACT)
    close(explicit(lambda v: matter.multiply_by_n_inv(state, True, v), nu), N_inv.T, EXACT)
    close(explicit(lambda v: matter.multiply_by_n_dot(state, True, v), nq), N_dot.T, EXACT)
    close(matter.calc_q_dot(state, state.u), N @ state.u, EXACT)
    close(state.q_dot, N @ state.u, EXACT)


def test_n_dot_is_the_rate_of_n(model, derivative, close):
    matter, state = model.matter, model.state
    v = model.rng.normal(size=len(state.u))
    rate = derivative(lambda h: matter.multiply_by_n(model.moved(h), False, v))
    close(matter.multiply_by_n_dot(state, False, v), rate, DIFFERENCE)


def test_inverse_dynamics_undoes_forward_dynamics(model, close):
    matter, state, rng = model.matter, model.state, model.rng
    f, F = rng.normal(size=len(state.u)), rng.normal(size=(matter.get_num_bodies(), 2, 3))
    u_dot, A_GB = matter.calc_acceleration_ignoring_constraints(state, f, F)
    missing = matter.calc_residual_force_ignoring_constraints(state, None, F, u_dot)
    close(missing, f, EXACT, max(1.0, np.abs(matter.multiply_by_m(state, u_dot)).max()))
    close(matter.calc_body_acceleration_from_u_dot(state, u_dot), A_GB, EXACT)
    for name, value in zip(("u_dot", "A_GB"), matter.calc_acceleration(state, f, F), strict=True):
        assert np.array_equal(value, {"u_dot": u_dot, "A_GB": A_GB}[name]), "without constraints the two are one"


def test_the_states_own_forces_give_the_states_own_accelerations(model, close):
    system, matter, state = model.system, model.matter, model.state
    u_dot, A_GB = matter.calc_acceleration(state, system.get_mobility_forces(state), system.get_rigid_body_forces(state))
    close(u_dot, state.u_dot, EXACT)
    close(A_GB, [body.get_body_acceleration(state) for body in model.bodies], EXACT)


def test_equation_of_motion_is_m_udot_plus_bias_is_applied_force(model, close):
    matter, state, rng = model.matter, model.state, model.rng
    a, F = rng.normal(size=len(state.u)), rng.normal(size=(matter.get_num_bodies(), 2, 3))
    residual = matter.calc_residual_force_ignoring_constraints(state, None, F, a)
    bias = matter.calc_residual_force_ignoring_constraints(state)
    by_hand = matter.calc_m(state) @ a + bias - matter.calc_system_jacobian(state).T @ F.ravel()
    close(residual, by_hand, EXACT, np.abs(bias).max() + np.abs(a).max())
    # the equivalent of body forces takes those of the velocities off
    close(
        matter.calc_tree_equivalent_mobility_forces(state, F),
        matter.multiply_by_system_jacobian_transpose(state, F) - bias,
        EXACT,
    )


def test_lagranges_equation_gives_the_force_of_the_velocities(model, derivative, close):
    """Force of the velocities = (M u)' - 1/2 d(u M u)/dq, in quasi-coordinates by d'Alembert: sum of J_b^T (M_b V_b)'."""
    matter, state = model.matter, model.state
    still = np.zeros(len(state.u))

    def momenta(h):  # about points fixed in Ground, where the bodies' origins are at h = 0
        s = model.moved(h, u_dot=still)
        rows = []
        for body in model.bodies[1:]:
            H = body.calc_body_momentum_about_body_origin_in_ground(s)
            r = body.get_body_origin_location(s) - body.get_body_origin_location(state)
            rows.append([H[0] + np.cross(r, H[1]), H[1]])
        return np.array(rows)

    force = np.concatenate([np.zeros((1, 2, 3)), derivative(momenta)])
    expected = matter.multiply_by_system_jacobian_transpose(state, force)
    close(matter.calc_residual_force_ignoring_constraints(state), expected, DIFFERENCE, np.abs(force).max())


def test_total_centrifugal_force_is_what_the_balance_of_the_free_body_asks(model, derivative, close):
    """Of the body alone, never of the articulated body."""
    matter, state = model.matter, model.state
    still = np.zeros(len(state.u))
    for body in model.bodies[1:]:
        here = body.get_body_origin_location(state)

        def momentum(h, body=body, here=here):
            s = model.moved(h, u_dot=still)
            H = body.calc_body_momentum_about_body_origin_in_ground(s)
            return np.array([H[0] + np.cross(body.get_body_origin_location(s) - here, H[1]), H[1]])

        F = matter.get_total_centrifugal_forces(state, body)
        close(F, derivative(momentum), DIFFERENCE, 30.0)
        M = body.calc_body_spatial_inertia_matrix_in_ground(state)
        a = matter.get_total_coriolis_acceleration(state, body)
        close(F, (M @ a.ravel()).reshape(2, 3) + matter.get_gyroscopic_force(state, body), EXACT, 30.0)


def test_power_balances_energy(model, derivative, close):
    """dE/dt is the power of the forces that are not in E: here applied ones, gravity being in E."""
    matter, system, state, rng = model.matter, model.system, model.state, model.rng
    f, F = 10.0 * rng.normal(size=len(state.u)), 10.0 * rng.normal(size=(matter.get_num_bodies(), 2, 3))
    gravity = system.get_rigid_body_forces(state)
    u_dot, _ = matter.calc_acceleration(state, f, F + gravity)
    V = np.array([body.get_body_velocity(state) for body in model.bodies])
    rate = derivative(lambda h: system.calc_energy(model.moved(h, u_dot=u_dot)))
    close(rate, f @ state.u + np.sum(F * V), DIFFERENCE, 300.0)


def test_kinetic_energy_is_half_of_u_m_u(model, close):
    matter, state = model.matter, model.state
    expected = 0.5 * state.u @ matter.calc_m(state) @ state.u
    close(matter.calc_kinetic_energy(state), expected, EXACT)
    close(model.system.calc_energy(state), expected + model.gravity.get_potential_energy(state), EXACT)


def test_gravity_does_the_work_that_its_potential_says(model, derivative, close):
    state = model.state
    F = model.system.get_rigid_body_forces(state)
    V = np.array([body.get_body_velocity(state) for body in model.bodies])
    rate = derivative(lambda h: model.gravity.get_potential_energy(model.moved(h)))
    close(-rate, np.sum(F * V), DIFFERENCE, 30.0)


def cross_matrix(r):
    return np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])


def subtree(model, body):
    """The body and all outboard of it."""
    return [b for b in model.bodies[1:] if any(ancestor is body for ancestor in ancestors(b))]


def ancestors(body):
    while not body.is_ground():
        yield body
        body = body.get_parent_mobilized_body()


def test_composite_inertia_is_the_sum_of_its_bodies(model, close):
    """By the points of each body: phi M phi^T as 6 x 6 matrices."""
    matter, state = model.matter, model.state
    for body in model.bodies[1:]:
        total = np.zeros((6, 6))
        for part in subtree(model, body):
            r = part.get_body_origin_location(state) - body.get_body_origin_location(state)
            phi = np.eye(6)
            phi[:3, 3:] = cross_matrix(r)
            total += phi @ part.calc_body_spatial_inertia_matrix_in_ground(state) @ phi.T
        close(np.asarray(matter.get_composite_body_inertia(state, body)), total, EXACT)


def test_articulated_inertia_is_composite_with_outboard_mobilities_condensed(model, close):
    """P of a body: its composite inertia's Schur complement over the mobilities outboard of it, all by dense algebra."""
    matter, state = model.matter, model.state
    J = matter.calc_system_jacobian(state).reshape(-1, 6, len(state.u))
    for body in model.bodies[1:]:
        outboard = [part for part in subtree(model, body) if part is not body]
        columns = [
            i
            for part in outboard
            for i in range(part.get_first_u_index(state), part.get_first_u_index(state) + part.get_num_u(state))
        ]
        A = np.zeros((6 + len(columns), 6 + len(columns)))
        for part in [body, *outboard]:
            r = part.get_body_origin_location(state) - body.get_body_origin_location(state)
            shift = np.eye(6)
            shift[3:, :3] = -cross_matrix(r)  # w x r
            B = np.hstack([shift, J[part.get_mobilized_body_index()][:, columns]])
            A += B.T @ part.calc_body_spatial_inertia_matrix_in_ground(state) @ B
        A[6:, 6:] += np.diag([r for part in outboard for r in np.atleast_1d(part.get_rotor_inertia(state))])
        P = A[:6, :6] - A[:6, 6:] @ np.linalg.solve(A[6:, 6:], A[6:, :6]) if columns else A
        close(np.asarray(matter.get_articulated_body_inertia(state, body)), P, 1e-9)  # a dense solve on the other side


def test_sums_over_the_system_are_sums_over_its_bodies(model, close):
    matter, state = model.matter, model.state
    bodies = model.bodies[1:]
    m = np.array([b.get_body_mass(state) for b in bodies])
    c = np.array([b.find_mass_center_location_in_ground(state) for b in bodies])
    v = np.array([b.find_station_velocity_in_ground(state, b.get_body_mass_center_station(state)) for b in bodies])
    a = np.array([b.find_station_acceleration_in_ground(state, b.get_body_mass_center_station(state)) for b in bodies])
    close(matter.calc_system_mass(state), m.sum(), EXACT)
    close(matter.calc_system_mass_center_location_in_ground(state), m @ c / m.sum(), EXACT)
    close(matter.calc_system_mass_center_velocity_in_ground(state), m @ v / m.sum(), EXACT)
    close(matter.calc_system_mass_center_acceleration_in_ground(state), m @ a / m.sum(), EXACT)
    central = np.array([b.calc_body_momentum_about_body_mass_center_in_ground(state) for b in bodies])
    angular = central[:, 0].sum(axis=0) + np.cross(c, central[:, 1]).sum(axis=0)
    close(matter.calc_system_momentum_about_ground_origin(state), [angular, m @ v], EXACT)
    com = m @ c / m.sum()
    close(matter.calc_system_central_momentum(state), [angular - np.cross(com, m @ v), m @ v], EXACT, 10.0)
    inertia = np.zeros((3, 3))
    for body, mass, p in zip(bodies, m, c, strict=True):
        R = np.asarray(body.get_body_rotation(state))
        central_inertia = R @ np.asarray(body.calc_body_central_inertia(state)) @ R.T
        inertia += central_inertia + mass * (p @ p * np.eye(3) - np.outer(p, p))
    close(np.asarray(matter.calc_system_mass_properties_in_ground(state).inertia), inertia, EXACT)
    central_inertia = inertia - m.sum() * (com @ com * np.eye(3) - np.outer(com, com))
    close(np.asarray(matter.calc_system_central_inertia_in_ground(state)), central_inertia, EXACT, np.abs(inertia).max())


@pytest.fixture
def floating(make):
    """A tree on a free base, in gravity."""
    model = make.tree(0)
    kinds = mb.mobilizer.KINDS
    base = make.mobilized_body(mb.mobilizer.Free, model.matter.ground)
    bodies = [base]
    for kind in kinds:
        bodies.append(make.mobilized_body(kind, bodies[int(make.rng.integers(len(bodies)))]))
    model.made().randomize()
    return model


def test_momentum_of_a_floating_tree_changes_by_gravity_alone(floating, derivative, close):
    model, matter, state = floating, floating.matter, floating.state
    rate = derivative(lambda h: matter.calc_system_momentum_about_ground_origin(model.moved(h)))
    mass, com = matter.calc_system_mass(state), matter.calc_system_mass_center_location_in_ground(state)
    weight = mass * model.gravity.get_gravity_vector(state)
    close(rate, [np.cross(com, weight), weight], DIFFERENCE, 100.0)
    close(matter.calc_system_mass_center_acceleration_in_ground(state), model.gravity.get_gravity_vector(state), 1e-9)


def test_momentum_of_a_floating_tree_is_constant_without_gravity(floating, derivative, close):
    model, matter, state = floating, floating.matter, floating.state
    model.gravity.disable(state)
    model.system.realize(state)
    rate = derivative(lambda h: matter.calc_system_momentum_about_ground_origin(model.moved(h)))
    close(rate, np.zeros((2, 3)), DIFFERENCE, 100.0)
    energy = derivative(lambda h: model.system.calc_energy(model.moved(h)))
    close(energy, 0.0, DIFFERENCE, 100.0)


def test_operators_leave_the_state_as_it_was(model, make):
    matter, state, rng = model.matter, model.state, model.rng
    nu, nb = len(state.u), matter.get_num_bodies()
    matter.realize_composite_body_inertias(state)
    fields = [f for f in layout.fields if f not in ("work_A", "work_F")]
    before = {f: np.copy(getattr(state.record, f)) for f in fields}
    bodies, stations = random_tasks(model, make)
    a, F = rng.normal(size=nu), rng.normal(size=(nb, 2, 3))
    matter.multiply_by_m(state, a)
    matter.multiply_by_system_jacobian(state, a)
    matter.multiply_by_system_jacobian_transpose(state, F)
    matter.multiply_by_frame_jacobian(state, bodies, stations, a)
    matter.calc_residual_force_ignoring_constraints(state, a, F, a)
    matter.calc_tree_equivalent_mobility_forces(state, F)
    matter.calc_body_acceleration_from_u_dot(state, a)
    matter.calc_m(state)
    model.gravity.calc_force_contribution(state)
    stage = state.stage
    u_dot = state.u_dot.copy()
    matter.multiply_by_m_inv(state, a)
    matter.calc_m_inv(state)
    matter.calc_acceleration(state, a, F)
    assert state.stage == stage and np.array_equal(state.u_dot, u_dot)
    for f in fields:
        if f != "own_u_dot":  # scratch of the last elimination, which nothing reads later
            assert np.array_equal(getattr(state.record, f), before[f], equal_nan=True), f
