"""Torsions across bridges of sulphur, whose bonds are rods: energies of the dihedral angles of four atoms on any bodies.

PE = k (1 + cos(n phi - d))   Source of phi and its slopes: Blondel and Karplus 1996, New formulation for derivatives of torsion
angles and improper torsion angles in molecular mechanics.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import force
from ..algebra import atan2, cos, mat33, sin, sqrt, vec3
from ..algebra.arrays import Array
from ..force.subsystem import GeneralForceSubsystem
from ..mobilizer.base import MobilizedBody
from .force_field import ForceField
from .topology import Topology, across_bridges


def _arms(X: Any, parameters: Any) -> Any:
    """The atoms' places from their bodies' origins, and the three bonds: from b to a, from c to b, from c to d."""
    (Ra, pa), (Rb, pb), (Rc, pc), (Rd, pd) = X
    sa, sb = mat33.mul_vec(Ra, parameters[0:3]), mat33.mul_vec(Rb, parameters[3:6])
    sc, sd = mat33.mul_vec(Rc, parameters[6:9]), mat33.mul_vec(Rd, parameters[9:12])
    a, b, c, d = vec3.add(pa, sa), vec3.add(pb, sb), vec3.add(pc, sc), vec3.add(pd, sd)
    return (sa, sb, sc, sd), (vec3.sub(a, b), vec3.sub(b, c), vec3.sub(d, c))


def _angle(F: Any, G: Any, H: Any) -> Any:
    """The dihedral angle, the normals of its two planes, and the length of its axis."""
    A, B, length = vec3.cross(F, G), vec3.cross(H, G), sqrt(vec3.dot(G, G))
    return atan2(vec3.dot(vec3.cross(B, A), G), length * vec3.dot(A, B)), A, B, length


def _energy(t: Any, X: Any, q: Any, parameters: Any) -> Any:
    """k (1 + cos(n phi - d))."""
    _, bonds = _arms(X, parameters)
    phi, _, _, _ = _angle(bonds[0], bonds[1], bonds[2])
    return parameters[12] * (1.0 + cos(parameters[13] * phi - parameters[14]))


def _force(t: Any, X: Any, V: Any, q: Any, u: Any, parameters: Any) -> Any:
    """Minus the slope of the energy, on each of the four atoms."""
    (sa, sb, sc, sd), (F, G, H) = _arms(X, parameters)
    phi, A, B, length = _angle(F, G, H)
    torque = parameters[12] * parameters[13] * sin(parameters[13] * phi - parameters[14])
    onA, onB = vec3.scale(torque / vec3.dot(A, A), A), vec3.scale(torque / vec3.dot(B, B), B)
    fa, fd = vec3.scale(-length, onA), vec3.scale(length, onB)
    shift = vec3.sub(vec3.scale(vec3.dot(F, G) / length, onA), vec3.scale(vec3.dot(H, G) / length, onB))
    fb, fc = vec3.sub(shift, fa), vec3.neg(vec3.add(shift, fd))
    return ((vec3.cross(sa, fa), fa), (vec3.cross(sb, fb), fb), (vec3.cross(sc, fc), fc), (vec3.cross(sd, fd), fd)), ()


def add_bridge_torsions(
    forces: GeneralForceSubsystem, field: ForceField, found: Topology, bodies: Sequence[MobilizedBody], stations: Array
) -> None:
    """One force of all proper torsions that a bridge is a bond of; bodies and stations are those of the atoms."""
    neighbours = across_bridges(found)
    sets, rows = [], []
    for s, t in found.bridges:
        firsts, lasts = found.neighbours[s], found.neighbours[t]
        fours = [(b, s, t, c) for b in firsts for c in lasts]
        fours += [(a, b, s, t) for b in firsts for a in neighbours[b] if a != s]
        fours += [(s, t, c, d) for c in lasts for d in neighbours[c] if d != t]
        for a, b, c, d in fours:
            four = [a, b, c, d]
            for n, phase, k in field.torsion((found.kinds[a], found.kinds[b], found.kinds[c], found.kinds[d])):
                sets.append([bodies[one] for one in four])
                rows.append([*stations[four].ravel(), k, n, phase])
    if rows:
        functions = force.CompiledFunctions(_force, _energy, depends_only_on_positions=True)
        force.ForEach(forces, functions, bodies=sets, parameters=np.array(rows, float), name="torsions across bridges")
