"""Parts that Python computes in an ensemble: kernels call them back, and each state moves as it does alone."""

import numpy as np
import pytest

import mobod as mb


def coupled(function):
    system, _ = mb.examples.double_pendulum.build()
    upper, lower = system.matter.bodies[1:3]
    mb.constraint.CoordinateCoupler(system.matter, function, [upper, lower], [0, 0])
    state = system.realize_topology()
    state.q = 0.3, -0.1
    system.project(state)
    return system, state


def of_angles(x):
    return x[0] + 2.0 * x[1] - 0.1 * x[0] * x[0]


def slopes(components, x):
    if len(components) == 1:
        return (1.0 - 0.2 * x[0], 2.0)[components[0]]
    return -0.2 if list(components) == [0, 0] else 0.0


def test_a_function_in_python_moves_states_in_lanes_as_one_alone(close):
    system, state = coupled(mb.function.Custom(of_angles, 2, slopes))
    assert system.calls_python and not system.is_interpreted
    motions = mb.Ensemble(system, 9, state=state).simulate(0.2, accuracy=1e-6)
    alone = mb.simulate(system, state, 0.2, accuracy=1e-6)
    for i in range(9):
        close(motions.q[i, -1], alone.q[-1], 1e-9)


def test_a_law_in_python_is_sampled_in_each_state_and_is_given_copies(close):
    kept = []

    def law(q, u, memory):
        memory[0] += 1.0
        kept.append(q)
        return -5.0 * q - 0.5 * u

    ends = []
    for compiled in (True, False):
        system, _ = mb.examples.double_pendulum.build()
        one = law if not compiled else lambda q, u, memory: -5.0 * q - 0.5 * u
        mb.control.Custom(system.forces, one, sample_time=0.01, memory=[0.0], compiled=compiled)
        state = system.realize_topology()
        ends.append(mb.simulate(system, state, 0.1, accuracy=1e-6).q[-1])
        ensemble = mb.Ensemble(system, 3, state=state)
        close(ensemble.simulate(0.1, accuracy=1e-6).q[2, -1], ends[-1], 1e-9)
    close(ends[0], ends[1], 1e-12)
    assert len({one.ctypes.data for one in kept}) == len(kept), "each sample is an array of its own"


def test_what_python_raises_ends_a_run_at_the_last_good_state_and_one_state_of_many():
    def fails_late(x):
        if x[0] < -0.1:
            raise KeyError("beyond the table")
        return of_angles(x)

    system, state = coupled(mb.function.Custom(fails_late, 2, slopes))
    with pytest.raises(KeyError, match="beyond the table"):
        mb.simulate(system, state, 5.0)
    ensemble = mb.Ensemble(system, 2, state=state)
    motions = ensemble.simulate(5.0)
    assert set(motions.failures) == {0, 1} and all("beyond the table" in str(one) for one in motions.failures.values())
    system.realize(state)
    assert np.isfinite(state.u_dot).all(), "nothing is left of the error"
