"""Blocks of equations of the nonlinear program: defects, paths, ends, constraints at a start, links of phases."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..derivative.coordinates import displacements
from ..derivative.differences import along
from ..ensemble.second_differences import STEP
from ..errors import ModelError
from ..linear import manifold
from ..value.stage import Stage
from .functions import NodeFunction

if TYPE_CHECKING:
    from .part import Part


#: Between which norms of quaternions stay where they are known: without, iterates go through zero and take ten times as many.
_NORMS = 0.9, 1.1


def _dense(rows: Any, columns: Any) -> list[tuple[Any, Any]]:
    """Places of a dense block."""
    return [np.broadcast_arrays(np.asarray(rows)[:, None], columns)]  # type: ignore[list-item]


def differences_of(gradient: Callable[[Array], Array], steps: Array) -> Array:
    """Second derivatives ``(k, k)`` by central differences of a gradient, a function of changes ``(k,)``."""
    changes = np.diag(steps)
    H = np.array([(gradient(one) - gradient(-one)) / (2.0 * h) for one, h in zip(changes, steps, strict=True)])
    H = H.reshape(len(steps), len(steps))
    return 0.5 * (H + H.T)


class Block(abc.ABC):
    """Some rows of g, each between `low` and `high`."""

    low: Array
    high: Array

    @abc.abstractmethod
    def value(self) -> Array:
        """The rows."""

    @abc.abstractmethod
    def places(self) -> list[tuple[Any, Any]]:
        """Rows, counted from its first, and columns of its derivatives."""

    @abc.abstractmethod
    def derivatives(self) -> list[Array]:
        """These, in the order of their places."""

    @abc.abstractmethod
    def name_of(self, row: int) -> str:
        """The name of a row."""

    def second_places(self) -> list[tuple[Any, Any]]:
        """The pattern of second derivatives, unless `Part.second` has them."""
        return []

    def second(self, multipliers: Array) -> list[Array]:
        """These."""
        return []


class Defects(Block):
    """The scheme's equations L x = h W F in each interval, whose end is corrected where constraints are kept."""

    def __init__(self, part: Part) -> None:
        self._part, mesh = part, part.mesh
        self._shape = len(mesh.sizes), len(mesh.scheme.L), part.phase.nx
        self.low = self.high = np.zeros(int(np.prod(self._shape)))

    def value(self) -> Array:
        part = self._part
        found = part.mesh.defects(part.y[:, : part.phase.nx], part.rates, part.duration)
        if part.kept is not None:
            found -= part.kept.shares[:, None] * part.kept.correction[:, None]
        return found.ravel()

    def places(self) -> list[tuple[Any, Any]]:
        part, (k, s, nx), scheme = self._part, self._shape, self._part.mesh.scheme
        rows = np.arange(k * s * nx).reshape(k, s, nx)
        found = []
        a, b = np.nonzero(part.phase.dynamics.pattern())
        for r in range(s):
            for j in range(len(scheme.points)):
                columns = part.columns[part.mesh.nodes[:, j]]
                if scheme.L[r, j]:
                    found.append((rows[:, r], columns[:, :nx]))
                if scheme.W[r, j]:
                    found.append((rows[:, r][:, a], columns[:, b]))
        for column in (*part.time_columns, *part.parameters):
            found.append((rows, np.full(rows.shape, column)))
        return found if part.kept is None else [*found, *part.kept.places_in_defects(rows)]

    def derivatives(self) -> list[Array]:
        part, (k, s, nx), mesh = self._part, self._shape, self._part.mesh
        scheme, h = mesh.scheme, part.duration * mesh.sizes
        by_y, by_t, by_p = part.derivatives
        a, b = np.nonzero(part.phase.dynamics.pattern())
        own, found = by_y[:, a, b], []
        for r in range(s):
            for j in range(len(scheme.points)):
                if scheme.L[r, j]:
                    found.append(np.full((k, nx), scheme.L[r, j]))
                if scheme.W[r, j]:
                    found.append(-scheme.W[r, j] * h[:, None] * own[mesh.nodes[:, j]])
        for i, column in enumerate(part.time_columns):
            slopes = -h[:, None, None] * (scheme.W @ (by_t * part.by_durations[:, i, None])[mesh.nodes])
            if column == part.column_of_duration:
                slopes = slopes - mesh.sizes[:, None, None] * (scheme.W @ part.rates[mesh.nodes])
            found.append(slopes)
        found += [-h[:, None, None] * (scheme.W @ by_p[:, :, i][mesh.nodes]) for i in range(by_p.shape[2])]
        if part.kept is None:
            return found
        others = part.kept.slopes_of_correction @ part.by_local(mesh.nodes[:, -1])[:, :, part.phase.ny :]
        first = len(found) - others.shape[2]
        for i in range(others.shape[2]):
            found[first + i] = found[first + i] - part.kept.shares[:, None] * others[:, None, :, i]
        return [*found, *part.kept.derivatives_in_defects()]

    def name_of(self, row: int) -> str:
        i, _, x = np.unravel_index(row, self._shape)
        mesh, part = self._part.mesh, self._part
        first, last = part.t[0] + part.duration * mesh.ends[i : i + 2]
        return f"the dynamics of {part.phase.names[x]} from t = {first:.4g} to {last:.4g}{named_after(part)}"


