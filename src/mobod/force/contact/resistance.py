"""Resistance to rolling and spinning, and surfaces whose material moves along them.

With f the normal force at a point, n its normal from the first surface to the second, w the angular velocity of the second body
from the first one, w_n = (w . n) n and w_t = w - w_n, the moment on the second body is

    m = -f (rho S(|w_t| / w_0) w_t / |w_t| + sigma S(|w_n| / w_0) w_n / |w_n|)   S(y) = y^3 (10 - 15 y + 6 y^2), 1 from y = 1 on

and the opposite on the first one. rho and sigma, lengths, are the arms of rolling and spinning resistance of the pair: the
greater ones of its two materials, since what is lost in one of them is lost. w_0 is the transition rate. Where time is
stepped the law is that of Coulomb, without w_0.

A surface with a velocity c, such as a belt, slips by v + (c_2 - c_1)_t in place of v; its drive does the work c . f_t.

Sources: Johnson 1985, Contact Mechanics, 9.1 (rolling resistance as an arm) and 3.8 (spin); Leine 2009, Archive of Applied
Mechanics 79, 1063 (Euler's disk).
"""

from __future__ import annotations

from typing import Any

from ...algebra import mat33, vec3
from ...algebra.memory import load9
from ...algebra.scalar import load_lane, sqrt, where
from ...compiling import generic
from ...contact.access import ROLLING, VELOCITY, Pair, number_of, orientation, three_of
from ..pools import number, numbers3
from .broad_phase import RESISTS

#: The rate w_0 of elements that are not told.
RATE = 0.1


@generic
def resists(model: Any, element: int) -> bool:
    """True if surfaces of an element have any of this."""
    return bool(model.force_integers[model.force_first_integer[element] + RESISTS] == 1)


@generic
def _greater(a: Any, b: Any) -> Any:
    return where(a < b, b, a)


@generic
def arms(model: Any, a: int, b: int, lane: int) -> Any:
    """rho and sigma of two surfaces, in one state."""
    rho = _greater(number_of(model, a, ROLLING, lane), number_of(model, b, ROLLING, lane))
    return rho, _greater(number_of(model, a, ROLLING + 1, lane), number_of(model, b, ROLLING + 1, lane))


@generic
def arms_at_once(model: Any, a: int, b: int) -> Any:
    """The same, in all states of a record."""
    i, j = model.surface_first_number[a] + ROLLING, model.surface_first_number[b] + ROLLING
    return _greater(number(model, i), number(model, j)), _greater(number(model, i + 1), number(model, j + 1))


@generic
def _part(square: Any, rate: Any) -> Any:
    """S(|w| / w_0) / |w|, of the square of |w|."""
    o = 0.0 * square
    still = square <= 0.0
    size = sqrt(where(still, 1.0 + o, square))
    y = size / rate
    y = where(y > 1.0, 1.0 + o, y)
    return where(still, o, y * y * y * (10.0 + y * (6.0 * y - 15.0)) / size)


@generic
def couple(both: Any, rate: Any, n: Any, w: Any, normal: Any) -> Any:
    """m, of both arms and of the normal force."""
    spin = vec3.dot(w, n)
    roll = vec3.add_scaled(w, -spin, n)
    m = vec3.scale(-normal * both[0] * _part(vec3.dot(roll, roll), rate), roll)
    return vec3.add_scaled(m, -normal * both[1] * _part(spin * spin, rate) * spin, n)


@generic
def _along(d: Any, n: Any) -> Any:
    return vec3.add_scaled(d, -vec3.dot(d, n), n)


@generic
def drift(model: Any, a: int, b: int, n: Any, lane: int) -> Any:
    """(c_2 - c_1)_t in Ground, in one state."""
    c1 = mat33.mul_vec(orientation(model, a, lane), three_of(model, a, VELOCITY, lane))
    c2 = mat33.mul_vec(orientation(model, b, lane), three_of(model, b, VELOCITY, lane))
    return _along(vec3.sub(c2, c1), n)


@generic
def drift_at_once(model: Any, a: int, b: int, n: Any) -> Any:
    """The same, in all states of a record."""
    c1 = mat33.mul_vec(load9(model.surface_frame, a, 0), numbers3(model, model.surface_first_number[a] + VELOCITY))
    c2 = mat33.mul_vec(load9(model.surface_frame, b, 0), numbers3(model, model.surface_first_number[b] + VELOCITY))
    return _along(vec3.sub(c2, c1), n)


@generic
def carried(model: Any, s: int, lane: int) -> Any:
    """Path of a surface's material along it since time 0, in the frame of its body."""
    x, y, z = three_of(model, s, 0, lane), three_of(model, s, 3, lane), three_of(model, s, 6, lane)
    c, t = three_of(model, s, VELOCITY, lane), load_lane(model.time, 0, 0, lane)
    return vec3.scale(t, (vec3.dot(x, c), vec3.dot(y, c), vec3.dot(z, c)))


@generic
def turning(model: Any, pair: Pair) -> Any:
    """The angular velocity of the second body of a pair from the first one, in Ground."""
    _, _, lane = pair
    body1, body2 = model.surface_body[pair[0]], model.surface_body[pair[1]]
    x = load_lane(model.V_GB, body2, 0, lane) - load_lane(model.V_GB, body1, 0, lane)
    y = load_lane(model.V_GB, body2, 1, lane) - load_lane(model.V_GB, body1, 1, lane)
    return x, y, load_lane(model.V_GB, body2, 2, lane) - load_lane(model.V_GB, body1, 2, lane)
