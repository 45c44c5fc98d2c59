"""Locks: what they do to a state, what they hold, and that a locked mobilizer is a weld."""

import pickle

import numpy as np
import pytest

import mobod as mb
from mobod import ModelError, Stage, StageError, TopologyError
from mobod.mobilizer import Ball, Free, Pin, Planar, Universal, Weld

NO_LEVEL, ACCELERATION, VELOCITY, POSITION = mb.Motion.Level
# both sides are exact: tens of bodies' roundings, times the condition of the mass matrix
EXACT = 1e-10


@pytest.fixture
def model(make):
    """A chain of a Pin, a Ball, a Planar and a Weld, at random q and u."""
    model = make.tree(4, kinds=(Pin, Ball, Planar, Weld), chain=True)
    model.randomize()
    return model


def body_of(model, kind):
    return next(body for body in model.bodies if type(body) is kind)


def snapshot(state):
    return state.stage, state.time, state.y.tolist(), {name: array.tolist() for name, array in state.own_fields.items()}


@pytest.mark.parametrize("kind", [Pin, Ball, Planar])
def test_a_lock_acts_at_once(model, kind):
    """At position level u becomes zero; what is held is what was there."""
    state, body = model.state, body_of(model, kind)
    q, u = body.get_q_as_vector(state), body.get_u_as_vector(state)
    others = np.setdiff1d(np.arange(len(state.u)), np.arange(len(state.u))[body.u_slice(state)])
    rest = state.u[others].copy()
    for level, held, left in (
        (ACCELERATION, np.zeros(len(u)), u),
        (VELOCITY, u, u),
        (POSITION, q, np.zeros(len(u))),
    ):
        body.lock(state, level)
        assert state.stage is Stage.MODEL
        assert body.is_locked(state) and body.get_lock_level(state) is level
        assert np.array_equal(body.get_lock_value_as_vector(state), held)
        assert np.array_equal(body.get_q_as_vector(state), q)
        assert np.array_equal(body.get_u_as_vector(state), left)
        assert np.array_equal(state.u[others], rest)
    body.unlock(state)
    assert not body.is_locked(state) and body.get_lock_level(state) is NO_LEVEL
    assert body.get_lock_value_as_vector(state).shape == (0,)


def test_lock_at_sets_what_it_holds(model):
    state, pin, ball = model.state, body_of(model, Pin), body_of(model, Ball)
    u = pin.get_u(state)
    pin.lock_at(state, 0.7, VELOCITY)
    assert pin.get_u(state) == 0.7
    pin.lock_at(state, -0.4)
    assert (pin.get_q(state), pin.get_u(state)) == (-0.4, 0.0)
    pin.unlock(state)
    pin.set_u(state, u)
    pin.lock_at(state, 3.0, ACCELERATION)
    assert (pin.get_q(state), pin.get_u(state)) == (-0.4, u)
    model.system.realize(state)
    assert pin.get_u_dot(state) == 3.0
    ball.lock_at(state, (0.0, 3.0, 0.0, 4.0))  # a quaternion is scaled
    assert np.allclose(ball.get_q(state), (0.0, 0.6, 0.0, 0.8), rtol=0, atol=1e-15)
    assert np.array_equal(ball.get_lock_value_as_vector(state), ball.get_q(state))


def test_a_locked_quaternion_has_length_1(make):
    """As projection would have it: else each would undo what the other does. To the bit, whatever is done to the state."""
    model = make.tree(3, kinds=(Ball, Free, Pin), chain=True)
    state, system, matter = model.randomize(), model.system, model.matter
    ball, free = body_of(model, Ball), body_of(model, Free)
    long = np.array(state.q)
    for body in (ball, free):
        long[body.q_slice(state)][:4] *= 2.0
    state.q = long
    ball.lock(state)
    free.lock_at(state, free.get_q(state))
    for body in (ball, free):
        held = body.get_lock_value_as_vector(state)
        assert abs(np.linalg.norm(held[:4]) - 1.0) < 1e-15 and np.array_equal(held, body.get_q(state))
    for _ in range(100):
        q = np.concatenate([make.quaternion(), make.quaternion(), make.vector(4)])
        state.q = q
        ball.lock(state)
        free.lock(state)
        system.realize(state)
        held = np.array(state.q)
        system.project(state)
        system.realize(state)
        assert not system.prescribe(state) and np.array_equal(held, state.q)
        assert not np.any(matter.calc_motion_errors(state, Stage.POSITION))
    ensemble = mb.Ensemble(system, 9, state=state)
    assert ensemble.project().all()
    assert np.array_equal(ensemble.q, np.tile(state.q, (9, 1)))


