"""Motion of a model over time: coordinates, speeds and accelerations, from splines through rows of coordinates.

Speeds are u = N^-1 q_dot, accelerations the derivative of that along the motion, by the spline of u through all times where
q_dot is not u.
"""

from __future__ import annotations

import dataclasses
import os
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..importer.model import Model
from ..motion_data import Table, read_sto, signal
from ..motion_data.labels import coordinate_of
from ..simulation.trajectory import Trajectory
from ..state.state import State
from ..value.stage import Stage

#: Of the splines: three continuous derivatives of accelerations' integrals, OpenSim's too.
DEGREE = 5


def rows_between(time: Array, start: float, end: float) -> npt.NDArray[np.bool_]:
    """Which of a motion's rows are from one time to another; refused where none is."""
    there = (time >= start - 1e-9) & (time <= end + 1e-9)
    if not there.any():
        raise ValueError(f"the motion has no time between {start:g} and {end:g}; it goes from {time[0]:g} to {time[-1]:g}")
    return np.asarray(there)


@dataclasses.dataclass(eq=False)
class Motion:
    """Rows of coordinates, speeds and accelerations."""

    time: Array
    q: Array
    u: Array
    u_dot: Array
    names: tuple[str, ...]
    speed_names: tuple[str, ...]

    @classmethod
    def of_rows(
        cls,
        model: Model,
        state: State,
        time: Array,
        q: Array,
        cutoff: float | None = None,
        degree: int = DEGREE,
        filter: str = "butterworth",
        by_speeds: bool = False,
        at: Array | None = None,
    ) -> Motion:
        """From coordinates at all times, filtered where *cutoff* is given; *state* is used, and left anywhere.

        Accelerations are the second derivatives of the splines; *by_speeds*, those of further splines through their first ones.
        The motion is that at these times, unless others are given: *at*.
        """
        tree = state.tree
        q = np.array(q)
        for b in tree.quaternions:  # q and -q are one orientation: the nearer one
            one = q[:, tree.first_q[b] : tree.first_q[b] + 4]
            turned = np.cumsum((one[1:] * one[:-1]).sum(axis=1) < 0.0) % 2 == 1
            one[1:][turned] *= -1.0
        knots, rows = smoothed(time, q, cutoff, filter)
        time = time if at is None else at
        q, q_dot, q_dot_dot = jets(knots, rows, time, degree)
        if by_speeds:
            q_dot_dot = jets(knots, jets(knots, rows, knots, degree)[1], time, degree)[1]
        plain = tree.nq == tree.nu and not len(tree.quaternions) and not np.asarray(tree.fields["rates"]).any()
        if plain:
            u, u_dot = q_dot, q_dot_dot
        else:
            matter, u = model.matter, np.empty((len(time), tree.nu))
            for i, t in enumerate(time.tolist()):
                state.time, state.q = t, q[i]
                matter.normalize_quaternions(state)
                q[i] = state.q
                model.system.realize(state, Stage.POSITION)
                u[i] = matter.multiply_by_n_inv(state, False, q_dot[i])
            u_dot = np.where(_same(tree), _of_same(tree, q_dot_dot), jets(time, u, time, degree)[1])
        names, speeds = _names(model.coordinates, tree.nq), _names(model.speeds, tree.nu)
        return cls(time, q, u, u_dot, names, speeds)


def smoothed(time: Array, rows: Array, cutoff: float | None, filter: str) -> tuple[Array, Array]:
    """Times and rows that are filtered where *cutoff* is given: by "butterworth", or as "opensim", or its CMC "windowed"."""
    if cutoff is None:
        return time, rows
    if filter != "butterworth":
        return signal.filtered_as_opensim(time, rows, cutoff, filter == "windowed")
    return time, signal.butterworth(signal.even_step(time), cutoff, 4)(rows)


