"""The State: what assigning lowers, what reading gives, copies, and errors that leave it as it was."""

import array
import copy
import pickle

import numpy as np
import pytest

import mobod as mb
from mobod import Stage


@pytest.fixture
def model(make):
    model = make.tree()
    model.randomize()
    return model


def snapshot(state):
    return state.stage, state.time, state.q.copy(), state.u.copy(), state.z.copy(), state.valid


def same(a, b):
    return all(np.array_equal(x, y, equal_nan=True) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize(
    ("name", "stage"),
    [("time", Stage.INSTANCE), ("q", Stage.TIME), ("y", Stage.TIME), ("u", Stage.POSITION), ("z", Stage.VELOCITY)],
)
def test_assigning_lowers_the_stage_to_what_does_not_depend_on_it(name, stage, model):
    for reached in list(Stage)[Stage.MODEL :]:
        state = model.system.realize_topology()
        model.system.realize(state, reached)
        setattr(state, name, getattr(state, name))
        assert state.stage == min(reached, stage)


def _read_only(values):
    values.flags.writeable = False
    return values


@pytest.mark.parametrize("name", ["q", "u", "y"])
@pytest.mark.parametrize(
    "form",
    [
        list,
        tuple,
        lambda v: np.repeat(v, 2)[::2],
        lambda v: v[::-1].copy()[::-1],
        lambda v: v.astype(">f8"),
        lambda v: v.astype(object),
        lambda v: memoryview(v),
        lambda v: array.array("d", v),
        lambda v: v.view(type("Subclass", (np.ndarray,), {})),
        _read_only,
    ],
)
def test_numbers_in_any_form_are_assigned(name, form, model):
    state = model.system.realize_topology()
    values = np.linspace(0.5, 2.5, len(getattr(state, name)))
    setattr(state, name, form(values.copy()))
    assert np.array_equal(getattr(state, name), values)
    setattr(state, name, np.arange(len(values), dtype=np.int32))
    assert np.array_equal(getattr(state, name), np.arange(len(values)))


@pytest.mark.parametrize("name", ["q", "u", "y"])
@pytest.mark.parametrize(
    "form",
    [
        lambda v: v[:-1],
        lambda v: np.append(v, 0.0),
        lambda v: v[:, None],
        lambda v: v[None],
        lambda v: v[0],
        lambda v: v[:1],
        lambda v: np.array(1.0),
        lambda v: 1.0,
        lambda v: b"12345678" * len(v),
    ],
)
def test_other_shapes_are_refused_and_change_nothing(name, form, model):
    state = model.system.realize_topology()
    values = np.linspace(0.5, 2.5, len(getattr(state, name)))
    setattr(state, name, values)
    model.system.realize(state, Stage.ACCELERATION)
    before = snapshot(state)
    with pytest.raises((TypeError, ValueError), match=f"state.{name} has (shape|to be real numbers)"):
        setattr(state, name, form(values))
    assert same(snapshot(state)[:-1], before[:-1]) and state.valid == before[-1]


@pytest.mark.parametrize(("name", "stage"), [("q", Stage.TIME), ("u", Stage.POSITION), ("z", Stage.VELOCITY)])
def test_a_writable_view_lowers_the_stage_and_writes_through(name, stage, model):
    state = model.state
    view = getattr(state, f"upd_{name}")()
    assert state.stage == stage
    view[:] = 0.25
    assert np.all(getattr(state, name) == 0.25)


def test_what_is_assigned_is_copied(model):
    values = np.full(len(model.state.u), 0.5)
    model.state.u = values
    values[:] = 9.0
    assert np.all(model.state.u == 0.5)


def test_y_is_q_and_u_and_z_end_to_end(model):
    state = model.state
    assert np.array_equal(state.y, np.concatenate([state.q, state.u, state.z]))
    y = np.arange(len(state.y), dtype=float)
    state.y = y
    assert np.array_equal(np.concatenate([state.q, state.u, state.z]), y)


@pytest.mark.parametrize("name", ["q", "u", "z", "y", "q_dot", "u_dot", "z_dot", "q_dot_dot"])
def test_reading_gives_a_read_only_view(name, model):
    array = getattr(model.state, name)
    assert not array.flags.writeable
    if array.size:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


@pytest.mark.parametrize("name", ["q", "u", "z", "y"])
def test_a_wrong_length_raises_at_once_and_leaves_the_state(name, model):
    state = model.state
    before = snapshot(state)
    n = len(getattr(state, name))
    for wrong in (np.zeros(n + 1), np.zeros((n, 1)), [0.0] * (n + 2), 1.0 if n else [1.0], np.zeros((1, n + 1))):
        with pytest.raises(ValueError, match=f"state.{name}"):
            setattr(state, name, wrong)
    for nonsense in ("north", [object()] * n if n else "x"):
        with pytest.raises((ValueError, TypeError)):
            setattr(state, name, nonsense)
    assert same(snapshot(state), before)


@pytest.mark.parametrize(
    ("name", "stage"),
    [
        ("q_err", Stage.POSITION),
        ("q_dot", Stage.VELOCITY),
        ("u_err", Stage.VELOCITY),
        ("z_dot", Stage.DYNAMICS),
        ("u_dot", Stage.ACCELERATION),
        ("q_dot_dot", Stage.ACCELERATION),
        ("u_dot_err", Stage.ACCELERATION),
        ("multipliers", Stage.ACCELERATION),
    ],
)
def test_results_need_their_stage_and_say_how_to_get_it(name, stage, model):
    state = model.state.copy()
    state.time = 0.0
    model.system.realize(state, Stage(stage - 1))
    with pytest.raises(mb.StageError) as caught:
        getattr(state, name)
    remedy = f"call system.realize(state, Stage.{stage.name})"
    assert str(caught.value) == f"{name} needs Stage.{stage.name}; this state is at {Stage(stage - 1).name}; {remedy}"
    model.system.realize(state, stage)
    getattr(state, name)


# ---------------------------------------------------------------------------------------------- values that are not finite


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("what", ["q", "u"])
def test_a_value_that_is_not_finite_is_named_when_it_is_realized(what, bad, model):
    state = model.state
    for i in range(len(getattr(state, what))):
        model.system.realize(state)
        values = getattr(state, what).copy()
        values[i] = bad
        setattr(state, what, values)
        before = snapshot(state)
        body = next(
            b
            for b in reversed(model.bodies)
            if getattr(b, f"get_num_{what}")(state) and getattr(b, f"get_first_{what}_index")(state) <= i
        )
        number = i - getattr(body, f"get_first_{what}_index")(state)
        with pytest.raises(mb.ModelError) as caught:
            model.system.realize(state)
        assert f"{what}[{i}], number {number} of {body.name!r}, is {bad}" in str(caught.value)
        assert same(snapshot(state), before)
        values[i] = 0.5
        setattr(state, what, values)
    model.system.realize(state)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_time_that_is_not_finite_is_refused_when_it_is_realized(bad, model):
    state = model.state
    state.time = bad
    before = snapshot(state)
    with pytest.raises(mb.ModelError, match="time is"):
        model.system.realize(state)
    assert same(snapshot(state), before)
    state.time = 3.0
    model.system.realize(state)


def test_one_bad_number_among_opposite_infinities_is_found(model):
    """The check sums 0 x: infinities must not cancel."""
    q = model.state.q.copy()
    q[0], q[1] = np.inf, -np.inf
    model.state.q = q
    with pytest.raises(mb.ModelError, match=r"q\[0\]"):
        model.system.realize(model.state)


# ---------------------------------------------------------------------------------------------- copies


@pytest.mark.parametrize("again", [lambda s: s.copy(), copy.copy], ids=["copy", "copy.copy"])
def test_a_copy_is_equal_realized_as_far_and_independent(again, model):
    state = model.state
    other = again(state)
    assert same(snapshot(other), snapshot(state)) and np.array_equal(other.u_dot, state.u_dot)
    u_dot = state.u_dot.copy()
    other.q = np.full(len(state.q), 0.5)
    other.u = np.zeros(len(state.u))
    model.system.realize(other)
    assert state.stage == Stage.ACCELERATION and np.array_equal(state.u_dot, u_dot)
    assert not np.array_equal(other.u_dot, u_dot)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda pair: pickle.loads(pickle.dumps(pair))], ids=["deepcopy", "pickle"])