class Path(Block):
    """A function of nodes that has to stay between bounds."""

    def __init__(self, part: Part, function: NodeFunction) -> None:
        self._part, self.function = part, function
        n, phase = len(part.mesh), part.phase
        self._first = 0 if part.mesh.scheme.has_first or "controls" not in function.names else 1
        y = np.tile(np.where(np.isfinite(phase.start_low), phase.start_low, 0.0), (n, 1))
        y = np.hstack([y, np.zeros((n, phase.ny - phase.nx))])
        given = phase.given_at(y, np.zeros(n), np.zeros(len(phase.settings)), function.names, derivatives=False)
        self._count = len(function.values(given, n))
        shape = self._count, n - self._first
        ends = []
        for bound in (function.low, function.high):
            if bound.shape not in ((), (self._count,)):
                raise ModelError(f"a path constraint returns {self._count} rows; its bounds are {bound.tolist()}")
            ends.append(np.broadcast_to(bound.reshape(-1, 1) if bound.ndim else bound, shape).ravel())
        self.low, self.high = ends

    def value(self) -> Array:
        found = self.function.values(self._part.given(False), len(self._part.mesh))
        return found[:, self._first :].ravel()

    def spread(self, multipliers: Array) -> Array:
        """Multipliers of all nodes ``(rows, n)``."""
        found = np.zeros((self._count, len(self._part.mesh)))
        found[:, self._first :] = multipliers.reshape(self._count, -1)
        return found

    def places(self) -> list[tuple[Any, Any]]:
        columns = self._part.local_columns()[self._first :]
        rows = np.arange(len(self.low)).reshape(self._count, -1)
        shape = (*rows.shape, columns.shape[1])
        return [(np.broadcast_to(rows[:, :, None], shape), np.broadcast_to(columns, shape))]

    def derivatives(self) -> list[Array]:
        part = self._part
        ny, size = part.phase.ny, part.phase.ny + 1 + len(part.p)
        _, slopes = self.function.with_derivatives(part.given(), len(part.mesh), size)
        slopes = np.swapaxes(slopes, 1, 2)[:, self._first :]
        by_durations = slopes[:, :, ny, None] * part.by_durations[self._first :]
        return [np.concatenate([slopes[:, :, :ny], by_durations, slopes[:, :, ny + 1 :]], axis=2)]

    def name_of(self, row: int) -> str:
        which, node = divmod(row, len(self._part.mesh) - self._first)
        some = f" ({which})" if self._count > 1 else ""
        time = self._part.t[node + self._first]
        return f"the path constraint {self.function.name}{some} at t = {time:.4g}{named_after(self._part)}"


