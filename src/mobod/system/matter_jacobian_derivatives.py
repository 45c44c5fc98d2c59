"""Derivatives of station and frame Jacobians by q: of their products with speeds and with forces, and whole."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..derivative.coordinates import displacements
from ..derivative.jvp import jvp, kinematics
from ..state.state import State
from ..value.checks import numbers
from .matter_jacobians import Jacobians
from .particles import shaped


class JacobianDerivatives(Jacobians):
    """The part of `SimbodyMatterSubsystem` that differentiates Jacobians."""

    def calc_station_jacobian_derivatives(
        self,
        state: State,
        on_body_b: Any,
        station_p_in_b: ArrayLike,
        *,
        u: ArrayLike | None = None,
        forces: ArrayLike | None = None,
    ) -> Array:
        """Derivatives of the station Jacobian by q in its tangent. Needs POSITION.

        Parameters
        ----------
        state : State
        on_body_b, station_p_in_b :
            Tasks, as `calc_station_jacobian` takes them.
        u : (nu,) array_like, optional
            Speeds that the Jacobian is multiplied by: the result is d(J u)/dq.
        forces : (3*nt,) or (nt, 3) array_like, optional
            Forces that its transpose is multiplied by: the result is d(J^T f)/dq.

        Returns
        -------
        array
            ``(3*nt, nu, nu)``, entry [i, j, k] being that of J[i, j] by displacement k; with *u* ``(3*nt, nu)``, with *forces*
            ``(nu, nu)``, with both ``(nu,)``, the derivative of the power.

        Raises
        ------
        StageError
            If the state is below POSITION.
        ValueError
            If an array has another shape.

        Notes
        -----
        By dual numbers, eight displacements in O(n). Where speeds are rates of coordinates, d(J^T f)/dq is the Hessian of the
        stations' locations times the forces, and symmetric.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> matter, arm = system.matter, system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> matter.calc_station_jacobian_derivatives(state, arm, (0, 0, 0)).shape
        (3, 2, 2)
        """
        return self._derivatives(state, "calc_station_jacobian_derivatives", on_body_b, station_p_in_b, u, forces, 3)

    def calc_frame_jacobian_derivatives(
        self,
        state: State,
        on_body_b: Any,
        origin_ao_in_b: ArrayLike,
        *,
        u: ArrayLike | None = None,
        forces: ArrayLike | None = None,
    ) -> Array:
        """Derivatives of the frame Jacobian by q: as `calc_station_jacobian_derivatives`, six rows a task, angular first.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> matter, arm = system.matter, system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> matter.calc_frame_jacobian_derivatives(state, arm, (0, 0, 0)).shape
        (6, 2, 2)
        """
        return self._derivatives(state, "calc_frame_jacobian_derivatives", on_body_b, origin_ao_in_b, u, forces, 6)

    def _derivatives(
        self,
        state: State,
        asked: str,
        on_body_b: Any,
        stations: ArrayLike,
        u: ArrayLike | None,
        forces: ArrayLike | None,
        rows: int,
    ) -> Array:
        self.positions(state, asked)
        bodies, points, _ = self.tasks(on_body_b, stations)
        found = np.zeros((len(bodies), 6, state.tree.nu, state.tree.nu))
        speeds = None if u is None else self.mobility_vector(state, "u", u)
        pushes = None
        if forces is not None:
            pushes = numbers("forces", forces)
            if pushes.shape not in ((len(bodies), rows), (len(bodies), rows // 3, 3)):
                pushes = shaped("forces", pushes, (rows * len(bodies),))
        _fill(state, bodies, points, found)
        whole: Array = found[:, 6 - rows :].reshape(rows * len(bodies), state.tree.nu, state.tree.nu)
        if speeds is not None:
            whole = np.einsum("ijk,j->ik", whole, speeds)
        return whole if pushes is None else np.tensordot(pushes.reshape(-1), whole, 1)


def _fill(state: State, bodies: Any, points: Array, found: Array) -> None:
    """Derivatives ``(tasks, 6, nu, nu)`` of columns (w; v + w x r), r from the origin of their own body to the station."""
    tree, record = state.tree, state.record
    body_of_u = np.repeat(np.arange(tree.nb), tree.num_u)
    changes = jvp(state, {"q": displacements(state)}, kinematics, {"H": tree.nu, "R_GB": tree.nb, "p_GB": tree.nb})
    dH, dp, dR = changes["H"], changes["p_GB"], changes["R_GB"].reshape(tree.nb, 3, 3, -1)
    H, p, R = record.H, record.p_GB, record.R_GB.reshape(tree.nb, 3, 3)
    for task, (b, point) in enumerate(zip(bodies.tolist(), points, strict=True)):
        path = _path(tree.fields["parent"], b, body_of_u)
        own = body_of_u[path]
        r = R[b] @ point + p[b] - p[own]
        dr = np.einsum("ijk,j->ik", dR[b], point) + dp[b] - dp[own]
        w, dw = H[path, :3], dH[path, :3]
        turned = np.cross(dw, r[:, :, None], axis=1) + np.cross(w[:, :, None], dr, axis=1)
        found[task][:, path] = np.concatenate([dw, dH[path, 3:] + turned], 1).transpose(1, 0, 2)


def _path(parent: Any, b: int, body_of_u: Any) -> Any:
    """The mobilities between Ground and body b."""
    on_path = np.zeros(len(parent), bool)
    while b > 0:
        on_path[b] = True
        b = int(parent[b])
    return np.flatnonzero(on_path[body_of_u])
