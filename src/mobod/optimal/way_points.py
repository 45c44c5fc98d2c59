"""A motion through way-points, as fast as limits of speed and acceleration allow.

Without stops the path q(s) is a cubic spline through the points, and s(t) the fastest there is, with x = s_dot^2, a = s_ddot:

    |q' | sqrt(x) <= v_max        |q' a + q'' x| <= a_max        x_(i+1) = x_i + 2 a (s_(i+1) - s_i)

at both ends of each step; backward, the largest x from which the end is reached; forward, the largest a that stays below.
Sources: Pham and Pham 2018, A new approach to time-optimal path parameterization based on reachability analysis.

With stops it is straight lines from point to point, each at rest at both ends, in seven stretches of constant jerk (three of
constant acceleration where the jerk has no limit), all coordinates in step. Source: Biagiotti and Melchiorri 2008, section 3.4.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..errors import ModelError
from ..function import Function, PiecewisePolynomial
from ..value.checks import flag, numbers

#: Steps along the whole path, and the fewest between two points.
_STEPS, _FEWEST = 600, 12
#: Points of each step at which limits are looked at in the end.
_LOOKS = np.array([0.0, 0.25, 0.5, 0.75, 1.0])


class WayPoints:
    """A motion through way-points: what `trajectory_through` returns.

    Attributes
    ----------
    functions : list of Function
        Of time, one a coordinate, for `control.Reference`, laws with ``reference=``, `motion.Custom`, constraints; constant
        before zero and after `duration`.
    duration : float
    times : (n,) array
        When it is at each of the points.
    breaks, table : (m + 1,), (k + 1, m, n) arrays
        Of its polynomials, the highest power first.

    Notes
    -----
    ``first + second`` is one after the other.
    """

    def __init__(self, breaks: Array, table: Array, times: Array) -> None:
        self.breaks, self.table = breaks, table
        # it stays where it is before and after
        first, last = (np.zeros((table.shape[0], 1, table.shape[2])) for _ in range(2))
        first[-1, 0], last[-1, 0] = table[-1, 0], _at(table[:, -1], breaks[-1] - breaks[-2])
        whole = np.concatenate([first, table, last], axis=1)
        x = np.concatenate([breaks[:1] - 1.0, breaks, breaks[-1:] + 1.0])
        self.functions: list[Function] = [PiecewisePolynomial(whole[:, :, k], x) for k in range(table.shape[2])]
        self.duration, self.times = float(breaks[-1]), times

    def __add__(self, other: WayPoints) -> WayPoints:
        """This motion, then another one that begins where it ends.

        Raises
        ------
        ModelError
            If that begins elsewhere, or has other coordinates.
        """
        if not isinstance(other, WayPoints):
            return NotImplemented
        here, there = self(self.duration)[0], other(0.0)[0]
        if here.shape != there.shape or np.abs(here - there).max() > 1e-9 * (1.0 + np.abs(here).max()):
            raise ModelError(f"a motion goes on where the one before has ended, at {here.tolist()}, not at {there.tolist()}")
        size = max(len(self.table), len(other.table))
        tables = [np.pad(one.table, ((size - len(one.table), 0), (0, 0), (0, 0))) for one in (self, other)]
        breaks = np.concatenate([self.breaks, self.duration + other.breaks[1:]])
        return WayPoints(breaks, np.concatenate(tables, axis=1), np.concatenate([self.times, self.duration + other.times[1:]]))

    def __call__(self, time: ArrayLike) -> tuple[Array, Array, Array]:
        """Coordinates, speeds and accelerations ``(..., n)`` at a time, or at many ``(...)``."""
        t = numbers("time", time)
        points = t.reshape(-1, 1)
        parts = [
            np.stack(
                [np.asarray(f.calc_derivative(order, points)) if order else f.calc_value(points) for f in self.functions], -1
            )
            for order in ([], [0], [0, 0])
        ]
        q, u, a = (part.reshape(*t.shape, len(self.functions)) for part in parts)
        return q, u, a

    def __repr__(self) -> str:
        return f"<WayPoints: {len(self.times)} points of {len(self.functions)} coordinates in {self.duration:.4g}>"


def trajectory_through(
    points: ArrayLike,
    max_speed: ArrayLike,
    max_acceleration: ArrayLike,
    *,
    max_jerk: ArrayLike | None = None,
    stops: bool = False,
) -> WayPoints:
    """Move through way-points as fast as limits of speed and acceleration allow, from rest to rest.

    Parameters
    ----------
    points : (m, n) array_like
        Two or more, of n coordinates each, such as solutions of `inverse_kinematics`.
    max_speed, max_acceleration : float or (n,) array_like
        Of each coordinate, above zero: coordinate/time, coordinate/time^2.
    max_jerk : float or (n,) array_like, optional
        With *stops* only; coordinate/time^3. None unless given.
    stops : bool
        Whether it stops at each point, and goes straight to the next: all coordinates in step, by trapezoids of speed, or with
        a limit of jerk by smooth ones. Otherwise it passes along a cubic spline as fast as can be; accelerations jump.

    Returns
    -------
    WayPoints
        Functions of time, and when it is where.

    Raises
    ------
    ValueError
        If the shapes do not fit.
    ModelError
        If a number is not finite, a limit is not above zero, two points that follow each other are the same, or a limit of
        jerk is given without stops.

    Notes
    -----
    Limits hold at all times: where the spline's steps would exceed one in between by a little, all of it is slowed down.

    Examples
    --------
    >>> import mobod as mb
    >>> path = mb.trajectory_through([[0, 0], [1, 0.5], [1, 2]], max_speed=1.0, max_acceleration=[2.0, 4.0])
    >>> path
    <WayPoints: 3 points of 2 coordinates in 2.901>
    >>> q, u, a = path(path.times[1])
    >>> q.round(6)
    array([1. , 0.5])
    """
    P = numbers("points", points)
    if P.ndim != 2 or len(P) < 2 or P.shape[1] < 1:
        raise ValueError(f"points are two or more rows of coordinates, (m, n); their shape is {P.shape}")
    if not np.isfinite(P).all():
        raise ModelError("points have to be finite")
    n = P.shape[1]
    v, a = _limit("max_speed", max_speed, n), _limit("max_acceleration", max_acceleration, n)
    apart = np.abs(np.diff(P, axis=0)).max(axis=1)
    if (apart == 0.0).any():
        i = int(np.argmin(apart))
        raise ModelError(f"points {i} and {i + 1} are the same, {P[i].tolist()}; leave one out")
    if flag("stops", stops):
        j = np.full(n, np.inf) if max_jerk is None else _limit("max_jerk", max_jerk, n)
        return _with_stops(P, v, a, j)
    if max_jerk is not None:
        raise ModelError("max_jerk takes stops=True; the fastest motion along a spline has jumps of acceleration")
    return _along_spline(P, v, a)


def _limit(name: str, value: ArrayLike, n: int) -> Array:
    row = numbers(name, value)
    if row.shape not in ((), (n,)):
        raise ValueError(f"{name} is a number, or {n} of them, one a coordinate; got the shape {row.shape}")
    if not (np.isfinite(row).all() and (row > 0.0).all()):
        raise ModelError(f"{name} has to be above zero and finite, got {value!r}")
    return np.broadcast_to(row, (n,)).astype(float)


def _at(table: Array, t: Any) -> Array:
    """Of a polynomial's coefficients (k + 1, n), the highest power first."""
    f = np.zeros(table.shape[1:])
    for c in table:
        f = f * t + c
    return f


