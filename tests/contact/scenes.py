"""Two surfaces on free bodies, and what is known of their overlap without the package: NumPy's supports, and coal.

The least overlap of two convex bodies is the least value, over unit vectors n, of h(n) = max n.a - min n.b: whatever n a pair's
routine gives, h(n) is what its depth has to be, and no sample of h may be less. Coal's GJK and EPA are beside; for curved
bodies that overlap deeply they often end at a larger overlap, or give none.
"""

import numpy as np

import mobod as mb
from mobod import Stage
from mobod.algebra.record import attach, call_routine
from mobod.compiling import compiled
from mobod.contact.access import NORMAL, POINT
from mobod.derivative.contacts import contribute_pair
from mobod.force.contact.element import ContactElement
from mobod.state.validity import FORCES, POSITIONS, VELOCITIES
from mobod.tree import realize as _realize

contact = mb.contact
RUBBER = contact.Material(1e5)
_TABLE = [(x, y, z) for x in (-0.3, 0.3) for y in (-0.4, 0.4) for z in (-0.2, 0.2)]


def cloud(n, radii, seed=3):
    """Points on an ellipsoid."""
    p = np.random.default_rng(seed).normal(size=(n, 3))
    return p / np.linalg.norm(p, axis=1)[:, None] * radii


SHAPES = {
    "sphere": contact.Sphere(0.35),
    "capsule": contact.Capsule(0.2, 0.35),
    "cylinder": contact.Cylinder(0.3, 0.4),
    "brick": contact.Brick((0.3, 0.4, 0.2)),
    "ellipsoid": contact.Ellipsoid((0.5, 0.3, 0.2)),
    "hull": contact.ConvexHull(cloud(40, (0.5, 0.4, 0.3))),
    "table": contact.ConvexHull(_TABLE),
}
TORUS = contact.Torus(0.4, 0.1)
HALF_SPACE = contact.HalfSpace((0.0, 0.6, 0.8))
CONVEX = [(a, b) for i, a in enumerate(SHAPES) for b in list(SHAPES)[i:]]


@compiled
def write_pair(block, address, element):
    """The pair of the first two surfaces, with its forces, in a record of Duals."""
    call_routine(address, attach(block), element, 0, 1)


class Scene:
    """Two surfaces, each on a free body at its origin."""

    def __init__(self, first, second, material=RUBBER):
        self.shapes = first, second
        self.system = mb.MultibodySystem()
        matter = mb.SimbodyMatterSubsystem(self.system)
        mb.GeneralForceSubsystem(self.system)
        self.contacts = mb.CompliantContactSubsystem(self.system)
        ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
        self.bodies = [mb.mobilizer.Free(matter.ground, ball) for _ in self.shapes]
        for body, shape in zip(self.bodies, self.shapes, strict=True):
            layer = {"thickness": 0.05} if isinstance(shape, contact.TriangleMesh) else {}
            body.add_contact_surface(contact.Surface(shape, material, **layer))
        self.state = self.system.realize_topology()
        self.record = None

    def put(self, *poses):
        """Place both; the points at which they touch."""
        for body, X in zip(self.bodies, poses, strict=True):
            body.set_q_to_fit_transform(self.state, X)
        self.system.realize(self.state, Stage.VELOCITY)
        return self.contacts.get_contact_points(self.state)

    def rows(self, q):
        """Rows of the pair's routine at the coordinates q: point, normal, depth, law, curvatures, a row each point."""
        self.state.q = q
        self.system.realize(self.state, Stage.VELOCITY)
        n = len(self.contacts.get_contact_points(self.state))
        return np.array(self.state.record.contact_point[:n, :10])

    def tangents(self, q, dq):
        """Their derivatives as q moves along dq, from Duals."""
        if self.record is None:
            self.record = self.state.tree.new_record(with_tangents=True)
        self.record.q[:, 0], self.record.u[:, 0] = q, 0.0
        self.record.q.tangents[:, 0, 0] = dq
        address = _realize.advance.address(with_tangents=True)
        assert _realize.realize(self.record, address, 0, POSITIONS | VELOCITIES | FORCES) == _realize.DONE
        element = next(one.element for one in self.system.all_forces() if isinstance(one, ContactElement))
        write_pair(self.record, contribute_pair.address(with_tangents=True), element)  # some are done at once, and not written
        return self.record.contact_point.values[:, :10], self.record.contact_point.tangents[:, :10, 0]


