"""Messages and states of integrators that cannot go on: forces that jump, or are not finite; Ctrl-C."""

import signal
import threading
import time as clock
import warnings
from importlib.resources import files

import integrated_models as models
import numpy as np
import pytest
from integrated_models import CONTROLLED, EXPLICIT, slider, stepper_of

import mobod as mb
from kinds.integrators import INTEGRATORS
from mobod import integrator as kinds
from mobod.algebra.order import larger_or_nan

each_explicit = pytest.mark.parametrize("kind", EXPLICIT, ids=lambda kind: kind.__name__)
each_controlled = pytest.mark.parametrize(
    "kind", [kind for kind in EXPLICIT if kind in CONTROLLED], ids=lambda kind: kind.__name__
)


@each_controlled
def test_a_jump_is_passed_by_short_steps_without_a_word(kind):
    system, state = slider(lambda state: 1.0 if state.time < 0.5 else -1.0)
    stepper = stepper_of(kind, system, state, accuracy=1e-4)
    stepper.step_to(1.0)
    most = 0.02 if INTEGRATORS[kind].stage_near_end else 0.1
    assert abs(stepper.state.q[0] - 0.25) < most and abs(stepper.state.u[0]) < most


@pytest.mark.parametrize("kind", [kinds.RungeKuttaMerson, kinds.Verlet], ids=lambda kind: kind.__name__)
def test_a_trial_that_a_part_in_python_refuses_is_tried_shorter(kind):
    """Also where Python realizes the whole state: the next trial asks anew."""
    system, _ = mb.examples.double_pendulum.build()
    last, refused = [0.0], []

    def watched(state):
        if state.time - last[0] > 0.02:
            refused.append(state.time)
            raise mb.ModelError("too far at once")
        last[0] = state.time
        return state.u[0]

    measure = mb.measure.Function(system.matter, watched, mb.Stage.VELOCITY)
    mb.measure.Integrate(system.matter, measure, mb.measure.Constant(system.matter, 0.0))
    state = system.realize_topology()
    last[0] = 0.0
    motion = mb.simulate(system, state, 0.2, integrator=kind(system, accuracy=1e-3, initial_step_size=0.1))
    assert refused and motion.time[-1] == 0.2


def test_a_step_after_which_a_fiber_has_no_length_is_tried_shorter():
    """A slack tendon hides it from the forces: no rate of q and u says so, its error alone, which others follow."""
    leg = mb.load_osim(files("mobod") / "examples" / "leg6dof9musc.osim")
    right, found = (
        mb.simulate(leg.system, leg.default_state(), 0.2, accuracy=accuracy, report_interval=0.2) for accuracy in (1e-6, 1e-3)
    )
    assert np.isfinite(found.z).all()
    np.testing.assert_allclose(found.q[-1], right.q[-1], atol=0.02)


def test_a_fiber_that_no_tendon_holds_is_named_with_its_length_and_the_remedy():
    leg = mb.load_osim(files("mobod") / "examples" / "leg6dof9musc.osim")
    state, soleus = leg.default_state(), leg.muscles["soleus_r"]
    soleus.set_state_variable(state, "fiber_length", 5.0 * soleus.get_optimal_fiber_length(state))
    with pytest.raises(mb.ConvergenceError, match=r"'soleus_r', whose fiber is 5 times its optimal length; Muscle.equilibrate"):
        mb.simulate(leg.system, state, 0.1)


@pytest.mark.parametrize("bad", [0, 1, 2])
def test_an_error_that_is_no_number_is_one_of_the_whole_step(bad):
    sizes = [np.float64(0.3), np.float64(0.2), np.float64(0.1)]
    sizes[bad] = np.float64(np.nan)
    worst = np.float64(0.0)
    for size in sizes:
        worst = larger_or_nan(worst, size)
    assert np.isnan(worst)


