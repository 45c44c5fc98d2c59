"""Static optimization: the problem's own conditions, SciPy, OpenSim's forces at full activation, and what cannot be."""

from importlib.resources import files

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import LinearConstraint, lsq_linear, minimize

import mobod as mb
from mobod.biomechanics import _dual_newton
from mobod.biomechanics._dual_newton import solve
from mobod.cli.main import main

LEG = files("mobod") / "examples" / "leg6dof9musc.osim"


@pytest.fixture(scope="module")
def leg():
    return mb.load_osim(LEG)


@pytest.fixture(scope="module")
def swing(leg):
    time = np.linspace(0.0, 0.5, 26)
    state = leg.default_state()
    rows = {name: np.full(26, float(state.q[k])) for name, k in leg.coordinates.items()}
    rows["hip_flexion_r"] = 0.3 + 0.2 * np.sin(5.0 * time)
    rows["knee_angle_r"] = -0.6 + 0.3 * np.sin(6.0 * time + 0.4)
    rows["ankle_angle_r"] = 0.1 * np.sin(7.0 * time)
    return mb.Table(time, rows)


#: What the conditions may miss, by the largest slope: of high powers, small activations hardly count.
MISSING = {1.1: 1e-11, 1.5: 1e-11, 2.0: 1e-11, 3.0: 1e-6, 4.0: 1e-6, 6.0: 1e-4, 10.0: 1e-3}


@pytest.mark.parametrize("p", [1.1, 1.5, 3.0, 4.0, 6.0, 10.0])
def test_powers_meet_their_conditions(p, rng):
    """Forty frames with reserves that no bound holds, muscles of very unlike strength, and some that are at their bounds."""
    nt, m, n = 40, 6, 20
    R = rng.normal(size=(nt, m, n)) * np.exp(rng.normal(size=n)) * 100.0 * (rng.random((1, m, n)) < 0.4)
    A = np.concatenate([R, 10.0 * np.broadcast_to(np.eye(m), (nt, m, m))], axis=2)
    low, high = np.append(np.full(n, 0.01), np.full(m, -np.inf)), np.append(np.ones(n), np.full(m, np.inf))
    inner = np.concatenate([rng.uniform(0.01, 1.0, (nt, n)), 0.2 * rng.normal(size=(nt, m))], axis=1)
    b = np.einsum("tmn,tn->tm", A, inner)
    a, missing = solve(A, b, low, high, np.ones(n + m), p)
    assert_allclose(missing, 0.0, atol=1e-8 * np.abs(b).max())
    slope = p * np.sign(a) * np.abs(a) ** (p - 1.0)
    for k in range(nt):
        at_low, at_high = a[k] <= low + 1e-9, a[k] >= high - 1e-9
        within = ~at_low & ~at_high
        y = np.linalg.lstsq(A[k][:, within].T, slope[k][within], rcond=None)[0]
        rest = (slope[k] - A[k].T @ y) / np.abs(slope[k]).max()
        assert np.abs(rest[within]).max(initial=0.0) < MISSING[p]
        assert (rest[at_low] > -MISSING[p]).all() and (rest[at_high] < MISSING[p]).all()


def test_a_frame_whose_first_problems_are_too_stiff_is_not_given_up(rng):
    """Of high powers, near the bounds, where curvatures of small activations are a millionth of those of large ones."""
    A = rng.normal(size=(30, 5, 9))
    low, high, inner = np.full(9, 0.01), np.ones(9), np.clip(rng.uniform(-0.1, 1.1, (30, 9)), 0.01, 1.0)
    b = np.einsum("tmn,tn->tm", A, inner)
    a, missing = solve(A, b, low, high, np.ones(9), 10.0)
    assert_allclose(missing, 0.0, atol=1e-8)
    for k in range(30):
        found = minimize(
            lambda x: (x**10).sum(), 0.9 * a[k] + 0.1 * inner[k], jac=lambda x: 10.0 * x**9, method="SLSQP",
            bounds=[(0.01, 1.0)] * 9, constraints=LinearConstraint(A[k], b[k], b[k]), options={"ftol": 1e-14, "maxiter": 500},
        )  # fmt: skip
        if np.abs(A[k] @ found.x - b[k]).max() < 1e-9:
            assert (a[k] ** 10).sum() <= (found.x**10).sum() * (1.0 + 1e-3) + 1e-12


