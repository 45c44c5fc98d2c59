"""MJCF files become systems whose numbers are MuJoCo's: one small file a feature, at random states."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb

mujoco = pytest.importorskip("mujoco")
from against_mujoco import Comparison, mass_matrix, random_state  # noqa: E402

from mobod.importer.mjcf.compiled import compile_file  # noqa: E402
from mobod.importer.mjcf.source import rotation_of  # noqa: E402

#: Both compute with 1e-16; forward dynamics of chains with armature loses a few digits.
TOLERANCE = 1e-10
BOX = '<geom type="box" size=".1 .2 .3" pos=".1 0 .05" euler="10 20 30"/>'


def file(tmp_path, inside, name="model.xml", attributes='model="test"'):
    path = tmp_path / name
    path.write_text(f"<mujoco {attributes}>\n{inside}\n</mujoco>")
    return path


def body(joints, inside=BOX, **settings):
    attributes = " ".join(f'{key}="{value}"' for key, value in settings.items())
    return f'<body pos=".1 .2 1" euler="10 20 30" {attributes}>{joints}{inside}</body>'


def world(*parts):
    return f"<worldbody>{''.join(parts)}</worldbody>"


ARM = body(
    '<joint name="hinge" axis="1 1 0" pos=".1 .2 .3" ref="20"/><joint name="slide" type="slide" axis="0 1 1" ref=".2"/>',
    BOX
    + '<site name="s1" pos=".1 .2 .3" euler="40 20 10"/>'
    + body('<joint name="elbow" axis="0 0 -1" pos="0 .1 0"/>', BOX + '<site name="s2" pos=".3 .1 .2" euler="10 70 30"/>'),
)
BALL = body('<joint name="ball" type="ball" pos="-.1 0 0"/>', BOX + '<site name="s3"/>' + body('<joint name="tip"/>'))
FREE = body('<freejoint name="free"/>', BOX + '<site name="s4" pos=".2 0 0" euler="0 30 0"/>', name="floating")
ALL = '<site name="s0" pos="1 0 0" euler="10 20 30"/>' + ARM + BALL + FREE
ACTUATED = world(ALL) + '<tendon><fixed name="fixed"><joint joint="hinge" coef="2"/><joint joint="elbow" coef="-1"/></fixed>'
ACTUATED += '<spatial name="path"><site site="s0"/><site site="s1"/><pulley divisor="2"/><site site="s1"/><site site="s2"/>'
ACTUATED += '<site site="s4"/></spatial></tendon>'

FEATURES = {
    "hinge": world(body('<joint axis="1 2 3" pos=".1 .2 .3"/>')),
    "hinge with ref": world(body('<joint axis="-1 .2 -.3" ref="30"/>')),
    "slide with ref": world(body('<joint type="slide" axis="1 2 -3" ref=".3"/>')),
    "ball": world(BALL),
    "free": world(FREE),
    "several joints": world(ARM),
    "slides, then hinges": world(
        body("".join(f'<joint type="{t}" axis="{a}"/>' for t in ("slide", "hinge") for a in ("1 0 0", "0 1 0")))
    ),
    "a ball behind a slide": world(body('<joint type="slide" axis="1 1 0"/><joint type="ball" pos=".1 0 .2"/>')),
    "inertial": world(
        body("<joint/>", '<inertial pos=".1 .2 .3" mass="2" fullinertia="1 1.2 1.4 .1 .2 .3"/>'),
        body("<joint/>", '<inertial pos=".1 0 0" euler="10 20 30" mass="1" diaginertia=".1 .2 .25"/>'),
    ),
    "static bodies": world(body("", BOX + body("<joint/>", BOX + body("", body("<joint axis='1 0 0'/>"))))),
    "frames, defaults and replicas": '<default><default class="c"><joint armature=".3" damping=".2"/></default></default>'
    + world(
        '<frame pos="1 0 0" euler="0 30 0"><replicate count="3" euler="0 0 30">'
        + body('<joint name="j" class="c" axis="1 0 0"/>', name="b")
        + "</replicate></frame>"
    ),
    "armature, springs and dampers": world(
        body(
            '<joint axis="1 1 0" stiffness="3" springref="20" damping=".4" armature=".1"/><joint type="slide" stiffness="2"/>'
        ),
        body('<joint type="ball" stiffness="2 .3 .1" damping=".3" armature=".2"/>'),
        body('<joint type="free" stiffness="2" damping=".3" armature=".2"/>'),
    ),
    "springs and dampers of higher powers": world(
        body('<joint axis="1 1 0" stiffness="3 .1 .2" damping="1 .3 .2"/>'),
        body('<joint type="ball" damping="1 .3 .2"/>'),
        body('<joint type="free" damping="1 .3 .2"/>'),
    ),
    "gravity compensation": '<option gravity="1 2 -9"/>'
    + world(body("<joint/>", BOX + body("<joint axis='1 0 0'/>", gravcomp=1), gravcomp=0.7)),
    "drag": '<option density="1.2" viscosity=".3" wind="1 2 3"/>'
    + world(
        body("<freejoint/>"),
        body("<freejoint/>", BOX.replace("/>", ' fluidshape="ellipsoid"/>')),
        body("<freejoint/>", '<geom type="capsule" size=".1 .2" fluidshape="ellipsoid" fluidcoef="1 2 .3 .4 .5"/>'),
    ),
    "tendons": ACTUATED.replace('name="fixed"', 'name="fixed" stiffness="3" damping=".2" springlength=".1 .2"').replace(
        'name="path"', 'name="path" stiffness="3 .1 .2" damping=".2 .3 .1"'
    ),
    "tendons that wrap": world(
        '<site name="a" pos="-.5 .03 .3"/><site name="in" pos=".02 0 .5"/><geom name="ball" size=".12" pos="0 .02 .5"/>',
        body(
            '<joint name="j"/>',
            BOX + '<site name="b" pos=".5 .1 .1"/><geom name="bar" type="cylinder" size=".1 .3" pos=".1 .3 0"/>',
        ),
        body('<joint axis="1 0 0"/>', BOX + '<site name="c" pos=".3 -.2 .4"/>'),
    )
    + """<tendon><spatial name="t" stiffness="5" damping=".3"><site site="a"/><geom geom="ball"/><site site="b"/>
    <geom geom="bar"/>
    <site site="c"/></spatial></tendon><actuator><motor tendon="t"/></actuator>""",
    "actuators of joints": ACTUATED
    + """<actuator><motor joint="hinge" gear="3" ctrlrange="-.1 .1" ctrllimited="true"/><position joint="slide" kp="4" kv=".3"
    forcerange="-.2 .2"/><velocity joint="elbow" kv="2"/><damper joint="elbow" kv="2" ctrlrange="0 1"/>
    <intvelocity joint="elbow" kp="3" actrange="-2 2"/><cylinder joint="slide" timeconst=".3" area="2" bias="1 2 3"/>
    <general joint="hinge" dyntype="filterexact" dynprm=".2" gaintype="affine" gainprm="1 2 3"
    biastype="affine" biasprm="1 2 3"/>
    <motor tendon="fixed" gear="2"/><position tendon="path" kp="3"/></actuator>""",
    "actuators of balls and free joints": ACTUATED
    + """<actuator><motor joint="ball" gear="1 2 3"/><motor jointinparent="ball" gear="1 2 3"/>
    <position joint="ball" gear=".3 .2 .1" kp="4"/><motor joint="free" gear="1 2 3 4 5 6"/>
    <motor jointinparent="free" gear="1 2 3 4 5 6"/></actuator>""",
    "actuators of sites": ACTUATED
    + """<actuator><motor site="s2" gear="1 2 3 4 5 6"/><position site="s2" refsite="s1" gear="1 2 3 0 0 0" kp="3" kv=".2"/>
    <position site="s4" refsite="s1" gear="0 0 0 4 5 6" kp="3" kv=".2"/><motor site="s3" refsite="s0" gear="1 2 3 1 2 1"/>
    <motor cranksite="s2" slidersite="s1" cranklength="1.5" gear="2"/>
    <motor cranksite="s4" slidersite="s2" cranklength="1"/></actuator>""",
    "what actuators add to a joint": ACTUATED
    + '<actuator><motor joint="hinge" gear="3" armature=".1" damping=".2"/>'
    + '<motor joint="hinge" gear="2" armature=".3"/></actuator>',
    "a limit of the force on a joint": world(body('<joint name="j" actuatorfrcrange="-1 2"/>'))
    + '<actuator><position joint="j" kp="100" gear="2"/></actuator>',
    "a limit of the force on a tendon, and a muscle": ACTUATED.replace('name="fixed"', 'name="fixed" actuatorfrcrange="-1 .1"')
    + """<actuator><position tendon="fixed" kp="100" gear="2"/><muscle name="m" tendon="path" lengthrange="0 2"/></actuator>
    <sensor><actuatorpos actuator="m"/><actuatorvel actuator="m"/></sensor>""",
    "springs and dampers off are all passive forces off": '<option density="1" viscosity="1">'
    '<flag spring="disable" damper="disable"/></option>' + world(body("<joint/>", gravcomp=1)),
    "gravity compensation that lifts nothing": world(body("<joint/>", gravcomp=-0.5)),
    "switched off": '<option><flag gravity="disable" spring="disable" damper="disable" clampctrl="disable"/></option>'
    + world(body('<joint name="j" stiffness="3" damping="2"/>'))
    + '<actuator><motor joint="j" ctrlrange="-.1 .1" ctrllimited="true"/></actuator>',
}


@pytest.mark.parametrize("name", FEATURES)
def test_a_feature_is_as_in_mujoco(tmp_path, name):
    comparison = Comparison(file(tmp_path, FEATURES[name]))
    errors = comparison.run()
    assert max(errors.values()) < TOLERANCE, errors


def test_a_tendon_through_the_inside_of_a_ring(tmp_path):
    inside = world(
        '<site name="a" pos="-.3 .1 .3"/><site name="side"/><geom name="ring" type="cylinder" size=".06 .3" zaxis="0 1 0"/>',
        body(
            '<joint type="slide" axis="0 0 1"/><joint type="slide" axis="1 0 0"/>',
            '<geom size=".1"/><site name="b" pos=".2 .1 -.8"/>',
        ),
    )
    inside += '<tendon><spatial name="t"><site site="a"/><geom geom="ring" sidesite="side"/><site site="b"/></spatial></tendon>'
    comparison = Comparison(file(tmp_path, inside))
    errors = comparison.run(10)
    # MuJoCo ends its iteration at an angle of 1e-6, after the same steps
    assert max(errors.values()) < 1e-6, errors


@pytest.mark.parametrize("kind", ["sphere", "cylinder"])
@pytest.mark.parametrize("place", [".1 .4 0", "-.1 .1 .6"], ids=["beside", "far along the axis"])
def test_a_tendon_goes_around_as_the_lines_to_and_from_its_side_site_do(tmp_path, kind, place):
    inside = world(
        f'<site name="a" pos="-.5 .1 .3"/><site name="side" pos="{place}"/><geom name="g" type="{kind}" size=".3 .3"/>',
        body(
            '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>',
            '<geom size=".1"/><site name="b" pos=".5 .2 -.8"/>',
        ),
    )
    inside += '<tendon><spatial name="t"><site site="a"/><geom geom="g" sidesite="side"/><site site="b"/></spatial></tendon>'
    errors = Comparison(file(tmp_path, inside)).run(20)
    assert max(errors.values()) < TOLERANCE, errors


def test_gravity_in_place_of_the_files_is_compensated(tmp_path):
    model = mb.load_mjcf(file(tmp_path, world(body("<joint/>", gravcomp=1))), gravity=(3.0, 0.0, 0.0))
    state = model.default_state()
    model.system.realize(state)
    assert_allclose(state.u_dot, 0.0, atol=1e-14)


def test_a_rod_behind_an_actuator_of_several_outputs(tmp_path):
    """MuJoCo's lengths of cranks are by actuator, its gears by output."""
    servo = '<orientation joint="ball" kp="2"/><motor name="crank" cranksite="s2" slidersite="s1" cranklength="1.5"/>'
    comparison = Comparison(file(tmp_path, f"{ACTUATED}<actuator>{servo}</actuator>"))
    assert list(comparison.model.actuators) == ["crank"]
    comparison.one_state()
    assert comparison.errors["actuator length"] < TOLERANCE


