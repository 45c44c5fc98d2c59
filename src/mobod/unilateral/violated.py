"""Contacts that are violated where a run begins: which they are, and what is said of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..state.state import State
from ..value.stage import Stage
from .open_gap import open_gap
from .problem import moves_something, rows_of_constraint

#: How many contacts a warning names.
_NAMED = 3


def find_violated(state: State, tolerance: float) -> list[tuple[str, float]]:
    """Names of open contacts whose gaps are below minus *tolerance*, and how far, the worst first.

    What is closed is projected onto its constraint, as all constraints are; what is between bodies that are all locked or
    driven never acts. The state is realized to VELOCITY.
    """
    system: Any = state.system
    system.realize(state, Stage.VELOCITY)
    found = []
    for one in system.get_matter_subsystem().unilateral_contacts:
        depth = 0.0 if one.is_enabled(state) else -open_gap(one).calc_value(state)
        if depth > tolerance and moves_something(state, np.ascontiguousarray(rows_of_constraint(state, one.normal)[:1]))[0]:
            found.append((one.name, depth))
    return sorted(found, key=lambda one: -one[1])


def say_violated(violated: list[tuple[str, float]]) -> str:
    """A sentence on these."""
    told = ", ".join(f"{name!r} by {depth:.3g}" for name, depth in violated[:_NAMED])
    more = f", and {len(violated) - _NAMED} more" if len(violated) > _NAMED else ""
    return (
        f"contacts are violated where the run begins: {told}{more}. They jump to where they touch when they close, or are "
        "thrown apart; begin where calc_gap(state) is nowhere negative"
    )
