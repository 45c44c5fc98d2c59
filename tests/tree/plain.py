"""The whole of a tree's dynamics in plain NumPy, as the books write it. `test_plain.py` compares the fast sweeps with it.

Spatial vectors are (angular; linear), of a body at its origin B, in Ground. A body's parent is P, r = p_PB, r~ is its cross
product matrix, and phi = [1 r~; 0 1] takes a force at B to P; phi^T takes P's motion to B. The columns of H are velocities of B
in P, one for each of its mobilizer's speeds u. docs/explanation/algorithms.md has the equations. The right column is the fast
form's file:

    positions              poses, H and the spatial inertia M            outward        `position`
    velocities             V, and a and b, which depend on u alone       outward        `velocity`
    articulated_inertias   P, D and G                                    inward         `articulated_inertia`
    accelerations          udot and A                                    in and out     `acceleration`
    inverse_dynamics       the forces that a given udot takes            out and in     `inverse_dynamics`
    mass_matrix            all of it                                     inward         `explicit_mass_matrix`

Nothing here is fast: 6 x 6 matrices are formed and multiplied out. A model's data come from its public methods, by `links`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mobod.algebra.arrays import Array
from mobod.mobilizer.base import MobilizedBody
from mobod.state.state import State


class Link(NamedTuple):
    """The data of one body, in the frames in which a user gives them, and of its mobilizer at q and u."""

    parent: int
    X_PF: Array  # (4, 4): F on the parent, where the mobilizer begins
    X_BM: Array  # (4, 4): M on the body, where it ends
    X_FM: Array  # (4, 4): of M in F, at q
    H_FM: Array  # (6, nu): velocity of M in F, in F, a column a speed
    bias_FM: Array  # (6,): HDot_FM u
    mass: float
    com: Array  # (3,): from B's origin, in B
    inertia: Array  # (3, 3): about B's origin, in B
    u: Array  # (nu,)
    rotors: Array  # (nu,): rotor inertia of each mobility


def links(bodies: Sequence[MobilizedBody], state: State) -> list[Link]:
    """All bodies, Ground first, each after its parent. Needs ACCELERATION: the bias is A_FM - H_FM udot."""
    found = [Link(0, *(np.eye(4),) * 3, np.zeros((6, 0)), np.zeros(6), 0.0, np.zeros(3), np.zeros((3, 3)), *(np.zeros(0),) * 2)]
    for body in bodies[1:]:
        first, nu = body.get_first_u_index(state), body.get_num_u(state)
        H = np.array([body.get_h_fm_col(state, i).ravel() for i in range(nu)]).reshape(nu, 6).T
        udot = state.u_dot[first : first + nu]
        mass = body.get_body_mass_properties(state)
        found.append(
            Link(
                body.get_parent_mobilized_body().get_mobilized_body_index(),
                np.asarray(body.get_inboard_frame(state)),
                np.asarray(body.get_outboard_frame(state)),
                np.asarray(body.get_mobilizer_transform(state)),
                H,
                body.get_mobilizer_acceleration(state).ravel() - H @ udot,
                mass.mass,
                mass.com,
                np.asarray(mass.inertia),
                state.u[first : first + nu],
                np.reshape(body.get_rotor_inertia(state), nu),
            )
        )
    return found


def cross_matrix(r: Array) -> Array:
    """r~: r~ v = r x v."""
    x, y, z = r
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def phi(r: Array) -> Array:
    """phi(r): takes a force at r to the origin of r; its transpose takes the origin's motion to r."""
    return np.block([[np.eye(3), cross_matrix(r)], [np.zeros((3, 3)), np.eye(3)]])


