"""Parts that several kinds of muscle share, of any scalar: where numbers are, pennation of fixed width, activation.

Integers: 1 where activation is a variable z, else 0; 1 where the tendon stretches, else 0; a choice of the kind's own; the
number of a function of time that is added to the excitation, or -1; then the path's.

Numbers: h and the shortest fiber; the parameters of every muscle; the kind's own; the path's ratio and numbers.

h = lopt sin alpha0       the fiber's width, which stays       cos phi = sqrt(1 - (h / l)^2)
a' = (e - a) / tau        tau = tau_a (1/2 + 3/2 a) where e > a, else tau_d / (1/2 + 3/2 a)

a is kept from the least activation to 1, e is not. Sources: Zajac 1989, Crit. Rev. Biomed. Eng. 17, 359 (fixed width); Thelen
2003, J. Biomech. Eng. 125, 70 (activation).
"""

from __future__ import annotations

from typing import Any

from ..algebra.scalar import load, one, sqrt, where, zero
from ..compiling import generic
from ..force.pools import number
from ..function import routines

#: Integers before the path's.
ACTIVATES, STRETCHES, CHOICE, DRIVEN, HEAD = 0, 1, 2, 3, 4
#: Numbers of every muscle: two that follow from others, then parameters.
HEIGHT, SHORTEST, EXCITATION, STRENGTH, FIBER, SLACK, PENNATION, SPEED, RISE, FALL, LEAST, OWN = range(12)


@generic
def larger(a: Any, b: Any) -> Any:
    """The larger of two numbers."""
    return where(a > b, a, b)


@generic
def kept(x: Any, low: Any, high: Any) -> Any:
    """x, from low to high."""
    return where(x < low, low, where(x > high, high, x))


@generic
def excitation(model: Any, i: int, x: int) -> Any:
    """e: the state's number, and what a function of time adds."""
    e = number(model, x + EXCITATION) + zero(load(model.time, 0, 0))
    f = model.force_integers[i + DRIVEN]
    if f >= 0:
        e = e + routines.value(model, f, model.time, 0)
    return e


@generic
def activation(model: Any, i: int, x: int, z: int) -> Any:
    """a: the variable, or the excitation itself, from the least to 1."""
    a = zero(number(model, x + EXCITATION)) + zero(load(model.time, 0, 0))
    if model.force_integers[i + ACTIVATES] != 0:
        a = load(model.z, z, 0) + a
    else:
        a = a + excitation(model, i, x)
    return kept(a, number(model, x + LEAST) + zero(a), one(a))


@generic
def activation_rate(model: Any, i: int, x: int, z: int) -> Any:
    """a'."""
    e = excitation(model, i, x)
    a = load(model.z, z, 0) + zero(e)
    a = kept(a, number(model, x + LEAST) + zero(a), one(a))
    scale, rises = 0.5 + 1.5 * a, e > a
    tau = where(rises, number(model, x + RISE) * scale, number(model, x + FALL) + zero(a))
    return (e - a) * where(rises, one(a), scale) / tau


@generic
def cosine(model: Any, x: int, fiber: Any) -> Any:
    """cos phi of a fiber's length, a tenth at the least."""
    s = number(model, x + HEIGHT) / fiber
    square = (1.0 - s) * (1.0 + s)
    return sqrt(where(square > 0.01, square, 0.01 + zero(square)))


@generic
def fiber_behind(model: Any, x: int, along: Any) -> Any:
    """The length of a fiber that reaches *along* the tendon's line; the shortest at the least."""
    h = number(model, x + HEIGHT)
    i = one(along)
    ahead = where(along > 0.0, along, zero(along))
    square = ahead * ahead + h * h
    l = sqrt(where(square > 0.0, square, i))
    return larger(where(square > 0.0, l, zero(l)), number(model, x + SHORTEST) + zero(l))