def test_weak_reserves_of_light_bodies_take_what_muscles_at_their_bounds_leave(rng):
    """Accelerations of a chain whose last body is a thousandth of the first, by muscles 3,000 times as strong as reserves."""
    m, n = 6, 14
    B = np.eye(m) - np.eye(m, k=-1)
    inverse = B.T @ np.diag(np.logspace(0.0, 3.0, m)) @ B
    for _ in range(20):
        arms = 3000.0 * rng.normal(size=(m, n)) * (rng.random((m, n)) < 0.5)
        arms[-1] = 0.0
        A = inverse @ np.concatenate([arms, np.eye(m)], axis=1)
        low = np.append(rng.uniform(0.05, 0.6, n), np.full(m, -np.inf))
        high = np.append(low[:n] + rng.uniform(0.05, 0.3, n), np.full(m, np.inf))
        b = inverse @ (arms @ (low[:n] + rng.uniform(-0.3, 0.3, n)) + rng.normal(size=m))
        a, missing = solve(A[None], b[None], low, high, np.ones(m + n), 2.0)
        assert np.abs(missing).max() < 1e-7 * np.abs(b).max()
        found = lsq_linear(
            np.concatenate([arms, np.eye(n)]), np.concatenate([np.linalg.solve(inverse, b), np.zeros(n)]), (low[:n], high[:n]),
            method="bvls", tol=1e-15,
        )  # fmt: skip
        assert_allclose(a[0, :n], found.x, atol=1e-6)  # the same sum, the reserves being what is left


def test_cubes_beside_reserves_that_take_nearly_all_are_found_in_few_steps(rng, monkeypatch):
    """Muscles at their bounds, reserves a hundred times as large: halved, steps were ten to several hundred times as many."""
    m, n, asked, minimizer = 10, 18, [], _dual_newton._minimizer
    monkeypatch.setattr(_dual_newton, "_minimizer", lambda *given: asked.append(1) or minimizer(*given))
    arms = 50.0 * rng.normal(size=(12, m, n)) * (rng.random((12, m, n)) < 0.3)
    A = np.concatenate([arms, np.broadcast_to(10.0 * np.eye(m), (12, m, m))], axis=2)
    low, high = np.append(np.zeros(n), np.full(m, -np.inf)), np.append(np.ones(n), np.full(m, np.inf))
    b = 500.0 * rng.normal(size=(12, m))
    _, missing = solve(A, b, low, high, np.ones(m + n), 3.0)
    assert np.abs(missing).max() < 1e-6 * np.abs(b).max() and len(asked) < 2000


@pytest.mark.parametrize("p", [1.5, 2.0, 3.0, 6.0])
def test_sums_of_powers_are_least(p, rng):
    """Beside SciPy, and by the conditions of Karush, Kuhn and Tucker."""
    A, w = rng.normal(size=(4, 3, 9)), rng.uniform(0.5, 2.0, 9)
    inner = rng.uniform(0.1, 0.8, (4, 9))
    b = np.einsum("tmn,tn->tm", A, inner)
    low, high = np.full(9, 0.01), np.full(9, 1.0)
    a, missing = solve(A, b, low, high, w, p)
    assert_allclose(missing, 0.0, atol=1e-8)
    assert (a >= low).all() and (a <= high).all()
    for k in range(4):
        found = minimize(
            lambda x: (w * x**p).sum(), inner[k], jac=lambda x: w * p * x ** (p - 1.0), method="SLSQP",
            bounds=[(0.01, 1.0)] * 9, constraints=LinearConstraint(A[k], b[k], b[k]), options={"ftol": 1e-14, "maxiter": 500},
        )  # fmt: skip
        cost = (w * a[k] ** p).sum()
        assert cost <= (w * found.x**p).sum() * (1.0 + 1e-6) + 1e-9
        slope = w * p * a[k] ** (p - 1.0)
        within = (a[k] > 0.01 + 1e-9) & (a[k] < 1.0 - 1e-9)
        y = np.linalg.lstsq(A[k][:, within].T, slope[within], rcond=None)[0]
        rest = (slope - A[k].T @ y) / slope.max()
        assert_allclose(rest[within], 0.0, atol=MISSING[p])
        assert (rest[a[k] <= 0.01 + 1e-9] >= -MISSING[p]).all() and (rest[a[k] >= 1.0 - 1e-9] <= MISSING[p]).all()


