"""CompiledFunctions: a measure that its user writes as functions of numbers, for kernels and for Python.

A routine gets the record, the place of its integers, and where its value goes: see `program`. The integers are the bodies,
then the mobilizers, then the place of the parameters in `measure_numbers`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.scalar import load, zero
from ..compiling import Routine
from ..errors import ModelError
from ..function import users
from ..function.users.surroundings import ARGUMENTS, Counts, called, places
from ..function.users.unrolled import keep
from ..state.named_parameters import names_and_values
from ..state.state import State
from ..value.stage import Stage
from .custom_implementation import CustomImplementation

_STAGES = (Stage.MODEL, Stage.TIME, Stage.POSITION, Stage.VELOCITY)


@dataclasses.dataclass(frozen=True, eq=False)
class CompiledFunctions:
    """A measure as functions of numbers and tuples, for ``Custom(subsystem, compiled=CompiledFunctions(...))``.

    The functions are written as those of `mobod.force.CompiledFunctions`, get *t*, *X*, *V*, *q*, *u* and *parameters* as these
    do, and are frozen when the measure is made.

    Parameters
    ----------
    value : callable
        ``value(t, X, V, q, u, parameters)``: a number, or a tuple of as many as `Custom` is told.
    stage : Stage
        What the value needs: TIME, MODEL for q alone, POSITION where it reads X, VELOCITY where it reads V or u. What belongs
        to a higher stage is NaN when the measure is asked.
    derivatives : sequence of (callable, Stage)
        Its first, second, ... time derivative, where these are known, each a function like *value*.
    bodies : sequence of MobilizedBody
        The bodies whose motion it reads; Ground may be among them.
    mobilizers : sequence of MobilizedBody
        The bodies whose coordinates or speeds it reads: none with a quaternion.
    parameters : sequence of float, or mapping of str to float
        Numbers, 32 at most.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> def height(t, X, V, q, u, parameters):
    ...     (R, p), = X
    ...     return p[1]
    >>> functions = mb.measure.CompiledFunctions(height, mb.Stage.POSITION, bodies=[system.matter.bodies["lower"]])
    >>> part = mb.measure.Custom(system.matter, compiled=functions)
    >>> state = system.realize_topology()
    >>> state.q = 0.3, 0.4
    >>> system.realize(state)
    >>> round(float(part.get_value(state)), 3)
    -1.72
    """

    value: Callable[..., Any]
    stage: Stage = Stage.VELOCITY
    derivatives: Sequence[tuple[Callable[..., Any], Stage]] = ()
    bodies: Sequence[Any] = ()
    mobilizers: Sequence[Any] = ()
    parameters: npt.ArrayLike | Mapping[str, float] = ()


class OfCompiledFunctions(CustomImplementation):
    """The value and its derivatives by functions of numbers, which kernels can call too."""

    def __init__(self, functions: CompiledFunctions, shape: tuple[int, ...]) -> None:
        self.functions = functions
        parts = [(functions.value, functions.stage), *functions.derivatives]
        for part in parts:
            if not (isinstance(part, tuple) and len(part) == 2 and callable(part[0]) and part[1] in _STAGES):
                raise TypeError(
                    "CompiledFunctions of a measure takes functions, each with Stage.MODEL, TIME, POSITION or VELOCITY; got "
                    f"{part!r}"
                )
        self.bodies = [_checked(body, "bodies") for body in functions.bodies]
        self.mobilizers = [_checked(body, "mobilizers") for body in functions.mobilizers]
        for body in self.mobilizers:
            if body.facts.has_quaternion:
                raise ModelError(
                    f"{body!r} has a quaternion or three angles, as a state chooses, so that its q has no fixed size: name it "
                    "among bodies"
                )
        self.parameters = users.check_parameters(names_and_values(functions.parameters)[1])
        self._stages = [part[1] for part in parts]
        self._value_shape = shape
        self._make()

    def _make(self) -> None:
        shape = Counts.of(len(self.bodies), [body.facts for body in self.mobilizers], len(self.parameters))
        given = [self.functions.value, *(part[0] for part in self.functions.derivatives)]
        names = ["value", *(f"derivative {k}" for k in range(1, len(given)))]
        made = [_made(f, name, shape, self._value_shape, self.parameters) for f, name in zip(given, names, strict=True)]
        self._functions = [f.function for f, _ in made]
        #: What kernels call, one for each order.
        self.routines = [routine for _, routine in made]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_functions", "routines")}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._make()

    def get_depends_on_stage(self, deriv_order: int) -> Stage:
        """As the user says."""
        return self._stages[deriv_order]

    def get_num_time_derivatives(self) -> int:
        """As many as the user gives."""
        return len(self._stages) - 1

    def get_num_cache_entries(self) -> int:
        """None: they are cheap to compute."""
        return 0

    def calc_cached_value(self, state: State, deriv_order: int) -> npt.ArrayLike:
        """The function's result."""
        return self.get_uncached_value(state, deriv_order)

    def get_uncached_value(self, state: State, deriv_order: int) -> npt.ArrayLike:
        """The function's result."""
        record, stage = state.record, self._stages[deriv_order]

        def known(least: Stage, array: Any) -> Any:
            return array if stage >= least else np.full(np.shape(array), np.nan)

        X, V = [], []
        for body in self.bodies:
            b = body.index
            state.tree_of(body, "get_value")
            R, p, v = known(Stage.POSITION, record.R_GB[b]), known(Stage.POSITION, record.p_GB[b]), record.V_GB[b]
            X.append((tuple(R.tolist()), tuple(p.tolist())))
            v = known(Stage.VELOCITY, v)
            V.append((tuple(v[:3].tolist()), tuple(v[3:].tolist())))
        q, u = [], []
        for body in self.mobilizers:
            tree = state.tree_of(body, "get_value")
            q.append(tuple(state.q_values[tree.q_slices[body.index]].tolist()))
            u.append(tuple(known(Stage.VELOCITY, state.u_values[tree.u_slices[body.index]]).tolist()))
        arguments = state.time, tuple(X), tuple(V), tuple(q), tuple(u), tuple(self.parameters)
        return self._functions[deriv_order](*arguments)


def _checked(body: Any, what: str) -> Any:
    if not hasattr(body, "get_mobilized_body_index"):
        raise TypeError(f"each of {what} has to be a MobilizedBody, not {body!r}")
    return body


def _made(
    function: Any, what: str, shape: Counts, of_value: tuple[int, ...], parameters: list[float]
) -> tuple[users.Frozen, Routine]:
    """A user's function, which is checked and frozen, and the routine of it."""
    f = users.freeze(function, what, ARGUMENTS)
    wanted = f"a tuple of {of_value[0]} number{'s' if of_value[0] > 1 else ''}" if of_value else "a number"

    def check(value: Any, _: Any) -> None:
        users.check_tuples(f"{f.what} has to return {wanted}", value, of_value)

    users.try_out(f, places(ARGUMENTS, shape, parameters), shape.counts, check)

    def make() -> Callable[..., int]:
        value_of = called(f.function, ARGUMENTS, shape, "measure_code", "measure_numbers")
        put, of_parameters = keep(of_value), shape.num_bodies + len(shape.num_q)

        def value(model: Any, i: int, out: int) -> int:
            y = value_of(model, i, model.measure_code[i + of_parameters])
            put(model.measure_values, out, y, zero(load(model.time, 0, 0)))
            return 0

        return value

    return f, users.routine_of("measure", {what: f}, (shape, of_value), make)
