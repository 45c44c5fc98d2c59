"""Forces in a state: of actuators force, speed and power; of all kinds the numbers of OpenSim's records of forces.

A force T along a path has the forces T U on bodies and mobilities, where U are those of a unit tension: T = F.U / U.U.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..force import Actuator
from ..importer.model import Model
from ..importer.osim.elements.pushes import PrescribedForce
from ..importer.xml_element import Element
from ..muscle import Muscle
from ..state.state import State


def can_act(one: Any) -> bool:
    """True if it is a muscle, or an actuator with one number for a force."""
    if isinstance(one, Muscle | Actuator) or hasattr(one, "get_path"):
        return True
    return hasattr(one, "set_effort") and np.ndim(one.get_default_effort()) == 0


def act(one: Any, state: State) -> tuple[float, float, float]:
    """Force, speed and power of a muscle or actuator in a state at DYNAMICS; zero forces where it is switched off."""
    if isinstance(one, Muscle):
        speed = one.get_lengthening_speed(state)
        force = 0.0 if one.is_disabled(state) else one.get_tendon_force(state)
        return force, speed, -force * speed
    if isinstance(one, Actuator):
        force, speed = one.calc_force(state), one.calc_speed(state)
        return force, speed, force * speed
    if hasattr(one, "get_path"):
        force, speed = _tension(one, state), one.get_path().calc_speed(state)
        return force, speed, -force * speed
    unit, effort = _of_unit_effort(one, state)
    moving = np.concatenate([_velocities(one, state).ravel(), np.asarray(state.u)])
    speed = float(unit @ moving)
    return effort, speed, effort * speed


def _applied(one: Any, state: State) -> Array:
    """Forces on bodies and mobilities, in one row."""
    bodies, _, mobilities = one.calc_force_contribution(state)
    return np.concatenate([np.ravel(bodies), mobilities])


def _velocities(one: Any, state: State) -> Array:
    matter = one.get_force_subsystem().get_system().get_matter_subsystem()
    return np.array([body.get_body_velocity(state) for body in matter.body_list])


def _tension(one: Any, state: State) -> float:
    """Along its path."""
    bodies, mobilities = one.get_path().calc_unit_pull(state)
    unit = np.concatenate([bodies.ravel(), mobilities])
    size = float(unit @ unit)
    return 0.0 if size == 0.0 else float(_applied(one, state) @ unit) / size


def _of_unit_effort(one: Any, state: State) -> tuple[Array, float]:
    """The forces of an effort of 1, and the effort that there is."""
    here, set_to = _applied(one, state), one.get_effort(state)
    other = state.copy()
    one.set_effort(other, set_to + 1.0)
    one.get_force_subsystem().get_system().realize(other, state.stage)
    unit = _applied(one, other) - here
    size = float(unit @ unit)
    return unit, 0.0 if size == 0.0 else float(here @ unit) / size


# ---------------------------------------------------------------------------------------------- records


@dataclass(frozen=True)
class Record:
    """The numbers of a force, and their labels."""

    labels: list[str]
    find: Callable[[State], Any]


def records_of(model: Model) -> list[Record]:
    """Those of the forces of a model from an OpenSim file, in the order of the file, that are switched on; then of loads."""
    document, state = model.data.get("document"), model.default_state()
    known: dict[str, Any] = {**model.muscles, **model.actuators, **model.data.get("forces", {})}
    found, tags = [], {} if document is None else _elements(document)
    for name, one in known.items():
        if name not in tags or one.is_disabled(state):
            continue
        record = _record(model, name, one, tags[name])
        if record is not None:
            found.append((list(tags).index(name), record))
    names = {body.index: key for key, body in model.bodies.items()}
    loads = [
        _push(one, f"{names[one.default_integers[0]]}_{one.name}_", "F", "T")
        for one in model.data.get("external loads", [])
        if not one.is_disabled(state)
    ]
    return [*(record for _, record in sorted(found, key=lambda pair: pair[0])), *loads]


def _elements(document: Element) -> dict[str, Element]:
    sets = [one for one in document.children if one.tag == "ForceSet"]
    loose = [one for one in document.children if one.tag == "components"]
    objects = [child for group in sets for one in group.children if one.tag == "objects" for child in one.children]
    return {one.attributes.get("name", ""): one for one in [*(c for group in loose for c in group.children), *objects]}


#: The labels of forces with one number, behind their names.
_ENDS = {"PathSpring": "_tension", "ExpressionBasedPathForce": "_tension", "SpringGeneralizedForce": "_Force"}


def _record(model: Model, name: str, one: Any, element: Element) -> Record | None:
    label = name + _ENDS.get(element.tag, "")
    if element.tag == "Blankevoort1991Ligament":
        return _ligament(name, one, element)
    if isinstance(one, PrescribedForce):
        return _prescribed(name, one, element)
    if can_act(one):
        return Record([label], lambda state: [act(one, state)[0]])
    if hasattr(one, "get_which_q"):
        return Record([label], lambda state: [float(one.calc_force_contribution(state)[2].sum())])
    names = {body.index: key for key, body in model.bodies.items()}
    if element.tag in ("BushingForce", "ExpressionBasedBushingForce", "FunctionBasedBushingForce"):
        ends = [element.text_of(f"socket_frame{k}").rpartition("/")[2] for k in (1, 2)]
        return _on_bodies(one, [f"{name}.{end}" for end in ends], one.default_integers[:2])
    if element.tag in ("PointToPointSpring", "ExpressionBasedPointToPointForce"):
        ends = [(element.text_of(f"socket_body{k}") or element.text_of(f"body{k}")).rpartition("/")[2] for k in (1, 2)]
        return _between_points(one, [f"{name}.{end}" for end in ends])
    if element.tag == "SmoothSphereHalfSpaceForce":
        pair = one.get_body_sphere().index, one.get_body_half_space().index
        return _on_bodies(one, [f"{name}.Sphere", f"{name}.HalfSpace"], list(pair))
    if element.tag in ("HuntCrossleyForce", "ElasticFoundationForce"):
        places = list(dict.fromkeys(placed.body for placed in one.surfaces))
        return _on_bodies(one, [f"{name}.{names[place]}" for place in places], places)
    return None


def _ligament(name: str, one: Any, element: Element) -> Record:
    slack = float(element.text_of("slack_length"))

    def find(state: State) -> list[float]:
        length, speed = one.calc_length(state), one.get_path().calc_speed(state)
        return [_tension(one, state), length, speed, length / slack - 1.0, speed / slack]

    ends = ("force_total", "length", "lengthening_speed", "strain", "strain_rate")
    return Record([f"{name}.{end}" for end in ends], find)


def _prescribed(name: str, one: PrescribedForce, element: Element) -> Record:
    """Those of force, point and torque that there are: the point in the force's frame, the others in Ground."""
    is_in_ground = element.text_of("forceIsGlobal") in ("", "true", "1")
    head = "ground" if is_in_ground else element.text_of("socket_frame").rpartition("/")[2]
    return _push(one, f"{head}_{name}_", "f", "torque_")


