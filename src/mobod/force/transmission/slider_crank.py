"""SliderCrank: a rod from a pin to a slider on a line. A cylinder that moves a crank.

a is the line's direction, v from its point to the pin, h the rod's length, d = (a.v)^2 + h^2 - v.v
l = a.v - sqrt(d) where d > 0, else a.v     speed = dl/dv . v_dot + dl/da . a_dot
dl/dv = (1 - a.v/sqrt(d)) a + v/sqrt(d)   dl/da = (1 - a.v/sqrt(d)) v   (and a, v where the rod does not reach)
"""

from __future__ import annotations

from typing import Any

from ...algebra import vec3
from ...algebra.memory import add_spatial, load_spatial
from ...algebra.scalar import one, sqrt, where, zero
from ...compiling import generic
from ...mobilizer.base import MobilizedBody
from ...value import Transform, checks
from ..pools import number
from ..subsystem import GeneralForceSubsystem
from .base import Transmission, placed
from .relative_pose import frame

#: Where the rod's length is among the numbers, after the frames of the pin and the slider.
ROD = 24


@generic
def geometry(model: Any, i: int, x: int) -> Any:
    """Places of the pin and of the slider's point from their bodies' origins, v, a, a.v, whether the rod reaches, sqrt(d)."""
    _, s, p = frame(model, model.force_integers[i], x)
    R, r, o = frame(model, model.force_integers[i + 1], x + 12)
    a, v, h = (R[2], R[5], R[8]), vec3.sub(p, o), number(model, x + ROD)
    av = vec3.dot(a, v)
    d = av * av + h * h - vec3.dot(v, v)
    return s, r, v, a, av, d > 0.0, sqrt(where(d > 0.0, d, one(d)))


@generic
def length(model: Any, i: int, x: int) -> Any:
    """Integers: the bodies of the pin and of the slider. Numbers: frames there, the rod's length."""
    _, _, _, _, av, reaches, root = geometry(model, i, x)
    return where(reaches, av - root, av)


@generic
def slopes(model: Any, i: int, x: int) -> Any:
    """The places, dl/dv, and a x dl/da, what turns the line."""
    s, r, v, a, av, reaches, root = geometry(model, i, x)
    i1, o = one(av), zero(av)
    c, e = where(reaches, 1.0 - av / root, i1), where(reaches, i1 / root, o)
    return s, r, v, vec3.add(vec3.scale(c, a), vec3.scale(e, v)), vec3.cross(a, vec3.scale(c, v))


@generic
def speed(model: Any, i: int, x: int) -> Any:
    """The rate of the length."""
    s, r, _, along, about = slopes(model, i, x)
    w1, v1 = load_spatial(model.V_GB, model.force_integers[i])
    w2, v2 = load_spatial(model.V_GB, model.force_integers[i + 1])
    apart = vec3.sub(vec3.add(v1, vec3.cross(w1, s)), vec3.add(v2, vec3.cross(w2, r)))
    return vec3.dot(along, apart) + vec3.dot(about, w2)


@generic
def apply(model: Any, i: int, x: int, f: Any) -> None:
    """On the pin, and on the slider's body."""
    s, r, _, along, about = slopes(model, i, x)
    push = vec3.scale(f, along)
    pull = vec3.neg(push)
    add_spatial(model.body_forces, model.force_integers[i], vec3.cross(s, push), push)
    turn = vec3.add_scaled(vec3.cross(r, pull), f, about)
    add_spatial(model.body_forces, model.force_integers[i + 1], turn, pull)


class SliderCrank(Transmission):
    """A rod from a pin on a crank to a slider on a line: its length is where the slider is.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        Of the system whose bodies it names.
    crank_body, slider_body : MobilizedBody
        What the pin, and what the line is fixed to.
    crank_frame, slider_frame : Transform, optional
        Its origin is the pin; its z axis, from its origin, is the line.
    rod_length : float
        Of the rod, above zero; length.
    ratio : float
        Length, speed and generalized force are multiplied by it.

    Raises
    ------
    TypeError, ValueError, ModelError, TopologyError
        If a body is none, or of another system, a frame no transform, or the rod's length not above zero.

    Notes
    -----
    Where the rod is too short, the slider is at the foot of the pin's perpendicular, as in MuJoCo.
    """

    FUNCTIONS = (length, speed, apply)
    is_linear = True
    is_between = True

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        crank_body: MobilizedBody,
        slider_body: MobilizedBody,
        crank_frame: Transform | None = None,
        slider_frame: Transform | None = None,
        *,
        rod_length: float,
        ratio: float = 1.0,
    ) -> None:
        c, numbers = placed(forces, "crank_body", crank_body, crank_frame)
        s, others = placed(forces, "slider_body", slider_body, slider_frame)
        rod = checks.positive("rod_length of a SliderCrank", rod_length)
        super().__init__(forces, [c, s], [*numbers, *others, rod], ratio)

    def reach(self) -> tuple[list[int], list[int]]:
        return self.integers[:2], []
