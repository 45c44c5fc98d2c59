"""The routine of a measure that is a user's function: it gets the record, the place of its integers, and where its value goes.

The integers are in `measure_code`: the bodies, then the mobilizers, then the place of the parameters in `measure_numbers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .._frozen import Frozen
from .._jit import Routine, generic
from ..algebra.memory import load3, load9, load_spatial
from ..algebra.scalar import load, zero
from ..mobilizer import _written as w
from ..mobilizer._access import VECTORS
from ..mobilizer._users_tuples import frozen, routine_of, try_out
from ..value import Rotation

Function = Callable[..., Any]
ARGUMENTS = ("t", "X", "V", "q", "u", "parameters")


class Shape(NamedTuple):
    """How many bodies, q and u of each mobilizer, parameters, and numbers of the value: -1 for one that is no tuple."""

    num_bodies: int
    num_q: tuple[int, ...]
    num_u: tuple[int, ...]
    num_parameters: int
    size: int


def measure_of(function: Any, what: str, shape: Shape, parameters: list[float]) -> tuple[Frozen, Routine]:
    """A user's function, which is checked and frozen, and the routine of it."""
    f = frozen(function, what, ARGUMENTS)
    try_out(f, _places(shape, parameters), () if shape.size < 0 else (shape.size,))
    return f, routine_of(_kernel(f, shape), [f], shape)


@generic
def _pose(model: Any, b: int) -> Any:
    return load9(model.R_GB, b, 0), load3(model.p_GB, b, 0)


@generic
def _velocity(model: Any, b: int) -> Any:
    return load_spatial(model.V_GB, b)


def _of_bodies(n: int, one: Function) -> Function:
    return w.written("model, i", f"return {w.each(n, 'one(model, model.measure_code[i + {i}])')}", one=one)


def _of_mobilizers(counts: tuple[int, ...], rows: str, first: str) -> Function:
    """A tuple for each mobilizer, of as many numbers of *rows* as it has."""
    vectors = {f"vector{j}": VECTORS[n] for j, n in enumerate(counts)}
    text = "".join(f"vector{j}(model.{rows}, model.{first}[model.measure_code[i + {j}]]), " for j in range(len(counts)))
    return w.written("model, i", f"return ({text})", **vectors)


def _kernel(f: Frozen, shape: Shape) -> Function:
    function, nb, nm = f.function, shape.num_bodies, len(shape.num_q)
    poses, velocities = _of_bodies(nb, _pose), _of_bodies(nb, _velocity)
    q_of, u_of = _of_mobilizers(shape.num_q, "q", "first_q"), _of_mobilizers(shape.num_u, "u", "first_u")
    numbers = w.written("rows, i", f"return {w.each(shape.num_parameters, 'load(rows, i + {i}, 0)')}")
    if shape.size < 0:
        put = w.written("rows, i, y, o", "store(rows, i, 0, y - o)")
    else:
        put = w.written("rows, i, y, o", "; ".join(f"store(rows, i + {k}, 0, y[{k}] - o)" for k in range(shape.size)))

    def value(model: Any, i: int, out: int) -> int:
        p = numbers(model.measure_numbers, model.measure_code[i + nb + nm])
        t = load(model.time, 0, 0)
        y = function(t, poses(model, i), velocities(model, i), q_of(model, i + nb), u_of(model, i + nb), p)
        put(model.measure_values, out, y, zero(t))
        return 0

    return value


def _places(shape: Shape, parameters: list[float]) -> Iterator[dict[str, Any]]:
    rng = np.random.default_rng(0)

    def numbers(n: int, size: float) -> tuple[float, ...]:
        return tuple((size * rng.uniform(-1.0, 1.0, n)).tolist())

    def rotation() -> tuple[float, ...]:
        q = rng.normal(size=4)
        return tuple(np.asarray(Rotation.from_quaternion(q / np.linalg.norm(q))).ravel().tolist())

    for size in (0.1, 0.5, 1.0, 2.0):
        yield {
            "t": size,
            "X": tuple((rotation(), numbers(3, size)) for _ in range(shape.num_bodies)),
            "V": tuple((numbers(3, size), numbers(3, size)) for _ in range(shape.num_bodies)),
            "q": tuple(numbers(n, size) for n in shape.num_q),
            "u": tuple(numbers(n, size) for n in shape.num_u),
            "parameters": tuple(parameters),
        }


__all__ = ["ARGUMENTS", "Shape", "measure_of"]
