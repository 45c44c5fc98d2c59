"""The impulses of all points that touch: Coulomb's law at the level of velocities, by Newton's method on the speeds.

For the speeds u, those without contact u*, J of all points, v = J u and each point's cone K of |gamma_t| <= mu gamma_n,

    M (u - u*) = J^T gamma     K* contains v + (C gamma_n + mu |v_t| - t) e_n, orthogonal to gamma in K

(De Saxce's form of unilateral contact with friction), with C and t of `points`, and M with what `joints` add to its diagonal.
For given a = mu |v_t| this is the optimum of a convex function. The proximal method takes steps to it, each from the impulses
gamma_k before: u is the least of

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

Rows that resist rolling or spinning, and friction of a known normal force, have a disk of a given radius, LIMIT, in place of
the cone, and no normal; equations have one without bound, contacts without friction mu = 0. So one solver serves events, whose
rows `given_rows` lays out, and steps.

Sources: Hueber, Stadler and Wohlmuth 2008, A primal-dual active set algorithm for three-dimensional contact problems with
Coulomb friction (Newton's method on the law, and its slopes where impulses are outside of the cone); Castro, Permenter and
Han 2022, An unconstrained convex formulation of compliant contact (the function, Newton's method); Rockafellar 1976 (the
proximal method); Acary and Cadoux 2013 (a from one problem to the next).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...algebra import vec3
from ...algebra.memory import load3, store3
from ...algebra.order import larger, larger_or_nan, size_of
from ...algebra.scalar import load, sqrt, store, where, zero
from ...compiling import apart, generic, routine
from ...tree.project import any_positive
from . import block_factor as sparse, space as names
from .equations import find_rows
from .rows import add_impulse, clear_masses, find_masses, mass_times, velocity_of

#: r as a part of W: at first that of the residual in the largest velocity, between the first two, and from then on a tenth,
#: down to the last, whenever a proximal step has left more than a part of the residual. Far from the solution a small r takes
#: Newton's method many short steps along the cones; near to it, or where a light body bears a heavy one, a large one takes
#: many proximal steps.
SOFTEST, HARD, HARDEST, SLOW = 0.1, 1e-3, 1e-6, 0.3
#: Between which the slope of mu |v_t| by a is believed.
LEAST_SLOPE, MOST_SLOPE = -4.0, 0.8
#: The residual that is enough in a step, and that with which a solution is taken, as parts of the largest velocity.
ENOUGH, WORST = 1e-6, 1e-3
#: What is enough where rigid things rest: where nothing had more than the second part of the largest velocity, which forces
#: give it within the step. What rests keeps the impulses of the last step until these leave more than is enough, and in a stack
#: of rigid bodies that is acceleration, added up over all that is below.
ENOUGH_AT_REST, RESTING = 5e-8, 0.1
#: What is enough where unilateral contacts take part, or friction of known normal force, and for rows that are given.
EXACT = 1e-11
#: What Newton's method goes on to beside constraints, where it takes steps at all: of points that give way little, and that
#: these move alike, a residual says little of how they share an impulse.
FINE = 1e-8
#: Rows contradict each other by rounding where that many of Newton's steps have not left less than a part of the least
#: residual, or proximal steps and these less than another part: what has come near is taken then.
IDLE, STILL, SETTLED = 8.0, 0.9, 0.5
#: Most proximal steps, and Newton's steps of each.
MOST, MOST_NEWTON = 80, 40
#: Proximal steps after which a begins again with none.
PATIENCE = 20
#: Of Newton's method on Coulomb's law: most steps, proximal steps before it is tried again, and r as a part of W at first.
MOST_COULOMB, AGAIN, FIRM = 25, 4, 5e-4
#: ... and those before it begins afresh.
AFRESH = 8
#: The part of W by which velocities become impulses that tell what sticks, of its first steps, how many these are, and of the
#: others. What sticks easily gets there in few steps, or goes round in circles; with the small one much seems to slide on the
#: way.
EASILY, AT_FIRST, HARDLY = 1.0, 6, 0.03
#: The most steps of eight states, of which nearly all take fewer; what others wait for in vain is solved alone.
MOST_IN_LANES = 12
#: What a point does: the numbers that `_linearize` returns.
_PARTS, _STICKS, _SLIDES = 0.0, 1.0, 2.0
#: Of a proximal step, Newton's method ends where the gradient is this part of the momentum, or that of the residual there was.
_CLOSE, _PART = 1e-9, 0.03


@generic
def nearest(mu: Any, by_cone: Any, n: Any, a: Any, b: Any) -> Any:
    """The nearest point of the cone; 0 where that is its tip, 1 inside, 2 on its surface. *by_cone* is 1 / (1 + mu^2)."""
    size = sqrt(a * a + b * b)
    c = (n + mu * size) * by_cone
    o = zero(size)
    at = where(size <= mu * n, o + 1.0, where(c <= 0.0, o, o + 2.0))
    at = where(mu * size <= -n, o, at)
    part = mu * c / where(size > 0.0, size, o + 1.0)
    c = where(at > 1.0, c, where(at > 0.0, n, o))
    part = where(at > 1.0, part, where(at > 0.0, o + 1.0, o))
    return c, part * a, part * b, at


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
    part = 1.0 / (1.0 + scaled * scaled)
    gn, ga, gb, at = nearest(scaled, part, x, y, z)
    if slopes:
        s = names.SLOPE
        if at == 0.0:
            for k in range(6):
                points[i, s + k] = 0.0
        elif at == 1.0:
            points[i, s], points[i, s + 1], points[i, s + 2] = 1.0 / q, 0.0, 0.0
            points[i, s + 3], points[i, s + 4], points[i, s + 5] = 1.0 / r, 0.0, 1.0 / r
        else:
            size = (y * y + z * z) ** 0.5
            ta, tb = y / size, z / size
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
def _set_velocities(space: Any, row: int, column: int) -> None:
    """J x of all points, of a row x of ``vectors``."""
    for i in range(space.counts[names.POINTS]):
        store3(space.points, i, column, velocity_of(space, i, row))


@generic
def _add_impulses(space: Any, row: int) -> None:
    """A row x of ``vectors`` becomes x + J^T gamma."""
    for i in range(space.counts[names.POINTS]):
        n, a, b = load3(space.points, i, names.IMPULSE)
        if any_positive(size_of(n) + size_of(a) + size_of(b)):
            add_impulse(space, i, n, a, b, row)


@generic
def _fulfil_momentum(space: Any, mark: Any) -> None:
    """The speeds that the impulses give, in row NEW; M (u - u*) is J^T gamma. Points have new V in states that are marked."""
    vectors, points = space.vectors, space.points
    none = zero(mark)
    for i in range(vectors.shape[1]):
        store(vectors, names.MOMENTUM, i, none)
    _add_impulses(space, names.MOMENTUM)
    for i in range(vectors.shape[1]):
        store(vectors, names.SCRATCH, i, load(vectors, names.MOMENTUM, i))
    for node in range(space.counts[names.NODES]):
        sparse.solve_tree(space, space.factor_of_mass, space.tree_of_node[node], names.SCRATCH)
    for i in range(vectors.shape[1]):
        store(vectors, names.NEW, i, load(vectors, names.FREE, i) + load(vectors, names.SCRATCH, i))
    for i in range(space.counts[names.POINTS]):
        n, a, b = velocity_of(space, i, names.NEW)
        n, a, b = vec3.add((n, a, b), load3(points, i, names.DRIFT))
        before = load3(points, i, names.V)
        store(points, i, names.V, where(mark > 0.0, n, before[0]))
        store(points, i, names.V + 1, where(mark > 0.0, a, before[1]))
        store(points, i, names.V + 2, where(mark > 0.0, b, before[2]))


@apart
def _fulfil_momentum_of_one(space: Any, mark: float) -> None:
    """`_fulfil_momentum`, of one state, which asks for it at several places."""
    _fulfil_momentum(space, mark)


@generic
def _error_of(points: Any, i: int) -> Any:
    """The largest |gamma - P(gamma - w / s)| s of a point, a velocity, s being the size of W and w what is dual to gamma."""
    s, mu, limit = load(points, i, names.SCALE), load(points, i, names.FRICTION), load(points, i, names.LIMIT)
    n, a, b = load3(points, i, names.V)
    gn, ga, gb = load3(points, i, names.IMPULSE)
    w = n + mu * sqrt(a * a + b * b) - load(points, i, names.TARGET) + load(points, i, names.COMPLIANCE) * gn
    by_s = load(points, i, names.BY_SCALE)
    ya, yb = ga - a * by_s, gb - b * by_s
    pn, pa, pb, _ = nearest(mu, load(points, i, names.BY_CONE), gn - w * by_s, ya, yb)
    in_disk = where(limit >= 0.0, s, zero(s))
    if any_positive(in_disk):
        part = limit / larger(larger(limit, sqrt(ya * ya + yb * yb)), zero(s) + 1e-300)
        pn, pa, pb = where(in_disk > 0.0, gn, pn), where(in_disk > 0.0, part * ya, pa), where(in_disk > 0.0, part * yb, pb)
    return s * larger(size_of(pn - gn), larger(size_of(pa - ga), size_of(pb - gb)))


@generic
def residual_of(space: Any) -> Any:
    """The largest error of any point."""
    worst = zero(load(space.vectors, names.FREE, 0))
    for i in range(space.counts[names.POINTS]):
        worst = larger_or_nan(worst, _error_of(space.points, i))
    return worst


@generic
def _note_worst(space: Any) -> None:
    """Note the two surfaces with the largest error."""
    worst = -1.0
    for i in range(space.counts[names.POINTS]):
        error = _error_of(space.points, i)
        if not error <= worst and space.pairs[i, names.KIND] != names.EQUATIONS:
            worst = error
            space.counts[names.WORST_1], space.counts[names.WORST_2] = space.pairs[i, names.FIRST], space.pairs[i, names.SECOND]
            if space.pairs[i, names.KIND] > names.EQUATIONS:  # of a constraint, which `Stepped.name_of` knows by this
                space.counts[names.WORST_1] = space.counts[names.WORST_2] = -1 - space.pairs[i, names.FIRST]


@generic
def _set_scales(space: Any) -> None:
    """The size of W of each point, by the diagonal of M, and the part that a has in its own slip."""
    points, vectors, J = space.points, space.vectors, space.coefficients
    for i in range(space.counts[names.POINTS]):
        normal = zero(load(vectors, names.DIAGONAL, 0))
        tangential = normal
        for c in range(space.pairs[i, names.BEGIN], space.pairs[i, names.END]):
            inverse = 1.0 / load(vectors, names.DIAGONAL, space.columns[c])
            n, a, b = load(J, 0, c), load(J, 1, c), load(J, 2, c)
            normal = normal + n * n * inverse
            tangential = tangential + (a * a + b * b) * inverse
        s = larger((normal + tangential) / 3.0, zero(normal) + 1e-150)  # of rows that nothing moves
        mu = load(points, i, names.FRICTION)
        store(points, i, names.SCALE, s)
        store(points, i, names.BY_SCALE, 1.0 / s)
        store(points, i, names.BY_CONE, 1.0 / (1.0 + mu * mu))
        ratio = mu * mu * 0.5 * tangential / larger(normal + load(points, i, names.COMPLIANCE), 1e-6 * s)
        store(points, i, names.RATIO, ratio)


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
    """Discard a: where friction presses together what slides it would grow without end, and a jam has none."""
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
            points[i, names.TARGET] = min(0.0, points[i, names.TARGET])
        for j in range(3):
            points[i, names.IMPULSE + j] = 0.0
    _fulfil_momentum_of_one(space, 1.0)


@generic
def _assemble(space: Any, both: bool) -> None:
    """M + J^T S J, S the slopes of all points; where *both* are needed, as they are not symmetric, with what is mirrored."""
    x, y, mass = space.values, space.mirrored, space.mass
    blocks, none = space.first_entry[space.inboard.shape[0]], zero(load(space.vectors, names.FREE, 0))
    for i in range(blocks):
        store(x, i, 0, load(mass, i, 0))
    for i in range(blocks, space.counts[names.VALUES]):
        store(x, i, 0, none)
    if both:
        for i in range(blocks):
            store(y, i, 0, load(mass, i, 0))
        for i in range(blocks, space.counts[names.VALUES]):
            store(y, i, 0, none)
    for i in range(space.counts[names.POINTS]):
        _add_point(space, i, both)


@generic
def _slopes_of(points: Any, i: int, both: bool) -> Any:
    """The nine of a point, nn, na, nb; an, aa, ab; bn, ab, bb, in three triples."""
    s = names.SLOPE
    nn, na, nb = load3(points, i, s)
    aa, ab, bb = load3(points, i, s + 3)
    an, bn = na, nb
    if both:
        an, bn = load(points, i, s + 6), load(points, i, s + 7)
    return (nn, na, nb), (an, aa, ab), (bn, ab, bb)


@generic
def _by_slopes(J: Any, c: int, slopes: Any) -> Any:
    """Column c by S, from the left and from the right."""
    n, a, b = load(J, 0, c), load(J, 1, c), load(J, 2, c)
    (nn, na, nb), (an, aa, ab), (bn, _, bb) = slopes
    left = nn * n + an * a + bn * b, na * n + aa * a + ab * b, nb * n + ab * a + bb * b
    return left, (nn * n + na * a + nb * b, an * n + aa * a + ab * b, bn * n + ab * a + bb * b)


@generic
def _add_point(space: Any, i: int, both: bool) -> None:
    """The part of one point: into the blocks of its tree or trees, and into that between two."""
    x, y, pairs, first_entry = space.values, space.mirrored, space.pairs, space.first_entry
    columns, depth, J = space.columns, space.depth, space.coefficients
    slopes = _slopes_of(space.points, i, both)
    if not any_positive(size_of(slopes[0][0]) + size_of(slopes[1][1]) + size_of(slopes[2][2])):
        return
    t1, t2 = pairs[i, names.TREE_1], pairs[i, names.TREE_2]
    begin, middle, end = pairs[i, names.BEGIN], pairs[i, names.MIDDLE], pairs[i, names.END]
    on_two_branches = t1 == t2 and begin < middle and middle < end
    if t1 == t2:
        middle = begin
    for c in range(begin, end):
        left, right = _by_slopes(J, c, slopes)
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
                    _add(x, place, by_left)
                else:
                    _add(x, place, by_right)
                if both and above:
                    _add(y, place, by_right)
                elif both:
                    _add(y, place, by_left)
    if begin < middle and middle < end:
        _add_between(space, i, slopes, both)


@generic
def _add_between(space: Any, i: int, slopes: Any, both: bool) -> None:
    """The part of a point in the block between two trees."""
    x, y, pairs, columns, J = space.values, space.mirrored, space.pairs, space.columns, space.coefficients
    t1, t2 = pairs[i, names.TREE_1], pairs[i, names.TREE_2]
    begin, middle, end = pairs[i, names.BEGIN], pairs[i, names.MIDDLE], pairs[i, names.END]
    one, two = space.node_of_tree[t1], space.node_of_tree[t2]
    by_first = one < two
    if by_first:
        block = sparse.place_of(space, two, one)
    else:
        block = sparse.place_of(space, one, two)
    base = space.first_speed[t1]
    for c in range(middle, end):
        left, right = _by_slopes(J, c, slopes)
        own = columns[c] - space.first_speed[t2]
        if by_first:
            rows = space.first_speed[t2 + 1] - space.first_speed[t2]
            for d in range(begin, middle):
                place = block + (columns[d] - base) * rows + own
                _add(x, place, _times(J, right, d))
                if both:
                    _add(y, place, _times(J, left, d))
        else:
            rows = space.first_speed[t1 + 1] - base
            for d in range(begin, middle):
                place = block + own * rows + columns[d] - base
                _add(x, place, _times(J, left, d))
                if both:
                    _add(y, place, _times(J, right, d))


@generic
def _add(x: Any, place: int, value: Any) -> None:
    store(x, place, 0, load(x, place, 0) + value)


@generic
def _times(J: Any, v: Any, d: int) -> Any:
    return v[0] * load(J, 0, d) + v[1] * load(J, 1, d) + v[2] * load(J, 2, d)


@generic
def _add_row(J: Any, x: Any, row: int, v: Any, start: int, end: int) -> None:
    for d in range(end - start):
        _add(x, row + d, _times(J, v, start + d))


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
    """The length of Newton's step at which the convex function is least, roughly: the root of its derivative."""
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


