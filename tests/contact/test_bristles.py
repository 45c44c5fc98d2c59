"""Friction that sticks: what rests does not creep, what slides feels Coulomb's force, what rolls is not braked."""

from types import SimpleNamespace

import numpy as np
import pytest

import mobod as mb
from mobod.contact import access

MU, G, SIZE = 0.5, 9.81, 0.2
MATERIAL = mb.contact.Material(1e6, 0.5, MU)
#: Of the ball: it sinks in by 2e-5, and turns about a radius less by half of that.
HARD = mb.contact.Material(1e9, 0.5, MU)


def floor_and_gravity(slope=0.0, material=MATERIAL, **options):
    """A system with a floor, in whose frame gravity leans by the angle of a slope."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (G * np.sin(slope), 0.0, -G * np.cos(slope)))
    contacts = mb.CompliantContactSubsystem(system, **{"friction": "bristle", **options})
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), material))
    return system, contacts


def block(system, shaken=0.0):
    """A block on four round feet; inside it a mass of a tenth may be shaken along the slope, with 7 Hz."""
    solid = mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.brick((0.1, 0.1, 0.05)))
    body = mb.mobilizer.Free(system.matter.ground, mb.body.Rigid(solid))
    for x in (-0.1, 0.1):
        for y in (-0.1, 0.1):
            body.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.02), MATERIAL), (x, y, -0.03))
    if shaken:
        inside = mb.mobilizer.Slider(body, mb.body.Rigid(mb.MassProperties(0.1, (0, 0, 0), mb.UnitInertia.sphere(0.01))))
        mb.motion.Sinusoid(inside, mb.Motion.Level.POSITION, shaken, 2 * np.pi * 7.0, 0.0)
    return body


def ball(system, radius=0.05):
    """A solid ball."""
    solid = mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(radius))
    body = mb.mobilizer.Free(system.matter.ground, mb.body.Rigid(solid))
    body.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(radius), HARD))
    return body


def run(system, body, height, time, **options):
    state = system.realize_topology()
    body.set_q_to_fit_translation(state, (0.0, 0.0, height))
    return mb.simulate(system, state, time, **{"accuracy": 1e-5, "report_interval": time / 10, **options})


def along(trajectory, body):
    """The body's place along the slope at each report."""
    places = []
    for state in trajectory.states:
        body.matter.get_system().realize(state, mb.Stage.POSITION)
        places.append(body.get_body_origin_location(state)[0])
    return np.array(places)


@pytest.mark.parametrize("shaken", [0.0, 0.0005])
def test_a_block_on_half_its_slope_stays_for_1000_seconds(shaken):
    """It settles in the first hundred; a mass of 0.1 shaken by 0.5 mm at 7 Hz takes a tenth of what is left of friction."""
    system, _ = floor_and_gravity(0.5 * np.arctan(MU))
    body = block(system, shaken)
    time, accuracy = (50.0, 1e-5) if shaken else (1000.0, 1e-8)  # at 1e-5 noise of the last steps is 1e-9 already
    x = along(run(system, body, 0.05, time, accuracy=accuracy), body)
    # under vibration reports see different phases: the elastic sway, some 1e-7, but no drift
    assert abs(x[-1] - x[1]) < (1e-9 * SIZE if not shaken else 1e-6)


@pytest.mark.parametrize("factor", [0.98, 1.02])
def test_a_block_sticks_where_the_slope_is_below_the_friction_angle_and_slides_above(factor):
    slope = np.arctan(factor * MU)
    system, _ = floor_and_gravity(slope)
    body = block(system)
    x = along(run(system, body, 0.0495, 4.0), body)
    if factor < 1.0:
        assert abs(x[-1] - x[5]) < 1e-4 * SIZE
    else:
        a = G * (np.sin(slope) - MU * np.cos(slope))
        # from the first second on, without the time in which it settles
        seconds = np.arange(11) * 0.4
        measured = np.polyfit(seconds[3:], x[3:], 2)[0] * 2
        assert measured == pytest.approx(a, rel=0.02)


