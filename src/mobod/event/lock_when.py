"""LockWhen: locks a mobilizer, or unlocks it, when a witness changes sign."""

from __future__ import annotations

from typing import Any

from ..mobilizer.base import MobilizedBody
from ..state.state import State
from ..value.checks import flag
from ..value.level import Level, level_of
from .when import When


class LockWhen(When):
    """Locks a mobilizer when *witness* changes sign.

    Parameters
    ----------
    mobod : MobilizedBody
        What is locked.
    witness : Witness or callable
    level : Motion.Level or str
        As `MobilizedBody.lock` takes it; ``NO_LEVEL`` unlocks.
    impulse : bool
        Whether the mobilizer is stopped by an impulse on the whole mechanism, which conserves momentum and loses energy. If
        False the speeds of the others do not change at that instant, and momentum comes from nowhere.
    **settings
        As `When`.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> arm = system.matter.bodies["lower"]
    >>> system.add_event_handler(mb.event.LockWhen(arm, mb.event.Coordinate(arm, 0, 0.0)))
    >>> motion = mb.simulate(system, state, 5.0)
    >>> bool(abs(motion.q[-1, 1]) < 1e-3)
    True
    """

    def __init__(
        self, mobod: MobilizedBody, witness: Any, level: Level | str = Level.POSITION, *, impulse: bool = True, **settings: Any
    ) -> None:
        super().__init__(witness, **settings)
        self._mobod, self._level, self._impulse = mobod, level_of("LockWhen", level, none=True), flag("impulse", impulse)

    def handle_event(self, state: State, accuracy: float) -> None:
        """Lock, or unlock."""
        if self._level is Level.NO_LEVEL:
            self._mobod.unlock(state, impulse=self._impulse)
        else:
            self._mobod.lock(state, self._level, impulse=self._impulse)
