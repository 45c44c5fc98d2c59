"""What cannot be compiled, or fails, in a law is said by the user's own line, and by no name of the package's inside."""

import re

import numpy as np
import pytest

import mobod as mb


def none(q, u):
    x = None
    return x + q  # here: none


def attribute(q):
    return q.nosuch()  # here: attribute


def keyword(q):
    return np.linalg.solve(q, q, foo=3)  # here: keyword


def undefined(q):
    y = 2.0 * q
    return y * not_defined  # noqa: F821  # here: undefined


def transformed(x):
    y = 2.0 * x
    return np.fft.fft(y)  # here: helper


def helper(q):
    k = 3.0
    return transformed(q).real * k


def line_of(law):
    """The number of the line with the law's mark."""
    with open(__file__, encoding="utf-8") as file:
        return next(i for i, line in enumerate(file, 1) if line.rstrip().endswith(f"# here: {law.__name__}"))


def run(law, compiled=True):
    system, _ = mb.examples.double_pendulum.build()
    mb.control.Custom(system.forces, law, sample_time=0.01, compiled=compiled)
    return mb.simulate(system, system.realize_topology(), 0.02)


@pytest.mark.parametrize(
    ("law", "why"),
    [
        (none, r"there is no add\(none, an array of 1 dimensions\)"),
        (attribute, "arrays have no nosuch"),
        (keyword, r"there is no solve\("),
        (undefined, "name 'not_defined' is not defined"),
        (helper, "fft of NumPy cannot be compiled"),
    ],
)
def test_what_cannot_be_compiled_is_told_by_the_users_own_line(law, why):
    with pytest.raises(mb.ModelError, match=why) as caught:
        run(law)
    said = str(caught.value)
    assert re.match(rf"'.+' \(line {line_of(law)} of test_errors_of_laws.py\): ", said), said
    assert "sample" not in said and not re.search(r"[0-9a-f]{12}", said), said
    assert "compiled=False" in said


def test_what_fails_in_a_run_is_told_by_its_line():
    def wrong(q, M):
        return M @ np.ones(5) + q

    said = r"at 'return M @ np.ones\(5\) \+ q' \(line \d+ of test_errors_of_laws.py\): matmul"
    with pytest.raises(mb.ConvergenceError, match=said) as caught:
        run(wrong)
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_law_that_the_compiler_cannot_take_is_called_by_python_and_the_run_says_why():
    gains = {"kp": 3.0}

    def of_a_dict(q):
        return -gains["kp"] * q

    for law, why in ((helper, "fft of NumPy cannot be compiled"), (of_a_dict, "dict")):
        line = next(one for one in run(law, None).statistics["interpreted"] if "Custom" in one)
        assert line.startswith("interpreted: ") and why in line and line.endswith(("np.linalg)", "parameter)")), line
    assert "interpreted" not in run(lambda q: -3.0 * q, None).statistics


@pytest.mark.parametrize("returned", [None, "a", ["a", "b"]])
def test_a_law_that_returns_no_numbers_is_named(returned):
    system, _ = mb.examples.double_pendulum.build()
    mb.control.Custom(system.forces, lambda q: returned, sample_time=0.01, compiled=False, name="mine")
    with pytest.raises(
        TypeError, match="what the law of 'mine' returns has to be real numbers, got " + re.escape(repr(returned))
    ):
        mb.simulate(system, system.realize_topology(), 0.02)
