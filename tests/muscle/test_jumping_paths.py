"""Paths that jump as the bodies move: a run says which, when and over what; where none jumps it is silent."""

import re
import warnings

import numpy as np
import pytest

import mobod as mb

T = mb.force.transmission
BALL = 0.1, 0.4, 0.5  # radius; from its center up to the first point of the rope, and down to the last


def pendulum(quadrant="all", conditional=False, start=(0.5, -5.0)):
    """One that swings, on a rope whose ends are in line with a ball's center where it hangs straight down, at q = 0."""
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0))
    link = mb.body.Rigid(mb.MassProperties(1.0, (0, -0.3, 0), mb.UnitInertia(0.1, 0.01, 0.1)))
    link = mb.mobilizer.Pin(matter.ground, link, name="pendulum")
    ball = T.WrapSphere(body=matter.ground, radius=BALL[0], frame=mb.Transform(p=(0, -0.1, 0)), quadrant=quadrant)
    points = [(matter.ground, (0, 0.3, 0)), (link, (0, -0.6, 0))]
    if conditional:
        points.insert(1, T.ConditionalPoint(matter.ground, (0.3, 0.1, 0), link, 0, 0.2, 1.0))
    rope = T.Path(forces, points, [T.PathWrap(ball)])
    mb.force.TransmissionSpring(forces, rope, stiffness=50.0, rest_range=(0.0, 0.8), name="rope")
    # one that comes upon the ball and leaves it, and does not jump
    other = T.Path(forces, [(matter.ground, (0.25, 0.3, 0)), points[-1]], [T.PathWrap(ball)])
    mb.force.TransmissionSpring(forces, other, stiffness=1.0, name="other")
    state = system.realize_topology()
    state.q, state.u = [[one] for one in start]
    return system, state


def run(*args, time=0.15, **options):
    """The warnings of a run, and its trajectory."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        trajectory = mb.simulate(*pendulum(*args, **options), time, accuracy=1e-6)
    return [str(one.message) for one in caught], trajectory


def told(text):
    return [float(one) for one in re.search(r"near time (\S+) .* length by (\S+), .* from (\S+) to (\S+),", text).groups()]


def test_a_path_that_changes_sides_is_told():
    """Where both ways are equally short: q = 0; the rope then is tangent to the ball, at a known distance from the pin."""
    (text,), trajectory = run()
    time, length, before, after = told(text)
    arm = (BALL[2] + 0.1) * BALL[0] / BALL[2]
    assert before == pytest.approx(arm, rel=0.02) and after == pytest.approx(-arm, rel=0.02)
    k = int(abs(trajectory.time - time).argmin())
    assert abs(trajectory.q[k, 0]) < 5.0 * 0.15 / 200.0 and length < 1e-4
    assert "TransmissionSpring 'rope' jumps" in text and "changes its way over the WrapSphere of 'ground'" in text
    assert "a quadrant keeps it on one side, and wrapping='geodesic'" in text


def test_a_cable_that_jumps_in_spite_of_its_hint_is_told_of_another_remedy():
    """An arm goes round and round, and its cable cannot."""
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0))
    arm = mb.body.Rigid(mb.MassProperties(1.0, (0.3, 0, 0), mb.UnitInertia(0.01, 0.1, 0.1)))
    arm = mb.mobilizer.Pin(matter.ground, arm, name="arm")
    cable = mb.force.CableSpan(forces, (matter.ground, (-1, 0.5, 0)), (arm, (0.8, -0.2, 0)))
    cable.add_obstacle(matter.ground, mb.Transform((0, 0.1, 0)), mb.contact.Torus(0.3, 0.1), (0, 1, 0))
    mb.force.CableSpring(forces, cable, stiffness=100.0, slack_length=1.5, dissipation=0.1)
    with pytest.warns(RuntimeWarning, match="its hint counts for less than half a turn to either end, .*: add a via point"):
        mb.simulate(system, system.realize_topology(), 1.3)


def test_hints_that_are_left_out_are_told():
    """An ellipsoid far beside the line, with a hint behind it: a cable there slides off."""
    system = mb.MultibodySystem()
    ground, forces = mb.SimbodyMatterSubsystem(system).ground, mb.GeneralForceSubsystem(system)
    cable = mb.force.CableSpan(forces, (ground, (0, 2, 0)), (ground, (0, 1, 0)))
    turn, egg = mb.Rotation.from_body_fixed_xyz((0, 0.8, 0)), mb.contact.Ellipsoid((0.1, 0.1, 0.2))
    for place, shape, hint in (
        ((0.2, 1.8, 0), mb.contact.Cylinder(0.1, 1.0), (0.1, 0, 0)),
        ((-0.2, 1.8, 0), egg, (-0.07, 0.01, -0.16)),
        ((0.2, 1.5, 0), egg, (0.1, 0, 0.15)),
    ):
        cable.add_obstacle(ground, mb.Transform(turn, place), shape, hint)
    mb.force.CableSpring(forces, cable, stiffness=1.0, slack_length=0.1)
    state = system.realize_topology()
    with pytest.warns(
        mb.ModelWarning, match="leaves out the hint on obstacle 1, the Ellipsoid .*: with it no shortest way was"
    ):
        system.realize(state)
    assert not cable.is_in_contact_with_obstacle(state, 1)


def test_a_jump_is_told_once_a_run_and_again_in_the_next():
    """Both ropes, each over its own pose, though the first passes it twice."""
    for _ in range(2):
        texts, trajectory = run(time=1.0)
        assert (abs(np.diff(np.sign(trajectory.q[:, 0]))) > 0).sum() >= 2
        assert sorted(re.search(r"TransmissionSpring '(\w+)'", text)[1] for text in texts) == ["other", "rope"]


def test_a_point_that_comes_in_is_told():
    """At q = 0.2, the low end of its range; the length jumps by what the way through the point is longer."""
    (text, *_), trajectory = run(conditional=True, time=0.1)
    time, length, *_ = told(text)
    k = int(abs(trajectory.time - time).argmin())
    assert trajectory.q[k, 0] == pytest.approx(0.2, abs=5e-3) and length > 0.01
    assert "its conditional point 1 goes" in text


def test_paths_that_do_not_jump_are_silent():
    assert run("+x", time=0.05)[0] == []  # on the ball, and not yet at the other side
    texts, trajectory = run(start=(0.3, 2.0), time=0.2)
    assert texts == [] and trajectory.q.max() > 0.5  # comes off it, which is no jump


def test_ensembles_tell_of_the_state_whose_steps_fail_most():
    """A jump makes several steps fail one after another; without one few do, and nothing is run again."""
    system, state = pendulum()
    ensemble = mb.Ensemble(system, 9, state=state)
    ensemble.q = np.linspace(0.3, 0.6, 9)[:, None]
    with pytest.warns(
        RuntimeWarning, match=r"of state \d of the ensemble: .* TransmissionSpring 'rope' jumps: its length by"
    ) as told:
        motions = ensemble.simulate(0.15, accuracy=1e-6, report_interval=0.15)
    failed = motions.statistics["error_test_failures"]
    assert 0 < failed.argmax() and f"of state {failed.argmax()} of" in str(told[0].message)
    assert (ensemble.q < 0.0).any() and np.array_equal(ensemble.q, motions.q[:, -1])  # left where the runs have ended
    ensemble.q, ensemble.u = np.linspace(0.1, 0.2, 9)[:, None], np.ones((9, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ensemble.simulate(0.1, accuracy=1e-6, report_interval=0.1)
