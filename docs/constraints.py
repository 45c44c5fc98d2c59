"""Pictures of all kinds of constraints: what moves, at equal intervals from black to blue, and what is kept, in orange.

A kind without a scene here is shown on the chain of which its record in ``tests/kinds/constraints.py`` says that it can be.

The pictures are kept beside the pages: ``python docs/constraints.py`` makes them anew, or those of the kinds that it is given.
"""

import math
import sys
import tempfile
from pathlib import Path

import numpy as np

import mobod as mb
from mobilizers import EDGES

IMAGES = Path(__file__).parent / "images" / "constraints"
MOMENTS = 7
ROUND = np.array([(math.cos(a), math.sin(a), 0.0) for a in np.linspace(0, 2 * math.pi, 33)])
SQUARE = np.array([(-1, 0, -1), (1, 0, -1), (1, 0, 1), (-1, 0, 1), (-1, 0, -1)]) * 0.8
BALL = [0.14 * ROUND, 0.14 * ROUND[:, [2, 0, 1]], 0.14 * ROUND[:, [0, 2, 1]]]
WHEEL = [0.3 * ROUND, *([0.3 * ROUND[k], (0, 0, 0)] for k in range(0, 32, 8))]
BOX = list(EDGES)
FLAT = mb.Transform(mb.Rotation.about_axis(-math.pi / 2, (1, 0, 0)), (0, 0, 0))  # z of a plane's frame is y of Ground

#: Frames of edges: x along the edge, z out of the body.
EDGE = mb.Transform(mb.Rotation([(0, 1, 0), (0, 0, 1), (1, 0, 0)]), (0, 0, 0))
ROD = mb.Transform(mb.Rotation([(1, 0, 0), (0, 0, -1), (0, 1, 0)]), (0, 0, 0))


class Scene:
    """A system of a few bodies on Ground, what they look like, and lines between them."""

    def __init__(self, gravity=(0.0, -9.8, 0.0)):
        self.system = mb.MultibodySystem()
        self.matter = mb.SimbodyMatterSubsystem(self.system)
        if any(gravity):
            mb.force.Gravity(mb.GeneralForceSubsystem(self.system), self.matter, gravity)
        self.ground = self.matter.ground
        self.looks, self.links, self.starts = [], [], []

    def add(self, kind, looks, at=(0, 0, 0), q=None, u=None, body_at=(0, 0, 0), on=None, **keywords):
        """A body: a mobilizer of a kind, its lines, where F is, and how it starts."""
        body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(0.02, 0.025, 0.03)))
        one = kind(on or self.ground, body, X_PF=mb.Transform(at), X_BM=mb.Transform(body_at), **keywords)
        self.looks.append((one, looks))
        self.starts.append((one, q, u))
        return one

    def fixed(self, *lines):
        """Lines of Ground."""
        self.looks.append((self.ground, lines))

    def link(self, first, p, second, r):
        """A line from a point of a body to one of another."""
        self.links.append((first, p, second, r))


def rod():
    """Of fixed length."""
    s = Scene()
    ball = s.add(mb.mobilizer.Translation, BALL, q=(0.7, -0.4, 0.0), u=(0.0, 0.0, 1.2))
    mb.constraint.Rod(s.ground, (0, 0, 0), ball, (0, 0, 0), math.hypot(0.7, 0.4))
    s.link(s.ground, (0, 0, 0), ball, (0, 0, 0))
    return s, 0.9


def ball():
    """A corner that stays where it is."""
    s = Scene()
    corner = np.array((-0.25, 0.14, 0.07))
    box = s.add(mb.mobilizer.Free, BOX, q=(1, 0, 0, 0, *-corner), u=(0, 0, 0, 0, 0, 0))
    mb.constraint.Ball(s.ground, (0, 0, 0), box, corner)
    s.link(s.ground, (0, 0, 0), box, corner)
    return s, 0.5


def weld():
    """Two boxes as one."""
    s = Scene()
    first = s.add(mb.mobilizer.Free, BOX, q=(1, 0, 0, 0, -0.8, 0, 0), u=(0, 0, 3, 1.5, 3, 0))
    second = s.add(mb.mobilizer.Free, BOX, q=(1, 0, 0, 0, -0.3, 0, 0), u=(0, 0, 3, 1.5, 4.5, 0))
    mb.constraint.Weld(first, mb.Transform((0.25, 0, 0)), second, mb.Transform((-0.25, 0, 0)))
    s.link(first, (0.2, 0, 0), second, (-0.2, 0, 0))
    return s, 0.8


