"""Verlet: velocity Verlet, whose speeds are iterated where forces depend on them. See `stepping.method.verlet`."""

from ..stepping.loop import stepping
from ..stepping.method import verlet
from ..stepping.method.method import Method
from .base import Integrator

advance = stepping(Method(verlet.attempt), "verlet")


class Verlet(Integrator):
    """Velocity Verlet, of second order: keeps the energy of conservative systems over long times at fixed steps.

    Parameters are those of `Integrator`.

    Notes
    -----
    Speeds at the end of a step are found by iteration, to a tenth of the accuracy or to 1e-4; at fixed steps too, so that a
    tight accuracy has an effect there. A step whose iteration does not converge is tried again at half the size.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> method = mb.integrator.Verlet(system, fixed_step_size=0.01)
    >>> motion = mb.simulate(system, state, 0.1, integrator=method)
    >>> float(motion.time[-1]), method.get_method_max_order()
    (0.1, 2)
    """

    order = 2
    error_order = 3
    ends_at_stage = True
    kernel = advance
