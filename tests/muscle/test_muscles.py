"""Muscles: their curves and contraction beside OpenSim's, equilibrium, energy, lanes, derivatives, wrong input."""

import json
import math
import pickle
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod.algebra.dual import Dual
from mobod.muscle import _bezier

M = mb.muscle
#: Written by ``tests/reference/generate_muscles.py`` from OpenSim's wheel.
REFERENCE = json.loads((Path(__file__).parents[1] / "reference" / "muscles.json").read_text())
KINDS = {"Millard2012EquilibriumMuscle": M.Millard2012Equilibrium, "Thelen2003Muscle": M.Thelen2003}
KINDS |= {"DeGrooteFregly2016Muscle": M.DeGrooteFregly2016, "RigidTendonMuscle": M.RigidTendon}
KINDS |= {"Schutte1993Muscle_Deprecated": M.Schutte1993}
#: OpenSim's names of what has another name here.
NAMES = {
    "activation1": "activation_rise",
    "activation2": "activation_fall",
    "FmaxTendonStrain": "tendon_strain_at_max_isometric_force",
    "Af": "force_velocity_shape",
    "Flen": "max_lengthening_force",
}


def hanging(kind, number=1, **settings):
    """A weight on muscles side by side, equilibrated, with its state."""
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -9.8))
    down = mb.Transform(mb.Rotation.about_axis(0.5 * math.pi, (0, 1, 0)))
    body = mb.body.Rigid(mb.MassProperties(20.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
    weight = mb.mobilizer.Slider(matter.ground, body, X_PF=down, name="weight")
    muscles = []
    for _ in range(number):
        path = mb.force.transmission.StraightPath(forces, [([(matter.ground, (0, 0, 0)), (weight, (0, 0, 0))], 1.0)])
        own = {"pennation_angle_at_optimal": 0.2, "default_excitation": 0.6} | settings
        own |= {} if kind is M.RigidTendon else {"default_activation": 0.2}
        muscles.append(kind(forces, path, 1000.0 / number, 0.1, 0.2, **own))
    state = system.realize_topology()
    weight.set_length(state, 0.3)
    system.realize(state, mb.Stage.POSITION)
    return system, state, weight, muscles


@pytest.mark.parametrize("kind", ["damped", "undamped"])
def test_curves_are_those_of_opensim(kind):
    curves, (_, _, _, (muscle,)) = (
        REFERENCE["curves"][kind],
        hanging(M.Millard2012Equilibrium, fiber_damping=0.1 * (kind == "damped")),
    )
    names = "active_force_length", "passive_force_length", "tendon_force_length", "force_velocity"
    for name, curve, at in zip(names, muscle.curves, ("fiber", "fiber", "tendon", "velocity"), strict=True):
        value, first, second = np.array(curves[name]).T
        assert_allclose(getattr(muscle, name)(curves[at]), value, rtol=1e-12, atol=1e-12)
        assert_allclose(curve.calc_derivative(1, curves[at]), first, rtol=1e-11, atol=1e-11)
        assert_allclose(curve.calc_derivative(2, curves[at]), second, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(
    "kind", ["FiberForceLengthCurve", "TendonForceLengthCurve", "ActiveForceLengthCurve", "ForceVelocityCurve"]
)
def test_of_what_is_no_number_curves_have_none(kind):
    assert np.isnan(getattr(M, kind)().calc_value(np.nan))


def test_derivatives_of_any_order_and_integrals_of_curves():
    curve, h = M.TendonForceLengthCurve(), 1e-6
    for x in (1.003, 1.02, 1.031, 1.06):
        for order in range(1, 5):
            of = (lambda at, k=order: curve.calc_derivative(k - 1, at)) if order > 1 else curve.calc_value
            slope = (of(x + h) - of(x - h)) / (2.0 * h)
            assert_allclose(curve.calc_derivative(order, x), slope, rtol=1e-5, atol=1e-4)
        assert_allclose((curve.calc_integral(x + h) - curve.calc_integral(x - h)) / (2.0 * h), curve.calc_value(x), rtol=1e-7)
    bent = M.ActiveForceLengthCurve()
    x = np.linspace(bent.domain[0], bent.domain[1], 4001)
    assert_allclose(bent.calc_integral(x[-1]), np.trapezoid(bent.calc_value(x), x), rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_contraction_is_that_of_opensim(kind):
    """Velocity of a damped fiber to 1e-8: OpenSim's iteration ends at 1e-10 of the force. What overflows there is left out."""
    cases = [case for case in REFERENCE["cases"] if case["kind"] == kind]
    assert len(cases) >= 16
    for case in cases:
        settings = {NAMES.get(name, name): value for name, value in case["settings"].items() if not name.endswith("_mode")}
        is_rigid = settings.get("ignore_tendon_compliance", False)
        given, parameters = case["given"], case["parameters"]
        if is_rigid and kind.startswith("DeGroote") and given["length"] < parameters["tendon_slack_length"] + 1e-3:
            continue  # there OpenSim's fiber of a slack tendon goes on as if it had been turned over
        system, state, weight, (muscle,) = hanging(KINDS[kind], **{**settings, "max_contraction_velocity": 10.0})
        for name, value in parameters.items():
            getattr(muscle, f"set_{name}")(state, value)
        weight.set_length(state, given["length"])
        weight.set_rate(state, given["speed"])
        muscle.set_excitation(state, given["excitation"])
        for name in muscle.state_variables:
            muscle.set_state_variable(state, name, given[name])
        system.realize(state)
        strength = parameters["max_isometric_force"]
        fastest = parameters["max_contraction_velocity"] * parameters["optimal_fiber_length"]
        if abs(case["found"]["fiber_velocity"]) > 1e3 * fastest:
            continue
        if kind == "RigidTendonMuscle":  # there it is the speed of the path, here the rate of the fiber's length
            is_taut = given["length"] > parameters["tendon_slack_length"]
            case["found"]["fiber_velocity"] *= is_taut * math.cos(case["found"]["pennation_angle"])
        scales = {"fiber_length": 1.0, "pennation_angle": 1.0, "fiber_velocity": fastest}
        for name, value in case["found"].items():
            found = getattr(muscle, f"get_{name}")(state)
            tolerance = 1e-8 if name == "fiber_velocity" else 1e-9
            assert_allclose(found, value, rtol=0.0, atol=tolerance * scales.get(name, strength), err_msg=f"{name} {case}")
        for name, value in case["rates"].items():
            assert_allclose(muscle.get_state_variable_derivative(state, name), value, rtol=1e-8, atol=1e-8 * fastest)
        assert_allclose(20.0 * (state.u_dot[0] - 9.8), -muscle.get_tendon_force(state), atol=1e-9 * strength)


@pytest.mark.parametrize("kind", [kind for kind in KINDS.values() if kind is not M.RigidTendon])
def test_equilibrium_balances_fiber_and_tendon(kind):
    """At activations from the least to 1 and from short to long, the fiber stands still."""
    system, state, weight, (muscle,) = hanging(kind)
    for activation in (0.01, 0.3, 1.0):
        for length in (0.26, 0.3, 0.33):
            weight.set_length(state, length)
            muscle.set_state_variable(state, "activation", activation)
            system.realize(state, mb.Stage.POSITION)
            muscle.equilibrate(state)
            system.realize(state)
            assert abs(muscle.get_fiber_velocity(state)) < 1e-9
            assert abs(muscle.get_state_variable_derivative(state, muscle.state_variables[1])) < 1e-7


@pytest.mark.parametrize("kind", [M.Thelen2003, M.DeGrooteFregly2016, M.Millard2012Equilibrium])
def test_fibers_may_move_at_equilibrium_as_those_of_opensim(kind):
    """Velocities of fiber along the path and tendon are as the compliances, differences of the forces at that velocity."""
    _, state, weight, (muscle,) = hanging(kind)
    system, speed, h = weight.matter.system, 0.15, 1e-6
    weight.set_length(state, 0.31)
    weight.set_rate(state, speed)
    muscle.set_state_variable(state, "activation", 0.4)
    system.realize(state, mb.Stage.VELOCITY)
    muscle.equilibrate(state, as_opensim=True)
    system.realize(state)
    found = muscle.find_contraction(state)
    if kind is not M.Thelen2003:
        rest = 0.0 if kind is M.Millard2012Equilibrium else speed
        assert_allclose(found.fiber_velocity / found.cos_pennation, rest, atol=1e-8)
        return
    lopt, width = muscle.get_default_optimal_fiber_length(), found.fiber_length * math.sqrt(1.0 - found.cos_pennation**2)
    by_velocity = found.active_force / (0.4 * muscle.active_force_length(found.fiber_length / lopt))

    def pull(along):  # of the fiber that reaches so far along the path
        fiber = math.hypot(along, width)
        of_fiber = 0.4 * by_velocity * muscle.active_force_length(fiber / lopt)
        return (of_fiber + strength * muscle.passive_force_length(fiber / lopt)) * along / fiber

    strength, slack = muscle.get_default_max_isometric_force(), muscle.get_default_tendon_slack_length()
    along = found.fiber_length * found.cos_pennation
    K = (pull(along + h) - pull(along - h)) / (2 * h)
    taut = 0.31 - along
    T = strength * (muscle.tendon_force_length((taut + h) / slack) - muscle.tendon_force_length((taut - h) / slack)) / (2 * h)
    assert_allclose(found.fiber_velocity / found.cos_pennation, speed * T / (K + T), rtol=1e-6)


def test_a_rigid_tendon_of_no_length_is_never_slack():
    """l = sqrt(L^2 + h^2), so that l' = L' cos phi at each length, whatever is rounded."""
    system, state, weight, (muscle,) = hanging(M.Millard2012Equilibrium, ignore_tendon_compliance=True)
    muscle.set_tendon_slack_length(state, 0.0)
    weight.set_rate(state, 0.1)
    for length in np.linspace(0.07, 0.14, 40):
        weight.set_length(state, length)
        system.realize(state)
        cos = length / math.hypot(length, muscle.get_default_optimal_fiber_length() * math.sin(0.2))
        assert_allclose(muscle.get_fiber_velocity(state), 0.1 * cos, rtol=1e-12)


def test_the_least_activation_holds_without_activation_dynamics():
    """OpenSim 4.6 takes 0.01 there, whatever the file says: its Millard muscle tells its activation model of no other."""
    system, state, _, (muscle,) = hanging(M.Millard2012Equilibrium, ignore_activation_dynamics=True, minimum_activation=0.05)
    forces = []
    for excitation in (0.0, 0.05, 0.1):
        muscle.set_excitation(state, excitation)
        system.realize(state)
        forces.append(muscle.find_contraction(state))
    assert forces[0] == forces[1] and forces[2].tendon_force == forces[1].tendon_force
    assert forces[2].fiber_velocity < forces[1].fiber_velocity


def test_damping_has_no_part_where_tendon_force_is_a_variable():
    """OpenSim's fiber force has it there, and so its heat of shortening by Bhargava, but its fiber does not balance then."""
    opensim = pytest.importorskip("opensim")
    opensim.Logger.setLevelString("off")
    system, state, weight, (muscle,) = hanging(M.DeGrooteFregly2016, fiber_damping=0.1)
    weight.set_rate(state, 0.1)
    muscle.set_state_variable(state, "normalized_tendon_force", 0.3)
    system.realize(state, mb.Stage.VELOCITY)
    found = muscle.find_contraction(state)
    assert_allclose((found.active_force + found.elastic_force) * found.cos_pennation, found.tendon_force, rtol=1e-12)
    model = opensim.Model()
    own = opensim.DeGrooteFregly2016Muscle()
    own.setName("own")
    for name, value in (("fiber_damping", 0.1), ("pennation_angle_at_optimal", 0.2), ("ignore_tendon_compliance", False)):
        getattr(own, f"set_{name}")(value)
    for name in ("max_isometric_force", "optimal_fiber_length", "tendon_slack_length"):
        getattr(own, f"set_{name}")(getattr(muscle, f"get_default_{name}")())
    weight = opensim.Body("weight", 20.0, opensim.Vec3(0), opensim.Inertia(1, 1, 1))
    joint = opensim.SliderJoint("joint", model.getGround(), weight)
    for one, add in ((weight, model.addBody), (joint, model.addJoint), (own, model.addForce)):
        add(one)
    own.addNewPathPoint("begin", model.updGround(), opensim.Vec3(0))
    own.addNewPathPoint("end", weight, opensim.Vec3(0))
    now = model.initSystem()
    joint.getCoordinate().setValue(now, 0.3)
    joint.getCoordinate().setSpeedValue(now, 0.1)
    for name, value in (("activation", muscle.get_activation(state)), ("normalized_tendon_force", 0.3)):
        model.setStateVariableValue(now, f"/forceset/own/{name}", value)
    model.realizeVelocity(now)
    assert_allclose(found.fiber_velocity, own.getFiberVelocity(now), rtol=1e-9)
    damping = 1000.0 * 0.1 * found.fiber_velocity / (10.0 * 0.1)
    assert abs(damping) > 1.0
    assert_allclose(own.getFiberForce(now) - damping, found.active_force + found.elastic_force, rtol=1e-9)


@pytest.mark.parametrize("rigid", [False, True])
def test_fibers_that_lie_almost_across_reach_from_end_to_end(rigid):
    """Of DeGrooteFregly2016, whose pennation has no bound (89 degrees here): tendon and fiber add up to the path."""
    settings = {"pennation_angle_at_optimal": 0.5, "ignore_tendon_compliance": rigid}
    system, state, weight, (muscle,) = hanging(M.DeGrooteFregly2016, **settings)
    if not rigid:
        muscle.set_state_variable(state, "normalized_tendon_force", 0.0)
    weight.set_length(state, 0.2008)
    weight.set_rate(state, 0.1)
    system.realize(state, mb.Stage.VELOCITY)
    found = muscle.find_contraction(state)
    assert 1.55 < muscle.get_pennation_angle(state) < 0.5 * math.pi
    assert_allclose(found.fiber_length * found.cos_pennation, 0.0008, rtol=1e-9)
    assert_allclose(found.fiber_length, math.hypot(0.0008, 0.1 * math.sin(0.5)), rtol=1e-12)
    active, _ = muscle.calc_rigid_tendon_forces(0.2008, 0.1)
    if rigid:
        assert_allclose(found.tendon_force, found.cos_pennation * (found.active_force + found.elastic_force), rtol=1e-12)
        assert_allclose(active * muscle.get_activation(state), found.active_force * found.cos_pennation, rtol=1e-9)


def test_a_slack_muscle_rests_at_its_shortest_fiber_where_that_pulls_nothing():
    """As gluteus maximus of gait10dof18musc in a step, with which OpenSim's CMC begins."""
    system, state, weight, (muscle,) = hanging(M.Millard2012Equilibrium, default_activation=0.05)
    weight.set_length(state, 0.235)
    system.realize(state, mb.Stage.VELOCITY)
    muscle.equilibrate(state)
    system.realize(state)
    assert_allclose(muscle.get_fiber_length(state), 0.1 * 0.4441, rtol=1e-9)
    assert muscle.get_tendon_force(state) == 0.0 and abs(muscle.get_fiber_velocity(state)) < 1e-9


def test_what_has_no_equilibrium_is_named_and_the_state_stays():
    system, state, weight, (muscle,) = hanging(M.Millard2012Equilibrium, name="soleus")
    weight.set_length(state, 0.05)  # shorter than the slack tendon and the shortest fiber
    before = state.z.copy()
    system.realize(state, mb.Stage.POSITION)
    with pytest.raises(mb.ConvergenceError, match=r"soleus.*no equilibrium at length 0\.05.*tendon slack length 0\.2"):
        muscle.equilibrate(state)
    assert_allclose(state.z, before, rtol=0.0, atol=0.0)
    system.realize(state, mb.Stage.VELOCITY)
    muscle.equilibrate(state, as_opensim=True)  # as there, the shortest fiber, which pulls at nothing
    system.realize(state)
    assert abs(muscle.get_tendon_force(state)) < 1e-9 and abs(muscle.find_contraction(state).active_force) < 1e-9
    with pytest.raises(mb.StageError, match="get_length"):
        muscle.equilibrate(system.realize_topology())


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (M.Millard2012Equilibrium, {}),
        (M.Millard2012Equilibrium, {"ignore_tendon_compliance": True}),
        (M.RigidTendon, {}),
        (M.Schutte1993, {}),
    ],
)
def test_energy_balances(kind, settings):
    """Kinetic and potential energy change by what fibers do and lose."""
    system, state, _, (muscle,) = hanging(kind, **settings)
    muscle.equilibrate(state)
    trajectory = mb.simulate(system, state, 0.3, accuracy=1e-9, audit="steps")
    audit = trajectory.audit
    assert audit.energy_error < 1e-8 * audit.energy_scale, str(audit)
    assert not audit.unaccounted, str(audit)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (M.Millard2012Equilibrium, {"fiber_damping": 0.03}),
        (M.Millard2012Equilibrium, {"ignore_tendon_compliance": True}),
        (M.Thelen2003, {}),
        (M.DeGrooteFregly2016, {"passive_fiber_strain_at_one_norm_force": 0.5}),
        (M.DeGrooteFregly2016, {"fiber_damping": 0.03, "ignore_tendon_compliance": True}),
        (M.RigidTendon, {}),
        (M.Schutte1993, {}),
    ],
)
def test_work_on_the_path_is_stored_or_lost(kind, settings):
    """T L' = d(potential energy)/dt + power lost, by differences, of fibers from short to stretched."""
    system, state, weight, (muscle,) = hanging(kind, **settings)
    h = 1e-6
    for length in (0.28, 0.31, 0.335, 0.36):
        weight.set_length(state, length)
        weight.set_rate(state, 0.2)
        system.realize(state, mb.Stage.VELOCITY)
        muscle.equilibrate(state)
        system.realize(state)
        z_dot = state.z_dot.copy()

        def stored(t, z_dot=z_dot, length=length):
            moved = state.copy()
            moved.q, moved.z = state.q + 0.2 * t, state.z + t * z_dot
            system.realize(moved, mb.Stage.POSITION)
            return muscle.calc_potential_energy_contribution(moved)

        lost = muscle.calc_power_dissipation(state)
        pulled = 0.2 * muscle.get_tendon_force(state)
        assert_allclose((stored(h) - stored(-h)) / (2.0 * h), pulled - lost, rtol=1e-5, atol=1e-5 * abs(pulled))


