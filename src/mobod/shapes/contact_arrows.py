"""Forces of contacts, and measured ones, as arrows, at times of one's choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..force.base import Force
from ..force.contact.of_system import contacts_of, find_contacts
from ..value.checks import positive
from ..value.stage import Stage
from .poses import states_at

if TYPE_CHECKING:
    from ..state.state import State
    from ..system.system import MultibodySystem
    from ..value.annotations import Trajectory

#: Of the mechanism's size, the length of an arrow that is longer than nine of ten, and of the longest.
_USUAL, _LONGEST = 0.25, 0.6


def check_contact_forces(value: bool | float) -> bool | float:
    """Check what says whether they are drawn: True, False, or length/force."""
    return value if isinstance(value, bool | np.bool_) else positive("contact_forces", value)


def calc_contact_arrows(trajectory: Trajectory, times: Array, size: float, scale: bool | float) -> list[Array]:
    """Calculate the arrows of what touches, and of measured forces.

    Parameters
    ----------
    trajectory : Trajectory
        With a system.
    times : (n,) array
        Where contacts were recorded forces are those of the nearest row; else q and u are interpolated, and forces are those of
        the materials' law there.
    size : float
        Of the mechanism; length.
    scale : True or float
        Length of an arrow over its force; True: so that nine of ten are shorter than a quarter of *size*, and none is longer
        than six tenths of it, to which forces beyond are cut.

    Returns
    -------
    list of (m, 2, 3) array
        Of each time, tails and heads in Ground: from the contact's point along the force on its second body.
    """
    system = trajectory.system
    assert system is not None
    pushes = find_pushes(system)
    contacts = find_contacts(system) if pushes else contacts_of(system, "contact_forces")
    points, forces = [], []
    for state, nearest in states_at(trajectory, times):
        system.realize(state, Stage.VELOCITY)
        recorded = trajectory.contacts_at(nearest) if trajectory.surface_names else None
        at, force = calc_forces(contacts, pushes, state, recorded)
        points.append(at)
        forces.append(force)
    sizes = np.linalg.norm(np.concatenate(forces), axis=1) if forces else np.zeros(0)
    sizes = sizes[sizes > 0.0]
    longest = np.inf
    if scale is True:
        scale = _USUAL * size / float(np.quantile(sizes, 0.9)) if len(sizes) else 0.0
        longest = _LONGEST * size
    return [limit_arrows(p, float(scale) * f, longest) for p, f in zip(points, forces, strict=True)]


def find_pushes(system: MultibodySystem) -> list[Force]:
    """Find the forces that pictures show as arrows beside those of contacts: measured ones."""
    return [one for one in system.all_forces() if type(one).calc_push is not Force.calc_push]


def calc_forces(contacts: Any, pushes: Sequence[Force], state: State, recorded: Any = None) -> tuple[Array, Array]:
    """Points and forces (n, 3) in Ground of contacts, of *recorded* rows if given, and of pushes, at a state at VELOCITY."""
    points, forces = [np.zeros((0, 3))], [np.zeros((0, 3))]
    if contacts is not None:
        rows = contacts.get_contacts(state) if recorded is None else recorded
        points, forces = [rows["point"]], [rows["force"]]
    for one in pushes:
        found = None if one.is_disabled(state) else one.calc_push(state)
        if found is not None and np.linalg.norm(found[1]) > 0.0:
            points.append(found[0][None])
            forces.append(found[1][None])
    return np.concatenate(points), np.concatenate(forces)


def limit_arrows(points: Array, along: Array, longest: float) -> Array:
    """Arrows (n, 2, 3) from points along forces, none longer than *longest*; where there is no force there is none."""
    lengths = np.linalg.norm(along, axis=1, keepdims=True)
    along = along * np.minimum(1.0, longest / np.maximum(lengths, 1e-300))
    return np.stack([points, points + along], axis=1)[lengths[:, 0] > 0.0]
