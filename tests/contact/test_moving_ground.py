"""What stands on bodies of prescribed motion goes with them: a sledge, a lift and a turntable, under all ways of contact."""

import numpy as np
import pytest
from touching_models_of_contact import METHODS, G, integrator_of

import mobod as mb

SPEED, AWAY = 0.2, 0.15
STEEL = mb.contact.Material(1e7, 1.0, 0.5)
UP = mb.Rotation.about_axis(-np.pi / 2.0, "y")  # its x


def standing(method):
    """A box on each, AWAY from the middle of its table, and the tables, of which one is driven into a fixed block."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.UniformGravity(mb.GeneralForceSubsystem(system), matter, (0, 0, -G))
    if method not in ("rigid", "dense"):
        friction = "bristle" if method == "bristle" else "stribeck"
        mb.CompliantContactSubsystem(system, friction=friction, transition_velocity=1e-3)
    heavy = mb.body.Rigid(mb.MassProperties(5.0, (0, 0, 0), mb.UnitInertia.sphere(0.3)))
    light = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.brick((0.1, 0.1, 0.1))))
    places = [np.array((2.0 * k, 0.0, 0.0)) for k in range(3)]
    sledge = mb.mobilizer.Slider(matter.ground, heavy)
    lift = mb.mobilizer.Slider(matter.ground, heavy, X_PF=mb.Transform(UP, places[1]), X_BM=mb.Transform(UP))
    turntable = mb.mobilizer.Pin(matter.ground, heavy, X_PF=mb.Transform(places[2]))
    boxes = []
    for table in (sledge, lift, turntable):
        mb.motion.Steady(table, SPEED)
        table.add_contact_surface(mb.contact.Surface(mb.contact.Brick((0.5, 0.5, 0.1)), STEEL))
        boxes.append(mb.mobilizer.Free(matter.ground, light))
        boxes[-1].add_contact_surface(mb.contact.Surface(mb.contact.Brick((0.1, 0.1, 0.1)), STEEL))
    block = mb.mobilizer.Weld(matter.ground, heavy, X_PF=mb.Transform((1.001, 0.0, 0.0)))
    block.add_contact_surface(mb.contact.Surface(mb.contact.Brick((0.5, 0.5, 0.1)), STEEL))
    if method == "dense":  # a constraint is for Python's steps
        mb.constraint.ConstantSpeed(mb.mobilizer.Pin(matter.ground, heavy, X_PF=mb.Transform((0.0, 5.0, 0.0))), 0, 0.0)
    if method in ("rigid", "dense"):
        mb.contact.rigid(system, stepped=True)
    state = system.realize_topology()
    for box, place in zip(boxes, places, strict=True):
        box.set_q_to_fit_translation(state, place + np.array((AWAY, 0.0, 0.2 - 1e-5)))
    return system, state


def check(q, u):
    """Of the boxes, a second later: they slip at first, until friction has brought them to the speed of what they stand on."""
    slide, rise, turn = (q[3 + 7 * i : 10 + 7 * i] for i in range(3))
    late = SPEED**2 / (2.0 * 0.5 * G)
    np.testing.assert_allclose(slide[4:], (AWAY + SPEED - late, 0.0, 0.2), atol=5e-4)
    np.testing.assert_allclose(rise[4:], (2.0 + AWAY, 0.0, 0.2 + SPEED), atol=5e-4)
    np.testing.assert_allclose(turn[4:], (4.0 + AWAY * np.cos(SPEED), AWAY * np.sin(SPEED), 0.2), atol=1e-3)
    np.testing.assert_allclose(2.0 * np.arctan2(turn[3], turn[0]), SPEED, atol=5e-3)
    np.testing.assert_allclose(u[[6, 14, 17]], SPEED, atol=0.01)  # bristles let it hop by some microns


@pytest.mark.parametrize("method", METHODS)
def test_what_stands_on_a_moving_body_goes_with_it(method):
    system, state = standing(method)
    run = mb.simulate(system, state, 1.0, integrator=integrator_of(system, method))
    check(run.q[-1], run.u[-1])


def test_eight_at_once_go_with_it_too():
    system, state = standing("rigid")
    ensemble = mb.Ensemble(system, 8)
    ensemble.q, ensemble.u = np.tile(state.q, (8, 1)), np.tile(state.u, (8, 1))
    run = ensemble.simulate(1.0, integrator=integrator_of(system, "rigid"))
    check(run.q[5, -1], run.u[5, -1])
