"""Euler's disk: a coin whose center stays where it is while it rolls round on its edge, faster the flatter it lies.

With the angle alpha of a thin disk of radius a to the floor and the rate Omega at which its point of contact goes round, its
angular velocity Omega sin(alpha) lies along the line from that point to the center, of moment of inertia m a^2 / 4, and
Omega cos(alpha) times this momentum is the moment m g a cos(alpha) of the floor's force:

    Omega^2 = 4 g / (a sin(alpha))

Source: Moffatt 2000, Nature 404, 833.
"""

import numpy as np
import pytest
from touching_models import G, empty

import mobod as mb

RADIUS, HALF = 0.05, 0.0002


def tilt_and_way(system, state, disk):
    system.realize(state, mb.Stage.POSITION)
    x, y, z = disk.express_vector_in_ground_frame(state, (0.0, 0.0, 1.0))
    return np.arccos(z), np.arctan2(y, x)


@pytest.mark.parametrize("rigid", [True, False], ids=["stepped", "bristles"])
@pytest.mark.parametrize("alpha", [0.4, 0.1])
def test_it_goes_round_as_fast_as_its_tilt_has_it(alpha, rigid):
    system, matter = empty((0, 0, -G))
    if not rigid:
        mb.CompliantContactSubsystem(system, transition_velocity=1e-3, friction="bristle")
    steel = mb.contact.Material(1e6, 0.0, 1.0)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), steel))
    across = RADIUS**2 / 4.0 + HALF**2 / 3.0
    inertia = mb.UnitInertia(across, across, RADIUS**2 / 2.0)
    disk = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(0.4, (0, 0, 0), inertia)))
    disk.add_contact_surface(mb.contact.Surface(mb.contact.Cylinder(RADIUS, HALF), steel))
    if rigid:
        mb.contact.rigid(system, stepped=True)
    state = system.realize_topology()
    dent = 0.0 if rigid else 2.0 * 0.4 * G / 1e6
    height = RADIUS * np.sin(alpha) + HALF * np.cos(alpha) - dent
    disk.set_q_to_fit_transform(state, mb.Transform(mb.Rotation.about_axis(alpha, "y"), (0, 0, height)))
    rate = np.sqrt(4.0 * G / (RADIUS * np.sin(alpha)))
    disk.set_u_to_fit_angular_velocity(state, rate * np.sin(alpha) * np.array([-np.cos(alpha), 0.0, np.sin(alpha)]))
    if rigid:
        integrator = mb.integrator.TimeStepping(system, fixed_step_size=5e-5)
    else:
        integrator = mb.integrator.RungeKuttaMerson(system, accuracy=1e-6)
    stepper = mb.TimeStepper(system, integrator)
    stepper.initialize(state)
    times, tilts, ways, energies = np.linspace(0.0, 0.3, 61), [], [], []
    for time in times:
        stepper.step_to(time)
        tilt, way = tilt_and_way(system, stepper.state, disk)
        tilts.append(tilt)
        ways.append(way)
        system.realize(stepper.state, mb.Stage.VELOCITY)
        energies.append(system.calc_energy(stepper.state))
    # the disk's thickness is a few thousandths of the height of its center where it is flattest
    assert np.abs(np.array(tilts) - alpha).max() < 0.03 * alpha
    assert np.polyfit(times, np.unwrap(ways), 1)[0] == pytest.approx(rate, rel=0.02)
    assert stepper.state.q[4:6] == pytest.approx([0.0, 0.0], abs=0.02 * RADIUS)
    if not rigid:  # once the rest of its start is rubbed away nothing slips
        assert np.abs(np.array(energies[20:]) / energies[20] - 1.0).max() < 1e-6
