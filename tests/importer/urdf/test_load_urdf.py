"""A URDF file becomes a system that moves as the file says."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb

SOLID = (
    '<inertial><origin xyz="0.1 0.2 0.3"/><mass value="2"/>'
    '<inertia ixx="1" iyy="1.5" izz="2" ixy="0.1" ixz="0" iyz="0"/></inertial>'
)
ORIGIN = '<origin xyz="1 2 3" rpy="0.3 -0.4 0.5"/>'


def link(name: str, inside: str = SOLID) -> str:
    return f'<link name="{name}">{inside}</link>\n'


def joint(name: str, kind: str, parent: str, child: str, inside: str = "") -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{inside}</joint>\n'


def robot(*parts: str) -> str:
    return '<robot name="test">\n' + "".join(parts) + "</robot>"


def one_joint(kind: str, axis: str = "0 0 1") -> str:
    inside = f'{ORIGIN}<axis xyz="{axis}"/>'
    return robot(link("base"), link("arm"), joint("j", kind, "base", "arm", inside))


def pose(model, state, name: str) -> np.ndarray:
    return np.asarray(model.bodies[name].get_body_transform(state))


def at(model, **values: float):
    """A state with these coordinates, realized through Position."""
    state = model.default_state()
    q = state.q.copy()
    for name, value in values.items():
        q[model.coordinates[name]] = value
    state.q = q
    model.system.realize(state, mb.Stage.POSITION)
    return state


def turn(axis, angle: float) -> np.ndarray:
    x, y, z = np.asarray(axis, float) / np.linalg.norm(axis)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    X = np.eye(4)
    X[:3, :3] += math.sin(angle) * K + (1 - math.cos(angle)) * K @ K
    return X


def shift(p) -> np.ndarray:
    X = np.eye(4)
    X[:3, 3] = p
    return X


X_PJ = shift((1, 2, 3)) @ turn((0, 0, 1), 0.5) @ turn((0, 1, 0), -0.4) @ turn((1, 0, 0), 0.3)
AXES = ["1 0 0", "0 1 0", "0 0 1", "-1 0 0", "0 -1 0", "0 0 -1", "1 2 3", "-3 1 -2"]


# Kinematics


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic"])
def test_one_axis_joints_move_along_their_axis(write, kind, axis):
    model = mb.load_urdf(write(one_joint(kind, axis)))
    a = np.array(axis.split(), float)
    moved = shift(0.7 * a / np.linalg.norm(a)) if kind == "prismatic" else turn(a, 0.7)
    assert_allclose(pose(model, at(model), "arm"), X_PJ, atol=1e-14)
    assert_allclose(pose(model, at(model, j=0.7), "arm"), X_PJ @ moved, atol=1e-14)


@pytest.mark.parametrize("axis", AXES)
def test_a_planar_joint_moves_in_the_plane_normal_to_its_axis(write, axis):
    model = mb.load_urdf(write(one_joint("planar", axis)))
    a = np.array(axis.split(), float)
    a /= np.linalg.norm(a)
    assert list(model.coordinates) == list(model.speeds) == ["j[0]", "j[1]", "j[2]"]
    turned = np.linalg.inv(X_PJ) @ pose(model, at(model, **{"j[0]": 0.7}), "arm")
    assert_allclose(turned, turn(a, 0.7), atol=1e-14)
    moved = np.linalg.inv(X_PJ) @ pose(model, at(model, **{"j[1]": 2.0, "j[2]": 1.0}), "arm")
    assert_allclose(moved[:3, :3], np.eye(3), atol=1e-14)
    assert_allclose(a @ moved[:3, 3], 0.0, atol=1e-14)
    assert_allclose(np.linalg.norm(moved[:3, 3]), math.sqrt(5.0))
    if axis == "0 0 1":
        assert_allclose(moved[:3, 3], [2, 1, 0], atol=1e-14)


def test_a_floating_joint_has_a_quaternion_and_a_position(write):
    model = mb.load_urdf(write(one_joint("floating")))
    assert list(model.coordinates) == [f"j[{number}]" for number in range(7)]
    assert list(model.speeds) == [f"j[{number}]" for number in range(6)]
    assert_allclose(pose(model, at(model), "arm"), X_PJ, atol=1e-14)
    values = {"j[0]": math.cos(0.35), "j[2]": math.sin(0.35), "j[4]": 1.0, "j[5]": 2.0, "j[6]": 3.0}
    expected = X_PJ @ shift((1, 2, 3)) @ turn((0, 1, 0), 0.7)
    assert_allclose(pose(model, at(model, **values), "arm"), expected, atol=1e-14)


def test_a_fixed_joint_has_no_coordinates(write):
    model = mb.load_urdf(write(one_joint("fixed")))
    assert model.coordinates == model.speeds == {}
    assert_allclose(pose(model, at(model), "arm"), X_PJ, atol=1e-14)


# Names and places


def test_bodies_coordinates_and_speeds_are_found_by_name(write):
    model = mb.load_urdf(
        write(
            robot(
                *(link(name) for name in "abcd"),
                joint("j1", "revolute", "a", "b", '<limit lower="-1" upper="1"/>'),
                joint("j2", "planar", "a", "d"),
                joint("j3", "prismatic", "b", "c", '<dynamics damping="2"/>'),
            )
        ),
        floating_base=True,
    )
    assert model.name == "test"
    assert model.root == "a"
    assert list(model.bodies) == ["a", "b", "c", "d"]
    assert all(model.matter.bodies[name] is body for name, body in model.bodies.items())
    base = [f"a[{number}]" for number in range(7)]
    assert list(model.coordinates) == [*base, "j1", "j3", "j2[0]", "j2[1]", "j2[2]"]
    assert list(model.speeds) == [*base[:6], "j1", "j3", "j2[0]", "j2[1]", "j2[2]"]
    assert list(model.coordinates.values()) == list(range(12))
    state = model.default_state()
    assert (len(state.q), len(state.u)) == (12, 11)
    state.q = np.arange(12.0)
    assert model.bodies["c"].get_q(state) == model.coordinates["j3"]
    assert_allclose(model.bodies["d"].get_q(state), [9, 10, 11])
    assert model.joints["j1"].limit.upper == 1.0
    assert model.joints["j3"].dynamics.damping == 2.0
    assert "'test'" in repr(model)


def test_the_root_is_welded_to_ground_unless_told_otherwise(write):
    path = write(robot(link("base")))
    assert mb.load_urdf(path).coordinates == {}
    assert len(mb.load_urdf(path, floating_base=True).coordinates) == 7


def test_a_link_may_have_the_name_of_ground(write):
    ground = mb.SimbodyMatterSubsystem(mb.MultibodySystem()).ground.name
    names = [ground, ground + "_link", "other"]
    model = mb.load_urdf(
        write(
            robot(
                *map(link, names),
                joint("j1", "fixed", names[0], names[1]),
                joint("j2", "fixed", names[0], names[2]),
            )
        )
    )
    assert list(model.bodies) == names
    assert len({body.name for body in model.bodies.values()} | {ground}) == 4


def test_two_coordinates_of_one_name_are_refused(write):
    path = write(robot(link("a"), link("b"), joint("a[0]", "prismatic", "a", "b")))
    with pytest.raises(mb.ModelError, match=r"two coordinates would be called 'a\[0\]'"):
        mb.load_urdf(path, floating_base=True)


@pytest.mark.parametrize(
    ("geometry", "corner"),
    [
        ('<box size="2 4 6"/>', (1, 2, 3)),
        ('<cylinder radius="1" length="6"/>', (1, 1, 3)),
        ('<sphere radius="2"/>', (2, 2, 2)),
    ],
)
def test_shapes_become_decorations(write, geometry, corner):
    color = '<material name="m"><color rgba="1 0.5 0 0.25"/></material>'
    visual = f"<visual>{ORIGIN}<geometry>{geometry}</geometry>{color}</visual>"
    body = mb.load_urdf(write(robot(link("base", SOLID + visual)))).bodies["base"].get_body()
    ((decoration, X_BD),) = body.decorations
    assert_allclose(decoration.color, (1, 0.5, 0))
    assert decoration.opacity == 0.25
    vertices = decoration.calc_mesh(4.0)[0] @ np.asarray(X_BD)[:3, :3].T + np.asarray(X_BD)[:3, 3]
    in_origin = (vertices - X_PJ[:3, 3]) @ X_PJ[:3, :3]
    assert_allclose(in_origin.max(axis=0), corner, rtol=1e-12)


def test_meshes_and_placeholders_are_not_drawn(write):
    mesh = '<visual><geometry><mesh filename="package://a/b.dae"/></geometry></visual>'
    dot = '<visual><geometry><sphere radius="0"/></geometry></visual>'
    model = mb.load_urdf(write(robot(link("base", SOLID + mesh + dot))))
    assert model.bodies["base"].get_body().get_num_decorations() == 0
    assert model.links["base"].visuals[0].geometry.filename == "package://a/b.dae"
    assert model.report == ["line 2: there is no mesh file 'package://a/b.dae'; it is not drawn"]


# Dynamics


def test_mass_properties_are_those_of_the_file(write):
    model = mb.load_urdf(write(one_joint("revolute")))
    mass = model.bodies["arm"].get_default_mass_properties()
    com = np.array([0.1, 0.2, 0.3])
    central = np.array([[1, 0.1, 0], [0.1, 1.5, 0], [0, 0, 2]])
    assert_allclose(mass.mass, 2.0)
    assert_allclose(mass.com, com)
    about_origin = central + 2 * (com @ com * np.eye(3) - np.outer(com, com))
    assert_allclose(np.asarray(mass.inertia), about_origin, atol=1e-15)


@pytest.mark.parametrize("gravity", [(0, 0, -9.81), (1, 2, 3), (0, 0, 0)])
def test_a_free_body_falls_with_gravity(write, gravity):
    model = mb.load_urdf(write(robot(link("base"))), floating_base=True, gravity=gravity)
    state = model.default_state()
    model.system.realize(state, mb.Stage.ACCELERATION)
    assert_allclose(state.u_dot, [0, 0, 0, *gravity], atol=1e-12)


def test_a_massless_movable_leaf_is_welded_with_a_warning(write):
    parts = [link("base"), link("arm"), link("camera", ""), link("lens", "")]
    path = write(
        robot(
            *parts,
            joint("elbow", "revolute", "base", "arm"),
            joint("pan", "revolute", "arm", "camera"),
            joint("mount", "fixed", "camera", "lens"),
        )
    )
    with pytest.warns(UserWarning, match=r"joints that move no mass are welded: 'pan'"):
        model = mb.load_urdf(path)
    assert list(model.coordinates) == ["elbow"]
    assert any("joint 'pan' moves no mass" in note for note in model.report)
    state = model.default_state()
    model.system.realize(state, mb.Stage.ACCELERATION)
    assert np.isfinite(state.u_dot).all()


@pytest.mark.parametrize("floating_base", [False, True])
def test_a_file_without_inertials_moves_for_kinematics(write, floating_base):
    """Errors, warnings and the report name what keeps its joints, and of joints that are kept what they have."""
    path = write(
        robot(
            *(link(name, "") for name in ("base", "arm", "tip")),
            joint("shoulder", "continuous", "base", "arm", '<axis xyz="0 0 1"/>'),
            joint(
                "slide", "prismatic", "arm", "tip", '<axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/>'
            ),
        )
    )
    if floating_base:
        with pytest.raises(mb.ModelError, match=r"root link 'base' has too little mass of its own: .*weld_massless=False"):
            mb.load_urdf(path, floating_base=True)
    else:
        with pytest.warns(UserWarning, match=r"are welded: 'shoulder', 'slide' \(.*weld_massless=False keeps them"):
            mb.load_urdf(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = mb.load_urdf(path, floating_base=floating_base, weld_massless=False, strict=True)
    assert list(model.coordinates)[-2:] == ["shoulder", "slide"]
    assert sum("kept, as was asked" in line for line in model.report) == 2 + floating_base
    state = model.default_state()
    q = state.q.copy()
    q[model.coordinates["shoulder"]], q[model.coordinates["slide"]] = 0.5, 0.25
    state.q = q
    u = np.zeros(len(state.u))
    u[model.speeds["shoulder"]] = 2.0
    state.u = u
    model.system.realize(state, mb.Stage.VELOCITY)
    at, along, across = (
        model.bodies["tip"],
        np.array([np.cos(0.5), np.sin(0.5), 0.0]),
        np.array([-np.sin(0.5), np.cos(0.5), 0.0]),
    )
    assert_allclose(at.get_body_transform(state).p, 0.25 * along, atol=1e-15)
    assert_allclose(at.get_body_velocity(state)[1], 0.5 * across, atol=1e-15)
    with pytest.raises(mb.ModelError, match="has no inertia to move"):
        model.system.realize(state, mb.Stage.ACCELERATION)


@pytest.mark.parametrize("kind", ["continuous", "prismatic", "planar", "floating"])
def test_whatever_moves_no_mass_is_welded(write, kind):
    with pytest.warns(UserWarning, match="'j'"):
        model = mb.load_urdf(write(robot(link("a"), link("b", ""), joint("j", kind, "a", "b"))))
    assert len(model.default_state().q) == len(model.coordinates) == 0


def test_massless_links_inside_a_chain_move(write):
    model = mb.load_urdf(
        write(
            robot(
                *(link("base"), link("a", ""), link("b", ""), link("c")),
                joint("x", "continuous", "base", "a", '<axis xyz="1 0 0"/>'),
                joint("y", "continuous", "a", "b", '<axis xyz="0 1 0"/>'),
                joint("z", "continuous", "b", "c", '<axis xyz="0 0 1"/>'),
            )
        )
    )
    state = at(model, x=0.1, y=0.2, z=0.3)
    model.system.realize(state, mb.Stage.ACCELERATION)
    M = model.matter.calc_m(state)
    assert np.linalg.eigvalsh(M)[0] > 0.1
    weight = model.matter.multiply_by_m(state, state.u_dot)  # at rest M udot is gravity's force
    assert_allclose(M @ state.u_dot, weight, atol=1e-12)
    assert np.abs(state.u_dot).max() > 0.1


def test_a_base_without_mass_floats_with_what_is_fixed_to_it(write):
    parts = [link("footprint", ""), link("base")]
    path = write(robot(*parts, joint("j", "fixed", "footprint", "base")))
    model = mb.load_urdf(path, floating_base=True)
    state = model.default_state()
    model.system.realize(state, mb.Stage.ACCELERATION)
    assert_allclose(state.u_dot, [0, 0, 0, 0, 0, -9.81], atol=1e-12)


def test_a_base_without_mass_cannot_float_on_a_hinge(write):
    parts = [link("footprint", ""), link("base")]
    path = write(robot(*parts, joint("j", "continuous", "footprint", "base")))
    assert len(mb.load_urdf(path).coordinates) == 1
    with pytest.raises(mb.ModelError, match=r":2: the base cannot float: the root link 'footprint'"):
        mb.load_urdf(path, floating_base=True)


def test_the_report_says_what_is_not_simulated(write):
    dynamics = '<dynamics damping="1"/><limit effort="1" velocity="1" lower="0" upper="1"/>'
    path = write(
        robot(
            *map(link, "abc"),
            joint("j1", "revolute", "a", "b", dynamics.replace("/>", ' friction="2"/>', 1)),
            joint("j2", "revolute", "b", "c", dynamics + '<mimic joint="j1"/>'),
            "<gazebo/>",
        )
    )
    report = [
        "line 7: <gazebo> is ignored",
        "limits of 2 joints: kept as data, not simulated, as was asked",
        "damping of 2 joints: kept as data, not simulated, as was asked",
        "friction of 1 joint: kept as data, not simulated",
    ]
    bare = {"joint_damping": False, "joint_limits": False}
    assert mb.load_urdf(path, **bare).report == [*report, "mimicry of 1 joint: a constraint"]
    assert mb.load_urdf(path, mimic=False, **bare).report == [
        *report,
        "mimicry of 1 joint: kept as data, not simulated, as was asked",
    ]


GRIPPER = robot(
    *map(link, ["palm", "left", "right", "tip", "screw", "fixed", "end"]),
    joint("slide", "prismatic", "palm", "left", '<axis xyz="1 0 0"/>'),
    joint("other", "prismatic", "palm", "right", '<axis xyz="-1 0 0"/><mimic joint="slide"/>'),
    joint("flex", "revolute", "right", "tip", '<axis xyz="0 1 0"/><mimic joint="other" multiplier="-3" offset="0.2"/>'),
    joint("turn", "continuous", "palm", "screw", '<axis xyz="0 0 1"/><mimic joint="weld" multiplier="2" offset="0.4"/>'),
    joint("weld", "fixed", "palm", "fixed", '<mimic joint="slide"/>'),
    joint("free", "floating", "palm", "end", '<mimic joint="slide"/>'),
)


def test_joints_that_mimic_others_are_coupled(write):
    model = mb.load_urdf(write(GRIPPER), joint_limits=False)
    assert [one for one in model.report if "mimic" in one] == [
        "mimicry of 2 joints: a constraint each",
        "line 12: joint 'turn' mimics 'weld' in vain: 'weld' cannot move; it is held where that is at zero",
        "line 13: joint 'weld' mimics 'slide' in vain: it cannot move",
        "line 14: joint 'free' mimics 'slide' in vain: only joints of one coordinate can be coupled",
    ]
    state = model.default_state()
    at = [model.coordinates[name] for name in ("slide", "other", "flex", "turn")]
    assert_allclose(state.q[at], [0.0, 0.0, 0.2, 0.4])
    model.system.realize(state, mb.Stage.POSITION)
    assert_allclose(state.q_err, 0.0, atol=1e-15)
    q = state.q.copy()
    q[at[0]] = 0.05
    state.q = q
    assert model.system.project(state, 1e-12)
    x = state.q[at[0]]
    assert 0.0 < x < 0.05  # the others have come to meet it
    assert_allclose(state.q[at], [x, x, 0.2 - 3.0 * x, 0.4], atol=1e-11)
    model.system.realize(state)
    a = state.u_dot[[model.speeds[name] for name in ("slide", "other", "flex", "turn")]]
    assert_allclose(a, [a[0], a[0], -3.0 * a[0], 0.0], atol=1e-11)


def test_mimicry_can_be_left_out(write):
    model = mb.load_urdf(write(GRIPPER), mimic=False)
    assert model.matter.get_num_constraints() == 0
    assert "mimicry of 5 joints: kept as data, not simulated, as was asked" in model.report
    assert_allclose(model.default_state().q[model.coordinates["flex"]], 0.0)


def test_errors_of_the_file_come_through(write, tmp_path):
    with pytest.raises(mb.ModelError, match=":1: the robot has no links"):
        mb.load_urdf(write("<robot/>"))
    with pytest.raises(FileNotFoundError):
        mb.load_urdf(tmp_path / "missing.urdf")


def test_thousands_of_links_in_one_chain(write):
    count = 3000
    lines = [link(f"l{number}") for number in range(count)]
    lines += [joint(f"j{n}", "continuous", f"l{n - 1}", f"l{n}", '<origin xyz="0 0 0.1"/>') for n in range(1, count)]
    model = mb.load_urdf(write(robot(*lines)))
    state = at(model)
    assert len(state.q) == count - 1
    assert_allclose(pose(model, state, f"l{count - 1}")[:3, 3], [0, 0, 0.1 * (count - 1)])


@pytest.mark.parametrize("kind", ["ball", "spherical"])
def test_a_ball_joint_moves_as_in_mujoco(tmp_path, rng, kind):
    """MuJoCo reads Bullet's type, too; its speeds are the angular velocity in the link's frame, ours in the joint's."""
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "ball.urdf"
    hinge = f'{ORIGIN}<axis xyz="0 1 0"/><limit lower="-9" upper="9"/>'
    joints = joint("j", kind, "base", "arm", ORIGIN), joint("k", "revolute", "arm", "hand", hinge)
    path.write_text(robot(link("base"), link("arm"), link("hand"), *joints))
    theirs = mujoco.MjModel.from_xml_string(path.read_text().replace("ball", "spherical"))
    data, model = mujoco.MjData(theirs), mb.load_urdf(path)
    state = model.default_state()
    assert list(model.coordinates) == ["j[0]", "j[1]", "j[2]", "j[3]", "k"]
    for _ in range(4):
        q, u = rng.normal(size=5), rng.normal(size=4)
        q[:4] /= np.linalg.norm(q[:4])
        state.q, state.u = q, u
        model.system.realize(state)
        R = np.asarray(model.bodies["arm"].get_mobilizer_transform(state).R)
        data.qpos, data.qvel = q, [*(R.T @ u[:3]), u[3]]
        mujoco.mj_forward(theirs, data)
        assert_allclose([*(R @ data.qacc[:3]), data.qacc[3]], state.u_dot, rtol=1e-10, atol=1e-10)
        assert_allclose(data.body("hand").xpos, model.bodies["hand"].get_body_origin_location(state), atol=1e-12)