# ---------------------------------------------------------------------------------------------- with stops


def _with_stops(P: Array, v: Array, a: Array, j: Array) -> WayPoints:
    breaks, pieces, times = [0.0], [], [0.0]
    for here, there in itertools.pairwise(P):
        way = there - here
        moved = np.abs(way) > 0.0
        size = np.abs(way[moved])
        limits = (float(np.min(limit[moved] / size)) for limit in (v, a, j))
        s = np.zeros(4)  # jerk / 6, acceleration / 2, speed and place, of a way of 1
        for time, jerk, start in _stretches(*limits):
            s[0], s[1] = jerk / 6.0, start / 2.0
            pieces.append(s[:, None] * way[None] + np.array([0.0, 0.0, 0.0, 1.0])[:, None] * here[None])
            breaks.append(breaks[-1] + time)
            s[3], s[2] = np.polyval(s, time), np.polyval(np.polyder(s), time)
        times.append(breaks[-1])
    return WayPoints(np.array(breaks), np.array(pieces).transpose(1, 0, 2), np.array(times))


def _stretches(v: float, a: float, j: float) -> list[tuple[float, float, float]]:
    """Time, jerk, and acceleration at the start of each stretch of the fastest way of length 1, from rest to rest."""
    ramp, rise = 0.0 if math.isinf(j) else a / j, 0.0
    if math.isinf(j):
        rise = v / a
        if v * rise > 1.0:
            rise = math.sqrt(1.0 / a)
    elif v * j < a * a:
        ramp = math.sqrt(v / j)
        rise = 2.0 * ramp
    else:
        rise = ramp + v / a
    steady = (1.0 / v) - rise
    if steady < 0.0 or (math.isinf(j) and v * (v / a) > 1.0):  # the speed is not reached
        steady = 0.0
        if not math.isinf(j):
            if 1.0 >= 2.0 * a**3 / j**2:
                ramp = a / j
                rise = ramp / 2.0 + math.sqrt((ramp / 2.0) ** 2 + 1.0 / a)
            else:
                ramp = (1.0 / (2.0 * j)) ** (1.0 / 3.0)
                rise = 2.0 * ramp
    top = a if math.isinf(j) else j * ramp
    jerk = 0.0 if math.isinf(j) else j
    found = [
        *[(ramp, jerk, 0.0), (rise - 2.0 * ramp, 0.0, top), (ramp, -jerk, top), (steady, 0.0, 0.0)],
        *[(ramp, -jerk, 0.0), (rise - 2.0 * ramp, 0.0, -top), (ramp, jerk, -top)],
    ]
    least = 1e-12 * (2.0 * rise + steady)
    return [one for one in found if one[0] > least]


