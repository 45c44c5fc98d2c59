"""Tippe top: a sphere whose mass center is off its middle spins, turns over, and spins on its head.

The friction of the sliding contact does it; it also takes energy, while the mass center rises. What it cannot change is
Jellett's constant, L . r: the angular momentum about the mass center along the line from there to the contact. A top turns over
completely if it spins fast enough and 1 - e < A/C < 1 + e, with A and C its moments of inertia across and along its axis, and e
the distance of the mass center from the middle over the radius (Ebenfeld and Scheck 1995).
"""

import mobod as mb

RADIUS = 0.02
MASS = 0.015
OFFSET = 0.3 * RADIUS  # of the mass center, below the middle
INERTIA = 0.4 * MASS * RADIUS**2  # about all axes
SPIN = 180.0
TILT = 0.1  # at first
FRICTION = 0.3
TIME = 6.0  # that `mobod simulate tippe_top` simulates


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it, spinning about its axis, which leans a little."""
    system = mb.MultibodySystem("tippe_top")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -9.81))
    mb.CompliantContactSubsystem(system, transition_velocity=0.005)
    stuff = mb.contact.Material(stiffness=1e6, dissipation=2.0, static_friction=FRICTION)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), stuff, name="floor"))
    top = mb.mobilizer.Free(matter.ground, make_top(stuff), name="top")
    state = system.realize_topology()
    lean = mb.Rotation.about_axis(TILT, "x")
    top.set_q_to_fit_transform(state, mb.Transform(lean, (0, 0, 0.995 * RADIUS)))
    system.realize(state, mb.Stage.POSITION)
    axis = lean @ (0, 0, 1)
    top.set_u_to_fit_angular_velocity(state, [SPIN * x for x in axis])
    return system, state


def make_top(stuff: mb.contact.Material) -> mb.body.Body:
    """Make the top: a sphere about the body's origin, two rings painted round its head."""
    central = mb.Inertia(INERTIA, INERTIA, INERTIA)
    com = (0.0, 0.0, -OFFSET)
    inertia = central.shift_from_centroid(com, MASS)
    top = mb.body.Rigid(mb.MassProperties(MASS, com, inertia))
    top.add_decoration(mb.decoration.Sphere(RADIUS, color="#cc9944"))
    for wide in (0.3, 0.6):
        place = mb.Transform((0, 0, RADIUS * (1.0 - wide**2) ** 0.5))
        top.add_decoration(mb.decoration.Circle(wide * RADIUS, color="#772211", line_width=2.0), place)
    top.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(RADIUS), stuff, draws=False))
    return top


def calc_tilt_and_jellett(state: mb.State) -> tuple[float, float]:
    """Calculate the cosine of the axis's angle to the vertical, and Jellett's constant; the state is at VELOCITY."""
    top = state.system.matter.bodies["top"]
    rotation = top.get_body_rotation(state)
    axis = rotation @ (0, 0, 1)
    spin = INERTIA * top.get_body_angular_velocity(state)
    # from the mass center to the lowest point
    arm = OFFSET * axis - (0, 0, RADIUS)
    return float(axis[2]), float(-spin @ arm)
