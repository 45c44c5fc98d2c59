"""Controllers in compiled steps: what laws are given, when they are called, and what the package's own do."""

import numpy as np
import pytest

import mobod as mb
from mobod.compiling.fingerprint import fingerprint
from mobod.tree import sampling

T = 0.01
BODY = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(1.0)))


def slider(**controller):
    """A unit mass on a line."""
    system = mb.MultibodySystem("slider")
    matter, _ = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    return system, mb.mobilizer.Slider(matter.ground, BODY)


def recursion(law, n, x=1.0, v=0.0):
    """A unit mass under forces held for T, which each step of second order takes exactly."""
    rows = []
    for k in range(n):
        f = law(k, x, v)
        rows.append((x, v, f))
        x, v = x + T * v + 0.5 * T * T * f, v + T * f
    return np.array([*rows, (x, v, rows[-1][2])])


def run(system, q=(1.0,), time=50 * T, method="RungeKutta2", **settings):
    state = system.realize_topology()
    state.q = q
    settings = settings or {"fixed_step_size": T}
    stepper = mb.TimeStepper(system, getattr(mb.integrator, method)(system, **settings))
    stepper.initialize(state)
    stepper.step_to(time)
    return stepper


def spring(q, u, memory):
    memory[0] += 1.0
    return -40.0 * q - 3.0 * u


def test_compiled_laws_are_kept_on_disk():
    """All that a law's kernel reaches has a hash, which names its file."""
    system, _ = slider()
    routine = mb.control.Custom(system.forces, spring, sample_time=T, memory=[0.0]).entry().law
    assert routine._fingerprint and fingerprint(routine._entry("state"))
    # codes of two laws that other processes have made meet in one: their symbols differ
    assert all(one.__qualname__.endswith(routine._fingerprint) for one in (routine.python, routine.python.__globals__["law"]))


@pytest.mark.parametrize(
    ("method", "settings", "tolerance"),
    [
        ("RungeKutta2", {"fixed_step_size": T}, 1e-13),
        ("RungeKutta2", {"fixed_step_size": 0.3 * T}, 1e-13),
        ("RungeKuttaMerson", {"accuracy": 1e-6}, 1e-10),
        ("BDF", {"accuracy": 1e-8}, 1e-5),
        ("TimeStepping", {"fixed_step_size": T / 2}, 5e-2),
    ],
)
@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "in Python"])
def test_efforts_are_held_between_samples(method, settings, tolerance, compiled):
    system, _ = slider()
    controller = mb.control.Custom(system.forces, spring, sample_time=T, memory=[0.0], compiled=compiled)
    stepper = run(system, method=method, **settings)
    expected = recursion(lambda k, x, v: -40.0 * x - 3.0 * v, 50)
    np.testing.assert_allclose([*stepper.state.q, *stepper.state.u], expected[-1, :2], atol=tolerance)
    assert controller.get_memory(stepper.state) == 50.0
    np.testing.assert_allclose(controller.get_efforts(stepper.state), expected[-1, 2], atol=10.0 * tolerance)
    assert (method == "RungeKutta2") <= (stepper.integrator.get_num_steps_taken() >= 50)


class Push(mb.event.PeriodicHandler):
    def handle_event(self, state, accuracy):
        state.u = state.u + 1.0


@pytest.mark.parametrize("method", ["RungeKutta2", "TimeStepping"])
def test_handlers_act_before_samples_at_the_same_time_however_it_is_reported(method):
    """At the start, and at times of reports: rows are those of a run from report to report, and of one with others."""
    system, _ = slider()
    law = mb.control.Custom(system.forces, spring, sample_time=2 * T, memory=[0.0])
    system.add_event_handler(Push(4 * T))
    state, motions = system.realize_topology(), []
    for interval, record in ((T, None), (T, {"effort": law.get_efforts}), (0.5 * T, None), (20 * T, None)):
        integrator = getattr(mb.integrator, method)(system, fixed_step_size=T / 2)
        motions.append(mb.simulate(system, state, 20 * T, integrator=integrator, report_interval=interval, record=record))
    assert motions[1].quantities["effort"][1] == -3.0 * 1.0
    np.testing.assert_allclose(motions[1].u, motions[0].u, rtol=0, atol=1e-13)
    np.testing.assert_allclose(motions[2].u[::2], motions[0].u, rtol=0, atol=1e-13)
    np.testing.assert_allclose(motions[3].u, motions[0].u[::20], rtol=0, atol=1e-13)


