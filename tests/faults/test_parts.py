"""A run goes on only with the parts in Python that it began with: what has changed is named, what cannot be compared too."""

import threading

import numpy as np
import pytest

import mobod as mb

MODEL = """
import numpy as np
import mobod as mb

def helper(time):
    return HELPER

class Wind(mb.force.CustomImplementation):
    def __init__(self, strength, extra=None):
        self.strength = strength
        self.table = np.linspace(0.0, TABLE, 5)
        if extra is not None:
            self.extra = extra

    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        mobility_forces -= self.strength * np.sin(FREQUENCY * state.time) * helper(state.time)

class Kick(mb.event.PeriodicHandler):
    def __init__(self, interval, size):
        super().__init__(interval)
        self.size, self.count = size, 0

    def handle_event(self, state, accuracy):
        self.count += 1
        state.u = state.u + self.size * self.count

def build(strength=1.0, size=0.01, extra=None):
    system, state = mb.examples.double_pendulum.build()
    mb.force.Custom(mb.GeneralForceSubsystem(system), Wind(strength, extra))
    system.add_event_handler(Kick(0.13, size))
    return system, system.realize_topology()

def quantity(state):
    return QUANTITY * state.time
"""


def names(**changes):
    """The model's source as it is run in a process of its own, with other numbers in its code."""
    source = MODEL
    for name, value in {"HELPER": 1.0, "FREQUENCY": 3.0, "TABLE": 1.0, "QUANTITY": 2.0, **changes}.items():
        source = source.replace(name, repr(value))
    found = {"__name__": "users_model"}
    exec(compile(source, "model", "exec"), found)
    return found


def simulate(model, tmp_path, time, *, resume=True, **build):
    system, state = model["build"](**build)
    keywords = {"report_interval": 0.05, "record": {"x": model["quantity"]}, "checkpoint": tmp_path / "run.ckpt"}
    return mb.simulate(system, state, time, **keywords, resume=resume)


def test_the_same_goes_on(tmp_path):
    simulate(names(), tmp_path, 0.5)
    run = simulate(names(), tmp_path, 1.0)
    (tmp_path / "run.ckpt").unlink()
    assert np.array_equal(run.q, simulate(names(), tmp_path, 1.0, resume=False).q)


@pytest.mark.parametrize(
    ("code", "parameters", "named"),
    [
        ({}, {"strength": 2.0}, r"Wind\.strength"),
        ({}, {"size": 0.02}, r"Kick\.size"),
        ({"FREQUENCY": 4.0}, {}, "the code of Wind"),
        ({"HELPER": 0.5}, {}, "the code of Wind"),
        ({"TABLE": 2.0}, {}, r"the code of Wind, Wind\.table"),
        ({"QUANTITY": 3.0}, {}, "the code of the quantity 'x'"),
    ],
)
def test_what_has_changed_is_named(tmp_path, code, parameters, named):
    simulate(names(), tmp_path, 0.5)
    before = (tmp_path / "run.ckpt").read_bytes()
    with pytest.raises(mb.CheckpointError, match=rf"these differ: {named}\..*resume='anyway'"):
        simulate(names(**code), tmp_path, 1.0, **parameters)
    assert (tmp_path / "run.ckpt").read_bytes() == before
    assert len(simulate(names(**code), tmp_path, 1.0, resume="anyway", **parameters)) == 21


def test_what_cannot_be_compared_is_named(tmp_path):
    simulate(names(), tmp_path, 0.5, extra=threading.Lock())
    with pytest.raises(mb.CheckpointError, match=r"cannot be told: Wind\.extra\. .*resume='anyway'"):
        simulate(names(), tmp_path, 1.0, extra=threading.Lock())
    assert len(simulate(names(), tmp_path, 1.0, extra=threading.Lock(), resume="anyway")) == 21


def test_a_run_that_was_interrupted_goes_on_in_the_same_session(tmp_path):
    """Its handlers have counted meanwhile: they are as they were saved, which is as good as anew."""
    system, state = names()["build"]()

    def stop(time, end):
        if time > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mb.simulate(system, state, 1.0, checkpoint=tmp_path / "run.ckpt", progress=stop)
    resumed = mb.simulate(system, state, 1.0, checkpoint=tmp_path / "run.ckpt", resume=True)
    system, state = names()["build"]()
    assert np.array_equal(resumed.q, mb.simulate(system, state, 1.0).q)


def test_the_word_is_checked(tmp_path):
    with pytest.raises(TypeError, match="resume is True, False or 'anyway', not 'maybe'"):
        mb.simulate(*mb.examples.double_pendulum.build(), 1.0, checkpoint=tmp_path / "run.ckpt", resume="maybe")
