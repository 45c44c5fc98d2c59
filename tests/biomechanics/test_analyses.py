"""Analyses of a motion with muscles: beside OpenSim's AnalyzeTool, by their own sums, as files, and with wrong input."""

import itertools
import re
import shutil
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod.cli.main import main

LEG = files("mobod") / "examples" / "leg6dof9musc.osim"


@pytest.fixture(scope="module")
def leg():
    return mb.load_osim(LEG)


@pytest.fixture(scope="module")
def states(leg):
    """Random states over time, with OpenSim's labels."""
    rng, nt = np.random.default_rng(28), 5
    state, paths = leg.default_state(), {}
    for joint in ("ground_pelvis", "hip_r", "knee_r", "tib_pat_r", "ankle_r"):
        paths |= {
            name: joint
            for name in leg.coordinates
            if name.startswith({"ground_pelvis": "pelvis", "hip_r": "hip"}.get(joint, "-"))
        }
    paths |= {"knee_angle_r": "knee_r", "knee_angle_pat_r": "tib_pat_r", "ankle_angle_r": "ankle_r"}
    columns = {}
    for name, joint in paths.items():
        columns[f"/jointset/{joint}/{name}/value"] = state.q[leg.coordinates[name]] + 0.2 * rng.normal(size=nt)
        columns[f"/jointset/{joint}/{name}/speed"] = rng.normal(size=nt)
    for name, one in leg.muscles.items():
        columns[f"/forceset/{name}/activation"] = rng.uniform(0.05, 1.0, nt)
        columns[f"/forceset/{name}/fiber_length"] = one.get_default_optimal_fiber_length() * rng.uniform(0.7, 1.2, nt)
    return mb.Table(np.linspace(0.0, 0.4, nt), columns)


SETUP = """<OpenSimDocument Version="40600"><AnalyzeTool name="leg"><model_file>{model}</model_file>
<results_directory>{folder}</results_directory><initial_time>0</initial_time><final_time>0.4</final_time>
<AnalysisSet><objects>
 <MuscleAnalysis name="MuscleAnalysis"><muscle_list>soleus_r rect_fem_r</muscle_list>
  <moment_arm_coordinate_list>knee_angle_r</moment_arm_coordinate_list></MuscleAnalysis>
 <JointReaction name="JointReaction"><joint_names>knee_r ankle_r hip_r ankle_r</joint_names>
  <apply_on_bodies>child parent child child</apply_on_bodies>
  <express_in_frame>child ground tibia_r parent</express_in_frame></JointReaction>
 <InducedAccelerations name="InducedAccelerations"><coordinate_names>knee_angle_r</coordinate_names>
  <body_names>tibia_r center_of_mass</body_names><in_degrees>false</in_degrees></InducedAccelerations>
 <InducedAccelerations name="InducedMass"><coordinate_names>knee_angle_r</coordinate_names><body_names>tibia_r</body_names>
  </InducedAccelerations>
 <Kinematics name="Kinematics"><step_interval>3</step_interval></Kinematics>
 <BodyKinematics name="global"/>
 <BodyKinematics name="local"><bodies>tibia_r center_of_mass</bodies><in_degrees>false</in_degrees>
  <express_results_in_body_local_frame>true</express_results_in_body_local_frame></BodyKinematics>
 <PointKinematics name="heel"><body_name>tibia_r</body_name><relative_to_body_name>femur_r</relative_to_body_name>
  <point>0.1 -0.4 0.2</point></PointKinematics>
 <Actuation name="Actuation"/><ForceReporter name="ForceReporter"/><StatesReporter name="StatesReporter"/>
 <ProbeReporter name="ProbeReporter"/>
</objects></AnalysisSet><states_file>states.sto</states_file></AnalyzeTool></OpenSimDocument>"""


