"""Derivatives of station and frame Jacobians by q: of their products with speeds and with forces, and whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..algebra.record import TANGENTS
from ..state import validity
from ..tree import realize as _realize
from ..value.checks import numbers
from . import tangents
from .matter_bodies import shaped
from .matter_jacobians import Jacobians

if TYPE_CHECKING:
    from ..state.state import State


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
    tree, nu, N = state.tree, state.tree.nu, tangents.displacements(state)
    address = _realize.advance.address(with_tangents=True)
    body_of_u = np.repeat(np.arange(tree.nb), tree.num_u)
    paths = [_path(tree.fields["parent"], b, body_of_u) for b in bodies.tolist()]
    with tangents.record_at(state) as record:
        record.u.tangents[:] = 0.0
        for first in range(0, nu, TANGENTS):
            columns = slice(first, min(first + TANGENTS, nu))
            count = columns.stop - first
            record.q.tangents[:] = 0.0
            record.q.tangents[: tree.nq, 0, :count] = N[:, columns]
            _realize.realize(record, address, 0, validity.KINEMATICS)
            H, p = record.H.values, record.p_GB.values
            dH, dp = record.H.tangents[:, :, :count], record.p_GB.tangents[:, :, :count]
            for task, (b, point, path) in enumerate(zip(bodies.tolist(), points, paths, strict=True)):
                if not len(path):
                    continue
                R, dR = record.R_GB.values[b].reshape(3, 3), record.R_GB.tangents[b].reshape(3, 3, TANGENTS)[..., :count]
                own = body_of_u[path]
                r = R @ point + p[b] - p[own]
                dr = np.einsum("ijk,j->ik", dR, point) + dp[b] - dp[own]
                w, dw = H[path, :3], dH[path, :3]
                found[task][:3, path, columns] = dw.transpose(1, 0, 2)
                turned = np.cross(dw, r[:, :, None], axis=1) + np.cross(w[:, :, None], dr, axis=1)
                found[task][3:, path, columns] = (dH[path, 3:] + turned).transpose(1, 0, 2)


def _path(parent: Any, b: int, body_of_u: Any) -> Any:
    """The mobilities between Ground and body b."""
    on_path = np.zeros(len(parent), bool)
    while b > 0:
        on_path[b] = True
        b = int(parent[b])
    return np.flatnonzero(on_path[body_of_u])


__all__ = ["JacobianDerivatives"]
