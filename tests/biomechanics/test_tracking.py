"""Computed muscle control and residual reduction: beside OpenSim's tools, inverse dynamics, by their files, and wrong input."""

import contextlib
import pathlib
import shutil
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod.biomechanics import _dual_newton, _tracking
from mobod.biomechanics._tracking import Tracker, Wanted, pieces_of
from mobod.biomechanics.motion import natural_spline
from mobod.biomechanics.states import own_state
from mobod.biomechanics.tasks import Rows
from mobod.cli.main import main
from mobod.importer.tool_setup import read_tool_setup
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
POINT = """<CMC_Point name='foot'><active>true true false</active><wrt_body>calcn_r</wrt_body>
<express_body>ground</express_body><weight>3 2 1</weight><kp>400 1 1</kp><kv>40 1 1</kv><r0>0 2 0</r0>{rest}</CMC_Point>"""
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
        assert_allclose(own, other, atol=1e-4 * np.abs(ours[label]).max() + 3e-4, err_msg=label)
    bodies = [mb.load_osim(folder / f"{name}.osim", muscles="data").bodies["pelvis"] for name in ("ours", "theirs")]
    coms = [body.get_default_mass_properties().com for body in bodies]
    assert_allclose(coms[0], coms[1], atol=1e-7)


@pytest.mark.long
def test_muscles_do_what_opensims_tool_has_them_do(tmp_path):
    """Of one setup file of its CMCTool: states, controls and forces of two muscles at a forearm; a motion filtered at 6 Hz."""
    opensim = pytest.importorskip("opensim")
    opensim.Logger.setLevelString("off")
    model = opensim.Model()
    model.setName("arm")
    arm = opensim.Body("arm", 1.5, opensim.Vec3(0.0, -0.15, 0.0), opensim.Inertia(0.03, 0.003, 0.03))
    zero = opensim.Vec3(0.0)
    elbow = opensim.PinJoint("elbow", model.getGround(), zero, zero, arm, zero, zero)
    elbow.updCoordinate().setName("flexion")
    model.addBody(arm)
    model.addJoint(elbow)
    for name, side in (("front", 1.0), ("back", -1.0)):
        muscle = opensim.Millard2012EquilibriumMuscle(name, 400.0, 0.12, 0.21, 0.1)
        muscle.addNewPathPoint("a", model.getGround(), opensim.Vec3(0.03 * side, 0.3, 0.0))
        muscle.addNewPathPoint("b", arm, opensim.Vec3(0.03 * side, -0.03, 0.0))
        model.addForce(muscle)
    model.finalizeConnections()
    model.printToXML(str(tmp_path / "leg.osim"))
    time = np.linspace(0.0, 0.5, 121)
    flexion = 0.3 + 0.25 * np.sin(7.0 * time) + 0.02 * np.sin(60.0 * time)
    mb.write_sto(tmp_path / "swing.sto", mb.Table(time, {"flexion": flexion}))
    motor = MOTOR.format("help", "flexion", 1.0)
    (tmp_path / "motors.xml").write_text(MOTORS.format(motor))
    (tmp_path / "tasks.xml").write_text(
        "<OpenSimDocument Version='20302'><CMC_TaskSet name='arm'><objects>"
        f"{TASK.format('flexion', 1.0)}</objects></CMC_TaskSet></OpenSimDocument>"
    )
    setup = write_setup(tmp_path, "CMCTool", "theirs", 0.16)
    (tmp_path / "theirs.xml").write_text((tmp_path / "theirs.xml").read_text().replace(">-1<", ">6<"))
    assert opensim.CMCTool(setup).run()
    assert main(["cmc", setup, "--results", str(tmp_path / "ours"), "--quiet"]) == 0
    # OpenSim finds excitations to 4e-3 of a muscle's range
    for file, share in (("states", 2e-3), ("controls", 0.1), ("Actuation_force", 0.02)):
        ours, theirs = (mb.read_sto(tmp_path / name / f"leg_{file}.sto") for name in ("ours", "theirs"))
        rows = (ours.time > theirs.time[0] + 1e-3) & (ours.time < theirs.time[-1] + 1e-9)  # their first controls are of before
        assert rows.sum() > 1
        for label in set(ours.labels) & set(theirs.labels):
            other = np.interp(ours.time[rows] - 1e-6, theirs.time, theirs[label])
            near = (0.02 if "activation" in label else share) * np.abs(ours[label]).max()
            assert_allclose(ours[label][rows], other, atol=near, err_msg=label)
        assert set(ours.labels) == set(theirs.labels)
    ours, theirs = (mb.read_sto(tmp_path / name / "leg_states.sto") for name in ("ours", "theirs"))
    for label in ours.labels[:2]:  # where the run begins: the filtered motion
        assert_allclose(ours[label][0], theirs[label][0], rtol=3e-6)


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


