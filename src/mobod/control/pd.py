"""PD: proportional and derivative feedback of single coordinates, towards a target or along a reference."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..errors import ModelError
from ..force.base import check_forces, listed_mobilities
from ..force.subsystem import GeneralForceSubsystem
from ..function import Function
from ..state.of_each import Present, Rows, of_each
from ..state.state import State
from ..value import rows
from ..value.checks import numbers, shown
from .coordinates import Coordinates
from .custom import Custom, some_of_each
from .input import Input
from .reference import Reference
from .sensor import Sensor


def to_target(x: Any, parameters: Any) -> Any:
    """Kp (target - q) - Kd u."""
    n = x.shape[1]
    return parameters[:n] * (parameters[2 * n : 3 * n] - x[0]) - parameters[n : 2 * n] * x[1]


def along_reference(x: Any, reference: Any, parameters: Any) -> Any:
    """Kp (target + r - q) + Kd (r_dot - u)."""
    n = x.shape[1]
    error = parameters[2 * n : 3 * n] + reference[0] - x[0]
    return parameters[:n] * error + parameters[n : 2 * n] * (reference[1] - x[1])


def _targets_of_each(law: Custom, template: State, values: Any, present: Present) -> Rows | None:
    n, array = law.get_num_efforts(), rows.as_array(values)
    if array is not None and array.ndim == 1:  # a number serves all mobilities
        array = np.repeat(array[:, None], n, axis=1)
    return some_of_each(law, template, array, 2 * n, n)


class PD(Custom):
    """Kp (target - q) + Kd (target_dot - u) on each of some mobilities, at a sample time.

    Parameters
    ----------
    mobilities : iterable of (MobilizedBody, int), MobilizedBody or str, optional
        The mobilizer of each, and the number of the mobility among its own, whose q_dot is u; all of the matter's unless given.
    kp, kd : float, or (n,) array_like
        Gains: effort/coordinate, effort/speed.
    sample_time : float
        Time between samples.
    target : float, or (n,) array_like
        Where to go, see `set_target`.
    reference : Function or sequence of n Function, optional
        Functions of time, added to the target; their rates are those of what is wanted.
    limits : pair of floats or (n,) arrays, optional
        The least and the largest effort.
    noise, delay, seed
        Of the sensor that measures q and u, as `Sensor` takes them.

    Raises
    ------
    ModelError
        If a number is not finite, or not as many are given as there are mobilities; or as `Custom` and `Coordinates` say.

    Notes
    -----
    A continuous spring and damper is `force.MobilityLinearSpring` and `force.MobilityLinearDamper`. Sampled, the gains are
    bounded: for a unit inertia by about Kd T < 2 and Kp T < Kd.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.control.PD(system.forces, [(system.matter.bodies["lower"], 0)], kp=20.0, kd=2.0, sample_time=0.01)
    >>> state = system.realize_topology()
    >>> motion = mb.simulate(system, state, 0.1, report_interval=0.05)
    >>> len(motion.time)
    3
    """

    _LAWS: ClassVar[tuple[Callable[..., Any], Callable[..., Any]]] = to_target, along_reference

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        mobilities: Iterable[Any] | None = None,
        *,
        kp: ArrayLike,
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
            forces, mobilities, {"kp": kp, "kd": kd, "target": target}, sample_time, reference, limits, (noise, delay, seed),
            disabled_by_default, name,
        )  # fmt: skip

    def _begin(
        self,
        forces: GeneralForceSubsystem,
        mobilities: Iterable[Any] | None,
        gains: dict[str, ArrayLike],
        sample_time: float,
        reference: Function | Sequence[Function] | None,
        limits: tuple[Any, Any] | None,
        measuring: tuple[float, float, int],
        disabled_by_default: bool,
        name: str | None,
        memory_rows: int = 0,
        more: Sequence[float] = (),
    ) -> None:
        """Become a `Custom` with rows of n gains, and so many of memory."""
        listed = None if mobilities is None else listed_mobilities(mobilities)
        n = count(forces, listed)
        inputs: dict[str, Input] = {"x": measured(Coordinates(), *measuring)}
        if reference is not None:
            inputs["reference"] = Reference(reference)
            if inputs["reference"].shape(n, n)[1] != n:
                raise ModelError(
                    f"{n} mobilities take as many functions as reference, not {inputs['reference'].shape(n, n)[1]}"
                )
        super().__init__(
            forces,
            self._LAWS[reference is not None],
            listed,
            sample_time=sample_time,
            inputs=inputs,
            memory=[0.0] * (memory_rows * n),
            parameters=[x for what, value in gains.items() for x in spread(what, value, n)] + list(more),
            limits=limits,
            disabled_by_default=disabled_by_default,
            name=name,
        )

    @of_each(_targets_of_each)
    def set_target(self, state: State, target: ArrayLike) -> None:
        """Change where to go in this state, from the next sample on; it falls to VELOCITY at most. Needs MODEL."""
        n, (token, _, first) = self.get_num_efforts(), self.placed
        if state.token is token and state.put_numbers(target, first + self.place_of_parameters + 2 * n, (n,)):
            return
        parameters = self.get_parameters(state)
        parameters[2 * n : 3 * n] = spread("target", target, n)
        self.set_parameters(state, parameters)

    def get_target(self, state: State) -> Array:
        """The target of the coordinates in this state ``(n,)``. Needs MODEL."""
        n = self.get_num_efforts()
        return self.get_parameters(state)[2 * n : 3 * n]


def count(forces: GeneralForceSubsystem, mobilities: Sequence[Any] | None) -> int:
    """Number of mobilities that are listed, or of all."""
    check_forces(forces)
    if mobilities is not None:
        return len(mobilities)
    return sum(body.facts.num_u for body in forces.get_system().get_matter_subsystem().body_list)


def measured(input: Input, noise: float, delay: float, seed: int) -> Input:
    """Reading of a sensor of an input; the input itself where the sensor is perfect."""
    sensor = Sensor(input, noise=noise, delay=delay, seed=seed)
    return sensor if sensor.noise or sensor.delay else input


def spread(what: str, value: ArrayLike, n: int) -> list[float]:
    """One finite number for each of n mobilities, of as many or of one for all."""
    row = numbers(what, value)
    if row.shape not in ((), (n,)):
        raise ValueError(f"{what} has to be a number, or {n} of them, got {shown(value)} of shape {row.shape}")
    if not np.isfinite(row).all():
        raise ModelError(f"{what} has to be finite, got {shown(value)}")
    return np.broadcast_to(row, n).tolist()
