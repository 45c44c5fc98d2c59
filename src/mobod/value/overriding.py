"""Inheritance of compiled forms, and of rates: a class derived from one that has it may compute something else."""

from __future__ import annotations


def agrees(kind: type, name: str, other: str) -> bool:
    """True if attribute *name* of *kind* is of what *other* computes: no derived class has defined *other* alone since."""
    return next((name in vars(one) for one in kind.__mro__ if name in vars(one) or other in vars(one)), False)


def holds_for(kind: type, name: str) -> bool:
    """True if attribute *name*, of a compiled form, says of *kind* itself what it computes.

    It does of the class that defines it, and of one derived from that which adds no more than a constructor: any other method
    may be one that Python computes by.
    """
    for one in kind.__mro__:
        if name in vars(one):
            return True
        if any(not key.startswith("__") and key != "_abc_impl" for key in vars(one)):
            return False
    return False
