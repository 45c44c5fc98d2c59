"""Ensembles whose contact is stepped at the level of velocities: a state's bits are the same whatever the others are."""

import warnings

import numpy as np
import pytest

import mobod as mb
from mobod.ensemble import simulating
from mobod.unilateral.stepped import space as names

H = 1.0 / 256.0  # sums of which are exact


@pytest.fixture(scope="module")
def bouncing():
    """Two boxes that fall onto the floor and each other."""
    system = mb.MultibodySystem("boxes")
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -9.8))
    material = mb.contact.Material(1e6, 1.0, 0.5)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), material, thickness=0.01))
    for k in range(2):
        box = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.Inertia(0.01, 0.01, 0.01))))
        box.add_contact_surface(mb.contact.Surface(mb.contact.Brick((0.1, 0.1, 0.1)), material, thickness=0.01, name=f"box{k}"))
    mb.CompliantContactSubsystem(system)
    return system, system.realize_topology()


def started(bouncing, order, threads=1):
    system, state = bouncing
    ensemble = mb.Ensemble(system, len(order), state=state, threads=threads)
    q, u = np.tile(state.q, (len(order), 1)), np.zeros((len(order), 12))
    for row, k in enumerate(order):
        q[row, 6], q[row, 13] = 0.11 + 0.01 * k, 0.35 + 0.02 * k
        u[row, 3], u[row, 1] = 0.3 * k, 0.5 - 0.2 * k
    ensemble.q, ensemble.u = q, u
    return ensemble


def near(one, other):
    """What lanes and a state alone compute differs by roundings, which contact multiplies."""
    np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-11)


@pytest.mark.parametrize("fixed", [True, False])
def test_bits_are_those_beside_any_others(bouncing, fixed):
    system, _ = bouncing
    kind = mb.integrator.TimeStepping
    method = kind(system, fixed_step_size=H) if fixed else kind(system, accuracy=1e-4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of states that are simulated one by one
        motions = started(bouncing, range(5)).simulate(0.5, report_interval=0.05, integrator=method)
    turned = started(bouncing, [3, 1, 4], threads=2).simulate(0.5, report_interval=0.05, integrator=method)
    for row, k in enumerate((3, 1, 4)):
        np.testing.assert_array_equal(turned.q[row], motions.q[k])
        for name in ("steps_taken", "evaluations"):
            assert turned.statistics[name][row] == motions.statistics[name][k]
    ensemble = started(bouncing, range(5))
    for k in (0, 3):
        alone = mb.simulate(system, ensemble.get_state(k), 0.5, report_interval=0.05, integrator=method)
        (near if fixed else np.testing.assert_array_equal)(motions.q[k], alone.q)
        (near if fixed else np.testing.assert_array_equal)(motions.u[k], alone.u)
        assert motions.statistics["steps_taken"][k] == alone.statistics["steps_taken"]
    assert motions.q[:, -1, 6] == pytest.approx(0.1, abs=2e-3), "the lower boxes lie on the floor"


@pytest.mark.parametrize("acts", [False, True])
def test_what_is_scheduled_is_called_between_steps_that_errors_choose(bouncing, acts, monkeypatch):
    """In the compiled loop, as in runs of one state: with the forces of surfaces, and onward from what a handler sets."""
    system, _ = bouncing
    seen = []

    class Looks(mb.event.PeriodicReporter):
        def handle_event(self, state):
            seen.append((state.time, *state.q, *state.u_dot))

    class Pushes(mb.event.PeriodicHandler):
        def handle_event(self, state, accuracy):
            seen.append((state.time, *state.u))
            if acts:  # in flight, and as boxes touch
                state.u = (0.5 if state.u[3] > 0.1 else 0.9) * state.u

    class Begins(mb.event.ScheduledHandler):
        """After it the first step is no longer than the time before."""

        def get_next_event_time(self, state, include_current_time):
            return 0.003 if state.time < 0.003 or (include_current_time and state.time == 0.003) else np.inf

        def handle_event(self, state, accuracy):
            if acts:
                state.u = 0.9 * state.u

    looks, pushes, begins = Looks(0.125), Pushes(0.0625), Begins()
    system.add_event_reporter(looks)
    system.add_event_handler(pushes)
    system.add_event_handler(begins)
    try:
        settings = {"report_interval": 0.25, "integrator": mb.integrator.TimeStepping(system, accuracy=1e-4)}
        ensemble = started(bouncing, range(3))
        singles = [mb.simulate(system, ensemble.get_state(k), 0.5, **settings) for k in range(3)]
        alone = sorted(seen)
        seen.clear()
        monkeypatch.setattr(simulating, "run_one", None)
        motions = ensemble.simulate(0.5, **settings)
    finally:
        system.remove_event_reporter(looks)
        system.remove_event_handler(pushes)
        system.remove_event_handler(begins)
    assert sorted(seen) == alone
    for one, single in zip(motions, singles, strict=True):
        np.testing.assert_array_equal(one.q, single.q)


@pytest.mark.parametrize("kind", [mb.event.PeriodicHandler, mb.event.PeriodicReporter])
def test_balls_that_bounce_beside_what_is_scheduled_move_as_alone(kind):
    """An impact leaves the compiled loop, and steps are chosen anew: not in the middle of a run that calls have split."""
    system = mb.MultibodySystem("balls")
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -9.8))
    ball = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.Inertia(0.1, 0.1, 0.1))))
    mb.contact.SpherePlane(matter.ground, (0, 0, 1), 0.0, ball, (0.05, 0, 0), 0.1, 0.5, static_friction=0.4)
    times = []

    class Looks(kind):
        def handle_event(self, state, *_):
            times.append(state.time)

    looks = Looks(0.0625)
    (system.add_event_handler if kind is mb.event.PeriodicHandler else system.add_event_reporter)(looks)
    ensemble = mb.Ensemble(system, 3, state=system.realize_topology())
    q = np.tile(ensemble.q[0], (3, 1))
    q[:, 6] = 0.2, 0.25, 0.3
    ensemble.q = q
    settings = {"report_interval": 0.125, "integrator": mb.integrator.TimeStepping(system, accuracy=1e-4)}
    singles = [mb.simulate(system, ensemble.get_state(k), 0.5, **settings) for k in range(3)]
    alone = sorted(times)
    times.clear()
    motions = ensemble.simulate(0.5, **settings)
    assert sorted(times) == alone and len(alone) >= 24
    for one, single in zip(motions, singles, strict=True):
        np.testing.assert_array_equal(one.q, single.q)


