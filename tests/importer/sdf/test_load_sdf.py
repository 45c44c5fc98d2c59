# ruff: noqa: E501  (XML reads best in one line)
"""SDF files: joints, frames, nested models, includes, loops and mimicry, against what the format says and small derivations."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb

SOLID = "<inertial><mass>{m}</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"


def link(name: str, pose: str = "", m: float = 1.0, inside: str = "") -> str:
    return f'<link name="{name}">{pose and at(pose)}{SOLID.format(m=m)}{inside}</link>'


def at(pose: str, **attributes: str) -> str:
    words = pose.split()
    given = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return f"<pose{given}>{' '.join([*words, *['0'] * (6 - len(words))])}</pose>"


def joint(name: str, kind: str, parent: str, child: str, axis: str = "<axis><xyz>0 0 1</xyz></axis>", pose: str = "") -> str:
    axis = "" if kind in ("ball", "fixed") else axis
    return f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>{pose}{axis}</joint>'


def model(*parts: str, version: str = "1.9", name: str = "m", attributes: str = "", pose: str = "") -> str:
    inside = "\n".join(parts)
    return f'<sdf version="{version}"><model name="{name}" {attributes}>{pose}\n{inside}\n</model></sdf>'


@pytest.fixture
def load(write):
    def load(text: str, name: str = "model.sdf", **options):
        return mb.load_sdf(write(text, name), **options)

    return load


def pose_of(model: mb.Model, name: str, state: mb.State | None = None) -> np.ndarray:
    state = model.default_state() if state is None else state
    model.system.realize(state, mb.Stage.POSITION)
    return np.asarray(model.bodies[name].get_body_transform(state))


def set_coordinates(model: mb.Model, **values: float) -> mb.State:
    state = model.default_state()
    q = state.q.copy()
    for name, value in values.items():
        q[model.coordinates[name]] = value
    state.q = q
    return state


def about(axis, angle: float) -> np.ndarray:
    return np.asarray(mb.Rotation.about_axis(angle, axis))


# Joints


@pytest.mark.parametrize(
    ("kind", "moved"),
    [
        ("revolute", (about((0, 0.6, 0.8), 0.3), (0, 0, 0))),
        ("continuous", (about((0, 0.6, 0.8), 0.3), (0, 0, 0))),
        ("prismatic", (np.eye(3), (0, 0.18, 0.24))),
        ("screw", (about((0, 0.6, 0.8), 0.3), (0, 0.18 * 0.25 / (2 * math.pi), 0.24 * 0.25 / (2 * math.pi)))),
    ],
)
@pytest.mark.parametrize("turned_round", [False, True])
def test_joints_of_one_axis_move_their_child_in_the_joints_frame(load, kind, moved, turned_round):
    """X_PB = X_PJ X_J(q) X_JB; from the child's side, as when only that is fixed to the world, the inverse."""
    axis = "<axis><xyz>0 3 4</xyz></axis><screw_thread_pitch>0.25</screw_thread_pitch>"
    anchor = joint("anchor", "fixed", "world", "b" if turned_round else "a")
    one = load(
        model(
            link("a", "1 0 0"),
            link("b", "1 2 0 0 0 1.2"),
            joint("j", kind, "a", "b", axis, at("0.1 0.2 0.3 0.5 0.4 0.3")),
            anchor,
        )
    )
    assert list(one.coordinates) == list(one.speeds) == ["j"]
    assert one.angles == (set() if kind == "prismatic" else {"j"})
    zero = one.default_state()
    X_A0, X_B0 = pose_of(one, "a", zero), pose_of(one, "b", zero)
    assert_allclose(X_A0[:3, 3], [1, 0, 0], atol=1e-14)
    X_BJ = np.asarray(
        mb.Transform(mb.Rotation(about((0, 0, 1), 0.3) @ about((0, 1, 0), 0.4) @ about((1, 0, 0), 0.5)), (0.1, 0.2, 0.3))
    )
    X_AJ = np.linalg.inv(X_A0) @ X_B0 @ X_BJ
    step = np.eye(4)
    step[:3, :3], step[:3, 3] = moved
    state = set_coordinates(one, j=0.3)
    between = np.linalg.inv(pose_of(one, "a", state)) @ pose_of(one, "b", state)
    assert_allclose(between, X_AJ @ step @ np.linalg.inv(X_BJ), atol=1e-14)


@pytest.mark.parametrize(("second", "bodies"), [("0 1 0", 3), ("1 1 0", 4)])
@pytest.mark.parametrize("kind", ["universal", "revolute2"])
@pytest.mark.parametrize("turned_round", [False, True])
def test_two_axes_turn_one_after_the_other(load, second, bodies, kind, turned_round):
    """R = R(axis, q0) R(axis2, q1), at right angles or not."""
    axes = f"<axis><xyz>1 0 0</xyz></axis><axis2><xyz>{second}</xyz></axis2>"
    anchor = joint("anchor", "fixed", "world", "b" if turned_round else "a")
    one = load(model(link("a"), link("b"), joint("j", kind, "a", "b", axes), anchor))
    assert set(one.coordinates) == {"j[0]", "j[1]"} and one.matter.get_num_bodies() == bodies
    state = set_coordinates(one, **{"j[0]": 0.4, "j[1]": -0.7})
    between = np.linalg.inv(pose_of(one, "a", state)) @ pose_of(one, "b", state)
    axis2 = np.array([float(word) for word in second.split()])
    assert_allclose(between[:3, :3], about((1, 0, 0), 0.4) @ about(axis2 / np.linalg.norm(axis2), -0.7), atol=1e-14)


