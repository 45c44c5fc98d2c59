"""Custom: a measure that its user writes, in Python or as functions that are compiled."""

from __future__ import annotations

from typing import Any

from ..errors import ModelError
from ..function.users import check_form
from ..state.state import State
from ..value.stage import Stage
from . import _store
from ._custom_compiled import CompiledFunctions, OfCompiledFunctions
from .base import Joined, Measure, check_shape
from .custom_implementation import HOOKS, CustomImplementation
from .program import Program


class Custom(Measure):
    """A measure that its user writes, in one of two ways.

    Parameters
    ----------
    implementation : CustomImplementation, optional
        An instance of a class of the user's, in Python; it may hold bodies, parameters, other measures.
    compiled : CompiledFunctions, optional
        Functions of numbers and tuples. Measures that integrate or remember what these give leave the system compiled.
    shape : () or (n,)
        Of the value: a number unless given.

    Raises
    ------
    TypeError
        If neither is given, or both, or something else.
    ModelError
        If compiled functions do not take or return what they should, with floats, eight states at a time or dual numbers; and
        when topology is realized, if they cannot be compiled.

    Examples
    --------
    How far a pendulum's tip has gone, as the integral of its speed:

    >>> import mobod as mb
    >>> from mobod.algebra import sqrt
    >>> system, state = mb.examples.double_pendulum.build()
    >>> def speed(t, X, V, q, u, parameters):
    ...     x, y, z = V[0][1]
    ...     return sqrt(x * x + y * y + z * z + 1e-12)
    >>> functions = mb.measure.CompiledFunctions(speed, bodies=[system.matter.bodies[2]])
    >>> way = mb.measure.Integrate(system.matter, mb.measure.Custom(system.matter, compiled=functions))
    """

    def __init__(
        self,
        subsystem: Joined,
        implementation: CustomImplementation | None = None,
        *,
        compiled: CompiledFunctions | None = None,
        shape: tuple[int, ...] = (),
        name: str | None = None,
    ) -> None:
        check_form(implementation, compiled, CustomImplementation, CompiledFunctions)
        if compiled is not None:
            implementation = OfCompiledFunctions(compiled, check_shape(shape, "a Custom measure"))
        assert implementation is not None
        self.implementation = implementation
        self._places: list[int] = []
        self._begun = -1
        super().__init__(subsystem, check_shape(shape, "a Custom measure"), name=name)

    def get_implementation(self) -> CustomImplementation:
        """The user's own object; `ModelError` where the measure is compiled functions."""
        if isinstance(self.implementation, OfCompiledFunctions):
            raise ModelError(f"{self!r} has no implementation in Python; call get_compiled_functions()")
        return self.implementation

    def get_compiled_functions(self) -> CompiledFunctions:
        """The user's functions; `ModelError` where the measure is an implementation in Python."""
        if not isinstance(self.implementation, OfCompiledFunctions):
            raise ModelError(f"{self!r} is an implementation in Python; call get_implementation()")
        return self.implementation.functions

    def initialize(self, state: State) -> None:
        """Begin anew: the user's `CustomImplementation.initialize` is called with this state."""
        self._need_model(state, "initialize")
        self.implementation.initialize(state)
        if self._has_own("initialize"):
            _store.part(self._need_subsystem(), state).variables[self._begun].value = True

    # ------------------------------------------------------------------------------------------ for the base class

    def _calc(self, state: State, deriv_order: int) -> Any:
        subsystem, kept = self.subsystem, min(self.implementation.get_num_cache_entries(), len(self._places))
        if subsystem is None or deriv_order >= kept:  # nowhere to keep it
            return self.calc_anew(state, deriv_order)
        owner, place = type(self.implementation).__name__, self._places[deriv_order]
        resources = state.upd_resources()
        entry = resources.part(subsystem.subsystem_index).entries[place]
        if not resources.is_realized(state, subsystem.subsystem_index, place):
            value = self.implementation.calc_cached_value(state, deriv_order)
            entry.value = self._computed(value, f"calc_cached_value of {owner}, in").copy()
            resources.mark(state, subsystem.subsystem_index, place)
        return self._given(entry.value)

    def calc_anew(self, state: State, deriv_order: int) -> Any:
        """The value or a derivative by the user's object, of which nothing is kept."""
        kept = deriv_order < self.implementation.get_num_cache_entries()
        method = "calc_cached_value" if kept else "get_uncached_value"
        value = getattr(self.implementation, method)(state, deriv_order)
        if isinstance(value, float) and self._shape == ():
            return float(value)
        return self._given(self._computed(value, f"{method} of {type(self.implementation).__name__}, in"))

    def count_derivatives(self, seen: frozenset[int]) -> int:
        return int(self.implementation.get_num_time_derivatives())

    def depends_on(self, deriv_order: int) -> Stage:
        stage = self.implementation.get_depends_on_stage(deriv_order)
        if not isinstance(stage, Stage):
            raise ModelError(
                f"get_depends_on_stage of {type(self.implementation).__name__} has to return a Stage, not {stage!r}"
            )
        return stage

    def _has_own(self, method: str) -> bool:
        return getattr(type(self.implementation), method) is not getattr(CustomImplementation, method)

    def takes_part(self) -> bool:
        return self._has_own("initialize") or any(
            self._has_own(hook) for stage, hook in HOOKS.items() if stage > Stage.TOPOLOGY
        )

    def allocates_by_hook(self) -> bool:
        return self._has_own("realize_measure_topology")

    def allocate(self, state: State) -> None:
        subsystem = self._need_subsystem()
        self._places = [
            _store.allocate_entry(subsystem, state, max(self.depends_on(order), Stage.TOPOLOGY), None)
            for order in range(self.implementation.get_num_cache_entries())
        ]
        if self._has_own("initialize"):
            self._begun = _store.allocate_variable(subsystem, state, Stage.REPORT, False)
        self.implementation.realize_measure_topology(state)

    def has_begun(self, state: State) -> bool:
        if not self._has_own("initialize"):  # which has nothing to do
            return True
        return bool(_store.part(self._need_subsystem(), state).variables[self._begun].value)

    def begin(self, state: State) -> None:
        self.initialize(state)

    def write_value(self, program: Program, order: int) -> int:
        functions = self.implementation
        if not isinstance(functions, OfCompiledFunctions):
            return program.call_python(self, order)
        bodies = [body.index for body in (*functions.bodies, *functions.mobilizers)]
        return program.call(functions.routines[order], *bodies, program.keep(functions.parameters), results=self.default.size)

    def update(self, state: State, stage: Stage) -> None:
        getattr(self.implementation, HOOKS[stage])(state)


__all__ = ["CompiledFunctions", "Custom", "CustomImplementation"]
