"""Tyres: where a wheel touches the road, how it slips there, and how its contact patch follows.

The road is a plane, or a height h(x, y), in its own frame, whose z is up; it stands. Of the wheel's center C and spin axis a
(a unit vector, to the left), with the road's tangent plane below C, of normal n:

    x = a x n / |a x n|   y = n x x   d = a x x (down, in the wheel's plane)   sin(gamma) = a . n
    S, where the line from C along d meets that plane, at the loaded radius r     rho = R_0 - r
    F_z = k rho + c rho', not below zero

On a height field the tangent plane is taken twice: below C, then at S. With the velocity of the wheel's center, the velocity v
of its body at S and the spin Omega = w . a,

    V_x = v_C . x    V_sx = V_x - Omega R_e    V_sy = v . y

In ISO's axes (x ahead, y to the left, z up) a tyre of tan(alpha) = V_sy / |V_x| > 0 is pushed to the right. Deflections
of the patch, e along x and s along y, are two variables of the tyre with the relaxation lengths L_x and L_y,

    kappa = (e - t V_sx) / L_x    tan(alpha) = (s + t V_sy) / L_y    t = t_0 / (1 + (V_x / V_0)^2)
    e' = -V_sx - kappa max(|V_x|, |V_sx| / 2)     s' = V_sy - tan(alpha) max(|V_x|, |V_sy| / 2)

which is the rigid wheel's slip -V_sx / |V_x| and V_sy / |V_x| in steady motion, and a spring with some damping where the
wheel stands. The second argument of max, which is less than the first up to slips of 2, ends their growth where it slides
without rolling. Forces oppose slips whichever way it rolls; where it rolls backwards its patch trails the other way, with
sgn(V_x), which goes over within V_1, and is 1 at rest.

The force F_x x + F_y y + F_z n and the moment about these axes act on the wheel at S. Source: Pacejka 2012, Tire and Vehicle
Dynamics, 3rd edition, chapters 1, 4.3 and 7.2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra import mat33, vec3
from ..algebra.dual import Dual
from ..algebra.memory import add_spatial, load3, load9, load_spatial
from ..algebra.order import size_of
from ..algebra.scalar import load, one, sqrt, store, where, zero
from ..compiling import Routine, generic
from ..contact.height_field import HeightField
from ..function.base import Function
from ..function.routines import gradient, value
from ..mobilizer.base import MobilizedBody
from ..state import parameters
from ..state.state import State
from ..value import Transform, checks
from .base import Force, body_index
from .layout import Entry
from .pools import number, numbers3, numbers9
from .routines import BY_Z, NUMBERS_ON_BODY, leave_place, leave_row, on_body
from .subsystem import GeneralForceSubsystem

#: Numbers of every tyre: center and axis on the wheel, the road's frame, what friction is multiplied by; R_0, k, c; and its
#: own from OWN on.
CENTER, AXIS, ROAD, GRIP, RADIUS, STIFFNESS, DAMPING, OWN = 0, 3, 6, 18, 19, 20, 21, 22
#: The road's frame unless another is given.
IN_GROUND = Transform()
#: t_0, V_0 and V_1, in seconds and m/s.
_DELAY, _SLOW, _TURNING = 0.01, 1.0, 0.05
#: Weight of the error of a deflection, times the radius.
_OF_DEFLECTIONS = 30.0
#: Slips beyond which they no longer grow.
_MOST_SLIP = 2.0


@generic
def _height(model: Any, f: int, x: Any, y: Any) -> Any:
    """h and its two slopes; zero where there is no function."""
    o = 0.0 * x
    result = o, o, o
    if f >= 0:
        store(model.arguments, 0, 0, x)
        store(model.arguments, 1, 0, y)
        h = value(model, f, model.arguments, 0)
        result = h, gradient(model, f, 0), gradient(model, f, 1)
    return result


@generic
def _plane(model: Any, f: int, p: Any) -> Any:
    """The unit normal of the road at the place of p, in its frame, and a point of the tangent plane there."""
    h, hx, hy = _height(model, f, p[0], p[1])
    length = sqrt(1.0 + hx * hx + hy * hy)
    return (-hx / length, -hy / length, 1.0 / length), (p[0], p[1], h)


@generic
def _axes(a: Any, n: Any) -> Any:
    """x, y and d of the wheel; of an axis that is upright, which has no x, some."""
    x = vec3.cross(a, n)
    square = vec3.dot(x, x)
    upright = square < 1e-12
    o = 0.0 * square
    scale = 1.0 / sqrt(where(upright, 1.0 + o, square))
    x = (where(upright, 1.0 + o, scale * x[0]), where(upright, o, scale * x[1]), where(upright, o, scale * x[2]))
    return x, vec3.cross(n, x), vec3.cross(a, x)


@generic
def touch(model: Any, i: int, x: int) -> Any:
    """n, x, y and S in Ground, the deflection, and the sine of the camber, of the tyre with integers from i on."""
    b, f = model.force_integers[i], model.force_integers[i + 1]
    R_GB, R_GR = load9(model.R_GB, b, 0), numbers9(model, x + ROAD)
    C = vec3.add(load3(model.p_GB, b, 0), mat33.mul_vec(R_GB, numbers3(model, x + CENTER)))
    c = mat33.transpose_mul_vec(R_GR, vec3.sub(C, numbers3(model, x + ROAD + 9)))
    a = mat33.transpose_mul_vec(R_GR, mat33.mul_vec(R_GB, numbers3(model, x + AXIS)))
    R0 = number(model, x + RADIUS)
    n, p = _plane(model, f, c)
    ahead, left, down = _axes(a, n)
    r = _reach(c, p, n, down, R0)
    if f >= 0:
        n, p = _plane(model, f, vec3.add_scaled(c, r, down))
        ahead, left, down = _axes(a, n)
        r = _reach(c, p, n, down, R0)
    S = vec3.add_scaled(C, r, mat33.mul_vec(R_GR, down))
    return mat33.mul_vec(R_GR, n), mat33.mul_vec(R_GR, ahead), mat33.mul_vec(R_GR, left), S, C, R0 - r, vec3.dot(a, n)


@generic
def _reach(c: Any, p: Any, n: Any, down: Any, R0: Any) -> Any:
    """The way from c along *down* to the plane at p: R_0, at most, where it lies on its side."""
    steep = -vec3.dot(down, n)
    side = steep < 0.05
    return where(side, R0, vec3.dot(vec3.sub(c, p), n) / where(side, 1.0 + 0.0 * steep, steep))


@generic
def motion(model: Any, i: int, x: int, at: Any) -> Any:
    """V_x, the velocity of S along y and n, and Omega."""
    n, ahead, left, S, C, _, _ = at
    b = model.force_integers[i]
    w, v = load_spatial(model.V_GB, b)
    origin = load3(model.p_GB, b, 0)
    v_C = vec3.add(v, vec3.cross(w, vec3.sub(C, origin)))
    v_S = vec3.add(v, vec3.cross(w, vec3.sub(S, origin)))
    axis = mat33.mul_vec(load9(model.R_GB, b, 0), numbers3(model, x + AXIS))
    return vec3.dot(v_C, ahead), vec3.dot(v_S, left), vec3.dot(v_S, n), vec3.dot(w, axis)


@generic
def pressed(model: Any, x: int, rho: Any, rate: Any, f: Any) -> Any:
    """F_z, of the spring's force f and the rate of the deflection: none where nothing touches, and none that pulls."""
    f = f + number(model, x + DAMPING) * rate
    return where(rho <= 0.0, 0.0 * f, where(f < 0.0, 0.0 * f, f))


