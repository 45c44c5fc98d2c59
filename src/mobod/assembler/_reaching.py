"""Hands brought to poses, from many seeds, in one compiled loop.

With e the errors of places and orientations (rotation vectors), J their Jacobian and g a wish of the coordinates,

    du = J^T (J J^T + mu 1)^-1 e + (1 - J^T (J J^T + mu 1)^-1 J) g        mu = mu_0 |e|^2 / 2 + tiny

Coordinates that a step would take beyond a limit go as far as it and take part no more in that step, which is solved again for
the others. A step that makes the error larger is taken back, and damped more. Sources: Sugihara 2011, Solvability-unconcerned
inverse kinematics (the damping); Baerlocher and Boulic 2004 (limits); Siciliano and others 2009, section 3.5 (null space).
"""

from __future__ import annotations

from typing import Any

from ..algebra import mat33, vec3
from ..algebra.memory import load3, load9, load_spatial
from ..algebra.record import attach, call_routine
from ..algebra.scalar import atan2, load, sqrt, store
from ..algebra.spatial import shift_motion
from ..compiling import compiled, generic
from ..mobilizer import q_rates
from ..state.validity import KINEMATICS, POSITIONS, UNCHECKED
from ..tree.realize import DONE

#: Of `outcomes`: the error, iterations, and whether it was reached.
ERROR, ITERATIONS, REACHED = 0, 1, 2
#: Of `settings`: error to reach; iterations; where a step of the wish alone is small enough.
TOLERANCE, MOST, STILL = 0, 1, 2
#: Of a goal's integers: its body, whether its place and whether its orientation is asked for.
BODY, PLACE, TURN = 0, 1, 2
_TINY, _DAMPED, _MOST_DAMPED = 1e-9, 10.0, 1e8
#: The error to which steps of the wish may bring it back: the next step has its square.
_SLACK = 1e-2
#: How much less of the wish is taken after a step that was too long for it, and more after one that was not.
_LESS, _MORE = 0.3, 2.0


@generic
def _rotation_vector(R: Any) -> Any:
    """The rotation vector of a matrix."""
    x, y, z = 0.5 * (R[7] - R[5]), 0.5 * (R[2] - R[6]), 0.5 * (R[3] - R[1])
    s, c = sqrt(x * x + y * y + z * z), 0.5 * (R[0] + R[4] + R[8] - 1.0)
    angle = atan2(s, c)
    if s > 1e-6:
        return angle * x / s, angle * y / s, angle * z / s
    if c > 0.0:
        return x, y, z
    # half a turn: the axis is the column of R + 1 that is longest
    k = 0
    if R[4] > R[0]:
        k = 1
    if R[8] > R[0] and R[8] > R[4]:
        k = 2
    a, b, d = R[k] + 1.0 * (k == 0), R[3 + k] + 1.0 * (k == 1), R[6 + k] + 1.0 * (k == 2)
    n = angle / sqrt(a * a + b * b + d * d)
    return n * a, n * b, n * d


@generic
def _errors(model: Any, goals: Any, stations: Any, targets: Any, weights: Any, e: Any) -> float:
    """E, weighted; its length. The record is at POSITION."""
    r, total = 0, 0.0
    for k in range(goals.shape[0]):
        b = goals[k, BODY]
        R = load9(model.R_GB, b, 0)
        if goals[k, PLACE] == 1:
            p = mat33.mul_vec(R, (stations[k, 0], stations[k, 1], stations[k, 2]))
            p = vec3.add(load3(model.p_GB, b, 0), p)
            for i in range(3):
                e[r + i] = weights[k, 0] * (targets[k, 9 + i] - p[i])
            r += 3
        if goals[k, TURN] == 1:
            T = targets[k]
            wanted = T[0], T[1], T[2], T[3], T[4], T[5], T[6], T[7], T[8]
            turn = _rotation_vector(mat33.mul(wanted, mat33.transpose(R)))
            for i in range(3):
                e[r + i] = weights[k, 1] * turn[i]
            r += 3
    for i in range(r):
        total += e[i] * e[i]
    return sqrt(total)