def test_tables_are_those_of_opensims_tool(leg, states, tmp_path, capsys):
    """Of its setup file, by the command: the same files, labels and numbers, to the eight digits that it writes."""
    opensim = pytest.importorskip("opensim")
    shutil.copy(str(LEG), tmp_path / "leg.osim")
    mb.write_sto(tmp_path / "states.sto", mb.biomechanics.states_over(leg, states))  # coupled coordinates as they are coupled
    for folder in ("theirs", "ours"):
        (tmp_path / f"{folder}.xml").write_text(SETUP.format(model="leg.osim", folder=tmp_path / folder))
    opensim.Logger.setLevelString("off")
    assert opensim.AnalyzeTool(str(tmp_path / "theirs.xml")).run()
    assert main(["analyze", str(tmp_path / "ours.xml"), "--as-opensim"]) == 0
    said = capsys.readouterr().out
    assert "ProbeReporter is left out" in said
    assert len(mb.read_sto(tmp_path / "ours" / "leg_Kinematics_q.sto")) == 3
    written = {path.name for path in (tmp_path / "theirs").iterdir()}
    assert written - {path.name for path in (tmp_path / "ours").iterdir()} == {"leg_ProbeReporter_probes.sto"}
    compared = 0
    for path in sorted((tmp_path / "ours").iterdir()):
        ours, other = mb.read_sto(path), mb.read_sto(tmp_path / "theirs" / path.name)
        theirs = {label: other[label] for label in other.labels}
        if "InducedMass_tibia" in path.name:  # degrees, whose header says that they are not
            theirs |= {label: np.deg2rad(column) for label, column in theirs.items() if "_O" in label}
        rest = {label for label in ours.labels if label.startswith("others")}  # what OpenSim does not tell of
        assert set(ours.labels) - rest <= set(theirs), path.name
        if "Induced" not in path.name:
            assert set(theirs) == set(ours.labels), path.name
        for label in [label for label in ours.labels if label not in rest]:
            scale = np.abs(theirs[label]).max()
            # the knee's Coriolis forces are wrong in OpenSim
            part = 1e-2 if label.startswith("velocity") or "_acc" in path.name or "dudt" in path.name else 3e-6
            assert_allclose(ours[label], theirs[label], rtol=0.0, atol=part * scale + 3e-7, err_msg=f"{path.name} {label}")
            compared += 1
    assert compared == 576


CONTACT = """<InducedAccelerations name="{name}"><coordinate_names>{coordinates}</coordinate_names>
 <body_names>tibia_r</body_names><in_degrees>false</in_degrees><ConstraintSet><objects><{kind} name="foot">
 <{one}>ground</{one}><{two}>tibia_r</{two}>{more}</{kind}></objects></ConstraintSet>
 <force_threshold>15</force_threshold><report_constraint_reactions>true</report_constraint_reactions>{only}
</InducedAccelerations>"""
ROLLING = {"kind": "RollingOnSurfaceConstraint", "one": "surface_body", "two": "rolling_body", "coordinates": "All", "only": ""}


@pytest.mark.parametrize(("named", "folder"), [("", ""), ("some\\results", "some/results")])
def test_results_are_beside_the_setup_file_or_where_it_says(states, tmp_path, named, folder):
    """As in OpenSim, whose older setup files name no folder; those of Windows are read elsewhere, too."""
    shutil.copy(str(LEG), tmp_path / "leg.osim")
    mb.write_sto(tmp_path / "states.sto", states)
    text = SETUP.format(model="leg.osim", folder=named)
    text = (
        text[: text.index(" <MuscleAnalysis")]
        + ' <Kinematics name="Kinematics"/></objects>'
        + text[text.index("</AnalysisSet>") :]
    )
    (tmp_path / "setup.xml").write_text(text)
    assert main(["analyze", str(tmp_path / "setup.xml"), "--quiet"]) == 0
    saved = {one.name for one in (tmp_path / folder).glob("leg_*.sto")}
    assert saved == {f"leg_Kinematics_{end}.sto" for end in ("q", "u", "dudt")}


