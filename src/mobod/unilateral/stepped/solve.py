"""The impulses of all points that touch: Coulomb's law at the level of velocities, by Newton's method on the speeds.

For the speeds u, those without contact u*, J of all points, v = J u and each point's cone K of |gamma_t| <= mu gamma_n,

    M (u - u*) = J^T gamma     K* contains v + (C gamma_n + mu |v_t| - t) e_n, orthogonal to gamma in K

as in `unilateral._solve`, with C and t of `points`, and M with what `joints` add to its diagonal. For given a = mu |v_t| this
is the optimum of a convex function. The proximal method takes steps to it, each from the impulses gamma_k before: u is the
least of

    (u - u*)^T M (u - u*) / 2 + sum of gamma^T Q gamma / 2     gamma = P(Q^-1 (r gamma_k - (v + (a - t) e_n)))

with Q = diag(r + C, r, r), P the nearest point of K by Q, and r a small part of W. Newton's method with a line search finds it:
its matrix M + J^T (dP/dy Q^-1) J is positive, and as sparse as the trees and what touches between them (`block_factor`).
Where gamma stays as it was, so does r's part: nothing is regularized in the end, and what sticks does not creep. a follows
from one step to the next, farther by what it does to its own point's slip.

That takes many steps, so before it, and again after every few, Newton's method is tried on Coulomb's law itself, a with it:
few steps find the solution of nearly all problems. Its equations are those of sticking, sliding and parting, whichever a point
is nearer to, and its matrix is not symmetric where points slide. The law is not convex, so the method may go astray; then the
convex problem goes on from the impulses that there were. Problems begin with the impulses of the last step, so that what
rests takes no step at all. Impulses and speeds that are returned fulfil momentum to rounding.

Rows that resist rolling or spinning have a disk of a given radius, LIMIT, in place of the cone, and no normal.

Sources: Hueber, Stadler and Wohlmuth 2008, A primal-dual active set algorithm for three-dimensional contact problems with
Coulomb friction (Newton's method on the law, and its slopes where impulses are outside of the cone); Castro, Permenter and
Han 2022, An unconstrained convex formulation of compliant contact (the function, Newton's method); Rockafellar 1976 (the
proximal method); Acary and Cadoux 2013 (a from one problem to the next).
"""

from __future__ import annotations

from typing import Any

from ...compiling import generic
from . import block_factor as sparse
from . import space as names
from .rows import add_impulse, clear_masses, find_masses, find_rows, mass_times, velocity_of

#: r as a part of W: at first that of the residual in the largest velocity, between the first two, and from then on a tenth,
#: down to the last, whenever a proximal step has left more than a part of the residual. Far from the solution a small r takes
#: Newton's method many short steps along the cones; near to it, or where a light body bears a heavy one, a large one takes
#: many proximal steps.
SOFTEST, HARD, HARDEST, SLOW = 0.1, 1e-3, 1e-6, 0.3
#: Between which the slope of mu |v_t| by a is believed.
LEAST_SLOPE, MOST_SLOPE = -4.0, 0.8
#: The residual that is enough, and that with which a solution is taken, as parts of the largest velocity.
ENOUGH, WORST = 1e-6, 1e-3
#: What is enough where rigid things rest: where nothing had more than the second part of the largest velocity, which forces
#: give it within the step. What rests keeps the impulses of the last step until these leave more than is enough, and in a stack
#: of rigid bodies that is acceleration, added up over all that is below.
ENOUGH_AT_REST, RESTING = 1e-7, 0.1
#: Most proximal steps, and Newton's steps of each.
MOST, MOST_NEWTON = 80, 40
#: Proximal steps after which a begins again with none.
PATIENCE = 20
#: Of Newton's method on Coulomb's law: most steps; the part of W by which velocities become impulses that tell what sticks;
#: and proximal steps before it is tried again.
MOST_COULOMB, CLASSIFYING, AGAIN = 25, 0.03, 4
#: What a point does: the numbers that `_linearize` returns.
_PARTS, _STICKS, _SLIDES = range(3)
#: Of a proximal step, Newton's method ends where the gradient is this part of the momentum, or that of the residual there was.
_CLOSE, _PART = 1e-9, 0.03


