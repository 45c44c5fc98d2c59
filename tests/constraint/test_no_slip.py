"""NoSlip1D between bodies that turn in three dimensions, at a point that is fixed to neither."""

import numpy as np

import mobod as mb


def test_runs_do_not_depend_on_the_step():
    """Two pendulums on balls: errors fall by eight when steps are halved, and nothing comes to slip."""
    system = mb.MultibodySystem("two pendulums")
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -9.8, 0))
    bob = mb.body.Rigid(mb.MassProperties(1.3, (0.1, 0.1, 0.2), mb.Inertia(0.5, 0.6, 0.7, 0.01, 0.02, 0.03)))
    left = mb.mobilizer.Ball(matter.ground, bob, X_BM=mb.Transform((0, 0.5, 0)))
    right = mb.mobilizer.Ball(matter.ground, bob, X_PF=mb.Transform((1, 0, 0)), X_BM=mb.Transform((0, 0.5, 0)))
    mb.constraint.NoSlip1D(matter.ground, (0.4, 0, 0), (0, 1, 0), left, right)
    state = system.realize_topology()
    state.u = np.linspace(0.5, 1.5, 6)
    system.project(state, 1e-13)
    ends = []
    for h in (0.02, 0.01, 0.005):
        method = mb.integrator.RungeKutta3(system, fixed_step_size=h, constraint_tolerance=1e-3)  # hardly ever projected
        ends.append(mb.simulate(system, state, 0.5, integrator=method, report_interval=0.5))
    y = [np.concatenate([end.q[-1], end.u[-1]]) for end in ends]
    first, second = np.abs(y[1] - y[0]).max(), np.abs(y[2] - y[1]).max()
    assert second < 1e-5 and 6.0 < first / second < 10.0  # by material points alone 2 and 2e-3
    last = ends[-1].states[-1]
    system.realize(last, mb.Stage.VELOCITY)
    assert abs(last.u_err[0]) < 1e-5  # 0.76 in Simbody 3.7