def jets(knots: Array, rows: Array, time: Array, degree: int) -> tuple[Array, Array, Array]:
    """Values and first two derivatives of the natural splines through the columns of *rows*, at *time*."""
    if len(knots) < degree + 1:
        if len(knots) < 2:
            return rows, np.zeros_like(rows), np.zeros_like(rows)
        first = np.gradient(rows, knots, axis=0)
        return rows, first, np.gradient(first, knots, axis=0)
    spline = natural_spline(knots, rows, degree)
    return (rows if time is knots else spline(time)), spline(time, 1), spline(time, 2)


def natural_spline(time: Array, rows: Array, degree: int) -> Any:
    """The natural splines through the columns."""
    from scipy.interpolate import make_interp_spline

    m = (degree + 1) // 2
    ends = [(order, np.zeros(rows.shape[1])) for order in range(m, degree)]
    return make_interp_spline(time, rows, degree, bc_type=(ends, ends) if ends else None)


def _same(tree: Any) -> Any:
    """Mask ``(nu,)`` of speeds u that equal the rate q_dot of their coordinate."""
    same = np.zeros(tree.nu, bool)
    for b in range(1, tree.nb):
        if tree.fields["rates"][b] == 0:
            same[tree.first_u[b] : tree.first_u[b] + tree.num_u[b]] = True
    return same


def _of_same(tree: Any, q_dot_dot: Array) -> Array:
    found = np.zeros((len(q_dot_dot), tree.nu))
    for b in range(1, tree.nb):
        if tree.fields["rates"][b] == 0:
            n = tree.num_u[b]
            found[:, tree.first_u[b] : tree.first_u[b] + n] = q_dot_dot[:, tree.first_q[b] : tree.first_q[b] + n]
    return found


def _names(places: dict[str, int], n: int) -> tuple[str, ...]:
    """A name for each place; those that have none are numbered."""
    found = [f"q[{k}]" for k in range(n)]
    for name, place in places.items():
        found[place] = name
    return tuple(found)


def rows_of(model: Model, state: State, given: Any) -> tuple[Array, Array, list[str]]:
    """Times, coordinates ``(nt, nq)``, and notes, of a Trajectory, a Table of coordinates or a file of them."""
    if isinstance(given, Trajectory):
        if given.q.shape[1] != len(state.q):
            raise ValueError(f"the trajectory has {given.q.shape[1]} coordinates, the model {len(state.q)}")
        return np.asarray(given.time), np.array(given.q), []
    said = []
    if isinstance(given, (str, os.PathLike)):
        given = read_sto(given, model=model)
        said = given.report
    if not isinstance(given, Table):
        raise TypeError(f"the motion is a Trajectory, a Table of coordinates, or the path of a file of these, not {given!r}")
    given = rows_apart(given)
    q = np.tile(state.q, (len(given), 1))
    found = set()
    for label in given.labels:
        name, quantity = coordinate_of(label, model.coordinates)
        if quantity == "value" and name in model.coordinates:
            q[:, model.coordinates[name]] = given[label]
            found.add(name)
    if not found:
        raise ValueError(
            f"no column is a coordinate of {model.name!r}: it has {', '.join(list(model.coordinates)[:6])}, ...; the table has "
            f"{', '.join(given.labels[:6])}, ..."
        )
    if np.isnan(q).any():
        raise ValueError("the coordinates have gaps; fill them first: table.with_gaps_filled()")
    missing = [name for name in model.coordinates if name not in found]
    notes = [f"{len(missing)} coordinates are not in the file and keep their default: {', '.join(missing)}."] if missing else []
    return given.time, q, [*said, *notes]


def rows_apart(table: Table) -> Table:
    """Without the first of two rows at nearly one time, as OpenSim's tools write where a run ends: no spline has both."""
    steps = np.diff(table.time)
    kept = np.append(steps > 1e-6 * np.median(steps), True) if len(steps) > 1 else np.full(len(table), True)
    return table if kept.all() else Table(table.time[kept], {one: table[one][kept] for one in table.labels}, name=table.name)
