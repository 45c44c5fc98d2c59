"""Furuta's pendulum: a motor turns an arm about the vertical, and a pendulum on its end stands upright by what the arm does.

The arm of 0.3 m turns about a vertical axis; the pendulum of 0.1 kg and 0.4 m turns about the arm. The linear quadratic
regulator of the linear model about the upright pose gives the motor's torque as a function of the state, compiled into the
system. It begins with the pendulum leaning by 0.35 rad. Source: Furuta, Yamakita and Kobayashi 1992.
"""

import numpy as np

import mobod as mb

TIME = 6.0
ARM, PENDULUM = 0.3, 0.4


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it, with its feedback, the pendulum leaning."""
    system = mb.MultibodySystem("Furuta's pendulum")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0))
    along_x = mb.Rotation.about_axis(np.pi / 2, (0, 1, 0))
    upward = mb.Transform(mb.Rotation.about_axis(-np.pi / 2, (1, 0, 0)))  # z of this frame is the vertical
    rod = mb.body.Rigid(mb.MassProperties(0.2, (ARM / 2, 0, 0), mb.Inertia(1e-5, 6e-3, 6e-3)))
    rod.add_decoration(mb.decoration.Brick((ARM / 2, 0.012, 0.012), color="#4477aa"), mb.Transform((ARM / 2, 0, 0)))
    rod.add_decoration(mb.decoration.Cylinder(0.03, 0.05, color="#bbbbbb"), mb.Transform((0, -0.05, 0)))
    stick = mb.body.Rigid(mb.MassProperties(0.1, (0, 0, 0), mb.UnitInertia.cylinder_along_y(0.01, PENDULUM / 2)))
    stick.add_decoration(mb.decoration.Cylinder(0.01, PENDULUM / 2, color="#ee7733"))
    stick.add_decoration(mb.decoration.Sphere(0.025, color="#ee7733"), mb.Transform((0, PENDULUM / 2, 0)))
    arm = mb.mobilizer.Pin(matter.ground, rod, X_PF=upward, X_BM=upward, name="arm")
    pendulum = mb.mobilizer.Pin(
        arm,
        stick,
        X_PF=mb.Transform(along_x, (ARM, 0, 0)),
        X_BM=mb.Transform(along_x, (0, -PENDULUM / 2, 0)),  # upright at angle zero
        name="pendulum",
    )
    compiled = mb.force.CompiledFunctions(feedback, mobilizers=[arm, pendulum], parameters=[0.0, 0.0, 0.0, 0.0])
    regulator = mb.force.Custom(forces, compiled=compiled, name="regulator")

    state = system.realize_topology()
    system.realize(state)
    regulator.set_parameters(state, mb.lqr(system, state, [(arm, 0)], Q=[1.0, 10.0, 0.1, 0.1], R=1.0).K[0])
    pendulum.set_angle(state, 0.35)
    return system, state


def feedback(t, X, V, q, u, gains):  # type: ignore[no-untyped-def]
    """Torque on the arm, and none on the pendulum."""
    (arm,), (pendulum,) = q
    (arm_rate,), (pendulum_rate,) = u
    torque = gains[0] * arm + gains[1] * pendulum + gains[2] * arm_rate + gains[3] * pendulum_rate
    return (), ((-torque,), (0.0,))
