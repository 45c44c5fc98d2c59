"""Sensitivities of an ensemble's motions are those of each state alone, labelled, recorded, and refused with its reasons."""

import numpy as np
import pytest

import mobod as mb

WANTED = ["q", "gravity_0.magnitude"]
N = 5


@pytest.fixture(scope="module")
def pendulum():
    return mb.examples.double_pendulum.build()


def started(pendulum, n=N, threads=1):
    """States that differ, in gravity too."""
    system, state = pendulum
    ensemble = mb.Ensemble(system, n, state=state, threads=threads)
    ensemble.q = np.linspace(0.1, 0.6, 2 * n).reshape(n, 2)
    ensemble.set_each(system.forces.get_force(0).set_magnitude, np.linspace(9.0, 10.0, n))
    return ensemble


def alone(ensemble, i, duration, wanted, **settings):
    return mb.simulate(ensemble.system, ensemble.get_state(i), duration, sensitivities=wanted, accuracy=1e-3, **settings)


def assert_same(found, expected, rounding=0.0):
    assert found.names == expected.names
    for name, array in found.arrays().items():
        np.testing.assert_allclose(array, expected.arrays()[name], rtol=rounding, atol=rounding, err_msg=name)


@pytest.fixture(scope="module")
def motions(pendulum):
    return started(pendulum).simulate(0.5, report_interval=0.1, sensitivities=WANTED)


def test_each_is_that_of_the_state_alone(pendulum, motions):
    ensemble = started(pendulum)
    found = motions.sensitivities
    assert found.names == ["upper.q", "lower.q", "gravity_0.magnitude"]
    assert found.q.shape == (N, 6, 2, 3) and found.z.shape == (N, 6, 0, 3) and found.particle_locations.shape == (N, 6, 0, 3, 3)
    for i in (0, 3):
        run = alone(ensemble, i, 0.5, WANTED, report_interval=0.1)
        assert run.statistics["steps_taken"] == motions.statistics["steps_taken"][i]
        np.testing.assert_allclose(motions.q[i], run.q, rtol=1e-12)
        assert_same(motions[i].sensitivities, run.sensitivities, 1e-11)


def test_bits_do_not_depend_on_neighbours_order_and_threads(pendulum, motions):
    other = started(pendulum, threads=2)
    turned = mb.Ensemble(other.system, N, state=other.get_state(0), threads=2)
    turned.q = other.q[::-1]
    turned.set_each(other.system.forces.get_force(0).set_magnitude, np.linspace(9.0, 10.0, N)[::-1])
    found = turned.simulate(0.5, report_interval=0.1, sensitivities=WANTED)
    assert_same(found[::-1].sensitivities, motions.sensitivities)
    assert repr(found.sensitivities).startswith("<Sensitivities of 5 motions at 6 times by upper.q")


def test_quaternions_constraints_and_parameters_of_their_own():
    """A ball on a pin, held by a rod: masses and frames differ, and what sensitivities are by is among them."""
    system = mb.MultibodySystem("swinging")
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -9.8, 0))
    inertia = mb.Inertia(0.5, 0.6, 0.7, 0.01, 0.02, 0.03)
    link = mb.body.Rigid(mb.MassProperties(1.3, (0, 0.1, 0.2), inertia))
    pin = mb.mobilizer.Pin(matter.ground, link, X_BM=mb.Transform((0, 1, 0)), name="pin")
    ball = mb.mobilizer.Ball(pin, link, X_PF=mb.Transform((0, -0.3, 0)), X_BM=mb.Transform((0, 0.5, 0)), name="ball")
    mb.constraint.Rod(matter.ground, (0.5, -1, 0), ball, (0, -0.5, 0), 1.0, name="rod")
    ensemble = mb.Ensemble(system, 3, threads=2)
    ensemble.u = np.linspace(0.0, 1.0, 12).reshape(3, 4)
    ensemble.project()
    ensemble.set_each(ball.set_body_mass_properties, [mb.MassProperties(m, (0, 0.1, 0.2), inertia) for m in (1.3, 1.4, 1.5)])
    turns = [mb.Rotation.about_axis(x, (1, 0, 0)) for x in (0.0, 0.1, 0.2)]  # how frames change with directions differs, too
    ensemble.set_each(ball.set_outboard_frame, [mb.Transform(R, (0.0, 0.5, 0)) for R in turns])
    ensemble.project()
    starts = ensemble.copy()
    wanted = ["ball.q", "pin.u", "rod.length", "ball.com", "ball.outboard_frame"]
    found = ensemble.simulate(0.2, report_interval=0.1, sensitivities=wanted)
    assert not found.failed.any()
    for i in range(3):
        run = alone(starts, i, 0.2, wanted, report_interval=0.1)
        assert run.statistics["steps_taken"] == found.statistics["steps_taken"][i]
        assert_same(found[i].sensitivities, run.sensitivities, 1e-10)


