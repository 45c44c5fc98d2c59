"""CustomImplementation: base class of constraints that users write in Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..errors import ModelError, TopologyError
from ..state.stage_hooks import StageHooks
from ..value import Rotation, Transform
from ..value.checks import flag, integer, one_of
from .base import AnyBody, bodies_named

if TYPE_CHECKING:
    from ..decoration.geometry import Decoration
    from ..mobilizer.base import MobilizedBody
    from ..state.state import State
    from ..value.annotations import SimbodyMatterSubsystem
    from .custom import Custom


#: The methods of position, of velocity and of acceleration equations.
METHODS = (
    ("calc_position_errors", "calc_position_dot_errors", "calc_position_dot_dot_errors", "add_in_position_constraint_forces"),
    ("calc_velocity_errors", "calc_velocity_dot_errors", "add_in_velocity_constraint_forces"),
    ("calc_acceleration_errors", "add_in_acceleration_constraint_forces"),
)
_OF_WHAT = ("position", "velocity", "acceleration")


class CustomImplementation(StageHooks):
    """A constraint that its user writes in Python: derive from this, and hand an instance to `Custom`.

    1. The constructor calls `add_constrained_body` and `add_constrained_mobilizer` for all that the equations depend on and put
       forces on. The outermost common ancestor of all constrained bodies, which can be one of them, is the Ancestor A: poses,
       velocities, accelerations and forces of constrained bodies are measured in A and expressed in A.
    2. Position equations require `calc_position_errors`, its rate `calc_position_dot_errors`, the rate of that,
       `calc_position_dot_dot_errors`, and `add_in_position_constraint_forces`; velocity equations `calc_velocity_errors`,
       `calc_velocity_dot_errors` and `add_in_velocity_constraint_forces`; those of accelerations alone
       `calc_acceleration_errors` and `add_in_acceleration_constraint_forces`.
    3. The ``realize_*`` hooks are called when the system realizes a state to that stage, after the errors of that stage.

    Rates are affine in the velocities (accelerations) that a method is given. The forces of multipliers are the transpose of
    the linear part: each multiplier times the coefficients of velocities in its error. Where A is a constrained body, but not
    Ground, forces on the others need their reaction on it. `mobod.constraint.check_custom` checks all that.

    Parameters
    ----------
    matter : SimbodyMatterSubsystem
        The matter that it will be part of.
    mp, mv, ma : int
        How many equations of positions, of velocities, and of accelerations alone.

    Raises
    ------
    ModelError
        If there are no equations, or a method that they need is missing.

    Examples
    --------
    >>> class Slider(mb.constraint.CustomImplementation):  # doctest: +SKIP
    ...     def __init__(self, matter, body):
    ...         super().__init__(matter, 1, 0, 0)
    ...         self.ground, self.body = self.add_constrained_body(matter.ground), self.add_constrained_body(body)
    ...     def calc_position_errors(self, state, X_AB, constrained_q):
    ...         return [X_AB[self.body].p[2]]
    ...     def calc_position_dot_errors(self, state, V_AB, constrained_q_dot):
    ...         return [V_AB[self.body, 1, 2]]
    ...     def calc_position_dot_dot_errors(self, state, A_AB, constrained_q_dot_dot):
    ...         return [A_AB[self.body, 1, 2]]
    ...     def add_in_position_constraint_forces(self, state, multipliers, body_forces_in_A, q_forces):
    ...         self.add_in_station_force(state, self.body, (0, 0, 0), (0, 0, multipliers[0]), body_forces_in_A)
    """

    def __init__(self, matter: SimbodyMatterSubsystem, mp: int = 0, mv: int = 0, ma: int = 0) -> None:
        if not hasattr(matter, "get_mobilized_body"):
            raise TypeError(f"matter has to be a SimbodyMatterSubsystem, not {matter!r}")
        self.declared_matter = matter
        self.declared_bodies: list[MobilizedBody] = []
        self.declared_mobilizers: list[MobilizedBody] = []
        self.bound_constraint: Custom | None = None
        self.declared_equations = self._checked_numbers(mp, mv, ma)
        self.declared_disabled = False

    def __repr__(self) -> str:
        where = "" if self.bound_constraint is None else f" of {self.bound_constraint.name!r}"
        p, v, a = self.declared_equations
        return f"<{type(self).__name__}{where}, {p} + {v} + {a} equations>"

    def _checked_numbers(self, mp: int, mv: int, ma: int) -> tuple[int, int, int]:
        who = type(self).__name__
        for name, m in (("mp", mp), ("mv", mv), ("ma", ma)):
            integer(f"{name} of {who}", m)
            if m < 0:
                raise ModelError(f"{who} cannot have {name} = {m} equations")
        if mp + mv + ma == 0:
            raise ModelError(f"{who} has no equations; one of mp, mv and ma has to be 1 or more")
        for m, names, what in zip((mp, mv, ma), METHODS, _OF_WHAT, strict=True):
            missing = [name for name in names if m and getattr(type(self), name) is getattr(CustomImplementation, name)]
            if missing:
                raise ModelError(f"{who} has {m} {what} equation{'s' * (m > 1)}, so it needs its own {', '.join(missing)}")
        return int(mp), int(mv), int(ma)

    # ------------------------------------------------------------------------------------------ what it ties

    def add_constrained_body(self, body: AnyBody) -> int:
        """Make *body* one of the constrained bodies; its number among these. A topological change."""
        return self._added(self.declared_bodies, body)

    def add_constrained_mobilizer(self, body: AnyBody) -> int:
        """Make the mobilizer of *body* one of the constrained mobilizers; its number among these. A topological change."""
        return self._added(self.declared_mobilizers, body)

    def _added(self, found: list[MobilizedBody], body: Any) -> int:
        (known,) = bodies_named(type(self).__name__, [body], self.declared_matter)
        if known.get_matter_subsystem() is not self.declared_matter:
            raise TopologyError(f"{known!r} is a body of another system than that of {self!r}")
        if known not in found:
            found.append(known)
            if self.bound_constraint is not None:
                self.declared_matter.invalidate_topology()
        return found.index(known)

    def set_default_num_constraint_equations(self, mp: int, mv: int, ma: int) -> None:
        """Change how many equations of positions, velocities and accelerations there are; a topological change."""
        self.declared_equations = self._checked_numbers(mp, mv, ma)
        if self.bound_constraint is not None:
            self.bound_constraint.number_of_equations = self.declared_equations
            self.declared_matter.invalidate_topology()

    def set_disabled_by_default(self, should_be_disabled: bool) -> None:
        """Set whether states start with it disabled; a topological change."""
        self.declared_disabled = flag("should_be_disabled", should_be_disabled)
        if self.bound_constraint is not None:
            self.bound_constraint.set_disabled_by_default(should_be_disabled)

    def get_constraint(self) -> Custom:
        """The constraint that it implements; `ModelError` where there is none yet."""
        if self.bound_constraint is None:
            raise ModelError(f"{self!r} is not part of a constraint yet; mobod.constraint.Custom(it) makes it so")
        return self.bound_constraint

    def get_matter_subsystem(self) -> SimbodyMatterSubsystem:
        """The matter that it is part of."""
        return self.declared_matter

    def get_num_constrained_bodies(self) -> int:
        """Number of bodies that it has in its equations."""
        return len(self.declared_bodies)

    def get_num_constrained_mobilizers(self) -> int:
        """Number of mobilizers that it has in its equations."""
        return len(self.declared_mobilizers)

    def get_mobilized_body_from_constrained_body(self, constrained_body: int) -> MobilizedBody:
        """One of these bodies."""
        return one_of(self.declared_bodies, constrained_body, self, "constrained bodies")

    def get_mobilized_body_from_constrained_mobilizer(self, constrained_mobilizer: int) -> MobilizedBody:
        """The body of one of these mobilizers."""
        return one_of(self.declared_mobilizers, constrained_mobilizer, self, "constrained mobilizers")

    def get_ancestor_mobilized_body(self) -> MobilizedBody:
        """The Ancestor body; Ground where there is no constrained body."""
        return self.get_constraint().get_ancestor_mobilized_body()

    def get_num_constrained_q(self, state: State) -> int:
        """Number of coordinates that the constrained mobilizers have, in the state's modelling choice. Needs MODEL."""
        return sum(body.get_num_q(state) for body in self.declared_mobilizers)

    def get_num_constrained_u(self, state: State) -> int:
        """Number of speeds that they have. Needs MODEL."""
        return sum(body.get_num_u(state) for body in self.declared_mobilizers)

    def invalidate_topology_cache(self) -> None:
        """Say that something topological changed: `MultibodySystem.realize_topology` has to be called again."""
        self.declared_matter.invalidate_topology()

    # ------------------------------------------------------------------------------------------ of mobilizers

    def _place(self, state: State, mobilizer: int, which: int, letter: str) -> int:
        """The index of a mobilizer's q (or u) among the constrained ones."""
        body = one_of(self.declared_mobilizers, mobilizer, self, "constrained mobilizers")
        numbers = state.tree.num_q if letter == "q" else state.tree.num_u
        n = numbers[body.get_mobilized_body_index()]
        if not 0 <= which < n:
            raise IndexError(f"{body.name!r} has {n} {letter}; no number {which}")
        return sum(numbers[one.get_mobilized_body_index()] for one in self.declared_mobilizers[:mobilizer]) + which

    def get_one_q(self, state: State, constrained_q: Array, mobilizer: int, which_q: int) -> float:
        """One coordinate of a constrained mobilizer, from the array that a method was given."""
        return float(constrained_q[self._place(state, mobilizer, which_q, "q")])

    def get_one_q_from_state(self, state: State, mobilizer: int, which_q: int) -> float:
        """The same from the state. Needs MODEL."""
        return self._from_state(state, mobilizer, which_q, "q", state.q_values)

    def get_one_q_dot(self, state: State, constrained_q_dot: Array, mobilizer: int, which_q: int) -> float:
        """The rate of one coordinate, from the array that a method was given."""
        return float(constrained_q_dot[self._place(state, mobilizer, which_q, "q")])

    def get_one_q_dot_from_state(self, state: State, mobilizer: int, which_q: int) -> float:
        """The same from the state; for methods of accelerations, and for hooks from `realize_velocity` on."""
        state.need_velocities(
            one_of(self.declared_mobilizers, mobilizer, self, "constrained mobilizers"), "get_one_q_dot_from_state"
        )
        return self._from_state(state, mobilizer, which_q, "q", state.record.q_dot[:, 0])

    def get_one_q_dot_dot(self, state: State, constrained_q_dot_dot: Array, mobilizer: int, which_q: int) -> float:
        """The second rate of one coordinate, from the array that a method was given."""
        return float(constrained_q_dot_dot[self._place(state, mobilizer, which_q, "q")])

    def get_one_u(self, state: State, constrained_u: Array, mobilizer: int, which_u: int) -> float:
        """One speed of a constrained mobilizer, from the array that a method was given."""
        return float(constrained_u[self._place(state, mobilizer, which_u, "u")])

    def get_one_u_from_state(self, state: State, mobilizer: int, which_u: int) -> float:
        """The same from the state. Needs MODEL."""
        return self._from_state(state, mobilizer, which_u, "u", state.u_values)

    def get_one_u_dot(self, state: State, constrained_u_dot: Array, mobilizer: int, which_u: int) -> float:
        """The rate of one speed, from the array that a method was given."""
        return float(constrained_u_dot[self._place(state, mobilizer, which_u, "u")])

    def _from_state(self, state: State, mobilizer: int, which: int, letter: str, values: Array) -> float:
        self._place(state, mobilizer, which, letter)
        body = self.declared_mobilizers[mobilizer]
        part = body.q_slice(state) if letter == "q" else body.u_slice(state)
        return float(values[part.start + which])

    def add_in_one_mobility_force(self, state: State, mobilizer: int, which_u: int, fu: float, mobility_forces: Array) -> Array:
        """Add a generalized force on one speed; for velocity and acceleration equations."""
        mobility_forces[self._place(state, mobilizer, which_u, "u")] += fu
        return mobility_forces

    def add_in_one_q_force(self, state: State, mobilizer: int, which_q: int, fq: float, q_forces: Array) -> Array:
        """Add a generalized force on one coordinate; for position equations. N^T of it acts on the speeds."""
        q_forces[self._place(state, mobilizer, which_q, "q")] += fq
        return q_forces

    # ------------------------------------------------------------------------------------------ of bodies

    def get_body_transform(self, all_X_AB: Sequence[Transform], body: int) -> Transform:
        """X_AB of a constrained body, from the list that a method was given."""
        return all_X_AB[body]

    def get_body_rotation(self, all_X_AB: Sequence[Transform], body: int) -> Rotation:
        """R_AB of a constrained body."""
        return all_X_AB[body].R

    def get_body_origin_location(self, all_X_AB: Sequence[Transform], body: int) -> Array:
        """p_AB of a constrained body."""
        return all_X_AB[body].p

    def get_body_transform_from_state(self, state: State, body: int) -> Transform:
        """X_AB from the state; for methods of velocities and accelerations, and of forces."""
        X_GB = one_of(self.declared_bodies, body, self, "constrained bodies").get_body_transform(state)
        return ~self.get_ancestor_mobilized_body().get_body_transform(state) @ X_GB

    def get_body_rotation_from_state(self, state: State, body: int) -> Rotation:
        """R_AB from the state."""
        return self.get_body_transform_from_state(state, body).R

    def get_body_origin_location_from_state(self, state: State, body: int) -> Array:
        """p_AB from the state."""
        return self.get_body_transform_from_state(state, body).p

    def get_body_velocity(self, all_V_AB: Array, body: int) -> Array:
        """V_AB ``(2, 3)`` of a constrained body, from the array that a method was given."""
        return all_V_AB[body]

    def get_body_angular_velocity(self, all_V_AB: Array, body: int) -> Array:
        """w_AB of a constrained body."""
        return all_V_AB[body, 0]

    def get_body_origin_velocity(self, all_V_AB: Array, body: int) -> Array:
        """v_AB of a constrained body's origin."""
        return all_V_AB[body, 1]

    def get_body_velocity_from_state(self, state: State, body: int) -> Array:
        """V_AB from the state; for methods of accelerations."""
        from ._custom_python import velocities_in_ancestor

        one_of(self.declared_bodies, body, self, "constrained bodies")
        state.need_velocities(self.declared_bodies[body], "get_body_velocity_from_state")
        return velocities_in_ancestor(state, self.get_ancestor_mobilized_body(), self.declared_bodies)[body]

    def get_body_angular_velocity_from_state(self, state: State, body: int) -> Array:
        """w_AB from the state."""
        return self.get_body_velocity_from_state(state, body)[0]

    def get_body_origin_velocity_from_state(self, state: State, body: int) -> Array:
        """v_AB from the state."""
        return self.get_body_velocity_from_state(state, body)[1]

    def get_body_acceleration(self, all_A_AB: Array, body: int) -> Array:
        """A_AB ``(2, 3)`` of a constrained body, from the array that a method was given."""
        return all_A_AB[body]

    def get_body_angular_acceleration(self, all_A_AB: Array, body: int) -> Array:
        """Angular acceleration in A of a constrained body."""
        return all_A_AB[body, 0]

    def get_body_origin_acceleration(self, all_A_AB: Array, body: int) -> Array:
        """Acceleration in A of a constrained body's origin."""
        return all_A_AB[body, 1]

    def find_station_location(self, all_X_AB: Sequence[Transform], body: int, p_BS: ArrayLike) -> Array:
        """Location in A of a station, given from the body's origin in its frame."""
        return all_X_AB[body] @ np.asarray(p_BS, dtype=np.float64)

    def find_station_location_from_state(self, state: State, body: int, p_BS: ArrayLike) -> Array:
        """The same by positions of the state."""
        return self.get_body_transform_from_state(state, body) @ np.asarray(p_BS, dtype=np.float64)

    def _arm(self, state: State, body: int, p_BS: ArrayLike) -> Array:
        """A station from the body's origin, in A."""
        return self.get_body_rotation_from_state(state, body) @ np.asarray(p_BS, dtype=np.float64)

    def find_station_velocity(self, state: State, all_V_AB: Array, body: int, p_BS: ArrayLike) -> Array:
        """The station's velocity in A."""
        w, v = all_V_AB[body]
        return v + np.cross(w, self._arm(state, body, p_BS))

    def find_station_velocity_from_state(self, state: State, body: int, p_BS: ArrayLike) -> Array:
        """The same by velocities of the state."""
        w, v = self.get_body_velocity_from_state(state, body)
        return v + np.cross(w, self._arm(state, body, p_BS))

    def find_station_acceleration(self, state: State, all_A_AB: Array, body: int, p_BS: ArrayLike) -> Array:
        """The station's acceleration in A."""
        b, a = all_A_AB[body]
        w, arm = self.get_body_angular_velocity_from_state(state, body), self._arm(state, body, p_BS)
        return a + np.cross(b, arm) + np.cross(w, np.cross(w, arm))

    def add_in_station_force(
        self, state: State, body: int, p_BS: ArrayLike, force_in_A: ArrayLike, body_forces_in_A: Array
    ) -> Array:
        """Add a force, expressed in A, at a station of a constrained body."""
        force = np.asarray(force_in_A, dtype=np.float64)
        body_forces_in_A[body, 0] += np.cross(self._arm(state, body, p_BS), force)
        body_forces_in_A[body, 1] += force
        return body_forces_in_A

    def add_in_body_torque(self, state: State, body: int, torque_in_A: ArrayLike, body_forces_in_A: Array) -> Array:
        """Add a torque, expressed in A, on a constrained body."""
        body_forces_in_A[body, 0] += np.asarray(torque_in_A, dtype=np.float64)
        return body_forces_in_A

    def get_multipliers(self, state: State) -> Array:
        """Its multipliers; for `realize_acceleration`, and `realize_report`."""
        return self.get_constraint().get_multipliers_as_vector(state)

    # ------------------------------------------------------------------------------------------ position equations

    def calc_position_errors(self, state: State, X_AB: Sequence[Transform], constrained_q: Array) -> ArrayLike:
        """Errors ``(mp,)`` of the position equations.

        Parameters
        ----------
        state : State
            At TIME: positions are in the arguments.
        X_AB : sequence of Transform
            Of the constrained bodies.
        constrained_q : (num_constrained_q,) array
            Of the constrained mobilizers, one after the other.
        """
        return self._missing("calc_position_errors")

    def calc_position_dot_errors(self, state: State, V_AB: Array, constrained_q_dot: Array) -> ArrayLike:
        """Their rates ``(mp,)``, of velocities ``(n, 2, 3)`` and rates of coordinates; positions are in the state."""
        return self._missing("calc_position_dot_errors")

    def calc_position_dot_dot_errors(self, state: State, A_AB: Array, constrained_q_dot_dot: Array) -> ArrayLike:
        """The rates of these ``(mp,)``, of accelerations ``(n, 2, 3)``; positions and velocities are in the state."""
        return self._missing("calc_position_dot_dot_errors")

    def add_in_position_constraint_forces(
        self, state: State, multipliers: Array, body_forces_in_A: Array, q_forces: Array
    ) -> Any:
        """Add the forces of *multipliers* ``(mp,)``: on bodies ``(n, 2, 3)``, at their origins, and on coordinates.

        The force of a positive multiplier has positive power on velocities that increase the error.
        """
        return self._missing("add_in_position_constraint_forces")

    # ------------------------------------------------------------------------------------------ velocity equations

    def calc_velocity_errors(self, state: State, V_AB: Array, constrained_u: Array) -> ArrayLike:
        """Errors ``(mv,)`` of the velocity equations, of velocities ``(n, 2, 3)`` and speeds; positions are in the state."""
        return self._missing("calc_velocity_errors")

    def calc_velocity_dot_errors(self, state: State, A_AB: Array, constrained_u_dot: Array) -> ArrayLike:
        """Their rates ``(mv,)``, of accelerations ``(n, 2, 3)``; positions and velocities are in the state."""
        return self._missing("calc_velocity_dot_errors")

    def add_in_velocity_constraint_forces(
        self, state: State, multipliers: Array, body_forces_in_A: Array, mobility_forces: Array
    ) -> Any:
        """Add the forces of *multipliers* ``(mv,)``: on bodies, and on speeds."""
        return self._missing("add_in_velocity_constraint_forces")

    # ------------------------------------------------------------------------------------------ of accelerations alone

    def calc_acceleration_errors(self, state: State, A_AB: Array, constrained_u_dot: Array) -> ArrayLike:
        """Errors ``(ma,)`` of equations of accelerations alone; linear in these."""
        return self._missing("calc_acceleration_errors")

    def add_in_acceleration_constraint_forces(
        self, state: State, multipliers: Array, body_forces_in_A: Array, mobility_forces: Array
    ) -> Any:
        """Add the forces of *multipliers* ``(ma,)``: on bodies, and on speeds."""
        return self._missing("add_in_acceleration_constraint_forces")

    def _missing(self, name: str) -> Any:
        raise ModelError(f"{type(self).__name__} has no {name}, which equations of that kind need")

    # ------------------------------------------------------------------------------------------ pictures

    def calc_decorative_geometry_and_append(self, state: State, stage: Any) -> list[Decoration]:
        """Decorations to draw in Ground, asked for once for each stage up to POSITION; none unless overridden."""
        return []
