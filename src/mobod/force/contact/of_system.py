"""The contacts of a system, for rooms that look at them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import ModelError

if TYPE_CHECKING:
    from ...value.annotations import MultibodySystem
    from .subsystem import CompliantContactSubsystem


def contacts_of(system: MultibodySystem, asked: str) -> CompliantContactSubsystem:
    """The system's subsystem of contacts; *asked* needs it.

    Raises
    ------
    ModelError
        If it has none.
    """
    found = find_contacts(system)
    if found is None:
        raise ModelError(f"{asked} needs a system with a CompliantContactSubsystem, and {system!r} has none")
    return found


def find_contacts(system: MultibodySystem) -> CompliantContactSubsystem | None:
    """The system's subsystem of contacts; None where there is none."""
    found: Any = next((one for one in system.subsystems if hasattr(type(one), "get_contacts")), None)
    return found
