"""WrappedPath: a path from point to point that bends around spheres and cylinders, in one or several branches.

Of a span that bends, t_1 and t_2 are the points where it touches, c the length between them on the surface:
l = |t_1 - p_1| + c + |p_2 - t_2|      else l = |p_2 - p_1|      each divided by the gain of a pulley, and added up

A sphere is wrapped in the plane of both points and its center, a cylinder in its cross-section, with heights in proportion to
lengths. Touching points slide without friction, so that the speed is that of their bodies' points along the lines.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ...algebra import mat33, vec3
from ...algebra.arrays import Array, ArrayLike
from ...algebra.memory import add_spatial, load3, load9, load_spatial
from ...algebra.scalar import load, one, sqrt, where, zero
from ...compiling import generic
from ...decoration.rubber_band_line import End, Line
from ...errors import ModelError
from ...state.state import State
from ...value import Transform, checks
from ..base import body_index
from ..pools import number, numbers3, numbers9
from ..subsystem import GeneralForceSubsystem
from ._wrapping import inside, norm, outside
from .base import Span, Transmission, placed, put_bend, seeded

#: What a span bends around.
NOTHING, SPHERE, CYLINDER = 0, 1, 2
#: Where its side is: nowhere, outside, inside, or on another body, now outside and now inside.
NO_SIDE, OUTSIDE, INSIDE, MOVING = 0, 1, 2, 3
#: Straight lines in the picture of a bend.
_BENDS = 8
#: Integers of a span: the bodies of its points, what it bends around, its body, its side, the side's body. Numbers: two
#: stations, one over the divisor, the surface's frame, its radius, the side's station.
INTEGERS, NUMBERS = 6, 23
FRAME, RADIUS, SIDE = 7, 19, 20


@generic
def unit(r: Any) -> Any:
    """r / |r|; zero where that is zero."""
    rr = vec3.dot(r, r)
    return vec3.scale(1.0 / sqrt(where(rr > 0.0, rr, one(rr))), r)


@generic
def choose(flag: Any, a: Any, b: Any) -> Any:
    """a where the flag is set, else b."""
    return where(flag > 0.5, a[0], b[0]), where(flag > 0.5, a[1], b[1]), where(flag > 0.5, a[2], b[2])


@generic
def station(model: Any, b: int, x: int) -> Any:
    """A station from its body's origin, and from Ground's, in Ground."""
    s = mat33.mul_vec(load9(model.R_GB, b, 0), numbers3(model, x))
    return s, vec3.add(load3(model.p_GB, b, 0), s)


@generic
def axes_of_sphere(p: Any, q: Any) -> Any:
    """Two axes of the plane of two points and the center."""
    first = unit(p)
    normal = vec3.cross(p, q)
    some = vec3.dot(normal, normal) > 1e-24 * vec3.dot(p, p) * vec3.dot(q, q)
    o, i = zero(p[0]), one(p[0])
    other = vec3.cross(first, (where(first[0] * first[0] > 0.5, o, i), where(first[0] * first[0] > 0.5, i, o), o))
    flag = where(some, i, o)
    return first, unit(vec3.cross(choose(flag, normal, other), first))


@generic
def touching(model: Any, i: int, x: int, p1: Any, p2: Any) -> Any:
    """Flag whether a span bends, t_1 and t_2 in Ground, and c."""
    b, kind, side = model.force_integers[i + 3], model.force_integers[i + 2], model.force_integers[i + 4]
    R_GB = load9(model.R_GB, b, 0)
    R = mat33.mul(R_GB, numbers9(model, x + FRAME))
    p_GS = vec3.add(load3(model.p_GB, b, 0), mat33.mul_vec(R_GB, numbers3(model, x + FRAME + 9)))
    r = number(model, x + RADIUS)
    p, q = mat33.transpose_mul_vec(R, vec3.sub(p1, p_GS)), mat33.transpose_mul_vec(R, vec3.sub(p2, p_GS))
    o, one_ = zero(r), one(r)
    e, f = (one_, o, o), (o, one_, o)
    if kind == SPHERE:
        e, f = axes_of_sphere(p, q)
    a, d = (vec3.dot(p, e), vec3.dot(p, f)), (vec3.dot(q, e), vec3.dot(q, f))
    if side == INSIDE:
        wraps, s = inside(a, d, r)
        t, arc = s, o
    else:
        direction, depth, has_side = (one_, o), r, NO_SIDE
        if side != NO_SIDE:
            has_side = OUTSIDE
            place = station(model, model.force_integers[i + 5], x + SIDE)[1]
            m = mat33.transpose_mul_vec(R, vec3.sub(place, p_GS))
            u, v = vec3.dot(m, e), vec3.dot(m, f)
            direction = r * u / norm(u, v), r * v / norm(u, v)
            depth = r * r - vec3.dot(m, m)
        wraps, s, t, arc = outside(a, d, r, has_side, direction)
        if side == MOVING:
            bends, point = inside(a, d, r)
            wraps, arc = where(depth > 0.0, bends, wraps), where(depth > 0.0, o, arc)
            s = where(depth > 0.0, point[0], s[0]), where(depth > 0.0, point[1], s[1])
            t = where(depth > 0.0, point[0], t[0]), where(depth > 0.0, point[1], t[1])
    first, second = vec3.add(vec3.scale(s[0], e), vec3.scale(s[1], f)), vec3.add(vec3.scale(t[0], e), vec3.scale(t[1], f))
    if kind == CYLINDER:
        before, behind = norm(p[0] - s[0], p[1] - s[1]), norm(q[0] - t[0], q[1] - t[1])
        whole = before + arc + behind
        rise = q[2] - p[2]
        low, high = p[2] + rise * before / whole, p[2] + rise * (before + arc) / whole
        first, second = (first[0], first[1], low), (second[0], second[1], high)
        square = arc * arc + (high - low) * (high - low)
        some = square > 0.0
        arc = where(some, sqrt(where(some, square, one_)), o)
    return wraps, vec3.add(p_GS, mat33.mul_vec(R, first)), vec3.add(p_GS, mat33.mul_vec(R, second)), arc


@generic
def span(model: Any, i: int, x: int) -> Any:
    """Stations of its points, flag, t_1, t_2, directions of its first and last line, and its length."""
    s1, p1 = station(model, model.force_integers[i], x)
    s2, p2 = station(model, model.force_integers[i + 1], x + 3)
    line = vec3.sub(p2, p1)
    direct = unit(line)
    flag, t1, t2, arc = zero(p1[0]), p1, p2, zero(p1[0])
    if model.force_integers[i + 2] != NOTHING:
        flag, t1, t2, arc = touching(model, i, x, p1, p2)
    first, last = vec3.sub(t1, p1), vec3.sub(p2, t2)
    d1, d2 = unit(first), unit(last)
    bent = vec3.dot(d1, first) + arc + vec3.dot(d2, last)
    length = where(flag > 0.5, bent, vec3.dot(direct, line))
    return s1, s2, flag, t1, t2, choose(flag, d1, direct), choose(flag, d2, direct), length


@generic
def length(model: Any, i: int, x: int) -> Any:
    """Integers: how many spans, then theirs. Numbers: theirs."""
    total = zero(load(model.time, 0, 0))
    for k in range(model.force_integers[i]):
        j, n = i + 1 + INTEGERS * k, x + NUMBERS * k
        total = total + number(model, n + 6) * span(model, j, n)[7]
    return total


@generic
def rate(model: Any, b: int, s: Any) -> Any:
    """The velocity of the point of a body that is at s from its origin."""
    w, v = load_spatial(model.V_GB, b)
    return vec3.add(v, vec3.cross(w, s))


@generic
def speed(model: Any, i: int, x: int) -> Any:
    """The rate of the length."""
    total = zero(load(model.time, 0, 0))
    for k in range(model.force_integers[i]):
        j, n = i + 1 + INTEGERS * k, x + NUMBERS * k
        s1, s2, flag, t1, t2, d1, d2, _ = span(model, j, n)
        v = vec3.dot(d2, rate(model, model.force_integers[j + 1], s2)) - vec3.dot(d1, rate(model, model.force_integers[j], s1))
        if model.force_integers[j + 2] != NOTHING:
            b = model.force_integers[j + 3]
            o = load3(model.p_GB, b, 0)
            on = vec3.dot(d1, rate(model, b, vec3.sub(t1, o))) - vec3.dot(d2, rate(model, b, vec3.sub(t2, o)))
            v = v + where(flag > 0.5, on, zero(on))
        total = total + number(model, n + 6) * v
    return total


@generic
def push_point(model: Any, b: int, s: Any, f: Any, d: Any) -> None:
    """f d on the point of a body that is at s from its origin."""
    force = vec3.scale(f, d)
    add_spatial(model.body_forces, b, vec3.cross(s, force), force)


@generic
def apply(model: Any, i: int, x: int, f: Any) -> None:
    """Along the lines, on the points and on what is touched."""
    for k in range(model.force_integers[i]):
        j, n = i + 1 + INTEGERS * k, x + NUMBERS * k
        s1, s2, flag, t1, t2, d1, d2, _ = span(model, j, n)
        own = f * number(model, n + 6)
        push_point(model, model.force_integers[j], s1, -own, d1)
        push_point(model, model.force_integers[j + 1], s2, own, d2)
        if model.force_integers[j + 2] != NOTHING:
            b = model.force_integers[j + 3]
            o, on = load3(model.p_GB, b, 0), where(flag > 0.5, own, zero(own))
            push_point(model, b, vec3.sub(t1, o), on, d1)
            push_point(model, b, vec3.sub(t2, o), -on, d2)


@generic
def bend(model: Any, i: int, x: int, k: int) -> None:
    """The bend of span k, see `routines.along_spans`."""
    j, n = i + 1 + INTEGERS * k, x + NUMBERS * k
    p1 = seeded(model, station(model, model.force_integers[j], n)[1], 0)
    p2 = seeded(model, station(model, model.force_integers[j + 1], n + 3)[1], 3)
    flag, t1, t2, arc = touching(model, j, n, p1, p2)
    first, last = vec3.sub(t1, p1), vec3.sub(p2, t2)
    d1, d2 = unit(first), unit(last)
    which = where(flag > 0.5, one(flag) * k, -one(flag))
    put_bend(model, d1, d2, vec3.dot(d1, first) + arc + vec3.dot(d2, last), which)


@dataclass(frozen=True)
class Wrap:
    """A sphere, or an endless cylinder about the z axis of its frame, that a path bends around.

    Parameters
    ----------
    body : MobilizedBody
        What it is fixed to.
    radius : float
        Above zero; length.
    frame : Transform, optional
        Its center, and a cylinder's axis.
    is_cylinder : bool
        Whether it is a cylinder.
    side : (MobilizedBody, (3,) array_like), optional
        The path goes around in the sense of the lines from its first point to this one and on to its second, as in MuJoCo 4. If
        it is inside, the path passes through the inside.
    """

    body: Any
    radius: float
    frame: Transform | None = None
    is_cylinder: bool = False
    side: tuple[Any, ArrayLike] | None = None


class WrappedPath(Transmission):
    """A path from point to point that bends around spheres and cylinders: a tendon over a joint.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        Of the system whose bodies it names.
    branches : iterable of (sequence, float)
        The points of each branch in order, each ``(body, station)``, with a `Wrap` between two points where the path may bend
        around it; and what the branch's length is divided by.
    ratio : float
        Length, speed and generalized force are multiplied by it.

    Raises
    ------
    ModelError
        If a branch has fewer than two points, begins or ends with a `Wrap` or has two in a row, or a radius or divisor is not
        above zero.
    TypeError, ValueError, TopologyError
        If a body is none, or of another system, or a station no vector.

    Notes
    -----
    Where a point is within the surface the path runs straight, as in MuJoCo, whose lengths these are.
    """

    FUNCTIONS = (length, speed, apply)
    BEND = staticmethod(bend)
    is_linear = True
    is_between = True
    may_jump = True

    def __init__(
        self, forces: GeneralForceSubsystem, branches: Iterable[tuple[Sequence[Any], float]], *, ratio: float = 1.0
    ) -> None:
        integers: list[int] = [0]
        numbers: list[float] = []
        for parts, divisor in branches:
            part = 1.0 / checks.positive("the divisor of a branch", divisor)
            for (b1, s1), wrap, (b2, s2) in _spans(forces, list(parts)):
                own, values = _of_wrap(forces, wrap)
                integers += [b1, b2, *own]
                numbers += [*s1, *s2, part, *values]
                integers[0] += 1
        super().__init__(forces, integers, numbers, ratio)

    def reach(self) -> tuple[list[int], list[int]]:
        spans = [self.integers[1 + INTEGERS * k : 1 + INTEGERS * (k + 1)] for k in range(self.integers[0])]
        around = [span[3] for span in spans if span[2] != NOTHING]
        return [*(b for span in spans for b in span[:2]), *around], []

    def spans(self) -> list[Span] | None:
        """Its spans, of which each bends by itself."""
        if type(self).FUNCTIONS is not WrappedPath.FUNCTIONS:
            return None
        found: list[Span] = []
        for k in range(self.integers[0]):
            first, second, kind, surface, side, of_side = self.integers[1 + INTEGERS * k :][:INTEGERS]
            x = NUMBERS * k
            if kind == NOTHING:
                found.append(Span((first, second, -1), (x, x + 3), x + 6))
            else:
                reads = () if side == NO_SIDE else (of_side,)
                found.append(Span((first, second, surface), (x, x + 3), x + 6, k, k, reads))
        return found

    def calc_lines(self, state: State) -> list[Line]:
        """Its spans: each from point to point, or to the surface, around it, and on."""
        own = self._own(state)
        found: list[Line] = []
        for k in range(self.integers[0]):
            i, x = 1 + INTEGERS * k, 1 + NUMBERS * k
            first = self.integers[i], np.array(self.numbers[x : x + 3])
            last = self.integers[i + 1], np.array(self.numbers[x + 3 : x + 6])
            around: list[End] = []
            if self.integers[i + 2] != NOTHING:
                p1, p2 = (station(own, self.integers[i + j], x + 3 * j)[1] for j in (0, 1))
                flag, t1, t2, arc = touching(own, i, x, p1, p2)
                if flag > 0.5:
                    around = [(0, point) for point in self._bend(state, i, x, np.array(t1), np.array(t2), float(arc))]
            found += pairwise([first, *around, last])
        return found

    def _bend(self, state: State, i: int, x: int, t1: Array, t2: Array, arc: float) -> Array:
        """Points (n, 3) in Ground along the surface, from where the path meets it to where it leaves it."""
        frame, b = np.array(self.numbers[x + FRAME : x + FRAME + 12]), self.integers[i + 3]
        R, p = state.R_GB[b] @ frame[:9].reshape(3, 3), state.R_GB[b] @ frame[9:] + state.record.p_GB[b, :3].ravel()
        radius, is_cylinder = self.numbers[x + RADIUS], self.integers[i + 2] == CYLINDER
        one, other = (t1 - p) @ R, (t2 - p) @ R
        rise = other[2] - one[2] if is_cylinder else 0.0
        e, axis = one.copy(), np.cross(one, other)
        if is_cylinder:
            e[2], axis = 0.0, np.array([0.0, 0.0, np.sign(axis[2]) or 1.0])
        angle = math.sqrt(max(arc * arc - rise * rise, 0.0)) / radius
        if angle > math.pi:  # the long way round
            axis = -axis
        f = np.cross(axis / max(float(np.linalg.norm(axis)), 1e-300), e)
        part = np.linspace(0.0, 1.0, _BENDS + 1)[:, None]
        points = np.cos(part * angle) * e + np.sin(part * angle) * f
        if is_cylinder:
            points[:, 2] += one[2] + part[:, 0] * rise
        return np.asarray(points @ R.T + p)


def _spans(forces: GeneralForceSubsystem, parts: list[Any]) -> list[tuple[Any, Wrap | None, Any]]:
    """Each two points that follow each other, with what is between."""
    points: list[Any] = []
    between: dict[int, Wrap] = {}
    for part in parts:
        if isinstance(part, Wrap):
            if not points or len(points) - 1 in between:
                raise ModelError("a Wrap stands between two points of a branch of a WrappedPath")
            between[len(points) - 1] = part
            continue
        body, place = part
        vector = checks.vector("a point of a WrappedPath", place).tolist()
        points.append((body_index(forces, "body of a point", body), vector))
    if len(points) < 2 or len(points) - 1 in between:
        raise ModelError(f"a branch of a WrappedPath begins and ends with a point, and has two or more; got {len(points)}")
    return [(one, between.get(k), other) for k, (one, other) in enumerate(pairwise(points))]


def _of_wrap(forces: GeneralForceSubsystem, wrap: Wrap | None) -> tuple[list[int], list[float]]:
    if wrap is None:
        return [NOTHING, 0, NO_SIDE, 0], [0.0] * 16
    b, frame = placed(forces, "body of a Wrap", wrap.body, wrap.frame)
    radius = checks.positive("radius of a Wrap", wrap.radius)
    kind = CYLINDER if wrap.is_cylinder else SPHERE
    if wrap.side is None:
        return [kind, b, NO_SIDE, 0], [*frame, radius, 0.0, 0.0, 0.0]
    s, place = body_index(forces, "body of a side", wrap.side[0]), checks.vector("side of a Wrap", wrap.side[1])
    middle = np.array(frame[9:])
    within = float(np.linalg.norm(place - middle)) < radius
    where_from = MOVING if s != b else INSIDE if within else OUTSIDE
    return [kind, b, where_from, s], [*frame, radius, *place.tolist()]