def test_default_state_is_qpos0(tmp_path):
    model = mb.load_mjcf(file(tmp_path, world(ALL)))
    m = mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml"))
    state = model.default_state()
    assert_allclose(model.data["mujoco"].get_qpos(state), m.qpos0)
    assert state.q[model.coordinates["hinge"]] == pytest.approx(np.deg2rad(20))
    assert state.q[model.coordinates["slide"]] == pytest.approx(0.2)
    assert list(model.coordinates)[-7:] == [f"free[{k}]" for k in range(7)]
    assert model.angles == {"hinge", "elbow", "tip"}
    assert model.name == "test" and model.bodies["floating"] is model.matter.bodies["floating"]


def test_names_that_the_file_does_not_give(tmp_path):
    inside = body("<joint/>", BOX + body('<joint axis="1 0 0"/><joint/>', name="fore") + body("", name="ground"))
    model = mb.load_mjcf(file(tmp_path, world(inside)))
    assert list(model.bodies) == ["body1", "fore", "ground"]
    assert list(model.coordinates) == ["body1", "fore_joint0", "fore_joint1"]
    # one that the file gives to another is not given twice
    tendons = "".join(
        f'<fixed{name}><joint joint="j" coef="{k}"/></fixed>'
        for k, name in enumerate(("", ' name="tendon0"', ' name="tendon2"', ""))
    )
    inside = world(body('<joint name="j"/>', BOX, name="body2"), body("<joint/>")) + f"<tendon>{tendons}</tendon>"
    model = mb.load_mjcf(file(tmp_path, inside))
    assert list(model.bodies) == ["body2", "body2_"] and len(model.matter.bodies) == 3
    assert list(model.data["tendons"]) == ["tendon0_", "tendon0", "tendon2", "tendon3"]


def test_bodies_have_their_origin_at_the_files_frame_and_chains_are_massless(tmp_path):
    model = mb.load_mjcf(file(tmp_path, world(body('<joint axis="1 0 0" pos="0 0 1"/><joint axis="0 1 0"/>', name="b"))))
    assert [one.name for one in model.matter.bodies] == ["ground", "b/b_joint0", "b"]
    assert model.matter.bodies[1].body.get_default_rigid_body_mass_properties().mass == 0.0
    state = model.default_state()
    model.system.realize(state, mb.Stage.POSITION)
    assert_allclose(np.asarray(model.bodies["b"].get_body_origin_location(state)), (0.1, 0.2, 1.0), atol=1e-15)


def test_dry_friction_and_limits(tmp_path):
    arm = body('<joint name="j" range="-20 40" frictionloss=".3"/>')
    path = file(tmp_path, world(arm, body('<joint name="k" type="ball" range="0 40"/>')))
    model = mb.load_mjcf(path)
    assert model.frictions["j"].get_default_friction_force() == 0.3
    stop = model.stops["j"]
    assert stop.get_default_upper_bound() == pytest.approx(np.deg2rad(40))
    m = mujoco.MjModel.from_xml_path(str(path))
    assert stop.get_default_stiffness() == pytest.approx(1.0 / 0.02**2 / m.dof_invweight0[0])
    assert any("'k'" in line and "ball" in line for line in model.report)
    state = model.default_state()
    end = mb.simulate(model.system, state, 2.0, accuracy=1e-4).states[-1]
    assert -0.5 < end.q[0] < 0.75
    plain = mb.load_mjcf(path, joint_limits=False, joint_friction=False)
    assert not plain.stops and not plain.frictions
    assert plain.data["ranges"]["j"] == pytest.approx(np.deg2rad((-20, 40)))
    assert mb.load_mjcf(path, stop_stiffness=7.0).stops["j"].get_default_stiffness() == 7.0
    with pytest.raises(mb.ModelError, match="stop_stiffness"):
        mb.load_mjcf(path, stop_stiffness=-1.0)


