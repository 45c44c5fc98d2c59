"""A system as its files see it: bodies, and joints as rows of turns about axes and shifts along them.

Most mobilizers are products of such steps, X_FM(q) = S_1(q_i) S_2(q_j) ..., and so is what they do to the body,

    X_PB(q) = X_PF X_FM(q) ~X_BM = X_PB(0) T_1(q_i) T_2(q_j) ...    T_k = X_BM S_k ~X_BM

in which T_k turns about, or shifts along, an axis of the body through M's origin. A reversed one has the inverses, the last
first. Their speeds are the rates of their coordinates, so that a row of joints has the same equations of motion.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ... import constraint, force, mobilizer
from ...algebra.arrays import Array
from ...errors import ModelError
from ...function import Constant, Function, Linear
from ...mobilizer import Direction
from ...mobilizer.base import MobilizedBody
from ...simulation.names import coordinate_names
from ...state.state import State
from ...system.system import MultibodySystem
from ...value import MassProperties, Transform
from ...value.stage import Stage
from ..model import Model

_X, _Y, _Z = np.eye(3)
#: Kinds of forces that MJCF has words for.
BEYOND = (force.Actuator, force.TransmissionSpring, force.GravityCompensation)


class Step(NamedTuple):
    """A turn about an axis, or a shift along it, by coordinate number `which` of a mobilizer; in its frame M."""

    turns: bool
    axis: Array
    which: int


STEPS: dict[type[MobilizedBody], list[Step]] = {
    mobilizer.Weld: [],
    mobilizer.Pin: [Step(True, _Z, 0)],
    mobilizer.Slider: [Step(False, _X, 0)],
    mobilizer.Universal: [Step(True, _X, 0), Step(True, _Y, 1)],
    mobilizer.Gimbal: [Step(True, _X, 0), Step(True, _Y, 1), Step(True, _Z, 2)],
    mobilizer.Cylinder: [Step(True, _Z, 0), Step(False, _Z, 1)],
    mobilizer.BendStretch: [Step(True, _Z, 0), Step(False, _X, 1)],
    mobilizer.Planar: [Step(False, _X, 1), Step(False, _Y, 2), Step(True, _Z, 0)],
    mobilizer.Translation: [Step(False, _X, 0), Step(False, _Y, 1), Step(False, _Z, 2)],
    mobilizer.Bushing: [
        *(Step(False, axis, 3 + i) for i, axis in enumerate(np.eye(3))),
        *(Step(True, axis, i) for i, axis in enumerate(np.eye(3))),
    ],
}
"""Kinds that are rows of steps. None of a kind's coordinates is in two."""


@dataclass(eq=False)
class Coordinate:
    """Springs, dampers, limits and friction on one coordinate."""

    name: str
    damping: float = 0.0
    friction: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    low: float = -float("inf")
    high: float = float("inf")
    stop: float = 0.0
    rotor: float = 0.0

    @property
    def acted_on(self) -> bool:
        """True if there is anything to say of it."""
        return bool(self.damping or self.friction or self.rotor or math.isfinite(self.low) or math.isfinite(self.high))


@dataclass(eq=False)
class Part:
    """A body: its frames, its steps (None if it moves in another way), and what acts on its coordinates."""

    name: str
    joint: str
    mobod: MobilizedBody
    parent: int
    X_PF: Transform
    X_BM: Transform
    steps: list[Step] | None
    coordinates: list[Coordinate]
    gravity: bool = True
    #: Of a joint that is no row of steps, the damping of each speed.
    damping: dict[int, float] = field(default_factory=dict)

    @property
    def mass(self) -> MassProperties:
        """Its mass properties."""
        return self.mobod.get_default_mass_properties()

    @property
    def X_PB0(self) -> Transform:
        """The body's pose in its parent at zero coordinates."""
        return self.X_PF @ ~self.X_BM

    def axis(self, step: Step) -> Array:
        """The axis of a step in the body's frame at zero coordinates."""
        return np.asarray(self.X_BM.R.matrix @ step.axis)


class Coupling(NamedTuple):
    """q = multiplier q_other + offset, of coordinates by the numbers of their parts, and theirs in these."""

    follower: tuple[int, int]
    leader: tuple[int, int]
    multiplier: float
    offset: float
    name: str
    active: bool