def point_in_plane():
    """A corner that stays in a plane."""
    s = Scene((0.0, -9.8, 0.0))
    corner = np.array((-0.25, -0.14, 0.07))
    box = s.add(mb.mobilizer.Free, BOX, q=(1, 0, 0, 0, *(np.array((-0.5, 0, 0)) - corner)), u=(0, 0, 0, 1.2, 0, 0))
    mb.constraint.PointInPlane(s.ground, (0, 1, 0), 0.0, box, corner)
    s.fixed(SQUARE)
    s.link(box, corner, box, (0, 0, 0))
    return s, 0.6


def point_on_line():
    """A corner that slides along a line."""
    s = Scene()
    corner = np.array((-0.25, 0.14, 0.07))
    box = s.add(mb.mobilizer.Free, BOX, q=(1, 0, 0, 0, *(np.array((-0.6, 0, 0)) - corner)), u=(0, 0, 0, 1.5, 0, 0))
    mb.constraint.PointOnLine(s.ground, (1, 0, 0), (0, 0, 0), box, corner)
    s.fixed(np.array([(-1, 0, 0), (1, 0, 0)]))
    s.link(box, corner, box, (0, 0, 0))
    return s, 0.8


def constant_angle():
    """The body's long axis keeps its angle to the vertical."""
    s = Scene((0, 0, 0))
    box = s.add(mb.mobilizer.Ball, BOX, u=(0.5, 2.0, 0.0))
    box_axis = (1, 0, 0)
    mb.constraint.ConstantAngle(s.ground, (0, 1, 0), box, box_axis, math.pi / 2)
    s.fixed(np.array([(0, 0, 0), (0, 0.7, 0)]))
    s.link(box, (0, 0, 0), box, (0.6, 0, 0))
    return s, 1.2


def constant_orientation():
    """Thrown, and not turning."""
    s = Scene()
    box = s.add(mb.mobilizer.Free, BOX, q=(1, 0, 0, 0, -0.9, -0.3, 0), u=(0, 0, 0, 2.0, 3.5, 0))
    mb.constraint.ConstantOrientation(s.ground, mb.Rotation(), box, mb.Rotation())
    s.link(box, (0, 0, 0), box, (0.3, 0, 0))
    return s, 0.85


def no_slip():
    """A wheel turns, and a rack goes with it."""
    s = Scene((0, 0, 0))
    wheel = s.add(mb.mobilizer.Pin, WHEEL, q=0.0, u=-1.5)
    rack = s.add(mb.mobilizer.Slider, [np.array([(-0.6, 0, 0), (0.6, 0, 0), (0.6, -0.1, 0), (-0.6, -0.1, 0), (-0.6, 0, 0)])])
    rack_at = (0, -0.3, 0)
    rack.set_default_inboard_frame(mb.Transform(rack_at))
    mb.constraint.NoSlip1D(s.ground, rack_at, (1, 0, 0), wheel, rack)
    s.starts[-1] = (rack, 0.0, -0.45)
    s.link(s.ground, rack_at, wheel, (0, 0, 0))
    return s, 0.7


def point_on_plane():
    """A corner that stays where it touches a plane."""
    s = Scene()
    corner = np.array((-0.25, -0.14, 0.07))
    box = s.add(mb.mobilizer.Free, BOX, q=(1, 0, 0, 0, *-corner), u=(0, 0, 0, 0, 0, 0))
    mb.constraint.PointOnPlaneContact(s.ground, FLAT, box, corner)
    s.fixed(SQUARE)
    s.link(box, corner, box, (0, 0, 0))
    return s, 0.35


def sphere_on_plane():
    """A sphere that rolls."""
    s = Scene()
    radius, speed = 0.14, 1.6
    sphere = s.add(mb.mobilizer.Free, BALL, q=(1, 0, 0, 0, -0.7, radius, 0), u=(0, 0, -speed / radius, speed, 0, 0))
    mb.constraint.SphereOnPlaneContact(s.ground, FLAT, sphere, (0, 0, 0), radius, True)
    s.fixed(SQUARE)
    s.link(sphere, (0, 0, 0), sphere, (0, radius, 0))
    return s, 0.85