def test_forces_make_the_motion(leg, swing):
    """Moment arms times forces and reserves are what inverse dynamics finds; the cost grows where passive forces push."""
    found = mb.static_optimization(leg, swing, reserve=50.0)
    taken = mb.inverse_dynamics(leg, swing)
    for name in ("pelvis_ty", "hip_flexion_r", "ankle_angle_r"):  # which no constraint couples
        place = leg.speeds[name]
        made = sum(found.moment_arms[muscle][:, place] * found.forces[muscle] for muscle in leg.muscles) + found.reserves[name]
        label = next(one for one in taken.forces.labels if one.startswith(f"{name}_"))
        assert_allclose(made, taken.forces[label], atol=1e-6 * np.abs(taken.forces[label]).max() + 1e-6)
    low, high = np.array([leg.data["control ranges"][name] for name in leg.muscles]).T
    a = np.stack([found.activations[name] for name in leg.muscles], axis=1)
    assert (a >= low).all() and (a <= high).all() and np.ptp(a) > 0.05
    cubes = mb.static_optimization(leg, swing, reserve=50.0, exponent=3.0)
    assert ((a**3).sum(axis=1) + sum((found.reserves[n] / 50.0) ** 3 for n in leg.speeds) != cubes.cost).any()
    busy = max(leg.muscles, key=lambda name: found.activations[name].sum())
    heavier = mb.static_optimization(leg, swing, reserve=50.0, weights={busy: 50.0})
    assert heavier.activations[busy].sum() < 0.9 * found.activations[busy].sum()
    passive = mb.static_optimization(leg, swing, reserve=50.0, passive_force=True)
    assert np.abs(passive.cost - found.cost).max() > 0.0
    flat = mb.static_optimization(leg, swing, reserve=50.0, muscle_physiology=False)
    assert_allclose(flat.forces[busy], flat.activations[busy] * leg.muscles[busy].get_default_max_isometric_force(), rtol=1e-12)


def test_forces_at_full_activation_are_opensims():
    """Along a rigid tendon, without pennation: with it, OpenSim takes the angle of the wrong length."""
    osim = pytest.importorskip("opensim")
    system, _ = mb.examples.double_pendulum.build()
    forces, (ground, upper, _) = system.forces, system.matter.bodies
    path = mb.force.transmission.StraightPath(forces, [([(ground, (0, 0, 0)), (upper, (0, 1, 0))], 1.0)])
    theirs = osim.Millard2012EquilibriumMuscle()
    ours = mb.muscle.Millard2012Equilibrium(forces, path, 800.0, 0.12, 0.2)
    active, force_velocity = theirs.getActiveForceLengthCurve(), theirs.getForceVelocityCurve()
    for length, speed in ((0.31, 0.1), (0.33, -0.3), (0.28, 0.0), (0.36, 0.6)):
        fiber, v = (length - 0.2) / 0.12, speed / (10.0 * 0.12)
        own, passive = ours.calc_rigid_tendon_forces(length, speed)
        wanted = 800.0 * active.calcValue(fiber) * force_velocity.calcValue(v)
        if fiber > 0.6:
            assert_allclose(own, wanted, rtol=2e-2)
        assert passive >= 0.0
    thelen = mb.muscle.Thelen2003(forces, path, 800.0, 0.12, 0.2)
    for v in (-1.5, -1.0, -0.4, 0.0, 0.2, 0.9, 1.5):  # the velocity that the kernel finds for that force
        force = float(thelen.FUNCTIONS.by_velocity(_pool(thelen), 0, np.float64(v)))
        from mobod.muscle.thelen2003 import fiber_velocity

        assert_allclose(fiber_velocity(_pool(thelen), 0, 1.0, np.float64(1.0), np.float64(force)), v, atol=1e-12)


