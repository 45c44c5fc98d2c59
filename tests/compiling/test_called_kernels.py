"""Kernels that other kernels call can be called from Python too."""

import gc

import numpy as np

from mobod import _garbage
from mobod.compiling import compiled, engine, keep_refusal, run_noting, with_refusals_apart


@compiled
def total(values):
    s = 0.0
    for i in range(values.shape[0]):
        s += values[i]
    return s


def test_a_part_of_another_kernel_is_compiled_once_more_when_python_calls_it():
    numba = engine.numba()
    types = (numba.typeof(np.zeros(1)),)
    with engine.compiling():  # as in the middle of the compiling of one that calls it with these types
        total.compile_for(types)
    assert types in total.dispatcher.overloads
    assert total(np.arange(4.0)) == 6.0
    assert total.is_compiled_for(types)
    assert total.code_for(np.zeros(1))(np.ones(3)) == 3.0


def test_what_compiling_makes_is_not_looked_through_for_garbage(monkeypatch, users_collections):
    monkeypatch.setattr(_garbage._Seen, "new", 0)
    begun = []
    engine.numba()  # or it is imported within
    gc.callbacks.append(lambda phase, info: begun.append(phase))
    try:
        with engine.compiling():
            made = [[] for _ in range(2 * gc.get_threshold()[0])]
        del made[1000:]
        more = [[] for _ in range(100)]
    finally:
        gc.callbacks.pop()
    assert not begun and len(more) == 100 and gc.isenabled()
    assert any(one is made[0] for one in gc.get_objects(generation=2))


def test_what_compiling_leaves_is_looked_through_once_there_is_much(monkeypatch, users_collections):
    monkeypatch.setattr(_garbage, "_MANY", 5000)
    monkeypatch.setattr(_garbage._Seen, "new", 0)
    monkeypatch.setattr(_garbage._Seen, "left", 0)
    begun, made = [], []
    engine.numba()
    gc.callbacks.append(lambda phase, info: begun.append((phase, info["generation"])))
    try:
        for _ in range(3):
            with engine.compiling():
                made += [[] for _ in range(3000 + gc.get_threshold()[0])]
    finally:
        gc.callbacks.pop()
    assert begun.count(("start", 2)) == 1  # at the second; what was left then is far more than 5000
    assert _garbage._Seen.left > len(made)


def test_a_kernel_within_a_callback_of_another_has_refusals_of_its_own():
    def inner():
        keep_refusal(ValueError("of the inner one"))
        return 1

    def outer():
        keep_refusal(ValueError("of the outer one"))
        assert str(with_refusals_apart(inner)[1]) == "of the inner one"
        return 2

    result, refusal = with_refusals_apart(outer)
    assert result == 2 and str(refusal) == "of the outer one"
    assert with_refusals_apart(lambda: 3) == run_noting(int, lambda: 3) == (3, None)
