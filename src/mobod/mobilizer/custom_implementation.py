"""CustomImplementation: base class of mobilizers that users write in Python."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra import euler_xyz, quaternion
from ..algebra.arrays import Array, ArrayLike
from ..errors import ModelError
from ..state.stage_hooks import StageHooks
from ..value import Transform
from ..value.abstract import Abstract
from ..value.checks import integer
from ..value.stage import Stage
from .base import Direction
from .custom_python import checked

if TYPE_CHECKING:
    from ..decoration.geometry import Decoration
    from ..state.state import State
    from ..value.annotations import SimbodyMatterSubsystem
    from .custom import Custom


#: How many speeds and coordinates a mobilizer can have.
MOST_SPEEDS, MOST_COORDINATES = 6, 7


class CustomImplementation(StageHooks, Abstract):
    """A mobilizer that its user writes in Python: derive from this, and hand an instance to `Custom`.

    1. `calc_mobilizer_transform_from_q`, `multiply_by_h_matrix` and `multiply_by_h_dot_matrix` are required: the pose of M in
       F, its velocity, and the rate of H.
    2. `multiply_by_h_transpose` and `multiply_by_h_dot_transpose` follow from these unless overridden.
    3. `multiply_by_n`, `multiply_by_n_inv` and `multiply_by_n_dot`, all three, where q_dot is not u.
    4. `set_q_to_fit_transform` and `set_u_to_fit_velocity` search unless overridden.
    5. The ``realize_*`` hooks are called when the system realizes a state to that stage, before what is listed above is asked
       for at that stage.

    All is of the mobilizer as its author defines it, M in F and expressed in F; the engine reverses it where needed.
    `mobod.mobilizer.check_custom` compares these methods with one another.

    Parameters
    ----------
    matter : SimbodyMatterSubsystem
        The matter that it will be part of.
    nu : int
        Number of speeds, 1 to 6.
    nq : int
        Number of coordinates, `nu` to 7; where it is not `nu`, and there is no quaternion, `multiply_by_n`, `multiply_by_n_inv`
        and `multiply_by_n_dot` are required.
    n_angles : int
        4 says that the first four coordinates are a quaternion. It is kept at length 1, and a state may have three body-fixed
        x-y-z angles in its place (`get_use_euler_angles`): every method then gets and gives a q that is one shorter. Unless
        `multiply_by_n` is overridden the first three speeds are the quaternion's angular velocity in F, as a `Ball` has
        it. 1 to 3 are kept, without effect; 0 unless given.

    Raises
    ------
    ModelError
        If the numbers are inconsistent.

    Examples
    --------
    >>> class Wheel(mb.mobilizer.CustomImplementation):  # doctest: +SKIP
    ...     def __init__(self, matter, radius):
    ...         super().__init__(matter, nu=1, nq=1)
    ...         self.radius = radius
    ...
    ...     def calc_mobilizer_transform_from_q(self, state, q):
    ...         return mb.Transform(mb.Rotation.about_axis(-q[0], "z"), (self.radius * q[0], self.radius, 0))
    ...
    ...     def multiply_by_h_matrix(self, state, u):
    ...         return [(0, 0, -u[0]), (self.radius * u[0], 0, 0)]
    ...
    ...     def multiply_by_h_dot_matrix(self, state, u):
    ...         return np.zeros((2, 3))
    """

    def __init__(self, matter: SimbodyMatterSubsystem, nu: int, nq: int, n_angles: int = 0) -> None:
        if not hasattr(matter, "get_mobilized_body"):
            raise TypeError(f"matter has to be a SimbodyMatterSubsystem, not {matter!r}")
        check_counts(type(self).__name__, nu, nq, n_angles)
        self.declared_matter, self.declared_nu, self.declared_nq, self.declared_angles = matter, int(nu), int(nq), int(n_angles)
        self.bound_mobod: Custom | None = None
        missing = [name for name in _RATES if not self.overrides(name)]
        if 0 < len(missing) < len(_RATES):
            given = [name for name in _RATES if name not in missing]
            raise ModelError(
                f"{type(self).__name__} has its own {' and '.join(given)}, so it needs its own {' and '.join(missing)} too: "
                "those of the base class belong to another N"
            )
        if missing and self.declared_nq != self.declared_nu + (self.declared_angles == 4):
            raise ModelError(
                f"{type(self).__name__} has {self.declared_nq} coordinates and {self.declared_nu} speeds, "
                f"so q_dot cannot be u: override "
                f"{', '.join(_RATES)}"
            )

    def __repr__(self) -> str:
        where = "" if self.bound_mobod is None else f" of {self.bound_mobod.name!r}"
        return f"<{type(self).__name__}{where}, {self.declared_nq} q, {self.declared_nu} u>"

    def overrides(self, name: str) -> bool:
        return getattr(type(self), name) is not getattr(CustomImplementation, name) or name in vars(self)

    def get_mobilized_body(self) -> Custom:
        """The mobilized body that it implements; `ModelError` where there is none yet."""
        if self.bound_mobod is None:
            raise ModelError(
                f"{self!r} is not part of a mobilized body yet; mobod.mobilizer.Custom(parent, body, it) makes it so"
            )
        return self.bound_mobod

    # ------------------------------------------------------------------------------------------ what there is to ask

    def get_q(self, state: State) -> Array:
        """Its coordinates ``(nq,)``, one fewer where angles are in the quaternion's place. Needs MODEL."""
        return self.get_mobilized_body().get_q_as_vector(state)

    def get_u(self, state: State) -> Array:
        """Its speeds ``(nu,)``, as the mobilizer defines them. Needs MODEL."""
        return self.get_mobilized_body().get_u_as_vector(state)

    def get_q_dot(self, state: State) -> Array:
        """Rates of its coordinates. Needs VELOCITY, or `realize_velocity` and what is called after it."""
        mobod = self.get_mobilized_body()
        if state.preparing == -mobod.index:
            return state.record.q_dot[mobod.q_slice(state), 0].copy()
        return mobod.get_q_dot_as_vector(state)

    def get_u_dot(self, state: State) -> Array:
        """Its accelerations ``(nu,)``. Needs ACCELERATION."""
        return self.get_mobilized_body().get_u_dot_as_vector(state)

    def get_q_dot_dot(self, state: State) -> Array:
        """Second rates of its coordinates. Needs ACCELERATION."""
        return self.get_mobilized_body().get_q_dot_dot_as_vector(state)

    def get_mobilizer_transform(self, state: State) -> Transform:
        """X_FM as its author defines it, whichever direction it is used in.

        Needs POSITION, or `realize_position` and what is called after it.
        """
        mobod = self.get_mobilized_body()
        if state.preparing == mobod.index:
            record, b = state.record, mobod.index
            return Transform.trusted(record.R_FM[b].reshape(3, 3).copy(), record.p_FM[b].copy())
        X_FM = mobod.get_mobilizer_transform(state)
        return ~X_FM if mobod.direction is Direction.REVERSE else X_FM

    def get_mobilizer_velocity(self, state: State) -> Array:
        """V_FM ``(2, 3)`` as its author defines it, in F, whichever direction it is used in.

        Needs VELOCITY, or `realize_velocity` and what is called after it.
        """
        mobod = self.get_mobilized_body()
        if state.preparing != -mobod.index:
            state.need_velocities(mobod, "get_mobilizer_velocity")
        part, record = mobod.u_slice(state), state.record
        columns: Any = record.H_MF if mobod.direction is Direction.REVERSE else record.H_FM
        return (state.u_values[part] @ columns[part]).reshape(2, 3)

    def get_use_euler_angles(self, state: State) -> bool:
        """True if angles are in quaternions' place in this state; matters only with `n_angles` of 4."""
        return self.declared_matter.get_use_euler_angles(state)

    def get_parameters(self, state: State) -> Array:
        """The numbers that `Custom` was given as ``parameters``, as they are in this state. Needs MODEL."""
        return self.get_mobilized_body().get_parameters(state)

    def invalidate_topology_cache(self) -> None:
        """Say that something topological changed: `MultibodySystem.realize_topology` has to be called again."""
        self.declared_matter.invalidate_topology()

    # ------------------------------------------------------------------------------------------ where M is, how it moves

    @abc.abstractmethod
    def calc_mobilizer_transform_from_q(self, state: State, q: Array) -> Transform:
        """X_FM at any *q*, which need not be the state's; a quaternion in it need not have length 1.

        Parameters
        ----------
        state : State
            At INSTANCE or above: quantities that depend on its q and u may not be computed yet.
        q : (nq,) array

        Returns
        -------
        Transform
            Or a ``(4, 4)`` matrix, or a pair of R and p.
        """

    @abc.abstractmethod
    def multiply_by_h_matrix(self, state: State, u: Array) -> ArrayLike:
        """V_FM = H u ``(2, 3)``, angular then linear, in F, of any *u* ``(nu,)``.

        Called after `realize_position`; H is a function of the state's q, which `get_q` and `get_mobilizer_transform` give.
        """

    def multiply_by_h_transpose(self, state: State, F: Array) -> ArrayLike:
        """H^T F ``(nu,)`` of a spatial force *F* ``(2, 3)``; by `multiply_by_h_matrix` unless overridden."""
        return self._columns(self.multiply_by_h_matrix, state) @ np.asarray(F, dtype=np.float64).reshape(6)

    @abc.abstractmethod
    def multiply_by_h_dot_matrix(self, state: State, u: Array) -> ArrayLike:
        """HDot u ``(2, 3)`` of any *u*: of H's rate, taken and expressed in F, at the state's own q and u.

        Called after `realize_velocity`; `get_q_dot` and `get_mobilizer_velocity` are there.
        """

    def multiply_by_h_dot_transpose(self, state: State, F: Array) -> ArrayLike:
        """HDot^T F ``(nu,)``; by `multiply_by_h_dot_matrix` unless overridden."""
        return self._columns(self.multiply_by_h_dot_matrix, state) @ np.asarray(F, dtype=np.float64).reshape(6)

    def _columns(self, product: Any, state: State) -> Array:
        return np.array([np.reshape(product(state, e), 6) for e in np.eye(self.declared_nu)])

    # ------------------------------------------------------------------------------------------ q_dot

    def multiply_by_n(self, state: State, transpose_matrix: bool, v: Array) -> ArrayLike:
        """N v ``(nq,)``, or with *transpose_matrix* N^T v ``(nu,)``; q_dot = N u.

        Unless overridden the identity; with `n_angles` of 4 N of a `Ball` for the quaternion or the angles. Called after
        `realize_position`.
        """
        return self._usual_rates("multiply_by_n_transpose" if transpose_matrix else "multiply_by_n", state, v)

    def multiply_by_n_inv(self, state: State, transpose_matrix: bool, v: Array) -> ArrayLike:
        """N^-1 v ``(nu,)``, or with *transpose_matrix* its transpose times v ``(nq,)``; the inverse unless overridden."""
        return self._usual_rates("multiply_by_n_inv_transpose" if transpose_matrix else "multiply_by_n_inv", state, v)

    def multiply_by_n_dot(self, state: State, transpose_matrix: bool, v: Array) -> ArrayLike:
        """NDot v ``(nq,)``, or with *transpose_matrix* NDot^T v ``(nu,)``; N's rate unless overridden.

        Called after `realize_velocity`; Simbody promises POSITION only, though NDot depends on u.
        """
        vector = np.asarray(v, dtype=np.float64)
        if self.declared_angles != 4:
            return np.zeros_like(vector)
        q_dot = self.get_q_dot(state)
        if self.get_use_euler_angles(state):
            euler = euler_xyz.multiply_by_n_dot_transpose if transpose_matrix else euler_xyz.multiply_by_n_dot
            head = euler(self.get_q(state)[:3], q_dot[:3], vector[:3])
        else:  # N is linear in q
            of_q_dot = quaternion.multiply_by_n_transpose if transpose_matrix else quaternion.multiply_by_n
            head = of_q_dot(q_dot[:4], vector[: 4 if transpose_matrix else 3])
        return np.append(head, np.zeros(self.declared_nu - 3))

    def _usual_rates(self, product: str, state: State, v: ArrayLike) -> Array:
        """The product for the orientation, where there is one, and the identity for the rest."""
        vector = np.array(v, dtype=np.float64)
        if self.declared_angles != 4:
            return vector
        module, rows = (euler_xyz, 3) if self.get_use_euler_angles(state) else (quaternion, 4)
        taken = rows if product in ("multiply_by_n_transpose", "multiply_by_n_inv") else 3
        head = getattr(module, product)(self.get_q(state)[:rows], vector[:taken])
        return np.append(head, vector[taken:])

    # ------------------------------------------------------------------------------------------ fits

    def set_q_to_fit_transform(self, state: State, X_FM: Transform) -> ArrayLike:
        """The q ``(nq,)`` at which M in F, as its author defines it, is nearest to X_FM; by a search unless overridden."""
        from ._pose_fit import fit_q

        mobod = self.get_mobilized_body()
        X = ~X_FM if mobod.direction is Direction.REVERSE else X_FM
        return fit_q(mobod, state, np.asarray(X.R), np.asarray(X.p))

    def set_u_to_fit_velocity(self, state: State, V_FM: Array) -> ArrayLike:
        """The u ``(nu,)`` at which V_FM, as its author defines it, is nearest to the given ``(2, 3)``.

        The least squares of all six components unless overridden. Needs POSITION.
        """
        V = checked(V_FM, (2, 3), "the velocity to fit", "")
        mobod = self.get_mobilized_body()
        part, record = mobod.u_slice(state), mobod.realized(state, Stage.POSITION).record
        columns: Any = record.H_MF if mobod.direction is Direction.REVERSE else record.H_FM
        return np.linalg.lstsq(columns[part].T, V.ravel(), rcond=None)[0]

    # ------------------------------------------------------------------------------------------ pictures

    def calc_decorative_geometry_and_append(self, state: State, stage: Any) -> list[Decoration]:
        """Decorations to draw on the body, placed in its frame by their `X`; asked for once for each stage up to POSITION."""
        return []