def test_contact_is_in_the_place_of_external_forces_as_in_opensims_tool(leg, states, tmp_path):
    """Contact that holds, spins, slips and pulls, and below the threshold; muscles pull this leg up, so the plane is above.

    OpenSim's PointConstraint stays at the body's origin, where the force is here; its WeldConstraint is an error there.
    """
    opensim = pytest.importorskip("opensim")
    shutil.copy(LEG, tmp_path / "leg.osim")
    mb.write_sto(tmp_path / "states.sto", mb.biomechanics.states_over(leg, states))
    time = np.linspace(0.0, 0.4, 21)
    plate = {"vx": 3.0 * np.sin(9.0 * time), "vy": 400.0 * (0.3 - time), "px": 0.1 + 0.1 * time, "py": -0.9}
    pushes = [
        mb.Table(time, {f"f_{one}": plate.get(one, 0.05) + 0.0 * time for one in ("vx", "vy", "vz", "px", "py", "pz")}),
        mb.Table(time, {f"f_{one}": 9.0 + 0.0 * time if one[0] == "v" else 0.0 * time for one in plate | {"vz": 0, "pz": 0}}),
    ]
    normal = "<surface_normal>0 -1 0</surface_normal><friction_coefficient>{}</friction_coefficient>"
    normal += "<contact_radius>{}</contact_radius>"
    point = {"kind": "PointConstraint", "one": "body_1", "two": "body_2", "coordinates": "", "more": ""}
    potentials = "<compute_potentials_only>true</compute_potentials_only>"
    asked = [
        [ROLLING | {"more": normal.format(5.0, 0.01)}, ROLLING | {"more": normal.format(100.0, 0.1)}],
        [point | {"only": ""}, point | {"only": potentials}],
    ]
    opensim.Logger.setLevelString("off")
    compared = 0
    for k, (push, pair) in enumerate(zip(pushes, asked, strict=True)):
        mb.write_sto(tmp_path / f"plate{k}.sto", push)
        (tmp_path / f"loads{k}.xml").write_text(
            f"""<OpenSimDocument Version="40000"><ExternalLoads><objects><ExternalForce name="push">
            <applied_to_body>tibia_r</applied_to_body><force_identifier>f_v</force_identifier><point_identifier>f_p</point_identifier>
            <point_expressed_in_body>{"tibia_r" if k else "ground"}</point_expressed_in_body></ExternalForce></objects>
            <datafile>plate{k}.sto</datafile></ExternalLoads></OpenSimDocument>"""
        )
        text = SETUP[: SETUP.index("<AnalysisSet>")] + "<AnalysisSet><objects>"
        text += "".join(CONTACT.format(name=f"IA{i}", **one) for i, one in enumerate(pair))
        text += f"</objects></AnalysisSet><states_file>states.sto</states_file><external_loads_file>loads{k}.xml"
        text += "</external_loads_file></AnalyzeTool></OpenSimDocument>"
        for folder in (f"theirs{k}", f"ours{k}"):
            (tmp_path / f"{folder}.xml").write_text(text.format(model="leg.osim", folder=tmp_path / folder))
        assert opensim.AnalyzeTool(str(tmp_path / f"theirs{k}.xml")).run()
        assert main(["analyze", str(tmp_path / f"ours{k}.xml"), "--as-opensim", "--quiet"]) == 0
        for path in sorted((tmp_path / f"theirs{k}").iterdir()):
            ours, theirs = mb.read_sto(tmp_path / f"ours{k}" / path.name), mb.read_sto(path)
            rest = {label for label in ours.labels if label.startswith("others")}
            assert set(ours.labels) - rest == set(theirs.labels), path.name
            for label in theirs.labels:
                within = 3e-6 * np.abs(theirs[label]).max() + 3e-7
                assert_allclose(ours[label], theirs[label], rtol=0.0, atol=within, err_msg=f"{path.name} {label}")
                compared += 1
    assert compared == 1155
    held = mb.read_sto(tmp_path / "ours0" / "leg_IA0_induced_constraint_reactions.sto")
    across, along = (np.abs(held[f"total_foot_ground_F{axis}"]) > 0.0 for axis in "yx")
    assert across.tolist() == [True, True, True, False, True] and along.tolist() == [False, True, True, False, False]


def test_contact_induces_forces_that_add_up_and_limits_spin_both_ways(leg, states):
    push = mb.biomechanics.ExternalForce(
        name="push", body="tibia_r", time=states.time, force=np.full((5, 3), 9.0), point=np.tile([0.1, -0.9, 0.05], (5, 1))
    )
    ceiling = mb.biomechanics.Contact(surface_normal=(0.0, -2.0, 0.0), friction_coefficient=5.0)
    options = {"coordinates": ["knee_angle_r"], "reactions": True}
    ours = mb.induced_accelerations(leg, states, [push], contact=ceiling, **options)
    theirs = mb.induced_accelerations(leg, states, [push], contact=[ceiling], as_opensim=True, **options)
    for name, end in (("knee_angle_r", ""), ("induced_constraint_reactions", "_push_tibia_r_My")):
        table = ours[name]
        parts = sum(table[label] for label in table.labels if label.endswith(end) and not label.startswith("total"))
        assert_allclose(parts, table[f"total{end}"], rtol=0.0, atol=1e-8 * abs(table[f"total{end}"]).max())
    spins = [
        one["total_push_ground_My"] - 0.05 * one["total_push_ground_Fx"] + 0.1 * one["total_push_ground_Fz"]
        for one in (ours["induced_constraint_reactions"], theirs["induced_constraint_reactions"])
    ]
    assert abs(spins[0]).max() < 1e-9 and abs(spins[1]).max() > 2e4  # where friction at the contact radius gives up to 300
    welded = mb.induced_accelerations(leg, states, [push], contact="weld", coordinates=[], bodies=["tibia_r"])["tibia_r"]
    assert abs(welded["rect_fem_r_Oz"]).max() < 1e-9
    light = mb.induced_accelerations(leg, states, [push], force_threshold=16.0, coordinates=["knee_angle_r"])["knee_angle_r"]
    free = mb.induced_accelerations(leg, states, coordinates=["knee_angle_r"])["knee_angle_r"]
    assert_allclose(light["total"], free["total"], rtol=1e-12)
    with pytest.raises(ValueError, match="2 constraints for 1 external forces, push; give one a force"):
        mb.induced_accelerations(leg, states, [push], contact=["point", "weld"])
    with pytest.raises(ValueError, match="'heel' is of the body 'femur_r', and the external force 'push' in its place is"):
        mb.induced_accelerations(leg, states, [push], contact=mb.biomechanics.Contact(name="heel", body="femur_r"))


