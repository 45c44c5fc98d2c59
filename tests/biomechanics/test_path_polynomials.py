"""Polynomials in place of paths: as good as they say, written and read again, and beside OpenSim."""

import subprocess
import sys
from importlib.resources import files

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod.biomechanics import path_polynomials

B = mb.biomechanics
LEG = files("mobod") / "examples" / "leg6dof9musc.osim"
RANGES = {"hip_flexion_r": (-0.5, 1.2), "knee_angle_r": (-1.6, -0.02), "ankle_angle_r": (-0.5, 0.4)}
JOINTS = tuple(RANGES)

OPENSIM = """
import sys, numpy as np, opensim
opensim.Logger.setLevelString("off")
model = opensim.Model(sys.argv[1])
state = model.initSystem()
coordinates, muscles = model.updCoordinateSet(), model.getMuscles()
names = sys.argv[2].split(",")
rows = []
for pose in np.array(sys.argv[3].split(","), float).reshape(-1, len(names)):
    for name, value in zip(names, pose):
        coordinates.get(name).setValue(state, float(value), False)
    model.realizePosition(state)
    for i in range(muscles.getSize()):
        path = muscles.get(i).getPath()
        rows.append([path.getLength(state), *(path.computeMomentArm(state, coordinates.get(name)) for name in names)])
print(",".join(repr(float(x)) for row in rows for x in row))
"""


@pytest.fixture(scope="module")
def leg():
    return mb.load_osim(LEG)


@pytest.fixture(scope="module")
def found(leg):
    return B.fit_path_polynomials(leg, ranges=RANGES, samples=1000)


def lengths_and_arms(model, poses):
    """``(poses, muscles, 1 + joints)``; the kneecap follows the knee."""
    state, rows = model.default_state(), []
    for pose in poses:
        q = np.array(state.q)
        for name, value in zip(JOINTS, pose, strict=True):
            q[model.coordinates[name]] = value
        state.q = q
        for one in model.matter.constraints:
            if hasattr(one, "put"):
                q = np.array(state.q)
                one.put(q, np.zeros(len(state.u)), state.tree.first_q)
                state.q = q
        model.system.realize(state, mb.Stage.VELOCITY)
        places = [model.speeds[name] for name in JOINTS]
        for muscle in model.muscles.values():
            arms = [muscle.get_path().calc_moment_arm_of(state, place) for place in places]
            rows.append([muscle.get_length(state), *arms])
    return np.array(rows).reshape(len(poses), -1, 1 + len(JOINTS))


def poses_within(rng, n):
    low, high = np.array(list(RANGES.values())).T
    return rng.uniform(low, high, (n, len(low)))


def test_errors_are_what_is_told(leg, found):
    """At other poses, and with a coupled kneecap, of which the moment arms are about the knee as constraints have it."""
    poses = poses_within(np.random.default_rng(11), 60)
    off = lengths_and_arms(found.model, poses) - lengths_and_arms(leg, poses)
    mean = np.sqrt((off**2).mean(axis=0))
    for (name, one), errors in zip(found.paths.items(), mean, strict=True):
        assert errors[0] < 2.0 * one.length_error + 1e-12, name
        assert errors[1:].max() < 2.0 * one.moment_arm_error + 1e-12, name


def test_coordinates_and_lowest_orders_are_found(found):
    assert found.paths["soleus_r"].coordinates == ("ankle_angle_r",)
    assert found.paths["rect_fem_r"].coordinates == ("hip_flexion_r", "knee_angle_r")
    assert found.paths["med_gas_r"].coordinates == ("knee_angle_r", "ankle_angle_r")
    assert found.paths["soleus_r"].within_tolerance
    assert found.paths["soleus_r"].order < 6
    assert not found.kept
    assert "soleus_r" in str(found)
    one = B.fit_path_polynomials(LEG, names=["soleus_r"], ranges=RANGES, length_tolerance=1e-2, moment_arm_tolerance=1e-2)
    assert one.paths["soleus_r"].order == 2
    assert type(one.model.muscles["vas_int_r"].get_path()).__name__ == "Path"


def test_paths_that_cross_the_same_coordinates_share_their_equations(leg, monkeypatch):
    """And are what each is alone, but for rounding."""
    made, rows, given = [], path_polynomials._rows, {"ranges": RANGES, "samples": 200, "orders": (4, 4)}
    monkeypatch.setattr(path_polynomials, "_rows", lambda t, *rest: made.append(len(t)) or rows(t, *rest))
    paths = B.fit_path_polynomials(leg, **given).paths
    assert len(made) == len({one.coordinates for one in paths.values()}) < len(paths)
    alone = B.fit_path_polynomials(leg, names=["rect_fem_r"], **given).paths["rect_fem_r"]
    for name in ("length_error", "moment_arm_error", "max_length_error", "max_moment_arm_error"):
        assert_allclose(getattr(paths["rect_fem_r"], name), getattr(alone, name), rtol=1e-6)


def test_files_have_them_and_opensim_agrees(found, tmp_path):
    pytest.importorskip("opensim")
    file = tmp_path / "leg.osim"
    mb.write_osim(file, found.model)
    poses = poses_within(np.random.default_rng(12), 4)
    arguments = [str(file), ",".join(JOINTS), ",".join(map(repr, poses.ravel().tolist()))]
    said = subprocess.run([sys.executable, "-c", OPENSIM, *arguments], capture_output=True, text=True, check=True).stdout
    theirs = np.array(said.split(","), float).reshape(len(poses), -1, 1 + len(JOINTS))
    assert_allclose(lengths_and_arms(mb.load_osim(file), poses), theirs, rtol=0, atol=1e-12)


def test_springs_and_actuators_have_them_too(leg):
    ropes = B.replace_muscles_with_path_actuators(leg)
    made = B.fit_path_polynomials(ropes, names=["soleus_r"], ranges=RANGES, samples=200).model
    states = [model.default_state() for model in (ropes, made)]
    forces = []
    for model, state in zip((ropes, made), states, strict=True):
        model.system.realize(state, mb.Stage.POSITION)
        forces.append(model.actuators["soleus_r"].get_path().calc_moment_arms(state))
    place = ropes.speeds["ankle_angle_r"]
    assert forces[1][place] == pytest.approx(forces[0][place], abs=3e-4)


WRONG = {
    "force": ({"names": ["soleus"]}, mb.ModelError, "there is no path of points of a force 'soleus'"),
    "coordinate": ({"ranges": {"knee": (0, 1)}}, mb.ModelError, "no coordinate 'knee'"),
    "range": ({"ranges": {"knee_angle_r": (1, 0)}}, ValueError, "a lower and a higher number"),
    "orders": ({"orders": (5, 3)}, ValueError, "a lowest and a highest"),
    "samples": ({"samples": 10}, ValueError, "50 or more"),
    "tolerance": ({"length_tolerance": 0.0}, mb.ModelError, "length_tolerance"),
}


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG)
def test_wrong_input_is_told(leg, case):
    options, error, text = case
    with pytest.raises(error, match=text):
        B.fit_path_polynomials(leg, **options)


def test_a_file_whose_path_names_no_coordinate_is_reported(found, tmp_path):
    file = tmp_path / "leg.osim"
    mb.write_osim(file, found.model)
    file.write_text(file.read_text().replace("/ankle_angle_r</coordinate_paths>", "/ankle</coordinate_paths>", 1))
    with pytest.warns(mb.ModelWarning, match="muscles, which do not act: 1"):
        report = str(mb.load_osim(file).report)
    assert "needs a coordinate 'ankle'" in report
