"""Shapes to draw: sticks, decorations, and where they are."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod import decoration
from mobod.shapes.mechanism import Mechanism, find_body_transforms
from mobod.shapes.shape_maker import GROUND, PALETTE
from mobod.shapes.view import find_display_rotation, find_view


class Parts:
    """A system to which a test adds what it is about."""

    def __init__(self, gravity=(0, -9.81, 0)):
        self.system = mb.MultibodySystem()
        self.matter = mb.SimbodyMatterSubsystem(self.system)
        self.forces = mb.GeneralForceSubsystem(self.system)
        if gravity is not None:
            mb.force.Gravity(self.forces, self.matter, gravity)

    def mechanism(self):
        self.state = self.system.realize_topology()
        return Mechanism.of(self.system, self.state)

    def points(self, mechanism, **q):
        for name, value in q.items():
            self.matter.bodies[name].set_q(self.state, value)
        return mechanism.place_faces(find_body_transforms(self.system, self.state)).reshape(-1, 3)


def rod(**options):
    inertia = mb.UnitInertia.cylinder_along_y(0.02, 0.5).shift_from_centroid((0, -0.5, 0))
    return mb.body.Rigid(mb.MassProperties(1.0, (0, -0.5, 0), inertia), **options)


def test_an_undecorated_link_is_a_stick_from_joint_to_joint_and_to_the_last_mass_center():
    parts = Parts()
    upper = mb.mobilizer.Pin(parts.matter.ground, rod(), name="upper")
    mb.mobilizer.Pin(upper, rod(), X_PF=mb.Transform((0, -1, 0)), name="lower")
    mechanism = parts.mechanism()
    hanging = parts.points(mechanism)
    assert_allclose(hanging[:, 1].min(), -1.5, atol=0.1)  # the ball of the mass is there
    assert np.abs(hanging[:, 0]).max() < 0.1
    level = parts.points(mechanism, upper=np.pi / 2)
    assert_allclose(level[:, 0].max(), 1.5, atol=0.1)
    assert np.abs(level[:, 1]).max() < 0.1


def sticks_end_at(parts, body, station, **q):
    """True if a default shape of a body is at a station of it, at some pose; its constraints' marks have other colours."""
    mechanism = parts.mechanism()
    points = parts.points(mechanism, **q).reshape(-1, 3, 3)
    color = {"coupler": PALETTE[1], "rocker": PALETTE[2], "arm": PALETTE[0]}[body]
    mine = points[(mechanism.face_color[:, :3] == color).all(axis=1)].reshape(-1, 3)
    place = parts.matter.bodies[body].find_station_location_in_ground(parts.state, station)
    return bool(np.linalg.norm(mine - place, axis=1).min() < 0.05)


def test_sticks_of_a_closed_loop_go_to_the_constraint_that_closes_it():
    parts = Parts()
    crank = mb.mobilizer.Pin(parts.matter.ground, rod(), name="crank")
    coupler = mb.mobilizer.Pin(crank, rod(), X_PF=mb.Transform((0, -1, 0)), name="coupler")
    rocker = mb.mobilizer.Pin(parts.matter.ground, rod(), X_PF=mb.Transform((1, 0, 0)), name="rocker")
    ball = mb.constraint.Ball(coupler, (0, -1, 0), rocker, (0, -1, 0))
    for body in ("coupler", "rocker"):
        assert sticks_end_at(parts, body, (0, -1, 0), crank=0.3, coupler=np.pi / 2 - 0.3, rocker=0.3)
    ball.set_disabled_by_default(True)
    for body in ("coupler", "rocker"):
        assert not sticks_end_at(parts, body, (0, -1, 0))