def _pool(muscle):
    from types import SimpleNamespace

    return SimpleNamespace(force_numbers=np.array(muscle.default_numbers)[:, None])


def test_what_cannot_be_is_named(leg, swing):
    with pytest.raises(mb.ConvergenceError, match=r"at time 0 .*coordinate 'pelvis_t.* is missing \(26 of 26"):
        mb.static_optimization(leg, swing)
    with pytest.raises(ValueError, match="exponent has to be above 1"):
        mb.static_optimization(leg, swing, exponent=1.0)
    with pytest.raises(ValueError, match="did you mean soleus_r"):
        mb.static_optimization(leg, swing, weights={"soleus": 2.0}, reserve=1.0)
    with pytest.raises(ValueError, match="in order"):
        mb.static_optimization(leg, swing, bounds={"soleus_r": (1.0, 0.0)}, reserve=1.0)
    with pytest.raises(ValueError, match="reserve has the coordinate 'knee'"):
        mb.static_optimization(leg, swing, reserve={"knee": 2.0})
    with pytest.raises(mb.ModelError, match="no muscle that acts"):
        mb.static_optimization(mb.load_osim(LEG, muscles="data"), swing)


def test_the_command(leg, swing, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mb.write_sto("swing.sto", swing)
    assert main(["so", str(LEG), "swing.sto", "--reserve", "50", "--output", "a.sto", "--forces", "f.sto"]) == 0
    found, wanted = mb.read_sto("a.sto"), mb.static_optimization(leg, swing, reserve=50.0)
    assert_allclose(found["soleus_r"], wanted.activations["soleus_r"], atol=1e-6)
    assert_allclose(mb.read_sto("f.sto")["soleus_r"], wanted.forces["soleus_r"], rtol=1e-6, atol=1e-6)
    assert "soleus_r" in capsys.readouterr().out
    assert main(["so", str(LEG), "swing.sto"]) == 2
    assert "reserve" in capsys.readouterr().err


SPRING = """<SpringGeneralizedForce name="brace"><coordinate>knee_angle_r</coordinate><stiffness>2</stiffness>
<rest_length>-0.2</rest_length><viscosity>0</viscosity></SpringGeneralizedForce>"""
LOADS = """<OpenSimDocument Version="30000"><ExternalLoads><objects><ExternalForce name="right">
<applied_to_body>calcn_r</applied_to_body><force_expressed_in_body>ground</force_expressed_in_body>
<force_identifier>f</force_identifier></ExternalForce></objects><datafile>plate.sto</datafile></ExternalLoads></OpenSimDocument>"""


def test_what_is_switched_off_takes_no_part_and_what_else_acts_is_in_the_table(swing, tmp_path, monkeypatch):
    """A muscle with <appliesForce> false, as if its activation were bounded by 0; columns in OpenSim's order."""
    monkeypatch.chdir(tmp_path)
    mb.write_sto("swing.sto", swing)
    mb.write_sto("plate.sto", mb.Table(swing.time, {f"f{axis}": 10.0 * k + swing.time for k, axis in enumerate("xyz")}))
    (tmp_path / "loads.xml").write_text(LOADS)
    head, rest = LEG.read_text().split('<Thelen2003Muscle name="psoas_r">')
    for name, flag in (("on", "true"), ("off", "false")):
        muscle = f'{SPRING}<Thelen2003Muscle name="psoas_r"><appliesForce>{flag}</appliesForce>'
        (tmp_path / f"{name}.osim").write_text(head + muscle + rest)
    arguments = ["--loads", "loads.xml", "--reserve", "50", "--output", "a.sto", "--forces", "f.sto", "--quiet"]
    assert main(["so", "off.osim", "swing.sto", *arguments]) == 0
    found, forces = mb.read_sto("a.sto"), mb.read_sto("f.sto")
    wanted = mb.static_optimization("on.osim", swing, "loads.xml", reserve=50.0, bounds={"psoas_r": (0.0, 0.0)})
    assert abs(wanted.activations["rect_fem_r"]).max() > 0.05 and "psoas_r" not in found.labels
    for label in found.labels:
        assert_allclose(found[label], wanted.activations[label], atol=1e-9)
    labels, muscles = list(forces.labels), list(wanted.activations.labels)
    before = muscles.index("psoas_r")
    ends = [f"calcn_r_right_F{axis}" for axis in "xyz"]
    assert labels == [*muscles[:before], "brace_Force", *muscles[before + 1 :], *ends]
    assert_allclose(forces["brace_Force"], -2.0 * (swing["knee_angle_r"] + 0.2), atol=1e-9)
    assert_allclose(forces["calcn_r_right_Fy"], 10.0 + swing.time, atol=1e-9)
    assert_allclose(forces["soleus_r"], wanted.forces["soleus_r"], rtol=1e-6, atol=1e-6)


RESERVES = (
    """<OpenSimDocument Version="40000"><ForceSet name="reserves"><objects>{actuators}</objects></ForceSet></OpenSimDocument>"""
)
ONE = (
    '<CoordinateActuator name="{0}_reserve"><coordinate>{0}</coordinate><optimal_force>{1}</optimal_force></CoordinateActuator>'
)
SETUP = """<OpenSimDocument Version="40000"><AnalyzeTool name="walk"><model_file>{model}</model_file>
<results_directory>out</results_directory><force_set_files>reserves.xml</force_set_files><initial_time>0.1</initial_time><final_time>0.2</final_time>
<coordinates_file>swing.sto</coordinates_file><AnalysisSet><objects><StaticOptimization>
<use_muscle_physiology>false</use_muscle_physiology><activation_exponent>3</activation_exponent>
</StaticOptimization></objects></AnalysisSet></AnalyzeTool></OpenSimDocument>"""


@pytest.fixture
def folder(leg, swing, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mb.write_sto("swing.sto", swing)
    actuators = [ONE.format(name, 20.0 + k) for k, name in enumerate(leg.coordinates)]
    (tmp_path / "reserves.xml").write_text(RESERVES.format(actuators="".join(actuators)))
    (tmp_path / "so.xml").write_text(SETUP.format(model=LEG))
    return tmp_path


def test_setup_files_of_opensims_tool_are_what_they_say(folder, leg, swing):
    """Times, exponent, muscles without physiology, actuators of a file of forces; results where it says, named as there."""
    assert main(["so", "so.xml", "--quiet"]) == 0
    reserve = {name: 20.0 + k for k, name in enumerate(leg.coordinates)}
    settings = {"exponent": 3.0, "muscle_physiology": False, "start": 0.1, "end": 0.2}
    found = mb.static_optimization(leg, "swing.sto", reserve=reserve, **settings)
    saved, forces = (mb.read_sto(folder / "out" / f"walk_StaticOptimization_{what}.sto") for what in ("activation", "force"))
    assert len(saved) == 6 and list(saved.labels) == [*found.activations.labels, *(f"{name}_reserve" for name in reserve)]
    for name in found.activations.labels:
        assert_allclose(saved[name], found.activations[name], atol=1e-9)
    for name in reserve:
        assert_allclose(forces[f"{name}_reserve"], found.reserves[name], atol=1e-7)
    controls = mb.biomechanics.read_controls(folder / "out" / "walk_StaticOptimization_controls.xml").functions
    assert controls["soleus_r"].calc_value([0.1]) == pytest.approx(saved["soleus_r"][0], abs=1e-12)
    stepped = SETUP.format(model=LEG).replace("<use_", "<step_interval>2</step_interval><use_")
    (folder / "so.xml").write_text(stepped.replace(">out<", ">few<"))
    assert main(["so", "so.xml", "--quiet"]) == 0
    few = mb.read_sto(folder / "few" / "walk_StaticOptimization_activation.sto")
    assert_allclose(few.time, saved.time[[0, 1, 3, 5]])  # the sixth row of the file, and of those behind every other
    other = mb.static_optimization(leg, "swing.sto", reserve=20.0, **settings)
    assert max(abs(other.activations[name] - saved[name]).max() for name in other.activations.labels) > 1e-4


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("StaticOptimization", "MuscleAnalysis", "is a setup of AnalyzeTool: use mobod analyze"),
        ("StaticOptimization", "ProbeReporter", "of an AnalyzeTool, StaticOptimization and Kinematics"),
        (">3</activation_exponent>", ">three</activation_exponent>", "<activation_exponent> is a number, not 'three'"),
        ("<use_muscle_physiology>", "<use_model_force_set>false</use_model_force_set><use_muscle_physiology>", "use mobod id"),
        ("reserves.xml", "nowhere.xml", "nowhere.xml"),
    ],
)
def test_what_is_wrong_with_a_setup_is_said(folder, capsys, old, new, message):
    text = (folder / "so.xml").read_text()
    assert old in text
    (folder / "so.xml").write_text(text.replace(old, new))
    assert main(["so", "so.xml", "--output", "a.sto"]) == 2
    assert message in capsys.readouterr().err and not (folder / "a.sto").exists()