@generic
def load_of(model: Any, x: int, rho: Any, rate: Any, spin: Any) -> Any:
    """F_z, by the deflection and its rate."""
    return pressed(model, x, rho, rate, number(model, x + STIFFNESS) * rho)


@generic
def _greater(x: Any, y: Any) -> Any:
    return where(x < y, y, x)


@generic
def slips(bent: Any, Vx: Any, Vsx: Any, Vsy: Any, Lx: Any, Ly: Any) -> Any:
    """kappa, tan(alpha) and the rates of both deflections."""
    e, s = bent
    speed = size_of(Vx)
    delay = _DELAY / (1.0 + Vx * Vx / (_SLOW * _SLOW))
    kappa, tangent = (e - delay * Vsx) / Lx, (s + delay * Vsy) / Ly
    e_rate = -Vsx - kappa * _greater(
        speed, size_of(Vsx) / _MOST_SLIP
    )  # by the slip itself: in steady motion that is the wheel's
    s_rate = Vsy - tangent * _greater(speed, size_of(Vsy) / _MOST_SLIP)
    return kappa, tangent, e_rate, s_rate


@generic
def direction(Vx: Any) -> Any:
    """The sign of V_x, which goes over below rest."""
    back = Vx / _TURNING
    return where(back > 0.0, 1.0 + 0.0 * back, where(back < -2.0, -1.0 + 0.0 * back, 1.0 + back))


