"""Reports of a page on a body, and on the errors of constraints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..shapes.coordinate_kinds import kinds_of_q, kinds_of_u, unit_of
from ..state.state import State
from ..system.system import MultibodySystem
from ..value.stage import Stage

_MOST = 12  # constraints that are listed


def describe_body(system: MultibodySystem, state: State, body: int, units: Sequence[str] | None = None) -> str:
    """Name, mass, mobilizer and forces of a body at a state, as Markdown; with units, where these are given."""

    def vector(values: Array, *kinds: str) -> str:
        return _vector(values, [unit_of(kind, units) if kind and units else "" for kind in kinds])

    matter = system.get_matter_subsystem()
    mobod = matter.bodies[body]
    if mobod.is_ground():
        return "**Ground**"
    system.realize(state, Stage.ACCELERATION)
    properties = mobod.get_body_mass_properties(state)
    parent = mobod.get_parent_mobilized_body()
    rows = [
        ("body", f"{body}, on {_escaped(parent.name)}"),
        ("mass", _vector([properties.mass], units[:1] if units else [])),
        ("mass center", vector(properties.com, "length")),
        ("mobilizer", type(mobod).__name__ + (f", joint {_escaped(mobod.joint_name)}" if mobod.joint_name else "")),
        ("q", vector(np.atleast_1d(mobod.get_q(state)), *kinds_of_q(mobod, state))),
        ("u", vector(np.atleast_1d(mobod.get_u(state)), *kinds_of_u(mobod, state))),
    ]
    torque, force = matter.calc_mobilizer_reaction_forces(state)[body]
    rows += [("reaction force", vector(force, "force")), ("reaction torque", vector(torque, "moment"))]
    torque, force = np.asarray(system.get_rigid_body_forces(state))[body]
    rows += [("applied force", vector(force, "force")), ("applied torque", vector(torque, "moment"))]
    table = "\n".join(f"| {name} | {value} |" for name, value in rows)
    return f"**{_escaped(mobod.name)}**\n\n| | |\n|---|---|\n{table}\n\nForces are in Ground, the reaction's at frame M."


def describe_constraints(system: MultibodySystem, state: State) -> str:
    """The largest error of each constraint's equations of position and velocity, the worst first."""
    system.realize(state, Stage.VELOCITY)
    matter = system.get_matter_subsystem()
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


def _vector(values: Any, units: Sequence[str]) -> str:
    """Numbers, each with its unit; behind them the one that all have."""
    numbers = [f"{value:.4g}" for value in np.asarray(values, dtype=np.float64)]
    if len(set(units)) > 1:
        return ", ".join(f"{number} {_escaped(unit)}".strip() for number, unit in zip(numbers, units, strict=True))
    return f"{', '.join(numbers)} {_escaped(''.join(units[:1]))}".strip()


def _escaped(text: str) -> str:
    """A name with nothing in it that Markdown understands."""
    return "".join(f"\\{letter}" if letter in r"\`*_{}[]<>()#+-.!|~" else letter for letter in text)
