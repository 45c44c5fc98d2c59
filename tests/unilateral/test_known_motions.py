"""Motions under rigid contact that are known in closed form, by events and by time stepping."""

import numpy as np
import pytest
from touching_models import (
    G,
    ball_over_floor,
    cradle,
    empty,
    planar,
    point_on_slope,
    pulled_blocks,
    rod,
    run,
    solid,
    stack,
    stepped,
)

import mobod as mb

BOTH = pytest.mark.parametrize("go", [run, stepped], ids=["events", "time stepping"])


def height_after(time, e, height):
    """Of a ball dropped from *height* that bounces with restitution e: flights are parabolas."""
    left, v = time - np.sqrt(2.0 * height / G), e * np.sqrt(2.0 * G * height)
    while left > 2.0 * v / G:
        left, v = left - 2.0 * v / G, e * v
    return v * left - 0.5 * G * left**2


def test_a_ball_bounces_at_the_times_of_its_parabolas():
    system, state, _ = ball_over_floor(1.0, 0.8)
    end, _ = run(system, state, 2.0)
    assert end.q[6] - 1.0 == pytest.approx(height_after(2.0, 0.8, 1.0), abs=1e-8)


def test_time_stepping_converges_to_it_with_the_first_order():
    errors = []
    for h in (4e-3, 1e-3):
        system, state, _ = ball_over_floor(1.0, 0.8)
        end, integrator = stepped(system, state, 0.8, h)
        errors.append(abs(end.q[6] - 1.0 - height_after(0.8, 0.8, 1.0)))
        assert integrator.get_largest_residual() < 1e-8
    assert errors[1] < 0.5 * errors[0] and errors[1] < 5e-3


def test_time_stepping_chooses_its_steps():
    system, state, _ = ball_over_floor(1.0, 0.8)
    end, integrator = run(system, state, 0.8, mb.integrator.TimeStepping(system, accuracy=1e-4))
    assert end.q[6] - 1.0 == pytest.approx(height_after(0.8, 0.8, 1.0), abs=0.02)
    assert integrator.get_num_error_test_failures() > 0


def test_bounces_end_below_the_capture_speed():
    system, state, _ = ball_over_floor(0.1, 0.5)
    end, _ = run(system, state, 2.0)
    contact = system.matter.get_unilateral_contact(0)
    assert contact.is_enabled(end) and end.q[6] == pytest.approx(1.0, abs=1e-12) and abs(end.u).max() == 0.0
    assert contact.calc_normal_force(end) == pytest.approx(G)
    assert contact.find_force_on_second_body_in_g(end) == pytest.approx((0, 0, G))


@BOTH
@pytest.mark.parametrize("mu", [0.49, 0.51])
def test_a_mass_sticks_on_a_slope_if_and_only_if_the_tangent_is_within_friction(go, mu):
    angle = np.arctan(0.5)
    system, state, _ = point_on_slope(angle, mu)
    end, _ = go(system, state, 1.0)
    expected = max(0.0, G * (np.sin(angle) - mu * np.cos(angle)))
    # nearest to the limit the residual of a step, 1e-9 of the speed, adds up over a thousand
    assert np.hypot(end.u[0], end.u[2]) == pytest.approx(expected, abs=1e-7)


@BOTH
def test_dynamic_friction_is_that_of_slip(go):
    angle = np.arctan(0.5)
    system, state, _ = point_on_slope(angle, 0.6, dynamic_friction=0.2)
    state.u = 0.5 * np.array([np.cos(angle), 0.0, -np.sin(angle)])
    end, _ = go(system, state, 0.5)
    assert np.hypot(end.u[0], end.u[2]) == pytest.approx(0.5 + 0.5 * G * (np.sin(angle) - 0.2 * np.cos(angle)), abs=1e-6)


@BOTH
@pytest.mark.parametrize(("slip", "left"), [(3.0, 3.0 - 0.25), (0.005, 0.0)])
def test_an_impact_has_the_friction_of_its_slip(go, slip, left):
    """The impulse of a normal speed of 1 takes mu from slip: static below the transition speed, dynamic and viscous above."""
    system, state, mass = point_on_slope(0.0, 0.6, dynamic_friction=0.1, viscous_friction=0.05)
    mass.set_q_to_fit_translation(state, (0, 0, 1e-3))
    state.u = [slip, 0.0, -np.sqrt(1.0 - 2e-3 * G)]
    end, _ = go(system, state, 4e-3)
    assert end.u[0] == pytest.approx(left, abs=0.01), "friction of the weight beside"


@BOTH
@pytest.mark.parametrize("mu_d", [0.5, 0.4])
def test_what_a_spring_pulls_ever_more_slides_from_where_friction_is_at_its_limit(go, mu_d):
    """The secant finds exactly zero of what is left of friction; no change from there counted, and it stuck for ever."""
    system, matter = empty()
    mass, hand = mb.mobilizer.Translation(matter.ground, solid()), mb.mobilizer.Slider(matter.ground, solid())
    floor = mb.contact.PointPlane(matter.ground, (0, 0, 1), 0.0, mass, (0, 0, 0), static_friction=0.5, dynamic_friction=mu_d)
    floor.set_transition_speed(1e-6)
    mb.motion.Steady(hand, 1.0)
    mb.force.TwoPointLinearSpring(system.force_subsystems[0], mass, (0, 0, 0), hand, (1, 0, 0), 1.0, 1.0)
    end, _ = go(system, system.realize_topology(), 0.5 * G + 0.8)
    expected = 0.8 - np.sin(0.8) + (0.5 - mu_d) * G * (1.0 - np.cos(0.8))
    assert end.q[0] == pytest.approx(expected, abs=2e-3) and end.u[0] > 0.25


