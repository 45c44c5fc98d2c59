"""Actuator: a force through a transmission, of a control, the transmission's length l and its speed v.

c = control, kept within its range   a = c, or a variable z of the actuator: z_dot = c, or z_dot = (c - z) / tau
f = gain a + bias   gain = g0 + g1 l + g2 v   bias = b0 + b1 l + b2 v   kept within its range
What acts is f, kept within what the joint or the rope can take.

A motor has gain (g0, 0, 0); a position servo gain (k, 0, 0) and bias (0, -k, -d), so that f = k (c - l) - d v; a velocity servo
gain (d, 0, 0) and bias (0, 0, -d); a damper gain (0, 0, -1). The law is that of MuJoCo's actuators with affine gain and bias.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.arrays import ArrayLike
from ..algebra.scalar import load, where
from ..compiling import generic
from ..errors import ModelError
from ..state import parameters
from ..state.state import State
from ..value import checks
from ..value.stage import Stage
from .pools import number, numbers3
from .subsystem import GeneralForceSubsystem
from .through_transmission import Law, ThroughTransmission
from .transmission.base import Transmission

#: What z is, the element's first integer.
NONE, INTEGRATOR, FILTER = 0, 1, 2
_DYNAMICS = {None: NONE, "integrator": INTEGRATOR, "filter": FILTER}
#: Numbers: the control, gain, bias, ranges of the control, of the force, of z and of what acts, tau, the period, then the
#: ratio.
GAIN, BIAS, CONTROL_RANGE, FORCE_RANGE, Z_RANGE, APPLIED_RANGE, TAU, PERIOD, RATIO = 1, 4, 7, 9, 11, 13, 15, 16, 17


@generic
def within(model: Any, x: int, value: Any) -> Any:
    """A value, kept between the two numbers at x."""
    low, high = number(model, x), number(model, x + 1)
    return where(value < low, low, where(value > high, high, value))


@generic
def nearest(model: Any, x: int, value: Any, length: Any) -> Any:
    """Of the values that are a period apart, the one that is nearest to the length; two periods away at most."""
    period = number(model, x + PERIOD)
    for _ in range(2):
        off = value - length
        value = where(off > 0.5 * period, value - period, where(off < -0.5 * period, value + period, value))
    return value


@generic
def control(model: Any, x: int) -> Any:
    """The control within its range."""
    return within(model, x + CONTROL_RANGE, number(model, x))


@generic
def law(model: Any, x: int, a: Any, length: Any, speed: Any) -> Any:
    """f."""
    g, b = numbers3(model, x + GAIN), numbers3(model, x + BIAS)
    a = nearest(model, x, a, length)
    f = (g[0] + g[1] * length + g[2] * speed) * a + b[0] + b[1] * length + b[2] * speed
    return within(model, x + FORCE_RANGE, f)


@generic
def rate(model: Any, i: int, x: int, z: int, speed: Any) -> Any:
    """z_dot, which takes z no further from its range."""
    c, a = control(model, x), load(model.z, z, 0)
    filtered = (c - a) / number(model, x + TAU)
    f = c if model.force_integers[i] == INTEGRATOR else filtered
    o = 0.0 * f
    f = where(a >= number(model, x + Z_RANGE + 1), where(f > 0.0, o, f), f)
    return where(a <= number(model, x + Z_RANGE), where(f < 0.0, o, f), f)


@generic
def of_control(model: Any, i: int, x: int, z: int, length: Any, speed: Any) -> Any:
    """The force that acts, with the control as a."""
    return within(model, x + APPLIED_RANGE, law(model, x, control(model, x), length, speed))


@generic
def of_activation(model: Any, i: int, x: int, z: int, length: Any, speed: Any) -> Any:
    """The force that acts, with z as a."""
    return within(model, x + APPLIED_RANGE, law(model, x, load(model.z, z, 0), length, speed))


class Actuator(ThroughTransmission):
    """A motor, a servo, a cylinder: a force through a transmission, of a control that a program sets in the state.

    Parameters
    ----------
    transmission : force.transmission.Transmission
        What it acts through: `transmission.Coordinates` of one joint, say.
    gain, bias : (3,) array_like
        f = gain . (1, l, v) a + bias . (1, l, v), with l and v the transmission's length and speed. Unless given, the force
        is the control.
    control : float
        In a default state.
    control_range, force_range : (float, float)
        What control and force are kept within; infinite where there is no bound.
    dynamics : {None, "integrator", "filter"}
        Whether a is the control, its integral z, or what follows it: z_dot = (control - z) / time_constant.
    time_constant : float
        Of the filter, above zero.
    activation_range : (float, float)
        What z does not leave.
    applied_range : (float, float)
        What the force is kept within where it acts: what a joint or a rope can take. `calc_force` is the force before.
    period : float, optional
        Of a length that is an angle: of the controls a period apart, the one that is nearest to the length counts.

    Raises
    ------
    TypeError, ValueError
        If the transmission is none, or a number not finite.
    ModelError
        If a range is not in order, the dynamics unknown, or the time constant not above zero.
    TopologyError
        If the transmission is made of bodies of another system.

    Examples
    --------
    A position servo on a joint:

    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> forces, upper = system.get_subsystem(1), system.matter.bodies[1]
    >>> joint = mb.force.transmission.Coordinates(forces, [(upper, 0, 1.0)])
    >>> servo = mb.force.Actuator(forces, joint, gain=(100, 0, 0), bias=(0, -100, -5), force_range=(-20, 20))
    >>> state = system.realize_topology()
    >>> servo.set_control(state, 0.1)
    >>> system.realize(state)
    >>> servo.calc_force(state)
    10.0
    """

    LAW, LAW_WITH_Z = Law(of_control, RATIO, 1), Law(of_activation, RATIO, 1, rate)

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        transmission: Transmission,
        *,
        gain: ArrayLike = (1.0, 0.0, 0.0),
        bias: ArrayLike = (0.0, 0.0, 0.0),
        control: float = 0.0,
        control_range: tuple[float, float] = (-np.inf, np.inf),
        force_range: tuple[float, float] = (-np.inf, np.inf),
        dynamics: str | None = None,
        time_constant: float = 1.0,
        activation_range: tuple[float, float] = (-np.inf, np.inf),
        applied_range: tuple[float, float] = (-np.inf, np.inf),
        period: float | None = None,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        whose = "an Actuator" if name is None else repr(name)
        numbers = self.declared(name, control=control, gain=gain, bias=bias)
        ranges = {"control_range": control_range, "force_range": force_range, "activation_range": activation_range}
        ranges["applied_range"] = applied_range
        for what, bounds in ranges.items():
            numbers += checked_range(f"{what} of {whose}", bounds)
        checks.among(f"dynamics of {whose}", dynamics, _DYNAMICS, ModelError)
        numbers.append(checks.positive(f"time_constant of {whose}", time_constant))
        numbers.append(np.inf if period is None else checks.positive(f"period of {whose}", period))
        of_z = _DYNAMICS[dynamics]
        self._activates = of_z != NONE
        self._connect(forces, transmission, [of_z], numbers, disabled_by_default, name)

    get_default_control, set_default_control, get_control, set_control = parameters.scalar(
        "control", "", checks.finite, "the control: what the gain is multiplied by", invalidates=Stage.DYNAMICS
    ).accessors()
    get_default_gain, set_default_gain, get_gain, set_gain = parameters.vector(
        "gain", "", "what a unit of control gives: constant, by length, by speed"
    ).accessors()
    get_default_bias, set_default_bias, get_bias, set_bias = parameters.vector(
        "bias", "", "the force without control: constant, by length, by speed"
    ).accessors()

    # of an actuator whose force is its control, the control is its effort
    get_effort, set_effort = get_control, set_control

    @property
    def state_variables(self) -> tuple[str, ...]:
        """The names of its variables among z, in order: ``"activation"``, or none."""
        return ("activation",) * self.num_z

    def calc_force(self, state: State) -> float:
        """The force along the transmission; zero where it is disabled. Needs VELOCITY."""
        length, speed = self.calc_length(state), self.calc_speed(state)
        if self.is_disabled(state):
            return 0.0
        x = self.span[2]
        a = control(state.record, x) if not self.num_z else state.z_values[self.first_z]
        return float(law(state.record, x, a, length, speed))


def checked_range(what: str, bounds: tuple[float, float]) -> list[float]:
    """Two numbers in order, infinite where there is no bound; `ModelError` otherwise."""
    low, high = checks.shaped(what, bounds, (2,)).tolist()
    if not low <= high or low == np.inf or high == -np.inf:
        raise ModelError(f"{what} has to be two numbers in order, infinite where there is no bound; got {low} and {high}")
    return [low, high]
