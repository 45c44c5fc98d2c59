"""Meshes of URDF files: found by the usual rules, drawn in the file's colours or their own, reported where missing."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb

STL = (
    "solid s\n"
    + "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 2 0\nendloop\nendfacet\n"
    + "endsolid s\n"
)
OBJ = "v 0 0 0\nv 1 0 0\nv 0 2 0\nf 1 2 3\n"

# two squares and a triangle of three kinds of primitives, in centimetres, the second node turned by 90 degrees about x
DAE = """<?xml version="1.0" encoding="utf-8"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><unit meter="0.01"/><up_axis>Y_UP</up_axis></asset>
  <library_effects><effect id="red-effect"><profile_COMMON><technique sid="common"><phong>
    <diffuse><color>1 0 0 0.5</color></diffuse></phong></technique></profile_COMMON></effect></library_effects>
  <library_materials><material id="red"><instance_effect url="#red-effect"/></material></library_materials>
  <library_geometries><geometry id="g"><mesh>
    <source id="p"><float_array id="pa" count="12">0 0 0  100 0 0  100 200 0  0 200 0</float_array>
      <technique_common><accessor source="#pa" count="4" stride="3"/></technique_common></source>
    <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
    <polylist count="1" material="m"><input semantic="VERTEX" source="#v" offset="0"/>
      <input semantic="TEXCOORD" source="#p" offset="1"/><vcount>4</vcount><p>0 0 1 0 2 0 3 0</p></polylist>
    <triangles count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles>
  </mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene id="s">
    <node><instance_geometry url="#g"><bind_material><technique_common><instance_material symbol="m" target="#red"/>
      </technique_common></bind_material></instance_geometry></node>
    <node><translate>0 0 300</translate><rotate>1 0 0 90</rotate><instance_geometry url="#g"/></node>
  </visual_scene></library_visual_scenes>
  <scene><instance_visual_scene url="#s"/></scene>