def test_fibers_balance_their_tendons_as_by_opensims_tool(leg, states, tmp_path):
    """At the speeds of their paths, which fiber and tendon share; it finds forces to 1e-8 of the largest ones."""
    opensim = pytest.importorskip("opensim")
    opensim.Logger.setLevelString("off")
    shutil.copy(str(LEG), tmp_path / "leg.osim")
    mb.write_sto(tmp_path / "states.sto", mb.biomechanics.states_over(leg, states))
    for folder in ("theirs", "ours"):
        setup = SETUP.format(model="leg.osim", folder=tmp_path / folder)
        wanted = '<AnalysisSet><objects><MuscleAnalysis name="M"><compute_moments>false</compute_moments></MuscleAnalysis>'
        wanted += "</objects></AnalysisSet><solve_for_equilibrium_for_auxiliary_states>true"
        wanted += "</solve_for_equilibrium_for_auxiliary_states>"
        (tmp_path / f"{folder}.xml").write_text(re.sub("<AnalysisSet>.*</AnalysisSet>", wanted, setup, flags=re.DOTALL))
    assert opensim.AnalyzeTool(str(tmp_path / "theirs.xml")).run()
    assert main(["analyze", str(tmp_path / "ours.xml"), "--quiet"]) == 0
    for what in ("FiberLength", "TendonForce", "FiberVelocity"):
        ours, theirs = (mb.read_sto(tmp_path / folder / f"leg_M_{what}.sto") for folder in ("ours", "theirs"))
        for label in theirs.labels:
            assert_allclose(ours[label], theirs[label], atol=3e-6 * np.abs(theirs[label]).max(), err_msg=f"{what} {label}")
    still = mb.analyze_muscles(leg, states, equilibrate=True, muscles=["soleus_r"], coordinates=[])
    assert (
        np.abs(still["TendonForce"]["soleus_r"] - mb.read_sto(tmp_path / "ours" / "leg_M_TendonForce.sto")["soleus_r"]).max()
        > 10
    )
    with pytest.raises(ValueError, match="equilibrate has to be False, True or 'opensim', not 'static'"):
        mb.analyze_muscles(leg, states, equilibrate="static")


def test_coordinates_of_a_setup_are_filtered_as_by_opensims_tool(leg, tmp_path, rng):
    """A file of speeds beside them is taken as it is."""
    opensim = pytest.importorskip("opensim")
    opensim.Logger.setLevelString("off")
    shutil.copy(str(LEG), tmp_path / "leg.osim")
    time = np.linspace(0.0, 1.0, 101)
    names = [name for name in leg.coordinates if name != "knee_angle_pat_r"]
    mb.write_sto(
        tmp_path / "q.sto", mb.Table(time, {name: 0.1 * np.sin(5.0 * time) + 0.001 * rng.normal(size=101) for name in names})
    )
    mb.write_sto(tmp_path / "u.sto", mb.Table(time, {name: np.cos(time) for name in names}))
    cutoff = "lowpass_cutoff_frequency_for_coordinates"
    for more, folders in ((f"<{cutoff}>6</{cutoff}>", ("theirs", "ours")), ("<speeds_file>u.sto</speeds_file>", ("ours",))):
        for folder in folders:
            setup = SETUP.format(model="leg.osim", folder=tmp_path / folder)
            setup = setup.replace("<states_file>states.sto</states_file>", "<coordinates_file>q.sto</coordinates_file>" + more)
            kinematics = '<AnalysisSet><objects><Kinematics name="K"/></objects></AnalysisSet>'
            setup = re.sub("<AnalysisSet>.*</AnalysisSet>", kinematics, setup, flags=re.DOTALL)
            (tmp_path / f"{folder}.xml").write_text(setup)
        assert main(["analyze", str(tmp_path / "ours.xml"), "--quiet"]) == 0
        ours = {end: mb.read_sto(tmp_path / "ours" / f"leg_K_{end}.sto", model=leg) for end in "qu"}
        if len(folders) == 1:
            assert_allclose(ours["u"][names[0]], np.cos(ours["u"].time), atol=1e-4)
            continue
        assert opensim.AnalyzeTool(str(tmp_path / "theirs.xml")).run()
        for end, part in (("q", 1e-5), ("u", 1e-4)):
            theirs = mb.read_sto(tmp_path / "theirs" / f"leg_K_{end}.sto", model=leg)
            for name in names:
                found = np.interp(theirs.time, ours[end].time, ours[end][name])  # times are a little different ones
                assert_allclose(
                    found[1:-1], theirs[name][1:-1], atol=part * np.abs(theirs[name]).max(), err_msg=f"{name} {end}"
                )


