"""The plan of differentiation: which elements are constant, local, or of the whole tree, as tables for kernels.

A force, a constraint or a motion that names its bodies and mobilizers is differentiated by the motion of these alone, see
`local`; contacts pair by pair, see `contacts`; thermostats and forces between atoms in closed form, see `thermostats` and
`central`; drag and tyres by routines of their own, see `wrenches`; a force along a path, such as a muscle's, by what changes
the path, see `along`, unless that is one body's motion, so that it is local. What may depend on anything is differentiated by
all columns, see `columns`.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..constraint.base import Constraint
from ..constraint.custom import Custom
from ..force.base import Force
from ..force.contact.broad_phase import OF_ALL
from ..force.contact.element import ContactElement
from ..force.gravity_compensation import GravityCompensation
from ..force.linear_bushing import LinearBushing
from ..force.thermostat import Thermostat
from ..mobilizer import q_rates
from . import central, lines, local, wrenches
from .along import MOST_Z, OF_GROUP
from .columns import CONSTRAINED, PULLED, SWEPT
from .line_tables import LineTables
from .local import (
    BODY,
    BOTH,
    CONSTRAINT,
    END_PUSHED,
    FIRST_PUSHED,
    FORCE,
    MOBILIZER,
    MOTION,
    ONE,
    REST,
    ROWS_OF_BLOCK,
    contribute_constraint,
)
from .pattern import Pattern
from .points_and_axes import APART, BETWEEN, BLOCK, KINDS

Table = npt.NDArray[np.int64]
Call = tuple[int, int, int, int]
#: An element that names more parts than these is differentiated by columns: each part costs an evaluation.
_MOST_PARTS = 8
#: Of more bodies than these, blocks of all pairs take too much memory.
_MOST_LISTED = 256


@dataclasses.dataclass
class Plan:
    """Tables for `local`, and what is left for `columns`.

    Attributes
    ----------
    nodes : (n, 7) array
        Of each body or mobilizer that moves what is local: kind; body; where its calls begin, those that read velocities, and
        where they end; where what they push begins and ends. Likewise of z that go by themselves.
    calls : (n, 6) array
        What is called: kind, address for Duals, and the element and the one after the last, or the body, or the constraint and
        the first block of its errors as a body moves; the z by which it is differentiated there, -1 for none, of those by
        themselves how many; and 1 if by time.
    pushed : (n, 4) array
        Kind, body, and the block of derivatives, -1 where there is none; and BOTH or ONE where its wrench is kept: forces are
        between it and what moves, see `couplings`.
    ways : array
        Of each body where the mobilities on the way to it are listed behind, from the body inward.
    groups : (n, 10) array
        Forces along paths that name the same parts: where among the members their elements begin and end, of each itself, its
        address, its first z and how many; the bodies, the mobilizers, the columns that change the path, the rows that it pulls.
    members : array
        What groups have.
    crossings : (n, 5) array
        Of each block beyond the bodies' own: which body is pushed, which moves, the last one on the way to both, whether
        velocities are read, and BOTH or ONE if forces are between both, see `couplings`.
    lines, spans, reached : (n, 12), (n, 14), (n,) array
        Forces along lines and along paths of spans; their spans; and their bodies, see `lines`.
    num_scratch : int
        How many numbers of scratch these and `central` ones take.
    bushings : (n, 3) array
        Bushings between bodies of one base: where integers and numbers begin, and the block of a crossing, see `bushings`.
    joined : (n, 10) array
        Constraints between points and axes of two bodies, see `points_and_axes`.
    central : sequence of tuple of int, Routine and four int
        Elements between points of many bodies, see `central`, and
    listed : array
        the lists of their bodies.
    coupled : array
        The bodies of these and of crossings, with those inboard of them, parents first.
    used : array
        Bodies whose motion is read; minus those of which the pose alone is, by bends of paths.
    contacts : (n, 1) array
        Elements of contact.
    searches : bool
        Whether some pairs of these are not in closed form.
    by_duals : bool
        Whether anything is differentiated by a record of Duals, state by state.
    acted : array
        Bodies that wrenches may act on, beside gravity's, and those inboard of them, parents first.
    acted_places : array
        1 at the places of their mobilities, else 0.
    stiff, stiff_places : array
        The same of bodies that have blocks, or forces that do not follow: those between two bodies, and along paths, do.
    hung : (n, 2) array
        Where integers and numbers begin of elements that hold bodies up at their mass centers.
    routines : array
        Of each run of elements the address of its routine for Duals where it is differentiated by columns; less than zero
        where by z and time alone; 0 where not at all.
    by_columns, by_rest : int
        What `columns.contribute` is asked for by q and u, and by z and time; -1 for nothing.
    by_parts : int
        CONSTRAINED if constraints are local, and PULLED if gravity is a force as any other.
    damped : bool
        Whether anything local reads velocities.
    acts : bool
        Whether there is anything beside gravity and forces on single mobilities.
    constrained : bool
        Whether there are equations.
    thermostats : array
        The elements that are some, see `thermostats`.
    wrenches : sequence of tuple of int, int, Routine, int and int
        Elements on single bodies that have routines for it, their bodies, these, first z and how many, see `wrenches`.
    num_blocks : int
        How many blocks of derivatives there are: of bodies, of what couples two, and of errors.
    pattern : pattern.Pattern
        Which numbers of the residual's derivatives may differ from zero.
    """

    nodes: Table
    calls: Table
    pushed: Table
    ways: Table
    groups: Table
    members: Table
    crossings: Table
    lines: Table
    spans: Table
    reached: Table
    num_scratch: int
    bushings: Table
    joined: Table
    central: Sequence[tuple[int, Any, int, int, int, int]]
    listed: Table
    coupled: Table
    used: Table
    contacts: Table
    searches: bool
    by_duals: bool
    acted: Table
    acted_places: Table
    stiff: Table
    stiff_places: Table
    hung: Table
    routines: Table
    by_columns: int
    by_rest: int
    by_parts: int
    damped: bool
    acts: bool
    constrained: bool
    thermostats: Table
    wrenches: Sequence[tuple[int, int, Any, int, int]]
    num_blocks: int
    pattern: Pattern

    @property
    def couples_by_u(self) -> bool:
        """True if anything may couple mobilities by their speeds."""
        by_speed = np.isin(self.lines[:, lines.KIND], (lines.DAMPER, lines.LAW))
        return self.damped or self.by_columns >= 0 or len(self.groups) + len(self.bushings) > 0 or bool(by_speed.any())

    def for_kernels(self, **kind: bool) -> Any:
        """The tables that kernels take, of the *kind* of record that `Routine.address` is asked for."""
        flags = int(self.damped), int(self.acts), int(self.constrained)
        asked = self.by_columns, self.by_rest, self.by_parts, *flags, int(self.by_duals)
        tables = self.nodes, self.calls, self.pushed, self.ways, self.groups, self.members
        acted = self.acted, self.acted_places, self.stiff, self.stiff_places, self.hung, self.thermostats
        rows = [(e, b, routine.address(**kind), *z) for e, b, routine, *z in self.wrenches]
        of_many = [(e, routine.address(**kind), *places) for e, routine, *places in self.central]
        return (
            tables,
            self.used,
            self.contacts,
            asked,
            (*acted, _table(rows, wrenches.OF_WRENCH)),
            (self.crossings, self.coupled, self.lines, self.spans, self.reached, self.bushings, self.joined),
            (_table(of_many, central.OF_CENTRAL), self.listed),
        )


class _Graph:
    """Calls by the bodies and mobilizers that they name."""

    def __init__(self, parents: npt.NDArray[np.int64]) -> None:
        self._parents = parents
        #: Kind, body, and how it moves, see `couplings`: BOTH or ONE for what acts between this and another one alone.
        self._nodes: dict[tuple[int, int, int], dict[Call, bool]] = {}
        self._parts: dict[Call, list[tuple[int, int]]] = {}
        #: Of these those on which it acts.
        self._acted: dict[Call, list[tuple[int, int]]] = {}
        #: Pairs of bodies whose blocks nothing is called for, the second of which moves; and the rest of a crossing.
        self.closed: list[tuple[int, int, int, int]] = []
        #: Calls of what acts between two bodies alone, and the mobilizers that they name.
        self._between: dict[tuple[int, int], dict[Call, bool]] = {}
        self._named: dict[Call, Sequence[int]] = {}
        #: Of calls that depend on z or on time: the z, -1 for none, and 1 for time. With the call's first node.
        self.rest: dict[Call, tuple[int, int]] = {}
        #: Of elements whose z go by themselves how many they have, and 1 for time.
        self.alone: dict[int, tuple[Call, tuple[int, int]]] = {}

    def add(
        self,
        call: Call,
        bodies: Sequence[int],
        mobilizers: Iterable[int],
        fast: bool,
        only_read: Collection[int] = (),
        by_place: bool = False,
    ) -> None:
        """*only_read* are bodies on which it does not act; if *by_place*, bodies' velocities are not read."""
        parts = [(BODY, b) for b in dict.fromkeys(bodies)] + [(MOBILIZER, b) for b in dict.fromkeys(mobilizers)]
        self._parts[call], self._acted[call] = parts, [part for part in parts if part[0] != BODY or part[1] not in only_read]
        for part in parts:
            if part != (BODY, 0):
                self._nodes.setdefault((*part, 0), {})[call] = fast and not (by_place and part[0] == BODY)

    def add_between(self, call: Call, bodies: Sequence[int], fast: bool, mobilizers: Sequence[int] = ()) -> None:
        """The same, of what acts between two bodies alone; where it reads mobilizers, only their velocities matter."""
        self._between.setdefault((min(bodies), max(bodies)), {})[call] = fast
        self._named[call] = mobilizers

    def add_about(self, call: Call, bodies: Sequence[int]) -> None:
        """The same, of what reads the motion of the last body on the way to both, too: then either moves relative to that."""
        for b in bodies:
            self._nodes.setdefault((BODY, b, ONE), {})[call] = True
        self._acted[call] = [(BODY, b) for b in bodies]
        self._parts[call] = [*self._acted[call], (BODY, self.common(*bodies))]

    def _choose(self) -> None:
        """Choose which body of each pair moves: those of most pairs, so that few do."""
        pairs = []
        for pair, calls in self._between.items():
            if self.common(*pair) == 0:  # bases have origins of their own
                for call, fast in calls.items():
                    self.add(call, pair, self._named[call], fast, by_place=len(self._named[call]) > 0)
            else:
                pairs.append(pair)
        while pairs:
            moved = Counter(b for pair in sorted(pairs) for b in pair).most_common(1)[0][0]
            for pair in [pair for pair in pairs if moved in pair]:
                pairs.remove(pair)
                for call, fast in self._between[pair].items():
                    self._parts[call] = self._acted[call] = [(BODY, b) for b in pair]
                    self._nodes.setdefault((BODY, moved, BOTH), {})[call] = fast and not self._named[call]
                    for b in self._named[call]:
                        self._nodes.setdefault((MOBILIZER, b, 0), {})[call] = fast

    def common(self, a: int, b: int) -> int:
        """The last body on the way from Ground to both."""
        while a != b:
            a, b = (int(self._parents[a]), b) if a > b else (a, int(self._parents[b]))
        return a

    def tables(self, rows_of: Callable[[int], int]) -> tuple[Table, Table, Table, Table, Table, int]:
        """Nodes, calls, what is pushed, crossings, and bodies that are read; and how many blocks there are.

        *rows_of* says how many equations a constraint has.
        """
        self._choose()
        nb = len(self._parents)
        nodes: list[tuple[int, ...]] = []
        calls: list[tuple[int, ...]] = []
        pushed: list[tuple[int, ...]] = []
        crossings: list[tuple[int, ...]] = []
        rest = dict(self.rest)
        by_themselves = {(REST, e, 0): {call: False} for e, (call, _) in self.alone.items()}
        for (kind, b, between), own in sorted((self._nodes | by_themselves).items()):
            slow, fast = [call for call in own if not own[call]], [call for call in own if own[call]]
            first, first_pushed = len(calls), len(pushed)
            mine = dict([self.alone[b]]) if kind == REST else {call: rest.pop(call, (-1, 0)) for call in own}
            calls += _joined(slow, mine)
            first_fast = len(calls)
            calls += _joined(fast, mine)
            for other, a in dict.fromkeys(part for call in own for part in self._acted[call]):
                block, alone = -1, between if a != b else 0
                if kind == other == BODY and 0 < a != b:
                    block = nb + len(crossings)
                    crossings.append((a, b, self.common(a, b), self._reads_velocities(own, (other, a)), alone))
                elif kind == other == BODY and a > 0 and not between:
                    block = a
                pushed.append((other, a, block, alone))
            nodes.append((kind, b, first, first_fast, len(calls), first_pushed, len(pushed)))
        crossings += [(a, b, self.common(a, b), fast, between) for a, b, fast, between in self.closed]
        used = sorted({b for parts in self._parts.values() for kind, b in parts if kind == BODY})
        found, end = _table(calls, 6), nb + len(crossings)
        for call in found:
            if call[0] == CONSTRAINT:
                call[3], end = end, end - -rows_of(call[2]) // ROWS_OF_BLOCK
        return _table(nodes, 7), found, _table(pushed, 4), _table(crossings, 5), np.array(used, np.int64), end

    def _reads_velocities(self, own: Mapping[Call, bool], part: tuple[int, int]) -> int:
        """1 if forces on a *part* may depend on velocities: those of constraints do not."""
        return int(any(own[call] for call in own if call[0] == FORCE and part in self._acted[call]))


