"""Screw: a Cylinder whose two speeds are tied, and whole turns that a fit may add.

Tolerances: 1e-12 of the largest entry for tens of roundings.
"""

import numpy as np
import pytest

import mobod as mb

EXACT = 1e-12


@pytest.fixture(params=list(mb.Direction), ids=lambda d: d.name.lower())
def pair(request, make):
    """The same mechanism with a Screw and with a Cylinder: on a moving parent, with bodies on both sides of it and after it."""
    pitch = make.rng.uniform(-1.0, 1.0)
    frames, bodies = [make.frame() for _ in range(5)], [make.body() for _ in range(4)]
    models = []
    for kind, settings in ((mb.mobilizer.Screw, {"pitch": pitch}), (mb.mobilizer.Cylinder, {})):
        model = make.tree(0)
        base = mb.mobilizer.Free(model.matter.ground, bodies[0])
        model.body = kind(base, bodies[1], X_PF=frames[0], X_BM=frames[1], direction=request.param, **settings)
        mb.mobilizer.Universal(model.body, bodies[2], X_PF=frames[2], X_BM=frames[3])
        mb.mobilizer.Pin(base, bodies[3], X_PF=frames[4])
        model.gravity.set_default_gravity_vector((1, -9, 2))
        models.append(model.made())
    screw, cylinder = models
    state = screw.randomize()
    i = screw.body.get_first_u_index(state)
    T = np.insert(np.eye(len(state.u)), i + 1, 0.0, axis=1)  # u of the Cylinder's mechanism is T^T u of the Screw's
    T[i, i + 1] = pitch
    j = screw.body.get_first_q_index(state)
    cylinder.state.q = np.insert(state.q, j + 1, pitch * state.q[j])
    cylinder.state.u = T.T @ state.u
    cylinder.system.realize(cylinder.state)
    return screw, cylinder, T


def test_the_mass_matrix_is_that_of_a_cylinder_with_its_speeds_tied(pair, close):
    screw, cylinder, T = pair
    close(screw.matter.calc_m(screw.state), T @ cylinder.matter.calc_m(cylinder.state) @ T.T, EXACT)


def test_the_motion_is_that_of_a_cylinder_with_its_speeds_tied(pair, close):
    screw, cylinder, _ = pair
    for a, b in zip(screw.bodies[1:], cylinder.bodies[1:], strict=True):
        close(np.asarray(a.get_body_transform(screw.state)), np.asarray(b.get_body_transform(cylinder.state)), EXACT)
        close(a.get_body_velocity(screw.state), b.get_body_velocity(cylinder.state), EXACT)


def test_the_forces_are_those_of_a_cylinder_with_its_speeds_tied(pair, make, close):
    """Of any udot: T times what the Cylinder's mechanism needs, gravity and velocities included."""
    screw, cylinder, T = pair
    udot = make.rng.normal(size=len(T))
    residuals = []
    for model, rates in ((screw, udot), (cylinder, T.T @ udot)):
        F = model.system.get_rigid_body_forces(model.state)
        residuals.append(model.matter.calc_residual_force_ignoring_constraints(model.state, [], F, rates))
    close(residuals[0], T @ residuals[1], EXACT)


def test_a_pitch_of_zero_makes_a_pin(make, close):
    model = make.tree(0)
    X_PF, X_BM, body = make.frame(), make.frame(), make.body()
    screw = mb.mobilizer.Screw(model.matter.ground, body, X_PF=X_PF, X_BM=X_BM, pitch=0.0)
    pin = mb.mobilizer.Pin(model.matter.ground, body, X_PF=X_PF, X_BM=X_BM)
    model.made()
    for each in (screw, pin):
        each.set_angle(model.state, 0.4)
        each.set_rate(model.state, -2.0)
    model.system.realize(model.state)
    close(screw.get_u_dot(model.state), pin.get_u_dot(model.state), EXACT)
    screw.set_q_to_fit_translation(model.state, (0, 0, 5))
    assert screw.get_angle(model.state) == 0.4, "nothing to reach it by"


@pytest.mark.parametrize("direction", mb.Direction)
def test_a_pose_some_turns_away_is_reached(direction, make, close):
    model = make.tree(0)
    body = mb.mobilizer.Screw(model.matter.ground, make.body(), pitch=-0.03, direction=direction)
    model.made()
    for angle in (0.0, 3.0, -3.2, 44.0, -1000.0):
        body.set_angle(model.state, angle)
        model.system.realize(model.state, mb.Stage.POSITION)
        X = body.get_mobilizer_transform(model.state)
        body.set_angle(model.state, 1.0)
        body.set_q_to_fit_transform(model.state, X)
        close(body.get_angle(model.state), angle, EXACT, 1000.0)
        body.set_angle(model.state, 1.0)
        body.set_q_to_fit_translation(model.state, X.p)
        close(body.get_angle(model.state), angle, EXACT, 1000.0)


def test_of_a_place_beyond_reach_the_orientation_stays_good(make, close):
    model = make.tree(0)
    body = mb.mobilizer.Screw(model.matter.ground, make.body(), pitch=1e-9)
    model.made()
    R = mb.Rotation.about_axis(0.7, (0, 0, 1))
    body.set_q_to_fit_transform(model.state, mb.Transform(R, (0, 0, 1e9)))
    model.system.realize(model.state, mb.Stage.POSITION)
    close(np.asarray(body.get_mobilizer_transform(model.state).R), np.asarray(R), 1e-9)  # the rounding of 1e6 radians
    body.set_pitch(model.state, 5e-324)
    for p in ((0, 0, 1e6), (0, 0, 0)):
        body.set_q_to_fit_translation(model.state, p)
        assert np.all(np.isfinite(model.state.q))


def test_the_angle_of_a_pitch_is_a_radian():
    """A lead of two millimetres a turn."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    nut = mb.mobilizer.Screw(matter.ground, mb.body.Massless(), pitch=0.002 / (2 * np.pi))
    state = system.realize_topology()
    nut.set_angle(state, 2 * np.pi * 5)
    system.realize(state, mb.Stage.POSITION)
    assert nut.get_body_origin_location(state) == pytest.approx((0, 0, 0.01))
