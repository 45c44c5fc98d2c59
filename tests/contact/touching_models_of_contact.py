"""One body on a floor, under the ways in which contact can be simulated."""

import mobod as mb

G = 9.81
#: Stribeck's friction and bristles, with error control; stepped: of a material that gives way, rigid, by Python's steps.
METHODS = ["stribeck", "bristle", "stepped", "rigid", "dense"]


def scene(shape, method, *, mu=0.5, velocity=None, inertia=None, mass=2.0, **resistance):
    """A free body of *shape* on a half-space, which has the *velocity*; *resistance* is of the body's material.

    Returns the system, a state, the body, and the subsystem of contacts where there is one.
    """
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.UniformGravity(mb.GeneralForceSubsystem(system), matter, (0, 0, -G))
    rigid, contacts = method in ("rigid", "dense"), None
    if not rigid:
        friction = "bristle" if method == "bristle" else "stribeck"
        contacts = mb.CompliantContactSubsystem(system, friction=friction, transition_velocity=1e-3, transition_rate=1e-2)
    own, plain = (mb.contact.Material(1e7, 1.0, mu, **settings) for settings in (resistance, {}))
    floor = mb.contact.Surface(mb.contact.HalfSpace(), plain, velocity=velocity, name="floor")
    matter.ground.add_contact_surface(floor)
    inertia = mb.UnitInertia.sphere(0.1) if inertia is None else inertia
    body = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(mass, (0, 0, 0), inertia)), name="thing")
    body.add_contact_surface(mb.contact.Surface(shape, own, name="thing"))
    if method == "dense":  # a constraint is for Python's steps
        other = mb.mobilizer.Pin(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1))))
        mb.constraint.ConstantSpeed(other, 0, 0.0)
    if rigid:
        mb.contact.rigid(system, stepped=True)
    state = system.realize_topology()
    bottom = shape.bounds()[1][2]
    body.set_q_to_fit_translation(state, (0, 0, bottom - (0.0 if rigid else 3e-5)))
    return system, state, body, contacts


def integrator_of(system, method):
    if method in ("stribeck", "bristle"):
        return mb.integrator.RungeKuttaMerson(system, accuracy=1e-5)
    return mb.integrator.TimeStepping(system, fixed_step_size=2e-3)
