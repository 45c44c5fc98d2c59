"""Surfaces of all shapes in `TimeStepping`: found by the narrow phase, solved in kernels or, beside other parts, densely."""

import numpy as np
import pytest
from touching_models import G, empty, solid

import mobod as mb
from mobod import ModelError

FLOOR = mb.contact.HalfSpace()
CUBE = mb.contact.Brick((0.1, 0.1, 0.1))


def material(mu=0.5, stiffness=1e6, dissipation=1.0):
    return mb.contact.Material(stiffness, dissipation, mu)


def surfaces(things, *, rigid=False, mu=0.5, floor=FLOOR, gravity=(0, 0, -G), stiffness=1e6, dissipation=1.0, restitution=0.0):
    """Free bodies, (shape, mass, inertia, place) each, over what is on Ground; rigid, or of a material that gives way."""
    system, matter = empty(gravity)
    own = material(mu, stiffness, dissipation)
    if floor is not None:
        matter.ground.add_contact_surface(mb.contact.Surface(floor, own, thickness=0.01, name="floor"))
    bodies = []
    for k, (shape, mass, inertia, _) in enumerate(things):
        body = mb.mobilizer.Free(matter.ground, solid(mass, inertia), name=f"body{k}")
        body.add_contact_surface(mb.contact.Surface(shape, own, thickness=0.01, name=f"thing{k}"))
        bodies.append(body)
    if rigid:
        assert mb.contact.rigid(system, restitution, stepped=True) == []
    else:
        mb.CompliantContactSubsystem(system)
    state = system.realize_topology()
    for body, (*_, place) in zip(bodies, things, strict=True):
        body.set_q_to_fit_translation(state, place)
    return system, state, bodies


def cubes(n, gap=0.0, masses=None):
    inertia = (0.02 / 3, 0.02 / 3, 0.02 / 3)
    return [(CUBE, 1.0 if masses is None else masses[k], inertia, (0, 0, 0.1 + 0.2 * k + gap * (k + 1))) for k in range(n)]


def step(system, state, time, h=0.002, **settings):
    integrator = mb.integrator.TimeStepping(system, fixed_step_size=h, **settings)
    stepper = mb.TimeStepper(system, integrator)
    stepper.initialize(state)
    stepper.step_to(time)
    return stepper.state, integrator


@pytest.mark.parametrize("rigid", [False, True], ids=["compliant", "rigid"])
def test_kernels_and_steps_from_python_agree(rigid):
    """Three boxes that fall on each other and slide: two solvers that have nothing in common but the points."""
    ends = []
    for dense in (False, True):
        system, state, _ = surfaces(cubes(3, 0.01), rigid=rigid, mu=0.3)
        u = state.u.copy()
        u[3::6], u[2::6] = (0.5, -0.3, 0.2), (0.1, -0.4, 0.3)
        state.u = u
        integrator = mb.integrator.TimeStepping(system, fixed_step_size=0.002)
        if dense:
            integrator.sources.append(no_rows)
        stepper = mb.TimeStepper(system, integrator)
        stepper.initialize(state)
        stepper.step_to(0.12)  # later what was hit from two sides at once tells roundings apart
        assert integrator.get_num_problems() > 10 and len(integrator.get_contact_points()) >= 4
        ends.append(stepper.state.copy())
    # rigid corners share a load as they like, and what slides on four turns by that
    assert ends[0].q == pytest.approx(ends[1].q, abs=5e-4 if rigid else 2e-6)
    assert ends[0].u == pytest.approx(ends[1].u, abs=2e-2 if rigid else 1e-4)


def no_rows(state):
    from mobod.unilateral.problem import ContactRows

    o = np.zeros(0)
    return ContactRows(o, np.zeros((0, len(state.u))), np.zeros(1, np.int64), o, o, o, [])


