"""Bricard: a ring of six hinged links that should be rigid, and turns itself inside out.

Six hinges in a closed ring meet six equations: by counting, nothing moves. Bricard found in 1897 rings that do; here all links
are of one length, and each hinge is perpendicular to the one before, to the left and to the right in turn. One equation then
says what the others say already, whatever the position. `system.diagnose_constraints(state)` finds it; the load is shared.

The links are a chain on pins, and the last is welded to Ground. There is no gravity: the ring turns for ever.
"""

import math

import mobod as mb

LENGTH = 1.0  # of a link, perpendicular to the hinges at both ends
MASS = 1.0
RADIUS = 0.07
SPIN = 1.5  # of the first hinge at the start
QUARTER = math.pi / 2
COLORS = ("#4477aa", "#66ccee", "#228833", "#ccbb44", "#ee6677", "#aa3377")
TIME = 8.0  # that `mobod simulate bricard` simulates


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it, assembled, every hinge at a right angle, and turning."""
    system = mb.MultibodySystem("Bricard")
    matter = mb.SimbodyMatterSubsystem(system)
    matter.set_show_default_geometry(False)

    first = mb.mobilizer.Pin(matter.ground, make_link(COLORS[0]), name="link1")
    parent, place = first, mb.Transform(mb.Rotation.about_axis(QUARTER, "x"), (LENGTH, 0, 0))
    for number, color in enumerate(COLORS[1:], start=1):
        parent = mb.mobilizer.Pin(parent, make_link(color), X_PF=place, name=f"link{number + 1}")
        place = mb.Transform(mb.Rotation.about_axis(QUARTER * (-1) ** number, "x"), (LENGTH, 0, 0))  # the next hinge
    mb.constraint.Weld(matter.ground, mb.Transform(), parent, place, name="ring")

    state = system.realize_topology()
    state.q = [QUARTER] * 6
    first.set_rate(state, SPIN)
    first.lock(state, "velocity")  # the others' speeds follow from it
    system.project(state, 1e-12)
    first.unlock(state)
    return system, state


def make_link(color: str) -> mb.body.Rigid:
    """Make a link along x, with its hinge along z at the origin."""
    middle = (LENGTH / 2, 0, 0)
    inertia = mb.UnitInertia.cylinder_along_x(RADIUS, LENGTH / 2).shift_from_centroid(middle)
    link = mb.body.Rigid(mb.MassProperties(MASS, middle, inertia))
    along = mb.Rotation.about_axis(QUARTER, "z")  # cylinders are along y
    link.add_decoration(mb.decoration.Cylinder(RADIUS, LENGTH / 2 - RADIUS, color=color), mb.Transform(along, middle))
    across = mb.Rotation.about_axis(QUARTER, "x")
    link.add_decoration(mb.decoration.Cylinder(0.9 * RADIUS, 2.5 * RADIUS, color="#555555"), mb.Transform(across))
    return link
