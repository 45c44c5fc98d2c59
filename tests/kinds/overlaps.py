"""Two surfaces in given poses, and the rows that their pair's routine finds, compiled or not, of numbers or of Duals."""

import ctypes
from types import SimpleNamespace

import numpy as np

import mobod as mb
from mobod.contact.pairs import PAIRS


class Two:
    """Surfaces of two shapes, each on a body that moves freely."""

    def __init__(self, first, second):
        self.system = mb.MultibodySystem()
        matter = mb.SimbodyMatterSubsystem(self.system)
        mb.GeneralForceSubsystem(self.system)
        self.contacts = mb.CompliantContactSubsystem(self.system)
        material = mb.contact.Material(stiffness=1e5)
        mass = mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1))
        self.bodies = []
        for shape in (first, second):
            body = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mass))
            body.add_contact_surface(mb.contact.Surface(shape, material, thickness=0.1, draws=False))
            self.bodies.append(body)
        self.state = self.system.realize_topology()
        kinds = [first.KIND, second.KIND]
        self.lower = 0 if kinds[0] <= kinds[1] else 1
        self.pair = (self.lower, 1 - self.lower, 0)
        self.routine = PAIRS[kinds[self.lower], kinds[1 - self.lower]]

    def place(self, *poses):
        """Set the poses of both surfaces; a number of lower kind first."""
        for i, X in enumerate(poses):
            X = X if isinstance(X, mb.Transform) else mb.Transform(X)
            frame = self.state.record.surface_frame
            frame[i, :9], frame[i, 9:12] = np.asarray(X.R).ravel(), X.p
        return self

    def rows(self, compiled=False):
        """The rows, as fields."""
        record = self.state.record
        count = run(self.routine, record, self.pair, compiled)
        return fields(record.contact_point[:count])

    def tangents(self, poses, along, compiled=True):
        """The rows of Duals, and their derivative, where the poses' twelve numbers have these tangents."""
        record = self.state.tree.new_record(with_tangents=True)
        for i, X in enumerate(poses):
            numbers = np.concatenate([np.asarray(X.R).ravel(), X.p])
            record.surface_frame.values[i, :12] = numbers
            record.surface_frame.tangents[i, :12, 0] = along[i]
        count = run(self.routine, record, self.pair, compiled, with_tangents=True)
        return record.contact_point.values[:count].copy(), record.contact_point.tangents[:count, :, 0].copy()


def run(routine, record, pair, compiled, **scalar):
    if not compiled:
        return routine.python(record, *pair)
    entry = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, *[ctypes.c_int64] * 3)
    return entry(routine.address(**scalar))(record.pointer, *pair)


def fields(rows):
    rows = rows.copy()
    return SimpleNamespace(
        count=len(rows),
        point=rows[:, 0:3],
        normal=rows[:, 3:6],
        depth=rows[:, 6],
        law=rows[:, 7],
        one=rows[:, 8],
        two=rows[:, 9],
        feature=rows[:, 10].astype(int),
        side=rows[:, 11].astype(int),
    )


def icosphere(radius=1.0, times=2):
    """A ball of triangles, 20 * 4^times of them."""
    g = (1.0 + 5.0**0.5) / 2.0
    corners = [(-1, g, 0), (1, g, 0), (-1, -g, 0), (1, -g, 0), (0, -1, g), (0, 1, g)]
    corners += [(0, -1, -g), (0, 1, -g), (g, 0, -1), (g, 0, 1), (-g, 0, -1), (-g, 0, 1)]
    # fmt: off
    faces = [(0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6),
             (7, 1, 8), (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11), (6, 2, 10), (8, 6, 7),
             (9, 8, 1)]
    # fmt: on
    return refined(np.array(corners, float), np.array(faces), times, lambda p: radius * p / np.linalg.norm(p, axis=1)[:, None])


def refined(vertices, faces, times, project=lambda p: p):
    """Each face divided into four, again and again."""
    for _ in range(times):
        sides = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
        edges, index = np.unique(sides, axis=0, return_inverse=True)
        ab, bc, ca = len(vertices) + index.reshape(3, -1)
        a, b, c = faces.T
        vertices = np.concatenate([vertices, vertices[edges].mean(axis=1)])
        faces = np.concatenate([np.stack(f, axis=1) for f in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
    return project(vertices), faces


def cube(half=(0.5, 0.5, 0.5), times=0):
    """A box of triangles, 12 * 4^times of them."""
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float) * half
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return refined(corners, np.array([f for a, b, c, d in quads for f in ((a, b, c), (a, c, d))]), times)


def horseshoe(times=0):
    """A body that is not convex: three cubes in a row with one more on either end, faces inside left out."""
    cells = {(0, 0), (1, 0), (2, 0), (0, 1), (2, 1)}
    vertices, faces = [], []
    offsets = cube((0.5, 0.5, 0.5))[0] + 0.5
    _, triangles = cube()
    normals = {}
    for f in triangles:
        a, b, c = offsets[f]
        n = tuple(np.round(np.cross(b - a, c - a)).astype(int))
        normals.setdefault(n, []).append(f)
    for x, y in cells:
        for n, those in normals.items():
            if n[2] == 0 and (x + n[0], y + n[1]) in cells:
                continue
            for f in those:
                faces.append([len(vertices) + k for k in range(3)])
                vertices += (offsets[f] + (x, y, 0.0)).tolist()
    places, index = np.unique(np.array(vertices), axis=0, return_inverse=True)
    return refined(places - (1.5, 1.0, 0.5), index.reshape(-1)[np.array(faces)], times)


def random_pose(rng, size=1.0):
    """A random pose, its translation within a size."""
    q = rng.normal(size=4)
    return mb.Transform(mb.Rotation.from_quaternion(q / np.linalg.norm(q)), rng.uniform(-size, size, 3))


def tangents_are_differences(two, poses, rng, tolerance=2e-6, columns=(0, 1, 2, 3, 4, 5, 6, 8, 9), compiled=True):
    """Check the rows' tangents against central differences, along a random motion of both surfaces; good to about 1e-7."""
    h = 1e-6
    twists = [(rng.normal(size=3), rng.normal(size=3)) for _ in poses]

    def moved(sign):
        return [
            mb.Transform(mb.Rotation.about_axis(sign * h * np.linalg.norm(w), w) @ X.R, X.p + sign * h * v)
            for X, (w, v) in zip(poses, twists, strict=True)
        ]

    sides = []
    for sign in (1.0, -1.0):
        two.place(*moved(sign))
        count = run(two.routine, two.state.record, two.pair, compiled)
        sides.append(two.state.record.contact_point[:count].copy())
    along = []
    for X, (w, v) in zip(poses, twists, strict=True):
        along.append(np.concatenate([np.cross(w, np.asarray(X.R), axisb=0, axisc=0).ravel(), v]))
    two.place(*poses)
    count = run(two.routine, two.state.record, two.pair, compiled)
    plain = two.state.record.contact_point[:count].copy()
    values, tangents = two.tangents(poses, along, compiled)
    assert len(values) == count and np.isfinite(tangents[:, :12]).all()
    assert np.allclose(values[:, :12], plain[:, :12], rtol=1e-12, atol=1e-12)
    assert [len(side) for side in sides] == [count, count], "a face came or went: the step is too long"
    slope = (sides[0] - sides[1]) / (2.0 * h)
    columns = list(columns)
    assert np.allclose(tangents[:, columns], slope[:, columns], rtol=tolerance, atol=tolerance)
    return count
