"""Labels of columns: made distinct, and what they say about the quantity in the column."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Collection, Sequence
from typing import Any

#: Labels of what is no angle in files of coordinates, speeds and loads.
_NO_ANGLE = re.compile(
    r"_t[xyz]$|_[vpfm][xyz]$|force|moment|torque|activation|excitation|fiber|emg|(^|_)[xyz]$|_tx|_ty|_tz|power|length",
    re.IGNORECASE,
)


def distinct(names: Sequence[str], report: list[str]) -> list[str]:
    """The names, with ``_2`` and so on after those that came before; *report* says which."""
    taken, found = set(names), []
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        label = name
        if seen[name] > 1:
            label = f"{name}_{seen[name]}"
            while label in taken:
                seen[name] += 1
                label = f"{name}_{seen[name]}"
            taken.add(label)
            report.append(f"the label {name!r} comes again; this column is called {label!r}.")
        found.append(label)
    return found


def coordinate_of(label: str, known: Collection[str] | None) -> tuple[str, str]:
    """The coordinate that a column is about, and which of its quantities: ``"value"`` or ``"speed"``.

    ``/jointset/knee_r/knee_angle_r/value`` is how files of states name what was ``knee_angle_r``, and ``knee_angle_r_u`` is its
    speed.
    """
    if known is not None and label in known:  # as most are
        return label, "value"
    parts = label.strip("/").split("/")
    quantity = "value"
    if len(parts) > 1 and parts[-1] in ("value", "speed"):
        quantity = parts.pop()
    name = parts[-1]
    if known is not None and name not in known:
        joined = "/".join(parts[-2:])
        if joined in known:
            return joined, quantity
        if name.endswith("_u") and name[:-2] in known:
            return name[:-2], "speed"
    return name, quantity


def coordinates_of(model: Any) -> tuple[Collection[str] | None, Collection[str]]:
    """The coordinates of a model that are angles, and all of them; without a model, that is not known, and there are none."""
    if model is None:
        return None, ()
    if not hasattr(model, "angles"):  # its class is in a room above
        raise TypeError(f"model has to be a Model, such as mobod.load_osim gives, or None, not {reprlib.repr(model)}")
    return model.angles, model.coordinates


def is_angle(label: str, angles: Collection[str] | None, coordinates: Collection[str] = ()) -> bool:
    """True if a column holds angles, or their speeds: by the model's coordinates, else by what its label looks like."""
    if angles is None:
        return not _NO_ANGLE.search(label.removesuffix("/value").removesuffix("/speed"))
    name, _ = coordinate_of(label, coordinates)
    return name in angles
