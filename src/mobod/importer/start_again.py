"""A state anew, after its system has changed."""

from __future__ import annotations

from ..state.state import State
from ..system.system import MultibodySystem


def start_again(system: MultibodySystem, state: State, euler: bool) -> State:
    """A state of a system that has changed, with the time, q, u and z of one of it as it was."""
    matter, new = system.get_matter_subsystem(), system.realize_topology()
    if euler != matter.get_use_euler_angles(new):
        matter.set_use_euler_angles(new, euler)
        system.realize_model(new)
    new.time = state.time
    new.q, new.u, new.z = state.q, state.u, state.z
    return new
