"""Copies of an ensemble are whole, and two threads in one are an error rather than wrong rows."""

import copy
import threading

import numpy as np
import pytest

import mobod as mb


@pytest.fixture
def ensemble():
    system, state = mb.examples.double_pendulum.build()
    ensemble = mb.Ensemble(system, 20, state=state)
    ensemble.q = np.linspace(0.0, 1.0, 40).reshape(20, 2)
    return ensemble


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda ensemble: ensemble.copy()])
def test_a_copy_is_whole(ensemble, copied):
    body = ensemble.get_state(0).system.matter.bodies[1]
    masses = [mb.MassProperties(1.0 + 0.1 * i, (0, -0.5, 0), mb.UnitInertia(1.0, 1.0, 1.0)) for i in range(20)]
    ensemble.set_body_mass_properties(body, masses)
    ensemble.realize()
    q, u_dot, X = ensemble.q.copy(), ensemble.u_dot.copy(), ensemble.body_transforms.copy()
    other = copied(ensemble)
    assert np.array_equal(other.u_dot, u_dot) and np.array_equal(other.body_transforms, X)
    other.q = other.q + 1.0
    other.set_body_mass_properties(body, masses[::-1])
    other.realize()
    assert not np.array_equal(other.u_dot, u_dot)
    assert np.array_equal(ensemble.q, q) and np.array_equal(ensemble.u_dot, u_dot)
    ensemble.q = q + 1.0
    ensemble.set_body_mass_properties(body, masses[::-1])
    ensemble.realize()
    assert np.array_equal(ensemble.u_dot, other.u_dot)


def use(ensemble, shift, found, rounds=40):
    for _ in range(rounds):
        q = np.linspace(0.0, 1.0, 2 * len(ensemble)).reshape(-1, 2) + shift
        try:
            ensemble.q = q
            ensemble.realize()
            found.append((shift, ensemble.u_dot.copy()))
        except RuntimeError as error:
            found.append((shift, str(error)))


def test_four_threads_in_one_ensemble_never_get_wrong_rows(ensemble):
    expected = {}
    for shift in range(4):
        ensemble.q = np.linspace(0.0, 1.0, 40).reshape(20, 2) + shift
        ensemble.realize()
        expected[shift] = ensemble.u_dot.copy()
    found = []
    threads = [threading.Thread(target=use, args=(ensemble, shift, found)) for shift in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 160
    for shift, got in found:
        if isinstance(got, str):
            assert "another thread" in got and "ensemble.copy()" in got
        else:
            assert np.array_equal(got, expected[shift])
    ensemble.q = ensemble.q  # and here it serves again


def test_a_thread_whose_values_another_has_replaced_is_told_once(ensemble):
    assigned, replaced, found = threading.Event(), threading.Event(), []

    def other():
        ensemble.q = ensemble.q + 1.0
        assigned.set()
        replaced.wait(10.0)
        for _ in range(2):
            try:
                ensemble.realize()
                found.append("realized")
            except RuntimeError as error:
                found.append(str(error))

    thread = threading.Thread(target=other)
    thread.start()
    assert assigned.wait(10.0)
    with pytest.raises(RuntimeError, match="has changed this ensemble since"):  # what the fixture had assigned
        ensemble.realize()
    ensemble.q = ensemble.q + 1.0
    replaced.set()
    thread.join()
    assert "another thread has changed this ensemble since this one did" in found[0] and found[1:] == ["realized"]
    ensemble.realize()  # this one's values were not replaced


def test_four_threads_with_a_copy_each(ensemble):
    found = []
    threads = [threading.Thread(target=use, args=(ensemble.copy(), shift, found)) for shift in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 160 and not any(isinstance(got, str) for _, got in found)


def test_an_ensemble_may_be_handed_over(ensemble):
    found = []
    thread = threading.Thread(target=use, args=(ensemble, 1.0, found, 1))
    thread.start()
    thread.join()
    assert np.array_equal(ensemble.u_dot, found[0][1])


def test_what_is_documented_stays():
    assert mb.Ensemble.q.__doc__.startswith("Coordinates") and "Mass matrix" not in mb.Ensemble.calc_m.__name__
    assert mb.Ensemble.calc_m.__doc__.startswith("The mass matrix of every state")