def test_balls_fixed_and_free_links(load):
    one = load(
        model(
            link("a", "1 2 3 0 0 0.5"),
            link("b"),
            link("c", "0 0 1"),
            joint("ball", "ball", "a", "b"),
            joint("weld", "fixed", "b", "c"),
        )
    )
    assert list(one.coordinates) == [f"a[{i}]" for i in range(7)] + [f"ball[{i}]" for i in range(4)]
    assert list(one.speeds) == [f"a[{i}]" for i in range(6)] + [f"ball[{i}]" for i in range(3)]
    assert_allclose(one.default_state().q, [math.cos(0.25), 0, 0, math.sin(0.25), 1, 2, 3, 1, 0, 0, 0], atol=1e-15)
    assert_allclose(pose_of(one, "c")[:3, 3], [0, 0, 1], atol=1e-15)


@pytest.mark.parametrize(
    ("version", "flag", "turned"),
    [
        ("1.4", "", True),
        ("1.5", "", False),
        ("1.6", "<use_parent_model_frame>1</use_parent_model_frame>", True),
        ("1.7", "", False),
    ],
)
def test_axes_of_older_files_are_in_the_models_frame_or_the_joints(load, version, flag, turned):
    axis = f"<axis><xyz>1 0 0</xyz>{flag}</axis>"
    one = load(model(link("a", "0 0 0 0 0 1.5707963267948966"), joint("j", "prismatic", "world", "a", axis), version=version))
    p = pose_of(one, "a", set_coordinates(one, j=2.0))[:3, 3]
    assert_allclose(p, [2, 0, 0] if turned else [0, 2, 0], atol=1e-15)


def test_an_axis_can_be_expressed_in_any_frame(load):
    frame = f'<frame name="f">{at("0 0 0 0 0 1.5707963267948966")}</frame>'
    axis = '<axis><xyz expressed_in="f">1 0 0</xyz></axis>'
    for version in ("1.9", "1.6"):  # older files may say so, too: PX4's rovers do
        one = load(model(frame, link("a", "0 0 0 1 2 3"), joint("j", "prismatic", "world", "a", axis), version=version))
        assert_allclose(pose_of(one, "a", set_coordinates(one, j=2.0))[:3, 3], [0, 2, 0], atol=1e-15)


def test_an_older_screw_has_its_thread_as_an_angle_a_length(load):
    axis = "<axis><xyz>0 0 1</xyz></axis><thread_pitch>-50</thread_pitch>"
    one = load(model(link("a"), joint("j", "screw", "world", "a", axis)))
    assert_allclose(pose_of(one, "a", set_coordinates(one, j=3.0))[2, 3], 3.0 / 50.0)


def test_springs_dampers_stops_friction_and_rotors(load):
    axis = """<axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>1</upper><effort>4</effort></limit>
      <dynamics><damping>0.5</damping><friction>0.2</friction><spring_stiffness>3</spring_stiffness>
      <spring_reference>0.1</spring_reference></dynamics></axis>
      <drake:rotor_inertia>0.002</drake:rotor_inertia><drake:gear_ratio>10</drake:gear_ratio>"""
    text = model(link("a", inside="<gravity>false</gravity>"), joint("j", "revolute", "world", "a", axis))
    one = load(text)
    assert [set(d) for d in (one.springs, one.dampers, one.stops, one.frictions)] == [{"j"}, {"j"}, {"j"}, set()]
    state = set_coordinates(one, j=0.5)
    state.u = [2.0]
    one.system.realize(state)
    assert_allclose(one.matter.calc_m(state), [[1.2]])
    assert_allclose(state.u_dot, [-(3.0 * 0.4 + 0.5 * 2.0) / 1.2])
    assert one.stops["j"].get_default_stiffness() == pytest.approx(4.0 / 0.02)
    assert "friction of 1 joint: kept as data, not simulated" in one.report
    one = load(text, joint_damping=False, joint_limits=False, joint_friction=True)
    assert [set(d) for d in (one.springs, one.dampers, one.stops, one.frictions)] == [{"j"}, set(), set(), {"j"}]
    state = set_coordinates(one, j=0.1)
    state.u = [2.0]
    one.system.realize(state)
    text = text.replace("<effort>4</effort>", "<effort>-1</effort><stiffness>77</stiffness><dissipation>2</dissipation>")
    stop = load(text.replace("<lower>-1", "<lower>0.5")).stops["j"]
    assert (stop.get_default_stiffness(), stop.get_default_dissipation()) == (77.0, 2.0)
    assert load(text.replace("<lower>-1", "<lower>0.5")).default_state().q.tolist() == [0.5]


@pytest.mark.parametrize("axis", ["axis", "axis2"])
def test_mimicry_couples_axes(load, axis):
    mimic = f'<axis><xyz>0 0 1</xyz><mimic joint="j" axis="{axis}"><multiplier>2</multiplier><offset>0.3</offset><reference>0.1</reference></mimic></axis>'
    axes = "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>"
    one = load(
        model(link("a"), link("b"), joint("j", "universal", "world", "a", axes), joint("k", "revolute", "world", "b", mimic))
    )
    state = one.default_state()
    assert_allclose(state.q[one.coordinates["k"]], 2 * (0 - 0.1) + 0.3)
    state = set_coordinates(one, **{f"j[{int(axis == 'axis2')}]": 0.5, "k": 2 * 0.4 + 0.3})
    one.system.realize(state, mb.Stage.POSITION)
    assert_allclose(state.q_err, 0.0, atol=1e-15)
    assert set(one.constraints) == {"k"}
    assert load(model(link("b"), joint("k", "revolute", "world", "b", mimic))).constraints == {}


# Frames


