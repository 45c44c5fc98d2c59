"""drive: what a given motion takes, beside closed forms, beside a run in which a motion turns the crank, and beside energy."""

import numpy as np
import pytest

import mobod as mb
from mobod import ConvergenceError, ModelError

TIMES = np.linspace(0.0, 2.0, 81)
QUANTITIES = ["motion_forces", "reactions", "constraint_forces"]


def test_a_four_bar_takes_what_a_run_with_a_motor_says():
    """The same linkage with a Motion, integrated: torques and the loads of all pins."""
    system, state = mb.examples.four_bar.build()
    crank = system.matter.bodies["crank"]
    found = mb.drive(system, state, {crank: mb.function.Linear([4.0, 1.0])}, TIMES)
    other, start = mb.examples.four_bar.build()
    mb.motion.Steady(other.matter.bodies["crank"], 4.0)
    again = other.realize_topology()
    again.q, again.u = start.q, start.u
    method = mb.integrator.RungeKuttaMerson(other, accuracy=1e-9)
    run = mb.simulate(other, again, 2.0, report_interval=0.025, integrator=method, record=QUANTITIES)
    np.testing.assert_allclose(found.q, run.q, atol=1e-6)
    np.testing.assert_allclose(found.u, run.u, atol=1e-6)
    for name in QUANTITIES:
        np.testing.assert_allclose(found.quantities[name], run.quantities[name], atol=2e-5)
    assert found.quantities["motion_forces"][:, 1:].any() == False  # noqa: E712
    assert {"quantity.reactions.rocker.fx", "quantity.constraint_forces.loop.fy"} <= {*found.to_pandas().columns}
    first, body = run.states[3], other.matter.get_constraint("loop").constrained_bodies[-1]
    other.realize(first)
    center = body.get_body_mass_center_station(first)
    taken = body.get_body_mass(first) * (body.find_station_acceleration_in_ground(first, center) + np.array([0.0, 9.81, 0.0]))
    loads = (run.quantities[name][3, row, 1] for name, row in (("reactions", body.index), ("constraint_forces", 0)))
    np.testing.assert_allclose(sum(loads), taken, atol=1e-7, err_msg="of the body on whose end the loop is closed")


def test_the_work_of_an_uneven_drive_is_the_change_of_energy():
    system, state = mb.examples.four_bar.build()
    times = np.linspace(0.0, 1.0, 401)
    angle = 1.0 + 2.0 * times**2 + 0.3 * np.sin(5.0 * times)
    found = mb.drive(system, state, {"crank": angle}, times)
    np.testing.assert_allclose(found.q[:, 0], angle, atol=1e-12)
    np.testing.assert_allclose(found.u[:, 0], 4.0 * times + 1.5 * np.cos(5.0 * times), atol=1e-6)
    power = found.quantities["motion_power"]
    work = np.concatenate([[0.0], np.cumsum(0.5 * (power[1:] + power[:-1]) * np.diff(times))])
    np.testing.assert_allclose(found.energy - found.energy[0], work, atol=2e-4 * np.ptp(found.energy))


def test_a_tree_takes_what_inverse_dynamics_says():
    system, state = mb.examples.double_pendulum.build()
    times = np.linspace(0.0, 1.0, 21)
    motions = {"upper": mb.function.Sinusoid(0.5, 3.0, 0.2), "lower": mb.function.Polynomial([1.0, -0.5, 0.3])}
    system.matter.bodies["upper"].joint_name = "shoulder"
    motions["shoulder"] = motions.pop("upper")  # a joint by its name
    found = mb.drive(system, state, motions, times)
    own = state.copy()
    for k in range(len(times)):
        own.time, own.q, own.u = times[k], found.q[k], found.u[k]
        system.realize(own, mb.Stage.DYNAMICS)
        np.testing.assert_allclose(
            found.quantities["motion_forces"][k], system.calc_inverse_dynamics(own, found.quantities["u_dot"][k]), atol=1e-10
        )


@pytest.mark.parametrize(
    ("motions", "times", "error", "says"),
    [
        ({}, TIMES, TypeError, "by the body"),
        ({"crank": np.sin}, TIMES, TypeError, "mobod.function"),
        ({"crank": [0.0, 1.0]}, TIMES, ValueError, "6 times"),
        (
            {"crank": 1.5},
            TIMES,
            ValueError,
            r"of 'crank' is a mobod.function, function.Constant\(1.5\) where it rests",
        ),
        ({"crank": mb.function.Linear([1.0, 1.0])}, [0.0, 0.0], ValueError, r"rising, one after the other, got \[0.0, 0.0\]"),
        ({"crank": (mb.function.Linear([1.0, 1.0]),) * 2}, TIMES, ValueError, "1 coordinates"),
        ({"rocker": mb.function.Linear([9.0, 1.5])}, TIMES, ConvergenceError, "rocker = "),
        ({"nobody": mb.function.Linear([1.0, 1.0])}, TIMES, (KeyError, ModelError), "nobody"),
    ],
)
def test_what_cannot_be_is_refused_and_the_state_stays(motions, times, error, says):
    system, state = mb.examples.four_bar.build()
    before = state.y.copy()
    with pytest.raises(error, match=says):
        mb.drive(system, state, motions, times)
    assert (state.y == before).all() and not system.matter.bodies["crank"].is_locked(state)


def test_motions_that_leave_something_free_are_refused():
    system, state = mb.examples.double_pendulum.build()
    with pytest.raises(ModelError, match="lower"):
        mb.drive(system, state, {"upper": mb.function.Linear([1.0, 0.0])}, TIMES)


def test_a_body_that_is_locked_or_turns_freely_is_refused():
    system, state = mb.examples.four_bar.build()
    system.matter.bodies["crank"].lock(state)
    with pytest.raises(ModelError, match="locked"):
        mb.drive(system, state, {"crank": mb.function.Linear([1.0, 1.0])}, TIMES)
