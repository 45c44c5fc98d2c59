"""ComputedTorque: linear error dynamics of all coordinates, by inverse dynamics at each sample.

    tau = M (r_ddot + Kd (r_dot - u) + Kp (r - q)) + bias - gravity        so that e_ddot + Kd e_dot + Kp e = 0

Source: Siciliano, Sciavicco, Villani and Oriolo 2009, section 8.5.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..algebra.arrays import ArrayLike
from ..errors import ModelError
from ..force.base import check_forces
from ..function import Function
from ._nominal import NominalSystem
from .coordinates import Coordinates
from .custom import Custom
from .pd import count, measured, spread
from .reference import Reference

if TYPE_CHECKING:
    from ..force.subsystem import GeneralForceSubsystem
    from ..value.annotations import MultibodySystem


def law(x: Any, reference: Any, M: Any, bias: Any, gravity: Any, which: Any, parameters: Any) -> Any:
    """Inverse dynamics of the acceleration that linear feedback wants."""
    n = x.shape[1]
    wanted = reference[2] + parameters[n : 2 * n] * (reference[1] - x[1]) + parameters[:n] * (reference[0] - x[0])
    return (M @ wanted + bias - gravity)[which]


class ComputedTorque(Custom):
    """M (r_ddot + Kd e_dot + Kp e) + bias - gravity, at a sample time: each error decays as a linear oscillator's.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        What it joins.
    reference : sequence of Function
        Functions of time that all coordinates of the matter are to follow, in their order.
    kp, kd : float, or (nu,) array_like
        1/time^2 and 1/time: critically damped where kd^2 = 4 kp.
    mobilities : iterable of (MobilizedBody, int), MobilizedBody or str, optional
        Where it acts; on all, or all of the model's, unless given.
    sample_time : float
        Time between samples.
    model : MultibodySystem, optional
        The nominal system by whose dynamics it computes torques, and whose coordinates the reference is of; see `Custom`.
    limits, noise, delay, seed, disabled_by_default, name
        As `PD` takes them.

    Raises
    ------
    ModelError
        If not each coordinate has its function, or some mobilizer has a quaternion.

    Notes
    -----
    Siciliano, Sciavicco, Villani and Oriolo 2009, section 8.5.2. Forces other than weight and inertia are not foreseen.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> waves = [mb.function.Sinusoid(0.3, 2.0, 0.0), mb.function.Constant(0.0)]
    >>> part = mb.control.ComputedTorque(system.forces, waves, kp=50.0, kd=10.0, sample_time=0.01)
    >>> state = system.realize_topology()
    >>> motion = mb.simulate(system, state, 0.1, report_interval=0.05)
    >>> len(motion.time)
    3
    """

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        reference: Function | Sequence[Function],
        mobilities: Iterable[Any] | None = None,
        *,
        kp: ArrayLike,
        kd: ArrayLike,
        sample_time: float,
        model: MultibodySystem | None = None,
        limits: tuple[Any, Any] | None = None,
        noise: float = 0.0,
        delay: float = 0.0,
        seed: int = 0,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        check_forces(forces)
        plant = forces.get_system()
        all_of_them = None if model is None else NominalSystem(model, plant).mobilities(plant)
        n, followed = count(forces, all_of_them), Reference(reference)
        if followed.shape(n, n)[1] != n:
            raise ModelError(f"the matter has {n} mobilities, and reference {followed.shape(n, n)[1]} functions")
        if all_of_them is None:
            bodies = plant.get_matter_subsystem().body_list
            all_of_them = [(body, which) for body in bodies for which in range(body.facts.num_u)]
        super().__init__(
            forces,
            law,
            mobilities,
            sample_time=sample_time,
            inputs={"x": measured(Coordinates(all_of_them), noise, delay, seed), "reference": followed},
            parameters=spread("kp", kp, n) + spread("kd", kd, n),
            limits=limits,
            model=model,
            disabled_by_default=disabled_by_default,
            name=name,
        )
