"""ForEach does what as many Custom elements of the same functions do."""

import itertools
import pickle
import time

import numpy as np
import pytest

import mobod as mb
from mobod.algebra import vec3


def pull(t, X, V, q, u, parameters):
    """A spring between two bodies' origins, and a torque on a mobility."""
    (_, a), (_, b) = X
    ((angle,),) = q
    stiffness, damping = parameters
    d = vec3.scale(stiffness, vec3.sub(b, a))
    o = 0.0 * t
    return (((o, o, o), d), ((o, o, o), vec3.neg(d))), ((-damping * u[0][0] - angle * angle,),)


def energy(t, X, q, parameters):
    (_, a), (_, b) = X
    ((angle,),) = q
    d = vec3.sub(b, a)
    return 0.5 * parameters[0] * vec3.dot(d, d) + angle * angle * angle / 3.0


def heat(t, X, V, q, u, parameters):
    return parameters[1] * u[0][0] * u[0][0]


FUNCTIONS = mb.force.CompiledFunctions(pull, energy, heat, parameters=[3.0, 0.5])


def chain(n):
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, -0.5, 0), mb.Inertia(1, 1, 1, 0, 0, 0)))
    bodies = [matter.ground]
    for _ in range(n):
        bodies.append(mb.mobilizer.Pin(bodies[-1], body, X_PF=mb.Transform((0.2, -1, 0.1))))
    return system, forces, bodies


def moved(system):
    state, rng = system.realize_topology(), np.random.default_rng(4)
    state.q, state.u = rng.normal(size=len(state.q)), rng.normal(size=len(state.u))
    system.realize(state)
    return state


@pytest.mark.parametrize("own", [False, True])
def test_as_many_elements_do_the_same(own):
    rows = np.random.default_rng(5).uniform(1.0, 2.0, (4, 2)) if own else np.tile([3.0, 0.5], (4, 1))
    system, forces, bodies = chain(5)
    pairs, mobilizers = [(bodies[k], bodies[k + 2]) for k in range(4)], bodies[2:]
    every = mb.force.ForEach(forces, FUNCTIONS, bodies=pairs, mobilizers=mobilizers, parameters=rows if own else None)
    other, forces, bodies = chain(5)
    for k in range(4):
        of_set = {"bodies": [bodies[k], bodies[k + 2]], "mobilizers": [bodies[k + 2]], "parameters": rows[k]}
        mb.force.Custom(forces, compiled=mb.force.CompiledFunctions(pull, energy, heat, **of_set))
    state, expected = moved(system), moved(other)
    assert every.get_num_sets() == 4
    np.testing.assert_allclose(state.u_dot, expected.u_dot, rtol=1e-12)
    np.testing.assert_allclose(system.calc_potential_energy(state), other.calc_potential_energy(expected), rtol=1e-12)
    np.testing.assert_allclose(every.calc_power_dissipation(state), (rows[:, 1] * state.u[1:] ** 2).sum(), rtol=1e-12)
    again = pickle.loads(pickle.dumps(system))
    np.testing.assert_array_equal(moved(again).u_dot, state.u_dot)
    if own:
        ensemble = mb.Ensemble(system, 3, state=state)
        ensemble.realize()
        np.testing.assert_allclose(ensemble.u_dot, np.tile(expected.u_dot, (3, 1)), rtol=1e-12)
    given = every.get_parameters(state)
    if own:
        rates = system.calc_parameter_derivatives(state, ["foreach_0.parameters"])  # forces are linear in them
    assert given.shape == ((4, 2) if own else (2,))
    every.set_parameters(state, 2.0 * given)
    if own:
        system.realize(state)
        np.testing.assert_allclose(state.u_dot - expected.u_dot, rates @ given.ravel(), rtol=1e-9)
    np.testing.assert_array_equal(every.get_parameters(state), 2.0 * given)
    every.set_default_parameters(2.0 * given)
    system.realize(state := moved(system))
    np.testing.assert_array_equal(every.get_parameters(state), every.get_default_parameters())
    for wrong in (given[:1], given * np.nan, [1.0, 2.0, 3.0]):
        with pytest.raises(ValueError, match="parameters of 'foreach_0' has"):
            every.set_parameters(state, wrong)


def test_a_thousand_are_made_in_a_moment():
    system, forces, bodies = chain(1001)
    began = time.process_time()
    mb.force.ForEach(forces, FUNCTIONS, bodies=list(itertools.pairwise(bodies)), mobilizers=bodies[1:])
    assert time.process_time() - began < 0.5
    assert np.isfinite(moved(system).u_dot).all()


def test_mistakes_are_told():
    _, forces, bodies = chain(3)
    pairs = [(bodies[0], bodies[1]), (bodies[1], bodies[2])]
    make = mb.force.ForEach
    with pytest.raises(TypeError, match="CompiledFunctions"):
        make(forces, pull, bodies=pairs)
    with pytest.raises(TypeError, match="those of each set"):
        make(forces, mb.force.CompiledFunctions(pull, bodies=[bodies[1]]), bodies=pairs)
    with pytest.raises(ValueError, match="one at least"):
        make(forces, FUNCTIONS)
    with pytest.raises(ValueError, match=r"\[2, 1\]"):
        make(forces, FUNCTIONS, bodies=pairs, mobilizers=bodies[1:2])
    with pytest.raises(TypeError, match="one entry a set"):
        make(forces, FUNCTIONS, bodies=bodies[1])
    with pytest.raises(ModelError := mb.ModelError, match="alike"):
        make(forces, FUNCTIONS, bodies=[*pairs, (bodies[1],)], mobilizers=bodies[1:])
    for rows in ([[1.0, 2.0]], [1.0, 2.0], np.ones((2, 1, 1))):
        with pytest.raises(ValueError, match="one row a set"):
            make(forces, FUNCTIONS, bodies=pairs, mobilizers=bodies[1:3], parameters=rows)
    with pytest.raises(ModelError, match="force"):
        make(forces, FUNCTIONS, bodies=bodies[1:3], mobilizers=bodies[1:3])
    assert not forces.elements