def _joined(calls: Sequence[Call], rest: Mapping[Call, tuple[int, int]]) -> list[tuple[int, ...]]:
    """Neighbours of one run as one call, where they have the same *rest*, and none has a z."""
    found: list[tuple[int, ...]] = []
    for call in sorted(calls):
        kind, address, first, end = call
        before = found[-1] if found else ()
        if kind == FORCE and before[:2] == (kind, address) and before[3:] == (first, *rest[call]) and rest[call][0] < 0:
            found[-1] = (*before[:3], end, *rest[call])
        else:
            found.append((*call, *rest[call]))
    return found


def _table(rows: Sequence[Sequence[int]], columns: int) -> Table:
    return np.array(rows, np.int64).reshape(-1, columns)


class Enabled(NamedTuple):
    """The enabled elements of a state, from which a plan is made.

    Attributes
    ----------
    runs : sequence of sequence of Force
        Of each run of elements those that are enabled.
    slopes : set of int
        Elements that are among `force.slopes`.
    constraints : sequence of Constraint
        Those that have equations; none of inverse dynamics.
    moved : mapping of int to int
        Of each body whose udot a compiled motion prescribes the address of that.
    pulls_on_all : bool
        Whether gravity is a field that pulls on all bodies.
    holds : bool
        Whether there are other forces, which are held: those of Python.
    constrained : bool
        Whether there are equations, of constraints in Python as well, which are not among the *constraints*.
    in_python : set of int
        Mobilizers in Python.
    """

    runs: Sequence[Sequence[Any]]
    slopes: set[int]
    constraints: Sequence[Any]
    moved: Mapping[int, int]
    pulls_on_all: bool
    holds: bool
    constrained: bool
    in_python: set[int]


