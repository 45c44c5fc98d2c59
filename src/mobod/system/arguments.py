"""Checks of a system and a state of it, as functions get them: what they are, and that they belong together."""

from __future__ import annotations

from typing import Any

from ..state.state import State
from ..value import checks
from .system import MultibodySystem


def check_system(asked: str, system: Any) -> None:
    """Raise `TypeError` unless the argument *system* of *asked* is a `MultibodySystem`."""
    checks.instance(f"system of {asked}", system, MultibodySystem, "mobod.MultibodySystem() makes")


def check_state(asked: str, system: Any, state: Any) -> None:
    """Raise `TypeError` unless *system* and *state* are what they are called; `TopologyError` unless they belong together."""
    check_system(asked, system)
    checks.instance(f"state of {asked}", state, State, "system.realize_topology() gives")
    state.check_owner(system, asked)
