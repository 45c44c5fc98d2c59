"""Derivatives of the motion of bodies along displacements and with speeds, from the columns that the rigid sweep has found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from .sweep import FORCE

if TYPE_CHECKING:
    from ..state.state import State

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

    def of(self, b: int) -> tuple[Array, Array, Array]:
        """Derivatives of body b's velocity by displacements, and of its acceleration by these and by speeds ``(6, nu)``."""
        carried, nu = self._ways[b], len(self._columns)
        S, a, by_q, by_u = (self._columns[carried, 6 * k : 6 * k + 6] for k in range(4))
        r, (w, v), (aw, av) = self._r[b], self._V[b].reshape(2, 3), self._A[b].reshape(2, 3)
        v0 = v - np.cross(w, r)
        a0 = av - np.cross(w, v) - np.cross(aw, r) - self._pull
        R, W, V0 = _crossed(r), _crossed(w), _crossed(v0)
        turn, shift = S[:, :3], S[:, 3:]
        moved = shift + turn @ R
        dw = turn @ W + a[:, :3]
        dv = turn @ V0 + shift @ W + a[:, 3:] + dw @ R - moved @ W
        found = np.zeros((3, 6, nu))
        found[0][:, carried] = np.hstack([dw, dv]).T
        of_turn = turn @ _crossed(aw), turn @ _crossed(a0) + shift @ _crossed(aw) - moved @ _crossed(aw)
        for k, faster, still, changed, of_body in (
            (1, a, by_q, (dw, dv), of_turn),
            (2, S, by_u, (turn, moved), (0.0 * turn, 0.0 * turn)),
        ):
            daw = of_body[0] + still[:, :3] + faster[:, :3] @ W
            da = of_body[1] + still[:, 3:] + faster[:, 3:] @ W + faster[:, :3] @ V0 + daw @ R
            da += changed[0] @ _crossed(v) - changed[1] @ W
            found[k][:, carried] = np.hstack([daw, da]).T
        return found[0], found[1], found[2]


def _crossed(w: Array) -> Array:
    """The matrix by which a row becomes its cross product with w."""
    x, y, z = w
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def displaced(start: Sequence[Array], changes: Array) -> tuple[Array, Array, Array, Array]:
    """Rows of bodies, or of one, turned about its origin, shifted, and with other velocities, by twelve numbers a row."""
    R, p, com, V = start
    half = 0.5 * changes[:, :3]
    a = np.zeros((len(half), 3, 3))  # the matrix of a cross product
    a[:, 2, 1], a[:, 0, 2], a[:, 1, 0] = half.T
    a -= np.swapaxes(a, 1, 2)
    turn = _ONE + 2.0 / (1.0 + (half * half).sum(axis=1)[:, None, None]) * (a + a @ a)  # up to the third power of the angle
    turned, centers = turn @ R.reshape(-1, 3, 3), turn @ com.reshape(-1, 3, 1)
    return turned.reshape(-1, 9), p + changes[:, 3:6], centers[:, :, 0], V + changes[:, 6:]
