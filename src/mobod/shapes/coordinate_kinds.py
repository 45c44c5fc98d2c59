"""Coordinates and speeds that turn bodies, and the units of what numbers of a motion are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..value.stage import Stage

if TYPE_CHECKING:
    from ..value.annotations import Trajectory

#: What numbers are, and of which powers of mass, length and time.
DIMENSIONS = {
    **{"moment": (1, 2, -2), "force": (1, 1, -2), "power": (1, 2, -3), "energy": (1, 2, -2)},
    **{"angle": (0, 0, 0), "length": (0, 1, 0), "angular speed": (0, 0, -1), "speed": (0, 1, -1)},
    **{"angular momentum": (1, 2, -1), "momentum": (1, 1, -1)},
    **{"angular acceleration": (0, 0, -2), "acceleration": (0, 1, -2)},
}

SI = {"moment": "N m", "force": "N", "power": "W", "energy": "J"}
"""Units of kilogram, meter and second that have names of their own."""


def check_units(units: Sequence[str] | None) -> None:
    """Raise ValueError unless units are those of mass, length and time, or None."""
    if units is not None and (isinstance(units, str) or len(units) != 3 or not all(isinstance(one, str) for one in units)):
        raise ValueError(f"units are three words, of mass, length and time, such as ('kg', 'm', 's'); got {units!r}")


def unit_of(kind: str, units: Sequence[str]) -> str:
    """The unit of a kind of `DIMENSIONS`, of those of mass, length and time."""
    if tuple(units) == ("kg", "m", "s") and kind in SI:
        return SI[kind]
    above: list[str] = []
    below: list[str] = []
    for unit, power in zip(units, DIMENSIONS[kind], strict=True):
        if power:
            (above if power > 0 else below).append(unit + ("", "\N{SUPERSCRIPT TWO}", "\N{SUPERSCRIPT THREE}")[abs(power) - 1])
    return "/".join([" ".join(above) or "rad", *below])


#: Words that units of parameters are made of, and of which powers of mass, length, time and angle they are.
_WORDS = {
    **{"mass": (1, 0, 0, 0), "length": (0, 1, 0, 0), "time": (0, 0, 1, 0), "angle": (0, 0, 0, 1)},
    **{"force": (1, 1, -2, 0), "torque": (1, 2, -2, 0), "velocity": (0, 1, -1, 0), "1": (0, 0, 0, 0)},
}
_SI_WORDS = {"force": "N", "torque": "N m"}
_RAISED = ("", "", "\N{SUPERSCRIPT TWO}", "\N{SUPERSCRIPT THREE}", "\N{SUPERSCRIPT FOUR}", "\N{SUPERSCRIPT FIVE}")


def unit_of_words(words: str, units: Sequence[str]) -> str:
    """The unit of what parameters say of theirs, such as ``force*time/length``; nothing where it is of other words."""
    name, powers = "", np.zeros(4, int)
    for k, one in enumerate(words.replace("/", " /").replace("*", " ").split()):
        word, _, power = one.lstrip("/").partition("^")
        if word not in _WORDS or not (power or "1").isdigit():
            return ""
        if k == 0 and not power and word in _SI_WORDS and tuple(units) == ("kg", "m", "s"):
            name = _SI_WORDS[word]
        else:
            powers += int(power or 1) * (-1 if one.startswith("/") else 1) * np.array(_WORDS[word])
    above, below = [name] if name else [], list[str]()
    for unit, count in zip((*units, "rad"), powers.tolist(), strict=True):
        if count:
            (above if count > 0 else below).append(unit + _RAISED[abs(count)])
    return "/".join([" ".join(above) or "1", *below]) if above or below else ""


def described(kind: str, units: Sequence[str] | None) -> str:
    """A kind with its unit, if there are any: ``force (N)``."""
    return kind if units is None else f"{kind} ({unit_of(kind, units)})"


def kinds_of_coordinates(trajectory: Trajectory) -> dict[str, str]:
    """Of each coordinate whether it is an angle or a length; numbers of quaternions are neither. None without a system."""
    return _by_names(trajectory, trajectory.coordinate_names, kinds_of_q)


def numbers_of_quaternions(trajectory: Trajectory) -> set[str]:
    """The coordinates that are numbers of quaternions; none without a system."""
    return set(
        _by_names(trajectory, trajectory.coordinate_names, lambda *of: ["" if kind else "q" for kind in kinds_of_q(*of)])
    )


def kinds_of_speeds(trajectory: Trajectory) -> dict[str, str]:
    """Of each speed whether it is an angular one; of none, where no system is known."""
    return _by_names(trajectory, trajectory.speed_names, kinds_of_u)


def _by_names(trajectory: Trajectory, names: Sequence[str], kinds_of: Any) -> dict[str, str]:
    if trajectory.system is None:
        return {}
    state = trajectory.system.get_default_state()
    trajectory.system.realize(state, Stage.POSITION)
    found = [kind for body in trajectory.system.matter.body_list[1:] for kind in kinds_of(body, state)]
    if len(found) != len(names):  # a state with angles in place of quaternions
        return {}
    return {name: kind for name, kind in zip(names, found, strict=True) if kind}


def kinds_of_q(body: Any, state: Any) -> list[str]:
    """Of each q of a mobilized body ``"angle"``, ``"length"``, or nothing, of a quaternion's."""
    n = body.get_num_q(state)
    quaternion = 4 if n > body.get_num_u(state) and body.facts.has_quaternion else 0
    return [""] * quaternion + ["angle" if is_angle(body, state, k) else "length" for k in range(quaternion, n)]


def kinds_of_u(body: Any, state: Any) -> list[str]:
    """Of each u of a mobilized body ``"angular speed"`` or ``"speed"``."""
    return ["angular speed" if turns(body, state, k) else "speed" for k in range(body.get_num_u(state))]


def is_angle(mobod: Any, state: Any, k: int) -> bool:
    """True if coordinate *k* of a mobilized body turns it: where its speed's column of the hinge matrix does."""
    nu = mobod.get_num_u(state)
    if mobod.get_num_q(state) != nu:
        k -= 1  # after a quaternion, which has one more than its angular velocity
    return k < nu and turns(mobod, state, k)


def turns(mobod: Any, state: Any, k: int) -> bool:
    """True if speed *k* of a mobilized body turns it."""
    return bool(np.linalg.norm(mobod.get_h_fm_col(state, k)[0]) > 1e-9)
