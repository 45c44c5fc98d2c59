"""What a file says and the model lacks: one warning where it changes the motion, a line each, an error where strict."""

import copy
import pickle
import warnings

import pytest

import mobod as mb
from mobod.importer.named_models import summarize
from mobod.importer.report import Report

MUSCLE = """<Thelen2003Muscle name='m{}'><GeometryPath><PathPointSet><objects></objects></PathPointSet></GeometryPath>
</Thelen2003Muscle>"""
OSIM = """<OpenSimDocument Version="40000"><Model name="leg"><BodySet><objects>
<Body name="a"><mass>1</mass><inertia>1 1 1 0 0 0</inertia></Body></objects></BodySet>
<JointSet><objects><PinJoint name='hip'><socket_parent_frame>/ground</socket_parent_frame>
<socket_child_frame>/bodyset/a</socket_child_frame><coordinates>
<Coordinate name="q">{coordinate}</Coordinate></coordinates></PinJoint></objects></JointSet>
<ForceSet><objects>{forces}</objects></ForceSet></Model></OpenSimDocument>"""
URDF = """<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/>{dynamics}</joint></robot>"""
SDF = """<sdf version="1.7"><model name="m"><link name="a"><inertial><mass>1</mass></inertial>
<collision name="c"><geometry><sphere><radius>0.1</radius></sphere></geometry></collision></link>{more}</model></sdf>"""
MJCF = """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
<body name="a" pos="0 0 1"><freejoint/><geom name="ball" size=".1"/>
<body name="b"><joint name="j" range="-1 1" limited="true"/><geom size=".1"/></body></body></worldbody>{more}</mujoco>"""


@pytest.fixture
def load(tmp_path):
    def of(text, name, **options):
        path = tmp_path / name
        path.write_text(text)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = mb.load(path, **options)
        assert all(one.category is mb.ModelWarning for one in caught), [str(one.message) for one in caught]
        assert all(one.filename == __file__ for one in caught), "at the line that loads"
        return model, [str(one.message) for one in caught]

    return of


def osim(coordinate="", forces=""):
    return OSIM.format(coordinate=coordinate, forces=forces)


def test_muscles_and_forces_of_unknown_kinds_are_one_warning_with_counts(load):
    text = osim(forces=MUSCLE.format(1) + MUSCLE.format(2) + "<Magic name='f'/>")
    model, (said,) = load(text, "leg.osim")
    assert "leg.osim: " in said and "muscles, which do not act: 2" in said and "forces of kinds that are not known: 1" in said
    assert "strict=True refuses" in said and len(model.report) == 3
    with pytest.raises(mb.ModelError, match=r"(?s)strict.*muscle 'm1'.*Magic"):
        load(text, "leg.osim", strict=True)
    assert load(osim(), "leg.osim", strict=True)[1] == [], "and none where nothing is lost"


def test_friction_of_a_urdf_file(load):
    text = URDF.format(dynamics="<dynamics friction='0.3'/>")
    model, (said,) = load(text, "r.urdf")
    assert "joints with friction, which is left out: 1 (joint_friction=True)" in said and not model.frictions
    model, said = load(text, "r.urdf", joint_friction=False)
    assert not said and any("friction of 1 joint" in line and "as was asked" in line for line in model.report)
    model, said = load(text, "r.urdf", joint_friction=True, strict=True)
    assert not said and list(model.frictions) == ["j"]
    with pytest.raises(mb.ModelError, match="friction of 1 joint"):
        load(text, "r.urdf", strict=True)
    with pytest.raises(TypeError, match="joint_friction of load_urdf has to be True or False, not 'no'"):
        load(text, "r.urdf", joint_friction="no")


def test_contacts_that_nobody_has_asked_for(load):
    model, (said,) = load(SDF.format(more=""), "m.sdf")
    assert "collision shapes, which touch nothing: 1 (collision=True makes surfaces of them)" in said
    assert model.contacts is None
    model, said = load(SDF.format(more=""), "m.sdf", collision=False)
    assert not said and any("as was asked" in line for line in model.report)
    model, said = load(SDF.format(more=""), "m.sdf", collision=True)
    assert not said and model.contacts is not None
    _, (said,) = load(
        SDF.format(more="<joint name='g' type='gearbox'><parent>world</parent><child>a</child></joint>"),
        "m.sdf",
        collision=False,
    )
    assert "gearboxes: 1" in said