@generic
def apply(model: Any, i: int, at: Any, force: Any, moment: Any) -> None:
    """F and M by n, x and y, at S."""
    n, ahead, left, S = at[0], at[1], at[2], at[3]
    b = model.force_integers[i]
    F = vec3.add_scaled(vec3.add_scaled(vec3.scale(force[2], n), force[0], ahead), force[1], left)
    M = vec3.add_scaled(vec3.add_scaled(vec3.scale(moment[2], n), moment[0], ahead), moment[1], left)
    add_spatial(model.body_forces, b, vec3.add(M, vec3.cross(vec3.sub(S, load3(model.p_GB, b, 0)), F)), F)


def adding(law: Callable[..., Any], load_of: Callable[..., Any] = load_of) -> Callable[..., None]:
    """Make a function that adds a tyre's forces.

    ``law(model, x, bent, rho, camber, Vx, Vsy, Omega, Fz) -> (force, moment, z rates)`` is of the two deflections, and
    ``load_of(model, x, rho, rate, Omega)`` is F_z.
    """

    @generic
    def add(model: Any, i: int, x: int, z: int) -> None:
        at = touch(model, i, x)
        Vx, Vsy, rising, spin = motion(model, i, x, at)
        Fz = load_of(model, x, at[5], -rising, spin)
        bent = load(model.z, z, 0), load(model.z, z + 1, 0)
        force, moment, e_rate, s_rate = law(model, x, bent, at[5], at[6], Vx, Vsy, spin, Fz)
        apply(model, i, at, force, moment)
        store(model.z_dot, z, 0, e_rate)
        store(model.z_dot, z + 1, 0, s_rate)

    return add


#: Tangents of what a law reads; behind them the deflections'.
_RHO, _RATE, _VX, _VSY, _SPIN, _CAMBER, _BENT = range(7)


@generic
def _moving(rho: Any, rate: Any, Vx: Any, Vsy: Any, spin: Any, camber: Any, e: Any, s: Any) -> Any:
    """The same eight numbers as Duals, each with a tangent of its own."""
    o, i = zero(rho), one(rho)
    return (
        Dual(rho, (i, o, o, o, o, o, o, o)),
        Dual(rate, (o, i, o, o, o, o, o, o)),
        Dual(Vx, (o, o, i, o, o, o, o, o)),
        Dual(Vsy, (o, o, o, i, o, o, o, o)),
        Dual(spin, (o, o, o, o, i, o, o, o)),
        Dual(camber, (o, o, o, o, o, i, o, o)),
        Dual(e, (o, o, o, o, o, o, i, o)),
        Dual(s, (o, o, o, o, o, o, o, i)),
    )


@generic
def _leave(rows: Any, k: int, g: Any, f: Any, place: Any) -> None:
    """Number k of a wrench, *f* of whose changes are not the law's: by turns, and by rising."""
    value, (cos, sin, r, dr), (across, along), (w, b, v) = place
    by_rim = r * g[_VX] + g[_SPIN]
    by_turn = (
        f[0] + g[_CAMBER] * cos - g[_RATE] * b[1] - g[_VSY] * b[2],
        f[1]
        + g[_RATE] * (b[0] + across[0] * w[1])
        + g[_VX] * (v[2] - v[1] * across[1])
        + g[_VSY] * (b[0] * across[1] + across[0] * w[2]),
        f[2] + g[_RATE] * along[0] * w[1] - g[_VX] * v[1] * along[1] + g[_VSY] * (b[0] * along[1] + along[0] * w[2]),
    )
    o = zero(r)
    by_rising = f[3] + dr * (w[0] * (cos * g[_VSY] - sin * g[_RATE]) - g[_RHO])
    leave_row(rows, k, value, (*by_turn, o, o, by_rising), (o, cos * by_rim, sin * by_rim, g[_VX], g[_VSY], -g[_RATE]))
    store(rows, BY_Z + k, 0, g[_BENT])
    store(rows, BY_Z + 6 + k, 0, g[_BENT + 1])


@generic
def _turned_back(f: Any, across: Any, along: Any) -> Any:
    """Of three numbers along x, y, n what they change by as these turn back: by turns about x, about y, about n."""
    a, b, c = f
    o = zero(a)
    x, y, n = (o, c, -b), (across * b - c, -across * a, a), (along * b, -along * a, o)
    return (x[0], y[0], n[0]), (x[1], y[1], n[1]), (x[2], y[2], n[2])


