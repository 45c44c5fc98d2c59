"""LineOrientation and FreeLine: their N, which is not a Ball's, and lines that move as mechanics in closed form says.

N and what belongs to it are compared with differences here, in both directions, because Simbody's are wrong for reversed
lines with quaternions, and its NDot for all lines with quaternions (tests/reference/README.md).
"""

import numpy as np
import pytest

import mobod as mb

LINES = [mb.mobilizer.LineOrientation, mb.mobilizer.FreeLine]
each_line = pytest.mark.parametrize("kind", LINES, ids=lambda kind: kind.__name__)
each_direction = pytest.mark.parametrize("direction", list(mb.Direction), ids=lambda d: d.name.lower())
quaternion_or_euler = pytest.mark.parametrize("euler", [False, True], ids=["quaternion", "euler"])


def chosen(model, euler):
    """A state with the representation."""
    model.matter.set_use_euler_angles(model.state, euler)
    model.system.realize_model(model.state)
    return model.state


@pytest.fixture
def single(make):
    """A line on a parent that moves in every way."""

    def build(kind, direction, euler):
        model = make.tree(0)
        parent = make.mobilized_body(mb.mobilizer.Free, model.matter.ground, direction=mb.Direction.FORWARD)
        model.body = make.mobilized_body(kind, parent, direction=direction)
        chosen(model.made(), euler)
        model.randomize()
        return model

    return build


def block(model, method, state=None):
    """The line's own block of a matrix that *method* multiplies by, from the products with unit vectors; and transposed."""
    state, body = model.state if state is None else state, model.body
    q, u = np.eye(len(state.q))[body.q_slice(state)], np.eye(len(state.u))[body.u_slice(state)]
    rows, columns = (u, q) if method == "multiply_by_n_inv" else (q, u)
    multiply = getattr(model.matter, method)
    matrix = np.array([rows @ multiply(state, False, v) for v in columns]).T
    # N is not kept as a matrix: both are products with what it is made of, in another order, some roundings apart
    transposed = [columns @ multiply(state, True, v) for v in rows]
    np.testing.assert_allclose(transposed, matrix, rtol=0, atol=1e-14 * np.abs(matrix).max())
    return matrix


# ---------------------------------------------------------------------------------------------- N


@each_line
@each_direction
@quaternion_or_euler
def test_rates_of_coordinates_turn_the_frame_as_the_speeds_say(kind, direction, euler, single, derivative, close):
    """Of M in F, or of F in M when reversed: w in the moving frame is (u0, u1, 0), and the origin moves at u2, u3, u4."""
    model = single(kind, direction, euler)
    body, state = model.body, model.state
    u = body.get_u_as_vector(state)
    X = np.asarray(body._own_transform(state))
    X_dot = derivative(lambda h: np.asarray(body._own_transform(model.moved(h))))
    spin = X[:3, :3].T @ X_dot[:3, :3]
    close([spin[2, 1], spin[0, 2], spin[1, 0]], [u[0], u[1], 0.0], 1e-8, 1.0)
    close(X_dot[:3, 3], u[2:] if len(u) == 5 else np.zeros(3), 1e-8, 1.0)


@each_line
@each_direction
@quaternion_or_euler
def test_n_has_full_rank_and_its_inverse_leaves_out_what_is_no_motion(kind, direction, euler, single, make, close):
    model = single(kind, direction, euler)
    body, state = model.body, model.state
    N, N_inv = block(model, "multiply_by_n"), block(model, "multiply_by_n_inv")
    assert N.shape == (body.get_num_q(state), body.get_num_u(state)) == N_inv.shape[::-1]
    smallest = np.linalg.svd(N, compute_uv=False)[-1]
    assert abs(smallest - (1.0 if euler else 0.5)) < 1e-12
    close(N_inv @ N, np.eye(len(N_inv)), 1e-13)
    # N^-1 of any q_dot is w in the moving frame but for its z: that of a Ball's u, expressed there
    full = mb.mobilizer.Ball if len(N_inv) == 2 else mb.mobilizer.Free
    other = make.tree(0)
    twin = full(other.matter.ground, make.body())
    chosen(other.made(), euler)
    twin.set_q(other.state, body.get_q_as_vector(state))
    other.system.realize(other.state, mb.Stage.POSITION)
    q_dot = make.vector(len(N))
    w_and_v = other.matter.multiply_by_n_inv(other.state, False, q_dot)
    w_moving = np.asarray(twin.get_mobilizer_transform(other.state).R).T @ w_and_v[:3]
    close(N_inv @ q_dot, [*w_moving[:2], *w_and_v[3:]], 1e-13, 1.0)


