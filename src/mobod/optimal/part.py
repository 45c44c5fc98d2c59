"""Part: one phase in the nonlinear program, with its unknowns, its cost, and its blocks of equations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..ensemble.second_differences import STEP, differences
from ..linear import manifold
from .blocks import Block, Continuity, Defects, Ends, OnManifold, Orientation, Path, differences_of
from .functions import NodeFunction
from .kept import Kept
from .mesh import Mesh
from .phase import ENDS, Phase


class Part:
    """The unknowns of a phase from number *first* on: nodes, then the duration where it is sought.

    Parameters
    ----------
    phase : Phase
    mesh : Mesh
    first : int
    before : list of (int, float)
        Of the phases before it: the column of the duration, -1 where it is fixed; and the duration then.
    number : int
    """

    def __init__(self, phase: Phase, mesh: Mesh, first: int, before: list[tuple[int, float]], number: int) -> None:
        self.phase, self.mesh, self.first, self.number = phase, mesh, first, number
        n, ny = len(mesh), phase.ny
        self.columns: Any = first + ny * np.arange(n)[:, None] + np.arange(ny)
        k = len(mesh.sizes), sum(len(one) for one in phase.rows_kept)
        #: Of what corrects each interval's end.
        self.columns_of_corrections: Any = first + n * ny + np.arange(k[0] * k[1]).reshape(k)
        at = first + n * ny + self.columns_of_corrections.size
        self.column_of_duration = at if phase.is_free else -1
        self.end = at + phase.is_free
        self._fixed_before = phase.state.time + sum(length for column, length in before if column < 0)
        #: Columns of durations on which the nodes' times depend, and how ``(n, k)``.
        self.time_columns = [column for column, _ in before if column >= 0]
        self.by_durations = np.ones((n, len(self.time_columns)))
        if phase.is_free:
            self.time_columns.append(self.column_of_duration)
            self.by_durations = np.column_stack([self.by_durations, mesh.times])
        self.parameters: Any = np.zeros(0, int)
        #: Those that are known at an end; not at the very start, where nothing has drifted.
        self.orientations = [
            Orientation(self, node, at, low[at : at + 4])
            for node, low, high in ((0, phase.start_low, phase.start_high), (len(mesh) - 1, phase.end_low, phase.end_high))
            for at in manifold.quaternions(phase.state)
            if (node or (number and not phase.start_is_state)) and np.array_equal(low[at : at + 4], high[at : at + 4])
            if low[at : at + 4].any()
        ]
        #: `straight`, once it is found.
        self.line: Array | None = None
        self._places: dict[tuple[str, ...], list[int]] = {}
        self._seen: dict[str, Any] = {}
        self._v: bytes | None = None

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Of its unknowns."""
        phase, found = self.phase, []
        for which, ends in enumerate(((phase.start_low, phase.end_low), (phase.start_high, phase.end_high))):
            rows = np.tile((phase.low, phase.high)[which], (len(self.mesh), 1))
            tighter = np.maximum if which == 0 else np.minimum
            rows[0, : phase.nx] = tighter(rows[0, : phase.nx], ends[0])
            rows[-1, : phase.nx] = tighter(rows[-1, : phase.nx], ends[1])
            duration = [(phase.shortest, phase.longest)[which]] if phase.is_free else []
            corrections = np.full(self.columns_of_corrections.size, (-np.inf, np.inf)[which])
            found.append(np.concatenate([rows.ravel(), corrections, duration]))
        for one in self.orientations:
            for which, bound in enumerate((phase.low, phase.high)):
                found[which][one.columns - self.first] = bound[one.of_q]
                found[which][one.columns[one.largest] - self.first] = one.between[which]
        if self.number and phase.start_is_state:  # it goes on from the phase before
            for which, bound in enumerate((phase.low, phase.high)):
                found[which][: phase.nx] = bound[: phase.nx]
        if not self.mesh.scheme.has_first:  # forces at the first node are in no equation
            place = slice(phase.nx, phase.ny)
            middle = np.clip(0.0, found[0][place], found[1][place])
            found[0][place] = found[1][place] = middle
        return found[0], found[1]

    def set(self, v: Array) -> None:
        """Take the unknowns; what was computed of others is forgotten."""
        mine = v[self.first : self.end], v[self.time_columns], v[self.parameters]
        key = b"".join(one.tobytes() for one in mine)
        if key == self._v:
            return
        self._v, self._seen = key, {}
        n, ny = len(self.mesh), self.phase.ny
        self.y = v[self.first : self.first + n * ny].reshape(n, ny).copy()
        self.corrections = v[self.columns_of_corrections]
        self.duration = float(v[self.column_of_duration]) if self.phase.is_free else self.phase.longest
        self.p = v[self.parameters].copy()
        fixed = self._fixed_before + (0.0 if self.phase.is_free else self.duration * self.mesh.times)
        self.t = fixed + self.by_durations @ v[self.time_columns]

    def once(self, what: str, make: Any) -> Any:
        """Something of these unknowns, computed once."""
        if what not in self._seen:
            self._seen[what] = make()
        return self._seen[what]

    @property
    def rates(self) -> Array:
        """F of all nodes."""
        return self.once("F", lambda: self.phase.dynamics.rates(self.y, self.t, self.p))

    @property
    def derivatives(self) -> tuple[Array, Array, Array]:
        """Derivatives of F of all nodes by y, t, p."""
        return self.once("J", lambda: self.phase.dynamics.derivatives(self.y, self.t, self.p))

    # ------------------------------------------------------------------------------------------ cost

    def given(self, derivatives: bool = True) -> Any:
        """The arguments of functions of nodes."""
        phase = self.phase
        functions = [*([] if phase.cost is None else [phase.cost]), *phase.path]
        names = dict.fromkeys(name for one in functions for name in one.names)
        whole = "given" if derivatives else "values"
        return self.once(whole, lambda: phase.given_at(self.y, self.t, self.p, names, derivatives=derivatives))

    def _running(self) -> Array:
        assert self.phase.cost is not None
        return self.phase.cost.values(self.given(False), len(self.mesh))[0]

    def cost(self) -> float:
        """Its cost."""
        found = 0.0
        if self.phase.cost is not None:
            found += self.duration * float(self.mesh.weights @ self._running())
        if self.phase.end_cost is not None:
            found += float(self.phase.end_cost.values(self.ends_given()[0], 1)[0, 0])
        return found

    def add_gradient(self, found: Array) -> None:
        """Add its derivatives."""
        phase, size = self.phase, self.phase.ny + 1 + len(self.p)
        if phase.cost is not None:
            value, slopes = phase.cost.with_derivatives(self.given(), len(self.mesh), size)
            weighed = (self.duration * self.mesh.weights * slopes[0]).T  # (n, size)
            found[self.columns] += weighed[:, : phase.ny]
            self._add_times(found, weighed[:, phase.ny])
            found[self.parameters] += weighed[:, phase.ny + 1 :].sum(axis=0)
            if phase.is_free:
                found[self.column_of_duration] += self.mesh.weights @ value[0]
        if phase.end_cost is not None:
            given, columns = self.ends_given()
            _, slopes = phase.end_cost.with_derivatives(given, 1, len(columns))
            np.add.at(found, columns, slopes[0, :, 0])

    def _add_times(self, found: Array, by_t: Array) -> None:
        if self.time_columns:
            found[self.time_columns] += by_t @ self.by_durations

    # ------------------------------------------------------------------------------------------ the two ends

    def ends_columns(self) -> Any:
        """Columns of the unknowns on which functions of the ends depend."""
        phase = self.phase
        return np.concatenate(
            [self.columns[0, : phase.nx], self.columns[-1, : phase.nx], np.array(self.time_columns, int), self.parameters]
        )

    def ends_given(self, changed: Array | None = None) -> tuple[Any, Any]:
        """The arguments of functions of the two ends, with derivatives by `ends_columns`; and these."""
        phase, nx = self.phase, self.phase.nx
        columns = self.ends_columns()
        k, num_t, p = len(columns), len(self.time_columns), self.p
        x0, x1, durations = self.y[0, :nx], self.y[-1, :nx], np.zeros(num_t)
        if changed is not None:
            x0, x1 = x0 + changed[:nx], x1 + changed[nx : 2 * nx]
            durations, p = changed[2 * nx : 2 * nx + num_t], p + changed[2 * nx + num_t :]
        found: dict[str, tuple[Array, Array]] = {}
        for which, row, x, at in (("start", 0, x0, 0), ("end", -1, x1, nx)):
            y = np.concatenate([x, self.y[row, nx:]])[None]
            t = np.array([self.t[row] + self.by_durations[row] @ durations])
            for name, (value, slopes) in phase.given_at(y, t, p, (*ENDS, *phase.stations)).items():
                by = np.zeros((k, *slopes.shape[1:]))
                by[at : at + nx] = slopes[:nx]
                for j in range(num_t):
                    by[2 * nx + j] = slopes[phase.ny] * self.by_durations[row, j]
                by[2 * nx + num_t :] = slopes[phase.ny + 1 :]
                found[f"{name}_{which}"] = value, by
        own = np.zeros((k, 1))
        if phase.is_free:
            own[2 * nx + num_t - 1] = 1.0
        change = durations[-1] if phase.is_free else 0.0
        found["duration"] = np.array([self.duration + change]), own
        slopes = np.zeros((k, len(p), 1))
        slopes[2 * nx + num_t :, :, 0] = np.eye(len(p))
        found["parameters"] = (phase.parameter_origin + p if len(p) else np.zeros(0))[:, None], slopes
        return found, columns

    def ends_second(self, function: NodeFunction, weights: Array) -> Array:
        """Second derivatives ``(k, k)`` of *weights* times a function of the two ends, by differences of its gradient."""
        k = len(self.ends_columns())

        def gradient(change: Array) -> Array:
            return weights @ function.with_derivatives(self.ends_given(change)[0], 1, k)[1][:, :, 0]

        return differences_of(gradient, np.full(k, STEP))

    def end_cost_second_places(self) -> list[tuple[Any, Any]]:
        """The pattern of `end_cost_second`."""
        if self.phase.end_cost is None:
            return []
        columns = self.ends_columns()
        return [np.broadcast_arrays(columns[:, None], columns)]  # type: ignore[list-item]

    def end_cost_second(self, factor: float) -> list[Array]:
        """Second derivatives of the cost of the ends."""
        if self.phase.end_cost is None:
            return []
        return [self.ends_second(self.phase.end_cost, np.array([factor]))]

    # ------------------------------------------------------------------------------------------ equations

    def blocks(self) -> list[Block]:
        """Its equations."""
        self.defects = Defects(self)
        self.kept = Kept(self) if self.columns_of_corrections.size else None
        found: list[Block] = [self.defects] if self.kept is None else [self.defects, self.kept]
        state = self.phase.state
        is_begun = not (self.number and self.phase.start_is_state)
        if is_begun and self.phase.start_is_held and (state.is_constrained or state.has_known):
            found.append(OnManifold(self))
        self.paths = [Path(self, one) for one in self.phase.path]
        return [*found, *self.orientations, *self.paths, *(Ends(self, one) for one in self.phase.boundary)]

    def linked(self, after: Part, link: NodeFunction | None) -> Block:
        """The equations between its end and the next one's start."""
        return Continuity(self, after, link)

    # ------------------------------------------------------------------------------------------ second derivatives

    def local_columns(self) -> Any:
        """Of each node, all on which what belongs to it depends ``(n, k)``: its own unknowns, durations, parameters."""
        rest = np.concatenate([np.array(self.time_columns, int), self.parameters]).astype(int)
        return np.hstack([self.columns, np.tile(rest, (len(self.mesh), 1))])

    def second_places(self) -> list[tuple[Any, Any]]:
        """The pattern of the blocks of `second`."""
        columns = self.local_columns()
        k = columns.shape[1]
        shape = len(self.mesh), k, k
        found = [(np.broadcast_to(columns[:, :, None], shape), np.broadcast_to(columns[:, None, :], shape))]
        if self.kept is None:
            return found
        mine, others = columns[self.mesh.nodes[:, -1], :, None], self.columns_of_corrections[:, None]
        mine, others = np.broadcast_arrays(mine, others)
        return [*found, (mine, others), (others, mine)]

    def by_local(self, nodes: Any) -> Array:
        """Derivatives ``(n, ny + 1 + np, k)`` of nodes' (y, t, p) by their `local_columns`."""
        ny, durations = self.phase.ny, len(self.time_columns)
        P = np.zeros((len(nodes), ny + 1 + len(self.p), ny + durations + len(self.p)))
        P[:, :ny, :ny] = np.eye(ny)
        P[:, ny, ny : ny + durations] = self.by_durations[nodes]
        P[:, ny + 1 :, ny + durations :] = np.eye(len(self.p))
        return P

    def second(self, factor: float, multipliers: Any) -> list[Array]:
        """Second derivatives of factor times the integral, of defects and path constraints times their multipliers."""
        phase, mesh, T = self.phase, self.mesh, self.duration
        n, ny, size = len(mesh), phase.ny, phase.ny + 1 + len(self.p)
        k, nx = len(mesh.sizes), phase.nx
        of_defects = multipliers[id(self.defects)].reshape(k, -1, nx)
        weights = -mesh.weigh(of_defects)
        with_time = bool(self.time_columns)
        H = T * phase.dynamics.second(self.y, self.t, self.p, weights, with_time)
        by_duration = np.zeros((n, size))
        if phase.is_free:
            by_y, by_t, by_p = self.derivatives
            by_duration[:, :ny] = np.einsum("na,nab->nb", weights, by_y)
            by_duration[:, ny] = np.einsum("na,na->n", weights, by_t)
            by_duration[:, ny + 1 :] = np.einsum("na,nap->np", weights, by_p)
        functions: list[tuple[NodeFunction, Array]] = []
        if phase.cost is not None:
            if phase.is_free:
                _, slopes = phase.cost.with_derivatives(self.given(), n, size)
                by_duration += factor * (mesh.weights * slopes[0]).T
            functions.append((phase.cost, factor * T * mesh.weights[None]))
        for path in self.paths:
            functions.append((path.function, path.spread(multipliers[id(path)])))
        self._add_second_of_functions(functions, H)
        more, P = [], self.by_local(np.arange(n))
        if self.kept is not None:
            ends, by_correction = mesh.nodes[:, -1], -np.einsum("ksa,s->ka", of_defects, self.kept.shares)
            H[ends] += self.kept.second_at_ends(by_correction, multipliers[id(self.kept)])
            cross = np.swapaxes(P[ends], 1, 2) @ self.kept.second_by_corrections(by_correction)
            more = [cross, cross]
        if size == ny + 1 and not self.time_columns:  # nothing but the nodes' own unknowns
            return [H[:, :ny, :ny], *more]
        found = np.swapaxes(P, 1, 2) @ H @ P
        if phase.is_free:
            place = ny + len(self.time_columns) - 1
            cross = np.einsum("nsk,ns->nk", P, by_duration)
            found[:, place, :] += cross
            found[:, :, place] += cross
        return [found, *more]

    def _places_of(self, names: tuple[str, ...]) -> list[int]:
        """`Phase.places_of`, found once."""
        if names not in self._places:
            self._places[names] = self.phase.places_of(names)
        return self._places[names]

    def _add_second_of_functions(self, functions: Sequence[tuple[NodeFunction, Array]], H: Array) -> None:
        """Add the second derivatives of functions of nodes times weights ``(rows, n)``: differences of their gradients."""
        if not functions:
            return
        n, ny, phase = len(self.mesh), self.phase.ny, self.phase
        size, names = ny + 1 + len(self.p), dict.fromkeys(name for function, _ in functions for name in function.names)

        def gradient(x: Array, p: Array) -> Array:
            y, t, found = x[:, :ny], x[:, ny], np.zeros((len(x) // n, n, size))
            given = phase.given_at(y, t, p, names)
            for function, weights in functions:
                _, slopes = function.with_derivatives(given, len(x), size)
                found += np.einsum("rn,rkmn->mnk", weights, slopes.reshape(*slopes.shape[:2], -1, n))
            return found.reshape(-1, size)

        of = self._places_of(tuple(names))
        x = np.column_stack([self.y, self.t])
        h = STEP * np.column_stack([np.maximum(1.0, np.abs(self.y)), np.ones(n)])
        own, rest = [j for j in of if j <= ny], [j for j in of if j > ny]
        columns = [*differences(lambda x: gradient(x, self.p), x, h, own, size * (2 + len(of)))]
        for j in rest:
            change = np.eye(len(self.p))[j - ny - 1] * phase.dynamics.step(j - ny - 1)
            columns.append((gradient(x, self.p + change) - gradient(x, self.p - change)) / (2.0 * change.sum()))
        for j, column in zip([*own, *rest], columns, strict=True):
            H[:, :, j] += 0.5 * column
            H[:, j, :] += 0.5 * column
