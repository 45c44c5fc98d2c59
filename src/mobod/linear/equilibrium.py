"""Equilibrium: where a system stands still."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..errors import ConvergenceError, ModelError
from ..simulation.names import auxiliary_names, speed_names
from ..state.state import State
from ..system.arguments import check_state
from ..system.system import MultibodySystem
from ..value import checks
from . import manifold
from .inputs import Inputs, listed

#: How little a change of an input counts against one of a displacement or of z.
_CHEAP = 1e3
#: How often a system may fall a little where Newton's method is stuck, and for how many steps.
_ROUNDS, _FALL = 20, 100
#: Accelerations from which on it has flown off, and squares of speeds overflow before long.
_WILD = 1e50


def find_equilibrium(
    system: MultibodySystem, state: State, *, inputs: Sequence[Any] = (), tolerance: float = 1e-10, max_iterations: int = 1000
) -> State:
    """Find a state near *state* in which a system stands still, stable or not.

    Parameters
    ----------
    system : MultibodySystem
    state : State
        Where to begin, at MODEL or above; it is left as it is. Locked and prescribed coordinates stay where they are.
    inputs : sequence
        What may be changed beside q and z: parameters and discrete forces by ``"element.parameter"`` or by their setters, as
        `linearize` takes them. With a motor's force free, the pose changes the least.
    tolerance : float
        The largest entry of u_dot and z_dot left.
    max_iterations : int

    Returns
    -------
    State
        At rest, at ACCELERATION, on the manifold of the constraints. What a motion or a constraint drives steadily goes on:
        the rest is in equilibrium relative to it.

    Raises
    ------
    ConvergenceError
        If none is found: how far it came is in the message.
    StageError
        If the state is below MODEL.
    TypeError, ValueError
        If an input is a mobility, which no state keeps a force of, or there is no such parameter.

    Notes
    -----
    Newton's method on u_dot = 0 by exact derivatives, with the step of least norm along the manifold where the solution is not
    unique, halved while it makes things worse, and projected back onto the constraints. Where that is stuck, the system falls
    for a while, stopped whenever its kinetic energy is largest, which takes it toward a stable equilibrium. Controllers hold
    their efforts as they are in *state*.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> upright = mb.find_equilibrium(system, state)
    >>> abs(upright.u_dot).max() < 1e-10
    np.True_
    """
    check_state("find_equilibrium", system, state)
    checks.positive("tolerance", tolerance, ValueError)
    checks.integer("max_iterations", max_iterations, 1)
    for one in listed("inputs", inputs):
        if isinstance(one, tuple):
            raise TypeError(
                f"input {one!r} is a mobility, and a state keeps no force of it; add a force.MobilityDiscreteForce and give "
                "its set_mobility_force"
            )
    here = manifold.at_rest(system, state.copy())
    freed, settled = Inputs(system, here, inputs), 0
    rest = _unrest(here)
    for _ in range(max_iterations):
        if np.abs(rest).max(initial=0.0) <= tolerance:
            return here
        better = _better(system, here, freed, _newton_step(system, here, freed, rest), rest)
        if better is None:  # Newton's method is stuck, or is as near as rounding allows
            if settled == _ROUNDS:
                break
            settled += 1
            better = _settled(system, here, freed)
        here = better
        rest = _unrest(here)
    worst, nu = int(np.argmax(np.abs(rest))), here.tree.nu
    if worst < nu:
        name, remedy = f"u_dot of {speed_names(system, here)[worst]}", "free inputs that can hold it"
    else:
        name = f"the rate of {auxiliary_names(system, here)[worst - nu]}"
        remedy = "leave out what integrates all the time, such as a measure.Integrate"
    raise ConvergenceError(
        f"no equilibrium of {system.name!r} was found near this state: {name} is still {rest[worst]:.3g}, and the tolerance "
        f"{tolerance:.3g}; begin closer to one, or {remedy}"
    )


def _better(system: Any, state: State, inputs: Inputs, step: Array, rest: Array) -> State | None:
    """The state after as much of a step as brings it nearer to rest; None where none does."""
    factor = 1.0
    while factor > 1e-2:
        try:
            other = _moved(system, state, inputs, factor * step)
            if np.linalg.norm(_unrest(other)) < np.linalg.norm(rest) * (1.0 - 1e-4 * factor):
                return other
        except (ConvergenceError, ModelError):
            pass
        factor *= 0.5
    return None


def _settled(system: Any, state: State, inputs: Inputs) -> State:
    """The state after it has fallen for a while, stopped whenever its kinetic energy is largest; as it was if it flies off."""
    nu, matter, begun = state.tree.nu, system.get_matter_subsystem(), state
    u, h = np.zeros(nu), 0.0
    step = np.zeros(nu + len(state.z_view) + len(inputs))
    for k in range(_FALL):
        if k % 20 == 0:  # a fraction of the shortest period
            stiffest = np.abs(np.linalg.eigvals(system.calc_forward_dynamics_derivatives(state).q)).max(initial=1e-6)
            h = 0.5 / np.sqrt(stiffest)
        u_dot = np.array(state.u_dot_view[:nu])
        if not np.abs(u_dot).max(initial=0.0) < _WILD:
            return begun
        if u @ matter.multiply_by_m(state, u_dot) < 0.0:
            u[:] = 0.0
        u += h * u_dot
        step[:nu] = h * u
        try:
            state = _moved(system, state, inputs, step)
        except (ConvergenceError, ModelError):  # too far in one step
            u[:] = 0.0
            h *= 0.5
    return state


def _unrest(state: State) -> Array:
    """u_dot and z_dot: what has to vanish."""
    return np.concatenate([state.u_dot_view[: state.tree.nu], state.z_dot_view])


def _newton_step(system: Any, state: State, inputs: Inputs, rest: Array) -> Array:
    """The least change of displacements, z and inputs that makes the linear model stand still."""
    from .linearize import linearize

    nu, m = state.tree.nu, 2 * state.tree.nu + len(state.z_view)
    model = linearize(system, state, [])
    J = np.delete(model.A[nu:m, :m], np.s_[nu : 2 * nu], axis=1)  # lines do not turn about themselves: nothing makes them
    n = J.shape[1]
    if len(inputs):
        J = np.hstack([J, np.zeros((len(J), len(inputs)))])
        J[:nu, n:] = _CHEAP * inputs.calc_rates(state, np.zeros((nu, nu)))
    _, T = manifold.split(manifold.of_positions(state)[:, :nu])
    T, _ = np.linalg.qr(T)  # so that lengths count alike
    whole = np.eye(J.shape[1])
    along = np.hstack([np.vstack([T, np.zeros((len(whole) - nu, T.shape[1]))]), whole[:, nu:]])
    step: Array = along @ np.linalg.lstsq(J @ along, -rest, rcond=1e-12)[0]
    step[n:] *= _CHEAP
    largest = np.abs(step[:nu]).max(initial=0.0)
    return step * min(1.0, 0.5 / largest) if largest > 0.0 else step


def _moved(system: Any, state: State, inputs: Inputs, step: Array) -> State:
    """The state at rest after a step."""
    nu, nz = state.tree.nu, len(state.z_view)
    other = manifold.moved(state, step[:nu])
    if nz:
        other.z = np.array(state.z_view) + step[nu : nu + nz]
    return manifold.at_rest(system, inputs.moved(other, step[nu + nz :]))
