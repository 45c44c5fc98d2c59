"""The problem of everything that touches at one configuration: gaps, rows, coefficients, and its solutions.

`constraints_of` gathers the rows; a `Problem` has these with M^-1, and solves for impulses by `_solve`. Beside contacts, blocks
are the bilateral constraints that are enabled, and friction whose normal force is known. All of it is dense: meant for tens of
contacts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..algebra.arrays import Array
from ..constraint.base import Constraint
from ..errors import ConvergenceError
from ..state.state import State
from . import _rows, _solve
from ._cones import CONE, DISK, FREE, HALF
from .base import UnilateralContact
from .stepped import Stepped

#: Residual of velocities that counts as none, as a part of the largest velocity.
TOLERANCE = 1e-9
#: What is taken, and told by the residual, where that is not reached.
_WORST = 1e-6
#: Proximal steps before a problem is given up.
_MOST = 200
_SWEEPS = 20
_ROUNDS = 10_000


class ContactRows(NamedTuple):
    """Contacts that may touch in a configuration: one block of one row, or of three with friction, for each.

    gaps : (n,) array, signed distances
    J : (m, nu) array: J u are the rates of the gaps, each followed by the velocities of slip where there is friction
    starts : (n + 1,) array of int, the first row of each
    friction : (n,) array, its coefficient at the present slip; 0 where there are no rows of slip
    restitution, capture_speed : (n,) arrays
    names : list of str
    compliance, target : (n,) arrays, or None
        Of contacts that give way, v_n + compliance times the impulse is no less than *target*, where that is finite; of others
        0, and NaN, which says that the gap decides.
    drift : (n, 2) array, or None
        What J u lacks of the velocities of slip: that of materials which move along their surfaces.
    """

    gaps: Array
    J: Array
    starts: Any
    friction: Array
    restitution: Array
    capture_speed: Array
    names: list[str]
    compliance: Array | None = None
    target: Array | None = None
    drift: Array | None = None

    def compliances(self) -> Array:
        """Of each, 0 unless given."""
        return np.zeros(len(self.gaps)) if self.compliance is None else self.compliance

    def targets(self) -> Array:
        """Of each, NaN unless given."""
        return np.full(len(self.gaps), np.nan) if self.target is None else self.target

    def drifts(self) -> Array:
        """Of each, 0 unless given."""
        return np.zeros((len(self.gaps), 2)) if self.drift is None else self.drift


def constraints_of(state: State, contacts: Sequence[UnilateralContact] | None = None) -> ContactRows:
    """The gaps and rows of unilateral contacts, whether these are enabled or not. Needs VELOCITY.

    All contacts of the matter subsystem unless *contacts* says which. What finds contacts in other ways returns `ContactRows`
    likewise, and `joined` puts several together.
    """
    matter = state.system.get_matter_subsystem()
    found = list(matter.unilateral_contacts if contacts is None else contacts)
    n, nu = len(found), state.tree.nu
    sizes = [3 if one.has_friction() else 1 for one in found]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    which = np.array([one.rows_of().index for one in found], np.int64)
    J, gaps = np.zeros((int(starts[-1]), nu)), np.zeros(n)
    if n:
        matter.velocities(state, "constraints_of")
        _rows.find_rows(state.block, which, starts[:-1], J, gaps)
    friction, rates = np.zeros(n), (J @ state.u_values[:nu]).tolist()
    for k, one in enumerate(found):
        sign = one.get_sign_convention()
        if sign < 0:
            gaps[k] = -gaps[k]
            J[starts[k]] *= -1.0
        if one.may_be_beside and not one.is_within(state):
            gaps[k] = np.inf
        elif sizes[k] == 3:
            _, a, b = rates[starts[k] : starts[k] + 3]
            friction[k] = one.friction_at((a * a + b * b) ** 0.5)
    restitution = np.array([one.get_restitution() for one in found])
    capture = np.array([one.get_capture_speed() for one in found])
    return ContactRows(gaps, J, starts, friction, restitution, capture, [one.name for one in found])


def rows_of_constraint(state: State, constraint: Constraint) -> Array:
    """The rows of G of a constraint of velocities, whether it is enabled or not. Needs VELOCITY."""
    rows, gaps = np.zeros((sum(constraint.number_of_equations), state.tree.nu)), np.zeros(1)
    which = np.array([constraint.index], np.int64)
    _rows.find_rows(state.block, which, np.zeros(1, np.int64), rows, gaps)
    return rows


def joined(parts: Sequence[ContactRows]) -> ContactRows:
    """Several of these as one."""
    offsets = np.cumsum([0, *(part.starts[-1] for part in parts)])
    starts = [part.starts[:-1] + offset for part, offset in zip(parts, offsets, strict=False)]
    return ContactRows(
        np.concatenate([part.gaps for part in parts]),
        np.concatenate([part.J for part in parts]),
        np.concatenate([*starts, [offsets[-1]]]).astype(np.int64),
        np.concatenate([part.friction for part in parts]),
        np.concatenate([part.restitution for part in parts]),
        np.concatenate([part.capture_speed for part in parts]),
        [name for part in parts for name in part.names],
        np.concatenate([part.compliances() for part in parts]),
        np.concatenate([part.targets() for part in parts]),
        np.concatenate([part.drifts() for part in parts]),
    )


def rows_of_surfaces(stepped: Stepped, state: State, h: float) -> tuple[ContactRows, list[tuple[str, Array, float]]]:
    """The points at which surfaces touch, for a step of size h, and what resists rolling there. Needs VELOCITY."""
    found = stepped.dense_rows(state, h)
    n = len(found.friction)
    o = np.zeros(n)
    rows = ContactRows(
        o, found.J, 3 * np.arange(n + 1), found.friction, o, o, found.names, found.compliance, found.target, found.drift
    )
    return rows, found.resistances


class Bilateral(NamedTuple):
    """Rows G of enabled constraints, and what their velocities have beside G u; `None` of the names are contacts'."""

    G: Array
    offset: Array
    names: list[str]