def test_two_rates_reports_in_between_and_the_loop_in_python_agree():
    """Two controllers at 100 and 40 Hz, on a double pendulum, beside the same in Python through the stepper."""
    built = []
    for own in (True, False):
        system, _ = mb.examples.double_pendulum.build()
        first, second = ((body, 0) for body in system.matter.bodies[1:])
        if own:
            mb.control.PD(system.forces, [first], kp=30.0, kd=4.0, sample_time=0.01)
            mb.control.PD(system.forces, [second], kp=10.0, kd=1.0, sample_time=0.025)
            motors = None
        else:
            motors = mb.force.Actuators(system.forces, [first, second])
        state = system.realize_topology()
        state.q, state.u = (0.5, 0.7), (0.3, -0.4)
        built.append((system, state, motors))
    (system, state, _), (plain, start, motors) = built
    assert not sampling.needs_kinematics(state.tree)  # coordinates and speeds are enough
    trajectory = mb.simulate(system, state, 0.5, integrator=mb.integrator.RungeKuttaMerson(system, accuracy=1e-7))
    stepper = mb.TimeStepper(plain, mb.integrator.RungeKuttaMerson(plain, accuracy=1e-7))
    stepper.initialize(start)
    efforts = np.zeros(2)
    for k in range(100):  # every 5 ms something may be due
        q, u = stepper.state.q, stepper.state.u
        if k % 2 == 0:
            efforts[0] = -30.0 * q[0] - 4.0 * u[0]
        if k % 5 == 0:
            efforts[1] = -10.0 * q[1] - u[1]
        motors.set_efforts(stepper.state, efforts)
        stepper.step(0.005 * (k + 1) - stepper.time)
    np.testing.assert_allclose(trajectory.q[-1], stepper.state.q, atol=1e-7)


def test_what_laws_are_given_is_what_the_operators_give(make):
    """On a random tree of all kinds of mobilizers, some massless, with rotors; q, u, M, bias, gravity, frames."""
    model = make.tree(rotors=True)
    matter, forces = model.matter, model.forces
    body, station = model.bodies[-2], make.vector()
    seen = {}

    def law(t, q, u, M, bias, gravity, X, V, J, JDot_u, r, which, parameters):
        seen.update({name: np.array(value) for name, value in locals().items() if name != "seen"})
        return np.zeros(len(which))

    waves = [mb.function.Sinusoid(2.0, 3.0, 0.1), mb.function.Polynomial([1.0, 2.0, 3.0])]
    controller = mb.control.Custom(
        forces,
        law,
        [(model.bodies[1], 0)] if model.bodies[1].facts.num_u else None,
        sample_time=T,
        parameters=[3.0, 4.0],
        compiled=False,
        inputs={
            "X": mb.control.Pose(body, station),
            "V": mb.control.Velocity(body, station),
            "J": mb.control.Jacobian(body, station),
            "JDot_u": mb.control.JacobianBias(body, station),
            "r": mb.control.Reference(waves),
        },
    )
    system, state = model.system, model.system.realize_topology()
    state.q = state.q + make.vector(len(state.q), 0.3)
    state.u, state.time = make.vector(len(state.u)), 0.7
    system.project(state)
    system.realize(state, mb.Stage.DYNAMICS)
    before = matter.calc_gravity_forces(state), system.get_rigid_body_forces(state).copy()
    assert sampling.needs_kinematics(state.tree)
    controller.calc_efforts(state)
    np.testing.assert_array_equal(system.get_rigid_body_forces(state), before[1])  # nothing is left behind

    def agree(name, expected):
        expected = np.asarray(expected)
        np.testing.assert_allclose(seen[name], expected, atol=1e-12 * max(1.0, np.abs(expected).max()), err_msg=name)

    agree("q", state.q)
    agree("u", state.u)
    agree("M", matter.calc_m(state))
    agree("gravity", before[0])
    agree("gravity", matter.multiply_by_system_jacobian_transpose(state, model.gravity.get_body_forces(state)))
    zero = np.zeros(len(state.u))
    agree("bias", matter.calc_residual_force_ignoring_constraints(state, zero, np.zeros((len(model.bodies), 2, 3)), zero))
    agree("X", np.asarray(body.get_body_transform(state)) @ np.block([[np.eye(3), station[:, None]], [np.zeros(3), 1.0]]))
    agree("J", np.asarray(matter.calc_frame_jacobian(state, [body], [station])).reshape(6, -1))
    agree("V", seen["J"] @ state.u)
    agree("JDot_u", np.asarray(matter.calc_bias_for_frame_jacobian(state, [body], [station])).ravel())
    agree("r", [[f.calc_derivative([0] * k, [0.7]) if k else f.calc_value([0.7]) for f in waves] for k in range(3)])
    agree("parameters", [3.0, 4.0])
    agree("which", [body.first_u_index if hasattr(body, "first_u_index") else w for w, body in enumerate(seen["which"])])


