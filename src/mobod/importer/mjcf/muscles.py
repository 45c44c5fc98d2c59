"""MuJoCo's muscle: an actuator whose gain and bias depend on length and speed as fibers do.

L = r0 + (l - lr0) / L0        L0 = (lr1 - lr0) / (r1 - r0)        V = v / (L0 vmax)
S = force, or scale / acc0 where that is below zero
f = -S FL(L) FV(V) a - S FP(L)        a' = (c - a) / tau, c the control within 0 and 1

FL: half parabolas over lmin, (lmin + 1) / 2, 1, (1 + lmax) / 2, lmax
FV: (V + 1)^2 to V = 0, fvmax - (y - V)^2 / y to V = y = fvmax - 1, then fvmax
FP: fpmax / 2 ((L - 1) / (b - 1))^2 to b = (1 + lmax) / 2, then its tangent
tau = tau_act (1/2 + 3/2 a) where c > a, else tau_deact / (1/2 + 3/2 a); with tausmooth between them by a quintic step of c - a

Source: MuJoCo's documentation of muscles, and what MuJoCo 4 computes, where that differs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...algebra.scalar import load, one, where, zero
from ...compiling import generic
from ...force.actuator import within
from ...force.pools import number
from ...force.subsystem import GeneralForceSubsystem
from ...force.through_transmission import Law, ThroughTransmission
from ...force.transmission.base import Transmission
from ...state import parameters
from ...state.state import State
from ...value import checks
from ...value.stage import Stage

#: Numbers: the control; ranges of the control, of the force and of what acts; tau_act, tau_deact, tausmooth; of the gain S, r0,
#: lr0, 1 / L0, 1 / (L0 vmax), lmin, lmax, fvmax; of the bias S, r0, 1 / L0, lmax, fpmax; then the ratio.
CONTROL_RANGE, FORCE_RANGE, APPLIED_RANGE, RISE, FALL, SMOOTH, GAIN, BIAS, RATIO = 1, 3, 5, 7, 8, 9, 10, 18, 23
#: What MuJoCo divides by at the least.
_LEAST = 1e-15


@generic
def by_length(l: Any, low: Any, high: Any) -> Any:
    """FL."""
    a, b = 0.5 * (low + 1.0), 0.5 * (1.0 + high)
    o, i = zero(l), one(l)
    up, down = (l - low) / (a - low), (high - l) / (high - b)
    near, far = (i - l) / (1.0 - a), (l - i) / (b - 1.0)
    rising = where(l <= a, 0.5 * up * up, 1.0 - 0.5 * near * near)
    falling = where(l <= b, 1.0 - 0.5 * far * far, 0.5 * down * down)
    return where(l < low, o, where(l > high, o, where(l <= 1.0, rising, falling)))


@generic
def by_speed(v: Any, most: Any) -> Any:
    """FV."""
    y = most - 1.0
    o = zero(v)
    rest = y - v
    lengthening = where(v <= y, most - rest * rest / where(y > _LEAST, y + o, _LEAST + o), most + o)
    return where(v <= -1.0, o, where(v <= 0.0, (v + 1.0) * (v + 1.0), lengthening))


@generic
def passive(l: Any, high: Any, most: Any) -> Any:
    """FP."""
    x = (l - 1.0) / (0.5 * (1.0 + high) - 1.0)
    return most * where(x <= 0.0, zero(x), where(x <= 1.0, 0.5 * x * x, x - 0.5))


@generic
def law(model: Any, x: int, a: Any, length: Any, speed: Any) -> Any:
    """f."""
    g, b = x + GAIN, x + BIAS
    l = number(model, g + 1) + (length - number(model, g + 2)) * number(model, g + 3)
    fl = by_length(l, number(model, g + 5), number(model, g + 6))
    fv = by_speed(speed * number(model, g + 4), number(model, g + 7))
    own = number(model, b + 1) + (length - number(model, g + 2)) * number(model, b + 2)
    fp = passive(own, number(model, b + 3), number(model, b + 4))
    return within(model, x + FORCE_RANGE, -number(model, g) * fl * fv * a - number(model, b) * fp)


@generic
def rate(model: Any, i: int, x: int, z: int, speed: Any) -> Any:
    """a'."""
    a, c = load(model.z, z, 0), within(model, x + CONTROL_RANGE, number(model, x))
    o, i = zero(a), one(a)
    c = where(c < 0.0, o, where(c > 1.0, i, c + o))
    kept = where(a < 0.0, o, where(a > 1.0, i, a))
    rise, fall = number(model, x + RISE) * (0.5 + 1.5 * kept), number(model, x + FALL) / (0.5 + 1.5 * kept)
    more, width = c - a, number(model, x + SMOOTH)
    s = more / where(width > _LEAST, width, one(width)) + 0.5
    s = where(s < 0.0, o, where(s > 1.0, i, s))
    smooth = fall + (rise - fall) * s * s * s * (10.0 + s * (6.0 * s - 15.0))
    tau = where(width + o > _LEAST, smooth, where(more > 0.0, rise, fall))
    return more / where(tau > _LEAST, tau, _LEAST + o)


