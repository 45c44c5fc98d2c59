"""Models to files and back: the same mass matrix, poses and accelerations; MuJoCo and Pinocchio read the files too."""

from __future__ import annotations

import re
from importlib.resources import files

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod.importer.export import save_mjcf, save_urdf

EXAMPLES = files("mobod") / "examples"
KINDS = ["Pin", "Slider", "Universal", "Gimbal", "Cylinder", "BendStretch", "Planar", "Translation", "Bushing", "Weld"]


def pose(rng: np.random.Generator) -> mb.Transform:
    return mb.Transform(mb.Rotation.from_body_fixed_xyz(rng.uniform(-2, 2, 3)), rng.uniform(-1, 1, 3))


def make_system(seed: int, with_more: bool = True) -> mb.MultibodySystem:
    """A tree of all kinds that files can say, some reversed, with frames in general positions."""
    print("seed", seed)
    rng = np.random.default_rng(seed)
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -9.81))
    bodies = [matter.ground]
    for number, kind in enumerate([*rng.permutation(KINDS), *rng.choice(KINDS, 4)]):
        com, r = rng.uniform(-0.3, 0.3, 3), rng.uniform(0.2, 1.0, 3)
        inertia = mb.UnitInertia.ellipsoid(r).shift_from_centroid(com)
        body = mb.body.Rigid(mb.MassProperties(rng.uniform(0.5, 2), com, inertia))
        body.add_decoration(mb.decoration.Brick((0.1, 0.2, 0.3), color="red", opacity=0.5), pose(rng))
        body.add_decoration(mb.decoration.Cylinder(0.1, 0.2))
        direction = mb.Direction.REVERSE if rng.random() < 0.4 else mb.Direction.FORWARD
        X_BM = mb.Transform() if number % 3 == 0 else pose(rng)
        parent = bodies[max(1, int(rng.integers(len(bodies))))] if len(bodies) > 1 else bodies[0]
        make = getattr(mb.mobilizer, str(kind))
        bodies.append(make(parent, body, X_PF=pose(rng), X_BM=X_BM, direction=direction, name=f"b{number}"))
    if with_more:
        for body in bodies[1:]:
            if body.facts.num_u:
                body.set_default_rotor_inertia(
                    rng.uniform(0.1, 1) if body.facts.num_u == 1 else rng.uniform(0.1, 1, body.facts.num_u)
                )
                mb.force.MobilityLinearDamper(forces, body, 0, rng.uniform(0.1, 1))
    return system


def names_of(system: mb.MultibodySystem) -> list[str]:
    from mobod.simulation.names import coordinate_names

    return coordinate_names(system, system.realize_topology())


def compare(one, one_names, other, other_names, bodies, seed=3, tolerance=1e-10):
    """Both systems at the same random coordinates and speeds, by name; both have q_dot = u, the names' order may differ."""
    rng = np.random.default_rng(seed)
    assert set(one_names) == set(other_names)
    order = [other_names.index(name) for name in one_names]
    for _ in range(2):
        states = []
        q, u = rng.uniform(-1, 1, len(one_names)), rng.uniform(-1, 1, len(one_names))
        for system, which in ((one, None), (other, order)):
            state = system.realize_topology()
            mine = np.arange(len(q)) if which is None else np.argsort(which)
            state.q, state.u = q[mine], u[mine]
            system.realize(state)
            states.append(state)
        M1, M2 = (s.get_matter_subsystem().calc_m(x) for s, x in zip((one, other), states, strict=True))
        M2 = M2[np.ix_(order, order)]
        assert_allclose(M2, M1, rtol=0, atol=tolerance * np.abs(M1).max())
        a1, a2 = states[0].u_dot, states[1].u_dot[order]
        assert_allclose(a2, a1, rtol=0, atol=tolerance * np.abs(a1).max() * np.linalg.cond(M1) ** 0.5)
        for mine, theirs in bodies:
            X1, X2 = (np.asarray(body.get_body_transform(state)) for body, state in zip((mine, theirs), states, strict=True))
            assert_allclose(X2, X1, atol=1e-11)


