"""Impacts of mechanisms with constraints; and with methods that are not accurate: no ball falls through."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb


def four_bar(e, stop=True, redundant=False):
    """Crank, coupler and rocker in a plane, closed by a Ball; the coupler's middle hits a plane."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -9.81, 0))

    def bar(length):
        inertia = mb.UnitInertia(0.01, length**2 / 3, length**2 / 3)
        return mb.body.Rigid(mb.MassProperties(1.0 + length, (length / 2, 0, 0), inertia))

    at = mb.Transform
    crank = mb.mobilizer.Pin(matter.ground, bar(1.0), name="crank")
    coupler = mb.mobilizer.Pin(crank, bar(2.0), X_PF=at((1.0, 0, 0)), name="coupler")
    rocker = mb.mobilizer.Pin(matter.ground, bar(1.5), X_PF=at((2.0, 0, 0)), name="rocker")
    if redundant:  # out of the plane the ball says nothing new
        mb.constraint.Ball(coupler, (2.0, 0, 0), rocker, (1.5, 0, 0))
    else:
        mb.constraint.Rod(coupler, (2.0, 0, 0), rocker, (1.0, 0, 0), 0.5)
    if stop:
        gap = mb.event.PlaneDistance(coupler, (1.0, 0, 0), normal=(0, 1, 0), height=0.55)
        system.add_event_handler(mb.event.ImpactWhen(gap, e))
    state = system.realize_topology()
    state.q = [1.2, -0.6, 1.7]
    system.project(state, 1e-12)
    return system, coupler, state


@pytest.mark.parametrize("redundant", [False, True])
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_the_coupler_of_a_four_bar_hits_a_stop(e, redundant):
    system, _, state = four_bar(e, redundant=redundant)
    matter = system.matter
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-8))
    stepper.initialize(state)
    stepper.set_report_all_significant_states(True)
    while (status := stepper.step_to(10.0)) is not mb.StepStatus.REACHED_EVENT_TRIGGER:
        assert status is not mb.StepStatus.END_OF_SIMULATION and stepper.time < 10.0
    before = stepper.state.copy()
    status = stepper.step_to(10.0)  # without restitution it stays there where it is pressed on
    assert status is mb.StepStatus.START_OF_CONTINUOUS_INTERVAL or (e == 0.0 and status is mb.StepStatus.END_OF_SIMULATION)
    after = stepper.state
    gap = system.get_event_handlers()[0].get_witness()
    v, w = gap.calc_rate(before), gap.calc_rate(after)
    assert v < -0.1
    assert_allclose(w, -e * v, atol=1e-9)
    assert_allclose(matter.multiply_by_g(after, after.u), 0.0, atol=1e-9)
    # what goes is (1 - e^2) of the energy that the motion along the impulse has: 1/2 v^2 over the gap's compliance
    h = gap.calc_direction(before)
    M, G = matter.calc_m(before), matter.multiply_by_g
    rows = np.array([G(before, axis) for axis in np.eye(len(h))]).T
    block = np.block([[M, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
    d = np.linalg.lstsq(block, np.concatenate([h, np.zeros(len(rows))]), rcond=1e-12)[0][: len(h)]
    lost = matter.calc_kinetic_energy(before) - matter.calc_kinetic_energy(after)
    assert_allclose(lost, 0.5 * (1.0 - e**2) * v**2 / (h @ d), rtol=1e-8, atol=1e-9)


def test_a_gap_that_constraints_hold_shut_says_so():
    system, coupler, state = four_bar(1.0, stop=False)
    mb.constraint.Rod(system.matter.ground, (0, 0, 0), coupler, (1.0, 0, 0), 1.0)
    mb.constraint.Rod(system.matter.ground, (0, 0, 0), system.matter.bodies[3], (1.5, 0, 0), 2.0)
    gap = mb.event.PlaneDistance(coupler, (1.0, 0, 0), normal=(0, 1, 0), height=0.5)
    handler = mb.event.ImpactWhen(gap, 1.0, name="stop")
    system.add_event_handler(handler)
    state = system.realize_topology()
    state.q = [1.2, -0.6, 1.7]
    state.u = [-1.0, 0.3, 0.2]
    system.realize(state)
    with pytest.raises(mb.ModelError, match=r"'stop': nothing that can move takes part .*constraints hold it"):
        handler.handle_event(state, 1e-6)


METHODS = [
    (mb.integrator.BDF, {"accuracy": 1e-4}),
    (mb.integrator.BDF, {"accuracy": 1e-3}),
    (mb.integrator.SemiExplicitEuler, {"fixed_step_size": 0.01}),
    (mb.integrator.ExplicitEuler, {"fixed_step_size": 0.01}),
    (mb.integrator.ExplicitEuler, {"accuracy": 1e-3}),
    (mb.integrator.RungeKuttaMerson, {"fixed_step_size": 0.02}),
]


@pytest.mark.parametrize(("method", "settings"), METHODS)
@pytest.mark.parametrize("e", [0.0, 0.5, 0.8])
def test_no_ball_falls_through_and_all_come_to_rest(ball, method, settings, e):
    model = ball()
    model.system.add_event_handler(mb.event.ImpactWhen(mb.event.Coordinate(model.ball), e, at_rest="lock"))
    stepper = mb.TimeStepper(model.system, method(model.system, **settings))
    stepper.initialize(model.state)
    for time in np.linspace(0.1, 12.0, 60):
        stepper.step_to(time)
        assert stepper.state.q[0] > -1e-4
    assert model.ball.is_locked(stepper.state)
    assert abs(stepper.state.q[0]) < 1e-4


@pytest.mark.skipif(not mb.integrator.bdf._has_cvode(), reason="needs scikit-sundae")
@pytest.mark.parametrize("accuracy", [1e-3, 1e-4])
def test_nor_with_cvode(ball, accuracy):
    test_no_ball_falls_through_and_all_come_to_rest(ball, mb.integrator.BDF, {"solver": "cvode", "accuracy": accuracy}, 0.8)


def test_a_kick_of_stiff_dampers_is_no_rest():
    """Right after an impact they pull the gap together with a hundred times what they do once they have yielded."""
    system = mb.MultibodySystem("chain")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0))
    rod = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    link = matter.ground
    for _ in range(3):
        link = mb.mobilizer.Pin(link, rod, X_BM=mb.Transform((0, 1, 0)))
    mb.force.MobilityLinearSpring(forces, link, 0, 1e4, 0.0)
    mb.force.MobilityLinearDamper(forces, link, 0, 1e2)
    system.add_event_handler(mb.event.ImpactWhen(mb.event.Coordinate(matter.bodies[1], 0), restitution=0.5))
    state = system.realize_topology()
    state.q = [0.8, 0.2, 0.0]
    exact = mb.simulate(system, state, 2.0, accuracy=1e-7)
    motion = mb.simulate(system, state, 2.0, integrator="BDF", accuracy=1e-3)
    assert abs(motion.time[-1] - exact.time[-1]) < 0.05 < exact.time[-1] - 0.88, "the first impact, at 0.88, is not the last"
    assert motion.q[:, 0].min() > -1e-5
