"""Lengths of paths in the default pose, and the lengths of fibers, tendons, springs and ligaments scaled with them.

As OpenSim does: each is multiplied by the length of its path after scaling over that before, in which the path wraps as it does
there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import numpy as np

from ...errors import ConvergenceError
from ...force import TransmissionSpring
from ...state.state import State
from ...value.stage import Stage
from ..xml_element import Element
from .building import Building

#: Which properties of which elements are lengths along their paths; any other muscle has the first two.
FIBERS = ("optimal_fiber_length", "tendon_slack_length")
LENGTHS = {
    "PathSpring": ("resting_length",),
    "Ligament": ("resting_length",),
    "ExpressionBasedPathForce": ("resting_length",),
    "Blankevoort1991Ligament": ("slack_length",),
    "RigidTendonMuscle": (),  # which OpenSim leaves as they are
}
#: Of constraints in the default pose.
_TOLERANCE = 1e-9


def properties_of(element: Element) -> tuple[str, ...]:
    """The lengths that an element has along a path."""
    return LENGTHS.get(element.tag, FIBERS if element.tag.endswith(("Muscle", "Muscle_Deprecated")) else ())


def measure(build: Building) -> list[float]:
    """The length of each of the builder's paths in the default pose; zero of those that scale nothing."""
    forces, paths = (
        build.model.forces,
        [path for element, path, _ in build.paths if path is not None and properties_of(element)],
    )
    for path in paths:
        if path.user is None:
            TransmissionSpring(forces, path)
    state = assembled(build)
    return [0.0 if path not in paths else path.calc_length(state) for _, path, _ in build.paths]


def assembled(build: Building) -> State:
    """The default pose, with constraints fulfilled as in OpenSim: coordinates as near to their default values as they allow."""
    from ...assembler import Assembler, QValue

    system, state = build.model.system, build.model.default_state()
    system.realize(state, Stage.POSITION)
    if not len(state.q_err) or np.abs(state.q_err).max() <= _TOLERANCE:
        return state
    assembler = Assembler(system)
    assembler.set_error_tolerance(_TOLERANCE)
    coupled = {(body.index, which) for body, which in (one.arguments[-1] for one in build.couplers)}
    for one in build.coordinates:
        if one.mobod is None or (one.mobod.index, one.which) in coupled:
            continue
        if not one.is_free_to_satisfy_constraints:
            assembler.adopt_assembly_goal(QValue(one.mobod, one.which, float(state.q[build.model.coordinates[one.name]])))
        if one.clamped:
            assembler.restrict_q(one.mobod, one.which, *one.range)
    with contextlib.suppress(ConvergenceError):  # then the default pose itself
        assembler.assemble(state)
    system.realize(state, Stage.POSITION)
    return state


def scale_lengths(build: Building, before: Sequence[float]) -> None:
    """Multiply the lengths in the document by those of paths now over those before."""
    for (element, _, _), length, then in zip(build.paths, measure(build), before, strict=True):
        if not (length > 0.0 and then > 0.0):
            continue
        for tag in properties_of(element):
            child = element.child(tag)
            if child is not None and child.text.strip():
                child.text = repr(float(child.text) * length / then)


def has_lengths(root: Element) -> bool:
    """True if there is anything in a document that scales with a path."""
    return any(one.text_of(tag) for one in root.below() for tag in properties_of(one))
