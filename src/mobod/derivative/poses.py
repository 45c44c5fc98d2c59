"""Derivatives of what acts along the pose of a frame in another, in closed form, of all lanes at once: spans of `lines`.

S and R are on bodies that move relative to the last one that moves both, C; with P, p = P_S - P_R, g_r and g_t, all in Ground,
as of `force.transmission.relative_pose`, the tension T exerts

    on S  f = -T g_r at P_S, m = -T g_t        on R  -f at P_R, -m        on C  -p x f

Along a column that carries S, R, or the body that g_t is fixed in (k = 1, 0), which turns by t and shifts by s, with velocities
v of points, w = w_S - w_R, x = w_C x g_r, and h the gradient of the rotation vector's weighted sum by the turn of S from R, l
and l' change by what is of S, times k_S, less what is of R, times k_R:

    of l          of each    g_r . s + (P x g_r + h) . t, where P of R is where P_S is, about R's base
    of l' by u    of each    g_r . s + (P x g_r + g_t) . t
    of l'         of each    the same of speeds that change, and x . s + (v x g_r + P x x + w x g_t) . t, w of the body
                  of S also  (g_t x w) . t if g_t is fixed in S
                  of R also  -(g_r x (v_S - v_R - w_C x p)) . t, and -(g_t x w) . t if g_t is fixed in R

and beyond being carried with their own bodies f changes by (k_R - k_S) t x f on S, m by (k_t - k_S) t x m on S and by
(k_R - k_t) t x m on R, and the couple on C by -(y_S - y_R) x f - k_R p x (t x f), where y are what points move by.
"""

from typing import Any

from ..algebra import mat33, vec3
from ..algebra.memory import load3, load_spatial, store3
from ..algebra.scalar import atan2, one, sqrt, store, where
from ..compiling import generic
from ..force.pools import numbers3
from ..force.transmission.relative_pose import ROTATION, TRANSLATION, frame, rotation_vector
from ..force.transmission.wrapped_path import rate as velocity_of
from ..state.fields import Record

#: What tells a pose among spans: where g_t is fixed.
IN_R, IN_S = -1, -2
#: Numbers: l and l'; P_S and P_R from their bases' origins; p; g_r, g_t and x; of S and of R what l, l' by u, and l' change by
#: as they turn.
LENGTH, RATE, _PS, _PR, _P, _GR, _GT, _X, _OF_S, _OF_R, NUMBERS = 0, 1, 2, 5, 8, 11, 14, 17, 20, 29, 38


@generic
def _gradient(R: Any, g: Any) -> Any:
    """h: g times the derivative of the rotation vector of R as that turns further, in R's frame."""
    s = (0.5 * (R[7] - R[5]), 0.5 * (R[2] - R[6]), 0.5 * (R[3] - R[1]))
    ss, c = vec3.dot(s, s), 0.5 * (R[0] + R[4] + R[8] - 1.0)
    turned = ss > 1e-30
    size = sqrt(where(turned, ss, one(ss)))
    per = where(turned, atan2(size, c) / size, one(ss))
    bent = where(turned, (1.0 - per * c) / where(turned, ss, one(ss)), 0.0 * ss)
    h = vec3.scale(0.5 * per, vec3.sub(vec3.scale(1.0 + 2.0 * c, g), mat33.transpose_mul_vec(R, g)))
    return vec3.add_scaled(h, bent * vec3.dot(g, s), s)