</COLLADA>
"""


def robot(*meshes: str, material: str = "") -> str:
    shapes = "".join(f'\n<visual><geometry><mesh filename="{m}" scale="1 1 2"/></geometry>{material}</visual>' for m in meshes)
    touches = '<collision><geometry><mesh filename="x.stl"/></geometry></collision>'
    return f'<robot name="r"><link name="base">{shapes}\n{touches}</link></robot>'


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    for name in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        monkeypatch.delenv(name, raising=False)
    package = tmp_path / "ws" / "arm_description"
    (package / "urdf").mkdir(parents=True)
    (package / "meshes").mkdir()
    (package / "meshes" / "a.stl").write_text(STL)
    (package / "meshes" / "b.obj").write_text(OBJ)
    (package / "meshes" / "c.dae").write_text(DAE)
    return package


def names_of(model) -> list[str]:
    return [geometry.path.name for geometry, _ in model.bodies["base"].body.decorations]


def load(package, text, **options):
    path = package / "urdf" / "arm.urdf"
    path.write_text(text)
    return mb.load_urdf(path, **options)


def test_they_are_found_from_the_file_and_in_the_package_above_it(workspace):
    text = robot("../meshes/a.stl", "package://arm_description/meshes/b.obj", f"file://{workspace}/meshes/c.dae")
    model = load(workspace, text)
    assert names_of(model) == ["a.stl", "b.obj", "c.dae"] and model.report == []
    geometry, _ = model.bodies["base"].body.decorations[0]
    assert_allclose(np.ptp(geometry.calc_mesh()[0], axis=0), [1, 2, 0])
    assert [collision.geometry.filename for collision in model.links["base"].collisions] == ["x.stl"]
    (workspace / "package.xml").write_text("<package><name> other_name </name></package>")
    assert names_of(load(workspace, robot("package://other_name/meshes/a.stl"))) == ["a.stl"]


@pytest.mark.parametrize("how", ["dirs", "parent", "ros", "ament"])
def test_packages_elsewhere_are_found_where_one_says_they_are(workspace, tmp_path, monkeypatch, how):
    elsewhere = tmp_path / "elsewhere" / "share"
    elsewhere.mkdir(parents=True)
    workspace.rename(elsewhere / "arm_description")
    options = {}
    if how == "dirs":
        options["package_dirs"] = elsewhere / "arm_description"
    elif how == "parent":
        options["package_dirs"] = [str(elsewhere)]
    elif how == "ros":
        monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere:{elsewhere}")
    else:
        monkeypatch.setenv("AMENT_PREFIX_PATH", str(elsewhere.parent))
    path = tmp_path / "arm.urdf"
    path.write_text(robot("package://arm_description/meshes/a.stl"))
    assert names_of(mb.load_urdf(path, **options)) == ["a.stl"]


def test_what_is_not_there_is_reported_or_refused(workspace):
    text = robot("a.stl", "package://none/b.stl", "a.stl", "\u00e9\u0001".replace("\u0001", "?") + "%00")
    model = load(workspace, text)
    assert names_of(model) == []
    assert model.report[:2] == [
        "line 2: there is no mesh file 'a.stl'; it is not drawn (2 times)",
        "line 3: there is no mesh file 'package://none/b.stl'; it is not drawn",
    ]
    with pytest.raises(mb.ModelError, match=r"arm.urdf:2: there is no mesh file 'a.stl'; package_dirs says"):
        load(workspace, text, strict=True)


@pytest.mark.parametrize(("given", "error"), [("/no/such/folder", ValueError), ([3], TypeError)])
def test_folders_of_packages_have_to_be_folders(workspace, given, error):
    with pytest.raises(error, match="package_dirs"):
        load(workspace, robot(), package_dirs=given)


def test_the_files_colour_comes_first_and_then_the_meshs_own(workspace):
    mesh = "../meshes/c.dae"
    model = load(workspace, robot(mesh, material='<material name="b"><color rgba="0 0 1 1"/></material>'))
    assert model.bodies["base"].body.decorations[0][0].color == (0.0, 0.0, 1.0)
    geometry = load(workspace, robot(mesh)).bodies["base"].body.decorations[0][0]
    assert geometry.color is None
    vertices, triangles = geometry.calc_mesh()
    assert len(triangles) == 6 and triangles.max() == len(vertices) - 1
    assert_allclose(vertices.min(axis=0), [0, 0, 0], atol=1e-15)  # in metres, and scaled by 2 along z
    assert_allclose(vertices.max(axis=0), [1, 2, 10], atol=1e-15)
    colors = geometry.calc_colors()
    assert_allclose(colors[:2], [[1, 0, 0, 0.5]] * 2)
    assert np.isnan(colors[2:]).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a COLLADA file"),
        ("<COLLADA/>", "no faces"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><COLLADA/>", "document type declaration"),
        (DAE.replace("0 1 2</p>", "0 1 9</p>"), "a vertex that is not there"),
        (DAE.replace("0 1 2</p>", "0 1 x</p>"), "cannot|can be read"),
        (DAE.replace('url="#g"', 'url="#h"'), "can be read"),
        (DAE.replace("<scene>", "<scene ").replace("</COLLADA>", ""), "not a COLLADA file"),
        (DAE.replace("<node><translate>", '<node id="n"><instance_node url="#n"/><translate>'), "without end"),
        (DAE.replace("0 200 0</float", "0 inf 0</float"), "not finite"),
    ],
)
def test_broken_collada_files_are_named(tmp_path, text, message):
    path = tmp_path / "a.dae"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        mb.decoration.MeshFile(path).calc_mesh()


TRANSMISSION = """<robot name="r"><link name="base"/>
<link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint>
<transmission name="t"><type>SimpleTransmission</type><joint name="j"/>
  <actuator name="motor">{inside}</actuator></transmission>
