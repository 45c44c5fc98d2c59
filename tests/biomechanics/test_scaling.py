"""Scaling: what OpenSim makes of the same factors, and subjects whose size is known."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from kinds.legs import OSIM, SEED, WAYS, wrapped
from mobod.biomechanics import Measurement
from mobod.cli.main import main
from mobod.importer.osim import scaling
from mobod.importer.xml_element import Element

# muscles that do not act are what is scaled here
pytestmark = pytest.mark.filterwarnings("ignore::mobod.ModelWarning")

FACTORS = {"thigh": np.array([1.1, 1.2, 0.9]), "shank": np.array([0.95, 0.95, 0.95])}


@pytest.fixture
def path(tmp_path):
    (tmp_path / "leg.osim").write_text(OSIM)
    return tmp_path / "leg.osim"


def places(model, q=None):
    state = model.default_state()
    if q is not None:
        state.q = q
    model.system.realize(state, mb.Stage.POSITION)
    return {name: body.find_station_location_in_ground(state, p) for name, (body, p) in model.markers.items()}


def masses(model):
    return {name: body.get_default_mass_properties().mass for name, body in model.bodies.items() if body.index}


def opensims_factors(osim):
    """FACTORS as OpenSim takes them."""
    factors = osim.ScaleSet()
    for name, given in FACTORS.items():
        one = osim.Scale()
        one.setSegmentName(name)
        one.setScaleFactors(osim.Vec3(*given))
        one.setApply(True)
        factors.cloneAndAppend(one)
    return factors


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("mass", [None, 15.0])
def test_a_scaled_model_is_opensims(path, keep, mass, rng):
    osim = pytest.importorskip("opensim")
    osim.Logger.setLevelString("Off")
    theirs = osim.Model(str(path))
    state, factors = theirs.initSystem(), opensims_factors(osim)
    theirs.scale(state, factors, keep, -1.0 if mass is None else mass)
    state = theirs.initSystem()
    ours = mb.load_osim(path, scale_factors=FACTORS, mass=mass, keep_masses=keep)
    for name in FACTORS:
        body, properties = theirs.getBodySet().get(name), ours.bodies[name].get_default_mass_properties()
        assert_allclose(properties.mass, body.getMass(), rtol=1e-14)
        assert_allclose(properties.com, body.getMassCenter().to_numpy(), rtol=1e-14)
        central = np.asarray(properties.central_inertia)
        assert_allclose(np.diag(central), body.getInertia().getMoments().to_numpy(), rtol=1e-12)
        assert_allclose(central[[0, 0, 1], [1, 2, 2]], body.getInertia().getProducts().to_numpy(), rtol=1e-10, atol=1e-15)
    for q in rng.uniform(-1.5, 1.5, (5, 2)):
        for name, place in ours.coordinates.items():
            theirs.getCoordinateSet().get(name).setValue(state, float(q[place]))
        theirs.realizePosition(state)
        for name, seen in places(ours, q).items():
            assert_allclose(seen, theirs.getMarkerSet().get(name).getLocationInGround(state).to_numpy(), atol=1e-14)


def subject(path):
    """A recording of one who is the model scaled, in another pose."""
    large = mb.load_osim(path, scale_factors={"thigh": 1.15, "shank": 0.9})
    state = large.default_state()
    seen = places(large, state.q + np.array([0.1, -0.2]))
    return large, mb.Table([0.0, 0.01], {name: np.array([p, p]) for name, p in seen.items()})


MEASURED = [
    Measurement(name="thigh", pairs=[("t0", "t1"), ("t0", "t2")], bodies=["thigh"]),
    Measurement(name="shank", pairs=[("s0", "s1")], bodies={"shank": "XYZ"}),
]


def test_measured_distances_give_the_factors(path):
    large, seen = subject(path)
    model = mb.load_osim(path)
    found = mb.biomechanics.scale(model, seen, measurements=MEASURED, mass=70.0)
    assert found.data["measurements"] == pytest.approx({"thigh": 1.15, "shank": 0.9})
    assert sum(masses(found).values()) == pytest.approx(70.0)
    assert masses(found)["thigh"] / masses(found)["shank"] == pytest.approx(2.0 * 1.15**3 / 0.9**3)
    for name, (_, station) in found.markers.items():
        assert_allclose(station, large.markers[name][1], atol=1e-6)  # they fit already
    assert masses(model) == pytest.approx({"thigh": 8.0, "shank": 4.0}), "the model itself stays as it is"
    assert masses(mb.scale(model, seen, measurements=MEASURED, keep_masses=True)) == pytest.approx(masses(model))


def test_markers_go_where_they_were_seen_but_for_fixed_ones(path):
    large, seen = subject(path)
    moved = seen.with_columns({"s2": seen["s2"] + [0.0, 0.0, 0.01], "s3": seen["s3"] + [0.0, 0.0, 0.01]})
    found = mb.scale(mb.load_osim(path), moved, measurements=MEASURED, weights={"s2": 0.0, "s3": 0.0})
    assert_allclose(found.markers["s2"][1] - large.markers["s2"][1], [0, 0, 0.01], atol=1e-6)
    assert_allclose(found.markers["s3"][1], large.markers["s3"][1], atol=1e-9)
    loose = mb.scale(mb.load_osim(path), moved, measurements=MEASURED, weights={"s2": 0.0, "s3": 0.0}, fixed=["s2"])
    assert_allclose(loose.markers["s2"][1], large.markers["s2"][1], atol=1e-9)
    assert_allclose(loose.markers["s3"][1] - large.markers["s3"][1], [0, 0, 0.01], atol=1e-6)


def test_a_scaled_model_is_written_and_read_again(path, tmp_path, rng):
    _, seen = subject(path)
    model = mb.load_osim(path)
    model.markers["own"] = model.bodies["shank"], np.array([0.0, -0.1, 0.0])
    found = mb.scale(model, seen, measurements=MEASURED, mass=70.0)
    mb.write_osim(tmp_path / "scaled.osim", found)
    again = mb.load_osim(tmp_path / "scaled.osim")
    assert masses(again) == masses(found) and list(again.markers) == list(found.markers)
    q = rng.normal(size=2)
    for name, seen_there in places(again, q).items():
        assert_allclose(seen_there, places(found, q)[name], atol=1e-15)
    assert_allclose(again.markers["own"][1], 0.9 * np.array([0.0, -0.1, 0.0]))


SETUP = """<OpenSimDocument><ScaleTool name="s"><mass>70</mass>
<GenericModelMaker><model_file>leg.osim</model_file><marker_set_file>more.xml</marker_set_file></GenericModelMaker>
<ModelScaler><scaling_order>measurements manualScale</scaling_order><MeasurementSet><objects>
<Measurement name="m"><apply>true</apply><MarkerPairSet><objects><MarkerPair><markers>t0 t1</markers></MarkerPair></objects>
</MarkerPairSet><BodyScaleSet><objects><BodyScale name="thigh"><axes>X Y Z</axes></BodyScale><BodyScale name="toe">
<axes>X</axes>
</BodyScale></objects></BodyScaleSet></Measurement></objects></MeasurementSet><ScaleSet><objects><Scale>
<scales>0.9 0.9 0.9</scales><segment>shank</segment><apply>true</apply></Scale></objects></ScaleSet>
<marker_file>still.trc</marker_file><time_range>(0, 1)</time_range>
<preserve_mass_distribution>true</preserve_mass_distribution></ModelScaler>
<MarkerPlacer><apply>true</apply><IKTaskSet><objects><IKMarkerTask name="t0"><weight>1</weight></IKMarkerTask>
<IKMarkerTask name="t1"><weight>1</weight></IKMarkerTask><IKMarkerTask name="s0"><weight>1</weight></IKMarkerTask>
<IKMarkerTask name="s1"><weight>2</weight></IKMarkerTask></objects></IKTaskSet></MarkerPlacer></ScaleTool></OpenSimDocument>"""


def test_the_command_scales_by_a_setup_file(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    _, seen = subject(path)
    mb.write_trc("still.trc", seen)
    Path("more.xml").write_text(
        '<OpenSimDocument><MarkerSet><objects><Marker name="extra"><body>shank</body><location>0 0 0.1</location>'
        "<fixed>true</fixed></Marker></objects></MarkerSet></OpenSimDocument>"
    )
    Path("scale.xml").write_text(SETUP)
    assert main(["scale", "scale.xml", "--output", "subject.osim"]) == 0
    shown = capsys.readouterr().out
    assert "scales the body 'toe', which the model does not have" in shown and "1.1500" in shown
    found = mb.load_osim("subject.osim")
    assert masses(found) == pytest.approx({"thigh": 70 * 8 / 12, "shank": 70 * 4 / 12})
    assert_allclose(found.markers["extra"][1], [0, 0, 0.09])
    # markers are placed by a recording of their own; what the file names is written
    moved = mb.Table(seen.time, {name: seen[name] + (0.0, 0.0, 0.5) for name in seen.labels})
    mb.write_trc("pose.trc", moved)
    outputs = "<marker_file>pose.trc</marker_file><output_motion_file>pose.mot</output_motion_file></MarkerPlacer>"
    factors = (
        "<output_scale_file>out/factors.xml</output_scale_file><output_model_file>own.osim</output_model_file></ModelScaler>"
    )
    own = SETUP.replace("</MarkerPlacer>", outputs).replace("</ModelScaler>", factors)
    own = own.replace("<time_range>(0, 1)<", "<time_range>-1 -1<")  # as OpenSim writes what nobody has set
    Path("scale.xml").write_text(own)
    assert main(["scale", "scale.xml"]) == 0
    pose, placed = mb.read_sto("pose.mot"), mb.load_osim("own.osim")
    assert len(pose) == 1 and "<segment>shank</segment>" in Path("out/factors.xml").read_text()
    assert masses(placed) == pytest.approx(masses(found))
    assert not np.allclose(placed.markers["s0"][1], found.markers["s0"][1], atol=1e-3)
    Path("scale.xml").write_text(own.replace("<ModelScaler>", "<ModelScaler><apply>false</apply>"))
    assert main(["scale", "scale.xml", "--output", "same.osim"]) == 0
    assert masses(mb.load_osim("same.osim")) == pytest.approx(masses(mb.load_osim(path)))
    last = own.replace("measurements manualScale", "manualScale measurements").replace(">shank</segment>", ">thigh</segment>")
    Path("scale.xml").write_text(last)
    assert main(["scale", "scale.xml"]) == 0
    assert "note: 'thigh' has its factors by hand, not those of measurements" in capsys.readouterr().out
    Path("scale.xml").write_text(SETUP.replace("t0 t1", "t0"))
    assert main(["scale", "scale.xml"]) == 2
    assert "scale.xml:4: a MarkerPair has two markers" in capsys.readouterr().err


PATHS = """<ForceSet><objects>
  <Millard2012EquilibriumMuscle name="m"><path><GeometryPath><PathPointSet><objects>
      <PathPoint name="a"><socket_parent_frame>/bodyset/thigh</socket_parent_frame><location>0 0 0.1</location></PathPoint>
      <PathPoint name="b"><socket_parent_frame>/bodyset/thigh</socket_parent_frame><location>0.3 0 0.1</location></PathPoint>
    </objects></PathPointSet></GeometryPath></path>
    <optimal_fiber_length>0.1</optimal_fiber_length><tendon_slack_length>0.2</tendon_slack_length></Millard2012EquilibriumMuscle>
  <PathSpring name="s"><path><GeometryPath><PathPointSet><objects>
      <PathPoint name="a"><socket_parent_frame>/bodyset/thigh</socket_parent_frame><location>0 0.1 0</location></PathPoint>
      <PathPoint name="b"><socket_parent_frame>/bodyset/thigh</socket_parent_frame><location>0 0.4 0</location></PathPoint>
    </objects></PathPointSet></GeometryPath></path>
    <resting_length>0.25</resting_length><stiffness>10</stiffness><dissipation>0.1</dissipation></PathSpring>