@pytest.mark.parametrize(
    "hold",
    [
        lambda ground, arm: mb.constraint.Ball(ground, (1, 0, 0), arm, (1, 0, 0)),
        lambda ground, arm: mb.constraint.Rod(ground, (3, 0, 0), arm, (1, 0, 0), 2.0),
        lambda ground, arm: mb.constraint.Weld(ground, mb.Transform((1, 0, 0)), arm, mb.Transform((1, 0, 0))),
        lambda ground, arm: mb.constraint.PointOnLine(ground, (1, 0, 0), (0, 0, 0), arm, (1, 0, 0)),
        lambda ground, arm: mb.constraint.PointInPlane(ground, (1, 0, 0), 1.0, arm, (1, 0, 0)),
    ],
)
def test_sticks_go_to_points_by_which_constraints_hold_a_body_and_to_its_mass_center(hold):
    parts = Parts()
    arm = mb.mobilizer.Pin(parts.matter.ground, rod(), name="arm")
    assert not sticks_end_at(parts, "arm", (1, 0, 0))
    hold(parts.matter.ground, arm)
    assert sticks_end_at(parts, "arm", (1, 0, 0))
    middles = parts.points(parts.mechanism()).reshape(-1, 3, 3).mean(axis=1)  # of triangles, long ones on a stick
    assert ((np.abs(middles[:, 0]) < 0.05) & (middles[:, 1] < -0.1) & (middles[:, 1] > -0.4)).any()


def test_marks_of_constraints_do_not_hide_a_small_mechanism():
    parts = Parts()
    small = mb.body.Rigid(mb.MassProperties(0.01, (0, -0.005, 0), mb.UnitInertia(1e-4, 1e-4, 1e-4)))
    arm = mb.mobilizer.Pin(parts.matter.ground, small)
    mb.constraint.Ball(parts.matter.ground, (0.0, -0.02, 0.0), arm, (0.0, -0.02, 0.0))
    assert np.ptp(parts.points(parts.mechanism()), axis=0).max() < 0.04


def test_a_decorated_body_is_drawn_by_its_decorations_alone_wherever_they_are_attached():
    parts = Parts()
    body = rod()
    body.add_decoration(decoration.Brick((0.1, 0.1, 0.1), color="red"), mb.Transform((5, 0, 0)))
    pin = mb.mobilizer.Pin(parts.matter.ground, body, X_PF=mb.Transform((1, 0, 0)), X_BM=mb.Transform((0, 2, 0)), name="b")
    pin.add_outboard_decoration(decoration.Brick((0.1, 0.1, 0.1), color="green"), mb.Transform((0, 0, 3)))
    pin.add_inboard_decoration(decoration.Brick((0.1, 0.1, 0.1), color="blue"), mb.Transform((0, 0, 4)))
    parts.matter.ground.add_body_decoration(decoration.Brick((0.1, 0.1, 0.1), color="yellow"))
    mechanism = parts.mechanism()
    faces = parts.points(mechanism, b=np.pi / 2).reshape(-1, 3, 3)
    centers = {
        tuple(c): faces[(mechanism.face_color[:, :3] == c).all(axis=1)].mean(axis=(0, 1))
        for c in np.unique(mechanism.face_color[:, :3], axis=0)
    }
    expected = {(1, 0, 0): (3, 5, 0), (0, 1, 0): (1, 0, 3), (0, 0, 1): (1, 0, 4), (1, 1, 0): (0, 0, 0)}
    assert centers.keys() == expected.keys()
    for color, center in expected.items():
        assert_allclose(centers[color], center, atol=1e-9)


def test_a_free_body_is_the_ellipsoid_of_its_inertia():
    parts = Parts()
    egg = mb.body.Rigid(mb.MassProperties(2.0, (0, 0, 0), mb.UnitInertia.ellipsoid((0.3, 0.2, 0.1))))
    mb.mobilizer.Free(parts.matter.ground, egg, name="egg")
    mechanism = parts.mechanism()
    extent = np.ptp(parts.points(mechanism, egg=[1, 0, 0, 0, 1, 2, 3]), axis=0)
    assert_allclose(extent, (0.6, 0.4, 0.2), rtol=0.02)  # within the ellipsoid: what is large looks round


def test_a_slider_that_a_loop_holds_does_not_hide_the_mechanism():
    """Its inertia may be anything, since it never turns."""
    parts = Parts()
    crank = mb.mobilizer.Pin(parts.matter.ground, rod(), name="crank")
    block = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
    slide = mb.mobilizer.Slider(parts.matter.ground, block, name="slide")
    mb.constraint.Rod(crank, (0, -1, 0), slide, (0, 0, 0), 2.0)
    mechanism = parts.mechanism()
    points = parts.points(mechanism, slide=np.sqrt(3.0)).reshape(-1, 3, 3)
    mine = points[(mechanism.face_color[:, :3] == PALETTE[1]).all(axis=1)].reshape(-1, 3)
    assert len(mine) and np.ptp(mine, axis=0).max() < 0.3


