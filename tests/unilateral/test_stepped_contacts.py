"""Unilateral contacts and friction of joints by time stepping: kernels step as Python does."""

import numpy as np
import pytest

import mobod as mb
from mobod.algebra.pointers import numbers1
from mobod.integrator import TimeStepping
from mobod.unilateral.stepped import space

STEP = 2e-3


def mechanism(rng, restitution=0.0, surfaces=False):
    """A chain on Ground and a free body, with stops, ropes, points on planes, spheres, and friction of joints."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -9.81))

    def body():
        return mb.body.Rigid(mb.MassProperties(rng.uniform(0.5, 2.0), rng.uniform(-0.02, 0.02, 3), mb.UnitInertia.sphere(0.1)))

    def place():
        return mb.Transform(mb.Rotation.about_axis(rng.uniform(-3, 3), rng.normal(size=3)), rng.normal(0.0, 0.3, 3))

    arm = mb.mobilizer.Pin(matter.ground, body(), X_PF=place(), X_BM=place())
    hand = mb.mobilizer.Universal(arm, body(), X_PF=place(), X_BM=place())
    slide = mb.mobilizer.Slider(arm, body(), X_PF=place(), X_BM=place())
    loose = mb.mobilizer.Free(matter.ground, body())
    bodies = [arm, hand, slide, loose]
    if surfaces:
        mb.CompliantContactSubsystem(system)
        wood = mb.contact.Material(stiffness=1e5, dissipation=1.0, static_friction=0.4)
        matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), wood))
        loose.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.1), wood))
    state = system.realize_topology()
    state.q, state.u = rng.normal(0.0, 0.5, len(state.q)), rng.normal(0.0, 1.5, len(state.u))
    loose.set_q(state, (1, 0, 0, 0, 0, 0, 0.1005))
    q, u = state.q.copy(), state.u.copy()
    system.realize(state, mb.Stage.VELOCITY)
    poses = {id(b): b.get_body_transform(state) for b in bodies}
    reach = float(slide.get_q(state))

    def at(b, point):
        X = poses[id(b)]
        return X.R.matrix @ point + X.p

    def mu():
        return {"static_friction": rng.uniform(0.1, 0.8)} if rng.random() < 0.6 else {}

    def plane():
        b = bodies[rng.integers(1, 4)]
        point, n = rng.normal(0.0, 0.1, 3), rng.normal(size=3)
        n = n / np.linalg.norm(n)
        height = n @ at(b, point) - rng.uniform(0, 3e-3)
        one = mb.contact.PointPlane(matter.ground, n, height, b, point, restitution=restitution, **mu())
        one.set_transition_speed(rng.uniform(0.0, 1.0))

    def rope():
        first, second = rng.choice(4, 2, replace=False)
        points = rng.normal(0.0, 0.1, (2, 3))
        ends = [at(bodies[k], p) for k, p in zip((first, second), points, strict=True)]
        length = np.linalg.norm(ends[0] - ends[1]) + rng.uniform(0.0, 3e-3)
        mb.contact.Rope(bodies[first], points[0], bodies[second], points[1], length, restitution)

    def stop():
        if rng.random() < 0.5:
            mb.contact.HardStopUpper(arm, 0, q[0] + rng.uniform(0, 3e-3), restitution)
        else:
            mb.contact.HardStopLower(slide, 0, reach - rng.uniform(0, 3e-3), restitution)

    def friction():
        b = [arm, slide][rng.integers(2)]
        mb.contact.JointFriction(b, 0, rng.uniform(0.5, 20.0), 0.5, rng.uniform(0.1, 0.5), rng.uniform(0, 0.2))

    def tie():
        if rng.random() < 0.5:
            mb.constraint.SpeedCoupler(matter, mb.function.Linear((1.0, 0.5, 0.0)), [arm, slide], [0, 0])
        else:
            mb.constraint.ConstantSpeed(hand, 1, 0.3)

    def spring():
        mb.force.MobilityLinearSpring(forces, slide, 0, 1e4, 0.0)
        mb.force.MobilityLinearDamper(forces, arm, 0, 5.0)

    made = [plane, plane, plane, rope, rope, stop, friction, tie, spring]
    for k in rng.choice(len(made), rng.integers(2, 6), replace=False):
        made[k]()
    if rng.random() < 0.3:
        hand.lock_by_default()
    state = system.realize_topology()
    state.q, state.u = q, u
    system.project(state)
    return system, state


def one_step(system, state):
    stepper = mb.TimeStepper(system, TimeStepping(system, fixed_step_size=STEP))
    stepper.initialize(state)
    stepper.step(STEP)
    return stepper


@pytest.mark.filterwarnings("ignore:surfaces start deep", "ignore:contacts are violated")
@pytest.mark.parametrize("surfaces", [False, True])
def test_each_step_is_that_of_python(rng, monkeypatch, surfaces):
    compared = touching = 0
    for _ in range(60):
        try:
            system, state = mechanism(rng, surfaces=surfaces)
        except mb.ConvergenceError:
            continue
        for _ in range(6):
            try:
                stepper = one_step(system, state)
            except mb.ConvergenceError:  # one of a thousand jams
                break
            method = stepper.integrator
            assert method._in_kernels
            with monkeypatch.context() as patch:
                patch.setattr(TimeStepping, "_steps_in_kernels", lambda self, state: False)
                try:
                    expected = one_step(system, state)
                except mb.ConvergenceError:
                    break
            # what jams as it is driven out of its depth has several solutions, and is left there where none is found soon
            if max(method._stepped.space.counts[space.OUTER], expected.integrator._stepped.space.counts[space.OUTER]) >= 4:
                break
            scale = max(1.0, np.abs(expected.state.u).max())
            if scale > 1e3:  # a rope between what is held: Python's rows are of rounding
                break
            np.testing.assert_allclose(stepper.state.y, expected.state.y, rtol=0, atol=(1e-4 if surfaces else 2e-6) * scale)
            found, wanted = method.get_contact_impulses(), expected.integrator.get_contact_impulses()
            touching += bool(found)
            compared += 1
            state = stepper.state.copy()
            if len(found) == len(wanted) == 1 and found.keys() == wanted.keys():
                ((name, impulse),) = found.items()
                if len(impulse) > 1:  # friction may do what the normal force would
                    continue
                np.testing.assert_allclose(impulse, wanted[name], rtol=0, atol=1e-5 * max(1.0, np.abs(impulse).max()))
    assert compared > 60 and touching > 20


@pytest.mark.filterwarnings("ignore:contacts are violated")
def test_states_of_an_ensemble_and_impacts_are_those_of_one_state(rng):
    """Contacts close and bounce in lanes, one by one; bits are those beside any others."""
    compared = kept = 0
    while compared < 3:
        try:
            system, state = mechanism(rng, restitution=0.5)
            starts = np.array([state.u + 0.3 * rng.normal(size=len(state.u)) for _ in range(11)])
            ensemble = mb.Ensemble(system, 11, state=state)
            ensemble.u = starts
            settings = {"report_interval": 0.02, "integrator": TimeStepping(system, fixed_step_size=STEP)}
            motions = ensemble.simulate(0.04, **settings)
        except mb.ConvergenceError:
            continue
        if motions.failures:
            continue
        order = rng.permutation(11)[:9]
        turned = mb.Ensemble(system, 9, state=state, threads=2)
        turned.u = starts[order]
        assert np.array_equal(turned.simulate(0.04, **settings).q, motions.q[order])
        kept += motions.statistics["in_lanes"].sum()
        for i in range(11):
            one = state.copy()
            one.u = starts[i]
            motion = mb.simulate(system, one, 0.04, report_interval=0.02, integrator=TimeStepping(system, fixed_step_size=STEP))
            for one_by_one, beside, tolerance in ((motion.q, motions.q[i], 1e-7), (motion.u, motions.u[i], 1e-5)):
                np.testing.assert_allclose(beside, one_by_one, rtol=0, atol=tolerance * max(1.0, np.abs(one_by_one).max()))
        compared += 1
    assert kept > 25


def slider(**settings):
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -9.81, 0))
    part = mb.body.Rigid(mb.MassProperties(2.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    block = mb.mobilizer.Planar(matter.ground, part)
    contact = mb.contact.PointPlane(matter.ground, (0, 1, 0), 0.0, block, (0, 0, 0), **settings)
    state = system.realize_topology()
    return system, state, block, contact


def test_coefficients_count_as_they_are_at_each_step():
    system, state, _, contact = slider(static_friction=0.5)
    state.u = (0.0, 2.0, 0.0)
    stepper = mb.TimeStepper(system, TimeStepping(system, fixed_step_size=1e-3))
    stepper.initialize(state)
    for mu in (0.5, 0.1, 0.3):
        contact.set_friction(mu)
        before = stepper.state.u[1]
        for _ in range(50):
            stepper.step(1e-3)
        assert stepper.integrator._in_kernels
        assert before - stepper.state.u[1] == pytest.approx(0.05 * mu * 9.81, abs=1e-9)
    normal, *friction = stepper.integrator.get_contact_impulses()[contact.name]
    assert (normal, np.hypot(*friction)) == pytest.approx((0.01962, 0.3 * 0.01962), abs=1e-9)
    contact.set_restitution(0.5)
    stepper.state.u = (0.0, 0.0, -3.0)
    stepper.step(1e-3)
    assert stepper.state.u[2] == pytest.approx(1.5, rel=1e-2) and not stepper.integrator._in_kernels


def test_a_contact_between_what_is_held_does_nothing():
    system, state, block, _ = slider()
    state.q = (0.0, 0.0, -0.1)
    block.lock(state)
    motion = mb.simulate(system, state, 0.01, integrator=TimeStepping(system, fixed_step_size=1e-3))
    assert np.all(motion.u == 0.0)


def test_friction_of_a_joint_holds_up_to_its_limit_in_every_call():
    for force, holds in ((9.0, False), (11.0, True)):
        system = mb.MultibodySystem()
        matter = mb.SimbodyMatterSubsystem(system)
        mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (10.0, 0, 0))
        part = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
        slide = mb.mobilizer.Slider(matter.ground, part)
        mb.contact.JointFriction(slide, 0, force, 1.0)
        state = system.realize_topology()
        made = TimeStepping(system, fixed_step_size=1e-3)
        motions = mb.Ensemble(system, 3, state=state).simulate(0.1, integrator=made)
        expected = 0.0 if holds else 0.1
        assert motions.u[:, -1, 0] == pytest.approx(expected, abs=1e-9)
        assert mb.simulate(system, state, 0.1, integrator=made).u[-1] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("settings", [{"fixed_step_size": STEP}, {"accuracy": 1e-4}])
def test_a_checkpoint_goes_on_with_addresses_of_its_own(tmp_path, settings):
    system, state, _, contact = slider(static_friction=0.5)
    state.u = (0.3, 2.0, -0.1)
    stepper = mb.TimeStepper(system, TimeStepping(system, **settings))
    stepper.initialize(state)
    stepper.step_to(0.01)
    stepper.save_checkpoint(tmp_path / "run")
    other = mb.TimeStepper(system, TimeStepping(system, **settings))
    other.load_checkpoint(tmp_path / "run")
    one = other.integrator._stepped.space
    arrays = [array.ctypes.data for array in one[:-1]]
    assert one.words[: 4 * len(arrays) : 4].tolist() == arrays
    mine, theirs = (int(each.integrator._stepped.space.gaps[0, space.NUMBERS]) for each in (stepper, other))
    assert mine != theirs and numbers1(theirs, 0).ctypes.data == contact.numbers.ctypes.data
    for each in (stepper, other):
        each.step_to(0.05)
    assert stepper.state.y.tobytes() == other.state.y.tobytes()
    assert stepper.integrator.get_num_problems() == other.integrator.get_num_problems() > 0


@pytest.mark.parametrize("settings", [{"fixed_step_size": STEP}, {"accuracy": 1e-4}])
def test_each_state_has_a_stop_of_its_own_on_all_threads(settings):
    system, state = mb.examples.double_pendulum.build()
    stop = mb.contact.HardStopUpper(system.matter.bodies["lower"], 0, 0.5, 0.0)
    mb.contact.JointFriction(system.matter.bodies["upper"], 0, 0.5, 0.3)
    state = system.realize_topology()
    state.q, state.u = (0.2, 0.1), (0.0, 4.0)
    ensemble = mb.Ensemble(system, 9, state=state, threads=2)
    bounds = np.linspace(0.15, 0.6, 9)
    ensemble.set_each(stop.set_value, bounds)
    motions = ensemble.simulate(0.3, report_interval=0.05, integrator=TimeStepping(system, **settings))
    assert not motions.failures
    for i, bound in enumerate(bounds):
        one = state.copy()
        stop.set_value(one, bound)
        motion = mb.simulate(system, one, 0.3, report_interval=0.05, integrator=TimeStepping(system, **settings))
        np.testing.assert_allclose(motions.q[i], motion.q, rtol=0, atol=1e-9)
        assert motion.q[:, 1].max() < bound + 1e-3


def test_a_checkpoint_of_steps_from_python_keeps_no_addresses(tmp_path):
    system, state, block, _ = slider(static_friction=0.5)
    mb.contact.JointFriction(block, 0, lambda state: 1.0, 0.2)
    state = system.realize_topology()
    state.u = (0.3, 2.0, -0.1)
    steppers = [mb.TimeStepper(system, TimeStepping(system, fixed_step_size=STEP)) for _ in range(2)]
    steppers[0].initialize(state)
    steppers[0].step_to(0.01)
    steppers[0].save_checkpoint(tmp_path / "run")
    steppers[1].load_checkpoint(tmp_path / "run")
    assert steppers[1].integrator._space is None
    for each in steppers:
        each.step_to(0.03)
    assert steppers[0].state.y.tobytes() == steppers[1].state.y.tobytes()
