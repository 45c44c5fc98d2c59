"""Contact shapes, beside OpenSim: cables over them, its Scholz2015GeometryPath, and those that touch nothing there."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb

POINT = """<Scholz2015GeometryPathPoint name='{0}'><PathPoint name='p'><socket_parent_frame>{1}</socket_parent_frame>
<location>{2}</location></PathPoint></Scholz2015GeometryPathPoint>"""
OVER = """<Scholz2015GeometryPathObstacle name='{0}'><socket_contact_geometry>/contactgeometryset/{0}</socket_contact_geometry>
<contact_hint>{1}</contact_hint></Scholz2015GeometryPathObstacle>"""
SPRING = """<PathSpring name='{0}'><resting_length>0.3</resting_length><stiffness>100</stiffness><dissipation>0.1</dissipation>
<Scholz2015GeometryPath name='path'><path_elements>{1}</path_elements></Scholz2015GeometryPath></PathSpring>"""
MODEL = """<OpenSimDocument Version='40600'><Model name='cables'><BodySet><objects><Body name='b'><mass>1</mass>
<mass_center>0 -0.2 0</mass_center><inertia>0.1 0.1 0.1 0 0 0</inertia></Body></objects></BodySet><JointSet><objects>
<GimbalJoint name='j'><socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/b</socket_child_frame>
<coordinates><Coordinate name='x'/><Coordinate name='y'/><Coordinate name='z'/></coordinates></GimbalJoint></objects></JointSet>
<ContactGeometrySet><objects>
<ContactEllipsoid name='egg'><socket_frame>/ground</socket_frame><orientation>0.3 0 0.2</orientation>
<radii>0.05 0.06 0.08</radii></ContactEllipsoid>
<ContactTorus name='ring'><socket_frame>/ground</socket_frame><orientation>0.1 0 0</orientation>
<torus_radius>0.1</torus_radius><tube_radius>0.02</tube_radius></ContactTorus></objects>
</ContactGeometrySet><ForceSet><objects>{}</objects></ForceSet></Model></OpenSimDocument>"""


def test_cables_over_contact_shapes_are_opensims(tmp_path):
    """At given poses: at 26 of 2,000 random ones OpenSim's path over the torus ends early, where the cable nearly slips off."""
    rng = np.random.default_rng(28)
    opensim = pytest.importorskip("opensim")
    opensim.Logger.setLevelString("off")
    begin, via = POINT.format("a", "/ground", "-0.1 0.25 0.01"), POINT.format("b", "/ground", "-0.03 -0.15 0.02")
    end, away = (POINT.format("c", "/bodyset/b", place) for place in ("0 -0.3 0.03", "-0.11 -0.3 0"))
    one = SPRING.format("one", begin + OVER.format("egg", "-0.1 0 0") + via + end)
    other = SPRING.format("other", begin + OVER.format("ring", "-0.12 0 0") + away)
    path = tmp_path / "cables.osim"
    path.write_text(MODEL.format(one + other))
    theirs, ours = opensim.Model(str(path)), mb.load_osim(path)
    assert not list(ours.report)
    now, state = theirs.initSystem(), ours.default_state()
    bent = 0
    for _ in range(3):
        state.q, state.u = rng.uniform(-0.04, 0.04, 3), rng.uniform(-1.0, 1.0, 3)
        for name, place in ours.coordinates.items():
            coordinate = theirs.getCoordinateSet().get(name)
            coordinate.setValue(now, float(state.q[place]))
            coordinate.setSpeedValue(now, float(state.u[place]))
        theirs.realizeAcceleration(now)
        ours.system.realize(state)
        for name in ("one", "other"):
            spring, cable = (
                opensim.PathSpring.safeDownCast(theirs.getForceSet().get(name)),
                ours.data["forces"][name].get_path(),
            )
            bent += cable.is_in_contact_with_obstacle(state, 0)
            assert_allclose(cable.calc_length(state), spring.getLength(now), rtol=0.0, atol=1e-9)
            near = 2e-7 if name == "one" else 2e-5  # OpenSim's torus ends at 1e-7, which speeds show more
            assert_allclose(cable.calc_speed(state), spring.getLengtheningSpeed(now), rtol=0.0, atol=near)
        found = [theirs.getCoordinateSet().get(name).getAccelerationValue(now) for name in ours.coordinates]
        assert_allclose(state.u_dot, found, rtol=0.0, atol=1e-5 * np.abs(found).max())  # OpenSim's torus ends at 1e-7
    assert bent >= 3
    path.write_text(MODEL.format(SPRING.format("one", OVER.format("egg", "-0.1 0 0") + end)))
    with pytest.raises(mb.ModelError, match="begins and ends with a point"):
        mb.load_osim(path)


MATERIAL = """<{0} name='touch'><{0}::ContactParametersSet name='contact_parameters'><objects><{0}::ContactParameters>
<geometry>egg ring</geometry><stiffness>1e5</stiffness></{0}::ContactParameters></objects></{0}::ContactParametersSet></{0}>"""


MESH = "<ContactMesh name='ring'><socket_frame>/bodyset/b</socket_frame><filename>{}.obj</filename></ContactMesh>"


def _with_shape(shape):
    text = MODEL.format(MATERIAL.format("HuntCrossleyForce"))
    begin, end = text.index("<ContactTorus"), text.index("</ContactTorus>") + len("</ContactTorus>")
    return text[:begin] + shape + text[end:]


@pytest.mark.parametrize("kind", ["ContactCylinder", "ContactMesh"])
def test_shapes_that_touch_nothing_in_opensim_are_left_out(tmp_path, kind):
    """Its HuntCrossleyForce has laws for spheres, ellipsoids and half-spaces, and lets others be listed."""
    path = tmp_path / "listed.osim"
    (tmp_path / "corner.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    cylinder = "<ContactCylinder name='ring'><socket_frame>/bodyset/b</socket_frame><radius>0.1</radius></ContactCylinder>"
    path.write_text(_with_shape({"ContactCylinder": cylinder, "ContactMesh": MESH.format("corner")}[kind]))
    ours = mb.load_osim(path)
    assert any(f"leaves out the {kind} 'ring', as OpenSim does" in line for line in ours.report)
    state = ours.default_state()
    ours.system.realize(state)
    assert not ours.data["forces"]["touch"].calc_force_contribution(state)[0].any()


def test_a_mesh_whose_file_is_missing_is_no_other_shape(tmp_path):
    path = tmp_path / "missing.osim"
    path.write_text(_with_shape(MESH.format("none")))
    ours = mb.load_osim(path)
    assert any("ContactMesh 'ring' touches nothing" in line for line in ours.report)
    state = ours.default_state()  # an ellipsoid there would lie in the other
    ours.system.realize(state)
    assert not ours.data["forces"]["touch"].calc_force_contribution(state)[0].any()