def random_pose(rng, size=0.35):
    q = rng.normal(size=4)
    return mb.Transform(mb.Rotation.from_quaternion(q / np.linalg.norm(q)), rng.uniform(-size, size, 3))


def support(shape, d):
    """The greatest d . x of a shape, for each row of d."""
    length = np.linalg.norm(d, axis=-1)
    match shape:
        case contact.Sphere():
            return shape.radius * length
        case contact.Capsule():
            return shape.radius * length + shape.half_length * abs(d[..., 2])
        case contact.Cylinder():
            return shape.radius * np.hypot(d[..., 0], d[..., 1]) + shape.half_length * abs(d[..., 2])
        case contact.Brick():
            return abs(d) @ shape.half_lengths
        case contact.Ellipsoid():
            return np.linalg.norm(d * shape.radii, axis=-1)
        case contact.ConvexHull():
            return (d @ shape.vertices.T).max(axis=-1)
        case contact.Torus():  # of its convex hull
            return shape.torus_radius * np.hypot(d[..., 0], d[..., 1]) + shape.tube_radius * length
    raise TypeError(shape)


def overlap(shapes, poses, n):
    """h(n), for each row of n."""
    (A, B), (X, Y) = shapes, poses
    return n @ X.p + support(A, n @ np.asarray(X.R)) - n @ Y.p + support(B, -(n @ np.asarray(Y.R)))


_i = np.arange(5000) + 0.5
_up, _angle = np.arccos(1.0 - 2.0 * _i / len(_i)), np.pi * (1.0 + 5.0**0.5) * _i
#: Unit vectors spread over the sphere.
DIRECTIONS = np.stack([np.cos(_angle) * np.sin(_up), np.sin(_angle) * np.sin(_up), np.cos(_up)], axis=1)


def least_overlap(shapes, poses, begin):
    """The least h(n) near the best of DIRECTIONS and those of *begin*, by ever smaller cones about them."""
    n = np.concatenate([DIRECTIONS, begin])
    h = overlap(shapes, poses, n)
    best = np.argsort(h)[:6]
    n, h, spread, rng = n[best], h[best], 0.05, np.random.default_rng(0)
    for _ in range(30):
        near = n[:, None] + spread * rng.normal(size=(len(n), 40, 3))
        near /= np.linalg.norm(near, axis=2)[:, :, None]
        there = overlap(shapes, poses, near.reshape(-1, 3)).reshape(len(n), -1)
        k = np.argmin(there, axis=1)
        found = there[np.arange(len(n)), k]
        better = found < h
        n[better], h[better] = near[np.arange(len(n)), k][better], found[better]
        spread *= 0.6
    return h.min()


def coals(coal, shape):
    """The shape in coal."""
    match shape:
        case contact.Sphere():
            return coal.Sphere(shape.radius)
        case contact.Capsule():
            return coal.Capsule(shape.radius, 2.0 * shape.half_length)
        case contact.Cylinder():
            return coal.Cylinder(shape.radius, 2.0 * shape.half_length)
        case contact.Brick():
            return coal.Box(*(2.0 * shape.half_lengths))
        case contact.Ellipsoid():
            return coal.Ellipsoid(*shape.radii)
    points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for v in shape.vertices:
        points.append(v)
    for face in shape.faces:
        for k in range(1, len(face) - 1):
            triangles.append(coal.Triangle(face[0], face[k], face[k + 1]))
    return coal.Convex(points, triangles)


def coals_distance(coal, geometries, poses):
    """Coal's signed distance; its failures are -inf."""
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.gjk_tolerance = request.epa_tolerance = 1e-9
    request.gjk_max_iterations = request.epa_max_iterations = 1000
    X, Y = (coal.Transform3s(np.array(X.R), np.array(X.p)) for X in poses)
    distance = coal.distance(geometries[0], X, geometries[1], Y, request, result)
    return -np.inf if distance < -1e100 else distance


__all__ = ["CONVEX", "DIRECTIONS", "HALF_SPACE", "NORMAL", "POINT", "RUBBER", "SHAPES", "TORUS", "Scene"]
