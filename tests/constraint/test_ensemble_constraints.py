"""An Ensemble of a constrained system: every state as it is alone."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from mobod import Stage, constraint as con, function as fn

N = 11


class Inert(mb.force.CustomImplementation):
    """Makes a system one that Python takes part in."""

    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        body_forces[1:, 1, 0] += 0.3


def build(kind):
    """A loop with a free body on it, a coupler, a prescribed coordinate."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0.0, -9.8, 0.3))
    link = mb.body.Rigid(mb.MassProperties(1.2, (0.1, -0.5, 0.2), mb.UnitInertia(1.3, 1.2, 1.5)))
    arm = mb.Transform((0, -1, 0))
    a = mb.mobilizer.Pin(matter.ground, link, name="a")
    b = mb.mobilizer.Ball(a, link, X_PF=arm, name="b")
    c = mb.mobilizer.Universal(b, link, X_PF=arm, name="c")
    d = mb.mobilizer.Free(matter.ground, link, name="d")
    e = mb.mobilizer.Slider(matter.ground, link, name="e")
    con.Ball(c, (0, -1, 0), d, (0.2, 0, 0))
    con.PrescribedMotion(matter, fn.Sinusoid(0.4, 1.3, 0.2), a, 0)
    con.CoordinateCoupler(matter, fn.Linear([1.0, 0.5, 0.0]), [c, e], [0, 0])
    con.SpeedCoupler(matter, fn.Linear([0.5, -1.0, 0.2]), [b, d], [1, 3])
    con.ConstantSpeed(e, 0, 0.2, disabled_by_default=True)
    if kind == "custom":
        mb.force.Custom(forces, Inert())
    if kind == "driven":
        mb.motion.Sinusoid(e, mb.Motion.Level.POSITION, 0.1, 2.0, 0.3)
    state = system.realize_topology()
    return system, matter.convert_to_euler_angles(state) if kind == "angles" else state


@pytest.mark.parametrize("kind", ["compiled", "custom", "driven", "angles"])
def test_errors_multipliers_and_projections_are_those_of_each_state(kind, rng, close):
    system, state = build(kind)
    ensemble = mb.Ensemble(system, N, state=state, threads=2 if kind == "compiled" else 1)
    ensemble.time = np.linspace(0.0, 1.0, N)
    ensemble.q = state.q + rng.uniform(-0.4, 0.4, (N, len(state.q)))
    ensemble.u = rng.uniform(-1.0, 1.0, (N, len(state.u)))
    ensemble.realize()
    states = [ensemble.get_state(i) for i in range(N)]
    for one in states:
        system.realize(one)
    for name in ("q_err", "u_err", "multipliers", "u_dot"):
        # sums of a few products; multipliers by a factorization of a matrix whose condition is some thousands
        close(getattr(ensemble, name), [getattr(one, name) for one in states], 1e-10)
    reached = ensemble.project(1e-9)
    assert ensemble.stage <= Stage.INSTANCE
    alone = []
    for one in states:
        try:
            system.project(one, 1e-9)
            alone.append(True)
        except mb.ConvergenceError:
            alone.append(False)
    assert reached.tolist() == alone and sum(alone) > N // 2
    assert_allclose(ensemble.q, [one.q for one in states], atol=1e-8)
    assert_allclose(ensemble.u, [one.u for one in states], atol=1e-8)
    ensemble.realize()
    assert np.abs(ensemble.q_err[reached]).max() <= 1e-9
    assert np.abs(ensemble.u_err[reached]).max() <= 1e-9


def test_a_state_that_is_not_finite_and_one_that_is_done_stop_no_other(rng):
    system, state = build("compiled")
    assert system.project(state, 1e-10)
    ensemble = mb.Ensemble(system, N, state=state)
    q = np.repeat(state.q[None], N, axis=0)
    far = np.arange(N) % 3 == 1
    q[far] += rng.uniform(-0.2, 0.2, (far.sum(), q.shape[1]))
    q[2, 0] = np.nan
    ensemble.q, ensemble.u = q, np.repeat(state.u[None], N, axis=0)
    reached = ensemble.project(1e-8)
    assert not reached[2] and reached[0] and reached[far].all()
    assert np.isnan(ensemble.q[2, 0])
    done = ~far & (np.arange(N) != 2)
    assert_allclose(ensemble.q[done], q[done], atol=1e-15)  # quaternions may be normalized once more, and nothing else
    ensemble.realize(Stage.POSITION)
    assert np.abs(ensemble.q_err[reached]).max() <= 1e-8


