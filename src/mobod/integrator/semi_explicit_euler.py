"""SemiExplicitEuler: speeds by Euler's method, coordinates by the new speeds. First order, symplectic, one evaluation a step.

See `stepping.method.semi_explicit_euler`.
"""

from __future__ import annotations

from typing import Any

from ..stepping.loop import stepping
from ..stepping.method import semi_explicit_euler
from ..stepping.method.method import Method
from ..system.system import MultibodySystem
from .base import Integrator

advance = stepping(Method(semi_explicit_euler.attempt), "semi_explicit_euler")


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
