"""Locks, constraints and motions that are set in the middle of a run: impulses, momentum, energy; and what stays as it was."""

import numpy as np
import pytest

import mobod as mb
from mobod.value.stage import Stage

LEVELS = [mb.Motion.Level.POSITION, mb.Motion.Level.VELOCITY]


def satellite(spin=0.0, **lock):
    """A bus and a panel that turns on it; the whole at rest but for *spin*, caught at half a radian where *lock* is given."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    bus = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(10.0, (0, 0, 0), mb.Inertia(5, 6, 7))), name="bus")
    wing = mb.body.Rigid(mb.MassProperties(2.0, (0, 1, 0), mb.Inertia(3, 0.5, 3)))
    panel = mb.mobilizer.Pin(bus, wing, X_PF=mb.Transform((0.2, 1, 0)), name="panel")
    if lock:
        system.add_event_handler(mb.event.LockWhen(panel, mb.event.Coordinate(panel, 0, 0.5), **lock))
    state = system.realize_topology()
    panel.set_rate(state, 3.0)
    system.realize(state, Stage.VELOCITY)
    M = matter.calc_m(state)
    state.u = np.concatenate([-np.linalg.solve(M[:6, :6], M[:6, 6] * 3.0), [3.0]])
    bus.set_u(state, bus.get_u(state) + spin * np.eye(6)[1])
    return system, state


def momentum(system, state):
    system.realize(state, Stage.VELOCITY)
    return system.get_matter_subsystem().calc_system_momentum_about_ground_origin(state)


def stepper_of(system, state, **settings):
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-11, **settings))
    stepper.initialize(state)
    return stepper


@pytest.mark.parametrize("spin", [0.0, 0.7])
def test_a_satellite_whose_hinge_is_caught_keeps_its_momentum(spin):
    system, state = satellite(spin, level=mb.Motion.Level.POSITION)
    start = momentum(system, state)
    stepper = stepper_of(system, state)
    stepper.set_report_all_significant_states(True)
    before = None
    while stepper.step_to(1.0) is not mb.StepStatus.REACHED_REPORT_TIME:
        if stepper.state.u[6] != 0.0:
            before = stepper.state.copy()
        elif before is not None:
            after, before = stepper.state.copy(), None
            break
    assert after.u[6] == 0.0 and abs(after.q[7] - 0.5) < 1e-9
    motion = stepper_of(system, state)
    motion.step_to(1.0)
    # what integration has lost in all, and the latch not
    assert np.abs(momentum(system, motion.state) - start).max() < 1e-9
    if not spin:
        assert np.abs(after.u).max() < 1e-9


def test_across_the_event_momentum_is_kept_to_rounding_and_the_energy_lost_is_told():
    system, state = satellite(0.7)
    stepper, panel = stepper_of(system, state), system.get_matter_subsystem().bodies["panel"]
    stepper.step_to(0.1)
    before = stepper.state.copy()
    panel.lock(stepper.state)
    (latch,) = stepper.state.impulses.found
    assert np.abs(momentum(system, stepper.state) - momentum(system, before)).max() < 1e-13
    M = system.get_matter_subsystem().calc_m(before)
    du = stepper.state.u - before.u
    lost = 0.5 * du @ M @ du
    assert latch.name == "panel" and abs(latch.energy + lost) < 1e-13 and lost > 1.0
    assert np.abs(M @ du - np.eye(7)[6] * latch.impulse).max() < 1e-13
    stepper.step_to(0.5)
    assert np.abs(momentum(system, stepper.state) - momentum(system, before)).max() < 1e-9


def test_without_an_impulse_and_outside_a_run_other_speeds_stay():
    system, state = satellite(0.7)
    panel = system.get_matter_subsystem().bodies["panel"]
    stepper = stepper_of(system, state)
    for given, settings in ((state, {}), (stepper.state.copy(), {}), (stepper.state, {"impulse": False})):
        u = given.u.copy()
        panel.lock(given, **settings)
        assert given.u.tolist() == [*u[:6], 0.0]
    (told,) = stepper.state.impulses.found
    assert told.kind == "locked" and len(told.impulse) == 0 and told.energy == 0.0


def chained(make):
    """A random tree of every kind with constraints that are off, some of them redundant, and a motion that is off."""
    model = make.tree(gravity=False)
    rng, bodies = model.rng, model.bodies[1:]
    moving = [body for body in bodies if body.facts.num_u]  # two that a weld alone is between are refused
    a, b, c = (moving[i] for i in rng.choice(len(moving), 3, replace=False))
    model.constraints = [
        mb.constraint.Ball(a, make.vector(), b, make.vector(), disabled_by_default=True),
        mb.constraint.Weld(b, make.frame(), c, make.frame(), disabled_by_default=True),
    ]
    one = model.constraints[0]
    stations = one.get_default_station1(), one.get_default_station2()
    model.constraints.append(mb.constraint.Ball(a, stations[0], b, stations[1], disabled_by_default=True))  # once more
    free = next(body for body in bodies if body.facts.num_u == 1)
    model.constraints.append(mb.constraint.ConstantSpeed(free, 0, 0.3, disabled_by_default=True))
    driven = next(body for body in bodies if body.facts.num_u == 2)
    model.motion = mb.motion.Sinusoid(driven, mb.Motion.Level.VELOCITY, 0.7, 1.1, 0.2)
    model.motion.set_disabled_by_default(True)
    return model.made()


def holds_of(model, state):
    """Rows A and values b, A u = b, of all that holds in a state: constraints, locks, motions."""
    matter, nu = model.matter, len(state.u)
    held = np.setdiff1d(np.arange(nu), matter.get_free_u_index(state))
    G = matter.calc_g(state) if state.is_constrained else np.zeros((0, nu))
    offset = G @ state.u - state.u_err[: len(G)] if len(G) else np.zeros(0)
    return np.concatenate([G, np.eye(nu)[held]]), np.concatenate([offset, state.u[held]])


@pytest.mark.filterwarnings("ignore:.*position error")
@pytest.mark.parametrize("angles", [False, True], ids=["quaternions", "angles"])
def test_random_trees_are_latched_as_explicit_matrices_say(make, angles):
    """Several holds one after the other come to the same as all at once."""
    model = chained(make)
    system, matter, rng = model.system, model.matter, model.rng
    if angles:
        matter.set_use_euler_angles(model.state, True)
        system.realize_model(model.state)
    model.randomize()
    stepper = stepper_of(system, model.state)
    state = stepper.state
    start, energy = state.u.copy(), 0.0
    M = matter.calc_m(state)
    chosen = [body for body in model.bodies[1:] if body.facts.num_u][:: int(rng.integers(2, 5))]
    acts = [lambda one=one: one.enable(state) for one in (*model.constraints, model.motion)]
    acts += [lambda body=body: body.lock(state, LEVELS[rng.integers(2)]) for body in chosen if body is not model.motion.mobod]
    for place in rng.permutation(len(acts)):
        acts[place]()
        system.realize(state, Stage.VELOCITY)
    A, b = holds_of(model, state)
    du = state.u - start
    # by rows in the metric of M, not by their products, which would square how nearly dependent they are
    B = np.linalg.solve(np.linalg.cholesky(M), A.T).T
    change = np.linalg.solve(np.linalg.cholesky(M).T, np.linalg.pinv(B, rcond=3e-6) @ (A @ start - b))
    scale = np.abs(start).max()
    conflict = np.abs(A @ state.u - b).max()  # what is locked may be in the way of constraints
    assert np.abs(du + change).max() < 1e-7 * scale + 100.0 * conflict
    # nothing but what holds has changed momentum
    _, values, rows = np.linalg.svd(A)
    nobody = rows[int((values > 1e-9 * values[0]).sum()) :]
    assert np.abs(nobody @ (M @ du)).max() < 1e-10 * np.abs(M @ start).max()
    energy = sum(latch.energy for latch in state.impulses.found)
    assert abs(energy - (0.5 * state.u @ M @ state.u - 0.5 * start @ M @ start)) < 1e-11 * (start @ M @ start)
