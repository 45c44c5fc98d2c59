"""Tumbling handle: a T-shaped handle spins freely in space and turns over again and again.

The handle of a screw, spun about its stem. The moment of inertia about the stem is the middle one of three, about which
no rotation is stable: the handle keeps spinning, turns over, spins, and turns over again (Dzhanibekov's effect,
the tennis racket's). There is no gravity and no other force.
"""

import mobod as mb

DENSITY = 1.0
RADIUS = 0.12
BAR = 1.2  # half of the length of the bar, along x
STEM = 0.5  # half of the length of the stem, along -y from the middle of the bar
SPIN = (0.02, 4.0, 0.02)
TIME = 15.0  # that `mobod simulate tumbling_handle` simulates


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it, spinning about its stem, very nearly."""
    system = mb.MultibodySystem("tumbling handle")
    matter = mb.SimbodyMatterSubsystem(system)
    handle = mb.mobilizer.Free(matter.ground, make_handle(), name="handle")
    state = system.realize_topology()
    handle.set_u(state, [*SPIN, 0, 0, 0])
    return system, state


def make_handle() -> mb.body.Rigid:
    """Make a bar and a stem of one body, its origin at the mass center of both."""
    area = 3.14159265 * RADIUS**2
    bar_mass, stem_mass = DENSITY * area * 2 * BAR, DENSITY * area * 2 * STEM
    mass = bar_mass + stem_mass
    height = stem_mass * STEM / mass  # of the bar above the mass center
    p_bar, p_stem = (0, height, 0), (0, height - STEM, 0)
    bar = bar_mass * mb.UnitInertia.cylinder_along_x(RADIUS, BAR).shift_from_centroid(p_bar)
    stem = stem_mass * mb.UnitInertia.cylinder_along_y(RADIUS, STEM).shift_from_centroid(p_stem)

    body = mb.body.Rigid(mb.MassProperties(mass, (0, 0, 0), bar + stem))
    across = mb.Transform(mb.Rotation.about_axis(1.57079633, "z"), p_bar)
    body.add_decoration(mb.decoration.Cylinder(RADIUS, BAR, color="#4477aa"), across)
    body.add_decoration(mb.decoration.Cylinder(0.8 * RADIUS, STEM, color="#ee7733"), mb.Transform(p_stem))
    foot = mb.decoration.Cylinder(1.3 * RADIUS, 0.05, color="#ee7733")
    body.add_decoration(foot, mb.Transform((0, height - 2 * STEM, 0)))
    return body
