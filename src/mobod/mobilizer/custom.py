"""Custom: a mobilizer that its user writes; up to 7 coordinates, up to 6 speeds.

V_FM = H_FM(q) u   A_FM = H_FM udot + HDot_FM u   q_dot = N(q) u   with all of them the user's, or derivatives of X_FM(q)
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..body import Body
from ..decoration.of_users import users_decorations
from ..errors import ModelError
from ..function.users import check_form
from ..state.named_parameters import NamedParameters, names_and_values
from ..state.of_each import all_numbers, of_each
from ..state.state import State
from ..value import Rotation, Transform
from ..value.checks import integer, numbers, shaped
from ..value.frames import frame
from ..value.stage import Stage
from ._custom_compiled import CompiledFunctions, facts_of
from ._pose_fit import fit_q, fit_translation
from .base import Direction, Facts, MobilizedBody
from .custom_implementation import MOST_SPEEDS, CustomImplementation
from .custom_python import INTERPRETED, ByImplementation, checked, not_a_function_of_q


class Custom(NamedParameters, MobilizedBody):
    """A mobilizer that its user writes, in one of three forms.

    Parameters
    ----------
    parent : MobilizedBody
        The body it is connected to.
    body : Body
        Mass properties and decorations.
    implementation : CustomImplementation, optional
        An object with methods, in Python: for anything that Python can do. The system's states are then realized
        interpreted, which costs what the methods cost and some microseconds; the sweeps are compiled as ever.
    compiled : CompiledFunctions, optional
        Functions of numbers and tuples, which alone are compiled: as fast as a built-in kind.
    transform : callable, optional
        A joint from its pose alone: ``transform(q, parameters) -> (R, p)``, written and compiled as those of
        `CompiledFunctions`, of `num_q` coordinates whose rates are the speeds. Hinge columns and their rates are its
        first and second derivatives, by dual numbers: exact.
    num_q : int, optional
        With *transform*: the number of coordinates, 1 to 6.
    parameters : sequence of float, or mapping of str to float
        Numbers that every state has a copy of, which it can change: lengths, radii, a pitch; a mapping gives them names,
        see `set_parameter`.

    Raises
    ------
    TypeError
        If not exactly one of *implementation*, *compiled* and *transform* is given.
    ModelError
        If the implementation is of another matter, or of another body already; if a function does not take or return what it
        should, which is tried out; if a parameter is not finite. What only the compiler finds is raised by
        `MultibodySystem.realize_topology`, or by `Ensemble.realize`.

    See Also
    --------
    check_custom : compares what the user wrote with finite differences.

    Examples
    --------
    A bead on a helix, which turns with it: one coordinate, two parameters.

    >>> import mobod as mb
    >>> from mobod.algebra import rotation
    >>> def helix(q, parameters):
    ...     (angle,), (radius, pitch) = q, parameters
    ...     R = rotation.about_z(angle)
    ...     return R, (radius * R[0], radius * R[3], pitch * angle)
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> bead = mb.mobilizer.Custom(matter.ground, body, transform=helix, num_q=1, parameters=(1.0, 0.2), name="bead")
    >>> state = system.realize_topology()
    >>> bead.set_u(state, 2.0)
    >>> system.realize(state, mb.Stage.VELOCITY)
    >>> bead.get_mobilizer_velocity(state)
    array([[0. , 0. , 2. ],
           [0. , 2. , 0.4]])
    """

    _always_arrays = True
    keeps_rates_of_columns = True

    def __init__(
        self,
        parent: MobilizedBody,
        body: Body,
        implementation: CustomImplementation | None = None,
        *,
        compiled: CompiledFunctions | None = None,
        transform: Callable[..., Any] | None = None,
        num_q: int | None = None,
        parameters: Sequence[float] | Mapping[str, float] = (),
        X_PF: Transform | None = None,
        X_BM: Transform | None = None,
        direction: Direction = Direction.FORWARD,
        name: str | None = None,
    ) -> None:
        self.parameter_names, values = names_and_values(parameters)
        self._default_parameters = _numbers("parameters", values)
        self.implementation, self._compiled = implementation, _functions(implementation, compiled, transform, num_q)
        self.is_of_users_functions = implementation is None
        if implementation is not None:
            _check_usable(implementation, parent)
            self.interpreter = ByImplementation(implementation)
            self.facts = _facts_of(implementation, len(self._default_parameters))
        else:
            assert self._compiled is not None
            self.facts = facts_of(self._compiled, self._default_parameters)
        super().__init__(parent, body, X_PF=X_PF, X_BM=X_BM, direction=direction, name=name)
        if implementation is not None:
            implementation.bound_mobod = self

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "facts": _Facts(self.facts)} if self._compiled is not None else self.__dict__

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        if self._compiled is not None:
            facts = kept["facts"].facts
            self.facts = facts_of(self._compiled, self._default_parameters) if facts is None else facts

    def get_implementation(self) -> CustomImplementation:
        """The user's own object; `ModelError` where the mobilizer is of compiled functions."""
        if self.implementation is None:
            raise ModelError(f"{self._name!r} is made of compiled functions, and has no implementation")
        return self.implementation

    def upd_implementation(self) -> CustomImplementation:
        """The user's own object, for changing; a topological change."""
        implementation = self.get_implementation()
        self.instance_changed()
        return implementation

    def clone_for_new_parent(self, parent: MobilizedBody) -> MobilizedBody:
        """A new body of the same kind and settings on another parent; its implementation is a shallow copy of this one's."""
        if self.implementation is None:
            other = self._clone(parent, self._settings())
            other.facts = self.facts  # the functions as they were
            return other
        implementation = copy.copy(self.implementation)
        implementation.declared_matter, implementation.bound_mobod = parent.get_matter_subsystem(), None
        return self._clone(parent, {**self._settings(), "implementation": implementation})

    def _settings(self) -> dict[str, Any]:
        parameters: Any = self._default_parameters
        if self.parameter_names:
            parameters = dict(zip(self.parameter_names, parameters, strict=True))
        settings = {"implementation": self.implementation, "compiled": self._compiled, "parameters": parameters}
        return {name: value for name, value in settings.items() if value is not None}

    def calc_decorations(self, state: State) -> list[Any]:
        return users_decorations(self.implementation, state, self._name)

    def not_finite(self, state: State) -> str | None:
        if self._compiled is None:
            return None
        record, b, reverse = state.record, self.index, self._direction is Direction.REVERSE
        part, parameters = self.u_slice(state), self.get_parameters(state).tolist()
        first, n = int(state.tree.fields["first_n"][b]), self.get_num_q(state) * self.facts.num_u
        run = slice(first, first + n if self.facts.has_matrix_n else first)
        where = f"at q = {self.get_q_as_vector(state).tolist()}"
        for names, rows in (
            (("transform",), (record.R_FM[b], record.p_FM[b])),
            (("hinge", "transform"), ((record.H_MF if reverse else record.H_FM)[part],)),
            (("n",), (record.N[run],)),
            (("n_inv",), (record.N_inv[run],)),
            (("hinge_dot", "hinge", "transform"), ((record.HDot_MF if reverse else record.HDot_FM)[part],)),
            (("n_dot", "n"), (record.N_dot[run],)),
        ):
            if names[0] in ("hinge_dot", "n_dot"):
                where = f"at q = {self.get_q_as_vector(state).tolist()}, u = {self.get_u_as_vector(state).tolist()}"
            if not all(np.isfinite(row).all() for row in rows):
                name = next(name for name in names if getattr(self._compiled, name) is not None)
                derivative = ("", "the derivative of ", "the second derivative of ")[names.index(name)]
                given = getattr(self._compiled, name).__qualname__
                said = f"{derivative}{name} ({given}) of {self._name!r}"
                return f"{said} is not finite {where}" + (f", parameters = {parameters}" if parameters else "")
        return None

    # ------------------------------------------------------------------------------------------ parameters

    def pack_parameters(self) -> Sequence[float]:
        return self._default_parameters

    def get_default_parameters(self) -> Array:
        """The parameters of a default state."""
        return np.array(self._default_parameters)

    def set_default_parameters(self, parameters: ArrayLike | Mapping[str, float]) -> Custom:
        """Change the parameters of a default state, all, or those that a mapping names; a topological change.

        Raises
        ------
        ModelError
            If there are not as many as before, or one is not finite.
        """
        self._default_parameters = self._as_many(parameters, self._default_parameters)
        self.instance_changed()
        return self

    def get_parameters(self, state: State) -> Array:
        """The parameters in this state. Needs MODEL."""
        return self.number_run(state, "get_parameters").copy()

    @of_each(all_numbers)
    def set_parameters(self, state: State, parameters: ArrayLike | Mapping[str, float]) -> None:
        """Change the parameters in this state alone, all, or those that a mapping names; it falls to MODEL at most."""
        if not self.put_in(state, parameters, 0, (self.facts.num_parameters,)):
            values = self._as_many(parameters, self.number_run(state, "set_parameters"))
            self.number_run(state, "set_parameters", True)[:] = values

    def _as_many(self, parameters: Any, now: Any) -> tuple[float, ...]:
        values = _numbers(f"parameters of {self._name!r}", self.with_names(parameters, now))
        if len(values) != self.facts.num_parameters:
            raise ModelError(f"{self._name!r} has {self.facts.num_parameters} parameters, got {len(values)}")
        return values

    # ------------------------------------------------------------------------------------------ fits

    def set_q_to_fit_transform(self, state: State, X_FM: Transform) -> None:
        """Set q so that the pose of M in F is as near to X_FM as can be found.

        Unless the implementation has its own fit: nearest in the sum of the squares of the angle between the orientations and
        of the distance between the origins, over their distance from F. Never an error for a request out of reach.
        """
        X = frame("X_FM", X_FM)
        mine = self.implementation
        if mine is not None and mine.overrides("set_q_to_fit_transform"):
            own = ~X if self._direction is Direction.REVERSE else X
            q = mine.set_q_to_fit_transform(self.realized(state, Stage.INSTANCE), own)
            shape = (self.get_num_q(state),)
            self.set_q(state, checked(q, shape, f"set_q_to_fit_transform of {self._name!r}", f"for {own!r}"))
            return
        self.set_q(state, fit_q(self, state, np.asarray(X.R), np.asarray(X.p)))

    def set_q_to_fit_rotation(self, state: State, R_FM: Rotation) -> None:
        """Set q so that the orientation of M in F is as near to R_FM as can be found."""
        R = R_FM if isinstance(R_FM, Rotation) else Rotation(R_FM)
        self.set_q(state, fit_q(self, state, np.asarray(R), None))

    def set_q_to_fit_translation(self, state: State, p_FM: ArrayLike) -> None:
        """Set q so that the origin of M is in F as near to p_FM as can be found, without turning M if possible."""
        self.set_q(state, fit_translation(self, state, shaped("p_FM", p_FM, (3,))))

    def set_u_to_fit_velocity(self, state: State, V_FM: ArrayLike) -> None:
        """Set u so that the velocity of M in F is as near to V_FM ``(2, 3)`` as can be at the present q."""
        mine = self.implementation
        if mine is None or not mine.overrides("set_u_to_fit_velocity"):
            super().set_u_to_fit_velocity(state, V_FM)
            return
        V = shaped("V_FM", V_FM, (2, 3))
        realized = self.realized(state, Stage.POSITION)
        if self._direction is Direction.REVERSE:  # of F in M, expressed in M
            X_FM = self.get_mobilizer_transform(realized)
            R = np.asarray(X_FM.R)
            V = np.array([-V[0] @ R, (np.cross(V[0], X_FM.p) - V[1]) @ R])
        u = mine.set_u_to_fit_velocity(realized, V)
        shape = (self.facts.num_u,)
        self.set_u(state, checked(u, shape, f"set_u_to_fit_velocity of {self._name!r}", f"for {V.tolist()}"))


