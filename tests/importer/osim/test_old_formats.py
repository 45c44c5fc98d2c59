"""Old documents of OpenSim's: each step to the format of today, and how properties are read; nothing is compiled here."""

import numpy as np
import pytest

import mobod as mb
from mobod.importer.osim.document import Item, read_document
from mobod.importer.osim.upgrade import upgrade
from mobod.importer.xml_element import read_xml


def upgraded(folder, text: str, version: int):
    """The model's element of a document of a version, brought to the format of today."""
    path = folder / "old.osim"
    path.write_text(f'<OpenSimDocument Version="{version}"><Model name="old">{text}</Model></OpenSimDocument>')
    model, found = read_document(path)
    assert found == version
    upgrade(model, found, str(path))
    return model


def item_of(folder, text: str) -> Item:
    path = folder / "item.osim"
    path.write_text(text)
    return Item(str(path), read_xml(path, with_text=True))


def first(element, tag: str):
    return next(one for one in _all(element) if one.tag == tag)


def text(element, tag: str) -> str:
    return first(element, tag).text.strip()


def _all(element):
    yield element
    for child in element.children:
        yield from _all(child)


def test_actuators_of_10904_pull_the_other_way(tmp_path):
    """Two bodies were named; the first one is what is acted on by less than nothing."""
    model = upgraded(
        tmp_path,
        "<ForceSet><objects><Torque name='t'><body_A>a</body_A><body_B>b</body_B><direction_A>0 2 -1</direction_A></Torque>"
        "<Force name='f'><body_B>b</body_B><point_B>1 2 3</point_B><direction_A>1 0 0</direction_A></Force>"
        "</objects></ForceSet>",
        10904,
    )
    torque, force = first(model, "TorqueActuator"), first(model, "PointActuator")
    assert (text(torque, "bodyA"), text(torque, "bodyB")) == ("b", "a")
    np.testing.assert_array_equal(np.array(text(torque, "axis").split(), float), (0.0, -2.0, 1.0))
    np.testing.assert_array_equal(np.array(text(force, "direction").split(), float), (-1.0, 0.0, 0.0))
    assert (text(force, "body"), text(force, "point"), text(force, "force_is_global")) == ("b", "1 2 3", "true")


@pytest.mark.parametrize(
    ("axes", "third"),
    [
        ("<TransformAxis><is_rotation>true</is_rotation><axis>0 0 1</axis></TransformAxis>", (1.0, 0.0, 0.0)),
        (
            "<TransformAxis><is_rotation>true</is_rotation><axis>0 0 1</axis></TransformAxis>"
            "<TransformAxis><is_rotation>true</is_rotation><axis>0 1 0</axis></TransformAxis>",
            (-1.0, 0.0, 0.0),
        ),
        ("<TransformAxis><is_rotation>true</is_rotation><axis>0 1 0</axis></TransformAxis>", (1.0, 0.0, 0.0)),
    ],
    ids=["one", "two", "one along the second"],
)
def test_axes_that_a_joint_does_not_name_are_across_the_others(tmp_path, axes, third):
    model = upgraded(
        tmp_path, f"<JointSet><objects><CustomJoint><TransformAxisSet><objects>{axes}</objects></TransformAxisSet>"
        "</CustomJoint></objects></JointSet>", 10900,
    )  # fmt: skip
    found = [np.array(text(one, "axis").split(), float) for one in first(model, "SpatialTransform").children[:3]]
    np.testing.assert_allclose(np.abs(np.linalg.det(found)), 1.0, atol=1e-15)
    np.testing.assert_allclose(np.abs(found[2]), np.abs(third), atol=1e-15)


def test_bodies_of_30499_have_lists_of_inertia_and_springs_have_frames(tmp_path):
    model = upgraded(
        tmp_path,
        "<BodySet><objects><Body name='a b'><inertia_xx>2</inertia_xx><inertia_yz>0.5</inertia_yz></Body></objects></BodySet>"
        "<ForceSet><objects><PointToPointSpring><body1>ground</body1><body2>ab</body2></PointToPointSpring></objects></ForceSet>",
        30499,
    )
    assert first(model, "Body").attributes["name"] == "ab"
    assert text(model, "inertia") == "2 1 1 0 0 0.5"
    assert (text(model, "socket_body1"), text(model, "socket_body2")) == ("/ground", "/bodyset/ab")


