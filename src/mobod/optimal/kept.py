"""Constraints of positions and velocities, kept at the ends of all intervals.

Rates keep accelerations alone, so that a scheme drifts off the manifold by its error. Here, at the end of each interval,

    q_err(q, t) = 0    u_err(q, u, t) = 0    c = (N P^T g, G^T g')    L x = h W F, where x at the end is x - c

with new unknowns g, g', as many as equations: the interval of the scheme ends at x - c, and c leads from there back to the
manifold, straight across it. c is as small as the error of the scheme, whose order stays. Rows that follow from others, and
mobilities that locks and motions prescribe, are left out. Source: Posa, Kuindersma, Tedrake 2016; Bordalba and others 2022.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..ensemble.second_differences import STEP, differences
from ..linear import manifold
from ..state.state import State
from ..value.stage import Stage
from .blocks import Block, named_after
from .straight import onto, straight

if TYPE_CHECKING:
    from .part import Part

#: Parts of the longest row below which rows follow from others; how far from a state that is looked at, for it may be singular.
_RANK, _AWAY = 1e-6, 0.05
#: How far equations may be missed that nothing sought can change: all of which they are made is given at an end.
_GIVEN = 1e-6
#: Steps of differences of differences, whose rounding errors are divided by two steps.
_TWICE = 3e-4


def independent(rows: Array) -> Any:
    """The rows that no others of them give."""
    from scipy.linalg import qr

    if not rows.size:
        return np.zeros(0, int)
    _, R, order = qr(rows.T, mode="economic", pivoting=True)
    return np.sort(order[: int(np.sum(np.abs(np.diag(R)) > _RANK * max(float(np.abs(R[0, 0])), 1e-30)))])


def _met(state: State) -> tuple[State, State]:
    """A state near this one where constraints of positions are met, and one a little beside these."""
    other, q = state.copy(), np.array(state.q_view)
    beside = manifold.moved(state, _AWAY * np.sin(1.0 + np.arange(state.tree.nu)))
    for start in (beside.q_view, q):
        if onto(other, state.time, start, np.ones(state.tree.nu, bool)) is not None:
            break
    else:
        other = state.copy()
    for one in (other, beside):
        state.system.realize(one, Stage.VELOCITY)
    return other, beside


def is_singular_beside(state: State) -> bool:
    """True if position equations follow from each other where they are met, and nowhere else: dynamics are singular there."""
    matter, met = state.system.get_matter_subsystem(), _met(state)
    mp, of_q = matter.num_equations(state)[0], np.setdiff1d(np.arange(state.tree.nu), manifold.prescribed(state)[0])
    there, beside = (len(independent(matter.calc_g(one)[:mp, of_q])) for one in met)
    return there < beside


def find_rows(state: State) -> tuple[Any, Any]:
    """Errors of positions, and of velocities, that have to be kept, found near the state where constraints are met."""
    matter, (other, _) = state.system.get_matter_subsystem(), _met(state)
    mp, mv, _ = matter.num_equations(state)
    of_q, of_u = (np.setdiff1d(np.arange(state.tree.nu), one) for one in manifold.prescribed(state))
    G = matter.calc_g(other)[: mp + mv]
    of_positions = independent(G[:mp, of_q])
    G = G[:, of_u]
    kept = G[of_positions]
    rest = G[mp:] - G[mp:] @ np.linalg.pinv(kept) @ kept
    return of_positions, np.concatenate([of_positions[independent(kept)], mp + independent(rest)]).astype(int)


class Kept(Block):
    """Errors of positions and velocities that are zero at the ends of all intervals, and the corrections of defects there."""

    def __init__(self, part: Part) -> None:
        self._part, d = part, part.phase.dynamics
        self._ends, state = part.mesh.nodes[:, -1], part.phase.state
        self._positions, self._velocities = part.phase.rows_kept
        self._mp, self._mg = len(self._positions), len(self._velocities)
        self._free = np.ones((2, d.nu))
        for free, known in zip(self._free, manifold.prescribed(state), strict=True):
            free[known] = 0.0
        #: L of the last point: by how much an interval's defects, over -1, change with its correction.
        self.shares = part.mesh.scheme.L[:, -1]
        self.high = np.zeros(len(self._ends) * (self._mp + self._mg))
        self.high.reshape(len(self._ends), -1)[-1, self._given()] = _GIVEN
        self.low = -self.high

    def _given(self) -> Any:
        """Equations at the end, or beside others, with nothing that is sought."""
        part, ny = self._part, self._part.phase.ny
        low, high = (one[: len(part.mesh) * ny].reshape(-1, ny)[-1] for one in part.bounds)
        sought = np.concatenate([low < high, [bool(part.time_columns)], np.ones(len(part.parameters), bool)])
        for one in part.orientations:
            sought[one.of_q] &= one.node == 0
        time = np.array([part.phase.state.time + part.phase.longest])
        slopes = self._slopes(straight(part)[-1:], time, np.zeros(len(part.parameters)))[1][0]
        return np.setdiff1d(np.arange(len(slopes)), independent(slopes[:, sought]))

    # ------------------------------------------------------------------------------------------ at nodes

    def _table(self, y: Array, t: Array, p: Array) -> Array:
        """Position errors, velocity errors at rest, P, G and N, of n nodes in a row each ``(n, ...)``."""
        d, n = self._part.phase.dynamics, len(y)
        nq, nu = d.nq, d.nu
        many = np.tile(y, (1 + nu, 1, 1))
        many[:, :, nq : nq + nu] = np.vstack([np.zeros(nu), np.eye(nu)])[:, None]
        of_q, of_u = d.missed(many.reshape((1 + nu) * n, -1), np.tile(t, 1 + nu), p)
        of_u = of_u.reshape(1 + nu, n, -1)
        G = np.moveaxis(of_u[1:] - of_u[0], 0, 2)
        parts = of_q[:n, self._positions], of_u[0][:, self._velocities], G[:, self._positions], G[:, self._velocities]
        return np.hstack([one.reshape(n, -1) for one in (*parts, d.matrices_n(y))])

    def _split(self, table: Array) -> list[Array]:
        """The parts of tables ``(..., k)``, or of their derivatives."""
        d, mp, mg = self._part.phase.dynamics, self._mp, self._mg
        shapes = (mp,), (mg,), (mp, d.nu), (mg, d.nu), (d.nq, d.nu)
        places = np.cumsum([np.prod(one) for one in shapes])[:-1].astype(int)
        return [one.reshape(*table.shape[:-1], *shape) for one, shape in zip(np.split(table, places, -1), shapes, strict=True)]

    def _errors(self, parts: list[Array], u: Array) -> Array:
        """Errors ``(..., n, r)``."""
        return np.concatenate([parts[0], parts[1] + np.einsum("...rk,...k->...r", parts[3], u)], axis=-1)

    def _directions(self, P: Array, G: Array, N: Array) -> Array:
        """Of the corrections ``(..., nx, r)``: N P^T and G^T."""
        d, mp = self._part.phase.dynamics, self._mp
        found = np.zeros((*N.shape[:-2], d.nx, mp + self._mg))
        found[..., : d.nq, :mp] = N @ np.swapaxes(P * self._free[0], -1, -2)
        found[..., d.nq : d.nq + d.nu, mp:] = np.swapaxes(G * self._free[1], -1, -2)
        return found

    def _slopes(self, y: Array, t: Array, p: Array, step: float = STEP) -> tuple[Array, Array, Array]:
        """Directions ``(n, nx, r)``; derivatives by (y, t, p) of errors ``(n, r, size)``, and of these ``(n, nx, r, size)``."""
        d, ny, num_p = self._part.phase.dynamics, y.shape[1], len(p)
        table, x = self._table(y, t, p), np.column_stack([y, t])
        by = np.zeros((ny + 1 + num_p, *table.shape))
        of = [*range(d.nq), *([ny] if self._part.time_columns else [])]
        h = step * np.maximum(1.0, np.abs(x))
        by[of] = differences(lambda x: self._table(x[:, :ny], x[:, ny], p), x, h, of, table.shape[1] * (1 + d.nu))
        for k in range(num_p):
            by[ny + 1 + k] = d.by_parameter(lambda other: self._table(y, t, other), p, k)
        parts = self._split(table)
        if d.nq > d.nu or not np.array_equal(parts[4][0], np.eye(d.nu)):  # quaternions keep their length
            by[: d.nq] = np.einsum("int,nij->jnt", by[: d.nq], d.within(y))
        slopes, u = self._split(by), y[:, d.nq : d.nq + d.nu]
        of_errors = np.moveaxis(self._errors(slopes, u), 0, 2)
        of_errors[:, self._mp :, d.nq : d.nq + d.nu] = parts[3]
        P, G, N = parts[2:]
        of_directions = self._directions(slopes[2], slopes[3], np.broadcast_to(N, slopes[4].shape))
        of_directions[..., : d.nq, : self._mp] += slopes[4] @ np.swapaxes(P * self._free[0], -1, -2)
        return self._directions(P, G, N), of_errors, np.moveaxis(of_directions, 0, 3)

    @property
    def _here(self) -> tuple[Array, Array, Array]:
        """Those of the ends of intervals."""
        part, ends = self._part, self._ends
        return part.once("kept", lambda: self._slopes(part.y[ends], part.t[ends], part.p))

    @property
    def correction(self) -> Array:
        """c ``(k, nx)``."""
        part, ends = self._part, self._ends
        parts = part.once("table", lambda: self._split(self._table(part.y[ends], part.t[ends], part.p)))
        return np.einsum("nar,nr->na", self._directions(*parts[2:]), part.corrections)

    @property
    def slopes_of_correction(self) -> Array:
        """Derivatives of c by (y, t, p) ``(k, nx, size)``."""
        return np.einsum("nars,nr->nas", self._here[2], self._part.corrections)

    # ------------------------------------------------------------------------------------------ equations

    def value(self) -> Array:
        part, d = self._part, self._part.phase.dynamics
        u = part.y[self._ends, d.nq : d.nq + d.nu]
        parts = part.once("table", lambda: self._split(self._table(part.y[self._ends], part.t[self._ends], part.p)))
        return self._errors(parts, u).ravel()

    def places(self) -> list[tuple[Any, Any]]:
        return [self._blocks(self._part.local_columns()[self._ends])]

    def _blocks(self, columns: Any) -> tuple[Any, Any]:
        rows: Any = np.arange(len(self.low)).reshape(len(self._ends), -1)
        shape = (*rows.shape, columns.shape[1])
        return np.broadcast_to(rows[:, :, None], shape), np.broadcast_to(columns[:, None, :], shape)

    def derivatives(self) -> list[Array]:
        return [self._here[1] @ self._part.by_local(self._ends)]

    def name_of(self, row: int) -> str:
        i, which = divmod(row, self._mp + self._mg)
        what = "position" if which < self._mp else "velocity"
        part = self._part
        return f"a {what} constraint of {part.phase.system.name!r} at t = {part.t[self._ends[i]]:.4g}{named_after(part)}"

    # ------------------------------------------------------------------------------------------ in defects

    def places_in_defects(self, rows: Any) -> list[tuple[Any, Any]]:
        """The pattern of corrections' derivatives by coordinates and by what is sought, in *rows* ``(k, s, nx)`` of defects."""
        part, d = self._part, self._part.phase.dynamics
        found = []
        for some, columns in self._of_defects(part.columns[self._ends][:, : d.nq], part.columns_of_corrections):
            those = rows[:, :, some, None]
            shape = np.broadcast_shapes(those.shape, columns[:, None, None, :].shape)
            found.append((np.broadcast_to(those, shape), np.broadcast_to(columns[:, None, None, :], shape)))
        return found

    def _of_defects(self, of_q: Any, of_r: Any) -> list[tuple[slice, Any]]:
        """The columns that corrections of state variables depend on."""
        d, mp = self._part.phase.dynamics, self._mp
        of_u = slice(d.nq, d.nq + d.nu)
        return [(slice(0, of_u.stop), of_q), (slice(0, d.nq), of_r[..., :mp]), (of_u, of_r[..., mp:])]

    def derivatives_in_defects(self) -> list[Array]:
        """These, in the order of their places."""
        d, directions = self._part.phase.dynamics, self._here[0]
        parts = self._of_defects(self.slopes_of_correction[..., : d.nq], directions)
        return [-self.shares[:, None, None] * one[:, None, some] for some, one in parts]

    # ------------------------------------------------------------------------------------------ second derivatives

    def second_by_corrections(self, weights: Array) -> Array:
        """Second derivatives of c times *weights* ``(k, nx)`` by (y, t, p) and by what is sought ``(k, size, r)``."""
        return np.einsum("na,nars->nsr", weights, self._here[2])

    def second_at_ends(self, weights: Array, multipliers: Array) -> Array:
        """Those of *multipliers* times errors and *weights* times c by (y, t, p) ``(k, size, size)``."""
        part, d, ny = self._part, self._part.phase.dynamics, self._part.phase.ny
        y, t, r = part.y[self._ends], part.t[self._ends], self._mp + self._mg
        multipliers, n, size = multipliers.reshape(-1, r), len(self._ends), ny + 1 + len(part.p)

        def gradient(y: Array, t: Array, p: Array) -> Array:
            _, errors, directions = self._slopes(y, t, p, _TWICE)
            m = len(y) // n
            errors, directions = errors.reshape(m, n, r, -1), directions.reshape(m, n, d.nx, r, -1)
            found = np.einsum("nr,mnrs->mns", multipliers, errors)
            found += np.einsum("na,nr,mnars->mns", weights, part.corrections, directions)
            return found.reshape(m * n, -1)

        H, x = np.zeros((n, size, size)), np.column_stack([y, t])
        of = [*range(d.nq), *([ny] if part.time_columns else [])]
        h = _TWICE * np.maximum(1.0, np.abs(x))
        H[:, :, of] = np.moveaxis(differences(lambda x: gradient(x[:, :ny], x[:, ny], part.p), x, h, of, size * d.nx * r), 0, 2)
        for k in range(len(part.p)):
            H[:, :, ny + 1 + k] = d.by_parameter(lambda other: gradient(y, t, other), part.p, k)
        speeds = slice(d.nq, d.nq + d.nu)  # in which all is linear: their columns are these rows
        H[:, :, speeds] = np.swapaxes(H[:, speeds], 1, 2)
        return 0.5 * (H + np.swapaxes(H, 1, 2))
