"""Generalized forces and reactions: those that bring about the motion, by the equations of motion themselves."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import CubicSpline
from test_inverse_kinematics import leg, motion_of

import mobod as mb
from mobod.biomechanics import Applied, ExternalForce
from mobod.cli.main import main

TIME = 0.01 * np.arange(60)


@pytest.fixture(scope="module")
def moved():
    model = leg()
    return model, mb.Table(TIME, dict(zip(model.coordinates, motion_of(model, TIME).T, strict=True)))


def loads_of(rng):
    return mb.Table(
        TIME,
        {
            "plate_v": np.stack([20.0 * np.sin(TIME), 300.0 + 50.0 * np.cos(5.0 * TIME), 10.0 * TIME], axis=1),
            "plate_px": 0.1 * TIME,
            "plate_py": 0.0 * TIME,
            "plate_pz": 0.05 + 0.0 * TIME,
            "plate_m": rng.normal(size=3) * np.ones((60, 1)),
        },
    )


FOOT = Applied(body="foot", force="plate_v", point="plate_p", torque="plate_m")


def test_the_forces_bring_about_the_motion(moved, rng):
    """With these generalized forces, and the loads as forces on the body, forward dynamics gives the accelerations again."""
    model, table = moved
    loads = loads_of(rng)
    found = mb.inverse_dynamics(model, table, loads, applied=[FOOT])
    assert found.forces.labels[:2] == ("list_moment", "turn_moment") and "tx_force" in found.forces.labels
    state, foot = model.default_state(), model.bodies["foot"]
    system, matter = model.system, model.matter
    for i in (0, 17, 59):
        state.q, state.u = found.q[i], found.u[i]
        system.realize(state, mb.Stage.DYNAMICS)
        f = np.array([found.forces[label][i] for label in found.forces.labels])
        F = np.zeros((5, 2, 3))
        point = [loads[f"plate_p{axis}"][i] for axis in "xyz"]
        F[foot.index, 1] = loads["plate_v"][i]
        F[foot.index, 0] = loads["plate_m"][i] + np.cross(point - foot.get_body_origin_location(state), loads["plate_v"][i])
        u_dot, _ = matter.calc_acceleration(
            state, f + system.get_mobility_forces(state), F + system.get_rigid_body_forces(state)
        )
        assert_allclose(u_dot, found.u_dot[i], atol=1e-8)


def test_a_model_with_a_part_in_python_takes_the_same(moved, rng):
    """Row by row, as its forces are called; other models are solved in one compiled loop."""

    class Nothing(mb.force.CustomImplementation):
        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            calls.append(state.time)

    model, table = moved
    calls, other, loads = [], leg(), loads_of(rng)
    mb.force.Custom(other.forces, Nothing())
    found, same = (mb.inverse_dynamics(one, table, loads, applied=[FOOT]) for one in (model, other))
    assert len(calls) >= len(TIME)
    for label in found.forces:
        assert_allclose(found.forces[label], same.forces[label], rtol=1e-11, atol=1e-9)
    transmitted, expected = found.reactions(), same.reactions()
    for label in transmitted.labels:
        assert_allclose(transmitted[label], expected[label], rtol=1e-11, atol=1e-9)


def test_accelerations_are_those_of_the_splines(moved):
    model, table = moved
    found = mb.inverse_dynamics(model, table)
    knee = model.coordinates["knee"]
    spline = mb.function.GCVSpline(5, TIME, table["knee"])
    assert_allclose(found.u[:, knee], spline.calc_derivative([0], TIME[:, None]), atol=1e-9)
    assert_allclose(found.u_dot[:, knee], spline.calc_derivative([0, 0], TIME[:, None]), atol=1e-6)
    ends = mb.inverse_dynamics(model, table, start=0.1, end=0.2)
    assert len(ends.time) == 11
    assert_allclose(ends.forces["knee_moment"], found.forces["knee_moment"][10:21], rtol=1e-12)


@pytest.mark.parametrize("n", [4, 5, 300])
def test_loads_between_their_times_are_those_of_natural_splines(rng, n):
    """What holds the pelvis up, less what holds it up without the load, is the load: SciPy's splines, at uneven times."""
    model, time = leg(), np.sort(rng.uniform(0.1, 0.9, n))
    still = mb.Table(np.linspace(0.0, 1.0, 83), {name: np.zeros(83) for name in model.coordinates})
    push = ExternalForce(name="push", body="foot", time=time, force=1e3 * rng.normal(size=(n, 3)))
    alone, pushed = (mb.inverse_dynamics(model, still, loads).forces["ty_force"] for loads in (None, [push]))
    there = (still.time >= time[0]) & (still.time <= time[-1])
    expected = np.where(there, CubicSpline(time, push.force[:, 1], bc_type="natural")(still.time), 0.0)
    assert_allclose(alone - pushed, expected, rtol=1e-10, atol=1e-11 * np.abs(expected).max())


