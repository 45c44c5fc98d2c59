"""What a URDF file says is read as it stands; what is wrong in it is named, with its line."""

from __future__ import annotations

import dataclasses
import math

import pytest

from mobod.errors import ModelError
from mobod.importer.mechanism.order import find_order
from mobod.importer.mechanism.shapes import Box, Cylinder, Mesh, Sphere
from mobod.importer.urdf.describe import describe
from mobod.importer.urdf.document import Dynamics, Limit, Mimic, Origin
from mobod.importer.urdf.reader import read_urdf
from mobod.importer.urdf.tree import find_root

TWO_LINKS = """<robot name="two">
<link name="base"/>
<link name="arm">{link}</link>
<joint name="elbow" type="{type}">
<parent link="base"/><child link="arm"/>{joint}
</joint>
{robot}
</robot>"""


def two_links(link: str = "", joint: str = "", robot: str = "", type: str = "continuous") -> str:
    return TWO_LINKS.format(link=link, joint=joint, robot=robot, type=type)


def joint_element(name: str, parent: str, child: str, inside: str = "") -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="fixed">{ends}{inside}</joint>'


def inertial(mass: str = "1", inertia: str = 'ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"') -> str:
    return f'<inertial><mass value="{mass}"/><inertia {inertia}/></inertial>'


def error_of(path) -> str:
    with pytest.raises(ModelError) as caught:
        find_root(read_urdf(path))
    assert str(caught.value).startswith(str(path))
    return str(caught.value)


# What is read


def test_a_link_is_read_whole(write):
    document = read_urdf(
        write(
            two_links(
                link="""
<inertial><origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><mass value="4"/>
  <inertia ixx="1.5" iyy="1.25" izz="1e0" ixy=".1" ixz="-0.2" iyz="+3E-1"/></inertial>
<visual><origin xyz="0 0 1"/><geometry><box size="1 2 3"/></geometry><material name="red"/></visual>
<visual><geometry><cylinder radius="1" length="2"/></geometry>
  <material name=""><color rgba="0 1 0 0.5"/></material></visual>
<visual><geometry><sphere radius="1"/></geometry></visual>
<visual><geometry><mesh filename="package://a/b.dae" scale="1 -1 1"/></geometry></visual>""",
                robot='<material name="red"><color rgba="1 0 0 1"/></material>',
            )
        )
    )
    arm = document.links["arm"]
    assert document.name == "two"
    assert arm.line == 3
    assert arm.inertial is not None
    assert arm.inertial.line == 4
    assert arm.inertial.origin == Origin((1, 2, 3), (0.1, 0.2, 0.3))
    assert dataclasses.astuple(arm.inertial)[:7] == (4, 1.5, 1.25, 1, 0.1, -0.2, 0.3)
    assert [visual.geometry for visual in arm.visuals] == [
        Box((1, 2, 3)),
        Cylinder(1, 2),
        Sphere(1),
        Mesh("package://a/b.dae", (1, -1, 1)),
    ]
    assert [visual.rgba for visual in arm.visuals] == [(1, 0, 0, 1), (0, 1, 0, 0.5), None, None]
    assert arm.visuals[0].origin == Origin((0, 0, 1))
    assert document.links["base"].inertial is None
    assert document.notes == []


def test_a_joint_is_read_whole(write):
    joint = """<origin xyz="1 2 3" rpy="0 0 1"/><axis xyz="0 3 4"/>
<limit lower="-1" upper="2" effort="10" velocity="5"/><dynamics damping="0.5" friction="0.25"/>
<mimic joint="other" multiplier="-2" offset="1"/>"""
    other = '<link name="c"/>' + joint_element("other", "arm", "c")
    document = read_urdf(write(two_links(joint=joint, robot=other, type="revolute")))
    elbow = document.joints["elbow"]
    assert (elbow.type, elbow.parent, elbow.child, elbow.line) == ("revolute", "base", "arm", 4)
    assert elbow.origin == Origin((1, 2, 3), (0, 0, 1))
    assert elbow.axis == (0, 0.6, 0.8)
    assert elbow.limit == Limit(-1, 2, 10, 5)
    assert elbow.dynamics == Dynamics(0.5, 0.25)
    assert elbow.mimic == Mimic("other", -2, 1)
    assert document.notes == ["line 5: joint 'elbow': its axis has length 5; only its direction is used"]


def test_what_is_not_given_has_urdfs_defaults(write):
    elbow = read_urdf(write(two_links(type="prismatic"))).joints["elbow"]
    assert elbow.origin == Origin()
    assert elbow.axis == (1, 0, 0)
    assert (elbow.limit, elbow.dynamics, elbow.mimic) == (None, Dynamics(), None)


