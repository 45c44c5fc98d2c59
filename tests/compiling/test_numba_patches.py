"""Numba's answers, found faster, are Numba's answers."""

import contextlib
import itertools
import math
import operator
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core import event, ir, types
from numba.core.registry import cpu_target

from mobod.compiling import apart, compiled, engine, generic, numba_patches
from mobod.compiling.kernels import of_arrays
from mobod.compiling.numba_overhead import in_one_chunk
from mobod.compiling.numba_patches import KNOWN_VERSIONS, quickly

NUMBERS = (types.float64, types.int64, types.boolean, types.float32, types.intp, types.literal(3))


@pytest.mark.parametrize(
    "function", [operator.add, operator.mul, operator.truediv, operator.pow, operator.lt, operator.iadd, bool]
)
def test_operators_of_numbers_have_the_types_that_numba_says(function):
    context = cpu_target.typing_context
    context.refresh()
    of = context.resolve_value_type(function)
    for arguments in itertools.product(NUMBERS, repeat=1 if function is bool else 2):
        expected = of.get_call_type(context, arguments, {})
        with patched():
            for _ in range(2):
                assert of.get_call_type(context, arguments, {}) == expected
                assert of.get_impl_key(expected) is not None


@pytest.mark.parametrize("scalar", ["lanes", "duals"])
def test_operators_of_our_scalars_have_the_types_that_numba_says(scalar):
    context = engine.numba().core.registry.cpu_target.typing_context
    (kind,) = (one.scalars[scalar] for one in engine.extensions() if scalar in one.scalars)
    for function, arguments in itertools.product((operator.add, operator.mul), ((kind, kind), (kind, types.float64))):
        of = context.resolve_value_type(function)
        expected = of.get_call_type(context, arguments, {})
        with patched():
            assert [of.get_call_type(context, arguments, {}) for _ in range(2)] == [expected] * 2
        assert expected.return_type == kind


def test_operators_that_numbers_do_not_have_are_refused_again_and_again():
    of = cpu_target.typing_context.resolve_value_type(operator.lshift)
    for _ in range(2):
        with patched(), pytest.raises(numba.TypingError, match="lshift"):
            of.get_call_type(cpu_target.typing_context, (types.float64, types.float64), {})


def test_the_variables_of_an_instruction_are_those_that_numba_lists():
    def function(rows, scale):
        table, total = {"a": scale}, 0.0
        for i, (x, y) in enumerate(rows):
            if x > table["a"]:
                total += max(x, y, scale)
            rows[i] = (total, -y)
        print(total)
        return [total, [scale]]

    blocks = numba.core.compiler.run_frontend(function).blocks.values()
    instructions = [instruction for block in blocks for instruction in block.body]
    assert len(instructions) > 40

    listed = [instruction.list_vars() for instruction in instructions]
    with patched():
        assert ir.Inst._rec_list_vars.__wrapped__
        for instruction, expected in zip(instructions, listed, strict=True):
            assert instruction.list_vars() == expected, instruction
    assert sum(len(instruction.list_vars()) for instruction in instructions) > 60


def functions_of(dispatcher):
    """The optimized code of each function in a dispatcher's library; without addresses, and names and attributes by number."""
    (text,) = dispatcher.inspect_llvm().values()
    names = re.findall(r"^define .*?(@[\w.$\"]+)\(", text, re.M)
    bodies = re.findall(r"^define .*?^}", text, re.M | re.S)
    return {
        re.sub(r"B\d+v\d+", "", name)[:60]: re.sub(r"@[\w.$\"]+|![\w.]+| ?#\d+|\b\d{9,}\b|v\d+(?=B)", "", body)
        for name, body in zip(names, bodies, strict=True)
    }


