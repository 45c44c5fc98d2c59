"""Coordinates from markers and sensors that a model itself has made."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod.importer.model import Model

TIME = 0.01 * np.arange(40)


def leg(*, on_ground=False):
    """A pelvis that moves in space by three lengths and three angles, and a leg of a hip, a knee and an ankle."""
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    gravity = mb.force.Gravity(forces, matter, (0, -9.81, 0))
    link = mb.body.Rigid(
        mb.MassProperties(3.0, (0, -0.2, 0), mb.UnitInertia.brick((0.1, 0.25, 0.1)).shift_from_centroid((0, -0.2, 0)))
    )
    if on_ground:
        pelvis = mb.mobilizer.Weld(matter.ground, link, name="pelvis")
        first, n = {}, 0
    else:
        pelvis = mb.mobilizer.Bushing(matter.ground, link, name="pelvis")
        first, n = {name: k for k, name in enumerate(("list", "turn", "tilt", "tx", "ty", "tz"))}, 6
    thigh = mb.mobilizer.Gimbal(pelvis, link, X_PF=mb.Transform((0.1, -0.1, 0)), name="thigh")
    shank = mb.mobilizer.Pin(thigh, link, X_PF=mb.Transform((0, -0.4, 0)), name="shank")
    foot = mb.mobilizer.Pin(shank, link, X_PF=mb.Transform((0, -0.4, 0)), name="foot")
    coordinates = first | {name: n + k for k, name in enumerate(("hip_x", "hip_y", "hip_z", "knee", "ankle"))}
    bodies = {body.name: body for body in (pelvis, thigh, shank, foot)}
    places = [(0.1, 0.0, 0.1), (-0.1, 0.05, 0.1), (0.0, -0.1, -0.1), (0.05, -0.2, 0.02)]
    markers = {f"{name}{k}": (body, np.array(p)) for name, body in bodies.items() for k, p in enumerate(places)}
    return Model(
        name="leg",
        system=system,
        matter=matter,
        forces=forces,
        gravity=gravity,
        bodies=bodies,
        coordinates=coordinates,
        speeds=dict(coordinates),
        angles=set(coordinates) - {"tx", "ty", "tz"},
        markers=markers,
        report=[],
    )


def arm():
    """A trunk that moves in space, and an arm of five angles within ranges; where these begin and end."""
    model = leg()
    _, thigh, shank, foot = model.bodies.values()
    ranges = {"hip_x": (-1.6, 1.6), "hip_y": (-2.1, 1.6), "hip_z": (-1.6, 1.6), "knee": (0.0, 2.6), "ankle": (0.0, 1.6)}
    places = zip(ranges, (thigh, thigh, thigh, shank, foot), (0, 1, 2, 0, 0), strict=True)
    model.data["coordinates"] = {
        name: SimpleNamespace(clamped=True, locked=False, mobod=mobod, which=which, range=ranges[name])
        for name, mobod, which in places
    }
    return model, ranges


def motion_of(model, time=TIME):
    q = np.zeros((len(time), len(model.coordinates)))
    for name, place in model.coordinates.items():
        q[:, place] = 0.4 * np.sin(2.0 * np.pi * (0.5 + 0.1 * place) * time + place) + (0.5 if name == "knee" else 0.0)
    return q


def seen_by(model, q, time=TIME):
    """Places of the markers and rotations of the bodies at each row of coordinates."""
    state, places, turned = model.default_state(), [], []
    for row in q:
        state.q = row
        model.system.realize(state, mb.Stage.POSITION)
        places.append([body.find_station_location_in_ground(state, p) for body, p in model.markers.values()])
        turned.append([body.get_body_rotation(state).to_quaternion() for body in model.bodies.values()])
    places, turned = np.array(places), np.array(turned)
    markers = mb.Table(time, {name: places[:, k] for k, name in enumerate(model.markers)})
    return markers, mb.Table(time, {name: turned[:, k] for k, name in enumerate(model.bodies)})


@pytest.fixture(scope="module")
def recorded():
    model = leg()
    q = motion_of(model)
    return model, q, *seen_by(model, q)


def test_the_coordinates_that_made_the_markers_are_found(recorded):
    model, q, markers, _ = recorded
    done = []
    found = mb.inverse_kinematics(model, markers, progress=lambda n, of: done.append((n, of)))
    assert_allclose(found.q, q, atol=2e-6)  # a search ends when it promises a part of 1e-10 of the goal, which is nearly zero
    assert found.coordinate_names == tuple(model.coordinates) and found.residuals.labels == tuple(model.markers)
    assert found.maximum.max() < 1e-6 and found.goal.max() < 1e-12 and done[-1] == (40, 40)
    rates = np.gradient(q, TIME, axis=0)
    assert_allclose(found.u[5:-5], rates[5:-5], atol=0.02)
    assert "marker" in found.summarize() and len(found.summarize().splitlines()) == 18
    assert_allclose(found.to_table()["knee"], q[:, model.coordinates["knee"]], atol=2e-6)
    assert len(found.states) == 40


def test_markers_in_another_unit_are_told_from_a_fit(recorded):
    model, _, markers, _ = recorded
    wrong = mb.Table(markers.time[:2], {name: 10.0 * markers[name][:2] for name in markers})
    assert "are the unit and the axes of the file those of the model?" in mb.inverse_kinematics(model, wrong).summarize()


def test_noise_is_left_in_the_residuals(recorded, rng):
    model, q, markers, _ = recorded
    noise = {name: markers[name] + 0.003 * rng.normal(size=(40, 3)) for name in markers}
    found = mb.inverse_kinematics(model, mb.Table(TIME, noise))
    assert np.abs(found.q - q).max() < 0.1
    # of 48 numbers eleven are fitted
    assert np.sqrt(np.mean(found.rms**2)) == pytest.approx(0.003 * np.sqrt(3.0 * 37.0 / 48.0), rel=0.1)
    heavy = mb.inverse_kinematics(model, mb.Table(TIME, noise), weights={"foot0": 1e4})
    assert heavy.residuals["foot0"].mean() < 0.2 * found.residuals["foot0"].mean()
    assert_allclose(found.residuals["foot1"], np.linalg.norm(found.errors["foot1"], axis=1))
    filtered = mb.inverse_kinematics(model, mb.Table(TIME, noise), cutoff=8.0)
    assert np.std(np.diff(filtered.q, 3, axis=0)) < 0.3 * np.std(np.diff(found.q, 3, axis=0))


def test_gaps_are_left_out_frame_by_frame(recorded):
    model, q, markers, _ = recorded
    holes = {name: markers[name].copy() for name in markers if name != "pelvis3"}
    holes["foot0"][5:20] = np.nan
    holes["shank1"][10:12] = np.nan
    found = mb.inverse_kinematics(model, mb.Table(TIME, {**holes, "stranger": np.zeros((40, 3))}))
    assert_allclose(found.q, q, atol=2e-6)
    assert np.isnan(found.residuals["foot0"]).sum() == 15 and "stranger" not in found.residuals
    assert np.isfinite(found.rms).all()


def test_a_marker_of_no_weight_is_reported_all_the_same(recorded):
    model, q, markers, _ = recorded
    moved = markers.with_columns({"foot2": markers["foot2"] + 0.05})
    found = mb.inverse_kinematics(model, moved, weights={"foot2": 0.0})
    assert_allclose(found.q, q, atol=2e-6)
    assert_allclose(found.residuals["foot2"], 0.05 * np.sqrt(3.0), atol=1e-6)


def test_orientations_and_wanted_coordinates(recorded):
    model, q, _, turned = recorded
    places = {name: q[:, model.coordinates[name]] for name in ("tx", "ty", "tz")}
    found = mb.inverse_kinematics(model, orientations=turned, coordinates=places)
    assert_allclose(found.q, q, atol=1e-5)
    assert max(found.sensor_errors[name].max() for name in model.bodies) < 1e-5


def test_a_part_of_the_frames(recorded):
    model, q, markers, _ = recorded
    found = mb.inverse_kinematics(model, markers, start=0.1, end=0.2)
    assert len(found) == 11
    assert_allclose(found.q, q[10:21], atol=2e-6)


def test_limbs_do_not_fold_the_wrong_way_in_the_first_frame():
    """Poses that a search from the default pose alone misses: a limb is drawn across, and its range holds it there."""
    model, ranges = arm()
    found = []
    for seed in range(40):
        rng, q = np.random.default_rng(seed), np.zeros(len(model.coordinates))
        for name, place in model.coordinates.items():
            wide = {"tx": 1.5, "ty": 1.5, "tz": 1.5, "turn": 2.5}.get(name, 0.5)
            q[place] = rng.uniform(*ranges.get(name, (-wide, wide)))
        found.append(float(mb.inverse_kinematics(model, seen_by(model, q[None], np.zeros(1))[0]).maximum[0]))
    assert np.sum(np.array(found) > 1e-6) <= 2  # 7 without other starts, up to 0.2 away


def test_constraints_hold(recorded):
    model = leg()
    knee, ankle = (model.bodies[name] for name in ("shank", "foot"))
    mb.constraint.CoordinateCoupler(model.matter, mb.function.Linear([1.0, 0.5, 0.0]), [knee, ankle], [0, 0])
    q = motion_of(model)
    q[:, model.coordinates["ankle"]] = -2.0 * q[:, model.coordinates["knee"]]
    markers, _ = seen_by(model, q)
    found = mb.inverse_kinematics(model, markers)
    assert_allclose(found.q, q, atol=1e-5)


def test_free_joints_with_quaternions():
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    gravity = mb.force.Gravity(forces, matter, (0, -9.81, 0))
    link = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
    body = mb.mobilizer.Free(matter.ground, link, name="body")
    markers = {f"m{k}": (body, np.eye(3)[k]) for k in range(3)}
    names = {f"q{k}": k for k in range(7)}
    parts = {"system": system, "matter": matter, "forces": forces, "gravity": gravity, "bodies": {"body": body}}
    model = Model(name="box", **parts, coordinates=names, speeds={f"u{k}": k for k in range(6)}, markers=markers, report=[])
    state, places, w = model.default_state(), [], np.array([1.0, 2.0, -0.5])
    for t in TIME:
        angle = np.linalg.norm(w) * t
        state.q = [np.cos(angle / 2), *(np.sin(angle / 2) * w / np.linalg.norm(w)), t, 0.0, -t]
        system.realize(state, mb.Stage.POSITION)
        places.append([body.find_station_location_in_ground(state, p) for _, p in markers.values()])
    table = mb.Table(TIME, {name: np.array(places)[:, k] for k, name in enumerate(markers)})
    found = mb.inverse_kinematics(model, table)
    assert_allclose(found.u[3:-3, :3], np.tile(w, (34, 1)), atol=1e-4)
    assert_allclose(found.u[3:-3, 3:], np.tile([1.0, 0.0, -1.0], (34, 1)), atol=1e-5)


def test_what_is_wrong_is_named(recorded, tmp_path):
    model, _, markers, _ = recorded
    strangers = markers.renamed({name: f"x{name}" for name in markers})
    with pytest.raises(ValueError, match="no column of the data is a marker of 'leg', whose markers are pelvis0"):
        mb.inverse_kinematics(model, strangers)
    with pytest.raises(ValueError, match=r"weights names 'foot9', which is no marker.*foot"):
        mb.inverse_kinematics(model, markers, weights={"foot9": 1.0})
    with pytest.raises(ValueError, match="weight of the marker 'foot0'"):
        mb.inverse_kinematics(model, markers, weights={"foot0": -1.0})
    with pytest.raises(ValueError, match=r"no coordinate 'nee'.*knee"):
        mb.inverse_kinematics(model, markers, coordinates={"nee": 0.0})
    with pytest.raises(ValueError, match="no column of quaternions"):
        mb.inverse_kinematics(model, orientations=markers)
    with pytest.raises(TypeError, match="needs markers or orientations"):
        mb.inverse_kinematics(model)
    with pytest.raises(TypeError, match="markers are a Table, or the path of a file, not 3"):
        mb.inverse_kinematics(model, 3)
    with pytest.raises(ValueError, match="no time between 7 and"):
        mb.inverse_kinematics(model, markers, start=7.0)
    mb.write_trc(tmp_path / "a.trc", markers)
    assert len(mb.inverse_kinematics(model, tmp_path / "a.trc", end=0.02)) == 3


def test_where_nothing_is_seen_there_is_no_answer(recorded):
    model, _, markers, _ = recorded
    with pytest.raises(ValueError, match="ever seen"):
        mb.inverse_kinematics(model, markers, weights=dict.fromkeys(model.markers, 0.0))
    gone = mb.Table(markers.time, {label: np.full_like(markers[label], np.nan) for label in markers.labels})
    with pytest.raises(ValueError, match="ever seen"):
        mb.inverse_kinematics(model, gone)
    but_one = np.arange(len(TIME))[:, None] != 5
    found = mb.inverse_kinematics(model, mb.Table(TIME, {name: np.where(but_one, markers[name], np.nan) for name in markers}))
    assert np.isnan(found.rms[5]) and np.isnan(found.maximum[5])
    assert np.isfinite(np.delete(found.rms, 5)).all()