@generic
def nearest(mu: float, n: float, a: float, b: float) -> Any:
    """The nearest point of the cone; 0 where that is its tip, 1 inside, 2 on its surface."""
    size = (a * a + b * b) ** 0.5
    if mu * size <= -n or (size == 0.0 and n <= 0.0):
        return 0.0, 0.0, 0.0, 0
    if size <= mu * n:
        return n, a, b, 1
    c = (n + mu * size) / (1.0 + mu * mu)
    if c <= 0.0:
        return 0.0, 0.0, 0.0, 0
    part = mu * c / size
    return c, part * a, part * b, 2


@generic
def _respond_in_disk(points: Any, i: int, a: float, b: float, slopes: bool) -> Any:
    """As `_respond`, of what resists rolling or spinning."""
    r, limit, c, s = points[i, names.R], points[i, names.LIMIT], names.CENTER, names.SLOPE
    y, z = points[i, c + 1] - a / r, points[i, c + 2] - b / r
    size = (y * y + z * z) ** 0.5
    part = 1.0
    if size > limit:
        part = limit / size
    if slopes:
        points[i, s] = points[i, s + 1] = points[i, s + 2] = 0.0
        ta, tb = 0.0, 0.0
        if part < 1.0:
            ta, tb = y / size, z / size
        points[i, s + 3] = part * (1.0 - ta * ta) / r
        points[i, s + 4] = -part * ta * tb / r
        points[i, s + 5] = part * (1.0 - tb * tb) / r
    return 0.0, part * y, part * z


@generic
def _respond(points: Any, i: int, n: float, a: float, b: float, slopes: bool) -> Any:
    """The impulse of a point at v = (n, a, b); with *slopes* its derivative by -v is kept as well."""
    if points[i, names.LIMIT] >= 0.0:
        return _respond_in_disk(points, i, a, b, slopes)
    r, mu = points[i, names.R], points[i, names.FRICTION]
    q = r + points[i, names.COMPLIANCE]
    root, across = q**0.5, r**0.5
    c = names.CENTER
    x = (r * points[i, c] - n - points[i, names.SHIFT] + points[i, names.TARGET]) / root
    y = (r * points[i, c + 1] - a) / across
    z = (r * points[i, c + 2] - b) / across
    scaled = mu * across / root
    gn, ga, gb, where = nearest(scaled, x, y, z)
    if slopes:
        s = names.SLOPE
        if where == 0:
            for k in range(6):
                points[i, s + k] = 0.0
        elif where == 1:
            points[i, s], points[i, s + 1], points[i, s + 2] = 1.0 / q, 0.0, 0.0
            points[i, s + 3], points[i, s + 4], points[i, s + 5] = 1.0 / r, 0.0, 1.0 / r
        else:
            size = (y * y + z * z) ** 0.5
            ta, tb = y / size, z / size
            part = 1.0 / (1.0 + scaled * scaled)
            turn = scaled * gn / size
            along = part * scaled * scaled
            mixed = 1.0 / (root * across)
            points[i, s] = part / q
            points[i, s + 1], points[i, s + 2] = part * scaled * ta * mixed, part * scaled * tb * mixed
            points[i, s + 3] = (along * ta * ta + turn * tb * tb) / r
            points[i, s + 4] = (along - turn) * ta * tb / r
            points[i, s + 5] = (along * tb * tb + turn * ta * ta) / r
    return gn / root, ga / across, gb / across


@generic
def _respond_all(space: Any, slopes: bool) -> None:
    points = space.points
    for i in range(space.counts[names.POINTS]):
        v = names.V
        n, a, b = _respond(points, i, points[i, v], points[i, v + 1], points[i, v + 2], slopes)
        points[i, names.IMPULSE], points[i, names.IMPULSE + 1], points[i, names.IMPULSE + 2] = n, a, b


@generic
def _set_velocities(space: Any, x: Any, column: int) -> None:
    """J x of all points."""
    points = space.points
    for i in range(space.counts[names.POINTS]):
        points[i, column], points[i, column + 1], points[i, column + 2] = velocity_of(space, i, x)


@generic
def _add_impulses(space: Any, x: Any, sign: float) -> None:
    """x becomes x + sign J^T gamma."""
    points, g = space.points, names.IMPULSE
    for i in range(space.counts[names.POINTS]):
        if points[i, g] != 0.0 or points[i, names.LIMIT] > 0.0:
            add_impulse(space, i, sign * points[i, g], sign * points[i, g + 1], sign * points[i, g + 2], x)


