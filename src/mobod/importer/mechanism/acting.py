"""Joints' resistance as forces: springs, damping, dry friction, and limits as compliant stops.

A limit in a file is a bound; how hard the stop at it is, few files say. Unless it is told otherwise a stop gives way by
0.02 rad, or 2 mm, to the joint's greatest effort: hard enough not to be seen, and soft enough for steps of a millisecond.
Where the file has no effort above zero, the weight of all that hangs on the joint stands for it, at an arm of half a metre.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence

from ...force import MobilityDryFriction, MobilityLinearDamper, MobilityLinearSpring, MobilityLinearStop
from ...system.matter import SimbodyMatterSubsystem
from ..model import Model
from ..parts import plural
from .bodies import Coordinate
from .description import NUM_Q, Mechanism
from .options import Options
from .reading import RESISTANCE_LEFT_OUT

#: How far a stop gives way to the greatest effort: angle, length.
YIELD_ANGLE, YIELD_LENGTH = 0.02, 0.002
#: How far dry friction gives way before it slides, likewise.
_SLIP_ANGLE, _SLIP_LENGTH = 1e-3, 1e-4
_GRAVITY, _ARM = 9.81, 0.5


def add_forces(model: Model, mechanism: Mechanism, coordinates: Sequence[Coordinate], options: Options) -> None:
    """Give coordinates what acts on them, and say what is simulated and what is kept as data."""
    for one in coordinates:
        if one.axis.is_limited and one.axis.lower < one.axis.upper:
            model.ranges[one.name] = float(one.axis.lower), float(one.axis.upper)
    sprung = [one for one in coordinates if one.axis.spring_stiffness > 0.0]
    damped = [one for one in coordinates if one.axis.damping > 0.0]
    rubbing = [one for one in coordinates if one.axis.friction > 0.0]
    limited = [one for one in coordinates if one.axis.is_limited]
    for name, mobod, which, axis, *_ in sprung:
        spring = MobilityLinearSpring(
            model.forces, mobod, which, axis.spring_stiffness, axis.spring_rest, name=f"spring of {name}"
        )
        model.springs[name] = spring
    for name, mobod, which, axis, *_ in damped if options.joint_damping else ():
        model.dampers[name] = MobilityLinearDamper(model.forces, mobod, which, axis.damping, name=f"damping of {name}")
    for name, mobod, which, axis, _, angular in rubbing if options.joint_friction else ():
        slip = _SLIP_ANGLE if angular else _SLIP_LENGTH
        model.frictions[name] = MobilityDryFriction(
            model.forces, mobod, which, axis.friction, deflection=slip, name=f"friction of {name}"
        )
    if options.joint_limits:
        _add_stops(model, [one for one in limited if one.axis.lower < one.axis.upper], options)
    report = mechanism.report
    for joint in mechanism.joints.values():
        what = " and ".join(
            what
            for what, asked in (("damping", options.joint_damping), ("friction", options.joint_friction is not False))
            if asked and any(getattr(axis, what) > 0.0 for axis in joint.axes)
        )
        if what and NUM_Q.get(joint.kind):
            line = f"{joint.place}: {what} of joint {joint.name!r} is not simulated: it has several coordinates"
            report.lose(line, RESISTANCE_LEFT_OUT)
    for what, added, ending in (
        ("springs", model.springs, ""),
        ("damping", model.dampers, ""),
        ("friction", model.frictions, ""),
        ("limits", model.stops, ", as compliant stops"),
    ):
        if added:
            report.append(f"{what} of {_joints(coordinates, added)}: simulated{ending}")
    for what, concerned, simulated in (
        ("limits", limited, options.joint_limits),
        ("damping", damped, options.joint_damping),
        ("friction", rubbing, options.joint_friction),
    ):
        if simulated or not concerned:
            continue
        line = f"{what} of {_joints(concerned)}: kept as data, not simulated"
        if what == "friction" and simulated is None:
            count = len({one.joint.name for one in concerned})
            report.lose(line, "joints with friction, which is left out", count, "joint_friction=True")
        else:
            report.append(f"{line}, as was asked")


def _joints(coordinates: Iterable[Coordinate], names: Collection[str] | None = None) -> str:
    """Number of joints that these are of."""
    count = len({one.joint.name for one in coordinates if names is None or one.name in names})
    return plural(count, "joint", "joints")


def _add_stops(model: Model, limited: Sequence[Coordinate], options: Options) -> None:
    weights = _weigh(model.matter) if limited else {}
    for name, mobod, which, axis, _, angular in limited:
        gives_way = YIELD_ANGLE if angular else YIELD_LENGTH
        # an effort without bounds says nothing of how stiff a stop is
        bounded = axis.effort > 0.0 and math.isfinite(axis.effort / gives_way)
        effort = axis.effort if bounded else weights[mobod.index] * (_ARM if angular else 1.0)
        k, c = options.stop_stiffness, options.stop_dissipation
        if k is None:
            k = effort / gives_way if axis.stop_stiffness is None else axis.stop_stiffness
        if c is None:
            c = 1.0 if axis.stop_dissipation is None else axis.stop_dissipation
        model.stops[name] = MobilityLinearStop(model.forces, mobod, which, k, c, axis.lower, axis.upper, name=f"stop of {name}")


def _weigh(matter: SimbodyMatterSubsystem) -> dict[int, float]:
    """The weight of each body and all that hangs on it, by the body's index."""
    masses: dict[int, float] = {}
    for mobod in reversed(list(matter.bodies[1:])):
        index = mobod.index
        masses[index] = masses.get(index, 0.0) + mobod.body.get_default_rigid_body_mass_properties().mass
        parent = 0 if mobod.parent is None else mobod.parent.index
        masses[parent] = masses.get(parent, 0.0) + masses[index]
    return {index: _GRAVITY * mass for index, mass in masses.items()}


def put_inside(mechanism: Mechanism, coordinates: Sequence[Coordinate], closing: Collection[str], mimic: bool) -> None:
    """Start coordinates that are outside their limits at these, lest stops throw them out with a bang; lock those between none.

    Not those of joints that are *closing* loops: these start where the loop is closed.
    """
    for one in coordinates:
        low, high = one.axis.lower, one.axis.upper
        determined = one.joint.name in closing or (mimic and one.axis.mimic is not None)
        if one.axis.is_limited and not low < high:
            line = f"{one.joint.place}: joint {one.name!r} has limits that leave nothing between them, and"
            if low == high and not determined and len(one.joint.axes) == 1:
                one.set_default(low)
                one.mobod.lock_by_default()
                mechanism.report.append(f"{line} is locked; unlock of its body frees it")
            else:
                mechanism.report.depart(f"{line} has no stop")
            continue
        if determined or not one.axis.is_limited:
            continue
        q = one.get_default()
        inside = min(max(q, low), high)
        if inside != q:
            one.set_default(inside)
            where = "zero" if q == 0.0 else f"{q:g}"
            line = f"joint {one.name!r} starts at its limit, {inside:g}: {where} is outside ({low:g} to {high:g})"
            if q == 0.0:
                mechanism.report.append(line)
            else:  # the file says where it starts
                mechanism.report.depart(line)
