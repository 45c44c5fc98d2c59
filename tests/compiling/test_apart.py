"""Short compiling: functions that stay functions within a kernel, and arguments of one type whatever is asked."""

import re

import numpy as np
import pytest

import mobod as mb
from mobod.compiling import apart, compiled, engine, fingerprint, generic
from mobod.compiling.numba_patches import quickly, why_unpatched
from mobod.ensemble.lane_runs import own_of_each


@apart
def grow_apart(x, i):
    x[i] = (3.0 * x[i] + 1.0) / (x[i] + 2.0)


@generic
def grow_inlined(x, i):
    x[i] = (3.0 * x[i] + 1.0) / (x[i] + 2.0)


@compiled
def each_apart(x):
    for i in range(8):
        grow_apart(x, i)


@compiled
def each_inlined(x):
    for i in range(8):
        grow_inlined(x, i)


def code_of(kernel):
    """LLVM's code of a kernel, compiled anew: Numba does not show what it has loaded."""
    dispatcher = engine.numba().njit(**engine.OPTIONS)(kernel.python)
    with engine.compiling(), quickly(dispatcher):
        dispatcher.compile((engine.numba().float64[::1],))
    (code,) = dispatcher.inspect_llvm().values()
    return code


def calls_of(kernel, name):
    """The calls of a function in the code of a kernel."""
    return len(re.findall(rf"call [^\n]*{name}", code_of(kernel)))


@pytest.mark.skipif(bool(why_unpatched()), reason="this version of Numba compiles as it does")
def test_a_function_that_is_apart_is_called_and_one_that_is_generic_is_not():
    x, y = np.arange(8.0), np.arange(8.0)
    each_apart(x)
    each_inlined(y)
    assert np.array_equal(x, y) and x[1] == 4.0 / 3.0
    assert calls_of(each_apart, "grow_apart") > 0 and calls_of(each_inlined, "grow_inlined") == 0


@pytest.mark.skipif(bool(why_unpatched()), reason="this version of Numba compiles as it does")
def test_what_vectors_a_kernel_keeps_on_the_stack_begin_at_cache_lines():
    """Of the kernel, of what Python calls in its place, and of a function that is apart."""
    code = code_of(each_apart)
    aligned = [f"#{number} " for number in re.findall(r"attributes #(\d+) = \{[^}]*alignstack=64", code)]
    own = [line for line in code.splitlines() if re.match(r"define .*(each|grow)_apart", line)]
    assert len(own) >= 3 and all(any(mark in line for mark in aligned) for line in own)


def test_being_apart_is_part_of_what_names_a_kernels_code(monkeypatch):
    known = fingerprint.fingerprint(each_apart.python)
    monkeypatch.setattr(fingerprint, "_of_function", {})
    monkeypatch.setattr(engine, "kept_apart", set())
    assert fingerprint.fingerprint(each_apart.python) != known


def test_a_run_of_one_state_and_states_own_parameters_bring_no_other_types():
    """An array that is read-only, or in Fortran's order, would have the loop over steps in lanes compiled again."""
    from mobod.ensemble.lanes.run import run

    mb.Ensemble(mb.examples.double_pendulum.build()[0], 1).simulate(0.01)
    assert run.dispatcher.overloads
    types = str(list(run.dispatcher.overloads))
    assert "readonly" not in types and ", F)" not in types
    assert own_of_each({"own": np.zeros((2, 3, 1, 8))}).flags.c_contiguous