def test_pid_along_a_reference_with_limits_is_its_recursion():
    system, body = slider()
    limits, gains = (-3.0, 2.5), {"kp": 30.0, "ki": 20.0, "kd": 6.0}
    wave = mb.function.Sinusoid(0.5, 4.0)
    controller = mb.control.PID(system.forces, [(body, 0)], **gains, sample_time=T, target=0.2, reference=wave, limits=limits)
    integral = 0.0

    def law(k, x, v):
        nonlocal integral
        e, rate = 0.2 + 0.5 * np.sin(4.0 * k * T) - x, 2.0 * np.cos(4.0 * k * T) - v
        f = 30.0 * e + 20.0 * integral + 6.0 * rate
        if not ((f >= 2.5 and e > 0) or (f <= -3.0 and e < 0)):
            integral += T * e
        return np.clip(f, *limits)

    expected = recursion(law, 50)
    stepper = run(system)
    np.testing.assert_allclose([*stepper.state.q, *stepper.state.u], expected[-1, :2], atol=1e-12)
    assert np.abs(expected[:, 2]).max() == 3.0  # it has been at a limit
    np.testing.assert_allclose(controller.get_memory(stepper.state), integral, atol=1e-12)


@pytest.mark.parametrize("law", [lambda t: 3.0 + 0.0 * t, lambda: np.array([3.0])], ids=["of time", "of nothing"])
def test_a_law_that_looks_at_nothing_acts(law):
    system, body = slider()
    mb.control.Custom(system.forces, law, sample_time=T)
    assert np.isclose(body.get_length(run(system, q=(0.0,)).state), 0.5 * 3.0 * (50 * T) ** 2)


def test_an_integral_removes_the_error_of_a_load():
    """A load of 4 on a unit mass: PD rests 4 / Kp beside the target, PID on it."""
    rests = []
    for kind, more in ((mb.control.PD, {}), (mb.control.PID, {"ki": 60.0})):
        system, body = slider()
        mb.force.MobilityConstantForce(system.forces, body, 0, 4.0)
        controller = kind(system.forces, [(body, 0)], kp=50.0, kd=12.0, sample_time=T, **more)
        state = system.realize_topology()
        controller.set_target(state, 0.5)
        stepper = mb.TimeStepper(system, mb.integrator.RungeKutta2(system, fixed_step_size=T))
        stepper.initialize(state)
        stepper.step_to(12.0)
        assert controller.get_target(stepper.state) == 0.5
        rests.append(stepper.state.q[0])
    np.testing.assert_allclose(rests, [0.5 + 4.0 / 50.0, 0.5], atol=1e-6)


def test_gravity_compensation_and_calc_gravity_forces_hold_an_arm():
    system, _ = mb.examples.double_pendulum.build()
    mb.control.GravityCompensation(system.forces, sample_time=0.001)
    state = system.realize_topology()
    state.q = (0.7, -0.4)
    trajectory = mb.simulate(system, state, 1.0, accuracy=1e-8)
    assert np.abs(trajectory.q[-1] - (0.7, -0.4)).max() < 1e-8


