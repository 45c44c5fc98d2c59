"""Forces that MJCF can say beyond those of single joints: actuators, tendons with springs, gravity compensation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from ... import force
from ...force import transmission
from .mechanism import Mechanism, show

_DYNAMICS = ("none", "integrator", "filterexact")
#: Where the numbers of an actuator's and of a spring's transmission begin: `Actuator`, `TransmissionSpring`.
_OF_ACTUATOR, _OF_SPRING = 17, 9


class Driven:
    """Writes them; `sites` and `compensated` are for the bodies.

    Parameters
    ----------
    found : Mechanism
    joint_name : callable
        Of a body's number and a coordinate's, the name of the joint in the file; None where there is none.
    has_body : callable
        Whether a body of this number is in the file.
    """

    def __init__(self, found: Mechanism, joint_name: Callable[[int, int], str | None], has_body: Callable[[int], bool]) -> None:
        self.found, self._joint_name, self._has_body = found, joint_name, has_body
        self.sites: dict[int, list[str]] = {}
        self.compensated: dict[int, float] = {}
        self.notes: list[str] = []
        self._tendons: dict[Any, tuple[str, str]] = {}  # name, and its lines inside
        self._attributes: dict[str, list[str]] = {}
        self._known = {_key(one): name for name, one in found.tendons.items()}
        self._actuators: list[str] = []
        #: Those that are written, in their order.
        self.actuators: list[force.Actuator] = []
        left: Counter[str] = Counter()
        bent = [name for name, one in found.tendons.items() if self._tendon(one) is None]
        if bent:
            self.notes.append(f"tendons are left out: {', '.join(bent)}")
        for one in found.beyond:
            if isinstance(one, force.GravityCompensation):
                done = self._compensate(one)
            elif isinstance(one, force.TransmissionSpring):
                done = self._spring(one)
            else:
                done = self._actuator(one)
            if not done:
                left[type(one).__name__] += 1
        started = [one.name for one in self.actuators if one.get_default_control()]
        if started:
            self.notes.append(f"the controls that actuators start with are left out: {', '.join(started)}")
        for kind, count in left.items():
            self.notes.append(f"forces: {count} of the kind {kind} {'is' if count == 1 else 'are'} left out")

    # ------------------------------------------------------------------------------------------ the file's parts

    def tendon_lines(self) -> list[str]:
        """The section of tendons."""
        lines = []
        for name, inside in self._tendons.values():
            kind, _, body = inside.partition("\n")
            attributes = "".join(self._attributes.get(name, []))
            lines.append(f"    <{kind} name={quoteattr(name)}{attributes}>{body}</{kind}>")
        return ["  <tendon>", *lines, "  </tendon>"] if lines else []

    def actuator_lines(self) -> list[str]:
        """The section of actuators."""
        return ["  <actuator>", *self._actuators, "  </actuator>"] if self._actuators else []

    # ------------------------------------------------------------------------------------------ the kinds

    def _compensate(self, one: force.GravityCompensation) -> bool:
        count, *bodies = one.default_integers
        if not np.allclose(one.get_default_gravity_vector(), self.found.gravity, rtol=1e-12):
            return False
        for body, fraction in zip(bodies, one.default_numbers[3:], strict=True):
            if not self._has_body(body):
                return False
            self.compensated[body] = self.compensated.get(body, 0.0) + fraction
        return count > 0

    def _spring(self, one: force.TransmissionSpring) -> bool:
        k, d, dissipation, low, high, *higher = one.default_numbers[:_OF_SPRING]
        ratio = one.default_numbers[_OF_SPRING]
        name = self._tendon(one.get_transmission())
        if name is None or any(higher) or ratio != 1.0:
            return False
        said = self._attributes.setdefault(name, [])
        if any(one is stop for stop in self.found.stops):
            said.append(f' limited="true" range="{low!r} {high!r}"')
            return True
        if dissipation or any("stiffness" in word for word in said) or (k and not np.isfinite([low, high]).all()):
            return False
        said.append(f' stiffness="{k!r}" damping="{d!r}"')
        if np.isfinite(low) and np.isfinite(high):
            said.append(f' springlength="{low!r} {high!r}"')
        return True

    def _actuator(self, one: force.Actuator) -> bool:
        numbers = one.default_numbers
        gain, bias = numbers[1:4], numbers[4:7]
        control, within, activation, applied = (tuple(numbers[k : k + 2]) for k in (7, 9, 11, 13))
        time_constant, period = numbers[15], numbers[16]
        target = self._target(one.get_transmission(), numbers[_OF_ACTUATOR])
        low, high = (min(max(bound, applied[0]), applied[1]) for bound in within)  # what acts, last
        if target is None or np.isfinite(period) or low == high:
            return False
        words = [f"name={quoteattr(one.name)}", target]
        words.append(f'gaintype="{"affine" if any(gain[1:]) else "fixed"}" gainprm="{show(gain)}"')
        words.append(f'biastype="{"affine" if any(bias) else "none"}" biasprm="{show(bias)}"')
        words.append(f'dyntype="{_DYNAMICS[one.default_integers[0]]}" dynprm="{time_constant!r}"')
        for tag, (least, most) in (("ctrl", control), ("force", (low, high)), ("act", activation)):
            if np.isfinite(least) or np.isfinite(most):
                words.append(f'{tag}limited="true" {tag}range="{max(least, -1e10)!r} {min(most, 1e10)!r}"')
        self.actuators.append(one)
        self._actuators.append(f"    <general {' '.join(words)}/>")
        return True

    # ------------------------------------------------------------------------------------------ what they act through

    def _target(self, through: transmission.Transmission, ratio: float) -> str | None:
        if isinstance(through, transmission.Coordinates) and through.integers[0] == 1 and _key(through) not in self._known:
            joint = self._joint_name(through.integers[1], through.integers[2])
            return None if joint is None else f'joint={quoteattr(joint)} gear="{ratio * through.numbers[1]!r}"'
        name = self._tendon(through)
        return None if name is None else f'tendon={quoteattr(name)} gear="{ratio!r}"'

    def _tendon(self, through: transmission.Transmission) -> str | None:
        """The name of a tendon of its length at a ratio of one; None where there is no such."""
        key = _key(through)
        if key not in self._tendons:
            name = self._known.get(key, f"tendon_{len(self._tendons)}")
            inside = self._fixed(through) if isinstance(through, transmission.Coordinates) else self._spatial(through, name)
            if inside is None:
                return None
            self._tendons[key] = name, inside
        return self._tendons[key][0]

    def _fixed(self, through: transmission.Transmission) -> str | None:
        terms: dict[str, float] = {}  # MuJoCo wants each joint once
        for k in range(through.integers[0]):
            joint = self._joint_name(*through.integers[1 + 2 * k : 3 + 2 * k])
            if joint is None:
                return None
            terms[joint] = terms.get(joint, 0.0) + through.numbers[1 + k]
        return "fixed\n" + "".join(f'<joint joint={quoteattr(joint)} coef="{k!r}"/>' for joint, k in terms.items())

    def _spatial(self, through: transmission.Transmission, name: str) -> str | None:
        if not isinstance(through, transmission.StraightPath):
            return None
        count, bodies, numbers = through.integers[0], through.integers[1:], through.numbers[1:]
        if not all(body == 0 or self._has_body(body) for body in bodies[: 2 * count]):
            return None
        inside, last, part = [], None, 1.0
        for k in range(count):
            ends = [(bodies[2 * k + e], tuple(numbers[7 * k + 3 * e : 7 * k + 3 * e + 3])) for e in (0, 1)]
            if numbers[7 * k + 6] != part or (last is not None and last != ends[0]):
                part, last = numbers[7 * k + 6], None
                inside.append(f'<pulley divisor="{1.0 / part!r}"/>')
            for body, place in ends if last is None else ends[1:]:
                site = f"{name}_{sum(map(len, self.sites.values()))}"
                self.sites.setdefault(body, []).append(f'<site name={quoteattr(site)} pos="{show(place)}"/>')
                inside.append(f"<site site={quoteattr(site)}/>")
            last = ends[1]
        return "spatial\n" + "".join(inside)


def _key(through: transmission.Transmission) -> Any:
    return type(through).__name__, tuple(through.integers), tuple(through.numbers[1:])
