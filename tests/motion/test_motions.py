"""Prescribed motions: their values and derivatives, the forces they take, and how they live with locks, states and time."""

import copy

import numpy as np
import pytest

import mobod as mb
from mobod import ModelError, Stage, TopologyError
from mobod.algebra.record import DualRows
from mobod.mobilizer import Ball, Bushing, Free, Gimbal, LineOrientation, Pin, Planar, Slider, Universal, Weld
from mobod.state import validity
from mobod.tree import realize as _realize

NO_LEVEL, ACCELERATION, VELOCITY, POSITION = mb.Motion.Level
LEVELS = [ACCELERATION, VELOCITY, POSITION]
METHOD = mb.Motion.Method
# as in tests/tree/test_laws.py: both sides exact; differences of fourth order
EXACT, DIFFERENCE = 1e-10, 1e-7


def held(make, *, angles):
    """A random tree of every kind, two mobilizers in three locked or driven, at a time, q and u that are prescribed."""
    model = make.tree()
    rng = model.rng
    for body in model.bodies[1:]:
        if not body.facts.num_u:
            continue
        a, w, p = rng.uniform(-1.0, 1.0, 3)
        choice = rng.integers(5)
        if choice == 0:
            mb.motion.Steady(body, a)
        elif choice < 3:
            independent = body.facts.num_q - (angles and body.facts.has_quaternion) == body.facts.num_u
            levels = LEVELS if independent else LEVELS[:2]
            mb.motion.Sinusoid(body, levels[rng.integers(len(levels))], a, w, p)
    model.made()
    state = model.state
    if angles:
        model.matter.set_use_euler_angles(state, True)
        model.system.realize_model(state)
    model.randomize(Stage.MODEL)
    for body in model.bodies[1:]:
        if rng.integers(4) == 0:
            body.lock(state, LEVELS[rng.integers(3)])
    state.time = rng.uniform(0.0, 2.0)
    model.system.prescribe(state)
    model.system.realize(state)
    return model


@pytest.fixture(params=["quaternions", "angles"])
def model(request, make):
    return held(make, angles=request.param == "angles")


# ------------------------------------------------------------------------------------------ laws


def test_free_accelerations_are_those_of_the_partitioned_equations(model, close):
    """M_ff udot_f = f_f - M_fk udot_k, and tau is what is left over in the other rows."""
    matter, state, system = model.matter, model.state, model.system
    free, known = matter.get_free_u_dot_index(state), matter.get_known_u_dot_index(state)
    M = matter.calc_m(state)
    f = matter.calc_tree_equivalent_mobility_forces(state, system.get_rigid_body_forces(state))
    f = f + system.get_mobility_forces(state)
    udot = state.u_dot
    expected = np.linalg.solve(M[np.ix_(free, free)], f[free] - M[np.ix_(free, known)] @ udot[known])
    close(udot[free], expected, EXACT, scale=np.abs(udot).max())
    tau = matter.find_motion_forces(state)
    assert not np.any(tau[free])
    close(tau, f - M @ udot, EXACT, scale=np.abs(f).max())
    close(matter.get_motion_multipliers(state), tau[known], 0.0)
    for body in model.bodies:
        close(body.get_tau_as_vector(state), tau[body.u_slice(state)], 0.0)
        for i in range(body.get_num_u(state)):
            assert body.get_one_tau(state, i) == body.get_tau_as_vector(state)[i]
    assert matter.calc_motion_power(state) == pytest.approx(-tau @ state.u)


def test_motion_forces_reproduce_the_motion(model, close):
    """Applied to the same system with everything free, they make it move as it does."""
    matter, state, system = model.matter, model.state, model.system
    F, f = system.get_rigid_body_forces(state), system.get_mobility_forces(state)
    tau, udot = matter.find_motion_forces(state), state.u_dot.copy()
    residual = matter.calc_residual_force(state, f, F, udot)
    close(residual, -tau, EXACT, scale=np.abs(tau).max())
    given, A = matter.calc_acceleration(state, f, F)  # known motion is part of forward dynamics
    close(given, udot, EXACT)
    close(A, [body.get_body_acceleration(state) for body in model.bodies], EXACT)
    free = state.copy()
    for body in model.bodies[1:]:
        body.unlock(free)
        if body.has_motion():
            body.get_motion().disable(free)
    system.realize(free)
    assert not len(matter.get_known_u_dot_index(free))
    condition = np.linalg.cond(matter.calc_m(free))
    close(matter.calc_acceleration(free, f - tau, F)[0], udot, max(EXACT, 1e-15 * condition))


