"""Reads the reference cases and builds their models in mobod. README.md beside this file describes the format.

Reading needs nothing but the standard library; only `build` and `build_model` import mobod.
"""

from __future__ import annotations

import functools
import gzip
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Where the committed files are, or those that `generate.py --seed` wrote.
HERE = Path(os.environ.get("MOBOD_TEST_REFERENCE") or Path(__file__).resolve().parent)
FOLDER = HERE / "cases"
FORMAT = 1
# Which arguments of constraints are bodies.
BODIES = {"body0", "body1", "body2", "mobod"} | {
    f"{what}_body" for what in ("base", "follower", "plane", "line", "case", "sphere")
}


class Case(NamedTuple):
    """One model with its states, as it stands in the file."""

    file: str
    data: dict[str, Any]

    @property
    def name(self) -> str:
        """The case's name in tests, unique over all files."""
        return self.data["name"]

    @property
    def states(self) -> list[dict[str, Any]]:
        """The states: q, u, further inputs, and `results`."""
        return self.data["states"]

    @property
    def kinds(self) -> set[str]:
        """The mobilizer kinds that the model is made of."""
        return {body["kind"] for body in self.data["bodies"]}

    @property
    def is_held(self) -> bool:
        """True if some mobilizers are locked, or follow a motion."""
        return any("lock" in body or "motion" in body for body in self.data["bodies"])

    @property
    def has_forces(self) -> bool:
        """True if there are forces beside gravity."""
        return bool(self.data["forces"])

    @property
    def suspect(self) -> set[str]:
        """Keys of results, as `matter.multiply_by_n`, in which the reference is known to be wrong."""
        return set(self.data["suspect"])


class Model(NamedTuple):
    """A case's model in mobod. `bodies` begins with Ground, so that an index is a body's own."""

    system: Any
    matter: Any
    bodies: list[Any]
    state: Any
    gravity: Any
    forces: list[Any]