def test_calls_of_step_go_on_as_one_run_does(bouncing):
    """Impulses go from call to call, to the state that they are of, until it is put back to its start."""
    system, _ = bouncing
    method = mb.integrator.TimeStepping(system, fixed_step_size=H)
    ensemble, turned = started(bouncing, range(5)), started(bouncing, [4, 2])
    for _ in range(30):
        ensemble.step(2 * H, integrator=method)
        turned.step(2 * H, integrator=method)
    assert not ensemble.failed.any()
    np.testing.assert_array_equal(turned.q, ensemble.q[[4, 2]])
    run = started(bouncing, range(5)).simulate(60 * H, report_interval=60 * H, integrator=method)
    np.testing.assert_array_equal(ensemble.q, run.q[:, -1])
    np.testing.assert_array_equal(ensemble.u, run.u[:, -1])
    ensemble.reset(np.arange(5) == 2, q=started(bouncing, range(5)).q[2], u=started(bouncing, range(5)).u[2])
    for _ in range(30):
        ensemble.step(2 * H, integrator=method)
    np.testing.assert_array_equal(ensemble.q[2], turned.q[1])


@pytest.fixture(scope="module")
def biped():
    """A torso with two legs, whose feet touch the floor and each other: hips rub, torques act, springs are implicit."""
    system = mb.MultibodySystem("biped")
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -9.8))
    material = mb.contact.Material(1e5, 1.0, 0.8)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), material))
    rod = mb.body.Rigid(mb.MassProperties(2.0, (0, 0, 0), mb.Inertia(0.02, 0.02, 0.005)))
    torso = mb.mobilizer.Free(matter.ground, rod)
    R = mb.Rotation.about_axis(np.pi / 2, "x")  # pins along y
    for x in (-0.06, 0.06):
        leg = mb.mobilizer.Pin(torso, rod, X_PF=mb.Transform(R, (x, 0, -0.1)), X_BM=mb.Transform(R, (0, 0, 0.2)))
        leg.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.05), material), mb.Transform((0, 0, -0.2)))
        mb.force.MobilityLinearDamper(forces, leg, 0, 0.5)
        mb.force.MobilityLinearStop(forces, leg, 0, 500.0, 1.0, -0.4, 0.4)
        mb.contact.JointFriction(leg, 0, 10.0, 0.1, 0.05, 0.01)
    mb.CompliantContactSubsystem(system)
    return system, system.realize_topology()