def test_computed_torque_makes_errors_linear_oscillators():
    """e_ddot + Kd e_dot + Kp e = 0, as the sample time goes to zero: the error of the hold falls with it."""
    errors = []
    for sample_time in (0.004, 0.002):
        system, _ = mb.examples.double_pendulum.build()
        reference = [mb.function.Sinusoid(0.4, 3.0), mb.function.Sinusoid(-0.3, 2.0, 1.0)]
        mb.control.ComputedTorque(system.forces, reference, kp=25.0, kd=10.0, sample_time=sample_time)
        state = system.realize_topology()
        state.q = (0.5, -0.3 * np.sin(1.0))
        state.u = (1.2, -0.6 * np.cos(1.0))
        motion = mb.simulate(system, state, 1.0, accuracy=1e-8, report_interval=0.05)
        decay = 0.5 * (1.0 + 5.0 * motion.time) * np.exp(-5.0 * motion.time)
        wanted = 0.4 * np.sin(3.0 * motion.time), -0.3 * np.sin(2.0 * motion.time + 1.0)
        errors.append(np.abs(motion.q - np.column_stack([wanted[0] + decay, wanted[1]])).max())
    assert errors[1] < 0.6 * errors[0] < 0.02


def test_impedance_gives_way_as_its_stiffness_says():
    """A load of 5 on the hand of a Panda, along y: it gives way by 5 / K, and goes back to a new target."""
    system, state = mb.examples.operational_space.build()
    system.forces.get_force(system.forces.get_num_forces() - 1).set_disabled_by_default(True)
    hand = system.matter.get_mobilized_body("panda_hand_tcp")
    q = state.q.copy()
    state = system.realize_topology()
    state.q = q
    system.realize(state, mb.Stage.POSITION)
    target = hand.get_body_transform(state)
    mb.force.ConstantForce(system.forces, hand, (0, 0, 0), (0, 5, 0))
    mb.control.Impedance(
        system.forces, hand, stiffness=[50.0] * 3 + [2000.0] * 3, damping=[2.0] * 3 + [200.0] * 3, target=target,
        joint_damping=1.0, sample_time=0.001,
    )  # fmt: skip
    state = system.realize_topology()
    state.q = q
    motion = mb.simulate(system, state, 4.0, integrator=mb.integrator.SemiExplicitEuler(system, fixed_step_size=0.001))
    end = motion.states[-1]
    system.realize(end, mb.Stage.POSITION)
    moved = hand.get_body_transform(end).p - target.p
    np.testing.assert_allclose(moved, [0.0, 5.0 / 2000.0, 0.0], atol=2e-5)


def test_the_hand_of_the_example_follows_its_circle():
    system, state = mb.examples.operational_space.build()
    hand = system.matter.get_mobilized_body("panda_hand_tcp")
    motion = mb.simulate(system, state, 3.0, integrator=mb.integrator.SemiExplicitEuler(system, fixed_step_size=0.001))
    for end in motion.states[-20:]:
        system.realize(end, mb.Stage.POSITION)
        angle = 2.0 * np.pi / 3.0 * end.time
        on_circle = [0.45, 0.1 * np.sin(angle), 0.45 + 0.1 * np.cos(angle)]
        np.testing.assert_allclose(hand.get_body_transform(end).p, on_circle, atol=2e-4)


def test_solve_is_numpys(rng):
    A = rng.normal(size=(6, 6))
    A = A @ A.T + np.eye(6)
    for B in (rng.normal(size=6), rng.normal(size=(4, 6)).T):
        np.testing.assert_allclose(mb.control.solve(A, B), np.linalg.solve(A, B), rtol=1e-10, atol=1e-12)


# ---------------------------------------------------------------------------------------------- sensors


def record(x, memory):
    """No effort; what has been measured, one after the other."""
    memory[int(memory[0]) + 1] = x[0, 0]
    memory[0] += 1.0
    return 0.0


def measured(**settings):
    system, body = slider()
    sensor = mb.control.Sensor(mb.control.Coordinates(), **settings)
    n = 2000
    controller = mb.control.Custom(
        system.forces, record, [(body, 0)], sample_time=T, inputs={"x": sensor}, memory=np.zeros(n + 1)
    )
    state = system.realize_topology()
    state.u = (2.0,)
    stepper = mb.TimeStepper(system, mb.integrator.ExplicitEuler(system, fixed_step_size=T))
    stepper.initialize(state)
    stepper.step_to(n * T)
    return controller.get_memory(stepper.state)[1:], 2.0 * T * np.arange(n)


