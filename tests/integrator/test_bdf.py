"""BDF with each of its solvers: smooth and stiff models, its steps beside RungeKuttaMerson's, what it counts, how it ends."""

import importlib.util

import integrated_models as models
import numpy as np
import pytest
from integrated_models import pendulum, slider, stepper_of, swing, tumbler

import mobod as mb
from mobod.integrator import BDF, RungeKuttaMerson

without_cvode = importlib.util.find_spec("sksundae") is None
SOLVERS = ["compiled", pytest.param("cvode", marks=pytest.mark.skipif(without_cvode, reason="needs scikit-sundae")), "scipy"]
each = pytest.mark.parametrize("solver", SOLVERS)


def end(system, state, time, **settings):
    return models.end(BDF, system, state, time, **settings)


@each
@pytest.mark.parametrize("accuracy", [1e-4, 1e-7, 1e-9])
def test_accuracy_on_a_pendulum(solver, accuracy):
    stepper = end(*pendulum(), 3.0, accuracy=accuracy, solver=solver)
    assert abs(stepper.state.q[0] - swing(3.0)) < 300.0 * accuracy
    assert stepper.integrator.get_solver_name() == solver


@each
def test_it_agrees_with_dop853_on_a_tumbling_body(solver, close):
    system, state = tumbler()
    final = end(system, state, 0.5, accuracy=1e-8, solver=solver).state
    close(final.y, models.truth(system, state, 0.5), 1e-5)
    assert abs(np.linalg.norm(final.q[:4]) - 1.0) < 1e-15 * 4


@each
def test_reports_are_by_its_own_polynomial(solver):
    system, state = pendulum()
    run = mb.simulate(system, state, 2.0, integrator=BDF(system, accuracy=1e-6, solver=solver), report_interval=0.01)
    assert np.abs(run.q[:, 0] - swing(run.time)).max() < 3e-4
    assert np.abs(run.energy - run.energy[0]).max() < 3e-3


def stiff_chain(n=10, k=1e8, c=1e5):
    """Links of 0.3 and 1 kg on pins, with a spring and a damper on each."""
    system = mb.MultibodySystem("stiff chain")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.8, 0))
    mb.force.Custom(forces, models.Push(lambda state: -k * state.q - c * state.u))
    parent = matter.ground
    for i in range(n):
        frame = mb.Transform((0, -0.3, 0)) if i else mb.Transform()
        parent = mb.mobilizer.Pin(parent, models.point_mass(), X_PF=frame, X_BM=mb.Transform((0, 0.3, 0)))
    state = system.realize_topology()
    state.u = np.linspace(0.1, 1.0, n)
    return system, state


@each
def test_a_stiff_chain_takes_a_hundredth_of_the_steps(solver):
    """RungeKuttaMerson's steps are bounded by its stability all the way: a ten-thousandth of the second tells how many."""
    system, state = stiff_chain()
    stepper = end(system, state, 1.0, accuracy=1e-3, solver=solver)
    steps = stepper.integrator.get_num_steps_attempted()
    assert steps < 400
    assert np.abs(stepper.state.y).max() < 1e-5, "it has come to rest, where gravity bends nothing"
    other = stepper_of(RungeKuttaMerson, system, state, accuracy=1e-3)
    other.step_to(2e-5)
    before = other.integrator.get_num_steps_attempted()
    other.step_to(7e-5)
    assert (other.integrator.get_num_steps_attempted() - before) / 5e-5 > 100 * steps


def bushing_chain(n=10, k=1e8, c=1e5):
    """Links of 0.3 on pins, held straight by bushings; the energy that these dissipate is among the variables."""
    system = mb.MultibodySystem("chain of bushings")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.8, 0))
    parent = matter.ground
    for i in range(n):
        frame, end = mb.Transform((0, -0.3, 0)) if i else mb.Transform(), mb.Transform((0, 0.3, 0))
        link = mb.mobilizer.Pin(parent, models.point_mass(), X_PF=frame, X_BM=end)
        mb.force.LinearBushing(forces, parent, frame, link, end, np.full(6, k), np.full(6, c))
        parent = link
    state = system.realize_topology()
    state.u = np.linspace(0.1, 1.0, n)
    return system, state


@each
def test_a_chain_of_bushings_takes_a_hundredth_of_the_steps(solver):
    system, state = bushing_chain()
    stepper = end(system, state, 1.0, accuracy=1e-3, solver=solver)
    steps = stepper.integrator.get_num_steps_attempted()
    system.realize(state)
    kinetic = 0.5 * state.u @ system.matter.calc_m(state) @ state.u
    # what it had at first is what the bushings have taken, to the accuracy of that many steps
    assert abs(stepper.state.z.sum() - kinetic) < 0.05 * kinetic and np.abs(stepper.state.u).max() < 1e-2
    other = stepper_of(RungeKuttaMerson, system, state, accuracy=1e-3)
    other.step_to(2e-5)
    before = other.integrator.get_num_steps_attempted()
    other.step_to(7e-5)
    assert (other.integrator.get_num_steps_attempted() - before) / 5e-5 > 100 * steps