def test_a_skidding_ball_rolls_after_two_sevenths():
    """5/7 of its speed, after the time 2 v / (7 mu g); and then it is not braked."""
    system, _ = floor_and_gravity(material=HARD)
    body = ball(system)
    state = system.realize_topology()
    stiffness = 4 / 3 * 1e9 / 8**0.5 * 0.05**0.5  # of two equal materials, as in the reference
    body.set_q_to_fit_translation(state, (0.0, 0.0, 0.05 - (G / stiffness) ** (2 / 3)))
    v = 2.0
    body.set_u_to_fit_linear_velocity(state, (v, 0.0, 0.0))
    end = 2 * v / (7 * MU * G)
    trajectory = mb.simulate(system, state, 10 * end, accuracy=1e-6, report_interval=end / 4)
    speed = trajectory.u[:, 3]
    assert speed[2] == pytest.approx(v - MU * G * end / 2, rel=0.01)
    assert speed[5] == pytest.approx(5 / 7 * v, rel=0.01)
    assert np.ptp(speed[8:]) < 1e-3 * v


def test_energy_is_accounted_for():
    """What is lost between two times is what contacts have dissipated."""
    system, contacts = floor_and_gravity(0.3)
    body = block(system)
    contacts.set_track_dissipated_energy(True)
    trajectory = run(system, body, 0.06, 1.0, accuracy=1e-7)
    first, last = trajectory.states[0], trajectory.states[-1]
    for state in (first, last):
        system.realize(state, mb.Stage.VELOCITY)
    lost = system.calc_energy(first) - system.calc_energy(last)
    assert contacts.get_dissipated_energy(last) == pytest.approx(lost, abs=1e-4 * abs(lost))
    assert contacts.get_dissipated_energy(first) == 0.0


def test_a_resumed_run_repeats_the_bits(tmp_path):
    """The bristles are part of checkpoints."""
    system, _ = floor_and_gravity(0.3)
    body = block(system)
    state = system.realize_topology()
    body.set_q_to_fit_translation(state, (0.0, 0.0, 0.05))
    path = tmp_path / "run.ckpt"
    one, other = (mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system)) for _ in range(2))
    one.initialize(state)
    one.step_to(0.5)
    one.save_checkpoint(path)
    one.step_to(1.0)
    other.load_checkpoint(path)
    other.step_to(1.0)
    assert np.array_equal(one.state.q, other.state.q)


def test_points_that_do_not_fit_are_an_error():
    system, _ = floor_and_gravity(max_bristles=2)
    body = block(system)
    state = system.realize_topology()
    body.set_q_to_fit_translation(state, (0.0, 0.0, 0.049))
    with pytest.raises(mb.ModelError, match=r"more than 2 points touch.*max_bristles=4"):
        system.realize(state, mb.Stage.ACCELERATION)


def test_points_of_twenty_boxes_on_each_other_are_kept_apart():
    """Crossings of the edges of faces, of both meshes where it is two: none is taken for one of another pair."""
    rows, found = np.zeros((1, 28)), set()
    model, pairs = SimpleNamespace(contact_point=rows), [(a, b, 0) for a in range(20) for b in range(a + 1, 20)]
    crossings = [4.0 * (i + 4096 * face) + 2.0**28 * (side + 1) for i in range(4) for face in range(6) for side in range(4)]
    for pair in pairs:
        for rows[0, access.FEATURE] in crossings:
            for rows[0, access.SIDE] in (0.0, 1.0):
                key = access.key_of(model, pair, 0)
                assert key == int(float(key))
                found.add(key)
    assert len(found) == 2 * len(pairs) * len(crossings)


def test_forgetting():
    system, contacts = floor_and_gravity(0.2)
    body = block(system)
    state = system.realize_topology()
    body.set_q_to_fit_translation(state, (0.0, 0.0, 0.05))
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-5))
    stepper.initialize(state)
    stepper.step_to(2.0)
    last = stepper.state.copy()
    system.realize(last, mb.Stage.ACCELERATION)
    held = contacts.get_contacts(last)["force"].sum(axis=0)
    assert held[0] == pytest.approx(-G * np.sin(0.2), rel=1e-3)
    contacts.forget_bristles(last)
    system.realize(last, mb.Stage.ACCELERATION)
    assert abs(contacts.get_contacts(last)["force"].sum(axis=0)[0]) < 0.05 * abs(held[0])


