"""The faces of a mesh in a tree of boxes: made in NumPy, walked by kernels.

The tree is balanced and complete, so that it needs no pointers: node 1 is the root, 2 k and 2 k + 1 are below k, and leaf j of
2^levels, which is node 2^levels + j, has the faces from F j / 2^levels to F (j + 1) / 2^levels, rounded down, of all F in the
order of the tree. Each node's faces are split in two equal halves along the axis on which their centroids are spread
most. A walk through all of it needs no stack, and the search for what is nearest one bit a level.

Integers of a mesh: the number of faces, levels, where in the constants the numbers of faces begin, those of vertices,
those of edges; then of each face, in the tree's order, its number as the user has it, its vertices and its edges; edge i is
opposite vertex i. Constants: of each node, from node 0, which there is not, its box: center and half lengths. Of each face its
corners, centroid, outward normal and area. Of each vertex and of each edge its normal: the sum of its faces' normals, at a
vertex each times the face's angle there, which tells inside from outside (Baerentzen and Aanaes 2005).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..algebra import vec3
from ..algebra.arrays import Array, Indices
from ..algebra.scalar import bare, load_lane, sqrt
from ..compiling import generic

#: Integers before those of faces, and of each face.
HEADER, INTEGERS = 5, 7
#: Numbers of each face: corners, from CENTROID on its centroid, from NORMAL on its normal, and its area.
CENTROID, NORMAL, AREA, NUMBERS = 9, 12, 15, 16
#: Numbers of a node.
_BOX = 6
#: The most faces of a leaf; with fewer the boxes cost more than the faces that they spare.
_LEAF = 4


# ---------------------------------------------------------------------------------------------- making


def build(vertices: Array, faces: Indices) -> tuple[list[int], Array]:
    """The integers and constants of a closed mesh of triangles."""
    count = len(faces)
    corners = vertices[faces]
    levels = 0
    while count > _LEAF << levels:
        levels += 1
    order = _order(corners.mean(axis=1), levels)
    edges, number_of_edges = _edges(faces)
    normals, area = normals_and_areas(corners)
    of_vertices, of_edges = _pseudonormals(faces, edges, corners, normals, len(vertices), number_of_edges)
    centroids = corners.mean(axis=1)
    of_faces = np.concatenate([corners.reshape(-1, 9), centroids, normals, area[:, None]], axis=1)[order]
    boxes = _boxes(corners[order], levels)
    first = boxes.size
    second = first + of_faces.size
    third = second + of_vertices.size
    integers = np.concatenate([order[:, None], faces[order], edges[order]], axis=1)
    head = [count, levels, first, second, third]
    return head + integers.ravel().tolist(), np.concatenate([a.ravel() for a in (boxes, of_faces, of_vertices, of_edges)])


def normals_and_areas(corners: Array) -> tuple[Array, Array]:
    """Of triangles, (n, 3, 3); faces without an area have no normal, but zeros."""
    product = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    twice = np.linalg.norm(product, axis=1)
    return product / np.where(twice > 0.0, twice, 1.0)[:, None], 0.5 * twice


def _starts(count: int, level: int) -> Indices:
    """First faces of the nodes of a level, and the end of the last node's."""
    return (count * np.arange((1 << level) + 1)) >> level


def _order(points: Array, levels: int) -> Indices:
    """The tree's order of the faces with these centroids."""
    count = len(points)
    order = np.arange(count)
    for level in range(levels):
        starts = _starts(count, level)
        node = np.repeat(np.arange(1 << level), np.diff(starts))
        here = points[order]
        low, high = np.minimum.reduceat(here, starts[:-1]), np.maximum.reduceat(here, starts[:-1])
        axis = np.argmax(high - low, axis=1)
        each = np.arange(1 << level)
        width = np.maximum((high - low)[each, axis], np.finfo(np.float64).tiny)
        part = (here[np.arange(count), axis[node]] - low[each, axis][node]) / width[node]
        order = order[np.argsort(node + 0.5 * np.clip(part, 0.0, 1.0), kind="stable")]
    return order


def _boxes(corners: Array, levels: int) -> Array:
    """Center and half lengths of all nodes; of node 0 zeros."""
    starts = _starts(len(corners), levels)[:-1]
    low = [np.minimum.reduceat(corners.min(axis=1), starts)]
    high = [np.maximum.reduceat(corners.max(axis=1), starts)]
    for _ in range(levels):
        low.append(np.minimum(low[-1][::2], low[-1][1::2]))
        high.append(np.maximum(high[-1][::2], high[-1][1::2]))
    least, most = np.concatenate([np.zeros((1, 3)), *low[::-1]]), np.concatenate([np.zeros((1, 3)), *high[::-1]])
    return np.concatenate([0.5 * (least + most), 0.5 * (most - least)], axis=1)