def test_equalities_are_hard_constraints(tmp_path):
    inside = world(ALL, body("<freejoint/>", BOX + '<site name="s5" pos=".1 0 0"/>', name="other"))
    inside += ACTUATED[ACTUATED.index("<tendon>") :]
    inside += """<equality><connect name="c" body1="floating" body2="other" anchor=".1 .2 .3"/>
    <connect name="sites" site1="s3" site2="s5"/><weld name="w" body1="other" relpose="0 0 0 1 0 0 0" active="false"/>
    <weld name="welded sites" site1="s4" site2="s5"/><weld name="turns" site1="s3" site2="s5" torquescale="0"/>
    <weld name="turns too" body1="floating" body2="other" relpose=".1 .2 .3 .5 .5 .5 .5" anchor=".1 0 0" torquescale="0"/>
    <joint name="linear" joint1="hinge" joint2="elbow" polycoef=".1 2 0 0 0"/>
    <joint name="cubic" joint1="hinge" joint2="elbow" polycoef=".1 2 .3 .4 .5"/>
    <joint name="held" joint1="slide" polycoef=".3 0 0 0 0"/>
    <tendon name="sum" tendon1="fixed" polycoef=".2 0 0 0 0"/><tendon name="length" tendon1="path"/></equality>"""
    path = file(tmp_path, inside)
    model = mb.load_mjcf(path)
    kinds = {name: type(one).__name__ for name, one in model.constraints.items()}
    assert kinds == {
        "c": "Ball",
        "sites": "Ball",
        "w": "Weld",
        "welded sites": "Weld",
        "turns": "Ball",
        "turns too": "Ball",
        "linear": "CoordinateCoupler",
        "cubic": "CoordinateCoupler",
        "held": "ConstantCoordinate",
        "sum": "CoordinateCoupler",
    }
    text = "\n".join(model.report)
    assert "'length' is left out" in text and "soft" in text and "'w': switched off" in text
    # errors of positions are MuJoCo's
    m = mujoco.MjModel.from_xml_path(str(path))
    d = mujoco.MjData(m)
    rng = np.random.default_rng(0)
    d.qpos[:] = m.qpos0 + 0.1 * rng.normal(size=m.nq)
    mujoco.mj_normalizeQuat(m, d.qpos)
    mujoco.mj_forward(m, d)
    state = model.data["mujoco"].make_state(d.qpos)
    model.system.realize(state, mb.Stage.POSITION)
    theirs = np.array(d.efc_pos[: d.ne])
    at = 0
    for e in range(m.neq):
        name = m.equality(e).name
        if not m.eq_active0[e]:
            continue
        rows = {0: 3, 1: 6}.get(int(m.eq_type[e]), 1)
        own = theirs[at : at + rows]
        at += rows
        if name not in model.constraints:
            continue
        ours = model.constraints[name].get_position_errors_as_vector(state)
        if rows == 1:
            assert_allclose(np.abs(ours), np.abs(own), atol=1e-12)
        else:  # a Weld's errors of orientation are others
            assert_allclose(np.linalg.norm(ours[-3:]), np.linalg.norm(own[:3]), rtol=1e-10)


@pytest.mark.parametrize(("sites", "offset", "why"), [("s1 near", 0, "cannot move"), ("s1 s2", -5, "not above zero")])
def test_a_tendon_that_no_rod_stands_for_is_left_out(tmp_path, sites, offset, why):
    both = "".join(f'<site site="{one}"/>' for one in sites.split())
    inside = world(ARM.replace('<site name="s1"', '<site name="near"/><site name="s1"')) + (
        f'<tendon><spatial name="t">{both}</spatial></tendon>'
        f'<equality><tendon name="e" tendon1="t" polycoef="{offset} 0 0 0 0"/></equality>'
    )
    model = mb.load_mjcf(file(tmp_path, inside))
    assert not model.constraints and any("'e' is left out" in line and why in line for line in model.report)


def test_hinges_coupled_by_an_equality_move_together(tmp_path):
    inside = world(body('<joint name="a"/>', BOX + body('<joint name="b" ref="10"/>')))
    inside += '<equality><joint joint1="b" joint2="a" polycoef="0 .5 .2 0 0"/></equality>'
    model = mb.load_mjcf(file(tmp_path, inside))
    state = model.default_state()
    state.upd_u()[0] = 0.3
    model.system.project(state)
    end = mb.simulate(model.system, state, 0.3, accuracy=1e-6).states[-1]
    a, b = end.q
    assert abs(a) > 0.01
    assert b - np.deg2rad(10) == pytest.approx(0.5 * a + 0.2 * a * a, abs=1e-5)


def test_keyframes_are_states(tmp_path):
    inside = world(ALL, '<body name="hand" mocap="true" pos="1 2 3"><geom size=".1"/></body>')
    inside += '<actuator><intvelocity name="m" joint="hinge" kp="2"/><motor joint="elbow"/></actuator>'
    m = mujoco.MjModel.from_xml_string(f"<mujoco>{inside}</mujoco>")
    rng = np.random.default_rng(1)
    q = np.array(m.qpos0) + 0.1 * rng.normal(size=m.nq)
    mujoco.mj_normalizeQuat(m, q)
    u = rng.normal(size=m.nv)
    numbers = {"qpos": q, "qvel": u, "act": [0.3], "ctrl": [0.2, 0.4], "mpos": [3, 2, 1], "mquat": [0, 1, 0, 0]}
    key = " ".join(f'{k}="{" ".join(repr(float(x)) for x in v)}"' for k, v in numbers.items())
    model = mb.load_mjcf(file(tmp_path, inside + f'<keyframe><key name="home" time="1.5" {key}/></keyframe>'))
    state = model.keyframes["home"]()
    assert state.time == 1.5
    assert_allclose(model.data["mujoco"].get_qpos(state), q, atol=1e-15)
    assert_allclose(model.data["mujoco"].get_qvel(state), u, atol=1e-14)
    assert_allclose(model.data["controls"].get_controls(state), [0.2, 0.4])
    assert model.actuators["m"].get_activation(state) == 0.3
    model.system.realize(state, mb.Stage.POSITION)
    X = np.asarray(model.bodies["hand"].get_body_transform(state))
    assert_allclose(X[:3, 3], (3, 2, 1))
    assert_allclose(X[:3, :3], np.diag((1, -1, -1)), atol=1e-15)
    assert any("mocap" in line for line in model.report)


SENSORS = """<sensor><jointpos joint="hinge"/><jointvel joint="elbow"/><ballquat joint="ball"/><ballangvel joint="ball"/>
<tendonpos tendon="path"/><tendonvel tendon="path"/><actuatorpos actuator="a"/><actuatorvel actuator="a"/>
<actuatorfrc actuator="a"/>
<framepos objtype="site" objname="s2"/><framepos objtype="body" objname="floating"/>
<framequat objtype="xbody" objname="floating"/>
<framexaxis objtype="site" objname="s2"/><framelinvel objtype="site" objname="s2"/><frameangvel objtype="site" objname="s2"/>
<framelinacc objtype="site" objname="s2"/><frameangacc objtype="site" objname="s2"/>
<velocimeter site="s2"/><gyro site="s2"/>
<accelerometer site="s2"/><magnetometer site="s2"/><subtreecom body="floating"/><subtreelinvel body="upper"/>
<clock/><e_kinetic/>
<framepos objtype="site" objname="s2" reftype="site" refname="s1"/>
<framequat objtype="site" objname="s4" reftype="site" refname="s1"/>
<framelinvel objtype="site" objname="s4" reftype="site" refname="s1"/>
<frameangvel objtype="site" objname="s4" reftype="site" refname="s1"/>
<framezaxis objtype="site" objname="s4" reftype="site" refname="s1"/>
<touch site="s2"/><rangefinder site="s2"/></sensor>"""