def test_forces_and_torques_on_the_pelvis_are_reserves_too(folder, leg, swing):
    """A laboratory's usual file: three forces and three torques on the pelvis, in place of actuators of its six coordinates.

    Those of coordinates have the same generalized forces there, turned by the pose: with next to no cost of either, muscles do
    the same.
    """
    of_pelvis = {name: 1e6 for name in leg.coordinates if name.startswith("pelvis")}
    rest = "".join(ONE.format(name, 50.0) for name in leg.coordinates if name not in of_pelvis)
    axes = {"X": "1 0 0", "Y": "0 1 0", "Z": "0 0 1"}
    forces = "".join(
        f"""<PointActuator name="F{x}"><body>pelvis</body><point>-0.03 0.01 0.02</point><direction>{axis}</direction>
        <optimal_force>1e6</optimal_force></PointActuator><TorqueActuator name="M{x}"><bodyA>pelvis</bodyA><bodyB>ground</bodyB>
        <axis>{axis}</axis><optimal_force>1e6</optimal_force></TorqueActuator>"""
        for x, axis in axes.items()
    )
    (folder / "reserves.xml").write_text(RESERVES.format(actuators=forces + rest))
    found = mb.static_optimization(mb.biomechanics.add_forces(leg, "reserves.xml"), swing, start=0.1, end=0.2)
    reserve = dict.fromkeys(leg.coordinates, 50.0) | of_pelvis
    wanted = mb.static_optimization(leg, swing, reserve=reserve, start=0.1, end=0.2)
    assert max(abs(found.forces[name]).max() for name in ("FY", "MZ")) > 10.0
    for name in leg.muscles:
        assert_allclose(found.activations[name], wanted.activations[name], atol=1e-6)


