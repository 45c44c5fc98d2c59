"""Friction of contacts that slide: it depends on the normal forces, and these on it.

With N_0 the normal forces that there would be without it, and d_j the direction in which contact j slips,

    N = N_0 + K mu N,     K_ij = change of normal force i by a unit of friction at contact j, against d_j

so that (1 - K mu) N = N_0. K is found by giving each contact a friction of its own. Where an eigenvalue of 1 - K mu is not
positive, there is no answer or more than one: friction presses a contact together more than it takes to hold it, Painleve's
paradox. Source: Glocker 2001, Set-Valued Force Laws, 8; Painleve 1895.

Rows of contacts may be redundant, as of a brick's four corners, and the least multipliers pull where others push alone. N is
then the least that does not pull, N_0 having a part B t by the t of a basis of multipliers that change nothing: a problem of
least distance. Source: Lawson and Hanson 1974, Solving Least Squares Problems, 23.4.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..errors import ModelError
from ..state.state import State
from ..state.validity import ACCELERATIONS
from . import _rows
from .base import SLIDING, UnilateralContact

#: The smallest part of the normal force without friction that it may be multiplied by, in 1 - K mu.
_LEAST = 1e-9
#: The part of the largest singular value up to which rows are redundant.
_REDUNDANT = 1e-10


def sliding_contacts(state: State) -> list[UnilateralContact]:
    """The contacts that slide in this state."""
    if not state.discrete.get(SLIDING):
        return []
    matter = state.system.get_matter_subsystem()
    return [matter.unilateral_contacts[i] for i in sorted(state.discrete[SLIDING])]


def add_friction(state: State) -> Array | None:
    """Add the friction of contacts that slide to the applied forces, of a state with accelerations without it.

    None where there is none. Else the accelerations are to be computed again, and what is returned is to be added to the
    kernels' multipliers then: it changes nothing but how redundant rows share the load.

    Raises
    ------
    ModelError
        If there are no normal forces, or several, that go with the friction.
    """
    contacts = [one for one in sliding_contacts(state) if not one.normal.is_disabled(state)]
    if not contacts:
        return None
    record, k, all_contacts = state.record, len(contacts), contacts[0].get_matter_subsystem().unilateral_contacts
    pressed = contacts + [one for one in all_contacts if one.is_enabled(state) and one not in contacts]
    normals = np.array([_normal_row(state, one) for one in pressed])
    signs = np.array([one.get_sign_convention() for one in pressed])
    directions, mu = _slips(state, contacts)
    wrenches = [_unit_friction(state, one, d) for one, d in zip(contacts, directions, strict=True)]
    N_0 = -signs * record.multiplier[normals, 0]
    K = np.zeros((len(pressed), k))
    for j, (bodies, of_unit) in enumerate(wrenches):
        size, before = max(abs(float(N_0[j])), 1.0), record.body_forces[bodies]
        np.subtract.at(record.body_forces, bodies, size * of_unit)
        state.valid &= ~ACCELERATIONS
        state.system.compute(state, ACCELERATIONS)
        K[:, j] = (-signs * record.multiplier[normals, 0] - N_0) / size
        record.body_forces[bodies] = before
    state.valid &= ~ACCELERATIONS
    A = np.eye(k) - K[:k] * mu
    if (A[0, 0] if k == 1 else np.linalg.eigvals(A).real.min()) <= _LEAST:
        raise ModelError(paradox(contacts, mu, state))
    follows = K * mu @ np.linalg.inv(A)  # friction, and what it changes, by the normal forces without
    N, more = N_0 + follows @ N_0[:k], np.zeros(len(record.multiplier))
    if N.min() < -_LEAST * N.max():
        basis = _without_effect(state)
        B = -signs[:, None] * basis[normals]
        B = B + follows @ B[:k]
        t = _least_that_push(N, B)
        N, more = N + B @ t, basis @ t
    for (bodies, of_unit), size in zip(wrenches, mu * N[:k], strict=True):
        np.subtract.at(record.body_forces, bodies, size * of_unit)
    return more


def _normal_row(state: State, contact: UnilateralContact) -> int:
    """The kernels' row of the normal of a contact that is closed."""
    holds = contact.normal
    if contact.rolling is not None and not contact.rolling.is_disabled(state):
        holds = contact.rolling
    return int(state.tree.fields["first_row"][holds.index])