@pytest.mark.parametrize(("level", "refused"), [(POSITION, "qu"), (VELOCITY, "u"), (ACCELERATION, "")])
def test_what_a_lock_holds_is_not_set_through_the_mobilizer(model, level, refused):
    state, body = model.state, body_of(model, Planar)
    body.lock(state, level)
    calls = {
        "q": [
            lambda: body.set_q(state, (1.0, 2.0, 3.0)),
            lambda: body.set_one_q(state, 1, 2.0),
            lambda: body.set_q_from_vector(state, (1.0, 2.0, 3.0)),
            lambda: body.set_q_to_fit_transform(state, mb.Transform()),
        ],
        "u": [
            lambda: body.set_u(state, (1.0, 2.0, 3.0)),
            lambda: body.set_one_u(state, 1, 2.0),
            lambda: body.set_u_from_vector(state, (1.0, 2.0, 3.0)),
        ],
    }
    for what, setters in calls.items():
        for setter in setters:
            before = snapshot(state)
            if what in refused:
                with pytest.raises(ModelError, match=rf"{what} of '{body.name}' is locked at level {level.name}; call unlock"):
                    setter()
                assert snapshot(state) == before
            else:
                setter()
    body.unlock(state)
    for setter in calls["q"] + calls["u"]:
        setter()


def test_assigned_values_stay_until_prescribe(model):
    state, system, pin, ball = model.state, model.system, body_of(model, Pin), body_of(model, Ball)
    pin.lock_at(state, 0.5)
    ball.lock_at(state, (0.1, 0.2, 0.3), VELOCITY)
    q = np.linspace(0.1, 0.9, len(state.q))
    state.q, state.u = q, np.ones(len(state.u))
    system.realize(state)
    assert np.array_equal(state.q, q) and np.all(state.u == 1.0)
    errors = model.matter.calc_motion_errors(state, Stage.POSITION)
    assert errors == pytest.approx([q[pin.q_slice(state)][0] - 0.5])
    assert system.prescribe(state, Stage.POSITION)
    assert state.stage is Stage.TIME and pin.get_q(state) == 0.5 and np.all(state.u == 1.0)
    assert np.array_equal(ball.get_q(state), q[ball.q_slice(state)])
    assert system.prescribe(state, Stage.VELOCITY)
    assert state.stage is Stage.POSITION and pin.get_u(state) == 0.0
    assert np.array_equal(ball.get_u(state), (0.1, 0.2, 0.3))
    system.realize(state)
    assert not system.prescribe(state) and state.stage is Stage.ACCELERATION
    for stage in (Stage.POSITION, Stage.VELOCITY, Stage.ACCELERATION):
        assert not np.any(model.matter.calc_motion_errors(state, stage))


class OfItsOwn(mb.Subsystem):
    """Two q and three u that stay."""

    def realize_topology(self, state):
        self.allocate_q(state, [1.0, 2.0])
        self.allocate_u(state, [3.0, 4.0, 5.0])


def test_variables_of_subsystems_are_left_alone(make):
    """Errors, lists and forces are of the bodies' q and u, whatever comes after them."""
    model = make.tree(3, kinds=(Pin, Ball, Pin), chain=True)
    model.system.adopt_subsystem(OfItsOwn())
    state, system, matter = model.made().state, model.system, model.matter
    ball = body_of(model, Ball)
    nq, nu = len(state.q) - 2, len(state.u) - 3
    ball.lock_at(state, (0.6, 0.8, 0.0, 0.0))
    state.q, state.u = np.where(np.arange(nq + 2) < nq, 0.5, state.q), np.ones(nu + 3)
    system.realize(state, Stage.POSITION)
    part, speeds = ball.q_slice(state), ball.u_slice(state)
    errors = matter.calc_motion_errors(state, Stage.POSITION)
    assert errors == pytest.approx([-0.1, -0.3, 0.5, 0.5])
    assert np.array_equal(matter.calc_motion_errors(state, Stage.VELOCITY), np.ones(3))
    assert system.prescribe(state)
    assert np.array_equal(state.q[part], (0.6, 0.8, 0.0, 0.0)) and not np.any(state.u[speeds])
    assert np.array_equal(state.q[nq:], (1.0, 2.0)) and np.array_equal(state.u[nu:], np.ones(3))
    system.realize(state)
    assert matter.calc_motion_errors(state, Stage.ACCELERATION).shape == (3,)
    assert len(matter.get_free_q_index(state)) == 2 and len(matter.get_free_u_index(state)) == 2
    assert matter.find_motion_forces(state).shape == (nu,)


