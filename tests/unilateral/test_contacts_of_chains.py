"""Random chains whose points lie on planes, and run by events: what each contact does next follows from its acceleration."""

import numpy as np
import pytest
from touching_models import G, empty, run, solid

import mobod as mb
from mobod.unilateral.contact_events import ContactEvents
from mobod.unilateral.problem import constraints_of

KINDS = (mb.mobilizer.Pin, mb.mobilizer.Universal, mb.mobilizer.Slider, mb.mobilizer.Ball, mb.mobilizer.Free)


def chain(rng, number, speed, gap=0.0, friction=0.6):
    """Bodies on each other, with so many points on or over planes that are nearly level, at random speeds."""
    system, matter = empty()
    bodies = [matter.ground]

    def place():
        return mb.Transform(mb.Rotation.about_axis(rng.uniform(-3, 3), rng.normal(size=3)), rng.normal(0.0, 0.3, 3))

    for _ in range(int(rng.integers(2, 5))):
        on, kind = bodies[int(rng.integers(len(bodies)))], KINDS[int(rng.integers(len(KINDS)))]
        bodies.append(kind(on, solid(rng.uniform(0.5, 2.0), (0.05, 0.04, 0.06)), X_PF=place(), X_BM=place()))
    state = system.realize_topology()
    system.realize(state, mb.Stage.POSITION)
    poses = [b.get_body_transform(state) for b in bodies]
    for _ in range(number):
        k, point, n = int(rng.integers(1, len(bodies))), rng.normal(0.0, 0.2, 3), rng.normal((0, 0, 1), 0.2)
        n /= np.linalg.norm(n)
        height = n @ (poses[k].R.matrix @ point + poses[k].p) - rng.uniform(0.0, gap)
        settings = {"static_friction": rng.uniform(0.1, 0.5)} if rng.random() < friction else {}
        mb.contact.PointPlane(matter.ground, n, height, bodies[k], point, **settings)
    q = state.q.copy()
    state = system.realize_topology()
    state.q, state.u = q, rng.normal(0.0, speed, len(state.u))
    return system, state


def rates_at(system, state, time):
    """The rates of all gaps a short *time* after or before a state, by its accelerations."""
    system.realize(state)
    moved = state.copy()
    moved.q, moved.u = state.q + time * state.q_dot, state.u + time * state.u_dot
    system.realize(moved, mb.Stage.VELOCITY)
    return np.array([one.calc_gap_rate(moved) for one in system.matter.unilateral_contacts])


def begun(system, state):
    """The stepper of a run that has begun at a state."""
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-6))
    stepper.initialize(state)
    return stepper


def check(system, state):
    """The gaps that stay open do not close, by their differences; those closed press, with friction within its cone.

    How many are closed, and lift.
    """
    pressed = lifted = 0
    h = 1e-5
    accelerations = (rates_at(system, state, h) - rates_at(system, state, -h)) / (2.0 * h)
    scale = max(10.0, np.abs(state.u_dot).max())
    G = system.matter.calc_g(state)
    unique = np.linalg.matrix_rank(G, tol=1e-6) == len(G)  # so that forces are
    forces, bare = [], state.copy()
    for one, acceleration in zip(system.matter.unilateral_contacts, accelerations, strict=True):
        rate = one.calc_gap_rate(state)
        assert rate > -one.get_capture_speed()
        force, friction = one.calc_normal_force(state), one.calc_friction_force(state)
        forces += [force, *friction] if one.has_friction() else [force]
        if one.is_enabled(state):
            assert abs(acceleration) < 1e-6 * scale
            assert not unique or force >= -1e-8 * scale
            if unique and one.has_friction():
                assert np.hypot(*friction) <= one.get_static_friction() * force + 1e-6 * scale
            pressed += 1
        elif rate < 1e-8:
            assert acceleration > -1e-4 * scale
            lifted += 1
        one.disable(bare)
    bare.u = state.u
    system.realize(bare)
    acts = system.matter.calc_m(state) @ (state.u_dot - bare.u_dot)
    np.testing.assert_allclose(constraints_of(bare).J.T @ forces, acts, rtol=0.0, atol=1e-8 * max(scale, *np.abs(forces)))
    return pressed, lifted


