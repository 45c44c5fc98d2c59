"""BodyWrench: a force and a torque on a body, fixed in a frame on it or in Ground. A thruster, a propeller.

speed = g_f . v_S + g_t . w_B   S a frame on B; g_f and g_t each fixed in S or in Ground   it has no length: l = 0
"""

from __future__ import annotations

from typing import Any

from ...algebra import mat33, vec3
from ...algebra.arrays import ArrayLike
from ...algebra.memory import add_spatial, load9, load_spatial
from ...algebra.scalar import load, zero
from ...compiling import generic
from ...mobilizer.base import MobilizedBody
from ...value import Transform, checks
from ..pools import numbers3, numbers9
from ..subsystem import GeneralForceSubsystem
from .base import Transmission, placed


@generic
def wrench(model: Any, i: int, x: int) -> Any:
    """The place of S from B's origin, and g_f and g_t, in Ground. Integers: B, and whether each is fixed in Ground.

    Numbers: R_BS, p_BS, g_f, g_t.
    """
    R_GB = load9(model.R_GB, model.force_integers[i], 0)
    R_GS = mat33.mul(R_GB, numbers9(model, x))
    g_f, g_t = numbers3(model, x + 12), numbers3(model, x + 15)
    if model.force_integers[i + 1] == 0:
        g_f = mat33.mul_vec(R_GS, g_f)
    if model.force_integers[i + 2] == 0:
        g_t = mat33.mul_vec(R_GS, g_t)
    return mat33.mul_vec(R_GB, numbers3(model, x + 9)), g_f, g_t


@generic
def length(model: Any, i: int, x: int) -> Any:
    """None."""
    return zero(load(model.time, 0, 0))


@generic
def speed(model: Any, i: int, x: int) -> Any:
    """Along the force, and about the torque."""
    s, g_f, g_t = wrench(model, i, x)
    w, v = load_spatial(model.V_GB, model.force_integers[i])
    return vec3.dot(g_f, vec3.add(v, vec3.cross(w, s))) + vec3.dot(g_t, w)


@generic
def apply(model: Any, i: int, x: int, f: Any) -> None:
    """f g_f at S, and f g_t."""
    s, g_f, g_t = wrench(model, i, x)
    push = vec3.scale(f, g_f)
    add_spatial(model.body_forces, model.force_integers[i], vec3.add_scaled(vec3.cross(s, push), f, g_t), push)


class BodyWrench(Transmission):
    """A force and a torque on one body: what a thruster or a propeller acts through.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        Of the system whose body it names.
    body : MobilizedBody
        B.
    frame : Transform, optional
        X_BS: where the force acts, and the axes it is given in.
    force, torque : (3,) array_like
        For a unit of effort.
    force_in_ground, torque_in_ground : bool
        Whether it is fixed in Ground, not in S.
    ratio : float
        Speed and generalized force are multiplied by it.

    Raises
    ------
    TypeError, ValueError, ModelError, TopologyError
        If the body is none, or of another system, the frame no transform, or a vector none.
    """

    FUNCTIONS = (length, speed, apply)
    is_linear = True

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        body: MobilizedBody,
        frame: Transform | None = None,
        *,
        force: ArrayLike = (0.0, 0.0, 0.0),
        torque: ArrayLike = (0.0, 0.0, 0.0),
        force_in_ground: bool = False,
        torque_in_ground: bool = False,
        ratio: float = 1.0,
    ) -> None:
        b, numbers = placed(forces, "body", body, frame)
        for name, vector in (("force", force), ("torque", torque)):
            numbers += checks.vector(f"{name} of a BodyWrench", vector).tolist()
        super().__init__(forces, [b, int(force_in_ground), int(torque_in_ground)], numbers, ratio)

    def reach(self) -> tuple[list[int], list[int]]:
        return self.integers[:1], []
