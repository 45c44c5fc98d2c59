"""Steps and contact: nothing is passed through unnoticed, first touch costs few steps, and stiff contact is BDF's.

That two surfaces have met is told by the speeds after: without a contact they would be what they were.
"""

import warnings

import numpy as np
import pytest

import mobod as mb
from mobod import integrator as kinds
from mobod.contact import shape as contact_kinds
from mobod.force.contact import step_limit

CONTROLLED = [
    kinds.RungeKuttaMerson,
    kinds.RungeKuttaFeldberg,
    kinds.RungeKutta3,
    kinds.RungeKutta2,
    kinds.ExplicitEuler,
    kinds.SemiExplicitEuler2,
    kinds.Verlet,
]
#: Young's modulus; force/length^2.
STEEL = 2e11
each = pytest.mark.parametrize("kind", CONTROLLED, ids=lambda kind: kind.__name__)


def test_a_ball_about_a_surface_contains_it_and_touches_it():
    """By which a step is limited: the distance to a surface's farthest point, and how deep it can be passed through."""
    radii, size = (0.1, 0.2, 0.3), np.linalg.norm((0.1, 0.2, 0.3))
    expected = {  # the ball's radius, half the thickness; of what has no end no ball
        mb.contact.Sphere(0.3): (0.3, 0.3),
        mb.contact.Brick(radii): (size, 0.1),
        mb.contact.Ellipsoid(radii): (size, 0.1),
        mb.contact.Cylinder(0.2, 0.5): (np.linalg.norm((0.2, 0.2, 0.5)), 0.2),
        mb.contact.Cylinder(0.2, np.inf): (None, 0.2),
        mb.contact.HalfSpace(): (None, step_limit.NEVER),
    }
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.CompliantContactSubsystem(system)
    for shape in expected:
        matter.ground.add_contact_surface(mb.contact.Surface(shape, mb.contact.Material(1e6)))
    state = system.realize_topology()
    for s, (ball, half) in enumerate(expected.values()):
        assert step_limit._is_endless(state.record, s, 0) == (ball is None)
        assert step_limit.half_thickness(state.record, s, 0) == half
        if ball is not None:
            assert step_limit._reach(state.record, s, 0) == pytest.approx(ball, rel=1e-14)


def test_of_shapes_that_are_round_about_z_turns_about_it_are_left_out():
    solids = {k: shape for k, shape in vars(contact_kinds).items() if k.isupper() and isinstance(shape, int)}
    assert {name for name, kind in solids.items() if step_limit._is_round(kind)} == {"CAPSULE", "CYLINDER", "TORUS"}


@pytest.mark.parametrize("seed", range(3))
def test_a_brick_that_does_not_turn_may_go_until_its_lowest_corner_is_as_deep(seed, rng):
    """Through a floor, and into the face of another brick: (gap + depth)/speed, by the corner that comes first."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.CompliantContactSubsystem(system)
    material, half = mb.contact.Material(1e6), rng.uniform(0.1, 0.5, 3)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), material))
    matter.ground.add_contact_surface(
        mb.contact.Surface(mb.contact.Brick((9.0, 9.0, 1.0)), material), mb.Transform((0, 0, -1.0))
    )
    brick = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1))))
    brick.add_contact_surface(mb.contact.Surface(mb.contact.Brick(half), material))
    state = system.realize_topology()
    R = mb.Rotation.from_quaternion(rng.normal(size=4))
    brick.set_q_to_fit_transform(state, mb.Transform(R, (0.0, 0.0, 2.0)))
    brick.set_u_to_fit_linear_velocity(state, (0.0, 0.0, -3.0))
    system.realize(state)
    corners = np.array(np.meshgrid(*[(-1, 1)] * 3)).reshape(3, -1).T * half
    lowest = 2.0 + (corners @ np.asarray(R).T)[:, 2].min()
    exact = (lowest + 0.25 * half.min()) / 3.0
    for floor in (0, 1):
        found = step_limit.longest_step(state.record, floor, 2, 0.25, np.inf, 0)
        assert found == pytest.approx(exact, rel=1e-12)


def build(*, gravity=0.0, stiffness=1e7, dissipation=0.0, friction=0.0, floor=True):
    """A system with a floor at z = 0, and what adds balls to it."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    if gravity:
        mb.force.Gravity(forces, matter, (0, 0, -gravity))
    contacts = mb.CompliantContactSubsystem(system)
    material = mb.contact.Material(stiffness, dissipation, friction)
    if floor:
        matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), material, name="floor"))

    def add(radius, mass=1.0, name=None):
        body = mb.body.Rigid(mb.MassProperties(mass, (0, 0, 0), mb.UnitInertia.sphere(radius)))
        ball = mb.mobilizer.Free(matter.ground, body)
        ball.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(radius), material, name=name))
        return ball

    return system, contacts, add


