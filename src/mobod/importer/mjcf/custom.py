"""Data that a file holds for its user, which are kept, and for MuJoCo's viewer alone, which are reported.

``model.data["custom"]`` has numbers, texts and tuples by name; ``model.data["user"]`` the ``user`` arrays of elements, by kind
and name.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model import Model
from .source import Source, plural

#: Fields of users' arrays, by the name of the kind of element in `Source`.
_USER = {
    "bodies": "body_user",
    "joints": "jnt_user",
    "geoms": "geom_user",
    "sites": "site_user",
    "tendons": "tendon_user",
    "actuators": "actuator_user",
    "sensors": "sensor_user",
}


def add_custom(source: Source, model: Model) -> None:
    """Numbers, texts, tuples and users' arrays."""
    spec, m = source.spec, source.m
    custom: dict[str, Any] = {one.name: np.array(list(one.data)) for one in spec.numerics}
    custom |= {one.name: one.data for one in spec.texts}
    for one in spec.tuples:
        custom[one.name] = list(zip(list(one.objname), list(one.objprm), strict=True))
    if custom:
        model.data["custom"] = custom
    user: dict[str, dict[str, Any]] = {}
    for kind, field in _USER.items():
        values = np.array(getattr(m, field))
        if values.any():
            user[kind] = dict(zip(getattr(source, kind), values, strict=True))
    if user:
        model.data["user"] = user


def report_looks(source: Source) -> None:
    """Elements that are seen in MuJoCo's viewer and nowhere here."""
    m = source.m
    counts = {"camera": m.ncam, "light": m.nlight, "texture": m.ntex}
    seen = [plural(int(count), what) for what, count in counts.items() if count]
    if seen:
        source.note(f"{', '.join(seen)}: left out, pictures have their own")
    if m.nsite:
        source.note(f"{plural(int(m.nsite), 'site')}: frames, not drawn")