def test_slip_ends_where_friction_all_but_holds():
    """Errors across so little slip turned friction to and fro, and it hovered there for 697,000 steps.

    Where it ends is SciPy's Radau's, of friction that grows over 1e-7 of slip.
    """
    system, matter = empty()
    mass = mb.mobilizer.Translation(matter.ground, solid())
    mb.contact.PointPlane(matter.ground, (0, 0, 1), 0.0, mass, (0, 0, 0), static_friction=0.5)
    hand = mb.mobilizer.Slider(matter.ground, solid(), X_PF=mb.Transform((0, 0.3, 0)))
    mb.motion.Sinusoid(hand, mb.Motion.Level.POSITION, 0.1, 10.0, 0.0)
    k = 1.1 * 0.5 * G / np.hypot(0.1, 0.3)
    mb.force.TwoPointLinearSpring(system.forces, mass, (0, 0, 0), hand, (0, 0, 0), k, 0.0)
    integrator = mb.integrator.RungeKuttaMerson(system, accuracy=1e-7)
    integrator.set_internal_step_limit(2000)
    end, _ = run(system, system.realize_topology(), 0.4 * np.pi, integrator)
    assert end.q[:2] == pytest.approx((-1.569498e-3, 4.228465e-2), abs=1e-6) and integrator.get_num_steps_taken() < 1000


def test_kernels_look_at_what_keeps_contacts_closed(monkeypatch):
    def refuse(self, state):
        raise AssertionError("Python is asked for a force")

    monkeypatch.setattr(mb.UnilateralContact, "calc_normal_force", refuse)
    angle, ends = np.arctan(0.5), []
    for speed in (0.0, 0.5):
        system, state, _ = point_on_slope(angle, 0.6, dynamic_friction=0.55)
        state.u = -speed * np.array([np.cos(angle), 0.0, -np.sin(angle)])  # up, until it sticks
        ends.append(mb.simulate(system, state, 0.5, report_interval=0.1))
    assert abs(ends[0].u).max() < 1e-15 and [one.kind for one in ends[1].events][-2:] == ["triggered", "stuck"]


def test_a_run_from_a_checkpoint_looks_at_its_own_contacts(tmp_path):
    file, angle = tmp_path / "run.checkpoint", np.arctan(0.5)
    steppers = []
    for _ in range(2):
        system, state, _ = point_on_slope(angle, 0.6)
        steppers.append(mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system)))
        steppers[-1].initialize(state)
    steppers[0].step_to(0.1)
    steppers[0].save_checkpoint(file)
    steppers[1].load_checkpoint(file)
    system.matter.get_unilateral_contact(0).set_friction(0.1)
    steppers[1].step_to(0.5)
    assert np.linalg.norm(steppers[1].state.u) > 0.1  # from the end of its last step on


def test_states_of_a_motion_have_the_friction_of_what_slides():
    angle = np.arctan(0.5)
    system, state, _ = point_on_slope(angle, 0.2)
    contact = system.matter.get_unilateral_contact(0)
    motion = mb.simulate(system, state, 0.4, report_interval=0.2)
    along = motion.u[-1] / np.linalg.norm(motion.u[-1])
    of_many = mb.Ensemble(system, 2, state=state).simulate(0.4, report_interval=0.2)
    for one in (*of_many[1].states, *motion.states):  # the first ones, too, which slide from rest
        system.realize(one)
        assert one.u_dot == pytest.approx((G * (np.sin(angle) - 0.2 * np.cos(angle))) * along)
        friction = contact.find_force_on_second_body_in_g(one)
        assert np.linalg.norm(friction) == pytest.approx(G * np.cos(angle) * np.hypot(1.0, 0.2))
    found = system.calc_forward_dynamics_derivatives(one)
    assert np.linalg.norm(found.u @ one.u) < 1e-13  # friction does not grow with the slip
    n, t = np.array([np.sin(angle), 0.0, np.cos(angle)]), one.u / np.linalg.norm(one.u)
    expected = np.eye(3) - np.outer(n, n) + 0.2 * np.outer(t, n)  # what lifts takes friction away
    assert found.mobility_forces == pytest.approx(expected, abs=1e-13)
    found = system.calc_parameter_derivatives(one, ["uniformgravity_0.gravity_vector"])
    assert found == pytest.approx(expected, abs=1e-13)


@BOTH
@pytest.mark.parametrize("mu", [0.95, 1.05])
def test_a_solid_sphere_rolls_down_if_and_only_if_friction_is_enough(go, mu):
    """It rolls if tan(angle) <= 3.5 mu, with 5/7 of the acceleration; else friction is mu N."""
    mu, angle = mu * np.tan(0.6) / 3.5, 0.6
    system, matter = empty()
    ball = mb.mobilizer.Free(matter.ground, solid(), name="ball")
    n = np.sin(angle), 0.0, np.cos(angle)
    mb.contact.SpherePlane(matter.ground, n, -1.0, ball, (0, 0, 0), 1.0, static_friction=mu)
    end, _ = go(system, system.realize_topology(), 0.5)
    a = 5.0 / 7.0 * G * np.sin(angle) if mu * 3.5 >= np.tan(angle) else G * (np.sin(angle) - mu * np.cos(angle))
    assert np.linalg.norm(end.u[3:]) == pytest.approx(0.5 * a, rel=1e-7)


@BOTH
def test_a_skidding_ball_rolls_in_the_end_with_five_sevenths_of_its_speed(go):
    mu, v = 0.3, 5.0
    until = 2.0 * v / (7.0 * mu * G)
    system, state, _ = ball_over_floor(0.0, 0.0, static_friction=mu)
    u = state.u.copy()
    u[3] = v
    state.u = u
    before, _ = go(system, state, 0.98 * until)
    assert before.u[3] == pytest.approx(v - mu * G * 0.98 * until, rel=1e-6) and before.u[3] - before.u[1] > 0.01
    after, _ = go(system, state, 1.05 * until)
    assert after.u[3] == pytest.approx(5.0 / 7.0 * v, rel=1e-6) and after.u[1] == pytest.approx(5.0 / 7.0 * v, rel=1e-6)


@BOTH
def test_newtons_cradle_passes_the_impact_on(go):
    system, state = cradle(3)
    end, _ = go(system, state, 0.5)
    assert end.u == pytest.approx([0.0, 0.0, 1.0], abs=1e-10)


