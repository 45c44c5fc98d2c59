"""Objects that compiled code reads by their layout: whether they are so, and what serves where they are not."""

import contextlib
import ctypes
import gc
import os
import subprocess
import sys
import threading
import time
import tracemalloc
from fractions import Fraction
from functools import partial
from pathlib import Path

import all_forms
import numpy as np
import pytest

import mobod as mb
from mobod.algebra import mirrors, object_access, object_layout
from mobod.compiling import kernels
from mobod.derivative import sweep
from mobod.tree import inverse_dynamics, mass_matrix, realize
from mobod.value.checks import MOST

SEED = int(os.environ.get("MOBOD_TEST_SEED", "20261128"))


@pytest.mark.parametrize("what", object_layout.PROBES)
def test_this_python_has_everything_where_it_is_looked_for(what):
    assert object_layout.PROBES[what]()


def of_this_call(monkeypatch, **probes):
    """`why_plain` as it is answered when it is asked for the first time."""
    monkeypatch.setattr(object_layout, "PROBES", {**object_layout.PROBES, **probes})
    return object_layout.why_plain.__wrapped__()


def test_what_is_not_where_it_is_looked_for_is_not_read(monkeypatch):
    monkeypatch.delenv("MOBOD_OBJECT_ACCESS", raising=False)
    assert of_this_call(monkeypatch) == ""
    for what in object_layout.PROBES:
        with monkeypatch.context() as meanwhile:
            assert f"{what} of Python 3." in of_this_call(meanwhile, **{what: lambda: False})
        with monkeypatch.context() as meanwhile:
            assert f"{what} cannot be looked at: ZeroDivisionError" in of_this_call(meanwhile, **{what: lambda: 1 // 0})


@pytest.mark.parametrize(
    ("name", "by", "what"),
    [
        ("TYPE", 8, "types"),
        ("DATA", 8, "arrays"),
        ("NUMBER_OF_DIMENSIONS", 4, "arrays"),
        ("LENGTHS", 8, "arrays"),
        ("STRIDES", -8, "arrays"),
        ("DESCRIPTION", 8, "arrays"),
        ("BASE", 8, "arrays"),
        ("ITEMS", -8, "tuples"),
        ("LISTED", 8, "lists"),
    ],
)
def test_each_place_is_probed(monkeypatch, name, by, what):
    monkeypatch.setattr(object_layout, name, getattr(object_layout, name) + by)
    assert not object_layout.PROBES[what]()


def test_python_without_its_lock_is_not_read(monkeypatch):
    monkeypatch.delenv("MOBOD_OBJECT_ACCESS", raising=False)
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    assert object_layout.why_plain.__wrapped__() == "free-threaded Python"


@pytest.mark.parametrize("access", ["by layout", "plain"])
def test_arrays_of_all_forms_are_read_or_refused(access):
    """A thousand calls, alike in bits: by compiled code that reads them, and by mirrors."""
    settings = {"MOBOD_OBJECT_ACCESS": "plain"} if access == "plain" else {}
    script, root = Path(all_forms.__file__), Path(mb.__file__).parents[1]
    environment = {**os.environ, **settings, "PYTHONPATH": str(root), "MOBOD_QUIET": "1"}
    ended = subprocess.run([sys.executable, script, str(SEED)], env=environment, check=True, capture_output=True, text=True)
    digest, calls, why = ended.stdout.split(maxsplit=2)
    assert int(calls) > 1000 and ("MOBOD_OBJECT_ACCESS" in why) == (access == "plain")
    assert DIGESTS.setdefault(SEED, digest) == digest


DIGESTS = {}


def every_kernel():
    return [
        one for one in kernels.marked if isinstance(one, object_access.KernelForCallers) and "mobod" in one.python.__module__
    ]


def test_another_number_of_arguments_is_an_error():
    largest = inverse_dynamics.calc_missing_force, sweep.calc_derivatives
    assert {*largest, mass_matrix.multiply_by_m_inv, realize.realize_at} < set(every_kernel())
    for kernel in every_kernel():
        code, count = kernel.load(), kernel.python.__code__.co_argcount
        for wrong in {0, 1, 2, 5, 20} - {count}:
            with pytest.raises(TypeError):
                code(*range(wrong))
        with pytest.raises(TypeError):
            code(block=1)


def mirrored(kernel):
    """The kernel as it is called where objects are not read, if it makes none but integers."""
    kernel.load()
    return mirrors.Mirrored(kernel.place, kernel.python.__name__, kernel.python.__code__.co_argcount)


def test_mirrors_have_all_that_is_in_a_tuple():
    one = tuple(object() for _ in range(60))
    with mirrors._call():
        address = mirrors._mirror((one, np.zeros(3)), {})
        first = ctypes.c_int64.from_address(address + object_layout.ITEMS).value
        places = [ctypes.c_int64.from_address(first + object_layout.ITEMS + 8 * k).value for k in range(60)]
        assert [mirrors._taken(place) for place in places] == list(one)
    assert not mirrors._known.objects


def test_mirrors_leave_nothing_behind(quick_collections):
    code, own = mirrored(object_access.assign), np.zeros(3)
    gc.collect()
    tracemalloc.start()
    for i in range(400):
        assert code(own, np.full(3, float(i))) == 1 and own[0] == i
        assert code(own, [1.0, i, 2.0]) == 1 and own.tolist() == [1.0, i, 2.0]
        assert code(own, (3.0, 4.0, 5.0)) == 1 and own[1] == 4.0
        assert code(own, [1.0]) == 0 and code(own, None) == 0 and code(own, np.zeros((3, 1))) == 0
    gc.collect()
    left, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert left < 50_000 and not mirrors._known.objects
    with pytest.raises(TypeError, match="assign takes 2 arguments, not 3"):
        code(own, own, own)


class OwnFloat(float):
    """A number of another type."""


@pytest.mark.parametrize("access", ["by layout", "plain"])
def test_numbers_are_put_or_left_to_be_looked_at(access):
    put = object_access.put.load() if access == "by layout" else mirrored(object_access.put)
    taken = 0.25, np.float64(-0.5), 3, 0, 2**53, 1.7e308, np.sin(0.3)
    of_other_types = True, np.float32(0.5), np.int64(2), OwnFloat(0.5), Fraction(1, 2), np.array(0.5), "1", None
    left = (*of_other_types, np.nan, np.inf, 10**400, -(10**400), -1)  # the last looks like an error of Python's
    own = np.full((5, 1), 9.0)
    for done, x in [*((1, x) for x in taken), *((0, x) for x in left)]:
        own[:] = 9.0
        assert put(x, own, 2, (), -MOST) == done and own[2, 0] == (x if done else 9.0), x
        assert (own[[0, 1, 3, 4]] == 9.0).all()
        for of in (tuple, list):
            own[:] = 9.0
            assert put(of((0.5, x)), own, 0, (2,), -MOST) == done, x
            assert own[:2, 0].tolist() == ([0.5, x] if done else [9.0, 9.0]) and (own[2:] == 9.0).all(), x
    least = 0.0
    assert put(-0.5, own, 0, (), least) == put((1.0, -0.5), own, 0, (2,), least) == put((1.0,), own, 0, (2,), least) == 0
    assert put((1.0, 2.0), own, 0, (1, 2), least) == put(1.0, own, 0, (1,), least) == put((), own, 0, (), least) == 0
    assert put((), own, 0, (0,), least) == 1 and (own[3:] == 9.0).all()


def test_arrays_that_another_thread_replaces_and_resizes():
    """An array that is in use cannot be resized, says NumPy; one that is released is nobody's."""
    system, state = mb.examples.panda.build()
    n, inverse = len(state.u), partial(system.calc_inverse_dynamics, state)
    shared, ended = [np.zeros(n)], threading.Event()

    def replace():
        numbers = np.random.default_rng(SEED + 1)
        while not ended.is_set():
            shared[0] = numbers.standard_normal(n)
            with contextlib.suppress(ValueError):
                shared[0].resize(n + 3)
            shared[0] = numbers.standard_normal(n)
            time.sleep(0.0001)

    thread = threading.Thread(target=replace)
    thread.start()
    done = refused = 0
    try:
        for _ in range(3000):
            for call in (lambda x: system.realize(state, u=x, mobility_forces=x), inverse):
                try:
                    call(shared[0])
                    done += 1
                except ValueError as error:
                    assert "shape" in str(error)
                    refused += 1
    finally:
        ended.set()
        thread.join()
    assert done > 100, (done, refused)


def test_arrays_that_a_state_shows_cannot_be_resized():
    system, state = mb.examples.double_pendulum.build()
    expected = [system.realize(state), state.u_dot.copy()][1]
    for view in (state.q, state.u, state.u_dot):
        with pytest.raises(ValueError, match="resize"):
            view.resize(7)
    state.q = state.q
    state.u = state.u[::-1][::-1]
    system.realize(state)
    assert np.array_equal(state.u_dot, expected)


def test_kernels_refuse_what_is_no_plain_array():
    own = np.zeros(3)
    code = object_access.assign.load()
    for form, make in all_forms.SAME.items():
        x = np.array([1.0, 2.0, 3.0])
        own[:] = 0.0
        taken = code(own, make(x))
        assert taken == (form in ("array", "list", "tuple", "read only", "of strings' memory")), form
        assert own.tolist() == ([1.0, 2.0, 3.0] if taken else [0.0, 0.0, 0.0])
    for make in all_forms.WRONG.values():
        assert code(own, make(np.array([1.0, 2.0, 3.0]))) == 0
    assert realize.realize_at.load()(1, 2, 3, own, own, None, "x") == realize.NOT_PLAIN
