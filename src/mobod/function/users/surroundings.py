"""The arguments of users' functions of a system's motion: ``(t, X, V, q, u, parameters)``, tuples of tuples.

- t, the time;
- X, for each of some bodies the pair (R, p): R_GB as nine numbers by rows, and p_GB;
- V, for each of them the pair (w, v): angular and linear velocity of its origin, in Ground;
- q and u, for each of some mobilizers a tuple of its coordinates, or speeds;
- parameters, a tuple.

A part that has such functions keeps the bodies, then the mobilizers, as a run of a field of integers, and the parameters as a
run of a field of numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...algebra.memory import load3, load9, load_spatial
from ...compiling import generic
from ...value import Rotation
from .trial import Arguments
from .unrolled import each, listed, numbers, unrolled

Function = Callable[..., Any]

ARGUMENTS = ("t", "X", "V", "q", "u", "parameters")
#: How large the numbers are with which functions are tried out.
_SIZES = (0.1, 0.5, 1.0, 2.0)


class Counts(NamedTuple):
    """Numbers of bodies, of q and u of each mobilizer, and of parameters."""

    num_bodies: int
    num_q: tuple[int, ...]
    num_u: tuple[int, ...]
    num_parameters: int

    @classmethod
    def of(cls, num_bodies: int, facts: Sequence[Any], num_parameters: int) -> Counts:
        """For this many bodies, and mobilizers of these facts."""
        return cls(num_bodies, tuple(f.num_q for f in facts), tuple(f.num_u for f in facts), num_parameters)

    @property
    def counts(self) -> str:
        """For messages."""
        return f"There are {self.num_bodies} bodies, {len(self.num_q)} mobilizers, {self.num_parameters} parameters"


def places(names: Sequence[str], shape: Counts, parameters: Sequence[float]) -> list[Arguments]:
    """Some random motions, as the arguments that have these names."""
    rng = np.random.default_rng(0)

    def draw(n: int) -> tuple[float, ...]:
        return tuple((size * rng.uniform(-1.0, 1.0, n)).tolist())

    found: list[Arguments] = []
    for size in _SIZES:
        arguments = {
            "t": size,
            "X": tuple((rotation(rng), draw(3)) for _ in range(shape.num_bodies)),
            "V": tuple((draw(3), draw(3)) for _ in range(shape.num_bodies)),
            "q": tuple(draw(n) for n in shape.num_q),
            "u": tuple(draw(n) for n in shape.num_u),
            "parameters": tuple(parameters),
        }
        found.append({name: arguments[name] for name in names})
    return found


def rotation(rng: np.random.Generator) -> tuple[float, ...]:
    """A random one, as nine numbers."""
    q = rng.normal(size=4)
    return tuple(np.asarray(Rotation.from_quaternion(q / np.linalg.norm(q))).ravel().tolist())


def called(function: Function, names: Sequence[str], shape: Counts, integers: str, numbers_field: str) -> Function:
    """``f(model, i, x)``: what *function* of the arguments with these names returns.

    i and x are where the part's runs of the fields *integers* and *numbers_field* begin.
    """
    nb = shape.num_bodies
    vectors = {f"vector{n}": numbers(n) for n in {*shape.num_q, *shape.num_u, shape.num_parameters}}

    def of_bodies(one: str) -> str:
        return each(nb, f"{one}(model, model.{integers}[i + {{i}}])")

    def of_mobilizers(counts: tuple[int, ...], rows: str, first: str) -> str:
        return listed([f"vector{n}(model.{rows}, model.{first}[model.{integers}[i + {nb + j}]])" for j, n in enumerate(counts)])

    texts = {
        "t": "load(model.time, 0, 0)",
        "X": of_bodies("pose"),
        "V": of_bodies("load_velocity"),
        "q": of_mobilizers(shape.num_q, "q", "first_q"),
        "u": of_mobilizers(shape.num_u, "u", "first_u"),
        "parameters": f"vector{shape.num_parameters}(model.{numbers_field}, x)",
    }
    call = f"return function({', '.join(texts[name] for name in names)})"
    return unrolled("model, i, x", call, function=function, pose=_pose, load_velocity=_velocity, **vectors)


@generic
def _pose(model: Any, b: int) -> Any:
    return load9(model.R_GB, b, 0), load3(model.p_GB, b, 0)


@generic
def _velocity(model: Any, b: int) -> Any:
    return load_spatial(model.V_GB, b)