class Ends(Block):
    """A function of the two ends that has to be between bounds."""

    def __init__(self, part: Part, function: NodeFunction) -> None:
        self._part, self._function = part, function
        self.low, self.high = function.ends()

    def value(self) -> Array:
        found = self._function.values(self._part.ends_given()[0], 1)[:, 0]
        return self._fitting(found)

    def _fitting(self, found: Array) -> Array:
        if len(found) != len(self.low):
            raise ModelError(
                f"the boundary constraint {self._function.name} returns {len(found)} numbers, and has bounds for "
                f"{len(self.low)}"
            )
        return found

    def places(self) -> list[tuple[Any, Any]]:
        return _dense(np.arange(len(self.low)), self._part.ends_columns())

    def derivatives(self) -> list[Array]:
        given, columns = self._part.ends_given()
        return [self._function.with_derivatives(given, 1, len(columns))[1][:, :, 0]]

    def second_places(self) -> list[tuple[Any, Any]]:
        columns = self._part.ends_columns()
        return _dense(columns, columns)

    def second(self, multipliers: Array) -> list[Array]:
        return [self._part.ends_second(self._function, multipliers)]

    def name_of(self, row: int) -> str:
        some = f" ({row})" if len(self.low) > 1 else ""
        return f"the boundary constraint {self._function.name}{some}{named_after(self._part)}"


class Orientation(Block):
    """A quaternion at an end, known up to its norm, which drifts by the error of the scheme: all across it is zero."""

    def __init__(self, part: Part, node: int, first: int, quaternion: Array) -> None:
        quaternion = quaternion / np.linalg.norm(quaternion)
        self._part, self.node, self.of_q = part, node, slice(first, first + 4)
        self.columns: Any = part.columns[node, self.of_q]
        self.largest = int(np.abs(quaternion).argmax())
        #: Bounds of this number: of both quaternions that are one orientation the one that is asked for, about a unit long.
        self.between = sorted(quaternion[self.largest] * one for one in _NORMS)
        self._across = np.linalg.svd(quaternion[None])[2][1:]
        self.low = self.high = np.zeros(3)

    def value(self) -> Array:
        return self._across @ self._part.y[self.node, self.of_q]

    def places(self) -> list[tuple[Any, Any]]:
        return _dense(np.arange(3), self.columns)

    def derivatives(self) -> list[Array]:
        return [self._across]

    def name_of(self, row: int) -> str:
        name = self._part.phase.names[self.of_q.start]
        which = "end" if self.node else "start"
        return f"the orientation from {name!r} on at the {which}{named_after(self._part)}"


