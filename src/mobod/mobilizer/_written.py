"""Functions of tuples whose lengths are a mobilizer's: written out as text, number by number, and compiled as such.

Compiled tuples have a fixed length, and want constant indices. Made of functions, by recursion, the same costs Numba half a
minute of its own time: a matrix of six by six would be some fifty functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._jit import generic
from ..algebra.dual import Dual
from ..algebra.scalar import load, one, store, zero

Function = Callable[..., Any]


def each(n: int, entry: str, first: int = 0) -> str:
    """The text of a tuple: *entry* for each i from *first* to below *n*, with ``{i}`` filled in."""
    return "(" + "".join(entry.replace("{i}", str(i)) + ", " for i in range(first, n)) + ")"


def grid(rows: int, columns: int, entry: str) -> str:
    """The text of a tuple of rows, with ``{i}`` and ``{j}`` filled in."""
    return each(rows, "(" + "".join(entry.replace("{j}", str(j)) + ", " for j in range(columns)) + ")")


def written(arguments: str, result: str, **names: Any) -> Function:
    """The generic function ``lambda arguments: result``, both given as text; *names* are what the text refers to."""
    namespace = {"Dual": Dual, "load": load, "one": one, "store": store, "zero": zero, **names}
    exec(compile(f"def written_out({arguments}):\n    {result}\n", __file__, "exec"), namespace)
    return generic(namespace["written_out"])


def as_columns(n: int) -> Function:
    """``f(columns, o)``: each number less o, a zero of the type that it then has."""
    number = "columns[{i}][%d][%d] - o"
    w, v = (", ".join(number % (part, k) for k in range(3)) for part in (0, 1))
    return written("columns, o", f"return {each(n, f'(({w}), ({v}))')}")


def as_rows(rows: int, columns: int) -> Function:
    """``f(matrix, o)``: likewise."""
    return written("matrix, o", f"return {grid(rows, columns, 'matrix[{i}][{j}] - o')}")


def times(rows: int, columns: int) -> Function:
    """``f(matrix, v)``: the product with a vector."""
    return written("matrix, v", f"return {each(rows, ' + '.join(f'matrix[{{i}}][{j}] * v[{j}]' for j in range(columns)))}")


def moving(n: int) -> Function:
    """``f(q, q_dot)``: q as Duals of one tangent."""
    return written("q, q_dot", f"return {each(n, 'Dual(q[{i}], (q_dot[{i}],))')}")


def along_columns(n: int) -> Function:
    """``f(q, rows)``: q as Duals whose tangents are the columns of a matrix, given by rows."""
    return written("q, rows", f"return {each(n, 'Dual(q[{i}], rows[{i}])')}")


def along_axes(n: int) -> Function:
    """``f(q)``: q as Duals each of which has a tangent of its own."""
    rows = [", ".join("i" if j == k else "o" for j in range(n)) for k in range(n)]
    duals = "".join(f"Dual(q[{k}], ({rows[k]},)), " for k in range(n))
    return written("q", f"o, i = zero(q[0]), one(q[0])\n    return ({duals})")


def columns_of_transform(n: int) -> Function:
    """``f(R, p)``: hinge columns, of a transform of Duals with a tangent for each: S(w) = dR R^T, v = dp."""

    def entry(a: int, b: int) -> str:  # of S: row a of dR times row b of R
        return " + ".join(f"T{3 * a + k}[{{i}}] * R[{3 * b + k}].value" for k in range(3))

    w = ", ".join(entry(a, b) for a, b in ((2, 1), (0, 2), (1, 0)))
    v = ", ".join(f"V{k}[{{i}}]" for k in range(3))
    tangents = "; ".join([f"T{k} = R[{k}].tangents" for k in range(9)] + [f"V{k} = p[{k}].tangents" for k in range(3)])
    return written("R, p", f"{tangents}\n    return {each(n, f'(({w}), ({v}))')}")


def rate_of_columns(n: int) -> Function:
    """``f(columns)``: the tangents of columns of Duals of one tangent."""
    w, v = (", ".join(f"columns[{{i}}][{part}][{k}].tangents[0]" for k in range(3)) for part in (0, 1))
    return written("columns", f"return {each(n, f'(({w}), ({v}))')}")


def rate_of_rows(rows: int, columns: int) -> Function:
    """``f(matrix)``: the tangents of a matrix of Duals of one tangent."""
    return written("matrix", f"return {grid(rows, columns, 'matrix[{i}][{j}].tangents[0]')}")


def beside_identity(rows: int, columns: int, others: int) -> Function:
    """``f(matrix)``: a matrix in the upper left of a larger one, with an identity of *others* rows in the lower right."""
    lines = [", ".join([*(f"matrix[{i}][{j}]" for j in range(columns)), *["o"] * others]) for i in range(rows)]
    lines += [", ".join(["o"] * columns + ["i" if k == j else "o" for k in range(others)]) for j in range(others)]
    whole = "".join(f"({line},), " for line in lines)
    return written("matrix", f"o, i = zero(matrix[0][0]), one(matrix[0][0])\n    return ({whole})")


def transposed(rows: int, columns: int) -> Function:
    """``f(matrix)``: the transpose of a matrix of so many rows and columns."""
    return written("matrix", f"return {grid(columns, rows, 'matrix[{j}][{i}]')}")


def numbers(n: int) -> Function:
    """``f(field, at)``: n numbers of a column of a field, as a tuple."""
    return written("field, at", f"return {each(n, 'load(field, at + {i}, 0)')}")


def store_rows(rows: int, columns: int) -> Function:
    """``f(field, at, matrix)``: a matrix into a column of a field, row by row."""
    places = [(i, j) for i in range(rows) for j in range(columns)]
    lines = [f"store(field, at + {i * columns + j}, 0, matrix[{i}][{j}])" for i, j in places]
    return written("field, at, matrix", "\n    ".join(lines))