def test_steps_with_impulses_leave_no_bristles_behind():
    """A block comes to rest half a metre on by `TimeStepping`, alone and in lanes: no bristle pulls it back from there."""
    system, contacts = floor_and_gravity(0.0, max_bristles=8)
    body = block(system)
    state = system.realize_topology()
    body.set_q_to_fit_translation(state, (0.0, 0.0, 0.05))
    body.set_u_to_fit_linear_velocity(state, (1.0, 0.0, 0.0))
    method = mb.integrator.TimeStepping(system, fixed_step_size=0.01)
    stepper = mb.TimeStepper(system, method)
    stepper.initialize(state.copy())
    stepper.step_to(1.0)
    at_once, by_steps = (mb.Ensemble(system, 2, state=state) for _ in range(2))
    assert at_once.simulate(1.0, report_interval=1.0, integrator=method).statistics["in_lanes"].all()
    for _ in range(4):
        by_steps.step(0.25, integrator=method)
    for last in (stepper.state, at_once.get_state(1), by_steps.get_state(1)):
        system.realize(last)
        assert last.q[4] > 0.05 and np.abs(last.u).max() < 1e-6
        assert np.abs(contacts.get_contacts(last)["force"][:, :2]).max() < 1e-3 * G
    assert np.array_equal(by_steps.q[0], by_steps.q[1])


def test_derivatives_in_lanes_have_the_bristles_of_each():
    """Beside measures that remember, too: accelerations do not depend on these."""
    system, contacts = floor_and_gravity(0.2, max_bristles=8)
    body = block(system)
    height = mb.measure.Coordinate(system.matter, body, 6)
    mb.measure.Maximum(system.matter, height)
    mb.measure.Integrate(system.matter, height)
    state = system.realize_topology()
    body.set_q_to_fit_translation(state, (0.0, 0.0, 0.05))
    ensemble = mb.Ensemble(system, 3, state=state)
    ensemble.u = [(0.0, 0.0, 0.0, v, 0.0, 0.0) for v in (0.0, 0.02, -0.05)]
    ensemble.simulate(0.05, report_interval=0.05, accuracy=1e-4)
    ensemble.realize()
    found, u_dot = ensemble.calc_forward_dynamics_derivatives(), np.array(ensemble.u_dot)
    inverse = ensemble.calc_inverse_dynamics_derivatives(u_dot)
    for i in range(3):
        one = ensemble.get_state(i)
        system.realize(one)
        alone, other = system.calc_forward_dynamics_derivatives(one), system.calc_inverse_dynamics_derivatives(one, u_dot[i])
        assert found.z[i].shape == alone.z.shape == (6, 1) and not found.z[i].any() and not alone.z.any()
        for name in ("q", "u"):
            for of_each, expected in ((found, getattr(alone, name)), (inverse, getattr(other, name))):
                assert np.abs(getattr(of_each, name)[i] - expected).max() < 1e-9 * np.abs(expected).max()
        contacts.forget_bristles(one)
        system.realize(one)
        assert np.abs(system.calc_forward_dynamics_derivatives(one).q - alone.q).max() > 1e-3 * np.abs(alone.q).max()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"friction": "coulomb"}, mb.ModelError, "friction has to be 'stribeck' or 'bristle', not 'coulomb'"),
        ({"transition_velocity": 0.0}, mb.ModelError, "transition_velocity has to be"),
        ({"max_bristles": 0}, ValueError, "max_bristles"),
        ({"max_bristles": 1.5}, TypeError, "max_bristles"),
    ],
)
def test_bad_options(options, error, message):
    with pytest.raises(error, match=message):
        mb.CompliantContactSubsystem(mb.MultibodySystem(), **options)
