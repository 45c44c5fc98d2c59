"""Collision shapes of URDF files as surfaces of contact, and a floor under a model."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod import contact
from mobod.importer.floor import add_floor

INERTIA = '<inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/>'


def link(name, *collisions):
    shapes = "".join(
        f'<collision><origin xyz="{xyz}" rpy="{rpy}"/><geometry>{shape}</geometry></collision>'
        for xyz, rpy, shape in collisions
    )
    return f'<link name="{name}"><inertial><mass value="1"/>{INERTIA}</inertial>{shapes}</link>\n'


def joint(name, kind, parent, child, xyz):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><origin xyz="{xyz}"/>'
        '<axis xyz="0 1 0"/></joint>\n'
    )


BOX, BALL = '<box size="0.2 0.3 0.4"/>', '<sphere radius="0.05"/>'
ROBOT = (
    link("base", ("0.1 0 0", "0 0 1.5707963267948966", BOX), ("0 0 0", "0 0 0", '<cylinder radius="0.05" length="0.3"/>'))
    + link("plate", ("0 0 0", "0 0 0", '<capsule radius="0.04" length="0.1"/>'))
    + link("arm", ("0 0 0.5", "0 0 0", BALL))
    + link("hand", ("0 0 0", "0 0 0", BALL))
    + joint("fix", "fixed", "base", "plate", "0 0 0.3")
    + joint("shoulder", "continuous", "plate", "arm", "0 0 0.1")
    + joint("wrist", "continuous", "arm", "hand", "0 0 0.5")
)


@pytest.fixture
def write(tmp_path):
    def write(inside, name="robot.urdf"):
        path = tmp_path / name
        path.write_text(f'<robot name="robot">{inside}</robot>')
        return path

    return write


def test_shapes_become_surfaces_where_they_are(write):
    model = mb.load_urdf(write(ROBOT), floating_base=True, collision=True)
    placed = model.contacts.surfaces
    assert [one.name for one in placed] == ["base[0]", "base[1]", "plate", "arm", "hand"]
    kinds = [type(one.surface.geometry) for one in placed]
    assert kinds == [contact.Brick, contact.Cylinder, contact.Capsule, contact.Sphere, contact.Sphere]
    brick, cylinder, capsule, ball, _ = (one.surface.geometry for one in placed)
    assert_allclose(brick.half_lengths, (0.1, 0.15, 0.2))
    assert (cylinder.radius, cylinder.half_length) == (0.05, 0.15) and (capsule.radius, capsule.half_length) == (0.04, 0.05)
    assert ball.radius == 0.05
    assert_allclose(np.asarray(placed[0].X_BS.R) @ (1, 0, 0), (0, 1, 0), atol=1e-12)
    assert_allclose(placed[3].X_BS.p, (0, 0, 0.5))
    assert "5 collision shapes: surfaces of contact" in model.report
    assert not any("<collision>" in note for note in model.report)


def test_unless_asked_for_nothing_touches(write):
    model = mb.load_urdf(write(ROBOT))
    assert model.contacts is None and any(link.collisions for link in model.links.values())
    assert model.system.get_num_subsystems() == mb.load_urdf(write(ROBOT), collision=True).system.get_num_subsystems() - 1


def test_what_a_joint_connects_does_not_touch_whatever_is_fixed_to_it(write):
    model = mb.load_urdf(write(ROBOT), floating_base=True, collision=True)
    state = model.default_state()
    touching = set()
    for q in ((0, 0), (np.pi, 0), (0, np.pi), (np.pi, 2.8), (2.6, 2.6)):
        q0 = state.q.copy()
        q0[[model.coordinates["shoulder"], model.coordinates["wrist"]]] = q
        state.q = q0
        model.system.realize(state, mb.Stage.VELOCITY)
        placed = model.contacts.surfaces
        rows = model.contacts.get_contacts(state)
        touching |= {(placed[a].name, placed[b].name) for a, b in zip(rows["surface1"], rows["surface2"], strict=True)}
    # of base, plate and arm only the hand is two joints away
    assert touching and all("hand" in pair for pair in touching) and not any("arm" in pair for pair in touching)


def test_materials_are_ones_own_link_by_link(write):
    rubber, ice = contact.Material(1e5, 0.2, 0.9), contact.Material(1e8, 0.1, 0.02)
    model = mb.load_urdf(write(ROBOT), collision=True, collision_material=rubber, link_materials={"hand": ice})
    assert [one.surface.material for one in model.contacts.surfaces] == [rubber] * 4 + [ice]
    with pytest.raises(mb.ModelError, match="no link 'hnad'; did you mean hand"):
        mb.load_urdf(write(ROBOT), collision=True, link_materials={"hnad": ice})
    with pytest.raises(TypeError, match="collision_material"):
        mb.load_urdf(write(ROBOT), collision=True, collision_material=1e5)
    with pytest.raises(mb.ModelError, match="collision_meshes"):
        mb.load_urdf(write(ROBOT), collision=True, collision_meshes="boxes")


def test_links_that_overlap_at_first_are_told_of_and_do_not_touch(write):
    robot = ROBOT.replace('<origin xyz="0 0 0.5"/>', '<origin xyz="0 0 -0.2"/>')  # the hand is in the base
    model = mb.load_urdf(write(robot), collision=True)
    assert any(note.startswith("'base' and 'hand' overlap by") for note in model.report)
    state = model.default_state()
    model.system.realize(state, mb.Stage.VELOCITY)
    assert model.contacts.get_num_contacts(state) == 0
    model = mb.load_urdf(write(robot), collision=True, exclude_overlapping=False)
    state = model.default_state()
    model.system.realize(state, mb.Stage.VELOCITY)
    assert model.contacts.get_num_contacts(state) > 0


def test_meshes_are_found_and_become_hulls(write, tmp_path):
    corners = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    faces = ["1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4"]
    text = "".join(f"v {x} {y} {z}\n" for x, y, z in corners) + "".join(f"f {face}\n" for face in faces)
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "cube.obj").write_text(text)
    names = ["parts/cube.obj", "package://parts/cube.obj", f"package://{tmp_path.name}/parts/cube.obj"]
    shapes = [("0 0 0", "0 0 0", f'<mesh filename="{name}" scale="0.1 0.2 0.3"/>') for name in names]
    path = write(link("a", *shapes, ("0 0 0", "0 0 0", '<mesh filename="package://parts/none.stl"/>')))
    model = mb.load_urdf(path, collision=True)
    hulls = [one.surface.geometry for one in model.contacts.surfaces]
    assert len(hulls) == 3 and all(isinstance(hull, contact.ConvexHull) for hull in hulls)
    assert_allclose(np.ptp(hulls[0].vertices, axis=0), (0.2, 0.4, 0.6))
    assert any("there is no file 'package://parts/none.stl'" in note for note in model.report)
    model = mb.load_urdf(path, collision=True, collision_meshes="none")
    assert not model.contacts.surfaces and sum("it is a mesh" in note for note in model.report) == 4


def test_a_broken_shape_is_an_error_with_its_line_only_where_it_is_asked_for(write):
    path = write(link("a", ("0 0 0", "0 0 0", '<sphere radius="wide"/>')))
    mb.load_urdf(path)
    with pytest.raises(mb.ModelError, match=r"collision.*'wide' is not a number"):
        mb.load_urdf(path, collision=True)


def test_a_robot_falls_onto_the_floor_and_stays_there(write):
    model = mb.load_urdf(write(ROBOT), floating_base=True, collision=True)
    state = model.default_state()
    state.upd_q()[model.coordinates["base[6]"]] = 0.3
    state, notes = add_floor(model.system, state, contact.Material(1e6, 1.0, 0.8))
    assert not notes
    run = mb.simulate(model.system, state, 2.0, report_interval=0.005, record=["contact_wrenches"])
    # the arm still swings: its weight is there on the average
    floor = run.quantities["contact_wrenches"][run.time > 1.0, 0, 1, 2]
    assert_allclose(floor.mean(), -4 * 9.81, rtol=0.15)
    assert run.q[-1, model.coordinates["base[6]"]] > 0.0


def test_a_model_without_surfaces_gets_spheres_and_the_floor_goes_below_it():
    system, state = mb.examples.double_pendulum.build()
    state.q = [0.0, 0.0]
    state, notes = add_floor(system, state, contact.Material(1e6, 1.0, 0.8))
    assert "spheres, at corners of what is drawn" in notes[0] and "the floor is at -2" in notes[1]
    from mobod.force.contact.of_system import contacts_of

    contacts = contacts_of(system, "this test")
    assert contacts.surfaces[0].name == "floor"
    assert_allclose(contacts.surfaces[0].surface.geometry.normal, (0, 1, 0))
    system.realize(state, mb.Stage.VELOCITY)
    assert (contacts.get_contacts(state)["body1"] == 0).all(), "they touch the floor and not each other"


def test_a_ball_gets_a_sphere_of_its_own_size():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.3)))
    body.add_decoration(mb.decoration.Sphere(0.3), mb.Transform((0.1, 0.0, 0.2)))
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, 0, -9.81))
    mb.mobilizer.Free(matter.ground, body, name="ball")
    _, notes = add_floor(system, system.realize_topology(), contact.Material(1e6, 1.0, 0.8))
    assert "1 spheres" in notes[0] or "1 sphere" in notes[0], notes
    ((surface, X),) = matter.bodies[1].body.contact_surfaces
    assert surface.geometry.radius == 0.3
    assert_allclose(X.p, (0.1, 0.0, 0.2))