def bilateral_of(state: State) -> Bilateral:
    """The rows of the enabled constraints. Needs VELOCITY."""
    matter, nu = state.system.get_matter_subsystem(), state.tree.nu
    if not state.is_constrained:
        return Bilateral(np.zeros((0, nu)), np.zeros(0), [])
    G = matter.calc_g(state)
    p, v, _ = matter.num_equations(state)
    offset = -(G @ state.u_values[:nu])  # of accelerations' own equations: no change of speed
    rows = matter.rows_in_use(state)[: p + v]
    offset[: p + v] += matter.velocity_errors(state)[rows]
    return Bilateral(G, offset, ["a constraint"] * len(G))


class _Convex:
    """The arrays of `_solve.solve`, and what is done where that does not converge."""

    def __init__(self, W: Array, b: Array, kinds: Any, starts: Any, coefficients: Array, counts: Any) -> None:
        m = len(b)
        self._before = W, b, kinds, starts, coefficients
        self.work, self._shifts = np.zeros((_solve.WORK_ROWS, m)), np.zeros(len(kinds))
        self._after = self.work, np.zeros((m, 3)), np.zeros((m, m)), np.zeros(m, np.int64)
        self._counts = counts

    def _solve(self, gamma: Array, tolerance: float, most: int, held: bool) -> float:
        residual: float = _solve.solve(*self._before, gamma, *self._after, tolerance, most, self._counts, held, self._shifts)
        return residual

    def solve(self, gamma: Array, tolerance: float) -> float:
        """*gamma* becomes the impulses; the residual: the least of those that any of the methods has left."""
        start = gamma.copy()
        least = self._solve(gamma, tolerance, _MOST, False)
        if least <= tolerance:
            return least
        best = gamma.copy()
        if not least < np.inf:
            least, best = np.inf, start.copy()

        def keep(residual: float) -> None:
            nonlocal least
            if residual < least:
                least, best[:] = residual, gamma

        gamma[:] = best
        _solve.sweep(*self._before, gamma, *self._after[:2], tolerance, _MOST)
        keep(self._solve(gamma, tolerance, 0, False))
        if least > tolerance:
            keep(self._solve(gamma, tolerance, _MOST, False))
        if least > _WORST / TOLERANCE * tolerance:  # slow
            gamma[:] = start
            keep(self._bisect(gamma, tolerance))
        gamma[:] = best
        return self._solve(gamma, tolerance, 0, False)

    def _bisect(self, gamma: Array, tolerance: float) -> float:
        """The same by a = mu |v_t| of one contact after the other, a root that is bracketed, of convex problems.

        It goes on where friction nearly presses contacts together by itself: then a small change of a is a large one of v.
        """
        from scipy.optimize import brentq

        _, b, kinds, starts, coefficients = self._before
        cones = [int(k) for k in np.flatnonzero(kinds == CONE) if coefficients[k] > 0.0]
        largest = float(np.abs(b).max())

        def excess(a: float, k: int) -> float:
            self._shifts[k] = a
            self._solve(gamma, 0.01 * tolerance, _MOST, True)
            v = self.work[_solve.V]
            return float(coefficients[k]) * float(np.hypot(*v[starts[k] + 1 : starts[k + 1]])) - a

        residual = np.inf
        for _ in range(_SWEEPS):
            for k in cones:
                high = largest * max(1.0, float(coefficients[k]))
                while excess(high, k) > 0.0 and high < 1e9 * largest:
                    high *= 4.0
                if excess(0.0, k) > 0.0 > excess(high, k):
                    excess(brentq(excess, 0.0, high, args=(k,), xtol=1e-3 * tolerance, rtol=1e-14), k)
            residual = self._solve(gamma, tolerance, 0, False)
            if residual <= tolerance or not cones:
                break
        return residual

    def worst(self, gamma: Array) -> int:
        """The row with the largest residual."""
        errors = np.abs(gamma - self.work[_solve.P]) * self.work[_solve.SCALE]
        return int(np.nan_to_num(errors, nan=np.inf).argmax())


