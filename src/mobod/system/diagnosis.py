"""Diagnosis of the constraints at a state: which equations are redundant, contradictory or nearly singular.

With L L^T = M, the rows of G L^-T are the equations as directions in a space where length is kinetic energy; only free
mobilities count. A row that is a combination of rows before it is redundant, and contradictory if the errors are not that
combination, too. The free motions are orthogonal to all rows.
"""

from __future__ import annotations

import dataclasses
import html
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..constraint.base import Constraint
from ..errors import ModelError
from ..state.state import State
from ..tree.gram_solve import REDUNDANT
from ..value.checks import not_negative
from ..value.html_table import html_table
from ..value.stage import Stage
from .realization import Realizing

#: An equation whose angle to the others, or to what moves, is less is redundant: the solver's own threshold, 3e-6 radians.
DEPENDENT = REDUNDANT**0.5
#: Angles above this are told, since no rounding of double precision makes them.
ROUNDED = 1e-12
#: Lengths and turns of mechanisms that rounding of an axis acts through.
_ROOM = 10.0
#: The least singular value, of rows of length 1, below which equations are nearly dependent.
NEARLY = 1e-3
_LEVELS = ("position", "velocity", "acceleration")


@dataclasses.dataclass(frozen=True)
class Equation:
    """Equation *index* of those that a constraint has at *level* ``"position"``, ``"velocity"`` or ``"acceleration"``."""

    constraint: Constraint
    level: str
    index: int

    def __str__(self) -> str:
        number = self.constraint.number_of_equations[_LEVELS.index(self.level)]
        return f"{self.constraint.name}[{self.index}]" if number > 1 else self.constraint.name


@dataclasses.dataclass(frozen=True)
class Redundancy:
    """An equation that follows from others.

    Attributes
    ----------
    equation : Equation
    others : list of Equation
        The equations of which it is a combination; none if no free mobility has a part in it.
    contradiction : dict of str to float
        For each level at which the errors are not that combination, by how much: there the equations cannot all hold.
    held_by : list of str
        Names of the bodies whose locks or prescribed motions make it redundant; none if it is redundant without these, too.
    holds : list of str
        The same in words, such as ``"the lock of arm"``.
    angle : float
        How far it is from following from the others, or from moving nothing; radians. Below 3e-6 that is rounding of the axes
        and frames that were given, and no motion is held by it.
    """

    equation: Equation
    others: list[Equation]
    contradiction: dict[str, float]
    held_by: list[str] = dataclasses.field(default_factory=list)
    holds: list[str] = dataclasses.field(default_factory=list)
    angle: float = 0.0

    @property
    def partners(self) -> list[str]:
        """Equations, locks and motions that it is redundant with, or in conflict with, in words."""
        return [*map(str, self.others), *self.holds]


@dataclasses.dataclass(frozen=True)
class NearSingularity:
    """Equations that are nearly dependent: *value* is their least singular value, 1 for perpendicular ones.

    Of a single equation it is the part that free mobilities have in it, 1 if all are free.
    """

    value: float
    equations: list[Equation]

    @property
    def why(self) -> str:
        """The part that *value* belongs to, in words."""
        if len(self.equations) > 1:
            return f"{self.value:.1g} of what they would be alone"
        return f"{self.value:.1g} of it is of what can move, the rest of what is locked or driven"


@dataclasses.dataclass(frozen=True)
class FreeMotion:
    """A motion that all constraints allow: speeds *u* ``(nu,)`` scaled so that the one it is named after is 1.

    *speed* names it, *bodies* are those that move.
    """

    speed: str
    u: Array
    bodies: list[str]


_HEAD = ("constraint", "ties", "error", "remarks")


