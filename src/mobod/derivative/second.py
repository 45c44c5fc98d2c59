"""Second derivatives of u_dot: those of the first along a direction, exactly, by Duals of Duals.

u_dot and lambda are functions of x = (q, u, z, time, f), by K(x) (u_dot; lambda) + r(x) = 0. Their first derivatives X obey
K X = -r' at u_dot and lambda held. Along a direction d of x, which takes (u_dot, lambda) along X d,

    K dX = -d(residual and errors, differentiated along (x; X) with X held)

so one pass of Duals of Duals gives all that the factors for X are solved with once more: seeds are x and X, rates d and X d.
Source: Fike and Alonso 2011 for the numbers.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..algebra.arrays import Array
from ..state.state import State
from ..value.stage import Stage
from .coordinates import columns_by_mobility, has_rates
from .equations import of_equations, solve, solved, variables
from .jvp import calling, jvp
from .routines import calc_residual


def of_forward_dynamics(state: State, along: Mapping[str, Array]) -> tuple[Array, ...]:
    """Changes of the derivatives of u_dot by q, u, z, mobility forces and time, *along* displacements, u and z."""
    tree = state.tree
    nu, constrained = tree.nu, tree.counts["nc"] > 0
    seeds, of = variables(state)
    X, L = solved(state, of_equations(state, seeds))
    n = X.shape[1] - nu
    direction = np.zeros(X.shape[1])
    for name in ("q", "u", "z"):
        direction[of[name]] = along[name][: of[name].stop - of[name].start]
    seeds = {name: np.hstack([seed, np.zeros((len(seed), nu))]) for name, seed in seeds.items()}
    seeds |= {"u_dot": X, "multiplier": L}
    turned = np.zeros_like(seeds["q"])  # displacements are counted where the direction has come
    if has_rates(state) and along["q"].any():
        turned[:, of["q"]] = _rate_of_n(state, along["q"])
    rows = tree.counts["num_rows"]
    found = jvp(
        state,
        seeds,
        calling(calc_residual, int(constrained)),
        {"work_u": nu, "row_work": rows, "known_u_dot": nu},
        at={"u_dot": state.u_dot_view[:nu], "multiplier": state.record.multiplier[:, 0]},
        along={name: seed @ direction for name, seed in seeds.items()},
        seeds_along={"q": turned},
    )
    errors = found["row_work"] if constrained else np.zeros((rows, X.shape[1]))
    rates, _ = solve(state, found["work_u"], errors, found["known_u_dot"])
    return rates[:, of["q"]], rates[:, of["u"]], rates[:, of["z"]], rates[:, n:], rates[:, of["time"]][:, 0]


def _rate_of_n(state: State, displacement: Array) -> Array:
    """The derivative of N ``(nq, nu)`` along a displacement: NDot at these speeds."""
    other = state.copy()
    u = np.zeros(len(state.u_view))
    u[: len(displacement)] = displacement
    other.u = u
    state.system.realize(other, Stage.VELOCITY)
    matter = state.system.get_matter_subsystem()
    return columns_by_mobility(state, lambda unit: matter.multiply_by_n_dot(other, False, unit))