def test_default_states_are_one_s_own_and_of_the_present_topology():
    model = leg()
    first = model.default_state()
    q = first.q.copy()
    first.upd_q()[:] = 1.0
    again = model.default_state()
    assert np.array_equal(again.q, q) and again.stage is mb.Stage.MODEL
    model.bodies["shank"].set_default_q([0.25])
    model.system.realize_topology()  # by somebody else
    assert model.default_state().q[model.coordinates["knee"]] == 0.25
    assert pickle.loads(pickle.dumps(model)).default_state().q[model.coordinates["knee"]] == 0.25


def test_reactions_are_those_of_the_matter(moved):
    """Where the generalized forces are applied to the joints, what these transmit is their reaction."""
    model, table = moved
    found = mb.inverse_dynamics(model, table)
    state = model.default_state()
    i = 23
    state.q, state.u = found.q[i], found.u[i]
    drive = leg()
    forces = mb.force.DiscreteForces(drive.forces, drive.matter)
    own = drive.default_state()
    own.q, own.u = found.q[i], found.u[i]
    forces.set_all_mobility_forces(own, [found.forces[label][i] for label in found.forces.labels])
    drive.system.realize(own, mb.Stage.ACCELERATION)
    assert_allclose(own.u_dot, found.u_dot[i], atol=1e-8)
    expected = drive.matter.calc_mobilizer_reaction_forces(own)
    for name, body in drive.bodies.items():
        got = found.reaction(name)
        assert_allclose(got["moment"][i], expected[body.index, 0], atol=1e-8)
        assert_allclose(got["force"][i], expected[body.index, 1], atol=1e-8)
        R = np.asarray(body.get_body_rotation(own))
        assert_allclose(found.reaction(name, frame="child")["force"][i], R.T @ expected[body.index, 1], atol=1e-8)
        parent = found.reaction(name, frame=model.bodies[name], on="parent", at="joint")
        assert_allclose(parent["force"][i], -R.T @ expected[body.index, 1], atol=1e-8)
    both = found.reactions()
    assert both.labels[:2] == ("pelvis_force", "pelvis_moment")
    knee = found.reaction("shank", frame="parent")["moment"][:, 2]
    assert_allclose(knee, found.forces["knee_moment"], atol=1e-9)


def test_standing_still_the_plate_carries_the_weight():
    model = leg()
    still = mb.Table(TIME, {name: np.zeros(60) for name in model.coordinates})
    held = mb.inverse_dynamics(model, still)
    weight = 4 * 3.0 * 9.81
    assert_allclose(held.forces["ty_force"], weight, rtol=1e-9)
    force = ExternalForce(name="floor", body="foot", time=TIME, force=np.tile([0.0, weight, 0.0], (60, 1)))
    stands = mb.inverse_dynamics(model, still, [force])
    assert_allclose(stands.forces["ty_force"], 0.0, atol=1e-9)
    # the same force, expressed in the foot and in no place but its origin
    turned = ExternalForce(
        name="floor", body="foot", time=TIME, force=force.force, force_in="foot", point_in="foot", point=0 * force.force
    )
    assert_allclose(mb.inverse_dynamics(model, still, [turned]).forces["ty_force"], 0.0, atol=1e-9)


