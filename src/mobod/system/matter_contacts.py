"""Unilateral contacts and friction of known normal force, of the matter subsystem."""

from __future__ import annotations

from typing import Any

from ..unilateral.base import UnilateralContact
from ..unilateral.state_limited_friction import StateLimitedFriction
from ..value import checks
from .matter_reactions import Reactions


class HasContacts(Reactions):
    """The part of `SimbodyMatterSubsystem` that has the unilateral contacts."""

    unilateral_contacts: list[UnilateralContact]
    #: Which surfaces `contact.rigid` has made rigid, each two by their bodies' indices and places on these.
    rigid_pairs: set[frozenset[tuple[int, int]]]
    state_limited_frictions: list[StateLimitedFriction]

    def name_of_contact(self, kind: str, name: Any) -> str:
        """The name of a new contact of a *kind*: *name*, or one that is free."""
        taken = {one.name for one in self.unilateral_contacts} | {one.name for one in self.state_limited_frictions}
        return checks.name_among(taken, "contact", name, kind, len(taken))

    def adopt_unilateral_contact(self, contact: UnilateralContact, name: str | None) -> tuple[int, str]:
        """Take a new contact; its index and its name."""
        own = self.name_of_contact(type(contact).__name__, name)
        self.unilateral_contacts.append(contact)
        self.invalidate_topology()
        return len(self.unilateral_contacts) - 1, own

    def adopt_state_limited_friction(self, friction: StateLimitedFriction, name: str | None) -> tuple[int, str]:
        """Take a new one; its index and its name."""
        own = self.name_of_contact(type(friction).__name__, name)
        self.state_limited_frictions.append(friction)
        self.invalidate_topology()
        return len(self.state_limited_frictions) - 1, own

    def get_num_unilateral_contacts(self) -> int:
        """Number of unilateral contacts, open ones included."""
        return len(self.unilateral_contacts)

    def get_unilateral_contact(self, index: int) -> UnilateralContact:
        """A unilateral contact by its index; `IndexError` out of range."""
        return checks.one_of(self.unilateral_contacts, index, self, "unilateral contacts")

    def upd_unilateral_contact(self, index: int) -> UnilateralContact:
        """A unilateral contact by its index; the same object as `get_unilateral_contact` gives."""
        return self.get_unilateral_contact(index)

    def get_num_state_limited_frictions(self) -> int:
        """Number of elements of friction with a known normal force."""
        return len(self.state_limited_frictions)

    def get_state_limited_friction(self, index: int) -> StateLimitedFriction:
        """One of these by its index; `IndexError` out of range."""
        return checks.one_of(self.state_limited_frictions, index, self, "state-limited frictions")

    def upd_state_limited_friction(self, index: int) -> StateLimitedFriction:
        """One of these by its index; the same object as `get_state_limited_friction` gives."""
        return self.get_state_limited_friction(index)