@apart
def _solve_linear(space: Any, both: bool) -> None:
    """The row STEP becomes the solution with the slopes of all points, symmetric or *both*."""
    x, y = space.values, space.values
    if both:
        y = space.mirrored
    _assemble(space, both)
    sparse.factor(space, x, y, both)
    sparse.solve_factored(space, x, y, names.STEP)


@generic
def _solve_trees(space: Any, both: bool) -> None:
    """`_solve_linear`, where no point is between two trees: of eight states, each as if some point of it slides."""
    x, y = space.values, space.mirrored
    _assemble(space, True)
    sparse.factor_trees(space, x, y, True)
    sparse.solve_trees(space, x, y, names.STEP)


@generic
def _newton(space: Any, close: float) -> None:
    """One proximal step from the speeds in row NEW."""
    vectors, points, nu = space.vectors, space.points, space.vectors.shape[1]
    step, diagonal = vectors[names.STEP], vectors[names.DIAGONAL]
    for _ in range(MOST_NEWTON):
        _respond_all(space, True)
        for i in range(nu):  # minus the gradient
            step[i] = -vectors[names.MOMENTUM, i]
        _add_impulses(space, names.STEP)
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
        _set_velocities(space, names.STEP, names.CHANGE)
        mass_times(space, names.STEP, names.PUSHED)
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
def _linearize(points: Any, i: int, part: Any, by_part: Any, classifying: Any, by_classifying: Any, slipping: Any) -> Any:
    """Coulomb's law of a point about its impulse and velocity: slopes, and CHANGE by which the impulse changes at none of v.

    What the point does; where it slides, slopes are not symmetric. *part* and *classifying* are parts of W, and come with 1 by
    each. *slipping* is 1, or 0 where all that comes to touch is to stick.
    """
    s, d, scale, limit = names.SLOPE, names.CHANGE, load(points, i, names.SCALE), load(points, i, names.LIMIT)
    o = zero(scale)
    i_ = o + 1.0
    C, r, c = load(points, i, names.COMPLIANCE), part * scale, classifying * scale
    by_scale = load(points, i, names.BY_SCALE)  # few divisions: of eight states each takes as long as twenty products
    by_c, by_r = by_classifying * by_scale, by_part * by_scale
    g, ga, gb = load3(points, i, names.IMPULSE)
    vn, va, vb = load3(points, i, names.V)
    in_disk = limit >= 0.0
    mu, gn = where(in_disk, i_, load(points, i, names.FRICTION)), where(in_disk, limit, g)
    w = where(in_disk, o, vn + C * g - load(points, i, names.TARGET))
    parts = where(gn - w * by_scale <= 0.0, i_, o)
    by_q = 1.0 / (C + r)
    change = -w * by_q
    bound = mu * larger(gn, o)
    ya, yb = ga - va * by_c, gb - vb * by_c
    size = sqrt(ya * ya + yb * yb)
    # what only comes to touch sticks where friction would stop it in the time in which the normal impulse does
    sticks = where(bound > 0.0, where(size <= bound, i_, o), where(slipping * c * size < -mu * w, i_, o))
    over = 1.0 / where(size > 0.0, size, i_)
    ta, tb = ya * over, yb * over
    # |y| gamma = bound y, with e = bound / |y| and F the symmetric part of (gamma t) / bound, gamma no longer than that
    long, e = sqrt(ga * ga + gb * gb), bound * over
    fit = 1.0 / larger(larger(bound, long), o + 1e-300)
    fa, fb = fit * ga, fit * gb
    maa, mbb, mab = e * (1.0 - fa * ta), e * (1.0 - fb * tb), -0.5 * e * (fa * tb + fb * ta)
    # (1 - m) (gamma1 - gamma) = e y - gamma + mu t (gamma1_n - gamma_n) - m (v1 - v) / c, m = e (1 - F)
    baa, bbb = 1.0 - maa, 1.0 - mbb
    over = 1.0 / (baa * bbb - mab * mab)
    iaa, ibb, iab = bbb * over, baa * over, mab * over
    xa, xb = e * ya - ga + mu * change * ta, e * yb - gb + mu * change * tb
    da, db = iaa * xa + iab * xb, iab * xa + ibb * xb
    aa, ab, bb = (iaa * maa + iab * mab) * by_c, (iaa * mab + iab * mbb) * by_c, (iab * mab + ibb * mbb) * by_c
    an, bn = (iaa * ta + iab * tb) * mu * by_q, (iab * ta + ibb * tb) * mu * by_q
    # where there is no bound, friction is what belongs to the normal impulse that is to be found
    slips = bound > 0.0
    da, db = where(slips, da, mu * (gn + change) * ta - ga), where(slips, db, mu * (gn + change) * tb - gb)
    aa, ab, bb = where(slips, aa, o), where(slips, ab, o), where(slips, bb, o)
    an, bn = where(slips, an, mu * ta * by_q), where(slips, bn, mu * tb * by_q)
    an, bn = where(in_disk, o, an), where(in_disk, o, bn)
    still = where(size > 0.0, o, i_)  # which neither sticks nor has a direction
    does = where(parts > 0.0, o + _PARTS, where(sticks > 0.0, o + _STICKS, where(still > 0.0, o + _PARTS, o + _SLIDES)))
    slides, sticking = does == _SLIDES, where(parts > 0.0, o, sticks)
    store(points, i, d, where(parts > 0.0, -g, change))
    store(points, i, d + 1, where(slides, da, where(sticking > 0.0, -va * by_r, -ga)))
    store(points, i, d + 2, where(slides, db, where(sticking > 0.0, -vb * by_r, -gb)))
    none = o
    store(points, i, s, where(parts > 0.0, none, where(in_disk, none, by_q)))
    store(points, i, s + 1, none)
    store(points, i, s + 2, none)
    store(points, i, s + 3, where(slides, aa, where(sticking > 0.0, by_r, none)))
    store(points, i, s + 4, where(slides, ab, none))
    store(points, i, s + 5, where(slides, bb, where(sticking > 0.0, by_r, none)))
    store(points, i, s + 6, where(slides, an, none))
    store(points, i, s + 7, where(slides, bn, none))
    return does


