"""Errors in users' functions name the line in the user's own file, and what stands there."""

import numpy as np
import pytest

import mobod as mb

HERE = "test_lines_of_users.py"


def message(make, kind):
    with pytest.raises(kind) as caught:
        make()
    return str(caught.value)


def run(law, compiled=None):
    system, _ = mb.examples.double_pendulum.build()
    mb.control.Custom(mb.GeneralForceSubsystem(system), law, sample_time=0.01, compiled=compiled)
    mb.simulate(system, system.realize_topology(), 0.02)


def test_a_law_that_cannot_be_compiled():
    def law(t, q, u):
        return -np.linalg.no_such_function(q)

    text = message(lambda: run(law, compiled=True), mb.ModelError)
    line = law.__code__.co_firstlineno + 1
    assert text.startswith(f"'return -np.linalg.no_such_function(q)' (line {line} of {HERE}): ")
    assert "no attribute 'no_such_function'" in text and "sample" not in text


def test_a_law_that_fails_in_a_run():
    def law(t, q, u):
        half = 0.5 * q
        return -half @ np.ones(3)

    text = message(lambda: run(law), mb.ConvergenceError)
    assert f"at 'return -half @ np.ones(3)' (line {law.__code__.co_firstlineno + 2} of {HERE})" in text


def test_a_force_that_raises_in_its_trial():
    system, _ = mb.examples.double_pendulum.build()
    arm = system.matter.bodies["lower"]

    def force(t, X, V, q, u, parameters):
        (angle,) = q[0]
        return (), ((angle + parameters[3],),)

    functions = mb.force.CompiledFunctions(force, mobilizers=[arm])
    text = message(lambda: mb.force.Custom(mb.GeneralForceSubsystem(system), compiled=functions), mb.ModelError)
    line = force.__code__.co_firstlineno + 2
    assert f"at 'return (), ((angle + parameters[3],),)' (line {line} of {HERE}): IndexError: tuple index" in text


def test_a_constraint_that_raises_in_its_trial():
    system, _ = mb.examples.double_pendulum.build()
    arm = system.matter.bodies["lower"]

    def error(X, q, parameters):
        return (q[0][0] - q[1][0],)

    functions = mb.constraint.CompiledFunctions(error, mobilizers=[arm])
    text = message(lambda: mb.constraint.Custom(compiled=functions), mb.ModelError)
    assert f"at 'return (q[0][0] - q[1][0],)' (line {error.__code__.co_firstlineno + 1} of {HERE})" in text