@generic
def _jacobian(model: Any, goals: Any, stations: Any, weights: Any, J: Any) -> None:
    """J (m, nu), weighted, angular velocities and velocities in Ground."""
    for i in range(J.shape[0]):
        for j in range(J.shape[1]):
            J[i, j] = 0.0
    r = 0
    for k in range(goals.shape[0]):
        b = goals[k, BODY]
        R = load9(model.R_GB, b, 0)
        p = mat33.mul_vec(R, (stations[k, 0], stations[k, 1], stations[k, 2]))
        turns = r + 3 * goals[k, PLACE]
        while b > 0:
            for j in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
                w, v = load_spatial(model.H, j)
                w, v = shift_motion(w, v, p)
                for i in range(3):
                    if goals[k, PLACE] == 1:
                        J[r + i, j] = weights[k, 0] * v[i]
                    if goals[k, TURN] == 1:
                        J[turns + i, j] = weights[k, 1] * w[i]
            p = vec3.add(p, load3(model.p_PB_G, b, 0))
            b = model.parent[b]
        r = turns + 3 * goals[k, TURN]


@generic
def _factor(A: Any, m: int) -> None:
    """Cholesky's factor in place of the lower half of A, which is positive definite."""
    for i in range(m):
        for j in range(i + 1):
            s = A[i, j]
            for k in range(j):
                s -= A[i, k] * A[j, k]
            A[i, j] = sqrt(s) if i == j else s / A[j, j]


@generic
def solve(A: Any, y: Any, m: int) -> None:
    """Y of L L^T y = y."""
    for i in range(m):
        s = y[i]
        for k in range(i):
            s -= A[i, k] * y[k]
        y[i] = s / A[i, i]
    for i in range(m - 1, -1, -1):
        s = y[i]
        for k in range(i + 1, m):
            s -= A[k, i] * y[k]
        y[i] = s / A[i, i]


@generic
def _step(J: Any, A: Any, e: Any, y: Any, wish: Any, room: Any, free: Any, mu: float, du: Any) -> float:
    """du within *room* (nu, 2), of the mobilities that are *free*, which this changes; the largest change of the wish's."""
    m, n = J.shape
    for j in range(n):
        du[j] = 0.0
    for _ in range(n + 1):
        for i in range(m):
            for k in range(i + 1):
                s = 0.0
                for j in range(n):
                    s += free[j] * J[i, j] * J[k, j]
                A[i, k] = s + (mu if i == k else 0.0)
        _factor(A, m)
        for i in range(m):  # what is missing, less what those at limits and the wish do
            s = e[i]
            for j in range(n):
                s -= J[i, j] * (free[j] * wish[j] + (1.0 - free[j]) * du[j])
            y[i] = s
        solve(A, y, m)
        again = False
        for j in range(n):
            if free[j] == 1.0:
                s = wish[j]
                for i in range(m):
                    s += J[i, j] * y[i]
                du[j] = s
        for j in range(n):
            if free[j] == 1.0 and (du[j] < room[j, 0] or du[j] > room[j, 1]):
                du[j] = min(max(du[j], room[j, 0]), room[j, 1])
                free[j] = 0.0
                again = True
        if not again:
            break
    largest = 0.0
    for j in range(n):
        largest = max(largest, abs(du[j]))
    return largest


@generic
def _prepare(
    model: Any, places: Any, limits: Any, used: Any, rest: Any, gains: Any, wish: Any, room: Any, free: Any, ease: float
) -> None:
    """Room to the limits, the wish, and which mobilities are free."""
    for j in range(model.nu):
        q = load(model.q, places[j], 0) if places[j] >= 0 else 0.0
        free[j], wish[j] = used[j], 0.0
        room[j, 0], room[j, 1] = min(limits[j, 0] - q, 0.0), max(limits[j, 1] - q, 0.0)
        if places[j] >= 0 and used[j] == 1.0:
            wish[j] = ease * gains[j] * (rest[j] - q)