def test_residuals_are_averaged_from_the_row_before_on(folder):
    """As OpenSim's tool does it: from the last row not after the start to the last one not after the end."""
    given = {"actuators": folder / "motors.xml", "start": 0.1, "end": 0.102}
    ours, rows, at_the_last = (
        mb.reduce_residuals(LEG, folder / "swing.sto", adjust_start=first, adjust_end=last, **given).before
        for first, last in ((0.108, 0.125), (0.1, 0.12), (0.5, 0.5))  # behind the last there is no row
    )
    assert ours == rows and 0.0 != ours["MZ"] != at_the_last["MZ"] != 0.0
    setup = pathlib.Path(write_setup(folder, "RRATool", "unnamed", 0.102))
    setup.write_text(setup.read_text().replace("unnamed.osim", ""))
    assert main(["rra", str(setup), "--quiet"]) == 0 and (folder / "adjusted_model.osim").exists()  # OpenSim's name for it


@pytest.mark.parametrize(("share", "says"), [(5e-10, ""), (1e-6, "is missing")])
def test_what_rounding_leaves_of_strong_actuators_is_not_missing(leg, monkeypatch, share, says):
    """Of what optimal forces give, as one of the pelvis of gait2392, whose wanted accelerations were small."""

    def rounded(B, *given):
        a, missing = _dual_newton.solve(B, *given)
        return a, missing + share * np.abs(B).max(axis=2)

    monkeypatch.setattr(_tracking, "solve", rounded)
    motors = mb.biomechanics.add_reserves(mb.biomechanics.remove_muscles(leg), 1e4)
    still = mb.Table(np.linspace(0.0, 0.02, 11), {"knee_angle_r": np.full(11, -0.3)})
    with pytest.raises(mb.ConvergenceError, match=says) if says else contextlib.nullcontext():
        mb.reduce_residuals(motors, still, window=0.01, exact=True)


def test_a_last_row_that_comes_twice_counts_once(leg, swing):
    """As in files of OpenSim's tools, with times a rounding apart: accelerations were 1e6 and more through splines of both."""
    motors = mb.biomechanics.add_reserves(mb.biomechanics.remove_muscles(leg), 100.0)
    twice = {label: np.append(swing[label], swing[label][-1] * (1.0 + 1e-13)) for label in swing.labels}
    table = mb.Table(np.append(swing.time, swing.time[-1] + 3e-14), twice)
    found, usual = (mb.inverse_dynamics(motors, one) for one in (table, swing))
    assert len(found.time) == len(swing)
    assert_allclose(found.forces["hip_flexion_r_moment"], usual.forces["hip_flexion_r_moment"], rtol=1e-6)


def test_muscles_that_find_no_balance_begin_at_their_shortest_fibers(leg, swing, monkeypatch):
    """As OpenSim's do."""
    asked, kinds = [], {type(one) for one in leg.muscles.values()}
    for kind in kinds:

        def equilibrate(one, state, *, as_opensim=False, found=kind.equilibrate):
            asked.append((one.name, as_opensim))
            if not as_opensim:
                raise mb.ConvergenceError("too slack")
            found(one, state, as_opensim=True)

        monkeypatch.setattr(kind, "equilibrate", equilibrate)
    mb.computed_muscle_control(leg, swing, start=0.1, end=0.15, reserve=5.0)
    assert {name for name, shortest in asked if shortest} == {*leg.muscles}


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
    # an end that is a function of time holds from where windows begin
    step = mb.function.PiecewiseConstant([0.0, 0.1005], [0.01, 0.005])
    later = mb.reduce_residuals(motors, swing, start=0.1, end=0.103, window=1e-3, bounds={label: (-1.0, step)})
    assert later.controls[label].max() == later.controls[label][1] == 0.01
    assert_allclose(later.controls[label][2:], 0.005, rtol=1e-12)
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
        names = Tracker(leg, state, wanted, tasks, **given).rows.labels
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
    for label in found.controls.labels:  # between nodes those of actuators go along straight lines
        assert_allclose(controls.functions[label].calc_value([middle]), found.controls[label][:2].mean(), rtol=1e-9)
    motion = mb.read_sto(tmp_path / "run_Kinematics_q.sto", model=motors)
    assert_allclose(motion["hip_flexion_r"], found.q[:, motors.coordinates["hip_flexion_r"]], rtol=1e-12)


