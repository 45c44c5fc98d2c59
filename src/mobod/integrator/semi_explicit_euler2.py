"""SemiExplicitEuler2: two half steps of `SemiExplicitEuler`; their difference from one whole step is the estimate of the error.

See `stepping.method.semi_explicit_euler2`.
"""

from ..stepping.loop import stepping
from ..stepping.method import semi_explicit_euler2
from ..stepping.method.method import Method
from .base import Integrator

advance = stepping(Method(semi_explicit_euler2.attempt), "semi_explicit_euler2")


class SemiExplicitEuler2(Integrator):
    """Symplectic Euler in pairs of half steps, of first order, with control of the error.

    Parameters are those of `Integrator`.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> method = mb.integrator.SemiExplicitEuler2(system, accuracy=1e-3)
    >>> motion = mb.simulate(system, state, 0.1, integrator=method)
    >>> float(motion.time[-1]), method.get_method_max_order()
    (0.1, 1)
    """

    order = 1
    error_order = 2
    kernel = advance