@generic
def _put_in_cones(space: Any, mark: Any) -> None:
    """Normal impulses no less than zero, friction no more than mu of these, in states that are marked."""
    points = space.points
    for i in range(space.counts[names.POINTS]):
        g, a, b = load3(points, i, names.IMPULSE)
        o, limit = zero(g), load(points, i, names.LIMIT)
        n = larger(g, o)
        size, bound = sqrt(a * a + b * b), load(points, i, names.FRICTION) * n
        bound = where(limit >= 0.0, limit, bound)
        part = where(size > bound, bound / where(size > 0.0, size, o + 1.0), o + 1.0)
        store(points, i, names.IMPULSE, where(mark > 0.0, n, g))
        store(points, i, names.IMPULSE + 1, where(mark > 0.0, part * a, a))
        store(points, i, names.IMPULSE + 2, where(mark > 0.0, part * b, b))


@generic
def _linearize_all(space: Any, part: Any, sticking: Any, slipping: Any, mark: Any) -> Any:
    """The law of all points: whether slopes are not symmetric in a state that is marked, and 1 where points do as before."""
    points, slides = space.points, zero(part)
    same = slides + 1.0
    by_part, by_sticking = 1.0 / part, 1.0 / sticking
    for i in range(space.counts[names.POINTS]):
        does = _linearize(points, i, part, by_part, sticking, by_sticking, slipping)
        slides = where(does == _SLIDES, slides + 1.0, slides)
        before = load(points, i, names.DOES)
        same = where(before == does, same, zero(part))
        store(points, i, names.DOES, where(mark > 0.0, does, before))
    return any_positive(where(mark > 0.0, slides, zero(part))), same