def test_runs_are_saved_as_opensims_states(leg, tmp_path, monkeypatch, capsys):
    """With its names of all state variables, which its models and `mobod analyze` take; of other models they are refused."""
    opensim = pytest.importorskip("opensim")
    opensim.Logger.setLevelString("off")
    monkeypatch.chdir(tmp_path)
    assert main(["simulate", str(LEG), "--equilibrate", "--time", "0.005", "--output", "states.sto", "--quiet"]) == 0
    saved, theirs = mb.read_sto("states.sto"), opensim.Model(str(LEG))
    theirs.initSystem()
    names = theirs.getStateVariableNames()
    assert set(saved.labels) == {names.get(k) for k in range(names.getSize())}
    state = leg.default_state()
    leg.equilibrate_muscles(state)
    soleus = leg.muscles["soleus_r"]
    assert_allclose(saved["/forceset/soleus_r/fiber_length"][0], soleus.get_state_variable(state, "fiber_length"), rtol=1e-9)
    assert saved.time[-1] == 0.005
    assert main(["simulate", "double_pendulum", "--output", "states.sto"]) == 2
    assert "must end in .npz" in capsys.readouterr().err


def test_a_run_begins_with_a_file_of_states_and_has_the_forces_of_files(tmp_path, monkeypatch, capsys):
    """As OpenSim's ForwardTool simulates again what computed muscle control has found."""
    monkeypatch.chdir(tmp_path)
    Path("motors.xml").write_text(
        "<OpenSimDocument Version='40000'><ForceSet><objects><CoordinateActuator name='motor'>"
        "<coordinate>knee_angle_r</coordinate><optimal_force>50</optimal_force></CoordinateActuator>"
        "</objects></ForceSet></OpenSimDocument>"
    )
    time = np.array([0.3, 0.4])
    mb.write_sto("controls.sto", mb.Table(time, {"motor": [0.5, 0.5]}))
    mb.write_sto("states.sto", mb.Table(time, {"knee_angle_r/value": [-0.5, 0.0], "knee_angle_r/speed": [2.0, 0.0]}))
    run = ["simulate", str(LEG), "--controls", "controls.sto", "--equilibrate", "--time", "0.005", "--quiet"]
    assert main(run) == 2
    assert "no such actuator" in (told := capsys.readouterr().err) and "--actuators, adds those of a file" in told
    assert main([*run, "--actuators", "motors.xml", "--states", "states.sto", "--output", "o.sto"]) == 0
    found = mb.read_sto("o.sto")
    knee = next(label for label in found.labels if label.endswith("knee_angle_r/value"))
    assert found.time[0] == 0.3 and abs(found[knee][0] + 0.5) < 1e-12 and found[knee.replace("value", "speed")][0] == 2.0
    assert main(["simulate", "double_pendulum", "--states", "states.sto"]) == 2
    assert "--states is for OpenSim files" in capsys.readouterr().err


def test_powers_and_moments_add_up(leg, states, tmp_path):
    """What fiber and tendon give off is what the muscle does; moments are arms times tensions; damping takes active power."""
    (tmp_path / "damped.osim").write_text(LEG.read_text().replace("Thelen2003Muscle", "Millard2012EquilibriumMuscle"))
    damped = mb.analyze_muscles(tmp_path / "damped.osim", states)
    for name in ("soleus_r", "rect_fem_r"):
        short = damped["NormalizedFiberLength"][name] < 1.0  # where passive fibers do not pull
        assert short.any() and not damped["FiberPassivePower"][name][short].any()
        assert np.abs(damped["PassiveFiberForce"][name][short]).min() > 1.0  # their damping does
    for name, found in [(name, one) for one in (mb.analyze_muscles(leg, states), damped) for name in leg.muscles]:
        parts = [found[f"{what}Power"][name] for what in ("FiberActive", "FiberPassive", "Tendon")]
        assert_allclose(
            sum(parts), found["MuscleActuatorPower"][name], rtol=1e-9, atol=1e-9 * max(np.abs(p).max() for p in parts)
        )
        arm, moment = found["MomentArm_ankle_angle_r"][name], found["Moment_ankle_angle_r"][name]
        assert_allclose(moment, arm * found["TendonForce"][name])
    still = mb.analyze_muscles(leg, states, equilibrate=True, muscles=["soleus_r"], coordinates=[], start=0.1, end=0.3)
    assert_allclose(still["FiberVelocity"]["soleus_r"], 0.0, atol=1e-8)
    assert_allclose(still.time, [0.1, 0.2, 0.3])


def test_of_two_rows_at_one_time_the_later_counts(leg, states):
    """As OpenSim's tools write where a run ends."""
    twice = [0, 1, 2, 3, 3, 4]
    table = mb.Table(states.time[twice] - [0, 0, 0, 1e-12, 0, 0], {one: states[one][twice] for one in states.labels})
    for analysis in (mb.joint_reactions, mb.biomechanics.actuation):
        found, once = (analysis(leg, one) for one in (table, states))
        found, once = (one if isinstance(one, dict) else {"": one} for one in (found, once))
        for key, wanted in once.items():
            assert len(found[key]) == len(states)
            for label in wanted.labels:
                assert_allclose(found[key][label], wanted[label], atol=0.0)


