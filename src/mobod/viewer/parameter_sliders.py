"""Sliders for parameters: numbers of a model that a state can have of its own, such as a mass or a stiffness."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..derivative import settings
from ..shapes.coordinate_kinds import is_angle, turns, unit_of_words
from ..state.state import State
from ..system.system import MultibodySystem
from ..value import checks
from ..value.stage import Stage

_STEPS = 200.0
#: Of words for both, those of an angle, and of a length.
_GENERAL = {
    "angle or length": ("angle", "length"),
    "generalized force": ("torque", "force"),
    r" by generalized speed(\^\d)?": (r"*time\1/angle\1", r"*time\1/length\1"),
    " by coordinate": ("/angle", "/length"),
}


class ParameterSlider:
    """One number that a slider moves.

    Attributes
    ----------
    name : str
        ``element.parameter``, with ``[i]`` where it is one of several.
    setting : str
        The same without that.
    low, high : float
    step : float
    unit : str
        In words, ``force/length``, or nothing.
    """

    def __init__(
        self, setting: settings.Setting, i: int, value: float, ends: tuple[float, float] | None, largest: float = 0.0
    ) -> None:
        self.name, self.setting, self._setting, self._i = setting.names[i], setting.name, setting, i
        low, high = _around(value, largest) if ends is None else ends
        self.low, self.high = min(low, value), max(high, value)
        self.unit = ""
        self.step = 10.0 ** math.floor(math.log10((self.high - self.low) / _STEPS))

    def label(self, units: Sequence[str] | None) -> str:
        """Its name, with its unit of those of mass, length and time."""
        unit = unit_of_words(self.unit, units) if units else ""
        return f"{self.name} ({unit})" if unit else self.name

    def read(self, state: State) -> float:
        """Its value in a state."""
        return float(self._setting.values(state)[self._i])

    def write(self, state: State, value: float) -> None:
        """Give it another value in a state, which falls as its setter says; raises what that raises."""
        self._setting.move(state, self._i, value - self.read(state))

    def shown(self, state: State) -> float:
        """Its value, within the range."""
        return min(max(self.read(state), self.low), self.high)


def list_parameters(system: MultibodySystem, state: State, parameters: Any) -> list[ParameterSlider]:
    """The sliders of parameters that were asked for.

    Parameters
    ----------
    system : MultibodySystem
    state : State
        Whose values they begin with.
    parameters : iterable of str or setter, or mapping of these to (float, float) or None
        ``"spring.stiffness"``, ``spring.set_stiffness``; with the ends of the slider's range, otherwise up to twice the value.

    Raises
    ------
    TypeError, ValueError
        For what is no parameter or is there twice, or a range that is none.
    """
    if isinstance(parameters, str) or not isinstance(parameters, Iterable):
        raise TypeError(f"parameters has to be a list, such as ['spring.stiffness'], or a mapping, not {parameters!r}")
    ends = parameters if isinstance(parameters, Mapping) else {}
    found: list[ParameterSlider] = []
    for what in parameters:
        setting = settings.find(system, what)
        pair = ends.get(what)
        if pair is not None:
            low, high = checks.array(f"the range of {setting.name!r}", pair, (2,), ValueError)
            if not low < high:
                raise ValueError(f"the range of {setting.name!r} has to be (low, high), got {pair!r}")
            pair = float(low), float(high)
        if setting.name.endswith("frame"):
            raise ValueError(f"{setting.name!r} is a frame, which has no slider; choose among {', '.join(_numbers(system))}")
        if any(one.setting == setting.name for one in found):
            raise ValueError(f"the parameter {setting.name!r} is there twice; one slider is enough")
        values = setting.values(state)
        units, largest = _words(setting, state, len(values)), float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
        for i, x in enumerate(values):
            if math.isfinite(x):
                found.append(ParameterSlider(setting, i, float(np.float64(x)), pair, largest))
                found[-1].unit = units[i]
    return found


def _words(setting: settings.Setting, state: State, n: int) -> list[str]:
    """The units of a setting's n numbers, in words: of a coordinate's by what the coordinate is."""
    words, which = setting.unit, getattr(setting.element, "get_which_q", getattr(setting.element, "get_which_u", None))
    if which is not None:
        mobod: Any = setting.element.get_mobilized_body()
        at = mobod.realized(state, Stage.POSITION)
        turning = is_angle(mobod, at, which()) if hasattr(setting.element, "get_which_q") else turns(mobod, at, which())
        for general, (of_angle, of_length) in _GENERAL.items():
            words = re.sub(general, of_angle if turning else of_length, words)
    several = words.split(", ")
    return [several[i * len(several) // n] for i in range(n)]


def _numbers(system: Any) -> list[str]:
    bodies = system.get_matter_subsystem().body_list[1:3]
    return [f"{body.name}.{name}" for body in bodies for name in ("mass", "com")]


def _around(value: float, largest: float) -> tuple[float, float]:
    """From zero to twice a value; to both sides of zero, as far as the *largest* one beside it, or by 1."""
    if value == 0.0:
        return -(largest or 1.0), largest or 1.0
    return (0.05 * value, 2.0 * value) if value > 0.0 else (2.0 * value, 0.0)