def test_bushings_of_30504_have_frames_where_they_are_displaced(tmp_path):
    model = upgraded(
        tmp_path,
        "<ForceSet><objects><BushingForce><body_1>ground</body_1><body_2>a</body_2><location_body_1>0 0 0</location_body_1>"
        "<orientation_body_2>0 0.25 0</orientation_body_2></BushingForce></objects></ForceSet>",
        30504,
    )
    bushing = first(model, "BushingForce")
    assert (text(bushing, "socket_frame1"), text(bushing, "socket_frame2")) == ("/ground", "a_offset")
    (frame,) = first(bushing, "frames").children
    assert (text(frame, "socket_parent"), text(frame, "translation"), text(frame, "orientation")) == (
        "/bodyset/a", "0 0 0", "0 0.25 0",
    )  # fmt: skip


def test_switches_reversed_joints_and_names_of_sockets(tmp_path):
    def of(kind, inside):
        return f"<{kind}Set><objects><Some{kind}>{inside}</Some{kind}></objects></{kind}Set>"

    model = upgraded(
        tmp_path,
        of("Constraint", "<isDisabled>true</isDisabled>")
        + of("Force", "<isDisabled> false </isDisabled><GeometryPath/>")
        + of("Controller", "<isDisabled>1</isDisabled><actuator_list>soleus /a/b all</actuator_list>")
        + of("Joint", "<reverse>true</reverse><connector_parent_frame_connectee_name>p</connector_parent_frame_connectee_name>"
             "<connector_child_frame_connectee_name>c</connector_child_frame_connectee_name>")
        + "<FrameSet><objects><Frame name='f'/></objects></FrameSet>",
        30508,
    )  # fmt: skip
    assert (text(model, "isEnforced"), text(model, "appliesForce"), text(model, "enabled")) == ("false", "true", "false")
    assert text(model, "socket_actuators") == "/forceset/soleus /a/b all"
    assert (text(model, "socket_parent_frame"), text(model, "socket_child_frame")) == ("c", "p")
    assert [one.tag for one in first(model, "components").children] == ["Frame"]
    assert first(model, "GeometryPath").attributes["name"] == "path"


def test_ranges_of_controls_of_older_muscles_are_those_of_their_kind(tmp_path):
    """Before 30513; of actuators, and where they are others, they stay."""
    ranges = "<min_control>{}</min_control><max_control>{}</max_control>"
    forces = (
        f"<Thelen2003Muscle name='a'>{ranges.format(0, '1.0')}</Thelen2003Muscle>"
        f"<Thelen2003Muscle name='b'>{ranges.format(0.02, 0.9)}</Thelen2003Muscle>"
        f"<CoordinateActuator name='c'>{ranges.format(0, 1)}</CoordinateActuator>"
    )
    for version, kept in ((30512, [0, 2, 2]), (30513, [2, 2, 2])):
        model = upgraded(tmp_path, f"<ForceSet><objects>{forces}</objects></ForceSet>", version)
        held = first(model, "objects").children
        assert [sum(child.tag.endswith("_control") for child in one.children) for one in held] == kept


def test_joints_without_names_are_called_by_their_kinds_and_defaults_are_gone(tmp_path):
    """As OpenSim names them, so that paths to coordinates have no empty part; what is written is read there."""
    joint = "<Body name='{0}'><Joint><PinJoint name=''><parent_body>ground</parent_body><CoordinateSet><objects>{1}</objects>"
    joint += "</CoordinateSet></PinJoint></Joint></Body>"
    bodies = "".join(joint.format(name, f"<Coordinate name='q{name}'/>") for name in "ab")
    point = "<MovingPathPoint name='p'><x_coordinate>qb</x_coordinate></MovingPathPoint>"
    force = f"<ForceSet><objects><PathSpring name='s'><PathPointSet>{point}</PathPointSet></PathSpring></objects></ForceSet>"
    defaults = "<defaults><PathSpring name='default'><stiffness>3</stiffness></PathSpring></defaults>"
    model = upgraded(tmp_path, f"{defaults}<BodySet><objects>{bodies}</objects></BodySet>{force}", 30000)
    names = [one.attributes["name"] for one in _all(model) if one.tag == "PinJoint"]
    assert names == ["pinjoint", "pinjoint_1"]
    assert text(model, "socket_x_coordinate") == "/jointset/pinjoint_1/qb"
    assert text(model, "stiffness") == "3" and not [one for one in _all(model) if one.tag == "defaults"]