class _Facts:
    """Facts that hold compiled code: copies of the mobilizer in this process share them, another process makes them again."""

    def __init__(self, facts: Facts | None = None) -> None:
        self.facts = facts

    def __deepcopy__(self, memo: Any) -> _Facts:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _Facts, ()


def _functions(implementation: Any, compiled: Any, transform: Any, num_q: Any) -> CompiledFunctions | None:
    """The functions that a mobilizer is made of; None for one that has an implementation."""
    forms = {"implementation": implementation, "compiled": compiled, "transform": transform}
    given = [name for name, value in forms.items() if value is not None]
    if len(given) != 1:
        raise TypeError(
            "a Custom is given either an implementation, or compiled=CompiledFunctions(...), or transform=function with "
            f"num_q; got {' and '.join(given) or 'none of them'}"
        )
    if (num_q is None) != (transform is None):
        raise TypeError("num_q, the number of coordinates, belongs to transform, and transform needs it")
    if transform is not None:
        integer("num_q", num_q)
        if not 1 <= num_q <= MOST_SPEEDS:
            raise ModelError(f"num_q is {num_q}; a mobilizer has 1 to {MOST_SPEEDS} speeds, and here as many coordinates")
        return CompiledFunctions(num_q=num_q, num_u=num_q, transform=transform)
    check_form(implementation, compiled, CustomImplementation, CompiledFunctions)
    return compiled