@generic
def _find_changes(space: Any, both: bool) -> None:
    """CHANGE and SLOPE become the changes of impulse and of velocity that Newton's step, in row STEP, brings."""
    points, d, s = space.points, names.CHANGE, names.SLOPE
    for i in range(space.counts[names.POINTS]):
        n, a, b = velocity_of(space, i, names.STEP)
        nn, aa, ab, bb = load(points, i, s), load(points, i, s + 3), load(points, i, s + 4), load(points, i, s + 5)
        an, bn = load(points, i, s + 6), load(points, i, s + 7)
        store(points, i, d, load(points, i, d) - nn * n)
        store(points, i, d + 1, load(points, i, d + 1) - (an * n + aa * a + ab * b))
        store(points, i, d + 2, load(points, i, d + 2) - (bn * n + ab * a + bb * b))
        store3(points, i, s, (n, a, b))


@generic
def _go(space: Any, length: Any) -> Any:
    """Impulses and velocities move along Newton's step where *length* is not zero; the residual there."""
    points = space.points
    for i in range(space.counts[names.POINTS]):
        for j in range(3):
            g, v = load(points, i, names.IMPULSE + j), load(points, i, names.V + j)
            on, moved = g + length * load(points, i, names.CHANGE + j), v + length * load(points, i, names.SLOPE + j)
            store(points, i, names.IMPULSE + j, where(length == 0.0, g, on))
            store(points, i, names.V + j, where(length == 0.0, v, moved))
    return residual_of(space)