@dataclasses.dataclass(frozen=True)
class Diagnosis:
    """The result of `MultibodySystem.diagnose_constraints`; printing it gives a table.

    Attributes
    ----------
    equations : list of Equation
        All that are in use, in the order of the state's multipliers.
    errors : dict of str to array
        Their errors at the levels ``"position"`` and ``"velocity"``, in the same order.
    rank : int
        How many of them are independent.
    redundant : list of Redundancy
    nearly_singular : list of NearSingularity
    free_motions : list of FreeMotion
    droppable : list of Constraint
        Constraints any one of which could be removed without adding a free motion.
    ties : dict of str to list of str
        For each constraint the names of the bodies it ties.
    """

    equations: list[Equation]
    errors: dict[str, Array]
    rank: int
    redundant: list[Redundancy]
    nearly_singular: list[NearSingularity]
    free_motions: list[FreeMotion]
    droppable: list[Constraint]
    ties: dict[str, list[str]]

    @property
    def conflicting(self) -> list[Redundancy]:
        """The redundant equations that contradict the others."""
        return [one for one in self.redundant if one.contradiction]

    def __str__(self) -> str:
        lines, rows = [self._headline()], self._rows()
        if rows:
            wide = [max(len(row[i]) for row in [_HEAD, *rows]) for i in range(3)]
            for row in [_HEAD, *rows]:
                lines.append("  " + "  ".join(text.ljust(n) for text, n in zip(row, wide, strict=False)) + "  " + row[3])
        return "\n".join([*lines, *(f"  {line}" for line in self._what_else())])

    def _repr_html_(self) -> str:
        """The table in notebooks."""
        shown = html_table(self._headline(), _HEAD, self._rows())
        return shown + "".join(f"<div>{html.escape(line)}</div>" for line in self._what_else())

    def _headline(self) -> str:
        return (
            f"{len(self.equations)} constraint equations, {self.rank} of them independent; "
            f"{len(self.free_motions)} free motions remain"
        )

    def _rows(self) -> list[tuple[str, str, str, str]]:
        """A row of a table for each constraint."""
        rows: list[tuple[str, str, str, str]] = []
        for name, bodies in self.ties.items():
            of_it = [i for i, equation in enumerate(self.equations) if equation.constraint.name == name]
            parts = []
            for level in ("position", "velocity"):
                sizes = [abs(self.errors[level][i]) for i in of_it if self.equations[i].level == level]
                parts += [f"{max(sizes):.2g}"] if sizes else []
            error = ", ".join(parts) or "-"
            remarks = [_remark(one) for one in self.redundant if one.equation.constraint.name == name]
            if any(one.name == name for one in self.droppable):
                remarks.append("could be dropped")
            rows.append((name, " - ".join(bodies), error, "; ".join(remarks) or "-"))
        return rows

    def _what_else(self) -> list[str]:
        """Lines on what belongs to no constraint's row: near singularities, and motions that are left."""
        lines = [f"nearly singular ({near.why}): {', '.join(map(str, near.equations))}" for near in self.nearly_singular]
        return lines + [f"free: {motion.speed}, which moves {_few(motion.bodies)}" for motion in self.free_motions]


def _remark(one: Redundancy) -> str:
    if one.others:
        text = f"{one.equation} is redundant with {_few([str(other) for other in one.others])}"
        text += f", given {_few(one.holds)}" if one.holds else ""
        against = "it"
    elif one.holds:
        text = f"{one.equation} moves nothing, as all on its path is locked or driven: {_few(one.holds)}"
        against = "it"
    else:
        text, against = f"{one.equation} moves nothing", "what is there"
    if one.angle > ROUNDED:
        text += f", but for an angle of {one.angle:.1g} rad, which counts as rounding"
    if one.contradiction:
        said = ", ".join(f"{level} by {value:.2g}" for level, value in one.contradiction.items())
        text += f" and CONTRADICTS {against} ({said})"
    return text