</objects></ForceSet>"""


def test_fibers_tendons_and_springs_are_scaled_with_their_paths(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = Path(path).read_text()
    Path(path).write_text(text.replace("</Model>", PATHS + "</Model>", 1))
    model = mb.load_osim(path)
    scaled = mb.scale(model, factors={"thigh": (1.2, 0.9, 1.0)})
    mb.write_osim("again.osim", scaled)
    for found in (scaled, mb.load_osim("again.osim")):
        assert found.muscles["m"].get_default_optimal_fiber_length() == pytest.approx(0.12, rel=1e-12)
        assert found.muscles["m"].get_default_tendon_slack_length() == pytest.approx(0.24, rel=1e-12)
        state = found.default_state()
        found.system.realize(state, mb.Stage.POSITION)
        energy = found.data["forces"]["s"].calc_potential_energy_contribution(state)
        assert energy == pytest.approx(0.5 * 10 * (0.3 * 0.9 - 0.25 * 0.9) ** 2, rel=1e-12)
    assert scaled.report == model.report


def test_paths_wrap_as_opensims_before_and_after_scaling(tmp_path):
    """Fibers and tendons are scaled by the paths' lengths, in several default poses; ellipsoids to OpenSim's own tolerance."""
    osim = pytest.importorskip("opensim")
    osim.Logger.setLevelString("Off")
    text, path = wrapped(np.random.default_rng(SEED)), tmp_path / "leg.osim"
    factors, bent = opensims_factors(osim), set()
    for knee in (-1.2, -0.6, -0.3, 0.2, 0.7, 1.5):
        path.write_text(text.replace("<default_value>-0.3<", f"<default_value>{knee}<"))
        theirs = osim.Model(str(path))
        state = theirs.initSystem()
        for muscle in (theirs.getMuscles().get(name) for name in WAYS):
            if muscle.getGeometryPath().getCurrentPath(state).getSize() > 2:
                bent.add(muscle.getName())
        theirs.scale(state, factors, True, -1.0)
        ours = mb.load_osim(path, scale_factors=FACTORS, keep_masses=True)
        for name, muscle in ours.muscles.items():
            own = theirs.getMuscles().get(name)
            fiber, tendon = muscle.get_default_optimal_fiber_length(), muscle.get_default_tendon_slack_length()
            tolerance = 3e-5 if any(kind in ("WrapEllipsoid", "WrapTorus") for kind, _, _ in WAYS[name]) else 1e-13
            assert fiber == pytest.approx(own.getOptimalFiberLength(), rel=tolerance), (name, knee)
            assert tendon == pytest.approx(own.getTendonSlackLength(), rel=tolerance), (name, knee)
    assert bent == set(WAYS)


ROD = """<ConstraintSet><objects><ConstantDistanceConstraint name="rod"><socket_body_1>/ground</socket_body_1>
<socket_body_2>/bodyset/shank</socket_body_2><location_body_1>0.3 0.2 0</location_body_1>
<location_body_2>0 -0.3 0</location_body_2><constant_distance>0.4</constant_distance></ConstantDistanceConstraint>
</objects></ConstraintSet>"""


@pytest.mark.parametrize("free", [False, True], ids=["held", "free"])
def test_a_model_with_a_constraint_is_measured_where_that_holds(tmp_path, free):
    """A coordinate that is free to satisfy constraints is not drawn to its default value, as in OpenSim."""
    osim = pytest.importorskip("opensim")
    osim.Logger.setLevelString("Off")
    path, factors = tmp_path / "leg.osim", opensims_factors(osim)
    text, bend = wrapped(np.random.default_rng(SEED)).replace("</Model>", ROD + "</Model>"), "<default_value>-0.3<"
    flag = f"<is_free_to_satisfy_constraints>{free}</is_free_to_satisfy_constraints>".lower()
    assert text.count(bend) == 1
    path.write_text(text.replace(bend, flag + bend))
    theirs = osim.Model(str(path))
    theirs.scale(theirs.initSystem(), factors, True, -1.0)
    for name, muscle in mb.load_osim(path, scale_factors=FACTORS, keep_masses=True).muscles.items():
        own = theirs.getMuscles().get(name).getOptimalFiberLength()
        rough = free and any(kind in ("WrapEllipsoid", "WrapTorus") for kind, _, _ in WAYS[name])  # OpenSim's own tolerance
        assert muscle.get_default_optimal_fiber_length() == pytest.approx(own, rel=3e-5 if rough else 1e-5), name


def test_a_wrong_quadrant_is_named(tmp_path, rng, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("wrong.osim").write_text(wrapped(rng).replace("<quadrant>x<", "<quadrant>w<"))
    report = mb.load_osim("wrong.osim", scale_factors={"thigh": 1.2}).report
    assert any("the quadrant of a surface is all, or one of x, " in one and "not 'w'" in one for one in report), report


def test_what_is_wrong_is_named(path, tmp_path):
    _, seen = subject(path)
    model = mb.load_osim(path)
    cases = [
        (
            {"measurements": [Measurement(pairs=[("t0", "x")], bodies=["thigh"])]},
            ValueError,
            "needs the marker 'x' in the model",
        ),
        ({"measurements": [Measurement(pairs=[], bodies=["thigh"])]}, ValueError, "has no pair"),
        ({"measurements": [Measurement(pairs=[("t0", "t0")], bodies=["thigh"])]}, ValueError, "at one place"),
        ({"measurements": [Measurement(pairs=[("t0", "t1")], bodies=["thig"])]}, mb.ModelError, "the body 'thig'.*thigh"),
        ({"measurements": [Measurement(pairs=[("t0", "t1")], bodies={"thigh": "W"})]}, ValueError, "some of X, Y and Z"),
        ({"factors": {"foot": 1.1}}, mb.ModelError, "no body 'foot'; "),
        ({"factors": {"thigh": -1.0}}, mb.ModelError, "above zero"),
        ({"mass": -70.0}, mb.ModelError, "mass of the subject"),
        ({"fixed": ["x"]}, ValueError, "fixed names 'x'"),
    ]
    for options, kind, message in cases:
        with pytest.raises(kind, match=message):
            mb.scale(model, seen, **options)
    with pytest.raises(ValueError, match="measurements need static_markers"):
        mb.scale(model, measurements=MEASURED)
    model.data.pop("source")
    model.data.pop("document")
    with pytest.raises(mb.ModelError, match="not from an OpenSim file"):
        mb.scale(model)
    with pytest.raises(mb.ModelError, match="not from an OpenSim file"):
        mb.write_osim(tmp_path / "x.osim", model)


def test_shapes_of_a_scaled_body_are_scaled_with_it():
    """Whether they have factors of their own, as OpenSim's writer says, or none."""
    shapes = [Element("Mesh", {}, 1, [Element("scale_factors", {}, 1, [], "1 2 4")] * n, "") for n in (1, 0)]
    frame = Element("Body", {}, 1, [Element("attached_geometry", {}, 1, shapes, "")], "")
    scaling._geometry(frame, np.array([1.1, 0.9, 2.0]))
    found = [[float(word) for word in shape.text_of("scale_factors").split()] for shape in shapes]
    assert_allclose(found, [[1.1, 1.8, 8.0], [1.1, 0.9, 2.0]], rtol=1e-15)