def test_poses_are_relative_to_what_they_name(load):
    """Turns by 90 degrees about z, so that each step can be followed in the head."""
    turn = "0 0 0 0 0 90"
    one = load(
        model(
            f'<frame name="f" attached_to="b">{at("1 0 0 0 0 90", degrees="true")}</frame>',
            link("a", "5 0 0"),
            f'<link name="b">{at("0 1 0 0 0 90", relative_to="a", degrees="true")}{SOLID.format(m=1)}</link>',
            f'<link name="c">{at("1 0 0", relative_to="f")}{SOLID.format(m=1)}</link>',
            f'<link name="d">{at("0 0 2", relative_to="j")}{SOLID.format(m=1)}</link>',
            joint("j", "fixed", "c", "b", pose=at("1 0 0")),
            pose=at(turn, degrees="true"),
        )
    )
    X = {name: pose_of(one, name) for name in "abcd"}
    assert_allclose(X["a"][:3, 3], [0, 5, 0], atol=1e-14)
    assert_allclose(X["b"][:3, 3], [-1, 5, 0], atol=1e-14)  # (0, 1, 0) turned by 90 degrees is (-1, 0, 0)
    assert_allclose(X["c"][:3, 3], [-2, 4, 0], atol=1e-14)  # b has turned by 180 degrees, f by 270
    assert_allclose(X["d"][:3, 3], [-2, 5, 2], atol=1e-14)
    body, X_BF = one.frames["f"]
    assert body is one.bodies["b"]
    assert_allclose(X_BF.p, [1, 0, 0], atol=1e-14)
    assert_allclose(np.asarray(X_BF.R), about((0, 0, 1), math.pi / 2), atol=1e-14)


def test_quaternions_stand_in_poses(load):
    pose = '<pose rotation_format="quat_xyzw">1 2 3  0 0 2 2</pose>'
    one = load(model(f'<link name="a">{pose}{SOLID.format(m=1)}</link>', joint("j", "fixed", "world", "a")))
    assert_allclose(
        pose_of(one, "a"), np.asarray(mb.Transform(mb.Rotation(about((0, 0, 1), math.pi / 2)), (1, 2, 3))), atol=1e-15
    )


def test_nested_models_and_placement_frames(load):
    inner = f'<model name="in" placement_frame="tip">{at("10 0 0")}{link("root")}{link("tip", "0 0 1")}{joint("k", "fixed", "root", "tip")}</model>'
    one = load(model(inner, link("out"), joint("j", "revolute", "in::tip", "out"), joint("w", "fixed", "world", "in::root")))
    assert set(one.bodies) == {"in::root", "in::tip", "out"} and list(one.coordinates) == ["j"]
    assert_allclose(pose_of(one, "in::tip")[:3, 3], [10, 0, 0], atol=1e-15)
    assert_allclose(pose_of(one, "in::root")[:3, 3], [10, 0, -1], atol=1e-15)


def test_a_world_with_models_that_stand_and_models_that_move(load):
    text = f"""<sdf version="1.8"><world name="w"><gravity>0 0 -3</gravity><light name="sun" type="point"/>
      <model name="ground"><static>true</static>{link("plane", "0 0 -1")}{link("b")}{joint("j", "revolute", "plane", "b")}</model>
      <model name="ball">{at("0 0 5")}{link("a")}</model>
      <model name="ball2">{at("1 0 0", relative_to="ball")}{link("a")}</model>
      <frame name="f" attached_to="ball2"/></world></sdf>"""
    one = load(text, "w.world")
    assert set(one.bodies) == {"ground::plane", "ground::b", "ball::a", "ball2::a"} and len(one.speeds) == 12
    assert_allclose(pose_of(one, "ball2::a")[:3, 3], [1, 0, 5])
    assert one.frames["f"][0] is one.bodies["ball2::a"]
    state = one.default_state()
    one.system.realize(state)
    assert_allclose(state.u_dot, [0, 0, 0, 0, 0, -3] * 2, atol=1e-15)
    assert any("joint 'ground::j' connects parts of the world, and is left out" in note for note in one.report)
    assert_allclose(load(text, gravity=(0, 1, 0)).gravity.get_default_gravity_vector(), [0, 1, 0])


@pytest.fixture
def library(tmp_path):
    """A folder of models as Gazebo has them."""
    arm = tmp_path / "models" / "arm"
    (arm / "meshes").mkdir(parents=True)
    config = '<model><name>Arm</name><sdf version="1.4">old.sdf</sdf><sdf version="1.10">new.sdf</sdf></model>'
    (arm / "model.config").write_text(f"<?xml version='1.0'?>{config}")
    (arm / "old.sdf").write_text(model(link("old"), version="1.4"))
    mesh = "<visual name='v'><geometry><mesh><uri>{}</uri></mesh></geometry></visual>"
    shown = mesh.format("meshes/a.stl") + mesh.format("model://arm/meshes/a.stl") + mesh.format("none.stl")
    (arm / "meshes" / "a.stl").write_text("solid a\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendsolid")
    (arm / "new.sdf").write_text(
        model(link("base", inside=shown), link("hand", "0 0 1"), joint("wrist", "revolute", "base", "hand"), name="arm")
    )
    return tmp_path / "models"


INCLUDE = """<include><uri>model://arm</uri><name>{name}</name><pose>{x} 0 0 0 0 0</pose>{more}</include>"""


def test_included_models_are_found_named_and_placed(library, tmp_path):
    path = tmp_path / "world.sdf"
    left, right = INCLUDE.format(name="left", x=1, more=""), INCLUDE.format(name="right", x=2, more="<static>true</static>")
    moved = INCLUDE.format(name="up", x=3, more="<placement_frame>hand</placement_frame>")
    path.write_text(f'<sdf version="1.9"><world name="w">{left}{right}{moved}</world></sdf>')
    one = mb.load_sdf(path, package_dirs=library)
    assert set(one.bodies) == {f"{a}::{b}" for a in ("left", "right", "up") for b in ("base", "hand")}
    assert [name for name in one.coordinates if "[" not in name] == ["left::wrist", "up::wrist"]
    assert_allclose(pose_of(one, "right::hand")[:3, 3], [2, 0, 1])
    assert_allclose(pose_of(one, "up::hand")[:3, 3], [3, 0, 0], atol=1e-15)
    drawn = [geometry.path.name for geometry, _ in one.bodies["left::base"].body.decorations]
    assert drawn == ["a.stl", "a.stl"]
    (note,) = [note for note in one.report if "there is no mesh file 'none.stl'; it is not drawn (3 times)" in note]
    assert "new.sdf:" in note
    with pytest.raises(mb.ModelError, match=r"new\.sdf:2: there is no mesh file 'none.stl'"):
        mb.load_sdf(path, package_dirs=library, strict=True)