def test_inverse_of_the_mass_matrix_is_that_of_its_free_part(model, close):
    matter, state = model.matter, model.state
    free = np.ix_(*2 * (matter.get_free_u_dot_index(state),))
    M, M_inv = matter.calc_m(state), matter.calc_m_inv(state)
    expected = np.zeros_like(M)
    expected[free] = np.linalg.inv(M[free])
    close(M_inv, expected, EXACT)
    v = model.rng.normal(size=len(M))
    close(matter.multiply_by_m_inv(state, v), expected @ v, EXACT)


def test_prescribed_values_are_each_others_derivatives(model, close, derivative):
    """u of q_dot, and udot of u, along the motion: of bodies at levels VELOCITY and POSITION, locks included."""
    matter, state, system = model.matter, model.state, model.system
    methods = METHOD.PRESCRIBED, METHOD.ZERO

    def at(h):
        s = model.moved(h)
        s.time = state.time + h
        system.prescribe(s)
        return s

    for body in model.bodies[1:]:
        if body.get_q_motion_method(state) in methods:
            q_dot = derivative(lambda h, body=body: at(h).q[body.q_slice(state)])
            close(body.get_q_dot_as_vector(state), q_dot, DIFFERENCE, scale=1.0)
        if body.get_u_motion_method(state) in methods:
            u_dot = derivative(lambda h, body=body: at(h).u[body.u_slice(state)])
            close(body.get_u_dot_as_vector(state), u_dot, DIFFERENCE, scale=1.0)
    assert not np.any(matter.calc_motion_errors(state, Stage.ACCELERATION))


def test_power_is_the_rate_of_energy(model, derivative):
    """dE/dt is the power of motions and locks alone: gravity is conservative."""
    state, system = model.state, model.system
    expected = derivative(lambda h: system.calc_energy(model.moved(h)))
    power = model.matter.calc_motion_power(state)
    assert power == pytest.approx(expected, rel=0.0, abs=DIFFERENCE * max(1.0, abs(power), abs(system.calc_energy(state))))


def test_articulated_inertia_goes_whole_through_known_mobilizers(model, close):
    """P of a body is its own and its children's: whole where these are known."""
    matter, state = model.matter, model.state
    P = [None] + [np.asarray(matter.get_articulated_body_inertia(state, b)) for b in range(1, len(model.bodies))]
    known = set(matter.get_known_u_dot_index(state).tolist())
    for body in model.bodies[1:]:
        children = [c for c in model.bodies[1:] if c.get_parent_mobilized_body() is body]
        total = np.asarray(body.get_body_spatial_inertia_in_ground(state))
        for c in children:
            H = np.reshape([c.get_h_col(state, i) for i in range(c.get_num_u(state))], (-1, 6))
            Q = P[c.get_mobilized_body_index()]
            if len(H) and c.u_slice(state).start not in known:
                Q = Q - Q @ H.T @ np.linalg.solve(H @ Q @ H.T, H @ Q)
            phi = np.eye(6)
            x, y, z = c.get_body_origin_location(state) - body.get_body_origin_location(state)
            phi[:3, 3:] = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
            total = total + phi @ Q @ phi.T
        close(P[body.get_mobilized_body_index()], total, EXACT, scale=np.abs(total).max() + 10.0)
    system = model.system
    udot = state.u_dot.copy()  # asking has left alone what the sweeps need
    close(
        matter.calc_acceleration(state, system.get_mobility_forces(state), system.get_rigid_body_forces(state))[0], udot, EXACT
    )


def test_lanes_and_tangents(model, close, derivative):
    """An ensemble has the same accelerations, a record with tangents the same and their derivatives by time and u."""
    state, system, n = model.state, model.system, 9
    times, states = state.time + 0.1 * np.arange(n), []
    for time in times:
        s = state.copy()
        s.time = time
        s.u = s.u + 0.1 * model.rng.normal(size=len(s.u))
        system.realize(s)
        states.append(s)
    ensemble = mb.Ensemble(system, n, state=state)
    ensemble.time, ensemble.u = times, [s.u for s in states]
    ensemble.realize()
    close(ensemble.u_dot, [s.u_dot for s in states], EXACT)
    close(ensemble.body_accelerations, [[b.get_body_acceleration(s) for b in model.bodies] for s in states], EXACT)

    tangents = state.tree.new_record(with_tangents=True)
    for name, array in state.own_fields.items():
        tangents.share(name, array)
    for name in ("time", "q", "u"):
        getattr(tangents, name)[:] = getattr(state.record, name)
    du = model.rng.normal(size=len(state.u))
    tangents.time.tangents[0, 0, 0] = 1.0
    tangents.u.tangents[:, 0, 0] = du
    wanted = validity.EVERYTHING
    assert isinstance(tangents.u_dot, DualRows)
    assert _realize.realize(tangents, _realize.advance.address(with_tangents=True), 0, wanted) == _realize.DONE
    close(tangents.u_dot.values[:, 0], state.u_dot, EXACT)

    def moved(h):
        s = state.copy()
        s.time, s.u = state.time + h, state.u + h * du
        system.realize(s)
        return s.u_dot.copy()

    close(tangents.u_dot.tangents[:, 0, 0], derivative(moved), DIFFERENCE)