@pytest.mark.parametrize("balls", [0, 1, 2])
def test_branches_of_a_tree_that_touch_each_other_and_others(balls):
    """Three arms on a free body: two clap, or hold one or two balls, one stays free; kernels and Python's steps agree."""
    ends = []
    for dense in (False, True):
        system, matter = empty()
        mb.CompliantContactSubsystem(system)
        own = material(0.4, 1e5)
        matter.ground.add_contact_surface(mb.contact.Surface(FLOOR, own, thickness=0.01))
        trunk = mb.mobilizer.Free(matter.ground, solid(3.0), name="trunk")
        for k, (x, y) in enumerate([(0.0, 0.0), (0.4, 0.02), (0.2, 0.5)]):
            upper = mb.mobilizer.Universal(trunk, solid(0.5), X_PF=mb.Transform((x, y, -0.1)), name=f"upper{k}")
            lower = mb.mobilizer.Pin(upper, solid(0.5), X_PF=mb.Transform((0, 0, -0.3)), name=f"lower{k}")
            half = 0.152 if balls else 0.201
            surface = mb.contact.Surface(mb.contact.Sphere(half), own, thickness=0.01)
            lower.add_contact_surface(surface, mb.Transform((0, 0, -0.2)))
        held = [mb.mobilizer.Free(matter.ground, solid(0.2), name=f"ball{k}") for k in range(balls)]
        for ball in held:
            ball.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.06), own, thickness=0.01))
        state = system.realize_topology()
        trunk.set_q_to_fit_translation(state, (0, 0, 0.8))
        for k, ball in enumerate(held):
            ball.set_q_to_fit_translation(state, (0.2, 0.01 + (0.061, -0.061)[k], 0.2))
        integrator = mb.integrator.TimeStepping(system, fixed_step_size=0.002)
        if dense:
            integrator.sources.append(no_rows)
        stepper = mb.TimeStepper(system, integrator)
        stepper.initialize(state)
        stepper.step_to(0.1)
        points = integrator.get_contact_points()
        ends.append((stepper.state.copy(), points[["body1", "body2"]].tolist()))
        # a wrong matrix would take more steps, and then not converge
        assert dense or integrator.get_num_convergence_test_failures() == 0
        assert integrator.get_num_problems() > 30
    assert ends[0][1] == ends[1][1]
    assert ends[0][0].q == pytest.approx(ends[1][0].q, abs=2e-6)
    assert ends[0][0].u == pytest.approx(ends[1][0].u, abs=1e-4)


@pytest.mark.parametrize("rigid", [False, True], ids=["compliant", "rigid"])
def test_ten_boxes_stand_and_bear_their_weight(rigid):
    system, state, _ = surfaces(cubes(10, 1e-4), rigid=rigid)
    end, integrator = step(system, state, 3.0)
    assert np.abs(end.u).max() < 1e-7
    assert np.abs(end.q.reshape(10, 7)[:, 4:6]).max() < 1e-7  # it does not lean
    # a last step: what is left of a box's acceleration is the solver's residual, and momentum is kept whatever that is
    before = end.u.copy()
    end, integrator = step(system, end, 3.002)
    rates = (end.u - before).reshape(10, 6)[:, 5] / 0.002
    assert rates == pytest.approx(np.zeros(10), abs=1e-5)
    points = integrator.get_contact_points()
    for k in range(10):
        below = points[(points["body2"] == k + 1) & (points["body1"] == k)]
        assert below["force"].sum(axis=0) == pytest.approx([0, 0, (G + rates[k:]).sum()], abs=1e-10)
    assert integrator.get_largest_residual() < 1e-5 and integrator.get_num_unconverged() == 0


def test_a_heavy_box_on_a_light_one():
    system, state, _ = surfaces(cubes(2, 1e-4, masses=[1.0, 1000.0]), rigid=True)
    end, integrator = step(system, state, 2.0)
    assert np.abs(end.u).max() < 1e-6
    assert end.q.reshape(2, 7)[:, 6] == pytest.approx([0.1, 0.3], abs=1e-3)
    points = integrator.get_contact_points()
    assert points["force"][points["body1"] == 0].sum(axis=0) == pytest.approx([0, 0, 1001 * G], rel=1e-6, abs=1e-3)


