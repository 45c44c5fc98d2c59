"""Decorations by a user's implementation."""

from __future__ import annotations

from typing import Any

from ..errors import ModelError
from ..value.stage import Stage
from .geometry import Decoration


def users_decorations(implementation: Any, state: Any, name: str) -> list[Decoration]:
    """The decorations that *implementation* gives for *state*, of all stages up to POSITION; ModelError for anything else.

    None where there is no implementation; *name* is that of the part that it is of.
    """
    if implementation is None:
        return []
    found: list[Any] = []
    for stage in list(Stage)[Stage.TOPOLOGY : Stage.POSITION + 1]:
        found += implementation.calc_decorative_geometry_and_append(state, stage)
    for geometry in found:
        if not isinstance(geometry, Decoration):
            raise ModelError(
                f"calc_decorative_geometry_and_append of {name!r} has to return a list of decorations such as "
                f"mobod.decoration.Sphere(0.1), not of {geometry!r}"
            )
    return found