@pytest.mark.parametrize("body", ["calcn_r", "center_of_mass"])
def test_tasks_of_points_are_those_of_opensims_class(leg, swing, body):
    """Errors and wanted accelerations of its CMC_Point, whose tool cannot take one (4.6 asks for a coordinate of that name)."""
    opensim = pytest.importorskip("opensim")
    opensim.Logger.setLevelString("off")
    place = np.array([0.05, -0.02, 0.01])
    coefficients = np.random.default_rng(3).normal(size=(3, 3))  # of the path, the highest power first
    time = np.linspace(0.0, 0.5, 51)
    path = mb.Table(time, {"p": np.stack([np.polyval(row, time) for row in coefficients], axis=1)})
    task = mb.biomechanics.PointTask(body=body, point=place, path=path, kp=50.0, kv=7.0, ka=0.8)
    state = own_state(leg, None)
    wanted = Wanted(leg, state, swing, None, "butterworth")
    rows = Rows(leg, state.copy(), {"p": task}, wanted)
    state.time, h = 0.2, 0.01
    state.q, state.u = wanted(0.2)
    errors, rates = rows.errors(state)
    aims = 50.0 * errors + 7.0 * rates + 0.8 * rows.accelerations(0.2 + h)

    model = opensim.Model(str(LEG))
    theirs, now = opensim.CMC_Point(opensim.Vec3(*place)), model.initSystem()
    functions = [opensim.PolynomialFunction(opensim.Vector.createFromMat(row)) for row in coefficients]
    theirs.setModel(model)
    theirs.setWRTBodyName(body)
    theirs.setExpressBodyName("ground")
    for name in ("KP", "KV", "KA"):
        value = getattr(task, name.lower())
        getattr(theirs, f"set{name}")(value, value, value)
    for k in range(3):
        getattr(theirs, f"setDirection_{k}")(opensim.Vec3(*np.eye(3)[k]))
    theirs.setTaskFunctions(*functions)
    for name, at in leg.coordinates.items():
        coordinate = model.getCoordinateSet().get(name)
        coordinate.setValue(now, float(state.q[at]), False)
        coordinate.setSpeedValue(now, float(state.u[at]))
    now.setTime(0.2)
    model.realizeAcceleration(now)
    theirs.computeDesiredAccelerations(now, 0.2, 0.2 + h)
    assert_allclose(errors, [theirs.getPositionError(k) for k in range(3)], atol=1e-9)
    assert_allclose(rates, [theirs.getVelocityError(k) for k in range(3)], atol=1e-7)
    assert_allclose(aims, [theirs.getDesiredAcceleration(k) for k in range(3)], rtol=1e-5)  # splines through 51 times
    theirs.computeAccelerations(now)
    leg.system.realize(state, mb.Stage.VELOCITY)
    J, bias = rows.linear(state)
    u_dot = np.zeros(len(state.u))
    for name, at in leg.speeds.items():
        u_dot[at] = model.getCoordinateSet().get(name).getAccelerationValue(now)
    assert_allclose(J @ u_dot + bias, [theirs.getAcceleration(k) for k in range(3)], rtol=1e-6, atol=1e-6)