def test_induced_accelerations_are_what_is_missing_without_a_force(leg, states):
    """Forces act one by one: without a muscle the accelerations are less by what it induces, constraints and all."""
    found = mb.induced_accelerations(leg, states, end=0.0)
    state = leg.default_state()
    rows = mb.analyze_muscles(leg, states, muscles=["rect_fem_r"], coordinates=[], end=0.0)
    from mobod.biomechanics.states import MotionRows

    (now,) = MotionRows(leg, states, state).within(-1.0, 0.0)
    leg.system.realize(now)
    whole = now.u_dot.copy()
    leg.muscles["rect_fem_r"].disable(now)
    leg.system.realize(now)
    without = now.u_dot.copy()
    leg.muscles["rect_fem_r"].enable(now)
    leg.gravity.disable(now)
    leg.system.realize(now)
    floating = now.u_dot.copy()
    assert rows["TendonForce"]["rect_fem_r"][0] > 0.0
    for name, k in leg.speeds.items():
        table = found[name]
        scale = np.abs(whole).max()
        assert_allclose(table["total"][0], whole[k], atol=1e-9 * scale)
        assert_allclose(table["rect_fem_r"][0], (whole - without)[k], atol=1e-9 * scale)
        assert_allclose(table["gravity"][0], (whole - floating)[k], atol=1e-9 * scale)
        assert_allclose(sum(table[label] for label in table.labels if label != "total"), table["total"], atol=1e-9 * scale)


def test_given_forces_press_the_joints(leg, states):
    """Forces of a file act in place of those of states: with those of the states the reactions are the same."""
    forces = mb.analyze_muscles(leg, states, coordinates=[])["TendonForce"]
    by_states = mb.joint_reactions(leg, states, joints=["knee_r"])
    by_forces = mb.joint_reactions(leg, states, forces=forces, joints=["knee_r"])
    for label in by_states.labels:
        assert_allclose(by_forces[label], by_states[label], rtol=1e-8, atol=1e-6)
    assert len(leg.muscles) == 9


def test_what_is_not_there_is_named(leg, states, tmp_path, capsys):
    with pytest.raises(ValueError, match="no muscle 'soleus'"):
        mb.analyze_muscles(leg, states, muscles=["soleus"])
    with pytest.raises(ValueError, match="no coordinate 'knee'"):
        mb.analyze_muscles(leg, states, coordinates=["knee"])
    with pytest.raises(ValueError, match="no coordinate 'knee'"):
        mb.induced_accelerations(leg, states, coordinates=["knee"])
    with pytest.raises(mb.ModelError, match="no moving joint 'knee'"):
        mb.joint_reactions(leg, states, joints=["knee"])
    with pytest.raises(mb.ModelError, match="no frame 'tibia'"):
        mb.joint_reactions(leg, states, joints=["knee_r"], frame="tibia")
    with pytest.raises(mb.ModelError, match="forces has no column of a muscle"):
        mb.joint_reactions(leg, states, forces=mb.Table([0.0, 1.0], {"x": [1.0, 2.0]}))
    with pytest.raises(KeyError, match="no quantity 'Fiber'"):
        mb.analyze_muscles(leg, states, coordinates=[])["Fiber"]
    with pytest.raises(ValueError, match="the motion has no time between 3 and 4"):
        mb.analyze_muscles(leg, states, start=3.0, end=4.0)
    rod = """<ConstantDistanceConstraint name="rod"><socket_body_1>/ground</socket_body_1><socket_body_2>/bodyset/pelvis
    </socket_body_2><location_body_1>0 0 0</location_body_1><location_body_2>0 0 0</location_body_2>
    <constant_distance>{}</constant_distance></ConstantDistanceConstraint>"""
    mb.write_sto(tmp_path / "still.sto", mb.Table([0.0, 0.1], {"pelvis_tx": [0.3, 0.3], "pelvis_ty": [0.4, 0.4]}))
    head, rest = LEG.read_text().split("<CoordinateCouplerConstraint", 1)
    state = leg.default_state()
    state.upd_q()[[leg.coordinates["pelvis_tx"], leg.coordinates["pelvis_ty"]]] = 0.3, 0.4
    leg.system.realize(state, mb.Stage.POSITION)
    apart = float(np.linalg.norm(leg.bodies["pelvis"].get_body_transform(state).p))
    for distance, says in ((apart, False), (apart + 0.2, True)):
        (tmp_path / "rod.osim").write_text(f"{head}{rod.format(distance)}<CoordinateCouplerConstraint{rest}")
        files = [str(tmp_path / name) for name in ("rod.osim", "still.sto")]
        assert main(["analyze", *files, "--kinematics", "--results", str(tmp_path)]) == 0
        assert ("misses the model's constraints by up to" in capsys.readouterr().out) is says
    assert main(["analyze", str(LEG), "nowhere.sto"]) == 2
    assert "--results FOLDER" in capsys.readouterr().err
    broken = tmp_path / "setup.xml"
    broken.write_text("<OpenSimDocument><AnalyzeTool><AnalysisSet><objects/></AnalysisSet></AnalyzeTool></OpenSimDocument>")
    assert main(["analyze", str(broken)]) == 2
    assert "StaticOptimization and Kinematics" in capsys.readouterr().err