_RATES = ("multiply_by_n", "multiply_by_n_inv", "multiply_by_n_dot")


def check_counts(who: str, nu: Any, nq: Any, n_angles: Any, names: tuple[str, str, str] = ("nu", "nq", "n_angles")) -> None:
    """Refuse numbers of speeds, coordinates and angles that no mobilizer has."""
    of_u, of_q, of_angles = names
    for name, value in zip(names, (nu, nq, n_angles), strict=True):
        integer(f"{name} of {who}", value)
    if not 1 <= nu <= MOST_SPEEDS:
        raise ModelError(f"{who} has {of_u} = {nu}; a mobilizer has 1 to {MOST_SPEEDS} speeds (none is a Weld)")
    if not 0 <= n_angles <= 4:
        raise ModelError(f"{who} has {of_angles} = {n_angles}; it is 4 for a quaternion, else 0 to 3")
    if not nu <= nq <= MOST_COORDINATES:
        raise ModelError(f"{who} has {of_q} = {nq} for {nu} speeds; it has to be from {nu} to {MOST_COORDINATES}")
    if n_angles > nq or (n_angles == 4 and nq - 1 < nu):
        raise ModelError(f"{who} has {of_q} = {nq}, too few for {of_angles} = {n_angles} and {nu} speeds")
