"""Computed muscle control and residual reduction: beside OpenSim's tools, inverse dynamics, by their files, and wrong input."""

import shutil
from importlib.resources import files

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod.biomechanics._tracking import Tracker, Wanted, pieces_of
from mobod.biomechanics.motion import natural_spline
from mobod.biomechanics.states import own_state
from mobod.cli.main import main
from mobod.importer.tracking_setup import read_tasks, read_tracking_setup
from mobod.muscle.base import tendon_forces

LEG = files("mobod") / "examples" / "leg6dof9musc.osim"
#: Residuals on the pelvis, and a motor for each other coordinate.
MOTORS = "<OpenSimDocument Version='40000'><ForceSet><objects>{}</objects></ForceSet></OpenSimDocument>"
MOTOR = "<CoordinateActuator name='{}'><coordinate>{}</coordinate><optimal_force>{}</optimal_force></CoordinateActuator>"
PLACES = {
    "MZ": ("pelvis_tilt", 5.0), "FX": ("pelvis_tx", 10.0), "FY": ("pelvis_ty", 10.0), "hip": ("hip_flexion_r", 100.0),
    "knee": ("knee_angle_r", 100.0), "ankle": ("ankle_angle_r", 100.0),
}  # fmt: skip
TASK = """<CMC_Joint name='{0}'><on>true</on><active>true false false</active><coordinate>{0}</coordinate>
<weight>{1}</weight><kp>100</kp><kv>20</kv><ka>1</ka></CMC_Joint>"""
SETUP = """<OpenSimDocument Version="40000"><{tool} name="leg"><model_file>leg.osim</model_file>
<replace_force_set>{replace}</replace_force_set><force_set_files>motors.xml</force_set_files>
<results_directory>{folder}</results_directory><initial_time>0.1</initial_time><final_time>{end}</final_time>
<solve_for_equilibrium_for_auxiliary_states>true</solve_for_equilibrium_for_auxiliary_states>
<integrator_error_tolerance>1e-7</integrator_error_tolerance><desired_kinematics_file>swing.sto</desired_kinematics_file>
<task_set_file>tasks.xml</task_set_file><lowpass_cutoff_frequency>-1</lowpass_cutoff_frequency>
<optimization_convergence_tolerance>1e-8</optimization_convergence_tolerance>{more}</{tool}></OpenSimDocument>"""
MORE = """<adjust_com_to_reduce_residuals>true</adjust_com_to_reduce_residuals><adjusted_com_body>pelvis</adjusted_com_body>
<output_model_file>{folder}.osim</output_model_file>"""


@pytest.fixture(scope="module")
def leg():
    return mb.load_osim(LEG)


@pytest.fixture(scope="module")
def swing(leg):
    time = np.linspace(0.0, 0.5, 51)
    state = leg.default_state()
    rows = {name: np.full(51, float(state.q[k])) for name, k in leg.coordinates.items() if "pat" not in name}
    rows["hip_flexion_r"] = 0.3 + 0.2 * np.sin(5.0 * time)
    rows["knee_angle_r"] = -0.6 + 0.3 * np.sin(6.0 * time + 0.4)
    rows["ankle_angle_r"] = 0.1 * np.sin(7.0 * time)
    return mb.Table(time, rows)


@pytest.fixture
def folder(tmp_path, swing):
    """Files of a setup."""
    shutil.copy(str(LEG), tmp_path / "leg.osim")
    still = {label: swing[label] if label != "knee_angle_r" else np.full(len(swing), -0.6) for label in swing.labels}
    mb.write_sto(tmp_path / "swing.sto", mb.Table(swing.time, still))
    (tmp_path / "motors.xml").write_text(MOTORS.format("".join(MOTOR.format(n, *p) for n, p in PLACES.items())))
    tasks = "".join(TASK.format(place, 1.0 + k) for k, (place, _) in enumerate(PLACES.values()))
    (tmp_path / "tasks.xml").write_text(
        f"<OpenSimDocument Version='20302'><CMC_TaskSet name='leg'><objects>{tasks}</objects></CMC_TaskSet></OpenSimDocument>"
    )
    return tmp_path


