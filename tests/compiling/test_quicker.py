"""Numba's answers, found faster, are Numba's answers."""

import itertools
import operator

import numba
import pytest
from numba.core import ir, types
from numba.core.registry import cpu_target

from mobod.compiling.quicker import quicken_numba

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
