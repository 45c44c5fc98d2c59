"""Surfaces that touch beside constraints and open stops: stepped by kernels, as from Python."""

import numpy as np
import pytest

import mobod as mb
from mobod.integrator import TimeStepping
from mobod.unilateral.stepped import space

STEP = 2e-3


def machine(rng, stop=None):
    """Bodies with surfaces over a floor, on each other or free, tied by one or two constraints."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -9.81))
    mb.CompliantContactSubsystem(system)
    wood = mb.contact.Material(stiffness=1e6, dissipation=1.0, static_friction=rng.uniform(0.0, 0.8))
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), wood, name="floor"))

    def body():
        r = rng.uniform(0.05, 0.15)
        shape = mb.contact.Sphere(r) if rng.random() < 0.6 else mb.contact.Brick((r, r, 0.8 * r))
        one = mb.body.Rigid(mb.MassProperties(rng.uniform(0.5, 2.0), (0, 0, 0), mb.UnitInertia.sphere(r)))
        one.add_contact_surface(mb.contact.Surface(shape, wood))
        return one

    def place():
        return mb.Transform(rng.normal(0.0, 0.2, 3))

    base = mb.mobilizer.Free(matter.ground, body())
    base.set_default_q((1, 0, 0, 0, *rng.uniform(-0.4, 0.4, 2), 0.2))
    other = mb.mobilizer.Free(matter.ground, body())
    other.set_default_q((1, 0, 0, 0, *rng.uniform(-0.4, 0.4, 2), 0.15))
    arm = mb.mobilizer.Pin(base, body(), X_PF=place(), X_BM=place())
    twin = mb.mobilizer.Pin(base, body(), X_PF=place(), X_BM=place())
    hand = mb.mobilizer.Universal(arm, body(), X_PF=place(), X_BM=place())
    if rng.random() < 0.5:
        mb.force.MobilityLinearSpring(forces, arm, 0, 200.0, 0.0)
        mb.force.MobilityLinearDamper(forces, arm, 0, 1.0)
    ties = [
        lambda: mb.constraint.Rod(other, rng.normal(0.0, 0.1, 3), hand, rng.normal(0.0, 0.1, 3), 0.5),
        lambda: mb.constraint.Ball(twin, rng.normal(0.0, 0.1, 3), hand, rng.normal(0.0, 0.1, 3)),
        lambda: mb.constraint.PointInPlane(matter.ground, (0, 0, 1), 0.2, other, (0, 0, 0)),
        lambda: mb.constraint.ConstantAngle(matter.ground, (0, 0, 1), base, (1, 0, 0), 1.2),
        lambda: mb.constraint.SpeedCoupler(matter, mb.function.Linear((1.0, 0.5, 0.0)), [arm, twin], [0, 0]),
        lambda: mb.constraint.ConstantSpeed(arm, 0, 0.3),
    ]
    for k in rng.choice(len(ties), rng.integers(1, 3), replace=False):
        ties[k]()
    if stop is not None:
        mb.contact.HardStopUpper(twin, 0, stop, 0.4)
    state = system.realize_topology()
    state.u = rng.normal(size=len(state.u))
    mb.Assembler(system).assemble(state)
    system.project(state)
    return system, state


def rows_of(system, state, number):
    stepper = mb.TimeStepper(system, TimeStepping(system, fixed_step_size=STEP))
    stepper.initialize(state)
    rows = []
    for _ in range(number):
        stepper.step(STEP)
        rows.append(np.array(stepper.state.y))
    return np.array(rows), stepper


@pytest.mark.filterwarnings("ignore:surfaces start deep")
def test_impulses_beside_constraints_are_those_of_steps_from_python(rng, monkeypatch):
    compared = 0
    for _ in range(40):
        try:
            system, state = machine(rng)
        except mb.ConvergenceError:  # there is no such machine
            continue
        rows, stepper = rows_of(system, state, 12)
        method = stepper.integrator
        if not method.get_num_problems():
            continue
        assert method._in_kernels
        assert np.abs(stepper.state.u_err).max() < 1e-4
        with monkeypatch.context() as patch:
            patch.setattr(TimeStepping, "_steps_in_kernels", lambda self, state: False)
            try:
                expected, _ = rows_of(system, state, 12)
            except mb.ConvergenceError:
                continue
        n = 1 + int(np.argmax(np.abs(rows - expected).max(axis=1) > 0.0))  # the first step with an impulse
        np.testing.assert_allclose(rows[:n], expected[:n], rtol=0, atol=2e-5 * np.abs(rows).max())
        compared += 1
        if compared == 8:
            break
    assert compared >= 4


def wooden_floor():
    """A system under gravity with a floor, its matter, and the floor's material."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, 0, -9.81))
    mb.CompliantContactSubsystem(system)
    wood = mb.contact.Material(stiffness=1e6, dissipation=1.0, static_friction=0.3)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), wood))
    return system, matter, wood