def bare(path, **options):
    return mb.load_urdf(path, joint_limits=False, **options)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_system_goes_to_urdf_and_back(tmp_path, seed):
    system = make_system(seed)
    path = tmp_path / "a.urdf"
    assert save_urdf(system, path) == []
    model = bare(path)
    bodies = [(body, model.bodies[body.name]) for body in list(system.get_matter_subsystem().bodies)[1:]]
    compare(system, names_of(system), model.system, list(model.coordinates), bodies)
    drawn = model.bodies["b0"].body.decorations
    assert [type(geometry).__name__ for geometry, _ in drawn] == ["Brick", "Cylinder"]
    own = list(system.get_matter_subsystem().bodies)[1].body.decorations
    for (geometry, X), (again, X2) in zip(own, drawn, strict=True):
        assert_allclose(X2 @ again.calc_mesh()[0], X @ geometry.calc_mesh()[0], atol=1e-14)
        assert again.opacity == geometry.opacity


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_system_goes_to_mjcf_and_mujoco_agrees(tmp_path, seed):
    mujoco = pytest.importorskip("mujoco")
    system = make_system(seed)
    path = tmp_path / "a.xml"
    assert save_mjcf(system, path) == []
    theirs = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(theirs)
    names = names_of(system)
    order = [theirs.joint(name).dofadr[0] for name in names]
    rng = np.random.default_rng(seed)
    state = system.realize_topology()
    state.q, state.u = rng.uniform(-1, 1, len(names)), rng.uniform(-1, 1, len(names))
    system.realize(state)
    data.qpos[order], data.qvel[order] = state.q, state.u
    mujoco.mj_forward(theirs, data)
    M = np.zeros((theirs.nv, theirs.nv))
    mujoco.mj_fullM(theirs, data, M)
    mine = system.get_matter_subsystem().calc_m(state)
    assert_allclose(M[np.ix_(order, order)], mine, rtol=0, atol=1e-10 * np.abs(mine).max())
    assert_allclose(
        data.qacc_smooth[order], state.u_dot, rtol=0, atol=1e-9 * np.abs(state.u_dot).max() * np.linalg.cond(mine) ** 0.5
    )
    for body in list(system.get_matter_subsystem().bodies)[1:]:
        assert_allclose(data.body(body.name).xpos, body.get_body_transform(state).p, atol=1e-12)
    model = mb.load_mjcf(path)
    bodies = [(body, model.bodies[body.name]) for body in list(system.get_matter_subsystem().bodies)[1:]]
    compare(system, names, model.system, list(model.coordinates), bodies, tolerance=1e-9)


@pytest.mark.parametrize(
    "X_BM", [mb.Transform(), mb.Transform(mb.Rotation.from_body_fixed_xyz((0.1, 0.2, 0.5)), (0.1, 0.2, 0.3))]
)
def test_joints_of_several_freedoms_stay_one_joint_where_nothing_acts_on_them(tmp_path, X_BM):
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    body = mb.body.Rigid(mb.MassProperties(1.0, (0.1, 0, 0), mb.UnitInertia(0.4, 0.5, 0.6)))
    X_PF = mb.Transform(mb.Rotation.from_body_fixed_xyz((0.3, 0.0, 0.1)), (1.0, 0.0, 0.0))
    plate = mb.mobilizer.Planar(matter.ground, body, X_PF=X_PF, X_BM=X_BM, name="plate")
    mb.mobilizer.Free(plate, body, X_PF=X_PF, X_BM=X_BM, name="free")
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, 0, -9.81))
    assert save_urdf(system, tmp_path / "a.urdf") == []
    text = (tmp_path / "a.urdf").read_text()
    assert text.count('type="planar"') == 1 and text.count('type="floating"') == 1
    model = bare(tmp_path / "a.urdf")
    q = np.random.default_rng(4).uniform(-1, 1, 10)
    q[3:7] /= np.linalg.norm(q[3:7])
    found = []
    for one, bodies in ((system, list(matter.bodies)[1:]), (model.system, [model.bodies["plate"], model.bodies["free"]])):
        state = one.realize_topology()
        state.q = q
        one.realize(state, mb.Stage.POSITION)
        found.append([X @ p for X in (b.get_body_transform(state) for b in bodies) for p in np.eye(3)])
    assert_allclose(found[1], found[0], atol=1e-12)


