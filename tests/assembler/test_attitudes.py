"""Welds and constant orientations assemble from everywhere, the right way up: simbody#162."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod.assembler._attitude import rotation_vectors
from models import rigid

BALL, FREE = mb.mobilizer.Ball, mb.mobilizer.Free


def tied(kind, how, make, rng):
    """A system whose last body's orientation is tied: (system, its bodies, the two frames in Ground as a function)."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    base, arms = matter.ground, []
    if how == "chain":
        for parent in range(3):
            arms.append(BALL(matter.bodies[parent], rigid(), X_BM=mb.Transform((0, 1, 0))))
    else:
        arms = [(BALL if how == "ball" else FREE)(matter.ground, rigid()) for _ in range(2 if how == "two" else 1)]
        if how == "two":
            base = arms[0]
    R1, R2 = make.rotation(), make.rotation()
    if kind == "Weld":
        p = make.unit_vector() * (0.0 if how == "ball" else rng.uniform(0.1, 0.9))  # within reach, at any orientation
        mb.constraint.Weld(base, mb.Transform(R1, p), arms[-1], mb.Transform(R2))
    else:
        mb.constraint.ConstantOrientation(base, R1, arms[-1], R2)

    def error(state):
        one = np.asarray(base.get_body_rotation(state)) @ np.asarray(R1)
        return one.T @ np.asarray(arms[-1].get_body_rotation(state)) @ np.asarray(R2)

    return system, arms, error


def assemble_from_random(kind, how, make, rng, n):
    system, arms, error = tied(kind, how, make, rng)
    state, assembler = system.realize_topology(), mb.Assembler(system)
    for _ in range(n):
        for arm in arms:
            arm.set_q_to_fit_rotation(state, make.rotation())
            if isinstance(arm, FREE):
                arm.set_q_to_fit_translation(state, make.vector(size=3.0))
        assembler.assemble(state)
        system.realize(state, mb.Stage.POSITION)
        assert_allclose(error(state), np.eye(3), atol=1e-8)
        assert np.abs(state.q_err).max() < 1e-8


@pytest.mark.parametrize("how", ["free", "ball", "two", "chain"])
@pytest.mark.parametrize("kind", ["Weld", "ConstantOrientation"])
def test_from_random_orientations(kind, how, make, rng):
    assemble_from_random(kind, how, make, rng, 25)


@pytest.mark.long
@pytest.mark.parametrize("how", ["free", "ball", "two", "chain"])
@pytest.mark.parametrize("kind", ["Weld", "ConstantOrientation"])
def test_from_hundreds_of_random_orientations(kind, how, make, rng):
    assemble_from_random(kind, how, make, rng, 250)


@pytest.mark.parametrize("kind", ["Weld", "ConstantOrientation"])
@pytest.mark.parametrize("axis", range(3))
def test_upside_down(kind, axis, make, rng):
    """Half a turn about an axis of the frame: the constraint's own errors are zero, and the assembler is not fooled."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    body = FREE(matter.ground, rigid())
    R = mb.Rotation()
    if kind == "Weld":
        mb.constraint.Weld(matter.ground, mb.Transform(R), body, mb.Transform(R))
    else:
        mb.constraint.ConstantOrientation(matter.ground, R, body, R)
    state = system.realize_topology()
    body.set_q_to_fit_rotation(state, mb.Rotation.about_axis(np.pi, np.eye(3)[axis]))
    system.realize(state, mb.Stage.POSITION)
    assert np.abs(state.q_err).max() < 1e-12
    assembler = mb.Assembler(system)
    assembler.initialize(state)
    assert assembler.calc_current_error_norm() > 3.0
    assembler.assemble(state)
    system.realize(state, mb.Stage.POSITION)
    assert_allclose(np.asarray(body.get_body_rotation(state)), np.eye(3), atol=1e-8)


def test_rotation_vectors(make):
    angles = [0.0, 1e-9, 1e-4, 0.7, 3.0, np.pi - 1e-7, np.pi]
    for angle in angles:
        axis = make.unit_vector()
        v = rotation_vectors(np.asarray(mb.Rotation.about_axis(angle, axis))[None])[0]
        sign = -1.0 if angle == np.pi and v @ axis < 0 else 1.0  # either axis at half a turn
        assert_allclose(sign * v, angle * axis, atol=1e-8 if angle < 3.1 else 1e-6)
