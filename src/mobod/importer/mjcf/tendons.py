"""Tendons: transmissions, with springs, dampers and limits.

A fixed tendon is `force.transmission.Coordinates`, a spatial one a `force.transmission.StraightPath`, or a `WrappedPath` where
it bends around geoms, by name in ``model.data["tendons"]``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import force
from ...force import transmission
from ...force.transmission_friction import TransmissionFriction
from ..model import Model
from .bodies import Tree
from .geoms import geom_frame
from .limits import stiffness_of
from .sites import Placed
from .source import Source, listed, plural


class Tendons:
    """The tendons of a file."""

    def __init__(self, source: Source, tree: Tree, sites: list[Placed], model: Model) -> None:
        self.source, self.tree, self.sites, self.model = source, tree, sites, model
        model.data["tendons"] = self.by_name = {name: self.path(t, 1.0) for t, name in enumerate(source.tendons)}

    def path(self, t: int, ratio: float) -> transmission.Transmission:
        """A transmission of tendon *t*."""
        m, kinds = self.source.m, self.source.mujoco.mjtWrap
        first, count = int(m.tendon_adr[t]), int(m.tendon_num[t])
        objects = range(first, first + count)
        kind, number, parameter = m.wrap_type, m.wrap_objid, m.wrap_prm
        forces = self.model.forces
        if kind[first] == kinds.mjWRAP_JOINT:
            terms = [(self.tree.joints[number[k]].mobod, 0, float(parameter[k])) for k in objects]
            return transmission.Coordinates(forces, terms, ratio=ratio)
        branches: list[tuple[list[Any], float]] = [([], 1.0)]
        wraps = False
        for k in objects:
            if kind[k] == kinds.mjWRAP_PULLEY:
                branches.append(([], float(parameter[k])))
            elif kind[k] == kinds.mjWRAP_SITE:
                body, X = self.sites[number[k]]
                branches[-1][0].append((body, X.p))
            else:
                branches[-1][0].append(self.wrap(int(number[k]), kind[k] == kinds.mjWRAP_CYLINDER, round(float(parameter[k]))))
                wraps = True
        branches = [branch for branch in branches if len(branch[0]) > 1]
        if wraps:
            return transmission.WrappedPath(forces, branches, ratio=ratio)
        return transmission.StraightPath(forces, branches, ratio=ratio)

    def wrap(self, g: int, is_cylinder: bool, side: int) -> transmission.Wrap:
        """The obstacle of a path."""
        m = self.source.m
        body, X = self.tree.bodies[int(m.geom_bodyid[g])], geom_frame(self.source, g)
        place = None if side < 0 else (self.sites[side][0], self.sites[side][1].p)
        return transmission.Wrap(body, float(m.geom_size[g, 0]), X, is_cylinder, place)

    def add_forces(self, limits: bool, stiffness: float | None, dissipation: float, friction: bool) -> None:
        """Springs and dampers; limits as springs beyond them and friction, where asked for; the rest is reported."""
        source, model, m = self.source, self.model, self.source.m
        springs, dampers = not source.disabled("SPRING"), not source.disabled("DAMPER")
        limited = np.array(m.tendon_limited, bool) & (not source.disabled("LIMIT"))
        left: dict[str, list[str]] = {}
        for t, name in enumerate(source.tendons):
            k = float(m.tendon_stiffness[t]) if springs else 0.0
            k_poly = np.array(m.tendon_stiffnesspoly[t]) if springs else np.zeros(2)
            d, d_poly, armature = float(m.tendon_damping[t]), np.array(m.tendon_dampingpoly[t]), float(m.tendon_armature[t])
            if m.tendon_actuatorid[t] != -1:
                d += float(source.inherited("damping", "tendon", t))
                d_poly = d_poly + source.inherited("dampingpoly", "tendon", t)
                armature += float(source.inherited("armature", "tendon", t))
            if not dampers:
                d, d_poly = 0.0, np.zeros(2)
            if k or d or k_poly.any() or d_poly.any():
                low, high = (float(bound) for bound in m.tendon_lengthspring[t])
                spring = force.TransmissionSpring(
                    model.forces,
                    self.by_name[name],
                    stiffness=k,
                    damping=d,
                    rest_range=(low, high),
                    higher_stiffness=k_poly,
                    higher_damping=d_poly,
                    name=f"{name} spring",
                )
                (model.springs if k or k_poly.any() else model.dampers)[name] = spring
            if limited[t]:
                if limits:
                    bounds = (float(m.tendon_range[t, 0]), float(m.tendon_range[t, 1]))
                    own = stiffness_of(m.tendon_solref_lim[t], m.tendon_invweight0[t]) if stiffness is None else stiffness
                    model.stops[name] = force.TransmissionSpring(
                        model.forces,
                        self.by_name[name],
                        stiffness=own,
                        rest_range=bounds,
                        dissipation=dissipation,
                        name=f"{name} limits",
                    )
                else:
                    left.setdefault("limits", []).append(name)
            if m.tendon_frictionloss[t] > 0.0 and not source.disabled("FRICTIONLOSS"):
                if friction:
                    loss = float(m.tendon_frictionloss[t])
                    model.frictions[name] = TransmissionFriction(
                        model.forces, self.by_name[name], loss, name=f"{name} friction"
                    )
                else:
                    left.setdefault("frictionloss", []).append(name)
            if armature:
                left.setdefault("armature", []).append(name)
        rubbing = sum(isinstance(one, TransmissionFriction) for one in model.frictions.values())
        if rubbing:
            many = plural(rubbing, "tendon")
            source.depart(f"frictionloss of {many}: dry friction that sticks by bristles, where MuJoCo has constraints")
        stops_made = int(np.count_nonzero(limited)) - len(left.get("limits", ()))
        if stops_made:
            source.depart(f"limits of {plural(stops_made, 'tendon')}: compliant stops, where MuJoCo has constraints")
        for what, names in left.items():
            line = f"{what} of {plural(len(names), 'tendon')} {listed(names)}: not simulated"
            if what == "armature":
                source.lose(line, "tendons with armature, which is left out", len(names))
            else:
                source.note(f"{line}, as was asked")