def write_setup(folder, tool, name, end):
    more = (
        MORE.format(folder=name) if tool == "RRATool" else "<use_fast_optimization_target>true</use_fast_optimization_target>"
    )
    given = {"tool": tool, "folder": name, "end": end, "more": more, "replace": str(tool == "RRATool").lower()}
    (folder / f"{name}.xml").write_text(SETUP.format(**given))
    return str(folder / f"{name}.xml")


def test_results_are_those_of_opensims_tool(folder):
    """Of one setup file of its RRATool: forces, files with the same names, and the moved mass center.

    The knee is still here: where coordinates are coupled OpenSim begins with half of the wanted speeds.
    """
    opensim = pytest.importorskip("opensim")
    opensim.Logger.setLevelString("off")
    assert opensim.RRATool(write_setup(folder, "RRATool", "theirs", 0.125)).run()
    assert main(["rra", write_setup(folder, "RRATool", "ours", 0.125), "--quiet"]) == 0
    missing = {path.name for path in (folder / "theirs").iterdir()} - {path.name for path in (folder / "ours").iterdir()}
    assert not missing
    ours, theirs = (mb.read_sto(folder / name / "leg_Actuation_force.sto") for name in ("ours", "theirs"))
    for label in ours.labels:
        rows = (ours.time > 0.1005) & (ours.time < theirs.time[-1] - 1e-9)  # their first row is of a window of no length
        own = ours[label][rows]
        other = np.interp(ours.time[rows] - 1e-6, theirs.time, theirs[label])
        assert_allclose(own, other, atol=0.02 * np.abs(ours[label]).max() + 0.02, err_msg=label)
    bodies = [mb.load_osim(folder / f"{name}.osim", muscles="data").bodies["pelvis"] for name in ("ours", "theirs")]
    coms = [body.get_default_mass_properties().com for body in bodies]
    assert_allclose(coms[0], coms[1], atol=1e-7)


def test_first_forces_are_those_of_inverse_dynamics(leg, swing):
    """Where nothing is off yet, accelerations that have to be met take the forces of the motion itself."""
    motors = mb.biomechanics.add_reserves(mb.biomechanics.remove_muscles(leg), 100.0)
    found = mb.reduce_residuals(motors, swing, start=0.1, end=0.102, window=1e-3, exact=True)
    taken = mb.inverse_dynamics(motors, swing)
    row = int(np.searchsorted(swing.time, 0.1 - 1e-9))
    for name in ("pelvis_ty", "hip_flexion_r", "ankle_angle_r"):  # which no constraint couples
        label = next(one for one in taken.forces.labels if one.startswith(f"{name}_"))
        largest = np.abs(taken.forces[label]).max()
        assert_allclose(found.forces[f"reserve_{name}"][0], taken.forces[label][row], atol=0.02 * largest)  # a window later
    assert all(np.abs(found.errors[name]).max() < 1e-5 for name in found.errors.labels)


def test_excitations_follow_the_motion(leg, swing):
    """Coordinates stay near, excitations within their bounds, and muscles do what reserves cost too much for."""
    found = mb.computed_muscle_control(leg, swing, start=0.1, end=0.15, reserve=5.0)
    assert len(found.time) == 3 and abs(found.time[0] - 0.13) < 1e-12
    assert max(np.abs(found.errors[name]).max() for name in found.errors.labels) < 2e-3
    muscles = np.stack([found.controls[name] for name in leg.muscles], axis=1)
    assert (muscles >= 0.02 - 1e-12).all() and (muscles <= 1.0).all() and np.ptp(muscles) > 0.05
    # the reserves do what muscles do not: with dearer ones muscles work more
    dear = mb.computed_muscle_control(leg, swing, start=0.1, end=0.15, reserve=1.0)
    reserves = [f"reserve_{name}" for name in ("hip_flexion_r", "ankle_angle_r")]
    given = [sum(np.abs(one.forces[name]).sum() for name in reserves) for one in (found, dear)]
    assert given[1] < 0.9 * given[0]