@generic
def of_control(model: Any, i: int, x: int, z: int, length: Any, speed: Any) -> Any:
    """The force that acts, with the control as a."""
    a = within(model, x + CONTROL_RANGE, number(model, x))
    return within(model, x + APPLIED_RANGE, law(model, x, a, length, speed))


@generic
def of_activation(model: Any, i: int, x: int, z: int, length: Any, speed: Any) -> Any:
    """The force that acts, with z as a."""
    return within(model, x + APPLIED_RANGE, law(model, x, load(model.z, z, 0), length, speed))


class MuscleActuator(ThroughTransmission):
    """MuJoCo's muscle along a transmission. Its activation is a z.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        What it joins.
    transmission : force.transmission.Transmission
    gain, bias : (9,) arrays
        Range (2), force, scale, lmin, lmax, vmax, fpmax, fvmax, as MuJoCo has them; the bias' force is zero of one without.
    length_range : (float, float)
    acceleration : float
        acc0, by which the scale is divided where a force is below zero.
    time_constants : (3,) array, optional
        tau_act, tau_deact, tausmooth; None where activation is the control.
    control_range, force_range, applied_range : (float, float)
    disabled_by_default : bool
    name : str, optional
    """

    LAW, LAW_WITH_Z = Law(of_control, RATIO), Law(of_activation, RATIO, rate=rate)

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        transmission: Transmission,
        gain: Any,
        bias: Any,
        length_range: Any,
        acceleration: float,
        time_constants: Any,
        *,
        control_range: tuple[float, float],
        force_range: tuple[float, float],
        applied_range: tuple[float, float],
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        numbers = self.declared(name, default=0.0)
        numbers += [*control_range, *force_range, *applied_range]
        numbers += [1.0, 1.0, 0.0] if time_constants is None else [float(x) for x in time_constants]
        strength, start, scale, v = _scales(gain, length_range, acceleration)
        numbers += [strength, start, float(length_range[0]), scale, v, gain[4], gain[5], gain[8]]
        strength, start, scale, _ = _scales(bias, length_range, acceleration)
        numbers += [strength, start, scale, bias[5], bias[7]]
        self._activates = time_constants is not None
        self._connect(forces, transmission, [], [float(x) for x in numbers], disabled_by_default, name)

    get_default_control, set_default_control, get_control, set_control = parameters.scalar(
        "control", "", checks.finite, "the control: the excitation", given_as="default", invalidates=Stage.DYNAMICS
    ).accessors()

    def calc_force(self, state: State) -> float:
        """The force along the transmission, below zero where it pulls; zero where it is disabled. Needs VELOCITY."""
        self._check(state, "calc_force")
        if self.is_disabled(state):
            return 0.0
        length, speed = self._transmission.calc_length(state), self._transmission.calc_speed(state)
        a = state.z_values[self.first_z] if self.num_z else self.get_control(state)
        return float(law(state.record, self.span[2], np.float64(a), np.float64(length), np.float64(speed)))


def _scales(own: Any, length_range: Any, acceleration: float) -> tuple[float, float, float, float]:
    """S, r0, 1 / L0 and 1 / (L0 vmax)."""
    strength = float(own[2]) if own[2] >= 0.0 else float(own[3]) / max(_LEAST, acceleration)
    optimum = float(length_range[1] - length_range[0]) / max(_LEAST, float(own[1] - own[0]))
    return strength, float(own[0]), 1.0 / max(_LEAST, optimum), 1.0 / max(_LEAST, optimum * float(own[6]))
