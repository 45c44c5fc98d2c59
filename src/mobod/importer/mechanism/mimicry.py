"""Joints that follow others, each by a constraint q = multiplier q_other + offset."""

from __future__ import annotations

from collections.abc import Mapping

from ... import constraint
from ...function import Linear
from ..model import Model
from ..parts import plural
from .bodies import Coordinate
from .description import NUM_Q, Axis, Joint, Mechanism, Mimic
from .options import Options

Axes = Mapping[tuple[str, int], Coordinate]


def couple(model: Model, mechanism: Mechanism, axes: Axes, options: Options) -> None:
    """Couple what mimics, put it where its leader has it, and say what mimics in vain."""
    report = mechanism.report
    mimicking = [
        (joint, number, axis, axis.mimic)
        for joint in mechanism.joints.values()
        for number, axis in enumerate(joint.axes)
        if axis.mimic is not None
    ]
    if not options.mimic:
        if mimicking:
            report.append(f"mimicry of {_joints(len(mimicking))}: kept as data, not simulated, as was asked")
        return
    coupled, lines = 0, []
    for joint, number, axis, mimic in mimicking:
        own, leader = axes.get((joint.name, number)), axes.get((mimic.joint, mimic.axis))
        if own is None or leader is None or leader is own:
            lines.append(_why_in_vain(mechanism, joint, mimic, own, leader))
            if own is None or not _is_held(mechanism, mimic):
                continue
            name = _free_name(model, own)
            model.constraints[name] = constraint.ConstantCoordinate(own.mobod, own.which, mimic.offset, name=name)
        else:
            coupled += 1
            function = Linear([1.0, -mimic.multiplier, -mimic.offset])
            pair, which = [own.mobod, leader.mobod], [own.which, leader.which]
            name = _free_name(model, own)
            model.constraints[name] = constraint.CoordinateCoupler(model.matter, function, pair, which, name=name)
        own.set_default(_where(axes, axis, own))
    if coupled:
        report.append(f"mimicry of {_joints(coupled)}: {'a constraint' if coupled == 1 else 'a constraint each'}")
    for line in lines:
        report.lose(line, "joints that mimic in vain")


def _joints(count: int) -> str:
    return plural(count, "joint", "joints")


def _free_name(model: Model, own: Coordinate) -> str:
    """The coordinate's name; of a joint that closes a loop the weld has it already."""
    return f"mimic of {own.name}" if own.name in model.constraints else own.name


def _is_held(mechanism: Mechanism, mimic: Mimic) -> bool:
    """True if the other joint is there and cannot move, or was welded."""
    other = mechanism.joints.get(mimic.joint)
    return other is not None and (other.kind == "fixed" or (other.kind not in NUM_Q and mimic.axis < len(other.axes)))


def _why_in_vain(mechanism: Mechanism, joint: Joint, mimic: Mimic, own: Coordinate | None, leader: Coordinate | None) -> str:
    if own is None:
        several = joint.kind in ("planar", "ball", "free")
        why = "only joints of one coordinate can be coupled" if several else "it cannot move"
    elif leader is own:
        why = "that is the same coordinate"
    elif _is_held(mechanism, mimic):
        why = f"{mimic.joint!r} cannot move; it is held where that is at zero"
    elif mimic.joint in mechanism.joints and mechanism.joints[mimic.joint].kind in ("planar", "ball", "free"):
        why = "only joints of one coordinate can be coupled"
    else:
        why = "that has no such axis that moves"
    return f"{joint.place}: joint {joint.name!r} mimics {mimic.joint!r} in vain: {why}"


def _where(axes: Axes, axis: Axis, own: Coordinate) -> float:
    """The coordinate of an axis where all that mimic none are at their defaults."""
    row, seen, one = [], {own.name}, own
    while axis.mimic is not None:
        row.append(axis.mimic)
        leader = axes.get((axis.mimic.joint, axis.mimic.axis))
        if leader is None:
            value = 0.0
            break
        if leader.name in seen:
            return own.get_default()  # a ring: any place is as good
        seen.add(leader.name)
        one, axis = leader, leader.axis
    else:
        value = one.get_default()
    for mimic in reversed(row):
        value = mimic.multiplier * value + mimic.offset
    return value