def test_sensors_are_late_by_whole_samples():
    found, position = measured(delay=3.4 * T)
    np.testing.assert_allclose(found[4:], position[:-4], atol=1e-10)
    np.testing.assert_array_equal(found[:4], 0.0)


def test_noise_is_normal_repeats_and_depends_on_its_seed():
    """2000 numbers: mean and deviation within four standard errors; the fourth moment of a normal distribution."""
    noise = [found - position for found, position in (measured(noise=0.5, seed=seed) for seed in (1, 1, 2))]
    np.testing.assert_array_equal(noise[0], noise[1])
    assert abs(np.corrcoef(noise[0], noise[2])[0, 1]) < 0.09
    for one in noise:
        assert abs(one.mean()) < 4.0 * 0.5 / np.sqrt(2000)
        assert abs(one.std() / 0.5 - 1.0) < 4.0 / np.sqrt(4000)
        assert abs(np.mean((one / one.std()) ** 4) - 3.0) < 4.0 * np.sqrt(24 / 2000)
        assert abs(np.corrcoef(one[1:], one[:-1])[0, 1]) < 0.09


# ---------------------------------------------------------------------------------------------- states


def test_copies_and_checkpoints_go_on_with_what_is_held(tmp_path):
    system, _ = slider()
    controller = mb.control.Custom(system.forces, spring, sample_time=T, memory=[0.0])
    whole = run(system)
    part = run(system, time=20.5 * T)
    part.save_checkpoint(tmp_path / "run")
    going_on = mb.TimeStepper(system, mb.integrator.RungeKutta2(system, fixed_step_size=T))
    going_on.load_checkpoint(tmp_path / "run")
    going_on.step_to(50 * T)
    np.testing.assert_array_equal(going_on.state.q, whole.state.q)
    copy = run(system, time=20.5 * T).state.copy()
    again = mb.TimeStepper(system, mb.integrator.RungeKutta2(system, fixed_step_size=T))
    again.initialize(copy)
    again.step_to(50 * T)
    np.testing.assert_allclose(again.state.q, whole.state.q, rtol=1e-12)
    assert controller.get_memory(again.state) == 50.0
    copy.time = 0.0  # from the beginning: the next sample is now
    controller.set_memory(copy, [7.0])
    again.initialize(copy)
    again.step_to(T / 2)
    assert controller.get_memory(again.state) == 8.0


def test_it_is_a_force_that_can_be_off():
    system, _ = slider()
    controller = mb.control.Custom(system.forces, spring, sample_time=T, memory=[0.0], disabled_by_default=True)
    stepper = run(system)
    np.testing.assert_array_equal(stepper.state.q, [1.0])
    assert controller.get_memory(stepper.state) == 0.0
    assert sampling.next_sample(stepper.state.record) >= sampling.NEVER  # no step has to end at a sample


# ---------------------------------------------------------------------------------------------- mistakes


def a_generator(q):
    return np.array([sum(x for x in q)])


def growing(q):
    row = ()
    for x in q:
        row = (*row, x)
    return np.array([row[0]])


def forgetful(q):
    pass


def two_types(q):
    total = 0.0
    for k in range(2):
        total = q * k
    return total


@pytest.mark.parametrize(
    ("law", "first", "words"),
    [
        (growing, "'row = (*row, x)'", "tuple that grows in a loop"),
        (a_generator, "'return np.array([sum(x for x in q)])'", "a generator"),
        (two_types, "'return total'", "give it one type from the start"),
        (forgetful, "law (forgetful", "it returns nothing; return the efforts"),
    ],
)
def test_a_law_that_cannot_be_compiled_is_told_by_its_line(law, first, words):
    system, _ = slider()
    mb.control.Custom(system.forces, law, sample_time=T, compiled=True)
    with pytest.raises(mb.ModelError) as caught:
        system.realize_topology()
    assert str(caught.value).startswith(first), caught.value
    assert words in str(caught.value), caught.value