def newtons_method(fulfil_momentum: Callable[..., None], solve_linear: Callable[..., None], most: int) -> Callable[..., Any]:
    """Newton's method on Coulomb's law, in any scalar for which these go, of up to so many steps."""

    @generic
    def coulomb(space: Any, residual: Any, fine: Any, enough: Any, slipping: Any) -> Any:
        """From impulses that fulfil momentum, to a residual that is *fine*: the residual, and speeds in row NEW.

        At the first step *slipping* is 1, or 0 where all that comes to touch is to stick.

        A state whose residual is fine, or is *enough* and becomes no less, or is not finite, stays as it is while others go on.
        What has come near waits for these before it is put into its cones, and goes on where that was too far.
        """
        points, vectors, d = space.points, space.vectors, names.CHANGE
        o = zero(residual)
        part, before, same, steps, waits, best, idle, met = o + FIRM, o + 1e300, o, o, o, residual, o, fine
        going = where(residual <= fine, o, where(residual < 1e300, o + 1.0, o))
        for i in range(space.counts[names.POINTS]):
            store(points, i, names.DOES, o - 1.0)
        while True:
            if not any_positive(going):
                if not any_positive(waits):
                    break
                _put_in_cones(space, waits)
                fulfil_momentum(space, waits)
                residual = where(waits > 0.0, residual_of(space), residual)
                going = where(residual <= met, o, where(steps < most, waits, o))
                waits = o
                continue
            goes = going > 0.0
            # while points change what they do, a smaller r only throws impulses farther
            slow = where(residual > SLOW * before, where(goes, same, o), o)
            part = where(slow > 0.0, larger(0.1 * part, o + HARDEST), part)
            before = where(goes, residual, before)
            sticking = where(steps < AT_FIRST, o + EASILY, o + HARDLY)
            both, does_same = _linearize_all(space, part, sticking, slipping, going)
            slipping = o + 1.0
            same = where(goes, does_same, same)
            for i in range(vectors.shape[1]):
                store(vectors, names.STEP, i, o)
            for i in range(space.counts[names.POINTS]):
                n, a, b = load3(points, i, d)
                add_impulse(space, i, n, a, b, names.STEP)
            space.counts[names.NEWTON] += 1
            solve_linear(space, both)
            _find_changes(space, both)
            residual = where(goes, _go(space, going), residual)
            worse = where(residual > before, going, o)
            if any_positive(worse):  # half of it, if that is better
                whole = residual
                residual = where(worse > 0.0, _go(space, -0.5 * worse), residual)
                worse = where(residual > whole, worse, o)
                if any_positive(worse):
                    residual = where(worse > 0.0, _go(space, 0.5 * worse), residual)
            steps = steps + going
            idle = where(residual < STILL * best, o, idle + going)
            best = where(residual < best, residual, best)
            met = where(idle >= IDLE, enough, fine)
            goes_on = where(residual <= met, o, where(steps < most, going, o))
            waits = where(residual <= enough, waits + (going - goes_on), waits)
            going = where(residual < 1e300, goes_on, o)
        return residual

    return coulomb


