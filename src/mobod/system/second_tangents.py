"""How the derivatives of u_dot change along one more direction, exactly, by Duals of Duals.

u_dot and lambda are functions of x = (q, u, z, time, f), by K(x) (u_dot; lambda) + r(x) = 0. Their first derivatives X obey
K X = -r' at u_dot and lambda held. Along a direction d of x, which takes (u_dot, lambda) along X d,

    K dX = -d(residual and errors, differentiated along (x; X) with X held)

so one pass of Duals of Duals gives all that the factors for X are solved with once more: seeds are x and X, rates d and X d.
Source: Fike and Alonso 2011 for the numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..algebra.record import TANGENTS
from ..state.state import State
from ..tree import realize as _realize
from ..tree import residual_tangents
from ..value.stage import Stage
from . import tangents


def of_forward_dynamics(system: Any, state: State, along: Mapping[str, Array]) -> tuple[Array, ...]:
    """Changes of the derivatives of u_dot by q, u, z, mobility forces and time, *along* displacements, u and z."""
    tree = state.tree
    nu, nq = tree.nu, tree.nq
    first = tangents.of_residual(system, state, state.u_dot_view[:nu], state.record.multiplier)
    of, n = first.places, first.residual.shape[1]
    X, L = tangents.solved_with_multipliers(system, state, first)
    direction = np.zeros(X.shape[1])
    for name in ("q", "u", "z"):
        direction[of[name]] = along[name][: tree.sizes[name] if name == "z" else nu]
    N = tangents.displacements(state)
    seeds = {name: np.zeros((len(getattr(state.record, name)), X.shape[1])) for name in ("q", "u", "z", "time")}
    seeds["q"][:nq, of["q"]] = N
    for name in ("u", "z", "time"):
        place = of[name]
        seeds[name][: place.stop - place.start, place] = np.eye(place.stop - place.start)
    rates = {name: seed @ direction for name, seed in seeds.items()}
    turned = np.zeros_like(seeds["q"])  # displacements are counted where the direction has come
    if tangents.has_rates(state) and along["q"].any():
        turned[:nq, of["q"]] = _rate_of_n(state, along["q"])
    seeds |= {"u_dot": X, "multiplier": L}
    rates |= {"u_dot": X @ direction, "multiplier": L @ direction}
    constrained = tree.counts["nc"] > 0
    residual, errors = np.zeros_like(X), np.zeros((tree.counts["num_rows"], X.shape[1]))
    known = np.zeros_like(X)
    address = _realize.advance.address(with_tangents=True, twice=True)
    routine = residual_tangents.calc_residual.address(with_tangents=True, twice=True)
    with tangents.record_at(state, twice=True) as record:
        record.u_dot[:nu, 0] = state.u_dot_view[:nu]
        record.multiplier[:] = state.record.multiplier
        for name, rate in rates.items():
            getattr(record, name).rates[: len(rate), 0] = rate
        for begin in range(0, X.shape[1], TANGENTS):
            columns = slice(begin, min(begin + TANGENTS, X.shape[1]))
            count = columns.stop - begin
            for name, seed in seeds.items():
                getattr(record, name).tangents[: len(seed), 0, :count] = seed[:, columns]
            record.q.rates_of_tangents[: len(turned), 0, :count] = turned[:, columns]
            status = _realize.realize(record, routine, address, int(constrained))
            if status:
                system.explain(state, status)
            residual[:, columns] = record.work_u.rates_of_tangents[:nu, 0, :count]
            known[:, columns] = record.known_u_dot.rates_of_tangents[:nu, 0, :count]
            if constrained:
                errors[:, columns] = record.row_work.rates_of_tangents[:, 0, :count]
    found = tangents.rates_of(system, state, residual, errors, known)
    return found[:, of["q"]], found[:, of["u"]], found[:, of["z"]], found[:, n:], found[:, of["time"]][:, 0]


def _rate_of_n(state: State, displacement: Array) -> Array:
    """How N ``(nq, nu)`` changes along a displacement: NDot at these speeds."""
    other = state.copy()
    u = np.zeros(len(state.u_view))
    u[: len(displacement)] = displacement
    other.u = u
    state.system.realize(other, Stage.VELOCITY)
    matter = state.system.get_matter_subsystem()
    return tangents.columns_by_mobility(state, lambda unit: matter.multiply_by_n_dot(other, False, unit))


__all__ = ["of_forward_dynamics"]
