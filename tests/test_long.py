"""What takes a while to show: run in CI and before a release, by ``pytest -m long``."""

import resource

import numpy as np
import pytest

import mobod as mb
from mobod.examples import double_pendulum

pytestmark = pytest.mark.long


def test_memory_does_not_grow_over_a_million_steps():
    system, state = double_pendulum.build()
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, fixed_step_size=1e-4))
    stepper.initialize(state)
    grown = []
    for leg in range(1, 101):
        stepper.step_to(1.0 * leg)
        grown.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    # a step of 1e-4 is one rounding off 10^4 to a unit of time
    assert stepper.integrator.get_num_steps_taken() == pytest.approx(1e6, abs=100)
    # kilobytes; the first legs load code. A leak of one number a step would be 8 MB
    assert grown[-1] - grown[10] < 2000


def test_memory_does_not_grow_over_many_realizations():
    system, state = double_pendulum.build()
    q = np.array([0.3, -0.4])
    grown = []
    for _ in range(10):
        for _ in range(100_000):
            state.q = q
            system.realize(state)
        grown.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    assert grown[-1] - grown[1] < 2000


def test_energy_and_the_bits_of_a_long_run_are_the_same_when_it_is_run_in_pieces():
    system, state = double_pendulum.build()
    whole = mb.simulate(system, state, 200.0, accuracy=1e-9)
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-9))
    stepper.initialize(state)
    for time in whole.time[1:]:
        stepper.step_to(time)
    np.testing.assert_array_equal(stepper.state.q, whole.q[-1])
    assert whole.energy_drift < 1e-5 * whole.calc_kinetic_energy().max()
