"""Every method against closed forms and DOP853: orders, accuracy, its two forms, statistics, settings, what it refuses."""

import pickle

import integrated_models as models
import numpy as np
import pytest
from integrated_models import ALL, CONTROLLED, EXPLICIT, end, pendulum, stepper_of, swing, tumbler

import mobod as mb
from kinds.integrators import INTEGRATORS
from mobod import integrator as kinds


def name_of(kind):
    return kind.__name__


each = pytest.mark.parametrize("kind", ALL, ids=name_of)
each_explicit = pytest.mark.parametrize("kind", EXPLICIT, ids=name_of)
each_controlled = pytest.mark.parametrize("kind", CONTROLLED, ids=name_of)


@pytest.fixture(scope="module")
def tumbling():
    """A model with a quaternion, and its y after half a second."""
    system, state = tumbler()
    return system, state, models.truth(system, state, 0.5)


@each_explicit
def test_order_by_halving_steps(kind, tumbling):
    system, state, y = tumbling
    order, n = kind.order, INTEGRATORS[kind].halved_from
    sizes = 0.5 / np.array([n, 2 * n, 4 * n])
    errors = [np.abs(end(kind, system, state, 0.5, fixed_step_size=h, accuracy=1e-13).state.y - y).max() for h in sizes]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert abs(orders[-1] - order) < 0.25, (errors, orders)


@each_controlled
def test_error_shrinks_with_the_accuracy(kind, tumbling):
    """By as much for the order of the estimate: the error of a step is held, and their number grows."""
    system, state, y = tumbling
    if kind.order == 1:
        accuracies, factor = (1e-3, 1e-5), 2.5  # by its root, ten; but steps at the larger one begin short
    else:
        accuracies, factor = (1e-3, 1e-6), 50.0
    errors = [np.abs(end(kind, system, state, 0.5, accuracy=a).state.y - y).max() for a in accuracies]
    assert errors[0] < 0.2 and errors[1] < errors[0] / factor, errors


@pytest.mark.parametrize("kind", [k for k in CONTROLLED if k.order > 2], ids=name_of)
@pytest.mark.parametrize("accuracy", [1e-4, 1e-7])
def test_accuracy_is_honoured_on_a_pendulum(kind, accuracy):
    stepper = end(kind, *pendulum(), 3.0, accuracy=accuracy)
    # local errors of at most the accuracy, some tens to a hundred steps, in angles of size 2 and speeds of size 6
    assert abs(stepper.state.q[0] - swing(3.0)) < 300.0 * accuracy


@each
def test_reports_between_steps_are_as_good_as_the_steps(kind):
    system, state = pendulum()
    settings = {"accuracy": 1e-5} if kind.order > 1 else {"fixed_step_size": 2e-4}
    method = kind(system, **settings)
    run = mb.simulate(system, state, 1.0, integrator=method, report_interval=0.01)
    error = np.abs(run.q[:, 0] - swing(run.time)).max()
    assert error < (5e-3 if kind.order == 1 else 1e-3), error
    assert np.abs(run.u[:, 0] - np.gradient(run.q[:, 0], run.time)).max() < 0.15  # second differences of 0.01


@each
@pytest.mark.parametrize("interpreted", [False, True], ids=["compiled", "interpreted"])
def test_a_run_in_parts_is_the_whole_run_to_the_bit(kind, interpreted):
    system, state = tumbler(interpreted)
    settings = INTEGRATORS[kind].settings(0.01, accuracy=1e-3, max_step_size=0.02)
    whole = end(kind, system, state, 0.3, **settings)
    parts = stepper_of(kind, system, state, **settings)
    for time in (0.1, 0.1, 0.100001, 0.25, 0.3):
        parts.step_to(time)
    assert np.array_equal(parts.state.y, whole.state.y)
    assert parts.integrator.get_num_steps_taken() == whole.integrator.get_num_steps_taken()


