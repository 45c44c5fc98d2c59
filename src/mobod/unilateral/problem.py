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
from ..algebra.pointers import block_of
from ..constraint.base import Constraint
from ..errors import ConvergenceError
from ..state.state import State
from . import _rows
from .base import UnilateralContact
from .stepped import Stepped, given_rows, space as names
from .stepped.equations import ROUNDING, UNBOUNDED
from .stepped.solve import solve
from .stepped.space import Space, make_space, with_block, with_room

#: Most rounds of impacts at one instant.
_ROUNDS = 10_000
#: Blocks for which there is room to begin with.
_FEW = 16
_NO_NUMBERS, _NO_PLACES = np.zeros(0), np.zeros(0, np.int64)
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


#: Rows, gaps, and coefficients, as `_rows` has them.
Gathered = tuple[Array, Array, Array]


class ContactTable:
    """Contacts as kernels are given them: see `_rows`.

    Parameters
    ----------
    contacts : sequence of UnilateralContact

    Attributes
    ----------
    starts : (n + 1,) array of int
        The first row of each, where all have rows.
    normal, other : (n,) array of int
        The constraints of which one is enabled where it is closed; twice the same where there is no friction.
    numbers : array of int
        A block of their own numbers, at an address: it is of a process.
    rubs : bool
        Whether one has friction.
    events : ContactEvents or None
        What handled their events last.
    """

    def __init__(self, contacts: Sequence[UnilateralContact]) -> None:
        self.contacts, self.names = list(contacts), [one.name for one in contacts]
        columns = [
            (one.rows_of().index, 1 if one.rolling is None else 3, one.get_sign_convention(), one.may_be_beside)
            for one in contacts
        ]
        self.integers = np.array(columns, np.int64).reshape(-1, 4)
        self.starts = np.array([0, *accumulate(self.integers[:, _rows.SIZE].tolist())], np.int64)
        self.normal = np.array([one.normal.index for one in contacts], np.int64)
        self.other = self.integers[:, _rows.CONSTRAINT].copy()
        self.numbers, self.rubs = block_of([one.numbers for one in contacts]), any(one.has_friction() for one in contacts)
        self.events: Any = None
        self._address, self._all = int(self.numbers.ctypes.data), np.arange(len(contacts))
        self._none = np.zeros(len(contacts), bool)

    def closed(self, state: State) -> Any:
        """Of each, whether it is closed. Needs MODEL."""
        if not state.is_constrained:
            return self._none
        enabled = state.field("constraint_enabled")
        return (enabled[self.normal] | enabled[self.other]) != 0

    def sliding(self, state: State) -> list[int]:
        """The numbers of those that slide. Needs MODEL."""
        found: list[int] = np.flatnonzero(state.field("friction_rows")[self.normal] >= 0).tolist() if state.slides else []
        return found

    def gather(self, state: State, which: list[int] | None = None) -> Gathered:
        """Find these of all contacts, or of some. The state is at VELOCITY."""
        chosen, starts = self._all, self.starts
        if which is not None:
            chosen = np.array(which, np.int64)
            starts = np.array([0, *accumulate(self.integers[chosen, _rows.SIZE].tolist())], np.int64)
        n = len(chosen)
        J, gaps, laws = np.zeros((int(starts[-1]), state.tree.nu)), np.zeros(n), np.zeros((n, _rows.LAWS))
        if n:
            given = state.block, self.integers, self._address, chosen, starts, J, gaps, laws
            (_rows.find_contacts.code or _rows.find_contacts.code_for(*given))(*given)
        return J, gaps, laws


def contact_table(state: State) -> ContactTable:
    """The table of all contacts of a state's system: its tree keeps it."""
    if state.tree.contacts is None:
        state.tree.contacts = ContactTable(state.system.get_matter_subsystem().unilateral_contacts)
    found: ContactTable = state.tree.contacts
    return found


def constraints_of(state: State, contacts: Sequence[UnilateralContact] | None = None) -> ContactRows:
    """The gaps and rows of unilateral contacts, whether these are enabled or not. Needs VELOCITY.

    All contacts of the matter subsystem unless *contacts* says which. What finds contacts in other ways returns `ContactRows`
    likewise, and `joined` puts several together.
    """
    table = contact_table(state) if contacts is None else ContactTable(contacts)
    if table.names:
        state.system.get_matter_subsystem().velocities(state, "constraints_of")
    J, gaps, laws = table.gather(state)
    return ContactRows(gaps, J, table.starts, laws[:, _rows.FRICTION], laws[:, 0], laws[:, 1], table.names)