def a_kernel():
    """A new one of each kind of statement, with a function that is inlined and one that is not."""

    @numba.extending.register_jitable(forceinline=True, **engine.OPTIONS)
    def turned(x, c, s):
        return c * x[0] - s * x[1], s * x[0] + c * x[1]

    @numba.njit(**engine.OPTIONS)
    def kernel(points, angle):
        total, x = 0.0, (1.0, 0.0)
        for i in range(len(points)):
            if points[i] < 0.0:
                continue
            x = turned(x, math.cos(angle), math.sin(angle))
            total += max(x[0], points[i], 2.0) ** 2
        while total > 10.0:
            total /= 3.0
        return total

    return kernel


def test_code_is_the_same_as_numba_makes_it_by_the_passes_that_are_taken(monkeypatch):
    points, made = (types.Array(types.float64, 1, "C"), types.float64), []

    def once(library):
        passes, builder = library._codegen._module_pass_manager()
        passes.run(library._final_module, builder)

    for context in (contextlib.nullcontext, quickly):
        kernel = a_kernel()
        monkeypatch.undo()
        if context is not quickly:
            monkeypatch.setattr(numba.core.codegen.CPUCodeLibrary, "_optimize_functions", lambda library, module: None)
            monkeypatch.setattr(numba.core.codegen.CPUCodeLibrary, "_optimize_final_module", once)
        with engine.lock(), context(kernel) if context is quickly else context():
            kernel.compile(points)
        made.append(functions_of(kernel))
    as_numba, quick = made
    dropped = set(as_numba) - set(quick)
    assert dropped == {name for name in as_numba if name.startswith("@cfunc.")}  # which nobody calls
    assert len(quick) >= 2 and {name: as_numba[name] for name in quick} == quick


def test_a_function_that_numba_compiles_for_others_keeps_all_that_it_has():
    numba_patches.patches()
    callback = numba.cfunc("float64(float64)")(lambda x: 2.0 * x)
    assert callback.ctypes(3.0) == 6.0
    heard = []

    class Listener(numba.core.event.Listener):
        def on_start(self, event):
            heard.append(event.kind)

        def on_end(self, event):
            heard.append(event.kind)

    with numba.core.event.install_listener("numba:llvm_lock", Listener()):
        numba.njit("float64(float64)")(lambda x: 3.0 * x)
    assert heard


def test_the_version_of_numba_is_one_that_has_been_looked_at():
    """If it is not: look whether the functions that `numba_patches` replaces have changed, and move the last known version."""
    assert numba.version_info.short <= KNOWN_VERSIONS[1]


@contextlib.contextmanager
def patched():
    """The context of a compilation of ours."""
    with engine.lock(), quickly(object()):
        yield


def attributes():
    """The attributes of Numba that are replaced, as they are now."""
    return [getattr(one.owner, one.name) for one in numba_patches.patches()]


def test_numba_is_as_it_was_once_a_kernel_is_compiled():
    before = attributes()
    assert len(before) >= 15 and not any(hasattr(one, "__wrapped__") and "mobod" in one.__code__.co_filename for one in before)
    with patched():
        meanwhile = attributes()
        with patched():  # of a kernel that it calls
            assert attributes() == meanwhile
        assert attributes() == meanwhile
    assert not set(before) & set(meanwhile) and attributes() == before
    with contextlib.suppress(KeyError), patched():
        raise KeyError
    assert attributes() == before
    kernel = compiled(lambda a, x: x + 1.0)
    assert kernel(np.zeros(1), 2.0) == 3.0 and attributes() == before


def test_what_a_user_compiles_with_numba_can_be_called_after_a_kernel_has_called_it():
    """Also if it asks to be inlined, or is compiled for a kernel that another kernel calls."""

    @numba.njit(forceinline=True)
    def inlined(x):
        return 2.0 * x

    @numba.njit
    def plain(x):
        return inlined(x) + 1.0

    @compiled
    def inner(a, x):
        return plain(x) + inlined(x)

    @compiled
    def outer(a, x):
        return inner(a, x) + 1.0

    a = np.zeros(1)
    assert outer(a, 2.0) == 10.0
    assert plain(2.0) == 5.0 and inlined(2.0) == 4.0 and inner(a, 2.0) == 9.0


