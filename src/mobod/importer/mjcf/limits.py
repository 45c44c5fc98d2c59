"""Dry friction of joints, and their limits."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import force
from ..model import Model
from .bodies import BALL, FREE, Tree
from .source import Source, listed, plural


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
        source.depart(f"frictionloss of {count}: dry friction that sticks by bristles, where MuJoCo has constraints")


def stiffness_of(solref: Any, inverse_inertia: Any) -> float:
    """Of a limit as MuJoCo has it: 1 / (time constant * damping ratio)^2 times the inertia, or what solref says below zero."""
    first, second = float(solref[0]), float(solref[1])
    square = -first if first <= 0.0 else 1.0 / (first * second) ** 2 if second > 0.0 else 0.0
    return square / max(float(inverse_inertia), 1e-15)


def add_stops(source: Source, tree: Tree, model: Model, wanted: bool, stiffness: float | None, dissipation: float) -> None:
    """Limits of hinges and slides as compliant stops, where they are asked for."""
    m = source.m
    limited = [j for j in np.flatnonzero(np.array(m.jnt_limited)).tolist() if j < len(tree.joints)]
    if source.disabled("LIMIT"):
        limited = []
    names = []
    coordinates = {place: name for name, place in model.coordinates.items()}
    for j in limited:
        joint = tree.joints[j]
        if joint.kind in (FREE, BALL):
            line = f"joint {joint.name!r}: the limit of a ball joint's angle is not simulated"
            if wanted:
                source.lose(line, "limits of ball joints")
            else:
                source.note(f"{line}, as was asked")
            continue
        names.append(joint.name)
        low, high = (float(bound) for bound in m.jnt_range[j])
        if low < high:
            model.ranges[coordinates[joint.q]] = low, high
        if wanted:
            own = stiffness_of(m.jnt_solref[j], m.dof_invweight0[joint.dof]) if stiffness is None else stiffness
            model.stops[joint.name] = force.MobilityLinearStop(
                model.forces, joint.mobod, 0, own, dissipation, low, high, name=f"{joint.name} limits"
            )
    model.data["ranges"] = {tree.joints[j].name: tuple(np.array(m.jnt_range[j]).tolist()) for j in limited}
    if names and wanted:
        source.depart(f"limits of {plural(len(names), 'joint')}: compliant stops, where MuJoCo has constraints")
    elif names:
        source.note(f"limits of {plural(len(names), 'joint')} {listed(names)}: kept as data, not simulated, as was asked")
