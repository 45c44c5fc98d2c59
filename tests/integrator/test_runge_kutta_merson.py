"""RungeKuttaMerson against closed forms: its order, its accuracy, its dense output, and its two forms, compiled and not."""

import numpy as np
import pytest

import mobod as mb


class Nothing(mb.force.CustomImplementation):
    """A force that adds nothing: makes its system run interpreted."""

    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        pass


class Spring(mb.force.CustomImplementation):
    """A spring of unit stiffness on every mobility."""

    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        mobility_forces -= state.q

    def calc_potential_energy(self, state):
        return 0.5 * float(state.q @ state.q)


def point_mass(mass=1.0):
    return mb.body.Rigid(mb.MassProperties(mass, (0, 0, 0), mb.UnitInertia.sphere(0.1)))


@pytest.fixture
def oscillator():
    """q'' = -q: q = cos t."""
    system = mb.MultibodySystem("oscillator")
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Custom(mb.GeneralForceSubsystem(system), Spring())
    mb.mobilizer.Slider(matter.ground, point_mass())
    state = system.realize_topology()
    state.q = [1.0]
    return system, state


def pendulum(interpreted=False, angle=2.0):
    """A point of unit mass, nearly, on a rod of unit length: q'' = -k sin q."""
    system = mb.MultibodySystem("pendulum")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.8, 0))
    if interpreted:
        mb.force.Custom(forces, Nothing())
    mb.mobilizer.Pin(matter.ground, point_mass(), X_BM=mb.Transform((0, 1, 0)))
    state = system.realize_topology()
    state.q = [angle]
    return system, state


def swing(t, angle=2.0):
    """The pendulum's angle in closed form: sin(q/2) = k sn(K - w t, k^2), let go at *angle* at rest."""
    from scipy.special import ellipj, ellipk

    k = np.sin(angle / 2.0)
    rate = np.sqrt(9.8 / (1.0 + 0.4 * 0.1**2))  # the sphere's own inertia, 2/5 m r^2
    sn = ellipj(ellipk(k * k) - rate * np.asarray(t), k * k)[0]
    return 2.0 * np.arcsin(k * sn)


def end(system, state, time, **settings):
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, **settings))
    stepper.initialize(state)
    stepper.step_to(time)
    return stepper


def test_order_is_four_by_measurement():
    """Halving a fixed step divides the error by 16: against the elliptic closed form of a pendulum."""
    system, state = pendulum()
    steps = 1.0 / np.array([40, 80, 160])
    errors = [abs(end(system, state, 1.0, fixed_step_size=h).state.q[0] - swing(1.0)) for h in steps]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(orders > 3.7) and np.all(orders < 4.6), (errors, orders)  # higher terms are still seen at these steps


def test_order_is_four_for_a_linear_equation_too(oscillator):
    """Of the two formulas the fourth-order one goes on: the other's fifth order on linear equations is for the estimate."""
    system, state = oscillator
    steps = 1.0 / np.array([10, 20, 40])
    errors = [abs(end(system, state, 2.0, fixed_step_size=h).state.q[0] - np.cos(2.0)) for h in steps]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(orders - 4.0) < 0.1), (errors, orders)


@pytest.mark.parametrize("accuracy", [1e-3, 1e-5, 1e-7, 1e-9])
def test_error_stays_in_proportion_to_the_accuracy(accuracy):
    system, state = pendulum()
    stepper = end(system, state, 3.0, accuracy=accuracy)
    # local errors of at most *accuracy* a step, some tens of steps, and a swing that does not amplify them much
    assert abs(stepper.state.q[0] - swing(3.0)) < 100.0 * accuracy


def test_tighter_accuracy_takes_more_steps_and_gives_less_error():
    system, state = pendulum()
    runs = [end(system, state, 3.0, accuracy=10.0**-k) for k in (3, 5, 7, 9)]
    errors = [abs(run.state.q[0] - swing(3.0)) for run in runs]
    steps = [run.integrator.get_num_steps_taken() for run in runs]
    assert errors == sorted(errors, reverse=True) and steps == sorted(steps)


@pytest.mark.parametrize("accuracy", [1e-4, 1e-8])
def test_dense_output_is_as_good_as_the_steps(accuracy):
    system, state = pendulum()
    run = mb.simulate(system, state, 2.0, accuracy=accuracy, report_interval=0.01)
    assert np.abs(run.q[:, 0] - swing(run.time)).max() < 100.0 * accuracy


def test_reports_do_not_change_the_steps():
    system, state = pendulum()
    few, many = (mb.simulate(system, state, 2.0, accuracy=1e-6, report_interval=h) for h in (1.0, 0.001))
    assert few.steps_taken == many.steps_taken and few.evaluations == many.evaluations
    assert np.array_equal(few.q[-1], many.q[-1]) and np.array_equal(few.q[1], many.q[1000])


@pytest.mark.parametrize("interpreted", [False, True])
def test_an_interrupted_run_repeats_the_uninterrupted_one_to_the_bit(interpreted):
    system, state = pendulum(interpreted)
    whole = end(system, state, 2.0, accuracy=1e-6)
    parts = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-6))
    parts.initialize(state)
    for time in (0.1, 0.1, 0.30000001, 0.5, 1.9, 2.0):
        parts.step_to(time)
        assert parts.time == time
    assert np.array_equal(parts.state.y, whole.state.y)
    assert parts.integrator.get_num_steps_taken() == whole.integrator.get_num_steps_taken()


