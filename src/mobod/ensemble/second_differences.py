"""Second derivatives as central differences of gradients, of many states at once: to about 1e-8 of the largest of both."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..compiling import compiled
from ..derivative.results import ForwardDynamicsDerivatives, InverseDynamicsDerivatives, begins_of, block_of

#: The step, for variables up to 1; and how many numbers, about, one call for many states may give: 16 MB.
STEP, _MOST = 1e-5, 1 << 21


def steps(x: Array, nq: int) -> Array:
    """The steps of columns of x = (q, ...), *nq* of which are q.

    Rounding, and the step in which all but q is about a polynomial, grow as variables do. An angle of many turns is no smoother
    than one of none: the fourth root of its size keeps both errors below 1e-8 to 1e4 radians.
    """
    h = np.maximum(1.0, np.abs(x))
    h[:, :nq] **= 0.25
    return STEP * h


def differences(gradient: Callable[[Array], Array], x: Array, h: Array, of: Any, numbers: int) -> Array:
    """Derivatives ``(m, n, ...)`` of rows *gradient*, of x ``(n, d)``, by m columns of it, by steps h ``(n, d)``.

    The function is asked for m n rows at a time, again and again the same nodes, or for fewer where each takes so many
    *numbers* that it would be too much.
    """
    n, of, found = len(x), np.asarray(of, int), []
    each = max(1, _MOST // (2 * n * numbers))
    for some in (of[first : first + each] for first in range(0, len(of), each)):
        moved, i = np.tile(x, (len(some), 2, 1, 1)), np.arange(len(some))
        moved[i, 0, :, some] += h.T[some]
        moved[i, 1, :, some] -= h.T[some]
        G = gradient(moved.reshape(-1, x.shape[1]))
        G = G.reshape(len(some), 2, n, *G.shape[1:])
        found.append((G[:, 0] - G[:, 1]) / (2.0 * h.T[some]).reshape(len(some), n, *[1] * (G.ndim - 3)))
    return np.concatenate(found) if found else np.zeros((0, n))


@compiled
def _weigh(block: Any, weights: Any, starts: Any, strides: Any, out: Any) -> None:
    """Weights times columns of matrices, those of a row of *block*: where a column starts, how far its numbers are apart."""
    n, k, rows = weights.shape
    for s in range(out.shape[0]):
        node = s % n
        for i in range(k):
            for j in range(len(starts)):
                total = 0.0
                for a in range(rows):
                    total += weights[node, i, a] * block[s, starts[j] + a * strides[j]]
                out[s, i, j] = total


def gradients(found: ForwardDynamicsDerivatives | InverseDynamicsDerivatives, weights: Array, columns: Any) -> Array:
    """Weights ``(n, k, nu)`` times *columns*, counted through all parts, of m n states' derivatives: ``(m n, k, columns)``."""
    widths = np.array([part.shape[2] if part.ndim == 3 else 1 for part in found])
    ends = np.cumsum(widths)
    part = np.searchsorted(ends, columns, side="right")
    starts = np.array(begins_of(tuple(one.shape[1:] for one in found)))[part] + columns - (ends - widths)[part]
    out = np.empty((len(found[0]), weights.shape[1], len(columns)))
    given = weights if weights.flags.writeable else weights.copy()  # read-only ones would be another type, compiled anew
    _weigh(block_of(found), np.ascontiguousarray(given), starts, widths[part], out)
    return out