def test_a_merged_model_has_its_parts_beside_those_of_the_one_it_is_in(library, tmp_path):
    path = tmp_path / "robot.sdf"
    include = INCLUDE.format(name="it", x=7, more="").replace("<include>", '<include merge="true">')
    path.write_text(model(include, link("tool"), joint("grip", "fixed", "hand", "tool"), joint("w", "fixed", "world", "base")))
    one = mb.load_sdf(path, package_dirs=library)
    assert set(one.bodies) == {"base", "hand", "tool"} and list(one.coordinates) == ["wrist"]
    assert_allclose(pose_of(one, "hand")[:3, 3], [7, 0, 1])


def test_a_merged_models_own_frame_is_on_its_canonical_link(tmp_path):
    """Of SDFormat's specification, and Drake: what is attached to the merged model moves with it, not with the one around."""
    ball = '<collision name="c"><pose relative_to="__model__"/><geometry><sphere/></geometry></collision>'
    parts = '<frame name="f"/>', joint("j", "revolute", "f", "hand"), joint("k", "ball", "__model__", "tool")
    links = link("hand", "0 1 0"), link("palm", "0 0 1", inside=ball), link("tool")
    (tmp_path / "arm.sdf").write_text(model(*links, *parts, attributes='canonical_link="palm"', pose=at("1 0 0")))
    inside = '<include merge="true"><uri>arm.sdf</uri><static>true</static></include>'
    path = tmp_path / "robot.sdf"
    path.write_text(model(link("base"), joint("w", "fixed", "world", "base"), inside))
    one = mb.load_sdf(path, collision=True, exclude_overlapping=False)
    assert {name: one.bodies[name].parent.name for name in ("palm", "hand", "tool")} == {
        "palm": "ground", "hand": "palm", "tool": "palm",
    }  # fmt: skip
    assert one.frames["f"][0] is one.bodies["palm"]
    assert_allclose(np.asarray(one.contacts.surfaces[0].X_BS)[:3, 3], [0, 0, -1])
    assert any("the parts of 'm' are merged: its <static>" in note for note in one.report)


def test_included_models_that_are_missing_are_left_out_or_refused(tmp_path):
    path = tmp_path / "world.sdf"
    path.write_text(
        f'<sdf version="1.9"><world name="w">{INCLUDE.format(name="a", x=0, more="")}\n<model name="b">{link("c")}</model></world></sdf>'
    )
    with pytest.warns(
        UserWarning, match=r"line 1: the included model 'model://arm' is not there; it is left out; package_dirs"
    ):
        assert set(mb.load_sdf(path).bodies) == {"b::c"}
    with pytest.raises(mb.ModelError, match=r"world\.sdf:1: the included model 'model://arm' is not there"):
        mb.load_sdf(path, strict=True)


def test_a_joint_to_a_missing_model_is_left_out_with_it(tmp_path):
    path = tmp_path / "robot.sdf"
    include, grip = "<include><uri>model://arm</uri></include>", joint("grip", "fixed", "arm::hand", "tool")
    path.write_text(model(include, link("tool"), grip))
    with pytest.warns(UserWarning, match="joint 'grip' connects 'arm::hand', of an included model that is not there"):
        assert list(mb.load_sdf(path).bodies) == ["tool"]
    path.write_text(model(include, link("tool"), joint("grip", "fixed", "hand", "tool")))
    with pytest.raises(
        mb.ModelError, match=r"no link, joint, frame or model 'hand' \(the included models 'arm' are not there\)"
    ):
        mb.load_sdf(path)


def test_a_model_is_included_by_its_bare_name_and_a_light_is_left_out(library, tmp_path):
    sun = library / "sun"
    sun.mkdir()
    (sun / "model.sdf").write_text('<sdf version="1.6"><light type="directional" name="sun"/></sdf>')
    path = tmp_path / "world.sdf"
    bare = "<include><uri>arm</uri></include><include><uri>model://sun</uri></include>"
    path.write_text(f'<sdf version="1.9"><world name="w">{bare}</world></sdf>')
    one = mb.load_sdf(path, package_dirs=library)
    assert set(one.bodies) == {"arm::base", "arm::hand"}
    assert any("<include> of a <light> is ignored" in line for line in one.report), one.report
    (tmp_path / "worlds" / "night").mkdir(parents=True)  # beside the folder of models, as Gazebo has them
    other = path.rename(tmp_path / "worlds" / "night" / "world.sdf")
    assert set(mb.load_sdf(other).bodies) == set(one.bodies)


def test_what_surfaces_and_looks_have_besides_is_reported(load):
    box = "<geometry><box><size>1 1 1</size></box></geometry>"
    shown = f"<visual name='v'>{box}<cast_shadows>true</cast_shadows><material><specular>1 1 1 1</specular></material></visual>"
    touch = f"<collision name='c'>{box}<surface><friction><ode><mu>0.7</mu></ode></friction></surface></collision>"
    report = load(model(link("a", inside=shown + touch + "<self_collide>true</self_collide>"))).report
    for what in (
        "<cast_shadows> in <visual>",
        "<specular> in <material>",
        "<surface> in <collision>",
        "<self_collide> in <link>",
    ):
        assert any(f"{what} is ignored" in line for line in report), report


# Loops


