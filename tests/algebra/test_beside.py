"""Numbers of one state side by side: compiled and in Python, a vector does with each what it does with it alone."""

import numpy as np
from numpy.testing import assert_allclose
from three_forms import in_every_form

from mobod.algebra.beside import taken, three_beside
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
