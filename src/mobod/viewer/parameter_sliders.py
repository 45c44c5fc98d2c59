"""Sliders for parameters: numbers of a model that a state can have of its own, such as a mass or a stiffness."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..derivative import settings
from ..state.state import State
from ..system.system import MultibodySystem
from ..value import checks

_STEPS = 200.0


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
    """

    def __init__(self, setting: settings.Setting, i: int, value: float, ends: tuple[float, float] | None) -> None:
        self.name, self.setting, self._setting, self._i = setting.names[i], setting.name, setting, i
        low, high = _around(value) if ends is None else ends
        self.low, self.high = min(low, value), max(high, value)
        self.step = 10.0 ** math.floor(math.log10((self.high - self.low) / _STEPS))

    def read(self, state: State) -> float:
        """Its value in a state."""
        return float(self._setting.values(state)[self._i])

    def write(self, state: State, value: float) -> None:
        """Give it another value in a state, which falls as its setter says; raises what that raises."""
        self._setting.shift(state, self._i, value - self.read(state))

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
        found += [ParameterSlider(setting, i, float(np.float64(x)), pair) for i, x in enumerate(values) if math.isfinite(x)]
    return found


def _numbers(system: Any) -> list[str]:
    bodies = system.get_matter_subsystem().body_list[1:3]
    return [f"{body.name}.{name}" for body in bodies for name in ("mass", "com")]


def _around(value: float) -> tuple[float, float]:
    """From zero to twice a value; to both sides of zero."""
    if value == 0.0:
        return -1.0, 1.0
    return (0.05 * value, 2.0 * value) if value > 0.0 else (2.0 * value, 0.0)
