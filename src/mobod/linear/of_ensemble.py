"""Linear models of many states, as one with a leading axis."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np

from ..algebra.arrays import Array
from ..errors import ModelError
from ..state.state import State
from .linear_system import LinearSystem
from .linearize import Output, check_loops, linear_model


def linearize_each(
    system: Any,
    n: int,
    states: Iterable[tuple[int, State]],
    inputs: Sequence[Any] | None,
    outputs: Sequence[Output] | None,
    independent: bool,
    closed_loop: bool | Literal["sampled"],
) -> LinearSystem:
    """The linear models of *n* states, of which some may be left out: their numbers are no numbers.

    All have the independent states of the first.
    """
    check_loops(independent, closed_loop)
    first: LinearSystem | None = None
    found: list[Array] = []
    for i, state in states:
        kept = first.state_names if first is not None and independent else None
        model = linear_model(system, state, inputs, outputs, independent, closed_loop, kept)
        if first is None:
            first = model
            found = [np.full((n, *part.shape), np.nan) for part in model.matrices]
        for array, part in zip(found, model.matrices, strict=True):
            array[i] = part
    if first is None:
        raise ModelError(f"no state of the ensemble of {system.name!r} can be realized; `failed` says which could not")
    A, B, C, D = found
    return dataclasses.replace(first, A=A, B=B, C=C, D=D)
