"""Sets of impulses, the projection onto them, and its derivative.

    FREE   any number: a bilateral constraint                    HALF   gamma >= 0: contact without friction
    CONE   |(gamma_x, gamma_y)| <= mu gamma_n: Coulomb friction  DISK   |gamma| <= radius: friction of a known normal force

A block of rows has a kind and a coefficient, mu or the radius. With y = (n, t) outside a cone and its polar cone,

    P = c (1, mu t / |t|), c = (n + mu |t|) / (1 + mu^2)     D = s s^T / (1 + mu^2) + (mu c / |t|) (0, 1 - t t^T / |t|^2)

s = (1, mu t / |t|). Source: Castro, Permenter and Han 2022, An unconstrained convex formulation of compliant contact.
"""

from __future__ import annotations

from typing import Any

from ..compiling import generic

FREE, HALF, CONE, DISK = range(4)


@generic
def project(kind: int, coefficient: float, first: int, end: int, y: Any, out: Any, D: Any) -> bool:
    """P(y) of the rows of one block into *out*, and the derivative into *D* (rows, 3); whether that is not zero."""
    n = end - first
    for i in range(first, end):
        out[i] = 0.0
        for j in range(3):
            D[i, j] = 0.0
    if kind == FREE or kind == HALF:
        if kind == FREE or y[first] > 0.0:
            out[first], D[first, 0] = y[first], 1.0
            return True
        return False
    if kind == CONE:
        normal, a, b = y[first], y[first + 1], y[first + 2]
        size = (a * a + b * b) ** 0.5
        if coefficient * size <= -normal or (size == 0.0 and normal <= 0.0):
            return False
        if size <= coefficient * normal:
            for i in range(3):
                out[first + i] = y[first + i]
                D[first + i, i] = 1.0
            return True
        mu, scale = coefficient, 1.0 / (1.0 + coefficient * coefficient)
        c, ta, tb = scale * (normal + mu * size), a / size, b / size
        out[first], out[first + 1], out[first + 2] = c, mu * c * ta, mu * c * tb
        across = mu * c / size
        D[first, 0], D[first, 1], D[first, 2] = scale, scale * mu * ta, scale * mu * tb
        D[first + 1, 0], D[first + 2, 0] = scale * mu * ta, scale * mu * tb
        D[first + 1, 1] = scale * mu * mu * ta * ta + across * tb * tb
        D[first + 2, 2] = scale * mu * mu * tb * tb + across * ta * ta
        D[first + 1, 2] = D[first + 2, 1] = (scale * mu * mu - across) * ta * tb
        return True
    square = 0.0
    for i in range(first, end):
        square = square + y[i] * y[i]
    size = square**0.5
    if size <= coefficient:
        for i in range(n):
            out[first + i] = y[first + i]
            D[first + i, i] = 1.0
        return True
    shrunk = coefficient / size
    for i in range(n):
        out[first + i] = shrunk * y[first + i]
        for j in range(n):
            D[first + i, j] = -shrunk * y[first + i] * y[first + j] / square
        D[first + i, i] = D[first + i, i] + shrunk
    return shrunk > 0.0 and n > 1


@generic
def slip(kind: int, first: int, v: Any) -> float:
    """|v_t| of a cone's rows; 0 of other kinds."""
    if kind == CONE:
        return (v[first + 1] * v[first + 1] + v[first + 2] * v[first + 2]) ** 0.5
    return 0.0