@BOTH
def test_inelastic_balls_go_on_together(go):
    system, state = cradle(3, restitution=0.0)
    end, _ = go(system, state, 0.5)
    assert end.u == pytest.approx(np.full(3, 1.0 / 3.0), abs=1e-9)


@pytest.mark.parametrize(("h", "b"), [(2.0, 0.5), (1.0, 0.5), (1.0, 0.9)])
def test_a_rocking_block_keeps_housners_part_of_its_speed(h, b):
    """Housner 1963: 1 - 1.5 sin^2(alpha), alpha the angle at the corner between the diagonal and the upright."""
    system, state, _ = planar(b, h, 5.0, [("left", (-b, -h)), ("right", (b, -h))])
    state.q, state.u = [0.0, 0.0, h], [1.0, -h, -b]  # about the right corner, the left one coming down
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system))
    stepper.initialize(state)
    ratio = 1.0 - 1.5 * b * b / (h * h + b * b)
    assert stepper.state.u == pytest.approx([ratio, -h * ratio, b * ratio], abs=1e-9)
    left, right = system.matter.unilateral_contacts
    assert left.is_enabled(stepper.state) and not right.is_enabled(stepper.state)


def test_a_block_rocks_the_same_by_events_and_in_the_limit_of_small_steps():
    def make():
        system, state, _ = planar(0.5, 2.0, 5.0, [("left", (-0.5, -2.0)), ("right", (0.5, -2.0))])
        c, s = np.cos(0.05), np.sin(0.05)
        state.q = [-0.05, 0.5 - 0.5 * c + 2.0 * s, 0.5 * s + 2.0 * c]
        return system, state

    by_events, _ = run(*make(), 1.2)
    small, _ = stepped(*make(), 1.2, 5e-4)
    assert small.q == pytest.approx(by_events.q, abs=2e-3)


@BOTH
def test_a_stack_of_boxes_stands(go):
    system, state, _ = stack(3 if go is run else 10)
    end, _ = go(system, state, 0.3)
    assert abs(end.u).max() < 1e-9 and end.q == pytest.approx(state.q, abs=1e-9)


def test_a_heavy_box_stands_on_a_light_one():
    system, state, _ = stack(2, masses=[1.0, 1000.0])
    end, integrator = stepped(system, state, 0.2, 2e-3)
    assert abs(end.u).max() < 1e-8
    h = integrator.get_previous_step_size_taken()
    impulses = integrator.get_contact_impulses()
    total = sum(impulse[0] for name, impulse in impulses.items() if name.startswith("corner0"))
    assert total / h == pytest.approx(1001.0 * G, rel=1e-8)


@BOTH
def test_boxes_that_fall_on_each_other_come_to_rest(go):
    system, state, _ = stack(3, gap=0.05)
    end, _ = go(system, state, 1.0)
    assert abs(end.u).max() < 1e-6 and end.q[6::7] == pytest.approx([0.5, 1.5, 2.5], abs=1e-3)


@BOTH
def test_a_rope_goes_taut(go):
    """A mass falls beside the point where its rope is fixed: what it has along the rope is lost, the rest stays."""
    system, matter = empty()
    mass = mb.mobilizer.Translation(matter.ground, solid(), name="mass")
    rope = mb.contact.Rope(matter.ground, (0, 0, 0), mass, (0, 0, 0), 1.0, name="rope")
    state = system.realize_topology()
    state.q = [0.6, 0.0, 0.0]
    taut = np.sqrt(2.0 * 0.8 / G)
    before, _ = go(system, state, 0.9 * taut)
    assert before.q[2] == pytest.approx(-0.5 * G * (0.9 * taut) ** 2, abs=5e-3) and not rope.is_enabled(before)
    end, _ = go(system, state, taut + 0.1)
    v = np.sqrt(2.0 * G * 0.8) * 0.6  # across the rope
    energy = 0.5 * v**2 - G * 0.8
    assert np.linalg.norm(end.q) == pytest.approx(1.0, abs=1e-4)
    assert 0.5 * end.u @ end.u + G * end.q[2] == pytest.approx(energy, abs=0.02)
    if go is run:
        assert 0.5 * end.u @ end.u + G * end.q[2] == pytest.approx(energy, abs=1e-6)
        assert rope.get_tension(end) == pytest.approx(end.u @ end.u - G * end.q[2], rel=1e-6)


@BOTH
@pytest.mark.parametrize("kind", ["HardStopUpper", "HardStopLower"])
def test_a_slider_bounces_between_stops(go, kind):
    system, matter = empty((0, 0, 0))
    slider = mb.mobilizer.Slider(matter.ground, solid(), name="slider")
    sign = 1.0 if kind == "HardStopUpper" else -1.0
    stop = getattr(mb.contact, kind)(slider, 0, sign, 0.5)
    state = system.realize_topology()
    state.u = [2.0 * sign]
    end, _ = go(system, state, 1.0)
    late = 1e-8 if go is run else 4e-3  # impacts come at the beginning of a step
    assert end.u[0] == pytest.approx(-sign) and end.q[0] == pytest.approx(0.5 * sign, abs=late)
    system.realize(end)
    assert stop.get_sign_convention() == sign * -1.0 and stop.calc_gap(end) == pytest.approx(0.5, abs=late)


def test_edges_touch_where_they_are_and_not_beside():
    system, matter = empty()
    bar = mb.mobilizer.Translation(matter.ground, solid(), name="bar")
    turned = mb.Transform(mb.Rotation(np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, -1]])))
    edge = mb.contact.EdgeEdge(matter.ground, mb.Transform(), 1.0, bar, turned, 1.0, name="edges")
    state = system.realize_topology()
    for x, falls in ((0.5, False), (1.5, True)):
        state.q = [x, 0.0, 0.1]
        system.realize(state)
        assert edge.calc_gap(state) == pytest.approx(0.1) and edge.is_within(state) is not falls
        end, _ = stepped(system, state, 0.5)
        assert bool(end.q[2] < -0.5) is falls and (falls or end.q[2] == pytest.approx(0.0, abs=1e-4))


