"""RelativePose: where a frame is in another, weighted. A Cartesian actuator, or one that turns a ball joint.

R and S are frames on two bodies; r = p_RS in R, and theta the rotation vector of R_RS:
l = g_r . r + g_t . theta
speed = g_r . (v_S - v_R) + g_t . (w_S - w_R), but without what the joints that move both bodies add to it
g_r is fixed in R, and g_t in R or in S (of a rotation about one axis these are the same).

The force f R_GR g_r acts on S and its opposite on R, f g_t turns S and its opposite R's body. The couple that two opposite
forces at different points make is taken from the last body that moves both, so that no joint common to both is pushed. The
speed is that of MuJoCo's transmission between two sites, which is not quite the rate of l: of theta it has the angular
velocity, of r not the turning of R.
"""

from __future__ import annotations

from typing import Any

from ...algebra import mat33, vec3
from ...algebra.arrays import ArrayLike
from ...algebra.memory import add_spatial, load3, load9, load_spatial
from ...algebra.scalar import atan2, one, sqrt, where
from ...compiling import generic
from ...mobilizer.base import MobilizedBody
from ...value import Transform, checks
from ..pools import numbers3, numbers9
from ..subsystem import GeneralForceSubsystem
from .base import Span, Transmission, placed

#: Where g_r and g_t are among the numbers, after the frames S and R.
TRANSLATION, ROTATION = 24, 27


@generic
def rotation_vector(R: Any) -> Any:
    """Axis times angle, the angle from 0 to pi."""
    s = (0.5 * (R[7] - R[5]), 0.5 * (R[2] - R[6]), 0.5 * (R[3] - R[1]))
    ss = vec3.dot(s, s)
    turned = ss > 1e-30
    size = sqrt(where(turned, ss, one(ss)))
    angle = atan2(size, 0.5 * (R[0] + R[4] + R[8] - 1.0))
    return vec3.scale(where(turned, angle / size, one(ss)), s)


@generic
def frame(model: Any, b: int, x: int) -> Any:
    """R_GS, the place of S from its body's origin, and from Ground's, in Ground."""
    R_GB = load9(model.R_GB, b, 0)
    s = mat33.mul_vec(R_GB, numbers3(model, x + 9))
    return mat33.mul(R_GB, numbers9(model, x)), s, vec3.add(load3(model.p_GB, b, 0), s)


@generic
def length(model: Any, i: int, x: int) -> Any:
    """Integers: the bodies of S and of R, the last that moves both (0 if none), whether g_t is fixed in S.

    Numbers: the frames, g_r, g_t.
    """
    R_GS, _, p_S = frame(model, model.force_integers[i], x)
    R_GR, _, p_R = frame(model, model.force_integers[i + 1], x + 12)
    r = mat33.transpose_mul_vec(R_GR, vec3.sub(p_S, p_R))
    theta = rotation_vector(mat33.mul(mat33.transpose(R_GR), R_GS))
    return vec3.dot(numbers3(model, x + TRANSLATION), r) + vec3.dot(numbers3(model, x + ROTATION), theta)


@generic
def directions(model: Any, i: int, x: int) -> Any:
    """Places of S and R from their bodies' origins, p_RS, and g_r and g_t, all in Ground."""
    R_GS, s, p_S = frame(model, model.force_integers[i], x)
    R_GR, r, p_R = frame(model, model.force_integers[i + 1], x + 12)
    g_t = numbers3(model, x + ROTATION)
    g_t = mat33.mul_vec(R_GR, g_t) if model.force_integers[i + 3] == 0 else mat33.mul_vec(R_GS, g_t)
    return s, r, vec3.sub(p_S, p_R), mat33.mul_vec(R_GR, numbers3(model, x + TRANSLATION)), g_t


@generic
def speed(model: Any, i: int, x: int) -> Any:
    """As above."""
    s, r, p, g_r, g_t = directions(model, i, x)
    w_S, v_S = load_spatial(model.V_GB, model.force_integers[i])
    w_R, v_R = load_spatial(model.V_GB, model.force_integers[i + 1])
    w_C = load3(model.V_GB, model.force_integers[i + 2], 0)
    v = vec3.sub(vec3.add(v_S, vec3.cross(w_S, s)), vec3.add(v_R, vec3.cross(w_R, r)))
    return vec3.dot(g_r, v) + vec3.dot(g_t, vec3.sub(w_S, w_R)) - vec3.dot(w_C, vec3.cross(p, g_r))


@generic
def apply(model: Any, i: int, x: int, f: Any) -> None:
    """On both bodies, and on the one that moves both."""
    s, r, p, g_r, g_t = directions(model, i, x)
    push, turn = vec3.scale(f, g_r), vec3.scale(f, g_t)
    add_spatial(model.body_forces, model.force_integers[i], vec3.add(vec3.cross(s, push), turn), push)
    pull, back = vec3.neg(push), vec3.neg(turn)
    add_spatial(model.body_forces, model.force_integers[i + 1], vec3.add(vec3.cross(r, pull), back), pull)
    couple, none = vec3.cross(p, pull), vec3.sub(p, p)
    add_spatial(model.body_forces, model.force_integers[i + 2], couple, none)


class RelativePose(Transmission):
    """The weighted pose of a frame S in another, R: what an actuator between two sites acts through, or one of a ball joint.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        Of the system whose bodies it names.
    body, reference_body : MobilizedBody
        What S and R are fixed to.
    frame, reference_frame : Transform, optional
        S and R there.
    translation, rotation : (3,) array_like
        Weights of S's place in R, and of the rotation vector of S in R.
    rotation_in_frame : bool
        Whether the torque is fixed in S, not in R.
    ratio : float
        Length, speed and generalized force are multiplied by it.

    Raises
    ------
    TypeError, ValueError, ModelError, TopologyError
        If a body is none, or of another system, a frame no transform, or a vector none.

    Notes
    -----
    The rotation vector jumps where the angle passes half a turn.
    """

    FUNCTIONS = (length, speed, apply)
    is_linear = True
    is_between = True

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        body: MobilizedBody,
        reference_body: MobilizedBody,
        frame: Transform | None = None,
        reference_frame: Transform | None = None,
        *,
        translation: ArrayLike = (0.0, 0.0, 0.0),
        rotation: ArrayLike = (0.0, 0.0, 0.0),
        rotation_in_frame: bool = False,
        ratio: float = 1.0,
    ) -> None:
        b, numbers = placed(forces, "body", body, frame)
        r, others = placed(forces, "reference_body", reference_body, reference_frame)
        numbers += others
        for name, vector in (("translation", translation), ("rotation", rotation)):
            numbers += checks.vector(f"{name} of a RelativePose", vector).tolist()
        super().__init__(forces, [b, r, moves_both(forces, b, r), int(rotation_in_frame)], numbers, ratio)

    def reach(self) -> tuple[list[int], list[int]]:
        return self.integers[:3], []

    def spans(self) -> list[Span] | None:
        """All of it."""
        if type(self).FUNCTIONS is not RelativePose.FUNCTIONS:
            return None
        body, reference, moves_both, in_own = self.integers
        return [Span((body, reference, moves_both), (0, 12), pose=1 + in_own)]


def moves_both(forces: GeneralForceSubsystem, one: int, other: int) -> int:
    """The last body that both hang on, one of them it may be."""
    bodies = forces.get_system().get_matter_subsystem().body_list
    while one != other:
        if one < other:
            one, other = other, one
        one = bodies[one].get_parent_mobilized_body().index
    return one
