"""Lengths of paths in the default pose, and the lengths of fibers, tendons, springs and ligaments scaled with them.

As OpenSim does: each is multiplied by the length of its path after scaling over that before. A path that wraps is measured
from point to point, which the report says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...value.stage import Stage
from ..xml_element import Element
from .scaling import below, text_of

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


def properties_of(element: Element) -> tuple[str, ...]:
    """The lengths that an element has along a path."""
    return LENGTHS.get(element.tag, FIBERS if element.tag.endswith(("Muscle", "Muscle_Deprecated")) else ())


def measure(build: Builder) -> dict[str, float]:
    """The length of each path that scales something, in the default pose; by the place of its element in the document."""
    model = build.model
    state = model.default_state()
    model.system.realize(state, Stage.POSITION)
    return {_place(element): _length(state, points) for element, points, _ in build.paths if properties_of(element)}


def scale_lengths(build: Builder, before: Mapping[str, float]) -> list[str]:
    """Multiply the lengths in the document by those of paths now over those before; what was approximated."""
    now = measure(build)
    bent = []
    for element, _, wraps in build.paths:
        length, then = now.get(_place(element), 0.0), before.get(_place(element), 0.0)
        if not (length > 0.0 and then > 0.0):
            continue
        for tag in properties_of(element):
            child = next((one for one in element.children if one.tag == tag), None)
            if child is not None and child.text.strip():
                child.text = repr(float(child.text) * length / then)
        if wraps and abs(length / then - 1.0) > 1e-12:
            bent.append(element.attributes.get("name", element.tag))
    if not bent:
        return []
    shown = ", ".join(bent[:6]) + (f" and {len(bent) - 6} more" if len(bent) > 6 else "")
    return [
        f"lengths of fibers, tendons and springs are scaled with their paths; {len(bent)} of these wrap over surfaces, and are "
        f"measured from point to point: {shown}."
    ]


def has_lengths(root: Element) -> bool:
    """Whether there is anything in a document that scales with a path."""
    return any(text_of(one, tag) for one in below(root) for tag in properties_of(one))


def _place(element: Element) -> str:
    return f"{element.file}:{element.line}:{element.tag}"


def _length(state: State, points: list[PathPoint]) -> float:
    places = []
    for point in points:
        station = point.calc_station(state)
        if station is None:
            continue
        places.append(point.body.find_station_location_in_ground(state, station))
    return float(np.linalg.norm(np.diff(np.array(places), axis=0), axis=1).sum()) if len(places) > 1 else 0.0
