"""`angles` compiled: by whole vectors where a record holds one state."""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.extending import intrinsic, overload

from ..compiling.engine import OPTIONS
from . import angles, scalar
from .compiled_record import Rows
from .lanes import VECTOR, lanes


def _eight(builder: Any, rows: Any, first: Any) -> Any:
    return builder.bitcast(builder.gep(rows, [first], inbounds=True), VECTOR.as_pointer())


def _load(typing_context: Any, rows: Any, first: Any) -> Any:
    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(_eight(builder, *args), align=8)

    return lanes(rows, first), lower


def _store(typing_context: Any, rows: Any, first: Any, value: Any) -> Any:
    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store(args[2], _eight(builder, *args[:2]), align=8)
        return context.get_dummy_value()

    return types.void(rows, first, value), lower


#: Eight rows of a field of one column, as lanes, and back.
_load_eight: Any = intrinsic(_load)
_store_eight: Any = intrinsic(_store)


def _of_one_state(field: Any) -> bool:
    return isinstance(field, Rows) and field.scalar == types.float64


@overload(angles.prepare, jit_options=OPTIONS, strict=False)
def _prepare(angles: Any, first: Any, sines: Any, cosines: Any) -> Any:
    if not _of_one_state(angles):
        return lambda angles, first, sines, cosines: None

    def implementation(angles: Any, first: Any, sines: Any, cosines: Any) -> None:
        s, c = scalar.sincos(_load_eight(angles, first))
        _store_eight(sines, first, s)
        _store_eight(cosines, first, c)

    return implementation


@overload(angles.prepared, jit_options=OPTIONS, strict=False)
def _prepared(angles: Any, i: Any, sines: Any, cosines: Any) -> Any:
    if not _of_one_state(angles):
        return lambda angles, i, sines, cosines: scalar.sincos(scalar.load(angles, i, 0))
    return lambda angles, i, sines, cosines: (scalar.load(sines, i, 0), scalar.load(cosines, i, 0))
