"""Coordinates: what a file says of each, and what a model's default state is told."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import constraint
from ...function import Constant, Function
from ...mobilizer.base import MobilizedBody
from ...state.state import State
from ..model import Model
from .document import Item
from .functions import make_function

ROTATIONAL, TRANSLATIONAL, COUPLED = "rotational", "translational", "coupled"


@dataclass(eq=False)
class Coordinate:
    """One coordinate of a joint, as the file says.

    Attributes
    ----------
    name, joint : str
    motion : {"rotational", "translational", "coupled"}
        Whether it is an angle or a length of its own, or moves by a function.
    default_value, default_speed : float
    range : (float, float)
        Between which a tool may move it; nothing holds it there.
    clamped, locked, prescribed, is_free_to_satisfy_constraints : bool
    """

    name: str
    joint: str
    motion: str
    default_value: float = 0.0
    default_speed: float = 0.0
    range: tuple[float, float] = (-10.0, 10.0)
    clamped: bool = False
    locked: bool = False
    prescribed: bool = False
    is_free_to_satisfy_constraints: bool = False
    item: Item | None = None
    function: Function | None = None
    mobod: MobilizedBody = None  # type: ignore[assignment]
    which: int = 0


def read_coordinate(item: Item | None, name: str, joint: str, motion: str) -> Coordinate:
    """Read what the file says of a coordinate; None where it says nothing."""
    if item is None:
        return Coordinate(name, joint, motion)
    item.is_read = True
    item.find("motion_type")  # follows from the joint
    low, high = item.vector("range", (-10.0, 10.0)).tolist()
    prescribed = item.one_object("prescribed_function")
    made = None if prescribed is None else _of_time(prescribed)
    return Coordinate(
        name,
        joint,
        motion,
        float(item.finite("default_value", (0.0,))[0]),
        float(item.finite("default_speed_value", (0.0,))[0]),
        (low, high),
        item.flag("clamped", False),
        item.flag("locked", False),
        item.flag("prescribed", False) and made is not None,
        item.flag("is_free_to_satisfy_constraints", False),
        item,
        made,
    )


def _of_time(item: Item) -> Function:
    """A function of time; a number is one, too."""
    made = make_function(item)
    count = made.get_argument_size()
    if isinstance(made, Constant):
        return made if count == 1 else Constant(float(made.calc_value(np.zeros(count))), 1)
    if count != 1:
        item.refuse(f"a prescribed coordinate is a function of time alone; this {item.tag} has {count} arguments")
    return made


def add_locks_and_motions(model: Model, coordinates: Sequence[Coordinate]) -> list[MobilizedBody]:
    """Make what holds or moves coordinates: constraints of one coordinate, and locks of whole mobilizers.

    Returns
    -------
    list of MobilizedBody
        Those whose coordinates are all locked, which the default state locks.
    """
    by_body: dict[int, list[Coordinate]] = {}
    for one in coordinates:
        by_body.setdefault(one.mobod.index, []).append(one)
    locked: list[MobilizedBody] = []
    for own in by_body.values():
        whole = all(one.locked for one in own) and len(own) == _num_u(own[0])
        if whole and own[0].mobod is not None:
            locked.append(own[0].mobod)
        for one in own:
            _hold(model, one, one.locked and not whole)
    return locked


def _num_u(one: Coordinate) -> int:
    return one.mobod.facts.num_u


def _hold(model: Model, one: Coordinate, by_constraint: bool) -> None:
    if by_constraint:
        name = free_name(f"{one.name}_lock", model.constraints)
        model.constraints[name] = constraint.ConstantCoordinate(one.mobod, one.which, one.default_value, name=name)
    if one.function is not None:
        name = free_name(f"{one.name}_motion", model.constraints)
        is_idle = one.locked or not one.prescribed
        model.constraints[name] = constraint.PrescribedMotion(
            model.matter, one.function, one.mobod, one.which, disabled_by_default=is_idle, name=name
        )


def free_name(name: str, *taken: Container[str]) -> str:
    """A name that is not taken: with a number behind it where it is, as OpenSim numbers them."""
    number, free = 0, name
    while any(free in names for names in taken):
        number += 1
        free = f"{name}_{number}"
    return free


def name_coordinates(model: Model, coordinates: Sequence[Coordinate]) -> None:
    """Enter coordinates by their names: where they are in q and u, and whether they are angles."""
    starts = body_starts(model)
    names = [one.name for one in coordinates]
    twice = {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else set()
    for one in coordinates:
        if one.name in twice:
            one.name = f"{one.joint}/{one.name}"
        # with angles in the place of quaternions there is a q for every u
        place = starts[one.mobod.index] + one.which
        model.coordinates[one.name] = model.speeds[one.name] = place
        if one.motion == ROTATIONAL:
            model.angles.add(one.name)
        if one.range != Coordinate.range:
            model.ranges[one.name] = one.range
    of_bodies: dict[int, list[str]] = {}
    for one in sorted(coordinates, key=lambda one: model.coordinates[one.name]):
        of_bodies.setdefault(one.mobod.index, []).append(one.name)
    for index, own in of_bodies.items():
        model.matter.bodies[index].mobility_names = tuple(own)
    for table in (model.coordinates, model.speeds):
        in_order = sorted(table.items(), key=lambda entry: entry[1])
        table.clear()
        table.update(in_order)


def body_starts(model: Model) -> list[int]:
    """First places of each body's coordinates in u, and in q with angles in the place of quaternions."""
    starts = [0]
    for body in model.matter.bodies:
        starts.append(starts[-1] + body.facts.num_u)
    return starts


def set_defaults(state: State, model: Model, coordinates: Sequence[Coordinate], locked: Sequence[Any], couplers: Any) -> None:
    """Bring a new state to what the file says: values, speeds, what is prescribed, coupled or locked."""
    q, u = state.q.copy(), state.u.copy()
    for one in coordinates:
        place = model.coordinates[one.name]
        q[place], u[place] = one.default_value, one.default_speed
        if one.prescribed and not one.locked and one.function is not None:
            q[place] = one.function.calc_value([0.0] * one.function.get_argument_size())
            if one.function.get_argument_size() == 1:
                u[place] = one.function.calc_derivative([0], [0.0])
    starts = body_starts(model)
    for _ in couplers:  # one may depend on what another gives
        before = q.copy()
        for coupler in couplers:
            coupler.put(q, u, starts)
        if (q == before).all():
            break
    state.q, state.u = q, u
    for mobod in locked:
        mobod.lock(state)
