"""Curves of muscles: force by length and by velocity, each a row of smooth corners between points with given slopes.

A corner between (x0, y0) with slope s0 and (x1, y1) with slope s1 is a quintic Bezier curve about the point C where both lines
meet: with c = 0.1 + 0.8 curviness, M0 = P0 + c (C - P0) and M1 = P1 + c (C - P1). Second derivatives are zero at its ends, so
that the whole is twice continuously differentiable. Source: Millard, Uchida, Seth and Delp 2013, J. Biomech. Eng. 135, 021005;
the parameters are those of the classes of OpenSim of these names, with their defaults.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.polynomial import polynomial

from ..algebra.arrays import Array, ArrayLike
from ..errors import ModelError
from ..value import checks
from . import _bezier

#: Where a curve goes through: x, y and its slope there.
Knot = tuple[float, float, float]


class Curve:
    """A curve of a muscle: of a length or a velocity, as a part of what they are normalized by. Base class.

    Examples
    --------
    >>> import mobod as mb
    >>> curve = mb.muscle.TendonForceLengthCurve()
    >>> round(curve.calc_value(1.049), 12), round(curve.calc_derivative(1, 1.06), 6)
    (1.0, 28.061224)
    """

    def __init__(self, knots: Sequence[Knot], curviness: Sequence[float]) -> None:
        pieces = [_corner(a, b, c) for a, b, c in zip(knots[:-1], knots[1:], curviness, strict=True)]
        #: Numbers of its pieces and slopes at its ends, as kernels read them.
        self.numbers = [*(number for piece in pieces for number in piece), knots[0][2], knots[-1][2]]
        self.num_pieces = len(pieces)
        self._knots = tuple(knots)

    def __repr__(self) -> str:
        own = ", ".join(f"{name}={value:g}" for name, value in self.parameters.items())
        return f"{type(self).__name__}({own})"

    @property
    def parameters(self) -> dict[str, float]:
        """Its parameters by name, as its constructor takes them."""
        return {name: value for name, value in vars(self).items() if isinstance(value, float)}

    @property
    def domain(self) -> tuple[float, float]:
        """The ends of the curved part; outside it is straight."""
        return self._knots[0][0], self._knots[-1][0]

    def calc_value(self, x: ArrayLike) -> Any:
        """The value at x, or at each of many.

        Parameters
        ----------
        x : float or array_like
            Normalized length or velocity.

        Returns
        -------
        float or array
            Of the shape of *x*.
        """
        return self._each(x, lambda one: float(_bezier.value(_Pool(self.numbers), 0, self.num_pieces, one)))

    def calc_derivative(self, order: int, x: ArrayLike) -> Any:
        """The derivative of an order from 1 on, at x or at each of many; exact.

        Parameters
        ----------
        order : int
            1 or more.
        x : float or array_like
            Normalized length or velocity.

        Returns
        -------
        float or array
            Of the shape of *x*. Orders above 2 jump from piece to piece.
        """
        n = checks.integer("order", order, 1)
        return self._each(x, lambda one: self._derivative(n, one))

    def calc_integral(self, x: ArrayLike) -> Any:
        """The integral from where the curve begins up to x, or to each of many.

        Parameters
        ----------
        x : float or array_like
            Normalized length or velocity.

        Returns
        -------
        float or array
            Of the shape of *x*.
        """
        return self._each(x, lambda one: float(_bezier.area(_Pool(self.numbers), 0, self.num_pieces, one)))

    def _each(self, x: ArrayLike, f: Any) -> Any:
        values = checks.numbers("x", x)
        found = np.array([f(float(one)) for one in values.ravel()]).reshape(values.shape)
        return float(found) if found.ndim == 0 else found

    def _derivative(self, order: int, x: float) -> float:
        """Of y(x) = Y(u(x)): the series of X about u is reverted, and put into that of Y."""
        low, high = self.domain
        if x < low or x > high:
            return self._knots[0 if x < low else -1][2] if order == 1 else 0.0
        p = _bezier.piece_at(_Pool(self.numbers), 0, self.num_pieces, x)
        u = float(_bezier.meet(p[1], p[2], p[3], x - p[0]))
        along, up = (_series(p[k : k + 4], u, order) for k in (0, 4))
        du = np.zeros(order + 1)  # u - u0 as a series in x - x0
        du[1] = 1.0 / along[1]
        for k in range(2, order + 1):
            du[k] = -_compose(along, du, order)[k] / along[1]
        return float(math.factorial(order) * _compose(up, du, order)[order])


class _Pool:
    """Numbers as kernels read those of an element, for curves by themselves."""

    def __init__(self, numbers: Sequence[float]) -> None:
        self.force_numbers = np.array(numbers)[:, None]


def _corner(first: Knot, last: Knot, curviness: float) -> list[float]:
    (x0, y0, s0), (x1, y1, s1) = first, last
    if not x1 > x0:
        raise ModelError(f"points of a muscle's curve have to follow each other in x; {x1:g} comes after {x0:g}")
    cx = 0.5 * (x0 + x1) if s0 == s1 else (y1 - y0 - x1 * s1 + x0 * s0) / (s0 - s1)
    cy = 0.5 * (y0 + y1) if s0 == s1 else y0 + s0 * (cx - x0)
    if not x0 <= cx <= x1:
        raise ModelError(
            f"a muscle's curve cannot bend smoothly from ({x0:g}, {y0:g}) with slope {s0:g} to ({x1:g}, {y1:g}) with slope "
            f"{s1:g}: the two lines do not meet in between. Choose slopes on both sides of that of the chord"
        )
    c = 0.1 + 0.8 * checks.between("curviness", curviness, 0.0, 1.0)
    xs, ys = ((p, c * (m - p), c * (q - m), q - p) for p, m, q in ((x0, cx, x1), (y0, cy, y1)))
    return [*xs, *ys]


def _series(ways: Sequence[float], u: float, order: int) -> Array:
    """Taylor's coefficients of a piece's B about u, up to an order."""
    start, first, last, whole_way = ways
    a, b, c = start, start + first, start + whole_way - last
    points = [a, b, b, c, c, start + whole_way]
    whole = np.zeros(6)
    for k, point in enumerate(points):
        term = polynomial.polymul(polynomial.polypow([0.0, 1.0], k), polynomial.polypow([1.0, -1.0], 5 - k))
        whole[: len(term)] += math.comb(5, k) * point * term
    found = np.zeros(order + 1)
    for k in range(min(order, 5) + 1):
        found[k] = (
            polynomial.polyval(u, polynomial.polyder(whole, k)) / math.factorial(k) if k else polynomial.polyval(u, whole)
        )
    return found


def _compose(outer: Array, inner: Array, order: int) -> Array:
    """The series of outer(inner), whose constant term is zero, cut behind an order."""
    total = np.zeros(order + 1)
    for coefficient in outer[::-1]:
        total = np.convolve(total, inner)[: order + 1]
        total[0] += coefficient
    return total


class ActiveForceLengthCurve(Curve):
    """Active force of a fiber by its normalized length.

    Parameters
    ----------
    min_norm_active_fiber_length, transition_norm_fiber_length, max_norm_active_fiber_length : float
        Where it begins, where the ascending limb becomes shallow, and where it ends; below 1, below 1 and above 1.
    shallow_ascending_slope : float
        Of the limb between; zero or more.
    minimum_value : float
        At both ends and beyond; zero or more, below 1.

    Examples
    --------
    >>> import mobod as mb
    >>> curve = mb.muscle.ActiveForceLengthCurve(minimum_value=0.0)
    >>> curve.calc_value([0.3, 1.0, 2.0]).round(9)
    array([0., 1., 0.])
    """

    def __init__(
        self,
        *,
        min_norm_active_fiber_length: float = 0.4441,
        transition_norm_fiber_length: float = 0.73,
        max_norm_active_fiber_length: float = 1.8123,
        shallow_ascending_slope: float = 0.8616,
        minimum_value: float = 0.1,
    ) -> None:
        own = f"of {type(self).__name__}"
        x0 = self.min_norm_active_fiber_length = checks.not_negative(
            f"min_norm_active_fiber_length {own}", min_norm_active_fiber_length
        )
        x1 = self.transition_norm_fiber_length = checks.positive(
            f"transition_norm_fiber_length {own}", transition_norm_fiber_length
        )
        x3 = self.max_norm_active_fiber_length = checks.positive(
            f"max_norm_active_fiber_length {own}", max_norm_active_fiber_length
        )
        s = self.shallow_ascending_slope = checks.not_negative(f"shallow_ascending_slope {own}", shallow_ascending_slope)
        low = self.minimum_value = checks.between(f"minimum_value {own}", minimum_value, 0.0, 1.0)
        if not x0 < x1 < 0.95 or not x3 > 1.05:
            raise ModelError(
                f"lengths {own} have to be in order, min < transition < 0.95 and max > 1.05; got {x0:g}, {x1:g} and {x3:g}"
            )
        half = 0.05  # of the plateau's width
        xs = 1.0 - half
        y1 = 1.0 - s * (xs - x1)
        knots = [
            (x0, low, 0.0),
            (0.5 * (x0 + x1), 0.5 * y1, 1.25 * y1 / (x1 - x0)),
            (0.5 * (x1 + xs), 0.5 * (1.0 + y1), s),
            (1.0, 1.0, 0.0),
            (0.5 * (1.0 + half + x3), 0.5, -1.0 / (x3 - half - (1.0 + half))),
            (x3, low, 0.0),
        ]
        super().__init__(knots, [1.0] * 5)


class FiberForceLengthCurve(Curve):
    """Passive force of a fiber by its normalized length.

    Parameters
    ----------
    strain_at_zero_force, strain_at_one_norm_force : float
        In order.
    stiffness_at_low_force, stiffness_at_one_norm_force : float, optional
        Of normalized force by strain; 0.2, and twice that of the straight line between the strains, unless given.
    curviness : float
        From 0 to 1.

    Examples
    --------
    >>> import mobod as mb
    >>> mb.muscle.FiberForceLengthCurve().calc_value([1.0, 1.7, 2.0]).round(6)
    array([0.      , 1.      , 1.857143])
    """

    def __init__(
        self,
        *,
        strain_at_zero_force: float = 0.0,
        strain_at_one_norm_force: float = 0.7,
        stiffness_at_low_force: float | None = None,
        stiffness_at_one_norm_force: float | None = None,
        curviness: float = 0.75,
    ) -> None:
        own = f"of {type(self).__name__}"
        e0 = self.strain_at_zero_force = checks.finite(f"strain_at_zero_force {own}", strain_at_zero_force)
        e1 = self.strain_at_one_norm_force = checks.finite(f"strain_at_one_norm_force {own}", strain_at_one_norm_force)
        if not e1 > e0:
            raise ModelError(f"strain_at_one_norm_force {own} has to be above strain_at_zero_force, {e0:g}; got {e1:g}")
        low = 0.2 if stiffness_at_low_force is None else stiffness_at_low_force
        iso = 2.0 / (e1 - e0) if stiffness_at_one_norm_force is None else stiffness_at_one_norm_force
        low = self.stiffness_at_low_force = checks.not_negative(f"stiffness_at_low_force {own}", low)
        iso = self.stiffness_at_one_norm_force = checks.positive(f"stiffness_at_one_norm_force {own}", iso)
        self.curviness = checks.between(f"curviness {own}", curviness, 0.0, 1.0)
        d = 0.1 * min(1.0 / iso, e1 - e0)
        knots = [(1.0 + e0, 0.0, 0.0), (1.0 + e0 + d, 0.5 * low * d, low), (1.0 + e1, 1.0, iso)]
        super().__init__(knots, [self.curviness] * 2)


class TendonForceLengthCurve(Curve):
    """Force of a tendon by its normalized length.

    Parameters
    ----------
    strain_at_one_norm_force : float
        Above zero.
    stiffness_at_one_norm_force : float, optional
        Of normalized force by strain; 1.375 by that strain unless given.
    norm_force_at_toe_end : float
        Where the toe ends and the straight part begins; above zero, below 1.
    curviness : float
        From 0 to 1.

    Examples
    --------
    >>> import mobod as mb
    >>> mb.muscle.TendonForceLengthCurve().calc_value([1.0, 1.049]).round(9)
    array([0., 1.])
    """

    def __init__(
        self,
        *,
        strain_at_one_norm_force: float = 0.049,
        stiffness_at_one_norm_force: float | None = None,
        norm_force_at_toe_end: float = 2.0 / 3.0,
        curviness: float = 0.5,
    ) -> None:
        own = f"of {type(self).__name__}"
        e0 = self.strain_at_one_norm_force = checks.positive(f"strain_at_one_norm_force {own}", strain_at_one_norm_force)
        k = 1.375 / e0 if stiffness_at_one_norm_force is None else stiffness_at_one_norm_force
        k = self.stiffness_at_one_norm_force = checks.positive(f"stiffness_at_one_norm_force {own}", k)
        toe = self.norm_force_at_toe_end = checks.between(f"norm_force_at_toe_end {own}", norm_force_at_toe_end, 0.0, 1.0)
        self.curviness = checks.between(f"curviness {own}", curviness, 0.0, 1.0)
        end = 1.0 + e0 + (toe - 1.0) / k
        if not (toe > 0.0 and end > 1.0):
            raise ModelError(
                f"norm_force_at_toe_end {own} has to be above zero, and reached at a strain above zero: with a stiffness of "
                f"{k:g} it is reached at {end - 1.0:g}"
            )
        foot, middle = 1.0 + 0.1 * (end - 1.0), 1.0 + e0 + (0.5 * toe - 1.0) / k
        slope = 0.5 * toe / (middle - foot)
        knots = [(1.0, 0.0, 0.0), (0.5 * (foot + middle), 0.25 * toe, slope), (end, toe, k)]
        super().__init__(knots, [self.curviness] * 2)


class ForceVelocityCurve(Curve):
    """Active force of a fiber by its normalized velocity, which is below zero where it shortens.

    Parameters
    ----------
    concentric_slope_at_vmax, concentric_slope_near_vmax : float
        At -1 and near it; zero or more.
    isometric_slope : float
        At zero.
    eccentric_slope_at_vmax, eccentric_slope_near_vmax : float
        At 1 and near it; zero or more.
    max_eccentric_velocity_force_multiplier : float
        The force at 1; above 1.
    concentric_curviness, eccentric_curviness : float
        From 0 to 1.

    Examples
    --------
    >>> import mobod as mb
    >>> mb.muscle.ForceVelocityCurve().calc_value([-1.0, 0.0, 1.0]).round(9)
    array([0. , 1. , 1.4])
    """

    def __init__(
        self,
        *,
        concentric_slope_at_vmax: float = 0.0,
        concentric_slope_near_vmax: float = 0.25,
        isometric_slope: float = 5.0,
        eccentric_slope_at_vmax: float = 0.0,
        eccentric_slope_near_vmax: float = 0.15,
        max_eccentric_velocity_force_multiplier: float = 1.4,
        concentric_curviness: float = 0.6,
        eccentric_curviness: float = 0.9,
    ) -> None:
        own = f"of {type(self).__name__}"
        sc = self.concentric_slope_at_vmax = checks.not_negative(f"concentric_slope_at_vmax {own}", concentric_slope_at_vmax)
        near = self.concentric_slope_near_vmax = checks.not_negative(
            f"concentric_slope_near_vmax {own}", concentric_slope_near_vmax
        )
        iso = self.isometric_slope = checks.positive(f"isometric_slope {own}", isometric_slope)
        se = self.eccentric_slope_at_vmax = checks.not_negative(f"eccentric_slope_at_vmax {own}", eccentric_slope_at_vmax)
        far = self.eccentric_slope_near_vmax = checks.not_negative(
            f"eccentric_slope_near_vmax {own}", eccentric_slope_near_vmax
        )
        most = max_eccentric_velocity_force_multiplier
        top = self.max_eccentric_velocity_force_multiplier = checks.one_or_more(
            f"max_eccentric_velocity_force_multiplier {own}", most
        )
        self.concentric_curviness = checks.between(f"concentric_curviness {own}", concentric_curviness, 0.0, 1.0)
        self.eccentric_curviness = checks.between(f"eccentric_curviness {own}", eccentric_curviness, 0.0, 1.0)
        knots = [
            (-1.0, 0.0, sc),
            (-0.9, 0.05 * (near + sc), near),
            (0.0, 1.0, iso),
            (0.9, top - 0.05 * (far + se), far),
            (1.0, top, se),
        ]
        super().__init__(knots, [self.concentric_curviness] * 2 + [self.eccentric_curviness] * 2)

    @property
    def numbers_of_inverse(self) -> list[float]:
        """Numbers of the curve whose x is this one's y, as kernels read them; of one that is `invertible`."""
        pieces = [self.numbers[k : k + 8] for k in range(0, 8 * self.num_pieces, 8)]
        swapped = [number for piece in pieces for number in (*piece[4:], *piece[:4])]
        return [*swapped, *(1.0 / end[2] if end[2] > 0.0 else 1.0 for end in (self._knots[0], self._knots[-1]))]

    def invertible(self) -> ForceVelocityCurve:
        """The same with end slopes of at least half the near ones, so that each force has one velocity."""
        own = self.parameters
        own["concentric_slope_at_vmax"] = max(own["concentric_slope_at_vmax"], 0.5 * own["concentric_slope_near_vmax"])
        own["eccentric_slope_at_vmax"] = max(own["eccentric_slope_at_vmax"], 0.5 * own["eccentric_slope_near_vmax"])
        return ForceVelocityCurve(**own)