@generic
def _fulfil_momentum(space: Any) -> None:
    """The speeds that the impulses give, in row NEW; M (u - u*) is J^T gamma."""
    vectors = space.vectors
    for i in range(vectors.shape[1]):
        vectors[names.MOMENTUM, i] = 0.0
    _add_impulses(space, vectors[names.MOMENTUM], 1.0)
    for i in range(vectors.shape[1]):
        vectors[names.SCRATCH, i] = vectors[names.MOMENTUM, i]
    for node in range(space.counts[names.NODES]):
        sparse.solve_tree(space, space.factor_of_mass, space.tree_of_node[node], vectors[names.SCRATCH])
    for i in range(vectors.shape[1]):
        vectors[names.NEW, i] = vectors[names.FREE, i] + vectors[names.SCRATCH, i]
    _set_velocities(space, vectors[names.NEW], names.V)
    points = space.points
    for i in range(space.counts[names.POINTS]):
        points[i, names.V + 1] += points[i, names.DRIFT]
        points[i, names.V + 2] += points[i, names.DRIFT + 1]


@generic
def residual_of(space: Any) -> float:
    """The largest |gamma - P(gamma - w / s)| s of any point, a velocity, s being the size of W and w what is dual to gamma."""
    points, worst = space.points, 0.0
    for i in range(space.counts[names.POINTS]):
        s, mu = points[i, names.SCALE], points[i, names.FRICTION]
        n, a, b = points[i, names.V], points[i, names.V + 1], points[i, names.V + 2]
        gn, ga, gb = points[i, names.IMPULSE], points[i, names.IMPULSE + 1], points[i, names.IMPULSE + 2]
        w = n + mu * (a * a + b * b) ** 0.5 - points[i, names.TARGET] + points[i, names.COMPLIANCE] * gn
        if points[i, names.LIMIT] < 0.0:
            pn, pa, pb, _ = nearest(mu, gn - w / s, ga - a / s, gb - b / s)
        else:
            ya, yb = ga - a / s, gb - b / s
            part = points[i, names.LIMIT] / max(points[i, names.LIMIT], (ya * ya + yb * yb) ** 0.5, 1e-300)
            pn, pa, pb = gn, part * ya, part * yb
        error = s * max(abs(pn - gn), abs(pa - ga), abs(pb - gb))
        if not error <= worst:  # NaN as well
            worst = error
            space.counts[names.WORST_1], space.counts[names.WORST_2] = space.pairs[i, names.FIRST], space.pairs[i, names.SECOND]
    return worst


@generic
def _set_scales(space: Any) -> None:
    """The size of W of each point, by the diagonal of M, and the part that a has in its own slip."""
    points, diagonal, J = space.points, space.vectors[names.DIAGONAL], space.coefficients
    for i in range(space.counts[names.POINTS]):
        normal = tangential = 0.0
        for c in range(space.pairs[i, names.BEGIN], space.pairs[i, names.END]):
            inverse = 1.0 / diagonal[space.columns[c]]
            n, a, b = J[0, c], J[1, c], J[2, c]
            normal += n * n * inverse
            tangential += (a * a + b * b) * inverse
        s = max((normal + tangential) / 3.0, 1e-300)
        mu = points[i, names.FRICTION]
        points[i, names.SCALE] = s
        points[i, names.RATIO] = mu * mu * 0.5 * tangential / max(normal + points[i, names.COMPLIANCE], 1e-6 * s)


@generic
def _follow(space: Any, part: float, number: int, halfway: bool) -> None:
    """Proximal step *number* of a series begins at the present impulses, with a nearer to mu |v_t|: of each point by itself.

    It is a root of mu |v_t|(a) - a. The slope of the first is at first that which a point alone would have, then that of the
    last two steps; or a goes *halfway*, whatever the slope.
    """
    points = space.points
    for i in range(space.counts[names.POINTS]):
        points[i, names.R] = part * points[i, names.SCALE]
        for j in range(3):
            points[i, names.CENTER + j] = points[i, names.IMPULSE + j]
        a, b = points[i, names.V + 1], points[i, names.V + 2]
        found, shift = points[i, names.FRICTION] * (a * a + b * b) ** 0.5, points[i, names.SHIFT]
        new = found
        if halfway:
            new = 0.5 * (shift + found)
        elif number > 0 and points[i, names.IMPULSE] > 0.0:
            slope = points[i, names.RATIO] / (1.0 + points[i, names.RATIO])
            if number > 1:
                change = shift - points[i, names.SHIFT_BEFORE]
                if abs(change) > 1e-12 * (abs(shift) + abs(found)):
                    slope = (found - points[i, names.FOUND_BEFORE]) / change
                slope = min(MOST_SLOPE, max(LEAST_SLOPE, slope))
            new = max(0.0, shift + (found - shift) / (1.0 - slope))
        points[i, names.SHIFT_BEFORE], points[i, names.FOUND_BEFORE] = shift, found
        points[i, names.SHIFT] = new