def test_events_have_their_jump_terms():
    """A ball that bounces: those that have hit the ground by then, and one that has not."""
    system = mb.MultibodySystem("bouncing")
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, 0, -9.8), name="gravity")
    up = mb.Transform(mb.Rotation.about_axis(-np.pi / 2, (0, 1, 0)))
    stone = mb.body.Rigid(mb.MassProperties(1.3, (0, 0, 0), mb.UnitInertia(0.1, 0.1, 0.1)))
    ball = mb.mobilizer.Slider(matter.ground, stone, X_PF=up, X_BM=up, name="ball")
    system.add_event_handler(mb.event.ImpactWhen(mb.event.Coordinate(ball, 0), 0.8))
    ensemble = mb.Ensemble(system, 3, threads=2)
    heights, g, e, t = np.array([0.5, 1.0, 9.0]), 9.8, 0.8, 0.6
    ensemble.q = heights[:, None]
    wanted = ["ball.q", "gravity.magnitude"]
    found = ensemble.simulate(t, accuracy=1e-8, report_interval=t, sensitivities=wanted).sensitivities.q[:, -1, 0]
    v = np.sqrt(2.0 * g * heights[:2])
    s = t - v / g
    np.testing.assert_allclose(found[:2, 0], e * g / v * s - (e * v - g * s) / v, rtol=1e-6)  # by the height
    by_g = e * heights[:2] / v * s + (e * v - g * s) * (v / g**2 - heights[:2] / (v * g)) - 0.5 * s**2
    np.testing.assert_allclose(found[:2, 1], by_g, rtol=1e-6)
    np.testing.assert_allclose(found[2], [1.0, -0.5 * t**2], atol=1e-9)


def test_failures_and_ends_have_no_numbers_after_them(pendulum):
    ensemble = started(pendulum)
    u = np.array(ensemble.u)
    u[2, 1], u[3, 0] = np.nan, 4.0
    ensemble.u = u
    seen = []
    found = ensemble.simulate(
        0.5,
        report_interval=0.1,
        sensitivities=["q"],
        terminate=lambda t, q, u: q[0] - 0.6,
        progress=lambda done, n: seen.append((done, n)),
    )
    assert list(found.failures) == [2] and list(found.terminations) == [3] and seen[-1] == (N, N)
    assert np.isnan(found.sensitivities.q[2]).all()
    rows = found.num_rows[3]
    assert (
        0 < rows < 6 and np.isfinite(found.sensitivities.q[3, :rows]).all() and np.isnan(found.sensitivities.q[3, rows:]).all()
    )
    one = found[3]
    assert len(one.time) == rows + 1 and len(one.sensitivities.q) == rows + 1  # the last is where it has ended


def test_in_a_file_and_with_labels(pendulum, motions, tmp_path):
    pytest.importorskip("h5py")
    file = tmp_path / "motions.h5"
    kept = started(pendulum).simulate(0.5, report_interval=0.1, sensitivities=WANTED, record_to=file)
    read = mb.EnsembleTrajectory.load(file)
    for one in (kept, read, read[1:3]):
        places = slice(1, 3) if len(one) == 2 else slice(None)
        np.testing.assert_array_equal(one.sensitivities.of_q[:], motions.sensitivities.of_q[places])
        assert one.sensitivities.names == motions.sensitivities.names
    pytest.importorskip("xarray")
    table = read.to_xarray()
    assert table["sensitivities_q"].dims == ("state", "time", "speed", "by")
    one = table["sensitivities_u"].sel(state=2, by="gravity_0.magnitude", speed="lower")
    np.testing.assert_array_equal(one, motions.sensitivities.u[2, :, 1, 2])
    assert "sensitivities_z" not in table


def test_what_cannot_be_is_refused_and_changes_nothing(pendulum):
    ensemble = started(pendulum)
    before = np.array(ensemble.q)
    for arguments, error, text in (
        ({"sensitivities": "q"}, TypeError, "give a list"),
        ({"sensitivities": ["upper.colour"]}, ValueError, "has no parameter 'colour'"),
        ({"sensitivities": ["q"], "integrator": "TimeStepping"}, ValueError, "TimeStepping solves for impulses"),
        ({"sensitivities": ["q"] * 1000, "report_interval": 1e-8}, ValueError, "GB of memory"),
        ({"sensitivities": ["q"], "controller": lambda t, q, u: (0.0, 0.0)}, ValueError, "do not follow controller="),
    ):
        with pytest.raises(error, match=text):
            ensemble.simulate(0.5, **arguments)
    np.testing.assert_array_equal(ensemble.q, before)
    assert ensemble.simulate(0.1, report_interval=0.1).sensitivities is None
