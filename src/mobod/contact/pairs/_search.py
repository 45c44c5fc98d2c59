"""The direction in which two convex cores overlap least, or are apart: GJK and EPA, in numbers without tangents.

C is the set of all a - b, a of core A and b of core B, in A's frame; they overlap where C contains the origin. Apart, n is the
direction of C's nearest point (Gilbert, Johnson and Keerthi 1988, IEEE J. Robot. Autom. 4(2)). Overlapping, a polyhedron inside
C grows where its boundary is nearest to the origin (van den Bergen 2001, Proximity Queries and Penetration Depth
Computation on 3D Game Objects): exact for polyhedra, and for curved ones as near as the room below lets it come, a ten
thousandth of their size as a rule, from where `_refine` goes on. There is room for MOST_VERTICES vertices; where that is used
up the best direction so far is the answer, whose overlap is never less than the least.
"""

from __future__ import annotations

from typing import Any

from ...algebra import mat33, vec3
from ...algebra.scalar import load, scratch, sqrt, store
from ...compiling import generic
from ..shape import CONVEX_HULL, ELLIPSOID
from ._core import is_smooth, support
from ._rivals import ALIKE, ALIKE_CURVED, MOST, WINDOW, is_alike, note

MOST_VERTICES, _MOST_FACES, _MOST_EDGES = 96, 192, 192
_NONE = 1e300
#: What the search does: GJK, corners for a tetrahedron with a volume, EPA; and how often.
_GJK, _VOLUME, _EPA = range(3)
_MOST_GJK, _TURNS = 64, 256
#: Of the square of a distance, the part by which it may differ from what its direction shows.
_SOUND = 1e-4


@generic
def difference(model: Any, A: Any, B: Any, R: Any, p: Any, d: Any, i: int, j: int) -> Any:
    """The point of C that is farthest along d, and where the search for vertices of hulls ended."""
    a, i = support(model, A, d, i)
    b, j = support(model, B, vec3.neg(mat33.transpose_mul_vec(R, d)), j)
    return vec3.sub(a, vec3.add(p, mat33.mul_vec(R, b))), i, j


@generic
def _get(rows: Any, i: int) -> Any:
    return load(rows, i, 0), load(rows, i, 1), load(rows, i, 2)


@generic
def _put(rows: Any, i: int, v: Any) -> None:
    store(rows, i, 0, v[0])
    store(rows, i, 1, v[1])
    store(rows, i, 2, v[2])


@generic
def _nearest_of_triangle(a: Any, b: Any, c: Any) -> Any:
    """Weights of the corners at the point of a triangle that is nearest to the origin (Ericson 2005, section 5.1.5)."""
    ab, ac = vec3.sub(b, a), vec3.sub(c, a)
    d1, d2 = -vec3.dot(ab, a), -vec3.dot(ac, a)
    if d1 <= 0.0 and d2 <= 0.0:
        return 1.0, 0.0, 0.0
    d3, d4 = -vec3.dot(ab, b), -vec3.dot(ac, b)
    if d3 >= 0.0 and d4 <= d3:
        return 0.0, 1.0, 0.0
    d5, d6 = -vec3.dot(ab, c), -vec3.dot(ac, c)
    if d6 >= 0.0 and d5 <= d6:
        return 0.0, 0.0, 1.0
    w = d1 * d4 - d3 * d2
    if w <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        t = d1 / (d1 - d3)
        return 1.0 - t, t, 0.0
    v = d5 * d2 - d1 * d6
    if v <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        t = d2 / (d2 - d6)
        return 1.0 - t, 0.0, t
    u = d3 * d6 - d5 * d4
    if u <= 0.0 and d4 >= d3 and d5 >= d6:
        t = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return 0.0, 1.0 - t, t
    total = u + v + w
    return u / total, v / total, w / total


