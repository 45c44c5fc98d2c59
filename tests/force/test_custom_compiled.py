"""Users' functions of numbers as forces: they are what the same force of the package is, and errors are in plain words."""

import copy
import pickle

import numpy as np
import pytest

import mobod as mb
from mobod.algebra import sqrt, vec3

F = mb.force


def pull(t, X, V, q, u, parameters):
    """A spring between two origins, and a damper on the first mobility of a mobilizer."""
    k, rest, c = parameters
    d = vec3.sub(X[1][1], X[0][1])
    x = sqrt(vec3.dot(d, d))
    f = vec3.scale(k * (x - rest) / x, d)
    o = (0.0, 0.0, 0.0)
    return ((o, f), (o, vec3.neg(f))), ((-c * u[0][0], 0.0, 0.0),)


def stretched(t, X, q, parameters):
    d = vec3.sub(X[1][1], X[0][1])
    return 0.5 * parameters[0] * (sqrt(vec3.dot(d, d)) - parameters[1]) ** 2


def lost(t, X, V, q, u, parameters):
    return parameters[2] * u[0][0] * u[0][0]


@pytest.fixture
def model(make):
    model = make.tree(3, [mb.mobilizer.Gimbal, mb.mobilizer.Free, mb.mobilizer.Pin])
    gimbal = model.gimbal = next(b for b in model.bodies if type(b).__name__ == "Gimbal")
    bodies = [model.bodies[1], model.bodies[3]]
    functions = F.CompiledFunctions(pull, stretched, lost, bodies, [gimbal], [5.0, 0.3, 0.7])
    model.custom = F.Custom(model.forces, compiled=functions)
    model.built_in = [
        F.TwoPointLinearSpring(model.forces, 1, (0, 0, 0), 3, (0, 0, 0), 5.0, 0.3),
        F.MobilityLinearDamper(model.forces, gimbal, 0, 0.7),
    ]
    model.made().randomize()
    return model


def test_it_is_what_the_packages_own_force_is(model, close):
    state = model.state
    ours = [part.calc_force_contribution(state) for part in model.built_in]
    found = model.custom.calc_force_contribution(state)
    for i in range(3):
        close(found[i], ours[0][i] + ours[1][i], 1e-12)
    energy = model.custom.calc_potential_energy_contribution(state)
    assert energy == pytest.approx(model.built_in[0].calc_potential_energy_contribution(state))
    assert model.custom.calc_power_dissipation(state) == pytest.approx(model.built_in[1].calc_power_dissipation(state))
    assert not model.system.is_interpreted


def test_parameters_can_be_set(model):
    state, custom = model.state, model.custom
    custom.set_parameters(state, [0.0, 1.0, 0.0])
    model.system.realize(state)
    assert not custom.calc_force_contribution(state)[0].any() and custom.get_parameters(state).tolist() == [0.0, 1.0, 0.0]
    assert custom.get_default_parameters().tolist() == [5.0, 0.3, 0.7]
    with pytest.raises(ValueError, match=r"parameters of .* has to have shape"):
        custom.set_parameters(state, [1.0])
    assert custom.set_default_parameters([1.0, 2.0, 3.0]) is custom
    assert custom.get_parameters(model.made().state).tolist() == [1.0, 2.0, 3.0]


def test_many_states_copies_and_pickles(model):
    ensemble = mb.Ensemble(model.system, 3, state=model.state)
    ensemble.realize()
    assert np.allclose(ensemble.u_dot, model.state.u_dot, rtol=1e-12)
    for system in (copy.deepcopy(model.system), pickle.loads(pickle.dumps(model.system))):
        state = system.realize_topology()
        state.y = model.state.y
        system.realize(state)
        assert np.array_equal(state.u_dot, model.state.u_dot)


def test_it_simulates_as_the_packages_own_does(model):
    results = []
    for off in ([model.custom], model.built_in):
        state = model.state.copy()
        for force in off:
            force.disable(state)
        results.append(mb.simulate(model.system, state, 0.2, accuracy=1e-8))
    assert np.allclose(results[0].q, results[1].q, rtol=0, atol=1e-7)
    assert np.allclose(results[0].energy, results[1].energy, rtol=0, atol=1e-5)