_coulomb = newtons_method(_fulfil_momentum_of_one, _solve_linear, MOST_COULOMB)
_coulomb_of_trees = newtons_method(_fulfil_momentum, _solve_trees, MOST_IN_LANES)


@generic
def _coulomb_or_back(space: Any, residual: float, fine: float, enough: float, afresh: bool) -> float:
    """`_coulomb`, or, where that has not found enough, impulses and speeds as they were.

    *Afresh* it begins without impulses, and all that comes to touch sticks at first: what friction presses together as it
    slides has no solution but that.
    """
    points, g, c, found, slipping = space.points, names.IMPULSE, names.CENTER, residual, 1.0
    for i in range(space.counts[names.POINTS]):
        for j in range(3):
            points[i, c + j] = points[i, g + j]
            if afresh:
                points[i, g + j] = 0.0
    if afresh:
        slipping = 0.0
        _fulfil_momentum_of_one(space, 1.0)
        found = residual_of(space)
    found = _coulomb(space, found, fine, enough, slipping)
    for i in range(space.counts[names.POINTS]):
        if found <= enough:
            a, b = points[i, names.V + 1], points[i, names.V + 2]
            points[i, names.SHIFT] = points[i, names.FRICTION] * (a * a + b * b) ** 0.5
        else:
            for j in range(3):
                points[i, g + j] = points[i, c + j]
    if found <= enough:
        return found
    _fulfil_momentum_of_one(space, 1.0)
    return residual