@generic
def _forget(space: Any) -> None:
    """Let a be none: where friction presses together what slides it would grow without end, and a jam has none."""
    for i in range(space.counts[names.POINTS]):
        space.points[i, names.SHIFT] = 0.0
        for j in range(3):
            space.points[i, names.CENTER + j] = space.points[i, names.IMPULSE + j]
            space.points[i, names.R] = SOFTEST * space.points[i, names.SCALE]


@generic
def _leave_depth(space: Any) -> None:
    """Begin again without impulses, and with rigid points only to be stopped: what is jammed cannot be driven out."""
    points = space.points
    for i in range(space.counts[names.POINTS]):
        if points[i, names.COMPLIANCE] == 0.0:
            points[i, names.TARGET] = 0.0
        for j in range(3):
            points[i, names.IMPULSE + j] = 0.0
    _fulfil_momentum(space)


@generic
def _assemble(space: Any, both: bool) -> None:
    """M + J^T S J, S the slopes of all points; where *both* are needed, as they are not symmetric, with what is mirrored."""
    x, y, mass = space.values, space.mirrored, space.mass
    blocks = space.first_entry[space.inboard.shape[0]]
    for i in range(blocks):
        x[i] = mass[i]
    for i in range(blocks, space.counts[names.VALUES]):
        x[i] = 0.0
    if both:
        for i in range(blocks):
            y[i] = mass[i]
        for i in range(blocks, space.counts[names.VALUES]):
            y[i] = 0.0
    for i in range(space.counts[names.POINTS]):
        _add_point(space, i, both)


@generic
def _add_point(space: Any, i: int, both: bool) -> None:
    """The part of one point: into the blocks of its tree or trees, and into that between two."""
    x, y, points, pairs, first_entry = space.values, space.mirrored, space.points, space.pairs, space.first_entry
    columns, depth, J, s = space.columns, space.depth, space.coefficients, names.SLOPE
    nn, na, nb = points[i, s], points[i, s + 1], points[i, s + 2]
    aa, ab, bb = points[i, s + 3], points[i, s + 4], points[i, s + 5]
    if nn == 0.0 and aa == 0.0 and bb == 0.0:
        return
    an, bn = na, nb
    if both:
        an, bn = points[i, s + 6], points[i, s + 7]
    t1, t2 = pairs[i, names.TREE_1], pairs[i, names.TREE_2]
    begin, middle, end = pairs[i, names.BEGIN], pairs[i, names.MIDDLE], pairs[i, names.END]
    on_two_branches = t1 == t2 and begin < middle and middle < end
    if t1 == t2:
        middle = begin
    block, by_first = 0, True
    if begin < middle and middle < end:
        one, two = space.node_of_tree[t1], space.node_of_tree[t2]
        by_first = one < two
        if by_first:
            block = sparse.place_of(space, two, one)
        else:
            block = sparse.place_of(space, one, two)
    for c in range(begin, end):
        # column c by S, from the left and from the right
        left = (
            nn * J[0, c] + an * J[1, c] + bn * J[2, c],
            na * J[0, c] + aa * J[1, c] + ab * J[2, c],
            nb * J[0, c] + ab * J[1, c] + bb * J[2, c],
        )
        right = left
        if both:
            right = (
                nn * J[0, c] + na * J[1, c] + nb * J[2, c],
                an * J[0, c] + aa * J[1, c] + ab * J[2, c],
                bn * J[0, c] + ab * J[1, c] + bb * J[2, c],
            )
        start = middle
        if c < middle:
            start = begin
        row = first_entry[columns[c]]
        if depth[columns[c]] == c - start and not on_two_branches:  # all that is above it
            _add_row(J, x, row, left, start, c + 1)
            if both:
                _add_row(J, y, row, right, start, c)
        else:
            for d in range(start, c + 1):
                place, above = row + depth[columns[d]], columns[d] <= columns[c]
                if not above:
                    place = first_entry[columns[d]] + depth[columns[c]]
                by_left, by_right = _times(J, left, d), _times(J, right, d)
                if above:
                    x[place] += by_left
                else:
                    x[place] += by_right
                if both and above:
                    y[place] += by_right
                elif both:
                    y[place] += by_left
        if c >= middle and middle > begin:
            own = columns[c] - space.first_speed[t2]
            base = space.first_speed[t1]
            if by_first:
                rows = space.first_speed[t2 + 1] - space.first_speed[t2]
                for d in range(begin, middle):
                    place = block + (columns[d] - base) * rows + own
                    x[place] += _times(J, right, d)
                    if both:
                        y[place] += _times(J, left, d)
            else:
                rows = space.first_speed[t1 + 1] - base
                for d in range(begin, middle):
                    place = block + own * rows + columns[d] - base
                    x[place] += _times(J, left, d)
                    if both:
                        y[place] += _times(J, right, d)


