"""Coordinates for sliders, with names, units and ranges; orientations by three angles in a quaternion's place."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from .. import mobilizer
from ..algebra.arrays import Array
from ..force import MobilityLinearStop
from ..mobilizer.base import MobilizedBody
from ..shapes.coordinate_kinds import is_angle
from ..state.state import State
from ..system.system import MultibodySystem
from ..value import Rotation
from ..value.level import Method
from ..value.stage import Stage

_ANGLES, _PLACE = ("rx", "ry", "rz"), ("x", "y", "z")
#: What the coordinates of kinds with several are about or along, where no file names them; after three angles in a
#: quaternion's place what follows it.
_PARTS: dict[type, tuple[str, ...]] = {
    mobilizer.Ball: _ANGLES,
    mobilizer.BendStretch: ("angle", "length"),
    mobilizer.Bushing: (*_ANGLES, *_PLACE),
    mobilizer.Cylinder: ("rz", "z"),
    mobilizer.Ellipsoid: _ANGLES,
    mobilizer.Free: (*_ANGLES, *_PLACE),
    mobilizer.FreeLine: (*_ANGLES, *_PLACE),
    mobilizer.Gimbal: _ANGLES,
    mobilizer.LineOrientation: _ANGLES,
    mobilizer.Planar: ("rz", "x", "y"),
    mobilizer.SphericalCoords: ("azimuth", "zenith", "radius"),
    mobilizer.Translation: _PLACE,
    mobilizer.Universal: ("rx", "ry"),
}
_TURN = math.pi  # of an angle whose range nobody knows, to both sides
_DEGREE = math.degrees(1.0)
_ROUND = 1e-9
_PART = 0.05  # of a step, by which a range may be shown smaller than it is: 1.5708, as files have it, is 90 degrees


@dataclass
class Coordinate:
    """One number that a slider moves.

    Attributes
    ----------
    name : str
        As the model has it; of an orientation by a quaternion the joint's with ``rx``, ``ry`` or ``rz``.
    title : str
        What is shown: where the model only counts, as in ``root[4]``, what the coordinate is about or along.
    mobod : MobilizedBody
    which : int
        Which of the mobilizer's q; of an orientation by a quaternion which of its three angles, body-fixed x-y-z.
    place : int
        Where its q is in the state's; of a quaternion the first.
    is_angle, is_orientation : bool
    low, high : float
        Radians or length.
    is_free : bool
        False where a lock or a motion prescribes it.
    """

    name: str
    title: str
    mobod: MobilizedBody
    which: int
    place: int
    is_angle: bool
    is_orientation: bool
    low: float
    high: float
    is_free: bool = True
    angles: Array = field(default_factory=lambda: np.zeros(3))

    @property
    def factor(self) -> float:
        """From radians or length to the number that is shown: degrees or length."""
        return _DEGREE if self.is_angle else 1.0

    def label(self, units: Sequence[str] | None = None) -> str:
        """Its title, with its unit: degrees, or of mass, length and time the second; without these lengths have none."""
        if self.is_angle:
            return f"{self.title} (deg)"
        return f"{self.title} ({units[1]})" if units else self.title

    @property
    def step(self) -> float:
        """Of the number that is shown: a tenth of a degree, or a thousandth of a length's range and less, a power of ten."""
        return 0.1 if self.is_angle else 10.0 ** math.floor(math.log10((self.high - self.low) / 1000.0) + _ROUND)

    @property
    def shown_range(self) -> tuple[float, float]:
        """The range as it is shown: whole steps, a twentieth of one left out at most."""
        low, high = (
            math.floor(self.factor * self.low / self.step + _PART),
            math.ceil(self.factor * self.high / self.step - _PART),
        )
        return self._of_steps(low), self._of_steps(high)

    def show(self, state: State) -> float:
        """Its value as it is shown: whole steps, within the range."""
        low, high = self.shown_range
        return min(max(self._of_steps(round(self.factor * self.read(state) / self.step)), low), high)

    def _of_steps(self, count: int) -> float:
        return float(f"{count * self.step:.12g}")

    def read(self, state: State) -> float:
        """Its value in a state."""
        if not self.is_orientation:
            return float(state.q[self.place])
        quaternion = state.q[self.place : self.place + 4]
        known = Rotation.from_body_fixed_xyz(self.angles).to_quaternion()
        if abs(abs(float(known @ quaternion)) - 1.0) > _ROUND:  # the angles that were set hold as long as they say the same
            self.angles[:] = Rotation.from_quaternion(quaternion).to_body_fixed_xyz()
        return float(self.angles[self.which])

    def write(self, state: State, value: float) -> None:
        """Give a state another value of it."""
        q = state.q.copy()
        if self.is_orientation:
            self.read(state)
            self.angles[self.which] = value
            q[self.place : self.place + 4] = Rotation.from_body_fixed_xyz(self.angles).to_quaternion()
        else:
            q[self.place] = value
        state.q = q