def test_what_touches_is_pressed_or_lifts(rng):
    pressed = lifted = 0
    for _ in range(60):
        system, state = chain(rng, int(rng.integers(1, 4)), 5.0)
        try:
            stepper = begun(system, state)
        except mb.ModelError as error:  # friction presses together what slides
            assert "Painleve" in str(error)
            continue
        found = check(system, stepper.state)
        pressed, lifted = pressed + found[0], lifted + found[1]
    assert pressed > 15 and lifted > 1


def test_what_contacts_do_is_asked_again_only_where_speeds_were_taken_away(monkeypatch):
    """A mass that leaves slower than its capture speed is not held: it was asked five times, with the same answer."""
    switch, asked = ContactEvents._switch, []
    monkeypatch.setattr(ContactEvents, "_switch", lambda *given: asked.append(1) or switch(*given))
    system, matter = empty((0.0, 0.0, G))
    mass = mb.mobilizer.Translation(matter.ground, solid())
    mb.contact.PointPlane(matter.ground, (0, 0, 1), 0.0, mass, (0, 0, 0), static_friction=0.5)
    state = system.realize_topology()
    state.u = (0.01, 0.0, 1e-3)
    begun(system, state)
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("seed", "number", "pressed"),
    [
        # what touches is asked again after little speeds of others have been taken away, which stops no slip elsewhere
        (5072, 19, 1),
        (20300, 24, 3),
        # ... and so is what these were of alone: 25 of energy, by which it pulled
        (5117, 36, 0),
        # what slip there is where it begins, 1e-11, has no direction
        (5086, 55, 3),
        (5159, 22, 1),
    ],
)
def test_contacts_do_what_their_accelerations_say(seed, number, pressed):
    rng = np.random.default_rng([seed, 3981694887])
    for _ in range(number + 1):
        system, state = chain(rng, int(rng.integers(1, 4)), 5.0)
    assert check(system, begun(system, state).state)[0] == pressed


def test_contacts_that_friction_presses_together_are_told():
    """Each alone has one answer, but with another that is pressed none: no set of them that presses has forces above zero."""
    rng = np.random.default_rng([5158, 3981694887])
    for _ in range(39):
        system, state = chain(rng, int(rng.integers(1, 4)), 5.0)
    with pytest.raises(mb.ModelError, match=r"'pointplane_2' \(coefficient 0\.45.*Painleve"):
        begun(system, state)


def test_what_begins_to_slip_goes_against_its_dynamic_friction():
    """Its direction was that in which static friction would let it go: that is another one where several touch."""
    rng, begins = np.random.default_rng([40003, 3981694887]), 0
    for _ in range(60):
        system, state = chain(rng, int(rng.integers(1, 4)), 5.0)
        for one in system.matter.unilateral_contacts:
            if one.has_friction():
                one.set_friction(one.get_static_friction(), 0.4 * one.get_static_friction())
        state = begun(system, state).state
        for one in system.matter.unilateral_contacts:
            if one.is_sliding(state) and np.hypot(*one.get_slip_velocity(state)) < 1e-8:
                moved, h = state.copy(), 1e-6
                moved.q, moved.u = state.q + h * state.q_dot, state.u + h * state.u_dot
                system.realize(moved, mb.Stage.VELOCITY)
                slip, friction = one.get_slip_velocity(moved), one.calc_friction_force(state)
                cosine = slip @ friction / (np.linalg.norm(slip) * np.linalg.norm(friction))
                assert cosine == pytest.approx(-1.0, abs=1e-6)
                begins += 1
    assert begins > 2


