"""Lengths of paths in the default pose, and the lengths of fibers, tendons, springs and ligaments scaled with them.

As OpenSim does: each is multiplied by the length of its path after scaling over that before, in which the path wraps as it does
there. Surfaces that paths are not wrapped over here, such as a WrapTorus, are in the report.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...algebra.arrays import Array
from ...errors import ConvergenceError
from ...value.stage import Stage
from ..xml_element import Element
from .scaling import below, text_of
from .wrapping import KNOWN, wrapped_length

if TYPE_CHECKING:
    from ...state.state import State
    from .build import Builder
    from .muscles import PathPoint

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


def measure(build: Builder) -> list[float]:
    """The length of each of the builder's paths in the default pose; zero of those that scale nothing."""
    state, surfaces = _assembled(build), build.model.data.get("wrap objects", {})
    return [
        wrapped_length(state, _places(state, points), wraps, surfaces) if properties_of(element) else 0.0
        for element, points, wraps in build.paths
    ]


def _assembled(build: Builder) -> State:
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
        if one.mobod is not None and (one.mobod.index, one.which) not in coupled:
            assembler.adopt_assembly_goal(QValue(one.mobod, one.which, float(state.q[build.model.coordinates[one.name]])))
            if one.clamped:
                assembler.restrict_q(one.mobod, one.which, *one.range)
    with contextlib.suppress(ConvergenceError):  # then the default pose itself
        assembler.assemble(state)
    system.realize(state, Stage.POSITION)
    return state


def scale_lengths(build: Builder, before: Sequence[float]) -> list[str]:
    """Multiply the lengths in the document by those of paths now over those before; what was approximated."""
    surfaces = build.model.data.get("wrap objects", {})
    left = []
    for (element, _, wraps), length, then in zip(build.paths, measure(build), before, strict=True):
        if not (length > 0.0 and then > 0.0):
            continue
        for tag in properties_of(element):
            child = next((one for one in element.children if one.tag == tag), None)
            if child is not None and child.text.strip():
                child.text = repr(float(child.text) * length / then)
        kinds = {surfaces[one.wrap_object].kind for one in wraps if one.wrap_object in surfaces}
        if kinds.difference(KNOWN):
            left.append(element.attributes.get("name", element.tag))
    if not left:
        return []
    shown = ", ".join(left[:6]) + (f" and {len(left) - 6} more" if len(left) > 6 else "")
    return [
        "lengths of fibers, tendons and springs are scaled with their paths; of these some wrap over surfaces other than "
        f"{', '.join(KNOWN)}, which are left out of the measure: {shown}."
    ]


def has_lengths(root: Element) -> bool:
    """Whether there is anything in a document that scales with a path."""
    return any(text_of(one, tag) for one in below(root) for tag in properties_of(one))


def _places(state: State, points: list[PathPoint]) -> list[Array | None]:
    """Where the points are in Ground; None of conditional points that are not part of the path."""
    stations = [(point.body, point.calc_station(state)) for point in points]
    return [None if p is None else np.asarray(body.find_station_location_in_ground(state, p)) for body, p in stations]
