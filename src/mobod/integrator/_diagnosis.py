"""Why an integration stopped, analysed afterwards: what fails, and the first quantity that is not finite."""

from __future__ import annotations

import numpy as np

from ..control.custom import controllers_of
from ..errors import ConvergenceError, ModelError
from ..force.contact.element import ContactElement
from ..force.contact.step_limit import FIRST, SECOND
from ..function.users import line_of_error
from ..measure.memory import Memory
from ..state.state import State
from ..system.diagnosis import Diagnosis
from ..system.system import MultibodySystem
from ..tree.prescribed_mobilities import SOLVED
from ..value.stage import Stage

#: A force is named if it is so many times as large as the next.
_BY_FAR = 1e3
#: How many times the inertia that is left a mobility's own is, where that is rounding.
_ROUNDED = 1e13


def why_not_sampled(system: MultibodySystem, state: State) -> tuple[str, Exception | None]:
    """The controller whose law fails at *state*, where it is due; and the error that it raises in Python, if it does."""
    for force in controllers_of(system):
        try:
            efforts = force.calc_efforts(state)
        except Exception as error:
            line = line_of_error(force.law, error)
            where = f", at {line}" if line else ""
            return f"at time {state.time:.9g} the law of controller {force.name!r} fails{where}: {error}", error
        if not np.isfinite(efforts).all():
            return f"at time {state.time:.9g} the law of controller {force.name!r} gives {efforts}", None
    return f"at time {state.time:.9g} the law of a controller has failed", None


def lost_memory(system: MultibodySystem, state: State) -> str:
    """A sentence on what a measure has no room to remember, and the remedy; empty where all have."""
    acting = [one for subsystem in system.subsystems for one in subsystem.acting_measures if isinstance(one, Memory)]
    return next((text for text in (one.what_is_lost(state) for one in acting) if text), "")


def name_of(system: MultibodySystem, state: State, i: int) -> str:
    """A name for number *i* of y: its kind and owner."""
    tree, matter = state.tree, system.get_matter_subsystem()
    nq, nu, nz = len(state.q_values), len(state.u_values), len(state.z_values)
    if i >= nq + nu + nz:
        i -= nq + nu + nz
        what, i = ("location", i) if i < 3 * tree.num_particles else ("velocity", i - 3 * tree.num_particles)
        return f"the {what} of particle {i // 3}"
    name, firsts, of_matter = "q", tree.first_q, tree.nq
    if i >= nq + nu:
        name, firsts, of_matter, i = "z", tree.first_u, 0, i - nq - nu
    elif i >= nq:
        name, firsts, of_matter, i = "u", tree.first_u, tree.nu, i - nq
    if i >= of_matter:
        return system.owner_of(state, name, i)
    b = int(np.searchsorted(firsts, i, side="right")) - 1
    return f"{name}[{i}], number {i - firsts[b]} of {matter.body_list[b].name!r}"


def strongest_force(system: MultibodySystem, state: State, i: int) -> str:
    """The force on the mobility of number *i* of y that is by far the largest, in words; empty if none is."""
    tree, nq = state.tree, len(state.q_values)
    first, last = (tree.first_q, tree.nq) if i < nq else (tree.first_u, tree.nu)
    i = i if i < nq else i - nq
    if i >= last:
        return ""
    b = int(np.searchsorted(first, i, side="right")) - 1
    mobilities = slice(tree.first_u[b], tree.first_u[b] + tree.num_u[b])
    sizes: list[tuple[float, str]] = []
    try:
        system.realize(state, Stage.VELOCITY)
        for force in system.all_forces():
            if not force.is_disabled(state):
                on_bodies, _, on_mobilities = force.calc_force_contribution(state)
                size = float(max(np.abs(on_bodies[b]).max(), np.abs(on_mobilities[mobilities]).max(initial=0.0)))
                sizes.append((size, force.name))
    except Exception:  # a user's part may fail at such a state; the integrator's error is raised in any case
        return ""
    sizes.sort(reverse=True)
    if not sizes or not sizes[0][0] > _BY_FAR * (sizes[1][0] if len(sizes) > 1 else 1.0):
        return ""
    return f", on which {sizes[0][1]!r} acts with {sizes[0][0]:.3g}"


def stretched_fiber(system: MultibodySystem, state: State, i: int) -> str:
    """Of a muscle whose fiber is number *i* of y how long that is, and the remedy, in words; empty if it is none."""
    from ..muscle.base import Muscle  # loaded where a model has muscles

    k = i - len(state.q_values) - len(state.u_values)
    for force in system.all_forces():
        if isinstance(force, Muscle) and 0 <= k - force.first_z < force.num_z and force.state_variables[-1] == "fiber_length":
            length = float(state.z_values[force.first_z + force.num_z - 1]) / force.get_optimal_fiber_length(state)
            return f", whose fiber is {length:.3g} times its optimal length; Muscle.equilibrate finds one at rest"
    return ""


def limiting_surfaces(system: MultibodySystem, state: State) -> tuple[str, str]:
    """The names of the two surfaces that permitted the shortest step."""
    elements = [force for force in system.all_forces() if isinstance(force, ContactElement)]
    names = {force.first_surface + i: one.name for force in elements for i, one in enumerate(force.surfaces)}
    first, second = (int(state.record.contact_sum[0, column]) for column in (FIRST, SECOND))
    return names[first], names[second]


