"""Constraints of other kinds assemble too, from random configurations."""

import numpy as np
import pytest

import mobod as mb
from kinds.constraints import CONSTRAINTS
from models import chain, rigid

C, BALL, PIN = mb.constraint, mb.mobilizer.Ball, mb.mobilizer.Pin


@pytest.mark.parametrize("record", [r for r in CONSTRAINTS.values() if r.reachable], ids=lambda r: r.kind.__name__)
def test_a_chain_assembles(record, make):
    system, bodies = chain([BALL, PIN, BALL])
    record.reachable(bodies)
    state, assembler = system.realize_topology(), mb.Assembler(system)
    for _ in range(20):
        bodies[1].set_q_to_fit_rotation(state, make.rotation())
        bodies[3].set_q_to_fit_rotation(state, make.rotation())
        bodies[2].set_q_from_vector(state, make.vector(1, 3.0))
        assembler.assemble(state)
        system.realize(state, mb.Stage.POSITION)
        assert np.abs(state.q_err).max() < 1e-8


def test_between_coordinates(rng):
    """A coupler, a fixed coordinate and a loop at once, with one constraint of velocities, which assembly leaves alone."""
    system, bodies = chain([PIN] * 5)
    matter = system.matter
    C.CoordinateCoupler(matter, mb.function.Linear([1.0, -0.5, 0.0]), [bodies[1], bodies[2]], [0, 0])
    C.ConstantCoordinate(bodies[3], 0, 0.4)
    C.ConstantSpeed(bodies[5], 0, 1.0)
    C.Rod(bodies[0], (1.0, -2.0, 0.0), bodies[5], (0, 0, 0), 1.0)
    state, assembler = system.realize_topology(), mb.Assembler(system)
    for _ in range(20):
        state.q = rng.uniform(-2, 2, 5)
        assembler.assemble(state)
        system.realize(state, mb.Stage.POSITION)
        assert np.abs(state.q_err).max() < 1e-8
        assert abs(state.q[0] - 0.5 * state.q[1]) < 1e-8 and abs(state.q[2] - 0.4) < 1e-8


def test_angles_that_start_where_they_are_stationary():
    """Axes that are parallel do not say which way to turn: another start does."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    body = BALL(matter.ground, rigid())
    C.ConstantAngle(matter.ground, (0, 0, 1), body, (0, 0, 1), 1.0)
    state = system.realize_topology()
    mb.Assembler(system).assemble(state)
    system.realize(state, mb.Stage.POSITION)
    assert abs(state.q_err[0]) < 1e-8


def test_disabled_constraints_do_not_count():
    system, bodies = chain([PIN])
    far = C.Rod(bodies[0], (5, 0, 0), bodies[1], (0, 0, 0), 1.0)
    state = system.realize_topology()
    far.disable(state)
    assert mb.Assembler(system).assemble(state) == 0.0
    far.enable(state)
    with pytest.raises(mb.ConvergenceError):
        mb.Assembler(system).assemble(state)
