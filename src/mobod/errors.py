"""The package's own errors: MobodError and its family.

A failed call leaves its state as it was. Messages name what was asked, what was found and what to do.
"""

from __future__ import annotations

from typing import Any


class MobodError(Exception):
    """Root of every error that mobod raises of its own accord.

    ``ValueError``, ``TypeError`` and ``IndexError`` are raised beside it, where Python users expect them.
    """


class CommandError(Exception):
    """What the user of a command asked for cannot be done; the message says why, in one line."""


class StageError(MobodError, RuntimeError):
    """A state has not been realized far enough for what was asked of it.

    The message says what was asked, the stage that it needs, the stage that the state has, and the call that
    gets it there.
    """


class TopologyError(MobodError, RuntimeError):
    """The structure of the system has changed since, or does not allow, what was asked.

    Raised for a body or a state of another system, a state older than the last change of the topology, and for
    a system that has not been realized at all.
    """


class ModelError(MobodError, ValueError):
    """A model that cannot be: non-physical mass properties, bad frames, duplicate names, a broken file."""


class ConvergenceError(MobodError, RuntimeError):
    """Assembly, projection or integration did not reach its tolerance.

    Attributes
    ----------
    diagnosis : Diagnosis or None
        Where constraints could not be satisfied, what `MultibodySystem.diagnose_constraints` says of the state at the end.
    """

    diagnosis: Any = None
