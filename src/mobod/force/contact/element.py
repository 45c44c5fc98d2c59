"""The force element of all contacts among a set of surfaces, and what the record has of it.

Integers: the element's first surface; how many it has; where contact_integers list the unbounded, the bounded ones, and the
bounded ones that may touch others of these, each list after its length, and the table of which may touch: for each two, row by
row, the number of their pair's routine, or -1; the number of the law's routine; whether energy is tracked; the kind of law;
what is left to a search, see `at_once`; 1 where something resists rolling or spinning, or a surface moves, see `resistance`;
what has derivatives in closed form.
Numbers: the law's own, then those of each surface, see `contact.access`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...algebra.record import attach, call_routine
from ...algebra.scalar import load, load_lane, num_lanes, store, store_lane
from ...compiling import Routine, apart, compiled, generic, routine
from ...contact.pairs import PAIRS
from ...contact.shape import SPHERE
from ...errors import ModelError
from ...state.state import State
from ...value.frames import twelve
from .. import routines
from ..base import Force
from ..layout import Entry
from ..subsystem import GeneralForceSubsystem
from . import broad_phase
from .at_once import MOST_SPHERES, OF_EIGHT, OF_ONE, at_once, is_at_once, spheres
from .bristle import LEAST_ROWS, ROWS_A_SURFACE, clear_bristles, forget_bristles
from .broad_phase import may_meet, place_surfaces, searching
from .fields import Fields, Placed
from .law import DISSIPATED, TABLE, compliant, hunt_crossley, sticking

#: What force_enabled is where time stepping has what touches in its problem, and no forces of it are to be applied.
STEPPED = 2
#: The column of contact_sum that says of which lanes surfaces may be near.
_NEAR = 30


# ---------------------------------------------------------------------------------------------- kernels


@generic
def _visit(model: Any, integers: int, a: int, b: int, lane: int, k: Any) -> None:
    """The law for two surfaces that are near, if they may touch and overlap."""
    fixed = model.force_integers
    if num_lanes(load(model.time, 0, 0)) == 1 and fixed[integers + broad_phase.LAW_KIND] == broad_phase.SIMPLE:
        if model.surface_kind[a] == SPHERE and model.surface_kind[b] == SPHERE:
            first, n = fixed[integers + broad_phase.FIRST_SURFACE], fixed[integers + broad_phase.NUM_SURFACES]
            if model.contact_integers[fixed[integers + broad_phase.MAY_TOUCH] + (a - first) * n + b - first] >= 0:
                spheres(model, k, min(a, b), max(a, b))
            return
    pair, count = overlap(model, integers, a, b, lane)
    if count > 0:
        law = fixed[integers + broad_phase.LAW_ROUTINE]
        call_routine(model.contact_routines[law], model, pair[0], pair[1], pair[2], k[0], count, k[1])


@generic
def overlap(model: Any, integers: int, a: int, b: int, lane: int) -> Any:
    """Two surfaces as a pair, and how many points they touch at."""
    fixed = model.force_integers
    first, n = fixed[integers + broad_phase.FIRST_SURFACE], fixed[integers + broad_phase.NUM_SURFACES]
    which = model.contact_integers[fixed[integers + broad_phase.MAY_TOUCH] + (a - first) * n + b - first]
    if model.surface_kind[a] > model.surface_kind[b] or (model.surface_kind[a] == model.surface_kind[b] and a > b):
        pair = b, a, lane
    else:
        pair = a, b, lane
    count = 0
    if which >= 0:
        count = call_routine(model.contact_routines[which], model, pair[0], pair[1], pair[2])
    return pair, count


_search = searching(_visit, leaves_simple=True)


@apart
def _search_one(model: Any, integers: int, lane: int, k: Any) -> None:
    """Visit the pairs of one lane that may touch."""
    _search(model, integers, lane, k)


@routine
def contacts(model: Any, first: int, end: int, what: int) -> int:
    """As `routines` asks of a run of elements: forces, energies or powers of each, state by state where there are eight."""
    lanes = num_lanes(load(model.time, 0, 0))
    for_whom = OF_ONE if lanes == 1 else OF_EIGHT
    for e in range(first, end):
        if model.force_enabled[e] == 1 or (model.force_enabled[e] == STEPPED and what != routines.FORCES):
            i = model.force_first_integer[e]
            start = model.force_integers[i]
            if model.force_integers[i + 1] > 0:
                place_surfaces(model, start, start + model.force_integers[i + 1])
                law = model.force_integers[i + broad_phase.LAW_KIND]
                for lane in range(lanes):
                    store_lane(model.contact_sum, 0, DISSIPATED, lane, 0.0)
                if law == broad_phase.SIMPLE:
                    at_once(model, i, (e, what))
                if model.force_integers[i + broad_phase.SEARCHED] & for_whom != 0:
                    if what == routines.FORCES and law == broad_phase.STICKING:
                        clear_bristles(model)
                    if lanes > 1:
                        store(model.contact_sum, 0, _NEAR, may_meet(model, i))
                    for lane in range(lanes):
                        if lanes == 1 or load_lane(model.contact_sum, 0, _NEAR, lane) > 0.0:
                            _search_one(model, i, lane, (e, what))
                if what == routines.FORCES and model.force_integers[i + broad_phase.TRACKED] == 1:
                    store(model.z_dot, model.force_first_z[e], 0, load(model.contact_sum, 0, DISSIPATED))
        elif model.force_enabled[e] == STEPPED:
            i = model.force_first_integer[e]
            if model.force_integers[i + broad_phase.LAW_KIND] == broad_phase.STICKING:
                forget_bristles(model)
    return 0


@generic
def _tell(model: Any, integers: int, a: int, b: int, lane: int, k: Any) -> None:
    """Write a row of a table of contacts, and rows of its points; *k* is the element, the table, the points and counts."""
    element, table, points, counts = k
    pair, count = overlap(model, integers, a, b, lane)
    if count > 0:
        law = model.force_integers[integers + broad_phase.LAW_ROUTINE]
        call_routine(model.contact_routines[law], model, pair[0], pair[1], pair[2], element, count, TABLE)
        row, first = counts[0], counts[1]
        if row < table.shape[0]:
            table[row, 0], table[row, 1], table[row, 2] = pair[0], pair[1], count
            for c in range(table.shape[1] - 3):
                table[row, c + 3] = load_lane(model.contact_sum, 0, c, lane)
        for p in range(count):
            if first + p < points.shape[0]:
                points[first + p, 0], points[first + p, 1] = pair[0], pair[1]
                for c in range(points.shape[1] - 2):
                    points[first + p, c + 2] = load_lane(model.contact_point, p, c, lane)
        counts[0], counts[1] = row + 1, first + count


_search_for_table = searching(_tell)


@compiled
def tabulate(block: Any, e: int, table: Any, points: Any, counts: Any) -> None:
    """All contacts of element *e*: a row of *table* each, and one of *points* each point, as far as there is room.

    *counts* becomes how many there are of both.
    """
    model = attach(block)
    counts[0] = counts[1] = 0
    i = model.force_first_integer[e]
    start = model.force_integers[i]
    if model.force_enabled[e] != 0:
        place_surfaces(model, start, start + model.force_integers[i + 1])
        _search_for_table(model, i, 0, (e, table, points, counts))


# ---------------------------------------------------------------------------------------------- the element


class ContactElement(Force):
    """The forces of all contacts among a set of surfaces by one law.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        What it joins.
    law : Routine
        The force of a pair, see `law`.
    numbers : sequence of float
        The law's own.
    place : callable
        ``place()``: the surfaces, when the topology is realized.
    may_touch : callable
        ``may_touch(a, b)``: whether two of these are looked at.
    check : callable, optional
        ``check(a, b)`` refuses two that may touch, but that the law is not for.
    """

    INNER = frozenset(
        {
            "bristle_rows",
            "fields",
            "find_surfaces",
            "first_routine",
            "first_surface",
            "first_table",
            "surfaces",
            "tracks_energy",
        }
    )

    routine = contacts

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        law: Routine,
        numbers: Sequence[float],
        place: Callable[[], Sequence[Placed]],
        may_touch: Callable[[Placed, Placed], bool],
        *,
        check: Callable[[Placed, Placed], None] | None = None,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self._law, self._place, self._may_touch, self._check_pair = law, place, may_touch, check
        self.default_numbers = list(numbers)
        self.surfaces: Sequence[Placed] = ()
        self.fields = Fields((), (), (), ())
        #: Where its surfaces, its lists, its routines are among those of all elements: set when the tree is made.
        self.first_surface = self.first_table = self.first_routine = 0
        self.tracks_energy = False
        #: What is left to a search, see `at_once`.
        self._left = OF_ONE | OF_EIGHT
        #: What has derivatives in closed form: `broad_phase.OF_PLANES`, `OF_ALL`, or 0.
        self.formulas = 0
        #: Of the tables of its friction, where that remembers; None leaves it to the number of surfaces.
        self.bristle_rows: int | None = 0

    @property
    def num_z(self) -> int:  # type: ignore[override]
        """One where it adds up the dissipated energy."""
        return int(self.tracks_energy)

    def find_surfaces(self) -> Fields:
        """Collect the surfaces, and which of them may touch.

        Raises
        ------
        ModelError
            If two may touch for whose shapes there is no routine.
        """
        self.surfaces = placed = list(self._place())
        n = len(placed)
        unbounded = [i for i, one in enumerate(placed) if one.surface.geometry.is_unbounded]
        bounded = [i for i, one in enumerate(placed) if not one.surface.geometry.is_unbounded]
        of_pairs: dict[Routine, int] = {self._law: 0}
        table = np.full((n, n), -1, np.int64)
        for i, a in enumerate(placed):
            for j, b in enumerate(placed[:i]):
                if not self._may_touch(b, a):
                    continue
                pair = check_pair(b, a)
                if self._check_pair is not None:
                    self._check_pair(b, a)
                table[i, j] = table[j, i] = of_pairs.setdefault(pair, len(of_pairs))
        paired = [i for i in bounded if np.any(table[i, bounded] >= 0)]
        lists = [len(unbounded), *unbounded, len(bounded), *bounded, len(paired), *paired]
        left = self._left_to_search(table, unbounded, paired)
        self._left = left if self._law is compliant else OF_ONE | OF_EIGHT
        if self._law in (compliant, hunt_crossley) and not any(map(has_resistance, placed)):
            self.formulas = broad_phase.OF_PLANES if left & OF_EIGHT else broad_phase.OF_ALL
        table[table >= 0] += self.first_routine
        first = len(self.default_numbers)
        starts, at = [], first
        for one in placed:
            starts.append(at)
            at += len(surface_numbers(one))
        rows = max(LEAST_ROWS, ROWS_A_SURFACE * n) if self.bristle_rows is None else self.bristle_rows
        self.fields = Fields(placed, [*lists, *table.ravel().tolist()], list(of_pairs), starts, rows)
        return self.fields

    def _left_to_search(self, table: npt.NDArray[np.int64], unbounded: Sequence[int], paired: Sequence[int]) -> int:
        """The pairs that `at_once` leaves to a search of one state, and of each of eight."""
        kinds = [one.surface.geometry.KIND for one in self.surfaces]
        for i in unbounded:
            if any(table[i, j] >= 0 and not is_at_once(*sorted((kinds[i], kind))) for j, kind in enumerate(kinds)):
                return OF_ONE | OF_EIGHT
        if not paired:
            return 0
        are_few = len(paired) <= MOST_SPHERES and all(kinds[i] == SPHERE for i in paired)
        return OF_ONE if are_few else OF_ONE | OF_EIGHT

    def why_not_finite(self, state: State) -> str | None:
        now = state.record.bristle_now
        if len(now) and np.all(now[:, 0]):
            return (
                f"more than {len(now)} points touch, and friction by bristles cannot remember more; "
                f"make the subsystem with max_bristles={2 * len(now)}"
            )
        return None

    def pack_integers(self) -> list[int]:
        n, lists = len(self.surfaces), self.first_table
        if not self.fields.integers:
            return [0] * 12
        bounded = lists + 1 + self.fields.integers[0]
        paired = bounded + 1 + self.fields.integers[bounded - lists]
        may_touch = paired + 1 + self.fields.integers[paired - lists]
        kinds = {compliant: broad_phase.SIMPLE, sticking: broad_phase.STICKING, hunt_crossley: broad_phase.OF_HERTZ}
        own = [self.first_routine, int(self.tracks_energy), kinds.get(self._law, 0), self._left]
        own += [int(any(map(has_resistance, self.surfaces))), self.formulas]
        return [self.first_surface, n, lists, bounded, paired, may_touch, *own]

    def entry(self) -> Entry:
        return super().entry()._replace(contact=self.fields)

    def pack_numbers(self) -> list[float]:
        return [*self.default_numbers, *(x for one in self.surfaces for x in surface_numbers(one))]


def check_pair(a: Placed, b: Placed) -> Routine:
    """The routine that finds where two surfaces overlap; `ModelError` where there is none."""
    kinds = sorted((a.surface.geometry.KIND, b.surface.geometry.KIND))
    pair = PAIRS.get((kinds[0], kinds[1]))
    if pair is None or (a.surface.geometry.is_unbounded and b.surface.geometry.is_unbounded):
        kind, its = type(a.surface.geometry).__name__, type(b.surface.geometry).__name__
        raise ModelError(
            f"{a.name!r} and {b.name!r} may touch, and there is no law of contact of {kind} and {its}; give one "
            "another shape, exclude the two bodies by exclude(body1, body2), or put both surfaces into one clique"
        )
    return pair


def has_resistance(one: Placed) -> bool:
    """True if a surface resists rolling or spinning, or has a velocity."""
    material = one.surface.material
    return material.rolling_friction > 0.0 or material.spinning_friction > 0.0 or one.surface.velocity is not None


def surface_numbers(one: Placed) -> list[float]:
    """The numbers of a surface, as `contact.access` says."""
    material, shape = one.surface.material, one.surface.geometry
    friction = [material.static_friction, material.dynamic_friction, material.viscous_friction]
    box = [0.0] * 6 if shape.is_unbounded else [float(x) for side in shape.bounds() for x in side]
    thickness = one.surface.thickness or 0.0
    own = [material.stiffness, material.dissipation, *friction, thickness, material.stiffness ** (2.0 / 3.0)]
    own += [material.rolling_friction, material.spinning_friction, *(one.surface.velocity or (0.0, 0.0, 0.0))]
    return [*twelve(one.X_BS), *own, *box, *shape.dimensions()]