@generic
def _times(J: Any, v: Any, d: int) -> float:
    return v[0] * J[0, d] + v[1] * J[1, d] + v[2] * J[2, d]


@generic
def _add_row(J: Any, x: Any, row: int, v: Any, start: int, end: int) -> None:
    for d in range(end - start):
        x[row + d] += _times(J, v, start + d)


@generic
def _slope_along(space: Any, length: float) -> float:
    """The impulses' part of the derivative along Newton's step, at a part of it."""
    points, total = space.points, 0.0
    v, d = names.V, names.CHANGE
    for i in range(space.counts[names.POINTS]):
        x, y, z = points[i, d], points[i, d + 1], points[i, d + 2]
        n, a, b = _respond(
            points, i, points[i, v] + length * x, points[i, v + 1] + length * y, points[i, v + 2] + length * z, False
        )
        total -= n * x + a * y + b * z
    return total


@generic
def _length_of_step(space: Any, linear: float, square: float) -> float:
    """Where along Newton's step the convex function is least, roughly: the root of its derivative."""
    at_0, at_1 = linear + _slope_along(space, 0.0), linear + square + _slope_along(space, 1.0)
    if at_1 <= 0.1 * abs(at_0):
        return 1.0
    low, high, f_low, f_high = 0.0, 1.0, at_0, at_1
    length = 1.0
    for number in range(20):
        length = low - f_low * (high - low) / (f_high - f_low)
        if number % 3 == 2:
            length = 0.5 * (low + high)
        value = linear + length * square + _slope_along(space, length)
        if abs(value) <= 0.1 * abs(at_0):
            break
        if value < 0.0:
            low, f_low = length, value
        else:
            high, f_high = length, value
    return length


@generic
def _solve_linear(space: Any, both: bool) -> None:
    """The row STEP becomes the solution with the slopes of all points, symmetric or *both*."""
    x, y = space.values, space.values
    if both:
        y = space.mirrored
    _assemble(space, both)
    sparse.factor(space, x, y, both)
    sparse.solve_factored(space, x, y, space.vectors[names.STEP])


@generic
def _newton(space: Any, close: float) -> None:
    """One proximal step from the speeds in row NEW."""
    vectors, points, nu = space.vectors, space.points, space.vectors.shape[1]
    step, diagonal = vectors[names.STEP], vectors[names.DIAGONAL]
    for _ in range(MOST_NEWTON):
        _respond_all(space, True)
        for i in range(nu):  # minus the gradient
            step[i] = -vectors[names.MOMENTUM, i]
        _add_impulses(space, step, 1.0)
        error = size = 0.0
        for node in range(space.counts[names.NODES]):
            t = space.tree_of_node[node]
            for i in range(space.first_speed[t], space.first_speed[t + 1]):
                error += step[i] * step[i] / diagonal[i]
                p = max(abs(vectors[names.MOMENTUM, i]), abs(vectors[names.MOMENTUM, i] + step[i]))
                size += p * p / diagonal[i]
        if not error > close * close * size:
            return
        space.counts[names.NEWTON] += 1
        _solve_linear(space, False)
        _set_velocities(space, step, names.CHANGE)
        mass_times(space, step, vectors[names.PUSHED])
        linear = square = 0.0
        for i in range(nu):
            linear += step[i] * vectors[names.MOMENTUM, i]
            square += step[i] * vectors[names.PUSHED, i]
        length = _length_of_step(space, linear, square)
        for i in range(nu):
            vectors[names.MOMENTUM, i] += length * vectors[names.PUSHED, i]
        for i in range(space.counts[names.POINTS]):
            for j in range(3):
                points[i, names.V + j] += length * points[i, names.CHANGE + j]
    _respond_all(space, False)