# ------------------------------------------------------------------------------------------ the kinds


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", [Pin, Planar, Gimbal, Bushing])
def test_sinusoid(make, level, kind):
    model = make.tree(1, kinds=(kind,))
    body = model.bodies[1]
    motion = mb.motion.Sinusoid(body, level, 0.4, 1.7, -0.3)
    assert body.has_motion() and body.get_motion() is motion and motion.get_mobilized_body() is body
    state = model.system.realize_topology()
    q, u = state.q.copy(), model.rng.normal(size=len(state.u))
    state.time, state.u = 0.9, u
    assert model.system.prescribe(state) == (level is not ACCELERATION)
    model.system.realize(state)
    value = 0.4 * np.sin(1.7 * 0.9 - 0.3)
    rate, second = 0.4 * 1.7 * np.cos(1.7 * 0.9 - 0.3), -(1.7**2) * value
    wanted = {
        POSITION: {"q": value, "q_dot": rate, "q_dot_dot": second},
        VELOCITY: {"q": q, "u": value, "u_dot": rate},
        ACCELERATION: {"q": q, "u": u, "u_dot": value},
    }[level]
    for name, expected in wanted.items():
        np.testing.assert_allclose(getattr(state, name), np.broadcast_to(expected, len(state.u)), rtol=0, atol=1e-14)
    assert motion.get_level(state) is level and motion.get_level_method(state) is METHOD.PRESCRIBED
    F, P = METHOD.FREE, METHOD.PRESCRIBED
    methods = {ACCELERATION: (F, F, P), VELOCITY: (F, P, P), POSITION: (P, P, P)}[level]
    assert motion.calc_all_methods(state) == methods
    assert (body.get_q_motion_method(state), body.get_u_motion_method(state), body.get_u_dot_motion_method(state)) == methods


def test_steady_rates(make):
    model = make.tree(1, kinds=(Planar,))
    body = model.bodies[1]
    motion = mb.motion.Steady(body, (1.0, 2.0))
    assert [motion.get_one_default_rate(i) for i in range(3)] == [1.0, 2.0, 0.0]
    assert motion.set_default_rate(0.5) is motion and motion.set_default_rates([3.0, 4.0]) is motion
    assert motion.set_one_default_rate(2, 5.0) is motion
    state = model.system.realize_topology()
    other = state.copy()
    model.system.prescribe(state)
    assert np.array_equal(state.u, (3.0, 4.0, 5.0))
    motion.set_one_rate(state, 1, -1.0)
    assert state.stage is Stage.MODEL and motion.get_one_rate(state, 1) == -1.0 and motion.get_one_rate(other, 1) == 4.0
    assert model.system.prescribe(state) and np.array_equal(state.u, (3.0, -1.0, 5.0))
    motion.set_rate(state, 7.0)
    model.system.prescribe(state)
    model.system.realize(state)
    assert np.array_equal(state.u, (7.0, 7.0, 7.0)) and not np.any(state.u_dot)
    assert motion.get_level(state) is VELOCITY