@pytest.mark.parametrize("name", ["panda", "g1"])
@pytest.mark.parametrize("floating_base", [False, True])
def test_robots_go_to_urdf_and_back_with_all_that_acts_on_them(tmp_path, name, floating_base):
    model = mb.load_urdf(EXAMPLES / f"{name}.urdf", floating_base=floating_base)
    notes = model.save_urdf(tmp_path / "a.urdf")
    assert [note for note in notes if "floating_base=True" not in note] == []
    again = mb.load_urdf(tmp_path / "a.urdf", floating_base=floating_base)
    assert list(again.bodies) == list(model.bodies) and list(again.coordinates) == list(model.coordinates)
    assert set(again.stops) == set(model.stops) and set(again.dampers) == set(model.dampers)
    rng = np.random.default_rng(5)
    states = []
    for one in (model, again):
        state = one.default_state()
        rng = np.random.default_rng(5)
        q = state.q + 0.5 * rng.uniform(-1, 1, len(state.q))
        if floating_base:
            q[:4] /= np.linalg.norm(q[:4])
        state.q, state.u = q, rng.uniform(-1, 1, len(state.u))
        one.system.realize(state)
        states.append(state)
    assert_allclose(again.matter.calc_m(states[1]), model.matter.calc_m(states[0]), atol=1e-12)
    scale = np.abs(states[0].u_dot).max()
    assert_allclose(states[1].u_dot, states[0].u_dot, rtol=0, atol=1e-9 * scale)
    if not floating_base:
        pin = pytest.importorskip("pinocchio")
        theirs = pin.buildModelFromUrdf(str(tmp_path / "a.urdf"))
        assert theirs.nv == len(model.speeds)


@pytest.mark.parametrize("name", ["panda", "g1"])
def test_floating_robots_go_to_mjcf_and_back(tmp_path, name):
    pytest.importorskip("mujoco")
    model = mb.load_urdf(EXAMPLES / f"{name}.urdf", floating_base=True, joint_limits=False)
    model.save_mjcf(tmp_path / "a.xml")
    again = mb.load_mjcf(tmp_path / "a.xml")
    root = next(iter(model.coordinates)).partition("[")[0]
    assert [n for n in model.coordinates if not n.startswith(root)] == [n for n in again.coordinates if not n.startswith(root)]
    states = []
    for one in (model, again):
        rng = np.random.default_rng(5)
        state = one.default_state()
        q = rng.uniform(-1, 1, len(state.q))
        q[:4] /= np.linalg.norm(q[:4])
        state.q, state.u = q, rng.uniform(-1, 1, len(state.u))
        one.system.realize(state, mb.Stage.VELOCITY)
        states.append(state)
    M = model.matter.calc_m(states[0])
    # the order of the base's coordinates is each format's own; poses are not compared where it differs
    if list(again.coordinates)[:7] == list(model.coordinates)[:7]:
        assert_allclose(again.matter.calc_m(states[1]), M, atol=1e-9 * np.abs(M).max())
    assert again.matter.calc_m(states[1]).shape == M.shape


def test_couplings_stops_friction_and_frames_are_written(tmp_path):
    urdf = """<robot name="r"><link name="base"/>
      <link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
      <link name="b"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
      <joint name="i" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/><origin xyz="1 2 3"/>
        <limit lower="-1" upper="2" effort="5" velocity="1"/><dynamics damping="0.3" friction="0.2"/></joint>
      <joint name="j" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/><limit effort="1" velocity="1"/>
        <mimic joint="i" multiplier="-2" offset="0.25"/></joint></robot>"""
    (tmp_path / "r.urdf").write_text(urdf)
    model = mb.load_urdf(tmp_path / "r.urdf", joint_friction=True)
    assert model.save_urdf(tmp_path / "s.urdf") == []
    again = mb.load_urdf(tmp_path / "s.urdf", joint_friction=True)
    assert again.joints["j"].mimic == model.joints["j"].mimic
    assert again.joints["i"].dynamics == model.joints["i"].dynamics
    assert again.stops["i"].get_default_stiffness() == pytest.approx(model.stops["i"].get_default_stiffness(), rel=1e-14)
    notes = model.save_mjcf(tmp_path / "s.xml")
    assert notes == ["where these start is left out: j", "constraints are MuJoCo's, which are soft"]
    text = (tmp_path / "s.xml").read_text()
    assert re.findall(r"^( *)<body", text, re.MULTILINE) == re.findall(r"^( *)</body", text, re.MULTILINE)[::-1]
    assert 'polycoef="0.25 -2.0 0.0 0.0 0.0"' in text and 'frictionloss="0.2"' in text and 'range="-1.0 2.0"' in text
    mujoco = pytest.importorskip("mujoco")
    mujoco.MjModel.from_xml_path(str(tmp_path / "s.xml"))