@generic
def weigh(model: Any, space: Any) -> None:
    """The mass matrices that are needed, and their factors."""
    clear_masses(space)
    find_masses(model, space)
    for t in range(space.weighed.shape[0]):
        if space.weighed[t] == 1:
            for i in range(space.first_entry[space.first_speed[t]], space.first_entry[space.first_speed[t + 1]]):
                store(space.factor_of_mass, i, 0, load(space.mass, i, 0))
            sparse.factor_tree(space, space.factor_of_mass, space.factor_of_mass, False, t)


@generic
def push_free(space: Any) -> None:
    """Give the speeds without contact what joints do within the step, for which these have the momentum."""
    vectors = space.vectors
    for t in range(space.weighed.shape[0]):
        if space.weighed[t] == 1:
            sparse.solve_tree(space, space.factor_of_mass, t, names.PUSH)
            for i in range(space.first_speed[t], space.first_speed[t + 1]):
                store(vectors, names.FREE, i, load(vectors, names.FREE, i) + load(vectors, names.PUSH, i))


@apart
def find_problem(model: Any, space: Any) -> bool:
    """Rows and pattern of the points, and the masses; False where there is no room for them."""
    counts = space.counts
    counts[names.NEED_POINTS] = counts[names.POINTS]
    counts[names.NEED_COLUMNS] = counts[names.NEED_ROWS] = counts[names.NEED_VALUES] = 0
    if counts[names.POINTS] > space.keys.shape[0]:
        return False
    find_rows(model, space, False)
    counts[names.NEED_COLUMNS] = counts[names.COLUMNS]
    if counts[names.COLUMNS] > space.columns.shape[0]:
        return False
    sparse.find_pattern(space)
    if counts[names.NEED_ROWS] > space.row.shape[0] or counts[names.NEED_VALUES] > space.values.shape[0]:
        counts[names.HAS_PATTERN] = 0  # to be found, and measured, again
        return False
    for node in range(counts[names.NODES]):
        space.weighed[space.tree_of_node[node]] = 1
    weigh(model, space)
    return True


