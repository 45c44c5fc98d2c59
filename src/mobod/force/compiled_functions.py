"""CompiledFunctions: a force that its user writes as functions of numbers, which are compiled."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy.typing as npt


@dataclasses.dataclass(frozen=True, eq=False)
class CompiledFunctions:
    """A force as functions of numbers and tuples, for ``Custom(forces, compiled=CompiledFunctions(...))``.

    The functions are written as those of `mobod.mobilizer.CompiledFunctions`: with ``+ - * / **``, comparisons and what is in
    `mobod.algebra`, ``where(condition, a, b)`` in place of ``if`` on a number. They are called with numbers, with eight states
    at a time and with dual numbers, may call other functions that are written so, and are taken as they are when the force is
    made: numbers that they find outside themselves are frozen.

    What they get:

    - *t*, the time;
    - *X*, for each of *bodies* the pair (R, p): R_GB as nine numbers by rows, and p_GB;
    - *V*, for each of *bodies* the pair (w, v): angular and linear velocity of its origin, in Ground;
    - *q* and *u*, for each of *mobilizers* a tuple of its coordinates, or speeds;
    - *parameters*, a tuple.

    Parameters
    ----------
    force : callable
        ``force(t, X, V, q, u, parameters) -> (F, f)``: F has for each of *bodies* the pair (torque, force), in Ground, the
        force at the body's origin; f has for each of *mobilizers* a tuple of generalized forces, one a speed. With no bodies
        F is ``()``, with no mobilizers f.
    potential_energy : callable, optional
        ``potential_energy(t, X, q, parameters) -> number``. The force has none unless given.
    power_dissipation : callable, optional
        ``power_dissipation(t, X, V, q, u, parameters) -> number``: what is turned into heat. Nothing unless given.
    bodies : sequence of MobilizedBody
        The bodies that it acts on, or whose motion it depends on; Ground may be among them.
    mobilizers : sequence of MobilizedBody
        The bodies whose mobilizers' mobilities it acts on, or whose coordinates or speeds it depends on.
    parameters : sequence of float
        In a default state; a state can have its own, see `Custom.set_parameters`.
    depends_only_on_positions : bool
        Whether the force is a function of X, q and the parameters alone: it is not computed anew when only u changes.
    """

    force: Callable[..., Any]
    potential_energy: Callable[..., Any] | None = None
    power_dissipation: Callable[..., Any] | None = None
    bodies: Sequence[Any] = ()
    mobilizers: Sequence[Any] = ()
    parameters: npt.ArrayLike = ()
    depends_only_on_positions: bool = False
