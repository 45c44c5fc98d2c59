"""Systems with constraints: every step and every report is on their manifold, and the motion is that of other coordinates."""

import integrated_models as models
import numpy as np
import pytest
from integrated_models import ALL, end, pendulum, stepper_of, swing

import mobod as mb
from mobod import integrator as kinds

each = pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)


def rod_pendulum(interpreted=False):
    """The pendulum of `swing` as a body that is free in a plane, but for a point that stays where it is."""
    system = mb.MultibodySystem("held pendulum")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.8, 0))
    if interpreted:
        mb.force.Custom(forces, models.Nothing())
    bob = mb.mobilizer.Planar(matter.ground, models.point_mass(), name="bob")
    mb.constraint.Ball(matter.ground, (0, 0, 0), bob, (0, 1, 0))
    state = system.realize_topology()
    bob.set_q(state, (2.0, np.sin(2.0), -np.cos(2.0)))
    return system, state


def settings_of(kind, tolerance=1e-7):
    accuracy = {"accuracy": 1e-6} if kind.order > 1 else {"fixed_step_size": 5e-4}
    return {**accuracy, "constraint_tolerance": tolerance}


@each
@pytest.mark.parametrize("interpreted", [False, True], ids=["compiled", "interpreted"])
def test_steps_and_reports_are_on_the_manifold(kind, interpreted):
    system, state = rod_pendulum(interpreted)
    method = kind(system, **settings_of(kind))
    run = mb.simulate(system, state, 0.3, integrator=method, report_interval=0.01)
    work = state.copy()
    for q, u in zip(run.q, run.u, strict=True):
        work.q, work.u = q, u
        system.realize(work, mb.Stage.VELOCITY)
        assert np.abs(work.q_err).max() < 1e-7 and np.abs(work.u_err).max() < 1e-7
    error = np.abs(run.q[:, 0] - swing(run.time)).max()
    assert error < (5e-3 if kind.order == 1 else 5e-4 if kind is kinds.BDF else 1e-4)
    assert method.get_num_projection_failures() == 0
    if kind is not kinds.BDF:
        assert method.get_num_q_projections() > 0 and method.get_num_u_projections() > 0


@pytest.mark.parametrize("kind", [kinds.RungeKuttaMerson, kinds.Verlet], ids=lambda kind: kind.__name__)
def test_compiled_and_interpreted_agree(kind, close):
    ends = [end(kind, *rod_pendulum(i), 0.5, fixed_step_size=5e-3, accuracy=1e-6).state.y for i in (False, True)]
    close(ends[1], ends[0], 1e-10, 1.0)


@each
def test_steps_driven_by_a_motion_end_on_the_manifold(kind):
    """Long ones, too: what is prescribed has its values before the rest is projected."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -9.8, 0))
    crank = mb.mobilizer.Pin(matter.ground, models.point_mass(), name="crank")
    mb.motion.Sinusoid(crank, "position", 0.6, 9.0, 0.2)
    bob = mb.mobilizer.Pin(matter.ground, models.point_mass(), X_PF=mb.Transform((2.5, 0, 0)), name="bob")
    mb.constraint.Rod(crank, (1, 0, 0), bob, (-0.5, 0, 0), 1.3, name="rod")
    state = system.realize_topology()
    state.q = [0.6 * np.sin(0.2), 1.0]
    system.project(state)
    settings = {"accuracy": 1e-2} if kind.order > 1 else {"fixed_step_size": 1e-2}
    stepper = stepper_of(kind, system, state, constraint_tolerance=1e-9, **settings)
    for time in (0.11, 0.3, 0.5):
        stepper.step_to(time)
        ahead = stepper.integrator.get_advanced_state()
        assert np.abs(ahead.q_err).max() < 1e-9 and np.abs(ahead.u_err).max() < 1e-9
        assert ahead.q[0] == pytest.approx(0.6 * np.sin(9.0 * ahead.time + 0.2), abs=1e-15)


def test_projection_where_it_is_needed_alone():
    """Fewer of them, and the tolerance is met all the same."""
    counts = {}
    for every in (True, False):
        system, state = rod_pendulum()
        method = kinds.RungeKutta3(system, accuracy=1e-5, constraint_tolerance=1e-6)
        method.set_project_every_step(every)
        stepper = mb.TimeStepper(system, method)
        stepper.initialize(state)
        stepper.step_to(1.0)
        ahead = method.get_advanced_state()
        assert np.abs(ahead.q_err).max() < 1e-6 and np.abs(ahead.u_err).max() < 1e-6
        counts[every] = method.get_num_projections()
    assert counts[False] < counts[True]


def test_a_run_in_parts_is_the_whole_run_to_the_bit():
    system, state = rod_pendulum()
    whole = end(kinds.RungeKuttaMerson, system, state, 1.0, accuracy=1e-6)
    parts = stepper_of(kinds.RungeKuttaMerson, system, state, accuracy=1e-6)
    for time in (0.11, 0.12, 0.5, 1.0):
        parts.step_to(time)
    assert np.array_equal(parts.state.y, whole.state.y)


def too_short(**settings):
    """A stepper of a crank that pulls a bob by a rod too short for the whole turn, driven by a motion or a constraint."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    crank = mb.mobilizer.Pin(matter.ground, models.point_mass(), name="crank")
    if "accuracy" in settings:
        mb.motion.Steady(crank, 1.0)
    else:
        mb.constraint.PrescribedMotion(matter, mb.function.Linear((1.0, 0.0)), crank, 0, name="drive")
    bob = mb.mobilizer.Pin(matter.ground, models.point_mass(), X_PF=mb.Transform((2.5, 0, 0)), name="bob")
    mb.constraint.Rod(crank, (1, 0, 0), bob, (-0.5, 0, 0), 1.3, name="rod")
    state = system.realize_topology()
    state.q = [0.0, 1.0]
    system.project(state)
    return stepper_of(kinds.RungeKuttaMerson, system, state, **settings)


def test_a_constraint_out_of_reach_says_why():
    stepper = too_short(accuracy=1e-4)
    with pytest.raises(mb.ConvergenceError) as caught:
        stepper.step_to(3.2)
    assert stepper.state.stage == mb.Stage.ACCELERATION and 0.0 < stepper.time < 3.2
    assert "rod is nearly singular" in str(caught.value)
    (near,) = caught.value.diagnosis.nearly_singular
    assert [equation.constraint.name for equation in near.equations] == ["rod"] and near.value < 1e-3


def test_a_step_that_cannot_be_projected_says_which_constraint_is_left():
    stepper = too_short(fixed_step_size=0.05)
    with pytest.raises(mb.ConvergenceError, match=r"cannot be brought to its constraints .* of <Rod 'rod'>") as caught:
        stepper.step_to(3.2)
    assert isinstance(caught.value.__cause__, mb.ConvergenceError)
    assert caught.value.diagnosis is caught.value.__cause__.diagnosis is not None
    assert abs(stepper.time - 0.6) < 1e-9 and np.abs(stepper.state.q_err).max() < 1e-4


def test_without_constraints_nothing_else_is_projected():
    g = end(kinds.RungeKuttaMerson, *pendulum(), 1.0).integrator
    assert g.get_num_projections() == 0
