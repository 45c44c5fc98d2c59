"""Mass properties of links as a file gives them, and which of them no body has.

A rigid body's principal central moments are integrals of squared distances over its mass, so that
each is at most the sum of the other two. With p1 <= p2 <= p3, the *defect* of a tensor is
p3 - p1 - p2 in units of the largest of them; it is above zero if the tensor is not that of a body.
Published robots break the rule by rounding, and worse. Their numbers are kept all the same, as
Pinocchio keeps them: the equations of motion take any tensor, and what is fixed together often has a
sum that some body has. What exceeds `ROUNDING` is warned of, or refused.

A link without mass may have an inertia (a rotor, the foot of a published robot). If it is fixed to
another link, its inertia is counted with that one's: an inertia without a mass is the same about
every point, and so needs only to be turned.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from ...algebra.arrays import Array
from ..parts import MASSLESS, LinkMass
from ..report import outside
from .description import Mechanism
from .order import Branch

ROUNDING = 0.01
"""Defect that rounding to two digits explains."""


def find_masses(mechanism: Mechanism, branches: Sequence[Branch], strict: bool) -> dict[str, LinkMass]:
    """The mass properties of every link, by its name; what is odd of them is reported, and warned of.

    Raises
    ------
    ModelError
        If an inertia is one that no body has, and it is to be *strict*.
    """
    masses = {branch.link: mechanism.links[branch.link].mass for branch in branches}
    impossible = []
    for name in _find_suspects(masses):
        link = mechanism.links[name]
        if not link.mass_place:
            continue
        moments: Array = np.linalg.eigvalsh(masses[name].central_inertia).astype(np.float64, copy=False)
        defect = defect_of(moments)
        if defect > ROUNDING:
            shown = ", ".join(f"{moment:.4g}" for moment in moments)
            impossible.append(f"{link.mass_place}: link {name!r}, with principal moments {shown}")
        elif defect > 1e-6:
            mechanism.report.append(
                f"{link.mass_place}: the inertia of link {name!r} misses that of a body by {100 * defect:.2g} %, as by "
                "rounding; it is kept as it is"
            )
    _move_to_what_has_mass(mechanism, branches, masses)
    if impossible:
        _say_of_impossible(mechanism, impossible, strict)
    return masses


def _say_of_impossible(mechanism: Mechanism, impossible: list[str], strict: bool) -> None:
    links, many = "; ".join(impossible), len(impossible) > 1
    what = f"{len(impossible)} links have inertias that no body has" if many else "a link has an inertia that no body has"
    if strict:
        rule = "each moment has to be positive and at most the sum of the other two"
        raise mechanism.fail("", f"{what}: {links}; {rule}")
    kept = "they are kept as in the file" if many else "it is kept as in the file"
    warnings.warn(f"{mechanism.path}: {what}; {kept}: {links}", stacklevel=outside())
    for one in impossible:
        mechanism.report.depart(f"{one}: no body has such an inertia; it is kept as it is")


def _move_to_what_has_mass(mechanism: Mechanism, branches: Sequence[Branch], masses: dict[str, LinkMass]) -> None:
    """Count inertias without mass with the links they are fixed to, tips first."""
    for link, inboard, joint, is_reversed in reversed(branches):
        mass = masses[link]
        if joint is None or inboard is None or joint.kind != "fixed" or mass.mass > 0.0 or not mass.central_inertia.any():
            continue
        R = (joint.X_PJ @ ~joint.X_CJ).R.matrix
        R = R.T if is_reversed else R
        other = masses[inboard]
        moved = R @ mass.central_inertia @ R.T
        masses[inboard] = LinkMass(other.mass, other.com, other.central_inertia + 0.5 * (moved + moved.T))
        masses[link] = MASSLESS
        if mechanism.links[link].mass is not MASSLESS:
            mechanism.report.append(
                f"{mechanism.links[link].mass_place}: link {link!r} has an inertia and no mass: it is counted with that of "
                f"{inboard!r}, to which it is fixed"
            )


def _find_suspects(masses: dict[str, LinkMass]) -> list[str]:
    """Links whose defect is more than arithmetic leaves. All at once, to be quick."""
    if not masses:
        return []
    moments = np.linalg.eigvalsh(np.array([mass.central_inertia for mass in masses.values()]))
    excess = moments[:, 2] - moments[:, 1] - moments[:, 0]
    scale = np.abs(moments).max(axis=1)
    return [name for name, bad in zip(masses, excess > 1e-9 * scale, strict=True) if bad]


def defect_of(moments: Array) -> float:
    """By how much the largest principal moment is above the sum of the others, as a part of the largest."""
    scale = float(np.abs(moments).max())
    return float(moments[2] - moments[1] - moments[0]) / scale if scale > 0.0 else 0.0
