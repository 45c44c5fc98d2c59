"""Reference: functions of time, with their rates."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ModelError
from ..function import Function
from ..function.routines import is_compiled
from ..tree import sampling
from ..value.checks import instance
from .input import Input, Packing


class Reference(Input):
    """n functions of time ``(3, n)``: their values, their rates, and the rates of these.

    Parameters
    ----------
    functions : Function, or sequence of Function
        Of `mobod.function`, of one argument: splines, sinusoids, polynomials, steps, expressions; of sampled data, a spline or
        `PiecewiseLinear` through them.

    Raises
    ------
    TypeError
        If one is none.
    ModelError
        If one is computed by Python, or has not one argument.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.control.Reference([mb.function.Sinusoid(0.3, 2.0, 0.0)])
    >>> isinstance(part, mb.control.Input)
    True
    """

    def __init__(self, functions: Function | Sequence[Function]) -> None:
        listed = [functions] if isinstance(functions, Function) else list(functions)
        for one in listed:
            instance("a reference", one, Function, "mobod.function.Sinusoid(1.0, 2.0, 0.0)")
            if not is_compiled(one):
                raise ModelError(f"{one!r} is computed by Python, which compiled steps cannot call; write it as an Expression")
            if one.get_argument_size() != 1:
                raise ModelError(f"{one!r} takes {one.get_argument_size()} arguments; a reference is a function of time alone")
        self.functions = [(one, [0]) for one in listed]

    def shape(self, nq: int, nu: int) -> tuple[int, ...]:
        return 3, len(self.functions)

    def pack(self, packing: Packing, size: int) -> int:
        first, packing.first_function = packing.first_function, packing.first_function + len(self.functions)
        return packing.ask(sampling.REFERENCE, size, len(self.functions), first)