def test_system_and_state_go_through_deep_copies_and_pickles_together(again, model):
    model.gravity.set_gravity_vector(model.state, (1, 2, 3))  # the state's own
    model.state.time = 1.5
    model.system.realize(model.state)
    system, state = again((model.system, model.state))
    assert system is not model.system and same(snapshot(state), snapshot(model.state))
    assert np.array_equal(state.u_dot, model.state.u_dot)
    gravity = system.get_subsystem(1).get_force(0)
    assert np.array_equal(gravity.get_gravity_vector(state), (1, 2, 3))
    for s, system_of in ((state, system), (model.state, model.system)):
        s.q = np.linspace(0.1, 0.9, len(s.q))
        system_of.realize(s)
    assert np.array_equal(state.u_dot, model.state.u_dot), "the same inputs give the same bits"
    with pytest.raises(mb.TopologyError, match="another system"):
        system.realize(model.state, Stage.REPORT)


def test_a_state_deep_copied_alone_brings_its_system(model):
    other = copy.deepcopy(model.state)
    assert other.system is not model.system
    other.q = model.state.q
    other.system.realize(other)
    assert np.array_equal(other.u_dot, model.state.u_dot)


def test_states_in_angles_are_pickled(model):
    angles = model.matter.convert_to_euler_angles(model.state)
    model.system.realize(angles)
    system, state = pickle.loads(pickle.dumps((model.system, angles)))
    assert np.array_equal(state.q, angles.q) and np.array_equal(state.u_dot, angles.u_dot)
    state.u = state.u
    system.realize(state)
    assert np.array_equal(state.u_dot, angles.u_dot)


