"""Fixtures of all tests: random numbers that can be repeated, and random models of every kind of mobilizer.

``MOBOD_TEST_SEED=7 pytest ...`` repeats a run; a failing test prints the seed that it used. Each test draws from a
generator of its own, made of the seed and the test's name, so that one test alone repeats too.
"""

import gc
import os
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.internal.conjecture import providers
from hypothesis.strategies import none

from mobod.compiling.disk_cache import DiskCache
from random_models import Make

# tests run in parallel as it is
os.environ.setdefault("MOBOD_WORKERS", "0")

SEED = int(os.environ.get("MOBOD_TEST_SEED", "0")) or int.from_bytes(os.urandom(3))

gc.disable()  # it is collected between tests, when there is much

# Hypothesis would read all sources, in each process, for constants to try: of this package these are no special cases
providers._get_local_constants = lambda: providers._local_constants


def refuse_other_arrays():
    """Let no kernel be compiled for arrays by columns, with gaps or read-only: for these it is compiled once more.

    The largest took half a minute a second time where one of its sixty arguments lay by columns.
    """
    load = DiskCache.load_overload

    def load_overload(cache, signature, context):
        kinds = list(getattr(signature, "args", signature))
        for kind in kinds:
            kinds += getattr(kind, "types", ())
            own = not cache._stem.startswith("users.")  # users' functions are to leave some of their arguments as they are
            if hasattr(kind, "layout") and (kind.layout != "C" or (own and not kind.mutable)):
                raise AssertionError(f"{cache._stem} is compiled anew for {kind}: give it a copy in C's order, not read-only")
        return load(cache, signature, context)

    DiskCache.load_overload = load_overload


refuse_other_arrays()


def pytest_pycollect_makeitem(collector, name, obj):
    """Make no tests of those that are exhaustive, a fifth of all, where they are not asked for, by their names or marks."""
    if "not exhaustive" in collector.config.option.markexpr and not any("::" in one for one in collector.config.args):
        if any(mark.name == "exhaustive" for mark in getattr(obj, "pytestmark", ())):
            return []
    return None


#: Folders, the last ones in the order of names, whose tests take long each: a browser draws, JAX and PyTorch compile.
LONGEST = ("tests/viewer/", "tests/wrappers/")


def pytest_collection_modifyitems(items):
    """Begin with what takes longest, or one worker would be at that while the others have ended; allow more tries to some.

    Two more have tests in a browser, and those that count seconds of a busy machine, which do not decide when what happens.
    """
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))
    for item in items:
        if "page" in getattr(item, "fixturenames", ()) or item.get_closest_marker("seconds"):
            item.add_marker(pytest.mark.flaky(reruns=2))


#: So many new objects, half a gigabyte, are looked through for garbage at once.
MANY = 3_000_000


def pytest_collection_finish(session):
    """Keep what is there to the end, 14,000 tests above all, out of the search for garbage, which goes on as `MANY` says.

    What compiling leaves is most of it: where Python decides when to look, that takes a twelfth of the time.
    """
    if any("hypothesis" in item.keywords for item in session.items):
        begin_hypothesis()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_logfinish():
    """Collect garbage between two tests, where there may be much; what is left lives on, and is not looked through again."""
    if gc.get_count()[0] > MANY:
        gc.collect()
        gc.freeze()


@given(nothing=none())
@settings(max_examples=1, database=None)
def begin_hypothesis(nothing):
    """Let Hypothesis collect all garbage, as it does when it is first used: of compiled kernels it would take eight seconds."""


def pytest_sessionfinish(session):
    """Let pytest collect no garbage at the end of a worker, five times, for seconds: nobody hears what it finds."""
    if hasattr(session.config, "workerinput"):
        gc.freeze()


@pytest.fixture
def quick_collections():
    """Keep what is there out of the collections of garbage that a test asks for: what Numba leaves takes seconds each time."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def users_collections():
    """Collect garbage as Python does for users, where nothing is frozen."""
    gc.unfreeze()
    gc.enable()
    yield
    gc.disable()
    gc.freeze()


@pytest.fixture
def rng(request):
    """A generator of random numbers; pytest shows what is printed here when the test fails."""
    print(f"\nMOBOD_TEST_SEED={SEED} repeats the random numbers of {request.node.nodeid}")
    return np.random.default_rng([SEED, zlib.crc32(request.node.nodeid.encode())])


@pytest.fixture
def make(rng):
    """Random parts of models, and models."""
    return Make(rng)


def derivative(f, h=3e-4):
    """df/dt at 0 by the central difference of fourth order.

    At rates of up to ten its truncation, h^4 f'''''/30, and its rounding, 1e-16 f/h, both stay below 1e-10 of f's scale.
    """
    return (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)


@pytest.fixture(name="derivative")
def _derivative():
    return derivative


@pytest.fixture
def close():
    return assert_close


def assert_close(actual, expected, tolerance, scale=None):
    """Equal to *tolerance* of the largest entry of *expected* (or of *scale*)."""
    actual, expected = np.asarray(actual, dtype=float), np.asarray(expected, dtype=float)
    assert actual.shape == expected.shape
    size = np.abs(expected).max(initial=0.0) if scale is None else scale
    error = np.abs(actual - expected).max(initial=0.0)
    assert error <= tolerance * max(size, 1e-3), f"off by {error:.3g}, of {size:.3g}"