def test_points_of_older_paths_know_coordinates_by_their_paths(tmp_path):
    """OpenSim takes a bare name in older documents only, and such a model is written as one of today."""
    model = upgraded(
        tmp_path,
        "<BodySet><objects><Body name='shank'><mass>1</mass><Joint><PinJoint name='knee'><parent_body>ground</parent_body>"
        "<CoordinateSet><objects><Coordinate name='angle'/></objects></CoordinateSet></PinJoint></Joint></Body></objects>"
        "</BodySet><ForceSet><objects><Thelen2003Muscle name='m'><GeometryPath><PathPointSet><objects>"
        "<ConditionalPathPoint name='one'><body>shank</body><range>-1 0</range><coordinate>angle</coordinate>"
        "</ConditionalPathPoint><MovingPathPoint name='two'><body>shank</body><x_coordinate>angle</x_coordinate>"
        "<y_coordinate>nowhere</y_coordinate></MovingPathPoint></objects></PathPointSet></GeometryPath></Thelen2003Muscle>"
        "</objects></ForceSet>",
        30000,
    )
    assert text(first(model, "ConditionalPathPoint"), "socket_coordinate") == "/jointset/knee/angle"
    moving = first(model, "MovingPathPoint")
    assert text(moving, "socket_x_coordinate") == "/jointset/knee/angle"
    assert text(moving, "socket_y_coordinate") == "nowhere"  # OpenSim, and the reader, name what is not there


def test_documents_of_a_format_to_come_are_refused(tmp_path):
    with pytest.raises(mb.ModelError, match="version 40601; 40600 is the newest"):
        upgraded(tmp_path, "", 40601)


def test_properties_are_read_as_they_are_meant(tmp_path):
    one = item_of(
        tmp_path,
        "<Thing name=' it '><on>T</on><off>no</off><wrong>maybe</wrong><n>( 1, -2.5e3 )</n><word>1.5m</word><far>Inf</far>"
        "<mesh><Mesh name='m'><file>a b</file><list>1 2</list></Mesh></mesh><groups>of it</groups>"
        "<left><deep>said</deep></left><empty/></Thing>",
    )
    assert one.name == "it"
    assert one.flag("on", False) is True and one.flag("off", True) is False and one.flag("none", True) is True
    np.testing.assert_array_equal(one.vector("n", (0.0, 0.0)), (1.0, -2500.0))
    assert one.number("far", 0.0) == np.inf and one.number("empty", 3.0) == 3.0
    for ask, what in (
        (lambda: one.flag("wrong", True), "<wrong> of Thing 'it' is true or false, not 'maybe'"),
        (lambda: one.number("n", 0.0), "<n> takes 1 number; it has 2"),
        (lambda: one.vector("far", (0.0, 0.0)), "<far> takes 2 numbers; it has 1"),
        (lambda: one.number("word", 0.0), "<word> has '1.5m', which is no number"),
        (lambda: one.finite("far", (0.0,)), "<far> of Thing 'it' takes finite numbers"),
    ):
        with pytest.raises(mb.ModelError, match=what):
            ask()
    assert [item.tag for item in one.unread()] == ["mesh", "left"]
    data = one.as_data()
    assert data["n"].tolist() == [1.0, -2500.0] and data["far"] == np.inf and data["empty"] == ""
    (mesh,) = data["mesh"]
    assert "groups" not in data
    assert (mesh["type"], mesh["name"], mesh["file"], mesh["list"].tolist()) == ("Mesh", "m", "a b", [1.0, 2.0])
    assert not list(one.find("mesh").unread())


def test_files_that_include_each_other_are_refused(tmp_path):
    path = tmp_path / "ring.osim"
    path.write_text('<OpenSimDocument Version="40000"><Model><Body file="ring.osim"/></Model></OpenSimDocument>')
    with pytest.raises(mb.ModelError, match="more than 10 deep"):
        read_document(path)