def test_sensors_read_what_mujocos_do(tmp_path):
    inside = '<option><flag energy="enable"/></option>' + ACTUATED.replace("<body pos", '<body name="upper" pos', 1)
    inside += f'<actuator><position name="a" joint="hinge" kp="3"/></actuator>{SENSORS}'
    comparison = Comparison(file(tmp_path, inside))
    state = comparison.one_state()
    m, d, sensors = comparison.m, comparison.d, comparison.model.data["sensors"]
    assert len(sensors) == m.nsensor - 2
    assert sum("touch" in line or "rangefinder" in line for line in comparison.model.report) == 2
    for s, name in enumerate(comparison.names.sensors):
        if name in sensors:
            at, size = int(m.sensor_adr[s]), int(m.sensor_dim[s])
            theirs = d.sensordata[at : at + size]
            ours = np.atleast_1d(sensors[name].get_value(state))
            if size == 4 and ours @ theirs < 0.0:
                ours = -ours
            assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9, err_msg=f"{name} {m.sensor_type[s]}")


def test_geoms_are_drawn_with_their_materials(tmp_path):
    kinds = ["sphere", "capsule", "cylinder", "box", "ellipsoid"]
    geoms = "".join(f'<geom type="{kind}" size=".1 .2 .3" pos="{k} 0 0" rgba="1 0 0 .5"/>' for k, kind in enumerate(kinds))
    mesh = '<asset><material name="blue" rgba="0 0 1 1"/><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>'
    inside = mesh + world(
        '<geom type="plane" size="3 3 .1" material="blue"/>',
        body("<joint/>", geoms + '<geom type="mesh" mesh="m" material="blue"/><geom size=".1" group="3"/>', name="b"),
    )
    path = file(tmp_path, inside)
    model = mb.load_mjcf(path)
    drawn = model.bodies["b"].body.decorations
    names = [type(shape).__name__ for shape, _ in drawn]
    assert len(names) == 9 and names[:2] == ["Sphere", "Cylinder"] and names[-1] == "Sphere"
    assert drawn[0][0].opacity == 0.5 and tuple(drawn[0][0].color) == (1.0, 0.0, 0.0)
    assert drawn[-1][0].representation == "hidden"
    assert tuple(model.matter.ground.body.decorations[0][0].color) == (0.0, 0.0, 1.0)
    # a mesh is where MuJoCo has it
    shape, X = drawn[-2]
    vertices, _ = shape.calc_mesh()
    corners = {tuple(np.round(X @ v, 6) + 0.0) for v in np.asarray(vertices)}
    assert corners == {(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)}


def test_contact_is_among_the_pairs_that_the_file_lets_touch(tmp_path):
    ball = '<geom name="{0}" size=".1" {1}/>'
    inside = world(
        '<geom name="floor" type="plane" size="3 3 .1"/>',
        *(
            f'<body name="{name}" pos="{k} 0 .09"><freejoint/>{ball.format(name, more)}</body>'
            for k, (name, more) in enumerate(
                {
                    "a": "",
                    "b": 'contype="0" conaffinity="0"',
                    "c": 'contype="2" conaffinity="2"',
                    "d": 'friction=".3"',
                    "e": "",
                }.items()
            )
        ),
    )
    inside += '<contact><exclude body1="e" body2="world"/><pair geom1="floor" geom2="c"/></contact>'
    model = mb.load_mjcf(file(tmp_path, inside), collision=True)
    state = model.default_state()
    model.system.realize(state, mb.Stage.VELOCITY)
    contacts = model.contacts.get_contacts(state)
    surfaces = [surface.name for surface in model.contacts.surfaces]
    touching = {frozenset((surfaces[a], surfaces[b])) for a, b in zip(contacts["surface1"], contacts["surface2"], strict=True)}
    assert touching == {frozenset(("floor", name)) for name in "acd"}
    assert "b" not in surfaces
    material = {surface.name: surface.surface.material for surface in model.contacts.surfaces}
    assert material["d"].static_friction == 0.3
    soft = mb.contact.Material(1e4, static_friction=0.2)
    model = mb.load_mjcf(tmp_path / "model.xml", collision=True, collision_material=soft)
    assert model.contacts.surfaces[0].surface.material is soft
    with pytest.raises(TypeError, match="collision_material"):
        mb.load_mjcf(tmp_path / "model.xml", collision=True, collision_material=3)


@pytest.mark.parametrize("flags", ["constraint", "limit frictionloss equality contact"])
def test_constraints_that_a_file_switches_off_do_not_act(tmp_path, flags):
    """Limits that are passed, friction, equalities and contacts: accelerations are MuJoCo's with all of them in the file."""
    off = " ".join(f'{flag}="disable"' for flag in flags.split())
    inside = f"<option><flag {off}/></option>" + world(
        '<geom type="plane" size="1 1 1" pos="0 0 1"/>',
        body('<joint name="a" axis="0 1 0" range="-5 5" frictionloss="3"/>', BOX + body('<joint name="b" axis="1 0 0"/>')),
    )
    inside += '<equality><joint joint1="a" joint2="b"/></equality>'
    inside += '<tendon><fixed name="t" range="0 .1" frictionloss="1"><joint joint="a" coef="1"/></fixed></tendon>'
    model = mb.load_mjcf(file(tmp_path, inside), collision=True)
    for flag in flags.split():
        assert f"flag {flag} is disabled in the file: followed" in model.report
    m = mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml"))
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = [0.6, -0.4], [1.0, 2.0]
    mujoco.mj_forward(m, d)
    state = model.data["mujoco"].make_state(d.qpos, d.qvel)
    model.system.realize(state)
    assert_allclose(state.u_dot, d.qacc, rtol=1e-10)


def test_delays_and_limits_of_sums_are_warned_of(tmp_path):
    inside = world(body('<joint name="a" actuatorfrcrange="-1 1"/>', BOX))
    inside += '<tendon><fixed name="t" actuatorfrcrange="-1 1"><joint joint="a" coef="1"/></fixed></tendon>'
    late = '<motor name="late" joint="a" delay=".05" nsample="4"/>'
    inside += f'<actuator><motor tendon="t"/><motor tendon="t"/>{late}<motor joint="a"/></actuator>'
    lost = "forces are limited together: 2; actuators' delays: 1; joints whose several actuators are limited together: 1"
    with pytest.warns(mb.ModelWarning, match=lost):
        report = mb.load_mjcf(file(tmp_path, inside)).report
    assert "actuator 'late': its delay of 0.05 is left out" in report


def test_what_is_left_out_is_reported(tmp_path):
    inside = '<option timestep=".001" integrator="RK4"><flag warmstart="disable" contact="disable"/></option>' + world(
        body('<joint name="j"/>', BOX + '<site name="a"/><geom name="g" size=".05"/>'),
        '<site name="b"/>',
    )
    inside += """<tendon><spatial name="t" range="0 1" limited="true" frictionloss="1"><site site="b"/><geom geom="g"/>
    <site site="a"/></spatial></tendon><actuator><muscle name="m" tendon="t" lengthrange="0 1"/>
    <general name="u" joint="j" gaintype="user"/></actuator>"""
    model = mb.load_mjcf(file(tmp_path, inside))
    text = "\n".join(model.report)
    for word in (
        "frictionloss of 1 tendon",
        "gaintype",
        "integrator rk4",
        "flag contact",
    ):
        assert word in text, text
    assert "warmstart" not in text
    assert model.muscles["m"] is model.actuators["m"]
    assert model.data["options"]["timestep"] == 0.001
    assert model.stops["t"].get_default_dissipation() == 1.0  # that of stops, as of joints


MUSCLES = """<mujoco><compiler autolimits="true"/><worldbody><site name="o" pos="0 0 1.2"/><body name="a" pos="0 0 1">
<joint name="j" axis="0 1 0" range="-1.5 1.5"/><geom type="capsule" fromto="0 0 0 .4 0 0" size=".03" contype="0"/>
<site name="s" pos=".2 0 .03"/><body name="b" pos=".4 0 0"><joint name="k" axis="0 1 0" range="-2 .2"/>
<geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" contype="0"/><site name="t" pos=".1 0 .03"/></body></body></worldbody>
<tendon><spatial name="t1"><site site="o"/><site site="s"/></spatial>
<spatial name="t2"><site site="s"/><site site="t"/></spatial></tendon><actuator>
<muscle name="m1" tendon="t1" lengthrange=".1 .5"/>
<muscle name="m2" tendon="t2" tausmooth=".3" lengthrange=".15 .4" force="300" range=".7 1.2" lmax="1.8" fvmax="1.3"/>
<muscle name="m3" joint="j" gear="-.05" lengthrange="-.08 .08" scale="100" ctrlrange="0 .8"/><motor name="u" joint="k"/>
</actuator></mujoco>"""


