"""`pointers` compiled: arrays whose words are read where a block is."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import lower_constant
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import lower_getattr_generic, models, register_model, typeof_impl
from numba.np.arrayobj import populate_array

from . import pointers
from .compiled_primitive import held_as, primitive
from .compiled_record import never_changes

_I64, _F64 = ir.IntType(64), ir.DoubleType()
_ARRAYS: dict[Any, Any] = {
    pointers.integers1: types.Array(types.int64, 1, "C"),
    pointers.integers2: types.Array(types.int64, 2, "C"),
    pointers.bytes1: types.Array(types.uint8, 1, "C"),
    pointers.bytes2: types.Array(types.uint8, 2, "C"),
    pointers.numbers1: types.Array(types.float64, 1, "C"),
    pointers.numbers2: types.Array(types.float64, 2, "C"),
    pointers.numbers3: types.Array(types.float64, 3, "C"),
}


class LayoutType(types.Dummy):
    """A `pointers.Layout`."""

    def __init__(self, layout: pointers.Layout) -> None:
        self.layout = layout
        readers = [one.__name__ for one in layout.readers]
        super().__init__(name=f"Layout({layout.kind.__name__}, {_digest((*layout.names, *readers))})")


class BlockType(types.Type):
    """The arrays of a block, by its address, and blocks that lie within: their names and types, in this order."""

    def __init__(self, name: str, fields: Sequence[str], kinds: Sequence[Any]) -> None:
        self.kinds = tuple(kinds)
        self.places = {field: place for place, field in enumerate(fields)}
        super().__init__(name=f"Arrays({name}, {_digest((*fields, *kinds))})")


def _digest(parts: tuple[Any, ...]) -> str:
    return hashlib.blake2b(repr(parts).encode(), digest_size=8).hexdigest()


held_as(BlockType, _I64.as_pointer())
register_model(LayoutType)(models.OpaqueModel)


@typeof_impl.register(pointers.Layout)
def _typeof_layout(layout: pointers.Layout, _: Any) -> LayoutType:
    return LayoutType(layout)


@lower_constant(LayoutType)
def _lower_layout(context: Any, builder: Any, typ: Any, _: Any) -> Any:
    return context.get_dummy_value()


def _block_of(layout: pointers.Layout) -> BlockType:
    return BlockType(layout.kind.__name__, layout.names, [_ARRAYS[read] for read in layout.readers])


@primitive(pointers.arrays_of, types.Integer, LayoutType, result=lambda block, one: _block_of(one.layout))
def _lower_arrays_at(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.inttoptr(args[0], _I64.as_pointer())


@infer_getattr
class _ArraysOfBlock(AttributeTemplate):
    key = BlockType

    def generic_resolve(self, owner: Any, name: str) -> Any:  # type: ignore[override]
        place = owner.places.get(name)
        return None if place is None else owner.kinds[place]


@lower_getattr_generic(BlockType)
def _lower_array_of_block(context: Any, builder: Any, typ: Any, words: Any, name: str) -> Any:
    place = typ.places[name]
    kind, first = typ.kinds[place], ir.Constant(_I64, pointers.WORDS * place)
    if isinstance(kind, BlockType):
        address = never_changes(builder, builder.load(builder.gep(words, [first], inbounds=True)))
        return builder.inttoptr(address, words.type)
    return _array(context, builder, kind, words, first, never_changes)


def _by_address(kind: Any) -> Any:
    """The type of a named tuple of arrays, and of such tuples, by its address; of one that holds something else its own."""
    kinds = [_by_address(one) if isinstance(one, types.BaseNamedTuple) else one for one in kind]
    for one in kinds:
        plain = isinstance(one, types.Array) and one.layout == "C" and one.ndim < pointers.WORDS
        if not (plain or isinstance(one, BlockType)):
            return kind
    return BlockType(kind.instance_class.__name__, kind.fields, kinds)


@primitive(pointers.by_address, types.BaseNamedTuple, result=_by_address)
def _lower_by_address(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    given, made = sig.args[0], sig.return_type
    return args[0] if made == given else _put(context, builder, made, given, args[0])


def _put(context: Any, builder: Any, block: BlockType, of: Any, arrays: Any) -> Any:
    """Write the words of a block on the stack."""
    words = cgutils.alloca_once(builder, _I64, size=pointers.WORDS * len(block.kinds))
    for place, (kind, one) in enumerate(zip(block.kinds, of, strict=True)):
        value = builder.extract_value(arrays, place)
        if isinstance(kind, BlockType):
            found = [_put(context, builder, kind, one, value)]
        else:
            array = context.make_array(one)(context, builder, value)
            found = [array.data, *cgutils.unpack_tuple(builder, array.shape)]
        for k, word in enumerate(found):
            at = builder.gep(words, [ir.Constant(_I64, pointers.WORDS * place + k)], inbounds=True)
            builder.store(word if word.type == _I64 else builder.ptrtoint(word, _I64), at)
    # what is read behind this never changes, and LLVM is not to know that it is what has been written before
    hide = ir.FunctionType(words.type, [words.type])
    return builder.asm(hide, "", "=r,0,~{memory}", [words], True)


def _array(context: Any, builder: Any, made: Any, words: Any, first: Any, mark: Any) -> Any:
    """The array of a type that the words of a block from the first on say."""

    def word(k: int) -> Any:
        at = builder.add(first, ir.Constant(_I64, k))
        return mark(builder, builder.load(builder.gep(words, [at], inbounds=True)))

    array, size = context.make_array(made)(context, builder), context.get_abi_sizeof(context.get_data_type(made.dtype))
    shape, step = [word(1 + d) for d in range(made.ndim)], ir.Constant(_I64, size)
    strides: list[Any] = []
    for length in reversed(shape):
        strides.insert(0, step)
        step = builder.mul(step, length)
    data = builder.inttoptr(word(0), array.data.type)
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=ir.Constant(_I64, size), meminfo=None)
    return array._getvalue()  # noqa: SLF001


def _define(function: Any, made: Any) -> None:
    @primitive(function, types.Integer, types.Integer, result=made)
    def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        words = builder.inttoptr(args[0], _I64.as_pointer())
        first = builder.mul(args[1], ir.Constant(_I64, pointers.WORDS))
        return _array(context, builder, made, words, first, lambda builder, load: load)


for _function, _made in _ARRAYS.items():
    _define(_function, _made)


def _place(builder: Any, address: Any, place: Any) -> Any:
    return builder.gep(builder.inttoptr(address, _F64.as_pointer()), [place])


@primitive(pointers.number_at, types.Integer, types.Integer, result=types.float64)
def _lower_number_at(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.load(_place(builder, *args))


@primitive(pointers.put_number_at, types.Integer, types.Integer, types.Float, result=types.none)
def _lower_put_number_at(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    builder.store(args[2], _place(builder, args[0], args[1]))
    return context.get_dummy_value()
