"""Muscle redundancy: its derivatives, static optimization where muscles have no dynamics, muscles that run forward, errors.

Not beside `tests/biomechanics`: those tests import OpenSim, whose library rules CasADi's wheel out in one process, and that
OpenSim.
"""

import re
from importlib.resources import files

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.sparse import triu

import mobod as mb
from mobod.biomechanics._balance import Balance
from mobod.biomechanics._redundancy_program import Program
from mobod.biomechanics.motion import natural_spline
from mobod.cli.main import main
from mobod.optimal.hermite_simpson import HERMITE_SIMPSON
from mobod.optimal.mesh import Mesh

LEG = files("mobod") / "examples" / "leg6dof9musc.osim"


@pytest.fixture(scope="module", autouse=True)
def ipopt():
    pytest.importorskip("casadi", exc_type=ImportError)  # OpenSim in the process rules it out


@pytest.fixture(scope="module")
def leg():
    return mb.biomechanics.replace_muscles(LEG, mb.muscle.DeGrooteFregly2016)


@pytest.fixture(scope="module")
def swing(leg):
    time, state = np.linspace(0.0, 0.3, 16), leg.default_state()
    rows = {name: np.full(16, float(state.q[k])) for name, k in leg.coordinates.items()}
    rows["hip_flexion_r"] = 0.3 + 0.2 * np.sin(5.0 * time)
    rows["knee_angle_r"] = -0.6 + 0.3 * np.sin(6.0 * time + 0.4)
    rows["ankle_angle_r"] = 0.1 * np.sin(7.0 * time)
    return mb.Table(time, rows)


@pytest.fixture(scope="module")
def found(swing):
    """Of Thelen's muscles, which become those of the other model."""
    return mb.muscle_redundancy(LEG, swing, reserve=50.0, intervals=15)


@pytest.mark.parametrize("p", [2.0, 3.0])
def test_derivatives_are_those_of_differences(leg, swing, p, rng):
    mesh = Mesh(HERMITE_SIMPSON, np.linspace(0.0, 1.0, 4))
    settings = {"applied": (), "cutoff": None, "load_cutoff": None, "filter": "butterworth", "degree": 5, "progress": None}
    own = Balance.of(
        leg,
        swing,
        None,
        50.0,
        {"soleus_r": 3.0},
        None,
        None,
        start=0.0,
        end=0.3,
        times_of=lambda t: t[-1] * mesh.times,
        **settings,
    )
    program = Program(own, mesh, p, 1e-2)
    v = rng.uniform(0.1, 0.9, program.n)
    v[program.at["d"]] = rng.normal(size=program.at["d"].shape)
    along, y, h = rng.normal(size=program.n), rng.normal(size=program.m), 1e-6

    def slopes(v):
        return 0.7 * program.gradient(v) + program.jacobian_pattern.matrix(program.jacobian(v)).T @ y

    def differs(function):
        return (function(v + h * along) - function(v - h * along)) / (2.0 * h)

    assert_allclose(program.gradient(v) @ along, differs(program.cost), rtol=1e-7)
    J = program.jacobian_pattern.matrix(program.jacobian(v))
    assert_allclose(J @ along, differs(program.constraints), atol=1e-7)
    upper = program.hessian_pattern.matrix(program.hessian(v, 0.7, y))
    wanted = differs(slopes)
    assert_allclose((upper + triu(upper, 1).T) @ along, wanted, atol=1e-7 * np.abs(wanted).max())


def test_without_dynamics_of_muscles_it_is_static_optimization(leg, swing):
    model = mb.biomechanics.ignore_activation_dynamics(mb.biomechanics.ignore_tendon_compliance(leg))
    given = {"reserve": 50.0, "weights": {"tib_ant_r": 4.0}}
    found = mb.muscle_redundancy(model, swing, **given, intervals=15, scheme="trapezoidal", tolerance=1e-9)
    wanted = mb.static_optimization(model, swing, **given, passive_force=True)
    assert not found.normalized_tendon_forces.labels and np.ptp(wanted.activations["tib_ant_r"]) > 5e-3
    for name in leg.muscles:
        assert_allclose(found.activations[name], wanted.activations[name], atol=2e-5)
        assert_allclose(found.excitations[name], found.activations[name], atol=0.0)
    for name in leg.speeds:
        assert_allclose(found.reserves[name], wanted.reserves[name], atol=1e-3)
    assert found.cost == pytest.approx(np.trapezoid(wanted.cost, wanted.time), rel=1e-6)


def test_scipy_finds_what_ipopt_does(leg, swing):
    """In as many steps as Newton's method takes; with a matrix that is learned, in place of the cost's, it took hundreds."""
    given = {"reserve": 50.0, "intervals": 10, "scheme": "trapezoidal"}
    by_scipy, by_ipopt = (mb.muscle_redundancy(leg, swing, **given, solver=name) for name in ("scipy", "ipopt"))
    assert len(by_scipy.statistics["unknowns"]) > 400 and by_scipy.statistics["iterations"] < 100
    assert by_scipy.cost == pytest.approx(by_ipopt.cost, rel=1e-5)
    for name in leg.muscles:
        assert_allclose(by_scipy.activations[name], by_ipopt.activations[name], atol=2e-3)


