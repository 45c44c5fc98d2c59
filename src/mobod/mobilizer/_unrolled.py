"""Unrolled functions of hinge columns and of matrices N, for given nq and nu: see `function.users.unrolled`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..function.users.unrolled import each, grid, unrolled

Function = Callable[..., Any]


def as_columns(n: int) -> Function:
    """``f(columns, o)``: each number less o, a zero, whose type it takes."""
    number = "columns[{i}][%d][%d] - o"
    w, v = (", ".join(number % (part, k) for k in range(3)) for part in (0, 1))
    return unrolled("columns, o", f"return {each(n, f'(({w}), ({v}))')}")


def as_rows(rows: int, columns: int) -> Function:
    """``f(matrix, o)``: likewise."""
    return unrolled("matrix, o", f"return {grid(rows, columns, 'matrix[{i}][{j}] - o')}")


def along_columns(n: int) -> Function:
    """``f(q, rows)``: q as Duals whose tangents are the columns of a matrix, given by rows."""
    return unrolled("q, rows", f"return {each(n, 'Dual(q[{i}], rows[{i}])')}")


def along_axes(n: int) -> Function:
    """``f(q)``: q as Duals each of which has a tangent of its own."""
    rows = [", ".join("i" if j == k else "o" for j in range(n)) for k in range(n)]
    duals = "".join(f"Dual(q[{k}], ({rows[k]},)), " for k in range(n))
    return unrolled("q", f"o, i = zero(q[0]), one(q[0])\n    return ({duals})")


def columns_of_transform(n: int) -> Function:
    """``f(R, p)``: hinge columns, of a transform of Duals with a tangent for each: S(w) = dR R^T, v = dp."""

    def entry(a: int, b: int) -> str:  # of S: row a of dR times row b of R
        return " + ".join(f"T{3 * a + k}[{{i}}] * R[{3 * b + k}].value" for k in range(3))

    w = ", ".join(entry(a, b) for a, b in ((2, 1), (0, 2), (1, 0)))
    v = ", ".join(f"V{k}[{{i}}]" for k in range(3))
    tangents = "; ".join([f"T{k} = R[{k}].tangents" for k in range(9)] + [f"V{k} = p[{k}].tangents" for k in range(3)])
    return unrolled("R, p", f"{tangents}\n    return {each(n, f'(({w}), ({v}))')}")


def rate_of_columns(n: int) -> Function:
    """``f(columns)``: the tangents of columns of Duals of one tangent."""
    w, v = (", ".join(f"columns[{{i}}][{part}][{k}].tangents[0]" for k in range(3)) for part in (0, 1))
    return unrolled("columns", f"return {each(n, f'(({w}), ({v}))')}")


def rate_of_rows(rows: int, columns: int) -> Function:
    """``f(matrix)``: the tangents of a matrix of Duals of one tangent."""
    return unrolled("matrix", f"return {grid(rows, columns, 'matrix[{i}][{j}].tangents[0]')}")


def beside_identity(rows: int, columns: int, others: int) -> Function:
    """``f(matrix)``: a matrix in the upper left of a larger one, with an identity of *others* rows in the lower right."""
    lines = [", ".join([*(f"matrix[{i}][{j}]" for j in range(columns)), *["o"] * others]) for i in range(rows)]
    lines += [", ".join(["o"] * columns + ["i" if k == j else "o" for k in range(others)]) for j in range(others)]
    whole = "".join(f"({line},), " for line in lines)
    return unrolled("matrix", f"o, i = zero(matrix[0][0]), one(matrix[0][0])\n    return ({whole})")
