"""Rattleback: an ellipsoid that spins one way, begins to rattle, stops, and spins the other way.

Its long axis is not quite a principal axis of its inertia. The numbers are those of Kane and Levinson 1982, Realistic
mathematical modeling of the rattleback, International Journal of Non-Linear Mechanics 17.
"""

import mobod as mb

RADII = (0.2, 0.03, 0.02)
HEIGHT = 0.01  # of the ellipsoid's middle above the mass center
MASS = 1.0
MOMENTS = (2e-4, 16e-4, 17e-4)
PRODUCT = -2e-5  # of inertia, of the two level axes
SPIN = -5.0
TIME = 10.0  # that `mobod simulate rattleback` simulates


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it, spinning the way that it does not like."""
    system = mb.MultibodySystem("rattleback")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -9.81))
    mb.CompliantContactSubsystem(system, transition_velocity=1e-3)
    stuff = mb.contact.Material(stiffness=1e9, dissipation=0.5, static_friction=1.0)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), stuff, name="floor"))
    stone = mb.mobilizer.Free(matter.ground, make_stone(stuff), name="stone")
    state = system.realize_topology()
    stone.set_q_to_fit_transform(state, mb.Transform(mb.Rotation.about_axis(0.0087, "x"), (0, 0, RADII[2] - HEIGHT)))
    system.realize(state, mb.Stage.POSITION)
    stone.set_u_to_fit_angular_velocity(state, (0, 0, SPIN))
    return system, state


def make_stone(stuff: mb.contact.Material) -> mb.body.Body:
    """Make the stone, its mass center the body's origin."""
    stone = mb.body.Rigid(mb.MassProperties(MASS, (0, 0, 0), mb.Inertia(*MOMENTS, PRODUCT, 0.0, 0.0)))
    middle = mb.Transform((0, 0, HEIGHT))
    stone.add_decoration(mb.decoration.Ellipsoid(RADII, color="#557788"), middle)
    stone.add_contact_surface(mb.contact.Surface(mb.contact.Ellipsoid(RADII), stuff, draws=False), middle)
    return stone
