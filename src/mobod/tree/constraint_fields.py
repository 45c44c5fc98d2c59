"""Index fields of constraints: those that topology fixes, and the groups in which enabled ones are solved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Indices
from ..constraint.base import Constraint
from ..errors import ModelError
from ..state.fields import GROUPED


def topology(
    constraints: Sequence[Constraint], parents: Sequence[int], num_q: Sequence[int], num_u: Sequence[int]
) -> tuple[dict[str, list[Any]], dict[str, int]]:
    """The fields that do not depend on which constraints are enabled, and all counts but those that `grouped` gives."""
    fields: dict[str, list[Any]] = {name: [] for name in _LISTS}
    counts = {"wrenches_size": 0, "speed_coefficients_size": 0, "coordinate_coefficients_size": 0, "path_forces_size": 0}
    rows, slips = 0, False
    for constraint in constraints:
        _check_mobility(constraint, parents, num_u)
        constraint.check_coordinates(num_q)
        bodies, mobilizers = constraint.body_indices(), constraint.mobilizer_indices()
        p, v, a = constraint.equations()
        path = sorted({b for end in (*bodies, *mobilizers) for b in _to_ground(end, parents)}, reverse=True)
        place = {b: i for i, b in enumerate(path)}
        speeds, coordinates = sum(num_u[b] for b in mobilizers), sum(num_q[b] for b in mobilizers)
        starts = dict(zip(mobilizers, np.cumsum([0, *(num_u[b] for b in mobilizers)]).tolist(), strict=False))
        integers, numbers = constraint.pack_integers(), constraint.pack_numbers()
        slips = slips or constraint.slides_along is not None
        one = {
            "friction_rows": -1,
            "constraint_enabled": int(not constraint.disabled_by_default),
            "constraint_first_integer": len(fields["constraint_integers"]),
            "constraint_first_number": len(fields["constraint_numbers"]),
            "first_constrained_body": len(fields["constrained_bodies"]),
            "num_constrained_bodies": len(bodies),
            "first_mobilizer": len(fields["constrained_mobilizers"]),
            "num_mobilizers": len(mobilizers),
            "num_speeds": speeds,
            "num_coordinates": coordinates,
            "first_row": rows,
            "num_p": p,
            "num_v": v,
            "num_a": a,
            "first_wrench": counts["wrenches_size"],
            "first_speed": counts["speed_coefficients_size"],
            "first_coordinate": counts["coordinate_coefficients_size"],
            "first_path": len(fields["path"]),
            "path_length": len(path),
        }
        for name, value in one.items():
            fields[name].append(value)
        fields["constraint_integers"] += integers
        fields["constraint_numbers"] += numbers
        fields["constrained_bodies"] += bodies
        fields["constrained_body_place"] += [place.get(b, -1) for b in bodies]
        fields["constrained_mobilizers"] += mobilizers
        fields["path"] += path
        fields["path_parent"] += [place.get(parents[b], -1) for b in path]
        fields["path_mobilizer"] += [starts.get(b, -1) for b in path]
        own = p + v + a
        rows += own
        counts["wrenches_size"] += own * len(bodies)
        counts["speed_coefficients_size"] += own * speeds
        counts["coordinate_coefficients_size"] += p * coordinates
        counts["path_forces_size"] = max(counts["path_forces_size"], own * len(path))
    counts |= {
        "nc": len(constraints),
        "num_slips": len(constraints) if slips else 0,
        "num_rows": rows,
        "constrained_bodies_size": len(fields["constrained_bodies"]),
        "constrained_mobilizers_size": len(fields["constrained_mobilizers"]),
        "constraint_integers_size": len(fields["constraint_integers"]),
        "constraint_numbers_size": len(fields["constraint_numbers"]),
        "path_size": len(fields["path"]),
        "constrained_nu": sum(num_u) if constraints else 0,
        "constrained_nq": sum(num_q) if constraints else 0,
        "four": 4,
    }
    return fields, counts


_LISTS = (
    *("constraint_enabled", "constraint_first_integer", "constraint_first_number", "constraint_integers", "constraint_numbers"),
    *("first_constrained_body", "num_constrained_bodies", "constrained_bodies", "constrained_body_place"),
    *("first_mobilizer", "num_mobilizers", "constrained_mobilizers", "num_speeds", "num_coordinates"),
    *("first_row", "num_p", "num_v", "num_a", "first_wrench", "first_speed", "first_coordinate"),
    *("first_path", "path_length", "path", "path_parent", "path_mobilizer", "friction_rows"),
)


def _to_ground(b: int, parents: Sequence[int]) -> list[int]:
    """The bodies from b to its base body, whose parent is Ground."""
    found = []
    while b > 0:
        found.append(b)
        b = parents[b]
    return found


def _check_mobility(constraint: Constraint, parents: Sequence[int], num_u: Sequence[int]) -> None:
    """`ModelError` where there is no mobility between the bodies that a constraint ties."""
    tied = constraint.tied_bodies()
    lines = [_to_ground(body.get_mobilized_body_index(), parents) for body in tied]
    visits = Counter(b for line in lines for b in line)
    if len(tied) > 1 and not any(num_u[b] for b, times in visits.items() if times < len(tied)):
        names = " and ".join(repr(body) for body in tied)
        raise ModelError(
            f"{constraint!r} ties {names}, but no mobilizer between these has a mobility: its equations can change nothing; "
            "leave it out, or let one of the mobilizers between them move"
        )


def grouped(
    fields: dict[str, Any], enabled: Sequence[int] | Indices, nb: int, friction_rows: Sequence[int] | Indices = ()
) -> tuple[dict[str, Indices], dict[str, int]]:
    """The fields of groups where the constraints of *enabled* are, and the sizes these take, largest where all are.

    Rows along which friction of contacts acts that slide have effects, too, behind those of their group's equations.
    """
    num_u, first_u = fields["num_u"], fields["first_u"]
    nc = len(fields["first_row"])
    on = [c for c in range(nc) if enabled[c]]
    paths = {c: fields["path"][fields["first_path"][c] : fields["first_path"][c] + fields["path_length"][c]] for c in on}
    slides = {c: int(friction_rows[c]) for c in on if len(friction_rows) and friction_rows[c] >= 0}
    for c, r in slides.items():
        own = fields["path"][fields["first_path"][r] : fields["first_path"][r] + fields["path_length"][r]]
        paths[c] = [*paths[c], *own]
    leader = list(range(nc))
    first_of: dict[int, int] = {}
    for c in on:
        for b in paths[c]:
            if num_u[b] > 0:
                _unite(leader, c, first_of.setdefault(int(b), c))
    members: dict[int, list[int]] = {}
    for c in on:
        members.setdefault(_find(leader, c), []).append(c)
    out: dict[str, Any] = {name: [] for name in GROUPED}
    num_rows = sum(_rows_of(fields, c) for c in range(nc))
    out["effect_place"] = [0] * int(sum(num_u)) if nc else []
    for name in ("row_place", "row_effect", "row_stride"):
        out[name] = [-1] * num_rows
    row = effect = gram = 0
    most = 0
    for group in members.values():
        bodies = sorted({int(b) for c in group for b in paths[c] if num_u[b] > 0})
        places: list[int] = []
        for b in bodies:
            for i in range(first_u[b], first_u[b] + num_u[b]):
                out["effect_place"][i] = len(places)
                places.append(i)
        m, n = sum(_rows_of(fields, c) for c in group), len(places)
        out["group_first"].append(len(out["group_constraints"]))
        out["group_constraints"] += group
        out["group_end"].append(len(out["group_constraints"]))
        out["group_first_row"].append(row)
        out["group_num_rows"].append(m)
        out["group_num_speeds"].append(n)
        out["group_effect"].append(effect)
        out["group_gram"].append(gram)
        out["group_first_body"].append(len(out["group_bodies"]))
        out["group_bodies"] += bodies
        out["group_end_body"].append(len(out["group_bodies"]))
        k = 0
        for c in group:
            for r in range(fields["first_row"][c], fields["first_row"][c] + _rows_of(fields, c)):
                out["row_place"][r], out["row_effect"][r], out["row_stride"][r] = row + k, effect + k * n, n
                k += 1
        for along in (slides[c] for c in group if c in slides):
            for r in range(fields["first_row"][along], fields["first_row"][along] + _rows_of(fields, along)):
                out["row_effect"][r], out["row_stride"][r] = effect + k * n, n
                k += 1
        row, effect, gram, most = row + m, effect + k * n, gram + m * m, max(most, m)
    out["num_groups"] = [len(members)]
    padded = {name: nc for name in GROUPED if name.startswith("group_")} | {"group_bodies": nb}
    for name, size in padded.items():
        out[name] = [*out[name], *[0] * (size - len(out[name]))]
    return (
        {name: np.array(values, np.int64) for name, values in out.items()},
        {"effect_size": effect, "gram_size": gram, "most_rows": most},
    )


def _rows_of(fields: dict[str, Any], c: int) -> int:
    return int(fields["num_p"][c] + fields["num_v"][c] + fields["num_a"][c])


def _find(leader: list[int], c: int) -> int:
    while leader[c] != c:
        c = leader[c]
    return c


def _unite(leader: list[int], a: int, b: int) -> None:
    one, other = sorted((_find(leader, a), _find(leader, b)))
    leader[other] = one


def order_of_rows(tree: Any, enabled: Any) -> Indices:
    """The kernels' rows of enabled constraints in the order of multipliers: of positions, velocities, accelerations."""
    fields, rows = tree.fields, []
    start = fields["first_row"].copy()
    for counts in (fields["num_p"], fields["num_v"], fields["num_a"]):
        rows += [np.arange(first, first + n) for first, n, on in zip(start, counts, enabled, strict=True) if on]
        start = start + counts
    return np.concatenate(rows) if rows else np.zeros(0, np.int64)