def test_states_of_one_system_do_not_see_each_other(model):
    """Realized by turns, stage by stage, as though each were alone."""
    states = [model.randomize(Stage.MODEL, state=model.state.copy()) for _ in range(3)]
    alone = []
    for state in states:
        lonely = state.copy()
        model.system.realize(lonely)
        alone.append(lonely.u_dot.copy())
    for stage in list(Stage)[3:]:
        for state in states:
            model.system.realize(state, stage)
    for state, u_dot in zip(states, alone, strict=True):
        assert np.array_equal(state.u_dot, u_dot)


def test_realizing_by_steps_or_at_once_gives_the_same_bits(model):
    by_steps, at_once = model.state.copy(), model.state.copy()
    for state in (by_steps, at_once):
        state.q = state.q
    for stage in list(Stage)[3:]:
        model.system.realize(by_steps, stage)
    model.system.realize(at_once)
    for name in ("u_dot", "q_dot", "q_dot_dot"):
        assert np.array_equal(getattr(by_steps, name), getattr(at_once, name))


WAYS = {
    "state.q": lambda state, body: setattr(state, "q", 0.9 * state.q),
    "state.u": lambda state, body: setattr(state, "u", 2.0 * state.u),
    "state.y": lambda state, body: setattr(state, "y", 0.9 * state.y),
    "upd_q": lambda state, body: np.multiply(state.upd_q(), 0.9, out=state.upd_q()),
    "upd_u": lambda state, body: np.multiply(state.upd_u(), 2.0, out=state.upd_u()),
    "set_q": lambda state, body: body.set_q(state, np.asarray(body.get_q(state)) + np.linspace(0.1, 0.7, 7)),
    "set_u": lambda state, body: body.set_u(state, 2.0 * np.asarray(body.get_u(state))),
    "set_one_q": lambda state, body: body.set_one_q(state, 0, 0.4),
    "set_one_u": lambda state, body: body.set_one_u(state, 0, 4.0),
    "fit q": lambda state, body: body.set_q_to_fit_transform(state, mb.Transform((0.3, 0.2, 0.1))),
    "fit u": lambda state, body: body.set_u_to_fit_velocity(state, np.arange(6.0).reshape(2, 3)),
}


@pytest.mark.parametrize("way", WAYS)
def test_in_whatever_way_a_variable_changes_all_that_depends_on_it_does(way, model):
    state = model.state
    body = next(b for b in model.bodies if isinstance(b, mb.mobilizer.Free))
    old = state.u_dot.copy()
    WAYS[way](state, body)
    fresh = model.system.realize_topology()
    fresh.q, fresh.u = state.q, state.u
    for s in (state, fresh):
        model.system.realize(s)
    assert not np.array_equal(fresh.u_dot, old)
    for name in ("q_dot", "u_dot", "q_dot_dot"):
        assert np.array_equal(getattr(state, name), getattr(fresh, name))