@pytest.mark.parametrize("go", [run, stepped], ids=["events", "time stepping"])
def test_a_rod_slides_with_friction_below_painleves(go):
    """At tan(angle) = 2 a slender rod may have friction of 4/3 (Painleve 1895): then 1 + 3 cos (cos - mu sin) = 0."""
    system, state, _ = rod(np.arctan(2.0), 1.3, -1.0)
    end, _ = go(system, state, 1e-3)
    assert np.isfinite(end.u).all()


@BOTH
@pytest.mark.parametrize("inertia", [1.0, 0.26 / 3.0])
@pytest.mark.parametrize("mu", [0.2, 0.24, 0.26])
def test_a_block_jams_in_a_guide_without_play_if_and_only_if_friction_is_enough(go, mu, inertia):
    """Pushed at a distance r it bears at two corners, L apart, with F r / L, of four that touch: it slides if 2 mu r < L.

    The least multipliers of the four would pull at two, and so be without friction all in all.
    """
    force, r, length, half_width = 5.0, 2.0, 1.0, 0.1
    system, matter = empty()
    block = mb.mobilizer.Planar(matter.ground, solid(1.0, (inertia, inertia, inertia)), name="block")
    for side in (-1, 1):
        for end in (-0.5 * length, 0.5 * length):
            wall, corner = (0, -side, 0), (end, side * half_width, 0.0)
            mb.contact.PointPlane(matter.ground, wall, -half_width, block, corner, static_friction=mu)
    mb.force.ConstantForce(system.forces, block, (0, r, 0), (force, 0, 0))
    end, _ = go(system, system.realize_topology(), 0.5)
    expected = max(0.0, force * (1.0 - 2.0 * mu * r / length))
    assert end.u[1] == pytest.approx(0.5 * expected, abs=1e-6)
    if go is run and expected > 0.0:
        system.realize(end)
        forces = [one.calc_normal_force(end) for one in matter.unilateral_contacts]
        assert forces == pytest.approx([0.0, force * r / length, force * r / length, 0.0], abs=1e-6) and min(forces) >= 0.0


def test_what_is_jammed_without_play_rests_without_a_step_of_newtons():
    """Rounding of gaps is no depth: of two walls that overlap by it neither can be left."""
    h = np.array([0.11, 0.07, 0.05])
    system, matter = empty((3.0, -2.0, -9.0))
    block = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.brick(h))))
    for axis in (1, 2):
        for side in (-1, 1):
            for corner in np.ndindex(2, 2, 2):
                at = (2 * np.array(corner) - 1) * h
                if at[axis] * side > 0.0:
                    wall = -side * np.eye(3)[axis]
                    mb.contact.PointPlane(matter.ground, wall, -h[axis], block, at, static_friction=0.56)
    mb.force.ConstantForce(system.forces, block, (0.1, 0.05, 0.04), (1.0, 4.0, -3.0))
    end, integrator = stepped(system, system.realize_topology(), 0.06, 2e-4)
    assert abs(end.u).max() < 1e-12
    assert integrator.get_num_newton_steps() < 3000  # of 300 steps, in the first of which it comes to rest


def test_a_plate_in_a_corner_is_torn_away_below_and_turns_about_its_upper_edge():
    """Friction above and the floor below share its weight in any way, until it has turned by ever so little."""
    half_width, half_height, pull = 0.05, 0.5, 50.0
    ends = []
    for pinned in (True, False):
        system, matter = empty((0.0, -G, 0.0))
        k = (half_width**2 + half_height**2) / 3.0
        edge, lower = (-half_width, half_height, 0.0), (0.0, -half_height, 0.0)
        if pinned:
            plate = mb.mobilizer.Pin(matter.ground, solid(1.0, (k, k, k)), X_PF=mb.Transform(edge), X_BM=mb.Transform(edge))
        else:
            plate = mb.mobilizer.Planar(matter.ground, solid(1.0, (k, k, k)))
            for normal, offset, side in (((1, 0, 0), -half_width, edge), ((0, 1, 0), -half_height, (0, 0, 0))):
                for x in (-1, 1):
                    corner = (-half_width, x * half_height, 0.0) if side is edge else (x * half_width, -half_height, 0.0)
                    mb.contact.PointPlane(matter.ground, normal, offset, plate, corner, static_friction=1.0)
        mb.force.ConstantForce(system.forces, plate, lower, (pull, 0, 0))
        end, _ = run(system, system.realize_topology(), 0.01)
        ends.append(end.u[0])
    assert ends[1] == pytest.approx(ends[0], rel=1e-6)


def test_beyond_it_the_paradox_is_explained():
    system, state, _ = rod(np.arctan(2.0), 1.34, -1.0)
    with pytest.raises(mb.ModelError, match="tip"):
        run(system, state, 1e-3)
    end, integrator = stepped(system, state, 1e-3, 1e-4)  # an impulse stops the slip
    assert np.isfinite(end.u).all() and integrator.get_largest_residual() < 1e-8
    system.realize(end)
    assert abs(system.matter.get_unilateral_contact(0).get_slip_velocity(end)).max() < 1e-4  # of a step, first order
    system, state, _ = rod(np.arctan(2.0), 1.34, 1.0)  # the other way friction lifts it
    run(system, state, 1e-3)


def test_dry_friction_of_a_joint_stops_a_slider():
    system, matter = empty((0, 0, 0))
    slider = mb.mobilizer.Slider(matter.ground, solid(), name="slider")
    friction = mb.contact.JointFriction(slider, 0, 10.0, 0.2, name="dry")
    state = system.realize_topology()
    state.u = [1.0]
    end, _ = stepped(system, state, 0.25)
    assert end.u[0] == pytest.approx(0.5, abs=3e-9)  # of 250 steps
    end, _ = stepped(system, state, 1.0)
    assert abs(end.u[0]) < 1e-9 and end.q[0] == pytest.approx(0.25, abs=1e-3)
    assert matter.get_state_limited_friction(0) is friction and matter.upd_state_limited_friction(0) is friction
    assert matter.get_num_state_limited_frictions() == 1


