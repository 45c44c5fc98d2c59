"""What sliders move: the ranges that files say, and names that say what a coordinate is about or along."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod.viewer.coordinates import list_coordinates
from mobod.viewer.parameter_sliders import list_parameters

INERTIA = '<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
URDF = f"""<robot name="r"><link name="a"/><link name="b"><inertial>{INERTIA}</inertial></link>
<link name="c"><inertial>{INERTIA}</inertial></link>
<joint name="turn" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<limit lower="-0.5" upper="1.5708" effort="1" velocity="1"/></joint>
<joint name="free" type="continuous"><parent link="b"/><child link="c"/><axis xyz="0 0 1"/></joint></robot>"""
MASS = "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"
SDF = f"""<sdf version="1.9"><model name="r"><link name="b">{MASS}</link>
<joint name="turn" type="revolute"><parent>world</parent><child>b</child>
<axis><xyz>0 0 1</xyz><limit><lower>-0.5</lower><upper>1.5708</upper></limit></axis></joint></model></sdf>"""
MJCF = """<mujoco><compiler angle="radian"/><worldbody><body><freejoint name="root"/><geom size="1"/><body>
<joint name="turn" range="-0.5 1.5708"/><geom size="1"/></body></body></worldbody></mujoco>"""


@pytest.mark.parametrize("ending, text", [("urdf", URDF), ("sdf", SDF), ("xml", MJCF)])
@pytest.mark.parametrize("limits", [True, False])
def test_ranges_are_the_files_whether_stops_keep_them_or_not(ending, text, limits, tmp_path):
    if ending == "xml":
        pytest.importorskip("mujoco")
    path = tmp_path / f"one.{ending}"
    path.write_text(text)
    model = mb.load(path, joint_limits=limits, **({"collision": False} if ending == "xml" else {}))
    assert list(model.ranges) == ["turn"] and bool(model.stops) == limits
    assert_allclose(model.ranges["turn"], (-0.5, 1.5708))
    sliders = list_coordinates(model.system, model.default_state(), 1.0, model.ranges)
    turn = next(one for one in sliders if one.name == "turn")
    assert turn.label() == "turn (deg)" and turn.shown_range == (-28.7, 90.0)
    if ending == "xml":
        assert [one.label() for one in sliders[:4]] == ["root rx (deg)", "root ry (deg)", "root rz (deg)", "root x"]
        assert [one.name for one in sliders[3:6]] == ["root[4]", "root[5]", "root[6]"]  # as ranges= and files have them


@pytest.mark.parametrize("euler", [False, True])
def test_coordinates_of_one_joint_are_told_apart(euler):
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    one = mb.body.Rigid(mb.MassProperties(1, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
    for kind in ("Free", "Ball", "Planar", "Universal", "Cylinder", "Translation", "Gimbal", "Bushing", "BendStretch"):
        getattr(mb.mobilizer, kind)(matter.ground, one, name=kind)
    state = system.realize_topology()
    matter.set_use_euler_angles(state, euler)
    system.realize_model(state)
    shown = [one.label() for one in list_coordinates(system, state, 1.0)]
    turns, along = ["rx (deg)", "ry (deg)", "rz (deg)"], ["x", "y", "z"]
    expected = {"Free": turns + along, "Ball": turns, "Planar": ["rz (deg)", "x", "y"], "Universal": turns[:2]}
    expected |= {"Cylinder": ["rz (deg)", "z"], "Translation": along, "Gimbal": turns, "Bushing": turns + along}
    expected["BendStretch"] = ["angle (deg)", "length"]
    assert shown == [f"{kind} {part}" for kind, parts in expected.items() for part in parts]


def held_pendulum():
    system, _ = mb.examples.double_pendulum.build()
    spring = mb.force.MobilityLinearSpring(system.forces, system.matter.bodies["lower"], 0, 3.0, 0.0, name="spring")
    return system, system.realize_topology(), spring


def test_parameters_have_sliders_by_name_or_setter():
    system, state, spring = held_pendulum()
    sliders = list_parameters(system, state, ["lower.mass", "lower.com", spring.set_stiffness])
    assert [one.name for one in sliders] == ["lower.mass", "lower.com[0]", "lower.com[1]", "lower.com[2]", "spring.stiffness"]
    stiffness = sliders[-1]
    assert (stiffness.low, stiffness.high, stiffness.step) == (0.15000000000000002, 6.0, 0.01)
    stiffness.write(state, 4.5)
    assert spring.get_stiffness(state) == stiffness.read(state) == 4.5
    sliders[0].write(state, 2.0)
    system.realize(state, mb.Stage.INSTANCE)
    assert system.matter.bodies["lower"].get_body_mass_properties(state).mass == 2.0
    (other,) = list_parameters(system, state, {"spring.stiffness": (0.0, 10.0)})
    assert (other.low, other.high) == (0.0, 10.0)


def test_sliders_of_parameters_have_units():
    """Of a coordinate's numbers those of what it is; a ratio has none, nor what has other words."""
    system, _, spring = held_pendulum()
    lower = system.matter.bodies["lower"]
    slide = mb.mobilizer.Slider(lower, lower.get_body(), name="slide")
    F, forces, ground = mb.force, system.forces, system.matter.ground
    damper = F.MobilityLinearDamper(forces, lower, 0, 3.0, name="damper")
    soft = F.MobilityLinearSpring(forces, slide, 0, 3.0, 0.1, name="soft")
    bushing = F.LinearBushing(forces, ground, mb.Transform(), lower, mb.Transform(), np.ones(6), np.ones(6), name="bushing")
    two = F.TwoPointLinearDamper(forces, ground, (0, 0, 0), lower, (0, 0, 0), 1.0, name="two")
    cubic = F.MobilityPolynomialDamper(forces, slide, 0, 1.0, 1.0, 1.0, name="cubic")
    state = system.realize_topology()
    asked = ["lower.mass", "lower.com", "lower.inertia", spring.set_stiffness, damper.set_damping, soft.set_stiffness]
    asked += [soft.set_rest_value, bushing.set_stiffness, two.set_damping, cubic.set_quadratic_damping]
    sliders = list_parameters(system, state, asked)
    labels = {one.name: one.label(("kg", "m", "s")).removeprefix(one.name).strip() for one in sliders}
    assert labels["lower.mass"] == "(kg)" and labels["lower.com[2]"] == "(m)" and labels["lower.inertia[0]"] == "(kg m²)"
    assert labels["spring.stiffness"] == "(N m/rad)" and labels["damper.damping"] == "(N m s/rad)"
    assert labels["soft.stiffness"] == "(N/m)" and labels["soft.rest_value"] == "(m)" and labels["two.damping"] == "(N s/m)"
    assert labels["cubic.quadratic_damping"] == "(N s²/m²)"
    assert labels["bushing.stiffness[2]"] == "(N m/rad)" and labels["bushing.stiffness[3]"] == "(N/m)"
    products = next(one for one in sliders if one.name == "lower.inertia[3]")
    assert products.high == -products.low == max(one.read(state) for one in sliders if one.name.startswith("lower.inertia"))
    small = {one.name: one.label(("g", "mm", "ms")) for one in sliders}
    assert small["soft.stiffness"] == "soft.stiffness (g/ms²)"
    assert all(one.label(None) == one.name for one in sliders)


@pytest.mark.parametrize(
    "parameters, error, says",
    [
        ("spring.stiffness", TypeError, "has to be a list"),
        (["spring.softness"], ValueError, "no parameter 'softness'"),
        (["feather.stiffness"], ValueError, "no element 'feather'"),
        ([3], TypeError, "or a setter"),
        ({"spring.stiffness": (2.0, 1.0)}, ValueError, "low, high"),
        ({"spring.stiffness": 2.0}, ValueError, "the range of 'spring.stiffness'"),
        (["spring.stiffness", "spring.stiffness"], ValueError, "'spring.stiffness' is there twice"),
        (["lower.inboard_frame"], ValueError, "is a frame, which has no slider"),
    ],
)
def test_wrong_parameters_of_sliders_are_named(parameters, error, says):
    system, state, _ = held_pendulum()
    with pytest.raises(error, match=says):
        list_parameters(system, state, parameters)