def test_friction_that_just_holds_holds():
    """Wedged at rest by forces at the edge of a cone: what the solver leaves of slip, 1e-10, is none, and has no direction."""
    rng = np.random.default_rng([10425191, 3981694887])
    for _ in range(29):
        system, state = chain(rng, int(rng.integers(1, 4)), 5.0)
    stepper = begun(system, state)
    assert np.abs(stepper.state.u).max() < 1e-10 and np.abs(stepper.state.u_dot).max() < 1e-6


def test_what_stays_drives_nothing_together():
    """A foot leaves at less than its capture speed, and stays: what that changes drove another one down by 0.015."""
    rng = np.random.default_rng([9088435, 3981694887])
    system, state = chain(rng, int(rng.integers(1, 4)), 5.0)
    stepper = begun(system, state)
    rates = [one.calc_gap_rate(stepper.state) for one in system.matter.unilateral_contacts]
    assert len(rates) == 3 and min(rates) > -1e-9


def test_contacts_do_what_follows_from_the_speeds_that_are_left():
    """A little speed of what stays was taken away, by which it was pressed no more: it pulled at its plane, by 7.1."""
    rng = np.random.default_rng([11234301, 3981694887])
    for _ in range(42):
        system, state = chain(rng, int(rng.integers(1, 4)), 5.0)
    stepper = begun(system, state)
    state, contacts = stepper.state, system.matter.unilateral_contacts
    forces = [one.calc_normal_force(state) for one in contacts if one.is_enabled(state)]
    assert len(forces) == 1 and forces[0] > 10.0


def test_many_contacts_of_chains_run_by_events(rng):
    """No contact opens and closes without end, and none is passed through."""
    done = 0
    while done < 8:
        system, state = chain(rng, int(rng.integers(2, 6)), 1.0, gap=0.3, friction=0.0)
        stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-6))
        stepper.initialize(state)
        for time in np.linspace(0.1, 1.0, 10):
            stepper.step_to(time)
            system.realize(stepper.state, mb.Stage.POSITION)
            assert min(one.calc_gap(stepper.state) for one in system.matter.unilateral_contacts) > -1e-5
        done += 1


def test_a_checkpoint_goes_on_to_the_bit(rng, tmp_path):
    """Arrays of problems are made anew where a run is loaded: nothing in them counts."""
    system, state = chain(rng, 4, 1.0, gap=0.3, friction=0.0)
    steppers = [mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-6)) for _ in range(2)]
    steppers[0].initialize(state)
    steppers[0].step_to(0.6)
    steppers[0].save_checkpoint(tmp_path / "run")
    steppers[1].load_checkpoint(tmp_path / "run")
    for each in steppers:
        each.step_to(1.5)
    assert steppers[0].state.y.tobytes() == steppers[1].state.y.tobytes()


@pytest.mark.parametrize("metre", [1.0, 1e4])
def test_what_is_driven_into_a_contact_is_told(rng, metre):
    """Of a rope between two bodies, of which one drives the other, rows are rounding: an impulse had 1e34 of energy.

    Rounding is that of lengths, whose unit may be small.
    """
    told = 0
    while told < 5:
        system, matter = empty((0.0, 0.0, -9.81 * metre))
        one = solid(1.0, [0.4 * metre**2] * 3)
        turn = mb.Rotation.about_axis(rng.uniform(-3, 3), rng.normal(size=3))
        base = mb.mobilizer.Pin(matter.ground, one, X_PF=mb.Transform(turn), X_BM=mb.Transform(metre * rng.normal(size=3)))
        hand = mb.mobilizer.Slider(base, one, X_PF=mb.Transform(turn, metre * rng.normal(size=3)), X_BM=mb.Transform(turn))
        mb.motion.Steady(hand, metre)
        ends = metre * rng.normal(size=(2, 3))
        state = system.realize_topology()
        system.realize(state, mb.Stage.POSITION)
        along = hand.find_station_location_in_another_body(state, ends[1], base) - ends[0]
        hand.set_q(state, 0.4 * metre)
        system.realize(state, mb.Stage.POSITION)
        after = hand.find_station_location_in_another_body(state, ends[1], base) - ends[0]
        reach = [float(np.linalg.norm(way)) for way in (along, after)]
        if reach[1] < reach[0] + 0.05 * metre:
            continue
        mb.contact.Rope(base, ends[0], hand, ends[1], reach[1], 0.3, name="rope")
        with pytest.raises(mb.ConvergenceError, match=r"'rope' closes at .* locked or driven"):
            run(system, system.realize_topology(), 1.0, accuracy=1e-6)
        told += 1