def test_lanes_states_and_derivatives_agree():
    system, state, _, muscles = hanging(M.Millard2012Equilibrium, 2)
    for muscle in muscles:
        muscle.equilibrate(state)
    system.realize(state)
    ensemble = mb.Ensemble(system, 3, state=state)
    ensemble.set_each(muscles[0].set_excitation, [0.1, 0.6, 0.9])
    ensemble.realize()
    assert_allclose(ensemble.u_dot, np.broadcast_to(state.u_dot, (3, 1)), rtol=1e-12)
    found, h = system.calc_forward_dynamics_derivatives(state), 1e-7

    def u_dot(q=0.0, u=0.0, z=0.0):
        moved = state.copy()
        moved.q, moved.u, moved.z = state.q + q, state.u + u, state.z + z
        system.realize(moved)
        return moved.u_dot[0]

    assert_allclose(found.q[0, 0], (u_dot(q=h) - u_dot(q=-h)) / (2 * h), rtol=1e-6)
    for i, e in enumerate(np.eye(len(state.z))):
        assert_allclose(found.z[0, i], (u_dot(z=h * e) - u_dot(z=-h * e)) / (2 * h), rtol=1e-6, atol=1e-6)


def test_moment_arms_are_minus_the_gradient_of_the_length():
    system, state = mb.examples.double_pendulum.build()
    bodies = system.matter.bodies
    points = [(bodies[0], (0.2, 0.1, 0.0)), (bodies[1], (0.05, -0.5, 0.0)), (bodies[2], (0.0, 0.3, 0.1))]
    path = mb.force.transmission.StraightPath(system.forces, [(points, 1.0)])
    muscle = M.Thelen2003(system.forces, path)
    state = system.realize_topology()
    arms, h = [], 1e-6

    def length(q):
        state.q = q
        system.realize(state, mb.Stage.POSITION)
        return muscle.get_length(state)

    q = np.array([0.3, -0.7])
    arms = [-(length(q + h * e) - length(q - h * e)) / (2 * h) for e in np.eye(2)]
    length(q)
    assert_allclose(muscle.calc_moment_arms(state), arms, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS.values())