def _slips(state: State, contacts: list[UnilateralContact]) -> tuple[Array, Array]:
    """The directions ``(k, 2)`` in which contacts slip, and their coefficients."""
    k, nu = len(contacts), state.tree.nu
    J, gaps = np.zeros((3 * k, nu)), np.zeros(k)
    which = np.array([one.rows_of().index for one in contacts], np.int64)
    _rows.find_rows(state.block, which, np.arange(0, 3 * k, 3, dtype=np.int64), J, gaps)
    slips = J @ state.u_values[:nu]
    directions, mu = np.zeros((k, 2)), np.zeros(k)
    for i, one in enumerate(contacts):
        slip, given = slips[3 * i + 1 : 3 * i + 3], state.discrete[SLIDING][one.get_unilateral_contact_index()]
        speed = float(np.hypot(*slip))
        directions[i] = slip / speed if speed > 0.0 and slip @ given > 0.0 else given
        mu[i] = one.calc_effective_cof(state, 0.0, max(speed, 1e-300))
    return directions, mu


def _without_effect(state: State) -> Array:
    """A basis ``(rows, r)`` of the kernels' multipliers that change no acceleration."""
    matter = state.system.get_matter_subsystem()
    G = matter.calc_g(state)
    size = np.maximum(np.linalg.norm(G, axis=1), np.finfo(float).tiny)[:, None]
    U, s, _ = np.linalg.svd(G / size)
    free = U[:, int((s > _REDUNDANT * s[0]).sum()) :]
    basis = np.zeros((len(state.record.multiplier), free.shape[1]))
    basis[matter.rows_in_use(state)] = free / size
    return basis


def _least_that_push(N: Array, B: Array) -> Array:
    """The t for which N + B t is least and nowhere below zero; 0 where there is none."""
    from scipy.optimize import nnls  # not needed by `import mobod`, and slow

    if not B.shape[1]:
        return np.zeros(0)
    Q, s, V = np.linalg.svd(B, full_matrices=False)
    known = s > _REDUNDANT * s[0]
    Q, s, V = Q[:, known], s[known], V[known]
    rest = N - Q @ (Q.T @ N)
    E = np.vstack([Q.T, _LEAST * float(np.abs(N).max()) - rest])
    f = np.eye(len(E))[-1]
    r = E @ nnls(E, f)[0] - f
    if not -r[-1] > _LEAST:  # nothing pushes everywhere
        return np.zeros(B.shape[1])
    return np.asarray(V.T @ ((-r[:-1] / r[-1] - Q.T @ N) / s))


def _unit_friction(state: State, contact: UnilateralContact, direction: Array) -> tuple[list[int], Array]:
    """The bodies, and the wrenches on them ``(n, 6)`` along a direction of slip, of rows that are written."""
    rows, fields = contact.rows_of(), state.tree.fields
    first, n = int(fields["first_wrench"][rows.index]), int(fields["num_constrained_bodies"][rows.index])
    along = state.record.wrenches[first + n : first + 3 * n].reshape(2, n, -1)
    return [body.index for body in rows.constrained_bodies], direction[0] * along[0] + direction[1] * along[1]


def paradox(contacts: list[Any], mu: Any, state: State) -> str:
    """A sentence on contacts whose friction presses them together."""
    which = ", ".join(f"{one.name!r} (coefficient {m:.6g})" for one, m in zip(contacts, mu, strict=True))
    return (
        f"at time {state.time:.9g} rigid contact with Coulomb friction has no solution, or more than one, for {which}, which "
        "slides: friction presses it together by more than what it takes to hold it (Painleve's paradox). The rigid model ends "
        "here; take a smaller coefficient, mobod.integrator.TimeStepping, whose impulses then stop the slip at once, or "
        "compliant contact"
    )