@generic
def measure(model: Record, which: int, bodies: Any, base: Any, x: int, L: Any, at: int) -> None:
    """Numbers of the pose of three *bodies* whose frames begin at x; *base* is where bodies are from their bases' origins."""
    S, R, C = bodies
    R_GS, s, p_S = frame(model, S, x)
    R_GR, r, p_R = frame(model, R, x + 12)
    p, weights, turning = vec3.sub(p_S, p_R), numbers3(model, x + TRANSLATION), numbers3(model, x + ROTATION)
    R_RS, g_r, g_t = mat33.mul(mat33.transpose(R_GR), R_GS), mat33.mul_vec(R_GR, weights), mat33.mul_vec(R_GR, turning)
    if which == IN_S:
        g_t = mat33.mul_vec(R_GS, turning)
    v_S, v_R = velocity_of(model, S, s), velocity_of(model, R, r)
    w_S, w_R, w_C = load3(model.V_GB, S, 0), load3(model.V_GB, R, 0), load_spatial(model.V_GB, C)[0]
    v, w, x = vec3.sub(vec3.sub(v_S, v_R), vec3.cross(w_C, p)), vec3.sub(w_S, w_R), vec3.cross(w_C, g_r)
    store(L, 0, at + LENGTH, vec3.dot(weights, mat33.transpose_mul_vec(R_GR, p)) + vec3.dot(turning, rotation_vector(R_RS)))
    store(L, 0, at + RATE, vec3.dot(g_r, v) + vec3.dot(g_t, w))
    P_S, P_R = vec3.add(s, load3(base, S, 0)), vec3.add(r, load3(base, R, 0))
    store3(L, 0, at + _PS, P_S)
    store3(L, 0, at + _PR, P_R)
    store3(L, 0, at + _P, p)
    store3(L, 0, at + _GR, g_r)
    store3(L, 0, at + _GT, g_t)
    store3(L, 0, at + _X, x)
    h = mat33.mul_vec(R_GR, _gradient(R_RS, turning))
    of_S = vec3.add(vec3.cross(v_S, g_r), vec3.add(vec3.cross(P_S, x), vec3.cross(w_S, g_t)))
    of_R = vec3.add(vec3.cross(v_R, g_r), vec3.add(vec3.cross(P_R, x), vec3.cross(w_R, g_t)))
    of_R = vec3.sub(of_R, vec3.cross(g_r, v))  # which turns with R, as g_t does with R or with S
    if which == IN_S:
        of_S = vec3.add(of_S, vec3.cross(g_t, w))
    else:
        of_R = vec3.sub(of_R, vec3.cross(g_t, w))
    store3(L, 0, at + _OF_S, vec3.add(vec3.cross(P_S, g_r), h))
    store3(L, 0, at + _OF_S + 3, vec3.add(vec3.cross(P_S, g_r), g_t))
    store3(L, 0, at + _OF_S + 6, of_S)
    store3(L, 0, at + _OF_R, vec3.add(vec3.cross(vec3.add(P_R, p), g_r), h))
    store3(L, 0, at + _OF_R + 3, vec3.add(vec3.cross(P_R, g_r), g_t))
    store3(L, 0, at + _OF_R + 6, of_R)


@generic
def unit(L: Any, at: int) -> Any:
    """The wrenches of a unit tension on S and on R, about their bases' origins, and the couple on C."""
    f, m = vec3.neg(load3(L, 0, at + _GR)), vec3.neg(load3(L, 0, at + _GT))
    on_S = vec3.add(vec3.cross(load3(L, 0, at + _PS), f), m)
    on_R = vec3.neg(vec3.add(vec3.cross(load3(L, 0, at + _PR), f), m))
    return (on_S, f), (on_R, vec3.neg(f)), vec3.neg(vec3.cross(load3(L, 0, at + _P), f))


@generic
def change(L: Any, at: int, which: int, tension: Any, ks: Any, S: Any, j: int) -> Any:
    """Changes along column j of l, of it by u, and of l'; at unchanged tension of the wrench on S, of the others' couples."""
    k_S, k_R = ks
    k_t = k_S if which == IN_S else k_R
    t, s, faster, quicker = load3(S, j, 0), load3(S, j, 3), load3(S, j, 6), load3(S, j, 9)
    P_S, P_R, g_r = load3(L, 0, at + _PS), load3(L, 0, at + _PR), load3(L, 0, at + _GR)
    apart, by_speed = k_S - k_R, _less(L, at, 3, ks)
    along = apart * vec3.dot(g_r, s)
    rate = vec3.dot(_less(L, at, 6, ks), t) + vec3.dot(by_speed, faster)
    rate = rate + apart * (vec3.dot(load3(L, 0, at + _X), s) + vec3.dot(g_r, quicker))
    moved = along + vec3.dot(_less(L, at, 0, ks), t), along + vec3.dot(by_speed, t), rate
    y = vec3.add(vec3.scale(apart, s), vec3.cross(t, vec3.sub(vec3.scale(k_S, P_S), vec3.scale(k_R, P_R))))
    df, dm = vec3.scale(-tension, vec3.cross(t, g_r)), vec3.scale(-tension, vec3.cross(t, load3(L, 0, at + _GT)))
    push = vec3.scale(-apart, df)
    on_S = vec3.add(vec3.cross(P_S, push), vec3.scale(k_t - k_S, dm))
    couple = vec3.sub(vec3.scale(tension, vec3.cross(y, g_r)), vec3.cross(load3(L, 0, at + _P), vec3.scale(k_R, df)))
    return moved, (on_S, push), vec3.scale(k_R - k_t, dm), couple


@generic
def _less(L: Any, at: int, k: int, ks: Any) -> Any:
    """Numbers of S less those of R, of those that are carried."""
    return vec3.sub(vec3.scale(ks[0], load3(L, 0, at + _OF_S + k)), vec3.scale(ks[1], load3(L, 0, at + _OF_R + k)))
