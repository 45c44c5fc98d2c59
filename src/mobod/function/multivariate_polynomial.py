"""MultivariatePolynomial: powers of several arguments, up to a total order.

f = sum of c x0^e0 x1^e1 ... over all e0 + e1 + ... <= order, with the exponents of the last argument rising first.

It is summed argument by argument: f = sum over e0 of x0^e0 f1, where f1 is a polynomial of the others that depends on e0. With
p = x0^e0 and its derivatives p', p'', and g1, H1 the gradient and second derivatives of f1,

    df/dx0 = sum p' f1     df/dxk = sum p g1k     rates: sum p'' v0 f1 + p' (g1 . v),  sum p' v0 g1k + p (H1 v)k
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..compiling import Routine
from ..errors import ModelError
from .base import FunctionKind, coefficients as read, count
from .routines import of_arguments
from .users.unrolled import each, unrolled

#: The most arguments, as in OpenSim.
MOST = 6


# ---------------------------------------------------------------------------------------------- in kernels


def _sum_over(k: int, n: int, with_rates: bool) -> list[str]:
    """The lines that sum over the exponents of argument k, and of those behind it: fk, and by each of these gk_l and rk_l.

    Over those of the last argument by Horner's scheme.
    """
    after = k + 1
    if after == n:
        lines = [f"f{k}, g{k}_{k}, h = o, o, o", f"for e{k} in range(left{k} + 1):"]
        lines += [f"    h = h * x[{k}] + g{k}_{k}"] if with_rates else []
        lines += [
            f"    g{k}_{k} = g{k}_{k} * x[{k}] + f{k}",
            f"    f{k} = f{k} * x[{k}] + load(numbers, at + left{k} - e{k}, 0)",
            f"at = at + left{k} + 1",
        ]
        return [*lines, f"r{k}_{k} = 2.0 * h * rates[{k}]"] if with_rates else lines
    start = [f"f{k}, p{k}, d{k}, b{k} = o, one(o), o, o", *(f"g{k}_{l}, r{k}_{l} = o, o" for l in range(k, n))]
    inner = [
        f"left{after} = left{k} - e{k}",
        *_sum_over(after, n, with_rates),
        f"f{k} = f{k} + p{k} * f{after}",
        f"g{k}_{k} = g{k}_{k} + d{k} * f{after}",
        *(f"g{k}_{l} = g{k}_{l} + p{k} * g{after}_{l}" for l in range(after, n)),
    ]
    if with_rates:
        inner += [
            f"rate = {' + '.join(f'g{after}_{l} * rates[{l}]' for l in range(after, n))}",
            f"slope = d{k} * rates[{k}]",
            f"r{k}_{k} = r{k}_{k} + b{k} * rates[{k}] * f{after} + d{k} * rate",
            *(f"r{k}_{l} = r{k}_{l} + slope * g{after}_{l} + p{k} * r{after}_{l}" for l in range(after, n)),
            f"b{k} = b{k} * x[{k}] + 2.0 * d{k}",
        ]
    inner += [f"d{k} = d{k} * x[{k}] + p{k}", f"p{k} = p{k} * x[{k}]"]
    return [*start, f"for e{k} in range(left{k} + 1):", *("    " + line for line in inner)]


def _jet(n: int, with_rates: bool) -> Callable[..., Any]:
    """The jet of n arguments, see `of_arguments`, or the brief one. Integers: the order. Numbers: the coefficients."""
    lines = ["o, at, left0 = zero(x[0]), n, integers[i]", *_sum_over(0, n, with_rates)]
    found = [each(n, "g0_{i}"), each(n, "r0_{i}")] if with_rates else [each(n, "g0_{i}")]
    made = unrolled(f"integers, i, numbers, n, x{', rates' * with_rates}", *lines, f"return f0, {', '.join(found)}")
    made.__module__, made.__qualname__ = __name__, f"{'jet' if with_rates else 'brief'}_of_{n}"
    return made


_routines: dict[int, Routine] = {}


# ---------------------------------------------------------------------------------------------- for users


class MultivariatePolynomial(FunctionKind):
    """A polynomial of one to six arguments, up to a total order: a path's length by the coordinates that it crosses.

    Parameters
    ----------
    coefficients : array_like
        Of all products of powers whose exponents add up to the order or less, those of the last argument rising first: of two
        arguments and order 2 those of 1, y, y^2, x, x y, x^2. OpenSim has the same order.
    dimension : int
        The number of arguments.
    order : int
        The largest sum of exponents.

    Raises
    ------
    ModelError
        If there are not as many coefficients as products of powers.
    ValueError
        If the dimension is not from 1 to 6, or the order below zero.

    See Also
    --------
    powers : the exponents of each term.

    Examples
    --------
    >>> import mobod as mb
    >>> f = mb.function.MultivariatePolynomial([1, 2, 0, 0, 3, 0], 2, 2)  # 1 + 2 y + 3 x y
    >>> f.calc_value([2.0, 5.0]), f.calc_derivative([0], [2.0, 5.0]), f.calc_derivative([0, 1], [2.0, 5.0])
    (41.0, 15.0, 3.0)
    """

    _names = ("coefficients", "dimension", "order")
    _coefficients: Array
    _dimension: int
    _order: int

    def __init__(self, coefficients: ArrayLike, dimension: int, order: int) -> None:
        n = count(dimension, "dimension of a MultivariatePolynomial", 1)
        if n > MOST:
            raise ValueError(f"dimension of a MultivariatePolynomial is from 1 to {MOST}; it is {n}")
        highest = count(order, "order of a MultivariatePolynomial", 0)
        given, terms = read(coefficients, "the coefficients of a MultivariatePolynomial"), math.comb(n + highest, n)
        if len(given) != terms:
            raise ModelError(
                f"a MultivariatePolynomial of dimension {n} and order {highest} has {terms} coefficients, not {len(given)}"
            )
        self._keep(coefficients=given, dimension=n, order=highest)

    @staticmethod
    def powers(dimension: int, order: int) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The exponents of each term ``(terms, dimension)``, in the order of the coefficients."""
        found = [p for p in np.ndindex(*[order + 1] * dimension) if sum(p) <= order]
        return np.array(found, np.int64).reshape(-1, dimension)

    @property
    def routine(self) -> Routine:  # type: ignore[override]
        """Its routine: one of each number of arguments."""
        n = self._dimension
        if n not in _routines:
            _routines[n] = of_arguments(n, _jet(n, True), _jet(n, False))
        return _routines[n]

    def get_argument_size(self) -> int:
        """Its dimension."""
        return self._dimension

    def pack(self) -> tuple[Sequence[int], Sequence[float]]:
        return [self._order], self._coefficients.tolist()

    def _derivative(self, components: tuple[int, ...], x: tuple[Any, ...]) -> Any:
        times = [components.count(k) for k in range(self._dimension)]
        total = 0.0 * x[0]
        for c, powers in zip(self._coefficients.tolist(), self.powers(self._dimension, self._order).tolist(), strict=True):
            term = c
            for xk, p, t in zip(x, powers, times, strict=True):
                if p < t:
                    break
                term = term * (math.perm(p, t) * xk ** (p - t))
            else:
                total = total + term
        return total