def sphere_on_sphere():
    """A sphere that rolls on another."""
    s = Scene()
    small, large = 0.14, 0.4
    ball = s.add(mb.mobilizer.Free, BALL, q=(1, 0, 0, 0, 0.06, math.sqrt((small + large) ** 2 - 0.06**2), 0), u=(0,) * 6)
    mb.constraint.SphereOnSphereContact(s.ground, (0, 0, 0), large, ball, (0, 0, 0), small, True)
    s.fixed(*(line * large / small for line in BALL))
    s.link(ball, (0, 0, 0), ball, (0, small, 0))
    return s, 1.0


def line_on_line():
    """A rod that slides over an edge."""
    s = Scene()
    rod = s.add(mb.mobilizer.Free, [np.array([(-0.6, 0, 0), (0.6, 0, 0)])], q=(1, 0, 0, 0, 0.1, 0, 0), u=(0, 0, 0, 0, 0, 0))
    mb.constraint.LineOnLineContact(s.ground, EDGE, 0.6, rod, ROD, 0.6, False)
    s.fixed(np.array([(0, 0, -0.6), (0, 0, 0.6)]))
    return s, 0.35


def constant_coordinate():
    """One angle of two is held."""
    s = Scene()
    box = s.add(mb.mobilizer.Universal, BOX, q=(0.0, 0.5), u=(2.0, 0.0), body_at=(-0.25, 0, 0))
    mb.constraint.ConstantCoordinate(box, 1, 0.5)
    s.fixed(np.array([(-0.3, 0, 0), (0.3, 0, 0)]))
    return s, 0.9


def constant_speed():
    """It turns at the same speed, whatever pulls."""
    s = Scene()
    box = s.add(mb.mobilizer.Pin, BOX, q=0.0, u=1.5, body_at=(-0.35, 0, 0))
    mb.constraint.ConstantSpeed(box, 0, 1.5)
    s.link(s.ground, (0, 0, 0), box, (-0.25, 0, 0))
    return s, 2.0


def constant_acceleration():
    """It goes ever faster."""
    s = Scene()
    box = s.add(mb.mobilizer.Slider, BOX, at=(-0.7, 0, 0), q=0.0, u=0.0)
    mb.constraint.ConstantAcceleration(box, 0, 2.0)
    s.fixed(np.array([(-1, -0.16, 0), (0.8, -0.16, 0)]))
    return s, 1.0


def prescribed_motion():
    """It follows a function of time."""
    s = Scene()
    box = s.add(mb.mobilizer.Translation, BOX, at=(-0.8, 0, 0), q=(0, 0, 0), u=(1.0, 0.4 * 4, 0))
    mb.constraint.PrescribedMotion(s.matter, mb.function.Sinusoid(0.4, 4.0, 0.0), box, 1)
    path = np.linspace(0, 1.6, 60)
    s.fixed(np.stack([path - 0.8, 0.4 * np.sin(4 * path), 0 * path], axis=1))
    return s, 1.6


def prescribed_velocity():
    """Its speed follows a function of time."""
    s = Scene()
    box = s.add(mb.mobilizer.Pin, BOX, q=0.0, u=0.0, body_at=(-0.35, 0, 0))
    mb.constraint.PrescribedVelocity(s.matter, mb.function.Sinusoid(2.0, 1.0, 0.0), box, 0)
    s.link(s.ground, (0, 0, 0), box, (-0.25, 0, 0))
    return s, 1.6


def coupled(kind):
    """Two wheels of a belt: angles, or speeds, in a fixed ratio."""
    s = Scene((0, 0, 0))
    large = s.add(mb.mobilizer.Pin, [1.3 * np.asarray(line) for line in WHEEL], at=(-0.5, 0, 0), q=0.0, u=0.5)
    small = s.add(mb.mobilizer.Pin, [0.5 * np.asarray(line) for line in WHEEL], at=(0.5, 0, 0), q=0.0, u=1.3)
    function = mb.function.Linear([1.3, -0.5, 0.0])
    kind(s.matter, function, [large, small], [0, 0])
    top = [math.sin(math.acos((0.39 - 0.15) / 1.0)), (0.39 - 0.15) / 1.0]
    for sign in (1, -1):
        s.fixed(np.array([(-0.5 + 0.39 * top[1], sign * 0.39 * top[0], 0), (0.5 + 0.15 * top[1], sign * 0.15 * top[0], 0)]))
    return s, 0.9