# ---------------------------------------------------------------------------------------------- along a spline


def _along_spline(P: Array, v: Array, a: Array) -> WayPoints:
    from scipy.interpolate import CubicSpline

    knots = np.concatenate([[0.0], np.cumsum(np.sqrt((np.diff(P, axis=0) ** 2).sum(axis=1)))])  # lengths of chords
    knots /= knots[-1]
    spline = CubicSpline(knots, P, bc_type="natural")
    counts = np.maximum(_FEWEST, np.ceil(_STEPS * np.diff(knots)).astype(int))
    pieces = [
        np.linspace(low, high, int(n), endpoint=False) for low, high, n in zip(knots[:-1], knots[1:], counts, strict=True)
    ]
    s = np.concatenate([*pieces, [1.0]])
    slopes, bends = spline(s, 1), spline(s, 2)
    x, rate = _fastest(s, slopes, bends, v, a)
    root = np.sqrt(x)
    steps = 2.0 * np.diff(s) / (root[:-1] + root[1:])
    c = spline.c[:, np.repeat(np.arange(len(counts)), counts)]  # of each step's piece, from its knot
    c = _shifted(c, s[:-1] - np.repeat(knots[:-1], counts))
    table = _composed(c, root[:-1], 0.5 * rate)
    slow = _excess(table, steps, v, a)
    if slow > 1.0:
        steps = steps * slow
        table = table / slow ** np.arange(6, -1, -1)[:, None, None]
    breaks = np.concatenate([[0.0], np.cumsum(steps)])
    return WayPoints(breaks, table, breaks[np.concatenate([[0], np.cumsum(counts)])])