@generic
def _linearize(points: Any, i: int, part: float) -> int:
    """Coulomb's law of a point about its impulse and velocity: slopes, and CHANGE by which the impulse changes at none of v.

    What the point does; where it slides, slopes are not symmetric.
    """
    g, v, s, d, scale = names.IMPULSE, names.V, names.SLOPE, names.CHANGE, points[i, names.SCALE]
    C, r, c = points[i, names.COMPLIANCE], part * scale, CLASSIFYING * scale
    mu, gn, ga, gb = points[i, names.FRICTION], points[i, g], points[i, g + 1], points[i, g + 2]
    w = points[i, v] + C * gn - points[i, names.TARGET]
    for k in range(8):
        points[i, s + k] = 0.0
    resistance = points[i, names.LIMIT] >= 0.0
    if resistance:
        w = 0.0
        gn = points[i, names.LIMIT]
        mu = 1.0
    if gn - w / scale <= 0.0:
        points[i, d], points[i, d + 1], points[i, d + 2] = -points[i, g], -ga, -gb
        return _PARTS
    q = C + r
    change = -w / q
    points[i, d] = change
    if not resistance:
        points[i, s] = 1.0 / q
    bound = mu * max(0.0, gn)
    va, vb = points[i, v + 1], points[i, v + 2]
    ya, yb = ga - va / c, gb - vb / c
    size = (ya * ya + yb * yb) ** 0.5
    # what only comes to touch sticks where friction would stop it in the time in which the normal impulse does
    if (bound > 0.0 and size <= bound) or (bound == 0.0 and c * size < -mu * w):
        points[i, d + 1], points[i, d + 2] = -va / r, -vb / r
        points[i, s + 3] = points[i, s + 5] = 1.0 / r
        return _STICKS
    if size == 0.0:
        points[i, d + 1], points[i, d + 2] = -ga, -gb
        return _PARTS
    ta, tb = ya / size, yb / size
    if bound == 0.0:  # friction is what belongs to the normal impulse that is to be found
        points[i, d + 1], points[i, d + 2] = mu * (gn + change) * ta - ga, mu * (gn + change) * tb - gb
        points[i, s + 6], points[i, s + 7] = mu * ta / q, mu * tb / q
        return _SLIDES
    # |y| gamma = bound y, with e = bound / |y| and F the symmetric part of (gamma t) / bound, gamma no longer than that
    long, e = (ga * ga + gb * gb) ** 0.5, bound / size
    fit = 1.0 / max(bound, long)
    fa, fb = fit * ga, fit * gb
    maa, mbb, mab = e * (1.0 - fa * ta), e * (1.0 - fb * tb), -0.5 * e * (fa * tb + fb * ta)
    # (1 - m) (gamma1 - gamma) = e y - gamma + mu t (gamma1_n - gamma_n) - m (v1 - v) / c, m = e (1 - F)
    baa, bbb = 1.0 - maa, 1.0 - mbb
    over = 1.0 / (baa * bbb - mab * mab)
    iaa, ibb, iab = bbb * over, baa * over, mab * over
    xa, xb = e * ya - ga + mu * change * ta, e * yb - gb + mu * change * tb
    points[i, d + 1], points[i, d + 2] = iaa * xa + iab * xb, iab * xa + ibb * xb
    points[i, s + 3] = (iaa * maa + iab * mab) / c
    points[i, s + 4] = (iaa * mab + iab * mbb) / c
    points[i, s + 5] = (iab * mab + ibb * mbb) / c
    if not resistance:
        points[i, s + 6], points[i, s + 7] = (iaa * ta + iab * tb) * mu / q, (iab * ta + ibb * tb) * mu / q
    return _SLIDES


@generic
def _put_in_cones(space: Any) -> None:
    """Normal impulses no less than zero, friction no more than mu of these."""
    points, g = space.points, names.IMPULSE
    for i in range(space.counts[names.POINTS]):
        n = max(0.0, points[i, g])
        size, bound = (points[i, g + 1] ** 2 + points[i, g + 2] ** 2) ** 0.5, points[i, names.FRICTION] * n
        if points[i, names.LIMIT] >= 0.0:
            bound = points[i, names.LIMIT]
        points[i, g] = n
        if size > bound:
            points[i, g + 1] *= bound / size
            points[i, g + 2] *= bound / size