def start(system, balls, places, velocities):
    """A state with the balls at places, flying."""
    state = system.realize_topology()
    for ball, place, velocity in zip(balls, places, velocities, strict=True):
        ball.set_q_to_fit_translation(state, place)
        ball.set_u_to_fit_linear_velocity(state, velocity)
    return state


def run(system, state, time, kind, **settings):
    """Step to a time."""
    integrator = kind(system, **settings)
    stepper = mb.TimeStepper(system, integrator)
    stepper.initialize(state)
    stepper.step_to(time)
    system.realize(integrator.get_state())
    return integrator


@each
@pytest.mark.parametrize("accuracy", [0.5, 1e-1, 1e-3])
def test_a_fast_ball_hits_a_small_one(kind, accuracy):
    # 1 cm at 100 m/s, 50 m away: the free flight, of no error, would be a single step
    system, _, add = build(floor=False, stiffness=STEEL)
    state = start(system, [add(0.01), add(0.01)], [(-50.0, 0, 0), (0, 0, 0)], [(100.0, 0, 0), (0, 0, 0)])
    end = run(system, state, 1.0, kind, accuracy=accuracy).get_state()
    momentum = end.u.reshape(-1, 6)[:, 3]
    assert momentum[1] > 50.0
    assert abs(momentum.sum() - 100.0) < 1e-9 * 100.0


