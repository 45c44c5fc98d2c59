"""q and u that come nearest to a pose or a velocity of M in F, and the kinematics of one mobilizer that this needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..state.state import State
from ..value import Rotation, Transform
from ..value.checks import shaped
from ..value.frames import frame, rotation
from ..value.stage import Stage
from ._singular import middle_angle
from .coordinates import Coordinates
from .custom_python import Interpreter
from .facts import Direction


class Fitting(Coordinates):
    """The part of `MobilizedBody` that fits its q and u."""

    #: The interpreter that computes the kinematics in Python, if any; see `custom_python`.
    interpreter: Interpreter | None = None
    #: Whether users' functions, which can give anything, are compiled into its kinematics.
    is_of_users_functions: bool = False
    _direction: Direction

    @property
    def title(self) -> str:
        """Its name in messages where its kind matters."""
        return f"{self._name!r} ({type(self).__name__})"

    def _is_euler(self, state: State) -> bool:
        return self.facts.has_quaternion and bool(state.use_euler_angles)

    def set_q_to_fit_transform(self, state: State, X_FM: Transform) -> None:
        """Set q so that M is in F as near to X_FM as the kind allows: its orientation first, then its place.

        Never an error for a request out of reach: read back with `get_mobilizer_transform` what was achieved.
        """
        X = frame("X_FM", X_FM)
        if self._direction is Direction.REVERSE:
            # p_MF = -R_MF p_FM with the orientation reached, which may not be the one asked for
            self.set_q_to_fit_rotation(state, X.R)
            self._fit(state, self._fit_place, -(self._own_transform(state).R @ X.p))
        else:
            self._fit(state, self._fit_transform, X)

    def set_q_to_fit_rotation(self, state: State, R_FM: Rotation) -> None:
        """Set q so that the orientation of M in F is as near to R_FM as the kind allows."""
        R = rotation("R_FM", R_FM)
        self._fit(state, self._fit_rotation, ~R if self._direction is Direction.REVERSE else R)

    def set_q_to_fit_translation(self, state: State, p_FM: ArrayLike) -> None:
        """Set q so that the origin of M is in F as near to p_FM as the kind allows, without turning M if it can."""
        p = shaped("p_FM", p_FM, (3,))
        reverse = self._direction is Direction.REVERSE
        self._fit(state, self._fit_translation_reversed if reverse else self._fit_translation, p)

    def _fit(self, state: State, method: Callable[..., None], target: Any) -> None:
        """Set q to a copy of it, with a quaternion in place of angles, that *method* has changed.

        *method* takes the target, q and, where the kind has parameters, these.
        """
        q = self.get_q_as_vector(state)
        euler = self._is_euler(state)
        if euler:
            q = np.concatenate([Rotation.from_body_fixed_xyz(q[:3]).to_quaternion(), q[3:]])
        if self.facts.num_parameters:
            method(target, q, self.number_run(state, "parameters"))
        else:
            method(target, q)
        if euler:
            q = np.concatenate([Rotation.from_quaternion(q[:4]).to_body_fixed_xyz(), q[4:]])
        self.set_q(state, q)

    # What kinds override takes (target, q), of a kind with parameters (target, q, parameters).

    def _fit_transform(self, X: Transform, q: Array, *args: Any, **kwargs: Any) -> None:
        """Change q to fit a pose: rotation, then translation, unless overridden."""
        self._fit_rotation(X.R, q, *args)
        self._fit_place(np.asarray(X.p), q, *args)

    def _fit_rotation(self, R: Rotation, q: Array, *args: Any, **kwargs: Any) -> None:
        """Change q to fit a rotation; a kind without one leaves it."""

    def _fit_translation(self, p: Array, q: Array, *args: Any, **kwargs: Any) -> None:
        """Change q to fit a translation; a kind without one leaves it."""

    def _fit_place(self, p: Array, q: Array, *args: Any, **kwargs: Any) -> None:
        """Change q to fit a translation without turning M, once the orientation of a pose is fitted.

        It differs from `_fit_translation` for kinds where that turns M to get nearer.
        """
        self._fit_translation(p, q, *args)

    def _fit_translation_reversed(self, p: Array, q: Array, *args: Any, **kwargs: Any) -> None:
        """Change q, of F in M, to fit p_FM: that is p_MF = -R_MF p_FM, for kinds that need not turn to reach it."""
        parameters = [tuple(run.tolist()) for run in args]
        R_MF = np.reshape(self.facts.transform(tuple(q.tolist()) or (0.0,), *parameters)[0], (3, 3))
        self._fit_translation(-(R_MF @ p), q, *args)

    def set_u_to_fit_velocity(self, state: State, V_FM: ArrayLike) -> None:
        """Set u so that the velocity of M in F is as near to V_FM ``(2, 3)`` as the kind allows at the present q."""
        V = shaped("V_FM", V_FM, (2, 3))
        H = self._hinge_matrix(state)
        if H.shape[1]:
            self.set_u(state, np.linalg.lstsq(H, V.ravel(), rcond=None)[0])

    def set_u_to_fit_angular_velocity(self, state: State, w_FM: ArrayLike) -> None:
        """Set u so that the angular velocity of M in F is as near to w_FM as the kind allows; other speeds stay."""
        w = shaped("w_FM", w_FM, (3,))
        H = self._hinge_matrix(state)
        turning = np.any(H[:3] != 0.0, axis=0)
        if np.any(turning):
            u = self.get_u_as_vector(state)
            u[turning] = np.linalg.lstsq(H[:3, turning], w, rcond=None)[0]
            self.set_u(state, u)

    def set_u_to_fit_linear_velocity(self, state: State, v_FM: ArrayLike) -> None:
        """Set u so that the velocity of M's origin in F is as near to v_FM as the kind allows.

        Speeds that turn M are changed only where those that do not cannot reach v_FM.
        """
        v = shaped("v_FM", v_FM, (3,))
        H = self._hinge_matrix(state)
        sliding = np.any(H[3:] != 0.0, axis=0) & ~np.any(H[:3] != 0.0, axis=0)
        u = self.get_u_as_vector(state)
        if np.any(sliding):
            rest = v - H[3:, ~sliding] @ u[~sliding]
            u[sliding] = np.linalg.lstsq(H[3:, sliding], rest, rcond=None)[0]
        missing = v - H[3:] @ u if len(u) else v
        if len(u) and np.linalg.norm(missing) > 1e-12 * (1.0 + np.linalg.norm(v)):
            u += np.linalg.lstsq(H[3:], missing, rcond=1e-12)[0]
        self.set_u(state, u)

    def _own_transform(self, state: State) -> Transform:
        """X_FM at the state's q, or X_MF of a reversed mobilizer; the state need not be realized."""
        R, p = self.own_pose(state)(self.get_q_as_vector(state))
        return Transform.trusted(R.copy(), p.copy())

    def own_pose(self, state: State) -> Callable[[Array], tuple[Array, Array]]:
        """R ``(3, 3)`` and p ``(3,)`` of M in F as a function of q, or of F in M for a reversed mobilizer."""
        if self.interpreter is not None:
            interpreter, at_instance = self.interpreter, self.realized(state, Stage.INSTANCE)
            return lambda q: interpreter.transform(at_instance, q)

        def pose(q: Array) -> tuple[Array, Array]:
            R, p = self._function_of_q(state, self.facts.transform, self.facts.transform_euler, q)
            return np.array(R).reshape(3, 3), np.array(p)

        return pose

    def pose_in_f(self, state: State) -> Callable[[Array], tuple[Array, Array]]:
        """R and p of M in F as a function of q, in either direction."""
        own = self.own_pose(state)
        if self._direction is Direction.FORWARD:
            return own

        def pose(q: Array) -> tuple[Array, Array]:
            R, p = own(q)
            return R.T, -(R.T @ p)

        return pose

    def realized(self, state: State, stage: Stage) -> State:
        """The state if it is at *stage* or above, else a copy of it that is."""
        state.tree_of(self, "its kinematics")
        if state.stage_number >= stage:
            return state
        other = state.copy()
        self.matter.get_system().realize(other, stage)
        return other

    def _function_of_q(
        self, state: State, function: Callable[..., Any], euler: Callable[..., Any] | None, at: Array | None = None
    ) -> Any:
        """One of the kind's functions at the state's q (or *at* another) and parameters; *euler* where angles are chosen."""
        chosen = euler if euler is not None and self._is_euler(state) else function
        q = tuple((self.get_q_as_vector(state) if at is None else at).tolist()) or (0.0,)
        return chosen(q, tuple(self.number_run(state, "parameters").tolist())) if self.facts.num_parameters else chosen(q)

    def number_place(self, state: State, asked: str) -> tuple[str, int, int]:
        """The field of the tree with the kind's parameters, their first row and their number."""
        return "parameters", state.tree_of(self, asked).fields["first_parameter"][self.index], self.facts.num_parameters

    def _hinge_matrix(self, state: State) -> Array:
        """H_FM ``(6, nu)`` at the state's q; the state need not be realized."""
        if self.interpreter is not None or self.is_of_users_functions:
            written: Array = self.realized(state, Stage.POSITION).record.H_FM[self.u_slice(state)]
            return written.T.copy()
        columns = self._function_of_q(state, self.facts.hinge, self.facts.hinge_euler)
        H = np.array(columns, dtype=np.float64).reshape(-1, 6).T
        if self._direction is Direction.FORWARD or not H.shape[1]:
            return H
        X_MF = self._own_transform(state)
        R_FM = np.asarray(X_MF.R).T
        w, v = H[:3], H[3:]
        return np.vstack([-R_FM @ w, R_FM @ (np.cross(w, np.asarray(X_MF.p)[:, None], axis=0) - v)])

    def not_finite(self, state: State) -> str | None:
        """A message on a user's function whose result at q and u is not finite; None where all are finite."""
        return None

    def singularity(self, state: State) -> str | None:
        """A message on a singular configuration near q; None elsewhere. Called after a failure.

        For kinds with an orientation it is that of the angles that can replace their quaternion; other kinds override this.
        """
        if not self._is_euler(state):
            return None
        remedy = "Quaternions have no such place: see matter.set_use_euler_angles"
        return middle_angle(self.title, 1, float(self.get_q_as_vector(state)[1]), remedy)
