"""Extensions of Numba: scalar types and their primitives, and records with the layout of their fields."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

from ..compiling import engine, routines
from . import record


def _add_to_numba() -> engine.Extension:
    from numba.core import types

    # of what lies beside, the counter, corners, eights, masks and objects the fingerprint has the names: few kernels depend on
    # them
    from . import (  # noqa: F401
        compiled_angles,
        compiled_beside,
        compiled_box_corners,
        compiled_counter,
        compiled_dual,
        compiled_eights,
        compiled_elementary,
        compiled_masks,
        compiled_object_access,
        compiled_pointers,
        compiled_primitive,
        compiled_record,
        lanes,
    )

    modules = compiled_angles, compiled_dual, compiled_elementary, compiled_pointers, compiled_primitive, compiled_record, lanes
    return engine.Extension(modules, {"state": types.float64, "lanes": lanes.lanes, "duals": compiled_dual.dual8}, _layout)


def _layout() -> str:
    """All that there is to the fields of a record, but what is said of them."""
    return _layout_of(record.layout.counts, tuple(record.layout.fields.values()))


@functools.cache
def _layout_of(counts: tuple[str, ...], fields: tuple[record.Field[Any], ...]) -> str:
    shapes = [{k: v for k, v in dataclasses.asdict(field).items() if k != "doc"} for field in fields]
    return repr((counts, shapes, record.LANES, record.TANGENTS))


engine.extend(_add_to_numba)
for _scalar in ("state", "lanes", "duals", "varied", "seeded", "twice"):
    routines.attachments[_scalar] = getattr(record, f"attach_{_scalar}")