@each_line
@each_direction
@quaternion_or_euler
def test_n_dot_is_the_rate_of_n(kind, direction, euler, single, derivative, close):
    """For every speed and not only for u, along which a wrong one would be right."""
    model = single(kind, direction, euler)

    def N(h):
        return block(model, "multiply_by_n", model.moved(h))

    close(block(model, "multiply_by_n_dot"), derivative(N), 1e-8, 10.0)


@each_line
@each_direction
@quaternion_or_euler
def test_second_rates_of_coordinates_are_the_rates_of_the_first(kind, direction, euler, single, derivative, close):
    model = single(kind, direction, euler)
    close(model.state.q_dot_dot, derivative(lambda h: model.moved(h).q_dot), 1e-8, 100.0)


@each_line
def test_a_quaternion_of_any_length_has_the_same_motion(kind, single, close):
    model = single(kind, mb.Direction.FORWARD, False)
    body, state = model.body, model.state
    first = body.get_first_q_index(state)
    long = state.copy()
    long.upd_q()[first : first + 4] *= 1.7
    model.system.realize(long)
    assert np.array_equal(model.matter.multiply_by_n_inv(long, False, long.q_dot).shape, state.u.shape)
    close(model.matter.multiply_by_n_inv(long, False, long.q_dot), state.u, 1e-13)
    close(long.u_dot, state.u_dot, 1e-11)
    close(long.q_dot[first : first + 4], 1.7 * state.q_dot[first : first + 4], 1e-13)


@each_line
@each_direction
def test_angles_stay_finite_up_to_their_singularity(kind, direction, single):
    """At a right angle x and z turn about one line: N grows without bound, and is finite at the nearest number there is."""
    model = single(kind, direction, True)
    body, state = model.body, model.state
    for away in (1e-3, 1e-8, 0.0):
        body.set_one_q(state, 1, np.pi / 2 - away)
        model.system.realize(state)
        for values in (state.q_dot, state.u_dot, state.q_dot_dot):
            assert np.all(np.isfinite(values))
    quaternions = model.matter.convert_to_quaternions(state)
    model.system.realize(quaternions)
    np.testing.assert_allclose(quaternions.u_dot, state.u_dot, rtol=0, atol=1e-9 * np.abs(state.u_dot).max())


# ---------------------------------------------------------------------------------------------- dynamics


@each_line
@each_direction
def test_accelerations_are_those_of_a_ball_kept_from_spinning(kind, direction, make, close):
    """d'Alembert: of all accelerations with the line's speeds, those that leave a Ball's (or a Free's) equations no residual
    force along what the line can do. The body has inertia about z, too."""
    X_PF, X_BM, body, settings = make.frame(), make.frame(), make.body(), {"direction": direction}
    full = {mb.mobilizer.LineOrientation: mb.mobilizer.Ball, mb.mobilizer.FreeLine: mb.mobilizer.Free}[kind]
    tip, tip_frame = make.body(), make.frame()
    models = []
    for each in (kind, full):
        model = make.tree(0)
        model.body = each(model.matter.ground, body, X_PF=X_PF, X_BM=X_BM, **settings)
        mb.mobilizer.Pin(model.body, tip, X_PF=tip_frame)
        model.gravity.set_default_gravity_vector((1, -9, 2))
        models.append(model.made())
    line, ball = models
    line.randomize()
    u, u_dot = line.state.u, line.state.u_dot
    ball.state.q = line.state.q
    R = np.asarray(line.body._own_transform(line.state).R)
    n, m = len(u), len(ball.state.u)
    S = np.zeros((m, n))  # the ball's speeds of the line's: w = u0 x + u1 y; the rest are the same
    S[:3, :2] = R[:, :2]
    S[3:, 2:] = np.eye(n - 2)
    ball.state.u = S @ u
    ball.system.realize(ball.state)
    # S' u = 0: x and y turn with w, and w x w = 0
    residual = ball.matter.calc_residual_force_ignoring_constraints(
        ball.state, None, ball.gravity.get_body_forces(ball.state), S @ u_dot
    )
    close(S.T @ residual, np.zeros(n), 1e-10, 10.0)
    assert np.abs(residual).max() > 1e-3, "what keeps the line from spinning"


