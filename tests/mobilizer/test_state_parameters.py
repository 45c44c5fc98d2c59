"""Numbers of a kind that one state changes: the physics is that of a system built so, and no other state hears of it.

What simbody#97 asks for. A kind with such a number is a line in CHANGEABLE.
"""

import copy
import pickle

import numpy as np
import pytest

import mobod as mb

#: kind: keyword of the constructor, which is the name in ``set_default_<name>`` and ``set_<name>`` too; what is refused.
CHANGEABLE = {
    mb.mobilizer.Screw: ("pitch", [np.nan, np.inf, "coarse", (1, 2), None]),
    mb.mobilizer.CantileverFreeBeam: ("length", [0.0, -1.0, np.nan, np.inf, "long", (1, 2, 3)]),
}
each = pytest.mark.parametrize("kind", CHANGEABLE, ids=lambda kind: kind.__name__)
each_direction = pytest.mark.parametrize("direction", mb.Direction, ids=lambda d: d.name.lower())


@pytest.fixture
def build(make):
    """Systems that differ in the one number only: the kind between a Free body and one on a Pin."""
    frames, bodies = [make.frame() for _ in range(3)], [make.body() for _ in range(3)]

    def build(kind, value, direction=mb.Direction.FORWARD):
        model = make.tree(0)
        base = mb.mobilizer.Free(model.matter.ground, bodies[0])
        settings = {CHANGEABLE[kind][0]: value}
        model.body = kind(base, bodies[1], X_PF=frames[0], X_BM=frames[1], direction=direction, name="joint", **settings)
        mb.mobilizer.Pin(model.body, bodies[2], X_PF=frames[2])
        model.gravity.set_default_gravity_vector((1, -9, 2))
        return model.made()

    return build


def physics(model, state):
    model.system.realize(state)
    poses = [np.asarray(body.get_body_transform(state)) for body in model.bodies[1:]]
    return np.concatenate([np.ravel(poses), state.u_dot, model.matter.calc_m(state).ravel()])


@each
@each_direction
def test_a_number_changed_in_a_state_gives_what_a_system_built_so_gives(kind, direction, build, close):
    name, _ = CHANGEABLE[kind]
    model, other = build(kind, 0.7, direction), build(kind, 1.3, direction)
    model.randomize()
    state, untouched = model.state.copy(), model.state
    other.state.q, other.state.u = state.q, state.u
    setter, getter = getattr(model.body, f"set_{name}"), getattr(model.body, f"get_{name}")
    setter(state, 1.3)
    assert state.stage == mb.Stage.MODEL
    assert getter(state) == 1.3 and getter(untouched) == 0.7 == getattr(model.body, f"get_default_{name}")()
    close(physics(model, state), physics(other, other.state), 1e-13)
    before = physics(model, untouched)
    assert np.abs(before - physics(model, state)).max() > 1e-3
    setter(state, 0.7)
    close(physics(model, state), before, 1e-13)


@each
def test_copies_of_a_state_keep_its_number(kind, build, close):
    name, _ = CHANGEABLE[kind]
    model = build(kind, 0.7)
    model.randomize()
    getattr(model.body, f"set_{name}")(model.state, 1.3)
    expected = physics(model, model.state)
    for state in (model.state.copy(), copy.deepcopy(model.state), pickle.loads(pickle.dumps(model.state))):
        body = state._system.get_matter_subsystem().bodies["joint"]
        assert getattr(body, f"get_{name}")(state) == 1.3
        state._system.realize(state)
        assert np.array_equal(state.u_dot, model.state.u_dot)
    close(physics(model, model.state), expected, 1e-14)


@each
def test_many_states_and_an_integrator_go_by_the_number_of_the_state_they_are_given(kind, build, close):
    name, _ = CHANGEABLE[kind]
    model, other = build(kind, 0.7), build(kind, 1.3)
    model.randomize()
    other.state.q, other.state.u = model.state.q, model.state.u
    getattr(model.body, f"set_{name}")(model.state, 1.3)
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
def test_a_default_is_that_of_new_states(kind, build):
    name, _ = CHANGEABLE[kind]
    model = build(kind, 0.7)
    old = model.state
    assert getattr(model.body, f"set_default_{name}")(1.3) is model.body
    with pytest.raises(mb.TopologyError, match="realize_topology"):
        model.system.realize(old)
    state = model.system.realize_topology()
    assert getattr(model.body, f"get_{name}")(state) == 1.3
    other = build(kind, 1.3)
    clone = model.body.clone_for_new_parent(other.matter.ground)
    assert getattr(clone, f"get_default_{name}")() == 1.3
    system = pickle.loads(pickle.dumps(model.system))
    assert getattr(system.get_matter_subsystem().bodies["joint"], f"get_default_{name}")() == 1.3


@each
def test_what_cannot_be_is_refused_and_changes_nothing(kind, build, make):
    name, bad = CHANGEABLE[kind]
    model = build(kind, 0.7)
    state = model.randomize()
    bodies = model.matter.get_num_bodies()
    for value in bad:
        with pytest.raises((ValueError, TypeError), match=f"{name} of 'joint'"):
            getattr(model.body, f"set_{name}")(state, value)
        assert state.stage == mb.Stage.ACCELERATION and getattr(model.body, f"get_{name}")(state) == 0.7
        with pytest.raises((ValueError, TypeError), match=f"{name} of 'joint'"):
            getattr(model.body, f"set_default_{name}")(value)
        assert getattr(model.body, f"get_default_{name}")() == 0.7
        with pytest.raises((ValueError, TypeError), match=kind.__name__):
            kind(model.matter.ground, make.body(), **{name: value})
    model.system.realize(state)  # the topology is as it was
    assert model.matter.get_num_bodies() == bodies
    other = build(kind, 0.7)
    with pytest.raises(mb.TopologyError, match="another system"):
        getattr(model.body, f"set_{name}")(other.state, 1.0)