class Problem:
    """The impulses and velocities of what may touch, at one configuration.

    Parameters
    ----------
    state : State
        At VELOCITY or above.
    rows : ContactRows
    frictions : sequence of (name, rows, largest impulse)
        Friction of known normal force.
    Minv : (nu, nu) array, optional
        What impulses change speeds by; M^-1 unless given.
    """

    def __init__(
        self, state: State, rows: ContactRows, frictions: Sequence[tuple[str, Array, float]] = (), Minv: Array | None = None
    ) -> None:
        self.rows, self.bilateral, self.num_frictions = rows, bilateral_of(state), len(frictions)
        G = self.bilateral.G
        self.J = np.concatenate([rows.J, G, *(own for _, own, _ in frictions)])
        n, contact_rows, bilateral_rows = len(rows.gaps), len(rows.J), len(G)
        self.num_contacts, self.contact_rows = n, contact_rows
        ends = contact_rows + np.arange(bilateral_rows + 1)
        after = ends[-1] + np.cumsum([len(own) for _, own, _ in frictions])
        self.starts = np.concatenate([rows.starts[:-1], ends, after]).astype(np.int64)
        kinds = [CONE if size == 3 else HALF for size in np.diff(rows.starts)] + [FREE] * bilateral_rows
        self.kinds = np.array(kinds + [DISK] * len(frictions), np.int64)
        self.coefficients = np.concatenate([rows.friction, np.zeros(bilateral_rows), [most for _, _, most in frictions]])
        self.names = rows.names + self.bilateral.names + [name for name, _, _ in frictions]
        m, nu = self.J.shape
        self.MinvJT, self.W = np.zeros((nu, m)), np.zeros((m, m))
        # not by BLAS, whose threads wait for each other where cores are busy: most of the time, for problems of this size
        if Minv is None:
            Minv = state.system.get_matter_subsystem().calc_m_inv(state)
        _rows.find_delassus(self.J, Minv, self.MinvJT, self.W, np.zeros(nu, np.int64))
        self.compliance = np.zeros(m)
        self.compliance[self.starts[:n]] = rows.compliances()
        self.W[np.diag_indices(m)] += self.compliance
        self.residual, self.counts = 0.0, np.zeros(2, np.int64)

    @property
    def normals(self) -> Any:
        """The row of each contact's normal."""
        return self.starts[: self.num_contacts]

    def offsets(self) -> Array:
        """The part of rows' velocities beside J u: of bilateral constraints that depend on time, and of moving surfaces."""
        offset = np.zeros(len(self.J))
        drifts, starts = self.rows.drifts(), self.rows.starts
        for k in np.flatnonzero(drifts.any(axis=1)):
            offset[starts[k] + 1 : starts[k] + 3] = drifts[k]
        offset[self.contact_rows : self.contact_rows + len(self.bilateral.offset)] = self.bilateral.offset
        return offset

    def solve(self, b: Array, gamma: Array, taking_part: Any = None, kinds: Any = None, coefficients: Any = None) -> Array:
        """The velocities of all rows, of which *b* are those without impulses; *gamma* becomes the impulses.

        *taking_part* says of each block whether it can have an impulse: all unless given.

        Raises
        ------
        ConvergenceError
            If the residual, which is to be a billionth of the largest velocity, stays above a millionth.
        """
        kinds = self.kinds if kinds is None else kinds
        coefficients = self.coefficients if coefficients is None else coefficients
        blocks = np.arange(len(kinds)) if taking_part is None else np.flatnonzero(taking_part)
        sizes = np.diff(self.starts)[blocks]
        places = [i for k in blocks for i in range(self.starts[k], self.starts[k + 1])]
        which = np.array(places, np.int64)
        m = len(which)
        own = gamma[which]
        gamma[:] = 0.0
        if m == 0:
            return b.copy()
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        W, right = np.ascontiguousarray(self.W[np.ix_(which, which)]), b[which]
        scale = max(float(np.abs(right).max()), float(np.abs(b).max()), 1e-300)
        one = _Convex(W, right, kinds[blocks], starts, coefficients[blocks], self.counts)
        tolerance = TOLERANCE * scale
        self.residual = one.solve(own, tolerance)
        if not self.residual <= _WORST * scale:
            worst = one.worst(own)
            name = self.names[int(blocks[int(np.searchsorted(starts, worst, "right")) - 1])]
            raise ConvergenceError(
                f"the impulses of what touches have not been found: a residual of {self.residual:.3g} (velocity) is left, most "
                f"of all of {name!r}; it may be held by constraints or locks, or be pressed together by friction"
            )
        gamma[which] = own
        velocities: Array = b + self.W @ gamma
        return velocities

    def strike(self, v: Array, touching: Any, tolerance: float, at: Any = None) -> tuple[Array, Array]:
        """Impacts with restitution: velocities of rows *v* after them, and the impulses.

        Poisson's law, in rounds: contacts that approach faster than their capture speed and have a restitution are compressed
        together, until none of them approaches, and get their impulse once more times the restitution; friction follows. What
        is pressed together by that is the next round, so that a row of balls does what Newton's cradle does. At the end all
        that touches, and still approaches, is stopped at once, without restitution.

        Parameters
        ----------
        v : (m,) array
        touching : (n,) array of bool
            The contacts that are closed.
        tolerance : float
            A rate of approach that is none.
        at : state, optional
            For messages.
        """
        rows, n = self.rows, self.num_contacts
        total, others = np.zeros(len(v)), len(self.kinds) - n
        normals = self.normals
        always = np.ones(others, bool)
        bouncing = touching & (rows.restitution > 0.0)
        for number in range(_ROUNDS + 1):
            struck = bouncing & (v[normals] < -np.maximum(rows.capture_speed, tolerance))
            if not struck.any():
                break
            if number == _ROUNDS:
                names = ", ".join(repr(rows.names[k]) for k in np.flatnonzero(struck))
                raise ConvergenceError(f"{_ROUNDS} impacts at one instant have not driven apart {names}")
            gamma = np.zeros(len(v))
            taking_part = np.concatenate([struck, always])
            after = self.solve(v, gamma, taking_part)
            # expansion: normal impulses are known, and limit friction
            back = np.zeros(len(v))
            back[normals[struck]] = rows.restitution[struck] * gamma[normals[struck]]
            after_back = after + self.W @ back
            if (rows.friction[struck] > 0.0).any() or others:
                more = self._expand(after_back, back, struck)
                after_back, back = after_back + self.W @ more, back + more
            v, total = after_back, total + gamma + back
        if (touching & (v[normals] < -tolerance)).any():
            gamma = np.zeros(len(v))
            v = self.solve(v, gamma, np.concatenate([touching, always]))
            total = total + gamma
        return v, total

    def _expand(self, b: Array, back: Array, struck: Any) -> Array:
        """The friction and the bilateral impulses that go with normal impulses *back*, which b has already."""
        n = self.num_contacts
        J, kinds, coefficients, starts = [], [], [], [0]
        places: list[int] = []
        for k in range(len(self.kinds)):
            first, end = int(self.starts[k]), int(self.starts[k + 1])
            if k < n:
                if not struck[k] or end - first == 1:
                    continue
                kinds.append(DISK)
                coefficients.append(self.coefficients[k] * back[first])
                first += 1
            else:
                kinds.append(int(self.kinds[k]))
                coefficients.append(float(self.coefficients[k]))
            places += range(first, end)
            starts.append(len(places))
            J.append(k)
        more = np.zeros(len(b))
        if not places:
            return more
        which, m = np.array(places), len(places)
        W, own = np.ascontiguousarray(self.W[np.ix_(which, which)]), np.zeros(m)
        arrays = np.array(kinds, np.int64), np.array(starts, np.int64), np.array(coefficients, np.float64)
        tolerance = TOLERANCE * max(float(np.abs(b).max()), 1e-300)
        residual = _Convex(W, b[which], *arrays, self.counts).solve(own, tolerance)
        if not residual <= _WORST / TOLERANCE * tolerance:
            raise ConvergenceError(f"the friction of an impact has not been found: a residual of {residual:.3g} is left")
        more[which] = own
        return more