@dataclass(eq=False)
class Mechanism:
    """The bodies and joints of a system; notes are on the rest."""

    name: str
    system: MultibodySystem
    state: State
    parts: dict[int, Part]
    gravity: Array
    couplings: list[Coupling]
    ties: list[tuple[Any, bool]]  # and whether they are active
    frames: dict[str, tuple[MobilizedBody, Transform]]
    #: Forces that a format may say, and paths by their names; what a URDF file says of links and joints besides; named states.
    beyond: list[Any] = field(default_factory=list)
    tendons: dict[str, Any] = field(default_factory=dict)
    links: dict[str, Any] = field(default_factory=dict)
    joints: dict[str, Any] = field(default_factory=dict)
    keyframes: dict[str, Any] = field(default_factory=dict)
    #: Of `beyond`, those that are limits.
    stops: list[Any] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    #: Coordinates that start away from zero and where, by part.
    moved: dict[int, dict[str, float]] = field(default_factory=dict)

    def note_of_start(self, written: Collection[str]) -> list[str]:
        """A note on coordinates that start away from zero, but for those of which the file says it."""
        left = [name for moved in self.moved.values() for name in moved if name not in written]
        return [f"where these start is left out: {', '.join(left)}"] if left else []


def read_mechanism(model: Model | MultibodySystem) -> Mechanism:
    """Find what of a model or a system can be written to files.

    Raises
    ------
    TypeError
        If it is neither.
    """
    if isinstance(model, Model):
        system, state, name = model.system, model.default_state(), model.name
        given = list(model.coordinates)
        own_names = {id(mobod): link for link, mobod in model.bodies.items()}
    elif isinstance(model, MultibodySystem):
        system, name, given = model, "system", []
        state, own_names = system.realize_topology(), {}
    else:
        raise TypeError(f"what is saved has to be a Model or a MultibodySystem, not {model!r}")
    system.realize(state, Stage.POSITION)
    matter = system.get_matter_subsystem()
    names = given if len(given) == len(state.q) else coordinate_names(system, state)
    parts: dict[int, Part] = {}
    taken: set[str] = set()
    first = 0
    for mobod in list(matter.bodies)[1:]:
        count = mobod.get_num_q(state)
        coordinates = [Coordinate(one) for one in names[first : first + count]]
        first += count
        parent = mobod.parent
        assert parent is not None
        parts[mobod.index] = Part(
            name=unused(own_names.get(id(mobod), mobod.name), taken),
            joint=mobod.joint_name or mobod.name,
            mobod=mobod,
            parent=parent.index,
            X_PF=mobod.get_default_inboard_frame(),
            X_BM=mobod.get_default_outboard_frame(),
            steps=_steps_of(mobod),
            coordinates=coordinates,
        )
        if mobod.facts.num_u:
            rotors = np.atleast_1d(np.asarray(mobod.get_default_rotor_inertia(), dtype=float))
            for coordinate, rotor in zip(coordinates, rotors, strict=False):
                coordinate.rotor = float(rotor)
    found = Mechanism(name, system, state, parts, np.zeros(3), [], [], dict(model.frames) if isinstance(model, Model) else {})
    if isinstance(model, Model):
        found.tendons, found.keyframes = dict(model.data.get("tendons", {})), dict(model.keyframes)
        found.stops = list(model.stops.values())
        found.links, found.joints = dict(model.links), dict(model.joints)
    _read_forces(found, matter)
    _read_constraints(found, matter, state)
    _read_start(found, state)
    for what, count in (
        ("measures", sum(one.get_num_measures() for one in system.subsystems)),
        ("handlers and reporters of events", len(system.get_event_handlers()) + len(system.get_event_reporters())),
    ):
        if count:
            found.notes.append(f"{what}, {count} of them, are left out")
    return found


def _steps_of(mobod: MobilizedBody) -> list[Step] | None:
    steps = _steps_of_functions(mobod) if isinstance(mobod, mobilizer.FunctionBased) else STEPS.get(type(mobod))
    if steps is None or mobod.direction is Direction.FORWARD:
        return steps
    return [Step(one.turns, -one.axis, one.which) for one in reversed(steps)]