XML = """<?xml version="1.0"?><OpenSimDocument Version="40000"><ExternalLoads name="x"><objects>
<ExternalForce name="right"><applied_to_body>foot</applied_to_body>
<force_expressed_in_body>ground</force_expressed_in_body><point_expressed_in_body>ground</point_expressed_in_body>
<force_identifier>plate_v</force_identifier><point_identifier>plate_p</point_identifier>
<torque_identifier>plate_m</torque_identifier></ExternalForce>
<ExternalForce name="off"><isDisabled>true</isDisabled><applied_to_body>nobody</applied_to_body></ExternalForce>
</objects><datafile>loads.mot</datafile></ExternalLoads></OpenSimDocument>
"""


def test_a_file_of_external_loads(moved, rng, tmp_path):
    model, table = moved
    loads = loads_of(rng)
    expected = mb.inverse_dynamics(model, table, loads, applied=[FOOT]).forces
    mb.write_sto(tmp_path / "loads.mot", loads.split())
    (tmp_path / "loads.xml").write_text(XML)
    found = mb.inverse_dynamics(model, table, tmp_path / "loads.xml").forces
    for label in expected:
        assert_allclose(found[label], expected[label], rtol=1e-9, atol=1e-9)
    assert mb.inverse_dynamics(model, table, tmp_path / "loads.mot", applied=[FOOT]).forces["knee_moment"][3] == pytest.approx(
        expected["knee_moment"][3]
    )
    split = loads.split()  # OpenSim takes the three columns that begin so, whatever they end in
    mb.write_sto(
        tmp_path / "loads.mot", mb.Table(split.time, {f"{one[:-1]}{one[-1].upper()}": split[one] for one in split.labels})
    )
    ends = mb.inverse_dynamics(model, table, tmp_path / "loads.xml").forces
    assert_allclose(ends["knee_moment"], found["knee_moment"], rtol=1e-12, atol=1e-12)
    columns = {f"{one[:-1]}{one[-1].upper()}": split[one] for one in split.labels} | {"plate_v4": split["plate_vx"]}
    mb.write_sto(tmp_path / "loads.mot", mb.Table(split.time, columns))
    with pytest.raises(ValueError, match=r"no columns plate_vx.*plate_v"):  # which three it is then is not known
        mb.inverse_dynamics(model, table, tmp_path / "loads.xml")
    mb.write_sto(tmp_path / "loads.mot", split)
    for old, new, kind, message in (
        ("loads.mot", "other.mot", FileNotFoundError, "that .*loads.xml names is not there"),
        ("plate_v", "plat_v", ValueError, "loads.xml: the loads have no columns plat_vx.*plate_vx"),
        ("<applied_to_body>foot<", "<applied_to_body>hand<", ValueError, "'right' names the body 'hand'"),
        ("<applied_to_body>foot</applied_to_body>", "", mb.ModelError, "loads.xml:2: this <ExternalForce> names no"),
        ("ExternalLoads", "Loads", mb.ModelError, "no <ExternalLoads> in this file"),
        ("<datafile>loads.mot</datafile>", "", mb.ModelError, "name no <datafile>"),
    ):
        (tmp_path / "loads.xml").write_text(XML.replace(old, new))
        with pytest.raises(kind, match=message):
            mb.inverse_dynamics(model, table, tmp_path / "loads.xml")


def test_filters_take_away_noise(moved, rng):
    model, table = moved
    noisy = table.with_columns({"knee": table["knee"] + 1e-3 * rng.normal(size=60)})
    expected = mb.inverse_dynamics(model, table).forces["knee_moment"]
    raw, *filtered = (
        mb.inverse_dynamics(model, noisy, **options).forces["knee_moment"]
        for options in ({}, {"cutoff": 6.0}, {"cutoff": 6.0, "filter": "opensim"})
    )
    for one in filtered:
        assert np.std((one - expected)[10:-10]) < 0.1 * np.std((raw - expected)[10:-10])