@pytest.mark.parametrize("rigid", [False, True], ids=["compliant", "rigid"])
@pytest.mark.filterwarnings("ignore:surfaces start deep")
@pytest.mark.parametrize(("mu", "wide"), [(0.0, 1.0), (0.5, 1e3), (2.0, 1.0)])
def test_a_heap_thrown_at_random_takes_few_steps_of_newtons_method(rigid, mu, wide):
    """Boxes, capsules and balls in each other, of masses up to *wide* apart: every problem converges, and obeys the law."""
    rng = np.random.default_rng(7)
    things = []
    for k in range(12):
        shape = (CUBE, mb.contact.Sphere(0.09), mb.contact.Capsule(0.05, 0.1))[k % 3]
        mass = wide ** rng.uniform(-0.5, 0.5)
        place = (0.2 * (k % 2), 0.2 * (k // 2 % 2), 0.15 + 0.21 * (k // 4)) + 0.01 * rng.normal(size=3)
        things.append((shape, mass, 3 * (0.006 * mass,), tuple(place)))
    system, state, _ = surfaces(things, rigid=rigid, mu=mu)
    state.u = 0.5 * rng.normal(size=len(state.u))
    _, integrator = step(system, state, 0.4)
    assert integrator.get_num_unconverged() == integrator.get_num_convergence_test_failures() == 0
    assert integrator.get_largest_relative_residual() <= 1e-6
    assert integrator.get_num_newton_steps() < 12 * integrator.get_num_problems()
    points = integrator.get_contact_points()
    along = np.einsum("ni,ni->n", points["force"], points["normal"])
    friction = np.linalg.norm(points["force"] - along[:, None] * points["normal"], axis=1)
    assert along.min() >= 0.0 and np.all(friction <= mu * along * (1 + 1e-12) + 1e-12)
    slip = np.linalg.norm(points["slip"], axis=1)
    slides = (slip > 1e-3) & (along > 1e-3)
    power = np.einsum("ni,ni->n", points["force"], points["slip"])
    assert power[slides] == pytest.approx(-mu * along[slides] * slip[slides], rel=1e-2, abs=1e-9)


@pytest.mark.parametrize("rigid", [False, True], ids=["compliant", "rigid"])
def test_a_box_sticks_below_the_angle_of_friction_and_slides_above(rigid):
    mu = 0.5
    for part, sticks in ((0.95, True), (1.2, False)):
        angle = np.arctan(part * mu)
        gravity = (G * np.sin(angle), 0, -G * np.cos(angle))
        system, state, _ = surfaces(cubes(1), rigid=rigid, mu=mu, gravity=gravity)
        start, _ = step(system, state, 0.5)
        start = start.copy()
        end, _ = step(system, start.copy(), 1.5)
        if sticks:
            assert abs(end.q[4] - start.q[4]) < 2e-8
        else:
            assert end.u[3] - start.u[3] == pytest.approx(G * (np.sin(angle) - mu * np.cos(angle)), rel=1e-4)
            assert end.q[6] == pytest.approx(start.q[6], abs=1e-6)  # friction does not lift what slides


def test_steps_that_errors_choose_are_those_of_python(monkeypatch):
    """Surfaces that come near limit both: Python's steps went on regardless, and q was off by 1e-3."""
    things = [(CUBE, 1.0, 3 * (0.02 / 3,), (0.5 * i, 0, 0.1 + 0.01 * i)) for i in range(3)]
    system, state, _ = surfaces(things)

    def run():
        integrator = mb.integrator.TimeStepping(system, accuracy=1e-3)
        return mb.simulate(system, state, 0.1, report_interval=0.02, integrator=integrator)

    expected = run()
    monkeypatch.setattr(mb.integrator.TimeStepping, "_steps_in_kernels", lambda self, state: False)
    found = run()
    assert found.statistics["steps_taken"] == expected.statistics["steps_taken"]
    np.testing.assert_allclose(found.q, expected.q, rtol=0, atol=1e-6)


def test_friction_that_jams_is_named_at_once(monkeypatch):
    """Two corners push each other apart sideways with a friction of ten thousand: looking for impulses took 42 s."""
    for mu in (100.0, 1e4):
        system, state, (box,) = surfaces([(CUBE, 1.0, 3 * (0.02 / 3,), (0, 0, 0))], mu=mu)
        tilted = mb.Rotation.about_axis(0.3, (1, 0.3, 0))
        box.set_q_to_fit_transform(state, mb.Transform(tilted, (0, 0, 0.13)))
        integrator = mb.integrator.TimeStepping(system, fixed_step_size=0.002)
        monkeypatch.setattr(integrator, "_advance_by", lambda h: pytest.fail("Python's steps are slow, and no better"))
        stepper = mb.TimeStepper(system, integrator)
        stepper.initialize(state)
        if mu > 100.0:
            with pytest.raises(mb.ConvergenceError, match=r"friction of 1e.04.* at most 100"):
                stepper.step_to(1.0)
            assert 0.0 <= stepper.state.time < 1.0 and np.isfinite(stepper.state.q).all()
        else:
            stepper.step_to(1.0)  # the same with all that it needs
            assert integrator.get_largest_relative_residual() < 1e-3 and stepper.state.q[6] == pytest.approx(0.1, abs=1e-4)


def test_a_skidding_ball_rolls():
    """It rolls with 5/7 of its speed after 2 v / (7 mu g)."""
    mu, v = 0.2, 1.0
    system, state, _ = surfaces([(mb.contact.Sphere(0.1), 1.0, 3 * (0.4 * 0.01,), (0, 0, 0.1))], rigid=True, mu=mu)
    u = state.u.copy()
    u[3] = v
    state.u = u
    when = 2 * v / (7 * mu * G)
    h = 1e-3
    before, _ = step(system, state.copy(), when - 0.02, h)
    assert before.u[3] > 5 / 7 * v + 0.02
    end, _ = step(system, state, when + 0.02, h)
    assert end.u[3] == pytest.approx(5 / 7 * v, abs=2 * mu * G * h)
    assert end.u[1] == pytest.approx(end.u[3] / 0.1, rel=1e-4)


def test_at_rest_the_depth_is_that_of_the_compliant_law():
    system, state, _ = surfaces([(mb.contact.Sphere(0.1), 2.0, 3 * (0.4 * 0.01,), (0, 0, 0.1))], stiffness=1e5)
    end, _ = step(system, state, 3.0)
    contacts = system.force_subsystems[-1]
    assert contacts.get_contacts(end)["force"][0] == pytest.approx([0, 0, 2.0 * G], rel=1e-5)
    assert end.u_dot == pytest.approx(np.zeros(6), abs=1e-4)  # the state is one of the compliant law's equilibria


def test_a_ball_falls_as_with_error_control_by_the_same_law():
    def thrown():
        return surfaces([(mb.contact.Sphere(0.1), 1.0, 3 * (0.4 * 0.01,), (0, 0, 0.3))], stiffness=2e4, dissipation=0.3)[:2]

    system, state = thrown()
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-7))
    stepper.initialize(state)
    stepper.step_to(0.5)
    known = stepper.state.copy()
    errors = []
    for h in (4e-4, 2e-4, 1e-4):
        system, state = thrown()
        end, _ = step(system, state, 0.5, h)
        errors.append(abs(end.q[6] - known.q[6]))
    assert errors[2] < 0.65 * errors[1] < 0.45 * errors[0] and errors[2] < 2e-3  # first order
    system, state = thrown()
    integrator = mb.integrator.TimeStepping(system, accuracy=1e-6)
    stepper = mb.TimeStepper(system, integrator)
    stepper.initialize(state)
    stepper.step_to(0.5)
    assert stepper.state.q[6] == pytest.approx(known.q[6], abs=1e-2)