@pytest.mark.parametrize("method", ["umberger2010", "bhargava2004"])
def test_metabolic_power_is_that_of_opensims_probe(leg, states, method, tmp_path):
    """At random states, with random parts of slow fibers."""
    opensim = pytest.importorskip("opensim")
    opensim.Logger.setLevelString("off")
    rng = np.random.default_rng(4)
    theirs = opensim.Model(str(LEG))
    name = {"umberger2010": "Umberger2010", "bhargava2004": "Bhargava2004"}[method]
    probe = getattr(opensim, f"{name}MuscleMetabolicsProbe")()
    probe.set_report_total_metabolics_only(False)
    slow = {muscle: float(rng.uniform(0.2, 0.8)) for muscle in leg.muscles}
    excitations = {muscle: float(rng.uniform(0.0, 1.0)) for muscle in leg.muscles}
    for muscle, part in slow.items():
        probe.addMuscle(muscle, part, *(() if method == "umberger2010" else (40.0, 133.0, 74.0, 111.0)))
    theirs.addProbe(probe)
    now = theirs.initSystem()
    begin = leg.default_state()
    for muscle, e in excitations.items():
        leg.muscles[muscle].set_excitation(begin, e)
    found = mb.biomechanics.metabolic_power(leg, states, method=method, slow_fibers=slow, state=begin)
    controls = opensim.Vector(theirs.getNumControls(), 0.0)
    for i in range(len(states)):
        for label in states.labels:
            theirs.setStateVariableValue(now, label, float(states[label][i]))
        theirs.assemble(now)
        theirs.realizeVelocity(now)
        for muscle, e in excitations.items():
            theirs.getMuscles().get(muscle).setControls(opensim.Vector(1, e), controls)
        theirs.setControls(now, controls)
        theirs.realizeDynamics(now)
        own = opensim.Probe.safeDownCast(theirs.getProbeSet().get(0))
        theirs.realizeReport(now)
        values = own.getProbeOutputs(now)
        expected = [values.get(k) for k in range(values.size())]
        ours = [found[label][i] for label in ("total", "basal", *leg.muscles)]
        assert_allclose(ours, expected, rtol=1e-6, atol=1e-4)


def test_wrong_methods_and_parts_of_slow_fibers_are_refused(leg, states):
    power = mb.biomechanics.metabolic_power
    with pytest.raises(ValueError, match="method has to be 'umberger2010' or 'bhargava2004', not 'hill'"):
        power(leg, states, method="hill")
    with pytest.raises(ValueError, match="slow_fibers has 'soleus'"):
        power(leg, states, slow_fibers={"soleus": 0.4})
    with pytest.raises(mb.ModelError, match="slow_fibers of 'bifemlh_r'"):
        power(leg, states, slow_fibers=1.5)
    with pytest.raises(mb.ModelError, match="mass of 'soleus_r'"):
        power(leg, states, masses={"soleus_r": 0.0})


POINTS = """<OpenSimDocument Version="40600"><Model name="two"><BodySet><objects><Body name="a"><mass>1</mass>
<mass_center>0 0 0</mass_center><inertia>0.1 0.1 0.1 0 0 0</inertia></Body></objects></BodySet><JointSet><objects>
<PinJoint name="j"><socket_parent_frame>/ground</socket_parent_frame>
<socket_child_frame>/bodyset/a</socket_child_frame><coordinates>
<Coordinate name="q"><default_value>0.4</default_value></Coordinate></coordinates></PinJoint></objects></JointSet>
<ForceSet><objects><PointToPointSpring name="s"><socket_body1>/ground</socket_body1><socket_body2>/bodyset/a</socket_body2>
<point1>0.3 0 0.1</point1>
<point2>0.1 0.2 0</point2><stiffness>10</stiffness><rest_length>0.1</rest_length></PointToPointSpring></objects></ForceSet>
</Model></OpenSimDocument>"""


