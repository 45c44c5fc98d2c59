"""Minima of the potential energy, on the manifold of the constraints."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..errors import ConvergenceError, ModelError
from ..simulation.names import speed_names
from ..state.state import State
from ..system.arguments import check_state
from ..system.system import MultibodySystem
from ..value import checks
from . import manifold

#: Steps that are remembered; the largest displacement of a step, radians or length; halvings of one.
_MEMORY, _LARGEST, _HALVINGS = 10, 0.3, 40
#: The part of the expected fall that is enough; of the slope that may be left; of the energy that is rounding.
_ENOUGH, _SLOPE, _ROUNDING = 1e-4, 0.9, 1e-12


def minimize_energy(system: MultibodySystem, state: State, *, tolerance: float = 1e-6, max_iterations: int = 5000) -> State:
    """Find a minimum of the potential energy near *state*, such as of a molecule whose places a file says.

    Parameters
    ----------
    system : MultibodySystem
    state : State
        Where to begin, at MODEL or above; it is left as it is. Locked and prescribed coordinates stay where they are.
    tolerance : float
        The largest generalized force left along what is free, energy by radian or length.
    max_iterations : int

    Returns
    -------
    State
        At rest, at ACCELERATION, on the manifold of the constraints. Its energy is no higher than that of *state*, once this
        fulfils the constraints; where that is a maximum or a saddle, it stays there.

    Raises
    ------
    ConvergenceError
        If none is found: how far it came is in the message. Forces without a potential energy, such as a motor's, have none.
    ModelError
        If a motion or a constraint drives at a speed, so that nothing is at rest.
    StageError
        If the state is below MODEL.

    Notes
    -----
    The quasi-Newton method L-BFGS (Nocedal and Wright 2006, algorithm 7.4) in displacements of the mobilizers, each point
    projected back onto the constraints. The gradient at rest is -M u_dot, and u_dot, with constraints, is the steepest descent
    in the metric of the mass matrix, from which the method begins: so masses' scales do not slow it. Steps are halved until the
    energy falls; within its rounding, until the slope does (Hager and Zhang 2005). `find_equilibrium` finds equilibria, stable
    or not, of any forces, by derivatives of all accelerations, which are many in large systems.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> hanging = mb.minimize_energy(system, state)
    >>> round(system.calc_potential_energy(hanging), 6)
    -29.43
    """
    check_state("minimize_energy", system, state)
    checks.positive("tolerance", tolerance, ValueError)
    checks.integer("max_iterations", max_iterations, 1)
    here = _Point(system, manifold.at_rest(system, state.copy()))
    if here.state.u_view.any():
        worst = speed_names(system, here.state)[int(np.argmax(np.abs(here.state.u_view)))]
        raise ModelError(f"minimize_energy needs a system at rest, and {worst} is driven; lock it, or disable what drives it")
    memory: list[_Pair] = []
    for _ in range(max_iterations):
        if here.largest <= tolerance:
            return here.state
        there = here.along(_direction(here, memory))
        if there is None and memory:  # the curvature is not what it was
            memory.clear()
            continue
        if there is None:
            break
        memory.append(_Pair(here, *there))
        if not memory[-1].is_convex:
            memory.pop()
        del memory[:-_MEMORY]
        here = there[1]
    worst = speed_names(system, here.state)[int(np.argmax(np.abs(here.gradient)))]
    raise ConvergenceError(
        f"no minimum of the energy of {system.name!r} was found near this state: the force of {worst} is still "
        f"{here.largest:.3g}, the tolerance {tolerance:.3g} and the energy {here.energy:.6g}; raise tolerance or "
        "max_iterations, and leave out forces that have no potential energy"
    )


class _Point:
    """A state at rest, its energy, and the gradient of it along displacements; *rate* is u_dot."""

    def __init__(self, system: Any, state: State) -> None:
        nu = state.tree.nu
        self.system, self.state = system, state
        self.energy = float(system.calc_potential_energy(state))
        self.rate = np.array(state.u_dot_view[:nu])
        self.gradient: Array = -system.get_matter_subsystem().multiply_by_m(state, self.rate)
        self.largest = float(np.abs(self.gradient).max(initial=0.0))

    def along(self, direction: Array) -> tuple[Array, _Point] | None:
        """The displacement and the point after as much of a direction as lets the energy fall; None where nothing does."""
        slope, largest = float(self.gradient @ direction), float(np.abs(direction).max())
        if not slope < 0.0:
            return None
        part = min(1.0, _LARGEST / largest)
        for _ in range(_HALVINGS):
            try:
                step = part * direction
                there = _Point(self.system, manifold.at_rest(self.system, manifold.moved(self.state, step)))
                fall = there.energy - self.energy
                is_flat = abs(fall) <= _ROUNDING * abs(self.energy) and abs(there.gradient @ direction) <= -_SLOPE * slope
                if fall <= _ENOUGH * part * slope or is_flat:
                    return step, there
            except (ConvergenceError, ModelError):  # too far in one step
                pass
            part *= 0.5
        return None


class _Pair:
    """A step, and what it changed of the gradient and of u_dot."""

    def __init__(self, before: _Point, step: Array, after: _Point) -> None:
        self.step, self.change, self.of_rate = step, after.gradient - before.gradient, before.rate - after.rate
        self.curvature = float(step @ self.change)
        self.scale = self.curvature / (float(self.change @ self.of_rate) or 1.0)
        self.is_convex = self.curvature > 0.0 and self.scale > 0.0


def _direction(here: _Point, memory: list[_Pair]) -> Array:
    """The way to the minimum that L-BFGS supposes; -gradient of it, times the inverse mass matrix, is known throughout."""
    gradient, rate = here.gradient, here.rate
    parts = []
    for one in reversed(memory):
        part = float(one.step @ gradient) / one.curvature
        parts.append(part)
        gradient, rate = gradient - part * one.change, rate + part * one.of_rate
    if not memory:
        return rate * min(1.0, 0.1 * _LARGEST / float(np.abs(rate).max()))
    direction = memory[-1].scale * rate
    for one, part in zip(memory, reversed(parts), strict=True):
        direction = direction - one.step * (part + float(one.change @ direction) / one.curvature)
    return direction