def test_locks_override_motions_and_give_way_again(make):
    model = make.tree(2, kinds=(Pin, Slider), chain=True)
    body = model.bodies[1]
    motion = mb.motion.Sinusoid(body, POSITION, 0.4, 1.7, -0.3)
    state = model.system.realize_topology()
    state.time = 0.5
    model.system.prescribe(state)
    q, u = body.get_q(state), body.get_u(state)
    body.lock_at(state, 2.0)
    assert motion.get_level(state) is POSITION  # a lock makes no difference to what it says of itself
    model.system.prescribe(state)
    model.system.realize(state)
    assert (body.get_q(state), body.get_u(state), body.get_u_dot(state)) == (2.0, 0.0, 0.0)
    assert body.get_u_motion_method(state) is METHOD.ZERO
    motion.disable(state)
    assert motion.is_disabled(state) and body.is_locked(state)
    assert motion.get_level(state) is NO_LEVEL and motion.get_level_method(state) is METHOD.NO_METHOD
    motion.enable(state)
    body.unlock(state)
    assert body.get_q(state) == 2.0
    model.system.prescribe(state)
    assert (body.get_q(state), body.get_u(state)) == (q, u)
    motion.disable(state)
    assert state.stage is Stage.MODEL
    model.system.realize(state)
    assert motion.calc_all_methods(state) == (METHOD.FREE, METHOD.FREE, METHOD.FREE)
    assert not model.system.prescribe(state) and not np.any(model.matter.find_motion_forces(state))
    body.set_q(state, 0.1)  # a motion that is off, or on, does not keep its coordinates from being set
    motion.enable(state)
    body.set_q(state, 0.2)
    motion.set_disabled_by_default(True)
    assert motion.is_disabled_by_default()
    state = model.system.realize_topology()
    assert motion.is_disabled(state)
    body.clear_motion()
    assert not body.has_motion()
    body.clear_motion()
    state = model.system.realize_topology()
    with pytest.raises(TopologyError, match="clear_motion"):
        motion.enable(state)
    mb.motion.Steady(body, 1.0)


def test_names():
    assert mb.Motion.name_of_level(POSITION) == "Position" and mb.Motion.name_of_level(NO_LEVEL) == "NoLevel"
    assert mb.Motion.name_of_method(METHOD.PRESCRIBED) == "Prescribed"
    assert "unknown" in mb.Motion.name_of_level(7) and "unknown" in mb.Motion.name_of_method(-5)


def test_table_of_methods():
    """The table of Simbody's documentation of Motion."""
    from mobod.value.level import all_methods

    Z, D, P, F, T = METHOD.ZERO, METHOD.DISCRETE, METHOD.PRESCRIBED, METHOD.FREE, METHOD.FAST
    for level, method, expected in (
        (ACCELERATION, Z, (F, D, Z)),
        (ACCELERATION, D, (F, F, D)),
        (ACCELERATION, P, (F, F, P)),
        (ACCELERATION, F, (F, F, F)),
        (VELOCITY, Z, (D, Z, Z)),
        (VELOCITY, D, (F, D, Z)),
        (VELOCITY, P, (F, P, P)),
        (VELOCITY, T, (F, T, Z)),
        (POSITION, Z, (Z, Z, Z)),
        (POSITION, D, (D, Z, Z)),
        (POSITION, P, (P, P, P)),
        (POSITION, T, (T, Z, Z)),
    ):
        assert all_methods(level, method) == expected


def test_bad_motions(make):
    model = make.tree(3, kinds=(Pin, Weld, Ball), chain=True)
    pin, weld = (next(b for b in model.bodies if type(b) is kind) for kind in (Pin, Weld))
    for call, error, message in (
        (lambda: mb.Motion(pin), TypeError, "base class"),
        (lambda: mb.motion.Steady("pin", 1.0), TypeError, "mobilized body"),
        (lambda: mb.motion.Steady(model.matter.ground, ()), ModelError, "no mobilities"),
        (lambda: mb.motion.Sinusoid(weld, POSITION, 1.0, 1.0, 0.0), ModelError, "no mobilities"),
        (lambda: mb.motion.Sinusoid(pin, 2, 1.0, 1.0, 0.0), TypeError, "Level"),
        (lambda: mb.motion.Sinusoid(pin, NO_LEVEL, 1.0, 1.0, 0.0), ValueError, "NO_LEVEL"),
        (lambda: mb.motion.Sinusoid(pin, POSITION, np.inf, 1.0, 0.0), ValueError, "amplitude"),
        (lambda: mb.motion.Steady(pin, (1.0, 2.0)), ValueError, "at most 1"),
        (lambda: mb.motion.Steady(pin, np.nan), ValueError, "finite"),
        (lambda: mb.motion.Steady(pin, "fast"), TypeError, "rates of .* has to be a number, or at most 1 of them, got 'fast'"),
        (
            lambda: mb.motion.Sinusoid(pin, VELOCITY, "a", 1.0, 0.0),
            TypeError,
            "the amplitude of a Sinusoid has to be a number, got 'a'",
        ),
        (lambda: mb.motion.Custom(pin, Ramp), TypeError, "CustomImplementation"),
    ):
        with pytest.raises(error, match=message):
            call()
        assert not pin.has_motion() and not weld.has_motion()
    steady = mb.motion.Steady(pin, 1.0)
    with pytest.raises(ModelError, match="has a motion already"):
        mb.motion.Steady(pin, 2.0)
    assert pin.get_motion() is steady
    with pytest.raises(TopologyError):
        model.system.prescribe(model.state)
    state = model.system.realize_topology()
    with pytest.raises(IndexError):
        steady.set_one_rate(state, 1, 2.0)
    with pytest.raises(ValueError, match="finite"):
        steady.set_rate(state, np.inf)
    assert state.stage is Stage.MODEL and steady.get_one_rate(state, 0) == 1.0


