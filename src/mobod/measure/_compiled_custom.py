"""A measure of compiled functions, as Python asks for it: the same functions, run as they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import ModelError
from ..mobilizer._users_tuples import checked_parameters
from ..stage import Stage
from ..tree.users_measures import Shape, measure_of
from .compiled_functions import CompiledFunctions
from .custom_implementation import CustomImplementation

if TYPE_CHECKING:
    from ..state import State

_STAGES = (Stage.MODEL, Stage.TIME, Stage.POSITION, Stage.VELOCITY)


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
        self.parameters = checked_parameters(functions.parameters)
        self._stages = [part[1] for part in parts]
        self._value_shape = shape
        self._make()

    def _make(self) -> None:
        facts = [body.facts for body in self.mobilizers]
        counts = tuple(one.num_q for one in facts), tuple(one.num_u for one in facts)
        size = self._value_shape[0] if self._value_shape else -1
        shape = Shape(len(self.bodies), *counts, len(self.parameters), size)
        given = [self.functions.value, *(part[0] for part in self.functions.derivatives)]
        names = ["value", *(f"derivative {k}" for k in range(1, len(given)))]
        made = [measure_of(f, name, shape, self.parameters) for f, name in zip(given, names, strict=True)]
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
        """None: they are quickly found."""
        return 0

    def calc_cached_value(self, state: State, deriv_order: int) -> npt.ArrayLike:
        """What the function returns."""
        return self.get_uncached_value(state, deriv_order)

    def get_uncached_value(self, state: State, deriv_order: int) -> npt.ArrayLike:
        """What the function returns."""
        record, stage = state._record, self._stages[deriv_order]

        def known(least: Stage, array: Any) -> Any:
            return array if stage >= least else np.full(np.shape(array), np.nan)

        X, V = [], []
        for body in self.bodies:
            b = body._index
            state._tree_of(body, "get_value")
            R, p, v = known(Stage.POSITION, record.R_GB[b]), known(Stage.POSITION, record.p_GB[b]), record.V_GB[b]
            X.append((tuple(R.tolist()), tuple(p.tolist())))
            v = known(Stage.VELOCITY, v)
            V.append((tuple(v[:3].tolist()), tuple(v[3:].tolist())))
        q, u = [], []
        for body in self.mobilizers:
            tree = state._tree_of(body, "get_value")
            q.append(tuple(state._q[tree.q_slices[body._index]].tolist()))
            u.append(tuple(known(Stage.VELOCITY, state._u[tree.u_slices[body._index]]).tolist()))
        arguments = state.time, tuple(X), tuple(V), tuple(q), tuple(u), tuple(self.parameters)
        value: npt.ArrayLike = self._functions[deriv_order](*arguments)
        return value


def _checked(body: Any, what: str) -> Any:
    if not hasattr(body, "get_mobilized_body_index"):
        raise TypeError(f"each of {what} has to be a MobilizedBody, not {body!r}")
    return body