def test_a_joint_that_closes_a_loop_keeps_its_coordinate(load):
    """A parallelogram of massless-ended bars: with sides 1 and 2, opposite angles stay equal."""
    axis = "<axis><xyz>0 1 0</xyz></axis>"
    text = model(
        link("left", "0 0 0"),
        link("right", "2 0 0"),
        link("top", "0 0 1"),
        joint("a", "revolute", "world", "left", axis),
        joint("b", "revolute", "world", "right", axis),
        joint("c", "revolute", "left", "top", axis),
        joint("d", "revolute", "right", "top", axis, at("2 0 0")),
    )
    one = load(text)
    assert set(one.coordinates) == {"a", "b", "c", "d"} and set(one.constraints) == {"d"}
    assert any("joint 'd' closes a loop: 'top' is in 2 parts, welded by constraints" in note for note in one.report)
    assert_allclose(sum(b.get_default_mass_properties().mass for b in one.matter.bodies[1:]), 3.0)
    state = set_coordinates(one, a=0.3, b=0.3, c=-0.3, d=-0.3)
    one.system.realize(state, mb.Stage.POSITION)
    assert_allclose(state.q_err, 0.0, atol=1e-14)
    signs = {"a": 1.0, "b": 1.0, "c": -1.0, "d": -1.0}
    state.u = [0.7 * signs[name] for name in one.speeds]
    one.system.realize(state)
    # one degree of freedom: T = (1/2) (I1 + I2 + m L^2) w^2 of two bars at their pivots and a top that only shifts
    inertia = 1.0 + 1.0 + 1.0
    torque = 9.8 * math.sin(0.3)  # the top's weight; those of the bars are at their pivots
    assert_allclose([state.u_dot[one.speeds[name]] * signs[name] for name in "abcd"], torque / inertia, rtol=1e-10)


def test_a_joint_that_closes_a_loop_may_mimic(load):
    """The coordinate that is cut follows its leader, and the weld that closes the loop has the joint's name."""
    plain = "<axis><xyz>0 1 0</xyz></axis>"
    follows = plain.replace("</axis>", '<mimic joint="a"><multiplier>-1</multiplier></mimic></axis>')
    text = model(
        link("left", "0 0 0"),
        link("right", "2 0 0"),
        link("top", "0 0 1"),
        joint("a", "revolute", "world", "left", plain),
        joint("b", "revolute", "world", "right", plain),
        joint("c", "revolute", "left", "top", plain),
        joint("d", "revolute", "right", "top", follows, at("2 0 0")),
    )
    one = load(text)
    assert {name: type(part).__name__ for name, part in one.constraints.items()} == {
        "d": "Weld",
        "mimic of d": "CoordinateCoupler",
    }
    state = set_coordinates(one, a=0.3, b=0.3, c=-0.3, d=-0.3)
    one.system.realize(state, mb.Stage.POSITION)
    assert_allclose(state.q_err, 0.0, atol=1e-14)
    state = set_coordinates(one, a=0.3, b=0.3, c=-0.3, d=-0.2)
    one.system.realize(state, mb.Stage.POSITION)
    assert_allclose(abs(one.constraints["mimic of d"].get_position_errors_as_vector(state)), 0.1, atol=1e-14)


def test_a_weld_that_closes_a_loop_is_a_constraint(load):
    axis = "<axis><xyz>0 1 0</xyz></axis>"
    one = load(
        model(
            link("a"),
            link("b"),
            joint("i", "revolute", "world", "a", axis),
            joint("j", "revolute", "world", "b", axis),
            joint("k", "fixed", "a", "b"),
        )
    )
    assert set(one.coordinates) == {"i", "j"} and isinstance(one.constraints["k"], mb.constraint.Weld)


# Mass, shapes


def test_inertials_are_turned_and_shifted(load):
    inertial = f"<inertial>{at('1 0 0 0 0 1.5707963267948966')}<mass>2</mass><inertia><ixx>3</ixx><iyy>4</iyy><izz>5</izz></inertia></inertial>"
    one = load(model(f'<link name="a">{inertial}</link>', '<link name="b"/>'))
    properties = one.bodies["a"].get_default_mass_properties()
    assert_allclose(np.asarray(properties.inertia), np.diag([4.0, 3.0 + 2.0, 5.0 + 2.0]), atol=1e-15)
    default = one.bodies["b"].get_default_mass_properties()  # the format's
    assert default.mass == 1.0 and np.array_equal(np.asarray(default.inertia), np.eye(3))


@pytest.mark.parametrize(
    ("shape", "mass", "moments", "height"),
    [
        ("<box><size>1 2 3</size></box>", 6.0, (6.5, 5.0, 2.5), 0.0),
        ("<sphere><radius>2</radius></sphere>", 32 * math.pi / 3, (51.2 * math.pi / 3,) * 3, 0.0),
        (
            "<ellipsoid><radii>2 3 4</radii></ellipsoid>",
            32 * math.pi,
            (160 * math.pi, 128 * math.pi, 83.2 * math.pi),
            0.0,
        ),
        (
            "<cylinder><radius>1</radius><length>2</length></cylinder>",
            2 * math.pi,
            (2 * math.pi * 7 / 12,) * 2 + (math.pi,),
            0.0,
        ),
        ("<cone><radius>1</radius><length>4</length></cone>", 4 * math.pi / 3, (math.pi, math.pi, 0.4 * math.pi), -1.0),
        ("<capsule><radius>1</radius><length>0</length></capsule>", 4 * math.pi / 3, (1.6 * math.pi / 3,) * 3, 0.0),
    ],
)
def test_inertia_is_calculated_from_shapes_where_the_file_asks_for_it(load, shape, mass, moments, height):
    collision = f'<collision name="c"><density>1</density><geometry>{shape}</geometry></collision>'
    one = load(model(f'<link name="a"><inertial auto="true"/>{collision}</link>', version="1.11"))
    properties = one.bodies["a"].get_default_mass_properties()
    assert_allclose(properties.mass, mass)
    assert_allclose(properties.com, [0, 0, height], atol=1e-15)
    assert_allclose(np.asarray(properties.central_inertia), np.diag(moments), rtol=1e-12, atol=1e-12)
    given = load(model(f'<link name="a"><inertial auto="true"><mass>3</mass></inertial>{collision}</link>', version="1.11"))
    assert_allclose(given.bodies["a"].get_default_mass_properties().central_inertia.moments, 3.0 / mass * np.array(moments))