def test_a_quaternion_is_no_sinusoid(make):
    """Everyone who meets it says so, and angles help; not a line, which has three of them for two speeds."""
    line = make.tree(1, kinds=(LineOrientation,))
    mb.motion.Sinusoid(line.bodies[1], POSITION, 0.3, 1.0, 0.4)
    line.made()
    line.matter.set_use_euler_angles(line.state, True)
    line.system.realize_model(line.state)
    with pytest.raises(ModelError, match="only 2 are independent; prescribe the velocity"):
        line.system.prescribe(line.state)
    model = make.tree(1, kinds=(Ball,))
    mb.motion.Sinusoid(model.bodies[1], POSITION, 0.3, 1.0, 0.4)
    state = model.system.realize_topology()
    y = state.y.copy()
    for call in (
        lambda: model.system.prescribe(state),
        lambda: model.system.realize(state),
        lambda: mb.simulate(model.system, state, 1.0),
    ):
        with pytest.raises(ModelError, match="set_use_euler_angles"):
            call()
        assert np.array_equal(state.y, y)
    model.matter.set_use_euler_angles(state, True)
    model.system.realize_model(state)
    assert model.system.prescribe(state)
    model.system.realize(state)


# ------------------------------------------------------------------------------------------ custom motions


class Ramp(mb.motion.CustomImplementation):
    """The sinusoid 0.4 sin(1.7 t - 0.3), in Python, with a record of the stages it heard of."""

    def __init__(self, level=POSITION, method=METHOD.PRESCRIBED, kind=float):
        self.level, self.method, self.heard = level, method, []

    def get_level(self, state):
        return self.level

    def get_level_method(self, state):
        return self.method

    def values(self, state, n, order):
        x = 1.7 * state.time - 0.3
        return np.full(n, 0.4 * (np.sin(x), 1.7 * np.cos(x), -(1.7**2) * np.sin(x))[order])

    def calc_prescribed_position(self, state, nq):
        assert state.stage >= Stage.TIME
        return self.values(state, nq, 0)

    def calc_prescribed_position_dot(self, state, nq):
        return self.values(state, nq, 1)

    def calc_prescribed_position_dot_dot(self, state, nq):
        return self.values(state, nq, 2)

    def calc_prescribed_velocity(self, state, nu):
        return self.values(state, nu, 0)

    def calc_prescribed_velocity_dot(self, state, nu):
        return self.values(state, nu, 1)

    def calc_prescribed_acceleration(self, state, nu):
        return self.values(state, nu, 0)

    def realize_time(self, state):
        self.heard.append("time")

    def realize_acceleration(self, state):
        self.heard.append("acceleration")


