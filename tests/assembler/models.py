"""Models that the tests of assembly share."""

import numpy as np

import mobod as mb


def rigid():
    return mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))


def chain(kinds, length=1.0):
    """Bodies in a row, each hung on the last at (0, length, 0): system, bodies with Ground first."""
    system = mb.MultibodySystem()
    bodies = [mb.SimbodyMatterSubsystem(system).ground]
    for kind in kinds:
        bodies.append(kind(bodies[-1], rigid(), X_BM=mb.Transform((0, length, 0))))
    return system, bodies


def figure(rng):
    """A figure of ten bodies with quaternions, and three markers on each: system, bodies, markers."""
    system = mb.MultibodySystem()
    bodies = [mb.SimbodyMatterSubsystem(system).ground]
    kinds = [mb.mobilizer.Free, *[mb.mobilizer.Ball, mb.mobilizer.Pin, mb.mobilizer.Universal] * 3]
    for b, kind in enumerate(kinds):
        parent = bodies[max(0, b - b % 3) if b % 3 else min(b, 1)]
        bodies.append(kind(parent, rigid(), X_PF=mb.Transform(rng.uniform(-0.4, 0.4, 3)), X_BM=mb.Transform((0, 0.3, 0))))
    markers = mb.assembler.Markers()
    for body in bodies[1:]:
        for _ in range(3):
            markers.add_marker(None, body, rng.uniform(-0.3, 0.3, 3), rng.uniform(0.5, 1.5))
    return system, bodies, markers


def observed(system, state, markers):
    """Places of the markers at a state."""
    system.realize(state, mb.Stage.POSITION)
    return np.array(
        [
            system.matter.bodies[markers.get_marker_body(i).get_mobilized_body_index()].find_station_location_in_ground(
                state, markers.get_marker_station(i)
            )
            for i in range(markers.get_num_markers())
        ]
    )


def walk(system, state, rng, frames, step=0.02):
    """Move a state about smoothly, and copy it every frame."""
    phase, states = rng.uniform(0, 6, len(state.u)), []
    for i in range(frames):
        state.u = np.sin(0.1 * i + phase)
        system.realize(state, mb.Stage.VELOCITY)
        state.q = state.q + step * state.q_dot
        system.matter.normalize_quaternions(state)
        states.append(state.copy())
    return states