def touching(state: State, table: ContactTable, closed: Any, window: float, width: float) -> tuple[ContactRows, list[int]]:
    """Those that are *closed*, or whose gaps close within a *window* of time or are below *width* q, 1 at least; their numbers.

    Needs VELOCITY.

    Raises
    ------
    ConvergenceError
        If one approaches that only what is locked or driven has a part in.
    """
    J, gaps, laws = table.gather(state)
    starts, n = table.starts.copy(), len(gaps)
    kept, wide = np.empty(n, np.int64), np.array([window, width, ROUNDING])
    given, kernel = (state.block, starts, J, gaps, laws, closed, wide, np.empty(n), kept), _rows.find_touching
    count = (kernel.code or kernel.code_for(*given))(*given)
    if count < 0:
        raise ConvergenceError(
            f"at time {state.time:.9g} {table.names[-1 - count]!r} closes at {-wide[0]:.3g} (velocity), and no impulse "
            "stops it, as all that it is between is locked or driven; unlock something, or let the motion end before"
        )
    which = kept[:count].tolist()
    laws, names = laws[:count], [table.names[k] for k in which]
    starts = starts[: count + 1]
    rows = ContactRows(gaps[:count], J[: starts[-1]], starts, laws[:, _rows.FRICTION], laws[:, 0], laws[:, 1], names)
    return rows, which


def moves_something(state: State, rows: Array) -> Any:
    """Of each row, whether what is free has a part in it: all that it is between may be locked or driven.

    Rounding grows with the distances that cancel, which in millimetres are many.
    """
    moved = np.zeros(len(rows))
    _rows.find_moved(state.block, rows, np.arange(len(rows)), ROUNDING, moved)
    return moved != 0.0


def rows_of_constraint(state: State, constraint: Constraint) -> Array:
    """The rows of G of a constraint of velocities, whether it is enabled or not. Needs VELOCITY."""
    rows, gaps = np.zeros((sum(constraint.number_of_equations), state.tree.nu)), np.zeros(1)
    which = np.array([constraint.index], np.int64)
    _rows.find_rows(state.block, which, np.zeros(1, np.int64), rows, gaps)
    return rows


