"""Ctrl-C in the middle of compiled steps, as it comes from a terminal: the last good state is there, and one can go on."""

import signal
import subprocess
import sys

SCRIPT = """
import signal
import sys
import numpy as np
import mobod as mb

signal.signal(signal.SIGINT, signal.default_int_handler)  # which what runs in the background ignores

def is_stopped(what):
    system, state = mb.examples.double_pendulum.build()
    if "events" in what:
        system.add_event_handler(mb.event.ImpactWhen(
            mb.event.Coordinate(system.matter.bodies[1], 0, -50.0), 0.5))
    if "measures" in what:
        mb.measure.Maximum(system.matter, mb.measure.Coordinate(system.matter, system.matter.bodies[1]))
    if "scheduled" in what:
        class Look(mb.event.PeriodicReporter):
            def handle_event(self, state):
                pass
        system.add_event_reporter(Look(0.1))
    state = system.realize_topology()
    state.q = [0.5, 0.2]

    def reference(time):
        other = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-6))
        other.initialize(state)
        other.step_to(time)
        return other.state

    if "simulate" in what:
        mb.simulate(system, state, 0.01, accuracy=1e-6)
        told = []

        def go(time, end):
            if time > 2.0 and not told:
                told.append(time)
                print("go", flush=True)

        try:
            mb.simulate(system, state, 1e6, accuracy=1e-6, report_interval=0.5, progress=go)
        except KeyboardInterrupt as error:
            trajectory = error.trajectory
            assert 1 < len(trajectory) and np.isfinite(trajectory.q).all()
            k = min(3, len(trajectory) - 1)
            assert np.array_equal(trajectory.q[k], reference(trajectory.time[k]).q)
            return trajectory.time[-1]
    else:
        stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-6))
        stepper.initialize(state)
        stepper.step_to(0.01)
        print("go", flush=True)
        try:
            stepper.step_to(1e6)
        except KeyboardInterrupt:
            now = stepper.state
            assert now.stage is mb.Stage.ACCELERATION and np.isfinite(now.u_dot).all() and 0.01 < now.time < 1e6
            energy, time = system.calc_energy(now), now.time
            if "events" not in what:
                assert abs(energy - system.calc_energy(reference(0.0))) < 1.0
            stepper.step_to(time + 0.5)
            assert stepper.time == time + 0.5
            return time
    raise AssertionError("it was not stopped")

for what in sys.argv[1:]:
    print("stopped at", is_stopped(what), flush=True)
"""


def test_a_signal_ends_a_run_at_its_last_good_state():
    """Runs one after the other, in a process of their own."""
    kinds = ["alone", "simulate", "events", "scheduled", "events simulate", "measures"]
    command = [sys.executable, "-c", SCRIPT, *kinds]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        for kind in kinds:
            assert process.stdout.readline().strip() == "go", (kind, process.stderr.read())
            try:
                process.wait(0.3)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
            assert process.stdout.readline().startswith("stopped at"), (kind, process.stderr.read())
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0, err