def test_a_body_with_one_mobility_stands_for_it():
    system, _ = mb.examples.double_pendulum.build()
    upper, lower = system.matter.bodies[1:]
    for given in ([upper, lower], ["upper", (lower, 0)], [(1, 0), "lower"]):
        assert mb.control.PD(system.forces, given, kp=1.0, kd=1.0, sample_time=T).pairs == [1, 0, 2, 0]
        assert mb.force.Actuators(system.forces, given).get_num_actuators() == 2
        seen = mb.control.Coordinates(given)
        mb.control.Custom(system.forces, lambda seen: 0.0, [upper], sample_time=T, inputs={"seen": seen})
        assert seen.shape(0, 0) == (2, 2) and seen._pairs == [1, 0, 2, 0]
    mb.mobilizer.Free(system.matter.ground, mb.body.Rigid(mb.MassProperties(1, (0, 0, 0), mb.UnitInertia(1, 1, 1))), name="box")
    upper.joint_name = "shoulder"  # as those of files have
    assert mb.force.Actuators(system.forces, ["shoulder", "box[4]"]).default_integers[-4:] == [1, 0, 3, 4]  # as tables say
    state = system.realize_topology()
    system.realize(state)
    assert mb.linearize(system, state, ["shoulder", "lower", "box[4]"]).input_names == [
        f"{name}.force" for name in ("shoulder", "lower", "box[4]")
    ]
    with pytest.raises(KeyError, match="the joint of that name moves 'upper'"):
        system.matter.bodies["shoulder"]
    for given, error, says in (
        (["box"], mb.ModelError, "say which, ('box', 0)"),
        ([3], TypeError, "a body with one mobility, not 3"),
        (upper, TypeError, "mobilities are a list"),
        ("upper", TypeError, "mobilities are a list"),
        ([("upper", 1)], IndexError, "has 1 u: 0"),
        (["lowr"], KeyError, "did you mean lower"),
    ):
        for make in (mb.force.Actuators, lambda *of: mb.control.PD(*of, kp=1.0, kd=1.0, sample_time=T)):
            with pytest.raises(error) as caught:
                make(system.forces, given)
            assert says in str(caught.value)
    for make in (
        mb.control.Coordinates,
        lambda one: mb.control.Driver(system.forces, upper, np.eye(2), 1.0, wheelbase=1.0, steering=one, driven=[]),
    ):
        with pytest.raises(TypeError, match="mobilities are a list"):
            make("upper")


def test_mistakes_are_told():
    system, body = slider()
    make = lambda law, **more: mb.control.Custom(system.forces, law, **{"sample_time": T, **more})  # noqa: E731
    with pytest.raises(mb.ModelError, match="the law asks for 'torque'"):
        make(lambda q, torque: q)
    with pytest.raises(mb.ModelError, match="each of its arguments"):
        make(lambda *q: q)
    with pytest.raises(TypeError, match="plain function"):
        make(3.0)
    with pytest.raises(mb.ModelError, match="sample_time"):
        make(spring, sample_time=0.0)
    with pytest.raises(mb.ModelError, match="least effort of limits exceeds"):
        make(spring, limits=(1.0, -1.0))
    with pytest.raises(TypeError, match="input 'x'"):
        make(lambda x: x, inputs={"x": 3})
    with pytest.raises(mb.ModelError, match="by its name already"):
        make(lambda q: q, inputs={"q": mb.control.Coordinates()})
    with pytest.raises(mb.ModelError, match="memory"):
        make(spring, memory=[np.nan])
    with pytest.raises(ValueError, match="kp"):
        mb.control.PD(system.forces, [(body, 0)], kp=[1.0, 2.0], kd=1.0, sample_time=T)
    with pytest.raises(mb.ModelError, match="functions"):
        mb.control.ComputedTorque(system.forces, [], kp=1.0, kd=1.0, sample_time=T)
    with pytest.raises(mb.ModelError, match="noise"):
        mb.control.Sensor(mb.control.Coordinates(), noise=-1.0)
    with pytest.raises(TypeError, match="input of a Sensor"):
        mb.control.Sensor("q")
    assert system.forces.get_num_forces() == 0  # nothing is left behind


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "in Python"])
def test_a_law_that_fails_ends_the_run_with_its_name(compiled):
    system, _ = slider()

    def law(t, q):
        if t > 0.095:
            raise ValueError("too late")
        return -q

    mb.control.Custom(system.forces, law, sample_time=T, name="impatient", compiled=compiled)
    state = system.realize_topology()
    stepper = mb.TimeStepper(system, mb.integrator.RungeKutta2(system, fixed_step_size=T))
    stepper.initialize(state)
    with pytest.raises((mb.errors.ConvergenceError, ValueError), match="too late"):
        stepper.step_to(1.0)
    np.testing.assert_allclose(stepper.time, 0.1)


