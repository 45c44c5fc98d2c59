"""y between the ends of a step: Hermite's polynomials. Source: Hairer, Norsett and Wanner 1993, II.6 (dense output)."""

from __future__ import annotations

from typing import Any

from ..algebra.record import attach
from ..algebra.scalar import load, one, store, where, zero
from ..compiling import compiled, generic
from ..mobilizer import q_rates
from ..tree.project import any_positive
from .record import RATE, RATE_PREVIOUS, Y_PREVIOUS, Y
from .rows import set_row


@generic
def hermite_basis(s: Any, h: Any) -> Any:
    """The basis of quintic Hermite interpolation over a step of size h, at the fraction s of it, and its rates.

    Each five: b0 what q gains in the step, a1 and b1 the first derivatives at its beginning and its end, a2 and b2 the second.
    """
    s2 = s * s
    s3 = s2 * s
    s4 = s2 * s2
    s5 = s3 * s2
    b0 = 10.0 * s3 - 15.0 * s4 + 6.0 * s5
    a1, b1 = h * (s - 6.0 * s3 + 8.0 * s4 - 3.0 * s5), h * (-4.0 * s3 + 7.0 * s4 - 3.0 * s5)
    a2 = h * h * (0.5 * s2 - 1.5 * s3 + 1.5 * s4 - 0.5 * s5)
    b2 = h * h * (0.5 * s3 - s4 + 0.5 * s5)
    b0_dot = (30.0 * s2 - 60.0 * s3 + 30.0 * s4) / h
    a1_dot, b1_dot = 1.0 - 18.0 * s2 + 32.0 * s3 - 15.0 * s4, -12.0 * s2 + 28.0 * s3 - 15.0 * s4
    a2_dot, b2_dot = h * (s - 4.5 * s2 + 6.0 * s3 - 2.5 * s4), h * (1.5 * s2 - 4.0 * s3 + 2.5 * s4)
    return (b0, a1, b1, a2, b2), (b0_dot, a1_dot, b1_dot, a2_dot, b2_dot)


@compiled
def interpolate(block: Any, work: Any, previous: Any, time: Any, at: Any) -> None:
    """y at time *at* within the last step, from *previous* to *time*; quaternions are for `project` to normalize.

    q is the quintic through both ends' q, q_dot and q_dot_dot, and u follows from its rate, so that the two are consistent
    and as accurate as the steps; z is the cubic through both ends' values and rates, as is u of kinds with an N of their own.
    Particles are as q and u. At the end of the step it is y itself, to the bit.
    """
    model = attach(block)
    ends = at >= time
    if not any_positive(where(ends, zero(at), one(at))):
        set_row(model, work, Y, at)
        return
    store(model.time, 0, 0, at)
    last, n = work.shape[0] - 1, model.particle_size
    h = time - previous
    s = (at - previous) / h
    (b0, a1, b1, a2, b2), (b0_dot, a1_dot, b1_dot, a2_dot, b2_dot) = hermite_basis(s, h)
    s2, r = s * s, 1.0 - s
    for i in range(model.nq):
        y0, y1 = load(work, Y_PREVIOUS, i), load(work, Y, i)
        d0, d1 = load(work, RATE_PREVIOUS, i), load(work, RATE, i)
        e0, e1 = load(work, last - 1, i), load(work, last, i)
        between = y0 + b0 * (y1 - y0) + a1 * d0 + b1 * d1 + a2 * e0 + b2 * e1
        store(model.q, i, 0, where(ends, y1, between))
        rate = b0_dot * (y1 - y0) + a1_dot * d0 + b1_dot * d1 + a2_dot * e0 + b2_dot * e1
        store(model.q_dot, i, 0, where(ends, d1, rate))
    first = model.ny - 2 * n  # particles are the end of y
    for i in range(model.nq, first):
        y0, y1 = load(work, Y_PREVIOUS, i), load(work, Y, i)
        between = r * r * (1.0 + 2.0 * s) * y0 + s2 * (1.0 + 2.0 * r) * y1
        between = between + h * s * r * (r * load(work, RATE_PREVIOUS, i) - s * load(work, RATE, i))
        store(model.y, i, 0, where(ends, y1, between))
    for i in range(first, first + n):  # a particle's location with its velocity: the quintic that q is, and its rate
        y0, y1, d0, d1 = load(work, Y_PREVIOUS, i), load(work, Y, i), load(work, RATE_PREVIOUS, i), load(work, RATE, i)
        e0, e1 = load(work, RATE_PREVIOUS, i + n), load(work, RATE, i + n)
        between = y0 + b0 * (y1 - y0) + a1 * d0 + b1 * d1 + a2 * e0 + b2 * e1
        store(model.y, i, 0, where(ends, y1, between))
        rate = b0_dot * (y1 - y0) + a1_dot * d0 + b1_dot * d1 + a2_dot * e0 + b2_dot * e1
        store(model.y, i + n, 0, where(ends, load(work, Y, i + n), rate))
    for body in range(1, model.nb):
        if model.rates[body] != q_rates.MATRIX and model.turning[body] == 3:  # of others N^-1 is of the step's end, not of here
            k = model.first_u[body]
            q_rates.n_inv_times(model, body, model.q_dot, model.first_q[body], model.u, k)
            for i in range(k, k + model.num_u[body]):
                store(model.u, i, 0, where(ends, load(work, Y, model.whole_nq + i), load(model.u, i, 0)))


@generic
def interpolate_linearly(model: Any, work: Any, previous: Any, time: Any, at: Any) -> None:
    """y at time *at* within the last step, from *previous* to *time*, on the line between its ends; at its end y itself."""
    ends = at >= time
    part = where(ends, one(at), (at - previous) / where(ends, one(at), time - previous))
    store(model.time, 0, 0, at)
    for i in range(model.ny):
        y = load(work, Y, i)
        store(model.y, i, 0, where(ends, y, (1.0 - part) * load(work, Y_PREVIOUS, i) + part * y))