@each
def test_compiled_and_interpreted_runs_agree(kind, close):
    """One source, to rounding: 100 steps."""
    ends = []
    for interpreted in (False, True):
        for _ in range(2):
            stepper = end(kind, *tumbler(interpreted), 0.5, fixed_step_size=0.005, accuracy=1e-6)
            ends.append(stepper.state.y.copy())
        assert np.array_equal(ends[-1], ends[-2]), "repeats its own bits"
    # BDF's Newton iteration stops at a tolerance, and its Jacobian is of differences
    close(ends[2], ends[0], 1e-12 if kind is not kinds.BDF else 1e-7, 1.0)


@pytest.mark.parametrize("kind", [kinds.Verlet, kinds.SemiExplicitEuler], ids=name_of)
def test_symplectic_methods_keep_the_energy(kind):
    """Over a hundred swings it goes up and down with the order of the step, and does not drift as Euler's method does."""
    system, state = pendulum(angle=1.0)
    drift = {}
    for method in (kind, kinds.ExplicitEuler, kinds.RungeKutta2):
        run = mb.simulate(
            system, state, 200.0, integrator=method(system, fixed_step_size=0.02, accuracy=1e-10), report_interval=0.5
        )
        energy = run.energy - run.energy[0]
        drift[method] = np.abs(energy[-40:]).max(), np.abs(energy[:40]).max()
    late, early = drift[kind]
    assert late < 1.5 * early and late < 0.3
    assert drift[kinds.ExplicitEuler][0] > 1.0, "gains energy"
    assert drift[kinds.RungeKutta2][0] > 5.0 * drift[kinds.RungeKutta2][1]


@each
def test_torque_free_symmetric_top(kind, close):
    """In the body w3 is constant and (w1, w2) turn at (I3 - I1)/I1 w3; Landau and Lifshitz 1976, section 33."""
    I1, I3, w = 1.0, 1.5, np.array([0.3, 0.0, 2.0])
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    top = mb.mobilizer.Ball(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(I1, I1, I3))))
    state = system.realize_topology()
    top.set_u_to_fit_angular_velocity(state, w)
    settings = {"accuracy": 1e-7} if kind.order > 1 else {"fixed_step_size": 1e-4}
    final = end(kind, system, state, 1.3, **settings).state
    turn = (I3 - I1) / I1 * w[2] * 1.3
    w_body = top.express_ground_vector_in_body_frame(final, top.get_body_angular_velocity(final))
    close(w_body, [w[0] * np.cos(turn), w[0] * np.sin(turn), w[2]], 1e-3 if kind.order == 1 else 1e-5, 1.0)
    assert abs(np.linalg.norm(final.q) - 1.0) < 1e-15 * 4


@each
def test_statistics_add_up(kind):
    system, state = tumbler()
    state.u = 2.0 * state.u
    record = INTEGRATORS[kind]
    settings = record.settings(1e-3, accuracy=1e-4, initial_step_size=0.5)
    g = end(kind, system, state, 0.5, **settings).integrator
    failures = (
        g.get_num_error_test_failures()
        + g.get_num_convergence_test_failures()
        + g.get_num_realization_failures()
        + g.get_num_projection_failures()
    )
    taken, attempted = g.get_num_steps_taken(), g.get_num_steps_attempted()
    assert attempted == taken + failures and taken > 0
    assert g.method_has_error_control() == record.error_control
    if record.error_control:
        assert failures > 0, "a first step of half a second is too long"
        assert 0.0 < g.get_actual_initial_step_size_taken() < 0.5
    else:
        assert g.get_actual_initial_step_size_taken() == 1e-3
    assert g.get_num_realizations() > attempted
    assert g.get_num_q_projections() == taken + 1 == g.get_num_projections() and g.get_num_u_projections() == 0
    assert (g.get_num_iterations() >= attempted) == record.iterates
    assert g.get_method_name() == kind.__name__
    assert g.get_method_min_order() == (1 if record.order_varies else g.get_method_max_order())
    assert g.get_previous_step_size_taken() > 0.0 and g.get_predicted_next_step_size() > 0.0
    assert g.get_advanced_time() >= 0.5
    ahead = g.get_advanced_state()
    assert ahead.time == g.get_advanced_time() and g.get_state().time == 0.5 and ahead.stage == mb.Stage.ACCELERATION
    g.reset_all_statistics()
    counts = [name for name in dir(g) if name.startswith("get_num_")]
    assert len(counts) == 11 and not any(getattr(g, name)() for name in counts)