@each
def test_a_stiff_oscillator_in_closed_form(solver):
    """q'' = -k (q - sin t) - c q', of rates -1e-1... to -1e6: q follows the slow solution."""
    k, c = 1e6, 1e6
    system, state = slider(lambda state: -k * (state.q - np.sin(state.time)) - c * state.u)
    a, b = (c + np.sqrt(c * c - 4 * k)) / 2, 2 * k / (c + np.sqrt(c * c - 4 * k))  # rates of the two decays
    # the particular solution A sin t + B cos t
    A, B = np.linalg.solve([[k - 1.0, -c], [c, k - 1.0]], [k, 0.0])
    # at rest at 0: P exp(-a t) + Q exp(-b t)
    P, Q = np.linalg.solve([[1.0, 1.0], [-a, -b]], [-B, -A])
    for accuracy in (1e-4, 1e-7):
        stepper = end(system, state, 3.0, accuracy=accuracy, solver=solver)
        expected = A * np.sin(3.0) + B * np.cos(3.0) + P * np.exp(-a * 3.0) + Q * np.exp(-b * 3.0)
        assert abs(stepper.state.q[0] - expected) < 50.0 * accuracy
        assert stepper.integrator.get_num_steps_attempted() < 400


@each
def test_it_goes_on_from_a_changed_state(solver, close):
    """As after an event; statistics go on, and the order starts from 1."""
    system, state = tumbler()
    stepper = stepper_of(BDF, system, state, accuracy=1e-7, solver=solver)
    stepper.step_to(0.2)
    steps = stepper.integrator.get_num_steps_taken()
    changed = stepper.state.copy()
    changed.u = 0.5 * changed.u
    stepper.state.u = 0.5 * stepper.state.u
    stepper.integrator.restart()
    stepper.step_to(0.4)
    assert stepper.integrator.get_num_steps_taken() > steps
    close(stepper.state.y, models.truth(system, changed, 0.4), 1e-4)


@each
def test_a_jump_is_passed(solver):
    system, state = slider(lambda state: 1.0 if state.time < 0.5 else -1.0)
    stepper = end(system, state, 1.0, accuracy=1e-6, solver=solver)
    assert abs(stepper.state.q[0] - 0.25) < 1e-4 and abs(stepper.state.u[0]) < 1e-4


def test_a_motion_along_a_jump_ends_with_an_error():
    """Dry friction by the sign of a speed that has come to rest: steps are forced over the jump, and come back to it."""
    system, state = slider(lambda state: -10.0 * np.sign(state.u) - state.q)
    state.q, state.u = [1.0], [1.0]
    stepper = stepper_of(BDF, system, state, accuracy=1e-4)
    with (
        pytest.warns(RuntimeWarning, match=r"the rate of u\[0\].* jumps from"),
        pytest.raises(mb.ConvergenceError, match=r"misses accuracy 0\.0001.*a force jumps.*make a jump an event"),
    ):
        stepper.step_to(2.0)
    assert 0.0 < stepper.state.u[0] + 1e-9 < 1e-4 and stepper.integrator.get_num_steps_taken() < 1000


@each
@pytest.mark.parametrize("bad", [np.inf, np.nan])
def test_a_force_that_is_not_finite_ends_with_the_last_good_state(solver, bad):
    system, state = slider(lambda state: bad if state.time > 0.5 else 1.0)
    stepper = stepper_of(BDF, system, state, accuracy=1e-6, solver=solver)
    with pytest.raises(
        mb.ConvergenceError, match=r"not finite beyond time 0\.[45].*force 'push' applies to mobility 0 of 'slider'"
    ):
        stepper.step_to(1.0)
    t = stepper.time
    assert 0.4 < t <= 0.5 + 1e-9 and abs(stepper.state.q[0] - 0.5 * t * t) < 1e-5
    assert stepper.state.stage == mb.Stage.ACCELERATION and stepper.integrator.get_num_realization_failures() > 0