def _push(one: PrescribedForce, head: str, force: str, torque: str) -> Record:
    """By the labels of force and torque; the point is *p*."""
    b, given = one.default_integers[0], list(one.given)

    def find(state: State) -> Array:
        place, push = one.calc_push(state)
        R = state.R_GB[b] @ np.asarray(one.frame)[:3, :3]
        origin = state.record.p_GB[b, :3].ravel() + state.R_GB[b] @ np.asarray(one.frame)[:3, 3]
        return np.array([push, R.T @ (place - origin), one.calc_torque(state)])[given].ravel()

    ends = np.array([[f"{what}{axis}" for axis in "xyz"] for what in (force, "p", torque)])[given].ravel()
    return Record([f"{head}{end}" for end in ends], find)


def _between_points(one: Any, heads: list[str]) -> Record:
    """Forces, and where they act in Ground."""
    ends = (one.get_body1(), one.get_station1), (one.get_body2(), one.get_station2)

    def find(state: State) -> Array:
        bodies = one.calc_force_contribution(state)[0]
        places = [body.find_station_location_in_ground(state, station(state)) for body, station in ends]
        return np.ravel([[bodies[body.index][1], place] for (body, _), place in zip(ends, places, strict=True)])

    return Record([f"{head}.{what}.{axis}" for head in heads for what in ("force", "point") for axis in "XYZ"], find)


def _on_bodies(one: Any, heads: list[str], places: list[int]) -> Record:
    """Forces and torques on bodies."""
    labels = [f"{head}.{what}.{axis}" for head in heads for what in ("force", "torque") for axis in "XYZ"]

    def find(state: State) -> Array:
        bodies = one.calc_force_contribution(state)[0]
        return np.asarray(bodies[places][:, ::-1]).ravel()

    return Record(labels, find)