def test_rows_of_bodies_are_derivatives_of_what_they_are_of(leg, swing):
    """In a frame that moves, by differences along the motion; paths give the same as the motion that they are of."""
    state = own_state(leg, None)
    wanted = Wanted(leg, state, swing, None, "butterworth")
    kinds = {
        "toe": mb.biomechanics.PointTask(body="calcn_r", point=(0.1, 0.02, 0.3), relative_to="femur_r"),
        "foot": mb.biomechanics.OrientationTask(body="calcn_r", relative_to="femur_r"),
    }
    rows = Rows(leg, state.copy(), kinds, wanted)

    def at(t):
        state.time, (state.q, state.u) = t, wanted(t)
        leg.system.realize(state, mb.Stage.VELOCITY)
        return state

    t, d = 0.23, 1e-4
    toe, foot = rows._of_bodies
    J, bias = rows.linear(at(t))
    first = J @ state.u
    second = J @ wanted.u_dot(t) + bias
    far = [toe.where(at(t + s)) for s in (-d, d)]
    assert_allclose(first[:3], (far[1] - far[0]) / (2.0 * d), rtol=1e-6)
    turns = [foot.where(at(t + s)) for s in (-d, d)]
    assert_allclose(first[3:], foot.difference(turns[1], turns[0]) / (2.0 * d), rtol=1e-6, atol=1e-8)
    rates = [rows.linear(at(t + s))[0] @ wanted(t + s)[1] for s in (-d, d)]
    assert_allclose(second, (rates[1] - rates[0]) / (2.0 * d), rtol=2e-5, atol=1e-5)  # splines of q and u differ a little
    assert_allclose(rows.accelerations(t), second, rtol=1e-12)

    times = np.linspace(0.0, 0.5, 101)
    places = np.array([toe.where(at(s)) for s in times])
    angles = np.array([mb.Rotation(foot.where(at(s))).to_body_fixed_xyz() for s in times])
    turned = np.array([mb.Rotation.from_body_fixed_xyz(row).to_quaternion() for row in angles])
    for table in (mb.Table(times, dict(zip("abc", angles.T, strict=True))), mb.Table(times, {"q": turned})):
        given = {
            "toe": replace(kinds["toe"], path=mb.Table(times, {"p": places})), "foot": replace(kinds["foot"], path=table),
        }  # fmt: skip
        by_paths = Rows(leg, state.copy(), given, wanted)
        assert_allclose(by_paths.accelerations(t), second, rtol=1e-3, atol=2e-3)
        errors = by_paths.errors(at(t))
        assert_allclose(errors[0], 0.0, atol=1e-7)
        assert_allclose(errors[1], 0.0, atol=1e-5)

    few = np.array([mb.Rotation.from_body_fixed_xyz(row).to_quaternion() for row in np.outer(range(6), (0.5, -0.3, 0.4))])
    path = mb.Table(np.linspace(0.0, 0.5, 6), {"q": few})  # between these quaternions their lengths change
    (turn,) = Rows(leg, state.copy(), {"foot": mb.biomechanics.OrientationTask(body="calcn_r", path=path)}, wanted)._of_bodies
    (R0, w0, _), (R1, w1, _) = (turn.wanted(t + s) for s in (-d, d))
    assert_allclose(turn.wanted(t)[1], turn.difference(R1, R0) / (2.0 * d), rtol=1e-6)
    assert_allclose(turn.wanted(t)[2], (w1 - w0) / (2.0 * d), rtol=1e-6, atol=1e-6)


def test_bodies_are_followed_as_the_coordinates_that_place_them(leg, swing):
    """Tasks that fix the same motion by other quantities take the same forces."""
    motors = mb.biomechanics.add_reserves(mb.biomechanics.remove_muscles(leg), 100.0)
    usual, foot = mb.biomechanics.Task(), {"body": "calcn_r", "relative_to": "pelvis"}
    pelvis = {name: usual for name in ("pelvis_tilt", "pelvis_tx", "pelvis_ty")}
    of_bodies = pelvis | {
        "heel": mb.biomechanics.PointTask(directions=[(1, 0, 0), (0, 1, 0)], **foot),
        "foot": mb.biomechanics.OrientationTask(directions=[(0, 0, 1)], **foot),
    }
    given = {"start": 0.1, "end": 0.102, "window": 1e-3, "exact": True}
    by_bodies = mb.reduce_residuals(motors, swing, tasks=of_bodies, **given)
    by_coordinates = mb.reduce_residuals(motors, swing, **given)
    for label in by_bodies.forces.labels:
        largest = np.abs(by_coordinates.forces[label]).max()
        assert_allclose(by_bodies.forces[label][0], by_coordinates.forces[label][0], rtol=1e-6, atol=1e-7 * largest + 1e-9)
    assert by_bodies.errors.labels == (*pelvis, "heel_1", "heel_2", "foot_1")
    assert max(np.abs(by_bodies.errors[label]).max() for label in by_bodies.errors.labels) < 1e-5


