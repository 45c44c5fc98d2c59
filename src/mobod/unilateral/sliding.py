"""Contacts that slide, whose friction `tree.sliding` finds, and what is said where that has no solution."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..state.state import State
from .base import UnilateralContact


def sliding_contacts(state: State) -> list[UnilateralContact]:
    """The contacts that slide in this state."""
    if not state.slides:
        return []
    return [one for one in state.system.get_matter_subsystem().unilateral_contacts if one.is_sliding(state)]


def no_solution(state: State) -> str:
    """Why accelerations of a state in which contacts slide are no numbers; "" where none slides. Needs VELOCITY."""
    contacts = sliding_contacts(state)
    speeds = [float(np.hypot(*one.get_slip_velocity(state))) for one in contacts]
    mu = [one.calc_effective_cof(state, 0.0, max(speed, 1e-300)) for one, speed in zip(contacts, speeds, strict=True)]
    return paradox(contacts, mu, state) if contacts else ""


def paradox(contacts: list[Any], mu: Any, state: State) -> str:
    """A sentence on contacts whose friction presses them together."""
    which = ", ".join(f"{one.name!r} (coefficient {m:.6g})" for one, m in zip(contacts, mu, strict=True))
    return (
        f"at time {state.time:.9g} rigid contact with Coulomb friction has no solution, or more than one, for {which}, which "
        "slides: friction presses it together by more than what it takes to hold it (Painleve's paradox). The rigid model ends "
        "here; take a smaller coefficient, mobod.integrator.TimeStepping, whose impulses then stop the slip at once, or "
        "compliant contact"
    )
