"""Value, gradient and its rate of functions given as callables, by `Dual` numbers in compiled code.

With x moving at the rates v, f at Duals of Duals, with tangents v inside and unit vectors outside, has f, g and H v. Where
first derivatives are given, Duals of one tangent v of these give H v; where a second one is, it does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..algebra.dual import Dual
from ..algebra.scalar import zero
from .users.unrolled import each, listed

Given = Callable[..., Any]


def jet_of_callables(count: int, function: Given, first: Sequence[Given] = (), second: Given | None = None) -> Given:
    """``jet(integers, i, numbers, n, x, v) -> (value, g, H v)``, x and the rates v being tuples.

    Parameters
    ----------
    count : int
        How many arguments there are. Callables take a number where it is one, else a tuple, of any scalar.
    function : callable
    first : sequence of callable
        Its first derivatives, one an argument; none where they are not given.
    second : callable, optional
        Its second derivative, of one argument.
    """
    names: dict[str, Any] = {"Dual": Dual, "zero": zero, "function": function, "second": second}
    names |= {f"first{k}": one for k, one in enumerate(first)}
    only = "[0]" if count == 1 else ""  # what a callable is given of a tuple
    moving, alone = each(count, "Dual(x[{i}], (v[{i}],))"), "o = zero(x[0])"
    if second is not None:
        lines = [alone, f"return function(x{only}) + o, (first0(x[0]) + o, ), ((second(x[0]) + o) * v[0], )"]
    elif first:
        lines = [alone, f"m = {moving}", "still = zero(m[0])"]
        lines += [f"g{k} = first{k}(m{only}) + still" for k in range(count)]
        slopes, bends = ([f"g{k}.{part}" for k in range(count)] for part in ("value", "tangents[0]"))
        lines.append(f"return function(x{only}) + o, {listed(slopes)}, {listed(bends)}")
    else:
        units = [each(count, f"1.0 if {{i}} == {k} else 0.0") for k in range(count)]
        lines = [f"w = {moving}", f"m = {listed([f'Dual(w[{k}], {unit})' for k, unit in enumerate(units)])}"]
        lines.append(f"y = function(m{only}) + zero(m[0])")  # a constant is a Dual then
        parts = each(count, "y.tangents[{i}].value"), each(count, "y.tangents[{i}].tangents[0]")
        lines.append(f"return y.value.value, {parts[0]}, {parts[1]}")
    body = "".join(f"    {line}\n" for line in lines)
    exec(compile(f"def jet(integers, i, numbers, n, x, v):\n{body}", "<callables>", "exec"), names)
    jet: Given = names["jet"]  # a plain function, of which all that it calls is fingerprinted
    jet.__module__ = __name__
    return jet