def test_time_stepping_keeps_constraints_locks_and_prescribed_motion():
    """A mass on a platform that is driven up and down, beside one that a rod holds and one that is locked."""
    system, matter = empty()
    lift = mb.mobilizer.Slider(matter.ground, solid(), X_PF=mb.Transform(mb.Rotation(np.array(
        [[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]]))), name="lift")  # fmt: skip
    mb.motion.Sinusoid(lift, mb.Motion.Level.POSITION, 0.1, 2.0, 0.0)
    mass = mb.mobilizer.Translation(matter.ground, solid(), name="mass")
    held = mb.mobilizer.Translation(matter.ground, solid(), name="held")
    locked = mb.mobilizer.Translation(matter.ground, solid(), name="locked")
    mb.constraint.Rod(matter.ground, (0, 0, 0), held, (0, 0, 0), 1.0)
    up = np.array([-1.0, 0, 0])  # of the lift's frame, whose x is down
    mb.contact.PointPlane(lift, up, 0.0, mass, (0, 0, 0), static_friction=0.5, name="on the lift")
    mb.contact.PointPlane(matter.ground, (0, 0, 1), -0.5, held, (0, 0, 0), static_friction=0.0, name="stop")
    mb.contact.PointPlane(matter.ground, (0, 0, 1), 5.0, locked, (0, 0, 0), static_friction=0.5, name="above")
    state = system.realize_topology()
    state.q = np.concatenate([state.q[:1], [0, 0, 0], [np.cos(0.2), 0, -np.sin(0.2)], [0, 0, 5.0]])
    locked.lock(state)
    end, _ = stepped(system, state, 1.0)
    system.realize(end)
    z = lift.get_body_transform(end).p[2]
    assert end.q[3] == pytest.approx(z, abs=1e-4)
    assert end.q[0] == pytest.approx(0.1 * np.sin(2.0 * 1.0), abs=1e-12)
    assert np.linalg.norm(end.q[4:7]) == pytest.approx(1.0, abs=1e-4) and end.q[6] == pytest.approx(-0.5, abs=1e-3)
    assert end.q[7:].tolist() == [0, 0, 5.0]


def test_what_redundant_forces_hold_sticks_until_none_within_the_cone_do():
    """Two speeds, x and y, and three rows: N and f_1 share what is along x; the least of these are out of the cone at once.

    With P along -x, Q along y and the normal at an angle a to z, s = sin a, c = cos a: N s + f_1 c = P, f_2 = Q. It may slip
    along y from Q = mu P / s on, f_1 = 0, and cannot stick where mu N is not |f|, above Q = mu P / sqrt(s^2 - mu^2 c^2).
    """
    angle, mu, k, speed = 0.8, 0.5, 20.0, 1.0
    s, c = np.sin(angle), np.cos(angle)
    system, matter = empty((-G, 0.0, 0.0))
    along_y = mb.Transform(mb.Rotation.about_axis(np.pi / 2, (0, 0, 1)))
    base = mb.mobilizer.Slider(matter.ground, solid(0.25))
    mass = mb.mobilizer.Slider(base, solid(0.75), X_PF=along_y)
    hand = mb.mobilizer.Slider(matter.ground, solid(), X_PF=mb.Transform(along_y.R, (0.0, 1.0, 0.0)))
    mb.motion.Steady(hand, speed)
    mb.force.TwoPointLinearSpring(system.forces, mass, (0, 0, 0), hand, (0, 0, 0), k, 1.0)
    mb.contact.PointPlane(matter.ground, (s, 0.0, c), 0.0, mass, (0, 0, 0), static_friction=mu, name="slope")
    state = system.realize_topology()
    events = mb.simulate(system, state, 0.8, accuracy=1e-8).events
    (time,) = [one.time for one in events if one.kind == "slid"]
    assert 1.0 - 1e-4 < time * k * speed / (mu * G / s) < s / np.sqrt(s**2 - mu**2 * c**2) + 1e-4


def due(speed):
    """When a spring of `pulled_blocks` pulls by friction times weight."""
    return 0.5 * G / 40.0 / speed


def first_slips(motion):
    """When corners of each cube begin to slide."""
    found = {}
    for one in motion.events:
        if one.kind == "slid":
            found.setdefault(one.name.split()[0], one.time)
    return found


@pytest.mark.parametrize("height", [-0.45, -0.3, 0.0, 0.2])
@pytest.mark.parametrize("speed", [0.3, 0.8])
def test_a_block_on_its_corners_slips_at_friction_times_weight_whatever_slides_elsewhere(height, speed):
    """Other forces of its four corners would hold as much; where one slid none were asked for, and it stuck to twice that."""
    system, state = pulled_blocks([(0, 0, 0.5), (0, 5, 0.5)], [1.0, speed], height=height)
    slips = first_slips(mb.simulate(system, state, 0.5, accuracy=1e-6))
    assert slips == pytest.approx({"cube0": due(1.0), "cube1": due(speed)}, rel=1e-4)


@pytest.mark.parametrize(
    ("speeds", "slides", "weights"), [((1.0, 0.0), "cube0", 2.0), ((0.0, 1.0), "cube1", 1.0), ((0.5, 1.0), "cube1", 1.0)]
)
def test_a_block_on_a_block_slips_where_the_first_is_beyond_friction(speeds, slides, weights):
    """The lower one is pulled against friction of both weights, the upper one against that of its own."""
    system, state = pulled_blocks([(0, 0, 0.5), (0, 0, 1.5)], speeds)
    slips = first_slips(mb.simulate(system, state, 0.26, accuracy=1e-6))
    assert slips == pytest.approx({slides: weights * due(1.0)}, rel=1e-4)