def test_a_users_own_compiled_function_can_call_what_a_kernel_of_ours_was_made_of():
    """Numba links what that calls, too, and is not told how kernels link theirs."""

    @generic
    def doubled(x):
        return 2.0 * x

    @apart
    def further(x):
        return doubled(x) + doubled(x + 1.0)

    @generic
    def furthest(x):
        return further(x) * doubled(x)

    @compiled
    def kernel(a, x):
        return furthest(x) + doubled(x)

    assert kernel(np.zeros(1), 2.0) == 44.0

    @numba.njit
    def users(x):
        return furthest(x)

    assert users(2.0) == 40.0


def test_machine_code_is_made_of_a_law_of_arrays_alone_and_a_users_function_can_call_what_it_was_made_of(monkeypatch):
    """NumPy's functions that a law calls are parts of it: each is optimized, and made into machine code, with the law."""

    @of_arrays
    def solved(A, b):
        x, left = np.linalg.solve(A, b), np.zeros(3)
        left[1:] = (A @ x - b)[1:]
        return x + left

    arrays, made = [types.Array(types.float64, 2, "C"), types.Array(types.float64, 1, "C")], []
    law = numba.njit(**{**engine.OPTIONS, "_nrt": True})(lambda A, b: np.cross(solved(A, b), b))
    engine.numba()
    finalize = numba.core.codegen.JITCodeLibrary._finalize_specific
    monkeypatch.setattr(
        numba.core.codegen.JITCodeLibrary, "_finalize_specific", lambda one: (made.append(one.name), finalize(one))
    )
    with engine.lock(), quickly(law):
        law.compile(tuple(arrays))
    assert len(made) == 1
    A, b = np.eye(3) + np.arange(9.0).reshape(3, 3), np.array([1.0, -2.0, 4.0])
    np.testing.assert_allclose(law(A, b), np.cross(np.linalg.solve(A, b), b), rtol=1e-12)
    users = numba.njit(lambda A, b: 2.0 * solved(A, b))
    np.testing.assert_allclose(users(A, b), 2.0 * np.linalg.solve(A, b), rtol=1e-12)
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        users(0.0 * A, b)


def test_options_are_equal_and_registrations_are_seen_as_without_patches():
    one, other = numba.core.compiler.Flags(), numba.core.compiler.Flags()
    other.nrt = one.nrt  # one says so, the other by default
    expected = hash(one), one == other
    with patched():
        assert (hash(one), one == other) == expected == (hash(other), True)
        other.nrt = not one.nrt
        assert one != other

        # what is registered late is found, though nothing was new the last time
        cpu_target.target_context.refresh()

        @numba.extending.overload(math.comb)
        def comb(n, k):
            return lambda n, k: n + k

        cpu_target.target_context.refresh()
        types_of = cpu_target.typing_context.resolve_value_type(math.comb)
        assert types_of.get_call_type(cpu_target.typing_context, (types.int64, types.int64), {}).return_type == types.int64


def test_warnings_are_those_that_numba_gives_and_say_where(monkeypatch):
    """Of each place once, whatever functions were typed within it; others as they are."""
    typeinfer, warned = numba.core.typeinfer, []
    call = typeinfer.CallConstraint.__call__

    def warn_and_call(self, inferer):
        warnings.warn("a slow one", numba.core.errors.NumbaPerformanceWarning, stacklevel=1)
        warnings.warn("another's", UserWarning, stacklevel=1)
        return call(self, inferer)

    monkeypatch.setattr(typeinfer.CallConstraint, "__call__", warn_and_call)

    @numba.njit
    def inner(x):
        return math.sin(x) + abs(x)

    for context in (contextlib.nullcontext, patched):
        with warnings.catch_warnings(record=True) as found, context():
            warnings.simplefilter("always")
            numba.njit(lambda x: inner(x)).compile((types.float64,))
            inner.overloads.clear()
        warned.append([(str(one.message), one.category, one.filename, one.lineno) for one in found])
    assert set(warned[0]) == set(warned[1]) and len(warned[0]) == len(warned[1]) > 4