def test_other_analyses_of_a_setup_are_told(folder, capsys):
    """Those that the other command makes, those of unknown kinds, and none that is off."""
    text, of_state = (
        (folder / "so.xml").read_text(),
        "<MuscleAnalysis/><ProbeReporter/><JointReaction><on>false</on></JointReaction>",
    )
    (folder / "so.xml").write_text(text.replace("<StaticOptimization>", of_state + "<StaticOptimization>"))
    assert main(["so", "so.xml"]) == 0
    said = capsys.readouterr().out
    assert "MuscleAnalysis is left out here; mobod analyze makes it" in said and "JointReaction" not in said
    assert "ProbeReporter is left out, it is of a kind that is not known" in said
    assert main(["analyze", "so.xml"]) == 0
    assert "StaticOptimization is left out here; mobod so makes it" in capsys.readouterr().out
    assert (folder / "out" / "walk_MuscleAnalysis_Length.sto").exists()


def test_tendons_that_stretch(leg, swing):
    """Forces are those of fibers behind tendons as long as the forces make them; stiff tendons are rigid ones."""
    found = mb.static_optimization(leg, swing, reserve=50.0, passive_force=True, tendon_compliance=True)
    rigid = mb.static_optimization(leg, swing, reserve=50.0, passive_force=True)
    name = max(found.activations.labels, key=lambda one: found.activations[one].mean())
    muscle = leg.muscles[name]
    lengths, speeds, motion = [], [], mb.inverse_dynamics(leg, swing)
    for q, u in zip(motion.q, motion.u, strict=True):
        state = leg.default_state()
        state.q, state.u = q, u
        leg.system.realize(state, mb.Stage.VELOCITY)
        lengths.append(muscle.get_length(state))
        speeds.append(muscle.get_lengthening_speed(state))
    stretch, slack = np.zeros(len(lengths)), muscle.get_default_tendon_slack_length()
    for _ in range(60):  # of this muscle alone, at the activations found, by bisection on its own curve
        shorter = np.array(lengths) - stretch
        slower = np.array(speeds) - np.gradient(stretch, found.time)
        active, passive = muscle.calc_rigid_tendon_forces(shorter, slower)
        force = (found.activations[name] * active + passive) / muscle.get_default_max_isometric_force()
        low, high = np.zeros(len(lengths)), np.full(len(lengths), 0.1)
        for _ in range(50):
            middle = 0.5 * (low + high)
            above = muscle.tendon_force_length(1.0 + middle) > force
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        stretch += 0.5 * (slack * middle - stretch)
    assert_allclose(found.forces[name], found.activations[name] * active, rtol=1e-3, atol=0.01)
    assert np.abs(found.activations[name] - rigid.activations[name]).max() > 1e-4
    assert stretch.max() > 1e-4


