"""What a URDF file says of its joints' resistance, as forces: damping, dry friction, and limits as compliant stops.

A limit in a file is a bound; how hard the stop at it is, no file says. Unless it is told otherwise a stop gives way by
0.02 rad, or 2 mm, to the joint's greatest effort: hard enough not to be seen, and soft enough for steps of a millisecond.
Where the file has no effort above zero, the weight of all that hangs on the joint stands for it, at an arm of half a metre.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from ...force import MobilityDryFriction, MobilityLinearDamper, MobilityLinearStop
from ...force.subsystem import GeneralForceSubsystem
from ...mobilizer.base import MobilizedBody
from .document import Joint

#: How far a stop gives way to the greatest effort: angle, length.
YIELD = {"revolute": 0.02, "prismatic": 0.002}
#: How far dry friction gives way before it slides: angle, length.
SLIP = {"revolute": 1e-3, "continuous": 1e-3, "prismatic": 1e-4}
GRAVITY, ARM = 9.81, 0.5


def add_dampers(
    forces: GeneralForceSubsystem, joints: Mapping[str, Joint], bodies: Mapping[str, MobilizedBody]
) -> dict[str, MobilityLinearDamper]:
    """A damper for each joint of one coordinate that says so, by the joint's name; *bodies* are those that move, by joint."""
    return {
        name: MobilityLinearDamper(forces, body, 0, joints[name].dynamics.damping, name=f"damping of {name}")
        for name, body in bodies.items()
        if body.facts.num_u == 1 and joints[name].dynamics.damping > 0.0
    }


def add_frictions(
    forces: GeneralForceSubsystem, joints: Mapping[str, Joint], bodies: Mapping[str, MobilizedBody]
) -> dict[str, MobilityDryFriction]:
    """Dry friction for each joint of one coordinate that says so, by the joint's name; *bodies* are those that move."""
    return {
        name: MobilityDryFriction(
            forces, body, 0, joints[name].dynamics.friction, deflection=SLIP[joints[name].type], name=f"friction of {name}"
        )
        for name, body in bodies.items()
        if joints[name].type in SLIP and joints[name].dynamics.friction > 0.0
    }


def add_stops(
    forces: GeneralForceSubsystem,
    joints: Mapping[str, Joint],
    bodies: Mapping[str, MobilizedBody],
    stiffness: float | None,
    dissipation: float,
) -> tuple[dict[str, MobilityLinearStop], list[str]]:
    """A stop for each joint with limits, by the joint's name; and what there is to say about the others."""
    weights, stops, notes = _weights(bodies), {}, []
    for name, body in bodies.items():
        joint = joints[name]
        if joint.limit is None or joint.type not in YIELD:
            continue
        if joint.limit.lower is None and joint.limit.upper is None:
            continue
        low, high = find_bounds(joint)
        if not low < high:
            notes.append(f"line {joint.line}: joint {name!r} has limits that leave nothing between them, and has no stop")
            continue
        given = joint.limit.effort
        # an effort without bounds says nothing of how stiff a stop is
        bounded = given is not None and 0.0 < given and math.isfinite(given / YIELD[joint.type])
        effort = given if given is not None and bounded else weights[name] * (ARM if joint.type == "revolute" else 1.0)
        k = effort / YIELD[joint.type] if stiffness is None else stiffness
        stops[name] = MobilityLinearStop(forces, body, 0, k, dissipation, low, high, name=f"stop of {name}")
    return stops, notes


def find_bounds(joint: Joint) -> tuple[float, float]:
    """The range of a joint's coordinate; all numbers where it has no limits."""
    limit = joint.limit
    if joint.type not in YIELD or limit is None or (limit.lower is None and limit.upper is None):
        return -math.inf, math.inf
    return limit.lower or 0.0, limit.upper or 0.0  # URDF's defaults


def _weights(bodies: Mapping[str, MobilizedBody]) -> dict[str, float]:
    """The weight of each body and all that hangs on it."""
    masses: dict[int, float] = {}
    matter = next(iter(bodies.values())).matter if bodies else None
    for body in reversed(list(matter.bodies[1:]) if matter is not None else []):
        index = body.index
        masses[index] = masses.get(index, 0.0) + body.body.get_default_rigid_body_mass_properties().mass
        parent = 0 if body.parent is None else body.parent.index
        masses[parent] = masses.get(parent, 0.0) + masses[index]
    return {name: GRAVITY * masses[body.index] for name, body in bodies.items()}