def test_force_by_velocity_of_every_kind_is_one_at_rest_and_grows(kind):
    """To the digits of OpenSim's splines and constants."""
    muscle = hanging(kind)[3][0]
    found = muscle.force_velocity([-0.9, -0.5, 0.0, 0.5, 0.9])
    assert muscle.force_velocity(0.0) == found[2]
    assert_allclose(found[2], 1.0, atol=2e-3)
    assert (np.diff(found) > 0.0).all()


@pytest.mark.parametrize("kind", KINDS.values())
def test_wrong_input_is_refused(kind):
    system, state, _, (muscle,) = hanging(kind)
    path = muscle.get_path()
    for wrong in (
        {"max_isometric_force": -1.0},
        {"optimal_fiber_length": 0.0},
        {"tendon_slack_length": math.nan},
        {"pennation_angle_at_optimal": 1.6},
        {"max_contraction_velocity": 0.0},
        *([] if kind is M.RigidTendon else [{"default_activation": 1.5}]),
    ):
        with pytest.raises(mb.ModelError, match=next(iter(wrong))):
            kind(system.forces, path, **wrong)
    with pytest.raises(TypeError, match="transmission"):
        kind(system.forces, "path")
    with pytest.raises(ValueError, match="no state variable 'fibre'"):
        muscle.set_state_variable(state, "fibre", 0.1)
    with pytest.raises(mb.ModelError, match="pennation_angle_at_optimal"):
        muscle.set_pennation_angle_at_optimal(state, 2.0)
    assert muscle.get_pennation_angle_at_optimal(state) == 0.2
    if len(muscle.state_variables) == 2:  # its tendon stretches, and is divided by
        ensemble = mb.Ensemble(system, 2, state=state)
        for change in (
            lambda: muscle.set_tendon_slack_length(state, 0.0),
            lambda: muscle.set_default_tendon_slack_length(0.0),
            lambda: ensemble.set_each(muscle.set_tendon_slack_length, [0.2, 0.0]),
        ):
            with pytest.raises(mb.ModelError, match=r"tendon_slack_length.* above zero where the tendon stretches"):
                change()
        pickle.loads(pickle.dumps(system))
    with pytest.raises(TypeError, match="base class"):
        M.Muscle(system.forces, path)


