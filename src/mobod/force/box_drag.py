"""BoxDrag: what a still or blowing fluid does to a body, as though it were a box.

Source: MuJoCo's documentation of its fluid forces.

w and v are angular and linear velocity, against the fluid, of a frame S on the body, in S; viscosity n, density r; sides s,
D their mean:
    f_i = -3 pi D n v_i - r/2 s_j s_k |v_i| v_i     t_i = -pi D^3 n w_i - r/64 s_i (s_j^4 + s_k^4) |w_i| w_i
"""

from __future__ import annotations

from typing import Any

from ..algebra.arrays import ArrayLike
from ..algebra.order import size_of
from ..compiling import generic
from ..mobilizer.base import MobilizedBody
from ..value import Transform
from ._drag import OWN, PI, Drag, lengths, routine_of, wrench_routine_of
from .pools import number, numbers3
from .subsystem import GeneralForceSubsystem


@generic
def box_wrench(model: Any, x: int, w: Any, v: Any) -> Any:
    """t and f."""
    n, r = number(model, x), number(model, x + 1)
    a, b, c = numbers3(model, x + OWN)
    mean = (a + b + c) / 3.0
    linear, angular = 3.0 * PI * mean * n, PI * mean * mean * mean * n
    a4, b4, c4 = a * a * a * a, b * b * b * b, c * c * c * c
    f = (
        -(linear + 0.5 * r * b * c * size_of(v[0])) * v[0],
        -(linear + 0.5 * r * a * c * size_of(v[1])) * v[1],
        -(linear + 0.5 * r * a * b * size_of(v[2])) * v[2],
    )
    t = (
        -(angular + r / 64.0 * a * (b4 + c4) * size_of(w[0])) * w[0],
        -(angular + r / 64.0 * b * (a4 + c4) * size_of(w[1])) * w[1],
        -(angular + r / 64.0 * c * (a4 + b4) * size_of(w[2])) * w[2],
    )
    return t, f


class BoxDrag(Drag):
    """The drag of a fluid on a body, as though it were a box.

    Parameters
    ----------
    body : MobilizedBody
        The body.
    sides : (3,) array_like
        Of the box, zero or more; length.
    frame : Transform, optional
        The box on the body: its middle, and its axes.
    viscosity, density : float
        Of the fluid, zero or more.
    wind : (3,) array_like
        The fluid's velocity, in Ground.

    Raises
    ------
    TypeError, ValueError, ModelError
        If the body is none, a number not finite, or one below zero that cannot be.
    TopologyError
        If the body belongs to another system.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.force.BoxDrag(system.forces, system.matter.bodies["lower"], (0.2, 0.2, 0.2), density=1.2)
    >>> state = system.realize_topology()
    >>> state.q, state.u = (0.3, 0.4), (1.0, 2.0)
    >>> system.realize(state)
    >>> part.calc_power_dissipation(state) > 0.0
    True
    """

    routine, wrench_routine = routine_of(box_wrench), wrench_routine_of(box_wrench)

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        body: MobilizedBody,
        sides: ArrayLike,
        frame: Transform | None = None,
        *,
        viscosity: float = 0.0,
        density: float = 0.0,
        wind: ArrayLike = (0.0, 0.0, 0.0),
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        own = lengths("sides", sides)
        fluid = {"viscosity": viscosity, "density": density, "wind": wind}
        self.connect(forces, body, frame, fluid, own, disabled_by_default, name)