def test_an_effort_without_bound_may_be_infinite(write):
    limit = read_urdf(write(two_links(joint='<limit effort="inf" velocity="1e400"/>'))).joints["elbow"].limit
    assert limit == Limit(None, None, math.inf, math.inf)


def test_a_robot_without_a_name_is_called_after_its_file(write):
    assert read_urdf(write('<robot><link name="a"/></robot>', "some.arm.urdf")).name == "some.arm"


def test_a_path_may_be_a_string(write):
    assert read_urdf(str(write('<robot><link name="a"/></robot>'))).links["a"].line == 1


# What is left out, or mended, and said


@pytest.mark.parametrize(
    ("content", "note"),
    [
        (
            two_links(robot="<gazebo><link/></gazebo>\n<gazebo/>"),
            "<gazebo> is ignored, 2 times (first on line 7)",
        ),
        (two_links(link="<sensor/>"), "line 3: <sensor> in <link> is ignored"),
        (two_links(link="<collision/>"), "line 3: <collision> without a shape that is known is ignored"),
        (
            two_links(joint="<safety_controller/>"),
            "line 5: <safety_controller> in <joint> is ignored",
        ),
        (
            two_links(link="<visual><geometry><cone/></geometry></visual>"),
            "<visual> without a shape that is known",
        ),
        (two_links(link="<visual/>"), "<visual> without a shape that is known"),
        (
            two_links(robot='<material name="x"><color rgba="1 2"/></material>'),
            "<color> that is not four numbers from 0 to 1",
        ),
        (
            two_links(type="revolute"),
            "line 4: joint 'elbow' is revolute and has no <limit>; it is not limited",
        ),
        (
            two_links(joint='<limit lower="1" upper="0"/>', type="revolute"),
            "line 5: joint 'elbow': its lower limit is above its upper one",
        ),
        (two_links(link="<inertial/>"), "line 3: link 'arm': inertial has no <mass>; its mass is zero"),
        (
            two_links(link='<inertial><mass value="1"/></inertial>'),
            "line 3: link 'arm': inertial has no <inertia>; the link is a point mass",
        ),
        (
            two_links(link=inertial(inertia='ixx="1" iyy="1" izz="1" iyz="0"')),
            "link 'arm': inertial: ixy, ixz not given, taken as zero",
        ),
        (
            two_links(joint='<origin/>\n<origin xyz="1 2 3"/>'),
            "line 6: joint 'elbow' has 2 <origin> elements; the first is used",
        ),
        (
            two_links(joint='<mimic joint="knee"/>'),
            "line 4: joint 'elbow' mimics 'knee', which does not exist; its <mimic> is ignored",
        ),
    ],
)
def test_what_is_left_out_is_noted(write, content, note):
    document = read_urdf(write(content))
    assert any(note in line for line in document.notes), document.notes


def test_a_xacro_expression_of_several_words_is_named(write):
    with pytest.raises(ModelError, match=r"xyz='\$\(arg x\) 0 0' is a xacro expression; run xacro first"):
        read_urdf(write(two_links(joint='<origin xyz="$(arg x) 0 0"/>')))


def test_a_zero_mass_counts_as_none(write):
    document = read_urdf(write(two_links(link=inertial("0.0", 'ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"'))))
    assert document.links["arm"].inertial is None
    assert document.notes == []


def test_calls_of_macros_that_xacro_has_left_are_left_out(write):
    """Public files of Valkyrie have them: what xacro wrote, with calls that it did not know."""
    text = two_links(robot='<xacro:sensors tag="imu"/><xacro:sensors/>').replace(
        "<robot", '<robot xmlns:xacro="http://ros.org/x"', 1
    )
    document = read_urdf(write(text))
    told = "line 7: <xacro:sensors> calls a macro that the file does not have; it is left out (2 times)"
    assert document.faults == (told,) and document.notes == [told] and len(document.links) == 2
    with pytest.raises(ModelError, match="calls a macro"):
        read_urdf(write(text), strict=True)


@pytest.mark.parametrize(
    "text", ["<!-- a -- b -->", '<link name="tool & tip"/>' + joint_element("t", "arm", "tool & tip"), "\0"]
)
def test_xml_that_other_readers_put_up_with_is_read(write, text):
    """Bullet's humanoid ends in a zero."""
    content = two_links() + text if text == "\0" else two_links(robot=text)
    assert len(read_urdf(write(content)).links) == 2 + ("tool" in text)