def test_a_coordinate_that_follows_another_is_written_as_in_opensims_models(tmp_path):
    from mobod.importer.osim.coupler import DependentCoordinate

    system = mb.MultibodySystem()
    matter, _ = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    solid = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
    one = mb.mobilizer.Pin(matter.ground, solid, name="one")
    two = mb.mobilizer.Slider(one, solid, name="two")
    DependentCoordinate(matter, mb.function.Linear([-2.0, 0.25]), [(one, 0)], (two, 0))
    DependentCoordinate(matter, mb.function.Polynomial([1.0, 0.0, 0.0]), [(one, 0)], (two, 0), disabled_by_default=True)
    left = "constraints: 1 of the kind DependentCoordinate is left out"
    assert left in save_urdf(system, tmp_path / "a.urdf") and left in save_mjcf(system, tmp_path / "a.xml")
    assert 'multiplier="-2.0" offset="0.25"' in (tmp_path / "a.urdf").read_text()
    assert 'polycoef="0.25 -2.0 0.0 0.0 0.0"' in (tmp_path / "a.xml").read_text()


def test_what_a_format_cannot_say_is_said(tmp_path):
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -1, 0))
    solid = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
    solid.add_decoration(mb.decoration.Torus())
    one = mb.mobilizer.Ball(matter.ground, solid, name="one")
    two = mb.mobilizer.Ellipsoid(one, solid, name="two")
    mb.force.TwoPointLinearSpring(forces, one, (0, 0, 0), two, (1, 0, 0), 1.0, 1.0)
    mb.constraint.Rod(one, (1, 0, 0), two, (0, 0, 0), 1.0)
    notes = save_urdf(system, tmp_path / "a.urdf")
    assert any("'one' is a ball joint: it becomes three joints" in note for note in notes)
    assert any("'two': URDF has no joint that is a Ellipsoid; it is fixed" in note for note in notes)
    assert "forces: 1 of the kind TwoPointLinearSpring is left out" in notes
    assert "constraints: 1 of the kind Rod is left out" in notes
    assert "gravity is not in the file: load it with gravity=(0, -1, 0)" in notes
    assert sum("URDF has no shape for a Torus that is drawn" in note for note in notes) == 2
    assert len(bare(tmp_path / "a.urdf").coordinates) == 3
    notes = save_mjcf(system, tmp_path / "a.xml")
    assert any("'two': MJCF has no joint that is a Ellipsoid" in note for note in notes)


@pytest.mark.parametrize("save", [save_urdf, save_mjcf])
def test_what_cannot_be_written_is_refused(tmp_path, save):
    empty = mb.MultibodySystem()
    mb.SimbodyMatterSubsystem(empty)
    good = tmp_path / ("a.urdf" if save is save_urdf else "a.xml")
    with pytest.raises(mb.ModelError, match="the system has no bodies"):
        save(empty, good)
    with pytest.raises(TypeError, match="has to be a Model or a MultibodySystem, not 3"):
        save(3, good)
    with pytest.raises(ValueError, match="has to end in"):
        save(empty, tmp_path / "a.txt")
    with pytest.raises(ValueError, match="there is no folder"):
        save(empty, tmp_path / "none" / good.name)
    assert list(tmp_path.iterdir()) == []


def test_springs_and_ties_go_to_mjcf(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    solid = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 2)))  # as flat as a plate
    one = mb.mobilizer.Pin(matter.ground, solid, name="world")
    two = mb.mobilizer.Pin(one, mb.body.Massless(), X_PF=mb.Transform((0, 1, 0)), name="between")
    three = mb.mobilizer.Slider(two, solid, X_PF=mb.Transform((0, 0, 1)), name="three")
    mb.force.MobilityLinearSpring(forces, one, 0, 5.0, 0.25)
    mb.constraint.Weld(matter.ground, mb.Transform((1, 0, 0)), three, mb.Transform())
    mb.constraint.Ball(one, (0, 1, 0), three, (0, 0, 0))
    notes = save_mjcf(system, tmp_path / "a.xml")
    assert "body 'world' is called 'world_', since MuJoCo calls Ground so" in notes
    assert "'between' has no mass, and is joined with the body that it carries" in notes
    theirs = mujoco.MjModel.from_xml_path(str(tmp_path / "a.xml"))
    assert (theirs.nbody, theirs.nv, theirs.neq) == (3, 3, 2)
    assert theirs.jnt_stiffness[0] == 5.0 and theirs.qpos_spring[0] == 0.25
    assert_allclose(theirs.eq_data[0, 3:6], [1, 0, 0])
    assert sum("constraint" in note for note in save_urdf(system, tmp_path / "a.urdf")) == 2
    assert "the springs of 1 coordinate are left out" in save_urdf(system, tmp_path / "a.urdf")