def test_curves_that_cannot_be_are_refused():
    with pytest.raises(mb.ModelError, match="in order"):
        M.ActiveForceLengthCurve(transition_norm_fiber_length=0.3)
    with pytest.raises(mb.ModelError, match="above strain_at_zero_force"):
        M.FiberForceLengthCurve(strain_at_one_norm_force=-0.1)
    with pytest.raises(mb.ModelError, match="do not meet in between"):
        M.ForceVelocityCurve(isometric_slope=0.5)
    spline = mb.function.SimmSpline
    system, _, _, (muscle,) = hanging(M.Thelen2003)
    with pytest.raises(mb.ModelError, match=r"active_force_length has 40 points; there is room for 31"):
        M.RigidTendon(system.forces, muscle.get_path(), active_force_length=spline(range(40), [1.0] * 40))
    with pytest.raises(TypeError, match="tendon_force_strain is a curve of cubic or straight pieces"):
        M.Schutte1993(system.forces, muscle.get_path(), tendon_force_strain=mb.function.Sinusoid(1, 1))
    with pytest.raises(TypeError, match="tendon_force_length"):
        system, _, _, (muscle,) = hanging(M.Thelen2003)
        M.Millard2012Equilibrium(system.forces, muscle.get_path(), tendon_force_length=lambda x: x)