def leaving(law: Callable[..., Any], load_of: Callable[..., Any] = load_of) -> Routine:
    """The routine for derivatives of a tyre on a plane: by Duals of what its law reads, of geometry in closed form.

    Along x, y, n, with sin(gamma) = s and c = cos(gamma), the turn t of the wheel and the shift h of S are

        s' = c t_x    rho' = -h_n / c    the axes turn by t_n - t_y s / c about n: less than t by e = (t_x, t_y, t_y s / c)
        S moves beyond h by p = r (c t_y + s e_n) x + (h_n / c) d    V_x' = e_y v_Cn - e_n v_Cy
        v_S' . y = e_n v_Sx - e_x v_Sn + (w x p)_y    v_S' . n = e_x v_Sy - e_y v_Sx + (w x p)_n

    and forces change by F x e beyond turning with the wheel, moments by M x e + p x F. C moves by v_C = v_S - r w x d.
    """

    @generic
    def leave(model: Any, i: int, x: int, z: int, rows: Any) -> None:
        at = touch(model, i, x)
        n, ahead, left, S, _, rho, sin = at
        b = model.force_integers[i]
        R = load9(model.R_GB, b, 0)
        cos = vec3.dot(mat33.mul_vec(R, numbers3(model, x + AXIS)), left)
        o, i_, r = zero(rho), one(rho), number(model, x + RADIUS) - rho
        upright, side = cos < 1e-6, cos < 0.05
        per = 1.0 / where(upright, i_, cos)
        turn, turn_n = where(upright, o, sin * per), where(upright, i_, o)  # of t_y and t_n less phi
        across, along = (r * (cos + sin * turn), turn), (r * sin * turn_n, turn_n)
        dr = where(side, o, per)
        Vx, Vsy, rising, spin = motion(model, i, x, at)
        turning, _ = load_spatial(model.V_GB, b)
        w = vec3.dot(turning, ahead), vec3.dot(turning, left), vec3.dot(turning, n)
        v_S = Vx - r * (cos * w[1] + sin * w[2]), Vsy, rising
        v_C = Vx, Vsy - r * cos * w[0], rising - r * sin * w[0]
        rho_, rate, Vx_, Vsy_, spin_, camber, e, s = _moving(
            rho, -rising, Vx, Vsy, spin, sin, load(model.z, z, 0), load(model.z, z + 1, 0)
        )
        force, moment, _, _ = law(model, x, (e, s), rho_, camber, Vx_, Vsy_, spin_, load_of(model, x, rho_, rate, spin_))
        f, m = (force[0].value, force[1].value, force[2].value), (moment[0].value, moment[1].value, moment[2].value)
        of_f, of_m = _turned_back(f, turn, turn_n), _turned_back(m, turn, turn_n)
        place = (cos, sin, r, dr), (across, along), (w, v_S, v_C)
        levers = (
            (o, o, o, dr * (sin * f[2] + cos * f[1])),
            (o, -across[0] * f[2], -along[0] * f[2], -dr * cos * f[0]),
            (o, across[0] * f[1], along[0] * f[1], -dr * sin * f[0]),
        )
        for k in range(3):
            p, q, lever = of_m[k], of_f[k], levers[k]
            own = p[0] + lever[0], p[1] + lever[1], p[2] + lever[2], lever[3]
            _leave(rows, k, moment[k].tangents, own, (m[k], *place))
            _leave(rows, 3 + k, force[k].tangents, (*q, o), (f[k], *place))
        axes = ahead[0], left[0], n[0], ahead[1], left[1], n[1], ahead[2], left[2], n[2]
        leave_place(rows, axes, vec3.sub(S, load3(model.p_GB, b, 0)))

    leave.__module__, leave.__qualname__ = law.__module__, f"{law.__qualname__}.leave"
    return on_body(leave)