def test_errors_say_where_they_were_as_without_patches():
    def wrong(x):
        return x + x.nothing

    said = []
    for _ in range(2):
        with pytest.raises(numba.TypingError) as caught, patched() if said else contextlib.nullcontext():
            numba.njit(wrong).compile((types.float64,))
        said.append(str(caught.value))
    assert said[0] == said[1] and "During: " in said[0] and "test_numba_patches.py" in said[0]


def test_passes_tell_of_themselves_only_to_others_who_listen(monkeypatch):
    """Not to what waits for interrupts, which is there whenever the main thread compiles."""
    told, broadcast = [], event.broadcast
    monkeypatch.setattr(event, "broadcast", lambda one: (told.append(one.kind), broadcast(one)))
    counts = []
    for listening in (contextlib.nullcontext(), event.install_recorder("numba:run_pass")):
        told.clear()
        with listening:
            _, outer = two_kernels()
            outer.dispatcher._cache.disable()
            outer(np.arange(3.0), 2.0)
        counts.append(told.count("numba:run_pass"))
    assert counts[0] == 0 and counts[1] > 100


WITHOUT = """
import sys
sys.path.insert(0, {folder!r})
import numba
{first}
from numba.core.postproc import PostProcessor
import numpy as np
from mobod.compiling import apart, compiled, generic, numba_patches
from test_numba_patches import two_kernels
inner, outer = two_kernels()
with numba_patches.quickly(outer):
    assert "mobod" not in PostProcessor.run.__code__.co_filename
assert outer(np.arange(3.0), 2.0) == {expected!r} and inner(np.arange(3.0), 2.0) == {inner!r}
assert {reason!r} in numba_patches.why_unpatched()
"""


def two_kernels():
    """One that calls the other, and a function that is inlined."""

    @generic
    def squared(x):
        return x * x

    @compiled
    def inner(a, x):
        total = 0.0
        for i in range(len(a)):
            total += squared(a[i] - x)
        return total

    @compiled
    def outer(a, x):
        return inner(a, squared(x)) + x

    return inner, outer


@pytest.mark.parametrize("without", ["another version", "no patches"])
def test_numba_without_patches_computes_the_same(without, tmp_path):
    inner, outer = two_kernels()
    expected = {"expected": outer(np.arange(3.0), 2.0), "inner": inner(np.arange(3.0), 2.0)}
    another = "numba.version_info = numba.version_info._replace(short=(0, 99))" if without == "another version" else ""
    reason = "none of those that have been looked at" if another else "MOBOD_NUMBA_PATCHES=0"
    script = WITHOUT.format(folder=str(Path(__file__).parent), first=another, reason=reason, **expected)
    settings = {"MOBOD_CACHE_DIR": str(tmp_path), **({} if another else {"MOBOD_NUMBA_PATCHES": "0"})}
    subprocess.run([sys.executable, "-c", script], check=True, env={**os.environ, **settings})


def test_frames_of_what_compiles_lie_in_one_chunk():
    """Where a chunk of Python's frames ends, each call maps memory: a thousand calls at each of two hundred depths."""
    resource = pytest.importorskip("resource")

    def large():
        pass

    large.__code__ = large.__code__.replace(co_stacksize=400)  # crosses an end of 16 KB at some of these depths

    def pages_at(depth):
        if depth:
            return pages_at(depth - 1)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(1000):
            large()
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    assert max(in_one_chunk(pages_at, (depth,)) for depth in range(200)) < 100
