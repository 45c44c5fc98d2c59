"""Measure what each kind of mobilizer costs beside a pin, and a random tree that mixes them all.

Chains of 30 bodies of one kind, and random trees of 30 bodies that deal the kinds in turn, each in a compiled loop of forward
dynamics from a new q and u; a pin chain is measured beside each, round by round, and ratios are medians of the rounds'.
"""

from __future__ import annotations

import argparse
import statistics
from typing import Any

import numpy as np

from .measure import QUICK, THOROUGH, Effort
from .peers.mobod import Mobod, mobod_compiled_loop
from .report import Target, print_table, run_as_script

BODIES = 30
TREES = 3  # random ones
LIMIT = 1.5  # of a mixed tree's time a body over the pin chain's time a mobility


def random_system(mb: Any, kinds: list[Any], parents: list[int], rng: np.random.Generator) -> tuple[Any, Any]:
    """Make a system of these kinds with random frames, masses and state, realized once."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, (0, -9.8, 0))

    def frame() -> Any:
        return mb.Transform(mb.Rotation.from_body_fixed_xyz(rng.normal(size=3)), 0.3 * rng.normal(size=3))

    bodies = [matter.ground]
    for kind, parent in zip(kinds, parents, strict=True):
        com = 0.1 * rng.normal(size=3)
        body = mb.body.Rigid(mb.MassProperties(1.0, com, mb.UnitInertia(0.1, 0.1, 0.1).shift_from_centroid(com)))
        bodies.append(kind(bodies[parent], body, X_PF=frame(), X_BM=frame()))
    state = system.realize_topology()
    state.q, state.u = 0.5 * rng.normal(size=len(state.q)), rng.normal(size=len(state.u))
    system.project_q(state)
    system.realize(state)
    return system, state


def ratios_to_pins(system: Any, state: Any, pins: tuple[Any, Any], effort: Effort) -> list[float]:
    """Time of one evaluation over that of the pin chain, round by round."""

    def best(which: tuple[Any, Any], n: int) -> float:
        return min(mobod_compiled_loop(*which, n) / n for _ in range(effort.repeats))

    n = max(1, round(effort.seconds / best((system, state), 10)))
    return [best((system, state), n) / best(pins, n) for _ in range(effort.rounds)]


def measure(options: argparse.Namespace) -> dict:
    """Every kind, and the mixed trees, over the pin chain."""
    if reason := Mobod.missing():
        return {"notes": [f"mobod left out: {reason}"], "kinds": {}, "mixed": []}
    import mobod as mb

    effort = QUICK if options.quick else THOROUGH
    rng = np.random.default_rng(7)
    chain = list(range(BODIES))
    pins = random_system(mb, [mb.mobilizer.Pin] * BODIES, chain, rng)
    every = list(mb.mobilizer.KINDS)
    kinds = {}
    for kind in [mb.mobilizer.Gimbal, mb.mobilizer.Free] if options.quick else every:
        system, state = random_system(mb, [kind] * BODIES, chain, rng)
        ratio = statistics.median(ratios_to_pins(system, state, pins, effort))
        kinds[kind.__name__] = {"over a pin": ratio, "mobilities": len(state.u) // BODIES}
    mixed = []
    for _ in range(1 if options.quick else TREES):
        dealt = [every[i] for i in rng.permutation(np.arange(BODIES) % len(every))]
        system, state = random_system(mb, dealt, [int(rng.integers(0, b + 1)) for b in range(BODIES)], rng)
        mixed.append(statistics.median(ratios_to_pins(system, state, pins, effort)))
    return {"notes": [], "kinds": kinds, "mixed": mixed}


def show(results: dict) -> list[Target]:
    """Print the kinds' ratios; the promise is about the mixed trees."""
    for note in results["notes"]:
        print(f"note: {note}")
    rows = [
        [name, kind["mobilities"], kind["over a pin"], kind["over a pin"] / kind["mobilities"] if kind["mobilities"] else ""]
        for name, kind in results["kinds"].items()
    ]
    print_table(f"Chains of {BODIES}", ["kind", "mobilities", "body / pin", "mobility / pin"], rows)
    mixed = max(results["mixed"], default=None)
    return [Target("mixed random tree, time a body / a pin", mixed, LIMIT, at_least=False)]


def main(arguments: list[str] | None = None) -> dict:
    """Run from the command line."""
    return run_as_script(__doc__, measure, show, arguments=arguments)


if __name__ == "__main__":
    main()
