"""Names of a state's numbers: of each q, u and z. The tree keeps them: with thirty bodies they took a sixth of a short run."""

from __future__ import annotations

from collections.abc import Callable

from ..state.state import State
from ..system.system import MultibodySystem

#: What parts are called, bodies or forces, and how many numbers each has.
_Owners = list[tuple[str, int]]


def coordinate_names(system: MultibodySystem, state: State) -> list[str]:
    """A name for each q of *state*: the file's, else that of the joint or body, ``name[i]`` where it has several.

    Those of other subsystems come last, with the subsystem's name. A name that is taken has an underscore more.
    """
    return _names(system, state, "q", lambda: _of_bodies(system, state.tree.num_q))


def speed_names(system: MultibodySystem, state: State) -> list[str]:
    """A name for each u of *state*, as `coordinate_names`."""
    return _names(system, state, "u", lambda: _of_bodies(system, state.tree.num_u))


def auxiliary_names(system: MultibodySystem, state: State) -> list[str]:
    """A name for each z of *state*: the force's or the subsystem's that has it; ``name[i]`` where it has several."""
    return _names(system, state, "z", lambda: [(force.name, force.num_z) for force in system.all_forces()])


def _of_bodies(system: MultibodySystem, numbers: list[int]) -> _Owners:
    bodies = system.get_matter_subsystem().bodies
    each = [list(body.name_each(n)) for body, n in zip(bodies, numbers, strict=True)]
    numbered = {name for names in each if len(names) > 1 for name in names}
    # a joint, hand, keeps its numbers, wherever a body called hand[2] stands
    return [(f"{name}_" if len(names) == 1 and name in numbered else name, 1) for names in each for name in names]


def _names(system: MultibodySystem, state: State, variable: str, of_parts: Callable[[], _Owners]) -> list[str]:
    """The names of parts, and then of the subsystems that have allocated more."""
    places, known = state.variable_places()[variable], state.tree.names.get(variable)
    if known is not None and known[0] == places:
        return known[1].copy()
    owners = of_parts()
    for index, (_, n) in places.items():
        n -= state.tree.owners[variable].get(index, 0)
        if n:
            name, taken = system.get_subsystem(index).get_name(), {other for other, _ in owners}
            while name in taken:  # subsystems may share a name; columns of a table may not
                name += "_"
            owners.append((name, n))
    found: dict[str, None] = {}
    for name in [name if n == 1 else f"{name}[{i}]" for name, n in owners for i in range(n)]:
        while name in found:  # a body may be called hand[2] beside a joint, hand, of three coordinates
            name += "_"
        found[name] = None
    state.tree.names[variable] = dict(places), list(found)
    return list(found)
