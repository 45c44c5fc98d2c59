"""Measure what udot of closed mechanisms costs: a four-bar, a chain pinned at both ends, a Stewart platform, ten four-bars.

As `forward_dynamics`, with which it shares its clock, at assembled states: from Python, in a compiled loop, in a batch.
All engines close the loops by making two points coincide, and their accelerations are compared, MuJoCo's, which are softened,
loosely. The four-bar's bodies move in a plane, which one of its three equations says again, as in Pinocchio's own example; the
others have independent equations. Ten four-bars that have nothing to do with each other are to cost ten times one.
"""

from __future__ import annotations

import argparse
import functools
from dataclasses import dataclass

import numpy as np

from .engines import available_engines, disagreement, load
from .forward_dynamics import PEERS, closest_peer, measure_model, time_of, worst_difference
from .measure import QUICK, THOROUGH, ratio
from .models import Array, Body, Model, Pose, Tie, quaternion_from_rotation
from .peers import build
from .peers.mobod import Mobod, build as build_for_mobod
from .report import Target, cell_of_time, print_table, run_as_script


@dataclass(frozen=True)
class ClosedModel(Model):
    """A model with loops, and a q near which they close.

    Parameters
    ----------
    near
        Coordinates (nq,) of an assembled state.
    spread
        How far from them random states are drawn, before they are assembled.
    """

    near: Array | None = None
    spread: float = 0.1

    def random_state(self, seed: int) -> tuple[Array, Array]:
        """Make a reproducible q at which loops are closed, and u that keep them so."""
        system, state = _system_of(self)
        rng = np.random.default_rng(seed)
        state.q = self.near + self.spread * rng.standard_normal(self.nq)
        state.u = rng.standard_normal(self.nu)
        system.project(state, 1e-13)
        return state.q.copy(), state.u.copy()

    def __hash__(self) -> int:
        """By its name: every model has its own."""
        return hash(self.name)


@functools.cache
def _system_of(model: ClosedModel):
    system = build_for_mobod(model)
    return system, system.realize_topology()


def rod(name: str, parent: int, kind: str, X_PF: Pose, length: float, mass: float = 1.0) -> Body:
    """A rod along x, its joint at its origin."""
    com = np.array([length / 2, 0, 0])
    across = mass * length**2 / 3 + 1e-3 * mass
    return Body(name, parent, kind, X_PF, Pose(), mass, com, np.diag([2e-3 * mass, across, across]))


def four_bars(name: str, count: int) -> ClosedModel:
    """Crank, coupler and rocker on pins about z, side by side; the coupler's end meets the rocker's."""
    bodies, ties = [], []
    for i in range(count):
        at = np.array([0, 0, 0.2 * i])
        first = len(bodies) + 1
        bodies += [
            rod(f"crank{i}", 0, "pin", Pose(p=at), 0.4),
            rod(f"coupler{i}", first, "pin", Pose(p=np.array([0.4, 0, 0])), 1.2),
            rod(f"rocker{i}", 0, "pin", Pose(p=at + np.array([1.0, 0, 0])), 0.8),
        ]
        ties.append(Tie(first + 1, np.array([1.2, 0, 0]), first + 2, np.array([0.8, 0, 0])))
    near = np.tile([np.pi / 2, -1.24, 1.40], count)
    return ClosedModel(name, bodies, ties=tuple(ties), redundant=True, near=near)


def pinned_chain(links: int = 10) -> ClosedModel:
    """Links on pins about y and z in turn, hanging from one end to a point that the other is pinned to."""
    turned = np.array([[1.0, 0, 0], [0, 0, -1.0], [0, 1.0, 0]])
    bodies = [
        rod(f"link{i}", i, "pin", Pose(turned if i == 0 else (turned, turned.T)[i % 2], np.array([0.3 if i else 0, 0, 0])), 0.3)
        for i in range(links)
    ]
    tie = Tie(links, np.array([0.3, 0, 0]), 0, np.array([0.75 * 0.3 * links, 0, 0]))
    return ClosedModel(f"chain{links}", bodies, ties=(tie,), near=np.tile([0.3, -0.8, -0.3, 0.8], links)[:links])