def needle(kind, euler, *, length=1.3, mass=2.0):
    """Points of equal mass on a line: without inertia about z, which it has along its length."""
    system = mb.MultibodySystem("needle")
    matter = mb.SimbodyMatterSubsystem(system)
    inertia = mass * length**2 / 12.0
    body = mb.body.Rigid(mb.MassProperties(mass, (0, 0, 0), mb.Inertia(inertia, inertia, 0.0)))
    line = kind(matter.ground, body)
    state = system.realize_topology()
    matter.set_use_euler_angles(state, euler)
    system.realize_model(state)
    return system, line, state, inertia


@each_line
@quaternion_or_euler
def test_a_free_needle_turns_about_its_angular_momentum_at_a_constant_rate(kind, euler, make, close):
    """L = I w is constant, hence so is w; w.z = 0 stays true by itself: R(t) = exp(t w) R(0), p(t) = p(0) + t v."""
    system, line, state, inertia = needle(kind, euler)
    R = make.rotation()
    line.set_q_to_fit_rotation(state, R)
    line.set_u_to_fit_angular_velocity(state, R @ np.array([0.7, -1.1, 0.0]))
    v = np.zeros(3)
    if kind is mb.mobilizer.FreeLine:
        v = make.vector()
        line.set_linear_velocity(state, v)
    system.realize(state)
    w = line.get_body_angular_velocity(state)
    L = system.matter.calc_system_central_momentum(state)[0]
    close(w, R @ np.array([0.7, -1.1, 0.0]), 1e-14, 1.0)
    close(L, inertia * w, 1e-14, 1.0)
    assert np.all(np.abs(state.u_dot) < 1e-14)
    run = mb.simulate(system, state, 2.5, accuracy=1e-9, report_interval=0.05)
    close(run.energy, np.full(len(run), run.energy[0]), 1e-8)
    for t, then in zip(run.time, run.states, strict=True):
        system.realize(then, mb.Stage.VELOCITY)
        turn = mb.Rotation.about_axis(t * np.linalg.norm(w), w)
        close(np.asarray(line.get_body_rotation(then)), np.asarray(turn @ R), 1e-7)
        close(line.get_body_origin_location(then), t * v, 1e-7, 1.0)
        close(line.get_body_angular_velocity(then), w, 1e-7)
        close(system.matter.calc_system_central_momentum(then)[0], L, 1e-7)


@quaternion_or_euler
def test_a_conical_pendulum_goes_round_as_in_closed_form(euler, close):
    """A point at the end of a massless rod, at the angle a from the vertical: it goes round at sqrt(g / (l cos a)).

    Its spin about the rod is zero: seen from the rod the rod's own frame turns back by the angle that the cone has.
    """
    g, length, a = 9.8, 0.8, 0.6
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (g, 0, 0))  # down is x: no angle is singular on the way
    body = mb.body.Particle(1.5)
    rod = mb.mobilizer.LineOrientation(matter.ground, body, X_BM=mb.Transform((0, 0, -length)))
    state = system.realize_topology()
    matter.set_use_euler_angles(state, euler)
    system.realize_model(state)
    rate = np.sqrt(g / (length * np.cos(a)))
    start = mb.Rotation.from_two_axes((np.cos(a), np.sin(a), 0), "z", (0, 0, 1), "x")
    rod.set_rotation(state, start)
    axis = np.asarray(start)[:, 2]
    w = rate * (np.array([1.0, 0, 0]) - np.cos(a) * axis)  # about the vertical, less its part along the rod
    rod.set_u_to_fit_angular_velocity(state, w)
    run = mb.simulate(system, state, 3.0, accuracy=1e-9)
    for t, then in zip(run.time, run.states, strict=True):
        system.realize(then, mb.Stage.POSITION)
        round_ = mb.Rotation.about_axis(rate * t, "x")
        R = round_ @ start @ mb.Rotation.about_axis(-rate * np.cos(a) * t, "z")
        close(np.asarray(rod.get_body_rotation(then)), np.asarray(R), 1e-7)
        close(rod.get_body_origin_location(then), length * (round_ @ axis), 1e-7)