def test_settings_of_tasks_are_checked(leg, swing):
    path = mb.Table(np.arange(8.0), {"a": np.zeros(8)})
    for kind, given, message in (
        ("PointTask", {"point": (0.0, np.nan, 0.0)}, "point of a PointTask has to be finite"),
        ("PointTask", {"directions": [(0.0, 0.0, 0.0)]}, "directions of a task are vectors that are not zero"),
        ("PointTask", {"path": path}, "path of a PointTask has 3 finite numbers at each of at least 6 times, got 1 at 8"),
        ("OrientationTask", {"weight": (1.0, 2.0)}, "weight of a OrientationTask is one number, or 3"),
        ("PointTask", {"weight": (1.0, -2.0, 1.0)}, "weight of a Task is not negative"),
    ):
        with pytest.raises(ValueError, match=message):
            getattr(mb.biomechanics, kind)(body="calcn_r", **given)
    nowhere = {"p": mb.biomechanics.PointTask(body="hand")}
    with pytest.raises(mb.ModelError, match="has no frame 'hand'"):
        mb.computed_muscle_control(leg, swing, tasks=nowhere)
    late = mb.Table(np.linspace(2.0, 3.0, 11), {"p": np.zeros((11, 3))})
    with pytest.raises(ValueError, match=r"what is wanted goes from 2 to 0\.5"):
        mb.computed_muscle_control(leg, swing, tasks={"p": mb.biomechanics.PointTask(body="calcn_r", path=late)})


def test_setups_are_read(folder):
    setup = read_tracking_setup(write_setup(folder, "RRATool", "out", 0.2))
    assert (setup.kind, setup.body, setup.replace, setup.window, setup.exact) == ("rra", "pelvis", True, 0.001, False)
    assert setup.start == 0.1 and setup.cutoff is None and setup.tasks["pelvis_tx"]["weight"] == 2.0
    assert read_tracking_setup(write_setup(folder, "CMCTool", "out", 0.2)).window == 0.01
    for tool, window in (("CMCTool", 0.02), ("RRATool", 0.001)):  # OpenSim's RRATool has a window of its own
        path = pathlib.Path(write_setup(folder, tool, "out", 0.2))
        path.write_text(path.read_text().replace("<task_set", "<cmc_time_window>0.02</cmc_time_window><task_set"))
        assert read_tracking_setup(path).window == window
    rest = (
        "<rra_controls_file>rra.xml</rra_controls_file><AnalysisSet><objects><Kinematics/><MuscleAnalysis name='m'/></objects>"
    )
    path.write_text(path.read_text().replace("<task_set", f"{rest}</AnalysisSet><task_set"))
    left_out = read_tracking_setup(path).left_out
    assert [text.split(" is left out")[0] for text in left_out] == ["<rra_controls_file>", "MuscleAnalysis 'm'"]
    joint = "<CMC_Joint name='knee_angle_r'><active>true</active></CMC_Joint><CMC_Joint name='none'/>"
    text = f"<OpenSimDocument><CMC_TaskSet><objects>{joint}{POINT.format(rest='')}</objects></CMC_TaskSet></OpenSimDocument>"
    (folder / "some.xml").write_text(text.replace("CMC_", "rdCMC_"))
    assert [*read_tasks(folder / "some.xml")] == ["knee_angle_r", "foot"]  # names of OpenSim 1, in pipelines of today
    (folder / "some.xml").write_text(text)
    found = read_tasks(folder / "some.xml")
    assert [*found] == ["knee_angle_r", "foot"] and found["knee_angle_r"]["kv"] == 0.5  # as OpenSim has it
    assert found["foot"] == {
        "kp": 400.0, "kv": 40.0, "ka": 1.0, "weight": [3.0, 2.0], "limit": 0.0, "body": "calcn_r", "relative_to": "ground",
        "directions": [[0.0, 2.0, 0.0], [0.0, 1.0, 0.0]], "point": [0.0, 0.0, 0.0],
    }  # fmt: skip