def _edges(faces: Indices) -> tuple[Indices, int]:
    """The number of the edge opposite each vertex of each face, and how many there are."""
    a, b = faces[:, [1, 2, 0]], faces[:, [2, 0, 1]]
    key = np.minimum(a, b) * (int(faces.max()) + 1) + np.maximum(a, b)
    unique, number = np.unique(key, return_inverse=True)
    return number.reshape(faces.shape), len(unique)


def _pseudonormals(faces: Indices, edges: Indices, corners: Array, normals: Array, nv: int, ne: int) -> tuple[Array, Array]:
    """Of vertices and of edges."""
    of_vertices, of_edges = np.zeros((nv, 3)), np.zeros((ne, 3))
    for i in range(3):
        u, v = (corners[:, (i + k) % 3] - corners[:, i] for k in (1, 2))
        angle = np.arctan2(np.linalg.norm(np.cross(u, v), axis=1), np.einsum("ij,ij->i", u, v))
        for axis in range(3):
            of_vertices[:, axis] += np.bincount(faces[:, i], angle * normals[:, axis], nv)
            of_edges[:, axis] += np.bincount(edges[:, i], normals[:, axis], ne)
    return of_vertices, of_edges


# ---------------------------------------------------------------------------------------------- reading


@generic
def constant3(model: Any, i: int) -> Any:
    """Three constants from place i on."""
    rows = model.contact_constants
    return bare(load_lane(rows, i, 0, 0)), bare(load_lane(rows, i + 1, 0, 0)), bare(load_lane(rows, i + 2, 0, 0))


@generic
def num_faces(model: Any, m: int) -> int:
    """Number of faces that the mesh of surface m has."""
    return model.contact_integers[model.surface_first_integer[m]]


@generic
def numbers_of_face(model: Any, m: int, f: int) -> int:
    """The place in contact_constants of those of the f-th face of the tree."""
    return model.surface_first_constant[m] + model.contact_integers[model.surface_first_integer[m] + 2] + f * NUMBERS


@generic
def users_number(model: Any, m: int, f: int) -> int:
    """The number that the user knows the f-th face of the tree by."""
    return model.contact_integers[model.surface_first_integer[m] + HEADER + f * INTEGERS]


@generic
def box(model: Any, m: int, node: int) -> Any:
    """The center and the half lengths of a node, in the mesh's frame."""
    i = model.surface_first_constant[m] + node * _BOX
    return constant3(model, i), constant3(model, i + 3)


# ---------------------------------------------------------------------------------------------- walking


def walking(outside: Callable[..., Any], visit: Callable[..., Any]) -> Callable[..., Any]:
    """A walk through the faces of a mesh, those in boxes that are outside left out.

    ``outside(model, m, center, half_lengths, size, count, k)`` says of a box in the frame of mesh m, which has about *size*
    faces, whether it can be passed over. ``visit(model, m, f, count, k)`` gets face f of the tree and returns the new count, or
    whatever the two count by one integer.
    """

    @generic
    def walk(model: Any, m: int, count: int, k: Any) -> int:
        first = model.surface_first_integer[m]
        faces, levels = model.contact_integers[first], model.contact_integers[first + 1]
        leaves, node, size = 1 << levels, 1, faces
        while node > 0:
            center, half = box(model, m, node)
            if not outside(model, m, center, half, size, count, k):
                if node < leaves:
                    node, size = 2 * node, size >> 1
                    continue
                j = node - leaves
                for f in range((faces * j) >> levels, (faces * (j + 1)) >> levels):
                    count = visit(model, m, f, count, k)
            while node & 1 == 1:  # up, as long as it is the second of two
                node, size = node >> 1, size << 1
            if node > 0:
                node = node + 1
        return count

    return walk


# ---------------------------------------------------------------------------------------------- nearest


@generic
def _beyond(x: float, c: float, h: float) -> float:
    d = abs(x - c) - h
    return d * d if d > 0.0 else 0.0


@generic
def _square_to_box(model: Any, m: int, node: int, x: Any) -> float:
    """The squared distance from x to a node's box."""
    c, h = box(model, m, node)
    return _beyond(x[0], c[0], h[0]) + _beyond(x[1], c[1], h[1]) + _beyond(x[2], c[2], h[2])


@generic
def nearest_of_triangle(x: Any, a: Any, b: Any, c: Any) -> Any:
    """The point nearest to x of a triangle, as shares (v, w) of its sides from a, and what it lies on.

    That is 0, the inside; 1 to 3, a corner; 4 to 6, the side opposite corner 1 to 3. (Ericson 2005, section 5.1.5.)
    """
    ab, ac, ax = vec3.sub(b, a), vec3.sub(c, a), vec3.sub(x, a)
    d1, d2 = vec3.dot(ab, ax), vec3.dot(ac, ax)
    if d1 <= 0.0 and d2 <= 0.0:
        return 0.0, 0.0, 1
    bx = vec3.sub(x, b)
    d3, d4 = vec3.dot(ab, bx), vec3.dot(ac, bx)
    if d3 >= 0.0 and d4 <= d3:
        return 1.0, 0.0, 2
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        return d1 / (d1 - d3), 0.0, 6
    cx = vec3.sub(x, c)
    d5, d6 = vec3.dot(ab, cx), vec3.dot(ac, cx)
    if d6 >= 0.0 and d5 <= d6:
        return 0.0, 1.0, 3
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        return 0.0, d2 / (d2 - d6), 5
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return 1.0 - w, w, 4
    total = 1.0 / (va + vb + vc)
    return vb * total, vc * total, 0