def test_fast_balls_of_an_ensemble_hit_small_ones_as_alone():
    system, _, add = build(floor=False, stiffness=STEEL)
    state = start(system, [add(0.01), add(0.01)], [(-50.0, 0, 0), (0, 0, 0)], [(100.0, 0, 0), (0, 0, 0)])
    ensemble = mb.Ensemble(system, 3, state=state)
    q = ensemble.q.copy()
    q[:, 4] -= 10.0 * np.arange(3)
    ensemble.q = q
    motions = ensemble.simulate(1.0, accuracy=0.1)
    for i, x in enumerate(q[:, 4]):
        alone = start(system, system.get_matter_subsystem().bodies[1:], [(x, 0, 0), (0, 0, 0)], [(100.0, 0, 0), (0, 0, 0)])
        end = run(system, alone, 1.0, kinds.RungeKuttaMerson, accuracy=0.1).get_state()
        assert end.u[9] > 50.0
        np.testing.assert_allclose(motions.u[i, -1], end.u, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_a_fast_ball_hits_a_small_one_off_center(seed, rng):
    system, _, add = build(floor=False, stiffness=STEEL)
    aim = 0.013 * rng.uniform(-1.0, 1.0, 2)  # of 0.02 at which they graze
    distance, velocity = 10.0 ** rng.uniform(-1.0, 3.0), rng.uniform(-5.0, 5.0, 3)
    meeting = distance / (100.0 - velocity[0])
    place = -velocity * meeting + np.array([100.0 * meeting - distance, 0.0, 0.0])
    state = start(system, [add(0.01), add(0.01)], [(-distance, *aim), place], [(100.0, 0, 0), velocity])
    before = state.u.copy()
    end = run(system, state, 2.0 * meeting, kinds.RungeKuttaMerson, accuracy=0.1).get_state()
    assert np.abs(end.u - before).max() > 10.0


def test_a_ball_that_is_not_in_the_way_costs_nothing():
    system, _, add = build(floor=False)
    state = start(system, [add(0.01), add(0.01)], [(-50.0, 0.1, 0), (0, 0, 0)], [(100.0, 0, 0), (0, 0, 0)])
    integrator = run(system, state, 1.0, kinds.RungeKuttaMerson, accuracy=1e-3)
    np.testing.assert_allclose(integrator.get_state().u, state.u, atol=1e-9)
    assert integrator.get_num_steps_taken() < 12


@each
def test_a_ball_that_falls_from_rest_on_one_below(kind):
    # no speed, no error: gravity alone tells that the two will meet
    system, _, add = build(gravity=9.81, floor=False, stiffness=STEEL)
    falling, fixed = add(0.01, 1.0), add(0.01, 1.0)
    state = start(system, [falling, fixed], [(0, 0, 20.0), (0, 0, 0)], [(0, 0, 0), (0, 0, 0)])
    fixed.lock(state)
    end = run(system, state, 2.5, kind, accuracy=0.1).get_state()
    assert falling.get_body_velocity(end)[1][2] > -19.0  # free flight: -24.5


#: Steps and attempts of a ball of 0.1 m dropped from 1 m, in 3 s: nine bounces or so. Measured, and a third more.
@pytest.mark.parametrize(
    ("kind", "accuracy", "attempts"),
    [
        (kinds.RungeKuttaMerson, 1e-3, 320),
        (kinds.RungeKuttaMerson, 1e-5, 500),
        (kinds.RungeKuttaMerson, 1e-7, 1100),
        (kinds.RungeKuttaFeldberg, 1e-3, 300),
        (kinds.RungeKuttaFeldberg, 1e-5, 450),
        (kinds.RungeKuttaFeldberg, 1e-7, 1000),
        (kinds.RungeKutta3, 1e-3, 600),
        (kinds.RungeKutta3, 1e-5, 1500),
    ],
    ids=lambda one: getattr(one, "__name__", str(one)),
)
@pytest.mark.parametrize("stiffness", [1e5, 1e7, 1e9])
def test_a_bouncing_ball_takes_few_steps(kind, accuracy, attempts, stiffness):
    system, contacts, add = build(gravity=9.81, stiffness=stiffness, dissipation=0.1)
    contacts.set_track_dissipated_energy(True)
    ball = add(0.1)
    state = start(system, [ball], [(0, 0, 1.0)], [(0, 0, 0)])
    integrator = run(system, state, 3.0, kind, accuracy=accuracy)
    end = integrator.get_state()
    assert integrator.get_num_steps_attempted() < attempts
    assert integrator.get_num_error_test_failures() < 0.6 * integrator.get_num_steps_taken() + 20
    # each bounce may miss the accuracy, and is repeated by the next
    lost = system.calc_energy(end) + contacts.get_dissipated_energy(end) - 9.81
    assert abs(lost) < 9.81 * 120.0 * accuracy


def test_methods_agree_after_many_bounces():
    heights = []
    for kind in (kinds.RungeKuttaMerson, kinds.RungeKuttaFeldberg, kinds.RungeKutta3):
        system, _, add = build(gravity=9.81, dissipation=0.1)
        ball = add(0.1)
        state = start(system, [ball], [(0, 0, 1.0)], [(0, 0, 0)])
        heights.append(run(system, state, 3.0, kind, accuracy=1e-7).get_state().q[-1])
    assert np.ptp(heights) < 2e-4


def test_reports_change_no_step():
    ends = []
    for times in ([2.0], np.linspace(0.01, 2.0, 200)):
        system, _, add = build(gravity=9.81, dissipation=0.1)
        ball = add(0.1)
        state = start(system, [ball], [(0, 0, 0.5)], [(0.3, 0, 0)])
        integrator = kinds.RungeKuttaMerson(system, accuracy=1e-5)
        stepper = mb.TimeStepper(system, integrator)
        stepper.initialize(state)
        for time in times:
            stepper.step_to(time)
        ends.append((integrator.get_state().y.copy(), integrator.get_num_steps_taken()))
    assert np.array_equal(ends[0][0], ends[1][0])
    assert ends[0][1] == ends[1][1]


def test_interpreted_steps_are_the_compiled_ones():
    found = []
    for interpreted in (False, True):
        system, _, add = build(gravity=9.81, dissipation=0.1)
        if interpreted:
            forces = next(one for one in system.force_subsystems)
            mb.force.Custom(forces, _Nothing())
        state = start(system, [add(0.1), add(0.1)], [(0, 0, 0.3), (0.05, 0, 0.6)], [(0, 0, 0), (0, 0, 0)])
        integrator = run(system, state, 0.6, kinds.RungeKuttaMerson, accuracy=1e-3)
        assert system.is_interpreted == interpreted
        found.append((integrator.get_num_steps_taken(), integrator.get_state().y.copy()))
    assert found[0][0] == found[1][0]
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-9)


class _Nothing(mb.force.CustomImplementation):
    """A force that adds nothing, and whose hook of a stage makes its system run interpreted."""

    def realize_velocity(self, state):
        """Nothing."""

    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        """None."""

    def calc_potential_energy(self, state):
        return 0.0