@pytest.mark.parametrize("accuracy", [1e-3, 1e-6])
@pytest.mark.parametrize("rate", [3.0, 10.0, 40.0])
@pytest.mark.parametrize("corners", [1, 4])
def test_what_sticks_slips_in_each_period_of_a_load_that_only_a_motion_brings(corners, rate, accuracy):
    """Up to 1.02 of the limit, to and fro: as nothing else moved steps grew beyond the period, and missed peaks."""
    system, matter = empty()
    if corners == 1:
        body = mb.mobilizer.Translation(matter.ground, solid())
        mb.contact.PointPlane(matter.ground, (0, 0, 1), 0.0, body, (0, 0, 0), static_friction=0.5, name="body 0")
    else:
        body = mb.mobilizer.Free(matter.ground, solid(1.0, (1 / 6, 1 / 6, 1 / 6)))
        for i, (x, y) in enumerate(((0.5, 0.5), (0.5, -0.5), (-0.5, 0.5), (-0.5, -0.5))):
            point = x, y, -0.25
            mb.contact.PointPlane(matter.ground, (0, 0, 1), -0.25, body, point, static_friction=0.5, name=f"body {i}")
    hand = mb.mobilizer.Slider(matter.ground, solid(), X_PF=mb.Transform((2.0, 0.0, 0.0)))
    mb.motion.Sinusoid(hand, mb.Motion.Level.POSITION, 1.02 * 0.5 * G / 40.0, rate, 0.3)
    mb.force.TwoPointLinearSpring(system.forces, body, (0, 0, 0), hand, (0, 0, 0), 40.0, 2.0)
    state = system.realize_topology()
    motion = mb.simulate(system, state, 5.0 / rate, accuracy=accuracy)
    times = sorted({one.time for one in motion.events if one.kind == "slid" and one.name == "body 0"})
    # after the first slip the body has moved by very little
    assert times[0] == pytest.approx((np.arcsin(1 / 1.02) - 0.3) / rate, rel=1e-3)
    assert times[-1] == pytest.approx(times[0] + np.pi / rate, rel=0.15)
    ensemble = mb.Ensemble(system, 2, state=state)
    for one in ensemble.simulate(5.0 / rate, accuracy=accuracy):
        assert one.events[0].time == motion.events[0].time and np.allclose(
            one.q[-1], motion.q[-1], rtol=0.0, atol=10 * accuracy
        )


class Pulse(mb.force.CustomImplementation):
    """Up to 1.2 times what friction of 0.5 holds of a mass of 1, at 1.3 s, for some 30 ms."""

    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        mobility_forces[0] += 0.6 * G * np.exp(-(((state.time - 1.3) / 0.03) ** 2))


def test_what_sticks_slips_by_a_pulse_of_a_force():
    """Nothing else moves, so steps grew beyond it."""
    system, matter = empty()
    mass = mb.mobilizer.Translation(matter.ground, solid())
    mb.contact.PointPlane(matter.ground, (0, 0, 1), 0.0, mass, (0, 0, 0), static_friction=0.5)
    mb.force.Custom(system.forces, Pulse())
    state = system.realize_topology()
    motion = mb.simulate(system, state, 2.0, report_interval=2.0)
    of_many = mb.Ensemble(system, 2, state=state).simulate(2.0, report_interval=2.0, accuracy=1e-4)
    for events, end in ((motion.events, motion.q[-1]), (of_many[1].events, of_many[1].q[-1])):
        slips = [one.time for one in events if one.kind == "slid" and one.time > 0.0]
        assert slips[0] == pytest.approx(1.3 - 0.03 * np.sqrt(np.log(1.2)), abs=1e-5) and end[0] > 3e-4


@pytest.mark.parametrize("resting", [0, 1])
def test_what_all_but_sticks_while_others_slip_stays_within_friction(resting):
    """A block turns nearly about a corner, below one that slides fast: the corner stuck by up to 0.9 beyond its friction.

    A third block at rest, of which rows are redundant, hid then that another corner pulled at the floor.
    """
    system, matter = empty((0.91, 1.41, -9.665))
    places, cubes, own = [(0, 0, 0.5), (0.076, 0.162, 1.5), (0, 6, 0.5)][: 2 + resting], [], []
    for i, (mass, mu) in enumerate(((1.534, 0.4834), (0.78, 0.79), (0.645, 0.2418))[: 2 + resting]):
        cubes.append(mb.mobilizer.Free(matter.ground, solid(mass, (1 / 6, 1 / 6, 1 / 6))))
        below, z = (cubes[0], 0.5) if i == 1 else (matter.ground, 0.0)
        for j, (x, y) in enumerate(((0.5, 0.5), (0.5, -0.5), (-0.5, 0.0))):
            points = below, (0, 0, 1), z, cubes[i], (x, y, -0.5)
            own.append(mb.contact.PointPlane(*points, static_friction=mu, name=f"cube{i} {j}"))
    for cube, point, angle, place, speed, k in (
        (cubes[0], (-0.0158, -0.2794, 0.2698), 0.0412, (2.0, 0.0, 0.7427), 0.547, 43.63),
        (cubes[1], (-0.2896, -0.1864, -0.1257), -0.3015, (2.076, 0.1616, 1.3886), 0.368, 30.97),
    ):
        along = mb.Rotation.about_axis(angle, (0, 0, 1))
        hand = mb.mobilizer.Slider(matter.ground, solid(), X_PF=mb.Transform(along, place))
        mb.motion.Steady(hand, speed)
        mb.force.TwoPointLinearSpring(system.forces, cube, point, hand, (0, 0, 0), k, 2.0)
    state = system.realize_topology()
    for cube, place in zip(cubes, places, strict=True):
        cube.set_q_to_fit_translation(state, place)
    motion = mb.simulate(system, state, 0.2, accuracy=1e-5, report_interval=0.01)
    assert not [one for one in motion.events if one.kind == "stuck" and one.time > 0.0]
    for one in motion.states:
        if one.time > 0.05:  # until then its rows are redundant
            system.realize(one)
            for corner in own[:3]:
                if corner.is_enabled(one):
                    N = corner.calc_normal_force(one)
                    assert 0.4834 * N - np.hypot(*corner.calc_friction_force(one)) > -1e-6 and N > 0.0
    stepping = mb.integrator.TimeStepping(system, fixed_step_size=2e-4)
    expected = mb.simulate(system, state, 0.2, integrator=stepping).q[-1]
    assert motion.q[-1] == pytest.approx(expected, abs=1e-4)


