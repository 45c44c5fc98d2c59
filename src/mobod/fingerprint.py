"""Fingerprints: whether two systems, or two starts of a run, are the same; equal in every process that builds one model."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .state import State
    from .system import MultibodySystem


def system_fingerprint(system: MultibodySystem) -> dict[str, str]:
    """A fingerprint of each aspect of *system*: its bodies, their numbers, its forces, and what else is part of it.

    What users' own Python computes is known by its name only, not by what its source says.
    """
    matter = system.get_matter_subsystem()
    tree = system._tree(bool(matter._default_use_euler_angles))
    forces = system._forces()
    return {
        "bodies": _hash(
            [(type(body).__name__, body.name, body._parent.name if body._parent is not None else "") for body in matter.bodies]
        ),
        "numbers": _hash(sorted((name, *_array(values)) for name, values in tree.fields.items())),
        "forces": _hash([(type(force).__name__, force._name, _kind(force._implementation)) for force in forces]),
        "motions": _hash(
            [(_kind(body._driver), _kind(getattr(body._driver, "_implementation", None))) for body in matter.bodies]
        ),
        "events": _hash([_kind(one) for one in (*system._event_handlers, *system._event_reporters)]),
        "subsystems": _hash([(_kind(one), one.get_name()) for one in system._subsystems]),
    }


def start_fingerprint(state: State) -> str:
    """A fingerprint of where a run starts: time, y, and what was set in the state."""
    own = sorted((name, *_array(values)) for name, values in state._own.items())
    return _hash([state.time, *_array(state._y), state._pending_euler_angles, own])


def _kind(part: Any) -> str:
    # not its module: the same file may be run as a script, and imported
    return "" if part is None else type(part).__qualname__


def _array(values: Any) -> tuple[str, str]:
    array = np.ascontiguousarray(values)
    return str(array.shape), hashlib.sha256(array.tobytes()).hexdigest()


def _hash(values: Any) -> str:
    return hashlib.sha256(repr(values).encode()).hexdigest()[:16]