def sum_of_heights(X, q, parameters):
    (_, p1), (_, p2) = X
    return (p1[2] + p2[2] - parameters[0],)


def test_equations_of_poses_in_ground_hold_what_is_inboard_of_both_paths(monkeypatch):
    """The wrenches on two arms of a free body do not cancel: its speeds are among those that are tied."""
    system, matter, wood = wooden_floor()
    ball, arm = (mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1))) for _ in range(2))
    ball.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.1), wood))
    base = mb.mobilizer.Free(matter.ground, ball)
    about_y = mb.Rotation(np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]))
    arms = [
        mb.mobilizer.Pin(base, arm, X_PF=mb.Transform(about_y, (x, 0, 0.4)), X_BM=mb.Transform(about_y, (-x, y, 0)))
        for x, y in ((0.3, 0.1), (-0.35, 0.0))
    ]
    mb.constraint.Custom(compiled=mb.constraint.CompiledFunctions(sum_of_heights, bodies=arms, parameters=[1.001]))
    state = system.realize_topology()
    state.q, state.u = (1, 0, 0, 0, 0, 0, 0.1005, 0, 0), (0, 0, 0, 0, 0, -1, 0.5, -0.4)
    mb.Assembler(system).assemble(state)
    system.project(state)
    rows, stepper = rows_of(system, state, 30)
    assert stepper.integrator._in_kernels and stepper.integrator.get_num_problems() > 0
    monkeypatch.setattr(TimeStepping, "_steps_in_kernels", lambda self, state: False)
    expected, _ = rows_of(system, state, 30)
    np.testing.assert_allclose(rows, expected, rtol=0, atol=1e-4)


def test_a_stop_costs_steps_from_python_where_it_is_met_alone(rng, monkeypatch):
    dense = []
    advance_by = TimeStepping._advance_by
    monkeypatch.setattr(TimeStepping, "_advance_by", lambda self, h: dense.append(0) or advance_by(self, h))
    system, state = mb.examples.double_pendulum.build()
    upper, lower = (system.matter.bodies[name] for name in ("upper", "lower"))
    mb.contact.HardStopUpper(lower, 0, 0.5, 0.4)
    mb.CompliantContactSubsystem(system)
    upper.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.05), mb.contact.Material(stiffness=1e5)))
    state = system.realize_topology()
    state.q, state.u = (0.2, 0.1), (0.0, 4.0)

    def run():
        return mb.simulate(system, state, 1.0, report_interval=0.01, integrator=TimeStepping(system, fixed_step_size=1e-3))

    motion = run()
    assert 0 < len(dense) < 40 and 0.48 < motion.q[:, 1].max() <= 0.5 + 1e-9
    monkeypatch.setattr(TimeStepping, "_steps_in_kernels", lambda self, state: False)
    np.testing.assert_allclose(motion.q, run().q, rtol=0, atol=1e-9)


def test_states_in_lanes_are_those_alone(rng):
    """A four-bar whose coupler comes down on a floor."""
    system, state = mb.examples.four_bar.build()
    mb.CompliantContactSubsystem(system)
    material = mb.contact.Material(stiffness=1e6, dissipation=0.5, static_friction=0.4)
    ground, coupler = system.matter.ground, system.matter.bodies["coupler"]
    floor = mb.contact.Surface(mb.contact.HalfSpace((0, 1, 0)), material)
    ground.add_contact_surface(floor, mb.Transform(mb.Rotation(), (0.0, 0.09, 0.0)))
    coupler.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.15), material))
    q, u = np.array(state.q), np.array(state.u)
    state = system.realize_topology()
    ensemble = mb.Ensemble(system, 10, state=state, threads=1)
    ensemble.q, ensemble.u = np.tile(q, (10, 1)), -u * rng.uniform(0.3, 1.5, (10, 1))
    starts = [ensemble.get_state(i) for i in range(10)]
    motions = ensemble.simulate(0.2, report_interval=0.05, integrator=TimeStepping(system, fixed_step_size=STEP))
    assert motions.statistics["in_lanes"].all()
    for one, start in zip(motions, starts, strict=True):
        method = TimeStepping(system, fixed_step_size=STEP)
        single = mb.simulate(system, start, 0.2, report_interval=0.05, integrator=method)
        assert method.get_num_problems() > 0
        np.testing.assert_allclose(one.q, single.q, rtol=0, atol=1e-6)


