"""Derivatives of the equations of motion through all that acts, and the linear systems from which those of udot follow.

    residual = M udot + inertial forces - applied forces + G^T lambda          aerr = G udot + offset

at udot and lambda held: see `routines`, of which `jvp` is taken. lambda = W^+ (...), W = G M^-1 G^T; friction of rigid contacts
that slide is S lambda in the residual, see `tree.sliding`, and lambda + W^+ G M^-1 S lambda = W^+ (...). Redundant equations
that contradict each other leave e = aerr, with W e = 0, and through the change of the pseudoinverse

    d(lambda) has W^+ W^+ G M^-1 d(G^T e) beside         e held; G^T e = 0

Source: Golub and Pereyra 1973, equation 4.12.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..algebra.arrays import Array
from ..state.state import State
from ..tree import constraint_operators, sliding
from ..tree.prescribed_mobilities import FROM_MOTION
from .coordinates import displacements
from .jvp import Seed, calling, jvp
from .routines import calc_errors, calc_residual
from .solve import LEAST_ERROR


class OfEquations(NamedTuple):
    """Derivatives of the equations of motion, a column a direction.

    Attributes
    ----------
    residual : (nu, n) array
    errors : (rows, n) array
        Of the constraints' acceleration errors, by the kernels' rows.
    known : (nu, n) array
        Of the udot that compiled motions prescribe.
    q_dot, z_dot : (nq, n), (nz, n) arrays
        Of N u, and of the rates of the forces' z.
    particle_forces : (3 np, n) array
        Of the forces on the particles.
    turned : (nu, n) array or None
        Of G^T e, where equations contradict each other.
    places : dict of str to slice
        Of the columns of `variables`.
    """

    residual: Array
    errors: Array
    known: Array
    q_dot: Array
    z_dot: Array
    particle_forces: Array
    turned: Array | None
    places: dict[str, slice]


def variables(
    state: State, of_particles: bool = False, turned: Array | None = None, more: int = 0
) -> tuple[dict[str, Array], dict[str, slice]]:
    """Seeds of q, u, z and time, of the particles' locations and velocities if wanted, and of q by *turned*; their columns.

    So many *more* columns, of "model", are behind these. Needs positions.
    """
    tree = state.tree
    sizes = {"q": tree.nu, "u": tree.nu, "z": tree.nz, "time": 1}
    if of_particles:
        sizes |= dict.fromkeys(("particle_location", "particle_velocity"), tree.counts["particle_size"])
    sizes |= {"turn": 0 if turned is None else turned.shape[1], "model": more}
    n, seeds, places = sum(sizes.values()), {}, {}
    for name, end in zip(sizes, np.cumsum([*sizes.values()]).tolist(), strict=True):
        places[name] = slice(end - sizes[name], end)
        if name not in ("turn", "model"):
            seeds[name] = np.zeros((tree.nq if name == "q" else sizes[name], n))
            seeds[name][:, places[name]] = displacements(state) if name == "q" else np.eye(sizes[name])
    if turned is not None:
        seeds["q"][:, places["turn"]] = turned
    return seeds, places


def of_equations(
    state: State, seeds: Mapping[str, Array], places: dict[str, slice] | None = None, of_model: Sequence[Sequence[Seed]] = ()
) -> OfEquations:
    """Derivatives along directions of variables, or of the model, at the state's udot and multipliers. Needs ACCELERATION."""
    tree = state.tree
    at, asked = {"u_dot": state.u_dot_view[: tree.nu]}, int(tree.counts["nc"] > 0)
    if asked:
        at["multiplier"] = state.record.multiplier[:, 0]
    num_rows = tree.counts["num_rows"]
    rows = {"work_u": tree.nu, "known_u_dot": tree.nu, "row_work": num_rows, "q_dot": tree.nq, "z_dot": tree.nz}
    rows |= {"particle_forces": tree.counts["particle_size"]}
    found, turned = jvp(state, seeds, calling(calc_residual, asked), rows, at=at, of_model=of_model), None
    left = contradiction(state) if asked else None
    if left is not None:  # the residual is affine in the multipliers
        scale = max(float(np.abs(at["multiplier"]).max()), 1.0) / float(np.abs(left).max())
        at["multiplier"] = at["multiplier"] + scale * left
        moved = jvp(state, seeds, calling(calc_residual, asked), {"work_u": tree.nu}, at=at, of_model=of_model)
        turned = (moved["work_u"] - found["work_u"]) / scale
    return OfEquations(
        found["work_u"],
        asked * found["row_work"],
        found["known_u_dot"],
        found["q_dot"],
        found["z_dot"],
        found["particle_forces"],
        turned,
        places or {},
    )


def by_variables(state: State, of_particles: bool = False, turned: Array | None = None) -> OfEquations:
    """Those by `variables`. Needs ACCELERATION."""
    return of_equations(state, *variables(state, of_particles, turned))


