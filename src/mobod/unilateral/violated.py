"""Contacts that are violated where a run begins: which they are, and what is said of them."""

from __future__ import annotations

import numpy as np

from ..state.state import State
from .problem import Gathered, contact_table, moves_something

#: How many contacts a warning names.
_NAMED = 3


def find_violated(state: State, gathered: Gathered, tolerance: float) -> list[tuple[str, float]]:
    """Names of open contacts whose gaps are below minus *tolerance*, and how far, the worst first, of all that was *gathered*.

    What is closed is projected onto its constraint, as all constraints are; what is between bodies that are all locked or
    driven never acts.
    """
    J, gaps, _ = gathered
    if all(gap >= -tolerance for gap in gaps.tolist()):
        return []
    table = contact_table(state)
    found = (gaps < -tolerance) & ~table.closed(state) & moves_something(state, J[table.starts[:-1]])
    return sorted(((table.names[k], -float(gaps[k])) for k in np.flatnonzero(found)), key=lambda one: -one[1])


def say_violated(violated: list[tuple[str, float]]) -> str:
    """A sentence on these."""
    told = ", ".join(f"{name!r} by {depth:.3g}" for name, depth in violated[:_NAMED])
    more = f", and {len(violated) - _NAMED} more" if len(violated) > _NAMED else ""
    return (
        f"contacts are violated where the run begins: {told}{more}. They jump to where they touch when they close, or are "
        "thrown apart; begin where calc_gap(state) is nowhere negative"
    )