def test_muscles_are_those_of_mujoco(tmp_path, rng):
    """Forces, rates of activations and accelerations at random states, beyond all ranges, too; in lanes, with derivatives."""
    mujoco = pytest.importorskip("mujoco")
    (tmp_path / "arm.xml").write_text(MUSCLES)
    model = mb.load_mjcf(tmp_path / "arm.xml", joint_limits=False, collision=False)
    names, m = ["m1", "m2", "m3"], mujoco.MjModel.from_xml_string(MUSCLES)
    assert list(model.muscles) == names
    d, state = mujoco.MjData(m), model.default_state()
    for _ in range(50):
        d.qpos[:], d.qvel[:] = rng.uniform(-1.5, 1.5, 2), 4.0 * rng.normal(size=2)
        d.act[:], d.ctrl[:] = rng.uniform(-0.1, 1.1, 3), rng.uniform(-0.2, 1.2, 4)
        mujoco.mj_forward(m, d)
        state.q, state.u = d.qpos, d.qvel
        model.data["controls"].set_controls(state, d.ctrl)
        for name, a in zip(names, d.act, strict=True):
            model.muscles[name].set_activation(state, a)
        model.system.realize(state)
        forces = [model.muscles[name].calc_force(state) for name in names]
        assert_allclose(forces, d.actuator_force[:3], rtol=1e-9, atol=1e-10)
        assert_allclose(state.z_dot, d.act_dot, rtol=1e-9, atol=1e-9)
        assert_allclose(state.u_dot, d.qacc_smooth, rtol=1e-9, atol=1e-8)
    ensemble = mb.Ensemble(model.system, 9, state=state)
    ensemble.realize()
    assert_allclose(ensemble.u_dot, np.broadcast_to(state.u_dot, (9, 2)), rtol=1e-11)
    for name in names:
        model.muscles[name].set_activation(state, 0.4)
    state.q, state.u = (0.3, -0.4), (0.2, 0.1)
    model.system.realize(state)
    found, h = model.system.calc_forward_dynamics_derivatives(state), 1e-6
    for k in range(2):
        sides = []
        for sign in (1.0, -1.0):
            moved = state.copy()
            moved.q = state.q + sign * h * np.eye(2)[k]
            model.system.realize(moved)
            sides.append(moved.u_dot.copy())
        assert_allclose(found.q[:, k], (sides[0] - sides[1]) / (2.0 * h), rtol=1e-6, atol=1e-5)
    with pytest.raises(mb.ModelError, match="activation of 'm1'"):
        model.muscles["m1"].set_activation(state, np.nan)


def test_dry_friction_of_tendons(tmp_path, rng):
    """On one joint it is the joint's own; on two it pulls them by their coefficients, with the same force at the same speed."""
    arms = body('<joint name="j"/>') + body('<joint name="k"/>'), body('<joint name="j" frictionloss=".5"/>') + body("")
    tendon = (
        '<tendon><fixed name="t" frictionloss=".5"><joint joint="j" coef="{}"/><joint joint="k" coef="{}"/></fixed></tendon>'
    )
    plain, one, two, own = (
        mb.load_mjcf(file(tmp_path, world(arms[which]) + inside))
        for which, inside in ((0, ""), (0, tendon.format(1, 0)), (0, tendon.format(2, -1)), (1, ""))
    )
    assert list(two.frictions) == ["t"] and any("frictionloss of 1 tendon" in line for line in two.report)
    path = file(tmp_path, world(arms[0]) + tendon.format(1, 0))
    refused = mb.load_mjcf(path, joint_friction=False)
    assert not refused.frictions and any("frictionloss of 1 tendon 't': not simulated" in line for line in refused.report)

    def accelerations(model, q, u, z):
        state = model.default_state()
        state.q, state.u = q[: len(state.q)], u[: len(state.u)]
        if len(state.z):
            state.z = [z]
        model.system.realize(state)
        return state

    for _ in range(5):
        q, u, z = rng.normal(size=2), rng.normal(scale=0.1, size=2), rng.uniform(-1.2, 1.2)
        free, single, joint = (accelerations(model, q, u, z) for model in (plain, one, own))
        assert_allclose(single.u_dot[0], joint.u_dot[0], rtol=1e-12)
        assert_allclose(single.z_dot, joint.z_dot, rtol=1e-12)
        assert single.u_dot[1] == pytest.approx(free.u_dot[1], rel=1e-12)
        force = plain.matter.calc_m(free)[0, 0] * (single.u_dot[0] - free.u_dot[0])  # of the speed u[0]
        like = accelerations(two, q, [0.5 * (u[0] + u[1]), u[1]], z)  # 2 u_j - u_k is that speed
        alike = accelerations(plain, q, [0.5 * (u[0] + u[1]), u[1]], z)
        pulls = plain.matter.calc_m(alike) @ (like.u_dot - alike.u_dot)
        assert_allclose(pulls, [2.0 * force, -force], rtol=1e-9, atol=1e-12)


def test_missing_files_never_stop_a_load_unless_strict(tmp_path):
    assets = """<asset><mesh name="m" file="none.stl"/><mesh file="nothing.obj"/><hfield name="h" file="no.png" size="1 1 1 1"/>
    <texture name="t" type="2d" file="no.png"/><material name="x" texture="t" rgba="1 0 0 1"/></asset>"""
    solid = '<inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/>'
    mesh = '<geom type="mesh" mesh="m" material="x"/>'
    path = file(
        tmp_path,
        assets
        + world(
            '<geom type="hfield" hfield="h"/>',
            body("<joint/>", solid + mesh, name="safe"),
            body("<joint/>", mesh + '<geom type="mesh" mesh="nothing" mass="3"/>', name="guessed"),
        ),
    )
    model = mb.load_mjcf(path)
    text = "\n".join(model.report)
    assert "none.stl" in text and "nothing.obj" in text and "no.png" in text
    assert "inertia of body 'guessed'" in text and "inertia of body 'safe'" not in text
    assert model.bodies["safe"].body.get_default_rigid_body_mass_properties().mass == 2.0
    assert model.bodies["guessed"].body.get_default_rigid_body_mass_properties().mass > 3.0
    assert not model.bodies["safe"].body.decorations
    with pytest.raises(mb.ModelError, match=r"model\.xml.*no"):
        mb.load_mjcf(path, strict=True)


@pytest.mark.parametrize("ending", ["stl", "obj", "dae", "png"])
@pytest.mark.filterwarnings("ignore::mobod.ModelWarning")
def test_files_that_hold_something_else_are_as_missing_ones(tmp_path, ending):
    """Repositories have pointers in place of large files, and meshes of formats that MuJoCo does not read."""
    (tmp_path / f"part.{ending}").write_text("version https://git-lfs.github.com/spec/v1\nsize 12345\n")
    asset = f'<mesh name="m" file="part.{ending}"/>' if ending != "png" else ""
    asset += '<texture name="t" type="2d" file="part.png"/><material name="x" texture="t"/>' * (ending == "png")
    geom = '<geom type="mesh" mesh="m"/>' if ending != "png" else '<geom size=".1" material="x"/>'
    path = file(tmp_path, f"<asset>{asset}</asset>" + world(body("<joint/>", geom, name="b")))
    model = mb.load_mjcf(path)
    assert f"1 file not to be read: 'part.{ending}'" in model.report
    assert any("inertia of body 'b'" in line for line in model.report.departures) == (ending != "png")
    with pytest.raises(mb.ModelError, match=r"model\.xml:2: "):
        mb.load_mjcf(path, strict=True)


def test_impossible_inertias_are_kept_as_they_are_unless_strict(tmp_path):
    path = file(tmp_path, world(body("<joint/>", '<inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/>', name="b")))
    model = mb.load_mjcf(path)
    inertia = np.asarray(model.bodies["b"].body.get_default_rigid_body_mass_properties().inertia)
    assert_allclose(np.diag(inertia), (1, 1, 3))
    assert any("'b'" in line and "inertia" in line for line in model.report)
    with pytest.raises(mb.ModelError, match=r"model\.xml:2.*inertia"):
        mb.load_mjcf(path, strict=True)