def test_blocks_on_their_corners_slip_in_ensembles_as_alone():
    system, state = pulled_blocks([(0, 0, 0.5), (0, 5, 0.5)], [1.0, 0.5], height=0.2)
    ahead, found = [0.0, 0.02, 0.05], []
    q = np.tile(state.q, (3, 1))
    q[:, 7] = ahead
    for order in ([0, 1, 2], [2, 0, 1]):
        ensemble = mb.Ensemble(system, 3, state=state)
        ensemble.q = q[order]
        motions = ensemble.simulate(0.3, accuracy=1e-6)
        assert not motions.failures
        found.append([motions[order.index(i)] for i in range(3)])
    for i, (one, other) in enumerate(zip(*found, strict=True)):
        alone = state.copy()
        alone.q = q[i]
        motion = mb.simulate(system, alone, 0.3, accuracy=1e-6)
        assert np.array_equal(one.q, other.q) and np.allclose(one.q[-1], motion.q[-1], rtol=0.0, atol=1e-5)
        for run_of in (one, other, motion):
            assert first_slips(run_of) == pytest.approx({"cube0": due(1.0) - ahead[i], "cube1": due(0.5)}, rel=1e-4)


@pytest.mark.parametrize("cubes", [1, 2])
def test_blocks_on_a_plane_that_tilts_slip_at_the_angle_of_friction(cubes):
    system, matter = empty()
    mu, rate = 0.5, 1e-2
    plane = mb.mobilizer.Pin(matter.ground, solid(), X_PF=mb.Transform(mb.Rotation.about_axis(-np.pi / 2, (1, 0, 0))))
    mb.motion.Steady(plane, rate)
    for i in range(cubes):
        cube = mb.mobilizer.Free(plane, solid(1.0, (1 / 6, 1 / 6, 1 / 6)), X_PF=mb.Transform((2.0 * i, -0.5, 1.0 * i)))
        for x, z in ((0.5, 0.5), (0.5, -0.5), (-0.5, 0.5), (-0.5, -0.5)):
            own = mu * (1.0 - 0.02 * i)
            mb.contact.PointPlane(plane, (0, -1, 0), 0.0, cube, (x, 0.5, z), static_friction=own, name=f"cube{i} {x} {z}")
    state = system.realize_topology()
    plane.set_q(state, 0.1)
    slips = first_slips(mb.simulate(system, state, 37.0, accuracy=1e-6))
    for i in range(cubes):
        assert np.tan(0.1 + rate * slips[f"cube{i}"]) == pytest.approx(mu * (1.0 - 0.02 * i), rel=1e-4)


@pytest.mark.parametrize("seed", [2, 34, 38])
def test_what_contacts_stop_without_forces_rests(seed):
    """Its accelerations are rounding, which two points of one body with friction may jam: the run ended there."""
    rng = np.random.default_rng(seed)
    system, matter = empty((0, 0, 0))
    arm = mb.mobilizer.Ball(matter.ground, solid(), name="arm")
    for k in range(2):
        p, n = rng.normal(size=(2, 3))
        n /= np.linalg.norm(n)
        mb.contact.PointPlane(matter.ground, n, float(n @ p), arm, p, 0.3 * k, static_friction=1.5)
    state = system.realize_topology()
    state.u = rng.normal(size=3)
    end, _ = run(system, state, 0.01, accuracy=1e-6)
    assert abs(end.u).max() < 1e-10  # residuals are 1e-11 of the largest velocity


def test_what_slides_by_events_has_its_friction_whatever_else_runs():
    """A run by time stepping that began in between took the friction away from all others of the system."""
    system, state, _ = point_on_slope(0.3, 0.2)
    state.u = [np.cos(0.3), 0.5, -np.sin(0.3)]
    expected, _ = run(system, state, 0.2)
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-8))
    stepper.initialize(state)
    other = mb.TimeStepper(system, mb.integrator.TimeStepping(system, fixed_step_size=1e-3))
    other.initialize(state)
    stepper.step_to(0.2)
    other.step_to(0.2)
    assert stepper.state.y.tobytes() == expected.y.tobytes()
    assert other.state.u == pytest.approx(expected.u, abs=1e-3)


@pytest.mark.parametrize("gap", [1e-5, 3e-4, 2e-3])
def test_balls_that_all_but_touch_strike_each_other_within_a_step(gap):
    """The second comes to the third in the step in which the first comes to it: that was stopped, not bounced."""
    system, state = cradle()
    state.q = gap * np.arange(3)
    end, _ = stepped(system, state, 0.02)
    assert end.u == pytest.approx([0.0, 0.0, 1.0], abs=1e-9)


@pytest.mark.parametrize(("angle", "mu", "slip", "turning"), [(0.9, 0.4, -0.5, 1.0), (2.2, 0.2, -0.5, 0.0)])
def test_friction_has_the_whole_of_an_impact_wherever_in_a_step_it_happens(angle, mu, slip, turning):
    """A rod falls on its end, which sticks or slides. In two parts, one after the other, speeds after it were off by 0.09."""
    system, state, _ = rod(angle, mu, 0.0)
    state.q = state.q + np.array([0.0, 0.0, 0.0105])
    state.u = [turning, slip, -1.0]
    end, _ = run(system, state, 0.02)
    for h in (1e-4, 1.1e-4, 1.2e-4, 1.3e-4, 1.4e-4):
        found, _ = stepped(system, state, 0.02, h)
        assert found.u == pytest.approx(end.u, abs=5.0 * h)