def of_errors(state: State, dq: Array, of_model: Sequence[Sequence[Seed]] = ()) -> tuple[Array, Array]:
    """Derivatives of position and velocity errors along changes of q ``(nq, n)``, then of the model, by the kernels' rows.

    Needs positions.
    """
    rows, seeds = state.tree.counts["num_rows"], np.hstack([dq, np.zeros((len(dq), len(of_model)))])
    outputs = {"position_error": rows, "row_work": rows}
    found = jvp(state, {"q": seeds}, calling(calc_errors), outputs, of_model=of_model)
    return found["position_error"], found["row_work"]


def solved(state: State, found: OfEquations) -> tuple[Array, Array]:
    """Derivatives of udot, and of multipliers by the kernels' rows: by the columns of *found*, then by mobility forces."""
    nu = state.tree.nu
    errors = np.hstack([found.errors, np.zeros((len(found.errors), nu))])
    known = np.hstack([found.known, np.zeros((nu, nu))])
    turned = None if found.turned is None else np.hstack([found.turned, np.zeros((nu, nu))])
    return solve(state, np.hstack([found.residual, -np.eye(nu)]), errors, known, turned)


def contradiction(state: State) -> Array | None:
    """Errors of accelerations, by the kernels' rows, that equations leave which contradict each other; None where none do.

    Needs ACCELERATION.
    """
    record, matter = state.record, state.system.get_matter_subsystem()
    rows = matter.rows_in_use(state)
    if not len(rows) or record.gram_inverse[state.field("row_place")[rows], 0].all():
        return None
    errors: Array = matter.acceleration_errors(state)
    largest = max(np.abs(record.u_dot).max(), np.abs(record.acceleration_offset[rows]).max())
    return errors if np.abs(errors).max() > LEAST_ERROR * largest else None


def solve(
    state: State, residual: Array, errors: Array, known: Array | None = None, turned: Array | None = None
) -> tuple[Array, Array]:
    """Derivatives of udot and multipliers, from those of residual and errors, and of prescribed udot.

    M d(udot) + G^T d(lambda) = -d(residual), G d(udot) = -d(errors): a column a direction, errors and multipliers by the
    kernels' rows; *turned* as of `OfEquations`. Needs ACCELERATION.
    """
    matter, tree = state.system.get_matter_subsystem(), state.tree
    multipliers = np.zeros_like(errors)
    M_inv = matter.calc_m_inv(state)
    rates = -M_inv @ residual
    if known is not None and known.any():
        known = np.repeat(state.field("prescribed") == FROM_MOTION, tree.num_u)[:, None] * known
        rates = known - M_inv @ (residual + matter.calc_m(state) @ known)
    rows = matter.rows_in_use(state) if tree.counts["nc"] else np.zeros(0, np.int64)
    if len(rows):
        G = matter.explicit_g(state)
        inverse = np.zeros((len(rows), len(rows)))  # (G M^-1 G^T)^+, by the factors that accelerations are found with
        for k, r in enumerate(rows):
            x = np.zeros(len(G))
            x[r] = 1.0
            constraint_operators.solve(state.block, x)
            inverse[:, k] = x[rows]
        G, errors = G[rows], errors[rows]
        if turned is not None:
            errors = errors + inverse @ (G @ (M_inv @ turned))
        multipliers[rows] = inverse @ (G @ rates + errors)
        forces = G.T
        if state.slides:  # (1 + W^+ G M^-1 S) d(lambda) is what there would be without friction
            S = _friction_by_multipliers(state)[:, rows]
            multipliers[rows] = np.linalg.solve(np.eye(len(rows)) + inverse @ (G @ (M_inv @ S)), multipliers[rows])
            forces = G.T + S
        rates -= M_inv @ (forces @ multipliers[rows])
    return rates, multipliers


def _friction_by_multipliers(state: State) -> Array:
    """S ``(nu, rows)``: by the kernels' rows, what friction of contacts that slide adds to the residual, times lambda."""
    tree, along = state.tree, state.field("friction_rows")
    S = np.zeros((tree.nu, tree.counts["num_rows"]))
    for c in np.flatnonzero(along >= 0):
        F, f = np.zeros((tree.nb, 6)), np.zeros((tree.nu, 1))
        sliding.add_friction_by_multiplier(state.block, c, F)
        constraint_operators.calc_g_transpose_products(state.block, F, f)
        S[:, state.field("first_row")[c]] = -f[:, 0]
    return S


def of_forward_dynamics(state: State) -> tuple[Array, Array, Array, Array, Array]:
    """Derivatives of u_dot by q, u, z, mobility forces and time. Needs ACCELERATION."""
    found = by_variables(state)
    rates, at = solved(state, found)[0], found.places
    n = at["model"].stop
    return rates[:, at["q"]], rates[:, at["u"]], rates[:, at["z"]], rates[:, n:], rates[:, at["time"]][:, 0]


def of_inverse_dynamics(state: State, u_dot: Array) -> tuple[Array, Array]:
    """Derivatives of what is missing for *u_dot*, without forces of constraints, by q and u. Needs VELOCITY."""
    seeds, at = variables(state)
    found = jvp(state, seeds, calling(calc_residual), {"work_u": state.tree.nu}, at={"u_dot": u_dot})["work_u"]
    return found[:, at["q"]], found[:, at["u"]]