def test_controls_of_actuators_that_pull_the_other_way(leg, swing):
    """A negative optimal force turns the sign of controls alone; speeds are there where forces are zero."""
    bounds, found = {"reserve_hip_flexion_r": (-1.0, 1.0), "reserve_ankle_angle_r": (0.0, 0.0)}, []
    for sign in (1.0, -1.0):
        motors = mb.biomechanics.add_reserves(mb.biomechanics.remove_muscles(leg), 100.0)
        motors.actuators["reserve_hip_flexion_r"].optimal_force *= sign
        found.append(mb.reduce_residuals(motors, swing, start=0.1, end=0.102, window=1e-3, bounds=bounds))
    usual, turned = found
    label, still = bounds
    assert np.abs(usual.forces[label]).max() > 1.0
    assert_allclose(turned.forces[label], usual.forces[label], rtol=1e-6)
    assert_allclose(turned.controls[label], -usual.controls[label], rtol=1e-6)
    assert not usual.forces[still].any() and not usual.powers[still].any()
    assert np.abs(usual.speeds[still]).max() > 0.1
    for label in bounds:
        assert_allclose(usual.speeds[label], usual.u[:, motors.speeds[label.removeprefix("reserve_")]], rtol=1e-12)


def test_coupled_coordinates_follow_while_their_couplers_act(leg, swing):
    """The kneecap's angle is the knee's in every state, so that no probe tells; switched off it is free."""
    tasks = {name: mb.biomechanics.Task() for name in ("knee_angle_r", "knee_angle_pat_r")}
    coupler = next(one for one in leg.matter.constraints if hasattr(one, "put"))
    own = [place for name, place in leg.coordinates.items() if name == "knee_angle_pat_r"]
    for disabled in (False, True):
        state = own_state(leg, None)
        if disabled:
            coupler.disable(state)
            leg.system.realize(state, mb.Stage.INSTANCE)
        wanted = Wanted(leg, state, swing, None, "butterworth")
        # what is excluded may have bounds
        given = {"exact": True, "as_opensim": False, "bounds": {"soleus_r": (0.0, 1.0)}, "exclude": ["soleus_r"]}
        names = [*Tracker(leg, state, wanted, tasks, **given).tasks]
        assert names == (["knee_angle_r", "knee_angle_pat_r"] if disabled else ["knee_angle_r"])
        moves = np.ptp([wanted(t)[0][own] for t in (0.1, 0.2)])
        assert moves < 1e-9 if disabled else moves > 0.01


def test_files_are_read_back(leg, swing, tmp_path):
    """States and controls of a run begin the same run again."""
    motors = mb.biomechanics.add_reserves(mb.biomechanics.remove_muscles(leg), 100.0)
    found = mb.reduce_residuals(motors, swing, start=0.1, end=0.102, window=1e-3, exact=True)
    tmp_path = tmp_path / "new" / "folder"
    found.save(tmp_path, "run")
    controls = mb.biomechanics.read_controls(tmp_path / "run_controls.xml")
    middle = 0.5 * (found.time[0] + found.time[1])
    for label in found.controls.labels:  # steps: over a window the control is the one at its end
        assert_allclose(controls.functions[label].calc_value([middle]), found.controls[label][1], rtol=1e-12)
    motion = mb.read_sto(tmp_path / "run_Kinematics_q.sto", model=motors)
    assert_allclose(motion["hip_flexion_r"], found.q[:, motors.coordinates["hip_flexion_r"]], rtol=1e-12)


def test_setups_are_read(folder):
    setup = read_tracking_setup(write_setup(folder, "RRATool", "out", 0.2))
    assert (setup.kind, setup.body, setup.replace, setup.window, setup.exact) == ("rra", "pelvis", True, 0.001, False)
    assert setup.start == 0.1 and setup.cutoff is None and setup.tasks["pelvis_tx"]["weight"] == 2.0
    assert read_tracking_setup(write_setup(folder, "CMCTool", "out", 0.2)).window == 0.01


