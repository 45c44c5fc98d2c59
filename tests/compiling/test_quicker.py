"""Numba's answers, found faster, are Numba's answers."""

import contextlib
import itertools
import math
import operator
import re
import subprocess
import sys

import numba
import pytest
from numba.core import ir, types
from numba.core.registry import cpu_target

from mobod.compiling import engine
from mobod.compiling.quicker import KNOWN_VERSIONS, quicken_numba, quickly

NUMBERS = (types.float64, types.int64, types.boolean, types.float32, types.intp, types.literal(3))


@pytest.mark.parametrize(
    "function", [operator.add, operator.mul, operator.truediv, operator.pow, operator.lt, operator.iadd, bool]
)
def test_operators_of_numbers_have_the_types_that_numba_says(function):
    quicken_numba()
    context = cpu_target.typing_context
    context.refresh()
    of = context.resolve_value_type(function)
    for arguments in itertools.product(NUMBERS, repeat=1 if function is bool else 2):
        expected = of.get_call_type.__wrapped__(of, context, arguments, {})
        for _ in range(2):
            assert of.get_call_type(context, arguments, {}) == expected
            assert of.get_impl_key(expected) is not None


def test_operators_that_numbers_do_not_have_are_refused_again_and_again():
    quicken_numba()
    of = cpu_target.typing_context.resolve_value_type(operator.lshift)
    for _ in range(2):
        with pytest.raises(numba.TypingError, match="lshift"):
            of.get_call_type(cpu_target.typing_context, (types.float64, types.float64), {})


def test_the_variables_of_an_instruction_are_those_that_numba_lists():
    quicken_numba()

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

    def listed(instruction):
        """As Numba's own methods do."""
        return ir.Inst._rec_list_vars.__wrapped__(instruction, instruction.__dict__)

    for instruction in instructions:
        assert instruction.list_vars() == listed(instruction), instruction
    assert sum(len(instruction.list_vars()) for instruction in instructions) > 60


def functions_of(dispatcher):
    """The optimized code of each function in a dispatcher's library, without names, which are numbered, and addresses."""
    (text,) = dispatcher.inspect_llvm().values()
    names = re.findall(r"^define .*?(@[\w.$\"]+)\(", text, re.M)
    bodies = re.findall(r"^define .*?^}", text, re.M | re.S)
    return {
        re.sub(r"v\d+", "", name)[:60]: re.sub(r"@[\w.$\"]+|![\w.]+|\b\d{9,}\b|v\d+(?=B)", "", body)
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


def test_code_is_the_same_as_numba_makes_it():
    quicken_numba()
    points, made = (types.Array(types.float64, 1, "C"), types.float64), []
    for context in (contextlib.nullcontext, quickly):
        kernel = a_kernel()
        with context(kernel) if context is quickly else context():
            kernel.compile(points)
        made.append(functions_of(kernel))
    as_numba, quick = made
    dropped = set(as_numba) - set(quick)
    assert dropped == {name for name in as_numba if name.startswith("@cfunc.")}  # which nobody calls
    assert len(quick) >= 2 and {name: as_numba[name] for name in quick} == quick


def test_a_function_that_numba_compiles_for_others_keeps_all_that_it_has():
    quicken_numba()
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
    """If it is not: look whether the functions that `quicker` replaces have changed, and move the last known version."""
    assert numba.version_info.short <= KNOWN_VERSIONS[1]


def test_another_version_of_numba_is_left_as_it_is():
    script = """
import numba
numba.version_info = numba.version_info._replace(short=(0, 99))
from numba.core.postproc import PostProcessor
run = PostProcessor.run
from mobod.compiling.quicker import quicken_numba
quicken_numba()
assert PostProcessor.run is run
"""
    subprocess.run([sys.executable, "-c", script], check=True)