def select(rows: ContactRows, which: Any) -> ContactRows:
    """Some of the rows."""
    kept = np.flatnonzero(which)
    if len(kept) == len(rows.gaps):
        return rows
    sizes = np.diff(rows.starts)[kept]
    places = [np.arange(rows.starts[k], rows.starts[k + 1]) for k in kept]
    given = (None if one is None else one[kept] for one in (rows.compliance, rows.target, rows.drift))
    return ContactRows(
        rows.gaps[kept],
        rows.J[np.concatenate(places)] if places else rows.J[:0],
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        rows.friction[kept],
        rows.restitution[kept],
        rows.capture_speed[kept],
        [rows.names[k] for k in kept],
        *given,
    )


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
        return Bilateral(np.zeros((0, nu)), _NO_NUMBERS, _NO_PLACES)
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
    like : Problem, optional
        One whose space is taken, as it is not needed any more; if it is at this state, what it has found of it, too.
    """

    def __init__(
        self,
        state: State,
        rows: ContactRows,
        frictions: Sequence[tuple[str, Array, float]] = (),
        space: Space | None = None,
        like: Problem | None = None,
    ) -> None:
        self.rows, self.num_frictions, self.state = rows, len(frictions), state
        known = None if like is None or like.state is not state else like.bilateral
        self.bilateral: Bilateral = bilateral_of(state) if known is None else known
        given = space if like is None else like.space
        G = self.bilateral.G
        n, contact_rows, equations = len(rows.gaps), len(rows.J), len(G)
        self.num_contacts, self.contact_rows = n, contact_rows
        #: Of blocks; "" of those of constraints.
        self.J, self.starts, self.names = np.ascontiguousarray(rows.J), rows.starts, rows.names
        if equations or frictions:
            self.J = np.concatenate([rows.J, G, *(own for _, own, _ in frictions)])
            ends = range(contact_rows, contact_rows + equations)
            after = accumulate((len(own) for _, own, _ in frictions), initial=contact_rows + equations)
            self.starts = np.array([*rows.starts[:-1].tolist(), *ends, *after], np.int64)
            self.names = rows.names + [""] * len(G) + [name for name, _, _ in frictions]
        self._laws = np.zeros((len(self.names), 4))
        self._laws[:, 1] = UNBOUNDED
        self._laws[:n, 0], self._laws[:n, 1] = rows.friction, -1.0
        if rows.compliance is not None:
            self._laws[:n, 2] = rows.compliance
        if frictions:
            self._laws[n + equations :, 1] = [most for _, _, most in frictions]
        m, nu = self.J.shape
        self.space: Space = with_room(space_for(state) if given is None else given, len(self.names), len(self.names) * nu)
        self.space.counts[names.OUTER] = self.space.counts[names.NEWTON] = 0
        self._block, self._begins = state.block, np.zeros(len(self.names) + 1, np.int64)
        self.MinvJT, self.W = np.zeros((nu, m)), np.zeros((m, m))
        self._address: int = self.space.words.__array_interface__["data"][0]  # in half the time of `ctypes`
        if nu:
            own = self._block, self._address, self.J, self.starts, n, self._begins, self.MinvJT, self.W
            (given_rows.lay_out.code or given_rows.lay_out.code_for(*own))(*own)
        if rows.compliance is not None:
            self.W[self.starts[:n], self.starts[:n]] += rows.compliance
        self.residual = 0.0
        #: Of impacts: which contacts stay, a rate that is none, and whether any was fast enough for its restitution.
        self.resting, self.no_rate, self.bounced = _NO_NUMBERS, 0.0, False

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
        if self.rows.drift is None and not len(self.bilateral.offset):
            return offset
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
        laws, own = self._laws.copy(), gamma.copy()
        if targets is not None:
            laws[: self.num_contacts, 3] = targets
        gamma[:] = 0.0
        if not len(blocks) or not len(self.MinvJT):
            return b.copy()
        space, starts, n = self.space, self.starts, self.num_contacts
        found = given_rows.solve_rows(self._block, self._address, blocks, starts, n, self._begins, laws, b, own)
        self.residual = float(space.measures[names.RESIDUAL])
        if not found:
            raise self._not_found()
        for k in blocks:
            gamma[starts[k] : starts[k + 1]] = own[starts[k] : starts[k + 1]]
        return b + self.W @ gamma

    def _not_found(self) -> ConvergenceError:
        worst = self._name_of(int(-1 - self.space.counts[names.WORST_1]))
        return ConvergenceError(
            f"the impulses of what touches have not been found: a residual of {self.residual:.3g} (velocity) is left, most "
            f"of all of {worst!r}; it may be held by constraints or locks, or be pressed together by friction"
        )

    def _name_of(self, block: int) -> str:
        """The name of a block's contact, friction or constraint."""
        if self.names[block]:
            return self.names[block]
        state, place = self.state, self.bilateral.places[block - self.num_contacts]
        matter = state.system.get_matter_subsystem()
        places = matter.places_of_rows(state)
        return next(one.name for one in matter.constraints if place in places[one.own_rows(state)])

    def strike(self, v: Array, touching: Any, tolerance: float, most: int | None = None) -> tuple[Array, Array]:
        """Impacts with restitution: velocities of rows *v* after them, and the impulses; `resting` has what stays.

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
            A rate of approach that is none; and so is a 1e-9 of the largest velocity, as impulses leave rounding.
        most : int, optional
            So many rounds, after which what still approaches is stopped.

        Raises
        ------
        ConvergenceError
            If `_ROUNDS` have not driven apart what is struck, and *most* is not given.
        """
        rows, n, m = self.rows, self.num_contacts, len(v)
        new, total, taking = np.array(v, np.float64), np.zeros(m), np.zeros((3, len(self.names)), np.int64)
        taking[0, :n], taking[0, n : len(self.names) - self.num_frictions] = touching, 1
        bounces, work = np.empty((n, 2)), np.empty((given_rows.STRIKE_WORK, m))
        bounces[:, 0], bounces[:, 1] = rows.restitution, rows.capture_speed
        limits = np.array([tolerance, -_ROUNDS if most is None else most, 0.0])
        laws = self._laws, self._laws.copy()
        moving = (self.starts, n, self._begins), laws, bounces, self.W, taking, new, total, work, limits
        given, kernel = (self._block, self._address, *moving), given_rows.strike
        found = (kernel.code or kernel.code_for(*given))(*given)
        self.residual = float(self.space.measures[names.RESIDUAL])
        if found == given_rows.NOT_FOUND:
            raise self._not_found()
        if found == given_rows.NOT_APART:
            struck = ", ".join(repr(rows.names[k]) for k in np.flatnonzero(taking[1, :n]))
            raise ConvergenceError(f"{_ROUNDS} impacts at one instant have not driven apart {struck}")
        self.resting, self.no_rate, self.bounced = taking[1, :n] != 0, limits.item(0), limits.item(2) > 0.0
        return new, total