def test_muscles_that_run_forward_pull_as_found(leg, swing, found):
    """Their own differential equations over the motion, from 0.05 s on: before, tendon forces fall in place, which is stiff."""
    state, first = leg.default_state(), 5
    q = natural_spline(swing.time, mb.inverse_dynamics(leg, swing).q, 5)
    mesh = Mesh(HERMITE_SIMPSON, np.linspace(0.0, 1.0, 16))
    e = np.stack([found.excitations[name] for name in leg.muscles], axis=1)
    z = np.array(state.z)
    for name, muscle in leg.muscles.items():
        z[muscle.first_z] = found.activations[name][first]
        z[muscle.first_z + 1] = found.normalized_tendon_forces[name][first]

    def rates(time, z):
        state.time, state.q, state.u, state.z = time, q(time), q(time, 1), z
        now = mesh.interpolate(e, np.array([time / 0.3]))[0]
        for muscle, one in zip(leg.muscles.values(), now, strict=True):
            muscle.set_excitation(state, float(one))
        leg.system.realize(state)
        return np.array(state.z_dot)

    rows = found.time[first:]
    ran = solve_ivp(rates, (rows[0], rows[-1]), z, method="LSODA", rtol=1e-6, atol=1e-8, t_eval=rows).y
    for name, muscle in leg.muscles.items():
        assert_allclose(ran[muscle.first_z + 1], found.normalized_tendon_forces[name][first:], atol=1e-3)
        assert_allclose(ran[muscle.first_z], found.activations[name][first:], atol=1e-3)
        assert_allclose(
            found.forces[name], found.normalized_tendon_forces[name] * muscle.get_default_max_isometric_force(), rtol=1e-12
        )
    leg.system.realize(state)
    last = {name: muscle.get_fiber_length(state) for name, muscle in leg.muscles.items()}
    assert_allclose(list(last.values()), [found.fiber_lengths[name][-1] for name in last], atol=1e-4)


def test_forces_make_the_motion_and_the_next_solution_begins_with_the_last(leg, swing, found):
    taken = mb.inverse_dynamics(leg, swing)
    for name in ("pelvis_ty", "hip_flexion_r", "ankle_angle_r"):  # which no constraint couples
        place = leg.speeds[name]
        made = sum(found.moment_arms[one][:, place] * found.forces[one] for one in leg.muscles) + found.reserves[name]
        label = next(one for one in taken.forces.labels if one.startswith(f"{name}_"))
        assert_allclose(made[::2], taken.forces[label], atol=1e-5 * (1.0 + np.abs(taken.forces[label]).max()))
    assert found.statistics["missed"] < 1e-5 and found.activations["soleus_r"].min() >= 0.01 - 1e-7
    again = mb.muscle_redundancy(leg, swing, reserve=50.0, intervals=15, guess=found)
    assert again.statistics["iterations"] < 3 < found.statistics["iterations"]
    assert again.cost == pytest.approx(found.cost, rel=1e-6)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({}, mb.ConvergenceError, "at time 0 .*coordinate 'pelvis_t.* is missing .21 of 21"),
        ({"reserve": 50.0, "max_iterations": 2}, mb.ConvergenceError, "maximum iterations exceeded' after 2 .* of '.*_r'"),
        ({"exponent": 1.5}, ValueError, "exponent has to be 2 or more, got 1.5"),
        ({"scheme": "radau"}, ValueError, "scheme"),
        ({"weights": {"soleus": 2.0}, "reserve": 1.0}, ValueError, "did you mean soleus_r"),
        ({"guess": 3}, TypeError, "guess has to be a MuscleRedundancy"),
        ({"end": 0.0}, ValueError, "one time"),
    ],
)
def test_what_cannot_be_is_named(leg, swing, settings, error, message):
    with pytest.raises(error, match=message):
        mb.muscle_redundancy(leg, swing, **{"intervals": 10} | settings)


def test_guesses_and_states_of_other_muscles_are_refused(leg, swing, found):
    with pytest.raises(ValueError, match="guess is of other muscles"):
        mb.muscle_redundancy(leg, swing, reserve=50.0, intervals=10, guess=found)
    old = mb.load_osim(LEG)
    with pytest.raises(ValueError, match="replace them first"):
        mb.muscle_redundancy(old, swing, state=old.default_state())
    with pytest.raises(ValueError, match="spline of degree 5: that takes 6 rows, not 3"):
        mb.muscle_redundancy(leg, mb.Table(swing.time[:3], {"knee_angle_r": np.zeros(3)}), reserve=50.0)


def test_the_command(swing, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    mb.write_sto("swing.sto", swing)
    given = ["redundancy", str(LEG), "swing.sto", "--reserve", "50", "--intervals", "3"]
    files = ["--output", "a.sto", "--excitations", "e.sto", "--forces", "f.sto", "--fibers", "l.sto"]
    assert main([*given, *files]) == 0
    said = capsys.readouterr().out
    assert re.search(r"cost \S+, \d+ iterations of ipopt in ", said) and "soleus_r" in said and "fibers           l.sto" in said
    found = mb.muscle_redundancy(LEG, "swing.sto", reserve=50.0, intervals=3)
    wanted = {"a": found.activations, "e": found.excitations, "f": found.forces, "l": found.fiber_lengths}
    for name, table in wanted.items():
        assert_allclose(mb.read_sto(f"{name}.sto")["soleus_r"], table["soleus_r"], rtol=1e-6)
    assert main([*given, "--rigid", "--quiet", "--output", "rigid.sto"]) == 0
    rigid = mb.muscle_redundancy(
        mb.biomechanics.ignore_tendon_compliance(mb.biomechanics.replace_muscles(LEG, "DeGrooteFregly2016")),
        "swing.sto",
        reserve=50.0,
        intervals=3,
    )
    assert_allclose(mb.read_sto("rigid.sto")["soleus_r"], rigid.activations["soleus_r"], rtol=1e-6)
    assert main([*given, "--fibers", "nowhere/l.sto"]) == 2
    assert "there is no folder nowhere" in capsys.readouterr().err