def test_inertia_of_halves_of_a_box_is_that_of_the_whole(load):
    half = "<geometry><box><size>0.5 2 3</size></box></geometry>"
    halves = [
        f'<collision name="{k}"><pose>{1 + 0.25 * k} 2 3 0 0 0</pose><density>1</density>{half}</collision>' for k in (-1, 1)
    ]
    one = load(model(f'<link name="a"><inertial auto="true"/>{"".join(halves)}</link>', version="1.11"))
    properties = one.bodies["a"].get_default_mass_properties()
    assert_allclose(properties.com, [1.0, 2.0, 3.0], rtol=1e-12)
    assert_allclose(np.asarray(properties.central_inertia), np.diag([6.5, 5.0, 2.5]), rtol=1e-12, atol=1e-12)


def test_shapes_are_drawn_and_collisions_are_data_or_touch(load):
    shapes = {
        "box": "<box><size>1 2 3</size></box>",
        "sphere": "<sphere><radius>1</radius></sphere>",
        "ellipsoid": "<ellipsoid><radii>1 2 3</radii></ellipsoid>",
        "cylinder": "<cylinder><radius>1</radius><length>2</length></cylinder>",
        "plane": "<plane><normal>0 1 1</normal><size>4 4</size></plane>",
    }
    color = "<material><diffuse>1 0 0 1</diffuse></material><transparency>0.25</transparency>"
    visuals = [f'<visual name="{k}">{at("0 0 1")}<geometry>{v}</geometry>{color}</visual>' for k, v in shapes.items()]
    collisions = [f'<collision name="{k}"><geometry>{v}</geometry></collision>' for k, v in shapes.items() if k != "plane"]
    floor = f'<link name="floor"><collision name="p"><geometry>{shapes["plane"]}</geometry></collision></link>'
    text = model(link("a", "0 0 20", inside="".join(visuals + collisions)), floor, joint("w", "fixed", "world", "floor"))
    one = load(text)
    drawn = [type(geometry).__name__ for geometry, _ in one.bodies["a"].body.decorations]
    assert drawn == ["Brick", "Sphere", "Ellipsoid", "Cylinder", "Plane"]
    assert all(
        geometry.color == (1.0, 0.0, 0.0) and geometry.opacity == 0.75 for geometry, _ in one.bodies["a"].body.decorations
    )
    assert one.contacts is None and [shape.name for shape in one.data["collisions"]["a"]] == [
        "box",
        "sphere",
        "ellipsoid",
        "cylinder",
    ]
    one = load(text, collision=True, link_materials={"a": mb.contact.Material(1e6)})
    assert len(one.contacts.surfaces) == 5 and "5 collision shapes: surfaces of contact" in one.report
    with pytest.raises(mb.ModelError, match="there is no link 'b'"):
        load(text, collision=True, link_materials={"b": mb.contact.Material(1e6)})


def test_impossible_inertias_are_kept_with_one_warning_or_refused(load):
    bad = "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>5</izz></inertia></inertial>"
    text = model(f'<link name="a">{bad}</link>', f'\n<link name="b">{bad}</link>')
    with pytest.warns(UserWarning) as caught:
        one = load(text)
    assert len(caught) == 1 and "2 links have inertias that no body has; they are kept" in str(caught[0].message)
    assert_allclose(np.asarray(one.bodies["a"].get_default_mass_properties().inertia), np.diag([1.0, 1.0, 5.0]))
    with pytest.raises(mb.ModelError, match="2 links have inertias that no body has: line 2: link 'a'"):
        load(text, strict=True)


def test_what_is_left_out_is_reported_with_lines(load):
    text = model(
        link("a", inside="\n<sensor name='s' type='imu'/>\n<kinematic>true</kinematic>"),
        "<plugin name='p' filename='f'/>",
        '<joint name="g" type="gearbox"><parent>a</parent><child>a</child></joint>',
    )
    report = load(text).report
    assert "line 3: <sensor> in <link> is ignored" in report and "line 4: <kinematic> in <link> is ignored" in report
    assert "line 5: <plugin> in <model> is ignored" in report
    assert "line 6: joint 'g' is a gearbox between two joints; it is left out" in report