def test_a_run_repeats_its_own_bits(make):
    model = make.tree()
    model.randomize()
    runs = [mb.simulate(model.system, model.state, 0.5, accuracy=1e-5) for _ in range(2)]
    assert np.array_equal(runs[0].q, runs[1].q) and np.array_equal(runs[0].energy, runs[1].energy)


def test_interpreted_and_compiled_runs_agree(make, close):
    """One source: to rounding, which half a second of a random tree amplifies."""
    model = make.tree()
    state = model.randomize(mb.Stage.MODEL)
    compiled = mb.simulate(model.system, state, 0.3, accuracy=1e-6)
    mb.force.Custom(model.forces, Nothing())
    other = model.system.realize_topology()
    other.q, other.u = state.q, state.u
    interpreted = mb.simulate(model.system, other, 0.3, accuracy=1e-6)
    assert interpreted.steps_taken == compiled.steps_taken
    close(interpreted.q, compiled.q, 1e-8, max(1.0, np.abs(compiled.q).max()))
    close(interpreted.u, compiled.u, 1e-7, max(1.0, np.abs(compiled.u).max()))
    close(interpreted.energy, compiled.energy, 1e-8, max(1.0, np.abs(compiled.energy).max()))


# ---------------------------------------------------------------------------------------------- mechanics in closed form


@pytest.mark.parametrize("kind", [mb.mobilizer.Ball, mb.mobilizer.Free])
@pytest.mark.parametrize("euler", [False, True], ids=["quaternion", "euler"])
def test_torque_free_symmetric_top_precesses_as_in_closed_form(kind, euler, close):
    """In the body: w3 constant, (w1, w2) turn at (I3 - I1)/I1 w3. Euler's equations; Landau and Lifshitz 1976, section 33."""
    I1, I3, w = 1.0, 1.5, np.array([0.3, 0.0, 2.0])
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(I1, I1, I3)))
    top = kind(matter.ground, body)
    state = system.realize_topology()
    matter.set_use_euler_angles(state, euler)
    system.realize_model(state)
    top.set_u_to_fit_angular_velocity(state, w)
    stepper = end(system, state, 1.3, accuracy=1e-9)
    final = stepper.state
    turn = (I3 - I1) / I1 * w[2] * 1.3
    w_body = top.express_ground_vector_in_body_frame(final, top.get_body_angular_velocity(final))
    close(w_body, [w[0] * np.cos(turn), w[0] * np.sin(turn), w[2]], 1e-7)  # the accuracy over some hundred steps
    # the axis goes round the angular momentum, which stands still, at |L| / I1
    L = np.array([I1 * w[0], 0.0, I3 * w[2]])
    rate = mb.Rotation.about_axis(np.linalg.norm(L) / I1 * 1.3, L / np.linalg.norm(L))
    close(top.express_vector_in_ground_frame(final, (0, 0, 1)), rate @ np.array([0.0, 0.0, 1.0]), 1e-7)
    close(matter.calc_system_central_momentum(final)[0], L, 1e-7)


def test_quaternions_stay_normalized_and_reports_too(make):
    model = make.tree(0)
    ball = mb.mobilizer.Ball(model.matter.ground, make.body())
    state = model.made().state
    ball.set_u(state, (3, 4, 5))
    run = mb.simulate(model.system, state, 5.0, accuracy=1e-3)
    # a report is normalized after interpolation, as every step is
    assert np.abs(np.linalg.norm(run.q, axis=1) - 1.0).max() < 1e-15 * 4


def test_a_quaternion_that_is_not_normalized_is_at_the_start(make):
    model = make.tree(0)
    ball = mb.mobilizer.Ball(model.matter.ground, make.body())
    state = model.made().state
    ball.set_q(state, (2, 0, 0, 0))
    run = mb.simulate(model.system, state, 0.1)
    assert np.array_equal(run.q[0], (1, 0, 0, 0)) and np.array_equal(state.q, (2, 0, 0, 0))


def test_energy_is_conserved_to_the_accuracy(make):
    model = make.tree(6)
    model.randomize()
    drifts = []
    for accuracy in (1e-4, 1e-6, 1e-8):
        run = mb.simulate(model.system, model.state, 0.5, accuracy=accuracy)
        drifts.append(np.abs(run.energy - run.energy[0]).max() / np.abs(run.energy[0] - run.energy).max(initial=100.0))
    assert drifts[2] < 1e-6 and drifts[2] <= max(drifts[0], 1e-10)


def test_free_fall_is_exact_at_any_step(close):
    """A parabola is within the method's order: one step is enough."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, 0, -10))
    mb.mobilizer.Translation(matter.ground, point_mass())
    state = system.realize_topology()
    state.u = (1, 2, 3)
    final = end(system, state, 2.0, fixed_step_size=2.0).state
    close(final.q, (2, 4, 6 - 20), 1e-14)
    close(final.u, (1, 2, -17), 1e-14)
