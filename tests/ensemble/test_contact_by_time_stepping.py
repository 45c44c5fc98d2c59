"""Ensembles whose contact is stepped at the level of velocities: compiled, each state's bits as it has them alone."""

import warnings

import numpy as np
import pytest

import mobod as mb

H = 0.005


@pytest.fixture(scope="module")
def bouncing():
    """Two boxes that fall onto the floor and each other."""
    system = mb.MultibodySystem("boxes")
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -9.8))
    material = mb.contact.Material(1e6, 1.0, 0.5)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), material, thickness=0.01))
    for k in range(2):
        box = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.Inertia(0.01, 0.01, 0.01))))
        box.add_contact_surface(mb.contact.Surface(mb.contact.Brick((0.1, 0.1, 0.1)), material, thickness=0.01, name=f"box{k}"))
    mb.CompliantContactSubsystem(system)
    return system, system.realize_topology()


def started(bouncing, order, threads=1):
    system, state = bouncing
    ensemble = mb.Ensemble(system, len(order), state=state, threads=threads)
    q, u = np.tile(state.q, (len(order), 1)), np.zeros((len(order), 12))
    for row, k in enumerate(order):
        q[row, 6], q[row, 13] = 0.11 + 0.01 * k, 0.35 + 0.02 * k
        u[row, 3], u[row, 1] = 0.3 * k, 0.5 - 0.2 * k
    ensemble.q, ensemble.u = q, u
    return ensemble


@pytest.mark.parametrize("fixed", [True, False])
def test_bits_are_those_of_each_state_alone(bouncing, fixed):
    system, _ = bouncing
    kind = mb.integrator.TimeStepping
    method = kind(system, fixed_step_size=H) if fixed else kind(system, accuracy=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of states that are simulated one by one
        motions = started(bouncing, range(5)).simulate(0.3, report_interval=0.05, integrator=method)
    turned = started(bouncing, [3, 1, 4], threads=2).simulate(0.3, report_interval=0.05, integrator=method)
    for row, k in enumerate((3, 1, 4)):
        np.testing.assert_array_equal(turned.q[row], motions.q[k])
    ensemble = started(bouncing, range(5))
    for k in (0, 3):
        alone = mb.simulate(system, ensemble.get_state(k), 0.3, report_interval=0.05, integrator=method)
        np.testing.assert_array_equal(motions.q[k], alone.q)
        np.testing.assert_array_equal(motions.u[k], alone.u)
        assert motions.statistics["steps_taken"][k] == alone.statistics["steps_taken"]
    assert motions.q[:, -1, 6] == pytest.approx(0.1, abs=2e-3), "the lower boxes lie on the floor"


def test_states_for_which_there_is_no_room_run_alone(bouncing, monkeypatch):
    """With room for two points, all that touch need more, which a run of one state makes."""
    system, _ = bouncing
    method = mb.integrator.TimeStepping(system, fixed_step_size=H)
    monkeypatch.setattr("mobod.unilateral.stepped.space._ROOM", 2)
    motions = started(bouncing, range(3)).simulate(0.2, report_interval=0.05, integrator=method)
    assert not motions.failed.any()
    alone = mb.simulate(system, started(bouncing, range(3)).get_state(2), 0.2, report_interval=0.05, integrator=method)
    np.testing.assert_array_equal(motions.q[2], alone.q)
