"""Welded bodies lumped, and gravity as an acceleration of Ground: a smaller tree for Ensemble, which needs udot only.

A body that is welded to another is added to its mass properties, and its children become the other's; one that is welded to
Ground is dropped. Gravity, where it is the only force and pulls on every body, is an acceleration of Ground upward, which needs
no sweep of forces (Featherstone 2008, section 5.3); not where there are particles, which Ground does not carry, nor where
measures look at bodies.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..algebra.record import layout
from ..force import gravity
from ..state.fields import Record
from .tree import Tree, depth_first_fields


class ReducedTree:
    """The tree with welded bodies lumped, and gravity as Ground's acceleration where possible.

    Parameters
    ----------
    tree : Tree
        The tree of the system.
    field : callable
        ``field(name)``: an index or parameter field of it in a state.
    more_z : int
        z of subsystems, after the tree's own.
    """

    def __init__(self, tree: Tree, field: Callable[[str], npt.NDArray[Any]], more_z: int = 0) -> None:
        self._more_z = more_z
        fields = {name: field(name) for name in tree.fields}
        #: Ground's acceleration, minus that of free fall; None where forces have to be swept.
        self.ground_acceleration: Array | None = None
        enabled = np.flatnonzero(fields["force_enabled"])
        if tree.counts["nc"] == 0 and not tree.has_measures and all(fields["force_kind"][e] == gravity.KIND for e in enabled):
            runs = [int(fields["force_first_integer"][e]) for e in enabled]
            pulled = [fields["force_integers"][run : run + tree.nb].copy() for run in runs]
            tree, fields, pulled = _merge_welds(tree, fields, pulled)
            heavy = fields["massless"][1:] == 0
            if tree.num_particles == 0 and all(np.all(flags[1:][heavy] == 1) for flags in pulled):
                g = np.zeros(3)
                for e in enabled:
                    first = int(fields["force_first_number"][e])
                    g += fields["force_numbers"][first : first + 3, 0]
                self.ground_acceleration = np.concatenate([np.zeros(3), -g])
            else:
                fields["force_integers"] = fields["force_integers"].copy()
                for run, flags in zip(runs, pulled, strict=True):
                    fields["force_integers"][run : run + tree.nb] = flags
        self.tree, self._fields = tree, fields

    def new_record(self, in_lanes: bool = True) -> Record:
        """A record of lanes, or of one state."""
        record = self.tree.new_record(in_lanes=in_lanes, more=(0, 0, self._more_z), fields=self._fields)
        if self.ground_acceleration is not None:
            of_each = self.ground_acceleration[:, None] if in_lanes else self.ground_acceleration
            record.coriolis[0] = record.A_GB[0] = of_each
        return record


def _merge_welds(tree: Tree, fields: dict[str, npt.NDArray[Any]], pulled: list[npt.NDArray[np.int64]]) -> Any:
    """The tree with welded bodies lumped, its fields, and the bodies that each gravity pulls on."""
    nb, parent = tree.nb, fields["parent"]
    carrier, R, p = (
        np.arange(nb),
        np.tile(np.eye(3), (nb, 1, 1)),
        np.zeros((nb, 3)),
    )  # the body that b is lumped with, and b's pose in it
    mass, com = fields["mass"][:, 0].copy(), fields["com"].copy()
    inertia = np.array([_full(six) for six in fields["inertia"]])
    R_PF, p_PF = fields["R_PF"].reshape(-1, 3, 3).copy(), fields["p_PF"].copy()
    new_parent = parent.copy()
    for b in range(1, nb):
        c = carrier[parent[b]]
        new_parent[b] = c
        p_PF[b] = p[parent[b]] + R[parent[b]] @ p_PF[b]
        R_PF[b] = R[parent[b]] @ R_PF[b]
        alike = c == 0 or mass[b] == 0.0 or mass[c] == 0.0 or all(flags[b] == flags[c] for flags in pulled)
        if fields["num_u"][b] > 0 or not alike:
            continue
        carrier[b] = c
        R_BM, p_BM = fields["R_BM"][b].reshape(3, 3), fields["p_BM"][b]
        R[b] = R_PF[b] @ R_BM.T
        p[b] = p_PF[b] - R[b] @ p_BM
        if c > 0 and mass[b] > 0.0:
            if mass[c] == 0.0:
                for flags in pulled:
                    flags[c] = flags[b]
            moved, I = _shifted(mass[b], com[b], inertia[b], R[b], p[b])
            com[c] = (mass[c] * com[c] + mass[b] * moved) / (mass[c] + mass[b])
            mass[c] += mass[b]
            inertia[c] += I
    keep = np.flatnonzero(carrier == np.arange(nb))
    place = {int(b): i for i, b in enumerate(keep)}
    merged = copy.copy(tree)
    per_body = [name for name in fields if layout.fields[name].rows == "nb"]
    fields = {name: np.ascontiguousarray(array[keep]) if name in per_body else array for name, array in fields.items()}
    fields["parent"] = np.array([place[int(new_parent[b])] for b in keep])
    fields["R_PF"], fields["p_PF"] = R_PF[keep].reshape(-1, 9), p_PF[keep]
    fields["mass"], fields["com"] = mass[keep][:, None], com[keep]
    fields["inertia"] = np.array([[I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]] for I in inertia[keep]])
    fields["massless"] = (mass[keep] == 0.0).astype(np.int64)
    fields["moved"] = np.array([place[int(b)] for b in fields["moved"]], np.int64)
    children = [np.flatnonzero(fields["parent"][1:] == i) + 1 for i in range(len(keep))]
    fields["has_children"] = np.array([int(len(c) > 0) for c in children])
    fields["is_last_child"] = np.zeros(len(keep), np.int64)
    fields["is_last_child"][[c[-1] for c in children if len(c)]] = 1
    order = depth_first_fields(fields["parent"].tolist(), fields["first_u"].tolist(), fields["num_u"].tolist())
    fields |= {name: np.array(values, dtype=np.int64) for name, values in order.items()}
    merged.nb = len(keep)
    merged.counts = {**tree.counts, "nb": merged.nb}
    merged.fields = fields
    merged.first_u, merged.num_u = fields["first_u"].tolist(), fields["num_u"].tolist()
    merged.constant_columns = [(place[b], name, columns) for b, name, columns in tree.constant_columns]
    merged.kinematics_routines = [(place[b], routine) for b, routine in tree.kinematics_routines]
    merged.motion_routines = [(place[b], routine) for b, routine in tree.motion_routines]
    merged.addresses = {}
    return merged, fields, [flags[keep] for flags in pulled]


def _shifted(m: float, c: Array, I: Array, R: Array, p: Array) -> tuple[Array, Array]:
    """Mass center and inertia, about the origin and in the frame of another body, of one at (R, p) in it."""
    central = I - m * (c @ c * np.eye(3) - np.outer(c, c))
    moved = p + R @ c
    return moved, R @ central @ R.T + m * (moved @ moved * np.eye(3) - np.outer(moved, moved))


def _full(six: Any) -> Array:
    xx, yy, zz, xy, xz, yz = six
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