def test_what_is_switched_off_stays_so_and_starts_are_said_to_be_left_out(tmp_path):
    pytest.importorskip("mujoco")
    (tmp_path / "m.xml").write_text(
        """<mujoco><worldbody><body name="a"><joint name="i" ref="30"/><geom size="0.1"/>
        <body name="b" pos="0 1 0"><joint name="j"/><geom size="0.1"/></body></body></worldbody>
        <equality><joint joint1="i" joint2="j" polycoef="0 2 0 0 0" active="false"/><weld body1="b" active="false"/></equality>
        </mujoco>"""
    )
    model = mb.load_mjcf(tmp_path / "m.xml")
    notes = model.save_mjcf(tmp_path / "s.xml")
    assert "where these start is left out: i" in notes
    again = mb.load_mjcf(tmp_path / "s.xml")
    state = again.default_state()
    assert again.matter.get_num_constraints() == 2
    assert all(again.matter.get_constraint(k).is_disabled(state) for k in range(2))
    model.bodies["b"].lock_by_default()
    assert "locks are left out: j" in model.save_mjcf(tmp_path / "s.xml")


DRIVEN = """<mujoco model="driven"><compiler angle="radian"/><option gravity="0 0 -9.81"/>
<worldbody>
  <body name="a" pos="0 0 1" gravcomp="0.5"><joint name="hip" axis="0 1 0" damping="0.2"/>
    <inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.2 0.3"/><site name="sa" pos="0.1 0 0.1"/>
    <body name="b" pos="0.4 0 0"><joint name="knee" axis="0 1 0"/><inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.2 0.3"/>
      <site name="sb" pos="0.2 0 0.1"/>
      <body name="c" pos="0.4 0 0"><joint name="ball" type="ball" damping="0.3"/>
        <inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.2 0.3"/></body></body></body>
  <body name="free" pos="1 0 0"><freejoint name="loose"/><inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.2 0.25"/></body>
</worldbody>
<tendon><fixed name="both" stiffness="3" damping="0.4" limited="true" range="-1 2"><joint joint="hip" coef="0.5"/>
    <joint joint="knee" coef="-2"/></fixed>
  <spatial name="rope" stiffness="20"><site site="sa"/><site site="sb"/></spatial></tendon>
<actuator><motor name="m" joint="hip" gear="3" ctrllimited="true" ctrlrange="-1 1"/>
  <position name="p" joint="knee" kp="20" kv="2" forcerange="-4 4" forcelimited="true"/>
  <general name="g" tendon="both" gainprm="2" dyntype="filterexact" dynprm="0.1" biastype="affine" biasprm="1 -2 -0.5"/>
  <motor name="r" tendon="rope" gear="0.7"/></actuator>
<keyframe><key name="home" qpos="0.1 -0.2 1 0 0 0 1 2 3 0.6 0.8 0 0"
  qvel="1 2 3 4 5 6 7 8 9 10 11" ctrl="0.1 0.2 0.3 0.4" act="0.7"/></keyframe>
</mujoco>"""


