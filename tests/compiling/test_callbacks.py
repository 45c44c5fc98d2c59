"""Callbacks: what a signal's handler raises where one begins is not lost."""

import os
import signal

import pytest

import mobod as mb
from mobod.algebra.record import attach, call_routine
from mobod.compiling import compiled
from mobod.compiling.callbacks import Callback, raise_kept
from mobod.force import _in_python


@compiled
def compute_and_call(block, address, n):
    """Computes for a while, and calls."""
    model, x = attach(block), 1.0
    for _ in range(n):
        x = 0.9999999 * x + 1e-9
    return call_routine(address, model, 3, int(x))


@pytest.mark.skipif(os.name != "posix", reason="no timers of processes here")
def test_an_interrupt_while_kernels_compute_is_raised_where_they_end():
    """Python handles it where the callback begins, outside of all that could catch it; this run would go on as if computed."""

    def interrupt(number, frame):
        raise KeyboardInterrupt

    computed, failed = [], []
    callback = Callback(lambda *asked: computed.append(asked), lambda *asked: failed.append(asked))
    state, address = mb.examples.double_pendulum.build()[1], callback.address()
    compute_and_call(state, address, 1)
    before = signal.signal(signal.SIGVTALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.01)
        with pytest.raises(KeyboardInterrupt):
            compute_and_call(state, address, 40_000_000)
            raise_kept()
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    assert len(computed) == 1
    assert [asked[:3] for asked in failed] == [asked[:3] for asked in computed], "and no result is left"
    raise_kept()


def test_a_state_can_be_realized_after_an_interrupt_as_its_forces_begin(monkeypatch):
    class Interrupted(set):
        left = 1

        def add(self, one):
            super().add(one)
            if self.left:
                self.left = 0
                raise KeyboardInterrupt

    class Nothing(mb.force.CustomImplementation):
        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            pass

    at_work = Interrupted()
    monkeypatch.setattr(_in_python, "_at_work", at_work)
    system, _ = mb.examples.double_pendulum.build()
    mb.force.Custom(system.forces, Nothing())
    state = system.realize_topology()
    with pytest.raises(KeyboardInterrupt):
        system.realize(state)
    assert not at_work
    system.realize(state)