def test_a_jump_too_large_for_the_smallest_step_is_passed_with_a_warning():
    """It names time, body and values; the run goes on, and hears of the same body once."""
    system, state = slider(lambda state: 1e4 if state.time % 0.2 < 0.1 else -1e4)
    stepper = stepper_of(kinds.RungeKuttaMerson, system, state, accuracy=1e-8, min_step_size=1e-4)
    with pytest.warns(RuntimeWarning) as caught:
        stepper.step_to(0.35)
    (warning,) = caught
    text = str(warning.message)
    assert text.startswith("near time 0.1 the rate of u[0], number 0 of 'slider', jumps from 10000 to -10000"), text
    assert "event" in text and "min_step_size" in text and warning.filename.endswith("test_failures.py")
    # three jumps, each passed at 1e-4 with a speed wrong by 1e4 times that at most
    assert abs(stepper.state.u[0] - 1e4 * (0.1 - 0.1 + 0.1 - 0.05)) < 3.0
    assert stepper.integrator.get_num_error_test_failures() > 0


def test_a_warning_made_an_error_leaves_a_good_state_to_go_on_from():
    system, state = slider(lambda state: 1e4 if state.time < 0.1 else -1e4)
    stepper = stepper_of(kinds.RungeKuttaMerson, system, state, accuracy=1e-8, min_step_size=1e-4)
    with pytest.raises(RuntimeWarning, match="jumps"):
        stepper.step_to(0.2)
    assert 0.0999 - 1e-4 < stepper.time <= 0.1 and stepper.state.stage == mb.Stage.ACCELERATION
    stepper.step_to(0.2)
    assert abs(stepper.state.u[0]) < 2.0


def test_a_stiff_system_is_no_jump():
    system, state = slider(lambda state: -1e12 * state.q - 1e6 * state.u)
    state.q = [1.0]
    stepper = stepper_of(kinds.RungeKuttaMerson, system, state, accuracy=1e-6, min_step_size=1e-4)
    with pytest.raises(mb.ConvergenceError, match=r"most of all in .*'slider'.*too stiff for RungeKuttaMerson.*BDF"):
        stepper.step_to(1.0)


def test_a_jump_that_depends_on_where_one_is():
    """Dry friction without any smoothing: the speed's sign."""
    system, state = slider(lambda state: -1e3 * np.sign(state.u))
    state.u = [1.0]
    stepper = stepper_of(kinds.RungeKuttaMerson, system, state, accuracy=1e-6, min_step_size=1e-5)
    with pytest.warns(RuntimeWarning, match="'slider', jumps from"):
        stepper.step_to(0.002)
    assert abs(stepper.state.u[0]) < 0.02, "it stays near rest"


@each_explicit
def test_not_finite_names_step_time_force_and_body(kind):
    system, state = slider(lambda state: np.nan if state.time > 0.25 else 1.0)
    stepper = stepper_of(kind, system, state)
    with pytest.raises(
        mb.ConvergenceError,
        match=r"not finite beyond time 0\.2\d*, in step \d+, .*at time 0\.2\d* "
        r"force 'push' applies to mobility 0 of 'slider' a force that is not finite: nan",
    ):
        stepper.step_to(1.0)
    assert 0.2 < stepper.time <= 0.2501 and stepper.state.stage == mb.Stage.ACCELERATION
    assert np.isfinite(stepper.state.y).all() and stepper.integrator.get_num_realization_failures() > 0


def test_not_finite_by_a_force_on_a_body():
    class Wild(mb.force.CustomImplementation):
        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            body_forces[2, 1, 0] = np.sqrt(0.3 - state.time) if state.time < 0.3 else np.inf

    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Custom(mb.GeneralForceSubsystem(system), Wild(), name="wild")
    one = mb.mobilizer.Free(matter.ground, models.point_mass(), name="one")
    mb.mobilizer.Free(one, models.point_mass(), name="two")
    state = system.realize_topology()
    with pytest.raises(mb.ConvergenceError, match="force 'wild' applies to body 'two' a force that is not finite"):
        stepper_of(kinds.RungeKuttaMerson, system, state, accuracy=1e-6).step_to(1.0)