SCENES = {
    "Rod": rod,
    "Ball": ball,
    "Weld": weld,
    "ConstantAngle": constant_angle,
    "ConstantOrientation": constant_orientation,
    "PointInPlane": point_in_plane,
    "PointOnLine": point_on_line,
    "PointOnPlaneContact": point_on_plane,
    "SphereOnPlaneContact": sphere_on_plane,
    "SphereOnSphereContact": sphere_on_sphere,
    "LineOnLineContact": line_on_line,
    "NoSlip1D": no_slip,
    "ConstantCoordinate": constant_coordinate,
    "ConstantSpeed": constant_speed,
    "ConstantAcceleration": constant_acceleration,
    "PrescribedMotion": prescribed_motion,
    "PrescribedVelocity": prescribed_velocity,
    "CoordinateCoupler": lambda: coupled(mb.constraint.CoordinateCoupler),
    "SpeedCoupler": lambda: coupled(mb.constraint.SpeedCoupler),
}


def of_record(name):
    """A chain that falls, with the constraint that its kind's record in the tests has on such: for kinds without a scene."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from kinds.constraints import CONSTRAINTS

    s = Scene()
    bodies = [s.ground]
    for kind in (mb.mobilizer.Ball, mb.mobilizer.Pin, mb.mobilizer.Ball):
        bodies.append(s.add(kind, BOX, u=(0, 0, 3) if kind is mb.mobilizer.Ball else 1.0, on=bodies[-1], body_at=(0, 1, 0)))
        s.link(bodies[-2], (0, 0, 0), bodies[-1], (0, 0, 0))
    (record,) = (one for one in CONSTRAINTS.values() if one.kind.__name__ == name)
    if record.reachable is None:
        raise SystemExit(f"{name} says nothing of positions in its record: it needs a scene of its own, above")
    record.reachable(bodies)
    return s, 0.8


def make(name):
    """A picture: the bodies at equal intervals."""
    import matplotlib.pyplot as plt
    from PIL import Image

    scene, time = SCENES.get(name, lambda: of_record(name))()
    state = scene.system.realize_topology()
    for body, q, u in scene.starts:
        if q is not None:
            body.set_q(state, q)
        if u is not None:
            body.set_u(state, u)
    if name not in SCENES:
        mb.Assembler(scene.system).assemble(state)
    scene.system.realize(state, mb.Stage.POSITION)
    scene.system.project(state)
    motion = mb.simulate(scene.system, state, time, report_interval=time / (MOMENTS - 1), progress=False)
    figure = plt.figure(figsize=(2.4, 2.2), dpi=100)
    place = (-0.12, -0.12, 1.24, 1.24) if name in SCENES else (0.05, 0.05, 0.9, 0.9)
    axes = figure.add_axes(place, projection="3d")

    def draw(points, **style):
        axes.plot(*np.asarray(points).T[[2, 0, 1]], **style)  # y is up

    for moment, now in enumerate(motion.states):
        scene.system.realize(now, mb.Stage.POSITION)
        part = moment / (MOMENTS - 1)
        color = (0.2 * (1 - part), 0.2 + 0.1 * part, 0.2 + 0.6 * part)
        for body, lines in scene.looks:
            if body is scene.ground and moment:
                continue
            for line in lines:
                points = body.get_body_transform(now) @ np.asarray(line, dtype=float)
                of_ground = body is scene.ground
                draw(
                    points, color="#ee7733" if of_ground else color, lw=1.4 if of_ground else 0.5 + (moment in (0, MOMENTS - 1))
                )
        for first, p, second, r in scene.links:
            ends = [first.find_station_location_in_ground(now, p), second.find_station_location_in_ground(now, r)]
            draw(ends, color="#ee7733", lw=1.6, marker=".", ms=4)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.view_init(20, 15)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "picture.png"
        figure.savefig(path)
        plt.close(figure)
        with Image.open(path) as image:
            image.convert("RGB").quantize(64).save(IMAGES / f"{name}.png", optimize=True)


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True, parents=True)
    for one in sys.argv[1:] or SCENES:
        make(one)
        print(one, (IMAGES / f"{one}.png").stat().st_size, flush=True)