def _check_usable(implementation: Any, parent: Any) -> None:
    """Refuse an implementation that cannot be that of a new body on *parent*."""
    if "declared_nu" not in vars(implementation):
        raise ModelError(f"{type(implementation).__name__}.__init__ has to call super().__init__(matter, nu, nq)")
    if implementation.bound_mobod is not None:
        raise ModelError(f"{implementation!r} belongs to {implementation.bound_mobod.name!r} already; make one for each body")
    if isinstance(parent, MobilizedBody) and parent.get_matter_subsystem() is not implementation.declared_matter:
        raise ModelError(f"{implementation!r} was made for another matter subsystem than that of the parent {parent.name!r}")


def _facts_of(implementation: CustomImplementation, num_parameters: int) -> Facts:
    has_quaternion = implementation.declared_angles == 4
    return Facts(
        INTERPRETED,
        num_q=implementation.declared_nq,
        num_u=implementation.declared_nu,
        transform=not_a_function_of_q,
        hinge=not_a_function_of_q,
        transform_euler=not_a_function_of_q if has_quaternion else None,
        constant_hinge=False,
        num_parameters=num_parameters,
        has_matrix_n=implementation.overrides("multiply_by_n"),
    )


def _numbers(what: str, values: Any) -> tuple[float, ...]:
    array = numbers(what, values)
    if array.ndim != 1:
        raise ModelError(f"{what} have to be a sequence of numbers, got {values!r}")
    if not np.isfinite(array).all():
        raise ModelError(f"{what} have to be finite, got {array.tolist()}")
    return tuple(array.tolist())
