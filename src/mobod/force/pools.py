"""Numbers of force elements: rows of the field `force_numbers`, from the element's first on."""

from typing import Any

from ..algebra.scalar import load
from ..compiling import generic
from ..mobilizer.access import vector3, vector9


@generic
def number(model: Any, i: int) -> Any:
    """One number, of the record's scalar."""
    return load(model.force_numbers, i, 0)


@generic
def numbers3(model: Any, i: int) -> Any:
    """Three numbers."""
    return vector3(model.force_numbers, i)


@generic
def numbers9(model: Any, i: int) -> Any:
    """Nine numbers."""
    return vector9(model.force_numbers, i)