def stewart_platform() -> ClosedModel:
    """A platform on six legs of two parts, on ball joints at both ends: 30 speeds, 18 equations."""
    height, base, top = 1.0, 1.0, 0.6
    bodies = [Body("platform", 0, "free", Pose(), Pose(), 10.0, np.zeros(3), np.diag([1.0, 1.0, 2.0]))]
    ties, near = [], [1.0, 0, 0, 0, 0, 0, height]
    for i in range(6):
        angle_base = np.pi / 3 * (i // 2 * 2) + (0.15 if i % 2 else -0.15)
        angle_top = np.pi / 3 * (i // 2 * 2) + (0.9 if i % 2 else -0.9)
        foot = base * np.array([np.cos(angle_base), np.sin(angle_base), 0])
        head = top * np.array([np.cos(angle_top), np.sin(angle_top), 0])
        leg = head + np.array([0, 0, height]) - foot
        length = float(np.linalg.norm(leg))
        x = leg / length
        y = np.cross([0, 0, 1.0], x)
        y /= np.linalg.norm(y)
        R = np.column_stack([x, y, np.cross(x, y)])
        bodies.append(rod(f"lower{i}", 0, "ball", Pose(p=foot), 0.6))
        bodies.append(rod(f"upper{i}", len(bodies), "slider", Pose(), 0.6, 0.5))
        near += [*quaternion_from_rotation(R), length - 0.6]
        ties.append(Tie(len(bodies), np.array([0.6, 0, 0]), 1, head))
    gravity = np.array([0, 0, -9.8])
    return ClosedModel("stewart", bodies, gravity, ties=tuple(ties), near=np.array(near), spread=0.03)


def models() -> list[ClosedModel]:
    """What is measured."""
    return [four_bars("fourbar", 1), pinned_chain(), stewart_platform(), four_bars("fourbar10", 10)]


def measure(options: argparse.Namespace) -> dict:
    """Every model in every engine."""
    if reason := Mobod.missing("constraint"):
        return {"notes": [f"mobod left out: {reason}"], "disagreements": [], "engines": {}, "models": {}}
    effort = QUICK if options.quick else THOROUGH
    build.compile_slow = not options.quick
    engines, notes = available_engines()
    results, failures = {}, []
    for model in models():
        loaded, left_out = load(model, engines)
        differences, wrong = disagreement(loaded)
        failures += wrong
        result = measure_model(model, loaded, effort)
        notes += left_out + result["notes"]
        results[model.name] = {"bodies": len(model.bodies), "differences": differences, "times": result["times"]}
    return {
        "engines": {engine.name: engine.version() for engine in engines},
        "notes": list(dict.fromkeys(notes)),
        "disagreements": failures,
        "models": results,
    }


def show(results: dict) -> list[Target]:
    """Print the tables."""
    for note in results["notes"]:
        print(f"note: {note}")
    models, engines = results["models"], list(results["engines"])
    rows = [[name, *(worst_difference(result, engine) for engine in engines)] for name, result in models.items()]
    print_table("Largest relative difference of udot from the first peer's", ["model", *engines], rows)
    for line in results["disagreements"]:
        print(f"DISAGREEMENT: {line}")
    for where, title in (("python", "called from Python"), ("loop", "in a compiled loop")):
        rows = [[name, *(cell_of_time(time_of(result, e, where)) for e in engines)] for name, result in models.items()]
        print_table(f"udot, us: minimum (median ± spread), {title}", ["model", *engines], rows)
    rows = []
    for name, result in models.items():
        batch = time_of(result, "mobod", "ensemble")
        rows.append([name, cell_of_time(batch), *(ratio(time_of(result, peer, "loop"), batch) for peer in PEERS)])
    columns = ["model", "Ensemble, us a state", *(f"{peer} / mobod" for peer in PEERS)]
    print_table("Ensemble on one thread, beside the peers' compiled loops", columns, rows)
    targets = []
    for name, result in models.items():
        if name == "fourbar10":
            continue
        simbody = ratio(time_of(result, "Simbody", "loop"), time_of(result, "mobod", "python"))
        targets.append(Target(f"{name}: Simbody's C++ / mobod from Python", simbody, 5.0))
        targets.append(Target(f"{name}: compiled loop, best peer / mobod", closest_peer(result, "loop"), 1.0))
    if {"fourbar", "fourbar10"} <= models.keys():
        one, ten = (time_of(models[name], "mobod", "loop") for name in ("fourbar", "fourbar10"))
        grown = ten["min"] / one["min"] if one and ten else None
        targets.append(Target("ten four-bars / one, in a loop", grown, 11.0, at_least=False))
    return targets


def main(arguments: list[str] | None = None) -> dict:
    """Run from the command line."""
    return run_as_script(__doc__, measure, show, arguments=arguments)


if __name__ == "__main__":
    raise SystemExit(1 if main()["disagreements"] else 0)