def test_wrong_input_is_named(leg, swing, folder, capsys):
    """Errors name the thing and the remedy."""
    for arguments, message in (
        ({"tasks": {"knee": mb.biomechanics.Task()}}, "tasks has the coordinate 'knee'"),
        ({"bounds": {"nobody": (0.0, 1.0)}}, "bounds has 'nobody'"),
        ({"exclude": ["nobody"]}, "exclude has 'nobody'"),
        ({"start": 3.0}, "the motion has no time between"),
        ({"window": 0.0}, "window"),
        ({"filter": "none"}, "'butterworth' or 'opensim'"),
        ({"bounds": {"soleus_r": (0.0, 1.0, 2.0)}}, r"bounds of 'soleus_r' has to have shape \(2,\)"),
        ({"tasks": {}}, "none of the tasks is of a coordinate"),
        ({"tasks": {"knee_angle_pat_r": mb.biomechanics.Task()}}, "none of the tasks is of a coordinate"),
    ):
        with pytest.raises(ValueError, match=message):
            mb.computed_muscle_control(leg, swing, **arguments)
    for arguments, message in (
        ({"bounds": {"soleus_r": 1.0}}, None),
        ({"bounds": {"soleus_r": ("a", "b")}}, "bounds of 'soleus_r' has to be real numbers"),
        ({"bounds": [(0.0, 1.0)]}, "bounds has to be a mapping by name"),
        ({"tasks": ["knee_angle_r"]}, "tasks has to be a mapping by name"),
        ({"exclude": "soleus_r"}, "exclude is a sequence of names"),
        ({"start": None}, "start has to be a number"),
    ):
        with pytest.raises((TypeError, ValueError), match=message or "bounds of 'soleus_r'"):
            mb.computed_muscle_control(leg, swing, **arguments)
    with pytest.raises(ValueError, match="kp of a Task is not negative"):
        mb.biomechanics.Task(kp=-1.0)
    bare = mb.biomechanics.remove_muscles(leg)
    with pytest.raises(mb.ModelError, match="has no muscle that acts"):
        mb.computed_muscle_control(bare, swing)
    with pytest.raises(mb.ModelError, match="neither muscles nor actuators"):
        mb.reduce_residuals(bare, swing)
    with pytest.raises(mb.ModelError, match="has no body 'torso'"):
        mb.reduce_residuals(leg, swing, body="torso")
    motors = mb.biomechanics.add_reserves(bare, 100.0)
    with pytest.raises(mb.ModelError, match="neither 'MX' nor 'MZ' is an actuator"):
        mb.reduce_residuals(motors, swing, body="pelvis")
    with pytest.raises(ValueError, match=r"from 0.1, where windows begin, to 0.12 there is no window of 0.05"):
        mb.reduce_residuals(motors, swing, start=0.1, end=0.12, window=0.05)
    motors.actuators["reserve_ankle_angle_r"].optimal_force = 0.0
    with pytest.raises(mb.ModelError, match="the optimal force of 'reserve_ankle_angle_r' is 0"):
        mb.reduce_residuals(motors, swing)
    (folder / "points.xml").write_text(
        "<OpenSimDocument><CMC_TaskSet><objects><CMC_Point name='p'/></objects></CMC_TaskSet></OpenSimDocument>"
    )
    with pytest.raises(mb.ModelError, match=r"points.xml:1: CMC_Point 'p' is not of a coordinate"):
        read_tasks(folder / "points.xml")
    assert main(["cmc", write_setup(folder, "RRATool", "out", 0.2)]) == 2
    assert "use mobod rra" in capsys.readouterr().err


def test_pieces_are_the_splines():
    rng = np.random.default_rng(8)
    time = np.linspace(0.0, 1.0, 11)
    splines = [natural_spline(time, rng.normal(size=(11, 3)), 5) for _ in range(2)]
    breaks, *coefficients = pieces_of(*splines)
    for spline, c in zip(splines, coefficients, strict=True):
        for t in rng.uniform(0.0, 1.0, 20):
            piece = int(np.searchsorted(breaks, t, "right")) - 1
            assert_allclose(np.polyval(c[:, piece], t - breaks[piece]), spline(t), rtol=0, atol=1e-11)


def test_tendon_forces_together_are_those_one_by_one():
    leg = mb.load_osim(LEG)
    state = leg.default_state()
    leg.system.realize(state, mb.Stage.POSITION)
    muscles = list(leg.muscles.values())
    rng = np.random.default_rng(9)
    lengths = np.array([one.get_length(state) for one in muscles]) * rng.uniform(0.95, 1.05, len(muscles))
    speeds = rng.normal(size=len(muscles))
    one_by_one = [one.contraction_at(state, *pair).tendon_force for one, *pair in zip(muscles, lengths, speeds, strict=True)]
    assert_allclose(tendon_forces(state, muscles, lengths, speeds), one_by_one, rtol=1e-12, atol=1e-9)
