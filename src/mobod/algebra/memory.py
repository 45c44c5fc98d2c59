"""Tuples of numbers from a field and back."""

from typing import Any

from ..compiling import generic
from .scalar import load, load_tangents, store, store_tangents


@generic
def load3(rows: Any, row: int, column: int) -> Any:
    """Three numbers of a row, from *column* on."""
    return load(rows, row, column), load(rows, row, column + 1), load(rows, row, column + 2)


@generic
def store3(rows: Any, row: int, column: int, v: Any) -> None:
    """Three numbers into a row, from *column* on."""
    store(rows, row, column, v[0])
    store(rows, row, column + 1, v[1])
    store(rows, row, column + 2, v[2])


@generic
def load_tangents3(rows: Any, row: int, column: int) -> Any:
    """Tangents of three numbers of a record of Duals, as lanes."""
    return load_tangents(rows, row, column), load_tangents(rows, row, column + 1), load_tangents(rows, row, column + 2)


@generic
def store_tangents3(rows: Any, row: int, column: int, v: Any) -> None:
    """Tangents of three numbers of a record of Duals."""
    store_tangents(rows, row, column, v[0])
    store_tangents(rows, row, column + 1, v[1])
    store_tangents(rows, row, column + 2, v[2])


@generic
def load6(rows: Any, row: int, column: int) -> Any:
    """Six numbers of a row, from *column* on."""
    a, b, c = load3(rows, row, column)
    d, e, f = load3(rows, row, column + 3)
    return a, b, c, d, e, f


@generic
def store6(rows: Any, row: int, column: int, v: Any) -> None:
    """Six numbers into a row, from *column* on."""
    store3(rows, row, column, (v[0], v[1], v[2]))
    store3(rows, row, column + 3, (v[3], v[4], v[5]))


@generic
def load9(rows: Any, row: int, column: int) -> Any:
    """Nine numbers of a row, from *column* on."""
    a, b, c = load3(rows, row, column)
    d, e, f = load3(rows, row, column + 3)
    g, h, i = load3(rows, row, column + 6)
    return a, b, c, d, e, f, g, h, i


@generic
def store9(rows: Any, row: int, column: int, v: Any) -> None:
    """Nine numbers into a row, from *column* on."""
    store3(rows, row, column, (v[0], v[1], v[2]))
    store3(rows, row, column + 3, (v[3], v[4], v[5]))
    store3(rows, row, column + 6, (v[6], v[7], v[8]))


@generic
def load_spatial(rows: Any, row: int) -> Any:
    """A spatial vector, angular and linear: the six numbers of a row."""
    return load3(rows, row, 0), load3(rows, row, 3)


@generic
def store_spatial(rows: Any, row: int, angular: Any, linear: Any) -> None:
    """A spatial vector into the six numbers of a row."""
    store3(rows, row, 0, angular)
    store3(rows, row, 3, linear)


@generic
def add_spatial(rows: Any, row: int, angular: Any, linear: Any) -> None:
    """Add a spatial vector to the six numbers of a row."""
    w, v = load_spatial(rows, row)
    store3(rows, row, 0, (w[0] + angular[0], w[1] + angular[1], w[2] + angular[2]))
    store3(rows, row, 3, (v[0] + linear[0], v[1] + linear[1], v[2] + linear[2]))