def test_actuators_tendons_compensation_dampers_and_keyframes_go_to_mjcf_and_back(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    (tmp_path / "driven.xml").write_text(DRIVEN)
    notes = mb.load_mjcf(tmp_path / "driven.xml").save_mjcf(tmp_path / "again.xml")
    assert notes == []
    one, other = (mujoco.MjModel.from_xml_path(str(tmp_path / name)) for name in ("driven.xml", "again.xml"))
    assert [one.actuator(k).name for k in range(one.nu)] == [other.actuator(k).name for k in range(other.nu)]
    for name in ("key_qpos", "key_qvel", "key_ctrl", "key_act", "tendon_range", "body_gravcomp", "actuator_ctrlrange"):
        assert_allclose(getattr(one, name), getattr(other, name), atol=1e-15, err_msg=name)
    rng = np.random.default_rng(5)
    data = mujoco.MjData(one), mujoco.MjData(other)
    q, u, ctrl, act = (
        one.qpos0 + rng.normal(size=one.nq),
        rng.normal(size=one.nv),
        rng.normal(size=one.nu),
        rng.normal(size=one.na),
    )
    mujoco.mj_normalizeQuat(one, q)
    for m, d in zip((one, other), data, strict=True):
        m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        d.qpos[:], d.qvel[:], d.ctrl[:], d.act[:] = q, u, ctrl, act
        mujoco.mj_forward(m, d)
    for name in ("qfrc_passive", "qfrc_actuator", "qfrc_gravcomp", "ten_length", "qacc_smooth"):
        assert_allclose(getattr(data[0], name), getattr(data[1], name), atol=1e-11, err_msg=name)


def test_tendons_that_bend_sensors_and_what_urdf_has_not_are_said_to_be_left_out(tmp_path):
    pytest.importorskip("mujoco")
    bent = '<spatial name="bent"><site site="sa"/><geom geom="ball"/><site site="sb"/></spatial>'
    text = DRIVEN.replace('<site name="sa"', '<geom name="ball" size=".01" mass="0"/><site name="sa"')
    text = text.replace("</tendon>", f"{bent}</tendon>").replace(
        "</mujoco>", '<sensor><jointpos joint="hip"/></sensor></mujoco>'
    )
    (tmp_path / "driven.xml").write_text(text)
    model = mb.load_mjcf(tmp_path / "driven.xml")
    assert model.save_mjcf(tmp_path / "again.xml") == ["measures, 1 of them, are left out", "tendons are left out: bent"]
    notes = model.save_urdf(tmp_path / "again.urdf")
    assert {"2 frames are left out", "3 tendons are left out", "1 keyframe is left out"} <= set(notes)


def test_what_was_not_asked_for_at_loading_goes_to_urdf_all_the_same(tmp_path):
    (tmp_path / "arm.urdf").write_text(
        """<robot name="arm"><link name="base"/><link name="arm"><inertial><mass value="1"/>
        <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
        <collision name="hull"><origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><geometry><mesh filename="package://x/a.stl"
        scale="1 2 3"/>
        </geometry></collision><collision><geometry><capsule radius="0.1" length="0.5"/></geometry></collision></link>
        <joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
        <limit lower="-1" upper="2" effort="30" velocity="4"/><dynamics damping="0.5" friction="0.25"/></joint></robot>"""
    )
    bare = mb.load_urdf(tmp_path / "arm.urdf", joint_damping=False, joint_limits=False)
    for model in (bare, mb.load_urdf(tmp_path / "arm.urdf", joint_friction=True)):
        model.save_urdf(tmp_path / "again.urdf")
        again = mb.load_urdf(tmp_path / "again.urdf")
        assert again.joints["j"].limit == bare.joints["j"].limit and again.joints["j"].dynamics == bare.joints["j"].dynamics
        assert [(c.geometry, c.origin, c.name) for c in again.links["arm"].collisions] == [
            (c.geometry, c.origin, c.name) for c in bare.links["arm"].collisions
        ]


def test_joints_of_functions_that_are_coordinates_are_rows_of_joints(tmp_path):
    rng = np.random.default_rng(5)
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0))
    body = mb.body.Rigid(
        mb.MassProperties(1.3, (0.1, -0.2, 0.1), mb.UnitInertia.brick((0.1, 0.3, 0.2)).shift_from_centroid((0.1, -0.2, 0.1)))
    )
    zero, one, back = mb.function.Constant(0, 0), mb.function.Linear([1, 0]), mb.function.Linear([-1, 0])
    said = {"num_mobilities": 5, "functions": [one, back, one, one, zero, back], "axes": rng.normal(size=(6, 3))}
    places = [[3], [0], [4], [1], [], [2]]
    parent = matter.ground
    for number, direction in enumerate(mb.Direction):
        parent = mb.mobilizer.FunctionBased(
            parent,
            body,
            coordinate_indices=places,
            X_PF=pose(rng),
            X_BM=pose(rng),
            direction=direction,
            name=f"b{number}",
            **said,
        )
    bent = [one, mb.function.Polynomial([1, 0, 0]), zero, zero, zero, zero]
    mb.mobilizer.FunctionBased(
        parent, body, num_mobilities=1, functions=bent, coordinate_indices=[[0], [0], [], [], [], []], name="knee"
    )
    notes = save_urdf(system, tmp_path / "a.urdf")
    assert ["knee" in note for note in notes if "no joint that is a FunctionBased" in note] == [True]
    names = [name for name in names_of(system) if "knee" not in name]
    other = mb.load_urdf(tmp_path / "a.urdf", gravity=(0, -9.81, 0))
    assert set(other.coordinates) == set(names)
    state, theirs = system.realize_topology(), other.default_state()
    q = rng.uniform(-1, 1, len(names))
    state.q, changed = np.append(q, 0.0), theirs.q.copy()
    changed[[other.coordinates[name] for name in names]] = q
    theirs.q = changed
    system.realize(state, mb.Stage.VELOCITY)
    other.system.realize(theirs, mb.Stage.VELOCITY)
    rows = [other.speeds[name] for name in names]
    assert_allclose(other.matter.calc_m(theirs)[np.ix_(rows, rows)], matter.calc_m(state)[:-1, :-1], atol=1e-12)


