"""`angles` compiled: by whole vectors where a record holds one state."""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.extending import overload

from ..compiling.engine import OPTIONS
from . import angles, scalar
from .beside import put_beside, row_beside
from .compiled_record import Rows


def _of_one_state(field: Any) -> bool:
    return isinstance(field, Rows) and field.scalar == types.float64


@overload(angles.prepare, jit_options=OPTIONS, strict=False)
def _prepare(angles: Any, first: Any, sines: Any, cosines: Any) -> Any:
    if not _of_one_state(angles):
        return lambda angles, first, sines, cosines: None

    def implementation(angles: Any, first: Any, sines: Any, cosines: Any) -> None:
        s, c = scalar.sincos(row_beside(angles, first))
        put_beside(sines, first, s)
        put_beside(cosines, first, c)

    return implementation


@overload(angles.prepared, jit_options=OPTIONS, strict=False)
def _prepared(angles: Any, i: Any, sines: Any, cosines: Any) -> Any:
    if not _of_one_state(angles):
        return lambda angles, i, sines, cosines: scalar.sincos(scalar.load(angles, i, 0))
    return lambda angles, i, sines, cosines: (scalar.load(sines, i, 0), scalar.load(cosines, i, 0))