def hold(q, u, parameters):
    return -parameters[0] * u


def test_laws_are_sampled_between_steps_of_kernels(rng, monkeypatch):
    """As from Python, from step to step and in lanes; samples end steps."""
    system, state = mb.examples.double_pendulum.build()
    mb.CompliantContactSubsystem(system)
    rubber = mb.contact.Material(stiffness=1e5, dissipation=0.5, static_friction=0.5)
    floor = mb.contact.Surface(mb.contact.HalfSpace((0, 1, 0)), rubber)
    system.matter.ground.add_contact_surface(floor, mb.Transform(mb.Rotation(), (0, -1.9, 0)))
    system.matter.bodies["lower"].add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.05), rubber))
    mb.contact.HardStopUpper(system.matter.bodies["lower"], 0, 0.6, 0.2)
    mb.control.Custom(system.forces, hold, sample_time=0.0037, parameters=[2.0])
    state = system.realize_topology()
    ensemble = mb.Ensemble(system, 9, state=state, threads=1)
    u = rng.uniform(-1.0, 3.0, (9, 2))
    u[:3] = 0.0, 8.0  # which come to the stop
    ensemble.q, ensemble.u = rng.uniform((0.6, -0.2), (0.9, 0.4), (9, 2)), u
    starts = [ensemble.get_state(i) for i in range(9)]

    def run(start):
        return mb.simulate(system, start, 0.5, report_interval=0.05, integrator=TimeStepping(system, fixed_step_size=STEP))

    motions = ensemble.simulate(0.5, report_interval=0.05, integrator=TimeStepping(system, fixed_step_size=STEP))
    singles = [run(start) for start in starts]
    for one, single in zip(motions, singles, strict=True):
        np.testing.assert_allclose(one.q, single.q, rtol=0, atol=1e-6)
    monkeypatch.setattr(TimeStepping, "_steps_in_kernels", lambda self, state: False)
    for single, start in zip(singles, starts, strict=True):
        dense = run(start)
        np.testing.assert_allclose(single.q, dense.q, rtol=0, atol=1e-3)
        assert single.statistics["steps_taken"] == dense.statistics["steps_taken"]


def test_measures_and_open_contacts_leave_states_in_lanes(rng, monkeypatch):
    """What measures remember, and where a stop is met, is as it is alone; edges that pass beside each other close nothing."""
    dense = []
    advance_by = TimeStepping._advance_by
    monkeypatch.setattr(TimeStepping, "_advance_by", lambda self, h: dense.append(0) or advance_by(self, h))
    system, state = mb.examples.double_pendulum.build()
    matter = system.matter
    mb.CompliantContactSubsystem(system)
    rubber = mb.contact.Material(stiffness=1e5, dissipation=0.5, static_friction=0.5)
    floor = mb.contact.Surface(mb.contact.HalfSpace((0, 1, 0)), rubber)
    matter.ground.add_contact_surface(floor, mb.Transform(mb.Rotation(), (0, -1.9, 0)))
    lower = matter.bodies["lower"]
    lower.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.05), rubber))
    mb.contact.EdgeEdge(matter.ground, mb.Transform((0, -50, 0)), 0.1, lower, mb.Transform(), 0.1)
    stop = mb.contact.HardStopUpper(lower, 0, 0.6, 0.2)
    angle = mb.measure.Coordinate(matter, lower)
    largest, late = mb.measure.Maximum(matter, angle), mb.measure.Delay(matter, angle, 0.01)
    state = system.realize_topology()
    ensemble = mb.Ensemble(system, 9, state=state, threads=1)
    u = rng.uniform(-1.0, 1.0, (9, 2))
    u[0] = 0.0, 8.0
    ensemble.q, ensemble.u = rng.uniform((0.6, -0.2), (0.9, 0.4), (9, 2)), u
    steppers = []
    for i in range(9):
        stepper = mb.TimeStepper(system, TimeStepping(system, fixed_step_size=STEP))
        stepper.initialize(ensemble.get_state(i))
        steppers.append(stepper)
    for _ in range(30):
        ensemble.step(0.005, integrator=TimeStepping(system, fixed_step_size=STEP))
        for stepper in steppers:
            stepper.step(0.005)
    assert len(dense) < 60
    for i, stepper in enumerate(steppers):
        one, single = ensemble.get_state(i), stepper.state
        system.realize(one)
        np.testing.assert_allclose(one.q, single.q, rtol=0, atol=1e-5)
        for measure in (largest, late):
            np.testing.assert_allclose(measure.get_value(one), measure.get_value(single), rtol=0, atol=1e-5)
        assert stop.calc_gap(one) > -1e-6