def test_a_mesh_without_volume_is_written_so_that_mujoco_reads_it(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    (tmp_path / "flat.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n")
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    body.add_decoration(mb.decoration.MeshFile(tmp_path / "flat.obj"), mb.Transform())
    mb.mobilizer.Pin(matter.ground, body)
    save_mjcf(system, tmp_path / "a.xml")
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "a.xml")).nmesh == 1


def add_two_gravities(forces, matter):
    mb.force.Gravity(forces, matter, (0, 0, -9.81))
    mb.force.Gravity(forces, matter, (1, 0, 0)).set_default_body_is_excluded(matter.bodies["pin"], True)


#: Of a pin and a free body: what is added, and what is said of it in a URDF file and in an MJCF file.
LOSSES = {
    "off": (
        lambda f, m: mb.force.MobilityLinearDamper(f, m.bodies["pin"], 0, 1.0, disabled_by_default=True),
        "forces that are switched off, 1 of them",
    ),
    "motion": (lambda f, m: mb.motion.Steady(m.bodies["pin"], 1.0), "prescribed motions are left out: pin"),
    "two stops": (
        lambda f, m: [mb.force.MobilityLinearStop(f, m.bodies["pin"], 0, k, 1.0, -k, k) for k in (1.0, 2.0)],
        "second stop of a coordinate",
    ),
    "static friction": (
        lambda f, m: mb.force.MobilityDryFriction(f, m.bodies["pin"], 0, 1.0, static_friction_ratio=1.5),
        "the static friction of joints",
    ),
    "two gravities": (add_two_gravities, "1 of 2 gravities do not pull at 'pin'"),
    "start": (lambda f, m: m.bodies["ball"].set_default_q((0, 1, 0, 0)), "start is left out: ball[0], ball[1]"),
    "measure": (lambda f, m: mb.measure.Time(m), "measures, 1 of them, are left out"),
    "event": (
        lambda f, m: m.get_system().add_event_handler(mb.event.StopWhen(lambda state: 1.0)),
        "handlers and reporters of events, 1 of them, are left out",
    ),
    "rotors": (lambda f, m: m.bodies["free"].set_default_rotor_inertia(np.arange(1.0, 7.0)), "rotors"),
    "a spring to one side": (
        lambda f, m: mb.force.TransmissionSpring(
            f, mb.force.transmission.Coordinates(f, [(m.bodies["pin"], 0, 1.0)]), stiffness=1.0, rest_range=(-np.inf, 0.0)
        ),
        "1 of the kind TransmissionSpring is left out",
    ),
}


def pin_ball_and_free():
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    body = mb.body.Rigid(mb.MassProperties(1.0, (0.1, 0, 0), mb.UnitInertia(0.4, 0.5, 0.6)))
    mb.mobilizer.Pin(matter.ground, body, name="pin")
    mb.mobilizer.Ball(matter.ground, body, name="ball")
    mb.mobilizer.Free(matter.ground, body, name="free")
    return system, matter, forces


@pytest.mark.parametrize("name", LOSSES)
def test_what_files_cannot_say_is_noted(tmp_path, name):
    system, matter, forces = pin_ball_and_free()
    add, words = LOSSES[name]
    before = [save(system, tmp_path / file) for save, file in ((save_urdf, "a.urdf"), (save_mjcf, "a.xml"))]
    add(forces, matter)
    for save, file, known in ((save_urdf, "a.urdf", before[0]), (save_mjcf, "a.xml", before[1])):
        notes = [note for note in save(system, tmp_path / file) if note not in known and "gravity is not" not in note]
        assert len(notes) == 1 and words in notes[0], notes


