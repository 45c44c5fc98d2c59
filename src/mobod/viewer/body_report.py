"""Reports of a page on a body, and on the errors of constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..algebra.arrays import Array
from ..shapes.mechanism import find_matter
from ..value.stage import Stage

if TYPE_CHECKING:
    from ..state.state import State
    from ..system.system import MultibodySystem

_MOST = 12  # constraints that are listed


def describe_body(system: MultibodySystem, state: State, body: int) -> str:
    """Name, mass, mobilizer and forces of a body at a state, as Markdown."""
    matter = find_matter(system)
    mobod = matter.bodies[body]
    if mobod.is_ground():
        return "**Ground**"
    system.realize(state, Stage.ACCELERATION)
    properties = mobod.get_body_mass_properties(state)
    parent = mobod.get_parent_mobilized_body()
    rows = [
        ("body", f"{body}, on {_escaped(parent.name)}"),
        ("mass", f"{properties.mass:.4g}"),
        ("mass center", _vector(properties.com)),
        ("mobilizer", type(mobod).__name__ + (f", joint {_escaped(mobod.joint_name)}" if mobod.joint_name else "")),
        ("q", _vector(np.atleast_1d(mobod.get_q(state)))),
        ("u", _vector(np.atleast_1d(mobod.get_u(state)))),
    ]
    torque, force = matter.calc_mobilizer_reaction_forces(state)[body]
    rows += [("reaction force", _vector(force)), ("reaction torque", _vector(torque))]
    torque, force = np.asarray(system.get_rigid_body_forces(state))[body]
    rows += [("applied force", _vector(force)), ("applied torque", _vector(torque))]
    table = "\n".join(f"| {name} | {value} |" for name, value in rows)
    return f"**{_escaped(mobod.name)}**\n\n| | |\n|---|---|\n{table}\n\nForces are in Ground, the reaction's at frame M."


def describe_constraints(system: MultibodySystem, state: State) -> str:
    """The largest error of each constraint's equations of position and velocity, the worst first."""
    system.realize(state, Stage.VELOCITY)
    matter = find_matter(system)
    rows = []
    for i in range(matter.get_num_constraints()):
        constraint = matter.get_constraint(i)
        if constraint.is_disabled(state):
            continue
        errors = [
            np.abs(np.asarray(read(state), dtype=np.float64)).max(initial=0.0)
            for read in (constraint.get_position_errors_as_vector, constraint.get_velocity_errors_as_vector)
        ]
        rows.append((_escaped(constraint.name or type(constraint).__name__), float(errors[0]), float(errors[1])))
    if not rows:
        return "no constraints"
    rows.sort(key=lambda row: -max(row[1:]))
    table = "\n".join(f"| {name} | {p:.1e} | {v:.1e} |" for name, p, v in rows[:_MOST])
    more = f"\n\n{len(rows) - _MOST} more, with smaller errors" if len(rows) > _MOST else ""
    return f"| | position | velocity |\n|---|---|---|\n{table}{more}"


def _vector(values: Array) -> str:
    return ", ".join(f"{value:.4g}" for value in np.asarray(values, dtype=np.float64))


def _escaped(text: str) -> str:
    """A name with nothing in it that Markdown understands."""
    return "".join(f"\\{letter}" if letter in r"\`*_{}[]<>()#+-.!|~" else letter for letter in text)
