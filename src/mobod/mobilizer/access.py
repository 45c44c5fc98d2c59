"""Access of `dispatch` and routines to the record: a mobilizer's coordinates, and results of a kind's functions."""

from typing import Any

from ..algebra.memory import load3, store3, store9
from ..algebra.scalar import load, store
from ..compiling import generic


@generic
def q1(model: Any, b: int) -> Any:
    """The only coordinate of body b, as a tuple."""
    return (load(model.q, model.first_q[b], 0),)


@generic
def vector3(rows: Any, i: int) -> Any:
    """Three numbers of a column, from row i on."""
    return load(rows, i, 0), load(rows, i + 1, 0), load(rows, i + 2, 0)


@generic
def vector4(rows: Any, i: int) -> Any:
    """Four numbers of a column, from row i on."""
    return load(rows, i, 0), load(rows, i + 1, 0), load(rows, i + 2, 0), load(rows, i + 3, 0)


@generic
def vector9(rows: Any, i: int) -> Any:
    """Nine numbers of a column, from row i on."""
    a, b, c = vector3(rows, i)
    d, e, f = vector3(rows, i + 3)
    g, h, k = vector3(rows, i + 6)
    return a, b, c, d, e, f, g, h, k


@generic
def _vector0(rows: Any, i: int) -> Any:
    return ()


@generic
def _vector1(rows: Any, i: int) -> Any:
    return (load(rows, i, 0),)


@generic
def _vector2(rows: Any, i: int) -> Any:
    return load(rows, i, 0), load(rows, i + 1, 0)


@generic
def _vector5(rows: Any, i: int) -> Any:
    return *vector3(rows, i), *_vector2(rows, i + 3)


@generic
def _vector6(rows: Any, i: int) -> Any:
    return *vector3(rows, i), *vector3(rows, i + 3)


@generic
def _vector7(rows: Any, i: int) -> Any:
    return *vector4(rows, i), *vector3(rows, i + 4)


@generic
def _vector8(rows: Any, i: int) -> Any:
    return *vector4(rows, i), *vector4(rows, i + 4)


#: Functions that load n numbers of a column as a tuple, by n.
VECTORS = (_vector0, _vector1, _vector2, vector3, vector4, _vector5, _vector6, _vector7, _vector8)


@generic
def put3(rows: Any, i: int, v: Any) -> None:
    """Three numbers into a column, from row i on."""
    store(rows, i, 0, v[0])
    store(rows, i + 1, 0, v[1])
    store(rows, i + 2, 0, v[2])


@generic
def put4(rows: Any, i: int, v: Any) -> None:
    """Four numbers into a column, from row i on."""
    put3(rows, i, v)
    store(rows, i + 3, 0, v[3])


@generic
def copy(source: Any, i: int, target: Any, k: int, n: int) -> None:
    """n numbers from one column to another: the product with N = 1."""
    for j in range(n):
        store(target, k + j, 0, load(source, i + j, 0))


@generic
def store_transform(model: Any, row: int, X_FM: Any) -> None:
    """X_FM as a rotation and a translation."""
    R_FM, p_FM = X_FM
    store9(model.R_FM, row, 0, R_FM)
    store3(model.p_FM, row, 0, p_FM)


@generic
def store_column(rows: Any, i: int, column: Any) -> None:
    """One hinge column, (angular, linear)."""
    store3(rows, i, 0, column[0])
    store3(rows, i, 3, column[1])


@generic
def load_column(rows: Any, i: int) -> Any:
    """One hinge column, (angular, linear)."""
    return load3(rows, i, 0), load3(rows, i, 3)


def _storing(n: int) -> Any:
    """The function that stores a tuple of n columns from row i on, unrolled, as compiled tuples need constant indices."""
    if n == 0:

        @generic
        def store_nothing(rows: Any, i: int, columns: Any) -> None:
            """Of no columns."""

        return store_nothing
    last, store_others = n - 1, _storing(n - 1)

    @generic
    def store_columns(rows: Any, i: int, columns: Any) -> None:
        store_others(rows, i, columns)
        store_column(rows, i + last, columns[last])

    return store_columns


def _loading(n: int) -> Any:
    """The function that loads n columns from row i on, as a tuple."""
    if n == 0:

        @generic
        def load_nothing(rows: Any, i: int) -> Any:
            """Of no columns."""
            return ()

        return load_nothing
    last, load_others = n - 1, _loading(n - 1)

    @generic
    def load_columns(rows: Any, i: int) -> Any:
        return *load_others(rows, i), load_column(rows, i + last)

    return load_columns


#: Functions that store n columns, by n.
STORE_COLUMNS = tuple(_storing(n) for n in range(7))
#: Functions that load n columns, by n.
LOAD_COLUMNS = tuple(_loading(n) for n in range(7))


# A kind's routine takes one integer: twice the row of X_FM, plus 1 for the velocity step.


@generic
def ask_positions(row: int) -> int:
    """Store X_FM, in *row*, and the hinge columns."""
    return 2 * row


@generic
def ask_velocities(row: int) -> int:
    """Store HDot_FM u; X_FM is in *row*."""
    return 2 * row + 1


@generic
def asks_positions(what: int) -> bool:
    """True if a routine is asked for positions."""
    return what % 2 == 0


@generic
def row_of(what: int) -> int:
    """The row of X_FM."""
    return what // 2