def test_records_of_forces_between_points_are_opensims(tmp_path):
    opensim = pytest.importorskip("opensim")
    opensim.Logger.setLevelString("off")
    (tmp_path / "two.osim").write_text(POINTS)
    theirs, ours = opensim.Model(str(tmp_path / "two.osim")), mb.load_osim(tmp_path / "two.osim")
    now = theirs.initSystem()
    theirs.realizeAcceleration(now)
    spring = theirs.getForceSet().get("s")
    labels, values = spring.getRecordLabels(), spring.getRecordValues(now)
    found = mb.biomechanics.forces_over(ours, mb.Table(np.linspace(0.0, 1.0, 6), {"q": np.full(6, 0.4)}))
    assert list(found.labels) == [labels.get(i) for i in range(labels.size())]
    row = [found[label][2] for label in found.labels]
    assert_allclose(row, [values.get(i) for i in range(values.size())], atol=1e-12)


def _prescribed(name, in_ground, point_in_ground, *given):
    made = ""
    for k, what in enumerate(("force", "point", "torque")):
        lines = "".join(
            f"<LinearFunction><coefficients>{k + 1} {0.3 * j - 0.2}</coefficients></LinearFunction>" for j in range(3)
        )
        made += f'<FunctionSet name="{what}Functions"><objects>{lines if what in given else ""}</objects></FunctionSet>'
    flags = f"<pointIsGlobal>{point_in_ground}</pointIsGlobal><forceIsGlobal>{in_ground}</forceIsGlobal>".lower()
    return f'<PrescribedForce name="{name}"><socket_frame>/bodyset/a</socket_frame>{flags}{made}</PrescribedForce>'


def test_loads_of_files_are_recorded_behind_the_models_forces(tmp_path):
    """By OpenSim's labels: force and torque in Ground, the point in the body."""
    time = np.linspace(0.0, 1.0, 6)
    rows = {f"f_{what}{axis}": time + k for k, (what, axis) in enumerate(itertools.product(("v", "p"), "xyz"))}
    mb.write_sto(tmp_path / "plate.sto", mb.Table(time, rows))
    (tmp_path / "loads.xml").write_text(
        "<OpenSimDocument Version='30000'><ExternalLoads><objects><ExternalForce name='right'>"
        "<applied_to_body>calcn_r</applied_to_body><force_expressed_in_body>ground</force_expressed_in_body>"
        "<point_expressed_in_body>ground</point_expressed_in_body><force_identifier>f_v</force_identifier>"
        "<point_identifier>f_p</point_identifier></ExternalForce></objects><datafile>plate.sto</datafile>"
        "</ExternalLoads></OpenSimDocument>"
    )
    leg = mb.load_osim(LEG, external_loads=tmp_path / "loads.xml")
    still = mb.Table(time, {"knee_angle_r": np.full(6, -0.3)})
    found = mb.biomechanics.forces_over(leg, still, equilibrate=True)
    assert list(found.labels)[-6:] == [f"calcn_r_right_{what}{axis}" for what in "Fp" for axis in "xyz"]
    assert_allclose([found[f"calcn_r_right_F{axis}"][2] for axis in "xyz"], [0.4, 1.4, 2.4], atol=1e-12)
    state = leg.default_state()
    q = np.array(state.q)
    q[leg.coordinates["knee_angle_r"]] = -0.3
    state.q = q
    leg.system.realize(state, mb.Stage.POSITION)
    place = [found[f"calcn_r_right_p{axis}"][2] for axis in "xyz"]
    on_foot = leg.bodies["calcn_r"].find_station_location_in_ground(state, place)
    assert_allclose(on_foot, [3.4, 4.4, 5.4], atol=1e-9)


def test_records_of_prescribed_forces_are_opensims(tmp_path):
    """Force and torque in Ground, the point in the body, though labels say otherwise; nothing of what has no functions."""
    opensim = pytest.importorskip("opensim")
    opensim.Logger.setLevelString("off")
    whole = "force", "point", "torque"
    forces = _prescribed("all", True, False, *whole) + _prescribed("one", False, False, "force")
    forces += _prescribed("turn", False, True, "torque") + _prescribed("far", False, True, *whole)
    text = re.sub("<ForceSet>.*</ForceSet>", f"<ForceSet><objects>{forces}</objects></ForceSet>", POINTS, flags=re.DOTALL)
    (tmp_path / "two.osim").write_text(text)
    theirs, ours = opensim.Model(str(tmp_path / "two.osim")), mb.load_osim(tmp_path / "two.osim")
    now = theirs.initSystem()
    now.setTime(0.4)
    theirs.realizeAcceleration(now)
    found = mb.biomechanics.forces_over(ours, mb.Table(np.linspace(0.0, 1.0, 6), {"q": np.full(6, 0.4)}))
    labels, values = [], []
    for name in ("all", "one", "turn", "far"):
        one = opensim.PrescribedForce.safeDownCast(theirs.getForceSet().get(name))
        record = one.getRecordLabels(), one.getRecordValues(now)
        labels += [record[0].get(i) for i in range(record[0].size())]
        values += [record[1].get(i) for i in range(record[1].size())]
    assert list(found.labels) == labels and len(labels) == 24
    assert_allclose([found[label][2] for label in labels], values, atol=1e-12)
