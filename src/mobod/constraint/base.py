"""Constraint: what every kind shares.

A new kind is a file beside this one. It provides

1. compiled functions ``positions(model, c)`` and ``velocities(model, c)`` that write its errors and its rows of G by way of
   `access`, with the equations in the file's docstring, and ``routine = by_address(positions, velocities)``;
2. a class derived from `Constraint` with `pack_integers` and `pack_numbers`: its run in the two pools that the kernels read;
3. its name in ``__init__.py``.

A row of G is given as the forces of a unit multiplier: a wrench on each constrained body; or, of position equations, the
derivatives by the q of the constrained mobilizers, from which those by u follow; or, of others, coefficients of u.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..compiling import Routine
from ..errors import ModelError, TopologyError
from ..function.routines import Use
from ..state.parameters import Parametrized
from ..value import checks
from ..value.stage import Stage
from ._operators import Operators

if TYPE_CHECKING:
    from ..decoration.geometry import Decoration
    from ..mobilizer.base import MobilizedBody
    from ..state.state import State
    from ..value.annotations import SimbodyMatterSubsystem
    from ._custom_python import Interpreter


#: A body, by itself or by its index or name in the system that other arguments tell.
AnyBody: TypeAlias = "MobilizedBody | int | str"

#: What pictures show of a constraint: a decoration on a body, or a line from a point of one body to a point of another.
Mark: TypeAlias = "tuple[MobilizedBody, Decoration]"
Line: TypeAlias = "tuple[MobilizedBody, npt.ArrayLike, MobilizedBody, npt.ArrayLike, str]"


class Constraint(Parametrized, Operators):
    """Equations that the motion of a system keeps, with the forces that it takes. Base class of every kind.

    Parameters
    ----------
    bodies : sequence of MobilizedBody
        Those that its equations put forces on. Where *matter* or one of the bodies tells the system, others may be indices
        or names.
    mobilizers : sequence of MobilizedBody
        Those whose coordinates or speeds are in its equations.
    equations : (int, int, int)
        How many of positions, of velocities, and of accelerations alone.
    matter : SimbodyMatterSubsystem, optional
        What it joins: that of its bodies unless given.
    disabled_by_default : bool
        Whether states start with it switched off.
    name : str, optional
        Unique among the constraints; one is made where none is given.

    Raises
    ------
    TopologyError
        If the bodies are not all of one system, or one is given twice.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> hold = mb.constraint.ConstantCoordinate(system.matter.bodies["lower"], 0, 0.5)
    >>> state = system.realize_topology()
    >>> hold.disable(state)
    >>> hold.is_disabled(state), hold.get_num_constraint_equations_in_use(state)
    (True, (0, 0, 0))
    """

    INNER = frozenset(
        """
        body_indices calc_decorations check_coordinates constrained_bodies constrained_mobilizers depends_on_time
        disabled_by_default equations first_function interpreter lines marks mobilizer_indices not_finite number_of_equations
        number_run own_rows pack_integers pack_numbers reach reads_ancestor routine slides_along tied_bodies used_functions
        """.split()
    )

    routine: Routine | None = None
    #: The functions that its kernels evaluate, and the number of the first in the tree: see `function.routines`.
    used_functions: Sequence[Use] = ()
    first_function = 0
    #: The interpreter that writes its rows, where Python does.
    interpreter: Interpreter | None = None
    #: The common ancestor of as many constrained bodies, of which there may become more.
    _ancestor: tuple[int, Any] = (0, None)
    #: Of the normal of a contact with friction: the constraint along whose tangential rows it may slide.
    slides_along: Constraint | None = None
    #: Whether its equations depend on time.
    depends_on_time = False
    #: Whether its rows are written along axes of the Ancestor body.
    reads_ancestor = False
    _conditional = False
    default_numbers: list[float] = []

    def __init__(
        self,
        bodies: Sequence[AnyBody] = (),
        mobilizers: Sequence[AnyBody] = (),
        *,
        equations: tuple[int, int, int],
        matter: SimbodyMatterSubsystem | None = None,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        everything = bodies_named(type(self).__name__, [*bodies, *mobilizers], matter)
        self.constrained_bodies, self.constrained_mobilizers = (
            everything[: len(bodies)],
            list(dict.fromkeys(everything[len(bodies) :])),
        )
        self.matter = matter if matter is not None else everything[0].get_matter_subsystem()
        for body in everything:
            if body.get_matter_subsystem() is not self.matter:
                raise TopologyError(
                    f"{body!r} is a body of another system than {everything[0]!r}; a constraint ties bodies of one"
                )
        for body in self.constrained_bodies:
            if sum(body is other for other in self.constrained_bodies) > 1:
                raise TopologyError(f"{type(self).__name__} would tie {body!r} to itself; give it two different bodies")
        self.number_of_equations = equations
        self.disabled_by_default = checks.flag("disabled_by_default", disabled_by_default)
        self.index, self._name = self.matter.adopt_constraint(self, name)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._name!r}>"

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    def get_constraint_index(self) -> int:
        """Its place among the constraints."""
        return self.index

    def get_matter_subsystem(self) -> SimbodyMatterSubsystem:
        """The subsystem it is part of."""
        return self.matter

    # ------------------------------------------------------------------------------------------ what it ties

    def get_num_constrained_bodies(self) -> int:
        """Number of bodies that it puts forces on."""
        return len(self.constrained_bodies)

    def get_mobilized_body_from_constrained_body(self, constrained_body: int) -> MobilizedBody:
        """One of these bodies."""
        return checks.one_of(self.constrained_bodies, constrained_body, self, "constrained bodies")

    def get_num_constrained_mobilizers(self) -> int:
        """Number of mobilizers that it puts generalized forces on."""
        return len(self.constrained_mobilizers)

    def get_mobilized_body_from_constrained_mobilizer(self, constrained_mobilizer: int) -> MobilizedBody:
        """The body of one of these mobilizers."""
        return checks.one_of(self.constrained_mobilizers, constrained_mobilizer, self, "constrained mobilizers")

    def get_ancestor_mobilized_body(self) -> MobilizedBody:
        """The outermost common ancestor of all constrained bodies, which can be one of them; Ground where there are none."""
        if not self.constrained_bodies:
            return self.matter.ground
        known, common = self._ancestor
        if known != len(self.constrained_bodies):  # it is asked for in each call of what users write
            common = self.matter.ground
            for bodies in zip(*map(_line, self.constrained_bodies), strict=False):
                if any(body is not bodies[0] for body in bodies):
                    break
                common = bodies[0]
            self._ancestor = len(self.constrained_bodies), common
        return common

    # ------------------------------------------------------------------------------------------ on and off

    def set_is_conditional(self, is_conditional: bool) -> None:
        """Mark it as one that something outside it switches on and off while a simulation runs; a topological change.

        A mark only: it makes no difference to how the constraint is enforced.
        """
        self._conditional = checks.flag("is_conditional", is_conditional)
        self.matter.invalidate_topology()

    def is_conditional(self) -> bool:
        """True if it is marked as one that is switched on and off; not so unless `set_is_conditional` says it."""
        return self._conditional

    def set_disabled_by_default(self, should_be_disabled: bool) -> None:
        """Set whether states start with it disabled; a topological change."""
        self.disabled_by_default = checks.flag("should_be_disabled", should_be_disabled)
        self.matter.invalidate_topology()

    def is_disabled_by_default(self) -> bool:
        """True if states start with it switched off."""
        return self.disabled_by_default

    def disable(self, state: State) -> None:
        """Switch it off in this state, which falls to MODEL at most. Needs MODEL."""
        self._switch(state, False)

    def enable(self, state: State, *, impulse: bool = True) -> None:
        """Switch it on in this state, which falls to MODEL at most. Needs MODEL.

        In a run, which means by an event handler or on `TimeStepper.state` between two steps, speeds become those that fulfil
        its equations, at once and by an impulse, M du = G^T impulse: momentum is conserved where no constraint, lock or motion
        acts, and what kinetic energy is lost is told in the run's events. So set its parameters, and disable what lets go,
        before. Positions stay; an error of these that exceeds the tolerance is a warning. In any other state speeds stay.

        Parameters
        ----------
        state : State
        impulse : bool
            False leaves speeds alone in a run, too; the next step projects them onto the constraints, whatever momentum that
            takes.
        """
        if checks.flag("impulse", impulse) and self.is_disabled(state):
            self.matter.latch(state, self, lambda to: self.matter.enable_constraint(to, self, True), "enabled")
        else:
            self._switch(state, True)

    def _switch(self, state: State, enable: bool) -> None:
        changes = self.is_disabled(state) is enable
        self.matter.enable_constraint(state, self, enable)
        if changes:
            self.matter.note(state, self, "enabled" if enable else "disabled")

    def is_disabled(self, state: State) -> bool:
        """True if it is switched off in this state. Needs MODEL."""
        self.model(state, "is_disabled")
        return not state.field("constraint_enabled")[self.index]

    def get_num_constraint_equations_in_use(self, state: State) -> tuple[int, int, int]:
        """Numbers of equations of positions, of velocities, and of accelerations alone; all zero where it is disabled."""
        return (0, 0, 0) if self.is_disabled(state) else self.number_of_equations

    def get_index_of_multipliers_in_use(self, state: State) -> tuple[int, int, int]:
        """Indices of its first multipliers of positions, velocities and accelerations in the state's; -1 for none."""
        starts = []
        for which in range(3):
            rows = self.own_rows(state, which)
            starts.append(int(self.matter.places_of_rows(state)[rows[0]]) if len(rows) else -1)
        return starts[0], starts[1], starts[2]

    def own_rows(self, state: State, which: int | None = None) -> npt.NDArray[np.int64]:
        """Its equations in the kernels' order: all, or those of positions (0), velocities (1) or accelerations (2)."""
        if self.is_disabled(state):
            return np.zeros(0, np.int64)
        first, numbers = int(state.tree.fields["first_row"][self.index]), self.number_of_equations
        if which is None:
            return np.arange(first, first + sum(numbers))
        start = first + sum(numbers[:which])
        return np.arange(start, start + numbers[which])

    # ------------------------------------------------------------------------------------------ errors and multipliers

    def get_position_errors_as_vector(self, state: State) -> Array:
        """Errors of its position equations ``(mp,)``. Needs POSITION."""
        state.need_positions(self.matter.ground, f"get_position_errors_as_vector of {self._name!r}")
        return state.record.position_error[self.own_rows(state, 0), 0]

    def get_velocity_errors_as_vector(self, state: State) -> Array:
        """Errors of its position and velocity equations at the level of velocities ``(mp + mv,)``. Needs VELOCITY."""
        rows = np.concatenate([self.own_rows(state, 0), self.own_rows(state, 1)])
        return self.matter.velocity_errors(state)[rows]

    def get_acceleration_errors_as_vector(self, state: State) -> Array:
        """Errors of all its equations at the level of accelerations ``(mp + mv + ma,)``. Needs ACCELERATION."""
        return self.matter.acceleration_errors(state)[self.own_rows(state)]

    def get_multipliers_as_vector(self, state: State) -> Array:
        """Its multipliers ``(mp + mv + ma,)``. Needs ACCELERATION."""
        self.matter.accelerations(state, f"get_multipliers_as_vector of {self._name!r}")
        return state.record.multiplier[self.own_rows(state), 0]

    def _the_only(self, state: State, asked: str, values: Array) -> float:
        self._need_enabled(state, asked)
        return float(values[0])

    def _need_enabled(self, state: State, asked: str) -> None:
        if self.is_disabled(state):
            raise ModelError(f"{asked}: {self!r} is disabled in this state and has no equations; enable(state) first")

    # ------------------------------------------------------------------------------------------ forces

    def calc_constraint_forces_from_multipliers(self, state: State, multipliers: npt.ArrayLike) -> tuple[Array, Array]:
        """Forces of multipliers on its own bodies and mobilizers. Needs VELOCITY.

        Parameters
        ----------
        state : State
        multipliers : (mp + mv + ma,) array_like
            Empty where it is disabled.

        Returns
        -------
        body_forces : (num_constrained_bodies, 2, 3) array
            At the bodies' origins, expressed in the Ancestor body.
        mobility_forces : array
            One a u of the constrained mobilizers.

        Notes
        -----
        The sign is that of multipliers: these forces are on the side of M udot, and equivalent applied forces are minus them.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> loop = system.matter.constraints[0]
        >>> system.realize(state)
        >>> forces = loop.calc_constraint_forces_from_multipliers(state, loop.get_multipliers_as_vector(state))
        >>> forces[0].shape
        (2, 2, 3)
        """
        F, f = self._forces(state, "calc_constraint_forces_from_multipliers", multipliers)
        R_GA = np.asarray(self.get_ancestor_mobilized_body().get_body_transform(state).R)
        return F @ R_GA, f

    def get_constraint_forces_as_vectors(self, state: State) -> tuple[Array, Array]:
        """The same of the multipliers that the state has, in Ground. Needs ACCELERATION."""
        return self._forces(state, "get_constraint_forces_as_vectors", self.get_multipliers_as_vector(state))

    def get_constrained_body_forces_as_vector(self, state: State) -> Array:
        """The first of `get_constraint_forces_as_vectors`: on its bodies, in Ground ``(nb, 2, 3)``. Needs ACCELERATION."""
        return self.get_constraint_forces_as_vectors(state)[0]

    def get_constrained_mobility_forces_as_vector(self, state: State) -> Array:
        """The second of `get_constraint_forces_as_vectors`: one a u of its mobilizers. Needs ACCELERATION."""
        return self.get_constraint_forces_as_vectors(state)[1]

    def _forces(self, state: State, asked: str, multipliers: npt.ArrayLike) -> tuple[Array, Array]:
        self.matter.velocities(state, f"{asked} of {self._name!r}")
        rows = self.own_rows(state)
        values = checks.shaped(f"multipliers of {self._name!r}", multipliers, rows.shape)
        n, tree, record = len(self.constrained_bodies), state.tree, state.record
        speeds = int(tree.fields["num_speeds"][self.index])
        if len(rows) == 0:
            return np.zeros((n, 2, 3)), np.zeros(speeds)
        first, at = int(tree.fields["first_wrench"][self.index]), int(tree.fields["first_speed"][self.index])
        wrenches = record.wrenches[first : first + len(rows) * n].reshape(len(rows), n, 2, 3)
        coefficients = record.speed_coefficients[at : at + len(rows) * speeds].reshape(len(rows), speeds)
        return np.tensordot(values, wrenches, 1), values @ coefficients

    def calc_power(self, state: State) -> float:
        """The power of its forces, positive where they add energy; zero of most kinds. Needs ACCELERATION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> loop = system.matter.constraints[0]
        >>> system.realize(state)
        >>> bool(abs(loop.calc_power(state)) < 1e-6)
        True
        """
        F, f = self.get_constraint_forces_as_vectors(state)
        power = 0.0
        for body, one in zip(self.constrained_bodies, F, strict=True):
            power -= float(np.sum(one * body.get_body_velocity(state)))
        u = [body.get_u_as_vector(state) for body in self.constrained_mobilizers]
        return power - (float(f @ np.concatenate(u)) if u else 0.0)

    # ------------------------------------------------------------------------------------------ matrices

    def calc_position_constraint_matrix_p(self, state: State) -> Array:
        """P ``(mp, nu)``: the rows of G of its position equations. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> loop = system.matter.constraints[0]
        >>> system.realize(state)
        >>> loop.calc_position_constraint_matrix_p(state).shape
        (3, 3)
        """
        return self._rows_of_g(state, "calc_position_constraint_matrix_p", (0,))

    def calc_position_constraint_matrix_pt(self, state: State) -> Array:
        """The transpose of P ``(nu, mp)``. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> loop = system.matter.constraints[0]
        >>> system.realize(state)
        >>> loop.calc_position_constraint_matrix_pt(state).shape
        (3, 3)
        """
        return self.calc_position_constraint_matrix_p(state).T.copy()

    def calc_position_constraint_matrix_p_n_inv(self, state: State) -> Array:
        """P N^-1 ``(mp, nq)``: the coefficients of q_dot in its position equations. Needs POSITION.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> loop = system.matter.constraints[0]
        >>> system.realize(state)
        >>> loop.calc_position_constraint_matrix_p_n_inv(state).shape
        (3, 3)
        """
        P = self.calc_position_constraint_matrix_p(state)
        rows = [self.matter.multiply_by_n_inv(state, True, row) for row in P]
        return np.reshape(rows, (len(P), state.tree.nq))

    def calc_velocity_constraint_matrix_v(self, state: State) -> Array:
        """V ``(mv, nu)``: the rows of G of its velocity equations. Needs VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> loop = system.matter.constraints[0]
        >>> system.realize(state)
        >>> loop.calc_velocity_constraint_matrix_v(state).shape
        (0, 3)
        """
        self.matter.velocities(state, f"calc_velocity_constraint_matrix_v of {self._name!r}")
        return self._rows_of_g(state, "calc_velocity_constraint_matrix_v", (1,))

    def calc_velocity_constraint_matrix_vt(self, state: State) -> Array:
        """The transpose of V ``(nu, mv)``. Needs VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> loop = system.matter.constraints[0]
        >>> system.realize(state)
        >>> loop.calc_velocity_constraint_matrix_vt(state).shape
        (3, 0)
        """
        return self.calc_velocity_constraint_matrix_v(state).T.copy()

    def calc_acceleration_constraint_matrix_a(self, state: State) -> Array:
        """A ``(ma, nu)``: the rows of G of its equations of accelerations alone. Needs VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> loop = system.matter.constraints[0]
        >>> system.realize(state)
        >>> loop.calc_acceleration_constraint_matrix_a(state).shape
        (0, 3)
        """
        self.matter.velocities(state, f"calc_acceleration_constraint_matrix_a of {self._name!r}")
        return self._rows_of_g(state, "calc_acceleration_constraint_matrix_a", (2,))

    def calc_acceleration_constraint_matrix_at(self, state: State) -> Array:
        """The transpose of A ``(nu, ma)``. Needs VELOCITY.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.four_bar.build()
        >>> loop = system.matter.constraints[0]
        >>> system.realize(state)
        >>> loop.calc_acceleration_constraint_matrix_at(state).shape
        (3, 0)
        """
        return self.calc_acceleration_constraint_matrix_a(state).T.copy()

    def _rows_of_g(self, state: State, asked: str, which: tuple[int, ...]) -> Array:
        self.matter.positions(state, f"{asked} of {self._name!r}")
        rows = np.concatenate([self.own_rows(state, level) for level in which])
        return self.matter.explicit_g(state)[rows]

    # ------------------------------------------------------------------------------------------ for pictures

    def marks(self, state: State) -> list[Mark]:
        """Its decorations on bodies, in their frames."""
        return []

    def lines(self, state: State) -> list[Line]:
        """Its lines between bodies: two bodies, each with a point of it, and a colour."""
        return []

    # ------------------------------------------------------------------------------------------ for the tree

    def body_indices(self) -> list[int]:
        return [body.get_mobilized_body_index() for body in self.constrained_bodies]

    def mobilizer_indices(self) -> list[int]:
        return [body.get_mobilized_body_index() for body in self.constrained_mobilizers]

    def tied_bodies(self) -> list[MobilizedBody]:
        """Bodies that need relative motion for it to restrain; none where it acts on mobilizers too."""
        return [] if self.constrained_mobilizers else self.constrained_bodies

    def reach(self) -> tuple[list[int], list[int]]:
        """The bodies whose motion it reads, and those of whose mobilizers it reads coordinates or speeds."""
        ancestor = [self.get_ancestor_mobilized_body().get_mobilized_body_index()] if self.reads_ancestor else []
        return [*self.body_indices(), *ancestor], self.mobilizer_indices()

    def equations(self) -> tuple[int, int, int]:
        return self.number_of_equations

    def calc_decorations(self, state: State) -> list[Decoration]:
        """Decorations in Ground, beside the bodies."""
        return []

    def not_finite(self, state: State) -> str | None:
        """Name those of its numbers that are not finite, in a state that failed to be realized; None where all are."""
        record, rows = state.record, self.own_rows(state)
        fields, n = state.tree.fields, len(rows) * len(self.constrained_bodies)
        first, speeds = int(fields["first_wrench"][self.index]), len(rows) * int(fields["num_speeds"][self.index])
        at = int(fields["first_speed"][self.index])
        for what, numbers in (
            ("position errors", record.position_error[rows]),
            ("forces of unit multipliers", record.wrenches[first : first + n]),
            ("coefficients of speeds", record.speed_coefficients[at : at + speeds]),
            ("velocity errors", record.velocity_offset[rows]),
            ("acceleration errors", record.acceleration_offset[rows]),
        ):
            if not np.isfinite(numbers).all():
                return f"{what} of {self!r} are not finite at q = {state.q_values[: state.tree.nq].tolist()}"
        return None

    def check_coordinates(self, num_q: Sequence[int]) -> None:
        """Refuse coordinates that the bodies do not have in the present modelling choice."""

    def pack_integers(self) -> list[int]:
        return []

    def pack_numbers(self) -> list[float]:
        return list(self.default_numbers)

    def defaults_changed(self) -> None:
        self.matter.invalidate_topology()

    def model(self, state: State, asked: str) -> None:
        if state.token is not self.matter.token or state.stage_number < Stage.MODEL:  # else the text need not be made
            state.tree_of(self.matter.ground, f"{asked} of {self._name!r}")

    def number_place(self, state: State, asked: str) -> tuple[str, int, int]:
        self.model(state, asked)
        return "constraint_numbers", int(state.tree.fields["constraint_first_number"][self.index]), len(self.pack_numbers())