@generic
def _reduce(points: Any, m: int, flat: float) -> Any:
    """The point of a simplex of m corners that is nearest to the origin; the corners that it needs are kept, and counted.

    A simplex of a height whose square is *flat* or less contains nothing.
    """
    a = _get(points, 0)
    if m == 1:
        return a, 1
    b = _get(points, 1)
    if m == 2:
        ab = vec3.sub(b, a)
        along, square = -vec3.dot(a, ab), vec3.dot(ab, ab)
        if along <= 0.0:
            return a, 1
        if along >= square:
            _put(points, 0, b)
            return b, 1
        return vec3.add_scaled(a, along / square, ab), 2
    least, best, wi, wj, wk = _NONE, (0.0, 0.0, 0.0), 1.0, 0.0, 0.0
    fi, fj, fk = 0, 1, 2
    for f in range(1 if m == 3 else 4):
        # the face without corner f + 3, counted round
        i, j, k, other = f % m, (f + 1) % m, (f + 2) % m, (f + 3) % m
        a, b, c = _get(points, i), _get(points, j), _get(points, k)
        outside = True
        if m == 4:
            n = vec3.cross(vec3.sub(b, a), vec3.sub(c, a))
            height = vec3.dot(n, vec3.sub(_get(points, other), a))
            outside = vec3.dot(n, a) * height >= 0.0 or height * height <= flat * vec3.dot(n, n)
        if outside:
            u, v, w = _nearest_of_triangle(a, b, c)
            x = vec3.add_scaled(vec3.add_scaled(vec3.scale(u, a), v, b), w, c)
            square = vec3.dot(x, x)
            if square < least:
                least, best, wi, wj, wk, fi, fj, fk = square, x, u, v, w, i, j, k
    if least == _NONE:
        return best, 4
    a, b, c = _get(points, fi), _get(points, fj), _get(points, fk)
    m = 0
    if wi > 0.0:
        _put(points, m, a)
        m += 1
    if wj > 0.0:
        _put(points, m, b)
        m += 1
    if wk > 0.0:
        _put(points, m, c)
        m += 1
    return best, m


@generic
def _add_face(points: Any, faces: Any, f: int, i: int, j: int, k: int) -> None:
    """Face f: its corners, its outward normal, its distance from the origin; of a sliver a distance that is never least."""
    a = _get(points, i)
    n = vec3.cross(vec3.sub(_get(points, j), a), vec3.sub(_get(points, k), a))
    square = vec3.dot(n, n)
    distance = _NONE
    if square > 0.0:
        n = vec3.scale(1.0 / sqrt(square), n)
        distance = vec3.dot(n, a)
    store(faces, f, 0, float(i))
    store(faces, f, 1, float(j))
    store(faces, f, 2, float(k))
    store(faces, f, 3, n[0])
    store(faces, f, 4, n[1])
    store(faces, f, 5, n[2])
    store(faces, f, 6, distance)
    store(faces, f, 7, 1.0)


@generic
def _toggle(edges: Any, n: int, a: float, b: float) -> int:
    """Add the edge from a to b to the list, or take out the one from b to a; the number of edges after that."""
    for e in range(n):
        if load(edges, e, 0) == b and load(edges, e, 1) == a:
            store(edges, e, 0, load(edges, n - 1, 0))
            store(edges, e, 1, load(edges, n - 1, 1))
            return n - 1
    store(edges, n, 0, a)
    store(edges, n, 1, b)
    return n + 1


@generic
def _outward(faces: Any, f: int) -> Any:
    return load(faces, f, 3), load(faces, f, 4), load(faces, f, 5)


@generic
def _put_tetrahedron(points: Any, faces: Any) -> None:
    """The first four faces: of the first four points, which are put in an order that makes their normals point outward."""
    a, b, c = _get(points, 0), _get(points, 1), _get(points, 2)
    if vec3.dot(vec3.cross(vec3.sub(b, a), vec3.sub(c, a)), vec3.sub(_get(points, 3), a)) > 0.0:
        _put(points, 1, c)
        _put(points, 2, b)
    for f in range(4):
        _add_face(points, faces, f, (0, 0, 0, 1)[f], (1, 2, 3, 3)[f], (2, 3, 1, 2)[f])