def test_an_excitation_is_a_function_of_time():
    """The muscle of a function of time goes as one whose excitation is set; a constant is added; derivatives know it."""
    ramp = mb.function.PiecewiseLinear([0.0, 0.1, 0.2], [0.1, 0.7, 0.7])
    system, state, _, (muscle,) = hanging(M.Millard2012Equilibrium)
    muscle.set_excitation_function(ramp)
    state = system.realize_topology()
    muscle.set_excitation(state, 0.0)
    state.q, state.time = [0.3], 0.05
    system.realize(state, mb.Stage.POSITION)
    muscle.equilibrate(state)
    system.realize(state)
    assert_allclose(muscle.calc_excitation(state), 0.4)
    rate = muscle.get_state_variable_derivative(state, "activation")
    other, same, _, (plain,) = hanging(M.Millard2012Equilibrium)
    plain.set_excitation(same, 0.4)
    same.q, same.z = state.q, state.z
    other.realize(same)
    assert_allclose(rate, plain.get_state_variable_derivative(same, "activation"), rtol=1e-14)
    muscle.set_excitation(state, 0.1)
    assert_allclose(muscle.calc_excitation(state), 0.5)
    # the midpoint rule of the activation alone
    state.time = 0.0
    muscle.set_excitation(state, 0.0)
    run = mb.simulate(system, state, 0.1, accuracy=1e-9, report_interval=0.05)
    ends = run.states[-1].z[0]
    a, n = float(state.z[0]), 20000
    for k in range(n):  # midpoint rule of the activation's own equation

        def slope(t, a):
            e, scale = float(ramp.calc_value([t])), 0.5 + 1.5 * a
            return (e - a) / (0.010 * scale if e > a else 0.040 / scale)

        t, h = 0.1 * k / n, 0.1 / n
        a += h * slope(t + 0.5 * h, a + 0.5 * h * slope(t, a))
    assert_allclose(ends, a, rtol=1e-6)
    with pytest.raises(ValueError, match="function of time alone"):
        muscle.set_excitation_function(mb.function.Expression("x + y", ["x", "y"]))
    with pytest.raises(TypeError, match="function of time"):
        muscle.set_excitation_function(0.3)
    muscle.set_excitation_function(None)
    assert muscle.get_excitation_function() is None