def make_plan(tree: Any, what: Enabled) -> Plan:
    """The plan for what is enabled."""
    return _Making(tree, what).plan()


class _Making:
    """A plan while it is made."""

    def __init__(self, tree: Any, what: Enabled) -> None:
        fields = tree.fields
        self._what, self._graph = what, _Graph(fields["parent"])
        self._tree = tree
        self._ways, ways = _ways_of(tree)
        self._pattern = Pattern(ways, tree.nu)
        self._routines = np.zeros(tree.counts["nr"], np.int64)
        #: Mobilizers whose N is in the record, which a sweep of the kinematics, or `columns.find_hinge`, has to find.
        self._difficult = set(np.flatnonzero((fields["rates"] == q_rates.MATRIX) | (fields["turning"] == 2)).tolist())
        #: Of these those that Python knows.
        self._unknown = self._difficult.intersection(what.in_python)
        self._contacts: list[int] = []
        #: Whether some of their pairs are not in closed form.
        self._searches = False
        #: Forces along paths by the bodies and mobilizers that these name, and 1 where the path is between the bodies.
        self._along: dict[tuple[tuple[int, ...], tuple[int, ...], bool], list[int]] = {}
        #: Of slots of tangents by z and time, with a node's kind and body: the element whose z is there, -1 for time.
        self._slots: dict[tuple[int, int, int], int] = {}
        self._thermostats: list[int] = []
        self._wrenches: list[tuple[int, int, Any, int, int]] = []
        self._lines = LineTables(fields, self._graph.common)
        self._bushings: list[tuple[int, int, int]] = []
        self._joined: list[tuple[int, ...]] = []
        self._central: list[tuple[int, Any, int, int, int, int]] = []
        self._listed: list[int] = []
        self._swept = self._has_rest = self._has_columns = self._damped = False
        self._acts = what.holds or not what.pulls_on_all
        #: Bodies that wrenches act on, beside those that elements read.
        self._pushed: set[int] = set(range(tree.nb)) if self._acts else set()
        #: Bodies that other wrenches act on.
        self._carried: set[int] = set()
        self._by_parts, self._by_columns, self._by_rest = 0 if what.pulls_on_all else PULLED, 0, 0
        self._hung: list[tuple[int, int]] = []

    def plan(self) -> Plan:
        what = self._what
        for r, run in enumerate(what.runs):
            if any(force.element not in what.slopes for force in run):
                self._acts = True
                if all(force.holds_wrenches for force in run):
                    for force in run:
                        self._push(self._reach_of(force))
                elif run[0].implementation is None:  # those of Python are held
                    self._take_run(r, run)
        if what.constraints:
            self._take_constraints()
        if self._unknown.intersection(what.moved):  # then all by columns, which have those of every motion
            self._has_rest = self._swept = True
        else:
            for b, address in what.moved.items():
                call = MOTION, address, b, 0
                self._graph.add(call, [], [b], True)
                self._graph.rest[call] = -1, 1
        by_columns = self._by_columns | (SWEPT if self._swept else 0)
        if not (self._has_columns or by_columns):
            by_columns = -1
        by_rest = self._by_rest | max(by_columns, 0)
        if by_columns < 0 and not (self._has_rest or by_rest):
            by_rest = -1
        counts = [self._tree.fields[name] for name in ("num_p", "num_v", "num_a")]
        tables = self._graph.tables(lambda c: int(sum(count[c] for count in counts)))
        nodes, calls, pushed, crossings, used, num_blocks = tables
        groups, members = self._groups()
        self._pushed.update(one[1] for one in pushed.tolist() if one[0] == BODY and not one[3] and one[2] >= 0)
        of_paths = [b for bodies, _, _ in self._along for b in bodies]
        self._carried.update(of_paths, used.tolist())
        used = np.union1d(used, of_paths).astype(np.int64)
        used = np.append(used, [-b for b in sorted(self._lines.read.difference(used.tolist()))]).astype(np.int64)
        for node in nodes[nodes[:, local.KIND] != REST]:
            for other in pushed[node[FIRST_PUSHED] : node[END_PUSHED]]:
                self._pattern.couple(self._mobilities_of(*other[:2]), self._mobilities_of(*node[:2]))
        for crossing in crossings:
            self._pattern.couple_bodies(crossing[:2])
        if by_columns >= 0:  # udot that motions prescribe are of their own coordinates, and M has the tree's shape
            self._pattern.fill()
        every = set(range(self._tree.nb)) if by_columns >= 0 else set[int]()
        of_lines, first = self._lines.tables(), self._tree.nb + len(crossings) - len(self._graph.closed)
        bushings = _table([(integers, numbers, first + k) for integers, numbers, k in self._bushings], 3)
        joined = _table(self._joined, 10)
        joined[joined[:, BETWEEN] > 0, BLOCK] += first
        coupled = self._acted([*crossings[:, :2].flat, *of_lines[2]])[0]
        acted = *self._acted(every | self._pushed | self._carried), *self._acted(every | self._pushed)
        by_duals = len(nodes) + len(groups) > 0 or by_rest >= 0 or by_columns >= 0 or self._searches
        by_duals = by_duals or bool((of_lines[0][:, lines.KIND] == lines.LAW).any())
        return Plan(
            *(
                nodes,
                calls,
                pushed,
                self._ways,
                groups,
                members,
                crossings,
                *of_lines,
                self._lines.size,
                bushings,
                joined,
                self._central,
                np.array(self._listed, np.int64),
                coupled,
                used,
            ),
            *(np.array(self._contacts, np.int64), self._searches, by_duals, *acted, _table(self._hung, 2), self._routines),
            *(by_columns, by_rest, self._by_parts),
            damped=self._damped,
            acts=self._acts or by_columns >= 0,
            constrained=what.constrained,
            thermostats=np.array(self._thermostats, np.int64),
            wrenches=self._wrenches,
            num_blocks=num_blocks,
            pattern=self._pattern,
        )

    def _mobilities_of(self, kind: int, b: int) -> Table:
        """Those that move a body, or a mobilizer's own."""
        if kind == BODY:
            return self._pattern.ways[b]
        return np.arange(self._tree.first_u[b], self._tree.first_u[b] + self._tree.num_u[b])

    def _push(self, reach: tuple[Sequence[int], Sequence[int]] | None) -> None:
        """Wrenches act on the bodies that are reached, or on all."""
        self._pushed.update(range(self._tree.nb) if reach is None else reach[0])

    def _acted(self, bodies: Iterable[int]) -> tuple[Table, Table]:
        """These and all inboard of them, without Ground; and 1 at the places of their mobilities."""
        parents, found, places = self._tree.fields["parent"], set[int](), np.zeros(self._tree.nu, np.int64)
        for b in bodies:
            while b > 0 and b not in found:
                found.add(b)
                b = int(parents[b])
        for b in found:
            first = self._tree.fields["first_place"][b]
            places[first : first + self._tree.num_u[b]] = 1
        return np.array(sorted(found), np.int64), places

    def _take_run(self, r: int, run: Sequence[Any]) -> None:
        """Elements of one kind: contacts, local ones, or by columns; by z and time apart."""
        if run[0].routine is Thermostat.routine:
            self._thermostats += [force.element for force in run]
            return
        if run[0].routine is GravityCompensation.routine:
            for force in run:
                self._hung.append((force.span[0], force.span[2]))
                self._push(force.reach())
            return
        takes = self._takes_wrench, self._takes_bushing, self._takes_central
        run = [force for force in run if not any(take(force) for take in takes)]
        if not run:
            return
        if run[0].routine in lines.KINDS:
            for force in run:
                self._join(self._lines.add_points(force))
            return
        reaches, has_rest = [self._reach_of(force) for force in run], any(force.reads_z or force.reads_time for force in run)
        if isinstance(run[0], ContactElement):
            self._contacts += [force.element for force in run]
            for force in run:
                self._pattern.couple_bodies((one.body for one in force.surfaces if one.body), seldom=True)
                self._pushed.update(one.body for one in force.surfaces)
                self._searches = self._searches or force.formulas != OF_ALL
            self._damped = True
            if not has_rest:
                return
        if all(map(self._is_along, run)):
            for force in run:
                if not _moves_one(force):
                    self._take_along(force, *force.reach())
            run = [force for force in run if _moves_one(force)]
            if not run:
                return
            reaches = [self._reach_of(force) for force in run]
        assert run[0].routine is not None
        address = run[0].routine.address(with_tangents=True)
        if isinstance(run[0], ContactElement):
            reaches.clear()
        elif None in reaches:
            self._routines[r], self._has_columns = address, True
            self._swept = self._swept or bool(self._difficult) or not all(map(_is_of_package, run))
            return
        is_local = has_rest and len(reaches) > 0 and self._takes_z(run, reaches)
        for force, reach in zip(run, reaches, strict=False):
            assert reach is not None
            fast = not force.reads_positions_only
            call = FORCE, address, force.element, force.element + 1
            by_place = _is_of_coordinates(force)
            between = acts_between(force) or _is_along_between(force) or by_place
            if between and len(set(reach[0])) == 2 and 0 not in reach[0]:
                self._graph.add_between(call, reach[0], fast, reach[1])
            else:
                self._graph.add(call, *reach, fast, by_place=by_place)
            self._damped = self._damped or fast
            if is_local:
                self._graph.rest[call] = force.first_z if force.reads_z else -1, int(force.reads_time)
        if has_rest and not is_local:
            if reaches and all(force.num_z <= local.MOST_Z for force in run):
                for force in run:
                    own = force.num_z if force.reads_z else 0, int(force.reads_time)
                    self._graph.alone[force.element] = (FORCE, address, force.element, force.element + 1), own
            else:
                self._routines[r], self._has_rest = -address, True

    def _takes_z(self, run: Sequence[Any], reaches: Sequence[Any]) -> bool:
        """True if local calls can differentiate elements by z and time: of each node, one call has a z."""
        slots = dict(self._slots)
        for force, (bodies, mobilizers) in zip(run, reaches, strict=True):
            own = force.num_z if force.reads_z else 0
            if own > 1 or (force.reads_z and own == 0):
                return False
            holders = [(local.Z, force.element)] * own + [(local.TIME, -1)] * force.reads_time
            for part in [(BODY, b) for b in bodies if b > 0] + [(MOBILIZER, b) for b in mobilizers]:
                if any(slots.setdefault((slot, *part), holder) != holder for slot, holder in holders):
                    return False
        self._slots = slots
        return True

    def _takes_wrench(self, force: Any) -> bool:
        """True if it is on one body, and has a routine for derivatives."""
        found = is_on_body(force)
        if found:
            b = force.reach()[0][0]
            self._wrenches.append((force.element, b, force.wrench_routine, force.first_z, force.num_z))
            self._pushed.add(b)
            self._damped = True
        return found

    def _takes_bushing(self, force: Any) -> bool:
        """True if it is a bushing between bodies of one base, in closed form."""
        if force.routine is not LinearBushing.routine:
            return False
        b1, b2 = force.default_integers[:2]
        if b1 == b2 or self._graph.common(b1, b2) == 0:
            return False
        self._bushings.append((force.span[0], force.span[2], len(self._graph.closed)))
        self._graph.closed.append((b1, b2, 1, BOTH))
        self._carried.update((b1, b2))
        return True

    def _takes_central(self, force: Any) -> bool:
        """True if it is between points of bodies, and has a routine for what these do to each other."""
        if not (_says(force, "stiffness_routine") and force.stiffness_routine):
            return False
        bodies = force.reach()[0]
        count, listed = central.list_of(self._tree, bodies)
        if count > _MOST_LISTED:
            return False
        points, first = force.default_integers[0], self._lines.size
        self._central.append((force.element, force.stiffness_routine, first, len(self._listed), count, points))
        self._lines.size += central.size_of(count, points, self._tree.nb)
        self._listed += listed
        self._pushed.update(bodies)
        self._pattern.couple_bodies(bodies)
        return True

    def _join(self, bodies: set[int]) -> None:
        """Forces along lines join bodies."""
        self._carried.update(bodies)
        self._pattern.couple_bodies(bodies)

    def _take_constraints(self) -> None:
        """All local, or all by columns."""
        self._acts = True
        constraints = self._what.constraints
        if all(map(self._is_local, constraints)):
            address = contribute_constraint.address(with_tangents=True)
            for one in constraints:
                if self._takes_joint(one):
                    continue
                bodies, mobilizers = one.reach()
                call, own = (CONSTRAINT, address, one.index, 0), sorted(set(one.body_indices()))
                pair = own[-2:]
                if len(own) == 3 and self._graph.common(*pair) != own[0]:  # which is no case that carries both
                    pair = []
                between = _is_between(one) and len(pair) == 2 and 0 not in bodies and not mobilizers
                if between and set(bodies) == set(pair):
                    self._graph.add_between(call, pair, True)
                elif between:
                    self._graph.add_about(call, pair)
                else:
                    self._graph.add(call, bodies, mobilizers, True, set(bodies).difference(own))
            self._by_parts |= CONSTRAINED  # at given multipliers their forces depend on no velocity
            self._by_rest = CONSTRAINED if any(one.depends_on_time for one in constraints) else 0
        else:
            self._by_columns |= CONSTRAINED
            self._by_rest = CONSTRAINED
            self._swept = self._swept or bool(self._difficult) or not all(map(_is_of_package, constraints))

    def _takes_joint(self, constraint: Any) -> bool:
        """True if a constraint is in closed form, see `points_and_axes`."""
        of_ancestor, rows, kind = KINDS.get(constraint.routine, (False, -1, ()))
        own = constraint.body_indices()
        if sum(constraint.number_of_equations) != rows or len(set(own)) != 2:
            return False
        frame = constraint.get_ancestor_mobilized_body().get_mobilized_body_index() if of_ancestor else own[0]
        common, one = self._graph.common(*own), (constraint.index, frame)
        if 0 in own:
            moved = 1 - own.index(0)
            self._joined.append((*one, moved, 0, 0, own[moved], *kind))
            self._pushed.add(own[moved])
            return True
        if common == 0:
            self._pushed.update(own)
        else:
            self._carried.update(own)
        ways = [1, 0] if common == 0 or frame not in own else [1] if frame == own[0] else [0]
        between = APART if common == 0 else BOTH if len(ways) == 1 else ONE
        for moved in ways:
            self._joined.append((*one, moved, common, between, len(self._graph.closed), *kind))
            self._graph.closed.append((own[1 - moved], own[moved], 0, between % APART))
        return True

    def _is_along(self, force: Any) -> bool:
        """True if it is a function of a path's length, of its rate, and of a few z, and pulls in proportion."""
        named = self._named(force)
        found = named is not None and not self._difficult.intersection(named[1]) and force.num_z <= MOST_Z
        return found and acts_along(force) and bool(force.acts_along().is_linear)

    def _take_along(self, force: Any, bodies: Sequence[int], mobilizers: Sequence[int]) -> None:
        address = force.along_routine.address(with_tangents=True)
        if force.acts_along().spans() is not None:
            self._join(self._lines.add_path(force, address))
            return
        key = tuple(sorted(set(bodies))), tuple(sorted(set(mobilizers))), bool(force.acts_along().is_between)
        self._along.setdefault(key, []).extend((force.element, address, force.first_z, force.num_z))

    def _groups(self) -> tuple[Table, Table]:
        """Groups of forces along paths, and their members."""
        groups: list[list[int]] = []
        members: list[int] = []
        for (bodies, mobilizers, between), elements in self._along.items():
            own = [int(i) for b in mobilizers for i in self._mobilities_of(MOBILIZER, b)]
            ways = [self._pattern.ways[b].tolist() for b in bodies]
            shared = set.intersection(*map(set, ways)) if between and ways else set[int]()
            rows = sorted({*own, *(i for way in ways for i in way)})
            columns = [i for i in rows if i not in shared or i in own]
            self._pattern.couple(rows, rows)
            group: list[int] = []
            for part in (elements, [b for b in bodies if b > 0], mobilizers, columns, rows):
                group.append(len(members))
                members += part
                group.append(len(members))
            groups.append(group)
        return _table(groups, OF_GROUP), np.array(members, np.int64)

    def _reach_of(self, force: Any) -> tuple[Sequence[int], Sequence[int]] | None:
        """The bodies and mobilities that an element names; None where that is not all it reads, or too many."""
        found = self._named(force)
        return None if found is None or len(set(found[0])) + len(set(found[1])) > _MOST_PARTS else found

    def _named(self, force: Any) -> tuple[Sequence[int], Sequence[int]] | None:
        """The same, however many."""
        found = force.reach() if _is_of_package(force) else None
        return None if found is None or self._unknown.intersection(found[1]) else (found[0], found[1])

    def _is_local(self, constraint: Any) -> bool:
        bodies, mobilizers = constraint.reach()
        few = len(bodies) + len(mobilizers) <= _MOST_PARTS
        return few and _is_of_package(constraint) and not self._unknown.intersection(mobilizers)