@pytest.mark.parametrize("level", LEVELS)
def test_custom_is_like_built_in(make, close, level):
    """The same accelerations and forces from a motion in Python, on a mobilizer whose q_dot is not u, in a tree."""
    model = make.tree(4, kinds=(Pin, Gimbal, Free, Universal), chain=True)
    body = next(b for b in model.bodies if type(b) is Gimbal)
    mb.motion.Sinusoid(body, level, 0.4, 1.7, -0.3)
    built_in = model.made().randomize(Stage.MODEL)
    built_in.time = 0.7
    q, u = built_in.q.copy(), built_in.u.copy()
    matter, system = model.matter, model.system
    results = []
    for _ in range(2):
        state = system.realize_topology()
        state.time, state.q, state.u = 0.7, q, u
        system.prescribe(state)
        system.realize(state)
        state.time = 0.8  # udot again at the same q and u, and by the operator before that
        system.realize(state, Stage.DYNAMICS)
        F = system.get_rigid_body_forces(state)
        operator = matter.calc_acceleration_ignoring_constraints(state, None, F)[0]
        system.realize(state)
        tau = matter.find_motion_forces(state)
        ensemble = mb.Ensemble(system, 2, state=state)
        ensemble.realize()
        trajectory = mb.simulate(system, state, 0.3, accuracy=1e-6)
        lists = matter.get_free_q_index(state), matter.get_free_u_index(state), matter.get_known_u_dot_index(state)
        results.append(
            [state.q, state.u, state.u_dot, operator, tau, ensemble.u_dot, trajectory.q[-1], trajectory.u[-1], *lists]
        )
        body.clear_motion()
        mb.motion.Custom(body, Ramp(level))
    for one, other in zip(*results, strict=True):
        close(other, one, 1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_projection_takes_what_a_custom_motion_leaves_free(make, close, level):
    """As with the same motion built in: at VELOCITY q is projected, at ACCELERATION u too, even where nothing else can move."""
    model = make.tree(3, kinds=(Pin, Gimbal, Universal), chain=True)
    body, matter, system = next(b for b in model.bodies if type(b) is Gimbal), model.matter, model.system
    start = model.randomize(Stage.POSITION)
    body.set_q(start, np.full(3, 0.4 * np.sin(1.7 * 0.7 - 0.3)))
    system.realize(start, Stage.POSITION)
    x, y, z = model.bodies[3].find_station_location_in_ground(start, (0.1, 0.2, 0.3))
    mb.constraint.Rod(matter.ground, (x + 1.0, y, z), model.bodies[3], (0.1, 0.2, 0.3), 1.02)
    results = []
    for motion in (lambda: mb.motion.Sinusoid(body, level, 0.4, 1.7, -0.3), lambda: mb.motion.Custom(body, Ramp(level))):
        motion()
        state = system.realize_topology()
        state.time, state.q, state.u = 0.7, start.q, np.ones(len(start.u))
        for other in model.bodies[1:]:
            if other is not body and level is not POSITION:
                other.lock(state)
        if level is VELOCITY:  # no speed is free
            assert system.project_q(state, 1e-10)
        else:
            assert system.project(state, 1e-10)
        system.realize(state)
        results.append([state.q, state.u, state.u_dot, matter.find_motion_forces(state)])
        body.clear_motion()
    for one, other in zip(*results, strict=True):
        close(other, one, 1e-9)


def test_a_custom_motion_gives_a_quaternion_length_1(make):
    """Or is told so: its rates are those of such a one. What differs by rounding is scaled."""
    model = make.tree(1, kinds=(Free,))
    ramp = Ramp()
    mb.motion.Custom(model.bodies[1], ramp)
    state = model.system.realize_topology()
    before = np.array(state.y)
    for quaternion in ((2.0, 1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0)):
        ramp.calc_prescribed_position = lambda state, nq, q=quaternion: (*q, 1.0, 2.0, 3.0)
        with pytest.raises(ModelError, match=rf"calc_prescribed_position of Ramp .* '{model.bodies[1].name}' .* length 1, got"):
            model.system.prescribe(state)
        assert np.array_equal(state.y, before)
    ramp.calc_prescribed_position = lambda state, nq: (0.6 + 1e-9, 0.0, 0.8, 0.0, 1.0, 2.0, 3.0)
    assert model.system.prescribe(state)
    assert abs(np.linalg.norm(state.q[:4]) - 1.0) < 1e-15 and np.array_equal(state.q[4:], (1.0, 2.0, 3.0))
    assert not np.any(model.matter.calc_motion_errors(state, Stage.POSITION))


def test_custom_with_other_methods(make):
    """ZERO and DISCRETE hold, FREE does nothing; a lock overrides them."""
    model = make.tree(2, kinds=(Pin, Slider), chain=True)
    body = model.bodies[1]
    ramp = Ramp()
    mb.motion.Custom(body, ramp)
    state = model.system.realize_topology()
    for level, method, (q, u, moves) in (
        (POSITION, METHOD.ZERO, (0.0, 0.0, False)),
        (POSITION, METHOD.DISCRETE, (0.5, 0.0, False)),
        (VELOCITY, METHOD.ZERO, (0.5, 0.0, False)),
        (VELOCITY, METHOD.DISCRETE, (0.5, 0.6, False)),
        (ACCELERATION, METHOD.ZERO, (0.5, 0.6, False)),
        (ACCELERATION, METHOD.FREE, (0.5, 0.6, True)),
    ):
        ramp.level, ramp.method = level, method
        state = model.system.get_default_state()
        body.set_q(state, 0.5)
        body.set_u(state, 0.6)
        model.system.prescribe(state)
        model.system.realize(state)
        assert (body.get_q(state), body.get_u(state), body.get_u_dot(state) != 0.0) == (q, u, moves)
        assert (len(model.matter.get_known_u_dot_index(state)) == 0) == moves
        body.lock_at(state, 0.9)
        model.system.prescribe(state)
        assert body.get_q(state) == 0.9
        body.unlock(state)
        model.system.realize(state)
        assert (body.get_u_dot(state) != 0.0) == moves
    assert ramp.heard[:2] == ["time", "acceleration"]


def test_bad_custom_motions(make):
    model = make.tree(1, kinds=(Pin,))
    ramp = Ramp()
    motion = mb.motion.Custom(model.bodies[1], ramp)
    assert motion.get_implementation() is ramp
    state = model.system.realize_topology()
    before = state.stage, state.y.tolist()
    for change, message in (
        ({"level": 2}, "get_level"),
        ({"level": NO_LEVEL}, "get_level"),
        ({"method": 3}, "get_level_method"),
        ({"method": METHOD.FREE}, "only accelerations"),
        ({"method": METHOD.FAST}, "FAST"),
        ({"calc_prescribed_position": lambda state, nq: np.zeros(2)}, "calc_prescribed_position of Ramp returns 1 number"),
        ({"calc_prescribed_position": lambda state, nq: np.nan}, "finite"),
        ({"calc_prescribed_position": lambda state, nq: "x"}, "calc_prescribed_position of Ramp returns 1 number.* got 'x'"),
        ({"calc_prescribed_position": lambda state, nq: 1j}, "calc_prescribed_position of Ramp returns 1 number.* got 1j"),
        ({"calc_prescribed_position_dot": lambda state, nq: np.zeros(3)}, "calc_prescribed_position_dot"),
    ):
        ramp.__dict__.update(change)
        with pytest.raises(ModelError, match=message):
            model.system.prescribe(state)
        assert state.y.tolist() == before[1]
        ramp.__dict__ = {**Ramp().__dict__}
    model.system.realize(state, Stage.DYNAMICS)
    ramp.calc_prescribed_position_dot_dot = lambda state, nq: np.inf
    with pytest.raises(ModelError, match="position_dot_dot"):
        model.system.realize(state)
    assert state.stage is Stage.DYNAMICS

    class Bare(mb.motion.CustomImplementation):
        def get_level(self, state):
            return VELOCITY

    model.bodies[1].clear_motion()
    mb.motion.Custom(model.bodies[1], Bare())
    with pytest.raises(
        ModelError, match=r"Bare prescribes motion at Level\.VELOCITY; it has to define calc_prescribed_velocity"
    ):
        model.system.prescribe(model.system.realize_topology())


# ------------------------------------------------------------------------------------------ in time


@pytest.mark.parametrize("level", LEVELS)
def test_a_simulation_follows_the_function(make, level):
    """At POSITION and VELOCITY to rounding, whatever the accuracy; integrated where it is the integrator's."""
    model = make.tree(3, kinds=(Universal, Pin, Ball), chain=True)
    body = next(b for b in model.bodies if type(b) is Universal)
    mb.motion.Sinusoid(body, level, 0.4, 3.0, 0.2)
    state = model.made().randomize(Stage.MODEL)
    at = body.q_slice(state)
    model.system.prescribe(state)
    q0, u0 = body.get_q_as_vector(state), body.get_u_as_vector(state)
    trajectory = mb.simulate(model.system, state, 2.0, accuracy=1e-6)
    t = trajectory.time[:, None]
    x, x0 = 3.0 * t + 0.2, 0.2
    s, c = 0.4 * np.sin(x), 0.4 * np.cos(x)
    if level is POSITION:
        expected_q, expected_u, bounds = s + 0 * q0, 3.0 * c + 0 * q0, (1e-15, 1e-14)
    elif level is VELOCITY:
        expected_q, expected_u, bounds = q0 - (c - 0.4 * np.cos(x0)) / 3.0, s + 0 * u0, (1e-5, 1e-15)
    else:
        expected_u = u0 - (c - 0.4 * np.cos(x0)) / 3.0
        expected_q = q0 + (u0 + 0.4 * np.cos(x0) / 3.0) * t - (s - 0.4 * np.sin(x0)) / 9.0
        bounds = 1e-5, 1e-5
    assert np.abs(trajectory.q[:, at] - expected_q).max() < bounds[0]
    assert np.abs(trajectory.u[:, body.u_slice(state)] - expected_u).max() < bounds[1]


@pytest.mark.parametrize("level", LEVELS)
def test_energy_is_what_the_motion_puts_in(make, level):
    """E(t) - E(0) is the integral of the power, of a driven joint among free ones."""
    model = make.tree(3, kinds=(Pin, Universal, Ball), chain=True)
    body = next(b for b in model.bodies if type(b) is Pin)
    mb.motion.Sinusoid(body, level, 0.4, 3.0, 0.2)
    state = model.made().randomize(Stage.MODEL)
    trajectory = mb.simulate(model.system, state, 1.0, accuracy=1e-9, report_interval=1.0 / 400)
    power = []
    for i in range(len(trajectory.time)):
        s = state.copy()
        s.time, s.q, s.u = trajectory.time[i], trajectory.q[i], trajectory.u[i]
        model.system.realize(s)
        power.append(model.matter.calc_motion_power(s))
    p, h = np.array(power), 1.0 / 400
    work = h / 3.0 * (p[0] + 4.0 * p[1:-1:2].sum() + 2.0 * p[2:-2:2].sum() + p[-1])  # Simpson's rule
    change = trajectory.energy[-1] - trajectory.energy[0]
    # the rule's own error is h^4 times the fourth derivative of the power, of tens to the fourth: below 1e-5 of the power
    assert abs(work - change) < 1e-5 * max(1.0, np.abs(p).max())
    assert np.abs(p).max() > 1e-3


def test_errors_of_prescribed_variables_do_not_shorten_steps():
    """A fast driven joint that drives nothing else: the pendulum beside it decides."""
    steps = []
    for rate in (0.0, 200.0):
        system = mb.MultibodySystem()
        matter = mb.SimbodyMatterSubsystem(system)
        mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0.0, -9.81, 0.0))
        body = mb.body.Rigid(mb.MassProperties(1.0, (0.0, -0.5, 0.0), mb.Inertia(1.0, 1.0, 1.0)))
        pendulum, rotor = Pin(matter.ground, body), Pin(matter.ground, body)
        mb.motion.Sinusoid(rotor, POSITION, 1.0, rate, 0.0)
        state = system.realize_topology()
        pendulum.set_u(state, 1.0)
        trajectory = mb.simulate(system, state, 2.0, accuracy=1e-5)
        steps.append(trajectory.statistics["steps_taken"])
    assert steps[0] == steps[1]