def test_a_slider_has_a_rail_as_long_as_it_has_slid():
    parts = Parts()
    mb.mobilizer.Slider(parts.matter.ground, rod(), name="cart")
    mechanism = parts.mechanism()
    parts.points(mechanism, cart=2.5)
    segments = mechanism.place_segments(find_body_transforms(parts.system, parts.state))
    assert_allclose(np.linalg.norm(segments[:, 1] - segments[:, 0], axis=1), [2.5])


def test_lines_points_frames_wireframes_and_texts():
    parts = Parts()
    body = rod()
    body.add_decoration(decoration.Frame(0.5))
    body.add_decoration(decoration.Line((0, 0, 0), (1, 0, 0), color="red", line_width=4))
    body.add_decoration(decoration.Brick((1, 1, 1), representation="wireframe"))
    body.add_decoration(decoration.Brick((9, 9, 9), representation="hidden"))
    body.add_decoration(decoration.Text("here", X=mb.Transform((0, 1, 0))))
    mb.mobilizer.Free(parts.matter.ground, body)
    mechanism = parts.mechanism()
    assert len(mechanism.segment_width) == 3 + 1 + 12  # the edges of a box, without the diagonals of its faces
    assert mechanism.segment_width[3] == 4
    X_GB = find_body_transforms(parts.system, parts.state)
    assert np.abs(mechanism.place_segments(X_GB)).max() <= 1.0
    assert [text for _, _, text, _ in mechanism.texts] == ["here"]
    assert_allclose(mechanism.place_texts(X_GB), [(0, 1, 0)])


def test_sticks_can_be_switched_off():
    parts = Parts()
    mb.mobilizer.Pin(parts.matter.ground, rod())
    parts.matter.set_show_default_geometry(False)
    assert len(parts.mechanism().face_color) == 0


def test_a_mesh_that_cannot_be_read_becomes_a_stick(tmp_path):
    parts = Parts()
    body = rod()
    body.add_decoration(decoration.MeshFile(tmp_path / "missing.stl"))
    mb.mobilizer.Pin(parts.matter.ground, body, name="arm")
    mb.mobilizer.Pin(parts.matter.ground, body, name="other")
    with pytest.warns(
        UserWarning, match=r"'arm' cannot be read: .*missing\.stl.* left out of the picture; so are 1 more"
    ) as told:
        assert len(parts.mechanism().face_color) > 0
    assert len(told) == 1 and told[0].filename == __file__


def test_decorations_of_the_ground_are_drawn_on_whichever_frame_they_are():
    parts = Parts()
    mb.mobilizer.Pin(parts.matter.ground, mb.body.Rigid())
    parts.matter.set_show_default_geometry(False)
    ground = parts.matter.ground
    for x, add in enumerate((ground.add_body_decoration, ground.add_outboard_decoration, ground.add_inboard_decoration)):
        add(decoration.Line((0, 0, 0), (0, 1, 0)), mb.Transform((x, 0, 0)))
    mechanism = parts.mechanism()
    points = mechanism.place_segments(find_body_transforms(parts.system, parts.state))
    assert_allclose(np.sort(points[:, 0, 0]), (0, 1, 2))


def test_what_holds_a_decorated_body_does_not_hide_it():
    parts = Parts()
    wheel = mb.body.Rigid()
    wheel.add_decoration(decoration.Sphere(0.1))
    for x in (0, 10):
        mb.mobilizer.Pin(parts.matter.ground, wheel, X_PF=mb.Transform((x, 0, 0)))
    mechanism = parts.mechanism()
    boxes = mechanism.place_faces(find_body_transforms(parts.system, parts.state))[mechanism.face_color[:, 0] == GROUND[0]]
    assert len(boxes) == 24
    assert 0.01 < np.abs(boxes[..., 1]).max() < 0.05


