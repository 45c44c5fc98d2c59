"""The problem of everything that touches at one configuration: gaps, rows, coefficients, and its solutions.

`constraints_of` gathers the rows; a `Problem` has these with M^-1, and solves for impulses by `stepped.solve`. Beside contacts,
blocks are the bilateral constraints that are enabled, and friction whose normal force is known. Rows are dense: meant for tens
of contacts.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from ..algebra.arrays import Array
from ..constraint.base import Constraint
from ..errors import ConvergenceError
from ..state.state import State
from ..tree.prescribed_mobilities import SOLVED
from . import _rows
from .base import UnilateralContact
from .stepped import Stepped, given_rows, space as names
from .stepped.equations import ROUNDING, UNBOUNDED
from .stepped.solve import solve
from .stepped.space import Space, make_space, with_block, with_room

#: Most rounds of impacts at one instant; a rate of approach that is none, as a part of the largest velocity before them.
_ROUNDS, _NO_RATE = 10_000, 1e-9
#: Blocks for which there is room to begin with.
_FEW = 16
_NO_JOINTS, _NO_TIES = np.zeros((0, 5), np.int64), np.zeros((0, 3), np.int64)


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
    starts = np.array([0, *accumulate(sizes)], np.int64)
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


def moves_something(state: State, rows: Array) -> Any:
    """Of each row, whether what is free has a part in it: all that it is between may be locked or driven.

    Rounding grows with the distances that cancel, which in millimetres are many.
    """
    free, rows = np.repeat(state.field("prescribed") == SOLVED, state.tree.num_u), np.abs(rows)
    reach = max(1.0, float(np.abs(state.record.p_GB).max(initial=0.0)), float(rows.max(initial=0.0)))
    return (rows * free).max(axis=1, initial=0.0) > ROUNDING * reach


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
    """Rows G of enabled constraints that move something, what their velocities have beside G u, their multipliers' places."""

    G: Array
    offset: Array
    places: Any


def bilateral_of(state: State) -> Bilateral:
    """The rows of the enabled constraints. Needs VELOCITY."""
    matter, nu = state.system.get_matter_subsystem(), state.tree.nu
    if not state.is_constrained:
        return Bilateral(np.zeros((0, nu)), np.zeros(0), np.zeros(0, np.int64))
    G = matter.calc_g(state)
    p, v, _ = matter.num_equations(state)
    offset = -(G @ state.u_values[:nu])  # of accelerations' own equations: no change of speed
    rows = matter.rows_in_use(state)[: p + v]
    offset[: p + v] += matter.velocity_errors(state)[rows]
    kept = moves_something(state, G)  # an impulse of any size would fulfil what is left of the others by rounding
    return Bilateral(G[kept], offset[kept], np.flatnonzero(kept))


def space_for(state: State, joints: Any = _NO_JOINTS) -> Space:
    """The arrays in which problems at states of a system are solved; *joints* are forces as in `stepped.joints`."""
    made = make_space(state.tree.fields, 0, [], joints, _NO_TIES, [], [], (_FEW, _FEW * state.tree.nu), in_one=True)
    return with_block(made, 0, solve.address())