def test_what_is_wrong_is_named(moved):
    model, table = moved
    with pytest.raises(ValueError, match="no column is a coordinate of 'leg'"):
        mb.inverse_dynamics(model, table.renamed({name: f"x{name}" for name in table}))
    with pytest.raises(ValueError, match="gaps; fill them first"):
        mb.inverse_dynamics(model, table.with_columns({"knee": np.full(60, np.nan)}))
    with pytest.raises(ValueError, match="needs applied="):
        mb.inverse_dynamics(model, table, table)
    with pytest.raises(ValueError, match="'butterworth' or 'opensim', not 'none'"):
        mb.inverse_dynamics(model, table, filter="none")
    with pytest.raises(ValueError, match="no time between 9 and 10"):
        mb.inverse_dynamics(model, table, start=9, end=10)
    with pytest.raises(TypeError, match="the motion is a Trajectory, a Table"):
        mb.inverse_dynamics(model, 3)
    found = mb.inverse_dynamics(model, table.only(["knee"]))
    assert len(found.notes) == 1 and "10 coordinates are not in the file" in found.notes[0]
    with pytest.raises(ValueError, match="on has to be 'child' or 'parent', not 'both'"):
        found.reaction("foot", on="both")
    with pytest.raises(ValueError, match="Ground has no joint"):
        found.reaction(0)


PENDULUM = """<OpenSimDocument Version="40600"><Model name="pendulum"><BodySet name="bodyset"><objects><Body name="rod">
<mass>2</mass><mass_center>0.1 -0.4 0</mass_center><inertia>0.3 0.2 0.3 0 0 0</inertia></Body></objects></BodySet>
<JointSet name="jointset">
<objects><PinJoint name="pin"><socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/rod
</socket_child_frame><coordinates><Coordinate name="q"/></coordinates></PinJoint></objects></JointSet>
<ForceSet name="forceset"><objects><SpringGeneralizedForce name="stiff"><coordinate>q</coordinate><stiffness>7</stiffness>
</SpringGeneralizedForce><SpringGeneralizedForce name="soft"><coordinate>q</coordinate><stiffness>2</stiffness>
</SpringGeneralizedForce></objects></ForceSet></Model></OpenSimDocument>"""
TOOL = """<OpenSimDocument Version="40600"><InverseDynamicsTool name="id"><model_file>pendulum.osim</model_file>
<results_directory>.</results_directory><forces_to_exclude>{}</forces_to_exclude><coordinates_file>swing.mot</coordinates_file>
<output_gen_force_file>{}.sto</output_gen_force_file></InverseDynamicsTool></OpenSimDocument>"""


def test_forces_that_a_setup_file_excludes_are_left_out_as_by_opensims_tool(tmp_path, monkeypatch, capsys):
    opensim = pytest.importorskip("opensim")
    opensim.Logger.setLevelString("Off")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pendulum.osim").write_text(PENDULUM)
    time = np.linspace(0.0, 0.5, 51)
    mb.write_sto("swing.mot", mb.Table(time, {"q": 0.3 * np.sin(5.0 * time)}))
    found = []
    for excluded in ("muscles", "muscles stiff", "all"):
        for name in ("theirs", "ours"):
            (tmp_path / f"{name}.xml").write_text(TOOL.format(excluded, name))
        assert opensim.InverseDynamicsTool("theirs.xml").run()
        assert main(["id", "ours.xml", "--quiet"]) == 0
        found.append(mb.read_sto("ours.sto")["q_moment"])
        assert_allclose(found[-1], mb.read_sto("theirs.sto")["q_moment"], atol=1e-5)
    assert np.abs(found[0] - found[1]).max() > 1.0 and np.abs(found[1] - found[2]).max() > 0.3
    for name, run in (("bare_of_theirs", opensim.InverseDynamicsTool), ("bare", None)):  # without .sto, which both add
        (tmp_path / f"{name}.xml").write_text(TOOL.format("all", name).replace(".sto</output", "</output"))
        assert run(f"{name}.xml").run() if run else main(["id", f"{name}.xml", "--quiet"]) == 0
        assert_allclose(mb.read_sto(f"{name}.sto")["q_moment"], found[-1], atol=1e-5)
    (tmp_path / "ours.xml").write_text(TOOL.format("stif", "ours"))  # OpenSim says nothing
    assert main(["id", "ours.xml"]) == 0
    assert "'stif', and the model has no such force; did you mean stiff" in capsys.readouterr().out
    assert_allclose(mb.read_sto("ours.sto")["q_moment"], found[0], rtol=1e-12)
