"""Unrolled functions of tuples of given lengths, generated as source.

Compiled tuples have a fixed length, and want constant indices. Made of functions, by recursion, the same costs Numba half a
minute of its own time: a matrix of six by six would be some fifty functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...algebra.dual import Dual
from ...algebra.scalar import load, one, store, zero
from ...compiling import generic

Function = Callable[..., Any]


def each(n: int, entry: str, first: int = 0) -> str:
    """The text of a tuple: *entry* for each i from *first* to below *n*, with ``{i}`` filled in."""
    return listed([entry.replace("{i}", str(i)) for i in range(first, n)])


def listed(entries: Sequence[str]) -> str:
    """The text of a tuple of these."""
    return "(" + "".join(f"{entry}, " for entry in entries) + ")"


def grid(rows: int, columns: int, entry: str) -> str:
    """The text of a tuple of rows, with ``{i}`` and ``{j}`` filled in."""
    return each(rows, each(columns, entry.replace("{i}", "{row}").replace("{j}", "{i}")).replace("{row}", "{i}"))


def unrolled(arguments: str, *lines: str, **names: Any) -> Function:
    """The generic function ``def unrolled(arguments)`` of these lines; *names* are what their text refers to."""
    namespace = {"Dual": Dual, "load": load, "one": one, "store": store, "zero": zero, **names}
    body = "".join(f"    {line}\n" for line in lines or ["pass"])
    exec(compile(f"def unrolled({arguments}):\n{body}", __file__, "exec"), namespace)
    return generic(namespace["unrolled"])


def times(rows: int, columns: int) -> Function:
    """``f(matrix, v)``: the product with a vector."""
    return unrolled("matrix, v", f"return {each(rows, ' + '.join(f'matrix[{{i}}][{j}] * v[{j}]' for j in range(columns)))}")


def moving(n: int) -> Function:
    """``f(q, q_dot)``: q as Duals of one tangent."""
    return unrolled("q, q_dot", f"return {each(n, 'Dual(q[{i}], (q_dot[{i}],))')}")


def numbers(n: int) -> Function:
    """``f(field, at)``: n numbers of a column of a field, as a tuple."""
    return unrolled("field, at", f"return {each(n, 'load(field, at + {i}, 0)')}")


def store_rows(rows: int, columns: int) -> Function:
    """``f(field, at, matrix)``: a matrix into a column of a field, row by row."""
    places = [(i, j) for i in range(rows) for j in range(columns)]
    lines = [f"store(field, at + {i * columns + j}, 0, matrix[{i}][{j}])" for i, j in places]
    return unrolled("field, at, matrix", *lines)


def transposed(rows: int, columns: int) -> Function:
    """``f(matrix)``: the transpose of a matrix of the given numbers of rows and columns."""
    return unrolled("matrix", f"return {grid(columns, rows, 'matrix[{j}][{i}]')}")


def keep(shape: int | tuple[int, ...], entry: str = "{y}") -> Function:
    """``f(field, at, y, o)``: store what *entry* makes of each number y, less o, a zero of the type that it has then.

    *shape* is () for one number, or the length of a tuple of them. An *entry* reads ``{y}``, which is so converted, and
    ``{k}``.
    """
    ys = ["(y - o)"] if shape == () else [f"(y[{k}] - o)" for k in range(shape if isinstance(shape, int) else shape[0])]
    lines = [f"store(field, at + {k}, 0, {entry.format(y=y, k=k)})" for k, y in enumerate(ys)]
    return unrolled("field, at, y, o", *lines)