@generic
def _square_to_face(model: Any, m: int, f: int, x: Any) -> float:
    """The squared distance from x to a face."""
    i = numbers_of_face(model, m, f)
    a, b, c = constant3(model, i), constant3(model, i + 3), constant3(model, i + 6)
    v, w, _ = nearest_of_triangle(x, a, b, c)
    r = vec3.sub(vec3.add_scaled(vec3.add_scaled(vec3.scale(1.0 - v - w, a), v, b), w, c), x)
    return vec3.dot(r, r)


@generic
def nearest_face(model: Any, m: int, x: Any, guess: int) -> int:
    """The face, in the tree's order, of mesh m that is nearest to x in its frame; *guess*, a face, should be near it.

    The search begins at the leaf of the guess and looks at what is beside the way up from there.
    """
    first = model.surface_first_integer[m]
    faces, levels = model.contact_integers[first], model.contact_integers[first + 1]
    leaves = 1 << levels
    node = leaves + ((guess + 1) * leaves - 1) // faces
    left = leaves - 1  # a bit for each level, the lowest for that of the node: whether its sibling is still to be looked at
    found, best = guess, 1e300
    while node > 0:
        if node < leaves:
            near, far = 2 * node, 2 * node + 1
            square, other = _square_to_box(model, m, near, x), _square_to_box(model, m, far, x)
            if other < square:
                near, square, other = far, other, square
            if square < best:
                left = left << 1
                if other < best:
                    left = left | 1
                node = near
                continue
        else:
            j = node - leaves
            for f in range((faces * j) >> levels, (faces * (j + 1)) >> levels):
                square = _square_to_face(model, m, f, x)
                if square < best:
                    found, best = f, square
        while node > 0:
            if left & 1 == 1 and _square_to_box(model, m, node ^ 1, x) < best:
                node, left = node ^ 1, left ^ 1
                break
            node, left = node >> 1, left >> 1
    return found


@generic
def nearest_on_mesh(model: Any, m: int, x: Any, f: int) -> Any:
    """From face f, the nearest to x: how deep x is inside, below zero if it is outside, and the mesh's outward normal there.

    The normal is along the line from x to the nearest point, and the face's own where that is within the face.
    """
    i = numbers_of_face(model, m, f)
    a, b, c = constant3(model, i), constant3(model, i + 3), constant3(model, i + 6)
    _, _, part = nearest_of_triangle((bare(x[0]), bare(x[1]), bare(x[2])), a, b, c)
    normal = constant3(model, i + NORMAL)
    r = vec3.sub(a, x)
    if part == 0:
        o = 0.0 * r[0]
        return vec3.dot(normal, r), (o + normal[0], o + normal[1], o + normal[2])
    start = model.surface_first_integer[m]
    those = start + HEADER + f * INTEGERS
    integers, numbers = model.contact_integers, model.surface_first_constant[m]
    if part <= 3:
        mean = constant3(model, numbers + integers[start + 3] + 3 * integers[those + part])
        o = 0.0 * r[0]
        corner = where3(part, a, b, c)
        r = vec3.sub((o + corner[0], o + corner[1], o + corner[2]), x)
    else:
        mean = constant3(model, numbers + integers[start + 4] + 3 * integers[those + part])
        p, q = where3(part - 3, b, c, a), where3(part - 3, c, a, b)
        side = vec3.sub(q, p)
        r = vec3.sub(p, x)
        r = vec3.add_scaled(r, -vec3.dot(r, side) / vec3.dot(side, side), side)
    square = vec3.dot(r, r)
    scale = vec3.dot(mean, mean)
    if square <= 1e-28 * vec3.dot(vec3.sub(b, a), vec3.sub(b, a)):  # on the surface: the line has no direction
        o = 0.0 * square
        unit = vec3.scale(1.0 / sqrt(scale), mean)
        return vec3.dot(unit, r), (o + unit[0], o + unit[1], o + unit[2])
    distance = sqrt(square)
    if vec3.dot(r, mean) < 0.0:
        distance = -distance
    return distance, vec3.scale(1.0 / distance, r)


@generic
def where3(which: int, a: Any, b: Any, c: Any) -> Any:
    """The first, second or third, as *which* is 1, 2 or 3."""
    if which == 1:
        return a
    if which == 2:
        return b
    return c
