"""GravityCompensation: efforts that hold the weight of a mechanism."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .custom import Custom

if TYPE_CHECKING:
    from ..force.subsystem import GeneralForceSubsystem
    from ..value.annotations import MultibodySystem


def law(gravity: Any, which: Any) -> Any:
    """The efforts that hold the weight."""
    return -gravity[which]


class GravityCompensation(Custom):
    """The efforts that hold the weight of the mechanism at its present configuration, at a sample time.

    Parameters
    ----------
    mobilities : iterable of (MobilizedBody, int), MobilizedBody or str, optional
        Where it acts; on all unless given.
    sample_time : float
        Time between samples.
    limits : pair of floats or (n,) arrays, optional
        The least and the largest effort.
    model : MultibodySystem, optional
        The nominal system whose weight is held, see `Custom`.

    Notes
    -----
    `matter.calc_gravity_forces` gives the same numbers at any state.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.control.GravityCompensation(system.forces, sample_time=0.01)
    >>> state = system.realize_topology()
    >>> motion = mb.simulate(system, state, 0.1, report_interval=0.05)
    >>> len(motion.time)
    3
    """

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        mobilities: Iterable[Any] | None = None,
        *,
        sample_time: float,
        limits: tuple[Any, Any] | None = None,
        model: MultibodySystem | None = None,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(
            forces,
            law,
            mobilities,
            sample_time=sample_time,
            limits=limits,
            model=model,
            disabled_by_default=disabled_by_default,
            name=name,
        )
