"""Numbers of one state side by side: compiled and in Python, a vector does with each what it does with it alone."""

import numpy as np
from numpy.testing import assert_allclose
from three_forms import in_every_form

from mobod.algebra.beside import address_of, lanes_at, lanes_scratch, taken, three_beside
from mobod.algebra.scalar import is_float
from mobod.compiling import generic


@generic
def squared_beside(a, b, c):
    """Squares of three numbers, at once where they are of one state."""
    x = three_beside(a, b, c)
    found = a * a, b * b, c * c
    if is_float(a):
        y = x * x
        found = taken(y, 0, a), taken(y, 1, a), taken(y, 2, a)
    return found


def test_three_numbers_beside_each_other_are_what_each_is_alone():
    rows = np.random.default_rng(4).normal(size=(3, 8))
    for name, found in in_every_form(squared_beside, (0, 0, 0), rows):
        assert_allclose(found, rows**2, rtol=1e-15, err_msg=name)


def test_a_field_of_lanes_is_found_by_its_address():
    rows = lanes_scratch(5)
    rows[:] = np.arange(40.0).reshape(5, 1, 8)
    found = lanes_at(address_of(rows), 5)
    found[4, 0, 7] = -1.0
    assert (found == rows).all()
