"""Jacobians of bodies, stations and frames: products, their transposes, matrices, biases and derivatives by q."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array, ArrayLike
from ..derivative.coordinates import displacements
from ..derivative.jvp import jvp, kinematics
from ..mobilizer.base import MobilizedBody
from ..state.state import State
from ..tree import jacobian
from ..value.checks import behaved, numbers
from .matter_coordinates import Coordinates
from .particles import shaped


class Jacobians(Coordinates):
    """The part of `SimbodyMatterSubsystem` that has the Jacobians and their derivatives."""

    def multiply_by_system_jacobian(self, state: State, u: ArrayLike) -> Array:
        """V = J u ``(nb, 2, 3)``: the bodies' velocities that speeds *u* ``(nu,)`` would give, in O(n). Needs POSITION.

        Ground's row is zero. Source: Jain 2011, section 3.5.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.multiply_by_system_jacobian(state, state.u)[2].round(3)
        array([[0.   , 0.   , 3.   ],
               [3.25 , 2.228, 0.   ]])
        """
        block = self.positions(state, "multiply_by_system_jacobian")
        V = np.empty((len(self.body_list), 2, 3))
        jacobian.multiply_by_system_jacobian(block, self.mobility_vector(state, "u", u), V.reshape(-1, 6))
        return V

    def multiply_by_system_jacobian_transpose(self, state: State, F_G: ArrayLike) -> Array:
        """f = J^T F ``(nu,)`` of body forces *F_G* ``(nb, 2, 3)``, in O(n). Needs POSITION.

        The forces are at the bodies' origins; Ground's row is ignored. Source: Jain 2011, section 3.5.

        Examples
        --------
        >>> import numpy as np
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> forces = np.zeros((3, 2, 3))
        >>> forces[2, 0] = 0.0, 0.0, 1.0
        >>> system.matter.multiply_by_system_jacobian_transpose(state, forces)
        array([1., 1.])
        """
        block = self.positions(state, "multiply_by_system_jacobian_transpose")
        f = np.empty(state.tree.nu)
        jacobian.multiply_by_system_jacobian_transpose(block, self._body_forces(state, "F_G", F_G), f)
        return f

    def calc_system_jacobian(self, state: State) -> Array:
        """J ``(6*nb, nu)``: rows body by body, angular before linear. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.calc_system_jacobian(state).shape
        (18, 2)
        """
        nb = len(self.body_list)
        return self.frame_jacobian(state, "calc_system_jacobian", np.arange(nb), np.zeros((nb, 3)), 6)

    def calc_bias_for_system_jacobian(self, state: State) -> Array:
        """Jdot u ``(nb, 2, 3)``: the bodies' accelerations if udot were zero. Needs VELOCITY.

        A_GB = J udot + Jdot u; Ground's row is zero, and the flat form is ``.reshape(-1)``.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> system.realize(state)
        >>> system.matter.calc_bias_for_system_jacobian(state).shape
        (3, 2, 3)
        """
        self.velocities(state, "calc_bias_for_system_jacobian")
        return state.record.coriolis.reshape(-1, 2, 3).copy()

    def multiply_by_station_jacobian(self, state: State, on_body_b: Any, station_p_in_b: ArrayLike, u: ArrayLike) -> Array:
        """Velocities of stations that speeds *u* would give, in Ground. Needs POSITION.

        Parameters
        ----------
        state : State
        on_body_b : body or sequence of nt bodies
            By object or index.
        station_p_in_b : (3,) or (nt, 3) array_like
            One station a task, in its body's frame.
        u : (nu,) array_like

        Returns
        -------
        (nt, 3) array, or (3,) for one bare task

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> matter, arm = system.matter, system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> matter.multiply_by_station_jacobian(state, arm, (0, 0, 0), state.u).round(3)
        array([3.25 , 2.228, 0.   ])
        """
        V = self._times_frame_jacobian(state, "multiply_by_station_jacobian", on_body_b, station_p_in_b, u)
        return V[..., 1, :].copy()

    def multiply_by_station_jacobian_transpose(
        self, state: State, on_body_b: Any, station_p_in_b: ArrayLike, f_GP: ArrayLike
    ) -> Array:
        """Generalized forces ``(nu,)`` of forces at stations. Needs POSITION.

        Parameters
        ----------
        state : State
        on_body_b, station_p_in_b
            As `multiply_by_station_jacobian` takes them; forces on Ground count for nothing, tasks on one body add up.
        f_GP : (nt, 3) array_like, or (3,) for one bare task
            One force a task, in Ground.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> matter, arm = system.matter, system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> matter.multiply_by_station_jacobian_transpose(state, arm, (0, 0, 0), (1, 0, 0)).round(3)
        array([1.72 , 0.765])
        """
        bodies, stations, bare = self.tasks(on_body_b, station_p_in_b)
        f = shaped("f_GP", f_GP, (3,) if bare else (len(bodies), 3)).reshape(-1, 3)
        F = np.concatenate([np.zeros_like(f), f], axis=1)
        return self._frame_jacobian_transpose(state, "multiply_by_station_jacobian_transpose", bodies, stations, behaved(F))

    def calc_station_jacobian(self, state: State, on_body_b: Any, station_p_in_b: ArrayLike) -> Array:
        """The Jacobian of stations ``(3*nt, nu)``, rows task by task. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> matter, arm = system.matter, system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> matter.calc_station_jacobian(state, arm, (0, 0, 0))[:2].round(3)  # all moves in the plane x, y
        array([[1.72 , 0.765],
               [0.94 , 0.644]])
        """
        bodies, stations, _ = self.tasks(on_body_b, station_p_in_b)
        return self.frame_jacobian(state, "calc_station_jacobian", bodies, stations, 3)

    def calc_bias_for_station_jacobian(self, state: State, on_body_b: Any, station_p_in_b: ArrayLike) -> Array:
        """Accelerations of stations if udot were zero: ``(nt, 3)``, or ``(3,)`` for one bare task. Needs VELOCITY.

        a0 + alpha0 x p + w x (w x p), of the body's bias (alpha0; a0), its angular velocity and the station, in Ground.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> matter, arm = system.matter, system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> matter.calc_bias_for_station_jacobian(state, arm, (0, 0, 0)).round(3)
        array([-6.093,  7.839,  0.   ])
        """
        return self._frame_bias(state, "calc_bias_for_station_jacobian", on_body_b, station_p_in_b)[..., 1, :].copy()

    def multiply_by_frame_jacobian(self, state: State, on_body_b: Any, origin_ao_in_b: ArrayLike, u: ArrayLike) -> Array:
        """Velocities of frames fixed on bodies that speeds *u* would give: ``(nt, 2, 3)``, or ``(2, 3)``. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> matter, arm = system.matter, system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> matter.multiply_by_frame_jacobian(state, arm, (0, 0, 0), state.u).round(3)
        array([[0.   , 0.   , 3.   ],
               [3.25 , 2.228, 0.   ]])
        """
        return self._times_frame_jacobian(state, "multiply_by_frame_jacobian", on_body_b, origin_ao_in_b, u)

    def multiply_by_frame_jacobian_transpose(
        self, state: State, on_body_b: Any, origin_ao_in_b: ArrayLike, F_GAo: ArrayLike
    ) -> Array:
        """Generalized forces ``(nu,)`` of spatial forces at frames' origins. Needs POSITION.

        Parameters
        ----------
        state : State
        on_body_b, origin_ao_in_b
            As `multiply_by_station_jacobian` takes bodies and stations.
        F_GAo : (nt, 2, 3) array_like, or (2, 3) for one bare task
            Torque and force, in Ground, at the frame's origin.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> matter, arm = system.matter, system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> force = [[0, 0, 1], [0, 0, 0]]
        >>> matter.multiply_by_frame_jacobian_transpose(state, arm, (0, 0, 0), force)
        array([1., 1.])
        """
        bodies, stations, bare = self.tasks(on_body_b, origin_ao_in_b)
        F = shaped("F_GAo", F_GAo, (2, 3) if bare else (len(bodies), 2, 3))
        return self._frame_jacobian_transpose(
            state, "multiply_by_frame_jacobian_transpose", bodies, stations, behaved(F).reshape(-1, 6)
        )

    def calc_frame_jacobian(self, state: State, on_body_b: Any, origin_ao_in_b: ArrayLike) -> Array:
        """The Jacobian of frames ``(6*nt, nu)``, rows task by task, angular before linear. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> matter, arm = system.matter, system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> J = matter.calc_frame_jacobian(state, arm, (0, 0, 0))
        >>> (J @ state.u).round(3)
        array([0.   , 0.   , 3.   , 3.25 , 2.228, 0.   ])
        """
        bodies, stations, _ = self.tasks(on_body_b, origin_ao_in_b)
        return self.frame_jacobian(state, "calc_frame_jacobian", bodies, stations, 6)

    def calc_bias_for_frame_jacobian(self, state: State, on_body_b: Any, origin_ao_in_b: ArrayLike) -> Array:
        """Accelerations of frames if udot were zero: ``(nt, 2, 3)``, or ``(2, 3)`` for one bare task. Needs VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
        >>> matter, arm = system.matter, system.matter.bodies["lower"]
        >>> system.realize(state)
        >>> matter.calc_bias_for_frame_jacobian(state, arm, (0, 0, 0))[1].round(3)
        array([-6.093,  7.839,  0.   ])
        """
        return self._frame_bias(state, "calc_bias_for_frame_jacobian", on_body_b, origin_ao_in_b)

    def tasks(self, bodies: Any, stations: ArrayLike) -> tuple[npt.NDArray[np.int64], Array, bool]:
        """Bodies' indices, stations ``(nt, 3)``, and whether it was one task given bare."""
        if isinstance(bodies, (list, tuple)):  # the usual case; NumPy's checks take longer than the Jacobian itself
            bare, several = False, bodies
        else:
            bare = isinstance(bodies, (MobilizedBody, str)) or not hasattr(bodies, "__iter__") or np.ndim(bodies) == 0
            several = [bodies] if bare else bodies
        if isinstance(several, np.ndarray) and several.dtype.kind in "iu" and several.ndim == 1:
            for i in several[(several < 0) | (several >= len(self.body_list))]:
                self.get_mobilized_body(i)  # raises the error
            indices = several.astype(np.int64)
        else:
            indices = np.array([self.find_body(body).index for body in several], dtype=np.int64)
        n = len(indices)
        points = numbers("stations", stations)
        if points.shape != (n, 3):
            points = shaped("stations", points, (3,) if bare and points.ndim == 1 else (n, 3)).reshape(-1, 3)
        return indices, behaved(points), bare

    def _times_frame_jacobian(self, state: State, asked: str, on_body_b: Any, stations: ArrayLike, u: ArrayLike) -> Array:
        block = self.positions(state, asked)
        bodies, points, bare = self.tasks(on_body_b, stations)
        V = np.empty((len(bodies), 2, 3))
        speeds = self.mobility_vector(state, "u", u)
        jacobian.multiply_by_frame_jacobian(block, bodies, points, speeds, V.reshape(-1, 6))
        return V[0] if bare else V

    def _frame_jacobian_transpose(
        self, state: State, asked: str, bodies: npt.NDArray[np.int64], stations: Array, F: Array
    ) -> Array:
        block = self.positions(state, asked)
        f = np.empty(state.tree.nu)
        jacobian.multiply_by_frame_jacobian_transpose(block, bodies, stations, F, f)
        return f

    def frame_jacobian(self, state: State, asked: str, bodies: npt.NDArray[np.int64], stations: Array, rows: int) -> Array:
        """Jacobian of frames (*rows* 6) or stations (3) on bodies, ``(rows * tasks, nu)``."""
        block = self.positions(state, asked)
        J = np.zeros((rows * len(bodies), state.tree.nu))
        jacobian.calc_frame_jacobian.dispatcher(block, bodies, stations, rows, J)
        return J

    def _frame_bias(self, state: State, asked: str, on_body_b: Any, stations: ArrayLike) -> Array:
        block = self.velocities(state, asked)
        bodies, points, bare = self.tasks(on_body_b, stations)
        bias = np.empty((len(bodies), 2, 3))
        jacobian.calc_bias_for_frame_jacobian(block, bodies, points, bias.reshape(-1, 6))
        return bias[0] if bare else bias

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