@each
def test_ctrl_c_in_a_force_leaves_the_last_good_state(solver):
    calls = []

    def force(state):
        calls.append(state.time)
        if len(calls) == 200:
            raise KeyboardInterrupt
        return -100.0 * state.q

    system, state = slider(force)
    state.q = [1.0]
    stepper = stepper_of(BDF, system, state, accuracy=1e-6, solver=solver)
    with pytest.raises(KeyboardInterrupt):
        stepper.step_to(10.0)
    assert 0.0 < stepper.time == stepper.integrator.get_advanced_time() < 10.0
    assert abs(stepper.state.q[0] - np.cos(10.0 * stepper.time)) < 1e-3
    stepper.step_to(2.0)  # and it goes on
    assert abs(stepper.state.q[0] - np.cos(20.0)) < 1e-2


@each
def test_a_smallest_step_that_is_too_long_says_so(solver):
    system, state = slider(lambda state: -1e6 * np.sin(1e4 * state.time))
    stepper = stepper_of(BDF, system, state, accuracy=1e-8, min_step_size=1e-2, solver=solver)
    with pytest.raises(mb.ConvergenceError, match="misses accuracy 1e-08"):
        stepper.step_to(1.0)
    assert stepper.state.stage == mb.Stage.ACCELERATION


@each
def test_bounds_of_the_steps(solver):
    system, state = tumbler()
    stepper = stepper_of(BDF, system, state, max_step_size=1e-3, solver=solver)
    stepper.integrator.set_return_every_internal_step(True)
    times = [0.0]
    while stepper.step_to(0.02) is mb.StepStatus.TIME_HAS_ADVANCED:
        times.append(stepper.time)
    assert np.diff(times).max() < 1.001e-3


@each
def test_fixed_steps_and_samples_that_differ_by_rounding_end_together(solver):
    """A step of one rounding between the two would be followed by others as short, without end: the first is at 0.06."""
    system, _ = mb.examples.double_pendulum.build()
    joints = [(body, 0) for body in system.matter.bodies[1:]]
    mb.control.PD(system.forces, joints, kp=20.0, kd=2.0, sample_time=0.01)
    state = system.realize_topology()
    state.q = [0.3, 0.2]
    integrator = BDF(system, accuracy=1e-4, fixed_step_size=0.01, solver=solver)
    integrator.set_return_every_internal_step(True)
    stepper = mb.TimeStepper(system, integrator)
    stepper.initialize(state)
    sizes = []
    while stepper.time < 0.1 and len(sizes) < 100:
        stepper.step_to(0.1)
        sizes.append(integrator.get_previous_step_size_taken())
    assert stepper.time == 0.1 and min(sizes) > 1e-8


def test_a_solver_that_there_is_not():
    system, _ = pendulum()
    with pytest.raises(ValueError, match="'compiled', 'cvode' or 'scipy', not 'euler'"):
        BDF(system, solver="euler")


def test_cvode_needs_scikit_sundae(monkeypatch):
    monkeypatch.setattr(mb.integrator.bdf, "_has_cvode", lambda: False)
    system, state = pendulum()
    assert end(system, state, 0.1).integrator.get_solver_name() == "compiled"
    with pytest.raises(ImportError, match=r"mobod\[stiff\]"):
        BDF(system, solver="cvode")


@each
def test_steps_are_the_same_where_the_jacobian_is_interpreted(solver, close):
    ends = [end(*tumbler(interpreted), 0.5, accuracy=1e-6, solver=solver) for interpreted in (False, True)]
    steps = [stepper.integrator.get_num_steps_taken() for stepper in ends]
    assert abs(steps[0] - steps[1]) <= 2
    close(ends[1].state.y, ends[0].state.y, 1e-5, 1.0)


def test_what_comes_to_rest_takes_long_steps(rng):
    """Newton's changes are rounding then, and become no less: it diverged, steps of 1e-15 missed, or went on without end."""
    for speed in np.tile(10.0 ** -np.arange(0.0, 18.0, 3.0), 15):  # one in thirty fell
        system = mb.MultibodySystem()
        matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
        mb.force.UniformGravity(forces, matter, (0, 0, -9.81))
        solid = mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(0.1, 0.12, 0.15))
        box = mb.mobilizer.Free(matter.ground, mb.body.Rigid(solid))
        for x in (-0.5, 0.5):
            for y in (-0.4, 0.4):
                mb.contact.PointPlane(matter.ground, (0, 0, 1), 0.0, box, (x, y, -0.25), 0.3, static_friction=0.3)
        state = system.realize_topology()
        box.set_q(state, (*np.array([1.0, 0.0, 0.0, 0.3]) / np.hypot(1.0, 0.3), *rng.normal(size=2), 0.25))
        box.set_u(state, (0.0, 0.0, *rng.normal(0.0, speed, 3), 0.0))
        integrator = BDF(system, accuracy=1e-6)
        mb.simulate(system, state, 5.0, integrator=integrator)
        assert integrator.get_num_steps_taken() < 150 and integrator.get_num_steps_attempted() < 250