def test_evaluations_of_each_method():
    """Euler's rate at the end is the next step's; Verlet's first iteration is all where forces do not depend on speeds."""
    system, state = pendulum()
    expected = {kind: record.evaluations for kind, record in INTEGRATORS.items() if record.evaluations is not None}
    for kind, n in expected.items():
        g = end(kind, system, state, 1.0, fixed_step_size=0.01).integrator
        assert g.get_num_realizations() == n * g.get_num_steps_taken() + 1, kind


@each
def test_the_end_can_be_asked_for_again(kind):
    system, state = tumbler()
    stepper = stepper_of(kind, system, state, final_time=0.1)
    assert stepper.step_to(0.05) is mb.StepStatus.REACHED_REPORT_TIME
    for time in (1.0, 0.1, 2.0):
        assert stepper.step_to(time) is mb.StepStatus.END_OF_SIMULATION
        assert stepper.time == 0.1 == stepper.integrator.get_advanced_time()


@each
def test_a_limit_of_steps(kind):
    system, state = tumbler()
    settings = INTEGRATORS[kind].settings(1e-3, accuracy=1e-6)
    stepper = stepper_of(kind, system, state, internal_step_limit=5, **settings)
    with pytest.raises(mb.ConvergenceError, match="internal_step_limit"):
        stepper.step_to(10.0)
    assert stepper.integrator.get_num_steps_taken() == 5 and stepper.time == stepper.integrator.get_advanced_time() > 0.0
    stepper.integrator.set_internal_step_limit(None)
    stepper.step_to(stepper.time + 0.01)


@each
def test_fixed_steps(kind):
    system, state = tumbler()
    stepper = end(kind, system, state, 0.1, fixed_step_size=0.01, accuracy=1e-2)
    g = stepper.integrator
    if kind is kinds.BDF:  # no longer than that, and ending at the multiples
        assert g.get_num_steps_taken() >= 10
    else:
        assert 10 <= g.get_num_steps_taken() <= 11
        assert g.get_previous_step_size_taken() == 0.01 == g.get_actual_initial_step_size_taken()
    assert abs(g.get_advanced_time() / 0.01 - round(g.get_advanced_time() / 0.01)) < 1e-9


@each
def test_without_interpolation_steps_end_where_reports_are_wanted(kind):
    system, state = tumbler()
    stepper = stepper_of(kind, system, state)
    stepper.integrator.set_allow_interpolation(False)
    for time in (0.013, 0.02, 0.1):
        stepper.step_to(time)
        assert stepper.integrator.get_advanced_time() == time == stepper.time


@each
def test_every_internal_step_can_be_seen(kind):
    system, state = tumbler()
    stepper = stepper_of(kind, system, state)
    stepper.integrator.set_return_every_internal_step(True)
    times = [0.0]
    while stepper.step_to(0.05) is mb.StepStatus.TIME_HAS_ADVANCED:
        times.append(stepper.time)
        assert stepper.time == stepper.integrator.get_advanced_time() and stepper.state.stage == mb.Stage.ACCELERATION
    assert stepper.time == 0.05 and np.all(np.diff(times) > 0.0)
    assert stepper.integrator.get_num_steps_taken() in (len(times) - 1, len(times))