@generic
def _linearize_all(space: Any, part: float) -> Any:
    """The law of all points: whether slopes are not symmetric, and whether every point does as it did before."""
    points, both, same = space.points, False, True
    for i in range(space.counts[names.POINTS]):
        does = _linearize(points, i, part)
        both = both or does == _SLIDES
        same = same and points[i, names.DOES] == does
        points[i, names.DOES] = does
    return both, same


@generic
def _find_changes(space: Any, both: bool) -> None:
    """CHANGE and SLOPE become the changes of impulse and of velocity that Newton's step, in row STEP, brings."""
    points, d, s = space.points, names.CHANGE, names.SLOPE
    for i in range(space.counts[names.POINTS]):
        n, a, b = velocity_of(space, i, space.vectors[names.STEP])
        an, bn = 0.0, 0.0
        if both:
            an, bn = points[i, s + 6], points[i, s + 7]
        points[i, d] -= points[i, s] * n
        points[i, d + 1] -= an * n + points[i, s + 3] * a + points[i, s + 4] * b
        points[i, d + 2] -= bn * n + points[i, s + 4] * a + points[i, s + 5] * b
        points[i, s], points[i, s + 1], points[i, s + 2] = n, a, b


@generic
def _go(space: Any, length: float) -> float:
    """Impulses and velocities move along Newton's step; the residual there."""
    points = space.points
    for i in range(space.counts[names.POINTS]):
        for j in range(3):
            points[i, names.IMPULSE + j] += length * points[i, names.CHANGE + j]
            points[i, names.V + j] += length * points[i, names.SLOPE + j]
    return residual_of(space)


@generic
def _coulomb(space: Any, residual: float, enough: float) -> float:
    """Newton's method on Coulomb's law itself, from impulses that fulfil momentum: the residual, and speeds in row NEW."""
    points, counts, step = space.points, space.counts, space.vectors[names.STEP]
    part, before, same, d = HARD, 1e300, False, names.CHANGE
    for i in range(counts[names.POINTS]):
        points[i, names.DOES] = -1.0
    for _ in range(MOST_COULOMB):
        if same and residual > SLOW * before:  # while points change what they do, a smaller r only throws impulses farther
            part = max(HARDEST, 0.1 * part)
        before = residual
        both, same = _linearize_all(space, part)
        for i in range(step.shape[0]):
            step[i] = 0.0
        for i in range(counts[names.POINTS]):
            add_impulse(space, i, points[i, d], points[i, d + 1], points[i, d + 2], step)
        counts[names.NEWTON] += 1
        _solve_linear(space, both)
        _find_changes(space, both)
        residual = _go(space, 1.0)
        if residual > before:  # half of it, if that is better
            whole, residual = residual, _go(space, -0.5)
            if residual > whole:
                residual = _go(space, 0.5)
        if not residual < 1e300:
            break
        if residual <= enough:
            _put_in_cones(space)
            _fulfil_momentum(space)
            residual = residual_of(space)
            if residual <= enough:
                break
    return residual


@generic
def _coulomb_or_back(space: Any, residual: float, enough: float) -> float:
    """`_coulomb`, or, where that has not found the solution, impulses and speeds as they were."""
    points, g, c = space.points, names.IMPULSE, names.CENTER
    for i in range(space.counts[names.POINTS]):
        for j in range(3):
            points[i, c + j] = points[i, g + j]
    found = _coulomb(space, residual, enough)
    for i in range(space.counts[names.POINTS]):
        if found <= enough:
            a, b = points[i, names.V + 1], points[i, names.V + 2]
            points[i, names.SHIFT] = points[i, names.FRICTION] * (a * a + b * b) ** 0.5
        else:
            for j in range(3):
                points[i, g + j] = points[i, c + j]
    if found <= enough:
        return found
    _fulfil_momentum(space)
    return residual


