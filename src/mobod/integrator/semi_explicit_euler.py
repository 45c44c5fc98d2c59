"""SemiExplicitEuler: speeds by Euler's method, coordinates by the new speeds. First order, symplectic, one evaluation a step.

    u_1 = u_0 + h udot(q_0, u_0)        q_1 = q_0 + h N(q_0) u_1

Source: Hairer, Lubich and Wanner 2006, I.1.2 (symplectic Euler).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..algebra.record import attach
from ..algebra.scalar import load, store
from ..compiling import compiled, generic
from . import _runge_kutta as rk
from ._evaluate import move
from ._runge_kutta import FIRST_STAGE, RATE, Y
from .base import Integrator

if TYPE_CHECKING:
    from ..system.system import MultibodySystem


@compiled
def set_speeds(block: Any, work: Any, row: int, rates: int, time: float, h: float) -> None:
    """u, z and the particles' velocities one step on from a row of y, by a row of rates; q and locations as in the row."""
    model = attach(block)
    store(model.time, 0, 0, time)
    n = model.particle_size
    first = model.ny - 2 * n
    for i in range(model.ny):
        value = work[row, i]
        if i >= model.whole_nq and (i < first or i >= first + n):
            value = value + h * work[rates, i]
        store(model.y, i, 0, value)


@compiled
def set_coordinates(block: Any, work: Any, time: float, h: float) -> None:
    """q and locations one step on, by the speeds there are and the q_dot of these; the errors are none."""
    model = attach(block)
    store(model.time, 0, 0, time + h)
    for i in range(model.whole_nq):
        store(model.q, i, 0, load(model.q, i, 0) + h * load(model.q_dot, i, 0))
    for i in range(model.particle_size):
        store(model.particle_location, i, 0, load(model.particle_location, i, 0) + h * load(model.particle_velocity, i, 0))
    errors = work.shape[0] - 3
    for i in range(model.ny):
        work[errors, i] = 0.0


@compiled
def keep(block: Any, work: Any, row: int) -> None:
    """Copy y and its rate into a row and the next."""
    model = attach(block)
    for i in range(model.ny):
        work[row, i] = load(model.y, i, 0)
        work[row + 1, i] = load(model.y_dot, i, 0)


@compiled
def set_difference(block: Any, work: Any, row: int) -> None:
    """The errors: y less what is in a row."""
    model = attach(block)
    errors = work.shape[0] - 3
    for i in range(model.ny):
        work[errors, i] = load(model.y, i, 0) - work[row, i]


@generic
def step(model: Any, work: Any, counts: Any, row: int, rates: int, time: float, h: float) -> int:
    """A step from a row of y with a row of its rates."""
    set_speeds(model, work, row, rates, time, h)
    if move(model, counts[rk.ROUTINE]) != 0:
        return rk.NOT_REALIZED
    set_coordinates(model, work, time, h)
    return rk.DONE


@generic
def attempt(model: Any, work: Any, table: Any, control: Any, counts: Any, time: float, h: float) -> int:
    """One attempt; intermediate rows are kept from `FIRST_STAGE` on."""
    return step(model, work, counts, Y, RATE, time, h)


advance = rk.stepping(attempt, "semi_explicit_euler")
#: Where intermediate values and their rates may be.
BETWEEN = FIRST_STAGE + 1


class SemiExplicitEuler(Integrator):
    """Symplectic Euler, of first order, at fixed steps: cheap, and stable with friction and contact that are not too stiff.

    Parameters
    ----------
    system : MultibodySystem
    fixed_step_size : float
        Has to be given: the method has no estimate of its error.
    **settings
        Those of `Integrator`.

    Raises
    ------
    ValueError
        If no step size is given.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> arm = system.matter.bodies["lower"]
    >>> method = mb.integrator.SemiExplicitEuler(system, fixed_step_size=0.01)
    >>> motion = mb.simulate(system, state, 0.1, integrator=method)
    >>> float(motion.time[-1]), method.get_method_max_order()
    (0.1, 1)
    """

    order = 1
    error_order = 1
    has_error_control = False
    kernel = advance

    def __init__(self, system: MultibodySystem, *, fixed_step_size: float | None = None, **settings: Any) -> None:
        if fixed_step_size is None:
            raise ValueError(
                "SemiExplicitEuler has no estimate of its error and chooses no steps: give it fixed_step_size, or take "
                "SemiExplicitEuler2, which does"
            )
        super().__init__(system, fixed_step_size=fixed_step_size, **settings)

    def set_fixed_step_size(self, size: float | None) -> None:
        """Change the step size, before `TimeStepper.initialize`; it cannot be None here."""
        if size is None:
            raise ValueError("fixed_step_size cannot be None: SemiExplicitEuler has no estimate of its error")
        super().set_fixed_step_size(size)
