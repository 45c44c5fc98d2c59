"""Numbers of force elements: rows of the field `force_numbers`, from the element's first on."""

from typing import Any

from ..algebra.scalar import load
from ..compiling import generic


@generic
def number(model: Any, i: int) -> Any:
    """One number, of the record's scalar."""
    return load(model.force_numbers, i, 0)


@generic
def numbers3(model: Any, i: int) -> Any:
    """Three numbers."""
    return load(model.force_numbers, i, 0), load(model.force_numbers, i + 1, 0), load(model.force_numbers, i + 2, 0)


@generic
def numbers9(model: Any, i: int) -> Any:
    """Nine numbers."""
    a, b, c = numbers3(model, i)
    d, e, f = numbers3(model, i + 3)
    g, h, k = numbers3(model, i + 6)
    return a, b, c, d, e, f, g, h, k