</robot>"""


@pytest.mark.parametrize(
    ("inside", "reduction", "rotor"),
    [
        ("<mechanicalReduction>50</mechanicalReduction><hardwareInterface>EffortJointInterface</hardwareInterface>", 50, 0),
        ('<drake:rotor_inertia value="2e-3"/><drake:gear_ratio value="-30"/>', -30, 2e-3),
        ("<rotorInertia>1e-3</rotorInertia><mechanicalReduction> 10 </mechanicalReduction>", 10, 1e-3),
        ("", 1, 0),
        ("<mechanicalReduction>ten</mechanicalReduction>", 1, 0),
    ],
)
def test_transmissions_are_data_and_rotors_are_in_the_mass_matrix(tmp_path, inside, reduction, rotor):
    path = tmp_path / "r.urdf"
    path.write_text(TRANSMISSION.format(inside=inside))
    model = mb.load_urdf(path)
    transmission = model.data["transmissions"]["t"]
    actuator = transmission.actuators[0]
    assert (transmission.type, transmission.joints, transmission.line) == ("SimpleTransmission", ("j",), 4)
    assert (actuator.name, actuator.reduction, actuator.rotor_inertia) == ("motor", reduction, rotor)
    state = model.default_state()
    model.system.realize(state)
    assert_allclose(model.matter.calc_m(state), [[1.0 + rotor * reduction**2]], rtol=1e-14)
    assert any("<mechanicalReduction> is 'ten', which is not a number" in note for note in model.report) == ("ten" in inside)


def test_blank_lines_and_marks_before_the_declaration_are_put_up_with(tmp_path):
    path = tmp_path / "r.urdf"
    text = b'<?xml version="1.0"?>\n<robot name="r"><link name="a"/>\n<link name="a"/></robot>'
    licence = b"<!-- a licence -->\n <!-- and -- > another -->"
    for before, line in ((b"\n \n", 3), (b"\xef\xbb\xbf\xef\xbb\xbf", 1), (b" ", 1), (licence, 2)):
        path.write_bytes(before + text.replace(b'<link name="a"/>\n', b"", 1))
        with pytest.warns(UserWarning, match=f"line {line}: something stands before the XML declaration"):
            assert mb.load_urdf(path).name == "r"
        with pytest.raises(mb.ModelError, match="stands before the XML declaration"):
            mb.load_urdf(path, strict=True)
        path.write_bytes(before + text)  # lines keep their numbers
        with pytest.raises(mb.ModelError, match=f":{line + 2}: two links are named 'a' .the first is on line {line + 1}"):
            mb.load_urdf(path)
    path.write_bytes(b"\xef\xbb\xbf" + text.replace(b'<link name="a"/>\n', b"", 1))  # one mark is as it should be
    assert mb.load_urdf(path).report == []


def test_odd_scales_and_inertials_are_put_up_with(tmp_path):
    path = tmp_path / "r.urdf"
    mesh = '<visual><geometry><mesh filename="a.stl" scale="{}"/></geometry></visual>'
    for scale, kept in (("1 2 3 4", (1, 2, 3)), ("0.1", (0.1, 0.1, 0.1))):
        path.write_text(f'<robot name="r"><link name="a">{mesh.format(scale)}</link></robot>')
        with pytest.warns(UserWarning, match="should be three numbers"):
            assert mb.load_urdf(path).links["a"].visuals[0].geometry.scale == kept
        with pytest.raises(mb.ModelError, match=r"r\.urdf:1: .*should be three numbers"):
            mb.load_urdf(path, strict=True)
    inertia = '<inertial><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    path.write_text(f'<robot name="r"><link name="a">{inertia}</link></robot>')
    with pytest.warns(UserWarning, match="line 1: link 'a': inertial has no <mass>; its mass is zero"):
        assert mb.load_urdf(path).links["a"].inertial.ixx == 1.0
    with pytest.raises(mb.ModelError, match="has no <mass>"):
        mb.load_urdf(path, strict=True)


def test_the_world_needs_no_link(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(TRANSMISSION.format(inside="").replace('<link name="base"/>', "").replace('"base"', '"world"'))
    model = mb.load_urdf(path)
    assert model.root == "world" and list(model.coordinates) == ["j"] and model.angles == {"j"}