class OnManifold(Block):
    """Position and velocity constraints, and what is prescribed, at the start; the dynamics keep them."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self._mp = len(manifold.of_positions(part.phase.state))
        self.low = self.high = np.zeros(len(manifold.missed(part.phase.state)))

    def _given(self) -> tuple[Array, Array, Array]:
        """Numbers that it depends on, as `_columns`: (q, u), durations, parameters."""
        part, d = self._part, self._part.phase.dynamics
        return part.y[0, : d.nq + d.nu], np.zeros(len(part.time_columns)), part.p

    def _state(self, x: Array, durations: Array, p: Array) -> Any:
        part, d = self._part, self._part.phase.dynamics
        state = d.moved(p).copy()
        state.time, state.q, state.u = part.t[0] + part.by_durations[0] @ durations, x[: d.nq], x[d.nq :]
        part.phase.system.realize(state, Stage.VELOCITY)
        return state

    def value(self) -> Array:
        return manifold.missed(self._state(*self._given()))

    def _columns(self) -> Any:
        part, d = self._part, self._part.phase.dynamics
        return np.concatenate([part.columns[0, : d.nq + d.nu], np.array(part.time_columns, int), part.parameters]).astype(int)

    def places(self) -> list[tuple[Any, Any]]:
        return _dense(np.arange(len(self.low)), self._columns())

    def derivatives(self) -> list[Array]:
        return [self._at(*self._given())]

    def _at(self, x: Array, durations: Array, p: Array) -> Array:
        state, d = self._state(x, durations, p), self._part.phase.dynamics
        back: Any = np.linalg.pinv(displacements(state))
        by_q, by_u = manifold.of_speeds(state)
        found = np.zeros((len(self.low), len(self._columns())))
        found[: self._mp, : d.nq] = manifold.of_positions(state)[:, : d.nu] @ back
        found[self._mp :, : d.nq], found[self._mp :, d.nq : d.nq + d.nu] = by_q[:, : d.nu] @ back, by_u
        for k in range(len(durations)):
            change = np.eye(len(durations))[k]
            found[:, d.nq + d.nu + k] = along(lambda h, c=change: manifold.missed(self._state(x, durations + h * c, p)))  # type: ignore[misc]
        for k in range(len(p)):
            found[:, -len(p) + k] = d.by_parameter(lambda other: manifold.missed(self._state(x, durations, other)), p, k)
        return found

    def second_places(self) -> list[tuple[Any, Any]]:
        columns = self._columns()
        return _dense(columns, columns)

    def second(self, multipliers: Array) -> list[Array]:
        given = self._given()
        ends, whole, d = np.cumsum([len(one) for one in given])[:-1], np.concatenate(given), self._part.phase.dynamics
        steps = np.array([STEP] * int(ends[1]) + [d.step(k) for k in range(len(given[2]))])
        return [differences_of(lambda change: multipliers @ self._at(*np.split(whole + change, ends)), steps)]

    def name_of(self, row: int) -> str:
        what = "position" if row < self._mp else "velocity"
        return (
            f"a {what} constraint or prescribed value of {self._part.phase.system.name!r} at the start{named_after(self._part)}"
        )


class Continuity(Block):
    """States go on from a phase to the next, or a user's function says how they change."""

    def __init__(self, before: Part, after: Part, link: NodeFunction | None) -> None:
        self._before, self._after, self._link = before, after, link
        if link is None:
            if before.phase.nx != after.phase.nx:
                raise ModelError(
                    f"phases {before.number} and {after.number} have {before.phase.nx} and {after.phase.nx} state variables: "
                    "say by links=[...] how one becomes the other"
                )
            self.low = self.high = np.zeros(before.phase.nx)
        else:
            self.low, self.high = link.ends()

    def _columns(self) -> Any:
        return np.concatenate(
            [self._before.columns[-1, : self._before.phase.nx], self._after.columns[0, : self._after.phase.nx]]
        )

    def _ends(self, change: Array | None = None) -> tuple[Array, Array]:
        x0 = self._before.y[-1, : self._before.phase.nx]
        x1 = self._after.y[0, : self._after.phase.nx]
        return (x0, x1) if change is None else (x0 + change[: len(x0)], x1 + change[len(x0) :])

    def _given(self, change: Array | None = None) -> Any:
        found, k, at = {}, len(self._columns()), 0
        for which, x, part in zip(("before", "after"), self._ends(change), (self._before, self._after), strict=True):
            d, row = part.phase.dynamics, -1 if which == "before" else 0
            y = np.concatenate([x, part.y[row, part.phase.nx :]])[None]
            for name, (value, slopes) in part.phase.given_at(
                y, part.t[[row]], part.p, ("q", "u", "z", *part.phase.stations)
            ).items():
                by = np.zeros((k, *slopes.shape[1:]))
                by[at : at + d.nx] = slopes[: d.nx]
                found[f"{name}_{which}"] = value, by
            at += d.nx
        return found

    def value(self) -> Array:
        if self._link is None:
            x0, x1 = self._ends()
            return x1 - x0
        found = self._link.values(self._given(), 1)[:, 0]
        if len(found) != len(self.low):
            raise ModelError(f"the link {self._link.name} returns {len(found)} numbers, and has bounds for {len(self.low)}")
        return found

    def places(self) -> list[tuple[Any, Any]]:
        columns = self._columns()
        if self._link is None:
            rows = np.arange(len(self.low))
            return [(np.concatenate([rows, rows]), columns)]
        return _dense(np.arange(len(self.low)), columns)

    def derivatives(self) -> list[Array]:
        if self._link is None:
            return [np.repeat([-1.0, 1.0], len(self.low))]
        return [self._link.with_derivatives(self._given(), 1, len(self._columns()))[1][:, :, 0]]

    def second_places(self) -> list[tuple[Any, Any]]:
        if self._link is None:
            return []
        columns = self._columns()
        return _dense(columns, columns)

    def second(self, multipliers: Array) -> list[Array]:
        if self._link is None:
            return []
        k, link = len(self._columns()), self._link
        steps = np.full(k, STEP)
        return [differences_of(lambda x: multipliers @ link.with_derivatives(self._given(x), 1, k)[1][:, :, 0], steps)]

    def name_of(self, row: int) -> str:
        what = self._before.phase.names[row] if self._link is None else self._link.name
        return f"the link of {what} from phase {self._before.number} to {self._after.number}"


def named_after(part: Part) -> str:
    """The phase in words, where that needs saying."""
    phase = part.phase.name or (f"{part.number}" if part.number else "")
    return f" in phase {phase}" if phase else ""