@generic
def _begin(space: Any) -> Any:
    """The residual of the impulses to begin with, the largest velocity that anything has, and the residual that is enough."""
    points, vectors, J = space.points, space.vectors, space.coefficients
    _set_scales(space)
    o = zero(load(vectors, names.FREE, 0))
    # the largest velocity that anything has, or would have, where things touch
    largest = o + 1e-300
    fastest = largest
    for i in range(space.counts[names.POINTS]):
        largest = larger(size_of(load(points, i, names.TARGET)), largest)
    for row in (names.SPEED, names.FREE):
        for i in range(space.counts[names.POINTS]):
            if space.pairs[i, names.KIND] == names.EQUATIONS and space.pairs[0, names.KIND] != names.EQUATIONS:
                continue
            for j in range(3):
                total = o
                for c in range(space.pairs[i, names.BEGIN], space.pairs[i, names.END]):
                    total = total + size_of(load(J, j, c) * load(vectors, row, space.columns[c]))
                largest = larger(total, largest)
            for j in range(3):
                largest = larger(size_of(load(points, i, names.DRIFT + j)), largest)
        if row == names.SPEED:
            fastest = largest
    rests = o
    for i in range(space.counts[names.POINTS]):
        rigid = where(load(points, i, names.LIMIT) < 0.0, o + 1.0, o)
        rests = where(load(points, i, names.COMPLIANCE) == 0.0, where(fastest <= RESTING * largest, rigid, rests), rests)
    enough = where(rests > 0.0, o + ENOUGH_AT_REST, o + ENOUGH) * largest
    _fulfil_momentum(space, o + 1.0)
    return residual_of(space), largest, enough


@routine
def solve(model: Any, block: int, first: int) -> int:
    """The impulses, and the speeds in row NEW, from FREE, SPEED and the impulses to begin with; 1 where that converged.

    *block* is the space's, *first* 0, or 1 where Newton's method on the law has been tried in vain.
    """
    space = names.space_at(block)
    counts, measures = space.counts, space.measures
    counts[names.PROBLEMS] += 1
    residual, largest, enough = _begin(space)
    part, before, last, worst, fine, taken, leave = SOFTEST, 1e300, 1e300, WORST, enough, enough, 2 * PATIENCE
    for i in range(counts[names.POINTS]):
        if space.pairs[i, names.KIND] > names.EQUATIONS:
            enough, fine, taken, worst = EXACT * largest, EXACT * largest, ENOUGH * largest, ENOUGH
            if space.points[i, names.TARGET] > 0.0:  # of depth: no bounce, as surfaces may have
                leave = AFRESH
        elif space.pairs[i, names.KIND] == names.EQUATIONS:
            fine = min(fine, FINE * largest)
    for number in range(MOST):
        if residual <= enough or not residual < 1e300:
            break
        if number % AGAIN == 0 and number >= first:
            residual = _coulomb_or_back(space, residual, fine, taken, number == AFRESH)
            if residual <= enough or (residual <= taken and residual > SETTLED * last):
                break
            last = residual
        counts[names.OUTER] += 1
        if residual > SLOW * before:
            part = max(HARDEST, 0.1 * part)
        part, before = min(part, max(HARD, residual / largest)), residual
        if number == leave:
            _leave_depth(space)
        if number == PATIENCE or number == leave:
            part = SOFTEST
            _forget(space)
        else:
            _follow(space, part, number, number > PATIENCE)
        _newton(space, max(_CLOSE, min(_PART, _PART * residual / largest)))
        _fulfil_momentum_of_one(space, 1.0)
        residual = residual_of(space)
    measures[names.RESIDUAL], measures[names.RELATIVE] = residual, residual / largest
    if not residual <= worst * largest:  # none that a step is taken with
        _note_worst(space)
        return 0
    measures[names.LARGEST] = max(measures[names.LARGEST], residual)
    measures[names.LARGEST_RELATIVE] = max(measures[names.LARGEST_RELATIVE], residual / largest)
    if residual > ENOUGH * largest:
        counts[names.UNCONVERGED] += 1
    return 1


@generic
def solve_in_lanes(space: Any) -> Any:
    """`solve`, of eight states in which no point is between two trees, by Newton's method on the law: 1 where it has not met.

    What it has met has its slips, and a, as `solve` leaves them; for the others that is to be asked.
    """
    points = space.points
    residual, largest, enough = _begin(space)
    fine = enough
    if space.sticks.shape[0] > 0:
        fine, enough = EXACT * largest, ENOUGH * largest
    residual = _coulomb_of_trees(space, residual, fine, enough, zero(residual) + 1.0)
    o = zero(residual)
    for i in range(space.counts[names.POINTS]):
        _, a, b = load3(points, i, names.V)
        store(points, i, names.SHIFT, load(points, i, names.FRICTION) * sqrt(a * a + b * b))
    return where(residual <= enough, o, o + 1.0)
