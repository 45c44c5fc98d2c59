"""A record of many states on a GPU, one a thread: a third form of load and store, offset by the thread.

One block of pointers serves all threads. A state field of *n* resident threads is an array ``(rows, columns, n)``, so that
neighbouring threads read neighbouring numbers; parameters and integers are shared. Arithmetic is that of one state, float64.
Which thread it is, and how many there are, the code asks two functions that whoever links it defines: on a GPU they read
registers, on the processor, where tests run the same code, they read two variables.

Registered with Numba when code for a GPU is first made, never before.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import lower_getattr_generic

from ..algebra import record, scalar
from ..algebra.compiled_primitive import held_as, primitive
from ..algebra.compiled_record import Rows, never_changes
from ..algebra.lanes import I64
from . import kernels

#: Of the present thread: its number, and how many there are.
THREAD, THREADS = "mobod_thread", "mobod_threads"
#: Calls the routine of a number, in place of one at an address.
CALL = "mobod_call"
#: How many integers it hands on, of which each routine takes as many as it has.
MOST_INTEGERS = 6


class ThreadRows(types.Type):
    """A state field of a record of threads."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        super().__init__(name=f"ThreadRows({columns})")


class ThreadRecord(types.Type):
    """A record of threads, by the address of its block of pointers."""

    def __init__(self) -> None:
        super().__init__(name="ThreadRecord")


thread_record = ThreadRecord()


held_as(ThreadRows, ir.DoubleType().as_pointer())
held_as(ThreadRecord, I64.as_pointer())


def attach_threads(pointer: Any) -> Any:
    """The record of threads whose block is at an address."""
    return pointer


@primitive(attach_threads, types.voidptr, result=thread_record)
def _lower_attach(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.bitcast(args[0], I64.as_pointer())


@primitive(record.attach, ThreadRecord, result=thread_record)
def _lower_attached(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return args[0]


@infer_getattr
class _Fields(AttributeTemplate):
    key = ThreadRecord

    def generic_resolve(self, owner: Any, name: str) -> Any:  # type: ignore[override]
        if name in record.layout.counts:
            return types.int64
        field = record.layout.fields.get(name)
        if field is None:
            return None
        if field.what == "state":
            return ThreadRows(field.columns)
        return Rows("index" if field.what == "index" else "parameter", field.columns, types.float64)


def _special(builder: Any, name: str) -> Any:
    """Call one of the two functions that say where the code runs: the same all through a thread."""
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(I64, []), name)
    return builder.call(function, [])


def _place(builder: Any, typ: Any, field: Any, row: Any, column: Any) -> Any:
    element = builder.add(builder.mul(row, ir.Constant(I64, typ.columns)), column)
    number = builder.add(builder.mul(element, _special(builder, THREADS)), _special(builder, THREAD))
    return builder.gep(field, [number], inbounds=True)


@primitive(scalar.load, ThreadRows, types.Integer, types.Integer, result=types.float64)
def _lower_load(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.load(_place(builder, sig.args[0], *args))


@primitive(scalar.store, ThreadRows, types.Integer, types.Integer, types.Float, result=types.void)
def _lower_store(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    builder.store(args[3], _place(builder, sig.args[0], *args[:3]))
    return context.get_dummy_value()


@primitive(scalar.load_lane, ThreadRows, types.Integer, types.Integer, types.Integer, result=types.float64)
def _lower_load_lane(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.load(_place(builder, sig.args[0], *args[:3]))


@primitive(scalar.store_lane, ThreadRows, types.Integer, types.Integer, types.Integer, types.Float, result=types.void)
def _lower_store_lane(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    builder.store(args[4], _place(builder, sig.args[0], *args[:3]))
    return context.get_dummy_value()


@lower_getattr_generic(ThreadRecord)
def _lower_field(context: Any, builder: Any, typ: Any, value: Any, name: str) -> Any:
    word = never_changes(
        builder, builder.load(builder.gep(value, [ir.Constant(I64, record.layout.places[name])], inbounds=True))
    )
    if name in record.layout.counts:
        return word
    index = record.layout.fields[name].what == "index"
    return builder.inttoptr(word, I64.as_pointer() if index else ir.DoubleType().as_pointer())


@primitive(record.call_routine, types.Integer, ThreadRecord, types.VarArg(types.Integer), result=types.int64)
def _lower_call(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    number, block, *integers = args
    kind = ir.FunctionType(I64, [I64, I64.as_pointer(), *[I64] * MOST_INTEGERS])
    rest = [ir.Constant(I64, 0)] * (MOST_INTEGERS - len(integers))
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, CALL), [number, block, *integers, *rest])


def _define_view(function: Any, rows: Any) -> None:
    """*function* of an address, which gives *rows*."""

    @primitive(function, types.Integer, result=rows)
    def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        element = I64 if rows == Rows("index", 1, types.float64) else ir.DoubleType()
        return builder.inttoptr(args[0], element.as_pointer())


_define_view(kernels.integers_at, Rows("index", 1, types.float64))
_define_view(kernels.numbers_at, Rows("parameter", 1, types.float64))
_define_view(kernels.rows_at, ThreadRows(1))
