"""Dry friction of joints, and their limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ... import force
from .bodies import BALL, FREE, Tree
from .source import Source, listed, plural

if TYPE_CHECKING:
    from ..model import Model


def add_friction(source: Source, tree: Tree, model: Model) -> None:
    """`force.MobilityDryFriction` of each speed that has some."""
    m = source.m
    if source.disabled("FRICTIONLOSS"):
        return
    loss = np.array(m.dof_frictionloss).tolist()
    for joint in tree.joints:
        n = joint.mobod.facts.num_u
        for which in range(n):
            size = loss[joint.dof + which]
            if size > 0.0:
                own = joint.name if n == 1 else f"{joint.name}[{which}]"
                model.frictions[own] = force.MobilityDryFriction(model.forces, joint.mobod, which, size, name=f"{own} friction")
    if model.frictions:
        count = plural(len(model.frictions), "speed")
        source.note(f"frictionloss of {count}: dry friction that sticks by bristles, where MuJoCo has constraints")


def add_stops(source: Source, tree: Tree, model: Model, wanted: bool, stiffness: float, dissipation: float) -> None:
    """Limits of hinges and slides as compliant stops, where they are asked for."""
    m = source.m
    limited = [j for j in np.flatnonzero(np.array(m.jnt_limited)).tolist() if j < len(tree.joints)]
    if source.disabled("LIMIT"):
        limited = []
    names = []
    for j in limited:
        joint = tree.joints[j]
        if joint.kind in (FREE, BALL):
            source.note(f"joint {joint.name!r}: the limit of a ball joint's angle is not simulated")
            continue
        names.append(joint.name)
        if wanted:
            low, high = (float(bound) for bound in m.jnt_range[j])
            model.stops[joint.name] = force.MobilityLinearStop(
                model.forces, joint.mobod, 0, stiffness, dissipation, low, high, name=f"{joint.name} limits"
            )
    model.data["ranges"] = {tree.joints[j].name: tuple(np.array(m.jnt_range[j]).tolist()) for j in limited}
    if names and wanted:
        source.note(f"limits of {plural(len(names), 'joint')}: compliant stops, where MuJoCo has constraints")
    elif names:
        source.note(
            f"limits of {plural(len(names), 'joint')} {listed(names)}: kept as data, not simulated; ask for joint_limits"
        )
