"""Motor: a motor by its curve of torque over speed, with a throttle and a gear.

f = c r T(s r u)     c = throttle, times d(t) where it has a duty cycle     s = 1 for c >= 0, else -1

T is the torque of full throttle at the motor's speed r u; with the throttle below zero the same motor drives the other way.
"""

from __future__ import annotations

from typing import Any

from ..algebra.scalar import load, where
from ..compiling import generic
from ..function.base import Function
from ..function.routines import jet
from ..mobilizer.base import MobilizedBody
from ..state import parameters
from ..state.state import State
from ..value import checks
from ._mobility import OnMobility, place, push
from .pools import number
from .routines import by_address
from .subsystem import GeneralForceSubsystem

THROTTLE, RATIO = 0, 1


@generic
def effort(model: Any, i: int, x: int) -> Any:
    """f. Integers: the mobility's two; whether there is a duty cycle; the number of the curve, which that follows."""
    curve = model.force_integers[i + 3]
    c, ratio = number(model, x + THROTTLE), number(model, x + RATIO)
    if model.force_integers[i + 2] == 1:
        c = c * jet(model, curve + 1, load(model.time, 0, 0))[0]
    speed = ratio * load(model.u, place(model, i), 0)
    back = c < 0.0
    return c * ratio * jet(model, curve, where(back, -speed, speed))[0]


@generic
def add(model: Any, i: int, x: int) -> None:
    """F on the mobility."""
    push(model, place(model, i), effort(model, i, x))


class Motor(OnMobility):
    """A motor on one mobility, by its curve of torque over speed.

    Parameters
    ----------
    mobod : MobilizedBody
        The body whose mobilizer has the mobility.
    which_u : int
        Which of its mobilities, from 0.
    curve : Function
        The motor's torque at full throttle by its speed, such as a `function.Table` of a data sheet: also for speeds above
        that without load, and below zero, where it is driven.
    throttle : float
        1 for all of the curve; below zero it drives the other way.
    ratio : float
        The motor's speed by the mobility's, above zero: that of a gear that loses nothing.
    duty_cycle : Function, optional
        Of time, which the throttle is multiplied by.

    Raises
    ------
    TypeError, ModelError
        If a function is none of one argument, or a number out of its range.
    IndexError
        If there is no such mobility.

    Notes
    -----
    The rotor's inertia J is not in it: it adds ratio^2 J to that of the mobility.

    Examples
    --------
    A motor whose torque falls from 2 to none at 100 rad/s, in a gear of 5.

    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> curve = mb.function.Table([0.0, 100.0], [2.0, 0.0], interpolation="linear")
    >>> motor = mb.force.Motor(system.forces, system.matter.bodies["upper"], 0, curve, ratio=5.0)
    >>> state = system.realize_topology()
    >>> state.u = (10.0, 0.0)
    >>> system.realize(state, mb.Stage.VELOCITY)
    >>> round(motor.calc_torque(state), 9)
    5.0
    """

    routine = by_address(add)

    get_default_throttle, set_default_throttle, get_throttle, set_throttle = parameters.scalar(
        "throttle", "", checks.finite, "the part of the curve's torque that acts; below zero it drives the other way"
    ).accessors()
    get_default_ratio, set_default_ratio, get_ratio, set_ratio = parameters.scalar(
        "ratio", "", checks.positive, "the motor's speed by the mobility's"
    ).accessors()

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        mobod: MobilizedBody,
        which_u: int,
        curve: Function,
        *,
        throttle: float = 1.0,
        ratio: float = 1.0,
        duty_cycle: Function | None = None,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        functions = [curve] if duty_cycle is None else [curve, duty_cycle]
        for what, one in zip(("curve", "duty_cycle"), functions, strict=False):
            if not isinstance(one, Function) or one.get_argument_size() != 1:
                raise TypeError(f"the {what} of a Motor is a mobod.function of one argument, not {one!r}")
        self._connect(forces, mobod, which_u, disabled_by_default, name, throttle=throttle, ratio=ratio)
        self.default_integers = [*self.default_integers, len(functions) - 1]
        self.used_functions = [(one, [0]) for one in functions]

    @property
    def reads_time(self) -> bool:
        """True if it has a duty cycle."""
        return len(self.used_functions) > 1

    @property
    def curve(self) -> Function:
        """The torque by the motor's speed."""
        return self.used_functions[0][0]

    def calc_torque(self, state: State) -> float:
        """Calculate the effort on the mobility. Needs VELOCITY."""
        body = self.get_mobilized_body()
        return float(self.calc_force_contribution(state)[2][body.u_slice(state)][self.get_which_u()])