def test_filtered_coordinates_have_their_speeds_where_times_are_rounded(leg, rng):
    """Rows at 60 Hz whose times have three decimals, which the filter resamples: between them q' is u all the same."""
    time = np.round(np.arange(121) / 60.0, 3)
    q = np.sin(4.0 * time) + 0.05 * rng.normal(size=121)
    wanted = Wanted(leg, own_state(leg, None), mb.Table(time, {"knee_angle_r": q}), 6.0, "opensim")
    k, h = leg.coordinates["knee_angle_r"], 1e-5
    for t in (0.0, 0.001, 0.4, 1.0, 1.99):
        slope = (wanted(t + h)[0][k] - wanted(t - h)[0][k]) / (2.0 * h)
        assert slope == pytest.approx(wanted(t)[1][k], abs=2e-3), t


def test_defaults_of_files_are_what_their_objects_do_not_say(leg, folder):
    """They stand for what an object lacks, and are none themselves: of tasks, forces and markers of inverse kinematics."""
    usual = "<active>true</active><kp>100 1 1</kp><kv>20 1 1</kv>"
    own = "<CMC_Joint name='knee_angle_r'><kv>7</kv></CMC_Joint>"
    (folder / "some.xml").write_text(
        f"<OpenSimDocument><CMC_TaskSet><defaults><CMC_Joint name='default'>{usual}</CMC_Joint></defaults>"
        f"<objects>{own}</objects></CMC_TaskSet></OpenSimDocument>"
    )
    assert read_tasks(folder / "some.xml") == {"knee_angle_r": {"kp": 100.0, "kv": 7.0, "ka": 1.0, "weight": 1.0, "limit": 0.0}}
    (folder / "forces.xml").write_text(
        "<OpenSimDocument Version='30000'><ForceSet><defaults><CoordinateActuator name='default'>"
        "<optimal_force>25</optimal_force></CoordinateActuator></defaults>"
        "<objects><CoordinateActuator name='r'><coordinate>knee_angle_r</coordinate>"
        "</CoordinateActuator></objects></ForceSet></OpenSimDocument>"
    )
    added = mb.biomechanics.add_forces(leg, folder / "forces.xml")
    assert added.actuators["r"].optimal_force == 25.0 and "default" not in added.actuators
    for tool in ("InverseKinematicsTool", "IKTool"):  # the latter of OpenSim 1
        (folder / "ik.xml").write_text(
            f"<OpenSimDocument><{tool}><IKTaskSet><defaults><IKMarkerTask name='default'><weight>3</weight>"
            f"</IKMarkerTask></defaults><objects><IKMarkerTask name='toe'/></objects></IKTaskSet></{tool}></OpenSimDocument>"
        )
        assert read_tool_setup(folder / "ik.xml").weights == {"toe": 3.0}


def test_wrong_input_is_named(leg, swing, folder, capsys):
    """Errors name the thing and the remedy."""
    for arguments, message in (
        ({"tasks": {"knee": mb.biomechanics.Task()}}, "tasks has the coordinate 'knee'"),
        ({"bounds": {"nobody": (0.0, 1.0)}}, "bounds has 'nobody'"),
        ({"exclude": ["nobody"]}, "exclude has 'nobody'"),
        ({"start": 3.0}, "the motion has no time between"),
        ({"window": 0.0}, "window"),
        (
            {"bounds": {"soleus_r": (mb.function.Constant(0.5, 1), 0.3)}},
            r"bounds of 'soleus_r' are .* got \(0.5, 0.3\) at time 0",
        ),
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
    for inside, message in (
        ("<CMC_Point name='p'/>", "no task in this file is on and <active>"),
        ("<CMC_Point name='p'><active>true</active></CMC_Point>", "the CMC_Point 'p' names no <wrt_body>"),
        ("<CMC_Joint name='p'><active>true</active><kv>fast</kv></CMC_Joint>", "the <kv> is of numbers, not 'fast'"),
        ("<StateTrackingTask name='s'/>", "StateTrackingTask 's' follows a variable of a muscle"),
        (POINT.format(rest="<point>1 2</point>"), "the <point> has 3 numbers, not 2"),
    ):
        text = f"<OpenSimDocument><CMC_TaskSet><objects>{inside}</objects></CMC_TaskSet></OpenSimDocument>"
        (folder / "points.xml").write_text(text)
        with pytest.raises(mb.ModelError, match=rf"points.xml:1: {message}"):
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
