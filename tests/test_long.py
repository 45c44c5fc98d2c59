"""Tests that take a while: run in CI and before a release, by ``pytest -m long``."""

import resource

import numpy as np
import pytest

import mobod as mb
from mobod.examples import bricard, double_pendulum, four_bar, stewart

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


@pytest.mark.parametrize(
    ("example", "time"), [(four_bar, 100.0), (stewart, 100.0), (bricard, 20.0)], ids=["four_bar", "stewart", "bricard"]
)
@pytest.mark.parametrize("accuracy", [1e-4, 1e-7])
def test_closed_loops_stay_closed_for_long(example, time, accuracy):
    """Errors within the constraint tolerance at every report, and energy as the accuracy has it."""
    system, state = example.build()
    motion = mb.simulate(system, state, time, accuracy=accuracy, report_interval=0.1)
    worst = 0.0
    for moved in motion.states:
        system.realize(moved, mb.Stage.VELOCITY)
        worst = max(worst, np.abs(moved.q_err).max(), np.abs(moved.u_err).max())
    assert worst <= 1.001 * 0.1 * accuracy
    # accuracy is per step: an error of that size in each, all of one sign, is the worst there can be
    assert motion.energy_drift < 3.0 * accuracy * motion.steps_taken * motion.calc_kinetic_energy().max()
    assert motion.energy_drift < 0.05 * motion.calc_kinetic_energy().max()