class Tyre(Force):
    """Base of every kind of tyre."""

    INNER = frozenset({"num_z"})
    num_z = 2

    def _weights_of_z(self) -> list[float]:
        # its patch slides from a few hundredths of the radius on: errors that count are those of a percent of that
        return [_OF_DEFLECTIONS / self.default_numbers[RADIUS]] * 2

    reads_z = True
    reads_time = False

    get_default_center, set_default_center, get_center, set_center = parameters.vector(
        "center", "length", "the wheel's center, in the frame of its body"
    ).accessors()
    get_default_axis, set_default_axis, get_axis, set_axis = parameters.direction(
        "axis", "the spin axis, to the left, in the frame of the wheel's body"
    ).accessors()
    get_default_road_frame, set_default_road_frame, get_road_frame, set_road_frame = parameters.frame(
        "road_frame", "the road's frame in Ground, z up"
    ).accessors()
    get_default_grip, set_default_grip, get_grip, set_grip = parameters.scalar(
        "grip", "", checks.not_negative, "what the tyre's friction is multiplied by: below 1 on a wet road"
    ).accessors()
    get_default_radius, set_default_radius, get_radius, set_radius = parameters.scalar(
        "radius", "length", checks.positive, "the radius without load"
    ).accessors()
    get_default_stiffness, set_default_stiffness, get_stiffness, set_stiffness = parameters.scalar(
        "stiffness", "force/length", checks.positive, "the vertical stiffness, at the nominal load where it varies"
    ).accessors()
    get_default_damping, set_default_damping, get_damping, set_damping = parameters.scalar(
        "damping", "force*time/length", checks.not_negative, "the vertical damping"
    ).accessors()

    def _begin(
        self,
        forces: GeneralForceSubsystem,
        wheel: MobilizedBody,
        road: HeightField | Function | None,
        disabled_by_default: bool,
        name: str | None,
    ) -> None:
        """Join, with the wheel and the road among its integers."""
        what = f"a {type(self).__name__}"
        which = body_index(forces, f"the wheel of {what}", wheel)
        if isinstance(road, HeightField):
            road = road.as_table()
        if road is not None and (not isinstance(road, Function) or road.get_argument_size() != 2):
            raise TypeError(f"the road of {what} is a contact.HeightField or a function of x and y, not {road!r}")
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self._wheel, self._road = wheel, road
        if road is not None:
            self.wrench_routine = None  # the road's slopes turn as the wheel moves
            self.used_functions = [(road, [0, 1])]
        self.default_integers = [which, -1]

    def reach(self) -> tuple[list[int], list[int]]:
        return [self.default_integers[0]], []

    def entry(self) -> Entry:
        return super().entry()._replace(work=NUMBERS_ON_BODY)

    def pack_integers(self) -> list[int]:
        return [self.default_integers[0], -1 if self._road is None else self.first_function]

    @property
    def wheel(self) -> MobilizedBody:
        """Its body."""
        return self._wheel

    def get_deflections(self, state: State) -> npt.NDArray[np.float64]:
        """Deflections of its contact patch ``(2,)``: ahead, and to the left. Needs MODEL."""
        state.check_owner(self.get_force_subsystem().get_system(), "get_deflections")
        return np.array(state.z_values[self.first_z : self.first_z + 2])

    def calc_forces(self, state: State) -> npt.NDArray[np.float64]:
        """Calculate the force and the moment on the wheel at its point of contact. Needs VELOCITY.

        Returns
        -------
        (2, 3) array
            F_x, F_y, F_z, then M_x, M_y, M_z: ahead and to the left along the road, and normal to it.
        """
        axes, point = self._axes_and_point(state)
        body_forces = self.calc_force_contribution(state)[0][self.default_integers[0]]
        origin = self._wheel.get_body_origin_location(state)
        moment = body_forces[0] - np.cross(point - origin, body_forces[1])
        return np.array([axes @ body_forces[1], axes @ moment])

    def calc_contact_point(self, state: State) -> npt.NDArray[np.float64]:
        """Calculate S, the point of contact or that nearest to the road, in Ground ``(3,)``. Needs POSITION."""
        return self._axes_and_point(state)[1]

    def _axes_and_point(self, state: State) -> tuple[Any, Any]:
        body = self._wheel
        X_GR: Transform = self.get_road_frame(state)
        R, origin = np.asarray(X_GR.R), np.asarray(X_GR.p)
        c = R.T @ (body.find_station_location_in_ground(state, self.get_center(state)) - origin)
        a = R.T @ body.express_vector_in_ground_frame(state, self.get_axis(state))
        at, r = c, self.get_radius(state)
        for _ in range(2):
            n, h = np.array([0.0, 0.0, 1.0]), 0.0
            if self._road is not None:
                place = at[:2]
                h = float(self._road.calc_value(place))
                slopes = [float(self._road.calc_derivative([k], place)) for k in (0, 1)]
                n = np.array([-slopes[0], -slopes[1], 1.0]) / np.sqrt(1.0 + slopes[0] ** 2 + slopes[1] ** 2)
            x = np.cross(a, n)
            x /= np.linalg.norm(x)
            down = np.cross(a, x)
            r = float((c - np.array([at[0], at[1], h])) @ n / -(down @ n))
            at = c + r * down
        return np.array([R @ x, R @ np.cross(n, x), R @ n]), origin + R @ at