def test_default_locks(make):
    model = make.tree(3, kinds=(Pin, Ball, Universal), chain=True)
    pin, ball, universal = (body_of(model, kind) for kind in (Pin, Ball, Universal))
    pin.set_default_q(0.8)
    assert not pin.is_locked_by_default()
    assert pin.lock_by_default() is pin and pin.is_locked_by_default() and pin.get_lock_by_default_level() is POSITION
    ball.lock_by_default(VELOCITY)
    universal.lock_by_default(ACCELERATION)
    with pytest.raises(TopologyError):
        model.system.realize(model.state)
    state = model.system.realize_topology()
    assert pin.get_lock_value_as_vector(state) == [0.8]
    assert np.array_equal(ball.get_lock_value_as_vector(state), np.zeros(3))
    model.system.realize(state)
    assert np.array_equal(state.u_dot, np.zeros(6))
    with pytest.raises(ModelError, match="locked"):
        pin.set_q(state, 1.0)
    pin.unlock(state)
    pin.set_q(state, 1.0)
    assert pin.is_locked(model.system.get_default_state())
    assert pin.lock_by_default(NO_LEVEL).get_lock_by_default_level() is NO_LEVEL
    assert not pin.is_locked(model.system.realize_topology())
    clone = ball.clone_for_new_parent(model.matter.ground)
    assert clone.get_lock_by_default_level() is VELOCITY


def test_states_lock_for_themselves(model):
    """Copies and pickles keep the lock, other states do not see it."""
    state, pin = model.state, body_of(model, Pin)
    other = state.copy()
    pin.lock_at(state, 0.3)
    assert not pin.is_locked(other)
    for kept in (state.copy(), pickle.loads(pickle.dumps((model.system, state)))[1]):
        body = kept.system.matter.bodies[pin.get_mobilized_body_index()]
        assert body.get_lock_value_as_vector(kept) == [0.3]
        kept.system.realize(kept)
        assert body.get_u_dot(kept) == 0.0
    model.system.realize(other)
    assert pin.get_u_dot(other) != 0.0


def test_locks_go_along_to_other_coordinates(model, close):
    """Angles in place of quaternions: the lock holds the same orientation."""
    state, ball = model.state, body_of(model, Ball)
    ball.lock(state)
    model.system.realize(state)
    angles = model.matter.convert_to_euler_angles(state)
    assert ball.get_lock_level(angles) is POSITION
    model.system.realize(angles)
    assert not model.system.prescribe(angles)
    close(ball.get_lock_value_as_vector(angles), ball.get_q(angles), 0.0)
    close(angles.u_dot, state.u_dot, EXACT)
    back = model.matter.convert_to_quaternions(angles)
    R = mb.Rotation.from_quaternion(ball.get_lock_value_as_vector(back))
    close(R, mb.Rotation.from_quaternion(ball.get_lock_value_as_vector(state)), EXACT)


