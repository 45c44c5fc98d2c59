"""Sensor: another input as it is measured, with noise, and late."""

from __future__ import annotations

import math

from ..tree import sampling
from ..value.checks import instance, integer, not_negative
from .custom import Custom
from .input import Input, Packing


class Sensor(Input):
    """Another input, as an instrument gives it: with noise, and late.

    Parameters
    ----------
    input : Input
        What is measured.
    noise : float
        Standard deviation of what is added to each number, normally distributed and independent of all others; its unit.
    delay : float
        How late it is; time, rounded up to whole sample times. Until something is that old, it is what was measured first.
    seed : int
        Names the noise. The same seed gives the same numbers in every run, and other ones in each state of an Ensemble.

    Raises
    ------
    TypeError
        If *input* is none.
    ModelError
        If a number is negative or not finite.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.control.Sensor(mb.control.Coordinates([(system.matter.bodies["lower"], 0)]), noise=0.01)
    >>> isinstance(part, mb.control.Input)
    True
    """

    def __init__(self, input: Input, *, noise: float = 0.0, delay: float = 0.0, seed: int = 0) -> None:
        instance("input of a Sensor", input, Input, "mobod.control.Pose(body)")
        self.input, self.noise, self.delay = input, not_negative("noise", noise), not_negative("delay", delay)
        self.seed = integer("seed", seed)
        self.functions = input.functions

    def adopt(self, controller: Custom) -> None:
        self.input.adopt(controller)

    @property
    def is_of_model(self) -> bool:
        return self.input.is_of_model

    def shape(self, nq: int, nu: int) -> tuple[int, ...]:
        return self.input.shape(nq, nu)

    def pack(self, packing: Packing, size: int) -> int:
        out = self.input.pack(packing, size)
        samples = math.ceil(self.delay / packing.controller.sample_time - sampling.ROUNDING)
        past = packing.remember([0.0] * (size * samples))
        numbers = packing.keep([self.noise, float(samples)])
        packing.say(sampling.SENSE, out, size, past, numbers, self.seed)
        return out