@generic
def _nearest_face(faces: Any, num_faces: int) -> Any:
    """Distance and number of the face in use that is nearest to the origin; -1 where there is none."""
    least, nearest = _NONE, -1
    for f in range(num_faces):
        if load(faces, f, 7) == 1.0 and load(faces, f, 6) < least:
            least, nearest = load(faces, f, 6), f
    return least, nearest


@generic
def _expand(points: Any, faces: Any, lists: Any, num_faces: int, num_free: int, m: int, above: float) -> Any:
    """Replace the faces that point m is *above* by faces from their outline to it: false where there is no room for them.

    *lists* are room for the edges of the outline, and the numbers of faces not in use; after the answer stand how many faces
    have been made, and how many are not in use.
    """
    (edges, free), w, num_edges = lists, _get(points, m), 0
    for f in range(num_faces):
        if load(faces, f, 7) > 0.0 and vec3.dot(_outward(faces, f), w) - load(faces, f, 6) > above:
            if num_edges + 3 > _MOST_EDGES:
                return False, num_faces, num_free
            store(faces, f, 7, 0.0)
            store(free, num_free, 0, float(f))
            num_free += 1
            for k in range(3):
                num_edges = _toggle(edges, num_edges, load(faces, f, k), load(faces, f, (k + 1) % 3))
    for e in range(num_edges):
        if num_free > 0:
            num_free -= 1
            f = int(load(free, num_free, 0))
        elif num_faces < _MOST_FACES:
            f = num_faces
            num_faces += 1
        else:
            return False, num_faces, num_free
        _add_face(points, faces, f, int(load(edges, e, 0)), int(load(edges, e, 1)), m)
    return True, num_faces, num_free


@generic
def _direction(points: Any, m: int, trial: int) -> Any:
    """The direction in which to look for one more corner of a simplex that is to get a volume."""
    side, axis = 1.0 if trial % 2 == 0 else -1.0, trial // 2
    e = (side if axis == 0 else 0.0, side if axis == 1 else 0.0, side if axis == 2 else 0.0)
    if m < 2:
        return e
    ab = vec3.sub(_get(points, 1), _get(points, 0))
    if m == 2:
        return vec3.cross(ab, e)
    return vec3.scale(side, vec3.cross(ab, vec3.sub(_get(points, 2), _get(points, 0))))


@generic
def _extent(points: Any, m: int, w: Any) -> float:
    """The distance of w from the point, line or plane of a simplex, times what that measures."""
    a = _get(points, 0)
    aw = vec3.sub(w, a)
    if m == 1:
        return sqrt(vec3.dot(aw, aw))
    ab = vec3.sub(_get(points, 1), a)
    n = vec3.cross(ab, aw)
    if m == 2:
        return sqrt(vec3.dot(n, n) / vec3.dot(ab, ab))
    n = vec3.cross(ab, vec3.sub(_get(points, 2), a))
    return abs(vec3.dot(n, aw)) / sqrt(vec3.dot(n, n))


@generic
def _known(rivals: Any, found: int, n: Any, best: float, i: int, j: int) -> int:
    """The number of directions, of which the best so far is one if there is no other."""
    return found if found > 0 else note(rivals, 0, n, best, i, j)


@generic
def _is_sharp(core: Any) -> bool:
    """True of a polyhedron or a cylinder, of which several directions count."""
    return core[6] == 0.0 and core[0] != ELLIPSOID


@generic
def guessed(A: Any, B: Any) -> bool:
    """True of two cores of which several directions count, and what `search` finds are guesses of these."""
    return _is_sharp(A) and _is_sharp(B) and (is_smooth(A) or is_smooth(B))