@pytest.mark.parametrize("kind", [None, mb.muscle.Millard2012Equilibrium], ids=["thelen", "millard"])
def test_old_results_of_opensims_tool_are_repeated(folder, leg, swing, kind):
    """Of a noisy motion: its accelerations are slopes of splines through speeds, its pennation is wrong for Millard's muscles.

    Its optimizer's tolerance is tightened.
    """
    osim = pytest.importorskip("opensim")
    osim.Logger.setLevelString("off")
    model = leg if kind is None else mb.biomechanics.replace_muscles(leg, kind)
    mb.write_osim(folder / "leg.osim", model)
    rng = np.random.default_rng(5)
    noisy = {name: swing[name] + (1e-3 * rng.normal(size=26) if name == "knee_angle_r" else 0.0) for name in swing.labels}
    mb.write_sto("swing.sto", mb.Table(swing.time, noisy))
    setup = SETUP.format(model="leg.osim").replace("<activation_exponent>3", "<activation_exponent>2").replace("false", "true")
    tight = "<optimizer_convergence_criterion>1e-8</optimizer_convergence_criterion><activation_exponent>"
    setup = setup.replace("<activation_exponent>", "<step_interval>2</step_interval>" + tight).replace(
        "<StaticOptimization>", '<StaticOptimization name="StaticOptimization">'
    )
    for folder_of in ("theirs", "ours", "right"):
        (folder / f"{folder_of}.xml").write_text(setup.replace(">out<", f">{folder_of}<"))
    assert osim.AnalyzeTool("theirs.xml").run()
    assert main(["so", "ours.xml", "--quiet", "--as-opensim"]) == 0
    assert main(["so", "right.xml", "--quiet"]) == 0
    for what in ("force", "activation"):
        ours, theirs = (mb.read_sto(folder / one / f"walk_StaticOptimization_{what}.sto") for one in ("ours", "theirs"))
        assert_allclose(ours.time, theirs.time, atol=1e-9)
        for name in theirs.labels:
            # 3e-3: the Coriolis forces of its knee are wrong
            assert_allclose(ours[name], theirs[name], rtol=0.0, atol=3e-3 * max(1.0, np.abs(theirs[name]).max()), err_msg=name)
    right = mb.read_sto(folder / "right" / "walk_StaticOptimization_activation.sto")
    assert max(np.abs(right[name] - ours[name]).max() for name in right.labels if name in leg.muscles) > 0.01
