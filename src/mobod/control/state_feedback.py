"""StateFeedback: efforts that are linear in how far the whole state is from one that is to be held.

    tau = tau_0 - K_q (q - q_0) - K_u (u - u_0) - K_z (z - z_0)

A quaternion and its negative are the same orientation: the one that is nearer to that of q_0 counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..algebra.arrays import ArrayLike
from ..errors import ModelError
from ..force.base import check_forces, listed_mobilities
from ..force.subsystem import GeneralForceSubsystem
from ..value.checks import numbers
from .custom import Custom


class StateFeedback(Custom):
    """tau_0 - K (x - x_0), with x = (q, u, z) of the whole system, at a sample time: what `mobod.lqr` gives the gains of.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        What it joins.
    mobilities : iterable of (MobilizedBody, int), MobilizedBody or str, optional
        What it acts on: the mobilizer of each, and the number of the mobility among its own. All of the matter's unless given.
    gains : (n, nq + nu + nz) array_like
        K: a row an effort, a column a number of the state as it is stored.
    q, u, z : (nq,), (nu,), (nz,) array_like, optional
        The state that is held; u and z are zero unless given.
    efforts : (n,) array_like, optional
        tau_0, what holds it there; zero unless given.
    sample_time : float
        Time between samples.
    limits, disabled_by_default, name
        As `Custom` takes them.

    Raises
    ------
    ModelError
        If *gains*, *q*, *u*, *z* or *efforts* are not as many as there have to be, or not finite.

    Notes
    -----
    Its parameters are K row by row, q_0, u_0, z_0 and tau_0, so that a state can have its own by `set_parameters`.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> gains = [[20.0, 0.0, 4.0, 0.0], [0.0, 10.0, 0.0, 2.0]]
    >>> part = mb.control.StateFeedback(system.forces, gains=gains, q=(0.0, 0.0), sample_time=0.01)
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
        gains: ArrayLike,
        q: ArrayLike,
        u: ArrayLike | None = None,
        z: ArrayLike = (),
        efforts: ArrayLike | None = None,
        sample_time: float,
        limits: tuple[Any, Any] | None = None,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        check_forces(forces)
        K = numbers("gains", gains)
        if K.ndim != 2:
            raise ModelError(f"gains have to be a matrix, a row an effort, got an array of shape {K.shape}")
        bodies = forces.get_system().get_matter_subsystem().body_list
        nu, n = sum(body.facts.num_u for body in bodies), len(K)
        held = [numbers("q", q), numbers("u", np.zeros(nu) if u is None else u), numbers("z", z)]
        held.append(numbers("efforts", np.zeros(n) if efforts is None else efforts))
        of = {"q": sum(body.facts.num_q for body in bodies), "u": nu, "z": K.shape[1] - len(held[0]) - nu, "efforts": n}
        for (what, size), row in zip(of.items(), held, strict=True):
            if row.shape != (size,):
                raise ModelError(
                    f"{what} has to be {max(size, 0)} numbers, got an array of shape {row.shape}; gains have {K.shape[1]} "
                    f"columns, for {of['q']} q, {nu} u and the z"
                )
        acted = nu if mobilities is None else len(mobilities := listed_mobilities(mobilities))
        if acted != n:
            raise ModelError(f"gains have {n} rows, and {acted} mobilities are acted on")
        super().__init__(
            forces,
            _law(_quaternions(bodies)),
            mobilities,
            sample_time=sample_time,
            parameters=np.concatenate([K.ravel(), *held]),
            limits=limits,
            disabled_by_default=disabled_by_default,
            name=name,
        )


def _quaternions(bodies: Iterable[Any]) -> list[int]:
    """The first place of each quaternion among q."""
    found, at = [], 0
    for body in bodies:
        if body.facts.has_quaternion:
            found.append(at)
        at += body.facts.num_q
    return found


def _law(quaternions: list[int]) -> Callable[..., Any]:
    """The law of a system with quaternions at these places of q."""

    def feedback(q: Any, u: Any, z: Any, which: Any, parameters: Any) -> Any:
        n, nq, size = len(which), len(q), len(q) + len(u) + len(z)
        K = parameters[: n * size].copy().reshape((n, size))
        off = -parameters[n * size : n * size + size]
        off[:nq] += q
        off[nq : nq + len(u)] += u
        off[nq + len(u) :] += z
        return parameters[n * size + size :] - K @ off

    if not quaternions:
        return feedback
    places = np.array(quaternions)

    def nearer(q: Any, u: Any, z: Any, which: Any, parameters: Any) -> Any:
        first = len(which) * (len(q) + len(u) + len(z))
        turned = q.copy()
        for at in places:
            if q[at : at + 4] @ parameters[first + at : first + at + 4] < 0.0:
                turned[at : at + 4] *= -1.0
        return feedback(turned, u, z, which, parameters)

    return nearer