@generic
def search(model: Any, A: Any, B: Any, R: Any, p: Any, margin: float, size: float, small: float, rivals: Any) -> int:
    """Directions, in A's frame, from A to B, with vertices of hulls near it, in rows of *rivals*; how many, 0 where apart.

    Of polyhedra and cylinders these are all that count beside the best one, of others that one alone.

    *R* and *p* place B in A's frame; *margin* is how far cores may be apart and touch yet, *size* a length of both,
    *small* one of the smaller.
    """
    points, faces, edges = scratch(MOST_VERTICES, 3), scratch(_MOST_FACES, 8), scratch(_MOST_EDGES, 2)
    free = scratch(_MOST_FACES, 1)
    v, m, i, j = vec3.neg(p), 0, 0, 0
    if vec3.dot(v, v) == 0.0:
        v = (1.0, 0.0, 0.0)
    flat, enough, close, most, alike = 1e-24 * size * size, 1e-10 * size, 1e-12, MOST, ALIKE
    if is_smooth(A) or is_smooth(B):
        enough, close, most, alike = 1e-4 * small, 1e-6, 3 * MOST, ALIKE_CURVED  # of which several can be guesses of one
        if B[0] == CONVEX_HULL:  # which of its many edges is touched is decided here
            enough = 1e-6 * small
    d, n, best, least = vec3.neg(v), v, _NONE, 0.0
    several = _is_sharp(A) and _is_sharp(B)
    phase, trial, num_faces, num_free, chosen, found = _GJK, 0, 0, 0, 0, 0
    # one loop, and one place where points of C are found, which is most of the code
    for turn in range(_TURNS):
        w, i, j = difference(model, A, B, R, p, d, i, j)
        if phase == _GJK:
            vv, vw = vec3.dot(v, v), vec3.dot(v, w)
            if vw > 0.0 and vw * vw > margin * margin * vv:
                return 0
            known = m > 0 and vv - vw <= close * vv + 1e-16 * size * size
            for k in range(m):
                a = _get(points, k)
                known = known or (a[0] == w[0] and a[1] == w[1] and a[2] == w[2])
            if not known:
                _put(points, m, w)
                u, m = _reduce(points, m + 1, flat)
                uu = vec3.dot(u, u)
                if m == 4 or uu <= flat:
                    phase = _VOLUME  # the origin is inside, or on the boundary
                # rounding, in a simplex that is a sliver, has the last word: the point before was nearer
                known = phase == _GJK and turn > 0 and uu >= vv
                if not known:
                    v = u
            if phase == _GJK and (known or turn > _MOST_GJK):
                # where they all but touch, v is rounding: a direction counts that tells how far they are apart
                if vv - vw <= _SOUND * vv:
                    return note(rivals, 0, vec3.scale(-1.0 / sqrt(vec3.dot(v, v)), v), 0.0, i, j)
                phase = _VOLUME
        elif phase == _VOLUME:
            if vec3.dot(d, d) > 0.0 and _extent(points, m, w) > 1e-9 * size:
                _put(points, m, w)
                m += 1
                trial = 0
            elif trial == 6:
                return 0
        else:
            reach = vec3.dot(d, w)
            if reach < -margin:
                return 0
            if reach < best:
                n, best = d, reach
            proven = reach - least <= enough
            if m == MOST_VERTICES or (not several and (proven or best - least <= enough)):
                return _known(rivals, found, n, best, i, j)
            if proven:
                if not is_alike(rivals, found, d, alike):
                    found = note(rivals, found, d, reach, i, j)
                store(faces, chosen, 7, 2.0)
            else:
                _put(points, m, w)
                grown, num_faces, num_free = _expand(points, faces, (edges, free), num_faces, num_free, m, 1e-12 * size)
                if not grown:
                    return _known(rivals, found, n, best, i, j)
                m += 1
        if phase == _GJK:
            d = vec3.neg(v)
        elif phase == _VOLUME and m < 4:
            d = _direction(points, m, trial)
            trial += 1
        else:
            if phase == _VOLUME:
                phase, num_faces = _EPA, 4
                _put_tetrahedron(points, faces)
            least, chosen = _nearest_face(faces, num_faces)
            if chosen < 0 or found == most or (found > 0 and least * least >= (1.0 + WINDOW) * best * best):
                return _known(rivals, found, n, best, i, j)
            d = _outward(faces, chosen)
    return _known(rivals, found, n, best, i, j)