def test_fixed_steps_that_may_pass_through_are_told():
    system, _, add = build(floor=False)
    balls = [add(0.01, name="shot"), add(0.01, name="target")]
    state = start(system, balls, [(-50.0, 0, 0), (0, 0, 0)], [(100.0, 0, 0), (0, 0, 0)])
    with pytest.warns(RuntimeWarning, match="'shot' and 'target' through each other") as found:
        run(system, state.copy(), 1.0, kinds.RungeKuttaMerson, fixed_step_size=1e-2)
    assert len(found) == 1
    with pytest.warns(RuntimeWarning, match="min_step_size 0.01"):
        run(system, state.copy(), 1.0, kinds.RungeKuttaMerson, accuracy=0.1, min_step_size=1e-2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(system, state.copy(), 1.0, kinds.RungeKuttaMerson, fixed_step_size=5e-5)


def test_nothing_is_asked_where_nothing_can_touch():
    system, state = mb.examples.double_pendulum.build()
    integrator = run(system, state, 0.1, kinds.RungeKuttaMerson)
    from mobod.stepping import record as rk

    assert integrator.counts[rk.LIMITER] == 0
    assert state.tree.counts["num_contact_elements"] == 0


# ---------------------------------------------------------------------------------------------- BDF


def solvers():
    """Those that are installed."""
    import importlib.util

    return ["compiled", *(["cvode"] if importlib.util.find_spec("sksundae") else [])]


@pytest.mark.parametrize("solver", solvers())
def test_bdf_does_not_pass_through(solver):
    system, _, add = build(floor=False, stiffness=STEEL)
    state = start(system, [add(0.01), add(0.01)], [(-50.0, 0, 0), (0, 0, 0)], [(100.0, 0, 0), (0, 0, 0)])
    end = run(system, state, 1.0, kinds.BDF, accuracy=1e-2, solver=solver).get_state()
    momentum = end.u.reshape(-1, 6)[:, 3]
    assert momentum[1] > 50.0
    assert abs(momentum.sum() - 100.0) < 1e-6 * 100.0


@pytest.mark.parametrize("solver", solvers())
def test_bdf_on_a_stiff_stack(solver):
    # three balls that rest on each other, each bearing what is above; so much dissipation that the contacts creep to rest
    system, contacts, add = build(gravity=9.81, stiffness=1e9, dissipation=1e3)
    balls = [add(0.05, 2.0) for _ in range(3)]
    state = start(system, balls, [(0, 0, 0.05 + 0.1 * i) for i in range(3)], [(0, 0, 0)] * 3)
    integrator = run(system, state, 2.0, kinds.BDF, accuracy=1e-5, solver=solver)
    end = integrator.get_state()
    weights = np.abs(contacts.get_contacts(end)["force"][:, 2])
    np.testing.assert_allclose(np.sort(weights), np.array([1.0, 2.0, 3.0]) * 2.0 * 9.81, rtol=1e-3)
    explicit = run(system, state, 2.0, kinds.RungeKuttaMerson, accuracy=1e-5)
    print(integrator, explicit)
    assert integrator.get_num_steps_taken() < 0.2 * explicit.get_num_steps_taken()


@pytest.mark.parametrize("accuracy", [1e-3, 1e-4])
def test_no_step_is_tried_in_vain_while_a_brick_lies(accuracy):
    """Steps are as long as they are stable, of an oscillator of four stiff corners: they come to that and stay there."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -9.81))
    mb.CompliantContactSubsystem(system)
    material = mb.contact.Material(1e7, 1.0, 0.8, 0.6)
    half = (0.15, 0.1, 0.05)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), material))
    brick = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(2.0, (0, 0, 0), mb.UnitInertia.brick(half))))
    brick.add_contact_surface(mb.contact.Surface(mb.contact.Brick(half), material))
    state = system.realize_topology()
    brick.set_q_to_fit_translation(state, (0, 0, 0.06))
    integrator = mb.integrator.RungeKuttaMerson(system, accuracy=accuracy)
    stepper = mb.TimeStepper(system, integrator)
    stepper.initialize(state)
    stepper.step_to(1.5)
    taken, tried = integrator.get_num_steps_taken(), integrator.get_num_steps_attempted()
    stepper.step_to(2.5)
    taken, tried = integrator.get_num_steps_taken() - taken, integrator.get_num_steps_attempted() - tried
    assert tried <= 1.02 * taken
    # Merson's method is stable up to about 3.5 by the frequency, (4 * 5e6 / 2)^(1/2) up and down, and sqrt(3) of it for turning
    assert taken < (4 * 5e6 / 2) ** 0.5 * 3**0.5 / 3.5 * 1.5
    assert np.abs(stepper.state.u).max() < 5.0 * accuracy
