"""q and u that come nearest to a pose or a velocity of M in F, and the kinematics of one mobilizer that this takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..stage import Stage
from ..value import Rotation, Transform
from ._checked import frame, vector
from ._singular import middle_angle
from .coordinates import Coordinates
from .facts import Direction

if TYPE_CHECKING:
    from ..state import State
    from ._interpreted import Interpreter

Array = npt.NDArray[np.float64]
ArrayLike = npt.ArrayLike


class Fitting(Coordinates):
    """The part of `MobilizedBody` that fits its q and u."""

    #: What computes the kinematics where Python does; see `_interpreted`.
    _interpreter: Interpreter | None = None
    #: Whether users' functions, which can give anything, are compiled into its kinematics.
    _is_of_users_functions: bool = False
    _direction: Direction

    @property
    def _title(self) -> str:
        """What messages call it where its kind matters."""
        return f"{self._name!r} ({type(self).__name__})"

    def _is_euler(self, state: State) -> bool:
        return self.facts.has_quaternion and bool(state._use_euler_angles)

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
        R = R_FM if isinstance(R_FM, Rotation) else Rotation(R_FM)
        self._fit(state, self._fit_rotation, ~R if self._direction is Direction.REVERSE else R)

    def set_q_to_fit_translation(self, state: State, p_FM: ArrayLike) -> None:
        """Set q so that the origin of M is in F as near to p_FM as the kind allows, without turning M if it can."""
        p = vector("p_FM", p_FM)
        reverse = self._direction is Direction.REVERSE
        self._fit(state, self._fit_translation_reversed if reverse else self._fit_translation, p)

    def _fit(self, state: State, method: Callable[..., None], target: Any) -> None:
        """Let *method* change a copy of q, a quaternion in place of angles, and set that.

        It gets the target, q, and of a kind with parameters also these.
        """
        q = self.get_q_as_vector(state)
        euler = self._is_euler(state)
        if euler:
            q = np.concatenate([Rotation.from_body_fixed_xyz(q[:3]).to_quaternion(), q[3:]])
        if self.facts.num_parameters:
            method(target, q, self._state_parameters(state))
        else:
            method(target, q)
        if euler:
            q = np.concatenate([Rotation.from_quaternion(q[:4]).to_body_fixed_xyz(), q[4:]])
        self.set_q(state, q)

    # What kinds override takes (target, q), of a kind with parameters (target, q, parameters).

    def _fit_transform(self, X: Transform, q: Array, *args: Any, **kwargs: Any) -> None:
        """Change q to fit a pose: rotation, then translation, unless a kind knows better."""
        self._fit_rotation(X.R, q, *args)
        self._fit_place(np.asarray(X.p), q, *args)

    def _fit_rotation(self, R: Rotation, q: Array, *args: Any, **kwargs: Any) -> None:
        """Change q to fit a rotation; a kind without one leaves it."""

    def _fit_translation(self, p: Array, q: Array, *args: Any, **kwargs: Any) -> None:
        """Change q to fit a translation; a kind without one leaves it."""

    def _fit_place(self, p: Array, q: Array, *args: Any, **kwargs: Any) -> None:
        """Change q to fit a translation without turning M: of a pose whose orientation is there.

        For kinds whose `_fit_translation` turns M to get nearer this is another thing.
        """
        self._fit_translation(p, q, *args)

    def _fit_translation_reversed(self, p: Array, q: Array, *args: Any, **kwargs: Any) -> None:
        """Change q, of F in M, to fit p_FM: that is p_MF = -R_MF p_FM, for kinds that need not turn to reach it."""
        parameters = [tuple(run.tolist()) for run in args]
        R_MF = np.reshape(self.facts.transform(tuple(q.tolist()) or (0.0,), *parameters)[0], (3, 3))
        self._fit_translation(-(R_MF @ p), q, *args)

    def set_u_to_fit_velocity(self, state: State, V_FM: ArrayLike) -> None:
        """Set u so that the velocity of M in F is as near to V_FM ``(2, 3)`` as the kind allows at the present q."""
        V = np.asarray(V_FM, dtype=np.float64)
        if V.shape != (2, 3):
            raise ValueError(f"V_FM is a spatial vector (2, 3), got shape {V.shape}")
        H = self._hinge_matrix(state)
        if H.shape[1]:
            self.set_u(state, np.linalg.lstsq(H, V.ravel(), rcond=None)[0])

    def set_u_to_fit_angular_velocity(self, state: State, w_FM: ArrayLike) -> None:
        """Set u so that the angular velocity of M in F is as near to w_FM as the kind allows; other speeds stay."""
        w = vector("w_FM", w_FM)
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
        v = vector("v_FM", v_FM)
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
        R, p = self._own_pose(state)(self.get_q_as_vector(state))
        return Transform._trusted(R.copy(), p.copy())

    def _own_pose(self, state: State) -> Callable[[Array], tuple[Array, Array]]:
        """R ``(3, 3)`` and p ``(3,)`` of M in F as a function of q, or of F in M for a reversed mobilizer."""
        if self._interpreter is not None:
            interpreter, at_instance = self._interpreter, self._realized(state, Stage.INSTANCE)
            return lambda q: interpreter.transform(at_instance, q)

        def pose(q: Array) -> tuple[Array, Array]:
            R, p = self._function_of_q(state, self.facts.transform, self.facts.transform_euler, q)
            return np.array(R).reshape(3, 3), np.array(p)

        return pose

    def _pose_in_f(self, state: State) -> Callable[[Array], tuple[Array, Array]]:
        """R and p of M in F as a function of q, in either direction."""
        own = self._own_pose(state)
        if self._direction is Direction.FORWARD:
            return own

        def pose(q: Array) -> tuple[Array, Array]:
            R, p = own(q)
            return R.T, -(R.T @ p)

        return pose

    def _realized(self, state: State, stage: Stage) -> State:
        """The state if it is at *stage* or above, else a copy of it that is."""
        state._tree_of(self, "its kinematics")
        if state._stage >= stage:
            return state
        other = state.copy()
        self._matter.get_system().realize(other, stage)
        return other

    def _function_of_q(
        self, state: State, function: Callable[..., Any], euler: Callable[..., Any] | None, at: Array | None = None
    ) -> Any:
        """One of the kind's functions at the state's q (or *at* another) and parameters; *euler* where angles are chosen."""
        chosen = euler if euler is not None and self._is_euler(state) else function
        q = tuple((self.get_q_as_vector(state) if at is None else at).tolist()) or (0.0,)
        return chosen(q, tuple(self._state_parameters(state).tolist())) if self.facts.num_parameters else chosen(q)

    def _state_parameters(self, state: State) -> Array:
        """The kind's parameters in this state, a view."""
        first = state._tree_of(self, "parameters").fields["first_parameter"][self._index]
        return state._field("parameters")[first : first + self.facts.num_parameters, 0]

    def _set_state_parameters(self, state: State, values: Sequence[float]) -> None:
        """Change the kind's parameters in this state alone, which falls to MODEL at most; the defaults stay."""
        first = state._tree_of(self, "parameters").fields["first_parameter"][self._index]
        state._own_field("parameters")[first : first + self.facts.num_parameters, 0] = values

    def _hinge_matrix(self, state: State) -> Array:
        """H_FM ``(6, nu)`` at the state's q; the state need not be realized."""
        if self._interpreter is not None or self._is_of_users_functions:
            written: Array = self._realized(state, Stage.POSITION)._record.H_FM[self._u_slice(state)]
            return written.T.copy()
        columns = self._function_of_q(state, self.facts.hinge, self.facts.hinge_euler)
        H = np.array(columns, dtype=np.float64).reshape(-1, 6).T
        if self._direction is Direction.FORWARD or not H.shape[1]:
            return H
        X_MF = self._own_transform(state)
        R_FM = np.asarray(X_MF.R).T
        w, v = H[:3], H[3:]
        return np.vstack([-R_FM @ w, R_FM @ (np.cross(w, np.asarray(X_MF.p)[:, None], axis=0) - v)])

    def _not_finite(self, state: State) -> str | None:
        """What to say of a user's function that gave what is not finite at q and u; None unless one did."""
        return None

    def _singularity(self, state: State) -> str | None:
        """What to say of a singular configuration that q is near; None elsewhere. Asked when something has gone wrong.

        Of the kinds with an orientation these are the angles that can replace their quaternion; other kinds say their own.
        """
        if not self._is_euler(state):
            return None
        remedy = "Quaternions have no such place: see matter.set_use_euler_angles"
        return middle_angle(self._title, 1, float(self.get_q_as_vector(state)[1]), remedy)