def _line(body: MobilizedBody) -> list[MobilizedBody]:
    """From Ground to the body."""
    line = [body]
    while not line[-1].is_ground():
        line.append(line[-1].get_parent_mobilized_body())
    return line[::-1]


def bodies_named(who: str, given: Sequence[Any], matter: Any = None) -> list[MobilizedBody]:
    """Bodies given as objects, or by index or name in *matter*: that of the first body that is an object unless given."""
    for body in given:
        if matter is None and hasattr(body, "get_matter_subsystem"):
            matter = body.get_matter_subsystem()
    found: list[MobilizedBody] = []
    for body in given:
        if hasattr(body, "get_matter_subsystem"):
            found.append(body)
            continue
        named = isinstance(body, str) or (hasattr(body, "__index__") and not isinstance(body, bool))
        if not named:
            raise TypeError(f"{who} takes mobilized bodies, not {body!r}")
        if matter is None:
            raise TypeError(
                f"{who} takes mobilized bodies, not {body!r}: an index or a name needs another body, given as an object, that "
                "tells of which system it is; take it from matter.bodies"
            )
        found.append(matter.find_body(body))
    return found


def one_of(who: str, what: str, body: Any, which: Any, n: int) -> int:
    """The index of a coordinate or speed of *body*, which has *n*; *what* is its name, and "q" or "u" its end."""
    if not hasattr(body, "get_matter_subsystem"):
        bodies_named(who, [body])
    i = checks.integer(f"{what} of {who}", which)
    if not 0 <= i < n:
        letter = what[-1] if what[-1] in "qu" else "coordinates" if what.startswith("coordinate") else "speeds"
        raise IndexError(f"{what} of {who} is {which}; {body.name!r} has {n} {letter}, counted from 0")
    return i