def inverse(X: Array) -> Array:
    """X^-1 of a pose."""
    R, p = X[:3, :3], X[:3, 3]
    return np.block([[R.T, (-R.T @ p)[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])


def both(R: Array) -> Array:
    """The 6 x 6 matrix that expresses both halves of a spatial vector anew."""
    return np.block([[R, np.zeros((3, 3))], [np.zeros((3, 3)), R]])


class Body(NamedTuple):
    """One body in Ground."""

    R_GB: Array
    R_GF: Array
    p_GB: Array
    r: Array  # p_PB, in Ground
    p_MB: Array  # in Ground
    H: Array  # (6, nu): velocity of B in P, a column a speed
    M: Array  # (6, 6): spatial inertia about B's origin

    @property
    def phi(self) -> Array:
        """From the body to its parent."""
        return phi(self.r)


def positions(tree: list[Link]) -> list[Body]:
    """X_GB = X_GP X_PF X_FM X_BM^-1, and the columns and the spatial inertia in Ground."""
    I, o = np.eye(3), np.zeros(3)
    bodies, X = [Body(I, I, o, o, o, np.zeros((6, 0)), np.zeros((6, 6)))], [np.eye(4)]
    for link in tree[1:]:
        X_GF = X[link.parent] @ link.X_PF
        X_GB = X_GF @ link.X_FM @ inverse(link.X_BM)
        R_GF, R_GB = X_GF[:3, :3], X_GB[:3, :3]
        p_MB = -R_GB @ link.X_BM[:3, 3]
        H = phi(p_MB).T @ both(R_GF) @ link.H_FM  # M's motion in F is one of B, taken at B's origin
        inertia, mc = R_GB @ link.inertia @ R_GB.T, cross_matrix(link.mass * R_GB @ link.com)
        M = np.block([[inertia, mc], [mc.T, link.mass * np.eye(3)]])
        bodies.append(Body(R_GB, R_GF, X_GB[:3, 3], X_GB[:3, 3] - X[link.parent][:3, 3], p_MB, H, M))
        X.append(X_GB)
    return bodies


def velocities(tree: list[Link], bodies: list[Body]) -> tuple[list[Array], list[Array], list[Array]]:
    """Body velocities V, and what depends on u alone of accelerations and forces, a and b.

    V = phi^T V_P + H u, whose derivative is A = phi^T A_P + H udot + a; the force that moves a body so is M A + b.
    """
    V, a, b = [np.zeros(6)], [np.zeros(6)], [np.zeros(6)]
    for link, body in zip(tree[1:], bodies[1:], strict=True):
        V_P = V[link.parent]
        V_B = body.phi.T @ V_P + body.H @ link.u
        (w_P, v_P), (w_B, v_B) = V_P.reshape(2, 3), V_B.reshape(2, 3)
        # derivative of H u, the velocity of M in F taken at B: F turns with P, and p_MB turns with B
        own_w, own_v = (both(body.R_GF) @ link.H_FM @ link.u).reshape(2, 3)
        bias_w, bias_v = (both(body.R_GF) @ link.bias_FM).reshape(2, 3)
        a_w = np.cross(w_P, own_w) + bias_w
        a_v = np.cross(w_P, own_v) + bias_v + np.cross(a_w, body.p_MB) + np.cross(own_w, np.cross(w_B, body.p_MB))
        a_v += np.cross(w_P, v_B - v_P)  # derivative of w_P x r: r changes at v_B - v_P
        mc = link.mass * body.R_GB @ link.com
        V.append(V_B)
        a.append(np.concatenate([a_w, a_v]))
        b.append(np.concatenate([np.cross(w_B, body.M[:3, :3] @ w_B), np.cross(w_B, np.cross(w_B, mc))]))
    return V, a, b


def articulated_inertias(
    tree: list[Link], bodies: list[Body], prescribed: dict[int, Array]
) -> tuple[list[Array], list[Array], list[Array]]:
    """P, D and G of each body.

    P = M + sum over children of phi P+ phi^T, with D = H^T P H + R, G = P H D^-1 and P+ = (1 - G H^T) P: the inertia that
    the parent feels of a body that is free to move along H against its rotors R. Where udot is *prescribed*, P+ = P.
    """
    P = [body.M.copy() for body in bodies]
    D: list[Any] = [np.zeros((0, 0)) for _ in bodies]
    G: list[Any] = [np.zeros((6, 0)) for _ in bodies]
    for b in range(len(tree) - 1, 0, -1):
        H, P_plus = bodies[b].H, P[b]
        if b not in prescribed:
            D[b] = H.T @ P[b] @ H + np.diag(tree[b].rotors)
            G[b] = np.linalg.solve(D[b], H.T @ P[b]).T
            P_plus = P[b] - G[b] @ H.T @ P[b]
        P[tree[b].parent] += bodies[b].phi @ P_plus @ bodies[b].phi.T
    return P, D, G


def accelerations(
    tree: list[Link],
    bodies: list[Body],
    applied: tuple[list[Array], list[Array]],
    prescribed: dict[int, Array] | None = None,
) -> tuple[list[Array], list[Array]]:
    """Of each body udot and A, under forces F (6,) on the bodies and f (nu,) on their mobilities: forward dynamics.

    inward     z = P a + b - F + sum over children of phi z+     e = f - H^T z     z+ = z + G e
    outward    udot = D^-1 e - G^T phi^T A_P                     A = phi^T A_P + H udot + a

    Bodies whose udot is *prescribed*, by index, have z+ = z + P H udot and keep it.
    """
    prescribed = prescribed or {}
    (F, f), (_, a, b) = applied, velocities(tree, bodies)
    P, D, G = articulated_inertias(tree, bodies, prescribed)
    z, e = [np.zeros(6) for _ in tree], [np.zeros(0) for _ in tree]
    for k in range(len(tree) - 1, 0, -1):
        body = bodies[k]
        z[k] += P[k] @ a[k] + b[k] - F[k]
        if k in prescribed:
            z_plus = z[k] + P[k] @ body.H @ prescribed[k]
        else:
            e[k] = f[k] - body.H.T @ z[k]
            z_plus = z[k] + G[k] @ e[k]
        z[tree[k].parent] += body.phi @ z_plus
    udot, A = [np.zeros(0)], [np.zeros(6)]
    for k in range(1, len(tree)):
        A_plus = bodies[k].phi.T @ A[tree[k].parent]
        udot.append(prescribed[k] if k in prescribed else np.linalg.solve(D[k], e[k]) - G[k].T @ A_plus)
        A.append(A_plus + bodies[k].H @ udot[k] + a[k])
    return udot, A


def inverse_dynamics(
    tree: list[Link], bodies: list[Body], applied: tuple[list[Array], list[Array]], udot: list[Array]
) -> list[Array]:
    """Forces on the mobilities that, with those applied, give *udot*.

    H^T of M A + b - F summed outboard, plus R udot, less f.
    """
    (F, f), (_, a, b) = applied, velocities(tree, bodies)
    A, force = [np.zeros(6)], [np.zeros(6)]
    for k in range(1, len(tree)):
        A.append(bodies[k].phi.T @ A[tree[k].parent] + bodies[k].H @ udot[k] + a[k])
        force.append(bodies[k].M @ A[k] + b[k] - F[k])
    residual = [np.zeros(0) for _ in tree]
    for k in range(len(tree) - 1, 0, -1):
        residual[k] = bodies[k].H.T @ force[k] + tree[k].rotors * udot[k] - f[k]
        force[tree[k].parent] += bodies[k].phi @ force[k]
    return residual


def mass_matrix(tree: list[Link], bodies: list[Body]) -> list[list[Array]]:
    """The mass matrix by blocks, M[i][j] of bodies i and j: H_i^T phi ... phi M_C H_j for j outboard of i, or j = i.

    M_C = M + sum over children of phi M_C phi^T is the composite-rigid-body inertia. Blocks of bodies neither of which is
    outboard of the other are zero. Rotor inertias are added to the diagonal.
    """
    nu = [len(link.u) for link in tree]
    composite = [body.M.copy() for body in bodies]
    matrix = [[np.zeros((m, n)) for n in nu] for m in nu]
    for j in range(len(tree) - 1, 0, -1):
        force, i = composite[j] @ bodies[j].H, j
        while i > 0:
            matrix[i][j] = bodies[i].H.T @ force
            matrix[j][i] = matrix[i][j].T
            force, i = bodies[i].phi @ force, tree[i].parent
        matrix[j][j] += np.diag(tree[j].rotors)
        composite[tree[j].parent] += bodies[j].phi @ composite[j] @ bodies[j].phi.T
    return matrix