def test_corners_of_any_shape_are_met():
    """B(u) = b to rounding, with handles down to a thousandth of the corner, and next to its ends; 0 and 1 beyond them."""
    rng = np.random.default_rng(20281129)
    first, last = 10.0 ** rng.uniform(-3.0, 0.0, (2, 4000))
    both = np.maximum(first + last, 1.0)
    first, last, b = first / both, last / both, rng.uniform(0.0, 1.0, 4000)
    b[:500] = 10.0 ** rng.uniform(-9.0, 0.0, 500)
    one = np.ones(4000)
    u = _bezier.meet(first, last, one, b)
    assert ((u > 0.0) & (u < 1.0)).all()
    assert_allclose(_bezier.rise(first, last, one, u), b, rtol=0.0, atol=1e-12)
    for beyond, end in ((-0.5, 0.0), (0.0, 0.0), (1.0, 1.0), (1.5, 1.0)):
        assert (_bezier.meet(first, last, one, beyond * one) == end).all()
    assert np.isnan(_bezier.meet(first, last, one, np.nan * one)).all()


@pytest.mark.parametrize("b", [0.05, 0.3, 0.5, 0.9])
def test_inverses_of_corners_have_first_and_second_derivatives(b):
    """B(u(b)) is b, with its tangents: 1, and no second one."""
    found = _bezier.meet(0.3, 0.55, 1.0, Dual(Dual(b, (1.0,)), (Dual(1.0, (0.0,)),)))
    again = _bezier.rise(0.3, 0.55, 1.0, found)
    assert_allclose([again.value.value, again.value.tangents[0], again.tangents[0].value], [b, 1.0, 1.0], rtol=1e-12)
    assert_allclose(again.tangents[0].tangents[0], 0.0, atol=1e-10)