def list_coordinates(
    system: MultibodySystem, state: State, size: float, ranges: Mapping[str, tuple[float, float]] | None = None
) -> list[Coordinate]:
    """List the coordinates of a system's bodies.

    Parameters
    ----------
    system : MultibodySystem
    state : State
    size : float
        Of the mechanism: lengths without a known range have this much to both sides.
    ranges : mapping of str to (float, float), optional
        By name. Where there is none, stops (`force.MobilityLinearStop`) say it.
    """
    system.realize(state, Stage.POSITION)
    stops = _find_stops(system, state)
    found: list[Coordinate] = []
    for mobod in list(system.get_matter_subsystem().bodies)[1:]:
        count = mobod.get_num_q(state)
        quaternion = mobod.facts.has_quaternion and not state.use_euler_angles
        free = mobod.get_q_motion_method(state) is Method.FREE
        place = mobod.get_first_q_index(state)
        if quaternion:
            angles = np.zeros(3)
            joint = mobod.joint_name or mobod.name
            for k, axis in enumerate(_ANGLES):
                name = f"{joint} {axis}"
                found.append(Coordinate(name, name, mobod, k, place, True, True, -_TURN, _TURN, free, angles))
        names, titles = mobod.name_each(count), _title_each(mobod, count)
        for k in range(4 if quaternion else 0, count):
            turns = is_angle(mobod, state, k)
            value = float(state.q[place + k])
            known = (ranges or {}).get(names[k]) or stops.get((mobod.index, k))
            low, high = known or ((-_TURN, _TURN) if turns else (value - size, value + size))
            low, high = _finite(low, high, value, _TURN if turns else size)
            found.append(Coordinate(names[k], titles[k], mobod, k, place + k, turns, False, low, high, free))
    return found


def _title_each(mobod: MobilizedBody, count: int) -> list[str]:
    """Titles of each of *count* coordinates: the file's names, or else what they are about or along."""
    names, parts = mobod.name_each(count), _PARTS.get(type(mobod), ())
    if count == 1 or names == list(mobod.mobility_names) or len(parts) not in (count, count - 1):
        return names
    joint = mobod.joint_name or mobod.name
    after = [f"{joint} {part}" for part in parts]
    return after if len(parts) == count else [*names[:4], *after[3:]]  # angles stand in the quaternion's place


def _finite(low: float, high: float, value: float, reach: float) -> tuple[float, float]:
    """A range that a slider can have, with the value in it."""
    low = low if math.isfinite(low) else min(value, high) - reach
    high = high if math.isfinite(high) else max(value, low) + reach
    low, high = min(low, value), max(high, value)
    return (low, high) if high > low else (low - reach, high + reach)


def _find_stops(system: MultibodySystem, state: State) -> dict[tuple[int, int], tuple[float, float]]:
    found: dict[tuple[int, int], tuple[float, float]] = {}
    for force in system.all_forces():
        if isinstance(force, MobilityLinearStop):
            place = force.get_mobilized_body().index, force.get_which_q()
            found[place] = force.get_lower_bound(state), force.get_upper_bound(state)
    return found