def test_not_finite_by_an_overflow_names_the_variable():
    """Steps that are fixed and far too long: a coordinate is the first that overflows, or a force of it."""
    system, state = slider(lambda state: -1e200 * state.q**3)
    state.q = [1.0]
    with np.errstate(all="ignore"), pytest.raises(mb.ConvergenceError, match=r"in step \d+, .*'slider'"):
        stepper_of(kinds.RungeKuttaMerson, system, state, fixed_step_size=1.0).step_to(10.0)


def test_a_users_own_error_is_passed_on():
    """What is not a ModelError ends the run where the last step ended."""

    def force(state):
        if state.time > 0.3:
            raise ZeroDivisionError("mine")
        return 1.0

    system, state = slider(force)
    stepper = stepper_of(kinds.Verlet, system, state)
    with pytest.raises(ZeroDivisionError, match="mine"):
        stepper.step_to(1.0)
    assert np.isfinite(stepper.state.y).all()


@each_explicit
def test_ctrl_c_in_a_force_leaves_the_last_good_state(kind):
    calls = []

    def force(state):
        calls.append(1)
        if len(calls) == 100:
            raise KeyboardInterrupt
        return -100.0 * state.q

    system, state = slider(force)
    state.q = [1.0]
    settings = {"fixed_step_size": 1e-3} if kind.order == 1 else {"accuracy": 1e-5}
    stepper = stepper_of(kind, system, state, **settings)
    with pytest.raises(KeyboardInterrupt):
        stepper.step_to(10.0)
    reached = stepper.time
    assert 0.0 < reached == stepper.integrator.get_advanced_time() < 10.0
    assert stepper.state.stage == mb.Stage.ACCELERATION
    assert abs(stepper.state.q[0] - np.cos(10.0 * reached)) < 0.05
    stepper.step_to(reached + 0.01)
    whole = stepper_of(kind, system, state, **settings)
    whole.step_to(reached + 0.01)
    assert np.array_equal(whole.state.y, stepper.state.y), "as though nothing had been"


@pytest.mark.seconds
@pytest.mark.filterwarnings("ignore:.*more of them:RuntimeWarning")  # it is meant not to come to its end
def test_ctrl_c_between_compiled_steps_leaves_the_last_good_state():
    """From another thread, while a run of hours is under way; it is heard within a second or so."""
    system, state = models.pendulum()
    stepper = stepper_of(kinds.RungeKuttaMerson, system, state, accuracy=1e-8)
    stepper.step_to(0.1)
    timer = threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs in the background may have it ignored
    begin = clock.perf_counter()
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            stepper.step_to(1e9)
    finally:
        signal.signal(signal.SIGINT, before)
    assert clock.perf_counter() - begin < 20.0
    assert stepper.time == stepper.integrator.get_advanced_time() > 0.1 and stepper.state.stage == mb.Stage.ACCELERATION
    energy = system.calc_energy(stepper.state)
    assert abs(energy - system.calc_energy(stepper_of(kinds.RungeKuttaMerson, system, state).state)) < 0.1
    stepper.step_to(stepper.time + 0.1)


def test_the_first_chunks_of_a_run_change_nothing():
    """Chunks between looks at the clock, however long they are: the same bits as in one."""
    system, state = models.pendulum()
    ends = []
    for first in (1, 64, 1 << 20):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(mb.integrator.base, "_FIRST_CHUNK", first)
            stepper = stepper_of(kinds.RungeKuttaMerson, system, state, accuracy=1e-8)
            stepper.step_to(5.0)
        ends.append((stepper.state.y.copy(), stepper.integrator.get_num_steps_taken()))
    assert all(np.array_equal(y, ends[0][0]) and n == ends[0][1] for y, n in ends)


def test_nothing_is_said_of_a_smooth_run():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in CONTROLLED:
            stepper_of(kind, *models.tumbler(), accuracy=1e-4).step_to(0.3)
