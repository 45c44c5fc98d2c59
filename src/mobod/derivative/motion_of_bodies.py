"""Derivatives of the motion of bodies along displacements and with speeds, from the columns that the rigid sweep has found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..state.state import State
from .sweep import FORCE

_ONE = np.eye(3)


class MotionOfBodies:
    """Derivatives of bodies' velocities and accelerations, as `columns.move` has them of one body along eight columns.

    Parameters
    ----------
    state : State
        At ACCELERATION.
    A : (nb, 6) array
        Accelerations of bodies.
    bodies, columns : array
        Of the rigid sweep.
    ways : sequence of array
        Of each body the mobilities that move it.
    """

    def __init__(self, state: State, A: Array, bodies: Array, columns: Array, ways: Sequence[Any]) -> None:
        self._V, self._A, self._ways = state.record.V_GB, A, ways
        self._r, self._pull, self._columns = bodies[:, :3].copy(), bodies[0, FORCE : FORCE + 3].copy(), columns.copy()

    def velocity(self, b: int) -> Array:
        """Derivatives of body b's velocity by displacements ``(6, nu)``: w x turn + a, and so on, of all columns at once."""
        w, v = self._V[b].reshape(2, 3)
        of_columns = np.zeros((12, 6))
        of_columns[:3, :3], of_columns[:3, 3:] = _crossed(w), _crossed(v)
        of_columns[6:] = np.eye(6)
        of_columns[6:9, 3:] = _crossed(self._r[b])
        found = np.zeros((6, len(self._columns)))
        found[:, self._ways[b]] = (self._columns[self._ways[b], :12] @ of_columns).T
        return found

    def acceleration(self, b: int) -> tuple[Array, Array]:
        """Derivatives of body b's acceleration by displacements and by speeds ``(6, nu)``."""
        (dw, dv), turn, shift, moved, (R, W, V0) = self._moved(b)
        a, by_q, by_u = (self._columns[self._ways[b], 6 * k : 6 * k + 6] for k in (1, 2, 3))
        (w, v), (aw, av) = self._V[b].reshape(2, 3), self._A[b].reshape(2, 3)
        V, AW = _crossed(v), _crossed(aw)
        a0 = av - w @ V - aw @ R - self._pull
        of_turn = turn @ AW, turn @ _crossed(a0) + shift @ AW - moved @ AW
        still = 0.0 * turn, 0.0 * turn
        S = np.hstack([turn, shift])
        found = []
        for faster, bias, changed, of_body in ((a, by_q, (dw, dv), of_turn), (S, by_u, (turn, moved), still)):
            daw = of_body[0] + bias[:, :3] + faster[:, :3] @ W
            da = of_body[1] + bias[:, 3:] + faster[:, 3:] @ W + faster[:, :3] @ V0 + daw @ R
            found.append(self._spread(b, (daw, da + changed[0] @ V - changed[1] @ W)))
        return found[0], found[1]

    def _moved(self, b: int) -> Any:
        """Along each column that carries body b: its velocity; turn and shift; how its origin moves; and cross products."""
        carried = self._ways[b]
        S, a = self._columns[carried, :6], self._columns[carried, 6:12]
        r, (w, v) = self._r[b], self._V[b].reshape(2, 3)
        R, W = _crossed(r), _crossed(w)
        V0 = _crossed(v - w @ R)
        turn, shift = S[:, :3], S[:, 3:]
        moved = shift + turn @ R
        dw = turn @ W + a[:, :3]
        dv = turn @ V0 + shift @ W + a[:, 3:] + dw @ R - moved @ W
        return (dw, dv), turn, shift, moved, (R, W, V0)

    def _spread(self, b: int, rows: tuple[Array, Array]) -> Array:
        found = np.zeros((6, len(self._columns)))
        found[:3, self._ways[b]], found[3:, self._ways[b]] = rows[0].T, rows[1].T
        return found


def _crossed(w: Array) -> Array:
    """The matrix by which a row becomes its cross product with w."""
    x, y, z = w
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def displaced(start: Sequence[Array], changes: Array, turn: Array) -> tuple[Array, Array, Array, Array]:
    """Rows of bodies, or of one, turned about its origin, shifted, and with other velocities, by twelve numbers a row.

    *turn* are the `turns` of these.
    """
    R, p, com, V = start
    turned, centers = turn @ R.reshape(-1, 3, 3), turn @ com.reshape(-1, 3, 1)
    return turned.reshape(-1, 9), p + changes[:, 3:6], centers[:, :, 0], V + changes[:, 6:]


def turns(changes: Array) -> Array:
    """Rotations about the first three of each row's numbers ``(n, 3, 3)``."""
    half = 0.5 * changes[:, :3]
    a = np.zeros((len(half), 3, 3))  # the matrix of a cross product
    a[:, 2, 1], a[:, 0, 2], a[:, 1, 0] = half.T
    a -= np.swapaxes(a, 1, 2)
    # up to the third power of the angle
    found: Array = _ONE + 2.0 / (1.0 + (half * half).sum(axis=1)[:, None, None]) * (a + a @ a)
    return found