@each
def test_prescribed_motion_and_locks(kind, close):
    """A crank that turns as it is told, with a pendulum on it, beside a body that is locked."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -9.8, 0))
    crank = mb.mobilizer.Pin(matter.ground, models.point_mass(), X_BM=mb.Transform((0, 0.5, 0)))
    mb.motion.Sinusoid(crank, mb.Motion.Level.POSITION, 0.5, 3.0, 0.2)
    mb.mobilizer.Pin(crank, models.point_mass(), X_BM=mb.Transform((0, 0.5, 0)))
    still = mb.mobilizer.Ball(matter.ground, models.point_mass())
    state = system.realize_topology()
    still.lock(state)
    ends = []
    for method, settings in (
        (kind, {"accuracy": 1e-6} if kind.order > 1 else {"fixed_step_size": 1e-4}),
        (kinds.RungeKuttaMerson, {"accuracy": 1e-9}),
    ):
        final = end(method, system, state, 0.6, **settings).state
        close(crank.get_angle(final), 0.5 * np.sin(3.0 * 0.6 + 0.2), 1e-14)
        close(crank.get_rate(final), 1.5 * np.cos(3.0 * 0.6 + 0.2), 1e-14, 1.5)
        assert np.array_equal(still.get_q(final), (1, 0, 0, 0)) and not still.get_u(final).any()
        ends.append(final.q.copy())
    close(ends[0], ends[1], 2e-3 if kind.order == 1 else 1e-4, 1.0)


class Decay(mb.Subsystem):
    """z' = -z, and a coordinate of its own with q' = u, u' = 2."""

    def realize_topology(self, state):
        self.z = self.allocate_z(state, [1.0])

    def realize_model(self, state):
        self.q, self.u = self.allocate_q(state, [0.0]), self.allocate_u(state, [1.0])

    def realize_velocity(self, state):
        self.upd_q_dot(state)[self.q] = self.get_u(state)[self.u]

    def realize_dynamics(self, state):
        self.upd_z_dot(state)[self.z] = -self.get_z(state)[self.z]

    def realize_acceleration(self, state):
        self.upd_u_dot(state)[self.u] = 2.0


@each
def test_variables_of_subsystems(kind):
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.mobilizer.Slider(matter.ground, models.point_mass())
    system.adopt_subsystem(Decay())
    state = system.realize_topology()
    settings = {"accuracy": 1e-6} if kind.order > 1 else {"fixed_step_size": 1e-3}
    final = end(kind, system, state, 0.5, **settings).state
    tolerance = 2e-3 if kind.order == 1 else 1e-5
    assert abs(final.z[0] - np.exp(-0.5)) < tolerance
    assert abs(final.q[1] - (0.5 + 0.25)) < tolerance and abs(final.u[1] - 2.0) < tolerance


@each
def test_particles(kind, close):
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -10, 0))
    matter.add_particles([2.0], [(0, 1, 0)], [(1, 2, 3)])
    state = system.realize_topology()
    settings = {"accuracy": 1e-6} if kind.order > 1 else {"fixed_step_size": 1e-3}
    final = end(kind, system, state, 0.5, **settings).state
    close(final.y[:3], (0.5, 1 + 1 - 1.25, 1.5), 5e-3 if kind.order == 1 else 1e-5)