def test_methods_and_lists(model):
    """How every q, u and udot comes about, and what is free: as in Simbody."""
    state, matter = model.state, model.matter
    Z, P, F = mb.Motion.Method.ZERO, mb.Motion.Method.PRESCRIBED, mb.Motion.Method.FREE
    planar, nu = body_of(model, Planar), len(state.u)
    q, u = np.arange(len(state.q))[planar.q_slice(state)], np.arange(nu)[planar.u_slice(state)]
    every_q, every_u = np.arange(len(state.q)), np.arange(nu)

    def without(every, some):
        return np.setdiff1d(every, some)

    for level, methods, free_q, free_u, free_udot in (
        (NO_LEVEL, (F, F, F), every_q, every_u, every_u),
        (ACCELERATION, (F, F, Z), every_q, every_u, without(every_u, u)),
        (VELOCITY, (F, P, Z), every_q, without(every_u, u), without(every_u, u)),
        (POSITION, (P, Z, Z), without(every_q, q), without(every_u, u), without(every_u, u)),
    ):
        if level is not NO_LEVEL:
            planar.lock(state, level)
            with pytest.raises(StageError):
                matter.get_free_q_index(state)
        model.system.realize(state, Stage.INSTANCE)
        found = planar.get_q_motion_method(state), planar.get_u_motion_method(state), planar.get_u_dot_motion_method(state)
        assert found == methods
        assert np.array_equal(matter.get_free_q_index(state), free_q)
        assert np.array_equal(matter.get_free_u_index(state), free_u)
        assert np.array_equal(matter.get_free_u_dot_index(state), free_udot)
        assert np.array_equal(matter.get_known_u_dot_index(state), without(every_u, free_udot))
        numbers = np.arange(1.0, nu + 1.0)
        packed = matter.pack_free_u(state, numbers)
        assert np.array_equal(packed, numbers[free_u])
        assert np.array_equal(matter.unpack_free_u(state, packed), np.where(np.isin(every_u, free_u), numbers, 0.0))
        assert np.array_equal(matter.unpack_free_u(state, packed, numbers), numbers)
        numbers = np.arange(1.0, len(state.q) + 1.0)
        packed = matter.pack_free_q(state, numbers)
        assert np.array_equal(
            matter.unpack_free_q(state, packed, -numbers), np.where(np.isin(every_q, free_q), 1, -1) * numbers
        )
    # a lock that holds zero is told apart from one that holds a number, at the level that it holds
    for level, value, methods in (
        (POSITION, np.zeros(3), (P, Z, Z)),
        (VELOCITY, np.zeros(3), (F, Z, Z)),
        (VELOCITY, (0.0, 0.0, 1.0), (F, P, Z)),
        (ACCELERATION, np.zeros(3), (F, F, Z)),
        (ACCELERATION, (0.0, 0.0, 1.0), (F, F, P)),
    ):
        planar.lock_at(state, value, level)
        model.system.realize(state, Stage.INSTANCE)
        found = planar.get_q_motion_method(state), planar.get_u_motion_method(state), planar.get_u_dot_motion_method(state)
        assert found == methods
    weld = body_of(model, Weld)
    weld.lock(state)
    assert weld.is_locked(state)
    model.system.realize(state)
    assert weld.get_q_motion_method(state) is Z
    assert weld.get_tau_as_vector(state).shape == (0,)


def test_a_locked_mobilizer_is_a_weld(make, close):
    """In the pose in which it is locked."""
    kinds = (Pin, Ball, Universal, Free, Planar)
    model = make.tree(5, kinds=kinds, chain=True)
    state = model.randomize()
    for locked in model.bodies[1:]:
        s = state.copy()
        locked.lock(s)
        model.system.realize(s)
        system = mb.MultibodySystem()
        matter = mb.SimbodyMatterSubsystem(system)
        gravity = model.gravity
        mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, np.asarray(gravity.get_gravity_vector(s)))
        bodies = [matter.ground]
        for body in model.bodies[1:]:
            parent = bodies[body.get_parent_mobilized_body().get_mobilized_body_index()]
            if body is locked:
                X_PF = body.get_default_inboard_frame() @ body.get_mobilizer_transform(s)
                welded = Weld(parent, body.get_body(), X_PF=X_PF, X_BM=body.get_default_outboard_frame())
            else:
                welded = body.clone_for_new_parent(parent)
            bodies.append(welded)
        other = system.realize_topology()
        q, u = np.delete(s.q, locked.q_slice(s)), np.delete(s.u, locked.u_slice(s))
        other.q, other.u = q, u
        system.realize(other)
        close(np.delete(s.u_dot, locked.u_slice(s)), other.u_dot, EXACT)
        for body, welded in zip(model.bodies, bodies, strict=True):
            close(body.get_body_acceleration(s), welded.get_body_acceleration(other), EXACT, scale=np.abs(s.u_dot).max())


@pytest.mark.parametrize("which", ["built-in", "custom"])
def test_a_simulation_holds_what_is_locked(make, close, which):
    """Position and velocity to the bit, and energy is kept as no lock does work; the rest swings on."""
    model = make.tree(4, kinds=(Pin, Universal, Ball, Pin), chain=True)
    if which == "custom":
        mb.force.Custom(model.forces, Nothing())
        model.made()
    state = model.randomize()
    first, last = model.bodies[1], model.bodies[3]
    first.lock(state)
    trajectory = mb.simulate(model.system, state, 1.0, accuracy=1e-8)
    q, u = trajectory.q[:, first.q_slice(state)], trajectory.u[:, first.u_slice(state)]
    assert np.array_equal(q, np.tile(first.get_q_as_vector(state), (len(q), 1))) and not np.any(u)
    assert np.ptp(trajectory.q[:, last.q_slice(state)], axis=0).max() > 0.1
    close(trajectory.energy, np.full(len(q), trajectory.energy[0]), 1e-5, scale=np.ptp(trajectory.energy) + 10.0)


class Nothing(mb.force.CustomImplementation):
    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        pass


