"""Arrays by the address of their block: by name, in Python and in kernels."""

from typing import Any, NamedTuple

import numpy as np

from mobod import compiling
from mobod.algebra import pointers
from mobod.compiling import compiled, fingerprint, generic


class Arrays(NamedTuple):
    counts: Any
    marks: Any
    rows: Any
    eights: Any


LAYOUT = pointers.layout_of(
    Arrays,
    {"counts": pointers.integers1, "marks": pointers.bytes2, "rows": pointers.numbers2, "eights": pointers.numbers3},
)


@generic
def all_of(block):
    return pointers.arrays_of(block, LAYOUT)


@compiled
def double_all(address):
    arrays = all_of(address)
    for i in range(arrays.rows.shape[0]):
        for j in range(arrays.rows.shape[1]):
            arrays.rows[i, j] *= 2.0
            for k in range(arrays.eights.shape[2]):
                arrays.eights[i, j, k] += arrays.counts[j] + arrays.marks[i, j]
    arrays.counts[0] = arrays.counts.shape[0]


class Crew(NamedTuple):
    arrays: Any
    sums: Any


@compiling.apart
def add_up(crew):
    for i in range(crew.arrays.rows.shape[0]):
        for j in range(crew.arrays.rows.shape[1]):
            crew.sums[i] += crew.arrays.rows[i, j] * crew.arrays.counts[j]


@compiled
def add_all(rows, counts, marks, eights, sums):
    crew = pointers.by_address(Crew(Arrays(counts, marks, rows, eights), sums))
    add_up(crew)
    crew.arrays.rows[0, 0] = 7.0
    add_up(crew)


def test_a_named_tuple_by_its_address_has_the_same_arrays(rng):
    made, sums = Arrays(np.arange(3), np.zeros((2, 3), np.uint8), rng.normal(size=(2, 3)), np.zeros((2, 3, 8))), np.zeros(2)
    expected, first = made.rows @ made.counts, made.rows[0, 0]
    add_all(made.rows, made.counts, made.marks, made.eights, sums)
    assert made.rows[0, 0] == 7.0 and first != 7.0
    assert np.allclose(sums, 2.0 * expected, rtol=1e-14)  # of column 0, which counts nothing, nothing has changed
    assert pointers.by_address(made) is made


class Counted(NamedTuple):
    rows: Any
    count: Any


@compiled
def put_count(rows, count):
    counted = pointers.by_address(Counted(rows, count))
    counted.rows[0, 0] = 1.0 * counted.count


def test_a_named_tuple_with_something_else_stays_what_it_is():
    rows = np.zeros((1, 1))
    put_count(rows, 3)
    assert rows[0, 0] == 3.0


def test_kernels_find_arrays_by_the_address_of_their_block(rng):
    made = Arrays(np.arange(3), rng.integers(0, 9, (2, 3)).astype(np.uint8), rng.normal(size=(2, 3)), np.zeros((2, 3, 8)))
    block = pointers.block_of(made)
    expected = 2.0 * made.rows
    double_all(block.ctypes.data)
    assert np.array_equal(made.rows, expected)
    assert np.array_equal(made.eights, np.broadcast_to((np.arange(3) + made.marks)[:, :, None], (2, 3, 8)))
    assert made.counts.tolist() == [3, 1, 2]
    for one, other in zip(pointers.arrays_of(block.ctypes.data, LAYOUT), made, strict=True):
        assert one.dtype == other.dtype and np.array_equal(one, other)


def test_kernels_are_compiled_anew_when_arrays_of_a_block_change_places(monkeypatch):
    monkeypatch.setattr(fingerprint, "_of_function", {})
    before = fingerprint.fingerprint(double_all.python)
    other = LAYOUT._replace(names=LAYOUT.names[::-1], readers=LAYOUT.readers[::-1])
    monkeypatch.setitem(globals(), "LAYOUT", other)
    fingerprint._of_function.clear()
    assert fingerprint.fingerprint(double_all.python) != before