@pytest.mark.parametrize(("e", "tolerance"), [(0.4, 0.05), (0.8, 0.05)])
def test_restitution_of_rigid_surfaces(e, tolerance):
    system, state, _ = surfaces([(mb.contact.Sphere(0.1), 1.0, 3 * (0.4 * 0.01,), (0, 0, 0.6))], rigid=True, restitution=e)
    fall = np.sqrt(2 * 0.5 / G)
    end, _ = step(system, state, fall + e * fall, 5e-4)
    assert end.q[6] - 0.1 == pytest.approx(e * e * 0.5, rel=tolerance)


TETRAHEDRON = mb.contact.ConvexHull([(0.1, 0, -0.05), (-0.05, 0.087, -0.05), (-0.05, -0.087, -0.05), (0, 0, 0.1)])
SHAPES = {
    "capsule": (mb.contact.Capsule(0.1, 0.2), 0.3),
    "cylinder": (mb.contact.Cylinder(0.1, 0.1), 0.1),
    "ellipsoid": (mb.contact.Ellipsoid((0.2, 0.2, 0.1)), 0.1),
    "torus": (mb.contact.Torus(0.2, 0.05), 0.05),
    "hull": (TETRAHEDRON, 0.05),
}


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_lies_on_the_floor(name):
    shape, height = SHAPES[name]
    system, state, _ = surfaces([(shape, 1.0, (0.01, 0.01, 0.01), (0, 0, height - 1e-4))], rigid=True)
    end, integrator = step(system, state, 0.3)
    points = integrator.get_contact_points()
    assert points["force"].sum(axis=0) == pytest.approx([0, 0, G], abs=1e-4)
    assert abs(end.u[5]) < 1e-6 and points["depth"].max() < 1e-3