def test_mjcf_has_where_free_bodies_start_both_points_of_balls_and_sums_of_a_joint(tmp_path):
    pytest.importorskip("mujoco")
    system, matter, forces = pin_ball_and_free()
    pin, free = matter.bodies["pin"], matter.bodies["free"]
    free.set_default_q((0.6, 0.0, 0.8, 0.0, 1.0, 2.0, 3.0))
    ball = mb.constraint.Ball(pin, (0.1, 0.2, 0.3), free, (0.4, 0.5, 0.6))
    twice = mb.force.transmission.Coordinates(forces, [(pin, 0, 1.0), (pin, 0, 2.0)])
    servo = mb.force.Actuator(forces, twice, force_range=(1.0, 2.0), applied_range=(0.0, 1.5), name="servo")
    servo.set_default_control(0.5)
    rubs = mb.force.MobilityDryFriction(forces, pin, 0, 1.0, viscous_friction=0.7)
    notes = save_mjcf(system, tmp_path / "a.xml")
    assert notes == ["the controls that actuators start with are left out: servo", "constraints are MuJoCo's, which are soft"]
    model = mb.load_mjcf(tmp_path / "a.xml")
    state = model.default_state()
    assert_allclose(model.bodies["free"].get_q_as_vector(state), free.get_default_q(), atol=1e-15)
    (tie,) = model.constraints.values()
    assert_allclose(tie.get_default_station1(), ball.get_default_station1(), atol=1e-15)
    assert_allclose(tie.get_default_station2(), ball.get_default_station2(), atol=1e-15)
    assert_allclose(model.actuators["servo"].get_transmission().numbers[1:], [3.0])
    assert model.dampers["pin"].get_default_damping() == rubs.get_default_viscous_friction()
    state.u = np.ones(len(state.u))
    model.system.realize(state)
    assert model.actuators["servo"].calc_force(state) == 1.0


@pytest.mark.parametrize("euler", [False, True], ids=["quaternions", "Euler angles"])
def test_keyframes_and_starts_of_free_bodies_and_balls_in_any_frames_are_mujocos(euler, tmp_path, rng):
    """Poses and velocities of all bodies are those that MuJoCo finds of its qpos and qvel."""
    mujoco = pytest.importorskip("mujoco")
    inertial = '<inertial pos="0.1 0.2 0" mass="1" diaginertia="1 1 1"/>'
    (tmp_path / "a.xml").write_text(
        f'<mujoco><worldbody><body name="a"><freejoint name="a"/>{inertial}<body name="b"><joint name="b" type="ball"/>'
        f'{inertial}<body name="c"><joint name="c"/>{inertial}</body></body></body></worldbody></mujoco>'
    )
    model = mb.load_mjcf(tmp_path / "a.xml")
    matter, bodies = model.system.matter, [model.bodies[name] for name in "abc"]
    for body in bodies:
        body.set_default_inboard_frame(pose(rng))
        body.set_default_outboard_frame(pose(rng))

    def prepare(_, state):
        if euler:
            matter.set_use_euler_angles(state, True)
            model.system.realize_model(state)
        bodies[0].set_q_to_fit_transform(state, start)

    def make():
        state = model.default_state()
        for body in bodies:
            body.set_q_to_fit_transform(state, poses[body.index])
        state.u = u
        return state

    start, poses, u = pose(rng), [pose(rng) for _ in range(4)], rng.normal(size=10)
    model.prepare, model.keyframes["home"] = prepare, make
    notes = save_mjcf(model, tmp_path / "b.xml")
    assert not [note for note in notes if "left out" in note]
    theirs = mujoco.MjModel.from_xml_path(str(tmp_path / "b.xml"))
    data = mujoco.MjData(theirs)
    for state, key in ((model.default_state(), None), (make(), 0)):
        if key is not None:
            mujoco.mj_resetDataKeyframe(theirs, data, key)
        mujoco.mj_forward(theirs, data)
        model.system.realize(state, mb.Stage.VELOCITY)
        for body in bodies[:1] if key is None else bodies:
            X, V = body.get_body_transform(state), np.zeros(6)
            assert_allclose(data.body(body.name).xpos, X.p, atol=1e-10)
            assert_allclose(data.body(body.name).xmat.reshape(3, 3), X.R.matrix, atol=1e-10)
            mujoco.mj_objectVelocity(theirs, data, mujoco.mjtObj.mjOBJ_XBODY, theirs.body(body.name).id, V, 0)
            assert_allclose(V, np.ravel(body.get_body_velocity(state)), atol=1e-9)
