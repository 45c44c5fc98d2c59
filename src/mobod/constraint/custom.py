"""Custom: a constraint that its user writes, in Python or as a function that is compiled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..compiling import Routine
from ..decoration.geometry import Decoration
from ..decoration.of_users import users_decorations
from ..errors import ModelError
from ..function.users import check_form
from ..state.named_parameters import NamedParameters, names_and_values
from ..state.of_each import all_numbers, of_each
from ..state.state import State
from ..value import checks
from ._custom_compiled import CompiledFunctions, freeze, routine_of, takes_time, try_out
from ._custom_python import ByImplementation
from .base import AnyBody, Constraint, bodies_named
from .custom_implementation import CustomImplementation


class Custom(NamedParameters, Constraint):
    """A constraint that its user writes, in one of two forms.

    Parameters
    ----------
    implementation : CustomImplementation, optional
        An object with methods, in Python: equations of any kind, between any bodies and mobilizers, with anything that Python
        can do. The system's states are then realized interpreted, which costs what the methods cost and some hundred
        microseconds; the sweeps are compiled as ever.
    compiled : CompiledFunctions, optional
        Equations of positions as one function of numbers, which is compiled: as fast as a built-in kind.
    disabled_by_default : bool, optional
        Whether states start with it switched off; as the implementation says unless given.
    name : str, optional
        Unique among the constraints; one is made where none is given.

    Raises
    ------
    TypeError
        If not exactly one of *implementation* and *compiled* is given.
    ModelError
        If the implementation is of another constraint already; if the function does not take or return what it should, which
        is tried out; if a parameter is not finite. What only the compiler finds is raised by
        `MultibodySystem.realize_topology`, or by `Ensemble.realize`.

    See Also
    --------
    check_custom : compares what the user wrote with finite differences.

    Examples
    --------
    A point of a body stays on a paraboloid z = x^2 + y^2:

    >>> import mobod as mb
    >>> def paraboloid(X, q, parameters):
    ...     ((R, p),) = X
    ...     return (p[2] - parameters[0] * (p[0] * p[0] + p[1] * p[1]),)
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.mobilizer.Translation(matter.ground, mb.body.Particle(1.0))
    >>> functions = mb.constraint.CompiledFunctions(paraboloid, bodies=[ball], parameters=[1.0])
    >>> bowl = mb.constraint.Custom(compiled=functions, name="bowl")
    >>> state = system.realize_topology()
    >>> state.q = 0.5, 0.0, 0.1
    >>> system.project(state)
    True
    >>> x, y, z = state.q
    >>> bool(abs(z - x * x - y * y) < 1e-8)
    True
    """

    depends_on_time = True  # an implementation's may
    reads_ancestor = True

    def __init__(
        self,
        implementation: CustomImplementation | None = None,
        *,
        compiled: CompiledFunctions | None = None,
        disabled_by_default: bool | None = None,
        name: str | None = None,
    ) -> None:
        check_form(implementation, compiled, CustomImplementation, CompiledFunctions)
        self.implementation, self._compiled = implementation, compiled
        self._parameters: tuple[float, ...] = ()
        if implementation is not None:
            _check_usable(implementation)
            self.interpreter = ByImplementation(self, implementation)
            off = implementation.declared_disabled if disabled_by_default is None else disabled_by_default
            super().__init__(
                implementation.declared_bodies,
                implementation.declared_mobilizers,
                equations=implementation.declared_equations,
                matter=implementation.declared_matter,
                disabled_by_default=off,
                name=name,
            )
            self.constrained_bodies, self.constrained_mobilizers = (
                implementation.declared_bodies,
                implementation.declared_mobilizers,
            )  # more can be added
            implementation.bound_constraint = self
            return
        assert compiled is not None
        self.depends_on_time = takes_time(compiled.position_error)
        self.parameter_names, values = names_and_values(compiled.parameters)
        self._parameters = _given_numbers("parameters", values)
        given_bodies: list[AnyBody] = list(compiled.bodies)
        named = bodies_named("a constraint.Custom", [*given_bodies, *compiled.mobilizers])
        bodies, mobilizers = named[: len(given_bodies)], named[len(given_bodies) :]
        for what, given in (("bodies", bodies), ("mobilizers", mobilizers)):
            if len(set(given)) != len(given):
                raise ModelError(f"{what} of a constraint.Custom names {given!r}; each of them once")
        for body in mobilizers:
            if body.facts.has_quaternion:
                raise ModelError(
                    f"{body.name!r} has a quaternion, in place of which a state can have angles: take its pose in place of its "
                    "coordinates, by naming it among bodies"
                )
        self.coordinates = [(i, j) for i, body in enumerate(mobilizers) for j in range(body.facts.num_q)]
        shape = len(bodies), len(self.coordinates)
        self._kept = _Kept(freeze(compiled, *shape, len(self._parameters)))
        num_q = [body.facts.num_q for body in mobilizers]
        try_out(self._kept.frozen, compiled.num_equations, len(bodies), num_q, self._parameters, self.depends_on_time)
        self._num_posed = len(bodies)
        super().__init__(
            bodies,
            mobilizers,
            equations=(int(compiled.num_equations), 0, 0),
            disabled_by_default=False if disabled_by_default is None else disabled_by_default,
            name=name,
        )

    @property
    def routine(self) -> Routine | None:  # type: ignore[override]
        """The routine that kernels call; None for an implementation."""
        if self._compiled is None:
            return None
        if self._kept.frozen is None:  # in another process than the one that it was made in
            shape = self._num_posed, len(self.coordinates)
            self._kept = _Kept(freeze(self._compiled, *shape, len(self._parameters)))
        m, bodies, parameters = int(self._compiled.num_equations), self._num_posed, len(self._parameters)
        return routine_of(self._kept.frozen, m, bodies, self.coordinates, parameters, self.depends_on_time)

    def get_implementation(self) -> CustomImplementation:
        """The user's own object; `ModelError` where the constraint is of compiled functions."""
        if self.implementation is None:
            raise ModelError(f"{self._name!r} is made of compiled functions, and has no implementation")
        return self.implementation

    def upd_implementation(self) -> CustomImplementation:
        """The user's own object, for changing; a topological change."""
        implementation = self.get_implementation()
        self.matter.invalidate_topology()
        return implementation

    def calc_decorations(self, state: State) -> list[Decoration]:
        return users_decorations(self.implementation, state, self._name)

    # ------------------------------------------------------------------------------------------ parameters

    def pack_numbers(self) -> list[float]:
        return list(self._parameters)

    def get_default_parameters(self) -> Array:
        """The parameters of a default state."""
        return np.array(self._parameters)

    def set_default_parameters(self, parameters: npt.ArrayLike | Mapping[str, float]) -> Custom:
        """Change the parameters of a default state, all, or those that a mapping names; a topological change.

        Raises
        ------
        ModelError
            If there are not as many as before, or one is not finite.
        """
        self._parameters = self._as_many(parameters, self._parameters)
        self.matter.invalidate_topology()
        return self

    def get_parameters(self, state: State) -> Array:
        """The parameters in this state. Needs MODEL."""
        return self.number_run(state, "get_parameters").copy()

    @of_each(all_numbers)
    def set_parameters(self, state: State, parameters: npt.ArrayLike | Mapping[str, float]) -> None:
        """Change the parameters in this state alone, all, or those that a mapping names; it falls to MODEL at most."""
        if not self.put_in(state, parameters, 0, (len(self._parameters),)):
            values = self._as_many(parameters, self.number_run(state, "set_parameters"))
            self.number_run(state, "set_parameters", True)[:] = values

    def _as_many(self, parameters: Any, now: Any) -> tuple[float, ...]:
        values = _given_numbers(f"parameters of {self._name!r}", self.with_names(parameters, now))
        if len(values) != len(self._parameters):
            raise ModelError(f"{self._name!r} has {len(self._parameters)} parameters, got {len(values)}")
        return values


class _Kept:
    """Frozen functions: copies of the constraint in this process share them, another process makes them again."""

    def __init__(self, frozen: Any = None) -> None:
        self.frozen = frozen

    def __deepcopy__(self, memo: Any) -> _Kept:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _Kept, ()


def _check_usable(implementation: Any) -> None:
    if "declared_equations" not in vars(implementation):
        raise ModelError(f"{type(implementation).__name__}.__init__ has to call super().__init__(matter, mp, mv, ma)")
    if implementation.bound_constraint is not None:
        raise ModelError(
            f"{implementation!r} belongs to {implementation.bound_constraint.name!r} already; make one for each constraint"
        )
    if not implementation.declared_bodies and not implementation.declared_mobilizers:
        raise ModelError(
            f"{implementation!r} ties nothing: call add_constrained_body or add_constrained_mobilizer in its constructor"
        )


def _given_numbers(what: str, values: Any) -> tuple[float, ...]:
    array = checks.numbers(what, values)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise ModelError(f"{what} have to be a list of finite numbers, got {values!r}")
    return tuple(array.tolist())