@functools.cache
def all_cases() -> tuple[Case, ...]:
    """Return every case there is, in the order of files and within them."""
    found = []
    for path in sorted(FOLDER.glob("*.json.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            content = json.load(stream)
        if content["format"] != FORMAT:
            raise ValueError(f"{path.name} has format {content['format']}, this reader knows {FORMAT}")
        found += [Case(path.name, data) for data in content["cases"]]
    if not found:
        raise FileNotFoundError(f"no reference cases in {FOLDER}: run generate.py")
    return tuple(found)


def cases(kinds: Iterable[str]) -> list[Case]:
    """Return the cases without constraints whose mobilizers are all among `kinds`."""
    known = set(kinds)
    return [case for case in all_cases() if case.kinds <= known and not case.data["constraints"]]


def constrained_cases() -> list[Case]:
    """Return the cases with constraints."""
    return [case for case in all_cases() if case.data["constraints"]]


def frame(record: dict[str, Any]) -> Any:
    """Return the mobod Transform of a model's frame, ``{"R": nine numbers row by row, "p": three}``."""
    import mobod as mb

    R = record["R"]
    return mb.Transform(mb.Rotation([R[0:3], R[3:6], R[6:9]]), record["p"])


def rigid_body(record: dict[str, Any]) -> Any:
    """Return the mobod body of a record: its mass properties, or a massless body."""
    import mobod as mb

    if record["mass"] == 0:
        return mb.body.Massless()
    xx, yy, zz, xy, xz, yz = record["inertia"]
    inertia = mb.Inertia(xx, yy, zz, xy=xy, xz=xz, yz=yz)
    return mb.body.Rigid(mb.MassProperties(record["mass"], record["com"], inertia))


def function(record: dict[str, Any]) -> Any:
    """Return the mobod function of a record: its kind, and its arguments by name."""
    import mobod as mb

    if record["kind"] == "Quadratic":
        return quadratic(record)
    return getattr(mb.function, record["kind"])(**{name: value for name, value in record.items() if name != "kind"})


def quadratic(record: dict[str, Any]) -> Any:
    """Return the function ``value + slopes . x + x . curvature x / 2`` of several arguments, with its derivatives."""
    import mobod as mb

    slopes, curvature = record["slopes"], record["curvature"]

    def value(x: Any) -> Any:
        total = record["value"]
        for i, slope in enumerate(slopes):
            total = total + slope * x[i]
            for j in range(len(slopes)):
                total = total + 0.5 * curvature[i][j] * x[i] * x[j]
        return total

    return mb.function.Custom(value, len(slopes))


def constrain(matter: Any, bodies: list[Any], record: dict[str, Any]) -> Any:
    """Add the constraint of a record: its kind, and its arguments by name; bodies are indices."""
    import mobod as mb

    arguments: dict[str, Any] = {}
    for key, value in record.items():
        if key in BODIES:
            arguments[key] = bodies[value]
        elif key.endswith("_mobods"):
            arguments[key] = [bodies[index] for index in value]
        elif key.startswith("frame") or key.endswith("_frame"):
            arguments[key] = frame(value)
        elif key.endswith("_rotation"):
            arguments[key] = mb.Rotation(value)
        elif key == "function":
            arguments[key] = function(value)
        elif key != "kind":
            arguments[key] = value
    if "function" in arguments:
        arguments["matter"] = matter
    return getattr(mb.constraint, record["kind"])(**arguments)


def build_model(case: Case) -> Model:
    """Build a case with mobod's public interface; the state is the default one, realized through MODEL."""
    import mobod as mb

    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    field = case.data["gravity"]
    gravity = mb.force.Gravity(forces, matter, field["down_direction"], field["magnitude"], zero_height=field["zero_height"])
    bodies = [matter.ground]
    for record in case.data["bodies"]:
        keywords = dict(record["parameters"])
        if "functions" in keywords:
            keywords["functions"] = [function(given) for given in keywords["functions"]]
        if record["direction"] != "forward":
            keywords["direction"] = mb.Direction[record["direction"].upper()]
        kind = getattr(mb.mobilizer, record["kind"])
        mobod = kind(
            bodies[record["parent"]],
            rigid_body(record),
            X_PF=frame(record["X_PF"]),
            X_BM=frame(record["X_BM"]),
            name=record["name"],
            **keywords,
        )
        bodies.append(mobod)
        if "motion" in record:
            _move(mobod, record["motion"])
    elements = [_force(forces, matter, record) for record in case.data["forces"]]
    for record in case.data["constraints"]:
        constrain(matter, bodies, record)
    state = system.realize_topology()
    if case.data["use_euler_angles"]:
        matter.set_use_euler_angles(state, True)
        system.realize_model(state)
    for mobod, record in zip(bodies[1:], case.data["bodies"], strict=True):
        if "lock" in record:
            mobod.lock_at(state, record["lock"]["value"], mb.Motion.Level[record["lock"]["level"].upper()])
    return Model(system, matter, bodies, state, gravity, elements)


def _force(forces: Any, matter: Any, record: dict[str, Any]) -> Any:
    """Make the force element of a record."""
    import mobod as mb

    kind = getattr(mb.force, record["kind"])
    arguments = {key: frame(value) if "frame" in key else value for key, value in record.items() if key != "kind"}
    if record["kind"] in ("UniformGravity", "GlobalDamper", "DiscreteForces", "Thermostat"):
        arguments["matter"] = matter
    return kind(forces, **arguments)


def _move(mobod: Any, record: dict[str, Any]) -> None:
    """Give a body the motion of a record."""
    import mobod as mb

    arguments = {key: value for key, value in record.items() if key != "kind"}
    if "level" in arguments:
        arguments["level"] = mb.Motion.Level[arguments["level"].upper()]
    getattr(mb.motion, record["kind"])(mobod, **arguments)


def build(case: Case) -> tuple[Any, Any, list[Any], Any]:
    """Build a case: (system, matter, bodies, state)."""
    return build_model(case)[:4]
