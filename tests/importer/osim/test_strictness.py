"""What a file says that is not simulated: a line of the report with file and line, or an error where the caller is strict."""

import numpy as np
import pytest

import mobod as mb

PINS = """<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="40000">
<Model name="pins">
  <length_units>mm</length_units>
  {more}
  <BodySet><objects>
    <Body name="link"><mass>1</mass><inertia>1 1 1 0 0 0</inertia>{property}</Body>
    <Body name="other"><mass>1</mass><inertia>1 1 1 0 0 0</inertia></Body>
  </objects></BodySet>
  <JointSet><objects>
    <PinJoint name="hip"><socket_parent_frame>/ground</socket_parent_frame>
      <socket_child_frame>/bodyset/link</socket_child_frame></PinJoint>
    <PinJoint name="{second}"><socket_parent_frame>{parent}</socket_parent_frame>
      <socket_child_frame>{child}</socket_child_frame></PinJoint>
  </objects></JointSet>
</Model>
</OpenSimDocument>
"""


def written(folder, **other):
    said = {"more": "", "property": "", "second": "knee", "parent": "/bodyset/link", "child": "/bodyset/other"} | other
    path = folder / "pins.osim"
    path.write_text(PINS.format(**said), encoding="utf-8")
    return path


def test_a_property_that_is_not_known_is_reported_and_refused_where_strict(tmp_path):
    path = written(tmp_path, property="<colour_of_hair>red</colour_of_hair>")
    report = mb.load_osim(path).report
    assert any(f"{path}:7: <colour_of_hair> of Body is not taken up" in line for line in report), report
    with pytest.raises(mb.ModelError, match=r"pins\.osim:7: <colour_of_hair>"):
        mb.load_osim(path, strict=True)


def test_units_and_names_that_come_twice_are_reported(tmp_path):
    model = mb.load_osim(written(tmp_path, second="hip"))
    assert any(":4: <length_units> is 'mm'" in line for line in model.report), model.report
    assert any("a second PinJoint 'hip' is called 'hip_1'" in line for line in model.report), model.report


def test_stations_are_kept(tmp_path):
    station = """<components><Station name="tip"><socket_parent_frame>/bodyset/link</socket_parent_frame>
      <location>0.1 0.2 0.3</location></Station></components>"""
    model = mb.load_osim(written(tmp_path, more=station), strict=True)
    body, place = model.data["stations"]["tip"]
    assert body is model.bodies["link"]
    np.testing.assert_array_equal(place, [0.1, 0.2, 0.3])


def test_gravity_in_place_of_the_files(tmp_path):
    path = written(tmp_path)
    np.testing.assert_array_equal(mb.load_osim(path, gravity=(0, 0, -2)).gravity.get_default_gravity_vector(), [0, 0, -2])
    with pytest.raises((ValueError, TypeError, mb.ModelError)):
        mb.load_osim(path, gravity=(0, 0))


def test_lines_of_an_included_file_name_that_file(tmp_path):
    (tmp_path / "forces.xml").write_text(
        '<OpenSimDocument Version="40000">\n<ForceSet name="forceset"><objects>\n\n\n'
        '<UnknownForce name="f"><a>1</a></UnknownForce>\n</objects></ForceSet>\n</OpenSimDocument>'
    )
    report = mb.load_osim(written(tmp_path, more='<ForceSet file="forces.xml"/>')).report
    assert any(line.startswith(f"{tmp_path / 'forces.xml'}:5: ") for line in report), report


def test_ampersands_and_comments_in_comments(tmp_path):
    model = mb.load_osim(written(tmp_path, more="<credits>Lenhart & Thelen</credits><!--\n<!-- old -- older -->"))
    assert model.data["credits"] == "Lenhart & Thelen"


def test_a_loop_that_ends_at_ground_moves_a_copy(tmp_path):
    model = mb.load_osim(written(tmp_path, second="back", parent="/bodyset/link", child="/ground"))
    state = model.default_state()
    model.system.realize(state, mb.Stage.ACCELERATION)
    assert "link_slave_1" in model.bodies
    state.q = 0.3 * np.ones(len(state.q))
    mb.Assembler(model.system).assemble(state)
    model.system.realize(state, mb.Stage.POSITION)
    places = [model.bodies[name].find_station_location_in_ground(state, (1, 0, 0)) for name in ("link", "link_slave_1")]
    np.testing.assert_allclose(places[0], places[1], atol=1e-6)


@pytest.mark.parametrize("do", [mb.inverse_kinematics, mb.inverse_dynamics, mb.scale])
def test_a_model_may_be_a_path_and_nothing_else(tmp_path, do):
    with pytest.raises(TypeError, match=r"a model is a mobod\.Model"):
        do(3, tmp_path / "none.trc")
    with pytest.raises(FileNotFoundError):
        do(tmp_path / "none.osim", tmp_path / "none.trc")
    with pytest.raises(FileNotFoundError, match=r"none\.trc"):
        do(written(tmp_path), tmp_path / "none.trc")


def test_write_osim_takes_a_path_too(tmp_path):
    path = written(tmp_path)
    mb.write_osim(tmp_path / "again.osim", path)
    assert list(mb.load_osim(tmp_path / "again.osim").coordinates) == list(mb.load_osim(path).coordinates)
    with pytest.raises(TypeError, match=r"a model is a mobod\.Model"):
        mb.write_osim(tmp_path / "again.osim", 3)
    with pytest.raises(TypeError, match="path is the name of a file, not <Model"):
        mb.write_osim(mb.load_osim(path, muscles="data"), tmp_path / "new.osim")


def test_a_muscle_whose_path_cannot_be_read_is_reported(tmp_path):
    point = '<PathPoint name="p1"><location>0 0 0</location><body>link</body></PathPoint>'
    path = f"<GeometryPath><PathPointSet><objects>{point}</objects></PathPointSet></GeometryPath>"
    muscle = f'<ForceSet><objects><Thelen2003Muscle name="glutes">{path}</Thelen2003Muscle></objects></ForceSet>'
    model = mb.load_osim(written(tmp_path, more=muscle))
    assert any("muscle 'glutes'" in line and "'p1' does not say its parent_frame" in line for line in model.report)
    assert not model.muscles


def test_a_coordinate_on_no_axis_is_reported_and_one_that_is_misspelled_refused(tmp_path):
    path = written(tmp_path)
    text = path.read_text(encoding="utf-8")
    axis = '<TransformAxis name="rotation3"><coordinates>bend</coordinates><axis>0 0 1</axis><function>'
    axis += "<LinearFunction><coefficients>1 0</coefficients></LinearFunction></function></TransformAxis>"
    more = '<coordinates><Coordinate name="bend"/><Coordinate name="idle"/></coordinates>'
    more += f"<SpatialTransform>{axis}</SpatialTransform></CustomJoint>"
    custom = text.replace('<PinJoint name="knee">', '<CustomJoint name="knee">')
    first, _, rest = custom.rpartition("</PinJoint>")
    path.write_text(first + more + rest, encoding="utf-8")
    model = mb.load_osim(path)
    assert any("coordinate 'idle' is on no axis of joint 'knee'" in line for line in model.report), model.report
    assert list(model.coordinates) == ["hip_coord_0", "bend"]
    with pytest.raises(mb.ModelError, match="'idle' is on no axis"):
        mb.load_osim(path, strict=True)
    path.write_text((first + more + rest).replace('Coordinate name="bend"', 'Coordinate name="bent"'), encoding="utf-8")
    with pytest.raises(mb.ModelError, match="'bent' of joint 'knee' is on none of its axes; these name 'bend'"):
        mb.load_osim(path)