def test_a_ball_or_a_free_has_nothing_to_move_about_a_needles_line_and_a_line_has(make):
    """What the line mobilizers are for."""
    inertia = mb.Inertia(0.3, 0.3, 0.0)
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), inertia))
    for kind in (mb.mobilizer.Ball, mb.mobilizer.Free):
        model = make.tree(0)
        kind(model.matter.ground, body, name="needle")
        model.made()
        with pytest.raises(mb.ModelError, match="'needle' has no inertia"):
            model.system.realize(model.state)
    for kind in LINES:
        model = make.tree(0)
        kind(model.matter.ground, body)
        assert np.all(np.isfinite(model.made().randomize().u_dot))


@quaternion_or_euler
def test_two_atoms_are_a_free_line(euler, make, close):
    """Two points that a massless rod keeps apart, each pulled by its own force: F = m a of their center, r x F of the turn."""
    masses, at = np.array([1.2, 2.1]), np.array([0.4, -0.5])
    mass, com = masses.sum(), (masses @ at) / masses.sum()
    about_x = masses @ at**2
    body = mb.body.Rigid(mb.MassProperties(mass, (0, 0, com), mb.Inertia(about_x, about_x, 0.0)))
    model = make.tree(0, gravity=False)
    line = mb.mobilizer.FreeLine(model.matter.ground, body)
    state = chosen(model.made(), euler)
    model.randomize()
    z = np.asarray(line.get_body_rotation(state))[:, 2]
    forces = np.array([make.vector(), make.vector()])
    F = np.zeros((2, 2, 3))
    for place, force in zip(at, forces, strict=True):
        line.apply_force_to_body_point(state, (0, 0, place), force, F)
    _, A = model.matter.calc_acceleration_ignoring_constraints(state, None, F)
    w = line.get_body_angular_velocity(state)
    alpha, a = A[1]
    center = a + np.cross(alpha, com * z) + np.cross(w, np.cross(w, com * z))
    close(mass * center, forces.sum(axis=0), 1e-12)
    torque = sum(np.cross((place - com) * z, force) for place, force in zip(at, forces, strict=True))
    moment = masses @ (at - com) ** 2
    close(moment * (alpha - (alpha @ z) * z), torque, 1e-12)
    assert abs(alpha @ z) < 1e-13 and abs(w @ z) < 1e-14


# ---------------------------------------------------------------------------------------------- the rest


def test_partial_setters_leave_the_other_coordinates(make, close):
    model = make.tree(0)
    line = mb.mobilizer.FreeLine(model.matter.ground, make.body())
    state = model.made().randomize()
    R = line.get_transform(state).R
    line.set_translation(state, (1, 2, 3))
    close(np.asarray(line.get_transform(state).R), np.asarray(R), 1e-14)
    line.set_rotation(state, make.rotation())
    assert np.array_equal(line.get_translation(state), (1, 2, 3))
    line.set_linear_velocity(state, (7, 8, 9))
    line.set_angular_velocity(state, (4, 5))
    assert np.array_equal(line.get_u(state), (4, 5, 7, 8, 9))
    assert np.array_equal(line.get_angular_velocity(state), (4, 5))
    assert np.array_equal(line.get_linear_velocity(state), (7, 8, 9))


def test_setters_refuse_what_is_no_vector_of_theirs(make):
    model = make.tree(0)
    free, turning = (kind(model.matter.ground, make.body()) for kind in reversed(LINES))
    state = model.made().randomize()
    q, u = state.q.copy(), state.u.copy()
    for call in (
        lambda: free.set_angular_velocity(state, (1, 2, 3)),
        lambda: free.set_linear_velocity(state, (1, 2)),
        lambda: free.set_translation(state, (np.nan, 0, 0)),
        lambda: turning.set_angular_velocity(state, (1, 2, 3)),
    ):
        with pytest.raises(ValueError, match=r"shape|finite"):
            call()
    assert np.array_equal(state.q, q) and np.array_equal(state.u, u) and state.stage == mb.Stage.ACCELERATION