def test_an_impossible_inertia_with_products_is_kept_whatever_hand_its_axes_have(tmp_path):
    rng = np.random.default_rng(5)
    matrices = []
    for _ in range(6):  # of the axes of a symmetric matrix each second triple is left-handed, more or less
        axes, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        matrices.append(axes @ np.diag([1.0, 1.5, 4.0]) @ axes.T)
    assert {np.linalg.det(np.linalg.eigh(I)[1]) > 0.0 for I in matrices} == {True, False}
    parts = [
        body(
            "<joint/>",
            f'<inertial pos="0 0 0" mass="1" fullinertia="{" ".join(map(repr, I[row, column].tolist()))}"/>',
            name=f"b{k}",
        )
        for row, column in [([0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2])]
        for k, I in enumerate(matrices)
    ]
    model = mb.load_mjcf(file(tmp_path, world(*parts)))
    for k, I in enumerate(matrices):
        kept = model.bodies[f"b{k}"].body.get_default_rigid_body_mass_properties().inertia
        assert_allclose(np.asarray(kept), I, atol=1e-12)


def test_meshes_are_found_in_the_folder_that_the_file_names(tmp_path):
    (tmp_path / "parts").mkdir()
    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
    (tmp_path / "parts/corner.obj").write_text(corners)
    inside = '<compiler meshdir="parts"/><asset><mesh name="m" file="corner.obj" scale="2 2 2"/></asset>'
    model = mb.load_mjcf(file(tmp_path, inside + world(body("<joint/>", '<geom type="mesh" mesh="m"/>', name="b"))))
    ((drawn, X),) = model.bodies["b"].body.decorations
    assert isinstance(drawn, mb.decoration.MeshFile) and drawn.path == tmp_path / "parts/corner.obj"
    assert_allclose(
        np.unique((X @ drawn.calc_mesh()[0]).round(12), axis=0), [[0, 0, 0], [0, 0, 2], [0, 2, 0], [2, 0, 0]], atol=1e-9
    )


HOSTILE = {
    "unknown element": ("<worldbody>\n<foo/></worldbody>", r"model\.xml:3: .*unrecognized element"),
    "bad number": (world('\n<body><joint axis="0 0 a"/></body>'), r"model\.xml:3: bad format in attribute 'axis'"),
    "name twice": (world(body("<joint/>", name="a"), "\n" + body("<joint/>", name="a")), r"model\.xml:3: .*repeated name 'a'"),
    "no such joint": (world(body("<joint/>")) + '\n<actuator><motor joint="x"/></actuator>', r"model\.xml:3: .*'x'"),
    "no mass": (world("<body><joint/></body>"), r"model\.xml:2: mass and inertia"),
    "missing include": ('\n<include file="none.xml"/>', r"model\.xml:3: .*'none\.xml'"),
    "a circle": ('\n<include file="model.xml"/>', r"model\.xml:3: .*already included"),
    "not closed": ("<worldbody>", r"model\.xml:.*parse error"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_malformed_files_are_refused_with_their_line(tmp_path, name):
    inside, match = HOSTILE[name]
    with pytest.raises(mb.ModelError, match=match):
        mb.load_mjcf(file(tmp_path, inside))


@pytest.mark.parametrize(
    ("inside", "match"),
    [
        ('\n\n<worldbody><body><joint dampng="1"/></body></worldbody>', r"part\.xml:4: .*'dampng'.*line 4"),
        ('\n\n<worldbody><geom size="1" material="no"/></worldbody>', r"part\.xml:4: .*'no' not found.*line 4"),
        ('\n<include file="none.xml"/>', r"part\.xml:3: .*'none\.xml'"),
    ],
    ids=["attribute", "name", "include"],
)
def test_errors_in_an_included_file_name_that_and_its_line(tmp_path, inside, match):
    file(tmp_path, inside, "part.xml", "")
    with pytest.raises(mb.ModelError, match=match):
        mb.load_mjcf(file(tmp_path, f'<include file="part.xml"/>{world(body("<joint/>"))}'))


def mass_and_forces(path, seed=3):
    """M and all forces by MuJoCo, of the file as it is brought to MuJoCo's format, at a random state."""
    source = compile_file(path, False)
    m, rng = source.m, np.random.default_rng(seed)
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:] = random_state(m, rng)
    mujoco.mj_forward(m, d)
    names = [m.body(b).name for b in range(m.nbody)]
    return source, mass_matrix(mujoco, m, d), d.qfrc_bias, d.qfrc_passive, d.xipos, names


def test_frames_of_the_world_are_brought_to_bodies(tmp_path):
    """A file as MuJoCo had them until 2.3.3, and the same in frames of bodies: X_WB = (1 2 3, about x by 90 degrees)."""
    angles = '<compiler angle="degree" eulerseq="XYZ"{}/>'
    joints = '<joint name="h" axis="{}" pos="{}" stiffness="3"/><joint name="s" type="slide" axis="{}"/>'
    arm = '<body name="arm" pos="{}" euler="{}"><joint name="b" type="ball" pos="{}"/>'
    arm += '<geom type="capsule" size=".1" fromto="{}"/>'
    whole = '<inertial pos="{}" mass="2" {}/><geom type="box" size=".1 .2 .3" pos="{}" quat="{}" mass="0"/>'
    full, unit = 'fullinertia="1 1.2 1.4 .1 .2 .3"', 'mass="1" diaginertia="1 1 1"'
    of_world = angles.format(' coordinate="global"') + world(
        '<body name="base" pos="1 2 3" euler="90 0 0">'
        + joints.format("0 0 1", "1 2 4", "1 0 0")
        + whole.format("1 2 3.5", 'diaginertia="1 1.2 1.4" quat="1 0 0 0"', "1.5 2 3", "1 0 0 0")
        + arm.format("1 3 3", "0 0 90", "1 3 4", "1 3 3 2 3 3")
        + '<body name="tip" pos="3 3 3"><joint name="t" pos="3 3 3"/>'
        + f'<inertial pos="3 3.5 3" mass="1" {full}/></body></body></body>',
        f'<body name="free" euler="0 0 30"><joint name="f" type="free"/><inertial pos="5 0 1" {unit}/></body>',
    )
    R = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])  # of the base
    S = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])  # of the arm

    def of(matrix, *v):
        return " ".join(repr(float(x)) for x in matrix.T @ np.array(v, float))

    half = np.sqrt(0.5)
    back = f"{half} {-half} 0 0"
    arm_in_base = R.T @ S
    quat = mb.Rotation(arm_in_base).to_quaternion()
    of_bodies = angles.format("") + world(
        '<body name="base" pos="1 2 3" euler="90 0 0">'
        + joints.format(of(R, 0, 0, 1), of(R, 0, 0, 1), of(R, 1, 0, 0))
        + whole.format(of(R, 0, 0, 0.5), f'diaginertia="1 1.2 1.4" quat="{back}"', of(R, 0.5, 0, 0), back)
        + arm.format(of(R, 0, 1, 0), "", of(S, 0, 0, 1), of(S, 0, 0, 0) + " " + of(S, 1, 0, 0)).replace(
            'euler=""', f'quat="{" ".join(map(repr, quat.tolist()))}"'
        )
        + f'<body name="tip" pos="{of(S, 2, 0, 0)}" quat="{half} 0 0 {-half}"><joint name="t"/>'
        + f'<inertial pos="0 .5 0" mass="1" {full}/></body></body></body>',
        f'<body name="free" pos="5 0 1"><joint name="f" type="free"/><inertial pos="0 0 0" {unit}/></body>',
    )
    source, *ours = mass_and_forces(file(tmp_path, of_world, "world.xml"))
    _, *theirs = mass_and_forces(file(tmp_path, of_bodies, "bodies.xml"))
    assert ours[-1] == theirs[-1] and any("'global'" in line for line in source.report) and not source.report.departures
    for one, other in zip(ours[:-1], theirs[:-1], strict=True):
        assert_allclose(one, other, atol=1e-12)
    wrong = [("3 3.5 3", "1/2 0 0", "pos='1/2 0 0'"), ("90 0 0", "90 x 0", "'euler'"), (".1 .2 .3", ".1 .2", "fullinertia")]
    for said, instead, words in wrong:
        with pytest.raises(mb.ModelError, match=rf"wrong\.xml:2: .*{words}"):
            compile_file(file(tmp_path, of_world.replace(said, instead), "wrong.xml"), False)
    # without a place a body is where its inertia is, and where that is not said, at its parent
    inertial = '<inertial pos="{}" mass="1" diaginertia="1 1 1"/>'
    for known, at in (("1 2 3", (1, 2, 3)), ("", (4, 5, 6))):
        inside = inertial.format(known) if known else BOX
        parent = f'<body pos="4 5 6"><joint/>{inertial.format("4 5 7")}<body name="b"><joint/>{inside}</body></body>'
        source = compile_file(file(tmp_path, '<compiler coordinate="global"/>' + world(parent)), False)
        assert_allclose(source.m.body_pos[1] + source.m.body_pos[2], at)
        assert any("bodies without a place: 1" in line for line in source.report.departures) == (not known)
    # a matrix of inertia, along the world's axes, is turned to its body's
    full = '<inertial pos="1 0 0" mass="1" fullinertia="2 3 4 .1 .2 .3"/>'
    tilted = f'<body pos="1 0 0" quat="{half} {half} 0 0"><body pos="1 0 0" quat="0.6 0 0 0.8"><joint/>{full}</body></body>'
    m = compile_file(file(tmp_path, '<compiler coordinate="global"/>' + world(tilted)), False).m
    R = rotation_of([0.6, 0, 0, 0.8]) @ rotation_of(m.body_iquat[2])
    assert_allclose(R @ np.diag(m.body_inertia[2]) @ R.T, [[2, 0.1, 0.2], [0.1, 3, 0.3], [0.2, 0.3, 4]], atol=1e-12)