def _ways_of(tree: Any) -> tuple[Table, list[Table]]:
    """Of each body where the mobilities on the way to it are listed, and the lists; and these by themselves."""
    ways: list[Table] = [np.zeros(0, np.int64)]
    for b in range(1, tree.nb):
        own = np.arange(tree.first_u[b], tree.first_u[b] + tree.num_u[b])
        ways.append(np.concatenate([own, ways[tree.fields["parent"][b]]]))
    starts = tree.nb + 1 + np.cumsum([0, *map(len, ways)])
    return np.concatenate([starts, *ways]), ways


def acts_between(force: Any) -> bool:
    """True if the force says so of its routine."""
    return _says(force, "acts_between") and bool(force.acts_between)


def acts_along(force: Any) -> bool:
    """True if the force says so of its routine, by one along its path."""
    return _says(force, "along_routine") and force.along_routine is not None


def is_on_body(force: Any) -> bool:
    """True if the force says so of its routine, by one for derivatives."""
    return _says(force, "wrench_routine") and force.wrench_routine is not None


def _is_along_between(force: Any) -> bool:
    """True if it acts along a path that a motion of all its bodies as one leaves alone."""
    return acts_along(force) and bool(force.acts_along().is_between)


def _is_of_coordinates(force: Any) -> bool:
    """True if it acts between bodies, where they are, by a path that is a function of coordinates alone."""
    return acts_along(force) and bool(force.acts_along().is_of_coordinates)


def _moves_one(force: Any) -> bool:
    """True if six directions of one body are all that a path changes by, and it is not in closed form, see `lines`."""
    bodies, mobilizers = force.reach()
    most = 2 if _is_along_between(force) else 1
    return force.acts_along().spans() is None and not mobilizers and 0 < len({*bodies} - {0}) <= most


def _says(force: Any, what: str) -> bool:
    """True if the class that has its routine says *what*: a routine of a user's own kind may do otherwise."""
    kind = next((kind for kind in type(force).__mro__ if "routine" in vars(kind)), None)
    return kind is not None and what in vars(kind)


def _is_between(constraint: Any) -> bool:
    """True if what it reads of two bodies, and does to them, is of their motion relative to each other, by the package."""
    return not isinstance(constraint, Custom) and type(constraint).__module__.startswith("mobod.")


def _is_of_package(part: Any) -> bool:
    """True if it reads of bodies their motion alone: of a user's own kind nobody knows."""
    kind = next(kind for kind in type(part).__mro__ if kind.__module__.startswith("mobod."))
    return kind not in (Force, Constraint) and not getattr(part, "reads_mobilizers", False)
