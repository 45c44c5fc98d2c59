"""Marker tracking: an arm draws a figure of eight, followed by noisy markers on its skin.

As in a gait laboratory: cameras tell where small balls on the skin are, a hundred times a second and to a few millimeters, and
now and then lose one. The angles of shoulder, elbow and wrist are what is wanted. `record` stands in for the cameras, `track`
finds the angles, and `build` puts the arm where one frame was, with all that was seen of the hand as a trail of dots.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import mobod as mb

Array = npt.NDArray[np.float64]

SHOULDER = (0.0, 1.4, 0.0)
UPPER, FORE, HAND = 0.30, 0.26, 0.16  # lengths, meters
NOISE = 0.003  # of each coordinate of a marker, meters
LOST = 0.02  # part of the observations that are missing
RATE, FRAMES = 100.0, 300
SHOWN = 60  # the frame in which `build` puts the arm
TIME = 2.0  # that `mobod simulate marker_tracking` lets it fall

#: Where markers are: body, along its length, forward, to the side.
MARKERS = [
    *(("upper arm", s, x, z) for s, x, z in [(0.06, 0.05, 0.02), (0.14, -0.02, 0.06), (0.20, 0.05, -0.03), (0.29, 0.0, 0.05)]),
    *(("forearm", s, x, z) for s, x, z in [(0.08, 0.04, 0.01), (0.16, -0.01, 0.04), (0.25, 0.02, -0.03), (0.25, 0.02, 0.03)]),
    *(("hand", s, x, z) for s, x, z in [(0.08, 0.02, -0.035), (0.08, 0.02, 0.035), (0.15, 0.015, 0.0)]),
]


def make_arm() -> mb.MultibodySystem:
    """Make the arm: a ball for the shoulder, a pin for the elbow, two angles for the wrist; x is forward, z to the right."""
    system = mb.MultibodySystem("marker tracking")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0))
    trunk = mb.decoration.Brick((0.09, 0.27, 0.16), color="#ccbbaa")
    matter.ground.add_body_decoration(trunk, mb.Transform((-0.02, SHOULDER[1] - 0.22, -0.24)))
    upper = mb.mobilizer.Ball(
        matter.ground, make_segment(2.0, UPPER, 0.045, "#4477aa"), X_PF=mb.Transform(SHOULDER), name="upper arm"
    )
    fore = mb.mobilizer.Pin(upper, make_segment(1.3, FORE, 0.035, "#4477aa"), X_PF=mb.Transform((0, -UPPER, 0)), name="forearm")
    mb.mobilizer.Universal(fore, make_segment(0.5, HAND, 0.028, "#4477aa"), X_PF=mb.Transform((0, -FORE, 0)), name="hand")
    for name, along, forward, side in MARKERS:
        skin = mb.decoration.Sphere(0.009, color="#222222")
        matter.bodies[name].add_body_decoration(skin, mb.Transform((forward, -along, side)))
    return system


def make_segment(mass: float, length: float, radius: float, color: str) -> mb.body.Rigid:
    """Make a part of the arm, which hangs down from its joint."""
    middle = (0, -length / 2, 0)
    inertia = mb.UnitInertia.cylinder_along_y(radius, length / 2).shift_from_centroid(middle)
    segment = mb.body.Rigid(mb.MassProperties(mass, middle, inertia))
    segment.add_decoration(mb.decoration.Cylinder(radius * 0.8, length / 2, color=color), mb.Transform(middle))
    segment.add_decoration(mb.decoration.Sphere(radius, color=color))
    return segment


def make_assembler(system: mb.MultibodySystem) -> tuple[mb.Assembler, mb.assembler.Markers]:
    """Make what finds the angles: the markers are its goal, and the elbow bends one way."""
    assembler, markers = mb.Assembler(system), mb.assembler.Markers()
    for i, (name, along, forward, side) in enumerate(MARKERS):
        markers.add_marker(f"{name} {i}", name, (forward, -along, side))
    assembler.adopt_assembly_goal(markers)
    assembler.restrict_q("forearm", 0, 0.0, 2.6)
    return assembler, markers


def move(system: mb.MultibodySystem, state: mb.State, time: float) -> None:
    """Give the state the true angles at a time: the hand draws an eight in the air."""
    bodies, w = system.get_matter_subsystem().bodies, 2.0 * np.pi / 3.0
    raised = mb.Rotation.from_body_fixed_xyz((0.45 * np.sin(w * time), 0.2, 0.75 + 0.3 * np.sin(2.0 * w * time)))
    bodies["upper arm"].set_q_to_fit_rotation(state, raised)
    bodies["forearm"].set_q_from_vector(state, [1.1 + 0.25 * np.sin(2.0 * w * time + 0.3)])
    bodies["hand"].set_q_from_vector(state, [0.3 * np.sin(w * time), 0.2 * np.cos(w * time)])


def record(system: mb.MultibodySystem, frames: int = FRAMES, seed: int = 1) -> tuple[Array, Array]:
    """Record what the cameras see ``(frames, markers, 3)``, NaN where a marker is lost, and the true q ``(frames, nq)``."""
    random, state = np.random.default_rng(seed), system.realize_topology()
    bodies = system.get_matter_subsystem().bodies
    seen, truth = np.empty((frames, len(MARKERS), 3)), np.empty((frames, len(state.q)))
    for i in range(frames):
        move(system, state, i / RATE)
        system.realize(state, mb.Stage.POSITION)
        truth[i] = state.q
        for k, (name, along, forward, side) in enumerate(MARKERS):
            seen[i, k] = bodies[name].find_station_location_in_ground(state, (forward, -along, side))
    seen += NOISE * random.normal(size=seen.shape)
    seen[random.random(seen.shape[:2]) < LOST] = np.nan
    return seen, truth


def track(system: mb.MultibodySystem, seen: Array) -> Array:
    """Find q of each frame ``(frames, nq)``."""
    assembler, _ = make_assembler(system)
    return assembler.track_frames(seen)


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build the arm as one frame of the recording has it, with what was seen of the hand as dots."""
    seen, _ = record(make_arm())
    system = make_arm()
    ground = system.get_matter_subsystem().ground
    for i in range(0, len(seen), 3):
        for k in range(len(MARKERS)):
            if np.isfinite(seen[i, k]).all() and (k == len(MARKERS) - 1 or i == SHOWN):
                dot = mb.decoration.Sphere(0.005 if i != SHOWN else 0.011, color="#ee7733")
                ground.add_body_decoration(dot, mb.Transform(seen[i, k]))
    state = system.realize_topology()
    state.q = track(system, seen[: SHOWN + 1])[-1]
    return system, state