def tumbling_cube(seed):
    """A cube of side 1 on its corners, dropped from about its side's height as it turns."""
    system, matter = empty()
    cube = mb.mobilizer.Free(matter.ground, solid(1.0, (1 / 6, 1 / 6, 1 / 6)), name="cube")
    for i in range(8):
        corner = [0.5 if i >> k & 1 else -0.5 for k in range(3)]
        mb.contact.PointPlane(matter.ground, (0, 0, 1), 0.0, cube, corner, 0.5, 0.3, name=f"corner {i}")
    state = system.realize_topology()
    rng = np.random.default_rng(seed)
    quaternion, q = rng.normal(size=4), state.q.copy()
    q[:4], q[6] = quaternion / np.linalg.norm(quaternion), 2.0
    state.q = q
    state.u = [*(3.0 * rng.normal(size=3)), *rng.normal(size=2), 0.0]
    return system, state


def test_reports_and_pauses_leave_the_bits_of_constrained_steps():
    """A step begins where the last one ended, which is not projected again after a report."""
    system, state = mb.examples.four_bar.build()
    ends = []
    for interval in (0.2, 0.0137):
        integrator = mb.integrator.TimeStepping(system, fixed_step_size=0.002)
        ends.append(mb.simulate(system, state.copy(), 0.2, integrator=integrator, report_interval=interval))
    assert np.array_equal(ends[0].q[-1], ends[1].q[-1]) and np.array_equal(ends[0].u[-1], ends[1].u[-1])


@pytest.mark.parametrize("seed", [0, 4])  # of which 0 rocked from corner to corner without end, and 4 crept
def test_a_tumbling_cube_comes_to_rest_by_events(seed):
    system, state = tumbling_cube(seed)
    end, _ = run(system, state, 3.0, accuracy=1e-6)
    assert np.abs(end.u).max() < 1e-9 and end.q[6] == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("seed", [0, 2, 3, 4, 15])  # of 20 those in which four corners contradict each other by a rounding
def test_a_tumbling_cube_comes_to_rest_by_steps(seed):
    system, state = tumbling_cube(seed)
    end, integrator = stepped(system, state, 3.0, 2e-3)
    assert np.abs(end.u).max() < 1e-9 and end.q[6] == pytest.approx(0.5, abs=1e-6)
    assert integrator.get_largest_residual() < 1e-6


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_tumbling_cubes_by_steps(seed):
    system, state = tumbling_cube(seed)
    end, integrator = stepped(system, state, 3.0, 2e-3)
    assert end.q[6] > 0.499 and integrator.get_largest_residual() < 1e-6


def cubes_on_a_table(seed):
    """Three cubes on three points each, side by side or on each other, on a table that goes to and fro; springs pull them."""
    rng = np.random.default_rng(seed)
    slope = rng.uniform(0.0, 0.35)
    system, matter = empty((G * np.sin(slope) * np.cos(1.0), G * np.sin(slope) * np.sin(1.0), -G * np.cos(slope)))
    table = mb.mobilizer.Slider(matter.ground, solid(), name="table")
    mb.motion.Sinusoid(table, mb.Motion.Level.POSITION, rng.uniform(0.01, 0.1), rng.uniform(2, 8), 0.0)
    cubes, places = [], []
    for i in range(3):
        below, z, place = table, 0.0, np.array([0.0, 3.0 * i, 0.5])
        if i > 0 and rng.random() < 0.5:
            below, z, place = cubes[-1], 0.5, places[-1] + [*rng.uniform(-0.2, 0.2, 2), 1.0]
        cube = mb.mobilizer.Free(matter.ground, solid(rng.uniform(0.5, 2.0), (1 / 6, 1 / 6, 1 / 6)), name=f"cube {i}")
        friction = rng.uniform(0.2, 0.8)
        for x, y in ((0.5, 0.5), (0.5, -0.5), (-0.5, 0.0)):
            mb.contact.PointPlane(below, (0, 0, 1), z, cube, (x, y, -0.5), 0.0, static_friction=friction)
        hand = mb.mobilizer.Slider(
            matter.ground, solid(), X_PF=mb.Transform(place + np.array([2.0, rng.uniform(-0.3, 0.3), 0.0]))
        )
        mb.motion.Steady(hand, rng.uniform(0.2, 1.0))
        spring = cube, rng.uniform(-0.3, 0.3, 3), hand, (0, 0, 0), rng.uniform(20, 60), 2.0
        mb.force.TwoPointLinearSpring(system.forces, *spring)
        cubes, places = [*cubes, cube], [*places, place]
    state = system.realize_topology()
    for cube, place in zip(cubes, places, strict=True):
        cube.set_q_to_fit_translation(state, place)
    return system, state


def test_what_contacts_do_is_found_whatever_hovers():
    """What they did was not found where friction of several hovers about its limit, one after the other: events had no end."""
    system, state = cubes_on_a_table(22)
    integrator = mb.integrator.RungeKuttaMerson(system, accuracy=1e-5)
    motion = mb.simulate(system, state, 0.1, integrator=integrator, report_interval=0.01)
    steps = mb.integrator.TimeStepping(system, fixed_step_size=1e-3)
    assert motion.q[-1] == pytest.approx(mb.simulate(system, state, 0.1, integrator=steps).q[-1], abs=2e-3)
    for one in motion.states:
        system.realize(one, mb.Stage.POSITION)
        assert all(contact.calc_gap(one) > -1e-6 for contact in system.matter.unilateral_contacts)


def test_viscous_friction_of_a_block_that_slides_by_events_grows_with_its_slip():
    """With v' = -g (mu + c v): v = (v_0 + mu / c) exp(-c g t) - mu / c."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, 0, -10.0))
    block = mb.mobilizer.Translation(matter.ground, mb.body.Rigid(mb.MassProperties(2.0, (0, 0, 0), mb.UnitInertia(1, 1, 1))))
    mb.contact.PointPlane(matter.ground, (0, 0, 1), 0.0, block, (0, 0, 0), static_friction=0.1, viscous_friction=0.5)
    state = system.realize_topology()
    state.u = (1.2, 1.6, 0.0)
    found = mb.simulate(system, state, 0.2, accuracy=1e-9).u[-1]
    assert found == pytest.approx(np.array((0.6, 0.8, 0.0)) * (2.2 * np.exp(-1.0) - 0.2), abs=1e-7)