@pytest.mark.parametrize("rigid", [False, True], ids=["compliant", "rigid"])
def test_reports_do_not_change_the_steps(rigid):
    system, state, _ = surfaces(cubes(1, 0.02), rigid=rigid)
    once, _ = step(system, state.copy(), 0.2)
    integrator = mb.integrator.TimeStepping(system, fixed_step_size=0.002)
    stepper = mb.TimeStepper(system, integrator)
    stepper.initialize(state)
    for time in (0.0211, 0.0523, 0.1007, 0.2):
        stepper.step_to(time)
    assert stepper.state.q == pytest.approx(once.q, abs=1e-12)


@pytest.mark.parametrize(("mu", "jams"), [(0.4, False), (0.6, True)])
def test_an_arm_below_a_locked_joint_slides_to_the_side_or_jams(mu, jams):
    """Its tip is at tan 0.48 from the vertical: with more friction it cannot be driven out again, nor slide back."""
    system, matter = empty()
    matter.ground.add_contact_surface(mb.contact.Surface(FLOOR, material(mu), name="floor"))
    across = mb.Rotation.about_axis(np.pi / 2, "x")
    upper = mb.mobilizer.Pin(
        matter.ground, solid(), X_PF=mb.Transform(across, (0, 0, 1.0)), X_BM=mb.Transform(across), name="upper"
    )
    frames = {"X_PF": mb.Transform(across, (1.0, 0, 0)), "X_BM": mb.Transform(across, (-1.0, 0, 0))}
    lower = mb.mobilizer.Pin(upper, solid(), **frames, name="lower")
    lower.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.1), material(mu), name="ball"))
    mb.contact.rigid(system, stepped=True)
    state = system.realize_topology()
    upper.lock(state)
    end, integrator = step(system, state, 2.0)
    assert end.q[0] == 0.0 and abs(end.u[1]) < 1e-6
    system.realize(end)
    assert lower.find_station_location_in_ground(end, (0, 0, 0))[2] == pytest.approx(0.1, abs=2e-2)
    points = integrator.get_contact_points()
    if not jams:  # the weight and the floor's force have no moment about the pin
        force = points["force"].sum(axis=0)
        x, _, z = points["point"][0] - np.array([1.0, 0, 1.0])
        assert (force[2] - G) * x == pytest.approx(force[0] * z, abs=1e-3)


def test_other_integrators_say_what_to_do():
    system, state, _ = surfaces(cubes(1), rigid=True)
    with pytest.raises(ModelError, match=r"(?s)Brick, HalfSpace.*TimeStepping"):
        mb.simulate(system, state, 0.1)


def test_bilateral_constraints_beside_surfaces():
    """Two balls on a rod, and a rope: by Python's steps."""
    system, state, bodies = surfaces(
        [(mb.contact.Sphere(0.1), 1.0, 3 * (0.004,), (0.5 * k, 0, 0.1 + 0.3 * k)) for k in range(2)], rigid=True, mu=0.0
    )
    mb.constraint.Rod(bodies[0], (0, 0, 0), bodies[1], (0, 0, 0), np.hypot(0.5, 0.3))
    state = system.realize_topology()
    for k, body in enumerate(bodies):
        body.set_q_to_fit_translation(state, (0.5 * k, 0, 0.1 + 0.3 * k))
    end, integrator = step(system, state, 0.5)
    apart = end.q[11:14] - end.q[4:7]
    assert np.linalg.norm(apart) == pytest.approx(np.hypot(0.5, 0.3), abs=1e-6)
    assert end.q[[6, 13]] == pytest.approx([0.1, 0.1], abs=2e-3)
    assert integrator.get_contact_points()["force"].sum(axis=0)[2] == pytest.approx(2 * G, rel=0.2)


def test_the_audit_books_the_work_of_impulses():
    system, state, _ = surfaces(cubes(1, 0.05))
    run = mb.simulate(system, state, 0.5, integrator=mb.integrator.TimeStepping(system, fixed_step_size=0.002))
    assert run.audit.energy_change < -0.3, "the fall is lost"
    assert run.audit.work["contacts, stops and ropes"] == pytest.approx(run.audit.energy_change, rel=1e-9)
    assert run.audit.unaccounted == []
    assert not any("energy is off" in text for text in run.audit.warnings)