@each_controlled
def test_norms(kind):
    """Of the mean of many, one moving and the others at rest, errors may be larger."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -9.8, 0))
    for _ in range(20):
        mb.mobilizer.Pin(matter.ground, models.point_mass(), X_BM=mb.Transform((0, 1, 0)))
    state = system.realize_topology()
    state.q = [1.0] + [0.0] * 19
    steps = []
    for infinity in (True, False):
        method = kind(system, accuracy=1e-5)
        assert method.is_infinity_norm_in_use()
        method.set_use_infinity_norm(infinity)
        stepper = mb.TimeStepper(system, method)
        stepper.initialize(state)
        stepper.step_to(0.5)
        steps.append(method.get_num_steps_taken())
    assert steps[1] < steps[0]


def test_projection_can_be_left_to_where_it_is_needed():
    system, state = tumbler()
    norms = {}
    for every in (True, False):
        method = kinds.RungeKutta2(system, accuracy=1e-3, constraint_tolerance=1e-3)
        method.set_project_every_step(every)
        stepper = mb.TimeStepper(system, method)
        stepper.initialize(state)
        stepper.step_to(1.0)
        ahead = method.get_advanced_state()
        norms[every] = abs(np.linalg.norm(ahead.q[:4]) - 1.0), method.get_num_q_projections(), method.get_num_steps_taken()
    assert norms[True][0] < 1e-15 * 4 and norms[True][1] == norms[True][2] + 1
    assert 1e-12 < norms[False][0] < 1.1e-3 and norms[False][1] < norms[False][2] / 4


def test_reports_can_be_left_as_interpolated():
    system, state = tumbler()
    for project in (True, False):
        method = kinds.RungeKuttaMerson(system, accuracy=1e-3)
        method.set_project_interpolated_states(project)
        run = mb.simulate(system, state, 1.0, integrator=method, report_interval=0.01)
        off = np.abs(np.linalg.norm(run.q[:, :4], axis=1) - 1.0).max()
        assert (off < 1e-15 * 4) == project


@each
def test_settings_by_methods(kind):
    system, state = tumbler()
    g = kind(system, fixed_step_size=0.1)
    g.set_fixed_step_size(0.01)
    g.set_accuracy(1e-5)
    g.set_constraint_tolerance(1e-7)
    g.set_initial_step_size(1e-4)
    g.set_minimum_step_size(1e-9)
    g.set_maximum_step_size(0.02)
    g.set_final_time(0.05)
    g.set_internal_step_limit(1000)
    g.set_force_full_newton(True)
    assert g.get_accuracy_in_use() == 1e-5 and g.get_constraint_tolerance_in_use() == 1e-7
    for bad, call in (
        ("accuracy", lambda: g.set_accuracy(2.0)),
        ("accuracy", lambda: g.set_accuracy(np.nan)),
        ("constraint_tolerance", lambda: g.set_constraint_tolerance(-1.0)),
        ("initial_step_size", lambda: g.set_initial_step_size(0.0)),
        ("fixed_step_size", lambda: g.set_fixed_step_size(np.inf)),
        ("min_step_size 1.0 exceeds", lambda: g.set_minimum_step_size(1.0)),
        ("max_step_size", lambda: g.set_maximum_step_size(1e-10)),
        ("final_time", lambda: g.set_final_time(np.nan)),
        ("internal_step_limit", lambda: g.set_internal_step_limit(0)),
        ("internal_step_limit", lambda: g.set_internal_step_limit(1.5)),
    ):
        with pytest.raises(ValueError, match=bad):
            call()
    assert (g.accuracy, g.fixed_step_size, g.min_step_size, g.max_step_size) == (1e-5, 0.01, 1e-9, 0.02)
    stepper = mb.TimeStepper(system, g)
    stepper.initialize(state)
    assert stepper.step_to(1.0) is mb.StepStatus.END_OF_SIMULATION and stepper.time == 0.05
    with pytest.raises(ValueError, match=r"final_time 0\.04 is before 0\.05"):
        g.set_final_time(0.04)
    g.set_final_time(0.1)
    if INTEGRATORS[kind].error_control:
        g.set_fixed_step_size(None)
    assert stepper.step_to(1.0) is mb.StepStatus.END_OF_SIMULATION and stepper.time == 0.1


def test_semi_explicit_euler_needs_its_step_size():
    system, _ = pendulum()
    with pytest.raises(ValueError, match="give it fixed_step_size"):
        kinds.SemiExplicitEuler(system)
    with pytest.raises(ValueError, match="fixed_step_size cannot be None"):
        kinds.SemiExplicitEuler(system, fixed_step_size=0.1).set_fixed_step_size(None)
    assert not kinds.SemiExplicitEuler(system, fixed_step_size=0.1).method_has_error_control()


@each
def test_a_pickled_integrator_goes_on(kind, close):
    system, state = tumbler()
    stepper = stepper_of(kind, system, state, accuracy=1e-5)
    stepper.step_to(0.1)
    other = pickle.loads(pickle.dumps(stepper))
    other.step_to(0.2)
    stepper.step_to(0.2)
    if kind is kinds.BDF:  # begins anew, at order 1
        close(other.state.y, stepper.state.y, 1e-3, 1.0)
    else:
        assert np.array_equal(other.state.y, stepper.state.y)


@each
def test_nothing_to_integrate(kind, make):
    model = make.tree(0)
    make.mobilized_body(mb.mobilizer.Weld, model.matter.ground)
    model.made()
    stepper = stepper_of(kind, model.system, model.state, **INTEGRATORS[kind].settings(0.1))
    assert stepper.step_to(2.0) is mb.StepStatus.REACHED_REPORT_TIME and stepper.time == 2.0


def trees(order):
    """The rooted trees of so many nodes, each a sorted tuple of what hangs on its root: Butcher's."""
    if order == 1:
        return [()]
    found = set()
    for first in range(1, order):
        for branch in trees(first):
            found |= {tuple(sorted((*rest, branch))) for rest in trees(order - first)}
    return sorted(found)


