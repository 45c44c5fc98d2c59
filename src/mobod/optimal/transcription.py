"""The nonlinear program of phases on their meshes: unknowns, bounds, cost, equations, and their sparse derivatives.

Unknowns are, phase by phase, the nodes' (q, u, z, forces), then the duration where it is sought; last the parameters. The
Lagrangian's second derivatives are blocks of single nodes, with the durations and parameters: defects are linear in states and
in rates, so that only the rates' own second derivatives, weighed by the multipliers, are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from .functions import NodeFunction
from .mesh import Mesh
from .part import Part
from .phase import Phase
from .sparse import Pattern


class Transcription:
    """A nonlinear program: least `cost` with ``low <= v <= high`` and ``g_low <= g(v) <= g_high``.

    Parameters
    ----------
    phases : sequence of Phase
    meshes : sequence of Mesh
    links : sequence of (NodeFunction or None)
        Between phases; None where states go on as they are.
    """

    def __init__(self, phases: Sequence[Phase], meshes: Sequence[Mesh], links: Sequence[NodeFunction | None]) -> None:
        names: list[str] = []
        bounds: list[tuple[float, float]] = []
        for phase in phases:
            for name, pair in zip(phase.parameter_names, phase.parameter_bounds, strict=True):
                if name not in names:
                    names.append(name)
                    bounds.append(pair)
        self.parts: list[Part] = []
        self._v: bytes | None = None
        self._seen: dict[str, Any] = {}
        at = 0
        free: list[tuple[int, float]] = []
        for i, (phase, mesh) in enumerate(zip(phases, meshes, strict=True)):
            part = Part(phase, mesh, at, list(free), i)
            at, free = part.end, [*free, (part.column_of_duration, phase.longest)]
            self.parts.append(part)
        self.n = at + len(names)
        self.parameter_names = names
        for part in self.parts:
            part.parameters = np.array([at + names.index(one) for one in part.phase.parameter_names], int)
        self.low, self.high = (
            np.concatenate([part.bounds[k] for part in self.parts] + [[b[k] for b in bounds]]) for k in (0, 1)
        )
        self.blocks = [block for part in self.parts for block in part.blocks()]
        for first, second, link in zip(self.parts[:-1], self.parts[1:], links, strict=True):
            self.blocks.append(first.linked(second, link))
        self.g_low = np.concatenate([np.zeros(0), *(block.low for block in self.blocks)])
        self.g_high = np.concatenate([np.zeros(0), *(block.high for block in self.blocks)])
        self.m = len(self.g_low)
        first_row, jacobian = 0, []
        self._rows: list[slice] = []
        for block in self.blocks:
            rows = slice(first_row, first_row + len(block.low))
            self._rows.append(rows)
            jacobian += [(r + first_row, c) for r, c in block.places()]
            first_row = rows.stop
        self.jacobian_pattern = Pattern((max(self.m, 1), self.n), jacobian)
        places = [place for part in self.parts for place in part.second_places()]
        places += [place for block in self.blocks for place in block.second_places()]
        places += [place for part in self.parts for place in part.end_cost_second_places()]
        self.hessian_pattern = Pattern((self.n, self.n), places, upper=True)

    def name_of(self, row: int) -> str:
        """The name of an equation."""
        for block, rows in zip(self.blocks, self._rows, strict=True):
            if row < rows.stop:
                return block.name_of(row - rows.start)
        raise IndexError(row)

    def _set(self, v: Array) -> None:
        """Tell all parts where they are; what was computed elsewhere is forgotten."""
        key = v.tobytes()
        if key != self._v:
            self._v, self._seen = key, {}
            for part in self.parts:
                part.set(v)

    def _once(self, v: Array, what: str, make: Callable[[], Any]) -> Any:
        """Something of these unknowns, computed once: solvers ask for each of cost and equations with the other, and again."""
        self._set(v)
        if what not in self._seen:
            self._seen[what] = make()
        return self._seen[what]

    def cost(self, v: Array) -> float:
        """The sum of costs."""
        return self._once(v, "cost", lambda: float(sum(part.cost() for part in self.parts)))

    def gradient(self, v: Array) -> Array:
        """Its derivatives."""

        def make() -> Array:
            found = np.zeros(self.n)
            for part in self.parts:
                part.add_gradient(found)
            return found

        return self._once(v, "gradient", make)

    def constraints(self, v: Array) -> Array:
        """Values g of the equations."""
        return self._once(v, "constraints", lambda: np.concatenate([np.zeros(0), *(block.value() for block in self.blocks)]))

    def jacobian(self, v: Array) -> Array:
        """Entries of their derivatives, in the order of `jacobian_pattern`."""

        def make() -> Array:
            return self.jacobian_pattern.entries([one for block in self.blocks for one in block.derivatives()])

        return self._once(v, "jacobian", make)

    def hessian(self, v: Array, factor: float, multipliers: Array) -> Array:
        """Entries of the second derivatives of factor times the cost, plus multipliers times g, above the diagonal."""
        self._set(v)
        mine: dict[int, Any] = {}
        for block, rows in zip(self.blocks, self._rows, strict=True):
            mine[id(block)] = multipliers[rows]
        found = [one for part in self.parts for one in part.second(factor, mine)]
        found += [one for block in self.blocks for one in block.second(mine[id(block)])]
        found += [one for part in self.parts for one in part.end_cost_second(factor)]
        return self.hessian_pattern.entries(found)