def _fastest(s: Array, slopes: Array, bends: Array, v: Array, a: Array) -> tuple[Array, Array]:
    """The squares of s_dot at each s, and s_ddot of each step."""
    n, step = len(s), 2.0 * np.diff(s)
    with np.errstate(divide="ignore"):
        most = ((v / np.abs(slopes)).min(axis=1)) ** 2
    # |k a + c x| <= 1, at both ends of a step: there x is x + 2 ds a
    k = np.concatenate([slopes[:-1], slopes[1:] + step[:, None] * bends[1:]], axis=1)
    c = np.concatenate([bends[:-1], bends[1:]], axis=1)
    bound = np.concatenate([a, a])
    reach = np.zeros(n)  # the largest x from which the end is reached
    for i in range(n - 2, -1, -1):
        # as lines over x: lower (p x + q) <= a <= upper
        low, high = _lines(k[i], c[i], bound, step[i], reach[i + 1])
        reach[i] = min(most[i], _largest(low, high))
    x, rate = np.zeros(n), np.zeros(n - 1)
    for i in range(n - 1):
        _, high = _lines(k[i], c[i], bound, step[i], reach[i + 1])
        rate[i] = (high[0] * x[i] + high[1]).min()
        x[i + 1] = min(max(x[i] + step[i] * rate[i], 0.0), reach[i + 1])
        rate[i] = (x[i + 1] - x[i]) / step[i]
        if i + 1 < n - 1 and not x[i + 1] > 0.0:
            raise ModelError("the path cannot be passed at any speed: limits of acceleration and speed differ by too much")
    return x, rate


def _lines(k: Array, c: Array, bound: Array, step: float, reach: float) -> tuple[Array, Array]:
    """Lower and upper bounds of a as lines p x + q: both (2, m), of limits of acceleration and of what the next step allows."""
    used = np.abs(k) > 1e-12 * (np.abs(k).max() + 1e-300)
    k, c, bound = k[used], c[used], bound[used]
    lines = -c / k, bound / np.abs(k)
    low = np.array([[*lines[0], -1.0 / step], [*(-lines[1]), 0.0]])
    return low, np.array([[*lines[0], -1.0 / step], [*lines[1], reach / step]])


def _largest(low: Array, high: Array) -> float:
    """The largest x at which all lower lines are below all upper ones; these are at x = 0."""
    slope, room = low[0][:, None] - high[0][None], high[1][None] - low[1][:, None]
    rising = slope > 0.0
    return float((room[rising] / slope[rising]).min()) if rising.any() else np.inf


def _shifted(c: Array, by: Array) -> Array:
    """Cubics (4, m, n) about points that are further on."""
    h = by[:, None]
    return np.array(
        [c[0], c[1] + 3.0 * h * c[0], c[2] + h * (2.0 * c[1] + 3.0 * h * c[0]), ((c[0] * h + c[1]) * h + c[2]) * h + c[3]]
    )


def _composed(c: Array, speed: Array, half: Array) -> Array:
    """Cubics of s, with s = speed t + half t^2, as polynomials of t: (7, m, n)."""
    v, w = speed[:, None], half[:, None]
    return np.array(
        [
            w**3 * c[0],
            3.0 * v * w**2 * c[0],
            3.0 * v**2 * w * c[0] + w**2 * c[1],
            v**3 * c[0] + 2.0 * v * w * c[1],
            v**2 * c[1] + w * c[2],
            v * c[2],
            c[3],
        ]
    )


def _excess(table: Array, steps: Array, v: Array, a: Array) -> float:
    """By what time has to be stretched so that no limit is exceeded anywhere."""
    powers = np.arange(6, -1, -1)[:, None, None]
    speeds, accelerations = table[:-1] * powers[:-1], table[:-2] * (powers * (powers - 1))[:-2]
    worst = 1.0
    for part in _LOOKS:
        t = (part * steps)[:, None]
        worst = max(worst, float((np.abs(_at(speeds, t)) / v).max()), float((np.abs(_at(accelerations, t)) / a).max()) ** 0.5)
    return worst