def test_moment_arms_under_constraints_need_positions_only():
    """Of a leg whose kneecap is coupled to its knee; speeds were asked for, though the page says that places do."""
    leg = mb.load_osim(files("mobod") / "examples" / "leg6dof9musc.osim")
    state = leg.default_state()
    assert leg.matter.constraints
    leg.system.realize(state, mb.Stage.POSITION)
    arms = [leg.calc_moment_arm(state, name, "knee_angle_r") for name in leg.muscles]
    assert state.stage == mb.Stage.POSITION
    leg.system.realize(state, mb.Stage.VELOCITY)
    assert arms == [leg.calc_moment_arm(state, name, "knee_angle_r") for name in leg.muscles] and max(arms) > 0.03


def test_moment_arms_at_reversed_joints(tmp_path, rng):
    """Joints whose parent and child have changed places: what a muscle's length loses is what its arms say."""
    text = (files("mobod") / "examples" / "leg6dof9musc.osim").read_text()
    for name in ("hip_r", "tib_pat_r", "ground_pelvis"):
        start = text.index(f'Joint name="{name}"')
        end = text.index("</CustomJoint>", start)
        joint = text[start:end].replace("socket_parent_frame", "other").replace("socket_child_frame", "socket_parent_frame")
        text = text[:start] + joint.replace("other", "socket_child_frame") + text[end:]
    (tmp_path / "leg.osim").write_text(text)
    model = mb.load_osim(tmp_path / "leg.osim")
    state = model.default_state()
    for _ in range(3):
        state.q, state.u = state.q + rng.uniform(-0.2, 0.2, len(state.q)), rng.normal(0.0, 0.5, len(state.u))
        model.system.project(state)
        model.system.realize(state, mb.Stage.VELOCITY)
        free = [name for name in model.speeds if name != "knee_angle_pat_r"]
        for name, muscle in model.muscles.items():
            arms = [model.calc_moment_arm(state, name, coordinate) for coordinate in free]
            speeds = [state.u[model.speeds[coordinate]] for coordinate in free]
            assert_allclose(-np.dot(arms, speeds), muscle.get_lengthening_speed(state), rtol=0.0, atol=1e-9)