def _steps_of_functions(mobod: mobilizer.FunctionBased) -> list[Step] | None:
    """Steps of functions that are zero or a coordinate each, as in most joints of OpenSim's: X_FM shifts, then turns."""
    functions, arguments, axes = mobod.get_functions(), mobod.get_coordinate_indices(), mobod.get_axes()
    steps = []
    for k in (3, 4, 5, 0, 1, 2):
        slope = _slope(functions[k])
        if slope is None:
            return None
        if slope:
            steps.append(Step(k < 3, slope * axes[k], arguments[k][0]))
    return steps if sorted(one.which for one in steps) == list(range(mobod.facts.num_q)) else None


def _slope(function: Function) -> float | None:
    """1 or -1 of a function that is its one argument or the opposite, 0 of one that is zero; None of all others."""
    if isinstance(function, Constant):
        return 0.0 if function([0.0] * function.get_argument_size()) == 0.0 else None
    if not isinstance(function, Linear) or function.get_argument_size() != 1 or function([0.0]) != 0.0:
        return None
    slope = float(function([1.0]))
    return slope if slope in (1.0, -1.0, 0.0) else None


def unused(name: str, taken: set[str]) -> str:
    """A name that is not taken, and now is."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _read_forces(found: Mechanism, matter: Any) -> None:
    others: Counter[str] = Counter()
    everything = found.system.all_forces()
    acting = [one for one in everything if not one.is_disabled_by_default()]
    if len(acting) < len(everything):
        found.notes.append(f"forces that are switched off, {len(everything) - len(acting)} of them, are left out")
    _read_gravity(found, [one for one in acting if isinstance(one, force.Gravity)])
    for one in acting:
        kind = type(one).__name__
        if isinstance(one, force.Gravity):
            continue
        if isinstance(one, BEYOND):
            found.beyond.append(one)
            continue
        if kind not in ("MobilityLinearDamper", "MobilityDryFriction", "MobilityLinearSpring", "MobilityLinearStop"):
            others[kind] += 1
            continue
        part = found.parts[one.get_mobilized_body().index]
        which = one.get_which_u() if hasattr(one, "get_which_u") else one.get_which_q()
        if part.steps is None and kind == "MobilityLinearDamper":
            part.damping[which] = part.damping.get(which, 0.0) + one.get_default_damping()
            continue
        if part.steps is None or which >= len(part.coordinates):
            others[kind] += 1
            continue
        coordinate = part.coordinates[which]
        if kind == "MobilityLinearDamper":
            coordinate.damping += one.get_default_damping()
        elif kind == "MobilityDryFriction":
            coordinate.friction += one.get_default_friction_force()
            coordinate.damping += one.get_default_viscous_friction()
            others["static friction of joints"] += one.get_default_static_friction_ratio() != 1.0
        elif kind == "MobilityLinearSpring":
            k, rest = one.get_default_stiffness(), one.get_default_rest_value()
            total = coordinate.stiffness + k
            coordinate.rest = (coordinate.stiffness * coordinate.rest + k * rest) / total if total else 0.0
            coordinate.stiffness = total
        elif coordinate.stop:
            others["second stop of a coordinate"] += 1
        else:
            coordinate.low, coordinate.high = one.get_default_lower_bound(), one.get_default_upper_bound()
            coordinate.stop = one.get_default_stiffness()
            others["dissipation of stops"] += one.get_default_dissipation() != 1.0
    for kind, count in (+others).items():
        what = f"the {kind}, {count} of them," if " " in kind else f"forces: {count} of the kind {kind}"
        found.notes.append(f"{what} {'is' if count == 1 or ' ' in kind else 'are'} left out")
    subsystems = Counter(type(one).__name__ for one in found.system.subsystems)
    for kind in ("CompliantContactSubsystem",):
        if subsystems[kind]:
            found.notes.append("laws and materials of contact are left out")


def _read_gravity(found: Mechanism, pulls: list[Any]) -> None:
    """The sum of all, and the bodies at which none pulls."""
    found.gravity = sum((np.asarray(one.get_default_gravity_vector()) for one in pulls), found.gravity)
    for part in found.parts.values():
        count = sum(one.get_default_body_is_excluded(part.mobod) for one in pulls)
        part.gravity = not 0 < count == len(pulls)
        if 0 < count < len(pulls):
            found.notes.append(f"that {count} of {len(pulls)} gravities do not pull at {part.name!r} is left out")


def _read_start(found: Mechanism, state: State) -> None:
    """Say what neither format can: files have no states, and nothing that is prescribed."""
    mobods = [part.mobod for part in found.parts.values()]
    for what, chosen in (
        ("locks", [mobod for mobod in mobods if mobod.is_locked(state)]),
        ("prescribed motions", [mobod for mobod in mobods if mobod.has_motion()]),
    ):
        if chosen:
            found.notes.append(f"{what} are left out: {', '.join(mobod.joint_name or mobod.name for mobod in chosen)}")
    for index, part in found.parts.items():
        moved = {part.coordinates[k].name: value for k, value in _displaced(part, state)}
        if moved:
            found.moved[index] = moved


def _displaced(part: Part, state: State) -> list[tuple[int, float]]:
    """The numbers and values of coordinates that a state has away from zero."""
    q = np.atleast_1d(part.mobod.get_q_as_vector(state))
    if isinstance(part.mobod, mobilizer.Free | mobilizer.Ball) and len(q) != part.mobod.facts.num_u:
        q[0] -= 1.0  # of a quaternion
    elif part.steps is None:
        return []
    return [(k, value) for k, value in enumerate(q.tolist()) if value]


def _read_constraints(found: Mechanism, matter: Any, state: State) -> None:
    others: Counter[str] = Counter()
    for number in range(matter.get_num_constraints()):
        one = matter.get_constraint(number)
        coupling = _coupling(found, one, not one.is_disabled(state))
        if coupling is not None:
            found.couplings.append(coupling)
        elif isinstance(one, constraint.Weld | constraint.Ball):
            found.ties.append((one, not one.is_disabled(state)))
        else:
            others[type(one).__name__] += 1
    for kind, count in others.items():
        found.notes.append(f"constraints: {count} of the kind {kind} {'is' if count == 1 else 'are'} left out")


def _coupling(found: Mechanism, one: Any, active: bool) -> Coupling | None:
    function = one.get_function() if isinstance(one, constraint.CoordinateCoupler) else None
    if isinstance(function, Linear) and len(one.arguments) == 2:
        places = [(found_body.index, which) for found_body, which in one.arguments]
        n = len(one.used_functions[0][1])
        at_zero = float(function([0.0] * n))
        a, b = [float(function(row)) - at_zero for row in np.eye(n)] + [-1.0] * (2 - n)
        if n == 1:  # OpenSim's, whose last coordinate follows the other
            (a, b), places = (b, a), places[::-1]
        if a != 0.0 and all(found.parts[body].steps is not None for body, _ in places):
            return Coupling(places[0], places[1], -b / a, -at_zero / a, one.name, active)
    return None


def write_file(model: Any, path: Any, suffix: str, what: str, make_writer: Callable[[Mechanism], Any]) -> list[str]:
    """Write a file, whose name ends in *suffix*, of a kind called *what*, by a writer; what the file does not say.

    Raises
    ------
    ValueError
        If it ends in another way, or its folder is not there.
    ModelError
        If the system has no bodies.
    """
    file = Path(path)
    if file.suffix.lower() != suffix:
        raise ValueError(f"{str(file)!r} has to end in {suffix}")
    if not file.absolute().parent.is_dir():
        raise ValueError(f"there is no folder {str(file.absolute().parent)!r} to save {file.name!r} in")
    found = read_mechanism(model)
    if not found.parts:
        raise ModelError(f"there is nothing to write to a {what} file: the system has no bodies")
    writer = make_writer(found)
    file.write_text(writer.write(), encoding="utf-8")
    return writer.notes


def show(numbers: Any) -> str:
    """Write numbers with all their digits."""
    return " ".join(repr(float(number)) for number in np.atleast_1d(np.asarray(numbers, dtype=float)))
