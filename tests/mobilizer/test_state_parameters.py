"""Numbers of a kind that one state changes: the physics is that of a system built so, and no other state hears of it.

They are `changeable` in a kind's record, where a name is a keyword of the constructor, and that in ``set_default_<name>`` and
``set_<name>`` too.
"""

import copy
import pickle

import numpy as np
import pytest

import mobod as mb
from kinds.mobilizers import MOBILIZERS

each = pytest.mark.parametrize(
    ("kind", "name"), [pytest.param(r.kind, n, id=f"{r.kind.__name__}-{n}") for r in MOBILIZERS.values() for n in r.changeable]
)
each_direction = pytest.mark.parametrize("direction", mb.Direction, ids=lambda d: d.name.lower())


@pytest.fixture
def build(make):
    """Systems that differ in the one number only: the kind between a Free body and one on a Pin."""
    frames, bodies = [make.frame() for _ in range(3)], [make.body() for _ in range(3)]

    def build(kind, name, value, direction=mb.Direction.FORWARD):
        model = make.tree(0)
        base = mb.mobilizer.Free(model.matter.ground, bodies[0])
        settings = {name: value}
        model.body = kind(base, bodies[1], X_PF=frames[0], X_BM=frames[1], direction=direction, name="joint", **settings)
        mb.mobilizer.Pin(model.body, bodies[2], X_PF=frames[2])
        model.gravity.set_default_gravity_vector((1, -9, 2))
        return model.made()

    return build


def same(actual, expected):
    """The number or numbers that were given, to the bit."""
    assert np.array_equal(actual, expected)


def physics(model, state):
    model.system.realize(state)
    poses = [np.asarray(body.get_body_transform(state)) for body in model.bodies[1:]]
    return np.concatenate([np.ravel(poses), state.u_dot, model.matter.calc_m(state).ravel()])


@each
@each_direction
def test_a_number_changed_in_a_state_gives_what_a_system_built_so_gives(kind, name, direction, build, close):
    values = MOBILIZERS[kind].changeable[name]
    model, other = build(kind, name, values.one, direction), build(kind, name, values.other, direction)
    model.randomize()
    state, untouched = model.state.copy(), model.state
    other.state.q, other.state.u = state.q, state.u
    setter, getter = getattr(model.body, f"set_{name}"), getattr(model.body, f"get_{name}")
    setter(state, values.other)
    assert state.stage == mb.Stage.MODEL
    same(getter(state), values.other)
    same(getter(untouched), values.one)
    same(getattr(model.body, f"get_default_{name}")(), values.one)
    close(physics(model, state), physics(other, other.state), 1e-13)
    before = physics(model, untouched)
    assert np.abs(before - physics(model, state)).max() > 1e-3
    setter(state, values.one)
    close(physics(model, state), before, 1e-13)


@each
def test_copies_of_a_state_keep_its_number(kind, name, build, close):
    values = MOBILIZERS[kind].changeable[name]
    model = build(kind, name, values.one)
    model.randomize()
    getattr(model.body, f"set_{name}")(model.state, values.other)
    expected = physics(model, model.state)
    for state in (model.state.copy(), copy.deepcopy(model.state), pickle.loads(pickle.dumps(model.state))):
        body = state.system.get_matter_subsystem().bodies["joint"]
        same(getattr(body, f"get_{name}")(state), values.other)
        state.system.realize(state)
        assert np.array_equal(state.u_dot, model.state.u_dot)
    close(physics(model, model.state), expected, 1e-14)


@each
def test_many_states_and_an_integrator_go_by_the_number_of_the_state_they_are_given(kind, name, build, close):
    values = MOBILIZERS[kind].changeable[name]
    model, other = build(kind, name, values.one), build(kind, name, values.other)
    model.randomize()
    other.state.q, other.state.u = model.state.q, model.state.u
    getattr(model.body, f"set_{name}")(model.state, values.other)
    ensemble = mb.Ensemble(model.system, 9, state=model.state)
    ensemble.realize(mb.Stage.ACCELERATION)
    other.system.realize(other.state)
    close(ensemble.u_dot, np.tile(other.state.u_dot, (9, 1)), 1e-10)
    ends = []
    for one in (model, other):
        stepper = mb.TimeStepper(one.system, mb.integrator.RungeKuttaMerson(one.system, accuracy=1e-8))
        stepper.initialize(one.state)
        stepper.step_to(0.05)
        ends.append(stepper.state.q)
    close(ends[0], ends[1], 1e-9)


@each
def test_a_default_is_that_of_new_states(kind, name, build):
    values = MOBILIZERS[kind].changeable[name]
    model = build(kind, name, values.one)
    old = model.state
    assert getattr(model.body, f"set_default_{name}")(values.other) is model.body
    with pytest.raises(mb.TopologyError, match="realize_topology"):
        model.system.realize(old)
    state = model.system.realize_topology()
    same(getattr(model.body, f"get_{name}")(state), values.other)
    other = build(kind, name, values.other)
    clone = model.body.clone_for_new_parent(other.matter.ground)
    same(getattr(clone, f"get_default_{name}")(), values.other)
    system = pickle.loads(pickle.dumps(model.system))
    same(getattr(system.get_matter_subsystem().bodies["joint"], f"get_default_{name}")(), values.other)


@each
def test_what_cannot_be_is_refused_and_changes_nothing(kind, name, build, make):
    values = MOBILIZERS[kind].changeable[name]
    model = build(kind, name, values.one)
    state = model.randomize()
    bodies = model.matter.get_num_bodies()
    for value in values.refused:
        with pytest.raises((ValueError, TypeError), match=f"{name} of 'joint'"):
            getattr(model.body, f"set_{name}")(state, value)
        assert state.stage == mb.Stage.ACCELERATION
        same(getattr(model.body, f"get_{name}")(state), values.one)
        with pytest.raises((ValueError, TypeError), match=f"{name} of 'joint'"):
            getattr(model.body, f"set_default_{name}")(value)
        same(getattr(model.body, f"get_default_{name}")(), values.one)
        with pytest.raises((ValueError, TypeError), match=kind.__name__):
            kind(model.matter.ground, make.body(), **{name: value})
    model.system.realize(state)  # the topology is as it was
    assert model.matter.get_num_bodies() == bodies
    other = build(kind, name, values.one)
    with pytest.raises(mb.TopologyError, match="another system"):
        getattr(model.body, f"set_{name}")(other.state, values.other)
