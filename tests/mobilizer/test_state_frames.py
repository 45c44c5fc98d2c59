"""Frames that one state moves: the physics is that of a system built so, and no other state hears of it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb


def two_bodies(X_PF, X_BM):
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -9.8, 0))
    part = mb.body.Rigid(mb.MassProperties(2.0, (0.1, 0.2, 0.3), mb.UnitInertia(1, 1, 1).shift_from_centroid((0.1, 0.2, 0.3))))
    first = mb.mobilizer.Ball(matter.ground, part)
    second = mb.mobilizer.Universal(first, part, X_PF=X_PF, X_BM=X_BM)
    return system, first, second


def pose(rng):
    return mb.Transform(mb.Rotation.from_body_fixed_xyz(rng.uniform(-3, 3, 3)), rng.normal(size=3))


@pytest.mark.parametrize("which", ["inboard", "outboard"])
def test_a_frame_moved_in_a_state_gives_what_a_system_built_so_gives(which, rng):
    X, Y, moved = mb.Transform((0, 0.5, 0)), mb.Transform(), pose(rng)
    system, _, second = two_bodies(X, Y)
    built, _, _ = two_bodies(moved, Y) if which == "inboard" else two_bodies(X, moved)
    state, expected = system.realize_topology(), built.realize_topology()
    untouched = state.copy()
    q, u = mb.Rotation.from_body_fixed_xyz((0.3, -0.4, 0.5)).to_quaternion(), rng.normal(size=5)
    for one in (state, expected, untouched):
        one.q, one.u = [*q, 0.4, -0.7], u
    (second.set_inboard_frame if which == "inboard" else second.set_outboard_frame)(state, moved)
    assert state.stage == mb.Stage.MODEL
    system.realize(state)
    built.realize(expected)
    system.realize(untouched)
    assert_allclose(state.u_dot, expected.u_dot, rtol=1e-12)
    assert_allclose(system.matter.calc_m(state), built.matter.calc_m(expected), rtol=1e-12, atol=1e-13)
    assert np.abs(untouched.u_dot - state.u_dot).max() > 1e-3
    frame = second.get_inboard_frame(state) if which == "inboard" else second.get_outboard_frame(state)
    assert_allclose(np.asarray(frame), np.asarray(moved))
    assert_allclose(np.asarray(second.get_default_inboard_frame()), np.asarray(X))


def test_derivatives_do_not_remember_the_frame_of_another_state(rng):
    system, _, second = two_bodies(mb.Transform((0, 0.5, 0)), mb.Transform())
    mb.constraint.Rod(system.matter.ground, (1, 0, 0), second, (0.1, 0.2, 0.3), 1.2)
    state = system.realize_topology()
    state.u = rng.normal(size=5)
    other = state.copy()
    second.set_outboard_frame(other, pose(rng))
    found = []
    for one in (state, other, state):
        system.realize(one)
        found.append(system.calc_forward_dynamics_derivatives(one))
    assert np.abs(found[1].u - found[0].u).max() > 1e-3
    for before, after in zip(found[0], found[2], strict=True):
        np.testing.assert_array_equal(after, before)
