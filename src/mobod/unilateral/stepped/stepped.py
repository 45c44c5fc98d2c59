"""Stepped: the surfaces of a system that `integrator.TimeStepping` takes into its problem."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...algebra.arrays import Array
from ...algebra.pointers import block_of
from ...algebra.record import attach
from ...compiling import compiled
from ...errors import ModelError
from ...force.contact.element import STEPPED, ContactElement
from ...force.contact.subsystem import CompliantContactSubsystem
from . import space as names
from .equations import find_rows, find_ties
from .joints import joints_of
from .points import find_points, place_all, recall, remember
from .rigid_surfaces import RigidSurfaces
from .solve import solve
from .space import Space, enlarged, make_space, with_block
from .step import step_one

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...state.state import State
    from ...value.annotations import MultibodySystem

#: A row of `TimeStepping.get_contact_points`.
STEPPED_POINT = np.dtype(
    [
        *((name, np.int64) for name in ("surface1", "surface2", "body1", "body2")),
        *((name, np.float64, (3,)) for name in ("point", "normal")),
        ("depth", np.float64),
        *((name, np.float64, (3,)) for name in ("slip", "force", "moment")),
    ]
)


@compiled
def find_points_and_rows(block: Any, address: int, h: float) -> int:
    """The points, their limits and columns at a record realized to VELOCITY; 1 where there is no room for them."""
    model, space = attach(block), names.space_at(address)
    counts = space.counts
    place_all(model, space)
    find_points(model, space, h, 0)
    counts[names.NEED_POINTS] = counts[names.POINTS]
    counts[names.NEED_COLUMNS] = counts[names.NEED_ROWS] = counts[names.NEED_VALUES] = 0
    if counts[names.POINTS] > space.keys.shape[0]:
        return 1
    recall(space, h)
    find_rows(model, space, True)
    counts[names.NEED_COLUMNS] = counts[names.COLUMNS]
    return int(counts[names.COLUMNS] > space.columns.shape[0])


@compiled
def _remember(address: int, h: float) -> None:
    """Keep the impulses of all points for the next step, as kernels do."""
    space = names.space_at(address)
    remember(space)
    space.measures[names.LAST_STEP] = h


class DenseRows(NamedTuple):
    """The points that touch, for steps that Python takes.

    J : (3n, nu) array
    friction, compliance, target : (n,) arrays
    drift : (n, 2) array, what J u lacks of the velocities along the tangents
    names : list of str
    resistances : list of (name, rows, largest impulse), what resists rolling and spinning
    """

    J: Array
    friction: Array
    compliance: Array
    target: Array
    drift: Array
    names: list[str]
    resistances: list[tuple[str, Array, float]]


class Stepped:
    """The elements with surfaces that are stepped, of a system, and the arrays of a run."""

    space: Space  #: None before the first state.

    def __init__(self, system: MultibodySystem) -> None:
        self._system = system
        self.elements: list[ContactElement] = []
        self._rigid: list[int] = []
        for forces in system.force_subsystems:
            if isinstance(forces, CompliantContactSubsystem | RigidSurfaces):
                self.elements.append(forces.element)
                self._rigid.append(int(isinstance(forces, RigidSurfaces)))
        self.space = None  # type: ignore[assignment]
        #: Paths of constraints, and whether kernels know all that may touch beside surfaces; None before the first state.
        self._ties: npt.NDArray[np.int64] | None = None
        self._knows_others = False
        #: Names and numbers of rows of what touches beside surfaces, by its constraint; coefficients, as kernels find them.
        self._others: dict[int, tuple[str, int]] = {}
        self._coefficients: list[npt.NDArray[np.int64]] = []

    def __bool__(self) -> bool:
        return any(one.surfaces for one in self.elements)

    def begin(self, state: State) -> None:
        """Make the arrays for a run that begins at a state."""
        tree = state.tree
        used = [(one.element, rigid) for one, rigid in zip(self.elements, self._rigid, strict=True) if one.surfaces]
        joints, matter = joints_of(self._system.all_forces(), tree), self._system.get_matter_subsystem()
        contacts, frictions = matter.unilateral_contacts, matter.state_limited_frictions
        rows = [(one, one.rows_of()) for one in contacts] + [(one, one.stick) for one in frictions]
        self._others = {held.index: (one.name, sum(held.number_of_equations)) for one, held in rows}
        if len(self._coefficients) < len(contacts):  # once, as spaces of other workers have their addresses
            self._coefficients = [block_of([one.numbers]) for one in contacts]
        gaps = [
            (one.normal.index, one.get_sign_convention(), one.may_be_beside, one.rows_of().index, address, 0)
            for one, address in zip(contacts, self._addresses, strict=True)
        ]
        sticks = [(one.stick.index, (one.known_force or 0.0, *one.coefficients)) for one in frictions]
        made = make_space(tree.fields, len(state.y_values), used, joints, find_ties(tree.fields), gaps, sticks)
        self.space = with_block(made, step_one.address(), solve.address())

    @property
    def _addresses(self) -> list[int]:
        return [block.ctypes.data for block in self._coefficients]

    def __setstate__(self, kept: dict[str, Any]) -> None:
        """Addresses are of the process, and of the copy."""
        self.__dict__.update(kept)
        if self.space is not None:
            contacts = self._system.get_matter_subsystem().unilateral_contacts
            self._coefficients = [block_of([one.numbers]) for one in contacts]
            self.space.gaps[:, names.NUMBERS] = self._addresses
            self.space = with_block(self.space, step_one.address(), solve.address())

    def take(self, space: Space) -> None:
        """Work in the space of another state."""
        self.space = space

    def enlarge(self) -> None:
        """Make room for what there was none."""
        self.space = enlarged(self.space)

    @contextmanager
    def without_forces(self, state: State) -> Iterator[None]:
        """Within it, kernels apply no forces of these surfaces, and find what touches all the same."""
        if not self:
            yield
            return
        on = self.leave_out_forces(state)
        try:
            yield
        finally:
            state.own_fields["force_enabled"][on] = 1

    def leave_out_forces(self, state: State) -> list[int]:
        """The same from now on; the elements that are concerned."""
        if "force_enabled" not in state.own_fields:
            state.own_field("force_enabled")
        enabled = state.own_fields["force_enabled"]
        on = [one.element for one in self.elements if enabled[one.element]]
        enabled[on] = STEPPED
        return on

    # ------------------------------------------------------------------------------------------ dense

    def dense_rows(self, state: State, h: float) -> DenseRows:
        """The contacts, for steps that Python takes."""
        space = self.space
        while find_points_and_rows(state.block, names.address_of(space), h):
            space = self.space = enlarged(space)
        n = int(space.counts[names.POINTS])
        space.counts[names.KEPT] = 0  # until `keep`
        J = np.zeros((3 * n, state.tree.nu))
        speed_at = np.argsort(space.place_of_speed)
        for i in range(n):
            begin, end = space.pairs[i, names.BEGIN], space.pairs[i, names.END]
            np.add.at(J[3 * i : 3 * i + 3].T, speed_at[space.columns[begin:end]], space.coefficients[:, begin:end].T)
        kinds, labels = space.pairs[:n, names.KIND], self._labels(n)
        which = np.flatnonzero(kinds == names.CONTACT)
        points, blocks = space.points[which], J.reshape(n, 3, state.tree.nu)
        resistances = []
        for k in np.flatnonzero(kinds != names.CONTACT).tolist():
            limit = float(space.points[k, names.LIMIT])
            resistances.append((labels[k], blocks[k, 1:] if kinds[k] == names.ROLLING else blocks[k, 1:2], limit))
        return DenseRows(
            blocks[which].reshape(-1, state.tree.nu),
            points[:, names.FRICTION].copy(),
            points[:, names.COMPLIANCE].copy(),
            points[:, names.TARGET].copy(),
            points[:, names.DRIFT + 1 : names.DRIFT + 3].copy(),
            [labels[k] for k in which],
            resistances,
        )

    @property
    def num_points(self) -> int:
        """The number of points that were found last."""
        return 0 if self.space is None else int((self._kinds(int(self.space.counts[names.POINTS])) == names.CONTACT).sum())

    def _kinds(self, n: int) -> Any:
        return self.space.pairs[:n, names.KIND]

    def _kept(self) -> int:
        """The number of rows whose impulses are kept, without equations of constraints, which come last."""
        if self.space is None:
            return 0
        return int((self._kinds(int(self.space.counts[names.KEPT])) != names.EQUATIONS).sum())

    def keep(self, impulses: Array, velocities: Array, resisting: Array, h: float) -> None:
        """Take the impulses and velocities ``(n, 3)`` of the points that a step of Python's has found, as results.

        *resisting* are the impulses of what resists rolling and spinning, one after the other.
        """
        n = int(self.space.counts[names.POINTS])
        kinds, own = self._kinds(n), self.space.points[:n, names.IMPULSE : names.IMPULSE + 3]
        which = kinds == names.CONTACT
        own[which] = impulses
        self.space.points[np.flatnonzero(which), names.V : names.V + 3] = velocities
        at = 0
        for i in np.flatnonzero(~which):
            size = 2 if kinds[i] == names.ROLLING else 1
            own[i] = 0.0
            own[i, 1 : 1 + size] = resisting[at : at + size]
            at += size
        _remember(names.address_of(self.space), h)

    # ------------------------------------------------------------------------------------------ results

    @property
    def unconverged(self) -> int:
        """Problems of the run that did not reach the tolerance."""
        return 0 if self.space is None else int(self.space.counts[names.UNCONVERGED])

    @property
    def largest_friction(self) -> float:
        """The largest coefficient of friction of the points that were found last."""
        if self.space is None:
            return 0.0
        return float(self.space.points[: int(self.space.counts[names.POINTS]), names.FRICTION].max(initial=0.0))

    def steps_all(self, state: State) -> bool:
        """True if its steps are those of the system: all that touches is known, and all ties, too."""
        if self._ties is None:
            matter, self._ties = self._system.get_matter_subsystem(), find_ties(state.tree.fields)
            contacts, frictions = matter.unilateral_contacts, matter.state_limited_frictions
            rows = [one.rows_of().index for one in contacts] + [one.stick.index for one in frictions]
            known = all(one.find_knot is None for one in contacts) and all(one.known_force is not None for one in frictions)
            self._knows_others = bool(known and self._ties[rows, 2].all() and self._ties[rows, 1].all())
        enabled = state.field("constraint_enabled").ravel() != 0 if state.is_constrained else slice(0)
        return self._knows_others and bool(self._ties[enabled, 2].all())

    def impulses(self) -> dict[str, Array]:
        """Of the last step ``(3,)``, by the names of the surfaces and the point: normal, then along two tangents.

        Those of rolling and spinning resistance are angular: nothing, and then along two tangents, or along the normal. Those
        of unilateral contacts and of friction go by its name, and are as many as it has equations.
        """
        space = self.space
        n = self._kept()
        if space is None:
            return {}
        own = space.points[:n, names.IMPULSE : names.IMPULSE + 3] * space.points[:n, names.LENGTH, None]
        found = {}
        for i, (label, impulse) in enumerate(zip(self._labels(n), own.copy(), strict=True)):
            if impulse.any():
                kind, rows = space.pairs[i, [names.KIND, names.FIRST]].tolist()
                first = 1 if kind == names.STICK else 0
                if kind > names.EQUATIONS:
                    impulse = impulse[first : first + self._others[rows][1]]
                found[label] = impulse
        return found

    def _labels(self, n: int) -> list[str]:
        found: list[str] = []
        numbers: dict[str, int] = {}
        what = {names.ROLLING: "rolling", names.SPINNING: "spinning"}
        for i, (one, other) in enumerate(self._named(n)):
            pair, kind = f"{one} - {other}", int(self._kinds(n)[i])
            if kind > names.EQUATIONS:
                found.append(one)
                continue
            if kind == names.CONTACT:
                numbers[pair] = numbers.get(pair, -1) + 1
            found.append(f"{pair}, point {numbers[pair]}{'' if kind == names.CONTACT else f', {what[kind]}'}")
        return found

    def _named(self, n: int) -> list[tuple[str, str]]:
        found = []
        for i, kind in enumerate(self._kinds(n).tolist()):
            a, b = self.space.pairs[i, [names.FIRST, names.SECOND]].tolist()
            if kind > names.EQUATIONS:
                a = b = -1 - a
            found.append((self.name_of(a), self.name_of(b)))
        return found

    def name_of(self, surface: int) -> str:
        """A surface's, by its number in the record; below zero, of what touches by the constraint -1 - that number."""
        if surface < 0:
            return self._others[-1 - surface][0]
        for one in self.elements:
            if 0 <= surface - one.first_surface < len(one.surfaces):
                return one.surfaces[surface - one.first_surface].name
        raise ModelError(f"there is no surface {surface}")

    def points(self) -> Any:
        """Contacts of the last step, or half step, as `STEPPED_POINT`: impulses by its size are forces on the second body."""
        space = self.space
        total = self._kept()
        kept = np.flatnonzero(self._kinds(total) == names.CONTACT) if total else np.zeros(0, np.int64)
        n = len(kept)
        rows = np.zeros(n, STEPPED_POINT)
        if space is None or n == 0:
            return rows
        points, pairs, h = space.points[kept], space.pairs[kept], float(space.measures[names.LAST_STEP])
        moment = np.zeros((total, 3))
        for i in np.flatnonzero((self._kinds(total) != names.CONTACT) & (self._kinds(total) < names.EQUATIONS)):
            own, axes = space.points[i, names.IMPULSE : names.IMPULSE + 3], space.points[i, names.FRAME : names.FRAME + 9]
            moment[space.pairs[i, names.OF]] += space.points[i, names.LENGTH] * (own @ axes.reshape(3, 3)) / h
        frame = points[:, names.FRAME : names.FRAME + 9].reshape(n, 3, 3)
        impulse = np.einsum("ni,nij->nj", points[:, names.IMPULSE : names.IMPULSE + 3], frame)
        v = points[:, names.V : names.V + 3].copy()
        v[:, 0] = 0.0
        slip = np.einsum("ni,nij->nj", v, frame)
        body, place = {}, {}
        for one in self.elements:
            for k, surface in enumerate(one.surfaces):
                body[one.first_surface + k], place[one.first_surface + k] = surface.body, k
        swap = np.array([place[int(a)] > place[int(b)] for a, b in pairs[:, :2]])
        for which, (column, other) in enumerate([(names.FIRST, names.SECOND), (names.SECOND, names.FIRST)], 1):
            surface = np.where(swap, pairs[:, other], pairs[:, column])
            rows[f"surface{which}"] = [place[int(s)] for s in surface]
            rows[f"body{which}"] = [body[int(s)] for s in surface]
        sign = np.where(swap, -1.0, 1.0)[:, None]
        rows["point"], rows["depth"] = points[:, :3], points[:, names.DEPTH]
        rows["normal"], rows["slip"], rows["force"] = sign * frame[:, 0], sign * slip, sign * impulse / h
        rows["moment"] = sign * moment[kept]
        return rows
