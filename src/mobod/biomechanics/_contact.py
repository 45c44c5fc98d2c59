"""Constraints of contact at the points of measured forces, over the rows of a motion: equations of accelerations.

    rolling   n.a = 0   t1.a = 0   t2.a = 0   n.alpha + (t1.w)(b.w) = 0,  b = t1 x n
    point     a = 0
    weld      a = 0   alpha = 0

a is the acceleration of the body's point where the force acts, alpha and w are the body's. The fourth equation of rolling is
that of an angle between t1 and a direction of the body's, as in OpenSim. Rolling has conditions: the plane pushes, or there is
no equation; friction is within its limit, or only the first is left; so is the torque about n, with the contact radius, or the
fourth goes. As in OpenSim's InducedAccelerations they are looked at once, a contact after the other, with all forces acting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..importer.external_loads import Contact, ExternalForce
from ..importer.model import Model
from ..state.state import State
from ..value.checks import all_known
from .dynamics import ForcesOver

#: Multipliers (m,) of the accelerations that all forces give, with rows of contact.
Solve = Callable[[], Array]


class ContactsOver:
    """Contacts in place of measured forces, over times; *threshold* is the least force that is one."""

    def __init__(
        self, model: Model, forces: list[ExternalForce], contact: str | Contact | Sequence[Any], threshold: float, time: Array
    ) -> None:
        self.model, self.threshold = model, threshold
        self.contacts = _one_each(forces, contact)
        self.bodies = [model.bodies[one.body] for one in forces if all_known("there is no body", [one.body], model.bodies)]
        self.forces = ForcesOver(model, forces, time, None)
        self.labels = [
            f"{contact.name or force.name}_{body}_{what}{axis}"
            for contact, force in zip(self.contacts, forces, strict=True)
            for body in ("ground", force.body)
            for what, axes in (("F", "xyz"), ("M", "xyz"))
            for axis in axes
        ]

    def at(self, i: int, state: State) -> Touching:
        """Those of a row, at its state."""
        return Touching(self, i, state)


def _one_each(forces: list[ExternalForce], contact: str | Contact | Sequence[Any]) -> list[Contact]:
    given = [contact] * len(forces) if isinstance(contact, (str, Contact)) else list(contact)
    if len(given) != len(forces):
        names = ", ".join(one.name for one in forces)
        raise ValueError(f"contact has {len(given)} constraints for {len(forces)} external forces, {names}; give one a force")
    found = [one if isinstance(one, Contact) else Contact(kind=one) for one in given]
    for one, force in zip(found, forces, strict=True):
        if one.body not in ("", force.body):
            raise ValueError(
                f"the contact {one.name!r} is of the body {one.body!r}, and the external force {force.name!r} in its place is "
                f"on {force.body!r}: list contacts in the order of the forces"
            )
    return found


class Touching:
    """The equations of contact at a state: G u_dot = right, and which act."""

    def __init__(self, of: ContactsOver, i: int, state: State) -> None:
        self.of, matter = of, of.model.matter
        self.points, self.directions, rows, right = [], [], [np.zeros((0, len(state.u)))], [np.zeros(0)]
        self.slices, count = [], 0
        R, p = state.R_GB, state.record.p_GB[:, :3]
        for k, (contact, body) in enumerate(zip(of.contacts, of.bodies, strict=True)):
            force, point = of.forces.force_and_point(k, i, R, p)
            directions = np.zeros((0, 2, 3))
            self.points.append(point)
            if np.linalg.norm(force) > of.threshold:
                station = R[body.index].T @ (point - p[body.index])
                directions, curving = _directions(contact, state.record.V_GB[body.index].reshape(2, 3)[0])
                flat = directions.reshape(-1, 6)
                rows.append(flat @ np.asarray(matter.calc_frame_jacobian(state, body, station)).reshape(6, -1))
                bias = np.asarray(matter.calc_bias_for_frame_jacobian(state, body, station)).reshape(6)
                right.append(-(flat @ bias) - curving)
            self.directions.append(directions)
            self.slices.append(slice(count, count + len(directions)))
            count += len(directions)
        self.G, self.right = np.vstack(rows), np.concatenate(right)
        self.acts = np.ones(count, bool)

    def settle(self, solve: Solve, as_opensim: bool) -> None:
        """Leave out what would pull, slip or spin; *solve* gives the multipliers of the equations that act."""
        for contact, place in zip(self.of.contacts, self.slices, strict=True):
            if contact.kind != "rolling" or place.start == place.stop:
                continue
            force = -self.whole(solve())[place]
            torque = -force[3] if as_opensim else abs(force[3])  # there only one sense of spin is limited
            presses = force[0] > 0.0
            holds = presses and float(np.hypot(force[1], force[2])) <= contact.friction_coefficient * force[0]
            turns_not = holds and torque <= contact.contact_radius * contact.friction_coefficient * force[0]
            self.acts[place] = (presses, holds, holds, turns_not)

    def whole(self, multipliers: Array) -> Array:
        """Multipliers (m, ...) of the equations that act, with 0 for the others."""
        found = np.zeros((len(self.acts), *multipliers.shape[1:]))
        found[self.acts] = multipliers
        return found

    def reactions(self, multipliers: Array, state: State) -> Array:
        """Forces and torques (k, 12 n) on Ground and each body at their origins, in Ground, of multipliers (m, k)."""
        loads, found = self.whole(multipliers), [np.zeros((multipliers.shape[1], 0))]
        for place, directions, point, body in zip(self.slices, self.directions, self.points, self.of.bodies, strict=True):
            torque, force = -np.einsum("mij,mk->ikj", directions, loads[place])
            arm = point - state.record.p_GB[body.index, :3]
            found += [-force, -torque - np.cross(point, force), force, torque + np.cross(arm, force)]
        return np.hstack(found)


def _directions(contact: Contact, w: Array) -> tuple[Array, Array]:
    """Of each equation the factors (m, 2, 3) of alpha and a, and what speeds add to these."""
    if contact.kind != "rolling":
        linear = np.stack([np.zeros((3, 3)), np.eye(3)], axis=1)
        turning = np.stack([np.eye(3), np.zeros((3, 3))], axis=1)
        found = linear if contact.kind == "point" else np.concatenate([linear, turning])
        return found, np.zeros(len(found))
    n = np.asarray(contact.surface_normal)
    along = np.eye(3)[0 if abs(n[0]) < 0.9 else 2]
    t1 = along - (along @ n) * n
    t1 /= np.linalg.norm(t1)
    found = np.zeros((4, 2, 3))
    found[0, 1], found[1, 1], found[2, 1], found[3, 0] = n, t1, np.cross(t1, n), n
    return found, np.array([0.0, 0.0, 0.0, (t1 @ w) * (found[2, 1] @ w)])