def test_states_of_an_ensemble_have_memories_and_noise_of_their_own():
    system, body = slider()
    noisy = {"kp": 40.0, "ki": 20.0, "kd": 4.0, "noise": 0.01, "seed": 3, "sample_time": T}
    mb.control.PID(system.forces, [(body, 0)], **noisy)
    system.realize_topology()
    ensemble = mb.Ensemble(system, 3)
    ensemble.q = [[1.0], [1.0], [0.5]]
    for _ in range(5):  # what is held, and the integral, stay between calls
        ensemble.step(4 * T, fixed_step_size=T)
    alone = run(system, time=20 * T, method="RungeKuttaMerson", fixed_step_size=T)
    np.testing.assert_allclose(ensemble.q[0], alone.state.q, atol=1e-12)  # it is number 0, as a state alone
    assert 1e-6 < abs(ensemble.q[1, 0] - ensemble.q[0, 0]) < 0.05
    ensemble.reset([True, False, False], q=[[1.0]], time=0.0)
    ensemble.step(4 * T, fixed_step_size=T)
    alone = run(system, time=4 * T, method="RungeKuttaMerson", fixed_step_size=T)
    np.testing.assert_allclose(ensemble.q[0], alone.state.q, atol=1e-12)


@pytest.mark.parametrize(
    "make",
    [
        lambda forces: mb.control.PD(forces, [0.0], kp=1.0, kd=1.0, sample_time=0.01),
        lambda forces: mb.control.ComputedTorque(forces, 0.0, kp=1.0, kd=1.0, sample_time=0.01),
        lambda forces: mb.control.StateFeedback(forces, gains=np.zeros((1, 2)), q=[0.0], sample_time=0.01),
    ],
)
def test_what_is_no_force_subsystem_is_refused(make):
    system, _ = mb.examples.double_pendulum.build()
    for wrong in (None, system, system.matter):
        with pytest.raises(TypeError, match="GeneralForceSubsystem"):
            make(wrong)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"path": [[0.0, 0.0]]}, "two or more"),
        ({"path": [[0.0, 0.0], [0.0, 0.0]]}, "another one than that before"),
        ({"speed": 0.0}, "speed of a Driver"),
        ({"wheelbase": -1.0}, "wheelbase of a Driver"),
        ({"steering_gains": (1.0,)}, "two finite numbers"),
        ({"steering_gains": (1.0, np.nan)}, "two finite numbers"),
        ({"speed_gain": np.nan}, "speed_gain of a Driver"),
    ],
)
def test_what_no_driver_follows_is_refused(change, says):
    system, _ = mb.examples.double_pendulum.build()
    body, forces = system.matter.bodies[1], system.forces
    before = forces.get_num_forces()
    given = {"path": [[0.0, 0.0], [1.0, 0.0]], "speed": 1.0, "wheelbase": 1.0, "steering": [(body, 0)], "driven": [], **change}
    with pytest.raises((ValueError, mb.ModelError), match=says):
        mb.control.Driver(forces, body, given.pop("path"), given.pop("speed"), **given)
    assert forces.get_num_forces() == before


def test_a_drivers_first_parameters_have_names():
    system, state = mb.examples.car.build()
    driver = system.forces.get_force("driver")
    assert driver.get_parameter(state, "speed") == mb.examples.car.SPEED
    driver.set_parameter(state, "speed", 15.0)
    assert driver.get_parameters(state)[1] == 15.0 and driver.get_parameter(state, "wheelbase") == mb.examples.car.WHEELBASE