def test_problems_of_eight_states_are_solved_beside_each_other(biped):
    """Feet on the floor and against each other, slipping and sticking: the impulses of a state alone, and its bits anywhere."""
    system, state = biped
    method = mb.integrator.TimeStepping(system, fixed_step_size=0.002)
    rng = np.random.default_rng(3)
    q, u, torques = np.tile(state.q, (19, 1)), rng.normal(size=(19, 8)), 5.0 * rng.normal(size=(19, 8))
    q[:, 6], q[:, 7:] = 0.54 + 0.04 * rng.random(19), 0.2 * (rng.random((19, 2)) - 0.5)

    def stepped(order, threads, **forces):
        ensemble = mb.Ensemble(system, len(order), state=state, threads=threads)
        ensemble.q, ensemble.u = q[order], u[order]
        for _ in range(50):
            ensemble.step(0.002, integrator=method, **forces)
        assert not ensemble.failed.any()
        spaces = [space for worker in ensemble._step_plan.lanes.workers for space in worker._blocks[1]]
        assert sum(space.counts[names.NEWTON] for space in spaces) < 5 * len(order), "few steps are taken by one state alone"
        return ensemble

    order = rng.permutation(19)[:13]
    together, turned = (stepped(one, 1 + n, mobility_forces=torques[one]) for n, one in enumerate((np.arange(19), order)))
    np.testing.assert_array_equal(turned.q, together.q[order])
    np.testing.assert_array_equal(turned.u, together.u[order])
    free = stepped(order, 1)
    assert np.abs(free.q - turned.q).max() > 1e-3
    for row in (0, 5):
        begun = mb.Ensemble(system, 1, state=state)
        begun.q, begun.u = q[order[[row]]], u[order[[row]]]
        motion = mb.simulate(system, begun.get_state(0), 0.1, report_interval=0.1, integrator=method)
        np.testing.assert_allclose(free.q[row], motion.q[-1], rtol=0.0, atol=1e-9)


def test_states_for_which_there_is_no_room_run_alone(bouncing, monkeypatch):
    """With room for two points, all that touch need more, which a run of one state makes."""
    system, _ = bouncing
    method = mb.integrator.TimeStepping(system, fixed_step_size=H)
    monkeypatch.setattr("mobod.unilateral.stepped.space._ROOM", 2)
    motions = started(bouncing, range(3)).simulate(0.2, report_interval=0.05, integrator=method)
    assert not motions.failed.any()
    alone = mb.simulate(system, started(bouncing, range(3)).get_state(2), 0.2, report_interval=0.05, integrator=method)
    np.testing.assert_array_equal(motions.q[2], alone.q)  # which is where it is run


@pytest.mark.parametrize("setting", [{"fixed_step_size": H}, {"accuracy": 1e-4}], ids=["in lanes", "by their accuracy"])
def test_what_is_driven_beside_constraints_moves_as_alone(setting):
    """Ends of steps are projected with what is driven in its place; and states at MODEL, with motions, can be begun from."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -9.8, 0))
    link = mb.body.Rigid(mb.MassProperties(1.0, (0, -0.5, 0), mb.UnitInertia(1.0, 1.0, 1.0)))
    crank = mb.mobilizer.Slider(matter.ground, link)
    mb.motion.Sinusoid(crank, "position", 0.4, 3.0, 0.2)
    arm = mb.mobilizer.Universal(crank, link)
    mb.constraint.Rod(matter.ground, (0.6, -0.3, 0.8), arm, (0.1, -1, 0.2), 1.1)
    mb.contact.HardStopUpper(arm, 0, 0.5)
    state = system.realize_topology()
    system.prescribe(state, mb.Stage.POSITION)
    mb.Assembler(system).assemble(state)
    system.project(state)
    again = system.realize_topology()
    again.q, again.u = state.q, state.u
    method = mb.integrator.TimeStepping(system, **setting)
    alone = mb.simulate(system, again, 0.5, report_interval=H, integrator=method)
    motions = mb.Ensemble(system, 3, state=again).simulate(0.5, report_interval=H, integrator=method)
    assert not motions.failed.any()
    np.testing.assert_allclose(motions.q[1], alone.q, rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(motions.u[1], alone.u, rtol=0.0, atol=1e-10)
