"""PID: `PD` with an integral of the error, which does not wind up where efforts are at their limits.

    I += T e, but not where the effort is at a limit and e would drive it further: conditional integration

Source: Astrom and Hagglund 2006, section 3.5.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..algebra.arrays import ArrayLike
from ..force.subsystem import GeneralForceSubsystem
from ..function import Function
from ..value.checks import positive
from .pd import PD


def with_integral(error: Any, rate: Any, low: Any, high: Any, memory: Any, parameters: Any) -> Any:
    """Kp e + Ki I + Kd e_dot, and I for the next sample; parameters are Kp, Kd, target, Ki and the sample time."""
    n = len(error)
    kp, kd, ki = parameters[:n], parameters[n : 2 * n], parameters[3 * n : 4 * n]
    efforts = kp * error + ki * memory + kd * rate
    for i in range(n):
        push = ki[i] * error[i]
        if not ((efforts[i] >= high[i] and push > 0.0) or (efforts[i] <= low[i] and push < 0.0)):
            memory[i] += parameters[4 * n] * error[i]
    return efforts


def to_target(x: Any, low: Any, high: Any, memory: Any, parameters: Any) -> Any:
    """Towards a target."""
    n = x.shape[1]
    return with_integral(parameters[2 * n : 3 * n] - x[0], -x[1], low, high, memory, parameters)


def along_reference(x: Any, reference: Any, low: Any, high: Any, memory: Any, parameters: Any) -> Any:
    """Along a reference, added to the target."""
    n = x.shape[1]
    error = parameters[2 * n : 3 * n] + reference[0] - x[0]
    return with_integral(error, reference[1] - x[1], low, high, memory, parameters)


class PID(PD):
    """Kp e + Ki integral of e + Kd e_dot on each of some mobilities, at a sample time; the integral does not wind up.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        What it joins.
    mobilities : iterable of (MobilizedBody, int), MobilizedBody or str, optional
        As `PD` takes them.
    kp, ki, kd : float, or (n,) array_like
        Gains: effort/coordinate, effort/(coordinate*time), effort/speed.
    sample_time : float
        Time between samples.
    target, reference, limits, noise, delay, seed, disabled_by_default, name
        As `PD` takes them.

    Raises
    ------
    ModelError
        As `PD`.

    Notes
    -----
    Where an effort is at a limit and the error would drive it further, the integral rests (Astrom and Hagglund 2006, section
    3.5). `get_memory` gives it, `set_memory` sets it.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.control.PID(system.forces, [(system.matter.bodies["lower"], 0)], kp=20.0, ki=5.0, kd=2.0, sample_time=0.01)
    >>> state = system.realize_topology()
    >>> motion = mb.simulate(system, state, 0.1, report_interval=0.05)
    >>> len(motion.time)
    3
    """

    _LAWS = to_target, along_reference

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        mobilities: Iterable[Any] | None = None,
        *,
        kp: ArrayLike,
        ki: ArrayLike,
        kd: ArrayLike,
        sample_time: float,
        target: ArrayLike = 0.0,
        reference: Function | Sequence[Function] | None = None,
        limits: tuple[Any, Any] | None = None,
        noise: float = 0.0,
        delay: float = 0.0,
        seed: int = 0,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        self._begin(
            forces, mobilities, {"kp": kp, "kd": kd, "target": target, "ki": ki}, sample_time, reference, limits,
            (noise, delay, seed), disabled_by_default, name, 1, [positive("sample_time", sample_time)],
        )  # fmt: skip
