"""Cart and pole: a cart balances a pole, by the feedback that is best for the linear model of both.

The pole of 0.3 kg and 1 m stands on a cart of 1 kg. The linear model about the upright pose, `mb.linearize`, has one
unstable eigenvalue; the linear quadratic regulator, `mb.lqr`, gives the force on the cart as a function of the state, which is
compiled into the system. It begins with the pole leaning by 0.4 rad.
"""

import mobod as mb

LENGTH = 1.0


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it, with its feedback, the pole leaning."""
    system = mb.MultibodySystem("cart and pole")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0))
    box = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.brick((0.2, 0.1, 0.1))))
    box.add_decoration(mb.decoration.Brick((0.2, 0.1, 0.1), color="#4477aa"))
    rod = mb.body.Rigid(mb.MassProperties(0.3, (0, 0, 0), mb.UnitInertia.cylinder_along_y(0.02, LENGTH / 2)))
    rod.add_decoration(mb.decoration.Cylinder(0.02, LENGTH / 2, color="#ee7733"))
    cart = mb.mobilizer.Slider(matter.ground, box, name="cart")
    pole = mb.mobilizer.Pin(cart, rod, X_BM=mb.Transform((0, -LENGTH / 2, 0)), name="pole")  # upright at angle zero
    compiled = mb.force.CompiledFunctions(feedback, mobilizers=[cart, pole], parameters=[0.0, 0.0, 0.0, 0.0])
    regulator = mb.force.Custom(forces, compiled=compiled, name="regulator")

    state = system.realize_topology()
    system.realize(state)
    regulator.set_parameters(state, mb.lqr(system, state, [(cart, 0)], Q=1.0, R=1.0).K[0])
    pole.set_angle(state, 0.4)
    return system, state


def feedback(t, X, V, q, u, gains):  # type: ignore[no-untyped-def]
    """Force on the cart, and no torque on the pole."""
    (x,), (angle,) = q
    (v,), (rate,) = u
    return (), ((-(gains[0] * x + gains[1] * angle + gains[2] * v + gains[3] * rate),), (0.0,))