def density(tree):
    """gamma: the nodes, times those of each branch."""
    return nodes(tree) * np.prod([density(branch) for branch in tree], initial=1.0)


def nodes(tree):
    return 1 + sum(map(nodes, tree))


def stages(tree, A):
    """Phi of each stage."""
    return np.prod([A @ stages(branch, A) for branch in tree], axis=0) * np.ones(len(A))


@pytest.mark.parametrize("kind", [kind for kind in ALL if np.any(kind.table)], ids=name_of)
def test_a_table_satisfies_the_conditions_of_its_orders(kind):
    """Of the method's order, and of the embedded one's: a wrong digit in a weight breaks one (Hairer and others, II.2)."""
    table = np.asarray(kind.table)
    A, b, error, c = table[:-2, 1:], table[-2, 1:], table[-1, 1:], table[:-2, 0]
    assert len(trees(5)) == 9 and abs(A.sum(axis=1) - c).max() < 1e-14
    for order in range(1, kind.order + 1):
        for tree in trees(order):
            assert abs(b @ stages(tree, A) - 1.0 / density(tree)) < 1e-14, tree
    for order in range(1, kind.error_order):
        for tree in trees(order):
            assert abs(error @ stages(tree, A)) < 1e-14, tree
    assert max(abs(error @ stages(tree, A)) for tree in trees(kind.error_order)) > 1e-4  # there is an estimate


def damped_arm(prescribed, controlled):
    """Three pins, springs and dampers; one turns as it is told, or feedback acts on one."""
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0))
    body, arm = matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, -0.5, 0), mb.Inertia(0.4, 0.2, 0.4)))
    for _ in range(3):
        body = mb.mobilizer.Pin(body, arm, X_BM=mb.Transform((0, 0.5, 0)))
        mb.force.MobilityLinearSpring(forces, body, 0, 30.0, 0.3)
        mb.force.MobilityLinearDamper(forces, body, 0, 0.7)
    if prescribed:
        mb.motion.Sinusoid(matter.bodies[2], mb.Motion.Level.POSITION, 0.4, 3.0, 0.1)
    if controlled:
        mb.control.PD(forces, [matter.bodies[3]], kp=5.0, kd=1.0, sample_time=0.02)
    state = system.realize_topology()
    state.q, state.u = (0.3, -0.2, 0.5), (1.0, -2.0, 3.0)
    return system, state


@pytest.mark.parametrize(("prescribed", "controlled"), [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("kind", [kinds.Verlet, kinds.BDF], ids=name_of)
def test_forces_of_positions_kept_while_speeds_are_iterated_are_those_found_anew(kind, prescribed, controlled, monkeypatch):
    """Of one state and of lanes."""
    found = []
    for kept in (True, False):
        monkeypatch.setattr(mb.force.MobilityLinearSpring, "reads_positions_only", kept)
        system, state = damped_arm(prescribed, controlled)
        settings = {"fixed_step_size": 0.005} if kind is kinds.Verlet else {"accuracy": 1e-5}
        run = mb.simulate(system, state, 0.4, report_interval=0.1, integrator=kind(system, **settings))
        many = mb.Ensemble(system, 9, state=state)
        many.simulate(0.4, integrator=kind(system, **settings))
        found.append((run.q, run.u, many.q, many.u))
    for kept, anew in zip(*found, strict=True):
        np.testing.assert_allclose(kept, anew, rtol=1e-9, atol=1e-11)  # the springs are added up before the dampers