def test_a_surface_of_very_many_triangles_is_drawn_with_fewer():
    n = 200
    x, y = np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n), indexing="ij")
    corner = np.arange(n * n).reshape(n, n)
    quads = np.stack([corner[:-1, :-1], corner[1:, :-1], corner[1:, 1:], corner[:-1, 1:]], axis=-1).reshape(-1, 4)
    sheet = decoration.Mesh(np.stack([x, y, 0.2 * x], axis=-1).reshape(-1, 3), quads)
    parts = Parts()
    body = rod()
    body.add_decoration(sheet)
    mb.mobilizer.Pin(parts.matter.ground, body)
    parts.matter.set_show_default_geometry(False)
    mechanism = parts.mechanism()
    faces = mechanism.place_faces(find_body_transforms(parts.system, parts.state))
    assert 2000 < len(faces) < 20_000 < len(sheet.calc_mesh()[1])
    across = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
    assert (across[:, 2] > 0.0).all()
    # the outermost vertices move inward by half a cell
    assert_allclose(across[:, 2].sum() / 2, 1.0, atol=0.03)
    assert_allclose(np.ptp(faces.reshape(-1, 3), axis=0), (1, 1, 0.2), atol=0.02)


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_the_view_does_not_depend_on_the_unit_of_length(size):
    rng = np.random.default_rng(0)
    particles = rng.normal(size=(1, 50, 3)) * (0.1, 1.0, 1.0) * size
    parts = Parts(gravity=None)
    view = find_view(parts.mechanism(), np.zeros((1, 0, 4, 4)), particles)
    assert abs(view.toward_camera @ view.R_DG @ (1, 0, 0)) > 0.8


def test_a_chain_has_a_tip_and_a_tree_its_mass_center():
    parts = Parts()
    first = mb.mobilizer.Pin(parts.matter.ground, rod(), name="first")
    second = mb.mobilizer.Pin(first, rod(), X_PF=mb.Transform((0, -1, 0)), name="second")
    mb.mobilizer.Weld(second, rod(), X_PF=mb.Transform((0, -1, 0)))  # moves with it: still one chain
    mechanism = parts.mechanism()
    X_GB = find_body_transforms(parts.system, parts.state)
    assert_allclose(mechanism.find_marker(X_GB), (0, -2.5, 0), atol=1e-9)
    mb.mobilizer.Pin(first, rod(), X_PF=mb.Transform((0, -1, 0)))
    mechanism = parts.mechanism()
    assert mechanism.tip is None
    X_GB = find_body_transforms(parts.system, parts.state)
    expected = parts.matter.calc_system_mass_center_location_in_ground(parts.state)
    assert_allclose(mechanism.find_marker(X_GB[None]), [expected])


@pytest.mark.parametrize("kind", [mb.force.Gravity, mb.force.UniformGravity])
@pytest.mark.parametrize("gravity", [(0, -9.81, 0), (0, 0, -9.81), (0, 0, 3), (-2, 0, 0), (1, 2, 3), None])
def test_gravity_points_down_on_the_picture(gravity, kind):
    parts = Parts(None)
    if gravity is not None:
        kind(parts.forces, parts.matter, gravity)
    mb.mobilizer.Pin(parts.matter.ground, rod())
    up = parts.mechanism().up
    expected = (0, 1, 0) if gravity is None else -np.array(gravity) / np.linalg.norm(gravity)
    assert_allclose(up, expected, atol=1e-12)
    R = find_display_rotation(up)
    assert_allclose(R @ up, (0, 0, 1), atol=1e-12)
    assert_allclose(R @ R.T, np.eye(3), atol=1e-12)
    assert_allclose(np.linalg.det(R), 1.0)


def test_the_view_holds_the_whole_motion_and_looks_at_its_plane():
    parts = Parts()
    mb.mobilizer.Pin(parts.matter.ground, rod(), name="arm")
    mechanism = parts.mechanism()
    poses = []
    for angle in np.linspace(-1.5, 1.5, 9):
        points = parts.points(mechanism, arm=angle)
        poses.append(find_body_transforms(parts.system, parts.state))
    view = find_view(mechanism, np.array(poses), np.zeros((len(poses), 0, 3)))
    points = np.concatenate([mechanism.place_faces(pose) for pose in poses]).reshape(-1, 3) @ view.R_DG.T
    assert (points >= view.low).all()
    assert (points <= view.high).all()
    assert abs(view.toward_camera @ view.R_DG @ (0, 0, 1)) > 0.8  # it swings about z