def test_bad_locks_leave_the_state_alone(model):
    state, pin, ball = model.state, body_of(model, Pin), body_of(model, Ball)
    before = snapshot(state)
    for call, error, message in (
        (lambda: pin.lock(state, 2), TypeError, "Level"),
        (lambda: pin.lock(state, NO_LEVEL), ValueError, "unlock"),
        (lambda: pin.lock_at(state, 0.5, "PLACE"), ValueError, "Level"),
        (lambda: pin.lock_at(state, (1.0, 2.0)), ValueError, "takes 1 numbers"),
        (lambda: pin.lock_at(state, np.nan), ValueError, "finite"),
        (lambda: ball.lock_at(state, (1.0, 2.0, 3.0)), ValueError, "takes 4 numbers"),
        (lambda: ball.lock_at(state, (1.0, 2.0, 3.0, 4.0), VELOCITY), ValueError, "takes 3 numbers"),
        (lambda: ball.lock_at(state, np.zeros(4)), ValueError, "quaternion"),
        (lambda: pin.lock_at(state, "a"), TypeError, f"value to lock of '{pin.name}' has to be real numbers, got 'a'"),
        (lambda: pin.lock_at(state, 1j), TypeError, f"value to lock of '{pin.name}' has to be real numbers, got 1j"),
        (lambda: pin.lock_by_default("PLACE"), ValueError, "Level"),
        (lambda: model.system.prescribe(state, Stage.DYNAMICS), ValueError, "Stage"),
        (lambda: model.matter.calc_motion_errors(state, Stage.TIME), ValueError, "Stage"),
        (lambda: model.matter.pack_free_q(state, np.zeros(2)), ValueError, "shape"),
        (lambda: model.matter.unpack_free_u(state, np.zeros(2)), ValueError, "shape"),
        (lambda: pin.get_motion(), ModelError, "no motion"),
    ):
        with pytest.raises(error, match=message):
            call()
        assert snapshot(state) == before
    fresh = model.system.realize_topology()
    for call in (model.matter.find_motion_forces, model.matter.calc_motion_power, pin.get_tau_as_vector):
        with pytest.raises(StageError, match="ACCELERATION"):
            call(fresh)
    with pytest.raises(StageError, match="TIME"):
        model.matter.calc_motion_errors(fresh, Stage.POSITION)
    fresh.q = np.zeros(len(fresh.q))
    with pytest.raises(ValueError, match=r"quaternion to lock .* is zero"):
        ball.lock(fresh)
    assert not ball.is_locked(fresh) and not np.any(fresh.q)
    fresh.q = np.full(len(fresh.q), np.nan)
    with pytest.raises(ValueError, match="finite"):
        pin.lock(fresh)
    assert not pin.is_locked(fresh)


@pytest.mark.parametrize("which", ["reduced", "whole"])
def test_locks_of_an_ensemble(make, close, which):
    """Shared by all states, whose q and u are their own."""
    model = make.tree(6, kinds=(Pin, Ball, Weld, Free, Weld, Universal))
    if which == "whole":
        model.gravity.set_default_body_is_excluded(model.bodies[2], True)
        model.made()
    state = model.randomize()
    body_of(model, Pin).lock_at(state, 0.3)
    body_of(model, Ball).lock_at(state, (0.1, 0.2, 0.3), ACCELERATION)
    ensemble = mb.Ensemble(model.system, 11, state=state)
    states = []
    for _ in range(11):
        s = state.copy()
        s.q = s.q + 0.1 * model.rng.normal(size=len(s.q))
        s.u = model.rng.normal(size=len(s.u))
        model.system.project_q(s)
        states.append(s)
    ensemble.q, ensemble.u = [s.q for s in states], [s.u for s in states]
    ensemble.realize()
    for i, s in enumerate(states):
        model.system.realize(s)
        close(ensemble.u_dot[i], s.u_dot, EXACT)
    assert np.all(ensemble.u_dot[:, body_of(model, Pin).u_slice(state)] == 0.0)


@pytest.mark.parametrize("level", ["position", "VELOCITY", "acceleration"])
def test_a_level_is_named_by_a_word(model, level):
    pin, member = body_of(model, Pin), mb.Motion.Level[level.upper()]
    state = model.system.realize_topology()
    pin.lock(state, level)
    assert pin.get_lock_level(state) is member
    assert pin.lock_by_default(level).get_lock_by_default_level() is member
    assert mb.motion.Sinusoid(pin, level, 1.0, 2.0, 0.0).get_level(model.system.realize_topology()) is member
    with pytest.raises(ValueError, match=r"takes 'position', 'velocity' or 'acceleration'.*not 'places'"):
        pin.lock(state, "places")