def test_equal_functions_make_one_run(model):
    for _ in range(3):
        F.Custom(model.forces, compiled=model.custom.get_compiled_functions())
    model.made()
    assert model.state.tree.counts["nr"] == 3
    with pytest.raises(mb.ModelError, match="get_compiled_functions"):
        model.custom.get_implementation()


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda t, X: 0.0, r"has to take \(t, X, V, q, u, parameters\)"),
        (lambda t, X, V, q, u, p: 1.0, r"has to return a pair \(F, f\)"),
        (lambda t, X, V, q, u, p: ((), ()), r"F of .* has to be a tuple of 1 pairs"),
        (lambda t, X, V, q, u, p: ((((0.0,) * 3, [0.0] * 3),), ((0.0,),)), "lists and arrays are not taken, write tuples"),
        (lambda t, X, V, q, u, p: ((((0.0,) * 3,) * 2,), ((0.0, 1.0),)), r"f of .* has to be a tuple of 1 tuples, of \[1\]"),
        (lambda t, X, V, q, u, p: ((((0.0,) * 3,) * 2,), ((1.0 if q[0][0] > 0.0 else 2.0,),)), "eight states at a time.*where"),
        (lambda t, X, V, q, u, p: ((((0.0,) * 3,) * 2,), ((np.sin(t),),)), "knows floats only.*Use mobod.algebra.sin"),
        (lambda t, X, V, q, u, p: X[3], "fails.*: IndexError.*There are 1 bodies"),
    ],
)
def test_what_is_wrong_with_a_function_is_said_of_it(make, function, says):
    model = make.tree(1, [mb.mobilizer.Pin])
    functions = F.CompiledFunctions(function, bodies=[1], mobilizers=[1])
    with pytest.raises(mb.ModelError, match=says):
        F.Custom(model.forces, compiled=functions)
    assert model.forces.get_num_forces() == 1


def of_a_generator(t, X, V, q, u, parameters):
    return (), (tuple(-3.0 * x for x in q[0]),)


def of_a_tuple_that_grows(t, X, V, q, u, parameters):
    found = (0.0 * q[0][0],)
    for x in q[0]:
        found = (*found, -3.0 * x)
    return (), ((found[1],),)


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (
            of_a_generator,
            r"^'return \(\), \(tuple\(-3.0 \* x .*' \(line \d+ of test_custom_compiled.py\): a generator.*write the",
        ),
        (of_a_tuple_that_grows, r"^'found = \(\*found, -3.0 \* x\)' \(line .*: a tuple that grows in a loop; write it out"),
    ],
)
def test_what_cannot_be_compiled_is_told_by_its_line(make, function, says):
    model = make.tree(1, [mb.mobilizer.Pin])
    F.Custom(model.forces, compiled=F.CompiledFunctions(function, mobilizers=[1]))
    with pytest.raises(mb.ModelError, match=says):
        model.made()


def test_what_else_is_refused(make):
    model = make.tree(2, [mb.mobilizer.Free, mb.mobilizer.Pin])
    free = next(body for body in model.bodies if type(body).__name__ == "Free")
    with pytest.raises(mb.ModelError, match="its q has no fixed size: name it among bodies"):
        F.Custom(model.forces, compiled=F.CompiledFunctions(pull, mobilizers=[free]))
    with pytest.raises(TypeError, match=r"compiled has to be a mobod.force.CompiledFunctions"):
        F.Custom(model.forces, compiled=pull)
    with pytest.raises(TypeError, match="an implementation or compiled functions, not both"):
        F.Custom(model.forces, object(), compiled=F.CompiledFunctions(pull))
    with pytest.raises(TypeError, match="force has to be a plain function"):
        F.Custom(model.forces, compiled=F.CompiledFunctions(3.0))
    with pytest.raises(TypeError, match="a parameter has to be a number, got 'x'"):
        F.Custom(model.forces, compiled=F.CompiledFunctions(pull, parameters=["x"]))