@pytest.mark.parametrize(
    ("parts", "lost"),
    [
        ([joint("j", "planar", "a", "b", '<dynamics damping="2"/>')], "joints of several coordinates whose resistance"),
        ([joint("j", "floating", "a", "b", '<dynamics damping="2" friction="1"/>')], "joints of several coordinates"),
        ([joint("j", "continuous", "a", "b", '<mimic joint="zz"/>')], "joints that mimic in vain: 1"),
        ([joint("j", "continuous", "a", "b"), "<loop_joint/>"], "joints and forces of simulators: 1"),
        ([joint("j", "continuous", "a", "b"), "<drake:linear_bushing_rpy/>"], "joints and forces of simulators: 1"),
        (
            [
                joint("j", "continuous", "a", "b"),
                "<gazebo><turnGravityOff>true</turnGravityOff><kinematic>0</kinematic><joint><parent/></joint></gazebo>",
                '<gazebo reference="b"><gravity>0</gravity><springStiffness>3</springStiffness><static/></gazebo>',
            ],
            "settings of Gazebo's: 4",
        ),
    ],
)
def test_what_is_left_out_and_changes_the_motion_is_warned_of(write, parts, lost):
    path = write(robot(link("a"), link("b"), *parts))
    with pytest.warns(mb.ModelWarning, match=lost):
        mb.load_urdf(path)
    with pytest.raises(mb.ModelError, match="strict, and not all"):
        mb.load_urdf(path, strict=True)


def test_resistance_of_joints_of_several_coordinates_may_be_unwanted(write):
    path = write(robot(link("a"), link("b"), joint("j", "planar", "a", "b", '<dynamics damping="2" friction="1"/>')))
    mb.load_urdf(path, strict=True, joint_damping=False, joint_friction=False)


def test_what_the_reader_leaves_out_is_refused_where_strict(write):
    path = write(robot(link("a"), link("b"), joint("j", "continuous", "a", "b", '<axis xyz="1 0 0"/><axis xyz="0 1 0"/>')))
    assert len(mb.load_urdf(path).report.departures) == 1
    with pytest.raises(mb.ModelError, match="joint 'j' has 2 <axis> elements; the first is used"):
        mb.load_urdf(path, strict=True)


@pytest.mark.parametrize("kind", ["floating", "spherical", "planar"])
def test_a_joint_that_mimics_one_of_several_coordinates_is_free(write, kind):
    chain = joint("j", kind, "a", "b"), joint("k", "continuous", "b", "c", '<mimic joint="j" offset="0.3"/>')
    model = mb.load_urdf(write(robot(*map(link, "abc"), *chain)))
    assert not model.constraints and any("only joints of one coordinate can be coupled" in line for line in model.report)