def test_what_is_locked_on_a_plane_rests_there():
    """It is between what cannot move, and closes at no speed: there is nothing to tell, until it is let go."""
    system, matter = empty()
    mass = mb.mobilizer.Translation(matter.ground, solid())
    floor = mb.contact.PointPlane(matter.ground, (0, 0, 1), 0.0, mass, (0, 0, 0), static_friction=0.5)

    state = system.realize_topology()
    mass.lock(state)
    end, _ = run(system, state, 0.5)
    assert end.q == pytest.approx(0.0, abs=0.0) and not floor.is_enabled(end)
    mass.unlock(end)
    end, _ = run(system, end, 0.5)
    assert end.q == pytest.approx(0.0, abs=1e-12) and floor.is_enabled(end)


@pytest.mark.parametrize("by", ["events", "time stepping"])
def test_constraints_that_move_nothing_but_by_rounding_take_no_impulses(rng, by):
    """A tie across a joint that is locked: what touches elsewhere was struck as though there were no such mechanism."""
    struck = 0
    for _ in range(6):
        motions = []
        turns = [mb.Rotation.about_axis(rng.uniform(-3, 3), rng.normal(size=3)) for _ in range(4)]
        places, start = rng.normal(0.0, 0.5, (8, 3)), rng.normal(size=4)
        for tied in (False, True):
            system, matter = empty()
            on = matter.ground
            for k, kind in enumerate((mb.mobilizer.Ball, mb.mobilizer.Ball, mb.mobilizer.Universal)):
                X_PF, X_BM = mb.Transform(turns[k], places[2 * k]), mb.Transform(turns[k + 1], places[2 * k + 1])
                on = kind(on, solid(1.0 + k, (0.1, 0.2, 0.15)), X_PF=X_PF, X_BM=X_BM)
            hand, arm = on, on.parent
            state = system.realize_topology()
            arm.set_q(state, start / np.linalg.norm(start))
            system.realize(state, mb.Stage.POSITION)
            q, height = state.q.copy(), (hand.get_body_transform(state) @ places[7])[2] - 0.05
            if tied:
                normal = turns[0] @ np.array([0.0, 0.0, 1.0])
                point = hand.find_station_location_in_another_body(state, places[6], arm)
                mb.constraint.PointInPlane(arm, normal, float(normal @ point), hand, places[6])
            mb.contact.PointPlane(matter.ground, (0, 0, 1), height, hand, places[7], 0.4)
            state = system.realize_topology()
            state.q = q
            state.u = np.linspace(-0.5, 0.5, len(state.u))
            hand.lock(state)
            if by == "events":
                method = mb.integrator.RungeKuttaMerson(system, accuracy=1e-8)
            else:
                method = mb.integrator.TimeStepping(system, fixed_step_size=1e-3)
            motion = mb.simulate(system, state, 0.3, integrator=method)
            if by == "events":
                assert motion.audit.energy_error < 1e-4
                struck += "struck" in motion.events["kind"]
            else:
                struck += method.get_num_problems() > 0
            motions.append(motion)
        np.testing.assert_allclose(motions[1].q, motions[0].q, rtol=0.0, atol=1e-5)
    assert struck >= 2