@pytest.mark.parametrize(
    ("inside", "what", "lost"),
    [
        ("<kinematic>true</kinematic>", "<kinematic> in <link>", "links that are kinematic: 1"),
        (
            "<velocity_decay><linear>0.1</linear></velocity_decay>",
            "<velocity_decay> in <link>",
            "links whose velocities decay: 1",
        ),
        (
            "<inertial><fluid_added_mass><xx>2</xx></fluid_added_mass></inertial>",
            "<fluid_added_mass> in <inertial>",
            "links with the added mass of a fluid: 1",
        ),
        (
            "<collision name='c'><geometry><heightmap><uri>h.png</uri></heightmap></geometry></collision>",
            "<collision> without a shape that is known",
            "collision shapes of kinds that are not known: 1",
        ),
    ],
)
def test_what_is_left_out_and_changes_the_motion_is_warned_of(load, inside, what, lost):
    text = model(f"<link name='a'>\n{inside}</link>")
    with pytest.warns(mb.ModelWarning, match=lost):
        report = load(text, collision=True).report
    assert f"line 3: {what} is ignored" in report
    with pytest.raises(mb.ModelError, match=f"strict.*\n.*{what} is ignored"):
        load(text, collision=True, strict=True)
    for nothing in ("<kinematic>0</kinematic>", "<velocity_decay/>", "<inertial><fluid_added_mass/></inertial>"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            load(model(f"<link name='a'>{nothing}</link>"), strict=True)


def test_a_massless_leaf_is_welded_with_a_warning(load):
    text = model(
        link("a"),
        link("b", m=0.0).replace("<ixx>1", "<ixx>0").replace("<iyy>1", "<iyy>0").replace("<izz>1", "<izz>0"),
        joint("j", "revolute", "a", "b"),
    )
    with pytest.warns(UserWarning, match="joints that move no mass are welded: 'j'"):
        assert [name for name in load(text).coordinates if "[" not in name] == []


# What is wrong


A = link("a")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<robot/>", ":1: not an SDF file: its root element is <robot> \\(URDF\\)"),
        ('<sdf version="1.9"/>', ":1: there is no <model> and no <world>"),
        ("<sdf>\n<model/></sdf>", ":2: a model has no name"),
        (model(A, A), ":3: two parts of <model 'm'> are named 'a'; the first is on line 2"),
        (model(A, '<joint name="j" type="hinge"/>'), ":3: joint 'j': its type 'hinge' is not one of revolute"),
        (model(A, '<joint name="j" type="fixed"><parent>a</parent></joint>'), ":3: joint 'j' has no <child>"),
        (model(A, joint("j", "fixed", "a", "b")), ":3: <model 'm'> has no link, joint, frame or model 'b'"),
        (model(A, joint("j", "fixed", "a", "a")), ":3: joint 'j' connects 'a' with itself"),
        (model(A, joint("j", "revolute", "world", "a", "<axis><xyz>0 0 0</xyz></axis>")), ":3: joint 'j': axis is zero"),
        (model(A, joint("j", "revolute", "world", "a", "<axis><xyz>0 0</xyz></axis>")), "'0 0' should be 3 numbers, not 2"),
        (model(A, joint("j", "universal", "world", "a", "<axis/>")), ":3: joint 'j' has one axis and needs two"),
        (model(A, joint("j", "universal", "world", "a", "<axis/><axis2/>")), ":3: joint 'j' has two axes in one direction"),
        (model(link("a", m=-1)), ":2: link 'a': inertial: mass is negative \\(-1\\)"),
        (model(link("a", m=float("nan"))), ":2: link 'a': inertial: mass: 'nan' is not a finite number"),
        (model('<link name="a"><pose>1 2</pose></link>'), ":2: pose: '1 2' should be 6 numbers, not 2"),
        (model('<link name="a"><pose rotation_format="axis">1 2</pose></link>'), "rotation_format 'axis' is not euler_rpy"),
        (model(f'<link name="a">{at("0", relative_to="b")}</link>'), ":2: <model 'm'> has no link, joint, frame or model 'b'"),
        (
            model(f'<link name="a">{at("0", relative_to="b")}</link>', f'<link name="b">{at("0", relative_to="a")}</link>'),
            "'a' of <model 'm'> has a pose in itself: 'a' -> 'b' -> 'a'",
        ),
        (
            model(A, '<frame name="f" attached_to="g"/><frame name="g" attached_to="f"/>'),
            "has a pose in itself|attached to itself",
        ),
        (model(A, attributes='placement_frame="x"'), ":1: <model 'm'> has no link, joint, frame or model 'x'"),
        (model(A, "<include/>"), ":3: <include> has no <uri>"),
        (model(A, "<include><uri>model.sdf</uri></include>"), ":3: 'model.sdf' includes itself"),
        (model(A, "<static>maybe</static>"), ":3: <static> is 'maybe', not true or false"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><sdf/>", "document type declaration"),
        ('<sdf version="1.9"><model name="m">', "not well-formed XML"),
        (
            '<sdf version="1.9">' + "".join(f'<model name="m{i}">' for i in range(60)) + "</model>" * 60 + "</sdf>",
            ":1: models are nested too deep",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_line(load, text, message):
    with pytest.raises(mb.ModelError, match=message):
        load(text)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        mb.load_sdf(tmp_path / "none.sdf")
    with pytest.raises(ValueError, match="package_dirs"):
        mb.load_sdf(tmp_path / "none.sdf", package_dirs="/no/such/folder")


def test_long_chains_of_frames_are_refused_before_python_gives_up(load):
    frames = [f'<frame name="f{i}">{at("1", relative_to=f"f{i + 1}")}</frame>' for i in range(2000)]
    with pytest.raises(mb.ModelError, match="relative to each other more than 300 deep"):
        load(model(A, *frames, '<frame name="f2000"/>'))


@pytest.mark.parametrize("seed", [1, 2])
def test_random_damage_gives_an_error_or_a_model(load, seed):
    """Characters replaced, lines moved: nothing but a ModelError, and no NaN."""
    rng = np.random.default_rng(seed)
    axis = (
        "<axis><xyz>0 1 0</xyz><limit><lower>-1</lower><upper>2</upper></limit><dynamics><damping>1</damping></dynamics></axis>"
    )
    inner = f'<model name="in">\n{at("1 0 0")}\n{link("x")}\n{link("y", "0 0 1")}\n{joint("k", "ball", "x", "y")}\n</model>'
    whole = model(
        link("a"),
        link("b", "0 1 0"),
        joint("j", "revolute", "a", "b", axis),
        inner,
        joint("w", "screw", "b", "in::x"),
        '<frame name="f" attached_to="in"/>',
    )
    for _ in range(150):
        text = list(whole)
        for _ in range(int(rng.integers(1, 4))):
            i = int(rng.integers(len(text)))
            text[i] = str(rng.choice(list("0123456789.-<>/abc \n"))) if rng.random() < 0.6 else ""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", "model.*|.*/model.sdf.*", UserWarning)
            try:
                one = load("".join(text))
            except mb.ModelError:
                continue
        assert np.isfinite(one.default_state().q).all()


def test_fixed_joints_among_links_that_are_fixed_already_hold_nothing(load):
    fixed = [
        joint(f"f{k}", "fixed", a, b) for k, (a, b) in enumerate((("a", "b"), ("b", "c"), ("a", "c"), ("d", "c"), ("d", "a")))
    ]
    moving = [link("e"), joint("r", "revolute", "c", "e"), joint("weld", "fixed", "e", "a")]
    one = load(model(*(link(name, "0 0 1") for name in "abcd"), *fixed, *moving))
    assert list(one.constraints) == ["weld"] and len(one.speeds) == 7
    said = [line for line in one.report if "fixed to each other already" in line]
    assert len(said) == 2 and not one.report.departures  # of five joints among four links
    state = one.default_state()
    one.system.realize(state)


def test_a_static_model_may_have_frames_alone(load):
    frames = '<static>1</static><frame name="f"><pose>1 0 0 0 0 0</pose></frame>'
    text = model(link("a"), f'<model name="frames">{frames}</model>', joint("j", "revolute", "frames::f", "a"))
    one = load(text)
    assert one.bodies["a"].get_parent_mobilized_body() is one.matter.ground
    with pytest.raises(mb.ModelError, match="'frames'> has no links"):
        load(text.replace("<static>1</static>", ""))


def test_what_is_included_and_no_sdf_is_left_out(load, write):
    write('<robot name="r"><link name="base"/></robot>', "arm.urdf")
    text = model(link("a"), "<include><uri>arm.urdf</uri></include>")
    with pytest.warns(UserWarning, match=r"line 3: the included file 'arm\.urdf' is no SDF, its root element is <robot>"):
        one = load(text)
    assert list(one.bodies) == ["a"]
    with pytest.raises(mb.ModelError, match="no SDF"):
        load(text, strict=True)


@pytest.mark.parametrize("inside", [
    "<kinematic>true</kinematic>",
    "<velocity_decay><linear>0.1</linear></velocity_decay>",
    "<inertial><fluid_added_mass><xx>2</xx></fluid_added_mass></inertial>",
])  # fmt: skip
def test_what_would_change_the_motion_of_a_static_link_is_not_lost(load, inside):
    parts = f"<link name='a'>{inside}</link>"
    assert load(model("<static>true</static>", parts), strict=True).report == []
    inner = f"<model name='in'>{parts}</model>"
    assert load(model("<static>true</static>", link("b"), inner), strict=True).report == []


def test_the_density_of_a_shape_that_is_used_is_not_told_as_ignored(load):
    shape = "<collision name='c'><density>300</density><geometry><box><size>1 2 3</size></box></geometry></collision>"
    one = load(model(f"<link name='a'><inertial auto='true'/>{shape}</link>", version="1.11"), collision=False)
    assert_allclose(one.bodies["a"].get_default_mass_properties().mass, 1800.0)
    assert not any("ignored" in line for line in one.report)


@pytest.mark.parametrize("where", ["include", "model"])
def test_a_merged_model_is_placed_by_its_placement_frame(tmp_path, where):
    """As one that is not merged: the frame is where the pose says."""
    own = 'placement_frame="tip"' if where == "model" else ""
    tip = f'<frame name="tip" attached_to="hand">{at("0 0 0.5 0.3 0 0")}</frame>'
    (tmp_path / "arm.sdf").write_text(
        model(link("palm"), link("hand", "0 1 0 0 0.4 0"), joint("k", "fixed", "palm", "hand"), tip, attributes=own)
    )
    frame = "<placement_frame>tip</placement_frame>" if where == "include" else ""
    poses = []
    for merge, prefix in (("true", ""), ("false", "it::")):
        inside = f'<include merge="{merge}"><name>it</name><uri>arm.sdf</uri>{at("5 0 0 0 0 1", relative_to="base")}{frame}</include>'
        path = tmp_path / "robot.sdf"
        path.write_text(model(link("base", "1 2 3 0.1 0.2 0.3"), inside))
        one = mb.load_sdf(path)
        poses.append(pose_of(one, f"{prefix}palm"))
        body, X = one.frames[f"{prefix}tip"]
        state = one.default_state()
        one.system.realize(state, mb.Stage.POSITION)
        X_GB = np.asarray(one.bodies["base"].get_body_transform(state))
        placed = np.linalg.inv(X_GB) @ np.asarray(body.get_body_transform(state) @ X)
        assert_allclose(placed[:3, :3], about((0, 0, 1), 1.0), atol=1e-14)
        assert_allclose(placed[:3, 3], [5, 0, 0], atol=1e-14)
    assert_allclose(poses[0], poses[1], atol=1e-14)


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        (
            model(
                link("a"),
                link("b"),
                joint("j", "ball", "a", "b").replace(
                    "</joint>", "<axis><dynamics><damping>3</damping></dynamics></axis></joint>"
                ),
            ),
            "joints of several coordinates whose resistance is left out: 1",
        ),
        (
            model(link("a"), link("b"), '<drake:joint name="p" type="planar"><drake:parent>a</drake:parent></drake:joint>'),
            "joints and forces of simulators: 1",
        ),
        (
            model(
                link("a"), link("b"), joint("j", "revolute", "a", "b", '<axis><xyz>0 0 1</xyz><drake:mimic joint="k"/></axis>')
            ),
            "joints that mimic in vain: 1",
        ),
    ],
)
def test_what_acts_at_joints_and_is_left_out_is_warned_of(load, text, lost):
    with pytest.warns(mb.ModelWarning, match=lost):
        load(text)
    with pytest.raises(mb.ModelError, match="strict"):
        load(text, strict=True)


@pytest.mark.parametrize("kind", ["universal", "ball"])
def test_a_rotor_of_a_joint_of_several_coordinates_is_told(load, kind):
    axes = "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>"
    rotor = joint("j", kind, "a", "b", axes).replace("</joint>", "<drake:rotor_inertia>0.1</drake:rotor_inertia></joint>")
    with pytest.warns(mb.ModelWarning, match="joints of several coordinates whose resistance is left out: 1"):
        report = load(model(link("a"), link("b"), rotor)).report
    assert report == ["line 4: the rotor of joint 'j' is left out: it has several coordinates"]