def first_not_finite(system: MultibodySystem, state: State) -> str:
    """The first quantity of a body, force or variable that is not finite, as the state's y and time are."""
    time = float(state.record.time[0, 0])
    bad = np.flatnonzero(~np.isfinite(state.y_values))
    if len(bad):
        i = int(bad[0])
        return f"at time {time:.9g} {name_of(system, state, i)}, is {state.y_values[i]}"
    state.time = time
    state.invalidate_q()
    record, bodies = state.record, system.get_matter_subsystem().body_list
    try:
        for stage, fields in (
            (Stage.POSITION, (("position", record.p_GB), ("orientation", record.R_GB))),
            (Stage.VELOCITY, (("velocity", record.V_GB),)),
        ):
            system.realize(state, stage)
            for what, rows in fields:
                wrong = np.flatnonzero(~np.isfinite(rows).all(axis=1))
                if len(wrong):
                    return f"at time {time:.9g} the {what} of body {bodies[int(wrong[0])].name!r} is not finite"
        said = _force_not_finite(system, state)
        if said:
            return f"at time {time:.9g} {said}"
        system.realize(state)
    except ModelError as error:
        return f"at time {time:.9g} {error}"
    return lost_memory(system, state)


def not_projected(system: MultibodySystem, state: State, tolerance: float) -> Exception | None:
    """Why the state, as its y and time are, cannot be brought to its constraints: the error of trying, or None."""
    state.time = float(state.record.time[0, 0])
    state.invalidate_q()
    try:
        system.project(state, tolerance)
    except (ConvergenceError, ModelError) as error:
        return error
    return None


def of_constraints(system: MultibodySystem, state: State, tolerance: float) -> tuple[str, Diagnosis | None]:
    """Constraint equations that fail at a state, in words, and its diagnosis; nothing where none does."""
    if not system.get_matter_subsystem().constraints:
        return "", None
    try:
        found = system.diagnose_constraints(state, max(tolerance, 1e-6))
    except Exception:  # the state cannot be diagnosed; the integrator's error is raised in any case
        return "", None
    said = [
        f"{', '.join(map(str, near.equations))} {'are' if len(near.equations) > 1 else 'is'} nearly singular ({near.why})"
        for near in found.nearly_singular
    ]
    said += [f"{one.equation} is in conflict with {', '.join(one.partners) or 'what is there'}" for one in found.conflicting]
    if not said:
        return "", None
    return f". Of the constraints, {'; '.join(said)}: a mechanism is at the end of its reach, or turns over there", found


def refuse_rounding_for_inertia(system: MultibodySystem, state: State) -> None:
    """Raise `ModelError` for a mobility that what hangs on it leaves no inertia but rounding.

    More massless links than inertia can tell apart, seven hinges behind which is one body say, make the mass matrix singular.
    What elimination leaves of h^T P h is then a rounding of what composite bodies have there, and accelerations are any number.
    The state has articulated inertias.
    """
    tree = state.tree
    mass, num_u = state.field("mass"), np.asarray(tree.num_u)
    if mass[1:].all() or mass[num_u > 0].all():  # then there is inertia in each direction
        return
    matter = system.get_matter_subsystem()
    free = np.repeat((state.field("prescribed") == SOLVED) & (num_u == 1), num_u)
    left = np.abs(matter.calc_m(state).diagonal() * state.record.d_inverse[: len(free), 0])  # of all, over what is left
    left[~free] = 0.0
    which = int(left.argmax())
    if left[which] > _ROUNDED:
        b = int(np.searchsorted(tree.first_u, which, side="right")) - 1
        raise ModelError(
            f"at time {state.time:.9g} the mass matrix is singular: {matter.body_list[b].name!r} moves as the mobilizers "
            f"beyond it do together, so that {1.0 / left[which]:.1g} of its inertia is left, which is rounding, and "
            "accelerations are any number. Give massless bodies mass or rotor inertia, or weld one of them"
        )


def contradictory_accelerations(system: MultibodySystem, state: State) -> str:
    """A warning about acceleration equations that contradict each other; the state is at ACCELERATION.

    The solver then gives their least-squares solution, which fulfils none of them.
    """
    if not state.is_constrained:
        return ""
    largest = float(np.abs(state.u_dot_err).max(initial=0.0))
    if not largest > 1e-6 * max(1.0, float(np.abs(state.u_dot).max(initial=0.0))):
        return ""
    found = [one for one in system.diagnose_constraints(state).conflicting if "acceleration" in one.contradiction]
    if not found:
        return ""
    named = "; ".join(f"{one.equation} with {', '.join(one.partners) or 'what is there'}" for one in found)
    return (
        f"at time {state.time:.9g} constraints ask for accelerations that cannot all be, and errors of up to {largest:.3g} are "
        f"left. In conflict: {named}. Disable one of them; MultibodySystem.diagnose_constraints says more"
    )


def _force_not_finite(system: MultibodySystem, state: State) -> str:
    """The first force that is not finite, and on what; the state is at VELOCITY."""
    bodies = system.get_matter_subsystem().body_list
    for force in system.all_forces():
        if force.is_disabled(state):
            continue
        on_bodies, on_particles, on_mobilities = force.calc_force_contribution(state)
        if not np.isfinite(on_bodies).all() and (said := force.why_not_finite(state)):
            return said
        wrong = np.flatnonzero(~np.isfinite(on_bodies.reshape(len(bodies), -1)).all(axis=1))
        if len(wrong):
            return f"force {force.name!r} applies to body {bodies[int(wrong[0])].name!r} a force that is not finite"
        wrong = np.flatnonzero(~np.isfinite(on_mobilities))
        if len(wrong):
            whose = name_of(system, state, len(state.q_values) + int(wrong[0])).partition(", ")[2]
            value = on_mobilities[int(wrong[0])]
            return (
                f"force {force.name!r} applies to mobility {whose.removeprefix('number ')} a force that is not finite: {value}"
            )
        wrong = np.flatnonzero(~np.isfinite(on_particles.reshape(-1, 3)).all(axis=1))
        if len(wrong):
            return f"force {force.name!r} applies to particle {int(wrong[0])} a force that is not finite"
    return ""