def test_forward_inverse_and_mixed_dynamics_one_after_the_other(make, close):
    """Stepped in turns: everything free, one joint driven, all locked; each run goes on where the other ended."""
    model = make.tree(2, kinds=(Pin, Pin), chain=True)
    upper, lower = model.bodies[1:]
    motion = mb.motion.Steady(upper, 0.7)
    state = model.made().randomize(Stage.MODEL)
    stepper = mb.TimeStepper(model.system, mb.integrator.RungeKuttaMerson(model.system, accuracy=1e-8))
    motion.disable(state)
    stepper.initialize(state)
    stepper.step_to(0.3)
    energy = model.system.calc_energy(stepper.state)
    model.system.realize(state)
    close(energy, model.system.calc_energy(state), 1e-6, scale=10.0)
    state = stepper.state.copy()
    motion.enable(state)
    stepper.initialize(state)
    stepper.step_to(0.6)
    assert upper.get_u(stepper.state) == 0.7 and upper.get_u_dot(stepper.state) == 0.0
    assert upper.get_q(stepper.state) == pytest.approx(upper.get_q(state) + 0.7 * 0.3, abs=1e-10)
    assert not np.any(model.matter.calc_motion_errors(stepper.state, Stage.VELOCITY))
    state = stepper.state.copy()
    upper.lock(state)
    lower.lock(state)
    q = state.q.copy()
    stepper.initialize(state)
    stepper.step_to(0.9)
    assert np.array_equal(stepper.state.q, q) and not np.any(stepper.state.u)


def test_copied_systems_keep_their_motions(make, close):
    model = held(make, angles=False)
    system = copy.deepcopy(model.system)
    state = system.realize_topology()
    for body, other in zip(model.bodies, system.matter.bodies, strict=True):
        assert body.has_motion() == other.has_motion() and (
            not other.has_motion() or other.get_motion() is not body.get_motion()
        )
    reference = model.system.realize_topology()
    for s in (state, reference):
        s.time = 0.4
        s.system.prescribe(s)
        s.system.realize(s)
    close(state.u_dot, reference.u_dot, EXACT)