OLDER = {
    "option collision": ('<option collision="predefined" apirate="50"/>', "", "brought to today's format"),
    "option dynamic": (
        '<option collision="dynamic"/><contact><pair geom1="g" geom2="h"/></contact>',
        "",
        "attribute 'collision'",
    ),
    "flag passive": ('<option><flag passive="disable" sensornoise="enable"/></option>', "", "attribute 'sensornoise'"),
    "compiler": ('<compiler convexhull="false" exactmeshinertia="true"/>', "", "attribute 'convexhull'"),
    "composite": ("", '<composite type="cable" count="5 1 1"><geom size=".1"/></composite>', "composites"),
    "distance": ('<equality><distance geom1="g" geom2="h"/></equality>', "", "distances"),
    "plugin": ('<extension><plugin plugin="no.such"><instance name="i"/></plugin></extension>', "", "plugins 'no.such'"),
    "commas": (
        '<site name="s" pos="0, 0.1 ,-1e-1" size=".1"/>'.join(("<worldbody>", "</worldbody>")),
        "",
        "commas between numbers",
    ),
    "name of defaults": ('<default class="mine"><joint damping="7"/></default>', body('<joint class="mine"/>'), ""),
    "flex": (
        '<option integrator="implicitfast"/>',
        '<flexcomp name="f" type="grid" count="3 3 1" spacing=".1 .1 .1" dim="2" radius=".01" mass="1">'
        '<contact internal="false"/><elasticity young="1e3" poisson="0" thickness="1e-2" elastic2d="both"/></flexcomp>',
        "attribute 'internal'",
    ),
}


@pytest.mark.parametrize("name", OLDER)
@pytest.mark.filterwarnings("ignore::mobod.ModelWarning")
def test_what_mujoco_has_dropped_from_its_format_stops_no_load(tmp_path, name):
    """Such files are public by the thousand, Gym's swimmer among them."""
    head, inside, sentence = OLDER[name]
    geoms = '<geom name="g" size=".1"/><geom name="h" size=".1" pos="1 0 0"/>'
    path = file(tmp_path, head + world(geoms, body('<joint name="j" damping="2"/>'), inside))
    model = mb.load_mjcf(path)
    assert sentence in "\n".join(model.report) and "j" in model.coordinates
    if name == "option dynamic":
        assert compile_file(path, False).m.npair == 0
    if name == "option collision":
        assert not any("of contact" in line for line in model.report)
    if name == "flag passive":
        assert not model.dampers
    if name == "name of defaults":
        assert [one.get_default_damping() for one in model.dampers.values()] == [2.0, 7.0]
    if name == "commas":
        assert_allclose(model.frames["s"][1].p, (0, 0.1, -0.1))
    lost = name in ("composite", "distance", "plugin", "commas")
    assert any(sentence in line for line in model.report.departures) == lost or not sentence


XML_OF_MUJOCO = {
    "hyphens in a comment": ("<!-- a -- b -->", ""),
    "a comment that is none": (r"<!-\- a -\->", ""),
    "an ampersand": ("", "&"),
    "a bracket": ("", "<"),
}


@pytest.mark.parametrize("name", XML_OF_MUJOCO)
def test_what_mujoco_reads_and_xml_does_not_allow_is_read_in_files_with_includes_and_replicas(tmp_path, name):
    comment, in_name = XML_OF_MUJOCO[name]
    file(tmp_path, world(body("<joint/>", BOX, name=f"b{in_name}")), "part.xml", "")
    many = "<replicate count='{}' offset='1 0 0'><body><joint/><geom size='.1'/></body></replicate>"
    inside = f"{comment}<include file='part.xml'/><worldbody><geom name='g{in_name}' size='.1'/>{many.format(3)}</worldbody>"
    assert len(mb.load_mjcf(file(tmp_path, inside)).bodies) == 4
    if name in ("hyphens in a comment", "an ampersand"):
        assert len(mb.load(tmp_path / "model.xml").bodies) == 4
    nested = many.format(2000).replace("<body>", "<replicate count='2000'><body>").replace("</body>", "</body></replicate>")
    with pytest.raises(mb.ModelError, match=r"model\.xml:2: with <replicate> .* more than"):
        mb.load_mjcf(file(tmp_path, inside.replace(many.format(3), nested)))


def test_a_keyframe_of_another_model_is_left_out(tmp_path):
    keys = '<keyframe><key name="right" qpos="0.5"/><key name="wrong" qpos="1 2 3"/><key name="other" ctrl="1"/></keyframe>'
    path = file(tmp_path, world(body('<joint name="j"/>')) + keys)
    model = mb.load_mjcf(path)
    assert list(model.keyframes) == ["right"] and model.keyframes["right"]().q[0] == 0.5
    assert sum("the keyframe is left out" in line for line in model.report.departures) == 2
    with pytest.raises(mb.ModelError, match="keyframe 'wrong'"):
        mb.load_mjcf(path, strict=True)


def test_no_file_an_empty_one_and_one_of_another_kind(tmp_path):
    with pytest.raises(FileNotFoundError):
        mb.load_mjcf(tmp_path / "none.xml")
    (tmp_path / "empty.xml").write_text("")
    with pytest.raises(mb.ModelError, match=r"empty\.xml.*empty"):
        mb.load_mjcf(tmp_path / "empty.xml")
    (tmp_path / "other.xml").write_text("<sdf/>")
    with pytest.raises(mb.ModelError, match=r"other\.xml"):
        mb.load_mjcf(tmp_path / "other.xml")


def test_without_the_package_an_error_says_what_to_install(tmp_path, monkeypatch):
    path = file(tmp_path, world(body("<joint/>")))
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(ImportError, match=r"pip install 'mobod\[mjcf\]'"):
        mb.load_mjcf(path)


def test_load_and_the_command_take_it(tmp_path, capsys):
    from mobod.cli.main import main

    path = file(tmp_path, world(body('<joint name="j"/>')))
    assert list(mb.load(path).coordinates) == ["j"]
    assert main(["simulate", str(path), "--time", "0.1"]) == 0
    assert "1 coordinates" in capsys.readouterr().out


