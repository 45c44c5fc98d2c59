"""What a file holds for its user, kept as data, and what only MuJoCo's viewer shows, reported.

``model.data["custom"]`` has numbers, texts and tuples by name; ``model.data["user"]`` the ``user`` arrays of elements, by kind
and name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .source import Source, plural

if TYPE_CHECKING:
    from ..model import Model

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
    drawn = [plural(int(count), what) for what, count in {"site": m.nsite, "tendon": _spatial(source)}.items() if count]
    if drawn:
        source.note(f"{' and '.join(drawn)}: not drawn")


def _spatial(source: Source) -> int:
    """How many tendons have a path to draw."""
    m = source.m
    return int(np.count_nonzero(np.array(m.wrap_type)[np.array(m.tendon_adr, int)] != source.mujoco.mjtWrap.mjWRAP_JOINT))