def test_of_mjcf_every_approximation_is_refused_where_strict(load):
    pytest.importorskip("mujoco")
    model, (said,) = load(MJCF.format(more=""), "m.xml")
    assert "geoms of contact, which touch nothing: 3 (collision=True makes surfaces of them)" in said
    assert not load(MJCF.format(more=""), "m.xml", collision=False)[1]
    other = "<actuator><general name='m' joint='j' gaintype='user'/></actuator>"
    _, (said,) = load(MJCF.format(more=other), "m.xml", collision=False)
    assert "actuators, which do not act: 1" in said
    # what the loader cannot simulate as MuJoCo does is an error; what was asked for is none
    with pytest.raises(mb.ModelError, match="limits of 1 joint: compliant stops"):
        load(MJCF.format(more=""), "m.xml", strict=True, collision=False)
    with pytest.raises(mb.ModelError, match="3 geoms of contact drawn only"):
        load(MJCF.format(more=""), "m.xml", strict=True, joint_limits=False)
    model, said = load(MJCF.format(more=""), "m.xml", strict=True, joint_limits=False, collision=False)
    assert not said and len(model.report) == 2
    with pytest.raises(TypeError, match="collision of load_mjcf has to be True or False, not 'no'"):
        load(MJCF.format(more=""), "m.xml", collision="no")
    line = next(line for line in load(MJCF.format(more=""), "m.xml")[0].report if "collision=True" in line)
    assert summarize([line], "m.xml") == ["3 geoms of contact drawn only: --floor makes surfaces of them"]


def test_what_is_lost_twice_is_said_once(load):
    """Two meshes of one file that is not there, on one body."""
    pytest.importorskip("mujoco")
    meshes = "".join(f'<mesh name="{name}" file="no.stl" scale="{scale} 1 1"/>' for name, scale in (("m", 1), ("n", 2)))
    geoms = "".join(f'<geom type="mesh" mesh="{name}"/>' for name in "mn")
    text = f'<mujoco><asset>{meshes}</asset><worldbody><body name="b"><freejoint/>{geoms}</body></worldbody></mujoco>'
    model, (said,) = load(text, "two.xml")
    assert sum("inertia of body 'b'" in line for line in model.report) == 1 and "in place of meshes: 1" in said


def test_a_report_prints_a_line_each():
    report = Report()
    assert repr(report) == str(report) == "nothing dropped or approximated" and report == []
    report.append("one")
    report.depart("<b>two</b>")
    assert str(report) == "1  one\n2  <b>two</b>" and report == ["one", "<b>two</b>"]
    assert "<b>" not in report._repr_html_() and "&lt;b&gt;" in report._repr_html_()
    for other in (copy.deepcopy(report), pickle.loads(pickle.dumps(report))):
        assert other == report and other.departures == ["<b>two</b>"]


@pytest.mark.parametrize(
    "function",
    [
        "<Constant><value>{}</value></Constant>",
        "<MultiplierFunction><function><Constant><value>0.25</value></Constant></function><scale>2</scale></MultiplierFunction>",
        "<GCVSpline><half_order>2</half_order><x>0 1 2 3 4</x><y>{0} {0} {0} {0} {0}</y><weights>1 2</weights></GCVSpline>",
    ],
)
def test_a_coordinate_that_is_prescribed_to_be_a_number_stays_there(load, function):
    said = f"<prescribed>true</prescribed><prescribed_function>{function.format(0.5)}</prescribed_function>"
    model, warned = load(osim(said), "leg.osim", strict=True)
    state = model.default_state()
    model.system.realize(state, mb.Stage.ACCELERATION)
    assert not warned and state.q == pytest.approx([0.5]) and state.u == pytest.approx([0.0]) and abs(state.u_dot[0]) < 1e-9


def test_a_coordinate_is_prescribed_by_time_alone(load):
    wrong = "<ExpressionBasedFunction><variables>a b</variables><expression>a+b</expression></ExpressionBasedFunction>"
    with pytest.raises(mb.ModelError, match=r"leg\.osim:\d+: a prescribed coordinate is a function of time alone; .* has 2"):
        load(osim(f"<prescribed>true</prescribed><prescribed_function>{wrong}</prescribed_function>"), "leg.osim")