def _few(names: list[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def diagnose(system: Realizing, state: State, tolerance: float) -> Diagnosis:
    """The diagnosis of a state, which is left as it is; see `MultibodySystem.diagnose_constraints`."""
    not_negative("tolerance", tolerance, ValueError)
    state.check_owner(system, "diagnose_constraints")
    work = state.copy()
    system.realize(work, Stage.VELOCITY)
    matter = system.get_matter_subsystem()
    equations = _equations(matter.constraints, work)
    m, G = len(equations), matter.calc_g(work)
    free = matter.get_free_u_dot_index(work)
    mass = matter.calc_m(work)
    L = _root(mass[np.ix_(free, free)])
    rows = np.asarray(np.linalg.solve(L, G[:, free].T).T, np.float64)
    lengths = np.linalg.norm(rows, axis=1)
    errors = _errors(matter, work, m)
    part = _free_part(G, mass, free)
    angles, speed = _angles(matter, work, m), float(np.abs(work.u).max(initial=1.0))
    independent, redundant = _combinations(equations, rows, lengths, part, angles, errors, tolerance, speed)
    redundant = [_with_holders(one, equations, G, free, rows, work) for one in redundant]
    kept = rows[independent] / lengths[independent, None]
    basis = np.linalg.svd(kept, full_matrices=True)[2] if len(independent) else np.eye(len(free))
    motions = np.linalg.solve(L.T, basis[len(independent) :].T).T
    return Diagnosis(
        equations=equations,
        errors={"position": errors["position"], "velocity": errors["velocity"]},
        rank=len(independent),
        redundant=redundant,
        nearly_singular=_near_singularities(equations, independent, kept, part),
        free_motions=_free_motions(system, work, free, motions),
        droppable=_droppable(equations, rows, lengths, redundant, len(independent)),
        ties={one.name: _tied(one) for one in matter.constraints if not one.is_disabled(work)},
    )


def _angles(matter: Any, state: State, m: int) -> Array:
    """The equations' angles to what moves; 1 where masses are missing."""
    try:
        angles: Array = matter.angles_of_rows(state)
    except ModelError:
        return np.ones(m)
    return angles


def _root(M: Array) -> Array:
    """L with L L^T = M; the identity where M is singular, for lack of masses: speeds then count as they are."""
    try:
        L = np.asarray(np.linalg.cholesky(M), np.float64)
    except np.linalg.LinAlgError:
        return np.eye(len(M))
    # a pivot that is rounding of its diagonal element is no mass
    return L if np.all(np.diag(L) ** 2 > 1e-13 * np.diag(M)) else np.eye(len(M))


def _free_part(G: Array, M: Array, free: npt.NDArray[np.int64]) -> Array:
    """For each equation the part that free mobilities have in it, from 0 to 1: 1 where nothing is locked or prescribed."""
    masses = np.diag(M)
    weighted = G / np.sqrt(np.where(masses > 0.0, masses, 1.0))
    whole = np.linalg.norm(weighted, axis=1)
    return np.linalg.norm(weighted[:, free], axis=1) / np.where(whole > 0.0, whole, 1.0)


def _with_holders(
    one: Redundancy, equations: list[Equation], G: Array, free: npt.NDArray[np.int64], rows: Array, state: State
) -> Redundancy:
    """The redundancy with the locks and motions that cause it."""
    i, others = equations.index(one.equation), [equations.index(other) for other in one.others]
    rest = G[i].copy()
    if others:
        weights, *_ = np.linalg.lstsq(rows[others].T, rows[i], rcond=None)
        rest -= weights @ G[others]
    rest[free] = 0.0
    matter = one.equation.constraint.get_matter_subsystem()
    of_speed = np.repeat(np.arange(len(matter.bodies)), state.tree.num_u)
    large = np.abs(rest) > 1e-6 * max(float(np.abs(G[i]).max(initial=0.0)), 1e-300)
    bodies = [matter.bodies[int(b)] for b in np.unique(of_speed[large])]
    words = [f"the {'lock' if body.is_locked(state) else 'motion'} of {body.name}" for body in bodies]
    return dataclasses.replace(one, held_by=[body.name for body in bodies], holds=words)


def _equations(constraints: list[Constraint], state: State) -> list[Equation]:
    """In the order of multipliers."""
    return [
        Equation(constraint, level, k)
        for i, level in enumerate(_LEVELS)
        for constraint in constraints
        for k in range(constraint.get_num_constraint_equations_in_use(state)[i])
    ]


def _errors(matter: Any, state: State, m: int) -> dict[str, Array]:
    """For each level the error of every equation, NaN if it has none at that level."""
    p, v, _ = matter.num_equations(state)
    errors = {level: np.full(m, np.nan) for level in _LEVELS}
    errors["position"][:p] = matter.position_errors(state)
    errors["velocity"][: p + v] = matter.velocity_errors(state)[matter.rows_in_use(state)[: p + v]]
    try:
        other = state.copy()
        matter.get_system().realize(other, Stage.DYNAMICS)
        record = other.record
        udot, _ = matter.calc_acceleration_ignoring_constraints(
            other, record.mobility_forces[:, 0].copy(), record.body_forces.reshape(-1, 2, 3).copy()
        )
        found = matter.calc_constraint_acceleration_errors(other, udot)
    except Exception:  # raised by a user's force, say: positions and velocities can be diagnosed without it
        return errors
    errors["acceleration"][:] = np.where(np.isfinite(found), found, np.nan)
    return errors


def _combinations(
    equations: list[Equation],
    rows: Array,
    lengths: Array,
    free_part: Array,
    angles: Array,
    errors: dict[str, Array],
    tolerance: float,
    speed: float,
) -> tuple[list[int], list[Redundancy]]:
    """The rows that are independent of those before them, and what the others are combinations of."""
    independent: list[int] = []
    redundant: list[Redundancy] = []
    largest = max(lengths.max(initial=0.0), 1e-300)
    # what axes' rounding may make of errors, by its angle: of the largest errors there would be without constraints
    room = {"position": _ROOM, "velocity": _ROOM * speed}
    room["acceleration"] = _ROOM * float(np.nan_to_num(np.abs(errors["acceleration"])).max(initial=1.0))
    for i, equation in enumerate(equations):
        if lengths[i] <= 1e-10 * largest or free_part[i] <= 1e-10 or angles[i] <= DEPENDENT:
            angle = float(angles[i]) if free_part[i] > 1e-10 else 0.0
            contradiction = {
                level: float(abs(e[i])) for level, e in errors.items() if abs(e[i]) > tolerance + angle * room[level]
            }
            redundant.append(Redundancy(equation, [], contradiction, angle=angle))
            continue
        before = rows[independent] / lengths[independent, None]
        part, *_ = np.linalg.lstsq(before.T, rows[i] / lengths[i], rcond=None)
        rest = rows[i] / lengths[i] - part @ before
        angle = float(np.linalg.norm(rest)) * min(1.0, float(angles[i]))
        if angle > DEPENDENT:
            independent.append(i)
            continue
        others = [j for j, x in zip(independent, part, strict=True) if abs(x) > 1e-6]
        weights = {j: x * lengths[i] / lengths[j] for j, x in zip(independent, part, strict=True)}
        wrong = {}
        for level, e in errors.items():
            gap = e[i] - sum(weights[j] * e[j] for j in others)
            size = max([1.0, *(abs(weights[j]) for j in others)])
            least = tolerance * size * (1.0 + (abs(e[i]) if level == "acceleration" else 0.0))
            if np.isfinite(gap) and abs(gap) > least + angle * size * room[level]:
                wrong[level] = float(abs(gap))
        redundant.append(Redundancy(equation, [equations[j] for j in others], wrong, angle=angle))
    return independent, redundant


def _near_singularities(
    equations: list[Equation], independent: list[int], kept: Array, free_part: Array
) -> list[NearSingularity]:
    if not len(kept):
        return []
    U, values, _ = np.linalg.svd(kept, full_matrices=False)
    found = [NearSingularity(float(free_part[i]), [equations[i]]) for i in independent if free_part[i] < NEARLY]
    for k in range(len(values) - 1, -1, -1):
        if values[k] >= NEARLY:
            break
        part = [equations[independent[i]] for i in np.flatnonzero(np.abs(U[:, k]) > 0.1)]
        found.append(NearSingularity(float(values[k]), part))
    return found


def _free_motions(system: Realizing, state: State, free: npt.NDArray[np.int64], motions: Array) -> list[FreeMotion]:
    """A basis of the motions that are left, each named after a speed that is zero in all others."""
    matter = system.get_matter_subsystem()
    names = [name for body, n in zip(matter.bodies, state.tree.num_u, strict=True) for name in body.name_each(n)]
    found: list[FreeMotion] = []
    chosen: list[int] = []
    basis = motions.copy()
    for k in range(len(basis)):  # reduced echelon form, pivoting on the largest speed
        rest = np.abs(basis[k:])
        rest[:, chosen] = 0.0
        row, column = (int(i) for i in np.unravel_index(int(np.argmax(rest)), rest.shape))
        basis[[k, k + row]] = basis[[k + row, k]]
        basis[k] /= basis[k, column]
        for other in range(len(basis)):
            if other != k:
                basis[other] -= basis[other, column] * basis[k]
        chosen.append(column)
    for column, k in sorted((column, k) for k, column in enumerate(chosen)):
        motion = basis[k]
        u = np.zeros(state.tree.nu)
        u[free] = np.where(np.abs(motion) > 1e-9, motion, 0.0)
        V = matter.multiply_by_system_jacobian(state, u).reshape(-1, 6)
        moving = np.linalg.norm(V, axis=1) > 1e-9 * max(1.0, float(np.abs(V).max()))
        bodies = [matter.bodies[int(b)].name for b in np.flatnonzero(moving)]
        found.append(FreeMotion(names[free[column]], u, bodies))
    return found


def _droppable(
    equations: list[Equation], rows: Array, lengths: Array, redundant: list[Redundancy], rank: int
) -> list[Constraint]:
    """Constraints without which the rank is the same."""
    suspects = {id(e.constraint): e.constraint for one in redundant for e in (one.equation, *one.others)}
    unit = rows / np.where(lengths > 0.0, lengths, 1.0)[:, None]
    found = []
    for constraint in suspects.values():
        others = unit[[equation.constraint is not constraint for equation in equations]]
        values = np.linalg.svd(others, compute_uv=False) if others.size else np.zeros(0)
        if int(np.sum(values > DEPENDENT)) == rank:
            found.append(constraint)
    return sorted(found, key=lambda one: one.get_constraint_index())


def _tied(constraint: Constraint) -> list[str]:
    return list(dict.fromkeys(body.name for body in (*constraint.constrained_bodies, *constraint.constrained_mobilizers)))
