"""A file as MuJoCo compiled it, and the names in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ...algebra.arrays import Array
from ...value.rotation import matrix_of_quaternion
from ..report import Report


def _named(places: str, stem: str) -> cached_property[list[str]]:
    """Names of a kind of things by id; its stem and the id where there is none."""
    return cached_property(lambda self: self._names(getattr(self.m, f"name_{places}adr"), stem))


@dataclass(eq=False)
class Source:
    """A compiled file.

    Attributes
    ----------
    path : str
    mujoco : module
    spec : mujoco.MjSpec
        What the file says.
    m : mujoco.MjModel
        What MuJoCo computes with.
    report : Report
        What is dropped or approximated, a sentence each; every topic adds its own.
    stand_ins : set of str
        Names of the geoms that stand for missing meshes.
    strict : bool
        Whether what cannot be simulated is an error.
    """

    path: str
    mujoco: Any
    spec: Any
    m: Any
    report: Report = field(default_factory=Report)
    stand_ins: set[str] = field(default_factory=set)
    strict: bool = False

    bodies = _named("body", "body")
    geoms = _named("geom", "geom")
    sites = _named("site", "site")
    tendons = _named("tendon", "tendon")
    actuators = _named("actuator", "actuator")
    equalities = _named("eq", "equality")
    sensors = _named("sensor", "sensor")
    keys = _named("key", "key")

    def note(self, sentence: str) -> None:
        """Add to the report what is as the file means it, or is no part of the mechanism."""
        self.report.append(sentence)

    def depart(self, sentence: str) -> None:
        """Add what is approximated or left out."""
        self.report.depart(sentence)

    def lose(self, sentence: str, what: str, count: int = 1, option: str = "") -> None:
        """Add what is left out and changes the motion: see `Report.lose`."""
        self.report.lose(sentence, what, count, option)

    @cached_property
    def _text(self) -> bytes:
        return bytes(self.m.names)

    def _names(self, addresses: Iterable[int], stem: str) -> list[str]:
        text = self._text
        names = [text[start : text.index(b"\0", start)].decode("utf-8", "replace") for start in addresses]
        taken = set(names)
        for number, name in enumerate(names):
            if not name:
                own = f"{stem}{number}"
                while own in taken:  # the file may give such a name to another
                    own += "_"
                names[number] = own
                taken.add(own)
        return names

    @cached_property
    def joints(self) -> list[str]:
        """Names of the joints by id: that of the body, with a number where it has several, where there is none."""
        m, names = self.m, self._names(self.m.name_jntadr, "\0")
        taken = set(names)
        for j, name in enumerate(names):
            if name[0] != "\0":
                continue
            b = int(m.jnt_bodyid[j])
            own = self.bodies[b] if m.body_jntnum[b] == 1 else f"{self.bodies[b]}_joint{j - int(m.body_jntadr[b])}"
            while own in taken:
                own += "_joint"
            names[j] = own
            taken.add(own)
        return names

    def disabled(self, flag: str) -> bool:
        """True if the file disables a feature, such as GRAVITY, by itself or with all constraints."""
        flags = (flag, "CONSTRAINT") if flag in ("EQUALITY", "LIMIT", "FRICTIONLOSS", "CONTACT") else (flag,)
        return any(self.m.opt.disableflags & getattr(self.mujoco.mjtDisableBit, f"mjDSBL_{one}") for one in flags)

    def inherited(self, what: str, of: str, number: int) -> Any:
        """Additions of a joint's or tendon's actuators to its damping, its polynomial or its armature: gear^2 times theirs."""
        m, trn = self.m, self.mujoco.mjtTrn
        values = np.asarray(getattr(m, f"actuator_{what}"))
        total = np.zeros(values.shape[1:])
        kinds = (trn.mjTRN_JOINT, trn.mjTRN_JOINTINPARENT) if of == "joint" else (trn.mjTRN_TENDON,)
        for a in np.flatnonzero(values.reshape(len(values), -1).any(axis=1)).tolist():
            if m.actuator_trnid[a, 0] == number and m.actuator_trntype[a] in [int(kind) for kind in kinds]:
                total = total + m.actuator_gear[m.actuator_outadr[a], 0] ** 2 * values[a]
        return total


def rotation_of(quaternion: Any) -> Array:
    """The matrix of a unit quaternion (w, x, y, z)."""
    return matrix_of_quaternion(*(float(c) for c in quaternion))


def plural(count: int, one: str, many: str | None = None) -> str:
    """A count and its noun."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def listed(names: Iterable[str], most: int = 6) -> str:
    """Names, so many that a line holds them."""
    all_of_them = list(names)
    shown = ", ".join(repr(name) for name in all_of_them[:most])
    return shown if len(all_of_them) <= most else f"{shown} and {len(all_of_them) - most} more"