def test_parameters_of_each_state(rng, close):
    system, state = build("compiled")
    e = system.matter.get_constraint(4)
    e.enable(state)
    ensemble = mb.Ensemble(system, N, state=state)
    values = rng.uniform(-1.0, 1.0, N)
    ensemble.set_each(e.set_speed, values)
    ensemble.q = state.q + rng.uniform(-0.2, 0.2, (N, len(state.q)))
    ensemble.realize()
    states = [ensemble.get_state(i) for i in range(N)]
    for one, value in zip(states, values, strict=True):
        system.realize(one)
        assert e.get_speed(one) == value
    close(ensemble.multipliers, [one.multipliers for one in states], 1e-10)
    close(ensemble.u_err, [one.u_err for one in states], 1e-12)
    assert ensemble.project(1e-9).all()
    assert_allclose(ensemble.u[:, -1], values, atol=1e-9)


def test_what_cannot_be():
    system, state = build("compiled")
    ensemble = mb.Ensemble(system, 3, state=state)
    with pytest.raises(ValueError, match="accuracy has to be positive, got 0"):
        ensemble.project(0.0)
    for name in ("q_err", "u_err", "multipliers"):
        with pytest.raises(mb.StageError, match=f"{name} needs Stage"):
            getattr(ensemble, name)
    con.ConstantSpeed(system.matter.bodies[1], 0, 0.0)
    with pytest.raises(mb.TopologyError):
        ensemble.project()


def test_without_constraints_quaternions_are_normalized():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.mobilizer.Ball(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(1.0))))
    ensemble = mb.Ensemble(system, 2)
    ensemble.q = [[2.0, 0, 0, 0], [0, 3.0, 0, 4.0]]
    ensemble.realize(Stage.VELOCITY)
    assert_allclose(ensemble.q_err, [[1.0], [4.0]])
    assert ensemble.u_err.shape == (2, 0)
    assert ensemble.project().all()
    assert_allclose(ensemble.q, [[1.0, 0, 0, 0], [0, 0.6, 0, 0.8]])


def test_each_state_is_assembled_as_it_would_be_alone():
    """Whatever it starts from; what cannot be assembled stays and is told."""
    system, state = mb.examples.four_bar.build()
    ensemble = mb.Ensemble(system, 6, state=state)
    rng = np.random.default_rng(2)
    ensemble.upd_q()[...] += rng.uniform(-0.6, 0.6, ensemble.q.shape)
    ensemble.upd_q()[4] = np.nan
    alone = [ensemble.get_state(i) for i in range(6)]
    assembler = mb.Assembler(system)
    assembler.set_error_tolerance(1e-9)
    goals = ensemble.assemble(assembler)
    assert ensemble.stage <= Stage.TIME and np.flatnonzero(np.isnan(goals)).tolist() == [4]
    for i in (0, 1, 2, 3, 5):
        assert assembler.assemble(alone[i]) == goals[i]
        assert np.array_equal(alone[i].q, ensemble.q[i])
    ensemble.realize(Stage.POSITION)
    assert np.abs(np.delete(ensemble.q_err, 4, axis=0)).max() < 1e-9
    with pytest.raises(ValueError, match="assembler is of another system"):
        ensemble.assemble(mb.Assembler(mb.examples.four_bar.build()[0]))
    with pytest.raises(TypeError, match="has to be an Assembler, not 'x'"):
        ensemble.assemble("x")


def test_a_mechanism_that_cannot_close_is_told():
    system, state = mb.examples.four_bar.build()
    ensemble = mb.Ensemble(system, 3, state=state)
    assembler = mb.Assembler(system)
    for body in system.matter.bodies[1:]:
        assembler.lock_mobilizer(body)
    ensemble.upd_q()[:2] += 0.3
    before = ensemble.q.copy()
    goals = ensemble.assemble(assembler)
    assert np.isnan(goals).tolist() == [True, True, False] and np.array_equal(ensemble.q, before)