@generic
def weigh(model: Any, space: Any) -> None:
    """The mass matrices that are needed, and their factors."""
    clear_masses(space)
    find_masses(model, space)
    for t in range(space.weighed.shape[0]):
        if space.weighed[t] == 1:
            for i in range(space.first_entry[space.first_speed[t]], space.first_entry[space.first_speed[t + 1]]):
                space.factor_of_mass[i] = space.mass[i]
            sparse.factor_tree(space, space.factor_of_mass, space.factor_of_mass, False, t)


@generic
def push_free(space: Any) -> None:
    """Give the speeds without contact what joints do within the step, for which these have the momentum."""
    push = space.vectors[names.PUSH]
    for t in range(space.weighed.shape[0]):
        if space.weighed[t] == 1:
            sparse.solve_tree(space, space.factor_of_mass, t, push)
            for i in range(space.first_speed[t], space.first_speed[t + 1]):
                space.vectors[names.FREE, i] += push[i]


@generic
def find_problem(model: Any, space: Any) -> bool:
    """Rows and pattern of the points, and the masses; False where there is no room for them."""
    counts = space.counts
    counts[names.NEED_POINTS] = counts[names.POINTS]
    counts[names.NEED_COLUMNS] = counts[names.NEED_ROWS] = counts[names.NEED_VALUES] = 0
    if counts[names.POINTS] > space.keys.shape[0]:
        return False
    find_rows(model, space)
    counts[names.NEED_COLUMNS] = counts[names.COLUMNS]
    if counts[names.COLUMNS] > space.columns.shape[0]:
        return False
    sparse.find_pattern(space)
    if counts[names.NEED_ROWS] > space.row.shape[0] or counts[names.NEED_VALUES] > space.values.shape[0]:
        return False
    for node in range(counts[names.NODES]):
        space.weighed[space.tree_of_node[node]] = 1
    weigh(model, space)
    return True


@generic
def solve(space: Any) -> bool:
    """The impulses, and the speeds in row NEW, from FREE, SPEED and the impulses to begin with; whether that converged."""
    counts, measures = space.counts, space.measures
    _set_scales(space)
    # the largest velocity that anything has, or would have, where things touch
    largest = fastest = 1e-300
    for i in range(counts[names.POINTS]):
        largest = max(largest, abs(space.points[i, names.TARGET]))
    for row in (names.SPEED, names.FREE):
        for i in range(counts[names.POINTS]):
            for j in range(3):
                total = 0.0
                for c in range(space.pairs[i, names.BEGIN], space.pairs[i, names.END]):
                    total += abs(space.coefficients[j, c] * space.vectors[row, space.columns[c]])
                largest = max(largest, total)
            largest = max(largest, abs(space.points[i, names.DRIFT]), abs(space.points[i, names.DRIFT + 1]))
        if row == names.SPEED:
            fastest = largest
    enough = ENOUGH * largest
    for i in range(counts[names.POINTS]):
        if space.points[i, names.COMPLIANCE] == 0.0 and space.points[i, names.LIMIT] < 0.0 and fastest <= RESTING * largest:
            enough = ENOUGH_AT_REST * largest
            break
    counts[names.PROBLEMS] += 1
    _fulfil_momentum(space)
    residual = residual_of(space)
    part, before = SOFTEST, 1e300
    for number in range(MOST):
        if residual <= enough or not residual < 1e300:
            break
        if number % AGAIN == 0:
            residual = _coulomb_or_back(space, residual, enough)
            if residual <= enough:
                break
        counts[names.OUTER] += 1
        if residual > SLOW * before:
            part = max(HARDEST, 0.1 * part)
        part, before = min(part, max(HARD, residual / largest)), residual
        if number == 2 * PATIENCE:
            _leave_depth(space)
        if number == PATIENCE or number == 2 * PATIENCE:
            part = SOFTEST
            _forget(space)
        else:
            _follow(space, part, number, number > PATIENCE)
        _newton(space, max(_CLOSE, min(_PART, _PART * residual / largest)))
        _fulfil_momentum(space)
        residual = residual_of(space)
    measures[names.RESIDUAL], measures[names.RELATIVE] = residual, residual / largest
    if not residual <= WORST * largest:  # none that a step is taken with
        return False
    measures[names.LARGEST] = max(measures[names.LARGEST], residual)
    measures[names.LARGEST_RELATIVE] = max(measures[names.LARGEST_RELATIVE], residual / largest)
    if residual > ENOUGH * largest:
        counts[names.UNCONVERGED] += 1
    return True


__all__ = ["ENOUGH", "WORST", "find_problem", "push_free", "solve", "weigh"]