@pytest.mark.filterwarnings("ignore:surfaces start deep", "ignore:contacts are violated", "ignore:.*may have carried")
def test_room_is_made_in_steps_from_python_too(rng, monkeypatch):
    """Which give up a step without it, and call again."""
    for _ in range(6):
        try:
            system, state = machine(rng)
        except mb.ConvergenceError:
            continue
        expected, _ = rows_of(system, state, 12)
        with monkeypatch.context() as patch:
            patch.setattr(space, "_ROOM", 1)
            rows, _ = rows_of(system, state, 12)
        np.testing.assert_allclose(rows, expected, rtol=0, atol=1e-4 * np.abs(rows).max())


def test_a_factor_without_room_gets_it_where_a_step_from_python_has_found_that(monkeypatch):
    """Two balls that a rod ties: the block between them is all that there is no room for, once one comes to the floor."""
    monkeypatch.setattr(space, "_ROOM", 4)
    system, matter, wood = wooden_floor()
    ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    ball.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.1), wood))
    one, other = (mb.mobilizer.Free(matter.ground, ball) for _ in range(2))
    one.set_default_q((1, 0, 0, 0, 0, 0, 0.11))
    other.set_default_q((1, 0, 0, 0, 0.3, 0, 0.51))
    mb.constraint.Rod(one, (0, 0, 0), other, (0, 0, 0), 0.5)
    rows, stepper = rows_of(system, system.realize_topology(), 40)
    made = stepper.integrator._stepped.space
    assert stepper.integrator.get_num_problems() > 0
    assert len(made.values) >= made.counts[space.VALUES] > 6 * 7 + 4
    assert (rows[:, 6] > 0.09).all()


def test_impulses_of_steps_from_python_are_those_of_contacts_alone(monkeypatch):
    """Constraints take part in the problem, and are no contacts."""
    monkeypatch.setattr(TimeStepping, "_steps_in_kernels", lambda self, state: False)
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -9.81))
    mass = mb.mobilizer.Translation(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1))))
    mb.force.MobilityLinearDamper(forces, mass, 0, 1.0)
    mb.constraint.Rod(matter.ground, (0, 0, 1), mass, (0, 0, 0), 1.0, name="rod")
    mb.contact.PointPlane(matter.ground, (0, 0, 1), 0.2, mass, (0, 0, 0), name="floor")
    state = system.realize_topology()
    state.q = (0.8, 0.0, 0.4)
    _, stepper = rows_of(system, state, 300)
    assert stepper.integrator.get_contact_impulses().keys() == {"floor"}


def test_what_is_in_the_way_of_impulses_is_named():
    """A constraint that drives a mass to the floor: its row is as little fulfilled as the contact's."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mass = mb.mobilizer.Translation(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1))))
    mb.constraint.ConstantSpeed(mass, 2, -1.0, name="winch")
    mb.contact.PointPlane(matter.ground, (0, 0, 1), 0.0, mass, (0, 0, 0), name="floor")
    state = system.realize_topology()
    state.q, state.u = (0.0, 0.0, 0.1), (0.0, 0.0, -1.0)
    with pytest.raises(mb.ConvergenceError, match=r"most of all of '(winch|floor)'"):
        mb.simulate(system, state, 0.3)
