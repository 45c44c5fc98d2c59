"""The readings of a force plate: total wrench and center of pressure of a body's contacts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb

MATERIAL = mb.contact.Material(stiffness=1e5, dissipation=3.0, static_friction=0.7, dynamic_friction=0.5)


def make_table(gravity=(0.0, 0.0, -9.81)):
    """A block on three balls at its lower corners, beside a ball, on a floor."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, gravity)
    contacts = mb.CompliantContactSubsystem(system)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), MATERIAL))
    part = mb.body.Rigid(mb.MassProperties(2.0, (0.02, 0.01, 0.0), mb.UnitInertia.brick(0.3, 0.3, 0.1)))
    table = mb.mobilizer.Free(matter.ground, part, name="table")
    for corner in ((0.3, 0.2, -0.1), (-0.3, 0.2, -0.1), (0.0, -0.25, -0.1)):
        table.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.05), MATERIAL), mb.Transform(corner))
    ball_body = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    ball = mb.mobilizer.Free(matter.ground, ball_body, name="ball")
    ball.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.1), MATERIAL))
    state = system.realize_topology()
    table.set_q_to_fit_translation(state, (1.0, 2.0, 0.149))
    ball.set_q_to_fit_translation(state, (5.0, 0.0, 0.099))
    return system, contacts, table, ball, state


def moving(rng):
    """The table and the ball pressed into the floor, and sliding."""
    system, contacts, table, ball, state = make_table()
    table.set_q_to_fit_transform(state, mb.Transform(mb.Rotation.about_axis(0.003, rng.normal(size=3)), (1.0, 2.0, 0.147)))
    state.u = 0.05 * rng.normal(size=len(state.u))  # slow enough for no point to part faster than the material
    system.realize(state, mb.Stage.DYNAMICS)
    return system, contacts, table, ball, state


def test_the_wrenches_are_what_the_bodies_feel(rng):
    system, contacts, table, ball, state = moving(rng)
    wrenches = contacts.calc_body_wrenches(state)
    assert contacts.get_num_contacts(state) == 4
    gravity = np.zeros((3, 2, 3))
    for body in (table, ball):
        R, m = np.asarray(body.get_body_rotation(state)), body.get_body_mass_properties(state)
        gravity[body.index] = np.cross(R @ m.com, (0, 0, -9.81 * m.mass)), (0, 0, -9.81 * m.mass)
    # forces of the whole system; what acts on Ground is kept, too
    assert_allclose(wrenches, system.get_rigid_body_forces(state) - gravity, atol=1e-10)
    assert_allclose(wrenches[:, 1].sum(axis=0), 0.0, atol=1e-10)
    for body in (table, ball):
        assert_allclose(contacts.calc_body_wrench(state, body), wrenches[body.index], atol=1e-10)
    o = np.array([0.3, -0.7, 0.2])
    moment, force = contacts.calc_body_wrench(state, table, point=o)
    p = np.asarray(table.get_body_origin_location(state))
    assert_allclose(moment, wrenches[table.index, 0] + np.cross(p - o, force), atol=1e-10)


def test_of_ground_a_part_can_be_asked_for(rng):
    system, contacts, table, ball, state = moving(rng)
    ground = system.matter.ground
    parts = [contacts.calc_body_wrench(state, ground, other_body=body) for body in (table, ball)]
    assert_allclose(sum(parts), contacts.calc_body_wrench(state, ground), atol=1e-10)
    assert_allclose(parts[0][1], -contacts.calc_body_wrench(state, table)[1], atol=1e-10)
    assert not contacts.calc_body_wrench(state, table, other_body=ball).any()


def test_the_moment_about_the_center_of_pressure_is_along_the_normal(rng):
    _, contacts, table, _, state = moving(rng)
    for n, o in ((None, (0, 0, 0)), ((0, 0, 1), (1, 2, 0.05)), ((*rng.uniform(-0.3, 0.3, 2), 1.0), rng.normal(size=3))):
        p = contacts.calc_center_of_pressure(state, table, n, point=o)
        n = np.array([0, 0, 1.0]) if n is None else np.asarray(n) / np.linalg.norm(n)
        moment, force = contacts.calc_body_wrench(state, table, point=p)
        assert_allclose(n @ (p - np.asarray(o)), 0.0, atol=1e-12)
        assert_allclose(np.cross(n, moment), 0.0, atol=1e-11 * np.abs(force).max() * (1 + np.linalg.norm(p)))
    centers = contacts.calc_centers_of_pressure(state)
    assert_allclose(centers[table.index], contacts.calc_center_of_pressure(state, table), atol=1e-12)


def test_a_table_at_rest_presses_below_its_mass_center():
    system, contacts, table, ball, state = make_table()
    end = mb.simulate(system, state, 3.0, accuracy=1e-6, report_interval=3.0).states[-1]
    system.realize(end, mb.Stage.VELOCITY)
    for body in (table, ball):
        weight = 9.81 * body.get_body_mass_properties(end).mass
        assert_allclose(contacts.calc_body_wrench(end, body)[1], (0, 0, weight), atol=1e-3 * weight)  # it settles as 1 / t
        com = body.find_station_location_in_ground(end, body.get_body_mass_properties(end).com)
        assert_allclose(contacts.calc_center_of_pressure(end, body)[:2], com[:2], atol=1e-4)


def test_where_nothing_touches_there_is_no_center():
    system, contacts, table, ball, state = make_table()
    ball.set_q_to_fit_translation(state, (5.0, 0.0, 1.0))
    system.realize(state, mb.Stage.VELOCITY)
    assert not contacts.calc_body_wrench(state, ball).any()
    assert np.isnan(contacts.calc_center_of_pressure(state, ball)).all()
    centers = contacts.calc_centers_of_pressure(state)
    assert np.isnan(centers[ball.index]).all() and np.isfinite(centers[[0, table.index]]).all()
    # a plane along which all forces are: nothing presses on it
    assert np.isnan(contacts.calc_center_of_pressure(state, table, (1, 0, 0))).all()


def test_up_is_against_gravity():
    system, contacts, _, ball, state = make_table(gravity=(0.0, -3.0, -4.0))
    ball.set_q_to_fit_translation(state, (5.0, 0.0, 0.099))
    system.realize(state, mb.Stage.VELOCITY)
    up = contacts.calc_center_of_pressure(state, ball)
    assert_allclose(up @ (0, 0.6, 0.8), 0.0, atol=1e-12)


def test_bad_arguments_are_refused():
    system, contacts, table, _, state = make_table()
    with pytest.raises(mb.StageError, match="VELOCITY"):
        contacts.calc_body_wrench(state, table)
    system.realize(state, mb.Stage.VELOCITY)
    with pytest.raises(TypeError):
        contacts.calc_body_wrench(state, 3.5)
    with pytest.raises(mb.ModelError, match="normal"):
        contacts.calc_center_of_pressure(state, table, (0, 0, 0))
    with pytest.raises(ValueError, match="point"):
        contacts.calc_body_wrench(state, table, point=(0, 0))
    other = make_table()[2]
    with pytest.raises(mb.MobodError):
        contacts.calc_body_wrench(state, other)