# What is wrong


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "<sdf version='1.9'/>",
            ":1: not a URDF file: its root element is <sdf> (SDF), not <robot>",
        ),
        ("\n<html/>", ":2: not a URDF file: its root element is <html>, not <robot>"),
        ("<robot name='r'/>", ":1: the robot has no links"),
        (
            '<robot xmlns:xacro="http://ros.org/xacro">\n<xacro:include filename="x"/></robot>',
            ":2: this is a xacro file (it has <xacro:include>); run xacro first",
        ),
        (
            '<robot xmlns:x="http://www.ros.org/wiki/xacro">\n<x:if value="1"/></robot>',
            ":2: this is a xacro file (it has <x:if>); run xacro first",
        ),
        (
            two_links(joint='<origin xyz="0 0 ${height}"/>'),
            ":5: joint 'elbow': origin: xyz='0 0 ${height}' is a xacro expression; run xacro first",
        ),
        ("<robot>\n<link/></robot>", ":2: a link has no name"),
        ("<robot>\n<link name=' '/></robot>", ":2: a link has no name"),
        (
            two_links(robot='<link name="arm"/>'),
            ":7: two links are named 'arm' (the first is on line 3)",
        ),
        (
            two_links(robot=joint_element("elbow", "arm", "base")),
            ":7: two joints are named 'elbow' (the first is on line 4)",
        ),
        (
            two_links(type="hinge"),
            ":4: joint 'elbow': its type 'hinge' is not one of revolute, continuous, prismatic, fixed, floating, planar",
        ),
        (
            '<robot><link name="a"/>\n<joint name="j"/></robot>',
            ":2: joint 'j': <joint> has no attribute 'type'",
        ),
        (
            '<robot><link name="a"/>\n<joint name="j" type="fixed"><child link="a"/></joint></robot>',
            ":2: joint 'j' has no <parent>",
        ),
        (
            '<robot><link name="a"/>\n<joint name="j" type="fixed"><parent link="a"/></joint></robot>',
            ":2: joint 'j' has no <child>",
        ),
        (
            '<robot><link name="a"/>\n<joint name="j" type="fixed"><parent/><child link="a"/></joint></robot>',
            ":2: joint 'j': parent: <parent> has no attribute 'link'",
        ),
        (
            '<robot><link name="a"/>\n<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint></robot>',
            ":2: joint 'j': its child link 'b' does not exist",
        ),
        (
            '<robot><link name="a"/>\n<joint name="j" type="fixed"><parent link="b"/><child link="a"/></joint></robot>',
            ":2: joint 'j': its parent link 'b' does not exist",
        ),
        (
            '<robot><link name="a"/>\n<joint name="j" type="fixed"><parent link="a"/><child link="a"/></joint></robot>',
            ":2: joint 'j': its parent and its child are both 'a'",
        ),
        (two_links(joint='<axis xyz="0 0 0"/>'), ":5: joint 'elbow': its axis is zero (0 0 0)"),
        (
            two_links(joint='<axis xyz="0 nan 0"/>'),
            "axis: xyz='0 nan 0': 'nan' is not a finite number",
        ),
        (
            two_links(joint='<axis xyz="0 inf 0"/>'),
            "axis: xyz='0 inf 0': 'inf' is not a finite number",
        ),
        (two_links(joint='<axis xyz="0 1e999 0"/>'), "axis: xyz='0 1e999 0' is larger than 1e+30"),
        (two_links(joint="<axis/>"), ":5: joint 'elbow': axis: <axis> has no attribute 'xyz'"),
        (
            two_links(joint='<origin xyz="1 2"/>'),
            "origin: xyz='1 2' should be three numbers, not 2",
        ),
        (
            two_links(joint='<origin rpy="1 2 3 4"/>'),
            "origin: rpy='1 2 3 4' should be three numbers, not 4",
        ),
        (two_links(joint='<origin xyz="1, 2, 3"/>'), "origin: xyz='1, 2, 3': '1,' is not a number"),
        (two_links(joint='<origin xyz="a b c"/>'), "origin: xyz='a b c': 'a' is not a number"),
        (two_links(joint='<origin xyz="1_0 0 0"/>'), "'1_0' is not a number"),
        (two_links(joint='<origin xyz="1 \u0661 0"/>'), "'\u0661' is not a number"),
        (two_links(joint='<origin xyz=""/>'), "origin: <origin> has no attribute 'xyz'"),
        (
            two_links(link=inertial("abc")),
            ":3: link 'arm': inertial: mass: value='abc' is not a number",
        ),
        (
            two_links(link=inertial("")),
            "link 'arm': inertial: mass: <mass> has no attribute 'value'",
        ),
        (two_links(link=inertial("-1")), ":3: link 'arm': inertial: mass is negative (-1)"),
        (two_links(link=inertial("nan")), "value='nan' is not a finite number"),
        (two_links(link=inertial("-Infinity")), "value='-Infinity' is not a finite number"),
        (
            two_links(link=inertial(inertia='ixx="1" iyy="1"')),
            "inertial: inertia: <inertia> has no attribute 'izz'",
        ),
        (
            two_links(link=inertial(inertia='ixx="one" iyy="1" izz="1"')),
            "link 'arm': inertial: inertia: ixx='one' is not a number",
        ),
        (
            two_links(joint='<limit lower="x"/>'),
            ":5: joint 'elbow': limit: lower='x' is not a number",
        ),
        (two_links(joint='<limit upper="nan"/>'), "limit: upper='nan' is not a finite number"),
        (
            two_links(joint='<dynamics damping="-1"/>'),
            ":5: joint 'elbow': its damping is negative (-1)",
        ),
        (
            two_links(joint='<dynamics friction="-2"/>'),
            ":5: joint 'elbow': its friction is negative (-2)",
        ),
        (two_links(joint="<mimic/>"), "joint 'elbow': mimic: <mimic> has no attribute 'joint'"),
        (two_links(joint='<mimic joint="elbow"/>'), ":4: joint 'elbow' mimics itself"),
        (
            two_links(
                joint='<mimic joint="wrist"/>',
                robot='<link name="c"/>' + joint_element("wrist", "arm", "c", '<mimic joint="elbow"/>'),
            ),
            ":4: joint 'elbow' mimics itself through 'wrist'",
        ),
        (
            two_links(link='<visual><geometry><box size="1 1"/></geometry></visual>'),
            ":3: link 'arm': visual: size='1 1' should be three numbers, not 2",
        ),
        (
            two_links(link='<visual><geometry><sphere radius="-1"/></geometry></visual>'),
            ":3: link 'arm': visual: sphere has a negative size (-1)",
        ),
        (
            two_links(link='<visual><geometry><cylinder radius="1"/></geometry></visual>'),
            "visual: <cylinder> has no attribute 'length'",
        ),
        (
            two_links(link="<visual><geometry><mesh/></geometry></visual>"),
            "visual: <mesh> has no attribute 'filename'",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_line(write, content, message):
    assert message in error_of(write(content))


def test_long_values_are_cut_in_messages(write):
    message = error_of(write(two_links(joint=f'<origin xyz="{"9" * 10_000}"/>')))
    assert len(message) < 300
    assert "'" + "9" * 37 + "...'" in message


# The tree


def chain(*joints: tuple[str, str]) -> str:
    links = dict.fromkeys(link for joint in joints for link in joint)
    lines = [f'<link name="{link}"/>' for link in links]
    for number, (parent, child) in enumerate(joints):
        lines.append(joint_element(f"j{number}", parent, child))
    return "<robot>" + "\n".join(lines) + "</robot>"


def test_links_are_ordered_depth_first_in_the_order_of_the_file(write):
    document = read_urdf(write(chain(("b", "d"), ("a", "b"), ("b", "c"), ("a", "e"), ("d", "f"))))
    assert find_root(document) == "a"
    branches = find_order(describe(document)).branches
    assert [branch.link for branch in branches] == ["a", "b", "d", "f", "c", "e"]
    assert [branch.joint.name for branch in branches[1:]] == ["j1", "j0", "j4", "j2", "j3"]


@pytest.mark.parametrize(
    ("joints", "message"),
    [
        (
            [("a", "c"), ("b", "c"), ("a", "b")],
            ":5: link 'c' has two parents: 'a' by joint 'j0' (line 4) and 'b' by joint 'j1'",
        ),
        ([("a", "b"), ("b", "a")], "the joints form a loop: b -> a -> b"),
        ([("r", "s"), ("a", "b"), ("b", "c"), ("c", "a")], ":7: the joints form a loop: "),
        (
            [("a", "b"), ("c", "d")],
            ":3: the links form 2 separate trees: 'a' and 'c' have no parent",
        ),
        (
            [("a", "b"), ("c", "d"), ("e", "f")],
            "the links form 3 separate trees: 'a' and 'c' (and 1 more) have",
        ),
    ],
)
def test_what_is_not_a_tree_is_refused(write, joints, message):
    assert message in error_of(write(chain(*joints)))


def test_a_long_loop_is_shown_in_part(write):
    joints = [(f"l{n}", f"l{(n + 1) % 1000}") for n in range(1000)]
    assert len(error_of(write(chain(*joints)))) < 300


@pytest.mark.parametrize("count", [20_000])
def test_deep_chains_are_read_without_recursion(write, count):
    document = read_urdf(write(chain(*((f"l{n}", f"l{n + 1}") for n in range(count)))))
    assert find_root(document) and len(find_order(describe(document)).branches) == count + 1