@generic
def _move(model: Any, address: int, before: Any, du: Any, part: float) -> None:
    """q = q before + part N du, where the record is at POSITION at q before."""
    for j in range(model.nu):
        store(model.u, j, 0, part * du[j])
    call_routine(address, model, POSITIONS, KINEMATICS | UNCHECKED)
    for i in range(model.nq):
        store(model.q, i, 0, before[i] + load(model.q_dot, i, 0))
    for b in range(1, model.nb):
        q_rates.normalize(model, b)
    call_routine(address, model, 0, POSITIONS | UNCHECKED)


@generic
def _take_back(model: Any, address: int, before: Any) -> None:
    for i in range(model.nq):
        store(model.q, i, 0, before[i])
    call_routine(address, model, 0, POSITIONS | UNCHECKED)


# fmt: off
@compiled
def reach(
    block: Any, address: int, goals: Any, stations: Any, targets: Any, weights: Any, places: Any, limits: Any, used: Any,
    rest: Any, gains: Any, settings: Any, ways: Any, q: Any, outcomes: Any, J: Any, A: Any, e: Any, y: Any, du: Any, wish: Any,
    room: Any, free: Any, before: Any, begin: int, end: int,
) -> int:
    # fmt: on
    """Rows *begin* to *end* of q (n, nq), each towards its targets (n, k, 12); those of `outcomes` (n, 3) tell how it went.

    *limits* (nu, 2) are of coordinates; *ways* (nu,) how far a step may go. What is left over is work space. Returns the first
    row that could not be realized, or *end*.
    """
    model = attach(block)
    for row in range(begin, end):
        for i in range(model.nq):
            store(model.q, i, 0, q[row, i])
        if call_routine(address, model, 0, POSITIONS) != DONE:
            return row
        size, damping, iterations = _errors(model, goals, stations, targets[row], weights, e), 1.0, 0
        wishes, ease = False, 1.0
        for j in range(model.nu):
            wishes = wishes or gains[j] != 0.0
        while iterations < settings[MOST]:
            if size <= settings[TOLERANCE] and not wishes:
                break
            iterations += 1
            for i in range(model.nq):
                before[i] = load(model.q, i, 0)
            _prepare(model, places, limits, used, rest, gains, wish, room, free, ease)
            _jacobian(model, goals, stations, weights, J)
            mu = damping * 0.5 * size * size + _TINY
            far = _step(J, A, e, y, wish, room, free, mu, du)
            part = 1.0
            for j in range(model.nu):
                part = min(part, ways[j] / max(abs(du[j]), ways[j]))
            _move(model, address, before, du, part)
            now = _errors(model, goals, stations, targets[row], weights, e)
            if now < max(size, _SLACK if wishes else 0.0):
                still = part * far <= settings[STILL]
                stuck = still and size - now <= 1e-12 * size
                size, damping, ease = now, max(damping / _DAMPED, 1e-3), min(ease * _MORE, 1.0)
                if wishes and (still or 2.0 * iterations > settings[MOST]):
                    wishes, ease = False, 0.0  # what is left of the error is brought down by itself
                elif stuck:
                    break  # as near as it comes
            else:
                _take_back(model, address, before)
                size = _errors(model, goals, stations, targets[row], weights, e)
                damping, ease = damping * _DAMPED, ease * _LESS
                if damping > _MOST_DAMPED:
                    break
        for i in range(model.nq):
            q[row, i] = load(model.q, i, 0)
        outcomes[row, ERROR], outcomes[row, ITERATIONS] = size, 1.0 * iterations
        outcomes[row, REACHED] = 1.0 if size <= settings[TOLERANCE] else 0.0
    return end