class Problem:
    """The impulses and velocities of what may touch, at one configuration.

    Parameters
    ----------
    state : State
        At VELOCITY or above.
    rows : ContactRows
    frictions : sequence of (name, rows, largest impulse)
        Friction of known normal force.
    space : Space, optional
        One of `space_for`, in which what joints do within a step has been found; made unless given.
    """

    def __init__(
        self, state: State, rows: ContactRows, frictions: Sequence[tuple[str, Array, float]] = (), space: Space | None = None
    ) -> None:
        self.rows, self.bilateral, self.num_frictions = rows, bilateral_of(state), len(frictions)
        G = self.bilateral.G
        self.J = np.concatenate([rows.J, G, *(own for _, own, _ in frictions)])
        n, contact_rows, equations = len(rows.gaps), len(rows.J), len(G)
        self.num_contacts, self.contact_rows = n, contact_rows
        ends = range(contact_rows, contact_rows + equations)
        after = accumulate((len(own) for _, own, _ in frictions), initial=contact_rows + equations)
        self.starts = np.array([*rows.starts[:-1].tolist(), *ends, *after], np.int64)
        #: Of blocks; "" of those of constraints.
        self.names = rows.names + [""] * len(G) + [name for name, _, _ in frictions]
        self._laws = np.zeros((len(self.names), 4))
        self._laws[:, 1] = UNBOUNDED
        self._laws[:n, 0], self._laws[:n, 1], self._laws[:n, 2] = rows.friction, -1.0, rows.compliances()
        self._laws[n + equations :, 1] = [most for _, _, most in frictions]
        m, nu = self.J.shape
        self.space = with_room(space_for(state) if space is None else space, len(self.names), len(self.names) * nu)
        self.space.counts[[names.OUTER, names.NEWTON]] = 0
        self._state, self._block, self._begins = state, state.block, np.zeros(len(self.names) + 1, np.int64)
        self.MinvJT, self.W = np.zeros((nu, m)), np.zeros((m, m))
        if nu:
            given_rows.lay_out(self._block, self._address, self.J, self.starts, n, self._begins, self.MinvJT, self.W)
        self.W[self.starts[:n], self.starts[:n]] += self._laws[:n, 2]
        self.residual = 0.0

    @property
    def _address(self) -> int:
        return int(self.space.words.ctypes.data)

    @property
    def counts(self) -> Any:
        """The numbers of proximal and Newton's steps that were taken."""
        return self.space.counts[[names.OUTER, names.NEWTON]]

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

    def solve(self, b: Array, gamma: Array, taking_part: Any = None, targets: Any = None) -> Array:
        """The velocities of all rows, of which *b* are those without impulses; *gamma* becomes the impulses.

        *taking_part* says of each block whether it can have an impulse: all unless given. *targets* are the normal velocities
        that contacts have at the least, 0 unless given; what is jammed has those below 0 alone.

        Raises
        ------
        ConvergenceError
            If the residual, which is to be 1e-11 of the largest velocity, stays above a millionth.
        """
        blocks = np.arange(len(self.names)) if taking_part is None else np.flatnonzero(taking_part)
        laws = self._laws.copy()
        if targets is not None:
            laws[: self.num_contacts, 3] = targets
        return self._solve(b, gamma, blocks, laws)

    def _solve(self, b: Array, gamma: Array, blocks: Any, laws: Array) -> Array:
        own = gamma.copy()
        gamma[:] = 0.0
        if not len(blocks) or not len(self.MinvJT):
            return b.copy()
        space, starts, n = self.space, self.starts, self.num_contacts
        found = given_rows.solve_rows(self._block, self._address, blocks, starts, n, self._begins, laws, b, own)
        self.residual = float(space.measures[names.RESIDUAL])
        if not found:
            worst = self._name_of(int(-1 - space.counts[names.WORST_1]))
            raise ConvergenceError(
                f"the impulses of what touches have not been found: a residual of {self.residual:.3g} (velocity) is left, most "
                f"of all of {worst!r}; it may be held by constraints or locks, or be pressed together by friction"
            )
        for k in blocks:
            gamma[starts[k] : starts[k + 1]] = own[starts[k] : starts[k + 1]]
        return b + self.W @ gamma

    def _name_of(self, block: int) -> str:
        """The name of a block's contact, friction or constraint."""
        if self.names[block]:
            return self.names[block]
        state, place = self._state, self.bilateral.places[block - self.num_contacts]
        matter = state.system.get_matter_subsystem()
        places = matter.places_of_rows(state)
        return next(one.name for one in matter.constraints if place in places[one.own_rows(state)])

    def strike(self, v: Array, touching: Any, tolerance: float, most: int | None = None) -> tuple[Array, Array]:
        """Impacts with restitution: velocities of rows *v* after them, and the impulses.

        Poisson's law, in rounds: contacts that approach faster than their capture speed and have a restitution are compressed
        together, until none of them approaches, and get their impulse once more times the restitution; friction follows. What
        is pressed together by that is the next round, so that a row of balls does what Newton's cradle does. Where that would
        add energy, as different restitutions of what is coupled may, the expansion is less. At the end all that touches, and
        still approaches, is stopped at once, without restitution. Friction of known normal force does nothing in an instant.

        Parameters
        ----------
        v : (m,) array
        touching : (n,) array of bool
            The contacts that are closed.
        tolerance : float
            A rate of approach that is none; and so is a `_NO_RATE` of the largest velocity, as impulses leave rounding.
        most : int, optional
            So many rounds, after which what still approaches is stopped.

        Raises
        ------
        ConvergenceError
            If `_ROUNDS` have not driven apart what is struck, and *most* is not given.
        """
        rows, n = self.rows, self.num_contacts
        tolerance = max(tolerance, _NO_RATE * float(np.abs(v).max(initial=0.0)))
        total, normals = np.zeros(len(v)), self.normals
        always = np.arange(n, len(self.names)) < len(self.names) - self.num_frictions
        bouncing = touching & (rows.restitution > 0.0)
        for number in range(_ROUNDS + 1):
            struck = bouncing & (v[normals] < -np.maximum(rows.capture_speed, tolerance))
            if not struck.any() or number == most:
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
            if (rows.friction[struck] > 0.0).any() or always.any():
                back += self._expand(after + self.W @ back, back, np.concatenate([struck, always]))
            back = self._without_gain(v, after, gamma, back)
            v, total = after + self.W @ back, total + gamma + back
        if (touching & (v[normals] < -tolerance)).any():
            gamma = np.zeros(len(v))
            v = self.solve(v, gamma, np.concatenate([touching, always]))
            total = total + gamma
        return v, total

    def _without_gain(self, v: Array, stopped: Array, gamma: Array, back: Array) -> Array:
        """The part of expanding impulses *back* that leaves no more energy than there was, of what is coupled by itself.

        Impulses gamma, from v to *stopped*, bring gamma^T (v + stopped) / 2, which is below zero, and s times back bring
        s back^T stopped + s^2 back^T W back / 2. Equal restitutions without friction bring e^2 of what was taken.
        """
        pushed = self.W @ back
        brings = 0.5 * (gamma * (v + stopped) + back * (2.0 * stopped + pushed))
        least = ROUNDING * float(np.abs(gamma * v).sum())
        if not (brings > least).any():
            return back
        group, part = self._coupled((gamma != 0.0) | (back != 0.0)), np.ones(len(back))
        for one in np.unique(group):
            own = group == one
            if brings[own].sum() > least:
                taken, once = -0.5 * float(gamma[own] @ (v + stopped)[own]), float(back[own] @ stopped[own])
                square = float(back[own] @ pushed[own])
                part[own] = 2.0 * taken / (once + (once * once + 2.0 * square * taken) ** 0.5)
        return part * back

    def _coupled(self, acts: Any) -> Any:
        """A number of each row, the same for rows that act and change each other's velocities, directly or by others."""
        m, scale = len(self.W), np.sqrt(self.W.diagonal())
        block = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        tied = (np.abs(self.W) > ROUNDING * np.outer(scale, scale)) & acts & acts[:, None] | (block[:, None] == block)
        group, before = np.arange(m), None
        while before is None or (group != before).any():
            before, group = group, np.where(tied, group, m).min(axis=1)
        return group

    def _expand(self, b: Array, back: Array, taking_part: Any) -> Array:
        """The friction and the bilateral impulses that go with normal impulses *back*, which b has already."""
        n, sizes = self.num_contacts, np.diff(self.starts)
        taking_part[:n] &= sizes[:n] > 1
        blocks = np.flatnonzero(taking_part)
        more, laws = np.zeros(len(b)), self._laws.copy()
        laws[:n, 1] = laws[:n, 0] * back[self.normals]
        self._solve(b, more, blocks, laws)
        return more