def test_a_loaded_system_runs_as_an_ensemble_and_is_pickled(tmp_path):
    import pickle

    inside = ACTUATED.replace('name="path"', 'name="path" stiffness="3" damping=".2"')
    inside += '<actuator><position name="a" joint="hinge" kp="3"/><motor joint="ball" gear="1 2 3"/></actuator>'
    inside = inside.replace("<body pos", '<body name="upper" pos', 1) + SENSORS + '<keyframe><key name="home"/></keyframe>'
    model = mb.load_mjcf(file(tmp_path, inside), joint_limits=False)
    rng = np.random.default_rng(2)
    state = model.default_state()
    state.u = rng.normal(size=len(state.u))
    model.system.realize(state)
    ensemble = mb.Ensemble(model.system, 3)
    ensemble.q, ensemble.u = np.tile(state.q, (3, 1)), np.tile(state.u, (3, 1))
    ensemble.realize(mb.Stage.ACCELERATION)
    assert_allclose(ensemble.u_dot, np.tile(state.u_dot, (3, 1)), rtol=1e-9, atol=1e-9)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.coordinates == model.coordinates and list(copy.actuators) == list(model.actuators)
    key, theirs = copy.keyframes["home"](), model.keyframes["home"]()
    assert_allclose(key.q, theirs.q)
    for one, now in ((copy, key), (model, theirs)):
        one.system.realize(now)
    for name, sensor in model.data["sensors"].items():
        assert_allclose(copy.data["sensors"][name].get_value(key), sensor.get_value(theirs), rtol=1e-12, atol=1e-12)
    system = copy.system
    again = system.realize_topology()
    again.u = state.u
    system.realize(again)
    assert_allclose(again.u_dot, state.u_dot, rtol=1e-12)


def test_files_that_end_in_mjcf(tmp_path):
    path = tmp_path / "arm.mjcf"
    path.write_text('<mujoco><worldbody><body name="b"><joint name="j"/><geom size="0.1"/></body></worldbody></mujoco>')
    assert list(mb.load(path).coordinates) == ["j"]
    path.write_text("<mujoco><worldbody></mujoco>")
    with pytest.raises(mb.ModelError, match=r"arm\.mjcf:1: "):
        mb.load(path)


def test_losses_of_tendons_and_sensors_are_said_and_strict_refuses_what_is_no_actuator(tmp_path):
    parts = (
        '<tendon><fixed name="t" limited="true" range="0 5"><joint joint="j" coef="1"/></fixed></tendon>'
        '<sensor><jointpos joint="j" cutoff="0.01" noise="0.1"/></sensor>'
        '<actuator><general name="m" joint="j" gaintype="user"/></actuator>'
    )
    path = tmp_path / "arm.xml"
    path.write_text(f'<mujoco><worldbody><body name="b"><joint name="j"/><geom size="0.1"/></body></worldbody>{parts}</mujoco>')
    report = "\n".join(mb.load_mjcf(path).report)
    for words in ("limits of 1 tendon: compliant", "cutoff of 1 sensor", "noise of 1 sensor", "'m' is not simulated"):
        assert words in report
    with pytest.raises(mb.ModelError, match="'m' is not simulated"):
        mb.load_mjcf(path, strict=True)


LEFT_OUT = {
    "options": ('<option jacobian="dense" ls_iterations="7"/>', "jacobian dense, ls_iterations 7"),
    "looks": (
        '<asset><texture name="t" type="2d" builtin="flat" width="8" height="8"/></asset>',
        "1 camera, 1 light, 1 texture: left out",
    ),
    "sites": ("", "1 site: frames, not drawn"),
    "turning surface": ("", "rotation of the surface of 1 geom 'g': left out"),
    "adhesion": ("", "adhesion of 1 geom 'g': left out"),
    "priority": ("", "priority of 1 geom 'g': left out"),
    "pair": ('<contact><pair geom1="g" geom2="floor" friction="3 3 1 1 1"/></contact>', "numbers of 1 pair of geoms: left out"),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_only_mujoco_has_is_reported(tmp_path, name):
    more, sentence = LEFT_OUT[name]
    looks = '<camera name="c"/><light name="l"/><site name="s"/><geom name="floor" type="plane" size="1 1 1"/>'
    geom = '<geom name="g" size=".1" surfacevel="1 0 0 0 0 2" adhesion="3" priority="1"/>'
    path = file(tmp_path, more + world(looks, body("<freejoint/>", geom)))
    report = mb.load_mjcf(path, collision=True).report
    assert any(sentence in line for line in report), report


def test_surfaces_resist_rolling_and_move_as_the_file_has_it(tmp_path):
    plane = '<geom name="belt" type="plane" size="1 1 1" euler="0 0 90" surfacevel="0.5 0 0"/>'
    balls = [
        f'<body name="{n}" pos="{k} 0 .1"><freejoint/>'
        f'<geom name="{n}" size=".1" condim="{n[-1]}" friction=".6 .003 .002"/></body>'
        for k, n in enumerate(("of3", "of4", "of6"))
    ]
    model = mb.load_mjcf(file(tmp_path, world(plane, *balls)), collision=True)
    found = {one.name: one.surface for one in model.contacts.surfaces}
    materials = [found[n].material for n in ("of3", "of4", "of6")]
    assert [one.spinning_friction for one in materials] == [0.0, 0.003, 0.003]
    assert [one.rolling_friction for one in materials] == [0.0, 0.0, 0.002]
    method = mb.integrator.TimeStepping(model.system, fixed_step_size=0.002)
    run = mb.simulate(model.system, model.system.realize_topology(), 1.0, integrator=method)
    speeds = run.u[-1].reshape(3, 6)[:, 3:]
    # 2/7 of the belt's speed, along the geom's x; MuJoCo 4.0 in the same way; and more of it where rolling is resisted
    assert_allclose(speeds[:2], [[0.0, 1.0 / 7.0, 0.0]] * 2, atol=1e-3)
    assert_allclose(speeds[2], [0.0, 1.0 / 7.0 + 5.0 / 7.0 * 0.002 * 9.81 / 0.1, 0.0], atol=5e-3)


def test_what_a_file_holds_for_its_user_is_data(tmp_path):
    more = '<custom><numeric name="n" data="1 2"/><text name="t" data="hello"/><tuple name="of">'
    more += '<element objtype="body" objname="b" prm="3"/></tuple></custom>'
    model = mb.load_mjcf(file(tmp_path, more + world(body("<freejoint/>", name="b", user="4 5"))))
    assert_allclose(model.data["custom"]["n"], [1, 2])
    assert model.data["custom"]["t"] == "hello" and model.data["custom"]["of"] == [("b", 3.0)]
    assert_allclose(model.data["user"]["bodies"]["b"], [4, 5])


#: What moves nothing, nor anything otherwise than in MuJoCo: strict takes it.
NOTHING_LOST = {
    "energy": '<option><flag energy="enable" fwdinv="enable" invdiscrete="enable" diagexact="enable"/></option>'
    + world(body("<joint/>")),
    "pairs of contacts": '<option><flag multiccd="disable"/></option>' + world(body("<joint/>")),
    "a limit that is not asked for": world(body('<joint type="ball" range="0 40"/>')),
    "a tie of what cannot move": world('<site name="a"/><site name="b" pos="1 0 0"/>', body("<joint/>"))
    + '<equality><connect site1="a" site2="b"/></equality>',
    "the whole range of an activation": world(body('<joint name="j"/>'))
    + '<actuator><general joint="j" gaintype="muscle" dyntype="muscle" lengthrange="0 2" actlimited="true" '
    'gainprm=".75 1.05 1 200 .5 1.6 1.5 1.3 1.2" dynprm=".02 .04" actrange="0 1"/></actuator>',
}


@pytest.mark.parametrize("name", NOTHING_LOST)
def test_nothing_is_told_that_is_not_lost(tmp_path, name):
    model = mb.load_mjcf(file(tmp_path, NOTHING_LOST[name]), strict=True, joint_limits=False, collision=False)
    assert not model.report.departures


def test_a_range_of_a_muscles_activation_is_told(tmp_path):
    inside = NOTHING_LOST["the whole range of an activation"].replace('actrange="0 1"', 'actrange=".1 .3" name="m"')
    path = file(tmp_path, inside)
    with pytest.warns(mb.ModelWarning, match="muscles whose activation has a range: 1"):
        report = mb.load_mjcf(path, collision=False).report
    assert "actuator 'm': the range of its activation, 0.1 to 0.3, is left out" in report
